/* store/test_lists.c - lists of games: filters, order, pages, who may see what. */
#include "store/rig.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { GAMES_MADE = 24 };

static struct rig rig;
static struct err err;
static int64_t users[SEAT_COUNT + 2], ids[GAMES_MADE];

static struct store_conn *conn(void)
{
    return store_txn_conn(rig.txn);
}

/* Games 0…23: every third open, every third running, every third finished; every fourth private;
 * odd ones fortress.  Users 0…3 play in the running and finished ones; user 4 organises the open
 * ones. */
static int up(void **state)
{
    (void)state;
    rig_open(&rig, NULL);
    rig_begin(&rig);
    for (int i = 0; i < SEAT_COUNT + 2; i++) {
        char handle[16];

        (void)snprintf(handle, sizeof handle, "l%d", i);
        users[i] = rig_user(&rig, handle);
    }
    for (int i = 0; i < GAMES_MADE; i++) {
        char name[GAME_PUBLIC_ID_SIZE];
        struct game_row game;

        (void)snprintf(name, sizeof name, "game%04d", i);
        rig.now = T0 + (GAMES_MADE - i) * MS_HOUR; /* later games are due earlier */
        ids[i] = i % 3 == 0 ? rig_game(&rig, name, users[4]) : rig_running(&rig, name, users);
        if (i % 3 == 2) {
            assert_ok(games_get(conn(), ids[i], &game, &err), err);
            game.state = GAME_FINISHED;
            game.result = GAME_RESULT_TEAM1;
            game.cause = GAME_CAUSE_MATE;
            game.turn_seat = -1;
            game.turn_user_id = 0;
            game.ended_at = rig.now;
            assert_ok(games_save(rig.txn, &game, &err), err);
        }
    }
    rig_commit(&rig);
    rig_spoil(&rig, "UPDATE games SET visibility = 'players' WHERE (id - 1) % 4 = 0;"
                    "UPDATE games SET variant = 'fortress' WHERE (id - 1) % 2 = 1;"
                    /* one open game is full of invitations */
                    "UPDATE seats SET state = 'invited' WHERE game_id = 1;"
                    "UPDATE games SET open_seats = 0 WHERE id = 1");
    rig_begin(&rig);
    return 0;
}

static int down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* All pages of `page` rows: every game comes once; ret_ids in the order they came. */
static size_t all_pages(const struct game_filter *filter, size_t page, int64_t *ret_ids)
{
    struct game_brief rows[8];
    struct game_cursor at = {.id = 0}, next;
    size_t all = 0, n = 0;

    do {
        assert_ok(games_list(conn(), filter, &at, rows, page, &n, &next, &err), err);
        assert_true(n <= page);
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < all; k++)
                assert_int_not_equal(ret_ids[k], rows[i].id);
            assert_true(all < GAMES_MADE);
            ret_ids[all++] = rows[i].id;
        }
        assert_true(next.id == 0 || n == page);
        at = next;
    } while (next.id != 0);
    return all;
}

/* The same filter asked of the rows themselves. */
static size_t expected(const struct game_filter *f, int64_t *ret_ids)
{
    size_t n = 0;

    for (int i = GAMES_MADE - 1; i >= 0; i--) {
        struct game_row g;
        struct member_row m;
        bool is_player, is_viewer;

        assert_ok(games_get(conn(), ids[i], &g, &err), err);
        is_player = f->player_id && members_get(conn(), g.id, f->player_id, &m, NULL) == ST_OK;
        is_viewer = f->viewer_id && members_get(conn(), g.id, f->viewer_id, &m, NULL) == ST_OK;
        if ((f->player_id && !is_player) ||
            (f->over != GAME_ANY && f->over != (g.ended_at != UTC_NONE)) ||
            (f->state != GAME_ANY && f->state != (int)g.state) ||
            (f->variant != GAME_ANY && f->variant != (int)g.variant) ||
            (f->joinable && (g.state != GAME_OPEN || g.open_seats == 0)) ||
            (g.visibility == GAME_PLAYERS_ONLY && !f->sees_all && !is_viewer))
            continue;
        ret_ids[n++] = g.id;
    }
    return n;
}

static void test_every_combination_of_filters_lists_just_what_it_says(void **state)
{
    int64_t want[GAMES_MADE], got[GAMES_MADE];
    int not_empty = 0;

    (void)state;
    for (int mask = 0; mask < 96 * 3; mask++) {
        struct game_filter f = GAME_FILTER_INIT;
        size_t n_want, n_got;
        int64_t viewers[] = {0, users[0], users[5]};

        f.state = mask % 2 ? (mask % 4 == 1 ? GAME_OPEN : GAME_RUNNING) : GAME_ANY;
        f.variant = mask / 4 % 2 ? GAME_FORTRESS : GAME_ANY;
        f.joinable = mask / 8 % 2;
        f.player_id = mask / 16 % 2 ? users[mask % 3 == 0 ? 4 : 1] : 0;
        f.over = f.player_id && mask / 32 % 3 ? mask / 32 % 3 - 1 : GAME_ANY;
        f.viewer_id = viewers[mask / 96];
        f.sees_all = mask % 7 == 0;
        n_want = expected(&f, want);
        n_got = all_pages(&f, 1 + (size_t)mask % 5, got);
        assert_int_equal(n_got, n_want);
        assert_memory_equal(got, want, n_want * sizeof want[0]);
        not_empty += n_want > 0;
    }
    assert_true(not_empty > 100);
}

static void invite(int64_t game, int seat, int64_t user, const char *address)
{
    struct invitation_row row = {.game_id = game, .seat = seat, .user_id = user,
                                 .invited_by = users[4], .created_at = T0,
                                 .expires_at = T0 + MS_DAY};
    unsigned char hash[STORE_HASH_SIZE];
    int64_t id;

    (void)str_copy(row.address, sizeof row.address, address);
    (void)str_copy(row.address_key, sizeof row.address_key, address);
    rig_hash((int)(game * SEAT_COUNT + seat), hash);
    assert_ok(invitations_create(rig.txn, &row, address[0] ? hash : NULL, &id, &err), err);
}

/* To the account or to the proved address, once a game, with every other filter. */
static void test_invitations_are_listed_with_every_other_filter(void **state)
{
    struct game_filter f = GAME_FILTER_INIT;
    int64_t got[GAMES_MADE];
    struct user_row me, other;

    (void)state;
    assert_ok(users_get(conn(), users[5], &me, &err), err);
    assert_ok(users_get(conn(), users[3], &other, &err), err);
    assert_true(me.verified_at != UTC_NONE);
    f.invited_user_id = f.viewer_id = users[5];
    assert_int_equal(all_pages(&f, 2, got), 0);
    invite(ids[3], 0, users[5], "");
    invite(ids[6], 1, 0, me.address_key);
    invite(ids[9], 0, users[5], "");
    invite(ids[9], 2, 0, me.address_key);
    invite(ids[12], 1, 0, me.address_key); /* one of its players only */
    invite(ids[15], 1, 0, other.address_key);
    invite(ids[18], 1, users[3], "");
    for (size_t page = 1; page < 6; page++) {
        assert_int_equal(all_pages(&f, page, got), 4);
        assert_int_equal(got[0], ids[12]);
        assert_int_equal(got[1], ids[9]);
        assert_int_equal(got[2], ids[6]);
        assert_int_equal(got[3], ids[3]);
    }
    f.variant = GAME_FORTRESS;
    assert_int_equal(all_pages(&f, 1, got), 2); /* 9 and 3 */
    assert_int_equal(got[0], ids[9]);
    f.variant = GAME_ANY;
    f.state = GAME_RUNNING;
    assert_int_equal(all_pages(&f, 1, got), 0);
    f.state = GAME_OPEN;
    f.joinable = true;
    assert_int_equal(all_pages(&f, 1, got), 4);
    f.player_id = users[4]; /* who organises them all */
    assert_int_equal(all_pages(&f, 3, got), 4);
    f.over = 1;
    assert_int_equal(all_pages(&f, 3, got), 0);
    f.over = 0;
    assert_int_equal(all_pages(&f, 3, got), 4);
    f.player_id = users[5]; /* a member by account alone */
    assert_int_equal(all_pages(&f, 1, got), 2);
    assert_int_equal(got[1], ids[3]);
    f.player_id = users[3];
    assert_int_equal(all_pages(&f, 1, got), 0);
    f.player_id = 0;
    f.turn_user_id = users[5];
    assert_int_equal(all_pages(&f, 1, got), 0);
}

static void test_my_turns_come_by_deadline_paused_ones_last(void **state)
{
    struct game_filter f = GAME_FILTER_INIT;
    int64_t got[GAMES_MADE];
    struct game_row game;
    size_t n;

    (void)state;
    f.turn_user_id = f.viewer_id = users[0];
    assert_ok(games_get(conn(), ids[22], &game, &err), err); /* the one due first */
    game.paused_at = T0;
    game.deadline_at = UTC_NONE;
    assert_ok(games_save(rig.txn, &game, &err), err);
    n = all_pages(&f, 3, got);
    assert_int_equal(n, 8); /* 1 4 7 … 22 */
    assert_int_equal(got[0], ids[19]);
    assert_int_equal(got[1], ids[16]);
    assert_int_equal(got[6], ids[1]);
    assert_int_equal(got[7], ids[22]);
    f.variant = GAME_FORTRESS;
    assert_int_equal(all_pages(&f, 2, got), 4);
    f.turn_user_id = users[1];
    assert_int_equal(all_pages(&f, 2, got), 0);
}

/* A game waits for whoever has not placed his reserve yet, and for nobody else. */
static void test_games_to_place_in_wait_for_me_too(void **state)
{
    struct game_filter f = GAME_FILTER_INIT;
    int64_t got[GAMES_MADE];

    (void)state;
    rig_commit(&rig);
    rig_spoil(&rig, "UPDATE games SET state = 'placing', turn_seat = NULL, turn_user_id = NULL"
                    " WHERE public_id = 'game0001';"
                    "UPDATE seats SET placed_at = 5 WHERE seat <> 1 AND game_id ="
                    " (SELECT id FROM games WHERE public_id = 'game0001')");
    rig_begin(&rig);
    f.turn_user_id = f.viewer_id = users[1];
    assert_int_equal(all_pages(&f, 2, got), 1);
    assert_int_equal(got[0], ids[1]);
    f.turn_user_id = f.viewer_id = users[2];
    assert_int_equal(all_pages(&f, 2, got), 0);
    f.turn_user_id = f.viewer_id = users[0]; /* to move, in the seven others */
    assert_int_equal(all_pages(&f, 2, got), 7);
}

static void test_a_brief_says_who_sits_where(void **state)
{
    struct game_brief b;

    (void)state;
    assert_ok(games_brief(conn(), ids[1], &b, &err), err);
    assert_string_equal(b.public_id, "game0001");
    assert_string_equal(b.organiser, "l0");
    assert_string_equal(b.organiser_name, "l0");
    assert_string_equal(b.seats[2].handle, "l2");
    assert_string_equal(b.seats[2].display_name, "l2");
    assert_int_equal(b.seats[2].state, SEAT_TAKEN);
    assert_int_equal(b.turn_seat, 0);
    assert_int_equal(b.grace_ms, 12 * MS_HOUR);
    assert_ok(games_brief(conn(), ids[3], &b, &err), err);
    assert_int_equal(b.seats[2].state, SEAT_OPEN);
    assert_string_equal(b.seats[2].handle, "");
    assert_int_equal(b.deadline_at, UTC_NONE);
    assert_st(games_brief(conn(), 999, &b, &err), ST_NOT_FOUND, err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_combination_of_filters_lists_just_what_it_says),
        cmocka_unit_test(test_my_turns_come_by_deadline_paused_ones_last),
        cmocka_unit_test(test_a_brief_says_who_sits_where),
        cmocka_unit_test(test_invitations_are_listed_with_every_other_filter), /* makes some */
        cmocka_unit_test(test_games_to_place_in_wait_for_me_too), /* last: it changes one */
    };

    return cmocka_run_group_tests(tests, up, down);
}

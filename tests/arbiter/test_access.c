/* Who may look at a game (arbiter/access.h): one table, and that commands go by it. */
#include "arbiter/table.h"

#include <stdio.h>

#include "arbiter/access.h"
#include "base/str.h"

/* What somebody has to do with the game besides, before it starts. */
enum tie {
    TIE_NONE,
    TIE_PLAYS,
    TIE_ORGANISES,
    TIE_LEFT,            /* joined and left again */
    TIE_INVITED,         /* by his account */
    TIE_DECLINED,        /* … and declined */
    TIE_WITHDRAWN,       /* … and it was taken back */
    TIE_MAILED,          /* to the address that is his, and proved */
    TIE_MAILED_UNPROVED, /* to the address that he has not proved */
    TIE_MAILED_OTHER     /* to somebody else's */
};

static int user_of(enum tie tie)
{
    return tie == TIE_PLAYS ? SOUTH : tie == TIE_ORGANISES ? ORGANISER : STRANGER;
}

static enum status unprove_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    const struct user_row *user = arg;

    return users_set_address(txn, user->id, user->address, user->address_key, UTC_NONE, now, err);
}

static void unprove(struct table *t, int user)
{
    struct user_row row;
    struct writer_command command = {.name = "unprove", .run = unprove_run, .arg = &row};
    struct err err = ERR_INIT;

    assert_ok(users_get(store_reader_conn(t->reader), t->user[user], &row, &err), err);
    assert_ok(writer_run(t->writer, &command, &err), err);
}

static void tie(struct table *t, int64_t game, enum tie how)
{
    struct arbiter_offer offer = {.kind = OFFER_USER, .user_id = t->user[STRANGER]};
    struct call c = acts(t, OP_INVITE, game, ORGANISER);
    struct user_row row;
    struct err err = ERR_INIT;

    c.seat = EAST;
    c.offer = &offer;
    assert_ok(users_get(store_reader_conn(t->reader), t->user[STRANGER], &row, &err), err);
    switch (how) {
    case TIE_NONE:
    case TIE_ORGANISES:
        return;
    case TIE_PLAYS:
        offer.user_id = t->user[SOUTH];
        call_ok(&c);
        c = acts(t, OP_ACCEPT, game, SOUTH);
        break;
    case TIE_LEFT:
        call_ok(&c);
        c = acts(t, OP_ACCEPT, game, STRANGER);
        call_ok(&c);
        c = acts(t, OP_LEAVE, game, STRANGER);
        call_ok(&c);
        return;
    case TIE_INVITED:
        break;
    case TIE_DECLINED:
        call_ok(&c);
        c = acts(t, OP_DECLINE, game, STRANGER);
        break;
    case TIE_WITHDRAWN:
        call_ok(&c);
        c = acts(t, OP_WITHDRAW, game, ORGANISER);
        c.seat = EAST;
        break;
    case TIE_MAILED:
    case TIE_MAILED_UNPROVED:
        offer = (struct arbiter_offer){.kind = OFFER_MAIL, .address = row.address,
                                       .address_key = row.address_key};
        break;
    case TIE_MAILED_OTHER:
        offer = (struct arbiter_offer){.kind = OFFER_MAIL, .address = "else@example.org",
                                       .address_key = "else@example.org"};
        break;
    }
    call_ok(&c);
    if (how == TIE_MAILED_UNPROVED)
        unprove(t, STRANGER);
}

static enum status look(struct table *t, int64_t game, struct arbiter_actor who, struct err *err)
{
    struct game_row row = game_get(t, game);

    return arbiter_may_see(store_reader_conn(t->reader), &row, who, err);
}

/* Whether the newest game listed as one that he is invited to is this. */
static bool is_listed(struct table *t, int64_t game, int64_t user_id)
{
    struct game_filter filter = GAME_FILTER_INIT;
    struct game_cursor from = {.id = 0}, next;
    struct game_brief brief;
    struct err err = ERR_INIT;
    size_t n = 0;

    filter.invited_user_id = filter.viewer_id = user_id;
    assert_ok(games_list(store_reader_conn(t->reader), &filter, &from, &brief, 1, &n, &next, &err),
              err);
    return n == 1 && brief.id == game;
}

static void test_who_sees_a_game_of_its_players_only(void **state)
{
    static const struct {
        const char *what;
        enum tie tie;
        bool sees;
        unsigned invited;
    } table[] = {
        {"a stranger", TIE_NONE, false, 0},
        {"its player", TIE_PLAYS, true, 0},
        {"its organiser, who does not play", TIE_ORGANISES, true, 0},
        {"who has left it before the start", TIE_LEFT, false, 0},
        {"who is invited by his account", TIE_INVITED, true, 1u << EAST},
        {"who has declined", TIE_DECLINED, false, 0},
        {"whose invitation was taken back", TIE_WITHDRAWN, false, 0},
        {"whose proved address is invited", TIE_MAILED, true, 1u << EAST},
        {"whose address is invited, but not proved", TIE_MAILED_UNPROVED, false, 0},
        {"one of whom another address is invited", TIE_MAILED_OTHER, false, 0},
    };
    struct table *t = *state;

    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct err err = ERR_INIT;
        unsigned invited = 99;
        int64_t game = game_create_open(t, "verney", ORGANISER, true);
        int64_t open = game_create_open(t, "verney", ORGANISER, false);
        struct arbiter_actor who = player(t, user_of(table[i].tie)), nobody = {.user_id = 0};
        struct arbiter_actor operator = who, administrator = nobody;
        struct game_row row;

        tie(t, game, table[i].tie);
        row = game_get(t, game);
        operator.is_operator = administrator.is_administrator = true;
        if ((look(t, game, who, &err) == ST_OK) != table[i].sees)
            fail_msg("%s: %s", table[i].what, table[i].sees ? err.text : "sees it");
        if (!table[i].sees) { /* as of a game that there is not */
            struct err none = ERR_INIT;

            assert_st(games_get(store_reader_conn(t->reader), game + 1000, &row, &none),
                      ST_NOT_FOUND, none);
            assert_int_equal(err.reason, REASON_NO_SUCH_GAME);
            assert_int_equal(err.reason, none.reason);
            assert_string_equal(err.text, none.text);
        }
        assert_ok(arbiter_invited(store_reader_conn(t->reader), &row, who.user_id, &invited, &err),
                  err);
        assert_int_equal(invited, table[i].invited);
        /* the list goes by the same rule */
        assert_int_equal(is_listed(t, game, who.user_id), table[i].invited != 0);
        assert_int_equal(arbiter_may_organise(row.organiser_id, who),
                         table[i].tie == TIE_ORGANISES);
        assert_false(arbiter_may_organise(row.organiser_id, nobody));
        assert_false(arbiter_may_organise(0, nobody)); /* a game without one is not nobody's */
        assert_true(arbiter_may_organise(row.organiser_id, operator));
        assert_true(arbiter_may_organise(row.organiser_id, administrator));
        assert_st(look(t, game, nobody, &err), ST_NOT_FOUND, err);
        assert_ok(look(t, game, operator, &err), err);
        assert_ok(look(t, game, administrator, &err), err);
        assert_ok(look(t, open, who, &err), err); /* a public one */
        assert_ok(look(t, open, nobody, &err), err);
        if (table[i].tie != TIE_PLAYS) { /* and commands go by it: he has no seat to leave */
            struct call c = acts(t, OP_LEAVE, game, user_of(table[i].tie));

            call_refused(&c, table[i].sees ? REASON_NOT_YOUR_GAME : REASON_NO_SUCH_GAME);
        }
    }
}

/* An invitation is one to a game that waits; once all seats are taken, only who belongs to it. */
static void test_a_started_game_is_seen_by_who_belongs_to_it(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", ORGANISER, true);
    struct arbiter_offer offer = {.kind = OFFER_USER};
    struct err err = ERR_INIT;
    struct call c;

    for (int seat = 0; seat < SEATS; seat++) {
        c = acts(t, OP_INVITE, game, ORGANISER);
        offer.user_id = t->user[seat];
        c.seat = seat;
        c.offer = &offer;
        call_ok(&c);
        c = acts(t, OP_ACCEPT, game, seat);
        call_ok(&c);
    }
    assert_int_equal(game_get(t, game).state, GAME_RUNNING);
    c = acts(t, OP_RESIGN, game, WEST);
    call_ok(&c);
    assert_ok(look(t, game, player(t, WEST), &err), err); /* his army has left, he may look on */
    assert_ok(look(t, game, player(t, ORGANISER), &err), err);
    assert_st(look(t, game, player(t, STRANGER), &err), ST_NOT_FOUND, err);
    c = acts(t, OP_RESIGN, game, STRANGER);
    call_refused(&c, REASON_NO_SUCH_GAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_who_sees_a_game_of_its_players_only, table_setup,
                                        table_teardown),
        cmocka_unit_test_setup_teardown(test_a_started_game_is_seen_by_who_belongs_to_it,
                                        table_setup, table_teardown),
    };

    return cmocka_run_group_tests_name("arbiter: access", tests, NULL, NULL);
}

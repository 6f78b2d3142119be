/* store/test_games.c - games, seats, members, invitations, moves, events, votes, clocks, timers. */
#include "store/rig.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "store/clocks.h"
#include "store/outage.h"
#include "store/timers.h"
#include "store/votes.h"

static struct rig rig;
static struct err err;
static int64_t users[SEAT_COUNT + 1]; /* four and a bystander */

static int up(void **state)
{
    (void)state;
    rig_open(&rig, NULL);
    rig_begin(&rig);
    for (int i = 0; i <= SEAT_COUNT; i++) {
        char handle[16];

        (void)snprintf(handle, sizeof handle, "g%d", i);
        users[i] = rig_user(&rig, handle);
    }
    return 0;
}

static int down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static struct store_conn *conn(void)
{
    return store_txn_conn(rig.txn);
}

static struct game_row get(int64_t id)
{
    struct game_row game;

    assert_ok(games_get(conn(), id, &game, &err), err);
    return game;
}

/* ---------------------------------------------------------------- games */

static void test_a_game_comes_back_as_it_was_made(void **state)
{
    struct game_row game = {.variant = GAME_FORTRESS,
                            .reserve = GAME_RESERVE_CHOSEN,
                            .is_rated = true,
                            .visibility = GAME_PLAYERS_ONLY,
                            .table_talk = true,
                            .per_move_ms = 3 * MS_DAY,
                            .grace_ms = MS_HOUR,
                            .placing_ms = 2 * MS_DAY,
                            .organiser_id = users[4],
                            .expires_at = T0 + MS_DAY,
                            .created_at = T0,
                            .updated_at = T0},
                    got;
    int64_t id = 0;

    (void)state;
    (void)str_copy(game.public_id, sizeof game.public_id, "7k2m4xqz");
    (void)str_copy(game.rules, sizeof game.rules, "fortress reserve=chosen");
    assert_ok(games_create(rig.txn, &game, &id, &err), err);
    assert_ok(games_find(conn(), "7k2m4xqz", &got, &err), err);
    assert_int_equal(got.id, id);
    assert_int_equal(got.variant, GAME_FORTRESS);
    assert_int_equal(got.reserve, GAME_RESERVE_CHOSEN);
    assert_true(got.is_rated && got.table_talk);
    assert_int_equal(got.visibility, GAME_PLAYERS_ONLY);
    assert_int_equal(got.per_move_ms, 3 * MS_DAY);
    assert_int_equal(got.grace_ms, MS_HOUR);
    assert_int_equal(got.placing_ms, 2 * MS_DAY);
    assert_int_equal(got.state, GAME_OPEN);
    assert_int_equal(got.open_seats, 4);
    assert_int_equal(got.turn_seat, -1);
    assert_int_equal(got.deadline_at, UTC_NONE);
    assert_string_equal(got.conditions, "aaaa");
    assert_string_equal(got.position, "");
    assert_false(got.has_chain);
    assert_int_equal(got.last_seq, 0);
    /* its public id is its own */
    assert_st(games_create(rig.txn, &game, &id, &err), ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_ALREADY_DONE);
    assert_st(games_find(conn(), "nosuchid", &got, &err), ST_NOT_FOUND, err);
    assert_int_equal(err.reason, REASON_NO_SUCH_GAME);
}

static void test_saving_keeps_every_field(void **state)
{
    int64_t id = rig_running(&rig, "aaaaaaaa", users);
    struct game_row game = get(id), got;

    (void)state;
    game.paused_at = T0 + 1;
    game.deadline_at = UTC_NONE;
    game.position_hash = UINT64_C(0xfedcba9876543210);
    game.compact_len = 3;
    memcpy(game.compact, "\1\0\2", 3);
    game.ply = 7;
    game.turn_seat = 2;
    game.turn_user_id = users[2];
    (void)str_copy(game.conditions, sizeof game.conditions, "axsa");
    (void)str_copy(game.explanation, sizeof game.explanation, "start 1;budget 2");
    rig_hash(9, game.chain);
    game.has_chain = true;
    game.updated_at = T0 + 99;
    assert_ok(games_save(rig.txn, &game, &err), err);
    got = get(id);
    assert_int_equal(got.paused_at, T0 + 1);
    assert_true(got.position_hash == UINT64_C(0xfedcba9876543210));
    assert_int_equal(got.compact_len, 3);
    assert_memory_equal(got.compact, "\1\0\2", 3);
    assert_int_equal(got.turn_seat, 2);
    assert_string_equal(got.conditions, "axsa");
    assert_string_equal(got.explanation, "start 1;budget 2");
    assert_memory_equal(got.chain, game.chain, STORE_HASH_SIZE);
    assert_int_equal(got.updated_at, T0 + 99);
}

static void test_a_game_that_has_moved_on_is_not_saved_over(void **state)
{
    int64_t id = rig_running(&rig, "aaaaaaaa", users);
    struct game_row stale = get(id);
    struct event_row event = EVENT_ROW_INIT;

    (void)state;
    rig_move(&rig, id);
    assert_st(games_save(rig.txn, &stale, &err), ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_STATE_MISMATCH);
    event.kind = GAME_EVENT_DRAW_OFFERED;
    event.at = T0;
    assert_st(events_append(rig.txn, &stale, &event, false, &err), ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_STATE_MISMATCH);
    assert_int_equal(event.id, 0);
}

static void test_the_schema_refuses_a_result_without_an_end(void **state)
{
    int64_t id = rig_running(&rig, "aaaaaaaa", users);
    struct game_row game = get(id);

    (void)state;
    game.result = GAME_RESULT_TEAM0;
    assert_st(games_save(rig.txn, &game, &err), ST_INTERNAL, err);
}

static void test_ending_tells_the_members_and_the_tally(void **state)
{
    int64_t id = rig_running(&rig, "aaaaaaaa", users), n[GAME_STATE_COUNT_];
    struct game_row game = get(id);
    struct member_row member;

    (void)state;
    (void)rig_game(&rig, "bbbbbbbb", users[4]);
    assert_ok(games_tally(conn(), n, &err), err);
    assert_int_equal(n[GAME_RUNNING], 1);
    assert_int_equal(n[GAME_OPEN], 1);
    game.state = GAME_FINISHED;
    game.result = GAME_RESULT_DRAW;
    game.cause = GAME_CAUSE_AGREEMENT;
    game.turn_seat = -1;
    game.turn_user_id = 0;
    game.ended_at = T0;
    assert_ok(games_save(rig.txn, &game, &err), err);
    assert_ok(games_tally(conn(), n, &err), err);
    assert_int_equal(n[GAME_RUNNING], 0);
    assert_int_equal(n[GAME_FINISHED], 1);
    assert_ok(members_get(conn(), id, users[3], &member, &err), err);
    assert_true(member.is_over && member.is_player && !member.is_organiser);
}

static void test_ids_are_listed_in_rising_order_and_by_state(void **state)
{
    int64_t a = rig_running(&rig, "aaaaaaaa", users), b, c, d, ids[8];
    size_t n = 0;

    (void)state;
    b = rig_running(&rig, "bbbbbbbb", users);
    c = rig_game(&rig, "cccccccc", users[0]);
    d = rig_running(&rig, "dddddddd", users);
    assert_ok(games_ids(conn(), GAME_ANY, a, ids, 8, &n, &err), err);
    assert_int_equal(n, 3);
    assert_int_equal(ids[0], b);
    assert_int_equal(ids[1], c);
    assert_int_equal(ids[2], d);
    assert_ok(games_ids(conn(), GAME_RUNNING, 0, ids, 2, &n, &err), err);
    assert_int_equal(n, 2);
    assert_int_equal(ids[0], a);
    assert_int_equal(ids[1], b);
}

/* ---------------------------------------------------------------- seats */

static void test_a_seat_is_taken_once_and_left_before_the_start(void **state)
{
    int64_t id = rig_game(&rig, "aaaaaaaa", users[4]);
    struct seat_row seats[SEAT_COUNT];
    struct member_row member;
    struct holder_row holders[8];
    size_t n = 0;

    (void)state;
    assert_ok(seats_take(rig.txn, id, 1, users[0], HOLDER_PLAYER, T0 + 1, &err), err);
    assert_st(seats_take(rig.txn, id, 1, users[1], HOLDER_PLAYER, T0 + 2, &err), ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_GAME_FULL);
    /* one player may hold two seats */
    assert_ok(seats_take(rig.txn, id, 3, users[0], HOLDER_PLAYER, T0 + 2, &err), err);
    assert_int_equal(get(id).open_seats, 2);
    assert_ok(seats_get(conn(), id, seats, &err), err);
    assert_string_equal(seats[1].handle, "g0");
    assert_int_equal(seats[1].taken_at, T0 + 1);
    assert_int_equal(seats[0].state, SEAT_OPEN);
    assert_int_equal(seats[1].left_how, SEAT_STAYED);
    assert_int_equal(seats_of_user(seats, users[0]), 1u << 1 | 1u << 3);
    assert_int_equal(seats_of_user(seats, users[1]), 0);
    assert_int_equal(seats_of_user(seats, 0), 0); /* the free ones are nobody's */

    assert_st(seats_leave(rig.txn, id, 1, users[1], T0 + 3, &err), ST_CONFLICT, err);
    assert_ok(seats_leave(rig.txn, id, 1, users[0], T0 + 3, &err), err);
    assert_ok(members_get(conn(), id, users[0], &member, &err), err); /* for his other seat */
    assert_ok(seats_leave(rig.txn, id, 3, users[0], T0 + 4, &err), err);
    assert_st(members_get(conn(), id, users[0], &member, &err), ST_NOT_FOUND, err);
    assert_int_equal(get(id).open_seats, 4);
    assert_ok(holders_list(conn(), id, holders, 8, &n, &err), err);
    assert_int_equal(n, 2);
    assert_int_equal(holders[0].since_at, T0 + 1);
    assert_int_equal(holders[0].until_at, T0 + 3);
    /* and back again */
    assert_ok(seats_take(rig.txn, id, 1, users[0], HOLDER_PLAYER, T0 + 5, &err), err);
    assert_ok(members_get(conn(), id, users[0], &member, &err), err);
}

static void test_a_substitute_takes_the_turn_over(void **state)
{
    int64_t id = rig_running(&rig, "aaaaaaaa", users);
    struct holder_row holders[8];
    size_t n = 0;

    (void)state;
    rig_move(&rig, id); /* West is on turn */
    assert_ok(seats_leave(rig.txn, id, 1, users[1], T0, &err), err);
    assert_ok(seats_take(rig.txn, id, 1, users[4], HOLDER_SUBSTITUTE, T0 + 9, &err), err);
    assert_int_equal(get(id).turn_user_id, users[4]);
    assert_ok(holders_list(conn(), id, holders, 8, &n, &err), err);
    assert_int_equal(n, 5);
    assert_int_equal(holders[2].role, HOLDER_SUBSTITUTE);
}

static void test_placements_late_moves_and_leaving_are_kept(void **state)
{
    int64_t id = rig_running(&rig, "aaaaaaaa", users);
    struct seat_row seats[SEAT_COUNT];

    (void)state;
    assert_ok(seats_place(rig.txn, id, 0, "p4 n3 o1", T0 + 1, &err), err);
    assert_ok(seats_add_late(rig.txn, id, 0, &err), err);
    assert_ok(seats_add_late(rig.txn, id, 0, &err), err);
    assert_ok(seats_left(rig.txn, id, 2, SEAT_FORFEITED, T0 + 2, &err), err);
    assert_st(seats_left(rig.txn, id, 2, SEAT_RESIGNED, T0 + 3, &err), ST_CONFLICT, err);
    assert_ok(seats_get(conn(), id, seats, &err), err);
    assert_string_equal(seats[0].placement, "p4 n3 o1");
    assert_int_equal(seats[0].placed_at, T0 + 1);
    assert_int_equal(seats[0].late_moves, 2);
    assert_int_equal(seats[2].left_how, SEAT_FORFEITED);
    assert_int_equal(seats[2].left_at, T0 + 2);
    assert_int_equal(seats[2].user_id, users[2]); /* it stays his */
}

/* ---------------------------------------------------------------- invitations */

static int64_t invite(int64_t game, int seat, int64_t user, const char *address, int token)
{
    struct invitation_row row = {.game_id = game,
                                 .seat = seat,
                                 .user_id = user,
                                 .invited_by = users[4],
                                 .created_at = T0,
                                 .expires_at = T0 + MS_DAY};
    unsigned char hash[STORE_HASH_SIZE];
    int64_t id = 0;

    (void)str_copy(row.address, sizeof row.address, address);
    (void)str_copy(row.address_key, sizeof row.address_key, address);
    rig_hash(token, hash);
    assert_ok(invitations_create(rig.txn, &row, token ? hash : NULL, &id, &err), err);
    return id;
}

static void test_an_invited_seat_is_kept_until_it_is_answered(void **state)
{
    int64_t game = rig_game(&rig, "aaaaaaaa", users[4]), id, other = 0;
    struct invitation_row row = {.game_id = game, .seat = 1, .user_id = users[1],
                                 .invited_by = users[4]},
                          got, rows[4];
    struct member_row member;
    struct seat_row seats[SEAT_COUNT];
    size_t n = 0;

    (void)state;
    id = invite(game, 1, users[0], "", 0);
    assert_int_equal(get(game).open_seats, 3);
    assert_ok(members_get(conn(), game, users[0], &member, &err), err);
    assert_true(member.is_invited && !member.is_player);
    assert_st(invitations_create(rig.txn, &row, NULL, &other, &err), ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_GAME_FULL);
    assert_ok(invitations_of_user(conn(), users[0], rows, 4, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].id, id);
    assert_ok(invitations_of_seat(conn(), game, 1, &got, &err), err);
    assert_int_equal(got.id, id);

    assert_ok(invitations_settle(rig.txn, id, INVITATION_DECLINED, T0 + 1, &err), err);
    assert_st(invitations_settle(rig.txn, id, INVITATION_ACCEPTED, T0 + 1, &err), ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_ALREADY_DONE);
    assert_int_equal(get(game).open_seats, 4);
    assert_st(members_get(conn(), game, users[0], &member, &err), ST_NOT_FOUND, err);
    assert_st(invitations_of_seat(conn(), game, 1, &got, &err), ST_NOT_FOUND, err);

    id = invite(game, 1, users[1], "", 0);
    assert_ok(invitations_settle(rig.txn, id, INVITATION_ACCEPTED, T0 + 2, &err), err);
    assert_ok(seats_take(rig.txn, game, 1, users[1], HOLDER_PLAYER, T0 + 2, &err), err);
    assert_ok(members_get(conn(), game, users[1], &member, &err), err);
    assert_true(member.is_player && !member.is_invited);
    assert_ok(seats_get(conn(), game, seats, &err), err);
    assert_int_equal(seats[1].state, SEAT_TAKEN);
    assert_st(invitations_create(rig.txn, &row, NULL, &other, &err), ST_CONFLICT, err);
    assert_ok(invitations_of_game(conn(), game, rows, 4, &n, &err), err);
    assert_int_equal(n, 2);
}

static void test_a_mailed_invitation_is_claimed_and_its_address_erased(void **state)
{
    int64_t game = rig_game(&rig, "aaaaaaaa", users[4]), id;
    unsigned char hash[STORE_HASH_SIZE];
    struct invitation_row row, rows[2];
    struct member_row member;
    size_t n = 0;

    (void)state;
    id = invite(game, 2, 0, "new@example.org", 5);
    rig_hash(6, hash);
    assert_ok(invitations_set_token(rig.txn, id, hash, &err), err);
    assert_ok(invitations_find(conn(), hash, &row, &err), err);
    assert_string_equal(row.address, "new@example.org");
    assert_ok(invitations_of_address(conn(), "new@example.org", rows, 2, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(invitations_claim(rig.txn, id, users[2], &err), err);
    assert_ok(members_get(conn(), game, users[2], &member, &err), err);
    assert_true(member.is_invited);
    assert_st(invitations_claim(rig.txn, id, users[3], &err), ST_CONFLICT, err); /* it is his */
    assert_ok(invitations_settle(rig.txn, id, INVITATION_EXPIRED, T0 + 1, &err), err);
    assert_st(invitations_find(conn(), hash, &row, &err), ST_NOT_FOUND, err);
    assert_ok(invitations_get(conn(), id, &row, &err), err);
    assert_string_equal(row.address, "");
    assert_int_equal(row.state, INVITATION_EXPIRED);
    assert_st(invitations_set_token(rig.txn, id, hash, &err), ST_CONFLICT, err);
}

/* ---------------------------------------------------------------- moves and events */

static void test_a_ply_is_played_once(void **state)
{
    int64_t id = rig_running(&rig, "aaaaaaaa", users);
    struct move_row move, rows[8];
    uint64_t hashes[8];
    size_t n = 0;

    (void)state;
    for (int i = 0; i < 5; i++)
        rig_move(&rig, id);
    assert_ok(moves_get(conn(), id, 3, &move, &err), err);
    assert_int_equal(move.seat, 2);
    assert_int_equal(move.user_id, users[2]);
    assert_string_equal(move.move, "e2e3");
    assert_string_equal(move.san, "e3");
    assert_st(moves_append(rig.txn, &move, &err), ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_STATE_MISMATCH);
    assert_ok(moves_list(conn(), id, 2, rows, 2, &n, &err), err);
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].ply, 2);
    assert_int_equal(rows[1].ply, 3);
    assert_ok(moves_hashes(conn(), id, 0, hashes, 8, &n, &err), err);
    assert_int_equal(n, 5);
    assert_true(hashes[2] == move.position_hash);
    assert_ok(moves_hashes(conn(), id, 3, hashes, 8, &n, &err), err);
    assert_int_equal(n, 2);
    assert_st(moves_get(conn(), id, 6, &move, &err), ST_NOT_FOUND, err);
}

static void test_events_are_numbered_without_a_gap(void **state)
{
    int64_t a = rig_running(&rig, "aaaaaaaa", users), b = rig_running(&rig, "bbbbbbbb", users);
    struct event_row rows[32], one;
    size_t n = 0;
    int64_t newest = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        rig_move(&rig, a);
        rig_move(&rig, b);
    }
    assert_ok(events_of_game(conn(), b, 0, rows, 32, &n, &err), err);
    assert_int_equal(n, 9);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rows[i].seq, (int64_t)i + 1);
        assert_true(i == 0 || rows[i].id > rows[i - 1].id);
        assert_string_equal(rows[i].public_id, "bbbbbbbb");
    }
    assert_int_equal(rows[0].kind, GAME_EVENT_CREATED);
    assert_int_equal(rows[0].state_no, 0);
    assert_string_equal(rows[0].handle, "g0");
    assert_int_equal(rows[5].kind, GAME_EVENT_STARTED);
    assert_int_equal(rows[5].state_no, 6);
    assert_int_equal(rows[5].seat, -1);
    assert_string_equal(rows[5].handle, "");
    assert_int_equal(rows[8].kind, GAME_EVENT_MOVE);
    assert_int_equal(get(b).state_no, 9);
    assert_int_equal(get(b).last_event_id, rows[8].id);
    assert_ok(events_of_game(conn(), b, 7, rows, 1, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].seq, 8);
    assert_ok(events_get(conn(), a, 9, &one, &err), err);
    assert_st(events_get(conn(), a, 10, &one, &err), ST_NOT_FOUND, err);
    assert_ok(events_newest(conn(), &newest, &err), err);
    assert_int_equal(newest, 18);
}

static void test_positions_for_repetition_come_from_moves_and_leavings(void **state)
{
    int64_t id = rig_running(&rig, "aaaaaaaa", users);
    struct game_row game;
    struct event_row event = EVENT_ROW_INIT;
    uint64_t hashes[8];
    size_t n = 0;

    (void)state;
    rig_move(&rig, id);
    game = get(id);
    event.kind = GAME_EVENT_RESIGNED;
    event.seat = 1;
    event.position_hash = UINT64_MAX;
    event.at = T0;
    assert_ok(events_append(rig.txn, &game, &event, true, &err), err);
    event.kind = GAME_EVENT_TURN;
    event.position_hash = 5;
    assert_ok(events_append(rig.txn, &game, &event, false, &err), err);
    assert_ok(games_save(rig.txn, &game, &err), err);
    assert_ok(events_hashes(conn(), id, 0, hashes, 8, &n, &err), err);
    assert_int_equal(n, 2);
    assert_true(hashes[1] == UINT64_MAX);
    assert_ok(events_hashes(conn(), id, 7, hashes, 8, &n, &err), err);
    assert_int_equal(n, 1);
}

/* An account's stream has what is his, in order, and each page goes on where the last ended. */
static void test_an_accounts_events_come_in_pages_without_a_gap(void **state)
{
    int64_t mine = rig_running(&rig, "aaaaaaaa", users), theirs, since = 0, through = 0;
    const int64_t others[SEAT_COUNT] = {users[4], users[1], users[2], users[3]};
    struct event_row rows[3];
    size_t n = 0, all = 0;
    int64_t last = 0;

    (void)state;
    theirs = rig_running(&rig, "bbbbbbbb", others);
    for (int i = 0; i < 4; i++) {
        rig_move(&rig, theirs);
        rig_move(&rig, mine);
    }
    do {
        assert_ok(events_of_user(conn(), users[0], since, rows, 3, &n, &through, &err), err);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(rows[i].game_id, mine);
            assert_true(rows[i].id > last);
            last = rows[i].id;
        }
        all += n;
        since = through;
    } while (n == 3);
    assert_int_equal(all, 10);
    assert_int_equal(through, 20); /* nothing of his after the last: resume from the newest */
    assert_ok(events_of_user(conn(), users[1], 0, rows, 3, &n, &through, &err), err);
    assert_int_equal(through, rows[2].id);
    assert_ok(events_of_user(conn(), users[0], 20, rows, 3, &n, &through, &err), err);
    assert_int_equal(n, 0);
    assert_int_equal(through, 20);
}

/* The spans in which the stream looks grow; far apart events are still found, each once. */
static void test_events_far_apart_are_found(void **state)
{
    int64_t game = rig_running(&rig, "aaaaaaaa", users), through = 0;
    struct event_row rows[16];
    size_t n = 0;

    (void)state;
    rig_commit(&rig);
    rig_spoil(&rig, "UPDATE game_events SET id = 5000000 WHERE id = 6;"
                    "UPDATE game_events SET id = 70000 WHERE id = 5;"
                    "UPDATE games SET last_event_id = 5000000");
    rig_begin(&rig);
    rig_move(&rig, game);
    assert_ok(events_of_user(conn(), users[3], 0, rows, 16, &n, &through, &err), err);
    assert_int_equal(n, 7);
    assert_int_equal(rows[4].id, 70000);
    assert_int_equal(rows[5].id, 5000000);
    assert_int_equal(rows[6].id, 5000001);
    assert_int_equal(through, 5000001);
    assert_ok(events_of_user(conn(), users[3], 70000, rows, 1, &n, &through, &err), err);
    assert_int_equal(rows[0].id, 5000000);
}

static void test_who_has_left_hears_of_nothing_after_that(void **state)
{
    int64_t id = rig_game(&rig, "aaaaaaaa", users[4]), through = 0;
    struct game_row game;
    struct event_row event = EVENT_ROW_INIT, rows[8];
    size_t n = 0;

    (void)state;
    assert_ok(seats_take(rig.txn, id, 0, users[0], HOLDER_PLAYER, T0, &err), err);
    game = get(id);
    event.kind = GAME_EVENT_SEAT_LEFT;
    event.at = T0;
    assert_ok(events_append(rig.txn, &game, &event, false, &err), err);
    assert_ok(games_save(rig.txn, &game, &err), err);
    assert_ok(seats_leave(rig.txn, id, 0, users[0], T0, &err), err);
    game = get(id);
    event.kind = GAME_EVENT_SEAT_TAKEN;
    assert_ok(events_append(rig.txn, &game, &event, false, &err), err);
    assert_ok(games_save(rig.txn, &game, &err), err);
    assert_ok(events_of_user(conn(), users[0], 0, rows, 8, &n, &through, &err), err);
    assert_int_equal(n, 2); /* created, and his leaving */
    assert_ok(events_of_user(conn(), users[4], 0, rows, 8, &n, &through, &err), err);
    assert_int_equal(n, 3);
}

/* ---------------------------------------------------------------- votes, clocks, timers */

static void test_one_offer_is_open_at_a_time(void **state)
{
    int64_t game = rig_running(&rig, "aaaaaaaa", users), id = 0, other = 0;
    struct vote_row vote, rows[4];
    size_t n = 0;

    (void)state;
    assert_st(votes_get_open(conn(), game, VOTE_DRAW, &vote, &err), ST_NOT_FOUND, err);
    assert_int_equal(err.reason, REASON_NO_DRAW_OFFERED);
    assert_ok(votes_open(rig.txn, game, VOTE_DRAW, 1, 7, T0, &id, &err), err);
    assert_st(votes_open(rig.txn, game, VOTE_DRAW, 2, 8, T0, &other, &err), ST_CONFLICT, err);
    assert_ok(votes_answer(rig.txn, id, 2, false, T0, &err), err);
    assert_ok(votes_answer(rig.txn, id, 2, true, T0 + 1, &err), err);
    assert_ok(votes_get_open(conn(), game, VOTE_DRAW, &vote, &err), err);
    assert_int_equal(vote.id, id);
    assert_int_equal(vote.seat, 1);
    assert_int_equal(vote.seq, 7);
    assert_int_equal(vote.answers[0], -1);
    assert_int_equal(vote.answers[1], 1);
    assert_int_equal(vote.answers[2], 1);
    assert_ok(votes_settle(rig.txn, id, VOTE_LAPSED, T0 + 2, &err), err);
    assert_st(votes_settle(rig.txn, id, VOTE_ACCEPTED, T0 + 2, &err), ST_CONFLICT, err);
    assert_st(votes_answer(rig.txn, id, 3, true, T0 + 2, &err), ST_CONFLICT, err);
    assert_ok(votes_open(rig.txn, game, VOTE_DRAW, 2, 9, T0 + 3, &other, &err), err);
    assert_ok(votes_list(conn(), game, rows, 4, &n, &err), err);
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].settled_at, T0 + 2);
    assert_int_equal(rows[0].state, VOTE_LAPSED);
}

static void test_an_outage_is_credited_once_a_game(void **state)
{
    int64_t a = rig_running(&rig, "aaaaaaaa", users), b = rig_running(&rig, "bbbbbbbb", users);
    struct clock_fact_row fact = CLOCK_FACT_ROW_INIT, rows[4];
    struct outage_row outage;
    int64_t id = 0, last = 0;
    size_t n = 0;
    utc_ms at = 0, started = 0;

    (void)state;
    assert_ok(heartbeat_get(conn(), &at, &started, &err), err);
    assert_int_equal(at, UTC_NONE);
    assert_ok(heartbeat_set(rig.txn, T0, true, &err), err);
    assert_ok(heartbeat_set(rig.txn, T0 + 30000, false, &err), err);
    assert_ok(heartbeat_get(conn(), &at, &started, &err), err);
    assert_int_equal(at, T0 + 30000);
    assert_int_equal(started, T0);

    assert_ok(outages_add(rig.txn, T0, T0 + MS_HOUR, MS_HOUR, "", T0 + MS_HOUR, &id, &err), err);
    assert_st(outages_add(rig.txn, T0, T0 + 5, 5, "", T0, &last, &err), ST_CONFLICT, err);
    assert_ok(outages_unfinished(conn(), &outage, &err), err);
    assert_int_equal(outage.id, id);
    fact.kind = CLOCK_FACT_OUTAGE;
    fact.game_id = a;
    fact.amount_ms = MS_HOUR;
    fact.outage_id = id;
    fact.at = T0;
    assert_ok(clock_facts_add(rig.txn, &fact, &err), err);
    assert_st(clock_facts_add(rig.txn, &fact, &err), ST_CONFLICT, err);
    assert_ok(outages_last_game(conn(), id, &last, &err), err);
    assert_int_equal(last, a);
    fact.game_id = b;
    assert_ok(clock_facts_add(rig.txn, &fact, &err), err);
    assert_ok(outages_credited(rig.txn, id, 2, true, &err), err);
    assert_st(outages_unfinished(conn(), &outage, &err), ST_NOT_FOUND, err);
    assert_ok(outages_list(conn(), 0, &outage, 1, &n, &err), err);
    assert_int_equal(outage.games, 2);

    fact.kind = CLOCK_FACT_CREDIT; /* that may be given twice */
    fact.outage_id = 0;
    fact.ply = 3;
    fact.seat = 2;
    fact.user_id = users[4];
    assert_ok(clock_facts_add(rig.txn, &fact, &err), err);
    assert_ok(clock_facts_add(rig.txn, &fact, &err), err);
    assert_ok(clock_facts_list(conn(), b, GAME_ANY, rows, 4, &n, &err), err);
    assert_int_equal(n, 3);
    assert_ok(clock_facts_list(conn(), b, 3, rows, 4, &n, &err), err);
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].seat, 2);
    assert_int_equal(rows[0].from_at, UTC_NONE);
}

static void test_setting_a_timer_again_moves_it(void **state)
{
    int64_t game = rig_running(&rig, "aaaaaaaa", users);
    struct timer_row timer = {
        .kind = TIMER_DEADLINE, .game_id = game, .seat = -1, .due_at = T0 + 5};
    struct timer_row rows[4];
    size_t n = 0;
    utc_ms next = 0;

    (void)state;
    assert_ok(timers_next(conn(), &next, &err), err);
    assert_int_equal(next, UTC_NONE);
    assert_ok(timers_set(rig.txn, &timer, &err), err);
    timer.due_at = T0 + 3;
    timer.detail = 7;
    timer.state_no = 9;
    assert_ok(timers_set(rig.txn, &timer, &err), err);
    timer.kind = TIMER_INVITATION;
    timer.seat = 1;
    timer.due_at = T0 + 1;
    assert_ok(timers_set(rig.txn, &timer, &err), err);
    timer.seat = 2;
    timer.due_at = T0 + 2;
    assert_ok(timers_set(rig.txn, &timer, &err), err);
    timer = (struct timer_row){.kind = TIMER_HOUSEKEEPING, .seat = -1, .due_at = T0 + 9};
    assert_ok(timers_set(rig.txn, &timer, &err), err);
    timer.due_at = T0 + 8;
    assert_ok(timers_set(rig.txn, &timer, &err), err);

    assert_ok(timers_of_game(conn(), game, rows, 4, &n, &err), err);
    assert_int_equal(n, 3);
    assert_ok(timers_due(conn(), T0, rows, 4, &n, &err), err);
    assert_int_equal(n, 0);
    assert_ok(timers_due(conn(), T0 + 3, rows, 4, &n, &err), err);
    assert_int_equal(n, 3);
    assert_int_equal(rows[0].seat, 1);
    assert_int_equal(rows[2].kind, TIMER_DEADLINE);
    assert_int_equal(rows[2].detail, 7);
    assert_int_equal(rows[2].state_no, 9);
    assert_int_equal(rows[2].due_at, T0 + 3);
    assert_ok(timers_clear(rig.txn, TIMER_INVITATION, game, 1, &err), err);
    assert_ok(timers_clear(rig.txn, TIMER_INVITATION, game, 1, &err), err);
    assert_ok(timers_next(conn(), &next, &err), err);
    assert_int_equal(next, T0 + 2);
    assert_ok(timers_clear_game(rig.txn, game, &err), err);
    assert_ok(timers_next(conn(), &next, &err), err);
    assert_int_equal(next, T0 + 8);
    assert_ok(timers_clear(rig.txn, TIMER_HOUSEKEEPING, 0, -1, &err), err);
    assert_ok(timers_next(conn(), &next, &err), err);
    assert_int_equal(next, UTC_NONE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, up, down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_game_comes_back_as_it_was_made),
        TEST(test_saving_keeps_every_field),
        TEST(test_a_game_that_has_moved_on_is_not_saved_over),
        TEST(test_the_schema_refuses_a_result_without_an_end),
        TEST(test_ending_tells_the_members_and_the_tally),
        TEST(test_ids_are_listed_in_rising_order_and_by_state),
        TEST(test_a_seat_is_taken_once_and_left_before_the_start),
        TEST(test_a_substitute_takes_the_turn_over),
        TEST(test_placements_late_moves_and_leaving_are_kept),
        TEST(test_an_invited_seat_is_kept_until_it_is_answered),
        TEST(test_a_mailed_invitation_is_claimed_and_its_address_erased),
        TEST(test_a_ply_is_played_once),
        TEST(test_events_are_numbered_without_a_gap),
        TEST(test_positions_for_repetition_come_from_moves_and_leavings),
        TEST(test_an_accounts_events_come_in_pages_without_a_gap),
        TEST(test_events_far_apart_are_found),
        TEST(test_who_has_left_hears_of_nothing_after_that),
        TEST(test_one_offer_is_open_at_a_time),
        TEST(test_an_outage_is_credited_once_a_game),
        TEST(test_setting_a_timer_again_moves_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

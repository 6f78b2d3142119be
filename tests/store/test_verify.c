/* store/test_verify.c - each kind of fault is found, and a sound file has none. */
#include "store/rig.h"

#include <stdio.h>
#include <string.h>

#include "store/timers.h"
#include "store/verify.h"

static struct rig rig;
static int64_t game;
static char found[4096];
static int own_calls;

static int up(void **state)
{
    struct timer_row timer = {.kind = TIMER_DEADLINE, .seat = -1, .due_at = T0 + MS_DAY};
    struct err err = ERR_INIT;
    int64_t users[SEAT_COUNT];

    (void)state;
    rig_open(&rig, NULL);
    for (int i = 0; i < SEAT_COUNT; i++) {
        char handle[16];

        (void)snprintf(handle, sizeof handle, "v%d", i);
        users[i] = rig_user(&rig, handle);
    }
    game = rig_running(&rig, "aaaaaaaa", users);
    rig_begin(&rig);
    timer.game_id = game;
    assert_ok(timers_set(rig.txn, &timer, &err), err);
    rig_commit(&rig);
    for (int i = 0; i < 6; i++)
        rig_move(&rig, game);
    (void)rig_game(&rig, "bbbbbbbb", users[1]);
    return 0;
}

static int down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void note(void *arg, const struct verify_fault *fault)
{
    size_t n = strlen(found);

    (void)arg;
    (void)snprintf(found + n, sizeof found - n, "[%s] %s\n", fault->public_id, fault->what);
}

static struct verify_report look(void)
{
    struct verify_options options = {.fault = note};
    struct verify_report report = {0};
    struct err err = ERR_INIT;

    found[0] = '\0';
    assert_ok(verify_run(rig.store, &options, &report, &err), err);
    return report;
}

static void test_a_sound_file_has_no_fault(void **state)
{
    struct verify_report report = look();

    (void)state;
    assert_string_equal(found, "");
    assert_int_equal(report.faults, 0);
    assert_int_equal(report.games, 2);
    assert_int_equal(report.events, 13);
    assert_int_equal(report.moves, 6);
}

/* Spoil one thing; the sentence that must be said of it. */
static void test_each_fault_is_found_and_named(void **state)
{
    static const struct {
        const char *spoil, *says;
    } cases[] = {
        {"UPDATE game_events SET seq = 99 WHERE game_id = 1 AND seq = 12", "numbered 1 to 99"},
        {"DELETE FROM game_events WHERE game_id = 1 AND seq = 9", "11 events are numbered 1 to 12"},
        {"UPDATE games SET last_seq = 11 WHERE id = 1", "the game says 11"},
        {"UPDATE games SET last_event_id = 1 WHERE id = 1", "the game says 1"},
        {"UPDATE games SET state_no = 3 WHERE id = 1", "lead to state 12, the game says 3"},
        {"UPDATE games SET ply = 5 WHERE id = 1", "6 moves stand, the game says 5"},
        {"DELETE FROM moves WHERE ply = 3", "5 moves are numbered 1 to 6"},
        {"UPDATE moves SET move = 'e2e4' WHERE ply = 2", "not as their events tell"},
        {"UPDATE games SET chain = zeroblob(32) WHERE id = 1", "not that of its last move"},
        {"UPDATE games SET chain = x'' WHERE id = 1", "moves and no chain hash"},
        {"UPDATE games SET turn_user_id = 1 WHERE id = 1", "it waits for user 1"},
        {"UPDATE seats SET left_how = 'resigned', left_at = 1 WHERE game_id = 1 AND seat = 2",
         "which has left"},
        {"UPDATE seats SET left_how = 'resigned', left_at = 1 WHERE game_id = 1 AND seat = 3",
         "its condition is a"},
        {"UPDATE games SET open_seats = 2 WHERE id = 1", "the game says 2"},
        {"UPDATE seats SET user_id = 1 WHERE game_id = 1 AND seat = 1", "holder is another"},
        {"UPDATE seats SET state = 'invited' WHERE game_id = 2 AND seat = 1",
         "kept without an invitation"},
        {"DELETE FROM members WHERE user_id = 3", "do not belong to it"},
        {"UPDATE members SET is_over = 1 WHERE game_id = 1 AND user_id = 2",
         "do not know that it is going on"},
        {"UPDATE games SET deadline_at = NULL WHERE id = 1", "running without a deadline"},
        {"UPDATE games SET paused_at = 5 WHERE id = 1", "paused and has a deadline"},
        {"DELETE FROM timers", "no timer is set"},
        {"UPDATE games SET position = '' WHERE id = 1", "lacks a position"},
        {"UPDATE games SET state = 'finished', result = 'draw', cause = 'agreement', ended_at = 9,"
         " turn_seat = NULL, turn_user_id = NULL WHERE id = 1",
         "0 events say that it ended"},
        {"UPDATE games SET state = 'aborted', cause = 'none', ended_at = 9 WHERE id = 2",
         "aborted with the cause none"},
        {"UPDATE game_tally SET n = 7 WHERE state = 'running'", "not as counted"},
        {"INSERT INTO votes (game_id, kind, seat, seq, state, created_at)"
         " VALUES (2, 'draw', 0, 1, 'open', 1)",
         "a vote is open"},
        {"PRAGMA foreign_keys = OFF; DELETE FROM users WHERE id = 4", "foreign_key_check"},
        {"INSERT INTO webhooks (user_id, url, kind, secret, busy_outbox_id, created_at, updated_at)"
         " VALUES (1, 'u', 'slack', x'00', 77, 1, 1)",
         "busy with nothing"},
        {"INSERT INTO webhooks (user_id, url, kind, secret, next_due_at, created_at, updated_at)"
         " VALUES (1, 'u', 'slack', x'00', 77, 1, 1)",
         "do not know what waits"},
        {"INSERT INTO inbox (received_at, way, recipient, sender, fingerprint, size, state)"
         " VALUES (1, 'lmtp', 'r', 's', zeroblob(32), 3, 'received')",
         "bytes are not where they should be"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct verify_report report;

        if (i > 0) {
            rig_close(&rig);
            (void)up(NULL);
        }
        rig_spoil(&rig, cases[i].spoil);
        report = look();
        if (report.faults == 0 || !strstr(found, cases[i].says))
            fail_msg("after %s: %s", cases[i].spoil, found);
    }
}

/* A word that no enum has cannot come in by the schema; a file may still be damaged. */
static void test_damage_of_the_file_is_found(void **state)
{
    FILE *file;
    struct verify_options options = {.fault = note};
    struct verify_report report = {0};
    struct err err = ERR_INIT;
    long page;
    enum status st;

    (void)state;
    rig_close(&rig);
    (void)up(NULL);
    assert_ok(store_checkpoint(rig.store, NULL, &err), err);
    page = (long)rig_sql(&rig, "SELECT rootpage FROM sqlite_master"
                               " WHERE name = 'sqlite_autoindex_game_events_1'");
    rig_shut(&rig);
    file = fopen(rig.path, "r+");
    assert_non_null(file);
    (void)fseek(file, (page - 1) * 4096 + 8, SEEK_SET); /* where its cells are */
    (void)fputs("spoilt spoilt spoilt", file);
    (void)fclose(file);
    rig_reopen(&rig);
    found[0] = '\0';
    st = verify_run(rig.store, &options, &report, &err);
    assert_true(st == ST_CORRUPT || report.faults > 0);
    assert_true(strstr(found, "integrity_check") != NULL);
}

static enum status own_check(void *arg, struct store_conn *conn, const struct game_row *g,
                             struct verify *verify, struct err *err)
{
    struct move_row moves[8];
    size_t n = 0;
    enum status st = moves_list(conn, g->id, 1, moves, 8, &n, err);

    (void)arg;
    own_calls++;
    if (st == ST_OK && n == 6)
        verify_fault_add(verify, g->id, g->public_id, "the replay differs at ply %d", 4);
    return st;
}

static void test_the_callers_own_check_sees_every_game(void **state)
{
    struct verify_options options = {.fault = note, .game = own_check};
    struct verify_report report = {0};
    struct err err = ERR_INIT;

    (void)state;
    rig_close(&rig);
    (void)up(NULL);
    found[0] = '\0';
    own_calls = 0;
    assert_ok(verify_run(rig.store, &options, &report, &err), err);
    assert_int_equal(own_calls, 2);
    assert_int_equal(report.faults, 1);
    assert_string_equal(found, "[aaaaaaaa] the replay differs at ply 4\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sound_file_has_no_fault),
        cmocka_unit_test(test_each_fault_is_found_and_named),
        cmocka_unit_test(test_damage_of_the_file_is_found),
        cmocka_unit_test(test_the_callers_own_check_sees_every_game),
    };

    return cmocka_run_group_tests(tests, up, down);
}

/* The replay finds what was changed behind the arbiter's back, and nothing in what was not. */
#include "arbiter/table.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/verify.h"

struct found {
    struct table *t;
    int64_t game;
    int n;
    char text[4096];
};

static void fault(void *arg, const struct verify_fault *f)
{
    struct found *found = arg;
    size_t len = strlen(found->text);

    found->n++;
    (void)snprintf(found->text + len, sizeof found->text - len, "%s; ", f->what);
}

static enum status check(void *arg, struct store_conn *conn, const struct game_row *game,
                         struct verify *verify, struct err *err)
{
    struct found *found = arg;

    return arbiter_verify_game(&found->t->arb, conn, game, verify, err);
}

static struct found verify_all(struct table *t)
{
    struct found found = {.t = t};
    struct verify_options options = {.fault = fault, .game = check, .arg = &found, .quick = true};
    struct verify_report report;
    struct err err = ERR_INIT;

    assert_ok(verify_run(t->store, &options, &report, &err), err);
    assert_int_equal(report.faults, found.n);
    return found;
}

/* Somebody edits the file while the server is down. */
static void tamper(struct table *t, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;

    table_close(t);
    assert_int_equal(sqlite3_open(t->path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    assert_true(sqlite3_total_changes(db) > 0);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    table_open(t);
}

static int64_t some_game(struct table *t)
{
    int64_t game = game_start(t, "verney");
    static const char *const moves[] = {"e2e3", "b5c5", "e13e12", "m5l5", "f2f3"};

    for (size_t i = 0; i < 5; i++)
        move_ok(t, game, moves[i]);
    struct call c = acts(t, OP_RESIGN, game, EAST);
    call_ok(&c);
    move_ok(t, game, "b6c6");
    c = acts(t, OP_CREDIT, game, ORGANISER);
    c.amount_ms = MS_DAY;
    call_ok(&c);
    c = acts(t, OP_HOLD, game, NORTH);
    c.text = "f13f12";
    c.release_at = now_of(t) + MS_MINUTE;
    call_ok(&c);
    c = acts(t, OP_HOLD_RESIGNATION, game, WEST);
    c.release_at = now_of(t) + MS_MINUTE;
    call_ok(&c);
    return game;
}

static void test_every_kind_of_tampering_is_found(void **state)
{
    static const struct {
        const char *sql, *word;
    } cases[] = {
        {"UPDATE moves SET move = 'e2e3', san = 'e3' WHERE ply = 5", "differ"},
        {"UPDATE moves SET move = 'g2g3', san = 'g3' WHERE ply = 5;"
         "UPDATE game_events SET move = 'g2g3', san = 'g3' WHERE kind = 'move' AND ply = 5",
         "hash"},
        {"UPDATE moves SET move = 'g2g5' WHERE ply = 5;"
         "UPDATE game_events SET move = 'g2g5' WHERE kind = 'move' AND ply = 5", "not legal"},
        {"UPDATE moves SET san = 'g3' WHERE ply = 5", "does not mean"},
        {"UPDATE moves SET at = at + 1 WHERE ply = 3", "chain"},
        {"UPDATE moves SET user_id = (SELECT max(id) FROM users) WHERE ply = 3", "chain"},
        {"UPDATE moves SET chain = zeroblob(32) WHERE ply = 2", "chain"},
        {"UPDATE moves SET position_hash = position_hash + 1 WHERE ply = 4", "hash"},
        {"UPDATE games SET chain = zeroblob(32)", "chain"},
        {"UPDATE games SET position = start_position", "another position"},
        {"UPDATE games SET position_hash = 1", "hash"},
        {"UPDATE games SET conditions = 'aaaa'", "condition"},
        {"UPDATE games SET state_no = state_no - 1", "state number"},
        {"UPDATE games SET deadline_at = deadline_at + 1", "deadline"},
        {"UPDATE games SET explanation = 'start 1 0 0;budget 1 5 0'", "explanation"},
        {"UPDATE clock_facts SET amount_ms = amount_ms + 1", "deadline"},
        {"UPDATE games SET rules = 'verney colour=blue'", "rules"},
        {"UPDATE games SET start_position = 'verney nonsense'", "start position"},
        {"UPDATE games SET turn_seat = 0, turn_user_id = (SELECT min(id) FROM users)", "turn"},
        {"UPDATE game_events SET seat = 2 WHERE kind = 'resigned'", ""},
        {"UPDATE game_events SET kind = 'mated' WHERE kind = 'credited'", "not mated"},
        {"UPDATE game_events SET seat = 0 WHERE kind = 'turn'", "turn"},
        {"UPDATE held_moves SET state_no = state_no - 1 WHERE kind = 'move'", "does not answer"},
        {"UPDATE held_moves SET seat = 0 WHERE kind = 'move'", "does not answer"},
        {"UPDATE held_moves SET move = 'f13f9' WHERE kind = 'move'", "that is held is not legal"},
        {"DELETE FROM timers WHERE kind = 'held' AND seat = 2", "a move is held and no timer"},
        {"DELETE FROM timers WHERE kind = 'held' AND seat = 1",
         "a resignation is held and no timer"},
        {"UPDATE held_moves SET state_no = state_no + 1 WHERE kind = 'resign'",
         "cannot take effect"},
        {"UPDATE held_moves SET seat = 3 WHERE kind = 'resign'", "cannot take effect"},
        {"UPDATE held_moves SET user_id = 1 WHERE kind = 'resign'", "cannot take effect"},
        {"UPDATE games SET paused_at = 1, deadline_at = NULL", "does not answer"},
        {"UPDATE games SET state = 'finished', result = 'draw', cause = 'threefold', ended_at = 1,"
         " turn_seat = NULL, turn_user_id = NULL, deadline_at = NULL, turn_at = NULL",
         "does not follow"},
        {"UPDATE games SET state = 'finished', result = 'team0', cause = 'mate', ended_at = 1,"
         " turn_seat = NULL, turn_user_id = NULL, deadline_at = NULL, turn_at = NULL",
         "does not follow"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (i > 0)
            assert_int_equal(table_setup(state), 0);
        struct table *t = *state;
        (void)some_game(t);
        assert_int_equal(verify_all(t).n, 0);
        tamper(t, cases[i].sql);
        struct found found = verify_all(t);
        if (found.n == 0)
            fail_msg("not found: %s", cases[i].sql);
        if (!strstr(found.text, cases[i].word))
            fail_msg("%s: found only: %s", cases[i].sql, found.text);
        if (i + 1 < sizeof cases / sizeof cases[0])
            assert_int_equal(table_teardown(state), 0);
    }
}

static void test_a_game_that_should_be_over_is_found(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "teams");
    struct call c = acts(t, OP_RESIGN, game, EAST);

    call_ok(&c);
    assert_int_equal(verify_all(t).n, 0);
    tamper(t, "UPDATE games SET result = 'team1'");
    assert_non_null(strstr(verify_all(t).text, "by the rules it is over"));
}

static void test_games_that_never_started_are_sound(void **state)
{
    struct table *t = *state;

    (void)game_create_open(t, "verney", SOUTH, false);
    (void)game_start(t, "fortress reserve=chosen");
    assert_int_equal(verify_all(t).n, 0);
    tamper(t, "UPDATE games SET position = 'verney' WHERE state = 'open'");
    assert_true(verify_all(t).n > 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_every_kind_of_tampering_is_found),
        T(test_a_game_that_should_be_over_is_found),
        T(test_games_that_never_started_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

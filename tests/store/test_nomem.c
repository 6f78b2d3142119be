/*
 * store/test_nomem.c - SQLite runs out of memory at each of its allocations in turn.
 *
 * Whatever was being done either succeeds or fails as a whole, says ST_NOMEM or that it could not
 * be stored, and the same store works again afterwards.
 */
#include "store/rig.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "store/held.h"
#include "store/inbox.h"
#include "store/outbox.h"
#include "store/timers.h"
#include "store/tokens.h"
#include "store/verify.h"

enum { TRIES_MAX = 20000 };

static sqlite3_mem_methods usual;
static long to_go; /* allocations until one fails; 0: none will */
static bool has_failed;

static bool fails(void)
{
    if (to_go == 0 || --to_go > 0)
        return false;
    has_failed = true;
    return true;
}

static void *failing_malloc(int n)
{
    return fails() ? NULL : usual.xMalloc(n);
}

static void *failing_realloc(void *p, int n)
{
    return fails() ? NULL : usual.xRealloc(p, n);
}

static struct rig rig;
static int64_t users[SEAT_COUNT], game;

static int up(void **state)
{
    struct timer_row timer = {.kind = TIMER_DEADLINE, .seat = -1, .due_at = T0 + MS_DAY};
    struct err err = ERR_INIT;
    sqlite3_mem_methods ours;

    (void)state;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual), SQLITE_OK);
    ours = usual;
    ours.xMalloc = failing_malloc;
    ours.xRealloc = failing_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &ours), SQLITE_OK);
    /* every allocation one of ours: none from a pool that was taken before */
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
    rig_open(&rig, NULL);
    rig_begin(&rig);
    for (int i = 0; i < SEAT_COUNT; i++) {
        char handle[16];

        (void)snprintf(handle, sizeof handle, "n%d", i);
        users[i] = rig_user(&rig, handle);
    }
    game = rig_running(&rig, "aaaaaaaa", users);
    timer.game_id = game;
    assert_ok(timers_set(rig.txn, &timer, &err), err);
    rig_commit(&rig);
    return 0;
}

static int down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void arm(long n)
{
    has_failed = false;
    to_go = n;
}

static void print_fault(void *arg, const struct verify_fault *fault)
{
    (void)arg;
    print_message("fault: %s\n", fault->what);
}

static void assert_sound(int ply)
{
    struct verify_options options = {.fault = print_fault};
    struct verify_report report;
    struct game_row row;
    struct err err = ERR_INIT;

    assert_ok(games_get(rig_conn(&rig), game, &row, &err), err);
    assert_int_equal(row.ply, ply);
    assert_ok(verify_run(rig.store, &options, &report, &err), err);
    assert_int_equal(report.faults, 0);
}

static enum status move_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    (void)arg;
    return rig_move_in(txn, game, now, NULL, err);
}

static void test_a_move_without_memory_is_made_whole_or_not_at_all(void **state)
{
    struct writer_options options = {.store = rig.store, .time = rig_time(&rig)};
    struct writer_command command = {"move", move_run, NULL, NULL};
    struct writer *w = NULL;
    struct err err = ERR_INIT;
    int made = 0, refused = 0;

    (void)state;
    assert_ok(writer_open(&options, &w, &err), err);
    for (long n = 1; n < TRIES_MAX; n++) {
        enum status st;
        bool failed;

        arm(n);
        st = writer_run(w, &command, &err);
        failed = has_failed;
        arm(0);
        if (st == ST_OK) {
            made++;
        } else {
            refused++;
            assert_true(st == ST_NOMEM || st == ST_IO);
        }
        if (n % 16 == 0)
            assert_sound(made);
        if (!failed) {
            assert_int_equal(st, ST_OK);
            break;
        }
    }
    print_message("refused: %d\n", refused);
    assert_true(refused > 0);
    assert_sound(made);
    writer_close(w);
}

/* A letter from its acceptance to its effect: accepted, claimed, read, settled with a held move, a
 * token used and another made. */
static enum status letter_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    const int *number = arg;
    static unsigned char bytes[] = "From: n0@example.org\r\n\r\ne4\r\n";
    struct inbox_row row = INBOX_ROW_INIT, claimed, full = INBOX_ROW_INIT;
    struct held_row held = {.game_id = game, .kind = HELD_RESIGN, .user_id = users[0],
                            .release_at = now};
    struct token_row token = TOKEN_ROW_INIT, found;
    int64_t id = 0, token_id = 0, waiting = 0;
    bool is_new = false;
    size_t n = 0;
    enum status st;

    row.received_at = now;
    rig_hash(1000 + *number, row.fingerprint);
    row.raw = bytes;
    row.raw_len = sizeof bytes - 1;
    st = inbox_put(txn, &row, &id, &is_new, err);
    if (st == ST_OK)
        st = inbox_claim(txn, now, 1, &claimed, &n, err);
    if (st == ST_OK)
        st = inbox_get(store_txn_conn(txn), id, true, &full, err);
    inbox_row_release(&full);
    rig_hash(*number, token.hash);
    token.user_id = users[0];
    token.inbox_id = id;
    token.expires_at = now;
    if (st == ST_OK)
        st = tokens_put(txn, &token, &token_id, err);
    if (st == ST_OK)
        st = tokens_find(store_txn_conn(txn), token.hash, &found, err);
    if (st == ST_OK)
        st = tokens_use(txn, token_id, now, err);
    if (st == ST_OK)
        st = held_put(txn, &held, err);
    if (st == ST_OK)
        st = held_take(txn, game, held.seat, &held, err);
    if (st == ST_OK)
        st = inbox_settle(txn, id, INBOX_DONE, INBOX_VERDICT_ACTED, "", users[0], game, 0, now,
                          err);
    if (st == ST_OK)
        st = inbox_waiting(store_txn_conn(txn), now, &waiting, err);
    if (st == ST_OK && waiting != 0)
        return err_set(err, ST_INTERNAL, "a settled letter waits");
    return st;
}

static void test_a_letter_without_memory_takes_effect_whole_or_not_at_all(void **state)
{
    struct writer_options options = {.store = rig.store, .time = rig_time(&rig)};
    int number = 0;
    struct writer_command command = {"letter", letter_run, NULL, &number};
    struct writer *w = NULL;
    struct err err = ERR_INIT;
    int64_t acted = 0;
    int refused = 0;

    (void)state;
    assert_ok(writer_open(&options, &w, &err), err);
    for (long n = 1; n < TRIES_MAX; n++) {
        enum status st;
        bool failed;

        arm(n);
        st = writer_run(w, &command, &err);
        failed = has_failed;
        arm(0);
        if (st == ST_OK) {
            acted++;
            number++;
        } else {
            refused++;
            assert_true(st == ST_NOMEM || st == ST_IO);
        }
        if (n % 16 == 0 || !failed) {
            assert_int_equal(rig_sql(&rig, "SELECT count(*) FROM inbox"), acted);
            assert_int_equal(rig_sql(&rig, "SELECT count(*) FROM inbox WHERE state = 'done' AND"
                                           " verdict = 'acted' AND attempts = 1"),
                             acted);
            assert_int_equal(rig_sql(&rig, "SELECT count(*) FROM turn_tokens WHERE used_at > 0"),
                             acted);
        }
        if (!failed) {
            assert_int_equal(st, ST_OK);
            break;
        }
    }
    print_message("refused: %d\n", refused);
    assert_true(refused > 0);
    writer_close(w);
}

static void test_a_read_without_memory_fails_and_can_be_asked_again(void **state)
{
    struct game_brief rows[4];
    struct game_filter filter = GAME_FILTER_INIT;
    struct game_cursor from = {.id = 0}, next;
    struct event_row events[8];
    int64_t through = 0;
    struct err err = ERR_INIT;
    int refused = 0;
    size_t got = 0;

    (void)state;
    filter.player_id = filter.viewer_id = users[0];
    for (long n = 1; n < TRIES_MAX; n++) {
        enum status list, stream;
        bool failed;

        arm(n);
        list = games_list(rig_conn(&rig), &filter, &from, rows, 4, &got, &next, &err);
        stream = events_of_user(rig_conn(&rig), users[0], 0, events, 8, &got, &through, &err);
        failed = has_failed;
        arm(0);
        if (!failed) {
            assert_int_equal(list, ST_OK);
            assert_int_equal(stream, ST_OK);
            break;
        }
        refused += list != ST_OK || stream != ST_OK;
        assert_true(list == ST_OK || list == ST_NOMEM);
        assert_true(stream == ST_OK || stream == ST_NOMEM);
    }
    print_message("refused: %d\n", refused);
    assert_true(refused > 0);
}

static void test_opening_without_memory_fails_and_can_be_tried_again(void **state)
{
    struct err err = ERR_INIT;
    int refused = 0;

    (void)state;
    rig_shut(&rig);
    /* opening allocates often; growing steps visit all parts of it */
    for (long n = 1; n < 100000000; n += 1 + n / 7) {
        struct store_options options = {.path = rig.path};
        struct store *store = NULL;
        enum status st;
        bool failed;

        arm(n);
        st = store_open(&options, &store, &err);
        failed = has_failed;
        arm(0);
        store_close(store);
        if (!failed) {
            assert_int_equal(st, ST_OK);
            break;
        }
        if (st != ST_OK) {
            refused++;
            assert_null(store);
        }
    }
    print_message("refused: %d\n", refused);
    assert_true(refused > 10);
    rig_reopen(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_move_without_memory_is_made_whole_or_not_at_all),
        cmocka_unit_test(test_a_letter_without_memory_takes_effect_whole_or_not_at_all),
        cmocka_unit_test(test_a_read_without_memory_fails_and_can_be_asked_again),
        cmocka_unit_test(test_opening_without_memory_fails_and_can_be_tried_again),
    };

    return cmocka_run_group_tests(tests, up, down);
}

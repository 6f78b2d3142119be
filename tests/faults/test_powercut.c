/*
 * faults/test_powercut.c - the store when disks fail and the power goes.
 *
 * Moves are made by the writer over a VFS that forgets what was not synced.  The power goes before
 * the first, second, third… operation of the disk until a run gets through; after each cut the file
 * is opened again and must hold every move that was acknowledged, nothing of one that was not, and
 * agree with itself (store/verify.h).
 */
#include "store/rig.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/vfs_powercut.h"
#include "store/internal.h"
#include "store/outbox.h"
#include "store/timers.h"
#include "store/verify.h"

enum { MOVES = 3, CUTS_MAX = 2000 };

static struct rig rig;
static int64_t users[SEAT_COUNT], game;

static void install(bool passes_through)
{
    const struct powercut_options options = {.passes_through = passes_through};

    powercut_install(&options);
    powercut_count_reset();
}

static unsigned char *base; /* the file before the first move, made once */
static size_t base_size;

static void make_base(void)
{
    struct timer_row timer = {.kind = TIMER_DEADLINE, .seat = -1, .due_at = T0 + MS_DAY};
    struct err err = ERR_INIT;

    rig_open(&rig, NULL);
    rig_begin(&rig);
    for (int i = 0; i < SEAT_COUNT; i++) {
        char handle[16];

        (void)snprintf(handle, sizeof handle, "p%d", i);
        users[i] = rig_user(&rig, handle);
    }
    game = rig_running(&rig, "aaaaaaaa", users);
    timer.game_id = game;
    assert_ok(timers_set(rig.txn, &timer, &err), err);
    rig_commit(&rig);
    base = rig_save(&rig, &base_size);
    rig_close(&rig);
}

static void rig_with_game(void)
{
    if (!base)
        make_base();
    rig_open_from(&rig, POWERCUT_VFS, base, base_size);
}

/* A move with its intent, as the daemon makes one. */
static enum status move_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    static char large[8001];
    struct intent_row intent = INTENT_ROW_INIT;
    int64_t seq = 0;
    enum status st = rig_move_in(txn, game, now, &seq, err);

    if (st != ST_OK)
        return st;
    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key, "turn:%lld", (long long)seq);
    (void)snprintf(intent.template_name, sizeof intent.template_name, "turn");
    intent.cls = NOTICE_TURN;
    intent.channel = CHANNEL_MAIL;
    intent.user_id = users[0];
    intent.game_id = game;
    intent.seq = seq;
    intent.state_no = seq;
    intent.due_at = intent.created_at = now;
    intent.expires_at = now + MS_DAY;
    if (*(int *)arg) { /* a big one now and then, to spill over pages */
        memset(large, ' ', sizeof large - 1);
        intent.params = large;
    }
    return outbox_put(txn, &intent, NULL, err);
}

/* Make moves until one fails; how many were acknowledged. */
static int play(struct writer *w)
{
    int n = 0;

    while (n < MOVES) {
        int big = n == 1;
        struct writer_command command = {"move", move_run, NULL, &big};

        if (writer_run(w, &command, NULL) != ST_OK)
            break;
        n++;
        /* also while the log moves into the file; if that fails, nothing is lost by it */
        if (n == 2 && store_checkpoint(rig.store, NULL, NULL) != ST_OK)
            continue;
    }
    return n;
}

static struct writer *writer_of(void)
{
    struct writer_options options = {.store = rig.store, .time = rig_time(&rig)};
    struct writer *w = NULL;
    struct err err = ERR_INIT;

    assert_ok(writer_open(&options, &w, &err), err);
    return w;
}

static void count_fault(void *arg, const struct verify_fault *fault)
{
    (void)arg;
    print_message("fault: %s %s\n", fault->public_id, fault->what);
}

static void assert_sound(void)
{
    struct verify_options options = {.fault = count_fault};
    struct verify_report report;
    struct err err = ERR_INIT;

    assert_ok(verify_run(rig.store, &options, &report, &err), err);
    assert_int_equal(report.faults, 0);
}

/* The file after a failure: what was acknowledged, all of it; at most one more (the one whose
 * answer the failure cut off), and that one whole. */
static void assert_moves(int acknowledged)
{
    struct game_row row;
    struct err err = ERR_INIT;
    int64_t letters;

    assert_ok(games_get(rig_conn(&rig), game, &row, &err), err);
    assert_in_range(row.ply, acknowledged, acknowledged + 1);
    letters = rig_sql(&rig, "SELECT count(*) FROM outbox");
    assert_int_equal(letters, row.ply);
    assert_sound();
}

static void cut_everywhere(uint64_t seed_base, int stride)
{
    int cuts = 0;

    install(false);
    for (int64_t at = 1; at < CUTS_MAX; at += stride) {
        struct writer *w;
        int done;
        bool was_off;

        rig_with_game();
        w = writer_of();
        powercut_at(POWERCUT_ANY, at, seed_base ? seed_base + (uint64_t)at : 0);
        done = play(w);
        was_off = powercut_is_off();
        writer_close(w);
        powercut_now(0); /* if it has not gone yet, now; nothing more is acknowledged */
        rig_shut(&rig);
        powercut_repair();
        rig_reopen(&rig);
        assert_moves(done);
        rig_close(&rig);
        powercut_count_reset();
        if (!was_off) {
            assert_int_equal(done, MOVES);
            assert_true(cuts > MOVES); /* it has really cut on the way */
            return;
        }
        cuts++;
    }
    fail_msg("no run got through");
}

static void test_nothing_unsynced_survives_and_nothing_acknowledged_is_lost(void **state)
{
    (void)state;
    cut_everywhere(0, 1);
}

static void test_torn_and_reordered_writes_lose_nothing_acknowledged(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 1; seed++)
        cut_everywhere(seed * 1000000, 2);
}

/* An acknowledged move would be lost if it were not synced: the test itself can fail. */
static void test_without_the_sync_a_power_cut_loses_moves(void **state)
{
    struct writer *w;
    struct game_row row;
    struct err err = ERR_INIT;
    int done;

    (void)state;
    install(false);
    rig_with_game();
    assert_ok(store_checkpoint(rig.store, NULL, &err), err);
    w = writer_of();
    assert_ok(conn_exec(&rig.store->writer, "PRAGMA synchronous = NORMAL", &err), err);
    done = play(w);
    assert_int_equal(done, MOVES);
    writer_close(w);
    powercut_now(0);
    rig_shut(&rig);
    powercut_repair();
    rig_reopen(&rig);
    assert_ok(games_get(rig_conn(&rig), game, &row, &err), err);
    assert_true(row.ply < MOVES);
    rig_close(&rig);
}

/* Each disk error, once and for good, at each operation in turn. */
static void fail_everywhere(enum powercut_kind kind, int code, bool goes_on, int stride)
{
    install(true);
    for (int64_t at = 1; at < CUTS_MAX; at += stride) {
        struct writer *w;
        bool failed;
        int done;

        rig_with_game();
        w = writer_of();
        powercut_fail(kind, at, code, goes_on);
        done = play(w);
        failed = powercut_has_failed();
        powercut_count_reset();
        /* the same daemon goes on once the disk is well again */
        assert_moves(done);
        if (done < MOVES) {
            struct game_row row;
            struct err err = ERR_INIT;

            assert_ok(games_get(rig_conn(&rig), game, &row, &err), err);
            assert_int_equal(row.ply, done); /* refused is refused: it is not there */
            assert_int_equal(play(w), MOVES);
        }
        writer_close(w);
        rig_reopen(&rig);
        assert_sound();
        rig_close(&rig);
        if (!failed) {
            assert_int_equal(done, MOVES);
            assert_true(at > MOVES);
            return;
        }
    }
    fail_msg("no run got through");
}

static void test_a_full_disk_at_any_write_refuses_whole_moves(void **state)
{
    (void)state;
    fail_everywhere(POWERCUT_WRITE, SQLITE_FULL, true, 3);
}

static void test_one_failed_write_refuses_whole_moves(void **state)
{
    (void)state;
    fail_everywhere(POWERCUT_WRITE, SQLITE_IOERR_WRITE, false, 4);
}

static void test_a_failed_sync_refuses_whole_moves(void **state)
{
    (void)state;
    fail_everywhere(POWERCUT_SYNC, SQLITE_IOERR_FSYNC, false, 1);
}

/* A file that is being made when the power goes is made again. */
static void test_a_cut_while_the_file_is_made_can_be_resumed(void **state)
{
    (void)state;
    install(false);
    for (int64_t at = 1; at < CUTS_MAX; at += 7) {
        struct store_options options = {.vfs = POWERCUT_VFS};
        struct store *store = NULL;
        struct err err = ERR_INIT;
        enum status st;
        bool was_off;
        char path[160];

        rig_open(&rig, POWERCUT_VFS);
        (void)snprintf(path, sizeof path, "%s/new.db", rig.dir);
        options.path = path;
        powercut_at(POWERCUT_ANY, at, (uint64_t)at);
        st = store_open(&options, &store, &err);
        was_off = powercut_is_off();
        store_close(store);
        powercut_now(0);
        rig_shut(&rig);
        powercut_repair();
        store = NULL;
        assert_ok(store_open(&options, &store, &err), err);
        store_close(store);
        rig_reopen(&rig);
        rig_close(&rig);
        powercut_count_reset();
        if (!was_off) {
            assert_int_equal(st, ST_OK);
            assert_true(at > 3);
            return;
        }
    }
    fail_msg("no run got through");
}

static int free_base(void **state)
{
    (void)state;
    free(base);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_unsynced_survives_and_nothing_acknowledged_is_lost),
        cmocka_unit_test(test_torn_and_reordered_writes_lose_nothing_acknowledged),
        cmocka_unit_test(test_without_the_sync_a_power_cut_loses_moves),
        cmocka_unit_test(test_a_full_disk_at_any_write_refuses_whole_moves),
        cmocka_unit_test(test_one_failed_write_refuses_whole_moves),
        cmocka_unit_test(test_a_failed_sync_refuses_whole_moves),
        cmocka_unit_test(test_a_cut_while_the_file_is_made_can_be_resumed),
    };

    return cmocka_run_group_tests(tests, NULL, free_base);
}

/* store/test_backup.c - a copy of one instant, whole, and never over another file. */
#include "store/rig.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/backup.h"
#include "store/verify.h"

static struct rig rig;
static int64_t users[SEAT_COUNT], game;

static int up(void **state)
{
    (void)state;
    rig_open(&rig, NULL);
    for (int i = 0; i < SEAT_COUNT; i++) {
        char handle[16];

        (void)snprintf(handle, sizeof handle, "b%d", i);
        users[i] = rig_user(&rig, handle);
    }
    game = rig_running(&rig, "aaaaaaaa", users);
    rig_move(&rig, game);
    return 0;
}

static int down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void target(char *ret, size_t size, const char *name)
{
    (void)snprintf(ret, size, "%s/%s", rig.dir, name);
}

static void test_a_backup_opens_as_the_same_store(void **state)
{
    char path[160], part[170];
    struct backup_report report;
    struct store_options options = {.path = path};
    struct store *copy = NULL;
    struct store_reader *reader = NULL;
    struct game_row row;
    struct err err = ERR_INIT;
    struct stat info;

    (void)state;
    target(path, sizeof path, "copy.db");
    assert_ok(backup_make(rig.store, path, &report, &err), err);
    assert_int_equal(report.games, 1);
    assert_int_equal(report.events, 7);
    assert_true(report.rows > 20);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, report.bytes);
    assert_int_equal(info.st_mode & 0777, 0600);
    (void)snprintf(part, sizeof part, "%s.part", path);
    assert_int_equal(access(part, F_OK), -1);
    assert_ok(store_open(&options, &copy, &err), err);
    assert_ok(store_reader_open(copy, &reader, &err), err);
    assert_ok(games_find(store_reader_conn(reader), "aaaaaaaa", &row, &err), err);
    assert_int_equal(row.ply, 1);
    store_reader_close(reader);
    store_close(copy);
}

static void test_no_file_is_overwritten(void **state)
{
    char path[160];
    struct backup_report report;
    struct err err = ERR_INIT;
    FILE *file;
    struct stat info;

    (void)state;
    target(path, sizeof path, "mine.txt");
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("mine", file);
    (void)fclose(file);
    assert_st(backup_make(rig.store, path, &report, &err), ST_CONFLICT, err);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 4);
    assert_st(backup_make(rig.store, "/nowhere/at/all.db", &report, &err), ST_IO, err);
    assert_string_equal(err.text,
                        "backup: cannot make /nowhere/at/all.db.part: No such file or directory");
}

struct busy {
    struct writer *writer;
    atomic_bool stop;
};

static enum status move_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    (void)arg;
    return rig_move_in(txn, game, now, NULL, err);
}

static void *busy_main(void *arg)
{
    struct busy *busy = arg;
    struct writer_command command = {"move", move_run, NULL, NULL};

    while (!atomic_load(&busy->stop))
        if (writer_run(busy->writer, &command, NULL) != ST_OK)
            break;
    return NULL;
}

static void any_fault(void *arg, const struct verify_fault *fault)
{
    (void)arg;
    if (!strstr(fault->what, "no timer")) /* the rig sets none */
        fail_msg("%s", fault->what);
}

/* While moves are being made the copy is of one instant: it agrees with itself. */
static void test_a_backup_under_load_agrees_with_itself(void **state)
{
    struct writer_options w_options = {.store = rig.store, .time = rig_time(&rig)};
    struct busy busy = {.writer = NULL};
    struct err err = ERR_INIT;
    pthread_t thread;

    (void)state;
    assert_ok(writer_open(&w_options, &busy.writer, &err), err);
    assert_ok(writer_start(busy.writer, &err), err);
    assert_int_equal(pthread_create(&thread, NULL, busy_main, &busy), 0);
    for (int i = 0; i < 3; i++) {
        char path[160];
        struct backup_report report;
        struct store_options options = {.path = path};
        struct verify_options v_options = {.fault = any_fault};
        struct verify_report v_report;
        struct store *copy = NULL;

        target(path, sizeof path, "load");
        (void)snprintf(path + strlen(path), 16, "%d.db", i);
        assert_ok(backup_make(rig.store, path, &report, &err), err);
        assert_ok(store_open(&options, &copy, &err), err);
        assert_ok(verify_run(copy, &v_options, &v_report, &err), err);
        store_close(copy);
    }
    atomic_store(&busy.stop, true);
    (void)pthread_join(thread, NULL);
    writer_close(busy.writer);
}

/* A copy that is not sound gets no name: what the file has wrong its copy has too. */
static void test_a_copy_that_fails_its_check_is_thrown_away(void **state)
{
    char path[160], part[170];
    struct backup_report report = {.rows = -7};
    struct err err = ERR_INIT;

    (void)state;
    rig_spoil(&rig, "PRAGMA foreign_keys = OFF; UPDATE moves SET user_id = 777777");
    target(path, sizeof path, "unsound.db");
    (void)snprintf(part, sizeof part, "%s.part", path);
    assert_st(backup_make(rig.store, path, &report, &err), ST_CORRUPT, err);
    assert_non_null(strstr(err.text, "the copy fails PRAGMA foreign_key_check"));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(report.rows, -7); /* untouched on failure */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_backup_opens_as_the_same_store),
        cmocka_unit_test(test_no_file_is_overwritten),
        cmocka_unit_test(test_a_backup_under_load_agrees_with_itself),
        cmocka_unit_test(test_a_copy_that_fails_its_check_is_thrown_away), /* last: it spoils */
    };

    return cmocka_run_group_tests(tests, up, down);
}

/* store/test_store.c - opening, migrating, locking, reading, transactions. */
#include "store/rig.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/internal.h"

static struct rig rig;

static int up(void **state)
{
    (void)state;
    rig_open(&rig, NULL);
    return 0;
}

static int down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static enum status open_at(const char *path, bool read_only, bool must_exist, struct err *err)
{
    struct store_options options = {
        .path = path, .read_only = read_only, .must_exist = must_exist};
    struct store *store = NULL;
    enum status st = store_open(&options, &store, err);

    assert_int_equal(store != NULL, st == ST_OK);
    store_close(store);
    return st;
}

/* ---------------------------------------------------------------- refusing */

static void test_what_was_written_is_there_after_reopening(void **state)
{
    struct user_row user;
    struct err err = ERR_INIT;
    int64_t id = rig_user(&rig, "anna");

    (void)state;
    rig_reopen(&rig);
    assert_ok(users_get(rig_conn(&rig), id, &user, &err), err);
    assert_string_equal(user.handle, "anna");
}

static void test_another_programs_database_is_refused_and_left_alone(void **state)
{
    char path[160];
    struct err err = ERR_INIT;
    sqlite3 *db = NULL;
    struct stat before, after;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/other.db", rig.dir);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE t (x); PRAGMA application_id = 7", 0, 0, 0),
                     SQLITE_OK);
    (void)sqlite3_close(db);
    assert_int_equal(stat(path, &before), 0);
    assert_st(open_at(path, false, false, &err), ST_INVALID, err);
    assert_non_null(strstr(err.text, "another program"));
    assert_st(open_at(path, true, false, &err), ST_INVALID, err);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
}

static void test_a_file_that_is_no_database_is_refused(void **state)
{
    char path[160];
    struct err err = ERR_INIT;
    FILE *file;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/text.db", rig.dir);
    file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 400; i++)
        (void)fputs("not a database at all\n", file);
    (void)fclose(file);
    assert_st(open_at(path, false, false, &err), ST_INVALID, err);
}

/* What a user who may not write hears when he opens the rig's file, in a process of his own where
 * we are root. */
static void refusal_of(bool read_only, char *text, size_t size)
{
    enum { NOBODY = 65534 };
    int ends[2], status = 0;
    struct err err = ERR_INIT;
    enum status st;
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(rig.dir, NOBODY, NOBODY), 0);
        assert_int_equal(chown(rig.path, NOBODY, NOBODY), 0);
    }
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(2);
        st = open_at(rig.path, read_only, true, &err);
        (void)!write(ends[1], err.text, strlen(err.text));
        _exit(st == ST_IO ? 0 : 1);
    }
    close(ends[1]);
    n = read(ends[0], text, size - 1);
    text[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) != 0)
        fail_msg("it ended with %d: %s", WEXITSTATUS(status), text);
}

static void test_a_file_that_cannot_be_written_is_named(void **state)
{
    char text[1000], lock[200], wanted[400];

    (void)state;
    rig_shut(&rig);
    (void)snprintf(lock, sizeof lock, "%s.lock", rig.path);
    assert_int_equal(chmod(lock, 0666), 0); /* it is not what we ask about */
    (void)snprintf(wanted, sizeof wanted, "store: %s is read-only for this user", rig.path);
    assert_int_equal(chmod(rig.path, 0400), 0);
    refusal_of(/* read_only= */ false, text, sizeof text);
    assert_string_equal(text, wanted);
    assert_int_equal(chmod(rig.path, 0600), 0);
    assert_int_equal(chmod(rig.dir, 0500), 0);
    (void)snprintf(wanted, sizeof wanted,
                   "store: %s or its folder is read-only for this user; even reading makes files "
                   "beside it (-wal, -shm)", rig.path);
    for (int read_only = 0; read_only < 2; read_only++) {
        refusal_of(read_only, text, sizeof text);
        assert_string_equal(text, wanted);
    }
    assert_int_equal(chmod(rig.dir, 0700), 0);
    rig_reopen(&rig);
}

static void test_a_newer_schema_is_refused(void **state)
{
    char sql[64];
    struct err err = ERR_INIT;

    (void)state;
    rig_shut(&rig);
    (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %d", store_schema_version() + 1);
    rig_spoil(&rig, sql);
    assert_st(open_at(rig.path, false, false, &err), ST_INVALID, err);
    assert_non_null(strstr(err.text, "newer version"));
    assert_st(open_at(rig.path, true, false, &err), ST_INVALID, err);
    (void)snprintf(sql, sizeof sql, "PRAGMA user_version = %d", store_schema_version());
    rig_spoil(&rig, sql);
    rig_reopen(&rig);
}

static void test_a_missing_file_is_not_made_for_a_reader(void **state)
{
    char path[160];
    struct err err = ERR_INIT;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/none.db", rig.dir);
    assert_st(open_at(path, true, false, &err), ST_NOT_FOUND, err);
    assert_st(open_at(path, false, true, &err), ST_NOT_FOUND, err);
    assert_int_equal(access(path, F_OK), -1);
}

/* ---------------------------------------------------------------- the lock */

static void test_a_second_writer_of_one_file_is_refused(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(store_lock_holder(rig.path), (long)getpid());
    assert_st(open_at(rig.path, false, false, &err), ST_BUSY, err);
    assert_int_equal(err.reason, REASON_BUSY);
    assert_ok(open_at(rig.path, true, false, &err), err); /* reading is free */
    rig_shut(&rig);
    assert_int_equal(store_lock_holder(rig.path), 0);
    rig_reopen(&rig);
}

static void test_the_lock_ends_with_its_process(void **state)
{
    char path[160];
    struct store_lock lock = STORE_LOCK_INIT;
    struct err err = ERR_INIT;
    int status = 0;
    pid_t pid;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/x.db", rig.dir);
    pid = fork();
    if (pid == 0) { /* opens no database: only the lock */
        enum status st = store_lock_take(path, &lock, NULL);

        _exit(st == ST_OK ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_ok(store_lock_take(path, &lock, &err), err);
    store_lock_drop(&lock);
    store_lock_drop(&lock);
    store_lock_drop(NULL);
}

/* ---------------------------------------------------------------- migrations */

static struct migration two[3] = {
    {1, "0001_a.sql",
     "CREATE TABLE parent (id INTEGER PRIMARY KEY) STRICT;"
     "CREATE TABLE child (id INTEGER PRIMARY KEY,"
     " parent_id INTEGER NOT NULL REFERENCES parent (id) ON DELETE CASCADE) STRICT;"
     "INSERT INTO parent VALUES (1); INSERT INTO child VALUES (10, 1);"},
    {0, NULL, NULL},
    {0, NULL, NULL}};

static enum status migrate_to(const char *path, const char *second, struct err *err)
{
    struct store_conn conn;
    enum status st;

    two[1] = second ? (struct migration){2, "0002_b.sql", second}
                    : (struct migration){0, NULL, NULL};
    st = conn_open(&conn, path, NULL, true, true, 1024, err);
    if (st == ST_OK)
        st = migrate_run(&conn, path, two, err);
    conn_close(&conn);
    return st;
}

static int64_t ask(const char *path, const char *sql)
{
    struct rig other = {.vfs = NULL};

    (void)snprintf(other.path, sizeof other.path, "%.127s", path);
    return rig_sql(&other, sql);
}

static void test_rebuilding_a_table_keeps_what_refers_to_it(void **state)
{
    char path[128], before[160];
    struct stat about;
    struct err err = ERR_INIT;

    (void)state;
    (void)snprintf(path, sizeof path, "%.100s/m.db", rig.dir);
    assert_ok(migrate_to(path, NULL, &err), err);
    assert_int_equal(ask(path, "PRAGMA user_version"), 1);
    assert_ok(migrate_to(path,
                         "CREATE TABLE parent_ (id INTEGER PRIMARY KEY, more TEXT) STRICT;"
                         "INSERT INTO parent_ SELECT id, 'x' FROM parent;"
                         "DROP TABLE parent; ALTER TABLE parent_ RENAME TO parent;",
                         &err),
              err);
    assert_int_equal(ask(path, "PRAGMA user_version"), 2);
    assert_int_equal(ask(path, "SELECT count(*) FROM child"), 1);
    /* the copy of the version before */
    (void)snprintf(before, sizeof before, "%s.before-0002", path);
    assert_int_equal(ask(before, "PRAGMA user_version"), 1);
    assert_int_equal(ask(before, "SELECT count(*) FROM child"), 1);
    assert_int_equal(stat(before, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600); /* all addresses are in it */
}

static void test_a_migration_that_breaks_a_reference_changes_nothing(void **state)
{
    char path[128];
    struct err err = ERR_INIT;

    (void)state;
    (void)snprintf(path, sizeof path, "%.100s/m2.db", rig.dir);
    assert_ok(migrate_to(path, NULL, &err), err);
    assert_st(migrate_to(path, "CREATE TABLE extra (x INTEGER) STRICT; DELETE FROM parent;", &err),
              ST_CORRUPT, err);
    assert_non_null(strstr(err.text, "0002_b.sql"));
    assert_int_equal(ask(path, "PRAGMA user_version"), 1);
    assert_int_equal(ask(path, "SELECT count(*) FROM parent"), 1);
    assert_int_equal(ask(path, "SELECT count(*) FROM sqlite_master WHERE name = 'extra'"), 0);
    /* and it can be tried again, although the copy is there already */
    assert_ok(migrate_to(path, "CREATE TABLE extra (x INTEGER) STRICT;", &err), err);
}

static void test_a_migration_with_a_mistake_changes_nothing(void **state)
{
    char path[128];
    struct err err = ERR_INIT;

    (void)state;
    (void)snprintf(path, sizeof path, "%.100s/m3.db", rig.dir);
    assert_ok(migrate_to(path, NULL, &err), err);
    assert_true(migrate_to(path, "CREATE TABLE extra (x INTEGER) STRICT; CREATE TABEL y (x);",
                           &err) != ST_OK);
    assert_int_equal(ask(path, "PRAGMA user_version"), 1);
    assert_int_equal(ask(path, "SELECT count(*) FROM sqlite_master WHERE name = 'extra'"), 0);
}

/* ---------------------------------------------------------------- readers */

static void test_a_span_of_reads_sees_one_state(void **state)
{
    struct user_row user;
    struct err err = ERR_INIT;

    (void)state;
    (void)rig_user(&rig, "bela");
    assert_ok(store_read_begin(rig.reader, &err), err);
    assert_ok(users_find_handle(rig_conn(&rig), "bela", &user, &err), err);
    (void)rig_user(&rig, "clara");
    assert_st(users_find_handle(rig_conn(&rig), "clara", &user, &err), ST_NOT_FOUND, err);
    store_read_end(rig.reader);
    assert_ok(users_find_handle(rig_conn(&rig), "clara", &user, &err), err);
}

static void test_a_reader_does_not_see_what_is_not_committed(void **state)
{
    struct user_row user;
    struct err err = ERR_INIT;

    (void)state;
    rig_begin(&rig);
    (void)rig_user(&rig, "dora");
    assert_st(users_find_handle(rig_conn(&rig), "dora", &user, &err), ST_NOT_FOUND, err);
    assert_ok(users_find_handle(store_txn_conn(rig.txn), "dora", &user, &err), err);
    rig_roll_back(&rig);
    assert_st(users_find_handle(rig_conn(&rig), "dora", &user, &err), ST_NOT_FOUND, err);
}

static void test_readers_are_pooled_and_bounded(void **state)
{
    struct store_reader *r[STORE_READERS_MAX] = {NULL}, *again = NULL, *more = NULL;
    struct err err = ERR_INIT;
    int n = 0;

    (void)state;
    while (n < STORE_READERS_MAX - 1) /* the rig has one */
        assert_ok(store_reader_take(rig.store, &r[n++], &err), err);
    assert_st(store_reader_take(rig.store, &more, &err), ST_BUSY, err);
    assert_null(more);
    store_reader_give(r[0]);
    assert_ok(store_reader_take(rig.store, &again, &err), err);
    assert_ptr_equal(again, r[0]);
    store_reader_give(again);
    for (int i = 1; i < n; i++)
        store_reader_give(r[i]);
    store_reader_give(NULL);
}

/* ---------------------------------------------------------------- transactions */

static void test_a_part_that_is_undone_leaves_the_rest(void **state)
{
    struct user_row user;
    struct err err = ERR_INIT;

    (void)state;
    rig_begin(&rig);
    assert_ok(store_part_begin(rig.txn, &err), err);
    (void)rig_user(&rig, "outer");
    assert_ok(store_part_begin(rig.txn, &err), err);
    (void)rig_user(&rig, "inner");
    assert_ok(store_part_undo(rig.txn, &err), err);
    (void)rig_user(&rig, "after");
    assert_ok(store_part_keep(rig.txn, &err), err);
    rig_commit(&rig);
    assert_ok(users_find_handle(rig_conn(&rig), "outer", &user, &err), err);
    assert_ok(users_find_handle(rig_conn(&rig), "after", &user, &err), err);
    assert_st(users_find_handle(rig_conn(&rig), "inner", &user, &err), ST_NOT_FOUND, err);
}

static void test_a_checkpoint_empties_the_log_unless_a_reader_needs_it(void **state)
{
    struct user_row user;
    struct err err = ERR_INIT;
    int left = -1;

    (void)state;
    (void)rig_user(&rig, "emil");
    assert_true(store_wal_bytes(rig.store) > 0);
    assert_ok(store_checkpoint(rig.store, &left, &err), err);
    assert_int_equal(left, 0);
    assert_int_equal(store_wal_bytes(rig.store), 0);

    (void)rig_user(&rig, "flora");
    assert_ok(store_read_begin(rig.reader, &err), err);
    assert_ok(users_find_handle(rig_conn(&rig), "flora", &user, &err), err);
    (void)rig_user(&rig, "gerd");
    assert_ok(store_checkpoint(rig.store, &left, &err), err); /* at once, without waiting */
    assert_true(store_wal_bytes(rig.store) > 0);
    store_read_end(rig.reader);
    assert_ok(store_checkpoint(rig.store, &left, &err), err);
    assert_int_equal(store_wal_bytes(rig.store), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written_is_there_after_reopening),
        cmocka_unit_test(test_another_programs_database_is_refused_and_left_alone),
        cmocka_unit_test(test_a_file_that_is_no_database_is_refused),
        cmocka_unit_test(test_a_file_that_cannot_be_written_is_named),
        cmocka_unit_test(test_a_newer_schema_is_refused),
        cmocka_unit_test(test_a_missing_file_is_not_made_for_a_reader),
        cmocka_unit_test(test_a_second_writer_of_one_file_is_refused),
        cmocka_unit_test(test_the_lock_ends_with_its_process),
        cmocka_unit_test(test_rebuilding_a_table_keeps_what_refers_to_it),
        cmocka_unit_test(test_a_migration_that_breaks_a_reference_changes_nothing),
        cmocka_unit_test(test_a_migration_with_a_mistake_changes_nothing),
        cmocka_unit_test(test_a_span_of_reads_sees_one_state),
        cmocka_unit_test(test_a_reader_does_not_see_what_is_not_committed),
        cmocka_unit_test(test_readers_are_pooled_and_bounded),
        cmocka_unit_test(test_a_part_that_is_undone_leaves_the_rest),
        cmocka_unit_test(test_a_checkpoint_empties_the_log_unless_a_reader_needs_it),
    };

    return cmocka_run_group_tests(tests, up, down);
}

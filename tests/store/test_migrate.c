/* store/test_migrate.c - files of every released version open, whole, in this one. */
#include "store/rig.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "store/internal.h"
#include "store/verify.h"

#define DATA FH_SOURCE_DIR "/tests/data/db"
enum { DUMP_MAX = 1024 * 1024, TABLES_MAX = 64 };

static sqlite3 *open_file(const char *path, int flags)
{
    sqlite3 *db = NULL;

    if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK)
        fail_msg("%s: %s", path, sqlite3_errmsg(db));
    return db;
}

static void run(sqlite3 *db, const char *sql)
{
    char *text = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &text) != SQLITE_OK)
        fail_msg("%.200s: %s", sql, text);
}

static bool is_refused(sqlite3 *db, const char *sql)
{
    return (sqlite3_exec(db, sql, NULL, NULL, NULL) & 0xff) == SQLITE_CONSTRAINT;
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int64_t value;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    value = sqlite3_column_int64(stmt, 0);
    (void)sqlite3_finalize(stmt);
    return value;
}

/* Texts of a statement's first column, each ended by '\n'. */
static void lines(sqlite3 *db, const char *sql, struct buf *out)
{
    sqlite3_stmt *stmt = NULL;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    while (sqlite3_step(stmt) == SQLITE_ROW)
        buf_printf(out, "%s\n", (const char *)sqlite3_column_text(stmt, 0));
    (void)sqlite3_finalize(stmt);
}

/* A SELECT that gives each row of a table as one text, with the columns that it has in `db`. */
static void row_query(sqlite3 *db, const char *table, struct buf *out)
{
    char sql[256];
    sqlite3_stmt *stmt = NULL;

    (void)snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s')", table);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    buf_puts(out, "SELECT '|'");
    while (sqlite3_step(stmt) == SQLITE_ROW)
        buf_printf(out, " || quote(%s) || '|'", (const char *)sqlite3_column_text(stmt, 0));
    buf_printf(out, " AS line FROM %s ORDER BY line", table);
    (void)sqlite3_finalize(stmt);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, DUMP_MAX);

    if (!file)
        fail_msg("%s is not there", path);
    assert_non_null(text);
    assert_true(fread(text, 1, DUMP_MAX - 1, file) > 0);
    (void)fclose(file);
    return text;
}

static void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char block[4096];
    size_t n;

    assert_non_null(in);
    assert_non_null(out);
    while ((n = fread(block, 1, sizeof block, in)) > 0)
        assert_int_equal(fwrite(block, 1, n, out), n);
    (void)fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void fault(void *arg, const struct verify_fault *f)
{
    (void)arg;
    print_error("fault: %s\n", f->what);
}

/* Opens a copy of the file with this program: every row of every table is what it was, nothing
 * refers to what is not there, the indexes and the checks hold, and the copy of before is kept. */
static void migrate_copy(const char *file, int version)
{
    struct verify_options verify = {.fault = fault};
    struct verify_report report;
    struct err err = ERR_INIT;
    struct rig rig;
    struct buf tables = buf_make(8192), before = buf_make(DUMP_MAX), after = buf_make(DUMP_MAX);
    struct buf queries[TABLES_MAX];
    char kept[200];
    size_t n = 0;
    sqlite3 *db;

    rig_open(&rig, NULL);
    rig_shut(&rig);
    copy_file(file, rig.path);
    db = open_file(rig.path, SQLITE_OPEN_READONLY);
    assert_int_equal(number(db, "SELECT user_version FROM pragma_user_version"), version);
    lines(db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", &tables);
    for (const char *at = tables.data; *at; at += strcspn(at, "\n") + 1) {
        char name[80];

        assert_true(n < TABLES_MAX);
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "\n"), at);
        queries[n] = buf_make(8192);
        row_query(db, name, &queries[n]);
        lines(db, queries[n].data, &before);
        n++;
    }
    (void)sqlite3_close(db);
    assert_true(n > 20);

    rig_reopen(&rig); /* migrates */
    /* Version 2 keeps the bytes of the outbox apart; seen together they are what they were. */
    assert_int_equal(sqlite3_exec(rig.store->writer.db,
                                  "CREATE TEMP VIEW outbox AS SELECT o.*, b.bytes FROM"
                                  " main.outbox o LEFT JOIN main.outbox_bytes b"
                                  " ON b.outbox_id = o.id",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    for (size_t i = 0; i < n; i++) {
        lines(rig.store->writer.db, queries[i].data, &after);
        buf_release(&queries[i]);
    }
    assert_string_equal(after.data, before.data);
    assert_int_equal(sqlite3_exec(rig.store->writer.db, "DROP VIEW temp.outbox", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_ok(verify_run(rig.store, &verify, &report, &err), err);
    assert_int_equal(report.faults, 0);
    assert_int_equal(store_migrated_from(rig.store),
                     version < store_schema_version() ? version : 0);
    rig_shut(&rig);

    if (version < store_schema_version()) {
        (void)snprintf(kept, sizeof kept, "%s.before-%04d", rig.path, version + 1);
        db = open_file(kept, SQLITE_OPEN_READONLY);
        assert_int_equal(number(db, "SELECT user_version FROM pragma_user_version"), version);
        (void)sqlite3_close(db);
    }
    rig_close(&rig);
    buf_release(&tables);
    buf_release(&before);
    buf_release(&after);
}

static void test_a_file_of_every_released_version_opens_whole(void **state)
{
    DIR *dir = opendir(DATA);
    struct dirent *entry;
    int files = 0, version = 0;
    char path[600];

    (void)state;
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (sscanf(entry->d_name, "v%d.sqlite", &version) != 1 || !strstr(entry->d_name, ".sqlite"))
            continue;
        (void)snprintf(path, sizeof path, DATA "/%s", entry->d_name);
        migrate_copy(path, version);
        files++;
    }
    (void)closedir(dir);
    /* every version but the newest, which may not be released yet */
    assert_true(files >= store_schema_version() - 1);
}

/* A migration that rebuilds a table proves nothing on an empty one. */
static void test_every_table_that_a_migration_rebuilds_has_rows_in_the_file_before_it(void **state)
{
    int rebuilt = 0;

    (void)state;
    for (const struct migration *m = store_migrations; m->number; m++) {
        const char *at = m->sql;
        char path[400], table[80], sql[200];

        while ((at = strstr(at, "CREATE TABLE new_")) != NULL) {
            sqlite3 *db;

            at += strlen("CREATE TABLE new_");
            assert_int_equal(sscanf(at, "%79[a-z_]", table), 1);
            (void)snprintf(path, sizeof path, DATA "/v%d.sqlite", m->number - 1);
            db = open_file(path, SQLITE_OPEN_READONLY);
            (void)snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
            if (number(db, sql) < 1)
                fail_msg("%s: %s has no rows", path, table);
            (void)sqlite3_close(db);
            rebuilt++;
        }
    }
    assert_int_equal(rebuilt, 5);
}

/* The files are what their schema and their rows make, so that both can be read. */
static void assert_made_of_its_rows(int version)
{
    struct buf made = buf_make(DUMP_MAX), kept = buf_make(DUMP_MAX);
    struct buf query = buf_make(8192);
    char path[400], *rows;
    sqlite3 *db = NULL, *file;

    (void)snprintf(path, sizeof path, DATA "/v%d.sql", version);
    rows = read_file(path);
    (void)snprintf(path, sizeof path, DATA "/v%d.sqlite", version);
    file = open_file(path, SQLITE_OPEN_READONLY);
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    run(db, "PRAGMA foreign_keys = OFF");
    for (int i = 0; i < version; i++)
        run(db, store_migrations[i].sql);
    run(db, rows);
    lines(db, "SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY name", &made);
    lines(file, "SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY name", &kept);
    row_query(db, "game_events", &query);
    lines(db, query.data, &made);
    lines(file, query.data, &kept);
    assert_string_equal(made.data, kept.data); /* what is released is frozen */
    (void)sqlite3_close(db);
    (void)sqlite3_close(file);
    buf_release(&made);
    buf_release(&kept);
    buf_release(&query);
    free(rows);
}

static void test_the_file_of_each_version_is_made_of_its_rows(void **state)
{
    (void)state;
    for (int version = 1; version < store_schema_version(); version++)
        assert_made_of_its_rows(version);
}

static void test_what_the_second_version_adds_holds_in_a_migrated_file(void **state)
{
    struct rig rig;
    sqlite3 *db;

    (void)state;
    rig_open(&rig, NULL);
    rig_shut(&rig);
    copy_file(DATA "/v1.sqlite", rig.path);
    rig_reopen(&rig);
    db = rig.store->writer.db;
    /* the lists have grown, and are lists still */
    run(db, "INSERT INTO prefs VALUES (2, 'answer', 'mail', 1, 'settings', 1)");
    assert_true(is_refused(db, "INSERT INTO prefs VALUES (2, 'post', 'mail', 1, 'settings', 1)"));
    run(db, "INSERT INTO timers (kind, game_id, due_at) VALUES ('held', 1, 5)");
    assert_true(is_refused(db, "INSERT INTO timers (kind, game_id, due_at) VALUES ('x', 1, 5)"));
    run(db, "INSERT INTO clock_facts (game_id, ply, kind, amount_ms, seq, at)"
            " VALUES (1, 0, 'delivery', 1, 1, 1), (1, 0, 'held', 1, 1, 1)");
    assert_true(is_refused(db, "INSERT INTO clock_facts (game_id, ply, kind, amount_ms, seq, at)"
                               " VALUES (1, 0, 'gift', 1, 1, 1)"));
    run(db, "INSERT INTO game_events (game_id, seq, kind, ply, state_no, at)"
            " VALUES (1, 3, 'delivery_credited', 0, 0, 1)");
    assert_true(is_refused(db, "INSERT INTO game_events (game_id, seq, kind, ply, state_no, at)"
                               " VALUES (1, 4, 'said', 0, 0, 1)"));
    run(db, "INSERT INTO outbox (dedupe_key, class, channel, template, state, due_at, expires_at,"
            " created_at) VALUES ('answer:1', 'answer', 'mail', 'answer', 'queued', 1, 9, 1)");
    assert_true(is_refused(db, "INSERT INTO outbox (dedupe_key, class, channel, template, state,"
                               " due_at, expires_at, created_at)"
                               " VALUES ('a', 'news', 'mail', 'a', 'queued', 1, 9, 1)"));
    /* what referred to a rebuilt table refers to the new one */
    assert_true(is_refused(db, "DELETE FROM outbox WHERE id = 1"));
    assert_true(is_refused(db, "DELETE FROM game_events WHERE id = 2"));
    assert_true(is_refused(db, "UPDATE outbox SET event_id = 77 WHERE id = 1"));
    assert_true(is_refused(db, "UPDATE outbox SET state = 'leased' WHERE id = 1"));
    /* uniqueness too */
    assert_true(is_refused(db, "UPDATE outbox SET dedupe_key = 'test:1' WHERE id = 1"));
    assert_true(is_refused(db, "INSERT INTO timers (kind, due_at) VALUES ('housekeeping', 5)"));
    assert_true(is_refused(db, "INSERT INTO clock_facts (game_id, ply, kind, amount_ms, outage_id,"
                               " seq, at) VALUES (1, 0, 'outage', 1, 1, 1, 1)"));
    /* nobody had chosen a time to be held */
    assert_int_equal(number(db, "SELECT count(*) FROM users WHERE hold_ms IS NULL"), 4);
    assert_true(is_refused(db, "UPDATE users SET hold_ms = -1 WHERE id = 1"));
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_of_every_released_version_opens_whole),
        cmocka_unit_test(test_every_table_that_a_migration_rebuilds_has_rows_in_the_file_before_it),
        cmocka_unit_test(test_the_file_of_each_version_is_made_of_its_rows),
        cmocka_unit_test(test_what_the_second_version_adds_holds_in_a_migrated_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

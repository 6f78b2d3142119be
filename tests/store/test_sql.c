/* store/test_sql.c - what can be said of all statements and of the schema at once. */
#include "store/rig.h"

#include <ctype.h>
#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
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

/* ---------------------------------------------------------------- plans */

/* A line of a plan that goes through a whole table: not a sub-result of the statement itself. */
static bool is_scan(const char *detail)
{
    static const char *const harmless[] = {"SCAN CONSTANT ROW", "SCAN steps", "SCAN (subquery"};

    if (strncmp(detail, "SCAN ", 5) != 0)
        return false;
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (strncmp(detail, harmless[i], strlen(harmless[i])) == 0)
            return false;
    return true;
}

static int scans_of(sqlite3 *db, const char *sql, char *ret_worst, size_t size)
{
    char text[16384];
    sqlite3_stmt *stmt = NULL;
    int n = 0;

    (void)snprintf(text, sizeof text, "EXPLAIN QUERY PLAN %s", sql);
    assert_int_equal(sqlite3_prepare_v2(db, text, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(stmt, 3);

        if (is_scan(detail)) {
            (void)snprintf(ret_worst, size, "%s", detail);
            n++;
        }
    }
    (void)sqlite3_finalize(stmt);
    return n;
}

/* For an INSERT … RETURNING SQLite plans to look for orphans that the new row would adopt; it does
 * so only while there are any, and with immediate keys there are none.  So foreign keys are asked
 * about for deletions only, where each costs a look at every child. */
static void test_no_statement_goes_through_a_table_without_saying_so(void **state)
{
    char worst[256] = "";
    sqlite3 *db = rig.store->writer.db;

    (void)state;
    for (int i = 0; i < Q_COUNT_; i++) {
        const char *sql = query_sql((enum query_id)i);
        bool deletes = strncmp(sql, "DELETE", 6) == 0;

        (void)sqlite3_exec(db, deletes ? "PRAGMA foreign_keys = ON" : "PRAGMA foreign_keys = OFF",
                           NULL, NULL, NULL);
        if (scans_of(db, sql, worst, sizeof worst) > 0 && !strstr(sql, "/*scan*/"))
            fail_msg("%s: %s", query_name((enum query_id)i), worst);
    }
    (void)sqlite3_exec(db, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
}

/* Every index that is not there to keep rows apart is in some statement's plan: one that SQLite
 * passes over for another costs each write and helps nobody. */
static void test_every_index_is_used(void **state)
{
    struct buf plans = buf_make(4 * 1024 * 1024);
    sqlite3 *db = rig.store->writer.db;
    sqlite3_stmt *stmt = NULL;

    (void)state;
    for (int i = 0; i < Q_COUNT_; i++) {
        char text[16384];

        (void)snprintf(text, sizeof text, "EXPLAIN QUERY PLAN %s", query_sql((enum query_id)i));
        assert_int_equal(sqlite3_prepare_v2(db, text, -1, &stmt, NULL), SQLITE_OK);
        while (sqlite3_step(stmt) == SQLITE_ROW)
            buf_printf(&plans, "%s \n", (const char *)sqlite3_column_text(stmt, 3));
        (void)sqlite3_finalize(stmt);
    }
    assert_false(buf_failed(&plans));
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT name FROM sqlite_schema WHERE type = 'index' AND"
                                        " sql LIKE 'CREATE INDEX%'", -1, &stmt, NULL),
                     SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        char word[128];

        (void)snprintf(word, sizeof word, "INDEX %s ", name);
        if (!strstr(plans.data, word))
            fail_msg("no statement goes by %s", name);
    }
    (void)sqlite3_finalize(stmt);
    buf_release(&plans);
}

static void test_a_statement_that_scans_is_noticed(void **state)
{
    char worst[256] = "";

    (void)state;
    assert_int_equal(scans_of(rig.store->writer.db, "SELECT * FROM users WHERE zone = ?1", worst,
                              sizeof worst),
                     1);
    assert_int_equal(scans_of(rig.store->writer.db, "SELECT * FROM users WHERE id = ?1", worst,
                              sizeof worst),
                     0);
}

static void test_readers_have_the_reading_statements_only(void **state)
{
    (void)state;
    for (int i = 0; i < Q_COUNT_; i++) {
        sqlite3_stmt *read = rig.reader->conn.stmts[i], *write = rig.store->writer.stmts[i];

        assert_non_null(write);
        assert_int_equal(read != NULL, i < Q_READS_);
        if (read && !sqlite3_stmt_readonly(read))
            fail_msg("%s changes something and is among the reading ones",
                     query_name((enum query_id)i));
    }
}

/* ---------------------------------------------------------------- settings */

static int64_t pragma(struct store_conn *conn, const char *sql)
{
    struct err err = ERR_INIT;
    int64_t value = -1;

    assert_ok(conn_int(conn, sql, &value, &err), err);
    return value;
}

static void test_connections_have_the_settings_that_durability_needs(void **state)
{
    struct store_conn *w = &rig.store->writer, *r = &rig.reader->conn;
    int on = -1;

    (void)state;
    assert_int_equal(pragma(w, "PRAGMA application_id"), STORE_APPLICATION_ID);
    assert_int_equal(pragma(w, "PRAGMA user_version"), store_schema_version());
    assert_int_equal(pragma(w, "PRAGMA synchronous"), 2); /* FULL */
    assert_int_equal(pragma(w, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
    assert_int_equal(pragma(w, "PRAGMA wal_autocheckpoint"), 30000);
    for (int i = 0; i < 2; i++) {
        struct store_conn *c = i ? r : w;

        assert_int_equal(pragma(c, "PRAGMA foreign_keys"), 1);
        assert_int_equal(pragma(c, "PRAGMA busy_timeout"), 5000);
        assert_int_equal(pragma(c, "PRAGMA temp_store"), 2); /* MEMORY */
        assert_int_equal(pragma(c, "PRAGMA cell_size_check"), 1);
        assert_int_equal(pragma(c, "PRAGMA trusted_schema"), 0);
        (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, -1, &on);
        assert_int_equal(on, 1);
        (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_DQS_DML, -1, &on);
        assert_int_equal(on, 0);
        (void)sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, -1, &on);
        assert_int_equal(on, 0);
    }
    assert_int_equal(pragma(r, "PRAGMA query_only"), 1);
}

/* ---------------------------------------------------------------- the schema */

/* The words of CHECK (column IN ('a', 'b')) or CHECK (column = 'a' OR column = 'b') of a table,
 * joined by blanks. */
static void check_words(const char *table, const char *column, char *ret, size_t size)
{
    char sql[256], needle[80];
    sqlite3_stmt *stmt = NULL;
    const char *at;

    ret[0] = '\0';
    (void)snprintf(sql, sizeof sql, "SELECT sql FROM sqlite_master WHERE name = '%s'", table);
    assert_int_equal(sqlite3_prepare_v2(rig.store->writer.db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    (void)snprintf(needle, sizeof needle, "CHECK (%s IN (", column);
    at = strstr((const char *)sqlite3_column_text(stmt, 0), needle);
    if (!at) {
        (void)snprintf(needle, sizeof needle, "CHECK (%s = '", column);
        at = strstr((const char *)sqlite3_column_text(stmt, 0), needle);
    }
    if (at) {
        size_t n = 0;
        bool inside = false;

        for (at += strcspn(at, "'"); *at && *at != ')'; at++) {
            if (*at == '\'') {
                inside = !inside;
                if (!inside && n + 1 < size)
                    ret[n++] = ' ';
            } else if (inside && n + 1 < size) {
                ret[n++] = *at;
            }
        }
        ret[n] = '\0';
    }
    (void)sqlite3_finalize(stmt);
}

static void compare_enum(const char *column, int count, const char *(*word)(int))
{
    char table[64], want[2048] = "", got[2048];
    const char *dot = strchr(column, '.');
    size_t n = 0;
    /* the first of these is NULL in the table */
    int first = strcmp(column, "seats.left_how") == 0 ? 1 : 0;

    (void)snprintf(table, sizeof table, "%.*s", (int)(dot - column), column);
    for (int i = first; i < count; i++)
        n += (size_t)snprintf(want + n, sizeof want - n, "%s ", word(i));
    check_words(table, dot + 1, got, sizeof got);
    assert_string_equal(got, want);
}

#define WORD_OF_(name, list, count, column)                                                        \
    static const char *word_of_##name(int value)                                                   \
    {                                                                                              \
        return name##_str((enum name)value);                                                       \
    }
STORE_ENUMS(WORD_OF_)

static void test_every_enumeration_is_its_check(void **state)
{
    (void)state;
#define COMPARE_(name, list, count, column) compare_enum(column, count, word_of_##name);
    STORE_ENUMS(COMPARE_)
}

/* Columns that repeat another's enumeration. */
static void test_repeated_enumerations_agree(void **state)
{
    static const char *const same[][4] = {{"prefs", "class", "outbox", "class"},
                                          {"prefs", "channel", "outbox", "channel"},
                                          {"game_events", "result", "games", "result"},
                                          {"game_events", "cause", "games", "cause"},
                                          {"game_tally", "state", "games", "state"}};
    char a[2048], b[2048];

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        check_words(same[i][0], same[i][1], a, sizeof a);
        check_words(same[i][2], same[i][3], b, sizeof b);
        assert_string_not_equal(a, "");
        assert_string_equal(a, b);
    }
}

/* Is it CHECK (word = 'a' OR word = 'b' …), the same word throughout? */
static bool is_word_list(const char *check)
{
    const char *word = check + strlen("CHECK (");
    size_t n = strcspn(word, " ");
    int parts = 0;

    for (const char *at = word;; parts++) {
        at += strspn(at, " \n");
        if (strncmp(at, word, n) != 0 || strncmp(at + n, " = '", 4) != 0)
            return false;
        at += n + 4;
        at += strcspn(at, "'") + 1;
        if (*at == ')')
            return parts > 0;
        if (strncmp(at, " OR", 3) != 0)
            return false;
        at += 3;
    }
}

static void test_every_checked_word_list_belongs_to_an_enum(void **state)
{
    sqlite3_stmt *stmt = NULL;
    int lists = 0, known = 5; /* those of the test before */

    (void)state;
    assert_int_equal(sqlite3_prepare_v2(rig.store->writer.db,
                                        "SELECT sql FROM sqlite_master WHERE type = 'table'", -1,
                                        &stmt, NULL),
                     SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *at = (const char *)sqlite3_column_text(stmt, 0);

        while ((at = strstr(at, " IN ('")) != NULL) {
            const char *open = at;

            while (open > (const char *)sqlite3_column_text(stmt, 0) && *open != '(')
                open--;
            /* CHECK (word IN (…: one column; others are conditions between columns */
            if (open[-1] == ' ' && strncmp(open - 6, "CHECK ", 6) == 0)
                lists++;
            at++;
        }
        at = (const char *)sqlite3_column_text(stmt, 0);
        for (; (at = strstr(at, "CHECK (")) != NULL; at++)
            lists += is_word_list(at);
    }
    (void)sqlite3_finalize(stmt);
#define COUNT_(name, list, count, column) known++;
    STORE_ENUMS(COUNT_)
    assert_int_equal(lists, known);
}

static void test_words_come_back_as_what_they_were(void **state)
{
    enum game_state s = GAME_ABORTED;
    enum game_event_kind kind = GAME_EVENT_CREATED;

    (void)state;
    assert_true(game_state_parse("running", &s));
    assert_int_equal(s, GAME_RUNNING);
    assert_false(game_state_parse("Running", &s));
    assert_false(game_state_parse("", &s));
    assert_int_equal(s, GAME_RUNNING);
    assert_true(game_event_kind_parse(game_event_kind_str(GAME_EVENT_WARNING), &kind));
    assert_int_equal(kind, GAME_EVENT_WARNING);
    assert_string_equal(game_state_str(GAME_STATE_COUNT_), "?");
}

/* One file of schema/: tables STRICT, a comment for each column. */
static void look_at_schema(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[1024], table[80] = "";
    int columns = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "CREATE TABLE %79s (", table) == 1)
            continue;
        if (line[0] == ')') {
            if (table[0] && !strstr(line, "STRICT"))
                fail_msg("%s: table %s is not STRICT", path, table);
            table[0] = '\0';
        }
        if (table[0] && strncmp(line, "    ", 4) == 0 && islower((unsigned char)line[4])) {
            columns++;
            if (!strstr(line, "--"))
                fail_msg("%s: no comment: %s", path, line);
        }
    }
    (void)fclose(file);
    if (strstr(path, "0001"))
        assert_true(columns > 200);
}

static void test_every_table_is_strict_and_every_column_explained(void **state)
{
    DIR *dir = opendir(FH_SOURCE_DIR "/schema");
    struct dirent *entry;
    char path[1024];
    int files = 0;

    (void)state;
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        if (strstr(entry->d_name, ".sql")) {
            (void)snprintf(path, sizeof path, FH_SOURCE_DIR "/schema/%s", entry->d_name);
            look_at_schema(path);
            files++;
        }
    (void)closedir(dir);
    assert_int_equal(files, store_schema_version());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_statement_goes_through_a_table_without_saying_so),
        cmocka_unit_test(test_every_index_is_used),
        cmocka_unit_test(test_a_statement_that_scans_is_noticed),
        cmocka_unit_test(test_readers_have_the_reading_statements_only),
        cmocka_unit_test(test_connections_have_the_settings_that_durability_needs),
        cmocka_unit_test(test_every_enumeration_is_its_check),
        cmocka_unit_test(test_repeated_enumerations_agree),
        cmocka_unit_test(test_every_checked_word_list_belongs_to_an_enum),
        cmocka_unit_test(test_words_come_back_as_what_they_were),
        cmocka_unit_test(test_every_table_is_strict_and_every_column_explained),
    };

    return cmocka_run_group_tests(tests, up, down);
}

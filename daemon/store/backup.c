/* store/backup.c - see backup.h. */
#include "store/backup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "store/internal.h"

enum { TABLES_MAX = 128, SQL_MAX = 64 * 1024 };

struct counts {
    int64_t all;
    int64_t games, events;
};

/* "SELECT (SELECT count(*) FROM a) + … , …": all counts of one instant in one statement. */
static enum status count_rows(struct store_conn *conn, struct counts *ret, struct err *err)
{
    struct buf sql = buf_make(SQL_MAX);
    sqlite3_stmt *stmt = NULL;
    struct counts counts = {0};
    int rc;
    enum status st = ST_OK;

    buf_puts(&sql, "SELECT 0");
    if (sqlite3_prepare_v2(conn->db, "SELECT name FROM sqlite_master WHERE type = 'table' AND "
                                     "name NOT LIKE 'sqlite_%'",
                           -1, &stmt, NULL) != SQLITE_OK) {
        st = conn_fail(conn, err, "tables");
        goto out;
    }
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        buf_printf(&sql, " + (SELECT count(*) FROM \"%s\")",
                   (const char *)sqlite3_column_text(stmt, 0));
    if (rc != SQLITE_DONE) {
        st = conn_fail(conn, err, "tables");
        goto out;
    }
    (void)sqlite3_finalize(stmt);
    stmt = NULL;
    buf_puts(&sql, ", (SELECT count(*) FROM games), (SELECT count(*) FROM game_events)");
    st = buf_status(&sql, "counting rows", err);
    if (st != ST_OK)
        goto out;
    if (sqlite3_prepare_v2(conn->db, sql.data, -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW) {
        st = conn_fail(conn, err, "counting rows");
        goto out;
    }
    counts.all = sqlite3_column_int64(stmt, 0);
    counts.games = sqlite3_column_int64(stmt, 1);
    counts.events = sqlite3_column_int64(stmt, 2);
    *ret = counts;
out:
    (void)sqlite3_finalize(stmt);
    buf_release(&sql);
    return st;
}

static enum status check_text(struct store_conn *conn, const char *sql, const char *want,
                              struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum status st = ST_OK;
    int rc;

    if (sqlite3_prepare_v2(conn->db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return conn_fail(conn, err, sql);
    rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        const char *got = (const char *)sqlite3_column_text(stmt, 0);

        if (!want || !got || strcmp(got, want) != 0)
            st = err_reason(err, REASON_CORRUPT, "the copy fails %s: %.120s", sql,
                            got ? got : "?");
    } else if (rc != SQLITE_DONE) {
        st = conn_fail(conn, err, sql);
    }
    (void)sqlite3_finalize(stmt);
    return st;
}

/* What the copy may count: exactly as much as the file if nobody wrote meanwhile; else between what
 * it had before and after, for what only ever grows. */
struct bounds {
    struct counts before, after;
    bool is_exact;
};

static bool counts_fit(const struct counts *got, const struct bounds *b)
{
    if (b->is_exact && got->all != b->before.all)
        return false;
    return got->games >= b->before.games && got->games <= b->after.games &&
           got->events >= b->before.events && got->events <= b->after.events;
}

/* The copy is whole, ours, and has as many rows as what it was made of. */
static enum status check_copy(const char *path, const struct bounds *bounds,
                              struct counts *ret_counts, struct err *err)
{
    struct store_conn conn;
    struct counts got = {0};
    bool is_new = false;
    int version = 0;
    enum status st = conn_open(&conn, path, NULL, false, false, 2048, err);

    if (st != ST_OK)
        return st;
    st = migrate_check(&conn, &is_new, &version, err);
    if (st == ST_OK)
        st = check_text(&conn, "PRAGMA integrity_check(1)", "ok", err);
    if (st == ST_OK)
        st = check_text(&conn, "PRAGMA foreign_key_check", NULL, err);
    if (st == ST_OK)
        st = count_rows(&conn, &got, err);
    if (st == ST_OK && (is_new || !counts_fit(&got, bounds)))
        st = err_reason(err, REASON_CORRUPT, "the copy has %lld rows, the file %lld",
                        (long long)got.all, (long long)bounds->before.all);
    conn_close(&conn);
    if (st == ST_OK)
        *ret_counts = got;
    return st;
}

/* data_version changes with every commit of another connection. */
static enum status copy_counted(struct store_conn *conn, const char *part, struct bounds *ret,
                                struct err *err)
{
    struct bounds b = {.is_exact = false};
    int64_t version = 0, version_after = 0;
    enum status st = conn_int(conn, "PRAGMA data_version", &version, err);

    if (st == ST_OK)
        st = count_rows(conn, &b.before, err);
    if (st == ST_OK)
        st = conn_copy_to(conn, part, err);
    if (st == ST_OK)
        st = count_rows(conn, &b.after, err);
    if (st == ST_OK)
        st = conn_int(conn, "PRAGMA data_version", &version_after, err);
    b.is_exact = version == version_after;
    if (st == ST_OK)
        *ret = b;
    return st;
}

enum status backup_make(struct store *store, const char *target, struct backup_report *ret_report,
                        struct err *err)
{
    char part[STORE_PATH_SIZE];
    struct store_conn conn = {.db = NULL};
    struct counts counts = {0};
    struct bounds bounds;
    struct stat info;
    enum status st;

    if ((size_t)snprintf(part, sizeof part, "%s.part", target) >= sizeof part)
        return err_set(err, ST_TOO_LARGE, "backup: the path is too long");
    if (stat(target, &info) == 0)
        return err_reason(err, REASON_ALREADY_DONE,
                          "backup: %s exists already; no copy is overwritten", target);
    st = copy_make(part, err);
    if (st != ST_OK) {
        err_prefix(err, "backup");
        return st;
    }

    st = conn_open(&conn, store->path, store->vfs, false, false, 2048, err);
    if (st == ST_OK)
        st = copy_counted(&conn, part, &bounds, err);
    conn_close(&conn);
    if (st == ST_OK)
        st = check_copy(part, &bounds, &counts, err);
    if (st == ST_OK && stat(part, &info) != 0)
        st = err_reason(err, REASON_STORE_FAILED, "backup: %s: %s", part, strerror(errno));
    /* link() refuses an existing target where rename() would replace it */
    if (st == ST_OK && link(part, target) != 0)
        st = errno == EEXIST
                 ? err_reason(err, REASON_ALREADY_DONE,
                              "backup: %s exists already; no copy is overwritten", target)
                 : err_reason(err, REASON_STORE_FAILED, "backup: cannot name %s: %s", target,
                              strerror(errno));
    (void)unlink(part);
    if (st == ST_OK)
        st = dir_sync(target, err);
    if (st == ST_OK)
        *ret_report = (struct backup_report){.bytes = (int64_t)info.st_size,
                                             .rows = counts.all,
                                             .games = counts.games,
                                             .events = counts.events};
    return st;
}

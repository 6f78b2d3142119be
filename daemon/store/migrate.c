/* store/migrate.c - from whatever version the file is to the newest; see internal.h, store.h. */
#include "store/internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int store_schema_version(void)
{
    int newest = 0;

    for (const struct migration *m = store_migrations; m->number; m++)
        newest = m->number;
    return newest;
}

enum status migrate_check(struct store_conn *conn, bool *ret_is_new, int *ret_version,
                          struct err *err)
{
    int64_t app = 0, version = 0, tables = 0;
    enum status st;

    st = conn_int(conn, "PRAGMA application_id", &app, err);
    if (st == ST_OK)
        st = conn_int(conn, "PRAGMA user_version", &version, err);
    if (st == ST_OK)
        st = conn_int(conn, "SELECT count(*) FROM sqlite_master", &tables, err);
    if (st != ST_OK)
        return st;
    if (app == 0 && version == 0 && tables == 0) {
        *ret_is_new = true;
        *ret_version = 0;
        return ST_OK;
    }
    if (app != STORE_APPLICATION_ID)
        return err_set(err, ST_INVALID,
                       "store: the file belongs to another program (application_id 0x%08x, not "
                       "0x%08x)",
                       (unsigned)app, (unsigned)STORE_APPLICATION_ID);
    *ret_is_new = false;
    *ret_version = (int)version;
    return ST_OK;
}

static enum status foreign_keys_hold(struct store_conn *conn, const char *name, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum status st = ST_OK;
    int rc;

    if (sqlite3_prepare_v2(conn->db, "PRAGMA foreign_key_check", -1, &stmt, NULL) != SQLITE_OK)
        return conn_fail(conn, err, "foreign_key_check");
    rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        st = err_set(err, ST_CORRUPT, "store: after %s a row of %s refers to one of %s that is not "
                                      "there",
                     name, (const char *)sqlite3_column_text(stmt, 0),
                     (const char *)sqlite3_column_text(stmt, 2));
    else if (rc != SQLITE_DONE)
        st = conn_fail(conn, err, "foreign_key_check");
    (void)sqlite3_finalize(stmt);
    return st;
}

static enum status migrate_one(struct store_conn *conn, const struct migration *m,
                               struct err *err)
{
    char sql[96];
    enum status st;

    st = conn_exec(conn, "BEGIN IMMEDIATE", err);
    if (st != ST_OK)
        return st;
    st = conn_exec(conn, m->sql, err);
    if (st == ST_OK)
        st = foreign_keys_hold(conn, m->name, err);
    if (st == ST_OK) {
        (void)snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
                       STORE_APPLICATION_ID, m->number);
        st = conn_exec(conn, sql, err);
    }
    if (st == ST_OK)
        st = conn_exec(conn, "COMMIT", err);
    if (st != ST_OK) {
        err_prefix(err, "migration %s", m->name);
        if (!sqlite3_get_autocommit(conn->db))
            (void)sqlite3_exec(conn->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return st;
}

/* NAME.before-NNNN; one that a failed try left is replaced. */
static enum status copy_before(struct store_conn *conn, const char *path, int number,
                               struct err *err)
{
    char part[STORE_PATH_SIZE + 32], whole[STORE_PATH_SIZE + 32];
    enum status st;

    (void)snprintf(whole, sizeof whole, "%s.before-%04d", path, number);
    (void)snprintf(part, sizeof part, "%s.before-%04d.part", path, number);
    st = copy_make(part, err);
    if (st == ST_OK)
        st = conn_copy_to(conn, part, err);
    if (st == ST_OK && rename(part, whole) != 0)
        st = err_set(err, ST_IO, "store: cannot name %s: %s", whole, strerror(errno));
    if (st == ST_OK)
        st = dir_sync(whole, err);
    if (st != ST_OK)
        (void)unlink(part);
    return st;
}

enum status migrate_run(struct store_conn *conn, const char *path, const struct migration *list,
                        struct err *err)
{
    bool is_new = false, has_copy = false;
    int version = 0, newest = 0;
    enum status st;

    st = migrate_check(conn, &is_new, &version, err);
    if (st != ST_OK)
        return st;
    for (const struct migration *m = list; m->number; m++) {
        assert(m->number == newest + 1);
        newest = m->number;
    }
    if (version > newest)
        return err_set(err, ST_INVALID,
                       "store: %s was written by a newer version of this program (schema %d, this "
                       "one knows %d)",
                       path, version, newest);
    if (version == newest)
        return ST_OK;

    /* Inside a transaction this pragma does nothing, and rebuilding a table then would delete what
     * refers to it. */
    st = conn_exec(conn, "PRAGMA foreign_keys = OFF", err);
    for (const struct migration *m = list; st == ST_OK && m->number; m++) {
        if (m->number <= version)
            continue;
        if (!is_new && !has_copy) {
            st = copy_before(conn, path, m->number, err);
            has_copy = true;
        }
        if (st == ST_OK)
            st = migrate_one(conn, m, err);
    }
    if (conn_exec(conn, "PRAGMA foreign_keys = ON", st == ST_OK ? err : NULL) != ST_OK &&
        st == ST_OK)
        st = ST_IO;
    return st;
}

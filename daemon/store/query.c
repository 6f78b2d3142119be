/* store/query.c - binding, stepping and reading; see internal.h. */
#include "store/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define X(name, sql) {#name, sql},
static const struct {
    const char *name, *sql;
} queries[Q_COUNT_] = {SQL_READS(X) SQL_WRITES(X)};
#undef X

const char *query_name(enum query_id id)
{
    return queries[id].name;
}

const char *query_sql(enum query_id id)
{
    return queries[id].sql;
}

struct query query_begin(struct store_conn *conn, enum query_id id)
{
    struct query q = {.conn = conn, .stmt = conn->stmts[id], .id = id, .st = ST_OK};

    assert(q.stmt); /* a change asked of a reader */
    assert(!sqlite3_stmt_busy(q.stmt));
    return q;
}

void query_trouble(struct query *q, enum status st, const char *why)
{
    if (q->st == ST_OK) {
        q->st = st;
        q->why = why;
    }
}

static void bound(struct query *q, int rc)
{
    if (rc == SQLITE_NOMEM)
        query_trouble(q, ST_NOMEM, "out of memory");
    else if (rc == SQLITE_TOOBIG)
        query_trouble(q, ST_TOO_LARGE, "a value is too large");
    else if (rc != SQLITE_OK)
        query_trouble(q, ST_INTERNAL, "a parameter too many");
}

void bind_int(struct query *q, int64_t value)
{
    bound(q, sqlite3_bind_int64(q->stmt, ++q->param, value));
}

void bind_id(struct query *q, int64_t id)
{
    bound(q, id == 0 ? sqlite3_bind_null(q->stmt, ++q->param)
                     : sqlite3_bind_int64(q->stmt, ++q->param, id));
}

void bind_seat(struct query *q, int seat)
{
    bound(q, seat < 0 ? sqlite3_bind_null(q->stmt, ++q->param)
                      : sqlite3_bind_int(q->stmt, ++q->param, seat));
}

void bind_at(struct query *q, utc_ms at)
{
    bound(q, at == UTC_NONE ? sqlite3_bind_null(q->stmt, ++q->param)
                            : sqlite3_bind_int64(q->stmt, ++q->param, at));
}

void bind_text(struct query *q, const char *text, size_t size)
{
    size_t n;

    ++q->param;
    if (!text) {
        bound(q, sqlite3_bind_null(q->stmt, q->param));
        return;
    }
    n = strlen(text);
    if (n >= size) {
        query_trouble(q, ST_TOO_LARGE, "a text is too long");
        return;
    }
    bound(q, sqlite3_bind_text(q->stmt, q->param, text, (int)n, SQLITE_STATIC));
}

void bind_text_or_null(struct query *q, const char *text, size_t size)
{
    bind_text(q, text && text[0] ? text : NULL, size);
}

void bind_cut(struct query *q, const char *text, size_t size, char *scratch)
{
    (void)str_copy(scratch, size, text ? text : "");
    bind_text(q, scratch, size);
}

void bind_blob(struct query *q, const void *bytes, size_t n)
{
    ++q->param;
    if (!bytes)
        bound(q, sqlite3_bind_null(q->stmt, q->param));
    else if (n == 0)
        bound(q, sqlite3_bind_zeroblob(q->stmt, q->param, 0));
    else
        bound(q, sqlite3_bind_blob64(q->stmt, q->param, bytes, n, SQLITE_STATIC));
}

void bind_hash(struct query *q, const unsigned char *hash)
{
    bind_blob(q, hash, STORE_HASH_SIZE);
}

enum status query_row(struct query *q, bool *ret_has_row, struct err *err)
{
    int rc;

    if (q->param != sqlite3_bind_parameter_count(q->stmt))
        query_trouble(q, ST_INTERNAL, "not all parameters are bound");
    if (q->st != ST_OK)
        return err_set(err, q->st, "store: %s: %s", query_name(q->id), q->why);
    rc = sqlite3_step(q->stmt);
    q->column = 0;
    if (rc == SQLITE_ROW) {
        *ret_has_row = true;
        return ST_OK;
    }
    if (rc == SQLITE_DONE) {
        *ret_has_row = false;
        return ST_OK;
    }
    return conn_fail(q->conn, err, query_name(q->id));
}

enum status query_done(struct query *q, struct err *err)
{
    bool has_row = false;
    enum status st = query_row(q, &has_row, err);

    assert(st != ST_OK || !has_row);
    return st;
}

enum status query_end(struct query *q, enum status st, struct err *err)
{
    (void)sqlite3_reset(q->stmt);
    (void)sqlite3_clear_bindings(q->stmt);
    if (st == ST_OK && q->st != ST_OK)
        st = q->st == ST_CORRUPT
                 ? err_reason(err, REASON_CORRUPT, "store: %s: %s", query_name(q->id), q->why)
                 : err_set(err, q->st, "store: %s: %s", query_name(q->id), q->why);
    return st;
}

int64_t column_int(struct query *q)
{
    return sqlite3_column_int64(q->stmt, q->column++);
}

bool column_bool(struct query *q)
{
    return sqlite3_column_int64(q->stmt, q->column++) != 0;
}

int64_t column_id(struct query *q)
{
    return sqlite3_column_int64(q->stmt, q->column++); /* NULL reads as 0 */
}

int column_seat(struct query *q)
{
    int at = q->column++;

    return sqlite3_column_type(q->stmt, at) == SQLITE_NULL ? -1 : sqlite3_column_int(q->stmt, at);
}

utc_ms column_at(struct query *q)
{
    int at = q->column++;

    return sqlite3_column_type(q->stmt, at) == SQLITE_NULL ? UTC_NONE
                                                           : sqlite3_column_int64(q->stmt, at);
}

void column_text(struct query *q, char *ret, size_t size)
{
    int at = q->column++;
    const unsigned char *text = sqlite3_column_text(q->stmt, at);
    int n = sqlite3_column_bytes(q->stmt, at);

    ret[0] = '\0';
    if (!text) {
        if (sqlite3_column_type(q->stmt, at) != SQLITE_NULL)
            query_trouble(q, ST_NOMEM, "out of memory");
        return;
    }
    if ((size_t)n >= size) {
        query_trouble(q, ST_CORRUPT, "a stored text is longer than it can be");
        return;
    }
    memcpy(ret, text, (size_t)n + 1);
}

const char *column_peek(struct query *q)
{
    const char *text = (const char *)sqlite3_column_text(q->stmt, q->column++);

    return text ? text : "";
}

size_t column_bytes(struct query *q, unsigned char *ret, size_t size)
{
    int at = q->column++;
    const void *bytes = sqlite3_column_blob(q->stmt, at);
    size_t n = (size_t)sqlite3_column_bytes(q->stmt, at);

    if (n > size) {
        query_trouble(q, ST_CORRUPT, "stored bytes are more than they can be");
        return 0;
    }
    if (n > 0 && bytes)
        memcpy(ret, bytes, n);
    return n;
}

unsigned char *column_heap(struct query *q, size_t *ret_len)
{
    int at = q->column++;
    const void *bytes = sqlite3_column_blob(q->stmt, at);
    size_t n = (size_t)sqlite3_column_bytes(q->stmt, at);
    unsigned char *copy;

    *ret_len = 0;
    if (sqlite3_column_type(q->stmt, at) == SQLITE_NULL)
        return NULL;
    copy = malloc(n + 1);
    if (!copy) {
        query_trouble(q, ST_NOMEM, "out of memory");
        return NULL;
    }
    if (n > 0)
        memcpy(copy, bytes, n);
    copy[n] = '\0';
    *ret_len = n;
    return copy;
}

enum status query_touch(struct query *q, int64_t *ret_id, struct err *err)
{
    bool has_row = false;
    int64_t id = 0;
    enum status st = query_row(q, &has_row, err);

    if (st == ST_OK && has_row) {
        id = column_int(q);
        st = query_done(q, err); /* an UPDATE … RETURNING has done its work at the first row */
    } else if (st == ST_OK) {
        st = err_set(err, ST_NOT_FOUND, "store: %s: nothing of that kind is there",
                     query_name(q->id));
    }
    st = query_end(q, st, err);
    if (st == ST_OK && ret_id)
        *ret_id = id;
    return st;
}

enum status query_touch_or(struct query *q, enum reason reason, const char *words, struct err *err)
{
    enum status st = query_touch(q, NULL, err);

    return st == ST_NOT_FOUND ? err_reason(err, reason, "%s", words) : st;
}

enum status query_change(struct query *q, struct err *err)
{
    enum status st = query_done(q, err);

    if (st == ST_OK && sqlite3_changes64(q->conn->db) == 0)
        st = err_set(err, ST_NOT_FOUND, "store: %s: nothing of that kind is there",
                     query_name(q->id));
    return query_end(q, st, err);
}

enum status query_insert(struct query *q, int64_t *ret_id, struct err *err)
{
    sqlite3 *db = q->conn->db;
    enum status st = query_change(q, err);

    if (st == ST_OK && ret_id)
        *ret_id = sqlite3_last_insert_rowid(db);
    return st;
}

enum status query_run(struct query *q, struct err *err)
{
    return query_end(q, query_done(q, err), err);
}

enum status query_count(struct query *q, int64_t *ret_n, struct err *err)
{
    sqlite3 *db = q->conn->db;
    enum status st = query_run(q, err);

    if (st == ST_OK)
        *ret_n = sqlite3_changes64(db);
    return st;
}

enum status query_purge(struct store_conn *conn, enum query_id id, utc_ms before, int max,
                        int64_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, id);

    bind_int(&q, before);
    bind_int(&q, max);
    return query_count(&q, ret_n, err);
}

enum status query_int(struct query *q, int64_t *ret, struct err *err)
{
    bool has_row = false;
    int64_t value = 0;
    enum status st = query_row(q, &has_row, err);

    if (st == ST_OK && has_row)
        value = column_int(q);
    else if (st == ST_OK)
        st = err_set(err, ST_NOT_FOUND, "store: %s: there is none", query_name(q->id));
    st = query_end(q, st, err);
    if (st == ST_OK)
        *ret = value;
    return st;
}

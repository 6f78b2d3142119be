/*
 * store/internal.h - how this room asks SQLite.  For daemon/store/ only.
 *
 * Every statement stands in the lists of sql.h and is prepared when a connection opens.  A query:
 *
 *     struct query q = query_begin(conn, Q_USER_GET);
 *     bind_int(&q, id);                     parameters in order, ?1 first
 *     st = query_row(&q, &has_row, err);    or query_done() where no row is wanted
 *     … = column_…(&q) …                    columns in order
 *     return query_end(&q, st, err);        resets it; turns what a bind or column noticed into st
 *
 * Binding and reading never report at once: the first trouble is kept in the query and comes out
 * of query_row(), query_done() or query_end().
 */
#ifndef FH_STORE_INTERNAL_H
#define FH_STORE_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>

#include "store/games.h"
#include "store/kinds.h"
#include "store/sql.h"
#include "store/store.h"
#include "store/writer.h"

enum query_id {
#define X(name, sql) Q_##name,
    SQL_READS(X) SQL_WRITES(X)
#undef X
        Q_COUNT_
};
#define X(name, sql) +1
enum { Q_READS_ = 0 SQL_READS(X) };
#undef X

struct store_conn {
    sqlite3 *db;
    sqlite3_stmt *stmts[Q_COUNT_]; /* those of SQL_WRITES are NULL on readers */
    bool writes;
};

struct store_reader {
    struct store_conn conn;
    struct store *store;
    struct store_reader *next; /* in the pool */
    bool in_span;
};

struct txn_mark {
    size_t changes;
    bool overflow, outbox_put, users_changed, credentials_changed;
    int64_t last_event_id;
    utc_ms timer_at;
};

struct store_txn {
    struct store_conn *conn;
    struct store *store;
    const char *file;
    int line;
    bool is_open, is_committed;
    int parts;
    struct txn_mark marks[STORE_PARTS_MAX];
    /* what writer_commit will say */
    struct writer_change *changes; /* WRITER_EVENTS_MAX of them, the store's */
    struct txn_mark now;
    bool is_touching; /* what is being written says only that somebody was here */
};

struct store {
    char path[STORE_PATH_SIZE];
    const char *vfs; /* its name; of log_vfs */
    bool read_only;
    int reader_cache_kib;
    int migrated_from; /* store_migrated_from() */
    struct store_lock lock;
    struct store_conn writer; /* db NULL when read_only */
    struct store_txn txn;
    pthread_mutex_t mutex; /* guards what follows */
    struct store_reader *pool;
    int readers;
};

/* ---------------------------------------------------------------- connections (store.c) */

/* Open one with all settings and statements; flags as of sqlite3_open_v2(). */
enum status conn_open(struct store_conn *conn, const char *path, const char *vfs, bool writes,
                      bool may_create, int cache_kib, struct err *err);
void conn_close(struct store_conn *conn);
/* What SQLite's last error on it means. */
enum status conn_fail(struct store_conn *conn, struct err *err, const char *what);
enum status conn_exec(struct store_conn *conn, const char *sql, struct err *err);
/* The one integer that a statement gives (PRAGMA user_version). */
enum status conn_int(struct store_conn *conn, const char *sql, int64_t *ret, struct err *err);

/* The empty file that becomes a copy, nobody else's from the first: it holds addresses. */
enum status copy_make(const char *path, struct err *err);
/* Copy the whole database of conn to `target`, which copy_make() has made, and sync it. */
enum status conn_copy_to(struct store_conn *conn, const char *target, struct err *err);
/* Sync the directory that holds path, so that a rename in it lasts. */
enum status dir_sync(const char *path, struct err *err);

/* ---------------------------------------------------------------- migrations (migrate.c) */

struct migration {
    int number;
    const char *name; /* "0001_init.sql" */
    const char *sql;
};
/* Embedded by cmake/EmbedSql.cmake; ends with number 0. */
extern const struct migration store_migrations[];
enum status migrate_check(struct store_conn *conn, bool *ret_is_new, int *ret_version,
                          struct err *err);
/* Bring it up to the newest of `list` (store_migrations; tests give others). */
enum status migrate_run(struct store_conn *conn, const char *path,
                        const struct migration *list, struct err *err);

/* ---------------------------------------------------------------- queries (query.c) */

struct query {
    struct store_conn *conn;
    sqlite3_stmt *stmt;
    enum query_id id;
    int param;
    int column;
    enum status st;
    const char *why; /* with st */
};

const char *query_name(enum query_id id);
const char *query_sql(enum query_id id);

struct query query_begin(struct store_conn *conn, enum query_id id);
void bind_int(struct query *q, int64_t value);
void bind_id(struct query *q, int64_t id);   /* 0 is NULL */
void bind_seat(struct query *q, int seat);   /* -1 is NULL */
void bind_at(struct query *q, utc_ms at);    /* UTC_NONE is NULL */
/* text of fewer than size bytes; NULL is NULL.  Must live until query_end(). */
void bind_text(struct query *q, const char *text, size_t size);
void bind_text_or_null(struct query *q, const char *text, size_t size); /* "" is NULL too */
void bind_cut(struct query *q, const char *text, size_t size, char *scratch); /* cut to fit */
void bind_blob(struct query *q, const void *bytes, size_t n); /* NULL is NULL */
void bind_hash(struct query *q, const unsigned char *hash);   /* STORE_HASH_SIZE; NULL is NULL */

/* Next row, if any. */
enum status query_row(struct query *q, bool *ret_has_row, struct err *err);
/* Run a statement that gives no rows. */
enum status query_done(struct query *q, struct err *err);
enum status query_end(struct query *q, enum status st, struct err *err);

int64_t column_int(struct query *q);
bool column_bool(struct query *q);
int64_t column_id(struct query *q);  /* NULL is 0 */
int column_seat(struct query *q);    /* NULL is -1 */
utc_ms column_at(struct query *q);   /* NULL is UTC_NONE */
void column_text(struct query *q, char *ret, size_t size); /* NULL is "" */
const char *column_peek(struct query *q);                  /* until the next row; "" for NULL */
size_t column_bytes(struct query *q, unsigned char *ret, size_t size); /* NULL is 0 bytes */
/* bytes on the heap with a NUL behind; NULL for NULL */
unsigned char *column_heap(struct query *q, size_t *ret_len);
void query_trouble(struct query *q, enum status st, const char *why);

#define COLUMN_TEXT(q, field) column_text((q), (field), sizeof(field))
#define COLUMN_ENUM(q, name, field)                                                                \
    do {                                                                                           \
        if (!name##_parse(column_peek(q), &(field)))                                               \
            query_trouble((q), ST_CORRUPT, "unknown word for " #name);                             \
    } while (0)
#define BIND_TEXT(q, field) bind_text((q), (field), sizeof(field))
#define BIND_WORD(q, word) bind_text((q), (word), 64)

/* Run a statement whose one row (RETURNING id) says that it touched something: ST_OK with *ret_id
 * (NULL allowed), ST_NOT_FOUND without words when it did not.  Ends the query. */
enum status query_touch(struct query *q, int64_t *ret_id, struct err *err);
/* The same, but what was not there is refused with the reason and these words. */
enum status query_touch_or(struct query *q, enum reason reason, const char *words, struct err *err);
/*
 * The same for an INSERT and for a change by key without RETURNING: for its rows SQLite makes a
 * table each time, which costs more than the change itself.  What a move runs goes by these.
 * query_insert() gives the new row's id; ST_NOT_FOUND: ON CONFLICT DO NOTHING left it out.
 */
enum status query_insert(struct query *q, int64_t *ret_id, struct err *err);
enum status query_change(struct query *q, struct err *err);
/* Run and end a statement without rows. */
enum status query_run(struct query *q, struct err *err);
/* The same, and tell how many rows it changed. */
enum status query_count(struct query *q, int64_t *ret_n, struct err *err);
/* Remove what is older than `before`, at most `max`: a statement with these two parameters. */
enum status query_purge(struct store_conn *conn, enum query_id id, utc_ms before, int max,
                        int64_t *ret_n, struct err *err);
/* Run and end one that gives one integer. */
enum status query_int(struct query *q, int64_t *ret, struct err *err);

/* Reads the one row into *ret by way of row, which may have been initialised, and ends the query;
 * ret is left alone on failure.  None there: `reason`, and the words after it. */
#define QUERY_ONE(st, q, row, read, ret, err, reason, ...)                                         \
    do {                                                                                           \
        bool has_ = false;                                                                         \
        (st) = query_row((q), &has_, (err));                                                       \
        if ((st) == ST_OK && !has_)                                                                \
            (st) = err_reason((err), (reason), __VA_ARGS__);                                       \
        else if ((st) == ST_OK)                                                                    \
            read((q), &(row));                                                                     \
        (st) = query_end((q), (st), (err));                                                        \
        if ((st) == ST_OK)                                                                         \
            *(ret) = (row);                                                                        \
    } while (0)

/* Reads all rows into an array: read(&q, &rows[n]) for each; the last parameter must have been
 * bound to max by the caller. */
#define QUERY_LIST(q, rows, max, ret_n, read, err)                                                 \
    do {                                                                                           \
        size_t n_ = 0;                                                                             \
        enum status st_ = ST_OK;                                                                   \
        bool has_ = true;                                                                          \
        while (n_ < (max) && (st_ = query_row((q), &has_, (err))) == ST_OK && has_) {              \
            read((q), &(rows)[n_]);                                                                \
            n_++;                                                                                  \
        }                                                                                          \
        st_ = query_end((q), st_, (err));                                                          \
        if (st_ == ST_OK)                                                                          \
            *(ret_n) = n_;                                                                         \
        return st_;                                                                                \
    } while (0)

/* ---------------------------------------------------------------- between the nouns */

void txn_note_event(struct store_txn *txn, int64_t game_id, int64_t event_id, int64_t seq);
void txn_note_outbox(struct store_txn *txn);
/* Around a statement on sessions or tokens that takes nothing away from anybody. */
void txn_set_touching(struct store_txn *txn, bool is_touching);
void txn_note_timer(struct store_txn *txn, utc_ms due_at);
struct writer_commit txn_report(const struct store_txn *txn);

/* outbox.c: no intent waits for this endpoint any more. */
enum status outbox_drop_webhook(struct store_txn *txn, int64_t webhook_id, const char *text,
                                utc_ms now, struct err *err);

#endif

/* store/store.c - connections, readers, transactions, the lock; see store.h. */
#include "store/internal.h"
#include "store/log_vfs.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

/* ---------------------------------------------------------------- errors */

enum status conn_fail(struct store_conn *conn, struct err *err, const char *what)
{
    int code = conn->db ? sqlite3_extended_errcode(conn->db) : SQLITE_NOMEM;
    const char *text = conn->db ? sqlite3_errmsg(conn->db) : "out of memory";
    const char *path = conn->db ? sqlite3_db_filename(conn->db, "main") : NULL;
    int saved;

    if (!path || !*path)
        path = "the file";
    switch (code & 0xff) {
    case SQLITE_CONSTRAINT:
        if (code == SQLITE_CONSTRAINT_UNIQUE || code == SQLITE_CONSTRAINT_PRIMARYKEY)
            return err_reason(err, REASON_ALREADY_DONE, "store: %s: %s", what, text);
        if (code == SQLITE_CONSTRAINT_FOREIGNKEY)
            return err_set(err, ST_NOT_FOUND, "store: %s: refers to something that is not there",
                           what);
        return err_set(err, ST_INTERNAL, "store: %s: %s", what, text);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return err_set(err, ST_BUSY, "store: %s: another process has the file locked", what);
    case SQLITE_NOMEM:
        return err_set(err, ST_NOMEM, "store: %s: out of memory", what);
    case SQLITE_TOOBIG:
        return err_set(err, ST_TOO_LARGE, "store: %s: a value is too large", what);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return err_reason(err, REASON_CORRUPT, "store: %s: %s: %s", path, what, text);
    case SQLITE_READONLY:
        return err_reason(err, REASON_STORE_FAILED,
                          "store: %s or its folder is read-only for this user; even reading makes "
                          "files beside it (-wal, -shm)", path);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN: /* SQLite's sentence tells what could not be done, the system's why */
        saved = sqlite3_system_errno(conn->db);
        return err_reason(err, REASON_STORE_FAILED, "store: %s: %s: %s%s%s", path, what, text,
                          saved ? ": " : "", saved ? strerror(saved) : "");
    case SQLITE_FULL:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_INTERRUPT:
    case SQLITE_ABORT:
    case SQLITE_PROTOCOL:
        return err_reason(err, REASON_STORE_FAILED, "store: %s: %s: %s", path, what, text);
    default:
        return err_set(err, ST_INTERNAL, "store: %s: %s (%d)", what, text, code);
    }
}

enum status conn_exec(struct store_conn *conn, const char *sql, struct err *err)
{
    if (sqlite3_exec(conn->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return ST_OK;
    return conn_fail(conn, err, "exec");
}

enum status conn_int(struct store_conn *conn, const char *sql, int64_t *ret, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum status st = ST_OK;
    int64_t value = 0;

    if (sqlite3_prepare_v2(conn->db, sql, -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_ROW) {
        st = conn_fail(conn, err, sql);
    } else {
        value = sqlite3_column_int64(stmt, 0);
        *ret = value;
    }
    (void)sqlite3_finalize(stmt);
    return st;
}

/* ---------------------------------------------------------------- connections */

static enum status conn_settings(struct store_conn *conn, int cache_kib, struct err *err)
{
    char sql[64];
    enum status st;
    int on = 0;

    /* A schema cannot be tampered with, strings are strings, no code is loaded. */
    if (sqlite3_db_config(conn->db, SQLITE_DBCONFIG_DEFENSIVE, 1, &on) != SQLITE_OK ||
        sqlite3_db_config(conn->db, SQLITE_DBCONFIG_DQS_DML, 0, &on) != SQLITE_OK ||
        sqlite3_db_config(conn->db, SQLITE_DBCONFIG_DQS_DDL, 0, &on) != SQLITE_OK ||
        sqlite3_db_config(conn->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &on) != SQLITE_OK ||
        sqlite3_db_config(conn->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, &on) != SQLITE_OK ||
        /* Plans are those that are tested, whatever is bound.  Else a parameter that might bring a
         * partial index into play makes SQLite prepare its statement again at every use. */
        sqlite3_db_config(conn->db, SQLITE_DBCONFIG_ENABLE_QPSG, 1, &on) != SQLITE_OK)
        return conn_fail(conn, err, "settings");
    (void)sqlite3_busy_timeout(conn->db, 5000);
    (void)snprintf(sql, sizeof sql, "PRAGMA cache_size = %d", -cache_kib);
    st = conn_exec(conn, sql, err);
    if (st == ST_OK)
        st = conn_exec(conn,
                       "PRAGMA temp_store = MEMORY;"
                       "PRAGMA mmap_size = 0;"
                       "PRAGMA cell_size_check = ON;"
                       "PRAGMA secure_delete = FAST;"
                       "PRAGMA foreign_keys = ON;",
                       err);
    return st;
}

enum status conn_open(struct store_conn *conn, const char *path, const char *vfs, bool writes,
                      bool may_create, int cache_kib, struct err *err)
{
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    enum status st;

    *conn = (struct store_conn){.writes = writes};
    flags |= writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
    if (writes && may_create)
        flags |= SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(path, &conn->db, flags, vfs && vfs[0] ? vfs : NULL) != SQLITE_OK) {
        st = conn_fail(conn, err, "open");
        err_prefix(err, "%s", path);
    } else if (writes && sqlite3_db_readonly(conn->db, "main") == 1) { /* it opens all the same */
        st = err_reason(err, REASON_STORE_FAILED, "store: %s is read-only for this user", path);
    } else {
        st = conn_settings(conn, cache_kib, err);
        if (st == ST_CORRUPT && sqlite3_errcode(conn->db) == SQLITE_NOTADB)
            st = err_set(err, ST_INVALID, "store: %s is not a database", path);
    }
    if (st != ST_OK)
        conn_close(conn);
    return st;
}

static enum status conn_prepare(struct store_conn *conn, struct err *err)
{
    int n = conn->writes ? Q_COUNT_ : Q_READS_;

    for (int i = 0; i < n; i++)
        if (sqlite3_prepare_v3(conn->db, query_sql((enum query_id)i), -1,
                               SQLITE_PREPARE_PERSISTENT, &conn->stmts[i], NULL) != SQLITE_OK)
            return conn_fail(conn, err, query_name((enum query_id)i));
    return ST_OK;
}

void conn_close(struct store_conn *conn)
{
    for (int i = 0; i < Q_COUNT_; i++)
        (void)sqlite3_finalize(conn->stmts[i]);
    (void)sqlite3_close(conn->db);
    *conn = (struct store_conn){.db = NULL};
}

enum status dir_sync(const char *path, struct err *err)
{
    char dir[STORE_PATH_SIZE + 40];
    char *slash;
    int fd;
    bool ok;

    if (!str_copy(dir, sizeof dir, path))
        return err_set(err, ST_TOO_LARGE, "store: the path is too long");
    slash = strrchr(dir, '/');
    if (!slash)
        (void)str_copy(dir, sizeof dir, ".");
    else if (slash == dir)
        dir[1] = '\0';
    else
        *slash = '\0';
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        err_reason(err, REASON_STORE_FAILED, "store: cannot sync directory %s: %s", dir,
                   strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return ok ? ST_OK : ST_IO;
}

enum status copy_make(const char *path, struct err *err)
{
    int fd;

    (void)unlink(path);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_reason(err, REASON_STORE_FAILED, "cannot make %s: %s", path, strerror(errno));
    (void)close(fd);
    return ST_OK;
}

enum status conn_copy_to(struct store_conn *conn, const char *target, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum status st = ST_OK;
    int fd;

    if (sqlite3_prepare_v2(conn->db, "VACUUM INTO ?1", -1, &stmt, NULL) != SQLITE_OK ||
        sqlite3_bind_text(stmt, 1, target, -1, SQLITE_STATIC) != SQLITE_OK ||
        sqlite3_step(stmt) != SQLITE_DONE) {
        st = conn_fail(conn, err, "copy");
        err_prefix(err, "%s", target);
    }
    (void)sqlite3_finalize(stmt);
    if (st != ST_OK)
        return st;
    /* The copy is no open database of this process: it may be opened and closed freely. */
    fd = open(target, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fsync(fd) != 0)
        st = err_reason(err, REASON_STORE_FAILED, "store: cannot sync %s: %s", target,
                        strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    return st;
}

/* ---------------------------------------------------------------- the lock */

static enum status lock_path(const char *path, char *ret, size_t size, struct err *err)
{
    int n = snprintf(ret, size, "%s.lock", path);

    return n < 0 || (size_t)n >= size ? err_set(err, ST_TOO_LARGE, "store: the path is too long")
                                      : ST_OK;
}

static long lock_read_pid(int fd)
{
    char text[32] = {0};
    int64_t pid;
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    if (n <= 0)
        return -1;
    text[strcspn(text, "\n")] = '\0';
    return str_to_int64(text, 1, INT32_MAX, &pid) ? (long)pid : -1;
}

enum status store_lock_take(const char *path, struct store_lock *ret_lock, struct err *err)
{
    char name[STORE_PATH_SIZE + 8], text[32];
    enum status st = lock_path(path, name, sizeof name, err);
    int fd, n;

    if (st != ST_OK)
        return st;
    fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_reason(err, REASON_STORE_FAILED, "store: cannot open %s: %s", name,
                          strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            st = err_reason(err, REASON_BUSY, "store: %s is in use by process %ld", path,
                            lock_read_pid(fd));
        else
            st = err_reason(err, REASON_STORE_FAILED, "store: cannot lock %s: %s", name,
                            strerror(errno));
        (void)close(fd);
        return st;
    }
    /* For people only: the lock is what counts, so a failure to write does not matter. */
    n = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) == 0 && n > 0 && pwrite(fd, text, (size_t)n, 0) != (ssize_t)n)
        (void)ftruncate(fd, 0);
    ret_lock->fd = fd;
    return ST_OK;
}

void store_lock_drop(struct store_lock *lock)
{
    if (lock && lock->fd >= 0) {
        (void)close(lock->fd);
        lock->fd = -1;
    }
}

long store_lock_holder(const char *path)
{
    char name[STORE_PATH_SIZE + 8];
    long pid = 0;
    int fd;

    if (lock_path(path, name, sizeof name, NULL) != ST_OK)
        return 0;
    fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (flock(fd, LOCK_SH | LOCK_NB) != 0)
        pid = lock_read_pid(fd);
    (void)close(fd);
    return pid;
}

/* ---------------------------------------------------------------- opening */

/* SQLite tells of every row: so no statement that changes who may do what can go unnoticed,
 * whoever writes the next one. */
static void on_row(void *arg, int op, const char *db, const char *table, sqlite3_int64 rowid)
{
    struct store_txn *txn = &((struct store *)arg)->txn;

    (void)db;
    (void)rowid;
    if (str_eq(table, "users"))
        txn->now.users_changed = true;
    else if (op != SQLITE_INSERT && !txn->is_touching &&
             (str_eq(table, "sessions") || str_eq(table, "api_tokens")))
        txn->now.credentials_changed = true;
}

static enum status open_writer(struct store *s, const struct store_options *o, struct err *err)
{
    enum status st;
    bool is_new = false;
    int version = 0;
    int64_t wal = -1;
    struct stat info;
    bool existed = stat(s->path, &info) == 0;

    if (o->must_exist && !existed)
        return err_set(err, ST_NOT_FOUND, "store: there is no file %s", s->path);
    st = store_lock_take(s->path, &s->lock, err);
    if (st != ST_OK)
        return st;
    st = conn_open(&s->writer, s->path, s->vfs, true, !o->must_exist,
                   o->cache_kib ? o->cache_kib : 8192, err);
    if (st == ST_OK) /* before anything is written to a file that may be somebody else's */
        st = migrate_check(&s->writer, &is_new, &version, err);
    if (st == ST_OK && version > store_schema_version())
        st = err_set(err, ST_INVALID,
                     "store: %s was written by a newer version of this program (schema %d, this "
                     "one knows %d)",
                     s->path, version, store_schema_version());
    if (st != ST_OK)
        return st;
    if (chmod(s->path, 0600) != 0 && is_new)
        return err_reason(err, REASON_STORE_FAILED, "store: cannot keep %s private: %s", s->path,
                          strerror(errno));
    /* A checkpoint writes each page once, however often it changed: with 118 MiB of log that is far
     * less than with the usual four, since moves go to the same pages again and again. */
    st = conn_exec(&s->writer,
                   "PRAGMA journal_mode = WAL;"
                   "PRAGMA synchronous = FULL;"
                   "PRAGMA wal_autocheckpoint = 30000;"
                   "PRAGMA journal_size_limit = 134217728;",
                   err);
    if (st == ST_OK)
        st = conn_int(&s->writer, "SELECT count(*) FROM pragma_journal_mode "
                                  "WHERE journal_mode = 'wal'", &wal, err);
    if (st == ST_OK && wal != 1)
        st = err_set(err, ST_IO, "store: %s cannot have a write-ahead log (is it on a network "
                                 "file system?)", s->path);
    if (st == ST_OK)
        st = migrate_run(&s->writer, s->path, store_migrations, err);
    if (st == ST_OK && !is_new && version < store_schema_version())
        s->migrated_from = version;
    if (st == ST_OK)
        st = conn_prepare(&s->writer, err);
    if (st == ST_OK && !existed)
        st = dir_sync(s->path, err);
    if (st == ST_OK)
        (void)sqlite3_update_hook(s->writer.db, on_row, s);
    return st;
}

/* A reading store has no connection of its own; this looks whether readers will find what they
 * know. */
static enum status check_readable(struct store *s, struct err *err)
{
    struct store_conn conn;
    bool is_new = false;
    int version = 0;
    struct stat info;
    enum status st;

    if (stat(s->path, &info) != 0)
        return err_set(err, ST_NOT_FOUND, "store: there is no file %s", s->path);
    st = conn_open(&conn, s->path, s->vfs, false, false, s->reader_cache_kib, err);
    if (st != ST_OK)
        return st;
    st = migrate_check(&conn, &is_new, &version, err);
    if (st == ST_OK && is_new)
        st = err_set(err, ST_NOT_FOUND, "store: %s is empty", s->path);
    else if (st == ST_OK && version != store_schema_version())
        st = err_set(err, ST_INVALID, "store: %s has schema %d, this program reads %d%s", s->path,
                     version, store_schema_version(),
                     version < store_schema_version() ? " (starting the daemon brings it up)" : "");
    conn_close(&conn);
    return st;
}

/* SQLite counts its memory under one lock for all threads unless told not to; nobody asks for the
 * count.  Once it is at work it takes no more advice, which is no fault. */
static void tune_sqlite(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

enum status store_open(const struct store_options *options, struct store **ret_store,
                       struct err *err)
{
    static pthread_once_t tuned = PTHREAD_ONCE_INIT;
    struct store *s = calloc(1, sizeof *s);
    enum status st = ST_OK;

    if (!s)
        return err_reason(err, REASON_NO_MEMORY, "store: out of memory");
    (void)pthread_once(&tuned, tune_sqlite);
    s->lock = STORE_LOCK_INIT;
    (void)pthread_mutex_init(&s->mutex, NULL);
    s->read_only = options->read_only;
    s->reader_cache_kib = options->reader_cache_kib ? options->reader_cache_kib : 2048;
    if (!str_copy(s->path, sizeof s->path, options->path))
        st = err_set(err, ST_TOO_LARGE, "store: the path is too long");
    if (st == ST_OK)
        st = log_vfs_over(options->vfs, &s->vfs, err);
    if (st == ST_OK && sqlite3_threadsafe() == 0)
        st = err_set(err, ST_INTERNAL, "store: this SQLite was built without threads");
    if (st == ST_OK && sqlite3_libversion_number() < 3040000)
        st = err_set(err, ST_INTERNAL, "store: SQLite 3.40 or newer is needed, this is %s",
                     sqlite3_libversion());
    if (st == ST_OK)
        st = s->read_only ? check_readable(s, err) : open_writer(s, options, err);
    if (st == ST_OK && !s->read_only) {
        s->txn.changes = calloc(WRITER_EVENTS_MAX, sizeof *s->txn.changes);
        if (!s->txn.changes)
            st = err_reason(err, REASON_NO_MEMORY, "store: out of memory");
    }
    if (st != ST_OK) {
        store_close(s);
        return st;
    }
    *ret_store = s;
    return ST_OK;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    assert(!store->txn.conn);
    while (store->pool) {
        struct store_reader *r = store->pool;

        store->pool = r->next;
        store_reader_close(r);
    }
    assert(store->readers == 0);
    /* No PRAGMA optimize: statistics would let plans differ from those that are tested, and
     * gathering them reads a large file at shutdown. */
    conn_close(&store->writer);
    store_lock_drop(&store->lock);
    (void)pthread_mutex_destroy(&store->mutex);
    free(store->txn.changes);
    free(store);
}

int store_migrated_from(const struct store *store)
{
    return store->migrated_from;
}

const char *peek_store_path(const struct store *store)
{
    return store->path;
}

bool store_is_read_only(const struct store *store)
{
    return store->read_only;
}

/* ---------------------------------------------------------------- readers */

enum status store_reader_open(struct store *store, struct store_reader **ret_reader,
                              struct err *err)
{
    struct store_reader *r = NULL;
    enum status st = ST_OK;

    (void)pthread_mutex_lock(&store->mutex);
    if (store->readers >= STORE_READERS_MAX)
        st = err_reason(err, REASON_BUSY, "store: %d readers are open already",
                        STORE_READERS_MAX);
    else
        store->readers++;
    (void)pthread_mutex_unlock(&store->mutex);
    if (st != ST_OK)
        return st;
    r = calloc(1, sizeof *r);
    if (!r) {
        st = err_reason(err, REASON_NO_MEMORY, "store: out of memory");
    } else {
        st = conn_open(&r->conn, store->path, store->vfs, false, false, store->reader_cache_kib,
                       err);
        if (st == ST_OK)
            st = conn_exec(&r->conn, "PRAGMA query_only = ON", err);
        if (st == ST_OK)
            st = conn_prepare(&r->conn, err);
    }
    if (st != ST_OK) {
        if (r)
            conn_close(&r->conn);
        free(r);
        (void)pthread_mutex_lock(&store->mutex);
        store->readers--;
        (void)pthread_mutex_unlock(&store->mutex);
        return st;
    }
    r->store = store;
    *ret_reader = r;
    return ST_OK;
}

void store_reader_close(struct store_reader *reader)
{
    struct store *store;

    if (!reader)
        return;
    store = reader->store;
    store_read_end(reader);
    conn_close(&reader->conn);
    free(reader);
    (void)pthread_mutex_lock(&store->mutex);
    store->readers--;
    (void)pthread_mutex_unlock(&store->mutex);
}

enum status store_reader_take(struct store *store, struct store_reader **ret_reader,
                              struct err *err)
{
    struct store_reader *r;

    (void)pthread_mutex_lock(&store->mutex);
    r = store->pool;
    if (r)
        store->pool = r->next;
    (void)pthread_mutex_unlock(&store->mutex);
    if (!r)
        return store_reader_open(store, ret_reader, err);
    r->next = NULL;
    *ret_reader = r;
    return ST_OK;
}

void store_reader_give(struct store_reader *reader)
{
    struct store *store;

    if (!reader)
        return;
    store_read_end(reader);
    store = reader->store;
    (void)pthread_mutex_lock(&store->mutex);
    reader->next = store->pool;
    store->pool = reader;
    (void)pthread_mutex_unlock(&store->mutex);
}

struct store_conn *store_reader_conn(struct store_reader *reader)
{
    return &reader->conn;
}

static enum status run(struct store_conn *conn, enum query_id id, struct err *err)
{
    struct query q = query_begin(conn, id);

    return query_run(&q, err);
}

enum status store_read_begin(struct store_reader *reader, struct err *err)
{
    enum status st;

    assert(!reader->in_span);
    st = run(&reader->conn, Q_SPAN_BEGIN, err);
    reader->in_span = st == ST_OK;
    return st;
}

void store_read_end(struct store_reader *reader)
{
    struct err err = ERR_INIT;

    if (reader->in_span)
        (void)run(&reader->conn, Q_SPAN_END, &err); /* a reader has nothing to lose */
    reader->in_span = false;
}

/* ---------------------------------------------------------------- transactions */

enum status store_begin_at(struct store *store, const char *file, int line,
                           struct store_txn **ret_txn, struct err *err)
{
    struct store_txn *txn = &store->txn;
    enum status st;

    assert(!store->read_only);
    assert(!txn->conn); /* they do not nest */
    st = run(&store->writer, Q_TXN_BEGIN, err);
    if (st != ST_OK)
        return st;
    *txn = (struct store_txn){.conn = &store->writer,
                              .store = store,
                              .file = file,
                              .line = line,
                              .is_open = true,
                              .now = {.timer_at = UTC_NONE},
                              .changes = txn->changes};
    *ret_txn = txn;
    return ST_OK;
}

bool store_txn_is_open(const struct store_txn *txn)
{
    return txn->is_open && !sqlite3_get_autocommit(txn->conn->db);
}

struct store_conn *store_txn_conn(struct store_txn *txn)
{
    return txn->conn;
}

static enum status gone(const struct store_txn *txn, struct err *err)
{
    return err_reason(err, REASON_STORE_FAILED,
                      "store: the transaction begun at %s:%d was rolled back by the database",
                      txn->file, txn->line);
}

enum status store_commit(struct store_txn *txn, struct err *err)
{
    enum status st;

    assert(txn->is_open && txn->parts == 0);
    if (!store_txn_is_open(txn))
        return gone(txn, err);
    st = run(txn->conn, Q_TXN_COMMIT, err);
    if (st == ST_OK) {
        txn->is_committed = true;
    } else if (!sqlite3_get_autocommit(txn->conn->db)) {
        (void)sqlite3_exec(txn->conn->db, "ROLLBACK", NULL, NULL, NULL);
    }
    txn->is_open = false;
    return st;
}

void store_end(struct store_txn *txn)
{
    struct writer_change *changes;

    if (!txn || !txn->conn)
        return;
    if (!sqlite3_get_autocommit(txn->conn->db))
        (void)sqlite3_exec(txn->conn->db, "ROLLBACK", NULL, NULL, NULL);
    changes = txn->changes;
    *txn = (struct store_txn){.conn = NULL, .changes = changes};
}

static_assert(STORE_PARTS_MAX == 4, "the statements that begin and keep a part");
static const char *const part_undo[STORE_PARTS_MAX] = {
    "ROLLBACK TO p0; RELEASE p0", "ROLLBACK TO p1; RELEASE p1", "ROLLBACK TO p2; RELEASE p2",
    "ROLLBACK TO p3; RELEASE p3"};

enum status store_part_begin(struct store_txn *txn, struct err *err)
{
    enum status st;

    assert(txn->parts < STORE_PARTS_MAX);
    if (!store_txn_is_open(txn)) /* a SAVEPOINT would begin a transaction of its own */
        return gone(txn, err);
    st = run(txn->conn, (enum query_id)(Q_PART_BEGIN_0 + txn->parts), err);
    if (st == ST_OK)
        txn->marks[txn->parts++] = txn->now;
    return st;
}

enum status store_part_keep(struct store_txn *txn, struct err *err)
{
    assert(txn->parts > 0);
    txn->parts--;
    if (!store_txn_is_open(txn))
        return gone(txn, err);
    return run(txn->conn, (enum query_id)(Q_PART_KEEP_0 + txn->parts), err);
}

enum status store_part_undo(struct store_txn *txn, struct err *err)
{
    assert(txn->parts > 0);
    txn->parts--;
    txn->now = txn->marks[txn->parts];
    if (!store_txn_is_open(txn))
        return gone(txn, err);
    return conn_exec(txn->conn, part_undo[txn->parts], err);
}

void txn_note_event(struct store_txn *txn, int64_t game_id, int64_t event_id, int64_t seq)
{
    txn->now.last_event_id = event_id;
    if (txn->now.changes == WRITER_EVENTS_MAX) {
        txn->now.overflow = true;
        return;
    }
    txn->changes[txn->now.changes++] =
        (struct writer_change){.game_id = game_id, .event_id = event_id, .seq = seq};
}

void txn_note_outbox(struct store_txn *txn)
{
    txn->now.outbox_put = true;
}

void txn_set_touching(struct store_txn *txn, bool is_touching)
{
    txn->is_touching = is_touching;
}

void txn_note_timer(struct store_txn *txn, utc_ms due_at)
{
    if (txn->now.timer_at == UTC_NONE || due_at < txn->now.timer_at)
        txn->now.timer_at = due_at;
}

struct writer_commit txn_report(const struct store_txn *txn)
{
    return (struct writer_commit){.changes = txn->changes,
                                  .n = txn->now.changes,
                                  .overflow = txn->now.overflow,
                                  .last_event_id = txn->now.last_event_id,
                                  .users_changed = txn->now.users_changed,
                                  .credentials_changed =
                                      txn->now.users_changed || txn->now.credentials_changed,
                                  .outbox_put = txn->now.outbox_put,
                                  .timer_at = txn->now.timer_at};
}

/* ---------------------------------------------------------------- upkeep */

enum status store_checkpoint(struct store *store, int *ret_left, struct err *err)
{
    int in_log = 0, moved = 0, rc;

    assert(!store->read_only && !store->txn.conn);
    /* TRUNCATE waits for readers as long as busy_timeout says: they must not hold moves up. */
    (void)sqlite3_busy_timeout(store->writer.db, 0);
    rc = sqlite3_wal_checkpoint_v2(store->writer.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, &in_log,
                                   &moved);
    (void)sqlite3_busy_timeout(store->writer.db, 5000);
    if (rc != SQLITE_OK && rc != SQLITE_BUSY)
        return conn_fail(&store->writer, err, "checkpoint");
    if (ret_left)
        *ret_left = in_log > moved ? in_log - moved : 0;
    return ST_OK;
}

int64_t store_wal_bytes(const struct store *store)
{
    char name[STORE_PATH_SIZE + 8];
    struct stat info;

    /* stat() opens nothing, so it drops no lock. */
    (void)snprintf(name, sizeof name, "%s-wal", store->path);
    return stat(name, &info) == 0 ? (int64_t)info.st_size : 0;
}

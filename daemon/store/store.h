/*
 * store/store.h - the one file in which everything is kept: opening, reading, changing.
 *
 * This room is the only one with SQL.  Each noun has its header: users.h logins.h prefs.h games.h
 * moves.h events.h votes.h clocks.h timers.h held.h notes.h outbox.h webhooks.h tokens.h inbox.h
 * imap_boxes.h idempotency.h outage.h audit.h keys.h; besides them writer.h (the one thread that
 * changes), backup.h, verify.h.
 *
 * Calling sequence
 *   store_open()                       opens, migrates, refuses what is not ours
 *   store_reader_open() … _close()     one for each thread that reads, or
 *   store_reader_take() … _give()      the same from a pool
 *   writer_open() … (writer.h)         for whoever changes
 *   store_close()                      after all of them
 *
 * Reading.  Functions that read take a struct store_conn *, which both a reader and a transaction
 * offer (store_reader_conn(), store_txn_conn()), so each works in both.  A reader never waits for
 * a writer.  Two calls on a reader may see different states; store_read_begin() … store_read_end()
 * around them makes them see one.  Keep such spans short: an open one pins the write-ahead log.
 *
 * Changing.  Functions that change take a struct store_txn *; having one proves that a write
 * transaction is open.  Only the writer thread has one (writer.h); begin, commit and end below are
 * for it, for migrations and for tests.  Transactions do not nest.
 *
 * Conventions of all these headers
 *   ids        int64_t, 1 and up; 0 says none.  Seats are 0…3, -1 says none.
 *   instants   utc_ms; UTC_NONE says none.  Passed in by the caller: nothing here reads a clock.
 *   strings    structs hold them in arrays with a named size (…_SIZE counts the NUL); what is
 *              longer is refused with ST_TOO_LARGE, never cut, unless a function says so.
 *              Texts are UTF-8, which the caller has checked.
 *   lists      the caller gives an array and its size; *ret_n says how many were filled in.
 *   errors     ST_NOT_FOUND no such row · ST_CONFLICT the row is not as supposed, or breaks a
 *              uniqueness · ST_TOO_LARGE · ST_BUSY the file is locked by another process ·
 *              ST_IO the disk failed or is full · ST_CORRUPT the file contradicts itself ·
 *              ST_NOMEM · ST_INTERNAL our bug.  Outputs are untouched on failure.
 *   meaning    the store keeps what it is told and guards its own consistency (keys, enumerations,
 *              counts); what is allowed is decided above it.
 *
 * Threads: a reader or a transaction belongs to one thread at a time; struct store may be used by
 * all.  The pool is locked inside.
 *
 * Files: NAME, NAME-wal, NAME-shm (SQLite's) and NAME.lock.  Never open, copy or close the first
 * three by other means while a process has them: that drops SQLite's locks.
 */
#ifndef FH_STORE_STORE_H
#define FH_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/utc.h"

struct store;
struct store_conn;
struct store_reader;
struct store_txn;

/* "4HND": PRAGMA application_id of our files. */
#define STORE_APPLICATION_ID 0x34484e44

enum {
    STORE_PATH_SIZE = 4096,  /* longest path with its NUL */
    STORE_READERS_MAX = 64,  /* readers open at one time */
    STORE_HASH_SIZE = 32     /* SHA-256 */
};

struct store_options {
    const char *path;  /* of the database file; its directory must exist */
    bool read_only;    /* no migration, no lock, no transactions: for `verify`, `game list`… */
    bool must_exist;   /* do not make a new file */
    const char *vfs;   /* SQLite VFS to go through; NULL: the usual one */
    int cache_kib;     /* page cache of the writing connection; 0: 8192 */
    int reader_cache_kib; /* … of each reader; 0: 2048 */
};

/*
 * Open the file, making or migrating it first.  With read_only false it also takes the lock
 * (store_lock() below) and keeps it until store_close().
 *
 * Refused: ST_BUSY another process has the lock · ST_INVALID it is not a database of ours
 * (application_id), or a newer version of the program wrote it (user_version); nothing is changed
 * then · ST_NOT_FOUND must_exist or read_only, and there is none · ST_IO.
 * Before an existing file is migrated a copy is put beside it as NAME.before-NNNN (NNNN: the first
 * migration to come).  Each migration is one transaction, so a failed one leaves the version
 * before.
 */
MUST_CHECK enum status store_open(const struct store_options *options, struct store **ret_store,
                                  struct err *err);

/* Readers must have been closed, and the writer stopped.  NULL is allowed. */
void store_close(struct store *store);

const char *peek_store_path(const struct store *store);
int store_schema_version(void);      /* number of the newest migration of this program */
/* The schema that store_open() found and brought forward; 0: there was nothing to do. */
int store_migrated_from(const struct store *store);
bool store_is_read_only(const struct store *store);

/* ---------------------------------------------------------------- the lock between processes */

struct store_lock {
    int fd; /* -1: not held */
};
#define STORE_LOCK_INIT ((struct store_lock){.fd = -1})

/*
 * Take the exclusive lock on PATH.lock (flock; made if missing, mode 0600; the process id is
 * written into it for people).  Whoever writes the file holds it: the daemon for as long as it
 * runs, a subcommand that changes something while no daemon does.  It ends with the process
 * however that ends.  ST_BUSY, naming the process, when another has it; so a subcommand tries
 * control.sock first, and if nobody listens there opens the store itself.
 * store_open() calls this; others need it only to hold the file closed (restoring a backup).
 */
MUST_CHECK enum status store_lock_take(const char *path, struct store_lock *ret_lock,
                                       struct err *err);
void store_lock_drop(struct store_lock *lock);

/* Who holds it: 0 nobody, else the process id written there (-1 when it cannot be read). */
long store_lock_holder(const char *path);

/* ---------------------------------------------------------------- reading */

/* ST_BUSY with STORE_READERS_MAX open. */
MUST_CHECK enum status store_reader_open(struct store *store, struct store_reader **ret_reader,
                                         struct err *err);
void store_reader_close(struct store_reader *reader); /* NULL is allowed */

/* Borrow one from the pool (opened on need) and give it back, on the same thread. */
MUST_CHECK enum status store_reader_take(struct store *store, struct store_reader **ret_reader,
                                         struct err *err);
void store_reader_give(struct store_reader *reader); /* NULL is allowed; ends an open span */

struct store_conn *store_reader_conn(struct store_reader *reader);

/* One snapshot for all reads until store_read_end().  ST_IO; spans do not nest. */
MUST_CHECK enum status store_read_begin(struct store_reader *reader, struct err *err);
void store_read_end(struct store_reader *reader);

/* ---------------------------------------------------------------- changing */

/* BEGIN IMMEDIATE on the writing connection.  The store has one transaction at a time, and only
 * one thread may do this (the writer's).  file and line are kept for messages about slow ones. */
MUST_CHECK enum status store_begin_at(struct store *store, const char *file, int line,
                                      struct store_txn **ret_txn, struct err *err);
#define store_begin(store, ret_txn, err) store_begin_at(store, __FILE__, __LINE__, ret_txn, err)

/* After ST_OK what was changed is on the disk (synchronous=FULL).  After a failure nothing of it
 * is.  store_end() must follow either way. */
MUST_CHECK enum status store_commit(struct store_txn *txn, struct err *err);

/* Ends the transaction, rolling it back unless it was committed.  NULL is allowed. */
void store_end(struct store_txn *txn);

/* A part of a transaction that can be undone alone.  After store_part_begin() exactly one of the
 * others follows, for the innermost part.  The writer runs each command in one; a command may have
 * parts inside (STORE_PARTS_MAX deep), so that one spoilt row need not stop a sweep over many. */
enum { STORE_PARTS_MAX = 4 };
MUST_CHECK enum status store_part_begin(struct store_txn *txn, struct err *err);
MUST_CHECK enum status store_part_keep(struct store_txn *txn, struct err *err);
MUST_CHECK enum status store_part_undo(struct store_txn *txn, struct err *err);

/* False after SQLite rolled the whole transaction back by itself (disk full, I/O error): nothing
 * that was done in it can be kept. */
bool store_txn_is_open(const struct store_txn *txn);

struct store_conn *store_txn_conn(struct store_txn *txn);

/* ------------------------------------------------------- upkeep, on the writer's thread */

/* Move the write-ahead log into the file and cut it to nothing.  Waits for no reader; *ret_left
 * (NULL allowed) is how many pages had to stay because one still reads them. */
MUST_CHECK enum status store_checkpoint(struct store *store, int *ret_left, struct err *err);

/* Bytes of the write-ahead log now, for metrics and for deciding to checkpoint.  Any thread. */
int64_t store_wal_bytes(const struct store *store);

#endif

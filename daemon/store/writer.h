/*
 * store/writer.h - the one thread that changes anything.
 *
 * A change is a command: a function that runs inside a transaction and one that is told how it
 * went.  The writer takes all that wait, begins one transaction, runs each command in a part of
 * its own, commits once, and only then calls every done().  So one lone command costs one fsync, a
 * thousand at once share it, and nothing is acknowledged that a power cut could take back.
 *
 * A command that fails (run() does not return ST_OK) is undone alone and hears its own error; the
 * others of the batch are not touched.  If the commit fails, or SQLite gave the whole transaction
 * up (disk full, I/O error), every command of the batch hears ST_IO with REASON_STORE_FAILED, also
 * those whose run() had succeeded, and nothing of the batch remains.
 * A command that must both record something and refuse (a move after its time: the forfeit stays,
 * the mover is told) returns ST_OK from run() and puts its answer into its own arg.
 *
 * Calling sequence
 *   writer_open()      with a store opened for writing
 *   writer_hook()      any number, before anything is submitted
 *   writer_start()     starts the thread.  Not needed in tests and subcommands: without it
 *                      writer_run() works in the calling thread, and so does writer_drain().
 *   writer_submit(), writer_run()
 *   writer_stop()      refuses new commands (ST_BUSY), does those that wait, ends the thread
 *   writer_close()     NULL is allowed
 *
 * Time:      `now` is read from the time_source once for each command, when it is run, and never
 *            goes back: it is at least the one before it.
 * Threads:   submit and run from any thread but the writer's own (a run() or done() may submit,
 *            never call writer_run()).  run(), done() and hooks are called on the writer thread.
 * Ownership: the command struct is copied; what arg points to must live until done() was called
 *            (for writer_run(): until it returns).
 */
#ifndef FH_STORE_WRITER_H
#define FH_STORE_WRITER_H

#include "base/ports.h"
#include "store/store.h"

struct writer;

/* Commands that may wait; one more is refused with ST_BUSY, REASON_BUSY. */
enum { WRITER_QUEUE_MAX = 4096, WRITER_BATCH_MAX = 1024, WRITER_EVENTS_MAX = 1024 };

struct writer_command {
    const char *name; /* constant, for logs and metrics: "move", "lease" */
    enum status (*run)(struct store_txn *txn, utc_ms now, void *arg, struct err *err);
    /* st: what run() returned, or ST_IO; err->code is the same.  May be NULL. */
    void (*done)(void *arg, enum status st, const struct err *err);
    void *arg;
};

/* What a commit has changed, for those who wait for it. */
struct writer_change {
    int64_t game_id;  /* of an event appended */
    int64_t event_id;
    int64_t seq;
};
struct writer_commit {
    const struct writer_change *changes; /* in order of event_id; borrowed during the call */
    size_t n;
    bool overflow;       /* there were more than WRITER_EVENTS_MAX: look for yourself */
    int64_t last_event_id; /* newest event of all games; 0 when the batch had none */
    bool users_changed;  /* an account was made or changed: a name, a right, that it is shut */
    bool credentials_changed; /* that, or a session or token is no longer what it was: not when one
                               * was made, or noted as used */
    bool outbox_put;     /* an intent was put, or put back: the courier has something to do */
    utc_ms timer_at;     /* when the earliest timer that was set is due; UTC_NONE: none was set */
};

/* Called after each commit that has changed any of it, before the done() of its commands. */
typedef void writer_hook_fn(void *arg, const struct writer_commit *commit);

struct writer_options {
    struct store *store;
    struct time_source time; /* also measures the commits */
    size_t queue_max;        /* 0: WRITER_QUEUE_MAX; more is refused */
    size_t batch_max;        /* 0: WRITER_BATCH_MAX: commands one commit may carry */
    int64_t checkpoint_bytes; /* WAL size from which the writer checkpoints when idle; 0: 136 MiB */
};

MUST_CHECK enum status writer_open(const struct writer_options *options,
                                   struct writer **ret_writer, struct err *err);
/* At most WRITER_HOOKS_MAX; ST_TOO_LARGE. */
enum { WRITER_HOOKS_MAX = 8 };
MUST_CHECK enum status writer_hook(struct writer *writer, writer_hook_fn *fn, void *arg,
                                   struct err *err);
MUST_CHECK enum status writer_start(struct writer *writer, struct err *err);

/* Queue it and return.  When this fails (ST_BUSY: full, or stopping) done() is never called; else
 * it is called exactly once. */
MUST_CHECK enum status writer_submit(struct writer *writer, const struct writer_command *command,
                                     struct err *err);

/* Queue it, wait until it is durable or refused, and return what done() hears; done() is called
 * too, if there is one. */
MUST_CHECK enum status writer_run(struct writer *writer, const struct writer_command *command,
                                  struct err *err);

/* Without a started thread: do all that waits, as one batch after another, in the calling thread.
 * Returns how many commands it was. */
size_t writer_drain(struct writer *writer);

void writer_stop(struct writer *writer);
void writer_close(struct writer *writer);

/* Whether the caller is the writer thread. */
bool writer_is_here(const struct writer *writer);

/* Since the start; for metrics and the watchdog.  Any thread. */
struct writer_stats {
    uint64_t commits;        /* transactions committed */
    uint64_t commits_failed; /* … lost */
    bool is_failing;         /* the database refused the last write; a commit that writes nothing
                              * says nothing about it */
    uint64_t commands;       /* commands done, whatever came of them */
    uint64_t commands_failed; /* those among them that heard an error */
    uint64_t refused;        /* not queued: full */
    uint64_t batch_max;      /* most commands one commit has carried */
    uint64_t waiting;        /* in the queue now */
    int64_t commit_last_ms;  /* length of the last transaction, first command to durable */
    int64_t commit_max_ms;   /* of the longest */
    int64_t commit_sum_ms;   /* of all */
    uint64_t checkpoints;    /* that the writer made when idle */
    int checkpoint_left;     /* pages that the last one had to leave */
    utc_ms last_commit_at;   /* UTC_NONE: none yet */
};
struct writer_stats writer_stats(struct writer *writer);

#endif

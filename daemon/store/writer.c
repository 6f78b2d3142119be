/* store/writer.c - the queue, the batch and the thread; see writer.h. */
#include "store/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "store/internal.h"

struct waiting {
    struct writer_command command;
    struct answer *answer; /* of writer_run(); NULL for a submitted one */
};

/* How a command went; of the batch under way. */
struct outcome_of {
    enum status st;
    struct err err;
};

/* Where writer_run() waits. */
struct answer {
    bool is_there;
    enum status st;
    struct err err;
};

struct writer {
    struct store *store;
    struct time_source time;
    size_t queue_max, batch_max;
    int64_t checkpoint_bytes;

    struct {
        writer_hook_fn *fn;
        void *arg;
    } hooks[WRITER_HOOKS_MAX];
    size_t n_hooks;

    pthread_mutex_t mutex; /* guards what follows, up to the thread */
    pthread_cond_t work;   /* the writer waits here */
    pthread_cond_t answered; /* writer_run() waits here */
    struct waiting *ring;  /* queue_max of them */
    size_t head, n;
    bool is_started, is_stopping;
    struct writer_stats stats;

    pthread_t thread;
    /* used by whoever is the writer */
    struct waiting *batch;       /* batch_max */
    struct outcome_of *outcomes; /* batch_max */
    utc_ms now;
};

static pthread_key_t here_key;
static pthread_once_t here_once = PTHREAD_ONCE_INIT;

static void here_make(void)
{
    (void)pthread_key_create(&here_key, NULL);
}

bool writer_is_here(const struct writer *writer)
{
    return pthread_getspecific(here_key) == writer;
}

enum status writer_open(const struct writer_options *options, struct writer **ret_writer,
                        struct err *err)
{
    struct writer *w = calloc(1, sizeof *w);

    assert(options->store && !store_is_read_only(options->store) && options->time.now);
    (void)pthread_once(&here_once, here_make);
    if (!w)
        return err_reason(err, REASON_NO_MEMORY, "writer: out of memory");
    w->store = options->store;
    w->time = options->time;
    w->queue_max = options->queue_max ? options->queue_max : WRITER_QUEUE_MAX;
    w->batch_max = options->batch_max ? options->batch_max : WRITER_BATCH_MAX;
    w->checkpoint_bytes = options->checkpoint_bytes ? options->checkpoint_bytes
                                                    : INT64_C(136) * 1024 * 1024;
    w->now = UTC_NONE;
    w->stats.last_commit_at = UTC_NONE;
    (void)pthread_mutex_init(&w->mutex, NULL);
    (void)pthread_cond_init(&w->work, NULL);
    (void)pthread_cond_init(&w->answered, NULL);
    if (w->queue_max > WRITER_QUEUE_MAX || w->batch_max > WRITER_BATCH_MAX) {
        writer_close(w);
        return err_set(err, ST_TOO_LARGE, "writer: a queue of %d and a batch of %d at most",
                       WRITER_QUEUE_MAX, WRITER_BATCH_MAX);
    }
    w->ring = calloc(w->queue_max, sizeof *w->ring);
    w->batch = calloc(w->batch_max, sizeof *w->batch);
    w->outcomes = calloc(w->batch_max, sizeof *w->outcomes);
    if (!w->ring || !w->batch || !w->outcomes) {
        writer_close(w);
        return err_reason(err, REASON_NO_MEMORY, "writer: out of memory");
    }
    *ret_writer = w;
    return ST_OK;
}

enum status writer_hook(struct writer *writer, writer_hook_fn *fn, void *arg, struct err *err)
{
    assert(!writer->is_started);
    if (writer->n_hooks == WRITER_HOOKS_MAX)
        return err_set(err, ST_TOO_LARGE, "writer: %d hooks at most", WRITER_HOOKS_MAX);
    writer->hooks[writer->n_hooks].fn = fn;
    writer->hooks[writer->n_hooks].arg = arg;
    writer->n_hooks++;
    return ST_OK;
}

/* ---------------------------------------------------------------- one batch */

/* The clock may be set back while we run; commands never see that. */
static utc_ms read_now(struct writer *w)
{
    utc_ms at = w->time.now(w->time.arg);

    if (w->now == UTC_NONE || at > w->now)
        w->now = at;
    return w->now;
}

/* Run one command in a part of its own.  False when the whole transaction is lost. */
static bool run_one(struct writer *w, struct store_txn *txn, size_t i)
{
    struct outcome_of *out = &w->outcomes[i];
    struct err err = ERR_INIT, part_err = ERR_INIT;
    enum status st;

    if (store_part_begin(txn, &err) != ST_OK)
        return false;
    st = w->batch[i].command.run(txn, read_now(w), w->batch[i].command.arg, &err);
    if (st == ST_OK) {
        if (store_part_keep(txn, &part_err) != ST_OK)
            return false;
    } else if (store_part_undo(txn, &part_err) != ST_OK) {
        return false;
    }
    out->st = st;
    out->err = err;
    return store_txn_is_open(txn);
}

static void lose_batch(struct writer *w, size_t n, const struct err *why)
{
    for (size_t i = 0; i < n; i++) {
        w->outcomes[i].st = err_reason(&w->outcomes[i].err, REASON_STORE_FAILED,
                                       "the change could not be stored: %s", why->text);
    }
}

/* What a batch came to. */
struct batch_sum {
    enum status st;  /* of its commit */
    utc_ms from, to;
    int64_t changes; /* of rows */
    uint64_t failed; /* commands */
    bool is_refused; /* some of them by the database, not by a rule of ours */
};

/* Run the commands in one transaction and commit it; then tell the hooks.  Every outcome is known
 * afterwards. */
static void run_batch(struct writer *w, size_t n, struct batch_sum *sum)
{
    struct store_txn *txn = NULL;
    struct err err = ERR_INIT;
    struct writer_commit report = {.timer_at = UTC_NONE};
    enum status st;

    for (size_t i = 0; i < n; i++)
        w->outcomes[i] = (struct outcome_of){.st = ST_OK, .err = ERR_INIT};
    sum->from = w->time.now(w->time.arg);
    st = store_begin(w->store, &txn, &err);
    if (st == ST_OK) {
        sum->changes = -sqlite3_total_changes64(txn->conn->db);
        for (size_t i = 0; i < n && st == ST_OK; i++)
            if (!run_one(w, txn, i))
                st = err_reason(&err, REASON_STORE_FAILED, "command %s: the database gave the "
                                                           "transaction up: %s",
                                w->batch[i].command.name, sqlite3_errmsg(txn->conn->db));
        sum->changes += sqlite3_total_changes64(txn->conn->db);
    }
    if (st == ST_OK) {
        report = txn_report(txn);
        st = store_commit(txn, &err);
    }
    sum->to = w->time.now(w->time.arg);
    sum->st = st;
    if (st != ST_OK)
        lose_batch(w, n, &err);
    else if (report.n > 0 || report.overflow || report.credentials_changed ||
             report.outbox_put || report.timer_at != UTC_NONE)
        for (size_t i = 0; i < w->n_hooks; i++)
            w->hooks[i].fn(w->hooks[i].arg, &report);
    store_end(txn);
}

/* Tell those who left a function to be called. */
static void tell_batch(struct writer *w, size_t n, struct batch_sum *sum)
{
    for (size_t i = 0; i < n; i++) {
        const struct writer_command *command = &w->batch[i].command;
        const struct outcome_of *outcome = &w->outcomes[i];

        sum->failed += outcome->st != ST_OK;
        if (outcome->st != ST_OK && outcome->err.reason == REASON_STORE_FAILED)
            sum->is_refused = true;
        if (command->done)
            command->done(command->arg, outcome->st, &outcome->err);
    }
}

/* The mutex is held. */
static void count_batch(struct writer_stats *stats, size_t n, const struct batch_sum *sum)
{
    if (sum->st == ST_OK) {
        int64_t took = sum->to > sum->from ? sum->to - sum->from : 0;

        stats->commits++;
        stats->commit_last_ms = took;
        stats->commit_sum_ms += took;
        if (took > stats->commit_max_ms)
            stats->commit_max_ms = took;
        stats->last_commit_at = sum->to;
        if (n > stats->batch_max)
            stats->batch_max = n;
    } else {
        stats->commits_failed++;
    }
    if (sum->is_refused)
        stats->is_failing = true;
    else if (sum->changes > 0)
        stats->is_failing = false;
    stats->commands += n;
    stats->commands_failed += sum->failed;
}

/* Run, commit, tell.  The mutex is not held. */
static void do_batch(struct writer *w, size_t n)
{
    struct batch_sum sum = {.st = ST_OK};

    run_batch(w, n, &sum);
    tell_batch(w, n, &sum);

    (void)pthread_mutex_lock(&w->mutex);
    count_batch(&w->stats, n, &sum);
    for (size_t i = 0; i < n; i++) { /* and those who wait */
        struct answer *a = w->batch[i].answer;

        if (a) {
            a->st = w->outcomes[i].st;
            a->err = w->outcomes[i].err;
            a->is_there = true;
        }
    }
    (void)pthread_cond_broadcast(&w->answered);
    (void)pthread_mutex_unlock(&w->mutex);
}

/* Move what waits into the batch; the mutex is held. */
static size_t take_batch(struct writer *w)
{
    size_t n = w->n < w->batch_max ? w->n : w->batch_max;

    for (size_t i = 0; i < n; i++)
        w->batch[i] = w->ring[(w->head + i) % w->queue_max];
    w->head = (w->head + n) % w->queue_max;
    w->n -= n;
    return n;
}

static void checkpoint_if_large(struct writer *w)
{
    int left = 0;

    if (store_wal_bytes(w->store) < w->checkpoint_bytes)
        return;
    if (store_checkpoint(w->store, &left, NULL) != ST_OK)
        return; /* the next commit will say what is wrong */
    (void)pthread_mutex_lock(&w->mutex);
    w->stats.checkpoints++;
    w->stats.checkpoint_left = left;
    (void)pthread_mutex_unlock(&w->mutex);
}

size_t writer_drain(struct writer *writer)
{
    size_t all = 0;
    const void *before = pthread_getspecific(here_key);

    (void)pthread_setspecific(here_key, writer);
    for (;;) {
        size_t n;

        (void)pthread_mutex_lock(&writer->mutex);
        n = take_batch(writer);
        (void)pthread_mutex_unlock(&writer->mutex);
        if (n == 0)
            break;
        do_batch(writer, n);
        all += n;
    }
    (void)pthread_setspecific(here_key, before);
    return all;
}

static void *writer_main(void *arg)
{
    struct writer *w = arg;

    thread_name("writer");
    thread_go_first(); /* all moves wait for it; whoever reads need not wait for a move */
    (void)pthread_setspecific(here_key, w);
    (void)pthread_mutex_lock(&w->mutex);
    for (;;) {
        size_t n;
        bool is_idle;

        while (w->n == 0 && !w->is_stopping)
            (void)pthread_cond_wait(&w->work, &w->mutex);
        n = take_batch(w);
        if (n == 0)
            break; /* stopping, and all is done */
        (void)pthread_mutex_unlock(&w->mutex);
        do_batch(w, n);
        (void)pthread_mutex_lock(&w->mutex);
        is_idle = w->n == 0;
        if (is_idle) {
            (void)pthread_mutex_unlock(&w->mutex);
            checkpoint_if_large(w);
            (void)pthread_mutex_lock(&w->mutex);
        }
    }
    (void)pthread_mutex_unlock(&w->mutex);
    return NULL;
}

/* ---------------------------------------------------------------- from outside */

enum status writer_start(struct writer *writer, struct err *err)
{
    int rc;

    assert(!writer->is_started);
    writer->is_started = true;
    rc = pthread_create(&writer->thread, NULL, writer_main, writer);
    if (rc != 0) {
        writer->is_started = false;
        return err_set(err, ST_NOMEM, "writer: cannot start its thread: %s", strerror(rc));
    }
    return ST_OK;
}

/* The caller signals w->work once it has let go of the mutex: else the writer, woken at once where
 * a thread that stands back has called, would wait for it. */
static enum status enqueue(struct writer *w, const struct writer_command *command,
                           struct answer *answer, struct err *err)
{
    if (w->is_stopping)
        return err_detail(err, REASON_BUSY, "refusal.stopping", "the server is stopping");
    if (w->n == w->queue_max) {
        w->stats.refused++;
        return err_detail(err, REASON_BUSY, "refusal.changes_wait",
                          "too many changes wait to be stored");
    }
    w->ring[(w->head + w->n) % w->queue_max] =
        (struct waiting){.command = *command, .answer = answer};
    w->n++;
    return ST_OK;
}

enum status writer_submit(struct writer *writer, const struct writer_command *command,
                          struct err *err)
{
    enum status st;

    assert(command->run);
    (void)pthread_mutex_lock(&writer->mutex);
    st = enqueue(writer, command, NULL, err);
    (void)pthread_mutex_unlock(&writer->mutex);
    if (st == ST_OK)
        (void)pthread_cond_signal(&writer->work);
    return st;
}

enum status writer_run(struct writer *writer, const struct writer_command *command,
                       struct err *err)
{
    struct answer answer = {.is_there = false};
    enum status st;
    bool alone;

    assert(command->run && !writer_is_here(writer));
    (void)pthread_mutex_lock(&writer->mutex);
    st = enqueue(writer, command, &answer, err);
    alone = !writer->is_started;
    (void)pthread_mutex_unlock(&writer->mutex);
    if (st != ST_OK)
        return st;
    if (alone) {
        (void)writer_drain(writer);
    } else {
        (void)pthread_cond_signal(&writer->work);
        (void)pthread_mutex_lock(&writer->mutex);
        while (!answer.is_there)
            (void)pthread_cond_wait(&writer->answered, &writer->mutex);
        (void)pthread_mutex_unlock(&writer->mutex);
    }
    assert(answer.is_there);
    if (answer.st != ST_OK && err)
        *err = answer.err;
    return answer.st;
}

void writer_stop(struct writer *writer)
{
    bool join;

    if (!writer)
        return;
    (void)pthread_mutex_lock(&writer->mutex);
    join = writer->is_started && !writer->is_stopping;
    writer->is_stopping = true;
    (void)pthread_cond_signal(&writer->work);
    (void)pthread_mutex_unlock(&writer->mutex);
    if (join)
        (void)pthread_join(writer->thread, NULL);
    else if (!writer->is_started && writer->ring)
        (void)writer_drain(writer);
}

void writer_close(struct writer *writer)
{
    if (!writer)
        return;
    writer_stop(writer);
    (void)pthread_cond_destroy(&writer->work);
    (void)pthread_cond_destroy(&writer->answered);
    (void)pthread_mutex_destroy(&writer->mutex);
    free(writer->ring);
    free(writer->batch);
    free(writer->outcomes);
    free(writer);
}

struct writer_stats writer_stats(struct writer *writer)
{
    struct writer_stats stats;

    (void)pthread_mutex_lock(&writer->mutex);
    stats = writer->stats;
    stats.waiting = writer->n;
    (void)pthread_mutex_unlock(&writer->mutex);
    return stats;
}

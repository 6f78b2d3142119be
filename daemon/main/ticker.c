#include "main/ticker.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/str.h"
#include "base/thread.h"
#include "store/idempotency.h"
#include "store/imap_boxes.h"
#include "store/inbox.h"
#include "store/outbox.h"
#include "store/tokens.h"

enum {
    TICK_LIMIT = 200,
    PURGE_LIMIT = 500,
    FAILED_LOG_EVERY = 60 /* of the ticks that fail, which come once a second */
};

#define PURGE_EVERY_MS MS_HOUR
#define LOGINS_LIFE_MS (30 * MS_DAY) /* kept after they expired */
#define TOKENS_LIFE_MS (30 * MS_DAY) /* kept after they expired, to say so to who uses one late */
#define IMAP_BOX_LIFE_MS (400 * MS_DAY) /* a mailbox not read for so long is read no more */
#define OUTBOX_LIFE_MS (30 * MS_DAY) /* kept after they were settled: the deliveries log */

#define LATEST INT64_MAX

struct ticker {
    struct engine *engine;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t cond; /* on the monotonic clock */
    utc_ms set_at; /* the earliest timer set since the last tick began; LATEST: none */
    bool is_stopping;
};

struct tick {
    struct engine *engine;
    bool is_start;
    struct arbiter_tick_report report;
};

static enum status tick_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct tick *tick = arg;

    return arbiter_tick(&tick->engine->arbiter, txn, now, tick->is_start, TICK_LIMIT,
                        &tick->report, err);
}

static void report_log(const struct arbiter_tick_report *r)
{
    if (r->outage_ms)
        log_event(LOG_LEVEL_WARNING, "outage ms=%" PRId64, r->outage_ms);
    if (r->set_back_ms)
        log_event(LOG_LEVEL_WARNING, "clock_set_back ms=%" PRId64, r->set_back_ms);
    if (r->credited)
        log_event(LOG_LEVEL_INFO, "outage_credited games=%" PRId64, r->credited);
    if (r->warnings || r->forfeits || r->placed || r->expired || r->resumed)
        log_event(LOG_LEVEL_INFO,
                  "tick warnings=%" PRId64 " forfeits=%" PRId64 " placed=%" PRId64
                  " expired=%" PRId64 " resumed=%" PRId64,
                  r->warnings, r->forfeits, r->placed, r->expired, r->resumed);
    if (r->released || r->unread)
        log_event(LOG_LEVEL_INFO, "tick released=%" PRId64 " unread=%" PRId64, r->released,
                  r->unread);
    if (r->failed)
        log_event(LOG_LEVEL_ERROR, "tick_failed timers=%" PRId64 " game_id=%" PRId64 " why=\"%s\"",
                  r->failed, r->failed_game_id, r->failure.text);
}

enum status ticker_run(struct engine *engine, bool is_start, utc_ms *ret_next_at, struct err *err)
{
    for (;; is_start = false) {
        struct tick tick = {.engine = engine, .is_start = is_start};
        struct writer_command command = {.name = "tick", .run = tick_run, .arg = &tick};
        enum status st = writer_run(engine->writer, &command, err);

        if (st != ST_OK)
            return st;
        report_log(&tick.report);
        if (tick.report.has_jump)
            clock_guard_handled(&engine->guard, &tick.report.jump);
        if (!tick.report.more) {
            *ret_next_at = tick.report.next_at;
            return ST_OK;
        }
    }
}

enum status ticker_first(struct engine *engine, struct err *err)
{
    utc_ms next_at;

    return ticker_run(engine, /* is_start= */ true, &next_at, err);
}

static enum status purge_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    static const struct {
        enum status (*purge)(struct store_txn *txn, utc_ms before, int max, int64_t *ret_n,
                             struct err *err);
        int64_t life_ms;
    } rows[] = {
        {idempotency_purge, IDEMPOTENCY_LIFE_MS}, {logins_purge, LOGINS_LIFE_MS},
        {outbox_purge, OUTBOX_LIFE_MS},           {tokens_purge, TOKENS_LIFE_MS},
        {invitations_purge, INVITED_KEEP_MS},
    };
    bool *ret_more = arg, more = false;
    int64_t n = 0, erased = 0;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        TRY(rows[i].purge(txn, now - rows[i].life_ms, PURGE_LIMIT, &n, err));
        more = more || n >= PURGE_LIMIT;
    }
    TRY(inbox_purge(txn, now, PURGE_LIMIT, &erased, &n, err));
    TRY(imap_boxes_purge(txn, now - IMAP_BOX_LIFE_MS, &(int64_t){0}, err));
    *ret_more = more || n >= PURGE_LIMIT || erased >= PURGE_LIMIT;
    return ST_OK;
}

static void purge(struct engine *engine)
{
    bool more = false;
    struct writer_command command = {.name = "purge", .run = purge_run, .arg = &more};
    struct err err = ERR_INIT;

    do {
        if (writer_run(engine->writer, &command, &err) != ST_OK) {
            log_event(LOG_LEVEL_WARNING, "purge_failed why=\"%s\"", err.text);
            return;
        }
    } while (more);
}

/* Wait for at most ms, which is until look_at, or until a timer is set that is due before.  False
 * when it is time to stop. */
static bool ticker_wait(struct ticker *t, int64_t ms, utc_ms look_at)
{
    /* Sleeping goes by the machine's own clock even where a test turns the engine's. */
    struct clock machine = clock_os();
    int64_t until_ms = machine.read(machine.arg).monotonic_ms + ms;
    struct timespec until = {.tv_sec = (time_t)(until_ms / 1000),
                             .tv_nsec = (long)(until_ms % 1000) * 1000000L};
    int rc = 0;
    bool go_on;

    pthread_mutex_lock(&t->lock);
    while (t->set_at >= look_at && !t->is_stopping && rc == 0)
        rc = pthread_cond_timedwait(&t->cond, &t->lock, &until);
    t->set_at = LATEST;
    go_on = !t->is_stopping;
    pthread_mutex_unlock(&t->lock);
    return go_on;
}

static void *ticker_main(void *arg)
{
    struct ticker *t = arg;
    utc_ms now = clock_guard_now(&t->engine->guard), purge_at = now, next_at;
    int64_t wait_ms = 0;
    int failed = 0; /* ticks, one after another */

    thread_name("ticker");
    while (ticker_wait(t, wait_ms, now + wait_ms)) {
        struct err err = ERR_INIT;
        enum status st = ticker_run(t->engine, /* is_start= */ false, &next_at, &err);

        now = clock_guard_now(&t->engine->guard);
        if (now >= purge_at) {
            purge(t->engine);
            purge_at = now + PURGE_EVERY_MS;
            now = clock_guard_now(&t->engine->guard); /* it may have taken a while */
        }
        wait_ms = ARBITER_HEARTBEAT_MS;
        if (st == ST_OK && failed > 0)
            log_event(LOG_LEVEL_INFO, "tick_recovered failed=%d", failed);
        failed = st == ST_OK ? 0 : failed + 1;
        if (st != ST_OK) {
            /* The disk may be full, and the log lie on it: look again soon, but say so seldom. */
            if (failed % FAILED_LOG_EVERY == 1)
                log_event(LOG_LEVEL_ERROR, "tick_failed failed=%d why=\"%s\"", failed, err.text);
            wait_ms = MS_SECOND;
        } else if (next_at != UTC_NONE && next_at - now < wait_ms) {
            wait_ms = next_at > now ? next_at - now : 0;
        }
    }
    return NULL;
}

enum status ticker_start(struct engine *engine, struct ticker **ret, struct err *err)
{
    struct ticker *t = calloc(1, sizeof *t);
    pthread_condattr_t attr;

    if (!t)
        return err_reason(err, REASON_NO_MEMORY, "out of memory");
    t->engine = engine;
    t->set_at = LATEST;
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&t->cond, &attr);
    pthread_condattr_destroy(&attr);
    if (pthread_create(&t->thread, NULL, ticker_main, t) != 0) {
        pthread_cond_destroy(&t->cond);
        pthread_mutex_destroy(&t->lock);
        free(t);
        return err_set(err, ST_NOMEM, "no thread for the clocks");
    }
    *ret = t;
    return ST_OK;
}

void ticker_wake(struct ticker *t, utc_ms due_at)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    if (due_at < t->set_at) {
        t->set_at = due_at;
        pthread_cond_signal(&t->cond);
    }
    pthread_mutex_unlock(&t->lock);
}

void ticker_stop(struct ticker *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->is_stopping = true;
    pthread_cond_signal(&t->cond);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    pthread_cond_destroy(&t->cond);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

/* notify/courier.c - see courier.h. */
#include "notify/courier.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "base/thread.h"
#include "notify/courier_own.h"

enum { POLL_MS = 1000 };
#define LONGEST_WAIT_MS (30 * MS_HOUR) /* nothing is put off for longer: 24 h and a fifth */
#define SET_BACK_MS MS_MINUTE          /* a clock behind by as much has been set back */

utc_ms courier_now(const struct courier *c)
{
    return c->options.time.now(c->options.time.arg);
}

uint32_t courier_random(const struct courier *c)
{
    uint32_t random;

    c->options.entropy.fill(c->options.entropy.arg, &random, sizeof random);
    return random;
}

void courier_count(struct courier *c, uint64_t *counter)
{
    pthread_mutex_lock(&c->lock);
    (*counter)++;
    pthread_mutex_unlock(&c->lock);
}

enum status courier_run(struct courier *c, const char *name,
                        enum status (*fn)(struct store_txn *, utc_ms, void *, struct err *),
                        void *arg)
{
    struct err err = ERR_INIT;
    enum status st = writer_run(
        c->options.writer, &(struct writer_command){.name = name, .run = fn, .arg = arg}, &err);

    if (st != ST_OK) {
        char quoted[300];

        log_event(LOG_LEVEL_WARNING, "courier command=%s status=%s why=%s", name, status_str(st),
                  log_quote(err.text, quoted, sizeof quoted));
    }
    return st;
}

/* ---------------------------------------------------------------- slots */

void slot_release(struct slot *s)
{
    struct mail_sending *sending = s->sending;

    if (s->easy != NULL)
        curl_easy_cleanup(s->easy);
    curl_slist_free_all(s->headers);
    free(s->webhook);
    intent_release(&s->intent);
    memset(s, 0, sizeof *s);
    s->sending = sending;
}

/* Being sent, or leased to be. */
static int under_way(const struct courier *c)
{
    int n = (int)c->n_queue;

    for (int i = 0; i < COURIER_MAIL; i++)
        n += c->mail[i].is_used;
    for (int i = 0; i < COURIER_WEBHOOKS; i++)
        n += c->hooks[i].is_used;
    return n;
}

/* Not everything is as it will stay. */
static bool is_busy(const struct courier *c)
{
    return c->is_keeping || under_way(c) > 0;
}

struct slot *slot_free(struct slot *slots, int n)
{
    for (int i = 0; i < n; i++)
        if (!slots[i].is_used)
            return &slots[i];
    return NULL;
}

bool courier_is_due(struct courier *c, enum notice_channel channel)
{
    struct err err = ERR_INIT;
    utc_ms next = UTC_NONE;

    return outbox_next(store_reader_conn(c->reader), channel, &next, &err) == ST_OK &&
           next != UTC_NONE && next <= courier_now(c);
}

/* ---------------------------------------------------------------- beginning and ending */

static int finish_done(struct courier *c)
{
    CURLMsg *message;
    int left = 0, n = 0;

    while ((message = curl_multi_info_read(c->multi, &left)) != NULL) {
        CURL *easy = message->easy_handle;
        CURLcode result = message->data.result;
        char *private = NULL;
        struct slot *s;

        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, &private);
        s = (struct slot *)(void *)private;
        (void)curl_multi_remove_handle(c->multi, easy);
        if (s->easy == NULL) {
            struct mail_result r;

            mail_sending_judge(s->sending, result, &r);
            mail_finish(c, s, &r);
        } else {
            hook_finish(c, s, result);
        }
        n++;
    }
    return n;
}

static enum status holds_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    const struct holds *h = arg;
    struct policy_hold_row *rows = calloc(HOLDS_MAX, sizeof *rows);
    enum status st;

    (void)now;
    if (rows == NULL)
        return err_set(err, ST_NOMEM, "what is held back");
    for (size_t i = 0; i < h->count; i++) {
        rows[i].cls = h->at[i].cls;
        rows[i].until = h->at[i].until;
        rows[i].ms = h->at[i].ms;
        (void)str_copy(rows[i].domain, sizeof rows[i].domain, h->at[i].domain);
    }
    st = policy_holds_set(txn, rows, h->count, err);
    free(rows);
    return st;
}

/* A restart must not try anew what was refused. */
static void holds_keep(struct courier *c)
{
    if (c->holds.is_changed)
        c->holds.is_changed = courier_run(c, "policy_holds", holds_run, &c->holds) != ST_OK;
}

static enum status holds_load(struct courier *c, struct err *err)
{
    struct policy_hold_row *rows = calloc(HOLDS_MAX, sizeof *rows);
    size_t n = 0;
    enum status st;

    if (rows == NULL)
        return err_set(err, ST_NOMEM, "what is held back");
    st = policy_holds_get(store_reader_conn(c->reader), rows, HOLDS_MAX, &n, err);
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        struct hold *hold = &c->holds.at[c->holds.count++];

        hold->cls = rows[i].cls;
        hold->until = rows[i].until;
        hold->ms = rows[i].ms;
        (void)str_copy(hold->domain, sizeof hold->domain, rows[i].domain);
    }
    free(rows);
    return st;
}

static int held_classes(const struct courier *c)
{
    return (int)c->holds.count;
}

/* arg: what the clock shows; the writer's goes on from the latest that it has seen. */
static enum status set_back_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    (void)now;
    return outbox_set_back(txn, *(const utc_ms *)arg, LONGEST_WAIT_MS, NULL, err);
}

/* A clock that was set back: what has been put off by it as it was, and what the writer puts in
 * meanwhile, would wait until it has come there again.  Once a minute all that is due. */
static void clock_look(struct courier *c)
{
    utc_ms now = courier_now(c);

    if (now > c->seen_at)
        c->seen_at = now;
    if (c->seen_at - now < SET_BACK_MS)
        c->hurried_at = UTC_NONE;
    else if (c->hurried_at == UTC_NONE || now < c->hurried_at || now - c->hurried_at >= MS_MINUTE)
        if (courier_run(c, "notice_set_back", set_back_run, &now) == ST_OK)
            c->hurried_at = now;
}

static int step(struct courier *c, bool takes_new)
{
    int running = 0, n = 0;

    clock_look(c);
    n += mail_step(c, takes_new);
    if (takes_new)
        n += hooks_step(c);
    (void)curl_multi_perform(c->multi, &running);
    n += finish_done(c);
    if (c->n_queue == 0 && !c->is_keeping && c->rests == 0) /* there is nothing to wait for */
        keep_begin(c, 0);
    n += (int)keep_end(c);
    holds_keep(c);
    pthread_mutex_lock(&c->lock);
    c->stats.under_way = under_way(c);
    c->stats.holds = held_classes(c);
    pthread_mutex_unlock(&c->lock);
    return n;
}

enum status courier_step(struct courier *c, bool wait, int *ret_settled, struct err *err)
{
    struct courier_stats before = courier_stats(c), after;

    assert(!c->has_thread);
    c->rests = 0;
    for (;;) {
        int n = step(c, true);

        if (!wait || (n == 0 && under_way(c) == 0))
            break;
        if (under_way(c) > 0 && curl_multi_poll(c->multi, NULL, 0, POLL_MS, NULL) != CURLM_OK)
            return err_set(err, ST_INTERNAL, "courier: poll");
        c->rests = n > 0 ? c->rests : 0;
    }
    after = courier_stats(c);
    if (ret_settled != NULL)
        *ret_settled = (int)(after.mail_sent + after.mail_retried + after.mail_failed +
                             after.mail_superseded + after.webhook_sent + after.webhook_retried +
                             after.webhook_failed + after.webhook_superseded) -
                       (int)(before.mail_sent + before.mail_retried + before.mail_failed +
                             before.mail_superseded + before.webhook_sent + before.webhook_retried +
                             before.webhook_failed + before.webhook_superseded);
    return ST_OK;
}

/* ---------------------------------------------------------------- life */

static enum status reclaim_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    enum status st = outbox_reclaim(txn, now, NULL, err);

    return st == ST_OK ? set_back_run(txn, now, arg, err) : st;
}

enum status courier_new(const struct courier_options *options, struct courier **ret_courier,
                        struct err *err)
{
    struct courier *c = calloc(1, sizeof *c);
    enum status st = ST_OK;

    if (c == NULL)
        return err_set(err, ST_NOMEM, "courier");
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->is_settled, NULL);
    (void)pthread_cond_init(&c->is_kept, NULL);
    c->options = *options;
    if ((options->smtp != NULL) == (options->mail_directory != NULL)) {
        st = err_set(err, ST_INVALID, "courier: either a mail server or a mail directory");
        goto out;
    }
    if (options->smtp != NULL)
        c->smtp = *options->smtp;
    c->multi = curl_multi_init();
    c->marks = calloc(MARKS_MAX, sizeof *c->marks);
    c->queue = calloc(QUEUE_MAX, sizeof *c->queue);
    c->keeping = (struct keeping){.courier = c,
                                  .marks = calloc(MARKS_MAX, sizeof *c->keeping.marks),
                                  .letters = calloc(QUEUE_MAX, sizeof *c->keeping.letters)};
    if (c->multi == NULL || c->marks == NULL || c->queue == NULL || c->keeping.marks == NULL ||
        c->keeping.letters == NULL) {
        st = err_set(err, ST_NOMEM, "courier");
        goto out;
    }
    if (options->webhook_resolve != NULL)
        c->resolve = curl_slist_append(NULL, options->webhook_resolve);
    TRY_OUT(store_reader_open(options->store, &c->reader, err));
    TRY_OUT(holds_load(c, err));
    c->seen_at = courier_now(c);
    c->hurried_at = UTC_NONE;
    /* what a process before us was sending is due again, with the same bytes */
    TRY_OUT(writer_run(
        options->writer,
        &(struct writer_command){.name = "notice_reclaim", .run = reclaim_run, .arg = &c->seen_at},
        err));
    *ret_courier = c;
    c = NULL;
out:
    courier_free(c);
    return st;
}

static void give_back(struct courier *c, struct slot *s)
{
    struct marking m = {.mark = MARK_RELEASED};

    if (!s->is_used)
        return;
    if (s->easy != NULL)
        (void)curl_multi_remove_handle(c->multi, s->easy);
    else if (s->sending != NULL)
        (void)curl_multi_remove_handle(c->multi, mail_sending_handle(s->sending));
    mark_slot(c, s, &m);
}

void courier_free(struct courier *c)
{
    if (c == NULL)
        return;
    assert(!c->has_thread);
    (void)keep_wait(c);
    queue_give_back(c);
    for (int i = 0; i < COURIER_MAIL; i++)
        give_back(c, &c->mail[i]);
    for (int i = 0; i < COURIER_WEBHOOKS; i++)
        give_back(c, &c->hooks[i]);
    (void)keep_now(c);
    marks_drop(c->marks, &c->n_marks);
    for (int i = 0; i < COURIER_MAIL; i++)
        mail_sending_free(c->mail[i].sending);
    if (c->multi != NULL)
        (void)curl_multi_cleanup(c->multi);
    free(c->marks);
    free(c->queue);
    free(c->keeping.marks);
    free(c->keeping.letters);
    curl_slist_free_all(c->resolve);
    store_reader_close(c->reader);
    (void)pthread_cond_destroy(&c->is_kept);
    (void)pthread_cond_destroy(&c->is_settled);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

/* How long nothing will be due, at most COURIER_IDLE_MS. */
static int idle_ms(const struct courier *c)
{
    utc_ms now = courier_now(c);
    int64_t wait = COURIER_IDLE_MS;

    for (int channel = 0; channel < NOTICE_CHANNEL_COUNT_; channel++) {
        utc_ms next = UTC_NONE;
        struct err err = ERR_INIT;

        if (outbox_next(store_reader_conn(c->reader), (enum notice_channel)channel, &next, &err) !=
            ST_OK)
            return POLL_MS;
        if (next != UTC_NONE && next - now < wait)
            wait = next - now;
    }
    /* due already, but all slots are taken or it could not be leased: not at once again */
    return wait < POLL_MS ? (wait > 0 ? (int)wait : POLL_MS) : (int)wait;
}

static uint64_t asked(struct courier *c)
{
    uint64_t number;

    pthread_mutex_lock(&c->lock);
    number = c->settle_asked;
    pthread_mutex_unlock(&c->lock);
    return number;
}

/* All who asked before that number have what they waited for. */
static void answer(struct courier *c, uint64_t number)
{
    pthread_mutex_lock(&c->lock);
    c->settle_answered = number;
    pthread_cond_broadcast(&c->is_settled);
    pthread_mutex_unlock(&c->lock);
}

static void *work(void *arg)
{
    struct courier *c = arg;
    utc_ms stop_at = UTC_NONE;

    thread_name("courier");
    thread_stand_back(); /* drawing boards must not hold moves up */
    for (;;) {
        bool is_stopping = atomic_load(&c->is_stopping);
        uint64_t number = asked(c);
        int n = step(c, !is_stopping);

        if (is_stopping || (n == 0 && !is_busy(c)))
            answer(c, number);

        if (is_stopping) {
            utc_ms now = courier_now(c);

            if (stop_at == UTC_NONE)
                stop_at = now + atomic_load(&c->drain_ms);
            if (!is_busy(c) || now >= stop_at) {
                answer(c, UINT64_MAX);
                return NULL;
            }
        }
        if (n > 0)
            continue;
        (void)curl_multi_poll(c->multi, NULL, 0,
                              is_busy(c) || is_stopping ? POLL_MS / 5 : idle_ms(c), NULL);
        c->rests -= c->rests > 0;
    }
}

enum status courier_start(struct courier *c, struct err *err)
{
    int rc;

    c->has_thread = true;
    rc = pthread_create(&c->thread, NULL, work, c);
    if (rc != 0) {
        c->has_thread = false;
        return err_set(err, ST_INTERNAL, "courier: no thread: %s", strerror(rc));
    }
    return ST_OK;
}

void courier_stop(struct courier *c, int64_t drain_ms)
{
    if (c == NULL || !c->has_thread)
        return;
    atomic_store(&c->drain_ms, drain_ms);
    atomic_store(&c->is_stopping, true);
    (void)curl_multi_wakeup(c->multi);
    (void)pthread_join(c->thread, NULL);
    c->has_thread = false;
}

void courier_wake(struct courier *c)
{
    (void)curl_multi_wakeup(c->multi);
}

void courier_on_commit(void *courier, const struct writer_commit *commit)
{
    if (commit->outbox_put)
        courier_wake(courier);
}

void courier_settle(struct courier *c)
{
    uint64_t number;

    pthread_mutex_lock(&c->lock);
    number = ++c->settle_asked;
    pthread_mutex_unlock(&c->lock);
    courier_wake(c);
    pthread_mutex_lock(&c->lock);
    while (c->settle_answered < number)
        pthread_cond_wait(&c->is_settled, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

struct courier_stats courier_stats(struct courier *c)
{
    struct courier_stats stats;

    pthread_mutex_lock(&c->lock);
    stats = c->stats;
    pthread_mutex_unlock(&c->lock);
    return stats;
}

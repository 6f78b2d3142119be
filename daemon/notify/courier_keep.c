/* notify/courier_keep.c - see courier_own.h. */
#include "notify/courier_own.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/log.h"
#include "base/str.h"

enum { BOUNCE_LIMIT = 3 };           /* soft failures on as many days suspend an address */
#define LAST_TRY_BEFORE_MS MS_MINUTE /* before it expires: the last try, */
#define LAST_TRY_MIN_MS MS_HOUR      /* if it is as far away or farther */

/* ---------------------------------------------------------------- what has become of them */

static void host_of(const char *url, char *ret, size_t size)
{
    CURLU *u = curl_url();
    char *host = NULL;

    if (u != NULL && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK)
        (void)curl_url_get(u, CURLUPART_HOST, &host, 0);
    (void)str_copy(ret, size, host != NULL ? host : "");
    curl_free(host);
    curl_url_cleanup(u);
}

/* A letter to the owner about his endpoint. */
static enum status tell_owner(struct store_txn *txn, const struct webhook_row *webhook,
                              const char *template_name, const char *cause, utc_ms since,
                              utc_ms now, struct err *err)
{
    struct intent_row intent = INTENT_ROW_INIT;
    char host[300];
    json_t *params;
    enum status st;

    host_of(webhook->url, host, sizeof host);
    params = json_pack("{s:I, s:s, s:s}", "webhook", (json_int_t)webhook->id, "host", host, "cause",
                       cause);
    intent.params = params != NULL ? json_dumps(params, JSON_COMPACT) : NULL;
    json_decref(params);
    if (intent.params == NULL)
        return err_set(err, ST_NOMEM, "a letter about a webhook");
    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key, "%s:%" PRId64 ":%" PRId64,
                   template_name, webhook->id, since);
    intent.cls = NOTICE_WEBHOOK_DISABLED;
    intent.channel = CHANNEL_MAIL;
    (void)str_copy(intent.template_name, sizeof intent.template_name, template_name);
    intent.user_id = webhook->user_id;
    intent.due_at = now;
    intent.expires_at = now + 3 * MS_DAY;
    intent.created_at = now;
    st = outbox_put(txn, &intent, NULL, err);
    free(intent.params);
    return st;
}

static enum status mark_webhook(struct store_txn *txn, struct marking *m, utc_ms now,
                                struct err *err)
{
    struct webhook_row *webhook = NULL;
    const char *disable = m->disable;
    enum status st = ST_OK;

    if (!m->is_attempt)
        return ST_OK;
    webhook = malloc(sizeof *webhook);
    if (webhook == NULL)
        return err_set(err, ST_NOMEM, "a webhook");
    st = webhooks_get(store_txn_conn(txn), m->intent.webhook_id, webhook, err);
    if (st == ST_NOT_FOUND) { /* removed meanwhile */
        st = ST_OK;
        goto out;
    }
    if (st != ST_OK)
        goto out;
    if (m->mark == MARK_SENT) {
        TRY_OUT(webhooks_succeeded(txn, webhook->id, now, err));
        goto out;
    }
    TRY_OUT(webhooks_failed(txn, webhook->id, now, err));
    if (disable == NULL && webhook->failing_since_at != UTC_NONE &&
        now - webhook->failing_since_at >= WEBHOOK_GIVE_UP_MS)
        disable = "failing";
    if (disable != NULL) {
        TRY_OUT(webhooks_disable(txn, webhook->id, disable, now, &m->is_disabled, err));
        if (m->is_disabled)
            TRY_OUT(tell_owner(txn, webhook, "webhook_disabled", disable, now, now, err));
    } else if (m->is_last) {
        utc_ms since = webhook->failing_since_at != UTC_NONE ? webhook->failing_since_at : now;

        TRY_OUT(tell_owner(txn, webhook, "webhook_failing", "failing", since, now, err));
    }
out:
    free(webhook);
    return st;
}

/* What a refusal says of the address.  That a letter was taken says nothing: a relay takes all,
 * and reports later. */
static enum status mark_address(struct courier *c, struct store_txn *txn, struct marking *m,
                                utc_ms now, struct err *err)
{
    const struct intent_row *intent = &m->intent;
    struct notify *notify = c->options.notify;
    struct user_row user;

    if ((!m->is_hard && !m->is_soft) || intent->user_id == 0 || intent->address[0] != '\0')
        return ST_OK;
    TRY(users_get(store_txn_conn(txn), intent->user_id, &user, err));
    if (!str_case_eq(user.address, intent->envelope_to))
        return ST_OK; /* he has another address by now */
    TRY(users_bounce(txn, user.id, m->is_hard, BOUNCE_LIMIT, m->text, now, &m->is_suspended, err));
    if (m->is_suspended && !m->is_quiet)
        TRY(notify_on_suspended(txn, user.id, now, notify, err));
    return ST_OK;
}

/* What would be tried again only when nobody wants it any more is tried once more before that. */
static utc_ms next_try(const struct intent_row *intent, int64_t retry_ms, utc_ms now)
{
    utc_ms due_at = now + retry_ms, last = intent->expires_at - LAST_TRY_BEFORE_MS;

    return due_at > last && intent->expires_at - now >= LAST_TRY_MIN_MS ? last : due_at;
}

static enum status mark_one(struct courier *c, struct store_txn *txn, struct marking *m, utc_ms now,
                            struct err *err)
{
    const struct intent_row *intent = &m->intent;
    bool is_turn =
        intent->game_id != 0 && (intent->cls == NOTICE_TURN || intent->cls == NOTICE_START);

    m->is_suspended = m->is_disabled = m->is_expired = false;
    switch (m->mark) {
    case MARK_SENT:
        TRY(outbox_sent(txn, intent->id, intent->attempts, m->code, m->text, m->took_ms, now, err));
        if (is_turn && !m->is_quiet && c->options.on_handed_over != NULL)
            TRY(c->options.on_handed_over(txn, intent, now, c->options.on_handed_over_arg, err));
        break;
    case MARK_RETRY:
        TRY(outbox_retry(txn, intent->id, intent->attempts, m->code, m->text, m->took_ms,
                         next_try(intent, m->retry_ms, now), now, &m->is_expired, err));
        break;
    case MARK_FAILED:
        TRY(outbox_failed(txn, intent->id, intent->attempts, m->code, m->text, m->took_ms, now,
                          err));
        break;
    case MARK_SUPERSEDED:
        TRY(outbox_supersede_one(txn, intent->id, intent->attempts, m->text, now, err));
        if (!m->is_quiet)
            TRY(notify_instead(txn, intent, now, err));
        return ST_OK;
    case MARK_RELEASED:
        TRY(outbox_release(txn, intent->id, intent->attempts, now + m->retry_ms, err));
        return ST_OK;
    }
    if (intent->channel == CHANNEL_MAIL)
        TRY(mark_address(c, txn, m, now, err));
    else
        TRY(mark_webhook(txn, m, now, err));
    return ST_OK;
}

/* ---------------------------------------------------------------- keeping and leasing */

static enum status keep_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct keeping *k = arg;

    for (size_t i = 0; i < k->n_marks; i++)
        TRY(mark_one(k->courier, txn, &k->marks[i], now, err));
    while (k->n_letters < k->wanted) {
        struct intent_row intent = INTENT_ROW_INIT;
        enum status st = outbox_claim(txn, CHANNEL_MAIL, now, COURIER_LEASE_MS, &intent, err);

        if (st == ST_NOT_FOUND) /* rows that it marked expired on the way have to stay so */
            return ST_OK;
        if (st != ST_OK)
            return st;
        k->letters[k->n_letters++] = (struct letter){.intent = intent};
    }
    return ST_OK;
}

static void mark_told(struct courier *c, struct marking *m)
{
    bool mail = m->intent.channel == CHANNEL_MAIL;

    if (m->mark == MARK_RETRY && m->is_expired)
        m->mark = MARK_FAILED;
    if (m->mark == MARK_SENT)
        courier_count(c, mail ? &c->stats.mail_sent : &c->stats.webhook_sent);
    else if (m->mark == MARK_RETRY)
        courier_count(c, mail ? &c->stats.mail_retried : &c->stats.webhook_retried);
    else if (m->mark == MARK_FAILED)
        courier_count(c, mail ? &c->stats.mail_failed : &c->stats.webhook_failed);
    else if (m->mark == MARK_SUPERSEDED)
        courier_count(c, mail ? &c->stats.mail_superseded : &c->stats.webhook_superseded);
    if (m->is_suspended) {
        log_event(LOG_LEVEL_WARNING, "address_suspended user=%" PRId64, m->intent.user_id);
        for (size_t i = 0; i < c->n_queue; i++) /* no more to him */
            c->queue[i].is_checked =
                c->queue[i].is_checked && c->queue[i].intent.user_id != m->intent.user_id;
    }
    if (m->is_disabled)
        log_event(LOG_LEVEL_INFO, "webhook_disabled webhook=%" PRId64, m->intent.webhook_id);
}

/* The store is full, or busy: what was to be kept is still true later. */
static bool is_for_later(enum status st)
{
    return st == ST_IO || st == ST_BUSY || st == ST_NOMEM;
}

/* Answers to players' letters go first, also before what was leased earlier. */
static void queue_order(struct courier *c, size_t from)
{
    for (size_t i = from; i < c->n_queue; i++) {
        struct letter answer = c->queue[i];
        size_t k = i;

        if (answer.intent.cls != NOTICE_ANSWER)
            continue;
        for (; k > 0 && c->queue[k - 1].intent.cls != NOTICE_ANSWER; k--)
            c->queue[k] = c->queue[k - 1];
        c->queue[k] = answer;
    }
}

void marks_drop(struct marking *marks, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        intent_release(&marks[i].intent);
    *n = 0;
}

/* When all together could not be kept: each by itself, so that one holds up no other; and at last
 * without telling anybody else, so that no letter goes out again and again for that. */
static void keep_each(struct courier *c)
{
    for (size_t i = 0; i < c->keeping.n_marks; i++) {
        struct marking *m = &c->keeping.marks[i];
        struct keeping one = {.courier = c, .marks = m, .n_marks = 1};
        enum status st = courier_run(c, "notice_mark", keep_run, &one);

        if (st != ST_OK && !is_for_later(st)) {
            m->is_quiet = true;
            st = courier_run(c, "notice_mark", keep_run, &one);
        }
        if (st == ST_OK)
            mark_told(c, m);
    }
}

/* What could not be kept comes before what has been marked since; the leases mend what finds no
 * room. */
static void keep_later(struct courier *c)
{
    struct marking *kept = c->keeping.marks;
    size_t n = c->keeping.n_marks;

    for (size_t i = 0; i < c->n_marks; i++) {
        if (n < MARKS_MAX)
            kept[n++] = c->marks[i];
        else
            intent_release(&c->marks[i].intent);
    }
    c->keeping.marks = c->marks;
    c->keeping.n_marks = 0;
    c->marks = kept;
    c->n_marks = n;
}

/* On the writer's thread, or on ours without one. */
static void keep_done(void *arg, enum status st, const struct err *err)
{
    struct courier *c = ((struct keeping *)arg)->courier;
    char quoted[300];

    if (st != ST_OK) /* the lease mends it */
        log_event(LOG_LEVEL_WARNING, "courier command=notice_mark status=%s why=%s", status_str(st),
                  log_quote(err->text, quoted, sizeof quoted));
    pthread_mutex_lock(&c->lock); /* whoever sees it done may go on to courier_free() */
    c->keeping.st = st;
    c->keeping.is_done = true;
    (void)curl_multi_wakeup(c->multi);
    pthread_cond_broadcast(&c->is_kept);
    pthread_mutex_unlock(&c->lock);
}

static bool keep_is_done(struct courier *c)
{
    bool is_done;

    pthread_mutex_lock(&c->lock);
    is_done = c->keeping.is_done;
    pthread_mutex_unlock(&c->lock);
    return is_done;
}

void keep_begin(struct courier *c, size_t wanted)
{
    struct writer_command command = {.name = c->n_marks > 0 ? "notice_mark" : "notice_lease",
                                     .run = keep_run,
                                     .done = keep_done,
                                     .arg = &c->keeping};
    struct marking *marks = c->keeping.marks;
    struct err err = ERR_INIT;
    enum status st;

    assert(!c->is_keeping);
    c->is_keeping_due = c->is_hook_marked = false;
    if (c->n_marks == 0 && wanted == 0)
        return;
    c->keeping.marks = c->marks;
    c->keeping.n_marks = c->n_marks;
    c->keeping.wanted = wanted;
    c->keeping.n_letters = 0;
    c->keeping.is_done = false;
    c->marks = marks;
    c->n_marks = 0;
    c->is_keeping = true;
    st = c->has_thread ? writer_submit(c->options.writer, &command, &err)
                       : writer_run(c->options.writer, &command, &err);
    if (st != ST_OK && !keep_is_done(c)) /* it was not even queued */
        keep_done(&c->keeping, st, &err);
}

size_t keep_end(struct courier *c)
{
    struct keeping *k = &c->keeping;
    size_t done;

    if (!c->is_keeping || !keep_is_done(c))
        return 0;
    c->is_keeping = false;
    done = k->n_marks + k->n_letters;
    /* also when nothing can be leased of a store that is spoilt */
    c->rests = is_for_later(k->st) || (k->st != ST_OK && k->n_marks == 0) ? 2 : 0;
    if (k->st == ST_OK) {
        size_t before = c->n_queue;

        for (size_t i = 0; i < k->n_marks; i++)
            mark_told(c, &k->marks[i]);
        marks_drop(k->marks, &k->n_marks);
        assert(before + k->n_letters <= QUEUE_MAX);
        for (size_t i = 0; i < k->n_letters; i++)
            c->queue[c->n_queue++] = k->letters[i];
        if (k->n_letters > 0) {
            c->queued_at = courier_now(c);
            queue_order(c, before);
        }
        return done;
    }
    for (size_t i = 0; i < k->n_letters; i++) /* undone, all of it */
        intent_release(&k->letters[i].intent);
    if (c->rests > 0) {
        keep_later(c);
        return 0;
    }
    keep_each(c);
    marks_drop(k->marks, &k->n_marks);
    return done;
}

size_t keep_wait(struct courier *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->is_keeping && !c->keeping.is_done)
        (void)pthread_cond_wait(&c->is_kept, &c->lock);
    pthread_mutex_unlock(&c->lock);
    return keep_end(c);
}

size_t keep_now(struct courier *c)
{
    size_t n = keep_wait(c);

    keep_begin(c, 0);
    return n + keep_wait(c);
}

void mark_put(struct courier *c, struct intent_row *take_intent, struct marking *m)
{
    m->intent = *take_intent;
    *take_intent = INTENT_ROW_INIT;
    if (c->n_marks == MARKS_MAX)
        (void)keep_now(c);
    if (c->n_marks == MARKS_MAX) /* the store takes nothing: the leases will mend it */
        marks_drop(c->marks, &c->n_marks);
    c->marks[c->n_marks++] = *m;
    c->is_hook_marked = c->is_hook_marked || m->intent.channel == CHANNEL_WEBHOOK;
}

void mark_slot(struct courier *c, struct slot *s, struct marking *m)
{
    m->took_ms = courier_now(c) - s->began_at;
    mark_put(c, &s->intent, m);
    slot_release(s);
}

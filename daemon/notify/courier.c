/* notify/courier.c - see courier.h. */
#include "notify/courier.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <curl/curl.h>
#include <jansson.h>

#include "base/log.h"
#include "base/str.h"
#include "base/thread.h"
#include "notify/hold.h"
#include "notify/internal.h"

enum {
    QUEUE_MAX = 4 * COURIER_MAIL, /* letters leased and waiting for a connection */
    COMPOSED_AT_ONCE = 8,         /* letters; connections stand still meanwhile */
    MARKS_MAX = QUEUE_MAX + COURIER_MAIL + COURIER_WEBHOOKS,
    MARKS_WORTH = QUEUE_MAX / 2,  /* of which a commit is made while there is more to send */
    BOUNCE_LIMIT = 3,         /* soft failures on as many days suspend an address */
    MAYBE_TRIES = 3,          /* a 5yz without an enhanced code is final the third time */
    POLL_MS = 1000,
    RETRY_AFTER_SIZE = 80
};
_Static_assert((int)WEBHOOKS_FAILING < (int)COURIER_WEBHOOKS, "room for endpoints that answer");
#define COMPOSE_RETRY_MS (5 * MS_MINUTE)      /* after a composing that failed on our side */
#define LONGEST_WAIT_MS (30 * MS_HOUR)        /* nothing is put off for longer: 24 h and a fifth */
#define SET_BACK_MS MS_MINUTE                 /* a clock behind by as much has been set back */
#define LAST_TRY_BEFORE_MS MS_MINUTE          /* before it expires: the last try, */
#define LAST_TRY_MIN_MS MS_HOUR               /* if it is as far away or farther */
#define UNDELIVERABLE_RETRY_MS (6 * MS_HOUR)  /* there was no address, or it is suspended */

/* One intent under way. */
struct slot {
    bool is_used;
    struct intent_row intent;
    utc_ms began_at;
    /* mail */
    struct mail_sending *sending; /* stays for the next letter */
    /* webhook */
    CURL *easy;
    struct curl_slist *headers;
    struct webhook_row *webhook;
    const struct net_list *allow;
    size_t received;
    bool is_denied; /* an address was refused */
    bool is_opened; /* … and another was not */
    int64_t resolve_ms; /* so long may its name be looked up */
    bool is_unresolved; /* that took longer */
    char retry_after[RETRY_AFTER_SIZE];
    char complaint[CURL_ERROR_SIZE];
};

/* A letter that waits for its bytes or for a connection. */
struct letter {
    struct intent_row intent;
    bool is_checked; /* it was composed just now, so it made sense then */
};

/* What has become of an intent. */
enum mark { MARK_SENT, MARK_RETRY, MARK_FAILED, MARK_SUPERSEDED, MARK_RELEASED };

struct marking {
    struct intent_row intent;
    enum mark mark;
    int code;
    char text[REPLY_TEXT_SIZE];
    int64_t took_ms;
    int64_t retry_ms;      /* MARK_RETRY, MARK_RELEASED: from now */
    bool is_hard, is_soft; /* mail: speaks against the address */
    const char *disable;   /* webhook: why it is to be switched off, or NULL */
    bool is_attempt;       /* webhook: counts for its owner's failures */
    bool is_last;          /* webhook: no attempt is left */
    bool is_quiet;         /* nobody else is told: they have failed once */
    bool is_suspended, is_disabled, is_expired; /* results */
};

/* One commit: what has become of some, and the next ones. */
struct keeping {
    struct courier *courier;
    struct marking *marks; /* MARKS_MAX */
    size_t n_marks;
    size_t wanted;          /* letters to be leased */
    struct letter *letters; /* QUEUE_MAX */
    size_t n_letters;
    enum status st; /* how it went */
    bool is_done;   /* … is known; under the courier's lock */
};

struct courier {
    struct courier_options options;
    struct mail_smtp smtp;
    struct store_reader *reader;
    CURLM *multi;
    struct curl_slist *resolve;
    struct slot mail[COURIER_MAIL];
    struct slot hooks[COURIER_WEBHOOKS];
    struct letter *queue; /* QUEUE_MAX: leased, in order */
    size_t n_queue;
    utc_ms queued_at; /* when the last of them were looked at */
    struct marking *marks; /* MARKS_MAX: not in the store yet */
    size_t n_marks;
    struct keeping keeping; /* what the writer is about, or was */
    bool is_keeping;        /* … is; letters go on meanwhile */
    bool has_not_kept;      /* the store took nothing just now: not at once again */
    utc_ms seen_at;      /* the latest that the clock has shown */
    utc_ms hurried_at;   /* when it was behind that, and what waited was made due; UTC_NONE */
    bool is_keeping_due; /* one of them changes what becomes of the rest of the queue */
    struct holds holds;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_stopping;
    _Atomic int64_t drain_ms;
    pthread_mutex_t lock; /* of what follows */
    struct courier_stats stats;
    pthread_cond_t is_settled, is_kept;
    uint64_t settle_asked, settle_answered; /* how often; see courier_settle() */
};

static utc_ms now_of(const struct courier *c)
{
    return c->options.time.now(c->options.time.arg);
}

static uint32_t random_of(const struct courier *c)
{
    uint32_t random;

    c->options.entropy.fill(c->options.entropy.arg, &random, sizeof random);
    return random;
}

static void count(struct courier *c, uint64_t *counter)
{
    pthread_mutex_lock(&c->lock);
    (*counter)++;
    pthread_mutex_unlock(&c->lock);
}

/* Run one command of the writer; what fails is told in the diary, since the lease mends it. */
static enum status run(struct courier *c, const char *name,
                       enum status (*fn)(struct store_txn *, utc_ms, void *, struct err *),
                       void *arg)
{
    struct err err = ERR_INIT;
    enum status st = writer_run(c->options.writer,
                                &(struct writer_command){.name = name, .run = fn, .arg = arg},
                                &err);

    if (st != ST_OK) {
        char quoted[300];

        log_event(LOG_LEVEL_WARNING, "courier command=%s status=%s why=%s", name, status_str(st),
                  log_quote(err.text, quoted, sizeof quoted));
    }
    return st;
}

/* ---------------------------------------------------------------- slots */

/* Its intent has gone on; the handle for letters stays. */
static void slot_release(struct slot *s)
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

static struct slot *slot_free(struct slot *slots, int n)
{
    for (int i = 0; i < n; i++)
        if (!slots[i].is_used)
            return &slots[i];
    return NULL;
}

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
    params = json_pack("{s:I, s:s, s:s}", "webhook", (json_int_t)webhook->id, "host", host,
                       "cause", cause);
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
        utc_ms since =
            webhook->failing_since_at != UTC_NONE ? webhook->failing_since_at : now;

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

static enum status mark_one(struct courier *c, struct store_txn *txn, struct marking *m,
                            utc_ms now, struct err *err)
{
    const struct intent_row *intent = &m->intent;
    bool is_turn = intent->game_id != 0 &&
                   (intent->cls == NOTICE_TURN || intent->cls == NOTICE_START);

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
        count(c, mail ? &c->stats.mail_sent : &c->stats.webhook_sent);
    else if (m->mark == MARK_RETRY)
        count(c, mail ? &c->stats.mail_retried : &c->stats.webhook_retried);
    else if (m->mark == MARK_FAILED)
        count(c, mail ? &c->stats.mail_failed : &c->stats.webhook_failed);
    else if (m->mark == MARK_SUPERSEDED)
        count(c, mail ? &c->stats.mail_superseded : &c->stats.webhook_superseded);
    if (m->is_suspended) {
        log_event(LOG_LEVEL_WARNING, "address_suspended user=%" PRId64, m->intent.user_id);
        for (size_t i = 0; i < c->n_queue; i++) /* no more to him */
            c->queue[i].is_checked = c->queue[i].is_checked &&
                                     c->queue[i].intent.user_id != m->intent.user_id;
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

static void marks_drop(struct marking *marks, size_t *n)
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
        enum status st = run(c, "notice_mark", keep_run, &one);

        if (st != ST_OK && !is_for_later(st)) {
            m->is_quiet = true;
            st = run(c, "notice_mark", keep_run, &one);
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
    struct courier *c = arg;
    char quoted[300];

    if (st != ST_OK) /* the lease mends it */
        log_event(LOG_LEVEL_WARNING, "courier command=notice_mark status=%s why=%s",
                  status_str(st), log_quote(err->text, quoted, sizeof quoted));
    pthread_mutex_lock(&c->lock); /* whoever sees it done may go on to courier_free() */
    c->keeping.st = st;
    c->keeping.is_done = true;
    (void)curl_multi_wakeup(c->multi);
    pthread_cond_broadcast(&c->is_kept);
    pthread_mutex_unlock(&c->lock);
}

static enum status keep_begun(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct courier *c = arg;

    return keep_run(txn, now, &c->keeping, err);
}

static bool keep_is_done(struct courier *c)
{
    bool is_done;

    pthread_mutex_lock(&c->lock);
    is_done = c->keeping.is_done;
    pthread_mutex_unlock(&c->lock);
    return is_done;
}

/* Have the writer keep what is marked, and lease up to `wanted` letters; letters are sent on
 * meanwhile.  Without a thread of ours it is done on return. */
static void keep_begin(struct courier *c, size_t wanted)
{
    struct writer_command command = {.name = c->n_marks > 0 ? "notice_mark" : "notice_lease",
                                     .run = keep_begun,
                                     .done = keep_done,
                                     .arg = c};
    struct marking *marks = c->keeping.marks;
    struct err err = ERR_INIT;
    enum status st;

    assert(!c->is_keeping);
    c->is_keeping_due = false;
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
        keep_done(c, st, &err);
}

/* Take what the writer has done, if it has; how many letters were leased. */
static size_t keep_end(struct courier *c)
{
    struct keeping *k = &c->keeping;

    if (!c->is_keeping || !keep_is_done(c))
        return 0;
    c->is_keeping = false;
    c->has_not_kept = is_for_later(k->st);
    if (k->st == ST_OK) {
        size_t before = c->n_queue;

        for (size_t i = 0; i < k->n_marks; i++)
            mark_told(c, &k->marks[i]);
        marks_drop(k->marks, &k->n_marks);
        assert(before + k->n_letters <= QUEUE_MAX);
        for (size_t i = 0; i < k->n_letters; i++)
            c->queue[c->n_queue++] = k->letters[i];
        if (k->n_letters > 0) {
            c->queued_at = now_of(c);
            queue_order(c, before);
        }
        return k->n_letters;
    }
    for (size_t i = 0; i < k->n_letters; i++) /* undone, all of it */
        intent_release(&k->letters[i].intent);
    if (c->has_not_kept) {
        keep_later(c);
        return 0;
    }
    keep_each(c);
    marks_drop(k->marks, &k->n_marks);
    return 0;
}

/* The same when the writer is done. */
static size_t keep_wait(struct courier *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->is_keeping && !c->keeping.is_done)
        (void)pthread_cond_wait(&c->is_kept, &c->lock);
    pthread_mutex_unlock(&c->lock);
    return keep_end(c);
}

/* Have all that is marked kept before anything else; how many letters were leased before. */
static size_t keep_now(struct courier *c)
{
    size_t n = keep_wait(c);

    keep_begin(c, 0);
    return n + keep_wait(c);
}

/* Note what has become of an intent, which is taken. */
static void mark_put(struct courier *c, struct intent_row *take_intent, struct marking *m)
{
    m->intent = *take_intent;
    *take_intent = INTENT_ROW_INIT;
    if (c->n_marks == MARKS_MAX)
        (void)keep_now(c);
    if (c->n_marks == MARKS_MAX) /* the store takes nothing: the leases will mend it */
        marks_drop(c->marks, &c->n_marks);
    c->marks[c->n_marks++] = *m;
}

/* The same for what is in a slot, which is free then. */
static void settle(struct courier *c, struct slot *s, struct marking *m)
{
    m->took_ms = now_of(c) - s->began_at;
    mark_put(c, &s->intent, m);
    slot_release(s);
}

/* ---------------------------------------------------------------- composing */

/* What has to be said of an intent that will not be sent now. */
static void fate_mark(struct courier *c, struct intent_row *take_intent, enum notice_fate fate,
                      const char *why)
{
    struct marking m = {.mark = fate == NOTICE_SUPERSEDED ? MARK_SUPERSEDED : MARK_RELEASED,
                        .retry_ms = UNDELIVERABLE_RETRY_MS};

    (void)str_copy(m.text, sizeof m.text, why);
    mark_put(c, take_intent, &m);
}

/* What to do with an intent that could not be composed or begun. */
static void give_up(struct courier *c, struct intent_row *take_intent, enum status st,
                    const struct err *err)
{
    struct marking m = {.mark = MARK_RELEASED, .retry_ms = COMPOSE_RETRY_MS};
    char quoted[300];

    (void)str_copy(m.text, sizeof m.text, err->text);
    if (st == ST_GONE || st == ST_NOT_FOUND)
        m.mark = MARK_SUPERSEDED;
    else if (st == ST_INVALID || st == ST_TOO_LARGE || st == ST_INTERNAL || st == ST_CORRUPT)
        m.mark = MARK_FAILED;
    log_event(LOG_LEVEL_WARNING, "notice_not_composed id=%" PRId64 " template=%s status=%s why=%s",
              take_intent->id, take_intent->template_name, status_str(st),
              log_quote(err->text, quoted, sizeof quoted));
    mark_put(c, take_intent, &m);
}

struct composed {
    struct intent_row *intent; /* in the queue, or in a slot */
    struct notice notice;
    enum notice_fate fate;
    enum status st;
    struct err err;
};

struct composing {
    struct courier *courier;
    struct composed *at;
    size_t n;
    bool is_secret; /* of the one: its bytes are composed in here */
};

static enum status compose_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct composing *c = arg;

    for (size_t i = 0; i < c->n; i++) {
        const struct intent_row *intent = c->at[i].intent;
        struct notice *notice = &c->at[i].notice;

        if (c->is_secret)
            TRY(notify_compose_secret(c->courier->options.notify, txn, intent, now,
                                      &c->at[i].fate, notice, err));
        if (c->at[i].fate != NOTICE_SEND)
            continue;
        TRY(outbox_compose(txn, intent->id, intent->attempts,
                           &(struct outbox_letter){.bytes = notice->bytes.data,
                                                   .len = notice->bytes.len,
                                                   .content_type = notice->content_type,
                                                   .envelope_from = notice->envelope_from,
                                                   .envelope_to = notice->envelope_to,
                                                   .message_id = notice->message_id,
                                                   .has_token = notice->has_token},
                           err));
        if (notice->has_reply_token) /* neither is there without the other */
            TRY(tokens_put(txn, &notice->reply_token, NULL, err));
    }
    return ST_OK;
}

/* Move the composed bytes into the intent itself, as a later claim would give them. */
static enum status adopt(struct intent_row *intent, struct notice *notice, struct err *err)
{
    size_t n = 0;
    char *bytes = buf_take(&notice->bytes, &n);

    if (bytes == NULL)
        return err_set(err, ST_NOMEM, "a notice");
    intent->bytes = (unsigned char *)bytes;
    intent->bytes_len = n;
    (void)str_copy(intent->content_type, sizeof intent->content_type, notice->content_type);
    (void)str_copy(intent->envelope_from, sizeof intent->envelope_from, notice->envelope_from);
    (void)str_copy(intent->envelope_to, sizeof intent->envelope_to, notice->envelope_to);
    (void)str_copy(intent->message_id, sizeof intent->message_id, notice->message_id);
    intent->has_token = notice->has_token;
    return ST_OK;
}

/* Compose one outside any transaction, unless it holds a secret. */
static void compose_one(struct courier *c, struct composed *one)
{
    one->fate = NOTICE_SEND;
    one->err = ERR_INIT;
    one->notice = (struct notice){.bytes = buf_make(BYTES_MAX), .content_type = "", .why = ""};
    one->st = ST_OK;
    if (notify_needs_secret(one->intent))
        return;
    one->st = store_read_begin(c->reader, &one->err);
    if (one->st != ST_OK)
        return;
    one->st = notify_compose(c->options.notify, store_reader_conn(c->reader), one->intent,
                             now_of(c), &one->fate, &one->notice, &one->err);
    store_read_end(c->reader);
}

static enum status compose_keep(struct courier *c, struct composed *at, size_t n, bool is_secret,
                                struct err *err)
{
    struct composing composing = {.courier = c, .at = at, .n = n, .is_secret = is_secret};

    return n == 0 ? ST_OK
                  : writer_run(c->options.writer,
                               &(struct writer_command){
                                   .name = "notice_compose", .run = compose_run, .arg = &composing},
                               err);
}

/* Compose some intents and have the store keep their bytes, those without a secret by one commit.
 * Afterwards each has its bytes, or has been marked and taken (its id is 0). */
static void compose(struct courier *c, struct intent_row *const *intents, size_t n)
{
    struct composed at[COMPOSED_AT_ONCE], plain[COMPOSED_AT_ONCE];
    size_t n_plain = 0;
    struct err err = ERR_INIT;
    enum status st;

    assert(n <= COMPOSED_AT_ONCE);
    for (size_t i = 0; i < n; i++) {
        at[i].intent = intents[i];
        compose_one(c, &at[i]);
        if (at[i].st == ST_OK && at[i].fate == NOTICE_SEND && !notify_needs_secret(intents[i]))
            plain[n_plain++] = at[i]; /* a shallow copy, to be read only */
    }
    st = compose_keep(c, plain, n_plain, false, &err);
    for (size_t i = 0; i < n; i++) {
        struct composed *one = &at[i];
        bool is_secret = notify_needs_secret(one->intent);

        if (one->st == ST_OK && is_secret)
            one->st = compose_keep(c, one, 1, true, &one->err);
        else if (one->st == ST_OK && one->fate == NOTICE_SEND && st != ST_OK)
            one->st = compose_keep(c, one, 1, false, &one->err); /* one of them spoiled it */
        if (one->st == ST_OK && one->fate == NOTICE_SEND)
            one->st = adopt(one->intent, &one->notice, &one->err);
        if (one->st != ST_OK)
            give_up(c, one->intent, one->st, &one->err);
        else if (one->fate != NOTICE_SEND)
            fate_mark(c, one->intent, one->fate, one->notice.why);
        notice_release(&one->notice);
    }
}

/* ---------------------------------------------------------------- mail */

/* A refusal by policy: nobody's address is to blame, and the next letter would fare the same. */
static void refused_by_policy(struct courier *c, const struct intent_row *intent,
                              const struct mail_result *r, struct marking *m)
{
    utc_ms now = now_of(c), until;
    struct hold hold;
    char quoted[300];

    m->mark = MARK_RETRY;
    if (holds_refused(&c->holds, intent->cls, intent->envelope_to, now, &hold))
        log_event(LOG_LEVEL_WARNING,
                  "mail_class_held class=%s domain=%s minutes=%" PRId64
                  " code=%d enhanced=%s reply=%s",
                  notice_class_str(intent->cls), hold.domain[0] != '\0' ? hold.domain : "all",
                  hold.ms / MS_MINUTE, r->code, r->enhanced,
                  log_quote(r->text, quoted, sizeof quoted));
    until = holds_until(&c->holds, intent->cls, intent->envelope_to, now);
    m->retry_ms = until != UTC_NONE && until > now ? until - now : HOLD_FIRST_MS;
}

static void mail_finish(struct courier *c, struct slot *s, const struct mail_result *r)
{
    const struct intent_row *intent = &s->intent;
    struct marking m = {.code = r->code};

    (void)str_copy(m.text, sizeof m.text, r->text);
    if (r->blame == MAIL_BLAME_POLICY) {
        char quoted[300];

        count(c, &c->stats.mail_policy);
        log_event(LOG_LEVEL_WARNING, "mail_refused_by_policy code=%d enhanced=%s reply=%s", r->code,
                  r->enhanced, log_quote(r->text, quoted, sizeof quoted));
    }
    if (r->outcome == MAIL_REFUSED && r->blame == MAIL_BLAME_POLICY) {
        refused_by_policy(c, intent, r, &m);
        settle(c, s, &m);
        return;
    }
    if (r->outcome == MAIL_SENT)
        holds_passed(&c->holds, intent->cls, intent->envelope_to);
    else
        holds_left(&c->holds, intent->cls, intent->envelope_to);
    if (r->outcome == MAIL_SENT) {
        m.mark = MARK_SENT;
    } else if (r->outcome == MAIL_LATER ||
               (r->blame == MAIL_BLAME_MAYBE && intent->attempts < MAYBE_TRIES)) {
        m.mark = MARK_RETRY;
        m.retry_ms = mail_retry_ms(intent->attempts, random_of(c));
    } else {
        m.mark = MARK_FAILED;
        m.is_hard = r->blame == MAIL_BLAME_ADDRESS;
        m.is_soft = r->blame == MAIL_BLAME_MAYBE || r->blame == MAIL_BLAME_NONE;
        c->is_keeping_due = true;
    }
    settle(c, s, &m);
}

/* "7k2m4xqz.14.9@club.example" → the name of its file. */
static void mail_drop(struct courier *c, struct slot *s)
{
    struct mail_result r = {.outcome = MAIL_SENT};
    struct err err = ERR_INIT;
    char name[200];

    (void)str_copy(name, sizeof name, s->intent.message_id);
    name[strcspn(name, "@")] = '\0';
    if (mail_directory_drop(c->options.mail_directory, name, s->intent.bytes,
                            s->intent.bytes_len, &err) != ST_OK) {
        r.outcome = MAIL_LATER;
        (void)str_copy(r.text, sizeof r.text, err.text);
    }
    mail_finish(c, s, &r);
}

static enum status mail_send(struct courier *c, struct slot *s, struct err *err)
{
    struct mail_envelope envelope = {s->intent.envelope_from, s->intent.envelope_to};
    enum status st =
        s->sending != NULL
            ? mail_sending_next(s->sending, &envelope, s->intent.bytes, s->intent.bytes_len, err)
            : mail_sending_new(&c->smtp, &envelope, s->intent.bytes, s->intent.bytes_len,
                               &s->sending, err);

    if (st == ST_OK &&
        (curl_easy_setopt(mail_sending_handle(s->sending), CURLOPT_PRIVATE, s) != CURLE_OK ||
         curl_multi_add_handle(c->multi, mail_sending_handle(s->sending)) != CURLM_OK))
        st = err_set(err, ST_NOMEM, "a letter");
    if (st == ST_NOMEM) {
        mail_sending_free(s->sending);
        s->sending = NULL;
    }
    return st;
}

/* Whether the letter is to go now; else it has been marked and taken. */
static bool mail_is_due(struct courier *c, struct letter *letter)
{
    struct intent_row *intent = &letter->intent;
    utc_ms now = now_of(c), until;
    enum notice_fate fate = NOTICE_SEND;
    const char *why = "";
    struct err err = ERR_INIT;
    enum status st = ST_OK;

    if (!letter->is_checked || now - c->queued_at > MS_SECOND)
        st = notify_check(c->options.notify, store_reader_conn(c->reader), intent, now, &fate,
                          &why, &err);
    if (st != ST_OK) {
        give_up(c, intent, st, &err);
        return false;
    }
    if (fate != NOTICE_SEND) {
        fate_mark(c, intent, fate, why);
        return false;
    }
    until = holds_until(&c->holds, intent->cls, intent->envelope_to, now);
    if (until != UTC_NONE) {
        struct marking m = {.mark = MARK_RELEASED, .retry_ms = until - now};

        (void)str_copy(m.text, sizeof m.text, "letters of this class are held back");
        count(c, &c->stats.mail_held);
        mark_put(c, intent, &m);
        return false;
    }
    return true;
}

/* Begin what is first in the queue, in a free slot. */
static void mail_begin(struct courier *c, struct letter *take_letter)
{
    struct slot *s = slot_free(c->mail, COURIER_MAIL);
    struct err err = ERR_INIT;
    enum status st;

    if (!mail_is_due(c, take_letter))
        return;
    s->is_used = true;
    s->began_at = now_of(c);
    s->intent = take_letter->intent;
    take_letter->intent = INTENT_ROW_INIT;
    if (c->options.mail_directory != NULL) {
        mail_drop(c, s);
        return;
    }
    st = mail_send(c, s, &err);
    if (st != ST_OK) {
        holds_left(&c->holds, s->intent.cls, s->intent.envelope_to);
        give_up(c, &s->intent, st, &err);
        slot_release(s);
    }
}

/* Those of the queue that are taken leave it; the order stays. */
static void queue_close_up(struct courier *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_queue; i++)
        if (c->queue[i].intent.id != 0)
            c->queue[n++] = c->queue[i];
    c->n_queue = n;
}

static void queue_give_back(struct courier *c)
{
    for (size_t i = 0; i < c->n_queue; i++) {
        struct marking m = {.mark = MARK_RELEASED};

        mark_put(c, &c->queue[i].intent, &m);
    }
    c->n_queue = 0;
}

/* Compose the next ones that have no bytes yet. */
static size_t mail_compose_next(struct courier *c)
{
    struct intent_row *fresh[COMPOSED_AT_ONCE];
    size_t n = 0;

    for (size_t i = 0; i < c->n_queue && n < COMPOSED_AT_ONCE; i++)
        if (c->queue[i].intent.bytes == NULL) {
            fresh[n++] = &c->queue[i].intent;
            c->queue[i].is_checked = true;
        }
    if (n == 0)
        return 0;
    compose(c, fresh, n);
    queue_close_up(c);
    return n;
}

/* Whether anything of a channel is due. */
static bool is_due(struct courier *c, enum notice_channel channel)
{
    struct err err = ERR_INIT;
    utc_ms next = UTC_NONE;

    return outbox_next(store_reader_conn(c->reader), channel, &next, &err) == ST_OK &&
           next != UTC_NONE && next <= now_of(c);
}

/* Have the writer keep what is marked and lease what is due, once that is worth a commit. */
static size_t mail_keep(struct courier *c, bool takes_new)
{
    size_t room, wanted = 0, done = keep_end(c);

    if (c->is_keeping_due) /* the next letter may hang on it */
        done += keep_now(c);
    if (c->is_keeping || c->has_not_kept)
        return done;
    room = QUEUE_MAX - c->n_queue;
    if (takes_new && room >= QUEUE_MAX / 2 && is_due(c, CHANNEL_MAIL))
        wanted = room;
    if (wanted > 0 || c->n_queue == 0 || c->n_marks >= MARKS_WORTH)
        keep_begin(c, wanted);
    return done + keep_end(c);
}

/* Lease, compose and begin letters; how many steps on the way were made. */
static int mail_step(struct courier *c, bool takes_new)
{
    size_t done;

    done = mail_keep(c, takes_new);
    if (!takes_new)
        queue_give_back(c);
    done += mail_compose_next(c);
    for (size_t i = 0; i < c->n_queue && slot_free(c->mail, COURIER_MAIL) != NULL; i++)
        if (c->queue[i].intent.bytes != NULL) {
            mail_begin(c, &c->queue[i]);
            done++;
        }
    queue_close_up(c);
    return (int)done;
}

/* ---------------------------------------------------------------- webhooks */

static size_t on_answer(char *bytes, size_t one, size_t n, void *arg)
{
    struct slot *s = arg;

    (void)bytes;
    s->received += one * n;
    return s->received > COURIER_RESPONSE_MAX ? 0 : one * n; /* 0 ends the transfer */
}

static size_t on_header(char *line, size_t one, size_t n, void *arg)
{
    static const char name[] = "retry-after:";
    struct slot *s = arg;
    size_t length = one * n, used = sizeof name - 1;
    char head[sizeof name];

    if (length > used) {
        memcpy(head, line, used);
        head[used] = '\0';
        if (str_case_eq(head, name)) {
            size_t keep = length - used;

            while (keep > 0 && (unsigned char)line[used + keep - 1] <= ' ')
                keep--;
            if (keep < sizeof s->retry_after) {
                memcpy(s->retry_after, line + used, keep);
                s->retry_after[keep] = '\0';
            }
        }
    }
    return length;
}

/* The last gate: what a name has resolved to. */
static curl_socket_t on_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct slot *s = arg;

    (void)purpose;
    if (address_denied(s->allow, &address->addr) != NULL) {
        s->is_denied = true;
        return CURL_SOCKET_BAD;
    }
    s->is_opened = true;
    return socket(address->family, address->socktype, address->protocol);
}

/* A5: a name that is looked up for too long is given up, so that it keeps no others waiting. */
static int on_progress(void *arg, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                       curl_off_t up)
{
    struct slot *s = arg;
    curl_off_t spent_us = 0;

    (void)down_total;
    (void)down;
    (void)up_total;
    (void)up;
    if (s->is_opened || s->is_denied ||
        curl_easy_getinfo(s->easy, CURLINFO_TOTAL_TIME_T, &spent_us) != CURLE_OK ||
        spent_us <= s->resolve_ms * 1000)
        return 0;
    s->is_unresolved = true;
    return 1;
}

/* ntfy takes JSON at its root; the topic is in the body. */
static void target_of(const struct webhook_row *webhook, char *ret, size_t size)
{
    char *path;

    (void)str_copy(ret, size, webhook->url);
    if (webhook->kind != WEBHOOK_NTFY)
        return;
    path = strrchr(ret, '/');
    if (path != NULL && path > strstr(ret, "://") + 2)
        path[1] = '\0';
}

static bool header_add(struct slot *s, const char *name, const char *value)
{
    char line[WEBHOOK_AUTH_SIZE + 64];
    struct curl_slist *more;
    int n = snprintf(line, sizeof line, "%s: %s", name, value);

    for (const char *p = line; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return false;
    if (n < 0 || (size_t)n >= sizeof line)
        return false;
    more = curl_slist_append(s->headers, line);
    if (more == NULL)
        return false;
    s->headers = more;
    return true;
}

static bool hook_headers(struct slot *s, utc_ms now)
{
    const struct webhook_row *w = s->webhook;
    char signature[WEBHOOK_SIGNATURE_SIZE], seconds[32], bearer[WEBHOOK_AUTH_SIZE + 16];
    int64_t timestamp = now / MS_SECOND;
    struct webhook_key key = {w->secret, w->secret_len}, old = {NULL, 0};

    if (w->old_secret_len > 0 && w->old_secret_until != UTC_NONE && now < w->old_secret_until)
        old = (struct webhook_key){w->old_secret, w->old_secret_len};
    if (!header_add(s, "Content-Type", s->intent.content_type) ||
        !header_add(s, "Expect", ""))
        return false;
    if (w->kind == WEBHOOK_STANDARD) {
        webhook_sign(key, old, s->intent.message_id, timestamp, s->intent.bytes,
                     s->intent.bytes_len, signature);
        (void)snprintf(seconds, sizeof seconds, "%" PRId64, timestamp);
        return header_add(s, "webhook-id", s->intent.message_id) &&
               header_add(s, "webhook-timestamp", seconds) &&
               header_add(s, "webhook-signature", signature);
    }
    if (w->auth[0] != '\0') {
        (void)snprintf(bearer, sizeof bearer, "Bearer %s", w->auth);
        return header_add(s, "Authorization", bearer);
    }
    return true;
}

#define SET(option, value)                                                                         \
    do {                                                                                           \
        if (curl_easy_setopt(s->easy, option, value) != CURLE_OK)                                  \
            return false;                                                                          \
    } while (0)

static bool hook_options(struct courier *c, struct slot *s, const char *url)
{
    long timeout = c->options.webhook_timeout_ms ? (long)c->options.webhook_timeout_ms : 20000L;

    SET(CURLOPT_URL, url);
    SET(CURLOPT_ERRORBUFFER, s->complaint);
    SET(CURLOPT_PRIVATE, s);
    /* http only leads anywhere within the allow-list: webhook_url_check() has seen to it */
    SET(CURLOPT_PROTOCOLS_STR, str_starts(url, "http://") ? "http" : "https");
    SET(CURLOPT_REDIR_PROTOCOLS_STR, "https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_XFERINFOFUNCTION, on_progress);
    SET(CURLOPT_XFERINFODATA, s);
    SET(CURLOPT_NOPROGRESS, 0L);
    SET(CURLOPT_QUICK_EXIT, 1L); /* else who gives up waits for the look-up to end all the same */
    SET(CURLOPT_CONNECTTIMEOUT_MS, timeout < 10000L ? timeout : 10000L);
    SET(CURLOPT_TIMEOUT_MS, timeout);
    SET(CURLOPT_LOW_SPEED_LIMIT, 10L);
    SET(CURLOPT_LOW_SPEED_TIME, 10L);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_DNS_CACHE_TIMEOUT, 60L);
    SET(CURLOPT_USERAGENT, "Fourhanded/" FH_VERSION);
    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)s->intent.bytes_len);
    SET(CURLOPT_POSTFIELDS, (const char *)s->intent.bytes);
    SET(CURLOPT_HTTPHEADER, s->headers);
    SET(CURLOPT_WRITEFUNCTION, on_answer);
    SET(CURLOPT_WRITEDATA, s);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, s);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_OPENSOCKETDATA, s);
    /* no connection is shared: each passes the gate for itself */
    SET(CURLOPT_FRESH_CONNECT, 1L);
    SET(CURLOPT_FORBID_REUSE, 1L);
    if (c->options.webhook_ca_file != NULL)
        SET(CURLOPT_CAINFO, c->options.webhook_ca_file);
    if (c->resolve != NULL)
        SET(CURLOPT_RESOLVE, c->resolve);
    return true;
}

static enum status hook_send(struct courier *c, struct slot *s, struct err *err)
{
    char url[WEBHOOK_URL_SIZE];
    struct buf normal = buf_make(2 * WEBHOOK_URL_SIZE);
    enum status st;

    s->allow = &c->options.notify->allow;
    s->resolve_ms = c->options.webhook_resolve_ms ? c->options.webhook_resolve_ms
                                                  : WEBHOOK_RESOLVE_MS;
    s->webhook = malloc(sizeof *s->webhook);
    if (s->webhook == NULL) {
        st = err_set(err, ST_NOMEM, "a webhook");
        goto out;
    }
    TRY_OUT(webhooks_get(store_reader_conn(c->reader), s->intent.webhook_id, s->webhook, err));
    st = webhook_url_check(s->allow, s->webhook->url, &normal, err);
    if (st != ST_OK) { /* the operator's list has changed since it was registered */
        struct marking m = {.mark = MARK_FAILED, .disable = "blocked", .is_attempt = true};

        (void)str_copy(m.text, sizeof m.text, "refused");
        settle(c, s, &m);
        st = ST_OK;
        goto out;
    }
    target_of(s->webhook, url, sizeof url);
    s->easy = curl_easy_init();
    if (s->easy == NULL || !hook_headers(s, now_of(c)) || !hook_options(c, s, url) ||
        curl_multi_add_handle(c->multi, s->easy) != CURLM_OK)
        st = err_set(err, ST_NOMEM, "a webhook");
out:
    buf_release(&normal);
    return st;
}

static void hook_finish(struct courier *c, struct slot *s, CURLcode result)
{
    struct marking m = {.is_attempt = true};
    long code = 0;
    int64_t wait = -1, after;
    bool is_success;

    (void)curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &code);
    m.code = (int)code;
    /* an answer longer than we read is an answer all the same */
    is_success = code >= 200 && code < 300 &&
                 (result == CURLE_OK ||
                  (result == CURLE_WRITE_ERROR && s->received > COURIER_RESPONSE_MAX));
    if (is_success) {
        m.mark = MARK_SENT;
        settle(c, s, &m);
        return;
    }
    /* what the owner may know: no body, no address of ours */
    if (s->is_denied && !s->is_opened)
        (void)str_copy(m.text, sizeof m.text, "refused");
    else if (code != 0)
        (void)snprintf(m.text, sizeof m.text, "status %ld", code);
    else
        (void)str_copy(m.text, sizeof m.text,
                       result == CURLE_OPERATION_TIMEDOUT || s->is_unresolved ? "time-out"
                                                                              : "no answer");
    m.mark = MARK_FAILED;
    if (s->is_denied && !s->is_opened) {
        m.disable = "blocked";
    } else if (code == 410) {
        m.disable = "gone";
    } else {
        wait = webhook_retry_ms(s->intent.attempts, random_of(c));
        m.is_last = wait < 0;
        if (wait >= 0) {
            m.mark = MARK_RETRY;
            if ((code == 429 || code == 502 || code == 503 || code == 504) &&
                s->retry_after[0] != '\0') {
                after = retry_after_ms(s->retry_after, now_of(c));
                wait = after > wait ? after : wait;
            }
            m.retry_ms = wait;
        }
    }
    settle(c, s, &m);
}

/* ---------------------------------------------------------------- beginning and ending */

struct claim {
    struct intent_row intent;
    bool has_one;
};

static enum status claim_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct claim *claim = arg;
    enum status st =
        outbox_claim(txn, CHANNEL_WEBHOOK, now, COURIER_LEASE_MS, &claim->intent, err);

    if (st == ST_NOT_FOUND) /* rows that it marked expired on the way have to stay so */
        return ST_OK;
    claim->has_one = st == ST_OK;
    return st;
}

static void hook_begin(struct courier *c, struct slot *s)
{
    struct intent_row *one = &s->intent;
    enum notice_fate fate = NOTICE_SEND;
    const char *why = "";
    struct err err = ERR_INIT;
    enum status st = ST_OK;

    s->began_at = now_of(c);
    if (one->bytes == NULL) {
        compose(c, &one, 1);
        if (one->id == 0)
            goto out;
    } else { /* a repeat: exactly the same again, if it still makes sense */
        st = notify_check(c->options.notify, store_reader_conn(c->reader), one, now_of(c), &fate,
                          &why, &err);
    }
    if (st == ST_OK && fate != NOTICE_SEND) {
        fate_mark(c, one, fate, why);
        goto out;
    }
    if (st == ST_OK)
        st = hook_send(c, s, &err);
    if (st != ST_OK)
        give_up(c, one, st, &err);
out:
    if (s->is_used && one->id == 0)
        slot_release(s);
}

/* Lease and begin the webhooks that are due; how many it was. */
static int hooks_step(struct courier *c)
{
    int begun = 0;

    for (;;) {
        struct slot *s = slot_free(c->hooks, COURIER_WEBHOOKS);
        struct claim claim = {.intent = INTENT_ROW_INIT};

        if (s == NULL || !is_due(c, CHANNEL_WEBHOOK))
            return begun;
        begun += (int)keep_now(c); /* an endpoint may wait for one of these */
        if (run(c, "notice_lease", claim_run, &claim) != ST_OK || !claim.has_one)
            return begun;
        s->is_used = true;
        s->intent = claim.intent;
        hook_begin(c, s);
        begun++;
    }
}

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
        c->holds.is_changed = run(c, "policy_holds", holds_run, &c->holds) != ST_OK;
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
    utc_ms now = now_of(c);

    if (now > c->seen_at)
        c->seen_at = now;
    if (c->seen_at - now < SET_BACK_MS)
        c->hurried_at = UTC_NONE;
    else if (c->hurried_at == UTC_NONE || now < c->hurried_at || now - c->hurried_at >= MS_MINUTE)
        if (run(c, "notice_set_back", set_back_run, &now) == ST_OK)
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
    if (c->n_queue == 0 && !c->is_keeping && !c->has_not_kept) /* there is nothing to wait for */
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
    c->has_not_kept = false;
    for (;;) {
        int n = step(c, true);

        if (!wait || (n == 0 && under_way(c) == 0))
            break;
        if (under_way(c) > 0 && curl_multi_poll(c->multi, NULL, 0, POLL_MS, NULL) != CURLM_OK)
            return err_set(err, ST_INTERNAL, "courier: poll");
        c->has_not_kept = c->has_not_kept && n > 0;
    }
    after = courier_stats(c);
    if (ret_settled != NULL)
        *ret_settled = (int)(after.mail_sent + after.mail_retried + after.mail_failed +
                             after.mail_superseded + after.webhook_sent + after.webhook_retried +
                             after.webhook_failed + after.webhook_superseded) -
                       (int)(before.mail_sent + before.mail_retried + before.mail_failed +
                             before.mail_superseded + before.webhook_sent +
                             before.webhook_retried + before.webhook_failed +
                             before.webhook_superseded);
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
    c->seen_at = now_of(c);
    c->hurried_at = UTC_NONE;
    /* what a process before us was sending is due again, with the same bytes */
    TRY_OUT(writer_run(options->writer,
                       &(struct writer_command){
                           .name = "notice_reclaim", .run = reclaim_run, .arg = &c->seen_at},
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
    settle(c, s, &m);
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
    utc_ms now = now_of(c);
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
            utc_ms now = now_of(c);

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
        c->has_not_kept = false;
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

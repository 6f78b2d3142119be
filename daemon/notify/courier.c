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
#include "notify/internal.h"

enum {
    SLOTS = COURIER_MAIL + COURIER_WEBHOOKS,
    BOUNCE_LIMIT = 3,         /* soft failures on as many days suspend an address */
    MAYBE_TRIES = 3,          /* a 5yz without an enhanced code is final the third time */
    POLL_MS = 1000,
    RETRY_AFTER_SIZE = 80
};
#define COMPOSE_RETRY_MS (5 * MS_MINUTE)      /* after a composing that failed on our side */
#define UNDELIVERABLE_RETRY_MS (6 * MS_HOUR)  /* there was no address, or it is suspended */

/* One intent under way. */
struct slot {
    bool is_used;
    struct intent_row intent;
    utc_ms began_at;
    /* mail */
    struct mail_sending *sending;
    /* webhook */
    CURL *easy;
    struct curl_slist *headers;
    struct webhook_row *webhook;
    const struct net_list *allow;
    size_t received;
    bool is_denied; /* an address was refused */
    bool is_opened; /* … and another was not */
    char retry_after[RETRY_AFTER_SIZE];
    char complaint[CURL_ERROR_SIZE];
};

struct courier {
    struct courier_options options;
    struct mail_smtp smtp;
    struct store_reader *reader;
    CURLM *multi;
    struct curl_slist *resolve;
    struct slot mail[COURIER_MAIL];
    struct slot hooks[COURIER_WEBHOOKS];
    pthread_t thread;
    bool has_thread;
    atomic_bool is_stopping;
    _Atomic int64_t drain_ms;
    pthread_mutex_t lock; /* of what follows */
    struct courier_stats stats;
    pthread_cond_t is_settled;
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

static void slot_release(struct slot *s)
{
    if (s->easy != NULL)
        curl_easy_cleanup(s->easy);
    curl_slist_free_all(s->headers);
    mail_sending_free(s->sending);
    free(s->webhook);
    intent_release(&s->intent);
    memset(s, 0, sizeof *s);
}

static int under_way(const struct courier *c)
{
    int n = 0;

    for (int i = 0; i < COURIER_MAIL; i++)
        n += c->mail[i].is_used;
    for (int i = 0; i < COURIER_WEBHOOKS; i++)
        n += c->hooks[i].is_used;
    return n;
}

static struct slot *slot_free(struct slot *slots, int n)
{
    for (int i = 0; i < n; i++)
        if (!slots[i].is_used)
            return &slots[i];
    return NULL;
}

static bool is_mail(const struct slot *s)
{
    return s->intent.channel == CHANNEL_MAIL;
}

/* ---------------------------------------------------------------- leasing */

struct claim {
    enum notice_channel channel;
    struct intent_row intent;
    bool has_one;
};

static enum status claim_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct claim *claim = arg;
    enum status st =
        outbox_claim(txn, claim->channel, now, COURIER_LEASE_MS, &claim->intent, err);

    if (st == ST_NOT_FOUND) /* rows that it marked expired on the way have to stay so */
        return ST_OK;
    claim->has_one = st == ST_OK;
    return st;
}

/* ---------------------------------------------------------------- marking */

enum mark { MARK_SENT, MARK_RETRY, MARK_FAILED, MARK_SUPERSEDED, MARK_RELEASED };

struct marking {
    const struct courier *courier;
    const struct slot *slot;
    enum mark mark;
    int code;
    char text[REPLY_TEXT_SIZE];
    int64_t took_ms;
    int64_t retry_ms;      /* MARK_RETRY, MARK_RELEASED: from now */
    bool is_hard, is_soft; /* mail: speaks against the address */
    const char *disable;   /* webhook: why it is to be switched off, or NULL */
    bool is_attempt;       /* webhook: counts for its owner's failures */
    bool is_last;          /* webhook: no attempt is left */
    bool is_suspended, is_disabled, is_expired; /* results */
};

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
    st = webhooks_get(store_txn_conn(txn), m->slot->intent.webhook_id, webhook, err);
    if (st == ST_NOT_FOUND) { /* removed meanwhile */
        st = ST_OK;
        goto out;
    }
    if (st != ST_OK)
        goto out;
    if (m->mark == MARK_SENT) {
        TRY(webhooks_succeeded(txn, webhook->id, now, err));
        goto out;
    }
    TRY(webhooks_failed(txn, webhook->id, now, err));
    if (disable == NULL && webhook->failing_since_at != UTC_NONE &&
        now - webhook->failing_since_at >= WEBHOOK_GIVE_UP_MS)
        disable = "failing";
    if (disable != NULL) {
        TRY(webhooks_disable(txn, webhook->id, disable, now, &m->is_disabled, err));
        if (m->is_disabled)
            TRY(tell_owner(txn, webhook, "webhook_disabled", disable, now, now, err));
    } else if (m->is_last) {
        utc_ms since =
            webhook->failing_since_at != UTC_NONE ? webhook->failing_since_at : now;

        TRY(tell_owner(txn, webhook, "webhook_failing", "failing", since, now, err));
    }
out:
    free(webhook);
    return st;
}

static enum status mark_address(struct store_txn *txn, struct marking *m, utc_ms now,
                                struct err *err)
{
    const struct intent_row *intent = &m->slot->intent;
    struct user_row user;
    enum status st;

    if (intent->user_id == 0 || intent->address[0] != '\0')
        return ST_OK;
    st = users_get(store_txn_conn(txn), intent->user_id, &user, err);
    if (st != ST_OK || !str_case_eq(user.address, intent->envelope_to))
        return st; /* he has another address by now */
    if (m->mark == MARK_SENT && (user.bounces > 0 || user.address_state != ADDRESS_OK))
        return users_reached(txn, user.id, now, err);
    if (m->is_hard || m->is_soft)
        return users_bounce(txn, user.id, m->is_hard, BOUNCE_LIMIT, m->text, now,
                            &m->is_suspended, err);
    return ST_OK;
}

static enum status mark_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct marking *m = arg;
    const struct intent_row *intent = &m->slot->intent;
    enum status st = ST_OK;

    switch (m->mark) {
    case MARK_SENT:
        TRY(outbox_sent(txn, intent->id, intent->attempts, m->code, m->text, m->took_ms, now, err));
        break;
    case MARK_RETRY:
        TRY(outbox_retry(txn, intent->id, intent->attempts, m->code, m->text, m->took_ms,
                         now + m->retry_ms, now, &m->is_expired, err));
        break;
    case MARK_FAILED:
        TRY(outbox_failed(txn, intent->id, intent->attempts, m->code, m->text, m->took_ms, now,
                          err));
        break;
    case MARK_SUPERSEDED:
        TRY(outbox_supersede_one(txn, intent->id, intent->attempts, m->text, now, err));
        return st;
    case MARK_RELEASED:
        TRY(outbox_release(txn, intent->id, intent->attempts, now + m->retry_ms, err));
        return st;
    }
    if (is_mail(m->slot))
        TRY(mark_address(txn, m, now, err));
    else
        TRY(mark_webhook(txn, m, now, err));
out:
    return st;
}

/* Settle a slot's intent and free the slot. */
static void settle(struct courier *c, struct slot *s, struct marking *m)
{
    bool mail = is_mail(s);

    m->courier = c;
    m->slot = s;
    m->took_ms = now_of(c) - s->began_at;
    if (run(c, "notice_mark", mark_run, m) == ST_OK) {
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
        if (m->is_suspended)
            log_event(LOG_LEVEL_WARNING, "address_suspended user=%" PRId64, s->intent.user_id);
        if (m->is_disabled)
            log_event(LOG_LEVEL_INFO, "webhook_disabled webhook=%" PRId64, s->intent.webhook_id);
    }
    slot_release(s);
}

/* ---------------------------------------------------------------- composing */

struct composing {
    struct courier *courier;
    struct slot *slot;
    struct notice *notice; /* composed before, or to be composed here */
    bool is_secret;
    enum notice_fate fate;
};

static enum status compose_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct composing *c = arg;
    const struct intent_row *intent = &c->slot->intent;
    enum status st = ST_OK;

    if (c->is_secret) {
        TRY(notify_compose_secret(c->courier->options.notify, txn, intent, now, &c->fate,
                                  c->notice, err));
        if (c->fate != NOTICE_SEND)
            goto out;
    }
    TRY(outbox_compose(txn, intent->id, intent->attempts,
                       &(struct outbox_letter){.bytes = c->notice->bytes.data,
                                               .len = c->notice->bytes.len,
                                               .content_type = c->notice->content_type,
                                               .envelope_from = c->notice->envelope_from,
                                               .envelope_to = c->notice->envelope_to,
                                               .message_id = c->notice->message_id,
                                               .has_token = c->notice->has_token},
                       err));
out:
    return st;
}

/* Move the composed bytes into the slot's own intent, as a later claim would give them. */
static enum status adopt(struct slot *s, struct notice *notice, struct err *err)
{
    size_t n = 0;
    char *bytes = buf_take(&notice->bytes, &n);

    if (bytes == NULL)
        return err_set(err, ST_NOMEM, "a notice");
    s->intent.bytes = (unsigned char *)bytes;
    s->intent.bytes_len = n;
    (void)str_copy(s->intent.content_type, sizeof s->intent.content_type, notice->content_type);
    (void)str_copy(s->intent.envelope_from, sizeof s->intent.envelope_from,
                   notice->envelope_from);
    (void)str_copy(s->intent.envelope_to, sizeof s->intent.envelope_to, notice->envelope_to);
    (void)str_copy(s->intent.message_id, sizeof s->intent.message_id, notice->message_id);
    s->intent.has_token = notice->has_token;
    return ST_OK;
}

/* ST_OK and NOTICE_SEND: the slot has its bytes, and the store has them too. */
static enum status compose(struct courier *c, struct slot *s, enum notice_fate *ret_fate,
                           const char **ret_why, struct err *err)
{
    struct store_conn *conn = store_reader_conn(c->reader);
    struct notice notice = {.bytes = buf_make(BYTES_MAX), .content_type = "", .why = ""};
    struct composing composing = {.courier = c, .slot = s, .notice = &notice,
                                  .is_secret = notify_needs_secret(&s->intent)};
    enum status st;

    if (s->intent.bytes != NULL) { /* a repeat: exactly the same again, if it still makes sense */
        TRY(notify_check(c->options.notify, conn, &s->intent, now_of(c), ret_fate, ret_why, err));
        goto out;
    }
    if (!composing.is_secret) {
        TRY(store_read_begin(c->reader, err));
        st = notify_compose(c->options.notify, conn, &s->intent, now_of(c), &composing.fate,
                            &notice, err);
        store_read_end(c->reader);
        if (st != ST_OK)
            goto out;
    }
    if (composing.is_secret || composing.fate == NOTICE_SEND)
        TRY(writer_run(c->options.writer,
                       &(struct writer_command){
                           .name = "notice_compose", .run = compose_run, .arg = &composing},
                       err));
    *ret_fate = composing.fate;
    *ret_why = notice.why;
    if (composing.fate == NOTICE_SEND)
        TRY(adopt(s, &notice, err));
out:
    notice_release(&notice);
    return st;
}

/* ---------------------------------------------------------------- mail */

static void mail_finish(struct courier *c, struct slot *s, const struct mail_result *r)
{
    struct marking m = {.code = r->code};

    (void)str_copy(m.text, sizeof m.text, r->text);
    if (r->blame == MAIL_BLAME_POLICY) {
        char quoted[300];

        count(c, &c->stats.mail_policy);
        log_event(LOG_LEVEL_WARNING, "mail_refused_by_policy code=%d enhanced=%s reply=%s", r->code,
                  r->enhanced, log_quote(r->text, quoted, sizeof quoted));
    }
    if (r->outcome == MAIL_SENT) {
        m.mark = MARK_SENT;
    } else if (r->outcome == MAIL_LATER ||
               (r->blame == MAIL_BLAME_MAYBE && s->intent.attempts < MAYBE_TRIES)) {
        m.mark = MARK_RETRY;
        m.retry_ms = mail_retry_ms(s->intent.attempts, random_of(c));
    } else {
        m.mark = MARK_FAILED;
        m.is_hard = r->blame == MAIL_BLAME_ADDRESS;
        m.is_soft = r->blame == MAIL_BLAME_MAYBE || r->blame == MAIL_BLAME_NONE;
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
    enum status st = mail_sending_new(&c->smtp, &envelope, s->intent.bytes, s->intent.bytes_len,
                                      &s->sending, err);

    if (st != ST_OK)
        return st;
    if (curl_easy_setopt(mail_sending_handle(s->sending), CURLOPT_PRIVATE, s) != CURLE_OK ||
        curl_multi_add_handle(c->multi, mail_sending_handle(s->sending)) != CURLM_OK)
        return err_set(err, ST_NOMEM, "a letter");
    return ST_OK;
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
    s->webhook = malloc(sizeof *s->webhook);
    if (s->webhook == NULL) {
        st = err_set(err, ST_NOMEM, "a webhook");
        goto out;
    }
    TRY(webhooks_get(store_reader_conn(c->reader), s->intent.webhook_id, s->webhook, err));
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
                       result == CURLE_OPERATION_TIMEDOUT ? "time-out" : "no answer");
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

/* What to do with an intent that could not be composed or begun. */
static void give_up(struct courier *c, struct slot *s, enum status st, const struct err *err)
{
    struct marking m = {.mark = MARK_RELEASED, .retry_ms = COMPOSE_RETRY_MS};
    char quoted[300];

    (void)str_copy(m.text, sizeof m.text, err->text);
    if (st == ST_GONE || st == ST_NOT_FOUND)
        m.mark = MARK_SUPERSEDED;
    else if (st == ST_INVALID || st == ST_TOO_LARGE || st == ST_INTERNAL || st == ST_CORRUPT)
        m.mark = MARK_FAILED;
    log_event(LOG_LEVEL_WARNING, "notice_not_composed id=%" PRId64 " template=%s status=%s why=%s",
              s->intent.id, s->intent.template_name, status_str(st),
              log_quote(err->text, quoted, sizeof quoted));
    settle(c, s, &m);
}

static void begin(struct courier *c, struct slot *s)
{
    struct err err = ERR_INIT;
    enum notice_fate fate = NOTICE_SEND;
    const char *why = "";
    enum status st;

    s->began_at = now_of(c);
    st = compose(c, s, &fate, &why, &err);
    if (st == ST_OK && fate != NOTICE_SEND) {
        struct marking m = {.mark = fate == NOTICE_SUPERSEDED ? MARK_SUPERSEDED : MARK_RELEASED,
                            .retry_ms = UNDELIVERABLE_RETRY_MS};

        (void)str_copy(m.text, sizeof m.text, why);
        settle(c, s, &m);
        return;
    }
    if (st == ST_OK && !is_mail(s))
        st = hook_send(c, s, &err);
    else if (st == ST_OK && c->options.mail_directory != NULL)
        mail_drop(c, s);
    else if (st == ST_OK)
        st = mail_send(c, s, &err);
    if (st != ST_OK)
        give_up(c, s, st, &err);
}

/* Lease and begin what is due in one channel; how many it was. */
static int begin_due(struct courier *c, enum notice_channel channel)
{
    bool mail = channel == CHANNEL_MAIL;
    int begun = 0;

    for (;;) {
        struct slot *s = mail ? slot_free(c->mail, COURIER_MAIL)
                              : slot_free(c->hooks, COURIER_WEBHOOKS);
        struct claim claim = {.channel = channel, .intent = INTENT_ROW_INIT};
        struct err err = ERR_INIT;
        utc_ms next = UTC_NONE;

        if (s == NULL ||
            outbox_next(store_reader_conn(c->reader), channel, &next, &err) != ST_OK ||
            next == UTC_NONE || next > now_of(c))
            return begun;
        if (run(c, "notice_lease", claim_run, &claim) != ST_OK || !claim.has_one)
            return begun;
        s->is_used = true;
        s->intent = claim.intent;
        begin(c, s);
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
        if (s->sending != NULL) {
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

static int step(struct courier *c, bool takes_new)
{
    int running = 0, n = 0;

    if (takes_new) {
        n += begin_due(c, CHANNEL_MAIL);
        n += begin_due(c, CHANNEL_WEBHOOK);
    }
    (void)curl_multi_perform(c->multi, &running);
    n += finish_done(c);
    pthread_mutex_lock(&c->lock);
    c->stats.under_way = under_way(c);
    pthread_mutex_unlock(&c->lock);
    return n;
}

enum status courier_step(struct courier *c, bool wait, int *ret_settled, struct err *err)
{
    struct courier_stats before = courier_stats(c), after;

    assert(!c->has_thread);
    for (;;) {
        int n = step(c, true);

        if (!wait || (n == 0 && under_way(c) == 0))
            break;
        if (under_way(c) > 0 && curl_multi_poll(c->multi, NULL, 0, POLL_MS, NULL) != CURLM_OK)
            return err_set(err, ST_INTERNAL, "courier: poll");
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
    (void)arg;
    return outbox_reclaim(txn, now, NULL, err);
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
    c->options = *options;
    if ((options->smtp != NULL) == (options->mail_directory != NULL)) {
        st = err_set(err, ST_INVALID, "courier: either a mail server or a mail directory");
        goto out;
    }
    if (options->smtp != NULL)
        c->smtp = *options->smtp;
    c->multi = curl_multi_init();
    if (c->multi == NULL) {
        st = err_set(err, ST_NOMEM, "courier");
        goto out;
    }
    if (options->webhook_resolve != NULL)
        c->resolve = curl_slist_append(NULL, options->webhook_resolve);
    TRY(store_reader_open(options->store, &c->reader, err));
    /* what a process before us was sending is due again, with the same bytes */
    TRY(writer_run(options->writer,
                   &(struct writer_command){.name = "notice_reclaim", .run = reclaim_run}, err));
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
    if (s->sending != NULL)
        (void)curl_multi_remove_handle(c->multi, mail_sending_handle(s->sending));
    settle(c, s, &m);
}

void courier_free(struct courier *c)
{
    if (c == NULL)
        return;
    assert(!c->has_thread);
    for (int i = 0; i < COURIER_MAIL; i++)
        give_back(c, &c->mail[i]);
    for (int i = 0; i < COURIER_WEBHOOKS; i++)
        give_back(c, &c->hooks[i]);
    if (c->multi != NULL)
        (void)curl_multi_cleanup(c->multi);
    curl_slist_free_all(c->resolve);
    store_reader_close(c->reader);
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

    for (;;) {
        bool is_stopping = atomic_load(&c->is_stopping);
        uint64_t number = asked(c);
        int n = step(c, !is_stopping);

        if (is_stopping || (n == 0 && under_way(c) == 0))
            answer(c, number);

        if (is_stopping) {
            utc_ms now = now_of(c);

            if (stop_at == UTC_NONE)
                stop_at = now + atomic_load(&c->drain_ms);
            if (under_way(c) == 0 || now >= stop_at) {
                answer(c, UINT64_MAX);
                return NULL;
            }
        }
        if (n == 0)
            (void)curl_multi_poll(c->multi, NULL, 0,
                                  under_way(c) > 0 || is_stopping ? POLL_MS / 5 : idle_ms(c), NULL);
    }
}

enum status courier_start(struct courier *c, struct err *err)
{
    int rc = pthread_create(&c->thread, NULL, work, c);

    if (rc != 0)
        return err_set(err, ST_INTERNAL, "courier: no thread: %s", strerror(rc));
    c->has_thread = true;
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

/* notify/courier_hooks.c - see courier_own.h. */
#include "notify/courier_own.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/str.h"

_Static_assert((int)WEBHOOKS_UNPROVED < (int)COURIER_WEBHOOKS, "room for endpoints that answer");

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
    if (!header_add(s, "Content-Type", s->intent.content_type) || !header_add(s, "Expect", ""))
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
    s->resolve_ms =
        c->options.webhook_resolve_ms ? c->options.webhook_resolve_ms : WEBHOOK_RESOLVE_MS;
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
        mark_slot(c, s, &m);
        st = ST_OK;
        goto out;
    }
    target_of(s->webhook, url, sizeof url);
    s->easy = curl_easy_init();
    if (s->easy == NULL || !hook_headers(s, courier_now(c)) || !hook_options(c, s, url) ||
        curl_multi_add_handle(c->multi, s->easy) != CURLM_OK)
        st = err_set(err, ST_NOMEM, "a webhook");
out:
    buf_release(&normal);
    return st;
}

void hook_finish(struct courier *c, struct slot *s, CURLcode result)
{
    struct marking m = {.is_attempt = true};
    long code = 0;
    int64_t wait = -1, after;
    bool is_success;

    (void)curl_easy_getinfo(s->easy, CURLINFO_RESPONSE_CODE, &code);
    m.code = (int)code;
    /* an answer longer than we read is an answer all the same */
    is_success =
        code >= 200 && code < 300 &&
        (result == CURLE_OK || (result == CURLE_WRITE_ERROR && s->received > COURIER_RESPONSE_MAX));
    if (is_success) {
        m.mark = MARK_SENT;
        mark_slot(c, s, &m);
        return;
    }
    /* what the owner may know: no body, no address of ours */
    if (s->is_denied && !s->is_opened)
        (void)str_copy(m.text, sizeof m.text, "refused");
    else if (code != 0)
        (void)snprintf(m.text, sizeof m.text, "status %ld%s", code,
                       result == CURLE_OK ? "" : ", but the answer did not end");
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
        wait = webhook_retry_ms(s->intent.attempts, courier_random(c));
        m.is_last = wait < 0;
        if (wait >= 0) {
            m.mark = MARK_RETRY;
            if ((code == 429 || code == 502 || code == 503 || code == 504) &&
                s->retry_after[0] != '\0') {
                after = retry_after_ms(s->retry_after, courier_now(c));
                wait = after > wait ? after : wait;
            }
            m.retry_ms = wait;
        }
    }
    mark_slot(c, s, &m);
}

struct claim {
    struct intent_row intent;
    bool has_one;
};

static enum status claim_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct claim *claim = arg;
    enum status st = outbox_claim(txn, CHANNEL_WEBHOOK, now, COURIER_LEASE_MS, &claim->intent, err);

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

    s->began_at = courier_now(c);
    if (one->bytes == NULL) {
        compose(c, &one, 1);
        if (one->id == 0)
            goto out;
    } else { /* a repeat: exactly the same again, if it still makes sense */
        st = notify_check(c->options.notify, store_reader_conn(c->reader), one, courier_now(c),
                          &fate, &why, &err);
    }
    if (st == ST_OK && fate != NOTICE_SEND) {
        compose_fate(c, one, fate, why);
        goto out;
    }
    if (st == ST_OK)
        st = hook_send(c, s, &err);
    if (st != ST_OK)
        compose_give_up(c, one, st, &err);
out:
    if (s->is_used && one->id == 0)
        slot_release(s);
}

int hooks_step(struct courier *c)
{
    int begun = 0;

    for (;;) {
        struct slot *s = slot_free(c->hooks, COURIER_WEBHOOKS);
        struct claim claim = {.intent = INTENT_ROW_INIT};

        if (s == NULL || !courier_is_due(c, CHANNEL_WEBHOOK))
            return begun;
        begun += (int)keep_now(c); /* an endpoint may wait for one of these */
        if (courier_run(c, "notice_lease", claim_run, &claim) != ST_OK || !claim.has_one)
            return begun;
        s->is_used = true;
        s->intent = claim.intent;
        hook_begin(c, s);
        begun++;
    }
}

/* notify/courier_compose.c - see courier_own.h. */
#include "notify/courier_own.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"

#define COMPOSE_RETRY_MS (5 * MS_MINUTE)     /* after a composing that failed on our side */
#define UNDELIVERABLE_RETRY_MS (6 * MS_HOUR) /* there was no address, or it is suspended */

void compose_fate(struct courier *c, struct intent_row *take_intent, enum notice_fate fate,
                  const char *why)
{
    struct marking m = {.mark = fate == NOTICE_SUPERSEDED ? MARK_SUPERSEDED : MARK_RELEASED,
                        .retry_ms = UNDELIVERABLE_RETRY_MS};

    (void)str_copy(m.text, sizeof m.text, why);
    mark_put(c, take_intent, &m);
}

void compose_give_up(struct courier *c, struct intent_row *take_intent, enum status st,
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
            TRY(notify_compose_secret(c->courier->options.notify, txn, intent, now, &c->at[i].fate,
                                      notice, err));
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
                             courier_now(c), &one->fate, &one->notice, &one->err);
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

void compose(struct courier *c, struct intent_row *const *intents, size_t n)
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
            compose_give_up(c, one->intent, one->st, &one->err);
        else if (one->fate != NOTICE_SEND)
            compose_fate(c, one->intent, one->fate, one->notice.why);
        notice_release(&one->notice);
    }
}

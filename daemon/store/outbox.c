/* store/outbox.c - see outbox.h. */
#include "store/outbox.h"

#include <stdlib.h>
#include <string.h>

#include "store/internal.h"

enum { ROWS_AT_ONCE = 64, /* as in sql.h */ LOOKS_AT_ONCE = 256 };

void intent_release(struct intent_row *intent)
{
    if (!intent)
        return;
    free(intent->params);
    free(intent->bytes);
    intent->params = NULL;
    intent->bytes = NULL;
    intent->bytes_len = 0;
}

/* All but params and bytes. */
static void brief_read(struct query *q, struct intent_row *i)
{
    *i = INTENT_ROW_INIT;
    i->id = column_id(q);
    COLUMN_TEXT(q, i->dedupe_key);
    COLUMN_ENUM(q, notice_class, i->cls);
    COLUMN_ENUM(q, notice_channel, i->channel);
    COLUMN_TEXT(q, i->template_name);
    i->user_id = column_id(q);
    COLUMN_TEXT(q, i->address);
    i->webhook_id = column_id(q);
    i->game_id = column_id(q);
    i->seat = column_seat(q);
    i->event_id = column_id(q);
    i->seq = column_int(q);
    i->state_no = column_int(q);
    COLUMN_ENUM(q, outbox_state, i->state);
    i->due_at = column_int(q);
    i->expires_at = column_int(q);
    i->leased_until = column_at(q);
    i->attempts = (int)column_int(q);
    COLUMN_TEXT(q, i->content_type);
    COLUMN_TEXT(q, i->envelope_from);
    COLUMN_TEXT(q, i->envelope_to);
    COLUMN_TEXT(q, i->message_id);
    i->has_token = column_bool(q);
    i->last_code = (int)column_int(q);
    COLUMN_TEXT(q, i->last_text);
    i->created_at = column_int(q);
    i->settled_at = column_at(q);
}

static void intent_read(struct query *q, struct intent_row *i)
{
    size_t len = 0;

    brief_read(q, i);
    i->params = (char *)column_heap(q, &len);
}

static enum status bytes_get(struct store_conn *conn, struct intent_row *intent, struct err *err)
{
    struct query q = query_begin(conn, Q_BYTES_GET);
    bool has_row = false;
    enum status st;

    bind_int(&q, intent->id);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && has_row)
        intent->bytes = column_heap(&q, &intent->bytes_len);
    return query_end(&q, st, err);
}

static enum status bytes_put(struct store_txn *txn, int64_t id, const void *bytes, size_t len,
                             struct err *err)
{
    struct query q = query_begin(txn->conn, Q_BYTES_PUT);

    bind_int(&q, id);
    bind_blob(&q, bytes, len);
    return query_run(&q, err);
}

/* After a row was settled: what must not be kept of it. */
static enum status bytes_erase(struct store_txn *txn, int64_t id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_BYTES_ERASE);

    bind_int(&q, id);
    return query_run(&q, err);
}

/* Ends the query. */
static enum status intent_one(struct query *q, struct intent_row *ret_intent, struct err *err)
{
    struct store_conn *conn = q->conn;
    struct intent_row intent = INTENT_ROW_INIT;
    bool has_row = false;
    enum status st = query_row(q, &has_row, err);

    if (st == ST_OK && !has_row)
        st = err_reason(err, REASON_NOT_FOUND, "there is no such notice");
    else if (st == ST_OK)
        intent_read(q, &intent);
    st = query_end(q, st, err);
    if (st == ST_OK)
        st = bytes_get(conn, &intent, err);
    if (st == ST_OK)
        *ret_intent = intent;
    else
        intent_release(&intent);
    return st;
}

/* ---------------------------------------------------------------- webhooks' book-keeping */

static enum status webhook_next_due(struct store_txn *txn, int64_t webhook_id, struct err *err)
{
    struct query q;

    if (!webhook_id)
        return ST_OK;
    q = query_begin(txn->conn, Q_WEBHOOK_NEXT_DUE);
    bind_int(&q, webhook_id);
    return query_run(&q, err);
}

/* The intent is not being sent to it any more. */
static enum status webhook_idle(struct store_txn *txn, int64_t webhook_id, int64_t outbox_id,
                                struct err *err)
{
    struct query q;
    enum status st;

    if (!webhook_id)
        return ST_OK;
    q = query_begin(txn->conn, Q_WEBHOOK_IDLE);
    bind_int(&q, webhook_id);
    bind_int(&q, outbox_id);
    st = query_run(&q, err);
    return st == ST_OK ? webhook_next_due(txn, webhook_id, err) : st;
}

/* Run an update that gives (id, webhook_id) of at most ROWS_AT_ONCE rows again and again until it
 * finds none, and free the webhooks.  bind() binds its parameters. */
static enum status in_batches(struct store_txn *txn, enum query_id id,
                              void (*bind)(struct query *q, const void *arg), const void *arg,
                              int64_t *ret_n, struct err *err)
{
    int64_t ids[ROWS_AT_ONCE], hooks[ROWS_AT_ONCE];
    int64_t all = 0;
    size_t n;
    enum status st;

    do {
        struct query q = query_begin(txn->conn, id);
        bool has_row = true;

        n = 0;
        bind(&q, arg);
        while ((st = query_row(&q, &has_row, err)) == ST_OK && has_row && n < ROWS_AT_ONCE) {
            ids[n] = column_id(&q);
            hooks[n] = column_id(&q);
            n++;
        }
        st = query_end(&q, st, err);
        for (size_t i = 0; st == ST_OK && i < n; i++)
            st = webhook_idle(txn, hooks[i], ids[i], err);
        all += (int64_t)n;
    } while (st == ST_OK && n > 0);
    if (st == ST_OK && ret_n)
        *ret_n = all;
    return st;
}

/* ---------------------------------------------------------------- putting */

enum status outbox_put_composed(struct store_txn *txn, const struct intent_row *i, int64_t *ret_id,
                                struct err *err)
{
    struct query q = query_begin(txn->conn, Q_OUTBOX_PUT);
    int64_t id = 0;
    enum status st;

    if (i->bytes && i->bytes_len > BYTES_MAX)
        query_trouble(&q, ST_TOO_LARGE, "a notice is too large");
    BIND_TEXT(&q, i->dedupe_key);
    BIND_WORD(&q, notice_class_str(i->cls));
    BIND_WORD(&q, notice_channel_str(i->channel));
    BIND_TEXT(&q, i->template_name);
    bind_id(&q, i->user_id);
    bind_text_or_null(&q, i->address, sizeof i->address);
    bind_id(&q, i->webhook_id);
    bind_id(&q, i->game_id);
    bind_seat(&q, i->seat);
    bind_id(&q, i->event_id);
    bind_int(&q, i->seq);
    bind_int(&q, i->state_no);
    bind_text(&q, i->params ? i->params : "{}", PARAMS_MAX + 1);
    bind_int(&q, i->due_at);
    bind_int(&q, i->expires_at);
    bind_int(&q, i->created_at);
    BIND_TEXT(&q, i->content_type);
    BIND_TEXT(&q, i->envelope_from);
    BIND_TEXT(&q, i->envelope_to);
    BIND_TEXT(&q, i->message_id);
    bind_int(&q, i->has_token);
    st = query_insert(&q, &id, err);
    if (st == ST_NOT_FOUND && sqlite3_extended_errcode(txn->conn->db) !=
                                  SQLITE_CONSTRAINT_FOREIGNKEY) {
        if (ret_id)
            *ret_id = 0; /* said already */
        return ST_OK;
    }
    if (st == ST_OK && i->bytes)
        st = bytes_put(txn, id, i->bytes, i->bytes_len, err);
    if (st == ST_OK)
        st = webhook_next_due(txn, i->webhook_id, err);
    if (st != ST_OK)
        return st;
    txn_note_outbox(txn);
    if (ret_id)
        *ret_id = id;
    return ST_OK;
}

enum status outbox_put(struct store_txn *txn, const struct intent_row *intent, int64_t *ret_id,
                       struct err *err)
{
    struct intent_row bare = *intent;

    bare.bytes = NULL;
    bare.bytes_len = 0;
    bare.content_type[0] = bare.envelope_from[0] = bare.envelope_to[0] = '\0';
    bare.message_id[0] = '\0';
    bare.has_token = false;
    return outbox_put_composed(txn, &bare, ret_id, err);
}

/* ---------------------------------------------------------------- leasing */

static void bind_until(struct query *q, const void *arg)
{
    bind_int(q, *(const int64_t *)arg);
}

static enum status expire(struct store_txn *txn, int64_t id, utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_OUTBOX_EXPIRE);
    int64_t webhook_id = 0;
    enum status st;

    bind_int(&q, id);
    bind_int(&q, now);
    st = query_touch(&q, &webhook_id, err);
    if (st == ST_OK)
        st = bytes_erase(txn, id, err);
    return st == ST_OK ? webhook_next_due(txn, webhook_id, err) : st;
}

/* Ends the query. */
static enum status first_id(struct query *q, int64_t *ret_id, utc_ms *ret_expires_at,
                            struct err *err)
{
    bool has_row = false;
    enum status st = query_row(q, &has_row, err);

    if (st == ST_OK && has_row) {
        *ret_id = column_id(q);
        *ret_expires_at = column_int(q);
    }
    return query_end(q, st, err);
}

/* The first due one of a channel, and of which webhook; *ret_id 0: there is none. */
static enum status first_due(struct store_txn *txn, enum notice_channel channel, utc_ms now,
                             int64_t *ret_id, utc_ms *ret_expires_at, int64_t *ret_webhook_id,
                             struct err *err)
{
    int64_t webhook_id = 0, id = 0;
    utc_ms expires_at = UTC_NONE;
    struct query q;
    bool has_row = false;
    enum status st;

    *ret_id = *ret_webhook_id = 0;
    if (channel == CHANNEL_WEBHOOK) {
        q = query_begin(txn->conn, Q_WEBHOOK_FIRST);
        bind_int(&q, WEBHOOKS_OF_ONE);
        bind_int(&q, WEBHOOKS_UNPROVED);
        bind_int(&q, now);
        st = query_row(&q, &has_row, err);
        if (st == ST_OK && has_row)
            webhook_id = column_id(&q);
        st = query_end(&q, st, err);
        if (st != ST_OK || !has_row)
            return st;
        q = query_begin(txn->conn, Q_OUTBOX_FIRST_WEBHOOK);
        bind_int(&q, webhook_id);
    } else {
        q = query_begin(txn->conn, Q_OUTBOX_FIRST_ANSWER);
    }
    bind_int(&q, now);
    st = first_id(&q, &id, &expires_at, err);
    if (st == ST_OK && id == 0 && channel == CHANNEL_MAIL) {
        q = query_begin(txn->conn, Q_OUTBOX_FIRST_MAIL);
        bind_int(&q, now);
        st = first_id(&q, &id, &expires_at, err);
    }
    *ret_webhook_id = webhook_id;
    *ret_id = id;
    *ret_expires_at = expires_at;
    return st;
}

enum status outbox_claim(struct store_txn *txn, enum notice_channel channel, utc_ms now,
                         int64_t lease_ms, struct intent_row *ret_intent, struct err *err)
{
    struct intent_row intent = INTENT_ROW_INIT;
    enum status st = in_batches(txn, Q_OUTBOX_ENDED_LEASES, bind_until, &now, NULL, err);

    for (int look = 0; st == ST_OK && look < LOOKS_AT_ONCE; look++) {
        int64_t id = 0, webhook_id = 0;
        utc_ms expires_at = UTC_NONE;
        struct query q;

        st = first_due(txn, channel, now, &id, &expires_at, &webhook_id, err);
        if (st != ST_OK)
            return st;
        if (id == 0 && webhook_id == 0)
            break;
        if (id == 0) { /* its next_due_at is not true */
            st = webhook_next_due(txn, webhook_id, err);
            continue;
        }
        if (expires_at <= now) {
            st = expire(txn, id, now, err);
            continue;
        }
        q = query_begin(txn->conn, Q_OUTBOX_LEASE);
        bind_int(&q, id);
        bind_int(&q, now + lease_ms);
        st = intent_one(&q, &intent, err);
        if (st == ST_OK && webhook_id) {
            q = query_begin(txn->conn, Q_WEBHOOK_BUSY);
            bind_int(&q, webhook_id);
            bind_int(&q, id);
            st = query_run(&q, err);
            if (st == ST_OK)
                st = webhook_next_due(txn, webhook_id, err);
        }
        if (st != ST_OK)
            intent_release(&intent);
        else
            *ret_intent = intent;
        return st;
    }
    return st == ST_OK ? err_reason(err, REASON_NOT_FOUND, "nothing is due") : st;
}

enum status outbox_next(struct store_conn *conn, enum notice_channel channel, utc_ms *ret_at,
                        struct err *err)
{
    utc_ms first = UTC_NONE, leased = UTC_NONE;
    bool has_row = false;
    struct query q = query_begin(conn, channel == CHANNEL_MAIL ? Q_OUTBOX_NEXT_MAIL
                                                               : Q_OUTBOX_NEXT_WEBHOOK);
    enum status st;

    if (channel == CHANNEL_WEBHOOK) {
        bind_int(&q, WEBHOOKS_OF_ONE);
        bind_int(&q, WEBHOOKS_UNPROVED);
    }
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && has_row)
        first = column_at(&q);
    st = query_end(&q, st, err);
    if (st != ST_OK)
        return st;
    q = query_begin(conn, Q_OUTBOX_NEXT_LEASE);
    BIND_WORD(&q, notice_channel_str(channel));
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && has_row)
        leased = column_at(&q);
    st = query_end(&q, st, err);
    if (st == ST_OK)
        *ret_at = first == UTC_NONE || (leased != UTC_NONE && leased < first) ? leased : first;
    return st;
}

/* ---------------------------------------------------------------- what became of it */

static struct query for_lease(struct store_txn *txn, enum query_id id, int64_t outbox_id,
                              int attempt)
{
    struct query q = query_begin(txn->conn, id);

    bind_int(&q, outbox_id);
    bind_int(&q, attempt);
    return q;
}

static enum status lease_lost(struct err *err)
{
    return err_reason(err, REASON_ALREADY_DONE, "the lease of this notice has ended");
}

enum status outbox_compose(struct store_txn *txn, int64_t id, int attempt,
                           const struct outbox_letter *letter, struct err *err)
{
    struct query q = for_lease(txn, Q_OUTBOX_COMPOSE, id, attempt);
    enum status st;

    if (letter->len > BYTES_MAX)
        query_trouble(&q, ST_TOO_LARGE, "a notice is too large");
    bind_text(&q, letter->content_type, CONTENT_TYPE_SIZE);
    bind_text(&q, letter->envelope_from, ADDRESS_SIZE);
    bind_text(&q, letter->envelope_to, ADDRESS_SIZE);
    bind_text(&q, letter->message_id, MESSAGE_ID_SIZE);
    bind_int(&q, letter->has_token);
    st = query_touch(&q, NULL, err);
    if (st == ST_OK)
        st = bytes_put(txn, id, letter->bytes, letter->len, err);
    return st == ST_NOT_FOUND ? lease_lost(err) : st;
}

static enum status put_attempt(struct store_txn *txn, int64_t id, int attempt, utc_ms now,
                               int64_t took_ms, enum attempt_outcome outcome, int code,
                               const char *text, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_ATTEMPT_PUT);
    char scratch[REPLY_TEXT_SIZE];

    bind_int(&q, id);
    bind_int(&q, attempt);
    bind_int(&q, now);
    bind_int(&q, took_ms);
    BIND_WORD(&q, attempt_outcome_str(outcome));
    bind_int(&q, code);
    bind_cut(&q, text, sizeof scratch, scratch);
    return query_run(&q, err);
}

static enum status settle(struct store_txn *txn, int64_t id, int attempt, enum outbox_state state,
                          int code, const char *text, utc_ms now, struct err *err)
{
    struct query q = for_lease(txn, Q_OUTBOX_SETTLE, id, attempt);
    char scratch[REPLY_TEXT_SIZE];
    int64_t webhook_id = 0;
    enum status st;

    BIND_WORD(&q, outbox_state_str(state));
    bind_int(&q, now);
    bind_int(&q, code);
    bind_cut(&q, text, sizeof scratch, scratch);
    st = query_touch(&q, &webhook_id, err);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? lease_lost(err) : st;
    st = bytes_erase(txn, id, err);
    return st == ST_OK ? webhook_idle(txn, webhook_id, id, err) : st;
}

enum status outbox_sent(struct store_txn *txn, int64_t id, int attempt, int code, const char *text,
                        int64_t took_ms, utc_ms now, struct err *err)
{
    enum status st = settle(txn, id, attempt, OUTBOX_SENT, code, text, now, err);

    return st == ST_OK ? put_attempt(txn, id, attempt, now, took_ms, ATTEMPT_SENT, code, text, err)
                       : st;
}

enum status outbox_failed(struct store_txn *txn, int64_t id, int attempt, int code,
                          const char *text, int64_t took_ms, utc_ms now, struct err *err)
{
    enum status st = settle(txn, id, attempt, OUTBOX_FAILED, code, text, now, err);

    return st == ST_OK
               ? put_attempt(txn, id, attempt, now, took_ms, ATTEMPT_FAILED, code, text, err)
               : st;
}

enum status outbox_supersede_one(struct store_txn *txn, int64_t id, int attempt, const char *text,
                                 utc_ms now, struct err *err)
{
    return settle(txn, id, attempt, OUTBOX_SUPERSEDED, 0, text, now, err);
}

enum status outbox_retry(struct store_txn *txn, int64_t id, int attempt, int code,
                         const char *text, int64_t took_ms, utc_ms due_at, utc_ms now,
                         bool *ret_expired, struct err *err)
{
    struct query q = for_lease(txn, Q_OUTBOX_RETRY, id, attempt);
    char scratch[REPLY_TEXT_SIZE];
    int64_t webhook_id = 0;
    utc_ms expires_at = UTC_NONE;
    bool has_row = false, expired = false;
    enum status st;

    bind_int(&q, due_at);
    bind_int(&q, code);
    bind_cut(&q, text, sizeof scratch, scratch);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && !has_row) {
        st = lease_lost(err);
    } else if (st == ST_OK) {
        webhook_id = column_id(&q);
        expires_at = column_int(&q);
    }
    st = query_end(&q, st, err);
    if (st == ST_OK)
        st = put_attempt(txn, id, attempt, now, took_ms, ATTEMPT_RETRY, code, text, err);
    if (st == ST_OK && due_at >= expires_at) {
        expired = true;
        st = expire(txn, id, now, err);
    }
    if (st == ST_OK)
        st = webhook_idle(txn, webhook_id, id, err);
    if (st != ST_OK)
        return st;
    txn_note_outbox(txn);
    if (ret_expired)
        *ret_expired = expired;
    return ST_OK;
}

enum status outbox_release(struct store_txn *txn, int64_t id, int attempt, utc_ms due_at,
                           struct err *err)
{
    struct query q = for_lease(txn, Q_OUTBOX_RELEASE, id, attempt);
    int64_t webhook_id = 0;
    enum status st;

    bind_int(&q, due_at);
    st = query_touch(&q, &webhook_id, err);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? lease_lost(err) : st;
    txn_note_outbox(txn);
    return webhook_idle(txn, webhook_id, id, err);
}

struct outdated {
    int64_t id, webhook_id;
};

static void outdated_read(struct query *q, struct outdated *o)
{
    o->id = column_id(q);
    o->webhook_id = column_id(q);
}

static enum status outdated_list(struct store_conn *conn, int64_t game_id, int64_t state_no,
                                 struct outdated rows[ROWS_AT_ONCE], size_t *ret_n,
                                 struct err *err)
{
    struct query q = query_begin(conn, Q_OUTBOX_OUTDATED);

    bind_int(&q, game_id);
    bind_int(&q, state_no);
    bind_int(&q, ROWS_AT_ONCE);
    QUERY_LIST(&q, rows, ROWS_AT_ONCE, ret_n, outdated_read, err);
}

enum status outbox_supersede_warnings(struct store_txn *txn, int64_t game_id, int64_t state_no,
                                      utc_ms now, int64_t *ret_n, struct err *err)
{
    struct outdated rows[ROWS_AT_ONCE];
    int64_t all = 0;
    size_t n = 0;
    enum status st;

    /* Most often there is none: to look first is cheaper than an UPDATE … RETURNING. */
    do {
        st = outdated_list(txn->conn, game_id, state_no, rows, &n, err);
        for (size_t i = 0; st == ST_OK && i < n; i++) {
            struct query q = query_begin(txn->conn, Q_OUTBOX_SUPERSEDE);

            bind_int(&q, rows[i].id);
            bind_int(&q, now);
            st = query_run(&q, err);
            if (st == ST_OK)
                st = bytes_erase(txn, rows[i].id, err);
            if (st == ST_OK)
                st = webhook_idle(txn, rows[i].webhook_id, rows[i].id, err);
        }
        all += (int64_t)n;
    } while (st == ST_OK && n == ROWS_AT_ONCE);
    if (st == ST_OK && ret_n)
        *ret_n = all;
    return st;
}

enum status outbox_drop_webhook(struct store_txn *txn, int64_t webhook_id, const char *text,
                                utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_OUTBOX_DROP_WEBHOOK);
    enum status st;

    bind_int(&q, webhook_id);
    bind_int(&q, now);
    bind_text(&q, text, REPLY_TEXT_SIZE);
    st = query_run(&q, err);
    if (st == ST_OK) {
        q = query_begin(txn->conn, Q_BYTES_ERASE_WEBHOOK);
        bind_int(&q, webhook_id);
        st = query_run(&q, err);
    }
    return st == ST_OK ? webhook_next_due(txn, webhook_id, err) : st;
}

enum status outbox_reclaim(struct store_txn *txn, utc_ms now, int64_t *ret_n, struct err *err)
{
    const int64_t all = INT64_MAX - 1;

    (void)now;
    txn_note_outbox(txn);
    return in_batches(txn, Q_OUTBOX_ENDED_LEASES, bind_until, &all, ret_n, err);
}

enum status policy_holds_set(struct store_txn *txn, const struct policy_hold_row *rows, size_t n,
                             struct err *err)
{
    struct query q = query_begin(txn->conn, Q_POLICY_HOLDS_CLEAR);
    enum status st = query_run(&q, err);

    for (size_t i = 0; st == ST_OK && i < n; i++) {
        q = query_begin(txn->conn, Q_POLICY_HOLD_PUT);
        BIND_WORD(&q, notice_class_str(rows[i].cls));
        BIND_TEXT(&q, rows[i].domain);
        bind_int(&q, rows[i].until);
        bind_int(&q, rows[i].ms);
        st = query_run(&q, err);
    }
    return st;
}

static void policy_hold_read(struct query *q, struct policy_hold_row *row)
{
    COLUMN_ENUM(q, notice_class, row->cls);
    COLUMN_TEXT(q, row->domain);
    row->until = column_int(q);
    row->ms = column_int(q);
}

enum status policy_holds_get(struct store_conn *conn, struct policy_hold_row *rows, size_t max,
                             size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_POLICY_HOLDS);

    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, policy_hold_read, err);
}

enum status outbox_bounced(struct store_txn *txn, int64_t id, utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_OUTBOX_BOUNCED);
    enum status st;

    bind_int(&q, id);
    bind_int(&q, now);
    st = query_touch(&q, NULL, err);
    return st == ST_NOT_FOUND
               ? err_reason(err, REASON_ALREADY_DONE, "a report about this letter was counted")
               : st;
}

enum status outbox_again(struct store_txn *txn, int64_t id, utc_ms now, utc_ms expires_at,
                         struct err *err)
{
    struct query q = query_begin(txn->conn, Q_OUTBOX_AGAIN);
    int64_t webhook_id = 0;
    bool has_row = false, waits = false, erased = false;
    enum status st;

    bind_int(&q, id);
    bind_int(&q, now);
    bind_int(&q, expires_at);
    st = query_touch(&q, &webhook_id, err);
    if (st == ST_OK) {
        txn_note_outbox(txn);
        return webhook_next_due(txn, webhook_id, err);
    }
    if (st != ST_NOT_FOUND)
        return st;
    q = query_begin(txn->conn, Q_OUTBOX_FATE);
    bind_int(&q, id);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && has_row) {
        waits = column_bool(&q);
        erased = column_bool(&q);
    }
    st = query_end(&q, st, err);
    if (st != ST_OK)
        return st;
    if (!has_row)
        return err_detail(err, REASON_NOT_FOUND, "refusal.no_delivery",
                          "there is no such delivery");
    if (waits)
        return err_detail(err, REASON_ALREADY_DONE, "refusal.delivery_waits",
                          "this delivery waits to be sent already");
    return erased ? err_set(err, ST_GONE, "this delivery is not kept any more")
                  : err_set(err, ST_INTERNAL, "store: OUTBOX_AGAIN: a row that is neither");
}

/* ---------------------------------------------------------------- looking */

enum status outbox_get(struct store_conn *conn, int64_t id, struct intent_row *ret_intent,
                       struct err *err)
{
    struct query q = query_begin(conn, Q_OUTBOX_GET);

    bind_int(&q, id);
    return intent_one(&q, ret_intent, err);
}

enum status outbox_of_webhook(struct store_conn *conn, int64_t webhook_id, int64_t before,
                              struct intent_row *rows, size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_OUTBOX_OF_WEBHOOK);

    bind_int(&q, webhook_id);
    bind_int(&q, before ? before : INT64_MAX);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, brief_read, err);
}

static void attempt_read(struct query *q, struct attempt_row *a)
{
    a->outbox_id = column_id(q);
    a->attempt = (int)column_int(q);
    a->at = column_int(q);
    a->took_ms = column_int(q);
    COLUMN_ENUM(q, attempt_outcome, a->outcome);
    a->code = (int)column_int(q);
    COLUMN_TEXT(q, a->text);
}

enum status attempts_of(struct store_conn *conn, int64_t outbox_id, struct attempt_row *rows,
                        size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_ATTEMPTS);

    bind_int(&q, outbox_id);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, attempt_read, err);
}

static enum status depth_one(struct query *q, struct outbox_depth *depth, struct err *err)
{
    bool has_row = false;
    enum status st = query_row(q, &has_row, err);

    if (st == ST_OK && has_row) {
        utc_ms oldest;

        depth->waiting += column_int(q);
        oldest = column_at(q);
        if (oldest != UTC_NONE &&
            (depth->oldest_due_at == UTC_NONE || oldest < depth->oldest_due_at))
            depth->oldest_due_at = oldest;
    }
    return query_end(q, st, err);
}

enum status outbox_tests_waiting(struct store_conn *conn, int64_t webhook_id, int64_t *ret_n,
                                 struct err *err)
{
    struct query q = query_begin(conn, Q_OUTBOX_TESTS);

    bind_int(&q, webhook_id);
    return query_int(&q, ret_n, err);
}

enum status outbox_depth(struct store_conn *conn, enum notice_channel channel,
                         struct outbox_depth *ret_depth, struct err *err)
{
    struct outbox_depth depth = {.waiting = 0, .oldest_due_at = UTC_NONE};
    struct query q = query_begin(conn, channel == CHANNEL_MAIL ? Q_OUTBOX_DEPTH_MAIL
                                                               : Q_OUTBOX_DEPTH_WEBHOOK);
    enum status st = depth_one(&q, &depth, err);

    if (st == ST_OK) {
        q = query_begin(conn, Q_OUTBOX_DEPTH_LEASED);
        BIND_WORD(&q, notice_channel_str(channel));
        st = depth_one(&q, &depth, err);
    }
    if (st == ST_OK)
        *ret_depth = depth;
    return st;
}

static enum status hurry(struct store_txn *txn, struct query *q, int64_t *ret_n, struct err *err)
{
    int64_t n = 0;
    enum status st = query_count(q, &n, err);

    if (n > 0)
        txn_note_outbox(txn);
    if (st == ST_OK && ret_n)
        *ret_n = n;
    return st;
}

enum status outbox_hurry_user(struct store_txn *txn, int64_t user_id, utc_ms now, int64_t *ret_n,
                              struct err *err)
{
    struct query q = query_begin(txn->conn, Q_OUTBOX_HURRY_USER);

    bind_int(&q, user_id);
    bind_int(&q, now);
    return hurry(txn, &q, ret_n, err);
}

enum status outbox_set_back(struct store_txn *txn, utc_ms now, int64_t longest_ms, int64_t *ret_n,
                            struct err *err)
{
    int64_t mail = 0, hooks = 0;
    struct query q = query_begin(txn->conn, Q_OUTBOX_SET_BACK_MAIL);
    enum status st;

    bind_int(&q, now);
    bind_int(&q, now + longest_ms);
    st = hurry(txn, &q, &mail, err);
    if (st == ST_OK) {
        q = query_begin(txn->conn, Q_OUTBOX_SET_BACK_WEBHOOK);
        bind_int(&q, now);
        bind_int(&q, now + longest_ms);
        st = hurry(txn, &q, &hooks, err);
    }
    if (st == ST_OK && hooks > 0) { /* outbox_claim() corrects those that are not due */
        q = query_begin(txn->conn, Q_WEBHOOK_SET_BACK);
        bind_int(&q, now);
        st = query_run(&q, err);
    }
    if (st == ST_OK && ret_n)
        *ret_n = mail + hooks;
    return st;
}

enum status outbox_hurry_game(struct store_txn *txn, int64_t game_id, enum notice_class cls,
                              int64_t before_state_no, utc_ms now, int64_t *ret_n,
                              struct err *err)
{
    struct query q = query_begin(txn->conn, Q_OUTBOX_WAITS_GAME);
    int64_t waits = 0;
    enum status st;

    /* At every move; hardly ever is there one. */
    bind_int(&q, game_id);
    BIND_WORD(&q, notice_class_str(cls));
    bind_int(&q, now);
    st = query_int(&q, &waits, err);
    if (st != ST_OK || !waits) {
        if (st == ST_OK && ret_n)
            *ret_n = 0;
        return st;
    }
    q = query_begin(txn->conn, Q_OUTBOX_HURRY_GAME);
    bind_int(&q, game_id);
    BIND_WORD(&q, notice_class_str(cls));
    bind_int(&q, before_state_no);
    bind_int(&q, now);
    return hurry(txn, &q, ret_n, err);
}

enum status outbox_find_mail(struct store_conn *conn, int64_t event_id, int64_t user_id,
                             enum notice_class cls, int64_t state_no,
                             struct intent_row *ret_intent, struct err *err)
{
    struct intent_row intent = INTENT_ROW_INIT;
    struct query q = query_begin(conn, Q_OUTBOX_FIND_MAIL);
    enum status st;

    bind_int(&q, event_id);
    bind_int(&q, user_id);
    BIND_WORD(&q, notice_class_str(cls));
    bind_int(&q, state_no);
    QUERY_ONE(st, &q, intent, brief_read, ret_intent, err, REASON_NOT_FOUND,
              "there is no such notice");
    return st;
}

enum status outbox_handover(struct store_conn *conn, int64_t game_id, int64_t user_id,
                            int64_t since, int64_t state_no,
                            struct outbox_handover *ret_handover, struct err *err)
{
    struct outbox_handover handover = {.first_at = UTC_NONE};
    struct query q = query_begin(conn, Q_OUTBOX_HANDOVER);
    bool has_row = false;
    enum status st;

    bind_int(&q, game_id);
    bind_int(&q, user_id);
    bind_int(&q, since);
    bind_int(&q, state_no);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && has_row) {
        handover.first_at = column_at(&q);
        handover.is_waiting = column_bool(&q);
        handover.is_wanted = column_bool(&q);
    }
    st = query_end(&q, st, err);
    if (st == ST_OK)
        *ret_handover = handover;
    return st;
}

enum status outbox_purge(struct store_txn *txn, utc_ms before, int max, int64_t *ret_n,
                         struct err *err)
{
    int64_t attempts;
    enum status st = query_purge(txn->conn, Q_ATTEMPTS_PURGE, before, max, &attempts, err);

    return st == ST_OK ? query_purge(txn->conn, Q_OUTBOX_PURGE, before, max, ret_n, err) : st;
}

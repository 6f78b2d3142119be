/* store/webhooks.c - see webhooks.h. */
#include "store/webhooks.h"

#include <assert.h>
#include <string.h>

#include "store/internal.h"

static enum status no_such_webhook(struct err *err)
{
    return err_detail(err, REASON_NOT_FOUND, "refusal.no_webhook",
                      "there is no such webhook of yours");
}

enum status webhooks_create(struct store_txn *txn, const struct webhook_row *row, int64_t *ret_id,
                            struct err *err)
{
    struct query q = query_begin(txn->conn, Q_WEBHOOK_PUT);

    assert(row->secret_len > 0 && row->secret_len <= WEBHOOK_SECRET_MAX);
    bind_int(&q, row->user_id);
    BIND_TEXT(&q, row->url);
    BIND_WORD(&q, webhook_kind_str(row->kind));
    BIND_TEXT(&q, row->name);
    BIND_TEXT(&q, row->events);
    bind_blob(&q, row->secret, row->secret_len);
    bind_text_or_null(&q, row->auth, sizeof row->auth);
    BIND_WORD(&q, webhook_state_str(row->state));
    bind_int(&q, row->created_at);
    return query_touch(&q, ret_id, err);
}

static void webhook_read(struct query *q, struct webhook_row *w)
{
    w->id = column_id(q);
    w->user_id = column_id(q);
    COLUMN_TEXT(q, w->url);
    COLUMN_ENUM(q, webhook_kind, w->kind);
    COLUMN_TEXT(q, w->name);
    COLUMN_TEXT(q, w->events);
    w->secret_len = column_bytes(q, w->secret, sizeof w->secret);
    w->old_secret_len = column_bytes(q, w->old_secret, sizeof w->old_secret);
    w->old_secret_until = column_at(q);
    COLUMN_TEXT(q, w->auth);
    COLUMN_ENUM(q, webhook_state, w->state);
    w->disabled_at = column_at(q);
    COLUMN_TEXT(q, w->disabled_cause);
    w->failing_since_at = column_at(q);
    w->failures = (int)column_int(q);
    w->succeeded_at = column_at(q);
    w->created_at = column_int(q);
    w->updated_at = column_int(q);
}

enum status webhooks_get(struct store_conn *conn, int64_t id, struct webhook_row *ret_row,
                         struct err *err)
{
    struct query q = query_begin(conn, Q_WEBHOOK_GET);
    struct webhook_row row;
    bool has_row = false;
    enum status st;

    bind_int(&q, id);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && !has_row)
        st = no_such_webhook(err);
    else if (st == ST_OK)
        webhook_read(&q, &row);
    st = query_end(&q, st, err);
    if (st == ST_OK)
        *ret_row = row;
    return st;
}

enum status webhooks_of_user(struct store_conn *conn, int64_t user_id, struct webhook_row *rows,
                             size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_WEBHOOKS_OF_USER);

    bind_int(&q, user_id);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, webhook_read, err);
}

/* An update of one webhook that must be there. */
static enum status webhook_touch(struct query *q, struct err *err)
{
    enum status st = query_touch(q, NULL, err);

    return st == ST_NOT_FOUND ? no_such_webhook(err) : st;
}

enum status webhooks_update(struct store_txn *txn, const struct webhook_row *row, utc_ms now,
                            struct err *err)
{
    struct query q = query_begin(txn->conn, Q_WEBHOOK_UPDATE);
    enum status st;

    bind_int(&q, row->id);
    BIND_TEXT(&q, row->url);
    BIND_WORD(&q, webhook_kind_str(row->kind));
    BIND_TEXT(&q, row->name);
    BIND_TEXT(&q, row->events);
    bind_text_or_null(&q, row->auth, sizeof row->auth);
    BIND_WORD(&q, webhook_state_str(row->state));
    bind_int(&q, now);
    st = webhook_touch(&q, err);
    if (st == ST_OK && row->state != WEBHOOK_ON)
        st = outbox_drop_webhook(txn, row->id, "the webhook was switched off", now, err);
    return st;
}

enum status webhooks_rotate(struct store_txn *txn, int64_t id, const unsigned char *secret,
                            size_t secret_len, utc_ms overlap_until, utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_WEBHOOK_ROTATE);

    assert(secret_len > 0 && secret_len <= WEBHOOK_SECRET_MAX);
    bind_int(&q, id);
    bind_blob(&q, secret, secret_len);
    bind_int(&q, overlap_until);
    bind_int(&q, now);
    return webhook_touch(&q, err);
}

enum status webhooks_delete(struct store_txn *txn, int64_t id, utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_WEBHOOK_DELETE);
    enum status st;

    bind_int(&q, id);
    bind_int(&q, now);
    st = webhook_touch(&q, err);
    return st == ST_OK ? outbox_drop_webhook(txn, id, "the webhook was removed", now, err) : st;
}

enum status webhooks_succeeded(struct store_txn *txn, int64_t id, utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_WEBHOOK_SUCCEEDED);

    bind_int(&q, id);
    bind_int(&q, now);
    return query_run(&q, err);
}

enum status webhooks_failed(struct store_txn *txn, int64_t id, utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_WEBHOOK_FAILED);

    bind_int(&q, id);
    bind_int(&q, now);
    return query_run(&q, err);
}

enum status webhooks_disable(struct store_txn *txn, int64_t id, const char *cause, utc_ms now,
                             bool *ret_did, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_WEBHOOK_DISABLE);
    enum status st;
    bool did;

    bind_int(&q, id);
    bind_int(&q, now);
    bind_text(&q, cause, WEBHOOK_CAUSE_SIZE);
    st = query_touch(&q, NULL, err);
    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    did = st == ST_OK;
    st = did ? outbox_drop_webhook(txn, id, "the webhook was disabled", now, err) : ST_OK;
    if (st == ST_OK && ret_did)
        *ret_did = did;
    return st;
}

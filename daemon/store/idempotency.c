/* store/idempotency.c - see idempotency.h. */
#include "store/idempotency.h"

#include <stdlib.h>
#include <string.h>

#include "store/internal.h"

void idempotency_release(struct idempotency_row *row)
{
    if (!row)
        return;
    free(row->body);
    row->body = NULL;
    row->body_len = 0;
}

enum status idempotency_get(struct store_conn *conn, int64_t user_id, const char *key,
                            struct idempotency_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_IDEMPOTENCY_GET);
    struct idempotency_row row = {.status = 0};
    bool has_row = false;
    enum status st;

    bind_int(&q, user_id);
    bind_text(&q, key, IDEMPOTENCY_KEY_SIZE);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && !has_row) {
        st = err_reason(err, REASON_NOT_FOUND, "this key has not been used");
    } else if (st == ST_OK) {
        if (column_bytes(&q, row.request_hash, sizeof row.request_hash) != STORE_HASH_SIZE)
            query_trouble(&q, ST_CORRUPT, "a hash of the wrong length");
        row.status = (int)column_int(&q);
        COLUMN_TEXT(&q, row.headers);
        COLUMN_TEXT(&q, row.content_type);
        row.body = (char *)column_heap(&q, &row.body_len);
        row.created_at = column_int(&q);
    }
    st = query_end(&q, st, err);
    if (st == ST_OK)
        *ret_row = row;
    else
        idempotency_release(&row);
    return st;
}

enum status idempotency_put(struct store_txn *txn, int64_t user_id, const char *key,
                            const struct idempotency_row *row, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_IDEMPOTENCY_PUT);
    enum status st;

    if (row->body_len > IDEMPOTENCY_BODY_MAX)
        query_trouble(&q, ST_TOO_LARGE, "an answer is too large to be kept");
    bind_int(&q, user_id);
    bind_text(&q, key, IDEMPOTENCY_KEY_SIZE);
    bind_hash(&q, row->request_hash);
    bind_int(&q, row->status);
    BIND_TEXT(&q, row->headers);
    BIND_TEXT(&q, row->content_type);
    bind_blob(&q, row->body ? row->body : "", row->body_len);
    bind_int(&q, row->created_at);
    st = query_run(&q, err);
    if (st == ST_CONFLICT) {
        err_reason(err, REASON_KEY_REUSED, "this Idempotency-Key has been used already");
        if (err)
            err->code = ST_CONFLICT;
    }
    return st;
}

enum status idempotency_purge(struct store_txn *txn, utc_ms before, int max, int64_t *ret_n,
                              struct err *err)
{
    return query_purge(txn->conn, Q_IDEMPOTENCY_PURGE, before, max, ret_n, err);
}

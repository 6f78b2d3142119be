/* store/tokens.c - see tokens.h. */
#include "store/tokens.h"

#include <string.h>

#include "store/internal.h"

static void token_read(struct query *q, struct token_row *t)
{
    *t = TOKEN_ROW_INIT;
    t->id = column_id(q);
    (void)column_bytes(q, t->hash, sizeof t->hash);
    COLUMN_ENUM(q, token_purpose, t->purpose);
    t->user_id = column_id(q);
    t->game_id = column_id(q);
    t->seat = column_seat(q);
    t->state_no = column_int(q);
    t->inbox_id = column_id(q);
    t->created_at = column_int(q);
    t->expires_at = column_int(q);
    t->used_at = column_at(q);
    t->revoked_at = column_at(q);
}

enum status tokens_put(struct store_txn *txn, const struct token_row *token, int64_t *ret_id,
                       struct err *err)
{
    struct query q = query_begin(txn->conn, Q_TOKEN_PUT);
    enum status st;

    bind_hash(&q, token->hash);
    BIND_WORD(&q, token_purpose_str(token->purpose));
    bind_int(&q, token->user_id);
    bind_id(&q, token->game_id);
    bind_seat(&q, token->seat);
    bind_int(&q, token->state_no);
    bind_id(&q, token->inbox_id);
    bind_int(&q, token->created_at);
    bind_int(&q, token->expires_at);
    st = query_touch(&q, ret_id, err);
    if (st == ST_NOT_FOUND)
        st = err_reason(err, REASON_ALREADY_DONE, "this token is there already");
    return st;
}

enum status tokens_find(struct store_conn *conn, const unsigned char hash[STORE_HASH_SIZE],
                        struct token_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_TOKEN_FIND);
    struct token_row row;
    enum status st;

    bind_hash(&q, hash);
    QUERY_ONE(st, &q, row, token_read, ret_row, err, REASON_NOT_FOUND, "there is no such token");
    return st;
}

enum status tokens_use(struct store_txn *txn, int64_t id, utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_TOKEN_USE);

    bind_int(&q, id);
    bind_int(&q, now);
    return query_touch(&q, NULL, err);
}

enum status tokens_revoke_user(struct store_txn *txn, int64_t user_id, utc_ms now,
                               struct err *err)
{
    struct query q = query_begin(txn->conn, Q_TOKENS_REVOKE_USER);

    bind_int(&q, user_id);
    bind_int(&q, now);
    return query_run(&q, err);
}

enum status tokens_purge(struct store_txn *txn, utc_ms before, int max, int64_t *ret_n,
                         struct err *err)
{
    return query_purge(txn->conn, Q_TOKENS_PURGE, before, max, ret_n, err);
}

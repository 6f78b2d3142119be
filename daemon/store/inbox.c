/* store/inbox.c - see inbox.h. */
#include "store/inbox.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "store/internal.h"

void inbox_row_release(struct inbox_row *row)
{
    if (!row)
        return;
    free(row->raw);
    row->raw = NULL;
    row->raw_len = 0;
}

/* All but raw. */
static void inbox_read(struct query *q, struct inbox_row *r)
{
    *r = INBOX_ROW_INIT;
    r->id = column_id(q);
    r->received_at = column_int(q);
    COLUMN_ENUM(q, inbox_way, r->way);
    r->has_token = column_bytes(q, r->token_hash, sizeof r->token_hash) == sizeof r->token_hash;
    COLUMN_TEXT(q, r->recipient);
    COLUMN_TEXT(q, r->sender);
    COLUMN_TEXT(q, r->message_id);
    (void)column_bytes(q, r->fingerprint, sizeof r->fingerprint);
    r->size = column_int(q);
    COLUMN_ENUM(q, inbox_state, r->state);
    r->attempts = (int)column_int(q);
    r->repeats = column_int(q);
    COLUMN_ENUM(q, inbox_verdict, r->verdict);
    COLUMN_TEXT(q, r->reason);
    r->user_id = column_id(q);
    r->game_id = column_id(q);
    r->answer_id = column_id(q);
    r->claimed_at = column_at(q);
    r->settled_at = column_at(q);
}

static enum status raw_put(struct store_txn *txn, int64_t id, const struct inbox_row *row,
                           struct err *err)
{
    struct query q = query_begin(txn->conn, Q_INBOX_RAW_PUT);

    bind_int(&q, id);
    bind_blob(&q, row->raw ? (const void *)row->raw : "", row->raw_len);
    return query_run(&q, err);
}

enum status inbox_put(struct store_txn *txn, const struct inbox_row *row, int64_t *ret_id,
                      bool *ret_is_new, struct err *err)
{
    char message_id[INBOX_MESSAGE_ID_SIZE];
    struct query q = query_begin(txn->conn, Q_INBOX_PUT);
    int64_t id = 0, repeats = 0;
    bool has_row = false;
    enum status st;

    if (row->raw_len > INBOX_RAW_MAX)
        query_trouble(&q, ST_TOO_LARGE, "a letter is too large");
    bind_int(&q, row->received_at);
    BIND_WORD(&q, inbox_way_str(row->way));
    bind_hash(&q, row->has_token ? row->token_hash : NULL);
    BIND_TEXT(&q, row->recipient);
    BIND_TEXT(&q, row->sender);
    bind_cut(&q, row->message_id, sizeof message_id, message_id);
    bind_hash(&q, row->fingerprint);
    bind_int(&q, (int64_t)row->raw_len);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && has_row) {
        id = column_id(&q);
        repeats = column_int(&q);
        st = query_done(&q, err);
    }
    st = query_end(&q, st, err);
    if (st == ST_OK && repeats == 0)
        st = raw_put(txn, id, row, err);
    if (st == ST_OK) {
        *ret_id = id;
        *ret_is_new = repeats == 0;
    }
    return st;
}

static int by_id(const void *a, const void *b)
{
    const struct inbox_row *x = a, *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

enum status inbox_claim(struct store_txn *txn, utc_ms now, size_t max, struct inbox_row *rows,
                        size_t *ret_n, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_INBOX_CLAIM);
    bool has_row = true;
    enum status st;
    size_t n = 0;

    if (max > INBOX_CLAIM_MAX)
        max = INBOX_CLAIM_MAX;
    bind_int(&q, now);
    bind_int(&q, (int64_t)max);
    while ((st = query_row(&q, &has_row, err)) == ST_OK && has_row) {
        assert(n < max);
        inbox_read(&q, &rows[n++]);
    }
    st = query_end(&q, st, err);
    if (st != ST_OK)
        return st;
    qsort(rows, n, sizeof rows[0], by_id); /* RETURNING promises no order */
    *ret_n = n;
    return ST_OK;
}

enum status inbox_reclaim(struct store_txn *txn, utc_ms now, int64_t *ret_n, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_INBOX_RECLAIM);

    (void)now;
    return query_count(&q, ret_n, err);
}

/* An update of one row that must be in the right state. */
static enum status inbox_touch(struct query *q, struct err *err)
{
    enum status st = query_touch(q, NULL, err);

    return st == ST_NOT_FOUND
               ? err_reason(err, REASON_ALREADY_DONE, "this letter is not being read any more")
               : st;
}

enum status inbox_unclaim(struct store_txn *txn, int64_t id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_INBOX_UNCLAIM);

    bind_int(&q, id);
    return inbox_touch(&q, err);
}

enum status inbox_get(struct store_conn *conn, int64_t id, bool with_raw,
                      struct inbox_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, with_raw ? Q_INBOX_GET_RAW : Q_INBOX_GET);
    struct inbox_row row = INBOX_ROW_INIT;
    bool has_row = false;
    enum status st;

    bind_int(&q, id);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && !has_row) {
        st = err_reason(err, REASON_NOT_FOUND, "there is no such letter");
    } else if (st == ST_OK) {
        inbox_read(&q, &row);
        if (with_raw)
            row.raw = column_heap(&q, &row.raw_len);
    }
    st = query_end(&q, st, err);
    if (st == ST_OK)
        *ret_row = row;
    else
        inbox_row_release(&row);
    return st;
}

enum status inbox_settle(struct store_txn *txn, int64_t id, enum inbox_state state,
                         enum inbox_verdict verdict, const char *reason, int64_t user_id,
                         int64_t game_id, int64_t answer_id, utc_ms now, struct err *err)
{
    char scratch[INBOX_REASON_SIZE];
    struct query q = query_begin(txn->conn, Q_INBOX_SETTLE);

    bind_int(&q, id);
    BIND_WORD(&q, inbox_state_str(state));
    BIND_WORD(&q, inbox_verdict_str(verdict));
    bind_cut(&q, reason, sizeof scratch, scratch);
    bind_id(&q, user_id);
    bind_id(&q, game_id);
    bind_id(&q, answer_id);
    bind_int(&q, now);
    return inbox_touch(&q, err);
}

enum status inbox_thin(struct store_txn *txn, int64_t id, utc_ms since, int most,
                       bool *ret_is_gone, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_INBOX_THIN);
    enum status st;

    bind_int(&q, id);
    bind_int(&q, since);
    bind_int(&q, most);
    st = query_touch(&q, NULL, err);
    if (st == ST_OK || st == ST_NOT_FOUND) {
        *ret_is_gone = st == ST_OK;
        st = ST_OK;
    }
    return st;
}

enum status inbox_retry(struct store_txn *txn, int64_t id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_INBOX_RETRY);
    enum status st;

    bind_int(&q, id);
    st = query_touch(&q, NULL, err);
    return st == ST_NOT_FOUND
               ? err_reason(err, REASON_ALREADY_DONE,
                            "this letter is not set aside, or its bytes are not kept any more")
               : st;
}

enum status inbox_waiting(struct store_conn *conn, utc_ms upto, int64_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_INBOX_WAITING);

    bind_int(&q, upto);
    return query_int(&q, ret_n, err);
}

enum status inbox_answers_since(struct store_conn *conn, int64_t user_id, utc_ms since,
                                int64_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_INBOX_ANSWERS);

    bind_int(&q, user_id);
    bind_int(&q, since);
    return query_int(&q, ret_n, err);
}

enum status inbox_asked_since(struct store_conn *conn, int64_t user_id, int64_t game_id,
                              utc_ms since, int64_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_INBOX_ASKED);

    bind_int(&q, user_id);
    bind_id(&q, game_id);
    bind_int(&q, since);
    return query_int(&q, ret_n, err);
}

enum status inbox_same_refusal(struct store_conn *conn, int64_t user_id, int64_t game_id,
                               const char *reason, utc_ms since, int64_t *ret_n, struct err *err)
{
    char scratch[INBOX_REASON_SIZE];
    struct query q = query_begin(conn, Q_INBOX_SAME_REFUSAL);

    bind_int(&q, user_id);
    bind_id(&q, game_id);
    bind_cut(&q, reason, sizeof scratch, scratch);
    bind_int(&q, since);
    return query_int(&q, ret_n, err);
}

enum status inbox_depth(struct store_conn *conn, struct inbox_depth *ret_depth, struct err *err)
{
    struct inbox_depth depth = {.oldest_at = UTC_NONE};
    struct query q = query_begin(conn, Q_INBOX_DEPTH);
    bool has_row = false;
    enum status st = query_row(&q, &has_row, err);

    if (st == ST_OK && has_row) {
        depth.waiting = column_int(&q);
        depth.oldest_at = column_at(&q);
    }
    st = query_end(&q, st, err);
    if (st == ST_OK) {
        q = query_begin(conn, Q_INBOX_QUARANTINED);
        st = query_int(&q, &depth.quarantined, err);
    }
    if (st == ST_OK)
        *ret_depth = depth;
    return st;
}

enum status inbox_list(struct store_conn *conn, int state, int64_t user_id, int64_t before,
                       struct inbox_row *rows, size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_INBOX_LIST);

    bind_int(&q, before ? before : INT64_MAX);
    BIND_WORD(&q, state == INBOX_ANY ? NULL : inbox_state_str((enum inbox_state)state));
    bind_id(&q, user_id);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, inbox_read, err);
}

enum status inbox_purge(struct store_txn *txn, utc_ms now, int max, int64_t *ret_erased,
                        int64_t *ret_removed, struct err *err)
{
    static const enum query_id erase[] = {Q_INBOX_RAW_ERASE, Q_INBOX_ERASE};
    int64_t erased = 0;
    enum status st = ST_OK;

    for (size_t i = 0; i < COUNT_OF(erase) && st == ST_OK; i++) { /* of the same letters */
        struct query q = query_begin(txn->conn, erase[i]);

        bind_int(&q, now - INBOX_RAW_KEEP_MS);
        bind_int(&q, now - INBOX_QUARANTINE_KEEP_MS);
        bind_int(&q, max);
        bind_int(&q, now - INBOX_FOREIGN_KEEP_MS);
        st = query_count(&q, &erased, err);
    }
    if (st == ST_OK)
        st = query_purge(txn->conn, Q_INBOX_PURGE, now - INBOX_KEEP_MS, max, ret_removed, err);
    if (st == ST_OK)
        *ret_erased = erased;
    return st;
}

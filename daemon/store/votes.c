/* store/votes.c - see votes.h. */
#include "store/votes.h"

#include "store/internal.h"

enum status votes_open(struct store_txn *txn, int64_t game_id, enum vote_kind kind, int seat,
                       int64_t seq, utc_ms now, int64_t *ret_id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_VOTE_PUT);
    int64_t id = 0;
    enum status st;

    bind_int(&q, game_id);
    BIND_WORD(&q, vote_kind_str(kind));
    bind_int(&q, seat);
    bind_int(&q, seq);
    bind_int(&q, now);
    st = query_touch(&q, &id, err);
    if (st == ST_CONFLICT)
        return err_reason(err, REASON_ALREADY_DONE, "this has been asked and is not answered yet");
    if (st == ST_OK)
        st = votes_answer(txn, id, seat, true, now, err);
    if (st == ST_OK)
        *ret_id = id;
    return st;
}

static void vote_read(struct query *q, struct vote_row *v)
{
    v->id = column_id(q);
    v->game_id = column_id(q);
    COLUMN_ENUM(q, vote_kind, v->kind);
    v->seat = column_seat(q);
    v->seq = column_int(q);
    COLUMN_ENUM(q, vote_state, v->state);
    v->created_at = column_int(q);
    v->settled_at = column_at(q);
    for (int i = 0; i < SEAT_COUNT; i++)
        v->answers[i] = column_seat(q); /* NULL, no answer, is -1 */
}

enum status votes_get_open(struct store_conn *conn, int64_t game_id, enum vote_kind kind,
                           struct vote_row *ret_vote, struct err *err)
{
    struct query q = query_begin(conn, Q_VOTE_OPEN);
    struct vote_row vote;
    enum status st;

    bind_int(&q, game_id);
    BIND_WORD(&q, vote_kind_str(kind));
    QUERY_ONE(st, &q, vote, vote_read, ret_vote, err, REASON_NOT_FOUND,
              "nothing of that kind is asked");
    /* REASON_NO_DRAW_OFFERED is a conflict at the doors; here it is that nothing was found. */
    if (st == ST_NOT_FOUND && kind == VOTE_DRAW && err)
        err->reason = REASON_NO_DRAW_OFFERED;
    return st;
}

static enum status not_open(struct err *err)
{
    return err_reason(err, REASON_ALREADY_DONE, "this is settled already");
}

enum status votes_answer(struct store_txn *txn, int64_t id, int seat, bool is_yes, utc_ms now,
                         struct err *err)
{
    struct query q = query_begin(txn->conn, Q_VOTE_ANSWER);
    enum status st;

    bind_int(&q, id);
    bind_int(&q, seat);
    bind_int(&q, is_yes);
    bind_int(&q, now);
    st = query_touch(&q, NULL, err);
    return st == ST_NOT_FOUND ? not_open(err) : st;
}

enum status votes_settle(struct store_txn *txn, int64_t id, enum vote_state state, utc_ms now,
                         struct err *err)
{
    struct query q = query_begin(txn->conn, Q_VOTE_SETTLE);
    enum status st;

    bind_int(&q, id);
    BIND_WORD(&q, vote_state_str(state));
    bind_int(&q, now);
    st = query_touch(&q, NULL, err);
    return st == ST_NOT_FOUND ? not_open(err) : st;
}

enum status votes_list(struct store_conn *conn, int64_t game_id, struct vote_row *rows, size_t max,
                       size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_VOTES);

    bind_int(&q, game_id);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, vote_read, err);
}

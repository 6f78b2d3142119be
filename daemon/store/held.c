/* store/held.c - see held.h. */
#include "store/held.h"

#include "store/internal.h"

static void held_read(struct query *q, struct held_row *h)
{
    h->game_id = column_id(q);
    h->seat = column_seat(q);
    COLUMN_ENUM(q, held_kind, h->kind);
    h->user_id = column_id(q);
    h->state_no = column_int(q);
    COLUMN_TEXT(q, h->move);
    h->with_draw = column_bool(q);
    h->inbox_id = column_id(q);
    h->received_at = column_int(q);
    h->release_at = column_int(q);
    h->created_at = column_int(q);
}

enum status held_put(struct store_txn *txn, const struct held_row *held, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_HELD_PUT);
    enum status st;

    bind_int(&q, held->game_id);
    bind_seat(&q, held->seat);
    BIND_WORD(&q, held_kind_str(held->kind));
    bind_int(&q, held->user_id);
    bind_int(&q, held->state_no);
    BIND_TEXT(&q, held->move);
    bind_int(&q, held->with_draw);
    bind_id(&q, held->inbox_id);
    bind_int(&q, held->received_at);
    bind_int(&q, held->release_at);
    bind_int(&q, held->created_at);
    st = query_touch(&q, NULL, err);
    return st == ST_NOT_FOUND
               ? err_reason(err, REASON_MOVE_HELD, "something is being held for this seat already")
               : st;
}

/* Ends the query. */
static enum status held_one(struct query *q, struct held_row *ret_held, struct err *err)
{
    struct held_row row;
    bool has_row = false;
    enum status st = query_row(q, &has_row, err);

    if (st == ST_OK && !has_row) {
        st = err_reason(err, REASON_NOT_FOUND, "nothing of the kind is being held in this game");
    } else if (st == ST_OK) {
        held_read(q, &row);
        st = query_done(q, err);
    }
    st = query_end(q, st, err);
    if (st == ST_OK)
        *ret_held = row;
    return st;
}

enum status held_get(struct store_conn *conn, int64_t game_id, struct held_row *ret_held,
                     struct err *err)
{
    struct query q = query_begin(conn, Q_HELD_GET);

    bind_int(&q, game_id);
    return held_one(&q, ret_held, err);
}

enum status held_of_game(struct store_conn *conn, int64_t game_id,
                         struct held_row rows[SEAT_COUNT], size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_HELD_OF_GAME);

    bind_int(&q, game_id);
    bind_int(&q, SEAT_COUNT);
    QUERY_LIST(&q, rows, SEAT_COUNT, ret_n, held_read, err);
}

enum status held_take(struct store_txn *txn, int64_t game_id, int seat, struct held_row *ret_held,
                      struct err *err)
{
    struct query q = query_begin(txn->conn, Q_HELD_TAKE);

    bind_int(&q, game_id);
    bind_seat(&q, seat);
    return held_one(&q, ret_held, err);
}

/* store/timers.c - see timers.h. */
#include "store/timers.h"

#include "store/internal.h"

enum status timers_set(struct store_txn *txn, const struct timer_row *timer, struct err *err)
{
    struct query q;
    enum status st;

    if (timer->game_id) {
        q = query_begin(txn->conn, Q_TIMER_MOVE);
        bind_int(&q, timer->game_id);
        BIND_WORD(&q, timer_kind_str(timer->kind));
        bind_seat(&q, timer->seat);
    } else {
        q = query_begin(txn->conn, Q_TIMER_MOVE_OWN);
        BIND_WORD(&q, timer_kind_str(timer->kind));
    }
    bind_int(&q, timer->state_no);
    bind_int(&q, timer->detail);
    bind_int(&q, timer->due_at);
    st = query_change(&q, err);
    if (st == ST_NOT_FOUND) {
        q = query_begin(txn->conn, Q_TIMER_PUT);
        BIND_WORD(&q, timer_kind_str(timer->kind));
        bind_id(&q, timer->game_id);
        bind_seat(&q, timer->seat);
        bind_int(&q, timer->state_no);
        bind_int(&q, timer->detail);
        bind_int(&q, timer->due_at);
        st = query_run(&q, err);
    }
    if (st == ST_OK)
        txn_note_timer(txn, timer->due_at);
    return st;
}

enum status timers_clear(struct store_txn *txn, enum timer_kind kind, int64_t game_id, int seat,
                         struct err *err)
{
    struct query q = query_begin(txn->conn, game_id ? Q_TIMER_CLEAR : Q_TIMER_CLEAR_OWN);

    if (game_id)
        bind_int(&q, game_id);
    BIND_WORD(&q, timer_kind_str(kind));
    if (game_id)
        bind_seat(&q, seat);
    return query_run(&q, err);
}

enum status timers_clear_game(struct store_txn *txn, int64_t game_id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_TIMER_CLEAR_GAME);

    bind_int(&q, game_id);
    return query_run(&q, err);
}

static void timer_read(struct query *q, struct timer_row *t)
{
    t->id = column_id(q);
    COLUMN_ENUM(q, timer_kind, t->kind);
    t->game_id = column_id(q);
    t->seat = column_seat(q);
    t->state_no = column_int(q);
    t->detail = column_int(q);
    t->due_at = column_int(q);
}

enum status timers_due(struct store_conn *conn, utc_ms now, struct timer_row *rows, size_t max,
                       size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_TIMERS_DUE);

    bind_int(&q, now);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, timer_read, err);
}

enum status timers_next(struct store_conn *conn, utc_ms *ret_at, struct err *err)
{
    struct query q = query_begin(conn, Q_TIMERS_NEXT);
    utc_ms at = UTC_NONE;
    bool has_row = false;
    enum status st = query_row(&q, &has_row, err);

    if (st == ST_OK && has_row)
        at = column_at(&q);
    st = query_end(&q, st, err);
    if (st == ST_OK)
        *ret_at = at;
    return st;
}

enum status timers_of_game(struct store_conn *conn, int64_t game_id, struct timer_row *rows,
                           size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_TIMERS_OF_GAME);

    bind_int(&q, game_id);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, timer_read, err);
}

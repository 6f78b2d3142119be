/* store/clocks.c - see clocks.h. */
#include "store/clocks.h"

#include "store/internal.h"

enum status clock_facts_add(struct store_txn *txn, const struct clock_fact_row *fact,
                            struct err *err)
{
    struct query q = query_begin(txn->conn, Q_CLOCK_FACT_PUT);
    enum status st;

    bind_int(&q, fact->game_id);
    bind_seat(&q, fact->seat);
    bind_int(&q, fact->ply);
    BIND_WORD(&q, clock_fact_kind_str(fact->kind));
    bind_int(&q, fact->amount_ms);
    bind_at(&q, fact->from_at);
    bind_at(&q, fact->to_at);
    bind_id(&q, fact->user_id);
    bind_id(&q, fact->outage_id);
    bind_int(&q, fact->seq);
    bind_int(&q, fact->at);
    st = query_run(&q, err);
    return st == ST_CONFLICT ? err_reason(err, REASON_ALREADY_DONE,
                                          "this game has been credited with that outage already")
                             : st;
}

static void fact_read(struct query *q, struct clock_fact_row *f)
{
    f->id = column_id(q);
    f->game_id = column_id(q);
    f->seat = column_seat(q);
    f->ply = (int)column_int(q);
    COLUMN_ENUM(q, clock_fact_kind, f->kind);
    f->amount_ms = column_int(q);
    f->from_at = column_at(q);
    f->to_at = column_at(q);
    f->user_id = column_id(q);
    f->outage_id = column_id(q);
    f->seq = column_int(q);
    f->at = column_int(q);
}

enum status clock_facts_list(struct store_conn *conn, int64_t game_id, int ply,
                             struct clock_fact_row *rows, size_t max, size_t *ret_n,
                             struct err *err)
{
    struct query q = query_begin(conn, Q_CLOCK_FACTS);

    bind_int(&q, game_id);
    bind_seat(&q, ply); /* GAME_ANY is NULL */
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, fact_read, err);
}

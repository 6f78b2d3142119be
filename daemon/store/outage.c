/* store/outage.c - see outage.h. */
#include "store/outage.h"

#include "base/str.h"
#include "store/internal.h"

enum status heartbeat_get(struct store_conn *conn, utc_ms *ret_at, utc_ms *ret_started_at,
                          struct err *err)
{
    struct query q = query_begin(conn, Q_HEARTBEAT_GET);
    utc_ms at = UTC_NONE, started_at = UTC_NONE;
    bool has_row = false;
    enum status st = query_row(&q, &has_row, err);

    if (st == ST_OK && has_row) {
        at = column_int(&q);
        started_at = column_int(&q);
    }
    st = query_end(&q, st, err);
    if (st != ST_OK)
        return st;
    *ret_at = at;
    if (ret_started_at)
        *ret_started_at = started_at;
    return ST_OK;
}

enum status heartbeat_set(struct store_txn *txn, utc_ms now, bool is_start, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_HEARTBEAT_PUT);

    bind_int(&q, now);
    bind_int(&q, is_start);
    return query_run(&q, err);
}

enum status heartbeat_keep(struct store_txn *txn, struct err *err)
{
    static const int to_and_fro[] = {1, -1}; /* a row set to what it is SQLite leaves alone */

    for (size_t i = 0; i < COUNT_OF(to_and_fro); i++) {
        struct query q = query_begin(txn->conn, Q_HEARTBEAT_MOVE);

        bind_int(&q, to_and_fro[i]);
        TRY(query_run(&q, err));
    }
    return ST_OK;
}

static void outage_read(struct query *q, struct outage_row *o)
{
    o->id = column_id(q);
    o->from_at = column_int(q);
    o->to_at = column_int(q);
    o->credited_ms = column_int(q);
    o->games = column_int(q);
    o->is_done = column_bool(q);
    COLUMN_TEXT(q, o->note);
    o->recorded_at = column_int(q);
}

enum status outages_add(struct store_txn *txn, utc_ms from_at, utc_ms to_at, int64_t credited_ms,
                        const char *note, utc_ms now, int64_t *ret_id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_OUTAGE_PUT);

    bind_int(&q, from_at);
    bind_int(&q, to_at);
    bind_int(&q, credited_ms);
    bind_text(&q, note ? note : "", OUTAGE_NOTE_SIZE);
    bind_int(&q, now);
    return query_touch(&q, ret_id, err);
}

enum status outages_credited(struct store_txn *txn, int64_t id, int64_t games, bool is_done,
                             struct err *err)
{
    struct query q = query_begin(txn->conn, Q_OUTAGE_CREDITED);
    enum status st;

    bind_int(&q, id);
    bind_int(&q, games);
    bind_int(&q, is_done);
    st = query_touch(&q, NULL, err);
    return st == ST_NOT_FOUND ? err_reason(err, REASON_NOT_FOUND, "there is no such outage") : st;
}

enum status outages_last_game(struct store_conn *conn, int64_t id, int64_t *ret_game_id,
                              struct err *err)
{
    struct query q = query_begin(conn, Q_CLOCK_FACTS_LAST_GAME);

    bind_int(&q, id);
    return query_int(&q, ret_game_id, err);
}

enum status outages_unfinished(struct store_conn *conn, struct outage_row *ret_row,
                               struct err *err)
{
    struct query q = query_begin(conn, Q_OUTAGE_UNFINISHED);
    struct outage_row row;
    bool has_row = false;
    enum status st = query_row(&q, &has_row, err);

    if (st == ST_OK && !has_row)
        st = err_reason(err, REASON_NOT_FOUND, "no outage waits to be credited");
    else if (st == ST_OK)
        outage_read(&q, &row);
    st = query_end(&q, st, err);
    if (st == ST_OK)
        *ret_row = row;
    return st;
}

enum status outages_list(struct store_conn *conn, int64_t before, struct outage_row *rows,
                         size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_OUTAGES);

    bind_int(&q, before ? before : INT64_MAX);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, outage_read, err);
}

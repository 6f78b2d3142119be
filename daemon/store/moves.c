/* store/moves.c - see moves.h. */
#include "store/moves.h"

#include "store/internal.h"

enum status moves_append(struct store_txn *txn, const struct move_row *move, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_MOVE_PUT);
    enum status st;

    bind_int(&q, move->game_id);
    bind_int(&q, move->ply);
    bind_int(&q, move->seat);
    bind_int(&q, move->user_id);
    BIND_TEXT(&q, move->move);
    BIND_TEXT(&q, move->san);
    bind_int(&q, move->seq);
    bind_int(&q, (int64_t)move->position_hash);
    bind_int(&q, move->used_ms);
    bind_int(&q, move->is_late);
    bind_hash(&q, move->chain);
    bind_int(&q, move->at);
    st = query_run(&q, err);
    return st == ST_CONFLICT ? err_reason(err, REASON_STATE_MISMATCH,
                                          "move %d of this game has been made already", move->ply)
                             : st;
}

static void move_read(struct query *q, struct move_row *m)
{
    m->game_id = column_id(q);
    m->ply = (int)column_int(q);
    m->seat = column_seat(q);
    m->user_id = column_id(q);
    COLUMN_TEXT(q, m->move);
    COLUMN_TEXT(q, m->san);
    m->seq = column_int(q);
    m->position_hash = (uint64_t)column_int(q);
    m->used_ms = column_int(q);
    m->is_late = column_bool(q);
    if (column_bytes(q, m->chain, sizeof m->chain) != STORE_HASH_SIZE)
        query_trouble(q, ST_CORRUPT, "a chain hash of the wrong length");
    m->at = column_int(q);
}

enum status moves_list(struct store_conn *conn, int64_t game_id, int from, struct move_row *rows,
                       size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_MOVES_LIST);

    bind_int(&q, game_id);
    bind_int(&q, from);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, move_read, err);
}

enum status moves_get(struct store_conn *conn, int64_t game_id, int ply, struct move_row *ret_move,
                      struct err *err)
{
    struct query q = query_begin(conn, Q_MOVE_GET);
    struct move_row move;
    enum status st;

    bind_int(&q, game_id);
    bind_int(&q, ply);
    QUERY_ONE(st, &q, move, move_read, ret_move, err, REASON_NOT_FOUND,
              "there is no move %d in this game", ply);
    return st;
}

static void hash_read(struct query *q, uint64_t *hash)
{
    *hash = (uint64_t)column_int(q);
}

enum status moves_hashes(struct store_conn *conn, int64_t game_id, int after, uint64_t *ret_hashes,
                         size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_MOVES_HASHES);

    bind_int(&q, game_id);
    bind_int(&q, after);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, ret_hashes, max, ret_n, hash_read, err);
}

/* store/notes.c - see notes.h. */
#include "store/notes.h"

#include "store/internal.h"

enum status notes_add(struct store_txn *txn, const struct note_row *note, int64_t *ret_id,
                      struct err *err)
{
    struct query q = query_begin(txn->conn, Q_NOTES_COUNT);
    int64_t n = 0;
    enum status st;

    bind_int(&q, note->game_id);
    bind_int(&q, note->user_id);
    st = query_int(&q, &n, err);
    if (st != ST_OK)
        return st;
    if (note->text[0] == '\0')
        return err_detail(err, REASON_BAD_FIELD, "refusal.note_empty", "a note must not be empty");
    if (n >= NOTES_A_GAME)
        return ERR_DETAIL(err, REASON_LIMIT, "refusal.notes_most",
                          "you have {n} notes on this game; no more are kept",
                          ERR_NUMBER("n", NOTES_A_GAME));
    q = query_begin(txn->conn, Q_NOTE_PUT);
    bind_int(&q, note->game_id);
    bind_int(&q, note->user_id);
    bind_int(&q, note->ply);
    bind_int(&q, note->state_no);
    BIND_TEXT(&q, note->text);
    bind_int(&q, note->at);
    return query_touch(&q, ret_id, err);
}

static void note_read(struct query *q, struct note_row *n)
{
    n->id = column_id(q);
    n->game_id = column_id(q);
    n->user_id = column_id(q);
    n->ply = (int)column_int(q);
    n->state_no = column_int(q);
    COLUMN_TEXT(q, n->text);
    n->at = column_int(q);
}

enum status notes_list(struct store_conn *conn, int64_t game_id, int64_t user_id, int64_t after,
                       struct note_row *rows, size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_NOTES);

    bind_int(&q, game_id);
    bind_int(&q, user_id);
    bind_int(&q, after);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, note_read, err);
}

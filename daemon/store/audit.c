/* store/audit.c - see audit.h. */
#include "store/audit.h"

#include "store/internal.h"

enum status audit_add(struct store_txn *txn, const struct audit_row *row, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_AUDIT_PUT);

    bind_int(&q, row->at);
    bind_id(&q, row->user_id);
    BIND_WORD(&q, audit_role_str(row->role));
    BIND_TEXT(&q, row->act);
    bind_id(&q, row->game_id);
    bind_id(&q, row->subject_id);
    BIND_TEXT(&q, row->detail);
    BIND_TEXT(&q, row->note);
    return query_run(&q, err);
}

static void audit_read(struct query *q, struct audit_row *a)
{
    a->id = column_id(q);
    a->at = column_int(q);
    a->user_id = column_id(q);
    COLUMN_ENUM(q, audit_role, a->role);
    COLUMN_TEXT(q, a->act);
    a->game_id = column_id(q);
    a->subject_id = column_id(q);
    COLUMN_TEXT(q, a->detail);
    COLUMN_TEXT(q, a->note);
}

enum status audit_list(struct store_conn *conn, int64_t game_id, int64_t before,
                       struct audit_row *rows, size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, game_id ? Q_AUDIT_OF_GAME : Q_AUDIT_LIST);

    if (game_id)
        bind_int(&q, game_id);
    bind_int(&q, before ? before : INT64_MAX);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, audit_read, err);
}

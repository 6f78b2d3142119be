/* store/imap_boxes.c - see imap_boxes.h. */
#include "store/imap_boxes.h"

#include "store/internal.h"

enum status imap_box_get(struct store_conn *conn, const char *name, struct imap_box_row *ret_row,
                         struct err *err)
{
    struct query q = query_begin(conn, Q_IMAP_BOX_GET);
    struct imap_box_row row;
    bool has_row = false;
    enum status st;

    bind_text(&q, name, IMAP_BOX_NAME_SIZE);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && !has_row) {
        st = err_reason(err, REASON_NOT_FOUND, "this mailbox has not been read yet");
    } else if (st == ST_OK) {
        COLUMN_TEXT(&q, row.name);
        row.uidvalidity = column_int(&q);
        row.last_uid = column_int(&q);
        row.updated_at = column_int(&q);
    }
    st = query_end(&q, st, err);
    if (st == ST_OK)
        *ret_row = row;
    return st;
}

enum status imap_box_set(struct store_txn *txn, const struct imap_box_row *row, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_IMAP_BOX_SET);

    BIND_TEXT(&q, row->name);
    bind_int(&q, row->uidvalidity);
    bind_int(&q, row->last_uid);
    bind_int(&q, row->updated_at);
    return query_run(&q, err);
}

enum status imap_boxes_purge(struct store_txn *txn, utc_ms before, int64_t *ret_n,
                             struct err *err)
{
    struct query q = query_begin(txn->conn, Q_IMAP_BOXES_PURGE);

    bind_int(&q, before);
    return query_count(&q, ret_n, err);
}

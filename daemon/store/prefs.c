/* store/prefs.c - see prefs.h. */
#include "store/prefs.h"

#include "store/internal.h"

enum status prefs_get(struct store_conn *conn, int64_t user_id, struct prefs *ret_prefs,
                      struct err *err)
{
    struct query q = query_begin(conn, Q_PREFS_GET);
    struct prefs prefs = {{{PREF_DEFAULT}}};
    bool has_row = true;
    enum status st;

    bind_int(&q, user_id);
    while ((st = query_row(&q, &has_row, err)) == ST_OK && has_row) {
        enum notice_class cls = NOTICE_LOGIN;
        enum notice_channel channel = CHANNEL_MAIL;

        COLUMN_ENUM(&q, notice_class, cls);
        COLUMN_ENUM(&q, notice_channel, channel);
        prefs.at[cls][channel] = column_bool(&q) ? PREF_ON : PREF_OFF;
    }
    st = query_end(&q, st, err);
    if (st == ST_OK)
        *ret_prefs = prefs;
    return st;
}

enum status prefs_set(struct store_txn *txn, int64_t user_id, enum notice_class cls,
                      enum notice_channel channel, enum pref pref, enum pref_via via, utc_ms now,
                      struct err *err)
{
    struct query q = query_begin(txn->conn, pref == PREF_DEFAULT ? Q_PREF_DROP : Q_PREF_PUT);

    bind_int(&q, user_id);
    BIND_WORD(&q, notice_class_str(cls));
    BIND_WORD(&q, notice_channel_str(channel));
    if (pref != PREF_DEFAULT) {
        bind_int(&q, pref == PREF_ON);
        BIND_WORD(&q, pref_via_str(via));
        bind_int(&q, now);
    }
    return query_run(&q, err);
}

/* store/prefs.c - see prefs.h. */
#include "store/prefs.h"

#include "store/internal.h"

bool notice_is_switchable(enum notice_class cls)
{
    return cls != NOTICE_LOGIN && cls != NOTICE_SECURITY && cls != NOTICE_TEST &&
           cls != NOTICE_ANSWER;
}

bool notice_default(enum notice_class cls, enum notice_channel channel)
{
    if (channel == CHANNEL_WEBHOOK)
        return cls != NOTICE_LOGIN && cls != NOTICE_SECURITY && cls != NOTICE_WEBHOOK_DISABLED &&
               cls != NOTICE_ANSWER;
    return cls != NOTICE_TEST;
}

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

enum status address_blocks_put(struct store_txn *txn,
                               const unsigned char hash[ADDRESS_BLOCK_SIZE], utc_ms now,
                               struct err *err)
{
    struct query q = query_begin(txn->conn, Q_ADDRESS_BLOCK_PUT);

    bind_blob(&q, hash, ADDRESS_BLOCK_SIZE);
    bind_int(&q, now);
    return query_run(&q, err);
}

enum status address_blocks_has(struct store_conn *conn,
                               const unsigned char hash[ADDRESS_BLOCK_SIZE], bool *ret_has,
                               struct err *err)
{
    struct query q = query_begin(conn, Q_ADDRESS_BLOCK_GET);
    bool has_row = false;
    enum status st;

    bind_blob(&q, hash, ADDRESS_BLOCK_SIZE);
    st = query_end(&q, query_row(&q, &has_row, err), err);
    if (st == ST_OK)
        *ret_has = has_row;
    return st;
}

/* store/keys.c - see keys.h. */
#include "store/keys.h"

#include <string.h>

#include "store/internal.h"

enum status keys_get(struct store_conn *conn, const char *name, unsigned char ret_key[KEY_SIZE],
                     struct err *err)
{
    struct query q = query_begin(conn, Q_KEY_GET);
    unsigned char key[KEY_SIZE];
    bool has_row = false;
    enum status st;

    bind_text(&q, name, KEY_NAME_SIZE);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && !has_row)
        st = err_set(err, ST_NOT_FOUND, "store: there is no key %s", name);
    else if (st == ST_OK && column_bytes(&q, key, sizeof key) != KEY_SIZE)
        query_trouble(&q, ST_CORRUPT, "a key of the wrong length");
    st = query_end(&q, st, err);
    if (st == ST_OK)
        memcpy(ret_key, key, KEY_SIZE);
    return st;
}

enum status keys_need(struct store_txn *txn, const char *name, utc_ms now,
                      const struct entropy *entropy, unsigned char ret_key[KEY_SIZE],
                      struct err *err)
{
    struct query q;
    unsigned char key[KEY_SIZE];
    enum status st = keys_get(txn->conn, name, ret_key, err);

    if (st != ST_NOT_FOUND)
        return st;
    entropy->fill(entropy->arg, key, sizeof key);
    q = query_begin(txn->conn, Q_KEY_PUT);
    bind_text(&q, name, KEY_NAME_SIZE);
    bind_blob(&q, key, sizeof key);
    bind_int(&q, now);
    st = query_run(&q, err);
    if (st == ST_OK)
        memcpy(ret_key, key, KEY_SIZE);
    return st;
}

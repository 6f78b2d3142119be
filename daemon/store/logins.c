/* store/logins.c - see logins.h. */
#include "store/logins.h"

#include <string.h>

#include "store/internal.h"

static const char used_up[] = "this link has been used or has expired";

/* That a session or token is in use: it takes nothing away from anybody. */
static enum status note_use(struct store_txn *txn, struct query *q, const char *none,
                            struct err *err)
{
    enum status st;

    txn_set_touching(txn, true);
    st = query_touch_or(q, REASON_NOT_FOUND, none, err);
    txn_set_touching(txn, false);
    return st;
}

static enum status set_token(struct store_txn *txn, enum query_id query, int64_t id,
                             const unsigned char *token_hash, utc_ms expires_at, struct err *err)
{
    struct query q = query_begin(txn->conn, query);

    bind_int(&q, id);
    bind_hash(&q, token_hash);
    bind_int(&q, expires_at);
    return query_touch_or(&q, REASON_LINK_EXPIRED, used_up, err);
}

/* ---------------------------------------------------------------- login links */

static void link_read(struct query *q, struct login_link_row *row)
{
    row->id = column_id(q);
    row->user_id = column_id(q);
    memset(row->prelogin_hash, 0, sizeof row->prelogin_hash);
    row->has_prelogin =
        column_bytes(q, row->prelogin_hash, sizeof row->prelogin_hash) == STORE_HASH_SIZE;
    row->created_at = column_int(q);
    row->expires_at = column_int(q);
    row->used_at = column_at(q);
}

enum status login_links_create(struct store_txn *txn, int64_t user_id,
                               const unsigned char token_hash[STORE_HASH_SIZE],
                               const unsigned char *prelogin_hash, utc_ms now, utc_ms expires_at,
                               int64_t *ret_id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_LOGIN_LINK_PUT);

    bind_int(&q, user_id);
    bind_hash(&q, token_hash);
    bind_hash(&q, prelogin_hash);
    bind_int(&q, now);
    bind_int(&q, expires_at);
    return query_touch(&q, ret_id, err);
}

enum status login_links_find(struct store_conn *conn,
                             const unsigned char token_hash[STORE_HASH_SIZE],
                             struct login_link_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_LOGIN_LINK_FIND);
    struct login_link_row row;
    enum status st;

    bind_hash(&q, token_hash);
    QUERY_ONE(st, &q, row, link_read, ret_row, err, REASON_NOT_FOUND, "there is no such link");
    return st;
}

enum status login_links_get(struct store_conn *conn, int64_t id, struct login_link_row *ret_row,
                            struct err *err)
{
    struct query q = query_begin(conn, Q_LOGIN_LINK_GET);
    struct login_link_row row;
    enum status st;

    bind_int(&q, id);
    QUERY_ONE(st, &q, row, link_read, ret_row, err, REASON_NOT_FOUND, "there is no such link");
    return st;
}

enum status login_links_use(struct store_txn *txn,
                            const unsigned char token_hash[STORE_HASH_SIZE], utc_ms now,
                            struct login_link_row *ret_row, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_LOGIN_LINK_USE);
    struct login_link_row row;
    enum status st;

    bind_hash(&q, token_hash);
    bind_int(&q, now);
    QUERY_ONE(st, &q, row, link_read, ret_row, err, REASON_LINK_EXPIRED, "%s", used_up);
    return st;
}

enum status login_links_set_token(struct store_txn *txn, int64_t id,
                                  const unsigned char token_hash[STORE_HASH_SIZE],
                                  utc_ms expires_at, struct err *err)
{
    return set_token(txn, Q_LOGIN_LINK_TOKEN, id, token_hash, expires_at, err);
}

enum status login_links_count(struct store_conn *conn, int64_t user_id, utc_ms since,
                              int64_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_LOGIN_LINK_COUNT);

    bind_int(&q, user_id);
    bind_int(&q, since);
    return query_int(&q, ret_n, err);
}

/* ---------------------------------------------------------------- registrations */

static void registration_read(struct query *q, struct registration_row *row)
{
    row->id = column_id(q);
    COLUMN_TEXT(q, row->handle);
    COLUMN_TEXT(q, row->handle_key);
    COLUMN_TEXT(q, row->display_name);
    COLUMN_TEXT(q, row->zone);
    COLUMN_TEXT(q, row->language);
    COLUMN_TEXT(q, row->address);
    COLUMN_TEXT(q, row->address_key);
    row->invite_id = column_id(q);
    row->created_at = column_int(q);
    row->expires_at = column_int(q);
    row->used_at = column_at(q);
}

enum status registrations_create(struct store_txn *txn, const struct registration_row *row,
                                 const unsigned char token_hash[STORE_HASH_SIZE], int64_t *ret_id,
                                 struct err *err)
{
    struct query q = query_begin(txn->conn, Q_REGISTRATION_PUT);

    bind_hash(&q, token_hash);
    BIND_TEXT(&q, row->handle);
    BIND_TEXT(&q, row->handle_key);
    BIND_TEXT(&q, row->display_name);
    BIND_TEXT(&q, row->zone);
    BIND_TEXT(&q, row->language);
    BIND_TEXT(&q, row->address);
    BIND_TEXT(&q, row->address_key);
    bind_id(&q, row->invite_id);
    bind_int(&q, row->created_at);
    bind_int(&q, row->expires_at);
    return query_touch(&q, ret_id, err);
}

enum status registrations_find(struct store_conn *conn,
                               const unsigned char token_hash[STORE_HASH_SIZE],
                               struct registration_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_REGISTRATION_FIND);
    struct registration_row row;
    enum status st;

    bind_hash(&q, token_hash);
    QUERY_ONE(st, &q, row, registration_read, ret_row, err, REASON_NOT_FOUND,
              "there is no such link");
    return st;
}

enum status registrations_get(struct store_conn *conn, int64_t id,
                              struct registration_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_REGISTRATION_GET);
    struct registration_row row;
    enum status st;

    bind_int(&q, id);
    QUERY_ONE(st, &q, row, registration_read, ret_row, err, REASON_NOT_FOUND,
              "there is no such registration");
    return st;
}

enum status registrations_use(struct store_txn *txn,
                              const unsigned char token_hash[STORE_HASH_SIZE], utc_ms now,
                              struct registration_row *ret_row, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_REGISTRATION_USE);
    struct registration_row row;
    enum status st;

    bind_hash(&q, token_hash);
    bind_int(&q, now);
    QUERY_ONE(st, &q, row, registration_read, ret_row, err, REASON_LINK_EXPIRED, "%s", used_up);
    return st;
}

enum status registrations_set_token(struct store_txn *txn, int64_t id,
                                    const unsigned char token_hash[STORE_HASH_SIZE],
                                    utc_ms expires_at, struct err *err)
{
    return set_token(txn, Q_REGISTRATION_TOKEN, id, token_hash, expires_at, err);
}

enum status registrations_count(struct store_conn *conn, const char *address_key, utc_ms since,
                                int64_t *ret_n, struct err *err)
{
    struct query q =
        query_begin(conn, address_key ? Q_REGISTRATION_COUNT : Q_REGISTRATION_COUNT_ALL);

    if (address_key)
        bind_text(&q, address_key, ADDRESS_SIZE);
    bind_int(&q, since);
    return query_int(&q, ret_n, err);
}

/* ---------------------------------------------------------------- invites to register */

static const char spent[] = "this invitation has been used, taken back or has expired";

static void invite_read(struct query *q, struct invite_row *row)
{
    row->id = column_id(q);
    row->created_by = column_id(q);
    COLUMN_TEXT(q, row->address);
    COLUMN_TEXT(q, row->note);
    row->created_at = column_int(q);
    row->expires_at = column_int(q);
    row->used_by = column_id(q);
    row->used_at = column_at(q);
    row->revoked_at = column_at(q);
}

enum status invites_create(struct store_txn *txn, int64_t created_by, const char *address,
                           const char *note, const unsigned char token_hash[STORE_HASH_SIZE],
                           utc_ms now, utc_ms expires_at, int64_t *ret_id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_INVITE_PUT);

    bind_hash(&q, token_hash);
    bind_int(&q, created_by);
    bind_text_or_null(&q, address, ADDRESS_SIZE);
    bind_text(&q, note ? note : "", INVITE_NOTE_SIZE);
    bind_int(&q, now);
    bind_int(&q, expires_at);
    return query_touch(&q, ret_id, err);
}

enum status invites_find(struct store_conn *conn,
                         const unsigned char token_hash[STORE_HASH_SIZE],
                         struct invite_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_INVITE_FIND);
    struct invite_row row;
    enum status st;

    bind_hash(&q, token_hash);
    QUERY_ONE(st, &q, row, invite_read, ret_row, err, REASON_NOT_FOUND,
              "there is no such invitation");
    return st;
}

enum status invites_get(struct store_conn *conn, int64_t id, struct invite_row *ret_row,
                        struct err *err)
{
    struct query q = query_begin(conn, Q_INVITE_GET);
    struct invite_row row;
    enum status st;

    bind_int(&q, id);
    QUERY_ONE(st, &q, row, invite_read, ret_row, err, REASON_NOT_FOUND,
              "there is no such invitation");
    return st;
}

enum status invites_list(struct store_conn *conn, int64_t before, struct invite_row *rows,
                         size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_INVITES_LIST);

    bind_int(&q, before ? before : INT64_MAX);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, invite_read, err);
}

enum status invites_use(struct store_txn *txn, int64_t id, int64_t used_by, utc_ms now,
                        struct err *err)
{
    struct query q = query_begin(txn->conn, Q_INVITE_USE);

    bind_int(&q, id);
    bind_int(&q, used_by);
    bind_int(&q, now);
    return query_touch_or(&q, REASON_LINK_EXPIRED, spent, err);
}

enum status invites_revoke(struct store_txn *txn, int64_t id, utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_INVITE_REVOKE);

    bind_int(&q, id);
    bind_int(&q, now);
    return query_touch_or(&q, REASON_LINK_EXPIRED, spent, err);
}

/* ---------------------------------------------------------------- sessions */

static void session_read(struct query *q, struct session_row *row)
{
    row->id = column_id(q);
    row->user_id = column_id(q);
    COLUMN_ENUM(q, login_method, row->method);
    COLUMN_TEXT(q, row->agent);
    row->created_at = column_int(q);
    row->last_used_at = column_int(q);
    row->expires_at = column_int(q);
    row->revoked_at = column_at(q);
}

enum status sessions_create(struct store_txn *txn, int64_t user_id, enum login_method method,
                            const char *agent, const unsigned char token_hash[STORE_HASH_SIZE],
                            utc_ms now, utc_ms expires_at, int64_t *ret_id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_SESSION_PUT);
    char scratch[AGENT_SIZE];

    bind_hash(&q, token_hash);
    bind_int(&q, user_id);
    BIND_WORD(&q, login_method_str(method));
    bind_cut(&q, agent, sizeof scratch, scratch);
    bind_int(&q, now);
    bind_int(&q, expires_at);
    return query_touch(&q, ret_id, err);
}

enum status sessions_find(struct store_conn *conn,
                          const unsigned char token_hash[STORE_HASH_SIZE],
                          struct session_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_SESSION_FIND);
    struct session_row row;
    enum status st;

    bind_hash(&q, token_hash);
    QUERY_ONE(st, &q, row, session_read, ret_row, err, REASON_NOT_FOUND,
              "there is no such session");
    return st;
}

enum status sessions_list(struct store_conn *conn, int64_t user_id, utc_ms now,
                          struct session_row *rows, size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_SESSION_LIST);

    bind_int(&q, user_id);
    bind_int(&q, now);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, session_read, err);
}

enum status sessions_touch(struct store_txn *txn, int64_t id, utc_ms now, utc_ms expires_at,
                           struct err *err)
{
    struct query q = query_begin(txn->conn, Q_SESSION_TOUCH);

    bind_int(&q, id);
    bind_int(&q, now);
    bind_int(&q, expires_at);
    return note_use(txn, &q, "there is no such session", err);
}

enum status sessions_revoke(struct store_txn *txn, int64_t id, int64_t user_id, utc_ms now,
                            struct err *err)
{
    struct query q = query_begin(txn->conn, Q_SESSION_REVOKE);

    bind_int(&q, id);
    bind_int(&q, user_id);
    bind_int(&q, now);
    return query_touch_or(&q, REASON_NOT_FOUND, "there is no such session", err);
}

enum status sessions_revoke_all(struct store_txn *txn, int64_t user_id, int64_t except, utc_ms now,
                                struct err *err)
{
    struct query q = query_begin(txn->conn, Q_SESSION_REVOKE_ALL);

    bind_int(&q, user_id);
    bind_int(&q, except);
    bind_int(&q, now);
    return query_run(&q, err);
}

/* ---------------------------------------------------------------- API tokens */

static void token_read(struct query *q, struct api_token_row *row)
{
    row->id = column_id(q);
    row->user_id = column_id(q);
    COLUMN_TEXT(q, row->name);
    row->scopes = (int)column_int(q);
    row->created_at = column_int(q);
    row->last_used_at = column_at(q);
    row->expires_at = column_at(q);
    row->revoked_at = column_at(q);
}

enum status api_tokens_create(struct store_txn *txn, int64_t user_id, const char *name, int scopes,
                              const unsigned char token_hash[STORE_HASH_SIZE], utc_ms now,
                              utc_ms expires_at, int64_t *ret_id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_API_TOKEN_PUT);

    bind_hash(&q, token_hash);
    bind_int(&q, user_id);
    bind_text(&q, name, TOKEN_NAME_SIZE);
    bind_int(&q, scopes);
    bind_int(&q, now);
    bind_at(&q, expires_at);
    return query_touch(&q, ret_id, err);
}

enum status api_tokens_find(struct store_conn *conn,
                            const unsigned char token_hash[STORE_HASH_SIZE],
                            struct api_token_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_API_TOKEN_FIND);
    struct api_token_row row;
    enum status st;

    bind_hash(&q, token_hash);
    QUERY_ONE(st, &q, row, token_read, ret_row, err, REASON_NOT_FOUND, "there is no such token");
    return st;
}

enum status api_tokens_list(struct store_conn *conn, int64_t user_id, struct api_token_row *rows,
                            size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_API_TOKEN_LIST);

    bind_int(&q, user_id);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, token_read, err);
}

enum status api_tokens_touch(struct store_txn *txn, int64_t id, utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_API_TOKEN_TOUCH);

    bind_int(&q, id);
    bind_int(&q, now);
    return note_use(txn, &q, "there is no such token", err);
}

enum status api_tokens_revoke(struct store_txn *txn, int64_t id, int64_t user_id, utc_ms now,
                              struct err *err)
{
    struct query q = query_begin(txn->conn, Q_API_TOKEN_REVOKE);

    bind_int(&q, id);
    bind_int(&q, user_id);
    bind_int(&q, now);
    return query_touch_or(&q, REASON_NOT_FOUND, "there is no such token", err);
}

/* ---------------------------------------------------------------- housekeeping */

enum status logins_purge(struct store_txn *txn, utc_ms before, int max, int64_t *ret_n,
                         struct err *err)
{
    static const enum query_id queries[] = {Q_LOGIN_LINK_PURGE, Q_REGISTRATION_PURGE,
                                            Q_SESSION_PURGE, Q_ADDRESS_CHANGE_PURGE};
    int64_t all = 0;

    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        int64_t n = 0;
        enum status st = query_purge(txn->conn, queries[i], before, max, &n, err);

        if (st != ST_OK)
            return st;
        all += n;
    }
    *ret_n = all;
    return ST_OK;
}

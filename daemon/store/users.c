/* store/users.c - see users.h. */
#include "store/users.h"

#include <stdio.h>
#include <string.h>

#include "store/internal.h"
#include "store/logins.h"
#include "store/tokens.h"

/* ---------------------------------------------------------------- accounts */

/* NULL is -1: as the installation says. */
static int64_t column_hold(struct query *q)
{
    int64_t ms = column_at(q);

    return ms == UTC_NONE ? -1 : ms;
}

static void user_read(struct query *q, struct user_row *u)
{
    u->id = column_id(q);
    COLUMN_TEXT(q, u->handle);
    COLUMN_TEXT(q, u->handle_key);
    COLUMN_TEXT(q, u->display_name);
    COLUMN_TEXT(q, u->zone);
    COLUMN_TEXT(q, u->language);
    u->is_operator = column_bool(q);
    COLUMN_TEXT(q, u->password_hash);
    COLUMN_TEXT(q, u->address);
    COLUMN_TEXT(q, u->address_key);
    u->verified_at = column_at(q);
    COLUMN_ENUM(q, address_state, u->address_state);
    u->bounces = (int)column_int(q);
    u->bounced_at = column_at(q);
    COLUMN_TEXT(q, u->bounce_text);
    u->created_at = column_int(q);
    u->updated_at = column_int(q);
    u->disabled_at = column_at(q);
    u->hold_ms = column_hold(q);
}

static enum status no_such_user(struct err *err)
{
    return err_reason(err, REASON_NO_SUCH_USER, "there is no such player");
}

/* Ends the query. */
static enum status user_one(struct query *q, struct user_row *ret_user, struct err *err)
{
    struct user_row user;
    bool has_row = false;
    enum status st = query_row(q, &has_row, err);

    if (st == ST_OK && !has_row)
        st = no_such_user(err);
    else if (st == ST_OK)
        user_read(q, &user);
    st = query_end(q, st, err);
    if (st == ST_OK)
        *ret_user = user;
    return st;
}

/* An update of one user that must be there. */
static enum status user_touch(struct query *q, struct err *err)
{
    enum status st = query_touch(q, NULL, err);

    return st == ST_NOT_FOUND ? no_such_user(err) : st;
}

/* Uniqueness that broke, in words: of the address if the index says so, else of the handle. */
static enum status explain_taken(struct store_conn *conn, enum status st, struct err *err)
{
    const char *text;

    if (st != ST_CONFLICT)
        return st;
    text = sqlite3_errmsg(conn->db);
    if (strstr(text, "address"))
        return err_detail(err, REASON_ALREADY_DONE, "refusal.address_taken",
                          "another account has this mail address");
    return err_reason(err, REASON_HANDLE_TAKEN, "this handle is taken");
}

enum status users_create(struct store_txn *txn, const struct user_row *user, utc_ms now,
                         int64_t *ret_id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_USER_PUT);
    bool has_row = false;
    int64_t id = 0;
    enum status st;

    BIND_TEXT(&q, user->handle);
    BIND_TEXT(&q, user->handle_key);
    BIND_TEXT(&q, user->display_name);
    BIND_TEXT(&q, user->zone);
    BIND_TEXT(&q, user->language);
    bind_int(&q, user->is_operator);
    bind_text_or_null(&q, user->password_hash, sizeof user->password_hash);
    bind_text_or_null(&q, user->address, sizeof user->address);
    bind_text_or_null(&q, user->address_key, sizeof user->address_key);
    bind_at(&q, user->verified_at);
    bind_int(&q, now);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK)
        id = column_id(&q);
    else
        st = explain_taken(txn->conn, st, err);
    st = query_end(&q, st, err);
    if (st == ST_OK)
        *ret_id = id;
    return st;
}

enum status users_get(struct store_conn *conn, int64_t id, struct user_row *ret_user,
                      struct err *err)
{
    struct query q = query_begin(conn, Q_USER_GET);

    bind_int(&q, id);
    return user_one(&q, ret_user, err);
}

enum status users_find_handle(struct store_conn *conn, const char *handle_key,
                              struct user_row *ret_user, struct err *err)
{
    struct query q = query_begin(conn, Q_USER_BY_HANDLE);

    bind_text(&q, handle_key, 4096); /* whatever was typed; too long is not there */
    return user_one(&q, ret_user, err);
}

enum status users_find_address(struct store_conn *conn, const char *address_key,
                               struct user_row *ret_user, struct err *err)
{
    struct query q = query_begin(conn, Q_USER_BY_ADDRESS);

    bind_text(&q, address_key, 4096);
    return user_one(&q, ret_user, err);
}

enum status users_list(struct store_conn *conn, const char *after, struct user_row *rows,
                       size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_USER_LIST);

    bind_text(&q, after, HANDLE_SIZE);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, user_read, err);
}

enum status users_set_profile(struct store_txn *txn, int64_t id, const char *display_name,
                              const char *zone, const char *language, utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_USER_SET_PROFILE);

    bind_int(&q, id);
    bind_text(&q, display_name, DISPLAY_NAME_SIZE);
    bind_text(&q, zone, ZONE_SIZE);
    bind_text(&q, language, LANGUAGE_SIZE);
    bind_int(&q, now);
    return user_touch(&q, err);
}

enum status users_set_password(struct store_txn *txn, int64_t id, const char *password_hash,
                               utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_USER_SET_PASSWORD);

    bind_int(&q, id);
    bind_text_or_null(&q, password_hash, PASSWORD_HASH_SIZE);
    bind_int(&q, now);
    return user_touch(&q, err);
}

enum status users_set_operator(struct store_txn *txn, int64_t id, bool is_operator, utc_ms now,
                               struct err *err)
{
    struct query q = query_begin(txn->conn, Q_USER_SET_OPERATOR);

    bind_int(&q, id);
    bind_int(&q, is_operator);
    bind_int(&q, now);
    return user_touch(&q, err);
}

enum status users_set_hold(struct store_txn *txn, int64_t id, int64_t hold_ms, utc_ms now,
                           struct err *err)
{
    struct query q = query_begin(txn->conn, Q_USER_SET_HOLD);

    bind_int(&q, id);
    bind_at(&q, hold_ms < 0 ? UTC_NONE : hold_ms);
    bind_int(&q, now);
    return user_touch(&q, err);
}

/* Run a change of all that a user has of something, at `now`. */
static enum status for_user(struct store_txn *txn, enum query_id id, int64_t user_id, utc_ms now,
                            struct err *err)
{
    struct query q = query_begin(txn->conn, id);

    bind_int(&q, user_id);
    bind_int(&q, now);
    return query_run(&q, err);
}

static enum status webhooks_off(struct store_txn *txn, int64_t user_id, utc_ms now,
                                struct err *err)
{
    int64_t ids[64];
    size_t n = 0;
    struct query q = query_begin(txn->conn, Q_WEBHOOKS_OFF);
    bool has_row = true;
    enum status st;

    bind_int(&q, user_id);
    bind_int(&q, now);
    while ((st = query_row(&q, &has_row, err)) == ST_OK && has_row)
        if (n < sizeof ids / sizeof ids[0])
            ids[n++] = column_id(&q);
    st = query_end(&q, st, err);
    for (size_t i = 0; st == ST_OK && i < n; i++)
        st = outbox_drop_webhook(txn, ids[i], "the account was disabled", now, err);
    return st;
}

enum status users_set_disabled(struct store_txn *txn, int64_t id, bool is_disabled, utc_ms now,
                               struct err *err)
{
    struct query q = query_begin(txn->conn, Q_USER_SET_DISABLED);
    enum status st;

    bind_int(&q, id);
    bind_at(&q, is_disabled ? now : UTC_NONE);
    bind_int(&q, now);
    st = user_touch(&q, err);
    if (st != ST_OK || !is_disabled)
        return st;
    st = sessions_revoke_all(txn, id, 0, now, err);
    if (st == ST_OK)
        st = for_user(txn, Q_API_TOKEN_REVOKE_ALL, id, now, err);
    if (st == ST_OK)
        st = for_user(txn, Q_LOGIN_LINK_EXPIRE_ALL, id, now, err);
    if (st == ST_OK)
        st = for_user(txn, Q_INVITE_REVOKE_ALL, id, now, err);
    if (st == ST_OK)
        st = tokens_revoke_user(txn, id, now, err);
    if (st == ST_OK)
        st = webhooks_off(txn, id, now, err);
    return st;
}

enum status users_set_address(struct store_txn *txn, int64_t id, const char *address,
                              const char *address_key, utc_ms verified_at, utc_ms now,
                              struct err *err)
{
    struct query q = query_begin(txn->conn, Q_USER_SET_ADDRESS);
    enum status st;

    bind_int(&q, id);
    bind_text_or_null(&q, address, ADDRESS_SIZE);
    bind_text_or_null(&q, address_key, ADDRESS_SIZE);
    bind_at(&q, verified_at);
    bind_int(&q, now);
    st = user_touch(&q, err);
    return explain_taken(txn->conn, st, err);
}

enum status users_set_verified(struct store_txn *txn, int64_t id, utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_USER_SET_VERIFIED);
    enum status st;

    bind_int(&q, id);
    bind_int(&q, now);
    st = user_touch(&q, err);
    return explain_taken(txn->conn, st, err);
}

enum status users_bounce(struct store_txn *txn, int64_t id, bool is_hard, int limit,
                         const char *text, utc_ms now, bool *ret_suspended, struct err *err)
{
    struct user_row user;
    char scratch[BOUNCE_TEXT_SIZE];
    struct query q;
    bool suspends;
    enum status st = users_get(txn->conn, id, &user, err);

    if (st != ST_OK)
        return st;
    if (is_hard) {
        if (user.bounces < limit)
            user.bounces = limit;
    } else if (user.bounced_at == UTC_NONE || now - user.bounced_at >= MS_DAY) {
        if (user.bounced_at != UTC_NONE && now - user.bounced_at > USERS_BOUNCE_FORGOTTEN_MS &&
            user.address_state == ADDRESS_OK)
            user.bounces = 0;
        user.bounces++;
        user.bounced_at = now;
    }
    suspends = user.bounces >= limit && user.address_state == ADDRESS_OK;
    q = query_begin(txn->conn, Q_USER_SET_BOUNCE);
    bind_int(&q, id);
    bind_int(&q, user.bounces);
    bind_at(&q, user.bounced_at == UTC_NONE || is_hard ? now : user.bounced_at);
    bind_cut(&q, text, sizeof scratch, scratch);
    BIND_WORD(&q, address_state_str(suspends ? ADDRESS_SUSPENDED : user.address_state));
    bind_int(&q, now);
    st = user_touch(&q, err);
    if (st == ST_OK && ret_suspended)
        *ret_suspended = suspends;
    return st;
}

enum status users_reached(struct store_txn *txn, int64_t id, utc_ms now, struct err *err)
{
    return for_user(txn, Q_USER_SET_REACHED, id, now, err);
}

/* ---------------------------------------------------------------- changing the address */

static void change_read(struct query *q, struct address_change_row *row)
{
    row->id = column_id(q);
    row->user_id = column_id(q);
    COLUMN_TEXT(q, row->address);
    COLUMN_TEXT(q, row->address_key);
    row->has_old = column_bool(q);
    row->old_confirmed_at = column_at(q);
    row->new_confirmed_at = column_at(q);
    COLUMN_ENUM(q, address_change_state, row->state);
    row->created_at = column_int(q);
    row->expires_at = column_int(q);
}

/* Ends the query.  ST_NOT_FOUND without words when there is none. */
static enum status change_one(struct query *q, struct address_change_row *ret_row,
                              struct err *err)
{
    struct address_change_row row;
    bool has_row = false;
    enum status st = query_row(q, &has_row, err);

    if (st == ST_OK && !has_row)
        st = err_detail(err, REASON_NOT_FOUND, "refusal.no_change",
                        "no change of address is under way");
    else if (st == ST_OK)
        change_read(q, &row);
    st = query_end(q, st, err);
    if (st == ST_OK)
        *ret_row = row;
    return st;
}

/* An update of one change that must be pending. */
static enum status change_touch(struct query *q, struct err *err)
{
    enum status st = query_touch(q, NULL, err);

    return st == ST_NOT_FOUND ? err_detail(err, REASON_ALREADY_DONE, "refusal.change_gone",
                                           "this change of address is not pending any more")
                              : st;
}

enum status address_changes_begin(struct store_txn *txn, int64_t user_id, const char *address,
                                  const char *address_key, const unsigned char *old_token_hash,
                                  const unsigned char *new_token_hash, utc_ms now,
                                  utc_ms expires_at, int64_t *ret_id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_ADDRESS_CHANGE_CANCEL);
    enum status st;

    bind_int(&q, user_id);
    st = query_run(&q, err);
    if (st != ST_OK)
        return st;
    q = query_begin(txn->conn, Q_ADDRESS_CHANGE_PUT);
    bind_int(&q, user_id);
    bind_text(&q, address, ADDRESS_SIZE);
    bind_text(&q, address_key, ADDRESS_SIZE);
    bind_hash(&q, old_token_hash);
    bind_hash(&q, new_token_hash);
    bind_int(&q, now);
    bind_int(&q, expires_at);
    return query_touch(&q, ret_id, err);
}

enum status address_changes_find(struct store_conn *conn,
                                 const unsigned char token_hash[STORE_HASH_SIZE],
                                 struct address_change_row *ret_row, bool *ret_is_old,
                                 struct err *err)
{
    struct query q = query_begin(conn, Q_ADDRESS_CHANGE_BY_NEW);
    enum status st;

    bind_hash(&q, token_hash);
    st = change_one(&q, ret_row, err);
    if (st == ST_OK) {
        *ret_is_old = false;
        return st;
    }
    if (st != ST_NOT_FOUND)
        return st;
    q = query_begin(conn, Q_ADDRESS_CHANGE_BY_OLD);
    bind_hash(&q, token_hash);
    st = change_one(&q, ret_row, err);
    if (st == ST_OK)
        *ret_is_old = true;
    return st;
}

enum status address_changes_get(struct store_conn *conn, int64_t id,
                                struct address_change_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_ADDRESS_CHANGE_GET);

    bind_int(&q, id);
    return change_one(&q, ret_row, err);
}

enum status address_changes_pending(struct store_conn *conn, int64_t user_id,
                                    struct address_change_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_ADDRESS_CHANGE_PENDING);

    bind_int(&q, user_id);
    return change_one(&q, ret_row, err);
}

enum status address_changes_count(struct store_conn *conn, int64_t user_id, utc_ms since,
                                  int64_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_ADDRESS_CHANGE_COUNT);

    bind_int(&q, user_id);
    bind_int(&q, since);
    return query_int(&q, ret_n, err);
}

enum status address_changes_set_token(struct store_txn *txn, int64_t id, bool is_old,
                                      const unsigned char token_hash[STORE_HASH_SIZE],
                                      struct err *err)
{
    struct query q = query_begin(txn->conn, is_old ? Q_ADDRESS_CHANGE_OLD_TOKEN
                                                   : Q_ADDRESS_CHANGE_NEW_TOKEN);

    bind_int(&q, id);
    bind_hash(&q, token_hash);
    return change_touch(&q, err);
}

enum status address_changes_confirm(struct store_txn *txn, int64_t id, bool is_old, utc_ms now,
                                    struct err *err)
{
    struct query q =
        query_begin(txn->conn, is_old ? Q_ADDRESS_CHANGE_OLD_YES : Q_ADDRESS_CHANGE_NEW_YES);

    bind_int(&q, id);
    bind_int(&q, now);
    return change_touch(&q, err);
}

enum status address_changes_settle(struct store_txn *txn, int64_t id,
                                   enum address_change_state state, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_ADDRESS_CHANGE_SETTLE);

    bind_int(&q, id);
    BIND_WORD(&q, address_change_state_str(state));
    return change_touch(&q, err);
}

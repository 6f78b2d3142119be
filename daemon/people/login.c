/* Logging in: links, passwords, sessions, tokens. */
#include <sodium.h>
#include <string.h>

#include "base/str.h"
#include "people/letters.h"
#include "people/passwords.h"
#include "people/people.h"
#include "store/games.h"
#include "store/outage.h"

/* The account of a handle or an address.  ST_NOT_FOUND. */
static enum status user_find(struct store_conn *conn, const char *login, struct user_row *ret,
                             struct err *err)
{
    char key[ADDRESS_MAX + 1];

    if (strchr(login, '@')) {
        if (address_is_fit(login, NULL) != ST_OK)
            return err_detail(err, REASON_NO_SUCH_USER, "refusal.no_account",
                              "there is no such account");
        address_fold(login, key);
        return users_find_address(conn, key, ret, err);
    }
    if (strlen(login) > HANDLE_MAX)
        return err_detail(err, REASON_NO_SUCH_USER, "refusal.no_account",
                          "there is no such account");
    handle_fold(login, key);
    return users_find_handle(conn, key, ret, err);
}

enum status login_letter_put(const struct people *p, struct store_txn *txn,
                             const struct user_row *user, const char *template_name, utc_ms now,
                             struct err *err)
{
    unsigned char hash[DIGEST_SIZE];
    int64_t n, id;
    enum status st;

    if (user->disabled_at != UTC_NONE || !user->address[0])
        return heartbeat_keep(txn, err);
    st = login_links_count(store_txn_conn(txn), user->id, now - MS_HOUR, &n, err);
    if (st != ST_OK)
        return st;
    if (n >= p->letters_an_hour)
        return heartbeat_keep(txn, err);
    secret_hash_of_none(p, hash);
    TRY(login_links_create(txn, user->id, hash, /* prelogin_hash= */ NULL, now,
                           now + LINK_LIFE_MS, &id, err));
    return letter_put(txn,
                      &(struct letter_wish){.cls = NOTICE_LOGIN,
                                            .template_name = template_name,
                                            .user_id = user->id,
                                            .about = "link",
                                            .about_id = id,
                                            .expires_at = now + LINK_LIFE_MS},
                      now, err);
}

enum status people_ask_login(const struct people *p, struct store_txn *txn, const char *login,
                             utc_ms now, struct err *err)
{
    struct user_row user;
    enum status st = user_find(store_txn_conn(txn), login, &user, err);

    if (st == ST_NOT_FOUND) /* nobody is to learn it, nor to read it off the clock */
        return heartbeat_keep(txn, err);
    if (st != ST_OK)
        return st;
    return login_letter_put(p, txn, &user, "login", now, err);
}

enum status people_link_make(const struct people *p, struct store_txn *txn, int64_t user_id,
                             utc_ms now, char ret_secret[SECRET_SIZE], struct err *err)
{
    unsigned char hash[DIGEST_SIZE];
    char secret[SECRET_SIZE];
    struct user_row user;
    int64_t id;
    enum status st = users_get(store_txn_conn(txn), user_id, &user, err);

    if (st != ST_OK)
        return st;
    TRY(people_is_open(&user, err));
    secret_make(p, secret);
    secret_hash(secret, hash);
    st = login_links_create(txn, user_id, hash, /* prelogin_hash= */ NULL, now,
                            now + LINK_LIFE_MS, &id, err);
    if (st == ST_OK)
        memcpy(ret_secret, secret, sizeof secret);
    sodium_memzero(secret, sizeof secret);
    return st;
}

/* Make room for one more session by ending the one unused longest. */
static enum status sessions_thin(struct store_txn *txn, int64_t user_id, utc_ms now,
                                 struct err *err)
{
    struct session_row rows[PEOPLE_SESSIONS_MAX];
    size_t n, oldest = 0;
    enum status st = sessions_list(store_txn_conn(txn), user_id, now, rows, COUNT_OF(rows), &n,
                                   err);

    if (st != ST_OK || n < COUNT_OF(rows))
        return st;
    for (size_t i = 1; i < n; i++)
        if (rows[i].last_used_at < rows[oldest].last_used_at)
            oldest = i;
    return sessions_revoke(txn, rows[oldest].id, user_id, now, err);
}

/* Begin a session. */
static enum status session_begin(const struct people *p, struct store_txn *txn,
                                 const struct user_row *user, enum login_method method,
                                 const char *agent, utc_ms now, struct people_login *ret,
                                 struct err *err)
{
    struct people_login login = {.user_id = user->id, .expires_at = now + SESSION_LIFE_MS};
    unsigned char hash[DIGEST_SIZE];
    char clean[AGENT_SIZE];
    size_t n = 0;
    enum status st;

    TRY(people_is_open(user, err));
    TRY(sessions_thin(txn, user->id, now, err));
    for (const char *a = agent ? agent : ""; *a && n + 1 < sizeof clean; a++)
        clean[n++] = *a >= 0x20 && *a < 0x7f ? *a : '?'; /* it is shown to its owner */
    clean[n] = '\0';
    secret_make(p, login.secret);
    secret_hash(login.secret, hash);
    st = sessions_create(txn, user->id, method, clean, hash, now, now + SESSION_IDLE_MS,
                         &login.session_id, err);
    if (st == ST_OK)
        *ret = login;
    sodium_memzero(&login, sizeof login);
    return st;
}

/* The account that a registration asked for, and the invitations to games that wait for its
 * address. */
static enum status registration_finish(struct store_txn *txn, const struct registration_row *row,
                                       utc_ms now, struct user_row *ret_user, struct err *err)
{
    struct invitation_row waiting[32];
    struct user_row user = {.verified_at = now, .bounced_at = UTC_NONE, .disabled_at = UTC_NONE};
    size_t n;
    int64_t id;
    enum status st;

    (void)str_copy(user.handle, sizeof user.handle, row->handle);
    (void)str_copy(user.handle_key, sizeof user.handle_key, row->handle_key);
    (void)str_copy(user.display_name, sizeof user.display_name, row->display_name);
    (void)str_copy(user.zone, sizeof user.zone, row->zone);
    (void)str_copy(user.language, sizeof user.language, row->language);
    (void)str_copy(user.address, sizeof user.address, row->address);
    (void)str_copy(user.address_key, sizeof user.address_key, row->address_key);
    st = users_create(txn, &user, now, &id, err);
    if (st == ST_CONFLICT && err && err->reason == REASON_ALREADY_DONE)
        return err_detail(err, REASON_LINK_EXPIRED, "refusal.address_has_account",
                          "the address has an account by now; log in instead");
    if (st == ST_OK && row->invite_id) {
        st = invites_use(txn, row->invite_id, id, now, err);
        if (st == ST_GONE)
            st = err_detail(err, REASON_INVITE_NEEDED, "refusal.invite_gone",
                            "this invitation has been used, taken back or has expired");
    }
    if (st == ST_OK)
        st = invitations_of_address(store_txn_conn(txn), row->address_key, waiting,
                                    COUNT_OF(waiting), &n, err);
    for (size_t i = 0; st == ST_OK && i < n; i++)
        if (waiting[i].user_id == 0)
            st = invitations_claim(txn, waiting[i].id, id, err);
    if (st == ST_OK)
        st = users_get(store_txn_conn(txn), id, ret_user, err);
    return st;
}

enum status people_login_by_link(const struct people *p, struct store_txn *txn, const char *secret,
                                 const char *agent, utc_ms now, struct people_login *ret,
                                 struct err *err)
{
    unsigned char hash[DIGEST_SIZE];
    struct login_link_row link;
    struct registration_row registration;
    struct user_row user;
    struct err inner = ERR_INIT;
    bool is_new = false;
    enum status st;

    if (!secret_is_shaped(secret))
        return err_reason(err, REASON_LINK_EXPIRED, "this link has been used or has expired");
    secret_hash(secret, hash);
    st = login_links_use(txn, hash, now, &link, &inner);
    if (st == ST_OK) {
        st = users_get(store_txn_conn(txn), link.user_id, &user, &inner);
        if (st == ST_OK && user.verified_at == UTC_NONE && user.disabled_at == UTC_NONE)
            st = users_set_verified(txn, user.id, now, &inner);
        if (st == ST_OK && user.disabled_at == UTC_NONE && p->on_reached)
            st = p->on_reached(txn, user.id, now, p->on_reached_arg, &inner);
    } else if (st == ST_GONE) {
        st = registrations_use(txn, hash, now, &registration, &inner);
        if (st == ST_OK) {
            is_new = true;
            st = registration_finish(txn, &registration, now, &user, &inner);
        }
    }
    if (st == ST_OK)
        st = session_begin(p, txn, &user, is_new ? LOGIN_BY_REGISTRATION : LOGIN_BY_LINK, agent,
                           now, ret, &inner);
    if (st == ST_OK)
        ret->is_new = is_new;
    else if (err)
        *err = inner;
    return st;
}

enum status people_password_find(struct store_conn *conn, const char *login, int64_t *ret_user_id,
                                 char *ret_hash, size_t size, struct err *err)
{
    struct user_row user;
    enum status st = user_find(conn, login, &user, err);

    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    if (st == ST_NOT_FOUND || user.disabled_at != UTC_NONE || !user.password_hash[0]) {
        *ret_user_id = 0;
        (void)str_copy(ret_hash, size, "");
        return ST_OK;
    }
    *ret_user_id = user.id;
    (void)str_copy(ret_hash, size, user.password_hash);
    return ST_OK;
}

enum status people_login_by_password(const struct people *p, struct store_txn *txn,
                                     int64_t user_id, const char *hash, const char *new_hash,
                                     const char *agent, utc_ms now, struct people_login *ret,
                                     struct err *err)
{
    struct user_row user;
    enum status st = user_id ? users_get(store_txn_conn(txn), user_id, &user, err) : ST_NOT_FOUND;

    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    if (st == ST_NOT_FOUND || !hash[0] || !str_eq(user.password_hash, hash) ||
        user.disabled_at != UTC_NONE)
        return err_detail(err, REASON_BAD_CREDENTIALS, "refusal.login_wrong",
                          "the name and the password do not belong together");
    if (new_hash && (st = users_set_password(txn, user_id, new_hash, now, err)) != ST_OK)
        return st;
    return session_begin(p, txn, &user, LOGIN_BY_PASSWORD, agent, now, ret, err);
}

static enum status login_needed(const char *what, struct err *err)
{
    return str_eq(what, "token") ? err_detail(err, REASON_LOGIN_NEEDED, "refusal.token_dead",
                                              "this token is not valid, or not any more")
                                 : err_detail(err, REASON_LOGIN_NEEDED, "refusal.session_dead",
                                              "this session is over: log in again");
}

/* Fill in what the account says. */
static enum status who_finish(struct store_conn *conn, struct people_who *who, const char *what,
                              struct err *err)
{
    struct user_row user;
    enum status st = users_get(conn, who->user_id, &user, err);

    if (st != ST_OK)
        return st;
    if (user.disabled_at != UTC_NONE)
        return login_needed(what, err);
    who->is_operator = user.is_operator && (who->scopes & SCOPE_MANAGE);
    return ST_OK;
}

/* It has to be looked up again when it ends, and when people_touch() is due. */
static utc_ms holds_until(utc_ms last_used_at, utc_ms expires_at)
{
    utc_ms touch_at = last_used_at == UTC_NONE ? UTC_NONE : last_used_at + TOUCH_MS;

    return expires_at != UTC_NONE && expires_at < touch_at ? expires_at : touch_at;
}

enum status people_by_session(struct store_conn *conn, const char *secret, utc_ms now,
                              struct people_who *ret, struct err *err)
{
    struct people_who who = {.scopes = SCOPES_ALL};
    unsigned char hash[DIGEST_SIZE];
    struct session_row row;
    enum status st;

    if (!secret_is_shaped(secret))
        return login_needed("session", err);
    secret_hash(secret, hash);
    st = sessions_find(conn, hash, &row, err);
    if (st == ST_NOT_FOUND ||
        (st == ST_OK && (row.revoked_at != UTC_NONE || row.expires_at <= now)))
        return login_needed("session", err);
    if (st != ST_OK)
        return st;
    who.user_id = row.user_id;
    who.session_id = row.id;
    who.needs_touch = now - row.last_used_at >= TOUCH_MS;
    who.holds_until = holds_until(row.last_used_at, row.expires_at);
    who.touch_until = now + SESSION_IDLE_MS;
    if (who.touch_until > row.created_at + SESSION_LIFE_MS)
        who.touch_until = row.created_at + SESSION_LIFE_MS;
    st = who_finish(conn, &who, "session", err);
    if (st == ST_OK)
        *ret = who;
    return st;
}

enum status people_by_token(struct store_conn *conn, const char *token, utc_ms now,
                            struct people_who *ret, struct err *err)
{
    struct people_who who = {.touch_until = UTC_NONE};
    unsigned char hash[DIGEST_SIZE];
    struct api_token_row row;
    enum status st;

    if (!str_starts(token, "fh_") || !secret_is_shaped(token + 3))
        return login_needed("token", err);
    secret_hash(token, hash);
    st = api_tokens_find(conn, hash, &row, err);
    if (st == ST_NOT_FOUND ||
        (st == ST_OK && (row.revoked_at != UTC_NONE ||
                         (row.expires_at != UTC_NONE && row.expires_at <= now))))
        return login_needed("token", err);
    if (st != ST_OK)
        return st;
    who.user_id = row.user_id;
    who.token_id = row.id;
    who.scopes = (unsigned)row.scopes;
    who.needs_touch = row.last_used_at == UTC_NONE || now - row.last_used_at >= TOUCH_MS;
    who.holds_until = holds_until(row.last_used_at, row.expires_at);
    st = who_finish(conn, &who, "token", err);
    if (st == ST_OK)
        *ret = who;
    return st;
}

enum status people_touch(struct store_txn *txn, const struct people_who *who, utc_ms now,
                         struct err *err)
{
    return who->session_id ? sessions_touch(txn, who->session_id, now, who->touch_until, err)
                           : api_tokens_touch(txn, who->token_id, now, err);
}

enum status people_sessions(struct store_conn *conn, int64_t user_id, utc_ms now,
                            struct session_row *ret, size_t max, size_t *ret_count,
                            struct err *err)
{
    return sessions_list(conn, user_id, now, ret, max, ret_count, err);
}

enum status people_session_end(struct store_txn *txn, int64_t user_id, int64_t session_id,
                               utc_ms now, struct err *err)
{
    enum status st = sessions_revoke(txn, session_id, user_id, now, err);

    return st == ST_NOT_FOUND
               ? err_detail(err, REASON_NOT_FOUND, "refusal.no_session", "there is no such session")
               : st;
}

enum status people_sessions_end(struct store_txn *txn, int64_t user_id, int64_t keep, utc_ms now,
                                struct err *err)
{
    return sessions_revoke_all(txn, user_id, keep, now, err);
}

/* Count the tokens that work, and revoke those that have expired, so that they never crowd the
 * list. */
static enum status tokens_tidy(struct store_txn *txn, int64_t user_id, utc_ms now, int64_t *ret,
                               struct err *err)
{
    struct api_token_row rows[PEOPLE_TOKENS_MAX + 1];
    int64_t good = 0;
    size_t n;
    enum status st = api_tokens_list(store_txn_conn(txn), user_id, rows, COUNT_OF(rows), &n, err);

    for (size_t i = 0; st == ST_OK && i < n; i++) {
        if (rows[i].expires_at == UTC_NONE || rows[i].expires_at > now)
            good++;
        else
            st = api_tokens_revoke(txn, rows[i].id, user_id, now, err);
    }
    if (st == ST_OK)
        *ret = good;
    return st;
}

enum status people_token_make(const struct people *p, struct store_txn *txn, int64_t user_id,
                              unsigned own_scopes, const char *name, unsigned scopes,
                              utc_ms expires_at, utc_ms now, char ret_token[API_TOKEN_SIZE],
                              int64_t *ret_id, struct err *err)
{
    unsigned char hash[DIGEST_SIZE];
    char token[API_TOKEN_SIZE] = "fh_";
    int64_t id, n = 0;
    enum status st = name_is_fit(name, err);

    if (st != ST_OK) {
        err_prefix(err, "name of the token");
        return st;
    }
    if (strlen(name) >= TOKEN_NAME_SIZE)
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.token_name",
                          "a token's name has at most {most} bytes",
                          ERR_NUMBER("most", TOKEN_NAME_SIZE - 1));
    if (scopes == 0 || scopes > SCOPES_ALL)
        return err_detail(err, REASON_BAD_FIELD, "refusal.token_scopes",
                          "a token has scopes of `read`, `play` and `manage`");
    if (scopes & ~own_scopes)
        return err_detail(err, REASON_SCOPE_NEEDED, "refusal.token_more",
                          "a token cannot make one that may do more than itself");
    if (expires_at != UTC_NONE && expires_at <= now)
        return err_detail(err, REASON_BAD_FIELD, "refusal.token_expiry",
                          "a token expires in the future, or never");
    TRY(tokens_tidy(txn, user_id, now, &n, err));
    if (n >= p->tokens_max)
        return ERR_DETAIL(err, REASON_LIMIT, "refusal.tokens_most",
                          "an account holds at most {most} tokens",
                          ERR_NUMBER("most", p->tokens_max));
    secret_make(p, token + 3);
    secret_hash(token, hash);
    st = api_tokens_create(txn, user_id, name, (int)scopes, hash, now, expires_at, &id, err);
    if (st == ST_OK) {
        memcpy(ret_token, token, sizeof token);
        *ret_id = id;
    }
    sodium_memzero(token, sizeof token);
    return st;
}

enum status people_tokens(struct store_conn *conn, int64_t user_id, utc_ms now,
                          struct api_token_row *ret, size_t max, size_t *ret_count,
                          struct err *err)
{
    size_t n, kept = 0;
    enum status st = api_tokens_list(conn, user_id, ret, max, &n, err);

    if (st != ST_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        if (ret[i].expires_at == UTC_NONE || ret[i].expires_at > now)
            ret[kept++] = ret[i];
    *ret_count = kept;
    return ST_OK;
}

enum status people_token_revoke(struct store_txn *txn, int64_t user_id, int64_t token_id,
                                utc_ms now, struct err *err)
{
    enum status st = api_tokens_revoke(txn, token_id, user_id, now, err);

    return st == ST_NOT_FOUND
               ? err_detail(err, REASON_NOT_FOUND, "refusal.no_token", "there is no such token")
               : st;
}

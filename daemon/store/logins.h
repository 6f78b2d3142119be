/*
 * store/logins.h - what lets somebody in: registrations, invites, login links, sessions, tokens.
 *
 * Of every secret only the SHA-256 is kept.  A row that is used, revoked or expired stays findable
 * until logins_purge() removes it, so that "used already" can be told from "never was"; whoever
 * looks one up compares used_at, revoked_at and expires_at with now.  The …_use() functions do it
 * in one step, in the writer, so that of two at once one wins.
 *
 *   link, registration, invite:  fresh --use--> used;  fresh --time--> expired
 *   session, token:              good --revoke--> revoked;  good --time--> expired
 *
 * A mailed secret is best made when its letter is composed, so that it never waits in a queue: the
 * row is then created with the hash of something nobody knows, and …_set_token() puts the real one.
 *
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_LOGINS_H
#define FH_STORE_LOGINS_H

#include "store/kinds.h"
#include "store/users.h"

/* ---------------------------------------------------------------- login links */

struct login_link_row {
    int64_t id;
    int64_t user_id;
    bool has_prelogin;
    unsigned char prelogin_hash[STORE_HASH_SIZE]; /* of the cookie of the browser that asked */
    utc_ms created_at, expires_at;
    utc_ms used_at; /* UTC_NONE: fresh */
};

MUST_CHECK enum status login_links_create(struct store_txn *txn, int64_t user_id,
                                          const unsigned char token_hash[STORE_HASH_SIZE],
                                          const unsigned char *prelogin_hash /* NULL: none */,
                                          utc_ms now, utc_ms expires_at, int64_t *ret_id,
                                          struct err *err);
MUST_CHECK enum status login_links_find(struct store_conn *conn,
                                        const unsigned char token_hash[STORE_HASH_SIZE],
                                        struct login_link_row *ret_row, struct err *err);
/* Mark it used.  ST_GONE (REASON_LINK_EXPIRED) when unknown, used or expired. */
MUST_CHECK enum status login_links_use(struct store_txn *txn,
                                       const unsigned char token_hash[STORE_HASH_SIZE], utc_ms now,
                                       struct login_link_row *ret_row, struct err *err);
/* Replace its token and time, when its letter is composed at last.  ST_GONE (REASON_LINK_EXPIRED)
 * when it was used. */
MUST_CHECK enum status login_links_set_token(struct store_txn *txn, int64_t id,
                                             const unsigned char token_hash[STORE_HASH_SIZE],
                                             utc_ms expires_at, struct err *err);
MUST_CHECK enum status login_links_get(struct store_conn *conn, int64_t id,
                                       struct login_link_row *ret_row, struct err *err);
/* Links that were mailed to the user since then, not those made to be handed over. */
MUST_CHECK enum status login_links_count(struct store_conn *conn, int64_t user_id, utc_ms since,
                                         int64_t *ret_n, struct err *err);

/* ---------------------------------------------------------------- registrations */

struct registration_row {
    int64_t id;
    char handle[HANDLE_SIZE], handle_key[HANDLE_SIZE];
    char display_name[DISPLAY_NAME_SIZE];
    char zone[ZONE_SIZE];
    char language[LANGUAGE_SIZE];
    char address[ADDRESS_SIZE], address_key[ADDRESS_SIZE];
    int64_t invite_id; /* 0: none */
    utc_ms created_at, expires_at;
    utc_ms used_at; /* UTC_NONE: fresh */
};

MUST_CHECK enum status registrations_create(struct store_txn *txn,
                                            const struct registration_row *row,
                                            const unsigned char token_hash[STORE_HASH_SIZE],
                                            int64_t *ret_id, struct err *err);
MUST_CHECK enum status registrations_find(struct store_conn *conn,
                                          const unsigned char token_hash[STORE_HASH_SIZE],
                                          struct registration_row *ret_row, struct err *err);
/* Mark it used.  ST_GONE (REASON_LINK_EXPIRED) when unknown, used or expired.  The account is made
 * by users_create() in the same transaction. */
MUST_CHECK enum status registrations_use(struct store_txn *txn,
                                         const unsigned char token_hash[STORE_HASH_SIZE],
                                         utc_ms now, struct registration_row *ret_row,
                                         struct err *err);
/* Replace its token and time, when its letter is composed at last.  ST_GONE (REASON_LINK_EXPIRED)
 * when it was used. */
MUST_CHECK enum status registrations_set_token(struct store_txn *txn, int64_t id,
                                               const unsigned char token_hash[STORE_HASH_SIZE],
                                               utc_ms expires_at, struct err *err);
MUST_CHECK enum status registrations_get(struct store_conn *conn, int64_t id,
                                         struct registration_row *ret_row, struct err *err);
/* How many the address has asked for since then; address_key NULL: all together. */
MUST_CHECK enum status registrations_count(struct store_conn *conn, const char *address_key,
                                           utc_ms since, int64_t *ret_n, struct err *err);

/* ---------------------------------------------------------------- invites to register */

enum { INVITE_NOTE_SIZE = 201 };
struct invite_row {
    int64_t id;
    int64_t created_by;
    char address[ADDRESS_SIZE]; /* "" : for whoever has it */
    char note[INVITE_NOTE_SIZE];
    utc_ms created_at, expires_at;
    int64_t used_by; /* 0: nobody */
    utc_ms used_at, revoked_at; /* UTC_NONE */
};

MUST_CHECK enum status invites_create(struct store_txn *txn, int64_t created_by,
                                      const char *address, const char *note,
                                      const unsigned char token_hash[STORE_HASH_SIZE], utc_ms now,
                                      utc_ms expires_at, int64_t *ret_id, struct err *err);
MUST_CHECK enum status invites_find(struct store_conn *conn,
                                    const unsigned char token_hash[STORE_HASH_SIZE],
                                    struct invite_row *ret_row, struct err *err);
MUST_CHECK enum status invites_get(struct store_conn *conn, int64_t id,
                                   struct invite_row *ret_row, struct err *err);
/* All there have been, newest first, of those made before the one `before` (0: from the newest). */
MUST_CHECK enum status invites_list(struct store_conn *conn, int64_t before,
                                    struct invite_row *rows, size_t max, size_t *ret_n,
                                    struct err *err);
/* ST_GONE when used, revoked or expired. */
MUST_CHECK enum status invites_use(struct store_txn *txn, int64_t id, int64_t used_by, utc_ms now,
                                   struct err *err);
/* Take it back.  ST_GONE when used or revoked already. */
MUST_CHECK enum status invites_revoke(struct store_txn *txn, int64_t id, utc_ms now,
                                      struct err *err);

/* ---------------------------------------------------------------- sessions */

enum { AGENT_SIZE = 201 };
struct session_row {
    int64_t id;
    int64_t user_id;
    enum login_method method;
    char agent[AGENT_SIZE];
    utc_ms created_at, last_used_at, expires_at;
    utc_ms revoked_at; /* UTC_NONE: good */
};

MUST_CHECK enum status sessions_create(struct store_txn *txn, int64_t user_id,
                                       enum login_method method, const char *agent /* cut */,
                                       const unsigned char token_hash[STORE_HASH_SIZE],
                                       utc_ms now, utc_ms expires_at, int64_t *ret_id,
                                       struct err *err);
MUST_CHECK enum status sessions_find(struct store_conn *conn,
                                     const unsigned char token_hash[STORE_HASH_SIZE],
                                     struct session_row *ret_row, struct err *err);
/* Neither revoked nor expired, newest first. */
MUST_CHECK enum status sessions_list(struct store_conn *conn, int64_t user_id, utc_ms now,
                                     struct session_row *rows, size_t max, size_t *ret_n,
                                     struct err *err);
MUST_CHECK enum status sessions_touch(struct store_txn *txn, int64_t id, utc_ms now,
                                      utc_ms expires_at, struct err *err);
/* ST_NOT_FOUND unless it is that user's. */
MUST_CHECK enum status sessions_revoke(struct store_txn *txn, int64_t id, int64_t user_id,
                                       utc_ms now, struct err *err);
/* All of the user's but `except` (0: all). */
MUST_CHECK enum status sessions_revoke_all(struct store_txn *txn, int64_t user_id, int64_t except,
                                           utc_ms now, struct err *err);

/* ---------------------------------------------------------------- API tokens */

/* bits of api_token_row.scopes; also the words of the API */
enum { SCOPE_READ = 1, SCOPE_PLAY = 2, SCOPE_MANAGE = 4, SCOPES_ALL = 7 };
enum { TOKEN_NAME_SIZE = 101 };
struct api_token_row {
    int64_t id;
    int64_t user_id;
    char name[TOKEN_NAME_SIZE];
    int scopes;
    utc_ms created_at;
    utc_ms last_used_at, expires_at, revoked_at; /* UTC_NONE: never, for ever, good */
};

MUST_CHECK enum status api_tokens_create(struct store_txn *txn, int64_t user_id, const char *name,
                                         int scopes,
                                         const unsigned char token_hash[STORE_HASH_SIZE],
                                         utc_ms now, utc_ms expires_at, int64_t *ret_id,
                                         struct err *err);
MUST_CHECK enum status api_tokens_find(struct store_conn *conn,
                                       const unsigned char token_hash[STORE_HASH_SIZE],
                                       struct api_token_row *ret_row, struct err *err);
/* Not revoked (expired ones too), newest first. */
MUST_CHECK enum status api_tokens_list(struct store_conn *conn, int64_t user_id,
                                       struct api_token_row *rows, size_t max, size_t *ret_n,
                                       struct err *err);
MUST_CHECK enum status api_tokens_touch(struct store_txn *txn, int64_t id, utc_ms now,
                                        struct err *err);
/* ST_NOT_FOUND unless it is that user's. */
MUST_CHECK enum status api_tokens_revoke(struct store_txn *txn, int64_t id, int64_t user_id,
                                         utc_ms now, struct err *err);

/* ---------------------------------------------------------------- housekeeping */

/* Remove links, registrations, sessions and address changes that expired before `before`, at most
 * `max` rows of each; *ret_n: how many it was. */
MUST_CHECK enum status logins_purge(struct store_txn *txn, utc_ms before, int max, int64_t *ret_n,
                                    struct err *err);

#endif

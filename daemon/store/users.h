/*
 * store/users.h - accounts and their mail addresses.
 *
 * handle_key and address_key are what makes two of them equal; people/ folds the case.  One
 * account an address, once it is verified.  Accounts are disabled, never deleted.
 *
 *   address state:  ok --users_bounce() up to the limit--> suspended --users_reached()--> ok
 *
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_USERS_H
#define FH_STORE_USERS_H

#include "store/kinds.h"
#include "store/store.h"

enum {
    HANDLE_SIZE = 33,         /* 32 bytes */
    DISPLAY_NAME_SIZE = 129,  /* 128 bytes */
    ZONE_SIZE = 65,           /* "America/Argentina/ComodRivadavia" is 32 */
    LANGUAGE_SIZE = 36,       /* RFC 5646 asks for 35 */
    ADDRESS_SIZE = 321,       /* 64 @ 255 */
    PASSWORD_HASH_SIZE = 129, /* crypto_pwhash_STRBYTES + 1 */
    BOUNCE_TEXT_SIZE = 201
};

struct user_row {
    int64_t id;
    char handle[HANDLE_SIZE];
    char handle_key[HANDLE_SIZE];
    char display_name[DISPLAY_NAME_SIZE];
    char zone[ZONE_SIZE];
    char language[LANGUAGE_SIZE];
    bool is_operator;
    char password_hash[PASSWORD_HASH_SIZE]; /* "" : none */
    char address[ADDRESS_SIZE];             /* "" : none */
    char address_key[ADDRESS_SIZE];
    utc_ms verified_at; /* of the address; UTC_NONE */
    enum address_state address_state;
    int bounces;
    utc_ms bounced_at;
    char bounce_text[BOUNCE_TEXT_SIZE];
    utc_ms created_at, updated_at;
    utc_ms disabled_at; /* UTC_NONE: open */
    int64_t hold_ms;    /* moves by mail are held so long; 0: not; -1: as the installation says */
};

/* Uses handle … language, is_operator, password_hash, address, address_key, verified_at of *user.
 * ST_CONFLICT with REASON_HANDLE_TAKEN, or with REASON_ALREADY_DONE when a verified account has the
 * address. */
MUST_CHECK enum status users_create(struct store_txn *txn, const struct user_row *user, utc_ms now,
                                    int64_t *ret_id, struct err *err);

/* ST_NOT_FOUND (REASON_NO_SUCH_USER).  Disabled accounts are found too: look at disabled_at. */
MUST_CHECK enum status users_get(struct store_conn *conn, int64_t id, struct user_row *ret_user,
                                 struct err *err);
MUST_CHECK enum status users_find_handle(struct store_conn *conn, const char *handle_key,
                                         struct user_row *ret_user, struct err *err);
/* The account that has proved to own the address. */
MUST_CHECK enum status users_find_address(struct store_conn *conn, const char *address_key,
                                          struct user_row *ret_user, struct err *err);

/* In order of handle_key, those after `after` ("": from the first). */
MUST_CHECK enum status users_list(struct store_conn *conn, const char *after,
                                  struct user_row *rows, size_t max, size_t *ret_n,
                                  struct err *err);

/* Each of these sets updated_at.  NULL leaves a string as it is.  ST_NOT_FOUND. */
MUST_CHECK enum status users_set_profile(struct store_txn *txn, int64_t id,
                                         const char *display_name, const char *zone,
                                         const char *language, utc_ms now, struct err *err);
MUST_CHECK enum status users_set_password(struct store_txn *txn, int64_t id,
                                          const char *password_hash /* NULL: none */, utc_ms now,
                                          struct err *err);
MUST_CHECK enum status users_set_operator(struct store_txn *txn, int64_t id, bool is_operator,
                                          utc_ms now, struct err *err);
/* How long moves by mail are held before they are shown; -1: as the installation says. */
MUST_CHECK enum status users_set_hold(struct store_txn *txn, int64_t id, int64_t hold_ms,
                                      utc_ms now, struct err *err);
/* Disabling also revokes sessions, tokens (of reply addresses too) and links, and switches webhooks
 * off. */
MUST_CHECK enum status users_set_disabled(struct store_txn *txn, int64_t id, bool is_disabled,
                                          utc_ms now, struct err *err);
/* A new address starts healthy.  verified_at UTC_NONE: not proved.  ST_CONFLICT
 * (REASON_ALREADY_DONE) when it is proved and another account has it. */
MUST_CHECK enum status users_set_address(struct store_txn *txn, int64_t id, const char *address,
                                         const char *address_key, utc_ms verified_at, utc_ms now,
                                         struct err *err);
MUST_CHECK enum status users_set_verified(struct store_txn *txn, int64_t id, utc_ms now,
                                          struct err *err);

/* One more failure that speaks against the address.  limit: how many (at most one a day is
 * counted unless is_hard; a hard one counts as limit) suspend it.  Earlier ones are forgotten if
 * the last was longer ago than USERS_BOUNCE_FORGOTTEN_MS.  *ret_suspended: this one did. */
#define USERS_BOUNCE_FORGOTTEN_MS (14 * MS_DAY)
MUST_CHECK enum status users_bounce(struct store_txn *txn, int64_t id, bool is_hard, int limit,
                                    const char *text /* cut to fit */, utc_ms now,
                                    bool *ret_suspended, struct err *err);
/* It is known to reach its owner: healthy again. */
MUST_CHECK enum status users_reached(struct store_txn *txn, int64_t id, utc_ms now,
                                     struct err *err);

/* ---------------------------------------------------------------- changing the address */

/* pending -> done | cancelled; one pending a user. */
struct address_change_row {
    int64_t id;
    int64_t user_id;
    char address[ADDRESS_SIZE];
    char address_key[ADDRESS_SIZE];
    bool has_old;                      /* the old address has to agree too */
    utc_ms old_confirmed_at, new_confirmed_at; /* UTC_NONE: not yet */
    enum address_change_state state;
    utc_ms created_at, expires_at;
};

/* Begin one, cancelling the pending one.  old_token_hash NULL: there is no old address to ask. */
MUST_CHECK enum status address_changes_begin(struct store_txn *txn, int64_t user_id,
                                             const char *address, const char *address_key,
                                             const unsigned char *old_token_hash,
                                             const unsigned char *new_token_hash, utc_ms now,
                                             utc_ms expires_at, int64_t *ret_id, struct err *err);
/* By either token; *ret_is_old says which.  Those not pending are found too. */
MUST_CHECK enum status address_changes_find(struct store_conn *conn,
                                            const unsigned char token_hash[STORE_HASH_SIZE],
                                            struct address_change_row *ret_row, bool *ret_is_old,
                                            struct err *err);
MUST_CHECK enum status address_changes_pending(struct store_conn *conn, int64_t user_id,
                                               struct address_change_row *ret_row,
                                               struct err *err);
/* Replace one side's token, when its letter is composed at last.  ST_CONFLICT unless pending. */
MUST_CHECK enum status address_changes_set_token(struct store_txn *txn, int64_t id, bool is_old,
                                                 const unsigned char token_hash[STORE_HASH_SIZE],
                                                 struct err *err);
MUST_CHECK enum status address_changes_get(struct store_conn *conn, int64_t id,
                                           struct address_change_row *ret_row, struct err *err);
/* How many the user has begun since then. */
MUST_CHECK enum status address_changes_count(struct store_conn *conn, int64_t user_id,
                                             utc_ms since, int64_t *ret_n, struct err *err);
/* Note that one side agreed.  ST_CONFLICT unless pending. */
MUST_CHECK enum status address_changes_confirm(struct store_txn *txn, int64_t id, bool is_old,
                                               utc_ms now, struct err *err);
/* done or cancelled.  ST_CONFLICT unless pending.  The address itself is set by
 * users_set_address(). */
MUST_CHECK enum status address_changes_settle(struct store_txn *txn, int64_t id,
                                              enum address_change_state state, struct err *err);

#endif

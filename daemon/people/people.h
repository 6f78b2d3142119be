/*
 * people/people.h - accounts, and how somebody proves to be one: by link, password, session, token.
 *
 * Use: people_init() once; a struct people with the rules of this installation, made by main and
 * lent to http, notify and the subcommands.  Functions that take struct store_txn change something
 * and run inside a writer command; those that take struct store_conn only read.
 *
 * Letters are intents in the outbox, written in the same transaction as what they are about, with
 * the row's id in their params.  No raw secret is stored: the row is made with a hash that nobody
 * has the secret of, and people_mint() – called by whoever composes the letter, in the transaction
 * that stores its bytes – puts the hash of a fresh secret there and hands the secret out.
 *
 * Nobody learns here whether an address has an account: people_register() and people_ask_login()
 * answer alike, and differ only in the letter that the owner of the address gets.
 *
 * A login link:
 *
 *     asked --people_mint--> mailed --people_login_by_link--> used
 *       |                      |
 *       +--15 minutes: dropped +--15 minutes: expired
 *
 * A change of address: pending → done when both addresses have confirmed; → cancelled by the next
 * change or when it expires.
 *
 * Time: now is an argument.  Errors: ST_INVALID with REASON_BAD_FIELD names what would be right;
 * other reasons are told at each function.  Threads: as the store's conn and txn; struct people is
 * read-only and shared.
 */
#ifndef FH_PEOPLE_PEOPLE_H
#define FH_PEOPLE_PEOPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ports.h"
#include "base/status.h"
#include "base/utc.h"
#include "store/logins.h" /* sizes and scopes */

struct user_row;
struct zone_cache;

enum {
    SECRET_SIZE = 27,          /* 26 characters of a-z2-7 (130 random bits) and a NUL */
    API_TOKEN_SIZE = 30,       /* "fh_" before a secret */
    HANDLE_MAX = 32,           /* bytes, ASCII */
    NAME_MAX_CHARS = 64,       /* of a display name; DISPLAY_NAME_SIZE bounds its bytes */
    ADDRESS_MAX = 254,         /* bytes, ASCII */
    LANGUAGE_MAX = 16,         /* bytes of a language tag */
};

#define LINK_LIFE_MS (15 * MS_MINUTE)            /* from asking to minting, and to use */
#define REGISTRATION_LIFE_MS MS_DAY              /* the same of a registration */
#define ADDRESS_CHANGE_LIFE_MS (3 * MS_DAY)      /* from asking to the second confirmation */
#define INVITE_LIFE_MS (30 * MS_DAY)
#define SESSION_IDLE_MS (30 * MS_DAY)
#define SESSION_LIFE_MS (180 * MS_DAY)
#define TOUCH_MS (5 * MS_MINUTE)                 /* last_used_at is right to within this */

/* Who may register. */
enum people_door { DOOR_OPEN, DOOR_INVITE, DOOR_CLOSED };

/* The rules of this installation.  Everything is lent for as long as the struct is used. */
struct people {
    struct entropy entropy;
    struct zone_cache *zones;
    enum people_door door;
    const char *default_zone;
    const char *default_language;
    const char *const *languages; /* first subtags with texts, ended by NULL; NULL: any */
    int64_t letters_an_hour;  /* login and confirmation letters to one address */
    int64_t accounts_an_hour; /* registrations by everybody together */
    int64_t tokens_max;       /* API tokens of one account */
    /* An account has a proved address now, another than before: in the same transaction.  NULL:
     * nobody asks. */
    enum status (*on_new_address)(struct store_txn *txn, int64_t user_id, utc_ms now, void *arg,
                                  struct err *err);
    void *on_new_address_arg;
    /* He used a link that was sent to his address, which works then: in the same transaction.
     * NULL: nobody asks. */
    enum status (*on_reached)(struct store_txn *txn, int64_t user_id, utc_ms now, void *arg,
                              struct err *err);
    void *on_reached_arg;
    /* Whether an address is one that the server itself takes letters at.  Pure, any thread.  NULL:
     * it takes none. */
    bool (*is_own_address)(const char *address, void *arg);
    void *is_own_address_arg;
};

/* Once, before threads; starts libsodium.  ST_INTERNAL when it cannot. */
MUST_CHECK enum status people_init(struct err *err);

/* The ports of base/ports.h by libsodium. */
struct entropy people_entropy(void);
struct digest people_digest(void);

/* A keyed digest of n bytes (SipHash-2-4 of 128 bits), ten times as fast as SHA-256: whoever does
 * not know the key cannot make two things with one fingerprint.  For what is made often and holds
 * no longer than the process does: the key is drawn at start.  Any thread. */
enum { FINGERPRINT_KEY_SIZE = 16, FINGERPRINT_SIZE = 16 };
void fingerprint_make(const unsigned char key[FINGERPRINT_KEY_SIZE], const void *bytes, size_t n,
                      unsigned char ret[FINGERPRINT_SIZE]);

/* ------------------------------------------------------------------------------- what fits */

/* Letters, digits, '-' and '_', beginning with a letter, at most HANDLE_MAX; not one of the words
 * that the server needs for itself. */
MUST_CHECK enum status handle_is_fit(const char *handle, struct err *err);
/* What makes handles equal: ASCII lower case. */
void handle_fold(const char *handle, char ret[HANDLE_MAX + 1]);
/* local@domain in ASCII, as letters can be sent to. */
MUST_CHECK enum status address_is_fit(const char *address, struct err *err);
void address_fold(const char *address, char ret[ADDRESS_MAX + 1]);
/* 1 to NAME_MAX_CHARS characters, no controls, no blanks at its ends; a joiner stands between
 * pictures alone. */
MUST_CHECK enum status name_is_fit(const char *name, struct err *err);
/* A BCP 47 tag whose first subtag, in any case, is one of languages (ended by NULL; NULL: any):
 * "ro-MD" is Romanian. */
MUST_CHECK enum status language_is_fit(const char *tag, const char *const *languages,
                                       struct err *err);
/* The tag as BCP 47 writes it, "ro-MD", "zh-Hant-TW": what is stored. */
void language_fold(const char *tag, char ret[LANGUAGE_MAX + 1]);
/* The same as address_is_fit(), and none of the server's own: nobody could be written to there. */
MUST_CHECK enum status people_address_check(const struct people *p, const char *address,
                                            struct err *err);

/* ------------------------------------------------------------------------------- secrets */

/* 26 random characters. */
void secret_make(const struct people *p, char ret[SECRET_SIZE]);
/* Whether text looks like one; nothing else is ever looked up. */
bool secret_is_shaped(const char *text);
/* What is stored of it. */
void secret_hash(const char *secret, unsigned char ret[DIGEST_SIZE]);

/* ------------------------------------------------------------------------------- registering */

struct people_wish {
    const char *handle;
    const char *name;       /* NULL: the handle */
    const char *address;
    const char *zone;       /* NULL: the default */
    const char *language;   /* NULL: the default */
    const char *invitation; /* raw secret of an invite or of a mailed invitation to a game; NULL */
};

/* Ask for an account.  On ST_OK a letter goes to the address (if it was not sent too many): with
 * the link that makes the account, or, when the address has one already, with a login link.
 * REASON_HANDLE_TAKEN; REASON_REGISTRATION_CLOSED; REASON_INVITE_NEEDED (none, or one that is used
 * or expired); REASON_RATE_LIMIT (accounts_an_hour); REASON_UNKNOWN_ZONE. */
MUST_CHECK enum status people_register(const struct people *p, struct store_txn *txn,
                                       const struct people_wish *wish, utc_ms now,
                                       struct err *err);


/* An invitation to register, shown once.  address NULL: good for any.  REASON_FORBIDDEN: by_user is
 * disabled. */
MUST_CHECK enum status people_invite(const struct people *p, struct store_txn *txn,
                                     int64_t by_user, const char *address, const char *note,
                                     utc_ms now, char ret_secret[SECRET_SIZE], struct err *err);

/* ------------------------------------------------------------------------------- logging in */

/* Who a request comes from. */
struct people_who {
    int64_t user_id;
    int64_t session_id; /* 0 for a token */
    int64_t token_id;   /* 0 for a session */
    unsigned scopes;    /* SCOPE_READ | SCOPE_PLAY | SCOPE_MANAGE */
    bool is_operator;
    bool needs_touch;   /* people_touch() is due */
    utc_ms touch_until; /* for people_touch() */
    utc_ms holds_until; /* all this stays so until then, unless somebody changes it */
};

struct people_login {
    char secret[SECRET_SIZE]; /* for the cookie; shown nowhere else */
    int64_t session_id;
    int64_t user_id;
    utc_ms expires_at;        /* the end of the session's life */
    bool is_new;              /* the account was made by this */
};

/* Ask for a login link for the account of that handle or address.  ST_OK whether or not there is
 * one. */
MUST_CHECK enum status people_ask_login(const struct people *p, struct store_txn *txn,
                                        const char *login, utc_ms now, struct err *err);

/* A login link to be handed over by the administrator instead of a letter; it does not count
 * against letters_an_hour.  REASON_FORBIDDEN: disabled. */
MUST_CHECK enum status people_link_make(const struct people *p, struct store_txn *txn,
                                        int64_t user_id, utc_ms now, char ret_secret[SECRET_SIZE],
                                        struct err *err);

/* What a link of a letter is for, for its page; changes nothing. */
enum people_link { LINK_LOGIN, LINK_REGISTRATION, LINK_ADDRESS_OLD, LINK_ADDRESS_NEW };
struct people_link_info {
    enum people_link kind;
    char handle[HANDLE_MAX + 1];
    char language[LANGUAGE_MAX + 1];
};
/* REASON_LINK_EXPIRED when it is used, expired or none of ours. */
MUST_CHECK enum status people_link_peek(struct store_conn *conn, const char *secret, utc_ms now,
                                        struct people_link_info *ret, struct err *err);

/* Use a login or registration link: its account is made if need be, its address is verified, and
 * a session begins.  REASON_LINK_EXPIRED; REASON_HANDLE_TAKEN (somebody was quicker);
 * REASON_FORBIDDEN (disabled). */
MUST_CHECK enum status people_login_by_link(const struct people *p, struct store_txn *txn,
                                            const char *secret, const char *agent, utc_ms now,
                                            struct people_login *ret, struct err *err);

/* The stored hash to check a password against.  *ret_user_id is 0 and ret_hash "" when there is no
 * such account, or one without password or disabled: check the dummy then. */
MUST_CHECK enum status people_password_find(struct store_conn *conn, const char *login,
                                            int64_t *ret_user_id, char *ret_hash, size_t size,
                                            struct err *err);
/* Begin a session after the password was found right.  hash is the one it was checked against: when
 * the account has another by now, REASON_BAD_CREDENTIALS.  new_hash NULL or the one to store. */
MUST_CHECK enum status people_login_by_password(const struct people *p, struct store_txn *txn,
                                                int64_t user_id, const char *hash,
                                                const char *new_hash, const char *agent,
                                                utc_ms now, struct people_login *ret,
                                                struct err *err);

/* Who holds the secret of a cookie, or an API token ("fh_…").  ST_UNAUTHENTICATED otherwise. */
MUST_CHECK enum status people_by_session(struct store_conn *conn, const char *secret, utc_ms now,
                                         struct people_who *ret, struct err *err);
MUST_CHECK enum status people_by_token(struct store_conn *conn, const char *token, utc_ms now,
                                       struct people_who *ret, struct err *err);
/* Remember that it was used now. */
MUST_CHECK enum status people_touch(struct store_txn *txn, const struct people_who *who,
                                    utc_ms now, struct err *err);

/* ------------------------------------------------------------------------------- one's own */

/* NULL leaves a field as it is. */
struct people_profile {
    const char *name;
    const char *zone;
    const char *language;
};
MUST_CHECK enum status people_profile_set(const struct people *p, struct store_txn *txn,
                                          int64_t user_id, const struct people_profile *profile,
                                          utc_ms now, struct err *err);

/* Store a password's hash (NULL: have none).  old_hash is the one that was checked ("" for none);
 * REASON_BAD_CREDENTIALS when it is another by now.  All sessions but keep_session end; a letter
 * tells of it. */
MUST_CHECK enum status people_password_set(const struct people *p, struct store_txn *txn,
                                           int64_t user_id, const char *old_hash,
                                           const char *new_hash, int64_t keep_session, utc_ms now,
                                           struct err *err);
/* The hash to check the old password against; "" when there is none. */
MUST_CHECK enum status people_password_of(struct store_conn *conn, int64_t user_id, char *ret_hash,
                                          size_t size, struct err *err);

/* Ask for another address: letters go to both.  REASON_RATE_LIMIT.  REASON_ALREADY_DONE: it is the
 * address already. */
MUST_CHECK enum status people_address_change(const struct people *p, struct store_txn *txn,
                                             int64_t user_id, const char *address, utc_ms now,
                                             struct err *err);
/* The link of one of the two.  *ret_complete: both have confirmed, the address is changed, and a
 * letter to the old one says so.  REASON_LINK_EXPIRED. */
MUST_CHECK enum status people_address_confirm(const struct people *p, struct store_txn *txn,
                                              const char *secret, utc_ms now, bool *ret_complete,
                                              struct err *err);
/* The address that waits for confirmation; "" when none does. */
MUST_CHECK enum status people_address_pending(struct store_conn *conn, int64_t user_id, utc_ms now,
                                              char *ret_address, size_t size, struct err *err);

/* Live sessions, newest first; at most max are written, *ret_count says how many. */
MUST_CHECK enum status people_sessions(struct store_conn *conn, int64_t user_id, utc_ms now,
                                       struct session_row *ret, size_t max,
                                       size_t *ret_count, struct err *err);
/* End one.  REASON_NOT_FOUND when it is not his or over already. */
MUST_CHECK enum status people_session_end(struct store_txn *txn, int64_t user_id,
                                          int64_t session_id, utc_ms now, struct err *err);
/* End all but keep (0: all). */
MUST_CHECK enum status people_sessions_end(struct store_txn *txn, int64_t user_id, int64_t keep,
                                           utc_ms now, struct err *err);
enum { PEOPLE_TOKENS_MAX = 100 }; /* most that tokens_max may be */
enum { PEOPLE_SESSIONS_MAX = 50 }; /* a further login ends the one unused longest */

/* Make an API token, shown once.  scopes may not exceed own_scopes (REASON_SCOPE_NEEDED);
 * expires_at UTC_NONE or after now; REASON_LIMIT beyond tokens_max. */
MUST_CHECK enum status people_token_make(const struct people *p, struct store_txn *txn,
                                         int64_t user_id, unsigned own_scopes, const char *name,
                                         unsigned scopes, utc_ms expires_at, utc_ms now,
                                         char ret_token[API_TOKEN_SIZE], int64_t *ret_id,
                                         struct err *err);
/* Those not revoked and not expired, newest first. */
MUST_CHECK enum status people_tokens(struct store_conn *conn, int64_t user_id, utc_ms now,
                                     struct api_token_row *ret, size_t max, size_t *ret_count,
                                     struct err *err);
MUST_CHECK enum status people_token_revoke(struct store_txn *txn, int64_t user_id,
                                           int64_t token_id, utc_ms now, struct err *err);

/* "read", "play", "manage"; 0 for another word. */
unsigned scope_parse(const char *word);
const char *scope_str(unsigned scope);

/* ------------------------------------------------------------------------------- the operator */

struct people_new {
    const char *handle;
    const char *name;          /* NULL: the handle */
    const char *address;       /* NULL: none */
    bool is_verified;          /* the operator answers for the address; else the first login by a
                                  mailed link proves it */
    const char *zone;          /* NULL: the default */
    const char *language;      /* NULL: the default */
    const char *password_hash; /* NULL: none */
    bool is_operator;
};
/* Make an account as the administrator.  REASON_HANDLE_TAKEN; REASON_ALREADY_DONE when the address
 * has an account. */
MUST_CHECK enum status people_add(const struct people *p, struct store_txn *txn,
                                  const struct people_new *user, utc_ms now, int64_t *ret_id,
                                  struct err *err);
/* REASON_FORBIDDEN when the account is shut. */
MUST_CHECK enum status people_is_open(const struct user_row *user, struct err *err);
/* Shut an account, or open it again.  Shutting ends its sessions, revokes its tokens and takes its
 * invitations to register back; its games go on by their clocks.  by_user 0: the administrator on
 * the command line. */
MUST_CHECK enum status people_disable(const struct people *p, struct store_txn *txn,
                                      int64_t by_user, int64_t user_id, bool is_disabled,
                                      utc_ms now, struct err *err);

/* ------------------------------------------------------------------------------- letters */

/*
 * The letters people writes, as (class, template, params):
 *   login    login             {"link":ID}          to the account's address; mint LINK_LOGIN
 *   login    register          {"registration":ID}  to the address wished for; mint
 *                                                   LINK_REGISTRATION
 *   login    register_known    {"link":ID}          somebody registered with this address, which
 *                                                   has an account: a login link; mint LINK_LOGIN
 *   security address_old       {"change":ID}        mint LINK_ADDRESS_OLD
 *   security address_new       {"change":ID}        to the new address; mint LINK_ADDRESS_NEW
 *   security address_changed   {}                   to the old address, after the change
 *   security password_changed  {}                   also when it was removed
 */

/* Put the hash of a fresh secret into the row that a letter is about, and hand the secret out.
 * ST_GONE, REASON_LINK_EXPIRED, when the row is used, cancelled or too old: the letter is not to
 * be sent any more.  Minting again makes the earlier secret useless. */
MUST_CHECK enum status people_mint(const struct people *p, struct store_txn *txn,
                                   enum people_link kind, int64_t row_id, utc_ms now,
                                   char ret_secret[SECRET_SIZE], struct err *err);

#endif

/*
 * store/webhooks.h - users' endpoints.
 *
 *   on <--owner--> off;   on --gone, failing, blocked--> disabled --owner--> on
 *
 * Secrets are kept readable: they sign.  Deliveries are intents (store/outbox.h).
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_WEBHOOKS_H
#define FH_STORE_WEBHOOKS_H

#include "store/kinds.h"
#include "store/store.h"

enum {
    WEBHOOK_URL_SIZE = 2049,
    WEBHOOK_NAME_SIZE = 101,
    WEBHOOK_EVENTS_SIZE = 1025,
    WEBHOOK_SECRET_MAX = 64, /* bytes */
    WEBHOOK_AUTH_SIZE = 513,
    WEBHOOK_CAUSE_SIZE = 33
};

struct webhook_row {
    int64_t id;
    int64_t user_id;
    char url[WEBHOOK_URL_SIZE];
    enum webhook_kind kind;
    char name[WEBHOOK_NAME_SIZE];
    char events[WEBHOOK_EVENTS_SIZE]; /* types wanted, parted by blanks; "" : all */
    unsigned char secret[WEBHOOK_SECRET_MAX];
    size_t secret_len;
    unsigned char old_secret[WEBHOOK_SECRET_MAX];
    size_t old_secret_len;      /* 0: none */
    utc_ms old_secret_until;    /* UTC_NONE */
    char auth[WEBHOOK_AUTH_SIZE]; /* ntfy, matrix; "" : none */
    enum webhook_state state;
    utc_ms disabled_at;         /* UTC_NONE */
    char disabled_cause[WEBHOOK_CAUSE_SIZE];
    utc_ms failing_since_at;    /* UTC_NONE: the last got through */
    int failures;
    utc_ms succeeded_at;        /* UTC_NONE: never */
    utc_ms created_at, updated_at;
};

/* Uses user_id … secret, auth, state, created_at. */
MUST_CHECK enum status webhooks_create(struct store_txn *txn, const struct webhook_row *row,
                                       int64_t *ret_id, struct err *err);
/* Deleted ones are not found: ST_NOT_FOUND. */
MUST_CHECK enum status webhooks_get(struct store_conn *conn, int64_t id,
                                    struct webhook_row *ret_row, struct err *err);
/* Of a user, oldest first, whatever their state. */
MUST_CHECK enum status webhooks_of_user(struct store_conn *conn, int64_t user_id,
                                        struct webhook_row *rows, size_t max, size_t *ret_n,
                                        struct err *err);
/* What its owner may change: url, kind, name, events, auth, state (on or off; on also forgets the
 * failures). */
MUST_CHECK enum status webhooks_update(struct store_txn *txn, const struct webhook_row *row,
                                       utc_ms now, struct err *err);
/* A new secret; the present one signs too until overlap_until. */
MUST_CHECK enum status webhooks_rotate(struct store_txn *txn, int64_t id,
                                       const unsigned char *secret, size_t secret_len,
                                       utc_ms overlap_until, utc_ms now, struct err *err);
/* Its waiting intents are superseded; deliveries stay in the log until purged. */
MUST_CHECK enum status webhooks_delete(struct store_txn *txn, int64_t id, utc_ms now,
                                       struct err *err);

/* A delivery got through, or did not; failing_since_at and failures follow. */
MUST_CHECK enum status webhooks_succeeded(struct store_txn *txn, int64_t id, utc_ms now,
                                          struct err *err);
MUST_CHECK enum status webhooks_failed(struct store_txn *txn, int64_t id, utc_ms now,
                                       struct err *err);
/* The server gives it up; waiting intents are superseded.  cause is a word: gone failing blocked.
 * *ret_did: it was on until now (so that the owner is told once). */
MUST_CHECK enum status webhooks_disable(struct store_txn *txn, int64_t id, const char *cause,
                                        utc_ms now, bool *ret_did, struct err *err);

#endif

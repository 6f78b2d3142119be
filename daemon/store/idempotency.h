/*
 * store/idempotency.h - answers given to requests that carried an Idempotency-Key.
 *
 * The answer is stored in the transaction of the change itself, so a repeat either finds both or
 * neither.  Key and user together name a row.  Within IDEMPOTENCY_LIFE_MS of created_at: same
 * request_hash → give the stored answer again; another → REASON_KEY_REUSED.  After it the row is
 * as good as gone: the caller purges before it puts a new one.
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_IDEMPOTENCY_H
#define FH_STORE_IDEMPOTENCY_H

#include "store/store.h"

#define IDEMPOTENCY_LIFE_MS MS_DAY

enum {
    IDEMPOTENCY_KEY_SIZE = 129,
    IDEMPOTENCY_HEADERS_SIZE = 1025,
    IDEMPOTENCY_BODY_MAX = 256 * 1024
};

struct idempotency_row {
    unsigned char request_hash[STORE_HASH_SIZE]; /* of method, path and body */
    int status;                                  /* HTTP */
    char headers[IDEMPOTENCY_HEADERS_SIZE];      /* "ETag: …\n" lines, or "" */
    char content_type[101];
    char *body;                                  /* NUL added after body_len bytes */
    size_t body_len;
    utc_ms created_at;
};
void idempotency_release(struct idempotency_row *row); /* frees body; NULL, zeroed allowed */

/* ST_NOT_FOUND: the key is new. */
MUST_CHECK enum status idempotency_get(struct store_conn *conn, int64_t user_id, const char *key,
                                       struct idempotency_row *ret_row, struct err *err);
/* ST_CONFLICT (REASON_KEY_REUSED) when the key has a row. */
MUST_CHECK enum status idempotency_put(struct store_txn *txn, int64_t user_id, const char *key,
                                       const struct idempotency_row *row, struct err *err);
/* Remove what was stored before `before`, at most max rows. */
MUST_CHECK enum status idempotency_purge(struct store_txn *txn, utc_ms before, int max,
                                         int64_t *ret_n, struct err *err);

#endif

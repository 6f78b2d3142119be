/*
 * store/tokens.h - what stands in the reply addresses of letters.
 *
 * A token is a secret of 128 bits or more that one letter carries; kept is its SHA-256.  It says
 * to whom that letter went, what an answer to it is about, and what the reader was shown.  Which
 * answers it allows is decided above the store: a token that is used, revoked or over is found
 * like any other, and the row says so.
 *
 * Calling sequence
 *   the courier   makes a token while it composes a letter and stores its hash with tokens_put()
 *                 in the command that stores the letter's bytes: neither is there without the other
 *   the intake    finds it with tokens_find(), judges used_at, revoked_at, expires_at and
 *                 state_no, and marks it with tokens_use() in the command that acts
 *   housekeeping  tokens_purge()
 *
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_TOKENS_H
#define FH_STORE_TOKENS_H

#include "store/kinds.h"
#include "store/store.h"

struct token_row {
    int64_t id;
    unsigned char hash[STORE_HASH_SIZE];
    enum token_purpose purpose;
    int64_t user_id;
    int64_t game_id;   /* 0: about no game */
    int seat;          /* -1: of none */
    int64_t state_no;  /* the game's, that the reader was shown; 0 */
    int64_t inbox_id;  /* TOKEN_CONFIRM: the letter that waits for his word; 0 */
    utc_ms created_at;
    utc_ms expires_at; /* good before this */
    utc_ms used_at;    /* UTC_NONE: not yet */
    utc_ms revoked_at; /* UTC_NONE: not */
};
#define TOKEN_ROW_INIT                                                                             \
    ((struct token_row){.seat = -1, .used_at = UTC_NONE, .revoked_at = UTC_NONE})

/* Uses hash … expires_at.  ST_CONFLICT when the hash is there already (then the same random bits
 * were drawn twice, or the same letter is composed again: see tokens_find()). */
MUST_CHECK enum status tokens_put(struct store_txn *txn, const struct token_row *token,
                                  int64_t *ret_id, struct err *err);
/* ST_NOT_FOUND (REASON_NOT_FOUND). */
MUST_CHECK enum status tokens_find(struct store_conn *conn,
                                   const unsigned char hash[STORE_HASH_SIZE],
                                   struct token_row *ret_row, struct err *err);
/* An answer did something by it.  Its first use is kept: again is no error.  ST_NOT_FOUND. */
MUST_CHECK enum status tokens_use(struct store_txn *txn, int64_t id, utc_ms now, struct err *err);
/* All of a user's that are good: his address changed, or his account was disabled. */
MUST_CHECK enum status tokens_revoke_user(struct store_txn *txn, int64_t user_id, utc_ms now,
                                          struct err *err);
/* Remove those that expired before `before`, at most max. */
MUST_CHECK enum status tokens_purge(struct store_txn *txn, utc_ms before, int max, int64_t *ret_n,
                                    struct err *err);

#endif

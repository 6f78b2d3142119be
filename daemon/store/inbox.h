/*
 * store/inbox.h - the letters that were accepted, and what became of each.
 *
 * A letter is put here before anybody is told that it was accepted, and is acted upon once: the
 * command that acts settles the row, so either both are recorded or neither is.
 *
 *   inbox_put()       by the door; durable when the command's transaction is
 *   inbox_claim()     by the worker: the next ones in order, attempts counted up
 *   (read)            outside any transaction, with inbox_get(with_raw)
 *   inbox_settle()    in the command that acts
 *   inbox_reclaim()   at start: what a process that is gone had claimed
 *
 *   received -> claimed -> done | held | quarantined
 *      ^___________|        a process that died, inbox_unclaim()
 *      ^_______________________ quarantined    inbox_retry()
 *                         held -> done    by its owner's word
 *
 * The same letter to the same recipient (fingerprint) is put once, however often it comes: that
 * makes doors that deliver at least once harmless, and a mail loop cheap.
 * attempts tells of letters that bring their reader down: whoever claims looks at it and sets
 * those aside (quarantined) that were claimed too often.
 *
 * Deadlines go by received_at.  inbox_waiting() says whether letters accepted by some instant
 * have not been read yet: until then nobody may lose by that instant.
 *
 * Ownership: inbox_row_release() frees raw, which only inbox_get() fills.
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_INBOX_H
#define FH_STORE_INBOX_H

#include "store/users.h"

enum {
    INBOX_RAW_MAX = 16 * 1024 * 1024, /* bytes of a letter */
    INBOX_MESSAGE_ID_SIZE = 999,      /* longer ones are cut */
    INBOX_REASON_SIZE = 201,          /* longer ones are cut */
    INBOX_CLAIM_MAX = 64,             /* rows one inbox_claim() takes, at most */
    INBOX_NOBODYS_AN_HOUR = 50        /* nobody's letters that are kept of an hour */
};
#define INBOX_RAW_KEEP_MS (30 * MS_DAY)        /* a settled letter's bytes are kept so long */
#define INBOX_FOREIGN_KEEP_MS MS_DAY           /* … of nobody's, machines and loops */
#define INBOX_QUARANTINE_KEEP_MS (90 * MS_DAY) /* … of one set aside */
#define INBOX_KEEP_MS (400 * MS_DAY)           /* the row itself, and so its fingerprint */

struct inbox_row {
    int64_t id;
    utc_ms received_at;
    enum inbox_way way;
    bool has_token;
    unsigned char token_hash[STORE_HASH_SIZE];  /* with has_token */
    char recipient[ADDRESS_SIZE];               /* the token replaced by "…" */
    char sender[ADDRESS_SIZE];                  /* envelope; "" : the null sender */
    char message_id[INBOX_MESSAGE_ID_SIZE];     /* without < >; "" : none */
    unsigned char fingerprint[STORE_HASH_SIZE]; /* over the full recipient and mail_fingerprint() */
    int64_t size;                               /* bytes of the letter */
    enum inbox_state state;
    int attempts;
    int64_t repeats;
    enum inbox_verdict verdict; /* INBOX_VERDICT_NONE while it waits */
    char reason[INBOX_REASON_SIZE];
    int64_t user_id;            /* 0: nobody's */
    int64_t game_id;            /* 0: none */
    int64_t answer_id;          /* outbox row, which may be purged; 0: none */
    utc_ms claimed_at;          /* UTC_NONE: not yet */
    utc_ms settled_at;          /* UTC_NONE: it waits */
    unsigned char *raw;         /* NULL: not asked for, or erased */
    size_t raw_len;
};
#define INBOX_ROW_INIT                                                                             \
    ((struct inbox_row){.claimed_at = UTC_NONE, .settled_at = UTC_NONE})
void inbox_row_release(struct inbox_row *row); /* NULL and zeroed are allowed */

/* Uses received_at … fingerprint, raw and raw_len (size is raw_len).  *ret_is_new false: the same
 * letter is there already as *ret_id; its repeats are counted up and nothing else changes.
 * ST_TOO_LARGE over INBOX_RAW_MAX. */
MUST_CHECK enum status inbox_put(struct store_txn *txn, const struct inbox_row *row,
                                 int64_t *ret_id, bool *ret_is_new, struct err *err);

/* The first received ones, in the order in which they came, become claimed and their attempts are
 * counted up; rows are filled without raw.  *ret_n 0: none waits. */
MUST_CHECK enum status inbox_claim(struct store_txn *txn, utc_ms now, size_t max,
                                   struct inbox_row *rows, size_t *ret_n, struct err *err);
/* At start, before the worker: claimed -> received; attempts stay. */
MUST_CHECK enum status inbox_reclaim(struct store_txn *txn, utc_ms now, int64_t *ret_n,
                                     struct err *err);
/* Give one back unread (stopping, or the writer is busy); this attempt does not count.
 * ST_CONFLICT (REASON_ALREADY_DONE) unless it is claimed. */
MUST_CHECK enum status inbox_unclaim(struct store_txn *txn, int64_t id, struct err *err);

/* ST_NOT_FOUND (REASON_NOT_FOUND).  with_raw: with the letter's bytes, if they are kept still. */
MUST_CHECK enum status inbox_get(struct store_conn *conn, int64_t id, bool with_raw,
                                 struct inbox_row *ret_row, struct err *err);

/* Its verdict; the three ids may be 0.  state: done, held or quarantined; reason is cut to fit.
 * ST_CONFLICT (REASON_ALREADY_DONE) unless it is claimed, or is held and becomes done. */
MUST_CHECK enum status inbox_settle(struct store_txn *txn, int64_t id, enum inbox_state state,
                                    enum inbox_verdict verdict, const char *reason,
                                    int64_t user_id, int64_t game_id, int64_t answer_id,
                                    utc_ms now, struct err *err);

/* Instead of inbox_settle(), for a letter that proved to be nobody's, had no effect and gets no
 * answer: when `most` of those have been settled since `since` it is removed, and *ret_is_gone is
 * set.  It is as if it had never come; the same again would be read again, with no effect again. */
MUST_CHECK enum status inbox_thin(struct store_txn *txn, int64_t id, utc_ms since, int most,
                                  bool *ret_is_gone, struct err *err);

/* Let one that was set aside be read anew: received, with no attempts and no verdict.  ST_CONFLICT
 * (REASON_ALREADY_DONE) unless it is quarantined and its bytes are kept. */
MUST_CHECK enum status inbox_retry(struct store_txn *txn, int64_t id, struct err *err);

/* How many accepted at `upto` or before have no verdict yet. */
MUST_CHECK enum status inbox_waiting(struct store_conn *conn, utc_ms upto, int64_t *ret_n,
                                     struct err *err);
/* How many of the user's letters were answered at `since` or later. */
MUST_CHECK enum status inbox_answers_since(struct store_conn *conn, int64_t user_id, utc_ms since,
                                           int64_t *ret_n, struct err *err);
/* How many letters that wait for the user's word about the game (0: about none) he was asked about
 * after `since`. */
MUST_CHECK enum status inbox_asked_since(struct store_conn *conn, int64_t user_id, int64_t game_id,
                                         utc_ms since, int64_t *ret_n, struct err *err);
/* How many of the user's letters about the game (0: about none) were refused for the same reason
 * at `since` or later, and answered. */
MUST_CHECK enum status inbox_same_refusal(struct store_conn *conn, int64_t user_id,
                                          int64_t game_id, const char *reason, utc_ms since,
                                          int64_t *ret_n, struct err *err);

/* For metrics: how many wait, and since when the oldest does. */
struct inbox_depth {
    int64_t waiting;
    utc_ms oldest_at;    /* UTC_NONE */
    int64_t quarantined; /* rows set aside */
};
MUST_CHECK enum status inbox_depth(struct store_conn *conn, struct inbox_depth *ret_depth,
                                   struct err *err);

/* For people: newest first, without raw, id < before (0: from the newest).  state -1: any;
 * user_id 0: anybody's. */
enum { INBOX_ANY = -1 };
MUST_CHECK enum status inbox_list(struct store_conn *conn, int state /* or INBOX_ANY */,
                                  int64_t user_id, int64_t before, struct inbox_row *rows,
                                  size_t max, size_t *ret_n, struct err *err);

/* Housekeeping at `now` by the three lengths above: bytes are erased, old rows removed, at most
 * max of each.  Rows that wait are never touched. */
MUST_CHECK enum status inbox_purge(struct store_txn *txn, utc_ms now, int max, int64_t *ret_erased,
                                   int64_t *ret_removed, struct err *err);

#endif

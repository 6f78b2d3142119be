/*
 * store/outbox.h - what has still to be told to the world.
 *
 * An intent is put in the transaction that causes it, so both are recorded or neither is.  The
 * courier then, each step a command of the writer:
 *
 *   outbox_claim()      leases it: nobody else gets it until the lease ends
 *   (compose)           outside any transaction, from params and the game as it stands
 *   outbox_compose()    its final bytes are stored: every retry sends exactly these
 *   (send)
 *   outbox_sent() | outbox_retry() | outbox_failed() | outbox_supersede_one()
 *
 *   queued -> leased -> sent
 *      ^        |  \--> failed | superseded | expired
 *      |________|           a lease that ended, or a retry
 *
 * Delivery is at least once: whoever dies between sending and outbox_sent() sends again when the
 * lease has ended, with the same message id, which is made of the row.  When a row is settled, a
 * letter's bytes are erased (it may hold a raw token, and pictures are large), and so are a
 * webhook's if has_token says that they hold one; else those stay for redelivery until purged.
 * Erased is gone from the row and from backups; free pages of the live file and its log may hold
 * such bytes until they are used again, as they held them while the letter waited.
 * Answers to letters go before all other mail: whoever has written waits for them.
 * Webhooks: one intent at a time for each endpoint, so a dead one cannot hold up the others.
 *
 * Ownership: strings given are copied.  struct intent_row is the caller's; intent_release() frees
 * its params and bytes.
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_OUTBOX_H
#define FH_STORE_OUTBOX_H

#include "store/games.h"

enum {
    DEDUPE_KEY_SIZE = 201,
    TEMPLATE_SIZE = 41,
    PARAMS_MAX = 16384,         /* bytes of JSON */
    BYTES_MAX = 2 * 1024 * 1024, /* of a composed letter or body */
    MESSAGE_ID_SIZE = 257,
    CONTENT_TYPE_SIZE = 101,
    REPLY_TEXT_SIZE = 501       /* what the other side said; longer ones are cut */
};

struct intent_row {
    int64_t id;
    char dedupe_key[DEDUPE_KEY_SIZE];
    enum notice_class cls;
    enum notice_channel channel;
    char template_name[TEMPLATE_SIZE]; /* notify/'s word for the text */
    int64_t user_id;            /* 0: to the address alone */
    char address[ADDRESS_SIZE]; /* mail: exactly here; "" : where the user's mail goes at sending */
    int64_t webhook_id;         /* 0: mail */
    int64_t game_id;            /* 0: none */
    int seat;                   /* -1: none */
    int64_t event_id;           /* 0: none */
    int64_t seq;
    int64_t state_no;
    char *params;               /* JSON; NULL is the same as "{}" */
    enum outbox_state state;
    utc_ms due_at;
    utc_ms expires_at;
    utc_ms leased_until;        /* UTC_NONE */
    int attempts;               /* sendings begun; 1 while the first is under way */
    unsigned char *bytes;       /* NULL: not composed, or erased */
    size_t bytes_len;
    char content_type[CONTENT_TYPE_SIZE];
    char envelope_from[ADDRESS_SIZE];
    char envelope_to[ADDRESS_SIZE];
    char message_id[MESSAGE_ID_SIZE];
    bool has_token;
    int last_code;              /* 0: no answer */
    char last_text[REPLY_TEXT_SIZE];
    utc_ms created_at;
    utc_ms settled_at;          /* UTC_NONE */
};
#define INTENT_ROW_INIT                                                                            \
    ((struct intent_row){.seat = -1, .leased_until = UTC_NONE, .settled_at = UTC_NONE})
void intent_release(struct intent_row *intent); /* NULL and zeroed are allowed */

/* Uses dedupe_key … params, due_at, expires_at, created_at.  Saying the same twice (dedupe_key) is
 * no error: the second is not put and *ret_id (NULL allowed) is 0. */
MUST_CHECK enum status outbox_put(struct store_txn *txn, const struct intent_row *intent,
                                  int64_t *ret_id, struct err *err);

/* The same with bytes composed already (login links, whose raw token is never stored elsewhere):
 * also uses bytes, content_type, envelope_from, envelope_to, has_token; message_id may be "" and
 * set later. */
MUST_CHECK enum status outbox_put_composed(struct store_txn *txn, const struct intent_row *intent,
                                           int64_t *ret_id, struct err *err);

/* Lease the earliest due one of a channel (an answer, if one is due) until now + lease_ms.  A lease
 * that has ended is handed out again.  Those whose expires_at has come are marked expired on the
 * way.  attempts is counted up.  ST_NOT_FOUND when nothing (more) is due: the command that asked
 * must then still return ST_OK, or the marking is undone and done again for ever. */
MUST_CHECK enum status outbox_claim(struct store_txn *txn, enum notice_channel channel, utc_ms now,
                                    int64_t lease_ms, struct intent_row *ret_intent,
                                    struct err *err);

/* Of webhooks, under way at once: so many of one account, and so many to endpoints that have failed
 * and taken nothing since, or never took anything.  Else a few that do not answer would keep all
 * others waiting. */
enum { WEBHOOKS_OF_ONE = 2, WEBHOOKS_UNPROVED = 6 };

/* When outbox_claim() could next find something of the channel; UTC_NONE: nothing waits, or of
 * webhooks it waits for others to end. */
MUST_CHECK enum status outbox_next(struct store_conn *conn, enum notice_channel channel,
                                   utc_ms *ret_at, struct err *err);

/* Each of the following needs the lease: ST_CONFLICT (REASON_ALREADY_DONE) when `attempt` is not
 * the row's attempts any more, or it is settled. */

/* Store the bytes to be sent.  Later calls to outbox_claim() give them back. */
struct outbox_letter {
    const void *bytes;
    size_t len;
    const char *content_type;  /* webhook; "" for mail */
    const char *envelope_from; /* mail; "" for webhooks */
    const char *envelope_to;
    const char *message_id;
    bool has_token;
};
MUST_CHECK enum status outbox_compose(struct store_txn *txn, int64_t id, int attempt,
                                      const struct outbox_letter *letter, struct err *err);
/* Got through. */
MUST_CHECK enum status outbox_sent(struct store_txn *txn, int64_t id, int attempt, int code,
                                   const char *text, int64_t took_ms, utc_ms now, struct err *err);
/* Did not, try again at due_at.  Becomes expired instead if that is not before expires_at
 * (*ret_expired; NULL allowed). */
MUST_CHECK enum status outbox_retry(struct store_txn *txn, int64_t id, int attempt, int code,
                                    const char *text, int64_t took_ms, utc_ms due_at, utc_ms now,
                                    bool *ret_expired, struct err *err);
/* Will not. */
MUST_CHECK enum status outbox_failed(struct store_txn *txn, int64_t id, int attempt, int code,
                                     const char *text, int64_t took_ms, utc_ms now,
                                     struct err *err);
/* Things have moved on, or nobody wants it any more: not sent.  text says why. */
MUST_CHECK enum status outbox_supersede_one(struct store_txn *txn, int64_t id, int attempt,
                                            const char *text, utc_ms now, struct err *err);
/* Give it back unsent (shutting down, no connection to spare): due again at due_at; this attempt
 * does not count. */
MUST_CHECK enum status outbox_release(struct store_txn *txn, int64_t id, int attempt,
                                      utc_ms due_at, struct err *err);

/* Warnings about a game that still wait (leased ones not) and speak of a state before state_no are
 * superseded; *ret_n (NULL allowed): how many. */
MUST_CHECK enum status outbox_supersede_warnings(struct store_txn *txn, int64_t game_id,
                                                 int64_t state_no, utc_ms now, int64_t *ret_n,
                                                 struct err *err);
/* At start, before the courier: leases of a process that is gone end now. */
MUST_CHECK enum status outbox_reclaim(struct store_txn *txn, utc_ms now, int64_t *ret_n,
                                      struct err *err);

/* What waits since it was refused by policy (notify/hold.h), so that a restart does not forget it.
 * policy_holds_set() puts these in place of all that were there. */
enum { POLICY_DOMAIN_SIZE = 256 };
struct policy_hold_row {
    enum notice_class cls;
    char domain[POLICY_DOMAIN_SIZE]; /* "": all */
    utc_ms until;
    int64_t ms;
};
MUST_CHECK enum status policy_holds_set(struct store_txn *txn, const struct policy_hold_row *rows,
                                        size_t n, struct err *err);
MUST_CHECK enum status policy_holds_get(struct store_conn *conn, struct policy_hold_row *rows,
                                        size_t max, size_t *ret_n, struct err *err);

/* A delivery report said that the letter reached nobody.  ST_CONFLICT (REASON_ALREADY_DONE) when
 * one was counted already: each letter speaks against its address once. */
MUST_CHECK enum status outbox_bounced(struct store_txn *txn, int64_t id, utc_ms now,
                                      struct err *err);

/* Send again what was settled (a webhook's redelivery): same bytes, same id, due now, kept until
 * expires_at.  ST_CONFLICT (REASON_ALREADY_DONE) when it waits already; ST_GONE when its bytes were
 * erased. */
MUST_CHECK enum status outbox_again(struct store_txn *txn, int64_t id, utc_ms now,
                                    utc_ms expires_at, struct err *err);

/* ST_NOT_FOUND.  With bytes and params. */
MUST_CHECK enum status outbox_get(struct store_conn *conn, int64_t id,
                                  struct intent_row *ret_intent, struct err *err);
/* Without bytes and params (they are NULL): newest first, id < before (0: from the newest). */
MUST_CHECK enum status outbox_of_webhook(struct store_conn *conn, int64_t webhook_id,
                                         int64_t before, struct intent_row *rows, size_t max,
                                         size_t *ret_n, struct err *err);

struct attempt_row {
    int64_t outbox_id;
    int attempt;
    utc_ms at;
    int64_t took_ms;
    enum attempt_outcome outcome;
    int code;
    char text[REPLY_TEXT_SIZE];
};
/* Oldest first. */
MUST_CHECK enum status attempts_of(struct store_conn *conn, int64_t outbox_id,
                                   struct attempt_row *rows, size_t max, size_t *ret_n,
                                   struct err *err);

/* The clock has been set back: what was put in what is the future now, or waits longer than
 * longest_ms, which is never meant so, is due now.  *ret_n (NULL allowed): how many. */
MUST_CHECK enum status outbox_set_back(struct store_txn *txn, utc_ms now, int64_t longest_ms,
                                       int64_t *ret_n, struct err *err);

/* Mail that still waits (leased ones not) for a later time is due now.  *ret_n (NULL allowed).
 * Of a user: his letters may have waited for his address to work again. */
MUST_CHECK enum status outbox_hurry_user(struct store_txn *txn, int64_t user_id, utc_ms now,
                                         int64_t *ret_n, struct err *err);
/* Of a game and class, what speaks of a state before that one: it has become untrue. */
MUST_CHECK enum status outbox_hurry_game(struct store_txn *txn, int64_t game_id,
                                         enum notice_class cls, int64_t before_state_no,
                                         utc_ms now, int64_t *ret_n, struct err *err);

/* The newest letter of a class to a user that the event has caused and that speaks of that state,
 * without bytes and params.  ST_NOT_FOUND. */
MUST_CHECK enum status outbox_find_mail(struct store_conn *conn, int64_t event_id, int64_t user_id,
                                        enum notice_class cls, int64_t state_no,
                                        struct intent_row *ret_intent, struct err *err);

/*
 * Whether a player has been told that it is his turn: over all intents of the classes turn and
 * start to him that events of this game with seq > since have caused, and that speak of state_no
 * (the turn's first) or later, whatever the channel.  Superseded ones do not count: nobody wanted
 * them any more, or a newer one took their place.  What was purged is as if it had never been.
 */
struct outbox_handover {
    bool is_wanted;  /* a letter was to tell him; else he wants none */
    bool is_waiting; /* one is still to be sent; false with first_at UTC_NONE: all have failed */
    utc_ms first_at; /* when the first was handed over; UTC_NONE: none yet */
};
MUST_CHECK enum status outbox_handover(struct store_conn *conn, int64_t game_id, int64_t user_id,
                                       int64_t since, int64_t state_no,
                                       struct outbox_handover *ret_handover, struct err *err);

/* How many pings of a webhook wait. */
MUST_CHECK enum status outbox_tests_waiting(struct store_conn *conn, int64_t webhook_id,
                                            int64_t *ret_n, struct err *err);

/* For metrics: how many wait (queued or leased), and since when the oldest due one does. */
struct outbox_depth {
    int64_t waiting;
    utc_ms oldest_due_at; /* UTC_NONE */
};
MUST_CHECK enum status outbox_depth(struct store_conn *conn, enum notice_channel channel,
                                    struct outbox_depth *ret_depth, struct err *err);

/* Remove rows settled before `before` with their attempts, at most max. */
MUST_CHECK enum status outbox_purge(struct store_txn *txn, utc_ms before, int max, int64_t *ret_n,
                                    struct err *err);

#endif

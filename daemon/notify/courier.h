/*
 * notify/courier.h - sends what waits in the outbox.
 *
 * Purpose
 *   Leases intents from the writer, has them composed, has the writer keep the final bytes, sends
 *   them by SMTP, directory or HTTP, and has them marked: sent, to be tried again, failed,
 *   superseded.  Everything it must not forget is in the outbox, so it may be killed at any time:
 *   what it was sending is sent again after its lease, with the same bytes and id.
 *
 * Calling sequence
 *   courier_new()                  after notify_open()
 *   courier_start() … _stop()      a thread of its own; courier_wake() from any thread, or
 *   courier_step()                 without a thread, in tests and subcommands
 *   courier_free()
 *
 *     queued ──claim──► leased ──check──► superseded
 *       ▲                  │
 *       │                  ├─compose──► bytes kept ──transfer──► sent
 *       │                  │                            ├──► retry (table, Retry-After, jitter)
 *       └──────────────────┴────────────────────────────┘
 *                                                       └──► failed (5yz, 410, table used up)
 *
 * Limits: at most COURIER_MAIL letters and COURIER_WEBHOOKS webhooks are under way at once; each
 *   endpoint has one at a time (the store sees to it).  Letters are leased and marked many at a
 *   time, one commit for all, while others are sent; connections to the mail server are kept and
 *   used again.  Answers to players' letters go before all else that is due.
 *
 * Judging
 *   Mail: by reply code (mail/transport.h).  A hard refusal that blames the address suspends it
 *   (users_bounce, notify_on_suspended()); a 5yz without an enhanced code is tried again twice.
 *   What would be tried again only after its expiry is tried for the last time a minute before it,
 *   if that is an hour away or more: a letter is not given up early because the table's long steps
 *   straddle its end.
 *   5.7.x (policy) is nobody's address: the letter waits, and so do all further ones of its class
 *   to the same domain, for an hour, doubled with each further refusal up to a day; once a
 *   second domain refuses so, the class waits as a whole.  Then one letter tries.  Each hold is
 *   logged as a warning and counted (courier_stats, the metrics); what waited past its expiry is
 *   dropped as ever.  Holds are kept over a restart.
 *   Webhooks: 2xx is success; 410 disables the endpoint; 429, 502, 503 and 504 honour Retry-After;
 *   everything else waits for its next turn; after the last attempt the owner gets a letter, after
 *   five days of nothing but failures the endpoint is switched off with a letter.
 *
 * Time: injected; steps take no reading of their own.  While it is a minute or more behind what it
 *   has shown, and at the start, what was put off by the clock as it was is due once a minute
 *   (outbox_set_back()).  Randomness (jitter): injected.
 * Threads: courier_step() and the thread must not be mixed; courier_wake() and courier_stats():
 *          any.
 */
#ifndef FH_NOTIFY_COURIER_H
#define FH_NOTIFY_COURIER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ports.h"
#include "base/status.h"
#include "base/utc.h"
#include "mail/transport.h"
#include "notify/notify.h"

enum {
    COURIER_MAIL = 16,      /* letters under way at once */
    COURIER_WEBHOOKS = 8,   /* webhooks under way at once */
    COURIER_RESPONSE_MAX = 64 * 1024 /* bytes of an endpoint's answer that are read */
};
#define COURIER_LEASE_MS (10 * MS_MINUTE)
#define COURIER_IDLE_MS MS_MINUTE           /* looks at the outbox at least so often */
#define WEBHOOK_GIVE_UP_MS (5 * MS_DAY)     /* of nothing but failures */
#define WEBHOOK_RESOLVE_MS (3 * MS_SECOND)  /* an endpoint's name may be looked up so long */

struct courier;

struct courier_options {
    struct notify *notify;
    struct store *store;
    struct writer *writer;
    struct time_source time;
    struct entropy entropy;
    /* exactly one of the two: */
    const struct mail_smtp *smtp;   /* copied by value; its strings are borrowed */
    const char *mail_directory;
    const char *webhook_ca_file;    /* PEM file of authorities; NULL: the system's */
    /* For tests: where a name leads ("host:port:address" as curl's CURLOPT_RESOLVE).  NULL
     * otherwise. */
    const char *webhook_resolve;
    int64_t webhook_timeout_ms;     /* 0: 20 s */
    int64_t webhook_resolve_ms;     /* 0: WEBHOOK_RESOLVE_MS */
    /* A turn or start notice about a game got through, by mail or webhook; in the command that
     * marks it as sent.  NULL: nobody asks.  If it fails, the notice is marked all the same. */
    enum status (*on_handed_over)(struct store_txn *txn, const struct intent_row *intent,
                                  utc_ms now, void *arg, struct err *err);
    void *on_handed_over_arg;
};

MUST_CHECK enum status courier_new(const struct courier_options *options,
                                   struct courier **ret_courier, struct err *err);
void courier_free(struct courier *courier); /* NULL is allowed; gives back what it has leased */

/*
 * Without a thread: take and begin what is due now, and run the transfers.  With `wait` it goes on
 * until nothing is under way and nothing more is due; without, it does what can be done at once.
 * *ret_sent (NULL allowed) counts the notices that were settled or put back.
 */
MUST_CHECK enum status courier_step(struct courier *courier, bool wait, int *ret_settled,
                                    struct err *err);

MUST_CHECK enum status courier_start(struct courier *courier, struct err *err);
/* Take nothing new, let transfers finish for up to drain_ms, give back the rest, join. */
void courier_stop(struct courier *courier, int64_t drain_ms);

/* There may be something to do.  Cheap, does not block; also as the writer's hook. */
void courier_wake(struct courier *courier);
void courier_on_commit(void *courier, const struct writer_commit *commit);

/* Wait until the thread has looked at the outbox anew and nothing is under way nor due.  For
 * programs that move its clock; there is no end to the wait while the other side keeps it busy.
 * Not from the writer's thread. */
void courier_settle(struct courier *courier);

/* For metrics: counted since the start. */
struct courier_stats {
    uint64_t mail_sent, mail_retried, mail_failed, mail_superseded;
    uint64_t webhook_sent, webhook_retried, webhook_failed, webhook_superseded;
    uint64_t mail_policy;  /* 5.7.x refusals: the operator's set-up wants a look */
    uint64_t mail_held;    /* letters put off because their class is held */
    int holds;             /* classes (or domains of one) that are held now */
    int under_way;
};
struct courier_stats courier_stats(struct courier *courier);

#endif

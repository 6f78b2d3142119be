/*
 * notify/courier_own.h - what the courier's files share; for nobody else.
 *
 * courier.c          the courier's life, its steps and its thread
 * courier_keep.c     what has become of intents is marked, and the next ones are leased: commands
 *                    of the writer, made while other letters are sent
 * courier_compose.c  intents get their bytes
 * courier_mail.c     letters: a queue of leased ones, and the connections to the mail server
 * courier_hooks.c    webhooks
 *
 *     lease (keep) ──► queue ──compose──► slot ──transfer──► mark ──► keep
 *
 * Ownership: an intent is in one place at a time, the queue, a slot or a marking; whoever takes it
 *            (take_…) leaves INTENT_ROW_INIT behind.
 * Time, threads: as courier.h; all of it is the courier's thread's but what struct courier puts
 *            under its lock, and the keeping's marks and letters while the writer has them.
 */
#ifndef FH_NOTIFY_COURIER_OWN_H
#define FH_NOTIFY_COURIER_OWN_H

#include <pthread.h>
#include <stdatomic.h>

#include <curl/curl.h>

#include "notify/courier.h"
#include "notify/hold.h"
#include "notify/internal.h"

enum {
    QUEUE_MAX = 4 * COURIER_MAIL, /* letters leased and waiting for a connection */
    COMPOSED_AT_ONCE = 8,         /* letters; connections stand still meanwhile */
    MARKS_MAX = QUEUE_MAX + COURIER_MAIL + COURIER_WEBHOOKS,
    MARKS_WORTH = QUEUE_MAX / 2,  /* of which a commit is made while there is more to send */
    RETRY_AFTER_SIZE = 80
};

/* One intent under way. */
struct slot {
    bool is_used;
    struct intent_row intent;
    utc_ms began_at;
    /* mail */
    struct mail_sending *sending; /* stays for the next letter */
    /* webhook */
    CURL *easy;
    struct curl_slist *headers;
    struct webhook_row *webhook;
    const struct net_list *allow;
    size_t received;
    bool is_denied; /* an address was refused */
    bool is_opened; /* … and another was not */
    int64_t resolve_ms; /* so long may its name be looked up */
    bool is_unresolved; /* that took longer */
    char retry_after[RETRY_AFTER_SIZE];
    char complaint[CURL_ERROR_SIZE];
};

/* A letter that waits for its bytes or for a connection. */
struct letter {
    struct intent_row intent;
    bool is_checked; /* it was composed just now, so it made sense then */
};

/* What has become of an intent. */
enum mark { MARK_SENT, MARK_RETRY, MARK_FAILED, MARK_SUPERSEDED, MARK_RELEASED };

struct marking {
    struct intent_row intent;
    enum mark mark;
    int code;
    char text[REPLY_TEXT_SIZE];
    int64_t took_ms;
    int64_t retry_ms;      /* MARK_RETRY, MARK_RELEASED: from now */
    bool is_hard, is_soft; /* mail: speaks against the address */
    const char *disable;   /* webhook: why it is to be switched off, or NULL */
    bool is_attempt;       /* webhook: counts for its owner's failures */
    bool is_last;          /* webhook: no attempt is left */
    bool is_quiet;         /* nobody else is told: they have failed once */
    bool is_suspended, is_disabled, is_expired; /* results */
};

/* One commit: what has become of some, and the next ones. */
struct keeping {
    struct courier *courier;
    struct marking *marks; /* MARKS_MAX */
    size_t n_marks;
    size_t wanted;          /* letters to be leased */
    struct letter *letters; /* QUEUE_MAX */
    size_t n_letters;
    enum status st; /* how it went */
    bool is_done;   /* … is known; under the courier's lock */
};

struct courier {
    struct courier_options options;
    struct mail_smtp smtp;
    struct store_reader *reader;
    CURLM *multi;
    struct curl_slist *resolve;
    struct slot mail[COURIER_MAIL];
    struct slot hooks[COURIER_WEBHOOKS];
    struct letter *queue; /* QUEUE_MAX: leased, in order */
    size_t n_queue;
    utc_ms queued_at; /* when the last of them were looked at */
    struct marking *marks; /* MARKS_MAX: not in the store yet */
    size_t n_marks;
    struct keeping keeping; /* what the writer is about, or was */
    bool is_keeping;        /* … is; letters go on meanwhile */
    int rests;              /* the store took nothing just now: polls until it is tried again, of
                             * which the keeping's own wake may end the first at once */
    utc_ms seen_at;      /* the latest that the clock has shown */
    utc_ms hurried_at;   /* when it was behind that, and what waited was made due; UTC_NONE */
    bool is_hook_marked; /* a webhook's is among the marks: its endpoint waits for that */
    bool is_keeping_due; /* one of them changes what becomes of the rest of the queue */
    struct holds holds;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_stopping;
    _Atomic int64_t drain_ms;
    pthread_mutex_t lock; /* of what follows */
    struct courier_stats stats;
    pthread_cond_t is_settled, is_kept;
    uint64_t settle_asked, settle_answered; /* how often; see courier_settle() */
};

/* ---------------------------------------------------------------- courier.c */

utc_ms courier_now(const struct courier *c);
uint32_t courier_random(const struct courier *c);
/* One more of a counter in stats. */
void courier_count(struct courier *c, uint64_t *counter);
/* Run one command of the writer; what fails is told in the diary, since the lease mends it. */
enum status courier_run(struct courier *c, const char *name,
                        enum status (*fn)(struct store_txn *, utc_ms, void *, struct err *),
                        void *arg);
/* Whether anything of a channel is due. */
bool courier_is_due(struct courier *c, enum notice_channel channel);
/* One that is not used, or NULL. */
struct slot *slot_free(struct slot *slots, int n);
/* Its intent has gone on; the handle for letters stays. */
void slot_release(struct slot *s);

/* ---------------------------------------------------------------- courier_keep.c */

/* Note what has become of an intent, which is taken. */
void mark_put(struct courier *c, struct intent_row *take_intent, struct marking *m);
/* The same for what is in a slot, which is free then. */
void mark_slot(struct courier *c, struct slot *s, struct marking *m);
void marks_drop(struct marking *marks, size_t *n);
/* Have the writer keep what is marked, and lease up to `wanted` letters; letters are sent on
 * meanwhile.  Without a thread of ours it is done on return.  Not while is_keeping. */
void keep_begin(struct courier *c, size_t wanted);
/* Take what the writer has done, if it has; how many marks were kept and letters leased: there may
 * be more to do then, since an endpoint whose delivery is marked is free for its next. */
size_t keep_end(struct courier *c);
/* The same when the writer is done. */
size_t keep_wait(struct courier *c);
/* Have all that is marked kept before anything else; counts as keep_end(). */
size_t keep_now(struct courier *c);

/* ---------------------------------------------------------------- courier_compose.c */

/* Compose some intents, COMPOSED_AT_ONCE at most, and have the store keep their bytes, those
 * without a secret by one commit.  Afterwards each has its bytes, or has been marked and taken (its
 * id is 0). */
void compose(struct courier *c, struct intent_row *const *intents, size_t n);
/* What has to be said of an intent that will not be sent now. */
void compose_fate(struct courier *c, struct intent_row *take_intent, enum notice_fate fate,
                  const char *why);
/* What to do with an intent that could not be composed or begun. */
void compose_give_up(struct courier *c, struct intent_row *take_intent, enum status st,
                     const struct err *err);

/* ---------------------------------------------------------------- courier_mail.c */

/* Lease, compose and begin letters; how many steps on the way were made. */
int mail_step(struct courier *c, bool takes_new);
/* A transfer has ended so. */
void mail_finish(struct courier *c, struct slot *s, const struct mail_result *r);
/* What waits for a connection goes back into the outbox. */
void queue_give_back(struct courier *c);

/* ---------------------------------------------------------------- courier_hooks.c */

/* Lease and begin the webhooks that are due; how many it was. */
int hooks_step(struct courier *c);
/* A transfer has ended so. */
void hook_finish(struct courier *c, struct slot *s, CURLcode result);

#endif

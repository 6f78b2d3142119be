/*
 * intake/intake.h - play by mail: from a letter that was let in to its one effect and one answer.
 *
 * Purpose
 *   The doors (LMTP, `receive`, a Maildir, an IMAP mailbox) hand letters in; they are stored
 *   (store/inbox.h) before anything is acknowledged.  The intake thread then reads each, finds out
 *   whose it is, runs its commands through the arbiter and leaves the answer in the outbox.
 *
 * The life of a letter
 *
 *   door ──intake_accept()──► received ──claim──► claimed ──act──► done | held | quarantined
 *                                ▲                   │                     │
 *                                └──reclaim at start─┘        `confirm` ──►┘ done
 *
 *   claim   a command of its own that counts the attempt.  A letter that was claimed before is
 *           claimed alone, so that none is counted for its neighbour's fault, and after
 *           INTAKE_ATTEMPTS it is put aside (P39): so many, because a process may also be killed
 *           by somebody else while it reads a good letter.
 *   read    outside any transaction: mail/letter.h, mail/reply.h, grammar.h, under a guard on
 *           processor time (INTAKE_CPU_MS): a letter that runs over it ends the process, which
 *           is started again and comes to the point above.
 *   act     ONE command of the writer: the row must still be claimed; token, sender, commands,
 *           their effects, the answer's intent and the row's settlement are kept together or not
 *           at all.  So each letter has exactly one effect, whenever the process dies.
 *   Letters claimed together are acted upon in their order, each in its own command; those
 *   commands share commits, so that a full mailbox does not cost an fsync a letter.
 *   A letter handed in again (same recipient, sender, Message-ID and body) has no second effect,
 *   and no second answer unless the first could not be handed over and is still true.
 *
 * Who it is: see sender.h.  What it may say: grammar.h and docs/mail.md.  Time: what a letter does
 *   is judged at received_at, when it was accepted, however long it waited (T4).
 *
 * Calling sequence
 *   intake_open()                 after store, writer, arbiter, people and notify
 *   intake_start() … _stop()      a thread of its own, or intake_step() without one
 *   intake_accept(), intake_submit()  from the doors
 *   intake_try()                  `receive --dry-run`
 *   intake_close()
 *
 * Ownership: options' strings and parts are borrowed until intake_close().
 * Threads:   intake_step() and the thread must not be mixed; all else from any thread but the
 *            writer's (intake_submit(), intake_wake(), intake_recipient_check(), intake_stats():
 *            any).
 * Errors:    ST_BUSY, ST_IO, ST_NOMEM: not kept, hand it in again (LMTP 451, exit 75).
 *            ST_INVALID: the recipient is none of ours (550, 67).  ST_TOO_LARGE: over letter_size
 *            (552, 65).
 */
#ifndef FH_INTAKE_INTAKE_H
#define FH_INTAKE_INTAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arbiter/arbiter.h"
#include "base/buf.h"
#include "base/ports.h"
#include "base/status.h"
#include "base/utc.h"
#include "clock/zone.h"
#include "people/people.h"
#include "store/inbox.h"
#include "store/store.h"
#include "store/writer.h"

struct intake;

enum {
    INTAKE_ATTEMPTS = 5,          /* claims without settling before a letter is put aside */
    INTAKE_CLAIM_MAX = 15,        /* letters claimed by one commit: less than limits.queue */
    INTAKE_ANSWER_MAX = 12 * 1024,/* bytes of an answer's text; cut with a sentence saying so */
    INTAKE_CPU_MS = 5000          /* processor time for reading one letter */
};
#define INTAKE_IDLE_MS MS_MINUTE       /* looks at the inbox at least so often */
#define INTAKE_BOUNCE_MS (30 * MS_DAY) /* a bounce of an older letter says nothing */
#define INTAKE_HELD_MS (7 * MS_DAY)    /* a letter held for its owner's `confirm` */

enum intake_dmarc { INTAKE_DMARC_IGNORE, INTAKE_DMARC_PREFER, INTAKE_DMARC_REQUIRE };

/* What notify/ does for it, which intake may not include; main wires them.  Each may be NULL. */
struct intake_hooks {
    /* A local part of the bounce address: the outbox row, if its code is right.  ST_GONE. */
    enum status (*bounce_read)(void *arg, const char *local_part, int64_t *ret_outbox_id,
                               struct err *err);
    /* notify.h's unsubscribe_read(). */
    enum status (*unsubscribe_read)(void *arg, const char *token, int64_t *ret_user_id,
                                    enum notice_class *ret_class, struct err *err);
    /* An address was suspended by a bounce; in the same transaction. */
    enum status (*on_suspended)(struct store_txn *txn, int64_t user_id, utc_ms now, void *arg,
                                struct err *err);
    /* A letter came from a suspended address, or from one with bounces: it is healthy again. */
    enum status (*on_reached)(struct store_txn *txn, int64_t user_id, utc_ms now, void *arg,
                              struct err *err);
    /* An invited stranger wants no more letters (unsubscribe_read() gave user 0). */
    enum status (*address_block)(void *arg, struct store_txn *txn, const char *token, utc_ms now,
                                 struct err *err);
    /* Put the turn's letter of the game into the outbox anew (`resend`; N21).  ST_NOT_FOUND: the
     * game does not wait for him. */
    enum status (*resend)(struct store_txn *txn, const struct game_row *game, int64_t user_id,
                          utc_ms now, void *arg, struct err *err);
    void *arg; /* of all of them: the struct notify */
};

struct intake_options {
    struct store *store;
    struct writer *writer;
    const struct arbiter *arbiter;
    const struct people *people;
    struct zone_cache *zones;
    struct time_source time;
    struct entropy entropy;
    struct digest digest;
    const char *address;             /* "play@example.org" */
    const char *delimiter;           /* "+", "-", or "": the token is the whole local part */
    const char *bounce_address;      /* "": none */
    const char *unsubscribe_address; /* "": none */
    const char *authserv_id;         /* "": no Authentication-Results is believed */
    enum intake_dmarc dmarc;
    int64_t hold_ms;                 /* grace for moves by mail, unless the player has his own */
    bool confirms_resign;            /* a resignation waits for its player's `confirm` (M8) */
    int64_t answers_an_hour;         /* to one account */
    size_t letter_size;              /* bytes; 0: 1 MiB */
    const char *const *banners;      /* beginnings of paragraphs to be passed over */
    size_t n_banners;
    const char *public_url;
    const char *site_name;
    const char *mail_from;           /* our own address, in From of our letters: never answered */
    struct intake_hooks hooks;
};

MUST_CHECK enum status intake_open(const struct intake_options *options,
                                   struct intake **ret_intake, struct err *err);
void intake_close(struct intake *intake); /* NULL is allowed; stops the thread */

/* Reclaims what a process before had claimed, then begins the thread. */
MUST_CHECK enum status intake_start(struct intake *intake, struct err *err);
void intake_stop(struct intake *intake); /* ends after the letter at work */
void intake_wake(struct intake *intake); /* cheap, does not block */
/* Wait until the thread has looked at the inbox anew and nothing waits there, or it has failed.
 * For programs that move its clock. */
void intake_settle(struct intake *intake);

/* Without a thread: settle all letters that wait.  *ret_n (NULL allowed): how many. */
MUST_CHECK enum status intake_step(struct intake *intake, int *ret_n, struct err *err);
/* Claimed letters of a process that is gone wait again; intake_start() does it by itself. */
MUST_CHECK enum status intake_reclaim(struct intake *intake, struct err *err);

/* ---------------------------------------------------------------- letting in */

enum intake_recipient {
    INTAKE_FOREIGN,     /* none of ours: refuse it at RCPT */
    INTAKE_PLAY,        /* ours, with a token's shape or without any token */
    INTAKE_BOUNCE,
    INTAKE_UNSUBSCRIBE
};
/* By shape alone; pure.  Addresses are compared without case (P20).  A token that is too long or
 * has other characters makes an address foreign. */
enum intake_recipient intake_recipient_check(const struct intake *intake, const char *recipient);

struct intake_arrival {
    enum inbox_way way;
    /* Of the envelope.  NULL: not known, Return-Path is looked at.  "": null – but with a Maildir
     * and IMAP, where doors cannot tell, only if Return-Path says so. */
    const char *sender;
    const char *recipient; /* envelope; NULL: not known, the letter's headers are looked at */
    const void *bytes;
    size_t n;
    utc_ms received_at;    /* UTC_NONE: now */
};

struct intake_accepted {
    int64_t id;      /* of the inbox row */
    bool is_new;     /* false: it was here before */
};

/* Store it; when this returns ST_OK it is durable.  ret may be NULL. */
MUST_CHECK enum status intake_accept(struct intake *intake, const struct intake_arrival *arrival,
                                     struct intake_accepted *ret, struct err *err);

/* The same without waiting: done() is called on the writer's thread once it is durable or refused.
 * When this fails done() is never called.  What arrival points to is copied. */
typedef void intake_done_fn(void *arg, enum status st, const struct err *err);
MUST_CHECK enum status intake_submit(struct intake *intake, const struct intake_arrival *arrival,
                                     intake_done_fn *done, void *arg, struct err *err);

/*
 * What would be done and why, in English, without doing it: recipient, token, sender,
 * authentication, each line and how it was taken, each command and what would come of it, then the
 * answer.  The whole runs in a command that is undone.  Secrets are not printed.
 */
MUST_CHECK enum status intake_try(struct intake *intake, const struct intake_arrival *arrival,
                                  struct buf *out, struct err *err);

/* For showing a header to the operator: n bytes of it with each token of ours – what has its
 * form and stands before "@", as in play+TOKEN@…, unsubscribe+TOKEN@… and reply.TOKEN@… – replaced
 * by "…": whoever has one can play for its owner, or switch his letters off.  "+" and "@" may be
 * encoded (=2B, %40). */
void intake_mask_tokens(const char *text, size_t n, struct buf *out);

/* Since the start. */
struct intake_stats {
    uint64_t accepted, repeated;            /* letters stored; handed in again */
    uint64_t verdicts[INBOX_VERDICT_COUNT_];/* by what became of them */
    uint64_t answers;                       /* left in the outbox */
    int64_t read_cpu_max_ms;
};
struct intake_stats intake_stats(struct intake *intake);

#endif

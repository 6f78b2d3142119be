/*
 * intake/imap_watch.h - letters from a mailbox that a club rents: the thread around mail/imap.h.
 *
 * Purpose
 *   Connects, takes what is new, waits by IDLE, takes what is new …  A letter is fetched without
 *   marking it, handed over, and only when it is durable marked read or deleted, as the
 *   configuration says, and its UID remembered (imap_boxes) in that order.
 *
 * What is new
 *   UIDs above the last one remembered, while the mailbox' UIDVALIDITY is the one remembered; when
 *   it is another, everything in the mailbox is looked at again – its letters are known by their
 *   fingerprints, so nothing acts twice.  The first time of all everything is looked at, too.  A
 *   letter that is too large, for nobody here, or gone before it was fetched is passed over (marked
 *   read, with a warning in the log) and never blocks those after it.
 *
 * Calling sequence
 *   imap_watch_start() … imap_watch_stop(): within a second, whatever the server does.
 *
 * When something fails: the connection is closed and made anew after 5 s, 10 s, … 10 min; a
 *   letter taken sets that back.  The daemon never waits for it, also not at its start.
 * Time: lengths are waited for by poll().  Threads: start and stop on one thread; stats on any.
 */
#ifndef FH_INTAKE_IMAP_WATCH_H
#define FH_INTAKE_IMAP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/utc.h"
#include "intake/door.h"
#include "mail/imap.h"

#define IMAP_WATCH_RETRY_MS (5 * MS_SECOND)
#define IMAP_WATCH_RETRY_MAX_MS (10 * MS_MINUTE)

struct store;
struct writer;
struct imap_watch;

struct imap_watch_options {
    struct door door;
    struct store *store; /* where the last UID is kept … */
    struct writer *writer; /* … and by whom */
    struct imap_options imap; /* stop_fd is not looked at; strings are lent until the stop */
    bool is_kept; /* leave letters in the mailbox, marked read; else delete them */
};

MUST_CHECK enum status imap_watch_start(const struct imap_watch_options *options,
                                        struct imap_watch **ret_watch, struct err *err);
void imap_watch_stop(struct imap_watch *watch); /* NULL is allowed */

/* How long to wait after the n-th failure in a row (1…): 5 s doubled each time, at most 10 min. */
int64_t imap_watch_pause(int failures);

struct imap_watch_stats {
    uint64_t taken, passed, failures;
    bool is_connected;
};
struct imap_watch_stats imap_watch_stats(struct imap_watch *watch);

#endif

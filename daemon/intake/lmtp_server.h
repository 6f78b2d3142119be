/*
 * intake/lmtp_server.h - the sockets of mail/lmtp.h: letters from the operator's mail server.
 *
 * Purpose
 *   One thread, one epoll, any number of listening sockets and connections.  A letter is handed to
 *   the door for each recipient and the thread goes on; when the writer has committed, the replies
 *   go out.  So letters of many connections share one commit, and no 250 is said before that.
 *
 * Calling sequence
 *   lmtp_server_start()   takes the listening sockets over
 *   lmtp_server_stop()    closes the listeners, tells connections that are idle 421, waits for the
 *                         letters that are with the writer and says their replies, ends the rest
 *                         after drain_ms at most.  The writer must still be running.  NULL allowed.
 *
 * Limits
 *   connections at once (one more hears 421 and is closed); idle_ms without a byte, or
 *   LMTP_SERVER_LETTER_MS without a whole letter (421 4.4.2; a letter that is half here is dropped,
 *   its sender comes again); what a peer does not read is kept for it up to 64 KiB, then nothing
 *   more is read from it.
 *
 * Losing nothing
 *   A peer that hangs up after its letter and before the reply leaves the letter with us: it will
 *   repeat it, and the inbox knows it by its fingerprint.  A full writer's queue or a store that
 *   fails is 451: the peer keeps the letter.
 *
 * Time: the clock given (its monotonic half).  Threads: start and stop on one thread; stats on any.
 */
#ifndef FH_INTAKE_LMTP_SERVER_H
#define FH_INTAKE_LMTP_SERVER_H

#include <stdint.h>

#include "base/status.h"
#include "clock/clock.h"
#include "intake/door.h"

enum { LMTP_SERVER_LISTEN_MAX = 8 };
#define LMTP_SERVER_IDLE_MS (5 * MS_MINUTE) /* what RFC 5321, 4.5.3.2.7 asks of a server */
#define LMTP_SERVER_LETTER_MS (10 * MS_MINUTE) /* for a letter from its first byte to its last */

struct lmtp_server;

struct lmtp_server_options {
    struct door door;
    const int *listen_fds; /* non-blocking, listening; the server's from lmtp_server_start() on */
    size_t n_listen;       /* 1…LMTP_SERVER_LISTEN_MAX */
    const char *name;      /* in the greeting */
    size_t letter_size;
    int connections;
    int64_t idle_ms; /* 0: LMTP_SERVER_IDLE_MS */
    struct clock clock;
};

/* The sockets are closed when this fails. */
MUST_CHECK enum status lmtp_server_start(const struct lmtp_server_options *options,
                                         struct lmtp_server **ret_server, struct err *err);
void lmtp_server_stop(struct lmtp_server *server, int64_t drain_ms);

/* Look at the clock now: for programs that turn it by hand. */
void lmtp_server_wake(struct lmtp_server *server);

/* Since the start; for metrics. */
struct lmtp_server_stats {
    uint64_t connections, refused_connections; /* refused: over the limit */
    uint64_t taken, later, not_ours, too_large; /* replies to recipients after a letter */
    int open;
};
struct lmtp_server_stats lmtp_server_stats(struct lmtp_server *server);

#endif

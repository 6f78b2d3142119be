/*
 * http/change.h - a change under way: the connection waits while the writer does it.
 *
 * Calling sequence
 *   change_read_key() → request_submit(), which suspends the connection and has route->act() run on
 *   the writer's thread → after the commit request_done() resumes it, and the pool thread goes on.
 *   What waits for something else first (a password, a picture) calls request_wait() itself.
 *
 * The same twice
 *   With an Idempotency-Key the answer is kept with the change, in its transaction, for 24 hours:
 *   the same request gets it again, another one under that key is refused.  What was refused is
 *   kept as well, unless it was for a fault of ours or for too many requests.  An account may use
 *   `keys_a_day` new keys (REASON_RATE_LIMIT beyond it).
 *
 * Threads: each function says.
 */
#ifndef FH_HTTP_CHANGE_H
#define FH_HTTP_CHANGE_H

#include "base/status.h"

struct request;

/* The key of r, where its route takes one and somebody is logged in: r->key and r->key_hash, over
 * method, target and body.  REASON_BAD_REQUEST for a bad one.  The pool thread. */
MUST_CHECK enum status change_read_key(struct request *r, struct err *err);

/* Suspend the connection (on the pool thread) and hand it on; the other side, of any thread, calls
 * request_done() exactly once, and does not touch r after it. */
void request_wait(struct request *r);
void request_done(struct request *r, enum status st, const struct err *err);

/* Hand route->act to the writer; answered through request_done(), also when that fails.  The pool
 * thread. */
MUST_CHECK enum status request_submit(struct request *r, struct err *err);

#endif

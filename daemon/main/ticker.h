/*
 * main/ticker.h - the thread that makes the clocks of all games go by themselves.
 *
 * It sleeps until the next timer is due, at most ARBITER_HEARTBEAT_MS, and then has the writer run
 * arbiter_tick(); ticker_wake() – from the writer's hook, when a timer was set – makes it look
 * at once if the timer is due before it would look anyway.  Once an hour it removes what has had
 * its time (old answers, links, letters).
 *
 * Time: due times are the engine's wall clock; waiting is by the monotonic one.
 * Threads: start and stop on the main thread, wake on any.
 */
#ifndef FH_MAIN_TICKER_H
#define FH_MAIN_TICKER_H

#include "main/engine.h"

struct ticker;

/* The ticks of a start: an outage is credited before any timer is looked at.  Before the writer's
 * thread is started. */
MUST_CHECK enum status ticker_first(struct engine *engine, struct err *err);

/* All that is due now, in the calling thread (not the writer's). */
MUST_CHECK enum status ticker_run(struct engine *engine, bool is_start, utc_ms *ret_next_at,
                                  struct err *err);

MUST_CHECK enum status ticker_start(struct engine *engine, struct ticker **ret, struct err *err);
/* A timer was set that is due then.  NULL is allowed. */
void ticker_wake(struct ticker *ticker, utc_ms due_at);
void ticker_stop(struct ticker *ticker); /* NULL is allowed */

#endif

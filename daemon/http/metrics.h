/*
 * http/metrics.h - what the room counts, in the text format of Prometheus (0.0.4).
 *
 * Threads: counting from any thread, without locks; printing from any.
 */
#ifndef FH_HTTP_METRICS_H
#define FH_HTTP_METRICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum { METRICS_ROUTES_MAX = 96, METRICS_CLASSES = 5, METRICS_BUCKETS = 10 };

struct metrics {
    /* by route (the last: everything that has none) and class of status, 1xx…5xx */
    atomic_uint_fast64_t answers[METRICS_ROUTES_MAX][METRICS_CLASSES];
    atomic_uint_fast64_t durations[METRICS_BUCKETS + 1]; /* histogram; the last: longer */
    atomic_uint_fast64_t duration_sum_ms;
    atomic_uint_fast64_t connections_accepted, connections_refused, connections_cut;
    atomic_uint_fast64_t rate_limited, undeclared, stream_events;
    atomic_uint_fast64_t pictures_drawn, pictures_kept;
    atomic_int connections, streams, waiting;
};

/* route: its index in the table, -1: none. */
void metrics_answer(struct metrics *metrics, int route, int status, int64_t took_ms);

/* name(i) is the label of route i ("POST /api/v1/games"). */
void metrics_print(struct metrics *metrics, size_t routes,
                   void (*name)(size_t route, char *ret, size_t size), struct buf *out);

#endif

/*
 * http/rate.h - how often somebody may ask.
 *
 * Token buckets in a table of fixed size: each class of requests has `quota` tokens that come back
 * evenly over `window_ms`.  The table is parted into sets of eight; a newcomer to a full set takes
 * the place of the bucket that is fullest, so a busy one is forgotten last.
 *
 * Time: monotonic milliseconds, given by the caller.  Threads: any; it locks.
 */
#ifndef FH_HTTP_RATE_H
#define FH_HTTP_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum rate_class {
    RATE_NONE,     /* not counted */
    RATE_REQUESTS, /* by account, or address where nobody is logged in */
    RATE_LOGINS,   /* by address */
    RATE_KEYS,     /* by account: answers kept for an Idempotency-Key; no class of a route */
    RATE_CLASSES
};

struct rate_policy {
    const char *name; /* in RateLimit headers */
    int64_t quota;    /* ≥ 1 */
    int64_t window_ms;
};

struct rate_answer {
    bool is_allowed;
    int64_t remaining; /* whole tokens left */
    int64_t wait_s;    /* seconds until there is one more, rounded up; 0 when full */
};

struct rate;

/* policies[RATE_CLASSES], copied; [RATE_NONE] is not looked at.  salt keeps others from choosing
 * where they land. */
MUST_CHECK enum status rate_new(const struct rate_policy policies[RATE_CLASSES], size_t buckets,
                                uint64_t salt, struct rate **ret, struct err *err);
void rate_free(struct rate *rate); /* NULL is allowed */

/* Take a token from the bucket of who in class. */
struct rate_answer rate_take(struct rate *rate, enum rate_class class, uint64_t who,
                             int64_t now_ms);

const struct rate_policy *rate_policy(const struct rate *rate, enum rate_class class);

#endif

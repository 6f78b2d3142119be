/*
 * notify/hold.h - classes of letters that mail servers refuse by policy, put off for a while.
 *
 * A refusal of kind 5.7.x speaks of our reputation or set-up: the next letter would fare the same,
 * and each refused one makes it worse.  So letters of that class to that domain wait, and after a
 * while one tries ("probes").  When a second domain refuses a class, the class waits as a whole.
 *
 *   free ──refusal──► held until ──its time comes──► one letter probes ──success──► free
 *                      ▲                                │
 *                      └── refusal: twice as long ──────┘      anything else: the next one probes
 *
 * Calling sequence: holds_until() before each sending; then, when that gave UTC_NONE, exactly one
 * of holds_refused(), holds_passed() and holds_left() after it.
 *
 * Limits: HOLDS_MAX holds are kept; when one more is needed the one that ends first is forgotten.
 * Time: an argument.  Ownership: nothing is kept but copies.  Threads: one at a time.
 */
#ifndef FH_NOTIFY_HOLD_H
#define FH_NOTIFY_HOLD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/utc.h"
#include "store/kinds.h"

enum { HOLDS_MAX = 64, HOLD_DOMAIN_SIZE = 256 };
#define HOLD_FIRST_MS MS_HOUR
#define HOLD_LONGEST_MS MS_DAY

struct hold {
    enum notice_class cls;
    char domain[HOLD_DOMAIN_SIZE]; /* in lower case; "": the class as a whole */
    utc_ms until;
    int64_t ms;       /* how long it was made for */
    bool is_probing;  /* a letter is under way to see */
};

struct holds {
    struct hold at[HOLDS_MAX];
    size_t count;
    bool is_changed; /* a hold began, grew or ended; whoever keeps them clears it */
};

/* Until when a letter of the class to the address has to wait; UTC_NONE: it may go, and if it is
 * held it is the one that probes. */
utc_ms holds_until(struct holds *holds, enum notice_class cls, const char *address, utc_ms now);

/* It was refused by policy: *ret_hold is the hold that came of it (that of the class, if this
 * refusal made it wait as a whole).  False: it had been under way when the hold began, which stays
 * as it is. */
bool holds_refused(struct holds *holds, enum notice_class cls, const char *address, utc_ms now,
                   struct hold *ret_hold);
/* It got through: its domain and its class are free. */
void holds_passed(struct holds *holds, enum notice_class cls, const char *address);
/* Something else became of it. */
void holds_left(struct holds *holds, enum notice_class cls, const char *address);

#endif

/*
 * clock/deadline.h - when a turn ends, as a pure function of recorded facts.
 *
 * A turn's clock is a list of facts: when it started, how much time it was given, and what happened
 * since (a pause, its end, a credit by the organiser, a credit for an outage).  deadline_compute()
 * turns the list into instants together with one item a fact, so that a letter, a page, an API
 * answer and `why` itemise the same sum: start + amounts = deadline.  Nothing is ever counted down;
 * a restart can't reset or stretch a clock.
 *
 * New kinds of time (banks, leave, weekend and night windows) become further facts and items.
 *
 * Boundaries: a move at deadline_at or before is in time; after it, up to and at grace_until, it is
 * late but taken; after grace_until the seat is lost on time.
 *
 * Units: instants in utc_ms, lengths in ms.  Threads: any; no state, no clock read.
 */
#ifndef FH_CLOCK_DEADLINE_H
#define FH_CLOCK_DEADLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/utc.h"

/* X(name, slug): slug is the stable word in stored explanations and API answers. */
#define DEADLINE_ITEM_LIST(X)                                                                      \
    X(START, "start")       /* the turn began at at_ */                                            \
    X(BUDGET, "budget")     /* time given for one turn */                                          \
    X(PAUSE, "pause")       /* the game stood still for amount_ms */                               \
    X(CREDIT, "credit")     /* given by the organiser or an operator */                            \
    X(OUTAGE, "outage")     /* the server was away */                                              \
    X(DELIVERY, "delivery") /* he had not been told that it was his turn (T17) */                  \
    X(HELD, "held")         /* a move by mail was held and then dropped */

enum deadline_item_kind {
#define X(name, slug) DEADLINE_##name,
    DEADLINE_ITEM_LIST(X)
#undef X
    DEADLINE_KIND_COUNT_
};
const char *deadline_item_slug(enum deadline_item_kind kind);

/* Up to and at this instant a move is taken, and marked late; UTC_NONE: there is no deadline. */
static inline utc_ms deadline_grace_end(utc_ms deadline_at, int64_t grace_ms)
{
    return deadline_at == UTC_NONE ? UTC_NONE : deadline_at + grace_ms;
}

/* What happened after the turn began, in the order it happened. */
enum deadline_fact_kind {
    FACT_PAUSED,  /* clocks stopped at at */
    FACT_RESUMED, /* and went on at at */
    FACT_CREDIT,  /* amount_ms given at at (negative takes back an earlier gift) */
    FACT_OUTAGE,  /* amount_ms given at at for an outage.  Given during a pause it counts nothing:
                     the pause covers it. */
    FACT_DELIVERY, /* amount_ms given at at, since the turn's letter was handed over late; the giver
                      leaves out what pauses and outages give */
    FACT_HELD     /* amount_ms given at at, since a move by mail was held so long and dropped */
};
struct deadline_fact {
    enum deadline_fact_kind kind;
    utc_ms at;
    int64_t amount_ms; /* 0 for FACT_PAUSED and FACT_RESUMED */
    int64_t ref;       /* the event's number in its game; copied into the item */
};

struct deadline_turn {
    utc_ms start_at;
    int64_t budget_ms; /* > 0 */
    int64_t grace_ms;  /* >= 0 */
    const struct deadline_fact *facts;
    size_t n_facts;
};

enum { DEADLINE_ITEM_LIMIT = 64 }; /* facts beyond it are summed into the last item of their kind */

struct deadline_item {
    enum deadline_item_kind kind;
    utc_ms at;         /* when it was recorded; the start itself for DEADLINE_START */
    int64_t amount_ms; /* what it adds; 0 for DEADLINE_START */
    int64_t ref;       /* event number, 0 when there is none */
};

struct deadline {
    bool is_paused;      /* then deadline_at and what hangs on it are UTC_NONE */
    utc_ms deadline_at;  /* last instant of a move in time */
    utc_ms grace_until;  /* last instant of a late one */
    int64_t left_ms;     /* while paused: what is left of the turn (may be negative in grace) */
    size_t n_items;
    struct deadline_item items[DEADLINE_ITEM_LIMIT];
};

/* The sum.  A pause not ended yet is left out of the items and stops the clock: left_ms is told
 * instead.  ST_INVALID when the facts contradict each other (resumed without pause, paused twice,
 * out of order) or the sum leaves the range of years 1970…9999. */
MUST_CHECK enum status deadline_compute(const struct deadline_turn *turn, struct deadline *ret,
                                        struct err *err);

/*
 * The sum as one line of text, to be stored beside the deadline and read back by whoever explains
 * it: items in order, parted by ';', each "SLUG AT AMOUNT_MS REF" in decimal, e.g.
 *     start 1764444493000 0 0;budget 1764444493000 1209600000 0;credit 1764530893000 86400000 57
 * deadline_parse_items() fills items and n_items of *ret, and deadline_at and grace_until from
 * their sum and grace_ms; is_paused says that the clock stands (then only left_ms is told, reckoned
 * at paused_at; UTC_NONE for a running clock).  ST_INVALID for any other text.
 */
enum { DEADLINE_TEXT_SIZE = DEADLINE_ITEM_LIMIT * 80 };
void deadline_format_items(const struct deadline *deadline, char ret_text[DEADLINE_TEXT_SIZE]);
MUST_CHECK enum status deadline_parse_items(const char *text, int64_t grace_ms, utc_ms paused_at,
                                            struct deadline *ret, struct err *err);

/* What a turn's clock announces, in the order of DEADLINE_ALARM_LIST. */
#define DEADLINE_ALARM_LIST(X)                                                                     \
    X(HALF, "half")           /* half of the time from start to deadline is over */               \
    X(TWO_DAYS, "48h")        /* 48 h before the deadline */                                      \
    X(HALF_DAY, "12h")        /* 12 h before the deadline */                                      \
    X(ORGANISER, "organiser") /* 24 h before grace_until: for the organiser */                    \
    X(END, "end")             /* the first millisecond after grace_until: the seat is lost */
enum deadline_alarm {
#define X(name, slug) ALARM_##name,
    DEADLINE_ALARM_LIST(X)
#undef X
    ALARM_COUNT_
};
const char *deadline_alarm_slug(enum deadline_alarm alarm);

/* When each alarm is due; UTC_NONE for those that don't arise: all of them while paused; one of
 * the first three when it would fall at the start or before it, or together with an earlier one of
 * the list that is kept (so a one-day turn has one warning at 12 h, not two).  The organiser's, if
 * it would fall at the start or before it, comes at half time instead. */
void deadline_alarms(const struct deadline *deadline, utc_ms ret_at[ALARM_COUNT_]);

#endif

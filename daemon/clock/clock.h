/*
 * clock/clock.h - the only reader of the operating system's clocks.
 *
 * Everything below main takes time as an argument.  main makes one struct clock with clock_os(),
 * wraps it in one struct clock_guard, and hands clock_guard_source() to whoever needs the time
 * (the writer reads it once a command).  Tests make a struct test_clock and turn it by hand.
 *
 * Why a guard: the wall clock may be set (by hand, by NTP, by waking from suspend).  A monotonic
 * clock tells how much time really passed, so a wall clock that moved by more than
 * CLOCK_JUMP_MS beside it has jumped.  Nobody may lose on time by that: while it is pending, the
 * arbiter ends no seat's time; its next tick credits or records the jump in the outage ledger and
 * the caller then tells the guard that it has been handled.  Small differences (slewing, leap
 * smears) are taken over silently at each reading.
 *
 * Units: milliseconds.  Threads: a guard may be read from any thread (it locks); a test_clock is
 * turned by one thread while nobody reads it, or by the reading thread.
 */
#ifndef FH_CLOCK_CLOCK_H
#define FH_CLOCK_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/ports.h"
#include "base/utc.h"

/* More than this between two readings, beside the monotonic clock, is a jump. */
#define CLOCK_JUMP_MS (5 * MS_MINUTE)

/* Both clocks at one moment.  monotonic_ms counts from an unknown start and never goes back; it
 * does not advance while the machine is suspended. */
struct clock_reading {
    utc_ms wall_at;
    int64_t monotonic_ms;
};

/* Where readings come from.  The holder keeps arg alive. */
struct clock {
    struct clock_reading (*read)(void *arg);
    void *arg;
};

/* The machine's own clocks (CLOCK_REALTIME and CLOCK_MONOTONIC). */
struct clock clock_os(void);

/* A clock that stands still until turned. */
struct test_clock {
    utc_ms wall_at;
    int64_t monotonic_ms;
};
struct clock clock_test(struct test_clock *t);              /* borrows t */
void test_clock_advance(struct test_clock *t, int64_t ms);  /* time passes: both clocks */
void test_clock_set_wall(struct test_clock *t, utc_ms at);  /* somebody sets the wall clock */

/* One or more jumps not handled yet. */
struct clock_jump {
    int64_t number;    /* how many jumps there have been since clock_guard_init(): names this one */
    utc_ms from_at;    /* what the wall clock should have shown */
    utc_ms to_at;      /* what it showed */
    int64_t amount_ms; /* sum of all pending jumps; negative when it was set back */
};

struct clock_guard {
    struct clock clock;
    pthread_mutex_t lock;
    struct clock_reading last;
    bool pending;
    struct clock_jump jump;
};

/* Takes the first reading.  clock_guard_release() when no thread reads it any more. */
void clock_guard_init(struct clock_guard *guard, struct clock clock);
void clock_guard_release(struct clock_guard *guard); /* NULL is allowed */

/* Read both clocks, look for a jump, return the wall clock. */
utc_ms clock_guard_now(struct clock_guard *guard);

/* Read both clocks; whether a jump is pending, and which (ret_jump may be NULL; untouched when
 * there is none). */
bool clock_guard_has_jumped(struct clock_guard *guard, struct clock_jump *ret_jump);

/* The jump of that number, and those before it, have been dealt with durably.  A later one that
 * came meanwhile stays pending, with its own amount added to nothing. */
void clock_guard_handled(struct clock_guard *guard, const struct clock_jump *jump);

/* clock_guard_now() as the time_source that the writer takes.  Borrows guard. */
struct time_source clock_guard_source(struct clock_guard *guard);

#endif

#include "clock/clock.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>

static struct clock_reading os_read(void *arg)
{
    struct timespec wall, mono;

    (void)arg;
    /* Both clocks are there on every system this runs on; without them nothing can be decided. */
    if (clock_gettime(CLOCK_REALTIME, &wall) != 0 || clock_gettime(CLOCK_MONOTONIC, &mono) != 0)
        abort();
    return (struct clock_reading){
        .wall_at = (utc_ms)wall.tv_sec * MS_SECOND + wall.tv_nsec / 1000000,
        .monotonic_ms = (int64_t)mono.tv_sec * MS_SECOND + mono.tv_nsec / 1000000,
    };
}

struct clock clock_os(void)
{
    return (struct clock){.read = os_read, .arg = NULL};
}

static struct clock_reading test_read(void *arg)
{
    const struct test_clock *t = arg;

    return (struct clock_reading){.wall_at = t->wall_at, .monotonic_ms = t->monotonic_ms};
}

struct clock clock_test(struct test_clock *t)
{
    return (struct clock){.read = test_read, .arg = t};
}

void test_clock_advance(struct test_clock *t, int64_t ms)
{
    assert(ms >= 0);
    t->wall_at += ms;
    t->monotonic_ms += ms;
}

void test_clock_set_wall(struct test_clock *t, utc_ms at)
{
    t->wall_at = at;
}

void clock_guard_init(struct clock_guard *guard, struct clock clock)
{
    *guard = (struct clock_guard){.clock = clock, .pending = false};
    if (pthread_mutex_init(&guard->lock, NULL) != 0)
        abort();
    guard->last = clock.read(clock.arg);
}

void clock_guard_release(struct clock_guard *guard)
{
    if (guard)
        (void)pthread_mutex_destroy(&guard->lock);
}

/* The lock is held. */
static utc_ms look(struct clock_guard *guard)
{
    struct clock_reading now = guard->clock.read(guard->clock.arg);
    utc_ms expected = guard->last.wall_at + (now.monotonic_ms - guard->last.monotonic_ms);
    int64_t off_ms = now.wall_at - expected;

    if (off_ms > CLOCK_JUMP_MS || off_ms < -CLOCK_JUMP_MS) {
        guard->jump.amount_ms = off_ms + (guard->pending ? guard->jump.amount_ms : 0);
        guard->jump.number++;
        guard->jump.to_at = now.wall_at;
        guard->jump.from_at = now.wall_at - guard->jump.amount_ms;
        guard->pending = true;
    }
    guard->last = now;
    return now.wall_at;
}

utc_ms clock_guard_now(struct clock_guard *guard)
{
    (void)pthread_mutex_lock(&guard->lock);
    utc_ms at = look(guard);
    (void)pthread_mutex_unlock(&guard->lock);
    return at;
}

bool clock_guard_has_jumped(struct clock_guard *guard, struct clock_jump *ret_jump)
{
    (void)pthread_mutex_lock(&guard->lock);
    (void)look(guard);
    bool pending = guard->pending;
    if (pending && ret_jump)
        *ret_jump = guard->jump;
    (void)pthread_mutex_unlock(&guard->lock);
    return pending;
}

void clock_guard_handled(struct clock_guard *guard, const struct clock_jump *jump)
{
    (void)pthread_mutex_lock(&guard->lock);
    if (guard->pending) {
        if (guard->jump.number == jump->number) {
            guard->pending = false;
            guard->jump.amount_ms = 0;
        } else {
            /* Another came meanwhile: only what was handled is taken off. */
            guard->jump.amount_ms -= jump->amount_ms;
            guard->jump.from_at = guard->jump.to_at - guard->jump.amount_ms;
        }
    }
    (void)pthread_mutex_unlock(&guard->lock);
}

static utc_ms guard_source_now(void *arg)
{
    return clock_guard_now(arg);
}

struct time_source clock_guard_source(struct clock_guard *guard)
{
    return (struct time_source){.now = guard_source_now, .arg = guard};
}

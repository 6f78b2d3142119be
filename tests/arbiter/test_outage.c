/* What the server was away for is nobody's time: T16, X5, X7. */
#include "arbiter/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock/deadline.h"
#include "store/audit.h"
#include "store/clocks.h"
#include "store/outage.h"
#include "store/timers.h"

static struct outage_row newest_outage(struct table *t, size_t *ret_n)
{
    struct outage_row rows[8];
    struct err err = ERR_INIT;

    memset(rows, 0, sizeof rows);
    assert_ok(outages_list(store_reader_conn(t->reader), 0, rows, 8, ret_n, &err), err);
    return rows[0];
}

static void alive(struct table *t, int64_t ms)
{
    utc_ms until = now_of(t) + ms;

    while (now_of(t) < until) {
        pass(t, until - now_of(t) < 4 * MS_MINUTE ? until - now_of(t) : 4 * MS_MINUTE);
        tick_all(t, false);
    }
}

static void test_T16_26_hours_away_across_three_deadlines_flag_nobody(void **state)
{
    struct table *t = *state;
    int64_t game[3], base;
    struct game_row before[3];
    size_t n = 0;

    base = now_of(t);
    for (int i = 0; i < 3; i++) {
        game[i] = game_start_days(t, "verney", 1);
        alive(t, 8 * MS_MINUTE);
    }
    alive(t, MS_DAY + 11 * MS_HOUR); /* all three deadlines are over, the graces nearly */
    for (int i = 0; i < 3; i++) {
        before[i] = game_get(t, game[i]);
        assert_string_equal(before[i].conditions, "aaaa");
        assert_true(before[i].deadline_at < now_of(t));
    }
    table_restart(t, 26 * MS_HOUR); /* kill -9 */
    tick_all(t, true);
    for (int i = 0; i < 3; i++) {
        struct game_row g = game_get(t, game[i]);
        assert_string_equal(g.conditions, "aaaa");
        assert_int_equal(g.deadline_at, before[i].deadline_at + 26 * MS_HOUR); /* equal for all */
        struct event_row e = last_event(t, game[i], GAME_EVENT_OUTAGE_CREDITED);
        assert_int_equal(e.amount_ms, 26 * MS_HOUR);
        assert_int_equal(e.deadline_at, g.deadline_at);
        assert_int_equal(e.seat, 0);
        assert_int_equal(count_events(t, game[i], GAME_EVENT_OUTAGE_CREDITED), 1);
        assert_sound(t, game[i]);
    }
    struct outage_row o = newest_outage(t, &n);
    assert_int_equal(n, 1);
    assert_int_equal(o.credited_ms, 26 * MS_HOUR);
    assert_int_equal(o.games, 3);
    assert_true(o.is_done);
    assert_true(base < o.from_at);
    /* once: more ticks and another start give nothing more */
    tick_all(t, false);
    table_restart(t, MS_MINUTE);
    tick_all(t, true);
    (void)newest_outage(t, &n);
    assert_int_equal(n, 1);
    assert_int_equal(game_get(t, game[0]).deadline_at, before[0].deadline_at + 26 * MS_HOUR);
    /* and then the flag falls where it should */
    alive(t, 2 * MS_HOUR);
    assert_string_equal(game_get(t, game[0]).conditions, "xaaa");
}

static void test_five_minutes_are_no_outage_and_a_millisecond_more_is(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 3);
    utc_ms deadline = game_get(t, game).deadline_at;
    size_t n = 0;

    tick_all(t, false);
    pass(t, MS_MINUTE);
    tick_all(t, false); /* the last sign of life */
    table_restart(t, ARBITER_OUTAGE_MS);
    tick_all(t, true);
    (void)newest_outage(t, &n);
    assert_int_equal(n, 0);
    assert_int_equal(game_get(t, game).deadline_at, deadline);
    table_restart(t, ARBITER_OUTAGE_MS + 1);
    tick_all(t, true);
    (void)newest_outage(t, &n);
    assert_int_equal(n, 1);
    assert_int_equal(game_get(t, game).deadline_at, deadline + ARBITER_OUTAGE_MS + 1);
}

static void test_the_explanation_names_the_outage(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 3);
    struct deadline d;
    struct err err = ERR_INIT;

    pass(t, MS_MINUTE);
    tick_all(t, false);
    table_restart(t, MS_HOUR);
    tick_all(t, true);
    struct game_row g = game_get(t, game);
    assert_ok(deadline_parse_items(g.explanation, g.grace_ms, g.paused_at, &d, &err), err);
    assert_int_equal(d.n_items, 3);
    assert_int_equal(d.items[2].kind, DEADLINE_OUTAGE);
    assert_int_equal(d.items[2].amount_ms, MS_HOUR);
    assert_int_equal(d.items[2].ref, g.last_seq);
}

static void test_games_that_have_no_clock_running_get_nothing(void **state)
{
    struct table *t = *state;
    int64_t open = game_create_open(t, "verney", SOUTH, false);
    int64_t paused = game_start_days(t, "verney", 3);
    int64_t over = game_start_days(t, "teams", 3);
    int64_t placing = game_start(t, "fortress reserve=chosen");
    struct call c = acts(t, OP_PAUSE, paused, ORGANISER);
    size_t n = 0;

    call_ok(&c);
    c = acts(t, OP_RESIGN, over, SOUTH);
    call_ok(&c);
    table_restart(t, MS_DAY);
    tick_all(t, true);
    assert_int_equal(count_events(t, open, GAME_EVENT_OUTAGE_CREDITED), 0);
    assert_int_equal(count_events(t, paused, GAME_EVENT_OUTAGE_CREDITED), 0);
    assert_int_equal(count_events(t, over, GAME_EVENT_OUTAGE_CREDITED), 0);
    assert_int_equal(count_events(t, placing, GAME_EVENT_OUTAGE_CREDITED), 1);
    assert_int_equal(newest_outage(t, &n).games, 1);
    c = acts(t, OP_RESUME, paused, ORGANISER);
    call_ok(&c); /* the pause covers it */
    assert_int_equal(c.game.deadline_at, T0 + 4 * MS_DAY);
}

static void test_credits_go_on_after_a_crash_in_the_middle(void **state)
{
    struct table *t = *state;
    int64_t game[20];
    struct call c = {.op = OP_TICK, .t = t, .limit = 6, .is_start = true};
    size_t n = 0;

    for (int i = 0; i < 20; i++)
        game[i] = game_start_days(t, "verney", 3);
    table_restart(t, MS_HOUR);
    call_ok(&c);
    assert_true(c.report.more);
    assert_int_equal(c.report.credited, 6);
    assert_int_equal(c.report.outage_ms, MS_HOUR);
    table_restart(t, MS_MINUTE); /* killed between two batches */
    c.is_start = true;
    do {
        call_ok(&c);
        assert_true(c.report.credited <= 6);
        c.is_start = false;
    } while (c.report.more);
    struct outage_row o = newest_outage(t, &n);
    assert_int_equal(n, 1);
    assert_int_equal(o.games, 20);
    assert_true(o.is_done);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(count_events(t, game[i], GAME_EVENT_OUTAGE_CREDITED), 1);
        assert_int_equal(game_get(t, game[i]).deadline_at, T0 + 3 * MS_DAY + MS_HOUR);
    }
}

static void test_no_timer_is_looked_at_while_an_outage_is_being_credited(void **state)
{
    struct table *t = *state;
    int64_t game[10];
    struct call c = {.op = OP_TICK, .t = t, .limit = 2, .is_start = true};

    for (int i = 0; i < 10; i++)
        game[i] = game_start_days(t, "verney", 1);
    table_restart(t, 10 * MS_DAY);
    do {
        call_ok(&c);
        assert_int_equal(c.report.forfeits, 0);
        c.is_start = false;
    } while (c.report.more);
    for (int i = 0; i < 10; i++)
        assert_string_equal(game_get(t, game[i]).conditions, "aaaa");
}

static void test_a_move_before_the_credit_is_asked_to_wait_not_refused(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    struct call c;

    pass(t, MS_MINUTE);
    tick_all(t, false);
    table_restart(t, 3 * MS_DAY);
    /* The door is open before the first tick. */
    c = acts(t, OP_MOVE, game, SOUTH);
    c.text = "e2e3";
    call_refused(&c, REASON_BUSY);
    tick_all(t, true);
    call_ok(&c); /* the board is the same, so is the state number; and he has his three days */
    assert_false(c.move.is_late);
    assert_int_equal(c.move.used_ms, MS_MINUTE);
}

static void test_a_move_in_time_is_taken_even_then(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 7);
    struct call c;

    table_restart(t, 3 * MS_DAY);
    c = acts(t, OP_MOVE, game, SOUTH);
    c.text = "e2e3";
    call_ok(&c);
    /* West's turn began after the outage: nothing of it is his. */
    tick_all(t, true);
    assert_int_equal(count_events(t, game, GAME_EVENT_OUTAGE_CREDITED), 0);
    assert_int_equal(game_get(t, game).deadline_at, T0 + 10 * MS_DAY);
}

/* ---------------------------------------------------------------- X7 */

static void test_X7_a_wall_clock_set_ahead_flags_nobody(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    struct game_row before = game_get(t, game);
    size_t n = 0;

    alive(t, 4 * MS_MINUTE);
    test_clock_set_wall(&t->clock, T0 + 30 * MS_DAY); /* NTP gone wrong */
    move_refused(t, game, "e2e3", REASON_BUSY); /* not lost on time */
    struct call c = {.op = OP_TICK, .t = t, .limit = 100};
    call_ok(&c);
    assert_true(c.report.has_jump);
    assert_int_equal(c.report.forfeits, 0);
    assert_true(c.report.outage_ms > 29 * MS_DAY);
    clock_guard_handled(&t->guard, &c.report.jump);
    tick_all(t, false);
    assert_string_equal(game_get(t, game).conditions, "aaaa");
    assert_int_equal(game_get(t, game).deadline_at,
                     before.deadline_at + 30 * MS_DAY - 4 * MS_MINUTE);
    assert_string_equal(newest_outage(t, &n).note, "the wall clock was set ahead");
    move_ok(t, game, "e2e3");
    assert_sound(t, game);
}

static void test_X7_a_wall_clock_set_back_flags_nobody_and_is_noted(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    struct audit_row audit[4];
    struct err err = ERR_INIT;
    size_t n = 0;

    alive(t, MS_HOUR);
    test_clock_set_wall(&t->clock, T0); /* back by an hour */
    struct call c = {.op = OP_TICK, .t = t, .limit = 100};
    call_ok(&c);
    assert_true(c.report.has_jump);
    assert_int_equal(c.report.set_back_ms, MS_HOUR);
    clock_guard_handled(&t->guard, &c.report.jump);
    assert_ok(audit_list(store_reader_conn(t->reader), 0, 0, audit, 4, &n, &err), err);
    assert_string_equal(audit[0].act, "clock_set_back");
    assert_string_equal(audit[0].detail, "amount_ms=3600000");
    tick_all(t, false);
    assert_string_equal(game_get(t, game).conditions, "aaaa");
    /* and set right again: that hour is an outage, credited to all */
    test_clock_set_wall(&t->clock, t->clock.wall_at + MS_HOUR);
    tick_all(t, false);
    assert_string_equal(game_get(t, game).conditions, "aaaa");
    move_ok(t, game, "e2e3");
}

static void test_X7_after_a_restart_a_clock_set_back_is_found_by_the_heartbeat(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);

    alive(t, MS_HOUR);
    test_clock_set_wall(&t->clock, T0);
    table_restart(t, MS_MINUTE);
    struct call c = {.op = OP_TICK, .t = t, .limit = 100, .is_start = true};
    call_ok(&c);
    assert_false(c.report.has_jump); /* a new process can't know */
    assert_int_equal(c.report.set_back_ms, 59 * MS_MINUTE);
    call_ok(&c);
    assert_int_equal(c.report.set_back_ms, 0); /* once */
    assert_string_equal(game_get(t, game).conditions, "aaaa");
}

static void test_a_server_that_stood_still_credits_that_too(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    size_t n = 0;

    alive(t, MS_HOUR);
    pass(t, 2 * MS_HOUR); /* the disk was full: no tick got through */
    tick_all(t, false);
    assert_string_equal(newest_outage(t, &n).note, "the server stood still");
    assert_int_equal(game_get(t, game).deadline_at, T0 + MS_DAY + 2 * MS_HOUR);
}

static void test_heartbeats_are_half_a_minute_apart(void **state)
{
    struct table *t = *state;
    utc_ms at = 0, started_at = 0;
    struct err err = ERR_INIT;

    pass(t, 29 * MS_SECOND);
    tick_all(t, false);
    assert_ok(heartbeat_get(store_reader_conn(t->reader), &at, &started_at, &err), err);
    assert_int_equal(at, T0);
    pass(t, MS_SECOND);
    tick_all(t, false);
    assert_ok(heartbeat_get(store_reader_conn(t->reader), &at, &started_at, &err), err);
    assert_int_equal(at, T0 + 30 * MS_SECOND);
    assert_int_equal(started_at, T0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_T16_26_hours_away_across_three_deadlines_flag_nobody),
        T(test_five_minutes_are_no_outage_and_a_millisecond_more_is),
        T(test_the_explanation_names_the_outage),
        T(test_games_that_have_no_clock_running_get_nothing),
        T(test_credits_go_on_after_a_crash_in_the_middle),
        T(test_no_timer_is_looked_at_while_an_outage_is_being_credited),
        T(test_a_move_before_the_credit_is_asked_to_wait_not_refused),
        T(test_a_move_in_time_is_taken_even_then),
        T(test_X7_a_wall_clock_set_ahead_flags_nobody),
        T(test_X7_a_wall_clock_set_back_flags_nobody_and_is_noted),
        T(test_X7_after_a_restart_a_clock_set_back_is_found_by_the_heartbeat),
        T(test_a_server_that_stood_still_credits_that_too),
        T(test_heartbeats_are_half_a_minute_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "support/harness.h"

#include "clock/clock.h"

#define T0 INT64_C(1774742400000) /* 2026-03-29T00:00:00Z */

static void test_time_that_passes_is_no_jump(void **state)
{
    struct test_clock t = {.wall_at = T0, .monotonic_ms = 7000};
    struct clock_guard guard;

    (void)state;
    clock_guard_init(&guard, clock_test(&t));
    test_clock_advance(&t, 30 * MS_DAY);
    assert_int_equal(clock_guard_now(&guard), T0 + 30 * MS_DAY);
    assert_false(clock_guard_has_jumped(&guard, NULL));
    clock_guard_release(&guard);
}

static void test_five_minutes_are_no_jump_and_one_millisecond_more_is(void **state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        struct test_clock t = {.wall_at = T0, .monotonic_ms = 0};
        struct clock_guard guard;
        struct clock_jump jump = {.number = -1};

        clock_guard_init(&guard, clock_test(&t));
        test_clock_set_wall(&t, T0 + sign * CLOCK_JUMP_MS);
        assert_int_equal(clock_guard_now(&guard), T0 + sign * CLOCK_JUMP_MS);
        assert_false(clock_guard_has_jumped(&guard, &jump));
        assert_int_equal(jump.number, -1); /* untouched */

        test_clock_set_wall(&t, t.wall_at + sign * (CLOCK_JUMP_MS + 1));
        assert_true(clock_guard_has_jumped(&guard, &jump));
        assert_int_equal(jump.amount_ms, sign * (CLOCK_JUMP_MS + 1));
        assert_int_equal(jump.to_at, t.wall_at);
        assert_int_equal(jump.from_at, T0 + sign * CLOCK_JUMP_MS);
        clock_guard_release(&guard);
    }
}

static void test_slow_drift_is_taken_over_silently(void **state)
{
    struct test_clock t = {.wall_at = T0, .monotonic_ms = 0};
    struct clock_guard guard;

    (void)state;
    clock_guard_init(&guard, clock_test(&t));
    for (int i = 0; i < 1000; i++) {
        test_clock_advance(&t, MS_MINUTE);
        test_clock_set_wall(&t, t.wall_at + 2 * MS_SECOND);
        (void)clock_guard_now(&guard);
    }
    assert_false(clock_guard_has_jumped(&guard, NULL));
    clock_guard_release(&guard);
}

static void test_a_jump_stays_pending_until_it_is_handled(void **state)
{
    struct test_clock t = {.wall_at = T0, .monotonic_ms = 0};
    struct clock_guard guard;
    struct clock_jump jump;

    (void)state;
    clock_guard_init(&guard, clock_test(&t));
    test_clock_set_wall(&t, T0 + MS_HOUR);
    assert_int_equal(clock_guard_now(&guard), T0 + MS_HOUR); /* any reader finds it */
    test_clock_advance(&t, MS_DAY);
    assert_true(clock_guard_has_jumped(&guard, &jump));
    assert_int_equal(jump.amount_ms, MS_HOUR);
    clock_guard_handled(&guard, &jump);
    assert_false(clock_guard_has_jumped(&guard, NULL));
    clock_guard_release(&guard);
}

static void test_a_second_jump_while_the_first_is_handled_stays_pending(void **state)
{
    struct test_clock t = {.wall_at = T0, .monotonic_ms = 0};
    struct clock_guard guard;
    struct clock_jump first, second;

    (void)state;
    clock_guard_init(&guard, clock_test(&t));
    test_clock_set_wall(&t, T0 + MS_HOUR);
    assert_true(clock_guard_has_jumped(&guard, &first));
    test_clock_set_wall(&t, t.wall_at + 10 * MS_MINUTE);
    (void)clock_guard_now(&guard);
    clock_guard_handled(&guard, &first);
    assert_true(clock_guard_has_jumped(&guard, &second));
    assert_int_equal(second.amount_ms, 10 * MS_MINUTE);
    clock_guard_handled(&guard, &second);
    assert_false(clock_guard_has_jumped(&guard, NULL));
    clock_guard_release(&guard);
}

static void test_the_source_reads_the_wall_clock_through_the_guard(void **state)
{
    struct test_clock t = {.wall_at = T0, .monotonic_ms = 0};
    struct clock_guard guard;

    (void)state;
    clock_guard_init(&guard, clock_test(&t));
    struct time_source source = clock_guard_source(&guard);
    test_clock_set_wall(&t, T0 - MS_HOUR);
    assert_int_equal(source.now(source.arg), T0 - MS_HOUR);
    assert_true(clock_guard_has_jumped(&guard, NULL));
    clock_guard_release(&guard);
    clock_guard_release(NULL);
}

static void test_the_machines_clocks_never_go_back_between_two_readings(void **state)
{
    struct clock os = clock_os();

    (void)state;
    struct clock_reading a = os.read(os.arg);
    struct clock_reading b = os.read(os.arg);
    assert_true(b.monotonic_ms >= a.monotonic_ms);
    assert_true(a.wall_at > INT64_C(1577836800000)); /* after 2020: it counts from 1970, in ms */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_that_passes_is_no_jump),
        cmocka_unit_test(test_five_minutes_are_no_jump_and_one_millisecond_more_is),
        cmocka_unit_test(test_slow_drift_is_taken_over_silently),
        cmocka_unit_test(test_a_jump_stays_pending_until_it_is_handled),
        cmocka_unit_test(test_a_second_jump_while_the_first_is_handled_stays_pending),
        cmocka_unit_test(test_the_source_reads_the_wall_clock_through_the_guard),
        cmocka_unit_test(test_the_machines_clocks_never_go_back_between_two_readings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

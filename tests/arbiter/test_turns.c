/* Deadlines, warnings, the grace and the flag. */
#include "arbiter/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock/deadline.h"
#include "store/clocks.h"
#include "store/timers.h"

static void test_T1_a_seven_day_game_runs_until_its_own_deadline(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 7);

    live_until(t, T0 + 6 * MS_DAY + 23 * MS_HOUR);
    tick_all(t, false);
    assert_int_equal(game_get(t, game).state, GAME_RUNNING);
    assert_string_equal(game_get(t, game).conditions, "aaaa"); /* first move included */
    live_until(t, T0 + 7 * MS_DAY + 12 * MS_HOUR);
    tick_all(t, false);
    assert_string_equal(game_get(t, game).conditions, "aaaa"); /* the grace's last instant */
    pass(t, 1);
    tick_all(t, false);
    assert_string_equal(game_get(t, game).conditions, "xaaa");
    /* The rest play on; when North is out too it is over, and stays to be read. */
    move_ok(t, game, "b5c5");
    struct call c = acts(t, OP_RESIGN, game, NORTH);
    call_ok(&c);
    live_until(t, T0 + 60 * MS_DAY);
    assert_int_equal(game_get(t, game).state, GAME_FINISHED);
    assert_sound(t, game);
}

static void test_T2_a_flag_falls_by_itself_within_a_minute(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    utc_ms end = T0 + MS_DAY + 12 * MS_HOUR;
    char text[256];

    live_until(t, end);
    struct game_row before = game_get(t, game);
    int64_t since = before.last_seq;
    pass(t, 30 * MS_SECOND); /* nobody looks; the ticker comes by */
    struct arbiter_tick_report r = tick(t);
    assert_int_equal(r.forfeits, 1);
    assert_string_equal(story(t, game, since, text, sizeof text), "forfeited:0 turn:1");
    RULE("R-C11");
    assert_int_equal(last_event(t, game, GAME_EVENT_FORFEITED).user_id, 0);
    /* the game goes on with a whole turn for the next (R-C9, R-C11) */
    struct game_row g = game_get(t, game);
    assert_int_equal(g.turn_seat, 1);
    assert_int_equal(g.deadline_at, now_of(t) + MS_DAY);
    /* the ticker is told when the next thing is due */
    assert_int_equal(r.next_at, now_of(t) + 12 * MS_HOUR);
    /* no move was made, and yet what West saw before is not the state that he answers */
    assert_int_equal(g.ply, before.ply);
    assert_true(g.state_no > before.state_no);
    struct call stale = acts(t, OP_MOVE, game, WEST);
    stale.text = "b5c5";
    stale.act.state_no = before.state_no;
    call_refused(&stale, REASON_STATE_MISMATCH);
    assert_sound(t, game);
    move_ok(t, game, "b5c5");
}

static void test_T3_the_published_deadline_is_the_enforced_one(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 3);
    struct game_row g = game_get(t, game);
    struct deadline told;
    struct err err = ERR_INIT;

    assert_int_equal(last_event(t, game, GAME_EVENT_TURN).deadline_at, g.deadline_at);
    assert_ok(deadline_parse_items(g.explanation, g.grace_ms, g.paused_at, &told, &err), err);
    assert_int_equal(told.deadline_at, g.deadline_at);
    /* and the warning's too */
    live_until(t, T0 + 36 * MS_HOUR);
    tick_all(t, false);
    assert_int_equal(last_event(t, game, GAME_EVENT_WARNING).deadline_at, g.deadline_at);
}

static struct call move_at(struct table *t, int64_t game, utc_ms at, const char *text)
{
    struct game_row g = game_get(t, game);
    struct call c = acts(t, OP_MOVE, game, SOUTH);

    c.actor.user_id = g.turn_user_id;
    c.text = text;
    c.at = at;
    c.has_at = true;
    return c;
}

static void test_T4_in_time_late_and_lost_at_the_exact_millisecond(void **state)
{
    struct table *t = *state;
    int64_t game[5];
    utc_ms deadline = T0 + 7 * MS_DAY;

    for (int i = 0; i < 5; i++)
        game[i] = game_start_days(t, "verney", 7);
    live_until(t, deadline - MS_SECOND);
    struct call c = move_at(t, game[0], deadline - MS_SECOND, "e2e3");
    call_ok(&c);
    assert_false(c.move.is_late);
    c = move_at(t, game[1], deadline, "e2e3");
    call_ok(&c);
    assert_false(c.move.is_late);
    live_until(t, deadline + 1);
    c = move_at(t, game[2], deadline + 1, "e2e3");
    call_ok(&c);
    assert_true(c.move.is_late);
    live_until(t, deadline + 12 * MS_HOUR);
    c = move_at(t, game[3], deadline + 12 * MS_HOUR, "e2e3");
    call_ok(&c);
    assert_true(c.move.is_late);
    assert_int_equal(c.move.used_ms, 7 * MS_DAY + 12 * MS_HOUR);
    assert_int_equal(last_event(t, game[3], GAME_EVENT_LATE).amount_ms, 12 * MS_HOUR);
    assert_int_equal(count_events(t, game[1], GAME_EVENT_LATE), 0);
    struct seat_row seats[SEATS];
    struct err err = ERR_INIT;
    assert_ok(seats_get(store_reader_conn(t->reader), game[3], seats, &err), err);
    assert_int_equal(seats[0].late_moves, 1);
    /* no tick has come yet, and still it is over */
    pass(t, 1);
    c = move_at(t, game[4], deadline + 12 * MS_HOUR + 1, "e2e3");
    call_refused(&c, REASON_LOST_ON_TIME);
    tick_all(t, false);
    assert_string_equal(game_get(t, game[4]).conditions, "xaaa");
    for (int i = 0; i < 5; i++)
        assert_sound(t, game[i]);
}

static void test_warnings_come_at_half_time_48_and_12_hours_before_once_each(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    static const struct {
        int64_t before_ms;
        const char *note;
    } wanted[] = {{7 * MS_DAY, "half"}, {2 * MS_DAY, "48h"}, {12 * MS_HOUR, "12h"}};
    utc_ms deadline = T0 + 14 * MS_DAY;

    for (int i = 0; i < 3; i++) {
        live_until(t, deadline - wanted[i].before_ms - 1);
        tick_all(t, false);
        assert_int_equal(count_events(t, game, GAME_EVENT_WARNING), i);
        pass(t, 1);
        tick_all(t, false);
        tick_all(t, false);
        assert_true(count_events(t, game, GAME_EVENT_WARNING) >= i + 1);
        struct event_row e = last_event(t, game, GAME_EVENT_WARNING);
        if (i < 2) { /* the last comes together with the organiser's */
            assert_string_equal(e.note, wanted[i].note);
            assert_int_equal(e.seat, 0);
            assert_int_equal(e.amount_ms, wanted[i].before_ms);
        }
    }
    /* with a grace of 12 h the organiser is told at the same instant: 24 h before the end */
    assert_int_equal(count_events(t, game, GAME_EVENT_WARNING), 4);
    assert_string_equal(last_event(t, game, GAME_EVENT_WARNING).note, "organiser");
    live_until(t, deadline + 12 * MS_HOUR);
    tick_all(t, false);
    assert_int_equal(count_events(t, game, GAME_EVENT_WARNING), 4);
}

/* N6: what was missed comes at once; of several only the most urgent. */
static void test_warnings_missed_come_at_once_the_most_urgent_only(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    struct call c;

    /* 12 h before the deadline is half time.  A credit of three days and a half moves half time to
     * 2 d 6 h, and 48 h before the end to 2 d 12 h; letters cannot be written between the two. */
    c = acts(t, OP_CREDIT, game, ORGANISER);
    c.amount_ms = 84 * MS_HOUR;
    call_ok(&c);
    live_until(t, T0 + 54 * MS_HOUR);
    assert_int_equal(count_events(t, game, GAME_EVENT_WARNING), 0);
    t->fail_hook_after = 0;
    while (now_of(t) < T0 + 61 * MS_HOUR) {
        pass(t, 4 * MS_MINUTE);
        (void)tick(t);
    }
    t->fail_hook_after = -1;
    live_until(t, T0 + 62 * MS_HOUR);
    assert_int_equal(count_events(t, game, GAME_EVENT_WARNING), 1);
    assert_string_equal(last_event(t, game, GAME_EVENT_WARNING).note, "48h");
}

static void test_a_forfeit_may_end_the_game(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "fortress reserve=usual", 1);
    struct call c = acts(t, OP_RESIGN, game, NORTH);
    char text[256];

    call_ok(&c);
    live_until(t, T0 + MS_DAY + 12 * MS_HOUR + 1);
    int64_t since = game_get(t, game).last_seq;
    tick_all(t, false);
    struct game_row g = game_get(t, game);
    assert_int_equal(g.state, GAME_FINISHED);
    assert_int_equal(g.result, GAME_RESULT_TEAM1);
    assert_int_equal(g.cause, GAME_CAUSE_LEAVING);
    assert_string_equal(story(t, game, since, text, sizeof text), "forfeited:0 removed:0 finished");
    assert_int_equal(t->finished_calls, 1);
    assert_sound(t, game);
}

static void test_silent_tables_end_by_themselves(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);

    /* Nobody ever moves: South, West and North lose in turn, then the game is over (T2). */
    live_until(t, T0 + 10 * MS_DAY);
    struct game_row g = game_get(t, game);
    assert_int_equal(g.state, GAME_FINISHED);
    assert_int_equal(g.result, GAME_RESULT_TEAM1);
    assert_int_equal(count_events(t, game, GAME_EVENT_FORFEITED), 3);
    assert_sound(t, game);
}

static void test_T18_a_restart_gives_no_fresh_time_and_takes_none(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 3);
    struct game_row before, after;

    pass(t, 4 * MS_MINUTE);
    tick_all(t, false);
    before = game_get(t, game);
    for (int i = 0; i < 5; i++) { /* short ones: nothing to be credited */
        table_restart(t, 4 * MS_MINUTE);
        tick_all(t, true);
    }
    after = game_get(t, game);
    assert_int_equal(after.deadline_at, before.deadline_at);
    assert_int_equal(after.turn_at, before.turn_at);
    assert_string_equal(after.explanation, before.explanation);
    assert_int_equal(after.last_seq, before.last_seq);
    live_until(t, before.deadline_at + 12 * MS_HOUR + 1);
    tick_all(t, false);
    assert_string_equal(game_get(t, game).conditions, "xaaa");
}

static void test_many_due_timers_are_done_in_bounded_batches(void **state)
{
    struct table *t = *state;
    int64_t games[30];
    struct call c = {.op = OP_TICK, .t = t, .limit = 7};
    int64_t forfeits = 0;
    int calls = 0;

    for (int i = 0; i < 30; i++)
        games[i] = game_start_days(t, "verney", 1);
    live_until(t, T0 + MS_DAY + 12 * MS_HOUR + 1);
    do {
        call_ok(&c);
        assert_true(c.report.forfeits <= 7);
        forfeits += c.report.forfeits;
        calls++;
    } while (c.report.more);
    assert_int_equal(forfeits, 30);
    assert_int_equal(calls, 5);
    assert_string_equal(game_get(t, games[29]).conditions, "xaaa");
}

struct spoil {
    int64_t game;
};

static enum status spoil_position(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct spoil *s = arg;
    struct game_row game;
    enum status st = games_get(store_txn_conn(txn), s->game, &game, err);

    (void)now;
    if (st != ST_OK)
        return st;
    (void)snprintf(game.position, sizeof game.position, "verney nonsense");
    return games_save(txn, &game, err);
}

static void test_a_broken_game_stops_no_other(void **state)
{
    struct table *t = *state;
    int64_t broken = game_start_days(t, "verney", 1), sound = game_start_days(t, "verney", 1);
    struct spoil s = {broken};
    struct writer_command command = {.name = "spoil", .run = spoil_position, .arg = &s};
    struct err err = ERR_INIT;
    struct timer_row timer[2];

    assert_ok(writer_run(t->writer, &command, &err), err);
    live_until(t, T0 + MS_DAY + 12 * MS_HOUR + 1);
    struct arbiter_tick_report r = tick(t);
    assert_int_equal(r.failed, 1);
    assert_int_equal(r.failed_game_id, broken);
    assert_int_equal(r.failure.reason, REASON_CORRUPT);
    assert_int_equal(r.forfeits, 1);
    assert_string_equal(game_get(t, sound).conditions, "xaaa");
    assert_string_equal(game_get(t, broken).conditions, "aaaa");
    assert_int_equal(timers_now(t, broken, timer, 2), 1); /* put off, not forgotten */
    assert_int_equal(timer[0].due_at, now_of(t) + ARBITER_RETRY_MS);
    move_refused(t, broken, "e2e3", REASON_LOST_ON_TIME);
    struct call c = acts(t, OP_RESIGN, broken, WEST);
    call_refused(&c, REASON_CORRUPT);
}

static void test_when_letters_cannot_be_written_the_flag_waits(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);

    live_until(t, T0 + MS_DAY + 12 * MS_HOUR + 1);
    t->fail_hook_after = 0;
    struct arbiter_tick_report r = tick(t);
    assert_int_equal(r.failed, 1);
    assert_int_equal(r.forfeits, 0);
    assert_string_equal(game_get(t, game).conditions, "aaaa");
    t->fail_hook_after = -1;
    pass(t, 3 * MS_MINUTE);
    tick_all(t, false);
    pass(t, 4 * MS_MINUTE);
    tick_all(t, false);
    pass(t, 4 * MS_MINUTE);
    tick_all(t, false);
    assert_string_equal(game_get(t, game).conditions, "xaaa");
}

static void test_the_time_used_is_ones_own(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 3);
    struct call c;

    pass(t, 4 * MS_MINUTE);
    c = acts(t, OP_PAUSE, game, ORGANISER);
    call_ok(&c);
    pass(t, 3 * MS_MINUTE);
    c = acts(t, OP_RESUME, game, ORGANISER);
    call_ok(&c);
    pass(t, MS_MINUTE);
    c = acts(t, OP_MOVE, game, SOUTH);
    c.text = "e2e3";
    call_ok(&c);
    assert_int_equal(c.move.used_ms, 5 * MS_MINUTE);
}

#define T(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_T1_a_seven_day_game_runs_until_its_own_deadline),
        T(test_T2_a_flag_falls_by_itself_within_a_minute),
        T(test_T3_the_published_deadline_is_the_enforced_one),
        T(test_T4_in_time_late_and_lost_at_the_exact_millisecond),
        T(test_warnings_come_at_half_time_48_and_12_hours_before_once_each),
        T(test_warnings_missed_come_at_once_the_most_urgent_only),
        T(test_a_forfeit_may_end_the_game),
        T(test_silent_tables_end_by_themselves),
        T(test_T18_a_restart_gives_no_fresh_time_and_takes_none),
        T(test_many_due_timers_are_done_in_bounded_batches),
        T(test_a_broken_game_stops_no_other),
        T(test_when_letters_cannot_be_written_the_flag_waits),
        T(test_the_time_used_is_ones_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* T17: a turn that its player was told of late, because mail was down. */
#include "arbiter/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock/deadline.h"
#include "store/timers.h"

/* The turn's letter to whoever is on turn. */
static int64_t tell(struct table *t, int64_t game, int user)
{
    return told_put(t, game, user, NOTICE_TURN, game_get(t, game).state_no);
}

/* It is handed over now. */
static int64_t hand_over(struct table *t, int64_t game, int user, int64_t letter)
{
    struct call c = acts(t, OP_HANDED_OVER, game, user);

    told_settle(t, letter, FATE_SENT);
    c.sent_at = now_of(t);
    call_ok(&c);
    return c.credited_ms;
}

static int64_t longer_by(struct table *t, int64_t game)
{
    struct game_row g = game_get(t, game);

    return g.deadline_at - g.turn_at - g.per_move_ms;
}

static void test_five_minutes_are_no_delay_and_a_millisecond_more_is(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney"), other = game_start(t, "verney");
    int64_t letter = tell(t, game, SOUTH), its = tell(t, other, SOUTH);

    pass(t, ARBITER_DELIVERY_MS - 1);
    tick_all(t, false);
    pass(t, 1);
    assert_int_equal(hand_over(t, game, SOUTH, letter), 0);
    assert_int_equal(longer_by(t, game), 0);
    assert_int_equal(count_events(t, game, GAME_EVENT_DELIVERY_CREDITED), 0);
    pass(t, 1);
    assert_int_equal(hand_over(t, other, SOUTH, its), ARBITER_DELIVERY_MS + 1);
    assert_int_equal(longer_by(t, other), ARBITER_DELIVERY_MS + 1);
    assert_sound(t, game);
    assert_sound(t, other);
}

static void test_the_credit_is_told_and_itemised(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 3), letter = tell(t, game, SOUTH);
    struct deadline d;
    struct err err = ERR_INIT;

    live_until(t, T0 + 5 * MS_HOUR);
    assert_int_equal(hand_over(t, game, SOUTH, letter), 5 * MS_HOUR);
    struct game_row g = game_get(t, game);
    struct event_row e = last_event(t, game, GAME_EVENT_DELIVERY_CREDITED);
    assert_int_equal(e.seat, 0);
    assert_int_equal(e.user_id, 0);
    assert_int_equal(e.amount_ms, 5 * MS_HOUR);
    assert_int_equal(e.deadline_at, g.deadline_at);
    assert_string_equal(e.note, "delivery");
    assert_int_equal(g.deadline_at, T0 + 3 * MS_DAY + 5 * MS_HOUR);
    assert_ok(deadline_parse_items(g.explanation, g.grace_ms, g.paused_at, &d, &err), err);
    assert_int_equal(d.n_items, 3);
    assert_int_equal(d.items[2].kind, DEADLINE_DELIVERY);
    assert_string_equal(deadline_item_slug(d.items[2].kind), "delivery");
    assert_int_equal(d.items[2].amount_ms, 5 * MS_HOUR);
    assert_int_equal(d.items[2].ref, e.seq);
    assert_int_equal(g.state_no, e.state_no); /* the board is the same: his letter holds */
    /* what he could not know of is not his own time */
    live_until(t, now_of(t) + MS_HOUR);
    move_ok(t, game, "e3");
    struct move_row m;
    assert_ok(moves_get(store_reader_conn(t->reader), game, 1, &m, &err), err);
    assert_int_equal(m.used_ms, MS_HOUR);
    /* and flag and warnings go by the new deadline */
    assert_sound(t, game);
}

static void test_two_days_are_the_most(void **state)
{
    static const struct {
        int64_t after_ms, credit_ms;
    } cases[] = {{ARBITER_DELIVERY_CAP_MS - 1, ARBITER_DELIVERY_CAP_MS - 1},
                 {ARBITER_DELIVERY_CAP_MS, ARBITER_DELIVERY_CAP_MS},
                 {ARBITER_DELIVERY_CAP_MS + 1, ARBITER_DELIVERY_CAP_MS},
                 {4 * MS_DAY, ARBITER_DELIVERY_CAP_MS}};
    struct table *t = *state;
    int64_t games[4], letters[4];

    for (int i = 0; i < 4; i++) {
        games[i] = game_start(t, "verney");
        letters[i] = tell(t, games[i], SOUTH);
    }
    for (int i = 0; i < 4; i++) {
        live_until(t, T0 + cases[i].after_ms);
        (void)hand_over(t, games[i], SOUTH, letters[i]);
        assert_int_equal(longer_by(t, games[i]), cases[i].credit_ms);
        assert_sound(t, games[i]);
    }
}

static void test_the_first_hand_over_counts_and_no_other(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney"), first = tell(t, game, SOUTH);
    int64_t second = tell(t, game, SOUTH);

    pass(t, MS_MINUTE);
    tick_all(t, false);
    assert_int_equal(hand_over(t, game, SOUTH, first), 0);
    live_until(t, T0 + 5 * MS_HOUR);
    assert_int_equal(hand_over(t, game, SOUTH, second), 0); /* he knew */
    assert_int_equal(longer_by(t, game), 0);
    /* and the other way round: one that was late is not credited again */
    move_ok(t, game, "e3");
    utc_ms turn_at = game_get(t, game).turn_at;
    first = tell(t, game, WEST);
    second = tell(t, game, WEST);
    live_until(t, turn_at + MS_HOUR);
    assert_int_equal(hand_over(t, game, WEST, first), MS_HOUR);
    live_until(t, turn_at + 2 * MS_HOUR);
    assert_int_equal(hand_over(t, game, WEST, second), 0);
    assert_int_equal(longer_by(t, game), MS_HOUR);
    assert_sound(t, game);
}

static void test_letters_that_tell_of_another_turn_change_nothing(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney"), letter = tell(t, game, SOUTH);
    int64_t old_state = game_get(t, game).state_no;

    move_ok(t, game, "e3"); /* he looked at the web */
    utc_ms turn_at = game_get(t, game).turn_at;
    live_until(t, turn_at + MS_HOUR);
    struct call c = acts(t, OP_HANDED_OVER, game, SOUTH);
    c.act.state_no = old_state;
    c.sent_at = now_of(t);
    told_settle(t, letter, FATE_SENT);
    call_ok(&c);
    assert_int_equal(c.credited_ms, 0);
    /* nor does an old one to whoever is on turn now */
    letter = told_put(t, game, WEST, NOTICE_TURN, old_state);
    told_settle(t, letter, FATE_SENT);
    c.actor = player(t, WEST);
    call_ok(&c);
    assert_int_equal(c.credited_ms, 0);
    assert_int_equal(longer_by(t, game), 0);
    /* nor any in a game that does not run */
    int64_t open = game_create_open(t, "verney", SOUTH, false);
    c = acts(t, OP_HANDED_OVER, open, SOUTH);
    c.sent_at = now_of(t);
    call_ok(&c);
    assert_int_equal(c.credited_ms, 0);
    assert_sound(t, game);
}

/* Somebody resigns within the turn: the letter is written anew, the first that arrives counts. */
static void test_a_turns_later_letter_counts_when_the_first_never_went(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney"), letter = tell(t, game, SOUTH);

    live_until(t, T0 + MS_HOUR);
    struct call c = acts(t, OP_RESIGN, game, WEST);
    call_ok(&c);
    told_settle(t, letter, FATE_SUPERSEDED);
    letter = tell(t, game, SOUTH);
    live_until(t, T0 + 3 * MS_HOUR);
    assert_int_equal(hand_over(t, game, SOUTH, letter), 3 * MS_HOUR);
    assert_int_equal(longer_by(t, game), 3 * MS_HOUR);
    assert_sound(t, game);
}

static void test_pauses_and_outages_in_it_are_given_once(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney"), letter = tell(t, game, SOUTH);

    live_until(t, T0 + MS_HOUR);
    tick_all(t, false);
    struct call c = acts(t, OP_PAUSE, game, ORGANISER);
    call_ok(&c);
    live_until(t, T0 + 3 * MS_HOUR);
    tick_all(t, false);
    c = acts(t, OP_RESUME, game, ORGANISER);
    call_ok(&c);
    live_until(t, T0 + 4 * MS_HOUR);
    tick_all(t, false); /* the last sign of life: at 4 h */
    table_restart(t, 6 * MS_HOUR);
    tick_all(t, true);
    int64_t outage_ms = last_event(t, game, GAME_EVENT_OUTAGE_CREDITED).amount_ms;
    live_until(t, T0 + 11 * MS_HOUR);
    int64_t ms = hand_over(t, game, SOUTH, letter);
    assert_int_equal(ms, 11 * MS_HOUR - 2 * MS_HOUR - outage_ms);
    /* all in all his clock starts when he is told */
    assert_int_equal(game_get(t, game).deadline_at,
                     T0 + 11 * MS_HOUR + game_get(t, game).per_move_ms);
    assert_sound(t, game);
}

static void test_a_letter_that_arrives_during_a_pause(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney"), letter = tell(t, game, SOUTH);

    live_until(t, T0 + MS_HOUR);
    struct call c = acts(t, OP_PAUSE, game, ORGANISER);
    call_ok(&c);
    live_until(t, T0 + 2 * MS_HOUR);
    assert_int_equal(hand_over(t, game, SOUTH, letter), MS_HOUR); /* what ran of it */
    assert_int_equal(game_get(t, game).deadline_at, UTC_NONE);
    live_until(t, T0 + 3 * MS_HOUR);
    c = acts(t, OP_RESUME, game, ORGANISER);
    call_ok(&c);
    assert_int_equal(game_get(t, game).deadline_at,
                     T0 + 3 * MS_HOUR + game_get(t, game).per_move_ms);
    assert_sound(t, game);
}

/* ---------------------------------------------------------------- never handed over */

static void flag_falls_at(struct table *t, int64_t game, utc_ms at)
{
    live_until(t, at);
    tick_all(t, false);
    assert_int_equal(count_events(t, game, GAME_EVENT_FORFEITED), 0);
    pass(t, 1);
    tick_all(t, false);
    assert_int_equal(count_events(t, game, GAME_EVENT_FORFEITED), 1);
    assert_sound(t, game);
}

static void test_no_flag_falls_before_two_days_more_while_the_letter_waits(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 3);

    (void)tell(t, game, SOUTH);
    flag_falls_at(t, game, T0 + 3 * MS_DAY + 48 * MS_HOUR + 12 * MS_HOUR);
}

static void test_all_attempts_at_it_failed_is_the_same(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1), letter = tell(t, game, SOUTH);

    pass(t, MS_MINUTE);
    tick_all(t, false);
    told_settle(t, letter, FATE_FAILED);
    flag_falls_at(t, game, T0 + MS_DAY + 48 * MS_HOUR + 12 * MS_HOUR);
}

/* A turn much shorter than the cap is given what has passed, again and again. */
static void test_a_short_turn_too_waits_two_days_for_its_letter(void **state)
{
    struct table *t = *state;

    t->arb.limits.grace_ms = 0;
    int64_t game = game_start_ms(t, "verney", MS_HOUR);
    (void)tell(t, game, SOUTH);
    flag_falls_at(t, game, T0 + MS_HOUR + 48 * MS_HOUR);
}

static void test_who_wants_no_letter_has_no_more_time(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1), other = game_start_days(t, "verney", 1);
    int64_t letter = tell(t, other, SOUTH);

    told_settle(t, letter, FATE_SUPERSEDED); /* he switched them off meanwhile */
    flag_falls_at(t, game, T0 + MS_DAY + 12 * MS_HOUR);
    assert_int_equal(count_events(t, other, GAME_EVENT_FORFEITED), 1);
}

static void test_the_rest_is_given_when_it_arrives_after_all(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 2), letter = tell(t, game, SOUTH);

    live_until(t, T0 + MS_DAY + 1); /* half the time: he is not warned, he is given what passed */
    tick_all(t, false);
    assert_int_equal(count_events(t, game, GAME_EVENT_WARNING), 0);
    int64_t given = longer_by(t, game);
    assert_true(given >= MS_DAY && given <= MS_DAY + 4 * MS_MINUTE);
    live_until(t, T0 + 30 * MS_HOUR);
    assert_int_equal(hand_over(t, game, SOUTH, letter), 30 * MS_HOUR - given);
    assert_int_equal(longer_by(t, game), 30 * MS_HOUR);
    flag_falls_at(t, game, T0 + 30 * MS_HOUR + 2 * MS_DAY + 12 * MS_HOUR);
}

static void test_a_letter_of_the_start_tells_of_the_first_turn(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    int64_t letter = told_put(t, game, SOUTH, NOTICE_START, game_get(t, game).state_no);

    live_until(t, T0 + MS_HOUR);
    assert_int_equal(hand_over(t, game, SOUTH, letter), MS_HOUR);
    assert_sound(t, game);
}

#define T(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_five_minutes_are_no_delay_and_a_millisecond_more_is),
        T(test_the_credit_is_told_and_itemised),
        T(test_two_days_are_the_most),
        T(test_the_first_hand_over_counts_and_no_other),
        T(test_letters_that_tell_of_another_turn_change_nothing),
        T(test_a_turns_later_letter_counts_when_the_first_never_went),
        T(test_pauses_and_outages_in_it_are_given_once),
        T(test_a_letter_that_arrives_during_a_pause),
        T(test_no_flag_falls_before_two_days_more_while_the_letter_waits),
        T(test_all_attempts_at_it_failed_is_the_same),
        T(test_a_short_turn_too_waits_two_days_for_its_letter),
        T(test_who_wants_no_letter_has_no_more_time),
        T(test_the_rest_is_given_when_it_arrives_after_all),
        T(test_a_letter_of_the_start_tells_of_the_first_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

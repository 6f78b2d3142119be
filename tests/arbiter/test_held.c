/* Moves by mail that are withheld for a while, and what was said in letters accepted in time. */
#include "arbiter/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock/deadline.h"
#include "store/clocks.h"
#include "store/timers.h"

#define HOLD_MS (10 * MS_MINUTE)

static struct call hold_call(struct table *t, int64_t game, const char *text)
{
    struct call c = acts(t, OP_HOLD, game, SOUTH);

    c.actor.user_id = game_get(t, game).turn_user_id;
    c.text = text;
    c.release_at = now_of(t) + HOLD_MS;
    return c;
}

static struct held_row hold(struct table *t, int64_t game, const char *text)
{
    struct call c = hold_call(t, game, text);

    call_ok(&c);
    return c.held;
}

static bool is_held(struct table *t, int64_t game)
{
    struct held_row held;

    return held_get(store_reader_conn(t->reader), game, &held, NULL) == ST_OK;
}

static utc_ms timer_at(struct table *t, int64_t game, enum timer_kind kind)
{
    struct timer_row rows[8];
    size_t n = timers_now(t, game, rows, 8);

    for (size_t i = 0; i < n; i++) {
        if (rows[i].kind == kind)
            return rows[i].due_at;
    }
    return UTC_NONE;
}

/* Nothing that any door shows, not even when it last changed. */
static void assert_unchanged(const struct game_row *before, const struct game_row *after)
{
    assert_int_equal(after->updated_at, before->updated_at);
    assert_int_equal(after->last_seq, before->last_seq);
    assert_int_equal(after->last_event_id, before->last_event_id);
    assert_int_equal(after->state_no, before->state_no);
    assert_int_equal(after->ply, before->ply);
    assert_int_equal(after->turn_seat, before->turn_seat);
    assert_int_equal(after->turn_at, before->turn_at);
    assert_int_equal(after->deadline_at, before->deadline_at);
    assert_int_equal(after->position_hash, before->position_hash);
    assert_string_equal(after->position, before->position);
    assert_string_equal(after->explanation, before->explanation);
    assert_int_equal(after->moved_at, before->moved_at);
}

/* ---------------------------------------------------------------- held, played, taken back */

static void test_a_held_move_is_seen_at_no_door(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct game_row before = game_get(t, game), after;
    size_t told = t->n_events;

    pass(t, MS_MINUTE);
    struct held_row held = hold(t, game, "e3");
    assert_string_equal(held.move, "e2e3");
    assert_int_equal(held.seat, 0);
    assert_int_equal(held.state_no, before.state_no);
    assert_int_equal(held.received_at, T0 + MS_MINUTE);
    assert_int_equal(held.release_at, T0 + MS_MINUTE + HOLD_MS);
    after = game_get(t, game);
    assert_unchanged(&before, &after);
    assert_int_equal(t->n_events, told);
    assert_int_equal(count_events(t, game, GAME_EVENT_MOVE), 0);
    assert_int_equal(timer_at(t, game, TIMER_HELD), held.release_at);
    assert_sound(t, game);
}

static void test_it_is_played_at_its_time_and_the_next_clock_starts_then(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    char text[256];

    live_until(t, T0 + 3 * MS_MINUTE);
    struct held_row held = hold(t, game, "e3");
    int64_t since = game_get(t, game).last_seq;
    live_until(t, held.release_at - 1);
    assert_int_equal(tick(t).released, 0);
    assert_true(is_held(t, game));
    pass(t, 1);
    struct arbiter_tick_report r = tick(t);
    assert_int_equal(r.released, 1);
    assert_int_equal(r.failed, 0);
    assert_string_equal(story(t, game, since, text, sizeof text), "move:0 turn:1");
    struct event_row e = last_event(t, game, GAME_EVENT_MOVE);
    assert_int_equal(e.at, held.release_at);
    assert_int_equal(e.user_id, t->user[SOUTH]);
    struct game_row g = game_get(t, game);
    assert_int_equal(g.turn_at, held.release_at);
    assert_int_equal(g.deadline_at, held.release_at + g.per_move_ms);
    struct move_row m;
    struct err err = ERR_INIT;
    assert_ok(moves_get(store_reader_conn(t->reader), game, 1, &m, &err), err);
    assert_int_equal(m.used_ms, 3 * MS_MINUTE); /* until the letter came */
    assert_int_equal(m.at, held.release_at);
    assert_false(m.is_late);
    assert_false(is_held(t, game));
    assert_int_equal(timer_at(t, game, TIMER_HELD), UTC_NONE);
    assert_int_equal(t->dropped_calls, 0);
    assert_sound(t, game);
}

static struct call undo_call(struct table *t, int64_t game, int user)
{
    return acts(t, OP_UNDO, game, user);
}

static void test_undo_wins_before_the_release_and_not_at_it(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct game_row before = game_get(t, game), after;
    struct held_row held = hold(t, game, "e3");

    live_until(t, held.release_at - 1);
    struct call c = undo_call(t, game, SOUTH);
    call_ok(&c);
    assert_string_equal(c.held.move, "e2e3");
    after = game_get(t, game);
    assert_unchanged(&before, &after);
    assert_int_equal(timer_at(t, game, TIMER_HELD), UTC_NONE);
    call_refused(&c, REASON_NOTHING_HELD);
    assert_int_equal(t->dropped_calls, 0);
    /* he may move anew; this time he is a millisecond late in taking it back */
    held = hold(t, game, "d3");
    live_until(t, held.release_at);
    c = undo_call(t, game, SOUTH);
    call_refused(&c, REASON_NOTHING_HELD);
    assert_true(is_held(t, game));
    /* … unless his letter had come before, and was read only now (T4) */
    c.act.received_at = held.release_at;
    call_refused(&c, REASON_NOTHING_HELD);
    c.act.received_at = held.release_at - 1;
    call_ok(&c);
    held = hold(t, game, "f3");
    live_until(t, held.release_at);
    tick_all(t, false);
    c = undo_call(t, game, SOUTH);
    c.act.state_no = held.state_no;
    call_refused(&c, REASON_NOTHING_HELD); /* all have seen it */
    assert_sound(t, game);
}

static void test_only_its_mover_takes_a_move_back_and_names_its_state(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c = undo_call(t, game, SOUTH);

    call_refused(&c, REASON_NOTHING_HELD);
    (void)hold(t, game, "e3");
    c = undo_call(t, game, WEST);
    call_refused(&c, REASON_NOTHING_HELD); /* he is told no more than that */
    c = undo_call(t, game, STRANGER);
    call_refused(&c, REASON_NOT_YOUR_GAME);
    c = undo_call(t, game, SOUTH);
    c.act.state_no--;
    call_refused(&c, REASON_STATE_MISMATCH);
    c.act.state_no = -1;
    call_refused(&c, REASON_MISSING_FIELD);
    c = undo_call(t, game, SOUTH);
    call_ok(&c);
}

static void test_a_move_is_judged_when_it_is_held(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    struct call c = hold_call(t, game, "e5");

    call_refused(&c, REASON_ILLEGAL_MOVE);
    c.text = "zzz";
    call_refused(&c, REASON_UNREADABLE_MOVE);
    c.text = "e3";
    c.actor = player(t, WEST);
    call_refused(&c, REASON_NOT_YOUR_TURN);
    c.actor = player(t, STRANGER);
    call_refused(&c, REASON_NOT_YOUR_GAME);
    c = hold_call(t, game, "e3");
    c.act.state_no++;
    call_refused(&c, REASON_STATE_MISMATCH);
    c = hold_call(t, game, "e3");
    c.release_at = now_of(t) + ARBITER_HOLD_MAX_MS + 1;
    call_refused(&c, REASON_BAD_FIELD);
    c.release_at = now_of(t) + ARBITER_HOLD_MAX_MS;
    call_ok(&c);
    c = hold_call(t, game, "d3"); /* one at a time */
    call_refused(&c, REASON_MOVE_HELD);
    c = undo_call(t, game, SOUTH);
    call_ok(&c);
    struct call p = acts(t, OP_PAUSE, game, ORGANISER);
    call_ok(&p);
    c = hold_call(t, game, "e3");
    call_refused(&c, REASON_GAME_PAUSED);
    assert_sound(t, game);
}

static void test_one_that_is_due_at_once_is_played_by_the_next_tick(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c = hold_call(t, game, "e3");

    c.release_at = now_of(t);
    call_ok(&c);
    assert_int_equal(game_get(t, game).ply, 0);
    tick_all(t, false);
    assert_int_equal(game_get(t, game).ply, 1);
}

static void dropped(struct table *t, int64_t game, int calls, enum arbiter_drop why)
{
    assert_int_equal(t->dropped_calls, calls);
    assert_int_equal(t->dropped.game_id, game);
    assert_string_equal(t->dropped.move, "e2e3");
    assert_int_equal(t->dropped_why, why);
    assert_false(is_held(t, game));
    assert_int_equal(timer_at(t, game, TIMER_HELD), UTC_NONE);
    assert_sound(t, game);
}

static void test_a_move_by_another_door_takes_the_place_of_the_held_one(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");

    (void)hold(t, game, "e3");
    move_refused(t, game, "e5", REASON_ILLEGAL_MOVE);
    assert_true(is_held(t, game)); /* a refused one does not */
    move_ok(t, game, "Nf3");
    assert_false(is_held(t, game));
    assert_string_equal(last_event(t, game, GAME_EVENT_MOVE).san, "Nf3");
    dropped(t, game, 1, DROP_REPLACED); /* that he hears of */
    assert_int_equal(timer_at(t, game, TIMER_HELD), UTC_NONE);
    live_until(t, now_of(t) + 2 * HOLD_MS);
    assert_int_equal(game_get(t, game).ply, 1);
    assert_sound(t, game);
    /* The same move is no other one. */
    game = game_start(t, "verney");
    (void)hold(t, game, "e3");
    move_ok(t, game, "e2e3");
    assert_int_equal(t->dropped_calls, 1);
    /* Who writes again has it in the receipt. */
    game = game_start(t, "verney");
    (void)hold(t, game, "e3");
    struct call c = acts(t, OP_MOVE, game, SOUTH);
    c.text = "d3";
    c.act.received_at = now_of(t);
    call_ok(&c);
    assert_false(is_held(t, game));
    assert_int_equal(t->dropped_calls, 1);
}

/* ---------------------------------------------------------------- dropped */

static void test_a_resignation_drops_it_and_gives_the_time_back(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct game_row before = game_get(t, game), g;
    struct deadline d;
    struct err err = ERR_INIT;
    char text[256];

    pass(t, 2 * MS_MINUTE);
    (void)hold(t, game, "e3");
    pass(t, 3 * MS_MINUTE);
    struct call c = acts(t, OP_RESIGN, game, WEST);
    call_ok(&c);
    dropped(t, game, 1, DROP_STATE);
    assert_string_equal(story(t, game, before.last_seq, text, sizeof text),
                        "resigned:1 delivery_credited:0");
    g = game_get(t, game);
    assert_int_equal(g.turn_seat, 0);
    assert_int_equal(g.deadline_at, before.deadline_at + 3 * MS_MINUTE);
    struct event_row e = last_event(t, game, GAME_EVENT_DELIVERY_CREDITED);
    assert_int_equal(e.amount_ms, 3 * MS_MINUTE);
    assert_int_equal(e.deadline_at, g.deadline_at);
    assert_string_equal(e.note, "held");
    assert_ok(deadline_parse_items(g.explanation, g.grace_ms, g.paused_at, &d, &err), err);
    assert_int_equal(d.n_items, 3);
    assert_int_equal(d.items[2].kind, DEADLINE_HELD);
    assert_int_equal(d.items[2].amount_ms, 3 * MS_MINUTE);
    assert_int_equal(d.items[2].ref, e.seq);
    /* he thinks anew */
    (void)hold(t, game, "d3");
    live_until(t, now_of(t) + HOLD_MS);
    tick_all(t, false);
    assert_int_equal(game_get(t, game).ply, 1);
    assert_sound(t, game);
}

static void test_one_dropped_in_its_first_instant_is_given_nothing(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct game_row before = game_get(t, game);

    (void)hold(t, game, "e3");
    struct call c = acts(t, OP_RESIGN, game, WEST);
    call_ok(&c);
    dropped(t, game, 1, DROP_STATE);
    assert_int_equal(count_events(t, game, GAME_EVENT_DELIVERY_CREDITED), 0);
    assert_int_equal(game_get(t, game).deadline_at, before.deadline_at);
}

static void test_his_own_resignation_drops_it_and_ends_his_turn(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");

    (void)hold(t, game, "e3");
    pass(t, MS_MINUTE);
    struct call c = acts(t, OP_RESIGN, game, SOUTH);
    call_ok(&c);
    dropped(t, game, 1, DROP_STATE);
    assert_int_equal(game_get(t, game).turn_seat, 1);
    assert_int_equal(count_events(t, game, GAME_EVENT_DELIVERY_CREDITED), 0);
}

static void test_a_pause_drops_it_and_his_time_goes_on_afterwards(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct game_row before = game_get(t, game);

    pass(t, MS_MINUTE);
    (void)hold(t, game, "e3");
    pass(t, 4 * MS_MINUTE);
    struct call c = acts(t, OP_PAUSE, game, ORGANISER);
    call_ok(&c);
    dropped(t, game, 1, DROP_PAUSED);
    assert_int_equal(last_event(t, game, GAME_EVENT_DELIVERY_CREDITED).deadline_at, UTC_NONE);
    pass(t, 3 * MS_MINUTE);
    c = acts(t, OP_RESUME, game, ORGANISER);
    call_ok(&c);
    assert_int_equal(game_get(t, game).deadline_at, before.deadline_at + 7 * MS_MINUTE);
    assert_sound(t, game);
}

static void test_the_end_of_the_game_drops_it(void **state)
{
    static const enum op ends[] = {OP_ABORT, OP_ADJUDICATE, OP_ACCEPT_DRAW};
    struct table *t = *state;

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        int64_t game = game_start(t, "verney");
        (void)hold(t, game, "e3");
        pass(t, MS_MINUTE);
        struct call c = acts(t, ends[i], game, ends[i] == OP_ACCEPT_DRAW ? WEST : OPERATOR);
        c.result = GAME_RESULT_TEAM0;
        if (ends[i] == OP_ACCEPT_DRAW) {
            struct call offer = acts(t, OP_OFFER, game, NORTH);
            call_ok(&offer);
            assert_true(is_held(t, game)); /* an offer changes nothing on the board */
            call_ok(&c);
            c.actor = player(t, EAST);
            call_ok(&c);
            assert_true(is_held(t, game));
            c.actor = player(t, SOUTH);
        }
        call_ok(&c);
        dropped(t, game, (int)i + 1, DROP_ENDED);
        assert_int_equal(count_events(t, game, GAME_EVENT_DELIVERY_CREDITED), 0);
    }
}

static void test_a_credit_leaves_it_as_it_is(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");

    (void)hold(t, game, "e3");
    struct call c = acts(t, OP_CREDIT, game, ORGANISER);
    c.amount_ms = MS_DAY;
    call_ok(&c);
    assert_true(is_held(t, game));
    assert_sound(t, game);
    live_until(t, now_of(t) + HOLD_MS);
    tick_all(t, false);
    assert_int_equal(game_get(t, game).ply, 1);
    assert_sound(t, game);
}

/* ---------------------------------------------------------------- the flag */

static void test_T4_a_letter_is_judged_at_its_acceptance(void **state)
{
    static const struct {
        int64_t after_ms; /* the deadline */
        bool is_late, is_lost;
    } cases[] = {{-1, false, false},
                 {0, false, false},
                 {1, true, false},
                 {12 * MS_HOUR - 1, true, false},
                 {12 * MS_HOUR, true, false},
                 {12 * MS_HOUR + 1, true, true}};
    struct table *t = *state;
    int64_t games[6];
    struct err err = ERR_INIT;
    struct move_row m;

    for (int i = 0; i < 6; i++)
        games[i] = game_start_days(t, "verney", 1);
    utc_ms deadline = game_get(t, games[0]).deadline_at;
    live_until(t, deadline + 12 * MS_HOUR + 1); /* nobody has looked since */
    pass(t, MS_MINUTE);
    for (int i = 0; i < 6; i++) {
        struct call c = acts(t, OP_MOVE, games[i], SOUTH);
        c.text = "e3";
        call_refused(&c, REASON_LOST_ON_TIME); /* now it is too late for all */
        c.act.received_at = deadline + cases[i].after_ms;
        if (cases[i].is_lost) {
            call_refused(&c, REASON_LOST_ON_TIME);
            continue;
        }
        call_ok(&c);
        assert_ok(moves_get(store_reader_conn(t->reader), games[i], 1, &m, &err), err);
        assert_int_equal(m.is_late, cases[i].is_late);
        assert_int_equal(m.at, now_of(t));
        assert_int_equal(m.used_ms, c.act.received_at - T0);
        if (cases[i].is_late)
            assert_int_equal(last_event(t, games[i], GAME_EVENT_LATE).amount_ms,
                             cases[i].after_ms);
        assert_int_equal(game_get(t, games[i]).turn_at, now_of(t));
        assert_sound(t, games[i]);
    }
}

static void test_T4_an_acceptance_in_the_future_is_now(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    utc_ms end = game_get(t, game).deadline_at + 12 * MS_HOUR;

    live_until(t, end + 1);
    struct call c = acts(t, OP_MOVE, game, SOUTH);
    c.text = "e3";
    c.act.received_at = now_of(t) + 1; /* a clock was set back */
    call_refused(&c, REASON_LOST_ON_TIME);
    c.act.received_at = UTC_NONE;
    call_refused(&c, REASON_LOST_ON_TIME);
}

static void test_T4_a_move_held_in_time_is_played_and_not_forfeited(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    utc_ms end = game_get(t, game).deadline_at + 12 * MS_HOUR;
    char text[256];

    live_until(t, end);
    struct held_row held = hold(t, game, "e3"); /* accepted in the last instant */
    int64_t since = game_get(t, game).last_seq;
    tick_all(t, false);
    assert_true(is_held(t, game));
    pass(t, 1);
    struct arbiter_tick_report r = tick(t);
    assert_int_equal(r.forfeits, 0);
    assert_int_equal(r.released, 1);
    assert_true(now_of(t) < held.release_at);
    assert_string_equal(story(t, game, since, text, sizeof text), "move:0 late:0 turn:1");
    assert_int_equal(last_event(t, game, GAME_EVENT_LATE).amount_ms, 12 * MS_HOUR);
    assert_sound(t, game);
}

static void test_nobody_is_warned_of_a_turn_that_he_has_made(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 2);
    utc_ms half = T0 + MS_DAY;

    live_until(t, half - MS_MINUTE);
    (void)hold(t, game, "e3");
    live_until(t, half);
    tick_all(t, false);
    pass(t, MS_MINUTE);
    tick_all(t, false);
    assert_int_equal(count_events(t, game, GAME_EVENT_WARNING), 0);
    /* taken back: then he is */
    struct call c = undo_call(t, game, SOUTH);
    call_ok(&c);
    pass(t, 1);
    tick_all(t, false);
    live_until(t, T0 + 2 * MS_DAY - 12 * MS_HOUR);
    tick_all(t, false);
    assert_int_equal(count_events(t, game, GAME_EVENT_WARNING), 2); /* he, and the organiser */
    live_until(t, T0 + 2 * MS_DAY + 12 * MS_HOUR + 1);
    assert_int_equal(tick(t).forfeits, 1);
    assert_sound(t, game);
}

static void test_T4_no_flag_falls_while_letters_accepted_in_time_are_unread(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    utc_ms end = game_get(t, game).deadline_at + 12 * MS_HOUR;

    live_until(t, end);
    int64_t in_time = letter_accept(t, end);
    (void)letter_accept(t, end + 1); /* nobody waits for this one */
    pass(t, 1);
    struct arbiter_tick_report r = tick(t);
    assert_int_equal(r.forfeits, 0);
    assert_int_equal(r.unread, 1);
    assert_int_equal(timer_at(t, game, TIMER_DEADLINE), end + 1 + ARBITER_UNREAD_MS);
    pass(t, ARBITER_UNREAD_MS - 1);
    assert_int_equal(tick(t).unread, 0); /* not looked at before its time */
    pass(t, 1);
    assert_int_equal(tick(t).unread, 1);
    /* it was his move */
    struct call c = acts(t, OP_MOVE, game, SOUTH);
    c.text = "e3";
    c.act.received_at = end;
    call_ok(&c);
    letter_was_read(t, in_time);
    tick_all(t, false);
    assert_string_equal(game_get(t, game).conditions, "aaaa");
    assert_sound(t, game);
}

static void test_T4_the_flag_falls_when_the_letters_say_nothing_of_the_game(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    utc_ms end = game_get(t, game).deadline_at + 12 * MS_HOUR;

    live_until(t, end);
    int64_t letter = letter_accept(t, end);
    pass(t, 1);
    assert_int_equal(tick(t).forfeits, 0);
    letter_was_read(t, letter);
    pass(t, ARBITER_UNREAD_MS);
    assert_int_equal(tick(t).forfeits, 1);
    assert_sound(t, game);
}

/* Where nobody reads letters any more the games go on, after a day. */
static void test_letters_that_are_never_read_hold_nothing_up_for_ever(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    utc_ms end = game_get(t, game).deadline_at + 12 * MS_HOUR;

    (void)letter_accept(t, T0);
    live_until(t, end + ARBITER_UNREAD_MAX_MS);
    tick_all(t, false);
    assert_int_equal(count_events(t, game, GAME_EVENT_FORFEITED), 0);
    pass(t, ARBITER_UNREAD_MS);
    tick_all(t, false);
    assert_int_equal(count_events(t, game, GAME_EVENT_FORFEITED), 1);
}

static void test_a_release_waits_for_letters_that_may_take_it_back(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct held_row held = hold(t, game, "e3");

    live_until(t, held.release_at - 1);
    int64_t letter = letter_accept(t, held.release_at - 1);
    pass(t, 1);
    struct arbiter_tick_report r = tick(t);
    assert_int_equal(r.released, 0);
    assert_int_equal(r.unread, 1);
    struct call c = undo_call(t, game, SOUTH);
    c.act.received_at = held.release_at - 1;
    call_ok(&c);
    letter_was_read(t, letter);
    held = hold(t, game, "d3");
    live_until(t, held.release_at);
    (void)letter_accept(t, held.release_at); /* too late to take anything back */
    assert_int_equal(tick(t).released, 1);
    assert_sound(t, game);
}

static void test_T4_a_placement_is_judged_at_its_acceptance_too(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "fortress reserve=chosen");
    utc_ms deadline = game_get(t, game).deadline_at;
    struct arbiter_placement south = {ARBITER_ANY_SEAT, "p4", "o1", "n3", 0};

    live_until(t, deadline);
    int64_t letter = letter_accept(t, deadline);
    pass(t, 1);
    struct arbiter_tick_report r = tick(t);
    assert_int_equal(r.placed, 0); /* nothing is drawn while it is unread */
    assert_int_equal(r.unread, 1);
    struct call c = place_call(t, game, SOUTH, &south);
    call_refused(&c, REASON_LOST_ON_TIME);
    south.received_at = deadline + 1;
    call_refused(&c, REASON_LOST_ON_TIME);
    south.received_at = deadline;
    call_ok(&c);
    letter_was_read(t, letter);
    pass(t, ARBITER_UNREAD_MS);
    assert_int_equal(tick(t).placed, 3);
    assert_int_equal(game_get(t, game).state, GAME_RUNNING);
    assert_sound(t, game);
}

static void test_T4_an_invitation_is_answered_when_the_letter_was_accepted(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", ORGANISER, false);
    struct arbiter_offer offer = {.kind = OFFER_USER, .user_id = t->user[WEST]};
    struct call c = acts(t, OP_INVITE, game, ORGANISER);
    utc_ms expires_at;

    c.seat = 1;
    c.offer = &offer;
    call_ok(&c);
    expires_at = timer_at(t, game, TIMER_INVITATION);
    live_until(t, expires_at);
    int64_t letter = letter_accept(t, expires_at - 1);
    int64_t too_late = letter_accept(t, expires_at); /* good before that instant */
    assert_int_equal(tick(t).unread, 1);
    c = acts(t, OP_ACCEPT, game, WEST);
    call_refused(&c, REASON_FORBIDDEN);
    c.actor.received_at = expires_at;
    call_refused(&c, REASON_FORBIDDEN);
    c.actor.received_at = expires_at - 1;
    call_ok(&c);
    letter_was_read(t, letter);
    letter_was_read(t, too_late);
    pass(t, ARBITER_UNREAD_MS);
    tick_all(t, false);
    assert_int_equal(count_events(t, game, GAME_EVENT_INVITE_EXPIRED), 0);
    /* a game that nobody joins waits for letters likewise */
    expires_at = timer_at(t, game, TIMER_OPEN_GAME);
    live_until(t, expires_at);
    letter = letter_accept(t, expires_at - 1);
    tick_all(t, false);
    assert_int_equal(game_get(t, game).state, GAME_OPEN);
    letter_was_read(t, letter);
    pass(t, ARBITER_UNREAD_MS);
    tick_all(t, false);
    assert_int_equal(game_get(t, game).state, GAME_ABORTED);
}

/* ---------------------------------------------------------------- with a draw offer */

static enum vote_state last_vote(struct table *t, int64_t game, int *ret_seat)
{
    struct vote_row votes[8];
    struct err err = ERR_INIT;
    size_t n = 0;

    assert_ok(votes_list(store_reader_conn(t->reader), game, votes, 8, &n, &err), err);
    assert_true(n > 0);
    *ret_seat = votes[n - 1].seat;
    return votes[n - 1].state;
}

static void test_a_draw_offered_with_a_held_move_is_told_with_it(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c = hold_call(t, game, "e3");
    int64_t since = game_get(t, game).last_seq;
    char text[256];
    int seat = -1;

    /* R-C10 */
    c.with_draw = true;
    call_ok(&c);
    assert_true(c.held.with_draw);
    assert_int_equal(count_events(t, game, GAME_EVENT_DRAW_OFFERED), 0);
    live_until(t, now_of(t) + HOLD_MS);
    tick_all(t, false);
    assert_string_equal(story(t, game, since, text, sizeof text),
                        "move:0 turn:1 draw_offered:0");
    assert_int_equal(last_vote(t, game, &seat), VOTE_OPEN);
    assert_int_equal(seat, 0);
    assert_sound(t, game);
    /* taken back with it */
    move_ok(t, game, "b5c5");
    move_ok(t, game, "e13e12");
    move_ok(t, game, "m5l5");
    c = hold_call(t, game, "d3");
    c.with_draw = true;
    call_ok(&c);
    c = undo_call(t, game, SOUTH);
    call_ok(&c);
    assert_true(c.held.with_draw);
    move_ok(t, game, "d3");
    assert_int_equal(count_events(t, game, GAME_EVENT_DRAW_OFFERED), 1);
}

static void test_offers_that_cross_a_held_one(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c = hold_call(t, game, "e3"), o;
    char text[256];
    int seat = -1;

    /* the partner offers meanwhile: that is agreed to */
    c.with_draw = true;
    call_ok(&c);
    o = acts(t, OP_OFFER, game, NORTH);
    call_ok(&o);
    int64_t since = game_get(t, game).last_seq;
    live_until(t, now_of(t) + HOLD_MS);
    tick_all(t, false);
    assert_string_equal(story(t, game, since, text, sizeof text),
                        "move:0 turn:1 draw_accepted:0");
    assert_int_equal(last_vote(t, game, &seat), VOTE_OPEN);
    assert_int_equal(seat, 2);
    /* an enemy does: his lapses by the move, and one's own is put */
    o = acts(t, OP_DECLINE_DRAW, game, NORTH);
    call_ok(&o);
    move_ok(t, game, "b5c5");
    move_ok(t, game, "e13e12");
    move_ok(t, game, "m5l5");
    c = hold_call(t, game, "d3");
    c.with_draw = true;
    call_ok(&c);
    o = acts(t, OP_OFFER, game, EAST);
    call_ok(&o);
    since = game_get(t, game).last_seq;
    live_until(t, now_of(t) + HOLD_MS);
    tick_all(t, false);
    assert_string_equal(story(t, game, since, text, sizeof text),
                        "move:0 draw_lapsed:3 turn:1 draw_offered:0");
    assert_sound(t, game);
}

static void test_who_has_agreed_already_cannot_offer_with_his_move(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c = acts(t, OP_OFFER, game, NORTH);

    call_ok(&c);
    c = acts(t, OP_ACCEPT_DRAW, game, SOUTH);
    call_ok(&c);
    c = hold_call(t, game, "e3");
    c.with_draw = true;
    call_refused(&c, REASON_ALREADY_DONE);
    c.with_draw = false;
    call_ok(&c);
}

static void test_one_player_of_two_seats_offers_for_both(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_two_seats(t, "verney");
    struct call c;

    c = hold_call(t, game, "e3");
    c.with_draw = true;
    call_ok(&c);
    /* his other army's leaving is his own doing, and drops it all the same: he is told */
    c = acts(t, OP_RESIGN, game, SOUTH);
    c.act.seat = 2;
    pass(t, MS_MINUTE);
    call_ok(&c);
    assert_int_equal(t->dropped_calls, 1);
    c = hold_call(t, game, "e3");
    c.with_draw = true;
    call_ok(&c);
    live_until(t, now_of(t) + HOLD_MS);
    tick_all(t, false);
    c = acts(t, OP_ACCEPT_DRAW, game, WEST);
    call_ok(&c);
    c = acts(t, OP_ACCEPT_DRAW, game, EAST);
    call_ok(&c);
    assert_int_equal(game_get(t, game).cause, GAME_CAUSE_AGREEMENT);
    assert_sound(t, game);
}

static void test_a_move_that_ends_the_game_takes_no_offer_with_it(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "teams");
    struct call c = acts(t, OP_RESIGN, game, EAST);

    (void)c;
    c = hold_call(t, game, "e3");
    c.with_draw = true;
    call_ok(&c);
    c = acts(t, OP_RESIGN, game, WEST); /* the game is over: R-M3 */
    call_ok(&c);
    assert_int_equal(game_get(t, game).state, GAME_FINISHED);
    assert_int_equal(t->dropped_why, DROP_ENDED);
    assert_int_equal(count_events(t, game, GAME_EVENT_DRAW_OFFERED), 0);
}

/* ---------------------------------------------------------------- resignations */

static struct call resign_call(struct table *t, int64_t game, int user)
{
    struct call c = acts(t, OP_HOLD_RESIGNATION, game, user);

    c.release_at = now_of(t) + HOLD_MS;
    return c;
}

static struct held_row hold_resignation(struct table *t, int64_t game, int user)
{
    struct call c = resign_call(t, game, user);

    call_ok(&c);
    return c.held;
}

/* How many resignations are held. */
static int resigning(struct table *t, int64_t game)
{
    struct held_row rows[SEATS];
    struct err err = ERR_INIT;
    size_t n = 0;
    int found = 0;

    assert_ok(held_of_game(store_reader_conn(t->reader), game, rows, &n, &err), err);
    for (size_t i = 0; i < n; i++)
        found += rows[i].kind == HELD_RESIGN;
    return found;
}

/* M8: an accident can be taken back, and nobody has seen it. */
static void test_M8_a_held_resignation_is_seen_at_no_door(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct game_row before = game_get(t, game), after;
    size_t told = t->n_events;

    pass(t, MS_MINUTE);
    struct held_row held = hold_resignation(t, game, SOUTH);
    assert_int_equal(held.kind, HELD_RESIGN);
    assert_int_equal(held.seat, 0);
    assert_string_equal(held.move, "");
    assert_int_equal(held.received_at, T0 + MS_MINUTE);
    assert_int_equal(held.release_at, T0 + MS_MINUTE + HOLD_MS);
    after = game_get(t, game);
    assert_unchanged(&before, &after);
    assert_int_equal(t->n_events, told);
    assert_int_equal(timer_at(t, game, TIMER_HELD), held.release_at);
    assert_sound(t, game);
    live_until(t, held.release_at - 1); /* the last millisecond in which an undo is in time */
    struct call c = acts(t, OP_UNDO, game, SOUTH);
    call_ok(&c);
    assert_int_equal(c.held.kind, HELD_RESIGN);
    assert_int_equal(resigning(t, game), 0);
    assert_int_equal(timer_at(t, game, TIMER_HELD), UTC_NONE);
    call_refused(&c, REASON_NOTHING_HELD);
    live_until(t, now_of(t) + 2 * HOLD_MS);
    tick_all(t, false);
    assert_int_equal(count_events(t, game, GAME_EVENT_RESIGNED), 0);
    assert_int_equal(game_get(t, game).turn_seat, 0);
    move_ok(t, game, "e3");
    assert_int_equal(t->dropped_calls, 0);
    assert_sound(t, game);
}

static void test_it_takes_effect_at_its_time_on_turn_and_off_it(void **state)
{
    struct table *t = *state;

    for (int user = SOUTH; user <= WEST; user++) {
        int64_t game = game_start(t, "verney");
        struct held_row held = hold_resignation(t, game, user);
        struct game_row before = game_get(t, game), g;

        live_until(t, held.release_at - 1);
        assert_int_equal(tick(t).released, 0);
        assert_int_equal(resigning(t, game), 1);
        pass(t, 1);
        struct arbiter_tick_report r = tick(t);
        assert_int_equal(r.released, 1);
        assert_int_equal(r.failed, 0);
        struct event_row e = last_event(t, game, GAME_EVENT_RESIGNED);
        assert_int_equal(e.seat, user);
        assert_int_equal(e.user_id, t->user[user]);
        assert_int_equal(e.at, held.release_at);
        g = game_get(t, game);
        assert_int_equal(g.turn_seat, 1 - user); /* South's own leaving passes the turn on */
        assert_int_equal(g.turn_at, user == SOUTH ? held.release_at : before.turn_at);
        assert_int_equal(resigning(t, game), 0);
        assert_int_equal(timer_at(t, game, TIMER_HELD), UTC_NONE);
        assert_int_equal(t->dropped_calls, 0);
        assert_sound(t, game);
    }
}

static void test_what_others_do_does_not_drop_a_resignation(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct held_row held = hold_resignation(t, game, WEST);

    pass(t, MS_MINUTE);
    move_ok(t, game, "e3"); /* now it is his turn */
    struct call c = acts(t, OP_RESIGN, game, NORTH);
    call_ok(&c);
    c = acts(t, OP_PAUSE, game, ORGANISER);
    call_ok(&c);
    assert_int_equal(resigning(t, game), 1);
    assert_int_equal(t->dropped_calls, 0);
    assert_sound(t, game);
    /* An undo by the receipt names the state of then, by a later letter that of now; an earlier
     * one knows nothing of it.  It does not set the paused clock going. */
    c = acts(t, OP_UNDO, game, WEST);
    c.act.state_no = held.state_no - 1;
    call_refused(&c, REASON_STATE_MISMATCH);
    c.act.state_no = held.state_no;
    call_ok(&c);
    assert_int_equal(timer_at(t, game, TIMER_DEADLINE), UTC_NONE);
    (void)hold_resignation(t, game, WEST);
    c = acts(t, OP_UNDO, game, WEST);
    call_ok(&c);
    /* It takes effect in the pause as it would at once. */
    held = hold_resignation(t, game, WEST);
    live_until(t, held.release_at);
    pass(t, 1);
    tick_all(t, false);
    assert_int_equal(last_event(t, game, GAME_EVENT_RESIGNED).seat, 1);
    assert_int_equal(game_get(t, game).turn_seat, 3);
    assert_int_not_equal(game_get(t, game).paused_at, UTC_NONE);
    assert_sound(t, game);
}

static void test_it_is_judged_when_it_is_held(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c = resign_call(t, game, STRANGER);

    call_refused(&c, REASON_NOT_YOUR_GAME);
    c = resign_call(t, game, SOUTH);
    c.act.seat = 1;
    call_refused(&c, REASON_NOT_YOUR_GAME);
    c = resign_call(t, game, SOUTH);
    c.act.state_no++;
    call_refused(&c, REASON_STATE_MISMATCH);
    c = resign_call(t, game, SOUTH);
    c.release_at = now_of(t) + ARBITER_HOLD_MAX_MS + 1;
    call_refused(&c, REASON_BAD_FIELD);
    c.release_at--;
    call_ok(&c);
    c = resign_call(t, game, SOUTH);
    call_refused(&c, REASON_ALREADY_DONE); /* it is held */
    c = acts(t, OP_RESIGN, game, WEST);
    call_ok(&c);
    c = resign_call(t, game, WEST);
    call_refused(&c, REASON_ALREADY_DONE); /* he has left */
    c = acts(t, OP_UNDO, game, NORTH);
    call_refused(&c, REASON_NOTHING_HELD);
    c = acts(t, OP_ABORT, game, OPERATOR);
    call_ok(&c);
    c = resign_call(t, game, NORTH);
    call_refused(&c, REASON_GAME_NOT_RUNNING);
}

static void test_who_moves_does_not_resign_and_who_resigns_does_not_move(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c;

    (void)hold_resignation(t, game, SOUTH);
    c = hold_call(t, game, "e5");
    call_refused(&c, REASON_ILLEGAL_MOVE);
    assert_int_equal(resigning(t, game), 1); /* a refused one does not */
    (void)hold(t, game, "e3");
    assert_int_equal(resigning(t, game), 0);
    assert_true(is_held(t, game));
    assert_sound(t, game);
    (void)hold_resignation(t, game, SOUTH);
    assert_int_equal(resigning(t, game), 1);
    assert_false(is_held(t, game));
    assert_sound(t, game);
    move_ok(t, game, "d3"); /* by another door */
    assert_int_equal(resigning(t, game), 0);
    assert_int_equal(t->dropped_calls, 1); /* he hears that he does not resign */
    assert_int_equal(t->dropped.kind, HELD_RESIGN);
    assert_int_equal(t->dropped_why, DROP_REPLACED);
    (void)hold_resignation(t, game, SOUTH);
    c = acts(t, OP_RESIGN, game, SOUTH);
    call_ok(&c);
    assert_int_equal(resigning(t, game), 0);
    assert_int_equal(t->dropped_calls, 1); /* what he says twice is done once */
    live_until(t, now_of(t) + 2 * HOLD_MS);
    tick_all(t, false);
    assert_int_equal(count_events(t, game, GAME_EVENT_RESIGNED), 1);
    assert_int_equal(game_get(t, game).ply, 1);
    assert_sound(t, game);
}

static void test_the_end_of_the_game_drops_all_of_them(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "teams");
    struct call c;

    (void)hold(t, game, "e3");
    (void)hold_resignation(t, game, WEST);
    (void)hold_resignation(t, game, NORTH);
    (void)hold_resignation(t, game, EAST);
    assert_sound(t, game);
    c = acts(t, OP_ADJUDICATE, game, OPERATOR);
    c.result = GAME_RESULT_TEAM0;
    call_ok(&c);
    assert_int_equal(t->dropped_calls, 4);
    assert_int_equal(t->dropped.seat, 3);
    assert_int_equal(t->dropped.kind, HELD_RESIGN);
    assert_int_equal(t->dropped_why, DROP_ENDED);
    assert_int_equal(resigning(t, game), 0);
    assert_sound(t, game);
}

static void test_R_C13_one_player_of_two_seats_names_the_one_that_resigns(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_two_seats(t, "verney");
    struct call c;
    char text[256];

    c = resign_call(t, game, SOUTH);
    call_refused(&c, REASON_MISSING_FIELD);
    c.act.seat = 2;
    call_ok(&c);
    /* His move of the other army has its own grace, which begins later and is kept: it is played
     * first, and the resignation does not drop it. */
    live_until(t, now_of(t) + 4 * MS_MINUTE);
    struct held_row move = hold(t, game, "e3");
    assert_int_equal(resigning(t, game), 1);
    assert_sound(t, game);
    int64_t since = game_get(t, game).last_seq;
    live_until(t, move.release_at - 1);
    tick_all(t, false);
    assert_int_equal(game_get(t, game).last_seq, since);
    /* A letter of then may take the move back: the resignation does not play it meanwhile. */
    int64_t letter = letter_accept(t, move.release_at - 1);
    pass(t, 1);
    tick_all(t, false);
    assert_int_equal(game_get(t, game).last_seq, since);
    letter_was_read(t, letter);
    pass(t, ARBITER_UNREAD_MS);
    tick_all(t, false);
    assert_string_equal(story(t, game, since, text, sizeof text),
                        "move:0 turn:1 resigned:2");
    assert_int_equal(t->dropped_calls, 0);
    assert_sound(t, game);
}

static void test_undo_takes_back_what_was_held_last_or_of_the_seat_that_is_said(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_two_seats(t, "verney");
    struct call c;

    for (int named = 0; named < 2; named++) {
        c = resign_call(t, game, SOUTH);
        c.act.seat = 2;
        call_ok(&c);
        (void)hold(t, game, "e3"); /* in the same instant: of one letter */
        c = acts(t, OP_UNDO, game, SOUTH);
        c.act.seat = named ? 2 : ARBITER_ANY_SEAT;
        call_ok(&c);
        assert_int_equal(c.held.kind, named ? HELD_RESIGN : HELD_MOVE);
        c.act.seat = ARBITER_ANY_SEAT;
        call_ok(&c);
        assert_int_equal(c.held.kind, named ? HELD_MOVE : HELD_RESIGN);
        call_refused(&c, REASON_NOTHING_HELD);
    }
    /* A resignation's receipt takes that back, also when a later move answers a later state. */
    c = resign_call(t, game, SOUTH);
    c.act.seat = 2;
    call_ok(&c);
    int64_t seen = c.held.state_no;
    struct call o = acts(t, OP_RESIGN, game, WEST);
    call_ok(&o);
    (void)hold(t, game, "e3");
    c = acts(t, OP_UNDO, game, SOUTH);
    c.act.state_no = seen;
    call_ok(&c);
    assert_int_equal(c.held.kind, HELD_RESIGN);
    assert_true(is_held(t, game));
    assert_sound(t, game);
}

/* T4: of the flag and the resignation one wins. */
static void test_T4_a_resignation_in_time_keeps_the_flag_from_falling(void **state)
{
    static const struct {
        int64_t after_ms; /* the end of the grace */
        bool wins;
    } cases[] = {{-MS_MINUTE, true}, {0, true}, {1, false}};
    struct table *t = *state;
    int64_t games[3];

    for (int i = 0; i < 3; i++)
        games[i] = game_start_days(t, "verney", 1);
    utc_ms end = game_get(t, games[0]).deadline_at + 12 * MS_HOUR;
    live_until(t, end - MS_MINUTE);
    for (int i = 0; i < 3; i++) {
        struct call c;

        if (i > 0)
            pass(t, end + cases[i].after_ms - now_of(t)); /* nobody has looked meanwhile */
        c = resign_call(t, games[i], SOUTH);
        call_ok(&c);
    }
    tick_all(t, false);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(count_events(t, games[i], GAME_EVENT_RESIGNED), cases[i].wins);
        assert_int_equal(count_events(t, games[i], GAME_EVENT_FORFEITED), !cases[i].wins);
        assert_int_equal(resigning(t, games[i]), 0);
        assert_sound(t, games[i]);
    }
    assert_int_equal(t->dropped_calls, 1);
    assert_int_equal(t->dropped.game_id, games[2]);
    assert_int_equal(t->dropped_why, DROP_STATE);
    live_until(t, now_of(t) + 2 * HOLD_MS);
    tick_all(t, false);
    for (int i = 0; i < 3; i++)
        assert_int_equal(count_events(t, games[i], GAME_EVENT_RESIGNED) +
                             count_events(t, games[i], GAME_EVENT_FORFEITED),
                         1);
}

static void test_T4_an_undo_that_is_unread_keeps_a_resignation_waiting(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct held_row held = hold_resignation(t, game, WEST);

    live_until(t, held.release_at);
    int64_t letter = letter_accept(t, held.release_at - 1);
    pass(t, 1);
    tick_all(t, false);
    assert_int_equal(resigning(t, game), 1);
    struct call c = acts(t, OP_UNDO, game, WEST);
    c.act.received_at = held.release_at - 1;
    call_ok(&c);
    letter_was_read(t, letter);
    live_until(t, now_of(t) + MS_MINUTE);
    assert_int_equal(count_events(t, game, GAME_EVENT_RESIGNED), 0);
}

static void test_T4_an_undo_unread_at_the_end_of_the_grace_keeps_it_waiting_too(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    utc_ms end = game_get(t, game).deadline_at + 12 * MS_HOUR;

    live_until(t, end - MS_MINUTE);
    (void)hold_resignation(t, game, SOUTH); /* until after the grace */
    pass(t, MS_MINUTE - 10 * MS_SECOND);
    int64_t letter = letter_accept(t, now_of(t));
    pass(t, 10 * MS_SECOND + 1);
    tick_all(t, false);
    assert_int_equal(resigning(t, game), 1);
    assert_int_equal(count_events(t, game, GAME_EVENT_RESIGNED), 0);
    struct call c = acts(t, OP_UNDO, game, SOUTH);
    c.act.received_at = end - 10 * MS_SECOND;
    call_ok(&c);
    letter_was_read(t, letter);
    live_until(t, now_of(t) + MS_HOUR);
    assert_int_equal(count_events(t, game, GAME_EVENT_RESIGNED), 0);
    assert_int_equal(count_events(t, game, GAME_EVENT_FORFEITED), 1); /* he has not moved */
}

/* R-F14: a mated army of fortress is removed; nobody resigns for it. */
static void test_a_resignation_of_an_army_that_is_removed_is_dropped(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "fortress reserve=usual");
    struct call c;

    set_position(t, game,
                 "fortress 4,x,x,x,x,x,x,x,x,4/1,rK,2,x,x,x,x,x,x,x,x,4/16/16/x,x,12,x,x/"
                 "x,x,4,uK,7,x,x/x,x,12,x,x/x,x,12,x,x/x,x,12,x,x/x,x,12,x,x/x,x,12,x,x/"
                 "x,x,9,wK,2,x,x/16/9,wQ,6/4,x,x,x,x,x,x,x,x,2,wQ,1/1,wP,2,x,x,x,x,x,x,x,x,bK,3 "
                 "w aaaa - - 0 0");
    (void)hold_resignation(t, game, WEST);
    move_ok(t, game, "j3m3");
    assert_string_equal(game_get(t, game).conditions, "axaa");
    assert_int_equal(resigning(t, game), 0);
    assert_int_equal(t->dropped_calls, 1);
    assert_int_equal(t->dropped.seat, WEST);
    assert_int_equal(t->dropped_why, DROP_STATE);
    c = resign_call(t, game, WEST);
    call_refused(&c, REASON_ALREADY_DONE);
    assert_int_equal(resigning(t, game), 0);
}

static void test_a_held_resignation_outlives_the_process(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney"), other = game_start(t, "verney");

    (void)hold_resignation(t, game, NORTH);
    (void)hold_resignation(t, other, NORTH);
    table_restart(t, MS_MINUTE);
    tick_all(t, true);
    assert_int_equal(resigning(t, game), 1);
    struct call c = acts(t, OP_UNDO, other, NORTH);
    call_ok(&c);
    table_restart(t, 2 * MS_HOUR);
    tick_all(t, true);
    table_restart(t, MS_HOUR);
    tick_all(t, true);
    assert_int_equal(count_events(t, game, GAME_EVENT_RESIGNED), 1);
    assert_int_equal(count_events(t, other, GAME_EVENT_RESIGNED), 0);
    assert_sound(t, game);
    assert_sound(t, other);
}

/* ---------------------------------------------------------------- restarts */

static void test_a_held_move_outlives_the_process(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney"), other = game_start(t, "verney");
    struct held_row held = hold(t, game, "e3");

    (void)hold(t, other, "e3");
    table_restart(t, MS_MINUTE);
    tick_all(t, true);
    assert_true(is_held(t, game));
    struct call c = undo_call(t, other, SOUTH);
    call_ok(&c);
    table_restart(t, 2 * MS_HOUR); /* longer than it was to be held */
    tick_all(t, true);
    assert_false(is_held(t, game));
    struct game_row g = game_get(t, game);
    assert_int_equal(g.ply, 1);
    assert_true(g.turn_at > held.release_at);
    assert_int_equal(g.turn_at, now_of(t)); /* West's time begins now, not while we were away */
    assert_int_equal(g.deadline_at, now_of(t) + g.per_move_ms);
    assert_sound(t, game);
    assert_sound(t, other);
}

/* If what it answers is gone when a drop's hook fails, nothing has happened. */
static void test_a_hook_that_fails_undoes_the_drop(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct err err = ERR_INIT;

    (void)hold(t, game, "e3");
    pass(t, MS_MINUTE);
    t->fail_hook_after = t->hook_calls;
    struct call c = acts(t, OP_RESIGN, game, WEST);
    assert_true(call_run(&c, &err) != ST_OK);
    assert_true(is_held(t, game));
    assert_int_equal(count_events(t, game, GAME_EVENT_RESIGNED), 0);
    t->fail_hook_after = -1;
    assert_sound(t, game);
}

#define T(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_held_move_is_seen_at_no_door),
        T(test_it_is_played_at_its_time_and_the_next_clock_starts_then),
        T(test_undo_wins_before_the_release_and_not_at_it),
        T(test_only_its_mover_takes_a_move_back_and_names_its_state),
        T(test_a_move_is_judged_when_it_is_held),
        T(test_one_that_is_due_at_once_is_played_by_the_next_tick),
        T(test_a_move_by_another_door_takes_the_place_of_the_held_one),
        T(test_a_resignation_drops_it_and_gives_the_time_back),
        T(test_one_dropped_in_its_first_instant_is_given_nothing),
        T(test_his_own_resignation_drops_it_and_ends_his_turn),
        T(test_a_pause_drops_it_and_his_time_goes_on_afterwards),
        T(test_the_end_of_the_game_drops_it),
        T(test_a_credit_leaves_it_as_it_is),
        T(test_T4_a_letter_is_judged_at_its_acceptance),
        T(test_T4_an_acceptance_in_the_future_is_now),
        T(test_T4_a_move_held_in_time_is_played_and_not_forfeited),
        T(test_nobody_is_warned_of_a_turn_that_he_has_made),
        T(test_T4_no_flag_falls_while_letters_accepted_in_time_are_unread),
        T(test_T4_the_flag_falls_when_the_letters_say_nothing_of_the_game),
        T(test_letters_that_are_never_read_hold_nothing_up_for_ever),
        T(test_a_release_waits_for_letters_that_may_take_it_back),
        T(test_T4_a_placement_is_judged_at_its_acceptance_too),
        T(test_T4_an_invitation_is_answered_when_the_letter_was_accepted),
        T(test_a_draw_offered_with_a_held_move_is_told_with_it),
        T(test_offers_that_cross_a_held_one),
        T(test_who_has_agreed_already_cannot_offer_with_his_move),
        T(test_one_player_of_two_seats_offers_for_both),
        T(test_a_move_that_ends_the_game_takes_no_offer_with_it),
        T(test_M8_a_held_resignation_is_seen_at_no_door),
        T(test_it_takes_effect_at_its_time_on_turn_and_off_it),
        T(test_what_others_do_does_not_drop_a_resignation),
        T(test_it_is_judged_when_it_is_held),
        T(test_who_moves_does_not_resign_and_who_resigns_does_not_move),
        T(test_the_end_of_the_game_drops_all_of_them),
        T(test_R_C13_one_player_of_two_seats_names_the_one_that_resigns),
        T(test_undo_takes_back_what_was_held_last_or_of_the_seat_that_is_said),
        T(test_T4_a_resignation_in_time_keeps_the_flag_from_falling),
        T(test_T4_an_undo_that_is_unread_keeps_a_resignation_waiting),
        T(test_T4_an_undo_unread_at_the_end_of_the_grace_keeps_it_waiting_too),
        T(test_a_resignation_of_an_army_that_is_removed_is_dropped),
        T(test_a_held_resignation_outlives_the_process),
        T(test_a_held_move_outlives_the_process),
        T(test_a_hook_that_fails_undoes_the_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

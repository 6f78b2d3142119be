#include "arbiter/table.h"

#include <stdio.h>
#include <string.h>

#include "store/audit.h"
#include "store/timers.h"

static struct audit_row newest_audit(struct table *t, int64_t game)
{
    struct audit_row rows[8];
    struct err err = ERR_INIT;
    size_t n = 0;

    memset(rows, 0, sizeof rows);
    assert_ok(audit_list(store_reader_conn(t->reader), game, 0, rows, 8, &n, &err), err);
    assert_true(n > 0);
    return rows[0];
}

static struct call power(struct table *t, enum op op, int64_t game, int user)
{
    struct call c = acts(t, op, game, user);

    c.text = "a reason";
    c.amount_ms = 2 * MS_DAY;
    c.result = GAME_RESULT_DRAW;
    return c;
}

static void test_only_organiser_operator_and_administrator_have_these_powers(void **state)
{
    struct table *t = *state;
    static const enum op ops[] = {OP_PAUSE, OP_RESUME, OP_CREDIT, OP_ADJUDICATE, OP_ABORT};
    static const int outsiders[] = {SOUTH, STRANGER};

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        int64_t game = game_start(t, "verney");
        for (size_t k = 0; k < 2; k++) {
            struct call c = power(t, ops[i], game, outsiders[k]);
            call_refused(&c, REASON_FORBIDDEN);
        }
        if (ops[i] == OP_RESUME) {
            struct call c = power(t, OP_PAUSE, game, ORGANISER);
            call_ok(&c);
        }
        struct call c = power(t, ops[i], game, OPERATOR);
        call_ok(&c);
        assert_int_equal(newest_audit(t, game).role, AUDIT_OPERATOR);
        assert_string_equal(newest_audit(t, game).note, "a reason");
    }
    int64_t game = game_start(t, "verney");
    struct call c = power(t, OP_CREDIT, game, ORGANISER);
    call_ok(&c);
    assert_int_equal(newest_audit(t, game).role, AUDIT_ORGANISER);
    c.actor = (struct arbiter_actor){.is_administrator = true};
    call_ok(&c);
    assert_int_equal(newest_audit(t, game).role, AUDIT_ADMINISTRATOR);
    assert_int_equal(newest_audit(t, game).user_id, 0);
    assert_sound(t, game);
}

static void test_a_credit_moves_the_deadline_and_is_itemised(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c = power(t, OP_CREDIT, game, ORGANISER);
    struct timer_row timer[2];

    call_ok(&c);
    assert_int_equal(c.game.deadline_at, T0 + 16 * MS_DAY);
    struct event_row e = last_event(t, game, GAME_EVENT_CREDITED);
    assert_int_equal(e.amount_ms, 2 * MS_DAY);
    assert_int_equal(e.deadline_at, T0 + 16 * MS_DAY);
    assert_int_equal(e.seat, 0);
    assert_string_equal(e.note, "a reason");
    assert_non_null(strstr(c.game.explanation, ";credit "));
    assert_string_equal(newest_audit(t, game).detail, "amount_ms=172800000 seat=0");
    assert_int_equal(timers_now(t, game, timer, 2), 1);
    assert_int_equal(timer[0].due_at, T0 + 8 * MS_DAY); /* half time has moved */
    /* the next turn has its usual time */
    move_ok(t, game, "e2e3");
    assert_int_equal(game_get(t, game).deadline_at, T0 + 14 * MS_DAY);
    assert_sound(t, game);
}

static void test_credits_out_of_bounds_are_refused(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    static const int64_t bad[] = {0,         -1,       MS_MINUTE - 1, 365 * MS_DAY + 1,
                                  INT64_MAX, INT64_MIN};

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct call c = power(t, OP_CREDIT, game, ORGANISER);
        c.amount_ms = bad[i];
        call_refused(&c, REASON_BAD_FIELD);
    }
    struct call c = power(t, OP_CREDIT, game, ORGANISER);
    c.amount_ms = 365 * MS_DAY;
    call_ok(&c);
    c = power(t, OP_CREDIT, game, ORGANISER);
    c.amount_ms = MS_MINUTE;
    call_ok(&c);
    int64_t open = game_create_open(t, "verney", ORGANISER, false);
    c = power(t, OP_CREDIT, open, ORGANISER);
    call_refused(&c, REASON_GAME_NOT_RUNNING);
}

static void test_a_pause_stops_the_clock_and_resuming_gives_it_all_back(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c;
    struct timer_row timer[2];

    pass(t, 4 * MS_MINUTE);
    c = power(t, OP_RESUME, game, ORGANISER);
    call_refused(&c, REASON_ALREADY_DONE);
    c = power(t, OP_PAUSE, game, ORGANISER);
    call_ok(&c);
    assert_int_equal(c.game.paused_at, T0 + 4 * MS_MINUTE);
    assert_int_equal(c.game.deadline_at, UTC_NONE);
    assert_int_equal(timers_now(t, game, timer, 2), 0);
    c = power(t, OP_PAUSE, game, ORGANISER);
    call_refused(&c, REASON_ALREADY_DONE);
    move_refused(t, game, "e2e3", REASON_GAME_PAUSED);
    for (int i = 0; i < 20 * 24 * 20; i++) { /* twenty days, in which nobody is flagged */
        pass(t, 3 * MS_MINUTE);
        if (i % 100 == 0)
            table_restart(t, 0);
        if (i % 4 == 0 || i % 100 == 0)
            tick_all(t, false);
    }
    assert_string_equal(game_get(t, game).conditions, "aaaa");
    utc_ms paused_at = T0 + 4 * MS_MINUTE, now = now_of(t);
    c = power(t, OP_RESUME, game, ORGANISER);
    call_ok(&c);
    assert_int_equal(c.game.paused_at, UTC_NONE);
    assert_int_equal(c.game.deadline_at, T0 + 14 * MS_DAY + (now - paused_at));
    assert_int_equal(last_event(t, game, GAME_EVENT_RESUMED).deadline_at, c.game.deadline_at);
    move_ok(t, game, "e2e3");
    assert_sound(t, game);
}

static void test_a_pause_with_an_end_resumes_by_itself(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c = power(t, OP_PAUSE, game, ORGANISER);

    c.until = T0;
    call_refused(&c, REASON_BAD_FIELD);
    c.until = T0 + 10 * MS_MINUTE;
    call_ok(&c);
    assert_int_equal(last_event(t, game, GAME_EVENT_PAUSED).deadline_at, T0 + 10 * MS_MINUTE);
    pass(t, 5 * MS_MINUTE);
    tick_all(t, false);
    pass(t, 5 * MS_MINUTE - 1);
    tick_all(t, false);
    assert_int_not_equal(game_get(t, game).paused_at, UTC_NONE);
    pass(t, 1);
    assert_int_equal(tick(t).resumed, 1);
    struct game_row g = game_get(t, game);
    assert_int_equal(g.paused_at, UTC_NONE);
    assert_int_equal(g.deadline_at, T0 + 14 * MS_DAY + 10 * MS_MINUTE);
    assert_int_equal(last_event(t, game, GAME_EVENT_RESUMED).user_id, 0);
    assert_sound(t, game);
}

static void test_a_pause_can_be_given_an_end_and_another(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c = power(t, OP_PAUSE, game, ORGANISER);
    utc_ms end = 0;
    struct err err = ERR_INIT;

    call_ok(&c);
    assert_ok(arbiter_pause_end(store_reader_conn(t->reader), game, &end, &err), err);
    assert_int_equal(end, UTC_NONE);
    pass(t, MS_MINUTE);
    c = power(t, OP_PAUSE, game, ORGANISER);
    c.until = T0 + MS_MINUTE + 365 * MS_DAY + 1;
    call_refused(&c, REASON_BAD_FIELD);
    c.until = T0 + 3 * MS_MINUTE;
    call_ok(&c);
    assert_int_equal(c.game.paused_at, T0); /* it has stood since then all the same */
    assert_int_equal(last_event(t, game, GAME_EVENT_PAUSED).deadline_at, T0 + 3 * MS_MINUTE);
    call_refused(&c, REASON_ALREADY_DONE);
    c.until = T0 + 2 * MS_MINUTE;
    call_ok(&c);
    assert_ok(arbiter_pause_end(store_reader_conn(t->reader), game, &end, &err), err);
    assert_int_equal(end, T0 + 2 * MS_MINUTE);
    assert_string_equal(newest_audit(t, game).act, "game_pause");
    pass(t, MS_MINUTE);
    assert_int_equal(tick(t).resumed, 1);
    assert_int_equal(game_get(t, game).deadline_at, T0 + 14 * MS_DAY + 2 * MS_MINUTE);
    assert_ok(arbiter_pause_end(store_reader_conn(t->reader), game, &end, &err), err);
    assert_int_equal(end, UTC_NONE);
    assert_sound(t, game);
}

static void test_resigning_in_a_pause_leaves_the_next_a_whole_turn(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c;

    pass(t, MS_MINUTE);
    c = power(t, OP_PAUSE, game, ORGANISER);
    call_ok(&c);
    pass(t, MS_MINUTE);
    c = acts(t, OP_RESIGN, game, SOUTH);
    call_ok(&c);
    assert_int_equal(c.game.turn_seat, 1);
    assert_int_equal(c.game.deadline_at, UTC_NONE);
    pass(t, MS_MINUTE);
    c = power(t, OP_CREDIT, game, ORGANISER);
    call_ok(&c);
    assert_int_equal(c.game.deadline_at, UTC_NONE);
    pass(t, MS_MINUTE);
    c = power(t, OP_RESUME, game, ORGANISER);
    call_ok(&c);
    assert_int_equal(c.game.deadline_at, T0 + 4 * MS_MINUTE + 16 * MS_DAY);
    assert_sound(t, game);
}

static void test_warnings_are_not_repeated_after_a_pause(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c;

    while (now_of(t) < T0 + 7 * MS_DAY) {
        pass(t, 4 * MS_MINUTE);
        tick_all(t, false);
    }
    assert_int_equal(count_events(t, game, GAME_EVENT_WARNING), 1);
    c = power(t, OP_PAUSE, game, ORGANISER);
    call_ok(&c);
    pass(t, 4 * MS_MINUTE);
    c = power(t, OP_RESUME, game, ORGANISER);
    call_ok(&c);
    c = power(t, OP_CREDIT, game, ORGANISER); /* half time lies ahead again */
    call_ok(&c);
    for (utc_ms until = now_of(t) + 3 * MS_DAY; now_of(t) < until;) {
        pass(t, 4 * MS_MINUTE);
        tick_all(t, false);
    }
    assert_int_equal(count_events(t, game, GAME_EVENT_WARNING), 1);
    assert_sound(t, game);
}

static void test_an_abort_ends_a_game_without_a_result(void **state)
{
    struct table *t = *state;
    int64_t running = game_start(t, "verney");
    int64_t placing = game_start(t, "fortress reserve=chosen");
    int64_t open = game_create_open(t, "verney", ORGANISER, false);
    struct arbiter_offer offer = {.kind = OFFER_USER, .user_id = t->user[WEST]};
    int64_t games[3] = {running, placing, open};
    struct call c = acts(t, OP_INVITE, open, ORGANISER);

    c.seat = 1;
    c.offer = &offer;
    call_ok(&c);
    c = acts(t, OP_OFFER, running, SOUTH);
    call_ok(&c);
    for (int i = 0; i < 3; i++) {
        c = power(t, OP_ABORT, games[i], ORGANISER);
        call_ok(&c);
        assert_int_equal(c.game.state, GAME_ABORTED);
        assert_int_equal(c.game.result, GAME_RESULT_NONE);
        assert_int_equal(c.game.cause, GAME_CAUSE_ORGANISER);
        assert_int_equal(timers_now(t, games[i], (struct timer_row[2]){{0}}, 2), 0);
        assert_string_equal(last_event(t, games[i], GAME_EVENT_ABORTED).note, "a reason");
        c = power(t, OP_ABORT, games[i], ORGANISER);
        call_refused(&c, REASON_GAME_NOT_RUNNING);
        assert_sound(t, games[i]);
    }
    assert_int_equal(t->finished_calls, 0); /* no ratings from an aborted game */
    int64_t game = game_start(t, "verney");
    c = power(t, OP_ABORT, game, OPERATOR);
    call_ok(&c);
    assert_int_equal(c.game.cause, GAME_CAUSE_OPERATOR);
}

static void test_an_adjudication_finishes_the_game(void **state)
{
    struct table *t = *state;
    static const enum game_result results[] = {GAME_RESULT_TEAM0, GAME_RESULT_TEAM1,
                                               GAME_RESULT_DRAW};

    for (int i = 0; i < 3; i++) {
        int64_t game = game_start(t, "verney");
        struct call c = power(t, OP_ADJUDICATE, game, ORGANISER);
        char text[128];
        int64_t since = game_get(t, game).last_seq;

        c.result = results[i];
        call_ok(&c);
        assert_int_equal(c.game.state, GAME_FINISHED);
        assert_int_equal(c.game.result, results[i]);
        assert_int_equal(c.game.cause, GAME_CAUSE_ADJUDICATION);
        assert_string_equal(story(t, game, since, text, sizeof text), "adjudicated finished");
        assert_sound(t, game);
    }
    assert_int_equal(t->finished_calls, 3);
    int64_t game = game_start(t, "verney");
    struct call c = power(t, OP_ADJUDICATE, game, ORGANISER);
    c.result = GAME_RESULT_NONE;
    call_refused(&c, REASON_BAD_FIELD);
    game = game_create_open(t, "verney", ORGANISER, false);
    c = power(t, OP_ADJUDICATE, game, ORGANISER);
    call_refused(&c, REASON_GAME_NOT_RUNNING);
}

/* An organiser who plays is a party. */
static void test_an_organiser_who_plays_may_not_decide_for_himself(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    struct call c;

    for (int s = 0; s < SEATS; s++)
        join(t, game, s, s);
    static const enum game_result favours[] = {GAME_RESULT_TEAM0, GAME_RESULT_DRAW};
    for (int i = 0; i < 2; i++) {
        c = power(t, OP_ADJUDICATE, game, SOUTH);
        c.result = favours[i];
        call_refused(&c, REASON_FORBIDDEN);
    }
    int64_t other = game_create_open(t, "verney", SOUTH, false);
    for (int s = 0; s < SEATS; s++)
        join(t, other, s, s);
    move_ok(t, other, "e2e3");
    move_ok(t, other, "b5c5");
    move_ok(t, other, "e13e12");
    move_ok(t, other, "m5l5");
    c = power(t, OP_ABORT, other, SOUTH); /* without a result, and told to all */
    call_ok(&c);
    c = power(t, OP_ADJUDICATE, game, SOUTH); /* against himself he may */
    c.result = GAME_RESULT_TEAM1;
    call_ok(&c);
}

static void test_notes_are_bounded_and_text(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c = power(t, OP_CREDIT, game, ORGANISER);
    char note[ARBITER_NOTE_MAX + 2];

    memset(note, 'n', sizeof note);
    note[ARBITER_NOTE_MAX + 1] = '\0';
    c.text = note;
    call_refused(&c, REASON_BAD_FIELD);
    c.text = "\xff\xfe";
    call_refused(&c, REASON_BAD_FIELD);
    note[ARBITER_NOTE_MAX] = '\0';
    c.text = note;
    call_ok(&c);
    c.text = NULL;
    call_ok(&c);
    assert_string_equal(last_event(t, game, GAME_EVENT_CREDITED).note, "");
}

static void test_a_pause_comes_too_late_after_the_grace(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_days(t, "verney", 1);
    struct call c;

    while (now_of(t) < T0 + 36 * MS_HOUR) {
        pass(t, 4 * MS_MINUTE);
        tick_all(t, false);
    }
    pass(t, 1);
    c = power(t, OP_PAUSE, game, ORGANISER);
    call_refused(&c, REASON_LOST_ON_TIME);
    c = power(t, OP_CREDIT, game, ORGANISER); /* a credit can still save him */
    call_ok(&c);
    tick_all(t, false);
    assert_string_equal(game_get(t, game).conditions, "aaaa");
}

#define T(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_only_organiser_operator_and_administrator_have_these_powers),
        T(test_a_credit_moves_the_deadline_and_is_itemised),
        T(test_credits_out_of_bounds_are_refused),
        T(test_a_pause_stops_the_clock_and_resuming_gives_it_all_back),
        T(test_a_pause_with_an_end_resumes_by_itself),
        T(test_a_pause_can_be_given_an_end_and_another),
        T(test_resigning_in_a_pause_leaves_the_next_a_whole_turn),
        T(test_warnings_are_not_repeated_after_a_pause),
        T(test_an_abort_ends_a_game_without_a_result),
        T(test_an_adjudication_finishes_the_game),
        T(test_an_organiser_who_plays_may_not_decide_for_himself),
        T(test_notes_are_bounded_and_text),
        T(test_a_pause_comes_too_late_after_the_grace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

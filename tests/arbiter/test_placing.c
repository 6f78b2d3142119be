#include "arbiter/table.h"

#include <stdio.h>
#include <string.h>

#include "store/timers.h"

static const struct arbiter_placement south = {ARBITER_ANY_SEAT, "p4", "o1", "n3", 0};
static const struct arbiter_placement west = {ARBITER_ANY_SEAT, "d1", "a2", "c3", 0};
static const struct arbiter_placement north = {ARBITER_ANY_SEAT, "a13", "b16", "c14", 0};
static const struct arbiter_placement east = {ARBITER_ANY_SEAT, "m16", "p14", "n15", 0};

static char man_on(struct table *t, int64_t game, const char *square, int *ret_seat)
{
    struct game_row g = game_get(t, game);
    struct position pos;
    struct err err = ERR_INIT;
    int sq = SQUARE_NONE;

    assert_ok(arbiter_position(&g, &pos, &err), err);
    assert_true(square_read(square, strlen(square), &sq) > 0);
    uint8_t man = position_man_at(&pos, sq);
    *ret_seat = man == MAN_NONE ? -1 : (int)man_seat(man);
    return kind_letter(man_kind(man));
}

static void test_the_game_starts_when_the_last_has_placed_and_stands_as_chosen(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "fortress reserve=chosen");
    struct game_row g = game_get(t, game);
    struct call c;
    char text[256];
    int seat;

    /* R-F7 */
    assert_int_equal(g.state, GAME_PLACING);
    assert_int_equal(g.deadline_at, T0 + 7 * MS_DAY);
    assert_int_equal(g.turn_seat, -1);
    assert_string_equal(g.position, "");
    pass(t, MS_HOUR);
    c = place_call(t, game, SOUTH, &south);
    call_ok(&c);
    c = place_call(t, game, WEST, &west);
    call_ok(&c);
    c = place_call(t, game, NORTH, &north);
    call_ok(&c);
    assert_int_equal(c.game.state, GAME_PLACING);
    /* nothing in an event tells where */
    assert_string_equal(last_event(t, game, GAME_EVENT_PLACED).note, "");
    assert_string_equal(last_event(t, game, GAME_EVENT_PLACED).move, "");
    c = place_call(t, game, EAST, &east);
    call_ok(&c);
    assert_int_equal(c.game.state, GAME_RUNNING);
    assert_int_equal(c.game.deadline_at, T0 + MS_HOUR + 14 * MS_DAY);
    assert_string_equal(story(t, game, 5, text, sizeof text),
                        "placing placed:0 placed:1 placed:2 placed:3 started turn:0");
    assert_int_equal(man_on(t, game, "p4", &seat), 'R');
    assert_int_equal(seat, 0);
    assert_int_equal(man_on(t, game, "n3", &seat), 'N');
    assert_int_equal(man_on(t, game, "o1", &seat), 'B');
    assert_int_equal(man_on(t, game, "n15", &seat), 'N');
    assert_int_equal(seat, 3);
    assert_sound(t, game);
}

static void test_a_placement_may_be_changed_until_all_have_placed(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "fortress reserve=chosen");
    const struct arbiter_placement again = {0, "m1", "m2", "m3", 0};
    struct call c = place_call(t, game, SOUTH, &south);
    int seat;

    call_ok(&c);
    c = place_call(t, game, SOUTH, &again);
    call_ok(&c);
    c = place_call(t, game, WEST, &west);
    call_ok(&c);
    c = place_call(t, game, NORTH, &north);
    call_ok(&c);
    c = place_call(t, game, EAST, &east);
    call_ok(&c);
    assert_int_equal(man_on(t, game, "m1", &seat), 'R');
    assert_int_equal(man_on(t, game, "p4", &seat), '?');
    c = place_call(t, game, SOUTH, &south);
    call_refused(&c, REASON_GAME_STARTED);
}

static void test_placements_against_the_rules_are_refused(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "fortress reserve=chosen");
    const struct {
        struct arbiter_placement p;
        enum reason reason;
    } cases[] = {
        {{ARBITER_ANY_SEAT, "a1", "o1", "n3", 0}, REASON_BAD_PLACEMENT},  /* West's fortress */
        {{ARBITER_ANY_SEAT, "e4", "o1", "n3", 0}, REASON_BAD_PLACEMENT},  /* the camp */
        {{ARBITER_ANY_SEAT, "p4", "p4", "n3", 0}, REASON_BAD_PLACEMENT},  /* two on one square */
        {{ARBITER_ANY_SEAT, "p44", "o1", "n3", 0}, REASON_BAD_FIELD},
        {{ARBITER_ANY_SEAT, "", "o1", "n3", 0}, REASON_BAD_FIELD},
        {{ARBITER_ANY_SEAT, NULL, "o1", "n3", 0}, REASON_BAD_FIELD},
        {{1, "p4", "o1", "n3", 0}, REASON_NOT_YOUR_GAME},
        {{4, "p4", "o1", "n3", 0}, REASON_BAD_FIELD},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct call c = place_call(t, game, SOUTH, &cases[i].p);
        call_refused(&c, cases[i].reason);
    }
    struct call c = place_call(t, game, STRANGER, &south);
    call_refused(&c, REASON_NOT_YOUR_GAME);
}

static void test_only_a_placing_game_takes_placements(void **state)
{
    struct table *t = *state;
    int64_t open = game_create_open(t, "fortress reserve=chosen", SOUTH, false);
    int64_t usual = game_start(t, "fortress reserve=usual");
    struct call c;

    join(t, open, SOUTH, 0);
    c = place_call(t, open, SOUTH, &south);
    call_refused(&c, REASON_GAME_NOT_RUNNING);
    c = place_call(t, usual, SOUTH, &south);
    call_refused(&c, REASON_GAME_STARTED);
    c = acts(t, OP_ABORT, open, SOUTH);
    call_ok(&c);
    c = place_call(t, open, SOUTH, &south);
    call_refused(&c, REASON_GAME_NOT_RUNNING);
}

static void test_while_placing_nobody_moves(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "fortress reserve=chosen");
    struct call c = acts(t, OP_MOVE, game, SOUTH);

    c.text = "e4e5";
    call_refused(&c, REASON_GAME_NOT_RUNNING);
    c = acts(t, OP_RESIGN, game, SOUTH);
    call_refused(&c, REASON_GAME_NOT_RUNNING);
}

/* T4, for placing: at the deadline it is taken, a millisecond later the server draws. */
static void test_who_has_not_placed_by_the_deadline_gets_a_drawn_placement(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "fortress reserve=chosen");
    struct call c;
    struct game_row g;

    c = place_call(t, game, SOUTH, &south);
    call_ok(&c);
    pass(t, 7 * MS_DAY);
    tick_all(t, true); /* the server was away: everything is credited */
    g = game_get(t, game);
    assert_int_equal(g.deadline_at, T0 + 14 * MS_DAY);
    assert_int_equal(g.state, GAME_PLACING);

    while (now_of(t) < g.deadline_at) {
        pass(t, 5 * MS_MINUTE);
        (void)tick(t);
    }
    assert_int_equal(now_of(t), g.deadline_at);
    c = place_call(t, game, WEST, &west); /* at the very end */
    call_ok(&c);
    assert_int_equal(c.game.state, GAME_PLACING);
    pass(t, 1);
    c = place_call(t, game, NORTH, &north);
    call_refused(&c, REASON_LOST_ON_TIME);
    assert_int_equal(tick(t).placed, 2);
    g = game_get(t, game);
    assert_int_equal(g.state, GAME_RUNNING);
    assert_int_equal(last_event(t, game, GAME_EVENT_PLACED).user_id, 0); /* by the server */
    assert_int_equal(count_events(t, game, GAME_EVENT_PLACED), 4);
    assert_sound(t, game);
}

static void test_those_who_have_not_placed_are_warned(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "fortress reserve=chosen");
    struct call c = place_call(t, game, SOUTH, &south);

    call_ok(&c);
    while (now_of(t) <= T0 + 7 * MS_DAY - MS_HOUR) {
        pass(t, 5 * MS_MINUTE);
        (void)tick(t);
    }
    assert_int_equal(count_events(t, game, GAME_EVENT_WARNING), 9); /* three times three seats */
    assert_string_equal(last_event(t, game, GAME_EVENT_WARNING).note, "12h");
}

static void test_one_player_of_two_seats_places_each(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_of_two(t, "fortress reserve=chosen");
    const struct arbiter_placement named = {2, "a13", "b16", "c14", 0};
    struct call c = place_call(t, game, SOUTH, &south);

    call_refused(&c, REASON_BAD_FIELD); /* which? */
    c = place_call(t, game, SOUTH, &named);
    call_ok(&c);
    c = place_call(t, game, SOUTH, &south); /* the one that is missing */
    call_ok(&c);
    c = place_call(t, game, SOUTH, &south);
    call_refused(&c, REASON_BAD_FIELD);
}

static void test_a_random_reserve_is_drawn_from_the_entropy_given(void **state)
{
    struct table *t = *state;
    int64_t a = game_start(t, "fortress");
    int64_t b = game_start(t, "fortress reserve=random");
    struct game_row ga = game_get(t, a), gb = game_get(t, b);

    assert_int_equal(ga.reserve, GAME_RESERVE_RANDOM);
    assert_string_not_equal(ga.position, gb.position);
    assert_sound(t, a);
    t->seed = 42;
    int64_t c = game_start(t, "fortress");
    t->seed = 42;
    /* the same bytes, the same draw – but for the name, which would be taken: another is drawn */
    int64_t d = game_create_open(t, "fortress", SOUTH, false);
    assert_string_not_equal(game_get(t, c).public_id, game_get(t, d).public_id);
}

static void test_pausing_stops_the_placing_clock(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "fortress reserve=chosen");
    struct call c = acts(t, OP_PAUSE, game, ORGANISER);

    pass(t, MS_DAY);
    tick_all(t, true);
    utc_ms was = game_get(t, game).deadline_at;
    call_ok(&c);
    assert_int_equal(c.game.deadline_at, UTC_NONE);
    assert_int_equal(timers_now(t, game, (struct timer_row[8]){{0}}, 8), 0);
    c = place_call(t, game, SOUTH, &south); /* one may place meanwhile */
    call_ok(&c);
    pass(t, 3 * MS_MINUTE);
    c = acts(t, OP_RESUME, game, ORGANISER);
    call_ok(&c);
    assert_int_equal(c.game.deadline_at, was + 3 * MS_MINUTE);
}

#define T(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_the_game_starts_when_the_last_has_placed_and_stands_as_chosen),
        T(test_a_placement_may_be_changed_until_all_have_placed),
        T(test_placements_against_the_rules_are_refused),
        T(test_only_a_placing_game_takes_placements),
        T(test_while_placing_nobody_moves),
        T(test_who_has_not_placed_by_the_deadline_gets_a_drawn_placement),
        T(test_those_who_have_not_placed_are_warned),
        T(test_one_player_of_two_seats_places_each),
        T(test_a_random_reserve_is_drawn_from_the_entropy_given),
        T(test_pausing_stops_the_placing_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "arbiter/table.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

static struct vote_row open_vote(struct table *t, int64_t game)
{
    struct vote_row vote = {.seat = -1};
    struct err err = ERR_INIT;

    assert_ok(votes_get_open(store_reader_conn(t->reader), game, VOTE_DRAW, &vote, &err), err);
    return vote;
}

static bool vote_is_open(struct table *t, int64_t game)
{
    struct vote_row vote;

    return votes_get_open(store_reader_conn(t->reader), game, VOTE_DRAW, &vote, NULL) == ST_OK;
}

static void by(struct table *t, enum op op, int64_t game, int user)
{
    struct call c = acts(t, op, game, user);

    call_ok(&c);
}

static void not_by(struct table *t, enum op op, int64_t game, int user, enum reason reason)
{
    struct call c = acts(t, op, game, user);

    call_refused(&c, reason);
}

static void test_a_draw_is_agreed_when_all_four_have_accepted(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct game_row before = game_get(t, game);
    struct game_row g;
    char text[256];

    /* R-C10 */
    not_by(t, OP_ACCEPT_DRAW, game, WEST, REASON_NO_DRAW_OFFERED);
    not_by(t, OP_DECLINE_DRAW, game, WEST, REASON_NO_DRAW_OFFERED);
    by(t, OP_OFFER, game, NORTH); /* off his turn */
    assert_int_equal(game_get(t, game).state_no, before.state_no); /* the board is the same */
    assert_int_equal(open_vote(t, game).seat, 2);
    not_by(t, OP_OFFER, game, WEST, REASON_ALREADY_DONE);
    not_by(t, OP_OFFER, game, NORTH, REASON_ALREADY_DONE);
    not_by(t, OP_ACCEPT_DRAW, game, NORTH, REASON_ALREADY_DONE);
    by(t, OP_ACCEPT_DRAW, game, WEST);
    by(t, OP_ACCEPT_DRAW, game, EAST);
    not_by(t, OP_ACCEPT_DRAW, game, EAST, REASON_ALREADY_DONE);
    assert_int_equal(game_get(t, game).state, GAME_RUNNING);
    by(t, OP_ACCEPT_DRAW, game, SOUTH);
    g = game_get(t, game);
    assert_int_equal(g.result, GAME_RESULT_DRAW);
    assert_int_equal(g.cause, GAME_CAUSE_AGREEMENT);
    RULE("R-C10");
    assert_false(vote_is_open(t, game));
    assert_string_equal(story(t, game, before.last_seq, text, sizeof text),
                        "draw_offered:2 draw_accepted:1 draw_accepted:3 draw_accepted:0 finished");
    assert_sound(t, game);
}

static void test_one_no_ends_the_offer(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");

    by(t, OP_OFFER, game, SOUTH);
    by(t, OP_ACCEPT_DRAW, game, WEST);
    by(t, OP_DECLINE_DRAW, game, EAST);
    assert_false(vote_is_open(t, game));
    assert_int_equal(last_event(t, game, GAME_EVENT_DRAW_DECLINED).seat, 3);
    not_by(t, OP_ACCEPT_DRAW, game, NORTH, REASON_NO_DRAW_OFFERED);
    assert_int_equal(game_get(t, game).state, GAME_RUNNING);
}

static void test_who_offered_may_take_it_back(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct game_row before = game_get(t, game);
    struct vote_row votes[2];
    struct err err = ERR_INIT;
    char text[256];
    size_t n = 0;

    by(t, OP_OFFER, game, SOUTH);
    by(t, OP_DECLINE_DRAW, game, SOUTH);
    assert_ok(votes_list(store_reader_conn(t->reader), game, votes, 2, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(votes[0].state, VOTE_WITHDRAWN);
    /* R-C10: nobody has refused it. */
    assert_int_equal(last_event(t, game, GAME_EVENT_DRAW_LAPSED).seat, SOUTH);
    assert_int_not_equal(last_event(t, game, GAME_EVENT_DRAW_LAPSED).user_id, 0);
    assert_string_equal(story(t, game, before.last_seq, text, sizeof text),
                        "draw_offered:0 draw_lapsed:0");
    not_by(t, OP_ACCEPT_DRAW, game, WEST, REASON_NO_DRAW_OFFERED);
    assert_sound(t, game);
}

static void test_the_offer_lapses_when_an_enemy_moves_and_not_when_the_partner_does(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    char text[256];
    int64_t since;

    by(t, OP_OFFER, game, SOUTH);
    move_ok(t, game, "e2e3"); /* the offerer himself */
    assert_true(vote_is_open(t, game));
    since = game_get(t, game).last_seq;
    move_ok(t, game, "b5c5"); /* West moves instead */
    assert_false(vote_is_open(t, game));
    assert_string_equal(story(t, game, since, text, sizeof text), "move:1 draw_lapsed:0 turn:2");

    by(t, OP_OFFER, game, SOUTH);
    move_ok(t, game, "e13e12"); /* North, his partner */
    assert_true(vote_is_open(t, game));
    move_ok(t, game, "m5l5");
    assert_false(vote_is_open(t, game));
    assert_sound(t, game);
}

static void test_an_offer_may_be_repeated_only_after_a_move_of_ones_own(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");

    by(t, OP_OFFER, game, SOUTH);
    by(t, OP_DECLINE_DRAW, game, WEST);
    not_by(t, OP_OFFER, game, SOUTH, REASON_LIMIT);
    by(t, OP_OFFER, game, NORTH); /* another may */
    by(t, OP_DECLINE_DRAW, game, WEST);
    move_ok(t, game, "e2e3");
    by(t, OP_OFFER, game, SOUTH);
    move_ok(t, game, "b5c5"); /* lapses */
    not_by(t, OP_OFFER, game, SOUTH, REASON_LIMIT);
}

static void test_seats_that_are_out_need_not_agree(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");

    by(t, OP_OFFER, game, SOUTH);
    by(t, OP_ACCEPT_DRAW, game, NORTH);
    by(t, OP_ACCEPT_DRAW, game, WEST);
    /* East is the only one left to answer; when he leaves the game, all who are in it agree. */
    by(t, OP_RESIGN, game, EAST);
    struct game_row g = game_get(t, game);
    assert_int_equal(g.state, GAME_FINISHED);
    assert_int_equal(g.cause, GAME_CAUSE_AGREEMENT);
    assert_sound(t, game);
}

static void test_an_absent_seat_neither_offers_nor_answers(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");

    by(t, OP_RESIGN, game, EAST);
    not_by(t, OP_OFFER, game, EAST, REASON_SEAT_OUT);
    not_by(t, OP_ACCEPT_DRAW, game, EAST, REASON_SEAT_OUT); /* with no offer too */
    by(t, OP_OFFER, game, SOUTH);
    not_by(t, OP_ACCEPT_DRAW, game, EAST, REASON_SEAT_OUT);
    not_by(t, OP_DECLINE_DRAW, game, EAST, REASON_SEAT_OUT);
    not_by(t, OP_ACCEPT_DRAW, game, STRANGER, REASON_NOT_YOUR_GAME);
    by(t, OP_ACCEPT_DRAW, game, NORTH);
    by(t, OP_ACCEPT_DRAW, game, WEST);
    assert_int_equal(game_get(t, game).state, GAME_FINISHED);
    assert_sound(t, game);
}

static void test_who_plays_two_seats_answers_for_both(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_of_two(t, "verney");

    by(t, OP_OFFER, game, WEST);
    assert_int_equal(open_vote(t, game).answers[1], 1);
    assert_int_equal(open_vote(t, game).answers[3], 1);
    by(t, OP_ACCEPT_DRAW, game, SOUTH);
    assert_int_equal(game_get(t, game).cause, GAME_CAUSE_AGREEMENT);
    assert_sound(t, game);
}

/* R-C10: of two seats the one that has a say speaks; the other cannot, when it is named. */
static void test_of_two_seats_the_one_that_is_out_has_no_say(void **state)
{
    static const enum op answers[] = {OP_ACCEPT_DRAW, OP_DECLINE_DRAW};
    struct table *t = *state;
    int64_t game = game_start_of_two(t, "verney");
    struct call c = acts(t, OP_RESIGN, game, WEST);

    c.act.seat = EAST;
    call_ok(&c);
    by(t, OP_OFFER, game, SOUTH);
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        c = acts(t, answers[i], game, WEST);
        c.act.seat = EAST;
        call_refused(&c, REASON_SEAT_OUT);
    }
    by(t, OP_ACCEPT_DRAW, game, WEST);
    assert_int_equal(game_get(t, game).cause, GAME_CAUSE_AGREEMENT);
    assert_sound(t, game);
}

static void test_a_draw_names_the_state_too(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call stale;

    by(t, OP_OFFER, game, SOUTH);
    stale = acts(t, OP_ACCEPT_DRAW, game, WEST);
    move_ok(t, game, "e2e3");
    call_refused(&stale, REASON_STATE_MISMATCH);
}

/* ---------------------------------------------------------------- claims */

static void dance(struct table *t, int64_t game)
{
    static const char *const steps[8] = {"e1f3", "a5c6", "e14f12", "n5l6",
                                         "f3e1", "c6a5", "f12e14", "l6n5"};

    for (int i = 0; i < 8; i++)
        move_ok(t, game, steps[i]);
}

static void test_threefold_is_claimed_by_the_player_to_move(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct game_row g;

    /* R-C7: the start position is the first time. */
    not_by(t, OP_CLAIM, game, SOUTH, REASON_NO_CLAIM);
    dance(t, game);
    not_by(t, OP_CLAIM, game, SOUTH, REASON_NO_CLAIM);
    dance(t, game);
    not_by(t, OP_CLAIM, game, WEST, REASON_NOT_YOUR_TURN);
    not_by(t, OP_CLAIM, game, STRANGER, REASON_NOT_YOUR_GAME);
    by(t, OP_CLAIM, game, SOUTH);
    g = game_get(t, game);
    assert_int_equal(g.result, GAME_RESULT_DRAW);
    assert_int_equal(g.cause, GAME_CAUSE_THREEFOLD);
    assert_int_equal(last_event(t, game, GAME_EVENT_DRAW_CLAIMED).cause, GAME_CAUSE_THREEFOLD);
    assert_sound(t, game);
}

static void test_fivefold_draws_by_itself(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "fortress reserve=usual");
    static const char *const steps[8] = {"f3g5", "c6e7", "f14g12", "n6l7",
                                         "g5f3", "e7c6", "g12f14", "l7n6"};

    /* R-C7 */
    for (int round = 0; round < 4; round++) {
        assert_int_equal(game_get(t, game).state, GAME_RUNNING);
        for (int i = 0; i < 8; i++)
            move_ok(t, game, steps[i]);
    }
    assert_int_equal(game_get(t, game).state, GAME_FINISHED);
    assert_int_equal(game_get(t, game).cause, GAME_CAUSE_FIVEFOLD);
    RULE("R-C7");
    assert_sound(t, game);
}

static void test_a_pawns_move_does_not_hide_later_repetitions(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");

    /* In verney a pawn's move does not set the count back, so the whole game is looked at. */
    move_ok(t, game, "e2e3");
    move_ok(t, game, "b5c5");
    move_ok(t, game, "e13e12");
    move_ok(t, game, "m5l5");
    dance(t, game);
    not_by(t, OP_CLAIM, game, SOUTH, REASON_NO_CLAIM);
    dance(t, game);
    by(t, OP_CLAIM, game, SOUTH);
    assert_sound(t, game);
}

static void test_a_resignation_is_a_position_that_may_come_again(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    static const char *const steps[6] = {"e1f3", "a5c6", "e14f12", "f3e1", "c6a5", "f12e14"};

    by(t, OP_RESIGN, game, EAST); /* once */
    for (int round = 0; round < 2; round++) { /* twice, three times */
        not_by(t, OP_CLAIM, game, SOUTH, REASON_NO_CLAIM);
        for (int i = 0; i < 6; i++)
            move_ok(t, game, steps[i]);
    }
    by(t, OP_CLAIM, game, SOUTH);
    assert_sound(t, game);
}

#define ARRAY_V                                                                                    \
    "verney x,x,x,yR,yN,yB,yK,yQ,yB,yN,yR,x,x,x/x,x,x,yP,yP,yP,yP,yP,yP,yP,yP,x,x,x/"              \
    "x,x,x,8,x,x,x/rR,rP,10,bP,bR/rN,rP,10,bP,bN/rB,rP,10,bP,bB/rK,rP,10,bP,bQ/"                   \
    "rQ,rP,10,bP,bK/rB,rP,10,bP,bB/rN,rP,10,bP,bN/rR,rP,10,bP,bR/x,x,x,8,x,x,x/"                   \
    "x,x,x,wP,wP,wP,wP,wP,wP,wP,wP,x,x,x/x,x,x,wR,wN,wB,wQ,wK,wB,wN,wR,x,x,x "

static void test_two_hundred_turns_may_be_claimed_three_hundred_draw(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");

    /* R-C8 */
    set_position(t, game, ARRAY_V "w aaaa - - 198 198");
    move_ok(t, game, "e1f3"); /* 199 */
    not_by(t, OP_CLAIM, game, WEST, REASON_NO_CLAIM);
    move_ok(t, game, "a5c6"); /* 200 */
    by(t, OP_CLAIM, game, NORTH);
    assert_int_equal(game_get(t, game).cause, GAME_CAUSE_FIFTY_ROUNDS);

    game = game_start(t, "verney");
    set_position(t, game, ARRAY_V "w aaaa - - 298 298");
    move_ok(t, game, "e1f3"); /* 299 */
    assert_int_equal(game_get(t, game).state, GAME_RUNNING);
    move_ok(t, game, "a5c6"); /* 300 */
    assert_int_equal(game_get(t, game).state, GAME_FINISHED);
    assert_int_equal(game_get(t, game).cause, GAME_CAUSE_SEVENTY_FIVE_ROUNDS);
    RULE("R-C8");
}

#define T(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_draw_is_agreed_when_all_four_have_accepted),
        T(test_one_no_ends_the_offer),
        T(test_who_offered_may_take_it_back),
        T(test_the_offer_lapses_when_an_enemy_moves_and_not_when_the_partner_does),
        T(test_an_offer_may_be_repeated_only_after_a_move_of_ones_own),
        T(test_seats_that_are_out_need_not_agree),
        T(test_an_absent_seat_neither_offers_nor_answers),
        T(test_who_plays_two_seats_answers_for_both),
        T(test_of_two_seats_the_one_that_is_out_has_no_say),
        T(test_a_draw_names_the_state_too),
        T(test_threefold_is_claimed_by_the_player_to_move),
        T(test_fivefold_draws_by_itself),
        T(test_a_pawns_move_does_not_hide_later_repetitions),
        T(test_a_resignation_is_a_position_that_may_come_again),
        T(test_two_hundred_turns_may_be_claimed_three_hundred_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "arbiter/table.h"

#include <stdio.h>
#include <string.h>

#include "store/timers.h"

static void test_a_move_passes_the_turn_and_starts_the_next_clock(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct game_row before = game_get(t, game);
    struct timer_row timers[4];
    struct call c;
    char text[128];

    pass(t, 2 * MS_MINUTE);
    c = acts(t, OP_MOVE, game, SOUTH);
    c.text = "Nf3";
    call_ok(&c);
    assert_int_equal(c.game.ply, 1);
    assert_int_equal(c.game.turn_seat, 1);
    assert_int_equal(c.game.turn_user_id, t->user[WEST]);
    assert_int_equal(c.game.turn_at, T0 + 2 * MS_MINUTE);
    assert_int_equal(c.game.deadline_at, T0 + 2 * MS_MINUTE + 14 * MS_DAY);
    assert_int_equal(c.game.moved_at, T0 + 2 * MS_MINUTE);
    assert_string_equal(c.move.move, "e1f3");
    assert_string_equal(c.move.san, "Nf3");
    assert_int_equal(c.move.ply, 1);
    assert_int_equal(c.move.used_ms, 2 * MS_MINUTE);
    assert_false(c.move.is_late);
    assert_int_equal(c.move.position_hash, c.game.position_hash);
    assert_string_equal(story(t, game, before.last_seq, text, sizeof text), "move:0 turn:1");
    assert_int_equal(c.game.state_no, before.last_seq + 2);
    assert_int_equal(timers_now(t, game, timers, 4), 1); /* one row, moved on */
    assert_int_equal(timers[0].due_at, T0 + 2 * MS_MINUTE + 7 * MS_DAY);
    assert_sound(t, game);
}

static void test_every_form_of_a_move_is_read(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");

    move_ok(t, game, "e2-e3");
    move_ok(t, game, "Nc6");
    move_ok(t, game, "E13E12");
    move_ok(t, game, " m6 l6 ");
    assert_int_equal(game_get(t, game).ply, 4);
    assert_sound(t, game);
}

static void test_moves_that_cannot_be_are_refused_with_their_reason(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");

    move_refused(t, game, "hello", REASON_UNREADABLE_MOVE);
    move_refused(t, game, "", REASON_UNREADABLE_MOVE);
    move_refused(t, game, "e2e4", REASON_ILLEGAL_MOVE); /* R-V4 */
    move_refused(t, game, "e13e12", REASON_ILLEGAL_MOVE); /* another's man */
    move_refused(t, game, "Qh5", REASON_ILLEGAL_MOVE);
    move_refused(t, game, "a1a2", REASON_ILLEGAL_MOVE); /* off the board */
    static const char *const moves[] = {"e1f3", "a5c6", "e14f12", "n5l6", "f3e5", "b5c5",
                                        "e13e12", "m7l7", "j1i3", "b7c7", "g13g12", "m8l8"};
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
        move_ok(t, game, moves[i]);
    move_refused(t, game, "Ng4", REASON_AMBIGUOUS_MOVE); /* from e5 or i3 */
    move_ok(t, game, "Neg4");
    assert_sound(t, game);
}

/* X1 */
static void test_a_move_names_what_it_answers(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct game_row g = game_get(t, game);
    struct call c = acts(t, OP_MOVE, game, SOUTH);

    c.text = "e2e3";
    c.act.state_no = g.state_no - 1;
    call_refused(&c, REASON_STATE_MISMATCH);
    c.act.state_no = g.state_no + 1;
    call_refused(&c, REASON_STATE_MISMATCH);
    c.act.state_no = -1;
    call_refused(&c, REASON_MISSING_FIELD);
    c.act.state_no = g.state_no;
    c.act.ply = 1;
    call_refused(&c, REASON_STATE_MISMATCH);
    c.act.ply = 0;
    c.act.has_hash = true;
    c.act.position_hash = g.position_hash ^ 1;
    call_refused(&c, REASON_STATE_MISMATCH);
    c.act.position_hash = g.position_hash;
    call_ok(&c);
    call_refused(&c, REASON_STATE_MISMATCH); /* a double click */
}

static void test_a_resignation_within_the_ply_makes_the_state_another(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call stale = acts(t, OP_MOVE, game, SOUTH), c;

    stale.text = "e2e3";
    c = acts(t, OP_RESIGN, game, EAST); /* off turn; the ply stays 0 */
    call_ok(&c);
    assert_int_equal(c.game.ply, 0);
    assert_int_equal(c.game.turn_seat, 0);
    call_refused(&stale, REASON_STATE_MISMATCH);
    move_ok(t, game, "e2e3");
    assert_sound(t, game);
}

static void test_an_off_turn_resignation_does_not_restart_the_clock(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct game_row before = game_get(t, game);
    struct call c;
    char text[128];

    pass(t, 4 * MS_MINUTE);
    c = acts(t, OP_RESIGN, game, EAST);
    call_ok(&c);
    assert_int_equal(c.game.deadline_at, before.deadline_at);
    assert_int_equal(c.game.turn_at, before.turn_at);
    assert_string_equal(story(t, game, before.last_seq, text, sizeof text), "resigned:3");
    assert_string_equal(c.game.conditions, "aaax");
    assert_sound(t, game);
}

static void test_resigning_on_turn_passes_it_to_the_left(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "fortress reserve=usual");
    struct game_row before;
    struct call c;
    char text[128];

    move_ok(t, game, "e4e5");
    pass(t, 3 * MS_MINUTE);
    before = game_get(t, game);
    c = acts(t, OP_RESIGN, game, WEST);
    call_ok(&c);
    assert_string_equal(story(t, game, before.last_seq, text, sizeof text),
                        "resigned:1 removed:1 turn:2");
    assert_int_equal(c.game.turn_seat, 2);
    assert_int_equal(c.game.turn_at, now_of(t));
    c = acts(t, OP_RESIGN, game, WEST);
    call_refused(&c, REASON_ALREADY_DONE);
    c = acts(t, OP_MOVE, game, WEST);
    c.text = "e2e3";
    call_refused(&c, REASON_NOT_YOUR_TURN);
    assert_sound(t, game);
}

/* R-C9: a side with both seats absent has lost. */
static void test_the_second_resignation_of_a_side_ends_the_game(void **state)
{
    static const char *const rules[] = {"verney", "fortress reserve=usual"};

    for (size_t i = 0; i < 2; i++) {
        struct table *t = *state;
        int64_t game = game_start(t, rules[i]);
        struct call c = acts(t, OP_RESIGN, game, SOUTH);
        int finished = t->finished_calls;

        call_ok(&c);
        assert_int_equal(c.game.turn_seat, 1);
        c = acts(t, OP_RESIGN, game, NORTH);
        call_ok(&c);
        assert_int_equal(c.game.state, GAME_FINISHED);
        assert_int_equal(c.game.result, GAME_RESULT_TEAM1);
        assert_int_equal(c.game.cause, GAME_CAUSE_LEAVING);
        assert_int_equal(c.game.turn_seat, -1);
        assert_int_equal(c.game.deadline_at, UTC_NONE);
        assert_int_equal(t->finished_calls, finished + 1);
        RULE("R-C9");
        assert_int_equal(timers_now(t, game, (struct timer_row[4]){{0}}, 4), 0);
        assert_sound(t, game);
    }
}

static void test_in_teams_one_resignation_decides(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "teams");
    struct call c = acts(t, OP_RESIGN, game, EAST);

    call_ok(&c);
    assert_int_equal(c.game.result, GAME_RESULT_TEAM0); /* R-M3 */
    assert_sound(t, game);
}

static void test_a_finished_game_accepts_nothing(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "teams");
    static const enum op ops[] = {OP_MOVE, OP_RESIGN, OP_OFFER, OP_ACCEPT_DRAW, OP_DECLINE_DRAW,
                                  OP_CLAIM, OP_ABORT, OP_PAUSE, OP_RESUME, OP_CREDIT,
                                  OP_ADJUDICATE, OP_JOIN, OP_LEAVE, OP_ACCEPT, OP_DECLINE,
                                  OP_WITHDRAW};
    struct call c = acts(t, OP_RESIGN, game, EAST);

    call_ok(&c);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        c = acts(t, ops[i], game, SOUTH);
        if (ops[i] >= OP_ABORT || ops[i] == OP_WITHDRAW)
            c.actor = player(t, ORGANISER);
        c.text = "e2e3";
        c.amount_ms = MS_DAY;
        c.result = GAME_RESULT_DRAW;
        call_refused(&c, REASON_GAME_NOT_RUNNING);
    }
    tick_all(t, false);
    assert_int_equal(last_event(t, game, GAME_EVENT_FINISHED).seq, game_get(t, game).last_seq);
}

static void test_who_does_not_play_does_not_move(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c;

    c = acts(t, OP_MOVE, game, STRANGER);
    c.text = "e2e3";
    call_refused(&c, REASON_NOT_YOUR_GAME);
    c = acts(t, OP_MOVE, game, OPERATOR);
    c.text = "e2e3";
    call_refused(&c, REASON_NOT_YOUR_GAME);
    c = acts(t, OP_MOVE, game, NORTH);
    c.text = "e13e12";
    call_refused(&c, REASON_NOT_YOUR_TURN);
    c = acts(t, OP_MOVE, game, SOUTH);
    c.act.seat = 2;
    c.text = "e13e12";
    call_refused(&c, REASON_NOT_YOUR_GAME);
    c.act.seat = 9;
    call_refused(&c, REASON_BAD_FIELD);
    c = acts(t, OP_RESIGN, game, STRANGER);
    call_refused(&c, REASON_NOT_YOUR_GAME);
}

static void test_one_player_moves_for_both_his_seats(void **state)
{
    struct table *t = *state;
    int64_t game = game_start_two_seats(t, "verney");
    struct call c;

    c = acts(t, OP_MOVE, game, SOUTH);
    c.text = "e2e3";
    call_ok(&c);
    move_ok(t, game, "b5c5");
    c = acts(t, OP_MOVE, game, SOUTH); /* North's turn: the seat is understood */
    c.text = "e13e12";
    call_ok(&c);
    assert_int_equal(c.move.seat, 2);
    c = acts(t, OP_RESIGN, game, SOUTH);
    call_refused(&c, REASON_MISSING_FIELD); /* which of the two? */
    c.act.seat = 2;
    call_ok(&c);
    c = acts(t, OP_RESIGN, game, SOUTH); /* only one is left */
    call_ok(&c);
    assert_int_equal(c.game.state, GAME_FINISHED);
    assert_sound(t, game);
}

static void test_a_mate_and_its_release_are_events(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    char text[256];
    int64_t since;

    set_position(t, game,
                 "verney x,x,x,8,x,x,x/x,x,x,5,yK,2,x,x,x/x,x,x,8,x,x,x/8,wK,5/14/1,rQ,9,rR,2/"
                 "8,rK,5/14/14/14/14/x,x,x,2,bK,5,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x "
                 "r aaaa - - 0 0");
    since = game_get(t, game).last_seq;
    move_ok(t, game, "b9i9");
    assert_string_equal(story(t, game, since, text, sizeof text), "move:1 mated:0 turn:2");
    assert_string_equal(game_get(t, game).conditions, "maaa");
    assert_string_equal(last_event(t, game, GAME_EVENT_MOVE).san, "Qi9#");
    since = game_get(t, game).last_seq;
    struct call c = acts(t, OP_MOVE, game, SOUTH);
    c.text = "i11i12";
    call_refused(&c, REASON_NOT_YOUR_TURN);
    c = acts(t, OP_OFFER, game, SOUTH);
    call_refused(&c, REASON_SEAT_OUT); /* a mated seat has no say (R-C10) */
    move_ok(t, game, "i13j12"); /* R-V15 */
    assert_string_equal(story(t, game, since, text, sizeof text), "move:2 released:0 turn:3");
    assert_string_equal(game_get(t, game).conditions, "aaaa");
}

static void test_a_mated_seat_may_resign(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c;

    set_position(t, game,
                 "verney x,x,x,8,x,x,x/x,x,x,5,yK,2,x,x,x/x,x,x,8,x,x,x/8,wK,5/14/1,rQ,9,rR,2/"
                 "8,rK,5/14/14/14/14/x,x,x,2,bK,5,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x "
                 "r aaaa - - 0 0");
    move_ok(t, game, "b9i9");
    c = acts(t, OP_RESIGN, game, SOUTH);
    call_ok(&c); /* R-C11: at any time */
    assert_string_equal(c.game.conditions, "xaaa");
    assert_int_equal(c.game.turn_seat, 2);
    c = acts(t, OP_RESIGN, game, SOUTH);
    call_refused(&c, REASON_ALREADY_DONE);
}

static void test_the_double_mate_wins(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    char text[256];
    int64_t since;

    set_position(t, game,
                 "verney x,x,x,7,rQ,x,x,x/x,x,x,3,wK,4,x,x,x/x,x,x,8,x,x,x/6,yP,7/8,rQ,5/"
                 "3,rQ,10/14/14/12,bK,1/2,yQ,11/14/x,x,x,1,rK,6,x,x,x/x,x,x,3,wP,yP,3,x,x,x/"
                 "x,x,x,4,yK,2,bQ,x,x,x r aama - - 0 0");
    since = game_get(t, game).last_seq;
    move_ok(t, game, "d9g12");
    struct game_row g = game_get(t, game);
    assert_int_equal(g.state, GAME_FINISHED);
    assert_int_equal(g.result, GAME_RESULT_TEAM1);
    assert_int_equal(g.cause, GAME_CAUSE_MATE);
    assert_string_equal(story(t, game, since, text, sizeof text), "move:1 mated:0 finished");
    assert_int_equal(t->finished_calls, 1);
}

static void test_a_stalemated_seat_is_passed_over(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    char text[256];
    int64_t since;

    set_position(t, game,
                 "verney x,x,x,8,x,x,x/x,x,x,4,yK,3,x,x,x/x,x,x,8,x,x,x/14/8,wR,5/7,bK,2,wK,3/"
                 "9,wQ,4/14/14/3,wV,10/14/x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,7,rK,x,x,x "
                 "w aaaa - - 0 0");
    since = game_get(t, game).last_seq;
    move_ok(t, game, "i10i2"); /* R-C6 */
    assert_string_equal(story(t, game, since, text, sizeof text), "move:0 passed:1 turn:2");
    assert_string_equal(game_get(t, game).conditions, "asaa");
}

static void test_a_stalemate_may_draw_the_game(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");

    set_position(t, game,
                 "verney x,x,x,8,x,x,x/x,x,x,yK,1,wK,5,x,x,x/x,x,x,8,x,x,x/12,rK,bK/2,yQ,11/14/"
                 "14/14/14/14/14/x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x y aaaa - - 0 0");
    move_ok(t, game, "c10k10"); /* R-V20 */
    assert_int_equal(game_get(t, game).result, GAME_RESULT_DRAW);
    assert_int_equal(game_get(t, game).cause, GAME_CAUSE_STALEMATE);
}

static void test_in_fortress_a_mated_army_leaves_the_board(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "fortress reserve=usual");
    char text[256];
    int64_t since;

    set_position(t, game,
                 "fortress 4,x,x,x,x,x,x,x,x,4/1,rK,2,x,x,x,x,x,x,x,x,4/16/16/x,x,12,x,x/"
                 "x,x,4,uK,7,x,x/x,x,12,x,x/x,x,12,x,x/x,x,12,x,x/x,x,12,x,x/x,x,12,x,x/"
                 "x,x,9,wK,2,x,x/16/9,wQ,6/4,x,x,x,x,x,x,x,x,2,wQ,1/1,wP,2,x,x,x,x,x,x,x,x,bK,3 "
                 "w aaaa - - 0 0");
    since = game_get(t, game).last_seq;
    move_ok(t, game, "j3m3"); /* R-F14 */
    assert_string_equal(story(t, game, since, text, sizeof text),
                        "move:0 mated:1 removed:1 turn:2");
    assert_string_equal(game_get(t, game).conditions, "axaa");
}

static void test_the_chain_names_every_move_in_order(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct move_row rows[4];
    struct err err = ERR_INIT;
    size_t n = 0;

    move_ok(t, game, "e2e3");
    move_ok(t, game, "b5c5");
    move_ok(t, game, "e13e12");
    assert_ok(moves_list(store_reader_conn(t->reader), game, 1, rows, 4, &n, &err), err);
    assert_int_equal(n, 3);
    assert_memory_not_equal(rows[0].chain, rows[1].chain, 32);
    assert_memory_equal(rows[2].chain, game_get(t, game).chain, 32);
    assert_sound(t, game);
}

#define T(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

static void test_conditions_have_a_letter_and_a_word(void **state)
{
    static const struct {
        enum condition condition;
        char letter;
        const char *word;
    } table[] = {
        {CONDITION_LIVE, 'a', "live"},
        {CONDITION_MATED, 'm', "mated"},
        {CONDITION_STALEMATED, 's', "stalemated"},
        {CONDITION_ABSENT, 'x', "absent"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_int_equal(arbiter_condition_letter((int)table[i].condition), table[i].letter);
        assert_string_equal(arbiter_condition_word(table[i].letter), table[i].word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_a_move_passes_the_turn_and_starts_the_next_clock),
        T(test_conditions_have_a_letter_and_a_word),
        T(test_every_form_of_a_move_is_read),
        T(test_moves_that_cannot_be_are_refused_with_their_reason),
        T(test_a_move_names_what_it_answers),
        T(test_a_resignation_within_the_ply_makes_the_state_another),
        T(test_an_off_turn_resignation_does_not_restart_the_clock),
        T(test_resigning_on_turn_passes_it_to_the_left),
        T(test_the_second_resignation_of_a_side_ends_the_game),
        T(test_in_teams_one_resignation_decides),
        T(test_a_finished_game_accepts_nothing),
        T(test_who_does_not_play_does_not_move),
        T(test_one_player_moves_for_both_his_seats),
        T(test_a_mate_and_its_release_are_events),
        T(test_a_mated_seat_may_resign),
        T(test_the_double_mate_wins),
        T(test_a_stalemated_seat_is_passed_over),
        T(test_a_stalemate_may_draw_the_game),
        T(test_in_fortress_a_mated_army_leaves_the_board),
        T(test_the_chain_names_every_move_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

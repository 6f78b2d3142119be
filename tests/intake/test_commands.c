/*
 * Every command by letter, through a real store and arbiter: what it does, what it answers, and
 * what it refuses (M2, M5 – M9, N21, N22, T4, T6, U1, U2).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/post.h"
#include "store/held.h"
#include "store/notes.h"

static const struct post_result *r;

static int ply(struct post *p, int64_t game)
{
    return game_get(p->t, game).ply;
}

/* Time passes with a server that lives. */
static void live(struct post *p, int64_t ms)
{
    while (ms > 0) {
        int64_t part = ms < 4 * MS_MINUTE ? ms : 4 * MS_MINUTE;

        pass(p->t, part);
        tick_all(p->t, false);
        ms -= part;
    }
}

static void no_hold(struct post *p)
{
    post_close(p);
    p->options.hold_ms = 0;
    post_open(p);
}

/* ---------------------------------------------------------------- moves and undo */

static void test_a_move_is_held_then_shown(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    r = post_play(p, SOUTH, game, "e2-e4\n\nGood luck, Anna");
    expect(r, INBOX_VERDICT_ACTED);
    assert_string_equal(r->template_name, "answer");
    assert_int_equal(r->to_user, p->t->user[SOUTH]);
    expect_says(r, "> e2-e4\nSuccess: e2e4 is taken and held");
    expect_says(r, "00:10 UTC, in 10 min");
    expect_says(r, "From line 3 on your letter was taken for a personal word");
    assert_non_null(strstr(r->params, "\"board\":true"));
    assert_non_null(strstr(r->params, "\"move\":\"e2e4\""));
    assert_non_null(strstr(r->params, "\"purpose\":\"receipt\""));
    assert_non_null(strstr(r->params, "\"in_reply_to\":\"1@example.org\""));
    assert_int_equal(ply(p, game), 0);
    pass(p->t, 10 * MS_MINUTE - 1);
    tick_all(p->t, false);
    assert_int_equal(ply(p, game), 0);
    pass(p->t, 1);
    tick_all(p->t, false);
    assert_int_equal(ply(p, game), 1);
    assert_sound(p->t, game);
}

/* P33: what ends a sentence is no part of the move. */
static void test_a_full_stop_behind_a_move_counts_for_nothing(void **state)
{
    static const char *const lines[] = {"e2-e4.", "e2-e4!", "1. e4.", "\"e2-e4.\"", "*e2-e4*"};
    struct post *p = *state;

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        int64_t game = game_start(p->t, "teams");

        r = post_play(p, SOUTH, game, lines[i]);
        expect(r, INBOX_VERDICT_ACTED);
        expect_says(r, "Success: e2e4 is taken and held");
    }
}

static void test_undo_takes_a_held_move_back_and_no_other(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    char token[SECRET_SIZE];

    r = post_play(p, SOUTH, game, "e2-e4");
    expect(r, INBOX_VERDICT_ACTED);
    /* by the receipt's address */
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_RECEIPT, game), "undo");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "Success: e2e4 is taken back");
    assert_false(is_held(p, game));
    /* undo and another move in one letter */
    (void)post_play(p, SOUTH, game, "e2-e4");
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_RECEIPT, game), "undo\ne2-e3");
    expect(r, INBOX_VERDICT_ACTED);
    assert_true(is_held(p, game));
    (void)str_copy(token, sizeof token, p->token);
    /* a second move needs the undo */
    r = post_play(p, SOUTH, game, "d2-d3");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "MoveIsHeld: A move of yours is being held");
    expect_says(r, "undo");
    /* too late */
    pass(p->t, 10 * MS_MINUTE);
    tick_all(p->t, false);
    assert_int_equal(ply(p, game), 1);
    r = post_say(p, SOUTH, token, "undo");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "NothingToUndo");
    assert_int_equal(ply(p, game), 1);
    r = post_play(p, WEST, game, "undo");
    expect_says(r, "NothingToUndo");
}

static void test_without_a_grace_a_move_is_played_at_once(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    no_hold(p);
    r = post_play(p, SOUTH, game, "1. Nf3");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "is played.");
    assert_int_equal(ply(p, game), 1);
    r = post_play(p, WEST, game, "undo");
    expect_says(r, "NothingToUndo");
}

static enum status hold_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    return users_set_hold(txn, *(int64_t *)arg, 0, now, err);
}

static void test_a_player_may_have_a_grace_of_his_own(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    struct writer_command command = {.name = "hold", .run = hold_run, .arg = &p->t->user[SOUTH]};
    struct err err = ERR_INIT;

    assert_ok(writer_run(p->t->writer, &command, &err), err);
    r = post_play(p, SOUTH, game, "e2-e4");
    expect_says(r, "is played");
    assert_int_equal(ply(p, game), 1);
    r = post_play(p, WEST, game, "b4-d4");
    expect_says(r, "is taken and held");
    assert_int_equal(ply(p, game), 1);
}

static void test_a_refused_move_names_reason_and_what_would_be_legal(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    char token[SECRET_SIZE];

    r = post_play(p, SOUTH, game, "e2-e5");
    expect(r, INBOX_VERDICT_REFUSED);
    assert_true(str_starts(r->row.reason, "illegal_move"));
    expect_says(r, "Nothing was changed.");
    expect_says(r, "Line 1: e2-e5");
    expect_says(r, "InvalidMove: The move is not legal: ");
    expect_says(r, "Legal from e2: e2e3 e2e4");
    assert_non_null(strstr(r->params, "\"board\":true"));
    assert_non_null(strstr(r->params, "\"purpose\":\"turn\""));
    /* No man there can do anything. */
    r = post_play(p, SOUTH, game, "d1-d4");
    expect_says(r, "There is no legal move from d1. `moves` lists all legal moves.");
    r = post_play(p, SOUTH, game, "Nk9");
    expect_says(r, "InvalidMove");
    expect_says(r, "Legal for a knight of yours: ");
    r = post_play(p, SOUTH, game, "e9-e99");
    expect_says(r, "InvalidMove: The move cannot be read");
    /* Not his turn; not his game. */
    r = post_play(p, WEST, game, "b4-d4");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "NotYourTurn: It is not your turn: it is the turn of South.");
    r = post_play(p, OTHER, game, "e2-e4");
    expect_says(r, "NotYourGame");
    /* The same token still plays: nothing had changed. */
    (void)str_copy(token, sizeof token, post_token(p, SOUTH, TOKEN_TURN, game));
    expect(post_say(p, SOUTH, token, "e2-e9"), INBOX_VERDICT_REFUSED);
    expect(post_say(p, SOUTH, token, "e2-e4"), INBOX_VERDICT_ACTED);
}

static void test_an_ambiguous_move_is_answered_with_its_candidates(void **state)
{
    static const char *const moves[] = {"e1f3", "b4c4", "d13d12", "m4l4", "f3h4", "b5c5",
                                        "e13e12", "m5l5", "j1i3", "b6c6", "f13f12", "m6l6"};
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    for (size_t i = 0; i < COUNT_OF(moves); i++)
        move_ok(p->t, game, moves[i]);
    r = post_play(p, SOUTH, game, "Nj5");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "MoveIsAmbiguous");
    expect_says(r, "It can be one of these: i3j5, h4j5. Write the one you mean.");
    expect(post_play(p, SOUTH, game, "Nhj5"), INBOX_VERDICT_ACTED);
}

static void test_the_number_before_a_move_must_be_that_of_the_turn(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    no_hold(p);
    move_ok(p->t, game, "e2e4");
    move_ok(p->t, game, "b4d4");
    move_ok(p->t, game, "d13d12");
    move_ok(p->t, game, "m4l4");
    r = post_play(p, SOUTH, game, "7. d2-d4");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "InvalidMoveNumber: Another move number comes now.");
    expect_silent(r, "moved on"); /* it has not */
    assert_true(str_starts(r->row.reason, "move_number"));
    expect_says(r, "You wrote number 7. The coming move is number 5 of the game, in round 2.");
    assert_int_equal(ply(p, game), 4);
    expect(post_play(p, SOUTH, game, "2. d2-d3"), INBOX_VERDICT_ACTED); /* the round */
    expect(post_play(p, WEST, game, "6. b5-d5"), INBOX_VERDICT_ACTED);  /* the ply */
    assert_int_equal(ply(p, game), 6);
}

/* M9: together or not at all. */
static void test_commands_of_a_letter_are_one_unit(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    r = post_play(p, SOUTH, game, "note first\ne2-e4\ne2-e5"); /* two moves */
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "Line 3: e2-e5");
    expect_says(r, "two moves");
    assert_false(is_held(p, game));
    assert_int_equal(post_count(p, "SELECT count(*) FROM notes"), 0);
    r = post_play(p, SOUTH, game, "e2-e4\nresign");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "Line 2: resign\nBadRequest: Behind a move only");
    expect_silent(r, "MoveIsHeld"); /* nothing is */
    assert_false(is_held(p, game));
    r = post_play(p, SOUTH, game, "draw\ne2-e4\nnote good\nstatus\ndraw");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "> draw\nSuccess: your offer of a draw goes with the move.");
    assert_true(is_held(p, game));
    assert_int_equal(count_events(p->t, game, GAME_EVENT_DRAW_OFFERED), 0); /* withheld too */
    assert_int_equal(post_count(p, "SELECT count(*) FROM notes"), 1);
    pass(p->t, 10 * MS_MINUTE);
    tick_all(p->t, false);
    assert_int_equal(ply(p, game), 1);
    assert_int_equal(count_events(p->t, game, GAME_EVENT_DRAW_OFFERED), 1);
    assert_sound(p->t, game);
}

/* M2, X1: an address is good for the state that its letter showed. */
static void test_a_stale_address_moves_nothing_but_answers_questions(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    char token[SECRET_SIZE];

    no_hold(p);
    (void)str_copy(token, sizeof token, post_token(p, SOUTH, TOKEN_TURN, game));
    for (int i = 0; i < 4; i++) {
        static const char *const moves[] = {"e2e4", "b4d4", "d13d12", "m4l4"};

        move_ok(p->t, game, moves[i]);
    }
    r = post_say(p, SOUTH, token, "d2-d4");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "InvalidMoveNumber: The game has moved on.");
    expect_says(r, "This is the board now: answer this letter.");
    assert_non_null(strstr(r->params, "\"purpose\":\"turn\""));
    assert_int_equal(ply(p, game), 4);
    r = post_say(p, SOUTH, token, "status\nboard");
    expect(r, INBOX_VERDICT_ANSWERED);
    expect_says(r, "It is move 5 of the game.");
    r = post_say(p, SOUTH, token, "resign");
    expect(r, INBOX_VERDICT_REFUSED);
    assert_int_equal(count_events(p->t, game, GAME_EVENT_RESIGNED), 0);
}

/* M5: written again by who is not sure that it came: one move, and the answer says so; however the
 * move is written, and whatever has happened since. */
static void test_a_move_written_again_is_recorded_already(void **state)
{
    static const char *const again[] = {"e2-e4", "e2e4", "1. E2-E4", "e4", "e2-e4\ndraw"};
    static const char *const others[] = {"e2-e3", "d4", "e2-e4\nnote x", "resign"};
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    char token[SECRET_SIZE];

    (void)str_copy(token, sizeof token, post_token(p, SOUTH, TOKEN_TURN, game));
    expect(post_say(p, SOUTH, token, "e2-e4\ndraw"), INBOX_VERDICT_ACTED);
    for (size_t i = 0; i < COUNT_OF(again); i++) {
        if (strcmp(again[i], "e4") == 0)
            continue; /* what is held is known by its squares alone */
        r = post_say(p, SOUTH, token, again[i]);
        expect(r, INBOX_VERDICT_ANSWERED);
        expect_says(r, "Success: e2e4 is recorded already, and on hold: nobody sees it yet.");
        expect_silent(r, "played");
    }
    assert_true(is_held(p, game));
    assert_int_equal(ply(p, game), 0);
    pass(p->t, 10 * MS_MINUTE);
    tick_all(p->t, false);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT_OF(again); i++) {
            r = post_say(p, SOUTH, token, again[i]);
            expect(r, INBOX_VERDICT_ANSWERED);
            expect_says(r, "Success: e2e4 is recorded already, as move 1 of the game;");
            assert_non_null(strstr(r->params, "\"board\":true"));
            pass(p->t, MS_HOUR); /* so many answers an hour */
        }
        if (round == 0)
            move_ok(p->t, game, "b4d4");
    }
    assert_int_equal(ply(p, game), 2);
    assert_int_equal(count_events(p->t, game, GAME_EVENT_DRAW_OFFERED), 1);
    /* Anything else is no repeat. */
    for (size_t i = 0; i < COUNT_OF(others); i++)
        expect(post_say(p, SOUTH, token, others[i]), INBOX_VERDICT_REFUSED);
    assert_int_equal(ply(p, game), 2);
    assert_int_equal(count_events(p->t, game, GAME_EVENT_RESIGNED), 0);
}

/* … also when the move was made by another door, and its letter is answered then. */
static void test_a_move_made_elsewhere_is_recorded_already(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    char token[SECRET_SIZE];

    no_hold(p);
    (void)str_copy(token, sizeof token, post_token(p, SOUTH, TOKEN_TURN, game));
    move_ok(p->t, game, "e2e4");
    r = post_say(p, SOUTH, token, "e2-e4");
    expect(r, INBOX_VERDICT_ANSWERED);
    expect_says(r, "Success: e2e4 is recorded already, as move 1 of the game;");
    expect(post_say(p, SOUTH, token, "e2-e3"), INBOX_VERDICT_REFUSED);
    assert_int_equal(ply(p, game), 1);
}

static void test_an_expired_or_revoked_address_moves_nothing(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    post_token_put(p, POST_TOKEN, SOUTH, TOKEN_TURN, game, game_get(p->t, game).state_no, 0,
                   now_of(p->t) + MS_DAY);
    pass(p->t, MS_DAY); /* good before it, and not at it */
    r = post_say(p, SOUTH, POST_TOKEN, "e2-e4");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "AuthenticationFailed: The address you wrote to has been used up or is too old");
    assert_false(is_held(p, game));
    expect(post_say(p, SOUTH, POST_TOKEN, "board"), INBOX_VERDICT_ANSWERED);
}

/* T4: what counts is when the letter was accepted, however late it is read. */
static void test_a_letter_accepted_in_time_is_in_time(void **state)
{
    struct post *p = *state;
    int64_t game = game_start_days(p->t, "teams", 1);
    struct game_row g = game_get(p->t, game);
    char text[600];
    struct err err = ERR_INIT;
    struct intake_accepted accepted;

    no_hold(p);
    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    (void)snprintf(text, sizeof text,
                   "From: anna@example.org\r\nMessage-ID: <late@example.org>\r\n\r\ne2-e4\r\n");
    {
        char to[96];

        (void)snprintf(to, sizeof to, "play+%s@club.example", p->token);
        live(p, g.deadline_at + g.grace_ms - now_of(p->t)); /* the last millisecond */
        const struct intake_arrival arrival = {.way = INBOX_BY_LMTP, .sender = "anna@example.org",
                                               .recipient = to, .bytes = text,
                                               .n = strlen(text), .received_at = UTC_NONE};
        assert_ok(intake_accept(p->intake, &arrival, &accepted, &err), err);
    }
    live(p, MS_HOUR);
    assert_int_equal(count_events(p->t, game, GAME_EVENT_FORFEITED), 0); /* it waits for it */
    assert_ok(intake_step(p->intake, NULL, &err), err);
    assert_int_equal(post_row(p, accepted.id).verdict, INBOX_VERDICT_ACTED);
    assert_int_equal(ply(p, game), 1);
    assert_int_equal(count_events(p->t, game, GAME_EVENT_LATE), 1);
}

static void test_a_letter_accepted_too_late_has_lost_on_time(void **state)
{
    struct post *p = *state;
    int64_t game = game_start_days(p->t, "teams", 1);
    struct game_row g = game_get(p->t, game);

    no_hold(p);
    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    live(p, g.deadline_at + g.grace_ms - now_of(p->t));
    pass(p->t, 1); /* before the next tick */
    r = post_say(p, SOUTH, p->token, "e2-e4");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "LostOnTime");
    assert_int_equal(ply(p, game), 0);
}

/* ---------------------------------------------------------------- other acts */

static void test_a_draw_is_offered_accepted_and_declined(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    r = post_play(p, SOUTH, game, "draw accept");
    expect_says(r, "NoDrawWasOffered");
    r = post_play(p, SOUTH, game, "draw");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "Success: you offer a draw.");
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_DRAW, game), "accept");
    expect_says(r, "Success: you agree to the draw.");
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, game), "status");
    expect_says(r, "Red offers a draw, and you have agreed.");
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_INFO, game), "status");
    expect_says(r, "Red: your offer of a draw waits for the answers of the others.");
    expect_silent(r, "draw accept");
    r = post_say(p, EAST, post_token(p, EAST, TOKEN_INFO, game), "status");
    expect_says(r, "Red offers a draw");
    r = post_say(p, NORTH, post_token(p, NORTH, TOKEN_DRAW, game), "decline");
    expect_says(r, "Success: you decline the draw.");
    assert_int_equal(count_events(p->t, game, GAME_EVENT_DRAW_DECLINED), 1);
    r = post_say(p, EAST, post_token(p, EAST, TOKEN_DRAW, game), "accept");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "NoDrawWasOffered");
    r = post_play(p, SOUTH, game, "claim draw");
    expect_says(r, "NoDrawToClaim");
}

/* R-C10 */
static void test_who_declines_his_own_offer_takes_it_back(void **state)
{
    static const char *const words[] = {"decline", "draw decline"};
    struct post *p = *state;

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        int64_t game = game_start(p->t, "teams");

        expect(post_play(p, SOUTH, game, "draw"), INBOX_VERDICT_ACTED);
        r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_INFO, game), words[i]);
        expect(r, INBOX_VERDICT_ACTED);
        expect_says(r, "Success: you take your offer of a draw back.");
        assert_int_equal(count_events(p->t, game, GAME_EVENT_DRAW_DECLINED), 0);
        r = post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, game), "draw decline");
        expect_says(r, "NoDrawWasOffered");
    }
}

/* The fault is the offer's, and it is told whose offer stands. */
static void test_an_offer_of_ones_own_is_not_to_be_answered(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    expect(post_play(p, SOUTH, game, "draw"), INBOX_VERDICT_ACTED);
    r = post_play(p, SOUTH, game, "draw");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "AlreadyDone: That has been done already: you have offered a draw already");
    expect_silent(r, "accept");
    r = post_play(p, SOUTH, game, "e2-e3\ndraw offer");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "Line 2: draw offer\nAlreadyDone: That has been done already: you have offered");
    r = post_play(p, WEST, game, "draw");
    expect_says(r, "Red has offered a draw; answer that with `draw accept` or `draw decline`");
    no_hold(p);
    r = post_play(p, SOUTH, game, "e2-e3\noffer draw");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "Line 2: offer draw\n");
    assert_int_equal(ply(p, game), 0);
}

static void test_what_a_game_has_not_is_said_so(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"O-O", "InvalidMove: The move is not legal: this game has no castling."},
        {"place R p4 N n3 B o1", "\nBadRequest: this game has no chosen reserves"},
    };
    struct post *p = *state;
    int64_t game = game_start(p->t, "verney");

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        r = post_play(p, SOUTH, game, rows[i].text);
        expect(r, INBOX_VERDICT_REFUSED);
        expect_says(r, rows[i].words);
        expect_silent(r, "a1");
        expect_silent(r, "started");
    }
    game = game_start(p->t, "teams"); /* it has castling, but not now */
    r = post_play(p, SOUTH, game, "O-O");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_silent(r, "a1");
}

static void test_squares_and_letters_that_are_not_are_explained(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"z9-e4", "the files go from a to n and the ranks from 1 to 14"},
        {"s q17", "the files go from a to n"},
        {"m z9", "the files go from a to n"},
        {"moves z9", "the files go from a to n"},
        {"e2-", "Write both squares, from which and to which the man goes"},
        {"Sf3", "Pieces are written K (king), Q (queen)"},
        {"Лf3", "Pieces are written K (king), Q (queen)"},
        {"Кf3", "Pieces are written K (king), Q (queen)"}, /* a Russian knight */
        {"Cf3", "Pieces are written K (king), Q (queen)"}, /* a Romanian one */
    };
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        r = post_play(p, SOUTH, game, rows[i].text);
        expect(r, INBOX_VERDICT_REFUSED);
        expect_says(r, rows[i].words);
    }
    expect_says(post_play(p, SOUTH, game, "Zug: e2-e4"), "Did you mean `e2-e4`?");
    expect_says(post_play(p, SOUTH, game, "e2-e4, draw"), "Did you mean `e2-e4`?");
    expect_says(post_play(p, SOUTH, game, "4 e2-e4"), "Did you mean `e2-e4`?");
    r = post_play(p, SOUTH, game, "e2-e4 or d2-d4");
    expect_silent(r, "Did you mean");
    r = post_play(p, SOUTH, game, "Dear all");
    expect_silent(r, "files");
    expect_silent(r, "Pieces");
    /* A square in the corner of a cross: the hint is about that man, not about a1. */
    game = game_start(p->t, "verney");
    r = post_play(p, SOUTH, game, "Nc3");
    expect_says(r, "c3 is not a square of this board");
    expect_says(r, "Legal for a knight of yours: ");
    expect_silent(r, "a1");
    r = post_play(p, SOUTH, game, "a1-b2");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_silent(r, "no legal move from a1");
}

static void test_games_lists_invitations_and_games_that_wait(void **state)
{
    struct post *p = *state;
    int64_t game;

    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0), "games");
    expect_says(r, "You have no game that is going on.");
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0),
                 "create verney\nseat south me\nseat west boris\nseat east David@Example.org");
    expect(r, INBOX_VERDICT_ACTED);
    assert_non_null(strstr(r->params, "\"purpose\":\"info\""));
    game = r->row.game_id;
    /* the address is an account's: it is that which is invited, and nobody is told */
    expect_says(r, "East: an invitation goes to David@Example.org.");
    expect_silent(r, "david ");
    assert_int_equal(post_count(p, "SELECT count(*) FROM invitations WHERE user_id IS NULL"), 0);
    r = post_say(p, EAST, post_token(p, EAST, TOKEN_ACCOUNT, 0), "games");
    expect_says(r, "waiting for players\n      You are invited.");
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_ACCOUNT, 0), "games");
    expect_says(r, "waiting for players\n      You are invited.");
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0), "games");
    expect_says(r, "waiting for players");
    expect_silent(r, "You are invited.");
    r = post_say(p, EAST, post_token(p, EAST, TOKEN_INVITATION, game), "accept");
    expect(r, INBOX_VERDICT_ACTED);
    r = post_say(p, EAST, post_token(p, EAST, TOKEN_ACCOUNT, 0), "games");
    expect_silent(r, "You are invited.");
    /* who may sit where is refused without a name */
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0),
                 "create verney\nseat south boris\nseat west boris@example.org");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "AlreadySeated");
    expect_silent(r, "boris has");
}

static void test_resigning_takes_the_seat_out(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "verney");

    no_hold(p);
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, game), "resign");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "Success: you have resigned.");
    expect_silent(r, "over");
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, game), "resign");
    expect_says(r, "AlreadyDone");
    assert_int_equal(count_events(p->t, game, GAME_EVENT_RESIGNED), 1);
    r = post_say(p, EAST, post_token(p, EAST, TOKEN_INFO, game), "resign"); /* the last of them */
    expect_says(r, "Success: you have resigned.\nWhite and ");
    r = post_say(p, EAST, post_token(p, EAST, TOKEN_INFO, game), "status");
    expect_silent(r, "Each turn has");
    expect_silent(r, "do not talk"); /* they may now */
    expect_says(r, "the last enemy in the game has left it");
}

/* How many resignations are held. */
static int resigning(struct post *p, int64_t game)
{
    struct held_row rows[SEAT_COUNT];
    struct err err = ERR_INIT;
    size_t n = 0;
    int found = 0;

    assert_ok(held_of_game(store_reader_conn(p->t->reader), game, rows, &n, &err), err);
    for (size_t i = 0; i < n; i++)
        found += rows[i].kind == HELD_RESIGN;
    return found;
}

/* M8: what was written by accident can be taken back, also the game's worst word. */
static void test_M8_a_resignation_is_held_then_done(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "verney");
    char token[SECRET_SIZE];

    (void)str_copy(token, sizeof token, post_token(p, WEST, TOKEN_INFO, game));
    r = post_say(p, WEST, token, "resign");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "> resign\nSuccess: your resignation (Red) is taken and held");
    expect_says(r, "00:10 UTC, in 10 min");
    assert_non_null(strstr(r->params, "\"purpose\":\"receipt\""));
    assert_null(strstr(r->params, "\"move\""));
    assert_int_equal(count_events(p->t, game, GAME_EVENT_RESIGNED), 0);
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, game), "status\nclocks\nboard");
    expect_says(r, "Your resignation (Red) is on hold; it takes effect at this time: ");
    r = post_play(p, SOUTH, game, "status"); /* nobody else hears of it */
    expect_silent(r, "resignation");
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, game), "resign");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "AlreadyDone");
    expect_says(r, "the resignation of West is being held already");
    /* Another one's move leaves it, and undo by the receipt of then is good still. */
    move_ok(p->t, game, "e2e3");
    assert_int_equal(resigning(p, game), 1);
    r = post_say(p, WEST, token, "undo");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "Success: your resignation (Red) is taken back. You play on.");
    assert_int_equal(resigning(p, game), 0);
    r = post_say(p, WEST, token, "undo");
    expect_says(r, "NothingToUndo");
    /* It stands, by and by. */
    r = post_play(p, WEST, game, "resign");
    expect(r, INBOX_VERDICT_ACTED);
    assert_non_null(strstr(r->params, "\"purpose\":\"receipt\""));
    live(p, 10 * MS_MINUTE);
    assert_int_equal(count_events(p->t, game, GAME_EVENT_RESIGNED), 1);
    assert_int_equal(game_get(p->t, game).turn_seat, NORTH);
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, game), "undo west");
    expect_says(r, "NothingToUndo");
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, game), "resign west");
    expect_says(r, "AlreadyDone: ");
    expect_says(r, "West has left the game already");
    assert_sound(p->t, game);
}

static void with_word(struct post *p)
{
    post_close(p);
    p->options.confirms_resign = true;
    post_open(p);
}

/* Who resigns is asked; ret: the letter that waits for his word, and the address to give it by. */
static int64_t ask_resigning(struct post *p, int user, int64_t game, const char *token,
                             const char *text)
{
    int64_t held;

    r = post_say(p, user, token, text);
    expect(r, INBOX_VERDICT_HELD);
    held = r->row.id;
    assert_int_equal(r->row.state, INBOX_HELD);
    assert_string_equal(r->template_name, "confirm_letter");
    assert_non_null(strstr(r->params, "\"purpose\":\"confirm\""));
    assert_int_equal(resigning(p, game), 0);
    post_token_put(p, POST_TOKEN, user, TOKEN_CONFIRM, game, game_get(p->t, game).state_no, held,
                   now_of(p->t) + MS_DAY);
    return held;
}

/* M8: submit, code, confirm; the code is the address of the answer. */
static void test_M8_a_resignation_waits_for_a_second_letter(void **state)
{
    struct post *p = *state;
    int64_t game, held;

    with_word(p);
    game = game_start(p->t, "verney");
    held = ask_resigning(p, WEST, game, post_token(p, WEST, TOKEN_INFO, game),
                         "resign\nnote it is lost");
    expect_says(r, "resign\nnote it is lost\n");
    expect_silent(r, "Success");
    assert_int_equal(post_count(p, "SELECT count(*) FROM notes"), 0);
    live(p, 20 * MS_MINUTE); /* nothing comes of it by itself */
    assert_int_equal(count_events(p->t, game, GAME_EVENT_RESIGNED), 0);
    move_ok(p->t, game, "e2e3"); /* what others do meanwhile does not drop it */
    r = post_say(p, WEST, POST_TOKEN, "confirm");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "> resign\nSuccess: your resignation (Red) is taken and held");
    assert_int_equal(resigning(p, game), 1);
    assert_int_equal(post_row(p, held).state, INBOX_DONE);
    assert_int_equal(post_count(p, "SELECT count(*) FROM notes"), 1);
    r = post_say(p, WEST, POST_TOKEN, "confirm"); /* and no second time */
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "No letter waits for your word any more.");
    live(p, 10 * MS_MINUTE);
    assert_int_equal(count_events(p->t, game, GAME_EVENT_RESIGNED), 1);
    assert_sound(p->t, game);
}

/* … and is dropped by a word; where it could not be done, nobody is asked. */
static void test_M8_a_resignation_that_is_not_meant_is_dropped(void **state)
{
    struct post *p = *state;
    int64_t game, held;
    char asked[80];

    with_word(p);
    game = game_start(p->t, "teams");
    held = ask_resigning(p, SOUTH, game, post_token(p, SOUTH, TOKEN_TURN, game), "resign");
    r = post_say(p, SOUTH, POST_TOKEN, "yes"); /* another word: the question stays */
    expect(r, INBOX_VERDICT_REFUSED);
    (void)snprintf(asked, sizeof asked, "{\"inbox\":%" PRId64 ",\"purpose\":\"confirm\"", held);
    assert_int_equal(strncmp(r->params, asked, strlen(asked)), 0);
    r = post_say(p, SOUTH, POST_TOKEN, "decline");
    expect(r, INBOX_VERDICT_ACTED);
    assert_int_equal(post_row(p, held).state, INBOX_DONE);
    r = post_say(p, SOUTH, POST_TOKEN, "confirm");
    expect(r, INBOX_VERDICT_REFUSED);
    assert_int_equal(resigning(p, game), 0);
    r = post_play(p, SOUTH, game, "resign west");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "NotYourGame");
    r = post_play(p, SOUTH, game, "resign\ne2-e4");
    expect(r, INBOX_VERDICT_REFUSED);
    r = post_play(p, SOUTH, game, "e2-e4"); /* a move needs no second letter */
    expect(r, INBOX_VERDICT_ACTED);
    assert_true(is_held(p, game));
}

static void test_a_move_and_a_resignation_take_each_others_place(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    (void)post_play(p, SOUTH, game, "e2-e4");
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_RECEIPT, game), "resign");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "With that your move e2e4, which was on hold, is taken back.");
    assert_false(is_held(p, game));
    assert_int_equal(resigning(p, game), 1);
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_RECEIPT, game), "d2-d4");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "Success: d2d4 is taken and held");
    expect_says(r, "With that your resignation (Red), which was on hold, is taken back.");
    assert_true(is_held(p, game));
    assert_int_equal(resigning(p, game), 0);
    /* In one letter they contradict each other, whichever comes first. */
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_RECEIPT, game), "undo\nresign\ne2-e4");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "Line 3: e2-e4\nBadRequest: ");
    expect_says(r, "Behind a resignation only");
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_RECEIPT, game), "resign\ndraw");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "Line 2: draw");
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_RECEIPT, game), "resign\nundo");
    expect(r, INBOX_VERDICT_REFUSED);
    assert_true(is_held(p, game)); /* nothing of these was done */
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_RECEIPT, game), "resign\nnote enough");
    expect(r, INBOX_VERDICT_ACTED);
    live(p, 10 * MS_MINUTE);
    assert_int_equal(count_events(p->t, game, GAME_EVENT_RESIGNED), 1);
    assert_int_equal(ply(p, game), 0);
    assert_sound(p->t, game);
}

static void test_who_moves_at_once_is_told_that_he_does_not_resign(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    (void)post_play(p, SOUTH, game, "resign");
    no_hold(p);
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_RECEIPT, game), "e2-e4");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "With that your resignation (Red), which was on hold, is taken back.");
    assert_int_equal(ply(p, game), 1);
    live(p, 20 * MS_MINUTE);
    assert_int_equal(count_events(p->t, game, GAME_EVENT_RESIGNED), 0);
    assert_int_equal(p->t->dropped_calls, 0); /* it stands in the receipt */
}

/* So with a move that is held, when the grace is none meanwhile. */
static void test_who_moves_at_once_is_told_that_another_move_is_taken_back(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    (void)post_play(p, SOUTH, game, "d2-d4");
    no_hold(p);
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_RECEIPT, game), "e2-e4");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "With that your move d2d4, which was on hold, is taken back.");
    assert_int_equal(p->t->dropped_calls, 0); /* nor by a letter of its own */
    assert_int_equal(ply(p, game), 1);
}

static void test_R_C13_who_has_two_armies_says_which_one_resigns(void **state)
{
    struct post *p = *state;
    int64_t game = game_start_two_seats(p->t, "teams");

    r = post_play(p, SOUTH, game, "resign");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "\nBadRequest: You have two armies in this game.");
    expect_says(r, "for example `resign south`.");
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, game), "help undo\nhelp resign");
    expect_says(r, "  undo · undo west\n"); /* a seat of his own */
    expect_says(r, "  resign · resign west\n");
    expect_silent(r, "south");
    r = post_play(p, SOUTH, game, "resign west");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "NotYourGame");
    expect_says(r, "That seat is not yours.");
    /* The move of the other goes with it, and first. */
    r = post_play(p, SOUTH, game, "resign north\ne2-e4");
    expect(r, INBOX_VERDICT_ACTED);
    assert_true(is_held(p, game));
    assert_int_equal(resigning(p, game), 1);
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_RECEIPT, game), "undo");
    expect_says(r, "Success: e2e4 is taken back");
    expect_says(r, "is on hold; it takes effect at this time: ");
    r = post_play(p, SOUTH, game, "undo west");
    expect_says(r, "NothingToUndo");
    expect_says(r, "That seat is not yours.");
    expect_says(r, "\n`undo north` takes back the resignation (Yellow).");
    r = post_play(p, SOUTH, game, "undo south"); /* it is North's that is held */
    expect_says(r, "NothingToUndo");
    expect_says(r, "Nothing of Red (South) is held.\n"
                   "`undo north` takes back the resignation (Yellow).");
    r = post_play(p, SOUTH, game, "undo North\nresign north\ne2-e3");
    expect(r, INBOX_VERDICT_ACTED);
    live(p, 10 * MS_MINUTE);
    assert_int_equal(ply(p, game), 1);
    assert_int_equal(p->t->dropped_calls, 0);
    assert_sound(p->t, game);
}

/* What stands below a quotation is not read beside what stands above; it is told. */
static void test_a_command_below_a_quotation_is_not_dropped_in_silence(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    r = post_play(p, SOUTH, game, "e2-e4\n\n> your move\n\nresign");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "From line 5 on your letter was taken for a personal word");
    assert_int_equal(count_events(p->t, game, GAME_EVENT_RESIGNED), 0);
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_RECEIPT, game),
                 "status\n\n> your move\n\nThank you");
    expect_silent(r, "From line");
}

static void test_a_reserve_is_placed_by_mail(void **state)
{
    struct post *p = *state;
    int64_t game = game_create_open(p->t, "fortress reserve=chosen", ORGANISER, false);

    for (int user = SOUTH; user <= EAST; user++)
        join(p->t, game, user, user);
    assert_int_equal(game_get(p->t, game).state, GAME_PLACING);
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_PLACING, game), "place R a1 N n3 B o1");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "InvalidMove: The reserve cannot stand so: a1 is not in your own fortress.");
    expect_says(r, "The squares of your fortress: ");
    assert_non_null(strstr(r->params, "\"purpose\":\"info\""));
    expect_says(r, "It is written so: place R p4 N n3 B o1");
    {   /* R-F7: the example is right for each seat, and in each place where one is given */
        static const char *const examples[] = {"place R p4 N n3 B o1", "place R d1 N c3 B a2",
                                               "place R a13 N c14 B b16",
                                               "place R m16 N n14 B p15"};
        static const char *const texts[] = {"place R h1 N h2 B h3", "place", "help place", "help"};

        for (int user = SOUTH; user <= EAST; user++)
            for (size_t i = 0; i < COUNT_OF(texts); i++)
                for (int by = 0; by < 2; by++) {
                    pass(p->t, MS_HOUR + 1); /* the same mistake is answered once an hour */
                    r = post_say(p, user,
                                 post_token(p, user, by == 0 ? TOKEN_PLACING : TOKEN_INFO, game),
                                 texts[i]);
                    expect_says(r, examples[user]);
                    if (user != SOUTH)
                        expect_silent(r, examples[SOUTH]);
                }
        r = post_say(p, WEST, post_token(p, WEST, TOKEN_PLACING, game), examples[WEST]);
        expect(r, INBOX_VERDICT_ACTED);
    }
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_INFO, game), "games\nstatus");
    expect_says(r, "reserves are being placed\n      You have to place your reserve.\n");
    expect_says(r, "anna [anna], has not placed the reserve yet\n");
    expect_says(r, "boris [boris], has placed the reserve\n");
    (void)game_start(p->t, "verney"); /* of two that wait, none hides the other */
    (void)game_start(p->t, "verney");
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, game), "games");
    expect_silent(r, "You have to place"); /* he has */
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_PLACING, game), "place R p4 N n3 B o1");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "rook p4, bishop o1, knight n3");
    /* … and anew, by the same letter */
    r = post_say(p, SOUTH, p->token, "place R p3 N n3 B o1");
    expect(r, INBOX_VERDICT_ACTED);
    assert_null(strstr(r->params, "\"board\":true"));
    r = post_say(p, OTHER, post_token(p, OTHER, TOKEN_PLACING, game), "place R p3 N n3 B o1");
    expect_says(r, "NotYourGame");
}

/* ---------------------------------------------------------------- new games */

static void test_a_game_is_made_and_filled_by_mail(void **state)
{
    struct post *p = *state;
    int64_t game;

    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0),
                 "create verney inert=capturable days=3\nseat south me\nseat west boris\n"
                 "seat north CLARA\nseat east stranger@example.net");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "Success: the game ");
    expect_says(r, "> seat west boris\nSuccess: West: an invitation goes to boris.");
    game = r->row.game_id;
    assert_int_not_equal(game, 0);
    assert_int_equal(game_get(p->t, game).per_move_ms, 3 * MS_DAY);
    assert_non_null(strstr(game_get(p->t, game).rules, "inert=capturable"));
    /* The address is used up: a new game needs the new one. */
    r = post_say(p, SOUTH, p->token, "create verney\nseat south me");
    expect(r, INBOX_VERDICT_REFUSED);
    assert_int_equal(post_count(p, "SELECT count(*) FROM games"), 1);

    r = post_say(p, WEST, post_token(p, WEST, TOKEN_INVITATION, game), "accept");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "Success: you take your seat");
    r = post_say(p, NORTH, post_token(p, NORTH, TOKEN_ACCOUNT, 0), "decline"); /* his only one */
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "Success: you decline the invitation");
    r = post_say(p, NORTH, post_token(p, NORTH, TOKEN_INVITATION, game), "accept");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "No invitation to this game is open for you.");
}

static void test_a_game_that_cannot_be_made_is_not(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"create chess\nseat south me",
         "BadRequest: there is no game `chess`; games: verney, fortress, teams."},
        {"create verney reserve=usual\nseat south me",
         "`reserve=usual`: there is no such house rule; house rules of verney: "
         "inert=safe|capturable, queens=light|left, promotion=queen|any."},
        {"create verney inert=maybe\nseat south me", "`inert=maybe`: the house rule has no such "
                                                     "value; house rules of verney: inert=safe|"},
        {"create teams inert=safe\nseat south me",
         "`inert=safe`: the game teams has no house rules."},
        {"create verney days=365\nseat south me", "BadRequest: the time for a move is from 1 h "
                                                  "to 60 d."},
        {"create verney days=0\nseat south me", "the time for a move is from 1"},
        {"create verney\nseat south nobody",
         "InvalidUser: There is no such player: nobody is not the name of a player here"},
        {"seat south nobody\ncreate verney", "Line 1: seat south nobody\nInvalidUser: "},
        {"create verney privat",
         "BadRequest: `privat` cannot stand here; what can: days=7, private, rated, talk, or a "
         "house rule such as inert=capturable.\n"
         "`create` is written so: create verney days=7 private rated\n"
         "Did you mean `create verney private`?"},
        {"create verney\nseat norht me",
         "`norht` cannot stand here; what can: south, west, north or east.\n"},
        {"join 7k2mq0xd nord", "Did you mean `join 7k2mq0xd north`?"},
        {"create", "something is missing at the end: verney, fortress or teams."},
        {"games please", "`please` is too much; the command ends before it.\n"},
        {"create verney\nseat south me\nseat west me", "Line 3: seat west me\nAlreadySeated"},
        {"create verney\nseat south boris\nseat west me\nseat east boris",
         "Line 4: seat east boris\nAlreadySeated"},
        {"create verney\nseat south me\nseat south boris", "This seat is there twice"},
        {"create verney\nseat south bo@@example", "BadRequest"},
        {"create verney\ncreate teams", "`create` stands once in a letter"},
        {"seat south me", "`create` stands once in a letter"},
        {"e2-e4", "\nBadRequest: This letter is about no game"},
        {"accept", "Nothing waits for your answer"},
        {"confirm", "No letter waits for your word"},
    };
    struct post *p = *state;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        pass(p->t, MS_HOUR / 4); /* no more than twenty an hour are answered */
        r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0), rows[i].text);
        expect(r, INBOX_VERDICT_REFUSED);
        expect_says(r, rows[i].words);
    }
    assert_int_equal(post_count(p, "SELECT count(*) FROM games"), 0);
}

/* M9: "in order, each answered". */
static void test_answers_come_in_the_order_of_the_commands(void **state)
{
    static const struct {
        const char *text, *order[4];
    } rows[] = {
        {"create verney\nstatus\nseat south me\nseat west boris",
         {"> create verney\nSuccess: the game ", "> status\n",
          "> seat south me\nSuccess: South is yours.", "> seat west boris\nSuccess: West: an inv"}},
        {"seat south me\ncreate verney\nseat west boris\nstatus",
         {"> seat south me\nSuccess: South is yours.", "> create verney\nSuccess: the game ",
          "> seat west boris\nSuccess: West: an inv", "> status\n"}},
    };
    struct post *p = *state;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *at;

        r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0), rows[i].text);
        expect(r, INBOX_VERDICT_ACTED);
        at = r->text;
        for (size_t k = 0; k < COUNT_OF(rows[i].order); k++) {
            const char *next = strstr(at, rows[i].order[k]);

            if (!next)
                fail_msg("\"%s\" is not below the one before in:\n%s", rows[i].order[k], r->text);
            at = next + strlen(rows[i].order[k]);
        }
        assert_null(strstr(at, "Success: ")); /* … and none twice */
    }
}

/* Who names himself is not told of an invitation to himself. */
static void test_ones_own_name_is_as_good_as_me(void **state)
{
    struct post *p = *state;

    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0),
                 "create teams\nseat north Anna\nseat east boris");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "North is yours.");
    expect_says(r, "East: an invitation goes to boris.");
}

/* The limit of the API holds by mail too. */
/* Who has no account is not flooded with invitations. */
static void test_an_address_is_invited_three_times_before_it_answers(void **state)
{
    static const char text[] = "create verney\nseat south me\nseat east vic@stranger.example";
    struct post *p = *state;

    for (int i = 0; i < 3; i++)
        expect(post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0), text),
               INBOX_VERDICT_ACTED);
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0), text);
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "LimitReached");
    expect(post_say(p, WEST, post_token(p, WEST, TOKEN_ACCOUNT, 0), text), INBOX_VERDICT_ACTED);
    assert_int_equal(post_count(p, "SELECT count(*) FROM games"), 4);
}

static void test_an_old_address_makes_no_game_and_keeps_no_note(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    expect(post_say(p, SOUTH, p->token, "note live"), INBOX_VERDICT_ACTED);
    move_ok(p->t, game, "e2e4");
    r = post_say(p, SOUTH, p->token, "create verney\nseat south me");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "InvalidMoveNumber");
    expect(post_say(p, SOUTH, p->token, "note hi"), INBOX_VERDICT_REFUSED);
    /* a live one makes a game, once */
    (void)post_token(p, SOUTH, TOKEN_INFO, game);
    expect(post_say(p, SOUTH, p->token, "create verney\nseat south me"), INBOX_VERDICT_ACTED);
    expect(post_say(p, SOUTH, p->token, "create verney\nseat west me"), INBOX_VERDICT_REFUSED);
    assert_int_equal(post_count(p, "SELECT count(*) FROM games"), 2);
    assert_int_equal(post_count(p, "SELECT count(*) FROM notes"), 1);
    /* beside a move that is played at once a note is not late */
    no_hold(p);
    expect(post_play(p, WEST, game, "b4-d4\nnote mine"), INBOX_VERDICT_ACTED);
}

/* However long its answer would be, a letter's move counts. */
static void test_an_answer_that_is_far_too_long_loses_nothing(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    char text[1900];
    struct buf b = buf_make(64 * 1024);

    post_close(p);
    p->options.answers_an_hour = 10000;
    post_open(p);
    memset(text, 'x', sizeof text);
    memcpy(text, "note ", 5);
    text[sizeof text - 1] = '\0';
    for (int i = 0; i < 60; i++)
        expect(post_play(p, SOUTH, game, text), INBOX_VERDICT_ACTED);
    buf_puts(&b, "e2-e4\n");
    for (int i = 0; i < 15; i++)
        buf_puts(&b, "note\n");
    r = post_play(p, SOUTH, game, b.data);
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "e2e4 is taken and held");
    expect_says(r, "The answer was longer than a letter may be");
    assert_true(is_held(p, game));
    buf_release(&b);
}

static void test_games_per_player_are_limited(void **state)
{
    struct post *p = *state;
    int64_t game;

    p->t->arb.limits.games = 1;
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0),
                 "create verney\nseat south me\nseat west boris");
    expect(r, INBOX_VERDICT_ACTED);
    game = r->row.game_id;
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0), "create verney");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "LimitReached: A limit has been reached: one game is going on for you");
    expect(post_say(p, WEST, post_token(p, WEST, TOKEN_ACCOUNT, 0), "create teams"),
           INBOX_VERDICT_ACTED);
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_INVITATION, game), "accept");
    expect_says(r, "LimitReached");
    assert_int_equal(post_count(p, "SELECT count(*) FROM games"), 2);
}

/* ---------------------------------------------------------------- questions */

static void test_questions_are_answered(void **state)
{
    static const struct {
        const char *text, *words;
    } rows[] = {
        {"moves e2", "Legal moves from e2, 2 in all:\ne2e3 e2e4"},
        {"moves", "Legal moves of Red, 20 in all:"},
        {"m a1", "There is no legal move from a1."},
        {"status", "Mon 14 December 2026, 00:00 UTC, in 13"},
        {"status", "clocks stop only for a pause"}, /* T6 */
        {"status", "Red to move (anna)"},
        {"games", "It is your move."},
        {"why", "the turn began: Mon 30 November 2026, 00:00 UTC"},
        {"why", "time for one turn: 14 d"},
        {"why", "Deadline: Mon 14 December 2026"},
        {"clocks", "Deadline: "},
        {"c", "This turn began: "},
        {"last", "No move has been made yet."},
        {"opponents", "partner:  "},
        {"o", "opponent:  "},
        {"pieces", "Red (South): king h1"},
        {"p b", "Blue (West): king"},
        {"pieces south", "Red (South): "},
        {"pieces красные", "Red (South): king"},
        {"pieces ROȘU", "Red (South): king"},
        {"pieces красный", "Red (South): king"},
        {"pieces albastru", "Blue (West): king"},
        {"pieces alb", "No army is called alb here."},
        {"pieces blunt", "No army is called blunt here."},
        {"pieces pink", "No army is called pink here. There are: Red, Blue, Yellow, Green."},
        {"help castle", "There is no command `castle`.\n\n"},
        {"help resing", "There is no command `resing`.\nDid you mean `help resign`?\n"},
        {"help accept draw", "  accept · decline\n"},
        {"square e2", "e2: red pawn"},
        {"s e4", "e4: empty"},
        {"s a1", "a1 is not a square of this board"},
        {"s 2", "Rank 2: red pawn d2"},
        {"s e", "File e: red knight e1"},
        {"spoken", "Rank 1: red rook d1"},
        {"help", "place R p4 N n3 B o1"},
        {"help draw", "draw accept"},
        {"note", "You have no notes on this game."},
        {"board", "The board stands below."},
        {"resend", "Success: the letter of your turn is sent again."},
    };
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    p->options.answers_an_hour = 1000;
    post_close(p);
    post_open(p);
    pass(p->t, MS_MINUTE);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        r = post_play(p, SOUTH, game, rows[i].text);
        expect(r, strcmp(rows[i].text, "resend") == 0 ? INBOX_VERDICT_ACTED
                                                      : INBOX_VERDICT_ANSWERED);
        expect_says(r, rows[i].words);
    }
    assert_int_equal(p->resent, 1);
    r = post_play(p, WEST, game, "resend");
    expect_says(r, "No game waits for your move.");
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0), "resend"); /* N21: all */
    expect_says(r, "Success: the letter of your turn is sent again.");
    assert_int_equal(p->resent, 2);
    assert_int_equal(ply(p, game), 0);
}

/* N22: all plies since one's own last move. */
static void test_last_tells_all_since_ones_own_move(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    static const char *const moves[] = {"e2e4", "b4d4", "d13d12", "m4l4"};

    for (size_t i = 0; i < COUNT_OF(moves); i++)
        move_ok(p->t, game, moves[i]);
    r = post_play(p, WEST, game, "last");
    expect_silent(r, "e2e4");
    expect_says(r, "2. ");
    expect_says(r, "(d13d12)");
    expect_says(r, "(m4l4)");
}

/* ---------------------------------------------------------------- open games */

/* "word ID" or "word ID more", in memory of its own until the next but one. */
static const char *with_id(struct post *p, const char *word, int64_t game, const char *more)
{
    static char texts[2][200];
    static int which;
    char *text = texts[which ^= 1];

    (void)snprintf(text, sizeof texts[0], "%s %s%s", word, game_get(p->t, game).public_id, more);
    return text;
}

/* By a fresh letter about no game. */
static const struct post_result *account(struct post *p, int user, const char *text)
{
    return post_say(p, user, post_token(p, user, TOKEN_ACCOUNT, 0), text);
}

static int64_t holder(struct post *p, int64_t game, int seat)
{
    struct seat_row seats[SEAT_COUNT];
    struct err err = ERR_INIT;

    assert_ok(seats_get(store_reader_conn(p->t->reader), game, seats, &err), err);
    return seats[seat].user_id;
}

static void test_games_lists_what_can_be_joined_and_join_takes_it(void **state)
{
    struct post *p = *state;
    int64_t game = game_create_open(p->t, "teams", ORGANISER, false);
    int64_t hidden = game_create_open(p->t, "teams", ORGANISER, true);
    char offer[100];

    (void)snprintf(offer, sizeof offer,
                   "Free seats: South, West, North, East. `join %s` takes one.",
                   game_get(p->t, game).public_id);
    r = account(p, SOUTH, "games");
    expect_says(r, "You have no game that is going on.\n\n"
                   "Games of others that wait for players:\n");
    expect_says(r, offer);
    expect_silent(r, game_get(p->t, hidden).public_id);
    r = account(p, SOUTH, with_id(p, "join", game, " North"));
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "Success: you take the seat North in the game ");
    assert_int_equal(r->row.game_id, game);
    assert_non_null(strstr(r->params, "\"purpose\":\"info\""));
    assert_int_equal(holder(p, game, NORTH), p->t->user[SOUTH]);
    r = account(p, WEST, "games");
    expect_says(r, "Free seats: South, West, East. `join ");
    r = account(p, SOUTH, "games"); /* his own now */
    expect_silent(r, "Games of others");
    r = account(p, ORGANISER, "games");
    expect_silent(r, "Games of others");
    /* Any seat: an ally's is not taken for him who has one (R-C13). */
    r = account(p, WEST, with_id(p, "JOIN", game, ""));
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "you take the seat South");
    r = account(p, EAST, with_id(p, "join", game, ""));
    expect_says(r, "you take the seat West");
    r = account(p, EAST, with_id(p, "join", game, ""));
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "AlreadySeated");
    expect_says(r, "name the second seat, as in `join ");
    expect_says(r, " east`."); /* West's ally */
    assert_int_equal(holder(p, game, EAST), 0);
    r = account(p, EAST, with_id(p, "join", game, " east"));
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "All seats are taken; the game begins.");
    assert_int_equal(game_get(p->t, game).state, GAME_RUNNING);
    r = account(p, WEST, "games");
    expect_silent(r, "Games of others");
    assert_sound(p->t, game);
}

static void test_join_refuses_in_the_words_of_every_door(void **state)
{
    struct post *p = *state;
    int64_t game = game_create_open(p->t, "teams", WEST, false);
    int64_t hidden = game_create_open(p->t, "teams", WEST, true);
    int64_t running = game_start(p->t, "teams");

    join(p->t, game, WEST, 1);
    r = account(p, SOUTH, with_id(p, "join", game, " west"));
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "GameFull");
    r = account(p, WEST, with_id(p, "join", game, " west"));
    expect_says(r, "AlreadySeated");
    r = account(p, WEST, with_id(p, "join", game, " north")); /* against himself */
    expect_says(r, "AlreadySeated");
    r = account(p, SOUTH, "join zzzzzzzz");
    expect_says(r, "InvalidGameID: There is no such game");
    expect_says(r, "`games` lists the games that you can join.");
    r = account(p, SOUTH, with_id(p, "join", hidden, ""));
    expect_says(r, "InvalidGameID: There is no such game");
    r = account(p, STRANGER, with_id(p, "join", running, ""));
    expect_says(r, "GameStarted");
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        assert_int_equal(holder(p, game, seat), seat == 1 ? p->t->user[WEST] : 0);
    assert_int_equal(holder(p, hidden, 0), 0);
}

static void test_join_is_one_unit_with_the_rest_of_its_letter(void **state)
{
    struct post *p = *state;
    int64_t a = game_create_open(p->t, "teams", ORGANISER, false);
    int64_t b = game_create_open(p->t, "verney", ORGANISER, false);
    int64_t own = game_start(p->t, "teams");
    char text[200];

    (void)snprintf(text, sizeof text, "%s\njoin zzzzzzzz", with_id(p, "join", a, ""));
    r = account(p, SOUTH, text);
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "Line 2: join zzzzzzzz");
    assert_int_equal(holder(p, a, 0), 0);
    (void)snprintf(text, sizeof text, "%s\n%s", with_id(p, "join", a, ""),
                   with_id(p, "join", b, " east"));
    r = account(p, SOUTH, text);
    expect(r, INBOX_VERDICT_ACTED);
    assert_int_equal(holder(p, a, 0), p->t->user[SOUTH]);
    assert_int_equal(holder(p, b, EAST), p->t->user[SOUTH]);
    /* In a letter about another game that stays what the letter is about. */
    (void)snprintf(text, sizeof text, "%s\ne2-e4\nstatus", with_id(p, "join", a, " north"));
    r = post_play(p, SOUTH, own, text);
    expect(r, INBOX_VERDICT_ACTED);
    assert_true(is_held(p, own));
    assert_int_equal(r->row.game_id, own);
    expect_says(r, "You have a move on hold");
    /* A game just joined was not what the letter showed: no move is made in it. */
    int64_t full = game_create_open(p->t, "teams", ORGANISER, false);
    join(p->t, full, WEST, 1);
    join(p->t, full, NORTH, 2);
    join(p->t, full, EAST, 3);
    (void)snprintf(text, sizeof text, "%s\ne2-e4", with_id(p, "join", full, ""));
    r = account(p, SOUTH, text);
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "Line 2: e2-e4");
    assert_int_equal(holder(p, full, 0), 0);
}

static void test_join_needs_a_letter_that_is_good(void **state)
{
    struct post *p = *state;
    int64_t game = game_create_open(p->t, "teams", ORGANISER, false);
    int64_t own = game_start(p->t, "teams");
    char token[SECRET_SIZE];

    (void)str_copy(token, sizeof token, post_token(p, SOUTH, TOKEN_TURN, own));
    move_ok(p->t, own, "e2e4");
    r = post_say(p, SOUTH, token, with_id(p, "join", game, ""));
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "InvalidMoveNumber");
    assert_int_equal(holder(p, game, 0), 0);
    /* A letter about no game is good once. */
    (void)str_copy(token, sizeof token, post_token(p, SOUTH, TOKEN_ACCOUNT, 0));
    expect(post_say(p, SOUTH, token, with_id(p, "join", game, "")), INBOX_VERDICT_ACTED);
    r = post_say(p, SOUTH, token, with_id(p, "join", game, " north"));
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "AuthenticationFailed");
    assert_int_equal(holder(p, game, NORTH), 0);
}

static void test_leave_gives_the_seat_back_before_the_start(void **state)
{
    struct post *p = *state;
    int64_t game = game_create_open(p->t, "teams", ORGANISER, false);
    int64_t hidden = game_create_open(p->t, "teams", SOUTH, true);

    r = account(p, SOUTH, "leave");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "This letter is about no game");
    r = account(p, SOUTH, with_id(p, "leave", game, ""));
    expect_says(r, "NotYourGame");
    join(p->t, game, SOUTH, 0);
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_INFO, game), "leave");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "Success: you give your seat in the game ");
    assert_int_equal(holder(p, game, 0), 0);
    /* One of two. */
    join(p->t, game, SOUTH, 0);
    join(p->t, game, SOUTH, 2);
    r = account(p, SOUTH, with_id(p, "leave", game, " north"));
    expect(r, INBOX_VERDICT_ACTED);
    assert_int_equal(holder(p, game, 0), p->t->user[SOUTH]);
    assert_int_equal(holder(p, game, NORTH), 0);
    r = account(p, SOUTH, with_id(p, "leave", game, " west"));
    expect_says(r, "NotYourGame");
    /* The organiser stays, whoever else has left a private game does not see it any more. */
    join(p->t, hidden, SOUTH, 0);
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_INFO, hidden), "leave\nstatus");
    expect(r, INBOX_VERDICT_ACTED);
    /* Too late. */
    join(p->t, game, WEST, 1);
    join(p->t, game, NORTH, 2);
    join(p->t, game, EAST, 3);
    r = account(p, SOUTH, with_id(p, "leave", game, ""));
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "GameStarted");
    expect_says(r, "`resign`");
    assert_int_equal(holder(p, game, 0), p->t->user[SOUTH]);
    assert_sound(p->t, game);
}

static void test_a_game_is_looked_at_from_a_letter_about_none(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams"), other = game_start(p->t, "verney");
    int64_t hidden = game_create_open(p->t, "teams", WEST, true);

    r = account(p, SOUTH, with_id(p, "status", game, "\nboard"));
    expect(r, INBOX_VERDICT_ANSWERED);
    expect_says(r, "It is move 1 of the game.");
    assert_non_null(strstr(r->params, "\"board\":true"));
    assert_non_null(strstr(r->params, "\"purpose\":\"turn\"")); /* as `resend` would send it */
    assert_int_equal(r->row.game_id, game);
    r = account(p, STRANGER, with_id(p, "board", game, ""));
    expect(r, INBOX_VERDICT_ANSWERED);
    assert_non_null(strstr(r->params, "\"purpose\":\"info\""));
    r = account(p, SOUTH, with_id(p, "status", hidden, ""));
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "InvalidGameID");
    /* The letter has shown him nothing of it yet. */
    r = account(p, SOUTH, with_id(p, "status", game, "\ne2-e4"));
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "InvalidMoveNumber");
    assert_false(is_held(p, game));
    /* One letter, one game. */
    r = post_play(p, SOUTH, game, with_id(p, "status", game, ""));
    expect(r, INBOX_VERDICT_ANSWERED);
    r = post_play(p, SOUTH, game, with_id(p, "status", other, ""));
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "This letter is about the game ");
}

/* A token outlives a seat: nothing of a private game is told to who is not in it any more, by a
 * question, an act or a refusal. */
static void test_an_old_address_shows_no_private_game(void **state)
{
    static const char *const said[] = {"board",  "status", "last",      "moves",  "spoken",
                                       "clocks", "why",    "opponents", "note x", "accept",
                                       "decline", "e2-e4", "resign",    "undo",   "nonsense"};
    struct post *p = *state;
    int64_t hidden = game_create_open(p->t, "teams", WEST, true);
    int64_t open = game_create_open(p->t, "teams", WEST, false);
    struct game_row game = game_get(p->t, hidden);

    for (size_t i = 0; i < COUNT_OF(said); i++) {
        r = post_say(p, STRANGER, post_token(p, STRANGER, TOKEN_INVITATION, hidden), said[i]);
        expect(r, INBOX_VERDICT_REFUSED);
        if (!str_eq(said[i], "nonsense"))
            expect_says(r, "InvalidGameID");
        assert_int_equal(r->row.game_id, 0);
        assert_null(strstr(r->text, game.public_id));
        assert_null(strstr(r->params, "\"board\":true"));
        assert_non_null(strstr(r->params, "\"purpose\":\"account\""));
    }
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_INFO, hidden), "status");
    expect(r, INBOX_VERDICT_ANSWERED); /* its organiser */
    r = post_say(p, STRANGER, post_token(p, STRANGER, TOKEN_INFO, open), "status");
    expect(r, INBOX_VERDICT_ANSWERED);
    assert_int_equal(r->row.game_id, open);
    assert_int_equal(post_count(p, "SELECT count(*) FROM notes"), 0);
}

/* U1: a note is its writer's alone. */
static void test_notes_are_private(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    r = post_play(p, SOUTH, game, "note Red is weak on the left; \"quotes\" and \\ too");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "nobody else sees it");
    r = post_play(p, SOUTH, game, "note");
    expect_says(r, "in the order in which you wrote them:\n"
                   "  1. Red is weak on the left; \"quotes\" and \\ too\n");
    r = post_play(p, WEST, game, "note");
    expect_says(r, "You have no notes on this game.");
    expect_silent(r, "weak");
    r = post_say(p, ORGANISER, post_token(p, ORGANISER, TOKEN_INFO, game), "note I see you");
    expect(r, INBOX_VERDICT_REFUSED); /* as at the other doors */
    expect_says(r, "NotYourGame");
}

/* They are numbered from one, a game. */
static void test_notes_are_listed_in_their_order(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams"), other = game_start(p->t, "teams");

    (void)post_play(p, SOUTH, game, "note first");
    (void)post_play(p, SOUTH, other, "note elsewhere");
    (void)post_play(p, WEST, game, "note not mine");
    move_ok(p->t, game, "e2e4");
    move_ok(p->t, game, "b4d4");
    (void)post_play(p, SOUTH, game, "note second");
    (void)post_play(p, SOUTH, game, "note third");
    r = post_play(p, SOUTH, game, "note");
    expect_says(r, "  1. first\n  2. second (after move 2)\n  3. third (after move 2)\n");
    expect_silent(r, "  4. ");
    r = post_play(p, SOUTH, other, "note");
    expect_says(r, "  1. elsewhere\n");
    expect_silent(r, "  2. ");
}

static enum status profile_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    const struct table *t = arg;
    enum status st = users_set_profile(txn, t->user[SOUTH], NULL, "Europe/Chisinau", "ru", now,
                                       err);

    return st == ST_OK ? users_set_profile(txn, t->user[WEST], NULL, "Europe/Bucharest", "ro",
                                           now, err)
                       : st;
}

/* U6: his language; local time with its zone, UTC, and how long. */
static void test_answers_speak_the_players_language_and_zone(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    struct writer_command command = {.name = "profile", .run = profile_run, .arg = p->t};
    struct err err = ERR_INIT;

    assert_ok(writer_run(p->t->writer, &command, &err), err);
    r = post_play(p, SOUTH, game, "e2-e4");
    expect_says(r, "Success: Ход e2e4 принят и придержан");
    expect_says(r, "02:10 EET (Europe/Chisinau), то есть");
    r = post_play(p, WEST, game, "status");
    expect_says(r, "(Europe/Bucharest), adică");
    r = post_play(p, WEST, game, "bord");
    expect_says(r, "Nu s-a schimbat nimic.");
    expect_says(r, "Ați vrut să scrieți `board`?");
}

/* A refusal that a Russian reads has no English word but what he wrote himself (the second
 * paragraph's first line), the word for programs that its next line begins with, and the words of
 * commands and house rules. */
static void assert_no_english(const char *text)
{
    static const char *const shown[] = {
        "anna",  "capturable", "chess",     "chosen", "create", "days",  "east",  "example",
        "fortress", "inert",   "left",      "light",  "maybe",  "name",  "nord",  "north",
        "open",  "opponents",  "place",     "private", "promotion", "queen", "queens", "random",
        "rated", "reserve",    "safe",      "seat",   "south",  "teams", "usual", "verney",
        "west",  "zorro",
    };
    const char *at = strstr(text, "\n\n");

    at = at ? strchr(at + 2, '\n') : NULL;
    at = at ? strchr(at, ':') : NULL;
    assert_non_null(at);
    while (*at && !str_starts(at, "\nЭто пишется так: ")) {
        char word[32];
        size_t n = 0;
        bool is_shown = false;

        for (; char_is_letter(at[n]); n++)
            ;
        (void)snprintf(word, sizeof word, "%.*s", (int)n, at);
        for (size_t i = 0; i < COUNT_OF(shown); i++)
            is_shown = is_shown || str_eq(word, shown[i]);
        if (n >= 4 && !is_shown)
            fail_msg("\"%s\" in:\n%s", word, text);
        at += n > 0 ? n : 1;
    }
}

/* U6: a refusal's particulars too. */
static void test_refusals_are_in_the_players_language_to_the_last_word(void **state)
{
    static const struct {
        const char *text, *ru, *ro;
    } rows[] = {
        {"create chess", "BadRequest: игры `chess` нет; игры: verney,",
         "BadRequest: nu există jocul `chess`; jocuri: verney,"},
        {"create verney inert=maybe",
         "такого значения у правила стола нет; правила стола игры verney:",
         "regula mesei nu are această valoare; regulile mesei în verney:"},
        {"create teams days=90", "время на ход: от 1 ч до 60 д.",
         "timpul pentru o mutare: de la 1 h la 60 z."},
        {"create teams\nseat south me\nseat west me", "место Юг; против себя не играют.",
         "are locul Sud; nimeni nu joacă împotriva sa."},
        {"create teams\nseat nord me",
         "`nord` здесь стоять не может; может стоять: south, west, north или east.",
         "`nord` nu poate sta aici; poate sta: south, west, north sau east."},
        {"create teams\nseat south", "в конце чего-то не хватает: me, open, имя игрока или адрес.",
         "la sfârșit lipsește ceva: me, open, numele unui jucător sau o adresă."},
        {"create teams\nseat south zorro", "игрока с именем zorro здесь нет;",
         "zorro nu este numele unui jucător de aici;"},
        {"create teams\nseat south bo@@example", "адрес выглядит как name@example.org",
         "o adresă arată ca name@example.org"},
    };
    struct post *p = *state;
    struct writer_command command = {.name = "profile", .run = profile_run, .arg = p->t};
    struct err err = ERR_INIT;
    int64_t game = game_create_open(p->t, "fortress reserve=chosen", ORGANISER, false);

    assert_ok(writer_run(p->t->writer, &command, &err), err);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_ACCOUNT, 0), rows[i].text);
        expect(r, INBOX_VERDICT_REFUSED);
        expect_says(r, rows[i].ru);
        assert_no_english(r->text);
        r = post_say(p, WEST, post_token(p, WEST, TOKEN_ACCOUNT, 0), rows[i].text);
        expect(r, INBOX_VERDICT_REFUSED);
        expect_says(r, rows[i].ro);
    }
    for (int user = SOUTH; user <= EAST; user++)
        join(p->t, game, user, user);
    r = post_say(p, SOUTH, post_token(p, SOUTH, TOKEN_PLACING, game), "place R a1 N n3 B o1");
    expect_says(r, "InvalidMove: Резерв так стоять не может: поле a1 не в вашей крепости.");
    assert_no_english(r->text);
    r = post_say(p, WEST, post_token(p, WEST, TOKEN_PLACING, game), "place R a1 N a1 B b2");
    expect_says(r, "InvalidMove: Rezerva nu poate sta așa: pe a1 nu pot sta două piese.");
}

static void test_an_answer_is_cut_where_it_would_be_too_long(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    char text[2100] = "note ";

    p->options.answers_an_hour = 1000;
    post_close(p);
    post_open(p);
    memset(text + 5, '"', 2000); /* each of them doubles in JSON */
    text[2005] = '\0';
    for (int i = 0; i < 8; i++) {
        text[5] = (char)('0' + i);
        expect(post_play(p, SOUTH, game, text), INBOX_VERDICT_ACTED);
    }
    r = post_play(p, SOUTH, game, "note");
    expect_says(r, "The answer was longer than a letter may be and ends here.");
    assert_true(strlen(r->text) <= INTAKE_ANSWER_MAX + 200);
    assert_true(strlen(r->params) <= PARAMS_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, post_setup, post_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_move_is_held_then_shown),
        TEST(test_a_full_stop_behind_a_move_counts_for_nothing),
        TEST(test_undo_takes_a_held_move_back_and_no_other),
        TEST(test_without_a_grace_a_move_is_played_at_once),
        TEST(test_a_player_may_have_a_grace_of_his_own),
        TEST(test_a_refused_move_names_reason_and_what_would_be_legal),
        TEST(test_an_ambiguous_move_is_answered_with_its_candidates),
        TEST(test_the_number_before_a_move_must_be_that_of_the_turn),
        TEST(test_commands_of_a_letter_are_one_unit),
        TEST(test_a_stale_address_moves_nothing_but_answers_questions),
        TEST(test_a_move_written_again_is_recorded_already),
        TEST(test_a_move_made_elsewhere_is_recorded_already),
        TEST(test_an_expired_or_revoked_address_moves_nothing),
        TEST(test_a_letter_accepted_in_time_is_in_time),
        TEST(test_a_letter_accepted_too_late_has_lost_on_time),
        TEST(test_a_draw_is_offered_accepted_and_declined),
        TEST(test_who_declines_his_own_offer_takes_it_back),
        TEST(test_an_offer_of_ones_own_is_not_to_be_answered),
        TEST(test_what_a_game_has_not_is_said_so),
        TEST(test_squares_and_letters_that_are_not_are_explained),
        TEST(test_games_lists_invitations_and_games_that_wait),
        TEST(test_resigning_takes_the_seat_out),
        TEST(test_M8_a_resignation_is_held_then_done),
        TEST(test_M8_a_resignation_waits_for_a_second_letter),
        TEST(test_M8_a_resignation_that_is_not_meant_is_dropped),
        TEST(test_a_move_and_a_resignation_take_each_others_place),
        TEST(test_who_moves_at_once_is_told_that_he_does_not_resign),
        TEST(test_who_moves_at_once_is_told_that_another_move_is_taken_back),
        TEST(test_R_C13_who_has_two_armies_says_which_one_resigns),
        TEST(test_a_command_below_a_quotation_is_not_dropped_in_silence),
        TEST(test_a_reserve_is_placed_by_mail),
        TEST(test_a_game_is_made_and_filled_by_mail),
        TEST(test_a_game_that_cannot_be_made_is_not),
        TEST(test_answers_come_in_the_order_of_the_commands),
        TEST(test_ones_own_name_is_as_good_as_me),
        TEST(test_an_address_is_invited_three_times_before_it_answers),
        TEST(test_an_old_address_makes_no_game_and_keeps_no_note),
        TEST(test_an_answer_that_is_far_too_long_loses_nothing),
        TEST(test_games_per_player_are_limited),
        TEST(test_questions_are_answered),
        TEST(test_last_tells_all_since_ones_own_move),
        TEST(test_an_old_address_shows_no_private_game),
        TEST(test_notes_are_private),
        TEST(test_notes_are_listed_in_their_order),
        TEST(test_games_lists_what_can_be_joined_and_join_takes_it),
        TEST(test_join_refuses_in_the_words_of_every_door),
        TEST(test_join_is_one_unit_with_the_rest_of_its_letter),
        TEST(test_join_needs_a_letter_that_is_good),
        TEST(test_leave_gives_the_seat_back_before_the_start),
        TEST(test_a_game_is_looked_at_from_a_letter_about_none),
        TEST(test_answers_speak_the_players_language_and_zone),
        TEST(test_refusals_are_in_the_players_language_to_the_last_word),
        TEST(test_an_answer_is_cut_where_it_would_be_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

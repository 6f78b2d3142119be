/* intake/run_acts.c - resigning, draws, placing, accept and decline; see run.h. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/run.h"
#include "store/votes.h"

/* ------------------------------------------------------------------------------- other acts */

/* One of the arbiter's functions that take an act. */
enum status run_act(struct run *r,
                    enum status (*fn)(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                      struct arbiter_actor actor, const struct arbiter_act *act,
                                      struct game_row *ret_game, struct err *err),
                    const char *code, struct err *err)
{
    struct act *a = r->a;
    const struct arbiter_act act = act_belief(a);

    TRY(fn(a->options->arbiter, a->txn, a->now, act_actor(a), &act, NULL, err));
    TRY(act_reload(a, err));
    a->token.state_no = a->game.state_no; /* what changed it was one's own */
    a->has_acted = true;
    say_success(a);
    say_plain(a, code);
    say_line(a);
    say_result(a); /* that may have been the end */
    return ST_OK;
}

/* ------------------------------------------------------------------------------- resigning */

/* The held resignation's receipt.  move: what he had in hand before, which it took the place of. */
static void say_resigning(struct run *r, int seat, const char *move)
{
    struct act *a = r->a;
    struct buf until = buf_make(LINE_ROOM);

    instant_put(&until, a, a->resignations[seat].release_at);
    say_success(a);
    SAY(a, "mail.resign_held", WORDS_TEXT("colour", colour_of(a, seat)),
        WORDS_TEXT("at", until.data));
    say_line(a);
    if (*move && !a->has_held) {
        SAY(a, "mail.move_replaced", WORDS_TEXT("move", move));
        say_line(a);
    }
    buf_release(&until);
}

static enum status hold_resignation(struct run *r, const struct arbiter_act *act, struct err *err)
{
    struct act *a = r->a;
    char move[MOVE_TEXT_SIZE] = "";
    struct held_row held;

    if (a->has_held)
        (void)str_copy(move, sizeof move, a->held.move);
    TRY(arbiter_hold_resignation(a->options->arbiter, a->txn, a->now, act_actor(a), act,
                                 a->reading->row.id, a->now + act_hold_ms(a), &held, NULL, err));
    TRY(act_reload(a, err));
    a->has_acted = true;
    r->resigned |= 1u << held.seat;
    say_resigning(r, held.seat, move);
    return ST_OK;
}

static enum status resign_now(struct run *r, const struct arbiter_act *act, struct err *err)
{
    struct act *a = r->a;

    TRY(arbiter_resign(a->options->arbiter, a->txn, a->now, act_actor(a), act, NULL, err));
    TRY(act_reload(a, err));
    a->token.state_no = a->game.state_no; /* what changed it was one's own */
    a->has_acted = true;
    say_success(a);
    say_plain(a, "mail.resigned");
    say_line(a);
    say_result(a);
    return ST_OK;
}

enum status run_resign(struct run *r, struct err *err)
{
    struct act *a = r->a;
    struct arbiter_act act = act_belief(a);
    enum status st;

    if (r->at->seat >= 0) {
        act.seat = r->at->seat;
        if ((a->own >> act.seat & 1u) == 0)
            return run_refuse(r, err, REASON_NOT_YOUR_GAME, "mail.not_your_seat");
    }
    st = act_hold_ms(a) > 0 ? hold_resignation(r, &act, err) : resign_now(r, &act, err);
    r->has_resigned = r->has_resigned || st == ST_OK;
    if (st == ST_OK || err->reason != REASON_MISSING_FIELD)
        return st;
    (void)words_print(r->hint, sizeof r->hint, a->lang, "mail.resign_which",
                      (const struct words_arg[]){WORDS_TEXT("seat", command_seat(own_seat(a)))}, 1);
    return err_reason(err, REASON_MISSING_FIELD, "%s", reason_title(REASON_MISSING_FIELD));
}

/* ------------------------------------------------------------------------------- draws */

/* Why a draw cannot be offered, in the reader's language; the line of the offer is at fault, not
 * that of the move it goes with. */
void run_why_no_offer(struct run *r)
{
    struct act *a = r->a;
    struct vote_row vote;
    struct err ignored = ERR_INIT;
    bool has_agreed = true;

    for (size_t i = 0; i < r->g->n; i++)
        if (r->g->commands[i].kind == COMMAND_DRAW_OFFER)
            r->at = &r->g->commands[i];
    if (votes_get_open(a->conn, a->game.id, VOTE_DRAW, &vote, &ignored) != ST_OK)
        return;
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        if (a->own >> seat & 1u)
            has_agreed = has_agreed && vote.answers[seat] == 1;
    (void)words_print(r->why, sizeof r->why, a->lang,
                      a->own >> vote.seat & 1u ? "mail.draw_stands"
                      : has_agreed             ? "mail.draw_agreed"
                                               : "mail.draw_open",
                      (const struct words_arg[]){WORDS_TEXT("colour", colour_of(a, vote.seat))}, 1);
}

enum status run_draw_offer(struct run *r, struct err *err)
{
    struct act *a = r->a;
    enum status st;

    for (size_t i = 0; i < r->g->n; i++)
        if (r->g->commands[i].kind == COMMAND_MOVE) { /* it goes with the move, before or behind */
            a->has_acted = true;
            say_success(a);
            say_plain(a, "mail.draw_with_move");
            say_line(a);
            return ST_OK;
        }
    st = run_act(r, arbiter_offer_draw, "mail.draw_offered", err);
    if (st != ST_OK && err->reason == REASON_ALREADY_DONE)
        run_why_no_offer(r);
    return st;
}

/* Where one's own fortress is: its squares. */
static void hint_fortress(struct run *r, int seat)
{
    struct act *a = r->a;
    struct buf list = buf_make(LINE_ROOM);
    struct board squares;
    struct variant variant;
    char text[SQUARE_TEXT_MAX];

    if (seat >= 0 && variant_find(game_variant_str(a->game.variant), &variant) &&
        game_reserve_squares(variant.game, (enum seat)seat, &squares)) {
        for (int square = 0; square < 256; square++)
            if (board_has(&squares, square) && square_print(square, text) > 0)
                buf_printf(&list, "%s%s", list.len > 0 ? ", " : "", text);
        (void)words_print(r->hint, sizeof r->hint, a->lang, "mail.fortress",
                          (const struct words_arg[]){WORDS_TEXT("squares", list.data)}, 1);
    }
    buf_release(&list);
}

enum status run_place(struct run *r, struct err *err)
{
    struct act *a = r->a;
    char text[3][SQUARE_TEXT_MAX];
    struct arbiter_placement placement = {.seat = ARBITER_ANY_SEAT, .received_at = a->at};
    enum status st;

    if (a->game.reserve != GAME_RESERVE_CHOSEN) {
        (void)words_print(r->why, sizeof r->why, a->lang, "mail.no_reserve", NULL, 0);
        return err_reason(err, REASON_BAD_REQUEST, "%s", reason_title(REASON_BAD_REQUEST));
    }

    for (int i = 0; i < 3; i++)
        (void)square_print(r->at->squares[i], text[i]);
    placement.rook = text[0];
    placement.bishop = text[1];
    placement.knight = text[2];
    if (a->token.purpose == TOKEN_PLACING && a->token.seat >= 0)
        placement.seat = a->token.seat;
    st = arbiter_place(a->options->arbiter, a->txn, a->now, act_actor(a), a->game.id, &placement,
                       NULL, err);
    if (st != ST_OK && err->reason == REASON_BAD_PLACEMENT)
        hint_fortress(r, placing_seat(a));
    if (st != ST_OK)
        return st;
    TRY(act_reload(a, err));
    a->has_acted = true;
    say_success(a);
    SAY(a, a->game.state == GAME_PLACING ? "mail.placed" : "mail.placed_all",
        WORDS_TEXT("rook", text[0]), WORDS_TEXT("bishop", text[1]), WORDS_TEXT("knight", text[2]));
    say_line(a);
    return ST_OK;
}

/* ------------------------------------------------------------------------------ accept, decline */

static enum status answer_invitation(struct run *r, int64_t game_id, bool is_yes, struct err *err)
{
    struct act *a = r->a;
    struct game_row *game = malloc(sizeof *game);
    enum status st;

    if (!game)
        return err_reason(err, REASON_NO_MEMORY, "a game");
    st = is_yes ? arbiter_accept(a->options->arbiter, a->txn, a->now, act_actor(a), game_id, NULL,
                                 game, err)
                : arbiter_decline(a->options->arbiter, a->txn, a->now, act_actor(a), game_id, NULL,
                                  game, err);
    if (st == ST_OK) {
        a->has_game = true;
        a->game = *game;
        st = act_reload(a, err);
    }
    if (st == ST_OK) {
        a->has_acted = true;
        say_success(a);
        SAY(a, is_yes ? "mail.accepted" : "mail.declined", WORDS_TEXT("game", a->game.public_id));
        say_line(a);
        if (!is_yes)
            a->wants_board = false;
    } else if (err->reason == REASON_FORBIDDEN) {
        st = run_refuse(r, err, REASON_NOT_FOUND, "mail.no_invitation");
    }
    free(game);
    return st;
}

/* About which game, when the letter says none: the only invitation he has. */
static enum status only_invitation(struct run *r, int64_t *ret_game_id, struct err *err)
{
    struct act *a = r->a;
    struct invitation_row *rows = calloc(2, sizeof *rows);
    size_t n = 0, more = 0;
    enum status st;

    if (!rows)
        return err_reason(err, REASON_NO_MEMORY, "invitations");
    st = invitations_of_user(a->conn, a->sender.user.id, rows, 2, &n, err);
    if (st == ST_OK && n == 0)
        st = invitations_of_address(a->conn, a->sender.user.address_key, rows, 2, &more, err);
    if (st == ST_OK && n + more == 1)
        *ret_game_id = rows[0].game_id;
    else if (st == ST_OK)
        st = run_refuse(r, err, REASON_MISSING_FIELD,
                        n + more == 0 ? "mail.nothing_open" : "mail.which_invitation");
    free(rows);
    return st;
}

/* Of an offer; whoever made it takes it back (R-C10). */
enum status run_decline(struct run *r, struct err *err)
{
    struct act *a = r->a;
    struct vote_row vote;
    enum status st = votes_get_open(a->conn, a->game.id, VOTE_DRAW, &vote, err);

    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    return run_act(r, arbiter_decline_draw,
                   st == ST_OK && (a->own >> vote.seat & 1u) ? "mail.draw_withdrawn"
                                                             : "mail.draw_declined",
                   err);
}

/* What an `accept` without more is about: what the letter was for, else what is open. */
enum status run_answer(struct run *r, bool is_yes, struct err *err)
{
    struct act *a = r->a;
    struct vote_row vote;
    int64_t game_id = 0;
    enum status st;

    if (!a->has_game) {
        TRY(only_invitation(r, &game_id, err));
        return answer_invitation(r, game_id, is_yes, err);
    }
    if (a->token.purpose == TOKEN_INVITATION)
        return answer_invitation(r, a->game.id, is_yes, err);
    st = votes_get_open(a->conn, a->game.id, VOTE_DRAW, &vote, err);
    if (st == ST_OK || a->token.purpose == TOKEN_DRAW)
        return is_yes ? run_act(r, arbiter_accept_draw, "mail.draw_accepted", err)
                      : run_decline(r, err);
    if (st != ST_NOT_FOUND)
        return st;
    if (a->game.state == GAME_OPEN)
        return answer_invitation(r, a->game.id, is_yes, err);
    return run_refuse(r, err, REASON_NO_DRAW_OFFERED, "mail.nothing_open");
}

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/access.h"
#include "base/str.h"
#include "intake/internal.h"
#include "store/votes.h"

enum { LIST_ROOM = 16 * 1024, LINE_ROOM = 4096 };

/* One letter's commands on their way. */
struct run {
    struct act *a;
    const struct grammar *g;
    bool is_stale;             /* the address that was written to shows an earlier state */
    bool has_draw;             /* somewhere in it a draw is offered */
    bool has_moved;            /* a move was made or is held */
    bool has_resigned;         /* a resignation was made or is held */
    unsigned resigned;         /* bit seat: its resignation is held since one of these commands */
    bool drew;                 /* … and the offer went with it */
    bool has_created;          /* `create` and its `seat` lines were run */
    const struct command *at;  /* the command at work */
    char why[LINE_ROOM];       /* why, in the reader's language, where err does not say it */
    char hint[LINE_ROOM];      /* a refusal's further words */
};

static bool letter_has(const struct grammar *g, enum command_kind kind)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->commands[i].kind == kind)
            return true;
    return false;
}

static struct arbiter_actor actor_of(const struct act *a)
{
    return (struct arbiter_actor){.user_id = a->sender.user.id,
                                  .is_operator = a->sender.user.is_operator,
                                  .received_at = a->at};
}

/* In what belief: the state number that the letter answered was shown. */
static struct arbiter_act act_of(const struct act *a)
{
    return (struct arbiter_act){.game_id = a->game.id,
                                .seat = ARBITER_ANY_SEAT,
                                .state_no = a->token.state_no,
                                .ply = -1,
                                .received_at = a->at};
}

static enum status refuse(struct run *r, struct err *err, enum reason reason, const char *code)
{
    (void)words_print(r->hint, sizeof r->hint, r->a->lang, code, NULL, 0);
    return err_reason(err, reason, "%s", reason_title(reason));
}

/* ------------------------------------------------------------------------------- a move */

/* The square that a move begins at, as text; "" if it is none of the board's. */
static void starting_square(const struct position *pos, int from, char ret[SQUARE_TEXT_MAX])
{
    ret[0] = '\0';
    if (square_is_on_board(pos->variant.game, from))
        (void)square_print(from, ret);
}

/* "e2-e4, e2-e3": the moves that a text may mean. */
static void hint_several(struct buf *out, enum lang lang, const struct move_reading *reading)
{
    struct buf list = buf_make(LIST_ROOM);

    for (int i = 0; i < reading->candidates && i < MOVE_CANDIDATES_MAX; i++) {
        char text[MOVE_COORDINATE_MAX];

        (void)move_print_coordinate(reading->candidate[i], text, sizeof text);
        buf_printf(&list, "%s%s", i > 0 ? ", " : "", text);
    }
    words_put(out, lang, "mail.candidates",
              (const struct words_arg[]){WORDS_TEXT("moves", list.data)}, 1);
    buf_release(&list);
}

/* The legal moves of the man at a square; of men of a kind where no square is known. */
static void hint_legal(struct buf *out, enum lang lang, const struct position *pos, int from,
                       enum kind kind)
{
    struct buf list = buf_make(LIST_ROOM);
    char square[SQUARE_TEXT_MAX] = "";

    starting_square(pos, from, square);
    if (kind == KIND_NONE)
        kind = KIND_PAWN;
    if (square[0] && moves_put(&list, pos, from, KIND_NONE) > 0) {
        words_put(out, lang, "mail.legal_from",
                  (const struct words_arg[]){WORDS_TEXT("square", square),
                                             WORDS_TEXT("moves", list.data)},
                  2);
    } else if (!square[0] && moves_put(&list, pos, SQUARE_NONE, kind) > 0) {
        words_put(out, lang, "mail.legal_kind",
                  (const struct words_arg[]){WORDS_TEXT("kind", words_kind(lang, kind)),
                                             WORDS_TEXT("moves", list.data)},
                  2);
    } else {
        if (square[0]) {
            words_put(out, lang, "mail.moves_none",
                      (const struct words_arg[]){WORDS_TEXT("square", square)}, 1);
            buf_puts(out, " ");
        }
        words_put(out, lang, "mail.ask_moves", NULL, 0);
    }
    buf_release(&list);
}

/* Why a move that could be read is none of the legal ones, into r->why; and where it begins. */
static void explain_illegal(struct run *r, const struct position *pos,
                            struct move_reading *reading)
{
    struct buf why = buf_make(LIST_ROOM);

    words_move_verdict(&why, r->a->lang, pos, &reading->judgement);
    (void)str_copy(r->why, sizeof r->why, why.data);
    buf_release(&why);
    if (reading->judgement.code == MOVE_NO_CASTLING) {
        if (reading->from == SQUARE_NONE)
            reading->kind = KIND_KING;
    } else if (!square_is_on_board(pos->variant.game, reading->from)) {
        reading->from = reading->judgement.move.from;
    }
}

static const char *unfit_code(enum read_verdict verdict)
{
    switch (verdict) {
    case READ_WRONG_MAN:
        return "mail.wrong_man";
    case READ_NO_CAPTURE:
        return "mail.no_capture";
    case READ_WRONG_VICTIM:
        return "mail.wrong_victim";
    default:
        return "mail.no_such_move";
    }
}

/* What would be right instead of a move that was refused. */
static void hint_move(struct run *r, const struct position *pos)
{
    const struct command *c = r->at;
    struct move_reading *reading = malloc(sizeof *reading);
    struct buf out = buf_make(LIST_ROOM);
    enum grammar_hint hint = grammar_hint_of(c->shown);
    enum lang lang = r->a->lang;
    enum read_verdict verdict;

    if (!reading)
        goto out;
    verdict = move_read(pos, c->text, strlen(c->text), reading);
    switch (verdict) {
    case READ_SEVERAL:
        hint_several(&out, lang, reading);
        break;
    case READ_ILLEGAL:
        if (reading->judgement.code == MOVE_NO_CASTLING &&
            !game_has_castling(pos->variant.game)) { /* R-V4 */
            (void)words_print(r->why, sizeof r->why, lang, "mail.no_castling", NULL, 0);
            words_put(&out, lang, "mail.ask_moves", NULL, 0);
            break;
        }
        explain_illegal(r, pos, reading);
        hint_legal(&out, lang, pos, reading->from, reading->kind);
        break;
    case READ_WRONG_MAN:
    case READ_NO_CAPTURE:
    case READ_WRONG_VICTIM:
    case READ_NONE:
        words_put(&out, lang, unfit_code(verdict), NULL, 0);
        buf_puts(&out, "\n");
        if (hint == HINT_LETTER) /* "Cf3": a file to us, a knight elsewhere */
            say_shape_hint(r->a, &out, c->shown);
        hint_legal(&out, lang, pos, reading->from, reading->kind);
        break;
    default:
        words_put(&out, lang, "mail.cannot_read", NULL, 0);
        buf_puts(&out, "\n");
        if (hint != HINT_HALF)
            say_shape_hint(r->a, &out, c->shown);
        break;
    }
out:
    (void)str_copy(r->hint, sizeof r->hint, out.data);
    free(reading);
    buf_release(&out);
}

/* "12." must be the coming move, counted in moves or in rounds as letters do. */
static enum status check_number(struct run *r, struct err *err)
{
    struct act *a = r->a;
    int round = 0;

    if (r->at->number == 0 || r->at->number == a->game.ply + 1)
        return ST_OK;
    TRY(round_of(a, &round, err));
    if (r->at->number == round)
        return ST_OK;
    (void)words_print(r->hint, sizeof r->hint, a->lang, "mail.number",
                      (const struct words_arg[]){WORDS_NUMBER("said", r->at->number),
                                                 WORDS_NUMBER("number", a->game.ply + 1),
                                                 WORDS_NUMBER("round", round)},
                      3);
    return err_reason(err, REASON_MOVE_NUMBER, "%s", reason_title(REASON_MOVE_NUMBER));
}

static int64_t hold_ms_of(const struct act *a)
{
    return a->sender.user.hold_ms >= 0 ? a->sender.user.hold_ms : a->options->hold_ms;
}

/* Why a draw cannot be offered, in the reader's language; the line of the offer is at fault, not
 * that of the move it goes with. */
static void why_no_offer(struct run *r)
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

static enum status offer_with_move(struct run *r, struct err *err)
{
    struct act *a = r->a;
    struct arbiter_act act = act_of(a);

    act.state_no = a->game.state_no; /* after the move, which was one's own */
    return arbiter_offer_draw(a->options->arbiter, a->txn, a->now, actor_of(a), &act, NULL, err);
}

/* The move took the place of a resignation. */
static void say_not_resigning(struct run *r, unsigned before)
{
    struct act *a = r->a;

    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        if (((before & ~a->resigning) >> seat & 1u) == 0)
            continue;
        SAY(a, "mail.resign_replaced", WORDS_TEXT("colour", colour_of(a, seat)));
        say_line(a);
    }
}

/* … or of a move of his (""), unless it was the same. */
static void say_move_replaced(struct run *r, const char *before, const char *move)
{
    struct act *a = r->a;

    if (!before[0] || str_eq(before, move))
        return;
    SAY(a, "mail.move_replaced", WORDS_TEXT("move", before));
    say_line(a);
}

static enum status play(struct run *r, struct err *err)
{
    struct act *a = r->a;
    const struct arbiter_act act = act_of(a);
    int64_t hold_ms = hold_ms_of(a);
    unsigned resigning = a->resigning;
    char before[MOVE_TEXT_SIZE] = ""; /* held, with whatever grace there was */
    enum status st;

    if (a->has_held)
        (void)str_copy(before, sizeof before, a->held.move);
    if (hold_ms > 0) {
        struct buf until = buf_make(LINE_ROOM);

        st = arbiter_hold(a->options->arbiter, a->txn, a->now, actor_of(a), &act, r->at->text,
                          r->has_draw, a->reading->row.id, a->now + hold_ms, NULL, NULL, err);
        if (st == ST_OK)
            st = act_reload(a, err);
        if (st == ST_OK) {
            instant_put(&until, a, a->held.release_at);
            say_success(a);
            SAY(a, "mail.move_held", WORDS_TEXT("move", a->held.move),
                WORDS_TEXT("at", until.data));
            say_line(a);
            say_not_resigning(r, resigning);
        }
        buf_release(&until);
        return st;
    } else {
        struct arbiter_moved *moved = malloc(sizeof *moved);

        if (!moved)
            return err_reason(err, REASON_NO_MEMORY, "a move");
        st = arbiter_move(a->options->arbiter, a->txn, a->now, actor_of(a), &act, r->at->text,
                          moved, err);
        if (st == ST_OK)
            st = act_reload(a, err);
        if (st == ST_OK) {
            say_success(a);
            SAY(a, "mail.move_played", WORDS_TEXT("move", moved->move.move),
                WORDS_TEXT("short", moved->move.san));
            say_line(a);
            say_not_resigning(r, resigning);
            say_move_replaced(r, before, moved->move.move);
            if (r->has_draw && a->game.state == GAME_RUNNING)
                st = offer_with_move(r, err);
        }
        free(moved);
        return st;
    }
}

static enum status run_move(struct run *r, struct err *err)
{
    struct act *a = r->a;
    struct position *pos = NULL;
    enum status st;

    if (r->has_moved)
        return refuse(r, err, REASON_BAD_REQUEST, "mail.two_moves");
    if (a->game.turn_seat >= 0 && (r->resigned >> a->game.turn_seat & 1u))
        return refuse(r, err, REASON_BAD_REQUEST, "mail.after_resign");
    if (a->game.state == GAME_RUNNING && a->token.state_no == a->game.state_no &&
        a->game.turn_user_id == a->sender.user.id)
        TRY(check_number(r, err));
    if (a->game.position[0])
        TRY(act_position(a, &pos, err));
    st = play(r, err);
    if (st == ST_OK) {
        r->has_moved = a->has_acted = true;
        r->drew = r->has_draw;
    } else if (pos && (err->reason == REASON_ILLEGAL_MOVE || err->reason == REASON_AMBIGUOUS_MOVE ||
                       err->reason == REASON_UNREADABLE_MOVE)) {
        hint_move(r, pos);
    } else if (r->has_draw && err->reason == REASON_ALREADY_DONE) {
        why_no_offer(r);
    } else if (err->reason == REASON_MOVE_HELD) {
        (void)words_print(r->hint, sizeof r->hint, a->lang, "mail.undo_first",
                          (const struct words_arg[]){WORDS_TEXT("move", a->held.move)}, 1);
    }
    free(pos);
    return st;
}

/* Nothing of the army that was named is held: what is, and how that is taken back. */
static enum status refuse_undo_of(struct run *r, struct err *err)
{
    struct act *a = r->a;
    struct buf hint = buf_make(LINE_ROOM);
    int named = r->at->seat;

    words_put(&hint, a->lang,
              a->own >> named & 1u ? "mail.undo_not_that" : "mail.not_your_seat",
              (const struct words_arg[]){
                  WORDS_TEXT("colour", colour_of(a, named)),
                  WORDS_TEXT("seat", words_seat_name(a->lang, (enum seat)named))},
              a->own >> named & 1u ? 2 : 0);
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        bool is_move = a->has_held && a->held.seat == seat;

        if (!is_move && (a->resigning >> seat & 1u) == 0)
            continue;
        buf_putc(&hint, '\n');
        words_put(&hint, a->lang, is_move ? "mail.undo_move" : "mail.undo_resign",
                  (const struct words_arg[]){
                      WORDS_TEXT("word", command_seat(seat)),
                      is_move ? WORDS_TEXT("move", a->held.move)
                              : WORDS_TEXT("colour", colour_of(a, seat))},
                  2);
    }
    (void)str_copy(r->hint, sizeof r->hint, hint.data);
    buf_release(&hint);
    return err_reason(err, REASON_NOTHING_HELD, "%s", reason_title(REASON_NOTHING_HELD));
}

static enum status run_undo(struct run *r, struct err *err)
{
    struct act *a = r->a;
    struct arbiter_act act = act_of(a);
    struct held_row held;
    enum status st;

    if (r->at->seat >= 0)
        act.seat = r->at->seat;
    if (!a->has_held && !a->resigning)
        return refuse(r, err, REASON_NOTHING_HELD, "mail.undo_late");
    st = arbiter_undo(a->options->arbiter, a->txn, a->now, actor_of(a), &act, &held, NULL, err);
    if (st != ST_OK && err->reason == REASON_NOTHING_HELD)
        return r->at->seat >= 0 ? refuse_undo_of(r, err)
                                : refuse(r, err, REASON_NOTHING_HELD, "mail.undo_late");
    if (st != ST_OK)
        return st;
    TRY(act_reload(a, err));
    a->has_acted = true;
    say_success(a);
    if (held.kind == HELD_MOVE)
        SAY(a, "mail.undone", WORDS_TEXT("move", held.move));
    else
        SAY(a, "mail.resign_undone", WORDS_TEXT("colour", colour_of(a, held.seat)));
    say_line(a);
    say_held(a); /* who has two seats may have more in hand */
    return ST_OK;
}

/* ------------------------------------------------------------------------------- other acts */

/* One of the arbiter's functions that take an act. */
static enum status run_act(struct run *r,
                           enum status (*fn)(const struct arbiter *arb, struct store_txn *txn,
                                             utc_ms now, struct arbiter_actor actor,
                                             const struct arbiter_act *act,
                                             struct game_row *ret_game, struct err *err),
                           const char *code, struct err *err)
{
    struct act *a = r->a;
    const struct arbiter_act act = act_of(a);

    TRY(fn(a->options->arbiter, a->txn, a->now, actor_of(a), &act, NULL, err));
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
    TRY(arbiter_hold_resignation(a->options->arbiter, a->txn, a->now, actor_of(a), act,
                                 a->reading->row.id, a->now + hold_ms_of(a), &held, NULL, err));
    TRY(act_reload(a, err));
    a->has_acted = true;
    r->resigned |= 1u << held.seat;
    say_resigning(r, held.seat, move);
    return ST_OK;
}

static enum status resign_now(struct run *r, const struct arbiter_act *act, struct err *err)
{
    struct act *a = r->a;

    TRY(arbiter_resign(a->options->arbiter, a->txn, a->now, actor_of(a), act, NULL, err));
    TRY(act_reload(a, err));
    a->token.state_no = a->game.state_no; /* what changed it was one's own */
    a->has_acted = true;
    say_success(a);
    say_plain(a, "mail.resigned");
    say_line(a);
    say_result(a);
    return ST_OK;
}

static enum status run_resign(struct run *r, struct err *err)
{
    struct act *a = r->a;
    struct arbiter_act act = act_of(a);
    enum status st;

    if (r->at->seat >= 0) {
        act.seat = r->at->seat;
        if ((a->own >> act.seat & 1u) == 0)
            return refuse(r, err, REASON_NOT_YOUR_GAME, "mail.not_your_seat");
    }
    st = hold_ms_of(a) > 0 ? hold_resignation(r, &act, err) : resign_now(r, &act, err);
    r->has_resigned = r->has_resigned || st == ST_OK;
    if (st == ST_OK || err->reason != REASON_MISSING_FIELD)
        return st;
    (void)words_print(r->hint, sizeof r->hint, a->lang, "mail.resign_which",
                      (const struct words_arg[]){WORDS_TEXT("seat", command_seat(own_seat(a)))}, 1);
    return err_reason(err, REASON_MISSING_FIELD, "%s", reason_title(REASON_MISSING_FIELD));
}

/* ------------------------------------------------------------------------------- draws */

static enum status run_draw_offer(struct run *r, struct err *err)
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
        why_no_offer(r);
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

static enum status run_place(struct run *r, struct err *err)
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
    st = arbiter_place(a->options->arbiter, a->txn, a->now, actor_of(a), a->game.id, &placement,
                       NULL, err);
    if (st != ST_OK && err->reason == REASON_BAD_PLACEMENT)
        hint_fortress(r, placing_seat(a));
    if (st != ST_OK)
        return st;
    TRY(act_reload(a, err));
    a->has_acted = true;
    say_success(a);
    SAY(a, a->game.state == GAME_PLACING ? "mail.placed" : "mail.placed_all",
        WORDS_TEXT("rook", text[0]), WORDS_TEXT("bishop", text[1]),
        WORDS_TEXT("knight", text[2]));
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
    st = is_yes ? arbiter_accept(a->options->arbiter, a->txn, a->now, actor_of(a), game_id, NULL,
                                 game, err)
                : arbiter_decline(a->options->arbiter, a->txn, a->now, actor_of(a), game_id, NULL,
                                  game, err);
    if (st == ST_OK) {
        a->has_game = true;
        a->game = *game;
        st = act_reload(a, err);
    }
    if (st == ST_OK) {
        a->has_acted = true;
        say_success(a);
        SAY(a, is_yes ? "mail.accepted" : "mail.declined",
            WORDS_TEXT("game", a->game.public_id));
        say_line(a);
        if (!is_yes)
            a->wants_board = false;
    } else if (err->reason == REASON_FORBIDDEN) {
        st = refuse(r, err, REASON_NOT_FOUND, "mail.no_invitation");
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
        st = refuse(r, err, REASON_MISSING_FIELD,
                    n + more == 0 ? "mail.nothing_open" : "mail.which_invitation");
    free(rows);
    return st;
}

/* Of an offer; whoever made it takes it back (R-C10). */
static enum status run_decline(struct run *r, struct err *err)
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
static enum status run_answer(struct run *r, bool is_yes, struct err *err)
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
    return refuse(r, err, REASON_NO_DRAW_OFFERED, "mail.nothing_open");
}

/* ------------------------------------------------------------------------------- a new game */

/* An address that belongs to an account: the invitation goes to that, so that it comes in its
 * language and can be answered by mail.  The answer says the same for both. */
static enum status offer_to_account(struct run *r, const char *key, struct arbiter_offer *ret,
                                    struct err *err)
{
    struct user_row *user = malloc(sizeof *user);
    enum status st = user ? users_find_address(r->a->conn, key, user, err)
                          : err_reason(err, REASON_NO_MEMORY, "a player");

    if (st == ST_OK && user->verified_at != UTC_NONE && user->disabled_at == UTC_NONE)
        *ret = (struct arbiter_offer){.kind = OFFER_USER, .user_id = user->id};
    free(user);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static enum status offer_of(struct run *r, const struct command *c, char key[ADDRESS_MAX + 1],
                            struct arbiter_offer *ret, struct err *err)
{
    struct act *a = r->a;
    struct user_row *user = NULL;
    enum status st = ST_OK;

    r->at = c;
    switch (c->offer) {
    case SEAT_OFFER_OPEN:
        *ret = (struct arbiter_offer){.kind = OFFER_OPEN};
        return ST_OK;
    case SEAT_OFFER_ME:
        *ret = (struct arbiter_offer){.kind = OFFER_USER, .user_id = a->sender.user.id};
        return ST_OK;
    case SEAT_OFFER_ADDRESS:
        TRY(address_is_fit(c->text, err));
        address_fold(c->text, key);
        *ret = (struct arbiter_offer){.kind = OFFER_MAIL, .address = c->text, .address_key = key};
        return offer_to_account(r, key, ret, err);
    case SEAT_OFFER_HANDLE:
        break;
    }
    user = malloc(sizeof *user);
    if (!user)
        return err_reason(err, REASON_NO_MEMORY, "a player");
    if (strlen(c->text) > HANDLE_MAX) {
        st = err_reason(err, REASON_NO_SUCH_USER, "%s", reason_title(REASON_NO_SUCH_USER));
    } else {
        handle_fold(c->text, key);
        st = users_find_handle(a->conn, key, user, err);
    }
    if (st == ST_OK)
        *ret = (struct arbiter_offer){.kind = OFFER_USER, .user_id = user->id};
    else if (err->reason == REASON_NO_SUCH_USER)
        (void)words_print(r->why, sizeof r->why, a->lang, "mail.seat_nobody",
                          (const struct words_arg[]){WORDS_TEXT("name", c->text)}, 1);
    free(user);
    return st;
}

/* A `seat` line beside `create`, in its place.  Its effect is the game's making. */
static enum status run_seat(struct run *r, struct err *err)
{
    struct act *a = r->a;
    const struct command *c = r->at;
    struct arbiter_offer offer = {.kind = OFFER_OPEN};
    char key[ADDRESS_MAX + 1];
    bool is_own;

    if (!letter_has(r->g, COMMAND_CREATE))
        return refuse(r, err, REASON_MISSING_FIELD, "mail.create_alone");
    TRY(offer_of(r, c, key, &offer, err));
    is_own = offer.kind == OFFER_USER && offer.user_id == a->sender.user.id;
    say_success(a);
    SAY(a,
        is_own                        ? "mail.seat_me"
        : c->offer == SEAT_OFFER_OPEN ? "mail.seat_open"
                                      : "mail.seat_invited",
        WORDS_TEXT("seat", words_seat_name(a->lang, (enum seat)c->seat)),
        WORDS_TEXT("name", c->text));
    say_line(a);
    return ST_OK;
}

/* Then a refusal must not name the account that an address belongs to. */
static bool offers_address(const struct grammar *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->commands[i].kind == COMMAND_SEAT && g->commands[i].offer == SEAT_OFFER_ADDRESS)
            return true;
    return false;
}

/* `create` with all `seat` lines of the letter. */
static enum status run_create(struct run *r, struct err *err)
{
    struct act *a = r->a;
    const struct command *create = r->at;
    struct arbiter_new_game wish = {.rules = create->text};
    char(*keys)[ADDRESS_MAX + 1] = NULL;
    struct game_row *game = NULL;
    const struct command *twice = NULL; /* names a player who has a seat already */
    unsigned seated = 0;
    char code[64];
    enum status st = ST_OK;

    if (r->has_created)
        return refuse(r, err, REASON_LIMIT, "mail.create_alone");
    if (a->token.used_at != UTC_NONE) /* one game a letter of ours */
        return refuse(r, err, REASON_LINK_EXPIRED, "mail.token_old");
    keys = calloc(SEATS, sizeof *keys);
    game = malloc(sizeof *game);
    if (!keys || !game) {
        st = err_reason(err, REASON_NO_MEMORY, "a game");
        goto out;
    }
    wish.per_move_ms = create->create.days * MS_DAY;
    wish.is_private = create->create.is_private;
    wish.is_rated = create->create.is_rated;
    wish.table_talk = create->create.table_talk;
    for (size_t i = 0; st == ST_OK && i < r->g->n; i++) {
        const struct command *c = &r->g->commands[i];

        if (c->kind != COMMAND_SEAT)
            continue;
        r->at = c;
        if (seated >> c->seat & 1u)
            st = refuse(r, err, REASON_BAD_FIELD, "mail.seat_twice");
        else
            st = offer_of(r, c, keys[c->seat], &wish.seats[c->seat], err);
        if (st == ST_OK && wish.seats[c->seat].kind == OFFER_USER) {
            for (int s = 0; s < SEATS; s++)
                if ((seated >> s & 1u) != 0 && wish.seats[s].kind == OFFER_USER &&
                    wish.seats[s].user_id == wish.seats[c->seat].user_id)
                    twice = c;
        }
        seated |= 1u << c->seat;
    }
    if (st != ST_OK)
        goto out;
    r->at = create;
    st = arbiter_create(a->options->arbiter, a->txn, a->now, actor_of(a), &wish, game, err);
    if (st != ST_OK && err->reason == REASON_ALREADY_SEATED && twice)
        r->at = twice;
    if (st != ST_OK && err->reason == REASON_ALREADY_SEATED && offers_address(r->g))
        st = err_reason(err, REASON_ALREADY_SEATED, "%s", reason_title(REASON_ALREADY_SEATED));
    if (st != ST_OK)
        goto out;
    a->has_game = true;
    a->game = *game;
    st = act_reload(a, err);
    if (st != ST_OK)
        goto out;
    r->has_created = a->has_acted = true;
    (void)snprintf(code, sizeof code, "game.%s", game_variant_str(game->variant));
    say_success(a);
    SAY(a, "mail.created", WORDS_TEXT("game", game->public_id),
        WORDS_TEXT("variant", words_plain(a->lang, code)), WORDS_TEXT("rules", game->rules));
    say_line(a);
    if (a->options->public_url && *a->options->public_url)
        buf_printf(&a->text, "%s/games/%s\n", a->options->public_url, game->public_id);
out:
    free(keys);
    free(game);
    return st;
}

/* ------------------------------------------------------------------------------- open games */

/* From here on the letter is about this game. */
static enum status turn_to(struct run *r, const struct game_row *game, struct err *err)
{
    struct act *a = r->a;

    a->has_game = true;
    a->game = *game;
    return act_reload(a, err);
}

/* The game that the command names. */
static enum status find_named(struct run *r, struct game_row *ret, struct err *err)
{
    enum status st = games_find(r->a->conn, r->at->text, ret, err);

    return st == ST_NOT_FOUND ? refuse(r, err, REASON_NO_SUCH_GAME, "mail.join_none") : st;
}

/* Which seats of a game the user has: of the letter's, as they were read; of another, read now. */
static enum status own_seats(struct run *r, int64_t game_id, unsigned *ret, struct err *err)
{
    const struct act *a = r->a;
    struct seat_row seats[SEAT_COUNT];

    if (a->has_game && a->game.id == game_id) {
        *ret = a->own;
        return ST_OK;
    }
    TRY(seats_get(a->conn, game_id, seats, err));
    *ret = seats_of_user(seats, a->sender.user.id);
    return ST_OK;
}

/* The allied seat of the first of some. */
static const char *partner_of(unsigned seats)
{
    int seat = 0;

    while (seat < SEAT_COUNT - 1 && (seats >> seat & 1u) == 0)
        seat++;
    return command_seat(seat ^ 2);
}

/* `join 7k2mq0xd`: a second letter with the same does not take the partner's seat as well. */
static enum status join(struct run *r, struct game_row *game, struct err *err)
{
    struct act *a = r->a;
    unsigned seats = r->at->seat >= 0 ? 1u << r->at->seat : 0, before = 0, now = 0;
    enum status st;

    TRY(find_named(r, game, err));
    TRY(own_seats(r, game->id, &before, err));
    if (before != 0 && seats == 0) {
        (void)words_print(r->hint, sizeof r->hint, a->lang, "mail.join_again",
                          (const struct words_arg[]){WORDS_TEXT("game", game->public_id),
                                                     WORDS_TEXT("seat", partner_of(before))},
                          2);
        return err_reason(err, REASON_ALREADY_SEATED, "%s", reason_title(REASON_ALREADY_SEATED));
    }
    st = arbiter_join(a->options->arbiter, a->txn, a->now, actor_of(a), game->id, seats, game, err);
    if (st == ST_NOT_FOUND)
        return refuse(r, err, REASON_NO_SUCH_GAME, "mail.join_none");
    if (st != ST_OK)
        return st;
    TRY(a->has_game ? act_reload(a, err) : turn_to(r, game, err));
    TRY(own_seats(r, game->id, &now, err));
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        if ((now & ~before) >> seat & 1u) {
            say_success(a);
            SAY(a, "mail.joined", WORDS_TEXT("game", game->public_id),
                WORDS_TEXT("seat", words_seat_name(a->lang, (enum seat)seat)));
            say_line(a);
        }
    if (game->state != GAME_OPEN) {
        say_plain(a, "mail.all_seated");
        say_line(a);
    }
    a->has_acted = true;
    return ST_OK;
}

static enum status leave(struct run *r, struct game_row *game, struct err *err)
{
    struct act *a = r->a;
    enum status st;

    if (r->at->text[0])
        TRY(find_named(r, game, err));
    else
        *game = a->game;
    st = arbiter_leave(a->options->arbiter, a->txn, a->now, actor_of(a), game->id,
                       r->at->seat >= 0 ? 1u << r->at->seat : 0, game, err);
    if (st == ST_NOT_FOUND)
        return refuse(r, err, REASON_NO_SUCH_GAME, "mail.join_none");
    if (st != ST_OK && err->reason == REASON_GAME_STARTED)
        return refuse(r, err, REASON_GAME_STARTED, "mail.leave_late");
    if (st != ST_OK)
        return st;
    a->has_acted = true;
    say_success(a);
    SAY(a, "mail.left", WORDS_TEXT("game", game->public_id));
    say_line(a);
    if (!a->has_game)
        return ST_OK;
    TRY(act_reload(a, err));
    /* What is for its players only is no longer for him. */
    st = arbiter_may_see(a->conn, &a->game, actor_of(a), err);
    a->has_game = st == ST_OK;
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static enum status run_open(struct run *r, struct err *err)
{
    struct game_row *game = calloc(1, sizeof *game);
    enum status st;

    if (!game)
        return err_reason(err, REASON_NO_MEMORY, "a game");
    st = r->at->kind == COMMAND_JOIN ? join(r, game, err) : leave(r, game, err);
    free(game);
    return st;
}

/* May he look at it?  As every door says. */
static enum status may_look(struct run *r, const struct game_row *game, struct err *err)
{
    enum status st = arbiter_may_see(r->a->conn, game, actor_of(r->a), err);

    return st == ST_NOT_FOUND ? refuse(r, err, REASON_NO_SUCH_GAME, "mail.join_none") : st;
}

/* `status 7k2mq0xd`: a letter that is about no game is about this one from here on. */
static enum status look_at(struct run *r, struct err *err)
{
    struct act *a = r->a;
    struct game_row *game = calloc(1, sizeof *game);
    enum status st = game ? find_named(r, game, err) : err_reason(err, REASON_NO_MEMORY, "a game");

    if (st == ST_OK)
        st = may_look(r, game, err);
    if (st == ST_OK && !a->has_game)
        st = turn_to(r, game, err);
    if (st == ST_OK && game->id != a->game.id) {
        (void)words_print(r->hint, sizeof r->hint, a->lang, "mail.other_game",
                          (const struct words_arg[]){WORDS_TEXT("game", a->game.public_id)}, 1);
        st = err_reason(err, REASON_BAD_REQUEST, "%s", reason_title(REASON_BAD_REQUEST));
    }
    free(game);
    return st;
}

/* ------------------------------------------------------------------------------- one command */

static bool needs_game(enum command_kind kind)
{
    switch (kind) {
    case COMMAND_CREATE:
    case COMMAND_SEAT:
    case COMMAND_JOIN:
    case COMMAND_ACCEPT:
    case COMMAND_DECLINE:
    case COMMAND_CONFIRM:
        return false;
    default:
        return command_acts(kind) || tell_needs_game(kind);
    }
}

/* Does it name its game itself? */
static bool names_game(const struct command *c)
{
    switch (c->kind) {
    case COMMAND_JOIN:
    case COMMAND_LEAVE:
    case COMMAND_STATUS:
    case COMMAND_BOARD:
        return c->text[0] != '\0';
    default:
        return false;
    }
}

/* Does it mean the game that the letter is about? */
static bool is_about_token(const struct command *c)
{
    return (needs_game(c->kind) && !names_game(c)) || c->kind == COMMAND_ACCEPT ||
           c->kind == COMMAND_DECLINE;
}

/* What changes something that an old letter's reader cannot have had in mind. */
static bool needs_fresh_letter(const struct command *c)
{
    return c->kind == COMMAND_CREATE || c->kind == COMMAND_JOIN ||
           (c->kind == COMMAND_LEAVE && c->text[0]) || (c->kind == COMMAND_NOTE && c->text[0]);
}

/* After a move only what does not touch the game any more. */
static bool may_follow_move(enum command_kind kind)
{
    return !command_acts(kind) || kind == COMMAND_DRAW_OFFER || kind == COMMAND_MOVE;
}

/* After a resignation that is held only what does not touch the game; but who has two seats may
 * resign the other as well, or move with it. */
static bool may_follow_resign(const struct run *r, enum command_kind kind)
{
    return !command_acts(kind) || kind == COMMAND_RESIGN || kind == COMMAND_MOVE ||
           (kind == COMMAND_DRAW_OFFER && r->has_draw);
}

static enum status run_one(struct run *r, struct err *err)
{
    struct act *a = r->a;
    const struct command *c = r->at;

    if (a->is_hidden && !a->has_game && is_about_token(c))
        return refuse(r, err, REASON_NO_SUCH_GAME, "mail.join_none");
    if (!a->has_game && needs_game(c->kind) && !names_game(c))
        return refuse(r, err, REASON_MISSING_FIELD, "mail.no_game");
    if (r->is_stale && needs_fresh_letter(c))
        return err_reason(err, REASON_STATE_MISMATCH, "%s", reason_title(REASON_STATE_MISMATCH));
    if (r->has_moved && !may_follow_move(c->kind))
        return refuse(r, err, REASON_BAD_REQUEST, "mail.after_move");
    if (r->resigned && !may_follow_resign(r, c->kind))
        return refuse(r, err, REASON_BAD_REQUEST, "mail.after_resign");
    switch (c->kind) {
    case COMMAND_MOVE:
        return run_move(r, err);
    case COMMAND_RESIGN:
        return run_resign(r, err);
    case COMMAND_DRAW_OFFER:
        return run_draw_offer(r, err);
    case COMMAND_DRAW_ACCEPT:
        return run_act(r, arbiter_accept_draw, "mail.draw_accepted", err);
    case COMMAND_DRAW_DECLINE:
        return run_decline(r, err);
    case COMMAND_CLAIM_DRAW:
        return run_act(r, arbiter_claim_draw, "mail.draw_claimed", err);
    case COMMAND_UNDO:
        return run_undo(r, err);
    case COMMAND_PLACE:
        return run_place(r, err);
    case COMMAND_ACCEPT:
    case COMMAND_DECLINE:
        return run_answer(r, c->kind == COMMAND_ACCEPT, err);
    case COMMAND_CONFIRM: /* judge.c takes it where there is something to confirm */
        return refuse(r, err, REASON_NOT_FOUND, "mail.nothing_to_confirm");
    case COMMAND_CREATE:
        return run_create(r, err);
    case COMMAND_JOIN:
    case COMMAND_LEAVE:
        return run_open(r, err);
    case COMMAND_SEAT:
        return run_seat(r, err);
    default:
        if (names_game(c))
            TRY(look_at(r, err));
        return tell(a, r->g, c, err);
    }
}

/* ------------------------------------------------------------------------------- all of them */

/* Whether the particulars help where the title does not say it. */
static bool tells_more(enum reason reason)
{
    switch (reason) {
    case REASON_BAD_FIELD:
    case REASON_BAD_PLACEMENT:
    case REASON_LIMIT:
    case REASON_ALREADY_SEATED:
    case REASON_GAME_NOT_RUNNING:
    case REASON_GAME_FULL:
    case REASON_ALREADY_DONE:
    case REASON_NO_CLAIM:
    case REASON_SEAT_OUT:
    case REASON_MISSING_FIELD:
    case REASON_NOT_YOUR_TURN:
        return true;
    default:
        return false;
    }
}

/* Titles that are about requests and fields, or say less than anything behind them. */
static bool is_title_of_http(enum reason reason)
{
    switch (reason) {
    case REASON_BAD_REQUEST:
    case REASON_BAD_FIELD:
    case REASON_MISSING_FIELD:
    case REASON_LINK_EXPIRED:
    case REASON_NOT_FOUND:
        return true;
    default:
        return false;
    }
}

/* "InvalidMove: The move is not legal: the way is blocked by …." */
static void say_why(struct run *r, const struct err *err)
{
    struct act *a = r->a;
    struct buf more = buf_make(LINE_ROOM);
    bool has_more = r->why[0] != '\0', has_title = true;

    if (has_more)
        buf_puts(&more, r->why);
    else
        has_more = tells_more(err->reason) && words_refusal(&more, a->lang, err);
    if (is_title_of_http(err->reason) && (has_more || r->hint[0]))
        has_title = false;
    buf_printf(&a->text, "%s: ", reason_word(err->reason));
    if (has_title)
        buf_puts(&a->text, words_reason(a->lang, err->reason));
    if (has_more)
        buf_printf(&a->text, "%s%s", has_title ? ": " : "", more.data);
    if (has_title || has_more)
        buf_puts(&a->text, ".\n");
    buf_release(&more);
}

static void say_refusal(struct run *r, const struct err *err)
{
    struct act *a = r->a;

    buf_clear(&a->text);
    say_plain(a, "mail.nothing_changed");
    buf_puts(&a->text, "\n\n");
    SAY(a, "mail.fault_line", WORDS_NUMBER("line", r->at->line), WORDS_TEXT("text", r->at->shown));
    say_line(a);
    say_why(r, err);
    if (r->hint[0])
        buf_printf(&a->text, "%s\n", r->hint);
    if (err->reason == REASON_STATE_MISMATCH && !r->hint[0]) {
        say_plain(a, "mail.stale");
        say_line(a);
    }
    if (err->reason == REASON_BAD_PLACEMENT || err->reason == REASON_BAD_FIELD) {
        char usage[USAGE_SIZE];

        SAY(a, "mail.written_so", WORDS_TEXT("usage", command_usage(a, r->at->kind, usage)));
        say_line(a);
    }
}

/* Back to where the letter found the game. */
static enum status undo_all(struct act *a, const struct token_row *token, bool had_game,
                            int64_t game_id, struct err *err)
{
    TRY(store_part_undo(a->txn, err));
    a->token = *token;
    a->has_acted = false;
    a->has_game = had_game;
    a->game.id = game_id;
    return had_game ? act_reload(a, err) : ST_OK;
}

/* M8: all of it could be done; its player is asked whether he means it. */
static void ask_for_word(struct run *r)
{
    struct act *a = r->a;

    a->wants_word = true;
    buf_clear(&a->text);
    for (size_t i = 0; i < r->g->n; i++)
        buf_printf(&a->text, "%s\n", r->g->commands[i].shown);
    trace(a, "a resignation: it waits for its player's word\n");
}

enum status run_commands(struct act *a, const struct grammar *g, struct err *err)
{
    struct run *r = calloc(1, sizeof *r);
    struct token_row token = a->token;
    bool had_game = a->has_game;
    int64_t game_id = a->has_game ? a->game.id : 0;
    enum status st;

    if (!r)
        return err_reason(err, REASON_NO_MEMORY, "commands");
    r->a = a;
    r->g = g;
    r->is_stale = a->has_game && token.game_id == a->game.id && token.state_no != a->game.state_no;
    r->has_draw = letter_has(g, COMMAND_DRAW_OFFER) && letter_has(g, COMMAND_MOVE);
    st = store_part_begin(a->txn, err);
    if (st != ST_OK)
        goto out;
    for (size_t i = 0; st == ST_OK && i < g->n; i++) {
        r->at = &g->commands[i];
        r->hint[0] = r->why[0] = '\0';
        say_command(a, r->at);
        st = run_one(r, err);
        trace(a, "  line %d: %s → %s\n", r->at->line, r->at->shown,
              st == ST_OK ? "Success" : reason_word(err->reason));
    }
    if (st == ST_OK && r->has_resigned && a->options->confirms_resign && !a->is_confirmed) {
        st = undo_all(a, &token, had_game, game_id, err);
        ask_for_word(r);
        goto out;
    }
    if (st == ST_OK) {
        st = store_part_keep(a->txn, err);
        goto out;
    }
    if (status_is_fault(st) || st == ST_BUSY) { /* not the player's fault: try the letter again */
        struct err second = ERR_INIT;
        enum status undone = store_part_undo(a->txn, &second);

        if (undone != ST_OK) {
            *err = second;
            st = undone;
        }
        goto out;
    }
    {
        const struct err why = *err;

        st = undo_all(a, &token, had_game, game_id, err);
        a->has_failed = true;
        (void)str_copy(a->reason, sizeof a->reason, reason_slug(why.reason));
        (void)str_copy(a->failed_line, sizeof a->failed_line, r->at->shown);
        say_refusal(r, &why);
        a->wants_board = had_game;
    }
out:
    free(r);
    return st;
}

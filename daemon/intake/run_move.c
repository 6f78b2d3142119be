/* intake/run_move.c - a move, and undo; see run.h. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/run.h"

enum { LIST_ROOM = 16 * 1024 };

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
static void explain_illegal(struct run *r, const struct position *pos, struct move_reading *reading)
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

static enum status offer_with_move(struct run *r, struct err *err)
{
    struct act *a = r->a;
    struct arbiter_act act = act_belief(a);

    act.state_no = a->game.state_no; /* after the move, which was one's own */
    return arbiter_offer_draw(a->options->arbiter, a->txn, a->now, act_actor(a), &act, NULL, err);
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
    const struct arbiter_act act = act_belief(a);
    int64_t hold_ms = act_hold_ms(a);
    unsigned resigning = a->resigning;
    char before[MOVE_TEXT_SIZE] = ""; /* held, with whatever grace there was */
    enum status st;

    if (a->has_held)
        (void)str_copy(before, sizeof before, a->held.move);
    if (hold_ms > 0) {
        struct buf until = buf_make(LINE_ROOM);

        st = arbiter_hold(a->options->arbiter, a->txn, a->now, act_actor(a), &act, r->at->text,
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
        st = arbiter_move(a->options->arbiter, a->txn, a->now, act_actor(a), &act, r->at->text,
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

enum status run_move(struct run *r, struct err *err)
{
    struct act *a = r->a;
    struct position *pos = NULL;
    enum status st;

    if (r->has_moved)
        return run_refuse(r, err, REASON_BAD_REQUEST, "mail.two_moves");
    if (a->game.turn_seat >= 0 && (r->resigned >> a->game.turn_seat & 1u))
        return run_refuse(r, err, REASON_BAD_REQUEST, "mail.after_resign");
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
        run_why_no_offer(r);
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

    words_put(
        &hint, a->lang, a->own >> named & 1u ? "mail.undo_not_that" : "mail.not_your_seat",
        (const struct words_arg[]){WORDS_TEXT("colour", colour_of(a, named)),
                                   WORDS_TEXT("seat", words_seat_name(a->lang, (enum seat)named))},
        a->own >> named & 1u ? 2 : 0);
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        bool is_move = a->has_held && a->held.seat == seat;

        if (!is_move && (a->resigning >> seat & 1u) == 0)
            continue;
        buf_putc(&hint, '\n');
        words_put(&hint, a->lang, is_move ? "mail.undo_move" : "mail.undo_resign",
                  (const struct words_arg[]){WORDS_TEXT("word", command_seat(seat)),
                                             is_move ? WORDS_TEXT("move", a->held.move)
                                                     : WORDS_TEXT("colour", colour_of(a, seat))},
                  2);
    }
    (void)str_copy(r->hint, sizeof r->hint, hint.data);
    buf_release(&hint);
    return err_reason(err, REASON_NOTHING_HELD, "%s", reason_title(REASON_NOTHING_HELD));
}

enum status run_undo(struct run *r, struct err *err)
{
    struct act *a = r->a;
    struct arbiter_act act = act_belief(a);
    struct held_row held;
    enum status st;

    if (r->at->seat >= 0)
        act.seat = r->at->seat;
    if (!a->has_held && !a->resigning)
        return run_refuse(r, err, REASON_NOTHING_HELD, "mail.undo_late");
    st = arbiter_undo(a->options->arbiter, a->txn, a->now, act_actor(a), &act, &held, NULL, err);
    if (st != ST_OK && err->reason == REASON_NOTHING_HELD)
        return r->at->seat >= 0 ? refuse_undo_of(r, err)
                                : run_refuse(r, err, REASON_NOTHING_HELD, "mail.undo_late");
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

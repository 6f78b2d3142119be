/* words/chess.c - armies, men, refusals and results in every language; see words.h. */
#include "words/words.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

enum { CODE_SIZE = 64, SENTENCE_MAX = 1024 };

/* "colour.white", from the name that rules/ gives the colour in English. */
static void colour_code(char ret[CODE_SIZE], const char *prefix, const struct game *game,
                        enum seat seat, const char *suffix)
{
    char colour[16];

    (void)str_copy(colour, sizeof colour, seat_colour(game, seat));
    colour[0] = (char)tolower((unsigned char)colour[0]);
    (void)snprintf(ret, CODE_SIZE, "%s.%s%s", prefix, colour, suffix);
}

const char *words_seat_colour(enum lang lang, const struct game *game, enum seat seat)
{
    char code[CODE_SIZE];

    colour_code(code, "colour", game, seat, "");
    return words_plain(lang, code);
}

const char *words_seat_name(enum lang lang, enum seat seat)
{
    static const char *const code[SEATS] = {"seat.south", "seat.west", "seat.north", "seat.east"};

    assert(seat < SEATS);
    return words_plain(lang, code[seat]);
}

/* The word of a kind that stands in codes; turned pawns are told apart only where it matters. */
static const char *kind_word(enum kind kind, bool tell_turned)
{
    static const char *const word[KINDS] = {"?",      "king",   "queen", "rook",
                                            "bishop", "knight", "pawn",  "turned"};

    assert(kind > KIND_NONE && kind < KINDS);
    return word[kind == KIND_TURNED && !tell_turned ? KIND_PAWN : kind];
}

const char *words_kind(enum lang lang, enum kind kind)
{
    char code[CODE_SIZE];

    (void)snprintf(code, sizeof code, "kind.%s", kind_word(kind, true));
    return words_plain(lang, code);
}

const char *words_kinds(enum lang lang, enum kind kind)
{
    char code[CODE_SIZE];

    (void)snprintf(code, sizeof code, "kinds.%s", kind_word(kind, true));
    return words_plain(lang, code);
}

const char *words_man(enum lang lang, const struct game *game, uint8_t man)
{
    char code[CODE_SIZE], kind[16];

    (void)snprintf(kind, sizeof kind, ".%s", kind_word(man_kind(man), false));
    colour_code(code, "man", game, man_seat(man), kind);
    return words_plain(lang, code);
}

/* ---------------------------------------------------------------- reserves */

/* The game that has fortresses. */
static const struct game *fortress_game(void)
{
    struct variant variant;
    bool is_found = variant_find("fortress", &variant);

    assert(is_found);
    return is_found ? variant.game : NULL;
}

const char *words_fortress(enum seat seat, char ret[PLACING_TEXT_SIZE])
{
    char first[SQUARE_TEXT_MAX] = "", last[SQUARE_TEXT_MAX] = "";
    struct board squares;

    if (game_reserve_squares(fortress_game(), seat, &squares))
        for (int square = 0; square < 256; square++) /* a block: its first and its last corner */
            if (board_has(&squares, square))
                (void)square_print(square, first[0] ? last : first);
    (void)snprintf(ret, PLACING_TEXT_SIZE, "%s–%s", first, last);
    return ret;
}

const char *words_placing(enum seat seat, char ret[PLACING_TEXT_SIZE])
{
    enum { ROOK, BISHOP, KNIGHT };
    char text[3][SQUARE_TEXT_MAX];
    struct reserve usual;

    reserve_usual(fortress_game(), seat, &usual);
    for (int i = ROOK; i <= KNIGHT; i++)
        (void)square_print(usual.square[i], text[i]);
    (void)snprintf(ret, PLACING_TEXT_SIZE, "R %s N %s B %s", text[ROOK], text[KNIGHT],
                   text[BISHOP]);
    return ret;
}

/* ---------------------------------------------------------------- refusals */

static const char *verdict_code(enum move_verdict verdict)
{
    switch (verdict) {
    case MOVE_LEGAL:
        return "verdict.legal";
    case MOVE_GAME_OVER:
        return "verdict.game_over";
    case MOVE_FROM_OFF_BOARD:
    case MOVE_TO_OFF_BOARD:
        return "verdict.off_board";
    case MOVE_FROM_EMPTY:
        return "verdict.from_empty";
    case MOVE_NOT_YOUR_TURN:
        return "verdict.not_your_turn";
    case MOVE_MAN_INERT:
        return "verdict.man_inert";
    case MOVE_NOWHERE:
        return "verdict.nowhere";
    case MOVE_ONTO_OWN:
        return "verdict.onto_own";
    case MOVE_ONTO_PARTNER:
        return "verdict.onto_partner";
    case MOVE_ONTO_KING:
        return "verdict.onto_king";
    case MOVE_ONTO_MATED:
        return "verdict.onto_mated";
    case MOVE_ONTO_ABSENT:
        return "verdict.onto_absent";
    case MOVE_WOULD_RELEASE:
        return "verdict.would_release";
    case MOVE_NOT_ITS_WAY:
        return "verdict.not_its_way";
    case MOVE_WAY_BLOCKED:
        return "verdict.way_blocked";
    case MOVE_WAY_OFF_BOARD:
        return "verdict.way_off_board";
    case MOVE_WALL:
        return "verdict.wall";
    case MOVE_KNIGHT_WALL:
        return "verdict.knight_wall";
    case MOVE_PAWN_BACKWARD:
        return "verdict.pawn_backward";
    case MOVE_PAWN_BLOCKED:
        return "verdict.pawn_blocked";
    case MOVE_PAWN_NO_VICTIM:
        return "verdict.pawn_no_victim";
    case MOVE_PAWN_NO_DOUBLE:
        return "verdict.pawn_no_double";
    case MOVE_PAWN_NO_LEAP:
        return "verdict.pawn_no_leap";
    case MOVE_EN_PASSANT_GONE:
        return "verdict.en_passant_gone";
    case MOVE_NO_CASTLING:
        return "verdict.no_castling";
    case MOVE_CASTLING_LOST:
        return "verdict.castling_lost";
    case MOVE_CASTLING_BLOCKED:
        return "verdict.castling_blocked";
    case MOVE_CASTLING_IN_CHECK:
        return "verdict.castling_in_check";
    case MOVE_CASTLING_THROUGH_CHECK:
        return "verdict.castling_through_check";
    case MOVE_KING_INTO_CHECK:
        return "verdict.king_into_check";
    case MOVE_LEAVES_CHECK:
        return "verdict.leaves_check";
    case MOVE_OPENS_CHECK:
        return "verdict.opens_check";
    case MOVE_OPENS_PARTNER_CHECK:
        return "verdict.opens_partner_check";
    case MOVE_PROMOTION_MISSING:
        return "verdict.promotion_missing";
    case MOVE_PROMOTION_NONE:
        return "verdict.promotion_none";
    case MOVE_PROMOTION_BAD:
        return "verdict.promotion_bad";
    }
    return "verdict.not_its_way";
}

static void square_name(char ret[SQUARE_TEXT_MAX], int square)
{
    if (square < 0 || square >= SQUARES)
        (void)str_copy(ret, SQUARE_TEXT_MAX, "?");
    else
        (void)square_print(square, ret);
}

/* Whose man stands on `square`: the one that the verdict is about. */
static const char *verdict_man(enum lang lang, const struct game *game,
                                  const struct move_judgement *j)
{
    int seat = j->seat;

    if (j->kind == KIND_NONE)
        return "?";
    switch (j->code) {
    case MOVE_ONTO_PARTNER:
    case MOVE_ONTO_KING:
    case MOVE_ONTO_MATED:
    case MOVE_ONTO_ABSENT:
    case MOVE_WOULD_RELEASE:
        seat = j->other >= 0 ? j->other
               : j->code == MOVE_ONTO_PARTNER ? (int)seat_partner((enum seat)j->seat)
                                              : j->seat;
        break;
    default:
        break;
    }
    return words_man(lang, game, man_of((enum seat)seat, j->kind));
}

void words_move_verdict(struct buf *out, enum lang lang, const struct position *pos,
                        const struct move_judgement *j)
{
    const struct game *game = pos->variant.game;
    char square[SQUARE_TEXT_MAX], by_square[SQUARE_TEXT_MAX];
    bool has_by = j->by_kind != KIND_NONE && j->other >= 0;
    enum seat seat = j->seat >= 0 ? (enum seat)j->seat : (enum seat)pos->turn;

    square_name(square, j->square != SQUARE_NONE ? j->square : j->move.from);
    square_name(by_square, j->by_square);
    words_put(out, lang, verdict_code(j->code),
              (const struct words_arg[]){
                  WORDS_TEXT("square", square),
                  WORDS_TEXT("by_square", by_square),
                  WORDS_TEXT("man", verdict_man(lang, game, j)),
                  WORDS_TEXT("by", has_by ? words_man(lang, game,
                                                      man_of((enum seat)j->other, j->by_kind))
                                          : "?"),
                  WORDS_TEXT("colour", words_seat_colour(lang, game, seat)),
                  WORDS_TEXT("owner", j->other >= 0
                                          ? words_seat_colour(lang, game, (enum seat)j->other)
                                          : "?"),
              },
              6);
}

/* "e2-e3, f2-e3": the moves that a text can mean. */
static void candidates_put(struct buf *out, const struct move_reading *reading)
{
    char text[MOVE_COORDINATE_MAX];

    for (int i = 0; i < reading->candidates && i < MOVE_CANDIDATES_MAX; i++) {
        (void)move_print_coordinate(reading->candidate[i], text, sizeof text);
        buf_printf(out, "%s%s", i > 0 ? ", " : "", text);
    }
    if (reading->candidates > MOVE_CANDIDATES_MAX)
        buf_puts(out, ", …");
}

void words_move_reading(struct buf *out, enum lang lang, const struct position *pos,
                        const struct move_reading *reading)
{
    struct buf list = buf_make(SENTENCE_MAX);

    switch (reading->code) {
    case READ_MOVE:
        words_put(out, lang, "verdict.legal", NULL, 0);
        break;
    case READ_ILLEGAL:
        words_move_verdict(out, lang, pos, &reading->judgement);
        break;
    case READ_SEVERAL:
        candidates_put(&list, reading);
        words_put(out, lang, "refusal.several_moves",
                  (const struct words_arg[]){WORDS_TEXT("moves", list.data)}, 1);
        break;
    case READ_NONE:
        words_put(out, lang, "refusal.no_such_move", NULL, 0);
        break;
    case READ_WRONG_MAN:
        words_put(out, lang, "refusal.wrong_man", NULL, 0);
        break;
    case READ_NO_CAPTURE:
        words_put(out, lang, "refusal.no_capture", NULL, 0);
        break;
    case READ_WRONG_VICTIM:
        words_put(out, lang, "refusal.wrong_victim", NULL, 0);
        break;
    default:
        words_put(out, lang, "refusal.no_move", NULL, 0);
        break;
    }
    buf_release(&list);
}

const char *words_reason(enum lang lang, enum reason reason)
{
    char code[CODE_SIZE];

    (void)snprintf(code, sizeof code, "reason.%s", reason_slug(reason));
    return words_has(code) ? words_plain(lang, code) : reason_title(reason);
}

/* A value of a refusal in the reader's language, into ret[size]. */
static const char *value_text(char *ret, size_t size, enum lang lang, const struct err *err,
                              const struct err_value *value)
{
    struct buf text = buf_make(size - 1);
    struct civil civil;

    switch (value->kind) {
    case ERR_ARG_TEXT:
        buf_puts(&text, err->values + value->at);
        break;
    case ERR_ARG_NUMBER: /* words_put() writes it */
        break;
    case ERR_ARG_SEAT:
        buf_puts(&text, (uint64_t)value->number < SEATS
                            ? words_seat_name(lang, (enum seat)value->number)
                            : "?");
        break;
    case ERR_ARG_LENGTH:
        words_length(&text, lang, value->number);
        break;
    case ERR_ARG_INSTANT:
        civil = civil_from_ms(value->number);
        words_civil(&text, lang, &civil);
        buf_puts(&text, " UTC");
        break;
    }
    (void)str_copy(ret, size, text.data);
    buf_release(&text);
    return ret;
}

/* What can be said of a failure without a code, by its kind; NULL: its title says it all.  Its own
 * words are English, and for the log. */
static const char *general_code(const struct err *err)
{
    if (!err->text[0] || status_is_fault(err->code) ||
        str_case_eq(err->text, reason_title(err->reason)))
        return NULL;
    switch (err->code) {
    case ST_NOT_FOUND:
    case ST_GONE:
        return "general.not_there";
    case ST_CONFLICT:
        return "general.changed";
    case ST_BUSY:
        return "general.later";
    default:
        return NULL;
    }
}

bool words_refusal(struct buf *out, enum lang lang, const struct err *err)
{
    char text[ERR_ARGS_MAX][ERR_VALUES_SIZE];
    struct words_arg args[ERR_ARGS_MAX];

    if (!err->detail) {
        const char *code = general_code(err);

        buf_puts(out, code ? words_plain(lang, code) : "");
        return code != NULL;
    }
    for (size_t i = 0; i < err->n_args; i++) {
        const struct err_value *value = &err->args[i];

        args[i] = (struct words_arg){.name = value->name, .number = value->number};
        if (value->kind != ERR_ARG_NUMBER)
            args[i].text = value_text(text[i], sizeof text[i], lang, err, value);
    }
    if (err->field[0])
        buf_printf(out, "%s: ", err->field);
    words_put(out, lang, err->detail, args, err->n_args);
    return true;
}

/* ---------------------------------------------------------------- results */

void words_result(struct buf *out, enum lang lang, const struct game *game, enum result result,
                  enum cause cause)
{
    static const char *const cause_code[] = {
        [CAUSE_MATE] = "cause.mate",
        [CAUSE_LEAVING] = "cause.leaving",
        [CAUSE_STALEMATE] = "cause.stalemate",
        [CAUSE_THREEFOLD] = "cause.threefold",
        [CAUSE_FIVEFOLD] = "cause.fivefold",
        [CAUSE_FIFTY_ROUNDS] = "cause.fifty_rounds",
        [CAUSE_SEVENTY_FIVE_ROUNDS] = "cause.seventy_five_rounds",
        [CAUSE_AGREEMENT] = "cause.agreement",
    };
    char who[SENTENCE_MAX];
    enum seat first = result == RESULT_TEAM1 ? SEAT_WEST : SEAT_SOUTH;

    assert(result != RESULT_NONE);
    if (result == RESULT_DRAW)
        (void)str_copy(who, sizeof who, words_plain(lang, "result.draw"));
    else
        (void)words_print(
            who, sizeof who, lang, "result.win",
            (const struct words_arg[]){
                WORDS_TEXT("first", words_seat_colour(lang, game, first)),
                WORDS_TEXT("second", words_seat_colour(lang, game, seat_partner(first)))},
            2);
    if (cause == CAUSE_NONE) {
        buf_puts(out, who);
        return;
    }
    words_put(out, lang, "result.sentence",
              (const struct words_arg[]){WORDS_TEXT("result", who),
                                         WORDS_TEXT("cause", words_plain(lang, cause_code[cause]))},
              2);
}

/* "Red won: by the operator's decision" */
static void put_other_result(struct buf *out, enum lang lang, const struct game *game,
                             enum result result, const char *cause)
{
    struct buf who = buf_make(SENTENCE_MAX);
    char code[64];

    (void)snprintf(code, sizeof code, "cause.%s", cause);
    words_result(&who, lang, game, result, CAUSE_NONE);
    words_put(out, lang, "result.sentence",
              (const struct words_arg[]){WORDS_TEXT("result", who.data),
                                         WORDS_TEXT("cause", words_plain(lang, code))},
              2);
    buf_release(&who);
}

void words_ending(struct buf *out, enum lang lang, const struct game *game, enum result result,
                  enum cause cause, const char *other, unsigned resigned, unsigned forfeited)
{
    struct buf sentence = buf_make(SENTENCE_MAX), list = buf_make(SENTENCE_MAX);

    if (other)
        put_other_result(&sentence, lang, game, result, other);
    else
        words_result(&sentence, lang, game, result, cause);
    for (int seat = 0; seat < SEATS; seat++) {
        bool has_resigned = resigned >> seat & 1u;

        if (!has_resigned && !(forfeited >> seat & 1u))
            continue;
        buf_printf(&list, "%s%s (%s)", list.len > 0 ? ", " : "",
                   words_seat_colour(lang, game, (enum seat)seat),
                   words_plain(lang, has_resigned ? "ui.left.resigned" : "ui.left.forfeited"));
    }
    if (list.len == 0)
        buf_puts(out, sentence.data);
    else
        words_put(out, lang, "result.with_left",
                  (const struct words_arg[]){WORDS_TEXT("result", sentence.data),
                                             WORDS_TEXT("list", list.data)},
                  2);
    buf_release(&list);
    buf_release(&sentence);
}

/* board/words.c - the board as text and in words; see board.h. */
#include "board/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/notation.h"
#include "rules/show.h"

enum { MEN_TEXT_MAX = 4096 };

enum status board_text(const struct board_view *view, struct buf *out, struct err *err)
{
    char *text = malloc(SHOW_BOARD_MAX);
    struct show_options options = {.side = view->bottom,
                                   .last = view->has_last ? &view->last : NULL};
    enum status st;

    if (text == NULL)
        return err_set(err, ST_NOMEM, "a board as text");
    (void)show_board(view->pos, &options, text, SHOW_BOARD_MAX);
    buf_puts(out, text);
    free(text);
    st = buf_status(out, "a board as text", err);
    return st;
}

/* "king h1, queen g1, rooks d1 k1, …" */
static void men_put(struct buf *out, enum lang lang, const struct position *pos, enum seat seat)
{
    const char *sep = "";

    for (int kind = KIND_KING; kind < KINDS; kind++) {
        int on[SQUARES], n = 0;

        for (int square = 0; square < SQUARES; square++)
            if (position_man_at(pos, square) == man_of(seat, (enum kind)kind))
                on[n++] = square;
        if (n == 0)
            continue;
        buf_printf(out, "%s%s", sep,
                   n == 1 ? words_kind(lang, (enum kind)kind) : words_kinds(lang, (enum kind)kind));
        sep = ", ";
        for (int i = 0; i < n; i++) {
            char text[SQUARE_TEXT_MAX];

            (void)square_print(on[i], text);
            buf_printf(out, " %s", text);
        }
    }
    if (sep[0] == '\0')
        buf_puts(out, words_plain(lang, "words.no_men"));
}

void board_army_words(struct buf *out, enum lang lang, const struct position *pos, enum seat seat)
{
    static const char *const code[] = {
        [CONDITION_LIVE] = "words.army",
        [CONDITION_MATED] = "words.army_mated",
        [CONDITION_STALEMATED] = "words.army_stalemated",
        [CONDITION_ABSENT] = "words.army_absent",
    };
    struct buf men = buf_make(MEN_TEXT_MAX);

    men_put(&men, lang, pos, seat);
    words_put(out, lang, code[pos->condition[seat]],
              (const struct words_arg[]){
                  WORDS_TEXT("colour", words_seat_colour(lang, pos->variant.game, seat)),
                  WORDS_TEXT("seat", words_seat_name(lang, seat)),
                  WORDS_TEXT("men", men.data),
              },
              3);
    buf_release(&men);
}

static void checks_put(struct buf *out, enum lang lang, const struct position *pos)
{
    const struct game *game = pos->variant.game;

    for (int seat = 0; seat < SEATS; seat++) {
        struct board by;
        int square;

        if (pos->condition[seat] == CONDITION_ABSENT || (pos->has_king >> seat & 1u) == 0 ||
            position_checkers(pos, (enum seat)seat, &by) == 0)
            continue;
        while ((square = board_take(&by)) != SQUARE_NONE) {
            char king[SQUARE_TEXT_MAX], from[SQUARE_TEXT_MAX];

            (void)square_print(pos->king[seat], king);
            (void)square_print(square, from);
            buf_putc(out, ' ');
            words_put(out, lang, "words.check",
                      (const struct words_arg[]){
                          WORDS_TEXT("king", words_man(lang, game,
                                                       man_of((enum seat)seat, KIND_KING))),
                          WORDS_TEXT("square", king),
                          WORDS_TEXT("by", words_man(lang, game, position_man_at(pos, square))),
                          WORDS_TEXT("by_square", from),
                      },
                      4);
        }
    }
}

enum status board_words(const struct board_view *view, struct buf *out, struct err *err)
{
    const struct position *pos = view->pos;
    const struct game *game = pos->variant.game;
    enum lang lang = view->lang;

    /* who moved is told by the man that arrived; if his army has left the board, nothing is */
    if (view->has_last && position_man_at(pos, view->last.to) != MAN_NONE) {
        char move[MOVE_COORDINATE_MAX];
        uint8_t man = position_man_at(pos, view->last.to);

        (void)move_print_coordinate(view->last, move, sizeof move);
        words_put(out, lang, "words.last",
                  (const struct words_arg[]){
                      WORDS_TEXT("colour", words_seat_colour(lang, game, man_seat(man))),
                      WORDS_TEXT("move", move),
                  },
                  2);
        buf_putc(out, ' ');
    }
    if (view->ended != NULL) /* not by the men alone: by agreement, by the organiser */
        buf_puts(out, view->ended);
    else if (position_is_over(pos))
        words_put(out, lang, "words.over", NULL, 0);
    else
        words_put(out, lang, "words.turn",
                  (const struct words_arg[]){WORDS_TEXT(
                      "colour", words_seat_colour(lang, game, (enum seat)pos->turn))},
                  1);
    checks_put(out, lang, pos);
    for (int i = 0; i < SEATS; i++) {
        buf_putc(out, ' ');
        board_army_words(out, lang, pos, (enum seat)((pos->turn + (unsigned)i) % SEATS));
    }
    return buf_status(out, "a position in words", err);
}

/*
 * rules/show.h - a position for eyes and for ears, in plain text.
 *
 * Purpose
 *   show_board() draws the board with ASCII characters, from any seat's side, with the walls and
 *   gates of the fortress game; show_spoken() tells the position in sentences to be read aloud or
 *   felt, changes first.  Both can keep to the 40 columns of a Braille display.
 *
 * Signs of show_board()
 *   wN      a man: colour letter and kind; V is a pawn that walks back
 *   wn      small kind letter: it is inert (its army is mated or absent)
 *   .       an empty square; nothing at all where there is no square
 *   # and = a wall beside and between squares;  : and ..  a gate
 *   [wN] or (. )  where the last move ended and began, if it is given (not in 40 columns)
 *
 * English only; a caller with other languages uses the structs of rules.h and notation.h.
 * Ownership, threads, buffers: as rules.h says.
 */
#ifndef RULES_SHOW_H
#define RULES_SHOW_H

#include "rules/notation.h"

struct show_options {
    enum seat side;         /* whose edge is at the bottom */
    bool is_narrow;         /* at most 40 columns */
    bool has_legend;        /* below: colours, conditions, who is to move, checks */
    const struct move *last;/* the move that led here, or NULL */
};

/* A board never needs more. */
enum { SHOW_BOARD_MAX = 6000 };
size_t show_board(const struct position *pos, const struct show_options *options, char *text,
                  size_t size);

/*
 * The position in sentences, one a line: what changed last (if `last` is given: the move and what
 * it caused), game and state, who is to move, checks and by what, then each army from the seat on
 * turn (square by square of each kind), rights and chances.  `width` 0: lines as long as they
 * come; else wrapped at blanks to that many columns.
 */
enum { SHOW_SPOKEN_MAX = 8000 };
size_t show_spoken(const struct position *pos, const struct spoken *last, int width, char *text,
                   size_t size);

#endif

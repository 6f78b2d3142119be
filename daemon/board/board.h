/*
 * board/board.h - draws a position: as text, as SVG, as PNG, and in words.
 *
 * Purpose
 *   One picture of a board for mails, pages and the API, for the cross of 160 squares and the
 *   fortress board of 192, from any seat's side.
 *
 * What the picture shows
 *   Squares with coordinates on all four edges; walls as thick strokes, the gates between them
 *   open; the four armies by colours that stay apart for the colour-blind *and* by a mark on
 *   every man (the seat's shape: South a disc, West a triangle, North a square, East a diamond);
 *   the way each pawn walks by a small arrowhead at its foot (turned pawns of verney walk back:
 *   their arrow says so and is filled); mated and absent armies greyed and hatched; the last
 *   move's two squares and its arrow; kings in check ringed, with the checking men joined to
 *   them.
 *
 * Sizes
 *   A board of n files is drawn in n * 40 + 2 * 24 user units; the PNG has any width up to
 *   BOARD_PNG_MAX, 560 by default.
 *
 * Errors: ST_INVALID for a width out of range, ST_TOO_LARGE, ST_NOMEM, ST_INTERNAL when the SVG
 *   library fails.
 * Ownership: the position is read during the call only.  Threads: any.
 */
#ifndef FH_BOARD_BOARD_H
#define FH_BOARD_BOARD_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/status.h"
#include "rules/rules.h"
#include "words/words.h"

enum {
    BOARD_SVG_MAX = 512 * 1024, /* bytes; a full board takes about 60 KiB */
    BOARD_PNG_MAX = 2240,       /* pixels of width */
    BOARD_PNG_MIN = 120,
    BOARD_PNG_DEFAULT = 560,
    BOARD_PNG_FORM = 3,         /* one more whenever the same SVG becomes other bytes of PNG */
    BOARD_TEXT_COLUMNS = 78     /* no line of a text board is longer */
};

struct board_view {
    const struct position *pos;
    enum seat bottom;     /* whose side is drawn at the foot */
    enum lang lang;       /* of title, alt text and legend */
    bool has_last;        /* a last move is marked */
    struct move last;
    const char *ended;    /* how the game ended, a sentence told instead of the turn; NULL: no */
    bool without_coordinates;
    bool without_checks;  /* do not mark kings in check */
};

/* A whole <svg> document without doctype or outside references, with <title> and <desc>.  Every
 * square is <rect class="sq …" data-square="e4">, every man <g class="man …" data-man="wK">. */
MUST_CHECK enum status board_svg(const struct board_view *view, struct buf *out,
                                 struct err *err);

/* The same picture; opaque, on white, with a palette (board/indexed.h): some 34 KB at the default
 * width.  width in pixels, 0 for the default.  The same bytes for the same SVG and width. */
MUST_CHECK enum status board_png(const struct board_view *view, int width, struct buf *out,
                                 struct err *err);

/* The board for people who read text with their eyes, in a fixed-width font: lines of at most
 * BOARD_TEXT_COLUMNS characters, "\n" after each, ASCII only; men as colour letter + piece
 * letter, as in rules-of-play's diagrams; "V" for a pawn that walks back. */
MUST_CHECK enum status board_text(const struct board_view *view, struct buf *out,
                                  struct err *err);

/* One army of it: "White (South): king h1, queen g1, rooks d1 k1, …" */
void board_army_words(struct buf *out, enum lang lang, const struct position *pos,
                      enum seat seat);

/* The position in words, for alt texts, speech and Braille: every army with its men by kind and
 * square, the last move, checks and who is on turn or how the game ended; sentences on one line. */
MUST_CHECK enum status board_words(const struct board_view *view, struct buf *out,
                                   struct err *err);

#endif

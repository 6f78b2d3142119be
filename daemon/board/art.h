/*
 * board/art.h - the shapes that pictures are made of; inside board/ only.
 *
 * Our own drawings, under the project's licence.  A man's shapes fill a cell of 40 x 40 units.
 * Letters are strokes, not text, so that a picture needs no fonts.
 */
#ifndef FH_BOARD_ART_H
#define FH_BOARD_ART_H

#include "base/buf.h"
#include "rules/rules.h"

enum { ART_CELL = 40 };

/* <symbol id="fh-K">…, for K Q R B N P, and the patterns and marks that all pictures share.
 * Fill and stroke are inherited from whoever uses them. */
void art_defs(struct buf *out);

/* The stroke path of one character (a-p, 0-9, W R Y B U G) in a box of 4 x 6 units, or NULL. */
const char *art_glyph(char c);

/* What an army is painted with. */
struct art_paint {
    const char *fill;   /* of its men and marks */
    const char *stroke; /* their outlines */
    const char *ink;    /* letters and lines on the fill */
};
struct art_paint art_paint_of(char letter); /* w r y b u g: the colour's letter */

/* The path of a seat's mark around (0, 0), about 12 units wide: South a disc, West a triangle,
 * North a square, East a diamond. */
const char *art_mark(enum seat seat);

#endif

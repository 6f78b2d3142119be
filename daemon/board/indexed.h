/*
 * board/indexed.h - drawn pixels as a PNG with a palette; inside board/ only.
 *
 * Purpose
 *   A board has some dozen plain colours and thousands of blends of two or three of them, on edges.
 *   A palette of 256 shows it without visible loss, a byte a pixel: a third of the bytes and of
 *   the time that four bytes a pixel take.
 *
 * The palette
 *   Colours in order of their number of pixels (then of their value): one that is within
 *   INDEXED_NEAR of a colour of the palette is drawn as the nearest of it, any other comes into the
 *   palette.  So plain colours stay what they are, and none is changed by more than INDEXED_NEAR
 *   (Euclid's distance in RGB).  When 256 do not suffice, the same is done again with half as much
 *   more.  A picture of more than INDEXED_COLOURS_MAX colours, which no board is, is told apart
 *   less finely first: by 7 bits of each of red, green and blue, or 6, …; all of it is bounded and
 *   gives the same for the same pixels.  No dithering: dots between squares would be seen.
 *
 * Encoding: by libpng, without a filter (an index next to another means nothing), row by row: no
 *   copy of the picture is made.  INDEXED_LEVEL is zlib's: level 6 makes a tenth less in twice the
 *   time, level 9 a sixth less in twenty times.
 *
 * Ownership: pixels are read during the call only.  Threads: any.
 * Errors: ST_NOMEM, ST_TOO_LARGE for the buffer's limit, ST_INTERNAL when libpng gives up.
 */
#ifndef FH_BOARD_INDEXED_H
#define FH_BOARD_INDEXED_H

#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

enum {
    INDEXED_NEAR = 12,          /* of 441 from black to white */
    INDEXED_COLOURS_MAX = 8192, /* counted one by one; a board has 6 000 */
    INDEXED_LEVEL = 3
};

/* Rows of pixels from the top, each 0xXXRRGGBB in the machine's order (cairo's RGB24). */
struct pixels {
    const unsigned char *bytes;
    int width, height;
    int stride; /* bytes from a row to the next; a multiple of 4 */
};

MUST_CHECK enum status indexed_png(const struct pixels *pixels, struct buf *out, struct err *err);

#endif

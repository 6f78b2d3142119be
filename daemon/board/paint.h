/*
 * board/paint.h - draws what board/svg.c writes; inside board/ only.
 *
 * Purpose
 *   Pixels from our own SVG, at half of what an SVG library takes for it: that one builds a
 *   document, cascades its styles and measures every shape; here each is drawn as it is read.
 *
 * What is understood is what svg.c and art.c write, and no more: svg, g, defs, symbol, use, path,
 * rect, circle; title, desc and pattern are passed over.  Attributes of presentation are inherited;
 * transform is made of translate, scale and rotate; a path has M L H V C S A Z, large or small, its
 * arcs are of circles; fill is a colour (#rrggbb), none or url(#fh-hatch), which is drawn from
 * art.h's numbers.  Other attributes have no effect.  tests/board compares with librsvg, so that
 * whoever widens the SVG is told.
 *
 * Errors: ST_INTERNAL for an element or path that is not known.
 * Ownership: the text is read during the call only.  Threads: any, each its own context.
 */
#ifndef FH_BOARD_PAINT_H
#define FH_BOARD_PAINT_H

#include <cairo.h>

#include "base/status.h"

/* The whole document, `width` of the context's units wide. */
MUST_CHECK enum status paint_svg(cairo_t *cairo, const char *svg, double width, struct err *err);

#endif

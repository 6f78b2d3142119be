/* board/png.c - the SVG picture as pixels; see board.h. */
#include "board/board.h"

#include <cairo.h>

#include "board/indexed.h"
#include "board/paint.h"

enum status board_png(const struct board_view *view, int width, struct buf *out, struct err *err)
{
    struct buf svg = buf_make(BOARD_SVG_MAX);
    cairo_surface_t *surface = NULL;
    cairo_t *cairo = NULL;
    enum status st;

    width = width == 0 ? BOARD_PNG_DEFAULT : width;
    if (width < BOARD_PNG_MIN || width > BOARD_PNG_MAX) {
        st = ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.png_width",
                        "a picture is from {least} to {most} pixels wide",
                        ERR_NUMBER("least", BOARD_PNG_MIN), ERR_NUMBER("most", BOARD_PNG_MAX));
        goto out;
    }
    st = board_svg(view, &svg, err);
    if (st != ST_OK)
        goto out;
    surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, width);
    cairo = cairo_create(surface);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    st = paint_svg(cairo, svg.data, width, err);
    if (st != ST_OK)
        goto out;
    cairo_surface_flush(surface);
    if (cairo_status(cairo) != CAIRO_STATUS_SUCCESS ||
        cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS) {
        st = err_set(err, ST_NOMEM, "picture: not drawn");
        goto out;
    }
    st = indexed_png(&(struct pixels){.bytes = cairo_image_surface_get_data(surface),
                                      .width = width,
                                      .height = width,
                                      .stride = cairo_image_surface_get_stride(surface)},
                     out, err);
out:
    if (cairo != NULL)
        cairo_destroy(cairo);
    if (surface != NULL)
        cairo_surface_destroy(surface);
    buf_release(&svg);
    return st;
}

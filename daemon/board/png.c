/* board/png.c - the SVG picture as pixels; see board.h. */
#include "board/board.h"

#include <cairo.h>
#include <librsvg/rsvg.h>

#include "board/indexed.h"

enum status board_png(const struct board_view *view, int width, struct buf *out, struct err *err)
{
    struct buf svg = buf_make(BOARD_SVG_MAX);
    RsvgHandle *handle = NULL;
    cairo_surface_t *surface = NULL;
    cairo_t *cairo = NULL;
    GError *fault = NULL;
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
    /* without a base URI the library loads nothing from outside */
    handle = rsvg_handle_new_from_data((const guint8 *)svg.data, svg.len, &fault);
    if (handle == NULL) {
        st = err_set(err, ST_INTERNAL, "picture: %s", fault ? fault->message : "not read");
        goto out;
    }
    surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, width);
    cairo = cairo_create(surface);
    cairo_set_source_rgb(cairo, 1, 1, 1);
    cairo_paint(cairo);
    if (!rsvg_handle_render_document(
            handle, cairo, &(RsvgRectangle){.width = width, .height = width}, &fault)) {
        st = err_set(err, ST_INTERNAL, "picture: %s", fault ? fault->message : "not drawn");
        goto out;
    }
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
    if (handle != NULL)
        g_object_unref(handle);
    g_clear_error(&fault);
    buf_release(&svg);
    return st;
}

/* board/indexed.c - see indexed.h. */
#include "board/indexed.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PALETTE_MAX = 256,
    SLOTS = 2 * INDEXED_COLOURS_MAX, /* a power of two */
    FREE = UINT16_MAX
};

struct colour {
    uint32_t rgb; /* the first that was met of those that are not told apart */
    uint32_t n;   /* pixels */
    uint16_t slot;
};

/* Which colours there are, found by their bits that are told apart. */
struct colours {
    uint32_t told;      /* the mask of these bits */
    uint16_t at[SLOTS]; /* in `all`; FREE.  In the end: in the palette */
    uint32_t key[SLOTS];
    struct colour all[INDEXED_COLOURS_MAX];
    int n;
    uint32_t palette[PALETTE_MAX];
    int n_palette;
};

static const uint32_t *row_of(const struct pixels *pixels, int y)
{
    return (const uint32_t *)(const void *)(pixels->bytes + (size_t)y * (size_t)pixels->stride);
}

/* Where the key stands, or the free slot where it would. */
static int slot_of(const struct colours *c, uint32_t key)
{
    uint32_t slot = (key * 2654435761u) >> 18; /* 14 bits: SLOTS */

    while (c->at[slot] != FREE && c->key[slot] != key)
        slot = (slot + 1) % SLOTS;
    return (int)slot;
}

/* false: they are too many for the table. */
static bool count(struct colours *c, const struct pixels *pixels)
{
    c->n = 0;
    for (int i = 0; i < SLOTS; i++)
        c->at[i] = FREE;
    for (int y = 0; y < pixels->height; y++) {
        const uint32_t *row = row_of(pixels, y);
        int from = 0;

        while (from < pixels->width) {
            int to = from + 1, slot;

            while (to < pixels->width && row[to] == row[from])
                to++;
            slot = slot_of(c, row[from] & c->told);
            if (c->at[slot] == FREE) {
                if (c->n == INDEXED_COLOURS_MAX)
                    return false;
                c->at[slot] = (uint16_t)c->n;
                c->key[slot] = row[from] & c->told;
                c->all[c->n++] =
                    (struct colour){.rgb = row[from] & 0xffffffu, .slot = (uint16_t)slot};
            }
            c->all[c->at[slot]].n += (uint32_t)(to - from);
            from = to;
        }
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    const struct colour *x = a, *y = b;

    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return x->rgb < y->rgb ? -1 : x->rgb > y->rgb;
}

/* Sets palette and at[] for the sorted colours; false: the palette is too small for that distance.
 * Distance and place are one number, so that the inner loop has no branch. */
static bool choose(struct colours *c, int distance)
{
    int red[PALETTE_MAX], green[PALETTE_MAX], blue[PALETTE_MAX];
    int n = 0;

    for (int i = 0; i < c->n; i++) {
        uint32_t rgb = c->all[i].rgb;
        int r = (int)(rgb >> 16), g = (int)(rgb >> 8 & 255), b = (int)(rgb & 255);
        int best = INT32_MAX;

        for (int k = 0; k < n; k++) {
            int dr = red[k] - r, dg = green[k] - g, db = blue[k] - b;
            int d = (dr * dr + dg * dg + db * db) * PALETTE_MAX + k; /* below 2 to the 26 */

            best = d < best ? d : best;
        }
        if (best / PALETTE_MAX > distance * distance) {
            if (n == PALETTE_MAX)
                return false;
            red[n] = r;
            green[n] = g;
            blue[n] = b;
            c->palette[n] = rgb;
            best = n++;
        }
        c->at[c->all[i].slot] = (uint16_t)(best % PALETTE_MAX);
    }
    c->n_palette = n;
    return true;
}

static void index_row(const struct colours *c, const uint32_t *row, int width, png_byte *to)
{
    uint32_t last = ~row[0];
    png_byte index = 0;

    for (int x = 0; x < width; x++) {
        if (row[x] != last) {
            last = row[x];
            index = (png_byte)c->at[slot_of(c, last & c->told)];
        }
        *to++ = index;
    }
}

/* ---------------------------------------------------------------- the file */

struct writing {
    const struct colours *colours;
    const struct pixels *pixels;
    png_byte *row; /* as wide as the picture */
    int y;         /* of the row that comes next */
    struct buf *out;
    char fault[80];
};

static void on_error(png_structp png, png_const_charp what)
{
    struct writing *w = png_get_error_ptr(png);

    (void)snprintf(w->fault, sizeof w->fault, "%s", what);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp what)
{
    (void)png;
    (void)what;
}

static void on_bytes(png_structp png, png_bytep bytes, size_t n)
{
    struct writing *w = png_get_io_ptr(png);

    buf_add(w->out, bytes, n);
}

static void on_flush(png_structp png)
{
    (void)png;
}

/* false: the library has given up, for w->fault. */
static bool put_file(struct writing *w, png_structp png, png_infop info)
{
    png_color palette[PALETTE_MAX];
    const struct colours *c = w->colours;

    if (setjmp(png_jmpbuf(png)) != 0)
        return false;
    for (int i = 0; i < c->n_palette; i++)
        palette[i] = (png_color){.red = (png_byte)(c->palette[i] >> 16),
                                 .green = (png_byte)(c->palette[i] >> 8),
                                 .blue = (png_byte)c->palette[i]};
    png_set_write_fn(png, w, on_bytes, on_flush);
    png_set_IHDR(png, info, (png_uint_32)w->pixels->width, (png_uint_32)w->pixels->height, 8,
                 PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_PLTE(png, info, palette, c->n_palette);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_set_compression_level(png, INDEXED_LEVEL);
    png_write_info(png, info);
    for (; w->y < w->pixels->height; w->y++) {
        index_row(c, row_of(w->pixels, w->y), w->pixels->width, w->row);
        png_write_row(png, w->row);
    }
    png_write_end(png, NULL);
    return true;
}

static enum status pack(struct writing *w, struct err *err)
{
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, w, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    enum status st;

    if (!info)
        st = err_set(err, ST_NOMEM, "picture: no memory to pack it");
    else if (!put_file(w, png, info))
        st = err_set(err, ST_INTERNAL, "picture: %s", w->fault);
    else
        st = buf_status(w->out, "a picture of the board", err);
    png_destroy_write_struct(&png, &info);
    return st;
}

enum status indexed_png(const struct pixels *pixels, struct buf *out, struct err *err)
{
    struct colours *colours = malloc(sizeof *colours);
    struct writing w = {.colours = colours, .pixels = pixels, .out = out};
    enum status st = ST_OK;

    w.row = malloc((size_t)pixels->width);

    if (!colours || !w.row) {
        st = err_set(err, ST_NOMEM, "picture: no memory for its colours");
        goto out;
    }
    colours->told = 0xffffffu;
    while (!count(colours, pixels)) /* 4 bits of each are 4096 colours */
        colours->told = colours->told << 1 & 0xfefefeu;
    qsort(colours->all, (size_t)colours->n, sizeof colours->all[0], by_number);
    for (int near = INDEXED_NEAR; !choose(colours, near);)
        near += near / 2;
    st = pack(&w, err);
out:
    free(w.row);
    free(colours);
    return st;
}

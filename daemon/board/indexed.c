/* board/indexed.c - see indexed.h. */
#include "board/indexed.h"

#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PALETTE_MAX = 256,
    PACKED_MAX = 4096, /* bytes that are packed at a time */
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

/* A byte for the filter (none), then the row's indices. */
static void index_row(const struct colours *c, const uint32_t *row, int width, unsigned char *to)
{
    uint32_t last = ~row[0];
    unsigned char index = 0;

    *to++ = 0;
    for (int x = 0; x < width; x++) {
        if (row[x] != last) {
            last = row[x];
            index = (unsigned char)c->at[slot_of(c, last & c->told)];
        }
        *to++ = index;
    }
}

/* All rows, deflated one after another: nothing as large as the picture is needed for that, which
 * the system would have to hand out page by page. */
static enum status pack(const struct colours *c, const struct pixels *pixels, unsigned char *row,
                        struct buf *out, struct err *err)
{
    GConverter *deflate =
        G_CONVERTER(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB, INDEXED_LEVEL));
    GConverterResult result = G_CONVERTER_CONVERTED;
    unsigned char packed[PACKED_MAX];
    size_t n_row = (size_t)pixels->width + 1, n_left = 0;
    GError *fault = NULL;
    enum status st;
    int y = 0;

    while (result != G_CONVERTER_FINISHED && result != G_CONVERTER_ERROR) {
        gsize n_read = 0, n_packed = 0;

        if (n_left == 0 && y < pixels->height) {
            index_row(c, row_of(pixels, y++), pixels->width, row);
            n_left = n_row;
        }
        result = g_converter_convert(
            deflate, row + n_row - n_left, n_left, packed, sizeof packed,
            y == pixels->height ? G_CONVERTER_INPUT_AT_END : G_CONVERTER_NO_FLAGS, &n_read,
            &n_packed, &fault);
        n_left -= n_read;
        buf_add(out, packed, n_packed);
    }
    st = result == G_CONVERTER_FINISHED
             ? buf_status(out, "a picture of the board", err)
             : err_set(err, ST_INTERNAL, "picture: %s", fault ? fault->message : "not packed");
    g_clear_error(&fault);
    g_object_unref(deflate);
    return st;
}

/* ---------------------------------------------------------------- the file */

static void put_number(unsigned char to[4], size_t n)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(n >> (24 - 8 * i));
}

/* PNG's check sum, four bits at a time. */
static uint32_t crc_of(uint32_t crc, const void *bytes, size_t n)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

static void put_chunk(struct buf *out, const char type[4], const void *bytes, size_t n)
{
    unsigned char number[4];

    put_number(number, n);
    buf_add(out, number, 4);
    buf_add(out, type, 4);
    buf_add(out, bytes, n);
    put_number(number, ~crc_of(crc_of(0xffffffffu, type, 4), bytes, n));
    buf_add(out, number, 4);
}

static void put_file(struct buf *out, const struct pixels *pixels, const struct colours *c,
                     const void *data, size_t n)
{
    unsigned char head[13] = {[8] = 8 /* bits */, [9] = 3 /* a palette */};
    unsigned char palette[3 * PALETTE_MAX];

    put_number(head, (size_t)pixels->width);
    put_number(head + 4, (size_t)pixels->height);
    for (int i = 0; i < c->n_palette; i++)
        for (int k = 0; k < 3; k++)
            palette[3 * i + k] = (unsigned char)(c->palette[i] >> (16 - 8 * k));
    buf_add(out, "\x89PNG\r\n\x1a\n", 8);
    put_chunk(out, "IHDR", head, sizeof head);
    put_chunk(out, "PLTE", palette, 3 * (size_t)c->n_palette);
    put_chunk(out, "IDAT", data, n);
    put_chunk(out, "IEND", NULL, 0);
}

enum status indexed_png(const struct pixels *pixels, struct buf *out, struct err *err)
{
    struct colours *colours = malloc(sizeof *colours);
    unsigned char *row = malloc((size_t)pixels->width + 1);
    struct buf packed = buf_make(out->limit);
    enum status st = ST_OK;

    if (!colours || !row) {
        st = err_set(err, ST_NOMEM, "picture: no memory for its colours");
        goto out;
    }
    colours->told = 0xffffffu;
    while (!count(colours, pixels)) /* 4 bits of each are 4096 colours */
        colours->told = colours->told << 1 & 0xfefefeu;
    qsort(colours->all, (size_t)colours->n, sizeof colours->all[0], by_number);
    for (int near = INDEXED_NEAR; !choose(colours, near);)
        near += near / 2;
    st = pack(colours, pixels, row, &packed, err);
    if (st != ST_OK)
        goto out;
    put_file(out, pixels, colours, packed.data, packed.len);
    st = buf_status(out, "a picture of the board", err);
out:
    buf_release(&packed);
    free(row);
    free(colours);
    return st;
}

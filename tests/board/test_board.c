#include "support/harness.h"

#include <cairo.h>
#include <librsvg/rsvg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "board/board.h"
#include "board/indexed.h"

/* A middle game: South mated, a turned pawn of West on k5, a check on the mated king. */
static const char middle[] =
    "verney x,x,x,1,wN,6,x,x,x/x,x,x,6,yP,1,x,x,x/x,x,x,1,wP,6,x,x,x/6,bQ,7/1,wQ,3,yP,8/"
    "3,bP,1,bP,bR,7/1,rP,4,bB,2,rQ,4/10,rQ,1,wB,yK/1,bQ,3,rP,1,wR,yP,1,wK,3/4,wP,2,yP,2,rV,yR,2/"
    "3,rB,8,bK,rK/x,x,x,7,rQ,x,x,x/x,x,x,3,rP,4,x,x,x/x,x,x,8,x,x,x r maaa - - 11 38";

static struct position started(const char *rules)
{
    struct variant variant;
    struct position pos;

    assert_int_equal(variant_parse(rules, &variant, NULL), VARIANT_OK);
    assert_int_equal(position_start(&variant, NULL, &pos), RESERVE_OK);
    return pos;
}

static struct position parsed(const char *text)
{
    struct variant variant;
    struct position pos;

    assert_true(variant_of_text(text, &variant));
    assert_int_equal(position_parse(&variant, text, &pos, NULL), POSITION_OK);
    return pos;
}

static struct move move_of(const char *text)
{
    int from = 0, to = 0;
    size_t n = square_read(text, strlen(text), &from);

    assert_true(n > 0 && square_read(text + n, strlen(text) - n, &to) > 0);
    return (struct move){.from = (uint8_t)from, .to = (uint8_t)to};
}

static struct buf drawn(const struct board_view *view)
{
    struct buf b = buf_make(BOARD_SVG_MAX);
    struct err err = ERR_INIT;

    assert_ok(board_svg(view, &b, &err), err);
    return b;
}

static int count(const char *text, const char *what)
{
    int n = 0;

    for (const char *p = text; (p = strstr(p, what)) != NULL; p += strlen(what))
        n++;
    return n;
}

static void test_every_square_and_man_is_in_the_picture_once(void **state)
{
    static const struct {
        const char *rules;
        int squares, men;
    } table[] = {{"verney", 160, 64}, {"fortress reserve=usual", 192, 76}, {"teams", 160, 64}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        for (int seat = 0; seat < SEATS; seat++) {
            struct position pos = started(table[i].rules);
            struct board_view view = {.pos = &pos, .bottom = (enum seat)seat};
            struct buf b = drawn(&view);

            assert_int_equal(count(b.data, "data-square="), table[i].squares);
            assert_int_equal(count(b.data, "data-man="), table[i].men);
            assert_int_equal(count(b.data, "class=\"mark\""), table[i].men);
            buf_release(&b);
        }
}

/* Where a square is drawn: "x y" of its rectangle. */
static void assert_square_at(const char *svg, const char *name, int column, int row)
{
    char what[80];

    (void)snprintf(what, sizeof what, "data-square=\"%s\" x=\"%d\" y=\"%d\"", name,
                   24 + 40 * column, 24 + 40 * row);
    if (strstr(svg, what) == NULL)
        fail_msg("%s is not at column %d, row %d", name, column, row);
}

static void test_any_seat_can_be_at_the_bottom_with_its_left_at_the_left(void **state)
{
    /* each seat's king's rook corner: its left end of its own line is at the lower left */
    static const char *const left[SEATS] = {"d1", "a11", "k14", "n4"};
    static const char *const right[SEATS] = {"k1", "a4", "d14", "n11"};
    struct position pos = started("verney");

    (void)state;
    for (int seat = 0; seat < SEATS; seat++) {
        struct board_view view = {.pos = &pos, .bottom = (enum seat)seat};
        struct buf b = drawn(&view);

        assert_square_at(b.data, left[seat], 3, 13);
        assert_square_at(b.data, right[seat], 10, 13);
        buf_release(&b);
    }
}

static void test_last_move_check_turned_pawn_and_inert_army_are_marked(void **state)
{
    struct position pos = parsed(middle);
    struct board_view view = {.pos = &pos, .has_last = true, .last = move_of("j8k7")};
    struct buf b = drawn(&view);

    (void)state;
    assert_int_equal(count(b.data, " last\" data-square="), 2);
    assert_non_null(strstr(b.data, "class=\"last-line\""));
    assert_int_equal(count(b.data, "class=\"check\""), 1);
    assert_int_equal(count(b.data, "class=\"check-line\""), 1);
    assert_int_equal(count(b.data, "class=\"way back\""), 1);
    assert_int_equal(count(b.data, "class=\"man w inert\""), 7); /* all of White, none of others */
    assert_int_equal(count(b.data, " inert\""), 7);
    assert_int_equal(count(b.data, "fill=\"url(#fh-hatch)\""), 7); /* and greyed */
    assert_non_null(strstr(b.data, "class=\"coordinates\""));
    assert_int_equal(count(b.data, "class=\"turn\" data-seat=\"1\""), 1);
    buf_release(&b);

    view.without_checks = view.without_coordinates = true;
    view.has_last = false;
    b = drawn(&view);
    assert_null(strstr(b.data, "class=\"check"));
    assert_null(strstr(b.data, "class=\"last"));
    assert_null(strstr(b.data, "class=\"coordinates\""));
    buf_release(&b);
}

/* The value of the next attribute of that name, copied; returns what stands behind it. */
static const char *attribute_next(const char *svg, const char *name, char ret[200])
{
    char what[20];
    const char *at;
    size_t n;

    (void)snprintf(what, sizeof what, " %s=\"", name);
    at = strstr(svg, what);
    assert_non_null(at);
    at += strlen(what);
    n = strcspn(at, "\"");
    assert_true(n < 200);
    memcpy(ret, at, n);
    ret[n] = '\0';
    return at + n;
}

/* Each army has a mark of its own shape, its colour's letter in it, and a fill of its own
 * lightness: who sees no colours still tells the four apart. */
static void test_armies_are_told_apart_without_colour(void **state)
{
    static const char *const kings[SEATS] = {"\"wK\"", "\"rK\"", "\"yK\"", "\"bK\""};
    char shape[SEATS][200], letter[SEATS][200], fill[200];
    double light[SEATS];
    struct position pos = started("verney");
    struct board_view view = {.pos = &pos};
    struct buf b = drawn(&view);

    (void)state;
    for (int i = 0; i < SEATS; i++) {
        const char *man = strstr(b.data, kings[i]), *mark;
        unsigned rgb = 0;

        assert_non_null(man);
        mark = strstr(man, "class=\"mark\"");
        assert_non_null(mark);
        (void)attribute_next(mark, "fill", fill);
        assert_int_equal(sscanf(fill, "#%6x", &rgb), 1);
        light[i] = 0.2126 * (rgb >> 16) + 0.7152 * (rgb >> 8 & 255) + 0.0722 * (rgb & 255);
        (void)attribute_next(attribute_next(mark, "d", shape[i]), "d", letter[i]);
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(shape[i], shape[k]);
            assert_string_not_equal(letter[i], letter[k]);
            assert_true(light[i] - light[k] > 30 || light[k] - light[i] > 30);
        }
    }
    buf_release(&b);
}

/* R-V7: South's turned pawn points to South's own side, from whichever side one looks. */
static void test_a_turned_pawn_points_back_from_every_side(void **state)
{
    static const char text[] =
        "verney x,x,x,7,yK,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x/14/14/14/4,wV,9/rK,12,bK/14/"
        "4,wP,9/14/x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,4,wK,3,x,x,x w aaaa - - 0 0";
    struct position pos = parsed(text);

    (void)state;
    for (int seat = 0; seat < SEATS; seat++) {
        struct board_view view = {.pos = &pos, .bottom = (enum seat)seat};
        struct buf b = drawn(&view);
        const char *forth = strstr(b.data, "class=\"way\""),
                   *back = strstr(b.data, "class=\"way back\"");
        char turn[2][200];
        int degrees[2];

        assert_non_null(forth);
        assert_non_null(back);
        (void)attribute_next(forth, "transform", turn[0]);
        (void)attribute_next(back, "transform", turn[1]);
        for (int k = 0; k < 2; k++)
            assert_int_equal(sscanf(turn[k], "rotate(%d 20 20)", &degrees[k]), 1);
        if (seat == SEAT_SOUTH)
            assert_int_equal(degrees[0], 0);
        assert_int_equal((degrees[0] + 180) % 360, degrees[1]);
        buf_release(&b);
    }
}

static int path_moves(const char *svg, const char *kind)
{
    char what[40];
    const char *start, *end;
    int n = 0;

    (void)snprintf(what, sizeof what, "<path class=\"%s\"", kind);
    start = strstr(svg, what);
    assert_non_null(start);
    start = strstr(start, " d=\"");
    end = strchr(start + 4, '"');
    for (const char *p = start; p < end; p++)
        n += *p == 'M';
    return n;
}

/* R-F4: a fortress has 16 edges around it, two of them its gate; 4 fortresses. */
static void test_walls_and_gates_of_the_fortresses_are_drawn(void **state)
{
    struct position pos = started("fortress reserve=usual");
    struct board_view view = {.pos = &pos};
    struct buf b = drawn(&view);

    (void)state;
    assert_int_equal(path_moves(b.data, "wall"), 4 * 14);
    assert_int_equal(path_moves(b.data, "gate"), 4 * 2);
    buf_release(&b);
    pos = started("verney");
    b = drawn(&view);
    assert_int_equal(path_moves(b.data, "wall"), 0);
    assert_int_equal(path_moves(b.data, "rim"), 4 * 14); /* the outline of the cross */
    buf_release(&b);
}

static void test_the_picture_needs_nothing_from_outside(void **state)
{
    struct position pos = parsed(middle);
    struct board_view view = {.pos = &pos, .has_last = true, .last = move_of("j8k7")};
    struct buf b = drawn(&view);

    (void)state;
    assert_null(strstr(b.data, "<text")); /* no fonts */
    assert_null(strstr(b.data, "<style"));
    assert_null(strstr(b.data, "<image"));
    assert_null(strstr(b.data, "<script"));
    assert_int_equal(count(b.data, "http"), 1); /* the name space */
    assert_int_equal(count(b.data, "href=\"#"), count(b.data, "href="));
    buf_release(&b);
}

static uint32_t png_number(const char *bytes)
{
    const unsigned char *p = (const unsigned char *)bytes;

    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void test_png_has_the_width_that_was_asked_for(void **state)
{
    struct position pos = started("fortress reserve=usual");
    struct board_view view = {.pos = &pos};
    struct buf b = buf_make(4 * 1024 * 1024);
    struct err err = ERR_INIT;

    (void)state;
    assert_ok(board_png(&view, 0, &b, &err), err);
    assert_memory_equal(b.data, "\x89PNG\r\n\x1a\n", 8);
    assert_int_equal(png_number(b.data + 16), BOARD_PNG_DEFAULT);
    assert_int_equal(png_number(b.data + 20), BOARD_PNG_DEFAULT);
    buf_clear(&b);
    assert_ok(board_png(&view, BOARD_PNG_MIN, &b, &err), err);
    assert_int_equal(png_number(b.data + 16), BOARD_PNG_MIN);
    buf_clear(&b);
    assert_st(board_png(&view, BOARD_PNG_MIN - 1, &b, &err), ST_INVALID, err);
    assert_st(board_png(&view, BOARD_PNG_MAX + 1, &b, &err), ST_INVALID, err);
    assert_st(board_png(&view, -1, &b, &err), ST_INVALID, err);
    assert_int_equal(b.len, 0);
    buf_release(&b);
}

/* ---------------------------------------------------------------- pixels and palettes */

struct bytes_left {
    const char *at;
    size_t n;
};

static cairo_status_t give_bytes(void *arg, unsigned char *to, unsigned int n)
{
    struct bytes_left *left = arg;

    if (n > left->n)
        return CAIRO_STATUS_READ_ERROR;
    memcpy(to, left->at, n);
    left->at += n;
    left->n -= n;
    return CAIRO_STATUS_SUCCESS;
}

/* libpng's reading of it, to the last byte; a damaged check sum would be an error. */
static cairo_surface_t *png_surface(const struct buf *png)
{
    struct bytes_left left = {png->data, png->len};
    cairo_surface_t *surface = cairo_image_surface_create_from_png_stream(give_bytes, &left);

    assert_int_equal(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
    assert_int_equal(cairo_image_surface_get_format(surface), CAIRO_FORMAT_RGB24); /* opaque */
    assert_int_equal(left.n, 0);
    return surface;
}

/* The SVG as its library draws it, in true colours. */
static cairo_surface_t *svg_surface(const struct board_view *view, int width)
{
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, width);
    cairo_t *cairo = cairo_create(surface);
    struct buf svg = drawn(view);
    RsvgHandle *handle = rsvg_handle_new_from_data((const guint8 *)svg.data, svg.len, NULL);

    assert_non_null(handle);
    assert_true(rsvg_handle_render_document(
        handle, cairo, &(RsvgRectangle){.width = width, .height = width}, NULL));
    g_object_unref(handle);
    cairo_destroy(cairo);
    cairo_surface_flush(surface);
    buf_release(&svg);
    return surface;
}

static uint32_t pixel(cairo_surface_t *surface, int x, int y)
{
    const unsigned char *row = cairo_image_surface_get_data(surface) +
                               (ptrdiff_t)y * cairo_image_surface_get_stride(surface);
    uint32_t rgb;

    memcpy(&rgb, row + 4 * (ptrdiff_t)x, sizeof rgb);
    return rgb & 0xffffffu;
}

/* The square of the distance in RGB. */
static int apart(uint32_t a, uint32_t b)
{
    int sum = 0;

    for (int shift = 0; shift < 24; shift += 8) {
        int d = (int)(a >> shift & 255) - (int)(b >> shift & 255);

        sum += d * d;
    }
    return sum;
}

static int colours_of_palette(const struct buf *png)
{
    assert_memory_equal(png->data + 24, "\x08\x03", 2); /* 8 bits, a palette */
    assert_memory_equal(png->data + 37, "PLTE", 4);
    return (int)png_number(png->data + 33) / 3;
}

/* The views that have everything pictures have: walls, gates, last move, check, turned pawn, grey
 * army, six colours, every side. */
static const struct {
    const char *rules, *text, *last;
} scenes[] = {
    {.rules = "verney", .last = "e2e4"},
    {.rules = "fortress reserve=usual", .last = "e3e4"},
    {.rules = "teams"},
    {.text = middle, .last = "j8k7"},
};

static struct board_view scene(size_t i, int seat, struct position *pos)
{
    struct board_view view = {.pos = pos, .bottom = (enum seat)seat};

    *pos = scenes[i].text ? parsed(scenes[i].text) : started(scenes[i].rules);
    if (scenes[i].last) {
        view.has_last = true;
        view.last = move_of(scenes[i].last);
    }
    return view;
}

static void assert_png_shows_the_svg(const struct board_view *view, int width)
{
    struct buf png = buf_make(4 * 1024 * 1024);
    cairo_surface_t *want = svg_surface(view, width), *got;
    struct err err = ERR_INIT;
    int worst = 0;

    assert_ok(board_png(view, width, &png, &err), err);
    got = png_surface(&png);
    assert_int_equal(cairo_image_surface_get_width(got), width);
    assert_int_equal(cairo_image_surface_get_height(got), width);
    for (int y = 0; y < width; y++)
        for (int x = 0; x < width; x++) {
            int d = apart(pixel(want, x, y), pixel(got, x, y));

            worst = d > worst ? d : worst;
        }
    if (worst > INDEXED_NEAR * INDEXED_NEAR)
        fail_msg("a pixel of a picture %d wide is off by the root of %d", width, worst);
    assert_int_equal(pixel(got, 0, 0), 0xffffff); /* also where the page around it is dark */
    assert_true(colours_of_palette(&png) <= 256);
    cairo_surface_destroy(got);
    cairo_surface_destroy(want);
    buf_release(&png);
}

static void test_no_pixel_of_a_png_is_far_from_its_true_colour(void **state)
{
    struct position pos;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(scenes); i++) {
        for (int seat = 0; seat < SEATS; seat++) {
            struct board_view view = scene(i, seat, &pos);

            assert_png_shows_the_svg(&view, BOARD_PNG_DEFAULT);
        }
        struct board_view view = scene(i, 0, &pos);

        assert_png_shows_the_svg(&view, BOARD_PNG_MIN);
        assert_png_shows_the_svg(&view, 2 * BOARD_PNG_DEFAULT);
    }
}

/* Squares, marks of the last move and armies are told apart by plain colours: those are exact.  At
 * 40 pixels a square the middle of each lies on pixels of its own. */
static void test_plain_colours_of_a_png_are_exact(void **state)
{
    static const struct {
        int x, y;
        uint32_t rgb;
    } table[] = {
        {3 * 40 + 20, 7 * 40 + 20, 0xcbc1af},  /* d7, dark */
        {4 * 40 + 20, 7 * 40 + 20, 0xece6da},  /* e7, light */
        {4 * 40 + 3, 10 * 40 + 20, 0xb3c878},  /* e4, of the last move, dark */
        {4 * 40 + 3, 12 * 40 + 20, 0xb3c878},  /* e2 */
        {4 * 40 + 32, 13 * 40 + 27, 0xffffff}, /* e1: White's mark, beside its letter */
        {0 * 40 + 32, 6 * 40 + 26, 0xd55e00},  /* a8: Red's */
        {7 * 40 + 28, 0 * 40 + 34, 0xf2dc23},  /* h14: Yellow's */
        {13 * 40 + 32, 6 * 40 + 26, 0x2b2b2b}, /* n8: Black's */
    };
    struct position pos;
    struct board_view view = scene(0, 0, &pos);
    struct buf png = buf_make(4 * 1024 * 1024);
    struct err err = ERR_INIT;
    cairo_surface_t *got;

    (void)state;
    assert_ok(board_png(&view, 14 * 40 + 2 * 24, &png, &err), err);
    got = png_surface(&png);
    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (pixel(got, 24 + table[i].x, 24 + table[i].y) != table[i].rgb)
            fail_msg("%zu: %06x, not %06x", i, pixel(got, 24 + table[i].x, 24 + table[i].y),
                     table[i].rgb);
    cairo_surface_destroy(got);
    buf_release(&png);
}

/* A turn's letter has its picture in base64 beside 8 KiB of words; with it, it stays below 64 KiB.
 * Four bytes a pixel took 94 KB. */
static void test_png_of_a_full_board_takes_less_than_40_kib(void **state)
{
    struct position pos;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(scenes); i++)
        for (int seat = 0; seat < SEATS; seat++) {
            struct board_view view = scene(i, seat, &pos);
            struct buf png = buf_make(BOARD_SVG_MAX);
            struct err err = ERR_INIT;

            assert_ok(board_png(&view, 0, &png, &err), err);
            assert_true(png.len < 40 * 1024);
            buf_release(&png);
        }
}

enum { SIDE = 300 };

/* The picture of SIDE x SIDE pixels read back, and how far it is from them at most, squared. */
static int worst_of(const uint32_t *rgb, int *ret_colours)
{
    struct pixels pixels = {.bytes = (const unsigned char *)rgb, .width = SIDE, .height = SIDE,
                            .stride = SIDE * 4};
    struct buf png = buf_make(4 * 1024 * 1024), again = buf_make(4 * 1024 * 1024);
    struct err err = ERR_INIT;
    cairo_surface_t *got;
    int worst = 0;

    assert_ok(indexed_png(&pixels, &png, &err), err);
    assert_ok(indexed_png(&pixels, &again, &err), err);
    assert_int_equal(png.len, again.len);
    assert_memory_equal(png.data, again.data, png.len);
    got = png_surface(&png);
    *ret_colours = colours_of_palette(&png);
    for (int i = 0; i < SIDE * SIDE; i++) {
        int d = apart(rgb[i] & 0xffffffu, pixel(got, i % SIDE, i / SIDE));

        worst = d > worst ? d : worst;
    }
    cairo_surface_destroy(got);
    buf_release(&again);
    buf_release(&png);
    return worst;
}

static void test_256_colours_apart_are_exact_and_one_more_moves_few(void **state)
{
    uint32_t *rgb = calloc((size_t)SIDE * SIDE, sizeof *rgb);
    int colours, worst;

    (void)state;
    assert_non_null(rgb);
    for (uint32_t i = 0; i < SIDE * SIDE; i++) /* 8 reds, 8 greens, 4 blues; X is not looked at */
        rgb[i] = i << 24 | (i & 7) * 36 << 16 | (i >> 3 & 7) * 36 << 8 | (i >> 6 & 3) * 85;
    worst = worst_of(rgb, &colours);
    assert_int_equal(worst, 0);
    assert_int_equal(colours, 256);
    rgb[SIDE * SIDE - 1] = 18 << 16 | 18 << 8 | 42;  /* in a middle: the root of 2412 away */
    worst = worst_of(rgb, &colours);
    assert_true(colours <= 256);
    assert_in_range(worst, 1, 60 * 60); /* 12, 18, 27, 40, 60 */
    free(rgb);
}

static void test_more_colours_than_are_counted_one_by_one_are_near(void **state)
{
    uint32_t *rgb = calloc((size_t)SIDE * SIDE, sizeof *rgb), seed = 1;
    int colours, worst;

    (void)state;
    assert_non_null(rgb);
    for (int i = 0; i < SIDE * SIDE; i++) {
        seed = seed * 1664525u + 1013904223u;
        rgb[i] = seed >> 8;
    }
    worst = worst_of(rgb, &colours);
    assert_true(colours <= 256);
    /* red, green and blue by 4 bits, so less than 16 off each, and a palette 40 or 60 apart */
    assert_in_range(worst, 1, (60 + 26) * (60 + 26));
    free(rgb);
}

static void test_a_picture_of_one_colour_has_a_palette_of_one(void **state)
{
    uint32_t *rgb = calloc((size_t)SIDE * SIDE, sizeof *rgb);
    int colours;

    (void)state;
    assert_non_null(rgb);
    assert_int_equal(worst_of(rgb, &colours), 0);
    assert_int_equal(colours, 1);
    free(rgb);
}

static void test_pictures_that_do_not_fit_are_an_error_and_leave_nothing(void **state)
{
    struct position pos = started("verney");
    struct board_view view = {.pos = &pos};
    struct buf b = buf_make(1000);
    struct err err = ERR_INIT;

    (void)state;
    assert_st(board_svg(&view, &b, &err), ST_TOO_LARGE, err);
    assert_int_equal(b.len, 0);
    buf_clear(&b);
    assert_st(board_png(&view, 560, &b, &err), ST_TOO_LARGE, err);
    buf_release(&b);
}

static void test_text_boards_keep_to_78_columns_from_every_side(void **state)
{
    static const char *const rules[] = {"verney", "fortress reserve=usual", "teams"};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rules); i++)
        for (int seat = 0; seat < SEATS; seat++) {
            struct position pos = started(rules[i]);
            struct board_view view = {.pos = &pos, .bottom = (enum seat)seat};
            struct buf b = buf_make(100000);
            size_t column = 0;

            assert_ok(board_text(&view, &b, &err), err);
            for (size_t k = 0; k < b.len; k++) {
                column = b.data[k] == '\n' ? 0 : column + 1;
                assert_true(column <= BOARD_TEXT_COLUMNS);
                assert_true((unsigned char)b.data[k] < 0x80);
            }
            assert_true(b.len > 500 && b.data[b.len - 1] == '\n');
            buf_release(&b);
        }
}

static void test_words_tell_men_checks_and_turn_in_every_language(void **state)
{
    static const char *const want[LANGS][4] = {
        {"Last move: Red j8k7. Red to move. Check: white king on k6, from the red queen on k7.",
         "Red (West): king n4, queens k3 k7 j8, bishop d4, pawns g2 f6 b8, pawn walking back k5.",
         "White (South), mated: king k6,", "Black (East): king m4,"},
        {"Последний ход: Красные j8k7. Ход: Красные. Шах: белый король на k6, шах даёт красный "
         "ферзь на k7.",
         "Красные (Запад): король n4, ферзи k3 k7 j8, слон d4, пешки g2 f6 b8, пешка, идущая назад "
         "k5.",
         "Белые (Юг), мат: король k6,", "Чёрные (Восток): король m4,"},
        {"Ultima mutare: Roșul j8k7. La mutare: Roșul. Șah: rege alb pe k6, atacat: damă roșie pe "
         "k7.",
         "Roșul (Vest): rege n4, dame k3 k7 j8, nebun d4, pioni g2 f6 b8, pion care merge înapoi "
         "k5.",
         "Albul (Sud), mat: rege k6,", "Negrul (Est): rege m4,"},
    };
    struct position pos = parsed(middle);
    struct err err = ERR_INIT;

    (void)state;
    for (int lang = 0; lang < LANGS; lang++) {
        struct board_view view = {.pos = &pos, .lang = (enum lang)lang, .has_last = true,
                                  .last = move_of("j8k7")};
        struct buf b = buf_make(100000);

        assert_ok(board_words(&view, &b, &err), err);
        for (int i = 0; i < 4; i++)
            if (strstr(b.data, want[lang][i]) == NULL)
                fail_msg("not there: %s\nin: %s", want[lang][i], b.data);
        assert_null(strchr(b.data, '\n'));
        buf_release(&b);
    }
}

/* Agreement and the organiser end a game that the men would let go on. */
static void test_words_of_an_ended_game_tell_its_end_and_nobodys_turn(void **state)
{
    struct position pos = parsed(middle);
    struct board_view view = {.pos = &pos, .ended = "It is a draw."};
    struct buf b = buf_make(100000);
    struct err err = ERR_INIT;

    (void)state;
    assert_ok(board_words(&view, &b, &err), err);
    assert_memory_equal(b.data, "It is a draw. Check: white king", 31);
    assert_null(strstr(b.data, "to move"));
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_square_and_man_is_in_the_picture_once),
        cmocka_unit_test(test_any_seat_can_be_at_the_bottom_with_its_left_at_the_left),
        cmocka_unit_test(test_last_move_check_turned_pawn_and_inert_army_are_marked),
        cmocka_unit_test(test_armies_are_told_apart_without_colour),
        cmocka_unit_test(test_a_turned_pawn_points_back_from_every_side),
        cmocka_unit_test(test_walls_and_gates_of_the_fortresses_are_drawn),
        cmocka_unit_test(test_the_picture_needs_nothing_from_outside),
        cmocka_unit_test(test_png_has_the_width_that_was_asked_for),
        cmocka_unit_test(test_no_pixel_of_a_png_is_far_from_its_true_colour),
        cmocka_unit_test(test_plain_colours_of_a_png_are_exact),
        cmocka_unit_test(test_png_of_a_full_board_takes_less_than_40_kib),
        cmocka_unit_test(test_256_colours_apart_are_exact_and_one_more_moves_few),
        cmocka_unit_test(test_more_colours_than_are_counted_one_by_one_are_near),
        cmocka_unit_test(test_a_picture_of_one_colour_has_a_palette_of_one),
        cmocka_unit_test(test_pictures_that_do_not_fit_are_an_error_and_leave_nothing),
        cmocka_unit_test(test_text_boards_keep_to_78_columns_from_every_side),
        cmocka_unit_test(test_words_tell_men_checks_and_turn_in_every_language),
        cmocka_unit_test(test_words_of_an_ended_game_tell_its_end_and_nobodys_turn),
    };

    return cmocka_run_group_tests_name("board", tests, NULL, NULL);
}

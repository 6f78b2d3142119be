/* board/svg.c - the one picture; see board.h. */
#include "board/board.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "board/art.h"

enum { CELL = ART_CELL, MARGIN = 24 };

/* A view with what is looked up again and again. */
struct canvas {
    const struct board_view *view;
    const struct position *pos;
    const struct game *game;
    struct buf *out;
    int n; /* cells on a side */
};

/* ---------------------------------------------------------------- where things are */

/* Column and row of the screen, from the top left, with the bottom seat's edge at the foot. */
static void turn_to(const struct canvas *c, int file, int rank, int *ret_column, int *ret_row)
{
    int last = c->n - 1;

    switch (c->view->bottom) {
    case SEAT_WEST: /* looks east: files go up, ranks fall to the right */
        *ret_column = last - rank;
        *ret_row = last - file;
        return;
    case SEAT_NORTH:
        *ret_column = last - file;
        *ret_row = rank;
        return;
    case SEAT_EAST:
        *ret_column = rank;
        *ret_row = file;
        return;
    default:
        *ret_column = file;
        *ret_row = last - rank;
        return;
    }
}

static void corner_of(const struct canvas *c, int square, int *ret_x, int *ret_y)
{
    int column, row;

    turn_to(c, square_file(square), square_rank(square), &column, &row);
    *ret_x = MARGIN + column * CELL;
    *ret_y = MARGIN + row * CELL;
}

/* The other way round: file and rank that stand at a column and row. */
static void turn_back(const struct canvas *c, int column, int row, int *ret_file, int *ret_rank)
{
    int last = c->n - 1;

    switch (c->view->bottom) {
    case SEAT_WEST:
        *ret_file = last - row;
        *ret_rank = last - column;
        return;
    case SEAT_NORTH:
        *ret_file = last - column;
        *ret_rank = row;
        return;
    case SEAT_EAST:
        *ret_file = row;
        *ret_rank = column;
        return;
    default:
        *ret_file = column;
        *ret_rank = last - row;
        return;
    }
}

/* The square at a place of the screen, or SQUARE_NONE. */
static int square_at(const struct canvas *c, int column, int row)
{
    int last = c->n - 1, file, rank;

    if (column < 0 || row < 0 || column > last || row > last)
        return SQUARE_NONE;
    turn_back(c, column, row, &file, &rank);
    return square_is_on_board(c->game, square_of(file, rank)) ? square_of(file, rank)
                                                              : SQUARE_NONE;
}

/* Quarter turns clockwise from "up" in which a seat's pawns walk on the screen. */
static int heading(const struct canvas *c, enum seat seat)
{
    return (int)((seat + SEATS - c->view->bottom) % SEATS);
}

static bool is_inert(const struct position *pos, enum seat seat)
{
    return pos->condition[seat] == CONDITION_MATED || pos->condition[seat] == CONDITION_ABSENT;
}

/* ---------------------------------------------------------------- letters */

static void glyphs(struct buf *out, const char *text, double x, double y, double size,
                   const char *colour, double width)
{
    size_t n = strlen(text);
    double scale = size / 6.0, step = 5.4 * scale;

    /* x, y is the middle; a glyph is 4 wide and 6 high */
    x -= (step * (double)n - 1.4 * scale) / 2.0;
    y -= size / 2.0;
    for (size_t i = 0; i < n; i++) {
        const char *path = art_glyph(text[i]);

        if (path == NULL)
            continue;
        buf_printf(out,
                   "<path transform=\"translate(%.2f %.2f) scale(%.3f)\" d=\"%s\" fill=\"none\" "
                   "stroke=\"%s\" stroke-width=\"%.2f\" stroke-linecap=\"round\" "
                   "stroke-linejoin=\"round\"/>\n",
                   x + step * (double)i, y, scale, path, colour, width / scale);
    }
}

static void coordinates(const struct canvas *c)
{
    bool is_turned = c->view->bottom == SEAT_WEST || c->view->bottom == SEAT_EAST;

    buf_puts(c->out, "<g class=\"coordinates\" aria-hidden=\"true\">\n");
    for (int i = 0; i < c->n; i++) {
        for (int k = 0; k < 2; k++) { /* k = 0: along the foot; 1: along the side */
            int column = k == 0 ? i : 0, row = k == 0 ? 0 : i, file, rank;
            double middle = MARGIN + (double)i * CELL + CELL / 2.0;
            double near = MARGIN / 2.0, far = MARGIN * 1.5 + (double)c->n * CELL;
            char text[4];

            /* any square of that column or row tells its file or rank */
            turn_back(c, column, row, &file, &rank);
            if ((k == 0) != is_turned) {
                text[0] = (char)('a' + file);
                text[1] = '\0';
            } else {
                (void)snprintf(text, sizeof text, "%d", (rank + 1) % 100);
            }
            glyphs(c->out, text, k == 0 ? middle : near, k == 0 ? near : middle, 9, "#444444", 1.1);
            glyphs(c->out, text, k == 0 ? middle : far, k == 0 ? far : middle, 9, "#444444", 1.1);
        }
    }
    buf_puts(c->out, "</g>\n");
}

/* ---------------------------------------------------------------- squares, walls */

static void squares(const struct canvas *c)
{
    const struct board_view *v = c->view;

    buf_puts(c->out, "<g class=\"squares\">\n");
    for (int square = 0; square < SQUARES; square++) {
        int x, y;
        char name[SQUARE_TEXT_MAX];
        bool is_last = v->has_last && (square == v->last.from || square == v->last.to);
        bool is_light;

        if (!square_is_on_board(c->game, square))
            continue;
        corner_of(c, square, &x, &y);
        (void)square_print(square, name);
        is_light = square_is_light(c->game, square);
        buf_printf(c->out,
                   "<rect class=\"sq %s%s\" data-square=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" "
                   "height=\"%d\" fill=\"%s\"/>\n",
                   is_light ? "light" : "dark", is_last ? " last" : "", name, x, y, CELL, CELL,
                   is_last ? (is_light ? "#d5e3a8" : "#b3c878")
                           : (is_light ? "#ece6da" : "#cbc1af"));
        if (is_last) /* corner brackets, for who does not see the tint */
            buf_printf(c->out,
                       "<path class=\"last\" d=\"M%d %dh-8v8M%d %dh8v8M%d %dh-8v-8M%d %dh8v-8\" "
                       "fill=\"none\" stroke=\"#3f5400\" stroke-width=\"2\"/>\n",
                       x + 10, y + 2, x + 30, y + 2, x + 10, y + 38, x + 30, y + 38);
    }
    buf_puts(c->out, "</g>\n");
}

enum edge { EDGE_INSIDE, EDGE_RIM, EDGE_WALL, EDGE_GATE };

/* What stands between two neighbours; b may be SQUARE_NONE. */
static enum edge edge_between(const struct canvas *c, const struct board fortress[SEATS],
                              bool has_fortress, int a, int b)
{
    if (a == SQUARE_NONE && b == SQUARE_NONE)
        return EDGE_INSIDE;
    if (a == SQUARE_NONE || b == SQUARE_NONE) {
        int on = a == SQUARE_NONE ? b : a;

        for (int seat = 0; has_fortress && seat < SEATS; seat++)
            if (board_has(&fortress[seat], on))
                return EDGE_WALL; /* R-F4: also towards places off the board */
        return EDGE_RIM;
    }
    if (game_has_wall(c->game, a, b))
        return EDGE_WALL;
    for (int seat = 0; has_fortress && seat < SEATS; seat++)
        if (board_has(&fortress[seat], a) != board_has(&fortress[seat], b))
            return EDGE_GATE;
    return EDGE_INSIDE;
}

/* The squares of each fortress: the part of the board inside its walls.  Spread from a square of
 * the reserve over neighbours that no wall and no gate parts: a fortress is four by four. */
static bool fortresses(const struct canvas *c, struct board ret[SEATS])
{
    for (int seat = 0; seat < SEATS; seat++) {
        struct board reserve;
        int low_file = 16, high_file = -1, low_rank = 16, high_rank = -1, square;

        if (!game_reserve_squares(c->game, (enum seat)seat, &reserve))
            return false;
        memset(&ret[seat], 0, sizeof ret[seat]);
        ret[seat] = reserve;
        while ((square = board_take(&reserve)) != SQUARE_NONE) {
            int f = square_file(square), r = square_rank(square);

            low_file = f < low_file ? f : low_file;
            high_file = f > high_file ? f : high_file;
            low_rank = r < low_rank ? r : low_rank;
            high_rank = r > high_rank ? r : high_rank;
        }
        for (int f = low_file; f <= high_file; f++)
            for (int r = low_rank; r <= high_rank; r++)
                board_add(&ret[seat], square_of(f, r));
    }
    return true;
}

static void edges(const struct canvas *c)
{
    struct board fortress[SEATS];
    bool has_fortress = fortresses(c, fortress);
    static const struct {
        const char *name, *attributes;
    } kind[] = {
        [EDGE_RIM] = {"rim", "stroke=\"#6b6252\" stroke-width=\"1.5\""},
        [EDGE_WALL] = {"wall", "stroke=\"#3b2a1a\" stroke-width=\"5\" stroke-linecap=\"square\""},
        [EDGE_GATE] = {"gate",
                       "stroke=\"#3b2a1a\" stroke-width=\"2\" stroke-dasharray=\"2 4\""},
    };

    for (int k = EDGE_RIM; k <= EDGE_GATE; k++) {
        buf_printf(c->out, "<path class=\"%s\" fill=\"none\" %s d=\"", kind[k].name,
                   kind[k].attributes);
        for (int column = 0; column <= c->n; column++)
            for (int row = 0; row <= c->n; row++) {
                int here = square_at(c, column, row), left = square_at(c, column - 1, row),
                    above = square_at(c, column, row - 1);
                int x = MARGIN + column * CELL, y = MARGIN + row * CELL;

                if ((int)edge_between(c, fortress, has_fortress, here, left) == k)
                    buf_printf(c->out, "M%d %dv%d", x, y, CELL);
                if ((int)edge_between(c, fortress, has_fortress, here, above) == k)
                    buf_printf(c->out, "M%d %dh%d", x, y, CELL);
            }
        buf_puts(c->out, "\"/>\n");
    }
}

/* ---------------------------------------------------------------- men */

/* The arrowhead at a pawn's edge that says where it walks; a turned pawn has two. */
static void pawn_arrow(const struct canvas *c, enum seat seat, bool is_turned, struct art_paint p)
{
    int quarter = (heading(c, seat) + (is_turned ? 2 : 0)) % 4;

    buf_printf(c->out,
               "<path class=\"way%s\" transform=\"rotate(%d 20 20)\" d=\"%s\" fill=\"%s\" "
               "stroke=\"%s\" stroke-width=\"1\" stroke-linejoin=\"round\"/>\n",
               is_turned ? " back" : "", quarter * 90,
               is_turned ? "M20 1l5 4.6h-10zM20 5.6l5 4.6h-10z" : "M20 1.6l4.4 4.2h-8.8z",
               is_turned ? p.stroke : p.fill, p.stroke);
}

static void man_draw(const struct canvas *c, int square, uint8_t man)
{
    enum seat seat = man_seat(man);
    enum kind kind = man_kind(man);
    char letter = kind_is_pawn(kind) ? 'P' : kind_letter(kind);
    char colour = seat_letter(c->game, seat);
    bool inert = is_inert(c->pos, seat);
    struct art_paint paint = art_paint_of(colour);
    char mark_letter[2] = {(char)(colour - 'a' + 'A'), '\0'};
    const char *lift = kind_is_pawn(kind) ? " y=\"-2.4\"" : ""; /* off its arrowhead */
    int x, y;

    corner_of(c, square, &x, &y);
    buf_printf(c->out, "<g class=\"man %c%s\" data-man=\"%c%c\" transform=\"translate(%d %d)\">\n",
               colour, inert ? " inert" : "", colour, kind_letter(kind), x, y);
    if (kind_is_pawn(kind))
        pawn_arrow(c, seat, kind == KIND_TURNED,
                   inert ? (struct art_paint){"#d4d4d4", "#6f6f6f", "#6f6f6f"} : paint);
    buf_printf(c->out,
               "<use href=\"#fh-%c\"%s fill=\"%s\" stroke=\"%s\" stroke-width=\"1.3\" "
               "stroke-linejoin=\"round\"/>\n<use href=\"#fh-%c-lines\"%s stroke=\"%s\" "
               "stroke-width=\"1.2\"/>\n",
               letter, lift, inert ? "url(#fh-hatch)" : paint.fill,
               inert ? "#6f6f6f" : paint.stroke,
               letter, lift, inert ? "#6f6f6f" : paint.ink);
    buf_printf(c->out,
               "<path class=\"mark\" transform=\"translate(32 31.4) scale(.94)\" d=\"%s\" "
               "fill=\"%s\" stroke=\"%s\" stroke-width=\"1.2\"/>\n",
               art_mark(seat), paint.fill, colour == 'b' ? "#ffffff" : paint.stroke);
    glyphs(c->out, mark_letter, 32, seat == SEAT_WEST ? 33 : 31.4, 5.6, paint.ink, 1.1);
    buf_puts(c->out, "</g>\n");
}

static void men(const struct canvas *c)
{
    buf_puts(c->out, "<g class=\"men\">\n");
    for (int square = 0; square < SQUARES; square++) {
        uint8_t man = position_man_at(c->pos, square);

        if (man != MAN_NONE && square_is_on_board(c->game, square))
            man_draw(c, square, man);
    }
    buf_puts(c->out, "</g>\n");
}

/* ---------------------------------------------------------------- what happens */

static void last_arrow(const struct canvas *c)
{
    int x1, y1, x2, y2;

    if (!c->view->has_last)
        return;
    corner_of(c, c->view->last.from, &x1, &y1);
    corner_of(c, c->view->last.to, &x2, &y2);
    buf_printf(c->out,
               "<path class=\"last-line\" d=\"M%d %dL%d %d\" stroke=\"#3f5400\" "
               "stroke-width=\"5\" stroke-opacity=\".35\" stroke-linecap=\"round\"/>\n",
               x1 + CELL / 2, y1 + CELL / 2, x2 + CELL / 2, y2 + CELL / 2);
}

/* A dashed ring around each king in check, and a dashed line from each man that checks it. */
static void checks(const struct canvas *c)
{
    for (int seat = 0; seat < SEATS && !c->view->without_checks; seat++) {
        struct board by;
        int kx, ky, square;

        if (c->pos->condition[seat] == CONDITION_ABSENT ||
            (c->pos->has_king >> seat & 1u) == 0 ||
            position_checkers(c->pos, (enum seat)seat, &by) == 0)
            continue;
        corner_of(c, c->pos->king[seat], &kx, &ky);
        while ((square = board_take(&by)) != SQUARE_NONE) {
            int x, y;

            corner_of(c, square, &x, &y);
            buf_printf(c->out,
                       "<path class=\"check-line\" d=\"M%d %dL%d %d\" stroke=\"#a3001b\" "
                       "stroke-width=\"2.2\" stroke-dasharray=\"5 4\" stroke-opacity=\".8\"/>\n",
                       x + CELL / 2, y + CELL / 2, kx + CELL / 2, ky + CELL / 2);
        }
        buf_printf(c->out,
                   "<circle class=\"check\" cx=\"%d\" cy=\"%d\" r=\"18.4\" fill=\"none\" "
                   "stroke=\"#a3001b\" stroke-width=\"3\" stroke-dasharray=\"8 3\"/>\n",
                   kx + CELL / 2, ky + CELL / 2);
    }
}

/* A bar in the margin along the edge of the seat that is to move, with its mark. */
static void turn_bar(const struct canvas *c)
{
    enum seat seat = (enum seat)c->pos->turn;
    struct art_paint paint = art_paint_of(seat_letter(c->game, seat));
    char letter[2] = {(char)(seat_letter(c->game, seat) - 'a' + 'A'), '\0'};
    int size = c->n * CELL + 2 * MARGIN;
    int quarter = heading(c, seat);
    /* at the left of the bottom edge, then turned to the seat's own edge */
    double x = MARGIN + (double)(c->n - 8) / 2.0 * CELL, y = size - 3.5;
    double turned[4][2] = {{size / 2.0, size - 7.0}, {7.0, size / 2.0}, {size / 2.0, 7.0},
                           {size - 7.0, size / 2.0}};

    if (position_is_over(c->pos) || c->view->ended)
        return;
    buf_printf(c->out,
               "<g class=\"turn\" data-seat=\"%d\"><path transform=\"rotate(%d %d %d)\" "
               "d=\"M%.1f %.1fh%d\" stroke=\"%s\" stroke-width=\"5\"/>\n"
               "<path transform=\"rotate(%d %d %d)\" d=\"M%.1f %.1fh%d\" stroke=\"%s\" "
               "stroke-width=\"3\"/>\n"
               "<path transform=\"translate(%.1f %.1f)\" d=\"%s\" fill=\"%s\" stroke=\"%s\" "
               "stroke-width=\"1\"/>\n",
               (int)seat, quarter * 90, size / 2, size / 2, x, y, 8 * CELL, paint.stroke,
               quarter * 90, size / 2, size / 2, x + 1, y, 8 * CELL - 2, paint.fill,
               turned[quarter][0], turned[quarter][1], art_mark(seat), paint.fill, paint.stroke);
    glyphs(c->out, letter, turned[quarter][0],
           turned[quarter][1] + (seat == SEAT_WEST ? 1.6 : 0), 5.6, paint.ink, 1.1);
    buf_puts(c->out, "</g>\n");
}

/* ---------------------------------------------------------------- the whole */

static void title(const struct canvas *c)
{
    struct buf text = buf_make(BOARD_SVG_MAX);
    char code[64];
    struct err ignored = ERR_INIT;

    (void)snprintf(code, sizeof code, "game.%s", game_name(c->game));
    words_put(&text, c->view->lang, "words.title",
              (const struct words_arg[]){
                  WORDS_TEXT("game", words_plain(c->view->lang, code)),
                  WORDS_NUMBER("n", c->pos->ply),
                  WORDS_TEXT("seat", words_seat_name(c->view->lang, c->view->bottom)),
              },
              3);
    buf_puts(c->out, "<title>");
    buf_puts_markup(c->out, text.data);
    buf_puts(c->out, "</title>\n<desc>");
    buf_clear(&text);
    if (board_words(c->view, &text, &ignored) == ST_OK)
        buf_puts_markup(c->out, text.data);
    buf_puts(c->out, "</desc>\n");
    buf_release(&text);
}

enum status board_svg(const struct board_view *view, struct buf *out, struct err *err)
{
    struct buf svg = buf_make(BOARD_SVG_MAX);
    struct canvas c = {.view = view,
                       .pos = view->pos,
                       .game = view->pos->variant.game,
                       .out = &svg,
                       .n = game_files(view->pos->variant.game)};
    int size = c.n * CELL + 2 * MARGIN;
    enum status st;

    assert(view->bottom < SEATS && game_files(c.game) == game_ranks(c.game));
    buf_printf(&svg,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
               "height=\"%d\" role=\"img\" lang=\"%s\">\n",
               size, size, size, size, lang_tag(view->lang));
    title(&c);
    art_defs(&svg);
    buf_printf(&svg, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", size, size);
    squares(&c);
    edges(&c);
    last_arrow(&c);
    if (!view->without_coordinates)
        coordinates(&c);
    men(&c);
    checks(&c);
    turn_bar(&c);
    buf_puts(&svg, "</svg>\n");
    st = buf_status(&svg, "a picture of the board", err);
    if (st != ST_OK)
        goto out;
    buf_add(out, svg.data, svg.len);
    st = buf_status(out, "a picture of the board", err);
out:
    buf_release(&svg);
    return st;
}

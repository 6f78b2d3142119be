/* board/paint.c - see paint.h. */
#include "board/paint.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "board/art.h"

static const double PI = 3.14159265358979323846;

enum { SYMBOLS_MAX = 16, NUMBERS_MAX = 7 };

struct text {
    const char *at;
    size_t n;
};

enum paint_kind { PAINT_NONE, PAINT_COLOUR, PAINT_HATCH };

struct paint {
    enum paint_kind kind;
    double red, green, blue;
};

/* What is inherited. */
struct style {
    struct paint fill, stroke;
    double width, opacity; /* of the stroke */
    double dash[2];
    int n_dash;
    cairo_line_cap_t cap;
    cairo_line_join_t join;
};

struct element {
    struct text name, id, href, d, transform;
    double x, y, width, height, cx, cy, r;
    bool has_content;
};

struct run {
    cairo_t *cairo;
    double width; /* of the whole */
    int n_hidden; /* elements around that are not drawn where they stand */
    struct {
        struct text id;
        const char *content;
    } symbol[SYMBOLS_MAX];
    int n_symbols;
    const char *fault; /* NULL; where what is not understood begins */
};

static bool is(struct text text, const char *word)
{
    return strlen(word) == text.n && memcmp(text.at, word, text.n) == 0;
}

/* ---------------------------------------------------------------- numbers, colours */

/* A number after blanks and commas, without exponent; false, and *at as it was, if none is. */
static bool number(const char **at, double *ret)
{
    const char *p = *at + strspn(*at, " ,");
    bool is_minus = *p == '-';
    double value = 0, unit = 1;
    int n = 0;

    p += is_minus;
    for (; *p >= '0' && *p <= '9'; p++, n++)
        value = value * 10 + (*p - '0');
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++, n++) {
            value = value * 10 + (*p - '0');
            unit *= 10;
        }
    if (n == 0)
        return false;
    *ret = (is_minus ? -value : value) / unit;
    *at = p;
    return true;
}

static double number_of(struct text text)
{
    double value = 0;

    (void)number(&text.at, &value);
    return value;
}

static double channel(const char *two)
{
    int value = 0;

    for (int i = 0; i < 2; i++)
        value = value * 16 + (two[i] <= '9' ? two[i] - '0' : two[i] - 'a' + 10);
    return value / 255.0;
}

static struct paint paint_of(struct text text)
{
    if (text.n == 7 && *text.at == '#')
        return (struct paint){PAINT_COLOUR, channel(text.at + 1), channel(text.at + 3),
                              channel(text.at + 5)};
    return (struct paint){.kind = *text.at == 'u' ? PAINT_HATCH : PAINT_NONE};
}

/* ---------------------------------------------------------------- elements */

static void attribute(struct text name, struct text value, struct style *s, struct element *e)
{
    const struct {
        const char *name;
        double *number;
        struct text *text;
        struct paint *paint;
    } table[] = {
        {"d", .text = &e->d},
        {"x", .number = &e->x},
        {"y", .number = &e->y},
        {"r", .number = &e->r},
        {"cx", .number = &e->cx},
        {"cy", .number = &e->cy},
        {"id", .text = &e->id},
        {"fill", .paint = &s->fill},
        {"href", .text = &e->href},
        {"width", .number = &e->width},
        {"height", .number = &e->height},
        {"stroke", .paint = &s->stroke},
        {"transform", .text = &e->transform},
        {"stroke-width", .number = &s->width},
        {"stroke-opacity", .number = &s->opacity},
    };

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (!is(name, table[i].name))
            continue;
        if (table[i].number)
            *table[i].number = number_of(value);
        else if (table[i].text)
            *table[i].text = value;
        else
            *table[i].paint = paint_of(value);
        return;
    }
    if (is(name, "stroke-linecap")) {
        s->cap = is(value, "round") ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_SQUARE;
    } else if (is(name, "stroke-linejoin")) {
        s->join = CAIRO_LINE_JOIN_ROUND;
    } else if (is(name, "stroke-dasharray")) {
        for (s->n_dash = 0; s->n_dash < 2 && number(&value.at, &s->dash[s->n_dash]);)
            s->n_dash++;
    }
}

/* The tag at p with what it says; the place after it, or NULL. */
static const char *element_read(const char *p, struct style *s, struct element *e)
{
    *e = (struct element){.name = {p + 1, strcspn(p + 1, " />")}};
    p += 1 + e->name.n;
    for (;;) {
        struct text name, value;

        p += strspn(p, " \n");
        if (*p == '/' || *p == '>')
            break;
        name = (struct text){p, strcspn(p, "=>")};
        if (name.at[name.n] != '=' || name.at[name.n + 1] != '"')
            return NULL;
        p += name.n + 2;
        value = (struct text){p, strcspn(p, "\"")};
        if (p[value.n] == '\0')
            return NULL;
        p += value.n + 1;
        attribute(name, value, s, e);
    }
    e->has_content = *p == '>';
    return e->has_content ? p + 1 : p + 2;
}

static bool transform(cairo_t *cairo, struct text text)
{
    const char *p = text.at, *end = text.at + text.n;

    while (p < end) {
        struct text what = {p, strcspn(p, "(")};
        double n[3] = {0};
        int count = 0;

        p += what.n + 1;
        while (count < 3 && p < end && number(&p, &n[count]))
            count++;
        if (is(what, "translate")) {
            cairo_translate(cairo, n[0], n[1]);
        } else if (is(what, "scale")) {
            cairo_scale(cairo, n[0], n[0]);
        } else if (is(what, "rotate")) {
            cairo_translate(cairo, n[1], n[2]);
            cairo_rotate(cairo, n[0] * PI / 180);
            cairo_translate(cairo, -n[1], -n[2]);
        } else {
            return false;
        }
        p += strspn(p, ") ");
    }
    return true;
}

/* ---------------------------------------------------------------- paths */

struct point {
    double x, y;
};

/* A part of a circle in curves of a quarter turn at most: nearer to it, and cheaper, than
 * cairo_arc(), which is content with a tenth of a pixel. */
static void round_about(cairo_t *cairo, struct point at, double r, double start, double end)
{
    int n = (int)ceil(fabs(end - start) / (PI / 2 + 0.001));
    double step = (end - start) / n, k = r * 4 / 3 * tan(step / 4);

    for (int i = 0; i < n; i++) {
        double a = start + i * step, b = a + step;

        cairo_curve_to(cairo, at.x + r * cos(a) - k * sin(a), at.y + r * sin(a) + k * cos(a),
                       at.x + r * cos(b) + k * sin(b), at.y + r * sin(b) - k * cos(b),
                       at.x + r * cos(b), at.y + r * sin(b));
    }
}

/* A part of a circle, as SVG says it: by its ends. */
static void arc(cairo_t *cairo, struct point from, double r, bool is_large, bool is_sweep,
                struct point to)
{
    double hx = (from.x - to.x) / 2, hy = (from.y - to.y) / 2, half = hx * hx + hy * hy;
    double k = half > 0 && r * r > half ? sqrt((r * r - half) / half) : 0;
    double cx, cy, start, end;

    if (is_large == is_sweep)
        k = -k;
    cx = (from.x + to.x) / 2 + k * hy;
    cy = (from.y + to.y) / 2 - k * hx;
    start = atan2(from.y - cy, from.x - cx);
    end = atan2(to.y - cy, to.x - cx);
    if (is_sweep && end <= start)
        end += 2 * PI;
    else if (!is_sweep && end >= start)
        end -= 2 * PI;
    round_about(cairo, (struct point){cx, cy}, hypot(from.x - cx, from.y - cy), start, end);
}

/* How many numbers a command takes, -1: it is none. */
static int numbers_of(char command)
{
    switch (command | 0x20) {
    case 'm':
    case 'l':
        return 2;
    case 'h':
    case 'v':
        return 1;
    case 'c':
        return 6;
    case 's':
        return 4;
    case 'a':
        return 7;
    case 'z':
        return 0;
    default:
        return -1;
    }
}

/* Adds one command's part; `control` is the last curve's second control point. */
static struct point segment(cairo_t *cairo, char command, const double n[NUMBERS_MAX],
                            struct point at, struct point *control, bool is_curve)
{
    bool is_relative = command >= 'a';
    struct point base = is_relative ? at : (struct point){0, 0}, to, first;

    switch (command | 0x20) {
    case 'h':
        to = (struct point){base.x + n[0], at.y};
        break;
    case 'v':
        to = (struct point){at.x, base.y + n[0]};
        break;
    case 'c':
        first = (struct point){base.x + n[0], base.y + n[1]};
        n += 2;
        goto curve;
    case 's': /* goes on as the curve before it came in */
        first = is_curve ? (struct point){2 * at.x - control->x, 2 * at.y - control->y} : at;
    curve:
        to = (struct point){base.x + n[2], base.y + n[3]};
        *control = (struct point){base.x + n[0], base.y + n[1]};
        cairo_curve_to(cairo, first.x, first.y, control->x, control->y, to.x, to.y);
        return to;
    case 'a':
        to = (struct point){base.x + n[5], base.y + n[6]};
        arc(cairo, at, n[0], n[3] != 0, n[4] != 0, to);
        return to;
    default:
        to = (struct point){base.x + n[0], base.y + n[1]};
        break;
    }
    if ((command | 0x20) == 'm')
        cairo_move_to(cairo, to.x, to.y);
    else
        cairo_line_to(cairo, to.x, to.y);
    return to;
}

static bool path(cairo_t *cairo, struct text d)
{
    const char *p = d.at, *end = d.at + d.n;
    struct point at = {0, 0}, start = at, control = at;
    char command = '\0', before = '\0';

    while (p < end) {
        double n[NUMBERS_MAX];
        int want;

        p += strspn(p, " ");
        if (numbers_of(*p) >= 0)
            command = *p++;
        else if (command == 'M' || command == 'm') /* more points of it are lines */
            command = command == 'M' ? 'L' : 'l';
        want = numbers_of(command);
        if (want < 0)
            return false;
        for (int i = 0; i < want; i++)
            if (!number(&p, &n[i]))
                return false;
        if (want == 0) {
            cairo_close_path(cairo);
            at = start;
            before = command;
            command = '\0'; /* no numbers may follow */
            continue;
        }
        at = segment(cairo, command, n, at, &control,
                     (before | 0x20) == 'c' || (before | 0x20) == 's');
        if ((command | 0x20) == 'm')
            start = at;
        before = command;
    }
    return true;
}

/* ---------------------------------------------------------------- drawing */

static bool outline(cairo_t *cairo, const struct element *e)
{
    cairo_new_path(cairo);
    if (is(e->name, "path"))
        return path(cairo, e->d);
    if (is(e->name, "rect")) {
        cairo_rectangle(cairo, e->x, e->y, e->width, e->height);
        return true;
    }
    cairo_move_to(cairo, e->cx + e->r, e->cy);
    round_about(cairo, (struct point){e->cx, e->cy}, e->r, 0, 2 * PI);
    cairo_close_path(cairo);
    return true;
}

static void hatch(cairo_t *cairo)
{
    struct paint ground = paint_of((struct text){ART_HATCH_GROUND, 7});
    struct paint line = paint_of((struct text){ART_HATCH_LINE, 7});

    cairo_save(cairo);
    cairo_clip_preserve(cairo);
    cairo_set_source_rgb(cairo, ground.red, ground.green, ground.blue);
    cairo_fill(cairo);
    cairo_rotate(cairo, PI / 4);
    for (double x = -ART_CELL; x < 2 * ART_CELL; x += ART_HATCH_STEP)
        cairo_rectangle(cairo, x, -ART_CELL, ART_HATCH_WIDTH, 2 * ART_CELL);
    cairo_set_source_rgb(cairo, line.red, line.green, line.blue);
    cairo_fill(cairo);
    cairo_restore(cairo);
}

static bool shape(cairo_t *cairo, const struct style *s, const struct element *e)
{
    if (!outline(cairo, e))
        return false;
    if (s->fill.kind == PAINT_HATCH) {
        hatch(cairo);
        (void)outline(cairo, e);
    } else if (s->fill.kind == PAINT_COLOUR) {
        cairo_set_source_rgb(cairo, s->fill.red, s->fill.green, s->fill.blue);
        cairo_fill_preserve(cairo);
    }
    if (s->stroke.kind == PAINT_COLOUR) {
        cairo_set_source_rgba(cairo, s->stroke.red, s->stroke.green, s->stroke.blue, s->opacity);
        cairo_set_line_width(cairo, s->width);
        cairo_set_line_cap(cairo, s->cap);
        cairo_set_line_join(cairo, s->join);
        cairo_set_dash(cairo, s->dash, s->n_dash, 0);
        cairo_stroke_preserve(cairo);
    }
    return true;
}

static const char *content(struct run *run, const char *p, const struct style *around);

/* A symbol's place, NULL. */
static const char *symbol_find(const struct run *run, struct text href)
{
    for (int i = 0; i < run->n_symbols; i++)
        if (href.n == run->symbol[i].id.n + 1 &&
            memcmp(href.at + 1, run->symbol[i].id.at, href.n - 1) == 0)
            return run->symbol[i].content;
    return NULL;
}

/* One element with all that is in it, whose content begins at p: the place after it. */
static const char *element(struct run *run, const struct element *e, const struct style *s,
                           const char *p)
{
    const char *start = e->name.at;
    bool is_symbol = is(e->name, "symbol");
    cairo_matrix_t matrix;

    cairo_get_matrix(run->cairo, &matrix);
    if (!transform(run->cairo, e->transform))
        run->fault = start;
    if (is(e->name, "path") || is(e->name, "rect") || is(e->name, "circle")) {
        if (!run->n_hidden && !shape(run->cairo, s, e))
            run->fault = start;
    } else if (is(e->name, "use")) {
        const char *found = symbol_find(run, e->href);

        cairo_translate(run->cairo, e->x, e->y);
        if (!found || run->n_hidden) /* a symbol has no uses in it, so this ends */
            run->fault = start;
        else
            (void)content(run, found, s);
    } else if (is_symbol || is(e->name, "pattern")) {
        if (is_symbol && run->n_symbols < SYMBOLS_MAX) {
            run->symbol[run->n_symbols].id = e->id;
            run->symbol[run->n_symbols++].content = p;
        }
        run->n_hidden++;
        p = content(run, p, s);
        run->n_hidden--;
    } else if (is(e->name, "svg")) {
        cairo_scale(run->cairo, run->width / e->width, run->width / e->width);
        p = content(run, p, s);
    } else if (is(e->name, "g") || is(e->name, "defs") || is(e->name, "title") ||
               is(e->name, "desc")) {
        p = content(run, p, s);
    } else {
        run->fault = start;
    }
    cairo_set_matrix(run->cairo, &matrix);
    return p;
}

/* Elements from p up to the end tag of what is around them: the place after that. */
static const char *content(struct run *run, const char *p, const struct style *around)
{
    while (!run->fault) {
        struct style s = *around;
        struct element e;
        const char *tag = strchr(p, '<');

        if (!tag) { /* the document itself has no end tag around it */
            p += strlen(p);
            break;
        }
        if (tag[1] == '/') {
            p = tag + strcspn(tag, ">");
            break;
        }
        p = element_read(tag, &s, &e);
        if (!p) {
            run->fault = tag + 1;
            break;
        }
        p = element(run, &e, &s, p);
    }
    return p;
}

enum status paint_svg(cairo_t *cairo, const char *svg, double width, struct err *err)
{
    static const struct style first = {.fill = {.kind = PAINT_COLOUR}, .width = 1, .opacity = 1};
    struct run run = {.cairo = cairo, .width = width};

    cairo_set_miter_limit(cairo, 4); /* as SVG has it; its other defaults are zero */
    (void)content(&run, svg, &first);
    if (run.fault)
        return err_set(err, ST_INTERNAL, "picture: <%.40s", run.fault);
    return ST_OK;
}

/* mail/html_style.c - see html_style.h. */
#include "mail/html_style.h"

#include <string.h>

#include "base/str.h"

enum {
    VALUE_SIZE = 128,
    NAME_SIZE = 32,
    SELECTOR_SIZE = 240,
    WITHIN_MAX = 6, /* elements that a selector names */
    ALIKE = 24
};

/* Lower case, comments gone, blanks run together and cut at the ends; what does not fit is cut. */
static void tidy(const char *p, const char *end, char *out, size_t size)
{
    size_t n = 0;
    bool wants_blank = false;

    while (p < end) {
        if (end - p > 1 && p[0] == '/' && p[1] == '*') {
            for (p += 2; p < end && !(p[0] == '*' && p + 1 < end && p[1] == '/'); p++)
                ;
            p = end - p > 2 ? p + 2 : end;
            continue;
        }
        if ((unsigned char)*p <= ' ') {
            wants_blank = n > 0;
        } else if (n + 2 < size) {
            if (wants_blank)
                out[n++] = ' ';
            wants_blank = false;
            out[n++] = char_lower(*p);
        }
        p++;
    }
    out[n] = '\0';
}

/* ---------------------------------------------------------------- values */

/* A number at *p in thousandths, cut at a million; false: none stands there. */
static bool number_at(const char **p, long *ret)
{
    const char *at = *p;
    bool is_negative = *at == '-', has_digit = false;
    long value = 0, unit = 1000;

    at += *at == '-' || *at == '+';
    for (; char_is_digit(*at); at++, has_digit = true)
        if (value < 1000000000)
            value = value * 10 + 1000 * (*at - '0');
    if (*at == '.')
        for (at++; char_is_digit(*at); at++, has_digit = true) {
            unit /= 10;
            value += unit * (*at - '0');
        }
    if (!has_digit)
        return false;
    *ret = is_negative ? -value : value;
    *p = at;
    return true;
}

static bool is_nought(const char *value)
{
    long number;

    return number_at(&value, &number) && number == 0;
}

/* A length so small that nothing can be read; -1: it is not said, or by what is around it. */
static int tiny_size(const char *value)
{
    long number;

    if (!number_at(&value, &number))
        return strchr("smlx", *value) && *value ? 0 : -1; /* small, medium, large, x-… */
    if (number == 0)
        return 1;
    if (str_starts(value, "px") || str_starts(value, "pt") || *value == '\0' || *value == ' ')
        return number <= 1000;
    if (*value == '%')
        return number < 10000 ? 1 : -1;
    if (str_starts(value, "em") || str_starts(value, "ex"))
        return number < 100 ? 1 : -1;
    return 0;
}

/* The size in "font: bold 12px/1.5 Arial". */
static int tiny_font(const char *value)
{
    while (*value != '\0') {
        const char *at = value;
        long number;

        if (number_at(&at, &number) && (number == 0 || (*at != ' ' && *at != '\0')))
            return tiny_size(value);
        value += strcspn(value, " ");
        value += strspn(value, " ");
    }
    return -1;
}

/* Far to the left or above: nobody scrolls there. */
static bool is_far(const char *value)
{
    long number;

    return number_at(&value, &number) && number <= -900000;
}

static unsigned hex_colour(const char *p)
{
    size_t n = 0;
    unsigned value = 0;

    while (hex_value(p[n]) >= 0 && n < 9)
        n++;
    if (n != 3 && n != 4 && n != 6 && n != 8)
        return STYLE_UNKNOWN;
    for (size_t i = 0; i < (n < 6 ? 3u : 6u); i++) {
        unsigned digit = (unsigned)hex_value(p[i]);

        value = n < 6 ? value << 8 | digit * 17 : value << 4 | digit;
    }
    if ((n == 4 && p[3] == '0') || (n == 8 && p[6] == '0' && p[7] == '0'))
        return STYLE_CLEAR;
    return value;
}

/* "rgb(255, 255, 255)", "rgba(0 0 0 / 0)" */
static unsigned function_colour(const char *p)
{
    unsigned value = 0;

    p += strcspn(p, "(");
    for (int i = 0; i < 4; i++) {
        long number;

        p += strspn(p, "(, /");
        if (!number_at(&p, &number))
            return i == 3 ? value : STYLE_UNKNOWN;
        if (*p == '%') {
            number = number * 255 / 100;
            p++;
        }
        if (i == 3)
            return number <= 20 ? STYLE_CLEAR : value;
        number = number < 0 ? 0 : number > 255000 ? 255000 : number;
        value = value << 8 | (unsigned)(number / 1000);
    }
    return value;
}

/* "hsl(0, 0%, 100%)": as far as it is black or white. */
static unsigned hue_colour(const char *p)
{
    long number = 50000;

    p += strcspn(p, "(");
    for (int i = 0; i < 3; i++) {
        p += strspn(p, "(, ");
        if (!number_at(&p, &number))
            return STYLE_UNKNOWN;
        p += strcspn(p, ", /)");
    }
    p += strspn(p, ", /");
    if (number >= 96000)
        return 0xffffff;
    return is_nought(p) ? STYLE_CLEAR : number <= 3000 ? 0x000000 : STYLE_UNKNOWN;
}

/* A colour at the beginning of value; false: none is said there. */
static bool colour_at(const char *value, unsigned *ret)
{
    static const struct {
        const char *name;
        unsigned value;
    } names[] = {{"transparent", STYLE_CLEAR}, {"white", 0xffffff},  {"black", 0x000000},
                 {"snow", 0xfffafa},           {"ivory", 0xfffff0},  {"whitesmoke", 0xf5f5f5},
                 {"ghostwhite", 0xf8f8ff},     {"floralwhite", 0xfffaf0}, {"mintcream", 0xf5fffa},
                 {"azure", 0xf0ffff},          {"aliceblue", 0xf0f8ff}, {"window", 0xffffff},
                 {"windowtext", 0x000000},     {"canvas", 0xffffff}, {"canvastext", 0x000000},
                 {"red", 0xff0000},            {"blue", 0x0000ff},   {"green", 0x008000},
                 {"yellow", 0xffff00},         {"gray", 0x808080},   {"grey", 0x808080},
                 {"silver", 0xc0c0c0},         {"navy", 0x000080},   {"maroon", 0x800000},
                 {"purple", 0x800080},         {"lime", 0x00ff00},   {"aqua", 0x00ffff},
                 {"fuchsia", 0xff00ff},        {"teal", 0x008080},   {"olive", 0x808000},
                 {"orange", 0xffa500}};
    size_t n = strcspn(value, " ,;!");

    if (*value == '#') {
        *ret = hex_colour(value + 1);
        return true;
    }
    if (str_starts(value, "rgb")) {
        *ret = function_colour(value);
        return true;
    }
    if (str_starts(value, "hsl")) {
        *ret = hue_colour(value);
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strlen(names[i].name) == n && strncmp(value, names[i].name, n) == 0) {
            *ret = names[i].value;
            return true;
        }
    return false;
}

/* ---------------------------------------------------------------- declarations */

static void put(struct style_own *own, enum style_property property, bool value, bool is_important)
{
    unsigned bit = 1u << property;

    if ((own->important & bit) && !is_important)
        return;
    own->set |= bit;
    own->value = value ? own->value | bit : own->value & ~bit;
    if (is_important)
        own->important |= bit;
}

static void put_colour(struct style_own *own, enum style_property property, unsigned value,
                       bool is_important)
{
    if ((own->important & 1u << property) && !is_important)
        return;
    put(own, property, true, is_important);
    if (property == STYLE_COLOUR)
        own->colour = value;
    else
        own->ground = value;
}

static void read_ground(struct style_own *own, const char *value, bool is_important)
{
    unsigned colour;

    if (strstr(value, "url(") || strstr(value, "gradient(")) {
        put_colour(own, STYLE_GROUND, STYLE_UNKNOWN, is_important);
        return;
    }
    while (*value != '\0') {
        if (colour_at(value, &colour)) {
            put_colour(own, STYLE_GROUND, colour, is_important);
            return;
        }
        value += strcspn(value, " ");
        value += strspn(value, " ");
    }
}

/* "rect(0 0 0 0)", "rect(1px,1px,1px,1px)", "inset(50%)", "circle(0)". */
static bool is_cut_away(const char *value)
{
    const char *p = strchr(value, '(');
    long number;

    if (p == NULL || !(p++, number_at(&p, &number)))
        return false;
    if (str_starts(value, "inset"))
        return *p == '%' && number >= 50000;
    if (str_starts(value, "circle") || str_starts(value, "ellipse"))
        return number == 0;
    while (str_starts(value, "rect") && number <= 1000) {
        p += strcspn(p, " ,)");
        p += strspn(p, " ,");
        if (!number_at(&p, &number))
            return true;
    }
    return false;
}

/* Ways to make something vanish that have a property of their own. */
static void declare_clip(struct style_own *own, const char *name, const char *value,
                         bool is_important)
{
    bool vanishes;

    if (str_eq(name, "clip") || str_eq(name, "clip-path"))
        vanishes = is_cut_away(value);
    else if (str_eq(name, "transform"))
        vanishes = strstr(value, "scale(0)") != NULL;
    else if (str_eq(name, "filter"))
        vanishes = strstr(value, "opacity(0)") != NULL || strstr(value, "opacity(0%)") != NULL;
    else
        return;
    if (vanishes)
        put(own, STYLE_CLIPPED, true, is_important);
}

/* name and value: tidied. */
static void declare(struct style_own *own, const char *name, const char *value, bool is_important)
{
    static const char *const sizes[] = {"height", "width", "line-height"}; /* the first decides */
    static const char *const places[] = {"left", "top", "text-indent", "margin-left", "margin-top"};
    unsigned colour = 0;
    int tiny = -1;

    if (str_eq(name, "display"))
        put(own, STYLE_DISPLAY, str_starts(value, "none"), is_important);
    else if (str_eq(name, "visibility"))
        put(own, STYLE_VISIBILITY, str_starts(value, "hidden") || str_starts(value, "collapse"),
            is_important);
    else if (str_eq(name, "opacity"))
        put(own, STYLE_OPACITY, is_nought(value), is_important);
    else if (str_eq(name, "mso-hide"))
        put(own, STYLE_HIDE, str_starts(value, "all"), is_important);
    else if (str_eq(name, "font-size"))
        tiny = tiny_size(value);
    else if (str_eq(name, "font"))
        tiny = tiny_font(value);
    else if (str_eq(name, "max-height"))
        put(own, STYLE_FLAT, is_nought(value), is_important);
    else if (str_eq(name, "overflow"))
        put(own, STYLE_OVERFLOW, str_starts(value, "hidden") || str_starts(value, "clip"),
            is_important);
    else if (str_eq(name, "text-decoration") || str_eq(name, "text-decoration-line"))
        put(own, STYLE_STRUCK, strstr(value, "line-through") != NULL, is_important);
    else if (str_eq(name, "color") && colour_at(value, &colour))
        put_colour(own, STYLE_COLOUR, colour, is_important);
    else if (str_starts(name, "background"))
        read_ground(own, value, is_important);
    if (tiny >= 0)
        put(own, STYLE_FONT_SIZE, tiny == 1, is_important);
    for (size_t i = 0; i < COUNT_OF(sizes); i++)
        if (str_eq(name, sizes[i]) && (i == 0 || is_nought(value)))
            put(own, STYLE_LOW, is_nought(value), is_important);
    declare_clip(own, name, value, is_important);
    for (size_t i = 0; i < COUNT_OF(places); i++)
        if (str_eq(name, places[i]) && is_far(value))
            put(own, STYLE_FAR, true, is_important);
}

void style_own_init(struct style_own *own)
{
    *own = (struct style_own){.set = 0};
}

void style_own_tag(struct style_own *own, const char *tag)
{
    if (str_eq(tag, "s") || str_eq(tag, "strike") || str_eq(tag, "del"))
        put(own, STYLE_STRUCK, true, false);
}

void style_own_colour(struct style_own *own, const char *value, bool is_ground)
{
    char tidied[VALUE_SIZE];
    unsigned colour;

    tidy(value, value + strlen(value), tidied, sizeof tidied);
    if (!colour_at(tidied, &colour))
        colour = strlen(tidied) == 6 ? hex_colour(tidied) : STYLE_UNKNOWN; /* without its "#" */
    put_colour(own, is_ground ? STYLE_GROUND : STYLE_COLOUR, colour, false);
}

void style_own_read(struct style_own *own, const char *css, size_t n)
{
    const char *p = css, *end = css + n;

    while (p < end) {
        const char *stop = memchr(p, ';', (size_t)(end - p));
        const char *colon = memchr(p, ':', (size_t)((stop ? stop : end) - p));

        stop = stop ? stop : end;
        if (colon) {
            char name[NAME_SIZE], value[VALUE_SIZE];
            char *important;

            tidy(p, colon, name, sizeof name);
            tidy(colon + 1, stop, value, sizeof value);
            important = strchr(value, '!');
            if (important)
                *important = '\0';
            declare(own, name, value, important != NULL);
        }
        p = stop + 1;
    }
}

/* ---------------------------------------------------------------- rules */

/* What `more` says after `own`, as far as it outweighs it. */
static void merge(struct style_own *own, const struct style_own *more)
{
    for (int i = 0; i < STYLE_PROPERTIES; i++) {
        unsigned bit = 1u << i;

        if (!(more->set & bit))
            continue;
        if (i == STYLE_COLOUR || i == STYLE_GROUND)
            put_colour(own, (enum style_property)i,
                       i == STYLE_COLOUR ? more->colour : more->ground,
                       (more->important & bit) != 0);
        else
            put(own, (enum style_property)i, (more->value & bit) != 0,
                (more->important & bit) != 0);
    }
}

static size_t name_length(const char *p)
{
    size_t n = 0;

    while (char_is_digit(p[n]) || char_is_letter(p[n]) || p[n] == '-' || p[n] == '_' ||
           (unsigned char)p[n] >= 0x80)
        n++;
    return n;
}

/* A name of n bytes into ret[STYLE_NAME_SIZE]; false: there is none, or it does not fit. */
static bool name_read(const char *p, size_t n, char *ret)
{
    if (n == 0 || n >= STYLE_NAME_SIZE)
        return false;
    memcpy(ret, p, n);
    ret[n] = '\0';
    return true;
}

/* "p.note.old" at *p; moves on past it.  false: something else is there. */
static bool simple_read(const char **p, struct style_simple *ret, unsigned *weight)
{
    const char *at = *p;
    size_t n = name_length(at);

    *ret = (struct style_simple){.tag = ""};
    if (*at == '*') {
        at++;
    } else if (n > 0) {
        if (!name_read(at, n, ret->tag))
            return false;
        at += n;
        *weight += 1;
    }
    for (size_t i = 0; *at == '.' || *at == '#'; i++) {
        if (i == STYLE_NAMES_MAX)
            return false;
        ret->kinds[i] = *at;
        *weight += *at == '#' ? 10000 : 100;
        n = name_length(++at);
        if (!name_read(at, n, ret->names[i]))
            return false;
        at += n;
    }
    if (at == *p)
        return false;
    *p = at;
    return true;
}

/* The bit of what is around; 0: there is no room for it. */
static unsigned around_bit(struct style_sheet *sheet, const struct style_simple *simple)
{
    for (size_t i = 0; i < sheet->around_count; i++)
        if (memcmp(&sheet->around[i], simple, sizeof *simple) == 0)
            return 1u << i;
    if (sheet->around_count == STYLE_AROUND_MAX)
        return 0;
    sheet->around[sheet->around_count] = *simple;
    return 1u << sheet->around_count++;
}

/* One selector, tidied; false: it is none of those that are read. */
static bool selector_read(struct style_sheet *sheet, const char *text, struct style_rule *rule)
{
    struct style_simple path[WITHIN_MAX];
    size_t n = 0;

    rule->within = rule->weight = 0;
    for (;;) {
        if (n == WITHIN_MAX || !simple_read(&text, &path[n++], &rule->weight))
            return false;
        if (*text == '\0')
            break;
        if (*text != ' ' && *text != '>')
            return false;
        text += strspn(text, " >");
    }
    rule->element = path[--n];
    while (n-- > 0) {
        unsigned bit = around_bit(sheet, &path[n]);

        if (bit == 0)
            return false;
        rule->within |= bit;
    }
    return true;
}

/* Behind those that weigh as much. */
static void rule_insert(struct style_sheet *sheet, const struct style_rule *rule)
{
    size_t at = sheet->count;

    while (at > 0 && sheet->rules[at - 1].weight > rule->weight)
        at--;
    memmove(&sheet->rules[at + 1], &sheet->rules[at], (sheet->count - at) * sizeof *rule);
    sheet->rules[at] = *rule;
    sheet->count++;
}

/* "a, .b, p.c { … }" */
static void rule_read(struct style_sheet *sheet, const char *selectors, const char *open,
                      const char *close)
{
    struct style_rule rule = {.within = 0};

    style_own_init(&rule.own);
    style_own_read(&rule.own, open + 1, (size_t)(close - open - 1));
    while (rule.own.set != 0 && selectors < open && sheet->count < STYLE_RULES_MAX) {
        const char *comma = memchr(selectors, ',', (size_t)(open - selectors));
        char text[SELECTOR_SIZE];

        tidy(selectors, comma ? comma : open, text, sizeof text);
        /* One that was cut is left out. */
        if (strlen(text) + 3 < sizeof text && selector_read(sheet, text, &rule))
            rule_insert(sheet, &rule);
        selectors = comma ? comma + 1 : open;
    }
}

/* Past the block that begins at open, and the blocks in it. */
static const char *skip_block(const char *open, const char *end)
{
    size_t depth = 0;

    for (; open < end; open++) {
        depth += *open == '{';
        if (*open == '}' && --depth == 0)
            return open + 1;
    }
    return end;
}

/* Blanks, comments, "<!--" and "-->" before a rule. */
static const char *skip_between(const char *p, const char *end)
{
    for (;;) {
        while (p < end && ((unsigned char)*p <= ' ' || *p == ';' || *p == '}'))
            p++;
        if (end - p > 3 && memcmp(p, "<!--", 4) == 0) {
            p += 4;
        } else if (end - p > 2 && memcmp(p, "-->", 3) == 0) {
            p += 3;
        } else if (end - p > 1 && p[0] == '/' && p[1] == '*') {
            for (p += 2; p < end && !(p[0] == '*' && p + 1 < end && p[1] == '/'); p++)
                ;
            p = end - p > 2 ? p + 2 : end;
        } else {
            return p;
        }
    }
}

static bool is_for_screens(const char *p, const char *end)
{
    char text[NAME_SIZE];

    tidy(p, end, text, sizeof text);
    return str_eq(text, "@media screen") || str_eq(text, "@media all");
}

void style_sheet_read(struct style_sheet *sheet, const char *css, size_t n)
{
    const char *p = css, *end = css + n;

    while ((p = skip_between(p, end)) < end) {
        const char *open = memchr(p, '{', (size_t)(end - p));
        const char *semicolon = memchr(p, ';', (size_t)((open ? open : end) - p));
        const char *close;

        if (*p == '@' && semicolon) { /* "@import …;" */
            p = semicolon + 1;
        } else if (!open) {
            break;
        } else if (*p == '@') {
            p = is_for_screens(p, open) ? open + 1 : skip_block(open, end);
        } else {
            close = memchr(open, '}', (size_t)(end - open));
            close = close ? close : end;
            rule_read(sheet, p, open, close);
            p = close < end ? close + 1 : end;
        }
    }
}

/* Whether the name is one of the words. */
static bool has_word(const char *words, const char *name)
{
    size_t n = strlen(name);

    for (const char *p = words; (p = strstr(p, name)) != NULL; p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

static bool is_simple(const struct style_simple *simple, const char *tag, const char *classes,
                      const char *id)
{
    if (simple->tag[0] != '\0' && !str_eq(simple->tag, tag))
        return false;
    for (size_t i = 0; i < STYLE_NAMES_MAX && simple->names[i][0] != '\0'; i++)
        if (!has_word(simple->kinds[i] == '.' ? classes : id, simple->names[i]))
            return false;
    return true;
}

void style_sheet_match(const struct style_sheet *sheet, const char *tag, const char *classes,
                       const char *id, unsigned within, struct style_own *own)
{
    for (size_t i = 0; i < sheet->count; i++) {
        const struct style_rule *rule = &sheet->rules[i];

        if ((rule->within & ~within) == 0 && is_simple(&rule->element, tag, classes, id))
            merge(own, &rule->own);
    }
}

unsigned style_sheet_around(const struct style_sheet *sheet, const char *tag, const char *classes,
                            const char *id)
{
    unsigned bits = 0;

    for (size_t i = 0; i < sheet->around_count; i++)
        if (is_simple(&sheet->around[i], tag, classes, id))
            bits |= 1u << i;
    return bits;
}

/* ---------------------------------------------------------------- looks */

static bool is_said(const struct style_own *own, enum style_property property)
{
    return (own->set & own->value & 1u << property) != 0;
}

struct style_look style_look_within(struct style_look look, const struct style_own *own)
{
    look.is_gone = look.is_gone || is_said(own, STYLE_DISPLAY) || is_said(own, STYLE_OPACITY) ||
                   is_said(own, STYLE_HIDE) || is_said(own, STYLE_FLAT) ||
                   is_said(own, STYLE_FAR) || is_said(own, STYLE_CLIPPED) ||
                   (is_said(own, STYLE_LOW) && is_said(own, STYLE_OVERFLOW));
    if (own->set & 1u << STYLE_VISIBILITY)
        look.is_unseen = is_said(own, STYLE_VISIBILITY);
    if (own->set & 1u << STYLE_FONT_SIZE)
        look.is_tiny = is_said(own, STYLE_FONT_SIZE);
    look.is_struck = look.is_struck || is_said(own, STYLE_STRUCK);
    if (own->set & 1u << STYLE_COLOUR)
        look.colour = own->colour;
    if ((own->set & 1u << STYLE_GROUND) && own->ground != STYLE_CLEAR)
        look.ground = own->ground;
    return look;
}

/* In the colour of its ground. */
static bool is_camouflaged(const struct style_look *look)
{
    if (look->colour == STYLE_CLEAR)
        return true;
    if (look->colour == STYLE_UNKNOWN || look->ground == STYLE_UNKNOWN)
        return false;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        int a = (int)(look->colour >> shift & 0xff), b = (int)(look->ground >> shift & 0xff);

        if (a - b >= ALIKE || b - a >= ALIKE)
            return false;
    }
    return true;
}

bool style_is_hidden(const struct style_look *look)
{
    return look->is_gone || look->is_unseen || look->is_tiny || is_camouflaged(look);
}

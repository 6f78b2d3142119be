/* mail/html_text.c - see html_text.h. */
#include "mail/html_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "mail/decode.h"
#include "mail/html_style.h"

enum {
    CONTAINERS_MAX = 64,
    DEPTH_SHOWN = 8,
    NAME_MAX_TAG = 24,
    VALUE_MAX = 512 /* of an attribute; the rest is not looked at */
};

/* Tags whose nesting is counted: those that quote, or look otherwise than what is around them.
 * Others than these few are given a number when one is first met (page.names). */
enum tag {
    TAG_OTHER,
    TAG_DIV,
    TAG_BLOCKQUOTE,
    TAG_SPAN,
    TAG_P,
    TAG_TABLE,
    TAG_TD,
    TAG_SECTION,
    TAG_PRE,
    TAG_MORE,
    TAG_COUNT = TAG_MORE + 24
};

enum container_kind {
    CONTAINER_QUOTE,      /* all of it is quoted */
    CONTAINER_GMAIL,      /* quoted until a blockquote in it has ended: people answer below */
    CONTAINER_GMAIL_OVER, /* such a one after its blockquote */
    CONTAINER_LOOK,       /* looks otherwise: before is how it looks around it */
    CONTAINER_WITHIN,     /* what the style sheet asks for around others: before_within */
    CONTAINER_PRE
};

struct container {
    int tag;
    enum container_kind kind;
    unsigned level; /* how many of this tag were open, itself included */
    struct style_look before;
    unsigned before_within;
};

struct page {
    struct buf *out;
    struct container open[CONTAINERS_MAX];
    size_t open_count;
    unsigned levels[TAG_COUNT];
    char names[TAG_COUNT][NAME_MAX_TAG]; /* from TAG_MORE on, as far as given */
    struct style_sheet sheet;
    struct style_look look;
    unsigned within; /* style_sheet_around() of all that is open */
    bool is_silent; /* what looks so is not put out */
    bool leaves_out; /* … and is not quoted, nor hidden by its colour alone */
    unsigned quote_depth;
    unsigned pre;
    bool is_rest_quoted; /* after Outlook's mark, or when nesting got too deep */
    bool has_line;       /* something stands in the current line */
    bool wants_blank;    /* blanks were seen since */
    bool has_own_text;   /* something unquoted has been put out */
    bool is_tight;       /* the page's style gives paragraphs no margins */
    bool is_tight_here;  /* nor has this one */
    bool wants_gap;      /* the margin of a paragraph is above the next line */
    bool was_blank;      /* the line put out last is empty */
};

/* ---------------------------------------------------------------- lines */

static unsigned depth_of(const struct page *page)
{
    unsigned depth = page->quote_depth + (page->is_rest_quoted ? 1 : 0);

    return depth > DEPTH_SHOWN ? DEPTH_SHOWN : depth;
}

static void put_marks(struct page *page)
{
    for (unsigned i = 0; i < depth_of(page); i++)
        buf_puts(page->out, "> ");
}

static void line_begin(struct page *page)
{
    if (page->has_line)
        return;
    if (page->wants_gap && page->out->len > 0 && !page->was_blank) {
        put_marks(page);
        buf_putc(page->out, '\n');
    }
    put_marks(page);
    page->has_line = true;
    page->wants_blank = page->wants_gap = false;
}

static void line_end(struct page *page)
{
    page->was_blank = !page->has_line;
    if (!page->has_line) { /* an empty line carries its quote marks too, and is gap enough */
        page->wants_gap = false;
        line_begin(page);
    }
    buf_putc(page->out, '\n');
    page->has_line = page->wants_blank = false;
}

static void block_edge(struct page *page)
{
    if (page->has_line)
        line_end(page);
    page->wants_blank = false;
}

/* A sign that somebody could have meant is struck out or hidden. */
static void note_left_out(struct page *page)
{
    struct style_look look = page->look;

    look.colour = 0x000000;
    look.ground = 0xffffff;
    page->leaves_out = page->leaves_out || look.is_struck || style_is_hidden(&look);
}

static void put_char(struct page *page, unsigned c)
{
    bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';

    if (page->is_silent) {
        if (!is_blank && c > ' ' && c != 0xa0 && c != 0xad && c != 0xfeff &&
            !(c >= 0x2000 && c <= 0x200f) && c != 0x034f && depth_of(page) == 0)
            note_left_out(page);
        return;
    }
    if (page->pre > 0 && (c == '\n' || c == '\r')) {
        if (c == '\n')
            line_end(page);
        return;
    }
    if (is_blank && page->pre == 0) {
        page->wants_blank = page->has_line;
        return;
    }
    if (page->wants_blank && page->has_line)
        buf_putc(page->out, ' ');
    page->wants_blank = false;
    line_begin(page);
    decode_put(page->out, c < 0x20 ? ' ' : c);
    if (!is_blank && c != 0xa0 && depth_of(page) == 0)
        page->has_own_text = true;
}

/* ---------------------------------------------------------------- entities */

struct entity {
    const char *name;
    unsigned short c;
};

/* Sorted by name as bytes. */
static const struct entity entities[] = {
    {"AElig", 198},    {"Aacute", 193},   {"Acirc", 194},    {"Agrave", 192},   {"Aring", 197},
    {"Atilde", 195},   {"Auml", 196},     {"Ccedil", 199},   {"ETH", 208},      {"Eacute", 201},
    {"Ecirc", 202},    {"Egrave", 200},   {"Euml", 203},     {"Iacute", 205},   {"Icirc", 206},
    {"Igrave", 204},   {"Iuml", 207},     {"Ntilde", 209},   {"OElig", 338},    {"Oacute", 211},
    {"Ocirc", 212},    {"Ograve", 210},   {"Oslash", 216},   {"Otilde", 213},   {"Ouml", 214},
    {"Scaron", 352},   {"THORN", 222},    {"Uacute", 218},   {"Ucirc", 219},    {"Ugrave", 217},
    {"Uuml", 220},     {"Yacute", 221},   {"Zcaron", 381},   {"aacute", 225},   {"acirc", 226},
    {"aelig", 230},    {"agrave", 224},   {"amp", '&'},      {"apos", '\''},    {"aring", 229},
    {"atilde", 227},   {"auml", 228},     {"bdquo", 0x201e}, {"bull", 0x2022},  {"ccedil", 231},
    {"colon", ':'},    {"comma", ','},    {"commat", '@'},   {"copy", 169},     {"dash", 0x2010},
    {"deg", 176},      {"eacute", 233},   {"ecirc", 234},    {"egrave", 232},   {"emsp", 0x2003},
    {"ensp", 0x2002},  {"equals", '='},   {"eth", 240},      {"euml", 235},     {"euro", 0x20ac},
    {"excl", '!'},     {"gt", '>'},       {"hellip", 0x2026}, {"hyphen", 0x2010}, {"iacute", 237},
    {"icirc", 238},    {"iexcl", 161},    {"igrave", 236},   {"iquest", 191},   {"iuml", 239},
    {"laquo", 171},    {"larr", 0x2190},  {"ldquo", 0x201c}, {"lpar", '('},     {"lrm", 0x200e},
    {"lsaquo", 0x2039}, {"lsquo", 0x2018}, {"lt", '<'},      {"mdash", 0x2014}, {"middot", 183},
    {"minus", 0x2212}, {"nbsp", 160},     {"ndash", 0x2013}, {"newline", '\n'}, {"ntilde", 241},
    {"num", '#'},      {"oacute", 243},   {"ocirc", 244},    {"oelig", 339},    {"ograve", 242},
    {"ordf", 170},     {"ordm", 186},     {"oslash", 248},   {"otilde", 245},   {"ouml", 246},
    {"para", 182},     {"period", '.'},   {"plus", '+'},     {"quot", '"'},     {"raquo", 187},
    {"rarr", 0x2192},  {"rdquo", 0x201d}, {"reg", 174},      {"rlm", 0x200f},   {"rpar", ')'},
    {"rsaquo", 0x203a}, {"rsquo", 0x2019}, {"sbquo", 0x201a}, {"scaron", 353},  {"sect", 167},
    {"shy", 173},      {"sol", '/'},      {"szlig", 223},    {"thinsp", 0x2009}, {"thorn", 254},
    {"times", 215},    {"trade", 0x2122}, {"uacute", 250},   {"ucirc", 251},    {"ugrave", 249},
    {"uuml", 252},     {"yacute", 253},   {"yuml", 255},     {"zcaron", 382},   {"zwj", 0x200d},
    {"zwnj", 0x200c},
};

static int entity_compare(const void *key, const void *entry)
{
    return strcmp(key, ((const struct entity *)entry)->name);
}

/* "#8211", "#x2013"; 0: it is none. */
static unsigned number_of(const char *name, size_t n)
{
    unsigned base = n > 1 && (name[1] == 'x' || name[1] == 'X') ? 16 : 10;
    unsigned long c = 0;

    if (n < (base == 16 ? 3u : 2u))
        return 0;
    for (size_t i = base == 16 ? 2 : 1; i < n; i++) {
        unsigned digit = name[i] >= '0' && name[i] <= '9'   ? (unsigned)(name[i] - '0')
                         : name[i] >= 'a' && name[i] <= 'f' ? (unsigned)(name[i] - 'a' + 10)
                         : name[i] >= 'A' && name[i] <= 'F' ? (unsigned)(name[i] - 'A' + 10)
                                                            : 99;

        if (digit >= base)
            return 0;
        c = c * base + digit;
        if (c > 0x10ffff)
            return 0xfffd;
    }
    return c == 0 || (c >= 0xd800 && c < 0xe000) ? 0xfffd : (unsigned)c;
}

/* The character that "&…" at p means, and how long it is; 0 when it is only an ampersand. */
static unsigned entity_at(const char *p, const char *end, size_t *ret_len)
{
    char name[12];
    size_t n = 0;
    const struct entity *found;
    unsigned c;

    for (p++; p + n < end && n < sizeof name - 1; n++) {
        bool is_ok = (p[n] >= '0' && p[n] <= '9') || (p[n] >= 'a' && p[n] <= 'z') ||
                     (p[n] >= 'A' && p[n] <= 'Z') || (n == 0 && p[n] == '#');

        if (!is_ok)
            break;
        name[n] = p[n];
    }
    name[n] = '\0';
    *ret_len = 1 + n + (p + n < end && p[n] == ';');
    if (name[0] == '#')
        return number_of(name, n);
    found = bsearch(name, entities, COUNT_OF(entities), sizeof entities[0], entity_compare);
    if (found == NULL)
        return 0;
    c = found->c;
    return c;
}

static void put_text(struct page *page, const char *p, const char *end)
{
    while (p < end) {
        size_t len = 0;
        unsigned c = *p == '&' ? entity_at(p, end, &len) : 0;

        if (c != 0) {
            p += len;
        } else {
            c = decode_char(&p);
        }
        put_char(page, c);
    }
}

/* ---------------------------------------------------------------- tags */

struct element {
    char name[NAME_MAX_TAG];
    bool is_end;
    bool is_empty;          /* "<br/>" */
    bool is_coloured;       /* own has the word of an old attribute */
    char marks[VALUE_MAX];  /* values of id, class and name: lower case, blanks around each */
    char style[VALUE_MAX];  /* lower case, without blanks */
    char classes[VALUE_MAX], id[STYLE_NAME_SIZE]; /* lower case */
    const char *css;        /* the style as it stands, NULL: none */
    size_t css_n;
    struct style_own own;   /* what attributes but style say of its look */
};

static bool is_blank_char(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void add_mark(char *marks, const char *value, size_t n)
{
    size_t at = strlen(marks);

    for (size_t i = 0; i < n && at + 2 < VALUE_MAX; i++)
        marks[at++] = is_blank_char(value[i]) ? ' ' : char_lower(value[i]);
    marks[at++] = ' ';
    marks[at] = '\0';
}

static void set_style(char *style, const char *value, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < n && at + 1 < VALUE_MAX; i++)
        if (!is_blank_char(value[i]))
            style[at++] = char_lower(value[i]);
    style[at] = '\0';
}

static void set_lower(char *out, size_t size, const char *value, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < n && at + 1 < size; i++)
        out[at++] = is_blank_char(value[i]) ? ' ' : char_lower(value[i]);
    out[at] = '\0';
}

/* An attribute of old that says a colour. */
static void set_colour(struct element *e, const char *value, size_t n, bool is_ground)
{
    char text[STYLE_NAME_SIZE];

    set_lower(text, sizeof text, value, n);
    style_own_colour(&e->own, text, is_ground);
    e->is_coloured = true;
}

static bool name_is(const char *name, size_t n, const char *wanted)
{
    if (strlen(wanted) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (char_lower(name[i]) != wanted[i])
            return false;
    return true;
}

static void attribute_set(struct element *e, const char *name, size_t name_n, const char *value,
                          size_t value_n)
{
    bool is_class = name_is(name, name_n, "class"), is_id = name_is(name, name_n, "id");

    if (is_class || is_id || name_is(name, name_n, "name"))
        add_mark(e->marks, value, value_n);
    if (is_class) {
        set_lower(e->classes, sizeof e->classes, value, value_n);
    } else if (is_id) {
        set_lower(e->id, sizeof e->id, value, value_n);
    } else if (name_is(name, name_n, "style")) {
        set_style(e->style, value, value_n);
        e->css = value;
        e->css_n = value_n;
    } else if (name_is(name, name_n, "hidden")) {
        style_own_read(&e->own, "display:none", 12);
        e->is_coloured = true;
    } else if (name_is(name, name_n, "color") || name_is(name, name_n, "text")) {
        set_colour(e, value, value_n, /* is_ground= */ false);
    } else if (name_is(name, name_n, "bgcolor") || name_is(name, name_n, "background")) {
        set_colour(e, value, value_n, /* is_ground= */ true);
    }
}

/* One attribute at p; moves on past it. */
static const char *read_attribute(const char *p, const char *end, struct element *e)
{
    const char *name = p, *value = p;
    size_t name_n, value_n = 0;

    while (p < end && *p != '=' && *p != '>' && !is_blank_char(*p) && (*p != '/' || p == name))
        p++;
    name_n = (size_t)(p - name);
    while (p < end && is_blank_char(*p))
        p++;
    if (p < end && *p == '=') {
        for (p++; p < end && is_blank_char(*p); p++)
            ;
        if (p < end && (*p == '"' || *p == '\'')) {
            const char *quote = memchr(p + 1, *p, (size_t)(end - p - 1));

            value = p + 1;
            value_n = (size_t)((quote ? quote : end) - value);
            p = quote ? quote + 1 : end;
        } else {
            value = p;
            while (p < end && *p != '>' && !is_blank_char(*p))
                p++;
            value_n = (size_t)(p - value);
        }
    }
    attribute_set(e, name, name_n, value, value_n);
    return p;
}

/* The tag at "<"; the byte after its ">".  NULL: no tag stands here. */
static const char *read_tag(const char *p, const char *end, struct element *e)
{
    size_t n = 0;

    p++;
    e->is_end = p < end && *p == '/';
    p += e->is_end;
    e->is_empty = false;
    e->style[0] = e->name[0] = e->classes[0] = e->id[0] = '\0';
    e->is_coloured = false;
    e->css = NULL;
    style_own_init(&e->own);
    e->marks[0] = ' ';
    e->marks[1] = '\0';
    if (p >= end || !((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')))
        return NULL;
    for (; p < end && !is_blank_char(*p) && *p != '>' && *p != '/'; p++)
        if (n + 1 < sizeof e->name)
            e->name[n++] = char_lower(*p);
    e->name[n] = '\0';
    while (p < end && *p != '>') {
        if (is_blank_char(*p) || *p == '/') {
            e->is_empty = *p == '/';
            p++;
        } else {
            e->is_empty = false;
            p = read_attribute(p, end, e);
        }
    }
    return p < end ? p + 1 : end;
}

static bool is_in(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (name[0] == **list && strcmp(name, *list) == 0)
            return true;
    return false;
}

/* The number of a tag that is counted; wants_one: give it one if it has none.  TAG_OTHER: none. */
static int tag_of(struct page *page, const char *name, bool wants_one)
{
    static const char *const names[TAG_MORE] = {"",      "div", "blockquote", "span", "p",
                                                "table", "td",  "section",    "pre"};

    for (int i = 1; i < TAG_MORE; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    for (int i = TAG_MORE; i < TAG_COUNT; i++) {
        if (page->names[i][0] == '\0') {
            if (!wants_one)
                break;
            memcpy(page->names[i], name, NAME_MAX_TAG);
        }
        if (strcmp(name, page->names[i]) == 0)
            return i;
    }
    return TAG_OTHER;
}

/* Tags that never have an end. */
static bool is_void(const char *name)
{
    static const char *const list[] = {"br",    "img",  "hr",     "meta", "link",  "input", "col",
                                       "area",  "base", "source", "wbr",  "embed", "track", "param",
                                       "frame", NULL};

    return is_in(name, list);
}

static bool is_block(const char *name)
{
    static const char *const list[] = {
        "p",     "div",     "tr",      "li",     "ul",     "ol",      "table",      "h1",    "h2",
        "h3",    "h4",      "h5",      "h6",     "pre",    "address", "blockquote", "section",
        "article", "header", "footer", "center", "dl",     "dt",      "dd",         "form",  "body",
        "fieldset", "main", "nav",     "aside",  "figure", "caption", "tbody",      "thead", NULL};

    return is_in(name, list);
}

/* Blocks that a reader sees with an empty line above and below, unless told otherwise. */
static bool is_spaced(const char *name)
{
    static const char *const list[] = {"p",  "h1", "h2", "h3", "h4", "h5", "h6",
                                       "ul", "ol", "dl", NULL};

    return is_in(name, list);
}

/* A style or class that takes that space away: Word and Outlook have one line a paragraph. */
static bool is_tight(const struct element *e)
{
    static const char *const styles[] = {"margin:0", "margin-top:0", "margin-bottom:0",
                                         "margin-block:0", "margin-block-start:0", NULL};

    for (const char *const *style = styles; *style; style++)
        if (strstr(e->style, *style) != NULL)
            return true;
    return strstr(e->marks, "msonormal") != NULL || strstr(e->marks, "msoplaintext") != NULL ||
           strstr(e->marks, "msolist") != NULL;
}

/* The same said of all paragraphs at once: "p { margin: 0 }" in a page's style. */
static bool style_is_tight(const char *css, const char *end)
{
    static const char *const rules[] = {"p{margin:0", "p{margin-top:0", "p{margin-bottom:0",
                                        "p,", NULL};
    char bare[1024];
    size_t n = 0;

    for (; css < end && n + 1 < sizeof bare; css++)
        if (!is_blank_char(*css))
            bare[n++] = char_lower(*css);
    bare[n] = '\0';
    for (const char *const *rule = rules; *rule; rule++)
        for (const char *p = bare; (p = strstr(p, *rule)) != NULL; p++)
            if (p == bare || strchr("}>-,/", p[-1]) != NULL)
                return true;
    return false;
}

/* ---------------------------------------------------------------- what marks a quotation */

/* Whether one of the words in marks begins with prefix, Outlook's "x_" and "ecx" left aside. */
static bool has_mark(const struct element *e, const char *prefix)
{
    for (const char *p = e->marks; (p = strchr(p, ' ')) != NULL;) {
        p += strspn(p, " ");
        while (str_starts(p, "x_"))
            p += 2;
        if (str_starts(p, "ecx"))
            p += 3;
        if (*p != '\0' && str_starts(p, prefix))
            return true;
    }
    return false;
}

/* Marks after which everything is quoted. */
static bool begins_rest(const struct element *e)
{
    static const char *const list[] = {"divrplyfwdmsg", "appendonsend", "stopspelling", "zwchr",
                                       "mail-editor-reference-message-container",
                                       "ms-outlook-mobile-reference-message",
                                       "outlookmessageheader", "olk_src_body_section",
                                       "forwarded-message", "isforwardcontent", NULL};

    for (const char *const *mark = list; *mark; mark++)
        if (has_mark(e, *mark))
            return true;
    return false;
}

/* One-paragraph containers of the line that introduces a quote. */
static bool is_introduction(const struct element *e)
{
    return has_mark(e, "gmail_attr") || has_mark(e, "moz-cite-prefix") ||
           has_mark(e, "reply-intro") || has_mark(e, "moz-email-headers-table");
}

static bool is_quotation(const struct element *e)
{
    static const char *const list[] = {"zmail_extra", "messagereplysection", "edo-original",
                                       "edo-meta", NULL};
    const char *border = strstr(e->style, "border-left:");

    if (strcmp(e->name, "blockquote") == 0 || strstr(e->marks, "quote") != NULL ||
        is_introduction(e))
        return true;
    for (const char *const *mark = list; *mark; mark++)
        if (has_mark(e, *mark))
            return true;
    /* A bar at the left is how many programs draw one; "0", "none" and the like draw none. */
    if (strstr(e->style, "border-left-style:solid") != NULL)
        return true;
    return border != NULL && (strstr(border, "solid") != NULL || strstr(border, "px") != NULL) &&
           !str_starts(border, "border-left:0") && !str_starts(border, "border-left:none");
}

static bool is_signature(const struct element *e)
{
    /* Apple's is left to the words in it: people type into it. */
    return (strstr(e->marks, "signature") != NULL && strstr(e->marks, "applemail") == NULL) ||
           has_mark(e, "mb_sig") || has_mark(e, "zm-_id_-sgn");
}

/* ---------------------------------------------------------------- nesting */

static void look_set(struct page *page, const struct style_look *look)
{
    page->look = *look;
    page->is_silent = look->is_struck || style_is_hidden(look);
}

static void container_open(struct page *page, int tag, enum container_kind kind)
{
    if (page->open_count == CONTAINERS_MAX) {
        page->is_rest_quoted = true; /* nobody writes an answer in there */
        return;
    }
    page->open[page->open_count++] = (struct container){
        .tag = tag, .kind = kind, .level = page->levels[tag], .before = page->look,
        .before_within = page->within};
    if (kind == CONTAINER_QUOTE || kind == CONTAINER_GMAIL)
        page->quote_depth++;
    else if (kind == CONTAINER_PRE)
        page->pre++;
}

static void container_close(struct page *page, const struct container *c)
{
    if (c->kind == CONTAINER_QUOTE || c->kind == CONTAINER_GMAIL)
        page->quote_depth--;
    else if (c->kind == CONTAINER_LOOK)
        look_set(page, &c->before);
    else if (c->kind == CONTAINER_WITHIN)
        page->within = c->before_within;
    else if (c->kind == CONTAINER_PRE)
        page->pre--;
}

/* A tag ends: so do the containers that it, or what is still open in it, had begun. */
static void level_end(struct page *page, int tag)
{
    size_t keep = page->open_count;

    if (page->levels[tag] == 0)
        return;
    for (size_t i = 0; i < page->open_count; i++) {
        if (page->open[i].tag == tag && page->open[i].level == page->levels[tag]) {
            keep = i;
            break;
        }
    }
    page->levels[tag]--;
    while (page->open_count > keep)
        container_close(page, &page->open[--page->open_count]);
    if (tag == TAG_BLOCKQUOTE && keep > 0 && page->open[keep - 1].kind == CONTAINER_GMAIL) {
        page->open[keep - 1].kind = CONTAINER_GMAIL_OVER;
        page->quote_depth--;
    }
}

static bool is_pre_style(const struct element *e)
{
    return strstr(e->style, "white-space:pre") != NULL ||
           strstr(e->style, "white-space:break-spaces") != NULL;
}

/* Style attributes may hold entities: "font-family:&quot;Arial&quot;;display:none". */
static void own_read(struct style_own *own, const char *css, size_t n)
{
    char plain[2 * VALUE_MAX];
    size_t at = 0;

    if (memchr(css, '&', n) == NULL) {
        style_own_read(own, css, n);
        return;
    }
    for (const char *p = css, *end = css + n; p < end && at + 1 < sizeof plain;) {
        size_t len = 0;
        unsigned c = *p == '&' ? entity_at(p, end, &len) : 0;

        plain[at++] = c == 0 ? *p : c < 0x80 ? (char)c : '?';
        p += c == 0 ? 1 : len;
    }
    style_own_read(own, plain, at);
}

/* How the element looks where it stands; false: as what is around it. */
static bool look_of(const struct page *page, const struct element *e, struct style_look *ret)
{
    struct style_own own;
    struct style_look look;

    style_own_init(&own);
    style_own_tag(&own, e->name);
    if (e->is_coloured)
        own = e->own;
    style_sheet_match(&page->sheet, e->name, e->classes, e->id, page->within,
                      &own);
    if (e->css)
        own_read(&own, e->css, e->css_n);
    if (own.set == 0)
        return false;
    look = style_look_within(page->look, &own);
    *ret = look;
    return look.is_gone != page->look.is_gone || look.is_unseen != page->look.is_unseen ||
           look.is_tiny != page->look.is_tiny || look.is_struck != page->look.is_struck ||
           look.colour != page->look.colour || look.ground != page->look.ground;
}

static void element_begin(struct page *page, const struct element *e)
{
    struct style_look look;
    bool is_other_look = !is_void(e->name) && look_of(page, e, &look);
    unsigned around = page->sheet.around_count > 0 && !is_void(e->name)
                          ? style_sheet_around(&page->sheet, e->name, e->classes, e->id)
                          : 0;
    bool is_around = (around & ~page->within) != 0;
    int tag = tag_of(page, e->name, is_other_look || is_around);

    if (e->marks[1] == '\0' && e->style[0] == '\0' && tag != TAG_BLOCKQUOTE && tag != TAG_PRE &&
        !is_other_look && !is_around) {
        page->levels[tag]++; /* most of them */
        return;
    }
    if (begins_rest(e)) {
        block_edge(page);
        page->is_rest_quoted = true;
    }
    if (tag == TAG_OTHER) {
        if (is_other_look && (look.is_struck || style_is_hidden(&look)))
            page->is_rest_quoted = true; /* where it ends can't be told any more */
        return;
    }
    page->levels[tag]++;
    if (is_signature(e) && page->has_own_text && depth_of(page) == 0 && !page->is_silent) {
        block_edge(page);
        buf_puts(page->out, "-- \n");
    }
    if (is_other_look) {
        container_open(page, tag, CONTAINER_LOOK);
        look_set(page, &look);
    }
    if (is_around) {
        container_open(page, tag, CONTAINER_WITHIN);
        page->within |= around;
    }
    if (is_quotation(e)) {
        block_edge(page);
        container_open(page, tag,
                       has_mark(e, "gmail_quote") && tag != TAG_BLOCKQUOTE ? CONTAINER_GMAIL
                                                                          : CONTAINER_QUOTE);
    }
    if (tag == TAG_PRE || is_pre_style(e))
        container_open(page, tag, CONTAINER_PRE);
}

/* "<p>" ends a paragraph that is still open, and with it its look. */
static void paragraph_end(struct page *page, const struct element *e)
{
    const struct container *last =
        page->open_count > 0 ? &page->open[page->open_count - 1] : NULL;

    if (!e->is_end && strcmp(e->name, "p") == 0 && last &&
        (last->kind == CONTAINER_LOOK || last->kind == CONTAINER_WITHIN) &&
        last->tag == TAG_P && last->level == page->levels[TAG_P])
        level_end(page, TAG_P);
}

static void on_tag(struct page *page, const struct element *e)
{
    if (is_block(e->name)) {
        block_edge(page);
        paragraph_end(page, e);
    }
    if (is_spaced(e->name) && !page->is_silent) {
        if (!e->is_end)
            page->is_tight_here = page->is_tight || is_tight(e);
        page->wants_gap = page->wants_gap || !page->is_tight_here;
    }
    if (e->is_end) {
        int tag = tag_of(page, e->name, /* wants_one= */ false);

        if (tag == TAG_TABLE && !page->is_silent && page->out->len > 0)
            line_end(page); /* a banner is often one */
        if (tag != TAG_OTHER)
            level_end(page, tag);
        return;
    }
    if (strcmp(e->name, "br") == 0) {
        if (!page->is_silent)
            line_end(page);
    } else if (strcmp(e->name, "hr") == 0) {
        block_edge(page);
        if (!page->is_silent) {
            line_begin(page);
            buf_puts(page->out, "________________________________");
            line_end(page);
        }
    } else if (strcmp(e->name, "td") == 0 || strcmp(e->name, "th") == 0) {
        page->wants_blank = page->has_line;
    }
    element_begin(page, e);
}

/* Past the element whose content is no text: to just after its end tag. */
static const char *skip_element(const char *p, const char *end, const char *name)
{
    size_t n = strlen(name);

    for (; p < end; p++) {
        p = memchr(p, '<', (size_t)(end - p));
        if (p == NULL)
            return end;
        if ((size_t)(end - p) > n + 1 && p[1] == '/' && name_is(p + 2, n, name)) {
            const char *gt = memchr(p, '>', (size_t)(end - p));

            return gt ? gt + 1 : end;
        }
    }
    return end;
}

static const char *find(const char *p, const char *end, const char *what)
{
    size_t n = strlen(what);

    for (; (size_t)(end - p) >= n; p++) {
        p = memchr(p, what[0], (size_t)(end - p));
        if (p == NULL || (size_t)(end - p) < n)
            return NULL;
        if (memcmp(p, what, n) == 0)
            return p;
    }
    return NULL;
}

/* What begins with "<!" or "<?": comments, and conditional ones of Office, say nothing. */
static const char *skip_declaration(const char *p, const char *end)
{
    const char *stop;

    if ((size_t)(end - p) >= 4 && memcmp(p, "<!--", 4) == 0) {
        if ((size_t)(end - p) >= 5 && p[4] == '>') /* an empty one */
            return p + 5;
        stop = find(p + 4, end, "-->");
        return stop ? stop + 3 : end;
    }
    stop = memchr(p, '>', (size_t)(end - p));
    return stop ? stop + 1 : end;
}

static bool has_tags(const char *p, const char *end)
{
    for (; p < end && (p = memchr(p, '<', (size_t)(end - p))) != NULL; p++)
        if (p + 1 < end && ((p[1] >= 'a' && p[1] <= 'z') || (p[1] >= 'A' && p[1] <= 'Z') ||
                            p[1] == '/' || p[1] == '!'))
            return true;
    return false;
}

/* The rules of all <style> blocks: they hold for what stands above them, too. */
static void sheet_read(struct page *page, const char *p, const char *end)
{
    while (p < end && (p = memchr(p, '<', (size_t)(end - p))) != NULL) {
        if (p + 1 < end && (p[1] == '!' || p[1] == '?')) {
            p = skip_declaration(p, end);
        } else if ((size_t)(end - p) > 6 && name_is(p + 1, 5, "style") &&
                   (p[6] == '>' || is_blank_char(p[6]))) {
            const char *css = memchr(p, '>', (size_t)(end - p));

            if (!css)
                return;
            p = skip_element(css + 1, end, "style");
            style_sheet_read(&page->sheet, css + 1, (size_t)(p - css - 1));
        } else {
            p++;
        }
    }
}

void html_text(const char *html, size_t n, struct buf *out, bool *ret_leaves_out)
{
    /* Not "head": its end tag is sometimes forgotten, and the rest of it says nothing anyway. */
    static const char *const silent[] = {"script", "style",    "title",
                                         "object", "noscript", "textarea", "template",
                                         "xml",    NULL};
    struct page page = {.out = out, .look = STYLE_LOOK_INIT};
    const char *p = html, *end = html + n;

    sheet_read(&page, p, end);
    page.pre = !has_tags(html, end); /* plain text that says it is HTML */
    while (p < end && !buf_failed(out)) {
        const char *lt = memchr(p, '<', (size_t)(end - p));
        struct element e;
        const char *after;

        put_text(&page, p, lt ? lt : end);
        if (lt == NULL)
            break;
        if (lt + 1 < end && (lt[1] == '!' || lt[1] == '?')) {
            p = skip_declaration(lt, end);
            continue;
        }
        after = read_tag(lt, end, &e);
        if (after == NULL) {
            put_char(&page, '<');
            p = lt + 1;
        } else if (!e.is_end && !e.is_empty && is_in(e.name, silent)) {
            p = skip_element(after, end, e.name);
            if (strcmp(e.name, "style") == 0)
                page.is_tight = page.is_tight || style_is_tight(after, p);
        } else {
            on_tag(&page, &e);
            p = after;
        }
    }
    block_edge(&page);
    if (ret_leaves_out)
        *ret_leaves_out = page.leaves_out;
}

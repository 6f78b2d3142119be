/*
 * mail/html_style.h - whether a reader of an HTML letter sees a text, and sees it struck out.
 *
 * Purpose
 *   Just so much of CSS that what nobody sees, or sees crossed out, is not taken for written:
 *   display, visibility, opacity, mso-hide, font-size (and font), clipping to nothing, moving far
 *   off the page, text-decoration, and colour against background.  From style attributes, from the
 *   old attributes color, text and bgcolor, and from rules of a <style> block whose selector is of
 *   tags, classes and ids ("p.note.old"), also within others (".a .b", "div > p").  Those may stand
 *   in any order and at any distance around the element.  Other selectors, and what stands in
 *   @-rules but "@media all" and "@media screen", are left out: who is in doubt reads the text.
 *
 * Calling sequence
 *   style_sheet_read() for each <style> of the page; then for each element, from the outermost:
 *   style_own_init(), what is said of it in the order of its weight (style_own_tag(), the
 *   attributes, style_sheet_match(), style_own_read()), and style_look_within(); and for what is
 *   in it style_sheet_around().
 *
 * Limits: STYLE_RULES_MAX rules that say anything of the kind are kept, and STYLE_AROUND_MAX
 * different things that have something within; colours are told apart from 24 of 255 on.
 * Ownership: nothing is kept but copies.  Private to mail/.  Threads: any.
 */
#ifndef FH_MAIL_HTML_STYLE_H
#define FH_MAIL_HTML_STYLE_H

#include <stdbool.h>
#include <stddef.h>

enum { STYLE_RULES_MAX = 200, STYLE_AROUND_MAX = 32, STYLE_NAMES_MAX = 3, STYLE_NAME_SIZE = 40 };

/* What declarations set; the last word of the greatest weight holds. */
enum style_property {
    STYLE_DISPLAY,    /* 1: none */
    STYLE_VISIBILITY, /* 1: hidden */
    STYLE_OPACITY,    /* 1: 0 */
    STYLE_HIDE,       /* 1: mso-hide */
    STYLE_FONT_SIZE,  /* 1: nothing to see */
    STYLE_LOW,        /* 1: no height or width */
    STYLE_FLAT,       /* 1: max-height 0 */
    STYLE_OVERFLOW,   /* 1: hidden */
    STYLE_FAR,        /* 1: off the page */
    STYLE_CLIPPED,    /* 1: cut, or made small, to nothing */
    STYLE_STRUCK,     /* 1: line-through */
    STYLE_COLOUR,     /* in colour */
    STYLE_GROUND,     /* in ground */
    STYLE_PROPERTIES
};

/* One that cannot be told: a picture, a gradient, a name we do not know. */
#define STYLE_UNKNOWN 0x1000000u
#define STYLE_CLEAR 0x2000000u /* transparent */

/* What is said of one element. */
struct style_own {
    unsigned set, important; /* bits, one a property */
    unsigned value;          /* the same, for those that are yes or no */
    unsigned colour, ground; /* 0xrrggbb or one of the above */
};

/* "p.note.old": one element with all of this. */
struct style_simple {
    char tag[STYLE_NAME_SIZE];                   /* "": any */
    char names[STYLE_NAMES_MAX][STYLE_NAME_SIZE]; /* "": no more */
    char kinds[STYLE_NAMES_MAX];                 /* '.' or '#': what the name is */
};

struct style_rule {
    struct style_simple element;
    unsigned within; /* bits: which of the sheet's around must be around it */
    unsigned weight; /* of the selector: ids, then classes, then tags */
    struct style_own own;
};

struct style_sheet {
    size_t count, around_count;
    struct style_rule rules[STYLE_RULES_MAX]; /* by weight, then as they stand */
    struct style_simple around[STYLE_AROUND_MAX];
};

/* How a text looks. */
struct style_look {
    bool is_gone;   /* with all that is in it */
    bool is_unseen; /* by visibility: what is in it may be seen */
    bool is_tiny;   /* so it may */
    bool is_struck;
    unsigned colour, ground;
};
#define STYLE_LOOK_INIT ((struct style_look){.colour = 0x000000, .ground = 0xffffff})

/* The content of a <style>. */
void style_sheet_read(struct style_sheet *sheet, const char *css, size_t n);

void style_own_init(struct style_own *own);
/* What the tag itself says: <s>, <strike>, <del>. */
void style_own_tag(struct style_own *own, const char *tag);
/* An old attribute: color and text (of <font>, <body>), or bgcolor. */
void style_own_colour(struct style_own *own, const char *value, bool is_ground);
/* Rules for the tag with these classes and this id (lower case; classes parted by blanks); within:
 * what style_sheet_around() said of the elements that it stands in. */
void style_sheet_match(const struct style_sheet *sheet, const char *tag, const char *classes,
                       const char *id, unsigned within, struct style_own *own);
/* What of the sheet's around the element is; bits. */
unsigned style_sheet_around(const struct style_sheet *sheet, const char *tag, const char *classes,
                            const char *id);
/* A style attribute: "name: value; …" */
void style_own_read(struct style_own *own, const char *css, size_t n);

/* The look of an element in what looks so. */
struct style_look style_look_within(struct style_look look, const struct style_own *own);

/* Whether there is nothing to see. */
bool style_is_hidden(const struct style_look *look);

#endif

/*
 * mail/reply.h - which lines of a letter its writer wrote just now.
 *
 * Purpose
 *   Mail programs surround an answer with what it answers: attribution lines in every language,
 *   quotes with and without ">", blocks of From/Sent/To/Subject, signatures, banners above and
 *   disclaimers below.  reply_split() says of each line what it is.  It knows nothing of what the
 *   answer may mean.
 *
 * Calling sequence
 *   reply_split(letter->text, …) → walk reply.lines → reply_release().
 *   Commands are the REPLY_TOP lines.  Only when there is none that is not blank
 *   (reply.has_top is false), a caller may look among REPLY_BETWEEN, and should then want exactly
 *   one line that is a whole valid command, since a mail program may have torn it out of a quote.
 *
 * How it decides
 *   By structure first, in any language: an attribution is one to four lines that end with a colon
 *   (or dashes) and hold a date, a time, an address or a verb of writing; a header block is three
 *   or more "Word: value" lines one of which holds a date or an address, or two whose words are
 *   known; a delimiter is words between dashes.  Word lists only help where structure is thin.
 *   After an attribution, header block or delimiter whose quote carries no ">" nothing is read any
 *   more: better an unread answer than an old move played again.
 *
 * Text of a line
 *   Normalised for matching: NFKC; every dash and minus is "-"; every blank one space, none at the
 *   ends; zero-width and direction marks, soft hyphens and BOMs gone; typographic quotes are ' and
 *   ".  Full-width digits and letters thereby become plain.  Letters are never guessed: a Cyrillic
 *   or Greek letter that looks Latin stays, and `latin` tells what it would have been.
 *
 * Limits: a text of at most REPLY_TEXT_MAX bytes; longer: ST_TOO_LARGE.  Lines after the first
 * REPLY_LINES_MAX are left out.
 * Ownership: the struct is the caller's and owns all strings in it.  Threads: any.
 * Errors: ST_INVALID (not UTF-8), ST_TOO_LARGE, ST_NOMEM.
 */
#ifndef FH_MAIL_REPLY_H
#define FH_MAIL_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum {
    REPLY_TEXT_MAX = 256 * 1024,
    REPLY_LINES_MAX = 4000
};

enum reply_kind {
    REPLY_TOP,         /* the reply area: above every quote, signature and marker */
    REPLY_BETWEEN,     /* unquoted text below or between ">" quotes */
    REPLY_QUOTE,       /* quoted, with or without ">" */
    REPLY_SIGNATURE,   /* signature, "Sent from my …", a closing formula, disclaimer, list footer */
    REPLY_BANNER,      /* "[EXTERNAL] …" and its like above the text */
    REPLY_ATTRIBUTION, /* "On …, X wrote:", header block, delimiter, our own marker line */
    REPLY_KINDS
};
const char *reply_kind_str(enum reply_kind kind); /* "top", "between", … */

struct reply_line {
    const char *text;  /* normalised, see above; "" for a blank line */
    const char *raw;   /* as written (UTF-8, no controls), blanks at the end cut: for notes */
    const char *latin; /* NULL, or text with look-alike letters replaced: refuse, with this hint */
    enum reply_kind kind;
};

struct reply {
    struct reply_line *lines;
    size_t count;
    bool has_top;     /* some REPLY_TOP line is not blank */
    bool has_between; /* some REPLY_BETWEEN line is not blank */
    char *memory;     /* private */
};
#define REPLY_INIT ((struct reply){.count = 0})

struct reply_options {
    /* Beginnings of paragraphs to skip above the answer, any case, besides those known here
     * (mail_in.banners). */
    const char *const *banners;
    size_t banner_count;
    /* Beginnings of our own marker lines, any case ("--- Reply above this line"); NULL: none. */
    const char *const *markers;
    size_t marker_count;
    /* First words of lines that are never taken for a signature, closing or disclaimer, lower
     * case ("note"); NULL: none. */
    const char *const *own_words;
    size_t own_word_count;
};

void reply_release(struct reply *reply); /* NULL and released ones are allowed */

/* text: UTF-8, lines ended by LF.  options may be NULL. */
MUST_CHECK enum status reply_split(const char *text, const struct reply_options *options,
                                   struct reply *ret_reply, struct err *err);

/* The normalisation of one line by itself, for callers that match words from elsewhere (a
 * subject).  The caller frees; NULL when out of memory.  Bytes that are not UTF-8 become '?'. */
char *reply_normalise(const char *line, size_t n);

#endif

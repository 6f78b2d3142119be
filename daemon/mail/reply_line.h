/*
 * mail/reply_line.h - what one line, or a few joined ones, look like.
 *
 * Purpose: the questions that mail/reply.c asks of lines: is there a date in it, a time, an
 * address; is it quoted; does it part or end something.  And the normalisation of a line.
 *
 * Ownership: lines are borrowed; line_normalise() appends.  Private to mail/.  Threads: any.
 */
#ifndef FH_MAIL_REPLY_LINE_H
#define FH_MAIL_REPLY_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Append the n bytes of valid UTF-8 as mail/reply.h says lines are normalised. */
void line_normalise(const char *line, size_t n, struct buf *out);

/* Append text (normalised) with its look-alike letters made Latin and return true; false, with
 * nothing appended, when it has none in words that are Latin or numbers otherwise. */
bool line_latin(const char *text, struct buf *out);

/* Append text in lower case, digits of other scripts made ASCII. */
void line_lower(const char *text, struct buf *out);

/* The rest take a line that is normalised and in lower case. */

enum {
    SIGN_DATE = 1,
    SIGN_TIME = 2,
    SIGN_ADDRESS = 4,
    SIGN_VERB = 8,   /* of writing */
    SIGN_OPENER = 16 /* begins as attributions do */
};
unsigned line_signs(const char *low);

bool line_is_quoted(const char *low);    /* "> …", "| …", "AB> …" */
bool line_is_rule(const char *low);      /* nothing but dashes, underscores, stars… */
bool line_is_delimiter(const char *low); /* words between dashes, "original message" */
bool line_is_dashed(const char *low);    /* words between two dashes or more, whichever words */
bool line_is_introduction(const char *low); /* "on …, x wrote:", whole */
bool line_is_mobile(const char *low);    /* "sent from my iphone" */
bool line_is_closing(const char *low);   /* "best regards," */
bool line_is_device(const char *low);    /* short, and names a telephone or a mail program */
bool line_is_legal(const char *low);     /* of a disclaimer or a virus scanner */
bool line_is_bracketed(const char *low); /* "[external]", "[cid:image001.png]" */
bool line_is_picture(const char *low);   /* "[image: logo.png]", "<image001.png>": and no more */
bool line_is_label(const char *low);     /* "TLP:CLEAR", "Classification: public", "INTERNAL" */
bool line_is_warning(const char *low);   /* begins as banners do: "caution", "*** external" */
/* By itself nothing but what a mail system adds: "virus-free. www.avast.com", "this email came from
 * outside".  Two of its traits at least, so that no sentence of a writer's is taken for one. */
bool line_is_notice(const char *low);
/* Names mail, a sender or links: as banners do that begin as prose may, too. */
bool line_is_about_mail(const char *low);
bool line_has_stem(const char *low, const char *const *list); /* one of them, anywhere */

/* The label of a "Label: value" line in label[size]; its value, or NULL when it is none. */
const char *line_label(const char *low, char *label, size_t size);

/* Characters of it. */
size_t line_length(const char *text);

#endif

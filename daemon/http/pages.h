/*
 * http/pages.h - the few pages that the server makes itself: those that links in letters lead to.
 *
 * They hold no script, and a form that posts back to their own address: opening a link changes
 * nothing, whoever opens it (letters are opened by scanners too).
 *
 * Threads: as the request.
 */
#ifndef FH_HTTP_PAGES_H
#define FH_HTTP_PAGES_H

#include "http/server.h"
#include "words/words.h"

/* The language of a page for somebody we do not know: Accept-Language, else the server's own. */
enum lang page_language(const struct request *r);

/* Make a page the answer.  text is what it says; button NULL: no form. */
MUST_CHECK enum status page_answer(struct request *r, int status, enum lang lang,
                                   const char *title_code, const char *text, const char *button,
                                   struct err *err);

/* A failure as a page. */
void page_failure(struct request *r, const struct err *err);

#endif

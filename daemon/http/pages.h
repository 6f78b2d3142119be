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

/* The language that an Accept-Language asks for (RFC 9110, 12.5.4; NULL: there is none): the one of
 * ours with the greatest weight, of several the one that stands first, of those that only * names
 * the fallback.  A range is ours by its first subtag.  Weight 0 is a no.  Members that are not
 * well-formed are passed over; where nothing of ours is wanted it is the fallback. */
enum lang language_wanted(const char *accept, enum lang fallback);

/* The language of all that is said to who asks, unless his account has one: what he accepts, else
 * the server's own. */
enum lang page_language(const struct request *r);

/* A failure as a page. */
void page_failure(struct request *r, const struct err *err);

#endif

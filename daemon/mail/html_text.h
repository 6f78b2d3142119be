/*
 * mail/html_text.h - the text of an HTML letter, with what it quotes marked.
 *
 * Purpose
 *   Lines as a reader sees them: blocks, <br> and table rows end a line; <p>, headings and lists
 *   have an empty line around them unless a style takes it away; blanks run together, but not in
 *   <pre>, nor in HTML without a tag; entities are decoded; scripts and styles say nothing, nor
 *   does what is hidden or struck out (mail/html_style.h tells how that is read).  What stands in a
 *   quotation gets "> " before each line, once a level: <blockquote>, the containers that mail
 *   programs put around what they quote, and all that follows the marks that Outlook and others
 *   leave ahead of it.  <hr> becomes a line of underscores.  A signature container that follows
 *   some text gets a line "-- " first.
 *
 * Limits: any input, in one pass; what does not nest is read as if it did.  Output stops at the
 * buffer's limit.  Ownership: appends to the caller's buffer.  Private to mail/.  Threads: any.
 */
#ifndef FH_MAIL_HTML_TEXT_H
#define FH_MAIL_HTML_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* html: UTF-8.  *ret_leaves_out (NULL allowed): some text that is not quoted is struck out, or
 * hidden otherwise than by its colour. */
void html_text(const char *html, size_t n, struct buf *out, bool *ret_leaves_out);

#endif

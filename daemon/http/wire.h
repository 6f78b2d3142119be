/*
 * http/wire.h - the bytes of a request against what libmicrohttpd makes of them.
 *
 * Purpose
 *   libmicrohttpd 0.9.75 cuts header values at a NUL, joins folded lines, takes a bare LF for a
 *   line's end, and answers some faults by itself, in HTML, and for a bad Content-Length with two
 *   heads.  This file holds what it read against the bytes, and answers before it does where that
 *   can be done.
 *
 * How the answering works
 *   The library says in its log that it is about to refuse, on the pool thread that has the
 *   connection, when nothing of its own is sent yet.  Whose request it is it does not say; but it
 *   is one that this thread is reading (link->reading), or, of a request line, waits for.  When
 *   that leaves one connection alone, a problem document goes straight into its socket, which is
 *   then shut for sending, so that the library's own bytes go nowhere.  When it leaves several, the
 *   library's answer stands.
 *
 *   refused in                          our answer
 *   the head is read: Content-Length    always: one request alone is past its head and not begun
 *   head too large, chunks              when the thread reads one request only
 *   request line too long, version      when the thread waits for one request line only
 *   no colon, also behind the chunks;   when the thread reads one request only and waits for no
 *   no version                          request line, or waits for one and reads none
 *
 * Threads: a pool thread, but for wire_print_problem().
 */
#ifndef FH_HTTP_WIRE_H
#define FH_HTTP_WIRE_H

#include <stdarg.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/utc.h"
#include "words/words.h"

struct http;
struct request;

/* Whether the head of r, all of which has been read, is nothing but the request line and the header
 * lines that the library tells of, each ended by CRLF: no NUL, no folded line, no bare LF.  method
 * and version are what the library gives its handler; they point into the bytes. */
bool wire_head_is_whole(struct request *r, const char *method, const char *version);

/* A line of the library's log, before it is logged: when it is about to refuse a request, refuse it
 * first. */
void wire_library_says(struct http *http, const char *fmt, va_list args);

/* A whole answer, head and problem document, as bytes; for a connection that is closed after it.
 * status is the reason's own, or one that says it more exactly.  target is what was asked for,
 * where that is known and may be told; NULL.  Any thread. */
void wire_print_problem(struct buf *out, const struct err *why, int status, enum lang lang,
                        const char *target, utc_ms now);

#endif

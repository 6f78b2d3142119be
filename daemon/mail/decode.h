/*
 * mail/decode.h - from the bytes of a text part to UTF-8, whatever they claim to be.
 *
 * Purpose
 *   Transfer encodings and charsets as letters really have them.  base64 ends where its lines end,
 *   so a footer that something appended does no harm; quoted-printable takes what is broken as it
 *   stands; of charsets, UTF-8 is believed before the label – unless that names one of several
 *   bytes a character and all of them fit – and windows-1252 when nothing fits.
 *
 * Ownership: results are appended to the caller's buffer.  Private to mail/.  Threads: any, after
 * mail_library_init().  Errors: memory and the buffer's limit, which the buffer remembers.
 */
#ifndef FH_MAIL_DECODE_H
#define FH_MAIL_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

void decode_base64(const char *text, size_t n, struct buf *out);
void decode_quoted(const char *text, size_t n, struct buf *out);

/* Whether text is quoted-printable that nobody declared: some line ends with "=", and every "="
 * either does that or has two upper-case hexadecimal digits behind it. */
bool decode_looks_quoted(const char *text, size_t n);

/* charset may be NULL.  What comes out is valid UTF-8 without NUL; CR LF and lone CR become LF. */
void decode_charset(const char *text, size_t n, const char *charset, struct buf *out);

/* One header value: encoded words decoded, valid UTF-8, controls and line ends turned to blanks,
 * blanks at the ends cut, at most max bytes.  *ret_had_controls (NULL allowed) tells whether an
 * encoded word had brought in a control character.  The caller frees; NULL when out of memory. */
char *decode_header(const char *value, size_t max, bool *ret_had_controls);

/* The next character of valid UTF-8; moves *text on.  Its bytes: what it was moved by. */
unsigned decode_char(const char **text);
/* Valid UTF-8 in lower case.  The caller frees; NULL when out of memory. */
char *decode_lower(const char *text);
/* Append the character c. */
void decode_put(struct buf *out, unsigned c);

#endif

/*
 * mail/flowed.h - format=flowed text made whole again (RFC 3676).
 *
 * A line that ends with a blank goes on in the next one of the same quote depth; with is_delsp the
 * blank itself is not part of the text.  Stuffed blanks come off, quotes come out as "> " once a
 * level, the signature separator "-- " is always a line of its own.
 *
 * Ownership: appends to the caller's buffer.  Private to mail/.  Threads: any.  Errors: the
 * buffer's own.
 */
#ifndef FH_MAIL_FLOWED_H
#define FH_MAIL_FLOWED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* text: UTF-8, LF line ends. */
void flowed_unwrap(const char *text, size_t n, bool is_delsp, struct buf *out);

#endif

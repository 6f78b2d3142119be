/*
 * base/buf.h - a growing byte buffer with a named limit.
 *
 * Use: struct buf b = buf_make(LIMIT); buf_printf(&b, …); … if (buf_failed(&b)) …; buf_release(&b).
 * Appending never reports at once: a buffer that ran over its limit or out of memory stays as it
 * was, remembers the failure, and ignores what follows; ask buf_status() once at the end.
 *
 * Ownership: the holder of the struct owns the bytes; buf_take() passes them on.
 * The bytes are always followed by a NUL that len does not count (data is "" while empty).
 * Threads: one at a time.
 */
#ifndef FH_BASE_BUF_H
#define FH_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct buf {
    char *data; /* NUL-ended; never NULL after buf_make() */
    size_t len;
    size_t cap;
    size_t limit; /* most bytes len may reach */
    enum status st;
};

struct buf buf_make(size_t limit);
void buf_release(struct buf *b); /* NULL and released ones are allowed */
void buf_clear(struct buf *b);   /* empty it, forget a failure, keep the memory */

void buf_add(struct buf *b, const void *bytes, size_t n);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

/* text with the characters that mean something in HTML and XML escaped: good between tags and
 * inside double quotes. */
void buf_puts_markup(struct buf *b, const char *text);

/* ST_OK, ST_TOO_LARGE or ST_NOMEM with a sentence naming what the buffer was for. */
MUST_CHECK enum status buf_status(const struct buf *b, const char *what, struct err *err);
bool buf_failed(const struct buf *b);

/* Hand the bytes to the caller, who frees them with free(); the buffer is empty afterwards.
 * NULL when out of memory or failed before. */
char *buf_take(struct buf *b, size_t *ret_len /* NULL allowed */);

#endif

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char EMPTY[1]; /* shared, never written: len and cap are 0 while data points here */

struct buf buf_make(size_t limit)
{
    return (struct buf){.data = EMPTY, .limit = limit, .st = ST_OK};
}

void buf_release(struct buf *b)
{
    if (!b)
        return;
    if (b->cap)
        free(b->data);
    *b = (struct buf){.data = EMPTY, .limit = b->limit, .st = ST_OK};
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->st = ST_OK;
    if (b->cap)
        b->data[0] = '\0';
}

/* Room for n more bytes and the NUL; false, with the failure noted, when there is none. */
static bool buf_reserve(struct buf *b, size_t n)
{
    if (b->st != ST_OK)
        return false;
    if (n > b->limit - b->len) {
        b->st = ST_TOO_LARGE;
        return false;
    }
    if (b->len + n + 1 > b->cap) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap < b->len + n + 1)
            cap *= 2;
        char *data = realloc(b->cap ? b->data : NULL, cap);
        if (!data) {
            b->st = ST_NOMEM;
            return false;
        }
        b->data = data;
        b->cap = cap;
    }
    return true;
}

void buf_add(struct buf *b, const void *bytes, size_t n)
{
    if (!n || !buf_reserve(b, n))
        return;
    memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list args)
{
    va_list again;
    int n;

    va_copy(again, args);
    n = vsnprintf(NULL, 0, fmt, args);
    if (n < 0)
        b->st = ST_INTERNAL;
    else if (buf_reserve(b, (size_t)n)) {
        (void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    buf_vprintf(b, fmt, args);
    va_end(args);
}

void buf_puts_markup(struct buf *b, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            buf_puts(b, "&amp;");
            break;
        case '<':
            buf_puts(b, "&lt;");
            break;
        case '>':
            buf_puts(b, "&gt;");
            break;
        case '"':
            buf_puts(b, "&quot;");
            break;
        default:
            buf_putc(b, *text);
        }
    }
}

bool buf_failed(const struct buf *b)
{
    return b->st != ST_OK;
}

enum status buf_status(const struct buf *b, const char *what, struct err *err)
{
    if (b->st == ST_TOO_LARGE)
        return err_reason(err, REASON_TOO_LARGE, "%s is over %zu bytes", what, b->limit);
    if (b->st != ST_OK)
        return err_set(err, b->st, "%s: %s", what, status_str(b->st));
    return ST_OK;
}

char *buf_take(struct buf *b, size_t *ret_len)
{
    char *data;

    if (b->st != ST_OK)
        return NULL;
    if (!b->cap && !buf_reserve(b, 0))
        return NULL;
    data = b->data;
    data[b->len] = '\0';
    if (ret_len)
        *ret_len = b->len;
    *b = (struct buf){.data = EMPTY, .limit = b->limit, .st = ST_OK};
    return data;
}

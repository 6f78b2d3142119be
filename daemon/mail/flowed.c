/* mail/flowed.c - see flowed.h. */
#include "mail/flowed.h"

#include <string.h>

enum { DEPTH_SHOWN = 20 };

void flowed_unwrap(const char *text, size_t n, bool is_delsp, struct buf *out)
{
    size_t open_depth = 0; /* of the paragraph that goes on */
    bool is_open = false;

    for (size_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        const char *line = text + at;
        size_t len = end ? (size_t)(end - line) : n - at;
        size_t depth = 0;
        bool is_signature, is_flowed;

        at += len + (end ? 1 : 0);
        while (depth < len && line[depth] == '>')
            depth++;
        line += depth;
        len -= depth;
        if (len > 0 && *line == ' ')
            line++, len--;
        is_signature = len == 3 && memcmp(line, "-- ", 3) == 0;
        is_flowed = len > 0 && line[len - 1] == ' ' && !is_signature;
        /* An empty line ends a paragraph and stands for itself: RFC 3676 would let a blank that was
         * typed at the end of a line swallow it. */
        if (is_open && (depth != open_depth || is_signature || len == 0)) {
            buf_putc(out, '\n');
            is_open = false;
        }
        for (size_t i = 0; !is_open && i < depth && i < DEPTH_SHOWN; i++)
            buf_puts(out, "> ");
        buf_add(out, line, is_flowed && is_delsp ? len - 1 : len);
        if (!is_flowed)
            buf_putc(out, '\n');
        is_open = is_flowed;
        open_depth = depth;
    }
    if (is_open)
        buf_putc(out, '\n');
}

/*
 * An LMTP dialogue, its bytes cut into pieces as the first byte says.  What is promised: every
 * reply is a whole line, a letter is within its limits, each recipient gets one reply, and it makes
 * no difference how the bytes were cut.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "mail/lmtp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { LETTER_MAX = 300 };

static bool is_ours(void *arg, const char *recipient)
{
    (void)arg;
    must(recipient[0] && strlen(recipient) <= LMTP_ADDRESS_MAX);
    return recipient[0] == 'p';
}

static size_t lines_count(const struct buf *out)
{
    size_t n = 0;

    for (size_t i = 0; i < out->len; i++)
        n += out->data[i] == '\n';
    return n;
}

/* The whole dialogue in pieces of at most `piece` bytes; *log gets the replies and the letters. */
static void talk(const uint8_t *data, size_t size, size_t piece, struct buf *log)
{
    const struct lmtp_options options = {
        .name = "mx", .size_max = LETTER_MAX, .is_ours = is_ours};
    struct buf out = buf_make(4 * 1024 * 1024);
    struct lmtp *l = NULL;
    enum lmtp_step step = LMTP_MORE;

    must(lmtp_new(&options, &out, &l, NULL) == ST_OK);
    while (size > 0 && step != LMTP_END) {
        size_t n = piece < size ? piece : size, used = 0;
        step = lmtp_feed(l, data, n, &used, &out);
        must(used <= n && (used == n || step != LMTP_MORE));
        data += used;
        size -= used;
        if (step == LMTP_LETTER) {
            const struct lmtp_letter *letter = lmtp_letter(l);
            size_t before = lines_count(&out), n_recipients;
            must(letter && letter->size <= LETTER_MAX && !lmtp_is_idle(l));
            n_recipients = letter->n_recipients;
            must(n_recipients > 0 && n_recipients <= LMTP_RECIPIENTS_MAX);
            buf_printf(log, "[%s %zu ", letter->sender, letter->size);
            buf_add(log, letter->bytes, letter->size);
            buf_puts(log, "]");
            for (size_t i = n_recipients; i-- > 0;)
                must(lmtp_answer(l, i, (enum lmtp_verdict)(i & 3), &out) == (i == 0));
            must(lines_count(&out) == before + n_recipients);
            must(!lmtp_letter(l));
        }
    }
    must(!buf_failed(&out));
    must(out.len >= 2 && memcmp(out.data + out.len - 2, "\r\n", 2) == 0);
    if (step != LMTP_END)
        lmtp_shut(l, LMTP_SILENT, &out);
    must(lmtp_is_idle(l));
    buf_add(log, out.data, out.len);
    lmtp_free(l);
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole = buf_make(8 * 1024 * 1024), cut = buf_make(8 * 1024 * 1024);

    if (size > 0) {
        talk(data + 1, size - 1, size, &whole);
        talk(data + 1, size - 1, 1 + (size_t)(data[0] & 15), &cut);
        must(!buf_failed(&whole) && whole.len == cut.len);
        must(memcmp(whole.data, cut.data, whole.len) == 0);
    }
    buf_release(&whole);
    buf_release(&cut);
    return 0;
}

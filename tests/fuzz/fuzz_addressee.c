/*
 * The header of a letter that nobody has stored yet.  What is promised: any bytes are read, an
 * address that is found was judged to be ours and stands in the letter, and none better was seen.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mail/addressee.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static int judge(void *arg, const char *address)
{
    int *best = arg, judged = address[0] == 'p' ? address[1] == '+' ? 2 : 1 : 0;

    must(strchr(address, '@') && strlen(address) < ADDRESSEE_SIZE);
    if (judged > *best)
        *best = judged;
    return judged;
}

static int stands_in(const uint8_t *data, size_t size, const char *text)
{
    size_t n = strlen(text);

    for (size_t i = 0; i + n <= size; i++)
        if (memcmp(data + i, text, n) == 0)
            return 1;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char address[ADDRESSEE_SIZE] = "", sender[ADDRESSEE_SIZE] = "";
    int best = 0, first = 0;

    if (addressee_find(data, size, judge, &best, address)) {
        must(best > 0 && judge(&first, address) == best);
        must(stands_in(data, size, address));
    } else {
        must(best == 0 && address[0] == '\0');
    }
    if (addressee_sender(data, size, sender))
        must(!sender[0] || stands_in(data, size, sender));
    return 0;
}

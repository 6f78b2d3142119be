/*
 * rules/draw.c - draws by repetition and by count: R-C7, R-C8.
 */
#include "rules/rules.h"

int repetition_count(const uint64_t *hashes, size_t n)
{
    int count = 0;

    for (size_t i = 0; i < n; i++)
        count += hashes[i] == hashes[n - 1];
    return count;
}

enum draw_verdict draw_by_history(const uint64_t *hashes, size_t n, unsigned count)
{
    int repeats = repetition_count(hashes, n);

    if (repeats >= REPEATS_DRAWN)
        return DRAW_FIVEFOLD;
    if (count >= COUNT_DRAWN)
        return DRAW_COUNT;
    if (repeats >= REPEATS_CLAIM)
        return DRAW_CLAIM_THREEFOLD;
    if (count >= COUNT_CLAIM)
        return DRAW_CLAIM_COUNT;
    return DRAW_NONE;
}

const char *draw_verdict_str(enum draw_verdict verdict)
{
    static const char *const strings[] = {
        [DRAW_NONE] = "none",
        [DRAW_CLAIM_THREEFOLD] = "threefold repetition may be claimed",
        [DRAW_CLAIM_COUNT] = "fifty rounds may be claimed",
        [DRAW_FIVEFOLD] = "fivefold repetition",
        [DRAW_COUNT] = "seventy-five rounds",
    };

    return strings[verdict];
}

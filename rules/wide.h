/*
 * rules/wide.h - a board of 16 x 16 squares in one vector of 256 bits.
 *
 * Purpose: inside the engine only.  A rank is a lane of 16 bits, so a step to East is a shift of
 * every lane by one bit, and a step to North moves every lane up by one; what leaves the box falls
 * off the end.  The same operations are written for AVX-512, for AVX2 and, with the compiler's
 * vector types alone, for any machine.
 */
#ifndef RULES_WIDE_H
#define RULES_WIDE_H

#include "rules/game.h"

/* Vectors go only between functions that are always inlined, so no calling convention matters. */
#pragma GCC diagnostic ignored "-Wpsabi"

/* Instrumented code that is inlined by force takes minutes to compile: let the compiler choose. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FH_INSTRUMENTED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define FH_INSTRUMENTED 1
#endif
#endif
#ifdef FH_INSTRUMENTED
#define INLINE static inline __attribute__((unused))
#else
#define INLINE static inline __attribute__((always_inline, unused))
#endif

typedef uint64_t wide __attribute__((vector_size(32)));
typedef uint16_t wide_lanes __attribute__((vector_size(32)));
/* As boards lie in memory: where a uint64_t may, since callers keep positions in malloc's. */
typedef uint64_t wide_stored __attribute__((vector_size(32), aligned(8), may_alias));

INLINE wide wide_load(const struct board *board)
{
    return *(const wide_stored *)(const void *)board->word;
}

INLINE void wide_store(struct board *board, wide x)
{
    *(wide_stored *)(void *)board->word = x;
}

INLINE wide wide_square(int square)
{
    return wide_load(&square_boards[square]);
}

INLINE void wide_toggle(struct board *board, wide x)
{
    wide_store(board, wide_load(board) ^ x);
}

/* x if the flag is set, else nothing. */
INLINE wide wide_if(unsigned flag, wide x)
{
    uint64_t mask = -(uint64_t)(flag & 1u);

    return x & (wide){mask, mask, mask, mask};
}

#if defined(ENGINE_AVX2)

INLINE bool wide_is_empty(wide x)
{
    return _mm256_testz_si256((__m256i)x, (__m256i)x) != 0;
}

INLINE bool wide_are_apart(wide x, wide y) /* no square in both */
{
    return _mm256_testz_si256((__m256i)x, (__m256i)y) != 0;
}

#else

INLINE bool wide_is_empty(wide x)
{
    return (x[0] | x[1] | x[2] | x[3]) == 0;
}

INLINE bool wide_are_apart(wide x, wide y)
{
    return wide_is_empty(x & y);
}

#endif

/* ---------------------------------------------------------------- shifts; n = 1, 2, 4, 8 */

INLINE wide wide_east(wide x, int n)
{
    return (wide)((wide_lanes)x << (uint16_t)n);
}

INLINE wide wide_west(wide x, int n)
{
    return (wide)((wide_lanes)x >> (uint16_t)n);
}

#if defined(ENGINE_AVX2)

INLINE wide wide_north(wide x, int n)
{
    __m256i v = (__m256i)x, low = _mm256_permute2x128_si256(v, v, 0x08); /* low half moved up */

    switch (n) {
    case 1:
        return (wide)_mm256_alignr_epi8(v, low, 14);
    case 2:
        return (wide)_mm256_alignr_epi8(v, low, 12);
    case 4:
        return (wide)_mm256_alignr_epi8(v, low, 8);
    default:
        return (wide)low;
    }
}

INLINE wide wide_south(wide x, int n)
{
    __m256i v = (__m256i)x, high = _mm256_permute2x128_si256(v, v, 0x81); /* high half moved down */

    switch (n) {
    case 1:
        return (wide)_mm256_alignr_epi8(high, v, 2);
    case 2:
        return (wide)_mm256_alignr_epi8(high, v, 4);
    case 4:
        return (wide)_mm256_alignr_epi8(high, v, 8);
    default:
        return (wide)high;
    }
}

#else

/* Four words of four ranks each. */
INLINE wide wide_north(wide x, int n)
{
    unsigned bits = (unsigned)n * 16, rest = 64 - bits;

    if (n == 8)
        return (wide){0, 0, x[0], x[1]};
    if (n == 4)
        return (wide){0, x[0], x[1], x[2]};
    return (wide){x[0] << bits, x[1] << bits | x[0] >> rest, x[2] << bits | x[1] >> rest,
                  x[3] << bits | x[2] >> rest};
}

INLINE wide wide_south(wide x, int n)
{
    unsigned bits = (unsigned)n * 16, rest = 64 - bits;

    if (n == 8)
        return (wide){x[2], x[3], 0, 0};
    if (n == 4)
        return (wide){x[1], x[2], x[3], 0};
    return (wide){x[0] >> bits | x[1] << rest, x[1] >> bits | x[2] << rest,
                  x[2] >> bits | x[3] << rest, x[3] >> bits};
}

#endif

/* All men of a set n steps that way, walls and edges of the game not regarded. */
INLINE wide wide_step(wide x, unsigned way, int n)
{
    if (way == NORTH || way == NORTH_EAST || way == NORTH_WEST)
        x = wide_north(x, n);
    if (way == SOUTH || way == SOUTH_EAST || way == SOUTH_WEST)
        x = wide_south(x, n);
    if (way == EAST || way == NORTH_EAST || way == SOUTH_EAST)
        x = wide_east(x, n);
    if (way == WEST || way == NORTH_WEST || way == SOUTH_WEST)
        x = wide_west(x, n);
    return x;
}

/* A knight's leaps, in the order of leap_file[] and leap_rank[]. */
INLINE wide wide_leap(wide x, unsigned leap)
{
    switch (leap) {
    case 0:
        return wide_east(wide_north(x, 2), 1);
    case 1:
        return wide_east(wide_north(x, 1), 2);
    case 2:
        return wide_east(wide_south(x, 1), 2);
    case 3:
        return wide_east(wide_south(x, 2), 1);
    case 4:
        return wide_west(wide_south(x, 2), 1);
    case 5:
        return wide_west(wide_south(x, 1), 2);
    case 6:
        return wide_west(wide_north(x, 1), 2);
    default:
        return wide_west(wide_north(x, 2), 1);
    }
}

/*
 * Where the sliders of a set come to that way: a parallel prefix fill through the empty squares
 * that can be entered so, and one step more onto whatever stops them.  The squares of one slider
 * are never those of another of the set: the one in front stops the one behind.
 */
INLINE wide wide_slide(wide sliders, wide empty, wide enter, unsigned way)
{
    wide through = empty & enter;

    sliders |= through & wide_step(sliders, way, 1);
    through &= wide_step(through, way, 1);
    sliders |= through & wide_step(sliders, way, 2);
    through &= wide_step(through, way, 2);
    sliders |= through & wide_step(sliders, way, 4);
    through &= wide_step(through, way, 4);
    sliders |= through & wide_step(sliders, way, 8);
    return wide_step(sliders, way, 1) & enter;
}

/* ---------------------------------------------------------------- counting */

#if defined(ENGINE_AVX512)

typedef wide tally; /* four partial sums */

INLINE tally tally_none(void)
{
    return (tally){0, 0, 0, 0};
}

INLINE tally tally_add(tally sum, wide x)
{
    return sum + (wide)_mm256_popcnt_epi64((__m256i)x);
}

INLINE int tally_total(tally sum)
{
    __m128i half = _mm_add_epi64(_mm256_castsi256_si128((__m256i)sum),
                                 _mm256_extracti128_si256((__m256i)sum, 1));

    return (int)(_mm_cvtsi128_si64(half) + _mm_extract_epi64(half, 1));
}

#else

typedef int tally;

INLINE tally tally_none(void)
{
    return 0;
}

INLINE tally tally_add(tally sum, wide x)
{
    return sum + __builtin_popcountll(x[0]) + __builtin_popcountll(x[1]) +
           __builtin_popcountll(x[2]) + __builtin_popcountll(x[3]);
}

INLINE int tally_total(tally sum)
{
    return sum;
}

#endif

INLINE int wide_count(wide x)
{
    return tally_total(tally_add(tally_none(), x));
}

/* For each square of a set, in ascending order: WIDE_EACH (square, set) { … } */
#define WIDE_EACH(square, set)                                                                  \
    for (int word_ = 0; word_ < 4; word_++)                                                     \
        for (uint64_t bits_ = (set)[word_]; bits_ != 0; bits_ &= bits_ - 1)                     \
            for (int square = word_ * 64 + __builtin_ctzll(bits_), once_ = 1; once_; once_ = 0)

#endif

/*
 * base/str.h - small helpers for strings that say when something does not fit.
 *
 * Ownership: str_dup and str_ndup give memory that the caller frees; the rest write into the
 * buffer they are given and never past its size.
 *
 * Threads: any; no state.
 */
#ifndef FH_BASE_STR_H
#define FH_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements of an array, not of a pointer. */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Copy text into ret[size], cut at a UTF-8 border if need be, always NUL-ended.  Returns false
 * when it was cut. */
bool str_copy(char *ret, size_t size, const char *text);

/* strdup that takes NULL (and gives NULL).  The caller frees. */
char *str_dup(const char *text);
/* The first n bytes, NUL-ended.  The caller frees; NULL when out of memory. */
char *str_ndup(const char *bytes, size_t n);

bool str_eq(const char *a, const char *b);            /* NULL equals only NULL */
bool str_case_eq(const char *a, const char *b);       /* ASCII case only */
bool str_starts(const char *text, const char *prefix);

/* ASCII alone, whatever the locale: a byte of a longer UTF-8 character is none of these. */
static inline bool char_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline char char_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static inline bool char_is_letter(char c)
{
    return char_lower(c) >= 'a' && char_lower(c) <= 'z';
}

/*
 * The fewest edits that make other of text, for "did you mean": a character put in, taken out or
 * changed, or two neighbours swapped, which are not edited again.  ASCII case is no difference.  A
 * character of more than one byte counts by its bytes.  Where either has more than STR_EDITS_BYTES
 * bytes it is the length of the longer one, as if nothing were alike.
 */
enum { STR_EDITS_BYTES = 64 };
size_t str_edits(const char *text, const char *other);

/* Whether all n bytes are below 128. */
bool bytes_are_ascii(const char *bytes, size_t n);

/* strcmp() of two C strings, for qsort() over an array of arrays of char. */
int str_compare(const void *a, const void *b);

/* Whether n bytes are well-formed UTF-8 (no surrogates, nothing over U+10FFFF, no overlong). */
bool utf8_is_valid(const char *bytes, size_t n);

/* A whole decimal number in [min, max] and nothing else; false otherwise, *ret untouched. */
bool str_to_int64(const char *text, int64_t min, int64_t max, int64_t *ret);

/* What a hexadecimal digit of either case is worth; -1 for any other character. */
int hex_value(char c);
/* Lower-case hexadecimal of n bytes: 2 n characters and a NUL. */
void hex_encode(const void *bytes, size_t n, char *ret);

#endif

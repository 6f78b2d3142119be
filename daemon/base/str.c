#include "base/str.h"

#include <stdlib.h>
#include <string.h>

bool str_copy(char *ret, size_t size, const char *text)
{
    size_t n = strlen(text);
    bool whole = n < size;

    if (!whole) {
        n = size - 1;
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
            n--; /* do not cut inside a character */
    }
    memcpy(ret, text, n);
    ret[n] = '\0';
    return whole;
}

char *str_ndup(const char *bytes, size_t n)
{
    char *copy = malloc(n + 1);

    if (copy) {
        memcpy(copy, bytes, n);
        copy[n] = '\0';
    }
    return copy;
}

char *str_dup(const char *text)
{
    return text ? str_ndup(text, strlen(text)) : NULL;
}

bool str_eq(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

bool str_case_eq(const char *a, const char *b)
{
    if (!a || !b)
        return a == b;
    for (; *a && *b; a++, b++)
        if (char_lower(*a) != char_lower(*b))
            return false;
    return *a == *b;
}

bool str_starts(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

int str_compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t str_edits(const char *text, const char *other)
{
    /* [j]: the edits from the first i bytes of text to the first j of other; so for i - 1, i - 2 */
    size_t rows[3][STR_EDITS_BYTES + 1], *now = rows[0], *last = rows[1], *before = rows[2];
    size_t n = strlen(text), m = strlen(other);

    if (n > STR_EDITS_BYTES || m > STR_EDITS_BYTES)
        return n > m ? n : m;
    for (size_t j = 0; j <= m; j++)
        now[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *oldest = before;
        char c = char_lower(text[i - 1]);

        before = last;
        last = now;
        now = oldest;
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            char d = char_lower(other[j - 1]);

            now[j] = least(last[j - 1] + (c != d), least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && c == char_lower(other[j - 2]) && char_lower(text[i - 2]) == d)
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return now[m];
}

bool bytes_are_ascii(const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)bytes[i] >= 0x80)
            return false;
    return true;
}

bool utf8_is_valid(const char *bytes, size_t n)
{
    const unsigned char *p = (const unsigned char *)bytes;

    for (size_t i = 0; i < n;) {
        unsigned char c = p[i];
        size_t more = c < 0x80 ? 0 : c >= 0xC2 && c <= 0xDF ? 1 : (c & 0xF0) == 0xE0 ? 2
                    : c >= 0xF0 && c <= 0xF4                ? 3 : 4;
        if (more == 4 || more > n - i - 1)
            return false;
        for (size_t k = 1; k <= more; k++)
            if ((p[i + k] & 0xC0) != 0x80)
                return false;
        if ((c == 0xE0 && p[i + 1] < 0xA0) || (c == 0xED && p[i + 1] > 0x9F) ||
            (c == 0xF0 && p[i + 1] < 0x90) || (c == 0xF4 && p[i + 1] > 0x8F))
            return false;
        i += more + 1;
    }
    return true;
}

bool str_to_int64(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    bool negative = *text == '-';
    const char *p = text + negative;
    uint64_t value = 0;
    uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;

    if (!*p)
        return false;
    for (; *p; p++) {
        if (!char_is_digit(*p))
            return false;
        unsigned digit = (unsigned)(*p - '0');
        if (value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    int64_t number = negative ? (value ? -(int64_t)(value - 1) - 1 : 0) : (int64_t)value;
    if (number < min || number > max)
        return false;
    *ret = number;
    return true;
}

void hex_encode(const void *bytes, size_t n, char *ret)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++) {
        ret[2 * i] = digits[p[i] >> 4];
        ret[2 * i + 1] = digits[p[i] & 15];
    }
    ret[2 * n] = '\0';
}

int hex_value(char c)
{
    return char_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

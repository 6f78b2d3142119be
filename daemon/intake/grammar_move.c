/* intake/grammar_move.c - what is written like a move, whatever the position; see grammar_line.h.
 */
#include <string.h>

#include "base/str.h"
#include "intake/grammar_line.h"

enum { COMPACT_MAX = 64 };

static bool is_man(char c)
{
    return c && strchr("kqrbnpv", char_lower(c)) != NULL;
}

/* [=/] [(] Q [)] and nothing more; or nothing. */
static bool is_promotion(const char *t)
{
    bool has_bracket;

    if (!*t)
        return true;
    if (*t == '=' || *t == '/')
        t++;
    has_bracket = *t == '(';
    if (has_bracket)
        t++;
    if (!is_man(*t++))
        return false;
    return has_bracket ? t[0] == ')' && !t[1] : !*t;
}

static const char *past_digits(const char *t)
{
    int n = 0;

    while (char_is_digit(*t) && n < 3) {
        t++;
        n++;
    }
    return t;
}

/* [victim] file rank [promotion] */
static bool is_end(const char *t)
{
    const char *digits;

    if (is_man(t[0]) && grammar_is_file(t[1]) && char_is_digit(t[2]) && is_end(t + 1))
        return true;
    if (!grammar_is_file(t[0]) || !char_is_digit(t[1]))
        return false;
    digits = past_digits(t + 1);
    return is_promotion(digits);
}

/* [file] [rank] [separator] end */
static bool is_way(const char *t)
{
    if (is_end(t))
        return true;
    if (grammar_is_file(*t)) {
        const char *after = past_digits(t + 1);

        for (const char *at = after; at > t; at--) { /* with a rank, with less of one, without */
            const char *to = *at && strchr("-x:*X", *at) ? at + 1 : at;

            if (is_end(to))
                return true;
        }
    }
    if (char_is_digit(*t)) {
        const char *after = past_digits(t);

        return is_end(*after && strchr("-x:*X", *after) ? after + 1 : after);
    }
    return *t && strchr("-x:*X", *t) && is_end(t + 1);
}

/* Without blanks, with plain separators, and without marks at the end.  False when too long. */
static bool compact(const char *text, char ret[COMPACT_MAX])
{
    size_t n = 0;

    for (const unsigned char *t = (const unsigned char *)text; *t; t++) {
        char c = (char)*t;

        if (grammar_is_blank(c))
            continue;
        if (t[0] == 0xe2 && t[1] == 0x80 && t[2] >= 0x90 && t[2] <= 0x95) { /* U+2010 … U+2015 */
            c = '-';
            t += 2;
        } else if (t[0] == 0xe2 && t[1] == 0x88 && t[2] == 0x92) { /* U+2212 */
            c = '-';
            t += 2;
        } else if (t[0] == 0xc3 && t[1] == 0x97) { /* U+00D7 */
            c = 'x';
            t += 1;
        }
        if (n + 1 >= COMPACT_MAX)
            return false;
        ret[n++] = c;
    }
    ret[n] = '\0';
    while (n > 0 && strchr("+#!?.", ret[n - 1])) {
        if (n > 3 && strcmp(ret + n - 4, "e.p.") == 0) {
            ret[n -= 4] = '\0';
            continue;
        }
        ret[--n] = '\0';
    }
    return n > 1;
}

static bool is_castling(const char *t)
{
    size_t n = 0;
    bool has_dash = t[0] && t[1] == '-';

    for (; *t; t++) {
        if (!strchr("Oo0", *t))
            return false;
        n++;
        if (has_dash && t[1]) {
            if (t[1] != '-' || !t[2])
                return false;
            t++;
        }
    }
    return n == 2 || n == 3;
}

bool grammar_is_move(const char *text)
{
    char t[COMPACT_MAX];

    if (!compact(text, t))
        return false;
    return is_castling(t) || is_way(t) || (is_man(t[0]) && is_way(t + 1));
}

/* "12. Rd4", "12... Rd4": the number, and where the move begins; 0 when there is none. */
const char *grammar_past_number(const char *text, int *ret_number)
{
    const char *t = text;
    int number = 0;

    while (char_is_digit(*t) && t - text < 5)
        number = number * 10 + (*t++ - '0');
    if (t == text || *t != '.' || number == 0) {
        *ret_number = 0;
        return text;
    }
    while (*t == '.')
        t++;
    while (grammar_is_blank(*t))
        t++;
    *ret_number = number;
    return t;
}

/* The length of "e4" at text, also of "z9" and "q17"; 0: none is there. */
size_t grammar_square_shape(const char *text, bool *ret_is_any_boards)
{
    size_t n = 1;
    int rank = 0;

    if (!char_is_letter(text[0]) || !char_is_digit(text[1]))
        return 0;
    for (; char_is_digit(text[n]); n++)
        rank = n > 3 ? rank : rank * 10 + (text[n] - '0');
    *ret_is_any_boards = grammar_is_file(char_lower(text[0])) && rank >= 1 && rank <= 16;
    return n;
}

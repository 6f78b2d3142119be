/* mail/reply_line.c - see reply_line.h. */
#include "mail/reply_line.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gmime/gmime.h>

#include "base/str.h"
#include "mail/decode.h"
#include "mail/reply_words.h"

/* ---------------------------------------------------------------- normalising */

enum {
    GONE = 0,
    SIGNS_MAX = 1200, /* no attribution is longer */
    MARKS_MAX = 4     /* accents of one letter: NFKC sorts them, slowly */
};

/* What a character is for us: itself, an ASCII one, or GONE. */
static unsigned plain_char(unsigned c)
{
    if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212 || c == 0x2043 || c == 0x02d7 || c == 0xfe58 ||
        c == 0xfe63 || c == 0xff0d || c == 0x2e3a || c == 0x2e3b || c == 0x1806 || c == 0x05be ||
        c == 0x058a || c == 0x2500 || c == 0x2501)
        return '-';
    if (c == '\t' || c == 0xa0 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f || c == 0x205f ||
        c == 0x3000 || c == 0x1680 || c == 0x2028 || c == 0x2029 || c == 0x0b || c == 0x0c)
        return ' ';
    if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x034f || c == 0x061c ||
        (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || c == 0x180e ||
        (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || c == 0xfffc || (c >= 0xfe00 && c <= 0xfe0f))
        return GONE;
    if (c == 0xfdfa || c == 0xfdfb)
        return 0xfffd; /* NFKC would make a sentence of one letter */
    if (c == 0x2018 || c == 0x2019 || c == 0x201a || c == 0x201b || c == 0x2032 || c == 0xb4)
        return '\'';
    if ((c >= 0x201c && c <= 0x201f) || c == 0x2033 || c == 0xab || c == 0xbb)
        return '"';
    return c;
}

/* Map the characters, run blanks together, cut them at the ends. */
static void put_plain(const char *text, size_t n, struct buf *out)
{
    const char *end = text + n;
    size_t begin = out->len, marks = 0;
    bool wants_blank = false;

    while (text < end) {
        unsigned c = plain_char(decode_char(&text));

        if (c == GONE)
            continue;
        marks = c >= 0x300 && g_unichar_combining_class(c) != 0 ? marks + 1 : 0;
        if (marks > MARKS_MAX)
            continue;
        if (c == ' ') {
            wants_blank = out->len > begin;
            continue;
        }
        if (wants_blank)
            buf_putc(out, ' ');
        wants_blank = false;
        decode_put(out, c);
    }
}

/* "*e2-e4*", "**e2-e4**": bold in plain text.  Takes the signs off the line that began at begin. */
static void strip_emphasis(struct buf *out, size_t begin)
{
    char *line = out->data + begin;
    size_t n = out->len - begin, signs = 0;

    if (n < 3 || (line[0] != '*' && line[0] != '`' && line[0] != '_'))
        return;
    while (signs < n && line[signs] == line[0])
        signs++;
    if (2 * signs >= n || signs > 3)
        return;
    for (size_t i = 0; i < signs; i++)
        if (line[n - 1 - i] != line[0])
            return;
    if (line[n - 1 - signs] == line[0] || line[signs] == ' ')
        return;
    memmove(line, line + signs, n - 2 * signs);
    out->len = begin + n - 2 * signs;
    out->data[out->len] = '\0';
}

/* Printable ASCII, single blanks and none at the ends: most lines. */
static bool is_plain_already(const char *line, size_t n)
{
    bool was_blank = true;

    for (size_t i = 0; i < n; i++) {
        bool is_blank = line[i] == ' ';

        if (line[i] < ' ' || line[i] > '~' || (is_blank && was_blank))
            return false;
        was_blank = is_blank;
    }
    return n == 0 || !was_blank;
}

/* What stands for a dash between Latin letters and digits only: the sound sign that a Japanese
 * keyboard gives for one, waves, and two dashes in a row. */
static void even_dashes(struct buf *out, size_t begin)
{
    char *line = out->data + begin, *to = line;
    const char *end = out->data + out->len;

    for (const char *from = line; from < end;) {
        const char *at = from;
        unsigned c = decode_char(&at);
        bool is_inside = to > line && g_ascii_isalnum(to[-1]);

        if (is_inside && (c == 0x30fc || c == 0x301c || c == 0x223c) && g_ascii_isalnum(*at)) {
            *to++ = '-';
        } else if (is_inside && c == '-' && *at == '-' && g_ascii_isalnum(at[1])) {
            *to++ = '-';
            at++;
        } else {
            memmove(to, from, (size_t)(at - from));
            to += at - from;
        }
        from = at;
    }
    *to = '\0';
    out->len = (size_t)(to - out->data);
}

/* Addresses and the names of players may have two dashes of their own. */
static bool has_odd_dash(const char *text)
{
    if (strchr(text, '@') || g_ascii_strncasecmp(text, "seat", 4) == 0)
        return false;
    return strstr(text, "--") != NULL || strstr(text, "\xe3\x83\xbc") != NULL ||
           strstr(text, "\xe3\x80\x9c") != NULL || strstr(text, "\xe2\x88\xbc") != NULL;
}

void line_normalise(const char *line, size_t n, struct buf *out)
{
    size_t begin = out->len;

    if (is_plain_already(line, n)) {
        buf_add(out, line, n);
    } else if (bytes_are_ascii(line, n)) {
        put_plain(line, n, out);
    } else {
        struct buf mapped = buf_make(2 * n + 16);
        char *nfkc;

        /* Before NFKC, which would make some of them blanks and combining marks. */
        put_plain(line, n, &mapped);
        nfkc = g_utf8_normalize(mapped.data, (gssize)mapped.len, G_NORMALIZE_ALL_COMPOSE);
        if (nfkc)
            put_plain(nfkc, strlen(nfkc), out);
        g_free(nfkc);
        buf_release(&mapped);
    }
    if (out->len > begin && has_odd_dash(out->data + begin))
        even_dashes(out, begin);
    strip_emphasis(out, begin);
}

/* The Latin letter that a Cyrillic or Greek one looks like, or 0. */
static char latin_of(unsigned c)
{
    static const struct {
        unsigned short from;
        char to;
    } pairs[] = {
        {0x0391, 'A'}, {0x0392, 'B'}, {0x0395, 'E'}, {0x0396, 'Z'}, {0x0397, 'H'}, {0x0399, 'I'},
        {0x039a, 'K'}, {0x039c, 'M'}, {0x039d, 'N'}, {0x039f, 'O'}, {0x03a1, 'P'}, {0x03a4, 'T'},
        {0x03a5, 'Y'}, {0x03a7, 'X'}, {0x03b1, 'a'}, {0x03b9, 'i'}, {0x03ba, 'k'}, {0x03bd, 'v'},
        {0x03bf, 'o'}, {0x03c1, 'p'}, {0x03c5, 'u'}, {0x03c7, 'x'}, {0x0405, 'S'}, {0x0406, 'I'},
        {0x0408, 'J'}, {0x0410, 'A'}, {0x0412, 'B'}, {0x0415, 'E'}, {0x041a, 'K'}, {0x041c, 'M'},
        {0x041d, 'H'}, {0x041e, 'O'}, {0x0420, 'P'}, {0x0421, 'C'}, {0x0422, 'T'}, {0x0423, 'Y'},
        {0x0425, 'X'}, {0x0430, 'a'}, {0x0435, 'e'}, {0x043a, 'k'}, {0x043e, 'o'}, {0x0440, 'p'},
        {0x0441, 'c'}, {0x0443, 'y'}, {0x0445, 'x'}, {0x0455, 's'}, {0x0456, 'i'}, {0x0458, 'j'},
        {0x04bb, 'h'}, {0x0501, 'd'}, {0x051b, 'q'}, {0x051d, 'w'}};

    for (size_t i = 0; i < COUNT_OF(pairs); i++)
        if (pairs[i].from == c)
            return pairs[i].to;
    return 0;
}

/* One word at *p: what letters it is made of; moves on past it. */
struct word {
    bool has_alike, has_ascii, has_other;
};

static struct word read_word(const char **p)
{
    struct word w = {.has_alike = false};

    while (**p != '\0') {
        const char *at = *p;
        unsigned c = decode_char(&at);

        if (c < 0x80 && !g_ascii_isalnum((char)c))
            break;
        if (latin_of(c))
            w.has_alike = true;
        else if (c < 0x80)
            w.has_ascii = true;
        else if (g_unichar_isalnum(c))
            w.has_other = true;
        else
            break;
        *p = at;
    }
    return w;
}

/* Castling in another alphabet: letters O (or 0) and dashes only. */
static bool is_castling(const char *text)
{
    size_t letters = 0, dashes = 0;

    while (*text != '\0') {
        unsigned c = decode_char(&text);

        if (c == '-')
            dashes++;
        else if (c == '0' || c == 'o' || c == 'O' || latin_of(c) == 'O' || latin_of(c) == 'o')
            letters++;
        else
            return false;
    }
    return letters == dashes + 1 && dashes >= 1;
}

bool line_latin(const char *text, struct buf *out)
{
    bool is_castle = is_castling(text), has_any = false;
    size_t begin = out->len;

    for (const char *p = text; *p != '\0';) {
        const char *from = p;
        struct word w = read_word(&p);
        bool is_alike = w.has_alike && !w.has_other && (w.has_ascii || is_castle);

        if (p == from)
            decode_put(out, decode_char(&p));
        has_any = has_any || is_alike;
        for (const char *at = from; is_alike && at < p;) {
            unsigned c = decode_char(&at);

            decode_put(out, latin_of(c) ? (unsigned)latin_of(c) : c);
        }
        if (w.has_alike || w.has_ascii || w.has_other) {
            if (!is_alike)
                buf_add(out, from, (size_t)(p - from));
        }
    }
    if (has_any)
        return true;
    out->len = begin;
    if (out->cap > 0)
        out->data[begin] = '\0';
    return false;
}

void line_lower(const char *text, struct buf *out)
{
    if (bytes_are_ascii(text, strlen(text))) {
        size_t begin = out->len;

        buf_puts(out, text);
        for (char *p = out->data + begin; p < out->data + out->len; p++)
            *p = g_ascii_tolower(*p);
        return;
    }
    while (*text != '\0') {
        unsigned c = decode_char(&text);
        int digit = c >= 0x80 ? g_unichar_digit_value(c) : -1;

        decode_put(out, digit >= 0 ? (unsigned)('0' + digit) : g_unichar_tolower(c));
    }
}

size_t line_length(const char *text)
{
    size_t n = 0;

    for (; *text != '\0'; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* ---------------------------------------------------------------- dates, times, addresses */

/* Digits at p, at most 9 counted; *ret their value. */
static size_t number_at(const char *p, unsigned *ret)
{
    size_t n = 0;

    for (*ret = 0; char_is_digit(p[n]); n++)
        *ret = n < 9 ? *ret * 10 + (unsigned)(p[n] - '0') : *ret;
    return n;
}

static bool is_year(unsigned value, size_t digits)
{
    /* Ours, the Thai and the Islamic calendars. */
    return digits == 4 && ((value >= 1980 && value < 2100) || (value >= 2540 && value < 2600) ||
                           (value >= 1390 && value < 1500));
}

/* "3.2.2026", "2026-02-03", "02/03/26", "3. 2. 2026" at p. */
static bool date_at(const char *p)
{
    unsigned part[3] = {0};
    size_t digits[3] = {0};
    char sign = '\0';

    for (int i = 0; i < 3; i++) {
        digits[i] = number_at(p, &part[i]);
        if (digits[i] == 0 || digits[i] > 4)
            return false;
        p += digits[i];
        if (i == 2)
            break;
        if (*p != '.' && *p != '/' && *p != '-')
            return false;
        if (sign != '\0' && *p != sign)
            return false;
        sign = *p++;
        if (sign == '.' && *p == ' ')
            p++;
    }
    if (is_year(part[0], digits[0]))
        return part[1] >= 1 && part[1] <= 12 && part[2] >= 1 && part[2] <= 31;
    return part[0] >= 1 && part[0] <= 31 && part[1] >= 1 && part[1] <= 31 &&
           (part[0] <= 12 || part[1] <= 12) && (is_year(part[2], digits[2]) || digits[2] == 2);
}

/* A year and a day's number somewhere: "Tue, 3 Feb 2026", "2026年2月3日". */
static bool has_date(const char *low)
{
    bool has_year = false, has_day = false;

    for (const char *p = low; *p != '\0';) {
        unsigned value;
        size_t n = number_at(p, &value);

        if (n == 0) {
            p++;
            continue;
        }
        if ((p == low || (!char_is_digit(p[-1]) && p[-1] != '.' && p[-1] != '/')) && date_at(p))
            return true;
        if (is_year(value, n))
            has_year = true;
        else if (n <= 2 && value >= 1 && value <= 31 &&
                 (p == low || !g_ascii_isalpha(p[-1])))
            has_day = true;
        p += n;
    }
    return has_year && has_day;
}

/* "12:00", "12.00", "12h30", "12 h 30", "12:00:05 pm". */
static bool has_time(const char *low)
{
    for (const char *p = low; *p != '\0';) {
        unsigned hour, minute;
        size_t n = number_at(p, &hour);
        const char *at = p + n;
        size_t m;
        bool is_begin = p == low || (!g_ascii_isalpha(p[-1]) && p[-1] != '.' && p[-1] != ':');

        if (n == 0) {
            p++;
            continue;
        }
        p = at;
        if (!is_begin || n > 2 || hour > 24)
            continue;
        if (*at == ' ' && at[1] == 'h' && at[2] == ' ')
            at += 2, m = number_at(at + 1, &minute);
        else if (*at == ':' || *at == '.' || *at == 'h')
            m = number_at(at + 1, &minute);
        else
            continue;
        if (m == 2 && minute < 60 && !(*at == '.' && at[3] == '.' && char_is_digit(at[4])) &&
            !(*at == '.' && at[3] == '.' && at[4] == ' ' && char_is_digit(at[5])))
            return true;
    }
    return false;
}

static bool has_address(const char *low)
{
    for (const char *at = low; (at = strchr(at, '@')) != NULL; at++) {
        const char *dot = at + 1;

        if (at == low || !(g_ascii_isalnum(at[-1]) || strchr("._-+'\"=~", at[-1])))
            continue;
        while (g_ascii_isalnum(*dot) || *dot == '-')
            dot++;
        if (dot > at + 1 && *dot == '.' && g_ascii_isalnum(dot[1]))
            return true;
    }
    return strstr(low, "mailto:") != NULL;
}

/* word somewhere in low, whole when it is of ASCII letters at its ends. */
static bool has_word(const char *low, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = low; (p = strstr(p, word)) != NULL; p++) {
        bool is_free_before = p == low || !g_ascii_isalnum(p[-1]) || !g_ascii_isalnum(word[0]);
        bool is_free_after = !g_ascii_isalnum(p[n]) || !g_ascii_isalnum(word[n - 1]);

        if (is_free_before && is_free_after)
            return true;
    }
    return false;
}

/* Which pairs of bytes stand in a text, roughly: what has not a word's first ones has not the word.
 * Most lines lack nearly all words of a list, and a letter may be 4000 lines long. */
struct pairs {
    uint64_t bits[8];
};

static unsigned pair_of(const char *p)
{
    return ((unsigned char)p[0] * 31u + (unsigned char)p[1]) & 511u;
}

static struct pairs pairs_of(const char *text)
{
    struct pairs pairs = {{0}};

    for (; text[0] != '\0' && text[1] != '\0'; text++)
        pairs.bits[pair_of(text) / 64] |= UINT64_C(1) << pair_of(text) % 64;
    return pairs;
}

static bool pairs_have(const struct pairs *pairs, const char *p)
{
    return (pairs->bits[pair_of(p) / 64] >> pair_of(p) % 64 & 1) != 0;
}

static bool pairs_may_have(const struct pairs *pairs, const char *word)
{
    return word[0] == '\0' || word[1] == '\0' ||
           (pairs_have(pairs, word) && (word[2] == '\0' || pairs_have(pairs, word + 1)));
}

static bool has_word_of(const char *low, const char *const *list)
{
    const struct pairs pairs = pairs_of(low);

    for (; *list; list++)
        if (pairs_may_have(&pairs, *list) && has_word(low, *list))
            return true;
    return false;
}

bool line_has_stem(const char *low, const char *const *list)
{
    const struct pairs pairs = pairs_of(low);

    for (; *list; list++)
        if (pairs_may_have(&pairs, *list) && strstr(low, *list) != NULL)
            return true;
    return false;
}

static bool begins_with(const char *low, const char *const *list)
{
    for (; *list; list++)
        if (**list == *low && str_starts(low, *list))
            return true;
    return false;
}

unsigned line_signs(const char *low)
{
    if (strlen(low) > SIGNS_MAX)
        return 0;
    return (has_date(low) ? SIGN_DATE : 0u) | (has_time(low) ? SIGN_TIME : 0u) |
           (has_address(low) ? SIGN_ADDRESS : 0u) |
           (has_word_of(low, reply_words_verbs) ? SIGN_VERB : 0u) |
           (begins_with(low, reply_words_openers) ? SIGN_OPENER : 0u);
}

/* ---------------------------------------------------------------- kinds of lines */

bool line_is_quoted(const char *low)
{
    size_t n = 0;

    if (*low == '>' || str_starts(low, "&gt;"))
        return true;
    if (*low == '|' && (low[1] == ' ' || low[1] == '\0' || low[1] == '|'))
        return true;
    while (n < 4 && low[n] >= 'a' && low[n] <= 'z') /* initials: "AB> " */
        n++;
    return n > 0 && low[n] == '>' && (low[n + 1] == ' ' || low[n + 1] == '>' || low[n + 1] == '\0');
}

bool line_is_rule(const char *low)
{
    size_t n = 0;
    const char *p = low;

    while (*p != '\0') {
        unsigned c = decode_char(&p);

        if (c != ' ' && c != '-' && c != '_' && c != '=' && c != '*' && c != '~' && c != '#' &&
            c != '+' && c != 0x2500 && c != 0x2501 && c != 0x2022 && c != 0xb7 && c != 0xaf &&
            c != 0x203e && c != 0x30fc && c != '.')
            return false;
        n += c != ' ';
    }
    if (*low == '-' || *low == '_')
        return n >= 1 && (*low == '-' || n >= 2);
    return n >= 3;
}

/* How many of the signs that part things stand at p (going by step). */
static size_t signs_at(const char *p, const char *end, int step)
{
    size_t n = 0;

    for (; p != end && (*p == '-' || *p == '_' || *p == '=' || *p == '~' || *p == '#' || *p == ' ');
         p += step)
        n += *p != ' ';
    return n;
}

bool line_is_delimiter(const char *low)
{
    size_t n = strlen(low);
    size_t front = signs_at(low, low + n, 1);
    const char *words = low + strspn(low, "-_=~#* ");
    bool is_known;

    if (n == 0 || *words == '\0' || n > 200)
        return false;
    if (str_starts(low, ">>>") && n > 8 && strcmp(low + n - 3, ">>>") == 0)
        return (line_signs(low) & (SIGN_DATE | SIGN_TIME | SIGN_ADDRESS)) != 0;
    is_known = has_word_of(low, reply_words_originals);
    if (front >= 2 && is_known)
        return true;
    if (front >= 3 && low[n - 1] != ' ' && signs_at(low + n - 1, low - 1, -1) >= 3)
        return true;
    /* By itself: "Original message", "Begin forwarded message:". */
    return is_known && line_length(words) <= 45 && begins_with(words, reply_words_originals);
}

bool line_is_dashed(const char *low)
{
    size_t n = strlen(low);

    return n > 5 && str_starts(low, "--") && strcmp(low + n - 2, "--") == 0 &&
           low[strspn(low, "- ")] != '\0';
}

/* The line without what may stand behind its colon: ">", stars, blanks. */
static size_t length_to_end(const char *low)
{
    size_t n = strlen(low);

    while (n > 0 && strchr(" >*_\"'", low[n - 1]) != NULL)
        n--;
    return n;
}

/* The n bytes without a "(a" or "/la" that a language puts behind its verb. */
static size_t without_gender(const char *low, size_t n)
{
    for (size_t back = 1; back <= 7 && back < n; back++) {
        char c = low[n - back];

        if (c == '(' || c == '/')
            return n - back;
        if (c == ' ')
            break;
    }
    return n;
}

static size_t count_words(const char *low)
{
    size_t n = *low != '\0';

    for (; *low != '\0'; low++)
        n += *low == ' ';
    return n;
}

/* A verb of writing is the last word before the end of n bytes. */
static bool ends_with_verb(const char *low, size_t n)
{
    for (const char *const *verb = reply_words_verbs; *verb; verb++) {
        size_t m = strlen(*verb);
        const char *at = low + n - m;

        if (m <= n && memcmp(at, *verb, m) == 0 &&
            (m == n || !g_ascii_isalnum(at[-1]) || !g_ascii_isalnum((*verb)[0])))
            return true;
    }
    return false;
}

/* "Anna Example ---03.02.2026 12:00:00---Your move": Notes puts its date between rules. */
static bool has_two_rules(const char *low)
{
    const char *first = strstr(low, "---");

    return first != NULL && strstr(first + 3 + strspn(first + 3, "-"), "---") != NULL;
}

bool line_is_introduction(const char *low)
{
    unsigned s = line_signs(low);
    size_t n = length_to_end(low);
    bool has_colon = n > 0 && low[n - 1] == ':';
    bool has_when = (s & (SIGN_DATE | SIGN_TIME)) != 0;

    if (n == 0)
        return false;
    while (n > 0 && (low[n - 1] == ':' || low[n - 1] == ' ' || low[n - 1] == ')'))
        n--;
    n = without_gender(low, n);
    if (!has_colon) {
        /* Rare, so nearly everything must be there. */
        unsigned begin;
        bool has_both = (s & SIGN_DATE) && (s & SIGN_TIME);

        if (has_both && has_two_rules(low))
            return true;
        return ((s & SIGN_DATE) && (s & SIGN_ADDRESS) && (s & (SIGN_TIME | SIGN_VERB))) ||
               ((s & SIGN_OPENER) && has_when && (s & SIGN_VERB) && ends_with_verb(low, n)) ||
               (has_both && ((s & SIGN_OPENER) || (number_at(low, &begin) && date_at(low))));
    }
    if ((s & SIGN_DATE) && (s & (SIGN_TIME | SIGN_VERB | SIGN_ADDRESS)))
        return true;
    if (has_when && (s & (SIGN_VERB | SIGN_ADDRESS)))
        return true;
    if ((s & SIGN_ADDRESS) && (s & SIGN_VERB))
        return true;
    if ((s & SIGN_ADDRESS) && n > 0 && low[n - 1] == '>')
        return true;
    /* "Anna Example wrote:" */
    return (s & SIGN_VERB) && count_words(low) <= 9 && ends_with_verb(low, n) &&
           (count_words(low) >= 2 || (unsigned char)low[0] >= 0x80);
}

/* "Outlook for Android" in any language: a program and what it runs on. */
static bool names_program(const char *low)
{
    static const char *const programs[] = {"outlook", "mail", "bluemail", "yandex", "яндекс",
                                           "spark",   "gmail", "почта", "почты", NULL};
    static const char *const systems[] = {"android", "ios", "windows", "iphone", "ipad", NULL};

    return count_words(low) <= 9 && !has_address(low) && has_word_of(low, systems) &&
           has_word_of(low, programs);
}

/* "My Galaxy" and its like by itself, with few words of another script around. */
static bool names_telephone(const char *low)
{
    static const char *const makes[] = {"iphone", "ipad", "galaxy", NULL};

    return (unsigned char)low[0] >= 0x80 && count_words(low) <= 5 && !has_address(low) &&
           has_word_of(low, makes);
}

bool line_is_mobile(const char *low)
{
    size_t n = strlen(low);

    low += strspn(low, "-*_[(<' \"");
    if (line_length(low) > 160)
        return false;
    if (begins_with(low, reply_words_sent) || names_program(low) || names_telephone(low))
        return true;
    n = strlen(low);
    while (n > 0 && strchr(".])>*_\"' !", low[n - 1]) != NULL)
        n--;
    for (const char *const *end = reply_words_sent_end; *end; end++) {
        size_t m = strlen(*end);

        if (m < n && memcmp(low + n - m, *end, m) == 0 && line_length(low) <= 100)
            return true;
    }
    return false;
}

/* What may stand behind a closing in its line: ", Anna Example", and " Anna" behind one that is
 * short, as "LG": behind a word it may be more than a name. */
static bool is_name_behind(const char *rest, size_t closing_n)
{
    size_t most = *rest == ',' ? 3 : 2;

    if (*rest != ',' && (*rest != ' ' || closing_n > 3))
        return false;
    rest += strspn(rest, ", ");
    return *rest != '\0' && count_words(rest) <= most && strpbrk(rest, "0123456789=:/@?") == NULL;
}

bool line_is_closing(const char *low)
{
    static const char full_stop[] = "\xe3\x80\x82"; /* of Chinese and Japanese */
    char line[80];
    size_t n;

    if (!str_copy(line, sizeof line, low))
        return false;
    n = strlen(line);
    while (n > 0 && strchr(",.!;:- ", line[n - 1]) != NULL)
        line[--n] = '\0';
    if (n > 3 && strcmp(line + n - 3, full_stop) == 0)
        line[n - 3] = '\0';
    for (const char *const *word = reply_words_closings; *word; word++) {
        n = strlen(*word);
        if (strncmp(line, *word, n) == 0 &&
            (line[n] == '\0' || ((*word)[n - 1] != '.' && is_name_behind(line + n, n))))
            return true;
    }
    return false;
}

bool line_is_device(const char *low)
{
    return line_length(low) <= 80 && count_words(low) <= 8 && !has_address(low) &&
           has_word_of(low, reply_words_devices);
}

bool line_is_legal(const char *low)
{
    return has_word_of(low, reply_words_scanned) || line_has_stem(low, reply_words_legal);
}

bool line_is_bracketed(const char *low)
{
    size_t n = strlen(low);

    return n > 2 && ((low[0] == '[' && low[n - 1] == ']') || (low[0] == '{' && low[n - 1] == '}') ||
                     (str_starts(low, "【") && n > 6 && strcmp(low + n - 3, "】") == 0));
}

bool line_is_picture(const char *low)
{
    static const char *const begins[] = {"[image:", "[cid:", "[inline image", "<image", "<cid:",
                                         "[image0", "[bild:", NULL};
    size_t n = strlen(low);

    return n > 2 && (low[n - 1] == ']' || low[n - 1] == '>') && begins_with(low, begins);
}

bool line_is_label(const char *low)
{
    char line[80], head[40];
    const char *value;
    size_t n;

    low += strspn(low, "*_[(<#=-~ ");
    if (!str_copy(line, sizeof line, low))
        return false;
    n = strlen(line);
    while (n > 0 && strchr("*_])>#=-~. ", line[n - 1]) != NULL)
        line[--n] = '\0';
    for (const char *const *label = reply_words_labels; *label; label++)
        if (strcmp(line, *label) == 0)
            return true;
    if (str_starts(line, "sec=") || str_starts(line, "[sec="))
        return true;
    value = line_label(line, head, sizeof head);
    if (value == NULL || count_words(value) > 4)
        return false;
    for (const char *const *word = reply_words_label_heads; *word; word++)
        if (strcmp(head, *word) == 0)
            return true;
    return false;
}

/* Past stars, brackets and pictures of warning signs. */
static const char *past_decoration(const char *low)
{
    while (*low != '\0') {
        const char *at = low;
        unsigned c = decode_char(&at);

        if (!(c < 0x80 && strchr("*_#=-~|>![({<:. ", (int)c)) && !(c >= 0x2190 && c <= 0x2bff) &&
            !(c >= 0x1f000 && c <= 0x1faff) && c != 0x3010)
            break;
        low = at;
    }
    return low;
}

bool line_is_warning(const char *low)
{
    return begins_with(past_decoration(low), reply_words_banners);
}

bool line_is_about_mail(const char *low)
{
    return line_has_stem(low, reply_words_mail) || line_has_stem(low, reply_words_risks);
}

static bool is_scanner_notice(const char *low, bool is_mail)
{
    bool has_link = strstr(low, "www.") != NULL || strstr(low, "http") != NULL;
    bool is_virus = line_has_stem(low, reply_words_viruses);
    bool is_checked = line_has_stem(low, reply_words_checked);

    return (is_virus && (is_checked || is_mail || has_link)) ||
           (has_word_of(low, reply_words_scanners) &&
            (is_virus || is_checked || is_mail || has_link));
}

/* "Caution: external", but not "external things …". */
static bool warns_of_outside(const char *low)
{
    const char *rest = strchr(past_decoration(low), ' ');

    return rest && line_has_stem(rest, reply_words_outside) && line_is_warning(low);
}

bool line_is_notice(const char *low)
{
    bool is_mail, is_risk, is_outside;
    size_t legal = 0;

    if (begins_with(past_decoration(low), reply_words_notices))
        return true;
    is_mail = line_has_stem(low, reply_words_mail);
    is_risk = line_has_stem(low, reply_words_risks);
    is_outside = line_has_stem(low, reply_words_outside);
    if (line_has_stem(low, reply_words_legal)) /* seldom */
        for (const char *const *stem = reply_words_legal; legal < 2 && *stem; stem++)
            legal += strstr(low, *stem) != NULL;
    return (is_outside && (is_mail || is_risk || has_address(low))) ||
           (is_outside && line_is_bracketed(low) && count_words(low) <= 4) ||
           (is_outside && warns_of_outside(low)) ||
           (is_risk && is_mail && line_is_warning(low)) || legal > 1 || (legal > 0 && is_mail) ||
           is_scanner_notice(low, is_mail);
}

const char *line_label(const char *low, char *label, size_t size)
{
    const char *colon;
    size_t n, words = 1;

    low += strspn(low, "*_| ");
    colon = strchr(low, ':');
    if (colon == NULL || colon == low)
        return NULL;
    n = (size_t)(colon - low);
    while (n > 0 && (low[n - 1] == ' ' || low[n - 1] == '*' || low[n - 1] == '_'))
        n--;
    if (n == 0 || n >= size)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (char_is_digit(low[i]) || strchr("@<>\"()[],;", low[i]) != NULL)
            return NULL;
        words += low[i] == ' ';
    }
    if (words > 4)
        return NULL;
    memcpy(label, low, n);
    label[n] = '\0';
    for (colon++; *colon == '*' || *colon == '_' || *colon == ' '; colon++)
        ;
    return colon;
}

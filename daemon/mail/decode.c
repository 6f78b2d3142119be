/* mail/decode.c - see decode.h. */
#include "mail/decode.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <gmime/gmime.h>

#include "base/str.h"
#include "mail/scan.h"

enum { BAD_MAX = 1000 /* bytes that fit nothing; with more, the charset's name is wrong */ };

/* ---------------------------------------------------------------- transfer encodings */

static int base64_value(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Letters of the alphabet, then up to two "=". */
static bool line_is_base64(const char *line, size_t n, bool *ret_is_last)
{
    size_t at = 0;

    while (at < n && base64_value((unsigned char)line[at]) >= 0)
        at++;
    *ret_is_last = at < n;
    if (n - at > 2)
        return false;
    while (at < n && line[at] == '=') /* the bytes end without a NUL */
        at++;
    return at == n;
}

void decode_base64(const char *text, size_t n, struct buf *out)
{
    char bytes[192]; /* decoded, not in `out` yet */
    size_t next, width = 0, held = 0;
    unsigned bits = 0;
    int have = 0;
    bool is_last = false, was_blank = false;

    for (size_t at = 0; at < n && !is_last; at += next) {
        size_t len = scan_line(text + at, n - at, false, &next);
        const char *line = text + at;

        while (len > 0 && (*line == ' ' || *line == '\t'))
            line++, len--;
        while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t'))
            len--;
        if (len == 0) {
            was_blank = true;
            continue;
        }
        /* All lines but the last are of one width; what comes after a blank or a short one was
         * put there by somebody else. */
        if (!line_is_base64(line, len, &is_last) || len > (width ? width : len) ||
            (width && was_blank && len < width))
            break;
        for (size_t i = 0; i < len; i++) {
            int value = base64_value((unsigned char)line[i]);

            if (value < 0)
                break;
            bits = bits << 6 | (unsigned)value;
            if (++have % 4 == 1)
                continue;
            if (held == sizeof bytes) {
                buf_add(out, bytes, held);
                held = 0;
            }
            bytes[held++] = (char)(bits >> (6 - 2 * ((have - 1) % 4)) & 0xff);
        }
        is_last = is_last || (width && len < width);
        width = width ? width : len;
        was_blank = false;
    }
    buf_add(out, bytes, held);
}

/* The blanks and the line end at text: what a soft break holds after its "=".  0: it is none. */
static size_t soft_break(const char *text, size_t n)
{
    size_t at = 0;

    while (at < n && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r'))
        at++;
    if (at == n)
        return n + 1; /* the end of the text: nothing to skip, but a break */
    return text[at] == '\n' ? at + 1 : 0;
}

void decode_quoted(const char *text, size_t n, struct buf *out)
{
    for (size_t at = 0; at < n;) {
        size_t left = n - at - 1;
        size_t soft;

        if (text[at] != '=') {
            const char *equals = memchr(text + at, '=', n - at);
            size_t len = equals ? (size_t)(equals - (text + at)) : n - at;

            buf_add(out, text + at, len);
            at += len;
        } else if (left >= 2 && hex_value(text[at + 1]) >= 0 && hex_value(text[at + 2]) >= 0) {
            buf_putc(out, (char)(hex_value(text[at + 1]) << 4 | hex_value(text[at + 2])));
            at += 3;
        } else if ((soft = soft_break(text + at + 1, left)) > 0) {
            at += 1 + (soft > left ? left : soft);
        } else {
            buf_putc(out, '=');
            at++;
        }
    }
}

bool decode_looks_quoted(const char *text, size_t n)
{
    bool has_soft = false;

    for (size_t at = 0; at < n; at++) {
        const char *p = text + at;
        size_t left = n - at - 1;

        if ((unsigned char)*p >= 0x80)
            return false;
        if (*p != '=')
            continue;
        if (left >= 1 && (p[1] == '\n' || (left >= 2 && p[1] == '\r' && p[2] == '\n'))) {
            has_soft = true;
        } else if (left < 2 || hex_value(p[1]) < 0 || hex_value(p[2]) < 0 ||
                   (p[1] >= 'a' && p[1] <= 'f') || (p[2] >= 'a' && p[2] <= 'f')) {
            return false;
        }
    }
    return has_soft;
}

/* ---------------------------------------------------------------- characters */

void decode_put(struct buf *out, unsigned c)
{
    if (c < 0x80) {
        buf_putc(out, (char)c);
    } else if (c < 0x800) {
        buf_putc(out, (char)(0xc0 | c >> 6));
        buf_putc(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        buf_putc(out, (char)(0xe0 | c >> 12));
        buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_putc(out, (char)(0x80 | (c & 0x3f)));
    } else {
        buf_putc(out, (char)(0xf0 | c >> 18));
        buf_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
        buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_putc(out, (char)(0x80 | (c & 0x3f)));
    }
}

unsigned decode_char(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    unsigned c = *p++;
    int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;

    c &= more == 3 ? 0x07u : more == 2 ? 0x0fu : more == 1 ? 0x1fu : 0x7fu;
    while (more-- > 0)
        c = c << 6 | (*p++ & 0x3fu);
    *text = (const char *)p;
    return c;
}

char *decode_lower(const char *text)
{
    char *lower = g_utf8_strdown(text, -1);
    char *ret = str_dup(lower);

    g_free(lower);
    return ret;
}

/* ---------------------------------------------------------------- charsets */

/* Valid UTF-8: line ends made LF, NULs made U+FFFD. */
static void put_utf8(const char *text, size_t n, struct buf *out)
{
    for (size_t at = 0, run; at < n; at++) {
        for (run = at; run < n && text[run] != '\r' && text[run] != '\0'; run++)
            ;
        buf_add(out, text + at, run - at);
        at = run;
        if (at == n)
            break;
        if (text[at] == '\0')
            decode_put(out, 0xfffd);
        else if (at + 1 == n || text[at + 1] != '\n')
            buf_putc(out, '\n');
    }
}

static void put_windows_1252(const char *text, size_t n, struct buf *out)
{
    static const unsigned short high[32] = {
        0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
        0x2039, 0x0152, 0xfffd, 0x017d, 0xfffd, 0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
        0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0xfffd, 0x017e, 0x0178};
    struct buf wide = buf_make(3 * n + 4);

    for (size_t at = 0; at < n; at++) {
        unsigned char c = (unsigned char)text[at];

        decode_put(&wide, c >= 0x80 && c < 0xa0 ? high[c - 0x80] : c);
    }
    put_utf8(wide.data, wide.len, out);
    buf_release(&wide);
}

/* "utf-8'", "\"ISO-8859-1\"": the name without what is no part of a name. */
static void charset_name(const char *charset, char ret[64])
{
    size_t n = 0;

    for (const char *p = charset; *p != '\0' && n < 63; p++)
        if (g_ascii_isalnum(*p) || *p == '-' || *p == '_' || *p == '.' || *p == ':')
            ret[n++] = *p;
    ret[n] = '\0';
}

/* Charsets whose bytes look like ASCII or like nothing: their label must be believed.  Not so
 * UTF-7: no mail program writes it any more, and it can hide a word from whoever looks at it. */
static bool charset_is_shifty(const char *name, const char *text, size_t n)
{
    /* These shift in seven bits: eight belie them. */
    if (strncasecmp(name, "iso-2022", 8) == 0 || strncasecmp(name, "hz", 2) == 0)
        return bytes_are_ascii(text, n);
    return strncasecmp(name, "utf-16", 6) == 0 || strncasecmp(name, "utf-32", 6) == 0 ||
           strncasecmp(name, "ucs-", 4) == 0;
}

/* Charsets of several bytes a character: what decodes cleanly in one is hardly anything else, while
 * short words in them may well be valid UTF-8 by chance (two Chinese characters, say). */
static bool charset_is_multibyte(const char *name)
{
    static const char *const beginnings[] = {"gb",       "x-gbk", "cp936", "big5",   "shift",
                                             "sjis",     "x-sjis", "cp932", "euc-",  "x-euc",
                                             "ks_c_560", "ksc",    "cp949", "windows-31j",
                                             "windows-949", "uhc"};

    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncasecmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* By the system's converter; bytes that mean nothing become U+FFFD, or, is_strict, are refused.
 * False: no such charset, or refused. */
static bool put_converted(const char *text, size_t n, const char *name, bool is_strict,
                          struct buf *out)
{
    iconv_t cd = g_mime_iconv_open("UTF-8", name);
    struct buf utf8 = buf_make(4 * n + 64);
    char chunk[4096];
    gchar *in = (gchar *)(uintptr_t)text;
    gsize left = n;
    size_t bad = 0;

    if (cd == (iconv_t)-1) {
        buf_release(&utf8);
        return false;
    }
    while (left > 0) {
        gchar *to = chunk;
        gsize room = sizeof chunk;
        gsize rc = g_iconv((GIConv)cd, &in, &left, &to, &room);

        buf_add(&utf8, chunk, sizeof chunk - room);
        if (rc != (gsize)-1)
            break;
        if (errno == E2BIG)
            continue;
        if (is_strict) {
            (void)g_mime_iconv_close(cd);
            buf_release(&utf8);
            return false;
        }
        if (left == 0)
            break;
        if (++bad > BAD_MAX) {
            buf_clear(&utf8); /* it is something else altogether */
            put_windows_1252(text, n, out);
            goto out;
        }
        in++; /* step over the byte that fits nothing */
        left--;
        decode_put(&utf8, 0xfffd);
    }
    if (utf8_is_valid(utf8.data, utf8.len))
        put_utf8(utf8.data, utf8.len, out);
    else
        put_windows_1252(text, n, out);
out:
    (void)g_mime_iconv_close(cd);
    buf_release(&utf8);
    return true;
}

/* The same by whichever of its names the converter knows: as GMime writes it, and without "x-".
 * (GMime makes "cp31j" of windows-31j.) */
static bool put_named(const char *text, size_t n, const char *name, bool is_strict,
                      struct buf *out)
{
    bool is_private = strncasecmp(name, "x-", 2) == 0;
    const char *gmimes = g_mime_charset_iconv_name(str_case_eq(name, "windows-31j") ? "cp932"
                                                                                    : name);

    return (gmimes && put_converted(text, n, gmimes, is_strict, out)) ||
           (is_private && put_converted(text, n, name + 2, is_strict, out));
}

void decode_charset(const char *text, size_t n, const char *charset, struct buf *out)
{
    char name[64];
    const char *label;

    charset_name(charset ? charset : "", name);
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 && utf8_is_valid(text, n)) {
        put_utf8(text + 3, n - 3, out);
        return;
    }
    if (n >= 4 && memcmp(text, "\xff\xfe\0\0", 4) == 0) {
        if (put_converted(text + 4, n - 4, "UTF-32LE", false, out))
            return;
    } else if (n >= 2 && memcmp(text, "\xff\xfe", 2) == 0) {
        if (put_converted(text + 2, n - 2, "UTF-16LE", false, out))
            return;
    } else if (n >= 2 && memcmp(text, "\xfe\xff", 2) == 0) {
        if (put_converted(text + 2, n - 2, "UTF-16BE", false, out))
            return;
    }
    label = str_case_eq(name, "utf-16") ? "UTF-16BE" : name; /* RFC 2781 4.3 */
    if (charset_is_shifty(name, text, n) && put_converted(text, n, label, false, out))
        return;
    if (charset_is_multibyte(name) && !bytes_are_ascii(text, n) &&
        put_named(text, n, name, true, out))
        return;
    if (utf8_is_valid(text, n)) {
        put_utf8(text, n, out);
        return;
    }
    if (name[0] == '\0' || strncasecmp(name, "unicode-1-1", 11) == 0 ||
        strncasecmp(name, "iso-8859-1", 11) == 0 ||
        str_case_eq(name, "latin1") || str_case_eq(name, "us-ascii") ||
        str_case_eq(name, "ascii") || strncasecmp(name, "utf", 3) == 0 ||
        !put_named(text, n, name, false, out))
        put_windows_1252(text, n, out);
}

/* ---------------------------------------------------------------- header values */

/* Valid UTF-8, controls to blanks, no blanks at the ends, not over max. */
static char *header_text(const char *value, size_t max, bool *ret_had_controls)
{
    struct buf utf8 = buf_make(4 * strlen(value) + 16);
    char *copy = NULL, *ret = NULL;
    size_t n = 0;
    bool had = false;

    decode_charset(value, strlen(value), NULL, &utf8);
    if (buf_failed(&utf8) || (copy = malloc(utf8.len + 1)) == NULL)
        goto out;
    for (const char *p = utf8.data; *p != '\0';) {
        const char *from = p;
        unsigned c = decode_char(&p);
        bool is_control = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;

        had = had || (is_control && c != '\t');
        if (is_control ? n == 0 || copy[n - 1] == ' ' : c == ' ' && n == 0)
            continue;
        if (n + (size_t)(p - from) > max)
            break;
        if (is_control) {
            copy[n++] = ' ';
        } else {
            memcpy(copy + n, from, (size_t)(p - from));
            n += (size_t)(p - from);
        }
    }
    while (n > 0 && copy[n - 1] == ' ')
        n--;
    copy[n] = '\0';
    ret = copy;
    copy = NULL;
    if (ret_had_controls)
        *ret_had_controls = had;
out:
    free(copy);
    buf_release(&utf8);
    return ret;
}

char *decode_header(const char *value, size_t max, bool *ret_had_controls)
{
    char *decoded = g_mime_utils_header_decode_text(g_mime_parser_options_get_default(), value);
    char *ret = header_text(decoded ? decoded : "", max, ret_had_controls);

    g_free(decoded);
    return ret;
}

/* mail/reply.c - see reply.h. */
#include "mail/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "mail/decode.h"
#include "mail/reply_line.h"
#include "mail/reply_words.h"
#include "mail/scan.h"

enum {
    INTRODUCTION_LINES = 4, /* an attribution is wrapped over so many at most */
    LINE_BYTES = 4096,      /* of a line are looked at */
    WRAP_WIDTH = 60,        /* a line this long may have been wrapped into the next */
    PARAGRAPH_MAX = 60,     /* lines of a paragraph that are looked at */
    NOTICE_LINES = 40,      /* below so many of text, it is prose that a notice stands in */
    HINT_WIDTH = 30         /* a line of Outlook's hint at a first letter is this long */
};

struct line {
    size_t raw, raw_n; /* in the text */
    size_t text, latin, low; /* offsets in strings; latin 0: none */
    unsigned signs;          /* line_signs() */
    bool has_label;          /* "Label: value" … */
    unsigned role;           /* … of this role … */
    unsigned value_signs;    /* … and this value */
    enum reply_kind kind;
};

/* Beginnings of lines that the caller gave, normalised and in lower case. */
struct phrases {
    char **texts;
    size_t count;
};

struct split {
    const char *text;
    struct phrases markers, banners;
    const struct reply_options *options;
    struct line *lines;
    size_t count;
    struct buf strings;
};

const char *reply_kind_str(enum reply_kind kind)
{
    static const char *const words[REPLY_KINDS] = {"top",       "between", "quote",
                                                   "signature", "banner",  "attribution"};

    return words[kind];
}

void reply_release(struct reply *reply)
{
    if (reply == NULL)
        return;
    free(reply->lines);
    free(reply->memory);
    *reply = REPLY_INIT;
}

char *reply_normalise(const char *line, size_t n)
{
    struct buf valid = buf_make(n + 1);
    struct buf out = buf_make(40 * n + 64);
    char *ret = NULL;

    if (utf8_is_valid(line, n)) {
        line_normalise(line, n, &out);
    } else {
        for (size_t i = 0; i < n; i++)
            buf_putc(&valid, (unsigned char)line[i] < 0x80 ? line[i] : '?');
        line_normalise(valid.data, valid.len, &out);
    }
    if (!buf_failed(&valid) && !buf_failed(&out))
        ret = str_dup(out.data);
    buf_release(&valid);
    buf_release(&out);
    return ret;
}

/* ---------------------------------------------------------------- lines */

static const char *low(const struct split *s, size_t i)
{
    return s->strings.data + s->lines[i].low;
}

static bool is_blank(const struct split *s, size_t i)
{
    return *low(s, i) == '\0';
}

static bool is_quoted(const struct split *s, size_t i)
{
    return line_is_quoted(low(s, i));
}

/* The next line at or after i that is not blank; count when there is none. */
static size_t skip_blanks(const struct split *s, size_t i)
{
    while (i < s->count && is_blank(s, i))
        i++;
    return i;
}

static size_t put_string(struct split *s, const char *text)
{
    size_t at = s->strings.len;

    buf_add(&s->strings, text, strlen(text) + 1);
    return at;
}

/* What is asked of each line again and again. */
static void look_at(const struct split *s, struct line *line)
{
    const char *text = s->strings.data + line->low;
    char label[40];
    const char *value = line_label(text, label, sizeof label);

    line->signs = line_signs(text);
    line->has_label = value != NULL;
    if (value) {
        line->role = reply_words_role(label);
        line->value_signs = line_signs(value);
    }
}

/* The longest piece of a line that is matched.  No command is longer; the dots see to it that
 * what was cut off one leaves none. */
static size_t line_piece(const char *bytes, size_t n)
{
    if (n <= LINE_BYTES)
        return n;
    for (n = LINE_BYTES; n > 0 && ((unsigned char)bytes[n] & 0xc0) == 0x80;)
        n--;
    return n;
}

static void put_line(struct split *s, struct line *line, const char *bytes, size_t n,
                     struct buf *scratch)
{
    size_t piece = line_piece(bytes, n);
    bool is_ascii;

    buf_clear(scratch);
    line_normalise(bytes, piece, scratch);
    if (piece < n)
        buf_puts(scratch, "...");
    line->text = put_string(s, scratch->data);
    is_ascii = bytes_are_ascii(scratch->data, scratch->len);
    buf_clear(scratch);
    if (!is_ascii && line_latin(s->strings.data + line->text, scratch))
        line->latin = put_string(s, scratch->data);
    buf_clear(scratch);
    line_lower(s->strings.data + line->text, scratch);
    line->low = put_string(s, scratch->data);
    look_at(s, line);
}

static enum status split_lines(struct split *s, size_t n, struct err *err)
{
    struct buf scratch = buf_make(40 * n + 64);
    size_t count = 1, next;
    enum status st;

    for (size_t i = 0; i < n; i++)
        count += s->text[i] == '\n';
    s->lines = calloc(count, sizeof *s->lines);
    if (s->lines == NULL) {
        buf_release(&scratch);
        return err_set(err, ST_NOMEM, "no memory to read a letter");
    }
    buf_putc(&s->strings, '\0'); /* offset 0 is nobody's */
    for (size_t at = 0; at < n && s->count < REPLY_LINES_MAX; at += next) {
        struct line *line = &s->lines[s->count++];

        line->raw = at;
        line->raw_n = scan_line(s->text + at, n - at, false, &next);
        put_line(s, line, s->text + at, line->raw_n, &scratch);
    }
    st = buf_status(&s->strings, "letter", err);
    if (st == ST_OK)
        st = buf_status(&scratch, "letter", err);
    buf_release(&scratch);
    return st;
}

/* Whether it begins with one of the caller's own words. */
static bool is_own(const struct split *s, size_t i)
{
    for (size_t k = 0; s->options && k < s->options->own_word_count; k++) {
        const char *word = s->options->own_words[k];
        char next;

        if (!str_starts(low(s, i), word))
            continue;
        next = low(s, i)[strlen(word)];
        if (next == '\0' || next == ' ' || next == ':')
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------- zones */

/* Whether the k lines from i, joined, introduce a quote; none is blank or quoted. */
static bool is_introduction(const struct split *s, size_t i, size_t k)
{
    char joined[1200];
    size_t n = 0;

    if (k == 1)
        return s->lines[i].signs != 0 && line_is_introduction(low(s, i));
    for (size_t j = 0; j < k; j++) {
        size_t len = strlen(low(s, i + j));

        if (len == 0 || n + len + 2 > sizeof joined)
            return false;
        if (n > 0 && joined[n - 1] != '<')
            joined[n++] = ' ';
        memcpy(joined + n, low(s, i + j), len);
        n += len;
    }
    joined[n] = '\0';
    return line_is_introduction(joined);
}

/* Words that a name may end, ahead of "<address>" in the next line: two with a capital each, or a
 * longer line that begins with one; no numbers.  Scripts without capitals count as having them. */
static bool is_name(const char *text)
{
    size_t words = 0, capitals = 0;
    bool is_first = false;

    for (const char *p = text; *p != '\0'; words++) {
        bool is_capital = (*p >= 'A' && *p <= 'Z') || (unsigned char)*p >= 0x80;

        if (p[strcspn(p, "0123456789<>@:")] != '\0')
            return false;
        is_first = is_first || (words == 0 && is_capital);
        capitals += is_capital;
        p += strcspn(p, " ");
        p += *p == ' ';
    }
    return words >= 2 && (capitals == words || (is_first && line_length(text) >= 20));
}

/* Whether line i, which is blank neither nor quoted, stands right above a quote. */
static bool is_above_quote(const struct split *s, size_t i)
{
    size_t next = skip_blanks(s, i + 1);

    return next < s->count && is_quoted(s, next);
}

/* "… <anna@example.org", and then ">:" in a line of its own, which is no quote. */
static bool is_torn_bracket(const struct split *s, size_t i)
{
    const char *open = i > 0 ? strrchr(low(s, i - 1), '<') : NULL;
    size_t n = strlen(low(s, i));

    return open != NULL && strchr(open, '>') == NULL && *low(s, i) == '>' && n <= 40 &&
           low(s, i)[n - 1] == ':';
}

static bool ends_with_colon(const struct split *s, size_t i)
{
    const char *line = low(s, i);
    size_t n = strlen(line);

    while (n > 0 && strchr(" >*_\"'", line[n - 1]) != NULL)
        n--;
    return n > 0 && line[n - 1] == ':';
}

/* Lines of an attribution that begins at i; 0: none begins here.  Its first line must have
 * something of one by itself, so that the line above it, an answer perhaps, is not drawn in. */
static size_t introduction_at(const struct split *s, size_t i)
{
    const unsigned first = s->lines[i].signs;
    const unsigned facts = first & (SIGN_DATE | SIGN_TIME | SIGN_ADDRESS | SIGN_VERB);
    size_t found = is_introduction(s, i, 1) ? 1 : 0;

    if (is_blank(s, i) || is_quoted(s, i))
        return 0;
    if (found && ends_with_colon(s, i))
        return 1;
    if (first == 0 && !(i + 1 < s->count && *low(s, i + 1) == '<'))
        return found;
    for (size_t k = 2; k <= INTRODUCTION_LINES && i + k <= s->count; k++) {
        bool is_ours;

        if (is_blank(s, i + k - 1) ||
            (is_quoted(s, i + k - 1) && !is_torn_bracket(s, i + k - 1)))
            break;
        if (!is_introduction(s, i, k))
            continue;
        is_ours = facts != 0 || (first != 0 && !is_introduction(s, i + 1, k - 1)) ||
                  (*low(s, i + 1) == '<' &&
                   (first != 0 || is_name(s->strings.data + s->lines[i].text)));
        if (!is_ours)
            break;
        if (ends_with_colon(s, i + k - 1))
            return k;
        found = found ? found : k;
    }
    /* Two facts right above a quote, colon or not. */
    if (found == 0 && (facts & (facts - 1)) != 0 && !is_own(s, i) && is_above_quote(s, i))
        found = 1;
    return found;
}

/* Lines of a block of "From: …", "Sent: …" that begins at i; 0: none. */
static size_t header_block_at(const struct split *s, size_t i)
{
    unsigned roles = 0;
    size_t labels = 0, end = i, loose = 0;
    bool has_date = false, has_address = false;

    for (size_t j = i; j < s->count && j < i + 40; j++) {
        const struct line *line = &s->lines[j];
        bool has_label = line->has_label && !is_quoted(s, j);

        if (is_blank(s, j)) {
            if (labels == 0 || (j + 1 < s->count && is_blank(s, j + 1)))
                break;
            loose++;
            continue;
        }
        if (!has_label || (loose > 0 && line->role == 0)) {
            /* A value that goes on in the next line, but only between two labels. */
            if (labels == 0 || loose > 0 || j > end + 2)
                break;
            continue;
        }
        labels++;
        loose = 0;
        roles |= line->role;
        has_date = has_date || (line->value_signs & (SIGN_DATE | SIGN_TIME)) != 0;
        has_address = has_address || (line->value_signs & SIGN_ADDRESS) != 0;
        end = j + 1;
    }
    {
        size_t known = 0;

        for (unsigned bit = ROLE_FROM; bit <= ROLE_SUBJECT; bit <<= 1)
            known += (roles & bit) != 0;
        if (known >= 3 ||
            (known == 2 && (roles & (ROLE_FROM | ROLE_SENT)) && (has_date || has_address)) ||
            (labels >= 3 && has_date && has_address) ||
            (labels >= 3 && known >= 1 && (has_date || has_address)))
            return end - i;
    }
    return 0;
}

/* "From: Anna Sent: Tuesday To: Bert Subject: Re" all in one line. */
static bool is_one_line_block(const char *line)
{
    unsigned roles = 0;
    size_t known = 0;
    char label[40];

    if (line_label(line, label, sizeof label) == NULL || reply_words_role(label) == 0)
        return false;
    for (const char *colon = line; (colon = strchr(colon, ':')) != NULL; colon++) {
        const char *word = colon;
        size_t n;

        while (word > line && word[-1] == ' ')
            word--;
        n = 0;
        while (word > line && word[-1] != ' ')
            word--, n++;
        if (n == 0 || n >= sizeof label)
            continue;
        memcpy(label, word, n);
        label[n] = '\0';
        roles |= reply_words_role(label);
    }
    for (unsigned bit = ROLE_FROM; bit <= ROLE_SUBJECT; bit <<= 1)
        known += (roles & bit) != 0;
    return known >= 3;
}

static bool begins_with_any(const char *line, const struct phrases *list)
{
    const char *bare = line + strspn(line, "-#=*_~>[( ");

    for (size_t i = 0; i < list->count; i++) {
        const char *text = list->texts[i];

        if (*text != '\0' && (str_starts(line, text) || str_starts(bare, text) ||
                              str_starts(bare, text + strspn(text, "-#=*_~>[( "))))
            return true;
    }
    return false;
}

static bool is_marker(const struct split *s, size_t i)
{
    return !is_blank(s, i) && begins_with_any(low(s, i), &s->markers);
}

/* Lines of whatever begins at i and says "below is quoted"; 0: nothing.  Delimiters, blocks and
 * attributions may follow one another. */
static size_t zone_at(const struct split *s, size_t i)
{
    size_t end = i;

    if (is_own(s, i))
        return 0;
    while (end < s->count) {
        size_t at = end == i ? i : skip_blanks(s, end);
        size_t n = 0;

        if (at >= s->count)
            break;
        if (is_quoted(s, at) && !(at == i && line_is_delimiter(low(s, at))))
            break;
        if ((n = header_block_at(s, at)) == 0 && (n = introduction_at(s, at)) == 0) {
            if (line_is_delimiter(low(s, at)) || is_one_line_block(low(s, at)))
                n = 1;
            else if ((line_is_rule(low(s, at)) || line_is_dashed(low(s, at))) &&
                     at + 1 < s->count) {
                /* A rule belongs to the block below it, not to anything else; so do words between
                 * two dashes. */
                size_t after = skip_blanks(s, at + 1);

                n = after < s->count && header_block_at(s, after) > 0 ? after - at : 0;
            }
        }
        if (n == 0)
            break;
        end = at + n;
        if (end - i > 60)
            break;
    }
    return end - i;
}

/* ---------------------------------------------------------------- above: banners */

/* "*** … ***", "!! … !!": words between signs that part nothing. */
static bool is_decorated(const char *line)
{
    size_t n = strlen(line), front = strspn(line, "*!#=+"), back = 0;

    while (back < n && strchr("*!#=+", line[n - 1 - back]) != NULL)
        back++;
    return front >= 2 && back >= 2 && front + back + 3 < n && !line_is_delimiter(line + front);
}

/* Whatever language Outlook's hint at a first letter is in, it ends with this address.  A line too
 * short to have been wrapped is none of its. */
static bool begins_hint(const struct split *s, size_t i)
{
    for (size_t j = i; j < s->count && j < i + 4 && !is_blank(s, j); j++) {
        if (strstr(low(s, j), "aka.ms/learnabout") != NULL)
            return true;
        if (line_length(low(s, j)) < HINT_WIDTH)
            break;
    }
    return false;
}

/* By more than its first word, which a writer may have begun with too. */
static bool is_plainly_banner(const struct split *s, size_t i)
{
    const char *line = low(s, i);

    return line_is_bracketed(line) || is_decorated(line) || line_is_label(line) ||
           begins_with_any(line, &s->banners) || begins_hint(s, i) || line_is_notice(line) ||
           (strchr(line, ' ') == NULL && line_has_stem(line, reply_words_outside));
}

static bool begins_banner(const struct split *s, size_t i)
{
    return is_plainly_banner(s, i) || line_is_warning(low(s, i)) ||
           (!is_own(s, i) && line_has_stem(low(s, i), reply_words_outside));
}

static bool has_four_words(const char *line)
{
    size_t n = 1;

    for (; *line != '\0'; line++)
        n += *line == ' ';
    return n >= 4;
}

/* Whether the banner's line i goes on in the next: it looks full, and the next is no short line
 * after a finished sentence. */
static bool banner_goes_on(const struct split *s, size_t i)
{
    const char *line = low(s, i);
    size_t n = strlen(line);
    bool is_finished = n > 0 && strchr(".!]})*>", line[n - 1]) != NULL;
    const char *next;

    if (i + 1 >= s->count || is_blank(s, i + 1) || is_quoted(s, i + 1) || is_own(s, i + 1))
        return false;
    next = low(s, i + 1);
    for (size_t j = i + 1; j < s->count && j < i + 4 && !is_blank(s, j); j++)
        if (line_has_stem(low(s, j), reply_words_outside))
            return true; /* its point is yet to come */
    if (line_is_rule(next))
        return line_length(next) >= 4;
    if (line_is_bracketed(line))
        return false;
    if (line_length(next) > 40)
        return true; /* a heading above a sentence, or a sentence that goes on */
    /* The end of a wrapped sentence looks like one, or has more words than a command. */
    return line_length(line) >= WRAP_WIDTH - 10 && !is_finished &&
           (strchr(".!]})*>", next[strlen(next) - 1]) != NULL ||
            (has_four_words(next) && strpbrk(next, "0123456789=") == NULL));
}

/* A text right below the lines from i to end, which only begin as a banner does: "Attention:" and
 * what the writer has to say before his move. */
static bool is_warning_of_writer(const struct split *s, size_t i, size_t end)
{
    if (end + 1 >= s->count || is_blank(s, end + 1) || is_quoted(s, end + 1) ||
        is_plainly_banner(s, i))
        return false;
    for (; i <= end; i++)
        if (line_is_about_mail(low(s, i)))
            return false;
    return !line_is_rule(low(s, end + 1));
}

/* A sentence about mail below a banner, an empty line between: "Make sure that you trust the sender
 * before you act." */
static bool continues_banner(const struct split *s, size_t i)
{
    size_t above = i;

    while (above > 0 && is_blank(s, above - 1))
        above--;
    return above > 0 && s->lines[above - 1].kind == REPLY_BANNER &&
           !line_is_rule(low(s, above - 1)) && !is_own(s, i) && has_four_words(low(s, i)) &&
           line_is_about_mail(low(s, i)) && zone_at(s, i) == 0;
}

/* Lines of the banner that begins at i, before any text; 0: none. */
static size_t banner_at(const struct split *s, size_t i)
{
    size_t at = i, end;

    /* A rule above it; one above a header block is that block's. */
    if (line_is_rule(low(s, at)) && line_length(low(s, at)) >= 4)
        at = skip_blanks(s, at + 1);
    if (at >= s->count || (is_quoted(s, at) && *low(s, at) != '|'))
        return 0;
    if (!begins_banner(s, at) && !continues_banner(s, at))
        return at > i && zone_at(s, at) == 0 ? at - i : 0;
    end = at;
    while (end - at < PARAGRAPH_MAX && banner_goes_on(s, end))
        end++;
    return is_warning_of_writer(s, at, end) ? 0 : end + 1 - i;
}

/* ---------------------------------------------------------------- below: signatures */

/* The last line that is not blank before a quote, a zone or the end. */
static bool is_last_line(const struct split *s, size_t i)
{
    size_t next = skip_blanks(s, i + 1);

    return next >= s->count || is_quoted(s, next) || zone_at(s, next) > 0;
}

static bool is_legal_paragraph(const struct split *s, size_t i)
{
    size_t length = 0;
    bool is_legal = false;

    if (i > 0 && !is_blank(s, i - 1) && !line_is_rule(low(s, i - 1)))
        return false;
    for (size_t j = i; j < s->count && j < i + PARAGRAPH_MAX && !is_blank(s, j); j++) {
        length += line_length(low(s, j));
        is_legal = is_legal || line_is_legal(low(s, j));
    }
    return is_legal && length >= 20;
}

/* A notice that a mail system has put right below the text.  It may have a heading, and what makes
 * it one may have been wrapped into its second line. */
static bool begins_notice(const struct split *s, size_t i)
{
    const char *line = low(s, i), *next = i + 1 < s->count ? low(s, i + 1) : "";
    bool is_begun = line_is_warning(line) || line_is_bracketed(line) || is_decorated(line);
    char both[1200];

    if (line_is_notice(line) || line_is_label(line) || begins_hint(s, i))
        return true;
    if (!is_begun || line_is_quoted(next))
        return false;
    if (!has_four_words(line))
        return line_is_notice(next);
    (void)snprintf(both, sizeof both, "%s %s", line, next);
    return line_length(line) >= WRAP_WIDTH - 10 && line_is_notice(both);
}

/* Whether line i, below some text, begins what is no longer the answer. */
static bool begins_signature(const struct split *s, size_t i, size_t lines_above)
{
    const char *line = low(s, i);

    if (line_is_rule(line))
        return true;
    if (is_own(s, i))
        return false;
    if (line_is_mobile(line) || line_is_closing(line) || is_legal_paragraph(s, i) ||
        (lines_above <= NOTICE_LINES && begins_notice(s, i)))
        return true;
    return (i == 0 || is_blank(s, i - 1)) && is_last_line(s, i) && line_is_device(line);
}

/* ---------------------------------------------------------------- the walk */

enum mode {
    MODE_TOP,
    MODE_SIGNATURE, /* until a quote or a zone */
    MODE_BETWEEN,   /* a ">" quote has been seen */
    MODE_REST       /* nothing below is the answer */
};

struct walk {
    struct split *split;
    enum mode mode;
    bool has_text; /* since the last quote, or the beginning */
    size_t texts;  /* lines of it */
};

static void mark(struct split *s, size_t from, size_t n, enum reply_kind kind)
{
    for (size_t i = from; i < from + n; i++)
        s->lines[i].kind = kind;
}

/* A piece of a quoted line that somebody's program wrapped: full line above, quote below. */
static bool is_torn(const struct split *s, size_t i)
{
    size_t first_word = strcspn(low(s, i), " ");

    return i > 0 && i + 1 < s->count && !is_blank(s, i - 1) && is_quoted(s, i - 1) &&
           is_quoted(s, i + 1) && s->lines[i - 1].raw_n + 1 + first_word > 70;
}

/* A link right below a quoted line, which a program left without its mark: what is attached to it
 * was quoted, too (P08).  How many lines; 0: none. */
static size_t unmarked_at(const struct split *s, size_t i)
{
    const char *line = low(s, i);
    size_t n = 0;

    line += *line == '<';
    if (i == 0 || !is_quoted(s, i - 1) ||
        !(str_starts(line, "http://") || str_starts(line, "https://") || str_starts(line, "www.")))
        return 0;
    while (i + n < s->count && !is_blank(s, i + n) && !is_quoted(s, i + n))
        n++;
    return n;
}

/* The quote right above i ends with a block of header words: its text must follow, unmarked. */
static bool is_below_header_block(const struct split *s, size_t i)
{
    unsigned roles = 0;
    size_t known = 0;
    char label[40];

    while (i > 0 && is_blank(s, i - 1))
        i--;
    for (size_t k = 0; k < 6 && i > 0 && is_quoted(s, i - 1); k++, i--) {
        const char *line = low(s, i - 1);

        line += strspn(line, "> ");
        if (line_label(line, label, sizeof label) == NULL)
            break;
        roles |= reply_words_role(label);
    }
    for (unsigned bit = ROLE_FROM; bit <= ROLE_SUBJECT; bit <<= 1)
        known += (roles & bit) != 0;
    return known >= 3;
}

/* One line or one unit of lines; how many were taken. */
static size_t walk_zone(struct walk *w, size_t i, size_t n)
{
    struct split *s = w->split;
    size_t next = skip_blanks(s, i + n);
    bool is_prefixed = next < s->count && is_quoted(s, next) && !is_marker(s, i) &&
                       !str_starts(low(s, i), ">>>");

    mark(s, i, n, REPLY_ATTRIBUTION);
    w->mode = is_prefixed ? MODE_BETWEEN : MODE_REST;
    w->has_text = false;
    return n;
}

static size_t walk_text(struct walk *w, size_t i)
{
    struct split *s = w->split;
    enum reply_kind kind = w->mode == MODE_TOP ? REPLY_TOP : REPLY_BETWEEN;
    size_t n = w->mode == MODE_BETWEEN && !w->has_text ? unmarked_at(s, i) : 0;

    if (n > 0) {
        mark(s, i, n, REPLY_QUOTE);
        return n;
    }
    if (w->mode == MODE_BETWEEN && is_torn(s, i)) {
        mark(s, i, 1, REPLY_QUOTE);
        return 1;
    }
    if (w->mode == MODE_BETWEEN && !w->has_text && is_below_header_block(s, i)) {
        w->mode = MODE_REST;
        mark(s, i, 1, REPLY_QUOTE);
        return 1;
    }
    w->texts = w->has_text ? w->texts + 1 : 0;
    if (w->has_text && begins_signature(s, i, w->texts)) {
        w->mode = MODE_SIGNATURE;
        kind = REPLY_SIGNATURE;
    } else if (w->has_text && line_is_picture(low(s, i))) {
        kind = REPLY_SIGNATURE; /* a picture's place: only this line */
    } else if (!w->has_text && line_is_mobile(low(s, i)) && !is_own(s, i)) {
        kind = REPLY_SIGNATURE; /* alone above the text: only this line */
    } else if (!w->has_text && line_is_rule(low(s, i))) {
        /* "-- " above any text ends it; a long rule is decoration. */
        kind = line_length(low(s, i)) >= 4 ? REPLY_BANNER : REPLY_SIGNATURE;
        if (kind == REPLY_SIGNATURE)
            w->mode = MODE_SIGNATURE;
    } else {
        w->has_text = true;
    }
    mark(s, i, 1, kind);
    return 1;
}

static size_t walk_line(struct walk *w, size_t i)
{
    static const enum reply_kind kinds[] = {REPLY_TOP, REPLY_SIGNATURE, REPLY_BETWEEN, REPLY_QUOTE};
    struct split *s = w->split;
    size_t n;

    if (w->mode == MODE_REST || is_blank(s, i)) {
        mark(s, i, 1, kinds[w->mode]);
        return 1;
    }
    if (w->mode == MODE_TOP && !w->has_text && (n = banner_at(s, i)) > 0) {
        mark(s, i, n, REPLY_BANNER);
        return n;
    }
    if (is_marker(s, i) && !is_quoted(s, i))
        return walk_zone(w, i, 1);
    if ((n = zone_at(s, i)) > 0)
        return walk_zone(w, i, n);
    if (is_quoted(s, i)) {
        mark(s, i, 1, REPLY_QUOTE);
        w->mode = MODE_BETWEEN;
        w->has_text = false;
        return 1;
    }
    if (w->mode == MODE_SIGNATURE) {
        mark(s, i, 1, REPLY_SIGNATURE);
        return 1;
    }
    return walk_text(w, i);
}

/* ---------------------------------------------------------------- the result */

/* raw without controls and blanks at the end. */
static size_t put_raw(struct split *s, const struct line *line)
{
    size_t at = s->strings.len, n = line->raw_n;
    const char *raw = s->text + line->raw;

    while (n > 0 && (raw[n - 1] == ' ' || raw[n - 1] == '\t'))
        n--;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)raw[i] >= 0x20 && raw[i] != 0x7f)
            buf_putc(&s->strings, raw[i]);
        else if (raw[i] == '\t')
            buf_putc(&s->strings, ' ');
    buf_putc(&s->strings, '\0');
    return at;
}

static enum status give(struct split *s, struct reply *ret_reply, struct err *err)
{
    struct reply reply = REPLY_INIT;
    enum status st = ST_OK;

    for (size_t i = 0; i < s->count; i++)
        s->lines[i].raw = put_raw(s, &s->lines[i]);
    reply.lines = calloc(s->count ? s->count : 1, sizeof *reply.lines);
    if (reply.lines == NULL || buf_failed(&s->strings)) {
        st = err_set(err, ST_NOMEM, "no memory to read a letter");
        goto out;
    }
    reply.count = s->count;
    reply.memory = buf_take(&s->strings, NULL);
    if (reply.memory == NULL) {
        st = err_set(err, ST_NOMEM, "no memory to read a letter");
        goto out;
    }
    for (size_t i = 0; i < s->count; i++) {
        struct reply_line *line = &reply.lines[i];

        line->text = reply.memory + s->lines[i].text;
        line->raw = reply.memory + s->lines[i].raw;
        line->latin = s->lines[i].latin ? reply.memory + s->lines[i].latin : NULL;
        line->kind = s->lines[i].kind;
        reply.has_top = reply.has_top || (line->kind == REPLY_TOP && *line->text);
        reply.has_between = reply.has_between || (line->kind == REPLY_BETWEEN && *line->text);
    }
    *ret_reply = reply;
    reply = REPLY_INIT;
out:
    reply_release(&reply);
    return st;
}

static void phrases_release(struct phrases *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->texts[i]);
    free(p->texts);
}

static enum status phrases_make(const char *const *list, size_t count, struct phrases *ret,
                                struct err *err)
{
    if (count == 0)
        return ST_OK;
    ret->texts = calloc(count, sizeof *ret->texts);
    if (ret->texts == NULL)
        return err_set(err, ST_NOMEM, "no memory to read a letter");
    for (; ret->count < count; ret->count++) {
        char *text = reply_normalise(list[ret->count], strlen(list[ret->count]));

        ret->texts[ret->count] = text ? decode_lower(text) : NULL;
        free(text);
        if (ret->texts[ret->count] == NULL)
            return err_set(err, ST_NOMEM, "no memory to read a letter");
    }
    return ST_OK;
}

enum status reply_split(const char *text, const struct reply_options *options,
                        struct reply *ret_reply, struct err *err)
{
    size_t n = strlen(text);
    struct split s = {.text = text, .options = options};
    struct walk walk = {.split = &s};
    enum status st;

    if (n > REPLY_TEXT_MAX)
        return err_set(err, ST_TOO_LARGE, "the text is over %d bytes", REPLY_TEXT_MAX);
    if (!utf8_is_valid(text, n))
        return err_set(err, ST_INVALID, "the text is not UTF-8");
    s.strings = buf_make(40 * n + 1024);
    st = split_lines(&s, n, err);
    if (st == ST_OK && options)
        st = phrases_make(options->markers, options->marker_count, &s.markers, err);
    if (st == ST_OK && options)
        st = phrases_make(options->banners, options->banner_count, &s.banners, err);
    if (st != ST_OK)
        goto out;
    for (size_t i = 0; i < s.count;)
        i += walk_line(&walk, i);
    st = give(&s, ret_reply, err);
out:
    phrases_release(&s.markers);
    phrases_release(&s.banners);
    free(s.lines);
    buf_release(&s.strings);
    return st;
}

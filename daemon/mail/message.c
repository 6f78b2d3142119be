/* mail/message.c - see message.h. */
#include "mail/message.h"

#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gmime/gmime.h>

#include "base/str.h"

enum {
    LINE_MAX_WIRE = 998, /* RFC 5322 2.1.1, without the CRLF */
    LINE_MAX_QP = 76,    /* RFC 2045 6.7 */
    FOLD_AT = 76,
    ID_MAX = 200,
    DOMAIN_MAX = 253,
    BASE64_LINE = 57 /* bytes in, 76 characters out */
};

void mail_library_init(void)
{
    g_mime_init();
}

/* ---------------------------------------------------------------- forms of header fields */

static bool char_is_alnum(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool char_is_atext(unsigned char c)
{
    return char_is_alnum(c) || (c != '\0' && strchr("!#$%&'*+/=?^_`{|}~-", c) != NULL);
}

/* Dot-atom: atoms of atext parted by single dots. */
static bool local_is_ok(const char *text, size_t n)
{
    bool after_dot = true;

    if (n == 0 || n > MAIL_LOCAL_MAX)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '.') {
            if (after_dot)
                return false;
            after_dot = true;
        } else {
            if (!char_is_atext((unsigned char)text[i]))
                return false;
            after_dot = false;
        }
    }
    return !after_dot;
}

/* Labels of letters, digits and inner hyphens, at most 63 long, parted by single dots. */
static bool domain_is_ok(const char *text, size_t n)
{
    size_t label = 0;

    if (n == 0 || n > DOMAIN_MAX)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '.') {
            if (label == 0 || text[i - 1] == '-')
                return false;
            label = 0;
        } else {
            if (!char_is_alnum(c) && !(c == '-' && label > 0))
                return false;
            if (++label > 63)
                return false;
        }
    }
    return label > 0 && text[n - 1] != '-';
}

bool mail_address_is_ok(const char *text)
{
    const char *at = text ? strrchr(text, '@') : NULL;

    if (at == NULL || strlen(text) > MAIL_ADDRESS_MAX)
        return false;
    return local_is_ok(text, (size_t)(at - text)) && domain_is_ok(at + 1, strlen(at + 1));
}

/* Whether text may stand in a header: UTF-8, no byte below 0x20, no 0x7f. */
static bool mail_header_text_is_ok(const char *text)
{
    if (text == NULL)
        return false;
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++)
        if (*p < 0x20 || *p == 0x7f)
            return false;
    return utf8_is_valid(text, strlen(text));
}

bool mail_id_is_ok(const char *text)
{
    const char *at = text ? strchr(text, '@') : NULL;
    bool after_dot = true;

    if (at == NULL || at == text || strlen(text) > ID_MAX)
        return false;
    for (const char *p = text; p < at; p++) { /* a local part without the length limit */
        if (*p == '.' ? after_dot : !char_is_atext((unsigned char)*p))
            return false;
        after_dot = *p == '.';
    }
    return !after_dot && domain_is_ok(at + 1, strlen(at + 1));
}

/* Printable ASCII without blanks: what X-Game and the like may hold. */
static bool token_is_ok(const char *text)
{
    size_t n = strlen(text);

    if (n == 0 || n > ID_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] <= 0x20 || (unsigned char)text[i] >= 0x7f)
            return false;
    return true;
}

/* An absolute https URI that may stand between angle brackets; http only to this machine. */
static bool unsubscribe_url_is_ok(const char *text)
{
    bool is_local = str_starts(text, "http://127.0.0.1") || str_starts(text, "http://localhost") ||
                    str_starts(text, "http://[::1]");

    if (!str_starts(text, "https://") && !is_local)
        return false;
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++)
        if (*p <= 0x20 || *p >= 0x7f || *p == '<' || *p == '>' || *p == '"' || *p == ',')
            return false;
    return true;
}

/* ---------------------------------------------------------------- header lines */

/* "Name: value" folded at blanks into lines of about FOLD_AT characters.  The value is ASCII. */
static void header_folded(struct buf *out, const char *name, const char *value)
{
    size_t column = strlen(name) + 1;
    const char *p = value;

    buf_printf(out, "%s:", name);
    while (*p != '\0') {
        size_t blanks = strspn(p, " ");
        size_t word = strcspn(p + blanks, " ");

        if (p == value) {
            buf_putc(out, ' ');
            column++;
        } else if (column + blanks + word > FOLD_AT && blanks > 0 && word > 0) {
            buf_puts(out, "\r\n");
            column = 0;
        }
        buf_add(out, p, blanks + word);
        column += blanks + word;
        p += blanks + word;
    }
    buf_puts(out, "\r\n");
}

/* Whether text may stand as it is: ASCII, and nothing in it that a reader would decode. */
static bool is_plain(const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++)
        if (*p >= 0x80)
            return false;
    return strstr(text, "=?") == NULL;
}

enum { WORD_B = 45, WORD_Q = 63, FIRST_B = 36, FIRST_Q = 48 };

/* What an octet takes in the Q encoding of a phrase (RFC 2047 5.3). */
static bool q_is_plain(unsigned char c)
{
    return char_is_alnum(c) || c == '!' || c == '*' || c == '+' || c == '-' || c == '/';
}

static size_t q_length(const char *text, size_t n)
{
    size_t length = 0;

    for (size_t i = 0; i < n; i++)
        length += q_is_plain((unsigned char)text[i]) || text[i] == ' ' ? 1 : 3;
    return length;
}

/*
 * How many of the n bytes at text make the next encoded word, and in which encoding.  It ends
 * beside a blank where it can, else between two characters.  In base64 it is a multiple of three
 * bytes but for the last, since some readers (GMime 3.2.13 among them) lose what follows a padded
 * word.  The first is shorter: it stands beside the field's name.
 */
static size_t encoded_word_take(const char *text, size_t n, bool is_first, bool *ret_q)
{
    size_t max_b = is_first ? FIRST_B : WORD_B, max_q = is_first ? FIRST_Q : WORD_Q;
    size_t any = 0;

    *ret_q = false;
    if (n <= max_b)
        return n;
    for (size_t take = n < max_q ? n : max_q; take > 0; take--) {
        if (take < n && text[take] != ' ' && text[take - 1] != ' ')
            continue;
        if (take <= max_b && take % 3 == 0)
            return take;
        if (q_length(text, take) <= max_q) {
            *ret_q = true;
            return take;
        }
    }
    for (size_t take = max_b; take > 0; take--) { /* a word too long for one */
        if (((unsigned char)text[take] & 0xc0) == 0x80)
            continue;
        if (take % 3 == 0)
            return take;
        any = any ? any : take;
    }
    return any;
}

static void encoded_word_put(struct buf *out, const char *text, size_t n, bool is_q)
{
    if (!is_q) {
        gchar *coded = g_base64_encode((const guchar *)text, n);

        buf_printf(out, "=?UTF-8?B?%s?=", coded);
        g_free(coded);
        return;
    }
    buf_puts(out, "=?UTF-8?Q?");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == ' ')
            buf_putc(out, '_');
        else if (q_is_plain(c))
            buf_putc(out, (char)c);
        else
            buf_printf(out, "=%02X", c);
    }
    buf_puts(out, "?=");
}

/* RFC 2047: encoded words, from the first word that needs it to the end, or the whole. */
static void encode_words(struct buf *out, const char *text, bool is_whole)
{
    size_t n = strlen(text), from = 0;
    const char *sep = "";

    for (size_t word; from < n && !is_whole; from += word + 1) { /* plain words at the start stay */
        char one[MAIL_HEADER_TEXT_MAX + 1];

        word = strcspn(text + from, " ");
        memcpy(one, text + from, word);
        one[word] = '\0';
        if (!is_plain(one))
            break;
    }
    if (from > n)
        from = n;
    buf_add(out, text, from);
    while (from < n) {
        bool is_q = false;
        size_t take = encoded_word_take(text + from, n - from, sep[0] == '\0', &is_q);

        buf_puts(out, sep);
        encoded_word_put(out, text + from, take, is_q);
        from += take;
        sep = " ";
    }
}

/* Whether a name needs no quotation marks: atoms, with single blanks between. */
static bool phrase_is_bare(const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (!char_is_atext((unsigned char)*c) &&
            !(*c == ' ' && c != text && c[-1] != ' ' && c[1] != '\0'))
            return false;
    return true;
}

/* A display name: bare, quoted, or as encoded words.  (GMime leaves a name bare whose only special
 * characters are quotation marks and backslashes.) */
static void encode_phrase(struct buf *out, const char *text)
{
    if (!is_plain(text)) {
        encode_words(out, text, true);
    } else if (phrase_is_bare(text)) {
        buf_puts(out, text);
    } else {
        buf_putc(out, '"');
        for (const char *c = text; *c != '\0'; c++) {
            if (*c == '"' || *c == '\\')
                buf_putc(out, '\\');
            buf_putc(out, *c);
        }
        buf_putc(out, '"');
    }
}

static bool header_field_is_ok(const char *text)
{
    return mail_header_text_is_ok(text) && strlen(text) <= MAIL_HEADER_TEXT_MAX;
}

static enum status header_text(struct buf *out, const char *name, const char *text,
                               struct err *err)
{
    struct buf value = buf_make(8 * MAIL_HEADER_TEXT_MAX);
    enum status st;

    if (!header_field_is_ok(text)) {
        st = err_set(err, ST_INVALID,
                     "letter: %s must be UTF-8 without control characters, at most %d bytes", name,
                     MAIL_HEADER_TEXT_MAX);
        goto out;
    }
    encode_words(&value, text, false);
    st = buf_status(&value, "a header line", err);
    if (st == ST_OK)
        header_folded(out, name, value.data);
out:
    buf_release(&value);
    return st;
}

static enum status header_address(struct buf *out, const char *name,
                                  const struct mail_address *address, struct err *err)
{
    struct buf value = buf_make(8 * MAIL_HEADER_TEXT_MAX);
    enum status st;

    if (!mail_address_is_ok(address->address)) {
        st = err_set(err, ST_INVALID, "letter: %s must be one plain address", name);
        goto out;
    }
    if (address->name != NULL && address->name[0] != '\0') {
        if (!header_field_is_ok(address->name)) {
            st = err_set(err, ST_INVALID,
                         "letter: the name in %s must be UTF-8 without control characters, at "
                         "most %d bytes",
                         name, MAIL_HEADER_TEXT_MAX);
            goto out;
        }
        encode_phrase(&value, address->name);
        buf_putc(&value, ' ');
    }
    buf_printf(&value, "<%s>", address->address);
    st = buf_status(&value, "an address line", err);
    if (st == ST_OK)
        header_folded(out, name, value.data);
out:
    buf_release(&value);
    return st;
}

static enum status header_id(struct buf *out, const char *name, const char *id, struct err *err)
{
    if (!mail_id_is_ok(id))
        return err_set(err, ST_INVALID, "letter: %s is not a message id", name);
    buf_printf(out, "%s: <%s>\r\n", name, id);
    return ST_OK;
}

static enum status header_references(struct buf *out, const struct mail_message *m,
                                     struct err *err)
{
    if (m->references_count > MAIL_REFERENCES_MAX)
        return err_set(err, ST_INVALID, "letter: more than %d references", MAIL_REFERENCES_MAX);
    for (size_t i = 0; i < m->references_count; i++) {
        if (!mail_id_is_ok(m->references[i]))
            return err_set(err, ST_INVALID, "letter: reference %zu is not a message id", i + 1);
        buf_printf(out, "%s <%s>\r\n", i == 0 ? "References:" : "", m->references[i]);
    }
    return ST_OK;
}

static void header_date(struct buf *out, utc_ms at)
{
    static const char day[7][4] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    static const char month[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct civil c = civil_from_ms(at);

    buf_printf(out, "Date: %s, %d %s %04d %02d:%02d:%02d +0000\r\n", day[c.weekday], c.day,
               month[c.month - 1], c.year, c.hour, c.minute, c.second);
}

/* RFC 8058: one line, never folded or encoded. */
static enum status header_unsubscribe(struct buf *out, const struct mail_message *m,
                                      struct err *err)
{
    size_t start = out->len;

    if (m->unsubscribe_url == NULL)
        return ST_OK;
    if (!unsubscribe_url_is_ok(m->unsubscribe_url))
        return err_set(err, ST_INVALID, "letter: the unsubscribe link must be an https URI");
    if (m->unsubscribe_mailto != NULL && !mail_address_is_ok(m->unsubscribe_mailto))
        return err_set(err, ST_INVALID, "letter: the unsubscribe address is not an address");
    buf_printf(out, "List-Unsubscribe: <%s>", m->unsubscribe_url);
    if (m->unsubscribe_mailto != NULL)
        buf_printf(out, ", <mailto:%s?subject=unsubscribe>", m->unsubscribe_mailto);
    if (out->len - start > LINE_MAX_WIRE)
        return err_set(err, ST_INVALID, "letter: the unsubscribe line is over %d characters",
                       LINE_MAX_WIRE);
    buf_puts(out, "\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n");
    return ST_OK;
}

static enum status header_list(struct buf *out, const struct mail_message *m, struct err *err)
{
    if (m->list_id == NULL)
        return ST_OK;
    if (!domain_is_ok(m->list_id, strlen(m->list_id)))
        return err_set(err, ST_INVALID, "letter: the list id must look like a domain name");
    if (m->list_name != NULL && !header_field_is_ok(m->list_name))
        return err_set(err, ST_INVALID, "letter: the list name cannot stand in a header");
    buf_puts(out, "List-Id: ");
    if (m->list_name != NULL) {
        encode_phrase(out, m->list_name);
        buf_putc(out, ' ');
    }
    buf_printf(out, "<%s>\r\n", m->list_id);
    return ST_OK;
}

static enum status header_token(struct buf *out, const char *name, const char *value,
                                struct err *err)
{
    if (value == NULL)
        return ST_OK;
    if (!token_is_ok(value))
        return err_set(err, ST_INVALID, "letter: %s must be printable ASCII without blanks", name);
    buf_printf(out, "%s: %s\r\n", name, value);
    return ST_OK;
}

/* ---------------------------------------------------------------- bodies */

static void qp_hex(struct buf *out, unsigned char c)
{
    buf_printf(out, "=%02X", c);
}

/* How many bytes the character at p has, at most left. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
    size_t n = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;

    return n < left ? n : left;
}

/*
 * RFC 2045 quoted-printable of one line without its end.  A dot and an "F" of "From " at the
 * start are written as =2E and =46, so that nothing on the way finds reason to change them; a
 * character of several bytes is kept on one line.
 */
static void qp_line(struct buf *out, const unsigned char *line, size_t n)
{
    size_t column = 0;

    for (size_t i = 0; i < n;) {
        size_t bytes = utf8_length(line + i, n - i);
        unsigned char c = line[i];
        bool is_last = i + bytes == n;
        bool as_is = bytes == 1 && c >= 0x20 && c < 0x7f && c != '=';

        if (as_is && ((c == ' ' && is_last) || (c == '.' && column == 0) ||
                         (c == 'F' && column == 0 && n - i >= 5 &&
                          memcmp(line + i, "From ", 5) == 0)))
            as_is = false;
        if (column + (as_is ? 1 : 3 * bytes) > (size_t)LINE_MAX_QP - (is_last ? 0 : 1)) {
            buf_puts(out, "=\r\n");
            column = 0;
            continue; /* look again: the character is now at the start of a line */
        }
        if (as_is) {
            buf_putc(out, (char)c);
            column++;
        } else {
            for (size_t k = 0; k < bytes; k++)
                qp_hex(out, line[i + k]);
            column += 3 * bytes;
        }
        i += bytes;
    }
}

static void qp_text(struct buf *out, const char *text)
{
    const char *p = text;

    while (*p != '\0') {
        size_t n = strcspn(p, "\n");
        size_t keep = n > 0 && p[n - 1] == '\r' ? n - 1 : n;

        qp_line(out, (const unsigned char *)p, keep);
        buf_puts(out, "\r\n");
        p += n;
        if (*p == '\n')
            p++;
    }
}

static void base64_bytes(struct buf *out, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i += BASE64_LINE) {
        size_t take = n - i < BASE64_LINE ? n - i : BASE64_LINE;
        gchar *line = g_base64_encode((const guchar *)bytes + i, take);

        buf_puts(out, line);
        buf_puts(out, "\r\n");
        g_free(line);
    }
}

/* The same for the same message id, and unlike for others.  "=_" cannot occur in quoted-printable
 * or base64 text, so no boundary can occur in a body. */
static uint64_t boundary_of(const char *id)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (const unsigned char *p = (const unsigned char *)id; *p != '\0'; p++)
        h = (h ^ *p) * UINT64_C(0x100000001b3);
    return h;
}

static void part_text(struct buf *out, const char *kind, const char *text)
{
    buf_printf(out,
               "Content-Type: text/%s; charset=utf-8\r\n"
               "Content-Transfer-Encoding: quoted-printable\r\n\r\n",
               kind);
    qp_text(out, text);
}

static void part_related(struct buf *out, const struct mail_message *m, uint64_t mark)
{
    buf_printf(out,
               "Content-Type: multipart/related; type=\"text/html\";\r\n"
               " boundary=\"=_rel_%016" PRIx64 "\"\r\n\r\n--=_rel_%016" PRIx64 "\r\n",
               mark, mark);
    part_text(out, "html", m->html);
    buf_printf(out,
               "--=_rel_%016" PRIx64 "\r\n"
               "Content-Type: image/png; name=\"board.png\"\r\n"
               "Content-Transfer-Encoding: base64\r\n"
               "Content-ID: <%s>\r\n"
               "Content-Disposition: inline; filename=\"board.png\"\r\n\r\n",
               mark, m->png_cid);
    base64_bytes(out, m->png, m->png_size);
    buf_printf(out, "--=_rel_%016" PRIx64 "--\r\n", mark);
}

static void body(struct buf *out, const struct mail_message *m)
{
    uint64_t mark = boundary_of(m->message_id);

    if (m->html == NULL) {
        part_text(out, "plain", m->text);
        return;
    }
    buf_printf(out,
               "Content-Type: multipart/alternative;\r\n boundary=\"=_alt_%016" PRIx64
               "\"\r\n\r\n--=_alt_%016" PRIx64 "\r\n",
               mark, mark);
    part_text(out, "plain", m->text);
    buf_printf(out, "--=_alt_%016" PRIx64 "\r\n", mark);
    if (m->png != NULL)
        part_related(out, m, mark);
    else
        part_text(out, "html", m->html);
    buf_printf(out, "--=_alt_%016" PRIx64 "--\r\n", mark);
}

static enum status body_check(const struct mail_message *m, struct err *err)
{
    if (m->text == NULL || !utf8_is_valid(m->text, strlen(m->text)))
        return err_set(err, ST_INVALID, "letter: the text part must be UTF-8");
    if (m->html != NULL && !utf8_is_valid(m->html, strlen(m->html)))
        return err_set(err, ST_INVALID, "letter: the HTML part must be UTF-8");
    if (m->png != NULL && (m->html == NULL || !mail_id_is_ok(m->png_cid)))
        return err_set(err, ST_INVALID, "letter: a picture needs an HTML part and a content id");
    return ST_OK;
}

enum status mail_compose(const struct mail_message *m, struct buf *out, struct err *err)
{
    struct buf letter = buf_make(MAIL_MESSAGE_MAX);
    enum status st;

    assert(m->subject != NULL && m->message_id != NULL);
    TRY_OUT(body_check(m, err));
    TRY_OUT(header_address(&letter, "From", &m->from, err));
    if (m->reply_to.address != NULL)
        TRY_OUT(header_address(&letter, "Reply-To", &m->reply_to, err));
    TRY_OUT(header_address(&letter, "To", &m->to, err));
    TRY_OUT(header_text(&letter, "Subject", m->subject, err));
    header_date(&letter, m->date);
    TRY_OUT(header_id(&letter, "Message-ID", m->message_id, err));
    if (m->in_reply_to != NULL)
        TRY_OUT(header_id(&letter, "In-Reply-To", m->in_reply_to, err));
    TRY_OUT(header_references(&letter, m, err));
    buf_puts(&letter, "MIME-Version: 1.0\r\n");
    buf_printf(&letter, "Auto-Submitted: %s\r\n",
               m->auto_submitted == MAIL_AUTO_REPLIED ? "auto-replied" : "auto-generated");
    buf_puts(&letter, "X-Auto-Response-Suppress: All\r\n");
    TRY_OUT(header_list(&letter, m, err));
    TRY_OUT(header_unsubscribe(&letter, m, err));
    TRY_OUT(header_token(&letter, "Feedback-ID", m->feedback_id, err));
    TRY_OUT(header_token(&letter, "X-Game", m->game, err));
    TRY_OUT(header_token(&letter, "X-Loop-Id", m->loop_id, err));
    body(&letter, m);
    TRY_OUT(buf_status(&letter, "a letter", err));
    buf_add(out, letter.data, letter.len);
    st = buf_status(out, "a letter", err);
out:
    buf_release(&letter);
    return st;
}

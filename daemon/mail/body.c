/* mail/body.c - see body.h. */
#include "mail/body.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <gmime/gmime.h>

#include "base/str.h"
#include "mail/cms.h"
#include "mail/decode.h"
#include "mail/flowed.h"
#include "mail/html_text.h"
#include "mail/message.h"
#include "mail/scan.h"

/* What one part, or all within it, has to say. */
struct texts {
    struct buf plain, html;
};

struct walk {
    const struct letter_limits *limits;
    struct body *body;
    size_t parts;
    bool is_bare;       /* looking again: take parts with a name, too, and texts of any kind */
    enum status st;
    struct err *err;
};

/* Whether nothing but blanks, invisible characters and signs of no meaning stands in text. */
static bool body_is_blank(const char *text)
{
    for (const char *p = text; *p != '\0';) {
        unsigned c = decode_char(&p);

        if (c > 0x20 && c != 0xa0 && c != 0xad && c != 0xfeff && !(c >= 0x2000 && c <= 0x200f) &&
            !(c >= 0x2028 && c <= 0x202f) && !(c >= 0x205f && c <= 0x206f) && c != 0x3000 &&
            c != 0xfffd)
            return false;
    }
    return true;
}

static struct texts texts_make(size_t limit)
{
    return (struct texts){.plain = buf_make(limit), .html = buf_make(limit)};
}

static void texts_release(struct texts *t)
{
    buf_release(&t->plain);
    buf_release(&t->html);
}

/* Append as much of text as fits, cut at a character's border. */
static void add_cut(struct walk *walk, struct buf *out, const char *text, size_t n)
{
    size_t room = out->limit - out->len;

    if (n > room) {
        walk->body->is_cut = true;
        n = room;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
            n--;
    }
    buf_add(out, text, n);
}

/* Append text as lines of its own. */
static void add_lines(struct walk *walk, struct buf *out, const char *text, size_t n)
{
    if (out->len > 0 && out->data[out->len - 1] != '\n')
        add_cut(walk, out, "\n", 1);
    add_cut(walk, out, text, n);
}

/* The same, an empty line before it: whoever reads the letter sees parts one below the other. */
static void add_paragraph(struct walk *walk, struct buf *out, const struct buf *text)
{
    if (out->len > 0 && text->len > 0) {
        add_lines(walk, out, "", 0);
        add_cut(walk, out, "\n", 1);
    }
    add_lines(walk, out, text->data, text->len);
}

static void fail(struct walk *walk, enum status st, const char *why)
{
    if (walk->st == ST_OK)
        walk->st = err_set(walk->err, st, "%s", why);
}

/* ---------------------------------------------------------------- one text part */

/* The transfer encoding, also where somebody put it in quotation marks. */
static GMimeContentEncoding encoding_of(GMimePart *part)
{
    GMimeContentEncoding encoding = g_mime_part_get_content_encoding(part);
    const char *value;
    char word[32];
    size_t n;

    if (encoding != GMIME_CONTENT_ENCODING_DEFAULT)
        return encoding;
    value = g_mime_object_get_header((GMimeObject *)part, "Content-Transfer-Encoding");
    if (value == NULL)
        return encoding;
    value += strspn(value, " \"'");
    n = strcspn(value, " \"';");
    if (n == 0 || n >= sizeof word)
        return encoding;
    memcpy(word, value, n);
    word[n] = '\0';
    return g_mime_content_encoding_from_string(word);
}

/* The part's bytes as they stand in the letter. */
static GByteArray *raw_content(GMimePart *part, GMimeContentEncoding *ret_encoding)
{
    GMimeDataWrapper *content = g_mime_part_get_content(part);
    GByteArray *bytes = g_byte_array_new();
    GMimeStream *in, *memory;

    *ret_encoding = encoding_of(part);
    if (content == NULL || (in = g_mime_data_wrapper_get_stream(content)) == NULL)
        return bytes;
    memory = g_mime_stream_mem_new_with_byte_array(bytes);
    g_mime_stream_mem_set_owner((GMimeStreamMem *)memory, FALSE);
    (void)g_mime_stream_reset(in);
    (void)g_mime_stream_write_to_stream(in, memory);
    g_object_unref(memory);
    return bytes;
}

/* The part's content, transfer encoding undone; decoded is released by the caller. */
static void transfer_decode(GMimePart *part, struct buf *decoded)
{
    GMimeContentEncoding encoding;
    GByteArray *raw = raw_content(part, &encoding);
    const char *bytes = raw->data ? (const char *)raw->data : "";

    if (encoding == GMIME_CONTENT_ENCODING_BASE64)
        decode_base64(bytes, raw->len, decoded);
    else if (encoding == GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE ||
             (encoding != GMIME_CONTENT_ENCODING_BINARY && decode_looks_quoted(bytes, raw->len)))
        decode_quoted(bytes, raw->len, decoded);
    else
        buf_add(decoded, bytes, raw->len);
    g_byte_array_free(raw, TRUE);
}

static bool line_begins(const char *p, const char *what)
{
    return strncmp(p, what, strlen(what)) == 0;
}

static const char *line_after(const char *p)
{
    const char *end = strchr(p, '\n');

    return end ? end + 1 : p + strlen(p);
}

/* Take the armour off clear-signed text (RFC 4880 7); what is encrypted says nothing. */
static void strip_armour(struct walk *walk, const struct buf *text, struct buf *out)
{
    const char *p = text->data;
    bool is_signed = false;

    while (*p != '\0') {
        const char *next = line_after(p);

        if (line_begins(p, "-----BEGIN PGP MESSAGE-----")) {
            walk->body->has_encrypted = true;
            return;
        } else if (!is_signed && line_begins(p, "-----BEGIN PGP SIGNED MESSAGE-----")) {
            is_signed = true;
            while (*next != '\0' && *next != '\n') /* "Hash: …" up to a blank line */
                next = line_after(next);
            next += *next == '\n';
        } else if (is_signed && line_begins(p, "-----BEGIN PGP SIGNATURE-----")) {
            const char *end = strstr(p, "\n-----END PGP SIGNATURE-----");

            next = end ? line_after(end + 1) : p + strlen(p);
            is_signed = false;
        } else {
            if (is_signed && line_begins(p, "- "))
                p += 2;
            buf_add(out, p, (size_t)(next - p));
        }
        p = next;
    }
}

static void read_plain(struct walk *walk, const struct buf *utf8, GMimeContentType *type,
                       struct buf *out)
{
    const char *format = g_mime_content_type_get_parameter(type, "format");
    const char *delsp = g_mime_content_type_get_parameter(type, "delsp");
    struct buf whole = buf_make(2 * utf8->len + 1024);
    struct buf bare = buf_make(2 * utf8->len + 2048);

    if (format && strcasecmp(format, "flowed") == 0)
        flowed_unwrap(utf8->data, utf8->len, delsp && strcasecmp(delsp, "yes") == 0, &whole);
    else
        buf_add(&whole, utf8->data, utf8->len);
    strip_armour(walk, &whole, &bare);
    if (!body_is_blank(bare.data))
        add_lines(walk, out, bare.data, bare.len);
    buf_release(&whole);
    buf_release(&bare);
}

static void read_html(struct walk *walk, const struct buf *utf8, struct buf *out)
{
    struct buf text = buf_make(walk->limits->text * 2);
    bool leaves_out = false;

    html_text(utf8->data, utf8->len, &text, &leaves_out);
    walk->body->hides = walk->body->hides || leaves_out;
    if (buf_failed(&text)) { /* full: perhaps within a character */
        walk->body->is_cut = true;
        while (text.len > 0 && !utf8_is_valid(text.data + text.len - 1, 1))
            text.data[--text.len] = '\0';
    }
    if (!body_is_blank(text.data))
        add_lines(walk, out, text.data, text.len);
    buf_release(&text);
}

/* The charset that a page states itself, in a <meta>, at its beginning. */
static bool html_charset(const char *html, size_t n, char ret[64])
{
    static const char word[] = "charset=";
    const size_t m = sizeof word - 1;

    for (size_t i = 0; i + m < n && i < 2048; i++) {
        size_t len = 0;

        if (strncasecmp(html + i, word, m) != 0)
            continue;
        i += m;
        while (i < n && (html[i] == '"' || html[i] == '\'' || html[i] == ' '))
            i++;
        for (; i + len < n && len < 63; len++) {
            char c = html[i + len];

            if (!g_ascii_isalnum(c) && c != '-' && c != '_' && c != ':' && c != '.')
                break;
            ret[len] = c;
        }
        ret[len] = '\0';
        return len > 0;
    }
    return false;
}

static void read_text(struct walk *walk, GMimePart *part, GMimeContentType *type,
                      struct texts *out)
{
    const char *charset = g_mime_content_type_get_parameter(type, "charset");
    struct buf decoded = buf_make(walk->limits->message + 1024);
    struct buf utf8;

    bool is_html = g_mime_content_type_is_type(type, "text", "html");
    char said[64];
    size_t n;

    transfer_decode(part, &decoded);
    n = decoded.len;
    /* No charset needs more bytes for what is kept; of HTML it is enough for an answer. */
    if (n > 4 * walk->limits->text) {
        n = 4 * walk->limits->text;
        for (int i = 0; i < 3 && ((unsigned char)decoded.data[n] & 0xc0) == 0x80; i++)
            n--; /* not within a character of UTF-8 */
        walk->body->is_cut = true;
    }
    utf8 = buf_make(4 * n + 1024);
    if (is_html && charset == NULL && html_charset(decoded.data, n, said))
        charset = said;
    decode_charset(decoded.data, n, charset, &utf8);
    if (is_html)
        read_html(walk, &utf8, &out->html);
    else
        read_plain(walk, &utf8, type, &out->plain);
    if (buf_failed(&decoded) || buf_failed(&utf8))
        fail(walk, ST_NOMEM, "no memory to read a letter");
    buf_release(&decoded);
    buf_release(&utf8);
}

/* ---------------------------------------------------------------- other parts */

static void read_report_part(struct walk *walk, GMimePart *part)
{
    struct buf decoded = buf_make(walk->limits->message + 1024);
    struct report report = REPORT_INIT;

    transfer_decode(part, &decoded);
    walk->body->has_report = true;
    if (walk->st == ST_OK)
        walk->st = report_read(decoded.data, decoded.len, &report, walk->err);
    if (walk->st == ST_OK) {
        char *id = walk->body->report.original_message_id;

        walk->body->report.original_message_id = NULL;
        report_release(&walk->body->report);
        walk->body->report = report;
        if (id && *id) {
            free(walk->body->report.original_message_id);
            walk->body->report.original_message_id = id;
        } else {
            free(id);
        }
    }
    buf_release(&decoded);
}

static void read_feedback_part(struct walk *walk, GMimePart *part)
{
    struct buf decoded = buf_make(walk->limits->message + 1024);

    transfer_decode(part, &decoded);
    if (walk->body->report.kind == REPORT_FEEDBACK &&
        !report_is_complaint(decoded.data, decoded.len))
        walk->body->report.kind = REPORT_OTHER;
    buf_release(&decoded);
}

static void keep_original_id(struct walk *walk, const char *id)
{
    if (id == NULL || !mail_id_is_ok(id))
        return;
    free(walk->body->report.original_message_id);
    walk->body->report.original_message_id = str_dup(id);
    if (walk->body->report.original_message_id == NULL)
        fail(walk, ST_NOMEM, "no memory to read a letter");
}

/* Headers of the letter that came back, sent without its body. */
static void read_returned_headers(struct walk *walk, GMimePart *part)
{
    struct buf decoded = buf_make(walk->limits->message + 1024);
    const char *p;

    transfer_decode(part, &decoded);
    for (p = decoded.data; *p != '\0'; p = line_after(p)) {
        if (strncasecmp(p, "Message-ID:", 11) == 0) {
            const char *lt = p + strcspn(p, "<\n");
            size_t n = *lt == '<' ? strcspn(lt + 1, ">\n") : 0;
            char *id = str_ndup(lt + (*lt == '<'), n);

            keep_original_id(walk, id);
            free(id);
            break;
        }
    }
    buf_release(&decoded);
}

static bool is_pkcs7(GMimeContentType *type)
{
    return g_mime_content_type_is_type(type, "application", "pkcs7-mime") ||
           g_mime_content_type_is_type(type, "application", "x-pkcs7-mime");
}

static void note_application(struct walk *walk, GMimeContentType *type)
{
    const char *name = g_mime_content_type_get_parameter(type, "name");

    if (g_mime_content_type_is_type(type, "application", "ms-tnef") ||
        g_mime_content_type_is_type(type, "application", "vnd.ms-tnef") ||
        (name && strcasecmp(name, "winmail.dat") == 0))
        walk->body->has_tnef = true;
    else if (is_pkcs7(type) || g_mime_content_type_is_type(type, "application", "pgp-encrypted"))
        walk->body->has_encrypted = true;
}

static void walk_object(struct walk *walk, GMimeObject *object, size_t depth, struct texts *out);

static GMimeObject *parse(const struct buf *entity)
{
    GMimeStream *stream = g_mime_stream_mem_new_with_buffer(entity->data, entity->len);
    GMimeParser *parser = g_mime_parser_new_with_stream(stream);
    GMimeObject *root = g_mime_parser_construct_part(parser, NULL);

    g_object_unref(parser);
    g_object_unref(stream);
    return root;
}

/* Line ends to LF, as in the rest of the letter. */
static void even_lines(struct buf *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->len; i++)
        if (b->data[i] != '\r')
            b->data[n++] = b->data[i];
    b->len = n;
    b->data[n] = '\0';
}

/* A signature with the text inside: the text is a letter's body of its own. */
static bool read_sealed(struct walk *walk, GMimePart *part, size_t depth, struct texts *out)
{
    struct buf cms = buf_make(walk->limits->message + 1024);
    struct buf entity = buf_make(walk->limits->message + 1024);
    bool is_found;

    transfer_decode(part, &cms);
    is_found = cms_signed_content(cms.data, cms.len, &entity) && entity.len > 0 &&
               memchr(entity.data, '\0', entity.len) == NULL;
    if (is_found) {
        even_lines(&entity);
        if (walk->st == ST_OK)
            walk->st = scan_parts(&entity, walk->limits, &walk->body->is_cut, walk->err);
    }
    if (is_found && walk->st == ST_OK) {
        GMimeObject *root = parse(&entity);

        if (root) {
            walk_object(walk, root, depth + 1, out);
            g_object_unref(root);
        }
    }
    buf_release(&cms);
    buf_release(&entity);
    return is_found;
}

static bool is_attachment(GMimeObject *object)
{
    GMimeContentDisposition *disposition = g_mime_object_get_content_disposition(object);
    const char *word = disposition ? g_mime_content_disposition_get_disposition(disposition) : NULL;

    return word && strcasecmp(word, "attachment") == 0;
}

static bool has_filename(GMimeObject *object)
{
    GMimeContentDisposition *disposition = g_mime_object_get_content_disposition(object);
    GMimeContentType *type = g_mime_object_get_content_type(object);

    return (disposition &&
            g_mime_content_disposition_get_parameter(disposition, "filename") != NULL) ||
           g_mime_content_type_get_parameter(type, "name") != NULL;
}

/* Content-Types that are none count as text/plain (RFC 2045 5.2). */
static bool is_no_type(GMimeObject *object)
{
    const char *value = g_mime_object_get_header(object, "Content-Type");

    return value && *value && !scan_is_type(value);
}

static bool is_readable(struct walk *walk, GMimeObject *object, GMimeContentType *type)
{
    if (g_mime_content_type_is_type(type, "text", "plain") ||
        g_mime_content_type_is_type(type, "text", "html") || is_no_type(object))
        return true;
    return walk->is_bare && g_mime_content_type_is_type(type, "text", "*") &&
           !g_mime_content_type_is_type(type, "text", "calendar") &&
           !g_mime_content_type_is_type(type, "text", "rfc822-headers");
}

/* Somebody's answer to an invitation: by the type's parameter, or by the text. */
static void note_calendar(struct walk *walk, GMimePart *part, const char *method)
{
    if (method) {
        if (strcasecmp(method, "REPLY") == 0 || strcasecmp(method, "COUNTER") == 0)
            walk->body->has_calendar_reply = true;
    } else {
        struct buf text = buf_make(walk->limits->message + 1024);

        transfer_decode(part, &text);
        if (strstr(text.data, "METHOD:REPLY") || strstr(text.data, "METHOD:COUNTER"))
            walk->body->has_calendar_reply = true;
        buf_release(&text);
    }
}

static void read_leaf(struct walk *walk, GMimeObject *object, size_t depth, struct texts *out)
{
    GMimeContentType *type = g_mime_object_get_content_type(object);
    const char *method = g_mime_content_type_get_parameter(type, "method");
    GMimePart *part = (GMimePart *)object;

    if (!GMIME_IS_PART(object))
        return;
    if (g_mime_content_type_is_type(type, "message", "delivery-status") ||
        g_mime_content_type_is_type(type, "message", "global-delivery-status"))
        read_report_part(walk, part);
    else if (g_mime_content_type_is_type(type, "message", "feedback-report"))
        read_feedback_part(walk, part);
    else if (g_mime_content_type_is_type(type, "text", "rfc822-headers"))
        read_returned_headers(walk, part);
    else if (g_mime_content_type_is_type(type, "text", "vnd.google.email-reaction+json"))
        walk->body->has_reaction = true;
    else if (g_mime_content_type_is_type(type, "text", "calendar") ||
             g_mime_content_type_is_type(type, "application", "ics"))
        note_calendar(walk, part, method);
    else if (is_readable(walk, object, type) && !is_attachment(object) &&
             (walk->is_bare || !has_filename(object)))
        read_text(walk, part, type, out);
    else if (!is_pkcs7(type) || !read_sealed(walk, part, depth, out))
        note_application(walk, type);
}

/* A multipart none of whose boundaries is there: its body is read as what it is, text. */
static void read_unparted(struct walk *walk, const struct buf *entity, struct texts *out)
{
    const char *body = strstr(entity->data, "\n\n");
    size_t n = body ? strlen(body += 2) : 0;
    struct buf decoded = buf_make(walk->limits->message + 1024);
    struct buf utf8 = buf_make(4 * n + 1024);

    if (n > 0 && decode_looks_quoted(body, n))
        decode_quoted(body, n, &decoded);
    else if (n > 0)
        buf_add(&decoded, body, n);
    decode_charset(decoded.data, decoded.len, NULL, &utf8);
    strip_armour(walk, &utf8, &out->plain);
    buf_release(&decoded);
    buf_release(&utf8);
}

/* ---------------------------------------------------------------- the tree */

/* Of several forms of one text: the first plain one, the first HTML one. */
static void walk_alternative(struct walk *walk, GMimeMultipart *multipart, size_t depth,
                             struct texts *out)
{
    int count = g_mime_multipart_get_count(multipart);
    bool has_plain = false, has_html = false;

    for (int i = 0; i < count && walk->st == ST_OK; i++) {
        struct texts t = texts_make(walk->limits->text);

        walk_object(walk, g_mime_multipart_get_part(multipart, i), depth + 1, &t);
        if (!has_plain && t.plain.len > 0) {
            add_lines(walk, &out->plain, t.plain.data, t.plain.len);
            has_plain = true;
        }
        if (!has_html && t.html.len > 0) {
            add_lines(walk, &out->html, t.html.data, t.html.len);
            has_html = true;
        }
        texts_release(&t);
    }
}

/* Of parts that belong together: all.  A part that speaks one form only is taken for both. */
static void walk_mixed(struct walk *walk, GMimeMultipart *multipart, size_t depth,
                       struct texts *out)
{
    int count = g_mime_multipart_get_count(multipart);
    struct texts all = texts_make(walk->limits->text);
    bool has_plain = false, has_html = false;

    for (int i = 0; i < count && walk->st == ST_OK; i++) {
        struct texts t = texts_make(walk->limits->text);
        const struct buf *plain, *html;

        walk_object(walk, g_mime_multipart_get_part(multipart, i), depth + 1, &t);
        has_plain = has_plain || t.plain.len > 0;
        has_html = has_html || t.html.len > 0;
        plain = t.plain.len > 0 ? &t.plain : &t.html;
        html = t.html.len > 0 ? &t.html : &t.plain;
        add_paragraph(walk, &all.plain, plain);
        add_paragraph(walk, &all.html, html);
        texts_release(&t);
    }
    if (has_plain)
        add_lines(walk, &out->plain, all.plain.data, all.plain.len);
    if (has_html)
        add_lines(walk, &out->html, all.html.data, all.html.len);
    texts_release(&all);
}

static enum report_kind report_kind_of(const char *kind)
{
    if (strcasecmp(kind, "delivery-status") == 0 || strcasecmp(kind, "global-delivery-status") == 0)
        return REPORT_DELIVERY;
    if (strcasecmp(kind, "disposition-notification") == 0)
        return REPORT_DISPOSITION;
    return strcasecmp(kind, "feedback-report") == 0 ? REPORT_FEEDBACK : REPORT_OTHER;
}

static void note_multipart(struct walk *walk, GMimeContentType *type, size_t depth)
{
    const char *kind = g_mime_content_type_get_parameter(type, "report-type");

    if (g_mime_content_type_is_type(type, "multipart", "encrypted"))
        walk->body->has_encrypted = true;
    if (depth > 0 || !g_mime_content_type_is_type(type, "multipart", "report"))
        return;
    walk->body->has_report = true;
    walk->body->report.kind = report_kind_of(kind ? kind : "");
}

static void walk_multipart(struct walk *walk, GMimeMultipart *multipart, size_t depth,
                           struct texts *out)
{
    GMimeContentType *type = g_mime_object_get_content_type((GMimeObject *)multipart);

    note_multipart(walk, type, depth);
    if (g_mime_content_type_is_type(type, "multipart", "encrypted") ||
        g_mime_content_type_is_type(type, "multipart", "digest"))
        return;
    if (g_mime_content_type_is_type(type, "multipart", "signed")) {
        if (g_mime_multipart_get_count(multipart) > 0)
            walk_object(walk, g_mime_multipart_get_part(multipart, 0), depth + 1, out);
    } else if (g_mime_content_type_is_type(type, "multipart", "alternative")) {
        walk_alternative(walk, multipart, depth, out);
    } else {
        walk_mixed(walk, multipart, depth, out);
    }
}

static void walk_object(struct walk *walk, GMimeObject *object, size_t depth, struct texts *out)
{
    if (depth > walk->limits->depth) {
        fail(walk, ST_TOO_LARGE, "the parts are nested too deeply");
    } else if (++walk->parts > walk->limits->parts) {
        fail(walk, ST_TOO_LARGE, "there are too many parts");
    } else if (GMIME_IS_MULTIPART(object)) {
        walk_multipart(walk, (GMimeMultipart *)object, depth, out);
    } else if (GMIME_IS_MESSAGE_PART(object)) {
        /* An enclosed letter is never read, but in a report it is what came back. */
        GMimeMessage *message = g_mime_message_part_get_message((GMimeMessagePart *)object);

        if (message && walk->body->has_report)
            keep_original_id(walk, g_mime_message_get_message_id(message));
    } else if (object) {
        read_leaf(walk, object, depth, out);
    }
}

void body_release(struct body *body)
{
    if (body == NULL)
        return;
    buf_release(&body->plain);
    buf_release(&body->html);
    report_release(&body->report);
}

enum status body_read(const struct buf *entity, const struct letter_limits *limits,
                      struct body *ret_body, struct err *err)
{
    const struct letter_limits l = scan_limits(limits);
    GMimeObject *root = parse(entity);
    struct body body = {.plain = buf_make(l.text), .html = buf_make(l.text),
                        .report = REPORT_INIT};
    struct walk walk = {.limits = &l, .body = &body, .err = err};

    for (int again = 0; again < 2 && root && walk.st == ST_OK && body.plain.len == 0 &&
                        body.html.len == 0;
         again++) {
        struct texts t = texts_make(l.text);

        walk.is_bare = again > 0;
        walk.parts = 0;
        walk_object(&walk, root, 0, &t);
        if (walk.is_bare && GMIME_IS_MULTIPART(root) &&
            g_mime_multipart_get_count((GMimeMultipart *)root) == 0)
            read_unparted(&walk, entity, &t);
        if (body_is_blank(t.plain.data))
            buf_clear(&t.plain);
        add_lines(&walk, &body.plain, t.plain.data, t.plain.len);
        add_lines(&walk, &body.html, t.html.data, t.html.len);
        texts_release(&t);
    }
    if (root)
        g_object_unref(root);
    if (walk.st == ST_OK && (buf_failed(&body.plain) || buf_failed(&body.html)))
        fail(&walk, ST_NOMEM, "no memory to read a letter");
    if (walk.st == ST_OK)
        *ret_body = body;
    else
        body_release(&body);
    return walk.st;
}

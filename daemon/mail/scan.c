/* mail/scan.c - see scan.h. */
#include "mail/scan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <gmime/gmime.h>

#include "base/str.h"

struct letter_limits scan_limits(const struct letter_limits *limits)
{
    struct letter_limits l = limits ? *limits : (struct letter_limits){.message = 0};

    l.message = l.message ? l.message : 1024u * 1024;
    l.header = l.header ? l.header : 64u * 1024;
    l.header_fields = l.header_fields ? l.header_fields : 200;
    l.line = l.line ? l.line : 128u * 1024;
    l.depth = l.depth ? l.depth : 16;
    l.parts = l.parts ? l.parts : 64;
    l.text = l.text ? l.text : 64u * 1024;
    return l;
}

bool scan_skip_cfws(const char **p)
{
    int depth = 0;

    for (; **p != '\0'; (*p)++) {
        if (**p == '(')
            depth++;
        else if (**p == ')' && depth > 0)
            depth--;
        else if (**p == '\\' && depth > 0 && (*p)[1] != '\0')
            (*p)++;
        else if (depth == 0 && **p != ' ' && **p != '\t' && **p != '\r' && **p != '\n')
            break;
    }
    return depth == 0;
}

size_t scan_line(const char *bytes, size_t n, bool is_cr, size_t *ret_next)
{
    const char *cr = is_cr && n ? memchr(bytes, '\r', n) : NULL;
    size_t most = cr ? (size_t)(cr - bytes) + 1 : n;
    const char *end = most ? memchr(bytes, '\n', most) : NULL;
    size_t len;

    end = end ? end : cr;
    len = end ? (size_t)(end - bytes) : n;
    *ret_next = end ? len + 1 + (*end == '\r' && len + 1 < n && end[1] == '\n') : n;
    while (!is_cr && len > 0 && bytes[len - 1] == '\r')
        len--;
    return len;
}

/* Whether a line of n bytes is a header's several ones. */
static bool holds_lines(const char *line, size_t n)
{
    size_t at, next, count = 0;

    if (memchr(line, '\r', n) == NULL || !scan_is_header(line, n, NULL))
        return false;
    (void)scan_line(line, n, true, &at);
    for (; at < n && count < 2; at += next) {
        size_t len = scan_line(line + at, n - at, true, &next);

        count += len == 0 ? 2 : scan_is_header(line + at, len, NULL);
    }
    return count >= 2;
}

size_t scan_cr_from(const char *bytes, size_t n)
{
    size_t next;

    if (n > 0 && memchr(bytes, '\n', n) == NULL)
        return 0;
    for (size_t at = 0; at < n; at += next) {
        size_t len = scan_line(bytes + at, n - at, false, &next);

        if (holds_lines(bytes + at, len))
            return at;
        /* blank lines and an mbox line may stand first; below the header nothing is looked at */
        if (at > 0 && (len == 0 || !(bytes[at] == ' ' || bytes[at] == '\t' ||
                                     scan_is_header(bytes + at, len, NULL))))
            break;
    }
    return n;
}

/* Where lines begin to end by LF CR: behind the first LF without a CR in front and with one behind,
 * if every later LF has one behind it, too; n: nowhere. */
static size_t lfcr_from(const char *bytes, size_t n)
{
    size_t from = n;

    for (const char *lf = memchr(bytes, '\n', n); lf;) {
        size_t at = (size_t)(lf - bytes);

        if (from == n && (at == 0 || bytes[at - 1] != '\r') && at + 1 < n)
            from = at + 1;
        if (from < n && at + 1 < n && lf[1] != '\r')
            return n;
        lf = at + 1 < n ? memchr(lf + 1, '\n', n - at - 1) : NULL;
    }
    return from;
}

/* A copy whose lines end by LF instead of LF CR from there on; NULL: no memory. */
static char *without_lfcr(const char *bytes, size_t n, size_t from, size_t *ret_n)
{
    char *copy = malloc(n), *to = copy;

    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (i < from || bytes[i] != '\r' || bytes[i - 1] != '\n')
            *to++ = bytes[i];
    *ret_n = (size_t)(to - copy);
    return copy;
}

bool scan_is_header(const char *line, size_t n, size_t *ret_name)
{
    size_t name = 0;
    size_t colon;

    while (name < n && (unsigned char)line[name] > 0x20 && (unsigned char)line[name] < 0x7f &&
           line[name] != ':')
        name++;
    colon = name;
    while (colon < n && (line[colon] == ' ' || line[colon] == '\t'))
        colon++;
    if (name == 0 || colon == n || line[colon] != ':')
        return false;
    if (ret_name)
        *ret_name = name;
    return true;
}

const char *scan_next(const struct scan *scan, const char *name, size_t *index)
{
    while (*index < scan->count) {
        const struct scan_header *h = &scan->headers[(*index)++];

        if (strcasecmp(h->name, name) == 0)
            return h->value;
    }
    return NULL;
}

const char *scan_first(const struct scan *scan, const char *name)
{
    size_t index = 0;

    return scan_next(scan, name, &index);
}

void scan_release(struct scan *scan)
{
    if (scan == NULL)
        return;
    free(scan->headers);
    free(scan->memory);
    buf_release(&scan->entity);
    *scan = SCAN_INIT;
}

/* ---------------------------------------------------------------- the whole */

/* Where the letter begins: past a byte order mark, blank lines and an mbox "From " line. */
static size_t skip_front(const char *bytes, size_t n, size_t cr)
{
    size_t at = n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    size_t next;

    for (; at < n; at += next) {
        size_t len = scan_line(bytes + at, n - at, at >= cr, &next);
        const char *line = bytes + at;

        if (len > 0 && !(len >= 5 && memcmp(line, "From ", 5) == 0) &&
            !(len >= 6 && memcmp(line, ">From ", 6) == 0))
            return at;
    }
    return at;
}

static enum status check_bytes(const char *bytes, size_t n, const struct letter_limits *l,
                               size_t *ret_cr, struct err *err)
{
    size_t cr, next;

    if (n > l->message)
        return err_set(err, ST_TOO_LARGE, "the letter is over %zu bytes", l->message);
    if (n == 0)
        return err_set(err, ST_INVALID, "the letter is empty");
    if (memchr(bytes, '\0', n) != NULL)
        return err_set(err, ST_INVALID, "the letter holds a NUL byte");
    cr = scan_cr_from(bytes, n);
    for (size_t at = 0; at < n; at += next)
        if (scan_line(bytes + at, n - at, at >= cr, &next) > l->line)
            return err_set(err, ST_TOO_LARGE, "a line is over %zu bytes", l->line);
    *ret_cr = cr;
    return ST_OK;
}

/* ---------------------------------------------------------------- the header block */

/* Cut the blanks at the ends; every control in between becomes a blank. */
static char *tidy(char *text)
{
    size_t n;

    for (char *p = text; *p != '\0'; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    text += strspn(text, " ");
    n = strlen(text);
    while (n > 0 && text[n - 1] == ' ')
        text[--n] = '\0';
    return text;
}

/* Size up the header block at bytes: where its lines end and where the body begins. */
static enum status measure_headers(const char *bytes, size_t n, size_t cr,
                                   const struct letter_limits *l, size_t *ret_end,
                                   size_t *ret_body, size_t *ret_count, struct err *err)
{
    size_t at = 0, next = 0, count = 0;

    for (; at < n; at += next) {
        size_t len = scan_line(bytes + at, n - at, at >= cr, &next);
        bool is_fold = len > 0 && (bytes[at] == ' ' || bytes[at] == '\t');

        if (len == 0 || !(is_fold && count > 0 ? true : scan_is_header(bytes + at, len, NULL)))
            break;
        count += !is_fold;
        if (count > l->header_fields)
            return err_set(err, ST_TOO_LARGE, "there are over %zu header fields",
                           l->header_fields);
        if (at + next > l->header)
            return err_set(err, ST_TOO_LARGE, "the header is over %zu bytes", l->header);
    }
    if (count == 0)
        return err_set(err, ST_INVALID, "the letter has no header");
    *ret_end = at;
    *ret_count = count;
    /* The blank line is the header's; a line that is no header begins the body. */
    *ret_body = at < n && scan_line(bytes + at, n - at, at >= cr, &next) == 0 ? at + next : at;
    return ST_OK;
}

/* Take the block of n bytes apart into scan->headers, which has room for them.  From odd on lines
 * end as no mail server ends them. */
static void split_headers(struct scan *scan, const char *bytes, size_t n, size_t cr, size_t odd)
{
    char *out = scan->memory;
    char *value = NULL;
    size_t next;

    for (size_t at = 0; at < n; at += next) {
        size_t len = scan_line(bytes + at, n - at, at >= cr, &next);
        const char *line = bytes + at;
        size_t name = 0;

        if (len > 0 && (*line == ' ' || *line == '\t')) {
            out--; /* over the NUL of the value so far */
            memcpy(out, line, len);
            out += len;
            *out++ = '\0';
            continue;
        }
        if (value)
            scan->headers[scan->count++].value = tidy(value);
        (void)scan_is_header(line, len, &name);
        memcpy(out, line, name);
        out[name] = '\0';
        scan->headers[scan->count].name =
            at >= odd && strcasecmp(out, "Authentication-Results") == 0 ? "" : out;
        out += name + 1;
        value = out;
        line = (const char *)memchr(line, ':', len) + 1;
        len -= (size_t)(line - (bytes + at));
        memcpy(out, line, len);
        out += len;
        *out++ = '\0';
    }
    if (value)
        scan->headers[scan->count++].value = tidy(value);
}

/* ---------------------------------------------------------------- the entity */

static size_t token_length(const char *text)
{
    size_t n = 0;

    while ((unsigned char)text[n] > 0x20 && (unsigned char)text[n] < 0x7f &&
           strchr("()<>@,;:\\\"/[]?=", text[n]) == NULL)
        n++;
    return n;
}

bool scan_is_type(const char *value)
{
    size_t n;

    value += strspn(value, " \t\r\n");
    n = token_length(value);
    return n > 0 && value[n] == '/' && token_length(value + n + 1) > 0;
}

static void add_field(struct buf *out, const struct scan *scan, const char *name)
{
    const char *value = scan_first(scan, name);

    if (value && *value != '\0' &&
        (strcasecmp(name, "Content-Type") != 0 || scan_is_type(value)))
        buf_printf(out, "%s: %s\n", name, value);
}

/* The body with LF line ends, lone CRs among them. */
static void add_body(struct buf *out, const char *bytes, size_t n)
{
    while (n > 0) {
        const char *cr = memchr(bytes, '\r', n);
        size_t len = cr ? (size_t)(cr - bytes) : n;

        buf_add(out, bytes, len);
        bytes += len;
        n -= len;
        if (n == 0)
            break;
        for (len = 0; n > 0 && *bytes == '\r'; len++)
            bytes++, n--;
        if (n > 0 && *bytes == '\n') { /* CR CR LF is one end */
            bytes++, n--;
            len = 1;
        }
        while (len-- > 0)
            buf_putc(out, '\n');
    }
}

static enum status build_entity(struct scan *scan, const char *body, size_t n, struct err *err)
{
    scan->entity = buf_make(n + 256u * 1024);
    buf_puts(&scan->entity, "MIME-Version: 1.0\n");
    add_field(&scan->entity, scan, "Content-Type");
    add_field(&scan->entity, scan, "Content-Transfer-Encoding");
    add_field(&scan->entity, scan, "Content-Disposition");
    buf_putc(&scan->entity, '\n');
    add_body(&scan->entity, body, n);
    return buf_status(&scan->entity, "letter", err);
}

/* ---------------------------------------------------------------- parts, counted beforehand */

struct bound {
    char *text;
    size_t len;
    uint64_t head, mask; /* its first eight bytes, or what there is of them */
};

struct parts {
    const struct letter_limits *limits;
    size_t body_lines; /* of this part */
    struct bound *bounds; /* every boundary declared so far */
    size_t bound_count;
    size_t entities;
    bool is_in_header;
    size_t header_fields, header_bytes;
    struct buf type; /* the Content-Type of this header so far */
    bool is_in_type;
};

/* Up to eight bytes as they lie in memory. */
static uint64_t head_of(const char *text, size_t n)
{
    uint64_t head = 0;

    memcpy(&head, text, n < sizeof head ? n : sizeof head);
    return head;
}

/* Every line that begins so is held against every boundary: by one comparison if they differ. */
static bool parts_is_bound(const struct parts *p, const char *line, size_t len)
{
    uint64_t head;

    if (len < 3 || line[0] != '-' || line[1] != '-')
        return false;
    line += 2;
    len -= 2;
    head = head_of(line, len);
    for (size_t i = 0; i < p->bound_count; i++) {
        const struct bound *b = &p->bounds[i];

        if ((head & b->mask) == b->head && b->len <= len && memcmp(line, b->text, b->len) == 0)
            return true;
    }
    return false;
}

static enum status parts_add_bound(struct parts *p, const char *text, struct err *err)
{
    static const char ones[] = "\xff\xff\xff\xff\xff\xff\xff\xff";
    size_t n = strlen(text);
    struct bound b = {str_dup(text), n, head_of(text, n), head_of(ones, n)};

    if (b.text == NULL)
        return err_set(err, ST_NOMEM, "no memory to read a letter");
    p->bounds[p->bound_count++] = b;
    return ST_OK;
}

static void parts_header_begin(struct parts *p)
{
    p->is_in_header = true;
    p->is_in_type = false;
    p->header_fields = p->header_bytes = p->body_lines = 0;
    p->entities++;
    buf_clear(&p->type);
}

/* The header is over: note its boundary, or begin again within an enclosed message. */
static enum status parts_header_end(struct parts *p, struct err *err)
{
    static const char *const enclosed[] = {"rfc822", "rfc2822", "global", "news"};
    GMimeContentType *type = NULL;
    const char *bound;
    enum status st = ST_OK;

    p->is_in_header = false;
    if (p->type.len == 0)
        return ST_OK;
    type = g_mime_content_type_parse(g_mime_parser_options_get_default(), p->type.data);
    bound = g_mime_content_type_get_parameter(type, "boundary");
    if (bound && *bound && p->bound_count < p->limits->parts + 1)
        st = parts_add_bound(p, bound, err);
    for (size_t i = 0; i < COUNT_OF(enclosed); i++) {
        if (g_mime_content_type_is_type(type, "message", enclosed[i])) {
            parts_header_begin(p);
            break;
        }
    }
    g_object_unref(type);
    return st;
}

static enum status parts_header_line(struct parts *p, const char *line, size_t len,
                                     struct err *err)
{
    size_t name = 0;

    p->header_bytes += len + 1;
    if (len > 0 && (*line == ' ' || *line == '\t')) {
        if (p->is_in_type)
            buf_add(&p->type, line, len);
    } else if (scan_is_header(line, len, &name)) {
        p->header_fields++;
        p->is_in_type = name == 12 && strncasecmp(line, "Content-Type", 12) == 0 &&
                        p->type.len == 0;
        if (p->is_in_type) {
            const char *value = (const char *)memchr(line, ':', len) + 1;

            buf_add(&p->type, value, len - (size_t)(value - line));
        }
    } else {
        return parts_header_end(p, err); /* a line that is no header begins the body */
    }
    return ST_OK;
}

/* GMime copes with thousands of parts and with a million lines, but not for nothing: count the
 * first, and leave lines out that nobody will read. */
enum status scan_parts(struct buf *entity, const struct letter_limits *l, bool *ret_is_cut,
                       struct err *err)
{
    struct parts p = {.limits = l, .type = buf_make(l->header)};
    enum status st = ST_OK;
    size_t kept = 0, next;

    p.bounds = calloc(l->parts + 1, sizeof *p.bounds);
    if (p.bounds == NULL) {
        st = err_set(err, ST_NOMEM, "no memory to read a letter");
        goto out;
    }
    parts_header_begin(&p);
    for (size_t at = 0; at < entity->len && st == ST_OK; at += next) {
        size_t len = scan_line(entity->data + at, entity->len - at, false, &next);
        const char *line = entity->data + at;

        if (parts_is_bound(&p, line, len)) {
            parts_header_begin(&p);
        } else if (p.is_in_header && len == 0) {
            st = parts_header_end(&p, err);
        } else if (p.is_in_header) {
            st = parts_header_line(&p, line, len, err);
        } else if (++p.body_lines > PART_LINES_MAX) {
            *ret_is_cut = true;
            continue;
        }
        if (kept < at)
            memmove(entity->data + kept, line, next);
        kept += next;
        if (st != ST_OK)
            break;
        /* A closing boundary begins no part, so there may be as many more. */
        if (p.entities > 2 * l->parts || p.bound_count > l->parts)
            st = err_set(err, ST_TOO_LARGE, "there are over %zu parts", l->parts);
        else if (p.header_fields > l->header_fields || p.header_bytes > l->header)
            st = err_set(err, ST_TOO_LARGE, "the header of a part is too long");
    }
    entity->len = kept;
    entity->data[kept] = '\0';
out:
    for (size_t i = 0; p.bounds && i < p.bound_count; i++)
        free(p.bounds[i].text);
    free(p.bounds);
    buf_release(&p.type);
    return st;
}

enum status scan_letter(const void *bytes, size_t n, const struct letter_limits *limits,
                        struct scan *ret_scan, struct err *err)
{
    const struct letter_limits l = scan_limits(limits);
    const char *p = bytes;
    struct scan scan = SCAN_INIT;
    size_t end = 0, body = 0, count = 0;
    size_t cr = 0, odd = n > 0 && n <= l.message ? lfcr_from(p, n) : n;
    char *copy = NULL;
    enum status st = ST_OK;

    if (odd < n) {
        p = copy = without_lfcr(p, n, odd, &n);
        if (p == NULL)
            return err_set(err, ST_NOMEM, "no memory to read a letter");
    }
    st = check_bytes(p, n, &l, &cr, err);
    if (st != ST_OK)
        goto out;
    end = skip_front(p, n, cr);
    p += end;
    n -= end;
    cr = cr > end ? cr - end : 0;
    odd = odd > end ? odd - end : 0;
    st = measure_headers(p, n, cr, &l, &end, &body, &count, err);
    if (st != ST_OK)
        goto out;
    scan.headers = calloc(count, sizeof *scan.headers);
    scan.memory = malloc(end + 2 * count + 1);
    if (scan.headers == NULL || scan.memory == NULL) {
        st = err_set(err, ST_NOMEM, "no memory to read a letter");
        goto out;
    }
    split_headers(&scan, p, end, cr, odd < cr ? odd : cr);
    st = build_entity(&scan, p + body, n - body, err);
    if (st == ST_OK)
        st = scan_parts(&scan.entity, &l, &scan.is_cut, err);
    if (st != ST_OK)
        goto out;
    *ret_scan = scan;
    scan = SCAN_INIT;
out:
    free(copy);
    scan_release(&scan);
    return st;
}

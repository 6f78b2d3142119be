/*
 * http/request.c - reading what was asked: target, headers, query, cookies; see request.h.
 *
 * The target is read as it was sent: MHD's own decoding would cut at %00 and make %2f a slash.
 */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "http/server.h"

const char *method_str(enum method method)
{
    static const char *const names[METHODS] = {"GET",   "HEAD",   "POST",    "PUT",
                                               "PATCH", "DELETE", "OPTIONS", "OTHER"};
    return names[method];
}

/* Decode n bytes of text into ret, which has room for n and a NUL.  A '+' is a blank in a query. */
static enum status decode(const char *text, size_t n, bool is_query, char *ret, size_t *ret_len,
                          struct err *err)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        char c = text[i];

        if (c == '%') {
            int high = n - i > 2 ? hex_value(text[i + 1]) : -1;
            int low = n - i > 2 ? hex_value(text[i + 2]) : -1;

            if (high < 0 || low < 0)
                return err_detail(
                    err, REASON_BAD_REQUEST, "refusal.target_percent",
                    "a % in the request target must be followed by two hexadecimal digits");
            c = (char)(high * 16 + low);
            i += 2;
            if (!is_query && c == '/')
                return err_detail(err, REASON_BAD_REQUEST, "refusal.target_slash",
                                  "a path segment cannot hold an encoded slash");
        } else if (c == '+' && is_query) {
            c = ' ';
        }
        if ((unsigned char)c < 0x20 || c == 0x7f || text[i] == ' ')
            return err_detail(err, REASON_BAD_REQUEST, "refusal.target_blank",
                              "the request target holds a blank or a control character");
        ret[len++] = c;
    }
    ret[len] = '\0';
    if (!utf8_is_valid(ret, len))
        return err_detail(err, REASON_BAD_REQUEST, "refusal.target_utf8",
                          "the request target is not UTF-8");
    *ret_len = len;
    return ST_OK;
}

enum status request_parse_target(struct request *r, struct err *err)
{
    const char *text = r->target, *question, *end;
    size_t len = strlen(text), used = 0, got;
    enum status st;

    if (len > HTTP_TARGET_MAX)
        return ERR_DETAIL(err, REASON_BAD_REQUEST, "refusal.target_long",
                          "the request target has at most {most} bytes",
                          ERR_NUMBER("most", HTTP_TARGET_MAX));
    /* The absolute form, which only proxies need to send, names us or nobody. */
    if (strncasecmp(text, "http://", 7) == 0 || strncasecmp(text, "https://", 8) == 0) {
        text = strchr(strstr(text, "://") + 3, '/');
        if (!text)
            text = "/";
    }
    if (*text != '/')
        return err_detail(err, REASON_BAD_REQUEST, "refusal.target_start",
                          "the request target must begin with a slash");
    if (strchr(text, '#'))
        return err_detail(err, REASON_BAD_REQUEST, "refusal.target_fragment",
                          "the request target holds a # fragment");
    len = strlen(text);
    /* Every piece gets its own NUL; there are never more pieces than bytes. */
    r->decoded = malloc(2 * len + 2);
    if (!r->decoded)
        return err_reason(err, REASON_NO_MEMORY, "request: %zu bytes", 2 * len + 2);
    question = strchr(text, '?');
    end = question ? question : text + len;
    for (const char *at = text + 1;;) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const char *stop = slash ? slash : end;

        if (r->n_segments == PATH_SEGMENTS_MAX)
            return err_detail(err, REASON_NOT_FOUND, "refusal.too_deep", "nothing is so deep here");
        st = decode(at, (size_t)(stop - at), false, r->decoded + used, &got, err);
        if (st != ST_OK)
            return st;
        if (strcmp(r->decoded + used, ".") == 0 || strcmp(r->decoded + used, "..") == 0)
            return err_detail(err, REASON_BAD_REQUEST, "refusal.target_dots",
                              "a path segment cannot be . or ..");
        r->segments[r->n_segments++] = r->decoded + used;
        used += got + 1;
        if (!slash)
            break;
        at = slash + 1;
    }
    for (const char *at = question ? question + 1 : NULL; at && *at;) {
        const char *amp = strchr(at, '&');
        const char *stop = amp ? amp : text + len;
        const char *equal = memchr(at, '=', (size_t)(stop - at));
        const char *name_end = equal ? equal : stop;

        if (at == stop) { /* "?&a=1&&b=2&": nothing stands there */
            at = amp ? amp + 1 : NULL;
            continue;
        }
        if (r->n_query == HTTP_QUERY_MAX)
            return ERR_DETAIL(err, REASON_BAD_REQUEST, "refusal.query_most",
                              "a request has at most {most} query parameters",
                              ERR_NUMBER("most", HTTP_QUERY_MAX));
        st = decode(at, (size_t)(name_end - at), true, r->decoded + used, &got, err);
        if (st != ST_OK)
            return st;
        r->query[r->n_query].name = r->decoded + used;
        used += got + 1;
        r->query[r->n_query].value = "";
        if (equal) {
            st = decode(equal + 1, (size_t)(stop - equal - 1), true, r->decoded + used, &got, err);
            if (st != ST_OK)
                return st;
            r->query[r->n_query].value = r->decoded + used;
            used += got + 1;
        }
        r->n_query++;
        at = amp ? amp + 1 : NULL;
    }
    return ST_OK;
}

/* ------------------------------------------------------------------------------ headers */

struct header_check {
    unsigned seen; /* bit: index in singles */
    int count;
    bool is_twice, has_length, has_encoding, is_chunked, is_bad, has_host;
    const char *twice;
    const char *length;
};

/* A second one of these would be read differently by somebody on the way. */
static const char *const singles[] = {
    "Host",          "Content-Length",  "Transfer-Encoding", "Content-Type", "Authorization",
    "If-None-Match", "Idempotency-Key", "Last-Event-ID",     "Origin",       "Sec-Fetch-Site",
    "Cookie",        "Expect"};

static bool is_token_char(unsigned char c)
{
    return isalnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

/* Blanks behind a value are no part of it (RFC 9110, 5.5); the library leaves them there.  The text
 * lies in the connection's buffer, which is the request's for as long as it lasts. */
static void cut_blanks(const char *value)
{
    size_t n = strlen(value);

    while (n > 0 && (value[n - 1] == ' ' || value[n - 1] == '\t'))
        ((char *)(uintptr_t)value)[--n] = '\0';
}

static enum MHD_Result check_header(void *arg, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    struct header_check *check = arg;

    (void)kind;
    /* The library has read Transfer-Encoding as it stands: "chunked " is no chunks to it. */
    if (value && strcasecmp(name, "Transfer-Encoding") != 0)
        cut_blanks(value);
    if (!value)
        value = "";
    check->count++;
    for (const char *p = name; *p; p++)
        if (!is_token_char((unsigned char)*p))
            check->is_bad = true;
    for (const char *p = value; *p; p++)
        if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
            check->is_bad = true;
    for (unsigned i = 0; i < COUNT_OF(singles); i++) {
        if (strcasecmp(name, singles[i]) != 0)
            continue;
        if (check->seen & 1u << i) {
            check->is_twice = true;
            check->twice = singles[i];
        }
        check->seen |= 1u << i;
    }
    if (strcasecmp(name, "Host") == 0)
        check->has_host = *value != '\0';
    if (strcasecmp(name, "Content-Length") == 0) {
        check->has_length = true;
        check->length = value;
    }
    if (strcasecmp(name, "Transfer-Encoding") == 0) {
        check->has_encoding = true;
        check->is_chunked = strcasecmp(value, "chunked") == 0;
    }
    return MHD_YES;
}

enum status request_check_headers(struct request *r, bool *ret_has_body, struct err *err)
{
    struct header_check check = {.seen = 0};
    int64_t length = 0;

    MHD_get_connection_values(r->conn, MHD_HEADER_KIND, check_header, &check);
    if (check.count > HTTP_HEADERS_MAX)
        return ERR_DETAIL(err, REASON_BAD_REQUEST, "refusal.headers_most",
                          "a request has at most {most} header lines",
                          ERR_NUMBER("most", HTTP_HEADERS_MAX));
    if (check.is_bad)
        return err_detail(err, REASON_BAD_REQUEST, "refusal.header_bad",
                          "a header line is not well-formed");
    if (check.is_twice)
        return ERR_DETAIL(err, REASON_BAD_REQUEST, "refusal.header_twice",
                          "the header `{name}` is there twice", ERR_TEXT("name", check.twice));
    if (check.has_length && check.has_encoding)
        return err_detail(err, REASON_BAD_REQUEST, "refusal.lengths_both",
                          "`Content-Length` and `Transfer-Encoding` cannot stand together");
    if (check.has_encoding && !check.is_chunked)
        return err_detail(err, REASON_BAD_REQUEST, "refusal.encoding_chunked",
                          "the only `Transfer-Encoding` read is `chunked`");
    if (check.has_length && !str_to_int64(check.length, 0, INT64_MAX / 2, &length))
        return err_detail(err, REASON_BAD_REQUEST, "refusal.length_number",
                          "`Content-Length` is not a number");
    if (!check.has_host)
        return err_detail(err, REASON_BAD_REQUEST, "refusal.host_missing",
                          "the header `Host` is missing");
    if (check.has_length)
        r->body_length = length;
    if (check.has_length && (uint64_t)length > r->http->options.body_size)
        return ERR_DETAIL(err, REASON_TOO_LARGE, "refusal.body_large",
                          "a body has at most {most} bytes, not {said}",
                          ERR_NUMBER("most", r->http->options.body_size),
                          ERR_NUMBER("said", length));
    *ret_has_body = check.has_encoding || length > 0;
    return ST_OK;
}

const char *request_header(const struct request *r, const char *name)
{
    return MHD_lookup_connection_value(r->conn, MHD_HEADER_KIND, name);
}

bool request_cookie(const struct request *r, const char *name, char *ret, size_t size)
{
    const char *at = request_header(r, "Cookie");
    size_t n = strlen(name);

    while (at && *at) {
        const char *end;

        while (*at == ' ' || *at == ';')
            at++;
        end = strchr(at, ';');
        if (!end)
            end = at + strlen(at);
        if (strncmp(at, name, n) == 0 && at[n] == '=') {
            size_t len;

            at += n + 1;
            while (end > at && end[-1] == ' ')
                end--;
            len = (size_t)(end - at);
            if (len >= size)
                return false;
            memcpy(ret, at, len);
            ret[len] = '\0';
            return true;
        }
        at = end;
    }
    return false;
}

/* "type/subtype" against a range such as "text" + "*", of n characters. */
static bool range_matches(const char *range, size_t n, const char *type, int *ret_rank)
{
    const char *slash = strchr(type, '/');
    size_t main = (size_t)(slash - type);

    if (n == 3 && strncmp(range, "*/*", 3) == 0) {
        *ret_rank = 1;
        return true;
    }
    if (n == main + 2 && strncasecmp(range, type, main + 1) == 0 && range[main + 1] == '*') {
        *ret_rank = 2;
        return true;
    }
    if (n == strlen(type) && strncasecmp(range, type, n) == 0) {
        *ret_rank = 3;
        return true;
    }
    return false;
}

const char *request_accepts(const struct request *r, const char *const *offered)
{
    const char *accept = request_header(r, "Accept");
    const char *best = NULL;
    int best_q = 0;

    if (!accept || !*accept)
        return offered[0];
    for (size_t i = 0; offered[i]; i++) {
        int rank = 0, q = 0;

        for (const char *at = accept; *at;) {
            const char *end = strchr(at, ',');
            const char *params;
            size_t n;
            int got;

            if (!end)
                end = at + strlen(at);
            while (at < end && (*at == ' ' || *at == '\t'))
                at++;
            params = memchr(at, ';', (size_t)(end - at));
            n = (size_t)((params ? params : end) - at);
            while (n > 0 && (at[n - 1] == ' ' || at[n - 1] == '\t'))
                n--;
            if (range_matches(at, n, offered[i], &got) && got >= rank) {
                int this_q = 1000;

                for (const char *p = params, *s; p && p < end;
                     p = memchr(p + 1, ';', (size_t)(end - p - 1))) {
                    s = p + 1;

                    while (s < end && (*s == ' ' || *s == '\t'))
                        s++;
                    if (end - s >= 3 && (s[0] == 'q' || s[0] == 'Q') && s[1] == '=') {
                        this_q = s[2] == '1' ? 1000 : 0;
                        for (int d = 0, unit = 100; this_q < 1000 && d < 3; d++, unit /= 10) {
                            if (s + 4 + d >= end || !isdigit((unsigned char)s[4 + d]))
                                break;
                            this_q += (s[4 + d] - '0') * unit;
                        }
                    }
                }
                rank = got;
                q = this_q;
            }
            at = *end ? end + 1 : end;
        }
        if (q > best_q) {
            best_q = q;
            best = offered[i];
        }
    }
    return best;
}

bool request_is_logged_in(const struct request *r)
{
    return r->who.user_id != 0;
}

/* ------------------------------------------------------------------------------ query */

const char *request_query(const struct request *r, const char *name)
{
    for (size_t i = 0; i < r->n_query; i++)
        if (strcmp(r->query[i].name, name) == 0)
            return r->query[i].value;
    return NULL;
}

void request_query_only(struct request *r, const char *const *names)
{
    for (size_t i = 0; i < r->n_query; i++) {
        bool is_known = false;

        for (size_t k = 0; names[k] && !is_known; k++)
            is_known = strcmp(names[k], r->query[i].name) == 0;
        if (!is_known) {
            form_error(&r->form, REASON_UNKNOWN_FIELD, r->query[i].name, "refusal.no_parameter",
                       "no such query parameter is known here");
            continue;
        }
        for (size_t k = 0; k < i; k++)
            if (strcmp(r->query[k].name, r->query[i].name) == 0) {
                form_error(&r->form, REASON_BAD_FIELD, r->query[i].name, "refusal.parameter_twice",
                           "the query parameter is there twice");
                break;
            }
    }
}

void request_query_int(struct request *r, const char *name, int64_t min, int64_t max,
                       int64_t fallback, int64_t *ret)
{
    const char *value = request_query(r, name);

    *ret = fallback;
    if (!value || str_to_int64(value, min, max, ret))
        return;
    if (max == INT64_MAX)
        FORM_ERROR(&r->form, REASON_BAD_FIELD, name, "refusal.must_from",
                   "must be a whole number from {least}", ERR_NUMBER("least", min));
    else
        FORM_ERROR(&r->form, REASON_BAD_FIELD, name, "refusal.must_whole",
                   "must be a whole number from {least} to {most}", ERR_NUMBER("least", min),
                   ERR_NUMBER("most", max));
}

void request_query_word(struct request *r, const char *name, const char *const *words, size_t n,
                        int *ret)
{
    const char *value = request_query(r, name);

    *ret = -1;
    if (value)
        form_choose(&r->form, name, value, words, n, ret);
}

void request_query_bool(struct request *r, const char *name, bool fallback, bool *ret)
{
    static const char *const words[] = {"true", "false"};
    int word;

    request_query_word(r, name, words, COUNT_OF(words), &word);
    *ret = word < 0 ? fallback : word == 0;
}

void request_param_id(struct request *r, int index, int64_t *ret)
{
    const char *name = r->route->path;
    char text[32];

    *ret = 0;
    if (str_to_int64(r->params[index], 1, INT64_MAX, ret))
        return;
    for (int i = 0; i <= index; i++)
        name = strchr(name, '{') + 1;
    snprintf(text, sizeof text, "%.*s", (int)strcspn(name, "}"), name);
    FORM_ERROR(&r->form, REASON_BAD_FIELD, text, "refusal.must_from",
               "must be a whole number from {least}", ERR_NUMBER("least", 1));
}

/*
 * http/answer.c - see answer.h.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "http/pages.h"
#include "http/server.h"

enum {
    ANSWER_MAX = 4 * 1024 * 1024, /* bytes of a JSON answer */
    DETAIL_MAX = 1024,
    INSTANCE_MAX = 256
};

static int add_bytes(const char *bytes, size_t n, void *arg)
{
    buf_add(arg, bytes, n);
    return 0;
}

enum status answer_json(struct request *r, int status, json_t *take_root, struct err *err)
{
    enum status st = ST_OK;

    r->answer.body.limit = ANSWER_MAX;
    if (!take_root)
        return err_reason(err, REASON_NO_MEMORY, "the answer did not fit into memory");
    buf_clear(&r->answer.body);
    if (json_dump_callback(take_root, add_bytes, &r->answer.body,
                           JSON_COMPACT | JSON_ENCODE_ANY) != 0)
        st = err_reason(err, REASON_NO_MEMORY, "the answer could not be written");
    json_decref(take_root);
    if (st == ST_OK)
        st = buf_status(&r->answer.body, "the answer", err);
    if (st != ST_OK)
        return st;
    r->answer.status = status;
    r->answer.type = "application/json";
    return ST_OK;
}

enum status answer_accepted(struct request *r, struct err *err)
{
    return answer_json(r, 202, json_pack("{s:s}", "status", "accepted"), err);
}

void answer_empty(struct request *r, int status)
{
    buf_clear(&r->answer.body);
    r->answer.status = status;
    r->answer.type = NULL;
}

void answer_header(struct request *r, const char *name, const char *value)
{
    struct answer *answer = &r->answer;
    char *copy;

    for (const char *p = value; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return;
    if (answer->n_headers == ANSWER_HEADERS_MAX)
        return;
    copy = str_dup(value);
    if (!copy)
        return;
    if (strcmp(name, "ETag") == 0)
        answer->has_etag = true;
    answer->headers[answer->n_headers++] = (struct header){.name = name, .value = copy};
}

/* Whether the path has a secret in it; also of a request that was refused before its route was
 * looked for. */
static bool is_secret(const struct request *r)
{
    static const char *const beginnings[] = {"/login/", "/confirm/", "/u/"};

    if (r->route)
        return (r->route->flags & ROUTE_SECRET) != 0;
    for (size_t i = 0; i < COUNT_OF(beginnings); i++)
        if (str_starts(r->target, beginnings[i]))
            return true;
    return false;
}

const char *problem_target(const struct request *r)
{
    return r->target && !is_secret(r) ? r->target : NULL;
}

void problem_instance(const char *target, json_t *root)
{
    size_t n;

    if (!target || target[0] != '/')
        return;
    n = strcspn(target, "?#");
    if (n >= INSTANCE_MAX)
        return;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)target[i] <= 0x20 || (unsigned char)target[i] >= 0x7f)
            return;
    json_object_set_new(root, "instance", json_stringn(target, n));
}

/* Where in the request stands what a refusal of a lower room is about; NULL: nowhere, or it is no
 * single field. */
static const char *pointer_of(const struct err *err)
{
    static const struct {
        const char *detail, *pointer;
    } fields[] = {
        {"refusal.address_same", "/address"},
        {"refusal.credit_most", "/amount_ms"},
        {"refusal.handle_taken", "/handle"},
        {"refusal.note_empty", "/text"},
        {"refusal.note_line", "/note"},
        {"refusal.note_long", "/note"},
        {"refusal.note_utf8", "/note"},
        {"refusal.own_address", "/address"},
        {"refusal.pause_end", "/until"},
        {"refusal.result_bad", "/result"},
        {"refusal.seat_not_yours", "/seat"},
        {"refusal.seat_out", "/seat"},
        {"refusal.state_needed", "/state_number"},
        {"refusal.time_range", "/time/per_move_ms"},
        {"refusal.token_expiry", "/expires_at"},
        {"refusal.token_more", "/scopes"},
        {"refusal.token_name", "/name"},
        {"refusal.which_resigns", "/seat"},
        {"refusal.which_seat", "/seat"},
    };

    if (err->field[0] == '/')
        return err->field;
    for (size_t i = 0; err->detail && i < COUNT_OF(fields); i++)
        if (strcmp(err->detail, fields[i].detail) == 0)
            return fields[i].pointer;
    return NULL;
}

/* All that reading the body found; or the one field that was judged deeper, when it was sent or is
 * missing (a refusal with such a detail may also be about the path). */
static void set_errors(const struct request *r, enum lang lang, const struct err *err, json_t *root)
{
    const char *pointer = pointer_of(err);
    struct buf detail;

    if (r->form.errors) {
        json_object_set(root, "errors", r->form.errors);
        return;
    }
    if (!pointer || !r->route || !(r->route->flags & (ROUTE_BODY | ROUTE_BODY_OPTIONAL)))
        return;
    if (err->reason != REASON_MISSING_FIELD && strcmp(pointer, "/seat") == 0 &&
        strcmp(err->detail ? err->detail : "", "refusal.which_seat") != 0 &&
        !json_object_get(r->form.object, "seat"))
        return;
    detail = buf_make(DETAIL_MAX);
    if (words_refusal(&detail, lang, err) && !buf_failed(&detail))
        json_object_set_new(root, "errors",
                            json_pack("[{s:s, s:s}]", "pointer", pointer, "detail", detail.data));
    buf_release(&detail);
}

void answer_problem(struct request *r, const struct err *err)
{
    enum reason reason = err->reason;
    int http = status_http(err->code);
    char type[96];
    struct err ignored = ERR_INIT;
    json_t *root, *game = r->problem_game;
    bool is_fault = status_is_fault(err->code);
    enum lang lang = r->conn ? page_language(r) : LANG_EN;
    struct buf detail = buf_make(DETAIL_MAX);

    if (reason == REASON_NONE || reason_status(reason) != err->code) {
        /* A status without a reason of its own. */
        switch (err->code) {
        case ST_INVALID:
            reason = REASON_BAD_REQUEST;
            break;
        case ST_UNAUTHENTICATED:
            reason = REASON_LOGIN_NEEDED;
            break;
        case ST_FORBIDDEN:
            reason = REASON_FORBIDDEN;
            break;
        case ST_NOT_FOUND:
            reason = REASON_NOT_FOUND;
            break;
        case ST_CONFLICT:
            reason = REASON_ALREADY_DONE;
            break;
        case ST_GONE:
            reason = REASON_LINK_EXPIRED;
            break;
        case ST_TOO_LARGE:
            reason = REASON_TOO_LARGE;
            break;
        case ST_MEDIA:
            reason = REASON_MEDIA_TYPE;
            break;
        case ST_RATE:
            reason = REASON_RATE_LIMIT;
            break;
        case ST_BUSY:
            reason = REASON_BUSY;
            break;
        case ST_IO:
            reason = REASON_STORE_FAILED;
            break;
        case ST_NOMEM:
            reason = REASON_NO_MEMORY;
            break;
        case ST_CORRUPT:
            reason = REASON_CORRUPT;
            break;
        default:
            reason = REASON_INTERNAL;
            break;
        }
    }
    snprintf(type, sizeof type, "/problems/%s", reason_slug(reason));
    root = json_pack("{s:s, s:s, s:i, s:s}", "type", type, "title", words_reason(lang, reason),
                     "status", http, "code", reason_slug(reason));
    /* What went wrong inside is for the operator, who finds it in the log. */
    if (r->verdict_words[0])
        buf_puts(&detail, r->verdict_words);
    else if (!is_fault)
        (void)words_refusal(&detail, lang, err);
    if (detail.len > 0 && !buf_failed(&detail))
        json_object_set_new(root, "detail", json_string(detail.data));
    buf_release(&detail);
    problem_instance(problem_target(r), root);
    set_errors(r, lang, err, root);
    if (r->verdict)
        json_object_set_new(root, "verdict", json_string(r->verdict));
    if (game) {
        json_object_set_new(root, "game", game);
        r->problem_game = NULL;
    }
    if (is_fault)
        log_event(LOG_LEVEL_WARNING, "http_fault route=\"%s %s\" status=%d reason=%s text=\"%s\"",
                  r->route ? method_str(r->route->method) : method_str(r->method),
                  r->route ? r->route->path : "-", http, reason_slug(reason), err->text);
    if (answer_json(r, http, root, &ignored) != ST_OK) {
        buf_clear(&r->answer.body);
        r->answer.status = 503;
    }
    r->answer.type = "application/problem+json";
    r->answer.cache = "no-store";
    r->answer.is_document = r->answer.is_picture = false;
    {
        /* What an answer that was begun had is gone; what the refusal itself needs stays. */
        size_t kept = 0;

        for (size_t i = 0; i < r->answer.n_headers; i++) {
            if (http == 405 && strcmp(r->answer.headers[i].name, "Allow") == 0)
                r->answer.headers[kept++] = r->answer.headers[i];
            else
                free(r->answer.headers[i].value);
        }
        r->answer.n_headers = kept;
    }
    r->answer.has_etag = false;
    answer_header(r, "Content-Language", lang_tag(lang));
    if (http == 401)
        answer_header(r, "WWW-Authenticate", "Bearer realm=\"fourhanded\"");
    if (http == 429 || http == 503) {
        char seconds[24];

        snprintf(seconds, sizeof seconds, "%" PRId64,
                 http == 429 && r->retry_s > 0 ? r->retry_s : INT64_C(1));
        answer_header(r, "Retry-After", seconds);
    }
    if (http == 401 && r->had_bad_cookie)
        answer_session(r, NULL, 0, 0);
}

bool request_has_etag(const struct request *r, const char *etag)
{
    const char *at = request_header(r, "If-None-Match");

    while (at && *at) {
        size_t n;

        while (*at == ' ' || *at == ',' || *at == '\t')
            at++;
        if (*at == '*')
            return true;
        if (strncmp(at, "W/", 2) == 0)
            at += 2;
        if (*at != '"')
            return false;
        n = strcspn(at + 1, "\"") + 1;
        if (at[n] != '"')
            return false;
        n++;
        if (n == strlen(etag) && strncmp(at, etag, n) == 0)
            return true;
        at += n;
    }
    return false;
}

const char *answer_etag(const struct request *r)
{
    for (size_t i = 0; i < r->answer.n_headers; i++)
        if (strcmp(r->answer.headers[i].name, "ETag") == 0)
            return r->answer.headers[i].value;
    return NULL;
}

void answer_tag_of(struct request *r, const unsigned char *digest)
{
    char hex[2 * TAG_BYTES + 1], etag[2 * TAG_BYTES + 3];

    hex_encode(digest, TAG_BYTES, hex);
    snprintf(etag, sizeof etag, "\"%s\"", hex);
    answer_header(r, "ETag", etag);
}

void answer_tag(struct request *r, const void *bytes, size_t n)
{
    unsigned char print[FINGERPRINT_SIZE];

    fingerprint_make(r->http->tag_key, bytes, n, print);
    answer_tag_of(r, print);
}

void answer_validate(struct request *r)
{
    if (r->answer.status != 200 || r->answer.made || !r->answer.type)
        return;
    if (!r->answer.has_etag)
        answer_tag(r, r->answer.body.data, r->answer.body.len);
    if (answer_etag(r) && request_has_etag(r, answer_etag(r)))
        answer_empty(r, 304);
}

void answer_session(struct request *r, const char *secret, utc_ms now, utc_ms expires_at)
{
    char cookie[160];
    int64_t age = secret ? (expires_at - now) / MS_SECOND : 0;

    snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Lax%s; Max-Age=%" PRId64,
             r->http->cookie_name, secret ? secret : "", r->http->is_https ? "; Secure" : "",
             age > 0 ? age : 0);
    answer_header(r, "Set-Cookie", cookie);
    r->answer.cache = "no-store";
}

#include "base/status.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    int http;
    int fault;
} STATUS[ST_COUNT_] = {
    [ST_OK] = {"ok", 200, 0},
    [ST_INVALID] = {"invalid", 400, 0},
    [ST_UNAUTHENTICATED] = {"unauthenticated", 401, 0},
    [ST_FORBIDDEN] = {"forbidden", 403, 0},
    [ST_NOT_FOUND] = {"not_found", 404, 0},
    [ST_NOT_ALLOWED] = {"not_allowed", 405, 0},
    [ST_SLOW] = {"slow", 408, 0},
    [ST_CONFLICT] = {"conflict", 409, 0},
    [ST_GONE] = {"gone", 410, 0},
    [ST_TOO_LARGE] = {"too_large", 413, 0},
    [ST_MEDIA] = {"media", 415, 0},
    [ST_ILLEGAL] = {"illegal", 422, 0},
    [ST_RATE] = {"rate", 429, 0},
    [ST_BUSY] = {"busy", 503, 0},
    [ST_IO] = {"io", 503, 1},
    [ST_NOMEM] = {"nomem", 503, 1},
    [ST_CORRUPT] = {"corrupt", 500, 1},
    [ST_INTERNAL] = {"internal", 500, 1},
};

static const struct {
    const char *slug;
    enum status status;
    const char *word;
    const char *title;
} REASON[REASON_COUNT_] = {
#define X(name, slug, status, word, title) [REASON_##name] = {slug, status, word, title},
    REASON_LIST(X)
#undef X
};

static enum status PRINTF_LIKE(4, 0)
    err_fill(struct err *err, enum status code, enum reason reason, const char *fmt, va_list args)
{
    if (err) {
        err->code = code;
        err->reason = reason;
        (void)vsnprintf(err->text, sizeof err->text, fmt, args);
    }
    return code;
}

enum status err_set(struct err *err, enum status code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    (void)err_fill(err, code, REASON_NONE, fmt, args);
    va_end(args);
    return code;
}

enum status err_reason(struct err *err, enum reason reason, const char *fmt, ...)
{
    enum status code = reason_status(reason);
    va_list args;

    va_start(args, fmt);
    (void)err_fill(err, code, reason, fmt, args);
    va_end(args);
    return code;
}

void err_prefix(struct err *err, const char *fmt, ...)
{
    char old[sizeof err->text];
    va_list args;
    int n;

    if (!err)
        return;
    memcpy(old, err->text, sizeof old);
    va_start(args, fmt);
    n = vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof err->text)
        (void)snprintf(err->text + n, sizeof err->text - (size_t)n, ": %s", old);
}

const char *status_str(enum status st)
{
    return (unsigned)st < ST_COUNT_ ? STATUS[st].word : "unknown";
}

int status_http(enum status st)
{
    return (unsigned)st < ST_COUNT_ ? STATUS[st].http : 500;
}

int status_is_fault(enum status st)
{
    return (unsigned)st < ST_COUNT_ ? STATUS[st].fault : 1;
}

const char *reason_slug(enum reason reason)
{
    return (unsigned)reason < REASON_COUNT_ ? REASON[reason].slug : "none";
}

const char *reason_word(enum reason reason)
{
    return (unsigned)reason < REASON_COUNT_ ? REASON[reason].word : "ServerError";
}

const char *reason_title(enum reason reason)
{
    return (unsigned)reason < REASON_COUNT_ ? REASON[reason].title : "";
}

enum status reason_status(enum reason reason)
{
    return (unsigned)reason < REASON_COUNT_ ? REASON[reason].status : ST_INTERNAL;
}

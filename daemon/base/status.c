#include "base/status.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/utc.h"

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
        err->detail = NULL;
        err->field[0] = '\0';
        err->n_args = 0;
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

/* ------------------------------------------------------------------------------- details */

/* A value as the English text has it. */
static void value_print(const struct err *err, const struct err_value *value, char *ret,
                        size_t size)
{
    static const char *const seats[] = {"South", "West", "North", "East"};

    switch (value->kind) {
    case ERR_ARG_TEXT:
        (void)str_copy(ret, size, err->values + value->at);
        break;
    case ERR_ARG_NUMBER:
        (void)snprintf(ret, size, "%" PRId64, value->number);
        break;
    case ERR_ARG_SEAT:
        (void)str_copy(ret, size, (uint64_t)value->number < 4 ? seats[value->number] : "?");
        break;
    case ERR_ARG_LENGTH:
        length_format(value->number, ret, size);
        break;
    case ERR_ARG_INSTANT:
        utc_format(value->number, ret);
        break;
    }
}

static void values_keep(struct err *err, const struct err_arg *args, size_t n)
{
    size_t used = 0;

    assert(n <= ERR_ARGS_MAX);
    for (size_t i = 0; i < n && i < ERR_ARGS_MAX; i++) {
        struct err_value *value = &err->args[err->n_args++];

        *value = (struct err_value){
            .name = args[i].name, .kind = args[i].kind, .number = args[i].number, .at = used};
        if (args[i].kind != ERR_ARG_TEXT)
            continue;
        if (used == sizeof err->values)
            value->at = used - 1; /* the last one's end: nothing */
        (void)str_copy(err->values + value->at, sizeof err->values - value->at,
                       args[i].text ? args[i].text : "");
        used = value->at + strlen(err->values + value->at) + 1;
    }
}

/* The English sentence, from its text with {names}. */
static void english_print(struct err *err, const char *english)
{
    char value[sizeof err->values];
    size_t used = 0;

    err->text[0] = '\0';
    for (const char *p = english; *p && used + 1 < sizeof err->text;) {
        size_t length = strcspn(p + 1, "}");
        const struct err_value *found = NULL;

        for (size_t i = 0; *p == '{' && i < err->n_args; i++)
            if (strlen(err->args[i].name) == length && !strncmp(err->args[i].name, p + 1, length))
                found = &err->args[i];
        assert(*p != '{' || found); /* a value was not given */
        if (found) {
            value_print(err, found, value, sizeof value);
            (void)str_copy(err->text + used, sizeof err->text - used, value);
            p += length + 2;
        } else {
            err->text[used] = *p++;
            err->text[used + 1] = '\0';
        }
        used += strlen(err->text + used);
    }
}

enum status err_detail_with(struct err *err, enum reason reason, const char *code,
                            const char *english, const struct err_arg *args, size_t n)
{
    if (err) {
        (void)err_reason(err, reason, "%s", "");
        err->detail = code;
        values_keep(err, args, n);
        english_print(err, english);
    }
    return reason_status(reason);
}

enum status err_detail(struct err *err, enum reason reason, const char *code, const char *english)
{
    return err_detail_with(err, reason, code, english, NULL, 0);
}

void err_in_field(struct err *err, const char *field)
{
    if (!err)
        return;
    (void)str_copy(err->field, sizeof err->field, field);
    err_prefix(err, "%s", err->field);
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

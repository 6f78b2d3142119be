/*
 * http/form.c - reading a JSON body field by field.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "http/server.h"

enum { FORM_ERRORS_MAX = 16 };

void form_error(struct form *form, enum reason reason, const char *pointer, const char *fmt, ...)
{
    char detail[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(detail, sizeof detail, fmt, args);
    va_end(args);
    if (!form->errors) {
        form->errors = json_array();
        form->reason = reason;
        snprintf(form->first, sizeof form->first, "%.60s: %.180s", pointer, detail);
    }
    if (json_array_size(form->errors) < FORM_ERRORS_MAX)
        json_array_append_new(form->errors, json_pack("{s:s, s:s}", "pointer", pointer, "detail",
                                                      detail));
}

static void name_pointer(char *ret, size_t size, const char *name)
{
    snprintf(ret, size, "/%s", name);
}

static json_t *field(struct form *form, const char *name)
{
    bool is_known = false;

    for (size_t i = 0; i < form->n_known && !is_known; i++)
        is_known = strcmp(form->known[i], name) == 0;
    if (!is_known) {
        assert(form->n_known < COUNT_OF(form->known));
        form->known[form->n_known++] = name;
    }
    return form->object ? json_object_get(form->object, name) : NULL;
}

static const char *type_word(json_type type)
{
    switch (type) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
        return "a whole number";
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    }
    return "a value";
}

bool form_has(struct form *form, const char *name)
{
    return field(form, name) != NULL;
}

json_t *form_any(struct form *form, const char *name, int flags, json_type type)
{
    json_t *value = field(form, name);
    char pointer[64];

    name_pointer(pointer, sizeof pointer, name);
    if (!value) {
        if (flags & FIELD_NEEDED)
            form_error(form, REASON_MISSING_FIELD, pointer, "is needed");
        return NULL;
    }
    if (json_typeof(value) != type &&
        !(type == JSON_TRUE && json_typeof(value) == JSON_FALSE)) {
        form_error(form, REASON_BAD_FIELD, pointer, "must be %s", type_word(type));
        return NULL;
    }
    return value;
}

/* Characters, not bytes. */
static size_t utf8_length(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

void form_str(struct form *form, const char *name, int flags, size_t min, size_t max,
              const char **ret)
{
    json_t *value = form_any(form, name, flags, JSON_STRING);
    char pointer[64];
    size_t n;

    if (!value)
        return;
    name_pointer(pointer, sizeof pointer, name);
    n = utf8_length(json_string_value(value));
    if (n < min && min == 1)
        form_error(form, REASON_BAD_FIELD, pointer, "must not be empty");
    else if (n < min)
        form_error(form, REASON_BAD_FIELD, pointer, "must have at least %zu characters", min);
    else if (n > max)
        form_error(form, REASON_BAD_FIELD, pointer, "must have at most %zu characters", max);
    else
        *ret = json_string_value(value);
}

void form_int(struct form *form, const char *name, int flags, int64_t min, int64_t max,
              int64_t *ret)
{
    json_t *value = form_any(form, name, flags, JSON_INTEGER);
    char pointer[64];

    if (!value)
        return;
    name_pointer(pointer, sizeof pointer, name);
    if (json_integer_value(value) < min || json_integer_value(value) > max)
        form_error(form, REASON_BAD_FIELD, pointer, "must be from %lld to %lld", (long long)min,
                   (long long)max);
    else
        *ret = json_integer_value(value);
}

void form_bool(struct form *form, const char *name, bool *ret)
{
    json_t *value = form_any(form, name, 0, JSON_TRUE);

    if (value)
        *ret = json_is_true(value);
}

void form_instant(struct form *form, const char *name, utc_ms *ret)
{
    json_t *value = form_any(form, name, 0, JSON_STRING);
    char pointer[64];
    struct err err = ERR_INIT;

    if (!value)
        return;
    name_pointer(pointer, sizeof pointer, name);
    if (utc_parse(json_string_value(value), ret, &err) != ST_OK)
        form_error(form, REASON_BAD_FIELD, pointer,
                   "must be an instant such as 2026-11-29T19:28:13Z");
}

void form_word(struct form *form, const char *name, int flags, const char *const *words, size_t n,
               int *ret)
{
    json_t *value = form_any(form, name, flags, JSON_STRING);
    char pointer[64], list[200] = "";
    size_t used = 0;

    if (!value)
        return;
    name_pointer(pointer, sizeof pointer, name);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(json_string_value(value), words[i]) == 0) {
            *ret = (int)i;
            return;
        }
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                     words[i]);
    }
    form_error(form, REASON_BAD_FIELD, pointer, "must be one of %s", list);
}

enum status form_end(struct form *form, struct err *err)
{
    const char *name;
    json_t *value;

    json_object_foreach (form->object, name, value) {
        bool is_known = false;

        for (size_t i = 0; i < form->n_known && !is_known; i++)
            is_known = strcmp(form->known[i], name) == 0;
        if (!is_known) {
            char pointer[64];

            name_pointer(pointer, sizeof pointer, name);
            /* A name cut inside a character would not be JSON. */
            if (!utf8_is_valid(pointer, strlen(pointer)))
                pointer[1] = '\0';
            form_error(form, REASON_UNKNOWN_FIELD, pointer, "no such field is known here");
        }
    }
    if (!form->errors)
        return ST_OK;
    return err_reason(err, form->reason, "%s", form->first);
}

void form_release(struct form *form)
{
    json_decref(form->object);
    json_decref(form->errors);
    *form = (struct form){.object = NULL};
}

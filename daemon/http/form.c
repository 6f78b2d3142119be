/*
 * http/form.c - see form.h.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/request.h"

enum { FORM_ERRORS_MAX = 16, DETAIL_MAX = 1024 };
#define WHOLE_REAL_MAX 9007199254740992.0 /* 2^53: above it a real does not tell whole numbers */

/* ------------------------------------------------------------------------------ the object */

static bool is_json_type(const char *type)
{
    size_t n = strcspn(type, "; \t");

    return n == strlen("application/json") && strncasecmp(type, "application/json", n) == 0;
}

static const struct json_fault {
    enum json_error_code of;
    const char *code, *english;
} json_faults[] = {
    {json_error_premature_end_of_input, "refusal.json_end",
     "line {line}, column {column}: the text ends too early"},
    {json_error_end_of_input_expected, "refusal.json_after",
     "line {line}, column {column}: there is more after the end"},
    {json_error_invalid_utf8, "refusal.json_utf8",
     "line {line}, column {column}: this is not UTF-8"},
    {json_error_duplicate_key, "refusal.json_twice",
     "line {line}, column {column}: a field is there twice"},
    {json_error_numeric_overflow, "refusal.json_number",
     "line {line}, column {column}: the number is too large"},
    {json_error_null_character, "refusal.json_nul",
     "line {line}, column {column}: a text holds a NUL"},
    {json_error_null_byte_in_key, "refusal.json_nul",
     "line {line}, column {column}: a text holds a NUL"},
    {json_error_stack_overflow, "refusal.json_deep",
     "line {line}, column {column}: this is nested too deep"},
    /* any other */
    {json_error_unknown, "refusal.json_syntax",
     "line {line}, column {column}: this is not how JSON is written"},
};

/* What is wrong with a text that is no JSON, by jansson's code; its words are English. */
static enum status refuse_json(const json_error_t *fault, struct err *err)
{
    enum json_error_code of = json_error_code(fault);
    const struct json_fault *row = json_faults;

    if (of == json_error_out_of_memory)
        return err_reason(err, REASON_NO_MEMORY, "the body did not fit into memory");
    while (row->of != of && row->of != json_error_unknown)
        row++;
    return ERR_DETAIL(err, REASON_BAD_JSON, row->code, row->english,
                      ERR_NUMBER("line", fault->line), ERR_NUMBER("column", fault->column));
}

enum status form_read(struct request *r, struct err *err)
{
    const char *type = request_header(r, "Content-Type");
    json_error_t fault;
    unsigned flags = r->route->flags;

    if (flags & ROUTE_FORM)
        return ST_OK;
    if (r->body.len == 0) {
        if (flags & ROUTE_BODY)
            return err_detail(err, REASON_BAD_JSON, "refusal.body_object",
                              "the body must be a JSON object");
        return ST_OK;
    }
    if (!(flags & (ROUTE_BODY | ROUTE_BODY_OPTIONAL))) {
        if (r->body.data[strspn(r->body.data, " \t\r\n{}")] != '\0' ||
            strlen(r->body.data) != r->body.len)
            return err_detail(err, REASON_BAD_REQUEST, "refusal.no_body", "this takes no body");
        return ST_OK;
    }
    if (!type || !is_json_type(type))
        return err_detail(err, REASON_MEDIA_TYPE, "refusal.body_json",
                          "the body must be `application/json`");
    r->form.object =
        json_loadb(r->body.data, r->body.len, JSON_REJECT_DUPLICATES, &fault);
    if (!r->form.object)
        return refuse_json(&fault, err);
    if (!json_is_object(r->form.object)) {
        json_decref(r->form.object);
        r->form.object = NULL;
        return err_detail(err, REASON_BAD_JSON, "refusal.body_object",
                          "the body must be a JSON object");
    }
    return ST_OK;
}

/* ------------------------------------------------------------------------------ its faults */

void form_refuse(struct form *form, const char *pointer, const struct err *why)
{
    struct buf detail = buf_make(DETAIL_MAX);

    if (!form->errors) {
        form->errors = json_array();
        form->first = *why;
        err_in_field(&form->first, pointer);
    }
    if (json_array_size(form->errors) < FORM_ERRORS_MAX) {
        if (!words_refusal(&detail, form->lang, why))
            buf_puts(&detail, words_reason(form->lang, why->reason));
        json_array_append_new(form->errors, json_pack("{s:s, s:s}", "pointer", pointer, "detail",
                                                      detail.data));
    }
    buf_release(&detail);
}

void form_error(struct form *form, enum reason reason, const char *pointer, const char *code,
                const char *english)
{
    form_error_with(form, reason, pointer, code, english, NULL, 0);
}

void form_error_with(struct form *form, enum reason reason, const char *pointer, const char *code,
                     const char *english, const struct err_arg *args, size_t n)
{
    struct err why = ERR_INIT;

    (void)err_detail_with(&why, reason, code, english, args, n);
    form_refuse(form, pointer, &why);
}

void form_pointer(char *ret, size_t size, const char *parent, const char *name)
{
    size_t used = (size_t)snprintf(ret, size, "%s/", parent);

    for (; *name && used + 2 < size; name++) {
        if (*name == '~' || *name == '/') {
            ret[used++] = '~';
            ret[used++] = *name == '~' ? '0' : '1';
        } else {
            ret[used++] = *name;
        }
    }
    ret[used] = '\0';
    /* A name cut inside a character would not be JSON. */
    if (!utf8_is_valid(ret, used))
        str_copy(ret, size, *parent ? parent : "/");
}

static void name_pointer(char *ret, size_t size, const char *name)
{
    form_pointer(ret, size, "", name);
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

static void error_type(struct form *form, const char *pointer, json_type type)
{
    switch (type) {
    case JSON_OBJECT:
        form_error(form, REASON_BAD_FIELD, pointer, "refusal.must_object", "must be an object");
        return;
    case JSON_ARRAY:
        form_error(form, REASON_BAD_FIELD, pointer, "refusal.must_array", "must be an array");
        return;
    case JSON_STRING:
        form_error(form, REASON_BAD_FIELD, pointer, "refusal.must_text", "must be a text");
        return;
    case JSON_INTEGER:
    case JSON_REAL:
        form_error(form, REASON_BAD_FIELD, pointer, "refusal.must_number",
                   "must be a whole number");
        return;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        break;
    }
    FORM_ERROR(form, REASON_BAD_FIELD, pointer, "refusal.must_be_one",
               "must be one of `{list}`", ERR_TEXT("list", "true, false"));
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
            form_error(form, REASON_MISSING_FIELD, pointer, "refusal.needed", "is needed");
        return NULL;
    }
    if (json_typeof(value) != type &&
        !(type == JSON_TRUE && json_typeof(value) == JSON_FALSE)) {
        error_type(form, pointer, type);
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

    if (!value)
        return;
    name_pointer(pointer, sizeof pointer, name);
    if (form_length(form, pointer, json_string_value(value), min, max))
        *ret = json_string_value(value);
}

bool form_length(struct form *form, const char *pointer, const char *text, size_t min, size_t max)
{
    size_t n = utf8_length(text);

    if (n < min && min == 1)
        form_error(form, REASON_BAD_FIELD, pointer, "refusal.must_not_empty", "must not be empty");
    else if (n < min)
        FORM_ERROR(form, REASON_BAD_FIELD, pointer, "refusal.must_least",
                   "must have at least {least} characters", ERR_NUMBER("least", min));
    else if (n > max)
        FORM_ERROR(form, REASON_BAD_FIELD, pointer, "refusal.must_most",
                   "must have at most {most} characters", ERR_NUMBER("most", max));
    return n >= min && n <= max;
}

void form_int(struct form *form, const char *name, int flags, int64_t min, int64_t max,
              int64_t *ret)
{
    json_t *value = field(form, name);
    char pointer[64];

    name_pointer(pointer, sizeof pointer, name);
    if (value)
        form_int_of(form, pointer, value, min, max, ret);
    else if (flags & FIELD_NEEDED)
        form_error(form, REASON_MISSING_FIELD, pointer, "refusal.needed", "is needed");
}

void form_int_of(struct form *form, const char *pointer, const json_t *value, int64_t min,
                 int64_t max, int64_t *ret)
{
    int64_t number;

    /* JSON Schema: 10.0 and 1e1 are whole numbers. */
    if (json_is_integer(value)) {
        number = json_integer_value(value);
    } else if (json_is_real(value) && json_real_value(value) >= -WHOLE_REAL_MAX &&
               json_real_value(value) <= WHOLE_REAL_MAX &&
               (double)(int64_t)json_real_value(value) == json_real_value(value)) {
        number = (int64_t)json_real_value(value);
    } else {
        error_type(form, pointer, JSON_INTEGER);
        return;
    }
    if (number < min || number > max)
        FORM_ERROR(form, REASON_BAD_FIELD, pointer, "refusal.must_range",
                   "must be from {least} to {most}", ERR_NUMBER("least", min),
                   ERR_NUMBER("most", max));
    else
        *ret = number;
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
        form_error(form, REASON_BAD_FIELD, pointer, "refusal.must_instant",
                   "must be an instant such as 2026-11-29T19:28:13Z");
}

void form_word(struct form *form, const char *name, int flags, const char *const *words, size_t n,
               int *ret)
{
    json_t *value = form_any(form, name, flags, JSON_STRING);
    char pointer[64];

    if (!value)
        return;
    name_pointer(pointer, sizeof pointer, name);
    form_choose(form, pointer, json_string_value(value), words, n, ret);
}

void form_choose(struct form *form, const char *pointer, const char *text,
                 const char *const *words, size_t n, int *ret)
{
    char list[200] = "";
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, words[i]) == 0) {
            *ret = (int)i;
            return;
        }
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "",
                                     words[i]);
    }
    FORM_ERROR(form, REASON_BAD_FIELD, pointer, "refusal.must_be_one", "must be one of `{list}`",
               ERR_TEXT("list", list));
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
            form_error(form, REASON_UNKNOWN_FIELD, pointer, "refusal.no_field",
                       "no such field is known here");
        }
    }
    if (!form->errors)
        return ST_OK;
    if (err)
        *err = form->first;
    return form->first.code;
}

void form_release(struct form *form)
{
    json_decref(form->object);
    json_decref(form->errors);
    *form = (struct form){.object = NULL};
}

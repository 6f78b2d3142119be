/*
 * http/form.h - reading a body that is a JSON object, field by field.
 *
 * Calling sequence
 *   form_read() on the whole body → form_str() and the like, one call a field → form_end(), which
 *   refuses fields that nobody asked for and tells all that was wrong at once → form_release().
 *
 * Ownership: strings and values are lent by the form.  Threads: as the request.
 * Errors: the reasons of a bad field; form_read() has REASON_BAD_JSON, REASON_MEDIA_TYPE and
 * REASON_BAD_REQUEST for what is no such object at all.
 */
#ifndef FH_HTTP_FORM_H
#define FH_HTTP_FORM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/utc.h"
#include "words/words.h"

struct request;

struct form {
    json_t *object;
    const char *known[24];
    size_t n_known;
    json_t *errors; /* [{pointer, detail}], NULL while there are none */
    struct err first;
    enum lang lang; /* in which they are told */
};

/* Read the body of r, as its route wants it, into r->form. */
MUST_CHECK enum status form_read(struct request *r, struct err *err);

/* Fields are read one by one; what is wrong is collected, and form_end() tells all of it.  An
 * absent optional field leaves *ret as it was. */
enum { FIELD_NEEDED = 1 };
bool form_has(struct form *form, const char *name);
void form_str(struct form *form, const char *name, int flags, size_t min, size_t max,
              const char **ret);
/* Whether a text has min to max characters; else it is a fault of pointer. */
bool form_length(struct form *form, const char *pointer, const char *text, size_t min, size_t max);
void form_int(struct form *form, const char *name, int flags, int64_t min, int64_t max,
              int64_t *ret);
/* The same of a value inside another, which is there. */
void form_int_of(struct form *form, const char *pointer, const json_t *value, int64_t min,
                 int64_t max, int64_t *ret);
void form_bool(struct form *form, const char *name, bool *ret);
void form_instant(struct form *form, const char *name, utc_ms *ret);
/* The value itself, borrowed; NULL when absent or of another type (which is an error). */
json_t *form_any(struct form *form, const char *name, int flags, json_type type);
/* One of words[n]; *ret is its index. */
void form_word(struct form *form, const char *name, int flags, const char *const *words, size_t n,
               int *ret);
/* The same of a text that is there. */
void form_choose(struct form *form, const char *pointer, const char *text,
                 const char *const *words, size_t n, int *ret);
/* Note a fault: pointer is the field, the rest as of err_detail() and ERR_DETAIL(). */
void form_error(struct form *form, enum reason reason, const char *pointer, const char *code,
                const char *english);
void form_error_with(struct form *form, enum reason reason, const char *pointer, const char *code,
                     const char *english, const struct err_arg *args, size_t n);
#define FORM_ERROR(form, reason, pointer, code, english, ...)                                      \
    form_error_with((form), (reason), (pointer), (code), (english),                                \
                    (const struct err_arg[]){__VA_ARGS__},                                         \
                    sizeof((const struct err_arg[]){__VA_ARGS__}) / sizeof(struct err_arg))
/* RFC 6901: the pointer to a member of parent ("" is the body), whose name may be anybody's.  One
 * too long is cut; where that is inside a character, it is parent's pointer ("/" of the body). */
void form_pointer(char *ret, size_t size, const char *parent, const char *name);
/* The same with a refusal that is made already. */
void form_refuse(struct form *form, const char *pointer, const struct err *why);
MUST_CHECK enum status form_end(struct form *form, struct err *err);
void form_release(struct form *form);

#endif

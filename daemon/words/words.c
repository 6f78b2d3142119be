/* words/words.c - languages, plurals, the catalogue; see words.h. */
#include "words/words.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "words/table.h"

enum { PLAIN_MAX = 4096 };

/* ---------------------------------------------------------------- languages */

const char *const *lang_tags(void)
{
    static const char *const tags[LANGS + 1] = {"en", "ru", "ro", NULL};

    return tags;
}

const char *lang_tag(enum lang lang)
{
    assert(lang < LANGS);
    return lang_tags()[lang];
}

bool lang_find(const char *tag, enum lang *ret_lang)
{
    char first[3];

    if (tag == NULL || strlen(tag) < 2 || (tag[2] != '\0' && tag[2] != '-' && tag[2] != '_'))
        return false;
    memcpy(first, tag, 2);
    first[2] = '\0';
    for (int i = 0; i < LANGS; i++) {
        if (str_case_eq(first, lang_tag((enum lang)i))) {
            *ret_lang = (enum lang)i;
            return true;
        }
    }
    return false;
}

enum lang lang_of(const char *tag)
{
    enum lang lang = LANG_EN;

    (void)lang_find(tag, &lang);
    return lang;
}

/* ---------------------------------------------------------------- plurals */

const char *plural_str(enum plural plural)
{
    static const char *const word[PLURALS] = {"one", "few", "many", "other"};

    assert(plural < PLURALS);
    return word[plural];
}

/* CLDR's rules, for whole numbers (v = 0). */
enum plural plural_of(enum lang lang, int64_t n)
{
    uint64_t i = n < 0 ? (uint64_t)-(n + 1) + 1 : (uint64_t)n;
    uint64_t tens = i % 100, ones = i % 10;

    switch (lang) {
    case LANG_RU:
        if (ones == 1 && tens != 11)
            return PLURAL_ONE;
        return ones >= 2 && ones <= 4 && (tens < 12 || tens > 14) ? PLURAL_FEW : PLURAL_MANY;
    case LANG_RO:
        if (i == 1)
            return PLURAL_ONE;
        return i == 0 || (tens >= 1 && tens <= 19) ? PLURAL_FEW : PLURAL_OTHER;
    case LANG_EN:
    case LANGS:
        break;
    }
    return i == 1 ? PLURAL_ONE : PLURAL_OTHER;
}

bool plural_is_used(enum lang lang, enum plural plural)
{
    switch (plural) {
    case PLURAL_ONE:
        return true;
    case PLURAL_FEW:
        return lang != LANG_EN;
    case PLURAL_MANY:
        return lang == LANG_RU;
    case PLURAL_OTHER:
        return lang != LANG_RU;
    case PLURALS:
        break;
    }
    return false;
}

/* ---------------------------------------------------------------- the catalogue */

static int row_compare(const void *code, const void *row)
{
    return strcmp(code, ((const struct words_row *)row)->code);
}

static const struct words_row *row_find(const char *code)
{
    return bsearch(code, words_table, words_table_count, sizeof words_table[0], row_compare);
}

bool words_has(const char *code)
{
    return row_find(code) != NULL;
}

size_t words_count(void)
{
    return words_table_count;
}

struct words_entry words_at(enum lang lang, size_t index)
{
    const struct words_row *row = &words_table[index];
    struct words_entry entry = {.code = row->code, .is_plural = row->is_plural};

    assert(index < words_table_count && lang < LANGS);
    for (int i = 0; i < PLURALS; i++)
        entry.form[i] = row->form[lang][i];
    return entry;
}

static const struct words_arg *arg_find(const struct words_arg *args, size_t n, const char *name,
                                        size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(args[i].name) == length && memcmp(args[i].name, name, length) == 0)
            return &args[i];
    return NULL;
}

static void text_fill(struct buf *out, const char *text, const struct words_arg *args, size_t n)
{
    const char *p = text;

    while (*p != '\0') {
        size_t plain = strcspn(p, "{");
        size_t length;
        const struct words_arg *arg;

        buf_add(out, p, plain);
        p += plain;
        if (*p == '\0')
            break;
        if (p[1] == '{') {
            buf_putc(out, '{');
            p += 2;
            continue;
        }
        length = strcspn(p + 1, "}");
        arg = arg_find(args, n, p + 1, length);
        assert(arg != NULL); /* an argument of this text was not given */
        if (arg == NULL)
            buf_add(out, p, length + 2);
        else if (arg->text != NULL)
            buf_puts(out, arg->text);
        else
            buf_printf(out, "%" PRId64, arg->number);
        p += length + 2;
    }
}

void words_put(struct buf *out, enum lang lang, const char *code, const struct words_arg *args,
               size_t n)
{
    const struct words_row *row = row_find(code);
    enum plural plural = PLURAL_OTHER;
    const char *text;

    assert(row != NULL); /* no such code */
    if (row == NULL) {
        buf_puts(out, code);
        return;
    }
    if (row->is_plural) {
        const struct words_arg *count = arg_find(args, n, "n", 1);

        assert(count != NULL && count->text == NULL); /* a text with plurals wants a number n */
        plural = plural_of(lang, count != NULL ? count->number : 0);
    }
    text = row->form[lang][plural];
    text_fill(out, text != NULL ? text : code, args, n);
}

const char *words_print(char *ret, size_t size, enum lang lang, const char *code,
                        const struct words_arg *args, size_t n)
{
    struct buf b = buf_make(PLAIN_MAX);

    words_put(&b, lang, code, args, n);
    (void)str_copy(ret, size, b.data);
    buf_release(&b);
    return ret;
}

const char *words_plain(enum lang lang, const char *code)
{
    const struct words_row *row = row_find(code);

    assert(row != NULL && !row->is_plural && strchr(row->form[lang][PLURAL_OTHER], '{') == NULL);
    return row != NULL && !row->is_plural ? row->form[lang][PLURAL_OTHER] : "";
}

/* ---------------------------------------------------------------- time */

static void unit_put(struct buf *out, enum lang lang, const char *code, int64_t n)
{
    words_put(out, lang, code, (const struct words_arg[]){WORDS_NUMBER("n", n)}, 1);
}

void words_length(struct buf *out, enum lang lang, int64_t length_ms)
{
    static const struct {
        const char *code;
        int64_t ms;
    } unit[] = {{"length.d", MS_DAY}, {"length.h", MS_HOUR}, {"length.min", MS_MINUTE}};
    /* the most negative number has no opposite, and is no sensible length either */
    int64_t left = length_ms == INT64_MIN ? INT64_MAX : length_ms < 0 ? -length_ms : length_ms;

    for (size_t i = 0; i < COUNT_OF(unit); i++) {
        if (left < unit[i].ms)
            continue;
        unit_put(out, lang, unit[i].code, left / unit[i].ms);
        left %= unit[i].ms;
        if (i + 1 < COUNT_OF(unit) && left >= unit[i + 1].ms) {
            buf_puts(out, "\xc2\xa0"); /* a no-break space keeps the two together */
            unit_put(out, lang, unit[i + 1].code, left / unit[i + 1].ms);
        }
        return;
    }
    words_put(out, lang, "length.moment", NULL, 0);
}

void words_civil(struct buf *out, enum lang lang, const struct civil *civil)
{
    char weekday[32], month[32], time[32], code[32];

    (void)snprintf(code, sizeof code, "date.weekday.%d", civil->weekday);
    (void)str_copy(weekday, sizeof weekday, words_plain(lang, code));
    (void)snprintf(code, sizeof code, "date.month.%d", civil->month);
    (void)str_copy(month, sizeof month, words_plain(lang, code));
    (void)snprintf(time, sizeof time, "%02d:%02d", civil->hour, civil->minute);
    words_put(out, lang, "date.civil",
              (const struct words_arg[]){WORDS_TEXT("weekday", weekday),
                                         WORDS_NUMBER("day", civil->day),
                                         WORDS_TEXT("month", month),
                                         WORDS_NUMBER("year", civil->year),
                                         WORDS_TEXT("time", time)},
              5);
}

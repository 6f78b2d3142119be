/* mail/address.c - see address.h. */
#include "mail/address.h"

#include <stdlib.h>
#include <string.h>

#include <gmime/gmime.h>

#include "base/buf.h"
#include "base/str.h"
#include "mail/decode.h"
#include "mail/message.h"
#include "mail/scan.h"

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   /* an atom, with the dots in it */
    TOKEN_QUOTED, /* "…" */
    TOKEN_SIGN,   /* one of < > , : ; @ */
    TOKEN_BAD     /* an unending quote or comment, a lone ) or ] */
};

struct token {
    enum token_kind kind;
    char sign;
    const char *text; /* with its quotes */
    size_t n;
    bool has_blank_before;
};

static struct token token_next(const char **p)
{
    const char *before = *p;
    struct token t = {.kind = TOKEN_END};
    const char *s;

    if (!scan_skip_cfws(p)) {
        t.kind = TOKEN_BAD;
        return t;
    }
    s = *p;
    t.has_blank_before = s != before;
    t.text = s;
    t.n = 1;
    if (*s == '\0') {
        return t;
    } else if (*s == '"') {
        for (s++; *s != '\0' && *s != '"'; s++)
            if (*s == '\\' && s[1] != '\0')
                s++;
        t.kind = *s == '"' ? TOKEN_QUOTED : TOKEN_BAD;
        t.n = (size_t)(s - t.text) + (*s == '"');
    } else if (strchr("<>,:;@", *s) != NULL) {
        t.kind = TOKEN_SIGN;
        t.sign = *s;
    } else if (strchr(")[]\\", *s) != NULL) {
        t.kind = TOKEN_BAD;
    } else {
        t.kind = TOKEN_WORD;
        t.n = strcspn(s, "<>,:;@()[]\\\" \t\r\n");
    }
    *p = t.text + t.n;
    return t;
}

/* ---------------------------------------------------------------- strict: From */

/* A token, a quoted one as it would stand without its quotes. */
static void put_local(struct buf *out, const struct token *t)
{
    if (t->kind != TOKEN_QUOTED) {
        buf_add(out, t->text, t->n);
        return;
    }
    for (size_t i = 1; i + 1 < t->n; i++) {
        if (t->text[i] == '\\' && i + 2 < t->n)
            i++;
        buf_putc(out, t->text[i]);
    }
}

/* local "@" domain, and after it the next token in *t. */
static bool read_spec(const char **p, struct token *t, struct buf *out)
{
    if (t->kind != TOKEN_WORD && t->kind != TOKEN_QUOTED)
        return false;
    put_local(out, t);
    *t = token_next(p);
    if (t->kind != TOKEN_SIGN || t->sign != '@')
        return false;
    *t = token_next(p);
    if (t->kind != TOKEN_WORD)
        return false;
    buf_putc(out, '@');
    for (size_t i = 0; i < t->n; i++)
        buf_putc(out, char_lower(t->text[i]));
    *t = token_next(p);
    return true;
}

/* The words before "<", as they stand; unquoted "@" among them is common. */
static void read_phrase(const char **p, struct token *t, struct buf *out)
{
    while (t->kind == TOKEN_WORD || t->kind == TOKEN_QUOTED ||
           (t->kind == TOKEN_SIGN && t->sign == '@')) {
        if (out->len > 0 && t->has_blank_before)
            buf_putc(out, ' ');
        put_local(out, t);
        *t = token_next(p);
    }
}

static enum letter_from_fault fault_at(const struct token *t)
{
    if (t->kind == TOKEN_SIGN && (t->sign == ',' || t->sign == ';'))
        return LETTER_FROM_SEVERAL;
    if (t->kind == TOKEN_SIGN && t->sign == ':')
        return LETTER_FROM_GROUP;
    return LETTER_FROM_BAD;
}

static enum letter_from_fault read_from(const char *value, struct buf *address, struct buf *phrase)
{
    const char *p = value;
    struct token t = token_next(&p);

    if (t.kind == TOKEN_END)
        return LETTER_FROM_MISSING;
    read_phrase(&p, &t, phrase);
    if (t.kind == TOKEN_SIGN && t.sign == '<') {
        t = token_next(&p);
        if (!read_spec(&p, &t, address) || t.kind != TOKEN_SIGN || t.sign != '>')
            return LETTER_FROM_BAD;
        t = token_next(&p);
        return t.kind == TOKEN_END ? LETTER_FROM_OK : fault_at(&t);
    }
    if (t.kind != TOKEN_END)
        return fault_at(&t);
    /* No brackets: the value must be the address alone, a comment or two apart. */
    buf_clear(phrase);
    p = value;
    t = token_next(&p);
    return read_spec(&p, &t, address) && t.kind == TOKEN_END ? LETTER_FROM_OK : LETTER_FROM_BAD;
}

enum status address_from(const char *value, enum letter_from_fault *ret_fault, char **ret_address,
                         char **ret_name, struct err *err)
{
    struct buf address = buf_make(strlen(value) + 1);
    struct buf phrase = buf_make(2 * strlen(value) + 1);
    enum letter_from_fault fault = read_from(value, &address, &phrase);
    char *name = NULL;
    bool has_controls = false;
    enum status st = ST_OK;

    if (buf_failed(&address) || buf_failed(&phrase) ||
        (name = decode_header(phrase.data, MAIL_HEADER_TEXT_MAX, &has_controls)) == NULL) {
        st = err_set(err, ST_NOMEM, "no memory to read a letter");
        goto out;
    }
    if (fault == LETTER_FROM_OK && (has_controls || !mail_address_is_ok(address.data)))
        fault = LETTER_FROM_BAD;
    if (fault == LETTER_FROM_OK) {
        char *kept = str_dup(address.data);

        if (kept == NULL) {
            st = err_set(err, ST_NOMEM, "no memory to read a letter");
            goto out;
        }
        *ret_address = kept;
        *ret_name = name;
        name = NULL;
    }
    *ret_fault = fault;
out:
    free(name);
    buf_release(&address);
    buf_release(&phrase);
    return st;
}

/* ---------------------------------------------------------------- lenient: lists */

void address_each(const char *value, bool (*each)(void *arg, const char *address, size_t n),
                  void *arg)
{
    const char *p = value;
    struct token local = {.kind = TOKEN_END};

    for (struct token t = token_next(&p); t.kind != TOKEN_END; t = token_next(&p)) {
        if (t.kind == TOKEN_BAD) {
            if (*p == '\0')
                return;
            p += p == t.text; /* step over what fits nowhere */
            continue;
        }
        if (t.kind == TOKEN_SIGN && t.sign == '@' && local.kind == TOKEN_WORD &&
            !t.has_blank_before) {
            struct token domain = token_next(&p);

            if (domain.kind == TOKEN_WORD && !domain.has_blank_before &&
                domain.text == local.text + local.n + 1 &&
                !each(arg, local.text, local.n + 1 + domain.n))
                return;
            t = domain;
        }
        local = t;
        if (t.kind == TOKEN_END)
            return;
    }
}

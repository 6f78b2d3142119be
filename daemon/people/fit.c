/* What fits: handles, names, addresses, language tags. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "people/people.h"

static void fold(const char *text, char *ret, size_t size)
{
    size_t n = 0;

    for (; text[n] && n + 1 < size; n++)
        ret[n] = char_lower(text[n]);
    ret[n] = '\0';
}

void handle_fold(const char *handle, char ret[HANDLE_MAX + 1])
{
    fold(handle, ret, HANDLE_MAX + 1);
}

void address_fold(const char *address, char ret[ADDRESS_MAX + 1])
{
    fold(address, ret, ADDRESS_MAX + 1);
}

enum status handle_is_fit(const char *handle, struct err *err)
{
    /* Words that stand for something else in the API, in commands or in letters. */
    static const char *const kept[] = {
        "admin", "administrator", "anybody", "anyone", "black", "east",   "everybody",
        "fourhanded", "green", "mailer-daemon", "me", "nobody", "noreply", "north", "open",
        "operator", "organiser", "postmaster", "red", "root", "server", "south", "system", "west",
        "white", "yellow",
    };
    size_t len = strlen(handle);

    if (len == 0 || len > HANDLE_MAX)
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.handle_length",
                          "a handle has 1 to {most} characters", ERR_NUMBER("most", HANDLE_MAX));
    for (size_t i = 0; i < len; i++)
        if (!char_is_letter(handle[i]) &&
            (i == 0 || (!char_is_digit(handle[i]) && handle[i] != '-' && handle[i] != '_')))
            return err_detail(
                err, REASON_BAD_FIELD, "refusal.handle_shape",
                "a handle begins with a letter (a-z) and goes on with letters, digits, - and _");
    for (size_t i = 0; i < COUNT_OF(kept); i++)
        if (str_case_eq(handle, kept[i]))
            return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.handle_kept",
                              "the handle \"{handle}\" is kept for the server",
                              ERR_TEXT("handle", kept[i]));
    return ST_OK;
}

enum status address_is_fit(const char *address, struct err *err)
{
    const char *at = strrchr(address, '@');
    size_t label = 0, local = at ? (size_t)(at - address) : 0;
    bool has_dot = false;

    if (!at || local == 0 || local > 64 || strlen(address) > ADDRESS_MAX)
        goto bad;
    for (size_t i = 0; i < local; i++) { /* a dot-atom; quoted local parts are in no use */
        char c = address[i];
        if (c == '.' ? i == 0 || i + 1 == local || address[i - 1] == '.'
                     : !char_is_letter(c) && !char_is_digit(c) && !strchr("!#$%&'*+-/=?^_`{|}~", c))
            goto bad;
    }
    for (const char *p = at + 1; *p; p++) {
        if (*p == '.') {
            if (label == 0 || p[-1] == '-')
                goto bad;
            has_dot = true;
            label = 0;
        } else if ((!char_is_letter(*p) && !char_is_digit(*p) && *p != '-') || ++label > 63 ||
                   (*p == '-' && label == 1)) {
            goto bad;
        }
    }
    if (label == 0 || address[strlen(address) - 1] == '-' ||
        (!has_dot && !str_case_eq(at + 1, "localhost")))
        goto bad;
    return ST_OK;
bad:
    return err_detail(err, REASON_BAD_FIELD, "refusal.address_shape",
                      "an address looks like name@example.org, in plain letters");
}

/* Decode one character of valid UTF-8. */
static unsigned char_next(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    unsigned c = *p++;
    int more = c < 0x80 ? 0 : c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;

    c &= more == 0 ? 0x7Fu : more == 1 ? 0x1Fu : more == 2 ? 0x0Fu : 0x07u;
    for (; more > 0; more--)
        c = c << 6 | (*p++ & 0x3Fu);
    *text = (const char *)p;
    return c;
}

struct range {
    unsigned first, last;
};

static bool char_is_in(unsigned c, const struct range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

/* Controls, marks that turn or hide the text around them, and what is drawn as nothing: fillers,
 * joiners, selectors of forms, the empty braille cell, code points that are no characters. */
static bool char_is_unfit(unsigned c)
{
    static const struct range ranges[] = {
        {0, 0x1F},         {0x7F, 0x9F},     {0xAD, 0xAD},       {0x34F, 0x34F},
        {0x61C, 0x61C},    {0x115F, 0x1160}, {0x17B4, 0x17B5},   {0x180B, 0x180F},
        {0x200B, 0x200F},  {0x2028, 0x202E}, {0x2060, 0x206F},   {0x2800, 0x2800},
        {0x3164, 0x3164},  {0xFDD0, 0xFDEF}, {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
        {0xFFA0, 0xFFA0},  {0xFFF0, 0xFFFF}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
        {0xE0000, 0x10FFFF}};

    return char_is_in(c, ranges, COUNT_OF(ranges)) || (c & 0xFFFE) == 0xFFFE;
}

/* Marks that are drawn on what stands before them: at the beginning that would be our own text. */
static bool char_is_mark(unsigned c)
{
    static const struct range ranges[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},
                                          {0x64B, 0x65F},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
                                          {0x20D0, 0x20FF}, {0xFE20, 0xFE2F}};

    return char_is_in(c, ranges, COUNT_OF(ranges));
}

static bool char_is_blank(unsigned c)
{
    return c == ' ' || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F ||
           c == 0x205F || c == 0x3000;
}

/* Pictures that a joiner (U+200D) makes one of: people, hearts, flags, tools and their kin, also
 * with the selector that asks for the coloured form. */
static bool char_is_picture(unsigned c)
{
    return (c >= 0x1F000 && c <= 0x1FAFF) || (c >= 0x2190 && c <= 0x2BFF) || c == 0xFE0F;
}

/* What the selector may stand behind; behind a letter it makes a name that looks like another. */
static bool char_has_picture(unsigned c)
{
    return char_is_picture(c) || (c >= '0' && c <= '9') || c == '#' || c == '*' || c == 0xA9 ||
           c == 0xAE || c == 0x203C || c == 0x2049 || c == 0x2122 || c == 0x2139;
}

enum status name_is_fit(const char *name, struct err *err)
{
    size_t characters = 0;
    unsigned before = 0;
    bool is_blank = true;

    if (strlen(name) >= DISPLAY_NAME_SIZE || !utf8_is_valid(name, strlen(name)))
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.name_bytes",
                          "a name is UTF-8 text of at most {most} bytes",
                          ERR_NUMBER("most", DISPLAY_NAME_SIZE - 1));
    for (const char *p = name; *p; characters++) {
        unsigned c = char_next(&p);
        const char *next = p;
        bool is_joiner = c == 0x200D && char_is_picture(before) && *next &&
                         char_is_picture(char_next(&next));
        bool is_selector = c == 0xFE0F && before != 0xFE0F && char_has_picture(before);

        before = c;
        if (char_is_unfit(c) && !is_joiner && !is_selector)
            return err_detail(err, REASON_BAD_FIELD, "refusal.name_invisible",
                              "a name holds no invisible characters");
        if ((characters == 0 || !*p) && char_is_blank(c))
            return err_detail(err, REASON_BAD_FIELD, "refusal.name_blank",
                              "a name neither begins nor ends with a blank");
        if (characters == 0 && char_is_mark(c))
            return err_detail(err, REASON_BAD_FIELD, "refusal.name_mark",
                              "a name does not begin with a mark that belongs on a letter");
        is_blank = is_blank && char_is_blank(c);
    }
    if (characters == 0 || characters > NAME_MAX_CHARS || is_blank)
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.name_length",
                          "a name has 1 to {most} characters", ERR_NUMBER("most", NAME_MAX_CHARS));
    return ST_OK;
}

/* Whether the first subtag of tag is one of languages. */
static bool is_spoken(const char *tag, const char *const *languages)
{
    char first[LANGUAGE_MAX + 1];

    (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(tag, "-"), tag);
    for (size_t i = 0; languages[i]; i++)
        if (str_case_eq(first, languages[i]))
            return true;
    return false;
}

enum status language_is_fit(const char *tag, const char *const *languages, struct err *err)
{
    size_t part = 0, parts = 0, len = strlen(tag);
    char list[80] = "";

    if (len < 2 || len > LANGUAGE_MAX)
        goto bad;
    for (size_t i = 0; i <= len; i++) {
        if (tag[i] == '-' || !tag[i]) {
            if (part == 0 || part > 8 || (parts == 0 && (part < 2 || part > 3)))
                goto bad;
            parts++;
            part = 0;
        } else if (!char_is_letter(tag[i]) && !(parts > 0 && char_is_digit(tag[i]))) {
            goto bad;
        } else {
            part++;
        }
    }
    if (!languages || is_spoken(tag, languages))
        return ST_OK;
    for (size_t i = 0, n = 0; languages[i] && n < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", languages[i]);
    return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.no_language",
                      "there are no texts in \"{tag}\"; there are in {list}", ERR_TEXT("tag", tag),
                      ERR_TEXT("list", list));
bad:
    return ERR_DETAIL(
        err, REASON_BAD_FIELD, "refusal.language_shape",
        "a language is a tag such as \"en\", \"ru\" or \"ro-MD\" of at most {most} bytes",
        ERR_NUMBER("most", LANGUAGE_MAX));
}

void language_fold(const char *tag, char ret[LANGUAGE_MAX + 1])
{
    size_t part = 0, n = 0, len;

    for (const char *at = tag; *at && n < LANGUAGE_MAX; at += len + (at[len] == '-'), part++) {
        len = strcspn(at, "-");
        if (part > 0)
            ret[n++] = '-';
        for (size_t i = 0; i < len && n < LANGUAGE_MAX; i++) {
            char c = char_lower(at[i]);
            bool is_capital = part > 0 && (len == 2 || (len == 4 && i == 0));

            ret[n++] = is_capital && char_is_letter(c) ? (char)(c - 'a' + 'A') : c;
        }
    }
    ret[n] = '\0';
}

unsigned scope_parse(const char *word)
{
    for (unsigned s = SCOPE_READ; s <= SCOPE_MANAGE; s <<= 1)
        if (str_eq(word, scope_str(s)))
            return s;
    return 0;
}

const char *scope_str(unsigned scope)
{
    return scope == SCOPE_READ ? "read" : scope == SCOPE_PLAY ? "play" : "manage";
}

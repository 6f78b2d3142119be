#include "settings/scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "settings/settings.h"

enum { KEY_SIZE_MAX = 512, DEPTH_MAX = 32, INCLUDES_MAX = 10, FILES_MAX = 500, WORD_MAX = 128 };

/* A brace or bracket that is open. */
struct frame {
    char kind;          /* { [ ( */
    size_t prefix_len;  /* of the prefix around it */
    size_t key_len;     /* of the key whose value it is */
    unsigned count;     /* elements of a list so far */
    char type;          /* of the first element: a quote, 'i', 'f' or 'b'; 0: none yet */
    bool is_mixed;
};

struct scan {
    scan_fn *fn;
    void *arg;
    const char *folder;
    char prefix[KEY_SIZE_MAX]; /* of names here, with its dot */
    char key[KEY_SIZE_MAX];    /* the setting that is being read */
    struct frame frames[DEPTH_MAX];
    size_t depth;
    unsigned includes;    /* open now */
    unsigned files;       /* in all: a file may include itself, and more than once */
    bool is_value_next;   /* after = or : */
};

static bool is_in(char c, const char *set)
{
    return c && strchr(set, c);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '*';
}

static struct frame *list_of(struct scan *s)
{
    struct frame *f = s->depth ? &s->frames[s->depth - 1] : NULL;

    return f && f->kind != '{' ? f : NULL;
}

/* A value that is no group and no list. */
static void value_take(struct scan *s, char type, const char *text)
{
    struct frame *list = list_of(s);

    if (list) {
        if (list->type && list->type != type)
            list->is_mixed = true;
        list->type = type;
        list->count++;
    } else if (s->is_value_next && type == 'i') {
        s->fn(s->arg, SCAN_NUMBER, s->key, text);
    }
    s->is_value_next = false;
}

/* The end of the quoted text that begins at p; NULL when it has none. */
static const char *quoted_end(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p ? p + 1 : NULL;
}

static const char *comment_end(const char *p)
{
    const char *end;

    if (p[0] == '#' || p[1] == '/')
        return p + strcspn(p, "\n");
    end = strstr(p + 2, "*/");
    return end ? end + 2 : NULL;
}

static const char *name_take(struct scan *s, const char *p)
{
    size_t len = 1;

    while (begins_name(p[len]) || is_digit(p[len]) || is_in(p[len], "-_"))
        len++;
    if (s->is_value_next || list_of(s)) { /* true or false */
        value_take(s, 'b', NULL);
        return p + len;
    }
    if ((size_t)snprintf(s->key, sizeof s->key, "%s%.*s", s->prefix, (int)len, p) >= sizeof s->key)
        return NULL;
    s->fn(s->arg, SCAN_NAME, s->key, NULL);
    return p + len;
}

static const char *number_take(struct scan *s, const char *p)
{
    char word[WORD_MAX];
    size_t len = is_in(*p, "+-");
    bool is_hex = p[0] == '0' && is_in(p[1], "xX"), is_broken = false;

    if (is_hex)
        len = 2 + strspn(p + 2, "0123456789abcdefABCDEF");
    for (; !is_hex; len++) {
        bool is_sign = is_in(p[len], "+-") && len > 0 && is_in(p[len - 1], "eE");

        if (!is_digit(p[len]) && !is_in(p[len], ".eE") && !is_sign)
            break;
        is_broken = is_broken || !is_digit(p[len]);
    }
    if (len == 0)
        return NULL;
    len += strspn(p + len, "L");
    if (len < sizeof word)
        (void)snprintf(word, sizeof word, "%.*s", (int)len, p);
    else /* nothing so long is in range: enough to be told of */
        (void)snprintf(word, sizeof word, "%.*s", WORD_MAX - 1, p);
    value_take(s, is_broken ? 'f' : 'i', word);
    return p + len;
}

static bool frame_open(struct scan *s, char kind)
{
    struct frame *list = list_of(s);
    size_t len = strlen(s->key);

    if (s->depth == DEPTH_MAX)
        return false;
    if (list) { /* an element of its own: names in it are nobody else's */
        len = list->key_len;
        if ((size_t)snprintf(s->key + len, sizeof s->key - len, "[%u]", list->count++) >=
            sizeof s->key - len)
            return false;
    }
    s->frames[s->depth++] = (struct frame){
        .kind = kind, .prefix_len = strlen(s->prefix), .key_len = strlen(s->key)};
    s->is_value_next = false;
    return kind != '{' || (size_t)snprintf(s->prefix, sizeof s->prefix, "%s.", s->key) <
                              sizeof s->prefix;
}

static bool frame_close(struct scan *s)
{
    struct frame *f;

    if (s->depth == 0)
        return false;
    f = &s->frames[--s->depth];
    s->key[f->key_len] = '\0';
    s->prefix[f->prefix_len] = '\0';
    if (f->kind == '[' && f->is_mixed)
        s->fn(s->arg, SCAN_MIXED, s->key, NULL);
    return true;
}

static bool text_scan(struct scan *s, const char *text);

/* The file that p, the quote after @include, names. */
static bool file_scan(struct scan *s, const char *p, const char *end)
{
    char path[1200], name[600];
    size_t n = 0;
    FILE *file;
    char *text;
    bool is_good = true;

    for (p++; p < end - 1 && n < sizeof name - 1; p++) {
        if (*p == '\\')
            p++;
        name[n++] = *p;
    }
    name[n] = '\0';
    (void)snprintf(path, sizeof path, "%s/%s", s->folder, name);
    file = fopen(path, "re");
    if (!file && name[0] == '/')
        file = fopen(name, "re");
    text = file ? malloc(SETTINGS_FILE_MAX + 1) : NULL;
    if (text && s->includes < INCLUDES_MAX && s->files++ < FILES_MAX) {
        text[fread(text, 1, SETTINGS_FILE_MAX, file)] = '\0';
        s->includes++;
        is_good = text_scan(s, text);
        s->includes--;
    }
    free(text);
    if (file)
        fclose(file);
    return is_good;
}

/* "@include" and its file at p, which begins a line; the end of it, NULL when it is none. */
static const char *include_take(struct scan *s, const char *p)
{
    const char *quote, *end;

    if (!str_starts(p, "@include"))
        return NULL;
    quote = p + 8 + strspn(p + 8, " \t");
    end = *quote == '"' ? quoted_end(quote) : NULL;
    return end && file_scan(s, quote, end) ? end : NULL;
}

/* One token at p, which is no blank; its end, NULL when this goes no further. */
static const char *token_take(struct scan *s, const char *p)
{
    const char *end;

    if (*p == '#' || (*p == '/' && is_in(p[1], "/*")))
        return comment_end(p);
    if (*p == '@')
        return include_take(s, p);
    if (*p == '"') {
        end = quoted_end(p);
        value_take(s, '"', NULL);
        return end;
    }
    if (begins_name(*p))
        return name_take(s, p);
    if (is_digit(*p) || is_in(*p, "+-."))
        return number_take(s, p);
    if (is_in(*p, "{[("))
        return frame_open(s, *p) ? p + 1 : NULL;
    if (is_in(*p, "}])"))
        return frame_close(s) ? p + 1 : NULL;
    if (is_in(*p, "=:"))
        s->is_value_next = true;
    else if (!is_in(*p, ";,"))
        return NULL;
    return p + 1;
}

static bool text_scan(struct scan *s, const char *text)
{
    const char *p = text + strspn(text, " \t\r\n\f\v");

    while (p && *p) {
        p = token_take(s, p);
        if (p)
            p += strspn(p, " \t\r\n\f\v");
    }
    return p != NULL;
}

void scan_settings(const char *text, const char *folder, scan_fn *fn, void *arg)
{
    struct scan s = {.fn = fn, .arg = arg, .folder = folder};

    (void)text_scan(&s, text);
}

bool scan_number(const char *text, int64_t *ret)
{
    char *end;
    long long value;

    if (text[0] == '0' && is_in(text[1], "xX")) {
        unsigned long long bits = strtoull(text + 2, &end, 16);
        value = bits > INT64_MAX ? INT64_MAX : (long long)bits;
    } else {
        value = strtoll(text, &end, 10); /* at its ends where it does not fit */
    }
    if (end == text || end[strspn(end, "L")])
        return false;
    *ret = value;
    return true;
}

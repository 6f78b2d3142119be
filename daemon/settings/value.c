/* How each type of key is read, printed and described. */
#include "settings/scan.h"
#include "settings/table.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/utc.h"

static char **member_text(const struct key *key, struct settings *s)
{
    return (char **)((char *)s + key->offset);
}

static int64_t *member_number(const struct key *key, struct settings *s)
{
    return (int64_t *)((char *)s + key->offset);
}

static bool *member_bool(const struct key *key, struct settings *s)
{
    return (bool *)((char *)s + key->offset);
}

static struct settings_list *member_list(const struct key *key, struct settings *s)
{
    return (struct settings_list *)((char *)s + key->offset);
}

static struct settings_secret *member_secret(const struct key *key, struct settings *s)
{
    return (struct settings_secret *)((char *)s + key->offset);
}

/* Put a copy of text where *member points. */
static enum status text_set(char **member, const char *text, struct err *err)
{
    char *copy = str_dup(text);

    if (!copy)
        return err_set(err, ST_NOMEM, "out of memory");
    free(*member);
    *member = copy;
    return ST_OK;
}

static bool text_is_one_line(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

static bool host_is_valid(const char *host)
{
    struct in6_addr v6;
    size_t label = 0;

    if (strchr(host, ':'))
        return inet_pton(AF_INET6, host, &v6) == 1;
    if (!*host || strlen(host) > 253)
        return false;
    for (; *host; host++) {
        bool is_word = (*host >= 'a' && *host <= 'z') || (*host >= 'A' && *host <= 'Z') ||
                       (*host >= '0' && *host <= '9') || *host == '-' || *host == '_';
        if (*host == '.' ? label == 0 : !is_word || ++label > 63)
            return false;
        if (*host == '.')
            label = 0;
    }
    return true;
}

bool host_is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (str_case_eq(host, "localhost"))
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

enum status listen_parse(const char *text, char *ret_host, size_t size, int *ret_port,
                         struct err *err)
{
    char host[KEY_PATH_MAX + 1];
    const char *colon = strrchr(text, ':'), *from = text;
    size_t len;
    int64_t port;

    if (str_starts(text, "unix:")) {
        if (text[5] != '/' || strlen(text + 5) > 107 || strlen(text + 5) >= size)
            return err_set(err, ST_INVALID,
                           "\"%s\" should be unix: and a path from / of at most 107 bytes", text);
        (void)str_copy(ret_host, size, text + 5);
        *ret_port = -1;
        return ST_OK;
    }
    if (!colon || !str_to_int64(colon + 1, 0, 65535, &port))
        goto bad;
    len = (size_t)(colon - text);
    if (*from == '[') {
        if (len < 2 || colon[-1] != ']')
            goto bad;
        from++;
        len -= 2;
    } else if (memchr(text, ':', len)) {
        goto bad;
    }
    if (len == 0 || len >= sizeof host || len >= size)
        goto bad;
    memcpy(host, from, len);
    host[len] = '\0';
    if (!host_is_valid(host) || (*text == '[') != (strchr(host, ':') != NULL))
        goto bad;
    (void)str_copy(ret_host, size, host);
    *ret_port = (int)port;
    return ST_OK;
bad:
    return err_set(err, ST_INVALID,
                   "\"%s\" should be address:port (port 0 to 65535), [IPv6 address]:port or "
                   "unix:/path",
                   text);
}

static enum status url_check(const char *text, struct err *err)
{
    const char *rest = str_starts(text, "https://")  ? text + 8
                       : str_starts(text, "http://") ? text + 7
                                                     : NULL;
    char authority[KEY_TEXT_MAX + 8], host[KEY_TEXT_MAX + 8];
    size_t len;
    int port;

    if (!rest)
        return err_set(err, ST_INVALID, "\"%s\" should begin with https:// (or http://)", text);
    len = strcspn(rest, "/");
    if (rest[strcspn(rest, "?# \"<>\\")] || rest[len + strspn(rest + len, "/")])
        return err_set(err, ST_INVALID,
                       "\"%s\" should be scheme, host and port, and nothing else", text);
    snprintf(authority, sizeof authority, "%.*s", (int)len, rest);
    if (authority[strcspn(authority, "@")])
        return err_set(err, ST_INVALID, "a URL here holds no user or password");
    if (!strchr(authority, ':') || (authority[0] == '[' && authority[len - 1] == ']'))
        snprintf(authority + len, sizeof authority - len, ":443");
    if (listen_parse(authority, host, sizeof host, &port, NULL) != ST_OK)
        return err_set(err, ST_INVALID, "\"%s\" has no readable host (and port)", text);
    return ST_OK;
}

static enum status mail_check(const char *text, struct err *err)
{
    const char *at = strrchr(text, '@');

    if (!at || at == text || at - text > 64 || !host_is_valid(at + 1))
        goto bad;
    for (const char *p = text; p < at; p++)
        if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f || strchr("\"(),:;<>@[\\]", *p))
            goto bad;
    return ST_OK;
bad:
    return err_set(err, ST_INVALID, "\"%s\" should be an address such as chess@example.org", text);
}

static enum status net_check(const char *text, struct err *err)
{
    char address[64];
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : strlen(text);
    unsigned char bytes[16];
    int64_t bits;

    if (len >= sizeof address)
        goto bad;
    memcpy(address, text, len);
    address[len] = '\0';
    if (inet_pton(AF_INET, address, bytes) == 1) {
        if (slash && !str_to_int64(slash + 1, 0, 32, &bits))
            goto bad;
    } else if (inet_pton(AF_INET6, address, bytes) == 1) {
        if (slash && !str_to_int64(slash + 1, 0, 128, &bits))
            goto bad;
    } else {
        goto bad;
    }
    return ST_OK;
bad:
    return err_set(err, ST_INVALID,
                   "\"%s\" should be an address or a network such as 10.0.0.0/8 or fd00::/8", text);
}

static enum status item_check(const char *text, struct err *err)
{
    if (!utf8_is_valid(text, strlen(text)) || !text_is_one_line(text))
        return err_set(err, ST_INVALID, "should be lines of UTF-8 text");
    if (!*text || strlen(text) > KEY_TEXT_MAX)
        return err_set(err, ST_INVALID, "should be texts of 1 to %d bytes, not %zu", KEY_TEXT_MAX,
                       strlen(text));
    return ST_OK;
}

bool key_is_list(const struct key *key)
{
    return key->type == KEY_NETS || key->type == KEY_TEXTS;
}

static enum status range_check(const struct key *key, int64_t value, const char *shown,
                               struct err *err)
{
    struct buf range = buf_make(200);
    enum status st = ST_OK;

    if (value < key->min || value > key->max) {
        key_range(key, &range);
        st = err_set(err, ST_INVALID, "%s should be %s", shown, range.data);
    }
    buf_release(&range);
    return st;
}

/* The number of text's word in "open|invite|closed", or -1. */
static int64_t choice_find(const char *words, const char *text)
{
    int64_t n = 0;

    for (size_t len; *words; words += len + (words[len] == '|'), n++) {
        len = strcspn(words, "|");
        if (strlen(text) == len && strncmp(words, text, len) == 0)
            return n;
    }
    return -1;
}

static enum status size_parse(const char *text, int64_t *ret, struct err *err)
{
    static const struct {
        const char *unit;
        int64_t bytes;
    } units[] = {{"KiB", 1024}, {"MiB", 1024 * 1024}, {"B", 1}};
    size_t n = strspn(text, "0123456789");
    long long value = n > 0 ? strtoll(text, NULL, 10) : 0; /* LLONG_MAX where it does not fit */

    for (size_t i = 0; n > 0 && i < COUNT_OF(units); i++)
        if (str_eq(text + n, units[i].unit)) {
            *ret = value > INT64_MAX / units[i].bytes ? INT64_MAX : value * units[i].bytes;
            return ST_OK;
        }
    return err_set(err, ST_INVALID, "\"%s\" should be a size such as \"64KiB\" or \"1MiB\"", text);
}

static enum status path_resolve(const char *text, const char *folder, char **ret, struct err *err)
{
    size_t size = strlen(folder) + strlen(text) + 2;
    char *path = malloc(size);

    if (!path)
        return err_set(err, ST_NOMEM, "out of memory");
    if (text[0] == '/' || !text[0])
        snprintf(path, size, "%s", text);
    else
        snprintf(path, size, "%s/%s", folder, text);
    *ret = path;
    return ST_OK;
}

/* Read a secret's file: one line, its end dropped. */
static enum status secret_read(const char *path, bool check_mode, char **ret, struct err *err)
{
    char bytes[SETTINGS_SECRET_MAX + 2];
    struct stat about;
    enum status st;
    size_t n = 0;
    ssize_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return err_set(err, ST_INVALID, "the secret in %s cannot be read: %s", path,
                       strerror(errno));
    if (fstat(fd, &about) || !S_ISREG(about.st_mode)) {
        st = err_set(err, ST_INVALID, "the secret should be in a file; %s is not one", path);
        goto out;
    }
    if (check_mode && (about.st_mode & 07)) {
        st = err_set(err, ST_INVALID,
                     "everybody on this machine can get at %s; its mode should be 0600", path);
        goto out;
    }
    while (n < sizeof bytes - 1 && (got = read(fd, bytes + n, sizeof bytes - 1 - n)) > 0)
        n += (size_t)got;
    if (got < 0) {
        st = err_set(err, ST_INVALID, "the secret in %s cannot be read: %s", path,
                     strerror(errno));
        goto out;
    }
    while (n > 0 && (bytes[n - 1] == '\n' || bytes[n - 1] == '\r'))
        n--;
    bytes[n] = '\0';
    if (n == 0 || n > SETTINGS_SECRET_MAX || memchr(bytes, '\0', n) || !text_is_one_line(bytes)) {
        st = err_set(err, ST_INVALID, "the secret in %s should be one line of 1 to %d bytes", path,
                     SETTINGS_SECRET_MAX);
        goto out;
    }
    *ret = str_dup(bytes);
    st = *ret ? ST_OK : err_set(err, ST_NOMEM, "out of memory");
out:
    memset(bytes, 0, sizeof bytes);
    close(fd);
    return st;
}

static enum status secret_set(struct settings_secret *secret, enum settings_secrets which,
                              const char *text, const char *folder, struct err *err)
{
    char *path = NULL, *value = NULL, *source = NULL;
    bool check_mode = true;
    enum status st = ST_OK;

    if (!*text) {
        which = SETTINGS_SECRETS_NONE;
    } else if (str_starts(text, "@file:") && text[6]) {
        st = path_resolve(text + 6, folder, &path, err);
    } else if (str_starts(text, "@credential:") && text[12]) {
        const char *in = getenv("CREDENTIALS_DIRECTORY");
        bool is_there = in && *in;
        if (strchr(text, '/'))
            st = err_set(err, ST_INVALID, "the name of a credential holds no slash");
        else if (is_there)
            st = path_resolve(text + 12, in, &path, err);
        else if (which == SETTINGS_SECRETS_ALL)
            st = err_set(err, ST_INVALID,
                         "there are no credentials: systemd hands them over by LoadCredential=");
        else
            which = SETTINGS_SECRETS_NONE;
        check_mode = false; /* systemd keeps the folder closed */
    } else {
        st = err_set(err, ST_INVALID,
                     "a secret does not stand here: write \"@file:/path\" or \"@credential:name\"");
    }
    if (st == ST_OK && which != SETTINGS_SECRETS_NONE)
        st = secret_read(path, check_mode, &value, err);
    else if (st == ST_OK && !(value = str_dup("")))
        st = err_set(err, ST_NOMEM, "out of memory");
    if (st == ST_OK && !(source = str_dup(text)))
        st = err_set(err, ST_NOMEM, "out of memory");
    if (st == ST_OK) {
        free(secret->value);
        free(secret->source);
        secret->value = value;
        secret->source = source;
        value = NULL;
    }
    free(value);
    free(path);
    return st;
}

/* "unix:lmtp.sock": in the configuration's folder, like every path. */
static enum status listen_relative(const struct key *key, const char *text, const char *folder,
                                   struct settings *s, struct err *err)
{
    char here[KEY_PATH_MAX + 1] = "", full[3 * KEY_PATH_MAX], host[KEY_PATH_MAX + 1];
    int port;
    enum status st;

    if (folder[0] != '/' && !getcwd(here, sizeof here))
        return err_set(err, ST_INVALID, "the folder of \"%s\" is not known: %s", text,
                       strerror(errno));
    (void)snprintf(full, sizeof full, "unix:%s%s%s/%s", here, *here ? "/" : "",
                   str_eq(folder, "/") ? "" : folder, text + 5);
    st = listen_parse(full, host, sizeof host, &port, err);
    if (st == ST_OK)
        st = text_set(member_text(key, s), full, err);
    return st;
}

static enum status refuse_choice(const struct key *key, const char *text, struct err *err)
{
    struct buf range = buf_make(200);
    enum status st;

    key_range(key, &range);
    st = err_set(err, ST_INVALID, "\"%s\" should be %s", text, range.data);
    buf_release(&range);
    return st;
}

static enum status path_set(const struct key *key, const char *text, const char *folder,
                            char **member, struct err *err)
{
    char *path = NULL;
    enum status st = ST_OK;

    TRY(path_resolve(text, folder, &path, err));
    if (strlen(path) > (size_t)key->max) {
        st = err_set(err, ST_INVALID, "the path %s is longer than %" PRId64 " bytes", path,
                     key->max);
        free(path);
        return st;
    }
    free(*member);
    *member = path;
    return ST_OK;
}

static enum status url_set(const char *text, char **member, struct err *err)
{
    size_t len;

    TRY(url_check(text, err));
    TRY(text_set(member, text, err));
    len = strlen(*member);
    while (len > 0 && (*member)[len - 1] == '/')
        (*member)[--len] = '\0'; /* links add "/path" to it */
    return ST_OK;
}

/* A text of a type whose length the key bounds. */
static enum status read_bounded(const struct key *key, const char *text, const char *folder,
                                struct settings *s, struct err *err)
{
    int64_t len = (int64_t)strlen(text);
    char host[KEY_PATH_MAX + 1];
    int port;

    if (len < key->min && len == 0)
        return err_set(err, ST_INVALID, "should not be empty");
    if (len < key->min || len > key->max)
        return err_set(err, ST_INVALID,
                       "should have %" PRId64 " to %" PRId64 " bytes, not %" PRId64, key->min,
                       key->max, len);
    switch (key->type) {
    case KEY_PATH:
        return path_set(key, text, folder, member_text(key, s), err);
    case KEY_URL:
        return url_set(text, member_text(key, s), err);
    case KEY_LISTEN:
        if (str_starts(text, "unix:") && text[5] && text[5] != '/')
            return listen_relative(key, text, folder, s, err);
        if (len > 0)
            TRY(listen_parse(text, host, sizeof host, &port, err));
        break;
    case KEY_MAIL:
        if (len > 0)
            TRY(mail_check(text, err));
        break;
    default:
        break;
    }
    return text_set(member_text(key, s), text, err);
}

enum status key_read_text(const struct key *key, const char *text, const char *folder,
                          struct settings *s, struct err *err)
{
    int64_t value;

    if (!utf8_is_valid(text, strlen(text)) || !text_is_one_line(text))
        return err_set(err, ST_INVALID, "should be one line of UTF-8 text");
    switch (key->type) {
    case KEY_BOOL:
        if (!str_eq(text, "true") && !str_eq(text, "false"))
            return err_set(err, ST_INVALID, "\"%s\" should be true or false, without quotes", text);
        return key_read_bool(key, text[0] == 't', s, err);
    case KEY_NUMBER:
        if (!scan_number(text, &value) || text[strspn(text, "+-0123456789")])
            return err_set(err, ST_INVALID, "\"%s\" should be a whole number", text);
        return key_read_number(key, value, text, s, err);
    case KEY_CHOICE:
        value = choice_find(key->words, text);
        if (value < 0)
            return refuse_choice(key, text, err);
        *member_number(key, s) = value;
        return ST_OK;
    case KEY_LENGTH:
    case KEY_SIZE:
        TRY(key->type == KEY_LENGTH ? length_parse(text, &value, err)
                                    : size_parse(text, &value, err));
        TRY(range_check(key, value, text, err));
        *member_number(key, s) = value;
        return ST_OK;
    case KEY_NETS:
    case KEY_TEXTS:
        return err_set(err, ST_INVALID, "should be a list: [ \"%.60s\" ]", text);
    case KEY_SECRET:
        return secret_set(member_secret(key, s), s->secrets, text, folder, err);
    default:
        return read_bounded(key, text, folder, s, err);
    }
}

enum status key_read_number(const struct key *key, int64_t value, const char *written,
                            struct settings *s, struct err *err)
{
    char shown[24];
    enum status st;

    if (key->type == KEY_LENGTH)
        return err_set(err, ST_INVALID, "should be a length in quotes with its unit, as \"14d\"");
    if (key->type == KEY_SIZE)
        return err_set(err, ST_INVALID, "should be a size in quotes with its unit, as \"64KiB\"");
    if (key->type != KEY_NUMBER)
        return err_set(err, ST_INVALID, "should be %s, not a number",
                       key->type == KEY_BOOL   ? "true or false"
                       : key_is_list(key)      ? "a list"
                                               : "a text in quotes");
    snprintf(shown, sizeof shown, "%" PRId64, value);
    st = range_check(key, value, written ? written : shown, err);
    if (st == ST_OK)
        *member_number(key, s) = value;
    return st;
}

enum status key_read_bool(const struct key *key, bool value, struct settings *s, struct err *err)
{
    if (key->type != KEY_BOOL)
        return err_set(err, ST_INVALID, "should be %s, not true or false",
                       key->type == KEY_NUMBER ? "a number"
                       : key_is_list(key)      ? "a list"
                                               : "a text in quotes");
    *member_bool(key, s) = value;
    return ST_OK;
}

void key_list_clear(const struct key *key, struct settings *s)
{
    struct settings_list *list = member_list(key, s);

    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct settings_list){NULL, 0};
}

enum status key_list_add(const struct key *key, const char *text, struct settings *s,
                         struct err *err)
{
    struct settings_list *list = member_list(key, s);
    enum status st = key->type == KEY_NETS ? net_check(text, err) : item_check(text, err);
    char **items, *copy;

    if (st != ST_OK)
        return st;
    if ((int64_t)list->count >= key->max)
        return err_set(err, ST_INVALID, "should have at most %" PRId64 " entries", key->max);
    copy = str_dup(text);
    items = copy ? realloc(list->items, (list->count + 1) * sizeof *items) : NULL;
    if (!items) {
        free(copy);
        return err_set(err, ST_NOMEM, "out of memory");
    }
    list->items = items;
    list->items[list->count++] = copy;
    return ST_OK;
}

static void print_quoted(struct buf *out, const char *text)
{
    buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_putc(out, '\\');
        buf_putc(out, *text);
    }
    buf_putc(out, '"');
}

static void print_size(struct buf *out, int64_t bytes)
{
    if (bytes && bytes % (1024 * 1024) == 0)
        buf_printf(out, "%" PRId64 "MiB", bytes / (1024 * 1024));
    else if (bytes && bytes % 1024 == 0)
        buf_printf(out, "%" PRId64 "KiB", bytes / 1024);
    else
        buf_printf(out, "%" PRId64 "B", bytes);
}

/* Exactly, where length_format() may round down. */
static void print_length(struct buf *out, int64_t ms)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"d", MS_DAY}, {"h", MS_HOUR}, {"m", MS_MINUTE}, {"s", MS_SECOND}, {"ms", 1}};
    bool is_first = true;

    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (ms < units[i].ms)
            continue;
        buf_printf(out, "%s%" PRId64 "%s", is_first ? "" : " ", ms / units[i].ms, units[i].unit);
        ms %= units[i].ms;
        is_first = false;
    }
    if (is_first)
        buf_puts(out, "0s");
}

static void print_choice(struct buf *out, const char *words, int64_t value)
{
    for (; value > 0 && *words; value--)
        words += strcspn(words, "|") + (words[strcspn(words, "|")] == '|');
    buf_printf(out, "\"%.*s\"", (int)strcspn(words, "|"), words);
}

void key_print(const struct key *key, const struct settings *s, struct buf *out)
{
    struct settings *mine = (struct settings *)(uintptr_t)s; /* only read */
    const struct settings_list *list;

    switch (key->type) {
    case KEY_CHOICE:
        print_choice(out, key->words, *member_number(key, mine));
        break;
    case KEY_BOOL:
        buf_puts(out, *member_bool(key, mine) ? "true" : "false");
        break;
    case KEY_NUMBER:
        buf_printf(out, "%" PRId64, *member_number(key, mine));
        break;
    case KEY_LENGTH:
        buf_putc(out, '"');
        print_length(out, *member_number(key, mine));
        buf_putc(out, '"');
        break;
    case KEY_SIZE:
        buf_putc(out, '"');
        print_size(out, *member_number(key, mine));
        buf_putc(out, '"');
        break;
    case KEY_NETS:
    case KEY_TEXTS:
        list = member_list(key, mine);
        buf_puts(out, "[");
        for (size_t i = 0; i < list->count; i++) {
            buf_puts(out, i ? ", " : " ");
            print_quoted(out, list->items[i]);
        }
        buf_puts(out, list->count ? " ]" : " ]");
        break;
    case KEY_SECRET:
        print_quoted(out, member_secret(key, mine)->source);
        break;
    default:
        print_quoted(out, *member_text(key, mine));
        break;
    }
}

void key_text(const struct key *key, const struct settings *s, struct buf *out)
{
    struct settings *mine = (struct settings *)(uintptr_t)s; /* only read */
    struct buf quoted = buf_make(KEY_PATH_MAX);

    switch (key->type) {
    case KEY_SECRET:
    case KEY_NETS:
    case KEY_TEXTS:
        break;
    case KEY_TEXT:
    case KEY_PATH:
    case KEY_URL:
    case KEY_LISTEN:
    case KEY_MAIL:
        buf_puts(out, *member_text(key, mine));
        break;
    default:
        key_print(key, s, &quoted);
        buf_printf(out, "%.*s", (int)strcspn(quoted.data + (quoted.data[0] == '"'), "\""),
                   quoted.data + (quoted.data[0] == '"'));
        break;
    }
    buf_release(&quoted);
}

void key_range(const struct key *key, struct buf *out)
{
    switch (key->type) {
    case KEY_CHOICE:
        for (const char *w = key->words; *w;) {
            size_t len = strcspn(w, "|");
            const char *next = w + len + (w[len] == '|');
            buf_printf(out, "%s\"%.*s\"",
                       w == key->words                      ? ""
                       : next[0] == '\0' && w != key->words ? " or "
                                                            : ", ",
                       (int)len, w);
            w = next;
        }
        break;
    case KEY_BOOL:
        buf_puts(out, "true or false");
        break;
    case KEY_NUMBER:
        buf_printf(out, "between %" PRId64 " and %" PRId64, key->min, key->max);
        break;
    case KEY_LENGTH:
        buf_puts(out, "between \"");
        print_length(out, key->min);
        buf_puts(out, "\" and \"");
        print_length(out, key->max);
        buf_puts(out, "\"");
        break;
    case KEY_SIZE:
        buf_puts(out, "between \"");
        print_size(out, key->min);
        buf_puts(out, "\" and \"");
        print_size(out, key->max);
        buf_puts(out, "\"");
        break;
    case KEY_NETS:
        buf_printf(out,
                   "a list of at most %" PRId64 " addresses or networks, as [ \"10.0.0.0/8\" ]",
                   key->max);
        break;
    case KEY_TEXTS:
        buf_printf(out, "a list of at most %" PRId64 " texts, as [ \"CAUTION:\" ]", key->max);
        break;
    case KEY_SECRET:
        buf_puts(out, "\"@file:/path\" or \"@credential:name\"");
        break;
    case KEY_URL:
        buf_puts(out, "an https URL");
        break;
    case KEY_LISTEN:
        buf_puts(out, "an address and port, or a unix socket");
        break;
    case KEY_MAIL:
        buf_puts(out, "a mail address");
        break;
    case KEY_PATH:
        buf_printf(out, "a path of at most %" PRId64 " bytes", key->max);
        break;
    case KEY_TEXT:
        buf_printf(out, "a text of %" PRId64 " to %" PRId64 " bytes", key->min, key->max);
        break;
    }
}

void key_print_default(const struct key *key, struct buf *out)
{
    if (!key->standard)
        buf_puts(out, "none: it must be set");
    else if (key->type == KEY_NUMBER || key->type == KEY_BOOL)
        buf_puts(out, key->standard);
    else if (key_is_list(key))
        buf_puts(out, "[ ]");
    else
        print_quoted(out, key->standard);
}

void key_free(const struct key *key, struct settings *s)
{
    struct settings_secret *secret;

    switch (key->type) {
    case KEY_TEXT:
    case KEY_PATH:
    case KEY_URL:
    case KEY_LISTEN:
    case KEY_MAIL:
        free(*member_text(key, s));
        *member_text(key, s) = NULL;
        break;
    case KEY_NETS:
    case KEY_TEXTS:
        key_list_clear(key, s);
        break;
    case KEY_SECRET:
        secret = member_secret(key, s);
        if (secret->value)
            memset(secret->value, 0, strlen(secret->value));
        free(secret->value);
        free(secret->source);
        *secret = (struct settings_secret){NULL, NULL};
        break;
    default:
        break;
    }
}

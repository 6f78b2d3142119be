#include "settings/settings.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "settings/scan.h"
#include "settings/table.h"

enum { KEYS_MAX = 128, NAME_MAX_BYTES = 64 };

/* Where a key's value came from, for errors that only several keys together make. */
struct place {
    char file[320];
    unsigned line; /* 0: no line */
    bool is_bad;   /* the value there could not be read */
};

struct loading {
    struct settings *s;
    struct buf *errors;
    size_t error_count;
    const char *name;
    const char *folder;
    const char *text;              /* of the configuration; NULL: none */
    struct place places[KEYS_MAX]; /* by key; file "" = the default stands */
    bool is_out_of_memory;
};

/* The known key nearest to name, by its whole name or its last word. */
static const struct key *key_nearest(const char *name)
{
    const struct key *best = NULL;
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    size_t least = SIZE_MAX;

    for (size_t i = 0; i < settings_key_count; i++) {
        const char *key = settings_keys[i].name, *key_dot = strrchr(key, '.');
        size_t d = str_edits(name, key) * 2;
        size_t of_last = str_edits(last, key_dot ? key_dot + 1 : key) * 2 + 1;
        if (of_last < d)
            d = of_last;
        if (d < least) {
            least = d;
            best = &settings_keys[i];
        }
    }
    return best;
}

static const struct key *key_find(const char *name)
{
    for (size_t i = 0; i < settings_key_count; i++)
        if (str_eq(settings_keys[i].name, name))
            return &settings_keys[i];
    return NULL;
}

/* The known group nearest to name. */
static void group_nearest(const char *name, char ret[NAME_MAX_BYTES + 1])
{
    size_t least = SIZE_MAX;

    for (size_t i = 0; i < settings_key_count; i++) {
        char group[NAME_MAX_BYTES + 1];
        size_t d, len = strcspn(settings_keys[i].name, ".");

        if (!settings_keys[i].name[len])
            continue;
        (void)snprintf(group, sizeof group, "%.*s", (int)len, settings_keys[i].name);
        d = str_edits(name, group);
        if (d < least) {
            least = d;
            (void)str_copy(ret, NAME_MAX_BYTES + 1, group);
        }
    }
}

static bool group_is_known(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < settings_key_count; i++)
        if (str_starts(settings_keys[i].name, name) && settings_keys[i].name[len] == '.')
            return true;
    return false;
}

static void error_add(struct loading *l, const struct place *place, const char *key,
                      const struct err *why)
{
    if (why->code == ST_NOMEM)
        l->is_out_of_memory = true;
    l->error_count++;
    buf_puts(l->errors, place->file);
    if (place->line)
        buf_printf(l->errors, ":%u", place->line);
    buf_printf(l->errors, ": %s%s%s\n", key, *key ? ": " : "", why->text);
}

/* The name of an included file as the operator can find it. */
static void place_file(const struct loading *l, const char *file, struct place *place)
{
    if (!file)
        (void)str_copy(place->file, sizeof place->file, l->name);
    else if (file[0] == '/')
        (void)str_copy(place->file, sizeof place->file, file);
    else
        (void)snprintf(place->file, sizeof place->file, "%s/%s", l->folder, file);
}

static struct place place_of(const struct loading *l, const config_setting_t *setting)
{
    struct place p = {.line = config_setting_source_line(setting)};

    place_file(l, config_setting_source_file(setting), &p);
    return p;
}

static void unknown_add(struct loading *l, const struct place *place, const char *name,
                        bool is_group)
{
    struct err why = ERR_INIT;
    char near[NAME_MAX_BYTES + 1] = "";

    if (is_group && !strchr(name, '.'))
        group_nearest(name, near);
    else
        (void)str_copy(near, sizeof near, key_nearest(name)->name);
    if (!is_group && group_is_known(name))
        (void)err_set(&why, ST_INVALID, "should be a group, as %s: { … }", name);
    else
        (void)err_set(&why, ST_INVALID, "is not a known %s; the nearest is %s",
                      is_group ? "group" : "key", near);
    error_add(l, place, name, &why);
}

/* Looks for how the number of a key is written. */
struct number_search {
    const char *key;
    char written[64];
};

static void number_search(void *arg, enum scan_what what, const char *key, const char *text)
{
    struct number_search *search = arg;

    if (what == SCAN_NUMBER && str_eq(key, search->key))
        (void)snprintf(search->written, sizeof search->written, "%s", text);
}

/* A whole number, which libconfig would cut to 32 bits: as it is written. */
static enum status number_read(struct loading *l, const struct key *key,
                               const config_setting_t *setting, struct err *why)
{
    struct number_search search = {.key = key->name};
    int64_t value;

    scan_settings(l->text, l->folder, number_search, &search);
    if (search.written[0] && scan_number(search.written, &value))
        return key_read_number(key, value, search.written, l->s, why);
    return key_read_number(key, config_setting_get_int64(setting), NULL, l->s, why);
}

/* Read one setting that has no name of its own below it. */
static void value_read(struct loading *l, const struct key *key, const config_setting_t *setting)
{
    struct err why = ERR_INIT;
    struct place place = place_of(l, setting);
    enum status st = ST_OK;

    l->places[key - settings_keys] = place;
    switch (config_setting_type(setting)) {
    case CONFIG_TYPE_STRING:
        st = key_read_text(key, config_setting_get_string(setting), l->folder, l->s, &why);
        break;
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        st = number_read(l, key, setting, &why);
        break;
    case CONFIG_TYPE_BOOL:
        st = key_read_bool(key, config_setting_get_bool(setting), l->s, &why);
        break;
    case CONFIG_TYPE_ARRAY:
    case CONFIG_TYPE_LIST:
        if (!key_is_list(key)) {
            st = err_set(&why, ST_INVALID, "should be one value, not a list");
            break;
        }
        key_list_clear(key, l->s);
        for (int i = 0; i < config_setting_length(setting) && st == ST_OK; i++) {
            const config_setting_t *item = config_setting_get_elem(setting, (unsigned)i);
            if (config_setting_type(item) != CONFIG_TYPE_STRING)
                st = err_set(&why, ST_INVALID, "should be a list of texts in quotes");
            else
                st = key_list_add(key, config_setting_get_string(item), l->s, &why);
        }
        break;
    case CONFIG_TYPE_FLOAT:
        st = err_set(&why, ST_INVALID, "should not be a broken number");
        break;
    default:
        st = err_set(&why, ST_INVALID, "should be a value, not a group");
        break;
    }
    if (st != ST_OK) {
        l->places[key - settings_keys].is_bad = true;
        error_add(l, &place, key->name, &why);
    }
}

static void group_read(struct loading *l, const config_setting_t *group, const char *prefix)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *setting = config_setting_get_elem(group, (unsigned)i);
        const char *own = config_setting_name(setting);
        struct place place = place_of(l, setting);
        char name[NAME_MAX_BYTES + 1];
        const struct key *key;

        (void)snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", own ? own : "");
        key = key_find(name);
        if (key)
            value_read(l, key, setting);
        else if (config_setting_type(setting) == CONFIG_TYPE_GROUP && !*prefix &&
                 group_is_known(name))
            group_read(l, setting, name);
        else
            unknown_add(l, &place, name, config_setting_type(setting) == CONFIG_TYPE_GROUP);
    }
}

/* "http.listen=127.0.0.1:0" from the command line; a list is parted by commas. */
static void set_read(struct loading *l, const char *set)
{
    struct place place = {.file = "--set"};
    struct err why = ERR_INIT;
    const char *equals = strchr(set, '='), *value = equals ? equals + 1 : "";
    char name[NAME_MAX_BYTES + 1], item[KEY_TEXT_MAX + 2];
    const struct key *key;
    enum status st = ST_OK;

    (void)snprintf(name, sizeof name, "%.*s", (int)(equals ? equals - set : 0), set);
    if (!equals || !*name) {
        (void)err_set(&why, ST_INVALID, "\"%s\" should be KEY=VALUE, as log_level=debug", set);
        error_add(l, &place, "", &why);
        return;
    }
    key = key_find(name);
    if (!key) {
        unknown_add(l, &place, name, false);
        return;
    }
    l->places[key - settings_keys] = place;
    if (key_is_list(key)) {
        key_list_clear(key, l->s);
        for (size_t len; *value && st == ST_OK; value += len + (value[len] == ',')) {
            len = strcspn(value, ",");
            (void)snprintf(item, sizeof item, "%.*s", (int)len, value);
            st = key_list_add(key, item, l->s, &why);
        }
    } else {
        st = key_read_text(key, value, l->folder, l->s, &why);
    }
    if (st != ST_OK) {
        l->places[key - settings_keys].is_bad = true;
        error_add(l, &place, key->name, &why);
    }
}

/* The place of a key by name, for errors of several together. */
static const struct place *place_by_name(struct loading *l, const char *name)
{
    struct place *place = &l->places[key_find(name) - settings_keys];

    if (!place->file[0]) {
        (void)str_copy(place->file, sizeof place->file, l->name);
        place->line = 1;
    }
    return place;
}

static void together(struct loading *l, const char *key, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void together(struct loading *l, const char *key, const char *fmt, ...)
{
    struct err why = ERR_INIT;
    va_list args;

    why.code = ST_INVALID;
    va_start(args, fmt);
    (void)vsnprintf(why.text, sizeof why.text, fmt, args);
    va_end(args);
    error_add(l, place_by_name(l, key), key, &why);
}

/* The host of a URL that was checked. */
static void url_host(const char *url, char *ret, size_t size)
{
    const char *from = strstr(url, "://") + 3;
    size_t len = strcspn(from, "/:");

    if (*from == '[') {
        from++;
        len = strcspn(from, "]");
    }
    (void)snprintf(ret, size, "%.*s", (int)len, from);
}

/* Could all of these be read?  Ended by NULL. */
static bool are_good(struct loading *l, const char *const *names)
{
    for (; *names; names++) {
        const struct key *key = key_find(*names);
        const struct place *place = &l->places[key - settings_keys];

        if (place->is_bad || (!key->standard && !place->file[0]))
            return false;
    }
    return true;
}
#define GOOD(l, ...) are_good((l), (const char *const[]){__VA_ARGS__, NULL})

/* A port on an address beyond this machine? */
static bool is_reachable(const char *listen)
{
    char host[KEY_PATH_MAX + 1];
    int port;

    return listen[0] && listen_parse(listen, host, sizeof host, &port, NULL) == ST_OK &&
           port >= 0 && !host_is_loopback(host);
}

static void check_login(struct loading *l, const char *user_key, const char *user,
                        const char *password_key, const struct settings_secret *password)
{
    if (!GOOD(l, user_key, password_key))
        return;
    if (user[0] && !password->source[0])
        together(l, password_key, "should be set, since %s is", user_key);
    if (!user[0] && password->source[0])
        together(l, user_key, "should be set, since %s is", password_key);
}

static void check_http(struct loading *l, const struct settings *s)
{
    char host[KEY_PATH_MAX + 1];

    if (GOOD(l, "public_url")) {
        url_host(s->public_url, host, sizeof host);
        if (!str_starts(s->public_url, "https://") && !host_is_loopback(host))
            together(l, "public_url",
                     "plain http is for this machine alone; %s should be reached by https", host);
    }
    if (GOOD(l, "public_url", "http.listen", "http.trusted_proxies") &&
        is_reachable(s->http.listen) &&
        !(str_starts(s->public_url, "https://") && s->http.trusted_proxies.count > 0))
        together(l, "http.listen",
                 "plain http beyond this machine (%s) is only for a reverse proxy: public_url "
                 "should be https and http.trusted_proxies should name the proxy",
                 s->http.listen);
    if (GOOD(l, "http.metrics_listen") && is_reachable(s->http.metrics_listen))
        together(l, "http.metrics_listen", "should be on this machine: 127.0.0.1 or [::1]");
    if (GOOD(l, "http.connections", "http.connections_per_address") &&
        s->http.connections_per_address > s->http.connections)
        together(l, "http.connections_per_address",
                 "should not be more than http.connections (%" PRId64 ")", s->http.connections);
}

static void check_mail(struct loading *l, const struct settings *s)
{
    check_login(l, "mail.user", s->mail.user, "mail.password", &s->mail.password);
    if (GOOD(l, "mail.transport", "mail.tls", "mail.host") &&
        s->mail.transport == SETTINGS_TRANSPORT_SMTP && s->mail.tls == SETTINGS_TLS_NONE &&
        !host_is_loopback(s->mail.host))
        together(l, "mail.tls",
                 "\"none\" is for a mail server on this machine; %s should be reached by "
                 "\"starttls\" or \"implicit\"",
                 s->mail.host);
}

/* 64 bytes a local part may have (RFC 5321 4.5.3.1.1), less "+" and a token of 26. */
enum { LOCAL_PART_MAX = 37 };

/* Addresses from which others are made. */
static void check_addresses(struct loading *l, const struct settings *s)
{
    const struct {
        const char *key, *value;
    } addresses[] = {{"mail_in.address", s->mail_in.address},
                     {"mail_in.bounce_address", s->mail_in.bounce_address},
                     {"mail_in.unsubscribe_address", s->mail_in.unsubscribe_address}};

    for (size_t i = 0; i < COUNT_OF(addresses); i++) {
        const char *value = addresses[i].value, *key = addresses[i].key;

        if (!GOOD(l, key) || !value[0])
            continue;
        if (strcspn(value, "@") > LOCAL_PART_MAX)
            together(l, key, "should have at most %d bytes before the @, so that a token fits",
                     LOCAL_PART_MAX);
        for (size_t k = 0; k < i; k++) {
            if (GOOD(l, addresses[k].key) && str_case_eq(value, addresses[k].value))
                together(l, key, "should be another than %s", addresses[k].key);
        }
    }
    if (GOOD(l, "mail_in.delimiter") && s->mail_in.delimiter[0] &&
        !str_eq(s->mail_in.delimiter, "+") && !str_eq(s->mail_in.delimiter, "-"))
        together(l, "mail_in.delimiter", "\"%s\" should be \"+\", \"-\" or empty",
                 s->mail_in.delimiter);
}

static void check_mail_in(struct loading *l, const struct settings *s)
{
    static const char *const ways[] = {"mail_in.lmtp_listen", "mail_in.maildir",
                                       "mail_in.imap_host"};
    const char *const values[] = {s->mail_in.lmtp_listen, s->mail_in.maildir,
                                  s->mail_in.imap.host};

    check_addresses(l, s);
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        if (GOOD(l, "mail_in.address", ways[i]) && values[i][0] && !s->mail_in.address[0])
            together(l, "mail_in.address", "should be set, since %s is", ways[i]);
    }
    if (GOOD(l, "mail_in.lmtp_listen") && is_reachable(s->mail_in.lmtp_listen))
        together(l, "mail_in.lmtp_listen",
                 "LMTP is spoken on this machine only: unix:/path, 127.0.0.1 or [::1]");
    if (GOOD(l, "mail_in.maildir", "mail.directory", "mail.transport") && s->mail_in.maildir[0] &&
        s->mail.transport == SETTINGS_TRANSPORT_DIRECTORY &&
        str_eq(s->mail_in.maildir, s->mail.directory))
        together(l, "mail_in.maildir", "should be another folder than mail.directory");
    check_login(l, "mail_in.imap_user", s->mail_in.imap.user, "mail_in.imap_password",
                &s->mail_in.imap.password);
    if (GOOD(l, "mail_in.imap_host", "mail_in.imap_user") && s->mail_in.imap.host[0] &&
        !s->mail_in.imap.user[0])
        together(l, "mail_in.imap_user", "should be set, since mail_in.imap_host is");
    if (GOOD(l, "mail_in.imap_host", "mail_in.imap_user") && !s->mail_in.imap.host[0] &&
        s->mail_in.imap.user[0])
        together(l, "mail_in.imap_host", "should be set, since mail_in.imap_user is");
    if (GOOD(l, "mail_in.imap_host", "mail_in.imap_tls") && s->mail_in.imap.host[0] &&
        s->mail_in.imap.tls == SETTINGS_TLS_NONE && !host_is_loopback(s->mail_in.imap.host))
        together(l, "mail_in.imap_tls",
                 "\"none\" is for a server on this machine; %s should be reached by \"starttls\" "
                 "or \"implicit\"",
                 s->mail_in.imap.host);
    if (GOOD(l, "mail_in.dmarc", "mail_in.authserv_id") &&
        s->mail_in.dmarc == SETTINGS_DMARC_REQUIRE && !s->mail_in.authserv_id[0])
        together(l, "mail_in.authserv_id", "should be set, since mail_in.dmarc is \"require\"");
}

/* What no key alone can get wrong; of those that could be read. */
static void check_together(struct loading *l)
{
    check_http(l, l->s);
    check_mail(l, l->s);
    check_mail_in(l, l->s);
}

/* What the caller thinks of each value. */
static void check_judged(struct loading *l, const struct settings_judge *judge)
{
    for (size_t i = 0; judge && i < settings_key_count; i++) {
        const struct key *key = &settings_keys[i];
        struct buf text = buf_make(KEY_PATH_MAX);
        struct err why = ERR_INIT;

        if (GOOD(l, key->name)) {
            key_text(key, l->s, &text);
            if (judge->value(judge->arg, l->s, key->name, text.data, &why) != ST_OK)
                error_add(l, place_by_name(l, key->name), key->name, &why);
        }
        buf_release(&text);
    }
}

static enum status defaults_set(struct loading *l, struct err *err)
{
    enum status st;

    for (size_t i = 0; i < settings_key_count; i++) {
        const struct key *key = &settings_keys[i];
        if (!key->standard || key_is_list(key))
            continue;
        st = key_read_text(key, key->standard, l->folder, l->s, err);
        if (st != ST_OK) {
            err_prefix(err, "default of %s", key->name);
            return st;
        }
    }
    return ST_OK;
}

/* The line of the first NUL, which libconfig would take for the end. */
static unsigned nul_line(const char *text, size_t len)
{
    unsigned line = 1;

    for (size_t i = 0; i < len; i++) {
        if (!text[i])
            return line;
        line += text[i] == '\n';
    }
    return 0;
}

/* Looks for the setting of which libconfig says that it is there twice, or of several types. */
struct fault_search {
    enum scan_what what;
    struct buf seen; /* names, each ended by a NUL */
    char found[NAME_MAX_BYTES + 1];
};

static void fault_search(void *arg, enum scan_what what, const char *key, const char *text)
{
    struct fault_search *search = arg;

    (void)text;
    if (search->found[0] || what != search->what)
        return;
    if (what == SCAN_NAME) {
        size_t at = 0;

        while (at < search->seen.len && !str_eq(search->seen.data + at, key))
            at += strlen(search->seen.data + at) + 1;
        if (at >= search->seen.len) {
            buf_add(&search->seen, key, strlen(key) + 1);
            return;
        }
    }
    (void)snprintf(search->found, sizeof search->found, "%s", key);
}

/* What libconfig found wrong, with the key, which it does not tell. */
static void fault_tell(struct loading *l, const struct place *place, const char *text,
                       const char *said)
{
    const bool is_twice = str_eq(said, "duplicate setting name");
    const bool is_mixed = str_eq(said, "mismatched element type in array");
    struct fault_search search = {.what = is_twice ? SCAN_NAME : SCAN_MIXED,
                                  .seen = buf_make(SETTINGS_FILE_MAX)};
    struct err why = ERR_INIT;

    if (is_twice || is_mixed)
        scan_settings(text, l->folder, fault_search, &search);
    (void)err_set(&why, ST_INVALID, "%s",
                  !search.found[0] ? said
                  : is_twice       ? "is set twice; once is enough"
                                   : "should be a list of texts in quotes");
    error_add(l, place, search.found, &why);
    buf_release(&search.seen);
}

static bool file_is_parsed(struct loading *l, config_t *config, const char *text, size_t len)
{
    struct place place = {.line = nul_line(text, len)};
    struct err why = ERR_INIT;

    (void)str_copy(place.file, sizeof place.file, l->name);
    if (place.line) {
        (void)err_set(&why, ST_INVALID, "a NUL byte should not be in it");
        error_add(l, &place, "", &why);
        return false;
    }
    if (config_read_string(config, text) == CONFIG_TRUE)
        return true;
    if (config_error_line(config) > 0)
        place.line = (unsigned)config_error_line(config);
    place_file(l, config_error_file(config), &place);
    fault_tell(l, &place, text,
               config_error_text(config) ? config_error_text(config) : "cannot be read");
    return false;
}

static enum status load(const char *text, size_t len, const char *name, const char *folder,
                        const char *const *sets, size_t set_count,
                        const struct settings_judge *judge, struct settings *ret,
                        struct buf *ret_errors, struct err *err)
{
    struct settings s = SETTINGS_INIT;
    struct loading *l = calloc(1, sizeof *l);
    char *copy = NULL;
    config_t config;
    enum status st;

    if (!l)
        return err_set(err, ST_NOMEM, "settings: out of memory");
    assert(settings_key_count <= KEYS_MAX);
    config_init(&config);
    config_set_include_dir(&config, folder);
    s.secrets = judge ? judge->secrets : SETTINGS_SECRETS_ALL;
    l->s = &s;
    l->errors = ret_errors;
    l->name = name;
    l->folder = folder;
    if ((st = defaults_set(l, err)) != ST_OK)
        goto out;
    if (text && !(copy = str_ndup(text, len))) {
        st = err_set(err, ST_NOMEM, "settings: out of memory");
        goto out;
    }
    l->text = copy;
    if (!text || file_is_parsed(l, &config, copy, len)) {
        if (text)
            group_read(l, config_root_setting(&config), "");
        for (size_t i = 0; i < set_count; i++)
            set_read(l, sets[i]);
        for (size_t i = 0; i < settings_key_count; i++)
            if (!settings_keys[i].standard && !l->places[i].file[0]) {
                together(l, settings_keys[i].name, "is missing; it must be set");
                l->places[i].is_bad = true;
            }
        check_together(l);
        check_judged(l, judge);
    }
    if (l->is_out_of_memory) {
        st = err_set(err, ST_NOMEM, "settings: out of memory");
    } else if (l->error_count) {
        st = err_set(err, ST_INVALID, "%s has %zu error%s", name, l->error_count,
                     l->error_count == 1 ? "" : "s");
    } else {
        *ret = s;
        s = SETTINGS_INIT;
    }
out:
    settings_release(&s);
    config_destroy(&config);
    free(copy);
    free(l);
    return st;
}

enum status settings_parse(const char *text, size_t len, const char *name, const char *folder,
                           const char *const *sets, size_t set_count,
                           const struct settings_judge *judge, struct settings *ret,
                           struct buf *ret_errors, struct err *err)
{
    return load(text, len, name, folder, sets, set_count, judge, ret, ret_errors, err);
}

enum status settings_load(const char *path, const char *const *sets, size_t set_count,
                          const struct settings_judge *judge, struct settings *ret,
                          struct buf *ret_errors, struct err *err)
{
    char *text = NULL, folder[KEY_PATH_MAX + 1];
    const char *slash;
    FILE *file = NULL;
    size_t len;
    enum status st;

    if (!path)
        return load(NULL, 0, "command line", ".", sets, set_count, judge, ret, ret_errors, err);
    file = fopen(path, "re");
    if (!file)
        return err_set(err, errno == ENOENT ? ST_NOT_FOUND : ST_IO,
                       "the configuration %s cannot be read: %s", path, strerror(errno));
    text = malloc(SETTINGS_FILE_MAX + 1);
    if (!text) {
        st = err_set(err, ST_NOMEM, "settings: out of memory");
        goto out;
    }
    len = fread(text, 1, SETTINGS_FILE_MAX + 1, file);
    if (ferror(file)) {
        st = err_set(err, ST_IO, "the configuration %s cannot be read: %s", path, strerror(errno));
        goto out;
    }
    if (len > SETTINGS_FILE_MAX) {
        st = err_set(err, ST_IO, "the configuration %s is longer than %d bytes", path,
                     SETTINGS_FILE_MAX);
        goto out;
    }
    slash = strrchr(path, '/');
    if (slash && (size_t)(slash - path) >= sizeof folder) {
        st = err_set(err, ST_IO, "the path of the configuration is too long");
        goto out;
    }
    (void)snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1,
                   slash ? path : ".");
    if (slash == path)
        (void)str_copy(folder, sizeof folder, "/");
    st = load(text, len, path, folder, sets, set_count, judge, ret, ret_errors, err);
out:
    free(text);
    fclose(file);
    return st;
}

void settings_release(struct settings *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < settings_key_count; i++)
        key_free(&settings_keys[i], s);
    *s = SETTINGS_INIT;
}

/* Call each for the keys in order, with "group: {" and "};" where a group begins and ends. */
static void each_key(void (*each)(const struct key *, const char *, void *, struct buf *),
                     void *arg, struct buf *out)
{
    char group[NAME_MAX_BYTES + 1] = "";

    for (size_t i = 0; i < settings_key_count; i++) {
        const char *name = settings_keys[i].name, *dot = strchr(name, '.');
        char own[NAME_MAX_BYTES + 1];

        (void)snprintf(own, sizeof own, "%.*s", dot ? (int)(dot - name) : 0, name);
        if (!str_eq(own, group)) {
            if (*group)
                buf_puts(out, "};\n");
            if (*own)
                buf_printf(out, "%s%s: {\n", each == NULL ? "" : "\n", own);
            (void)str_copy(group, sizeof group, own);
        }
        each(&settings_keys[i], dot ? dot + 1 : name, arg, out);
    }
    if (*group)
        buf_puts(out, "};\n");
}

static void print_one(const struct key *key, const char *name, void *arg, struct buf *out)
{
    buf_printf(out, "%s%s = ", strchr(key->name, '.') ? "    " : "", name);
    key_print(key, arg, out);
    buf_puts(out, ";\n");
}

void settings_print(const struct settings *s, struct buf *out)
{
    each_key(print_one, (void *)(uintptr_t)s, out);
}

/* text as comment lines of at most 90 bytes. */
static void comment(struct buf *out, const char *indent, const char *text)
{
    size_t column = 0;

    while (*text) {
        size_t len = strcspn(text, " ");
        if (column && column + 1 + len > 90) {
            buf_putc(out, '\n');
            column = 0;
        }
        if (!column) {
            buf_printf(out, "%s#", indent);
            column = strlen(indent) + 1;
        }
        buf_printf(out, " %.*s", (int)len, text);
        column += 1 + len;
        text += len + (text[len] == ' ');
    }
    buf_putc(out, '\n');
}

/* "Value: … (unit). Default …." */
static void put_range(const struct key *key, struct buf *out)
{
    buf_puts(out, "Value: ");
    key_range(key, out);
    if (*key->unit)
        buf_printf(out, " (%s)", key->unit);
    buf_puts(out, ". Default ");
    key_print_default(key, out);
    buf_puts(out, ".");
}

static void sample_one(const struct key *key, const char *name, void *arg, struct buf *out)
{
    const char *indent = strchr(key->name, '.') ? "    " : "";
    struct buf range = buf_make(400);

    (void)arg;
    buf_putc(out, '\n');
    comment(out, indent, key->doc);
    put_range(key, &range);
    comment(out, indent, range.data);
    buf_release(&range);
    if (key->standard) {
        buf_printf(out, "%s#%s = ", indent, name);
        key_print_default(key, out);
        buf_puts(out, ";\n");
    } else {
        buf_printf(out, "%s%s = \"http://localhost:8484\";\n", indent, name);
    }
}

void settings_sample(struct buf *out)
{
    buf_puts(out,
             "# The configuration of Fourhanded, in libconfig's syntax; fourhanded.conf(5).\n"
             "# `fourhanded check-config` reads it and reports every error at once;\n"
             "# `fourhanded check-config --sample` prints this text.\n"
             "# A value that is commented out here is the default.\n");
    each_key(sample_one, NULL, out);
}

/* text with what roff would take for its own escaped. */
static void mdoc_text(struct buf *out, const char *text)
{
    bool is_line_start = true;

    for (; *text; text++) {
        if (is_line_start && (*text == '.' || *text == '\''))
            buf_puts(out, "\\&");
        if (*text == '\\')
            buf_puts(out, "\\e");
        else if (text[0] == '.' && text[1] == ' ')
            buf_puts(out, ".\n"); /* a sentence a line */
        else if (*text == '"')
            buf_puts(out, "\\(dq");
        else
            buf_putc(out, *text);
        if (text[0] == '.' && text[1] == ' ')
            text++;
        is_line_start = out->len > 0 && out->data[out->len - 1] == '\n';
    }
    buf_putc(out, '\n');
}

void settings_manual(struct buf *out)
{
    buf_puts(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < settings_key_count; i++) {
        const struct key *key = &settings_keys[i];
        struct buf range = buf_make(400);

        buf_printf(out, ".It Ic %s\n", key->name);
        mdoc_text(out, key->doc);
        put_range(key, &range);
        mdoc_text(out, range.data);
        buf_release(&range);
    }
    buf_puts(out, ".El\n");
}

#include "support/harness.h"

#include <inttypes.h>
#include <libconfig.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "base/utc.h"
#include "settings/settings.h"
#include "settings/table.h"

#define URL "public_url = \"http://localhost:8484\";\n"

/* What one reading gave. */
struct reading {
    struct settings s;
    struct buf errors;
    struct err err;
    enum status st;
};

static struct reading read_with(const char *text, const char *const *sets, size_t n)
{
    struct reading r = {.s = SETTINGS_INIT, .errors = buf_make(SETTINGS_ERRORS_MAX)};

    r.st = settings_parse(text, strlen(text), "a.conf", "/etc/club", sets, n, NULL, &r.s, &r.errors,
                          &r.err);
    return r;
}

static struct reading read_text(const char *text)
{
    return read_with(text, NULL, 0);
}

static void reading_end(struct reading *r)
{
    settings_release(&r->s);
    buf_release(&r->errors);
}

/* The text is refused and its error lines are exactly these. */
static void assert_refused(const char *text, const char *lines)
{
    struct reading r = read_text(text);

    if (r.st != ST_INVALID || strcmp(r.errors.data, lines))
        fail_msg("%s\nexpected:\n%s\ngot (%s):\n%s", text, lines, status_str(r.st),
                 r.errors.data);
    assert_null(r.s.public_url); /* untouched on failure */
    reading_end(&r);
}

/* The same, but the lines need only hold this. */
static void assert_complains(const char *text, const char *piece)
{
    struct reading r = read_text(text);

    if (r.st != ST_INVALID || !strstr(r.errors.data, piece))
        fail_msg("%s\nexpected in it: %s\ngot (%s):\n%s", text, piece, status_str(r.st),
                 r.errors.data);
    reading_end(&r);
}

static void test_defaults_stand_where_the_file_is_silent(void **state)
{
    struct reading r = read_text(URL);

    (void)state;
    assert_ok(r.st, r.err);
    assert_string_equal(r.s.public_url, "http://localhost:8484");
    assert_string_equal(r.s.http.listen, "127.0.0.1:8484");
    assert_int_equal(r.s.registration, SETTINGS_REGISTRATION_INVITE);
    assert_int_equal(r.s.log_level, LOG_LEVEL_INFO);
    assert_int_equal(r.s.clock.move_ms, 14 * MS_DAY);
    assert_int_equal(r.s.clock.grace_ms, 12 * MS_HOUR);
    assert_int_equal(r.s.http.body_size, 65536);
    assert_int_equal(r.s.mail.transport, SETTINGS_TRANSPORT_DIRECTORY);
    assert_true(r.s.webhooks.enabled);
    assert_int_equal(r.s.http.trusted_proxies.count, 0);
    reading_end(&r);
}

static void test_every_type_of_value_is_read(void **state)
{
    struct reading r = read_text(
        "public_url = \"https://chess.example.org/\";\n"
        "database = \"club.db\";\n"
        "registration = \"open\";\n"
        "http: { listen = \"0.0.0.0:80\"; threads = 8; body_size = \"1MiB\";\n"
        "  trusted_proxies = [ \"10.0.0.1\", \"fd00::/8\" ]; };\n"
        "mail: { transport = \"smtp\"; port = 587; from_address = \"a@b.example\"; };\n"
        "webhooks: { enabled = false; };\n"
        "clock: { move_time = \"1d 12h\"; };\n");

    (void)state;
    assert_ok(r.st, r.err);
    assert_string_equal(r.s.public_url, "https://chess.example.org");
    assert_string_equal(r.s.database, "/etc/club/club.db");
    assert_int_equal(r.s.registration, SETTINGS_REGISTRATION_OPEN);
    assert_int_equal(r.s.http.threads, 8);
    assert_int_equal(r.s.http.body_size, 1024 * 1024);
    assert_int_equal(r.s.http.trusted_proxies.count, 2);
    assert_string_equal(r.s.http.trusted_proxies.items[1], "fd00::/8");
    assert_int_equal(r.s.mail.transport, SETTINGS_TRANSPORT_SMTP);
    assert_false(r.s.webhooks.enabled);
    assert_int_equal(r.s.clock.move_ms, 36 * MS_HOUR);
    reading_end(&r);
}

static void test_unknown_keys_are_errors_that_name_the_nearest(void **state)
{
    (void)state;
    assert_refused(URL "regstration = \"open\";\n",
                   "a.conf:2: regstration: is not a known key; the nearest is registration\n");
    assert_refused(URL "http: {\n threds = 3;\n};\n",
                   "a.conf:3: http.threds: is not a known key; the nearest is http.threads\n");
    assert_refused(URL "threads = 3;\n",
                   "a.conf:2: threads: is not a known key; the nearest is http.threads\n");
    assert_refused(URL "smtp: { host = \"x\"; };\n",
                   "a.conf:2: smtp: is not a known group; the nearest is http\n");
    assert_refused(URL "htpp: { listen = \"x\"; };\n",
                   "a.conf:2: htpp: is not a known group; the nearest is http\n");
    assert_refused(URL "mails: { host = \"x\"; };\n",
                   "a.conf:2: mails: is not a known group; the nearest is mail\n");
}

static void test_a_group_that_is_written_as_a_value_is_told_so(void **state)
{
    struct reading r;

    (void)state;
    assert_refused(URL "http = 5;\n", "a.conf:2: http: should be a group, as http: { … }\n");
    assert_refused(URL "mail = [1, 2];\n",
                   "a.conf:2: mail: should be a group, as mail: { … }\n");
    assert_refused(URL "mail_in = ( { a = 1; } );\n",
                   "a.conf:2: mail_in: should be a group, as mail_in: { … }\n");
    r = read_with(URL, (const char *const[]){"http=5"}, 1);
    assert_st(r.st, ST_INVALID, r.err);
    assert_string_equal(r.errors.data, "--set: http: should be a group, as http: { … }\n");
    reading_end(&r);
}

/* libconfig keeps 32 bits, or -1, of each of these. */
static void test_a_number_is_taken_as_it_is_written(void **state)
{
    static const char *const bad[] = {
        "4294967397", "99999999999", "2147483648", "4294967297", "-4294967195", "-1", "0",
        "100001", "4294967397L", "0x100000065", "0xFFFFFFFFFFFFFFFFFFFF",
        "99999999999999999999999", "-99999999999999999999999", "18446744073709551717",
        "9223372036854775808LL",
    };
    char text[400], wanted[200];
    struct reading r;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        snprintf(text, sizeof text,
                 URL "limits: { # games = 7\n /* games = 8; */ games = %s; };\n", bad[i]);
        snprintf(wanted, sizeof wanted,
                 "a.conf:3: limits.games: %s should be between 1 and 100000\n", bad[i]);
        assert_refused(text, wanted);
        snprintf(text, sizeof text, "limits.games=%s", bad[i]);
        r = read_with(URL, (const char *const[]){text}, 1);
        assert_st(r.st, ST_INVALID, r.err);
        if (!bad[i][strspn(bad[i], "+-0123456789")]) {
            snprintf(wanted, sizeof wanted,
                     "--set: limits.games: %s should be between 1 and 100000\n", bad[i]);
            assert_string_equal(r.errors.data, wanted);
        }
        reading_end(&r);
    }
    r = read_text(URL "http: { rate_requests = 0x10, threads : +7; rate_logins = 1000000L };\n"
                      "// limits: { games = 9; };\n"
                      "site_name = \"limits: { games = 9; } # \\\" //\";\n"
                      "limits:\n{ games\n= 100000; tokens = 010;};\n");
    assert_ok(r.st, r.err);
    assert_int_equal(r.s.http.rate_requests, 16);
    assert_int_equal(r.s.http.threads, 7);
    assert_int_equal(r.s.http.rate_logins, 1000000);
    assert_int_equal(r.s.limits.games, 100000);
    assert_int_equal(r.s.limits.tokens, 10);
    reading_end(&r);
}

static void test_a_size_that_is_too_large_is_out_of_range(void **state)
{
    (void)state;
    assert_refused(URL "http: { body_size = \"99999999999999999999KiB\"; };\n",
                   "a.conf:2: http.body_size: 99999999999999999999KiB should be between "
                   "\"4KiB\" and \"4MiB\"\n");
    assert_refused(URL "http: { body_size = \"4294967297MiB\"; };\n",
                   "a.conf:2: http.body_size: 4294967297MiB should be between \"4KiB\" and "
                   "\"4MiB\"\n");
}

static void test_all_errors_but_syntax_are_told_at_once(void **state)
{
    (void)state;
    assert_refused("public_url = \"chess.example.org\";\n"
                   "\n"
                   "http: {\n"
                   "  threads = 65;\n"
                   "  idle_time = 30;\n"
                   "};\n"
                   "clock: { grace = \"12\"; };\n"
                   "webhooks: { enabled = \"yes\"; };\n",
                   "a.conf:1: public_url: \"chess.example.org\" should begin with https:// (or "
                   "http://)\n"
                   "a.conf:4: http.threads: 65 should be between 2 and 64\n"
                   "a.conf:5: http.idle_time: should be a length in quotes with its unit, as "
                   "\"14d\"\n"
                   "a.conf:7: clock.grace: \"12\" is not a length of time such as \"14d\", "
                   "\"12h\" or \"90m\"\n"
                   "a.conf:8: webhooks.enabled: \"yes\" should be true or false, without quotes\n");
}

static void test_a_syntax_error_is_told_alone(void **state)
{
    struct reading r;

    (void)state;
    r = read_text(URL "wrong_key = 1;\nhttp: { threads = ; };\n");
    assert_st(r.st, ST_INVALID, r.err);
    assert_string_equal(r.errors.data, "a.conf:3: syntax error\n");
    reading_end(&r);
    r = read_with("a = 1;\nb\n", (const char *const[]){"nonsense=1"}, 1);
    assert_null(strstr(r.errors.data, "nonsense"));
    reading_end(&r);
}

static void test_a_key_twice_is_an_error(void **state)
{
    (void)state;
    assert_refused(URL URL, "a.conf:2: public_url: is set twice; once is enough\n");
    assert_refused(URL "http: { threads = 3; };\nmail: { port = 3; };\n"
                       "limits: { games = 3; tokens = 3;\n games = 4; };\n",
                   "a.conf:5: limits.games: is set twice; once is enough\n");
    assert_refused(URL "http: { threads = 3; };\nhttp: { listen = \"x\"; };\n",
                   "a.conf:3: http: is set twice; once is enough\n");
}

static void test_a_list_of_several_types_is_an_error_that_names_it(void **state)
{
    (void)state;
    assert_refused(URL "webhooks: { allow = [ \"10.0.0.0/8\" ]; };\n"
                       "http: { trusted_proxies = [ \"10.0.0.0/33\", 5, \"foo\" ]; };\n",
                   "a.conf:3: http.trusted_proxies: should be a list of texts in quotes\n");
    assert_refused(URL "http: { trusted_proxies = [ 5, true ]; };\n",
                   "a.conf:2: http.trusted_proxies: should be a list of texts in quotes\n");
}

static void test_a_missing_public_url_is_an_error(void **state)
{
    (void)state;
    assert_refused("", "a.conf:1: public_url: is missing; it must be set\n");
}

static void test_a_nul_byte_is_an_error_with_its_line(void **state)
{
    static const char text[] = URL "log_level = \"debug\0\";\n";
    struct settings s = SETTINGS_INIT;
    struct buf errors = buf_make(1000);
    struct err err = ERR_INIT;

    (void)state;
    assert_st(settings_parse(text, sizeof text - 1, "a.conf", ".", NULL, 0, NULL, &s, &errors,
                             &err),
              ST_INVALID, err);
    assert_string_equal(errors.data, "a.conf:2: a NUL byte should not be in it\n");
    buf_release(&errors);
}

static void test_ranges_hold_at_both_ends(void **state)
{
    (void)state;
    for (size_t i = 0; i < settings_key_count; i++) {
        const struct key *key = &settings_keys[i];
        struct settings s = SETTINGS_INIT;
        struct err err = ERR_INIT;

        if (key->type != KEY_NUMBER)
            continue;
        assert_st(key_read_number(key, key->min - 1, NULL, &s, &err), ST_INVALID, err);
        assert_ok(key_read_number(key, key->min, NULL, &s, &err), err);
        assert_ok(key_read_number(key, key->max, NULL, &s, &err), err);
        assert_st(key_read_number(key, key->max + 1, NULL, &s, &err), ST_INVALID, err);
    }
}

/* One value of a key by its reader, as it would stand in the file without quotes. */
static bool takes(const struct key *key, const char *text)
{
    struct settings s = SETTINGS_INIT;
    struct err err = ERR_INIT;
    int64_t number = 0;
    bool is_taken = key->type == KEY_NUMBER
                        ? str_to_int64(text, INT64_MIN, INT64_MAX, &number) &&
                              key_read_number(key, number, NULL, &s, &err) == ST_OK
                        : key_read_text(key, text, "/", &s, &err) == ST_OK;

    settings_release(&s);
    return is_taken;
}

static void assert_takes(const struct key *key, const char *text, bool wanted)
{
    if (takes(key, text) != wanted)
        fail_msg("%s: \"%.60s\" is %s, against what the sample says", key->name, text,
                 wanted ? "refused" : "taken");
}

/* n bytes of a text, or of a path. */
static void assert_takes_bytes(const struct key *key, int64_t n, bool wanted)
{
    char text[2 * KEY_PATH_MAX];

    assert_in_range(n, 0, sizeof text - 1);
    memset(text, 'a', (size_t)n);
    text[n] = '\0';
    if (n > 0 && key->type == KEY_PATH)
        text[0] = '/';
    assert_takes(key, text, wanted);
}

/* "1s" and the like as a number of its smallest unit, and one more or less of that. */
static void assert_takes_about(const struct key *key, const char *text, int by)
{
    char about[64], *end;
    struct err err = ERR_INIT;
    int64_t value = 0;

    if (key->type == KEY_LENGTH) {
        assert_ok(length_parse(text, &value, &err), err);
        snprintf(about, sizeof about, "%" PRId64 "ms", value + by);
    } else if (key->type == KEY_SIZE) {
        value = strtoll(text, &end, 10) * (str_eq(end, "MiB") ? 1048576 : 1024);
        snprintf(about, sizeof about, "%" PRId64 "B", value + by);
    } else {
        snprintf(about, sizeof about, "%lld", strtoll(text, NULL, 10) + by);
    }
    assert_takes(key, text, true);
    if (value + by >= 0)
        assert_takes(key, about, false);
}

/* What the sample says about one key, its lines joined, against what is read. */
static bool check_said(const struct key *key, const char *said)
{
    const char *value = strstr(said, "Value: ");
    struct settings s = SETTINGS_INIT;
    struct err err = ERR_INIT;
    char low[32], high[32], *words, *word, *rest;
    long long from, to;
    bool is_list = key_is_list(key);

    assert_non_null(value);
    value += 7;
    if (sscanf(value, "between \"%31[^\"]\" and \"%31[^\"]\"", low, high) == 2 ||
        sscanf(value, "between %31[-0-9] and %31[-0-9]", low, high) == 2) {
        assert_takes_about(key, low, -1);
        assert_takes_about(key, high, +1);
    } else if (sscanf(value, "a text of %lld to %lld bytes", &from, &to) == 2) {
        assert_takes_bytes(key, to, true);
        assert_takes_bytes(key, to + 1, false);
        assert_takes_bytes(key, from, true);
        if (from > 0)
            assert_takes_bytes(key, from - 1, false);
    } else if (sscanf(value, "a path of at most %lld bytes", &to) == 1) {
        assert_takes_bytes(key, to, true);
        assert_takes_bytes(key, to + 1, false);
    } else if (is_list && sscanf(value, "a list of at most %lld ", &to) == 1) {
        const char *item = key->type == KEY_NETS ? "10.0.0.0/8" : "CAUTION:";

        for (int i = 0; i < to; i++)
            assert_ok(key_list_add(key, item, &s, &err), err);
        assert_st(key_list_add(key, item, &s, &err), ST_INVALID, err);
        settings_release(&s);
    } else if (value[0] == '"' && key->type == KEY_CHOICE) {
        assert_non_null(words = str_ndup(value, strcspn(value, ".")));
        for (word = strtok_r(words, "\"", &rest); word; word = strtok_r(NULL, "\"", &rest))
            assert_takes(key, word, word[0] != ',' && word[0] != ' ');
        free(words);
        assert_takes(key, "neither", false);
    } else {
        return false; /* a URL, an address, a secret, true or false: no range */
    }
    return true;
}

static void test_what_the_sample_says_of_each_key_is_what_is_read(void **state)
{
    struct buf said = buf_make(8192);
    char *text = calloc(1, SETTINGS_FILE_MAX), *line, *rest, group[80] = "";
    FILE *f = fopen(FH_SOURCE_DIR "/config/fourhanded.conf", "r");
    size_t keys = 0, checked = 0;

    (void)state;
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, SETTINGS_FILE_MAX - 1, f) > 0);
    fclose(f);
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char name[64], full[sizeof group + sizeof name];

        line += strspn(line, " ");
        if (str_starts(line, "# ")) {
            buf_puts(&said, line + 1);
        } else if (sscanf(line, "%63[a-z_]: {", name) == 1 && strchr(line, '{')) {
            snprintf(group, sizeof group, "%s.", name);
            buf_clear(&said);
        } else if (sscanf(line + (*line == '#'), "%63[a-z_0-9] =", name) == 1) {
            const struct key *key = NULL;

            snprintf(full, sizeof full, "%s%s", group, name);
            for (size_t i = 0; i < settings_key_count; i++)
                if (str_eq(settings_keys[i].name, full))
                    key = &settings_keys[i];
            if (!key)
                fail_msg("the sample tells of %s, which is no key", full);
            checked += check_said(key, said.data);
            keys++;
            buf_clear(&said);
        }
    }
    assert_int_equal(keys, settings_key_count);
    assert_true(checked > 45);
    free(text);
    buf_release(&said);
}

static void test_lengths_hold_at_both_ends(void **state)
{
    struct reading r;

    (void)state;
    assert_complains(URL "clock: { move_time = \"59m\"; };",
                     "should be between \"1h\" and \"365d\"");
    assert_complains(URL "clock: { move_time = \"365d 1ms\"; };", "should be between");
    r = read_text(URL "clock: { move_time = \"60m\"; grace = \"0s\"; };");
    assert_ok(r.st, r.err);
    assert_int_equal(r.s.clock.move_ms, MS_HOUR);
    assert_int_equal(r.s.clock.grace_ms, 0);
    reading_end(&r);
}

static void test_plain_http_beyond_this_machine_is_refused(void **state)
{
    struct reading r;

    (void)state;
    assert_complains("public_url = \"http://chess.example.org\";",
                     "a.conf:1: public_url: plain http is for this machine alone");
    assert_complains("public_url = \"http://192.168.1.4:8484\";", "public_url: plain http");
    assert_complains(URL "http: { listen = \"0.0.0.0:8484\"; };",
                     "a.conf:2: http.listen: plain http beyond this machine");
    assert_complains("public_url = \"https://c.example\";\nhttp: { listen = \"[::]:80\"; };",
                     "http.trusted_proxies should name the proxy");
    r = read_text("public_url = \"https://c.example\";\n"
                  "http: { listen = \"[::]:80\"; trusted_proxies = [ \"10.1.2.3\" ]; };");
    assert_ok(r.st, r.err);
    reading_end(&r);
    r = read_text("public_url = \"http://127.9.9.9:1\";http: { listen = \"[::1]:0\"; };");
    assert_ok(r.st, r.err);
    reading_end(&r);
    r = read_text("public_url = \"https://c.example\";http: { listen = \"unix:/run/x.sock\"; };");
    assert_ok(r.st, r.err);
    reading_end(&r);
}

static void test_metrics_stay_on_this_machine(void **state)
{
    (void)state;
    assert_complains(URL "http: { metrics_listen = \"0.0.0.0:9100\"; };",
                     "http.metrics_listen: should be on this machine");
}

static void test_mail_without_tls_stays_on_this_machine(void **state)
{
    struct reading r;

    (void)state;
    assert_complains(URL "mail: { transport = \"smtp\"; tls = \"none\"; host = \"mx.example\"; };",
                     "mail.tls: \"none\" is for a mail server on this machine");
    r = read_text(URL "mail: { transport = \"smtp\"; tls = \"none\"; host = \"127.0.0.1\"; };");
    assert_ok(r.st, r.err);
    reading_end(&r);
}

/* A folder of its own for files that secrets are in. */
static char folder[] = "/tmp/fh-settings-XXXXXX";

static int folder_make(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
    char path[200];
    static const char *const names[] = {"password", "secret", "other.conf", "main.conf"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    return rmdir(folder);
}

static void file_write(const char *name, const char *text, mode_t mode)
{
    char path[200];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
}

static struct reading read_in_folder(const char *text)
{
    struct reading r = {.s = SETTINGS_INIT, .errors = buf_make(SETTINGS_ERRORS_MAX)};

    r.st = settings_parse(text, strlen(text), "a.conf", folder, NULL, 0, NULL, &r.s, &r.errors,
                          &r.err);
    return r;
}

static void test_a_secret_comes_from_a_file_and_is_never_printed(void **state)
{
    struct buf out = buf_make(SETTINGS_FILE_MAX);
    struct reading r;

    (void)state;
    file_write("password", "s3cret words\n", 0600);
    r = read_in_folder(URL "mail: { user = \"u\"; password = \"@file:password\"; };");
    assert_ok(r.st, r.err);
    assert_string_equal(r.s.mail.password.value, "s3cret words");
    settings_print(&r.s, &out);
    assert_null(strstr(out.data, "s3cret"));
    assert_non_null(strstr(out.data, "password = \"@file:password\";"));
    buf_release(&out);
    reading_end(&r);
}

static void test_a_secret_that_others_can_read_is_refused(void **state)
{
    struct reading r;

    (void)state;
    file_write("password", "s3cret\n", 0604);
    r = read_in_folder(URL "mail: { user = \"u\"; password = \"@file:password\"; };");
    assert_st(r.st, ST_INVALID, r.err);
    assert_non_null(strstr(r.errors.data, "its mode should be 0600"));
    assert_null(strstr(r.errors.data, "s3cret"));
    reading_end(&r);
}

static void test_a_secret_in_the_file_itself_is_refused_and_not_repeated(void **state)
{
    struct reading r = read_text(URL "mail: { user = \"u\"; password = \"hunter2\"; };");

    (void)state;
    assert_st(r.st, ST_INVALID, r.err);
    assert_non_null(strstr(r.errors.data, "a.conf:2: mail.password: a secret does not stand here"));
    assert_null(strstr(r.errors.data, "hunter2"));
    reading_end(&r);
}

static void test_a_secret_comes_from_a_systemd_credential(void **state)
{
    struct reading r;

    (void)state;
    file_write("password", "from systemd", 0644); /* systemd's folder is closed, not the file */
    assert_int_equal(setenv("CREDENTIALS_DIRECTORY", folder, 1), 0);
    r = read_text(URL "mail: { user = \"u\"; password = \"@credential:password\"; };");
    assert_ok(r.st, r.err);
    assert_string_equal(r.s.mail.password.value, "from systemd");
    reading_end(&r);
    assert_complains(URL "mail: { user = \"u\"; password = \"@credential:../x\"; };", "no slash");
    assert_complains(URL "mail: { user = \"u\"; password = \"@credential:none\"; };",
                     "cannot be read");
    unsetenv("CREDENTIALS_DIRECTORY");
    assert_complains(URL "mail: { user = \"u\"; password = \"@credential:password\"; };",
                     "there are no credentials");
}

static enum status judge_nothing(void *arg, const struct settings *s, const char *key,
                                 const char *text, struct err *err)
{
    (void)arg;
    (void)s;
    (void)key;
    (void)text;
    (void)err;
    return ST_OK;
}

/* Subcommands get no credentials from systemd and may be run by who cannot read the files: what
 * needs no secret reads none, and still refuses what is not written as one. */
static void test_secrets_are_read_by_who_needs_them(void **state)
{
    static const struct {
        const char *password;
        enum settings_secrets secrets;
        const char *value; /* NULL: refused */
    } rows[] = {
        {"@credential:password", SETTINGS_SECRETS_ALL, NULL},
        {"@credential:password", SETTINGS_SECRETS_AT_HAND, ""},
        {"@credential:password", SETTINGS_SECRETS_NONE, ""},
        {"@credential:../x", SETTINGS_SECRETS_NONE, NULL},
        {"@file:nowhere", SETTINGS_SECRETS_ALL, NULL},
        {"@file:nowhere", SETTINGS_SECRETS_AT_HAND, NULL},
        {"@file:nowhere", SETTINGS_SECRETS_NONE, ""},
        {"@file:secret", SETTINGS_SECRETS_AT_HAND, "at hand"},
        {"hunter2", SETTINGS_SECRETS_NONE, NULL},
    };

    (void)state;
    unsetenv("CREDENTIALS_DIRECTORY");
    file_write("secret", "at hand\n", 0600);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct settings_judge judge = {judge_nothing, NULL, rows[i].secrets};
        struct buf errors = buf_make(SETTINGS_ERRORS_MAX);
        struct settings s = SETTINGS_INIT;
        struct err err = ERR_INIT;
        char text[200];
        enum status st;

        (void)snprintf(text, sizeof text, URL "mail: { user = \"u\"; password = \"%s\"; };",
                       rows[i].password);
        st = settings_parse(text, strlen(text), "a.conf", folder, NULL, 0, &judge, &s, &errors,
                            &err);
        if (rows[i].value) {
            assert_ok(st, err);
            assert_string_equal(s.mail.password.value, rows[i].value);
            assert_string_equal(s.mail.password.source, rows[i].password);
        } else {
            assert_int_equal(st, ST_INVALID);
        }
        settings_release(&s);
        buf_release(&errors);
    }
}

static void test_user_and_password_go_together(void **state)
{
    (void)state;
    assert_complains(URL "mail: { user = \"u\"; };", "mail.password: should be set");
}

static void test_the_command_line_overrides_the_file(void **state)
{
    const char *const sets[] = {"log_level=debug", "http.listen=127.0.0.1:0",
                                "http.trusted_proxies=10.0.0.1,10.0.0.2", "clock.grace=1h",
                                "http.threads=2", "webhooks.enabled=false"};
    struct reading r = read_with(URL "log_level = \"error\";", sets, COUNT_OF(sets));

    (void)state;
    assert_ok(r.st, r.err);
    assert_int_equal(r.s.log_level, LOG_LEVEL_DEBUG);
    assert_string_equal(r.s.http.listen, "127.0.0.1:0");
    assert_int_equal(r.s.http.trusted_proxies.count, 2);
    assert_int_equal(r.s.clock.grace_ms, MS_HOUR);
    assert_int_equal(r.s.http.threads, 2);
    assert_false(r.s.webhooks.enabled);
    reading_end(&r);
}

static void test_errors_of_the_command_line_are_told_with_those_of_the_file(void **state)
{
    const char *const sets[] = {"log_level=loud", "nokey=1", "word"};
    struct reading r = read_with(URL "http: { threads = 1; };", sets, COUNT_OF(sets));

    (void)state;
    assert_st(r.st, ST_INVALID, r.err);
    assert_non_null(strstr(r.errors.data, "a.conf:2: http.threads: 1 should be"));
    assert_non_null(strstr(r.errors.data,
                           "--set: log_level: \"loud\" should be \"error\", \"warning\", \"info\" "
                           "or \"debug\"\n"));
    assert_non_null(strstr(r.errors.data, "--set: nokey: is not a known key"));
    assert_non_null(strstr(r.errors.data, "--set: \"word\" should be KEY=VALUE"));
    assert_string_equal(r.err.text, "a.conf has 4 errors");
    reading_end(&r);
}

static void test_an_included_file_is_read_and_named_in_errors(void **state)
{
    struct reading r;

    (void)state;
    file_write("other.conf", "log_level = \"debug\";\n\nhttp: { threads = 1; };\n", 0644);
    r = read_in_folder(URL "@include \"other.conf\"\n");
    assert_st(r.st, ST_INVALID, r.err);
    assert_non_null(strstr(r.errors.data, "/other.conf:3: http.threads: 1 should be"));
    reading_end(&r);
    file_write("other.conf", "threads = 4294967300;\n", 0644);
    r = read_in_folder(URL "http: {\n  @include \"other.conf\"\n};\n");
    assert_st(r.st, ST_INVALID, r.err);
    assert_non_null(strstr(r.errors.data, "/other.conf:1: http.threads: 4294967300 should be"));
    reading_end(&r);
    file_write("other.conf", "log_level = \"debug\";\nlog_level = \"info\";\n", 0644);
    r = read_in_folder(URL "@include \"other.conf\"\n");
    assert_st(r.st, ST_INVALID, r.err);
    assert_non_null(strstr(r.errors.data, "/other.conf:2: log_level: is set twice"));
    reading_end(&r);
}

static void test_a_relative_socket_begins_in_the_folder_of_the_configuration(void **state)
{
    struct reading r = read_text(URL "http: { listen = \"unix:run/h.sock\";\n"
                                     "metrics_listen = \"unix:m.sock\"; };\n"
                                     "mail_in: { address = \"play@club.example\";\n"
                                     "lmtp_listen = \"unix:lmtp.sock\"; };\n");
    struct settings s = SETTINGS_INIT;
    struct buf errors = buf_make(1000);
    struct err err = ERR_INIT;
    char here[2000], wanted[2100];

    (void)state;
    assert_ok(r.st, r.err);
    assert_string_equal(r.s.http.listen, "unix:/etc/club/run/h.sock");
    assert_string_equal(r.s.http.metrics_listen, "unix:/etc/club/m.sock");
    assert_string_equal(r.s.mail_in.lmtp_listen, "unix:/etc/club/lmtp.sock");
    reading_end(&r);
    assert_non_null(getcwd(here, sizeof here));
    snprintf(wanted, sizeof wanted, "unix:%s/./h", here);
    assert_ok(settings_parse(URL, strlen(URL), "a.conf", ".",
                             (const char *const[]){"http.listen=unix:h"}, 1, NULL, &s, &errors,
                             &err),
              err);
    assert_string_equal(s.http.listen, wanted);
    settings_release(&s);
    buf_release(&errors);
    assert_complains("public_url = \"http://unix:x\";\n", "no readable host");
}

static void test_what_is_printed_reads_back_the_same(void **state)
{
    struct reading r = read_text("public_url = \"https://c.example\";\n"
                                 "site_name = \"A \\\"quoted\\\" back\\\\slash\";\n"
                                 "http: { listen = \"0.0.0.0:1\";"
                                 " trusted_proxies = ( \"::1\" ); };\n"
                                 "webhooks: { timeout = \"1s 500ms\"; };"),
                   again;
    struct buf one = buf_make(SETTINGS_FILE_MAX), two = buf_make(SETTINGS_FILE_MAX);

    (void)state;
    assert_ok(r.st, r.err);
    settings_print(&r.s, &one);
    again = read_text(one.data);
    assert_ok(again.st, again.err);
    assert_string_equal(again.s.site_name, "A \"quoted\" back\\slash");
    settings_print(&again.s, &two);
    assert_string_equal(one.data, two.data);
    buf_release(&one);
    buf_release(&two);
    reading_end(&r);
    reading_end(&again);
}

static void test_the_sample_in_config_is_the_one_the_table_makes(void **state)
{
    struct buf sample = buf_make(SETTINGS_FILE_MAX);
    char *text = calloc(1, SETTINGS_FILE_MAX);
    FILE *f = fopen(FH_SOURCE_DIR "/config/fourhanded.conf", "r");

    (void)state;
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, SETTINGS_FILE_MAX - 1, f) > 0);
    fclose(f);
    settings_sample(&sample);
    if (strcmp(text, sample.data))
        fail_msg("config/fourhanded.conf should be what `fourhanded check-config --sample` prints");
    free(text);
    buf_release(&sample);
}

static void test_the_sample_with_every_default_uncommented_gives_the_defaults(void **state)
{
    struct buf sample = buf_make(SETTINGS_FILE_MAX), one = buf_make(SETTINGS_FILE_MAX),
               two = buf_make(SETTINGS_FILE_MAX);
    struct reading plain = read_text(URL), full;

    (void)state;
    settings_sample(&sample);
    for (char *p = sample.data; *p; p++) /* "#key = …" has no blank after the mark */
        if (*p == '#' && p[1] >= 'a' && p[1] <= 'z')
            *p = ' ';
    full = read_text(sample.data);
    assert_ok(full.st, full.err);
    settings_print(&plain.s, &one);
    settings_print(&full.s, &two);
    assert_string_equal(one.data, two.data);
    reading_end(&plain);
    reading_end(&full);
    buf_release(&sample);
    buf_release(&one);
    buf_release(&two);
}

static void test_the_list_of_keys_in_the_manual_page_is_the_one_the_table_makes(void **state)
{
    struct buf list = buf_make(SETTINGS_FILE_MAX);
    char *text = calloc(1, SETTINGS_FILE_MAX);
    FILE *f = fopen(FH_SOURCE_DIR "/docs/man/fourhanded.conf.5", "r");

    (void)state;
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, SETTINGS_FILE_MAX - 1, f) > 0);
    fclose(f);
    settings_manual(&list);
    if (!strstr(text, list.data))
        fail_msg("the list in fourhanded.conf(5) should be what `test_settings --manual` prints");
    free(text);
    buf_release(&list);
}

static void test_a_file_that_is_not_there_is_told_apart_from_a_bad_one(void **state)
{
    struct settings s = SETTINGS_INIT;
    struct buf errors = buf_make(1000);
    struct err err = ERR_INIT;
    char path[200];

    (void)state;
    snprintf(path, sizeof path, "%s/none.conf", folder);
    assert_st(settings_load(path, NULL, 0, NULL, &s, &errors, &err), ST_NOT_FOUND, err);
    assert_non_null(strstr(err.text, "none.conf"));
    file_write("main.conf", URL "database = \"x.db\";", 0644);
    snprintf(path, sizeof path, "%s/main.conf", folder);
    assert_ok(settings_load(path, NULL, 0, NULL, &s, &errors, &err), err);
    snprintf(path, sizeof path, "%s/x.db", folder);
    assert_string_equal(s.database, path);
    settings_release(&s);
    buf_release(&errors);
}

static void test_odd_values_are_refused_with_what_would_be_right(void **state)
{
    static const struct {
        const char *text, *piece;
    } cases[] = {
        {"log_level = 3;", "log_level: should be a text in quotes, not a number"},
        {"log_level = true;", "should be a text in quotes, not true or false"},
        {"log_level = [ \"info\" ];", "should be one value, not a list"},
        {"log_level: { a = 1; };", "should be a value, not a group"},
        {"http = 3;", "http: should be a group"},
        {"http: { threads = 2.5; };", "should not be a broken number"},
        {"http: { threads = \"four\"; };", "\"four\" should be a whole number"},
        {"http: { threads = 99999999999999999L; };", "should be between 2 and 64"},
        {"http: { listen = \"localhost\"; };", "should be address:port"},
        {"http: { listen = \"127.0.0.1:65536\"; };", "should be address:port"},
        {"http: { listen = \"::1:80\"; };", "should be address:port"},
        {"http: { listen = \"\"; };", "should not be empty"},
        {"http: { listen = \"unix:\"; };", "a path from /"},
        {"http: { trusted_proxies = \"10.0.0.1\"; };", "should be a list: [ \"10.0.0.1\" ]"},
        {"http: { trusted_proxies = [ \"10.0.0.1/33\" ]; };", "should be an address or a network"},
        {"http: { trusted_proxies = [ 1, 2 ]; };", "a list of texts in quotes"},
        {"http: { body_size = \"64KB\"; };", "should be a size such as"},
        {"http: { body_size = \"3KiB\"; };", "between \"4KiB\" and \"4MiB\""},
        {"http: { connections = 20; connections_per_address = 21; };", "not be more than"},
        {"mail: { from_address = \"club\"; };", "should be an address such as"},
        {"mail: { from_address = \"a b@c.example\"; };", "should be an address such as"},
        {"site_name = \"a\nb\";", "one line of UTF-8"},
        {"site_name = \"\\xff\";", "one line of UTF-8"},
        {"site_name = \"\";", "should not be empty"},
        {"public_url = \"https://u:p@c.example\";", "user or password"},
        {"public_url = \"https://c.example/club\";", "scheme, host and port, and nothing else"},
        {"public_url = \"https://c.example//x\";", "scheme, host and port, and nothing else"},
        {"mail_in: { address = \"play\"; };", "should be an address such as"},
        {"mail_in: { lmtp_listen = \"unix:\"; };", "a path from /"},
        {"mail_in: { letter_size = \"15KiB\"; };", "between \"16KiB\" and \"16MiB\""},
        {"mail_in: { delimiter = \"++\"; };", "should have 0 to 1 bytes"},
        {"mail_in: { dmarc = \"maybe\"; };", "\"ignore\", \"prefer\" or \"require\""},
        {"mail_in: { banners = \"CAUTION\"; };", "should be a list"},
        {"mail_in: { banners = [ \"\" ]; };", "texts of 1 to 200 bytes"},
        {"mail_in: { banners = [ \"a\nb\" ]; };", "lines of UTF-8"},
        {"mail_in: { imap: { host = \"x\"; }; };", "is not a known group"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s\n",
                 str_starts(cases[i].text, "public_url") ? "" : URL, cases[i].text);
        assert_complains(text, cases[i].piece);
    }
}

/* ---------------------------------------------------------------- play by mail */

static void test_play_by_mail_is_off_until_an_address_is_named(void **state)
{
    struct reading r = read_text(URL);

    (void)state;
    assert_ok(r.st, r.err);
    assert_string_equal(r.s.mail_in.address, "");
    assert_string_equal(r.s.mail_in.delimiter, "+");
    assert_string_equal(r.s.mail_in.lmtp_listen, "");
    assert_string_equal(r.s.mail_in.imap.host, "");
    assert_string_equal(r.s.mail_in.imap.mailbox, "INBOX");
    assert_int_equal(r.s.mail_in.imap.port, 993);
    assert_int_equal(r.s.mail_in.imap.tls, SETTINGS_TLS_IMPLICIT);
    assert_true(r.s.mail_in.imap.keep);
    assert_int_equal(r.s.mail_in.dmarc, SETTINGS_DMARC_PREFER);
    assert_int_equal(r.s.mail_in.hold_ms, 10 * MS_MINUTE);
    assert_int_equal(r.s.mail_in.letter_size, 1024 * 1024);
    assert_int_equal(r.s.mail_in.answers_an_hour, 20);
    assert_int_equal(r.s.mail_in.connections, 50);
    assert_int_equal(r.s.mail_in.banners.count, 0);
    reading_end(&r);
}

static void test_all_of_play_by_mail_is_read_and_printed_back(void **state)
{
    static const char text[] =
        URL "mail_in: { address = \"play@chess.example\"; delimiter = \"-\";\n"
            "bounce_address = \"bounce@mail.example\";\n"
            "unsubscribe_address = \"out@chess.example\";\n"
            "lmtp_listen = \"unix:/run/fh/lmtp\"; maildir = \"in\"; authserv_id = \"mx.example\";\n"
            "dmarc = \"require\"; hold_time = \"0s\"; letter_size = \"256KiB\";\n"
            "answers_an_hour = 5; connections = 3; imap_mailbox = \"Play/In\"; imap_keep = false;\n"
            "banners = [ \"CAUTION: \\\"external\\\"\", \"Внешнее письмо\" ]; };\n";
    struct buf one = buf_make(SETTINGS_FILE_MAX), two = buf_make(SETTINGS_FILE_MAX);
    struct reading r = read_text(text), again;

    (void)state;
    assert_ok(r.st, r.err);
    assert_string_equal(r.s.mail_in.maildir, "/etc/club/in"); /* from the file's folder */
    assert_string_equal(r.s.mail_in.delimiter, "-");
    assert_int_equal(r.s.mail_in.hold_ms, 0);
    assert_int_equal(r.s.mail_in.dmarc, SETTINGS_DMARC_REQUIRE);
    assert_false(r.s.mail_in.imap.keep);
    assert_int_equal(r.s.mail_in.banners.count, 2);
    assert_string_equal(r.s.mail_in.banners.items[0], "CAUTION: \"external\"");
    settings_print(&r.s, &one);
    again = read_text(one.data);
    assert_ok(again.st, again.err);
    settings_print(&again.s, &two);
    assert_string_equal(one.data, two.data);
    reading_end(&r);
    reading_end(&again);
    buf_release(&one);
    buf_release(&two);
}

/* An address with no way in (letters may come by `fourhanded receive`), bounces to another domain,
 * and the whole local part as token are as they should be. */
static void test_what_looks_odd_and_is_right_is_taken(void **state)
{
    static const char *const texts[] = {
        "mail_in: { address = \"play@c.example\"; };",
        "mail_in: { address = \"play@c.example\"; bounce_address = \"bounce@other.example\"; };",
        "mail_in: { address = \"play@c.example\"; delimiter = \"\"; };",
        "mail_in: { address = \"chess-play@c.example\"; delimiter = \"-\"; };",
        "mail_in: { address = \"play@c.example\"; lmtp_listen = \"127.0.0.1:2424\"; };",
        "mail_in: { address = \"play@c.example\"; lmtp_listen = \"[::1]:0\"; };",
        "mail_in: { address = \"0123456789012345678901234567890123456@c.example\"; };",
        "mail_in: { hold_time = \"1h\"; letter_size = \"16MiB\"; };",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char text[400];
        struct reading r;

        snprintf(text, sizeof text, "%s%s\n", URL, texts[i]);
        r = read_text(text);
        if (r.st != ST_OK)
            fail_msg("%s: %s", texts[i], r.errors.data);
        reading_end(&r);
    }
}

static void test_what_does_not_go_together_in_play_by_mail_is_refused(void **state)
{
    static const struct {
        const char *text, *piece;
    } cases[] = {
        {"lmtp_listen = \"unix:/run/l\";", "mail_in.address: should be set, since "
                                           "mail_in.lmtp_listen is"},
        {"maildir = \"in\";", "mail_in.address: should be set, since mail_in.maildir is"},
        {"imap_host = \"::1\"; imap_user = \"u\";",
         "mail_in.address: should be set, since mail_in.imap_host is"},
        {"address = \"p@c.example\"; lmtp_listen = \"0.0.0.0:24\";",
         "mail_in.lmtp_listen: LMTP is spoken on this machine only"},
        {"address = \"p@c.example\"; lmtp_listen = \"mx.example:24\";", "on this machine only"},
        {"delimiter = \".\";", "mail_in.delimiter: \".\" should be \"+\", \"-\" or empty"},
        {"address = \"p@c.example\"; bounce_address = \"P@C.example\";",
         "mail_in.bounce_address: should be another than mail_in.address"},
        {"bounce_address = \"b@c.example\"; unsubscribe_address = \"b@c.example\";",
         "mail_in.unsubscribe_address: should be another than mail_in.bounce_address"},
        {"address = \"01234567890123456789012345678901234567@c.example\";",
         "mail_in.address: should have at most 37 bytes before the @"},
        {"address = \"p@c.example\"; imap_host = \"imap.example\";",
         "mail_in.imap_user: should be set, since mail_in.imap_host is"},
        {"imap_user = \"u\";", "mail_in.imap_host: should be set, since mail_in.imap_user is"},
        {"address = \"p@c.example\"; imap_host = \"imap.example\"; imap_user = \"u\";",
         "mail_in.imap_password: should be set, since mail_in.imap_user is"},
        {"address = \"p@c.example\"; imap_host = \"imap.example\"; imap_user = \"u\"; "
         "imap_tls = \"none\";",
         "mail_in.imap_tls: \"none\" is for a server on this machine; imap.example"},
        {"dmarc = \"require\";", "mail_in.authserv_id: should be set"},
        {"address = \"p@c.example\"; maildir = \"/var/lib/fourhanded/mail\";",
         "mail_in.maildir: should be another folder than mail.directory"},
        {"hold_time = \"1h 1ms\";", "between \"0s\" and \"1h\""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[400];
        snprintf(text, sizeof text, "%smail_in: { %s };\n", URL, cases[i].text);
        assert_complains(text, cases[i].piece);
    }
}

/* ---------------------------------------------------------------- what others judge */

static enum status no_atlantis(void *arg, const struct settings *s, const char *key,
                               const char *text, struct err *err)
{
    int *asked = arg;

    (void)s;
    ++*asked;
    if (str_eq(key, "mail.password"))
        assert_string_equal(text, "");
    if (str_eq(key, "mail.transport"))
        assert_string_equal(text, "directory");
    if (str_eq(key, "http.threads"))
        assert_string_equal(text, "4");
    if (str_eq(key, "clock.grace"))
        assert_string_equal(text, "12h");
    if (str_eq(key, "webhooks.enabled"))
        assert_string_equal(text, "true");
    return strstr(text, "Atlantis") ? err_set(err, ST_INVALID, "there is no \"%s\"", text) : ST_OK;
}

/* Before, an error of one key hid what another room had to say about the others. */
static void test_what_others_judge_is_told_with_all_other_errors(void **state)
{
    static const char text[] = URL "time_zone = \"Europe/Atlantis\";\n"
                                   "http: { connections_per_address = 5000;\n"
                                   "  threads = 99; };\n"
                                   "site_name = \"\";\n"
                                   "web_directory = \"Atlantis\";\n";
    struct settings s = SETTINGS_INIT;
    struct buf errors = buf_make(4000);
    struct err err = ERR_INIT;
    int asked = 0;
    struct settings_judge judge = {.value = no_atlantis, .arg = &asked};

    (void)state;
    assert_st(settings_parse(text, strlen(text), "a.conf", "/etc/club", NULL, 0, &judge, &s,
                             &errors, &err),
              ST_INVALID, err);
    assert_string_equal(errors.data,
                        "a.conf:4: http.threads: 99 should be between 2 and 64\n"
                        "a.conf:5: site_name: should not be empty\n"
                        "a.conf:3: http.connections_per_address: should not be more than "
                        "http.connections (1024)\n"
                        "a.conf:2: time_zone: there is no \"Europe/Atlantis\"\n"
                        "a.conf:6: web_directory: there is no \"/etc/club/Atlantis\"\n");
    assert_string_equal(err.text, "a.conf has 5 errors");
    assert_int_equal(asked, (int)settings_key_count - 2); /* those that could not be read are not */
    buf_release(&errors);
    errors = buf_make(4000);
    asked = 0;
    assert_ok(settings_parse(URL, strlen(URL), "a.conf", "/etc/club", NULL, 0, &judge, &s, &errors,
                             &err),
              err);
    assert_int_equal(asked, (int)settings_key_count);
    settings_release(&s);
    buf_release(&errors);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_stand_where_the_file_is_silent),
        cmocka_unit_test(test_every_type_of_value_is_read),
        cmocka_unit_test(test_unknown_keys_are_errors_that_name_the_nearest),
        cmocka_unit_test(test_a_size_that_is_too_large_is_out_of_range),
        cmocka_unit_test(test_a_number_is_taken_as_it_is_written),
        cmocka_unit_test(test_a_group_that_is_written_as_a_value_is_told_so),
        cmocka_unit_test(test_all_errors_but_syntax_are_told_at_once),
        cmocka_unit_test(test_a_syntax_error_is_told_alone),
        cmocka_unit_test(test_a_key_twice_is_an_error),
        cmocka_unit_test(test_a_list_of_several_types_is_an_error_that_names_it),
        cmocka_unit_test(test_a_missing_public_url_is_an_error),
        cmocka_unit_test(test_a_nul_byte_is_an_error_with_its_line),
        cmocka_unit_test(test_ranges_hold_at_both_ends),
        cmocka_unit_test(test_lengths_hold_at_both_ends),
        cmocka_unit_test(test_what_the_sample_says_of_each_key_is_what_is_read),
        cmocka_unit_test(test_plain_http_beyond_this_machine_is_refused),
        cmocka_unit_test(test_metrics_stay_on_this_machine),
        cmocka_unit_test(test_mail_without_tls_stays_on_this_machine),
        cmocka_unit_test(test_a_secret_comes_from_a_file_and_is_never_printed),
        cmocka_unit_test(test_a_secret_that_others_can_read_is_refused),
        cmocka_unit_test(test_a_secret_in_the_file_itself_is_refused_and_not_repeated),
        cmocka_unit_test(test_a_secret_comes_from_a_systemd_credential),
        cmocka_unit_test(test_secrets_are_read_by_who_needs_them),
        cmocka_unit_test(test_user_and_password_go_together),
        cmocka_unit_test(test_the_command_line_overrides_the_file),
        cmocka_unit_test(test_errors_of_the_command_line_are_told_with_those_of_the_file),
        cmocka_unit_test(test_an_included_file_is_read_and_named_in_errors),
        cmocka_unit_test(test_a_relative_socket_begins_in_the_folder_of_the_configuration),
        cmocka_unit_test(test_what_is_printed_reads_back_the_same),
        cmocka_unit_test(test_the_sample_in_config_is_the_one_the_table_makes),
        cmocka_unit_test(test_the_sample_with_every_default_uncommented_gives_the_defaults),
        cmocka_unit_test(test_the_list_of_keys_in_the_manual_page_is_the_one_the_table_makes),
        cmocka_unit_test(test_a_file_that_is_not_there_is_told_apart_from_a_bad_one),
        cmocka_unit_test(test_odd_values_are_refused_with_what_would_be_right),
        cmocka_unit_test(test_play_by_mail_is_off_until_an_address_is_named),
        cmocka_unit_test(test_all_of_play_by_mail_is_read_and_printed_back),
        cmocka_unit_test(test_what_looks_odd_and_is_right_is_taken),
        cmocka_unit_test(test_what_does_not_go_together_in_play_by_mail_is_refused),
        cmocka_unit_test(test_what_others_judge_is_told_with_all_other_errors),
    };

    if (argc == 2 && str_eq(argv[1], "--manual")) { /* for whoever changed the table */
        struct buf list = buf_make(SETTINGS_FILE_MAX);
        settings_manual(&list);
        fputs(list.data, stdout);
        buf_release(&list);
        return 0;
    }
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}

#include "main/cmd_config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "clock/zone.h"
#include "http/http.h"
#include "people/people.h"
#include "words/words.h"

enum {
    FILES_OTHERS = 64, /* the writer's, courier's, intake's and doors' own, and letters under way */
};

/* What is judged beyond the values themselves. */
enum look {
    LOOK_AT_PLACES = 1, /* folders and files of this machine */
    LOOK_AT_LIMITS = 2, /* what this process may have */
};

const struct cli_option check_config_options[] = {
    {"print", 'p', NULL, "print the effective values, secrets masked"},
    {"sample", 0, NULL, "print a sample configuration with every key explained"},
    {NULL, 0, NULL, NULL},
};

/* The folder that holds path. */
static void parent_of(const char *path, char *ret, size_t size)
{
    const char *slash = strrchr(path, '/');

    (void)snprintf(ret, size, "%.*s", slash && slash > path ? (int)(slash - path) : 1,
                   slash ? path : ".");
}

static enum status is_folder(const char *path, struct err *err)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return err_set(err, ST_INVALID, "the folder %s cannot be used: %s", path,
                       strerror(errno));
    return S_ISDIR(about.st_mode) ? ST_OK
                                  : err_set(err, ST_INVALID, "%s should be a folder", path);
}

static enum status is_file(const char *path, struct err *err)
{
    struct stat about;

    if (stat(path, &about) != 0)
        return err_set(err, ST_INVALID, "the file %s cannot be used: %s", path, strerror(errno));
    return S_ISREG(about.st_mode) ? ST_OK : err_set(err, ST_INVALID, "%s should be a file", path);
}

/* Can files be made in the folder?  It is tried, for modes do not tell all (a /proc, a file system
 * that is read-only); but only by its owner and by root, as nobody else can tell. */
static enum status takes_files(const char *folder, struct err *err)
{
    char trial[1100];
    struct stat about;
    enum status st = is_folder(folder, err);

    if (st != ST_OK || stat(folder, &about) != 0 ||
        (geteuid() != 0 && geteuid() != about.st_uid))
        return st;
    (void)snprintf(trial, sizeof trial, "%s/.fourhanded-XXXXXX", folder);
    if (!mkdtemp(trial))
        return err_set(err, ST_INVALID, "the folder %s cannot be written: %s", folder,
                       strerror(errno));
    (void)rmdir(trial);
    return ST_OK;
}

/* The folder of a socket; one below /run may be missing, for systemd makes it with the service and
 * takes it away with it. */
static enum status takes_socket(const char *path, struct err *err)
{
    char folder[1024];
    struct stat about;

    parent_of(path, folder, sizeof folder);
    if (str_starts(path, "/run/") && stat(folder, &about) != 0 && errno == ENOENT)
        return ST_OK;
    return takes_files(folder, err);
}

/* A Maildir: letters are read in new/ and moved to cur/. */
static enum status takes_letters(const char *path, struct err *err)
{
    static const char *const parts[] = {"new", "cur"};
    char folder[1100];

    TRY(is_folder(path, err));
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        (void)snprintf(folder, sizeof folder, "%s/%s", path, parts[i]);
        TRY(takes_files(folder, err));
    }
    return ST_OK;
}

/* What the daemon will look for on this machine.  Folders that it makes itself need a parent. */
static enum status judge_place(const struct settings *s, const char *key, const char *text,
                               struct err *err)
{
    char folder[1024];
    struct stat about;
    size_t len = strlen(key);

    parent_of(text, folder, sizeof folder);
    if (str_eq(key, "database"))
        return takes_files(folder, err);
    if (str_eq(key, "control_socket"))
        return takes_socket(text, err);
    if (str_eq(key, "mail.directory") && s->mail.transport == SETTINGS_TRANSPORT_DIRECTORY)
        return takes_files(stat(text, &about) == 0 ? text : folder, err);
    if (str_eq(key, "web_directory"))
        return is_folder(text, err);
    if (str_eq(key, "mail_in.maildir") && *text)
        return takes_letters(text, err);
    if (*text && len > 7 && str_eq(key + len - 7, "ca_file"))
        return is_file(text, err);
    if (len > 6 && str_eq(key + len - 6, "listen") && str_starts(text, "unix:"))
        return takes_socket(text + 5, err);
    return ST_OK;
}

int64_t config_files(const struct settings *s)
{
    return s->http.connections + HTTP_CONNECTIONS_OVER + s->http.threads * HTTP_FILES_A_THREAD +
           s->mail_in.connections + FILES_OTHERS;
}

/* With too few descriptors libmicrohttpd's threads turn without a pause until a connection ends. */
static enum status judge_files(const struct settings *s, struct err *err)
{
    struct rlimit limit;
    const int64_t needed = config_files(s);

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max == RLIM_INFINITY ||
        limit.rlim_max >= (rlim_t)needed)
        return ST_OK;
    return err_set(err, ST_INVALID,
                   "%" PRId64 " file descriptors are needed with %" PRId64 " connections here, %"
                   PRId64 " of mail_in.connections, %" PRId64 " threads and %d others, and the "
                   "process may have %" PRIu64 " (ulimit -Hn, LimitNOFILE= of the unit)",
                   needed, s->http.connections, s->mail_in.connections, s->http.threads,
                   HTTP_CONNECTIONS_OVER + FILES_OTHERS, (uint64_t)limit.rlim_max);
}

/* A machine may have no zones at all: then it is not the key that is wrong. */
static enum status judge_zone(const char *name, struct err *err)
{
    struct zone *zone = NULL;
    enum status st = zone_load(NULL, name, &zone, err);

    if (st != ST_OK && zone_load(NULL, "UTC", &zone, NULL) != ST_OK)
        st = err_set(err, ST_INVALID,
                     "there are no time zones in " ZONE_DIR " (on Debian: the package tzdata)");
    zone_free(zone);
    return st;
}

/* What only other rooms, or this machine, can judge. */
static enum status judge_value(void *arg, const struct settings *s, const char *key,
                               const char *text, struct err *err)
{
    const unsigned *look = arg;

    if (str_eq(key, "time_zone"))
        return judge_zone(text, err);
    if (str_eq(key, "language"))
        return language_is_fit(text, lang_tags(), err);
    if ((*look & LOOK_AT_LIMITS) && str_eq(key, "http.connections"))
        return judge_files(s, err);
    return *look & LOOK_AT_PLACES ? judge_place(s, key, text, err) : ST_OK;
}

static int load(struct cli *cli, unsigned look, enum settings_secrets secrets,
                struct settings *ret)
{
    struct settings_judge judge = {judge_value, &look, secrets};
    struct buf errors = buf_make(SETTINGS_ERRORS_MAX);
    struct err err = ERR_INIT;
    int st = CLI_OK;

    if (settings_load(cli->config_path, cli->sets, cli->set_count, &judge, ret, &errors, &err) !=
        ST_OK) {
        cli_complain(errors.data);
        st = cli_fail(CLI_FAILED, "%s", err.text);
    }
    buf_release(&errors);
    return st;
}

int config_load(struct cli *cli, struct settings *ret)
{
    return load(cli, 0, SETTINGS_SECRETS_NONE, ret);
}

int config_load_to_serve(struct cli *cli, struct settings *ret)
{
    return load(cli, LOOK_AT_LIMITS, SETTINGS_SECRETS_ALL, ret);
}

/* Of a credential that only systemd can show. */
static void credential_note(const char *key, const struct settings_secret *secret)
{
    if (secret->source[0] && !secret->value[0])
        printf("%s: %s is not looked at here: systemd hands it to the daemon, by "
               "LoadCredential= of the unit\n", key, secret->source);
}

int cmd_check_config(struct cli *cli)
{
    struct buf out = buf_make(SETTINGS_FILE_MAX);
    struct settings s = SETTINGS_INIT;
    int st = CLI_OK;

    if (cli_flag(cli, "sample")) {
        settings_sample(&out);
        fputs(out.data, stdout);
        goto out;
    }
    st = load(cli, cli_flag(cli, "print") ? 0 : LOOK_AT_PLACES | LOOK_AT_LIMITS,
              SETTINGS_SECRETS_AT_HAND, &s);
    if (st != CLI_OK)
        goto out;
    if (cli_flag(cli, "print")) {
        settings_print(&s, &out);
        fputs(out.data, stdout);
    } else {
        credential_note("mail.password", &s.mail.password);
        credential_note("mail_in.imap_password", &s.mail_in.imap.password);
        printf("OK\n");
    }
out:
    settings_release(&s);
    buf_release(&out);
    return st;
}

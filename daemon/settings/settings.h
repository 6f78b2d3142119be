/*
 * settings/settings.h - the configuration: one file, one table of keys, every error at once.
 *
 * Use: struct settings s = SETTINGS_INIT;
 *      settings_load(path, sets, set_count, &judge, &s, &errors, &err) … settings_release(&s);
 *
 * The file is in libconfig's syntax; its keys, with type, unit, range, default and meaning, are
 * the rows of SETTINGS_KEYS in settings/table.h.  An unknown key is an error that names the
 * nearest known one.  A syntax error is reported alone, since what follows it cannot be trusted;
 * all other errors are reported together, each on a line "file:line: key: what is wrong".  What
 * only other rooms can judge (is there such a time zone, such a folder) the caller judges by a
 * function that is asked about every value; its errors are reported with the others.
 *
 * Lengths of time are texts such as "14d" or "36h"; sizes are texts such as "64KiB".  A relative
 * path is taken from the folder of the configuration file.  A secret never stands in the file: it
 * is "@file:/path" (a file that others cannot read) or "@credential:name" (a systemd credential).
 *
 * Ownership: struct settings owns all it points to, until settings_release().
 * Time: lengths in milliseconds, sizes in bytes.  Threads: load before threads start; a loaded
 * struct is read-only and may be shared.
 */
#ifndef FH_SETTINGS_SETTINGS_H
#define FH_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

#define SETTINGS_DEFAULT_PATH "/etc/fourhanded/fourhanded.conf"

enum {
    SETTINGS_FILE_MAX = 256 * 1024,  /* bytes of a configuration file that are read */
    SETTINGS_ERRORS_MAX = 64 * 1024, /* bytes of error lines that are kept */
    SETTINGS_SECRET_MAX = 4096,      /* bytes of a secret's file */
};

enum settings_registration {
    SETTINGS_REGISTRATION_OPEN,
    SETTINGS_REGISTRATION_INVITE,
    SETTINGS_REGISTRATION_CLOSED
};
enum settings_transport { SETTINGS_TRANSPORT_DIRECTORY, SETTINGS_TRANSPORT_SMTP };
enum settings_tls { SETTINGS_TLS_NONE, SETTINGS_TLS_STARTTLS, SETTINGS_TLS_IMPLICIT };
/* What a letter must bring as proof that it comes from its From: nothing; nothing, but one that was
 * found false is not believed; a proof. */
enum settings_dmarc { SETTINGS_DMARC_IGNORE, SETTINGS_DMARC_PREFER, SETTINGS_DMARC_REQUIRE };

struct settings_list {
    char **items;
    size_t count;
};

struct settings_secret {
    char *value;  /* the secret itself; "" when none is set, or none was read */
    char *source; /* "@file:/path", as it stands in the file; "" when none is set */
};

/* Which secrets are read: systemd hands credentials to the daemon alone, and who runs a subcommand
 * need not be able to read its files. */
enum settings_secrets {
    SETTINGS_SECRETS_ALL,      /* as the daemon needs them */
    SETTINGS_SECRETS_AT_HAND,  /* credentials only where there are any (CREDENTIALS_DIRECTORY) */
    SETTINGS_SECRETS_NONE
};

/* One member a key; the table says what each means.  Strings are never NULL. */
struct settings {
    char *public_url; /* scheme, host, port; port 0 stands for the port that http.listen got */
    char *site_name;
    char *database;
    char *control_socket;
    int64_t registration; /* enum settings_registration */
    char *language;
    char *time_zone;
    char *web_directory;
    int64_t log_level; /* enum log_level */
    struct {
        char *listen;
        char *metrics_listen; /* "" = none */
        struct settings_list trusted_proxies;
        int64_t threads;
        int64_t connections;
        int64_t connections_per_address;
        int64_t body_size;
        int64_t request_ms;
        int64_t idle_ms;
        int64_t streams_per_account;
        int64_t rate_requests; /* a minute */
        int64_t rate_logins;   /* an hour */
        int64_t shutdown_ms;
    } http;
    struct {
        int64_t transport; /* enum settings_transport */
        char *directory;
        char *host;
        int64_t port;
        int64_t tls; /* enum settings_tls */
        char *ca_file; /* "" = the system's */
        char *user;    /* "" = no login */
        struct settings_secret password;
        char *from_name;
        char *from_address;
        char *hello; /* "" = the domain of from_address */
        int64_t timeout_ms;
    } mail;
    struct {
        char *address;             /* "play@example.org"; "" = no play by mail */
        char *delimiter;           /* "+" or "-"; "" = the whole local part is the token */
        char *bounce_address;      /* "" = bounces go to mail.from_address and are not read */
        char *unsubscribe_address; /* "" = unsubscribing is by link alone */
        char *lmtp_listen;         /* unix:/path or loopback address:port; "" = none */
        char *maildir;             /* "" = none */
        struct {
            char *host; /* "" = none */
            int64_t port;
            int64_t tls; /* enum settings_tls */
            char *ca_file; /* "" = the system's */
            char *user;
            struct settings_secret password;
            char *mailbox;
            bool keep; /* leave letters that were read, marked \Seen; else delete them */
        } imap;
        char *authserv_id; /* whose Authentication-Results are believed; "" = nobody's */
        int64_t dmarc;     /* enum settings_dmarc */
        int64_t hold_ms;
        bool confirm_resign;
        int64_t letter_size;
        int64_t answers_an_hour;
        int64_t connections; /* LMTP */
        struct settings_list banners; /* beginnings of paragraphs to skip */
    } mail_in;
    struct {
        bool enabled;
        struct settings_list allow; /* CIDR networks that would otherwise be refused */
        char *ca_file; /* "" = the system's */
        int64_t timeout_ms;
    } webhooks;
    struct {
        int64_t move_ms;
        int64_t grace_ms;
        int64_t placing_ms;
        int64_t invitation_ms;
    } clock;
    struct {
        int64_t games;    /* open, placing and running, a player */
        int64_t tokens;   /* API tokens a player */
        int64_t webhooks; /* a player */
        int64_t letters;  /* login and address letters an hour, an address */
        int64_t accounts; /* accounts made an hour, all together */
        int64_t queue;    /* commands waiting for the writer */
    } limits;
    enum settings_secrets secrets; /* that were to be read */
};
#define SETTINGS_INIT ((struct settings){.public_url = NULL})

void settings_release(struct settings *s);

/* What the caller knows of values.  value() is asked about each that could be read, be it from the
 * file, from an override or by default, after all have been read; text is how it stands in the
 * file without quotes (a path already whole, a secret never; "" for lists).  Other members of *s
 * may still be wrong.  It returns ST_OK, or ST_INVALID with what is wrong, without the key's name.
 */
struct settings_judge {
    enum status (*value)(void *arg, const struct settings *s, const char *key, const char *text,
                         struct err *err);
    void *arg;
    enum settings_secrets secrets;
};

/* Read path, then the overrides ("http.listen=127.0.0.1:0"), into *ret, whose old contents are not
 * looked at.  path NULL: defaults and overrides only.  judge may be NULL: all secrets are read.
 * ST_INVALID: *ret_errors holds a line for each error and err counts them.  ST_NOT_FOUND and
 * ST_IO: the file could not be read. */
MUST_CHECK enum status settings_load(const char *path, const char *const *sets, size_t set_count,
                                     const struct settings_judge *judge, struct settings *ret,
                                     struct buf *ret_errors, struct err *err);

/* The same from text; name stands for the file in errors, folder is where relative paths and
 * @include begin.  Overrides are in sets, as above. */
MUST_CHECK enum status settings_parse(const char *text, size_t len, const char *name,
                                      const char *folder, const char *const *sets,
                                      size_t set_count, const struct settings_judge *judge,
                                      struct settings *ret, struct buf *ret_errors,
                                      struct err *err);

/* The effective values in the file's syntax, which settings_parse() reads back; secrets are shown
 * as they would be asked for, never as they are. */
void settings_print(const struct settings *s, struct buf *out);

/* The sample file: every key with its meaning, unit, range and default; config/fourhanded.conf is
 * this text. */
void settings_sample(struct buf *out);

/* The list of keys in mdoc, which fourhanded.conf(5) holds word for word (a test compares). */
void settings_manual(struct buf *out);

/* Split "host:port", "[::1]:port" or "unix:/path" into host (or path) and port (-1 for a unix
 * socket).  ST_INVALID with what would be right. */
MUST_CHECK enum status listen_parse(const char *text, char *ret_host, size_t size, int *ret_port,
                                    struct err *err);

/* Whether host is this machine alone: "localhost", 127.0.0.0/8 or ::1. */
bool host_is_loopback(const char *host);

#endif

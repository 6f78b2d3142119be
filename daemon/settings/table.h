/*
 * settings/table.h - the one table of keys.  Private to settings/ and its test.
 *
 * A row says all that is known of a key: where its value goes, how it is read, what is allowed,
 * its default (read by the same reader as the file) and its meaning.  The sample file, the check,
 * --print and fourhanded.conf(5)'s test are made from the rows.
 */
#ifndef FH_SETTINGS_TABLE_H
#define FH_SETTINGS_TABLE_H

#include "settings/settings.h"

enum key_type {
    KEY_TEXT,   /* one line of UTF-8 of at most max bytes; min 1: not empty */
    KEY_PATH,   /* a file or folder; relative to the configuration's folder */
    KEY_URL,    /* http or https, host, optional port */
    KEY_LISTEN, /* host:port, [v6]:port or unix:/path; "" where min is 0 */
    KEY_SECRET, /* "", @file:/path or @credential:name */
    KEY_MAIL,   /* an address: local@domain */
    KEY_CHOICE, /* one of the words */
    KEY_BOOL,
    KEY_NUMBER, /* min … max */
    KEY_LENGTH, /* of time: "14d"; min … max in ms */
    KEY_SIZE,   /* "64KiB"; min … max in bytes */
    KEY_NETS,   /* a list of addresses and networks: "10.0.0.0/8" */
    KEY_TEXTS,  /* a list of at most max texts of at most KEY_TEXT_MAX bytes, none empty */
};

struct key {
    const char *name; /* "http.listen": at most one group deep */
    enum key_type type;
    size_t offset; /* of the member in struct settings */
    int64_t min, max;
    const char *words;    /* KEY_CHOICE: "open|invite|closed", in the order of the enum */
    const char *standard; /* the default as it would stand in the file, without quotes; NULL: must
                             be set */
    const char *unit;     /* for the sample; "" when there is none */
    const char *doc;      /* whole sentences */
};

extern const struct key settings_keys[];
extern const size_t settings_key_count;

/* Longest texts of one kind. */
enum { KEY_TEXT_MAX = 200, KEY_PATH_MAX = 1000, KEY_LIST_MAX = 64 };

bool key_is_list(const struct key *key);

/* Read text as key's type into s.  The old value is freed.  folder as in settings_parse().
 * ST_INVALID with what is wrong and what would be right (without the key's name). */
MUST_CHECK enum status key_read_text(const struct key *key, const char *text, const char *folder,
                                     struct settings *s, struct err *err);
/* The same for the types that are no texts in the file.  written: how the number stands there, for
 * the error; NULL: as value is printed. */
MUST_CHECK enum status key_read_number(const struct key *key, int64_t value, const char *written,
                                       struct settings *s, struct err *err);
MUST_CHECK enum status key_read_bool(const struct key *key, bool value, struct settings *s,
                                     struct err *err);
MUST_CHECK enum status key_list_add(const struct key *key, const char *text, struct settings *s,
                                    struct err *err);
void key_list_clear(const struct key *key, struct settings *s);

/* The value in the file's syntax; secrets masked. */
void key_print(const struct key *key, const struct settings *s, struct buf *out);
/* The value as a text without quotes; "" for lists and secrets. */
void key_text(const struct key *key, const struct settings *s, struct buf *out);
/* What may stand there: "between 1 and 64", "open, invite or closed". */
void key_range(const struct key *key, struct buf *out);
/* The default in the file's syntax. */
void key_print_default(const struct key *key, struct buf *out);
void key_free(const struct key *key, struct settings *s);

#endif

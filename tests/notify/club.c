#include "notify/club.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <curl/curl.h>
#include <gmime/gmime.h>
#include <sqlite3.h>

#include "base/str.h"
#include "mail/message.h"

static enum status profiles_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    static const struct {
        const char *zone, *language, *name;
    } profile[] = {{"Europe/London", "en", "Anna"},
                   {"Europe/Chisinau", "ru", "Борис"},
                   {"Europe/Bucharest", "ro", "Clara Țurcan"},
                   {"America/New_York", "en", "David <Dave> & Co"},
                   {"Europe/Berlin", "en", "Orga"}};
    struct club *c = arg;

    for (size_t i = 0; i < COUNT_OF(profile); i++) {
        enum status st = users_set_profile(txn, c->t->user[i], profile[i].name, profile[i].zone,
                                           profile[i].language, now, err);

        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

void club_run(struct club *c,
              enum status (*fn)(struct store_txn *, utc_ms, void *, struct err *), void *arg)
{
    struct err err = ERR_INIT;

    assert_ok(writer_run(c->t->writer,
                         &(struct writer_command){.name = "test", .run = fn, .arg = arg}, &err),
              err);
}

static struct club *open_with(const char *delimiter)
{
    struct club *c = calloc(1, sizeof *c);
    struct err err = ERR_INIT;
    void *state = NULL;

    assert_non_null(c);
    assert_int_equal(curl_global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
    mail_library_init();
    assert_int_equal(table_setup(&state), 0);
    c->t = state;
    c->zones = zone_cache_new(NULL);
    assert_non_null(c->zones);
    assert_ok(people_init(&err), err);
    c->people = (struct people){.entropy = c->t->arb.entropy, .zones = c->zones, .door = DOOR_OPEN,
                                .default_zone = "UTC", .default_language = "en",
                                .letters_an_hour = 5, .accounts_an_hour = 100, .tokens_max = 20};
    c->allow[0] = "127.0.0.1/32";
    struct notify_options options = {.store = c->t->store,
                                     .writer = c->t->writer,
                                     .people = &c->people,
                                     .zones = c->zones,
                                     .entropy = c->t->arb.entropy,
                                     .site_name = "Chess Club",
                                     .public_url = "https://club.example",
                                     .mail_from = "games@club.example",
                                     .webhook_allow = c->allow,
                                     .webhook_allow_count = 1};
    if (delimiter != NULL) {
        options.reply_address = "play@club.example";
        options.reply_delimiter = delimiter;
        options.bounce_address = "bounce@club.example";
        options.unsubscribe_address = "unsubscribe@club.example";
    }
    assert_ok(notify_open(&options, &c->notify, &err), err);
    c->t->arb.hooks.on_events = notify_on_events;
    c->t->arb.hooks.on_events_arg = c->notify;
    c->t->arb.hooks.finished = NULL;
    club_run(c, profiles_run, c);
    (void)snprintf(c->mail, sizeof c->mail, "%s/mail", c->t->dir);
    assert_int_equal(mkdir(c->mail, 0700), 0);
    return c;
}

struct club *club_open(void)
{
    return open_with(NULL);
}

struct club *club_open_by_mail(const char *delimiter)
{
    return open_with(delimiter);
}

void club_hook(struct club *c,
               enum status (*on_handed_over)(struct store_txn *txn,
                                             const struct intent_row *intent, utc_ms now, void *arg,
                                             struct err *err),
               void *arg)
{
    c->hooks.on_handed_over = on_handed_over;
    c->hooks.on_handed_over_arg = arg;
}

void club_close(struct club *c)
{
    void *state = c->t;

    courier_free(c->courier);
    notify_close(c->notify);
    letters_clear(c);
    assert_int_equal(rmdir(c->mail), 0);
    zone_cache_free(c->zones);
    assert_int_equal(table_teardown(&state), 0);
    free(c);
}

void club_courier(struct club *c, int smtp_port, const char *webhook_resolve)
{
    struct err err = ERR_INIT;
    struct mail_smtp smtp = {.host = "127.0.0.1", .port = smtp_port, .tls = MAIL_TLS_NONE,
                             .helo = "club.example"};
    struct courier_options options = {.notify = c->notify,
                                      .store = c->t->store,
                                      .writer = c->t->writer,
                                      .time = clock_guard_source(&c->t->guard),
                                      .entropy = c->t->arb.entropy,
                                      .smtp = smtp_port != 0 ? &smtp : NULL,
                                      .mail_directory = smtp_port != 0 ? NULL : c->mail,
                                      .webhook_resolve = webhook_resolve,
                                      .webhook_resolve_ms = c->hooks.webhook_resolve_ms,
                                      .on_handed_over = c->hooks.on_handed_over,
                                      .on_handed_over_arg = c->hooks.on_handed_over_arg};

    courier_free(c->courier);
    c->courier = NULL;
    assert_ok(courier_new(&options, &c->courier, &err), err);
}

int club_send(struct club *c)
{
    struct err err = ERR_INIT;
    int n = 0;

    assert_ok(courier_step(c->courier, true, &n, &err), err);
    return n;
}

/* ---------------------------------------------------------------- changes */

struct pref_change {
    int64_t user_id;
    enum notice_class cls;
    enum notice_channel channel;
    enum pref pref;
};

static enum status pref_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct pref_change *p = arg;

    return prefs_set(txn, p->user_id, p->cls, p->channel, p->pref, PREF_VIA_SETTINGS, now, err);
}

void club_pref(struct club *c, int user, enum notice_class cls, enum notice_channel channel,
               enum pref pref)
{
    struct pref_change change = {c->t->user[user], cls, channel, pref};

    club_run(c, pref_run, &change);
}

struct hook_change {
    struct webhook_row row;
    int64_t id;
};

static enum status hook_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct hook_change *h = arg;

    h->row.created_at = now;
    return webhooks_create(txn, &h->row, &h->id, err);
}

int64_t club_webhook(struct club *c, int user, const char *url, enum webhook_kind kind,
                     const char *events)
{
    struct hook_change h = {.row = {.user_id = c->t->user[user], .kind = kind,
                                    .secret_len = WEBHOOK_SECRET_BYTES, .state = WEBHOOK_ON,
                                    .old_secret_until = UTC_NONE}};

    memset(h.row.secret, 7, WEBHOOK_SECRET_BYTES);
    (void)str_copy(h.row.url, sizeof h.row.url, url);
    (void)str_copy(h.row.events, sizeof h.row.events, events);
    club_run(c, hook_run, &h);
    return h.id;
}

struct webhook_row webhook_now(struct club *c, int64_t id)
{
    struct webhook_row row;
    struct err err = ERR_INIT;

    assert_ok(webhooks_get(store_reader_conn(c->t->reader), id, &row, &err), err);
    return row;
}

/* ---------------------------------------------------------------- looking */

static sqlite3 *database(struct club *c)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open_v2(c->t->path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return db;
}

int64_t club_count(struct club *c, const char *sql)
{
    sqlite3 *db = database(c);
    sqlite3_stmt *q = NULL;
    int64_t n;

    if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(q), SQLITE_ROW);
    n = sqlite3_column_int64(q, 0);
    sqlite3_finalize(q);
    sqlite3_close(db);
    return n;
}

int64_t newest_intent(struct club *c)
{
    return club_count(c, "SELECT coalesce(max(id), 0) FROM outbox");
}

const char *intents_since(struct club *c, int64_t since, const char *channel, char *ret,
                          size_t size)
{
    sqlite3 *db = database(c);
    sqlite3_stmt *q = NULL;
    size_t used = 0;

    ret[0] = '\0';
    assert_int_equal(
        sqlite3_prepare_v2(db,
                           "SELECT coalesce((SELECT handle FROM users WHERE id = user_id),"
                           " address), template"
                           " FROM outbox WHERE id > ?1 AND channel = ?2 ORDER BY 1, 2",
                           -1, &q, NULL),
        SQLITE_OK);
    sqlite3_bind_int64(q, 1, since);
    sqlite3_bind_text(q, 2, channel, -1, SQLITE_STATIC);
    while (sqlite3_step(q) == SQLITE_ROW) {
        used += (size_t)snprintf(ret + used, size - used, "%s%s:%s", used ? " " : "",
                                 (const char *)sqlite3_column_text(q, 0),
                                 (const char *)sqlite3_column_text(q, 1));
        assert_true(used < size);
    }
    sqlite3_finalize(q);
    sqlite3_close(db);
    return ret;
}

static int each_letter(struct club *c, const char *prefix, bool remove, char *ret_path, size_t size)
{
    DIR *d = opendir(c->mail);
    int n = 0;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[400];

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            !str_starts(e->d_name, prefix))
            continue;
        n++;
        (void)snprintf(path, sizeof path, "%s/%s", c->mail, e->d_name);
        if (ret_path != NULL)
            (void)str_copy(ret_path, size, path);
        if (remove)
            assert_int_equal(unlink(path), 0);
    }
    closedir(d);
    return n;
}

int letters_count(struct club *c)
{
    return each_letter(c, "", false, NULL, 0);
}

void letters_clear(struct club *c)
{
    (void)each_letter(c, "", true, NULL, 0);
}

static char *file_read(const char *path, size_t *ret_n)
{
    struct stat st;
    FILE *f;
    char *bytes;

    assert_int_equal(stat(path, &st), 0);
    bytes = calloc(1, (size_t)st.st_size + 1);
    f = fopen(path, "rb");
    assert_non_null(bytes);
    assert_non_null(f);
    assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
    fclose(f);
    if (ret_n != NULL)
        *ret_n = (size_t)st.st_size;
    return bytes;
}

char *letter_file(struct club *c, const char *prefix, size_t *ret_n)
{
    char path[400];

    assert_int_equal(each_letter(c, prefix, false, path, sizeof path), 1);
    return file_read(path, ret_n);
}

char *letter_nth(struct club *c, int n)
{
    DIR *d = opendir(c->mail);
    char *bytes = NULL;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[400];

        if (e->d_name[0] == '.' || n-- != 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", c->mail, e->d_name);
        bytes = file_read(path, NULL);
    }
    closedir(d);
    assert_non_null(bytes);
    return bytes;
}

const char *letter_header(const char *letter, const char *name, char *ret, size_t size)
{
    char what[100];
    const char *at;
    size_t n = 0;

    (void)snprintf(what, sizeof what, "\r\n%s: ", name);
    at = strstr(letter, what);
    for (at = at ? at + strlen(what) : ""; *at != '\0' && n + 1 < size; at++) {
        if (at[0] == '\r' && at[1] == '\n' && at[2] != ' ')
            break;
        if (*at != '\r' && *at != '\n')
            ret[n++] = *at;
    }
    ret[n] = '\0';
    return ret;
}

static GMimeObject *find_part(GMimeObject *part, const char *subtype)
{
    if (GMIME_IS_MULTIPART(part)) {
        for (int i = 0; i < g_mime_multipart_get_count((GMimeMultipart *)part); i++) {
            GMimeObject *found =
                find_part(g_mime_multipart_get_part((GMimeMultipart *)part, i), subtype);

            if (found != NULL)
                return found;
        }
        return NULL;
    }
    return str_eq(g_mime_content_type_get_media_subtype(g_mime_object_get_content_type(part)),
                  subtype)
               ? part
               : NULL;
}

char *letter_part(const char *letter, size_t n, const char *subtype)
{
    GMimeStream *stream = g_mime_stream_mem_new_with_buffer(letter, n);
    GMimeParser *parser = g_mime_parser_new_with_stream(stream);
    GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
    GMimeObject *part = find_part(g_mime_message_get_mime_part(message), subtype);
    char *text, *copy;

    assert_non_null(part);
    text = g_mime_text_part_get_text((GMimeTextPart *)part);
    copy = malloc(strlen(text) + 1);
    assert_non_null(copy);
    {
        char *to = copy;

        for (const char *p = text; *p != '\0'; p++) /* files have line feeds */
            if (*p != '\r')
                *to++ = *p;
        *to = '\0';
    }
    g_free(text);
    g_object_unref(message);
    g_object_unref(parser);
    g_object_unref(stream);
    return copy;
}

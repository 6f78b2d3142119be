#include "main/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "words/words.h"
#include "intake/intake.h"
#include "notify/notify.h"

void engine_port_set(struct engine *engine, int port)
{
    char *at = strstr(engine->public_url, "://"), rest[PUBLIC_URL_SIZE];

    at = at ? strrchr(at + 3, ':') : NULL;
    if (!at || at[1] != '0' || (at[2] && at[2] != '/'))
        return;
    (void)str_copy(rest, sizeof rest, at + 2);
    (void)snprintf(at, sizeof engine->public_url - (size_t)(at - engine->public_url), ":%d%s",
                   port, rest);
}

static struct arbiter_limits limits_from(const struct settings *s)
{
    struct arbiter_limits limits = arbiter_limits_usual();

    limits.per_move_ms = s->clock.move_ms;
    if (limits.per_move_max_ms < limits.per_move_ms)
        limits.per_move_max_ms = limits.per_move_ms;
    limits.grace_ms = s->clock.grace_ms;
    limits.placing_ms = s->clock.placing_ms;
    limits.invitation_ms = s->clock.invitation_ms;
    limits.games = (int)s->limits.games;
    return limits;
}

/* The letter says that the game has changed, and its reader sees there why; but not what he has
 * done himself. */
static enum status on_dropped(struct store_txn *txn, const struct game_row *game,
                              const struct held_row *held, enum arbiter_drop why, utc_ms now,
                              void *arg, struct err *err)
{
    return notify_on_dropped(txn, game, held, why == DROP_REPLACED, now, arg, err);
}

/* Whoever writes the letters' intents, in the arbiter's own transactions. */
static enum status notify_begin(struct engine *e, struct err *err)
{
    const struct settings *s = e->settings;
    struct notify_options options = {
        .store = e->store,
        .writer = e->writer,
        .people = &e->people,
        .zones = e->zones,
        .entropy = people_entropy(),
        .site_name = s->mail.from_name[0] ? s->mail.from_name : s->site_name,
        .public_url = e->public_url,
        .mail_from = s->mail.from_address,
        .webhook_allow = (const char *const *)s->webhooks.allow.items,
        .webhook_allow_count = s->webhooks.allow.count,
        .reply_address = s->mail_in.address,
        .reply_delimiter = s->mail_in.delimiter,
        .bounce_address = s->mail_in.bounce_address,
        .unsubscribe_address = s->mail_in.unsubscribe_address,
    };
    enum status st = notify_open(&options, &e->notify, err);

    if (st == ST_OK) {
        e->arbiter.hooks.on_events = notify_on_events;
        e->arbiter.hooks.on_events_arg = e->notify;
        e->arbiter.hooks.on_dropped = on_dropped;
        e->arbiter.hooks.on_dropped_arg = e->notify;
        e->people.on_new_address = notify_on_new_address;
        e->people.on_new_address_arg = e->notify;
        e->people.on_reached = notify_on_reached;
        e->people.on_reached_arg = e->notify;
    }
    return st;
}

/* people.h: nobody has his letters where the server takes in its own, be it that something should
 * stand behind the name. */
static bool is_own_address(const char *address, void *arg)
{
    const struct engine *e = arg;

    return str_case_eq(address, e->settings->mail_in.bounce_address) ||
           str_case_eq(address, e->settings->mail_in.unsubscribe_address) ||
           (e->intake && intake_recipient_check(e->intake, address) != INTAKE_FOREIGN);
}

/* Play by mail, where an address for it is set. */
static enum status intake_begin(struct engine *e, struct err *err)
{
    const struct settings *s = e->settings;
    const struct intake_options options = {
        .store = e->store,
        .writer = e->writer,
        .arbiter = &e->arbiter,
        .people = &e->people,
        .zones = e->zones,
        .time = clock_guard_source(&e->guard),
        .entropy = people_entropy(),
        .digest = people_digest(),
        .address = s->mail_in.address,
        .delimiter = s->mail_in.delimiter,
        .bounce_address = s->mail_in.bounce_address,
        .unsubscribe_address = s->mail_in.unsubscribe_address,
        .authserv_id = s->mail_in.authserv_id,
        .dmarc = s->mail_in.dmarc == SETTINGS_DMARC_IGNORE    ? INTAKE_DMARC_IGNORE
                 : s->mail_in.dmarc == SETTINGS_DMARC_REQUIRE ? INTAKE_DMARC_REQUIRE
                                                              : INTAKE_DMARC_PREFER,
        .hold_ms = s->mail_in.hold_ms,
        .confirms_resign = s->mail_in.confirm_resign,
        .answers_an_hour = s->mail_in.answers_an_hour,
        .letter_size = (size_t)s->mail_in.letter_size,
        .banners = (const char *const *)s->mail_in.banners.items,
        .n_banners = s->mail_in.banners.count,
        .public_url = e->public_url,
        .site_name = s->site_name,
        .mail_from = s->mail.from_address,
        .hooks = {.bounce_read = verp_read,
                  .unsubscribe_read = unsubscribe_read,
                  .on_suspended = notify_on_suspended,
                  .on_reached = notify_on_reached,
                  .address_block = unsubscribe_address_block,
                  .resend = notify_turn_again,
                  .arg = e->notify},
    };

    enum status st = ST_OK;

    if (s->mail_in.address[0])
        st = intake_open(&options, &e->intake, err);
    if (st == ST_OK && e->intake) {
        e->people.is_own_address = is_own_address;
        e->people.is_own_address_arg = e;
    }
    return st;
}

enum status engine_open(struct engine *ret, const struct settings *settings,
                        const struct main_seams *seams, struct err *err)
{
    struct engine *e = ret;
    struct store_options options = {.path = settings->database};
    struct writer_options writing;
    enum status st;

    memset(e, 0, sizeof *e);
    e->settings = settings;
    (void)str_copy(e->public_url, sizeof e->public_url, settings->public_url);
    e->clock = seams && seams->clock.read ? seams->clock : clock_os();
    clock_guard_init(&e->guard, e->clock);
    e->has_guard = true;
    e->zones = zone_cache_new(NULL);
    if (!e->zones) {
        st = err_reason(err, REASON_NO_MEMORY, "out of memory");
        goto out;
    }
    e->people = (struct people){
        .entropy = people_entropy(),
        .zones = e->zones,
        .door = settings->registration == SETTINGS_REGISTRATION_OPEN     ? DOOR_OPEN
                : settings->registration == SETTINGS_REGISTRATION_INVITE ? DOOR_INVITE
                                                                         : DOOR_CLOSED,
        .default_zone = settings->time_zone,
        .default_language = settings->language,
        .languages = lang_tags(),
        .letters_an_hour = settings->limits.letters,
        .accounts_an_hour = settings->limits.accounts,
        .tokens_max = settings->limits.tokens,
    };
    e->arbiter = (struct arbiter){
        .entropy = people_entropy(),
        .digest = people_digest(),
        .guard = &e->guard,
        .limits = limits_from(settings),
    };
    st = store_open(&options, &e->store, err);
    if (st != ST_OK)
        goto out;
    writing = (struct writer_options){.store = e->store,
                                      .time = clock_guard_source(&e->guard),
                                      .queue_max = (size_t)settings->limits.queue};
    st = writer_open(&writing, &e->writer, err);
    if (st == ST_OK)
        st = notify_begin(e, err);
    if (st == ST_OK)
        st = intake_begin(e, err);
out:
    if (st != ST_OK)
        engine_close(e);
    return st;
}

void engine_close(struct engine *e)
{
    intake_close(e->intake);
    notify_close(e->notify);
    writer_close(e->writer);
    store_close(e->store);
    zone_cache_free(e->zones);
    if (e->has_guard)
        clock_guard_release(&e->guard);
    memset(e, 0, sizeof *e);
}

enum status store_open_to_read(const struct settings *settings, struct store **ret,
                               struct err *err)
{
    struct store_options options = {
        .path = settings->database, .read_only = true, .must_exist = true};

    return store_open(&options, ret, err);
}

enum status owner_become(const char *database, struct err *err)
{
    const char *slash = strrchr(database, '/');
    char folder[STORE_PATH_SIZE];
    struct stat about;

    if (geteuid() != 0)
        return ST_OK;
    (void)snprintf(folder, sizeof folder, "%.*s", slash > database ? (int)(slash - database) : 1,
                   slash ? database : ".");
    if (stat(folder, &about) != 0)
        return err_set(err, ST_NOT_FOUND, "the folder %s of the database: %s", folder,
                       strerror(errno));
    if (about.st_uid == 0)
        return ST_OK;
    if (setgid(about.st_gid) != 0 || setuid(about.st_uid) != 0)
        return err_set(err, ST_IO, "cannot become the owner of %s: %s", folder, strerror(errno));
    return ST_OK;
}

/* notify/notify.c - opening, ids, checking and dispatch; see notify.h. */
#include "notify/notify.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sodium.h>

#include "base/str.h"
#include "notify/internal.h"
#include "store/logins.h"
#include "store/votes.h"

/* ---------------------------------------------------------------- opening */

struct key_command {
    struct notify *notify;
};

static enum status key_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct key_command *c = arg;

    const struct entropy *entropy = &c->notify->options.entropy;
    enum status st = keys_need(txn, "unsubscribe", now, entropy, c->notify->key, err);

    return st == ST_OK ? keys_need(txn, "verp", now, entropy, c->notify->verp_key, err) : st;
}

enum status notify_open(const struct notify_options *options, struct notify **ret_notify,
                        struct err *err)
{
    struct notify *n = calloc(1, sizeof *n);
    struct key_command command = {.notify = n};
    const char *domain = options->mail_domain;
    enum status st = ST_OK;

    if (n == NULL)
        return err_set(err, ST_NOMEM, "notices");
    n->options = *options;
    if (!mail_address_is_ok(options->mail_from)) {
        st = err_set(err, ST_INVALID, "mail from: \"%.80s\" is not a mail address",
                     options->mail_from);
        goto out;
    }
    if (options->mail_envelope_from != NULL && !mail_address_is_ok(options->mail_envelope_from)) {
        st = err_set(err, ST_INVALID, "mail envelope from: \"%.80s\" is not a mail address",
                     options->mail_envelope_from);
        goto out;
    }
    TRY_OUT(tags_check(options, err));
    if (domain == NULL)
        domain = strrchr(options->mail_from, '@') + 1;
    if (!str_copy(n->domain, sizeof n->domain, domain)) {
        st = err_set(err, ST_INVALID, "mail domain: too long");
        goto out;
    }
    for (size_t i = 0; i < options->webhook_allow_count; i++)
        TRY_OUT(net_list_add(&n->allow, options->webhook_allow[i], err));
    TRY_OUT(writer_run(options->writer,
                       &(struct writer_command){
                           .name = "notify_key", .run = key_run, .arg = &command},
                       err));
    *ret_notify = n;
    n = NULL;
out:
    notify_close(n);
    return st;
}

void notify_close(struct notify *n)
{
    if (n == NULL)
        return;
    sodium_memzero(n->key, sizeof n->key);
    sodium_memzero(n->verp_key, sizeof n->verp_key);
    free(n);
}

void notice_release(struct notice *notice)
{
    if (notice == NULL)
        return;
    if (notice->bytes.cap > 0)
        sodium_memzero(notice->bytes.data, notice->bytes.len);
    buf_release(&notice->bytes);
}

/* ---------------------------------------------------------------- ids */

void message_id_of(const struct notify *n, const struct intent_row *intent, const char *game,
                   char ret[MESSAGE_ID_SIZE])
{
    if (game[0] != '\0')
        (void)snprintf(ret, MESSAGE_ID_SIZE, "%.16s.%" PRId64 ".%" PRId64 "@%.200s", game,
                       intent->seq, intent->id, n->domain);
    else
        (void)snprintf(ret, MESSAGE_ID_SIZE, "notice.%" PRId64 "@%.200s", intent->id, n->domain);
}

/* ---------------------------------------------------------------- does it still make sense? */

static enum status fate_set(enum notice_fate *ret_fate, const char **ret_why,
                            enum notice_fate fate, const char *why)
{
    *ret_fate = fate;
    *ret_why = why;
    return ST_OK;
}
#define SUPERSEDED(why) fate_set(ret_fate, ret_why, NOTICE_SUPERSEDED, why)

/* Notices about a turn: is it still the same turn of the same player? */
static enum status check_turn(struct store_conn *conn, const struct intent_row *intent,
                              const struct game_row *game, enum notice_fate *ret_fate,
                              const char **ret_why, struct err *err)
{
    struct event_row event = EVENT_ROW_INIT;

    if (game->state != GAME_RUNNING)
        return SUPERSEDED("the game is not running any more");
    if (str_eq(intent->template_name, "turn")) { /* each change within a turn makes a new one */
        if (game->turn_user_id != intent->user_id || game->state_no != intent->state_no)
            return SUPERSEDED("the turn has passed on");
        return ST_OK;
    }
    TRY(events_get(conn, intent->game_id, intent->seq, &event, err));
    if (game->turn_seat != event.seat || game->turn_at == UTC_NONE || game->turn_at > event.at)
        return SUPERSEDED("the turn has passed on");
    if (intent->cls == NOTICE_WARNING && game->paused_at != UTC_NONE)
        return SUPERSEDED("the clocks stand");
    return ST_OK;
}

static enum status check_placing(struct store_conn *conn, const struct intent_row *intent,
                                 const struct game_row *game, enum notice_fate *ret_fate,
                                 const char **ret_why, struct err *err)
{
    struct seat_row seats[SEAT_COUNT];

    if (game->state != GAME_PLACING)
        return SUPERSEDED("the placing is over");
    TRY(seats_get(conn, game->id, seats, err));
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        if (seats[seat].user_id == intent->user_id && seats[seat].placement[0] == '\0')
            return ST_OK;
    return SUPERSEDED("the reserve has been placed");
}

static enum status check_invitation(const struct notify *n, struct store_conn *conn,
                                    const struct intent_row *intent, const struct game_row *game,
                                    enum notice_fate *ret_fate, const char **ret_why,
                                    struct err *err)
{
    struct invitation_row row;
    unsigned char hash[ADDRESS_BLOCK_SIZE];
    bool is_blocked = false;
    enum status st = game->state != GAME_OPEN
                         ? ST_NOT_FOUND
                         : invitations_of_seat(conn, game->id, intent->seat, &row, err);

    if (st == ST_NOT_FOUND || (st == ST_OK && row.user_id != intent->user_id))
        return SUPERSEDED("the invitation is settled");
    if (st == ST_OK && row.user_id == 0) {
        address_block_hash(n, row.address_key, hash);
        st = address_blocks_has(conn, hash, &is_blocked, err);
        if (st == ST_OK && is_blocked)
            return SUPERSEDED("its reader wants no more invitations");
    }
    return st;
}

/* Open, and no newer one than the notice's? */
static enum status check_draw(struct store_conn *conn, const struct intent_row *intent,
                              enum notice_fate *ret_fate, const char **ret_why, struct err *err)
{
    struct vote_row vote;
    enum status st = votes_get_open(conn, intent->game_id, VOTE_DRAW, &vote, err);

    if (st == ST_NOT_FOUND || (st == ST_OK && vote.seq > intent->seq))
        return SUPERSEDED("the offer is settled");
    return st;
}

static enum status check_game(const struct notify *n, struct store_conn *conn,
                              const struct intent_row *intent, bool is_for_people,
                              enum notice_fate *ret_fate, const char **ret_why, struct err *err)
{
    struct game_row *game = malloc(sizeof *game);
    const char *template = intent->template_name;
    enum status st;

    if (game == NULL)
        return err_set(err, ST_NOMEM, "a notice");
    TRY_OUT(games_get(conn, intent->game_id, game, err));
    if (str_eq(template, "turn") || str_eq(template, "warning") ||
        str_eq(template, "warning_organiser"))
        TRY_OUT(check_turn(conn, intent, game, ret_fate, ret_why, err));
    else if (str_eq(template, "placing") || str_eq(template, "warning_placing"))
        TRY_OUT(check_placing(conn, intent, game, ret_fate, ret_why, err));
    else if (str_eq(template, "invitation") || str_eq(template, "invitation_address"))
        TRY_OUT(check_invitation(n, conn, intent, game, ret_fate, ret_why, err));
    else if (str_eq(template, "draw_offered") ||
             (is_for_people && str_eq(template, "draw_accepted"))) /* programs get each */
        TRY_OUT(check_draw(conn, intent, ret_fate, ret_why, err));
out:
    free(game);
    return st;
}

static enum status check_user(struct store_conn *conn, const struct intent_row *intent,
                              enum notice_fate *ret_fate, const char **ret_why, struct err *err)
{
    struct user_row user;
    struct prefs prefs;

    TRY(users_get(conn, intent->user_id, &user, err));
    if (user.disabled_at != UTC_NONE)
        return SUPERSEDED("the account is shut");
    if (notice_is_switchable(intent->cls) && intent_param(intent, "asked") == 0) {
        TRY(prefs_get(conn, intent->user_id, &prefs, err));
        if (!notice_is_wanted(&prefs, intent->cls, intent->channel) &&
            !(intent->channel == CHANNEL_WEBHOOK && notice_stands_in(&user, &prefs, intent->cls)))
            return SUPERSEDED("its reader has switched these notices off");
    }
    if (intent->channel == CHANNEL_MAIL && intent->address[0] == '\0') {
        if (user.address[0] == '\0')
            return fate_set(ret_fate, ret_why, NOTICE_UNDELIVERABLE, "there is no address");
        if (user.address_state == ADDRESS_SUSPENDED && notice_is_switchable(intent->cls))
            return fate_set(ret_fate, ret_why, NOTICE_UNDELIVERABLE, "the address is suspended");
    }
    return ST_OK;
}

enum status notify_check(const struct notify *n, struct store_conn *conn,
                         const struct intent_row *intent, utc_ms now, enum notice_fate *ret_fate,
                         const char **ret_why, struct err *err)
{
    enum status st = ST_OK;
    struct webhook_row *webhook = NULL;

    (void)now;
    *ret_fate = NOTICE_SEND;
    *ret_why = "";
    if (intent->user_id != 0)
        TRY_OUT(check_user(conn, intent, ret_fate, ret_why, err));
    if (*ret_fate == NOTICE_SEND && intent->channel == CHANNEL_WEBHOOK) {
        webhook = malloc(sizeof *webhook);
        if (webhook == NULL)
            return err_set(err, ST_NOMEM, "a notice");
        st = webhooks_get(conn, intent->webhook_id, webhook, err);
        if (st == ST_NOT_FOUND)
            st = SUPERSEDED("the webhook was removed");
        else if (st == ST_OK && webhook->state != WEBHOOK_ON)
            st = SUPERSEDED("the webhook is switched off");
        if (st != ST_OK)
            goto out;
    }
    if (*ret_fate == NOTICE_SEND && intent->game_id != 0)
        TRY_OUT(check_game(n, conn, intent, webhook == NULL || webhook_is_for_people(webhook->kind),
                           ret_fate, ret_why, err));
out:
    free(webhook);
    return st;
}

/* ---------------------------------------------------------------- composing */

bool notify_needs_secret(const struct intent_row *intent)
{
    static const char *const templates[] = {"login",       "register",    "register_known",
                                            "address_old", "address_new", "invitation_address"};

    for (size_t i = 0; intent->channel == CHANNEL_MAIL && i < COUNT_OF(templates); i++)
        if (str_eq(intent->template_name, templates[i]))
            return true;
    return false;
}

static struct notice notice_make(void)
{
    return (struct notice){.bytes = buf_make(BYTES_MAX), .content_type = "", .why = "",
                           .reply_token = TOKEN_ROW_INIT};
}

enum status notify_compose(const struct notify *n, struct store_conn *conn,
                           const struct intent_row *intent, utc_ms now, enum notice_fate *ret_fate,
                           struct notice *ret_notice, struct err *err)
{
    struct notice notice = notice_make();
    enum notice_fate fate = NOTICE_SEND;
    enum status st;

    assert(!notify_needs_secret(intent));
    TRY_OUT(notify_check(n, conn, intent, now, &fate, &notice.why, err));
    if (fate == NOTICE_SEND) {
        if (intent->channel == CHANNEL_WEBHOOK)
            TRY_OUT(webhook_compose(n, conn, intent, now, &notice, err));
        else if (intent->cls == NOTICE_ANSWER)
            TRY_OUT(answer_compose(n, conn, intent, now, &notice, err));
        else if (intent->game_id != 0)
            TRY_OUT(game_letter_compose(n, conn, intent, now, NULL, &notice, err));
        else
            TRY_OUT(account_letter_compose(n, conn, intent, now, NULL, "", "", &notice,
                                           err));
    }
    *ret_fate = fate;
    *ret_notice = notice;
    notice = notice_make();
out:
    notice_release(&notice);
    return st;
}

int64_t intent_param(const struct intent_row *intent, const char *key)
{
    json_t *params = intent->params ? json_loads(intent->params, 0, NULL) : NULL;
    json_t *value = json_object_get(params, key);
    int64_t number = json_is_true(value) ? 1 : json_integer_value(value);

    json_decref(params);
    return number;
}

/* A mailed invitation to a game: its secret is ours to make. */
static enum status mint_invitation(const struct notify *n, struct store_txn *txn,
                                   const struct intent_row *intent, char ret[SECRET_SIZE],
                                   struct err *err)
{
    unsigned char hash[DIGEST_SIZE];
    char secret[SECRET_SIZE];
    enum status st;

    secret_make(n->options.people, secret);
    secret_hash(secret, hash);
    st = invitations_set_token(txn, intent_param(intent, "invitation"), hash, err);
    if (st == ST_OK)
        memcpy(ret, secret, SECRET_SIZE);
    sodium_memzero(secret, sizeof secret);
    return st;
}

/* A letter about an account whose link is made now. */
static enum status compose_link(const struct notify *n, struct store_txn *txn,
                                const struct intent_row *intent, utc_ms now,
                                char secret[SECRET_SIZE], struct notice *notice, struct err *err)
{
    static const struct {
        const char *template_name, *key;
        enum people_link kind;
    } table[] = {
        {"login", "link", LINK_LOGIN},
        {"register", "registration", LINK_REGISTRATION},
        {"register_known", "link", LINK_LOGIN},
        {"address_old", "change", LINK_ADDRESS_OLD},
        {"address_new", "change", LINK_ADDRESS_NEW},
    };
    struct store_conn *conn = store_txn_conn(txn);
    struct registration_row *registration = NULL;
    size_t i = 0;
    enum status st = ST_OK;

    while (i < COUNT_OF(table) && !str_eq(intent->template_name, table[i].template_name))
        i++;
    if (i == COUNT_OF(table))
        return err_set(err, ST_INTERNAL, "notice %" PRId64 ": %s has no link", intent->id,
                       intent->template_name);
    TRY(people_mint(n->options.people, txn, table[i].kind, intent_param(intent, table[i].key), now,
                    secret, err));
    if (table[i].kind == LINK_REGISTRATION) { /* whoever asks has no account yet */
        registration = malloc(sizeof *registration);
        if (registration == NULL)
            return err_set(err, ST_NOMEM, "a letter");
        TRY_OUT(registrations_get(conn, intent_param(intent, "registration"), registration, err));
    }
    TRY_OUT(account_letter_compose(n, conn, intent, now, secret,
                                   registration != NULL ? registration->language : "",
                                   registration != NULL ? registration->handle : "", notice, err));
out:
    free(registration);
    return st;
}

enum status notify_compose_secret(const struct notify *n, struct store_txn *txn,
                                  const struct intent_row *intent, utc_ms now,
                                  enum notice_fate *ret_fate, struct notice *ret_notice,
                                  struct err *err)
{
    struct store_conn *conn = store_txn_conn(txn);
    struct notice notice = notice_make();
    enum notice_fate fate = NOTICE_SEND;
    char secret[SECRET_SIZE] = "";
    enum status st;

    assert(notify_needs_secret(intent));
    TRY_OUT(notify_check(n, conn, intent, now, &fate, &notice.why, err));
    if (fate == NOTICE_SEND && str_eq(intent->template_name, "invitation_address")) {
        st = mint_invitation(n, txn, intent, secret, err);
        if (st == ST_OK)
            st = game_letter_compose(n, conn, intent, now, secret, &notice, err);
    } else if (fate == NOTICE_SEND) {
        st = compose_link(n, txn, intent, now, secret, &notice, err);
    }
    if (st == ST_GONE || st == ST_CONFLICT) {
        st = ST_OK;
        fate = NOTICE_SUPERSEDED;
        notice.why = "its link is used or too old";
        buf_clear(&notice.bytes);
    }
    if (st != ST_OK)
        goto out;
    notice.has_token = fate == NOTICE_SEND;
    *ret_fate = fate;
    *ret_notice = notice;
    notice = notice_make();
out:
    sodium_memzero(secret, sizeof secret);
    notice_release(&notice);
    return st;
}

/* notify/notify.c - opening, ids, unsubscribe tokens, checking and dispatch; see notify.h. */
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
#include "store/keys.h"
#include "store/logins.h"
#include "store/votes.h"

/* ---------------------------------------------------------------- opening */

struct key_command {
    struct notify *notify;
};

static enum status key_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct key_command *c = arg;

    return keys_need(txn, "unsubscribe", now, &c->notify->options.entropy, c->notify->key, err);
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
    if (domain == NULL)
        domain = strrchr(options->mail_from, '@') + 1;
    if (!str_copy(n->domain, sizeof n->domain, domain)) {
        st = err_set(err, ST_INVALID, "mail domain: too long");
        goto out;
    }
    for (size_t i = 0; i < options->webhook_allow_count; i++)
        TRY(net_list_add(&n->allow, options->webhook_allow[i], err));
    TRY(writer_run(options->writer,
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

/* ---------------------------------------------------------------- unsubscribing */

/*
 * 16 bytes in base32: ten of MAC over user and class, and user and class themselves, hidden under
 * a key stream made of that MAC; so the same letter has the same token, two letters' tokens share
 * nothing to be seen, and nobody can make one.
 */
enum { TOKEN_MAC = 10, TOKEN_PLAIN = 6, TOKEN_BYTES = TOKEN_MAC + TOKEN_PLAIN };
static const char base32[] = "abcdefghijklmnopqrstuvwxyz234567";

static void hmac(const struct notify *n, const char *purpose, const unsigned char *bytes,
                 size_t size, unsigned char ret[crypto_auth_hmacsha256_BYTES])
{
    crypto_auth_hmacsha256_state state;

    (void)crypto_auth_hmacsha256_init(&state, n->key, sizeof n->key);
    (void)crypto_auth_hmacsha256_update(&state, (const unsigned char *)purpose,
                                        strlen(purpose) + 1);
    (void)crypto_auth_hmacsha256_update(&state, bytes, size);
    (void)crypto_auth_hmacsha256_final(&state, ret);
}

void unsubscribe_token(const struct notify *n, int64_t user_id, enum notice_class cls,
                       char ret[UNSUBSCRIBE_TOKEN_SIZE])
{
    unsigned char plain[TOKEN_PLAIN], mac[crypto_auth_hmacsha256_BYTES],
        stream[crypto_auth_hmacsha256_BYTES], bytes[TOKEN_BYTES];
    unsigned bits = 0, have = 0;
    size_t used = 0;

    assert(user_id > 0 && user_id < INT64_C(1) << 40);
    for (int i = 0; i < 5; i++)
        plain[i] = (unsigned char)(user_id >> (32 - 8 * i));
    plain[5] = (unsigned char)cls;
    hmac(n, "unsubscribe", plain, sizeof plain, mac);
    hmac(n, "hide", mac, TOKEN_MAC, stream);
    memcpy(bytes, mac, TOKEN_MAC);
    for (int i = 0; i < TOKEN_PLAIN; i++)
        bytes[TOKEN_MAC + i] = plain[i] ^ stream[i];
    for (size_t i = 0; i < TOKEN_BYTES; i++) {
        bits = bits << 8 | bytes[i];
        for (have += 8; have >= 5; have -= 5)
            ret[used++] = base32[bits >> (have - 5) & 31u];
        bits &= (1u << have) - 1u;
    }
    if (have > 0)
        ret[used++] = base32[bits << (5 - have) & 31u];
    ret[used] = '\0';
}

enum status unsubscribe_read(void *notify, const char *token, int64_t *ret_user_id,
                             enum notice_class *ret_class, struct err *err)
{
    const struct notify *n = notify;
    unsigned char bytes[TOKEN_BYTES] = {0}, stream[crypto_auth_hmacsha256_BYTES],
                  mac[crypto_auth_hmacsha256_BYTES], plain[TOKEN_PLAIN];
    unsigned bits = 0, have = 0;
    size_t used = 0, length = strlen(token);
    int64_t user_id = 0;

    if (length != UNSUBSCRIBE_TOKEN_SIZE - 1)
        goto bad;
    for (size_t i = 0; i < length; i++) {
        const char *at = strchr(base32, token[i]);

        if (at == NULL)
            goto bad;
        bits = bits << 5 | (unsigned)(at - base32);
        have += 5;
        if (have >= 8 && used < TOKEN_BYTES) {
            bytes[used++] = (unsigned char)(bits >> (have - 8));
            have -= 8;
            bits &= (1u << have) - 1u;
        }
    }
    if (bits != 0) /* one token has one spelling */
        goto bad;
    hmac(n, "hide", bytes, TOKEN_MAC, stream);
    for (int i = 0; i < TOKEN_PLAIN; i++)
        plain[i] = bytes[TOKEN_MAC + i] ^ stream[i];
    hmac(n, "unsubscribe", plain, sizeof plain, mac);
    if (sodium_memcmp(mac, bytes, TOKEN_MAC) != 0 || plain[5] >= NOTICE_CLASS_COUNT_)
        goto bad;
    for (int i = 0; i < 5; i++)
        user_id = user_id << 8 | plain[i];
    *ret_user_id = user_id;
    *ret_class = (enum notice_class)plain[5];
    return ST_OK;
bad:
    return err_reason(err, REASON_LINK_EXPIRED, "this unsubscribe link is not one of ours");
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
    enum status st;

    if (game->state != GAME_RUNNING)
        return SUPERSEDED("the game is not running any more");
    TRY(events_get(conn, intent->game_id, intent->seq, &event, err));
    if (game->turn_seat != event.seat || game->turn_at == UTC_NONE || game->turn_at > event.at)
        return SUPERSEDED("the turn has passed on");
    if (intent->cls == NOTICE_WARNING && game->paused_at != UTC_NONE)
        return SUPERSEDED("the clocks stand");
out:
    return st;
}

static enum status check_placing(struct store_conn *conn, const struct intent_row *intent,
                                 const struct game_row *game, enum notice_fate *ret_fate,
                                 const char **ret_why, struct err *err)
{
    struct seat_row seats[SEAT_COUNT];
    enum status st;

    if (game->state != GAME_PLACING)
        return SUPERSEDED("the placing is over");
    TRY(seats_get(conn, game->id, seats, err));
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        if (seats[seat].user_id == intent->user_id && seats[seat].placement[0] == '\0')
            goto out;
    return SUPERSEDED("the reserve has been placed");
out:
    return st;
}

static enum status check_invitation(struct store_conn *conn, const struct intent_row *intent,
                                    const struct game_row *game, enum notice_fate *ret_fate,
                                    const char **ret_why, struct err *err)
{
    struct invitation_row row;
    enum status st = game->state != GAME_OPEN
                         ? ST_NOT_FOUND
                         : invitations_of_seat(conn, game->id, intent->seat, &row, err);

    if (st == ST_NOT_FOUND || (st == ST_OK && row.user_id != intent->user_id))
        return SUPERSEDED("the invitation is settled");
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

static enum status check_game(struct store_conn *conn, const struct intent_row *intent,
                              bool is_for_people, enum notice_fate *ret_fate, const char **ret_why,
                              struct err *err)
{
    struct game_row *game = malloc(sizeof *game);
    const char *template = intent->template_name;
    enum status st;

    if (game == NULL)
        return err_set(err, ST_NOMEM, "a notice");
    TRY(games_get(conn, intent->game_id, game, err));
    if (str_eq(template, "turn") || str_eq(template, "warning") ||
        str_eq(template, "warning_organiser"))
        TRY(check_turn(conn, intent, game, ret_fate, ret_why, err));
    else if (str_eq(template, "placing") || str_eq(template, "warning_placing"))
        TRY(check_placing(conn, intent, game, ret_fate, ret_why, err));
    else if (str_eq(template, "invitation") || str_eq(template, "invitation_address"))
        TRY(check_invitation(conn, intent, game, ret_fate, ret_why, err));
    else if (str_eq(template, "draw_offered") ||
             (is_for_people && str_eq(template, "draw_accepted"))) /* programs get each */
        TRY(check_draw(conn, intent, ret_fate, ret_why, err));
out:
    free(game);
    return st;
}

static enum status check_user(struct store_conn *conn, const struct intent_row *intent,
                              enum notice_fate *ret_fate, const char **ret_why, struct err *err)
{
    struct user_row user;
    struct prefs prefs;
    enum status st;

    TRY(users_get(conn, intent->user_id, &user, err));
    if (user.disabled_at != UTC_NONE)
        return SUPERSEDED("the account is shut");
    if (notice_is_switchable(intent->cls)) {
        TRY(prefs_get(conn, intent->user_id, &prefs, err));
        if (!notice_is_wanted(&prefs, intent->cls, intent->channel))
            return SUPERSEDED("its reader has switched these notices off");
    }
    if (intent->channel == CHANNEL_MAIL && intent->address[0] == '\0') {
        if (user.address[0] == '\0')
            return fate_set(ret_fate, ret_why, NOTICE_UNDELIVERABLE, "there is no address");
        if (user.address_state == ADDRESS_SUSPENDED && notice_is_switchable(intent->cls))
            return fate_set(ret_fate, ret_why, NOTICE_UNDELIVERABLE, "the address is suspended");
    }
out:
    return st;
}

enum status notify_check(const struct notify *n, struct store_conn *conn,
                         const struct intent_row *intent, utc_ms now, enum notice_fate *ret_fate,
                         const char **ret_why, struct err *err)
{
    enum status st = ST_OK;
    struct webhook_row *webhook = NULL;

    (void)n;
    (void)now;
    *ret_fate = NOTICE_SEND;
    *ret_why = "";
    if (intent->user_id != 0)
        TRY(check_user(conn, intent, ret_fate, ret_why, err));
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
        TRY(check_game(conn, intent, webhook == NULL || webhook_is_for_people(webhook->kind),
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
    return (struct notice){.bytes = buf_make(BYTES_MAX), .content_type = "", .why = ""};
}

enum status notify_compose(const struct notify *n, struct store_conn *conn,
                           const struct intent_row *intent, utc_ms now, enum notice_fate *ret_fate,
                           struct notice *ret_notice, struct err *err)
{
    struct notice notice = notice_make();
    enum notice_fate fate = NOTICE_SEND;
    enum status st;

    assert(!notify_needs_secret(intent));
    TRY(notify_check(n, conn, intent, now, &fate, &notice.why, err));
    if (fate == NOTICE_SEND) {
        if (intent->channel == CHANNEL_WEBHOOK)
            TRY(webhook_compose(n, conn, intent, now, &notice, err));
        else if (intent->game_id != 0)
            TRY(game_letter_compose(n, conn, intent, now, NULL, &notice, err));
        else
            TRY(account_letter_compose(n, conn, intent, now, NULL, "", "", &notice,
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
    int64_t id = json_integer_value(json_object_get(params, key));

    json_decref(params);
    return id;
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

enum status notify_compose_secret(const struct notify *n, struct store_txn *txn,
                                  const struct intent_row *intent, utc_ms now,
                                  enum notice_fate *ret_fate, struct notice *ret_notice,
                                  struct err *err)
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
    struct notice notice = notice_make();
    struct registration_row *registration = NULL;
    enum notice_fate fate = NOTICE_SEND;
    char secret[SECRET_SIZE] = "";
    const char *language = "";
    enum status st;

    assert(notify_needs_secret(intent));
    TRY(notify_check(n, conn, intent, now, &fate, &notice.why, err));
    if (fate == NOTICE_SEND && str_eq(intent->template_name, "invitation_address")) {
        st = mint_invitation(n, txn, intent, secret, err);
        if (st == ST_OK)
            st = game_letter_compose(n, conn, intent, now, secret, &notice, err);
    } else if (fate == NOTICE_SEND) {
        st = ST_INTERNAL;
        for (size_t i = 0; i < COUNT_OF(table); i++) {
            if (!str_eq(intent->template_name, table[i].template_name))
                continue;
            st = people_mint(n->options.people, txn, table[i].kind,
                             intent_param(intent, table[i].key), now, secret, err);
        }
        if (st == ST_OK && str_eq(intent->template_name, "register")) {
            registration = malloc(sizeof *registration);
            if (registration == NULL)
                st = err_set(err, ST_NOMEM, "a letter");
            else
                st = registrations_get(conn, intent_param(intent, "registration"), registration,
                                       err);
            language = st == ST_OK ? registration->language : "";
        }
        if (st == ST_OK)
            st = account_letter_compose(n, conn, intent, now, secret, language,
                                        registration != NULL ? registration->handle : "", &notice,
                                        err);
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
    free(registration);
    notice_release(&notice);
    return st;
}

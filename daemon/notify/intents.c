/* notify/intents.c - which notices the events of one command cause; see notify.h. */
#include "notify/notify.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/str.h"
#include "notify/internal.h"
#include "store/prefs.h"

enum {
    READERS_MAX = 12,   /* four seats, the organiser, and who is invited */
    REASONS_MAX = 48,   /* notices one command may cause for one reader before choosing */
    WEBHOOKS_MAX = 32   /* endpoints of one reader */
};
#define NOTICE_LIFE_MS (3 * MS_DAY)  /* of letters: over 48 h of retries */
/* An absence of the server that is told by a letter of its own: a restart must not write to every
 * player of every game. */
#define OUTAGE_TOLD_MS (6 * MS_HOUR)
#define WEBHOOK_LIFE_MS (5 * MS_DAY) /* the retry table takes some 76 h */

/* ---------------------------------------------------------------- classes */

bool notice_is_wanted(const struct prefs *prefs, enum notice_class cls,
                      enum notice_channel channel)
{
    enum pref pref = prefs->at[cls][channel];

    if (!notice_is_switchable(cls) || pref == PREF_DEFAULT)
        return notice_default(cls, channel);
    return pref == PREF_ON;
}

bool notice_stands_in(const struct user_row *user, const struct prefs *prefs,
                      enum notice_class cls)
{
    switch (cls) {
    case NOTICE_PLACING:
    case NOTICE_START:
    case NOTICE_TURN:
    case NOTICE_WARNING:
    case NOTICE_RESULT:
    case NOTICE_ORGANISER:
        return user->address_state == ADDRESS_SUSPENDED &&
               notice_is_wanted(prefs, cls, CHANNEL_MAIL);
    default:
        return false;
    }
}

/* Whether an endpoint takes the class. */
static bool webhook_takes(const struct webhook_row *webhook, enum notice_class cls)
{
    const char *word = notice_class_str(cls);
    size_t n = strlen(word);

    if (webhook->events[0] == '\0' || cls == NOTICE_TEST)
        return true;
    for (const char *p = webhook->events; *p != '\0';) {
        size_t length = strcspn(p, " ");

        if (length == n && memcmp(p, word, n) == 0)
            return true;
        p += length;
        p += strspn(p, " ");
    }
    return false;
}

bool webhook_is_for_people(enum webhook_kind kind)
{
    return kind != WEBHOOK_STANDARD;
}

/* The higher one is told when a command causes several for one reader. */
static int rank(enum notice_class cls)
{
    switch (cls) {
    case NOTICE_RESULT:
        return 10;
    case NOTICE_TURN:
        return 9;
    case NOTICE_START:
        return 8;
    case NOTICE_PLACING:
        return 7;
    case NOTICE_ORGANISER:
        return 6;
    case NOTICE_LEAVING:
        return 5;
    case NOTICE_MATE:
        return 4;
    case NOTICE_DRAW:
        return 3;
    case NOTICE_INVITATION:
        return 2;
    default:
        return 1;
    }
}

/* ---------------------------------------------------------------- readers and reasons */

struct reason_to_tell {
    enum notice_class cls;
    const char *template_name;
    const struct event_row *event;
};

struct reader {
    int64_t user_id;
    int seat; /* one of his, or the one he is invited to; -1 */
    struct reason_to_tell reasons[REASONS_MAX];
    size_t n_reasons;
};

/* What one call works on. */
struct telling {
    const struct notify *notify;
    struct store_txn *txn;
    const struct game_row *game;
    const struct event_row *events;
    size_t n_events;
    int64_t through;      /* seq up to which letters tell */
    const char *again;    /* "", or what makes this telling of the same another one */
    bool is_asked;        /* he has asked for it himself: whatever he has switched off */
    bool skips_mail, skips_hooks;
    char *hook_params;    /* of webhooks' intents; NULL: none */
    utc_ms now;
    struct seat_row seats[SEAT_COUNT];
    struct reader readers[READERS_MAX];
    size_t n_readers;
};

static void tell(struct telling *t, int64_t user_id, int seat, enum notice_class cls,
                 const char *template_name, const struct event_row *event)
{
    struct reader *reader = NULL;

    if (user_id == 0)
        return;
    for (size_t i = 0; i < t->n_readers && reader == NULL; i++)
        if (t->readers[i].user_id == user_id)
            reader = &t->readers[i];
    if (reader == NULL) {
        assert(t->n_readers < READERS_MAX);
        if (t->n_readers == READERS_MAX)
            return;
        reader = &t->readers[t->n_readers++];
        reader->user_id = user_id;
        reader->seat = seat;
        reader->n_reasons = 0;
    }
    if (reader->seat < 0 || cls == NOTICE_TURN)
        reader->seat = seat;
    for (size_t i = 0; i < reader->n_reasons; i++) /* two seats of one player: told once */
        if (reader->reasons[i].event == event && reader->reasons[i].cls == cls)
            return;
    if (reader->n_reasons < REASONS_MAX)
        reader->reasons[reader->n_reasons++] =
            (struct reason_to_tell){cls, template_name, event};
}

static void tell_players(struct telling *t, int64_t except, enum notice_class cls,
                         const char *template_name, const struct event_row *event)
{
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        if (t->seats[seat].user_id != except)
            tell(t, t->seats[seat].user_id, seat, cls, template_name, event);
}

static void tell_all(struct telling *t, enum notice_class cls, const char *template_name,
                     const struct event_row *event)
{
    tell_players(t, 0, cls, template_name, event);
    tell(t, t->game->organiser_id, -1, cls, template_name, event);
}

/* What an organiser or operator did: all four, also if it was one of them; the organiser, if not.
 */
static void tell_power(struct telling *t, const char *template_name, const struct event_row *event)
{
    tell_players(t, 0, NOTICE_ORGANISER, template_name, event);
    if (t->game->organiser_id != event->user_id)
        tell(t, t->game->organiser_id, -1, NOTICE_ORGANISER, template_name, event);
}

/* ---------------------------------------------------------------- invitations */

/* A letter to an address that has no account as far as we know. */
static enum status put_mailed_invitation(struct telling *t, const struct invitation_row *row,
                                         const struct event_row *event, struct err *err)
{
    struct intent_row intent = INTENT_ROW_INIT;
    unsigned char hash[ADDRESS_BLOCK_SIZE];
    bool is_blocked = false;
    char params[64];
    enum status st;

    address_block_hash(t->notify, row->address_key, hash);
    st = address_blocks_has(store_txn_conn(t->txn), hash, &is_blocked, err);
    if (st != ST_OK || is_blocked) /* he wants none; whoever invites him does not learn it */
        return st;

    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key, "invitation:%s:%" PRId64 ":mail",
                   t->game->public_id, event->seq);
    (void)snprintf(params, sizeof params, "{\"invitation\":%" PRId64 "}", row->id);
    intent.cls = NOTICE_INVITATION;
    intent.channel = CHANNEL_MAIL;
    (void)str_copy(intent.template_name, sizeof intent.template_name, "invitation_address");
    (void)str_copy(intent.address, sizeof intent.address, row->address);
    intent.game_id = t->game->id;
    intent.seat = row->seat;
    intent.event_id = event->id;
    intent.seq = event->seq;
    intent.state_no = t->game->state_no;
    intent.params = params;
    intent.due_at = t->now;
    intent.expires_at = row->expires_at;
    intent.created_at = t->now;
    return outbox_put(t->txn, &intent, NULL, err);
}

static enum status on_invited(struct telling *t, const struct event_row *event, struct err *err)
{
    struct invitation_row row;
    enum status st =
        invitations_of_seat(store_txn_conn(t->txn), t->game->id, event->seat, &row, err);

    if (st == ST_NOT_FOUND) /* answered in the same command */
        return ST_OK;
    if (st != ST_OK)
        return st;
    if (row.user_id != 0)
        tell(t, row.user_id, event->seat, NOTICE_INVITATION, "invitation", event);
    else if (row.address[0] != '\0')
        return put_mailed_invitation(t, &row, event, err);
    return ST_OK;
}

static enum status on_withdrawn(struct telling *t, const struct event_row *event, struct err *err)
{
    struct invitation_row rows[64];
    size_t n = 0;
    int64_t user_id = 0, newest = 0;
    enum status st = invitations_of_game(store_txn_conn(t->txn), t->game->id, rows,
                                         COUNT_OF(rows), &n, err);

    if (st != ST_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        if (rows[i].seat == event->seat && rows[i].state == INVITATION_WITHDRAWN &&
            rows[i].id > newest) {
            newest = rows[i].id;
            user_id = rows[i].user_id;
        }
    tell(t, user_id, event->seat, NOTICE_INVITATION, "invite_withdrawn", event);
    return ST_OK;
}

/* ---------------------------------------------------------------- events → readers */

static void on_warning(struct telling *t, const struct event_row *event)
{
    if (event->seat < 0)
        return;
    if (str_eq(event->note, "organiser"))
        tell(t, t->game->organiser_id, -1, NOTICE_WARNING, "warning_organiser", event);
    else
        tell(t, t->seats[event->seat].user_id, event->seat, NOTICE_WARNING,
             t->game->state == GAME_PLACING ? "warning_placing" : "warning", event);
}

static enum status on_event(struct telling *t, const struct event_row *e, struct err *err)
{
    int64_t organiser = t->game->organiser_id;

    switch (e->kind) {
    case GAME_EVENT_INVITED:
        return on_invited(t, e, err);
    case GAME_EVENT_INVITE_WITHDRAWN:
        return on_withdrawn(t, e, err);
    case GAME_EVENT_SEAT_LEFT:
        if (e->user_id != organiser)
            tell(t, organiser, e->seat, NOTICE_INVITATION, "seat_left", e);
        break;
    case GAME_EVENT_DECLINED:
        tell(t, organiser, e->seat, NOTICE_INVITATION, "declined", e);
        break;
    case GAME_EVENT_INVITE_EXPIRED:
        tell(t, organiser, e->seat, NOTICE_INVITATION, "invite_expired", e);
        break;
    case GAME_EVENT_PLACING:
        for (int seat = 0; seat < SEAT_COUNT; seat++)
            if (t->seats[seat].placement[0] == '\0')
                tell(t, t->seats[seat].user_id, seat, NOTICE_PLACING, "placing", e);
        break;
    case GAME_EVENT_STARTED:
        tell_players(t, 0, NOTICE_START, "started", e);
        break;
    case GAME_EVENT_TURN:
        if (t->game->state == GAME_RUNNING && t->game->turn_seat == e->seat)
            tell(t, t->game->turn_user_id, e->seat, NOTICE_TURN, "turn", e);
        break;
    case GAME_EVENT_MATED:
        tell_players(t, 0, NOTICE_MATE, "mated", e);
        break;
    case GAME_EVENT_RELEASED:
        tell_players(t, 0, NOTICE_MATE, "released", e);
        break;
    case GAME_EVENT_RESIGNED:
        tell_players(t, e->user_id, NOTICE_LEAVING, "resigned", e);
        break;
    case GAME_EVENT_FORFEITED:
        tell_all(t, NOTICE_LEAVING, "forfeited", e);
        break;
    case GAME_EVENT_DRAW_OFFERED:
        tell_players(t, e->user_id, NOTICE_DRAW, "draw_offered", e);
        break;
    case GAME_EVENT_DRAW_ACCEPTED:
        tell_players(t, e->user_id, NOTICE_DRAW, "draw_accepted", e);
        break;
    case GAME_EVENT_DRAW_DECLINED:
        tell_players(t, e->user_id, NOTICE_DRAW, "draw_declined", e);
        break;
    case GAME_EVENT_DRAW_LAPSED:
        tell_players(t, e->user_id, NOTICE_DRAW, "draw_lapsed", e);
        break;
    case GAME_EVENT_FINISHED:
        tell_all(t, NOTICE_RESULT, "finished", e);
        break;
    case GAME_EVENT_ABORTED:
        tell_power(t, "aborted", e);
        break;
    case GAME_EVENT_PAUSED:
        tell_power(t, "paused", e);
        break;
    case GAME_EVENT_RESUMED:
        tell_power(t, "resumed", e);
        break;
    case GAME_EVENT_CREDITED:
        tell_power(t, "credited", e);
        break;
    case GAME_EVENT_OUTAGE_CREDITED: /* a short one stands in the next letter */
        if (e->amount_ms >= OUTAGE_TOLD_MS)
            tell_all(t, NOTICE_ORGANISER, "outage_credited", e);
        break;
    case GAME_EVENT_WARNING:
        on_warning(t, e);
        break;
    case GAME_EVENT_CREATED:
    case GAME_EVENT_SEAT_TAKEN:
    case GAME_EVENT_PLACED:
    case GAME_EVENT_MOVE:
    case GAME_EVENT_REMOVED:     /* follows a mate */
    case GAME_EVENT_PASSED:      /* stands in the next mover's letter */
    case GAME_EVENT_DRAW_CLAIMED: /* a result follows */
    case GAME_EVENT_ADJUDICATED: /* a result follows */
    case GAME_EVENT_LATE:
    case GAME_EVENT_DELIVERY_CREDITED: /* stands in the next letter */
    case GAME_EVENT_COUNT_:
        break;
    }
    return ST_OK;
}

/* ---------------------------------------------------------------- readers → intents */

static void intent_fill(const struct telling *t, const struct reader *reader,
                        const struct reason_to_tell *why, struct intent_row *intent)
{
    intent->cls = why->cls;
    (void)str_copy(intent->template_name, sizeof intent->template_name, why->template_name);
    intent->user_id = reader->user_id;
    intent->game_id = t->game->id;
    intent->seat = reader->seat;
    intent->event_id = why->event->id;
    intent->seq = why->event->seq;
    intent->state_no = t->game->state_no;
    intent->due_at = t->now;
    intent->created_at = t->now;
}

/* Whether a notice of the class passes, by mail (webhook NULL) or to the endpoint. */
static bool passes(const struct telling *t, const struct user_row *user, const struct prefs *prefs,
                   const struct webhook_row *webhook, enum notice_class cls)
{
    if (webhook == NULL)
        return t->is_asked || notice_is_wanted(prefs, cls, CHANNEL_MAIL);
    return notice_stands_in(user, prefs, cls) ||
           (notice_is_wanted(prefs, cls, CHANNEL_WEBHOOK) && webhook_takes(webhook, cls));
}

/* The highest of the reasons that pass. */
static const struct reason_to_tell *choose(const struct telling *t, const struct reader *reader,
                                           const struct user_row *user, const struct prefs *prefs,
                                           const struct webhook_row *webhook)
{
    const struct reason_to_tell *best = NULL;

    for (size_t i = 0; i < reader->n_reasons; i++) {
        const struct reason_to_tell *r = &reader->reasons[i];

        if (passes(t, user, prefs, webhook, r->cls) &&
            (best == NULL || rank(r->cls) > rank(best->cls)))
            best = r;
    }
    return best;
}

/* What is still news when whatever came with it is too late. */
static bool is_lasting(enum notice_class cls)
{
    return cls == NOTICE_LEAVING || cls == NOTICE_MATE || cls == NOTICE_DRAW ||
           cls == NOTICE_ORGANISER || cls == NOTICE_RESULT;
}

/* The other reasons that pass, highest first: should the chosen one come too late, these are still
 * to be told (notify_instead()).  The caller decrefs. */
static json_t *others(const struct telling *t, const struct reader *reader,
                      const struct user_row *user, const struct prefs *prefs,
                      const struct reason_to_tell *chosen)
{
    json_t *list = json_array();

    for (int level = rank(chosen->cls); level > 0; level--)
        for (size_t i = 0; i < reader->n_reasons; i++) {
            const struct reason_to_tell *r = &reader->reasons[i];

            if (r == chosen || rank(r->cls) != level || !is_lasting(r->cls) ||
                !passes(t, user, prefs, NULL, r->cls))
                continue;
            (void)json_array_append_new(
                list, json_pack("[s, s, I, I]", notice_class_str(r->cls), r->template_name,
                                (json_int_t)r->event->id, (json_int_t)r->event->seq));
        }
    return list;
}

/* Keys begin with the event's number, so that new ones stand together in the index. */
static void mail_key(struct intent_row *intent, const char *public_id, const char *again)
{
    (void)snprintf(intent->dedupe_key, sizeof intent->dedupe_key,
                   "%012" PRId64 ":%s:%s:%" PRId64 ":%" PRId64 ":mail%s", intent->event_id,
                   notice_class_str(intent->cls), public_id, intent->seq, intent->user_id, again);
}

static enum status put_mail(struct telling *t, const struct reader *reader,
                            const struct user_row *user, const struct prefs *prefs,
                            struct err *err)
{
    const struct reason_to_tell *why = choose(t, reader, user, prefs, NULL);
    struct intent_row intent = INTENT_ROW_INIT;
    json_t *params;
    enum status st;

    if (why == NULL || t->skips_mail || user->address[0] == '\0' ||
        user->verified_at == UTC_NONE || user->address_state == ADDRESS_SUSPENDED)
        return ST_OK;
    intent_fill(t, reader, why, &intent);
    intent.channel = CHANNEL_MAIL;
    params = json_pack("{s:I, s:b, s:o}", "through", (json_int_t)t->through, "asked",
                       (int)t->is_asked, "else", others(t, reader, user, prefs, why));
    intent.params = params != NULL ? json_dumps(params, JSON_COMPACT) : NULL;
    json_decref(params);
    if (intent.params == NULL)
        return err_set(err, ST_NOMEM, "a letter");
    intent.expires_at = t->now + NOTICE_LIFE_MS;
    mail_key(&intent, t->game->public_id, t->again);
    st = outbox_put(t->txn, &intent, NULL, err);
    free(intent.params);
    return st;
}

/* Whether what a superseded letter should have told besides is told by nothing else: its reader
 * made the move that it asked for before it went, or he has switched such letters off.  Else a
 * newer letter of the same turn, or of the game's end, tells it. */
static enum status is_untold(struct store_conn *conn, const struct game_row *game,
                             const struct intent_row *late, bool *ret, struct err *err)
{
    struct event_row event = EVENT_ROW_INIT;
    struct move_row *move = NULL;
    enum status st;

    *ret = game->state == GAME_RUNNING && game->turn_user_id == late->user_id &&
           game->state_no == late->state_no;
    TRY_OUT(events_get(conn, late->game_id, late->seq, &event, err));
    if (*ret || game->ply <= event.ply)
        goto out;
    move = malloc(sizeof *move);
    if (move == NULL) {
        st = err_set(err, ST_NOMEM, "a letter");
        goto out;
    }
    TRY_OUT(moves_get(conn, late->game_id, event.ply + 1, move, err));
    *ret = move->seat == late->seat;
out:
    free(move);
    return st;
}

enum status notify_instead(struct store_txn *txn, const struct intent_row *late, utc_ms now,
                           struct err *err)
{
    json_t *params = late->params != NULL ? json_loads(late->params, 0, NULL) : NULL;
    json_t *list = json_object_get(params, "else");
    const char *cls = NULL, *template_name = NULL;
    json_int_t event_id = 0, seq = 0;
    struct intent_row intent = INTENT_ROW_INIT;
    struct game_row *game = NULL;
    bool is_wanted = false;
    enum status st = ST_OK;

    if (late->channel != CHANNEL_MAIL || late->game_id == 0 || late->user_id == 0 ||
        json_unpack(json_array_get(list, 0), "[s, s, I, I]", &cls, &template_name, &event_id,
                    &seq) != 0 ||
        !notice_class_parse(cls, &intent.cls))
        goto out;
    game = malloc(sizeof *game);
    if (game == NULL) {
        st = err_set(err, ST_NOMEM, "a letter");
        goto out;
    }
    TRY_OUT(games_get(store_txn_conn(txn), late->game_id, game, err));
    TRY_OUT(is_untold(store_txn_conn(txn), game, late, &is_wanted, err));
    if (!is_wanted)
        goto out;
    (void)str_copy(intent.template_name, sizeof intent.template_name, template_name);
    (void)json_array_remove(list, 0); /* its strings with it */
    (void)json_object_del(params, "asked");
    intent.params = json_dumps(params, JSON_COMPACT);
    if (intent.params == NULL) {
        st = err_set(err, ST_NOMEM, "a letter");
        goto out;
    }
    intent.channel = CHANNEL_MAIL;
    intent.user_id = late->user_id;
    intent.game_id = late->game_id;
    intent.seat = late->seat;
    intent.event_id = (int64_t)event_id;
    intent.seq = (int64_t)seq;
    intent.state_no = late->state_no;
    intent.due_at = intent.created_at = now;
    intent.expires_at = now + NOTICE_LIFE_MS;
    mail_key(&intent, game->public_id, "");
    st = outbox_put(txn, &intent, NULL, err);
out:
    free(intent.params);
    free(game);
    json_decref(params);
    return st;
}

/* FNV-1a: names an endpoint shortly, so that one that several players share gets an event once. */
static uint64_t endpoint_hash(const struct webhook_row *webhook)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)webhook->kind;

    for (const unsigned char *p = (const unsigned char *)webhook->url; *p != '\0'; p++)
        h = (h ^ *p) * UINT64_C(0x100000001b3);
    return h;
}

static enum status put_hook(struct telling *t, const struct reader *reader,
                            const struct webhook_row *webhook, const struct reason_to_tell *why,
                            struct err *err)
{
    struct intent_row intent = INTENT_ROW_INIT;

    intent_fill(t, reader, why, &intent);
    intent.channel = CHANNEL_WEBHOOK;
    intent.webhook_id = webhook->id;
    if (t->hook_params != NULL)
        intent.params = t->hook_params;
    intent.expires_at = t->now + WEBHOOK_LIFE_MS;
    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key,
                   "%012" PRId64 ":%s:%s:%" PRId64 ":hook:%016" PRIx64 "%s", why->event->id,
                   notice_class_str(why->cls), t->game->public_id, why->event->seq,
                   endpoint_hash(webhook), t->again);
    return outbox_put(t->txn, &intent, NULL, err);
}

static enum status put_hooks(struct telling *t, const struct reader *reader,
                             const struct user_row *user, const struct prefs *prefs,
                             struct err *err)
{
    struct webhook_row *webhooks = NULL;
    size_t n = 0;
    enum status st = ST_OK;

    if (t->skips_hooks)
        return ST_OK;
    webhooks = malloc(sizeof *webhooks);
    if (webhooks == NULL)
        return err_set(err, ST_NOMEM, "webhooks");
    /* Most have none, and room for all that one may have is large: look for one first. */
    TRY_OUT(webhooks_of_user(store_txn_conn(t->txn), reader->user_id, webhooks, 1, &n, err));
    if (n == 0)
        goto out;
    free(webhooks);
    webhooks = calloc(WEBHOOKS_MAX, sizeof *webhooks);
    if (webhooks == NULL)
        return err_set(err, ST_NOMEM, "webhooks");
    TRY_OUT(webhooks_of_user(store_txn_conn(t->txn), reader->user_id, webhooks, WEBHOOKS_MAX, &n,
                             err));
    for (size_t i = 0; i < n; i++) {
        const struct webhook_row *w = &webhooks[i];

        if (w->state != WEBHOOK_ON)
            continue;
        if (webhook_is_for_people(w->kind)) {
            const struct reason_to_tell *why = choose(t, reader, user, prefs, w);

            if (why != NULL)
                TRY_OUT(put_hook(t, reader, w, why, err));
            continue;
        }
        for (size_t k = 0; k < reader->n_reasons; k++)
            if (passes(t, user, prefs, w, reader->reasons[k].cls))
                TRY_OUT(put_hook(t, reader, w, &reader->reasons[k], err));
    }
out:
    free(webhooks);
    return st;
}

static enum status put_all(struct telling *t, const struct reader *reader, struct err *err)
{
    struct store_conn *conn = store_txn_conn(t->txn);
    struct user_row user;
    struct prefs prefs;

    TRY(users_get(conn, reader->user_id, &user, err));
    if (user.disabled_at != UTC_NONE)
        return ST_OK;
    TRY(prefs_get(conn, reader->user_id, &prefs, err));
    TRY(put_mail(t, reader, &user, &prefs, err));
    return put_hooks(t, reader, &user, &prefs, err);
}

static struct telling *telling_new(const struct notify *n, struct store_txn *txn,
                                   const struct game_row *game, const struct event_row *events,
                                   size_t n_events, utc_ms now)
{
    struct telling *t = calloc(1, sizeof *t);

    if (t == NULL)
        return NULL;
    t->notify = n;
    t->txn = txn;
    t->game = game;
    t->events = events;
    t->n_events = n_events;
    t->through = events[n_events - 1].seq;
    t->again = "";
    t->now = now;
    return t;
}

/* Another's resignation and the like: the same turn of a game that is another one.  The letter of
 * this turn that is out cannot be answered any more, so there is a new one. */
static void tell_changed_turn(struct telling *t)
{
    for (size_t i = 0; t->game->state == GAME_RUNNING && i < t->n_events; i++)
        if (t->events[i].seq == t->game->state_no && t->events[i].kind != GAME_EVENT_TURN)
            tell(t, t->game->turn_user_id, t->game->turn_seat, NOTICE_TURN, "turn",
                 &t->events[i]);
}

enum status notify_on_events(struct store_txn *txn, const struct game_row *game,
                             const struct seat_row *seats, const struct event_row *events,
                             size_t n, utc_ms now, void *arg, struct err *err)
{
    struct telling *t = n > 0 ? telling_new(arg, txn, game, events, n, now) : NULL;
    bool has_turn_passed = false, has_begun = false;
    enum status st = ST_OK;

    if (n == 0)
        return ST_OK;
    if (t == NULL)
        return err_set(err, ST_NOMEM, "notices");
    memcpy(t->seats, seats, sizeof t->seats);
    for (size_t i = 0; i < n; i++) {
        TRY_OUT(on_event(t, &events[i], err));
        if (events[i].kind == GAME_EVENT_TURN || events[i].kind == GAME_EVENT_FINISHED ||
            events[i].kind == GAME_EVENT_ABORTED)
            has_turn_passed = true;
        if (events[i].kind == GAME_EVENT_PLACING || events[i].kind == GAME_EVENT_STARTED)
            has_begun = true;
    }
    tell_changed_turn(t);
    /* What still waits to be said about an earlier state is too late.  Letters of turns are looked
     * at by the courier, now: they may have had something else to tell. */
    TRY_OUT(outbox_hurry_game(txn, game->id, NOTICE_TURN, game->state_no, now, NULL, err));
    if (has_turn_passed)
        TRY_OUT(outbox_supersede_warnings(txn, game->id, game->state_no, now, NULL, err));
    for (size_t i = 0; i < t->n_readers; i++)
        TRY_OUT(put_all(t, &t->readers[i], err));
    if (has_begun)
        TRY_OUT(notify_on_begun(arg, txn, game, seats, now, err));
out:
    free(t);
    return st;
}

enum status notice_put(const struct notify *n, struct store_txn *txn, const struct game_row *game,
                       const struct event_row *event, const struct notice_wish *wish, utc_ms now,
                       struct err *err)
{
    struct telling *t = telling_new(n, txn, game, event, 1, now);
    enum status st = ST_OK;

    if (t == NULL)
        return err_set(err, ST_NOMEM, "notices");
    t->through = game->last_seq;
    t->again = wish->again;
    t->is_asked = wish->is_asked;
    t->skips_mail = wish->skips_mail;
    t->skips_hooks = wish->skips_hooks;
    t->hook_params = wish->params;
    TRY_OUT(seats_get(store_txn_conn(txn), game->id, t->seats, err));
    tell(t, wish->user_id, wish->seat, wish->cls, wish->template_name, event);
    if (t->n_readers > 0)
        TRY_OUT(put_all(t, &t->readers[0], err));
out:
    free(t);
    return st;
}

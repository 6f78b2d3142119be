/* notify/intents.c - which notices the events of one command cause; see notify.h. */
#include "notify/notify.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool notice_is_switchable(enum notice_class cls)
{
    return cls != NOTICE_LOGIN && cls != NOTICE_SECURITY && cls != NOTICE_TEST;
}

bool notice_default(enum notice_class cls, enum notice_channel channel)
{
    if (channel == CHANNEL_WEBHOOK)
        return cls != NOTICE_LOGIN && cls != NOTICE_SECURITY && cls != NOTICE_WEBHOOK_DISABLED;
    return cls != NOTICE_TEST;
}

bool notice_is_wanted(const struct prefs *prefs, enum notice_class cls,
                      enum notice_channel channel)
{
    enum pref pref = prefs->at[cls][channel];

    if (!notice_is_switchable(cls) || pref == PREF_DEFAULT)
        return notice_default(cls, channel);
    return pref == PREF_ON;
}

bool webhook_takes(const struct webhook_row *webhook, enum notice_class cls)
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
    struct store_txn *txn;
    const struct game_row *game;
    const struct event_row *events;
    size_t n_events;
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
    char params[64];

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

/* The highest of the reasons that pass. */
static const struct reason_to_tell *choose(const struct reader *reader, const struct prefs *prefs,
                                           enum notice_channel channel,
                                           const struct webhook_row *webhook)
{
    const struct reason_to_tell *best = NULL;

    for (size_t i = 0; i < reader->n_reasons; i++) {
        const struct reason_to_tell *r = &reader->reasons[i];

        if (!notice_is_wanted(prefs, r->cls, channel) ||
            (webhook != NULL && !webhook_takes(webhook, r->cls)))
            continue;
        if (best == NULL || rank(r->cls) > rank(best->cls))
            best = r;
    }
    return best;
}

static enum status put_mail(struct telling *t, const struct reader *reader,
                            const struct user_row *user, const struct prefs *prefs,
                            struct err *err)
{
    const struct reason_to_tell *why = choose(reader, prefs, CHANNEL_MAIL, NULL);
    struct intent_row intent = INTENT_ROW_INIT;
    char params[64];

    if (why == NULL || user->address[0] == '\0' || user->verified_at == UTC_NONE ||
        user->address_state == ADDRESS_SUSPENDED)
        return ST_OK;
    intent_fill(t, reader, why, &intent);
    intent.channel = CHANNEL_MAIL;
    (void)snprintf(params, sizeof params, "{\"through\":%" PRId64 "}",
                   t->events[t->n_events - 1].seq);
    intent.params = params;
    intent.expires_at = t->now + NOTICE_LIFE_MS;
    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key, "%s:%s:%" PRId64 ":%" PRId64
                   ":mail", notice_class_str(why->cls), t->game->public_id, why->event->seq,
                   reader->user_id);
    return outbox_put(t->txn, &intent, NULL, err);
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
    intent.expires_at = t->now + WEBHOOK_LIFE_MS;
    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key,
                   "%s:%s:%" PRId64 ":hook:%016" PRIx64, notice_class_str(why->cls),
                   t->game->public_id, why->event->seq,
                   endpoint_hash(webhook));
    return outbox_put(t->txn, &intent, NULL, err);
}

static enum status put_hooks(struct telling *t, const struct reader *reader,
                             const struct prefs *prefs, struct err *err)
{
    struct webhook_row *webhooks = NULL;
    size_t n = 0;
    enum status st = ST_OK;

    webhooks = calloc(WEBHOOKS_MAX, sizeof *webhooks);
    if (webhooks == NULL)
        return err_set(err, ST_NOMEM, "webhooks");
    TRY(webhooks_of_user(store_txn_conn(t->txn), reader->user_id, webhooks, WEBHOOKS_MAX, &n,
                         err));
    for (size_t i = 0; i < n; i++) {
        const struct webhook_row *w = &webhooks[i];

        if (w->state != WEBHOOK_ON)
            continue;
        if (webhook_is_for_people(w->kind)) {
            const struct reason_to_tell *why = choose(reader, prefs, CHANNEL_WEBHOOK, w);

            if (why != NULL)
                TRY(put_hook(t, reader, w, why, err));
            continue;
        }
        for (size_t k = 0; k < reader->n_reasons; k++)
            if (notice_is_wanted(prefs, reader->reasons[k].cls, CHANNEL_WEBHOOK) &&
                webhook_takes(w, reader->reasons[k].cls))
                TRY(put_hook(t, reader, w, &reader->reasons[k], err));
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
    enum status st;

    TRY(users_get(conn, reader->user_id, &user, err));
    if (user.disabled_at != UTC_NONE)
        goto out;
    TRY(prefs_get(conn, reader->user_id, &prefs, err));
    TRY(put_mail(t, reader, &user, &prefs, err));
    TRY(put_hooks(t, reader, &prefs, err));
out:
    return st;
}

enum status notify_on_events(struct store_txn *txn, const struct game_row *game,
                             const struct event_row *events, size_t n, utc_ms now, void *arg,
                             struct err *err)
{
    struct telling *t = NULL;
    bool has_turn_passed = false;
    enum status st = ST_OK;

    (void)arg;
    t = calloc(1, sizeof *t);
    if (t == NULL)
        return err_set(err, ST_NOMEM, "notices");
    t->txn = txn;
    t->game = game;
    t->events = events;
    t->n_events = n;
    t->now = now;
    TRY(seats_get(store_txn_conn(txn), game->id, t->seats, err));
    for (size_t i = 0; i < n; i++) {
        TRY(on_event(t, &events[i], err));
        if (events[i].kind == GAME_EVENT_TURN || events[i].kind == GAME_EVENT_FINISHED ||
            events[i].kind == GAME_EVENT_ABORTED)
            has_turn_passed = true;
    }
    if (has_turn_passed) { /* what still waits to be said about the turn before is too late */
        TRY(outbox_supersede_game(txn, game->id, NOTICE_TURN, game->state_no, now, NULL, err));
        TRY(outbox_supersede_game(txn, game->id, NOTICE_WARNING, game->state_no, now, NULL, err));
    }
    for (size_t i = 0; i < t->n_readers; i++)
        TRY(put_all(t, &t->readers[i], err));
out:
    free(t);
    return st;
}

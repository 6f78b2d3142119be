/* notify/reach.c - addresses that fail and come back, and letters that are asked for again; see
 * notify.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "notify/internal.h"

enum { GAMES_AT_ONCE = 16, EVENTS_AT_ONCE = 64, AGAIN_SIZE = 64 };
#define UNREACHABLE_LIFE_MS (3 * MS_DAY)

/* ---------------------------------------------------------------- what a game waits for */

/* What a user has to do in a game now, and the event that made it so. */
struct duty {
    enum notice_class cls;
    const char *template_name;
    int seat;
    struct event_row event;
};

/* The event that began the placing. */
static enum status placing_event(struct store_conn *conn, int64_t game_id, struct event_row *ret,
                                 struct err *err)
{
    struct event_row *rows = calloc(EVENTS_AT_ONCE, sizeof *rows);
    int64_t since = 0;
    size_t n = 0;
    enum status st = ST_OK;

    if (rows == NULL)
        return err_set(err, ST_NOMEM, "events");
    do {
        TRY_OUT(events_of_game(conn, game_id, since, rows, EVENTS_AT_ONCE, &n, err));
        for (size_t i = 0; i < n; i++) {
            if (rows[i].kind == GAME_EVENT_PLACING) {
                *ret = rows[i];
                goto out;
            }
            since = rows[i].seq;
        }
    } while (n == EVENTS_AT_ONCE);
    st = err_reason(err, REASON_NOT_FOUND, "no placing has begun");
out:
    free(rows);
    return st;
}

/* ST_NOT_FOUND: the game does not wait for him. */
static enum status duty_of(struct store_conn *conn, const struct game_row *game, int64_t user_id,
                           struct duty *ret, struct err *err)
{
    struct seat_row seats[SEAT_COUNT];
    enum status st;

    if (game->state == GAME_RUNNING && game->turn_user_id == user_id) {
        *ret = (struct duty){NOTICE_TURN, "turn", game->turn_seat, EVENT_ROW_INIT};
        return events_get(conn, game->id, game->state_no, &ret->event, err);
    }
    if (game->state == GAME_PLACING) {
        st = seats_get(conn, game->id, seats, err);
        if (st != ST_OK)
            return st;
        for (int seat = 0; seat < SEAT_COUNT; seat++)
            if (seats[seat].user_id == user_id && seats[seat].placement[0] == '\0') {
                *ret = (struct duty){NOTICE_PLACING, "placing", seat, EVENT_ROW_INIT};
                return placing_event(conn, game->id, &ret->event, err);
            }
    }
    return err_reason(err, REASON_NOT_FOUND, "the game does not wait for this player");
}

/* ---------------------------------------------------------------- all games of a user */

struct walk {
    const struct notify *notify;
    struct store_txn *txn;
    const struct user_row *user;
    utc_ms now;
    const char *again;
    enum status (*each)(struct walk *w, const struct game_row *game, struct err *err);
};

static enum status walk_games(struct walk *w, struct err *err)
{
    struct store_conn *conn = store_txn_conn(w->txn);
    struct game_brief *rows = calloc(GAMES_AT_ONCE, sizeof *rows);
    struct game_row *game = malloc(sizeof *game);
    struct game_filter filter = GAME_FILTER_INIT;
    struct game_cursor from = {0};
    enum status st = ST_OK;

    if (rows == NULL || game == NULL) {
        st = err_set(err, ST_NOMEM, "games");
        goto out;
    }
    filter.player_id = filter.viewer_id = w->user->id;
    filter.over = 0;
    do {
        size_t n = 0;

        TRY_OUT(games_list(conn, &filter, &from, rows, GAMES_AT_ONCE, &n, &from, err));
        for (size_t i = 0; i < n; i++) {
            if (rows[i].state != GAME_RUNNING && rows[i].state != GAME_PLACING)
                continue;
            TRY_OUT(games_get(conn, rows[i].id, game, err));
            TRY_OUT(w->each(w, game, err));
        }
    } while (from.id != 0);
out:
    free(rows);
    free(game);
    return st;
}

/* ---------------------------------------------------------------- suspended */

/* To one who has to know, once a game, by letter and by those of his webhooks that take such:
 * neutrally, and without the address.  template_name tells organiser and partner apart. */
static enum status tell_of(struct walk *w, const struct game_row *game, int seat, int64_t user_id,
                           enum notice_class cls, const char *template_name, struct err *err)
{
    const struct event_row none = EVENT_ROW_INIT; /* no event of the game tells of it */
    struct intent_row intent = INTENT_ROW_INIT;
    char params[80], once[AGAIN_SIZE];
    enum status st;

    if (user_id == 0 || user_id == w->user->id)
        return ST_OK;
    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key, "%s:%s:%" PRId64 ":mail",
                   template_name, game->public_id, w->user->id);
    (void)snprintf(params, sizeof params, "{\"through\":%" PRId64 ",\"of\":%d}", game->last_seq,
                   seat);
    (void)snprintf(once, sizeof once, ":%s:%" PRId64, template_name, w->user->id);
    intent.cls = cls;
    intent.channel = CHANNEL_MAIL;
    (void)str_copy(intent.template_name, sizeof intent.template_name, template_name);
    intent.user_id = user_id;
    intent.game_id = game->id;
    intent.seq = game->last_seq;
    intent.state_no = game->state_no;
    intent.params = params;
    intent.due_at = intent.created_at = w->now;
    intent.expires_at = w->now + UNREACHABLE_LIFE_MS;
    st = outbox_put(w->txn, &intent, NULL, err);
    if (st == ST_OK)
        st = notice_put(w->notify, w->txn, game, &none,
                        &(struct notice_wish){.user_id = user_id, .seat = -1, .cls = cls,
                                              .template_name = template_name, .again = once,
                                              .skips_mail = true, .params = params},
                        w->now, err);
    return st;
}

/* N9: the organiser, who can give time, and the partner, whose side it is that may lose on time. */
static enum status tell_others(struct walk *w, const struct game_row *game,
                               const struct seat_row seats[SEAT_COUNT], int seat, struct err *err)
{
    const struct seat_row *partner = &seats[seat_partner((enum seat)seat)];
    enum status st =
        tell_of(w, game, seat, game->organiser_id, NOTICE_ORGANISER, "unreachable", err);

    if (st == ST_OK && partner->user_id != game->organiser_id && partner->left_how == SEAT_STAYED)
        st = tell_of(w, game, seat, partner->user_id, NOTICE_LEAVING, "unreachable_partner", err);
    return st;
}

static enum status each_suspended(struct walk *w, const struct game_row *game, struct err *err)
{
    struct store_conn *conn = store_txn_conn(w->txn);
    struct seat_row seats[SEAT_COUNT];
    struct duty duty;
    int mine = -1;
    enum status st;

    TRY(seats_get(conn, game->id, seats, err));
    for (int seat = SEAT_COUNT - 1; seat >= 0; seat--)
        if (seats[seat].user_id == w->user->id && seats[seat].left_how == SEAT_STAYED)
            mine = seat;
    if (mine < 0) /* he has no men in it any more */
        return ST_OK;
    TRY(tell_others(w, game, seats, mine, err));
    st = duty_of(conn, game, w->user->id, &duty, err);
    if (st == ST_OK)
        st = notice_put(w->notify, w->txn, game, &duty.event,
                        &(struct notice_wish){.user_id = w->user->id, .seat = duty.seat,
                                              .cls = duty.cls,
                                              .template_name = duty.template_name, .again = "",
                                              .skips_mail = true},
                        w->now, err);
    else if (st == ST_NOT_FOUND)
        st = ST_OK;
    return st;
}

enum status notify_on_suspended(struct store_txn *txn, int64_t user_id, utc_ms now, void *arg,
                                struct err *err)
{
    struct user_row user;
    struct walk w = {.notify = arg, .txn = txn, .user = &user, .now = now,
                     .each = each_suspended};
    enum status st = users_get(store_txn_conn(txn), user_id, &user, err);

    return st == ST_OK ? walk_games(&w, err) : st;
}

enum status notify_on_begun(const struct notify *notify, struct store_txn *txn,
                            const struct game_row *game,
                            const struct seat_row seats[SEAT_COUNT], utc_ms now, struct err *err)
{
    struct user_row user;
    struct walk w = {.notify = notify, .txn = txn, .user = &user, .now = now};
    enum status st = ST_OK;

    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        if (seats[seat].user_id == 0)
            continue;
        TRY_OUT(users_get(store_txn_conn(txn), seats[seat].user_id, &user, err));
        if (user.address_state == ADDRESS_SUSPENDED)
            TRY_OUT(tell_others(&w, game, seats, seat, err)); /* of two seats of his: once */
    }
out:
    return st;
}

/* ---------------------------------------------------------------- reached */

/* The letter of what is his to do now, unless one waits. */
static enum status each_reached(struct walk *w, const struct game_row *game, struct err *err)
{
    struct store_conn *conn = store_txn_conn(w->txn);
    struct intent_row before = INTENT_ROW_INIT;
    struct duty duty;
    enum status st = duty_of(conn, game, w->user->id, &duty, err);

    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st != ST_OK)
        return st;
    st = outbox_find_mail(conn, duty.event.id, w->user->id, duty.cls, game->state_no, &before, err);
    if (st == ST_OK && (before.state == OUTBOX_QUEUED || before.state == OUTBOX_LEASED))
        return ST_OK;
    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    return notice_put(w->notify, w->txn, game, &duty.event,
                      &(struct notice_wish){.user_id = w->user->id, .seat = duty.seat,
                                            .cls = duty.cls,
                                            .template_name = duty.template_name,
                                            .again = w->again, .skips_hooks = true},
                      w->now, err);
}

enum status notify_on_new_address(struct store_txn *txn, int64_t user_id, utc_ms now, void *arg,
                                  struct err *err)
{
    char again[AGAIN_SIZE];
    struct user_row user;
    struct walk w = {.notify = arg, .txn = txn, .user = &user, .now = now, .again = again,
                     .each = each_reached};

    (void)snprintf(again, sizeof again, ":reached:%" PRId64, now);
    TRY(users_get(store_txn_conn(txn), user_id, &user, err));
    TRY(outbox_hurry_user(txn, user_id, now, NULL, err));
    return walk_games(&w, err);
}

enum status notify_on_reached(struct store_txn *txn, int64_t user_id, utc_ms now, void *arg,
                              struct err *err)
{
    struct user_row user;
    bool was_suspended;

    TRY(users_get(store_txn_conn(txn), user_id, &user, err));
    was_suspended = user.address_state == ADDRESS_SUSPENDED;
    if (!was_suspended && user.bounces == 0)
        return ST_OK;
    TRY(users_reached(txn, user_id, now, err));
    return was_suspended ? notify_on_new_address(txn, user_id, now, arg, err) : ST_OK;
}

/* ---------------------------------------------------------------- asked for again */

enum status notify_turn_again(struct store_txn *txn, const struct game_row *game, int64_t user_id,
                              utc_ms now, void *arg, struct err *err)
{
    char again[AGAIN_SIZE];
    struct user_row user;
    struct duty duty;

    (void)snprintf(again, sizeof again, ":again:%" PRId64, now);
    TRY(users_get(store_txn_conn(txn), user_id, &user, err));
    if (user.address[0] == '\0' || user.verified_at == UTC_NONE ||
        user.address_state == ADDRESS_SUSPENDED || user.disabled_at != UTC_NONE)
        return err_reason(err, REASON_NOT_FOUND, "there is no address to send it to");
    TRY(duty_of(store_txn_conn(txn), game, user_id, &duty, err));
    return notice_put(arg, txn, game, &duty.event,
                      &(struct notice_wish){.user_id = user_id, .seat = duty.seat,
                                            .cls = duty.cls,
                                            .template_name = duty.template_name, .again = again,
                                            .is_asked = true, .skips_hooks = true},
                      now, err);
}

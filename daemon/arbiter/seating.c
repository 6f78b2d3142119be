#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/access.h"
#include "arbiter/desk.h"
#include "base/str.h"

enum {
    INVITATIONS_MAX = 256,
    PUBLIC_ID_TRIES = 16,
    ADDRESS_PENDING_MAX = 10,   /* invitations to an address that wait for its answer … */
    ADDRESS_PENDING_FROM = 3,   /* … from one account */
    ADDRESS_DAY_MAX = 10,       /* invitations to an address in a day, whatever became of them … */
    ADDRESS_DAY_FROM = 5        /* … from one account */
};

/* ---------------------------------------------------------------- who may sit where */

/* Someone who has, or is offered, a seat already may have the partner's beside it, no other.
 * who: his handle; NULL: it is not told. */
static enum status fits(int seat, const bool is_his[SEATS], const char *who,
                        struct err *err)
{
    for (int s = 0; s < SEATS; s++) {
        if (!is_his[s] || s == seat || !seats_are_enemies((enum seat)s, (enum seat)seat))
            continue;
        if (!who)
            return ERR_DETAIL(err, REASON_ALREADY_SEATED, "refusal.against_oneself",
                              "the same player has the seat {seat}; nobody plays against himself",
                              ERR_SEAT("seat", s));
        return ERR_DETAIL(err, REASON_ALREADY_SEATED, "refusal.has_seat",
                          "{who} has the seat {seat}; nobody plays against himself",
                          ERR_TEXT("who", who), ERR_SEAT("seat", s));
    }
    return ST_OK;
}

/* The seats that a user holds or is invited to by his account. */
static enum status seats_meant_for(struct desk *d, int64_t user_id, bool ret_is_his[SEATS],
                                   struct err *err)
{
    struct invitation_row invitation;

    for (int s = 0; s < SEATS; s++) {
        ret_is_his[s] = (desk_seats_of(d, user_id) >> s & 1u) != 0;
        if (d->seats[s].state != SEAT_INVITED)
            continue;
        enum status st = invitations_of_seat(d->conn, d->game.id, s, &invitation, err);
        if (st == ST_NOT_FOUND)
            continue;
        if (st != ST_OK)
            return st;
        if (invitation.user_id == user_id)
            ret_is_his[s] = true;
    }
    return ST_OK;
}

static enum status needs_account(const struct desk *d, struct err *err)
{
    if (d->actor.user_id == 0)
        return err_detail(err, REASON_LOGIN_NEEDED, "refusal.account_needed",
                          "this needs an account");
    return ST_OK;
}

static enum status needs_open(const struct desk *d, struct err *err)
{
    switch (d->game.state) {
    case GAME_OPEN:
        return ST_OK;
    case GAME_PLACING:
    case GAME_RUNNING:
        return ERR_DETAIL(err, REASON_GAME_STARTED, "refusal.started_already",
                          "game {game} has started already", ERR_TEXT("game", d->game.public_id));
    default:
        return ERR_DETAIL(err, REASON_GAME_NOT_RUNNING, "refusal.game_over", "game {game} is over",
                          ERR_TEXT("game", d->game.public_id));
    }
}

static enum status take_seat(struct desk *d, int seat, int64_t user_id, struct err *err)
{
    TRY(seats_take(d->txn, d->game.id, seat, user_id, HOLDER_PLAYER, d->now, err));
    return desk_event(d, GAME_EVENT_SEAT_TAKEN, seat, user_id, NULL, err);
}

/* ---------------------------------------------------------------- offers */

static enum status offer_check(const struct arbiter_offer *offer, struct err *err)
{
    if (offer->kind == OFFER_MAIL && (!offer->address || !offer->address_key ||
                                      offer->address[0] == '\0' || offer->address_key[0] == '\0'))
        return err_detail(err, REASON_BAD_FIELD, "refusal.address_needed",
                          "an invitation by mail needs an address");
    return ST_OK;
}

/* An address without an account cannot defend itself: it is written to a few times, until it
 * answers, and a few times a day, so that taking the invitation back makes no room for the next. */
static enum status address_may_be_asked(struct desk *d, const char *address_key, int64_t by,
                                        struct err *err)
{
    struct invitation_row *rows = calloc(ADDRESS_PENDING_MAX, sizeof *rows);
    size_t n = 0, from = 0;
    int64_t today = 0, today_from = 0;
    enum status st;

    if (!rows)
        return err_reason(err, REASON_NO_MEMORY, "invitations");
    st = invitations_of_address(d->conn, address_key, rows, ADDRESS_PENDING_MAX, &n, err);
    for (size_t i = 0; st == ST_OK && i < n; i++)
        from += rows[i].invited_by == by;
    free(rows);
    if (st == ST_OK && (n == ADDRESS_PENDING_MAX || from >= ADDRESS_PENDING_FROM))
        st = err_detail(err, REASON_LIMIT, "refusal.asked_enough",
                        "this address has been invited as often as may be before it answers");
    if (st == ST_OK)
        st = invitations_to_address(d->conn, address_key, d->now - INVITED_KEEP_MS, by, &today,
                                    &today_from, err);
    if (st == ST_OK && (today >= ADDRESS_DAY_MAX || today_from >= ADDRESS_DAY_FROM))
        st = err_detail(err, REASON_LIMIT, "refusal.asked_today",
                        "this address has been invited as often as may be in a day");
    return st;
}

/* Keep an open seat for somebody. */
static enum status offer_seat(struct desk *d, int seat, const struct arbiter_offer *offer,
                              struct err *err)
{
    struct event_row more = EVENT_ROW_INIT;
    struct invitation_row row = {
        .game_id = d->game.id,
        .seat = seat,
        .invited_by = d->actor.user_id,
        .state = INVITATION_PENDING,
        .created_at = d->now,
        .expires_at = d->now + d->arb->limits.invitation_ms,
        .settled_at = UTC_NONE,
    };
    struct timer_row timer = {.kind = TIMER_INVITATION, .game_id = d->game.id, .seat = seat,
                              .state_no = d->game.state_no, .due_at = row.expires_at};
    unsigned char placeholder[STORE_HASH_SIZE];
    bool is_his[SEATS] = {false};
    struct user_row user;
    int64_t id = 0;

    TRY(offer_check(offer, err));
    if (row.invited_by == 0)
        row.invited_by = d->game.organiser_id;
    if (offer->kind == OFFER_USER) {
        enum status st = users_get(d->conn, offer->user_id, &user, err);
        if (st == ST_NOT_FOUND || (st == ST_OK && user.disabled_at != UTC_NONE))
            return ERR_DETAIL(err, REASON_NO_SUCH_USER, "refusal.no_player_at",
                              "seat {seat}: there is no such player", ERR_SEAT("seat", seat));
        if (st != ST_OK)
            return st;
        TRY(seats_meant_for(d, user.id, is_his, err));
        TRY(fits(seat, is_his, user.handle, err));
        if (user.id == d->actor.user_id) /* who invites himself sits down */
            return take_seat(d, seat, user.id, err);
        row.user_id = user.id;
        (void)str_copy(more.note, sizeof more.note, user.handle);
        TRY(invitations_create(d->txn, &row, NULL, &id, err));
    } else {
        for (int s = 0; s < SEATS; s++) {
            struct invitation_row other;
            if (d->seats[s].state != SEAT_INVITED)
                continue;
            enum status st = invitations_of_seat(d->conn, d->game.id, s, &other, err);
            if (st == ST_NOT_FOUND)
                continue;
            if (st != ST_OK)
                return st;
            is_his[s] = str_eq(other.address_key, offer->address_key);
        }
        TRY(fits(seat, is_his, NULL, err));
        if (!str_copy(row.address, sizeof row.address, offer->address) ||
            !str_copy(row.address_key, sizeof row.address_key, offer->address_key))
            return err_detail(err, REASON_BAD_FIELD, "refusal.address_long",
                              "the address is too long");
        TRY(address_may_be_asked(d, row.address_key, row.invited_by, err));
        /* The link's secret is made when the letter is composed; until then nobody knows one. */
        d->arb->entropy.fill(d->arb->entropy.arg, placeholder, sizeof placeholder);
        TRY(invitations_create(d->txn, &row, placeholder, &id, err));
    }
    TRY(timers_set(d->txn, &timer, err));
    TRY(desk_event(d, GAME_EVENT_INVITED, seat, row.invited_by, &more, err));
    return desk_reload_seats(d, err);
}

/* ---------------------------------------------------------------- create */

/* What may be said instead: the games, or the house rules of the game that was named. */
static void list_right(const struct variant_error *bad, char *ret, size_t size)
{
    size_t used = 0;

    if (bad->game) {
        (void)variant_rules_print(bad->game, ret, size);
        return;
    }
    ret[0] = '\0';
    for (int i = 0; i < GAMES && used < size; i++)
        used += (size_t)snprintf(ret + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 game_name(game_at(i)));
}

enum status arbiter_refuse_variant(const struct variant_error *bad, struct err *err)
{
    char list[ERR_VALUES_SIZE / 2];
    const char *game = bad->game ? game_name(bad->game) : "";

    list_right(bad, list, sizeof list);
    switch (bad->code) {
    case VARIANT_NO_NAME:
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.variant_none",
                          "the name of a game is missing; games: {list}", ERR_TEXT("list", list));
    case VARIANT_UNKNOWN:
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.variant_unknown",
                          "there is no game `{word}`; games: {list}",
                          ERR_TEXT("word", bad->word), ERR_TEXT("list", list));
    case VARIANT_NO_VALUE:
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.rule_no_value",
                          "`{word}`: a house rule is written key=value; house rules of {game}: "
                          "{list}",
                          ERR_TEXT("word", bad->word), ERR_TEXT("game", game),
                          ERR_TEXT("list", list));
    case VARIANT_BAD_VALUE:
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.rule_bad_value",
                          "`{word}`: the house rule has no such value; house rules of {game}: "
                          "{list}",
                          ERR_TEXT("word", bad->word), ERR_TEXT("game", game),
                          ERR_TEXT("list", list));
    case VARIANT_KEY_TWICE:
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.rule_twice",
                          "`{word}`: the house rule is given twice", ERR_TEXT("word", bad->word));
    case VARIANT_OK:
    case VARIANT_NO_KEY:
        break;
    }
    if (list[0] == '\0')
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.rule_none",
                          "`{word}`: the game {game} has no house rules",
                          ERR_TEXT("word", bad->word), ERR_TEXT("game", game));
    return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.rule_unknown",
                      "`{word}`: there is no such house rule; house rules of {game}: {list}",
                      ERR_TEXT("word", bad->word), ERR_TEXT("game", game), ERR_TEXT("list", list));
}

static enum status check_wish(const struct arbiter *arb, const struct arbiter_new_game *wish,
                              struct variant *ret_variant, int64_t *ret_per_move_ms,
                              struct err *err)
{
    const struct arbiter_limits *l = &arb->limits;
    struct variant_error bad;
    int64_t per_move_ms = wish->per_move_ms == 0 ? l->per_move_ms : wish->per_move_ms;

    if (variant_parse(wish->rules, ret_variant, &bad) != VARIANT_OK)
        return arbiter_refuse_variant(&bad, err);
    if (per_move_ms < l->per_move_min_ms || per_move_ms > l->per_move_max_ms)
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.time_range",
                          "the time for a move is from {least} to {most}",
                          ERR_LENGTH("least", l->per_move_min_ms),
                          ERR_LENGTH("most", l->per_move_max_ms));
    *ret_per_move_ms = per_move_ms;
    return ST_OK;
}

static enum status check_open_games(struct desk *d, struct err *err)
{
    struct game_filter filter = GAME_FILTER_INIT;
    struct game_cursor from = {.id = 0}, next = {.id = 0};
    struct game_brief rows[16];
    size_t n = 0;
    int open = 0;

    filter.player_id = d->actor.user_id;
    filter.viewer_id = d->actor.user_id;
    filter.state = GAME_OPEN;
    do {
        TRY(games_list(d->conn, &filter, &from, rows, COUNT_OF(rows), &n, &next, err));
        for (size_t i = 0; i < n; i++)
            open += rows[i].organiser_id == d->actor.user_id;
        from = next;
    } while (next.id != 0 && open < d->arb->limits.open_games);
    if (open >= d->arb->limits.open_games)
        return ERR_DETAIL(
            err, REASON_LIMIT, "refusal.open_games",
            "{n} games of yours have not started yet; there may be no more",
            ERR_NUMBER("n", open));
    return ST_OK;
}

/* Nobody has more games going on than the server is set to allow him.  One that he has already, for
 * a second seat in it, is none more. */
static enum status check_games(const struct desk *d, int64_t game_id, struct err *err)
{
    const int most = d->arb->limits.games;
    int n = 0;

    if (most <= 0)
        return ST_OK;
    TRY(games_count_of_user(d->conn, d->actor.user_id, 0, most, &n, err));
    if (n < most)
        return ST_OK;
    /* As many as there may be: is this one of them? */
    if (game_id != 0 && (d->game.organiser_id == d->actor.user_id ||
                         desk_seats_of(d, d->actor.user_id) != 0))
        return ST_OK;
    return ERR_DETAIL(err, REASON_LIMIT, "refusal.games_most",
                      "{n} games are going on for you; there may be no more",
                      ERR_NUMBER("n", n));
}

/* Eight characters that nobody mistakes for others: Crockford's base32 without i l o u. */
static void draw_public_id(const struct arbiter *arb, char ret[GAME_PUBLIC_ID_SIZE])
{
    static const char digits[33] = "0123456789abcdefghjkmnpqrstvwxyz";
    unsigned char bytes[GAME_PUBLIC_ID_SIZE - 1];

    arb->entropy.fill(arb->entropy.arg, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        ret[i] = digits[bytes[i] & 31];
    ret[sizeof bytes] = '\0';
}

static enum status insert(struct desk *d, struct err *err)
{
    for (int i = 0; i < PUBLIC_ID_TRIES; i++) {
        draw_public_id(d->arb, d->game.public_id);
        enum status st = games_create(d->txn, &d->game, &d->game.id, err);
        if (st != ST_CONFLICT || (err && err->reason != REASON_ALREADY_DONE))
            return st;
    }
    return err_set(err, ST_INTERNAL, "no free name was found for a new game");
}

enum status arbiter_create(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                           struct arbiter_actor actor, const struct arbiter_new_game *wish,
                           struct game_row *ret_game, struct err *err)
{
    struct err local = ERR_INIT;
    struct desk d;
    struct variant variant;
    int64_t per_move_ms = 0;
    bool is_fortress;

    if (!err)
        err = &local;
    desk_init(&d, arb, txn, now, actor);
    TRY(needs_account(&d, err));
    TRY(check_wish(arb, wish, &variant, &per_move_ms, err));
    TRY(check_open_games(&d, err));
    TRY(check_games(&d, /* game_id= */ 0, err));
    is_fortress = game_reserve_squares(variant.game, SEAT_SOUTH, &(struct board){{0}});
    d.game = (struct game_row){
        .is_rated = wish->is_rated,
        .visibility = wish->is_private ? GAME_PLAYERS_ONLY : GAME_PUBLIC,
        .table_talk = wish->table_talk,
        .clock = GAME_CLOCK_PER_MOVE,
        .per_move_ms = per_move_ms,
        .grace_ms = arb->limits.grace_ms,
        .placing_ms = arb->limits.placing_ms,
        .organiser_id = actor.user_id,
        .state = GAME_OPEN,
        .open_seats = SEATS,
        .paused_at = UTC_NONE,
        .turn_seat = -1,
        .conditions = "aaaa",
        .turn_at = UTC_NONE,
        .deadline_at = UTC_NONE,
        .expires_at = now + arb->limits.open_ms,
        .created_at = now,
        .started_at = UTC_NONE,
        .moved_at = UTC_NONE,
        .ended_at = UTC_NONE,
        .updated_at = now,
    };
    if (!game_variant_parse(game_name(variant.game), &d.game.variant))
        return err_set(err, ST_INTERNAL, "the store does not know the game %s",
                       game_name(variant.game));
    d.game.reserve = !is_fortress                          ? GAME_RESERVE_NONE
                     : variant.reserve == RESERVE_CHOSEN   ? GAME_RESERVE_CHOSEN
                     : variant.reserve == RESERVE_USUAL    ? GAME_RESERVE_USUAL
                                                           : GAME_RESERVE_RANDOM;
    (void)variant_print(&variant, true, d.game.rules, sizeof d.game.rules);
    TRY(insert(&d, err));
    TRY(desk_reload_seats(&d, err));
    TRY(desk_event(&d, GAME_EVENT_CREATED, -1, actor.user_id, NULL, err));
    struct timer_row timer = {.kind = TIMER_OPEN_GAME, .game_id = d.game.id, .seat = -1,
                              .due_at = d.game.expires_at};
    TRY(timers_set(txn, &timer, err));
    for (int s = 0; s < SEATS; s++) {
        if (wish->seats[s].kind != OFFER_OPEN)
            TRY(offer_seat(&d, s, &wish->seats[s], err));
        TRY(desk_reload_seats(&d, err));
    }
    TRY(seating_start_if_full(&d, err));
    return desk_close(&d, ret_game, err);
}

/* ---------------------------------------------------------------- invitations by the organiser */

static enum status check_seat(int seat, struct err *err)
{
    if (seat < 0 || seat >= SEATS)
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.no_seat", "there is no seat {number}",
                          ERR_NUMBER("number", seat));
    return ST_OK;
}

enum status arbiter_invite(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                           struct arbiter_actor actor, int64_t game_id, int seat,
                           const struct arbiter_offer *offer, struct game_row *ret_game,
                           struct err *err)
{
    enum audit_role role;
    struct desk d;

    TRY(check_seat(seat, err));
    TRY(desk_open(&d, arb, txn, now, actor, game_id, err));
    TRY(desk_may_organise(&d, &role, err));
    TRY(needs_open(&d, err));
    if (offer->kind == OFFER_OPEN)
        return err_detail(err, REASON_BAD_FIELD, "refusal.invite_whom",
                          "whom to invite must be said");
    if (d.seats[seat].state != SEAT_OPEN)
        return ERR_DETAIL(err, REASON_GAME_FULL, "refusal.seat_not_free",
                          "the seat {seat} is not free", ERR_SEAT("seat", seat));
    TRY(offer_seat(&d, seat, offer, err));
    TRY(desk_reload_seats(&d, err));
    TRY(seating_start_if_full(&d, err));
    return desk_close(&d, ret_game, err);
}

static enum status settle(struct desk *d, const struct invitation_row *row,
                          enum invitation_state state, struct err *err)
{
    TRY(invitations_settle(d->txn, row->id, state, d->now, err));
    return timers_clear(d->txn, TIMER_INVITATION, d->game.id, row->seat, err);
}

enum status arbiter_withdraw(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                             struct arbiter_actor actor, int64_t game_id, int seat,
                             struct game_row *ret_game, struct err *err)
{
    struct invitation_row row;
    enum audit_role role;
    struct desk d;

    TRY(check_seat(seat, err));
    TRY(desk_open(&d, arb, txn, now, actor, game_id, err));
    TRY(desk_may_organise(&d, &role, err));
    TRY(needs_open(&d, err));
    enum status st = invitations_of_seat(d.conn, d.game.id, seat, &row, err);
    if (st == ST_NOT_FOUND)
        return ERR_DETAIL(err, REASON_ALREADY_DONE, "refusal.nobody_invited",
                          "nobody is invited to the seat {seat}", ERR_SEAT("seat", seat));
    if (st != ST_OK)
        return st;
    TRY(settle(&d, &row, INVITATION_WITHDRAWN, err));
    TRY(desk_event(&d, GAME_EVENT_INVITE_WITHDRAWN, seat, actor.user_id, NULL, err));
    TRY(desk_reload_seats(&d, err));
    return desk_close(&d, ret_game, err);
}

enum status seating_expire_invitation(struct desk *d, int seat, struct err *err)
{
    struct invitation_row row;
    enum status st = invitations_of_seat(d->conn, d->game.id, seat, &row, err);

    if (st == ST_NOT_FOUND)
        return timers_clear(d->txn, TIMER_INVITATION, d->game.id, seat, err);
    if (st != ST_OK)
        return st;
    if (row.expires_at > d->now) { /* another one by now */
        struct timer_row timer = {.kind = TIMER_INVITATION, .game_id = d->game.id, .seat = seat,
                                  .due_at = row.expires_at};
        return timers_set(d->txn, &timer, err);
    }
    TRY(settle(d, &row, INVITATION_EXPIRED, err));
    TRY(desk_event(d, GAME_EVENT_INVITE_EXPIRED, seat, 0, NULL, err));
    return desk_reload_seats(d, err);
}

/* ---------------------------------------------------------------- answers */

/* The pending invitations of this game that the actor may answer. */
static enum status invitations_for(struct desk *d, const unsigned char *token_hash,
                                   struct invitation_row ret[SEATS], size_t *ret_n,
                                   struct err *err)
{
    struct invitation_row rows[INVITATIONS_MAX], by_token = {.id = 0};
    struct user_row user = {.id = 0};
    size_t n = 0, found = 0;

    if (token_hash) {
        enum status st = invitations_find(d->conn, token_hash, &by_token, err);
        if (st != ST_OK && st != ST_NOT_FOUND)
            return st;
        if (st == ST_NOT_FOUND || by_token.game_id != d->game.id ||
            by_token.state != INVITATION_PENDING || by_token.expires_at <= d->acted_at)
            return err_detail(err, REASON_LINK_EXPIRED, "refusal.invitation_gone",
                              "this invitation has been answered, taken back, or has expired");
    }
    if (d->actor.user_id != 0)
        TRY(users_get(d->conn, d->actor.user_id, &user, err));
    TRY(invitations_of_game(d->conn, d->game.id, rows, INVITATIONS_MAX, &n, err));
    for (size_t i = 0; i < n && found < SEATS; i++) {
        const struct invitation_row *r = &rows[i];
        bool is_mail = r->user_id == 0 && r->address_key[0] != '\0';

        if (r->state != INVITATION_PENDING || r->expires_at <= d->acted_at)
            continue;
        if (invitation_is_for(r, &user) ||
            (by_token.id != 0 && (r->id == by_token.id ||
                                  (is_mail && str_eq(r->address_key, by_token.address_key)))))
            ret[found++] = *r;
    }
    if (found == 0) {
        TRY(desk_may_see(d, err));
        return ERR_DETAIL(err, REASON_FORBIDDEN, "refusal.not_invited",
                          "you are not invited to game {game}",
                          ERR_TEXT("game", d->game.public_id));
    }
    *ret_n = found;
    return ST_OK;
}

/* That a game has started is told to who may see it, or was invited to it by mail; to all others
 * a game of its players only does not exist. */
static enum status needs_open_to_answer(struct desk *d, const unsigned char *token_hash,
                                        struct err *err)
{
    struct invitation_row row = {.id = 0};

    if (d->game.state == GAME_OPEN)
        return ST_OK;
    if (token_hash) {
        enum status st = invitations_find(d->conn, token_hash, &row, err);
        if (st != ST_OK && st != ST_NOT_FOUND)
            return st;
    }
    if (row.id == 0 || row.game_id != d->game.id)
        TRY(desk_may_see(d, err));
    return needs_open(d, err);
}

enum status arbiter_accept(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                           struct arbiter_actor actor, int64_t game_id,
                           const unsigned char *token_hash, struct game_row *ret_game,
                           struct err *err)
{
    struct invitation_row mine[SEATS];
    bool is_his[SEATS];
    struct desk d;
    size_t n = 0;

    TRY(desk_open(&d, arb, txn, now, actor, game_id, err));
    TRY(needs_account(&d, err));
    TRY(needs_open_to_answer(&d, token_hash, err));
    TRY(invitations_for(&d, token_hash, mine, &n, err));
    TRY(check_games(&d, game_id, err));
    for (size_t i = 0; i < n; i++) {
        TRY(seats_meant_for(&d, actor.user_id, is_his, err));
        TRY(fits(mine[i].seat, is_his, NULL, err));
        if (mine[i].user_id == 0)
            TRY(invitations_claim(txn, mine[i].id, actor.user_id, err));
        TRY(settle(&d, &mine[i], INVITATION_ACCEPTED, err));
        TRY(take_seat(&d, mine[i].seat, actor.user_id, err));
        TRY(desk_reload_seats(&d, err));
    }
    TRY(seating_start_if_full(&d, err));
    return desk_close(&d, ret_game, err);
}

enum status arbiter_decline(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                            struct arbiter_actor actor, int64_t game_id,
                            const unsigned char *token_hash, struct game_row *ret_game,
                            struct err *err)
{
    struct invitation_row mine[SEATS];
    struct desk d;
    size_t n = 0;

    TRY(desk_open(&d, arb, txn, now, actor, game_id, err));
    if (!token_hash)
        TRY(needs_account(&d, err));
    TRY(needs_open_to_answer(&d, token_hash, err));
    TRY(invitations_for(&d, token_hash, mine, &n, err));
    for (size_t i = 0; i < n; i++) {
        TRY(settle(&d, &mine[i], INVITATION_DECLINED, err));
        TRY(desk_event(&d, GAME_EVENT_DECLINED, mine[i].seat, actor.user_id, NULL, err));
    }
    TRY(desk_reload_seats(&d, err));
    return desk_close(&d, ret_game, err);
}

/* ---------------------------------------------------------------- joining and leaving */

enum status arbiter_join(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                         struct arbiter_actor actor, int64_t game_id, unsigned seats,
                         struct game_row *ret_game, struct err *err)
{
    bool is_his[SEATS];
    struct desk d;

    TRY(desk_open(&d, arb, txn, now, actor, game_id, err));
    TRY(needs_account(&d, err));
    TRY(desk_may_see(&d, err));
    TRY(needs_open(&d, err));
    if (seats >= 1u << SEATS)
        return err_detail(err, REASON_BAD_FIELD, "refusal.four_seats", "there are only four seats");
    TRY(check_games(&d, game_id, err));
    TRY(seats_meant_for(&d, actor.user_id, is_his, err));
    if (seats == 0) { /* the first free one that he can have */
        for (int s = 0; s < SEATS && seats == 0; s++) {
            if (d.seats[s].state == SEAT_OPEN && fits(s, is_his, NULL, NULL) == ST_OK)
                seats = 1u << s;
        }
        if (seats == 0)
            return ERR_DETAIL(err, REASON_GAME_FULL, "refusal.no_seat_free",
                              "no seat of game {game} is free for you",
                              ERR_TEXT("game", d.game.public_id));
    }
    for (int s = 0; s < SEATS; s++) {
        if ((seats >> s & 1u) == 0)
            continue;
        if (d.seats[s].state == SEAT_TAKEN && d.seats[s].user_id == actor.user_id)
            return ERR_DETAIL(err, REASON_ALREADY_SEATED, "refusal.seat_yours",
                              "you have the seat {seat} already", ERR_SEAT("seat", s));
        if (d.seats[s].state != SEAT_OPEN)
            return ERR_DETAIL(err, REASON_GAME_FULL, "refusal.seat_not_free",
                              "the seat {seat} is not free", ERR_SEAT("seat", s));
        TRY(fits(s, is_his, NULL, err));
        is_his[s] = true;
        TRY(take_seat(&d, s, actor.user_id, err));
    }
    TRY(desk_reload_seats(&d, err));
    TRY(seating_start_if_full(&d, err));
    return desk_close(&d, ret_game, err);
}

enum status arbiter_leave(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                          struct arbiter_actor actor, int64_t game_id, unsigned seats,
                          struct game_row *ret_game, struct err *err)
{
    struct desk d;
    unsigned mine;

    TRY(desk_open(&d, arb, txn, now, actor, game_id, err));
    TRY(needs_account(&d, err));
    mine = desk_seats_of(&d, actor.user_id);
    if (mine == 0) {
        TRY(desk_may_see(&d, err));
        return ERR_DETAIL(err, REASON_NOT_YOUR_GAME, "refusal.no_seat_in",
                          "you have no seat in game {game}", ERR_TEXT("game", d.game.public_id));
    }
    TRY(needs_open(&d, err));
    if (seats == 0)
        seats = mine;
    if ((seats & ~mine) != 0)
        return ERR_DETAIL(err, REASON_NOT_YOUR_GAME, "refusal.seat_not_yours",
                          "that seat of game {game} is not yours",
                          ERR_TEXT("game", d.game.public_id));
    for (int s = 0; s < SEATS; s++) {
        if ((seats >> s & 1u) == 0)
            continue;
        TRY(seats_leave(txn, d.game.id, s, actor.user_id, now, err));
        TRY(desk_event(&d, GAME_EVENT_SEAT_LEFT, s, actor.user_id, NULL, err));
    }
    TRY(desk_reload_seats(&d, err));
    return desk_close(&d, ret_game, err);
}

/* ---------------------------------------------------------------- placing and the start */

static enum status corrupt_rules(const struct desk *d, struct err *err)
{
    return err_reason(err, REASON_CORRUPT, "game %s: its rules cannot be read: %s",
                      d->game.public_id, d->game.rules);
}

static void placement_print(const struct reserve *reserve, char ret[SEAT_PLACEMENT_SIZE])
{
    char sq[3][SQUARE_TEXT_MAX];

    for (int i = 0; i < 3; i++)
        (void)square_print(reserve->square[i], sq[i]);
    (void)snprintf(ret, SEAT_PLACEMENT_SIZE, "%s %s %s", sq[0], sq[1], sq[2]);
}

static bool placement_parse(const char *text, struct reserve *ret)
{
    size_t len = strlen(text), at = 0;

    for (int i = 0; i < 3; i++) {
        int square = SQUARE_NONE;
        size_t n = square_read(text + at, len - at, &square);
        if (n == 0)
            return false;
        ret->square[i] = (uint8_t)square;
        at += n;
        if (i < 2 && text[at++] != ' ')
            return false;
    }
    return at == len;
}

static enum status start(struct desk *d, const struct variant *variant, struct err *err)
{
    struct reserve reserves[SEATS];
    struct position pos;

    for (int s = 0; s < SEATS; s++) {
        uint8_t bytes[RESERVE_RANDOM_BYTES];

        switch (d->game.reserve) {
        case GAME_RESERVE_RANDOM:
            d->arb->entropy.fill(d->arb->entropy.arg, bytes, sizeof bytes);
            reserve_draw(variant->game, (enum seat)s, bytes, &reserves[s]);
            break;
        case GAME_RESERVE_CHOSEN:
            if (!placement_parse(d->seats[s].placement, &reserves[s]))
                return err_reason(err, REASON_CORRUPT, "game %s: the reserve of %s cannot be read",
                                  d->game.public_id, seat_word(s));
            break;
        default:
            memset(&reserves[s], 0, sizeof reserves[s]);
            break;
        }
    }
    bool with = d->game.reserve == GAME_RESERVE_RANDOM || d->game.reserve == GAME_RESERVE_CHOSEN;
    if (position_start(variant, with ? reserves : NULL, &pos) != RESERVE_OK)
        return err_reason(err, REASON_CORRUPT, "game %s: its start cannot be set up",
                          d->game.public_id);
    (void)position_print(&pos, d->game.start_position, sizeof d->game.start_position);
    memcpy(d->game.position, d->game.start_position, sizeof d->game.position);
    d->game.position_hash = pos.hash;
    d->game.ply = 0;
    d->game.state = GAME_RUNNING;
    d->game.started_at = d->now;
    d->game.expires_at = UTC_NONE;
    d->game.turn_seat = pos.turn;
    d->game.turn_user_id = d->seats[pos.turn].user_id;
    TRY(timers_clear_game(d->txn, d->game.id, err));
    TRY(desk_event(d, GAME_EVENT_STARTED, -1, 0, NULL, err));
    TRY(turn_begin(d, err));
    struct event_row more = EVENT_ROW_INIT;
    more.deadline_at = d->game.deadline_at;
    return desk_event(d, GAME_EVENT_TURN, pos.turn, 0, &more, err);
}

enum status seating_start_if_full(struct desk *d, struct err *err)
{
    struct event_row more = EVENT_ROW_INIT;
    struct variant variant;

    for (int s = 0; s < SEATS; s++) {
        if (d->seats[s].state != SEAT_TAKEN)
            return ST_OK;
    }
    if (variant_parse(d->game.rules, &variant, NULL) != VARIANT_OK)
        return corrupt_rules(d, err);
    if (d->game.reserve != GAME_RESERVE_CHOSEN)
        return start(d, &variant, err);
    TRY(timers_clear_game(d->txn, d->game.id, err));
    d->game.state = GAME_PLACING;
    d->game.expires_at = UTC_NONE;
    TRY(turn_begin(d, err));
    more.deadline_at = d->game.deadline_at;
    return desk_event(d, GAME_EVENT_PLACING, -1, 0, &more, err);
}

static enum status start_if_placed(struct desk *d, struct err *err)
{
    struct variant variant;

    TRY(desk_reload_seats(d, err));
    for (int s = 0; s < SEATS; s++) {
        if (d->seats[s].placement[0] == '\0')
            return ST_OK;
    }
    if (variant_parse(d->game.rules, &variant, NULL) != VARIANT_OK)
        return corrupt_rules(d, err);
    return start(d, &variant, err);
}

enum status seating_end_placing(struct desk *d, int64_t *ret_drawn, struct err *err)
{
    struct variant variant;
    int64_t drawn = 0;

    if (variant_parse(d->game.rules, &variant, NULL) != VARIANT_OK)
        return corrupt_rules(d, err);
    for (int s = 0; s < SEATS; s++) {
        uint8_t bytes[RESERVE_RANDOM_BYTES];
        char text[SEAT_PLACEMENT_SIZE];
        struct reserve reserve;

        if (d->seats[s].placement[0] != '\0')
            continue;
        d->arb->entropy.fill(d->arb->entropy.arg, bytes, sizeof bytes);
        reserve_draw(variant.game, (enum seat)s, bytes, &reserve);
        placement_print(&reserve, text);
        TRY(seats_place(d->txn, d->game.id, s, text, d->now, err));
        TRY(desk_event(d, GAME_EVENT_PLACED, s, 0, NULL, err));
        drawn++;
    }
    TRY(start_if_placed(d, err));
    *ret_drawn = drawn;
    return ST_OK;
}

/* Which of the actor's seats is to be placed. */
static enum status placing_seat(const struct desk *d, int wanted, int *ret_seat, struct err *err)
{
    unsigned mine = desk_seats_of(d, d->actor.user_id), waiting = 0;
    int seat = wanted;

    if (mine == 0)
        return ERR_DETAIL(err, REASON_NOT_YOUR_GAME, "refusal.no_seat_in",
                          "you have no seat in game {game}", ERR_TEXT("game", d->game.public_id));
    if (wanted != ARBITER_ANY_SEAT && (mine >> wanted & 1u) == 0)
        return ERR_DETAIL(err, REASON_NOT_YOUR_GAME, "refusal.seat_not_yours",
                          "that seat of game {game} is not yours",
                          ERR_TEXT("game", d->game.public_id));
    if (wanted == ARBITER_ANY_SEAT) {
        for (int s = 0; s < SEATS; s++) {
            if ((mine >> s & 1u) != 0 && d->seats[s].placement[0] == '\0')
                waiting |= 1u << s;
        }
        unsigned choice = (mine & (mine - 1)) == 0 ? mine : waiting;
        if (choice == 0 || (choice & (choice - 1)) != 0)
            return err_detail(err, REASON_BAD_FIELD, "refusal.which_seat",
                              "name the seat: which of your two is meant?");
        for (seat = 0; (choice >> seat & 1u) == 0; seat++)
            ;
    }
    *ret_seat = seat;
    return ST_OK;
}

static enum status refuse_placement(enum reserve_verdict verdict, int square, struct err *err)
{
    char text[SQUARE_TEXT_MAX] = "";

    if (square != SQUARE_NONE)
        (void)square_print(square, text);
    switch (verdict) {
    case RESERVE_NOT_IN_FORTRESS:
        return ERR_DETAIL(err, REASON_BAD_PLACEMENT, "refusal.not_in_fortress",
                          "{square} is not in your own fortress", ERR_TEXT("square", text));
    case RESERVE_SQUARE_TWICE:
        return ERR_DETAIL(err, REASON_BAD_PLACEMENT, "refusal.square_twice",
                          "two men cannot stand on {square}", ERR_TEXT("square", text));
    default:
        return err_detail(err, REASON_BAD_PLACEMENT, "refusal.no_reserve_here",
                          "the game has no reserve");
    }
}

enum status arbiter_place(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                          struct arbiter_actor actor, int64_t game_id,
                          const struct arbiter_placement *placement, struct game_row *ret_game,
                          struct err *err)
{
    const char *const names[3] = {placement->rook, placement->bishop, placement->knight};
    static const char *const men[3] = {"rook", "bishop", "knight"};
    char text[SEAT_PLACEMENT_SIZE];
    struct variant variant;
    struct reserve reserve;
    struct desk d;
    int seat = -1, bad = SQUARE_NONE;
    bool doubtful = false;

    if (placement->seat != ARBITER_ANY_SEAT)
        TRY(check_seat(placement->seat, err));
    TRY(desk_open(&d, arb, txn, now, actor, game_id, err));
    if (desk_seats_of(&d, actor.user_id) == 0)
        TRY(desk_may_see(&d, err));
    TRY(placing_seat(&d, placement->seat, &seat, err));
    if (d.game.state == GAME_OPEN)
        return ERR_DETAIL(err, REASON_GAME_NOT_RUNNING, "refusal.place_later",
                          "game {game} still waits for players; reserves are placed after that",
                          ERR_TEXT("game", d.game.public_id));
    if (d.game.state == GAME_RUNNING)
        return ERR_DETAIL(err, REASON_GAME_STARTED, "refusal.started_already",
                          "game {game} has started already", ERR_TEXT("game", d.game.public_id));
    if (d.game.state != GAME_PLACING)
        return ERR_DETAIL(err, REASON_GAME_NOT_RUNNING, "refusal.game_over", "game {game} is over",
                          ERR_TEXT("game", d.game.public_id));
    if (placement->received_at > 0 && placement->received_at < now)
        d.acted_at = placement->received_at;
    if (d.game.deadline_at != UTC_NONE && d.acted_at > d.game.deadline_at) {
        TRY(turn_time_is_doubtful(&d, &doubtful, err));
        if (doubtful)
            return err_detail(
                err, REASON_BUSY, "refusal.making_good",
                "the server is making good for time it was away; try again in a minute");
        return err_detail(err, REASON_LOST_ON_TIME, "refusal.placing_over",
                          "the time for placing is over");
    }
    if (variant_parse(d.game.rules, &variant, NULL) != VARIANT_OK)
        return corrupt_rules(&d, err);
    for (int i = 0; i < 3; i++) {
        int square = SQUARE_NONE;
        if (!names[i] || names[i][0] == '\0' ||
            square_read(names[i], strlen(names[i]), &square) != strlen(names[i]))
            return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.square_shape",
                              "a square is written like p4 ({field})", ERR_TEXT("field", men[i]));
        reserve.square[i] = (uint8_t)square;
    }
    enum reserve_verdict verdict =
        reserve_validate(variant.game, (enum seat)seat, &reserve, &bad);
    if (verdict != RESERVE_OK)
        return refuse_placement(verdict, bad, err);
    placement_print(&reserve, text);
    TRY(seats_place(txn, d.game.id, seat, text, now, err));
    TRY(desk_event(&d, GAME_EVENT_PLACED, seat, actor.user_id, NULL, err));
    TRY(start_if_placed(&d, err));
    return desk_close(&d, ret_game, err);
}

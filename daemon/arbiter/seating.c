#include <stdio.h>
#include <stdlib.h>

#include "arbiter/access.h"
#include "arbiter/desk.h"
#include "base/str.h"

enum {
    INVITATIONS_MAX = 256,
    PUBLIC_ID_TRIES = 16,
    ADDRESS_PENDING_MAX = 10,   /* invitations to an address that wait for its answer … */
    ADDRESS_PENDING_FROM = 3,   /* … from one account */
    ADDRESS_DAY_MAX = 10,       /* invitations to an address in a day, whatever became of them … */
    ADDRESS_DAY_FROM = 5,       /* … from one account */
    PLAYER_DAY_LEAST = 50       /* from one player to another in a day, whatever became of them: as
                                   many as each may be in games, and at least these */
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
    bool is_there = false;

    for (int s = 0; s < SEATS; s++) {
        TRY(desk_invitation(d, s, &is_there, &invitation, err));
        ret_is_his[s] = (desk_seats_of(d, user_id) >> s & 1u) != 0 ||
                        (is_there && invitation.user_id == user_id);
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
    return d->game.state == GAME_OPEN ? ST_OK : desk_not_open(d, err);
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

/* Each invitation is a letter, and taking it back is one more. */
static enum status player_may_be_asked(struct desk *d, int64_t user_id, int64_t by,
                                       struct err *err)
{
    char key[INVITED_KEY_SIZE];
    int64_t today = 0, today_from = 0, most = d->arb->limits.games;

    if (most == 0)
        return ST_OK;
    if (most < PLAYER_DAY_LEAST)
        most = PLAYER_DAY_LEAST;
    invitations_key(user_id, key);
    TRY(invitations_to_address(d->conn, key, d->now - INVITED_KEEP_MS, by, &today, &today_from,
                               err));
    return today_from < most ? ST_OK
                             : ERR_DETAIL(err, REASON_LIMIT, "refusal.player_asked_today",
                                          "one player invites another at most {most} times a day",
                                          ERR_NUMBER("most", most));
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
        TRY(player_may_be_asked(d, user.id, row.invited_by, err));
        row.user_id = user.id;
        (void)str_copy(more.note, sizeof more.note, user.handle);
        TRY(invitations_create(d->txn, &row, NULL, &id, err));
    } else {
        for (int s = 0; s < SEATS; s++) {
            struct invitation_row other;
            bool is_there = false;
            TRY(desk_invitation(d, s, &is_there, &other, err));
            is_his[s] = is_there && str_eq(other.address_key, offer->address_key);
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
    TRY(placing_start_if_full(&d, err));
    return desk_close(&d, ret_game, err);
}

/* ---------------------------------------------------------------- invitations by the organiser */

/* Opens a game that waits for players, for who runs it and has something to do with that seat. */
static enum status seat_open(struct desk *d, const struct arbiter *arb, struct store_txn *txn,
                             utc_ms now, struct arbiter_actor actor, int64_t game_id, int seat,
                             struct err *err)
{
    enum audit_role role;

    TRY(desk_check_seat(seat, err));
    TRY(desk_open(d, arb, txn, now, actor, game_id, err));
    TRY(desk_may_organise(d, &role, err));
    return needs_open(d, err);
}

enum status arbiter_invite(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                           struct arbiter_actor actor, int64_t game_id, int seat,
                           const struct arbiter_offer *offer, struct game_row *ret_game,
                           struct err *err)
{
    struct desk d;

    TRY(seat_open(&d, arb, txn, now, actor, game_id, seat, err));
    if (offer->kind == OFFER_OPEN)
        return err_detail(err, REASON_BAD_FIELD, "refusal.invite_whom",
                          "whom to invite must be said");
    if (d.seats[seat].state != SEAT_OPEN)
        return ERR_DETAIL(err, REASON_GAME_FULL, "refusal.seat_not_free",
                          "the seat {seat} is not free", ERR_SEAT("seat", seat));
    TRY(offer_seat(&d, seat, offer, err));
    TRY(desk_reload_seats(&d, err));
    TRY(placing_start_if_full(&d, err));
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
    bool is_there = false;
    struct desk d;

    TRY(seat_open(&d, arb, txn, now, actor, game_id, seat, err));
    TRY(desk_invitation(&d, seat, &is_there, &row, err));
    if (!is_there)
        return ERR_DETAIL(err, REASON_ALREADY_DONE, "refusal.nobody_invited",
                          "nobody is invited to the seat {seat}", ERR_SEAT("seat", seat));
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
    TRY(placing_start_if_full(&d, err));
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
    TRY(placing_start_if_full(&d, err));
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

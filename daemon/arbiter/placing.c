/* arbiter/placing.c - reserves are placed, and the game starts. */
#include <stdio.h>
#include <string.h>

#include "arbiter/desk.h"

/* ---------------------------------------------------------------- the start */

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

enum status placing_start_if_full(struct desk *d, struct err *err)
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

enum status placing_end(struct desk *d, int64_t *ret_drawn, struct err *err)
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

/* ---------------------------------------------------------------- placing */

/* Which of the actor's seats is to be placed. */
static enum status choose_seat(const struct desk *d, int wanted, int *ret_seat, struct err *err)
{
    unsigned mine = desk_seats_of(d, d->actor.user_id), waiting = 0;

    if (mine == 0)
        return ERR_DETAIL(err, REASON_NOT_YOUR_GAME, "refusal.no_seat_in",
                          "you have no seat in game {game}", ERR_TEXT("game", d->game.public_id));
    if (wanted != ARBITER_ANY_SEAT) {
        if ((mine >> wanted & 1u) == 0)
            return ERR_DETAIL(err, REASON_NOT_YOUR_GAME, "refusal.seat_not_yours",
                              "that seat of game {game} is not yours",
                              ERR_TEXT("game", d->game.public_id));
        *ret_seat = wanted;
        return ST_OK;
    }
    for (int s = 0; s < SEATS; s++) {
        if ((mine >> s & 1u) != 0 && d->seats[s].placement[0] == '\0')
            waiting |= 1u << s;
    }
    unsigned choice = seats_are_one(mine) ? mine : waiting;
    if (!seats_are_one(choice))
        return err_detail(err, REASON_BAD_FIELD, "refusal.which_seat",
                          "name the seat: which of your two is meant?");
    *ret_seat = seats_first(choice);
    return ST_OK;
}

static enum status needs_placing(const struct desk *d, struct err *err)
{
    switch (d->game.state) {
    case GAME_PLACING:
        return ST_OK;
    case GAME_OPEN:
        return ERR_DETAIL(err, REASON_GAME_NOT_RUNNING, "refusal.place_later",
                          "game {game} still waits for players; reserves are placed after that",
                          ERR_TEXT("game", d->game.public_id));
    default:
        return desk_not_open(d, err);
    }
}

static enum status needs_time(struct desk *d, struct err *err)
{
    if (d->game.deadline_at == UTC_NONE || d->acted_at <= d->game.deadline_at)
        return ST_OK;
    TRY(turn_time_is_sure(d, err));
    return err_detail(err, REASON_LOST_ON_TIME, "refusal.placing_over",
                      "the time for placing is over");
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

/* The squares as they were written, judged for that seat. */
static enum status read_placement(const struct variant *variant, int seat,
                                  const struct arbiter_placement *placement,
                                  struct reserve *ret_reserve, struct err *err)
{
    static const char *const men[3] = {"rook", "bishop", "knight"};
    const char *const squares[3] = {placement->rook, placement->bishop, placement->knight};
    int bad = SQUARE_NONE;
    enum reserve_verdict verdict;

    for (int i = 0; i < 3; i++) {
        int square = SQUARE_NONE;

        if (!squares[i] || squares[i][0] == '\0' ||
            square_read(squares[i], strlen(squares[i]), &square) != strlen(squares[i]))
            return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.square_shape",
                              "a square is written like p4 ({field})", ERR_TEXT("field", men[i]));
        ret_reserve->square[i] = (uint8_t)square;
    }
    verdict = reserve_validate(variant->game, (enum seat)seat, ret_reserve, &bad);
    return verdict == RESERVE_OK ? ST_OK : refuse_placement(verdict, bad, err);
}

enum status arbiter_place(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                          struct arbiter_actor actor, int64_t game_id,
                          const struct arbiter_placement *placement, struct game_row *ret_game,
                          struct err *err)
{
    char text[SEAT_PLACEMENT_SIZE];
    struct variant variant;
    struct reserve reserve;
    struct desk d;
    int seat = -1;

    if (placement->seat != ARBITER_ANY_SEAT)
        TRY(desk_check_seat(placement->seat, err));
    TRY(desk_open(&d, arb, txn, now, actor, game_id, err));
    if (placement->received_at > 0 && placement->received_at < now)
        d.acted_at = placement->received_at;
    if (desk_seats_of(&d, actor.user_id) == 0)
        TRY(desk_may_see(&d, err));
    TRY(choose_seat(&d, placement->seat, &seat, err));
    TRY(needs_placing(&d, err));
    TRY(needs_time(&d, err));
    if (variant_parse(d.game.rules, &variant, NULL) != VARIANT_OK)
        return corrupt_rules(&d, err);
    TRY(read_placement(&variant, seat, placement, &reserve, err));
    placement_print(&reserve, text);
    TRY(seats_place(txn, d.game.id, seat, text, now, err));
    TRY(desk_event(&d, GAME_EVENT_PLACED, seat, actor.user_id, NULL, err));
    TRY(start_if_placed(&d, err));
    return desk_close(&d, ret_game, err);
}

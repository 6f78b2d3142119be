#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arbiter/desk.h"
#include "base/str.h"

const struct held_row *held_of_seat(const struct desk *d, int seat)
{
    return seat >= 0 && (d->held_seats >> seat & 1u) != 0 ? &d->held[seat] : NULL;
}

const struct held_row *held_move(const struct desk *d)
{
    for (int seat = 0; seat < SEATS; seat++) {
        const struct held_row *held = held_of_seat(d, seat);

        if (held && held->kind == HELD_MOVE)
            return held;
    }
    return NULL;
}

enum status held_remove(struct desk *d, int seat, struct err *err)
{
    if (!held_of_seat(d, seat))
        return ST_OK;
    TRY(held_take(d->txn, d->game.id, seat, &d->held[seat], err));
    d->held_seats &= ~(1u << seat);
    return timers_clear(d->txn, TIMER_HELD, d->game.id, seat, err);
}

static void note_dropped(struct desk *d, const struct held_row *held, enum arbiter_drop why)
{
    d->dropped[d->n_dropped].row = *held;
    d->dropped[d->n_dropped++].why = why;
}

enum status held_replace(struct desk *d, int seat, struct move move, bool by_letter,
                         struct err *err)
{
    const struct held_row *held = held_of_seat(d, seat);
    char text[sizeof held->move];

    if (!held)
        return ST_OK;
    TRY(held_remove(d, seat, err));
    (void)move_print_coordinate(move, text, sizeof text);
    if (!by_letter && !(held->kind == HELD_MOVE && str_eq(held->move, text)))
        note_dropped(d, held, DROP_REPLACED);
    return ST_OK;
}

/* ---------------------------------------------------------------- held */

static enum status check_release(utc_ms release_at, utc_ms now, struct err *err)
{
    if (release_at > now + ARBITER_HOLD_MAX_MS)
        return err_detail(err, REASON_BAD_FIELD, "refusal.hold_most",
                          "nothing is held for longer than an hour");
    return ST_OK;
}

/* Keep it, with the timer that lets it take effect. */
static enum status put(struct desk *d, struct held_row *held, struct err *err)
{
    struct timer_row timer = {.kind = TIMER_HELD,
                              .game_id = d->game.id,
                              .seat = held->seat,
                              .state_no = d->game.state_no,
                              .due_at = held->release_at};

    held->game_id = d->game.id;
    held->user_id = d->actor.user_id;
    held->state_no = d->game.state_no;
    held->created_at = d->now;
    TRY(held_put(d->txn, held, err));
    return timers_set(d->txn, &timer, err);
}

enum status arbiter_hold(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                         struct arbiter_actor actor, const struct arbiter_act *act,
                         const char *text, bool with_draw, int64_t inbox_id, utc_ms release_at,
                         struct held_row *ret_held, struct game_row *ret_game, struct err *err)
{
    struct held_row held = {.kind = HELD_MOVE, .with_draw = with_draw, .inbox_id = inbox_id,
                            .release_at = release_at};
    const struct held_row *other;
    struct play play;
    struct desk d;
    int seat = -1;

    TRY(check_release(release_at, now, err));
    TRY(play_open(&d, arb, txn, now, actor, act, true, &seat, err));
    TRY(play_judge(&d, seat, text, &play, err));
    other = held_of_seat(&d, seat);
    if (other && other->kind == HELD_MOVE)
        return ERR_DETAIL(err, REASON_MOVE_HELD, "refusal.move_held",
                          "your move {move} in game {game} is being held; take it back first",
                          ERR_TEXT("move", other->move), ERR_TEXT("game", d.game.public_id));
    if (with_draw)
        TRY(draw_may_offer(&d, err));
    TRY(held_remove(&d, seat, err)); /* who moves does not resign */
    held.seat = seat;
    (void)move_print_coordinate(play.reading.move, held.move, sizeof held.move);
    held.received_at = d.acted_at > d.game.turn_at ? d.acted_at : d.game.turn_at;
    TRY(put(&d, &held, err));
    /* Nothing of the game's row changes, so that nothing can be seen. */
    if (ret_held)
        *ret_held = held;
    if (ret_game)
        *ret_game = d.game;
    return ST_OK;
}

enum status arbiter_hold_resignation(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                     struct arbiter_actor actor, const struct arbiter_act *act,
                                     int64_t inbox_id, utc_ms release_at,
                                     struct held_row *ret_held, struct game_row *ret_game,
                                     struct err *err)
{
    struct held_row held = {.kind = HELD_RESIGN, .inbox_id = inbox_id, .release_at = release_at};
    const struct held_row *other;
    struct desk d;
    int seat = -1;

    TRY(check_release(release_at, now, err));
    TRY(play_open(&d, arb, txn, now, actor, act, false, &seat, err));
    TRY(play_resigner(&d, act, err));
    if (d.seats[seat].left_how != SEAT_STAYED || seat_is_absent(&d.game, seat))
        return ERR_DETAIL(err, REASON_ALREADY_DONE, "refusal.left_already",
                          "{seat} has left the game already",
                          ERR_SEAT("seat", seat));
    other = held_of_seat(&d, seat);
    if (other && other->kind == HELD_RESIGN)
        return ERR_DETAIL(err, REASON_ALREADY_DONE, "refusal.resign_held",
                          "the resignation of {seat} is being held already",
                          ERR_SEAT("seat", seat));
    TRY(held_remove(&d, seat, err)); /* who resigns does not move */
    held.seat = seat;
    held.received_at = d.acted_at;
    TRY(put(&d, &held, err));
    if (ret_held)
        *ret_held = held;
    if (ret_game)
        *ret_game = d.game;
    return ST_OK;
}

/* ---------------------------------------------------------------- taken back */

/* The clock's timer may have been put off because of what was held. */
static enum status clock_again(struct desk *d, struct err *err)
{
    struct deadline deadline;
    unsigned done = 0;

    if (d->game.paused_at != UTC_NONE)
        return ST_OK;
    TRY(turn_deadline(d->conn, &d->game, &deadline, err));
    TRY(turn_announced(d, &done, err));
    return turn_set_timer(d, &deadline, done, err);
}

/* Does who names this state know of what is held?  A move answers one state alone; a resignation
 * outlives it, and is known to whoever has seen that state or a later one. */
static bool state_fits(const struct held_row *held, int64_t state_no)
{
    return held->kind == HELD_MOVE ? state_no == held->state_no : state_no >= held->state_no;
}

/* What an `undo` means: of the actor's, what was held last.  *ret_other: there are some, but none
 * that the state fits. */
static const struct held_row *undone(const struct desk *d, const struct arbiter_act *act,
                                     utc_ms acted_at, const struct held_row **ret_other)
{
    const struct held_row *last = NULL;

    *ret_other = NULL;
    for (int seat = 0; seat < SEATS; seat++) {
        const struct held_row *held = held_of_seat(d, seat);

        if (!held || held->user_id != d->actor.user_id || acted_at >= held->release_at ||
            (act->seat != ARBITER_ANY_SEAT && act->seat != seat))
            continue;
        if (!state_fits(held, act->state_no))
            *ret_other = held;
        else if (!last || held->created_at > last->created_at ||
                 (held->created_at == last->created_at && held->kind == HELD_MOVE))
            last = held; /* of one letter's the move came last */
    }
    return last;
}

enum status arbiter_undo(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                         struct arbiter_actor actor, const struct arbiter_act *act,
                         struct held_row *ret_held, struct game_row *ret_game, struct err *err)
{
    utc_ms acted_at = act->received_at > 0 && act->received_at < now ? act->received_at : now;
    const struct held_row *held, *other = NULL;
    struct desk d;
    int seat;

    TRY(desk_open(&d, arb, txn, now, actor, act->game_id, err));
    if (desk_seats_of(&d, actor.user_id) == 0) {
        TRY(desk_may_see(&d, err));
        return ERR_DETAIL(err, REASON_NOT_YOUR_GAME, "refusal.not_playing",
                          "you do not play in game {game}", ERR_TEXT("game", d.game.public_id));
    }
    if (act->state_no < 0)
        return err_detail(err, REASON_MISSING_FIELD, "refusal.state_needed",
                          "the state number that this answers must be named");
    held = undone(&d, act, acted_at, &other);
    if (!held && other)
        return ERR_DETAIL(err, REASON_STATE_MISMATCH, "refusal.held_answers",
                          "what is held answers state {now}, not {said}",
                          ERR_NUMBER("now", other->state_no), ERR_NUMBER("said", act->state_no));
    if (!held)
        return ERR_DETAIL(err, REASON_NOTHING_HELD, "refusal.nothing_of_yours",
                          "there is nothing of yours in game {game} that could be taken back",
                          ERR_TEXT("game", d.game.public_id));
    seat = held->seat;
    TRY(held_remove(&d, seat, err));
    if (seat == d.game.turn_seat)
        TRY(clock_again(&d, err));
    if (ret_held)
        *ret_held = d.held[seat];
    if (ret_game)
        *ret_game = d.game;
    return ST_OK;
}

/* ---------------------------------------------------------------- taking effect, and dropped */

static enum status play_held(struct desk *d, const struct held_row *held, struct err *err)
{
    struct play play = {.seat = held->seat};

    /* It was judged when it was held: in time, or late.  The deadline can only have grown. */
    if (d->acted_at > d->game.deadline_at)
        play.late_ms = d->acted_at - d->game.deadline_at;
    TRY(play_read(d, held->move, &play, err));
    TRY(play_make(d, &play, NULL, err));
    if (held->with_draw && d->game.state == GAME_RUNNING)
        TRY(draw_offer(d, held->seat, err));
    return ST_OK;
}

enum status held_release(struct desk *d, int seat, struct err *err)
{
    const struct held_row *held = &d->held[seat];

    d->actor = (struct arbiter_actor){.user_id = held->user_id};
    d->acted_at = held->received_at;
    TRY(held_remove(d, seat, err));
    return held->kind == HELD_MOVE ? play_held(d, held, err) : play_resign(d, seat, err);
}

/* Can it still take effect?  A resignation can while its seat is in the game (it has not left, nor
 * been mated and removed), whatever happens to the others. */
static bool stands(const struct desk *d, const struct held_row *held)
{
    const struct game_row *g = &d->game;
    const struct seat_row *seat = &d->seats[held->seat];

    if (g->state != GAME_RUNNING)
        return false;
    if (held->kind == HELD_MOVE)
        return g->paused_at == UTC_NONE && g->state_no == held->state_no;
    return seat->user_id == held->user_id && seat->left_how == SEAT_STAYED &&
           !seat_is_absent(g, held->seat);
}

/* He had moved; if he has to think anew, the time since then is not his own. */
static enum status give_back(struct desk *d, const struct held_row *held, struct err *err)
{
    const struct game_row *g = &d->game;
    int64_t ms = 0;

    if (held->kind != HELD_MOVE || g->state != GAME_RUNNING || g->turn_seat != held->seat ||
        g->turn_at > held->received_at)
        return ST_OK;
    TRY(turn_ran(d->conn, g, held->received_at, d->now, &ms, err));
    return ms > 0 ? turn_give(d, CLOCK_FACT_HELD, ms, held->received_at, err) : ST_OK;
}

enum status held_settle(struct desk *d, struct err *err)
{
    for (int seat = 0; seat < SEATS; seat++) {
        const struct held_row *held = held_of_seat(d, seat);

        if (!held || stands(d, held))
            continue;
        TRY(held_remove(d, seat, err));
        note_dropped(d, held,
                     d->game.state != GAME_RUNNING                                     ? DROP_ENDED
                     : held->kind == HELD_MOVE && d->game.paused_at != UTC_NONE ? DROP_PAUSED
                                                                                : DROP_STATE);
        TRY(give_back(d, held, err));
    }
    return ST_OK;
}

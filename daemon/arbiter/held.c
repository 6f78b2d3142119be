#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arbiter/desk.h"
#include "base/str.h"

enum status arbiter_hold(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                         struct arbiter_actor actor, const struct arbiter_act *act,
                         const char *text, bool with_draw, int64_t inbox_id, utc_ms release_at,
                         struct held_row *ret_held, struct game_row *ret_game, struct err *err)
{
    struct held_row held = {.game_id = act->game_id};
    struct play play;
    struct desk d;
    int seat = -1;

    if (release_at > now + ARBITER_HOLD_MAX_MS)
        return err_detail(err, REASON_BAD_FIELD, "refusal.hold_long",
                          "a move is held for an hour at most");
    TRY(play_open(&d, arb, txn, now, actor, act, true, &seat, err));
    TRY(play_judge(&d, seat, text, &play, err));
    if (d.has_held)
        return ERR_DETAIL(err, REASON_MOVE_HELD, "refusal.move_held",
                          "your move {move} in game {game} is being held; take it back first",
                          ERR_TEXT("move", d.held.move), ERR_TEXT("game", d.game.public_id));
    if (with_draw)
        TRY(play_may_offer(&d, err));
    held.seat = seat;
    held.user_id = actor.user_id;
    held.state_no = d.game.state_no;
    (void)move_print_coordinate(play.reading.move, held.move, sizeof held.move);
    held.with_draw = with_draw;
    held.inbox_id = inbox_id;
    held.received_at = d.acted_at > d.game.turn_at ? d.acted_at : d.game.turn_at;
    held.release_at = release_at;
    held.created_at = now;
    TRY(held_put(txn, &held, err));
    struct timer_row timer = {.kind = TIMER_HELD,
                              .game_id = d.game.id,
                              .seat = -1,
                              .state_no = d.game.state_no,
                              .due_at = release_at};
    TRY(timers_set(txn, &timer, err));
    /* Nothing of the game's row changes, so that nothing can be seen. */
    if (ret_held)
        *ret_held = held;
    if (ret_game)
        *ret_game = d.game;
    return ST_OK;
}

enum status held_remove(struct desk *d, struct err *err)
{
    TRY(held_take(d->txn, d->game.id, &d->held, err));
    d->has_held = false;
    return timers_clear(d->txn, TIMER_HELD, d->game.id, -1, err);
}

/* The clock's timer may have been put off because of the held move. */
static enum status clock_again(struct desk *d, struct err *err)
{
    struct deadline deadline;
    unsigned done = 0;

    TRY(turn_deadline(d->conn, &d->game, &deadline, err));
    TRY(turn_announced(d, &done, err));
    return turn_set_timer(d, &deadline, done, err);
}

enum status arbiter_undo(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                         struct arbiter_actor actor, const struct arbiter_act *act,
                         struct held_row *ret_held, struct game_row *ret_game, struct err *err)
{
    utc_ms acted_at = act->received_at > 0 && act->received_at < now ? act->received_at : now;
    struct desk d;

    TRY(desk_open(&d, arb, txn, now, actor, act->game_id, err));
    if (desk_seats_of(&d, actor.user_id) == 0) {
        TRY(desk_may_see(&d, err));
        return ERR_DETAIL(err, REASON_NOT_YOUR_GAME, "refusal.not_playing",
                          "you do not play in game {game}", ERR_TEXT("game", d.game.public_id));
    }
    if (act->state_no < 0)
        return err_detail(err, REASON_MISSING_FIELD, "refusal.state_needed",
                          "the state number that this answers must be named");
    if (!d.has_held || d.held.user_id != actor.user_id || acted_at >= d.held.release_at)
        return ERR_DETAIL(err, REASON_NOTHING_HELD, "refusal.nothing_held",
                          "there is no move of yours in game {game} that could be taken back",
                          ERR_TEXT("game", d.game.public_id));
    if (act->state_no != d.held.state_no)
        return ERR_DETAIL(err, REASON_STATE_MISMATCH, "refusal.held_state",
                          "the move that is held answers state {now}, not {said}",
                          ERR_NUMBER("now", d.held.state_no), ERR_NUMBER("said", act->state_no));
    TRY(held_remove(&d, err));
    TRY(clock_again(&d, err));
    if (ret_held)
        *ret_held = d.held;
    if (ret_game)
        *ret_game = d.game;
    return ST_OK;
}

enum status held_play(struct desk *d, struct err *err)
{
    struct play play = {.seat = d->held.seat};

    d->actor = (struct arbiter_actor){.user_id = d->held.user_id};
    d->acted_at = d->held.received_at;
    TRY(held_remove(d, err));
    /* It was judged when it was held: in time, or late.  The deadline can only have grown. */
    if (d->acted_at > d->game.deadline_at)
        play.late_ms = d->acted_at - d->game.deadline_at;
    TRY(play_read(d, d->held.move, &play, err));
    TRY(play_make(d, &play, NULL, err));
    if (d->held.with_draw && d->game.state == GAME_RUNNING)
        TRY(play_offer(d, d->held.seat, err));
    return ST_OK;
}

enum status held_settle(struct desk *d, struct err *err)
{
    const struct game_row *g = &d->game;
    int64_t ms = 0;

    if (!d->has_held)
        return ST_OK;
    if (g->state == GAME_RUNNING && g->paused_at == UTC_NONE && g->state_no == d->held.state_no)
        return ST_OK; /* it stands */
    d->dropped_why = g->state != GAME_RUNNING     ? DROP_ENDED
                     : g->paused_at != UTC_NONE ? DROP_PAUSED
                                                  : DROP_STATE;
    TRY(held_remove(d, err));
    d->has_dropped = true;
    /* He had moved; if he has to think anew, the time since then is not his own. */
    if (g->state != GAME_RUNNING || g->turn_seat != d->held.seat ||
        g->turn_at > d->held.received_at)
        return ST_OK;
    TRY(turn_ran(d->conn, g, d->held.received_at, d->now, &ms, err));
    return ms > 0 ? turn_give(d, CLOCK_FACT_HELD, ms, d->held.received_at, err) : ST_OK;
}

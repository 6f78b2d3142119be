#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arbiter/desk.h"
#include "base/str.h"
#include "rules/notation.h"

/* The store's words for results and causes are the rules' own, in their order. */
static_assert((int)GAME_RESULT_TEAM0 == (int)RESULT_TEAM0 &&
                  (int)GAME_RESULT_TEAM1 == (int)RESULT_TEAM1 &&
                  (int)GAME_RESULT_DRAW == (int)RESULT_DRAW,
              "results");
static_assert((int)GAME_CAUSE_MATE == (int)CAUSE_MATE &&
                  (int)GAME_CAUSE_LEAVING == (int)CAUSE_LEAVING &&
                  (int)GAME_CAUSE_THREEFOLD == (int)CAUSE_THREEFOLD &&
                  (int)GAME_CAUSE_AGREEMENT == (int)CAUSE_AGREEMENT,
              "causes");

enum status arbiter_position(const struct game_row *game, struct position *ret_position,
                             struct err *err)
{
    struct variant variant;
    struct position_error bad;
    char text[160];

    if (game->position[0] == '\0')
        return ERR_DETAIL(err, REASON_GAME_NOT_RUNNING, "refusal.not_started",
                          "game {game} has not started", ERR_TEXT("game", game->public_id));
    if (variant_parse(game->rules, &variant, NULL) != VARIANT_OK)
        return err_reason(err, REASON_CORRUPT, "game %s: its rules cannot be read: %s",
                          game->public_id, game->rules);
    if (position_parse(&variant, game->position, ret_position, &bad) != POSITION_OK) {
        (void)position_error_sentence(variant.game, &bad, text, sizeof text);
        return err_reason(err, REASON_CORRUPT, "game %s: its position cannot be read: %s",
                          game->public_id, text);
    }
    return ST_OK;
}

/* ---------------------------------------------------------------- who acts, on what */

/* What the actor has seen of the game, against what it is. */
static enum status compare_seen(const struct desk *d, const struct arbiter_act *act,
                                struct err *err)
{
    if (act->state_no < 0)
        return err_detail(err, REASON_MISSING_FIELD, "refusal.state_needed",
                          "the state number that this answers must be named");
    if (act->state_no != d->game.state_no)
        return ERR_DETAIL(err, REASON_STATE_MISMATCH, "refusal.state_now",
                          "game {game} has moved on: it stands at state {now}, not {said}",
                          ERR_TEXT("game", d->game.public_id), ERR_NUMBER("now", d->game.state_no),
                          ERR_NUMBER("said", act->state_no));
    if (act->ply >= 0 && act->ply != d->game.ply)
        return ERR_DETAIL(err, REASON_STATE_MISMATCH, "refusal.ply_now",
                          "the moves made in game {game} are {now}, not {said}",
                          ERR_TEXT("game", d->game.public_id), ERR_NUMBER("now", d->game.ply),
                          ERR_NUMBER("said", act->ply));
    if (act->has_hash && act->position_hash != d->game.position_hash) {
        char stands[17], said[17];

        (void)snprintf(stands, sizeof stands, "%016" PRIx64, d->game.position_hash);
        (void)snprintf(said, sizeof said, "%016" PRIx64, act->position_hash);
        return ERR_DETAIL(err, REASON_STATE_MISMATCH, "refusal.position_now",
                          "the position of game {game} is {now}, not {said}",
                          ERR_TEXT("game", d->game.public_id), ERR_TEXT("now", stands),
                          ERR_TEXT("said", said));
    }
    return ST_OK;
}

/* Those of the actor's seats whose armies have not left. */
static unsigned seats_that_stayed(const struct desk *d)
{
    unsigned seats = desk_seats_of(d, d->actor.user_id);

    for (int s = 0; s < SEATS; s++) {
        if (d->seats[s].left_how != SEAT_STAYED)
            seats &= ~(1u << s);
    }
    return seats;
}

/* The seat that acts where none is named: the one on turn; of two off turn the one whose army has
 * not left. */
static int seat_meant(const struct desk *d)
{
    unsigned mine = desk_seats_of(d, d->actor.user_id), stayed = seats_that_stayed(d);

    if ((mine >> d->game.turn_seat & 1u) != 0)
        return d->game.turn_seat;
    return seats_first(seats_are_one(stayed) ? stayed : mine);
}

enum status play_open(struct desk *d, const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                      struct arbiter_actor actor, const struct arbiter_act *act, bool needs_clock,
                      int *ret_seat, struct err *err)
{
    unsigned mine;

    if (act->seat != ARBITER_ANY_SEAT)
        TRY(desk_check_seat(act->seat, err));
    TRY(desk_open(d, arb, txn, now, actor, act->game_id, err));
    if (act->received_at > 0 && act->received_at < now)
        d->acted_at = act->received_at;
    mine = desk_seats_of(d, actor.user_id);
    if (mine == 0) {
        TRY(desk_may_see(d, err));
        return ERR_DETAIL(err, REASON_NOT_YOUR_GAME, "refusal.not_playing",
                          "you do not play in game {game}",
                          ERR_TEXT("game", d->game.public_id));
    }
    if (act->seat != ARBITER_ANY_SEAT && (mine >> act->seat & 1u) == 0)
        return ERR_DETAIL(err, REASON_NOT_YOUR_GAME, "refusal.seat_not_yours",
                          "that seat of game {game} is not yours",
                          ERR_TEXT("game", d->game.public_id));
    if (d->game.state != GAME_RUNNING)
        return desk_not_running(d, err);
    if (needs_clock && d->game.paused_at != UTC_NONE)
        return ERR_DETAIL(err, REASON_GAME_PAUSED, "refusal.paused", "game {game} is paused",
                          ERR_TEXT("game", d->game.public_id));
    TRY(compare_seen(d, act, err));
    *ret_seat = act->seat != ARBITER_ANY_SEAT ? act->seat : seat_meant(d);
    return ST_OK;
}

/* ---------------------------------------------------------------- what follows */

static void take_position(struct desk *d, const struct position *pos)
{
    (void)position_print(pos, d->game.position, sizeof d->game.position);
    d->game.position_hash = pos->hash;
    d->game.ply = (int)pos->ply;
    for (int s = 0; s < SEATS; s++)
        d->game.conditions[s] = arbiter_condition_letter(pos->condition[s]);
}

static enum status tell_outcome(struct desk *d, const struct outcome *outcome, struct err *err)
{
    for (int i = 0; i < outcome->count; i++) {
        enum game_event_kind kind = event_kind((enum event_type)outcome->at[i].type);
        if (kind != GAME_EVENT_COUNT_)
            TRY(desk_event(d, kind, outcome->at[i].seat, 0, NULL, err));
    }
    return ST_OK;
}

/* After a move or a seat's leaving has been told: the open draw offer, the end, or the turn.
 * mover: who moved (-1: a seat left).  had_turn: whose turn it was. */
static enum status go_on(struct desk *d, const struct position *pos, int mover, int had_turn,
                         struct err *err)
{
    enum draw_verdict draw = DRAW_NONE;
    struct event_row more = EVENT_ROW_INIT;
    struct vote_row vote;
    bool has_vote;

    if (position_is_over(pos))
        return desk_finish(d, (enum game_result)pos->result, (enum game_cause)pos->cause,
                           VOTE_LAPSED, err);
    enum status st = votes_get_open(d->conn, d->game.id, VOTE_DRAW, &vote, err);
    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    has_vote = st == ST_OK;
    if (has_vote && mover >= 0 && seats_are_enemies((enum seat)vote.seat, (enum seat)mover)) {
        TRY(votes_settle(d->txn, vote.id, VOTE_LAPSED, d->now, err));
        TRY(desk_event(d, GAME_EVENT_DRAW_LAPSED, vote.seat, 0, NULL, err));
        has_vote = false;
    }
    if (mover >= 0) {
        TRY(draw_find(d, pos, &draw, err));
        if (draw == DRAW_FIVEFOLD)
            return desk_finish(d, GAME_RESULT_DRAW, GAME_CAUSE_FIVEFOLD, VOTE_LAPSED, err);
        if (draw == DRAW_COUNT)
            return desk_finish(d, GAME_RESULT_DRAW, GAME_CAUSE_SEVENTY_FIVE_ROUNDS, VOTE_LAPSED,
                               err);
    }
    if (has_vote && draw_is_agreed(d, &vote))
        return desk_finish(d, GAME_RESULT_DRAW, GAME_CAUSE_AGREEMENT, VOTE_ACCEPTED, err);
    d->game.turn_seat = pos->turn;
    d->game.turn_user_id = d->seats[pos->turn].user_id;
    if (mover < 0 && pos->turn == had_turn)
        return ST_OK; /* his turn goes on, by the same clock and timer */
    TRY(turn_begin(d, err));
    more.deadline_at = d->game.deadline_at;
    return desk_event(d, GAME_EVENT_TURN, pos->turn, 0, &more, err);
}

/* ---------------------------------------------------------------- moves */

static enum status unreadable(const struct position *pos, const struct move_reading *reading,
                              struct err *err)
{
    char text[MOVE_READING_SENTENCE_MAX];
    enum reason reason = REASON_UNREADABLE_MOVE;

    (void)move_reading_sentence(pos, reading, text, sizeof text);
    switch (reading->code) {
    case READ_SEVERAL:
        reason = REASON_AMBIGUOUS_MOVE;
        break;
    case READ_ILLEGAL:
    case READ_NONE:
    case READ_WRONG_MAN:
    case READ_NO_CAPTURE:
    case READ_WRONG_VICTIM:
        reason = REASON_ILLEGAL_MOVE;
        break;
    default:
        break;
    }
    return err_reason(err, reason, "%s", text);
}

/* What of the turn's time was his own: pauses, outages and waiting for his letter are not. */
static enum status time_used(struct desk *d, int64_t *ret_ms, struct err *err)
{
    struct clock_fact_row rows[TURN_FACTS_MAX];
    int64_t used = d->acted_at - d->game.turn_at;
    size_t n = 0;

    /* No fact has changed this turn's clock if it has just start and budget. */
    if (d->game.deadline_at != d->game.turn_at + d->game.per_move_ms) {
        TRY(turn_ran(d->conn, &d->game, d->game.turn_at, d->acted_at, &used, err));
        TRY(turn_facts(d->conn, &d->game, rows, &n, err));
        for (size_t i = 0; i < n; i++) {
            if (rows[i].kind == CLOCK_FACT_DELIVERY)
                used -= rows[i].amount_ms;
        }
    }
    *ret_ms = used > 0 ? used : 0;
    return ST_OK;
}

enum status play_late(struct desk *d, int64_t *ret_late_ms, struct err *err)
{
    utc_ms end = deadline_grace_end(d->game.deadline_at, d->game.grace_ms);

    if (d->acted_at <= d->game.deadline_at) {
        *ret_late_ms = 0;
        return ST_OK;
    }
    TRY(turn_time_is_sure(d, err));
    if (d->acted_at > end)
        return ERR_DETAIL(err, REASON_LOST_ON_TIME, "refusal.turn_over_at",
                          "the time for this turn was over at {at}",
                          ERR_INSTANT("at", end));
    *ret_late_ms = d->acted_at - d->game.deadline_at;
    return ST_OK;
}

enum status play_read(struct desk *d, const char *text, struct play *play, struct err *err)
{
    TRY(arbiter_position(&d->game, &play->pos, err));
    if (move_read(&play->pos, text, strlen(text), &play->reading) != READ_MOVE)
        return unreadable(&play->pos, &play->reading, err);
    return ST_OK;
}

enum status play_judge(struct desk *d, int seat, const char *text, struct play *ret_play,
                       struct err *err)
{
    ret_play->seat = seat;
    ret_play->late_ms = 0;
    if (seat != d->game.turn_seat)
        return ERR_DETAIL(err, REASON_NOT_YOUR_TURN, "refusal.turn_of", "it is the turn of {seat}",
                          ERR_SEAT("seat", d->game.turn_seat));
    TRY(play_late(d, &ret_play->late_ms, err));
    return play_read(d, text, ret_play, err);
}

enum status play_make(struct desk *d, struct play *play, struct move_row *ret_row,
                      struct err *err)
{
    unsigned char before[DIGEST_SIZE];
    struct event_row more = EVENT_ROW_INIT;
    struct move_judgement judgement;
    struct move_row row = {.ply = 0};
    struct position *pos = &play->pos;
    struct outcome outcome;

    row.game_id = d->game.id;
    row.seat = play->seat;
    row.user_id = d->actor.user_id;
    row.is_late = play->late_ms > 0;
    row.at = d->now;
    TRY(time_used(d, &row.used_ms, err));
    (void)move_print_short(pos, play->reading.move, true, row.san, sizeof row.san);
    if (d->game.has_chain)
        memcpy(before, d->game.chain, sizeof before);
    else
        chain_start(&d->arb->digest, &d->game, before);
    if (position_play(pos, play->reading.move, &outcome, &judgement) != MOVE_LEGAL)
        return err_set(err, ST_INTERNAL, "game %s: a move read as legal is not",
                       d->game.public_id);
    (void)move_print_coordinate(play->reading.move, row.move, sizeof row.move);
    take_position(d, pos);
    row.ply = d->game.ply;
    row.position_hash = pos->hash;
    chain_next(&d->arb->digest, before, &row, row.chain);
    memcpy(d->game.chain, row.chain, sizeof d->game.chain);
    d->game.has_chain = true;
    d->game.moved_at = d->now;

    (void)str_copy(more.move, sizeof more.move, row.move);
    (void)str_copy(more.san, sizeof more.san, row.san);
    TRY(desk_event(d, GAME_EVENT_MOVE, row.seat, row.user_id, &more, err));
    row.seq = d->game.last_seq;
    TRY(moves_append(d->txn, &row, err));
    if (row.is_late) {
        struct event_row late = EVENT_ROW_INIT;
        late.amount_ms = play->late_ms;
        TRY(desk_event(d, GAME_EVENT_LATE, row.seat, 0, &late, err));
        TRY(seats_add_late(d->txn, d->game.id, row.seat, err));
        TRY(desk_reload_seats(d, err));
    }
    TRY(tell_outcome(d, &outcome, err));
    TRY(go_on(d, pos, row.seat, row.seat, err));
    if (ret_row)
        *ret_row = row;
    return ST_OK;
}

enum status arbiter_move(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                         struct arbiter_actor actor, const struct arbiter_act *act,
                         const char *text, struct arbiter_moved *ret, struct err *err)
{
    struct move_row row;
    struct play play;
    struct desk d;
    int seat = -1;

    TRY(play_open(&d, arb, txn, now, actor, act, true, &seat, err));
    TRY(play_judge(&d, seat, text, &play, err));
    TRY(held_replace(&d, seat, play.reading.move, act->received_at > 0, err));
    TRY(play_make(&d, &play, &row, err));
    TRY(desk_close(&d, &ret->game, err));
    ret->move = row;
    memcpy(ret->seats, d.seats, sizeof ret->seats);
    return ST_OK;
}

/* ---------------------------------------------------------------- leaving (R-C9, R-C11) */

static enum status leave(struct desk *d, int seat, enum leave_how how, int64_t by_user,
                         struct err *err)
{
    struct outcome outcome;
    struct position pos;
    int had_turn = d->game.turn_seat;

    TRY(arbiter_position(&d->game, &pos, err));
    enum leave_verdict verdict = position_leave(&pos, (enum seat)seat, how, &outcome);
    if (verdict == LEAVE_ABSENT)
        return ERR_DETAIL(err, REASON_ALREADY_DONE, "refusal.left_already",
                          "{seat} has left the game already", ERR_SEAT("seat", seat));
    if (verdict != LEAVE_OK)
        return err_set(err, ST_INTERNAL, "game %s: %s cannot leave: %s", d->game.public_id,
                       seat_word(seat), leave_verdict_str(verdict));
    take_position(d, &pos);
    TRY(desk_event(d, how == LEAVE_RESIGN ? GAME_EVENT_RESIGNED : GAME_EVENT_FORFEITED, seat,
                   by_user, NULL, err));
    TRY(seats_left(d->txn, d->game.id, seat,
                   how == LEAVE_RESIGN ? SEAT_RESIGNED : SEAT_FORFEITED, d->now, err));
    TRY(desk_reload_seats(d, err));
    TRY(tell_outcome(d, &outcome, err));
    return go_on(d, &pos, -1, had_turn, err);
}

enum status play_resigner(const struct desk *d, const struct arbiter_act *act, struct err *err)
{
    unsigned stayed = seats_that_stayed(d);

    if (act->seat == ARBITER_ANY_SEAT && stayed != 0 && !seats_are_one(stayed))
        return err_detail(err, REASON_MISSING_FIELD, "refusal.which_resigns",
                          "name the seat: which of your two resigns?");
    return ST_OK;
}

enum status play_resign(struct desk *d, int seat, struct err *err)
{
    return leave(d, seat, LEAVE_RESIGN, d->actor.user_id, err);
}

enum status arbiter_resign(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                           struct arbiter_actor actor, const struct arbiter_act *act,
                           struct game_row *ret_game, struct err *err)
{
    struct desk d;
    int seat = -1;

    TRY(play_open(&d, arb, txn, now, actor, act, false, &seat, err));
    TRY(play_resigner(&d, act, err));
    const struct held_row *held = held_of_seat(&d, seat);
    if (held && held->kind == HELD_RESIGN) /* that is done with this */
        TRY(held_remove(&d, seat, err));
    TRY(play_resign(&d, seat, err));
    return desk_close(&d, ret_game, err);
}

enum status play_forfeit(struct desk *d, struct err *err)
{
    return leave(d, d->game.turn_seat, LEAVE_FORFEIT, 0, err);
}

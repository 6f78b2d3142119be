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

enum { HASHES_MAX = 1024, EVENTS_PAGE = 32, VOTES_MAX = 512 };

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

static enum status not_running(const struct desk *d, struct err *err)
{
    switch (d->game.state) {
    case GAME_FINISHED:
    case GAME_ABORTED:
        return ERR_DETAIL(err, REASON_GAME_NOT_RUNNING, "refusal.game_over", "game {game} is over",
                          ERR_TEXT("game", d->game.public_id));
    default:
        return ERR_DETAIL(err, REASON_GAME_NOT_RUNNING, "refusal.not_started",
                          "game {game} has not started", ERR_TEXT("game", d->game.public_id));
    }
}

enum status play_open(struct desk *d, const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                      struct arbiter_actor actor, const struct arbiter_act *act, bool needs_clock,
                      int *ret_seat, struct err *err)
{
    unsigned mine;
    int seat = act->seat;

    if (seat != ARBITER_ANY_SEAT && (seat < 0 || seat >= SEATS))
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.no_seat", "there is no seat {number}",
                          ERR_NUMBER("number", seat));
    TRY(desk_open(d, arb, txn, now, actor, act->game_id, err));
    if (act->received_at > 0 && act->received_at < now)
        d->acted_at = act->received_at;
    mine = desk_seats_of(d, actor.user_id);
    if (mine == 0)
        TRY(desk_may_see(d, err));
    if (mine == 0 || (seat != ARBITER_ANY_SEAT && (mine >> seat & 1u) == 0))
        return mine == 0 ? ERR_DETAIL(err, REASON_NOT_YOUR_GAME, "refusal.not_playing",
                                      "you do not play in game {game}",
                                      ERR_TEXT("game", d->game.public_id))
                         : ERR_DETAIL(err, REASON_NOT_YOUR_GAME, "refusal.seat_not_yours",
                                      "that seat of game {game} is not yours",
                                      ERR_TEXT("game", d->game.public_id));
    if (d->game.state != GAME_RUNNING)
        return not_running(d, err);
    if (needs_clock && d->game.paused_at != UTC_NONE)
        return ERR_DETAIL(err, REASON_GAME_PAUSED, "refusal.paused", "game {game} is paused",
                          ERR_TEXT("game", d->game.public_id));
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
    if (seat == ARBITER_ANY_SEAT) {
        if ((mine >> d->game.turn_seat & 1u) != 0) {
            seat = d->game.turn_seat;
        } else {
            for (seat = 0; (mine >> seat & 1u) == 0; seat++)
                ;
            /* Two seats, neither on turn: the one that is still in the game. */
            unsigned in_game = 0;
            for (int s = 0; s < SEATS; s++) {
                if ((mine >> s & 1u) != 0 && d->seats[s].left_how == SEAT_STAYED)
                    in_game |= 1u << s;
            }
            if ((in_game & (in_game - 1)) == 0 && in_game != 0) {
                for (seat = 0; (in_game >> seat & 1u) == 0; seat++)
                    ;
            }
        }
    }
    *ret_seat = seat;
    return ST_OK;
}

/* Did he mean one of two seats without saying which, where it matters? */
static bool seat_is_unclear(const struct desk *d, const struct arbiter_act *act)
{
    unsigned in_game = 0;

    if (act->seat != ARBITER_ANY_SEAT)
        return false;
    for (int s = 0; s < SEATS; s++) {
        if (d->seats[s].state == SEAT_TAKEN && d->seats[s].user_id == d->actor.user_id &&
            d->seats[s].left_how == SEAT_STAYED)
            in_game |= 1u << s;
    }
    return (in_game & (in_game - 1)) != 0;
}

/* ---------------------------------------------------------------- draws */

static bool condition_is_in_play(char c)
{
    return c == 'a' || c == 's'; /* neither mated nor absent (R-C10) */
}

static bool vote_is_agreed(const struct desk *d, const struct vote_row *vote)
{
    for (int s = 0; s < SEATS; s++) {
        if (condition_is_in_play(d->game.conditions[s]) && vote->answers[s] != 1)
            return false;
    }
    return true;
}

/* The hashes of the positions since the last capture or promotion (fortress: or pawn move), the
 * present one last: older ones can't come again. */
static enum status hashes_since(struct desk *d, const struct position *pos,
                                uint64_t ret[HASHES_MAX], size_t *ret_n, struct err *err)
{
    int first = d->game.ply > (int)pos->count ? d->game.ply - (int)pos->count : 0;
    struct event_row rows[EVENTS_PAGE];
    size_t n = 0, got = 0;
    int64_t since = 0;
    bool left = false;

    /* R-C8 ends a game before this could be too short; positions left by leavers come on top. */
    if (d->game.ply - first >= HASHES_MAX - 16)
        first = d->game.ply - (HASHES_MAX - 16);
    if (first == 0) {
        struct game_row at_start = d->game;
        struct position start;
        memcpy(at_start.position, at_start.start_position, sizeof at_start.position);
        TRY(arbiter_position(&at_start, &start, err));
        ret[n++] = start.hash;
    }
    TRY(moves_hashes(d->conn, d->game.id, first > 0 ? first - 1 : 0, ret + n, HASHES_MAX - 16 - n,
                     &got, err));
    n += got;
    for (int s = 0; s < SEATS; s++)
        left = left || d->seats[s].left_how != SEAT_STAYED;
    if (left) {
        if (first > 0) {
            struct move_row move;
            TRY(moves_get(d->conn, d->game.id, first, &move, err));
            since = move.seq;
        }
        do {
            TRY(events_of_game(d->conn, d->game.id, since, rows, EVENTS_PAGE, &got, err));
            for (size_t i = 0; i < got; i++) {
                since = rows[i].seq;
                if ((rows[i].kind == GAME_EVENT_RESIGNED || rows[i].kind == GAME_EVENT_FORFEITED) &&
                    n < HASHES_MAX - 1)
                    ret[n++] = rows[i].position_hash;
            }
        } while (got == EVENTS_PAGE);
    }
    /* The order does not matter but for the last, and the present one is among them. */
    for (size_t i = n; i-- > 0;) {
        if (ret[i] == pos->hash) {
            uint64_t last = ret[n - 1];
            ret[n - 1] = ret[i];
            ret[i] = last;
            *ret_n = n;
            return ST_OK;
        }
    }
    ret[n++] = pos->hash;
    *ret_n = n;
    return ST_OK;
}

static enum status find_draw(struct desk *d, const struct position *pos,
                             enum draw_verdict *ret_verdict, struct err *err)
{
    uint64_t hashes[HASHES_MAX];
    size_t n = 0;

    if (pos->count < 4) { /* nobody has moved twice since */
        *ret_verdict = DRAW_NONE;
        return ST_OK;
    }
    TRY(hashes_since(d, pos, hashes, &n, err));
    *ret_verdict = draw_by_history(hashes, n, pos->count);
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
        TRY(find_draw(d, pos, &draw, err));
        if (draw == DRAW_FIVEFOLD)
            return desk_finish(d, GAME_RESULT_DRAW, GAME_CAUSE_FIVEFOLD, VOTE_LAPSED, err);
        if (draw == DRAW_COUNT)
            return desk_finish(d, GAME_RESULT_DRAW, GAME_CAUSE_SEVENTY_FIVE_ROUNDS, VOTE_LAPSED,
                               err);
    }
    if (has_vote && vote_is_agreed(d, &vote))
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

/* In time or late; REASON_LOST_ON_TIME after the grace. */
static enum status judge_time(struct desk *d, int64_t *ret_late_ms, struct err *err)
{
    utc_ms end = deadline_grace_end(d->game.deadline_at, d->game.grace_ms);
    bool doubtful = false;

    if (d->acted_at <= d->game.deadline_at) {
        *ret_late_ms = 0;
        return ST_OK;
    }
    /* Nobody loses by an outage, or by a clock that jumped, that has not been made good yet. */
    TRY(turn_time_is_doubtful(d, &doubtful, err));
    if (doubtful)
        return err_detail(err, REASON_BUSY, "refusal.making_good",
                          "the server is making good for time it was away; try again in a minute");
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
    TRY(judge_time(d, &ret_play->late_ms, err));
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
    if (seat_is_unclear(d, act))
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

/* ---------------------------------------------------------------- agreeing (R-C10) */

/* The actor's seats that have a say. */
static enum status voting_seats(const struct desk *d, unsigned *ret_seats, struct err *err)
{
    unsigned mine = desk_seats_of(d, d->actor.user_id), in_play = 0;

    for (int s = 0; s < SEATS; s++) {
        if ((mine >> s & 1u) != 0 && condition_is_in_play(d->game.conditions[s]))
            in_play |= 1u << s;
    }
    if (in_play == 0)
        return err_detail(err, REASON_SEAT_OUT, "refusal.no_say",
                          "your army is mated or has left: it has no say in a draw");
    *ret_seats = in_play;
    return ST_OK;
}

/* All votes there have been; REASON_LIMIT when no more fit. */
static enum status votes_before(struct desk *d, struct vote_row ret[VOTES_MAX], size_t *ret_n,
                                struct err *err)
{
    TRY(votes_list(d->conn, d->game.id, ret, VOTES_MAX, ret_n, err));
    if (*ret_n == VOTES_MAX)
        return ERR_DETAIL(err, REASON_LIMIT, "refusal.offers_most",
                          "game {game} has seen {most} draw offers; no more are taken",
                          ERR_TEXT("game", d->game.public_id), ERR_NUMBER("most", VOTES_MAX));
    return ST_OK;
}

/* One may ask again only after a move of one's own. */
static enum status check_repeated_offer(struct desk *d, unsigned seats, struct err *err)
{
    struct vote_row votes[VOTES_MAX];
    struct move_row moves[SEATS * 2];
    int64_t asked_seq = 0;
    size_t n = 0;

    TRY(votes_before(d, votes, &n, err));
    for (size_t i = 0; i < n; i++) {
        if (votes[i].kind == VOTE_DRAW && (seats >> votes[i].seat & 1u) != 0)
            asked_seq = votes[i].seq;
    }
    if (asked_seq == 0)
        return ST_OK;
    int from = d->game.ply - (int)COUNT_OF(moves) + 1;
    TRY(moves_list(d->conn, d->game.id, from < 1 ? 1 : from, moves, COUNT_OF(moves), &n, err));
    for (size_t i = 0; i < n; i++) {
        if ((seats >> moves[i].seat & 1u) != 0 && moves[i].seq > asked_seq)
            return ST_OK;
    }
    return err_detail(err, REASON_LIMIT, "refusal.offered_already",
                      "you have offered a draw since your last move");
}

/* The open offer; REASON_NO_DRAW_OFFERED. */
static enum status offer_open(struct desk *d, struct vote_row *ret_vote, struct err *err)
{
    enum status st = votes_get_open(d->conn, d->game.id, VOTE_DRAW, ret_vote, err);

    return st == ST_NOT_FOUND ? ERR_DETAIL(err, REASON_NO_DRAW_OFFERED, "refusal.no_offer",
                                           "no draw is offered in game {game}",
                                           ERR_TEXT("game", d->game.public_id))
                              : st;
}

static enum status agree_if_all(struct desk *d, struct err *err)
{
    struct vote_row vote;

    TRY(votes_get_open(d->conn, d->game.id, VOTE_DRAW, &vote, err));
    if (!vote_is_agreed(d, &vote))
        return ST_OK;
    return desk_finish(d, GAME_RESULT_DRAW, GAME_CAUSE_AGREEMENT, VOTE_ACCEPTED, err);
}

static enum status offer_put(struct desk *d, int seat, unsigned seats, struct err *err)
{
    int64_t id = 0;

    TRY(desk_event(d, GAME_EVENT_DRAW_OFFERED, seat, d->actor.user_id, NULL, err));
    TRY(votes_open(d->txn, d->game.id, VOTE_DRAW, seat, d->game.last_seq, d->now, &id, err));
    for (int s = 0; s < SEATS; s++) {
        if (s != seat && (seats >> s & 1u) != 0)
            TRY(votes_answer(d->txn, id, s, true, d->now, err));
    }
    return agree_if_all(d, err);
}

/* Yes to the open offer from all of these seats that have not said so. */
static enum status offer_accept(struct desk *d, const struct vote_row *vote, unsigned seats,
                                bool *ret_is_anew, struct err *err)
{
    bool anew = false;

    for (int s = 0; s < SEATS; s++) {
        if ((seats >> s & 1u) == 0 || vote->answers[s] == 1)
            continue;
        TRY(votes_answer(d->txn, vote->id, s, true, d->now, err));
        TRY(desk_event(d, GAME_EVENT_DRAW_ACCEPTED, s, d->actor.user_id, NULL, err));
        anew = true;
    }
    *ret_is_anew = anew;
    return anew ? agree_if_all(d, err) : ST_OK;
}

enum status play_may_offer(struct desk *d, struct err *err)
{
    struct vote_row open, votes[VOTES_MAX];
    unsigned seats = 0;
    size_t n = 0;

    TRY(voting_seats(d, &seats, err));
    enum status st = votes_get_open(d->conn, d->game.id, VOTE_DRAW, &open, err);
    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    /* An enemy's offer lapses by the move, the partner's is agreed to. */
    if (st == ST_OK && !seats_are_enemies((enum seat)open.seat, (enum seat)d->game.turn_seat)) {
        for (int s = 0; s < SEATS; s++) {
            if ((seats >> s & 1u) != 0 && open.answers[s] != 1)
                return ST_OK;
        }
        return err_detail(err, REASON_ALREADY_DONE, "refusal.agreed_already",
                          "you have agreed to the open offer already");
    }
    return votes_before(d, votes, &n, err);
}

enum status play_offer(struct desk *d, int seat, struct err *err)
{
    struct vote_row open;
    unsigned seats = 0;
    bool anew = false;

    TRY(voting_seats(d, &seats, err));
    enum status st = votes_get_open(d->conn, d->game.id, VOTE_DRAW, &open, err);
    if (st == ST_NOT_FOUND)
        return offer_put(d, seat, seats, err);
    return st == ST_OK ? offer_accept(d, &open, seats, &anew, err) : st;
}

enum status arbiter_offer_draw(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                               struct arbiter_actor actor, const struct arbiter_act *act,
                               struct game_row *ret_game, struct err *err)
{
    struct vote_row open;
    unsigned seats = 0;
    struct desk d;
    int seat = -1;

    TRY(play_open(&d, arb, txn, now, actor, act, false, &seat, err));
    TRY(voting_seats(&d, &seats, err));
    if ((seats >> seat & 1u) == 0) {
        if (act->seat != ARBITER_ANY_SEAT)
            return ERR_DETAIL(err, REASON_SEAT_OUT, "refusal.seat_out",
                              "{seat} is mated or has left", ERR_SEAT("seat", seat));
        for (seat = 0; (seats >> seat & 1u) == 0; seat++)
            ;
    }
    enum status st = votes_get_open(d.conn, d.game.id, VOTE_DRAW, &open, err);
    if (st == ST_OK)
        return ERR_DETAIL(err, REASON_ALREADY_DONE, "refusal.offer_open",
                          "a draw has been offered by {seat}: accept or decline that",
                          ERR_SEAT("seat", open.seat));
    if (st != ST_NOT_FOUND)
        return st;
    TRY(check_repeated_offer(&d, seats, err));
    TRY(offer_put(&d, seat, seats, err));
    return desk_close(&d, ret_game, err);
}

enum status arbiter_accept_draw(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                struct arbiter_actor actor, const struct arbiter_act *act,
                                struct game_row *ret_game, struct err *err)
{
    struct vote_row vote;
    unsigned seats = 0;
    struct desk d;
    int seat = -1;
    bool anew = false;

    TRY(play_open(&d, arb, txn, now, actor, act, false, &seat, err));
    TRY(offer_open(&d, &vote, err));
    TRY(voting_seats(&d, &seats, err));
    TRY(offer_accept(&d, &vote, seats, &anew, err));
    if (!anew)
        return err_detail(err, REASON_ALREADY_DONE, "refusal.draw_agreed",
                          "you have agreed to this draw already");
    return desk_close(&d, ret_game, err);
}

enum status arbiter_decline_draw(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                 struct arbiter_actor actor, const struct arbiter_act *act,
                                 struct game_row *ret_game, struct err *err)
{
    struct vote_row vote;
    unsigned seats = 0;
    struct desk d;
    int seat = -1;

    TRY(play_open(&d, arb, txn, now, actor, act, false, &seat, err));
    TRY(offer_open(&d, &vote, err));
    TRY(voting_seats(&d, &seats, err));
    if ((seats >> seat & 1u) == 0) {
        if (act->seat != ARBITER_ANY_SEAT)
            return ERR_DETAIL(err, REASON_SEAT_OUT, "refusal.seat_out",
                              "{seat} is mated or has left", ERR_SEAT("seat", seat));
        for (seat = 0; (seats >> seat & 1u) == 0; seat++)
            ;
    }
    /* His own offer he takes back: nobody has refused it, it is no more. */
    bool is_offerer = (seats >> vote.seat & 1u) != 0;
    TRY(votes_answer(txn, vote.id, is_offerer ? vote.seat : seat, false, now, err));
    TRY(votes_settle(txn, vote.id, is_offerer ? VOTE_WITHDRAWN : VOTE_DECLINED, now, err));
    TRY(desk_event(&d, is_offerer ? GAME_EVENT_DRAW_LAPSED : GAME_EVENT_DRAW_DECLINED,
                   is_offerer ? vote.seat : seat, actor.user_id, NULL, err));
    return desk_close(&d, ret_game, err);
}

enum status arbiter_claim_draw(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                               struct arbiter_actor actor, const struct arbiter_act *act,
                               struct game_row *ret_game, struct err *err)
{
    struct event_row more = EVENT_ROW_INIT;
    enum draw_verdict verdict = DRAW_NONE;
    struct position pos;
    struct desk d;
    int64_t late_ms = 0;
    int seat = -1;

    TRY(play_open(&d, arb, txn, now, actor, act, true, &seat, err));
    if (seat != d.game.turn_seat)
        return ERR_DETAIL(err, REASON_NOT_YOUR_TURN, "refusal.claim_turn",
                          "a draw is claimed by the player to move; it is the turn of {seat}",
                          ERR_SEAT("seat", d.game.turn_seat));
    TRY(judge_time(&d, &late_ms, err));
    TRY(arbiter_position(&d.game, &pos, err));
    TRY(find_draw(&d, &pos, &verdict, err));
    if (verdict == DRAW_NONE)
        return ERR_DETAIL(err, REASON_NO_CLAIM, "refusal.no_claim",
                          "this position has not stood three times, and the turns without a "
                          "capture or promotion are {count}; {need} are needed",
                          ERR_NUMBER("count", pos.count), ERR_NUMBER("need", COUNT_CLAIM));
    more.cause = verdict == DRAW_CLAIM_THREEFOLD || verdict == DRAW_FIVEFOLD
                     ? GAME_CAUSE_THREEFOLD
                     : GAME_CAUSE_FIFTY_ROUNDS;
    TRY(desk_event(&d, GAME_EVENT_DRAW_CLAIMED, seat, actor.user_id, &more, err));
    TRY(desk_finish(&d, GAME_RESULT_DRAW, more.cause, VOTE_LAPSED, err));
    return desk_close(&d, ret_game, err);
}

/* arbiter/draws.c - draws: by what the game has seen, by claim, and by agreement. */
#include <string.h>

#include "arbiter/desk.h"
#include "base/str.h"

enum { HASHES_MAX = 1024, EVENTS_PAGE = 32, VOTES_MAX = 512 };

/* ---------------------------------------------------------------- by history */

static bool condition_is_in_play(char c)
{
    return c == 'a' || c == 's'; /* neither mated nor absent (R-C10) */
}

bool draw_is_agreed(const struct desk *d, const struct vote_row *vote)
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

enum status draw_find(struct desk *d, const struct position *pos, enum draw_verdict *ret_verdict,
                      struct err *err)
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

/* *seat acts, if it is one of those that have a say; where none was named, the first that has. */
static enum status voting_seat(const struct arbiter_act *act, unsigned seats, int *seat,
                               struct err *err)
{
    if ((seats >> *seat & 1u) != 0)
        return ST_OK;
    if (act->seat != ARBITER_ANY_SEAT)
        return ERR_DETAIL(err, REASON_SEAT_OUT, "refusal.seat_out", "{seat} is mated or has left",
                          ERR_SEAT("seat", *seat));
    *seat = seats_first(seats);
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

/* The open offer, if there is one. */
static enum status offer_find(struct desk *d, bool *ret_is_open, struct vote_row *ret_vote,
                              struct err *err)
{
    enum status st = votes_get_open(d->conn, d->game.id, VOTE_DRAW, ret_vote, err);

    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    *ret_is_open = st == ST_OK;
    return ST_OK;
}

static enum status agree_if_all(struct desk *d, struct err *err)
{
    struct vote_row vote;

    TRY(votes_get_open(d->conn, d->game.id, VOTE_DRAW, &vote, err));
    if (!draw_is_agreed(d, &vote))
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

enum status draw_may_offer(struct desk *d, struct err *err)
{
    struct vote_row open, votes[VOTES_MAX];
    bool is_open = false;
    unsigned seats = 0;
    size_t n = 0;

    TRY(voting_seats(d, &seats, err));
    TRY(offer_find(d, &is_open, &open, err));
    /* An enemy's offer lapses by the move, the partner's is agreed to. */
    if (is_open && !seats_are_enemies((enum seat)open.seat, (enum seat)d->game.turn_seat)) {
        for (int s = 0; s < SEATS; s++) {
            if ((seats >> s & 1u) != 0 && open.answers[s] != 1)
                return ST_OK;
        }
        return err_detail(err, REASON_ALREADY_DONE, "refusal.agreed_already",
                          "you have agreed to the open offer already");
    }
    return votes_before(d, votes, &n, err);
}

enum status draw_offer(struct desk *d, int seat, struct err *err)
{
    struct vote_row open;
    unsigned seats = 0;
    bool is_open = false, anew = false;

    TRY(voting_seats(d, &seats, err));
    TRY(offer_find(d, &is_open, &open, err));
    return is_open ? offer_accept(d, &open, seats, &anew, err) : offer_put(d, seat, seats, err);
}

/* Somebody at the game who has something to say of a draw. */
struct talk {
    struct desk d;
    unsigned seats; /* his that have a say */
    int seat;       /* the one of them that speaks */
    bool is_open;
    struct vote_row vote; /* the offer, if one is open */
};

/* Opens the game for him: he has a say, and so has the seat that he names. */
static enum status talk_open(struct talk *t, const struct arbiter *arb, struct store_txn *txn,
                             utc_ms now, struct arbiter_actor actor,
                             const struct arbiter_act *act, struct err *err)
{
    TRY(play_open(&t->d, arb, txn, now, actor, act, /* needs_clock= */ false, &t->seat, err));
    TRY(voting_seats(&t->d, &t->seats, err));
    TRY(voting_seat(act, t->seats, &t->seat, err));
    return offer_find(&t->d, &t->is_open, &t->vote, err);
}

/* The same for the answer to an offer.  REASON_NO_DRAW_OFFERED. */
static enum status talk_answer(struct talk *t, const struct arbiter *arb, struct store_txn *txn,
                               utc_ms now, struct arbiter_actor actor,
                               const struct arbiter_act *act, struct err *err)
{
    TRY(talk_open(t, arb, txn, now, actor, act, err));
    return t->is_open ? ST_OK
                      : ERR_DETAIL(err, REASON_NO_DRAW_OFFERED, "refusal.no_offer",
                                   "no draw is offered in game {game}",
                                   ERR_TEXT("game", t->d.game.public_id));
}

enum status arbiter_offer_draw(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                               struct arbiter_actor actor, const struct arbiter_act *act,
                               struct game_row *ret_game, struct err *err)
{
    struct talk t;

    TRY(talk_open(&t, arb, txn, now, actor, act, err));
    if (t.is_open)
        return ERR_DETAIL(err, REASON_ALREADY_DONE, "refusal.offer_open",
                          "a draw has been offered by {seat}: accept or decline that",
                          ERR_SEAT("seat", t.vote.seat));
    TRY(check_repeated_offer(&t.d, t.seats, err));
    TRY(offer_put(&t.d, t.seat, t.seats, err));
    return desk_close(&t.d, ret_game, err);
}

enum status arbiter_accept_draw(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                struct arbiter_actor actor, const struct arbiter_act *act,
                                struct game_row *ret_game, struct err *err)
{
    struct talk t;
    bool anew = false;

    TRY(talk_answer(&t, arb, txn, now, actor, act, err));
    TRY(offer_accept(&t.d, &t.vote, t.seats, &anew, err));
    if (!anew)
        return err_detail(err, REASON_ALREADY_DONE, "refusal.draw_agreed",
                          "you have agreed to this draw already");
    return desk_close(&t.d, ret_game, err);
}

enum status arbiter_decline_draw(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                 struct arbiter_actor actor, const struct arbiter_act *act,
                                 struct game_row *ret_game, struct err *err)
{
    struct talk t;

    TRY(talk_answer(&t, arb, txn, now, actor, act, err));
    /* His own offer he takes back: nobody has refused it, it is no more. */
    bool is_offerer = (t.seats >> t.vote.seat & 1u) != 0;
    int seat = is_offerer ? t.vote.seat : t.seat;
    TRY(votes_answer(txn, t.vote.id, seat, false, now, err));
    TRY(votes_settle(txn, t.vote.id, is_offerer ? VOTE_WITHDRAWN : VOTE_DECLINED, now, err));
    TRY(desk_event(&t.d, is_offerer ? GAME_EVENT_DRAW_LAPSED : GAME_EVENT_DRAW_DECLINED, seat,
                   actor.user_id, NULL, err));
    return desk_close(&t.d, ret_game, err);
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
    TRY(play_late(&d, &late_ms, err));
    TRY(arbiter_position(&d.game, &pos, err));
    TRY(draw_find(&d, &pos, &verdict, err));
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

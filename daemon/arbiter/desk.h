/*
 * arbiter/desk.h - one command at work on one game (internal to the room).
 *
 * A desk holds the game row, its seats, what is held and the events appended so far.  A command is
 *     desk_open()      read the game and its seats
 *     … judge, change desk->game, seats and votes, desk_event() …
 *     desk_close()     save the game, call the hooks, hand the row out
 * and returns at the first failure; the writer then undoes everything.
 *
 * A desk is large (some 80 KiB): one at a time on the writer's stack.
 */
#ifndef FH_ARBITER_DESK_H
#define FH_ARBITER_DESK_H

#include <assert.h>

#include "arbiter/arbiter.h"
#include "clock/deadline.h"
#include "rules/notation.h"
#include "store/clocks.h"
#include "store/held.h"
#include "store/timers.h"
#include "store/votes.h"

struct desk {
    const struct arbiter *arb;
    struct store_txn *txn;
    struct store_conn *conn;
    utc_ms now;
    utc_ms acted_at; /* what the clock judges by: now, or when the letter was accepted */
    struct arbiter_actor actor;
    struct game_row game;
    struct seat_row seats[SEATS];
    unsigned held_seats; /* bit seat: held[seat] is a move or a resignation that is being held */
    struct held_row held[SEATS];
    size_t n_dropped; /* of what was held, by this command */
    struct {
        struct held_row row;
        enum arbiter_drop why;
    } dropped[SEATS];
    bool finished; /* by this command */
    size_t n_events;
    struct event_row events[ARBITER_EVENTS_MAX];
};

/* "south" …; seat is one of a game's. */
static inline const char *seat_word(int seat)
{
    return seat_name((enum seat)seat);
}

/* Of some seats (bit seat): the first, of which there is one; and is it the only one? */
static inline int seats_first(unsigned seats)
{
    int seat = 0;

    assert(seats != 0);
    while ((seats >> seat & 1u) == 0)
        seat++;
    return seat;
}

static inline bool seats_are_one(unsigned seats)
{
    return seats != 0 && (seats & (seats - 1)) == 0;
}

/* Is that army in the game no more: its player left, or it was mated and removed (fortress)? */
static inline bool seat_is_absent(const struct game_row *game, int seat)
{
    return game->conditions[seat] == 'x';
}

/* ---------------------------------------------------------------- desk.c */

/* As what the game's events tell of an event of the rules; GAME_EVENT_COUNT_ for what has no event
 * of its own. */
enum game_event_kind event_kind(enum event_type type);

/* Everything but game and seats. */
void desk_init(struct desk *d, const struct arbiter *arb, struct store_txn *txn, utc_ms now,
               struct arbiter_actor actor);
MUST_CHECK enum status desk_open(struct desk *d, const struct arbiter *arb, struct store_txn *txn,
                                 utc_ms now, struct arbiter_actor actor, int64_t game_id,
                                 struct err *err);
MUST_CHECK enum status desk_reload_seats(struct desk *d, struct err *err);
/* ret_game may be NULL. */
MUST_CHECK enum status desk_close(struct desk *d, struct game_row *ret_game, struct err *err);

/* The next event: kind, seat (-1), by whom (0: the server); fill in the rest of *the returned row
 * through `more`, which is copied first (NULL: nothing more). */
MUST_CHECK enum status desk_event(struct desk *d, enum game_event_kind kind, int seat,
                                  int64_t user_id, const struct event_row *more,
                                  struct err *err);

/* Why it cannot be: the game is over, or else it has not started, or has already. */
MUST_CHECK enum status desk_not_running(const struct desk *d, struct err *err);
MUST_CHECK enum status desk_not_open(const struct desk *d, struct err *err);
/* Is there such a seat?  REASON_BAD_FIELD. */
MUST_CHECK enum status desk_check_seat(int seat, struct err *err);
/* The seats (bit seat) that a user holds. */
unsigned desk_seats_of(const struct desk *d, int64_t user_id);
/* The invitation that waits at a seat; *ret_row is untouched when there is none. */
MUST_CHECK enum status desk_invitation(struct desk *d, int seat, bool *ret_is_there,
                                       struct invitation_row *ret_row, struct err *err);
/* May the actor look at it (access.h)?  Else REASON_NO_SUCH_GAME. */
MUST_CHECK enum status desk_may_see(struct desk *d, struct err *err);
/* REASON_FORBIDDEN unless organiser, operator or administrator; gives the role for the audit. */
MUST_CHECK enum status desk_may_organise(struct desk *d, enum audit_role *ret_role,
                                         struct err *err);
MUST_CHECK enum status desk_audit(struct desk *d, enum audit_role role, const char *act,
                                  const char *detail, const char *note, struct err *err);
/* Checks a note; *ret_note is never NULL afterwards. */
MUST_CHECK enum status desk_note(const char *note, const char **ret_note, struct err *err);

/* Ends of a game.  Both stop its clock, settle what is open and end in desk->game. */
MUST_CHECK enum status desk_finish(struct desk *d, enum game_result result, enum game_cause cause,
                                   enum vote_state open_vote, struct err *err);
MUST_CHECK enum status desk_abort(struct desk *d, enum game_cause cause, int64_t by_user,
                                  const char *note, struct err *err);

/* ---------------------------------------------------------------- turn.c */

enum { TURN_FACTS_MAX = 256 };

/* The facts of the turn (or the placing) that is on, in the order in which they were recorded. */
MUST_CHECK enum status turn_facts(struct store_conn *conn, const struct game_row *game,
                                  struct clock_fact_row rows[TURN_FACTS_MAX], size_t *ret_n,
                                  struct err *err);
/* How much of the time between two instants of this turn its clock ran: pauses (also one that has
 * not ended yet) and outages are no such time. */
MUST_CHECK enum status turn_ran(struct store_conn *conn, const struct game_row *game, utc_ms from,
                                utc_ms to, int64_t *ret_ms, struct err *err);
/* Give the turn that is on amount_ms, for the span from … now: fact, deadline, timer and event. */
MUST_CHECK enum status turn_give(struct desk *d, enum clock_fact_kind kind, int64_t amount_ms,
                                 utc_ms from, struct err *err);
/* The state number with which the turn that is on began; *ret_since: seq of the move before it,
 * 0 when there is none. */
MUST_CHECK enum status turn_first_state(struct desk *d, int64_t *ret_since, int64_t *ret_state_no,
                                        struct err *err);
/* What the clock of the turn (or the placing) that is on says now, from the recorded facts. */
MUST_CHECK enum status turn_deadline(struct store_conn *conn, const struct game_row *game,
                                     struct deadline *ret, struct err *err);
/* A turn (placing) begins now: turn_at, deadline_at, explanation, timer. */
MUST_CHECK enum status turn_begin(struct desk *d, struct err *err);
/* Its facts have changed: deadline_at, explanation and timer anew. */
MUST_CHECK enum status turn_update(struct desk *d, struct err *err);
/* No clock runs any more. */
void turn_end(struct desk *d);
/* The timer for what comes next; done: bits of enum deadline_alarm announced in this turn. */
MUST_CHECK enum status turn_set_timer(struct desk *d, const struct deadline *deadline,
                                      unsigned done, struct err *err);
/* Which warnings this turn has had, from the events. */
MUST_CHECK enum status turn_announced(struct desk *d, unsigned *ret_done, struct err *err);
/* May somebody lose by the clock now?  REASON_BUSY while an outage, or a jump of the clock, has not
 * been made good. */
MUST_CHECK enum status turn_time_is_sure(struct desk *d, struct err *err);

/* timers' `detail` for the end of a pause, beside enum deadline_alarm */
enum { TIMER_DETAIL_RESUME = ALARM_COUNT_ };

/* ---------------------------------------------------------------- seating.c */

MUST_CHECK enum status seating_expire_invitation(struct desk *d, int seat, struct err *err);

/* ---------------------------------------------------------------- placing.c */

/* If all four seats are taken: start, or let them place. */
MUST_CHECK enum status placing_start_if_full(struct desk *d, struct err *err);
/* Placing is over: those missing are drawn; then the game starts. */
MUST_CHECK enum status placing_end(struct desk *d, int64_t *ret_drawn, struct err *err);

/* ---------------------------------------------------------------- organise.c */

/* The clock goes on; by_user 0: by itself, at the end of the pause. */
MUST_CHECK enum status organise_resume(struct desk *d, int64_t by_user, const char *note,
                                       struct err *err);

/* ---------------------------------------------------------------- play.c */

/* Opens the game for somebody who plays in it, and compares what he has seen with what is. */
MUST_CHECK enum status play_open(struct desk *d, const struct arbiter *arb, struct store_txn *txn,
                                 utc_ms now, struct arbiter_actor actor,
                                 const struct arbiter_act *act, bool needs_clock, int *ret_seat,
                                 struct err *err);
/* A move on its way. */
struct play {
    int seat;
    int64_t late_ms;
    struct position pos; /* before it */
    struct move_reading reading;
};
/* Is it that seat's turn and in time, and what does the text mean? */
MUST_CHECK enum status play_judge(struct desk *d, int seat, const char *text,
                                  struct play *ret_play, struct err *err);
/* The meaning alone. */
MUST_CHECK enum status play_read(struct desk *d, const char *text, struct play *play,
                                 struct err *err);
/* Make it, as the actor's.  ret_row may be NULL. */
MUST_CHECK enum status play_make(struct desk *d, struct play *play, struct move_row *ret_row,
                                 struct err *err);
/* By how much the turn's deadline is over, 0 if it is not.  REASON_LOST_ON_TIME after the grace. */
MUST_CHECK enum status play_late(struct desk *d, int64_t *ret_late_ms, struct err *err);
/* The actor resigns a seat. */
MUST_CHECK enum status play_resign(struct desk *d, int seat, struct err *err);
/* Which seat resigns: is it said where that matters?  REASON_MISSING_FIELD. */
MUST_CHECK enum status play_resigner(const struct desk *d, const struct arbiter_act *act,
                                     struct err *err);
/* The seat on turn loses on time. */
MUST_CHECK enum status play_forfeit(struct desk *d, struct err *err);

/* ---------------------------------------------------------------- draws.c */

/* What the moves made up to a position say of a draw. */
MUST_CHECK enum status draw_find(struct desk *d, const struct position *pos,
                                 enum draw_verdict *ret_verdict, struct err *err);
/* Has every army that has a say said yes? */
bool draw_is_agreed(const struct desk *d, const struct vote_row *vote);
/* May a draw be offered together with the actor's move of the seat on turn? */
MUST_CHECK enum status draw_may_offer(struct desk *d, struct err *err);
/* The actor, who has just moved, offers it, or agrees to what his partner has offered. */
MUST_CHECK enum status draw_offer(struct desk *d, int seat, struct err *err);

/* ---------------------------------------------------------------- held.c */

/* What is held for a seat (-1: for none); NULL. */
const struct held_row *held_of_seat(const struct desk *d, int seat);
/* The move that is held, whose it may be; NULL. */
const struct held_row *held_move(const struct desk *d);
/* What is held for a seat, if anything, is taken away, whatever for, with its timer. */
MUST_CHECK enum status held_remove(struct desk *d, int seat, struct err *err);
/* The same for a move that takes its place.  by_letter: the receipt tells of it, no hook does. */
MUST_CHECK enum status held_replace(struct desk *d, int seat, struct move move, bool by_letter,
                                    struct err *err);
/* It takes effect: it is played, or the seat resigns. */
MUST_CHECK enum status held_release(struct desk *d, int seat, struct err *err);
/* What cannot take effect any more as the game is now is dropped. */
MUST_CHECK enum status held_settle(struct desk *d, struct err *err);

/* ---------------------------------------------------------------- delivery.c */

/* The same up to now, if his letter is wanted and has not been handed over. */
MUST_CHECK enum status delivery_give_waiting(struct desk *d, int64_t *ret_ms, struct err *err);

/* ---------------------------------------------------------------- chain.c */

/* The link after a move: SHA-256 of the one before it (of the game's beginnings for the first) and
 * the move's line "PLY SEAT USER MOVE HASH AT\n". */
void chain_start(const struct digest *digest, const struct game_row *game,
                 unsigned char ret[DIGEST_SIZE]);
void chain_next(const struct digest *digest, const unsigned char before[DIGEST_SIZE],
                const struct move_row *move, unsigned char ret[DIGEST_SIZE]);

#endif

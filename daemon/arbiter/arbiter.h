/*
 * arbiter/arbiter.h - decides and records: the one place that may change a game.
 *
 * Purpose
 *   Every change of a game is one of the commands below: it looks at the game as it is, judges by
 *   the rules of play and the clock, writes what follows – game, seats, moves, events, votes,
 *   timers, audit – and hands the new events to whoever writes letters, all in one transaction.
 *   A command either does all of it or fails and leaves nothing.
 *
 * States of a game
 *
 *            create            all seats accepted                 R-V19, R-V20, R-F15, draws, …
 *      (none) ──► open ──┬────────────────────────► running ─────────────────────► finished
 *                  │     │ fortress, reserve=chosen    ▲ │
 *                  │     └───────► placing ────────────┘ │ abort
 *                  │ abort, expiry    │ abort            │
 *                  └──────────────────┴──────────────────┴───────────────────────► aborted
 *
 *      open      seats are joined, left, invited to, accepted, declined; the others refuse.
 *                arbiter_create, _join, _leave, _invite, _withdraw, _accept, _decline → itself,
 *                and → placing or running when the fourth seat is taken.
 *                Invitations expire alone; the game expires_at → aborted (cause expired).
 *      placing   each places his reserve unseen; arbiter_place → itself, and → running when all
 *                have.  Whoever has not by deadline_at gets a placement drawn by the server.
 *      running   has a seat on turn.  turn_at, deadline_at and explanation speak of this turn;
 *                paused_at says that the clock stands (deadline_at is then UTC_NONE).
 *                arbiter_move, _resign, _offer_draw, … → itself or finished.
 *      finished  has a result and a cause; aborted has a cause only.  Both accept nothing.
 *
 * States of a draw offer (R-C10): none → open → accepted (the game is finished) | declined (a seat
 *   said no) | lapsed (a live enemy of the offerer moved, or the game ended).  Whoever offers says
 *   yes.  Needed is the yes of every seat that is neither mated nor absent at that time.
 *
 * States of a move by mail: (none) → held → played | taken back | dropped
 *      arbiter_hold()   none → held: judged in full, stored, told to nobody; a resignation of the
 *                       same seat that is held is taken back silently
 *      arbiter_undo()   held → taken back: by its mover, before release_at
 *      arbiter_tick()   held → played: at release_at, or at once when else the deadline's grace
 *                       would end first; the turn ends then, and the next one's clock starts
 *      arbiter_move()   by the mover through another door: the held one is taken back, and
 *                       hooks.on_dropped is told, unless it was the same move or a letter says this
 *                       one too (its receipt tells it)
 *      any command that changes the state number, pauses or ends the game: held → dropped, and
 *                       hooks.on_dropped is told; if the same turn goes on it is given the time
 *                       from the letter's acceptance until then (clock fact 'held')
 *
 * States of a resignation by mail: (none) → held → done | taken back | dropped
 *      arbiter_hold_resignation()  none → held, on turn or off it, also while paused; a held move
 *                       of the same seat is taken back silently
 *      arbiter_undo()   held → taken back
 *      arbiter_tick()   held → done: the seat resigns, at release_at, or at once when else the
 *                       grace of its turn would end first.  One who has two seats and a held move
 *                       of the other: that is played first, as soon as it is due.
 *      arbiter_hold(), arbiter_resign() of the same seat: taken back silently; so arbiter_move()
 *                       by letter, while by another door hooks.on_dropped is told
 *      the game ends, or the seat is out otherwise: held → dropped, and hooks.on_dropped is told.
 *                       Nothing else drops it: it does not answer a board, but leaves the game.
 *      One that was accepted after its turn's grace keeps no flag from falling.
 *
 * State numbers
 *   Whoever acts on a running game names the state number that he has seen (struct arbiter_act),
 *   and may name ply and position hash.  If any differs: REASON_STATE_MISMATCH, nothing is stored;
 *   so nothing is played on a board that has changed, be it by a resignation within the ply.
 *
 * Time
 *   `now` is the writer's one reading for the command.  A move at deadline_at or before is in time;
 *   after it, up to and at deadline_at + grace_ms, it is taken and marked late; after that it is
 *   refused with REASON_LOST_ON_TIME, and the next arbiter_tick() forfeits the seat (R-C9, R-C11).
 *   Both compare the same clock on the same thread, so exactly one of them wins.
 *   A command that came in a letter is judged at the instant at which the letter was accepted
 *   (arbiter_act.received_at, T4), not at which it was read; what it causes happens now.  So nobody
 *   loses on time, and nobody's reserve is drawn, while letters accepted by then are unread.
 *   A turn that its player was told of late (T17): if its letter or webhook was first handed over
 *   more than ARBITER_DELIVERY_MS after the turn began, that time, up to ARBITER_DELIVERY_CAP_MS,
 *   is given on top (clock fact 'delivery').  Pauses and outages in it are given
 *   only once.
 *   Nobody loses time that the server was away: arbiter_tick() enters every gap of more than
 *   ARBITER_OUTAGE_MS between two signs of life in the outage ledger and credits every running
 *   clock once, before it looks at any timer; a game not reached yet is credited when somebody
 *   moves in it.
 *
 * Calling sequence: fill a struct arbiter once (arbiter_limits_usual() for its limits); in each
 *   writer command call one function with that command's txn and now.  Every arbiter_tick_ms at
 *   most ARBITER_HEARTBEAT_MS, and whenever a timer is due, run arbiter_tick() as a command.
 * Ownership: everything is borrowed for the call only.  Outputs are untouched on failure.
 * Threads:   the writer's (whoever has the txn).  arbiter_verify_game(), arbiter_position(): any.
 * Errors:    besides those named at each function: REASON_NO_SUCH_GAME (also for a game of its
 *            players only, asked by a stranger), REASON_GAME_NOT_RUNNING (the game's state does not
 *            take this), REASON_CORRUPT (stored data contradicts itself; the sentence says what),
 *            and what store/ returns.
 */
#ifndef FH_ARBITER_ARBITER_H
#define FH_ARBITER_ARBITER_H

#include "base/ports.h"
#include "base/status.h"
#include "base/utc.h"
#include "clock/clock.h"
#include "rules/rules.h"
#include "store/events.h"
#include "store/games.h"
#include "store/held.h"
#include "store/moves.h"
#include "store/store.h"
#include "store/verify.h"

#define ARBITER_HEARTBEAT_MS (30 * MS_SECOND) /* between two signs of life */
#define ARBITER_OUTAGE_MS (5 * MS_MINUTE)     /* a longer gap is credited */
#define ARBITER_DELIVERY_MS (5 * MS_MINUTE)   /* a turn's letter may take so long */
#define ARBITER_DELIVERY_CAP_MS (48 * MS_HOUR) /* most that a turn is given for a late letter */
#define ARBITER_HOLD_MAX_MS MS_HOUR           /* nothing by mail is held longer */
#define ARBITER_UNREAD_MS (10 * MS_SECOND)    /* what waits for unread letters looks again then */
#define ARBITER_UNREAD_MAX_MS MS_DAY          /* … and waits no longer: nobody seems to read them */

enum {
    ARBITER_NOTE_MAX = 500,   /* bytes of a note */
    ARBITER_EVENTS_MAX = 96,  /* events one command appends to one game, at most */
    ARBITER_ANY_SEAT = -1     /* whichever of the actor's seats is meant */
};

/* What is allowed and usual.  main fills it from the configuration. */
struct arbiter_limits {
    int64_t per_move_min_ms, per_move_max_ms; /* time for one turn that may be asked for */
    int64_t per_move_ms;                      /* … when none is (Verney: a fortnight) */
    int64_t grace_ms;                         /* after a deadline, before the forfeit */
    int64_t placing_ms;                       /* to place a chosen reserve */
    int64_t invitation_ms;                    /* an invitation is good for so long */
    int64_t open_ms;                          /* a game that never fills is aborted after this */
    int64_t credit_max_ms;                    /* most that one credit may give */
    int open_games;                           /* not yet started games one organiser may have */
    int games;                                /* not yet ended games one may play or run, and (50 at
                                                 least) invitations from one player to another in
                                                 a day; 0: any number of either */
};
/* 1 h … 60 d, 14 d, grace 12 h, placing 7 d, invitation 14 d, open 30 d, credit 365 d, 50 games not
 * yet started, any number not yet ended. */
struct arbiter_limits arbiter_limits_usual(void);

/* Why a held move or resignation was dropped. */
enum arbiter_drop {
    DROP_STATE,  /* the game has moved on: somebody left it, …; a resignation: the seat is out */
    DROP_PAUSED, /* it was paused */
    DROP_ENDED,  /* it is finished or aborted */
    DROP_REPLACED /* who sent it has moved by another door */
};

/* Who wants to know of it, in the same transaction.  Each may be NULL.  A failure undoes the
 * command. */
struct arbiter_hooks {
    /* After each command that appended events, before its transaction part is kept: all events of
     * one game in order, and the game and its four seats as they are now (all saved).  Letters
     * become intents here. */
    enum status (*on_events)(struct store_txn *txn, const struct game_row *game,
                             const struct seat_row *seats, const struct event_row *events,
                             size_t n, utc_ms now, void *arg, struct err *err);
    void *on_events_arg;
    /* After it, when the game has just been finished (not aborted): ratings, ladders. */
    enum status (*finished)(struct store_txn *txn, const struct game_row *game, utc_ms now,
                            void *arg, struct err *err);
    void *finished_arg;
    /* A held move is not going to be played, or a held resignation will not take effect.  Called
     * for each before on_events of the same command, with the game as it is now (saved).  Not
     * called when who sent it takes it back, resigns, or moves by letter. */
    enum status (*on_dropped)(struct store_txn *txn, const struct game_row *game,
                              const struct held_row *held, enum arbiter_drop why, utc_ms now,
                              void *arg, struct err *err);
    void *on_dropped_arg;
};

struct arbiter {
    struct entropy entropy;    /* public ids, random reserves, placements not made */
    struct digest digest;      /* the hash chain */
    struct clock_guard *guard; /* NULL: none.  While it reports a jump nobody loses on time. */
    struct arbiter_limits limits;
    struct arbiter_hooks hooks;
};

/* Who acts.  An administrator is who runs a subcommand on the machine; he needs no account. */
struct arbiter_actor {
    int64_t user_id;       /* 0: none */
    bool is_operator;
    bool is_administrator;
    utc_ms received_at; /* when the letter that speaks for him was accepted; 0, UTC_NONE or later
                           than now: now.  Answers to invitations go by it; the commands that have
                           a received_at of their own go by that. */
};

/* ---------------------------------------------------------------- before the start */

enum arbiter_offer_kind {
    OFFER_OPEN, /* anyone may join it */
    OFFER_USER, /* kept for user_id, who is invited; the actor himself sits down at once */
    OFFER_MAIL  /* kept for whoever gets the letter to `address` */
};
struct arbiter_offer {
    enum arbiter_offer_kind kind;
    int64_t user_id;         /* OFFER_USER */
    const char *address;     /* OFFER_MAIL: as people/ accepts it */
    const char *address_key; /* OFFER_MAIL: folded by people/ */
};

struct arbiter_new_game {
    const char *rules;    /* what variant_parse() reads: "fortress reserve=chosen" */
    int64_t per_move_ms;  /* 0: the usual */
    bool is_rated;
    bool is_private;      /* only its players may see it */
    bool table_talk;      /* R-C12 */
    struct arbiter_offer seats[SEATS];
};

/*
 * Make a game.  The same user may be meant by two seats if they are allied (R-C13); the organiser
 * need not play.  Fortress: reserve=random is drawn now for all four, from arbiter->entropy.
 * REASON_BAD_FIELD: rules that do not parse, a length out of limits (named); REASON_NO_SUCH_USER:
 * an invited account that is not there or is disabled; REASON_ALREADY_SEATED: one user in enemy
 * seats; REASON_LIMIT: too many open games; REASON_LOGIN_NEEDED: no account.
 */
MUST_CHECK enum status arbiter_create(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                      struct arbiter_actor actor,
                                      const struct arbiter_new_game *wish,
                                      struct game_row *ret_game, struct err *err);

/* Organiser or operator: keep an open seat for somebody (OFFER_USER, OFFER_MAIL).  His pending
 * invitation to the partner's seat stays; one to an enemy's is REASON_ALREADY_SEATED.
 * REASON_GAME_FULL: the seat is taken or kept already; withdraw first. */
MUST_CHECK enum status arbiter_invite(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                      struct arbiter_actor actor, int64_t game_id, int seat,
                                      const struct arbiter_offer *offer,
                                      struct game_row *ret_game, struct err *err);
/* Organiser or operator: take the pending invitation to a seat back; the seat is open. */
MUST_CHECK enum status arbiter_withdraw(const struct arbiter *arb, struct store_txn *txn,
                                        utc_ms now, struct arbiter_actor actor, int64_t game_id,
                                        int seat, struct game_row *ret_game, struct err *err);

/* Take open seats.  seats: bit 1 << seat for each; 0: any one.  Two seats, or one beside a seat
 * one has already, must be allied.  REASON_GAME_FULL, REASON_ALREADY_SEATED, REASON_BAD_FIELD. */
MUST_CHECK enum status arbiter_join(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                    struct arbiter_actor actor, int64_t game_id, unsigned seats,
                                    struct game_row *ret_game, struct err *err);
/* Leave them before the start; 0: all one's seats.  They are open again. */
MUST_CHECK enum status arbiter_leave(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                     struct arbiter_actor actor, int64_t game_id, unsigned seats,
                                     struct game_row *ret_game, struct err *err);

/* Answer one's invitations to the game: those to one's account or verified address, and the one of
 * token_hash (SHA-256 of the mailed link's secret; NULL: none) with all to the same address.
 * REASON_FORBIDDEN: not invited; REASON_LINK_EXPIRED: the token's invitation is settled or over. */
MUST_CHECK enum status arbiter_accept(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                      struct arbiter_actor actor, int64_t game_id,
                                      const unsigned char *token_hash, struct game_row *ret_game,
                                      struct err *err);
/* The same, saying no.  With a token no account is needed (actor.user_id may be 0). */
MUST_CHECK enum status arbiter_decline(const struct arbiter *arb, struct store_txn *txn,
                                       utc_ms now, struct arbiter_actor actor, int64_t game_id,
                                       const unsigned char *token_hash,
                                       struct game_row *ret_game, struct err *err);

/* The refusal of rules that do not parse, with what would be right: REASON_BAD_FIELD. */
enum status arbiter_refuse_variant(const struct variant_error *bad, struct err *err);

/* Place the reserve of one's seat on three squares of one's own fortress ("p4"; R-F7).  May be
 * done anew until all have placed; when the last has, the game starts.
 * REASON_BAD_PLACEMENT, REASON_NOT_YOUR_GAME, REASON_BAD_FIELD (which of two seats?),
 * REASON_LOST_ON_TIME after deadline_at. */
struct arbiter_placement {
    int seat; /* or ARBITER_ANY_SEAT */
    const char *rook, *bishop, *knight;
    utc_ms received_at; /* as in struct arbiter_act */
};
MUST_CHECK enum status arbiter_place(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                     struct arbiter_actor actor, int64_t game_id,
                                     const struct arbiter_placement *placement,
                                     struct game_row *ret_game, struct err *err);

/* ---------------------------------------------------------------- playing */

/* On which game, for which seat, in what belief. */
struct arbiter_act {
    int64_t game_id;
    int seat;         /* or ARBITER_ANY_SEAT: the one on turn, else one's only seat */
    int64_t state_no; /* must be named; negative: REASON_MISSING_FIELD */
    int64_t ply;      /* moves made so far; negative: not said */
    bool has_hash;    /* position_hash is said */
    uint64_t position_hash;
    utc_ms received_at; /* when the letter that says so was accepted; 0, UTC_NONE or later than now:
                           now.  Deadline, lateness and time used go by it. */
};

/* A move made, and the game and its four seats after it. */
struct arbiter_moved {
    struct move_row move;
    struct game_row game;
    struct seat_row seats[SEATS];
};

/*
 * Make a move, in any form that rules/notation.h reads.
 * In this order: REASON_NO_SUCH_GAME, REASON_NOT_YOUR_GAME, REASON_GAME_NOT_RUNNING,
 * REASON_GAME_PAUSED, REASON_STATE_MISMATCH, REASON_NOT_YOUR_TURN, REASON_LOST_ON_TIME,
 * REASON_UNREADABLE_MOVE, REASON_AMBIGUOUS_MOVE, REASON_ILLEGAL_MOVE (the sentence says why).
 */
MUST_CHECK enum status arbiter_move(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                    struct arbiter_actor actor, const struct arbiter_act *act,
                                    const char *text, struct arbiter_moved *ret,
                                    struct err *err);

/*
 * The same, but withheld until release_at (at most ARBITER_HOLD_MAX_MS ahead, else
 * REASON_BAD_FIELD; one that does not lie ahead is played by the next tick).  Everything is judged
 * as arbiter_move() judges it, and nothing is told.  with_draw: a draw is offered with it (R-C10);
 * if the partner's offer is open when the move is played, that is agreed to instead.
 * REASON_MOVE_HELD: one is held already, to be taken back first; with_draw: REASON_ALREADY_DONE
 * when he has agreed to the open offer already, REASON_LIMIT.
 * ret_held and ret_game (as it is: unchanged) may be NULL.
 */
MUST_CHECK enum status arbiter_hold(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                    struct arbiter_actor actor, const struct arbiter_act *act,
                                    const char *text, bool with_draw, int64_t inbox_id,
                                    utc_ms release_at, struct held_row *ret_held,
                                    struct game_row *ret_game, struct err *err);

/*
 * Resign as arbiter_resign() does, but not before release_at (at most ARBITER_HOLD_MAX_MS ahead,
 * else REASON_BAD_FIELD).  A held move of the seat is taken back by it.  REASON_ALREADY_DONE: the
 * seat has left already, or its resignation is held.  ret_held, ret_game: as arbiter_hold().
 */
MUST_CHECK enum status arbiter_hold_resignation(const struct arbiter *arb, struct store_txn *txn,
                                                utc_ms now, struct arbiter_actor actor,
                                                const struct arbiter_act *act, int64_t inbox_id,
                                                utc_ms release_at, struct held_row *ret_held,
                                                struct game_row *ret_game, struct err *err);

/*
 * Take back what is held: the actor's last, or that of act->seat.  Only who sent it may, and only
 * by what was accepted before release_at; else, and when none is held any more:
 * REASON_NOTHING_HELD.  act->state_no must be the one that a move answered, and for a resignation
 * that or a later one (REASON_STATE_MISMATCH); ply and hash are not looked at.
 * ret_held (what it was) and ret_game may be NULL.
 */
MUST_CHECK enum status arbiter_undo(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                    struct arbiter_actor actor, const struct arbiter_act *act,
                                    struct held_row *ret_held, struct game_row *ret_game,
                                    struct err *err);

/* Resign a seat, on its turn or off it (R-C11), also a mated one, also while paused.
 * REASON_ALREADY_DONE: it has left already. */
MUST_CHECK enum status arbiter_resign(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                      struct arbiter_actor actor, const struct arbiter_act *act,
                                      struct game_row *ret_game, struct err *err);

/* R-C10.  Whoever holds two seats answers for both.  A seat that is mated or absent neither offers
 * nor answers: REASON_SEAT_OUT.  A second offer without a move of one's own since the last:
 * REASON_LIMIT.  REASON_ALREADY_DONE: an offer is open, or one has said yes already;
 * REASON_NO_DRAW_OFFERED. */
MUST_CHECK enum status arbiter_offer_draw(const struct arbiter *arb, struct store_txn *txn,
                                          utc_ms now, struct arbiter_actor actor,
                                          const struct arbiter_act *act,
                                          struct game_row *ret_game, struct err *err);
MUST_CHECK enum status arbiter_accept_draw(const struct arbiter *arb, struct store_txn *txn,
                                           utc_ms now, struct arbiter_actor actor,
                                           const struct arbiter_act *act,
                                           struct game_row *ret_game, struct err *err);
/* The offerer declines too: so he takes his offer back, and the event is that it has lapsed. */
MUST_CHECK enum status arbiter_decline_draw(const struct arbiter *arb, struct store_txn *txn,
                                            utc_ms now, struct arbiter_actor actor,
                                            const struct arbiter_act *act,
                                            struct game_row *ret_game, struct err *err);
/* R-C7 threefold, R-C8 two hundred turns; by the player to move.  REASON_NO_CLAIM. */
MUST_CHECK enum status arbiter_claim_draw(const struct arbiter *arb, struct store_txn *txn,
                                          utc_ms now, struct arbiter_actor actor,
                                          const struct arbiter_act *act,
                                          struct game_row *ret_game, struct err *err);

/* ---------------------------------------------------------------- organiser and operator */

/*
 * Each is for the game's organiser, an operator or the administrator (REASON_FORBIDDEN), is written
 * to the audit log and told as an event with the note (may be NULL; valid UTF-8 of at most
 * ARBITER_NOTE_MAX bytes, else REASON_BAD_FIELD).
 *
 * An organiser who plays is a party: he may adjudicate only against his own side; any other verdict
 * is an operator's (docs/decisions/0004-organiser-who-plays.md).
 */
MUST_CHECK enum status arbiter_abort(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                     struct arbiter_actor actor, int64_t game_id, const char *note,
                                     struct game_row *ret_game, struct err *err);
/* Stop the clock of a placing or running game.  until UTC_NONE: till resumed; else it resumes by
 * itself then (must lie ahead, by limits.credit_max_ms at most).  Of a game that stands, until sets
 * the end or moves it; REASON_ALREADY_DONE without one, or when it is that already. */
MUST_CHECK enum status arbiter_pause(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                     struct arbiter_actor actor, int64_t game_id, utc_ms until,
                                     const char *note, struct game_row *ret_game, struct err *err);
/* When a game that stands will resume by itself; UTC_NONE: when somebody does it. */
MUST_CHECK enum status arbiter_pause_end(struct store_conn *conn, int64_t game_id, utc_ms *ret_at,
                                         struct err *err);
/* REASON_ALREADY_DONE when it runs. */
MUST_CHECK enum status arbiter_resume(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                      struct arbiter_actor actor, int64_t game_id,
                                      const char *note, struct game_row *ret_game,
                                      struct err *err);
/* Give the turn (or the placing) that is on amount_ms more, ARBITER_CREDIT_MIN_MS …
 * limits.credit_max_ms. */
#define ARBITER_CREDIT_MIN_MS MS_MINUTE
MUST_CHECK enum status arbiter_credit(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                      struct arbiter_actor actor, int64_t game_id,
                                      int64_t amount_ms, const char *note,
                                      struct game_row *ret_game, struct err *err);
/* Decide a running game: team0, team1 or draw. */
MUST_CHECK enum status arbiter_adjudicate(const struct arbiter *arb, struct store_txn *txn,
                                          utc_ms now, struct arbiter_actor actor, int64_t game_id,
                                          enum game_result result, const char *note,
                                          struct game_row *ret_game, struct err *err);

/* ---------------------------------------------------------------- the clock's turn */

/*
 * T17: a letter or webhook of the classes turn or start about this game was handed over to user_id
 * at sent_at and said state_no.  If it is the first one of the turn that is on, and its turn is
 * still that user's, and more than ARBITER_DELIVERY_MS of the turn's clock have passed by then, the
 * turn is given what has passed.  In all other cases nothing happens, and it is ST_OK.
 * Call it in the command that marks the outbox row as sent, after that.  *ret_credited_ms (NULL
 * allowed): what was given; 0.
 */
MUST_CHECK enum status arbiter_handed_over(const struct arbiter *arb, struct store_txn *txn,
                                           utc_ms now, int64_t game_id, int64_t user_id,
                                           int64_t state_no, utc_ms sent_at,
                                           int64_t *ret_credited_ms, struct err *err);

struct arbiter_tick_report {
    int64_t outage_ms;       /* an outage of this length was entered in the ledger now; 0: none */
    int64_t set_back_ms;     /* the wall clock went back by so much; 0 */
    int64_t credited;        /* games credited for an outage in this call */
    int64_t warnings, forfeits, placed, expired, resumed; /* timers' work done */
    int64_t released;        /* held moves played, and held resignations done */
    int64_t unread;          /* timers put off until letters accepted in time have been read */
    int64_t failed;          /* timers whose work failed and was put off by ARBITER_RETRY_MS */
    int64_t failed_game_id;  /* the last such game; 0 */
    struct err failure;      /* and why */
    bool has_jump;           /* call clock_guard_handled(guard, &jump) once this is durable */
    struct clock_jump jump;
    bool more;               /* there is more due: run another tick at once */
    utc_ms next_at;          /* else: when the next timer is due; UTC_NONE */
};
#define ARBITER_RETRY_MS (10 * MS_MINUTE)

/*
 * Notes the sign of life if it is due; if the last one is more than ARBITER_OUTAGE_MS ago (the
 * server was away, the writer stuck, the machine suspended, the wall clock set ahead) enters the
 * outage and credits games, at most `limit` in a call; only when none is left to credit does the
 * work of at most `limit` due timers.  Each timer's work is a part of the transaction of its own,
 * so one broken game stops no other.  Timers of kind housekeeping are left alone: they are main's.
 * Who loses on time while his turn's letter is still waiting to be handed over, or all attempts at
 * it failed, is given the time instead, until the cap is reached.
 * is_start: the first tick of this run of the server.  Serving may begin after it: whoever moves
 * past his deadline while credits are not through is asked to wait (REASON_BUSY).
 */
MUST_CHECK enum status arbiter_tick(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                                    bool is_start, int limit,
                                    struct arbiter_tick_report *ret_report, struct err *err);

/* ---------------------------------------------------------------- reading and checking */

/* The variant and the present position of a game that has started. */
MUST_CHECK enum status arbiter_position(const struct game_row *game, struct position *ret_position,
                                        struct err *err);

/*
 * Replay a game from its start through the rules and compare moves, notation, hashes, chain,
 * conditions, events, turn, result and present position with what is stored.  For verify_run():
 * arg is a struct arbiter (its digest is used).  Faults go to verify_fault_add().
 */
enum status arbiter_verify_game(void *arg, struct store_conn *conn, const struct game_row *game,
                                struct verify *verify, struct err *err);

/* A seat's condition as game_row.conditions has it, and that as doors say it: "live", "mated",
 * "stalemated" or "absent".  Never NULL. */
char arbiter_condition_letter(int condition); /* enum condition */
const char *arbiter_condition_word(char letter);

#endif

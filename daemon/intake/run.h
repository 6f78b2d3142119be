/*
 * intake/run.h - what the files that run a letter's commands share; not for others.
 *
 * Purpose
 *   One letter's commands go through the arbiter in order, as one unit (run_commands(), declared in
 *   intake/internal.h).  run.c walks them; each of the others is about one subject:
 *
 *   run_move.c   moves, and taking back
 *   run_acts.c   resigning, draws, placing, accept and decline
 *   run_games.c  new games, seats, open games, games that a command names
 *
 *   A function that runs a command says its result in a->text; where it refuses, r->why and r->hint
 *   hold what run.c says besides err.
 *
 * Ownership: a run is run_commands()'s; everything in it is borrowed.  Threads: the writer's.
 * Errors: the arbiter's and the store's; a refusal is one with a reason (base/status.h).
 */
#ifndef FH_INTAKE_RUN_H
#define FH_INTAKE_RUN_H

#include "intake/internal.h"

enum { LINE_ROOM = 4096 };

/* One letter's commands on their way. */
struct run {
    struct act *a;
    const struct grammar *g;
    bool is_stale;             /* the address that was written to shows an earlier state */
    bool has_draw;             /* somewhere in it a draw is offered */
    bool has_moved;            /* a move was made or is held */
    bool has_resigned;         /* a resignation was made or is held */
    unsigned resigned;         /* bit seat: its resignation is held since one of these commands */
    bool drew;                 /* … and the offer went with it */
    bool has_created;          /* `create` and its `seat` lines were run */
    const struct command *at;  /* the command at work */
    char why[LINE_ROOM];       /* why, in the reader's language, where err does not say it */
    char hint[LINE_ROOM];      /* a refusal's further words */
};

/* ------------------------------------------------------------------------------- run.c */

/* Has the letter a command of that kind? */
bool run_has(const struct grammar *g, enum command_kind kind);
struct arbiter_actor act_actor(const struct act *a);
/* In what belief: the state number that the letter answered was shown. */
struct arbiter_act act_belief(const struct act *a);
/* How long what the sender does is held; 0: not. */
int64_t act_hold_ms(const struct act *a);
/* Refuse for a reason, with a text of the catalogue as the hint. */
MUST_CHECK enum status run_refuse(struct run *r, struct err *err, enum reason reason,
                                  const char *code);

/* ------------------------------------------------------------------------------- run_move.c */

MUST_CHECK enum status run_move(struct run *r, struct err *err);
MUST_CHECK enum status run_undo(struct run *r, struct err *err);

/* ------------------------------------------------------------------------------- run_acts.c */

/* One of the arbiter's functions that take an act; code: what is said of its success. */
MUST_CHECK enum status run_act(struct run *r,
                               enum status (*fn)(const struct arbiter *arb, struct store_txn *txn,
                                                 utc_ms now, struct arbiter_actor actor,
                                                 const struct arbiter_act *act,
                                                 struct game_row *ret_game, struct err *err),
                               const char *code, struct err *err);
MUST_CHECK enum status run_resign(struct run *r, struct err *err);
MUST_CHECK enum status run_draw_offer(struct run *r, struct err *err);
/* Why a draw cannot be offered, into r->why; r->at becomes the line of the offer. */
void run_why_no_offer(struct run *r);
MUST_CHECK enum status run_decline(struct run *r, struct err *err);
MUST_CHECK enum status run_place(struct run *r, struct err *err);
MUST_CHECK enum status run_answer(struct run *r, bool is_yes, struct err *err);

/* ------------------------------------------------------------------------------- run_games.c */

MUST_CHECK enum status run_create(struct run *r, struct err *err);
MUST_CHECK enum status run_seat(struct run *r, struct err *err);
MUST_CHECK enum status run_open(struct run *r, struct err *err);
/* `status 7k2mq0xd`: a letter that is about no game is about this one from here on. */
MUST_CHECK enum status run_look(struct run *r, struct err *err);

#endif

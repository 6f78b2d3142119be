/*
 * store/held.h - moves by mail that nobody sees yet.
 *
 * A game has at most one: it has one turn at a time.  Only arbiter/ writes these, together with
 * the timer that will play the move, in one transaction; so a held move outlives the process.
 * Nothing but the mover's own door may read them.
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_HELD_H
#define FH_STORE_HELD_H

#include "store/games.h"
#include "store/moves.h"

struct held_row {
    int64_t game_id;
    int seat;
    int64_t user_id;
    int64_t state_no;          /* the game's state that it answers */
    char move[MOVE_TEXT_SIZE]; /* coordinates */
    bool with_draw;            /* a draw is offered with it */
    int64_t inbox_id;          /* 0: none, or purged */
    utc_ms received_at;        /* the deadline goes by it */
    utc_ms release_at;         /* when it is played */
    utc_ms created_at;
};

/* ST_CONFLICT (REASON_MOVE_HELD) when one is held in this game. */
MUST_CHECK enum status held_put(struct store_txn *txn, const struct held_row *held,
                                struct err *err);
/* ST_NOT_FOUND (REASON_NOT_FOUND). */
MUST_CHECK enum status held_get(struct store_conn *conn, int64_t game_id,
                                struct held_row *ret_held, struct err *err);
/* The same, and it is gone: to be played, taken back or dropped. */
MUST_CHECK enum status held_take(struct store_txn *txn, int64_t game_id,
                                 struct held_row *ret_held, struct err *err);
/* Of a user, by game. */
MUST_CHECK enum status held_of_user(struct store_conn *conn, int64_t user_id,
                                    struct held_row *rows, size_t max, size_t *ret_n,
                                    struct err *err);

#endif

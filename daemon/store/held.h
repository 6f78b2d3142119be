/*
 * store/held.h - moves and resignations by mail that nobody sees yet.
 *
 * A seat has at most one of them, a game at most one move: it has one turn at a time.  Only
 * arbiter/ writes these, together with the timer that will let it take effect, in one transaction;
 * so what is held outlives the process.  Nothing but the sender's own door may read them.
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_HELD_H
#define FH_STORE_HELD_H

#include "store/games.h"
#include "store/moves.h"

struct held_row {
    int64_t game_id;
    int seat;
    enum held_kind kind;
    int64_t user_id;
    int64_t state_no;          /* the game's state that it answers */
    char move[MOVE_TEXT_SIZE]; /* coordinates; HELD_RESIGN: "" */
    bool with_draw;            /* HELD_MOVE: a draw is offered with it */
    int64_t inbox_id;          /* 0: none, or purged */
    utc_ms received_at;        /* the deadline goes by it */
    utc_ms release_at;         /* when it takes effect */
    utc_ms created_at;
};

/* ST_CONFLICT (REASON_MOVE_HELD) when something is held for this seat, or a second move in this
 * game. */
MUST_CHECK enum status held_put(struct store_txn *txn, const struct held_row *held,
                                struct err *err);
/* The game's move.  ST_NOT_FOUND (REASON_NOT_FOUND). */
MUST_CHECK enum status held_get(struct store_conn *conn, int64_t game_id,
                                struct held_row *ret_held, struct err *err);
/* All of a game, by seat. */
MUST_CHECK enum status held_of_game(struct store_conn *conn, int64_t game_id,
                                    struct held_row rows[SEAT_COUNT], size_t *ret_n,
                                    struct err *err);
/* A seat's, and it is gone: to take effect, to be taken back or dropped.  ST_NOT_FOUND. */
MUST_CHECK enum status held_take(struct store_txn *txn, int64_t game_id, int seat,
                                 struct held_row *ret_held, struct err *err);

#endif

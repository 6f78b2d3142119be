/*
 * store/timers.h - what is to be done at an instant, found by index.
 *
 * A game has at most one timer of each kind and seat; setting it again moves it.  A timer that is
 * due stays until whoever did its work clears or moves it, in the same transaction.  So a timer
 * fires at least once however the process ends, and its work must look at the game as it is.
 * Kinds with a game: deadline warning organiser placing invitation open_game held.  Without one
 * (game_id 0): housekeeping.
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_TIMERS_H
#define FH_STORE_TIMERS_H

#include "store/games.h"

struct timer_row {
    int64_t id;
    enum timer_kind kind;
    int64_t game_id;  /* 0: none */
    int seat;         /* -1: none */
    int64_t state_no; /* the game's when it was set */
    int64_t detail;   /* the setter's own */
    utc_ms due_at;
};

MUST_CHECK enum status timers_set(struct store_txn *txn, const struct timer_row *timer,
                                  struct err *err);
/* Nothing happens when there is none. */
MUST_CHECK enum status timers_clear(struct store_txn *txn, enum timer_kind kind, int64_t game_id,
                                    int seat, struct err *err);
MUST_CHECK enum status timers_clear_game(struct store_txn *txn, int64_t game_id, struct err *err);

/* Those due at `now`, earliest first. */
MUST_CHECK enum status timers_due(struct store_conn *conn, utc_ms now, struct timer_row *rows,
                                  size_t max, size_t *ret_n, struct err *err);
/* When the next is due; UTC_NONE: there is none. */
MUST_CHECK enum status timers_next(struct store_conn *conn, utc_ms *ret_at, struct err *err);
MUST_CHECK enum status timers_of_game(struct store_conn *conn, int64_t game_id,
                                      struct timer_row *rows, size_t max, size_t *ret_n,
                                      struct err *err);

#endif

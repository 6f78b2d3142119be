/*
 * store/moves.h - the moves of a game.
 *
 * Unique by game and ply among those that stand.  A move that is taken back stays as a row.
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_MOVES_H
#define FH_STORE_MOVES_H

#include "store/games.h"

enum { MOVE_TEXT_SIZE = 10, MOVE_SAN_SIZE = 25 };

struct move_row {
    int64_t game_id;
    int ply;                    /* 1 for the first move */
    int seat;
    int64_t user_id;
    char move[MOVE_TEXT_SIZE];  /* "k13l14q" */
    char san[MOVE_SAN_SIZE];
    int64_t seq;                /* of its event */
    uint64_t position_hash;     /* after it */
    int64_t used_ms;
    bool is_late;
    unsigned char chain[STORE_HASH_SIZE]; /* up to and with it */
    utc_ms at;
};

/* ST_CONFLICT (REASON_STATE_MISMATCH) when a move of that ply stands already. */
MUST_CHECK enum status moves_append(struct store_txn *txn, const struct move_row *move,
                                    struct err *err);

/* Those that stand, in order of ply, from ply `from` (1: all). */
MUST_CHECK enum status moves_list(struct store_conn *conn, int64_t game_id, int from,
                                  struct move_row *rows, size_t max, size_t *ret_n,
                                  struct err *err);
MUST_CHECK enum status moves_get(struct store_conn *conn, int64_t game_id, int ply,
                                 struct move_row *ret_move, struct err *err);

/* position_hash after each move that stands with ply > after, in order: what repetition asks
 * (R-C7).  The start position's hash is not among them. */
MUST_CHECK enum status moves_hashes(struct store_conn *conn, int64_t game_id, int after,
                                    uint64_t *ret_hashes, size_t max, size_t *ret_n,
                                    struct err *err);

#endif

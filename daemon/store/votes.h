/*
 * store/votes.h - questions put to the other seats: draw offers so far.
 *
 *   open --all have said yes--> accepted;  open --> declined | lapsed | withdrawn
 *
 * At most one of a kind is open in a game.  Who must answer, and what follows, is the arbiter's.
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_VOTES_H
#define FH_STORE_VOTES_H

#include "store/games.h"

struct vote_row {
    int64_t id;
    int64_t game_id;
    enum vote_kind kind;
    int seat;              /* who asked */
    int64_t seq;           /* of the event that tells of it */
    enum vote_state state;
    utc_ms created_at;
    utc_ms settled_at;     /* UTC_NONE: open */
    int answers[SEAT_COUNT]; /* 1 yes, 0 no, -1 none yet */
};

/* The asker's yes is recorded too.  ST_CONFLICT (REASON_ALREADY_DONE) when one is open. */
MUST_CHECK enum status votes_open(struct store_txn *txn, int64_t game_id, enum vote_kind kind,
                                  int seat, int64_t seq, utc_ms now, int64_t *ret_id,
                                  struct err *err);
/* The open one.  ST_NOT_FOUND (REASON_NO_DRAW_OFFERED for draws). */
MUST_CHECK enum status votes_get_open(struct store_conn *conn, int64_t game_id,
                                      enum vote_kind kind, struct vote_row *ret_vote,
                                      struct err *err);
/* A seat's answer; a second one replaces the first.  ST_CONFLICT unless open. */
MUST_CHECK enum status votes_answer(struct store_txn *txn, int64_t id, int seat, bool is_yes,
                                    utc_ms now, struct err *err);
MUST_CHECK enum status votes_settle(struct store_txn *txn, int64_t id, enum vote_state state,
                                    utc_ms now, struct err *err);
/* All of a game, oldest first. */
MUST_CHECK enum status votes_list(struct store_conn *conn, int64_t game_id, struct vote_row *rows,
                                  size_t max, size_t *ret_n, struct err *err);

#endif

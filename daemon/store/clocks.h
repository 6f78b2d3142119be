/*
 * store/clocks.h - the facts that a deadline is computed from, besides when the turn began.
 *
 * A deadline is a pure function of recorded facts (clock/); this keeps them: credits, outages,
 * pauses, waiting for a letter to be handed over, the holding of a move that was dropped.  Each
 * belongs to the turn that ran then (ply).
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_CLOCKS_H
#define FH_STORE_CLOCKS_H

#include "store/games.h"

struct clock_fact_row {
    int64_t id;
    int64_t game_id;
    int seat;             /* -1: whichever clock ran */
    int ply;              /* moves made then */
    enum clock_fact_kind kind;
    int64_t amount_ms;    /* added to the deadline */
    utc_ms from_at, to_at; /* UTC_NONE: no span */
    int64_t user_id;      /* who gave it; 0: the server */
    int64_t outage_id;    /* 0: none */
    int64_t seq;          /* of the event that tells of it */
    utc_ms at;
};
#define CLOCK_FACT_ROW_INIT                                                                        \
    ((struct clock_fact_row){.seat = -1, .from_at = UTC_NONE, .to_at = UTC_NONE})

/* ST_CONFLICT (REASON_ALREADY_DONE) when this game has had that outage already. */
MUST_CHECK enum status clock_facts_add(struct store_txn *txn, const struct clock_fact_row *fact,
                                       struct err *err);
/* In order; ply GAME_ANY: of all turns. */
MUST_CHECK enum status clock_facts_list(struct store_conn *conn, int64_t game_id, int ply,
                                        struct clock_fact_row *rows, size_t max, size_t *ret_n,
                                        struct err *err);

#endif

/*
 * store/outage.h - when the server was alive, and when it was not.
 *
 * While it runs it notes a sign of life every half minute.  At start the gap since the last one is
 * an outage if it is long enough; it is entered in the ledger once and then every running clock is
 * credited with it, once (clock_facts_add() refuses a second time).  So a crash in the middle is
 * resumed by the next start: outages_unfinished().
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_OUTAGE_H
#define FH_STORE_OUTAGE_H

#include "store/store.h"

enum { OUTAGE_NOTE_SIZE = 501 };

/* The last sign of life; UTC_NONE on a new file. */
MUST_CHECK enum status heartbeat_get(struct store_conn *conn, utc_ms *ret_at,
                                     utc_ms *ret_started_at, struct err *err);
/* is_start: a run begins now. */
MUST_CHECK enum status heartbeat_set(struct store_txn *txn, utc_ms now, bool is_start,
                                     struct err *err);

/* Write it as it stands: for commands that change nothing and whose time must not tell so, since
 * the commit then costs as much as another's. */
MUST_CHECK enum status heartbeat_keep(struct store_txn *txn, struct err *err);

struct outage_row {
    int64_t id;
    utc_ms from_at, to_at;
    int64_t credited_ms;
    int64_t games;     /* credited so far */
    bool is_done;      /* all have been */
    char note[OUTAGE_NOTE_SIZE];
    utc_ms recorded_at;
};

/* ST_CONFLICT (REASON_ALREADY_DONE) when one that began at from_at is in the ledger. */
MUST_CHECK enum status outages_add(struct store_txn *txn, utc_ms from_at, utc_ms to_at,
                                   int64_t credited_ms, const char *note, utc_ms now,
                                   int64_t *ret_id, struct err *err);
/* `games` more have been credited; is_done closes it. */
MUST_CHECK enum status outages_credited(struct store_txn *txn, int64_t id, int64_t games,
                                        bool is_done, struct err *err);
/* The greatest id of a game that has been credited with it (0: none): where a sweep in order of id
 * goes on, also after a crash. */
MUST_CHECK enum status outages_last_game(struct store_conn *conn, int64_t id,
                                         int64_t *ret_game_id, struct err *err);
/* The oldest that is not done.  ST_NOT_FOUND. */
MUST_CHECK enum status outages_unfinished(struct store_conn *conn, struct outage_row *ret_row,
                                          struct err *err);
/* Newest first, id < before (0: from the newest). */
MUST_CHECK enum status outages_list(struct store_conn *conn, int64_t before,
                                    struct outage_row *rows, size_t max, size_t *ret_n,
                                    struct err *err);

#endif

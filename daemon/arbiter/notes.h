/*
 * arbiter/notes.h - what a player notes on a game, for himself alone.
 *
 * Who has a seat of a game, or had it to the end, may note things on it and reads what he has noted
 * (notes_list() of store/notes.h).  A note changes nothing of the game: no event, no state number,
 * no hook.
 *
 * Calling sequence: game and seats as the transaction (the connection) sees them.
 * Threads: the writer's; arbiter_may_note(): any.  Ownership: text is copied.
 */
#ifndef FH_ARBITER_NOTES_H
#define FH_ARBITER_NOTES_H

#include "store/games.h"
#include "store/notes.h"

/* REASON_NOT_YOUR_GAME. */
MUST_CHECK enum status arbiter_may_note(const struct seat_row seats[SEAT_COUNT], int64_t user_id,
                                        struct err *err);

/* Note a text, with the ply and the state number that the game has.  ret_note may be NULL.
 * REASON_NOT_YOUR_GAME; REASON_TOO_LARGE: NOTE_SIZE bytes or more; what notes_add() refuses. */
MUST_CHECK enum status arbiter_note(struct store_txn *txn, utc_ms now,
                                    const struct game_row *game,
                                    const struct seat_row seats[SEAT_COUNT], int64_t user_id,
                                    const char *text, struct note_row *ret_note, struct err *err);

#endif

/*
 * store/notes.h - what a player notes on a game, for himself alone.
 *
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_NOTES_H
#define FH_STORE_NOTES_H

#include "store/kinds.h"
#include "store/store.h"

enum {
    NOTE_SIZE = 2001,   /* 2000 bytes */
    NOTES_A_GAME = 1000 /* of one user */
};

struct note_row {
    int64_t id;
    int64_t game_id;
    int64_t user_id;
    int ply;          /* moves made then */
    int64_t state_no; /* the game's, then */
    char text[NOTE_SIZE];
    utc_ms at;
};

/* Uses all but id.  REASON_LIMIT when the user has NOTES_A_GAME on this game;
 * ST_INVALID (REASON_BAD_FIELD) when it is empty. */
MUST_CHECK enum status notes_add(struct store_txn *txn, const struct note_row *note,
                                 int64_t *ret_id, struct err *err);
/* Oldest first, id > after (0: from the first). */
MUST_CHECK enum status notes_list(struct store_conn *conn, int64_t game_id, int64_t user_id,
                                  int64_t after, struct note_row *rows, size_t max, size_t *ret_n,
                                  struct err *err);

#endif

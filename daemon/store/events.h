/*
 * store/events.h - everything that happened, in order.
 *
 * Each game numbers its events 1, 2, 3… without a gap (seq); over all games they have a growing id,
 * which orders the stream of an account.  Rows are never changed.  What a row's columns mean:
 *
 *   kind               seat            user_id      other columns
 *   created            -               organiser
 *   invited            seat kept       inviter      note: handle of the invited, "" by mail
 *   seat_taken         seat            who
 *   seat_left          seat            who
 *   declined           seat            who
 *   invite_expired     seat            -
 *   invite_withdrawn   seat            who
 *   placing            -               -            deadline_at
 *   placed             seat            who or -     (- : the server, at the deadline)
 *   started            -               -
 *   move               seat            who          move, san, position_hash
 *   mated, released, removed, passed   seat  -
 *   resigned           seat            who
 *   forfeited          seat            -
 *   turn               seat on turn    -            deadline_at
 *   draw_offered, draw_accepted, draw_declined, draw_lapsed   seat who
 *   draw_claimed       seat            who          cause
 *   finished           -               -            result, cause
 *   aborted            -               who or -     cause, note
 *   paused, resumed    -               who          note; resumed: deadline_at
 *   credited           seat            who          amount_ms, deadline_at, note
 *   outage_credited    seat            -            amount_ms, deadline_at
 *   delivery_credited  seat            -            amount_ms, deadline_at; note: "delivery", its
 *                                                   letter was handed over late, or "held", a move
 *                                                   by mail was held and dropped
 *   adjudicated        -               who          result, note
 *   late               seat            -            amount_ms after the deadline
 *   warning            seat            -            amount_ms left, deadline_at
 *
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_EVENTS_H
#define FH_STORE_EVENTS_H

#include "store/games.h"
#include "store/moves.h"

enum { EVENT_NOTE_SIZE = 501 };

struct event_row {
    int64_t id;
    int64_t game_id;
    char public_id[GAME_PUBLIC_ID_SIZE]; /* of the game; filled by reads */
    int64_t seq;
    enum game_event_kind kind;
    int seat;                   /* -1: no seat in particular */
    int64_t user_id;            /* 0: the server */
    char handle[HANDLE_SIZE];   /* of user_id; "" ; filled by reads */
    int ply;                    /* moves made by then */
    int64_t state_no;           /* the game's, after it */
    char move[MOVE_TEXT_SIZE];  /* "" */
    char san[MOVE_SAN_SIZE];    /* "" */
    enum game_result result;
    enum game_cause cause;
    int64_t amount_ms;
    utc_ms deadline_at;         /* UTC_NONE */
    uint64_t position_hash;     /* after it */
    char note[EVENT_NOTE_SIZE]; /* "" */
    utc_ms at;
};
#define EVENT_ROW_INIT ((struct event_row){.seat = -1, .deadline_at = UTC_NONE})

/*
 * Append an event to game->id.  Sets event->id, game_id and seq (game->last_seq + 1), and advances
 * last_seq and last_event_id in *game.  changes_state says that it changed men, conditions or turn:
 * then event->state_no and game->state_no become this seq; else event->state_no is game->state_no.
 * games_save() with the same struct must follow in the same transaction: it stores all three, once
 * for however many events.
 * ST_CONFLICT (REASON_STATE_MISMATCH) when *game is not the newest: another event was appended
 * since it was read.
 */
MUST_CHECK enum status events_append(struct store_txn *txn, struct game_row *game,
                                     struct event_row *event, bool changes_state, struct err *err);

/* A game's events with seq > since, in order. */
MUST_CHECK enum status events_of_game(struct store_conn *conn, int64_t game_id, int64_t since,
                                      struct event_row *rows, size_t max, size_t *ret_n,
                                      struct err *err);
/* position_hash after each event with seq > since that a new position came of (move, resigned,
 * forfeited), in order: what repetition asks (R-C7).  The start position is not among them. */
MUST_CHECK enum status events_hashes(struct store_conn *conn, int64_t game_id, int64_t since,
                                     uint64_t *ret_hashes, size_t max, size_t *ret_n,
                                     struct err *err);
MUST_CHECK enum status events_get(struct store_conn *conn, int64_t game_id, int64_t seq,
                                  struct event_row *ret_row, struct err *err);

/* Events of all games that the user belongs to, or belonged to then, with id > since, in order of
 * id.  Without a gap: pages follow each other by the last id.  *ret_through is up to where nothing
 * was missed (the last row's id, or the newest event of all when the page was not filled): resume
 * from there. */
MUST_CHECK enum status events_of_user(struct store_conn *conn, int64_t user_id, int64_t since,
                                      struct event_row *rows, size_t max, size_t *ret_n,
                                      int64_t *ret_through, struct err *err);

/* id of the newest event of all games; 0 when there is none. */
MUST_CHECK enum status events_newest(struct store_conn *conn, int64_t *ret_id, struct err *err);

#endif

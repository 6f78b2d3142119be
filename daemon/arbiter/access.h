/*
 * arbiter/access.h - who may look at a game, and who is invited to it.
 *
 * Purpose
 *   One rule for every door and every command.  A public game is seen by everybody.  A game of its
 *   players only is seen by
 *     - those who belong to it: its organiser, its players (also when their army has left it), and
 *       who is invited by his account,
 *     - while it waits for players, who has an invitation to the address that he has proved,
 *     - operators and administrators.
 *   To all others it is refused with the reason, and the words, of a game that does not exist.  Who
 *   has left it before it began, has declined or whose invitation was taken back is one of them.
 *
 * Calling sequence: the row as it is in the connection's view, and whoever asks.
 * Threads: any that may use the connection.  Time: none; an invitation past its time is pending
 *   until the ticker has settled it (accepting it is judged by the clock, in seating.c).
 */
#ifndef FH_ARBITER_ACCESS_H
#define FH_ARBITER_ACCESS_H

#include <stdbool.h>

#include "arbiter/arbiter.h"
#include "base/status.h"
#include "store/games.h"
#include "store/users.h"

/* ST_OK, or REASON_NO_SUCH_GAME (ST_NOT_FOUND), or what store/ returns. */
MUST_CHECK enum status arbiter_may_see(struct store_conn *conn, const struct game_row *game,
                                       struct arbiter_actor who, struct err *err);

/* A public game: nobody need be asked for. */
bool arbiter_all_may_see(const struct game_row *game);

/* May he run the game: pause it, give time, invite?  Its organiser, operators, administrators. */
bool arbiter_may_organise(int64_t organiser_id, struct arbiter_actor who);

/* The seats (bit 1 << seat) of a game that waits for players to which a user, 0 for none, has a
 * pending invitation: to his account, or to his proved address. */
MUST_CHECK enum status arbiter_invited(struct store_conn *conn, const struct game_row *game,
                                       int64_t user_id, unsigned *ret_seats, struct err *err);

/* Is it to that user's account or to his proved address?  Nothing is said of its state. */
bool invitation_is_for(const struct invitation_row *invitation, const struct user_row *user);

#endif

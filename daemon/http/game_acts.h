/*
 * http/game_acts.h - what all acts on a game share: who acts, on which game, what is answered.
 *
 * Errors: REASON_NO_SUCH_GAME when the path names none; what the arbiter refuses is passed on.
 * Threads: the writer's, but for request_actor().
 */
#ifndef FH_HTTP_GAME_ACTS_H
#define FH_HTTP_GAME_ACTS_H

#include <stdlib.h>

#include "arbiter/arbiter.h"
#include "http/server.h"

struct arbiter_actor request_actor(const struct request *r);

/* The game that the path names.  Who may see it, the arbiter judges. */
MUST_CHECK enum status act_game(struct request *r, struct store_txn *txn, int64_t *ret_id,
                                struct err *err);

/* The answer to an act that went so: the game, or the refusal, which carries the game as it is now
 * when it has moved on. */
MUST_CHECK enum status act_answer(struct request *r, struct store_txn *txn, enum status st,
                                  const struct game_row *game, struct err *err);

/* The body of an …_act(): find the game, ask the arbiter, show the game.  call may use arb, id and
 * game beside what the function has. */
#define ACT_ON_GAME(call)                                                                          \
    do {                                                                                           \
        const struct arbiter *arb = r->http->options.arbiter;                                      \
        struct game_row *game = malloc(sizeof *game);                                              \
        int64_t id = 0;                                                                            \
        enum status st = game ? act_game(r, txn, &id, err)                                         \
                              : err_reason(err, REASON_NO_MEMORY, "a game");                       \
                                                                                                   \
        if (st == ST_OK)                                                                           \
            st = act_answer(r, txn, call, game, err);                                              \
        free(game);                                                                                \
        return st;                                                                                 \
    } while (0)

#endif

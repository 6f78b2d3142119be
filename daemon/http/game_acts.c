/*
 * http/game_acts.c - see game_acts.h.
 */
#include "http/game_acts.h"

#include <stdlib.h>
#include <string.h>

#include "http/render.h"

struct arbiter_actor request_actor(const struct request *r)
{
    return viewer_actor(request_viewer(r));
}

enum status act_game(struct request *r, struct store_txn *txn, int64_t *ret_id, struct err *err)
{
    return strlen(r->params[0]) == GAME_PUBLIC_ID_SIZE - 1
               ? games_find_id(store_txn_conn(txn), r->params[0], ret_id, err)
               : err_reason(err, REASON_NO_SUCH_GAME, "there is no such game");
}

/* Whoever was refused because the game has moved on gets to see where it is now. */
static void show_game(struct request *r, struct store_conn *conn)
{
    struct game_view *view = malloc(sizeof *view);
    struct err ignored = ERR_INIT;
    json_t *root = NULL;

    if (view &&
        game_view_find(conn, r->params[0], request_viewer(r), view, &ignored) == ST_OK &&
        render_game(conn, view, request_viewer(r), &root, &ignored) == ST_OK) {
        json_decref(r->problem_game);
        r->problem_game = root;
    }
    free(view);
}

enum status act_answer(struct request *r, struct store_txn *txn, enum status st,
                       const struct game_row *game, struct err *err)
{
    if (st == ST_CONFLICT)
        show_game(r, store_txn_conn(txn));
    if (st != ST_OK)
        return st;
    return answer_game(r, store_txn_conn(txn), 200, game, err);
}

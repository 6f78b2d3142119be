/*
 * http/api_users.c - what everybody may know of a player.
 */
#include <stdlib.h>

#include "http/handlers.h"
#include "http/players.h"
#include "http/render.h"

enum status get_user_read(struct request *r, struct err *err)
{
    struct user_row *user = calloc(1, sizeof *user);
    struct store_conn *conn = NULL;
    char games[96];
    enum status st;

    if (!user)
        return err_reason(err, REASON_NO_MEMORY, "a profile");
    st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = player_find(conn, r->params[0], user, err);
    if (st != ST_OK)
        goto out;
    snprintf(games, sizeof games, "/api/v1/games?player=%s", user->handle);
    st = answer_json(r, 200,
                     json_pack("{s:s, s:s, s:b, s:o, s:{s:s}}", "handle", user->handle, "name",
                               user->display_name, "disabled", user->disabled_at != UTC_NONE,
                               "created_at", render_instant(user->created_at), "links", "games",
                               games),
                     err);
out:
    free(user);
    return st;
}

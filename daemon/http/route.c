/*
 * http/route.c - the one table of routes, and finding one in it.
 *
 * tests/http compares it with web/openapi.yaml: paths, methods and statuses.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/handlers.h"

/* What the routes of one shape can answer; the others have their statuses in their rows. */
#define READS_OWN "200 304 400 401 403 429 503" /* a list or thing of one's own */
#define READS_TEXT "200 304 400 404 429 503" /* what anybody may read, by name */
#define READS_GAME "200 304 400 401 403 404 429 503" /* what may not be there for who asks */
#define READS_BOARD "200 304 400 401 403 404 409 429 503" /* … or not yet */
#define CHANGES_GAME "200 400 401 403 404 409 413 415 422 429 503" /* an act on a game */
#define MAKES "201 400 401 403 404 409 413 415 422 429 503" /* something new */
#define CHANGES_OWN "200 400 401 403 413 415 429 503" /* a change of one's account */
#define DROPS_OWN "204 400 401 403 413 429 503" /* … that takes something away */
#define DROPS_ONE "204 400 401 403 404 413 429 503" /* … of which there may be none */

const struct route routes[] = {
    /* clang-format off */
    {METHOD_GET, "/healthz", ACCESS_NOBODY, RATE_NONE,
     0, "200 400 503",
     .read = get_health_read},
    {METHOD_GET, "/readyz", ACCESS_NOBODY, RATE_NONE,
     0, "200 400 503",
     .read = get_readiness_read},
    {METHOD_GET, "/api/v1", ACCESS_NOBODY, RATE_REQUESTS,
     ROUTE_API, "200 304 400 429 503",
     .read = get_service_read},
    {METHOD_GET, "/api/v1/openapi.yaml", ACCESS_NOBODY, RATE_REQUESTS,
     ROUTE_API, READS_TEXT,
     .read = get_openapi_read},
    {METHOD_GET, "/api/v1/words/{language}", ACCESS_NOBODY, RATE_REQUESTS,
     ROUTE_API, READS_TEXT,
     .read = get_words_read},
    {METHOD_GET, "/problems/{code}", ACCESS_NOBODY, RATE_REQUESTS,
     ROUTE_API, READS_TEXT,
     .read = get_problem_read},
    {METHOD_POST, "/api/v1/auth/link", ACCESS_NOBODY, RATE_LOGINS,
     ROUTE_API | ROUTE_BODY, "202 400 403 413 415 429 503",
     .prepare = request_link_prepare, .act = request_link_act},
    {METHOD_POST, "/api/v1/auth/login", ACCESS_NOBODY, RATE_LOGINS,
     ROUTE_API | ROUTE_BODY, "200 400 403 410 413 415 429 503",
     .prepare = consume_link_prepare, .act = consume_link_act},
    {METHOD_POST, "/api/v1/auth/password", ACCESS_NOBODY, RATE_LOGINS,
     ROUTE_API | ROUTE_BODY, CHANGES_OWN,
     .read = login_by_password_read, .act = login_by_password_act},
    {METHOD_POST, "/api/v1/auth/logout", ACCESS_SESSION, RATE_REQUESTS,
     ROUTE_API, DROPS_OWN,
     .act = logout_act},
    {METHOD_POST, "/api/v1/auth/register", ACCESS_NOBODY, RATE_LOGINS,
     ROUTE_API | ROUTE_BODY, "202 400 403 409 413 415 429 503",
     .prepare = register_prepare, .act = register_act},
    {METHOD_POST, "/api/v1/auth/confirm", ACCESS_NOBODY, RATE_LOGINS,
     ROUTE_API | ROUTE_BODY, "200 400 403 409 410 413 415 429 503",
     .prepare = confirm_address_prepare, .act = confirm_address_act},
    {METHOD_GET, "/api/v1/me", ACCESS_READ, RATE_REQUESTS,
     ROUTE_API, READS_OWN,
     .read = get_me_read},
    {METHOD_PATCH, "/api/v1/me", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY, CHANGES_OWN,
     .prepare = patch_me_prepare, .act = patch_me_act},
    {METHOD_PUT, "/api/v1/me/password", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY, "204 400 401 403 413 415 429 503",
     .read = set_password_read, .act = set_password_act},
    {METHOD_DELETE, "/api/v1/me/password", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API, DROPS_OWN,
     .act = delete_password_act},
    {METHOD_POST, "/api/v1/me/address", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY, "202 400 401 403 409 413 415 429 503",
     .prepare = change_address_prepare, .act = change_address_act},
    {METHOD_GET, "/api/v1/me/notices", ACCESS_READ, RATE_REQUESTS,
     ROUTE_API, READS_OWN,
     .read = get_notices_read},
    {METHOD_PATCH, "/api/v1/me/notices", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY, CHANGES_OWN,
     .prepare = patch_notices_prepare, .act = patch_notices_act},
    {METHOD_GET, "/api/v1/me/sessions", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API, READS_OWN,
     .read = list_sessions_read},
    {METHOD_DELETE, "/api/v1/me/sessions", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API, DROPS_OWN,
     .act = end_other_sessions_act},
    {METHOD_DELETE, "/api/v1/me/sessions/{session}", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API, DROPS_ONE,
     .act = end_session_act},
    {METHOD_GET, "/api/v1/me/tokens", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API, READS_OWN,
     .read = list_tokens_read},
    {METHOD_POST, "/api/v1/me/tokens", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY, "201 400 401 403 413 415 422 429 503",
     .prepare = create_token_prepare, .act = create_token_act},
    {METHOD_DELETE, "/api/v1/me/tokens/{token}", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API, DROPS_ONE,
     .act = revoke_token_act},
    {METHOD_GET, "/api/v1/me/webhooks", ACCESS_READ, RATE_REQUESTS,
     ROUTE_API, READS_OWN,
     .read = list_webhooks_read},
    {METHOD_POST, "/api/v1/me/webhooks", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, "201 400 401 403 409 413 415 422 429 503",
     .prepare = create_webhook_prepare, .act = create_webhook_act},
    {METHOD_GET, "/api/v1/me/webhooks/{webhook}", ACCESS_READ, RATE_REQUESTS,
     ROUTE_API, READS_GAME,
     .read = get_webhook_read},
    {METHOD_PATCH, "/api/v1/me/webhooks/{webhook}", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY, "200 400 401 403 404 413 415 422 429 503",
     .prepare = patch_webhook_prepare, .act = patch_webhook_act},
    {METHOD_DELETE, "/api/v1/me/webhooks/{webhook}", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API, DROPS_ONE,
     .act = delete_webhook_act},
    {METHOD_POST, "/api/v1/me/webhooks/{webhook}/rotate", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_REPEATABLE, "200 400 401 403 404 409 413 422 429 503",
     .act = rotate_webhook_act},
    {METHOD_POST, "/api/v1/me/webhooks/{webhook}/ping", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_REPEATABLE, "202 400 401 403 404 409 413 422 429 503",
     .act = ping_webhook_act},
    {METHOD_GET, "/api/v1/me/webhooks/{webhook}/deliveries", ACCESS_READ, RATE_REQUESTS,
     ROUTE_API, READS_GAME,
     .read = list_deliveries_read},
    {METHOD_POST, "/api/v1/me/webhooks/{webhook}/deliveries/{delivery}/redeliver", ACCESS_MANAGE,
     RATE_REQUESTS,
     ROUTE_API | ROUTE_REPEATABLE, "202 400 401 403 404 409 413 422 429 503",
     .act = redeliver_act},
    {METHOD_GET, "/api/v1/users/{handle}", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API, READS_GAME,
     .read = get_user_read},
    {METHOD_GET, "/api/v1/games", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API, READS_GAME,
     .read = list_games_read},
    {METHOD_POST, "/api/v1/games", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, MAKES,
     .prepare = create_game_prepare, .act = create_game_act},
    {METHOD_GET, "/api/v1/games/{game}", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API, READS_GAME,
     .read = get_game_read},
    {METHOD_POST, "/api/v1/games/{game}/join", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = join_game_prepare, .act = join_game_act},
    {METHOD_POST, "/api/v1/games/{game}/leave", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_REPEATABLE, "200 400 401 403 404 409 413 422 429 503",
     .act = leave_game_act},
    {METHOD_POST, "/api/v1/games/{game}/accept", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY_OPTIONAL | ROUTE_REPEATABLE,
     "200 400 401 403 404 409 410 413 415 422 429 503",
     .prepare = accept_invitation_prepare, .act = accept_invitation_act},
    {METHOD_POST, "/api/v1/games/{game}/decline", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY_OPTIONAL | ROUTE_REPEATABLE,
     "200 400 401 403 404 409 410 413 415 422 429 503",
     .prepare = decline_invitation_prepare, .act = decline_invitation_act},
    {METHOD_POST, "/api/v1/games/{game}/invitations", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = invite_prepare, .act = invite_act},
    {METHOD_DELETE, "/api/v1/games/{game}/invitations/{seat}", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API, "200 400 401 403 404 409 413 429 503",
     .act = withdraw_invitation_act},
    {METHOD_GET, "/api/v1/games/{game}/placement", ACCESS_READ, RATE_REQUESTS,
     ROUTE_API, READS_BOARD,
     .read = get_placement_read},
    {METHOD_POST, "/api/v1/games/{game}/placement", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = place_prepare, .act = place_act},
    {METHOD_GET, "/api/v1/games/{game}/moves", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API, READS_GAME,
     .read = list_moves_read},
    {METHOD_POST, "/api/v1/games/{game}/moves", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, MAKES,
     .prepare = move_prepare, .act = move_act},
    {METHOD_GET, "/api/v1/games/{game}/legal", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API, "200 304 400 401 403 404 409 422 429 503",
     .read = get_legal_read},
    {METHOD_POST, "/api/v1/games/{game}/resign", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = resign_prepare, .act = resign_act},
    {METHOD_POST, "/api/v1/games/{game}/draw/offer", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = offer_draw_prepare, .act = offer_draw_act},
    {METHOD_POST, "/api/v1/games/{game}/draw/accept", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = accept_draw_prepare, .act = accept_draw_act},
    {METHOD_POST, "/api/v1/games/{game}/draw/decline", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = decline_draw_prepare, .act = decline_draw_act},
    {METHOD_POST, "/api/v1/games/{game}/draw/claim", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = claim_draw_prepare, .act = claim_draw_act},
    {METHOD_GET, "/api/v1/games/{game}/notes", ACCESS_READ, RATE_REQUESTS,
     ROUTE_API, READS_GAME,
     .read = list_notes_read},
    {METHOD_POST, "/api/v1/games/{game}/notes", ACCESS_PLAY, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, MAKES,
     .prepare = add_note_prepare, .act = add_note_act},
    {METHOD_GET, "/api/v1/games/{game}/position", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API, READS_BOARD,
     .read = get_position_read},
    {METHOD_GET, "/api/v1/games/{game}/board.txt", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API, READS_BOARD,
     .read = get_board_text_read},
    {METHOD_GET, "/api/v1/games/{game}/board.svg", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API, READS_BOARD,
     .read = get_board_svg_read},
    {METHOD_GET, "/api/v1/games/{game}/board.png", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API, READS_BOARD,
     .read = get_board_png_read},
    {METHOD_GET, "/api/v1/games/{game}/game.pgn4", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API, "200 304 400 401 403 404 409 422 429 503",
     .read = get_pgn4_read},
    {METHOD_GET, "/api/v1/games/{game}/game.txt", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API, READS_BOARD,
     .read = get_game_text_read},
    {METHOD_POST, "/api/v1/games/{game}/abort", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = abort_game_prepare, .act = abort_game_act},
    {METHOD_POST, "/api/v1/games/{game}/pause", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = pause_game_prepare, .act = pause_game_act},
    {METHOD_POST, "/api/v1/games/{game}/resume", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = resume_game_prepare, .act = resume_game_act},
    {METHOD_POST, "/api/v1/games/{game}/credit", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = credit_time_prepare, .act = credit_time_act},
    {METHOD_POST, "/api/v1/games/{game}/adjudicate", ACCESS_MANAGE, RATE_REQUESTS,
     ROUTE_API | ROUTE_BODY | ROUTE_REPEATABLE, CHANGES_GAME,
     .prepare = adjudicate_game_prepare, .act = adjudicate_game_act},
    {METHOD_GET, "/api/v1/games/{game}/events", ACCESS_ANYBODY, RATE_REQUESTS,
     ROUTE_API, READS_GAME,
     .read = get_game_events_read},
    {METHOD_GET, "/api/v1/events", ACCESS_READ, RATE_REQUESTS,
     ROUTE_API, READS_OWN,
     .read = get_events_read},
    {METHOD_GET, "/login/{token}", ACCESS_NOBODY, RATE_REQUESTS,
     ROUTE_PAGE | ROUTE_SECRET, "200 400 410 429 503",
     .read = login_page_read},
    {METHOD_POST, "/login/{token}", ACCESS_NOBODY, RATE_LOGINS,
     ROUTE_PAGE | ROUTE_SECRET | ROUTE_FORM, "303 400 403 410 413 429 503",
     .act = login_by_page_act},
    {METHOD_GET, "/confirm/{token}", ACCESS_NOBODY, RATE_REQUESTS,
     ROUTE_PAGE | ROUTE_SECRET, "200 400 410 429 503",
     .read = confirm_page_read},
    {METHOD_POST, "/confirm/{token}", ACCESS_NOBODY, RATE_LOGINS,
     ROUTE_PAGE | ROUTE_SECRET | ROUTE_FORM, "200 400 403 409 410 413 429 503",
     .act = confirm_by_page_act},
    {METHOD_GET, "/u/{token}", ACCESS_NOBODY, RATE_NONE,
     ROUTE_PAGE | ROUTE_SECRET, "200 400 410 429 503",
     .read = unsubscribe_page_read},
    {METHOD_POST, "/u/{token}", ACCESS_NOBODY, RATE_NONE,
     ROUTE_PAGE | ROUTE_SECRET | ROUTE_FORM | ROUTE_CROSS_SITE, "200 400 410 413 415 429 503",
     .prepare = unsubscribe_prepare, .act = unsubscribe_act},
    /* clang-format on */
};
const size_t routes_count = COUNT_OF(routes);

/* Whether the segments of the request fit a pattern; fills in params. */
static bool pattern_fits(const struct request *r, const char *pattern,
                         const char *params[ROUTE_PARAMS_MAX])
{
    const char *at = pattern + 1;
    size_t n = 0;
    int n_params = 0;

    for (;;) {
        size_t len = strcspn(at, "/");

        if (n == r->n_segments)
            return false;
        if (*at == '{') {
            if (r->segments[n][0] == '\0')
                return false;
            assert(n_params < ROUTE_PARAMS_MAX);
            params[n_params++] = r->segments[n];
        } else if (strncmp(at, r->segments[n], len) != 0 || r->segments[n][len] != '\0') {
            return false;
        }
        n++;
        if (at[len] == '\0')
            return n == r->n_segments;
        at += len + 1;
    }
}

enum status route_find(struct request *r, char *ret_allow, size_t size, struct err *err)
{
    const char *params[ROUTE_PARAMS_MAX] = {NULL};
    enum method method = r->method == METHOD_HEAD ? METHOD_GET : r->method;
    size_t used = 0;

    ret_allow[0] = '\0';
    for (size_t i = 0; i < routes_count; i++) {
        if (!pattern_fits(r, routes[i].path, params))
            continue;
        if (routes[i].method == method) {
            r->route = &routes[i];
            memcpy(r->params, params, sizeof params);
            return ST_OK;
        }
        if (used < size)
            used += (size_t)snprintf(ret_allow + used, size - used, "%s%s%s", used ? ", " : "",
                                     method_str(routes[i].method),
                                     routes[i].method == METHOD_GET ? ", HEAD" : "");
    }
    if (used > 0) {
        snprintf(ret_allow + used, size - used, ", OPTIONS");
        return ERR_DETAIL(err, REASON_METHOD, "refusal.methods", "what is known here: `{methods}`",
                          ERR_TEXT("methods", ret_allow));
    }
    return err_detail(err, REASON_NOT_FOUND, "refusal.no_path", "there is nothing at this path");
}

bool route_may_answer(const struct route *route, int status)
{
    char word[8];
    const char *at;

    snprintf(word, sizeof word, "%d", status);
    at = strstr(route->statuses, word);
    return at != NULL;
}

void http_print_routes(struct buf *out)
{
    for (size_t i = 0; i < routes_count; i++)
        buf_printf(out, "%s %s %s\n", method_str(routes[i].method), routes[i].path,
                   routes[i].statuses);
}

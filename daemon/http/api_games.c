/*
 * http/api_games.c - lists of games, and a game.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/access.h"
#include "http/handlers.h"
#include "http/players.h"
#include "http/render.h"

enum { PAGE_MAX = 100, PAGE_DEFAULT = 50 };

/* ------------------------------------------------------------------------------ lists */

/* What of the query can be judged by itself; faults are noted. */
static void read_filter(struct request *r, struct game_filter *filter)
{
    const char *states[GAME_STATE_COUNT_], *variants[GAME_VARIANT_COUNT_];
    static const char *const me[] = {"me"};
    bool is_over;
    int word;

    for (int i = 0; i < GAME_STATE_COUNT_; i++)
        states[i] = game_state_str((enum game_state)i);
    for (int i = 0; i < GAME_VARIANT_COUNT_; i++)
        variants[i] = game_variant_str((enum game_variant)i);
    *filter = GAME_FILTER_INIT;
    filter->viewer_id = r->who.user_id;
    filter->sees_all = r->who.is_operator;
    request_query_word(r, "state", states, COUNT_OF(states), &word);
    filter->state = word < 0 ? GAME_ANY : word;
    request_query_word(r, "variant", variants, COUNT_OF(variants), &word);
    filter->variant = word < 0 ? GAME_ANY : word;
    request_query_word(r, "turn", me, COUNT_OF(me), &word);
    if (word == 0)
        filter->turn_user_id = r->who.user_id;
    request_query_word(r, "invited", me, COUNT_OF(me), &word);
    if (word == 0)
        filter->invited_user_id = r->who.user_id;
    request_query_bool(r, "open", false, &filter->joinable);
    request_query_bool(r, "over", false, &is_over);
    if (!request_query(r, "over"))
        return;
    filter->over = is_over;
    if (!request_query(r, "player"))
        FORM_ERROR(&r->form, REASON_BAD_FIELD, "over", "refusal.goes_with",
                   "goes only together with `{name}`", ERR_TEXT("name", "player"));
}

/* Who is meant, which needs an account or the store. */
static enum status find_people(struct request *r, struct store_conn *conn,
                               struct game_filter *filter, struct err *err)
{
    const char *player = request_query(r, "player");
    bool is_me = player && strcmp(player, "me") == 0;

    if ((is_me || request_query(r, "turn") || request_query(r, "invited")) &&
        !request_is_logged_in(r))
        return err_detail(err, REASON_LOGIN_NEEDED, "refusal.who_is_me",
                          "`me` is nobody yet: log in, or send an API token");
    if (is_me)
        filter->player_id = r->who.user_id;
    else if (player)
        return player_find_id(conn, player, &filter->player_id, err);
    return ST_OK;
}

/* "ID" or "ID.DEADLINE", opaque to whoever gets it. */
static bool read_cursor(const char *text, struct game_cursor *ret)
{
    char id[24];
    size_t n = strcspn(text, ".");
    int64_t key = 0;

    if (n == 0 || n >= sizeof id)
        return false;
    memcpy(id, text, n);
    id[n] = '\0';
    if (!str_to_int64(id, 1, INT64_MAX, &ret->id))
        return false;
    if (text[n] == '.' && !str_to_int64(text + n + 1, INT64_MIN, INT64_MAX, &key))
        return false;
    ret->key_at = key;
    return true;
}

/* A list's games as the viewer sees them. */
static enum status render_list(struct store_conn *conn, const struct game_brief *rows, size_t n,
                               struct viewer viewer, json_t **ret, struct err *err)
{
    struct game_row *game = calloc(1, sizeof *game);
    json_t *items = json_array();
    enum status st = ST_OK;

    if (!game)
        st = err_reason(err, REASON_NO_MEMORY, "games");
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        unsigned invited = 0;
        bool has_kept = false;

        for (int seat = 0; seat < SEAT_COUNT; seat++)
            has_kept = has_kept || rows[i].seats[seat].state == SEAT_INVITED;
        if (has_kept) {
            game->id = rows[i].id;
            game->state = rows[i].state;
            st = arbiter_invited(conn, game, viewer.user_id, &invited, err);
        }
        if (st == ST_OK)
            json_array_append_new(items, render_summary(&rows[i], viewer, invited));
    }
    free(game);
    if (st == ST_OK)
        *ret = items;
    else
        json_decref(items);
    return st;
}

/* Where the next page is: the same query with another cursor. */
static void link_next(struct request *r, const char *next)
{
    char link[512];
    size_t used = (size_t)snprintf(link, sizeof link, "</api/v1/games?after=%s", next);

    for (size_t i = 0; i < r->n_query && used < sizeof link; i++) {
        const char *value = r->query[i].value;

        if (strcmp(r->query[i].name, "after") == 0)
            continue;
        /* Whatever got so far holds nothing that would need escaping. */
        if (value[strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-")])
            return;
        used += (size_t)snprintf(link + used, sizeof link - used, "&%s=%s", r->query[i].name,
                                 value);
    }
    if (used + 16 > sizeof link)
        return;
    snprintf(link + used, sizeof link - used, ">; rel=\"next\"");
    answer_header(r, "Link", link);
}

enum status list_games_read(struct request *r, struct err *err)
{
    static const char *const names[] = {"player", "state", "over",  "turn",  "invited",
                                        "variant", "open", "limit", "after", NULL};
    struct game_brief *rows = NULL;
    struct store_conn *conn = NULL;
    struct game_filter filter;
    struct game_cursor from = {.id = 0}, next = {.id = 0};
    const char *after = request_query(r, "after");
    char cursor[64] = "";
    int64_t limit;
    json_t *items = NULL;
    size_t n = 0;
    enum status st;

    request_query_only(r, names);
    request_query_int(r, "limit", 1, PAGE_MAX, PAGE_DEFAULT, &limit);
    if (after && !read_cursor(after, &from))
        form_error(&r->form, REASON_BAD_CURSOR, "after", "refusal.bad_cursor",
                   "`after` must be the `next` of the page before");
    read_filter(r, &filter);
    st = form_end(&r->form, err);
    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = find_people(r, conn, &filter, err);
    if (st != ST_OK)
        return st;
    rows = calloc((size_t)limit, sizeof *rows);
    if (!rows)
        return err_reason(err, REASON_NO_MEMORY, "games");
    st = games_list(conn, &filter, &from, rows, (size_t)limit, &n, &next, err);
    if (st == ST_OK)
        st = render_list(conn, rows, n, request_viewer(r), &items, err);
    if (st == ST_OK) {
        if (next.id) {
            snprintf(cursor, sizeof cursor, "%" PRId64 ".%" PRId64, next.id, next.key_at);
            link_next(r, cursor);
        }
        st = answer_json(r, 200,
                         json_pack("{s:o, s:o}", "items", items, "next", render_text(cursor)),
                         err);
    }
    free(rows);
    return st;
}

/* ------------------------------------------------------------------------------ a game */

enum status get_game_read(struct request *r, struct err *err)
{
    struct cache_key key = {.user_id = r->who.user_id, .is_operator = r->who.is_operator};
    int64_t now_ms = http_now_ms(r->http);
    struct game_view *view;
    struct store_conn *conn = NULL;
    char etag[CACHE_ETAG_SIZE];
    enum status st;

    if (!str_copy(key.public_id, sizeof key.public_id, r->params[0]))
        return err_reason(err, REASON_NO_SUCH_GAME, "there is no such game");
    if (atomic_load(&r->http->is_ready) && /* else there may be no hook any more */
        cache_get(r->http->cache, &key, now_ms, &r->answer.body, etag)) {
        r->answer.status = 200;
        r->answer.type = "application/json";
        answer_header(r, "ETag", etag);
        return ST_OK;
    }
    buf_clear(&r->answer.body);
    view = malloc(sizeof *view);
    if (!view)
        return err_reason(err, REASON_NO_MEMORY, "a game");
    st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = game_view_find(conn, r->params[0], request_viewer(r), view, err);
    if (st == ST_OK)
        st = answer_view(r, conn, 200, view, err);
    if (st == ST_OK && answer_etag(r))
        cache_put(r->http->cache, &key, view->game.id, r->epoch, now_ms, r->answer.body.data,
                  r->answer.body.len, answer_etag(r));
    free(view);
    return st;
}

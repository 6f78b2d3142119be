/*
 * http/api_events.c - events of a game and of an account: pages and streams.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/access.h"
#include "http/handlers.h"
#include "http/render.h"
#include "http/stream.h"
#include "store/events.h"

enum { EVENTS_PAGE_MAX = 1000, EVENTS_PAGE_DEFAULT = 200 };

struct event_query {
    int64_t since; /* -1: not said */
    int64_t limit;
    bool is_following;
    bool is_page;
    enum stream_form form;
};

static enum status read_events_query(struct request *r, struct event_query *ret, struct err *err)
{
    static const char *const names[] = {"since", "limit", "follow", NULL};
    static const char *const offered[] = {"application/json", "text/event-stream",
                                          "application/x-ndjson", NULL};
    const char *last = request_header(r, "Last-Event-ID");
    const char *type = request_accepts(r, offered);
    enum status st;

    request_query_only(r, names);
    request_query_int(r, "since", 0, INT64_MAX, -1, &ret->since);
    request_query_int(r, "limit", 1, EVENTS_PAGE_MAX, EVENTS_PAGE_DEFAULT, &ret->limit);
    request_query_bool(r, "follow", true, &ret->is_following);
    st = form_end(&r->form, err);
    if (st != ST_OK)
        return st;
    if (last && *last && !str_to_int64(last, 0, INT64_MAX, &ret->since))
        return err_detail(err, REASON_BAD_REQUEST, "refusal.event_id",
                          "`Last-Event-ID` must be the id of an event");
    ret->is_page = !type || strcmp(type, "application/json") == 0;
    ret->form = type && strcmp(type, "text/event-stream") == 0 ? STREAM_SSE : STREAM_NDJSON;
    return ST_OK;
}

static enum status answer_page(struct request *r, struct event_row *rows, size_t n, int64_t next,
                               struct err *err)
{
    json_t *items = json_array();

    for (size_t i = 0; i < n; i++)
        json_array_append_new(items, render_event(&rows[i]));
    return answer_json(r, 200, json_pack("{s:o, s:I}", "items", items, "next", (json_int_t)next),
                       err);
}

enum status get_game_events_read(struct request *r, struct err *err)
{
    struct event_query query = {.since = -1};
    struct game_view *view = malloc(sizeof *view);
    struct event_row *rows = NULL;
    struct store_conn *conn = NULL;
    size_t n = 0;
    enum status st = read_events_query(r, &query, err);

    if (st == ST_OK && !view)
        st = err_reason(err, REASON_NO_MEMORY, "events");
    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = game_view_find(conn, r->params[0], request_viewer(r), view, err);
    if (st != ST_OK)
        goto out;
    if (query.since < 0)
        query.since = 0;
    if (!query.is_page) {
        struct stream_wish wish = {.game_id = view->game.id,
                                   .viewer = request_viewer(r),
                                   .is_private = !arbiter_all_may_see(&view->game),
                                   .since = query.since,
                                   .form = query.form,
                                   .is_following = query.is_following};

        st = stream_open(r, &wish, err);
        goto out;
    }
    rows = calloc((size_t)query.limit, sizeof *rows);
    if (!rows) {
        st = err_reason(err, REASON_NO_MEMORY, "events");
        goto out;
    }
    st = events_of_game(conn, view->game.id, query.since, rows, (size_t)query.limit, &n, err);
    if (st == ST_OK)
        st = answer_page(r, rows, n, n > 0 ? rows[n - 1].seq : query.since, err);
out:
    free(rows);
    free(view);
    return st;
}

enum status get_events_read(struct request *r, struct err *err)
{
    struct event_query query = {.since = -1};
    struct event_row *rows = NULL;
    struct store_conn *conn = NULL;
    int64_t next;
    size_t n = 0;
    enum status st = read_events_query(r, &query, err);

    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st != ST_OK)
        return st;
    if (!query.is_page) {
        struct stream_wish wish = {.viewer = request_viewer(r),
                                   .since = query.since,
                                   .form = query.form,
                                   .is_following = query.is_following,
                                   .greets = query.since < 0};

        /* Without a place to go on from it begins now, and says where that is. */
        if (query.since < 0)
            st = events_newest(conn, &wish.since, err);
        return st == ST_OK ? stream_open(r, &wish, err) : st;
    }
    if (query.since < 0)
        query.since = 0;
    rows = calloc((size_t)query.limit, sizeof *rows);
    if (!rows)
        return err_reason(err, REASON_NO_MEMORY, "events");
    st = events_of_user(conn, r->who.user_id, query.since, rows, (size_t)query.limit, &n, &next,
                        err);
    if (st == ST_OK)
        st = answer_page(r, rows, n, next, err);
    free(rows);
    return st;
}

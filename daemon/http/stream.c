#include "http/stream.h"

#include <assert.h>
#include <inttypes.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "arbiter/access.h"
#include "base/log.h"
#include "http/readers.h"
#include "http/render.h"
#include "people/people.h"
#include "store/events.h"
#include "store/writer.h"

enum {
    EVENTS_A_TIME = 32,      /* events read from the store in one go */
    HUB_GAMES_MAX = 4096,    /* games noted between two ticks; more wake everybody */
    MEMBERS_MAX = 64,        /* of a game, that are looked at */
    STREAM_OUT_MAX = 1024 * 1024,
    STREAM_BLOCK = 4096
};

struct stream {
    struct stream *next, *prev;
    struct hub *hub;
    struct MHD_Connection *conn;
    int fd; /* of conn, which outlives the stream */
    struct stream_wish wish;
    uint64_t owner;
    char secret[API_TOKEN_SIZE + 8]; /* of the cookie or token that opened it; "": nobody's */
    bool is_by_cookie;
    struct buf out;
    size_t out_at; /* of it, what has been written */
    bool has_begun;
    /* under the hub's lock */
    bool is_waiting;  /* suspended */
    bool is_beat_due; /* write a sign of life if there is nothing else */
    int64_t beat_at_ms;
};

struct hub {
    struct http *http;
    pthread_mutex_t lock;
    struct stream *streams;
    int n_streams;
    uint64_t commits;
    bool is_stopping;
    /* games with new events since the last tick */
    int64_t games[HUB_GAMES_MAX];
    size_t n_games;
    bool is_overflown;
    /* the ticker's own copies */
    int64_t taken[HUB_GAMES_MAX];
    int64_t *users;
    size_t n_users, room_users;
};

enum status hub_new(struct http *http, struct hub **ret, struct err *err)
{
    struct hub *hub = calloc(1, sizeof *hub);

    if (!hub)
        return err_reason(err, REASON_NO_MEMORY, "http: no memory for streams");
    hub->http = http;
    pthread_mutex_init(&hub->lock, NULL);
    *ret = hub;
    return ST_OK;
}

void hub_free(struct hub *hub)
{
    if (!hub)
        return;
    assert(!hub->streams);
    pthread_mutex_destroy(&hub->lock);
    free(hub->users);
    free(hub);
}

void hub_commit(struct hub *hub, const struct writer_commit *commit)
{
    pthread_mutex_lock(&hub->lock);
    hub->commits++;
    if (commit->overflow)
        hub->is_overflown = true;
    for (size_t i = 0; i < commit->n && !hub->is_overflown; i++) {
        if (hub->n_games > 0 && hub->games[hub->n_games - 1] == commit->changes[i].game_id)
            continue;
        if (hub->n_games == HUB_GAMES_MAX)
            hub->is_overflown = true;
        else
            hub->games[hub->n_games++] = commit->changes[i].game_id;
    }
    pthread_mutex_unlock(&hub->lock);
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static bool has_id(const int64_t *ids, size_t n, int64_t id)
{
    return n > 0 && bsearch(&id, ids, n, sizeof *ids, compare_ids) != NULL;
}

/* Whose account streams the games concern.  False when that could not be found out: then all. */
static bool find_users(struct hub *hub, size_t n_games)
{
    struct store_reader *reader = NULL;
    struct member_row members[MEMBERS_MAX];
    struct err err = ERR_INIT;
    bool is_known = true;

    hub->n_users = 0;
    if (store_reader_take(hub->http->options.store, &reader, &err) != ST_OK)
        return false;
    for (size_t i = 0; i < n_games && is_known; i++) {
        size_t n = 0;

        if (i > 0 && hub->taken[i] == hub->taken[i - 1])
            continue;
        if (members_list(store_reader_conn(reader), hub->taken[i], members, MEMBERS_MAX, &n,
                         &err) != ST_OK ||
            n == MEMBERS_MAX)
            is_known = false;
        if (is_known && hub->n_users + n > hub->room_users) {
            size_t room = 2 * (hub->n_users + n);
            int64_t *users = realloc(hub->users, room * sizeof *users);

            if (users) {
                hub->users = users;
                hub->room_users = room;
            } else {
                is_known = false;
            }
        }
        for (size_t k = 0; k < n && is_known; k++)
            hub->users[hub->n_users++] = members[k].user_id;
    }
    store_reader_give(reader);
    if (is_known && hub->n_users > 0)
        qsort(hub->users, hub->n_users, sizeof hub->users[0], compare_ids);
    return is_known;
}

/* With the lock held. */
static void wake(struct stream *s)
{
    s->is_waiting = false;
    MHD_resume_connection(s->conn);
}

int hub_tick(struct hub *hub, int64_t now_ms)
{
    int64_t next = 1000;
    size_t n_games;
    bool is_for_all, has_accounts = false, knows_users = true;

    pthread_mutex_lock(&hub->lock);
    n_games = hub->n_games;
    memcpy(hub->taken, hub->games, n_games * sizeof hub->games[0]);
    is_for_all = hub->is_overflown;
    hub->n_games = 0;
    hub->is_overflown = false;
    for (struct stream *s = hub->streams; s && !has_accounts; s = s->next)
        has_accounts = s->wish.game_id == 0;
    pthread_mutex_unlock(&hub->lock);
    if (n_games > 0) {
        qsort(hub->taken, n_games, sizeof hub->taken[0], compare_ids);
        if (has_accounts && !is_for_all)
            knows_users = find_users(hub, n_games);
    }
    pthread_mutex_lock(&hub->lock);
    for (struct stream *s = hub->streams; s; s = s->next) {
        bool is_concerned = is_for_all || hub->is_stopping;

        if (n_games > 0 && !is_concerned)
            is_concerned = s->wish.game_id ? has_id(hub->taken, n_games, s->wish.game_id)
                                           : !knows_users || has_id(hub->users, hub->n_users,
                                                                    s->wish.viewer.user_id);
        if (now_ms >= s->beat_at_ms) {
            s->is_beat_due = true;
            s->beat_at_ms = now_ms + hub->http->options.heartbeat_ms;
            is_concerned = true;
        }
        if (s->beat_at_ms - now_ms < next)
            next = s->beat_at_ms - now_ms;
        if (is_concerned && s->is_waiting)
            wake(s);
    }
    pthread_mutex_unlock(&hub->lock);
    return (int)next;
}

void hub_stop(struct hub *hub)
{
    pthread_mutex_lock(&hub->lock);
    hub->is_stopping = true;
    for (struct stream *s = hub->streams; s; s = s->next)
        if (s->is_waiting)
            wake(s);
    pthread_mutex_unlock(&hub->lock);
}

/* ------------------------------------------------------------------------------ one stream */

static void put_record(struct stream *s, int64_t id, const char *name, json_t *take_data)
{
    char *text = take_data ? json_dumps(take_data, JSON_COMPACT) : NULL;

    json_decref(take_data);
    if (!text) {
        s->out.st = ST_NOMEM;
        return;
    }
    if (s->wish.form == STREAM_SSE) {
        if (name)
            buf_printf(&s->out, "event: %s\n", name);
        buf_printf(&s->out, "id: %" PRId64 "\ndata: ", id);
        buf_puts(&s->out, text);
        buf_puts(&s->out, "\n\n");
    } else {
        buf_puts(&s->out, text);
        buf_putc(&s->out, '\n');
    }
    free(text);
}

static void put_greeting(struct stream *s)
{
    if (s->wish.form == STREAM_SSE)
        buf_puts(&s->out, "retry: 3000\n\n");
    if (s->wish.greets)
        put_record(s, s->wish.since, "ready",
                   json_pack("{s:s, s:I}", "kind", "ready", "id", (json_int_t)s->wish.since));
}

/* Whether the session or token that opened it is still good.  ST_UNAUTHENTICATED otherwise. */
static enum status check_caller(struct stream *s, struct store_conn *conn, struct err *err)
{
    struct people_who who;
    utc_ms now = http_now(s->hub->http);

    if (s->secret[0] == '\0')
        return ST_OK;
    return s->is_by_cookie ? people_by_session(conn, s->secret, now, &who, err)
                           : people_by_token(conn, s->secret, now, &who, err);
}

/* Whether whoever follows a game of its players only is still one of those who may see it.
 * ST_NOT_FOUND otherwise. */
static enum status check_game(struct stream *s, struct store_conn *conn, struct err *err)
{
    struct game_row *game;
    enum status st;

    if (!s->wish.is_private)
        return ST_OK;
    game = malloc(sizeof *game);
    if (!game)
        return err_reason(err, REASON_NO_MEMORY, "a game");
    st = games_get(conn, s->wish.game_id, game, err);
    if (st == ST_OK)
        st = arbiter_may_see(conn, game, viewer_actor(s->wish.viewer), err);
    free(game);
    return st;
}

/* Read what comes next into out.  ST_OK with nothing put: there is no more now.
 * ST_UNAUTHENTICATED, ST_NOT_FOUND: whoever opened it may not read on. */
static enum status read_more(struct stream *s, struct err *err)
{
    struct event_row *rows = calloc(EVENTS_A_TIME, sizeof *rows);
    struct store_conn *conn = NULL;
    int64_t through = s->wish.since;
    size_t n = 0;
    enum status st;

    if (!rows)
        return err_reason(err, REASON_NO_MEMORY, "events");
    st = pool_conn(s->hub->http, &conn, err);
    if (st == ST_OK)
        st = check_caller(s, conn, err);
    if (st == ST_OK)
        st = check_game(s, conn, err);
    if (st == ST_OK && s->wish.game_id)
        st = events_of_game(conn, s->wish.game_id, s->wish.since, rows, EVENTS_A_TIME, &n, err);
    else if (st == ST_OK)
        st = events_of_user(conn, s->wish.viewer.user_id, s->wish.since, rows, EVENTS_A_TIME, &n,
                            &through, err);
    pool_conn_done(s->hub->http);
    for (size_t i = 0; i < n && st == ST_OK; i++) {
        int64_t id = s->wish.game_id ? rows[i].seq : rows[i].id;

        put_record(s, id, NULL, render_event(&rows[i]));
        through = s->wish.game_id ? id : through;
    }
    free(rows);
    if (st == ST_OK)
        st = buf_status(&s->out, "events", err);
    if (st == ST_OK) {
        s->wish.since = through;
        atomic_fetch_add(&s->hub->http->metrics.stream_events, n);
    }
    return st;
}

static ssize_t stream_read(void *arg, uint64_t pos, char *ret, size_t max)
{
    struct stream *s = arg;
    struct hub *hub = s->hub;
    struct err err = ERR_INIT;

    (void)pos;
    for (;;) {
        uint64_t commits;
        bool is_beat_due, is_stopping;

        if (s->out_at < s->out.len) {
            size_t n = s->out.len - s->out_at;

            if (n > max)
                n = max;
            memcpy(ret, s->out.data + s->out_at, n);
            s->out_at += n;
            return (ssize_t)n;
        }
        buf_clear(&s->out);
        s->out_at = 0;
        pthread_mutex_lock(&hub->lock);
        commits = hub->commits;
        is_beat_due = s->is_beat_due;
        s->is_beat_due = false;
        is_stopping = hub->is_stopping;
        pthread_mutex_unlock(&hub->lock);
        if (is_stopping)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (!s->has_begun) {
            s->has_begun = true;
            put_greeting(s);
            if (s->out.len > 0)
                continue;
        }
        enum status st = read_more(s, &err);

        if (st == ST_UNAUTHENTICATED || st == ST_NOT_FOUND)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (st != ST_OK) {
            /* The client comes back with the last id it has seen. */
            log_event(LOG_LEVEL_WARNING, "http_stream status=%s text=\"%s\"", status_str(err.code),
                      err.text);
            return MHD_CONTENT_READER_END_WITH_ERROR;
        }
        if (s->out.len > 0)
            continue;
        if (!s->wish.is_following)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (is_beat_due) {
            buf_puts(&s->out, s->wish.form == STREAM_SSE ? ":\n\n" : "\n");
            continue;
        }
        pthread_mutex_lock(&hub->lock);
        if (hub->commits == commits && !hub->is_stopping && !s->is_beat_due) {
            s->is_waiting = true;
            MHD_suspend_connection(s->conn);
            pthread_mutex_unlock(&hub->lock);
            return 0;
        }
        pthread_mutex_unlock(&hub->lock);
    }
}

static void stream_free(void *arg)
{
    struct stream *s = arg;
    struct hub *hub = s->hub;

    pthread_mutex_lock(&hub->lock);
    if (s->prev)
        s->prev->next = s->next;
    else
        hub->streams = s->next;
    if (s->next)
        s->next->prev = s->prev;
    hub->n_streams--;
    pthread_mutex_unlock(&hub->lock);
    atomic_fetch_sub(&hub->http->metrics.streams, 1);
    buf_release(&s->out);
    free(s);
}

static void keep_secret(struct stream *s, const struct request *r)
{
    const char *authorization = request_header(r, "Authorization");

    if (!request_is_logged_in(r))
        return;
    s->is_by_cookie = r->by_cookie;
    if (r->by_cookie) {
        (void)request_cookie(r, r->http->cookie_name, s->secret, sizeof s->secret);
    } else if (authorization) { /* "Bearer fh_…" */
        const char *token = authorization + strlen("Bearer ");

        (void)str_copy(s->secret, sizeof s->secret, token + strspn(token, " "));
    }
}

/* Whether its client has gone.  That is seen at the next sign of life, and earlier here; then the
 * stream ends at once.  With the lock held. */
static bool has_gone(struct stream *s)
{
    char byte;
    ssize_t n = recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)))
        return false;
    (void)shutdown(s->fd, SHUT_RDWR);
    s->is_beat_due = true;
    if (s->is_waiting)
        wake(s);
    return true;
}

enum status stream_open(struct request *r, const struct stream_wish *wish, struct err *err)
{
    struct http *http = r->http;
    struct hub *hub = http->hub;
    struct stream *s = calloc(1, sizeof *s);
    int n_own = 0;
    bool is_full;

    if (!s)
        return err_reason(err, REASON_NO_MEMORY, "a stream");
    s->hub = hub;
    s->conn = r->conn;
    s->fd = r->link->fd;
    s->wish = *wish;
    keep_secret(s, r);
    s->out = buf_make(STREAM_OUT_MAX);
    s->owner = request_is_logged_in(r) ? (uint64_t)r->who.user_id
                                       : address_hash(&r->client, http->salt) | UINT64_C(1) << 63;
    s->beat_at_ms = http_now_ms(http) + http->options.heartbeat_ms;
    pthread_mutex_lock(&hub->lock);
    for (struct stream *other = hub->streams; other; other = other->next)
        n_own += other->owner == s->owner;
    if (n_own >= http->options.streams_per_account)
        for (struct stream *other = hub->streams; other; other = other->next)
            n_own -= other->owner == s->owner && has_gone(other);
    /* A quarter of the connections is kept for everything else. */
    is_full = n_own >= http->options.streams_per_account ||
              hub->n_streams >= (http->options.connections * 3 + 3) / 4;
    if (!is_full) {
        s->next = hub->streams;
        if (s->next)
            s->next->prev = s;
        hub->streams = s;
        hub->n_streams++;
    }
    pthread_mutex_unlock(&hub->lock);
    if (is_full) {
        buf_release(&s->out);
        free(s);
        if (n_own >= http->options.streams_per_account)
            return ERR_DETAIL(
                err, REASON_RATE_LIMIT, "refusal.streams_own",
                "{n} streams of yours are open already; one carries all games of the account",
                ERR_NUMBER("n", n_own));
        return err_detail(err, REASON_BUSY, "refusal.streams_many", "too many streams are open");
    }
    atomic_fetch_add(&http->metrics.streams, 1);
    r->answer.made =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, stream_read, s,
                                          stream_free);
    if (!r->answer.made) {
        stream_free(s);
        return err_reason(err, REASON_NO_MEMORY, "a stream");
    }
    r->is_stream = true;
    r->answer.status = 200;
    r->answer.type =
        wish->form == STREAM_SSE ? "text/event-stream" : "application/x-ndjson";
    r->answer.cache = "no-store";
    answer_header(r, "X-Accel-Buffering", "no");
    return ST_OK;
}

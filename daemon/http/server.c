/*
 * http/server.c - connections, requests and their way through the room; see server.h.
 *
 * What libmicrohttpd 0.9.75 lets through and this file (with request.c) does not: repeated headers,
 * two framings, %00 and %2f in paths, unknown methods, clients that trickle, too many connections.
 * What it misreads, and what it would answer by itself, is in wire.h.
 */
#include "http/server.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"
#include "http/pages.h"
#include "http/stream.h"
#include "http/wire.h"
#include "store/idempotency.h"
#include "store/store.h"

enum {
    DRAIN_MAX = 1024 * 1024, /* bytes of a refused body that are read away */
    MEMORY_PER_CONNECTION = 64 * 1024,
    CUT_LATE_MS = 2000       /* whoever is too slow is cut off at most so much later */
};

static atomic_uint_fast64_t generations;

int64_t http_now_ms(const struct http *http)
{
    return http->options.clock.read(http->options.clock.arg).monotonic_ms;
}

utc_ms http_now(const struct http *http)
{
    return http->options.clock.read(http->options.clock.arg).wall_at;
}

/* ------------------------------------------------------------------------------ readers */

/* Each pool thread keeps a reader of the server that it belongs to. */
static _Thread_local struct {
    uint64_t generation;
    struct store_reader *reader;
    bool is_reading;
} mine;

enum status pool_conn(struct http *http, struct store_conn **ret, struct err *err)
{
    enum status st;

    if (mine.generation != http->generation) {
        struct store_reader *reader = NULL;

        pthread_mutex_lock(&http->lock);
        if (http->n_readers == COUNT_OF(http->readers))
            st = err_detail(err, REASON_BUSY, "refusal.readers", "no more readers");
        else
            st = store_reader_open(http->options.store, &reader, err);
        if (st == ST_OK)
            http->readers[http->n_readers++] = reader;
        pthread_mutex_unlock(&http->lock);
        if (st != ST_OK)
            return st;
        mine.generation = http->generation;
        mine.reader = reader;
        mine.is_reading = false;
    }
    if (!mine.is_reading) {
        st = store_read_begin(mine.reader, err);
        if (st != ST_OK)
            return st;
        mine.is_reading = true;
    }
    *ret = store_reader_conn(mine.reader);
    return ST_OK;
}

void pool_conn_done(struct http *http)
{
    if (mine.generation == http->generation && mine.is_reading) {
        store_read_end(mine.reader);
        mine.is_reading = false;
    }
}

enum status request_conn(struct request *r, struct store_conn **ret, struct err *err)
{
    return pool_conn(r->http, ret, err);
}

/* ------------------------------------------------------------------------------ connections */

static int count_same_peers(const struct http *http, const struct address *peer)
{
    int n = 0;

    for (const struct link *l = http->links; l; l = l->next)
        n += address_is_same(&l->peer, peer);
    return n;
}

/* How long the next request line may take, from the end of the last request.  Longer than silence
 * lasts: who is cut off then has sent something. */
static int64_t patience_ms(const struct http *http)
{
    return http->quiet_ms + http->options.request_ms + CUT_LATE_MS;
}

static void on_connection(void *arg, struct MHD_Connection *conn, void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *http = arg;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *fd =
            MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
        const union MHD_ConnectionInfo *sa =
            MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        struct link *link = calloc(1, sizeof *link);

        atomic_fetch_add(&http->metrics.connections_accepted, 1);
        if (!link)
            return; /* its requests get 503 */
        link->fd = fd ? fd->connect_fd : -1;
        link->peer = address_of(sa ? sa->client_addr : NULL);
        link->is_trusted = networks_have(http->trusted, http->n_trusted, &link->peer);
        link->cut_at_ms = http_now_ms(http) + patience_ms(http);
        link->is_awaited = true;
        link->thread = pthread_self();
        pthread_mutex_lock(&http->lock);
        link->is_over_limit =
            http->n_links >= http->options.connections ||
            (http->options.connections_per_address > 0 && !link->is_trusted &&
             count_same_peers(http, &link->peer) >= http->options.connections_per_address);
        link->next = http->links;
        if (link->next)
            link->next->prev = link;
        http->links = link;
        http->n_links++;
        pthread_mutex_unlock(&http->lock);
        atomic_fetch_add(&http->metrics.connections, 1);
        *context = link;
    } else {
        struct link *link = *context;

        if (!link)
            return;
        pthread_mutex_lock(&http->lock);
        if (link->prev)
            link->prev->next = link->next;
        else
            http->links = link->next;
        if (link->next)
            link->next->prev = link->prev;
        http->n_links--;
        pthread_mutex_unlock(&http->lock);
        atomic_fetch_sub(&http->metrics.connections, 1);
        free(link);
        *context = NULL;
    }
}

/* at_ms 0: never.  is_awaited: a request is, and may then be told that it was too slow; target is
 * its own as soon as there is one, and good until the next call. */
static void link_set_cut(struct http *http, struct link *link, int64_t at_ms, bool is_awaited,
                         const char *target)
{
    if (!link)
        return;
    pthread_mutex_lock(&http->lock);
    link->cut_at_ms = at_ms;
    link->is_awaited = is_awaited;
    link->target = target;
    pthread_mutex_unlock(&http->lock);
}

/* With the lock held, so that no pool thread begins an answer meanwhile.  A connection without a
 * byte of a request does not come here: MHD ends those after idle_ms of silence. */
static void tell_too_slow(struct http *http, struct link *link)
{
    struct buf out = buf_make(4096);
    struct err why = ERR_INIT;

    (void)ERR_DETAIL(&why, REASON_TOO_SLOW, "refusal.too_slow",
                     "a request must come within {most} ms",
                     ERR_NUMBER("most", http->options.request_ms));
    wire_print_problem(&out, &why, 408, lang_of(http->options.language), link->target,
                       http_now(http));
    if (!buf_failed(&out)) {
        (void)send(link->fd, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        metrics_answer(&http->metrics, -1, 408, http->options.request_ms);
    }
    buf_release(&out);
}

/* Shut what is overdue; MHD then sees the end and cleans up.  Returns in how long to look again. */
static int cut_slow_links(struct http *http, int64_t now_ms)
{
    int64_t next = 1000;

    pthread_mutex_lock(&http->lock);
    for (struct link *l = http->links; l; l = l->next) {
        if (l->cut_at_ms == 0)
            continue;
        if (l->cut_at_ms <= now_ms) {
            if (l->is_awaited)
                tell_too_slow(http, l);
            (void)shutdown(l->fd, SHUT_RDWR);
            l->cut_at_ms = 0;
            atomic_fetch_add(&http->metrics.connections_cut, 1);
        } else if (l->cut_at_ms - now_ms < next) {
            next = l->cut_at_ms - now_ms;
        }
    }
    pthread_mutex_unlock(&http->lock);
    return (int)next;
}

static void *ticker(void *arg)
{
    struct http *http = arg;
    int wait_ms = 0;

    thread_name("http-ticker");
    for (;;) {
        struct pollfd pfd = {.fd = http->wake_pipe[0], .events = POLLIN};
        char bytes[64];
        int64_t now_ms;
        int next;

        (void)poll(&pfd, 1, wait_ms);
        while (read(http->wake_pipe[0], bytes, sizeof bytes) > 0)
            ;
        if (atomic_load(&http->is_stopping) && !http->has_ticker)
            return NULL;
        now_ms = http_now_ms(http);
        wait_ms = hub_tick(http->hub, now_ms);
        next = cut_slow_links(http, now_ms);
        if (next < wait_ms)
            wait_ms = next;
        if (wait_ms < 5)
            wait_ms = 5;
    }
}

static void wake_ticker(struct http *http)
{
    ssize_t n = write(http->wake_pipe[1], "", 1);

    (void)n; /* a full pipe wakes it too */
}

void http_on_commit(void *arg, const struct writer_commit *commit)
{
    struct http *http = arg;

    if (!http || (commit->n == 0 && !commit->overflow))
        return;
    /* Before the hook was set something may have gone by. */
    if (commit->overflow || !atomic_exchange(&http->is_hooked, true))
        cache_all_changed(http->cache);
    for (size_t i = 0; i < commit->n && !commit->overflow; i++)
        cache_game_changed(http->cache, commit->changes[i].game_id);
    hub_commit(http->hub, commit);
    wake_ticker(http);
}

/* ------------------------------------------------------------------------------ requests */

static void *on_target(void *arg, const char *uri, struct MHD_Connection *conn)
{
    struct http *http = arg;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct request *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->http = http;
    r->conn = conn;
    r->link = info ? info->socket_context : NULL;
    r->target = str_dup(uri ? uri : "");
    r->uri = uri;
    r->uri_len = strlen(r->target ? r->target : "");
    r->body = buf_make(http->options.body_size);
    r->body_length = -1;
    r->answer.body = buf_make(HTTP_FILES_BYTES);
    r->began_ms = http_now_ms(http);
    link_set_cut(http, r->link, r->began_ms + http->options.request_ms, true,
                 problem_target(r));
    if (r->link)
        r->link->reading = r;
    return r;
}

static void request_free(struct request *r)
{
    if (!r)
        return;
    if (r->data_free)
        r->data_free(r->data);
    json_decref(r->problem_game);
    form_release(&r->form);
    buf_release(&r->body);
    buf_release(&r->answer.body);
    for (size_t i = 0; i < r->answer.n_headers; i++)
        free(r->answer.headers[i].value);
    if (r->answer.made)
        MHD_destroy_response(r->answer.made);
    free(r->decoded);
    free(r->target);
    free(r);
}

static void on_completed(void *arg, struct MHD_Connection *conn, void **context,
                         enum MHD_RequestTerminationCode code)
{
    struct http *http = arg;
    struct request *r = *context;

    (void)conn;
    (void)code;
    if (!r)
        return;
    if (r->link)
        r->link->reading = NULL;
    link_set_cut(http, r->link, http_now_ms(http) + patience_ms(http), true, NULL);
    request_free(r);
    *context = NULL;
}

static enum method method_of(const char *text)
{
    for (int m = METHOD_GET; m < METHOD_OTHER; m++)
        if (strcmp(text, method_str((enum method)m)) == 0)
            return (enum method)m;
    return METHOD_OTHER;
}

/* ------------------------------------------------------------------------------ answering */

#define PAGE_CSP                                                                                   \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "              \
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; form-action 'self'; "               \
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
#define PICTURE_CSP "default-src 'none'; style-src 'unsafe-inline'; sandbox"

static void add_rate_headers(struct request *r, struct MHD_Response *response)
{
    const struct rate_policy *policy;
    char text[96];

    if (!r->is_rated)
        return;
    policy = rate_policy(r->http->rate, r->route->rate);
    snprintf(text, sizeof text, "\"%s\";q=%" PRId64 ";w=%" PRId64, policy->name, policy->quota,
             policy->window_ms / MS_SECOND);
    MHD_add_response_header(response, "RateLimit-Policy", text);
    snprintf(text, sizeof text, "\"%s\";r=%" PRId64 ";t=%" PRId64, policy->name,
             r->rate.remaining, r->rate.wait_s);
    MHD_add_response_header(response, "RateLimit", text);
}

/* Whether the answer is for programs, of any site: so is that there is nothing at such a path. */
static bool is_of_api(const struct request *r)
{
    return r->route ? (r->route->flags & ROUTE_API) != 0
                    : r->n_segments > 0 && strcmp(r->segments[0], "api") == 0;
}

/* Queue the answer that has been made. */
static enum MHD_Result finish(struct request *r)
{
    struct http *http = r->http;
    struct answer *answer = &r->answer;
    struct MHD_Response *response = answer->made;
    bool is_api = is_of_api(r);
    enum MHD_Result result;
    int64_t now_ms;

    r->phase = PHASE_DONE;
    if (!response) {
        size_t len = answer->body.len;
        char *bytes = len > 0 && answer->type ? buf_take(&answer->body, &len) : NULL;

        response = bytes ? MHD_create_response_from_buffer(len, bytes, MHD_RESPMEM_MUST_FREE)
                         : MHD_create_response_from_buffer(0, "", MHD_RESPMEM_PERSISTENT);
        if (!response) {
            free(bytes);
            return MHD_NO;
        }
        answer->made = response;
    }
    for (size_t i = 0; i < answer->n_headers; i++)
        MHD_add_response_header(response, answer->headers[i].name, answer->headers[i].value);
    if (answer->type)
        MHD_add_response_header(response, "Content-Type", answer->type);
    MHD_add_response_header(response, "Cache-Control",
                            answer->cache ? answer->cache : "private, no-cache");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Content-Security-Policy",
                            answer->is_document  ? PAGE_CSP
                            : answer->is_picture ? PICTURE_CSP
                                                 : HTTP_DATA_CSP);
    if (answer->is_document) {
        MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
        MHD_add_response_header(response, "Permissions-Policy",
                                "camera=(), geolocation=(), microphone=(), payment=()");
    }
    /* Data sends nobody anywhere. */
    if (answer->is_document || (r->route && r->route->flags & ROUTE_SECRET))
        MHD_add_response_header(response, "Referrer-Policy",
                                r->route && r->route->flags & ROUTE_SECRET ? "no-referrer"
                                                                           : "same-origin");
    if (is_api) {
        MHD_add_response_header(response, "Vary",
                                "Accept, Accept-Language, Authorization, Cookie, Origin");
        if (!r->by_cookie && request_header(r, "Origin")) {
            MHD_add_response_header(response, "Access-Control-Allow-Origin", "*");
            MHD_add_response_header(
                response, "Access-Control-Expose-Headers",
                "ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After");
        }
    } else {
        MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    }
    add_rate_headers(r, response);
    if (r->must_close || atomic_load(&http->is_stopping))
        MHD_add_response_header(response, "Connection", "close");
    now_ms = http_now_ms(http);
    if (r->link)
        r->link->reading = NULL;
    link_set_cut(http, r->link, r->is_stream ? 0 : now_ms + http->options.answer_ms, false,
                 NULL);
    if (r->route && !route_may_answer(r->route, answer->status) && r->method != METHOD_OPTIONS) {
        atomic_fetch_add(&http->metrics.undeclared, 1);
        log_event(LOG_LEVEL_WARNING, "http_undeclared route=\"%s %s\" status=%d",
                  method_str(r->route->method), r->route->path, answer->status);
    }
    if (!r->is_stream)
        metrics_answer(&http->metrics, r->route ? (int)(r->route - routes) : -1, answer->status,
                       now_ms - r->began_ms);
    log_event(LOG_LEVEL_DEBUG, "http method=%s route=\"%s\" status=%d ms=%" PRId64,
              method_str(r->method), r->route ? r->route->path : "-", answer->status,
              now_ms - r->began_ms);
    result = MHD_queue_response(r->conn, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    answer->made = NULL;
    return result;
}

static bool is_for_people(const struct request *r)
{
    static const char *const offered[] = {"application/problem+json", "application/json",
                                          "text/html", NULL};
    const char *best;

    if (r->route)
        return r->route->flags & ROUTE_PAGE;
    best = request_accepts(r, offered);
    return best && strcmp(best, "text/html") == 0 &&
           !(r->n_segments > 0 && strcmp(r->segments[0], "api") == 0);
}

static enum MHD_Result finish_failure(struct request *r, const struct err *err)
{
    pool_conn_done(r->http);
    if (r->answer.made) {
        MHD_destroy_response(r->answer.made);
        r->answer.made = NULL;
    }
    if (is_for_people(r))
        page_failure(r, err);
    else
        answer_problem(r, err);
    return finish(r);
}

/* ------------------------------------------------------------------------------ who asks */

struct touch {
    struct people_who who;
};

static enum status touch_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    return people_touch(txn, &((struct touch *)arg)->who, now, err);
}

static void touch_done(void *arg, enum status st, const struct err *err)
{
    (void)st;
    (void)err;
    free(arg);
}

/* That a session or token is in use is noted now and then; nobody waits for it. */
static void touch(struct http *http, const struct people_who *who)
{
    struct touch *t = malloc(sizeof *t);
    struct err err = ERR_INIT;

    if (!t)
        return;
    t->who = *who;
    if (writer_submit(http->options.writer,
                      &(struct writer_command){
                          .name = "touch", .run = touch_run, .done = touch_done, .arg = t},
                      &err) != ST_OK)
        free(t);
}

static enum status find_identity(struct request *r, struct err *err)
{
    const char *authorization = request_header(r, "Authorization");
    char secret[SECRET_SIZE + 8];
    struct store_conn *conn = NULL;
    utc_ms now = http_now(r->http);
    enum status st = ST_OK;

    if (r->route->access == ACCESS_NOBODY)
        return ST_OK;
    if (authorization) {
        const char *token = authorization + 7;

        if (strncasecmp(authorization, "Bearer ", 7) != 0)
            return err_detail(err, REASON_BAD_CREDENTIALS, "refusal.bearer",
                              "`Authorization` must be `Bearer` and an API token");
        while (*token == ' ')
            token++;
        st = request_conn(r, &conn, err);
        if (st == ST_OK)
            st = people_by_token(conn, token, now, &r->who, err);
        if (st == ST_UNAUTHENTICATED)
            st = err_detail(err, REASON_BAD_CREDENTIALS, "refusal.token_dead",
                            "this token is not valid, or not any more");
    } else if (request_cookie(r, r->http->cookie_name, secret, sizeof secret)) {
        struct err ignored = ERR_INIT;

        st = request_conn(r, &conn, err);
        if (st != ST_OK)
            return st;
        st = people_by_session(conn, secret, now, &r->who, &ignored);
        if (st == ST_UNAUTHENTICATED) {
            r->had_bad_cookie = true;
            st = ST_OK;
        } else if (st != ST_OK) {
            *err = ignored;
        } else {
            r->by_cookie = true;
        }
    }
    if (st != ST_OK) {
        r->who = (struct people_who){.user_id = 0};
        return st;
    }
    if (r->who.user_id && r->who.needs_touch)
        touch(r->http, &r->who);
    return ST_OK;
}

static enum status refuse_scope(unsigned scope, struct err *err)
{
    return ERR_DETAIL(err, REASON_SCOPE_NEEDED, "refusal.scope_lacking",
                      "this token lacks the scope `{scope}`", ERR_TEXT("scope", scope_str(scope)));
}

static enum status check_access(struct request *r, struct err *err)
{
    unsigned scope = 0;

    switch (r->route->access) {
    case ACCESS_NOBODY:
        return ST_OK;
    case ACCESS_ANYBODY:
        if (!request_is_logged_in(r))
            return ST_OK;
        if (r->route->method != METHOD_GET) {
            scope = SCOPE_PLAY;
            break;
        }
        /* What everybody may read needs no scope; of its owner's it shows nothing. */
        if (!(r->who.scopes & SCOPE_READ)) {
            r->who = (struct people_who){.user_id = 0};
            r->lacks_read = true;
        }
        return ST_OK;
    case ACCESS_READ:
        scope = SCOPE_READ;
        break;
    case ACCESS_PLAY:
        scope = SCOPE_PLAY;
        break;
    case ACCESS_MANAGE:
        scope = SCOPE_MANAGE;
        break;
    case ACCESS_SESSION:
        if (!r->by_cookie)
            return err_detail(err, REASON_LOGIN_NEEDED, "refusal.session_needed",
                              "this is for a session: log in on the site");
        return ST_OK;
    }
    if (!request_is_logged_in(r))
        return r->had_bad_cookie ? err_detail(err, REASON_LOGIN_NEEDED, "refusal.session_dead",
                                              "this session is over: log in again")
                                 : err_detail(err, REASON_LOGIN_NEEDED, "refusal.login",
                                              "log in, or send an API token");
    return r->who.scopes & scope ? ST_OK : refuse_scope(scope, err);
}

static enum status check_rate(struct request *r, struct err *err)
{
    uint64_t who;

    if (r->route->rate == RATE_NONE)
        return ST_OK;
    if (r->route->rate == RATE_REQUESTS && request_is_logged_in(r))
        who = (uint64_t)r->who.user_id;
    else
        who = address_hash(&r->client, r->http->salt) | UINT64_C(1) << 63;
    r->rate = rate_take(r->http->rate, r->route->rate, who, http_now_ms(r->http));
    r->is_rated = true;
    if (!r->rate.is_allowed) {
        atomic_fetch_add(&r->http->metrics.rate_limited, 1);
        return ERR_DETAIL(err, REASON_RATE_LIMIT, "refusal.wait",
                          "the next is allowed in {n} seconds", ERR_NUMBER("n", r->rate.wait_s));
    }
    return ST_OK;
}

/* Whether an Origin is the server's: as public_url names it, or, by the same scheme, as the client
 * names it in Host. */
static bool is_own_origin(const struct request *r, const char *origin)
{
    const char *scheme = r->http->is_https ? "https://" : "http://";
    const char *host = request_header(r, "Host");

    return strcasecmp(origin, r->http->origin) == 0 ||
           (host && strncasecmp(origin, scheme, strlen(scheme)) == 0 &&
            strcasecmp(origin + strlen(scheme), host) == 0);
}

/*
 * The rule of Go's CrossOriginProtection: what a browser sends from another site is refused.  Where
 * a cookie would lend its authority, saying nothing is not enough.
 */
static enum status check_origin(struct request *r, struct err *err)
{
    const char *site = request_header(r, "Sec-Fetch-Site");
    const char *origin = request_header(r, "Origin");

    if (r->method == METHOD_GET || r->method == METHOD_HEAD ||
        r->route->flags & ROUTE_CROSS_SITE)
        return ST_OK;
    if (request_is_logged_in(r) && !r->by_cookie)
        return ST_OK;
    if (site) {
        if (strcasecmp(site, "same-origin") == 0 || strcasecmp(site, "none") == 0)
            return ST_OK;
    } else if (origin) {
        if (is_own_origin(r, origin))
            return ST_OK;
    } else if (!r->by_cookie) {
        return ST_OK;
    } else {
        return err_detail(err, REASON_CROSS_SITE, "refusal.origin_needed",
                          "a change with a cookie needs the header `Sec-Fetch-Site` or `Origin`");
    }
    return err_reason(err, REASON_CROSS_SITE, "the request came from another site");
}

/* ------------------------------------------------------------------------------ the body */

static bool is_json_type(const char *type)
{
    size_t n = strcspn(type, "; \t");

    return n == strlen("application/json") && strncasecmp(type, "application/json", n) == 0;
}

static const struct json_fault {
    enum json_error_code of;
    const char *code, *english;
} json_faults[] = {
    {json_error_premature_end_of_input, "refusal.json_end",
     "line {line}, column {column}: the text ends too early"},
    {json_error_end_of_input_expected, "refusal.json_after",
     "line {line}, column {column}: there is more after the end"},
    {json_error_invalid_utf8, "refusal.json_utf8",
     "line {line}, column {column}: this is not UTF-8"},
    {json_error_duplicate_key, "refusal.json_twice",
     "line {line}, column {column}: a field is there twice"},
    {json_error_numeric_overflow, "refusal.json_number",
     "line {line}, column {column}: the number is too large"},
    {json_error_null_character, "refusal.json_nul",
     "line {line}, column {column}: a text holds a NUL"},
    {json_error_null_byte_in_key, "refusal.json_nul",
     "line {line}, column {column}: a text holds a NUL"},
    {json_error_stack_overflow, "refusal.json_deep",
     "line {line}, column {column}: this is nested too deep"},
    /* any other */
    {json_error_unknown, "refusal.json_syntax",
     "line {line}, column {column}: this is not how JSON is written"},
};

/* What is wrong with a text that is no JSON, by jansson's code; its words are English. */
static enum status refuse_json(const json_error_t *fault, struct err *err)
{
    enum json_error_code of = json_error_code(fault);
    const struct json_fault *row = json_faults;

    if (of == json_error_out_of_memory)
        return err_reason(err, REASON_NO_MEMORY, "the body did not fit into memory");
    while (row->of != of && row->of != json_error_unknown)
        row++;
    return ERR_DETAIL(err, REASON_BAD_JSON, row->code, row->english,
                      ERR_NUMBER("line", fault->line), ERR_NUMBER("column", fault->column));
}

static enum status read_body(struct request *r, struct err *err)
{
    const char *type = request_header(r, "Content-Type");
    json_error_t fault;
    unsigned flags = r->route->flags;

    if (flags & ROUTE_FORM)
        return ST_OK;
    if (r->body.len == 0) {
        if (flags & ROUTE_BODY)
            return err_detail(err, REASON_BAD_JSON, "refusal.body_object",
                              "the body must be a JSON object");
        return ST_OK;
    }
    if (!(flags & (ROUTE_BODY | ROUTE_BODY_OPTIONAL))) {
        if (r->body.data[strspn(r->body.data, " \t\r\n{}")] != '\0' ||
            strlen(r->body.data) != r->body.len)
            return err_detail(err, REASON_BAD_REQUEST, "refusal.no_body", "this takes no body");
        return ST_OK;
    }
    if (!type || !is_json_type(type))
        return err_detail(err, REASON_MEDIA_TYPE, "refusal.body_json",
                          "the body must be `application/json`");
    r->form.object =
        json_loadb(r->body.data, r->body.len, JSON_REJECT_DUPLICATES, &fault);
    if (!r->form.object)
        return refuse_json(&fault, err);
    if (!json_is_object(r->form.object)) {
        json_decref(r->form.object);
        r->form.object = NULL;
        return err_detail(err, REASON_BAD_JSON, "refusal.body_object",
                          "the body must be a JSON object");
    }
    return ST_OK;
}

/* "key" or key: 1 to 128 printable characters. */
static enum status read_key(struct request *r, struct err *err)
{
    const char *text = request_header(r, "Idempotency-Key");
    const struct digest *digest = &r->http->options.digest;
    struct buf all;
    enum status st;
    size_t n;

    if (!text || !(r->route->flags & ROUTE_REPEATABLE) || !request_is_logged_in(r))
        return ST_OK;
    n = strlen(text);
    if (n >= 2 && text[0] == '"' && text[n - 1] == '"') {
        text++;
        n -= 2;
    }
    for (size_t i = 0; i < n; i++)
        if (text[i] <= 0x20 || text[i] >= 0x7f)
            n = 0;
    if (n == 0 || n >= IDEMPOTENCY_KEY_SIZE)
        return ERR_DETAIL(err, REASON_BAD_REQUEST, "refusal.key_shape",
                          "`Idempotency-Key` has 1 to {most} printable characters without blanks",
                          ERR_NUMBER("most", IDEMPOTENCY_KEY_SIZE - 1));
    memcpy(r->key_text, text, n);
    r->key_text[n] = '\0';
    r->key = r->key_text;
    all = buf_make(r->http->options.body_size + HTTP_TARGET_MAX + 64);
    buf_printf(&all, "%s\n%s\n", method_str(r->method), r->target);
    buf_add(&all, r->body.data, r->body.len);
    st = buf_status(&all, "Idempotency-Key", err);
    if (st == ST_OK)
        digest->sha256(digest->arg, all.data, all.len, r->key_hash);
    buf_release(&all);
    return st;
}

/* ------------------------------------------------------------------------------ changes */

void request_wait(struct request *r)
{
    struct http *http = r->http;

    pool_conn_done(r->http);
    pthread_mutex_lock(&http->lock);
    http->waiting++;
    pthread_mutex_unlock(&http->lock);
    atomic_fetch_add(&http->metrics.waiting, 1);
    r->is_done = false;
    r->phase = PHASE_WAITING;
    MHD_suspend_connection(r->conn);
}

void request_done(struct request *r, enum status st, const struct err *err)
{
    struct http *http = r->http;

    r->outcome = st;
    if (st != ST_OK)
        r->outcome_err = *err;
    r->is_done = true;
    atomic_fetch_sub(&http->metrics.waiting, 1);
    MHD_resume_connection(r->conn);
    /* r is the pool thread's from here on. */
    pthread_mutex_lock(&http->lock);
    if (--http->waiting == 0)
        pthread_cond_broadcast(&http->idle);
    pthread_mutex_unlock(&http->lock);
}

/* The answer as it was given the first time. */
static void repeat_answer(struct request *r, const struct idempotency_row *row)
{
    static const char *const types[] = {"application/json", "application/problem+json"};
    const char *line = row->headers;

    buf_clear(&r->answer.body);
    buf_add(&r->answer.body, row->body, row->body_len);
    r->answer.status = row->status;
    r->answer.type = NULL;
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (strcmp(row->content_type, types[i]) == 0)
            r->answer.type = types[i];
    while (*line) {
        static const char *const known[] = {"ETag", "Location"};
        size_t len = strcspn(line, "\n");

        for (size_t i = 0; i < COUNT_OF(known); i++) {
            size_t n = strlen(known[i]);

            if (strncmp(line, known[i], n) == 0 && strncmp(line + n, ": ", 2) == 0) {
                char *value = str_ndup(line + n + 2, len - n - 2);

                if (value)
                    answer_header(r, known[i], value);
                free(value);
            }
        }
        line += len + (line[len] == '\n');
    }
}

static enum status keep_answer(struct request *r, struct store_txn *txn, utc_ms now,
                               struct err *err)
{
    struct idempotency_row *row = calloc(1, sizeof *row);
    size_t used = 0;
    enum status st;

    if (!row)
        return err_reason(err, REASON_NO_MEMORY, "the answer could not be kept");
    memcpy(row->request_hash, r->key_hash, sizeof row->request_hash);
    row->status = r->answer.status;
    for (size_t i = 0; i < r->answer.n_headers; i++) {
        const struct header *h = &r->answer.headers[i];

        if (strcmp(h->name, "ETag") != 0 && strcmp(h->name, "Location") != 0)
            continue;
        if (used < sizeof row->headers)
            used += (size_t)snprintf(row->headers + used, sizeof row->headers - used, "%s: %s\n",
                                     h->name, h->value);
    }
    str_copy(row->content_type, sizeof row->content_type, r->answer.type ? r->answer.type : "");
    row->body = r->answer.body.data;
    row->body_len = r->answer.body.len;
    row->created_at = now;
    st = idempotency_put(txn, r->who.user_id, r->key, row, err);
    free(row);
    return st;
}

/*
 * The command of a change.  With a key, what was refused is remembered as well as what was done, so
 * the act runs in a part of the transaction of its own.
 */
static enum status change_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct request *r = arg;
    struct idempotency_row row = {.status = 0};
    struct err refusal = ERR_INIT;
    enum status st, part;

    if (!r->key) {
        st = r->route->act(r, txn, now, err);
        return st;
    }
    st = idempotency_get(store_txn_conn(txn), r->who.user_id, r->key, &row, err);
    if (st == ST_OK && row.created_at <= now - IDEMPOTENCY_LIFE_MS) {
        int64_t n;

        /* It is over to the millisecond, also between two rounds of the ticker's. */
        idempotency_release(&row);
        st = idempotency_purge(txn, now - IDEMPOTENCY_LIFE_MS + 1, INT_MAX, &n, err);
        if (st != ST_OK)
            return st;
        st = ST_NOT_FOUND;
    }
    if (st == ST_OK) {
        if (memcmp(row.request_hash, r->key_hash, sizeof row.request_hash) == 0)
            repeat_answer(r, &row);
        else
            st = err_detail(err, REASON_KEY_REUSED, "refusal.key_reused",
                            "this `Idempotency-Key` came with another request before");
        idempotency_release(&row);
        return st;
    }
    if (st != ST_NOT_FOUND)
        return st;
    *err = ERR_INIT;
    st = store_part_begin(txn, err);
    if (st != ST_OK)
        return st;
    st = r->route->act(r, txn, now, &refusal);
    part = st == ST_OK ? store_part_keep(txn, err) : store_part_undo(txn, err);
    if (part != ST_OK)
        return part;
    if (st != ST_OK) {
        int http = status_http(st);

        if (http >= 500 || http == 429) {
            *err = refusal;
            return st;
        }
        answer_problem(r, &refusal);
    }
    return keep_answer(r, txn, now, err);
}

static void change_done(void *arg, enum status st, const struct err *err)
{
    struct request *r = arg;

    if (st == ST_OK && r->route->flags & ROUTE_PEOPLE)
        cache_all_changed(r->http->cache);
    request_done(r, st, err);
}

enum status request_submit(struct request *r, struct err *err)
{
    enum status st;

    request_wait(r);
    st = writer_submit(r->http->options.writer,
                       &(struct writer_command){.name = r->route->path,
                                                .run = change_run,
                                                .done = change_done,
                                                .arg = r},
                       err);
    /* Suspended already: the refusal takes the same way back. */
    if (st != ST_OK)
        request_done(r, st, err);
    return ST_OK;
}

/* ------------------------------------------------------------------------------ files */

/* The browser client is one page with addresses of its own. */
static bool is_client_path(const struct request *r)
{
    static const char *const single[] = {"", "open", "new", "settings", "sign-in", "games"};

    if (r->n_segments == 1)
        for (size_t i = 0; i < COUNT_OF(single); i++)
            if (strcmp(r->segments[0], single[i]) == 0)
                return true;
    return r->n_segments == 2 && r->segments[1][0] != '\0' &&
           (strcmp(r->segments[0], "games") == 0 || strcmp(r->segments[0], "users") == 0);
}

static const struct file *find_file(const struct request *r, bool *ret_is_versioned)
{
    char path[HTTP_TARGET_MAX + 1];
    size_t used = 0;

    if (is_client_path(r))
        return files_find(r->http->files, "/index.html", ret_is_versioned);
    for (size_t i = 0; i < r->n_segments; i++) {
        if (used + strlen(r->segments[i]) + 2 > sizeof path)
            return NULL;
        used += (size_t)snprintf(path + used, sizeof path - used, "/%s", r->segments[i]);
    }
    return files_find(r->http->files, path, ret_is_versioned);
}

static enum status answer_file(struct request *r, const struct file *file, bool is_versioned,
                               struct err *err)
{
    answer_header(r, "ETag", file->etag);
    r->answer.cache = is_versioned ? "public, max-age=31536000, immutable" : "no-cache";
    r->answer.is_document = file->is_document;
    if (request_has_etag(r, file->etag)) {
        answer_empty(r, 304);
        return ST_OK;
    }
    r->answer.made =
        MHD_create_response_from_buffer(file->len, file->bytes, MHD_RESPMEM_PERSISTENT);
    if (!r->answer.made)
        return err_reason(err, REASON_NO_MEMORY, "%s", file->name);
    r->answer.status = 200;
    r->answer.type = file->type;
    return ST_OK;
}

/* ------------------------------------------------------------------------------ the way through */

static void answer_options(struct request *r, const char *allow)
{
    bool is_api = r->n_segments > 0 && strcmp(r->segments[0], "api") == 0;

    answer_empty(r, 204);
    answer_header(r, "Allow", allow);
    r->answer.cache = "no-store";
    if (is_api) {
        answer_header(r, "Access-Control-Allow-Origin", "*");
        answer_header(r, "Access-Control-Allow-Methods", allow);
        answer_header(r, "Access-Control-Allow-Headers",
                      "Authorization, Content-Type, If-None-Match, Idempotency-Key, "
                      "Last-Event-ID");
        answer_header(r, "Access-Control-Max-Age", "86400");
    }
}

struct forwarded {
    char text[2048];
    size_t len;
};

/* A proxy may add to the line that is there or put one of its own after it. */
static enum MHD_Result gather_forwarded(void *arg, enum MHD_ValueKind kind, const char *name,
                                        const char *value)
{
    struct forwarded *all = arg;
    size_t n = value ? strlen(value) : 0;

    (void)kind;
    if (strcasecmp(name, "X-Forwarded-For") != 0)
        return MHD_YES;
    if (all->len + n + 2 > sizeof all->text) {
        /* The end is what our own proxies wrote. */
        all->len = 0;
        if (n + 2 > sizeof all->text) {
            value += n - (sizeof all->text - 2);
            n = sizeof all->text - 2;
        }
    }
    if (all->len > 0)
        all->text[all->len++] = ',';
    memcpy(all->text + all->len, value ? value : "", n);
    all->len += n;
    all->text[all->len] = '\0';
    return MHD_YES;
}

static struct address find_client(const struct request *r)
{
    struct forwarded all = {.len = 0};

    if (!r->link->is_trusted)
        return r->link->peer;
    MHD_get_connection_values(r->conn, MHD_HEADER_KIND, gather_forwarded, &all);
    return address_of_client(&r->link->peer, all.text, r->http->trusted, r->http->n_trusted);
}

/* Before the body: framing, target, route.  ret_is_over: the answer is made already. */
static enum status admit(struct request *r, const char *method, const char *version,
                         bool *ret_has_body, bool *ret_is_over, struct err *err)
{
    char allow[96];
    bool is_versioned;
    const struct file *file;
    const char *encoding;
    enum status st;

    *ret_has_body = true; /* until it is known that there is none */
    *ret_is_over = false;
    if (!r->target || !r->link)
        return err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
    r->client = find_client(r);
    r->form.lang = page_language(r);
    st = request_check_headers(r, ret_has_body, err);
    if (st == ST_OK && !wire_head_is_whole(r, method, version))
        st = err_detail(err, REASON_BAD_REQUEST, "refusal.head_bad",
                        "the head holds a NUL, a folded line or a line that does not end in CRLF");
    if (st != ST_OK) {
        r->must_close = true;
        return st;
    }
    encoding = request_header(r, "Transfer-Encoding");
    if (encoding && strcmp(version, "HTTP/1.1") != 0) {
        r->must_close = true;
        return err_detail(err, REASON_BAD_REQUEST, "refusal.http_1_0",
                          "HTTP/1.0 knows no `Transfer-Encoding`");
    }
    if (r->link->is_over_limit) {
        atomic_fetch_add(&r->http->metrics.connections_refused, 1);
        r->must_close = true;
        return err_detail(err, REASON_BUSY, "refusal.connections_many", "too many connections");
    }
    if (r->method == METHOD_OPTIONS && strcmp(r->target, "*") == 0) {
        answer_empty(r, 204);
        answer_header(r, "Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        *ret_is_over = true;
        return ST_OK;
    }
    st = request_parse_target(r, err);
    if (st != ST_OK)
        return st;
    st = route_find(r, allow, sizeof allow, err);
    if (st == ST_NOT_FOUND && (file = find_file(r, &is_versioned)) != NULL) {
        *err = ERR_INIT;
        snprintf(allow, sizeof allow, "GET, HEAD, OPTIONS");
        if (r->method == METHOD_OPTIONS) {
            answer_options(r, allow);
        } else if (r->method != METHOD_GET && r->method != METHOD_HEAD) {
            answer_header(r, "Allow", allow);
            return ERR_DETAIL(err, REASON_METHOD, "refusal.methods",
                              "what is known here: `{methods}`", ERR_TEXT("methods", allow));
        } else if (!*ret_has_body) {
            st = answer_file(r, file, is_versioned, err);
            if (st != ST_OK)
                return st;
        } else {
            return err_detail(err, REASON_BAD_REQUEST, "refusal.no_body", "this takes no body");
        }
        *ret_is_over = true;
        return ST_OK;
    }
    if (st == ST_NOT_ALLOWED && r->method == METHOD_OPTIONS) {
        *err = ERR_INIT;
        answer_options(r, allow);
        *ret_is_over = true;
        return ST_OK;
    }
    if (st != ST_OK) {
        if (st == ST_NOT_ALLOWED)
            answer_header(r, "Allow", allow);
        return st;
    }
    if (*ret_has_body && r->route->method == METHOD_GET)
        return err_detail(err, REASON_BAD_REQUEST, "refusal.no_body", "this takes no body");
    return ST_OK;
}

/* The whole request is there. */
static enum status serve(struct request *r, struct err *err)
{
    struct err identity = ERR_INIT;
    enum status st, known;

    link_set_cut(r->http, r->link, 0, false, NULL);
    r->link->reading = NULL;
    r->epoch = cache_epoch(r->http->cache);
    known = find_identity(r, &identity);
    st = check_rate(r, err);
    if (st != ST_OK)
        return st;
    if (known != ST_OK) {
        *err = identity;
        return known;
    }
    st = check_access(r, err);
    if (st == ST_OK)
        st = check_origin(r, err);
    if (st == ST_OK)
        st = read_body(r, err);
    if (st == ST_OK)
        st = read_key(r, err);
    if (st != ST_OK)
        return st;
    if (r->route->read) {
        st = r->route->read(r, err);
        if (r->phase == PHASE_WAITING)
            return ST_OK;
        pool_conn_done(r->http);
        /* What there may be for its owner is not told to a token that may not read it. */
        if (r->lacks_read && (st == ST_NOT_FOUND || st == ST_UNAUTHENTICATED))
            st = refuse_scope(SCOPE_READ, err);
        if (st == ST_OK && r->route->flags & ROUTE_API && r->route->method == METHOD_GET)
            answer_validate(r);
        return st;
    }
    if (r->route->prepare) {
        st = r->route->prepare(r, err);
        if (st != ST_OK)
            return st;
    }
    return request_submit(r, err);
}

static enum MHD_Result refuse(struct request *r, bool has_body, const struct err *err)
{
    /* A body that is not too long is read away first: a client, or a proxy, that is still sending
     * when the connection is closed may never see the answer.  MHD takes an answer before the body
     * for these two methods only. */
    bool is_short = r->body_length >= 0 && r->body_length <= DRAIN_MAX;

    if (has_body && !is_short && (r->method == METHOD_POST || r->method == METHOD_PUT)) {
        r->must_close = true;
        return finish_failure(r, err);
    }
    if (has_body)
        r->must_close = true;
    r->refusal = *err;
    r->phase = PHASE_DRAIN;
    return MHD_YES;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *conn, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **context)
{
    struct request *r = *context;
    struct err err = ERR_INIT;
    bool has_body, is_over;
    enum status st;

    (void)arg;
    (void)conn;
    (void)url;
    if (!r)
        return MHD_NO;
    switch (r->phase) {
    case PHASE_NEW:
        r->method = method_of(method);
        st = admit(r, method, version, &has_body, &is_over, &err);
        if (st != ST_OK)
            return refuse(r, has_body, &err);
        /* An answer before MHD has looked for a body would cost the connection. */
        r->phase = is_over ? PHASE_READY : PHASE_BODY;
        return MHD_YES;
    case PHASE_READY:
        if (*upload_size > 0) { /* of a body that nobody asked for: OPTIONS */
            *upload_size = 0;
            r->must_close = true;
            return MHD_YES;
        }
        return finish(r);
    case PHASE_DRAIN:
        if (*upload_size > 0) {
            r->body.limit += *upload_size;
            if (r->body.limit > DRAIN_MAX)
                return MHD_NO;
            *upload_size = 0;
            return MHD_YES;
        }
        return finish_failure(r, &r->refusal);
    case PHASE_BODY:
        if (*upload_size > 0) {
            buf_add(&r->body, upload, *upload_size);
            *upload_size = 0;
            if (buf_failed(&r->body)) {
                ERR_DETAIL(&r->refusal,
                           r->body.st == ST_NOMEM ? REASON_NO_MEMORY : REASON_TOO_LARGE,
                           "refusal.body_most", "a body has at most {most} bytes",
                           ERR_NUMBER("most", r->http->options.body_size));
                r->must_close = true;
                r->phase = PHASE_DRAIN;
            }
            return MHD_YES;
        }
        st = serve(r, &err);
        if (st != ST_OK)
            return finish_failure(r, &err);
        return r->phase == PHASE_WAITING ? MHD_YES : finish(r);
    case PHASE_WAITING:
        if (!r->is_done)
            return MHD_YES;
        st = r->outcome;
        if (st != ST_OK)
            return finish_failure(r, &r->outcome_err);
        if (r->resumed) {
            enum status (*resumed)(struct request *, struct err *) = r->resumed;

            r->resumed = NULL;
            r->phase = PHASE_BODY;
            st = resumed(r, &err);
            if (st != ST_OK)
                return finish_failure(r, &err);
            if (r->phase == PHASE_WAITING)
                return MHD_YES;
            pool_conn_done(r->http);
        }
        return finish(r);
    case PHASE_DONE:
        break;
    }
    return MHD_NO;
}

/* Leave the target as it was sent; request.c decodes it piece by piece. */
static size_t keep_escapes(void *arg, struct MHD_Connection *conn, char *text)
{
    (void)arg;
    (void)conn;
    return strlen(text);
}

static void on_mhd_log(void *arg, const char *fmt, va_list args) PRINTF_LIKE(2, 0);
static void on_mhd_log(void *arg, const char *fmt, va_list args)
{
    char text[256], quoted[600];
    va_list again;

    if (arg) {
        va_copy(again, args);
        wire_library_says(arg, fmt, again);
        va_end(again);
    }
    vsnprintf(text, sizeof text, fmt, args);
    log_event(LOG_LEVEL_DEBUG, "http_library text=%s", log_quote(text, quoted, sizeof quoted));
}

/* ------------------------------------------------------------------------------ metrics */

static void route_label(size_t i, char *ret, size_t size)
{
    snprintf(ret, size, "%s %s", method_str(routes[i].method), routes[i].path);
}

static enum MHD_Result on_metrics(void *arg, struct MHD_Connection *conn, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **context)
{
    static char seen;
    struct http *http = arg;
    struct buf out;
    struct MHD_Response *response;
    bool is_get = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    unsigned status = 200;
    enum MHD_Result result;
    size_t len;
    char *bytes;

    (void)version;
    (void)upload;
    if (!*context) {
        *context = &seen;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        *upload_size = 0;
        return MHD_YES;
    }
    out = buf_make(1024 * 1024);
    if (!is_get) {
        status = 405;
        buf_puts(&out, "only GET and HEAD are known here\n");
    } else if (strcmp(url, "/metrics") != 0) {
        status = 404;
        buf_puts(&out, "there is only /metrics here\n");
    } else {
        buf_puts(&out, "# HELP fourhanded_build_info Which program this is.\n"
                       "# TYPE fourhanded_build_info gauge\n"
                       "fourhanded_build_info{version=\"" FH_VERSION "\"} 1\n");
        metrics_print(&http->metrics, routes_count, route_label, &out);
        if (http->options.metrics)
            http->options.metrics(http->options.metrics_arg, &out);
        if (buf_failed(&out)) {
            buf_clear(&out);
            status = 503;
            buf_puts(&out, "the metrics did not fit\n");
        }
    }
    bytes = buf_take(&out, &len);
    buf_release(&out);
    if (!bytes)
        return MHD_NO;
    response = MHD_create_response_from_buffer(len, bytes, MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(bytes);
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type",
                            status == 200 ? "text/plain; version=0.0.4; charset=utf-8"
                                          : "text/plain; charset=utf-8");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (status == 405)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    result = MHD_queue_response(conn, status, response);
    MHD_destroy_response(response);
    return result;
}

/* ------------------------------------------------------------------------------ start and stop */

static enum status check_options(const struct http_options *o, struct err *err)
{
    if (o->n_listen == 0 || o->n_listen > HTTP_LISTENERS_MAX)
        return err_set(err, ST_INVALID, "http: 1 to %d sockets to listen on", HTTP_LISTENERS_MAX);
    if (o->threads < 1 || o->threads > 64)
        return err_set(err, ST_INVALID, "http: threads must be from 1 to 64");
    if (o->connections < 1 || o->streams_per_account < 1 || o->body_size < 1024)
        return err_set(err, ST_INVALID, "http: connections, streams or body size too small");
    if (o->request_ms < 1 || o->idle_ms < 1 || o->heartbeat_ms < 1 || o->answer_ms < 1)
        return err_set(err, ST_INVALID, "http: a length of time is not positive");
    if (o->rate_requests < 1 || o->rate_logins < 1)
        return err_set(err, ST_INVALID, "http: a rate is not positive");
    if (!o->public_url || (!str_starts(o->public_url, "http://") &&
                           !str_starts(o->public_url, "https://")))
        return err_set(err, ST_INVALID, "http: public_url must begin with http:// or https://");
    return ST_OK;
}

static enum status start_daemon(struct http *http, int fd, struct err *err)
{
    const struct http_options *o = &http->options;
    struct MHD_OptionItem threads[2] = {{MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}};
    struct MHD_Daemon *daemon;

    /* Not strict for clients: a missing Host or a blank in the target would get the library's own
     * answer, or none; here it gets one of ours. */
    if (o->threads > 1)
        threads[0] = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, o->threads, NULL};
    daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_mhd_log, http, MHD_OPTION_LISTEN_SOCKET,
        fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)(o->connections + HTTP_CONNECTIONS_OVER),
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(http->quiet_ms / 1000),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_PER_CONNECTION,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_URI_LOG_CALLBACK, on_target,
        http, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 0,
        MHD_OPTION_ARRAY, threads, MHD_OPTION_END);
    if (!daemon)
        return err_set(err, ST_IO, "http: the listener could not be started: %s",
                       strerror(errno));
    http->daemons[http->n_daemons++] = daemon;
    return ST_OK;
}

static enum status set_origin(struct http *http, struct err *err)
{
    const char *url = http->options.public_url;
    const char *host = strstr(url, "://") + 3;
    size_t n = (size_t)(host - url) + strcspn(host, "/");

    if (n >= sizeof http->origin)
        return err_set(err, ST_INVALID, "http: public_url is too long");
    memcpy(http->origin, url, n);
    http->origin[n] = '\0';
    http->is_https = str_starts(url, "https://");
    /* Browsers keep a __Host- cookie only with Secure, and Secure only over https. */
    http->cookie_name = http->is_https ? "__Host-fourhanded" : "fourhanded";
    return ST_OK;
}

enum status http_start(const struct http_options *options, struct http **ret, struct err *err)
{
    struct http *http = NULL;
    size_t taken = 0;
    enum status st = check_options(options, err);

    if (st != ST_OK)
        goto out;
    http = calloc(1, sizeof *http);
    if (!http) {
        st = err_reason(err, REASON_NO_MEMORY, "http: no memory");
        goto out;
    }
    http->wake_pipe[0] = http->wake_pipe[1] = -1;
    pthread_mutex_init(&http->lock, NULL);
    pthread_cond_init(&http->idle, NULL);
    http->options = *options;
    /* Not before a request that stopped half-way has been told that it was too slow. */
    http->quiet_ms = options->request_ms + CUT_LATE_MS;
    if (http->quiet_ms < options->idle_ms)
        http->quiet_ms = options->idle_ms;
    http->quiet_ms = (http->quiet_ms + 999) / 1000 * 1000;
    http->generation = atomic_fetch_add(&generations, 1) + 1;
    options->entropy.fill(options->entropy.arg, &http->salt, sizeof http->salt);
    options->entropy.fill(options->entropy.arg, http->tag_key, sizeof http->tag_key);
    st = set_origin(http, err);
    if (st != ST_OK)
        goto out;
    http->n_trusted = options->n_trusted_proxies;
    http->trusted = calloc(http->n_trusted + 1, sizeof *http->trusted);
    if (!http->trusted) {
        st = err_reason(err, REASON_NO_MEMORY, "http: no memory");
        goto out;
    }
    for (size_t i = 0; i < http->n_trusted; i++) {
        st = network_parse(options->trusted_proxies[i], &http->trusted[i], err);
        if (st != ST_OK) {
            err_prefix(err, "http: trusted_proxies");
            goto out;
        }
    }
    st = rate_new(
        (struct rate_policy[RATE_CLASSES]){
            [RATE_REQUESTS] = {"requests", options->rate_requests, MS_MINUTE},
            [RATE_LOGINS] = {"logins", options->rate_logins, MS_HOUR},
        },
        HTTP_BUCKETS, http->salt, &http->rate, err);
    if (st != ST_OK)
        goto out;
    st = files_load(options->web_directory, &options->digest, &http->files, err);
    if (st != ST_OK) {
        err_prefix(err, "http: web files");
        goto out;
    }
    st = cache_new(&http->cache, err);
    if (st == ST_OK)
        st = pictures_new(&http->pictures, err);
    if (st == ST_OK)
        st = hub_new(http, &http->hub, err);
    if (st != ST_OK)
        goto out;
    if (pipe(http->wake_pipe) != 0) {
        http->wake_pipe[0] = http->wake_pipe[1] = -1;
        st = err_set(err, ST_IO, "http: pipe: %s", strerror(errno));
        goto out;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(http->wake_pipe[i], F_SETFL, O_NONBLOCK);
        fcntl(http->wake_pipe[i], F_SETFD, FD_CLOEXEC);
    }
    atomic_store(&http->is_ready, true);
    http->has_ticker = true;
    if (pthread_create(&http->ticker, NULL, ticker, http) != 0) {
        http->has_ticker = false;
        st = err_set(err, ST_IO, "http: no thread to be had");
        goto out;
    }
    for (; taken < options->n_listen; taken++) {
        st = start_daemon(http, options->listen_fds[taken], err);
        if (st != ST_OK)
            goto out;
    }
    if (options->metrics_fd >= 0) {
        http->metrics_daemon = MHD_start_daemon(
            MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_metrics, http,
            MHD_OPTION_EXTERNAL_LOGGER, on_mhd_log, NULL, MHD_OPTION_LISTEN_SOCKET,
            options->metrics_fd, MHD_OPTION_CONNECTION_LIMIT, 16u, MHD_OPTION_CONNECTION_TIMEOUT,
            10u, MHD_OPTION_END);
        if (!http->metrics_daemon) {
            st = err_set(err, ST_IO, "http: the metrics listener could not be started");
            goto out;
        }
    }
    *ret = http;
    http = NULL;
out:
    if (st != ST_OK) {
        for (size_t i = taken; i < options->n_listen; i++)
            close(options->listen_fds[i]);
        if (options->metrics_fd >= 0 && !(http && http->metrics_daemon))
            close(options->metrics_fd);
        http_stop(http, 0);
    }
    return st;
}

/* Poll for up to ms until nobody is being answered; exactness does not matter here. */
static void wait_for_requests(struct http *http, int64_t ms)
{
    for (int64_t waited = 0; waited < ms; waited += 20) {
        bool is_idle = true;

        pthread_mutex_lock(&http->lock);
        if (http->waiting > 0)
            is_idle = false;
        pthread_mutex_unlock(&http->lock);
        if (atomic_load(&http->metrics.streams) > 0)
            is_idle = false;
        if (is_idle)
            return;
        (void)poll(NULL, 0, 20);
    }
}

void http_stop(struct http *http, int64_t drain_ms)
{
    if (!http)
        return;
    atomic_store(&http->is_ready, false);
    atomic_store(&http->is_stopping, true);
    for (size_t i = 0; i < http->n_daemons; i++) {
        int fd = MHD_quiesce_daemon(http->daemons[i]);

        if (fd != MHD_INVALID_SOCKET)
            close(fd);
    }
    if (http->hub)
        hub_stop(http->hub);
    if (http->has_ticker)
        wake_ticker(http);
    wait_for_requests(http, drain_ms);
    /* What was handed to the writer comes back; MHD must still be there then. */
    pthread_mutex_lock(&http->lock);
    while (http->waiting > 0)
        pthread_cond_wait(&http->idle, &http->lock);
    pthread_mutex_unlock(&http->lock);
    for (size_t i = 0; i < http->n_daemons; i++)
        MHD_stop_daemon(http->daemons[i]);
    if (http->metrics_daemon)
        MHD_stop_daemon(http->metrics_daemon);
    if (http->has_ticker) {
        http->has_ticker = false;
        wake_ticker(http);
        pthread_join(http->ticker, NULL);
    }
    for (size_t i = 0; i < http->n_readers; i++)
        store_reader_close(http->readers[i]);
    hub_free(http->hub);
    cache_free(http->cache);
    pictures_free(http->pictures);
    for (int i = 0; i < 2; i++)
        if (http->wake_pipe[i] >= 0)
            close(http->wake_pipe[i]);
    files_free(http->files);
    rate_free(http->rate);
    free(http->trusted);
    free(http->service_json);
    pthread_cond_destroy(&http->idle);
    pthread_mutex_destroy(&http->lock);
    free(http);
}

void http_set_ready(struct http *http, bool is_ready)
{
    atomic_store(&http->is_ready, is_ready);
}

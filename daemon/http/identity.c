/*
 * http/identity.c - see identity.h.
 */
#include "http/identity.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/readers.h"
#include "http/server.h"

/* ------------------------------------------------------------------------------ from where */

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

struct address identity_client(const struct request *r)
{
    struct forwarded all = {.len = 0};

    if (!r->link->is_trusted)
        return r->link->peer;
    MHD_get_connection_values(r->conn, MHD_HEADER_KIND, gather_forwarded, &all);
    return address_of_client(&r->link->peer, all.text, r->http->trusted, r->http->n_trusted);
}

/* ------------------------------------------------------------------------------ who asks */

static enum status touch_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    return people_touch(txn, arg, now, err);
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
    struct people_who *copy = malloc(sizeof *copy);
    struct err err = ERR_INIT;

    if (!copy)
        return;
    *copy = *who;
    if (writer_submit(http->options.writer,
                      &(struct writer_command){
                          .name = "touch", .run = touch_run, .done = touch_done, .arg = copy},
                      &err) != ST_OK)
        free(copy);
}

/* Look a secret up, unless it is known.  From http_set_ready(false) on the hook may be gone, and
 * nothing is true because it was. */
static enum status find_who(struct request *r, enum known_kind kind, const char *secret,
                            struct err *err)
{
    struct http *http = r->http;
    struct clock_reading now = http->options.clock.read(http->options.clock.arg);
    uint64_t epoch = known_epoch(http->known);
    struct store_conn *conn = NULL;
    enum status st;

    if (atomic_load(&http->is_ready) &&
        known_get(http->known, kind, secret, now.wall_at, now.monotonic_ms, &r->who))
        return ST_OK;
    st = request_conn(r, &conn, err);
    if (st != ST_OK)
        return st;
    st = kind == KNOWN_TOKEN ? people_by_token(conn, secret, now.wall_at, &r->who, err)
                             : people_by_session(conn, secret, now.wall_at, &r->who, err);
    if (st == ST_OK)
        known_put(http->known, kind, secret, epoch, now.monotonic_ms, &r->who);
    return st;
}

enum status identity_find(struct request *r, struct err *err)
{
    const char *authorization = request_header(r, "Authorization");
    char secret[SECRET_SIZE + 8];
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
        st = find_who(r, KNOWN_TOKEN, token, err);
        if (st == ST_UNAUTHENTICATED)
            st = err_detail(err, REASON_BAD_CREDENTIALS, "refusal.token_dead",
                            "this token is not valid, or not any more");
    } else if (request_cookie(r, r->http->cookie_name, secret, sizeof secret)) {
        struct err why = ERR_INIT;

        st = find_who(r, KNOWN_COOKIE, secret, &why);
        if (st == ST_UNAUTHENTICATED) {
            r->had_bad_cookie = true;
            st = ST_OK;
        } else if (st != ST_OK) {
            *err = why;
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

enum status identity_refuse_scope(unsigned scope, struct err *err)
{
    return ERR_DETAIL(err, REASON_SCOPE_NEEDED, "refusal.scope_lacking",
                      "this token lacks the scope `{scope}`", ERR_TEXT("scope", scope_str(scope)));
}

enum status identity_check_access(struct request *r, struct err *err)
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
    return r->who.scopes & scope ? ST_OK : identity_refuse_scope(scope, err);
}

enum status identity_check_rate(struct request *r, struct err *err)
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
        r->retry_s = r->rate.wait_s;
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
enum status identity_check_origin(struct request *r, struct err *err)
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

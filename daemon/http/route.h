/*
 * http/route.h - the one table of routes: what there is, who may ask for it, and who answers.
 *
 * Threads: read-only.
 */
#ifndef FH_HTTP_ROUTE_H
#define FH_HTTP_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/utc.h"
#include "http/rate.h"

struct request;
struct store_txn;

enum method {
    METHOD_GET,
    METHOD_HEAD,
    METHOD_POST,
    METHOD_PUT,
    METHOD_PATCH,
    METHOD_DELETE,
    METHOD_OPTIONS,
    METHOD_OTHER,
    METHODS
};
const char *method_str(enum method method);

/* Who may ask. */
enum access {
    /* Credentials are looked at, and a bad token is refused, but none are needed; reading with a
     * token that lacks the scope `read` is reading without one, changing needs `play`. */
    ACCESS_ANYBODY,
    ACCESS_READ,    /* a session, or a token with that scope */
    ACCESS_PLAY,
    ACCESS_MANAGE,
    ACCESS_SESSION, /* a session alone */
    ACCESS_NOBODY   /* credentials are not looked at: pages of letters, health */
};

enum route_flag {
    ROUTE_API = 1,           /* CORS for token clients; JSON */
    ROUTE_BODY = 2,          /* takes a JSON body */
    ROUTE_BODY_OPTIONAL = 4, /* … or none */
    ROUTE_FORM = 8,          /* takes a form body, which the handler reads itself */
    ROUTE_REPEATABLE = 16,   /* takes Idempotency-Key */
    ROUTE_CROSS_SITE = 32,   /* no same-origin check: RFC 8058 */
    ROUTE_PAGE = 64,         /* failures are pages for people */
    ROUTE_SECRET = 128       /* its path holds a secret: not logged, no Referer */
};

enum { ROUTE_PARAMS_MAX = 3 };

struct route {
    enum method method; /* GET also serves HEAD */
    const char *path;   /* "/api/v1/games/{game}/moves" */
    enum access access;
    enum rate_class rate;
    unsigned flags;
    const char *statuses; /* all that it can answer: "200 304 400", as in openapi.yaml */
    /* read, or act with or without prepare.  prepare comes before act, on the pool thread, and
     * reads the body.  A route with read and act waits for something else first (a password) and
     * then submits act itself. */
    enum status (*read)(struct request *r, struct err *err);
    enum status (*prepare)(struct request *r, struct err *err);
    enum status (*act)(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
};

extern const struct route routes[];
extern const size_t routes_count;

/* The route of the request; REASON_NOT_FOUND, or REASON_METHOD with the methods in allow. */
MUST_CHECK enum status route_find(struct request *r, char *ret_allow, size_t size,
                                  struct err *err);
bool route_may_answer(const struct route *route, int status);

#endif

/*
 * http/send.c - see send.h.
 */
#include "http/send.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "http/pages.h"
#include "http/readers.h"
#include "http/server.h"

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
enum MHD_Result send_answer(struct request *r)
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
    link_await_reader(http, r, now_ms);
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

enum MHD_Result send_failure(struct request *r, const struct err *err)
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
    return send_answer(r);
}

/*
 * http/flow.c - see flow.h.
 *
 * What libmicrohttpd 0.9.75 lets through and this file (with request.c) does not: repeated headers,
 * two framings, %00 and %2f in paths, unknown methods.  What it misreads, and what it would answer
 * by itself, is in wire.h.
 */
#include "http/flow.h"

#include <stdlib.h>
#include <string.h>

#include "http/change.h"
#include "http/client.h"
#include "http/identity.h"
#include "http/pages.h"
#include "http/readers.h"
#include "http/send.h"
#include "http/server.h"
#include "http/wire.h"

enum { DRAIN_MAX = 1024 * 1024 /* bytes of a refused body that are read away */ };

/* ------------------------------------------------------------------------------ begin and end */

void *flow_on_target(void *arg, const char *uri, struct MHD_Connection *conn)
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
    link_await_rest(http, r);
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

void flow_on_completed(void *arg, struct MHD_Connection *conn, void **context,
                       enum MHD_RequestTerminationCode code)
{
    struct http *http = arg;
    struct request *r = *context;

    (void)conn;
    (void)code;
    if (!r)
        return;
    link_await_next(http, r->link);
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
    r->client = identity_client(r);
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
    if (st == ST_NOT_FOUND && (file = client_find(r, &is_versioned)) != NULL) {
        *err = ERR_INIT;
        snprintf(allow, sizeof allow, "GET, HEAD, OPTIONS");
        if (r->method == METHOD_OPTIONS) {
            answer_options(r, allow);
        } else if (r->method != METHOD_GET && r->method != METHOD_HEAD) {
            answer_header(r, "Allow", allow);
            return ERR_DETAIL(err, REASON_METHOD, "refusal.methods",
                              "what is known here: `{methods}`", ERR_TEXT("methods", allow));
        } else if (!*ret_has_body) {
            st = client_answer(r, file, is_versioned, err);
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

    link_await_handler(r->http, r);
    r->epoch = cache_epoch(r->http->cache);
    known = identity_find(r, &identity);
    st = identity_check_rate(r, err);
    if (st != ST_OK)
        return st;
    if (known != ST_OK) {
        *err = identity;
        return known;
    }
    st = identity_check_access(r, err);
    if (st == ST_OK)
        st = identity_check_origin(r, err);
    if (st == ST_OK)
        st = form_read(r, err);
    if (st == ST_OK)
        st = change_read_key(r, err);
    if (st != ST_OK)
        return st;
    if (r->route->read) {
        st = r->route->read(r, err);
        if (r->phase == PHASE_WAITING)
            return ST_OK;
        pool_conn_done(r->http);
        /* What there may be for its owner is not told to a token that may not read it. */
        if (r->lacks_read && (st == ST_NOT_FOUND || st == ST_UNAUTHENTICATED))
            st = identity_refuse_scope(SCOPE_READ, err);
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
        return send_failure(r, err);
    }
    if (has_body)
        r->must_close = true;
    r->refusal = *err;
    r->phase = PHASE_DRAIN;
    return MHD_YES;
}

enum MHD_Result flow_on_request(void *arg, struct MHD_Connection *conn, const char *url,
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
        return send_answer(r);
    case PHASE_DRAIN:
        if (*upload_size > 0) {
            r->body.limit += *upload_size;
            if (r->body.limit > DRAIN_MAX)
                return MHD_NO;
            *upload_size = 0;
            return MHD_YES;
        }
        return send_failure(r, &r->refusal);
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
            return send_failure(r, &err);
        return r->phase == PHASE_WAITING ? MHD_YES : send_answer(r);
    case PHASE_WAITING:
        if (!r->is_done)
            return MHD_YES;
        st = r->outcome;
        if (st != ST_OK)
            return send_failure(r, &r->outcome_err);
        if (r->resumed) {
            enum status (*resumed)(struct request *, struct err *) = r->resumed;

            r->resumed = NULL;
            r->phase = PHASE_BODY;
            st = resumed(r, &err);
            if (st != ST_OK)
                return send_failure(r, &err);
            if (r->phase == PHASE_WAITING)
                return MHD_YES;
            pool_conn_done(r->http);
        }
        return send_answer(r);
    case PHASE_DONE:
        break;
    }
    return MHD_NO;
}

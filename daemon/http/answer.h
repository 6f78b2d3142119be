/*
 * http/answer.h - what goes back: JSON, problems, cookies, validators.
 *
 * A handler fills in r->answer by these; send.h hands it to the client, with the headers that all
 * answers have.
 *
 * Ownership: what is given is copied, unless it is called take_….  Threads: as the request.
 */
#ifndef FH_HTTP_ANSWER_H
#define FH_HTTP_ANSWER_H

#include <jansson.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/utc.h"

struct request;

/* The Content-Security-Policy of everything that is no page. */
#define HTTP_DATA_CSP "default-src 'none'; frame-ancestors 'none'"

enum { ANSWER_HEADERS_MAX = 12 };

struct header {
    const char *name; /* a constant */
    char *value;
};

struct answer {
    int status;
    const char *type;    /* Content-Type, a constant; NULL: no body */
    struct buf body;
    struct MHD_Response *made; /* instead of body: a stream or a static file */
    struct header headers[ANSWER_HEADERS_MAX];
    size_t n_headers;
    const char *cache;   /* Cache-Control, a constant; NULL: the default of its kind */
    bool has_etag;       /* an ETag header was set */
    bool is_document;    /* gets the Content-Security-Policy of pages */
    bool is_picture;     /* … of SVG */
};

/* 202 {"status": "accepted"}: what was asked for is done later, if at all. */
MUST_CHECK enum status answer_accepted(struct request *r, struct err *err);
/* takes root (also on failure) */
MUST_CHECK enum status answer_json(struct request *r, int status, json_t *take_root,
                                   struct err *err);
void answer_empty(struct request *r, int status);
/* value is copied; a value with controls, or one too many, is our bug and dropped */
void answer_header(struct request *r, const char *name, const char *value);
void answer_problem(struct request *r, const struct err *err);
/* The target as it was sent, unless it has a secret in it; NULL. */
const char *problem_target(const struct request *r);
/* Put into a problem the path of a target; NULL: none.  One that begins with anything but a slash –
 * the absolute form, nonsense – is not repeated. */
void problem_instance(const char *target, json_t *root);
/* Give it the ETag of these bytes.  It holds for as long as the server runs. */
void answer_tag(struct request *r, const void *bytes, size_t n);
/* Give it the ETag that the first TAG_BYTES of a digest make. */
enum { TAG_BYTES = 12 };
void answer_tag_of(struct request *r, const unsigned char *digest);
/* The ETag set so far; NULL: none. */
const char *answer_etag(const struct request *r);
/* An ETag over the body, and 304 when the client has it. */
void answer_validate(struct request *r);
/* Whether If-None-Match has that tag (with its quotes). */
bool request_has_etag(const struct request *r, const char *etag);

/* Set the session cookie, or take it away (secret NULL). */
void answer_session(struct request *r, const char *secret, utc_ms now, utc_ms expires_at);

#endif

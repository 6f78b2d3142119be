/*
 * http/request.h - one request: what was asked, by whom, and how far it is.
 *
 * Ownership: a request belongs to its connection and is released when MHD completes it.  Strings
 * got from a request live as long as it does.
 * Threads: a request is used by one thread at a time: its pool thread, or, while it is suspended,
 * the writer's (or the password worker's).
 */
#ifndef FH_HTTP_REQUEST_H
#define FH_HTTP_REQUEST_H

#include <jansson.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/ports.h"
#include "base/status.h"
#include "base/str.h"
#include "http/address.h"
#include "http/answer.h"
#include "http/form.h"
#include "http/http.h"
#include "http/rate.h"
#include "http/route.h"
#include "people/people.h"

struct http;
struct link;

enum { PATH_SEGMENTS_MAX = 12, VERDICT_WORDS_SIZE = 512 };

enum phase { PHASE_NEW, PHASE_READY, PHASE_BODY, PHASE_DRAIN, PHASE_WAITING, PHASE_DONE };

struct request {
    struct http *http;
    struct MHD_Connection *conn;
    struct link *link;
    enum phase phase;
    enum method method;
    const struct route *route; /* NULL: none, or a static file */
    char *target;              /* as it was sent */
    const char *uri;           /* where it stands in the bytes that were read; see wire.h */
    size_t uri_len;
    char *decoded;             /* what segments and query point into */
    const char *segments[PATH_SEGMENTS_MAX];
    size_t n_segments;
    struct {
        const char *name, *value;
    } query[HTTP_QUERY_MAX];
    size_t n_query;
    const char *params[ROUTE_PARAMS_MAX]; /* in the order of the pattern */
    int64_t body_length; /* as Content-Length says; -1: it does not, or cannot be trusted */
    struct buf body;
    struct form form;
    bool must_close;
    bool is_stream;
    struct err refusal; /* what to tell once the body is read away */
    struct people_who who; /* user_id 0: nobody */
    bool by_cookie;
    bool had_bad_cookie;
    bool lacks_read; /* a valid token without that scope: who is nobody, as for what is public */
    struct address client;
    struct rate_answer rate;
    bool is_rated;
    int64_t retry_s; /* for Retry-After of 429; 0: in a second */
    int64_t began_ms; /* monotonic */
    uint64_t epoch;   /* of the cache, before anything was read */

    /* a change under way */
    bool is_waiting;         /* counted in http->waiting */
    bool is_done;            /* the writer has answered; set before the connection is resumed */
    enum status outcome;
    struct err outcome_err;
    /* called once it is done; may suspend the connection again */
    enum status (*resumed)(struct request *r, struct err *err);
    const char *key;         /* of Idempotency-Key, unquoted; NULL: none */
    char key_text[132];
    unsigned char key_hash[DIGEST_SIZE];
    void *data;              /* the handler's own */
    void (*data_free)(void *data);
    json_t *problem_game;    /* goes into a problem document; owned */
    const char *verdict;     /* constant; goes into a problem document */
    char verdict_words[VERDICT_WORDS_SIZE]; /* the same as a sentence for the reader */

    struct answer answer;
};

/* A query parameter's value, NULL when it is not there. */
const char *request_query(const struct request *r, const char *name);
/*
 * Parameters are read one by one; what is wrong is noted in r->form, as the faults of a body are,
 * and form_end() tells all of it.  So nothing is asked of the store before form_end(&r->form, err)
 * has said ST_OK.
 */
/* Parameters that are not among names (NULL-ended), or are there twice, are faults. */
void request_query_only(struct request *r, const char *const *names);
/* A whole number from the query, fallback when it is not there or is wrong. */
void request_query_int(struct request *r, const char *name, int64_t min, int64_t max,
                       int64_t fallback, int64_t *ret);
void request_query_bool(struct request *r, const char *name, bool fallback, bool *ret);
/* One of words[n], and its index; -1 when it is not there or is wrong. */
void request_query_word(struct request *r, const char *name, const char *const *words, size_t n,
                        int *ret);
/* A path parameter that is an id; REASON_BAD_FIELD, with its name, when it is no number (then *ret
 * is 0). */
void request_param_id(struct request *r, int index, int64_t *ret);
/* A header line, NULL when it is not there. */
const char *request_header(const struct request *r, const char *name);
/* A cookie by name; false when it is not there or too long. */
bool request_cookie(const struct request *r, const char *name, char *ret, size_t size);
/* Which of the offered media types (NULL-ended, best first) Accept prefers; NULL: none of them. */
const char *request_accepts(const struct request *r, const char *const *offered);

bool request_is_logged_in(const struct request *r);

/* Read target into segments and query.  ST_INVALID or ST_TOO_LARGE. */
MUST_CHECK enum status request_parse_target(struct request *r, struct err *err);
/* What MHD lets through and must not: repeated headers, two framings, foreign encodings. */
MUST_CHECK enum status request_check_headers(struct request *r, bool *ret_has_body,
                                             struct err *err);

#endif

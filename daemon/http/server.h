/*
 * http/server.h - what the files of this room share: the server, a request, an answer.
 *
 * The life of a request
 *   MHD parses a request line; server.c makes a struct request for it, checks the framing that MHD
 *   lets through, finds its route, and gathers its body.  Then, on the pool thread:
 *     identity (cookie or token) → rate limit → same-origin check → route->read(), or
 *     route->prepare() → the connection is suspended → route->act() on the writer thread, in the
 *     command's transaction → after the commit the connection is resumed → the answer goes out.
 *   A route has either read, or act (with or without prepare).  Handlers fill in the answer
 *   (answer_json() and the like) and return ST_OK, or return a failure with *err filled, which
 *   becomes a problem document.
 *
 * Ownership: a request belongs to its connection and is released when MHD completes it.  Strings
 * got from a request live as long as it does.
 * Threads: a request is used by one thread at a time: its pool thread, or, while it is suspended,
 * the writer's (or the password worker's).
 */
#ifndef FH_HTTP_SERVER_H
#define FH_HTTP_SERVER_H

#include <jansson.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "base/utc.h"
#include "http/address.h"
#include "http/cache.h"
#include "http/files.h"
#include "http/http.h"
#include "words/words.h"
#include "http/metrics.h"
#include "http/pictures.h"
#include "http/rate.h"
#include "people/people.h"

struct request;
struct store_conn;
struct store_reader;
struct store_txn;
struct hub;

/* The Content-Security-Policy of everything that is no page. */
#define HTTP_DATA_CSP "default-src 'none'; frame-ancestors 'none'"

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
    ROUTE_SECRET = 128,      /* its path holds a secret: not logged, no Referer */
    ROUTE_PEOPLE = 256       /* its act may change what others see of a person */
};

enum { ROUTE_PARAMS_MAX = 3, PATH_SEGMENTS_MAX = 12, ANSWER_HEADERS_MAX = 12 };

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

/* A connection, from accept to close. */
struct link {
    struct link *next, *prev;
    int fd;
    struct address peer;
    bool is_trusted;      /* a proxy of ours */
    bool is_over_limit;   /* gets 503 and is closed */
    int64_t cut_at_ms;    /* monotonic: shut down when not done by then; 0: never */
    bool is_awaited;      /* a request is being read, and nothing of an answer is sent */
    pthread_t thread;     /* of the pool */
    struct request *reading; /* by that thread, which alone looks at it; NULL: none */
    const char *target;   /* what is_awaited asks for, where that may be told; NULL; by the lock */
};

struct header {
    const char *name; /* a constant */
    char *value;
};

/* Fields of a body that is a JSON object; see form_…() below. */
enum { VERDICT_WORDS_SIZE = 512 };

struct form {
    json_t *object;
    const char *known[24];
    size_t n_known;
    json_t *errors; /* [{pointer, detail}], NULL while there are none */
    struct err first;
    enum lang lang; /* in which they are told */
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


struct http {
    struct http_options options;
    struct MHD_Daemon *daemons[HTTP_LISTENERS_MAX];
    size_t n_daemons;
    struct MHD_Daemon *metrics_daemon;
    struct network *trusted;
    size_t n_trusted;
    struct rate *rate;
    struct files *files;
    struct cache *cache;
    struct pictures *pictures;
    struct metrics metrics;
    struct hub *hub;
    char origin[256]; /* scheme://host[:port] of public_url */
    bool is_https;
    const char *cookie_name;
    uint64_t salt;
    unsigned char tag_key[FINGERPRINT_KEY_SIZE]; /* of ETags */
    int64_t quiet_ms;    /* a connection on which nothing comes for so long is closed by MHD */
    uint64_t generation; /* tells this server's readers from an earlier one's */
    atomic_bool is_stopping, is_ready, is_hooked;

    pthread_mutex_t lock; /* links, readers, waiting */
    pthread_cond_t idle;  /* waiting fell to 0 */
    struct link *links;
    int n_links;
    int waiting; /* requests handed to the writer or the password worker */
    struct store_reader *readers[64 * HTTP_LISTENERS_MAX];
    size_t n_readers;

    pthread_t ticker;
    atomic_bool has_ticker; /* it runs until this is false */
    int wake_pipe[2];
    char *service_json; /* the service document, made at start */
};

/* Monotonic milliseconds, and the wall clock. */
int64_t http_now_ms(const struct http *http);
utc_ms http_now(const struct http *http);

/* This thread's reader; opened on first need.  Its snapshot ends with the route's function. */
MUST_CHECK enum status request_conn(struct request *r, struct store_conn **ret, struct err *err);
/* The same outside of a request, on a pool thread, which ends its snapshot. */
MUST_CHECK enum status pool_conn(struct http *http, struct store_conn **ret, struct err *err);
void pool_conn_done(struct http *http);

/* ------------------------------------------------------------------------------ the request */

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

/* ------------------------------------------------------------------------------ its body */

/* Fields are read one by one; what is wrong is collected, and form_end() tells all of it.  An
 * absent optional field leaves *ret as it was. */
enum { FIELD_NEEDED = 1 };
bool form_has(struct form *form, const char *name);
void form_str(struct form *form, const char *name, int flags, size_t min, size_t max,
              const char **ret);
/* Whether a text has min to max characters; else it is a fault of pointer. */
bool form_length(struct form *form, const char *pointer, const char *text, size_t min, size_t max);
void form_int(struct form *form, const char *name, int flags, int64_t min, int64_t max,
              int64_t *ret);
/* The same of a value inside another, which is there. */
void form_int_of(struct form *form, const char *pointer, const json_t *value, int64_t min,
                 int64_t max, int64_t *ret);
void form_bool(struct form *form, const char *name, bool *ret);
void form_instant(struct form *form, const char *name, utc_ms *ret);
/* The value itself, borrowed; NULL when absent or of another type (which is an error). */
json_t *form_any(struct form *form, const char *name, int flags, json_type type);
/* One of words[n]; *ret is its index. */
void form_word(struct form *form, const char *name, int flags, const char *const *words, size_t n,
               int *ret);
/* The same of a text that is there. */
void form_choose(struct form *form, const char *pointer, const char *text,
                 const char *const *words, size_t n, int *ret);
/* Note a fault: pointer is the field, the rest as of err_detail() and ERR_DETAIL(). */
void form_error(struct form *form, enum reason reason, const char *pointer, const char *code,
                const char *english);
void form_error_with(struct form *form, enum reason reason, const char *pointer, const char *code,
                     const char *english, const struct err_arg *args, size_t n);
#define FORM_ERROR(form, reason, pointer, code, english, ...)                                      \
    form_error_with((form), (reason), (pointer), (code), (english),                                \
                    (const struct err_arg[]){__VA_ARGS__},                                         \
                    sizeof((const struct err_arg[]){__VA_ARGS__}) / sizeof(struct err_arg))
/* RFC 6901: the pointer to a member of parent ("" is the body), whose name may be anybody's.  One
 * too long is cut; where that is inside a character, it is parent's pointer ("/" of the body). */
void form_pointer(char *ret, size_t size, const char *parent, const char *name);
/* The same with a refusal that is made already. */
void form_refuse(struct form *form, const char *pointer, const struct err *why);
MUST_CHECK enum status form_end(struct form *form, struct err *err);
void form_release(struct form *form);

/* ------------------------------------------------------------------------------ the answer */

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

/* Suspend the connection and hand it on; the other side calls request_done() exactly once. */
void request_wait(struct request *r);
void request_done(struct request *r, enum status st, const struct err *err);
/* Hand route->act (or another) to the writer; answered through request_done(). */
MUST_CHECK enum status request_submit(struct request *r, struct err *err);

/* Set the session cookie, or take it away (secret NULL). */
void answer_session(struct request *r, const char *secret, utc_ms now, utc_ms expires_at);

/* ------------------------------------------------------------------------------ routes */

extern const struct route routes[];
extern const size_t routes_count;

/* The route of the request; REASON_NOT_FOUND, or REASON_METHOD with the methods in allow. */
MUST_CHECK enum status route_find(struct request *r, char *ret_allow, size_t size,
                                  struct err *err);
bool route_may_answer(const struct route *route, int status);

#endif

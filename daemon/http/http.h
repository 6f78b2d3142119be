/*
 * http/http.h - the front door for programs and browsers.
 *
 * Purpose
 *   Serves what web/openapi.yaml describes (the API under /api/v1, the pages that links in letters
 *   lead to, the browser client's files) and, on a listener of its own, metrics for Prometheus.
 *   It knows who asks, how often, and in what form to answer; what may be done to a game is the
 *   arbiter's business, and every change is a command to the writer.
 *
 * Calling sequence
 *   http_start() once everything it borrows is up → http_stop() before the writer and the password
 *   worker are stopped, since connections may be waiting for them.
 *
 * Ownership
 *   Everything in struct http_options is borrowed and must outlive the server, but for the
 *   listening sockets: http_start() takes them, also when it fails, and closes them.
 *
 * Threads
 *   `threads` pool threads answer requests, each with a reader of its own that it opens before its
 *   first request; one more thread wakes the streams, sends their heartbeats and cuts off
 *   connections that trickle.  http_start() and http_stop() are called from one thread, once each.
 *   http_on_commit() may be called from any.
 *
 * Time
 *   Lengths in milliseconds.  Rate limits and time-outs go by the monotonic side of `clock`;
 *   instants in answers by its wall side, and those of changes by the writer's.
 *
 * Errors
 *   http_start(): ST_INVALID names the option, ST_IO the socket or file that failed.
 */
#ifndef FH_HTTP_HTTP_H
#define FH_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/ports.h"
#include "base/status.h"
#include "clock/clock.h"
#include "store/kinds.h"
#include "store/writer.h"

struct arbiter;
struct http;
struct passwords;
struct people;
struct store_txn;

enum {
    HTTP_LISTENERS_MAX = 8,            /* sockets to listen on, metrics not counted */
    HTTP_CONNECTIONS_OVER = 64,        /* over `connections`, that can be told that it is full */
    HTTP_FILES_A_THREAD = 4,           /* its database connection, and what MHD waits by */
    HTTP_BODY_MAX = 64 * 1024,         /* default of body_size */
    HTTP_TARGET_MAX = 4096,            /* bytes of a request target */
    HTTP_QUERY_MAX = 16,               /* parameters of a query */
    HTTP_HEADERS_MAX = 64,             /* header lines of a request */
    HTTP_STREAMS_PER_ACCOUNT = 8,      /* default of streams_per_account */
    HTTP_KEYS_A_DAY = 2000,            /* default of keys_a_day */
    HTTP_BUCKETS = 16384,              /* rate limit buckets kept; the fullest is given up first */
    HTTP_HEARTBEAT_MS = 15000,         /* between signs of life of a silent stream */
    HTTP_FILES_MAX = 512,              /* static files */
    HTTP_FILES_BYTES = 16 * 1024 * 1024
};

/*
 * What http asks of notify, which it may not include: main passes notify's functions.  All may be
 * NULL, in tests: then no unsubscribe link is ours, and no webhook can be made.  Any thread.
 */
struct http_notices {
    void *arg;
    /* Whose link /u/TOKEN is, and about which letters; changes nothing.  REASON_LINK_EXPIRED when
     * it is not ours. */
    enum status (*unsubscribe_read)(void *arg, const char *token, int64_t *ret_user_id,
                                    enum notice_class *ret_class, struct err *err);
    /* When it gave user 0: the link is of an invited address without an account, which wants no
     * more invitations.  On POST only; the writer's thread. */
    enum status (*address_block)(void *arg, struct store_txn *txn, const char *token, utc_ms now,
                                 struct err *err);
    /* Whether a webhook may go there; the address as it is to be stored.  REASON_BLOCKED_ADDRESS,
     * REASON_BAD_FIELD. */
    enum status (*webhook_check)(void *arg, const char *url, enum webhook_kind kind,
                                 struct buf *ret_url, struct err *err);
    /* "whsec_…" */
    void (*webhook_secret_print)(void *arg, const unsigned char *secret, size_t n, char ret[96]);
};

struct http_options {
    /* sockets that are bound and listening (TCP or Unix), taken */
    const int *listen_fds;
    size_t n_listen;
    int metrics_fd; /* -1: no metrics */

    /* the parts behind it */
    struct store *store;
    struct writer *writer;
    const struct arbiter *arbiter;
    const struct people *people;
    struct passwords *passwords;
    struct http_notices notices;
    struct clock clock;
    struct entropy entropy;
    struct digest digest;

    /* who this server is */
    const char *public_url; /* no slash at the end; https, or http on loopback */
    const char *site_name;
    const char *language;      /* BCP 47; of pages for whom we know nothing of */
    const char *web_directory; /* the browser client and openapi.yaml */

    /* limits */
    const char *const *trusted_proxies; /* addresses or CIDR networks whose X-Forwarded-For holds */
    size_t n_trusted_proxies;
    int threads;                 /* of the pool; 1…64 */
    int connections;             /* more get 503 */
    int connections_per_address; /* more get 503; 0: any number.  Trusted proxies are not counted */
    size_t body_size;
    int64_t request_ms;      /* from the first byte of a request to its last */
    int64_t idle_ms;         /* of a connection without a request; at least request_ms + 2 s */
    int64_t heartbeat_ms;
    int64_t answer_ms;       /* for a client to take an answer that is no stream */
    int streams_per_account; /* at once; an address counts as one where nobody is logged in */
    int64_t rate_requests;   /* a minute and account (or address) */
    int64_t rate_logins;     /* an hour and address */
    int64_t keys_a_day;      /* answers that are kept for an account, by new Idempotency-Key */
    int webhooks_per_user;

    /* More lines for /metrics, from main; NULL for none.  Any thread. */
    void (*metrics)(void *arg, struct buf *out);
    void *metrics_arg;
};

/* Defaults for all that has one; the caller sets the rest. */
#define HTTP_OPTIONS_INIT                                                                          \
    ((struct http_options){.metrics_fd = -1,                                                       \
                           .language = "en",                                                       \
                           .site_name = "Fourhanded",                                              \
                           .threads = 4,                                                           \
                           .connections = 1024,                                                    \
                           .body_size = HTTP_BODY_MAX,                                             \
                           .request_ms = 20 * MS_SECOND,                                           \
                           .idle_ms = 30 * MS_SECOND,                                              \
                           .heartbeat_ms = HTTP_HEARTBEAT_MS,                                      \
                           .answer_ms = 5 * MS_MINUTE,                                             \
                           .streams_per_account = HTTP_STREAMS_PER_ACCOUNT,                        \
                           .rate_requests = 600,                                                   \
                           .rate_logins = 30,                                                      \
                           .keys_a_day = HTTP_KEYS_A_DAY,                                          \
                           .webhooks_per_user = 10})

MUST_CHECK enum status http_start(const struct http_options *options, struct http **ret,
                                  struct err *err);

/* Take no more connections, end the streams, let requests under way finish for up to drain_ms,
 * then stop.  Waits for the writer and the password worker to answer what they were given.  NULL is
 * allowed. */
void http_stop(struct http *http, int64_t drain_ms);

/* The writer's hook (writer_hook_fn): forgets what is true no more, and wakes the streams that wait
 * for what was committed.  Cheap; does not block.  http may be NULL, for a hook that is set before
 * the server is started. */
void http_on_commit(void *http, const struct writer_commit *commit);

/* Once the hook leads here: forget all that was remembered before, when commits went by untold. */
void http_look_again(struct http *http);

/* From now on /readyz answers 503, while requests are still served: for load balancers, before a
 * stop.  Nothing is remembered then, so that the hook may be taken away. */
void http_set_ready(struct http *http, bool is_ready);

/* The table of routes as lines "METHOD /path/{parameter} 200 400 …", for the test that compares it
 * with web/openapi.yaml. */
void http_print_routes(struct buf *out);

#endif

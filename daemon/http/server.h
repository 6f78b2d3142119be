/*
 * http/server.h - the server, and the life of a request in it.
 *
 *   MHD parses a request line; flow.c makes a struct request for it, checks the framing that MHD
 *   lets through, finds its route, and gathers its body.  Then, on the pool thread:
 *     identity (cookie or token) → rate limit → access → same-origin check (all identity.h) → body
 *     (form.h) → route->read(), or route->prepare() → the connection is suspended (change.h) →
 *     route->act() on the writer thread, in the command's transaction → after the commit the
 *     connection is resumed → the answer goes out (send.h).
 *   A route has either read, or act (with or without prepare).  Handlers fill in the answer
 *   (answer_json() and the like, answer.h) and return ST_OK, or return a failure with *err filled,
 *   which becomes a problem document.
 *
 * Ownership and threads: of the server, http.h; of a request, request.h.
 */
#ifndef FH_HTTP_SERVER_H
#define FH_HTTP_SERVER_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ports.h"
#include "base/utc.h"
#include "http/address.h"
#include "http/cache.h"
#include "http/files.h"
#include "http/http.h"
#include "http/known.h"
#include "http/links.h"
#include "http/metrics.h"
#include "http/pictures.h"
#include "http/rate.h"
#include "http/request.h"

struct hub;
struct store_reader;

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
    struct known *known;
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
    atomic_bool is_stopping, is_ready;

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

#endif

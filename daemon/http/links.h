/*
 * http/links.h - connections: how many there are, whose, and which of them are too slow.
 *
 * A connection has a limit to every wait: for its next request line, for the rest of a request, and
 * for taking an answer.  Whoever lets one pass is cut off by the ticker, which tells him why while
 * a request was being read.  More connections than allowed, in all or from one address, are taken
 * so that their first request can be answered 503.
 *
 * Threads: the pool's, but for links_cut_slow(), which is the ticker's.  The list, and what both
 * sides write, is under http->lock.
 */
#ifndef FH_HTTP_LINKS_H
#define FH_HTTP_LINKS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "http/address.h"

struct http;
struct request;

enum { CUT_LATE_MS = 2000 }; /* whoever is too slow is cut off at most so much later */

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

/* MHD_NotifyConnectionCallback; its argument is the server. */
void links_on_connection(void *arg, struct MHD_Connection *conn, void **context,
                         enum MHD_ConnectionNotificationCode code);

/* The wait that r begins: for the rest of its request, for its handler (without a limit), and for
 * the client to take an answer.  link_await_next() is after it: for the next request line. */
void link_await_rest(struct http *http, struct request *r);
void link_await_handler(struct http *http, struct request *r);
void link_await_reader(struct http *http, struct request *r, int64_t now_ms);
void link_await_next(struct http *http, struct link *link);

/* For a stop, when no more are accepted: read no more from any, and wait up to ms until MHD has
 * finished what it is sending and closed them. */
void links_drain(struct http *http, int64_t ms);

/* Shut what is overdue; MHD then sees the end and cleans up.  Returns in how long to look again. */
int links_cut_slow(struct http *http, int64_t now_ms);

#endif

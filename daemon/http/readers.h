/*
 * http/readers.h - the pool threads' readers of the store.
 *
 * Each pool thread has one, which it opens on first need and keeps until the server stops; its
 * snapshot begins with the first question of a request and ends with the route's function.
 *
 * Ownership: the server closes them.  Threads: the pool's.
 */
#ifndef FH_HTTP_READERS_H
#define FH_HTTP_READERS_H

#include "base/status.h"

struct http;
struct request;
struct store_conn;

/* This thread's reader; opened on first need.  Its snapshot ends with the route's function. */
MUST_CHECK enum status request_conn(struct request *r, struct store_conn **ret, struct err *err);
/* The same outside of a request, on a pool thread, which ends its snapshot. */
MUST_CHECK enum status pool_conn(struct http *http, struct store_conn **ret, struct err *err);
void pool_conn_done(struct http *http);

#endif

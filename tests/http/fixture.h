/*
 * tests/http/fixture.h - a whole server in this process: store, writer, people, arbiter and http.
 *
 * Everything lies in a new folder under TMPDIR and goes with it.  The wall clock stands still at
 * FIXTURE_NOW unless turned; monotonic time is the machine's own, as the server's threads wait by
 * it.  Four players, anna, boris, clara and dan, and olga, an operator, are there, each with a
 * token of every scope.
 *
 * Threads: the test's.
 */
#ifndef FH_TESTS_HTTP_FIXTURE_H
#define FH_TESTS_HTTP_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "arbiter/arbiter.h"
#include "base/utc.h"
#include "clock/zone.h"
#include "http/http.h"
#include "people/passwords.h"
#include "people/people.h"
#include "store/store.h"
#include "base/buf.h"
#include "store/writer.h"

#define FIXTURE_NOW INT64_C(1796083200000) /* 2026-12-01T00:00:00Z */

enum { FIXTURE_USERS = 5, FIXTURE_OPERATOR = 4 };
extern const char *const fixture_handles[FIXTURE_USERS];
extern const char *const fixture_password; /* everybody's */

struct fixture {
    char dir[256];
    char web[320];
    struct store *store;
    struct writer *writer;
    struct zone_cache *zones;
    struct people people;
    struct passwords *passwords;
    struct arbiter arbiter;
    struct http *http;
    _Atomic(struct http *) hooked; /* whom the writer's hook tells */
    struct http_options options; /* change before fixture_serve() */
    int port, metrics_port;
    char public_url[64];
    int64_t user_ids[FIXTURE_USERS];
    char tokens[FIXTURE_USERS][API_TOKEN_SIZE];
    atomic_llong now;       /* the wall clock */
    atomic_llong stands_ms; /* where the monotonic clock stands; 0: it runs */
};

/* Make everything but the server itself.  Aborts the test program when it cannot. */
void fixture_setup(struct fixture *f);
/* Listen on port 0 of 127.0.0.1 and serve by f->options. */
void fixture_serve(struct fixture *f);
/* Stop the server (it may be served again, on another port). */
void fixture_unserve(struct fixture *f);
void fixture_teardown(struct fixture *f);

/* Put a file into the folder of static files; before fixture_serve(). */
void fixture_put_file(struct fixture *f, const char *name, const char *text);

/* A login link's secret for a user, as if its letter had been composed. */
void fixture_link(struct fixture *f, int user, char ret_secret[SECRET_SIZE]);

#endif

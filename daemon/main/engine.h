/*
 * main/engine.h - the parts that decide and record, put together from the configuration.
 *
 * The daemon and, while no daemon runs, a subcommand that changes something hold the same engine:
 * clock, store, writer, people, arbiter and the intents of notify.  What differs is that the daemon
 * starts the writer's thread and serves, while a subcommand lets the writer work in its own thread.
 *
 * Use: engine_open() … engine_close().  engine_open() takes the database's lock: ST_BUSY when
 * another process has it.
 * Ownership: settings and seams are lent until engine_close().  Threads: open and close on the main
 * thread; the parts as their own headers say.
 */
#ifndef FH_MAIN_ENGINE_H
#define FH_MAIN_ENGINE_H

#include "arbiter/arbiter.h"
#include "clock/clock.h"
#include "clock/zone.h"
#include "main/fourhanded.h"
#include "people/people.h"
#include "settings/settings.h"
#include "store/store.h"
#include "store/writer.h"

struct courier;
struct intake;
struct notify;

enum { PUBLIC_URL_SIZE = 256 };

struct engine {
    const struct settings *settings;
    char public_url[PUBLIC_URL_SIZE]; /* port 0 is replaced once the port is known */
    struct clock clock;
    struct clock_guard guard;
    bool has_guard;
    struct zone_cache *zones;
    struct store *store;
    struct writer *writer;
    struct people people;
    struct arbiter arbiter;
    struct notify *notify;
    struct intake *intake;   /* NULL: no play by mail.  Its thread is the daemon's alone. */
    struct courier *courier; /* the daemon's, while it sends; else NULL.  Lent by serve.c */
};

MUST_CHECK enum status engine_open(struct engine *ret, const struct settings *settings,
                                   const struct main_seams *seams, struct err *err);
void engine_close(struct engine *engine); /* a zeroed one is allowed */

/* Put the port into public_url where that has port 0. */
void engine_port_set(struct engine *engine, int port);

/* The store for reading only, beside a daemon or without one. */
MUST_CHECK enum status store_open_to_read(const struct settings *settings, struct store **ret,
                                          struct err *err);

/* When root runs a subcommand that may make files, become whoever owns the database's folder, so
 * that the daemon can use them. */
MUST_CHECK enum status owner_become(const char *database, struct err *err);

#endif

/*
 * main/admin.h - what an administrator may change, as requests of a verb and named values.
 *
 * A subcommand makes a request; the daemon (over control.sock) or, while none runs, the subcommand
 * itself performs it on an engine.  Every request is one writer command, so it is durable before it
 * is answered.
 *
 * Use: admin_request_init(&rq, "game-credit"); admin_request_add(&rq, "game", id) … then
 * control_call() or admin_perform(); admin_request_release() at the end.
 * Ownership: strings given are copied.  Threads: admin_perform() from any thread but the writer's.
 */
#ifndef FH_MAIN_ADMIN_H
#define FH_MAIN_ADMIN_H

#include "base/buf.h"
#include "base/status.h"
#include "base/utc.h"

struct engine;
struct store_txn;

enum {
    ADMIN_HEAD_MAX = 16 * 1024,        /* bytes of verb, names and values */
    ADMIN_BODY_MAX = 16 * 1024 * 1024, /* … of what follows them: a letter */
    ADMIN_REQUEST_MAX = ADMIN_HEAD_MAX + 1 + ADMIN_BODY_MAX,
    ADMIN_ANSWER_MAX = 512 * 1024,     /* bytes of an answer; a dry run's is the longest */
    ADMIN_VALUES_MAX = 16,
};

/* As it travels: the verb and then name, value, name, value…, each ended by a NUL.  An empty name
 * ends them where a body follows: bytes of any kind, to the end. */
struct admin_request {
    struct buf bytes;
};

void admin_request_init(struct admin_request *rq, const char *verb);
/* value NULL: nothing is added. */
void admin_request_add(struct admin_request *rq, const char *name, const char *value);
/* After all values, once. */
void admin_request_body(struct admin_request *rq, const void *bytes, size_t n);
void admin_request_release(struct admin_request *rq);

/* One that is being performed. */
struct admin_call {
    struct engine *engine;
    const char *verb;
    size_t count;
    struct {
        const char *name, *value;
    } values[ADMIN_VALUES_MAX];
    const char *body; /* NULL: none came */
    size_t body_len;
    struct buf *out; /* what the subcommand prints */
};

/* The value of name, or NULL. */
const char *admin_value(const struct admin_call *call, const char *name);

/* A verb that changes something, inside a writer command. */
struct admin_verb {
    const char *name; /* NULL ends a table */
    /* NULL: there is no command, only `after`, which may make its own. */
    enum status (*run)(struct admin_call *call, struct store_txn *txn, utc_ms now,
                       struct err *err);
    /* After it is durable, on the performing thread; NULL: nothing. */
    enum status (*after)(struct admin_call *call, struct err *err);
};

/* Perform the request of n bytes; out gets the text to print.  more: further verbs, or NULL. */
MUST_CHECK enum status admin_perform(struct engine *engine, const struct admin_verb *more,
                                     const char *bytes, size_t n, struct buf *out,
                                     struct err *err);

#endif

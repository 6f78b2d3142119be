/*
 * main/control.h - control.sock: how subcommands reach the running daemon.
 *
 * A Unix socket of mode 0600; only root and the daemon's own user are heard (SO_PEERCRED).  A
 * connection carries one request and one answer, each a frame: four bytes of length, the most
 * significant first, then so many bytes.  A request is "database=", the path of the database that
 * the subcommand means, a line feed and "device:inode" of its file (both left out where it cannot
 * be seen), a NUL, and then what main/admin.h says.  A daemon that serves another file refuses it:
 * no change goes where it was not meant to go.  An answer is one byte of enum status and the text
 * to print, or the sentence of the error.
 *
 * One thread waits for all connections at once and performs the requests one after another, each
 * when it is whole.  So nobody waits for a connection that is silent; whoever says nothing for
 * CONTROL_TIME_MS, or does not read, is cut off.  While CONTROL_CLIENTS_MAX are open, others wait
 * to be let in; so they do for a second when the process has no descriptors left.
 *
 * Threads: control_claim/_start/_stop on the main thread; control_call() anywhere.
 */
#ifndef FH_MAIN_CONTROL_H
#define FH_MAIN_CONTROL_H

#include "main/admin.h"

enum {
    CONTROL_TIME_MS = 5000,
    CONTROL_ANSWER_MS = 50 * 1000, /* what a subcommand waits, unless it says otherwise */
    CONTROL_PATH_MAX = 107,
    CONTROL_CLIENTS_MAX = 32,
};

struct control;

/* The path is this process's until control_stop(), by path.lock, for a daemon on another
 * database may be told the same path: ST_BUSY when one holds it, or when anybody listens there.  A
 * socket that a dead daemon has left is taken away; ST_INVALID when something else stands there.
 * Nobody is heard yet: claim before the database is touched, start when it serves. */
MUST_CHECK enum status control_claim(const char *path, struct control **ret, struct err *err);
/* Listen there.  engine->settings->database is what requests are compared with. */
MUST_CHECK enum status control_start(struct control *control, struct engine *engine,
                                     const struct admin_verb *more, struct err *err);
/* Ends the request under way, takes the socket away if it is still the one that was made, and gives
 * the path up; also of one that was claimed and never started.  NULL is allowed. */
void control_stop(struct control *control);

/* Have the daemon at path, which serves database, perform the request, within time_ms in all (by
 * the machine's monotonic clock).  ST_NOT_FOUND when no daemon listens there; ST_BUSY when it
 * cannot be reached or is silent – the request may have been performed all the same; ST_CONFLICT
 * when it serves another database; else what the daemon answers, with
 * *out as admin_perform() gives it. */
MUST_CHECK enum status control_call(const char *path, const char *database,
                                    const struct admin_request *rq, int64_t time_ms,
                                    struct buf *out, struct err *err);

#endif

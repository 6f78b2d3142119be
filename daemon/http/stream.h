/*
 * http/stream.h - event streams: SSE and NDJSON, gap-free and resumable.
 *
 * A stream is a position in the numbered events of a game or an account, and a connection.  Its
 * reader (on a pool thread) asks the store for what comes after that position and writes it; when
 * there is nothing it suspends the connection.  hub_commit() notes which games have new events, and
 * the ticker thread resumes the streams that wait for them, as well as those whose heartbeat is
 * due.  Nothing is kept in memory for a stream but its position, so a slow reader costs nothing and
 * misses nothing.
 *
 *      reading --nothing new--> waiting --commit, heartbeat or stop--> reading --stop--> ended
 *
 * Between asking and waiting a commit may come: the hub counts commits, and a stream only waits
 * when the count is still the one it had before it asked.
 *
 * Before each reading the session or token that opened the stream is looked up again: when it has
 * ended, or the account was disabled, the stream ends, at the next event or heartbeat at the
 * latest.  So does one of a game of its players only whose reader is none of those any more, who
 * may see it (arbiter/access.h): he has left it, or his invitation is over.
 *
 * A client that has gone is noticed when something is written to it; where another stream of its
 * owner would be one too many, before that.
 *
 * Threads: streams are read on the pool's; hub_commit() on any; hub_tick() on the ticker's.
 */
#ifndef FH_HTTP_STREAM_H
#define FH_HTTP_STREAM_H

#include "http/render.h"
#include "http/server.h"

enum stream_form { STREAM_SSE, STREAM_NDJSON };

struct stream_wish {
    int64_t game_id; /* 0: the account's */
    struct viewer viewer; /* whose account it is, or who looks on */
    bool is_private;      /* a game of its players only */
    int64_t since;   /* seq of the game, or id */
    enum stream_form form;
    bool is_following; /* false: end when there is no more */
    bool greets;       /* begin with `ready` and the position */
};

MUST_CHECK enum status hub_new(struct http *http, struct hub **ret, struct err *err);
/* After the daemons are stopped. */
void hub_free(struct hub *hub); /* NULL is allowed */

/* Make the answer of r a stream.  REASON_RATE_LIMIT with too many of the account or address. */
MUST_CHECK enum status stream_open(struct request *r, const struct stream_wish *wish,
                                   struct err *err);

/* Events were committed. */
void hub_commit(struct hub *hub, const struct writer_commit *commit);
/* Wake what has something to do.  Returns in how many milliseconds it wants to be called again. */
int hub_tick(struct hub *hub, int64_t now_ms);
/* End all streams. */
void hub_stop(struct hub *hub);

#endif

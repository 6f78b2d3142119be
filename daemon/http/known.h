/*
 * http/known.h - who a token or a cookie is, for those that come again and again.
 *
 * Looking a secret up costs a snapshot of the store, a digest and two rows; a program that polls
 * does it each time.  So the answer is kept, under a keyed fingerprint of the secret, until the
 * people of the database change: the writer's hook tells of each commit that ended a session,
 * revoked a token or touched an account before anybody hears of it, and all is forgotten.
 *
 * Whoever looks a secret up notes known_epoch() before he begins to read the store, and hands it to
 * known_put(): an answer from before a change that came meanwhile is then never used.  An answer
 * holds no longer than people_who.holds_until, and what is changed behind the server's back (by
 * another program) is seen after KNOWN_AGE_MS at the latest.  That a secret is nobody's is not
 * kept: there are too many of those.
 *
 * Bounds: KNOWN_ENTRIES; the oldest of a set makes room.  No secret is in memory here.
 * Time: as each parameter says.  Threads: any.
 */
#ifndef FH_HTTP_KNOWN_H
#define FH_HTTP_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ports.h"
#include "base/status.h"
#include "base/utc.h"
#include "people/people.h"

enum { KNOWN_ENTRIES = 4096, KNOWN_AGE_MS = 10000 };

/* A secret counts only as what it was sent as. */
enum known_kind { KNOWN_TOKEN, KNOWN_COOKIE };

struct known;

/* Draws its key from entropy. */
MUST_CHECK enum status known_new(const struct entropy *entropy, struct known **ret,
                                 struct err *err);
void known_free(struct known *known); /* NULL is allowed */

uint64_t known_epoch(struct known *known);
void known_forget_all(struct known *known);

/* False when it has to be looked up.  now: the wall clock; now_ms: monotonic. */
bool known_get(struct known *known, enum known_kind kind, const char *secret, utc_ms now,
               int64_t now_ms, struct people_who *ret);
void known_put(struct known *known, enum known_kind kind, const char *secret, uint64_t epoch,
               int64_t now_ms, const struct people_who *who);

#endif

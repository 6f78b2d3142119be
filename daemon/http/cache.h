/*
 * http/cache.h - answers about games that are asked for again and again.
 *
 * A game is read far more often than it changes, so its rendered answer is kept for each viewer
 * until the game changes: the writer's hook names the games of each commit before anybody is told
 * of it, so nobody who has heard of a change is shown what was before.
 *
 * Whoever renders an answer notes cache_epoch() before he begins to read the store, and hands it to
 * cache_put(): an answer from before a change that came meanwhile is then never used.  Names of
 * players are part of an answer: a change of anybody's profile is a change of all.  What is
 * changed behind the server's back (a name, by hand) is seen after CACHE_AGE_MS at the latest.
 *
 * Bounds: CACHE_ENTRIES answers of at most CACHE_BODY_MAX bytes.
 * Time: monotonic milliseconds.  Threads: any.
 */
#ifndef FH_HTTP_CACHE_H
#define FH_HTTP_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

enum {
    CACHE_ENTRIES = 6144, /* a thousand games as their four players and lookers-on see them */
    CACHE_BODY_MAX = 4096,
    CACHE_AGE_MS = 10000,
    CACHE_ETAG_SIZE = 32,
    CACHE_ID_SIZE = 12
};

struct cache;

/* Whose answer about which game. */
struct cache_key {
    char public_id[CACHE_ID_SIZE];
    int64_t user_id; /* 0: nobody known */
    bool is_operator;
};

MUST_CHECK enum status cache_new(struct cache **ret, struct err *err);
void cache_free(struct cache *cache); /* NULL is allowed */

uint64_t cache_epoch(struct cache *cache);
void cache_game_changed(struct cache *cache, int64_t game_id);
void cache_all_changed(struct cache *cache);

/* False when there is none that still holds. */
bool cache_get(struct cache *cache, const struct cache_key *key, int64_t now_ms, struct buf *out,
               char ret_etag[CACHE_ETAG_SIZE]);
void cache_put(struct cache *cache, const struct cache_key *key, int64_t game_id, uint64_t epoch,
               int64_t now_ms, const char *body, size_t len, const char *etag);

#endif

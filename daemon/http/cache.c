#include "http/cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { WAYS = 8, SETS = CACHE_ENTRIES / WAYS, GAME_SLOTS = 65536, LOCKS = 64 };

struct entry {
    struct cache_key key;
    int64_t game_id; /* 0: free */
    uint64_t epoch;
    int64_t at_ms;
    char etag[CACHE_ETAG_SIZE];
    char *body;
    size_t len;
};

struct cache {
    atomic_uint_fast64_t epoch;   /* counts changes */
    atomic_uint_fast64_t all_at;  /* the epoch of the last change of everything */
    atomic_uint_fast64_t game_at[GAME_SLOTS]; /* … of the games of a slot */
    pthread_mutex_t locks[LOCKS]; /* of the sets */
    struct entry entries[SETS][WAYS];
};

enum status cache_new(struct cache **ret, struct err *err)
{
    struct cache *cache = calloc(1, sizeof *cache);

    if (!cache)
        return err_reason(err, REASON_NO_MEMORY, "http: no memory for the cache");
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&cache->locks[i], NULL);
    *ret = cache;
    return ST_OK;
}

void cache_free(struct cache *cache)
{
    if (!cache)
        return;
    for (int s = 0; s < SETS; s++)
        for (int w = 0; w < WAYS; w++)
            free(cache->entries[s][w].body);
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&cache->locks[i]);
    free(cache);
}

uint64_t cache_epoch(struct cache *cache)
{
    return atomic_load(&cache->epoch);
}

void cache_game_changed(struct cache *cache, int64_t game_id)
{
    uint64_t epoch = atomic_fetch_add(&cache->epoch, 1) + 1;

    atomic_store(&cache->game_at[game_id % GAME_SLOTS], epoch);
}

void cache_all_changed(struct cache *cache)
{
    uint64_t epoch = atomic_fetch_add(&cache->epoch, 1) + 1;

    atomic_store(&cache->all_at, epoch);
}

static size_t set_of(const struct cache_key *key)
{
    uint64_t h = (uint64_t)key->user_id * UINT64_C(0x9e3779b97f4a7c15) + key->is_operator;

    for (const char *p = key->public_id; *p; p++)
        h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    h ^= h >> 31;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 40) % SETS;
}

static bool is_key_of(const struct entry *entry, const struct cache_key *key)
{
    return entry->game_id && entry->key.user_id == key->user_id &&
           entry->key.is_operator == key->is_operator &&
           strcmp(entry->key.public_id, key->public_id) == 0;
}

static bool is_good(struct cache *cache, const struct entry *entry, int64_t now_ms)
{
    return entry->game_id &&
           atomic_load(&cache->game_at[entry->game_id % GAME_SLOTS]) <= entry->epoch &&
           atomic_load(&cache->all_at) <= entry->epoch && now_ms - entry->at_ms < CACHE_AGE_MS;
}

bool cache_get(struct cache *cache, const struct cache_key *key, int64_t now_ms, struct buf *out,
               char ret_etag[CACHE_ETAG_SIZE])
{
    size_t set = set_of(key);
    bool is_found = false;

    pthread_mutex_lock(&cache->locks[set % LOCKS]);
    for (int w = 0; w < WAYS && !is_found; w++) {
        const struct entry *entry = &cache->entries[set][w];

        if (!is_key_of(entry, key) || !is_good(cache, entry, now_ms))
            continue;
        buf_add(out, entry->body, entry->len);
        memcpy(ret_etag, entry->etag, CACHE_ETAG_SIZE);
        is_found = true;
    }
    pthread_mutex_unlock(&cache->locks[set % LOCKS]);
    return is_found && !buf_failed(out);
}

void cache_put(struct cache *cache, const struct cache_key *key, int64_t game_id, uint64_t epoch,
               int64_t now_ms, const char *body, size_t len, const char *etag)
{
    size_t set = set_of(key);
    struct entry *place = NULL, *oldest = &cache->entries[set][0];
    char *copy;

    if (len > CACHE_BODY_MAX || strlen(etag) >= CACHE_ETAG_SIZE)
        return;
    copy = malloc(len + 1);
    if (!copy)
        return;
    memcpy(copy, body, len);
    pthread_mutex_lock(&cache->locks[set % LOCKS]);
    for (int w = 0; w < WAYS && !place; w++) {
        struct entry *entry = &cache->entries[set][w];

        if (is_key_of(entry, key))
            place = entry;
        else if (oldest->game_id && (!entry->game_id || entry->at_ms < oldest->at_ms))
            oldest = entry;
    }
    if (!place)
        place = oldest;
    /* Two may have rendered it at once: the one that began to read later knows more. */
    if (!is_key_of(place, key) || place->epoch <= epoch) {
        free(place->body);
        place->key = *key;
        place->game_id = game_id;
        place->epoch = epoch;
        place->at_ms = now_ms;
        place->body = copy;
        place->len = len;
        str_copy(place->etag, sizeof place->etag, etag);
        copy = NULL;
    }
    pthread_mutex_unlock(&cache->locks[set % LOCKS]);
    free(copy);
}

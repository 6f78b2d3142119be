/*
 * http/known.c - see known.h.
 */
#include "http/known.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { WAYS = 4, SETS = KNOWN_ENTRIES / WAYS, LOCKS = 64, SECRET_MOST = API_TOKEN_SIZE - 1 };

struct entry {
    unsigned char print[FINGERPRINT_SIZE];
    struct people_who who; /* user_id 0: free */
    uint64_t epoch;
    int64_t at_ms;
};

struct known {
    unsigned char key[FINGERPRINT_KEY_SIZE];
    atomic_uint_fast64_t epoch;   /* counts changes */
    pthread_mutex_t locks[LOCKS]; /* of the sets */
    struct entry entries[SETS][WAYS];
};

enum status known_new(const struct entropy *entropy, struct known **ret, struct err *err)
{
    struct known *known = calloc(1, sizeof *known);

    if (!known)
        return err_reason(err, REASON_NO_MEMORY, "http: no memory for who is known");
    entropy->fill(entropy->arg, known->key, sizeof known->key);
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&known->locks[i], NULL);
    *ret = known;
    return ST_OK;
}

void known_free(struct known *known)
{
    if (!known)
        return;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_destroy(&known->locks[i]);
    free(known);
}

uint64_t known_epoch(struct known *known)
{
    return atomic_load(&known->epoch);
}

void known_forget_all(struct known *known)
{
    (void)atomic_fetch_add(&known->epoch, 1);
}

/* Where a secret belongs; false for what is too long to be one. */
static bool find_set(const struct known *known, enum known_kind kind, const char *secret,
                     unsigned char ret_print[FINGERPRINT_SIZE], size_t *ret_set)
{
    char bytes[1 + SECRET_MOST];
    size_t n = strlen(secret), set = 0;

    if (n > SECRET_MOST)
        return false;
    bytes[0] = (char)kind;
    memcpy(bytes + 1, secret, n);
    fingerprint_make(known->key, bytes, n + 1, ret_print);
    for (int i = 0; i < 4; i++)
        set = set << 8 | ret_print[i];
    *ret_set = set % SETS;
    return true;
}

static bool is_of(const struct entry *entry, const unsigned char print[FINGERPRINT_SIZE])
{
    return entry->who.user_id && memcmp(entry->print, print, FINGERPRINT_SIZE) == 0;
}

bool known_get(struct known *known, enum known_kind kind, const char *secret, utc_ms now,
               int64_t now_ms, struct people_who *ret)
{
    unsigned char print[FINGERPRINT_SIZE];
    bool is_found = false;
    size_t set;

    if (!find_set(known, kind, secret, print, &set))
        return false;
    pthread_mutex_lock(&known->locks[set % LOCKS]);
    for (int w = 0; w < WAYS && !is_found; w++) {
        const struct entry *entry = &known->entries[set][w];

        if (!is_of(entry, print) || entry->epoch != atomic_load(&known->epoch) ||
            now >= entry->who.holds_until || now_ms - entry->at_ms >= KNOWN_AGE_MS)
            continue;
        *ret = entry->who;
        is_found = true;
    }
    pthread_mutex_unlock(&known->locks[set % LOCKS]);
    return is_found;
}

void known_put(struct known *known, enum known_kind kind, const char *secret, uint64_t epoch,
               int64_t now_ms, const struct people_who *who)
{
    unsigned char print[FINGERPRINT_SIZE];
    struct entry *place = NULL, *oldest;
    size_t set;

    if (!find_set(known, kind, secret, print, &set))
        return;
    oldest = &known->entries[set][0];
    pthread_mutex_lock(&known->locks[set % LOCKS]);
    for (int w = 0; w < WAYS && !place; w++) {
        struct entry *entry = &known->entries[set][w];

        if (is_of(entry, print))
            place = entry;
        else if (oldest->who.user_id && (!entry->who.user_id || entry->at_ms < oldest->at_ms))
            oldest = entry;
    }
    if (!place)
        place = oldest;
    /* Two may have looked it up at once: the one that began later knows more. */
    if (!is_of(place, print) || place->epoch <= epoch) {
        memcpy(place->print, print, sizeof place->print);
        place->who = *who;
        place->epoch = epoch;
        place->at_ms = now_ms;
    }
    pthread_mutex_unlock(&known->locks[set % LOCKS]);
}

#include "http/rate.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { WAYS = 8 };

/*
 * A token is window_ms units, and quota units come back each millisecond: whole numbers, so that
 * nothing is lost however often a bucket is looked at.
 */
struct bucket {
    uint64_t key;       /* 0: free */
    int64_t units;      /* left at at_ms */
    int64_t at_ms;      /* monotonic */
    int64_t full_at_ms; /* when it will be full again: what makes a bucket worth keeping */
};

struct rate {
    struct rate_policy policies[RATE_CLASSES];
    pthread_mutex_t lock;
    uint64_t salt;
    size_t sets; /* a power of two */
    struct bucket buckets[];
};

enum status rate_new(const struct rate_policy policies[RATE_CLASSES], size_t buckets,
                     uint64_t salt, struct rate **ret, struct err *err)
{
    size_t sets = 1;
    struct rate *rate;

    while (sets * WAYS < buckets)
        sets *= 2;
    rate = calloc(1, sizeof *rate + sets * WAYS * sizeof rate->buckets[0]);
    if (!rate)
        return err_reason(err, REASON_NO_MEMORY, "rate limits: %zu buckets", sets * WAYS);
    if (pthread_mutex_init(&rate->lock, NULL) != 0) {
        free(rate);
        return err_reason(err, REASON_NO_MEMORY, "rate limits: no lock");
    }
    for (int i = RATE_NONE + 1; i < RATE_CLASSES; i++) {
        assert(policies[i].quota > 0 && policies[i].window_ms > 0);
        rate->policies[i] = policies[i];
    }
    rate->salt = salt;
    rate->sets = sets;
    *ret = rate;
    return ST_OK;
}

void rate_free(struct rate *rate)
{
    if (!rate)
        return;
    pthread_mutex_destroy(&rate->lock);
    free(rate);
}

const struct rate_policy *rate_policy(const struct rate *rate, enum rate_class class)
{
    return &rate->policies[class];
}

/* Units there are now, without overflowing after a long time. */
static int64_t units_at(const struct bucket *bucket, const struct rate_policy *policy,
                        int64_t now_ms)
{
    int64_t passed = now_ms - bucket->at_ms;
    int64_t full = policy->quota * policy->window_ms;
    int64_t units;

    if (passed >= policy->window_ms)
        return full;
    units = bucket->units + (passed > 0 ? passed : 0) * policy->quota;
    return units > full ? full : units;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

struct rate_answer rate_take(struct rate *rate, enum rate_class class, uint64_t who,
                             int64_t now_ms)
{
    const struct rate_policy *policy = &rate->policies[class];
    const int64_t full = policy->quota * policy->window_ms;
    uint64_t key = mix((mix(who) + (uint64_t)class) ^ rate->salt) | 1;
    struct bucket *set = &rate->buckets[(key >> 8 & (rate->sets - 1)) * WAYS];
    struct bucket *found = NULL, *worst = &set[0];
    struct rate_answer answer = {.is_allowed = false};

    assert(class != RATE_NONE);
    pthread_mutex_lock(&rate->lock);
    for (int i = 0; i < WAYS && !found; i++) {
        if (set[i].key == key)
            found = &set[i];
        else if (worst->key != 0 && (set[i].key == 0 || set[i].full_at_ms < worst->full_at_ms))
            worst = &set[i];
    }
    if (!found) {
        found = worst;
        *found = (struct bucket){.key = key, .units = full, .at_ms = now_ms};
    } else if (now_ms > found->at_ms) {
        found->units = units_at(found, policy, now_ms);
        found->at_ms = now_ms;
    }
    if (found->units >= policy->window_ms) {
        found->units -= policy->window_ms;
        answer.is_allowed = true;
    }
    found->full_at_ms = now_ms + (full - found->units) / policy->quota;
    answer.remaining = found->units / policy->window_ms;
    if (found->units < full) {
        int64_t missing = policy->window_ms - found->units % policy->window_ms;

        answer.wait_s = (missing + policy->quota * 1000 - 1) / (policy->quota * 1000);
    }
    pthread_mutex_unlock(&rate->lock);
    return answer;
}

/* Answers kept until their game changes. */
#include "support/harness.h"

#include <string.h>

#include "http/cache.h"

static const struct cache_key anna = {.public_id = "7k2m9qx4", .user_id = 1};
static const struct cache_key stranger = {.public_id = "7k2m9qx4"};
enum { GAME = 5 };

static struct cache *cache_made(void)
{
    struct cache *cache = NULL;
    struct err err = ERR_INIT;

    assert_ok(cache_new(&cache, &err), err);
    return cache;
}

static bool finds(struct cache *cache, const struct cache_key *key, int64_t now_ms,
                  const char *want)
{
    struct buf out = buf_make(CACHE_BODY_MAX);
    char etag[CACHE_ETAG_SIZE];
    bool is_found = cache_get(cache, key, now_ms, &out, etag);

    if (is_found) {
        assert_string_equal(out.data, want);
        assert_string_equal(etag, "\"tag\"");
    }
    buf_release(&out);
    return is_found;
}

static void put(struct cache *cache, const struct cache_key *key, uint64_t epoch, int64_t now_ms,
                const char *body)
{
    cache_put(cache, key, GAME, epoch, now_ms, body, strlen(body), "\"tag\"");
}

static void test_an_answer_is_each_viewers_own(void **state)
{
    struct cache *cache = cache_made();
    struct cache_key operator_key = anna;

    (void)state;
    operator_key.is_operator = true;
    assert_false(finds(cache, &anna, 0, ""));
    put(cache, &anna, cache_epoch(cache), 0, "hers");
    assert_true(finds(cache, &anna, 0, "hers"));
    assert_false(finds(cache, &stranger, 0, ""));
    assert_false(finds(cache, &operator_key, 0, ""));
    cache_free(cache);
}

static void test_a_change_of_its_game_ends_it_and_of_another_does_not(void **state)
{
    struct cache *cache = cache_made();

    (void)state;
    put(cache, &anna, cache_epoch(cache), 0, "before");
    cache_game_changed(cache, GAME + 1);
    assert_true(finds(cache, &anna, 0, "before"));
    cache_game_changed(cache, GAME);
    assert_false(finds(cache, &anna, 0, ""));
    put(cache, &anna, cache_epoch(cache), 0, "after");
    assert_true(finds(cache, &anna, 0, "after"));
    cache_all_changed(cache);
    assert_false(finds(cache, &anna, 0, ""));
    cache_free(cache);
}

static void test_what_was_read_before_a_change_is_never_used_after_it(void **state)
{
    struct cache *cache = cache_made();
    uint64_t before = cache_epoch(cache);

    (void)state;
    cache_game_changed(cache, GAME); /* while somebody renders what he has read */
    put(cache, &anna, before, 0, "stale");
    assert_false(finds(cache, &anna, 0, ""));
    /* Nor does it push out what was read later. */
    put(cache, &anna, cache_epoch(cache), 0, "fresh");
    put(cache, &anna, before, 0, "stale");
    assert_true(finds(cache, &anna, 0, "fresh"));
    cache_free(cache);
}

static void test_an_answer_ages(void **state)
{
    struct cache *cache = cache_made();

    (void)state;
    put(cache, &anna, cache_epoch(cache), 100, "old");
    assert_true(finds(cache, &anna, 100 + CACHE_AGE_MS - 1, "old"));
    assert_false(finds(cache, &anna, 100 + CACHE_AGE_MS, ""));
    cache_free(cache);
}

static void test_what_is_too_large_is_not_kept_and_many_do_not_grow_it(void **state)
{
    struct cache *cache = cache_made();
    char big[CACHE_BODY_MAX + 2];
    int found = 0;

    (void)state;
    memset(big, 'x', sizeof big);
    big[sizeof big - 1] = '\0';
    put(cache, &anna, cache_epoch(cache), 0, big);
    assert_false(finds(cache, &anna, 0, ""));
    for (int i = 1; i <= 3 * CACHE_ENTRIES; i++)
        put(cache, &(struct cache_key){.public_id = "7k2m9qx4", .user_id = i},
            cache_epoch(cache), i, "x");
    for (int i = 1; i <= 3 * CACHE_ENTRIES; i++)
        found += finds(cache, &(struct cache_key){.public_id = "7k2m9qx4", .user_id = i}, 0, "x");
    assert_true(found > 0 && found <= CACHE_ENTRIES);
    cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer_is_each_viewers_own),
        cmocka_unit_test(test_a_change_of_its_game_ends_it_and_of_another_does_not),
        cmocka_unit_test(test_what_was_read_before_a_change_is_never_used_after_it),
        cmocka_unit_test(test_an_answer_ages),
        cmocka_unit_test(test_what_is_too_large_is_not_kept_and_many_do_not_grow_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

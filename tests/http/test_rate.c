/* Token buckets: what comes back, when, and who is forgotten first. */
#include "support/harness.h"

#include "http/rate.h"

enum { QUOTA = 5, WINDOW = 60000, EACH = WINDOW / QUOTA };

static struct rate *rate_of(int64_t quota, int64_t window_ms, size_t buckets)
{
    struct rate *rate = NULL;
    struct err err = ERR_INIT;
    struct rate_policy policies[RATE_CLASSES] = {
        [RATE_REQUESTS] = {"requests", quota, window_ms},
        [RATE_LOGINS] = {"logins", 30, 3600000},
        [RATE_KEYS] = {"keys", 2000, 86400000},
    };

    assert_ok(rate_new(policies, buckets, 42, &rate, &err), err);
    return rate;
}

static bool takes(struct rate *rate, uint64_t who, int64_t now_ms)
{
    return rate_take(rate, RATE_REQUESTS, who, now_ms).is_allowed;
}

static void test_a_full_bucket_gives_its_quota_and_no_more(void **state)
{
    struct rate *rate = rate_of(QUOTA, WINDOW, 64);

    (void)state;
    for (int i = 0; i < QUOTA; i++) {
        struct rate_answer answer = rate_take(rate, RATE_REQUESTS, 1, 1000);

        assert_true(answer.is_allowed);
        assert_int_equal(answer.remaining, QUOTA - 1 - i);
    }
    assert_false(takes(rate, 1, 1000));
    assert_true(takes(rate, 2, 1000)); /* others have their own */
    rate_free(rate);
}

static void test_a_token_comes_back_at_its_millisecond(void **state)
{
    struct rate *rate = rate_of(QUOTA, WINDOW, 64);
    struct rate_answer answer;

    (void)state;
    for (int i = 0; i < QUOTA; i++)
        assert_true(takes(rate, 1, 0));
    answer = rate_take(rate, RATE_REQUESTS, 1, 0);
    assert_false(answer.is_allowed);
    assert_int_equal(answer.wait_s, EACH / 1000);
    assert_false(takes(rate, 1, EACH - 1));
    assert_true(takes(rate, 1, EACH));
    assert_false(takes(rate, 1, EACH));
    rate_free(rate);
}

static void test_asking_often_loses_nothing_of_what_comes_back(void **state)
{
    struct rate *rate = rate_of(30, 3600000, 64); /* a token in two minutes */
    int got = 0;

    (void)state;
    for (int i = 0; i < 30; i++)
        assert_true(takes(rate, 1, 0));
    for (int64_t ms = 1; ms <= 240000; ms++)
        got += takes(rate, 1, ms);
    assert_int_equal(got, 2);
    rate_free(rate);
}

static void test_a_bucket_never_holds_more_than_its_quota(void **state)
{
    struct rate *rate = rate_of(QUOTA, WINDOW, 64);
    int got = 0;

    (void)state;
    assert_true(takes(rate, 1, 0));
    for (int i = 0; i < 100; i++)
        got += takes(rate, 1, INT64_C(1000000000000));
    assert_int_equal(got, QUOTA);
    rate_free(rate);
}

static void test_classes_do_not_share_a_bucket(void **state)
{
    struct rate *rate = rate_of(1, WINDOW, 64);

    (void)state;
    assert_true(takes(rate, 1, 0));
    assert_false(takes(rate, 1, 0));
    assert_true(rate_take(rate, RATE_LOGINS, 1, 0).is_allowed);
    rate_free(rate);
}

static void test_the_busiest_is_forgotten_last(void **state)
{
    struct rate *rate = rate_of(QUOTA, WINDOW, 8); /* one set of eight */

    (void)state;
    for (int i = 0; i < QUOTA; i++)
        assert_true(takes(rate, 1, 0));
    for (uint64_t who = 2; who < 1000; who++)
        assert_true(takes(rate, who, 0));
    assert_false(takes(rate, 1, 0)); /* a crowd of strangers has not washed it away */
    rate_free(rate);
}

static void test_time_that_goes_back_gives_nothing(void **state)
{
    struct rate *rate = rate_of(1, WINDOW, 64);

    (void)state;
    assert_true(takes(rate, 1, 100000));
    assert_false(takes(rate, 1, 0));
    assert_false(takes(rate, 1, 100000 + WINDOW - 1));
    assert_true(takes(rate, 1, 100000 + WINDOW));
    rate_free(rate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_bucket_gives_its_quota_and_no_more),
        cmocka_unit_test(test_a_token_comes_back_at_its_millisecond),
        cmocka_unit_test(test_asking_often_loses_nothing_of_what_comes_back),
        cmocka_unit_test(test_a_bucket_never_holds_more_than_its_quota),
        cmocka_unit_test(test_classes_do_not_share_a_bucket),
        cmocka_unit_test(test_the_busiest_is_forgotten_last),
        cmocka_unit_test(test_time_that_goes_back_gives_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

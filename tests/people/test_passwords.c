#include "support/harness.h"

#include <pthread.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "people/passwords.h"
#include "people/people.h"

/* Where done() leaves what it heard, and the test waits for it. */
struct heard {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    int calls;
    struct password_result last;
    bool is_held; /* done() waits while it is: the queue fills up behind it */
};
#define HEARD_INIT                                                                                 \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER                        \
    }

static void on_done(void *arg, const struct password_result *result)
{
    struct heard *h = arg;

    pthread_mutex_lock(&h->lock);
    h->last = *result;
    h->calls++;
    pthread_cond_broadcast(&h->cond);
    while (h->is_held)
        pthread_cond_wait(&h->cond, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

static void heard_wait(struct heard *h, int calls)
{
    pthread_mutex_lock(&h->lock);
    while (h->calls < calls)
        pthread_cond_wait(&h->cond, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

static struct passwords *cheap(void)
{
    struct passwords *p = passwords_new(PASSWORDS_COST_LEAST);

    assert_non_null(p);
    return p;
}

static void test_the_right_password_is_taken_and_a_wrong_one_refused(void **state)
{
    struct passwords *p = cheap();
    struct heard h = HEARD_INIT;
    char hash[PASSWORD_HASH_SIZE];
    struct err err = ERR_INIT;

    (void)state;
    assert_ok(passwords_hash_now(PASSWORDS_COST_LEAST, "long enough", hash, &err), err);
    assert_true(str_starts(hash, "$argon2id$"));
    assert_ok(passwords_check(p, hash, "long enough", on_done, &h, &err), err);
    heard_wait(&h, 1);
    assert_int_equal(h.last.st, ST_OK);
    assert_false(h.last.has_new_hash);
    assert_ok(passwords_check(p, hash, "long enougH", on_done, &h, &err), err);
    heard_wait(&h, 2);
    assert_int_equal(h.last.st, ST_UNAUTHENTICATED);
    assert_int_equal(h.last.err.reason, REASON_BAD_CREDENTIALS);
    passwords_free(p);
}

static void test_an_unknown_account_is_checked_against_the_dummy_and_refused(void **state)
{
    struct passwords *p = cheap();
    struct heard h = HEARD_INIT;
    struct err err = ERR_INIT;

    (void)state;
    assert_true(str_starts(passwords_dummy(p), "$argon2id$"));
    assert_ok(passwords_check(p, "", "", on_done, &h, &err), err);
    heard_wait(&h, 1);
    assert_int_equal(h.last.st, ST_UNAUTHENTICATED);
    passwords_free(p);
}

/* Else a refusal would be quicker for names that nobody has. */
static void test_the_dummy_is_a_record_as_of_any_password(void **state)
{
    static const struct passwords_cost costs[] = {{1, 8192}, {2, 64 * 1024 * 1024}, {3, 1 << 20}};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(costs); i++) {
        struct passwords *p = passwords_new(costs[i]), *other = passwords_new(costs[i]);
        char made[PASSWORD_HASH_SIZE];
        const char *dummy, *cost_end;

        assert_non_null(p);
        assert_non_null(other);
        dummy = passwords_dummy(p);
        assert_ok(passwords_hash_now(costs[i], "long enough", made, &err), err);
        assert_int_equal(strlen(dummy), strlen(made));
        cost_end = strstr(made, ",p=1$");
        assert_non_null(cost_end);
        assert_memory_equal(dummy, made, (size_t)(cost_end - made) + 5);
        assert_int_equal(
            crypto_pwhash_str_needs_rehash(dummy, costs[i].passes, costs[i].memory), 0);
        assert_string_not_equal(dummy, passwords_dummy(other));
        passwords_free(p);
        passwords_free(other);
    }
}

static void test_a_hash_of_another_cost_is_made_anew_at_login(void **state)
{
    struct passwords_cost dearer = {.passes = 2, .memory = 16384};
    struct passwords *p = passwords_new(dearer);
    struct heard h = HEARD_INIT;
    char hash[PASSWORD_HASH_SIZE];
    struct err err = ERR_INIT;

    (void)state;
    assert_ok(passwords_hash_now(PASSWORDS_COST_LEAST, "long enough", hash, &err), err);
    assert_ok(passwords_check(p, hash, "wrong password", on_done, &h, &err), err);
    heard_wait(&h, 1);
    assert_false(h.last.has_new_hash);
    assert_ok(passwords_check(p, hash, "long enough", on_done, &h, &err), err);
    heard_wait(&h, 2);
    assert_int_equal(h.last.st, ST_OK);
    assert_true(h.last.has_new_hash);
    assert_int_equal(crypto_pwhash_str_verify(h.last.new_hash, "long enough", 11), 0);
    assert_int_equal(
        crypto_pwhash_str_needs_rehash(h.last.new_hash, dearer.passes, dearer.memory), 0);
    passwords_free(p);
}

static void test_a_change_wants_the_old_password_where_there_is_one(void **state)
{
    struct passwords *p = cheap();
    struct heard h = HEARD_INIT;
    char hash[PASSWORD_HASH_SIZE];
    struct err err = ERR_INIT;

    (void)state;
    assert_ok(passwords_hash_now(PASSWORDS_COST_LEAST, "long enough", hash, &err), err);
    assert_ok(passwords_change(p, hash, "not the old", "another one", on_done, &h, &err), err);
    heard_wait(&h, 1);
    assert_int_equal(h.last.st, ST_UNAUTHENTICATED);
    assert_false(h.last.has_new_hash);
    assert_ok(passwords_change(p, hash, NULL, "another one", on_done, &h, &err), err);
    heard_wait(&h, 2);
    assert_int_equal(h.last.st, ST_UNAUTHENTICATED);
    assert_ok(passwords_change(p, hash, "long enough", "another one", on_done, &h, &err), err);
    heard_wait(&h, 3);
    assert_int_equal(h.last.st, ST_OK);
    assert_int_equal(crypto_pwhash_str_verify(h.last.new_hash, "another one", 11), 0);
    assert_ok(passwords_change(p, NULL, NULL, "a first one", on_done, &h, &err), err);
    heard_wait(&h, 4);
    assert_int_equal(h.last.st, ST_OK);
    assert_int_equal(crypto_pwhash_str_verify(h.last.new_hash, "a first one", 11), 0);
    passwords_free(p);
}

static void test_a_full_queue_is_told_and_what_waits_is_still_done(void **state)
{
    struct passwords *p = cheap();
    struct heard h = HEARD_INIT;
    struct err err = ERR_INIT;

    (void)state;
    h.is_held = true;
    assert_ok(passwords_check(p, "", "first", on_done, &h, &err), err);
    heard_wait(&h, 1); /* the worker is in done(): nothing leaves the queue */
    for (int i = 0; i < PASSWORDS_QUEUE_MAX; i++)
        assert_ok(passwords_check(p, "", "waiting", on_done, &h, &err), err);
    assert_st(passwords_check(p, "", "one more", on_done, &h, &err), ST_BUSY, err);
    assert_int_equal(err.reason, REASON_BUSY);
    pthread_mutex_lock(&h.lock);
    h.is_held = false;
    pthread_cond_broadcast(&h.cond);
    pthread_mutex_unlock(&h.lock);
    passwords_free(p);
    assert_int_equal(h.calls, 1 + PASSWORDS_QUEUE_MAX);
}

static void test_an_endless_password_is_refused_before_it_is_hashed(void **state)
{
    struct passwords *p = cheap();
    char endless[PASSWORD_MAX + 2];
    struct err err = ERR_INIT;

    (void)state;
    memset(endless, 'x', sizeof endless);
    endless[PASSWORD_MAX + 1] = '\0';
    assert_st(passwords_check(p, "", endless, on_done, NULL, &err), ST_TOO_LARGE, err);
    passwords_free(p);
}

static void test_passwords_that_anybody_tries_first_are_refused(void **state)
{
    static const char *const good[] = {"correct horse battery",
                                       "\xd0\xbf\xd0\xb0\xd1\x80\xd0\xbe\xd0\xbb\xd1\x8c-123",
                                       "annaannaannaX9", "tenletters"};
    static const char *const bad[] = {"", "short", "ninechars", "aaaaaaaaaaaaaaa", "Password123",
                                      "1234567890", "xxannaxx12",
                                      "bad\xff utf8 bytes"};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_ok(password_is_fit(good[i], "anna", &err), err);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        if (password_is_fit(bad[i], "xxannaxx", &err) != ST_INVALID)
            fail_msg("%s", bad[i]);
        assert_int_equal(err.reason, REASON_BAD_FIELD);
        if (bad[i][0])
            assert_null(strstr(err.text, bad[i])); /* it is not repeated */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_right_password_is_taken_and_a_wrong_one_refused),
        cmocka_unit_test(test_an_unknown_account_is_checked_against_the_dummy_and_refused),
        cmocka_unit_test(test_the_dummy_is_a_record_as_of_any_password),
        cmocka_unit_test(test_a_hash_of_another_cost_is_made_anew_at_login),
        cmocka_unit_test(test_a_change_wants_the_old_password_where_there_is_one),
        cmocka_unit_test(test_a_full_queue_is_told_and_what_waits_is_still_done),
        cmocka_unit_test(test_an_endless_password_is_refused_before_it_is_hashed),
        cmocka_unit_test(test_passwords_that_anybody_tries_first_are_refused),
    };
    struct err err = ERR_INIT;

    if (people_init(&err) != ST_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Pictures: drawn one at a time by a thread of their own, kept within bounds. */
#include "support/harness.h"

#include <pthread.h>
#include <string.h>

#include "base/str.h"
#include "http/pictures.h"

static struct pictures *pictures_made(void)
{
    struct pictures *pictures = NULL;
    struct err err = ERR_INIT;

    assert_ok(pictures_new(&pictures, &err), err);
    return pictures;
}

static void key_of(unsigned n, unsigned char ret[DIGEST_SIZE])
{
    memset(ret, 0, DIGEST_SIZE);
    memcpy(ret, &n, sizeof n);
}

static bool has(struct pictures *pictures, unsigned n, const char *want)
{
    struct buf out = buf_make(PICTURES_BYTES);
    unsigned char key[DIGEST_SIZE];
    bool is_there;

    key_of(n, key);
    is_there = pictures_get(pictures, key, &out);
    if (is_there && want)
        assert_string_equal(out.data, want);
    buf_release(&out);
    return is_there;
}

static void put(struct pictures *pictures, unsigned n, const char *bytes, size_t len)
{
    unsigned char key[DIGEST_SIZE];

    key_of(n, key);
    pictures_put(pictures, key, bytes, len);
}

static void test_a_picture_is_kept_and_found_by_its_key(void **state)
{
    struct pictures *pictures = pictures_made();

    (void)state;
    assert_false(has(pictures, 1, NULL));
    put(pictures, 1, "one", 3);
    put(pictures, 2, "two", 3);
    put(pictures, 1, "again", 5); /* what is there stays */
    assert_true(has(pictures, 1, "one"));
    assert_true(has(pictures, 2, "two"));
    assert_false(has(pictures, 3, NULL));
    pictures_free(pictures);
    pictures_free(NULL);
}

static void test_the_one_unused_longest_makes_room(void **state)
{
    struct pictures *pictures = pictures_made();

    (void)state;
    for (unsigned i = 0; i < PICTURES_MAX; i++)
        put(pictures, i, "x", 1);
    assert_true(has(pictures, 0, "x")); /* used: 1 is the oldest now */
    put(pictures, PICTURES_MAX, "y", 1);
    assert_true(has(pictures, 0, "x"));
    assert_false(has(pictures, 1, NULL));
    assert_true(has(pictures, 2, "x"));
    assert_true(has(pictures, PICTURES_MAX, "y"));
    pictures_free(pictures);
}

static void test_bytes_are_bounded_too(void **state)
{
    static char bytes[PICTURES_BYTES / 4 + 1];
    struct pictures *pictures = pictures_made();

    (void)state;
    memset(bytes, 'x', sizeof bytes);
    put(pictures, 0, bytes, sizeof bytes); /* too large to be kept at all */
    assert_false(has(pictures, 0, NULL));
    for (unsigned i = 1; i <= 4; i++)
        put(pictures, i, bytes, sizeof bytes - 1);
    assert_true(has(pictures, 1, NULL)); /* exactly full */
    put(pictures, 5, "x", 1);
    assert_false(has(pictures, 2, NULL));
    assert_true(has(pictures, 1, NULL));
    assert_true(has(pictures, 3, NULL));
    assert_true(has(pictures, 5, "x"));
    pictures_free(pictures);
}

struct slow_job {
    struct picture_job job; /* first: it is found by it */
    pthread_mutex_t *gate;
    int *n_done;
};

static void paint_slowly(struct picture_job *job)
{
    struct slow_job *slow = (struct slow_job *)job;

    pthread_mutex_lock(slow->gate);
    ++*slow->n_done;
    pthread_mutex_unlock(slow->gate);
}

static void test_more_than_may_wait_are_refused_and_all_others_are_done(void **state)
{
    static struct slow_job jobs[PICTURES_QUEUE_MAX + 2];
    struct pictures *pictures = pictures_made();
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    struct err err = ERR_INIT;
    int n_done = 0, n_taken = 0, n_refused = 0;

    (void)state;
    pthread_mutex_lock(&gate); /* the painter gets stuck in the first one */
    for (size_t i = 0; i < COUNT_OF(jobs); i++) {
        jobs[i] = (struct slow_job){.job = {.paint = paint_slowly}, .gate = &gate,
                                    .n_done = &n_done};
        if (pictures_submit(pictures, &jobs[i].job, &err) == ST_OK)
            n_taken++;
        else
            n_refused++;
    }
    /* One may have been begun already: then it does not wait any more. */
    assert_in_range(n_taken, PICTURES_QUEUE_MAX, PICTURES_QUEUE_MAX + 1);
    assert_true(n_refused >= 1);
    assert_int_equal(err.reason, REASON_BUSY);
    pthread_mutex_unlock(&gate);
    pictures_free(pictures);
    assert_int_equal(n_done, n_taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_picture_is_kept_and_found_by_its_key),
        cmocka_unit_test(test_the_one_unused_longest_makes_room),
        cmocka_unit_test(test_bytes_are_bounded_too),
        cmocka_unit_test(test_more_than_may_wait_are_refused_and_all_others_are_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

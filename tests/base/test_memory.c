/* base/test_memory.c - memory at a border, and what the heaps keep (not of the sanitizers' own). */
#include "support/harness.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/memory.h"
#include "base/str.h"

#if defined(__SANITIZE_ADDRESS__)
#define OTHER_HEAP
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OTHER_HEAP
#endif
#endif

static void test_memory_begins_at_a_border_and_holds_nothing(void **state)
{
    static const size_t sizes[] = {1, MEMORY_BORDER - 1, MEMORY_BORDER, MEMORY_BORDER + 1, 10000};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        /* Twice, so that the second may get what was written to. */
        for (int round = 0; round < 2; round++) {
            unsigned char *bytes = memory_aligned(sizes[i]);

            assert_non_null(bytes);
            assert_int_equal((uintptr_t)bytes % MEMORY_BORDER, 0);
            for (size_t j = 0; j < sizes[i]; j++) {
                assert_int_equal(bytes[j], 0);
                bytes[j] = 0xff;
            }
            free(bytes);
        }
    }
}

static void test_a_size_that_no_border_can_follow_is_refused(void **state)
{
    volatile size_t most = SIZE_MAX;

    (void)state;
    assert_null(memory_aligned(most));
}

#if !defined(OTHER_HEAP)
/* Pages that the kernel gave to fill two blocks of n bytes and give them back. */
static long pages_of(size_t n)
{
    struct rusage before, after;
    char *a, *b;

    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    a = malloc(n);
    b = malloc(n);
    assert_true(a != NULL && b != NULL);
    memset(a, 1, n);
    memset(b, 2, n);
    assert_int_equal(a[n / 2], 1);
    assert_int_equal(b[n / 2], 2);
    free(a);
    free(b);
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    return after.ru_minflt - before.ru_minflt;
}

/* P29: a letter's buffers are filled in pages that are there. */
static void test_what_a_letter_took_serves_the_next(void **state)
{
    (void)state;
    memory_tune();
    (void)pages_of(1 << 20);
    (void)pages_of(3 << 20);
    for (int round = 0; round < 5; round++) {
        assert_true(pages_of(1 << 20) < 16); /* of 512 */
        assert_true(pages_of(3 << 20) < 16);
    }
}

/* What is beyond the bound goes back: it has to be given anew. */
static void test_a_block_too_large_to_keep_goes_back(void **state)
{
    struct rusage before, after;
    size_t n = 2 * (size_t)MEMORY_KEPT;

    (void)state;
    memory_tune();
    for (int round = 0; round < 2; round++) {
        char *bytes;

        assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
        bytes = malloc(n);
        assert_non_null(bytes);
        memset(bytes, 1, n);
        assert_int_equal(bytes[n / 2], 1);
        free(bytes);
        assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    }
    assert_true(after.ru_minflt > before.ru_minflt);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_begins_at_a_border_and_holds_nothing),
        cmocka_unit_test(test_a_size_that_no_border_can_follow_is_refused),
#if !defined(OTHER_HEAP)
        cmocka_unit_test(test_what_a_letter_took_serves_the_next),
        cmocka_unit_test(test_a_block_too_large_to_keep_goes_back),
#endif
    };
    return cmocka_run_group_tests_name("base/memory", tests, NULL, NULL);
}

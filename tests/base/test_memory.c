/* base/test_memory.c - memory at a border. */
#include "support/harness.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/str.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_begins_at_a_border_and_holds_nothing),
        cmocka_unit_test(test_a_size_that_no_border_can_follow_is_refused),
    };
    return cmocka_run_group_tests_name("base/memory", tests, NULL, NULL);
}

#include "support/harness.h"

#include <string.h>

#include "base/status.h"

static void test_a_reason_brings_its_status_along(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    assert_int_equal(err_reason(&err, REASON_NOT_YOUR_TURN, "it is %s's turn", "Red"), ST_CONFLICT);
    assert_int_equal(err.code, ST_CONFLICT);
    assert_int_equal(err.reason, REASON_NOT_YOUR_TURN);
    assert_string_equal(err.text, "it is Red's turn");
    assert_int_equal(err_reason(NULL, REASON_LIMIT, "x"), ST_ILLEGAL);
    assert_int_equal(err_set(&err, ST_IO, "disk"), ST_IO);
    assert_int_equal(err.reason, REASON_NONE);
    err_prefix(&err, "game %s", "abc");
    assert_string_equal(err.text, "game abc: disk");
}

static void test_every_status_and_reason_has_its_words(void **state)
{
    (void)state;
    for (int st = 0; st < ST_COUNT_; st++) {
        assert_true(strlen(status_str((enum status)st)) > 1);
        assert_true(status_http((enum status)st) >= 200);
    }
    for (int r = 0; r < REASON_COUNT_; r++) {
        assert_true(strlen(reason_slug((enum reason)r)) > 1);
        assert_true(strlen(reason_word((enum reason)r)) > 1);
        assert_true(strlen(reason_title((enum reason)r)) > 1);
        assert_true(reason_status((enum reason)r) > ST_OK);
        for (int other = 0; other < r; other++)
            assert_string_not_equal(reason_slug((enum reason)r), reason_slug((enum reason)other));
    }
}

static void test_the_doors_answer_with_the_same_code(void **state)
{
    (void)state;
    assert_int_equal(status_http(reason_status(REASON_STATE_MISMATCH)), 409);
    assert_int_equal(status_http(reason_status(REASON_ILLEGAL_MOVE)), 422);
    assert_int_equal(status_http(reason_status(REASON_KEY_REUSED)), 422);
    assert_int_equal(status_http(reason_status(REASON_RATE_LIMIT)), 429);
    assert_int_equal(status_http(ST_IO), 503);
    assert_true(status_is_fault(ST_CORRUPT));
    assert_false(status_is_fault(ST_CONFLICT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reason_brings_its_status_along),
        cmocka_unit_test(test_every_status_and_reason_has_its_words),
        cmocka_unit_test(test_the_doors_answer_with_the_same_code),
    };
    return cmocka_run_group_tests_name("base/status", tests, NULL, NULL);
}

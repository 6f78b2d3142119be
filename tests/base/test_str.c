#include "support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"

static void test_copying_cuts_at_a_character(void **state)
{
    char ret[5];

    (void)state;
    assert_true(str_copy(ret, sizeof ret, "abcd"));
    assert_string_equal(ret, "abcd");
    assert_false(str_copy(ret, sizeof ret, "abcde"));
    assert_string_equal(ret, "abcd");
    assert_false(str_copy(ret, sizeof ret, "abc\xC3\xA9"));
    assert_string_equal(ret, "abc");
    assert_false(str_copy(ret, 1, "x"));
    assert_string_equal(ret, "");
}

static void test_utf8_is_told_from_what_only_looks_like_it(void **state)
{
    static const char *const good[] = {"", "abc", "\xC3\xA9", "\xE2\x99\x94", "\xF0\x9F\xA8\x80",
                                       "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"};
    static const char *const bad[] = {"\x80", "\xC0\xAF", "\xC1\xBF", "\xC3", "\xE0\x80\xAF",
                                      "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80", "\xE2\x99", "a\xFF"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_true(utf8_is_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (utf8_is_valid(bad[i], strlen(bad[i])))
            fail_msg("bad text %zu was taken for UTF-8", i);
}

static void test_numbers_are_read_whole_or_not_at_all(void **state)
{
    int64_t n = 7;

    (void)state;
    assert_true(str_to_int64("-9223372036854775808", INT64_MIN, INT64_MAX, &n));
    assert_true(n == INT64_MIN);
    assert_true(str_to_int64("9223372036854775807", INT64_MIN, INT64_MAX, &n));
    assert_true(n == INT64_MAX);
    assert_true(str_to_int64("-0", -1, 1, &n));
    assert_int_equal(n, 0);
    n = 7;
    assert_false(str_to_int64("9223372036854775808", INT64_MIN, INT64_MAX, &n));
    assert_false(str_to_int64("-9223372036854775809", INT64_MIN, INT64_MAX, &n));
    assert_false(str_to_int64("99999999999999999999999", INT64_MIN, INT64_MAX, &n));
    assert_false(str_to_int64("", 0, 9, &n));
    assert_false(str_to_int64("-", -9, 9, &n));
    assert_false(str_to_int64("+1", 0, 9, &n));
    assert_false(str_to_int64("1 ", 0, 9, &n));
    assert_false(str_to_int64("10", 0, 9, &n));
    assert_false(str_to_int64("-1", 0, 9, &n));
    assert_int_equal(n, 7);
}

static void test_hexadecimal_is_written_in_small_letters(void **state)
{
    char text[9];

    (void)state;
    hex_encode("\x00\xAB\x7F\xFF", 4, text);
    assert_string_equal(text, "00ab7fff");
}

static void test_characters_are_ascii_alone(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        char c = (char)i;
        bool is_digit = i >= '0' && i <= '9', is_small = i >= 'a' && i <= 'z';
        bool is_large = i >= 'A' && i <= 'Z';
        int hex = is_digit                ? i - '0'
                  : i >= 'a' && i <= 'f' ? i - 'a' + 10
                  : i >= 'A' && i <= 'F' ? i - 'A' + 10
                                         : -1;

        assert_int_equal(char_is_digit(c), is_digit);
        assert_int_equal(char_is_letter(c), is_small || is_large);
        assert_int_equal(char_lower(c), is_large ? (char)(i + 32) : c);
        assert_int_equal(hex_value(c), hex);
        assert_int_equal(bytes_are_ascii(&c, 1), i < 128);
    }
    assert_true(bytes_are_ascii("\xc3", 0));
    assert_true(bytes_are_ascii("a\0b", 3)); /* counted, not ended by a NUL */
    assert_false(bytes_are_ascii("a\0\x80", 3));
    assert_true(bytes_are_ascii("a\x80", 1));
}

static void test_comparing_knows_null_and_case(void **state)
{
    (void)state;
    assert_true(str_eq(NULL, NULL));
    assert_false(str_eq(NULL, ""));
    assert_true(str_case_eq("Anna", "aNNA"));
    assert_false(str_case_eq("anna", "annab"));
    assert_true(str_starts("abc", "ab"));
    assert_false(str_starts("a", "ab"));
    char *copy = str_ndup("abcdef", 3);
    assert_string_equal(copy, "abc");
    free(copy);
    assert_null(str_dup(NULL));
}

static void test_edits_are_counted_where_texts_differ(void **state)
{
    (void)state;
    assert_int_equal(str_edits("", ""), 0);
    assert_int_equal(str_edits("", "abc"), 3);
    assert_int_equal(str_edits("abc", ""), 3);
    assert_int_equal(str_edits("threads", "threads"), 0);
    assert_int_equal(str_edits("threds", "threads"), 1);
    assert_int_equal(str_edits("threaads", "threads"), 1);
    assert_int_equal(str_edits("thresds", "threads"), 1);
    assert_int_equal(str_edits("kitten", "sitting"), 3);
    assert_int_equal(str_edits("listen", "silent"), 4);
}

static void test_a_swap_is_one_edit_and_case_is_none(void **state)
{
    (void)state;
    assert_int_equal(str_edits("ab", "ba"), 1);
    assert_int_equal(str_edits("resing", "resign"), 1);
    assert_int_equal(str_edits("abcd", "badc"), 2);
    assert_int_equal(str_edits("ca", "abc"), 3); /* no edit between two that were swapped */
    assert_int_equal(str_edits("DRAW", "draw"), 0);
    assert_int_equal(str_edits("draw", "DRWA"), 1);
    assert_int_equal(str_edits("\xd0\xb0", "\xd0\xb1"), 1);
    assert_int_equal(str_edits("\xd0\xb0", "a"), 2); /* a Cyrillic letter has two bytes */
}

static void test_nothing_of_a_text_too_long_is_alike(void **state)
{
    char most[STR_EDITS_BYTES + 1], more[STR_EDITS_BYTES + 2];

    (void)state;
    memset(most, 'a', STR_EDITS_BYTES);
    most[STR_EDITS_BYTES] = '\0';
    memset(more, 'a', STR_EDITS_BYTES + 1);
    more[STR_EDITS_BYTES + 1] = '\0';
    assert_int_equal(str_edits(most, most), 0);
    assert_int_equal(str_edits(most, most + 1), 1);
    assert_int_equal(str_edits(most, ""), STR_EDITS_BYTES);
    assert_int_equal(str_edits(more, most), STR_EDITS_BYTES + 1);
    assert_int_equal(str_edits("a", more), STR_EDITS_BYTES + 1);
    assert_int_equal(str_edits(more, more), STR_EDITS_BYTES + 1);
}

static void test_logged_text_cannot_forge_a_line(void **state)
{
    char ret[32];

    (void)state;
    assert_string_equal(log_quote("a\"b\\c\n\x80", ret, sizeof ret), "\"a\\\"b\\\\c\\x0a\\x80\"");
    assert_string_equal(log_quote("abcdef", ret, 5), "\"ab\"");
    assert_string_equal(log_quote(NULL, ret, sizeof ret), "\"\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copying_cuts_at_a_character),
        cmocka_unit_test(test_utf8_is_told_from_what_only_looks_like_it),
        cmocka_unit_test(test_numbers_are_read_whole_or_not_at_all),
        cmocka_unit_test(test_hexadecimal_is_written_in_small_letters),
        cmocka_unit_test(test_characters_are_ascii_alone),
        cmocka_unit_test(test_comparing_knows_null_and_case),
        cmocka_unit_test(test_edits_are_counted_where_texts_differ),
        cmocka_unit_test(test_a_swap_is_one_edit_and_case_is_none),
        cmocka_unit_test(test_nothing_of_a_text_too_long_is_alike),
        cmocka_unit_test(test_logged_text_cannot_forge_a_line),
    };
    return cmocka_run_group_tests_name("base/str", tests, NULL, NULL);
}

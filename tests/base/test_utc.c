#include "support/harness.h"

#include <string.h>

#include <stdio.h>
#include <string.h>

#include "base/utc.h"

static void test_the_epoch_is_a_thursday(void **state)
{
    struct civil c = civil_from_ms(0);

    (void)state;
    assert_int_equal(c.year, 1970);
    assert_int_equal(c.month, 1);
    assert_int_equal(c.day, 1);
    assert_int_equal(c.weekday, 3);
}

static void test_every_day_of_400_years_survives_the_round_trip(void **state)
{
    int64_t at = civil_to_ms((struct civil){.year = 1800, .month = 1, .day = 1});
    int weekday = civil_from_ms(at).weekday;

    (void)state;
    for (int i = 0; i < 146097; i++, at += MS_DAY) {
        struct civil c = civil_from_ms(at + 12345678);
        assert_int_equal(civil_to_ms(c), at + 12345678);
        assert_int_equal(c.weekday, weekday);
        weekday = (weekday + 1) % 7;
    }
    struct civil end = civil_from_ms(at);
    assert_int_equal(end.year, 2200);
    assert_int_equal(end.month, 1);
    assert_int_equal(end.day, 1);
}

static void test_fields_out_of_range_carry_over(void **state)
{
    (void)state;
    assert_int_equal(civil_to_ms((struct civil){.year = 2026, .month = 13, .day = 1}),
                     civil_to_ms((struct civil){.year = 2027, .month = 1, .day = 1}));
    assert_int_equal(civil_to_ms((struct civil){.year = 2026, .month = 0, .day = 1}),
                     civil_to_ms((struct civil){.year = 2025, .month = 12, .day = 1}));
    assert_int_equal(civil_to_ms((struct civil){.year = 2026, .month = -11, .day = 1}),
                     civil_to_ms((struct civil){.year = 2025, .month = 1, .day = 1}));
    assert_int_equal(civil_to_ms((struct civil){.year = 2026, .month = 1, .day = 32}),
                     civil_to_ms((struct civil){.year = 2026, .month = 2, .day = 1}));
    assert_int_equal(civil_to_ms((struct civil){.year = 2024, .month = 2, .day = 30}),
                     civil_to_ms((struct civil){.year = 2024, .month = 3, .day = 1}));
}

static void test_instants_are_written_and_read_alike(void **state)
{
    char text[UTC_TEXT_SIZE];
    struct err err = ERR_INIT;
    utc_ms at = 0;

    (void)state;
    utc_format(INT64_C(1795980493007), text);
    assert_string_equal(text, "2026-11-29T19:28:13.007Z");
    assert_ok(utc_parse(text, &at, &err), err);
    assert_int_equal(at, INT64_C(1795980493007));
    assert_ok(utc_parse("2026-11-29T22:28:13.0079+03:00", &at, &err), err);
    assert_int_equal(at, INT64_C(1795980493007));
    assert_ok(utc_parse("1969-12-31t23:59:59z", &at, &err), err);
    assert_int_equal(at, -1000);
}

static void test_what_is_no_instant_is_refused_and_changes_nothing(void **state)
{
    static const char *const bad[] = {
        "", "2026", "2026-11-29", "2026-11-29 19:28:13Z", "2026-11-29T19:28:13",
        "2026-11-29T19:28Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-06-31T00:00:00Z", "2025-02-29T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00Zx", "2026-01-01T00:00:00+3:00", "+026-01-01T00:00:00Z",
    };
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        utc_ms at = 77;
        assert_int_equal(utc_parse(bad[i], &at, &err), ST_INVALID);
        assert_int_equal(at, 77);
        assert_non_null(strstr(err.text, "is not an instant"));
    }
}

static void test_lengths_are_read_in_their_units(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"14d", 14 * MS_DAY},     {"12h", 12 * MS_HOUR},  {"90m", 90 * MS_MINUTE},
                {"30s", 30 * MS_SECOND},  {"500ms", 500},         {"1d 12h", 36 * MS_HOUR},
                {"1d12h", 36 * MS_HOUR},  {" 2h ", 2 * MS_HOUR},  {"0s", 0},
                {"100000d", 100000 * MS_DAY}};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        int64_t ms = -1;
        assert_ok(length_parse(good[i].text, &ms, &err), err);
        assert_int_equal(ms, good[i].ms);
    }
}

static void test_lengths_without_sense_are_refused(void **state)
{
    static const char *const bad[] = {"",    " ",       "14",   "d",
                                      "-1d", "1w",      "1.5h", "1 d",
                                      "1dd", "100001d", "1d x", "99999999999999999999s"};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t ms = 77;
        if (length_parse(bad[i], &ms, &err) == ST_OK)
            fail_msg("\"%s\" was read as %lld ms", bad[i], (long long)ms);
        assert_int_equal(ms, 77);
    }
}

static void test_a_length_that_is_too_long_is_told_apart_from_one_without_sense(void **state)
{
    static const char *const most[] = {"100000d", "99999d 24h", "2400000h"};
    static const char *const more[] = {"100001d", "100000d 1ms", "9999999d", "2400001h",
                                       "99999999999999999999s"};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        int64_t ms = 77;
        assert_ok(length_parse(most[i], &ms, &err), err);
        assert_true(ms == 100000 * MS_DAY);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        int64_t ms = 77;
        char wanted[80];
        snprintf(wanted, sizeof wanted, "\"%s\" is longer than 100000d", more[i]);
        assert_st(length_parse(more[i], &ms, &err), ST_INVALID, err);
        assert_string_equal(err.text, wanted);
        assert_int_equal(ms, 77);
    }
    assert_st(length_parse("9999999d 1w", &(int64_t){0}, &err), ST_INVALID, err);
    assert_non_null(strstr(err.text, "is not a length of time"));
}

static void test_lengths_are_written_in_two_units_rounded_down(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {{0, "0s"},
                 {999, "0s"},
                 {1000, "1s"},
                 {MS_MINUTE - 1, "59s"},
                 {45 * MS_MINUTE, "45m"},
                 {6 * MS_DAY + 4 * MS_HOUR + 59 * MS_MINUTE, "6d 4h"},
                 {14 * MS_DAY, "14d"},
                 {MS_HOUR + MS_SECOND, "1h"},
                 {-(2 * MS_HOUR + 5 * MS_MINUTE), "-2h 5m"}};
    char text[48];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        length_format(cases[i].ms, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
    length_format(INT64_MIN, text, sizeof text);
    assert_true(text[0] == '-');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_epoch_is_a_thursday),
        cmocka_unit_test(test_every_day_of_400_years_survives_the_round_trip),
        cmocka_unit_test(test_fields_out_of_range_carry_over),
        cmocka_unit_test(test_instants_are_written_and_read_alike),
        cmocka_unit_test(test_what_is_no_instant_is_refused_and_changes_nothing),
        cmocka_unit_test(test_lengths_are_read_in_their_units),
        cmocka_unit_test(test_lengths_without_sense_are_refused),
        cmocka_unit_test(test_a_length_that_is_too_long_is_told_apart_from_one_without_sense),
        cmocka_unit_test(test_lengths_are_written_in_two_units_rounded_down),
    };
    return cmocka_run_group_tests_name("base/utc", tests, NULL, NULL);
}

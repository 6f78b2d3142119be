/*
 * Which language Accept-Language asks for: RFC 9110, 12.4.2 and 12.5.4.
 */
#include "support/harness.h"

#include "http/pages.h"

static void assert_wanted(const char *accept, enum lang fallback, enum lang want)
{
    enum lang got = language_wanted(accept, fallback);

    if (got != want)
        fail_msg("%s: %s, not %s", accept ? accept : "(none)", lang_tag(got), lang_tag(want));
}

static void test_nothing_said_is_the_servers_own(void **state)
{
    (void)state;
    assert_wanted(NULL, LANG_RO, LANG_RO);
    assert_wanted("", LANG_RO, LANG_RO);
    assert_wanted("de, fr;q=0.9", LANG_RO, LANG_RO);
    assert_wanted("enm", LANG_RO, LANG_RO); /* Middle English is not English */
}

static void test_the_greatest_weight_wins_and_among_equals_the_first(void **state)
{
    (void)state;
    assert_wanted("en;q=0.1, ro;q=0.2", LANG_EN, LANG_RO);
    assert_wanted("ru-RU, ru;q=0.9, en;q=0.8", LANG_EN, LANG_RU);
    assert_wanted("de, en;q=0.7, ru;q=0.701", LANG_EN, LANG_RU);
    assert_wanted("ro, ru", LANG_EN, LANG_RO);
    assert_wanted("ru, ro", LANG_EN, LANG_RU);
    assert_wanted("en;q=0.5,ru;q=0.5", LANG_RU, LANG_EN);
    assert_wanted("RO-md ; Q=1.000 , en;q=0.999", LANG_EN, LANG_RO);
    assert_wanted("en-GB;q=0.1, en;q=0.9, ro;q=0.5", LANG_RO, LANG_EN);
}

static void test_weight_0_is_a_no(void **state)
{
    (void)state;
    assert_wanted("ru;q=0", LANG_EN, LANG_EN);
    assert_wanted("ru;q=0.000, ro;q=0.001", LANG_EN, LANG_RO);
    assert_wanted("en;q=0, *", LANG_EN, LANG_RU);
    assert_wanted("*;q=0, ro", LANG_EN, LANG_RO);
    assert_wanted("*;q=0", LANG_RU, LANG_RU);
    assert_wanted("ru-UA;q=0, ru", LANG_EN, LANG_RU);
}

static void test_a_star_is_whatever_is_not_named(void **state)
{
    (void)state;
    assert_wanted("*", LANG_RO, LANG_RO);
    assert_wanted("ru;q=0.5, *;q=0.1", LANG_EN, LANG_RU);
    assert_wanted("ru;q=0.1, *;q=0.5", LANG_EN, LANG_EN);
    assert_wanted("ru;q=0.1, *;q=0.5", LANG_RU, LANG_EN);
}

static void test_what_is_malformed_is_passed_over(void **state)
{
    static const char *const bad[] = {
        "ru;q=abc", "ru;q=", "ru;q=1.001", "ru;q=2", "ru;q=0.1234", "ru;q=-1", "ru;q=.5",
        "ru;level=1", "ru q=1", "ru;", "ru;q=1;q=1", "ru-", "-ru", "ru--x", "ru_RU", "1ru",
        "ru-toolongasubtag", "ru;q=0,5",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char both[64];

        assert_wanted(bad[i], LANG_RO, LANG_RO);
        snprintf(both, sizeof both, "%s, en;q=0.1,,", bad[i]);
        assert_wanted(both, LANG_RO, LANG_EN);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_said_is_the_servers_own),
        cmocka_unit_test(test_the_greatest_weight_wins_and_among_equals_the_first),
        cmocka_unit_test(test_weight_0_is_a_no),
        cmocka_unit_test(test_a_star_is_whatever_is_not_named),
        cmocka_unit_test(test_what_is_malformed_is_passed_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

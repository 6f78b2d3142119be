#include "support/harness.h"

#include <string.h>

#include "base/str.h"
#include "people/people.h"

static void test_handles_begin_with_a_letter_and_stay_plain(void **state)
{
    static const char *const good[] = {"a", "anna", "Anna-2_b", "abcdefghijklmnopqrstuvwxyzabcdef"};
    static const char *const bad[] = {"", "2anna", "-a", "an na", "ann\xc3\xa4", "a@b", "a.b",
                                      "abcdefghijklmnopqrstuvwxyzabcdefg", "me", "OPERATOR",
                                      "North"};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_ok(handle_is_fit(good[i], &err), err);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        if (handle_is_fit(bad[i], &err) != ST_INVALID)
            fail_msg("%s", bad[i]);
        assert_int_equal(err.reason, REASON_BAD_FIELD);
    }
}

static void test_handles_are_equal_without_regard_to_case(void **state)
{
    char one[HANDLE_MAX + 1], two[HANDLE_MAX + 1];

    (void)state;
    handle_fold("AnNa_X", one);
    handle_fold("aNNa_x", two);
    assert_string_equal(one, two);
    assert_string_equal(one, "anna_x");
}

static void test_addresses_are_those_a_letter_can_be_sent_to(void **state)
{
    static const char *const good[] = {"anna@example.org", "a.b+c@sub.example.co", "o'x@e-x.org",
                                       "root@localhost"};
    static const char *const bad[] = {"", "anna", "@example.org", "anna@", "anna@example",
                                      "a b@example.org", ".a@example.org", "a.@example.org",
                                      "a..b@example.org", "a@-x.org", "a@x-.org", "a@x..org",
                                      "a@x.org.", "\"a\"@x.org", "a@[1.2.3.4]",
                                      "a@example.org\r\nBcc: b@example.org", "a@ex\xc3\xa4mple.org",
                                      "<a@example.org>", "a,b@example.org", "a@b@@example.org"};
    char longer[300];
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_ok(address_is_fit(good[i], &err), err);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (address_is_fit(bad[i], &err) != ST_INVALID)
            fail_msg("%s", bad[i]);
    memset(longer, 'a', sizeof longer); /* 64 before the @, and one more */
    strcpy(longer + 64, "@example.org");
    assert_ok(address_is_fit(longer, &err), err);
    memset(longer, 'a', 65);
    strcpy(longer + 65, "@example.org");
    assert_st(address_is_fit(longer, &err), ST_INVALID, err);
}

static void test_names_may_be_in_any_script_but_not_invisible(void **state)
{
    static const char *const good[] = {"Anna", "\xd0\x90\xd0\xbd\xd0\xbd\xd0\xb0 \xd0\x9a.",
                                       "\xc8\x98tefan", "x"};
    static const char *const bad[] = {"", " ", " Anna", "Anna ", "An\tna", "An\nna",
                                      "An\xe2\x80\xaena" /* right-to-left override */,
                                      "An\xe2\x80\x8bna" /* zero width */, "\xc2\xa0",
                                      "\xff", "\xc2\xadx",
                                      /* drawn as nothing: fillers, joiners, selectors */
                                      "\xe3\x85\xa4", "anna\xe1\x85\x9f", "\xe2\xa0\x80",
                                      "an\xcd\x8fna", "anna\xef\xb8\x8f", "anna\xef\xb8\x80",
                                      "a\xe1\x9e\xb4", "\xef\xb7\x90", "\xf0\x9d\x85\xb3x",
                                      "x\xf0\x9f\xbf\xbe", "\xef\xbe\xa0",
                                      /* a mark on what stands before the name */
                                      "\xcc\x81x", "\xe2\x83\x9d"};
    static const char *const marked[] = {"e\xcc\x81va", "\xc3\xa9va",
                                         "\xe2\x9d\xa4\xef\xb8\x8f x",
                                         "1\xef\xb8\x8f\xe2\x83\xa3",
                                         "\xe2\x9d\xa4\xef\xb8\x8f\xe2\x80\x8d\xf0\x9f\x94\xa5"};
    char longest[400] = "", *p = longest;
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_ok(name_is_fit(good[i], &err), err);
    for (size_t i = 0; i < COUNT_OF(marked); i++)
        assert_ok(name_is_fit(marked[i], &err), err);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (name_is_fit(bad[i], &err) != ST_INVALID)
            fail_msg("case %zu", i);
    for (int i = 0; i < NAME_MAX_CHARS; i++, p += 2)
        memcpy(p, "\xd0\x90", 3);
    assert_ok(name_is_fit(longest, &err), err);
    memcpy(p, "x", 2);
    assert_st(name_is_fit(longest, &err), ST_INVALID, err);
}

static void test_languages_are_tags(void **state)
{
    static const char *const good[] = {"en", "ru", "ro", "pt-BR", "zh-Hans-CN", "gsw"};
    static const char *const bad[] = {"", "e", "english", "en_", "en-", "-en", "e1",
                                      "en-toolongpart",
                                      "de-1901-aaaaaaaa-b"};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_ok(language_is_fit(good[i], NULL, &err), err);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (language_is_fit(bad[i], NULL, &err) != ST_INVALID)
            fail_msg("%s", bad[i]);
}

static void test_languages_without_texts_are_refused_by_name(void **state)
{
    static const char *const ours[] = {"en", "ru", "ro", NULL};
    static const char *const good[] = {"en", "RU", "ro-MD", "en-GB", "ru-Cyrl-RU"};
    static const char *const bad[] = {"xx", "pt-BR", "e", "eng", "rom", "de-en"};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_ok(language_is_fit(good[i], ours, &err), err);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (language_is_fit(bad[i], ours, &err) != ST_INVALID || err.reason != REASON_BAD_FIELD)
            fail_msg("%s", bad[i]);
    assert_st(language_is_fit("xx", ours, &err), ST_INVALID, err);
    assert_string_equal(err.text, "there are no texts in \"xx\"; there are in en, ru, ro");
}

static void test_a_tag_is_kept_as_bcp_47_writes_it(void **state)
{
    static const char *const tags[][2] = {
        {"EN", "en"},         {"RU-ru", "ru-RU"},           {"ro-md", "ro-MD"},
        {"ru-cYRL-ru", "ru-Cyrl-RU"}, {"en-1994", "en-1994"},
    };
    char kept[LANGUAGE_MAX + 1];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(tags); i++) {
        language_fold(tags[i][0], kept);
        assert_string_equal(kept, tags[i][1]);
    }
}

static void test_a_joiner_stands_between_pictures_alone(void **state)
{
    static const char *const good[] = {
        "\U0001F468\u200D\U0001F469\u200D\U0001F467", /* a family */
        "Zo\u00EB \U0001F469\U0001F3FD\u200D\U0001F680",
        "\U0001F3F3\uFE0F\u200D\U0001F308", /* a flag of all colours */
        "\u2764\uFE0F\u200D\U0001F525",
        "\U0001F937\u200D\u2642\uFE0F",
    };
    static const char *const bad[] = {
        "a\u200Db", "\u200D\U0001F469", "\U0001F469\u200D", "\U0001F469\u200Da",
        "\U0001F469\u200D\u200D\U0001F469", "\U0001F469\u200B\U0001F469",
    };
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_ok(name_is_fit(good[i], &err), err);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (name_is_fit(bad[i], &err) != ST_INVALID)
            fail_msg("%s", bad[i]);
}

static void fill_counting(void *arg, void *bytes, size_t n)
{
    unsigned char *next = arg;

    for (size_t i = 0; i < n; i++)
        ((unsigned char *)bytes)[i] = (*next)++;
}

static void test_a_secret_is_26_letters_and_is_told_by_its_shape(void **state)
{
    unsigned char next = 0;
    struct people p = {.entropy = {.fill = fill_counting, .arg = &next}};
    char secret[SECRET_SIZE];

    (void)state;
    secret_make(&p, secret);
    assert_string_equal(secret, "abcdefghijklmnopqrstuvwxyz");
    secret_make(&p, secret);
    assert_string_equal(secret, "234567abcdefghijklmnopqrst");
    assert_true(secret_is_shaped(secret));
    secret[3] = '1';
    assert_false(secret_is_shaped(secret));
    assert_false(secret_is_shaped("abcdefghijklmnopqrstuvwxy"));
    assert_false(secret_is_shaped("abcdefghijklmnopqrstuvwxyza"));
    assert_false(secret_is_shaped(""));
}

static void test_what_is_stored_of_a_secret_is_its_sha256(void **state)
{
    unsigned char hash[DIGEST_SIZE];
    char hex[2 * DIGEST_SIZE + 1];

    (void)state;
    secret_hash("abc", hash); /* FIPS 180-2's example */
    hex_encode(hash, sizeof hash, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void test_a_fingerprint_is_siphash_of_128_bits(void **state)
{
    unsigned char key[FINGERPRINT_KEY_SIZE], print[FINGERPRINT_SIZE], other[FINGERPRINT_SIZE];
    char hex[2 * FINGERPRINT_SIZE + 1];

    (void)state;
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = (unsigned char)i;
    fingerprint_make(key, "", 0, print); /* the first of its authors' examples */
    hex_encode(print, sizeof print, hex);
    assert_string_equal(hex, "a3817f04ba25a8e66df67214c7550293");
    fingerprint_make(key, "a", 1, print);
    key[0] = 1;
    fingerprint_make(key, "a", 1, other);
    assert_memory_not_equal(print, other, sizeof print);
}

static void test_scopes_are_words(void **state)
{
    (void)state;
    assert_int_equal(scope_parse("read"), SCOPE_READ);
    assert_int_equal(scope_parse("play"), SCOPE_PLAY);
    assert_int_equal(scope_parse("manage"), SCOPE_MANAGE);
    assert_int_equal(scope_parse("Read"), 0);
    assert_int_equal(scope_parse(""), 0);
    assert_string_equal(scope_str(SCOPE_PLAY), "play");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handles_begin_with_a_letter_and_stay_plain),
        cmocka_unit_test(test_handles_are_equal_without_regard_to_case),
        cmocka_unit_test(test_addresses_are_those_a_letter_can_be_sent_to),
        cmocka_unit_test(test_names_may_be_in_any_script_but_not_invisible),
        cmocka_unit_test(test_languages_are_tags),
        cmocka_unit_test(test_languages_without_texts_are_refused_by_name),
        cmocka_unit_test(test_a_tag_is_kept_as_bcp_47_writes_it),
        cmocka_unit_test(test_a_joiner_stands_between_pictures_alone),
        cmocka_unit_test(test_a_secret_is_26_letters_and_is_told_by_its_shape),
        cmocka_unit_test(test_what_is_stored_of_a_secret_is_its_sha256),
        cmocka_unit_test(test_a_fingerprint_is_siphash_of_128_bits),
        cmocka_unit_test(test_scopes_are_words),
    };
    struct err err = ERR_INIT;

    if (people_init(&err) != ST_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

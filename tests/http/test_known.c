/* Who a token or a cookie is, kept until somebody's credentials change. */
#include "support/harness.h"

#include <stdio.h>
#include <string.h>

#include "http/known.h"

static const char anna_token[] = "fh_abcdefghijklmnopqrstuvwxyz";
static const char anna_cookie[] = "abcdefghijklmnopqrstuvwxyz";
enum { NOW = 1000000, ANNA = 7 };

static const struct people_who anna = {
    .user_id = ANNA, .token_id = 3, .scopes = SCOPE_READ, .holds_until = NOW + 500};

static void fill(void *arg, void *bytes, size_t n)
{
    (void)arg;
    memset(bytes, 5, n);
}

static struct known *known_made(void)
{
    const struct entropy entropy = {.fill = fill};
    struct known *known = NULL;
    struct err err = ERR_INIT;

    assert_ok(people_init(&err), err);
    assert_ok(known_new(&entropy, &known, &err), err);
    return known;
}

static bool finds(struct known *known, enum known_kind kind, const char *secret, utc_ms now,
                  int64_t now_ms)
{
    struct people_who who = {.user_id = 0};
    bool is_found = known_get(known, kind, secret, now, now_ms, &who);

    if (is_found) {
        assert_int_equal(who.user_id, ANNA);
        assert_int_equal(who.token_id, 3);
        assert_int_equal(who.scopes, SCOPE_READ);
    } else {
        assert_int_equal(who.user_id, 0);
    }
    return is_found;
}

/* A2: a cookie's secret is no token, and a token no cookie, whatever was remembered. */
static void test_a_secret_is_known_as_what_it_was_sent_as(void **state)
{
    struct known *known = known_made();

    (void)state;
    assert_false(finds(known, KNOWN_TOKEN, anna_token, NOW, 0));
    known_put(known, KNOWN_TOKEN, anna_token, known_epoch(known), 0, &anna);
    assert_true(finds(known, KNOWN_TOKEN, anna_token, NOW, 0));
    assert_false(finds(known, KNOWN_COOKIE, anna_token, NOW, 0));
    known_put(known, KNOWN_COOKIE, anna_cookie, known_epoch(known), 0, &anna);
    assert_true(finds(known, KNOWN_COOKIE, anna_cookie, NOW, 0));
    assert_false(finds(known, KNOWN_TOKEN, anna_cookie, NOW, 0));
    known_free(known);
}

static void test_no_part_of_a_secret_and_nothing_longer_is_known(void **state)
{
    struct known *known = known_made();
    char text[80];

    (void)state;
    known_put(known, KNOWN_TOKEN, anna_token, known_epoch(known), 0, &anna);
    for (size_t n = 0; n < strlen(anna_token); n++) {
        snprintf(text, sizeof text, "%.*s", (int)n, anna_token);
        assert_false(finds(known, KNOWN_TOKEN, text, NOW, 0));
    }
    snprintf(text, sizeof text, "%sa", anna_token);
    assert_false(finds(known, KNOWN_TOKEN, text, NOW, 0));
    known_put(known, KNOWN_TOKEN, text, known_epoch(known), 0, &anna);
    assert_false(finds(known, KNOWN_TOKEN, text, NOW, 0));
    known_free(known);
}

static void test_what_is_known_ends_with_any_change(void **state)
{
    struct known *known = known_made();
    uint64_t before = known_epoch(known);

    (void)state;
    known_put(known, KNOWN_TOKEN, anna_token, before, 0, &anna);
    assert_true(finds(known, KNOWN_TOKEN, anna_token, NOW, 0));
    known_forget_all(known);
    assert_false(finds(known, KNOWN_TOKEN, anna_token, NOW, 0));
    /* Read before the change, and put after it. */
    known_put(known, KNOWN_TOKEN, anna_token, before, 0, &anna);
    assert_false(finds(known, KNOWN_TOKEN, anna_token, NOW, 0));
    known_put(known, KNOWN_TOKEN, anna_token, known_epoch(known), 0, &anna);
    assert_true(finds(known, KNOWN_TOKEN, anna_token, NOW, 0));
    /* … which does not undo what was read after it. */
    known_put(known, KNOWN_TOKEN, anna_token, before, 0, &anna);
    assert_true(finds(known, KNOWN_TOKEN, anna_token, NOW, 0));
    known_free(known);
}

static void test_what_is_known_holds_no_longer_than_it_said_and_ages(void **state)
{
    struct known *known = known_made();

    (void)state;
    known_put(known, KNOWN_TOKEN, anna_token, known_epoch(known), 100, &anna);
    assert_true(finds(known, KNOWN_TOKEN, anna_token, anna.holds_until - 1, 100));
    assert_false(finds(known, KNOWN_TOKEN, anna_token, anna.holds_until, 100));
    assert_true(finds(known, KNOWN_TOKEN, anna_token, NOW, 100 + KNOWN_AGE_MS - 1));
    assert_false(finds(known, KNOWN_TOKEN, anna_token, NOW, 100 + KNOWN_AGE_MS));
    known_free(known);
}

static void test_many_make_room_for_each_other(void **state)
{
    struct known *known = known_made();
    struct people_who who = anna;
    char text[32];
    int found = 0;

    (void)state;
    for (int i = 0; i < 4 * KNOWN_ENTRIES; i++) {
        snprintf(text, sizeof text, "fh_%d", i);
        known_put(known, KNOWN_TOKEN, text, known_epoch(known), i, &anna);
        assert_true(known_get(known, KNOWN_TOKEN, text, NOW, i, &who));
    }
    for (int i = 0; i < 4 * KNOWN_ENTRIES; i++) {
        snprintf(text, sizeof text, "fh_%d", i);
        found += known_get(known, KNOWN_TOKEN, text, NOW, i, &who);
    }
    assert_in_range(found, KNOWN_ENTRIES / 2, KNOWN_ENTRIES);
    known_free(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_secret_is_known_as_what_it_was_sent_as),
        cmocka_unit_test(test_no_part_of_a_secret_and_nothing_longer_is_known),
        cmocka_unit_test(test_what_is_known_ends_with_any_change),
        cmocka_unit_test(test_what_is_known_holds_no_longer_than_it_said_and_ages),
        cmocka_unit_test(test_many_make_room_for_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

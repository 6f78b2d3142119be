/* Authentication-Results (RFC 8601): our own server's words only, read by a tokenizer (P17). */
#include "support/harness.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "mail/authres.h"

struct row {
    const char *value;
    enum auth_verdict verdict;
};

static enum auth_verdict judged(const char *value)
{
    return authres_judge(&value, 1, "mx.club.example", "example.org");
}

static void check(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (judged(rows[i].value) != rows[i].verdict)
            fail_msg("%s: %s, not %s", rows[i].value, auth_verdict_str(judged(rows[i].value)),
                     auth_verdict_str(rows[i].verdict));
}

static void test_results_are_read_in_all_their_forms(void **state)
{
    static const struct row rows[] = {
        {"mx.club.example; dmarc=pass header.from=example.org", AUTH_PASS},
        {"MX.Club.Example; DMARC=Pass header.FROM=Example.Org", AUTH_PASS},
        {"mx.club.example 1; dmarc=pass", AUTH_PASS},
        {"mx.club.example; dmarc=pass (p=none dis=none) header.from=example.org;", AUTH_PASS},
        {" (hello) mx.club.example (v) 1 ;\r\n\tdmarc (a) = (b) pass", AUTH_PASS},
        {"\"mx.club.example\"; dmarc=pass", AUTH_PASS},
        {"mx.club.example; dmarc/1 = pass reason=\"all; is = well\" policy.p=none", AUTH_PASS},
        {"mx.club.example; dkim=pass header.d=example.org header.s=s; spf=none", AUTH_PASS},
        {"mx.club.example; dkim=pass header.i=@example.org", AUTH_PASS},
        {"mx.club.example; dkim=pass header.i=\"x y\"@example.org", AUTH_PASS},
        {"mx.club.example; spf=pass smtp.mailfrom=anna@example.org", AUTH_PASS},
        {"mx.club.example; spf=pass smtp.mailfrom=example.org", AUTH_PASS},
        {"mx.club.example; dkim=fail header.d=example.org; spf=pass smtp.mailfrom=example.org",
         AUTH_PASS},
        {"mx.club.example; dmarc=fail; dkim=pass header.d=example.org", AUTH_FAIL},
        {"mx.club.example; dmarc=pass; dmarc=fail", AUTH_FAIL},
        {"mx.club.example; dkim=fail header.d=example.org", AUTH_FAIL},
        {"mx.club.example; spf=hardfail smtp.mailfrom=example.org", AUTH_FAIL},
        {"mx.club.example; none", AUTH_NONE},
        {"mx.club.example", AUTH_NONE},
        {"mx.club.example;", AUTH_NONE},
        {"mx.club.example; dmarc=none; spf=softfail smtp.mailfrom=example.org", AUTH_NONE},
        {"mx.club.example; dmarc=temperror", AUTH_NONE},
    };

    (void)state;
    check(rows, COUNT_OF(rows));
}

static void test_a_pass_for_another_domain_is_none(void **state)
{
    static const struct row rows[] = {
        {"mx.club.example; dmarc=pass header.from=evil.example", AUTH_NONE},
        {"mx.club.example; dkim=pass header.d=evil.example", AUTH_NONE},
        {"mx.club.example; dkim=pass header.d=notexample.org", AUTH_NONE},
        {"mx.club.example; dkim=pass header.d=org", AUTH_NONE},
        {"mx.club.example; dkim=pass header.i=example.org@evil.example", AUTH_NONE},
        {"mx.club.example; spf=pass smtp.mailfrom=\"x@example.org\"@evil.example", AUTH_NONE},
        {"mx.club.example; spf=pass smtp.helo=example.org", AUTH_NONE},
        {"mx.club.example; arc=pass header.d=example.org", AUTH_NONE},
        {"mx.club.example; dkim-atps=pass header.d=example.org", AUTH_NONE},
    };
    const char *parent = "mx.club.example; dkim=pass header.d=example.org";

    (void)state;
    check(rows, COUNT_OF(rows));
    assert_int_equal(authres_judge(&parent, 1, "mx.club.example", "mail.example.org"), AUTH_PASS);
    assert_int_equal(authres_judge(&parent, 1, "mx.club.example", "badexample.org"), AUTH_NONE);
}

/* What looks like a result inside quotes and comments is none; what can't be read is a failure. */
static void test_nothing_is_smuggled_in(void **state)
{
    static const struct row rows[] = {
        {"mx.club.example; spf=none smtp.mailfrom=\"a) dmarc=pass (b\"@evil.example", AUTH_NONE},
        {"mx.club.example; spf=none smtp.mailfrom=\"a; dmarc=pass\"@evil.example", AUTH_NONE},
        {"mx.club.example; spf=none reason=\"x\\\"; dmarc=pass; y=\"", AUTH_NONE},
        {"mx.club.example; spf=none (a (b) ; dmarc=pass", AUTH_FAIL},
        {"mx.club.example; spf=none (\\) ; dmarc=pass)", AUTH_NONE},
        {"mx.club.example; (dmarc=pass) spf=none", AUTH_NONE},
        {"mx.club.example; spf=none smtp.mailfrom=a dmarc=pass", AUTH_NONE},
        {"mx.club.example; spf=none smtp.mailfrom=a; =; dmarc=pass", AUTH_FAIL},
        {"mx.club.example; spf=none smtp.mailfrom=\"a; dmarc=pass", AUTH_FAIL},
        {"mx.club.example; spf=none smtp.mailfrom=x\"; dmarc=pass\"", AUTH_NONE},
        {"mx.club.example.evil.example; dmarc=pass", AUTH_NONE},
        {"evil.example mx.club.example; dmarc=pass", AUTH_NONE},
        {"mx.club.example dmarc=pass", AUTH_FAIL},
        {"(mx.club.example); dmarc=pass", AUTH_NONE},
        {"", AUTH_FAIL},
        {"mx.club.example; xdmarc=pass", AUTH_NONE},
        {"mx.club.example; dmarc=passed", AUTH_NONE},
    };

    (void)state;
    check(rows, COUNT_OF(rows));
}

static void test_the_topmost_header_of_ours_is_the_only_one(void **state)
{
    static const char *const values[] = {
        "evil.example; dmarc=pass",
        "mx.club.example; dmarc=fail",
        "mx.club.example; dmarc=pass",
    };
    static const char *const broken[] = {"mx.club.example (; dmarc=fail",
                                         "mx.club.example; dmarc=pass"};
    static const char *const emptied[] = {"evil.example; dmarc=pass", "",
                                          "mx.club.example; dmarc=pass"};

    (void)state;
    assert_int_equal(authres_judge(values, 3, "mx.club.example", "example.org"), AUTH_FAIL);
    assert_int_equal(authres_judge(values + 2, 1, "mx.club.example", "example.org"), AUTH_PASS);
    /* Ours, but broken: what stands below is not asked instead. */
    assert_int_equal(authres_judge(broken, 2, "mx.club.example", "example.org"), AUTH_FAIL);
    /* One whose words were not kept may be ours. */
    assert_int_equal(authres_judge(emptied, 3, "mx.club.example", "example.org"), AUTH_FAIL);
    assert_int_equal(authres_judge(emptied + 2, 1, "mx.club.example", "example.org"), AUTH_PASS);
    assert_int_equal(authres_judge(values, 3, "", "example.org"), AUTH_NONE);
    assert_int_equal(authres_judge(values, 3, NULL, "example.org"), AUTH_NONE);
    assert_int_equal(authres_judge(values, 0, "mx.club.example", "example.org"), AUTH_NONE);
    assert_int_equal(authres_judge(values + 2, 1, "mx.club.example", ""), AUTH_NONE);
}

/* What the sender writes himself – his envelope address – must not hide what was found out. */
static void test_a_failure_is_seen_behind_what_cannot_be_read(void **state)
{
    static const char *const mailfrom[] = {
        "", "a@b@evil.example", "\"a\"b@evil.example", "<>", "a(@evil.example", "\"a@evil.example",
    };
    static const char *const lines[] = {"mx.club.example; spf=pass smtp.mailfrom=example.org",
                                        "mx.club.example; dmarc=fail",
                                        "mx.club.example; dmarc=pass"};
    static const char *const weak[] = {"mx.club.example; spf=none",
                                       "mx.club.example; dmarc=pass header.from=example.org"};
    char value[2600], name[2001];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(mailfrom); i++) {
        (void)snprintf(value, sizeof value,
                       "mx.club.example; spf=pass smtp.mailfrom=%s; dmarc=fail", mailfrom[i]);
        assert_int_equal(judged(value), AUTH_FAIL);
    }
    for (size_t n = 100; n <= 2000; n += 100) { /* shorter and longer than is read */
        memset(name, 'a', n);
        name[n] = '\0';
        (void)snprintf(value, sizeof value,
                       "mx.club.example; spf=pass smtp.mailfrom=%s@evil.example; dmarc=fail", name);
        assert_int_equal(judged(value), AUTH_FAIL);
    }
    assert_int_equal(judged("mx.club.example; spf=none smtp.mailfrom=; dmarc=pass"), AUTH_PASS);
    /* Two lines of ours: a failure in either counts, a pass in the first only. */
    assert_int_equal(authres_judge(lines, 1, "mx.club.example", "example.org"), AUTH_PASS);
    assert_int_equal(authres_judge(lines, 2, "mx.club.example", "example.org"), AUTH_FAIL);
    assert_int_equal(authres_judge(lines, 3, "mx.club.example", "example.org"), AUTH_FAIL);
    assert_int_equal(authres_judge(weak, 2, "mx.club.example", "example.org"), AUTH_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_are_read_in_all_their_forms),
        cmocka_unit_test(test_a_pass_for_another_domain_is_none),
        cmocka_unit_test(test_nothing_is_smuggled_in),
        cmocka_unit_test(test_the_topmost_header_of_ours_is_the_only_one),
        cmocka_unit_test(test_a_failure_is_seen_behind_what_cannot_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "support/harness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <curl/curl.h>
#include <sodium.h>

#include "base/str.h"
#include "notify/webhook.h"

/* ---------------------------------------------------------------- signatures */

/* The vector of the Standard Webhooks specification's own tests. */
static void test_signature_is_that_of_the_standards_vector(void **state)
{
    static const char body[] = "{\"test\": 2432232314}";
    unsigned char key[64];
    size_t n = 0;
    char got[WEBHOOK_SIGNATURE_SIZE], shown[WEBHOOK_SECRET_TEXT_SIZE];

    (void)state;
    assert_int_equal(sodium_base642bin(key, sizeof key, "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 32,
                                       NULL, &n, NULL, sodium_base64_VARIANT_ORIGINAL),
                     0);
    webhook_sign((struct webhook_key){key, n}, (struct webhook_key){NULL, 0},
                 "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body, strlen(body), got);
    assert_string_equal(got, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    webhook_secret_print(NULL, key, n, shown);
    assert_string_equal(shown, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");

    /* while both secrets sign, both signatures stand there, the new one first */
    webhook_sign((struct webhook_key){(const unsigned char *)"another-secret-of-24-byt", 24},
                 (struct webhook_key){key, n}, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body,
                 strlen(body), got);
    assert_non_null(strstr(got, " v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    assert_memory_equal(got, "v1,", 3);
    assert_int_not_equal(strncmp(got, "v1,g0hM", 7), 0);
}

/* ---------------------------------------------------------------- addresses */

static const char *denied(const struct net_list *allow, const char *text)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } a;

    memset(&a, 0, sizeof a);
    if (inet_pton(AF_INET, text, &a.v4.sin_addr) == 1)
        a.v4.sin_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &a.v6.sin6_addr) == 1)
        a.v6.sin6_family = AF_INET6;
    else
        fail_msg("no address: %s", text);
    return address_denied(allow, &a.any);
}

/* A5: the table, at its borders. */
static void test_only_public_addresses_may_be_reached(void **state)
{
    static const char *const bad[] = {
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
        "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.0", "172.31.255.255",
        "192.0.0.0", "192.0.0.255", "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255",
        "198.18.0.0", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1",
        "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
        "64:ff9b::127.0.0.1", "64:ff9b:1::8.8.8.8", "100::1", "2001::1", "2001:1ff:ffff::1",
        "2001:db8::1", "2002:7f00:1::", "2002:a00:1::1", "2002:c0a8:101::1", "fc00::1", "fdff::1",
        "fe80::1", "febf::1", "fec0::1", "ff02::1", "ff0e::1", "4000::1", "1::1"};
    static const char *const good[] = {
        "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
        "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
        "198.51.99.255", "203.0.114.0", "223.255.255.255", "8.8.8.8",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2001:200::1", "2001:4860:4860::8888",
        "2001:db7:ffff::1", "2001:db9::1", "2002:808:808::1", "2a00::1", "3fff::1"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        if (denied(NULL, bad[i]) == NULL)
            fail_msg("may be reached: %s", bad[i]);
    for (size_t i = 0; i < COUNT_OF(good); i++)
        if (denied(NULL, good[i]) != NULL)
            fail_msg("may not be reached: %s (%s)", good[i], denied(NULL, good[i]));
    assert_non_null(address_denied(NULL, &(struct sockaddr){.sa_family = AF_UNIX}));
}

static void test_the_allow_list_opens_just_its_networks(void **state)
{
    struct net_list list = {.count = 0};
    struct err err = ERR_INIT;
    static const char *const bad[] = {"", "10.1.2", "10.1.2.0/33", "10.1.2.0/x", "10.1.2.0/",
                                      "fd00::/129", "example.org", "10.1.2.0/-1", "[::1]"};

    (void)state;
    assert_ok(net_list_add(&list, "10.1.2.0/23", &err), err);
    assert_ok(net_list_add(&list, "fd00:1::/32", &err), err);
    assert_ok(net_list_add(&list, "127.0.0.1", &err), err);
    assert_null(denied(&list, "10.1.2.0"));
    assert_null(denied(&list, "10.1.3.255"));
    assert_non_null(denied(&list, "10.1.4.0"));
    assert_non_null(denied(&list, "10.1.1.255"));
    assert_null(denied(&list, "fd00:1:ffff::1"));
    assert_non_null(denied(&list, "fd00:2::1"));
    assert_null(denied(&list, "127.0.0.1"));
    assert_null(denied(&list, "::ffff:127.0.0.1"));
    assert_non_null(denied(&list, "127.0.0.2"));
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_st(net_list_add(&list, bad[i], &err), ST_INVALID, err);
    assert_int_equal(list.count, 3);
}

static void test_urls_are_https_to_public_places_without_tricks(void **state)
{
    static const struct {
        const char *url;
        enum reason reason; /* REASON_NONE: good */
        const char *normal;
    } table[] = {
        {"https://hooks.example.org/x?y=1", REASON_NONE, "https://hooks.example.org/x?y=1"},
        {"HTTPS://hooks.example.org", REASON_NONE, "https://hooks.example.org/"},
        {"https://hooks.example.org:8443/x", REASON_NONE, "https://hooks.example.org:8443/x"},
        {"https://8.8.8.8/", REASON_NONE, "https://8.8.8.8/"},
        {"http://hooks.example.org/", REASON_BAD_FIELD, NULL},
        {"ftp://hooks.example.org/", REASON_BAD_FIELD, NULL},
        {"file:///etc/passwd", REASON_BAD_FIELD, NULL},
        {"hooks.example.org/x", REASON_BAD_FIELD, NULL},
        {"", REASON_BAD_FIELD, NULL},
        {"https://", REASON_BAD_FIELD, NULL},
        {"https://user@hooks.example.org/", REASON_BAD_FIELD, NULL},
        {"https://user:pw@hooks.example.org/", REASON_BAD_FIELD, NULL},
        {"https://example.com\\@127.0.0.1/", REASON_BAD_FIELD, NULL},
        {"https://hooks.example.org/\r\nHost: x", REASON_BAD_FIELD, NULL},
        {"https://hooks.example.org/a b", REASON_BAD_FIELD, NULL},
        {"https://hooks.example.org/#x", REASON_BAD_FIELD, NULL},
        {"https://hooks.example.org:25/", REASON_BAD_FIELD, NULL},
        {"https://hooks.example.org:22/", REASON_BAD_FIELD, NULL},
        {"https://hooks.example.org:1023/", REASON_BAD_FIELD, NULL},
        {"https://127.0.0.1/", REASON_BLOCKED_ADDRESS, NULL},
        {"https://2130706433/", REASON_BLOCKED_ADDRESS, NULL},
        {"https://0x7f.1/", REASON_BLOCKED_ADDRESS, NULL},
        {"https://017700000001/", REASON_BLOCKED_ADDRESS, NULL},
        {"https://127.1/", REASON_BLOCKED_ADDRESS, NULL},
        {"https://0/", REASON_BLOCKED_ADDRESS, NULL},
        {"https://[::1]/", REASON_BLOCKED_ADDRESS, NULL},
        {"https://[::ffff:127.0.0.1]/", REASON_BLOCKED_ADDRESS, NULL},
        {"https://[fe80::1%25eth0]/", REASON_BLOCKED_ADDRESS, NULL},
        {"https://169.254.169.254/latest/meta-data", REASON_BLOCKED_ADDRESS, NULL},
        {"https://localhost/", REASON_BLOCKED_ADDRESS, NULL},
        {"https://LOCALHOST:8443/", REASON_BLOCKED_ADDRESS, NULL},
    };
    struct net_list allow = {.count = 0};
    struct err err = ERR_INIT;
    struct buf b = buf_make(4096);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        enum status st;

        buf_clear(&b);
        err = ERR_INIT;
        st = webhook_url_check(NULL, table[i].url, &b, &err);
        if ((st == ST_OK) != (table[i].reason == REASON_NONE) || err.reason != table[i].reason)
            fail_msg("%s: %s %s", table[i].url, status_str(st), err.text);
        if (table[i].normal != NULL)
            assert_string_equal(b.data, table[i].normal);
        else
            assert_int_equal(b.len, 0);
    }
    /* an operator's own network may be spoken to in the clear, at any port */
    assert_ok(net_list_add(&allow, "10.1.2.0/24", &err), err);
    assert_ok(webhook_url_check(&allow, "http://10.1.2.3:80/x", &b, &err), err);
    assert_st(webhook_url_check(&allow, "http://10.1.3.3/x", &b, &err), ST_INVALID, err);
    assert_st(webhook_url_check(&allow, "http://hooks.example.org/x", &b, &err), ST_INVALID, err);
    buf_release(&b);
}

/* ---------------------------------------------------------------- retries */

static void test_retries_follow_the_table_within_a_fifth(void **state)
{
    static const int64_t hooks[] = {5000,     300000,   1800000,  7200000, 18000000,
                                    36000000, 50400000, 72000000, 86400000};
    static const int64_t mail[] = {60000,    300000,   900000,   3600000,
                                   10800000, 21600000, 43200000, 86400000, 86400000, 86400000};
    int64_t sum = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(hooks); i++) {
        assert_int_equal(webhook_retry_ms((int)i + 1, 0), hooks[i] * 4 / 5);
        assert_int_equal(webhook_retry_ms((int)i + 1, UINT32_MAX), hooks[i] * 6 / 5);
        assert_in_range(webhook_retry_ms((int)i + 1, UINT32_MAX / 2), hooks[i] - 1, hooks[i]);
        sum += hooks[i];
    }
    assert_int_equal(sum, INT64_C(75) * 3600000 + 35 * 60000 + 5000); /* the standard's 75 h 35 m */
    assert_int_equal(webhook_retry_ms(10, 0), -1);
    assert_int_equal(webhook_retry_ms(0, 0), -1);
    for (size_t i = 0; i < COUNT_OF(mail); i++) { /* N10: goes on until the letter expires */
        assert_int_equal(mail_retry_ms((int)i + 1, 0), mail[i] * 4 / 5);
        assert_int_equal(mail_retry_ms((int)i + 1, UINT32_MAX), mail[i] * 6 / 5);
    }
}

static void test_retry_after_is_seconds_or_a_date_and_at_most_a_day(void **state)
{
    const utc_ms now = 1767225600000; /* 2026-01-01T00:00:00Z */

    (void)state;
    assert_int_equal(retry_after_ms("120", now), 120000);
    assert_int_equal(retry_after_ms(" 0", now), 0);
    assert_int_equal(retry_after_ms("86400", now), MS_DAY);
    assert_int_equal(retry_after_ms("86401", now), MS_DAY);
    assert_int_equal(retry_after_ms("Thu, 01 Jan 2026 00:01:00 GMT", now), 60000);
    assert_int_equal(retry_after_ms("Wed, 31 Dec 2025 00:01:00 GMT", now), 0);
    assert_int_equal(retry_after_ms("Sat, 01 Jan 2028 00:01:00 GMT", now), MS_DAY);
    assert_int_equal(retry_after_ms("soon", now), -1);
    assert_int_equal(retry_after_ms("", now), -1);
    assert_int_equal(retry_after_ms("-5", now), -1);
}

static int set_up(void **state)
{
    (void)state;
    return sodium_init() < 0 || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signature_is_that_of_the_standards_vector),
        cmocka_unit_test(test_only_public_addresses_may_be_reached),
        cmocka_unit_test(test_the_allow_list_opens_just_its_networks),
        cmocka_unit_test(test_urls_are_https_to_public_places_without_tricks),
        cmocka_unit_test(test_retries_follow_the_table_within_a_fifth),
        cmocka_unit_test(test_retry_after_is_seconds_or_a_date_and_at_most_a_day),
    };

    return cmocka_run_group_tests_name("notify/webhook", tests, set_up, NULL);
}

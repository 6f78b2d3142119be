/* Who is at the other end: addresses, networks, forwarded lists. */
#include "support/harness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "http/address.h"

static struct address parsed(const char *text)
{
    struct address address;

    assert_true(address_parse(text, strlen(text), &address));
    return address;
}

static struct network network(const char *text)
{
    struct network got;
    struct err err = ERR_INIT;

    assert_ok(network_parse(text, &got, &err), err);
    return got;
}

static void test_addresses_are_read_with_brackets_and_ports(void **state)
{
    static const char *const same[][2] = {
        {"192.0.2.7", "192.0.2.7:8080"},
        {"2001:db8::7", "[2001:db8::7]"},
        {"2001:db8::7", " \"[2001:db8::7]:443\" "},
        {"192.0.2.7", "::ffff:192.0.2.7"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        struct address a = parsed(same[i][0]), b = parsed(same[i][1]);

        assert_true(address_is_same(&a, &b));
    }
}

static void test_what_is_no_address_is_refused(void **state)
{
    static const char *const bad[] = {"", "unknown", "300.1.1.1", "1.2.3", "[::1", "::1%eth0",
                                      "_hidden", "1.2.3.4.5"};
    struct address address;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(address_parse(bad[i], strlen(bad[i]), &address));
}

static void test_networks_hold_their_addresses_to_the_bit(void **state)
{
    struct network ten = network("10.1.2.128/25"), six = network("2001:db8::/33"),
                   one = network("::1"), all = network("0.0.0.0/0");
    struct address in = parsed("10.1.2.128"), out = parsed("10.1.2.127");
    struct address in6 = parsed("2001:db8:7fff::1"), out6 = parsed("2001:db8:8000::1");
    struct address loop = parsed("::1"), other = parsed("::2");

    (void)state;
    assert_true(network_has(&ten, &in));
    assert_false(network_has(&ten, &out));
    assert_true(network_has(&six, &in6));
    assert_false(network_has(&six, &out6));
    assert_true(network_has(&one, &loop));
    assert_false(network_has(&one, &other));
    assert_true(network_has(&all, &in));
    assert_false(network_has(&all, &in6)); /* every IPv4 address, and no other */
}

static void test_bad_networks_are_errors_that_say_so(void **state)
{
    static const char *const bad[] = {"", "10.0.0.0/33", "10.0.0.0/-1", "2001:db8::/129", "x/8",
                                      "10.0.0.0/"};
    struct network got;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        err = ERR_INIT;
        assert_st(network_parse(bad[i], &got, &err), ST_INVALID, err);
        assert_true(err.text[0] != '\0');
    }
}

static void test_only_a_trusted_peer_may_speak_for_others(void **state)
{
    struct network trusted[] = {network("127.0.0.1"), network("10.0.0.0/8")};
    struct address proxy = parsed("127.0.0.1"), stranger = parsed("198.51.100.9");
    struct address client, want;

    (void)state;
    client = address_of_client(&stranger, "203.0.113.1", trusted, 2);
    assert_true(address_is_same(&client, &stranger));

    client = address_of_client(&proxy, "203.0.113.1", trusted, 2);
    want = parsed("203.0.113.1");
    assert_true(address_is_same(&client, &want));
}

static void test_a_forged_list_gains_nothing(void **state)
{
    struct network trusted[] = {network("127.0.0.1"), network("10.0.0.0/8")};
    struct address proxy = parsed("127.0.0.1"), client, want;

    (void)state;
    /* Only what our own proxies wrote counts: the last address that is none of them. */
    client = address_of_client(&proxy, "1.1.1.1, 203.0.113.5, 10.0.0.3", trusted, 2);
    want = parsed("203.0.113.5");
    assert_true(address_is_same(&client, &want));
    /* What cannot be read ends the walk. */
    client = address_of_client(&proxy, "203.0.113.5, rubbish", trusted, 2);
    assert_true(address_is_same(&client, &proxy));
    client = address_of_client(&proxy, "", trusted, 2);
    assert_true(address_is_same(&client, &proxy));
    client = address_of_client(&proxy, "10.0.0.1", trusted, 2);
    want = parsed("10.0.0.1");
    assert_true(address_is_same(&client, &want));
}

static void test_a_unix_socket_is_a_proxy_of_this_machine(void **state)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct address peer = address_of((const struct sockaddr *)&un), client, want;

    (void)state;
    assert_true(peer.is_local);
    client = address_of_client(&peer, "203.0.113.1", NULL, 0);
    want = parsed("203.0.113.1");
    assert_true(address_is_same(&client, &want));
}

static void test_neighbours_in_one_64_count_as_one(void **state)
{
    struct address a = parsed("2001:db8:1:2::1"), b = parsed("2001:db8:1:2:ffff::9"),
                   c = parsed("2001:db8:1:3::1"), d = parsed("192.0.2.1"), e = parsed("192.0.2.2");

    (void)state;
    assert_true(address_hash(&a, 7) == address_hash(&b, 7));
    assert_true(address_hash(&a, 7) != address_hash(&c, 7));
    assert_true(address_hash(&d, 7) != address_hash(&e, 7));
    assert_true(address_hash(&d, 7) != address_hash(&d, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_are_read_with_brackets_and_ports),
        cmocka_unit_test(test_what_is_no_address_is_refused),
        cmocka_unit_test(test_networks_hold_their_addresses_to_the_bit),
        cmocka_unit_test(test_bad_networks_are_errors_that_say_so),
        cmocka_unit_test(test_only_a_trusted_peer_may_speak_for_others),
        cmocka_unit_test(test_a_forged_list_gains_nothing),
        cmocka_unit_test(test_a_unix_socket_is_a_proxy_of_this_machine),
        cmocka_unit_test(test_neighbours_in_one_64_count_as_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

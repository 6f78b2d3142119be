#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "main/engine.h"
#include "main/listen.h"

static void assert_port(const char *url, int port, const char *expected)
{
    struct engine engine;

    memset(&engine, 0, sizeof engine);
    str_copy(engine.public_url, sizeof engine.public_url, url);
    engine_port_set(&engine, port);
    assert_string_equal(engine.public_url, expected);
}

static void test_port_0_of_the_public_url_becomes_the_real_one(void **state)
{
    (void)state;
    assert_port("http://127.0.0.1:0", 4711, "http://127.0.0.1:4711");
    assert_port("http://127.0.0.1:0/club", 4711, "http://127.0.0.1:4711/club");
    assert_port("http://[::1]:0", 4711, "http://[::1]:4711");
}

static void test_other_public_urls_stay_as_they_are(void **state)
{
    (void)state;
    assert_port("https://chess.example.org", 4711, "https://chess.example.org");
    assert_port("http://127.0.0.1:8484", 4711, "http://127.0.0.1:8484");
    assert_port("http://127.0.0.1:080", 4711, "http://127.0.0.1:080");
}

static void test_a_socket_says_where_it_listens(void **state)
{
    char where[LISTEN_WHERE_SIZE], folder[] = "/tmp/fh-listen-XXXXXX", address[64];
    struct err err = ERR_INIT;
    int fd, port;

    (void)state;
    assert_ok(listen_open("127.0.0.1:0", &fd, &err), err);
    listen_describe(fd, where, &port);
    assert_true(port > 0);
    assert_true(str_starts(where, "http://127.0.0.1:"));
    assert_st(listen_open(where + 7, &fd, &err), ST_IO, err); /* it is taken */
    close(fd);
    assert_non_null(mkdtemp(folder));
    (void)snprintf(address, sizeof address, "unix:%s/s", folder);
    assert_ok(listen_open(address, &fd, &err), err);
    listen_describe(fd, where, &port);
    assert_int_equal(port, -1);
    assert_string_equal(where, address);
    close(fd);
    assert_ok(listen_open(address, &fd, &err), err); /* left over */
    close(fd);
    assert_int_equal(unlink(address + strlen("unix:")), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_port_0_of_the_public_url_becomes_the_real_one),
        cmocka_unit_test(test_other_public_urls_stay_as_they_are),
        cmocka_unit_test(test_a_socket_says_where_it_listens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A rented mailbox over plain text; TLS is tried against a real server (tests/e2e). */
#include "support/harness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "mail/imap.h"
#include "mail/imap_fake.h"

enum { LETTER_SIZE = 1000 };

struct rig {
    struct imap_fake *fake;
    struct imap *imap;
    int stop[2];
};

static int rig_make(void **state)
{
    struct rig *r = calloc(1, sizeof *r);

    assert_non_null(r);
    assert_int_equal(pipe(r->stop), 0);
    r->fake = imap_fake_start();
    *state = r;
    return 0;
}

static int rig_remove(void **state)
{
    struct rig *r = *state;

    imap_close(r->imap);
    imap_fake_stop(r->fake);
    close(r->stop[0]);
    close(r->stop[1]);
    free(r);
    return 0;
}

static struct imap_options options_of(struct rig *r)
{
    return (struct imap_options){.host = "127.0.0.1",
                                 .port = imap_fake_port(r->fake),
                                 .tls = MAIL_TLS_NONE,
                                 .user = "club",
                                 .password = "secret",
                                 .mailbox = "INBOX",
                                 .letter_size = LETTER_SIZE,
                                 .stop_fd = r->stop[0]};
}

static void open_it(struct rig *r)
{
    struct imap_options options = options_of(r);
    struct err err = ERR_INIT;

    assert_ok(imap_open(&options, &r->imap, &err), err);
}

static uint32_t put(struct rig *r, const char *text)
{
    return imap_fake_put(r->fake, text, strlen(text));
}

static void test_letters_are_listed_fetched_and_marked(void **state)
{
    struct rig *r = *state;
    struct imap_item items[10];
    struct buf bytes = buf_make(LETTER_SIZE);
    struct err err = ERR_INIT;
    size_t n;

    put(r, "one\r\n");
    put(r, "two {3}\r\n* 1 EXISTS\r\n)\r\nA1 OK\r\n");
    put(r, "three");
    open_it(r);
    assert_int_equal(imap_state(r->imap)->uidvalidity, 7);
    assert_int_equal(imap_state(r->imap)->uid_next, 4);
    assert_true(imap_state(r->imap)->has_idle);
    assert_ok(imap_list(r->imap, 0, 10, items, &n, &err), err);
    assert_int_equal(n, 3);
    assert_int_equal(items[0].uid, 1);
    assert_int_equal(items[0].size, 5);
    assert_int_equal(items[2].uid, 3);
    assert_ok(imap_fetch(r->imap, 2, &bytes, &err), err);
    assert_string_equal(bytes.data, "two {3}\r\n* 1 EXISTS\r\n)\r\nA1 OK\r\n");
    assert_false(imap_fake_letter(r->fake, 2).is_seen); /* fetching marks nothing */
    assert_ok(imap_settle(r->imap, 2, /* is_kept= */ true, &err), err);
    assert_true(imap_fake_letter(r->fake, 2).is_seen);
    assert_true(imap_fake_letter(r->fake, 2).is_there);
    assert_ok(imap_settle(r->imap, 3, /* is_kept= */ false, &err), err);
    assert_false(imap_fake_letter(r->fake, 3).is_there);
    assert_int_equal(imap_fake_count(r->fake, "UID EXPUNGE"), 1);
    assert_st(imap_fetch(r->imap, 3, &bytes, &err), ST_NOT_FOUND, err);
    assert_ok(imap_settle(r->imap, 3, /* is_kept= */ true, &err), err); /* gone: no error */
    assert_ok(imap_list(r->imap, 1, 10, items, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(items[0].uid, 2);
    assert_ok(imap_list(r->imap, 2, 10, items, &n, &err), err); /* "3:*" names 2 */
    assert_int_equal(n, 0);
    assert_ok(imap_list(r->imap, UINT32_MAX, 10, items, &n, &err), err);
    assert_int_equal(n, 0);
    imap_close(r->imap);
    r->imap = NULL;
    assert_int_equal(imap_fake_count(r->fake, "LOGOUT"), 1);
    buf_release(&bytes);
}

static void test_a_list_is_the_lowest_uids_when_not_all_fit(void **state)
{
    struct rig *r = *state;
    struct imap_item items[3];
    struct err err = ERR_INIT;
    size_t n;

    for (int i = 0; i < 10; i++)
        put(r, "x");
    open_it(r);
    assert_ok(imap_list(r->imap, 4, 3, items, &n, &err), err);
    assert_int_equal(n, 3);
    assert_int_equal(items[0].uid, 5);
    assert_int_equal(items[1].uid, 6);
    assert_int_equal(items[2].uid, 7);
}

static void test_a_letter_of_the_largest_size_is_fetched_and_a_larger_one_is_not(void **state)
{
    struct rig *r = *state;
    char text[LETTER_SIZE + 2];
    struct buf bytes = buf_make(2 * LETTER_SIZE);
    struct err err = ERR_INIT;

    memset(text, 'x', sizeof text);
    imap_fake_put(r->fake, text, LETTER_SIZE);
    imap_fake_put(r->fake, text, LETTER_SIZE + 1);
    open_it(r);
    assert_ok(imap_fetch(r->imap, 1, &bytes, &err), err);
    assert_int_equal(bytes.len, LETTER_SIZE);
    buf_clear(&bytes);
    assert_st(imap_fetch(r->imap, 2, &bytes, &err), ST_TOO_LARGE, err);
    assert_int_equal(bytes.len, 0);
    assert_ok(imap_fetch(r->imap, 1, &bytes, &err), err); /* and it goes on */
    buf_release(&bytes);
}

static void test_without_uidplus_and_idle_the_older_commands_do(void **state)
{
    struct rig *r = *state;
    const struct imap_fake_ways ways = {.has_no_idle = true, .has_no_uidplus = true};
    struct err err = ERR_INIT;
    bool is_news = false;

    imap_fake_set(r->fake, &ways);
    put(r, "one");
    open_it(r);
    assert_false(imap_state(r->imap)->has_idle);
    assert_ok(imap_settle(r->imap, 1, false, &err), err);
    assert_int_equal(imap_fake_count(r->fake, "EXPUNGE"), 1);
    assert_false(imap_fake_letter(r->fake, 1).is_there);
    assert_ok(imap_wait(r->imap, 0, &is_news, &err), err);
    assert_true(is_news);
    assert_int_equal(imap_fake_count(r->fake, "NOOP"), 1);
}

static void test_waiting_ends_when_a_letter_comes_or_the_time_is_over(void **state)
{
    struct rig *r = *state;
    struct err err = ERR_INIT;
    bool is_news = true;

    open_it(r);
    assert_ok(imap_wait(r->imap, 0, &is_news, &err), err);
    assert_false(is_news);
    put(r, "one"); /* told when IDLE begins */
    assert_ok(imap_wait(r->imap, IMAP_IDLE_MS, &is_news, &err), err);
    assert_true(is_news);
}

struct stopping {
    struct rig *rig;
    const char *word;
};

static void *stop_main(void *arg)
{
    struct stopping *s = arg;

    imap_fake_wait(s->rig->fake, s->word, 1);
    (void)!write(s->rig->stop[1], "", 1);
    return NULL;
}

static void test_a_stop_ends_waiting_for_letters_and_for_a_silent_server(void **state)
{
    static const char *const words[] = {"IDLE", "UID FETCH"};

    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct rig *r;
        struct imap_fake_ways ways = {.silent_at = i == 0 ? NULL : words[i]};
        struct buf bytes = buf_make(LETTER_SIZE);
        struct stopping s;
        struct err err = ERR_INIT;
        pthread_t thread;
        bool is_news;
        rig_remove(state);
        rig_make(state);
        r = *state;
        imap_fake_set(r->fake, &ways);
        open_it(r);
        s = (struct stopping){r, words[i]};
        assert_int_equal(pthread_create(&thread, NULL, stop_main, &s), 0);
        if (i == 0)
            assert_st(imap_wait(r->imap, IMAP_IDLE_MS, &is_news, &err), ST_BUSY, err);
        else
            assert_st(imap_fetch(r->imap, 1, &bytes, &err), ST_BUSY, err);
        pthread_join(thread, NULL);
        buf_release(&bytes);
    }
}

static void test_a_stop_before_the_connection_is_made_is_heard(void **state)
{
    struct rig *r = *state;
    struct imap_options options = options_of(r);
    const struct imap_fake_ways ways = {.silent_at = "LOGIN"};
    struct err err = ERR_INIT;

    imap_fake_set(r->fake, &ways);
    assert_int_equal(write(r->stop[1], "", 1), 1);
    assert_st(imap_open(&options, &r->imap, &err), ST_BUSY, err);
    assert_null(r->imap);
}

static void test_a_server_that_misbehaves_is_an_error_and_no_more(void **state)
{
    static const struct {
        struct imap_fake_ways ways;
        enum status open, list;
    } cases[] = {
        {{.refuses_login = true}, ST_UNAUTHENTICATED, ST_OK},
        {{.hangs_up_at = "SELECT"}, ST_IO, ST_OK},
        {{.nonsense_at = "SELECT"}, ST_INVALID, ST_OK},
        {{.hangs_up_at = "UID SEARCH"}, ST_OK, ST_IO},
        {{.nonsense_at = "UID SEARCH"}, ST_OK, ST_INVALID},
        {{.nonsense_at = "UID SEARCH", .is_endless = true}, ST_OK, ST_INVALID},
        {{.hangs_up_at = "UID FETCH"}, ST_OK, ST_IO},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct rig *r;
        struct imap_options options;
        struct imap_item items[3];
        struct err err = ERR_INIT;
        size_t n;
        rig_remove(state);
        rig_make(state);
        r = *state;
        options = options_of(r);
        imap_fake_set(r->fake, &cases[i].ways);
        put(r, "x");
        assert_st(imap_open(&options, &r->imap, &err), cases[i].open, err);
        assert_null(strstr(err.text, "secret"));
        if (cases[i].open == ST_OK)
            assert_st(imap_list(r->imap, 0, 3, items, &n, &err), cases[i].list, err);
    }
}

static void test_a_host_that_is_no_host_is_refused(void **state)
{
    static const char *const hosts[] = {"a/b", "a@b", "a b", "a%b", "a\r\nb", "a?b"};
    struct rig *r = *state;
    struct imap_options options = options_of(r);
    struct err err = ERR_INIT;

    for (size_t i = 0; i < COUNT_OF(hosts); i++) {
        options.host = hosts[i];
        assert_st(imap_open(&options, &r->imap, &err), ST_INVALID, err);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_make, rig_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_letters_are_listed_fetched_and_marked),
        TEST(test_a_list_is_the_lowest_uids_when_not_all_fit),
        TEST(test_a_letter_of_the_largest_size_is_fetched_and_a_larger_one_is_not),
        TEST(test_without_uidplus_and_idle_the_older_commands_do),
        TEST(test_waiting_ends_when_a_letter_comes_or_the_time_is_over),
        TEST(test_a_stop_ends_waiting_for_letters_and_for_a_silent_server),
        TEST(test_a_stop_before_the_connection_is_made_is_heard),
        TEST(test_a_server_that_misbehaves_is_an_error_and_no_more),
        TEST(test_a_host_that_is_no_host_is_refused),
    };

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The thread around a rented mailbox: what it takes, marks and remembers; nothing holds it. */
#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "base/str.h"
#include "intake/fake_door.h"
#include "intake/imap_watch.h"
#include "mail/imap_fake.h"
#include "store/imap_boxes.h"
#include "store/rig.h"

enum { LETTER_SIZE = 1000 };

struct watching {
    struct rig rig;
    struct writer *writer;
    struct fake *fake;
    struct imap_fake *server;
    struct imap_watch *watch;
};

static utc_ms stands(void *arg)
{
    (void)arg;
    return T0;
}

static int watching_make(void **state)
{
    struct watching *w = calloc(1, sizeof *w);
    struct writer_options options = {.time = {.now = stands}};
    struct err err = ERR_INIT;

    assert_non_null(w);
    rig_open(&w->rig, NULL);
    options.store = w->rig.store;
    assert_ok(writer_open(&options, &w->writer, &err), err);
    assert_ok(writer_start(w->writer, &err), err);
    w->fake = fake_new();
    w->server = imap_fake_start();
    *state = w;
    return 0;
}

static int watching_remove(void **state)
{
    struct watching *w = *state;

    imap_watch_stop(w->watch);
    imap_fake_stop(w->server);
    fake_free(w->fake);
    writer_close(w->writer);
    rig_close(&w->rig);
    free(w);
    return 0;
}

static void start(struct watching *w, bool is_kept)
{
    struct imap_watch_options options = {
        .store = w->rig.store,
        .writer = w->writer,
        .imap = {.host = "127.0.0.1",
                 .port = imap_fake_port(w->server),
                 .tls = MAIL_TLS_NONE,
                 .user = "club",
                 .password = "secret",
                 .mailbox = "INBOX",
                 .letter_size = LETTER_SIZE},
        .is_kept = is_kept,
    };
    struct err err = ERR_INIT;

    options.door = fake_door(w->fake);
    assert_ok(imap_watch_start(&options, &w->watch, &err), err);
}

static void stop(struct watching *w)
{
    imap_watch_stop(w->watch);
    w->watch = NULL;
}

static uint32_t put(struct watching *w, const char *text)
{
    return imap_fake_put(w->server, text, strlen(text));
}

/* Until the thread has looked at all that is there and waits for the n-th time. */
static void wait_idle(struct watching *w, int n)
{
    imap_fake_wait(w->server, "IDLE", n);
}

static struct imap_box_row box(struct watching *w)
{
    struct imap_box_row row;
    struct err err = ERR_INIT;

    assert_ok(imap_box_get(rig_conn(&w->rig), "club@127.0.0.1/INBOX", &row, &err), err);
    return row;
}

#define LETTER(n) "Delivered-To: play+" n "@example.org\r\nReturn-Path: <a@b>\r\n\r\ne4\r\n"

static void test_letters_are_taken_marked_and_remembered_and_new_ones_heard_of(void **state)
{
    struct watching *w = *state;

    put(w, LETTER("one"));
    put(w, LETTER("two"));
    start(w, /* is_kept= */ true);
    wait_idle(w, 1);
    assert_int_equal(w->fake->n, 2);
    assert_string_equal(w->fake->letters[0].recipient, "play+one@example.org");
    assert_string_equal(w->fake->letters[0].sender, "a@b");
    assert_string_equal(w->fake->letters[1].bytes, LETTER("two"));
    assert_true(imap_fake_letter(w->server, 1).is_seen);
    assert_true(imap_fake_letter(w->server, 2).is_seen);
    assert_int_equal(box(w).last_uid, 2);
    assert_int_equal(box(w).uidvalidity, 7);
    put(w, LETTER("three"));
    wait_idle(w, 2);
    assert_int_equal(w->fake->n, 3);
    assert_int_equal(box(w).last_uid, 3);
    assert_int_equal(imap_watch_stats(w->watch).taken, 3);
    assert_true(imap_watch_stats(w->watch).is_connected);
    stop(w);
    start(w, true); /* what was read is not fetched again */
    wait_idle(w, 3);
    assert_int_equal(imap_fake_letter(w->server, 3).fetched, 1);
}

static void test_a_letter_is_deleted_only_when_it_is_safe(void **state)
{
    struct watching *w = *state;

    fake_set(w->fake, /* is_held= */ true, ST_OK, ST_OK);
    put(w, LETTER("one"));
    start(w, /* is_kept= */ false);
    fake_wait(w->fake, 1);
    assert_true(imap_fake_letter(w->server, 1).is_there);
    assert_int_equal(imap_fake_count(w->server, "UID STORE"), 0);
    fake_release(w->fake, ST_OK);
    wait_idle(w, 1);
    assert_false(imap_fake_letter(w->server, 1).is_there);
}

/* P39: a letter that will never do blocks nothing, and is not deleted. */
static void test_letters_that_will_never_do_are_passed_over(void **state)
{
    struct watching *w = *state;
    char large[LETTER_SIZE + 100];

    memset(large, 'x', sizeof large);
    memcpy(large, LETTER("large"), strlen(LETTER("large")));
    put(w, "To: joe@example.org\r\n\r\n");
    imap_fake_put(w->server, large, sizeof large);
    put(w, LETTER("good"));
    start(w, /* is_kept= */ false);
    wait_idle(w, 1);
    assert_int_equal(w->fake->n, 1);
    assert_string_equal(w->fake->letters[0].recipient, "play+good@example.org");
    assert_true(imap_fake_letter(w->server, 1).is_seen);
    assert_true(imap_fake_letter(w->server, 1).is_there);
    assert_true(imap_fake_letter(w->server, 2).is_seen);
    assert_int_equal(imap_fake_letter(w->server, 2).fetched, 0); /* its size told enough */
    assert_int_equal(imap_watch_stats(w->watch).passed, 2);
    assert_int_equal(box(w).last_uid, 3);
}

static void test_a_mailbox_that_was_renumbered_is_looked_at_again(void **state)
{
    struct watching *w = *state;

    put(w, LETTER("one"));
    start(w, true);
    wait_idle(w, 1);
    stop(w);
    imap_fake_renumber(w->server, 8);
    start(w, true);
    wait_idle(w, 2);
    assert_int_equal(w->fake->n, 2); /* the inbox knows it by its fingerprint */
    assert_int_equal(box(w).uidvalidity, 8);
    assert_int_equal(box(w).last_uid, 1);
}

static void test_a_store_that_fails_leaves_letters_unread_for_the_next_try(void **state)
{
    struct watching *w = *state;

    fake_set(w->fake, false, ST_IO, ST_OK);
    put(w, LETTER("one"));
    start(w, true);
    imap_fake_wait(w->server, "LOGOUT", 1);
    stop(w);
    assert_false(imap_fake_letter(w->server, 1).is_seen);
    fake_set(w->fake, false, ST_OK, ST_OK);
    start(w, true);
    wait_idle(w, 1);
    assert_true(imap_fake_letter(w->server, 1).is_seen);
    assert_int_equal(w->fake->answered, 2);
}

static void test_a_lost_connection_after_the_letter_was_stored_loses_and_repeats_nothing_else(
    void **state)
{
    struct watching *w = *state;
    const struct imap_fake_ways ways = {.hangs_up_at = "UID STORE"};

    imap_fake_set(w->server, &ways);
    put(w, LETTER("one"));
    put(w, LETTER("two"));
    start(w, true);
    imap_fake_wait(w->server, "UID STORE", 1);
    stop(w); /* instead of waiting for the next try */
    start(w, true);
    wait_idle(w, 1);
    assert_int_equal(w->fake->n, 3); /* the first one twice: the inbox knows it */
    assert_string_equal(w->fake->letters[1].recipient, "play+one@example.org");
    assert_true(imap_fake_letter(w->server, 1).is_seen);
    assert_true(imap_fake_letter(w->server, 2).is_seen);
}

static void test_a_stop_waits_for_no_server(void **state)
{
    struct watching *w = *state;
    static const char *const words[] = {"LOGIN", "SELECT", "UID SEARCH", "UID FETCH"};

    put(w, LETTER("one"));
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        const struct imap_fake_ways ways = {.silent_at = words[i]};
        int before = imap_fake_count(w->server, words[i]);
        imap_fake_set(w->server, &ways);
        start(w, true);
        imap_fake_wait(w->server, words[i], before + 1);
        stop(w); /* the server would be silent for a minute */
    }
}

static void test_pauses_double_and_end_at_ten_minutes(void **state)
{
    (void)state;
    assert_int_equal(imap_watch_pause(1), 5000);
    assert_int_equal(imap_watch_pause(2), 10000);
    assert_int_equal(imap_watch_pause(7), 320000);
    assert_int_equal(imap_watch_pause(8), 600000);
    assert_int_equal(imap_watch_pause(1000000), 600000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, watching_make, watching_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_letters_are_taken_marked_and_remembered_and_new_ones_heard_of),
        TEST(test_a_letter_is_deleted_only_when_it_is_safe),
        TEST(test_letters_that_will_never_do_are_passed_over),
        TEST(test_a_mailbox_that_was_renumbered_is_looked_at_again),
        TEST(test_a_store_that_fails_leaves_letters_unread_for_the_next_try),
        TEST(test_a_lost_connection_after_the_letter_was_stored_loses_and_repeats_nothing_else),
        TEST(test_a_stop_waits_for_no_server),
        cmocka_unit_test(test_pauses_double_and_end_at_ten_minutes),
    };

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

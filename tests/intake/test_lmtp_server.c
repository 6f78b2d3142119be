/* The LMTP server's sockets and its thread, with a door that answers when it is told. */
#include "support/harness.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"
#include "intake/fake_door.h"
#include "intake/lmtp_server.h"
#include "mail/lmtp.h"

enum { CONNECTIONS = 4, LETTER_SIZE = 200 * 1000 };

struct rig {
    struct fake *fake;
    struct lmtp_server *server;
    struct sockaddr_un at;
    pthread_mutex_t mutex; /* over the clock, which the test turns while the server reads */
    struct clock_reading now;
};

static struct clock_reading rig_read(void *arg)
{
    struct rig *r = arg;
    struct clock_reading now;

    pthread_mutex_lock(&r->mutex);
    now = r->now;
    pthread_mutex_unlock(&r->mutex);
    return now;
}

static void rig_advance(struct rig *r, int64_t ms)
{
    pthread_mutex_lock(&r->mutex);
    r->now.monotonic_ms += ms;
    pthread_mutex_unlock(&r->mutex);
    lmtp_server_wake(r->server);
}

static void server_begin(struct rig *r)
{
    struct lmtp_server_options options = {.name = "mx.example.org",
                                          .letter_size = LETTER_SIZE,
                                          .connections = CONNECTIONS,
                                          .n_listen = 1,
                                          .clock = {.read = rig_read, .arg = r}};
    struct err err = ERR_INIT;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&r->at, sizeof r->at), 0);
    assert_int_equal(listen(fd, 100), 0);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    options.door = fake_door(r->fake);
    options.listen_fds = &fd;
    assert_ok(lmtp_server_start(&options, &r->server, &err), err);
}

static int rig_make(void **state)
{
    struct rig *r = calloc(1, sizeof *r);

    assert_non_null(r);
    pthread_mutex_init(&r->mutex, NULL);
    r->fake = fake_new();
    r->at.sun_family = AF_UNIX;
    snprintf(r->at.sun_path, sizeof r->at.sun_path, "/tmp/fh-lmtp-%ld.sock", (long)getpid());
    (void)unlink(r->at.sun_path);
    server_begin(r);
    *state = r;
    return 0;
}

static int rig_remove(void **state)
{
    struct rig *r = *state;

    if (r->server) {
        fake_release(r->fake, ST_OK);
        lmtp_server_stop(r->server, 0);
    }
    unlink(r->at.sun_path);
    fake_free(r->fake);
    pthread_mutex_destroy(&r->mutex);
    free(r);
    return 0;
}

static int client(struct rig *r)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_int_equal(connect(fd, (const struct sockaddr *)&r->at, sizeof r->at), 0);
    return fd;
}

static void say(int fd, const char *text)
{
    size_t n = strlen(text);

    assert_int_equal(send(fd, text, n, MSG_NOSIGNAL), (ssize_t)n);
}

/* The next bytes from the server are exactly these. */
static void hear(int fd, const char *text)
{
    char heard[4096];
    size_t n = 0, want = strlen(text);

    assert_true(want < sizeof heard);
    while (n < want) {
        ssize_t got = read(fd, heard + n, want - n);
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    heard[n] = '\0';
    assert_string_equal(heard, text);
}

static void hear_end(int fd)
{
    char byte;

    assert_int_equal(read(fd, &byte, 1), 0);
    close(fd);
}

/* Nothing has been said so far. */
static void hear_nothing(int fd)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    assert_int_equal(poll(&wait, 1, 0), 0);
}

#define GREETING "220 mx.example.org LMTP Fourhanded\r\n"
#define HELLO                                                                                      \
    "250-mx.example.org\r\n250-PIPELINING\r\n250-ENHANCEDSTATUSCODES\r\n250-8BITMIME\r\n"          \
    "250-SMTPUTF8\r\n"                                                                             \
    "250 SIZE 200000\r\n"
#define ENVELOPE "MAIL FROM:<a@b.example>\r\nRCPT TO:<play+x@example.org>\r\n"
#define ENVELOPE_OK "250 2.1.0 OK\r\n250 2.1.5 OK\r\n"
#define GO "354 The letter, then a line with a dot alone\r\n"
#define TAKEN "250 2.0.0 Taken\r\n"
#define LATER "451 4.3.0 It could not be kept, come again later\r\n"

static int greeted(struct rig *r)
{
    int fd = client(r);

    hear(fd, GREETING);
    say(fd, "LHLO mta\r\n");
    hear(fd, HELLO);
    return fd;
}

static void test_nothing_is_taken_before_it_is_durable(void **state)
{
    struct rig *r = *state;
    int fd = greeted(r);

    fake_set(r->fake, /* is_held= */ true, ST_OK, ST_OK);
    say(fd, ENVELOPE "RCPT TO:<play@example.org>\r\nDATA\r\n");
    hear(fd, ENVELOPE_OK "250 2.1.5 OK\r\n" GO);
    say(fd, "Subject: x\r\n\r\n..e4\r\n.\r\n");
    fake_wait(r->fake, 2);
    hear_nothing(fd);
    fake_release(r->fake, ST_OK);
    hear(fd, TAKEN TAKEN);
    assert_string_equal(r->fake->letters[0].sender, "a@b.example");
    assert_string_equal(r->fake->letters[0].recipient, "play+x@example.org");
    assert_string_equal(r->fake->letters[1].recipient, "play@example.org");
    assert_string_equal(r->fake->letters[1].bytes, "Subject: x\r\n\r\n.e4\r\n");
    say(fd, "QUIT\r\n");
    hear(fd, "221 2.0.0 Good bye\r\n");
    hear_end(fd);
}

static void test_a_store_that_fails_leaves_the_letter_with_its_sender(void **state)
{
    struct rig *r = *state;
    int fd = greeted(r);

    fake_set(r->fake, false, ST_IO, ST_OK); /* the commit fails */
    say(fd, ENVELOPE "DATA\r\n");
    hear(fd, ENVELOPE_OK GO);
    say(fd, "a\r\n.\r\n");
    hear(fd, LATER);
    fake_set(r->fake, false, ST_OK, ST_BUSY); /* the writer's queue is full */
    say(fd, ENVELOPE "DATA\r\n");
    hear(fd, ENVELOPE_OK GO);
    say(fd, "a\r\n.\r\n");
    hear(fd, LATER);
    fake_set(r->fake, false, ST_OK, ST_INVALID);
    say(fd, ENVELOPE "RCPT TO:<play@example.org>\r\nDATA\r\n");
    hear(fd, ENVELOPE_OK "250 2.1.5 OK\r\n" GO);
    say(fd, "a\r\n.\r\n");
    hear(fd, "550 5.1.1 Nobody of that address is here\r\n"
             "550 5.1.1 Nobody of that address is here\r\n");
    fake_set(r->fake, false, ST_OK, ST_OK);
    say(fd, ENVELOPE "DATA\r\n");
    hear(fd, ENVELOPE_OK GO);
    say(fd, "a\r\n.\r\n");
    hear(fd, TAKEN);
    assert_int_equal(r->fake->n, 2);
    assert_int_equal(lmtp_server_stats(r->server).taken, 1);
    assert_int_equal(lmtp_server_stats(r->server).later, 2);
    assert_int_equal(lmtp_server_stats(r->server).not_ours, 2);
    close(fd);
}

static void test_what_is_pipelined_waits_and_keeps_its_order(void **state)
{
    struct rig *r = *state;
    int fd = greeted(r), other = greeted(r);

    fake_set(r->fake, true, ST_OK, ST_OK);
    say(fd, ENVELOPE "DATA\r\n1\r\n.\r\n" ENVELOPE "DATA\r\n2\r\n.\r\nNOOP\r\nQUIT\r\n");
    fake_wait(r->fake, 1);
    hear(fd, ENVELOPE_OK GO);
    hear_nothing(fd);
    say(other, "NOOP\r\n"); /* nobody else waits for that */
    hear(other, "250 2.0.0 OK\r\n");
    fake_release(r->fake, ST_OK);
    hear(fd, TAKEN ENVELOPE_OK GO);
    fake_wait(r->fake, 2);
    fake_release(r->fake, ST_IO);
    hear(fd, LATER "250 2.0.0 OK\r\n221 2.0.0 Good bye\r\n");
    hear_end(fd);
    close(other);
}

static void test_a_peer_that_hangs_up_too_early_leaves_its_letter_here(void **state)
{
    struct rig *r = *state;
    int fd = greeted(r);

    fake_set(r->fake, true, ST_OK, ST_OK);
    say(fd, ENVELOPE "DATA\r\n1\r\n.\r\n");
    fake_wait(r->fake, 1);
    close(fd);
    fd = greeted(r);
    fake_release(r->fake, ST_OK);
    fake_set(r->fake, false, ST_OK, ST_OK);
    say(fd, ENVELOPE "DATA\r\n1\r\n.\r\n"); /* and it repeats it */
    hear(fd, ENVELOPE_OK GO TAKEN);
    close(fd);
    assert_int_equal(r->fake->answered, 2);
}

static void test_one_connection_more_than_allowed_is_told_to_come_again(void **state)
{
    struct rig *r = *state;
    int fds[CONNECTIONS], one_more;

    for (int i = 0; i < CONNECTIONS; i++)
        fds[i] = greeted(r);
    one_more = client(r);
    hear(one_more, "421 4.3.2 Too many connections, come again later\r\n");
    hear_end(one_more);
    say(fds[2], "QUIT\r\n");
    hear(fds[2], "221 2.0.0 Good bye\r\n");
    hear_end(fds[2]);
    fds[2] = greeted(r);
    for (int i = 0; i < CONNECTIONS; i++)
        close(fds[i]);
    assert_int_equal(lmtp_server_stats(r->server).refused_connections, 1);
}

/* A connection that only keeps itself busy is ended, so that it holds no place for ever. */
static void test_who_brings_no_letter_for_too_long_is_ended(void **state)
{
    struct rig *r = *state;
    int slow = greeted(r);

    for (int i = 0; i < 2; i++) {
        rig_advance(r, LMTP_SERVER_LETTER_MS / 2 - 1);
        say(slow, "NOOP\r\n");
        hear(slow, "250 2.0.0 OK\r\n");
    }
    rig_advance(r, 1);
    say(slow, "NOOP\r\n");
    hear(slow, "250 2.0.0 OK\r\n");
    rig_advance(r, 1);
    hear(slow, "421 4.4.2 Nothing came for too long\r\n");
    hear_end(slow);
}

static void test_who_is_silent_too_long_is_ended_and_who_waits_for_us_is_not(void **state)
{
    struct rig *r = *state;
    int silent = greeted(r), waiting = greeted(r), half = greeted(r);

    fake_set(r->fake, true, ST_OK, ST_OK);
    say(waiting, ENVELOPE "DATA\r\n1\r\n.\r\n");
    say(half, ENVELOPE "DATA\r\nhalf a lett");
    hear(half, ENVELOPE_OK GO);
    fake_wait(r->fake, 1);
    rig_advance(r, LMTP_SERVER_IDLE_MS - 1);
    say(silent, "NOOP\r\n"); /* the clock is looked at before the reply */
    hear(silent, "250 2.0.0 OK\r\n");
    rig_advance(r, 1);
    hear(half, "421 4.4.2 Nothing came for too long\r\n");
    hear_end(half);
    hear_nothing(silent);
    rig_advance(r, LMTP_SERVER_IDLE_MS - 1);
    hear(silent, "421 4.4.2 Nothing came for too long\r\n");
    hear_end(silent);
    fake_release(r->fake, ST_OK);
    hear(waiting, ENVELOPE_OK GO TAKEN);
    close(waiting);
}

struct stopping {
    struct rig *rig;
    int64_t drain_ms;
};

static void *stop_main(void *arg)
{
    struct stopping *s = arg;

    lmtp_server_stop(s->rig->server, s->drain_ms);
    return NULL;
}

static void test_at_a_stop_the_idle_are_told_and_the_waiting_get_their_answer(void **state)
{
    struct rig *r = *state;
    struct stopping s = {r, MS_HOUR};
    pthread_t thread;
    int idle = greeted(r), waiting = greeted(r), gone = greeted(r);

    fake_set(r->fake, true, ST_OK, ST_OK);
    say(waiting, ENVELOPE "DATA\r\n1\r\n.\r\nNOOP\r\n");
    fake_wait(r->fake, 1);
    say(gone, ENVELOPE "DATA\r\n2\r\n.\r\n");
    fake_wait(r->fake, 2);
    close(gone);
    assert_int_equal(pthread_create(&thread, NULL, stop_main, &s), 0);
    hear(idle, "421 4.3.2 The server stops, come again later\r\n");
    hear_end(idle);
    hear(waiting, ENVELOPE_OK GO);
    fake_release(r->fake, ST_OK);
    hear(waiting, TAKEN "250 2.0.0 OK\r\n421 4.3.2 The server stops, come again later\r\n");
    hear_end(waiting);
    pthread_join(thread, NULL);
    r->server = NULL;
    idle = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(idle, (const struct sockaddr *)&r->at, sizeof r->at), -1);
    close(idle);
}

static void test_who_does_not_read_is_neither_read_nor_waited_for(void **state)
{
    struct rig *r = *state;
    int fd = greeted(r), other = greeted(r);
    char *noops = malloc(1000 * 1000 + 1);
    size_t sent = 0;

    assert_non_null(noops);
    for (size_t i = 0; i < 200 * 1000; i++)
        memcpy(noops + 5 * i, "NOOP\n", 5);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    for (int rounds = 0; rounds < 100; rounds++) { /* until nothing more goes through */
        ssize_t n = send(fd, noops, 1000 * 1000, MSG_NOSIGNAL);
        say(other, "NOOP\r\n"); /* the server has had its turn when this is answered */
        hear(other, "250 2.0.0 OK\r\n");
        if (n > 0)
            sent += (size_t)n;
        else if (rounds > 20)
            break;
    }
    assert_true(sent < 20 * 1000 * 1000);
    lmtp_server_stop(r->server, 0);
    r->server = NULL;
    hear(other, "421 4.3.2 The server stops, come again later\r\n");
    hear_end(other);
    close(fd);
    free(noops);
}

static void test_a_letter_of_the_largest_size_comes_through_whole(void **state)
{
    struct rig *r = *state;
    char *letter = malloc(LETTER_SIZE + 10);
    int fd = greeted(r);

    assert_non_null(letter);
    memset(letter, 'x', LETTER_SIZE);
    memcpy(letter + LETTER_SIZE - 2, "\r\n.\r\n", 6);
    say(fd, ENVELOPE "DATA\r\n");
    hear(fd, ENVELOPE_OK GO);
    for (size_t at = 0, n = LETTER_SIZE + 3; at < n;) {
        ssize_t sent = send(fd, letter + at, n - at, MSG_NOSIGNAL);
        assert_true(sent > 0);
        at += (size_t)sent;
    }
    hear(fd, TAKEN);
    assert_int_equal(r->fake->letters[0].size, LETTER_SIZE);
    assert_memory_equal(r->fake->letters[0].bytes, letter, LETTER_SIZE);
    close(fd);
    free(letter);
}

/* ---------------------------------------------------------------- many at once */

enum { SENDERS = CONNECTIONS, LETTERS_EACH = 300 };

struct sender {
    struct rig *rig;
    int number;
};

static void *sender_main(void *arg)
{
    struct sender *s = arg;
    char text[200];
    int fd = greeted(s->rig);

    for (int i = 0; i < LETTERS_EACH; i++) {
        snprintf(text, sizeof text, ENVELOPE "DATA\r\n%d/%d\r\n.\r\n", s->number, i);
        say(fd, text);
        hear(fd, ENVELOPE_OK GO TAKEN);
    }
    close(fd);
    return NULL;
}

static void test_letters_of_many_senders_are_all_there_once(void **state)
{
    struct rig *r = *state;
    struct sender senders[SENDERS];
    pthread_t threads[SENDERS];
    int next[SENDERS] = {0};

    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){r, i};
        assert_int_equal(pthread_create(&threads[i], NULL, sender_main, &senders[i]), 0);
    }
    for (int i = 0; i < SENDERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(r->fake->n, SENDERS * LETTERS_EACH);
    for (size_t i = 0; i < r->fake->n; i++) {
        int sender, letter;
        assert_int_equal(sscanf(r->fake->letters[i].bytes, "%d/%d", &sender, &letter), 2);
        assert_int_equal(letter, next[sender]++);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_make, rig_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_taken_before_it_is_durable),
        TEST(test_a_store_that_fails_leaves_the_letter_with_its_sender),
        TEST(test_what_is_pipelined_waits_and_keeps_its_order),
        TEST(test_a_peer_that_hangs_up_too_early_leaves_its_letter_here),
        TEST(test_one_connection_more_than_allowed_is_told_to_come_again),
        TEST(test_who_brings_no_letter_for_too_long_is_ended),
        TEST(test_who_is_silent_too_long_is_ended_and_who_waits_for_us_is_not),
        TEST(test_at_a_stop_the_idle_are_told_and_the_waiting_get_their_answer),
        TEST(test_who_does_not_read_is_neither_read_nor_waited_for),
        TEST(test_a_letter_of_the_largest_size_comes_through_whole),
        TEST(test_letters_of_many_senders_are_all_there_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

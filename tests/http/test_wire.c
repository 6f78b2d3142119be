/*
 * What comes over a socket and is not as it should be: the pitfalls of the HTTP library under us.
 * Each test speaks raw bytes to a server in this process.
 */
#include "support/harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/str.h"
#include "fixture.h"
#include "store/outage.h"
#include "store/users.h"

static struct fixture fixture;

static int connect_to(int port)
{
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
    return fd;
}

static void send_bytes(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;

    while (n > 0) {
        ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);

        if (sent <= 0)
            return; /* the server has closed: what it said is read next */
        at += sent;
        n -= (size_t)sent;
    }
}

static void send_text(int fd, const char *text)
{
    send_bytes(fd, text, strlen(text));
}

/* All that comes until the server closes. */
static char *read_all(int fd)
{
    struct buf all = buf_make(4 * 1024 * 1024);
    char part[4096];
    ssize_t n;

    while ((n = recv(fd, part, sizeof part, 0)) > 0)
        buf_add(&all, part, (size_t)n);
    close(fd);
    return buf_take(&all, NULL);
}

/* Speak, close our side, and hear all of the answer. */
static char *ask_bytes(const void *bytes, size_t n)
{
    int fd = connect_to(fixture.port);

    send_bytes(fd, bytes, n);
    shutdown(fd, SHUT_WR);
    return read_all(fd);
}

static char *ask(const char *text)
{
    return ask_bytes(text, strlen(text));
}

#define REST "Host: x\r\nConnection: close\r\n\r\n"

static void assert_answer(const char *request, int status, const char *part)
{
    char *answer = ask(request), want[32];

    snprintf(want, sizeof want, "HTTP/1.1 %d ", status);
    if (strncmp(answer, want, strlen(want)) != 0 || (part && !strstr(answer, part)))
        fail_msg("asked:\n%.200s\nwanted %s and '%s', got:\n%.800s", request, want,
                 part ? part : "", answer);
    free(answer);
}

static int count(const char *text, const char *part)
{
    int n = 0;

    while ((text = strstr(text, part)) != NULL) {
        n++;
        text += strlen(part);
    }
    return n;
}

/* ------------------------------------------------------------------------------ framing */

static void test_headers_that_may_stand_once_are_refused_twice(void **state)
{
    static const char *const twice[] = {
        "Host: x\r\nHost: y\r\n",
        "Host: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n",
        "Host: x\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n",
        "Host: x\r\nContent-Type: application/json\r\nContent-Type: text/plain\r\n",
        "Host: x\r\nCookie: a=1\r\nCookie: b=2\r\n",
        "Host: x\r\nOrigin: http://a\r\nOrigin: http://b\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++) {
        char request[512];

        snprintf(request, sizeof request, "GET /api/v1 HTTP/1.1\r\n%s\r\n", twice[i]);
        assert_answer(request, 400, "is there twice");
    }
}

static void test_two_lengths_are_one_refusal_and_no_second_request(void **state)
{
    char *answer = ask("POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\n"
                       "Content-Type: application/json\r\nContent-Length: 2\r\n"
                       "Content-Length: 60\r\n\r\n{}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");

    (void)state;
    assert_int_equal(count(answer, "HTTP/1.1 "), 1);
    assert_true(strncmp(answer, "HTTP/1.1 400 ", 13) == 0);
    free(answer);
}

static void test_length_and_chunks_together_smuggle_nothing(void **state)
{
    char *answer = ask("POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\n"
                       "Content-Type: application/json\r\nContent-Length: 4\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n"
                       "0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");

    (void)state;
    assert_int_equal(count(answer, "HTTP/1.1 "), 1);
    assert_true(strncmp(answer, "HTTP/1.1 400 ", 13) == 0);
    assert_non_null(strstr(answer, "Connection: close"));
    free(answer);
}

static void test_foreign_encodings_are_refused_at_once(void **state)
{
    (void)state;
    assert_answer("POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\n"
                  "Transfer-Encoding: xchunked\r\n\r\n",
                  400, "only `Transfer-Encoding`");
    /* which the library would read as a body that ends with the connection */
    assert_answer("POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\n"
                  "Content-Type: application/json\r\nTransfer-Encoding: chunked \r\n\r\n"
                  "2\r\n{}\r\n0\r\n\r\n",
                  400, "only `Transfer-Encoding`");
    assert_answer("POST /api/v1/auth/link HTTP/1.0\r\nHost: x\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n",
                  400, NULL);
}

/* One answer, a problem document, and the connection closed after it. */
static void assert_problem(const void *bytes, size_t n, int status, const char *part)
{
    char *answer = ask_bytes(bytes, n), want[32];

    snprintf(want, sizeof want, "HTTP/1.1 %d ", status);
    if (strncmp(answer, want, strlen(want)) != 0 || count(answer, "HTTP/1.1 ") != 1 ||
        !strstr(answer, "\r\nContent-Type: application/problem+json\r\n") ||
        !strstr(answer, "\r\nDate: ") || !strstr(answer, "\r\nConnection: close\r\n") ||
        strstr(answer, "<html>") || !strstr(answer, part))
        fail_msg("asked:\n%.200s\nwanted one %sand '%s', got:\n%.800s", (const char *)bytes, want,
                 part, answer);
    free(answer);
}

static void assert_problem_text(const char *request, int status, const char *part)
{
    assert_problem(request, strlen(request), status, part);
}

/* U6: codes are the same in every language, what people read is in theirs. */
static void test_a_refusal_speaks_the_language_that_was_asked_for(void **state)
{
    static const char form[] = "Content-Type: application/json\r\nContent-Length: 2\r\n" REST "{}";
    char request[400];

    (void)state;
    assert_answer("GET /api/v1/nothing HTTP/1.1\r\nAccept-Language: de, ru;q=0.8\r\n" REST, 404,
                  "\"code\":\"not_found\",\"detail\":\"по этому пути ничего нет\"");
    assert_answer("GET /api/v1/nothing HTTP/1.1\r\nAccept-Language: ru\r\n" REST, 404,
                  "\"title\":\"Такого здесь нет\"");
    assert_answer("GET /api/v1/nothing HTTP/1.1\r\nAccept-Language: ro-MD\r\n" REST, 404,
                  "\r\nContent-Language: ro\r\n");
    assert_answer("GET /api/v1/nothing HTTP/1.1\r\nAccept-Language: fr\r\n" REST, 404,
                  "\r\nContent-Language: en\r\n");
    assert_answer("GET /problems/illegal_move HTTP/1.1\r\nAccept-Language: ro\r\n" REST, 200,
                  "Mutarea nu este legală");
    snprintf(request, sizeof request,
             "POST /api/v1/auth/link HTTP/1.1\r\nAccept-Language: ro\r\n%s", form);
    assert_answer(request, 400, "\"detail\":\"/login: trebuie dat\"");
    assert_answer(request, 400, "\"errors\":[{\"pointer\":\"/login\",\"detail\":\"trebuie dat\"}]");
    snprintf(request, sizeof request, "POST /api/v1/auth/link HTTP/1.1\r\n%s", form);
    assert_answer(request, 400, "\"errors\":[{\"pointer\":\"/login\",\"detail\":\"is needed\"}]");
}

static void test_a_request_without_host_is_refused(void **state)
{
    (void)state;
    assert_problem_text("GET /api/v1 HTTP/1.0\r\n\r\n", 400, "the header `Host` is missing");
    assert_problem_text("GET /api/v1 HTTP/1.1\r\n\r\n", 400, "the header `Host` is missing");
    assert_problem_text("POST /api/v1/auth/link HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", 400,
                        "the header `Host` is missing");
}

static void test_what_the_library_would_refuse_names_its_path_but_no_secret(void **state)
{
    char *answer;

    (void)state;
    assert_answer("POST /api/v1/auth/link?x=1 HTTP/1.1\r\nHost: x\r\n"
                  "Content-Length: no\r\n\r\n",
                  400, "\"instance\":\"/api/v1/auth/link\"");
    assert_answer("POST /api/v1/games HTTP/1.1\r\nHost: x\r\n"
                  "Content-Length: 99999999999999999999999999\r\n\r\n",
                  413, "\"instance\":\"/api/v1/games\"");
    answer = ask("POST /login/abcdefghijklmnopqrstuvwxyz HTTP/1.1\r\nHost: x\r\n"
                 "Content-Length: no\r\n\r\n");
    assert_non_null(strstr(answer, "HTTP/1.1 400 "));
    assert_null(strstr(answer, "instance"));
    free(answer);
}

/* MHD refuses these by itself, with two heads; ours comes before and stays alone. */
static void test_a_length_that_is_none_gets_one_problem_document(void **state)
{
    static const struct {
        const char *length;
        int status;
    } lengths[] = {{"abc", 400}, {"12x", 400}, {"-1", 400}, {"", 400}, {"0x10", 400}, {"1 2", 400},
                   {"99999999999999999999999999", 413}};
    int slow[4];

    (void)state;
    /* Other heads of the same threads that are not complete must not be taken for it. */
    for (int i = 0; i < 4; i++) {
        slow[i] = connect_to(fixture.port);
        send_text(slow[i], "GET / HTTP/1.1\r\nHost:");
    }
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char request[256];

        snprintf(request, sizeof request,
                 "POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\nContent-Length: %s\r\n\r\n"
                 "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
                 lengths[i].length);
        assert_problem_text(request, lengths[i].status,
                            lengths[i].status == 400 ? "`Content-Length` is not a number"
                                                     : "a body has at most 65536 bytes");
    }
    for (int i = 0; i < 4; i++)
        close(slow[i]);
    /* And after a request that was served. */
    {
        char *answer = ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
                           "POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\n"
                           "Content-Length: no\r\n\r\n{}");

        assert_int_equal(count(answer, "HTTP/1.1 200 "), 1);
        assert_int_equal(count(answer, "HTTP/1.1 400 "), 1);
        assert_int_equal(count(answer, "HTTP/1.1 "), 2);
        free(answer);
    }
}

/* What MHD cuts, joins or overlooks in a head. */
static void test_a_head_that_is_not_what_it_seems_is_refused(void **state)
{
#define LINE "GET /healthz HTTP/1.1\r\n"
#define HEAD(text) {LINE text "\r\n", sizeof LINE text "\r\n" - 1}
    static const struct {
        const char *bytes;
        size_t n;
    } heads[] = {
        HEAD("Host: x\r\nX-A: b\0c\r\n"),
        HEAD("Host: x\r\nX-A: b\0\0\0\0c\r\n"),
        HEAD("X-A: \0\r\nHost: x\r\n"),
        HEAD("Host: x\0\r\n"),
        HEAD("Host: x\0y\r\nX-A: b\r\n"),
        HEAD("Host: x\r\nX-A: b\r\n c\r\n"),
        HEAD("Host: x\r\n\tX-A: b\r\n"),
        HEAD("Host: x\nX-A: b\r\n"),
        HEAD("Host: x\r\nX-A: b\n"),
        HEAD("Host: x\r\nX A: b\r\n"),
        HEAD("Host: x\r\nX-A : b\r\n"),
        HEAD("Host: x\r\n: b\r\n"),
        HEAD("Host: x\r\nX-A: b\rc\r\n"),
        {"GET /healthz\0/x HTTP/1.1\r\nHost: x\r\n\r\n",
         sizeof "GET /healthz\0/x HTTP/1.1\r\nHost: x\r\n\r\n" - 1},
        {"GE\0T /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
         sizeof "GE\0T /healthz HTTP/1.1\r\nHost: x\r\n\r\n" - 1},
        {"GET /healthz HTTP/1.1\nHost: x\r\n\r\n",
         sizeof "GET /healthz HTTP/1.1\nHost: x\r\n\r\n" - 1},
        {"GET /healthz HTTP/1.1\r\nHost: x\r\n\n",
         sizeof "GET /healthz HTTP/1.1\r\nHost: x\r\n\n" - 1},
        {"GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
         sizeof "GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n" - 1},
    };
#undef HEAD
#undef LINE

    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        assert_problem(heads[i].bytes, heads[i].n, 400, "\"code\":\"bad_request\"");
    assert_answer("GET /health z HTTP/1.1\r\n" REST, 400, "a blank or a control character");
    /* While empty values, blanks around them and empty lines before a request are no fault. */
    assert_answer("\r\n\r\nGET /healthz HTTP/1.1\r\nX-A:\r\nX-B:   \r\nX-C:\t b \t\r\n"
                  "Cookie: a=b\r\n" REST,
                  200, NULL);
}

/* The lines of a head lie end to end in memory also when the buffer had to grow for them. */
static void test_a_long_head_in_small_pieces_is_read(void **state)
{
    int fd = connect_to(fixture.port);
    struct buf head = buf_make(64 * 1024);
    char *answer;

    (void)state;
    buf_puts(&head, "GET /healthz?a=b HTTP/1.1\r\n");
    for (int i = 0; i < 40; i++) {
        buf_printf(&head, "X-%d: ", i);
        for (int k = 0; k < 900; k++)
            buf_putc(&head, 'x');
        buf_puts(&head, "\r\n");
    }
    buf_puts(&head, REST);
    assert_false(buf_failed(&head));
    for (size_t at = 0; at < head.len; at += 777)
        send_bytes(fd, head.data + at, head.len - at < 777 ? head.len - at : 777);
    answer = read_all(fd);
    assert_true(strncmp(answer, "HTTP/1.1 200 ", 13) == 0);
    free(answer);
    buf_release(&head);
}

static void test_a_head_too_large_and_broken_chunks_get_a_problem_document(void **state)
{
    struct buf head = buf_make(256 * 1024);

    (void)state;
    buf_puts(&head, "GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ");
    for (int k = 0; k < 100000; k++)
        buf_putc(&head, 'x');
    buf_puts(&head, "\r\n\r\n");
    assert_problem(head.data, head.len, 431, "the header lines are too long");
    buf_release(&head);
    assert_problem_text("POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\n"
                        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                        "zz\r\n{}\r\n0\r\n\r\n",
                        400, "the chunks of the body are not well-formed");
    /* a chunk whose line does not end: no fault of the server's, as the library has it */
    head = buf_make(256 * 1024);
    buf_puts(&head, "POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\n"
                    "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2;");
    for (int k = 0; k < 100000; k++)
        buf_putc(&head, 'x');
    assert_problem(head.data, head.len, 400, "the chunks of the body are not well-formed");
    buf_release(&head);
}

/* A first line, or a header line, that the library itself refuses. */
static const struct {
    const char *request;
    int status;
    const char *part;
} bad_lines[] = {
    {"GET /healthz HTTP/2.0\r\nHost: x\r\n\r\n", 505, "what is spoken here is HTTP/1.0 and"},
    {"GET /healthz HTTP/0.9\r\nHost: x\r\n\r\n", 505, "what is spoken here is HTTP/1.0 and"},
    {"GET /healthz FTP/1.1\r\nHost: x\r\n\r\n", 400, "the request line or a header line"},
    {"GET /healthz\r\nHost: x\r\n\r\n", 400, "the request line or a header line"},
    {"GET /healthz HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400,
     "the request line or a header line"},
    {"POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
     "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nno colon\r\n\r\n",
     400, "the request line or a header line"},
};

static void test_a_line_that_is_none_gets_a_problem_document(void **state)
{
    struct buf line = buf_make(256 * 1024);
    char *answer;

    (void)state;
    for (size_t i = 0; i < sizeof bad_lines / sizeof bad_lines[0]; i++)
        assert_problem_text(bad_lines[i].request, bad_lines[i].status, bad_lines[i].part);
    buf_puts(&line, "GET /");
    for (int k = 0; k < 100000; k++)
        buf_putc(&line, 'x');
    buf_puts(&line, " HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_problem(line.data, line.len, 414, "the request target has at most 4096 bytes");
    buf_release(&line);
    /* Also as the second of a connection, after the answer to the first. */
    answer = ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/3.0\r\n\r\n");
    assert_true(strncmp(answer, "HTTP/1.1 200 ", 13) == 0);
    assert_int_equal(count(answer, "HTTP/1.1 "), 2);
    assert_non_null(strstr(answer, "\r\n\r\n{\"type\":\"/problems/bad_request\""));
    free(answer);
    /* A first line without a blank is no request at all. */
    answer = ask("nonsense\r\n\r\n");
    assert_true(!answer || !*answer);
    free(answer);
}

/* Whose line it was cannot be told where one thread has two to wait for: then nobody gets another's
 * refusal, and the library's own words stand, as docs/api.md says. */
static void test_a_line_that_may_be_anothers_is_left_to_the_library(void **state)
{
    static const char good[] = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    char part[2048], *answer;
    int threads = fixture.options.threads, fd;

    (void)state;
    fixture_unserve(&fixture);
    fixture.options.threads = 1;
    fixture.options.public_url = NULL;
    fixture_serve(&fixture);
    fd = connect_to(fixture.port);
    send_text(fd, good);
    assert_true(recv(fd, part, sizeof part, 0) > 0);
    for (size_t i = 0; i < sizeof bad_lines / sizeof bad_lines[0]; i++)
        assert_answer(bad_lines[i].request, bad_lines[i].status, "<html>");
    send_text(fd, "GET /healthz HTTP/1.1\r\n" REST);
    answer = read_all(fd);
    assert_true(strncmp(answer, "HTTP/1.1 200 ", 13) == 0);
    free(answer);
    for (size_t i = 0; i < sizeof bad_lines / sizeof bad_lines[0]; i++)
        assert_problem_text(bad_lines[i].request, bad_lines[i].status, bad_lines[i].part);
    fixture_unserve(&fixture);
    fixture.options.threads = threads;
    fixture.options.public_url = NULL;
    fixture_serve(&fixture);
}

static void test_a_chunked_body_is_read_and_bounded(void **state)
{
    struct buf big = buf_make(256 * 1024);

    (void)state;
    assert_answer("POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n"
                  "8\r\n{\"login\"\r\n9\r\n:\"nobody\"\r\n1\r\n}\r\n0\r\n\r\n",
                  202, "accepted");
    buf_puts(&big, "POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\n"
                   "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 20; i++) {
        buf_puts(&big, "1000\r\n");
        for (int k = 0; k < 0x1000; k++)
            buf_putc(&big, 'x');
        buf_puts(&big, "\r\n");
    }
    buf_puts(&big, "0\r\n\r\n");
    assert_answer(big.data, 413, "too_large");
    buf_release(&big);
}

static void test_a_body_too_large_is_refused_before_it_is_sent(void **state)
{
    static const char *const methods[] = {"POST", "PUT"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char request[256];

        snprintf(request, sizeof request,
                 "%s /api/v1/me/password HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                 "Content-Length: 99999999\r\n\r\n",
                 methods[i]);
        assert_answer(request, 413, "too_large");
    }
}

/* Its answer would be lost to whoever is still sending: a proxy makes a 502 of that. */
static void test_a_refused_body_that_is_not_too_long_is_read_away(void **state)
{
    static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE"};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct buf request = buf_make(2 * 1024 * 1024);
        char *answer;
        int fd = connect_to(fixture.port);

        buf_printf(&request,
                   "%s /api/v1/me/password HTTP/1.1\r\nHost: x\r\n"
                   "Content-Type: application/json\r\nContent-Length: 900000\r\n\r\n",
                   methods[i]);
        for (int k = 0; k < 900000; k++)
            buf_putc(&request, 'x');
        for (size_t at = 0; at < request.len;) {
            ssize_t n = send(fd, request.data + at, request.len - at, MSG_NOSIGNAL);

            assert_true(n > 0); /* nobody hangs up meanwhile */
            at += (size_t)n;
        }
        answer = read_all(fd);
        assert_true(strncmp(answer, "HTTP/1.1 413 ", 13) == 0 ||
                    strncmp(answer, "HTTP/1.1 405 ", 13) == 0);
        free(answer);
        buf_release(&request);
    }
}

/* MHD takes an early answer for POST and PUT alone: for the others the body is read away. */
static void test_a_refused_patch_reads_its_body_away_and_answers(void **state)
{
    struct buf big = buf_make(256 * 1024);

    (void)state;
    buf_puts(&big, "PATCH /api/v1/me HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                   "Content-Length: 100000\r\n\r\n");
    for (int i = 0; i < 100000; i++)
        buf_putc(&big, 'x');
    assert_answer(big.data, 413, "too_large");
    assert_answer("DELETE /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd", 404,
                  "Connection: close");
    buf_release(&big);
}

static void test_a_get_takes_no_body(void **state)
{
    (void)state;
    assert_answer("GET /api/v1 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", 400,
                  "takes no body");
}

/* ------------------------------------------------------------------------------ targets */

static void test_targets_are_routed_as_they_were_sent(void **state)
{
    static const struct {
        const char *target;
        int status;
    } targets[] = {
        {"/api/v1/users/an%00na", 400},
        {"/api/v1/users/anna%2f", 400},
        {"/api/v1/users/%ff", 400},
        {"/api/v1/users/%0d%0aX: y", 400},
        {"/api/v1/users/%zz", 400},
        {"/api/v1/users/%2", 400},
        {"/api/v1/users/%", 400},
        {"/api/v1/../v1", 400},
        {"/api/v1/%2e%2e/v1", 400},
        {"/./healthz", 400},
        {"/..%2f..%2fetc%2fpasswd", 400},
        {"/static/../../etc/passwd", 400},
        {"//healthz", 404},
        {"/healthz/", 404},
        {"/a/b/c/d/e/f/g/h/i/j/k/l/m/n", 404},
        {"/api/v1/users/%61nna", 200},
        {"/healthz?", 200},
        {"http://elsewhere/healthz", 200},
        {"/api/v1/games?a=1&a=2", 400},
        {"/api/v1/games?limit=%00", 400},
        {"/api/v1/games?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q", 400},
    };

    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        char request[256];

        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\n" REST, targets[i].target);
        if (strchr(targets[i].target, ' '))
            continue;
        assert_answer(request, targets[i].status, NULL);
    }
}

static void test_unknown_methods_hear_which_are_known(void **state)
{
    (void)state;
    assert_answer("FOO /api/v1/me HTTP/1.1\r\n" REST, 405, "Allow: GET, HEAD, PATCH, OPTIONS");
    assert_answer("TRACE /healthz HTTP/1.1\r\n" REST, 405, "Allow: GET, HEAD, OPTIONS");
    assert_answer("DELETE /style.css HTTP/1.1\r\n" REST, 405, "Allow: GET, HEAD, OPTIONS");
    assert_answer("POST /healthz HTTP/1.1\r\n" REST, 405, "method_not_allowed");
}

static void test_options_tell_token_clients_what_they_may_send(void **state)
{
    (void)state;
    assert_answer("OPTIONS /api/v1/games HTTP/1.1\r\nOrigin: https://a.example\r\n"
                  "Access-Control-Request-Method: POST\r\n" REST,
                  204, "Access-Control-Allow-Headers: Authorization");
    assert_answer("OPTIONS * HTTP/1.1\r\n" REST, 204, "Allow:");
}

static void test_head_has_the_headers_and_no_body(void **state)
{
    char *get = ask("GET /api/v1 HTTP/1.1\r\n" REST), *head = ask("HEAD /api/v1 HTTP/1.1\r\n" REST);
    const char *length = strstr(get, "Content-Length:");
    char line[40];

    (void)state;
    assert_non_null(length);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(length, "\r"), length);
    assert_non_null(strstr(head, line));
    assert_true(strlen(strstr(head, "\r\n\r\n")) == 4);
    free(get);
    free(head);
}

static void test_a_connection_serves_one_request_after_another(void **state)
{
    char *answer = ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
                       "GET /style.css HTTP/1.1\r\nHost: x\r\n\r\n"
                       "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n"
                       "GET /healthz HTTP/1.1\r\n" REST);

    (void)state;
    assert_int_equal(count(answer, "HTTP/1.1 200 "), 3);
    assert_int_equal(count(answer, "HTTP/1.1 404 "), 1);
    free(answer);
}

/* ------------------------------------------------------------------------------ files */

static void test_files_are_served_by_their_exact_names(void **state)
{
    char *page = ask("GET /games/7k2m9qx4 HTTP/1.1\r\n" REST), request[256], *at;
    char version[17];

    (void)state;
    assert_true(strncmp(page, "HTTP/1.1 200 ", 13) == 0);
    assert_non_null(strstr(page, "default-src 'none'; script-src 'self'"));
    at = strstr(page, "/-/");
    assert_non_null(at);
    snprintf(version, sizeof version, "%s", at + 3);
    assert_true(strcmp(version, "dev/style.css\"") != 0);
    snprintf(request, sizeof request, "GET /-/%s/views/x.js HTTP/1.1\r\n" REST, version);
    assert_answer(request, 200, "immutable");
    assert_answer("GET /-/0123456789abcdef/views/x.js HTTP/1.1\r\n" REST, 200, "no-cache");
    assert_answer("GET /views/x.js HTTP/1.1\r\n" REST, 200, "text/javascript");
    assert_answer("GET /.secret.txt HTTP/1.1\r\n" REST, 404, NULL);
    assert_answer("GET /views HTTP/1.1\r\n" REST, 404, NULL);
    assert_answer("GET /views/ HTTP/1.1\r\n" REST, 404, NULL);
    assert_answer("GET /link.txt HTTP/1.1\r\n" REST, 404, NULL);
    free(page);
}

static void test_a_file_that_the_client_has_is_not_sent_again(void **state)
{
    char *answer = ask("GET /style.css HTTP/1.1\r\n" REST), request[256], etag[32];
    const char *at = strstr(answer, "ETag: ");

    (void)state;
    assert_non_null(at);
    snprintf(etag, sizeof etag, "%.*s", (int)strcspn(at + 6, "\r"), at + 6);
    snprintf(request, sizeof request, "GET /style.css HTTP/1.1\r\nIf-None-Match: %s\r\n" REST,
             etag);
    assert_answer(request, 304, NULL);
    free(answer);
}

/* ------------------------------------------------------------------------------ patience */

/* Send text byte by byte, and more x after it, as slowly as silence is noticed, until the end. */
static char *trickle(const char *text)
{
    struct timeval pace = {.tv_usec = 50000};
    struct buf all = buf_make(64 * 1024);
    int fd = connect_to(fixture.port);
    char part[4096];
    ssize_t n;

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &pace, sizeof pace);
    for (;;) {
        send_bytes(fd, *text ? text : "x", 1);
        text += *text != '\0';
        n = recv(fd, part, sizeof part, 0);
        if (n > 0)
            buf_add(&all, part, (size_t)n);
        else if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
            break;
    }
    close(fd);
    buf_puts(&all, "");
    return buf_take(&all, NULL);
}

/* path NULL: it is not known, or not told */
static void assert_told_too_slow(char *answer, const char *path)
{
    char instance[64];

    snprintf(instance, sizeof instance, "\"instance\":\"%s\"", path ? path : "");
    if (strncmp(answer, "HTTP/1.1 408 Request Timeout\r\n", 30) != 0 ||
        count(answer, "HTTP/1.1 ") != 1 ||
        !strstr(answer, "\r\nContent-Type: application/problem+json\r\n") ||
        !strstr(answer, "\r\nConnection: close\r\n") ||
        !strstr(answer, "\"type\":\"/problems/request_timeout\"") ||
        !strstr(answer, "a request must come within 300 ms") ||
        (path ? !strstr(answer, instance) : strstr(answer, "instance") != NULL))
        fail_msg("wanted one 408, got:\n%.800s", answer);
    free(answer);
}

/* Patient with the other tests' requests, however busy the machine is, and with these two's not. */
static void serve_with_patience(int64_t request_ms, int64_t idle_ms)
{
    fixture_unserve(&fixture);
    fixture.options.request_ms = request_ms;
    fixture.options.idle_ms = idle_ms;
    fixture.options.public_url = NULL;
    fixture_serve(&fixture);
}

static int impatient(void **state)
{
    (void)state;
    serve_with_patience(300, 1000);
    return 0;
}

static int patient(void **state)
{
    const struct http_options usual = HTTP_OPTIONS_INIT;

    (void)state;
    serve_with_patience(usual.request_ms, usual.idle_ms);
    return 0;
}

static void test_a_request_that_trickles_is_told_so_and_cut_off(void **state)
{
    static const char head[] =
        "POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        "Content-Length: 20\r\n\r\n{\"log";
    char *answer;
    const char *second;
    int fd;

    (void)state;
    /* the request line; then a header line; then a body that stays out */
    assert_told_too_slow(trickle("GET /"), NULL);
    fd = connect_to(fixture.port);
    send_text(fd, "GET /healthz?a=b HTTP/1.1\r\nHost: x\r\nX-A");
    assert_told_too_slow(read_all(fd), "/healthz");
    fd = connect_to(fixture.port);
    send_text(fd, "POST /login/abcdefghijklmnopqrstuvwxyz HTTP/1.1\r\nHost: x\r\nX-A");
    assert_told_too_slow(read_all(fd), NULL); /* it has a secret in it */
    fd = connect_to(fixture.port);
    send_bytes(fd, head, sizeof head - 1);
    assert_told_too_slow(read_all(fd), "/api/v1/auth/link");
    /* after a request that was served, and a refused body that is read away */
    fd = connect_to(fixture.port);
    send_text(fd, "PATCH /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
    assert_told_too_slow(read_all(fd), "/nothing");
    fd = connect_to(fixture.port);
    send_text(fd, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /readyz HTTP/1.1\r\nHo");
    answer = read_all(fd);
    second = strstr(answer, "HTTP/1.1 408 ");
    assert_non_null(second);
    assert_told_too_slow(str_dup(second), "/readyz"); /* not the path of the request before */
    free(answer);
}

static void test_silence_is_ended_without_an_answer(void **state)
{
    int fd = connect_to(fixture.port);
    char *answer = read_all(fd);

    (void)state;
    assert_true(!answer || !*answer);
    free(answer);
}

static int open_stream(void)
{
    int fd = connect_to(fixture.port);
    char request[256], part[1024];
    ssize_t n;

    snprintf(request, sizeof request,
             "GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n"
             "Authorization: Bearer %s\r\n\r\n",
             fixture.tokens[0]);
    send_text(fd, request);
    n = recv(fd, part, sizeof part - 1, 0);
    assert_true(n > 0);
    part[n] = '\0';
    if (str_starts(part, "HTTP/1.1 200 "))
        return fd;
    assert_true(str_starts(part, "HTTP/1.1 429 "));
    close(fd);
    return -1;
}

/* A page that is left and opened again is not refused until the next sign of life. */
static void test_streams_whose_clients_have_gone_are_in_nobodys_way(void **state)
{
    enum { GONE = 3 };
    int fds[64], n = fixture.options.streams_per_account;

    (void)state;
    assert_in_range(n, GONE, sizeof fds / sizeof fds[0]);
    for (int i = 0; i < n; i++)
        assert_true((fds[i] = open_stream()) >= 0);
    assert_int_equal(open_stream(), -1);
    for (int i = 0; i < GONE; i++)
        close(fds[i]);
    for (int i = 0; i < GONE; i++)
        assert_true((fds[i] = open_stream()) >= 0);
    assert_int_equal(open_stream(), -1);
    for (int i = 0; i < n; i++)
        close(fds[i]);
}

static void test_connections_over_the_limit_are_told_so(void **state)
{
    enum { LIMIT = 4 };
    int open[LIMIT];
    char part[256];

    (void)state;
    fixture_unserve(&fixture);
    fixture.options.connections = LIMIT;
    fixture.options.public_url = NULL;
    fixture_serve(&fixture);
    /* Each has been answered, so each is counted. */
    for (int i = 0; i < LIMIT; i++) {
        open[i] = connect_to(fixture.port);
        send_text(open[i], "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_true(recv(open[i], part, sizeof part, 0) > 0);
    }
    assert_answer("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 503, "too many connections");
    for (int i = 0; i < LIMIT; i++)
        close(open[i]);
    fixture_unserve(&fixture);
    fixture.options.connections = 1024;
    fixture.options.public_url = NULL;
    fixture_serve(&fixture);
}

static void test_one_address_has_only_its_share_of_connections(void **state)
{
    char part[256];
    int first;

    (void)state;
    fixture_unserve(&fixture);
    fixture.options.connections_per_address = 1;
    fixture.options.public_url = NULL;
    fixture_serve(&fixture);
    first = connect_to(fixture.port);
    send_text(first, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_true(recv(first, part, sizeof part, 0) > 0);
    assert_answer("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 503, "too many connections");
    close(first);
    fixture_unserve(&fixture);
    fixture.options.connections_per_address = 0;
    fixture.options.public_url = NULL;
    fixture_serve(&fixture);
}

static void test_who_asks_too_often_hears_when_to_come_back(void **state)
{
    (void)state;
    fixture_unserve(&fixture);
    fixture.options.rate_requests = 2;
    fixture.options.public_url = NULL;
    atomic_store(&fixture.stands_ms, 1); /* so that no second goes by between the requests */
    fixture_serve(&fixture);
    assert_answer("GET /api/v1 HTTP/1.1\r\n" REST, 200, "RateLimit: \"requests\";r=1;t=30");
    assert_answer("GET /api/v1 HTTP/1.1\r\n" REST, 200, "RateLimit-Policy: \"requests\";q=2;w=60");
    assert_answer("GET /api/v1 HTTP/1.1\r\n" REST, 429, "Retry-After: 30");
    assert_answer("GET /healthz HTTP/1.1\r\n" REST, 200, NULL); /* is not counted */
    fixture_unserve(&fixture);
    atomic_store(&fixture.stands_ms, 0);
    fixture.options.rate_requests = 1000000;
    fixture.options.public_url = NULL;
    fixture_serve(&fixture);
}

static void test_behind_a_proxy_it_is_the_client_that_is_counted(void **state)
{
    static const char *const proxies[] = {"127.0.0.1"};

    (void)state;
    fixture_unserve(&fixture);
    fixture.options.rate_requests = 1;
    fixture.options.trusted_proxies = proxies;
    fixture.options.n_trusted_proxies = 1;
    fixture.options.public_url = NULL;
    fixture_serve(&fixture);
    assert_answer("GET /api/v1 HTTP/1.1\r\nX-Forwarded-For: 203.0.113.1\r\n" REST, 200, NULL);
    assert_answer("GET /api/v1 HTTP/1.1\r\nX-Forwarded-For: 203.0.113.2\r\n" REST, 200, NULL);
    assert_answer("GET /api/v1 HTTP/1.1\r\nX-Forwarded-For: 203.0.113.2\r\n" REST, 429, NULL);
    /* What the client itself forged stands before what the proxy wrote, in its line or in one of
     * its own. */
    assert_answer("GET /api/v1 HTTP/1.1\r\nX-Forwarded-For: 9.9.9.9, 203.0.113.2\r\n" REST, 429,
                  NULL);
    assert_answer("GET /api/v1 HTTP/1.1\r\nX-Forwarded-For: 9.9.9.9\r\n"
                  "X-Forwarded-For: 203.0.113.2\r\n" REST,
                  429, NULL);
    fixture_unserve(&fixture);
    fixture.options.rate_requests = 1000000;
    fixture.options.n_trusted_proxies = 0;
    fixture.options.public_url = NULL;
    fixture_serve(&fixture);
}

static void test_readiness_says_no_when_told_to(void **state)
{
    (void)state;
    assert_answer("GET /readyz HTTP/1.1\r\n" REST, 200, NULL);
    http_set_ready(fixture.http, false);
    assert_answer("GET /readyz HTTP/1.1\r\n" REST, 503, "Retry-After");
    assert_answer("GET /healthz HTTP/1.1\r\n" REST, 200, NULL);
    http_set_ready(fixture.http, true);
}

/* What the store does with a change: *arg. */
static enum status change_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    const bool *is_refused = arg;

    if (*is_refused)
        return err_reason(err, REASON_STORE_FAILED, "store: exec: database or disk is full");
    return heartbeat_set(txn, now, /* is_start= */ false, err);
}

static void test_readiness_says_no_while_nothing_can_be_stored(void **state)
{
    bool is_refused = true;
    const struct writer_command change = {.name = "change", .run = change_run, .arg = &is_refused};
    struct err err = ERR_INIT;

    (void)state;
    assert_answer("GET /readyz HTTP/1.1\r\n" REST, 200, NULL);
    assert_st(writer_run(fixture.writer, &change, &err), ST_IO, err);
    assert_answer("GET /readyz HTTP/1.1\r\n" REST, 503, "store_failed");
    assert_answer("GET /healthz HTTP/1.1\r\n" REST, 200, NULL);
    assert_answer("GET /readyz HTTP/1.1\r\n" REST, 503, "store_failed"); /* asking mends nothing */
    is_refused = false;
    assert_ok(writer_run(fixture.writer, &change, &err), err);
    assert_answer("GET /readyz HTTP/1.1\r\n" REST, 200, NULL);
}

/* ------------------------------------------------------------------------------ credentials */

enum deed { MAKE_TOKEN, REVOKE_TOKEN, SHUT, OPEN, LOWER, RAISE, END_SESSION, NOTHING };

/* What somebody does with the credentials of the user `who`. */
struct deed_job {
    enum deed deed;
    int who;
    char token[API_TOKEN_SIZE];
    int64_t token_id, session_id;
};

static enum status deed_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct deed_job *j = arg;
    int64_t user = fixture.user_ids[j->who];

    switch (j->deed) {
    case MAKE_TOKEN:
        return people_token_make(&fixture.people, txn, user, SCOPES_ALL, "bot", SCOPES_ALL,
                                 UTC_NONE, now, j->token, &j->token_id, err);
    case REVOKE_TOKEN:
        return people_token_revoke(txn, user, j->token_id, now, err);
    case SHUT:
    case OPEN:
        return people_disable(&fixture.people, txn, 0, user, j->deed == SHUT, now, err);
    case LOWER:
    case RAISE:
        return users_set_operator(txn, user, j->deed == RAISE, now, err);
    case END_SESSION:
        return people_sessions_end(txn, user, 0, now, err);
    case NOTHING:
        break;
    }
    return ST_OK;
}

static void do_deed(struct deed_job *job, enum deed deed)
{
    struct err err = ERR_INIT;

    job->deed = deed;
    assert_ok(writer_run(fixture.writer,
                         &(struct writer_command){.name = "deed", .run = deed_run, .arg = job},
                         &err),
              err);
}

static void assert_token(const struct deed_job *job, int status, const char *part)
{
    char request[256];

    snprintf(request, sizeof request,
             "GET /api/v1/me HTTP/1.1\r\nAuthorization: Bearer %s\r\n" REST, job->token);
    assert_answer(request, status, part);
}

/* So that the server knows it by heart: its first use was noted, and it was looked up since. */
static void make_known(struct deed_job *job)
{
    do_deed(job, MAKE_TOKEN);
    assert_token(job, 200, NULL);
    do_deed(job, NOTHING);
    assert_token(job, 200, NULL);
}

/* A2, A3: what was looked up a moment ago is no right to anything now. */
static void test_a_token_ends_at_the_next_request(void **state)
{
    struct deed_job job = {.who = 3}, olga = {.who = FIXTURE_OPERATOR};

    (void)state;
    make_known(&job);
    do_deed(&job, REVOKE_TOKEN);
    assert_token(&job, 401, "bad_credentials");

    make_known(&job);
    do_deed(&job, SHUT);
    assert_token(&job, 401, "bad_credentials");
    do_deed(&job, OPEN);
    assert_token(&job, 401, "bad_credentials"); /* it was revoked with all the rest */
    make_known(&job);

    make_known(&olga);
    assert_token(&olga, 200, "\"operator\":true");
    do_deed(&olga, LOWER);
    assert_token(&olga, 200, "\"operator\":false");
    do_deed(&olga, RAISE);
    assert_token(&olga, 200, "\"operator\":true");
}

static void test_blanks_behind_a_value_are_no_part_of_it(void **state)
{
    struct deed_job job = {.who = 3};
    char request[256];

    (void)state;
    do_deed(&job, MAKE_TOKEN);
    snprintf(request, sizeof request,
             "GET /api/v1/me HTTP/1.1\r\nAuthorization: Bearer %s \t \r\nX-Empty:  \t\r\n" REST,
             job.token);
    assert_answer(request, 200, NULL);
    assert_answer("GET /api/v1/nothing HTTP/1.1\r\nAccept-Language: ro \r\n" REST, 404,
                  "\r\nContent-Language: ro\r\n");
}

/* A2: while it stops, no hook tells the server of anything. */
static void test_a_token_ends_while_the_server_stops(void **state)
{
    struct deed_job job = {.who = 2};

    (void)state;
    make_known(&job);
    http_set_ready(fixture.http, false);
    atomic_store(&fixture.hooked, NULL);
    do_deed(&job, REVOKE_TOKEN);
    assert_token(&job, 401, "bad_credentials");
    atomic_store(&fixture.hooked, fixture.http);
    http_set_ready(fixture.http, true);
    http_look_again(fixture.http);
}

/* What others do to the file the server need not see at once: so a token that it knows shows that
 * it does know it, and that it looks again when told to. */
static void test_a_token_is_looked_up_once_and_again_when_told_to(void **state)
{
    struct deed_job job = {.who = 2};
    char path[300], sql[128];
    sqlite3 *db = NULL;

    (void)state;
    atomic_store(&fixture.stands_ms, 1000000);
    make_known(&job);
    snprintf(path, sizeof path, "%s/test.db", fixture.dir);
    snprintf(sql, sizeof sql, "UPDATE api_tokens SET scopes = 2 WHERE id = %lld",
             (long long)job.token_id);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_token(&job, 200, NULL);
    http_look_again(fixture.http);
    assert_token(&job, 403, "scope_needed");
    atomic_store(&fixture.stands_ms, 0);
}

static void test_a_session_ends_at_the_next_request(void **state)
{
    struct deed_job job = {.who = 1};
    char secret[SECRET_SIZE], request[512], cookie[128] = "", *answer, *at;

    (void)state;
    fixture_link(&fixture, job.who, secret);
    snprintf(request, sizeof request,
             "POST /api/v1/auth/login HTTP/1.1\r\nContent-Type: application/json\r\n"
             "Content-Length: %d\r\n" REST "{\"token\":\"%s\"}",
             (int)strlen("{\"token\":\"\"}") + SECRET_SIZE - 1, secret);
    answer = ask(request);
    at = strstr(answer, "Set-Cookie: ");
    if (!at)
        fail_msg("no session: %.400s", answer);
    snprintf(cookie, sizeof cookie, "%.*s", (int)strcspn(at + 12, ";"), at + 12);
    free(answer);
    snprintf(request, sizeof request, "GET /api/v1/me HTTP/1.1\r\nCookie: %s\r\n" REST, cookie);
    for (int i = 0; i < 3; i++)
        assert_answer(request, 200, NULL);
    do_deed(&job, END_SESSION);
    assert_answer(request, 401, "login_needed");
}

/* 10, bounds: what is kept for an account is limited; repeats are not counted, and without a key it
 * goes on. */
static void test_an_account_has_so_many_keys_a_day(void **state)
{
    static const struct {
        const char *key;
        int status;
        const char *part;
    } rows[] = {
        {"Idempotency-Key: a b\r\n", 400, NULL},
        {"Idempotency-Key: b\r\n", 404, NULL},
        {"Idempotency-Key: b\r\n", 404, NULL},
        {"Idempotency-Key: c\r\n", 404, NULL},
        {"Idempotency-Key: d\r\n", 429, "\r\nRetry-After: 43200\r\n"},
        {"Idempotency-Key: d\r\n", 429, "at most 2 new `Idempotency-Key` a day"},
        {"Idempotency-Key: c\r\n", 404, NULL},
        {"", 404, NULL},
    };
    char request[512];

    (void)state;
    fixture_unserve(&fixture);
    fixture.options.keys_a_day = 2;
    fixture.options.public_url = NULL;
    atomic_store(&fixture.stands_ms, 1000000);
    fixture_serve(&fixture);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(request, sizeof request,
                 "POST /api/v1/games/7k2m9qx4/leave HTTP/1.1\r\nAuthorization: Bearer %s\r\n%s"
                 "Content-Length: 0\r\n" REST,
                 fixture.tokens[0], rows[i].key);
        assert_answer(request, rows[i].status, rows[i].part);
    }
    fixture_unserve(&fixture);
    fixture.options.keys_a_day = HTTP_KEYS_A_DAY;
    fixture.options.public_url = NULL;
    atomic_store(&fixture.stands_ms, 0);
    fixture_serve(&fixture);
}

static void test_metrics_have_their_own_listener(void **state)
{
    int fd = connect_to(fixture.metrics_port);
    char *answer;

    (void)state;
    send_bytes(fd, "GET /metrics HTTP/1.1\r\n" REST, strlen("GET /metrics HTTP/1.1\r\n" REST));
    answer = read_all(fd);
    assert_non_null(strstr(answer, "text/plain; version=0.0.4"));
    assert_non_null(strstr(answer, "\nfourhanded_http_undeclared_total 0\n"));
    assert_non_null(strstr(answer, "fourhanded_http_requests_total{route=\"GET /healthz\""));
    free(answer);
    assert_answer("GET /metrics HTTP/1.1\r\n" REST, 404, NULL);
}

static void test_cookies_over_https_are_host_cookies(void **state)
{
    static const char *const foreign[] = {"http://x", "ftp://x", "x", "null", "https://x.evil",
                                          "http://chess.example.org"};
    char secret[SECRET_SIZE], request[256], cookie[256], *answer, *at;

    (void)state;
    fixture_unserve(&fixture);
    fixture.options.public_url = "https://chess.example.org";
    fixture_serve(&fixture);
    fixture_link(&fixture, 0, secret);
    snprintf(request, sizeof request,
             "POST /login/%s HTTP/1.1\r\nOrigin: https://chess.example.org\r\n" REST, secret);
    answer = ask(request);
    assert_true(strncmp(answer, "HTTP/1.1 303 ", 13) == 0);
    at = strstr(answer, "Set-Cookie: __Host-fourhanded=");
    assert_non_null(at);
    snprintf(cookie, sizeof cookie, "%.*s;", (int)strcspn(at, "\r"), at);
    free(answer);
    /* What browsers demand of that prefix, and what keeps scripts and other sites away. */
    assert_non_null(strstr(cookie, "; Path=/;"));
    assert_non_null(strstr(cookie, "; Secure;"));
    assert_null(strstr(cookie, "; Domain"));
    assert_non_null(strstr(cookie, "; HttpOnly;"));
    assert_non_null(strstr(cookie, "; SameSite=Lax;"));
    fixture_link(&fixture, 0, secret);
    snprintf(request, sizeof request,
             "POST /login/%s HTTP/1.1\r\nOrigin: https://evil.example\r\n" REST, secret);
    assert_answer(request, 403, "text/html");
    /* By the name in Host it may be ours too, but only by the scheme that we are served by. */
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        snprintf(request, sizeof request, "POST /login/%s HTTP/1.1\r\nOrigin: %s\r\n" REST, secret,
                 foreign[i]);
        assert_answer(request, 403, "text/html");
    }
    snprintf(request, sizeof request, "POST /login/%s HTTP/1.1\r\nOrigin: https://x\r\n" REST,
             secret);
    assert_answer(request, 303, "; Secure;");
    fixture_link(&fixture, 0, secret);
    snprintf(request, sizeof request,
             "POST /login/%s HTTP/1.1\r\nSec-Fetch-Site: same-origin\r\n" REST, secret);
    assert_answer(request, 303, "; Secure;");
    fixture_unserve(&fixture);
    fixture.options.public_url = NULL;
    fixture_serve(&fixture);
}

/* What docs/api.md and the configuration's sample tell of the server that says nothing else. */
static void test_a_server_left_as_it_is_beats_every_quarter_of_a_minute(void **state)
{
    const struct http_options usual = HTTP_OPTIONS_INIT;

    (void)state;
    assert_int_equal(usual.heartbeat_ms, 15000);
    assert_int_equal(usual.request_ms, 20000);
    assert_int_equal(usual.idle_ms, 30000);
}

static void test_wrong_options_are_named_and_sockets_closed(void **state)
{
    struct http_options options = fixture.options;
    struct http *http = NULL;
    struct err err = ERR_INIT;
    static const char *const proxies[] = {"10.0.0.0/99"};
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    options.listen_fds = &pair[0];
    options.metrics_fd = -1;
    options.trusted_proxies = proxies;
    options.n_trusted_proxies = 1;
    assert_st(http_start(&options, &http, &err), ST_INVALID, err);
    assert_non_null(strstr(err.text, "10.0.0.0/99"));
    assert_null(http);
    /* The other end sees that it was closed. */
    assert_int_equal(recv(pair[1], &err, 1, 0), 0);
    close(pair[1]);
}

static int setup(void **state)
{
    char path[512];

    (void)state;
    fixture_setup(&fixture);
    fixture_put_file(&fixture, "index.html",
                     "<!doctype html><link rel=\"stylesheet\" href=\"/-/dev/style.css\">");
    fixture_put_file(&fixture, "style.css", "body{}");
    fixture_put_file(&fixture, "views/x.js", "export {};");
    fixture_put_file(&fixture, ".secret.txt", "no");
    snprintf(path, sizeof path, "%s/link.txt", fixture.web);
    if (symlink("/etc/passwd", path) != 0)
        return -1;
    fixture_serve(&fixture);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_teardown(&fixture);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers_that_may_stand_once_are_refused_twice),
        cmocka_unit_test(test_two_lengths_are_one_refusal_and_no_second_request),
        cmocka_unit_test(test_length_and_chunks_together_smuggle_nothing),
        cmocka_unit_test(test_foreign_encodings_are_refused_at_once),
        cmocka_unit_test(test_a_refusal_speaks_the_language_that_was_asked_for),
        cmocka_unit_test(test_a_request_without_host_is_refused),
        cmocka_unit_test(test_what_the_library_would_refuse_names_its_path_but_no_secret),
        cmocka_unit_test(test_a_length_that_is_none_gets_one_problem_document),
        cmocka_unit_test(test_a_head_that_is_not_what_it_seems_is_refused),
        cmocka_unit_test(test_a_long_head_in_small_pieces_is_read),
        cmocka_unit_test(test_a_head_too_large_and_broken_chunks_get_a_problem_document),
        cmocka_unit_test(test_a_line_that_is_none_gets_a_problem_document),
        cmocka_unit_test(test_a_line_that_may_be_anothers_is_left_to_the_library),
        cmocka_unit_test(test_a_chunked_body_is_read_and_bounded),
        cmocka_unit_test(test_a_body_too_large_is_refused_before_it_is_sent),
        cmocka_unit_test(test_a_refused_body_that_is_not_too_long_is_read_away),
        cmocka_unit_test(test_a_refused_patch_reads_its_body_away_and_answers),
        cmocka_unit_test(test_a_get_takes_no_body),
        cmocka_unit_test(test_targets_are_routed_as_they_were_sent),
        cmocka_unit_test(test_unknown_methods_hear_which_are_known),
        cmocka_unit_test(test_options_tell_token_clients_what_they_may_send),
        cmocka_unit_test(test_head_has_the_headers_and_no_body),
        cmocka_unit_test(test_a_connection_serves_one_request_after_another),
        cmocka_unit_test(test_files_are_served_by_their_exact_names),
        cmocka_unit_test(test_a_file_that_the_client_has_is_not_sent_again),
        cmocka_unit_test_setup_teardown(test_a_request_that_trickles_is_told_so_and_cut_off,
                                        impatient, patient),
        cmocka_unit_test_setup_teardown(test_silence_is_ended_without_an_answer, impatient,
                                        patient),
        cmocka_unit_test(test_streams_whose_clients_have_gone_are_in_nobodys_way),
        cmocka_unit_test(test_connections_over_the_limit_are_told_so),
        cmocka_unit_test(test_one_address_has_only_its_share_of_connections),
        cmocka_unit_test(test_who_asks_too_often_hears_when_to_come_back),
        cmocka_unit_test(test_behind_a_proxy_it_is_the_client_that_is_counted),
        cmocka_unit_test(test_readiness_says_no_when_told_to),
        cmocka_unit_test(test_readiness_says_no_while_nothing_can_be_stored),
        cmocka_unit_test(test_a_token_ends_at_the_next_request),
        cmocka_unit_test(test_blanks_behind_a_value_are_no_part_of_it),
        cmocka_unit_test(test_a_token_ends_while_the_server_stops),
        cmocka_unit_test(test_a_token_is_looked_up_once_and_again_when_told_to),
        cmocka_unit_test(test_a_session_ends_at_the_next_request),
        cmocka_unit_test(test_metrics_have_their_own_listener),
        cmocka_unit_test(test_an_account_has_so_many_keys_a_day),
        cmocka_unit_test(test_cookies_over_https_are_host_cookies),
        cmocka_unit_test(test_a_server_left_as_it_is_beats_every_quarter_of_a_minute),
        cmocka_unit_test(test_wrong_options_are_named_and_sockets_closed),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}

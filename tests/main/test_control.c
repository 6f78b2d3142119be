/* The control socket while no descriptor is left: it rests, and serves those it has let in. */
#include "support/harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock/clock.h"
#include "main/control.h"
#include "main/engine.h"

enum { CLIENTS = 8, LOW = 16 /* the descriptors below are taken all the time */ };

static const char frame[] = "\0\0\0\4nope"; /* a request that no verb answers */

static int64_t now_ms(void)
{
    struct clock os = clock_os();

    return os.read(os.arg).monotonic_ms;
}

static void client_connect(int fd, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    const struct timeval most = {.tv_sec = 20};

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most), 0);
    assert_true(strlen(path) < sizeof address.sun_path);
    strcpy(address.sun_path, path);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
}

/* Ask over the connection and wait for the whole answer. */
static size_t client_ask(int fd)
{
    char answer[512];
    size_t got = 0;
    ssize_t n;

    if (send(fd, frame, sizeof frame - 1, MSG_NOSIGNAL) != (ssize_t)sizeof frame - 1)
        return 0;
    while ((n = recv(fd, answer + got, sizeof answer - got, 0)) > 0)
        got += (size_t)n;
    return got;
}

static int lines_with(const char *path, const char *words)
{
    char line[400];
    FILE *f = fopen(path, "r");
    int n = 0;

    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, words) != NULL;
    fclose(f);
    return n;
}

static void test_without_descriptors_the_socket_rests(void **state)
{
    static const struct admin_verb none[] = {{.name = NULL}};
    struct engine *engine = calloc(1, sizeof *engine);
    char folder[] = "/tmp/fh-control-XXXXXX", path[64], log[64];
    struct rlimit before, nothing;
    struct control *control = NULL;
    struct err err = ERR_INIT;
    int fds[CLIENTS + 2], fillers[LOW], err_fd, log_fd, answered = 0;
    int64_t began, paused;

    (void)state;
    assert_non_null(engine);
    for (size_t i = 0; i < LOW; i++)
        assert_true((fillers[i] = dup(STDERR_FILENO)) >= 0);
    err_fd = dup(STDERR_FILENO);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/s", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    log_fd = open(log, O_CREAT | O_WRONLY, 0600);
    assert_true(err_fd >= 0 && log_fd >= 0);
    for (size_t i = 0; i < CLIENTS + 2; i++)
        assert_true((fds[i] = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0);
    assert_ok(control_start(engine, none, path, &control, &err), err);
    for (size_t i = 0; i <= CLIENTS; i++)
        client_connect(fds[i], path);
    assert_true(client_ask(fds[CLIENTS]) > 5); /* so those before it have been let in */

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    nothing = before;
    nothing.rlim_cur = LOW; /* poll() wants no less than it is given */
    dup2(log_fd, STDERR_FILENO);
    began = now_ms();
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &nothing), 0);
    client_connect(fds[CLIENTS + 1], path);
    for (size_t i = 0; i < CLIENTS; i++) /* each makes the thread turn */
        answered += client_ask(fds[i]) > 5;
    paused = now_ms() - began;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_true(client_ask(fds[CLIENTS + 1]) > 5); /* it was not forgotten */
    control_stop(control);
    dup2(err_fd, STDERR_FILENO);

    assert_int_equal(answered, CLIENTS);
    assert_in_range(lines_with(log, "control_accept"), 1, 1 + paused / 1000);
    for (size_t i = 0; i < CLIENTS + 2; i++)
        close(fds[i]);
    for (size_t i = 0; i < LOW; i++)
        close(fillers[i]);
    close(err_fd);
    close(log_fd);
    unlink(log);
    rmdir(folder);
    free(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_descriptors_the_socket_rests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

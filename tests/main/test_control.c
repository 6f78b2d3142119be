/* The control socket: whose it is, whom it serves, and what it does while no descriptor is left. */
#include "support/harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock/clock.h"
#include "main/control.h"
#include "main/engine.h"
#include "settings/settings.h"

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

static enum status control_begin(struct engine *engine, const struct admin_verb *more,
                                 const char *path, struct control **ret, struct err *err)
{
    struct control *control = NULL;
    enum status st = control_claim(path, &control, err);

    if (st == ST_OK)
        st = control_start(control, engine, more, err);
    if (st == ST_OK)
        *ret = control;
    else
        control_stop(control);
    return st;
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
    assert_ok(control_begin(engine, none, path, &control, &err), err);
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
    strcat(path, ".lock");
    unlink(path);
    rmdir(folder);
    free(engine);
}

/* ------------------------------------------------------------------------------- whose it is */

/* A folder with two databases, one of them with two names, and a place for the socket. */
struct place {
    char folder[32], path[64], ours[64], alias[64], theirs[64];
    char our_name[64];
    struct settings settings;
    struct engine *engine;
};

static enum status ping(struct admin_call *call, struct err *err)
{
    (void)err;
    buf_puts(call->out, "pong");
    return ST_OK;
}

static const struct admin_verb pings[] = {{"ping", NULL, ping}, {NULL, NULL, NULL}};

static void file_touch(const char *path)
{
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    fclose(f);
}

static int place_make(void **state)
{
    struct place *p = calloc(1, sizeof *p);

    assert_non_null(p);
    strcpy(p->folder, "/tmp/fh-control-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    snprintf(p->path, sizeof p->path, "%s/s", p->folder);
    snprintf(p->ours, sizeof p->ours, "%s/ours.db", p->folder);
    snprintf(p->theirs, sizeof p->theirs, "%s/theirs.db", p->folder);
    snprintf(p->alias, sizeof p->alias, "%s/alias.db", p->folder);
    file_touch(p->ours);
    file_touch(p->theirs);
    assert_int_equal(symlink(p->ours, p->alias), 0);
    p->engine = calloc(1, sizeof *p->engine);
    assert_non_null(p->engine);
    strcpy(p->our_name, p->ours);
    p->settings.database = p->our_name;
    p->engine->settings = &p->settings;
    *state = p;
    return 0;
}

static int place_remove(void **state)
{
    struct place *p = *state;
    char command[64];

    snprintf(command, sizeof command, "rm -r %s", p->folder);
    free(p->engine);
    free(p);
    return system(command);
}

/* Ask the daemon at the place, by a subcommand whose configuration names database. */
static enum status place_ask(struct place *p, const char *database, struct buf *out,
                             struct err *err)
{
    struct admin_request rq;
    enum status st;

    admin_request_init(&rq, "ping");
    st = control_call(p->path, database, &rq, 20000, out, err);
    admin_request_release(&rq);
    return st;
}

/* A socket at the place that is not of control_claim(); listening, or left by somebody dead. */
static int socket_put(struct place *p, bool is_listening)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(address.sun_path, p->path);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    if (is_listening)
        assert_int_equal(listen(fd, 4), 0);
    return fd;
}

static void test_a_second_daemon_does_not_take_the_socket_over(void **state)
{
    struct place *p = *state;
    struct control *first = NULL, *second = NULL;
    struct buf out = buf_make(100);
    struct err err = ERR_INIT;
    char wanted[128];

    assert_ok(control_begin(p->engine, pings, p->path, &first, &err), err);
    assert_st(control_begin(p->engine, pings, p->path, &second, &err), ST_BUSY, err);
    snprintf(wanted, sizeof wanted, "control_socket: a daemon listens at %s already", p->path);
    assert_string_equal(err.text, wanted);
    assert_null(second);
    assert_ok(place_ask(p, p->ours, &out, &err), err); /* the first is still there */
    assert_string_equal(out.data, "pong");
    control_stop(first);
    assert_st(place_ask(p, p->ours, &out, &err), ST_NOT_FOUND, err);
    assert_ok(control_begin(p->engine, pings, p->path, &second, &err), err);
    control_stop(second);
    buf_release(&out);
}

/* From the claim on, before anybody is heard, the path is nobody else's. */
static void test_a_path_is_claimed_before_it_is_listened_at(void **state)
{
    struct place *p = *state;
    struct control *first = NULL, *second = NULL;
    struct buf out = buf_make(100);
    struct err err = ERR_INIT;
    struct stat about;

    assert_ok(control_claim(p->path, &first, &err), err);
    assert_int_not_equal(lstat(p->path, &about), 0);
    assert_st(place_ask(p, p->ours, &out, &err), ST_NOT_FOUND, err);
    assert_st(control_claim(p->path, &second, &err), ST_BUSY, err);
    assert_null(second);
    control_stop(first); /* given up without having been started */
    assert_ok(control_claim(p->path, &second, &err), err);
    assert_ok(control_start(second, p->engine, pings, &err), err);
    assert_ok(place_ask(p, p->ours, &out, &err), err);
    control_stop(second);
    buf_release(&out);
}

static void test_a_socket_of_somebody_else_is_left_alone(void **state)
{
    struct place *p = *state;
    struct control *control = NULL;
    struct err err = ERR_INIT;
    struct stat about;
    int fd = socket_put(p, /* is_listening= */ true);

    assert_st(control_begin(p->engine, pings, p->path, &control, &err), ST_BUSY, err);
    assert_int_equal(lstat(p->path, &about), 0);
    close(fd); /* now it is what a dead daemon leaves */
    assert_ok(control_begin(p->engine, pings, p->path, &control, &err), err);

    /* While it runs, somebody puts another in its place: that one stays. */
    assert_int_equal(unlink(p->path), 0);
    fd = socket_put(p, /* is_listening= */ true);
    control_stop(control);
    assert_int_equal(lstat(p->path, &about), 0);
    close(fd);
    unlink(p->path);

    file_touch(p->path);
    assert_st(control_begin(p->engine, pings, p->path, &control, &err), ST_INVALID, err);
    assert_non_null(strstr(err.text, "is no socket"));
    assert_int_equal(lstat(p->path, &about), 0);
    assert_true(S_ISREG(about.st_mode));
}

/* How many bytes a process of that user is answered: -1 when it cannot even connect. */
static int answered_as(uid_t uid, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int status = 0;
    pid_t child;

    strcpy(address.sun_path, path);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);

        if (setuid(uid) != 0 || fd < 0 ||
            connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
            _exit(255);
        _exit((int)client_ask(fd));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}

/* Its mode keeps others out; where that is lost, whose process asks still counts. */
static void test_another_user_is_not_heard(void **state)
{
    enum { NOBODY = 65534 };
    struct place *p = *state;
    struct control *control = NULL;
    struct err err = ERR_INIT;
    struct stat about;

    if (getuid() != 0)
        skip(); /* nobody else can be played */
    assert_int_equal(chmod(p->folder, 0711), 0);
    assert_ok(control_begin(p->engine, pings, p->path, &control, &err), err);
    assert_int_equal(lstat(p->path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(answered_as(NOBODY, p->path), -1);
    assert_int_equal(chmod(p->path, 0666), 0);
    assert_int_equal(answered_as(NOBODY, p->path), 0);
    assert_true(answered_as(0, p->path) > 5);
    control_stop(control);
}

static void test_a_subcommand_that_means_another_database_is_refused(void **state)
{
    struct place *p = *state;
    struct control *control = NULL;
    struct buf out = buf_make(100);
    struct err err = ERR_INIT;
    char missing[96], wanted[300];

    assert_ok(control_begin(p->engine, pings, p->path, &control, &err), err);
    assert_ok(place_ask(p, p->alias, &out, &err), err); /* the same file by another name */
    assert_string_equal(out.data, "pong");
    buf_clear(&out);
    assert_st(place_ask(p, p->theirs, &out, &err), ST_CONFLICT, err);
    assert_int_equal(out.len, 0);
    snprintf(wanted, sizeof wanted,
             "the daemon at %s serves the database %s, not %s; nothing was changed", p->path,
             p->ours, p->theirs);
    assert_string_equal(err.text, wanted);
    snprintf(missing, sizeof missing, "%s/missing.db", p->folder);
    assert_st(place_ask(p, missing, &out, &err), ST_CONFLICT, err);
    assert_int_equal(rename(p->ours, p->alias), 0); /* it has lost its name: the path must do */
    assert_ok(place_ask(p, p->ours, &out, &err), err);
    control_stop(control);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_descriptors_the_socket_rests),
        cmocka_unit_test_setup_teardown(test_a_second_daemon_does_not_take_the_socket_over,
                                        place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_a_path_is_claimed_before_it_is_listened_at, place_make,
                                        place_remove),
        cmocka_unit_test_setup_teardown(test_a_socket_of_somebody_else_is_left_alone, place_make,
                                        place_remove),
        cmocka_unit_test_setup_teardown(test_another_user_is_not_heard, place_make,
                                        place_remove),
        cmocka_unit_test_setup_teardown(test_a_subcommand_that_means_another_database_is_refused,
                                        place_make, place_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

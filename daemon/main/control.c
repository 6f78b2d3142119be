#include "main/control.h"

#include <asm/socket.h> /* SO_PEERCRED, which POSIX does not have */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "main/engine.h"

enum { FRAME_HEAD = 4, CONTROL_BACKLOG = 16 };

/* What SO_PEERCRED fills in (Linux; its struct ucred hides behind _GNU_SOURCE). */
struct peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

struct control {
    struct engine *engine;
    const struct admin_verb *more;
    int fd;
    int stop[2]; /* a byte in it ends the thread */
    pthread_t thread;
    char path[CONTROL_PATH_MAX + 1];
};

static enum status address_make(const char *path, struct sockaddr_un *ret, struct err *err)
{
    memset(ret, 0, sizeof *ret);
    ret->sun_family = AF_UNIX;
    if (strlen(path) > CONTROL_PATH_MAX)
        return err_set(err, ST_INVALID, "the path of the control socket is longer than %d bytes",
                       CONTROL_PATH_MAX);
    (void)str_copy(ret->sun_path, sizeof ret->sun_path, path);
    return ST_OK;
}

static enum status io_failed(const char *what, struct err *err)
{
    return err_set(err, ST_IO, "control socket: %s: %s", what, strerror(errno));
}

/* Move exactly n bytes within CONTROL_TIME_MS of silence. */
static enum status bytes_send(int fd, const void *bytes, size_t n, struct err *err)
{
    const char *p = bytes;

    while (n > 0) {
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        ssize_t sent;
        if (poll(&wait, 1, CONTROL_TIME_MS) <= 0)
            return err_set(err, ST_IO, "control socket: the other side does not read");
        sent = send(fd, p, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR && errno != EAGAIN)
            return io_failed("send", err);
        if (sent > 0) {
            p += sent;
            n -= (size_t)sent;
        }
    }
    return ST_OK;
}

static enum status bytes_receive(int fd, void *bytes, size_t n, int time_ms, struct err *err)
{
    char *p = bytes;

    while (n > 0) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        ssize_t got;
        if (poll(&wait, 1, time_ms) <= 0)
            return err_set(err, ST_IO, "control socket: the other side is silent");
        got = recv(fd, p, n, 0);
        if (got == 0)
            return err_set(err, ST_IO, "control socket: the other side hung up");
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return io_failed("receive", err);
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        }
    }
    return ST_OK;
}

static enum status frame_send(int fd, const struct buf *frame, struct err *err)
{
    unsigned char head[FRAME_HEAD] = {
        (unsigned char)(frame->len >> 24), (unsigned char)(frame->len >> 16),
        (unsigned char)(frame->len >> 8), (unsigned char)frame->len};
    enum status st = buf_status(frame, "control frame", err);

    if (st == ST_OK)
        st = bytes_send(fd, head, sizeof head, err);
    if (st == ST_OK)
        st = bytes_send(fd, frame->data, frame->len, err);
    return st;
}

/* Append a frame's bytes to *frame, whose limit they must fit. */
static enum status frame_receive(int fd, int time_ms, struct buf *frame, struct err *err)
{
    unsigned char head[FRAME_HEAD];
    char bytes[4096];
    uint32_t n;
    enum status st = bytes_receive(fd, head, sizeof head, time_ms, err);

    if (st != ST_OK)
        return st;
    n = (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
    if (n > frame->limit)
        return err_set(err, ST_TOO_LARGE, "control socket: a frame of %u bytes, at most %zu", n,
                       frame->limit);
    while (n > 0 && st == ST_OK) {
        size_t piece = n < sizeof bytes ? n : sizeof bytes;
        st = bytes_receive(fd, bytes, piece, CONTROL_TIME_MS, err);
        if (st == ST_OK)
            buf_add(frame, bytes, piece);
        n -= (uint32_t)piece;
    }
    return st == ST_OK ? buf_status(frame, "control frame", err) : st;
}

/* ------------------------------------------------------------------------------- the daemon */

static bool peer_is_ours(int fd)
{
    struct peer peer = {0, 0, 0};
    socklen_t size = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer)
        return false;
    return peer.uid == 0 || peer.uid == geteuid();
}

static void connection_serve(struct control *c, int fd)
{
    struct buf request = buf_make(ADMIN_REQUEST_MAX), text = buf_make(ADMIN_ANSWER_MAX),
               answer = buf_make(ADMIN_ANSWER_MAX + 1);
    struct err err = ERR_INIT;
    enum status st;
    char verb[80];

    if (!peer_is_ours(fd)) {
        log_event(LOG_LEVEL_WARNING, "control_refused why=\"another user\"");
        goto out;
    }
    st = frame_receive(fd, CONTROL_TIME_MS, &request, &err);
    if (st == ST_OK) {
        st = admin_perform(c->engine, c->more, request.data, request.len, &text, &err);
        log_event(LOG_LEVEL_INFO, "control verb=%s status=%s",
                  log_quote(request.data, verb, sizeof verb), status_str(st));
    }
    buf_putc(&answer, (char)st);
    buf_puts(&answer, st == ST_OK ? text.data : err.text);
    if (frame_send(fd, &answer, &err) != ST_OK)
        log_event(LOG_LEVEL_WARNING, "control_failed why=\"%s\"", err.text);
out:
    close(fd);
    buf_release(&request);
    buf_release(&text);
    buf_release(&answer);
}

static void *control_main(void *arg)
{
    struct control *c = arg;

    for (;;) {
        struct pollfd wait[2] = {{.fd = c->fd, .events = POLLIN},
                                 {.fd = c->stop[0], .events = POLLIN}};
        int fd;
        if (poll(wait, 2, -1) < 0) {
            if (errno == EINTR)
                continue;
            break;
        }
        if (wait[1].revents)
            break;
        fd = accept(c->fd, NULL, NULL);
        if (fd < 0)
            continue;
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
        (void)fcntl(fd, F_SETFL, O_NONBLOCK);
        connection_serve(c, fd);
    }
    return NULL;
}

enum status control_start(struct engine *engine, const struct admin_verb *more, const char *path,
                          struct control **ret, struct err *err)
{
    struct control *c = calloc(1, sizeof *c);
    struct sockaddr_un address;
    mode_t mask;
    int bound;
    enum status st;

    if (!c)
        return err_reason(err, REASON_NO_MEMORY, "out of memory");
    c->engine = engine;
    c->more = more;
    c->fd = c->stop[0] = c->stop[1] = -1;
    st = address_make(path, &address, err);
    if (st != ST_OK)
        goto out;
    (void)str_copy(c->path, sizeof c->path, path);
    c->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (c->fd < 0 || pipe(c->stop) != 0) {
        st = io_failed("make", err);
        goto out;
    }
    (void)fcntl(c->fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(c->fd, F_SETFL, O_NONBLOCK);
    (void)unlink(path);
    mask = umask(0177); /* it is never open to others, not even for a moment */
    bound = bind(c->fd, (const struct sockaddr *)&address, sizeof address);
    (void)umask(mask);
    if (bound != 0 || listen(c->fd, CONTROL_BACKLOG) != 0) {
        st = io_failed(path, err);
        goto out;
    }
    if (pthread_create(&c->thread, NULL, control_main, c) != 0) {
        (void)unlink(path);
        st = err_set(err, ST_NOMEM, "control socket: no thread");
        goto out;
    }
    *ret = c;
    c = NULL;
out:
    if (c) {
        if (c->fd >= 0)
            close(c->fd);
        if (c->stop[0] >= 0)
            close(c->stop[0]);
        if (c->stop[1] >= 0)
            close(c->stop[1]);
        free(c);
    }
    return st;
}

void control_stop(struct control *c)
{
    if (!c)
        return;
    (void)unlink(c->path);
    (void)!write(c->stop[1], "", 1);
    pthread_join(c->thread, NULL);
    close(c->fd);
    close(c->stop[0]);
    close(c->stop[1]);
    free(c);
}

/* ------------------------------------------------------------------------------- the subcommand */

enum status control_call(const char *path, const struct admin_request *rq, struct buf *out,
                         struct err *err)
{
    struct buf answer = buf_make(ADMIN_ANSWER_MAX + 1);
    struct sockaddr_un address;
    unsigned char told;
    int fd = -1;
    enum status st = address_make(path, &address, err);

    if (st != ST_OK)
        goto out;
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) {
        st = io_failed("make", err);
        goto out;
    }
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        st = errno == ENOENT || errno == ECONNREFUSED
                 ? err_set(err, ST_NOT_FOUND, "no daemon listens at %s", path)
                 : io_failed(path, err);
        goto out;
    }
    st = frame_send(fd, &rq->bytes, err);
    if (st == ST_OK) /* the daemon may have to wait for others before it answers */
        st = frame_receive(fd, 10 * CONTROL_TIME_MS, &answer, err);
    if (st == ST_NOT_FOUND || (st == ST_OK && answer.len == 0))
        st = err_set(err, ST_IO, "control socket: the answer is empty");
    if (st != ST_OK)
        goto out;
    told = (unsigned char)answer.data[0];
    if (told == ST_OK) {
        buf_puts(out, answer.data + 1);
        st = buf_status(out, "answer", err);
    } else {
        /* No daemon is another matter than no such account. */
        st = err_set(err, told == ST_NOT_FOUND || told >= ST_COUNT_ ? ST_CONFLICT
                                                                    : (enum status)told,
                     "%s", answer.data + 1);
    }
out:
    if (fd >= 0)
        close(fd);
    buf_release(&answer);
    return st;
}

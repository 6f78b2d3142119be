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
#include "base/thread.h"
#include "main/engine.h"
#include "settings/settings.h"
#include "store/store.h"

enum {
    FRAME_HEAD = 4,
    CONTROL_BACKLOG = 16,
    DATABASE_NAME_MAX = 4 * 1024,
    FULL_PAUSE_MS = 1000 /* after no descriptor was to be had for another connection */
};

/* What each request begins with; the name and a NUL follow. */
#define DATABASE "database="

/* What SO_PEERCRED fills in (Linux; its struct ucred hides behind _GNU_SOURCE). */
struct peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/* A connection: its request comes in, is performed, its answer goes out. */
struct client {
    int fd; /* -1: ended, to be taken out of the list */
    unsigned char head[FRAME_HEAD];
    size_t head_got;
    size_t want; /* bytes of the request, once the head is there */
    struct buf request, answer;
    size_t sent; /* of the answer */
    bool is_answering;
    int64_t until_ms; /* cut off when nothing moves before */
};

struct control {
    struct engine *engine;
    const struct admin_verb *more;
    int fd;
    int stop[2]; /* a byte in it ends the thread */
    pthread_t thread;
    bool has_thread;
    char path[CONTROL_PATH_MAX + 1];
    struct store_lock lock; /* of the path: who holds it may make the socket, and take it away */
    struct stat made;       /* the socket that was made */
    bool has_made;
    struct client clients[CONTROL_CLIENTS_MAX];
    size_t n_clients;
    int64_t resume_ms; /* nobody is let in before */
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

/* I/O is measured by the machine's own clock, also where a test moves the engine's. */
static int64_t now_ms(void)
{
    struct clock os = clock_os();

    return os.read(os.arg).monotonic_ms;
}

static void head_put(unsigned char head[FRAME_HEAD], size_t n)
{
    for (int i = 0; i < FRAME_HEAD; i++)
        head[i] = (unsigned char)(n >> 8 * (FRAME_HEAD - 1 - i));
}

static uint32_t head_get(const unsigned char head[FRAME_HEAD])
{
    return (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 | (uint32_t)head[2] << 8 | head[3];
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

static void client_begin(struct client *cl, int fd)
{
    *cl = (struct client){.fd = fd,
                          .request = buf_make(DATABASE_NAME_MAX + ADMIN_REQUEST_MAX),
                          .answer = buf_make(FRAME_HEAD + 1 + ADMIN_ANSWER_MAX),
                          .until_ms = now_ms() + CONTROL_TIME_MS};
}

static void client_end(struct client *cl)
{
    close(cl->fd);
    buf_release(&cl->request);
    buf_release(&cl->answer);
    cl->fd = -1;
}

static void answer_make(struct client *cl, enum status st, const char *text)
{
    unsigned char head[FRAME_HEAD];

    head_put(head, strlen(text) + 1);
    buf_clear(&cl->answer);
    buf_add(&cl->answer, head, sizeof head);
    buf_putc(&cl->answer, (char)st);
    buf_puts(&cl->answer, text);
    cl->is_answering = true;
}

/* "path\ndevice:inode" of the database, which travels before each request. */
static enum status database_name(const char *path, struct buf *out, struct err *err)
{
    struct stat about;
    char here[DATABASE_NAME_MAX / 2];

    buf_puts(out, DATABASE);
    if (path[0] != '/' && getcwd(here, sizeof here))
        buf_printf(out, "%s/", here);
    buf_puts(out, path);
    if (stat(path, &about) == 0)
        buf_printf(out, "\n%ju:%ju", (uintmax_t)about.st_dev, (uintmax_t)about.st_ino);
    return buf_status(out, "the database's name", err);
}

/* One file has many names, so the file itself is compared; where it cannot be seen, the name. */
static enum status database_check(const struct control *c, const char *theirs, struct err *err)
{
    struct buf ours = buf_make(DATABASE_NAME_MAX);
    const char *our_file, *their_file;
    enum status st = database_name(c->engine->settings->database, &ours, err);

    if (st != ST_OK)
        goto out;
    our_file = strchr(ours.data, '\n');
    their_file = strchr(theirs, '\n');
    if (our_file && their_file ? !str_eq(our_file, their_file) : !str_eq(ours.data, theirs))
        st = err_set(err, ST_CONFLICT,
                     "the daemon at %s serves the database %.*s, not %.*s; nothing was changed",
                     c->path, (int)strcspn(ours.data, "\n") - (int)strlen(DATABASE),
                     ours.data + strlen(DATABASE), (int)strcspn(theirs, "\n") -
                     (int)strlen(DATABASE), theirs + strlen(DATABASE));
out:
    buf_release(&ours);
    return st;
}

/* The request is whole: perform it. */
static void client_perform(struct control *c, struct client *cl)
{
    struct buf text = buf_make(ADMIN_ANSWER_MAX);
    struct err err = ERR_INIT;
    char verb[80];
    const char *name = cl->request.data ? cl->request.data : "", *rest = NULL;
    enum status st;

    if (cl->request.len > 0 && str_starts(name, DATABASE))
        rest = memchr(name, '\0', cl->request.len);
    if (rest) {
        rest++;
        st = database_check(c, name, &err);
    } else {
        rest = name;
        st = err_set(&err, ST_INVALID,
                     "control socket: the subcommand is not of the daemon's version");
    }
    if (st == ST_OK)
        st = admin_perform(c->engine, c->more, rest, cl->request.len - (size_t)(rest - name),
                           &text, &err);
    log_event(LOG_LEVEL_INFO, "control verb=%s status=%s",
              log_quote(rest, verb, sizeof verb), status_str(st));
    answer_make(cl, st, st == ST_OK ? text.data : err.text);
    buf_release(&cl->request);
    buf_release(&text);
    cl->until_ms = now_ms() + CONTROL_TIME_MS;
}

/* Take in what is there.  False when the connection is of no more use. */
static bool client_read(struct control *c, struct client *cl)
{
    char bytes[64 * 1024];
    size_t room = cl->head_got < FRAME_HEAD ? FRAME_HEAD - cl->head_got
                                            : cl->want - cl->request.len;
    ssize_t got = recv(cl->fd, bytes, room < sizeof bytes ? room : sizeof bytes, 0);

    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    if (got == 0) {
        answer_make(cl, ST_IO, "control socket: the request is not whole");
        return true;
    }
    cl->until_ms = now_ms() + CONTROL_TIME_MS;
    if (cl->head_got < FRAME_HEAD) {
        memcpy(cl->head + cl->head_got, bytes, (size_t)got);
        cl->head_got += (size_t)got;
        if (cl->head_got < FRAME_HEAD)
            return true;
        cl->want = head_get(cl->head);
        if (cl->want > DATABASE_NAME_MAX + ADMIN_REQUEST_MAX)
            answer_make(cl, ST_TOO_LARGE, "control socket: the request is too large");
    } else {
        buf_add(&cl->request, bytes, (size_t)got);
        if (buf_failed(&cl->request))
            answer_make(cl, ST_NOMEM, "control socket: out of memory");
    }
    if (!cl->is_answering && cl->request.len == cl->want)
        client_perform(c, cl);
    return true;
}

/* Send what can be sent.  False when all is sent, or cannot be. */
static bool client_write(struct client *cl)
{
    ssize_t n;

    if (buf_failed(&cl->answer))
        return false;
    n = send(cl->fd, cl->answer.data + cl->sent, cl->answer.len - cl->sent, MSG_NOSIGNAL);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    cl->sent += (size_t)n;
    cl->until_ms = now_ms() + CONTROL_TIME_MS;
    return cl->sent < cl->answer.len;
}

static void client_accept(struct control *c)
{
    int fd = accept(c->fd, NULL, NULL);

    if (fd < 0) {
        /* No descriptors or memory: rest, or poll() would wake us for it again at once. */
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
            log_event(LOG_LEVEL_WARNING, "control_accept why=\"%s\"", strerror(errno));
            c->resume_ms = now_ms() + FULL_PAUSE_MS;
        }
        return;
    }
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    if (!peer_is_ours(fd)) {
        log_event(LOG_LEVEL_WARNING, "control_refused why=\"another user\"");
        close(fd);
        return;
    }
    client_begin(&c->clients[c->n_clients++], fd);
}

/* Serve what the wait has found, then cut off who is late; whoever ends gives its place up. */
static void clients_turn(struct control *c, const struct pollfd *waits)
{
    int64_t now;

    for (size_t i = 0; i < c->n_clients; i++) {
        struct client *cl = &c->clients[i];
        bool goes_on = true;
        if (!waits[i].revents)
            continue;
        if (!cl->is_answering)
            goes_on = client_read(c, cl);
        if (goes_on && cl->is_answering)
            goes_on = client_write(cl);
        if (!goes_on)
            client_end(cl);
    }
    now = now_ms();
    for (size_t i = 0; i < c->n_clients;) {
        struct client *cl = &c->clients[i];
        if (cl->fd >= 0 && now >= cl->until_ms) {
            log_event(LOG_LEVEL_WARNING, "control_failed why=\"the other side is silent\"");
            client_end(cl);
        }
        if (cl->fd < 0)
            *cl = c->clients[--c->n_clients];
        else
            i++;
    }
}

static void *control_main(void *arg)
{
    struct control *c = arg;

    thread_name("control");
    for (;;) {
        struct pollfd waits[CONTROL_CLIENTS_MAX + 2];
        size_t n = c->n_clients;
        int64_t now = now_ms(), left = now < c->resume_ms ? c->resume_ms - now : -1;
        bool is_open = n < CONTROL_CLIENTS_MAX && now >= c->resume_ms;

        for (size_t i = 0; i < n; i++) {
            int64_t own = c->clients[i].until_ms - now;
            waits[i] = (struct pollfd){.fd = c->clients[i].fd,
                                       .events = c->clients[i].is_answering ? POLLOUT : POLLIN};
            if (left < 0 || own < left)
                left = own > 0 ? own : 0;
        }
        waits[n] = (struct pollfd){.fd = c->stop[0], .events = POLLIN};
        waits[n + 1] = (struct pollfd){.fd = is_open ? c->fd : -1, .events = POLLIN};
        if (poll(waits, (nfds_t)n + 2, (int)left) < 0) {
            if (errno == EINTR)
                continue;
            break;
        }
        if (waits[n].revents)
            break;
        clients_turn(c, waits);
        if (waits[n + 1].revents)
            client_accept(c);
    }
    while (c->n_clients > 0)
        client_end(&c->clients[--c->n_clients]);
    return NULL;
}

/* Is somebody behind the socket at address, whoever it is? */
static bool somebody_listens(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool is_there;

    if (fd < 0)
        return false;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    is_there = connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ||
               errno == EAGAIN || errno == EACCES;
    close(fd);
    return is_there;
}

/* The path is ours until the lock is dropped; a socket that a dead daemon left is taken away, one
 * that is listened at is not, nor is anything that is no socket. */
static enum status path_claim(struct control *c, const struct sockaddr_un *address,
                              struct err *err)
{
    struct stat about;
    enum status st = store_lock_take(c->path, &c->lock, err);

    if (st == ST_BUSY || (st == ST_OK && somebody_listens(address)))
        return err_set(err, ST_BUSY, "control_socket: a daemon listens at %s already", c->path);
    if (st != ST_OK || lstat(c->path, &about) != 0)
        return st;
    if (!S_ISSOCK(about.st_mode))
        return err_set(err, ST_INVALID, "control_socket: %s is there and is no socket", c->path);
    (void)unlink(c->path);
    return ST_OK;
}

/* Make the socket and listen at it. */
static enum status path_listen(struct control *c, const struct sockaddr_un *address,
                               struct err *err)
{
    mode_t mask = umask(0177); /* it is never open to others, not even for a moment */
    int bound = bind(c->fd, (const struct sockaddr *)address, sizeof *address);

    (void)umask(mask);
    if (bound != 0)
        return io_failed(c->path, err);
    c->has_made = lstat(c->path, &c->made) == 0;
    return listen(c->fd, CONTROL_BACKLOG) == 0 ? ST_OK : io_failed(c->path, err);
}

/* Take our own socket away, and no other that may stand there by now. */
static void socket_remove(struct control *c)
{
    struct stat about;

    if (c->has_made && lstat(c->path, &about) == 0 && about.st_dev == c->made.st_dev &&
        about.st_ino == c->made.st_ino)
        (void)unlink(c->path);
    c->has_made = false;
}

static void control_free(struct control *c)
{
    socket_remove(c);
    if (c->fd >= 0)
        close(c->fd);
    for (size_t i = 0; i < 2; i++)
        if (c->stop[i] >= 0)
            close(c->stop[i]);
    store_lock_drop(&c->lock);
    free(c);
}

enum status control_claim(const char *path, struct control **ret, struct err *err)
{
    struct control *c = calloc(1, sizeof *c);
    struct sockaddr_un address;
    enum status st;

    if (!c)
        return err_reason(err, REASON_NO_MEMORY, "out of memory");
    c->lock = STORE_LOCK_INIT;
    c->fd = c->stop[0] = c->stop[1] = -1;
    st = address_make(path, &address, err);
    if (st == ST_OK) {
        (void)str_copy(c->path, sizeof c->path, path);
        st = path_claim(c, &address, err);
    }
    if (st == ST_OK)
        *ret = c;
    else
        control_free(c);
    return st;
}

enum status control_start(struct control *c, struct engine *engine, const struct admin_verb *more,
                          struct err *err)
{
    struct sockaddr_un address;
    enum status st = address_make(c->path, &address, err);

    if (st != ST_OK)
        return st;
    c->engine = engine;
    c->more = more;
    c->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (c->fd < 0 || pipe(c->stop) != 0)
        return io_failed("make", err);
    (void)fcntl(c->fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(c->fd, F_SETFL, O_NONBLOCK);
    st = path_listen(c, &address, err);
    if (st == ST_OK && pthread_create(&c->thread, NULL, control_main, c) != 0)
        st = err_set(err, ST_NOMEM, "control socket: no thread");
    c->has_thread = st == ST_OK;
    return st;
}

void control_stop(struct control *c)
{
    if (!c)
        return;
    socket_remove(c);
    if (c->has_thread) {
        (void)!write(c->stop[1], "", 1);
        pthread_join(c->thread, NULL);
    }
    control_free(c);
}

/* ------------------------------------------------------------------------------- the subcommand */

/* Wait until the socket is ready; ST_BUSY when the time is over first. */
static enum status ready_wait(int fd, short events, int64_t until_ms, struct err *err)
{
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = events};
        int64_t left = until_ms - now_ms();
        int rc = poll(&wait, 1, left > 0 ? (int)left : 0);
        if (rc > 0)
            return ST_OK;
        if (rc == 0)
            return err_set(err, ST_BUSY, "control socket: the daemon is silent");
        if (errno != EINTR)
            return io_failed("wait", err);
    }
}

static enum status bytes_send(int fd, const void *bytes, size_t n, int64_t until_ms,
                              struct err *err)
{
    const char *p = bytes;
    enum status st = ST_OK;

    while (n > 0 && st == ST_OK) {
        ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN)
            st = ready_wait(fd, POLLOUT, until_ms, err);
        else if (sent < 0 && errno != EINTR)
            st = err_set(err, ST_BUSY, "control socket: send: %s", strerror(errno));
        else if (sent > 0) {
            p += sent;
            n -= (size_t)sent;
        }
    }
    return st;
}

static enum status bytes_receive(int fd, void *bytes, size_t n, int64_t until_ms, struct err *err)
{
    char *p = bytes;
    enum status st = ST_OK;

    while (n > 0 && st == ST_OK) {
        ssize_t got = recv(fd, p, n, 0);
        if (got < 0 && errno == EAGAIN)
            st = ready_wait(fd, POLLIN, until_ms, err);
        else if (got == 0)
            st = err_set(err, ST_BUSY, "control socket: the daemon hung up");
        else if (got < 0 && errno != EINTR)
            st = err_set(err, ST_BUSY, "control socket: receive: %s", strerror(errno));
        else if (got > 0) {
            p += got;
            n -= (size_t)got;
        }
    }
    return st;
}

/* The answer's bytes to *answer, whose limit they must fit. */
static enum status answer_receive(int fd, int64_t until_ms, struct buf *answer, struct err *err)
{
    unsigned char head[FRAME_HEAD];
    char bytes[4096];
    enum status st = bytes_receive(fd, head, sizeof head, until_ms, err);
    size_t n = st == ST_OK ? head_get(head) : 0;

    if (n > answer->limit)
        return err_set(err, ST_TOO_LARGE, "control socket: an answer of %zu bytes", n);
    while (n > 0 && st == ST_OK) {
        size_t piece = n < sizeof bytes ? n : sizeof bytes;
        st = bytes_receive(fd, bytes, piece, until_ms, err);
        if (st == ST_OK)
            buf_add(answer, bytes, piece);
        n -= piece;
    }
    if (st == ST_OK)
        st = buf_status(answer, "answer", err);
    if (st == ST_OK && answer->len == 0)
        st = err_set(err, ST_IO, "control socket: the answer is empty");
    return st;
}

/* A connection to the daemon at path; a full backlog does not make us wait. */
static enum status daemon_connect(const char *path, int *ret_fd, struct err *err)
{
    struct sockaddr_un address;
    int fd;
    enum status st = address_make(path, &address, err);

    if (st != ST_OK)
        return st;
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0)
        return io_failed("make", err);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) {
        *ret_fd = fd;
        return ST_OK;
    }
    if (errno == ENOENT || errno == ECONNREFUSED)
        st = err_set(err, ST_NOT_FOUND, "no daemon listens at %s", path);
    else if (errno == EAGAIN)
        st = err_set(err, ST_BUSY, "control socket: too many wait for the daemon already");
    else
        st = io_failed(path, err);
    close(fd);
    return st;
}

enum status control_call(const char *path, const char *database, const struct admin_request *rq,
                         int64_t time_ms, struct buf *out, struct err *err)
{
    struct buf name = buf_make(DATABASE_NAME_MAX);
    struct buf answer = buf_make(ADMIN_ANSWER_MAX + 1);
    unsigned char head[FRAME_HEAD], told;
    int64_t until_ms = now_ms() + time_ms;
    int fd = -1;
    enum status st = buf_status(&rq->bytes, "request", err);

    if (st == ST_OK)
        st = database_name(database, &name, err);
    if (st == ST_OK)
        st = daemon_connect(path, &fd, err);
    head_put(head, name.len + 1 + rq->bytes.len);
    if (st == ST_OK)
        st = bytes_send(fd, head, sizeof head, until_ms, err);
    if (st == ST_OK)
        st = bytes_send(fd, name.data, name.len + 1, until_ms, err);
    if (st == ST_OK)
        st = bytes_send(fd, rq->bytes.data, rq->bytes.len, until_ms, err);
    if (st == ST_OK)
        st = answer_receive(fd, until_ms, &answer, err);
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
    buf_release(&name);
    buf_release(&answer);
    return st;
}

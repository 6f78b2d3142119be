/* intake/lmtp_server.c - the thread and its sockets; see lmtp_server.h. */
#include "intake/lmtp_server.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "base/thread.h"
#include "mail/lmtp.h"

enum {
    READ_SIZE = 64 * 1024,   /* bytes read at once */
    IN_HIGH = 64 * 1024,     /* pipelined bytes kept while a letter is being stored */
    OUT_HIGH = 64 * 1024,    /* replies kept for a peer that does not read */
    OUT_MAX = 1024 * 1024,   /* what they can grow to within one reading */
    EVENTS_MAX = 64,
    FULL_PAUSE_MS = 1000,    /* the listeners rest so long when descriptors run out */
};

/* What an event is about, in the upper half of its number; the lower is an index. */
#define ABOUT_CONNECTION UINT64_C(0)
#define ABOUT_LISTENER (UINT64_C(1) << 62)
#define ABOUT_WAKE (UINT64_C(2) << 62)
#define ABOUT_MASK (UINT64_C(3) << 62)

struct connection;

/* One recipient's letter on its way to the writer and back. */
struct ticket {
    struct connection *connection;
    size_t recipient;
    enum status st;
    struct ticket *next;
};

struct connection {
    struct lmtp_server *server;
    int fd;              /* -1: a free slot, or dead and waiting for its tickets */
    uint32_t number;     /* tells apart those that had the same slot */
    struct lmtp *lmtp;   /* NULL: a free slot */
    struct buf in, out;  /* read and not yet fed; to be sent, from out_at on */
    size_t out_at;
    uint32_t events;     /* what epoll looks for */
    size_t pending;      /* tickets that are not back */
    struct ticket *tickets; /* of the letter being stored */
    size_t tickets_cap;
    bool is_ending, is_eof; /* close when all is sent; the peer has sent all */
    int64_t last_ms;     /* when anything moved */
    int64_t letter_ms;   /* when the last letter was complete, or the connection began */
};

struct lmtp_server {
    struct lmtp_server_options options;
    char name[256];
    int listen_fds[LMTP_SERVER_LISTEN_MAX];
    int epoll_fd, wake_fd;
    pthread_t thread;
    struct connection *connections; /* options.connections slots */
    char *scratch;                  /* READ_SIZE */
    int open;                       /* slots taken */
    uint32_t numbers;
    bool are_paused;                /* the listeners, until resume_ms */
    int64_t resume_ms, check_ms;    /* check_ms: when the next one may have been silent too long */
    bool is_failing;                /* the last letter was not kept: said once in the log */

    pthread_mutex_t mutex; /* guards what follows */
    struct ticket *back, **back_end; /* tickets that came back, in their order */
    bool is_stopping;
    int64_t drain_ms;

    atomic_ullong seen, refused, taken, later, not_ours, too_large;
    atomic_int now_open;
};

static int64_t now_ms(struct lmtp_server *s)
{
    return s->options.clock.read(s->options.clock.arg).monotonic_ms;
}

static void wake(struct lmtp_server *s)
{
    uint64_t one = 1;

    (void)!write(s->wake_fd, &one, sizeof one);
}

void lmtp_server_wake(struct lmtp_server *s)
{
    wake(s);
}

/* ---------------------------------------------------------------- a connection's slot */

static void events_set(struct connection *c, uint32_t events)
{
    struct epoll_event e = {.events = events};

    if (c->fd < 0 || c->events == events)
        return;
    e.data.u64 = ABOUT_CONNECTION | (uint64_t)c->number << 16 |
                 (uint64_t)(c - c->server->connections);
    (void)epoll_ctl(c->server->epoll_fd, EPOLL_CTL_MOD, c->fd, &e);
    c->events = events;
}

/* The slot is free once no ticket is out. */
static void connection_free(struct connection *c)
{
    struct lmtp_server *s = c->server;

    if (c->fd >= 0)
        close(c->fd); /* epoll forgets it */
    c->fd = -1;
    if (c->pending > 0)
        return;
    lmtp_free(c->lmtp);
    buf_release(&c->in);
    buf_release(&c->out);
    free(c->tickets);
    *c = (struct connection){.server = s, .fd = -1};
    s->open--;
    atomic_store(&s->now_open, s->open);
}

/* Send what can be sent now.  False when the connection is gone. */
static bool connection_send(struct connection *c)
{
    int64_t now = now_ms(c->server);

    while (c->out_at < c->out.len) {
        ssize_t n = send(c->fd, c->out.data + c->out_at, c->out.len - c->out_at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n < 0)
            return false;
        c->out_at += (size_t)n;
        c->last_ms = now;
    }
    if (c->out_at == c->out.len) {
        buf_clear(&c->out);
        c->out_at = 0;
    }
    return true;
}

/* After anything that may have changed it: send, and either close or look for the right events. */
static void connection_settle(struct connection *c)
{
    uint32_t events = 0;
    bool is_all_sent;

    if (c->fd < 0 || buf_failed(&c->out) || buf_failed(&c->in) || !connection_send(c)) {
        connection_free(c);
        return;
    }
    is_all_sent = c->out.len == 0;
    if (is_all_sent && c->pending == 0 && (c->is_ending || c->is_eof)) {
        connection_free(c);
        return;
    }
    if (!is_all_sent)
        events |= EPOLLOUT;
    if (!c->is_eof && !c->is_ending && c->in.len < IN_HIGH && c->out.len - c->out_at < OUT_HIGH)
        events |= EPOLLIN;
    events_set(c, events);
}

/* ---------------------------------------------------------------- letters */

static void verdict_count(struct lmtp_server *s, enum lmtp_verdict verdict)
{
    atomic_ullong *const counters[] = {[LMTP_TAKEN] = &s->taken,
                                       [LMTP_LATER] = &s->later,
                                       [LMTP_NOT_OURS] = &s->not_ours,
                                       [LMTP_TOO_LARGE] = &s->too_large};

    atomic_fetch_add(counters[verdict], 1);
}

static enum lmtp_verdict verdict_of(enum status st)
{
    switch (st) {
    case ST_OK:
        return LMTP_TAKEN;
    case ST_INVALID:
        return LMTP_NOT_OURS;
    case ST_TOO_LARGE:
        return LMTP_TOO_LARGE;
    default:
        return LMTP_LATER;
    }
}

static void letter_answer(struct connection *c, size_t i, enum status st)
{
    struct lmtp_server *s = c->server;
    enum lmtp_verdict verdict = verdict_of(st);

    if (verdict == LMTP_LATER && !s->is_failing)
        log_event(LOG_LEVEL_WARNING, "lmtp_later status=%s", status_str(st));
    s->is_failing = verdict == LMTP_LATER;
    verdict_count(s, verdict);
    (void)lmtp_answer(c->lmtp, i, verdict, &c->out);
}

/* On the writer's thread: give the ticket back. */
static void on_done(void *arg, enum status st, const struct err *err)
{
    struct ticket *t = arg;
    struct lmtp_server *s = t->connection->server;
    bool was_empty;

    (void)err;
    t->st = st;
    t->next = NULL;
    pthread_mutex_lock(&s->mutex);
    was_empty = !s->back;
    *s->back_end = t;
    s->back_end = &t->next;
    if (was_empty)
        wake(s); /* under the lock: afterwards the server may be gone */
    pthread_mutex_unlock(&s->mutex);
}

/* Hand the complete letter over for each recipient. */
static void letter_hand(struct connection *c)
{
    const struct lmtp_letter *letter = lmtp_letter(c->lmtp);
    const struct door *door = &c->server->options.door;
    size_t n = letter->n_recipients;
    bool has_room = true;

    if (n > c->tickets_cap) {
        struct ticket *tickets = realloc(c->tickets, n * sizeof *tickets);
        has_room = tickets != NULL;
        if (has_room) {
            c->tickets = tickets;
            c->tickets_cap = n;
        }
    }
    c->pending = n;
    c->letter_ms = now_ms(c->server);
    for (size_t i = 0; i < n; i++) {
        struct door_letter one;
        struct ticket *t = c->tickets + i;
        enum status st = ST_NOMEM;
        if (has_room) {
            *t = (struct ticket){.connection = c, .recipient = i};
            one = (struct door_letter){.sender = letter->sender,
                                       .recipient = letter->recipients[i],
                                       .bytes = letter->bytes,
                                       .size = letter->size};
            st = door->take(door->arg, &one, on_done, t, NULL);
        }
        if (st != ST_OK) { /* on_done() will not be called */
            c->pending--;
            letter_answer(c, i, st);
        }
    }
}

/* Feed n bytes that came, or that waited; what is not read is kept in c->in. */
static void connection_feed(struct connection *c, const char *bytes, size_t n)
{
    while (n > 0 && !c->is_ending) {
        size_t used = 0;
        enum lmtp_step step = lmtp_feed(c->lmtp, bytes, n, &used, &c->out);
        bytes += used;
        n -= used;
        if (step == LMTP_END)
            c->is_ending = true;
        if (step == LMTP_LETTER && c->pending == 0)
            letter_hand(c);
        if (c->pending > 0)
            break;
    }
    if (n > 0 && !c->is_ending)
        buf_add(&c->in, bytes, n);
}

/* Whatever waited while a letter was being stored. */
static void connection_feed_on(struct connection *c)
{
    struct buf waited = c->in;

    c->in = buf_make(waited.limit);
    connection_feed(c, waited.data, waited.len);
    buf_release(&waited);
}

static void connection_read(struct connection *c)
{
    struct lmtp_server *s = c->server;
    ssize_t n = recv(c->fd, s->scratch, READ_SIZE, 0);

    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR)
            connection_free(c);
        return;
    }
    if (n == 0) {
        c->is_eof = true;
    } else {
        c->last_ms = now_ms(s);
        if (c->pending > 0)
            buf_add(&c->in, s->scratch, (size_t)n);
        else
            connection_feed(c, s->scratch, (size_t)n);
    }
    connection_settle(c);
}

/* The tickets that the writer has given back. */
static void tickets_take(struct lmtp_server *s)
{
    struct ticket *t;

    pthread_mutex_lock(&s->mutex);
    t = s->back;
    s->back = NULL;
    s->back_end = &s->back;
    pthread_mutex_unlock(&s->mutex);
    while (t) {
        struct ticket *next = t->next; /* t belongs to a connection that may go now */
        struct connection *c = t->connection;
        c->pending--;
        letter_answer(c, t->recipient, t->st);
        if (c->pending == 0) {
            c->last_ms = now_ms(s);
            if (c->fd >= 0 && c->in.len > 0)
                connection_feed_on(c);
            connection_settle(c);
        }
        t = next;
    }
}

/* ---------------------------------------------------------------- listening */

static struct connection *slot_find(struct lmtp_server *s)
{
    for (int i = 0; i < s->options.connections; i++)
        if (!s->connections[i].lmtp)
            return &s->connections[i];
    return NULL;
}

static bool is_ours(void *arg, const char *recipient)
{
    struct lmtp_server *s = arg;

    return s->options.door.judge(s->options.door.arg, recipient) > 0;
}

static void connection_begin(struct lmtp_server *s, int fd)
{
    const struct lmtp_options options = {
        .name = s->name, .size_max = s->options.letter_size, .is_ours = is_ours, .arg = s};
    struct connection *c = slot_find(s);
    struct epoll_event e = {.events = EPOLLIN};
    int one = 1;

    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one); /* fails on a unix one */
    atomic_fetch_add(&s->seen, 1);
    if (!c) {
        const char *line = lmtp_full_line();
        (void)send(fd, line, strlen(line), MSG_NOSIGNAL);
        close(fd);
        atomic_fetch_add(&s->refused, 1);
        return;
    }
    *c = (struct connection){.server = s,
                             .fd = fd,
                             .number = s->numbers++ & 0xffffffff,
                             .in = buf_make(IN_HIGH + READ_SIZE),
                             .out = buf_make(OUT_MAX),
                             .events = EPOLLIN,
                             .last_ms = now_ms(s),
                             .letter_ms = now_ms(s)};
    e.data.u64 = ABOUT_CONNECTION | (uint64_t)c->number << 16 | (uint64_t)(c - s->connections);
    if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &e) != 0 ||
        lmtp_new(&options, &c->out, &c->lmtp, NULL) != ST_OK) {
        buf_release(&c->out);
        *c = (struct connection){.server = s, .fd = -1};
        close(fd);
        return;
    }
    s->open++;
    atomic_store(&s->now_open, s->open);
    if (s->open == 1)
        s->check_ms = c->last_ms + s->options.idle_ms;
    connection_settle(c);
}

static void listeners_watch(struct lmtp_server *s, uint32_t events)
{
    for (size_t i = 0; i < s->options.n_listen; i++) {
        struct epoll_event e = {.events = events, .data.u64 = ABOUT_LISTENER | i};
        (void)epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, s->listen_fds[i], &e);
    }
}

static void listener_accept(struct lmtp_server *s, size_t i)
{
    for (int n = 0; n < EVENTS_MAX; n++) {
        int fd = accept(s->listen_fds[i], NULL, NULL);
        if (fd >= 0) {
            connection_begin(s, fd);
            continue;
        }
        if (errno == EINTR || errno == ECONNABORTED)
            continue;
        if (errno != EAGAIN) { /* no descriptors or memory: rest, or this would turn for ever */
            log_event(LOG_LEVEL_WARNING, "lmtp_accept why=\"%s\"", strerror(errno));
            s->are_paused = true;
            s->resume_ms = now_ms(s) + FULL_PAUSE_MS;
            listeners_watch(s, 0);
        }
        return;
    }
}

/* ---------------------------------------------------------------- the thread */

/* End those that were silent or slow too long, and find out when to look again. */
static void silence_check(struct lmtp_server *s, int64_t now)
{
    int64_t next = now + s->options.idle_ms;

    for (int i = 0; i < s->options.connections; i++) {
        struct connection *c = &s->connections[i];
        int64_t end = c->last_ms + s->options.idle_ms;
        if (!c->lmtp || c->fd < 0 || c->pending > 0)
            continue;
        if (c->letter_ms + LMTP_SERVER_LETTER_MS < end) /* a byte now and then is no letter */
            end = c->letter_ms + LMTP_SERVER_LETTER_MS;
        if (now < end) {
            if (end < next)
                next = end;
        } else if (c->out.len > 0) { /* it does not read, either */
            connection_free(c);
        } else {
            lmtp_shut(c->lmtp, LMTP_SILENT, &c->out);
            c->is_ending = true;
            c->last_ms = c->letter_ms = now; /* as long again to take the last line */
            connection_settle(c);
        }
    }
    s->check_ms = next;
}

static int wait_length(struct lmtp_server *s)
{
    int64_t now = now_ms(s), until = s->open > 0 ? s->check_ms : now + MS_HOUR;

    if (s->are_paused && s->resume_ms < until)
        until = s->resume_ms;
    if (until - now > MS_HOUR)
        return (int)MS_HOUR;
    return until > now ? (int)(until - now) : 0;
}

static void event_take(struct lmtp_server *s, const struct epoll_event *e)
{
    uint64_t about = e->data.u64 & ABOUT_MASK;
    struct connection *c;
    uint64_t count;

    if (about == ABOUT_WAKE) {
        (void)!read(s->wake_fd, &count, sizeof count);
        return; /* the tickets are taken after every wait */
    }
    if (about == ABOUT_LISTENER) {
        listener_accept(s, (size_t)(e->data.u64 & 0xffff));
        return;
    }
    c = &s->connections[e->data.u64 & 0xffff];
    if (c->fd < 0 || c->number != (uint32_t)(e->data.u64 >> 16))
        return; /* it ended within this round */
    if (e->events & EPOLLERR)
        connection_free(c);
    else if (e->events & EPOLLIN)
        connection_read(c);
    else if (e->events & EPOLLHUP)
        connection_free(c); /* both ways: nobody will hear what we say */
    else
        connection_settle(c);
}

/* One wait and what it brings.  False when epoll itself fails. */
static bool turn(struct lmtp_server *s, int wait_ms)
{
    struct epoll_event events[EVENTS_MAX];
    int n = epoll_wait(s->epoll_fd, events, EVENTS_MAX, wait_ms);
    int64_t now;

    if (n < 0 && errno != EINTR)
        return false;
    for (int i = 0; i < n; i++)
        event_take(s, &events[i]);
    tickets_take(s);
    now = now_ms(s);
    if (s->open > 0 && now >= s->check_ms)
        silence_check(s, now);
    if (s->are_paused && now >= s->resume_ms) {
        s->are_paused = false;
        listeners_watch(s, EPOLLIN);
    }
    return true;
}

static bool is_stopping(struct lmtp_server *s)
{
    bool stopping;

    pthread_mutex_lock(&s->mutex);
    stopping = s->is_stopping;
    pthread_mutex_unlock(&s->mutex);
    return stopping;
}

/* Tell those that wait for nothing; the others when their letters are stored. */
static void idle_end(struct lmtp_server *s)
{
    for (int i = 0; i < s->options.connections; i++) {
        struct connection *c = &s->connections[i];
        if (!c->lmtp || c->pending > 0 || c->is_ending)
            continue;
        lmtp_shut(c->lmtp, LMTP_STOPPING, &c->out);
        c->is_ending = true;
        buf_clear(&c->in);
        connection_settle(c);
    }
}

static void listeners_close(struct lmtp_server *s)
{
    for (size_t i = 0; i < s->options.n_listen; i++)
        close(s->listen_fds[i]);
    s->options.n_listen = 0;
    s->are_paused = false;
}

static void drain(struct lmtp_server *s)
{
    int64_t until = now_ms(s) + s->drain_ms;

    listeners_close(s);
    for (;;) {
        int64_t left;
        idle_end(s);
        if (s->open == 0)
            return;
        left = until - now_ms(s);
        if (left <= 0) /* who does not read is left; the letters still have to come back */
            for (int i = 0; i < s->options.connections; i++)
                if (s->connections[i].lmtp)
                    connection_free(&s->connections[i]);
        if (s->open == 0 || !turn(s, left > 0 && left < MS_HOUR ? (int)left : -1))
            return;
    }
}

static void *server_main(void *arg)
{
    struct lmtp_server *s = arg;

    thread_name("lmtp");
    while (!is_stopping(s))
        if (!turn(s, wait_length(s))) {
            log_event(LOG_LEVEL_ERROR, "lmtp_stopped why=\"%s\"", strerror(errno));
            break;
        }
    drain(s);
    return NULL;
}

/* ---------------------------------------------------------------- from outside */

static void server_free(struct lmtp_server *s)
{
    listeners_close(s);
    if (s->epoll_fd >= 0)
        close(s->epoll_fd);
    if (s->wake_fd >= 0)
        close(s->wake_fd);
    pthread_mutex_destroy(&s->mutex);
    free(s->connections);
    free(s->scratch);
    free(s);
}

static enum status server_fill(struct lmtp_server *s, struct err *err)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = ABOUT_WAKE};

    s->connections = calloc((size_t)s->options.connections, sizeof *s->connections);
    s->scratch = malloc(READ_SIZE);
    if (!s->connections || !s->scratch)
        return err_reason(err, REASON_NO_MEMORY, "lmtp: out of memory");
    for (int i = 0; i < s->options.connections; i++)
        s->connections[i] = (struct connection){.server = s, .fd = -1};
    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (s->epoll_fd < 0 || s->wake_fd < 0 ||
        epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->wake_fd, &e) != 0)
        return err_set(err, ST_IO, "lmtp: %s", strerror(errno));
    for (size_t i = 0; i < s->options.n_listen; i++) {
        e.data.u64 = ABOUT_LISTENER | i;
        if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->listen_fds[i], &e) != 0)
            return err_set(err, ST_IO, "lmtp: %s", strerror(errno));
    }
    if (pthread_create(&s->thread, NULL, server_main, s) != 0)
        return err_set(err, ST_NOMEM, "lmtp: cannot start its thread");
    return ST_OK;
}

enum status lmtp_server_start(const struct lmtp_server_options *options,
                              struct lmtp_server **ret_server, struct err *err)
{
    struct lmtp_server *s = calloc(1, sizeof *s);
    enum status st;

    assert(options->n_listen > 0 && options->n_listen <= LMTP_SERVER_LISTEN_MAX);
    assert(options->connections > 0 && options->connections <= 0xffff);
    if (!s) {
        for (size_t i = 0; i < options->n_listen; i++)
            close(options->listen_fds[i]);
        return err_reason(err, REASON_NO_MEMORY, "lmtp: out of memory");
    }
    s->options = *options;
    if (s->options.idle_ms == 0)
        s->options.idle_ms = LMTP_SERVER_IDLE_MS;
    (void)str_copy(s->name, sizeof s->name, options->name);
    memcpy(s->listen_fds, options->listen_fds, options->n_listen * sizeof *s->listen_fds);
    s->epoll_fd = s->wake_fd = -1;
    s->back_end = &s->back;
    pthread_mutex_init(&s->mutex, NULL);
    st = server_fill(s, err);
    if (st == ST_OK)
        *ret_server = s;
    else
        server_free(s);
    return st;
}

void lmtp_server_stop(struct lmtp_server *s, int64_t drain_ms)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->mutex);
    s->is_stopping = true;
    s->drain_ms = drain_ms;
    pthread_mutex_unlock(&s->mutex);
    wake(s);
    pthread_join(s->thread, NULL);
    if (s->open == 0) /* else epoll failed while letters were out: what they come back to stays */
        server_free(s);
}

struct lmtp_server_stats lmtp_server_stats(struct lmtp_server *s)
{
    return (struct lmtp_server_stats){
        .connections = atomic_load(&s->seen),
        .refused_connections = atomic_load(&s->refused),
        .taken = atomic_load(&s->taken),
        .later = atomic_load(&s->later),
        .not_ours = atomic_load(&s->not_ours),
        .too_large = atomic_load(&s->too_large),
        .open = atomic_load(&s->now_open),
    };
}

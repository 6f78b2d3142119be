/* intake/maildir.c - the folder, its files and the thread; see maildir.h. */
#include "intake/maildir.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "base/thread.h"

enum {
    NAME_SIZE = 256,      /* a file's name with its NUL (NAME_MAX) */
    TARGET_SIZE = 300,    /* … with the flags */
    RESTING_MAX = 64,      /* files that are let be for a while */
    WRITING_MS = 2000,     /* a file that was made in new/ and not closed yet */
};

/* A file that is not looked at for a while: somebody may still be writing it, or it could not even
 * be moved aside. */
struct resting {
    char name[NAME_SIZE];
    int64_t until_ms;
};

struct maildir {
    struct maildir_options options;
    char *path;
    int new_fd, cur_fd; /* the folders */
    struct resting resting[RESTING_MAX];
    size_t n_resting;
    bool is_failing; /* the store failed: said once in the log */
    bool is_blind;   /* the folder could not be read: said once in the log */
    bool has_news;   /* something came while a look was being taken */
    /* the thread */
    bool is_started;
    int inotify_fd, stop[2];
    pthread_t thread;
};

/* A file of new/ in the order of its coming. */
struct found {
    int64_t at_ns;
    char name[NAME_SIZE];
};

static int64_t now_ms(const struct maildir *m)
{
    return m->options.clock.read(m->options.clock.arg).monotonic_ms;
}

static enum status folder_open(const char *path, const char *name, int *ret_fd, struct err *err)
{
    char *whole = malloc(strlen(path) + strlen(name) + 2);
    int fd = -1;

    if (!whole)
        return err_reason(err, REASON_NO_MEMORY, "maildir: out of memory");
    (void)snprintf(whole, strlen(path) + strlen(name) + 2, "%s/%s", path, name);
    fd = open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(whole);
    if (fd < 0)
        return err_set(err, ST_IO, "maildir %s/%s: %s", path, name, strerror(errno));
    *ret_fd = fd;
    return ST_OK;
}

enum status maildir_open(const struct maildir_options *options, struct maildir **ret_maildir,
                         struct err *err)
{
    struct maildir *m = calloc(1, sizeof *m);
    enum status st;

    assert(options->letter_size > 0);
    if (!m)
        return err_reason(err, REASON_NO_MEMORY, "maildir: out of memory");
    m->options = *options;
    m->new_fd = m->cur_fd = m->inotify_fd = m->stop[0] = m->stop[1] = -1;
    m->path = str_dup(options->path);
    st = m->path ? folder_open(m->path, "new", &m->new_fd, err)
                 : err_reason(err, REASON_NO_MEMORY, "maildir: out of memory");
    if (st == ST_OK)
        st = folder_open(m->path, "cur", &m->cur_fd, err);
    if (st == ST_OK)
        *ret_maildir = m;
    else
        maildir_close(m);
    return st;
}

/* ---------------------------------------------------------------- files that rest */

/* Where the file is in the list; n_resting when it is not. */
static size_t resting_find(const struct maildir *m, const char *name)
{
    size_t i = 0;

    while (i < m->n_resting && !str_eq(m->resting[i].name, name))
        i++;
    return i;
}

static void resting_add(struct maildir *m, const char *name, int64_t length_ms)
{
    size_t i = resting_find(m, name);

    if (i == m->n_resting) {
        if (i == RESTING_MAX)
            i = 0; /* more of them: looked at more often */
        else
            m->n_resting++;
    }
    (void)str_copy(m->resting[i].name, sizeof m->resting[i].name, name);
    m->resting[i].until_ms = now_ms(m) + length_ms;
}

static void resting_remove(struct maildir *m, const char *name)
{
    size_t i = resting_find(m, name);

    if (i < m->n_resting)
        m->resting[i] = m->resting[--m->n_resting];
}

static bool is_resting(struct maildir *m, const char *name)
{
    size_t i = resting_find(m, name);

    if (i == m->n_resting)
        return false;
    if (now_ms(m) < m->resting[i].until_ms)
        return true;
    resting_remove(m, name);
    return false;
}

/* How long until the first of them may be looked at; at most MAILDIR_RESCAN_MS. */
static int64_t resting_left(const struct maildir *m)
{
    int64_t now = now_ms(m), left = MAILDIR_RESCAN_MS;

    for (size_t i = 0; i < m->n_resting; i++)
        if (m->resting[i].until_ms - now < left)
            left = m->resting[i].until_ms - now;
    return left > 0 ? left : 0;
}

/* Move it from new/ to cur/ with the flags; what is there of that name is not replaced. */
static bool file_move(struct maildir *m, const char *name, const char *flags)
{
    char target[TARGET_SIZE];
    struct stat about;

    for (int i = 0; i < 100; i++) {
        char extra[16] = "";
        if (i > 0)
            (void)snprintf(extra, sizeof extra, "_%d", i);
        (void)snprintf(target, sizeof target, "%.*s%s%s", (int)strcspn(name, ":"), name, extra,
                       flags);
        if (fstatat(m->cur_fd, target, &about, AT_SYMLINK_NOFOLLOW) == 0)
            continue;
        return renameat(m->new_fd, name, m->cur_fd, target) == 0;
    }
    errno = EEXIST;
    return false;
}

/* ---------------------------------------------------------------- one file */

/* Its bytes; ST_CONFLICT when it is none to be read, ST_TOO_LARGE, ST_NOT_FOUND when it is gone. */
static enum status file_read(struct maildir *m, const char *name, struct buf *out,
                             struct err *err)
{
    char bytes[16 * 1024];
    struct stat about;
    ssize_t n = -1;
    enum status st = ST_OK;
    /* O_NONBLOCK: a FIFO of that name would wait for ever */
    int fd = openat(m->new_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0) {
        bool is_ours = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
        return err_set(err, is_ours ? ST_IO : errno == ENOENT ? ST_NOT_FOUND : ST_CONFLICT, "%s",
                       strerror(errno));
    }
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        st = err_set(err, ST_CONFLICT, "it is no regular file");
    else if ((uint64_t)about.st_size > m->options.letter_size)
        st = err_set(err, ST_TOO_LARGE, "it is larger than is read here");
    while (st == ST_OK && (n = read(fd, bytes, sizeof bytes)) != 0) {
        if (n > 0)
            buf_add(out, bytes, (size_t)n);
        else if (errno != EINTR)
            st = err_set(err, ST_CONFLICT, "%s", strerror(errno));
    }
    close(fd);
    if (st == ST_OK)
        st = buf_status(out, "letter", err);
    if (st == ST_OK && out->len == 0)
        st = err_set(err, ST_CONFLICT, "it is empty");
    return st;
}

/* Hand it over.  ST_CONFLICT, ST_TOO_LARGE, ST_INVALID: it will never do; ST_NOT_FOUND: it is
 * gone; else it may do later. */
static enum status file_take(struct maildir *m, const char *name, struct err *err)
{
    struct buf bytes = buf_make(m->options.letter_size);
    char recipient[ADDRESSEE_SIZE], sender[ADDRESSEE_SIZE] = "";
    struct door *door = &m->options.door;
    struct door_letter letter;
    enum status st = file_read(m, name, &bytes, err);

    if (st == ST_OK &&
        !addressee_find(bytes.data, bytes.len, door->judge, door->arg, recipient))
        st = err_set(err, ST_INVALID, "it is for nobody here");
    if (st == ST_OK) {
        (void)addressee_sender(bytes.data, bytes.len, sender);
        letter = (struct door_letter){.sender = sender,
                                      .recipient = recipient,
                                      .bytes = bytes.data,
                                      .size = bytes.len};
        st = door_take_wait(door, &letter, err);
    }
    buf_release(&bytes);
    return st;
}

/* One file; false when the store fails, so that there is no sense in going on. */
static bool file_settle(struct maildir *m, const char *name, struct maildir_scan *scan)
{
    struct err err = ERR_INIT;
    struct stat about;
    char quoted[80];
    enum status st = file_take(m, name, &err);
    bool is_aside = st == ST_CONFLICT || st == ST_TOO_LARGE || st == ST_INVALID;

    if (st == ST_NOT_FOUND)
        return true;
    if (st != ST_OK && !is_aside) {
        if (!m->is_failing)
            log_event(LOG_LEVEL_WARNING, "maildir_later status=%s why=\"%s\"", status_str(st),
                      err.text);
        m->is_failing = true;
        return false;
    }
    m->is_failing = false;
    if (is_aside)
        log_event(LOG_LEVEL_WARNING, "maildir_aside file=%s why=\"%s\"",
                  log_quote(name, quoted, sizeof quoted), err.text);
    if (file_move(m, name, is_aside ? ":2,F" : ":2,S")) {
        scan->taken += !is_aside;
        scan->aside += is_aside;
    } else {
        int why = errno;
        if (fstatat(m->new_fd, name, &about, AT_SYMLINK_NOFOLLOW) != 0)
            return true; /* somebody else has moved it */
        log_event(LOG_LEVEL_WARNING, "maildir_stuck file=%s why=\"%s\"",
                  log_quote(name, quoted, sizeof quoted), strerror(why));
        resting_add(m, name, MAILDIR_AGAIN_MS);
    }
    return true;
}

/*
 * What is news makes us look at everything, so only the names of files made in new/ itself matter:
 * such a one may be half written until it is closed.  (One that came by link() is never closed, and
 * is taken a moment later.)
 */
static void news_read(struct maildir *m)
{
    union {
        struct inotify_event event; /* for its alignment */
        char bytes[16 * 1024];
    } news;
    ssize_t n;

    while (m->inotify_fd >= 0 && (n = read(m->inotify_fd, news.bytes, sizeof news.bytes)) > 0) {
        m->has_news = true;
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *e = (const void *)(news.bytes + at);
            if (e->len > 0 && e->mask & IN_CREATE)
                resting_add(m, e->name, WRITING_MS);
            else if (e->len > 0)
                resting_remove(m, e->name);
            at += (ssize_t)(sizeof *e + e->len);
        }
    }
}

/* ---------------------------------------------------------------- one look */

static int found_compare(const void *a, const void *b)
{
    const struct found *x = a, *y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Keep the oldest `max` of what comes: a heap with the newest on top. */
struct heap {
    struct found *at;
    size_t n, max;
};

static void heap_sift(struct heap *h, size_t i)
{
    for (;;) {
        size_t largest = i, left = 2 * i + 1;
        struct found swap;
        for (size_t child = left; child < left + 2 && child < h->n; child++)
            if (found_compare(&h->at[child], &h->at[largest]) > 0)
                largest = child;
        if (largest == i)
            return;
        swap = h->at[i];
        h->at[i] = h->at[largest];
        h->at[largest] = swap;
        i = largest;
    }
}

static void heap_add(struct heap *h, const struct found *one)
{
    if (h->n < h->max) {
        h->at[h->n++] = *one;
        if (h->n == h->max)
            for (size_t i = h->n / 2; i-- > 0;)
                heap_sift(h, i);
    } else if (found_compare(one, &h->at[0]) < 0) {
        h->at[0] = *one;
        heap_sift(h, 0);
    }
}

/* The oldest files of new/, oldest first. */
static enum status names_read(struct maildir *m, struct heap *heap, bool *ret_is_more,
                              struct err *err)
{
    int fd = openat(m->new_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    size_t seen = 0;
    enum status st = ST_OK;

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return err_set(err, ST_IO, "maildir %s/new: %s", m->path, strerror(errno));
    }
    while ((void)(errno = 0), (entry = readdir(dir))) {
        struct found one = {.at_ns = 0};
        struct stat about;
        if (entry->d_name[0] == '.' || is_resting(m, entry->d_name) ||
            !str_copy(one.name, sizeof one.name, entry->d_name) ||
            fstatat(m->new_fd, one.name, &about, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        one.at_ns = (int64_t)about.st_mtim.tv_sec * 1000000000 + about.st_mtim.tv_nsec;
        heap_add(heap, &one);
        seen++;
    }
    if (errno != 0)
        st = err_set(err, ST_IO, "maildir %s/new: %s", m->path, strerror(errno));
    (void)closedir(dir);
    qsort(heap->at, heap->n, sizeof *heap->at, found_compare);
    *ret_is_more = seen > heap->n;
    return st;
}

static bool is_stopping(const struct maildir *m)
{
    struct pollfd wait = {.fd = m->stop[0], .events = POLLIN};

    return m->is_started && poll(&wait, 1, 0) > 0;
}

enum status maildir_scan(struct maildir *m, struct maildir_scan *ret, struct err *err)
{
    struct heap heap = {.at = malloc(MAILDIR_SCAN_MAX * sizeof *heap.at), .max = MAILDIR_SCAN_MAX};
    struct maildir_scan scan = {.taken = 0};
    enum status st;
    size_t i = 0;

    st = heap.at ? names_read(m, &heap, &scan.is_more, err)
                 : err_reason(err, REASON_NO_MEMORY, "maildir: out of memory");
    m->has_news = false; /* what came before; a look that failed is taken again after a pause */
    if (st == ST_OK) {
        news_read(m); /* of those names, some may be half written */
        while (i < heap.n && !is_stopping(m) &&
               (is_resting(m, heap.at[i].name) || file_settle(m, heap.at[i].name, &scan)))
            i++;
        scan.left = (int)(heap.n - i);
    }
    if (st != ST_OK && !m->is_blind)
        log_event(LOG_LEVEL_WARNING, "maildir_failed why=\"%s\"", err ? err->text : "");
    m->is_blind = st != ST_OK;
    /* The folder or the store fails: news would make us turn round and round. */
    scan.is_pause = st != ST_OK || scan.left > 0;
    scan.wait_ms = scan.is_pause                  ? MAILDIR_PAUSE_MS
                   : scan.is_more || m->has_news ? 0
                                                  : resting_left(m);
    *ret = scan;
    free(heap.at);
    return st;
}

/* ---------------------------------------------------------------- the thread */

static void *maildir_main(void *arg)
{
    struct maildir *m = arg;

    thread_name("maildir");
    for (;;) {
        struct pollfd waits[2] = {{.fd = m->stop[0], .events = POLLIN},
                                  {.fd = m->inotify_fd, .events = POLLIN}};
        struct maildir_scan scan = {.taken = 0};
        struct err err = ERR_INIT;
        (void)!maildir_scan(m, &scan, &err);
        if (scan.taken > 0)
            log_event(LOG_LEVEL_INFO, "maildir taken=%d aside=%d", scan.taken, scan.aside);
        if (scan.is_pause)
            waits[1].fd = -1;
        if (poll(waits, 2, (int)scan.wait_ms) < 0 && errno != EINTR)
            break;
        if (waits[0].revents)
            break;
        news_read(m);
    }
    return NULL;
}

enum status maildir_start(struct maildir *m, struct err *err)
{
    char *path = malloc(strlen(m->path) + sizeof "/new");
    enum status st = ST_OK;

    assert(!m->is_started);
    if (!path)
        return err_reason(err, REASON_NO_MEMORY, "maildir: out of memory");
    (void)snprintf(path, strlen(m->path) + sizeof "/new", "%s/new", m->path);
    m->inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (m->inotify_fd < 0 ||
        inotify_add_watch(m->inotify_fd, path, IN_MOVED_TO | IN_CREATE | IN_CLOSE_WRITE) < 0 ||
        pipe(m->stop) != 0) {
        st = err_set(err, ST_IO, "maildir %s: %s", path, strerror(errno));
        goto out;
    }
    for (int i = 0; i < 2; i++)
        (void)fcntl(m->stop[i], F_SETFD, FD_CLOEXEC);
    m->is_started = true;
    if (pthread_create(&m->thread, NULL, maildir_main, m) != 0) {
        m->is_started = false;
        st = err_set(err, ST_NOMEM, "maildir: cannot start its thread");
    }
out:
    free(path);
    return st;
}

void maildir_close(struct maildir *m)
{
    if (!m)
        return;
    if (m->is_started) {
        (void)!write(m->stop[1], "", 1);
        pthread_join(m->thread, NULL);
    }
    for (const int *fd = (const int[]){m->new_fd, m->cur_fd, m->inotify_fd, m->stop[0], m->stop[1],
                                       INT_MIN};
         *fd != INT_MIN; fd++)
        if (*fd >= 0)
            close(*fd);
    free(m->path);
    free(m);
}

/* intake/imap_watch.c - the thread around a rented mailbox; see imap_watch.h. */
#include "intake/imap_watch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "base/thread.h"
#include "store/imap_boxes.h"
#include "store/writer.h"

enum { BATCH_MAX = 50 /* letters looked at before what was read is remembered */ };

struct imap_watch {
    struct imap_watch_options options;
    struct imap_box_row box; /* what is remembered; uidvalidity 0: nothing yet */
    int stop[2];
    pthread_t thread;
    atomic_ullong taken, passed, failures;
    atomic_bool is_connected;
};

int64_t imap_watch_pause(int failures)
{
    int64_t pause = IMAP_WATCH_RETRY_MS;

    for (int i = 1; i < failures && pause < IMAP_WATCH_RETRY_MAX_MS; i++)
        pause *= 2;
    return pause < IMAP_WATCH_RETRY_MAX_MS ? pause : IMAP_WATCH_RETRY_MAX_MS;
}

/* ---------------------------------------------------------------- what is remembered */

static enum status box_load(struct imap_watch *w, struct err *err)
{
    struct store_reader *reader = NULL;
    struct imap_box_row row;
    enum status st = store_reader_take(w->options.store, &reader, err);

    if (st != ST_OK)
        return st;
    st = imap_box_get(store_reader_conn(reader), w->box.name, &row, err);
    store_reader_give(reader);
    if (st == ST_OK)
        w->box = row;
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static enum status box_save_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct imap_box_row *box = arg;

    box->updated_at = now;
    return imap_box_set(txn, box, err);
}

static enum status box_save(struct imap_watch *w, struct err *err)
{
    const struct writer_command command = {
        .name = "imap-box", .run = box_save_run, .arg = &w->box};

    return writer_run(w->options.writer, &command, err);
}

/* ---------------------------------------------------------------- letters */

/* Hand the letter over.  ST_INVALID, ST_TOO_LARGE, ST_NOT_FOUND: pass it over. */
static enum status letter_take(struct imap_watch *w, struct imap *imap,
                               const struct imap_item *item, struct err *err)
{
    const struct door *door = &w->options.door;
    struct buf bytes = buf_make(w->options.imap.letter_size);
    char recipient[ADDRESSEE_SIZE], sender[ADDRESSEE_SIZE] = "";
    struct door_letter letter;
    enum status st = item->size > w->options.imap.letter_size
                         ? err_set(err, ST_TOO_LARGE, "it is larger than is read here")
                         : imap_fetch(imap, item->uid, &bytes, err);

    if (st == ST_OK && !addressee_find(bytes.data, bytes.len, door->judge, door->arg, recipient))
        st = err_set(err, ST_INVALID, "it is for nobody here");
    if (st == ST_OK) {
        (void)addressee_sender(bytes.data, bytes.len, sender);
        letter = (struct door_letter){.sender = sender,
                                      .recipient = recipient,
                                      .bytes = bytes.data,
                                      .size = bytes.len};
        st = door_take_wait(door, &letter, err);
        if (st == ST_NOT_FOUND) /* only imap_fetch() may say that */
            st = err_set(err, ST_IO, "the letter could not be stored");
    }
    buf_release(&bytes);
    return st;
}

/* One letter: taken and marked, or passed over. */
static enum status letter_settle(struct imap_watch *w, struct imap *imap,
                                 const struct imap_item *item, struct err *err)
{
    struct err why = ERR_INIT;
    enum status st = letter_take(w, imap, item, &why);
    bool is_passed = st == ST_TOO_LARGE || st == ST_INVALID;

    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st != ST_OK && !is_passed) {
        if (err)
            *err = why;
        return st;
    }
    if (is_passed)
        log_event(LOG_LEVEL_WARNING, "imap_passed uid=%lu why=\"%s\"", (unsigned long)item->uid,
                  why.text);
    st = imap_settle(imap, item->uid, w->options.is_kept || is_passed, err);
    if (st == ST_OK)
        atomic_fetch_add(is_passed ? &w->passed : &w->taken, 1);
    return st;
}

/* All that is new. */
static enum status news_take(struct imap_watch *w, struct imap *imap, struct err *err)
{
    struct imap_item items[BATCH_MAX];
    size_t n;

    do {
        uint32_t after = (uint32_t)w->box.last_uid;
        enum status st = imap_list(imap, after, BATCH_MAX, items, &n, err);
        for (size_t i = 0; i < n && st == ST_OK; i++) {
            st = letter_settle(w, imap, &items[i], err);
            if (st == ST_OK)
                w->box.last_uid = items[i].uid;
        }
        if ((uint32_t)w->box.last_uid != after) {
            enum status saved = box_save(w, st == ST_OK ? err : NULL);
            if (st == ST_OK)
                st = saved;
        }
        if (st != ST_OK)
            return st;
    } while (n == BATCH_MAX);
    return ST_OK;
}

/* ---------------------------------------------------------------- the thread */

/* One connection, until something fails.  *ret_was_fine: it was of use. */
static enum status connection_run(struct imap_watch *w, bool *ret_was_fine, struct err *err)
{
    struct imap *imap = NULL;
    bool is_news;
    enum status st = box_load(w, err);

    *ret_was_fine = false;
    if (st == ST_OK)
        st = imap_open(&w->options.imap, &imap, err);
    if (st != ST_OK)
        return st;
    log_event(LOG_LEVEL_INFO, "imap_connected idle=%s", imap_state(imap)->has_idle ? "yes" : "no");
    atomic_store(&w->is_connected, true);
    if (imap_state(imap)->uidvalidity != (uint32_t)w->box.uidvalidity) {
        if (w->box.uidvalidity != 0)
            log_event(LOG_LEVEL_WARNING, "imap_renumbered: everything is looked at again");
        w->box.uidvalidity = imap_state(imap)->uidvalidity;
        w->box.last_uid = 0;
    }
    while (st == ST_OK) {
        st = news_take(w, imap, err);
        if (st == ST_OK)
            st = imap_wait(imap, IMAP_IDLE_MS, &is_news, err);
        *ret_was_fine |= st == ST_OK;
    }
    atomic_store(&w->is_connected, false);
    imap_close(imap);
    return st;
}

/* Wait; true when told to stop. */
static bool is_stopped_within(const struct imap_watch *w, int64_t ms)
{
    struct pollfd wait = {.fd = w->stop[0], .events = POLLIN};
    int rc;

    do
        rc = poll(&wait, 1, (int)ms);
    while (rc < 0 && errno == EINTR);
    return rc != 0;
}

static void *watch_main(void *arg)
{
    struct imap_watch *w = arg;
    int failures = 0;

    thread_name("imap");
    for (;;) {
        struct err err = ERR_INIT;
        bool was_fine;
        (void)connection_run(w, &was_fine, &err);
        if (is_stopped_within(w, 0))
            return NULL;
        failures = was_fine ? 1 : failures + 1;
        atomic_fetch_add(&w->failures, 1);
        log_event(LOG_LEVEL_WARNING, "imap_failed again_s=%d why=\"%s\"",
                  (int)(imap_watch_pause(failures) / MS_SECOND), err.text);
        if (is_stopped_within(w, imap_watch_pause(failures)))
            return NULL;
    }
}

enum status imap_watch_start(const struct imap_watch_options *options,
                             struct imap_watch **ret_watch, struct err *err)
{
    struct imap_watch *w = calloc(1, sizeof *w);
    int n;

    if (!w)
        return err_reason(err, REASON_NO_MEMORY, "imap: out of memory");
    w->options = *options;
    n = snprintf(w->box.name, sizeof w->box.name, "%s@%s/%s", options->imap.user,
                 options->imap.host, options->imap.mailbox);
    if (n < 0 || (size_t)n >= sizeof w->box.name) {
        free(w);
        return err_set(err, ST_INVALID, "imap: the mailbox' name is too long");
    }
    if (pipe(w->stop) != 0) {
        free(w);
        return err_set(err, ST_IO, "imap: no pipe: %s", strerror(errno));
    }
    for (int i = 0; i < 2; i++)
        (void)fcntl(w->stop[i], F_SETFD, FD_CLOEXEC);
    w->options.imap.stop_fd = w->stop[0];
    if (pthread_create(&w->thread, NULL, watch_main, w) != 0) {
        close(w->stop[0]);
        close(w->stop[1]);
        free(w);
        return err_set(err, ST_NOMEM, "imap: cannot start its thread");
    }
    *ret_watch = w;
    return ST_OK;
}

void imap_watch_stop(struct imap_watch *w)
{
    if (!w)
        return;
    (void)!write(w->stop[1], "", 1);
    pthread_join(w->thread, NULL);
    close(w->stop[0]);
    close(w->stop[1]);
    free(w);
}

struct imap_watch_stats imap_watch_stats(struct imap_watch *w)
{
    return (struct imap_watch_stats){.taken = atomic_load(&w->taken),
                                     .passed = atomic_load(&w->passed),
                                     .failures = atomic_load(&w->failures),
                                     .is_connected = atomic_load(&w->is_connected)};
}

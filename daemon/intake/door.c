/* intake/door.c - waiting for a letter that was handed over; see door.h. */
#include "intake/door.h"

#include <pthread.h>

struct waiting {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool is_done;
    enum status st;
    struct err err;
};

static void on_done(void *arg, enum status st, const struct err *err)
{
    struct waiting *w = arg;

    pthread_mutex_lock(&w->mutex);
    w->st = st;
    if (err)
        w->err = *err;
    w->is_done = true;
    pthread_cond_signal(&w->cond);
    pthread_mutex_unlock(&w->mutex);
}

enum status door_take_wait(const struct door *door, const struct door_letter *letter,
                           struct err *err)
{
    struct waiting w = {.st = ST_OK, .err = ERR_INIT};
    enum status st;

    pthread_mutex_init(&w.mutex, NULL);
    pthread_cond_init(&w.cond, NULL);
    st = door->take(door->arg, letter, on_done, &w, err);
    if (st == ST_OK) {
        pthread_mutex_lock(&w.mutex);
        while (!w.is_done)
            pthread_cond_wait(&w.cond, &w.mutex);
        pthread_mutex_unlock(&w.mutex);
        st = w.st;
        if (st != ST_OK && err)
            *err = w.err;
    }
    pthread_cond_destroy(&w.cond);
    pthread_mutex_destroy(&w.mutex);
    return st;
}

#include "intake/fake_door.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static int judge(void *arg, const char *address)
{
    (void)arg;
    if (!str_starts(address, "play") || !strstr(address, "@example.org"))
        return 0;
    return strchr(address, '+') ? 2 : 1;
}

static enum status take(void *arg, const struct door_letter *letter, door_done_fn *done,
                        void *done_arg, struct err *err)
{
    struct fake *f = arg;
    struct fake_letter *kept;
    bool is_held;
    enum status st;

    pthread_mutex_lock(&f->mutex);
    st = f->refusal;
    if (st != ST_OK) {
        pthread_mutex_unlock(&f->mutex);
        return err_set(err, st, "the fake refuses");
    }
    if (f->n == FAKE_MAX)
        abort();
    kept = &f->letters[f->n++];
    kept->sender = str_dup(letter->sender);
    kept->recipient = str_dup(letter->recipient);
    kept->bytes = str_ndup(letter->bytes, letter->size);
    kept->size = letter->size;
    is_held = f->is_held;
    st = f->answer;
    if (is_held) {
        f->waiting[f->n_waiting].done = done;
        f->waiting[f->n_waiting++].arg = done_arg;
    } else {
        f->answered++;
    }
    pthread_cond_broadcast(&f->came);
    pthread_mutex_unlock(&f->mutex);
    if (!is_held)
        done(done_arg, st, NULL);
    return ST_OK;
}

struct fake *fake_new(void)
{
    struct fake *f = calloc(1, sizeof *f);

    if (!f)
        abort();
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->came, NULL);
    return f;
}

void fake_free(struct fake *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->letters[i].sender);
        free(f->letters[i].recipient);
        free(f->letters[i].bytes);
    }
    pthread_cond_destroy(&f->came);
    pthread_mutex_destroy(&f->mutex);
    free(f);
}

struct door fake_door(struct fake *f)
{
    return (struct door){.judge = judge, .take = take, .arg = f};
}

struct releasing {
    struct fake *fake;
    enum status st;
    size_t n; /* those that wait now, not those that come meanwhile */
};

static void *release_main(void *arg)
{
    struct releasing *r = arg;
    struct fake *f = r->fake;

    for (; r->n > 0; r->n--) {
        door_done_fn *done;
        void *done_arg;
        pthread_mutex_lock(&f->mutex);
        done = f->waiting[0].done;
        done_arg = f->waiting[0].arg;
        f->n_waiting--;
        memmove(f->waiting, f->waiting + 1, f->n_waiting * sizeof f->waiting[0]);
        f->answered++;
        pthread_cond_broadcast(&f->came);
        pthread_mutex_unlock(&f->mutex);
        done(done_arg, r->st, NULL);
    }
    return NULL;
}

void fake_release(struct fake *f, enum status st)
{
    struct releasing r = {f, st, 0};
    pthread_t thread;

    pthread_mutex_lock(&f->mutex);
    r.n = f->n_waiting;
    pthread_mutex_unlock(&f->mutex);
    if (pthread_create(&thread, NULL, release_main, &r) != 0)
        abort();
    pthread_join(thread, NULL);
}

void fake_wait(struct fake *f, size_t n)
{
    pthread_mutex_lock(&f->mutex);
    while (f->n < n)
        pthread_cond_wait(&f->came, &f->mutex);
    pthread_mutex_unlock(&f->mutex);
}

void fake_set(struct fake *f, bool is_held, enum status answer, enum status refusal)
{
    pthread_mutex_lock(&f->mutex);
    f->is_held = is_held;
    f->answer = answer;
    f->refusal = refusal;
    pthread_mutex_unlock(&f->mutex);
}

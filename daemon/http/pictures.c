#include "http/pictures.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct picture {
    unsigned char key[DIGEST_SIZE];
    uint64_t used; /* counts up with every use; 0: the place is free */
    char *bytes;
    size_t n;
};

struct pictures {
    pthread_mutex_t lock;
    pthread_cond_t more; /* a job, or the end */
    pthread_t painter;
    bool has_painter, is_stopping;
    struct picture_job *first, **last;
    int n_jobs; /* that have not been begun */
    struct picture kept[PICTURES_MAX];
    size_t n_bytes;
    uint64_t uses;
};

static void *painter(void *arg)
{
    struct pictures *p = arg;

    thread_name("painter");
    pthread_mutex_lock(&p->lock);
    while (p->first || !p->is_stopping) {
        struct picture_job *job = p->first;

        if (!job) {
            pthread_cond_wait(&p->more, &p->lock);
            continue;
        }
        p->first = job->next;
        if (!p->first)
            p->last = &p->first;
        p->n_jobs--;
        pthread_mutex_unlock(&p->lock);
        job->paint(job);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

enum status pictures_new(struct pictures **ret, struct err *err)
{
    struct pictures *p = calloc(1, sizeof *p);

    if (!p)
        return err_reason(err, REASON_NO_MEMORY, "http: no memory for pictures");
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->more, NULL);
    p->last = &p->first;
    if (pthread_create(&p->painter, NULL, painter, p) != 0) {
        pictures_free(p);
        return err_set(err, ST_IO, "http: no thread to be had for pictures");
    }
    p->has_painter = true;
    *ret = p;
    return ST_OK;
}

void pictures_free(struct pictures *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->is_stopping = true;
    pthread_cond_signal(&p->more);
    pthread_mutex_unlock(&p->lock);
    if (p->has_painter)
        pthread_join(p->painter, NULL);
    for (size_t i = 0; i < PICTURES_MAX; i++)
        free(p->kept[i].bytes);
    pthread_cond_destroy(&p->more);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static struct picture *find(struct pictures *p, const unsigned char key[DIGEST_SIZE])
{
    for (size_t i = 0; i < PICTURES_MAX; i++)
        if (p->kept[i].used && memcmp(p->kept[i].key, key, DIGEST_SIZE) == 0)
            return &p->kept[i];
    return NULL;
}

bool pictures_get(struct pictures *p, const unsigned char key[DIGEST_SIZE], struct buf *out)
{
    struct picture *found;

    pthread_mutex_lock(&p->lock);
    found = find(p, key);
    if (found) {
        found->used = ++p->uses;
        buf_add(out, found->bytes, found->n);
    }
    pthread_mutex_unlock(&p->lock);
    return found != NULL;
}

static void drop(struct pictures *p, struct picture *picture)
{
    free(picture->bytes);
    p->n_bytes -= picture->n;
    *picture = (struct picture){.used = 0};
}

/* A free place, after the ones unused longest have gone until n more bytes fit. */
static struct picture *make_room(struct pictures *p, size_t n)
{
    for (;;) {
        struct picture *place = NULL, *oldest = NULL;

        for (size_t i = 0; i < PICTURES_MAX; i++) {
            struct picture *one = &p->kept[i];

            if (!one->used)
                place = one;
            else if (!oldest || one->used < oldest->used)
                oldest = one;
        }
        if (place && p->n_bytes + n <= PICTURES_BYTES)
            return place;
        drop(p, oldest);
    }
}

void pictures_put(struct pictures *p, const unsigned char key[DIGEST_SIZE], const char *bytes,
                  size_t n)
{
    struct picture *place;
    char *copy;

    if (n > PICTURES_BYTES / 4)
        return;
    copy = malloc(n + 1);
    if (!copy)
        return;
    memcpy(copy, bytes, n);
    pthread_mutex_lock(&p->lock);
    if (!find(p, key)) {
        place = make_room(p, n);
        memcpy(place->key, key, DIGEST_SIZE);
        place->used = ++p->uses;
        place->bytes = copy;
        place->n = n;
        p->n_bytes += n;
        copy = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    free(copy);
}

enum status pictures_submit(struct pictures *p, struct picture_job *job, struct err *err)
{
    enum status st = ST_OK;

    job->next = NULL;
    pthread_mutex_lock(&p->lock);
    if (p->n_jobs == PICTURES_QUEUE_MAX) {
        st = err_detail(err, REASON_BUSY, "refusal.pictures_wait",
                        "too many pictures wait to be drawn");
    } else {
        *p->last = job;
        p->last = &job->next;
        p->n_jobs++;
        pthread_cond_signal(&p->more);
    }
    pthread_mutex_unlock(&p->lock);
    return st;
}

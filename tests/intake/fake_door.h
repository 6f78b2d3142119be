/*
 * tests/intake/fake_door.h - a door that stores in memory, answers when and as it is told.
 *
 * Addresses of example.org whose local part begins with "play" are ours; with a "+", exactly so.
 * While it is held, letters wait; fake_release() answers them all from another thread, as the
 * writer does.
 */
#ifndef FH_TEST_FAKE_DOOR_H
#define FH_TEST_FAKE_DOOR_H

#include <pthread.h>

#include "intake/door.h"

enum { FAKE_MAX = 5000 };

struct fake_letter {
    char *sender, *recipient, *bytes;
    size_t size;
};

struct fake {
    pthread_mutex_t mutex;
    pthread_cond_t came; /* a letter came or was answered */
    struct fake_letter letters[FAKE_MAX];
    size_t n;             /* letters that came */
    size_t answered;      /* of them */
    bool is_held;         /* answers wait for fake_release() */
    enum status answer;   /* what done() hears */
    enum status refusal;  /* what take() returns; ST_OK: it takes */
    struct {
        door_done_fn *done;
        void *arg;
    } waiting[FAKE_MAX];
    size_t n_waiting;
};

struct fake *fake_new(void);
void fake_free(struct fake *fake);
struct door fake_door(struct fake *fake);
/* Answer all that waits with st, on a thread of its own that is joined. */
void fake_release(struct fake *fake, enum status st);
/* Until n letters have come. */
void fake_wait(struct fake *fake, size_t n);
void fake_set(struct fake *fake, bool is_held, enum status answer, enum status refusal);

#endif

/*
 * people/passwords.h - hashing passwords, one at a time, so that logins cannot eat the memory.
 *
 * A password is hashed by argon2id (libsodium's crypto_pwhash_str), which takes 64 MiB for the
 * moment.  So there is one worker thread with a short queue; when the queue is full the caller is
 * told to try again (ST_BUSY) and nothing is waited for.
 *
 * Use: passwords_new() … passwords_check() or passwords_change(), whose done() is called on the
 * worker thread … passwords_free(), which lets the queue run dry.  passwords_hash_now() hashes on
 * the calling thread, for the command line.
 *
 * A check against an unknown account is made against a dummy hash (passwords_dummy()), so that it
 * takes as long as any other.
 *
 * Ownership: passwords and hashes given are copied, and wiped when the job is over.
 * Threads: passwords_check/_change from any thread; done() on the worker: it should hand the
 * answer on and return, not wait.
 */
#ifndef FH_PEOPLE_PASSWORDS_H
#define FH_PEOPLE_PASSWORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "store/users.h" /* PASSWORD_HASH_SIZE */

enum {
    PASSWORD_MIN = 10,         /* characters */
    PASSWORD_MAX = 1024,       /* bytes */
    PASSWORDS_QUEUE_MAX = 8,   /* jobs waiting */
};

/* How hard a guess is made.  PASSWORDS_COST is libsodium's "interactive": 2 passes, 64 MiB. */
struct passwords_cost {
    unsigned long long passes;
    size_t memory; /* bytes */
};
#define PASSWORDS_COST ((struct passwords_cost){.passes = 2, .memory = 64 * 1024 * 1024})
/* For tests: the least that libsodium takes. */
#define PASSWORDS_COST_LEAST ((struct passwords_cost){.passes = 1, .memory = 8192})

struct password_result {
    enum status st;     /* ST_OK; ST_UNAUTHENTICATED: the password is wrong; ST_NOMEM */
    struct err err;
    bool has_new_hash;  /* new_hash is to be stored: asked for, or the old one is out of date */
    char new_hash[PASSWORD_HASH_SIZE];
};

typedef void password_done(void *arg, const struct password_result *result);

struct passwords;

/* Starts the worker.  NULL when out of memory or threads.  people_init() comes first. */
struct passwords *passwords_new(struct passwords_cost cost);
void passwords_free(struct passwords *p); /* NULL is allowed; queued jobs are still done */

/* Whether password is the one of hash.  ST_BUSY when the queue is full, else ST_OK and done()
 * will be called once. */
MUST_CHECK enum status passwords_check(struct passwords *p, const char *hash, const char *password,
                                       password_done *done, void *arg, struct err *err);

/* Check current against hash (hash NULL or "": there is none, and nothing is checked), then hash
 * password. */
MUST_CHECK enum status passwords_change(struct passwords *p, const char *hash, const char *current,
                                        const char *password, password_done *done, void *arg,
                                        struct err *err);

/* Hash on this thread. */
MUST_CHECK enum status passwords_hash_now(struct passwords_cost cost, const char *password,
                                          char ret_hash[PASSWORD_HASH_SIZE], struct err *err);

/* A hash that no password has, of the cost given to passwords_new(). */
const char *passwords_dummy(const struct passwords *p);

/* Whether password may be chosen: UTF-8, PASSWORD_MIN characters to PASSWORD_MAX bytes, none that
 * everybody tries first, nor little more than the handle.  ST_INVALID, REASON_BAD_FIELD. */
MUST_CHECK enum status password_is_fit(const char *password, const char *handle, struct err *err);

#endif

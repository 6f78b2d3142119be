#include "people/passwords.h"

#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/thread.h"

struct job {
    struct job *next;
    char hash[PASSWORD_HASH_SIZE]; /* "" = nothing to check */
    char *check;                   /* the password to check against hash; NULL: none */
    char *make;                    /* the password to hash; NULL: none */
    password_done *done;
    void *arg;
};

struct passwords {
    struct passwords_cost cost;
    char dummy[PASSWORD_HASH_SIZE];
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t worker;
    struct job *first, **last;
    size_t waiting;
    bool is_stopping;
};

static void text_wipe(char *text)
{
    if (text)
        sodium_memzero(text, strlen(text));
    free(text);
}

static void job_free(struct job *job)
{
    text_wipe(job->check);
    text_wipe(job->make);
    sodium_memzero(job, sizeof *job);
    free(job);
}

enum status passwords_hash_now(struct passwords_cost cost, const char *password,
                               char ret_hash[PASSWORD_HASH_SIZE], struct err *err)
{
    char hash[crypto_pwhash_STRBYTES];

    _Static_assert((int)PASSWORD_HASH_SIZE >= (int)crypto_pwhash_STRBYTES, "room for a hash");
    if (crypto_pwhash_str(hash, password, strlen(password), cost.passes, cost.memory) != 0)
        return err_reason(err, REASON_NO_MEMORY, "no memory to hash a password");
    memset(ret_hash, 0, PASSWORD_HASH_SIZE);
    memcpy(ret_hash, hash, sizeof hash);
    return ST_OK;
}

static void job_run(struct passwords *p, struct job *job)
{
    struct password_result r = {.st = ST_OK, .err = ERR_INIT};
    const char *make = job->make;

    if (job->hash[0] &&
        crypto_pwhash_str_verify(job->hash, job->check, strlen(job->check)) != 0) {
        r.st = err_detail(&r.err, REASON_BAD_CREDENTIALS, "refusal.login_wrong",
                          "the name and the password do not belong together");
        make = NULL;
    } else if (!make && crypto_pwhash_str_needs_rehash(job->hash, p->cost.passes,
                                                        p->cost.memory) == 1) {
        make = job->check; /* the one moment when the password is at hand */
    }
    if (make) {
        enum status st = passwords_hash_now(p->cost, make, r.new_hash, &r.err);
        r.has_new_hash = st == ST_OK;
        if (job->make)
            r.st = st;
    }
    job->done(job->arg, &r);
    sodium_memzero(&r, sizeof r);
}

static void *worker_main(void *arg)
{
    struct passwords *p = arg;

    thread_name("passwords");
    pthread_mutex_lock(&p->lock);
    for (;;) {
        struct job *job = p->first;
        if (!job && p->is_stopping)
            break;
        if (!job) {
            pthread_cond_wait(&p->wake, &p->lock);
            continue;
        }
        p->first = job->next;
        if (!p->first)
            p->last = &p->first;
        p->waiting--;
        pthread_mutex_unlock(&p->lock);
        job_run(p, job);
        job_free(job);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* The record of a hash that was drawn instead of made: to refuse it costs the same, and so the
 * start of the daemon need not wait for one. */
static void dummy_make(struct passwords_cost cost, char ret_hash[PASSWORD_HASH_SIZE])
{
    enum { SALT_BYTES = 16, HASH_BYTES = 32, VARIANT = sodium_base64_VARIANT_ORIGINAL_NO_PADDING };
    unsigned char salt[SALT_BYTES], hash[HASH_BYTES];
    char salt_text[sodium_base64_ENCODED_LEN(SALT_BYTES, VARIANT)];
    char hash_text[sodium_base64_ENCODED_LEN(HASH_BYTES, VARIANT)];

    randombytes_buf(salt, sizeof salt);
    randombytes_buf(hash, sizeof hash);
    (void)sodium_bin2base64(salt_text, sizeof salt_text, salt, sizeof salt, VARIANT);
    (void)sodium_bin2base64(hash_text, sizeof hash_text, hash, sizeof hash, VARIANT);
    (void)snprintf(ret_hash, PASSWORD_HASH_SIZE, "$argon2id$v=19$m=%zu,t=%llu,p=1$%s$%s",
                   cost.memory / 1024, cost.passes, salt_text, hash_text);
}

struct passwords *passwords_new(struct passwords_cost cost)
{
    struct passwords *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->cost = cost;
    p->last = &p->first;
    dummy_make(cost, p->dummy);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    if (pthread_create(&p->worker, NULL, worker_main, p) != 0) {
        pthread_cond_destroy(&p->wake);
        pthread_mutex_destroy(&p->lock);
        free(p);
        return NULL;
    }
    return p;
}

void passwords_free(struct passwords *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->is_stopping = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->worker, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static enum status job_add(struct passwords *p, const char *hash, const char *check,
                           const char *make, password_done *done, void *arg, struct err *err)
{
    struct job *job;
    enum status st = ST_OK;

    if ((check && strlen(check) > PASSWORD_MAX) || (make && strlen(make) > PASSWORD_MAX))
        return ERR_DETAIL(err, REASON_TOO_LARGE, "refusal.password_most",
                          "a password has at most {most} bytes", ERR_NUMBER("most", PASSWORD_MAX));
    job = calloc(1, sizeof *job);
    if (!job)
        return err_reason(err, REASON_NO_MEMORY, "no memory to check a password");
    job->check = str_dup(check);
    job->make = str_dup(make);
    job->done = done;
    job->arg = arg;
    if ((check && !job->check) || (make && !job->make) ||
        !str_copy(job->hash, sizeof job->hash, hash ? hash : "")) {
        job_free(job);
        return err_reason(err, REASON_NO_MEMORY, "no memory to check a password");
    }
    pthread_mutex_lock(&p->lock);
    if (p->waiting >= PASSWORDS_QUEUE_MAX) {
        st = err_detail(err, REASON_BUSY, "refusal.logins_many",
                        "too many log-ins at once; try again in a moment");
    } else {
        *p->last = job;
        p->last = &job->next;
        p->waiting++;
        pthread_cond_signal(&p->wake);
    }
    pthread_mutex_unlock(&p->lock);
    if (st != ST_OK)
        job_free(job);
    return st;
}

enum status passwords_check(struct passwords *p, const char *hash, const char *password,
                            password_done *done, void *arg, struct err *err)
{
    return job_add(p, hash && *hash ? hash : p->dummy, password, NULL, done, arg, err);
}

enum status passwords_change(struct passwords *p, const char *hash, const char *current,
                             const char *password, password_done *done, void *arg,
                             struct err *err)
{
    return job_add(p, hash, current ? current : "", password, done, arg, err);
}

const char *passwords_dummy(const struct passwords *p)
{
    return p->dummy;
}

/* What attackers try first, of those long enough to be allowed otherwise.  Facts of any list of
 * leaked passwords. */
static const char *const too_common[] = {
    "1234567890",   "12345678910",  "0123456789",   "0987654321",  "1111111111",  "0000000000",
    "1q2w3e4r5t",   "1qaz2wsx3edc", "q1w2e3r4t5",   "qwertyuiop",  "qwerty12345", "qwerty123456",
    "password12",   "password123",  "password1234", "passw0rd123", "mypassword",  "iloveyou12",
    "letmein1234",  "welcome123",   "welcome1234",  "admin12345",  "administrator", "changeme123",
    "abcdefghij",   "abcd123456",   "a123456789",   "asdfghjkl1",  "asdfghjkl;",  "zxcvbnm123",
    "qazwsxedcrfv", "987654321a",   "123456789a",   "123456789q",  "correcthorse", "fourhanded",
    "basketball",   "football123",  "sunshine123",  "princess123",
};

enum status password_is_fit(const char *password, const char *handle, struct err *err)
{
    size_t len = strlen(password), characters = 0, handle_len = handle ? strlen(handle) : 0;
    bool is_one = true;

    if (len > PASSWORD_MAX || !utf8_is_valid(password, len))
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.password_bytes",
                          "a password is UTF-8 text of at most {most} bytes",
                          ERR_NUMBER("most", PASSWORD_MAX));
    for (size_t i = 0; i < len; i++) {
        characters += ((unsigned char)password[i] & 0xC0) != 0x80;
        is_one = is_one && password[i] == password[0];
    }
    if (characters < PASSWORD_MIN)
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.password_least",
                          "a password has at least {least} characters",
                          ERR_NUMBER("least", PASSWORD_MIN));
    for (size_t i = 0; i < COUNT_OF(too_common); i++)
        if (str_case_eq(password, too_common[i]))
            is_one = true;
    if (is_one)
        return err_detail(err, REASON_BAD_FIELD, "refusal.password_common",
                          "this password is among the first that anybody would try");
    for (size_t i = 0; handle_len >= 3 && i + handle_len <= len; i++) {
        char piece[PASSWORD_MAX + 1];
        (void)str_copy(piece, handle_len + 1, password + i);
        if (str_case_eq(piece, handle) && len - handle_len < 6)
            return err_detail(err, REASON_BAD_FIELD, "refusal.password_handle",
                              "a password is more than the handle and a few characters");
    }
    return ST_OK;
}

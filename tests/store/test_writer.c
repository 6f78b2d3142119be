/* store/test_writer.c - commands, batches, failures, threads. */
#include "store/rig.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "faults/vfs_powercut.h"
#include "store/internal.h"
#include "store/logins.h"

static struct rig rig;

static int up(void **state)
{
    const struct powercut_options options = {.passes_through = true};

    (void)state;
    powercut_install(&options);
    powercut_count_reset();
    rig_open(&rig, POWERCUT_VFS);
    return 0;
}

static int down(void **state)
{
    (void)state;
    powercut_count_reset();
    rig_close(&rig);
    return 0;
}

static struct writer *writer_of(size_t queue_max, size_t batch_max)
{
    struct writer_options options = {.store = rig.store,
                                     .time = rig_time(&rig),
                                     .queue_max = queue_max,
                                     .batch_max = batch_max};
    struct writer *w = NULL;
    struct err err = ERR_INIT;

    assert_ok(writer_open(&options, &w, &err), err);
    return w;
}

/* A command that makes a user, and what it heard. */
struct job {
    char handle[HANDLE_SIZE];
    enum status run_st; /* what run() returns after the user was made */
    int ran, told;
    enum status heard;
    enum reason reason;
    utc_ms now;
    bool durable; /* a reader saw it when done() was called */
};

static enum status job_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct job *job = arg;
    struct user_row user = {.verified_at = UTC_NONE, .id = 0};
    int64_t id = 0;
    enum status st;

    job->ran++;
    job->now = now;
    (void)snprintf(user.handle, sizeof user.handle, "%s", job->handle);
    (void)snprintf(user.handle_key, sizeof user.handle_key, "%s", job->handle);
    (void)snprintf(user.display_name, sizeof user.display_name, "x");
    (void)snprintf(user.zone, sizeof user.zone, "UTC");
    (void)snprintf(user.language, sizeof user.language, "en");
    st = users_create(txn, &user, now, &id, err);
    if (st == ST_OK && job->run_st != ST_OK)
        st = err_set(err, job->run_st, "on purpose");
    return st;
}

static bool is_there(const char *handle)
{
    struct user_row user;

    return users_find_handle(rig_conn(&rig), handle, &user, NULL) == ST_OK;
}

static void job_done(void *arg, enum status st, const struct err *err)
{
    struct job *job = arg;

    job->told++;
    job->heard = st;
    job->reason = st == ST_OK ? REASON_NONE : err->reason;
    job->durable = is_there(job->handle);
}

static struct writer_command command_of(struct job *job)
{
    return (struct writer_command){
        .name = "job", .run = job_run, .done = job_done, .arg = job};
}

static void submit(struct writer *w, struct job *job)
{
    struct writer_command command = command_of(job);
    struct err err = ERR_INIT;

    assert_ok(writer_submit(w, &command, &err), err);
}

/* ---------------------------------------------------------------- batches */

static void test_commands_that_wait_share_one_sync(void **state)
{
    struct writer *w = writer_of(0, 0);
    struct job jobs[50];

    (void)state;
    memset(jobs, 0, sizeof jobs);
    submit(w, &jobs[0]); /* the first write after a start also syncs the log's head */
    (void)snprintf(jobs[0].handle, sizeof jobs[0].handle, "first");
    assert_int_equal(writer_drain(w), 1);

    for (int i = 1; i < 50; i++) {
        (void)snprintf(jobs[i].handle, sizeof jobs[i].handle, "u%d", i);
        submit(w, &jobs[i]);
    }
    powercut_count_reset();
    assert_int_equal(writer_drain(w), 49);
    assert_int_equal(powercut_counts().syncs, 1);
    for (int i = 1; i < 50; i++) {
        assert_int_equal(jobs[i].told, 1);
        assert_int_equal(jobs[i].heard, ST_OK);
        assert_true(jobs[i].durable);
    }
    assert_int_equal(writer_stats(w).commits, 2);
    assert_int_equal(writer_stats(w).batch_max, 49);
    writer_close(w);
}

static void test_a_lone_command_costs_one_sync(void **state)
{
    struct writer *w = writer_of(0, 0);
    struct job a = {.handle = "a"}, b = {.handle = "b"};
    struct writer_command command = command_of(&a);
    struct err err = ERR_INIT;

    (void)state;
    assert_ok(writer_run(w, &command, &err), err);
    powercut_count_reset();
    command = command_of(&b);
    assert_ok(writer_run(w, &command, &err), err);
    assert_int_equal(powercut_counts().syncs, 1);
    writer_close(w);
}

static void test_a_command_that_fails_takes_only_its_own_away(void **state)
{
    struct writer *w = writer_of(0, 0);
    struct job jobs[3] = {{.handle = "one"}, {.handle = "two", .run_st = ST_ILLEGAL},
                          {.handle = "three"}};

    (void)state;
    for (int i = 0; i < 3; i++)
        submit(w, &jobs[i]);
    assert_int_equal(writer_drain(w), 3);
    assert_int_equal(jobs[0].heard, ST_OK);
    assert_int_equal(jobs[1].heard, ST_ILLEGAL);
    assert_int_equal(jobs[2].heard, ST_OK);
    assert_true(is_there("one"));
    assert_false(is_there("two"));
    assert_true(is_there("three"));
    assert_int_equal(writer_stats(w).commands_failed, 1);
    writer_close(w);
}

static void test_of_two_for_one_thing_the_first_wins(void **state)
{
    struct writer *w = writer_of(0, 0);
    struct job a = {.handle = "same"}, b = {.handle = "same"};

    (void)state;
    submit(w, &a);
    submit(w, &b);
    (void)writer_drain(w);
    assert_int_equal(a.heard, ST_OK);
    assert_int_equal(b.heard, ST_CONFLICT);
    assert_int_equal(b.reason, REASON_HANDLE_TAKEN);
    writer_close(w);
}

static void test_batches_are_bounded(void **state)
{
    struct writer *w = writer_of(0, 2);
    struct job jobs[5];

    (void)state;
    memset(jobs, 0, sizeof jobs);
    for (int i = 0; i < 5; i++) {
        (void)snprintf(jobs[i].handle, sizeof jobs[i].handle, "b%d", i);
        submit(w, &jobs[i]);
    }
    assert_int_equal(writer_drain(w), 5);
    assert_int_equal(writer_stats(w).commits, 3);
    writer_close(w);
}

static void test_a_full_queue_refuses_and_never_tells(void **state)
{
    struct writer *w = writer_of(2, 0);
    struct job jobs[3] = {{.handle = "q0"}, {.handle = "q1"}, {.handle = "q2"}};
    struct writer_command command = command_of(&jobs[2]);
    struct err err = ERR_INIT;

    (void)state;
    submit(w, &jobs[0]);
    submit(w, &jobs[1]);
    assert_st(writer_submit(w, &command, &err), ST_BUSY, err);
    assert_int_equal(err.reason, REASON_BUSY);
    (void)writer_drain(w);
    assert_int_equal(jobs[2].ran + jobs[2].told, 0);
    assert_int_equal(writer_stats(w).refused, 1);
    assert_ok(writer_submit(w, &command, &err), err); /* there is room again */
    writer_close(w); /* and what waits is done before it closes */
    assert_int_equal(jobs[2].heard, ST_OK);
    assert_true(is_there("q2"));
}

static void test_a_stopped_writer_refuses(void **state)
{
    struct writer *w = writer_of(0, 0);
    struct job job = {.handle = "late"};
    struct writer_command command = command_of(&job);
    struct err err = ERR_INIT;

    (void)state;
    writer_stop(w);
    assert_st(writer_submit(w, &command, &err), ST_BUSY, err);
    assert_st(writer_run(w, &command, &err), ST_BUSY, err);
    assert_int_equal(job.told, 0);
    writer_close(w);
}

static void test_the_time_of_commands_never_goes_back(void **state)
{
    struct writer *w = writer_of(0, 0);
    struct job a = {.handle = "t1"}, b = {.handle = "t2"}, c = {.handle = "t3"};

    (void)state;
    submit(w, &a);
    (void)writer_drain(w);
    rig.now -= MS_HOUR;
    submit(w, &b);
    (void)writer_drain(w);
    rig.now += 2 * MS_HOUR;
    submit(w, &c);
    (void)writer_drain(w);
    assert_int_equal(a.now, T0);
    assert_int_equal(b.now, T0);
    assert_int_equal(c.now, T0 + MS_HOUR);
    writer_close(w);
}

/* ---------------------------------------------------------------- losing a batch */

static enum status look_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    (void)txn;
    (void)now;
    (void)arg;
    (void)err;
    return ST_OK;
}

/* A command that changes nothing, which a full disk takes as well as an empty one. */
static void look(struct writer *w)
{
    const struct writer_command command = {.name = "look", .run = look_run};
    struct err err = ERR_INIT;

    assert_ok(writer_run(w, &command, &err), err);
}

static enum status refused_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    (void)txn;
    (void)now;
    (void)arg;
    return err_reason(err, REASON_STORE_FAILED, "store: exec: database or disk is full");
}

static void lose_and_look(int code, enum powercut_kind kind)
{
    struct writer *w = writer_of(0, 0);
    struct job jobs[3] = {{.handle = "l0"}, {.handle = "l1", .run_st = ST_ILLEGAL},
                          {.handle = "l2"}};

    for (int i = 0; i < 3; i++)
        submit(w, &jobs[i]);
    powercut_fail(kind, 1, code, true);
    (void)writer_drain(w);
    assert_true(powercut_has_failed());
    powercut_count_reset();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(jobs[i].told, 1);
        assert_int_equal(jobs[i].heard, ST_IO);
        assert_int_equal(jobs[i].reason, REASON_STORE_FAILED);
    }
    assert_false(is_there("l0") || is_there("l1") || is_there("l2"));
    assert_int_equal(writer_stats(w).commits_failed, 1);
    assert_true(writer_stats(w).is_failing);
    look(w);
    assert_true(writer_stats(w).is_failing); /* what writes nothing proves nothing */

    /* and the next one finds a store that works */
    submit(w, &jobs[2]);
    (void)writer_drain(w);
    assert_int_equal(jobs[2].heard, ST_OK);
    assert_true(is_there("l2"));
    assert_false(writer_stats(w).is_failing);
    writer_close(w);
}

/* SQLite may take back the statement alone, and the rest of the batch be committed. */
static void test_a_command_that_the_database_refuses_counts_as_failing(void **state)
{
    const struct writer_command refused = {.name = "refused", .run = refused_run};
    struct writer *w = writer_of(0, 0);
    struct job good = {.handle = "good"}, bad = {.handle = "bad", .run_st = ST_ILLEGAL};
    struct err err = ERR_INIT;

    (void)state;
    submit(w, &good);
    (void)writer_drain(w);
    assert_false(writer_stats(w).is_failing);
    assert_st(writer_run(w, &refused, &err), ST_IO, err);
    assert_true(writer_stats(w).is_failing);
    (void)snprintf(good.handle, sizeof good.handle, "good2");
    submit(w, &good);
    (void)writer_drain(w);
    assert_false(writer_stats(w).is_failing);
    submit(w, &bad); /* a rule's refusal is none of the database's */
    (void)writer_drain(w);
    assert_int_equal(bad.heard, ST_ILLEGAL);
    assert_false(writer_stats(w).is_failing);
    writer_close(w);
}

static void test_a_failed_sync_answers_all_with_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    lose_and_look(SQLITE_IOERR_FSYNC, POWERCUT_SYNC);
}

static void test_a_full_disk_answers_all_with_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    lose_and_look(SQLITE_FULL, POWERCUT_WRITE);
}

static void test_a_write_error_answers_all_with_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    lose_and_look(SQLITE_IOERR_WRITE, POWERCUT_WRITE);
}

/* ---------------------------------------------------------------- hooks */

struct heard {
    int calls;
    struct writer_commit last;
    struct writer_change changes[8];
    int told_before; /* of done() calls that had come before the hook */
};

static int dones;

static void hook(void *arg, const struct writer_commit *commit)
{
    struct heard *h = arg;

    h->calls++;
    h->last = *commit;
    for (size_t i = 0; i < commit->n && i < 8; i++)
        h->changes[i] = commit->changes[i];
    h->told_before = dones;
}

static enum status move_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    return rig_move_in(txn, *(int64_t *)arg, now, NULL, err);
}

static enum status spoilt_move_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    enum status st = rig_move_in(txn, *(int64_t *)arg, now, NULL, err);

    return st == ST_OK ? err_set(err, ST_ILLEGAL, "on purpose") : st;
}

static void count_done(void *arg, enum status st, const struct err *err)
{
    (void)arg;
    (void)st;
    (void)err;
    dones++;
}

static enum status nothing_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    (void)txn;
    (void)now;
    (void)arg;
    (void)err;
    return ST_OK;
}

static void test_hooks_hear_of_the_events_that_were_committed(void **state)
{
    struct writer *w = writer_of(0, 0);
    struct heard h = {0};
    struct err err = ERR_INIT;
    int64_t users[SEAT_COUNT], game;
    struct writer_command good = {"move", move_run, count_done, &game};
    struct writer_command bad = {"spoilt", spoilt_move_run, count_done, &game};

    (void)state;
    for (int i = 0; i < SEAT_COUNT; i++) {
        char handle[16];

        (void)snprintf(handle, sizeof handle, "h%d", i);
        users[i] = rig_user(&rig, handle);
    }
    game = rig_running(&rig, "aaaaaaaa", users);
    assert_ok(writer_hook(w, hook, &h, &err), err);
    dones = 0;
    assert_ok(writer_submit(w, &good, &err), err);
    assert_ok(writer_submit(w, &bad, &err), err);
    assert_ok(writer_submit(w, &good, &err), err);
    (void)writer_drain(w);
    assert_int_equal(h.calls, 1);
    assert_int_equal(h.told_before, 0);
    assert_int_equal(dones, 3);
    assert_int_equal(h.last.n, 2); /* the spoilt one's event is not among them */
    assert_int_equal(h.changes[0].game_id, game);
    assert_int_equal(h.changes[0].seq, 7);
    assert_int_equal(h.changes[1].seq, 8);
    assert_int_equal(h.last.last_event_id, h.changes[1].event_id);
    assert_false(h.last.overflow);
    assert_false(h.last.outbox_put);

    assert_false(h.last.users_changed);
    assert_false(h.last.credentials_changed);

    assert_ok(writer_submit(w, &(struct writer_command){"nothing", nothing_run, NULL, NULL}, &err),
              err); /* nothing that anyone waits for */
    (void)writer_drain(w);
    assert_int_equal(h.calls, 1);

    assert_ok(writer_submit(w, &good, &err), err);
    powercut_fail(POWERCUT_SYNC, 1, SQLITE_IOERR_FSYNC, true);
    (void)writer_drain(w);
    powercut_count_reset();
    assert_int_equal(h.calls, 1); /* what was lost is not told */
    writer_close(w);
}

/* What a command does to somebody's credentials. */
enum deed {
    MAKE_USER,
    NAME_USER,
    SHUT_USER,
    RAISE_USER,
    MAKE_SESSION,
    USE_SESSION,
    END_SESSION,
    END_SESSIONS,
    MAKE_TOKEN,
    USE_TOKEN,
    REVOKE_TOKEN,
    SPOILT, /* shuts the account, and fails */
};

struct people_job {
    enum deed deed;
    int n;
    int64_t user, session, token;
};

static enum status people_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct people_job *j = arg;
    unsigned char hash[STORE_HASH_SIZE];
    enum status st = ST_OK;

    rig_hash(j->n++, hash);
    switch (j->deed) {
    case MAKE_USER:
        return users_create(txn, &(struct user_row){.handle = "eve",
                                                    .handle_key = "eve",
                                                    .display_name = "Eve",
                                                    .zone = "UTC",
                                                    .language = "en",
                                                    .verified_at = UTC_NONE},
                            now, &j->user, err);
    case NAME_USER:
        return users_set_profile(txn, j->user, "Evelyn", NULL, NULL, now, err);
    case SHUT_USER:
        return users_set_disabled(txn, j->user, true, now, err);
    case RAISE_USER:
        return users_set_operator(txn, j->user, true, now, err);
    case MAKE_SESSION:
        return sessions_create(txn, j->user, LOGIN_BY_LINK, "", hash, now, now + MS_DAY,
                               &j->session, err);
    case USE_SESSION:
        return sessions_touch(txn, j->session, now, now + MS_DAY, err);
    case END_SESSION:
        return sessions_revoke(txn, j->session, j->user, now, err);
    case END_SESSIONS:
        return sessions_revoke_all(txn, j->user, 0, now, err);
    case MAKE_TOKEN:
        return api_tokens_create(txn, j->user, "bot", SCOPE_READ, hash, now, UTC_NONE, &j->token,
                                 err);
    case USE_TOKEN:
        return api_tokens_touch(txn, j->token, now, err);
    case REVOKE_TOKEN:
        return api_tokens_revoke(txn, j->token, j->user, now, err);
    case SPOILT:
        st = users_set_disabled(txn, j->user, true, now, err);
        return st == ST_OK ? err_set(err, ST_ILLEGAL, "on purpose") : st;
    }
    return st;
}

/* A2: whoever remembers who a token is must hear at once that it is no more. */
static void test_hooks_hear_that_credentials_are_not_what_they_were(void **state)
{
    static const struct {
        enum deed deed;
        bool users, credentials;
    } rows[] = {
        {MAKE_USER, true, true},       {NAME_USER, true, true},      {MAKE_SESSION, false, false},
        {MAKE_TOKEN, false, false},    {USE_SESSION, false, false},  {USE_TOKEN, false, false},
        {END_SESSION, false, true},    {REVOKE_TOKEN, false, true},  {SPOILT, false, false},
        {MAKE_SESSION, false, false},  {END_SESSIONS, false, true},  {RAISE_USER, true, true},
        {SHUT_USER, true, true},
    };
    struct writer *w = writer_of(0, 0);
    struct people_job job = {.deed = MAKE_USER};
    struct heard h = {0};
    struct err err = ERR_INIT;

    (void)state;
    assert_ok(writer_hook(w, hook, &h, &err), err);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int calls = h.calls;

        h.last = (struct writer_commit){.n = 0};
        job.deed = rows[i].deed;
        assert_ok(
            writer_submit(w, &(struct writer_command){"people", people_run, NULL, &job}, &err),
            err);
        (void)writer_drain(w);
        if (h.calls - calls != rows[i].credentials || h.last.users_changed != rows[i].users ||
            h.last.credentials_changed != rows[i].credentials)
            fail_msg("row %zu: told %d times, users %d, credentials %d", i, h.calls - calls,
                     h.last.users_changed, h.last.credentials_changed);
    }
    writer_close(w);
}

/* ---------------------------------------------------------------- threads */

enum { THREADS = 8, EACH = 40 };

struct crowd {
    struct writer *writer;
    int first;
    int ok;
};

static void *crowd_main(void *arg)
{
    struct crowd *crowd = arg;

    for (int i = 0; i < EACH; i++) {
        struct job job = {.run_st = i % 4 == 3 ? ST_ILLEGAL : ST_OK};
        struct writer_command command = {"job", job_run, NULL, &job};

        (void)snprintf(job.handle, sizeof job.handle, "c%d", crowd->first + i);
        if (writer_run(crowd->writer, &command, NULL) == ST_OK)
            crowd->ok++;
    }
    return NULL;
}

static void test_many_threads_at_once_are_all_answered(void **state)
{
    struct writer *w = writer_of(0, 0);
    struct crowd crowds[THREADS];
    pthread_t threads[THREADS];
    struct err err = ERR_INIT;
    int ok = 0;

    (void)state;
    assert_ok(writer_start(w, &err), err);
    for (int i = 0; i < THREADS; i++) {
        crowds[i] = (struct crowd){.writer = w, .first = i * EACH};
        assert_int_equal(pthread_create(&threads[i], NULL, crowd_main, &crowds[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        ok += crowds[i].ok;
    }
    assert_int_equal(ok, THREADS * EACH * 3 / 4);
    assert_int_equal(writer_stats(w).commands, THREADS * EACH);
    assert_false(writer_is_here(w));
    writer_close(w);
    assert_int_equal(rig_sql(&rig, "SELECT count(*) FROM users"), ok);
}

/* Readers go on while a commit stands in its sync. */
static void test_a_reader_never_waits_for_the_writer(void **state)
{
    struct writer *w = writer_of(0, 0);
    struct job before = {.handle = "before"}, during = {.handle = "during"};
    struct err err = ERR_INIT;
    struct writer_command command = command_of(&before);

    (void)state;
    assert_ok(writer_start(w, &err), err);
    assert_ok(writer_run(w, &command, &err), err);
    powercut_hold_syncs(true);
    command = (struct writer_command){"job", job_run, NULL, &during};
    assert_ok(writer_submit(w, &command, &err), err);
    powercut_wait_held();
    assert_true(is_there("before")); /* would hang here */
    assert_false(is_there("during"));
    powercut_hold_syncs(false);
    writer_stop(w);
    assert_true(is_there("during"));
    writer_close(w);
}

/* Shutting down does what waits. */
static void test_stopping_does_what_waits_first(void **state)
{
    struct writer *w = writer_of(0, 0);
    struct job jobs[20];
    struct err err = ERR_INIT;

    (void)state;
    memset(jobs, 0, sizeof jobs);
    for (int i = 0; i < 20; i++) {
        (void)snprintf(jobs[i].handle, sizeof jobs[i].handle, "w%d", i);
        submit(w, &jobs[i]);
    }
    assert_ok(writer_start(w, &err), err);
    writer_stop(w);
    writer_stop(w); /* twice does no harm */
    for (int i = 0; i < 20; i++)
        assert_int_equal(jobs[i].heard, ST_OK);
    writer_close(w);
    writer_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_commands_that_wait_share_one_sync, up, down),
        cmocka_unit_test_setup_teardown(test_a_lone_command_costs_one_sync, up, down),
        cmocka_unit_test_setup_teardown(test_a_command_that_fails_takes_only_its_own_away, up,
                                        down),
        cmocka_unit_test_setup_teardown(test_of_two_for_one_thing_the_first_wins, up, down),
        cmocka_unit_test_setup_teardown(test_batches_are_bounded, up, down),
        cmocka_unit_test_setup_teardown(test_a_full_queue_refuses_and_never_tells, up, down),
        cmocka_unit_test_setup_teardown(test_a_stopped_writer_refuses, up, down),
        cmocka_unit_test_setup_teardown(test_the_time_of_commands_never_goes_back, up, down),
        cmocka_unit_test_setup_teardown(
            test_a_command_that_the_database_refuses_counts_as_failing, up, down),
        cmocka_unit_test_setup_teardown(
            test_a_failed_sync_answers_all_with_an_error_and_leaves_nothing, up, down),
        cmocka_unit_test_setup_teardown(
            test_a_full_disk_answers_all_with_an_error_and_leaves_nothing, up, down),
        cmocka_unit_test_setup_teardown(
            test_a_write_error_answers_all_with_an_error_and_leaves_nothing, up, down),
        cmocka_unit_test_setup_teardown(test_hooks_hear_that_credentials_are_not_what_they_were,
                                        up, down),
        cmocka_unit_test_setup_teardown(test_hooks_hear_of_the_events_that_were_committed, up,
                                        down),
        cmocka_unit_test_setup_teardown(test_many_threads_at_once_are_all_answered, up, down),
        cmocka_unit_test_setup_teardown(test_a_reader_never_waits_for_the_writer, up, down),
        cmocka_unit_test_setup_teardown(test_stopping_does_what_waits_first, up, down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

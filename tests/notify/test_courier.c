#include "notify/club.h"

#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <jansson.h>
#include <sodium.h>
#include <sqlite3.h>

#include "base/str.h"
#include "mail/sink.h"
#include "notify/hold.h"
#include "notify/receiver.h"

static int set_up(void **state)
{
    *state = club_open();
    return 0;
}

static int tear_down(void **state)
{
    club_close(*state);
    return 0;
}

/* Only anna's turn letter: everybody else has switched everything off that comes at a start. */
static int64_t one_letter(struct club *c)
{
    for (int user = WEST; user <= EAST; user++)
        club_pref(c, user, NOTICE_START, CHANNEL_MAIL, PREF_OFF);
    return game_start(c->t, "verney");
}

static const char *header(const char *letter, const char *name, char *ret, size_t size)
{
    char what[100];
    const char *at;

    (void)snprintf(what, sizeof what, "\r\n%s: ", name);
    at = strstr(letter, what);
    assert_non_null(at);
    (void)snprintf(ret, size, "%.*s", (int)strcspn(at + strlen(what), "\r"), at + strlen(what));
    return ret;
}

/* ---------------------------------------------------------------- mail */

static void test_letters_are_sent_once_and_marked(void **state)
{
    struct club *c = *state;

    club_courier(c, 0, NULL);
    (void)game_start(c->t, "verney");
    assert_int_equal(club_send(c), 4);
    assert_int_equal(letters_count(c), 4);
    assert_int_equal(club_send(c), 0);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'sent' AND "
                                   "attempts = 1 AND NOT EXISTS (SELECT 1"
                                   " FROM outbox_bytes WHERE outbox_id = outbox.id)"),
                     4);
    assert_int_equal(courier_stats(c->courier).mail_sent, 4);
}

/* P36, N8, N10: whatever the server does short of a refusal, the same letter comes again. */
static void test_a_temporary_refusal_is_repeated_with_the_same_bytes(void **state)
{
    static const struct sink_script trouble[] = {
        {.greeting = "421 4.3.2 not now"}, {.mail = "452 4.3.1 full"}, {.rcpt = ""},
        {.message = ""}, {.message = "451 4.3.0 hm"}};
    struct club *c = *state;
    struct sink *sink = sink_start(&trouble[0]);
    char id[300];
    struct sink_script fine = {0};

    club_courier(c, sink_port(sink), NULL);
    (void)one_letter(c);
    for (size_t i = 0; i < COUNT_OF(trouble); i++) {
        sink_set(sink, &trouble[i]);
        assert_int_equal(club_send(c), 1);
        assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'queued' AND "
                                       "settled_at IS NULL"),
                         1);
        assert_int_equal(club_send(c), 0); /* not before its time */
        pass(c->t, mail_retry_ms((int)i + 1, UINT32_MAX));
    }
    sink_set(sink, &fine);
    assert_int_equal(club_send(c), 1);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'sent'"), 1);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox_attempts"), 6);
    sink_stop(sink);
    assert_int_equal(sink_messages(sink), 1);
    (void)header(sink_message(sink), "Message-ID", id, sizeof id);
    assert_has(id, "@club.example>");
    assert_int_equal(courier_stats(c->courier).mail_retried, 5);
    sink_free(sink);
}

static void test_a_killed_courier_s_letter_goes_out_again_with_the_same_id(void **state)
{
    struct club *c = *state;
    struct sink_script dead = {.message = ""};
    struct sink *sink = sink_start(&dead);
    char id[2][300];

    club_courier(c, sink_port(sink), NULL);
    (void)one_letter(c);
    (void)club_send(c); /* the server took it, perhaps; we don't know */
    (void)header(sink_message(sink), "Message-ID", id[0], sizeof id[0]);
    pass(c->t, 2 * MS_MINUTE);
    sink_set(sink, &(struct sink_script){0});
    (void)club_send(c);
    sink_stop(sink);
    (void)header(sink_message(sink), "Message-ID", id[1], sizeof id[1]);
    assert_string_equal(id[0], id[1]);
    sink_free(sink);
}

/* A lease that nobody ended: at a new start its letter is due at once, already composed. */
static void test_a_new_courier_takes_over_what_an_old_one_had_leased(void **state)
{
    struct club *c = *state;
    struct sink_script dead = {.message = ""};
    struct sink *sink = sink_start(&dead);
    char id[2][300];
    int64_t leased;

    club_courier(c, sink_port(sink), NULL);
    (void)one_letter(c);
    (void)club_send(c);
    (void)header(sink_message(sink), "Message-ID", id[0], sizeof id[0]);
    pass(c->t, 2 * MS_MINUTE);
    {   /* the process is killed between leasing and marking */
        struct err err = ERR_INIT;
        int n = 0;

        assert_ok(courier_step(c->courier, false, &n, &err), err);
    }
    leased = club_count(c, "SELECT count(*) FROM outbox WHERE state = 'leased'");
    assert_int_equal(leased, 1);
    courier_stop(c->courier, 0);
    sink_set(sink, &(struct sink_script){0});
    club_courier(c, sink_port(sink), NULL);
    assert_int_equal(club_send(c), 1);
    sink_stop(sink);
    (void)header(sink_message(sink), "Message-ID", id[1], sizeof id[1]);
    assert_string_equal(id[0], id[1]);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'sent'"), 1);
    sink_free(sink);
}

static void test_a_hard_refusal_suspends_the_address_and_policy_does_not(void **state)
{
    struct club *c = *state;
    struct sink_script policy = {.rcpt = "550 5.7.1 we do not like you"},
                       nobody = {.rcpt = "550 5.1.1 no such user"};
    struct sink *sink = sink_start(&policy);
    int64_t game, since;

    club_courier(c, sink_port(sink), NULL);
    game = one_letter(c);
    (void)club_send(c);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'queued'"), 1);
    assert_int_equal(club_count(c, "SELECT count(*) FROM users WHERE address_state <> 'ok'"), 0);
    assert_int_equal(courier_stats(c->courier).mail_policy, 1);
    assert_int_equal(courier_stats(c->courier).holds, 1);
    sink_set(sink, &nobody);
    pass(c->t, HOLD_FIRST_MS);
    move_ok(c->t, game, "e2e3");
    (void)club_send(c);
    assert_int_equal(club_count(c, "SELECT count(*) FROM users WHERE address_state = 'suspended' "
                                   "AND handle = 'boris'"),
                     1);
    /* no further letters pile up for him */
    move_ok(c->t, game, "b5c5");
    move_ok(c->t, game, "e13e12");
    move_ok(c->t, game, "m5l5");
    since = newest_intent(c);
    move_ok(c->t, game, "e1f3");
    assert_int_equal(newest_intent(c), since);
    sink_stop(sink);
    sink_free(sink);
}

/* What follows 5.7.x: the class waits, and is tried by one letter after an hour, two hours … */
static void test_a_class_that_policy_refuses_waits_and_is_probed_by_one_letter(void **state)
{
    struct club *c = *state;
    struct sink_script policy = {.rcpt = "550 5.7.1 we do not like you"};
    struct sink *sink = sink_start(&policy);

    club_courier(c, sink_port(sink), NULL);
    for (int user = SOUTH; user <= EAST; user++)
        club_pref(c, user, NOTICE_START, CHANNEL_MAIL, PREF_OFF);
    (void)game_start(c->t, "verney"); /* anna's turn letter */
    (void)club_send(c);
    assert_int_equal(courier_stats(c->courier).mail_policy, 1);
    for (int i = 0; i < 5; i++)
        (void)game_start(c->t, "verney");
    (void)club_send(c); /* five more of them are not even tried */
    assert_int_equal(courier_stats(c->courier).mail_policy, 1);
    assert_int_equal(courier_stats(c->courier).mail_held, 5);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'queued' AND "
                                   "class = 'turn'"),
                     6);
    assert_int_equal(club_count(c, "SELECT max(attempts) FROM outbox"), 1);

    pass(c->t, HOLD_FIRST_MS - 1);
    (void)club_send(c);
    assert_int_equal(courier_stats(c->courier).mail_policy, 1);
    pass(c->t, 1);
    (void)club_send(c);
    assert_int_equal(courier_stats(c->courier).mail_policy, 2); /* one tried */
    pass(c->t, 2 * HOLD_FIRST_MS - 1);
    (void)club_send(c);
    assert_int_equal(courier_stats(c->courier).mail_policy, 2); /* for twice as long now */
    sink_set(sink, &(struct sink_script){0});
    pass(c->t, MS_MINUTE + 1);
    (void)club_send(c);
    pass(c->t, MS_MINUTE); /* the others had waited for the one that tried */
    (void)club_send(c);
    sink_stop(sink);
    assert_int_equal(sink_messages(sink), 6); /* none is lost */
    assert_int_equal(courier_stats(c->courier).holds, 0);
    sink_free(sink);
}

static void test_what_policy_refused_waits_over_a_restart_too(void **state)
{
    struct club *c = *state;
    struct sink_script policy = {.rcpt = "550 5.7.1 we do not like you"};
    struct sink *sink = sink_start(&policy);

    club_courier(c, sink_port(sink), NULL);
    for (int user = SOUTH; user <= EAST; user++)
        club_pref(c, user, NOTICE_START, CHANNEL_MAIL, PREF_OFF);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    assert_int_equal(club_count(c, "SELECT count(*) FROM policy_holds WHERE class = 'turn' AND "
                                   "domain = 'example.org'"),
                     1);
    club_courier(c, sink_port(sink), NULL); /* another process */
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    assert_int_equal(courier_stats(c->courier).holds, 1);
    assert_int_equal(courier_stats(c->courier).mail_policy, 0); /* it was not tried */
    assert_int_equal(courier_stats(c->courier).mail_held, 1);
    pass(c->t, HOLD_FIRST_MS);
    (void)club_send(c);
    assert_int_equal(courier_stats(c->courier).mail_policy, 1);
    club_courier(c, sink_port(sink), NULL);
    sink_set(sink, &(struct sink_script){0});
    pass(c->t, 2 * HOLD_FIRST_MS - 1); /* twice as long, although it is a third one */
    (void)club_send(c);
    assert_int_equal(sink_messages(sink), 0);
    pass(c->t, 1);
    (void)club_send(c);
    pass(c->t, 2 * MS_MINUTE);
    (void)club_send(c);
    sink_stop(sink);
    assert_int_equal(sink_messages(sink), 2);
    assert_int_equal(club_count(c, "SELECT count(*) FROM policy_holds"), 0); /* free again */
    sink_free(sink);
}

/* The class of another domain goes on; once two refuse it, it waits as a whole. */
static void test_holds_are_by_class_and_domain_and_at_last_by_class(void **state)
{
    struct holds h = {.count = 0};
    struct hold hold;
    utc_ms now = T0;

    (void)state;
    assert_int_equal(holds_until(&h, NOTICE_TURN, "a@x.example", now), UTC_NONE);
    assert_true(holds_refused(&h, NOTICE_TURN, "a@x.example", now, &hold));
    assert_string_equal(hold.domain, "x.example");
    assert_int_equal(holds_until(&h, NOTICE_TURN, "b@X.example", now), now + HOLD_FIRST_MS);
    assert_int_equal(holds_until(&h, NOTICE_TURN, "b@y.example", now), UTC_NONE);
    assert_int_equal(holds_until(&h, NOTICE_LOGIN, "b@x.example", now), UTC_NONE);
    /* another that was under way is refused too: no longer wait for that */
    assert_false(holds_refused(&h, NOTICE_TURN, "c@x.example", now + 1, &hold));
    assert_int_equal(hold.until, now + HOLD_FIRST_MS);

    assert_true(holds_refused(&h, NOTICE_TURN, "b@y.example", now + 2, &hold));
    assert_string_equal(hold.domain, ""); /* now as a whole */
    assert_int_equal(holds_until(&h, NOTICE_TURN, "b@z.example", now + 2),
                     now + 2 + HOLD_FIRST_MS);
    assert_int_equal(holds_until(&h, NOTICE_LOGIN, "b@z.example", now + 2), UTC_NONE);

    now += 2 + HOLD_FIRST_MS;
    assert_int_equal(holds_until(&h, NOTICE_TURN, "b@z.example", now), UTC_NONE); /* it probes */
    assert_int_not_equal(holds_until(&h, NOTICE_TURN, "c@z.example", now), UTC_NONE);
    holds_left(&h, NOTICE_TURN, "b@z.example"); /* a 4yz says nothing */
    assert_int_equal(holds_until(&h, NOTICE_TURN, "c@z.example", now), UTC_NONE);
    holds_passed(&h, NOTICE_TURN, "c@z.example");
    assert_int_equal(holds_until(&h, NOTICE_TURN, "d@z.example", now), UTC_NONE);
    assert_int_equal(holds_until(&h, NOTICE_TURN, "e@z.example", now), UTC_NONE);

    h = (struct holds){.count = 0}; /* doubled, up to a day */
    for (int i = 0; i < 10; i++) {
        assert_true(holds_refused(&h, NOTICE_TURN, "a@x.example", now, &hold));
        now = hold.until;
    }
    assert_int_equal(hold.ms, HOLD_LONGEST_MS);
    for (int i = 0; i < 2 * HOLDS_MAX; i++) { /* and never more than there is room for */
        char address[40];

        (void)snprintf(address, sizeof address, "a@%d.example", i);
        (void)holds_refused(&h, NOTICE_MATE, address, now, &hold);
        assert_true(h.count <= HOLDS_MAX);
    }
}

/* Each id of the letters taken was handed over once. */
static void assert_ids_differ(const struct sink *sink, int letters)
{
    int n = 0;

    for (const char *p = sink_heads(sink); (p = strstr(p, "\r\nMessage-ID: ")) != NULL; p++) {
        char id[200];

        (void)snprintf(id, sizeof id, "%.*s", (int)strcspn(p + 2, "\r"), p + 2);
        assert_null(strstr(p + 2 + strlen(id), id));
        n++;
    }
    assert_int_equal(n, letters);
}

enum { MANY_GAMES = 30 };

/* A courier, and four letters of each game for it. */
static void many_games(struct club *c, int port)
{
    club_courier(c, port, NULL);
    for (int i = 0; i < MANY_GAMES; i++)
        (void)game_start(c->t, "verney");
}

/* Many letters: each once, by a few connections and a few commits. */
static void assert_many_are_sent(struct club *c, struct sink *sink, uint64_t commits_before)
{
    uint64_t commits = writer_stats(c->t->writer).commits - commits_before;

    sink_stop(sink);
    assert_int_equal(sink_messages(sink), 4 * MANY_GAMES);
    assert_true(sink_at_once(sink) <= COURIER_MAIL);
    assert_true(sink_sessions(sink) <= 2 * COURIER_MAIL);
    assert_true(commits < 4 * MANY_GAMES);
    assert_int_equal(club_count(c, "SELECT count(DISTINCT message_id) FROM outbox WHERE state = "
                                   "'sent' AND attempts = 1"),
                     4 * MANY_GAMES);
    assert_ids_differ(sink, 4 * MANY_GAMES);
    sink_free(sink);
}

static void test_many_letters_share_connections_and_commits(void **state)
{
    struct club *c = *state;
    struct sink *sink = sink_start(NULL);
    uint64_t commits;

    many_games(c, sink_port(sink));
    commits = writer_stats(c->t->writer).commits;
    assert_int_equal(club_send(c), 4 * MANY_GAMES);
    assert_many_are_sent(c, sink, commits);
}

/* The same while the writer's thread keeps what has been sent and leases what comes next. */
static void test_the_thread_sends_many_while_others_are_kept(void **state)
{
    struct club *c = *state;
    struct err err = ERR_INIT;
    struct sink *sink = sink_start(NULL);
    uint64_t commits;

    many_games(c, sink_port(sink));
    table_start_thread(c->t);
    commits = writer_stats(c->t->writer).commits;
    assert_ok(courier_start(c->courier, &err), err);
    courier_settle(c->courier);
    assert_int_equal(courier_stats(c->courier).mail_sent, 4 * MANY_GAMES);
    assert_int_equal(courier_stats(c->courier).under_way, 0);
    courier_stop(c->courier, 0);
    assert_many_are_sent(c, sink, commits);
}

/* Stopped in the midst of it: what was taken is marked, what was leased is given back. */
static void test_a_thread_that_is_stopped_keeps_what_it_has_sent(void **state)
{
    struct club *c = *state;
    struct err err = ERR_INIT;
    struct sink *sink = sink_start(NULL);
    int sent;

    many_games(c, sink_port(sink));
    table_start_thread(c->t);
    assert_ok(courier_start(c->courier, &err), err);
    courier_stop(c->courier, MS_MINUTE); /* what it has begun it ends */
    courier_free(c->courier);
    c->courier = NULL;
    sent = (int)club_count(c, "SELECT count(*) FROM outbox WHERE state = 'sent'");
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'queued'"),
                     4 * MANY_GAMES - sent);
    club_courier(c, sink_port(sink), NULL);
    assert_int_equal(club_send(c), 4 * MANY_GAMES - sent);
    sink_stop(sink);
    assert_int_equal(sink_messages(sink), 4 * MANY_GAMES);
    assert_ids_differ(sink, 4 * MANY_GAMES);
    sink_free(sink);
}

/* Killed in the middle of many: what was not marked goes again, with the same bytes. */
static void test_what_a_killed_courier_had_under_way_goes_again_unchanged(void **state)
{
    struct club *c = *state;
    struct sink *sink = sink_start(NULL);

    many_games(c, sink_port(sink));
    for (int i = 0; i < 3; i++) {
        struct err err = ERR_INIT;

        assert_ok(courier_step(c->courier, false, NULL, &err), err);
    }
    assert_true(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'leased'") > 0);
    club_courier(c, sink_port(sink), NULL);
    (void)club_send(c);
    sink_stop(sink);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'sent'"),
                     4 * MANY_GAMES);
    {   /* each at least once; twice the same boundary, which goes by the id, and the same token */
        int n = 0, again = 0;

        for (const char *p = sink_heads(sink); (p = strstr(p, "\r\nMessage-ID: ")) != NULL; p++) {
            char id[200];

            (void)snprintf(id, sizeof id, "%.*s", (int)strcspn(p + 2, "\r"), p + 2);
            again += strstr(p + 2 + strlen(id), id) != NULL;
            n++;
        }
        assert_int_equal(n - again, 4 * MANY_GAMES);
    }
    sink_free(sink);
}

/* ---------------------------------------------------------------- who else is told */

struct told {
    int n, fails;   /* how many calls are to fail, */
    enum status st; /* and how */
    int64_t game_id, user_id, state_no;
};

static enum status told_run(struct store_txn *txn, const struct intent_row *intent, utc_ms now,
                            void *arg, struct err *err)
{
    struct told *t = arg;

    (void)txn;
    (void)now;
    t->n++;
    t->game_id = intent->game_id;
    t->user_id = intent->user_id;
    t->state_no = intent->state_no;
    return t->fails-- > 0 ? err_set(err, t->st, "a hook that fails") : ST_OK;
}

/* T17: each turn or start notice that got through is told of, in the command that marks it. */
static void test_a_handed_over_turn_is_told_of(void **state)
{
    struct club *c = *state;
    struct told told = {0};
    int64_t game;

    club_hook(c, told_run, &told);
    club_courier(c, 0, NULL);
    game = one_letter(c);
    (void)club_send(c);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.game_id, game);
    assert_int_equal(told.user_id, c->t->user[SOUTH]);
    assert_int_equal(told.state_no, game_get(c->t, game).state_no);
    {
        struct call call = acts(c->t, OP_PAUSE, game, ORGANISER);

        call_ok(&call);
    }
    (void)club_send(c);
    assert_int_equal(told.n, 1); /* other classes are not */
}

/* Whatever the hook makes of it: what was sent is marked, and not sent again. */
static void test_a_hook_that_fails_sends_no_letter_twice(void **state)
{
    struct club *c = *state;
    struct told told = {.fails = 1000, .st = ST_CORRUPT};
    struct sink *sink = sink_start(NULL);

    club_hook(c, told_run, &told);
    club_courier(c, sink_port(sink), NULL);
    (void)game_start(c->t, "verney");
    assert_int_equal(club_send(c), 4);
    assert_true(told.n > 0);
    pass(c->t, MS_DAY);
    (void)club_send(c);
    sink_stop(sink);
    assert_int_equal(sink_messages(sink), 4);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'sent'"), 4);
    sink_free(sink);
}

/* A full disk: what was sent stays noted, and is kept before anything else once there is room. */
static void test_what_the_store_cannot_take_is_kept_later(void **state)
{
    struct club *c = *state;
    struct told told = {.fails = 1000, .st = ST_IO};
    struct sink *sink = sink_start(NULL);

    club_hook(c, told_run, &told);
    club_courier(c, sink_port(sink), NULL);
    (void)game_start(c->t, "verney");
    for (int i = 0; i < 2; i++) {
        told.n = 0;
        (void)club_send(c);
        assert_true(told.n > 0 && told.n < 20); /* tried now and then, not in a circle */
        assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'leased'"), 4);
    }
    told.fails = 0;
    (void)club_send(c);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'sent'"), 4);
    assert_int_equal(courier_stats(c->courier).mail_sent, 4);
    sink_stop(sink);
    assert_int_equal(sink_messages(sink), 4);
    sink_free(sink);
}

/* The same by the thread. */
static void test_the_thread_keeps_later_what_the_store_cannot_take(void **state)
{
    struct club *c = *state;
    struct told told = {.fails = 2, .st = ST_IO};
    struct err err = ERR_INIT;
    struct sink *sink = sink_start(NULL);

    club_hook(c, told_run, &told);
    club_courier(c, sink_port(sink), NULL);
    (void)game_start(c->t, "verney");
    table_start_thread(c->t);
    assert_ok(courier_start(c->courier, &err), err);
    for (int i = 0; i < 10 && courier_stats(c->courier).mail_sent < 4; i++)
        courier_settle(c->courier);
    assert_int_equal(courier_stats(c->courier).mail_sent, 4);
    courier_stop(c->courier, 0);
    assert_int_equal(told.n, 2 + 4);
    sink_stop(sink);
    assert_int_equal(sink_messages(sink), 4);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'sent'"), 4);
    sink_free(sink);
}

/* A store that lets nothing be leased, for a reason that stays: now and then, not in a circle. */
static void test_the_thread_does_not_lease_in_a_circle(void **state)
{
    struct club *c = *state;
    struct err err = ERR_INIT;
    sqlite3 *db = NULL;

    club_courier(c, 0, NULL);
    (void)game_start(c->t, "verney");
    assert_int_equal(sqlite3_open(c->t->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TRIGGER spoilt BEFORE UPDATE ON outbox WHEN"
                                      " new.state = 'leased' BEGIN SELECT RAISE(ABORT, 'no'); END",
                                  NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    table_start_thread(c->t);
    assert_ok(courier_start(c->courier, &err), err);
    courier_settle(c->courier);
    for (int i = 0; i < 300; i++) /* it has its time meanwhile */
        assert_true(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'queued'") > 0);
    courier_stop(c->courier, 0);
    assert_in_range(writer_stats(c->t->writer).commands_failed, 1, 30);
}

static void test_a_bare_550_is_final_only_the_third_time(void **state)
{
    struct club *c = *state;
    struct sink_script bare = {.rcpt = "550 no"};
    struct sink *sink = sink_start(&bare);

    club_courier(c, sink_port(sink), NULL);
    (void)one_letter(c);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(club_send(c), 1);
        assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'failed'"),
                         i == 3);
        pass(c->t, mail_retry_ms(i, UINT32_MAX));
    }
    sink_stop(sink);
    sink_free(sink);
}

static void test_a_letter_whose_turn_has_passed_is_not_sent(void **state)
{
    struct club *c = *state;
    struct sink_script later = {.rcpt = "451 4.7.1 greylisted"};
    struct sink *sink = sink_start(&later);
    int64_t game;

    club_courier(c, sink_port(sink), NULL);
    game = one_letter(c);
    (void)club_send(c);
    move_ok(c->t, game, "e2e3"); /* he did not wait for the letter */
    club_pref(c, WEST, NOTICE_TURN, CHANNEL_MAIL, PREF_OFF); /* nor does the next one want it now */
    pass(c->t, MS_HOUR);
    sink_set(sink, &(struct sink_script){0});
    (void)club_send(c);
    sink_stop(sink);
    assert_int_equal(sink_messages(sink), 0);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'superseded'"), 2);
    sink_free(sink);
}

static void test_a_letter_expires_when_the_server_is_away_for_days(void **state)
{
    struct club *c = *state;
    struct sink_script later = {.greeting = "421 no"};
    struct sink *sink = sink_start(&later);
    int tries = 0;

    club_courier(c, sink_port(sink), NULL);
    (void)one_letter(c);
    for (int minute = 0; minute < 80 * 60; minute++) {
        tries += club_send(c);
        pass(c->t, MS_MINUTE);
    }
    assert_true(tries >= 10);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'expired'"), 1);
    /* N10: wherever the jitter puts the table's steps, the last try is in the last hour. */
    assert_true(club_count(c, "SELECT (max(at) - min(at)) / 3600000 FROM outbox_attempts") >= 71);
    sink_stop(sink);
    sink_free(sink);
}

/* The thread by itself, woken by the writer's commits. */
static void test_the_thread_sends_what_a_commit_puts(void **state)
{
    struct club *c = *state;
    struct err err = ERR_INIT;
    struct sink *sink = sink_start(NULL);

    club_courier(c, sink_port(sink), NULL);
    assert_ok(writer_hook(c->t->writer, courier_on_commit, c->courier, &err), err);
    table_start_thread(c->t);
    (void)one_letter(c);
    assert_ok(courier_start(c->courier, &err), err);
    courier_wake(c->courier);
    courier_stop(c->courier, MS_MINUTE); /* what it has begun it ends */
    if (courier_stats(c->courier).mail_sent == 0)
        (void)club_send(c); /* it was stopped before it had begun */
    sink_stop(sink);
    assert_int_equal(sink_messages(sink), 1);
    sink_free(sink);
}

/* ---------------------------------------------------------------- webhooks */

static struct receiver *receiver;
static char url[100];

static void receive(const char *answer)
{
    receiver = receiver_start(answer);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/hook/club", receiver_port(receiver));
}

static void assert_signed(const char *request, const unsigned char *key, size_t n,
                          const char *which)
{
    char id[100], seconds[40], signatures[300], want[WEBHOOK_SIGNATURE_SIZE];
    const char *body = strstr(request, "\r\n\r\n") + 4;

    (void)header(request, "webhook-id", id, sizeof id);
    (void)header(request, "webhook-timestamp", seconds, sizeof seconds);
    (void)header(request, "webhook-signature", signatures, sizeof signatures);
    webhook_sign((struct webhook_key){key, n}, (struct webhook_key){NULL, 0}, id, atoll(seconds),
                 body, strlen(body), want);
    if (strstr(signatures, want) == NULL)
        fail_msg("%s signature is not there", which);
}

static void test_a_webhook_is_signed_and_says_what_happened(void **state)
{
    struct club *c = *state;
    int64_t game;
    char *request;
    json_t *root, *body;
    unsigned char key[WEBHOOK_SECRET_BYTES];
    struct game_row row;

    receive("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n");
    (void)club_webhook(c, WEST, url, WEBHOOK_STANDARD, "turn");
    club_courier(c, 0, NULL);
    game = game_start(c->t, "verney");
    move_ok(c->t, game, "e2e3");
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 1);
    request = receiver_last(receiver);
    assert_has(request, "POST /hook/club HTTP/1.1\r\n");
    assert_has(request, "\r\nContent-Type: application/json\r\n");
    assert_has(request, "\r\nUser-Agent: Fourhanded/");
    memset(key, 7, sizeof key);
    assert_signed(request, key, sizeof key, "the");
    body = root = json_loads(strstr(request, "\r\n\r\n") + 4, 0, NULL);
    assert_non_null(root);
    row = game_get(c->t, game);
    assert_string_equal(json_string_value(json_object_get(body, "type")), "game.turn");
    body = json_object_get(body, "data");
    assert_string_equal(json_string_value(json_object_get(body, "user")), "boris");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(body, "game"), "ply")), 1);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(body, "game"), "state_number")),
        row.state_no);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(body, "game"), "position")),
        row.position);
    json_decref(root);
    free(request);
    receiver_stop(receiver);
}

static enum status rotate_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    unsigned char key[WEBHOOK_SECRET_BYTES];

    memset(key, 9, sizeof key);
    return webhooks_rotate(txn, *(int64_t *)arg, key, sizeof key, now + WEBHOOK_OVERLAP_MS, now,
                           err);
}

static void test_after_a_rotation_both_secrets_sign_for_a_day(void **state)
{
    struct club *c = *state;
    struct err err = ERR_INIT;
    unsigned char old[WEBHOOK_SECRET_BYTES], fresh[WEBHOOK_SECRET_BYTES];
    char *request, signatures[300];
    int64_t id, game;

    memset(old, 7, sizeof old);
    memset(fresh, 9, sizeof fresh);
    receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    id = club_webhook(c, SOUTH, url, WEBHOOK_STANDARD, "turn");
    assert_ok(writer_run(c->t->writer,
                         &(struct writer_command){.name = "rotate", .run = rotate_run, .arg = &id},
                         &err),
              err);
    club_courier(c, 0, NULL);
    game = game_start(c->t, "verney");
    pass(c->t, WEBHOOK_OVERLAP_MS - 1);
    (void)club_send(c);
    request = receiver_last(receiver);
    assert_signed(request, fresh, sizeof fresh, "the new");
    assert_signed(request, old, sizeof old, "the old");
    free(request);
    for (size_t i = 0; i < 4; i++)
        move_ok(c->t, game, ((const char *[]){"e2e3", "b5c5", "e13e12", "m5l5"})[i]);
    pass(c->t, 1);
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 2);
    request = receiver_last(receiver);
    assert_signed(request, fresh, sizeof fresh, "the new");
    assert_null(strchr(header(request, "webhook-signature", signatures, sizeof signatures), ' '));
    free(request);
    receiver_stop(receiver);
}

static void test_a_failed_delivery_is_repeated_with_the_same_id_and_a_new_time(void **state)
{
    struct club *c = *state;
    char *request, id[2][100], seconds[2][40];

    receive("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n");
    (void)club_webhook(c, SOUTH, url, WEBHOOK_STANDARD, "turn");
    club_courier(c, 0, NULL);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    request = receiver_last(receiver);
    (void)header(request, "webhook-id", id[0], sizeof id[0]);
    (void)header(request, "webhook-timestamp", seconds[0], sizeof seconds[0]);
    free(request);
    pass(c->t, 6 * MS_SECOND);
    receiver_set(receiver, "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n"
                           "Content-Length: 0\r\n\r\n"); /* never followed, and no success */
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 2);
    pass(c->t, 6 * MS_MINUTE);
    receiver_set(receiver, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 3);
    request = receiver_last(receiver);
    (void)header(request, "webhook-id", id[1], sizeof id[1]);
    (void)header(request, "webhook-timestamp", seconds[1], sizeof seconds[1]);
    free(request);
    assert_string_equal(id[0], id[1]);
    assert_string_not_equal(seconds[0], seconds[1]);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox_attempts a JOIN outbox o ON "
                                   "o.id = a.outbox_id WHERE channel = 'webhook'"),
                     3);
    receiver_stop(receiver);
}

static void test_retry_after_is_honoured(void **state)
{
    struct club *c = *state;

    receive("HTTP/1.1 429 Slow\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n");
    (void)club_webhook(c, SOUTH, url, WEBHOOK_STANDARD, "turn");
    club_courier(c, 0, NULL);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    pass(c->t, MS_HOUR - 1);
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 1);
    pass(c->t, 1);
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 2);
    receiver_stop(receiver);
}

static void test_410_switches_the_endpoint_off_and_tells_its_owner(void **state)
{
    struct club *c = *state;
    int64_t id;
    char *letter, *text;
    size_t n = 0;

    receive("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n");
    id = club_webhook(c, WEST, url, WEBHOOK_STANDARD, "start");
    club_courier(c, 0, NULL);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    assert_int_equal(webhook_now(c, id).state, WEBHOOK_DISABLED);
    assert_string_equal(webhook_now(c, id).disabled_cause, "gone");
    letter = letter_file(c, "notice.", &n);
    assert_has(letter, "<boris@example.org>");
    text = letter_part(letter, n, "plain");
    assert_has(text, "127.0.0.1");
    assert_has(text, "410 Gone");
    assert_null(strstr(text, "/hook/club")); /* the path may be a secret */
    {   /* N13: the link of the header stands in the text too */
        char list[300];

        (void)header(letter, "List-Unsubscribe", list, sizeof list);
        list[strcspn(list, ">")] = '\0';
        assert_has(text, list + 1);
    }
    free(text);
    free(letter);
    receiver_stop(receiver);
}

static void test_five_days_of_failures_switch_the_endpoint_off(void **state)
{
    struct club *c = *state;
    int64_t id, game;
    static const char *const moves[] = {"e2e3", "b5c5", "e13e12", "m5l5"};

    receive("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n");
    id = club_webhook(c, SOUTH, url, WEBHOOK_STANDARD, "turn");
    club_courier(c, 0, NULL);
    game = game_start(c->t, "verney");
    for (int hour = 0; hour < 5 * 24 - 1; hour++) {
        (void)club_send(c);
        pass(c->t, MS_HOUR);
    }
    assert_int_equal(webhook_now(c, id).state, WEBHOOK_ON);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = "
                                   "'webhook_failing'"),
                     1); /* told once, when the table was used up */
    assert_int_equal(club_count(c, "SELECT attempts FROM outbox WHERE channel = 'webhook'"), 10);
    pass(c->t, MS_HOUR);
    for (size_t i = 0; i < COUNT_OF(moves); i++)
        move_ok(c->t, game, moves[i]);
    (void)club_send(c);
    assert_int_equal(webhook_now(c, id).state, WEBHOOK_DISABLED);
    assert_string_equal(webhook_now(c, id).disabled_cause, "failing");
    receiver_stop(receiver);
}

/* A5: a name that leads to a private address is caught at the socket. */
static void test_a_name_that_leads_inside_is_refused_and_switched_off(void **state)
{
    struct club *c = *state;
    char resolve[100];
    int64_t id;

    receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    (void)snprintf(resolve, sizeof resolve, "rebind.example:%d:127.0.0.2", receiver_port(receiver));
    (void)snprintf(url, sizeof url, "https://rebind.example:%d/", receiver_port(receiver));
    id = club_webhook(c, SOUTH, url, WEBHOOK_STANDARD, "turn");
    club_courier(c, 0, resolve);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 0);
    assert_int_equal(webhook_now(c, id).state, WEBHOOK_DISABLED);
    assert_string_equal(webhook_now(c, id).disabled_cause, "blocked");
    assert_int_equal(
        club_count(c, "SELECT count(*) FROM outbox_attempts WHERE text = 'refused'"), 1);
    receiver_stop(receiver);
}

/* ---------------------------------------------------------------- names that nobody answers for */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_over, has_begun, has_ended;
} lookup = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* The resolver, as libcurl calls it in a thread of its own: a name server that does not answer.  No
 * other name is looked up here: addresses are numbers, or given by CURLOPT_RESOLVE. */
int getaddrinfo(const char *restrict name, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict ret)
{
    (void)service;
    (void)hints;
    *ret = NULL;
    if (name == NULL || strcmp(name, "slow.example") != 0)
        return EAI_NONAME;
    pthread_mutex_lock(&lookup.lock);
    lookup.has_begun = true;
    while (!lookup.is_over)
        pthread_cond_wait(&lookup.wake, &lookup.lock);
    lookup.has_ended = true;
    pthread_cond_signal(&lookup.wake);
    pthread_mutex_unlock(&lookup.lock);
    return EAI_AGAIN;
}

/* A5: its look-up is given up, and nobody waits until it ends.  (If somebody did, this test would
 * never end.) */
static void test_a_name_that_nobody_answers_for_is_given_up(void **state)
{
    struct club *c = *state;

    assert_int_equal(WEBHOOK_RESOLVE_MS, 3000);
    receive("HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n");
    (void)club_webhook(c, SOUTH, "https://slow.example/x", WEBHOOK_STANDARD, "turn");
    (void)club_webhook(c, SOUTH, url, WEBHOOK_STANDARD, "turn");
    c->hooks.webhook_resolve_ms = 20;
    club_courier(c, 0, NULL);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    pthread_mutex_lock(&lookup.lock);
    assert_true(lookup.has_begun);
    assert_false(lookup.has_ended);
    pthread_mutex_unlock(&lookup.lock);
    assert_int_equal(receiver_count(receiver), 1); /* the other one */
    assert_int_equal(
        club_count(c, "SELECT count(*) FROM outbox_attempts WHERE text = 'time-out'"), 1);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE channel = 'webhook' AND "
                                   "state = 'queued'"),
                     1); /* to be tried again */
    pthread_mutex_lock(&lookup.lock);
    lookup.is_over = true;
    pthread_cond_broadcast(&lookup.wake);
    while (!lookup.has_ended)
        pthread_cond_wait(&lookup.wake, &lookup.lock);
    pthread_mutex_unlock(&lookup.lock);
    receiver_stop(receiver);
}

static void test_a_huge_answer_is_cut_off(void **state)
{
    static char answer[400 * 1024];
    struct club *c = *state;
    size_t n = (size_t)snprintf(answer, sizeof answer,
                                "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");

    memset(answer + n, 'x', sizeof answer - n - 1);
    receive(answer);
    (void)club_webhook(c, SOUTH, url, WEBHOOK_STANDARD, "turn");
    club_courier(c, 0, NULL);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    assert_int_equal(courier_stats(c->courier).webhook_sent, 1);
    receiver_stop(receiver);
}

static void test_an_answer_that_does_not_end_is_told_so(void **state)
{
    struct club *c = *state;

    receive("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nso far");
    (void)club_webhook(c, SOUTH, url, WEBHOOK_STANDARD, "turn");
    club_courier(c, 0, NULL);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    assert_int_equal(courier_stats(c->courier).webhook_retried, 1);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox_attempts WHERE code = 200 AND text"
                                   " = 'status 200, but the answer did not end'"),
                     1);
    receiver_stop(receiver);
}

/* One at a time for an endpoint, and another one's goes out meanwhile. */
static void test_each_endpoint_has_one_delivery_at_a_time(void **state)
{
    struct club *c = *state;

    receive("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n");
    (void)club_webhook(c, SOUTH, url, WEBHOOK_STANDARD, "turn");
    club_courier(c, 0, NULL);
    for (int i = 0; i < 5; i++)
        (void)game_start(c->t, "verney");
    {
        struct err err = ERR_INIT;

        assert_ok(courier_step(c->courier, false, NULL, &err), err);
    }
    assert_true(club_count(c, "SELECT count(*) FROM outbox WHERE channel = 'webhook' AND "
                              "state = 'leased'") <= 1);
    (void)club_send(c);
    receiver_stop(receiver);
}

/* A mail server that says nothing keeps no endpoint from its next delivery. */
static void test_webhooks_do_not_wait_for_a_silent_mail_server(void **state)
{
    struct club *c = *state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    struct err err = ERR_INIT;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 2 * COURIER_MAIL), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    receive("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n");
    (void)club_webhook(c, SOUTH, url, WEBHOOK_STANDARD, "turn");
    many_games(c, ntohs(at.sin_port));
    for (int i = 0; i < 5000 && receiver_count(receiver) < 3; i++)
        assert_ok(courier_step(c->courier, false, NULL, &err), err);
    assert_int_equal(courier_stats(c->courier).mail_sent, 0);
    assert_in_range(receiver_count(receiver), 3, MANY_GAMES);
    receiver_stop(receiver);
    (void)close(fd);
}

/* The same by the thread, which must not think that all is done while the next may go. */
static void test_the_thread_sends_all_that_waits_for_an_endpoint(void **state)
{
    struct club *c = *state;
    struct err err = ERR_INIT;

    receive("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n");
    (void)club_webhook(c, SOUTH, url, WEBHOOK_STANDARD, "turn");
    club_courier(c, 0, NULL);
    for (int i = 0; i < MANY_GAMES; i++)
        (void)game_start(c->t, "verney");
    table_start_thread(c->t);
    assert_ok(courier_start(c->courier, &err), err);
    courier_settle(c->courier);
    assert_int_equal(courier_stats(c->courier).webhook_sent, MANY_GAMES);
    courier_stop(c->courier, 0);
    assert_int_equal(receiver_count(receiver), MANY_GAMES);
    receiver_stop(receiver);
}

static char *chat(struct club *c, enum webhook_kind kind)
{
    char *request;

    receive("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n");
    (void)club_webhook(c, SOUTH, url, kind, "turn");
    club_courier(c, 0, NULL);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 1);
    request = receiver_last(receiver);
    receiver_stop(receiver);
    return request;
}

static json_t *body_of(const char *request)
{
    json_t *body = json_loads(strstr(request, "\r\n\r\n") + 4, 0, NULL);

    assert_non_null(body);
    return body;
}

static void test_slack_body(void **state)
{
    char *request = chat(*state, WEBHOOK_SLACK);
    json_t *body = body_of(request);
    const char *text = json_string_value(json_object_get(body, "text"));

    assert_has(text, "It is your move as White");
    assert_has(text, "\nDeadline: Mon 14 December 2026, 00:00 GMT (Europe/London),\n"
                     "that is Mon 14 December 2026, 00:00 UTC, in 14 d.\n"
                     "<https://club.example/games/");
    assert_int_equal(json_array_size(json_object_get(body, "blocks")), 1);
    assert_null(strstr(request, "webhook-signature"));
    json_decref(body);
    free(request);
}

static void test_discord_body(void **state)
{
    char *request = chat(*state, WEBHOOK_DISCORD);
    json_t *body = body_of(request);
    json_t *parse = json_object_get(json_object_get(body, "allowed_mentions"), "parse");

    assert_has(json_string_value(json_object_get(body, "content")), "It is your move as White");
    assert_true(json_is_array(parse) && json_array_size(parse) == 0);
    assert_has(json_string_value(json_object_get(json_array_get(json_object_get(body, "embeds"), 0),
                                                 "url")),
               "https://club.example/games/");
    json_decref(body);
    free(request);
}

static void test_ntfy_body(void **state)
{
    char *request = chat(*state, WEBHOOK_NTFY);
    json_t *body = body_of(request);

    assert_has(request, "POST /hook/ HTTP/1.1\r\n");
    assert_string_equal(json_string_value(json_object_get(body, "topic")), "club");
    assert_has(json_string_value(json_object_get(body, "message")), "It is your move as White");
    assert_has(json_string_value(json_object_get(body, "click")), "https://club.example/games/");
    json_decref(body);
    free(request);
}

static void test_matrix_body(void **state)
{
    char *request = chat(*state, WEBHOOK_MATRIX);
    json_t *body = body_of(request);

    assert_has(json_string_value(json_object_get(body, "text")), "It is your move as White");
    assert_has(json_string_value(json_object_get(body, "html")), "<a href=\"https://club.example/");
    assert_string_equal(json_string_value(json_object_get(body, "username")), "Chess Club");
    json_decref(body);
    free(request);
}

/* The organiser's words go wherever the news goes, and are nobody's markup. */
static void test_chats_are_told_the_organiser_s_words(void **state)
{
    struct club *c = *state;
    int64_t game;
    struct call call;
    char *request;
    json_t *body;
    const char *text;

    receive("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n");
    (void)club_webhook(c, SOUTH, url, WEBHOOK_MATRIX, "organiser");
    club_courier(c, 0, NULL);
    game = game_start(c->t, "verney");
    call = acts(c->t, OP_PAUSE, game, ORGANISER);
    call.text = "<b>Holidays</b> & more";
    call.until = UTC_NONE;
    call_ok(&call);
    (void)club_send(c);
    request = receiver_last(receiver);
    body = body_of(request);
    text = json_string_value(json_object_get(body, "text"));
    assert_has(text, "\nNote: <b>Holidays</b> & more\n"
                     "The clocks stand; there is no deadline now.\n");
    assert_has(json_string_value(json_object_get(body, "html")),
               "<br>Note: &lt;b&gt;Holidays&lt;/b&gt; &amp; more<br>The clocks stand");
    json_decref(body);
    free(request);
    receiver_stop(receiver);
}

struct ping {
    int64_t user_id, webhook_id;
};

static enum status ping_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct ping *p = arg;
    struct intent_row intent = INTENT_ROW_INIT;

    (void)str_copy(intent.dedupe_key, sizeof intent.dedupe_key, "ping:1");
    intent.cls = NOTICE_TEST;
    intent.channel = CHANNEL_WEBHOOK;
    (void)str_copy(intent.template_name, sizeof intent.template_name, "ping");
    intent.user_id = p->user_id;
    intent.webhook_id = p->webhook_id;
    intent.due_at = intent.created_at = now;
    intent.expires_at = now + MS_DAY;
    return outbox_put(txn, &intent, NULL, err);
}

static void test_a_ping_says_that_it_is_a_test(void **state)
{
    struct club *c = *state;
    struct ping ping;
    struct err err = ERR_INIT;
    char *request;
    json_t *body;

    receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    ping = (struct ping){c->t->user[WEST], club_webhook(c, WEST, url, WEBHOOK_STANDARD, "turn")};
    club_courier(c, 0, NULL);
    assert_ok(writer_run(c->t->writer,
                         &(struct writer_command){.name = "ping", .run = ping_run, .arg = &ping},
                         &err),
              err);
    (void)club_send(c);
    request = receiver_last(receiver);
    body = body_of(request);
    assert_string_equal(json_string_value(json_object_get(body, "type")), "webhook.test");
    json_decref(body);
    free(request);
    receiver_stop(receiver);
}

/* Retries, and what is put in meanwhile, wait a minute and not two days for a clock that has been
 * set back by two; the writer's goes on from where it was. */
static void test_letters_do_not_wait_for_a_clock_that_was_set_back(void **state)
{
    static const struct sink_script trouble = {.rcpt = "451 4.3.0 not now"};
    struct club *c = *state;
    struct sink *sink = sink_start(&trouble);

    club_courier(c, sink_port(sink), NULL);
    (void)one_letter(c);
    assert_int_equal(club_send(c), 1);
    assert_int_equal(courier_stats(c->courier).mail_retried, 1);
    assert_int_equal(club_send(c), 0);
    test_clock_set_wall(&c->t->clock, now_of(c->t) - 2 * MS_DAY);
    assert_int_equal(club_send(c), 1);
    assert_int_equal(courier_stats(c->courier).mail_retried, 2);
    sink_set(sink, &(struct sink_script){0});
    pass(c->t, MS_MINUTE - 1);
    assert_int_equal(club_send(c), 0);
    pass(c->t, 1);
    assert_int_equal(club_send(c), 1);
    assert_int_equal(courier_stats(c->courier).mail_sent, 1);
    (void)game_start(c->t, "verney"); /* again anna's letter alone */
    assert_int_equal(club_send(c), 0);
    pass(c->t, MS_MINUTE);
    assert_int_equal(club_send(c), 1);
    assert_int_equal(courier_stats(c->courier).mail_sent, 2);
    sink_stop(sink);
    sink_free(sink);
}

/* A slower or a finer clock is none that was set back: retries keep their time. */
static void test_a_small_correction_of_the_clock_hurries_nothing(void **state)
{
    static const struct sink_script trouble = {.rcpt = "451 4.3.0 not now"};
    struct club *c = *state;
    struct sink *sink = sink_start(&trouble);

    club_courier(c, sink_port(sink), NULL);
    (void)one_letter(c);
    assert_int_equal(club_send(c), 1);
    test_clock_set_wall(&c->t->clock, now_of(c->t) - MS_MINUTE + 1);
    assert_int_equal(club_send(c), 0);
    test_clock_set_wall(&c->t->clock, now_of(c->t) - 1);
    assert_int_equal(club_send(c), 1);
    sink_stop(sink);
    sink_free(sink);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_letters_are_sent_once_and_marked),
        TEST(test_a_temporary_refusal_is_repeated_with_the_same_bytes),
        TEST(test_a_killed_courier_s_letter_goes_out_again_with_the_same_id),
        TEST(test_a_new_courier_takes_over_what_an_old_one_had_leased),
        TEST(test_a_hard_refusal_suspends_the_address_and_policy_does_not),
        TEST(test_letters_do_not_wait_for_a_clock_that_was_set_back),
        TEST(test_a_small_correction_of_the_clock_hurries_nothing),
        TEST(test_a_class_that_policy_refuses_waits_and_is_probed_by_one_letter),
        TEST(test_what_policy_refused_waits_over_a_restart_too),
        cmocka_unit_test(test_holds_are_by_class_and_domain_and_at_last_by_class),
        TEST(test_many_letters_share_connections_and_commits),
        TEST(test_the_thread_sends_many_while_others_are_kept),
        TEST(test_a_thread_that_is_stopped_keeps_what_it_has_sent),
        TEST(test_what_a_killed_courier_had_under_way_goes_again_unchanged),
        TEST(test_a_handed_over_turn_is_told_of),
        TEST(test_a_hook_that_fails_sends_no_letter_twice),
        TEST(test_what_the_store_cannot_take_is_kept_later),
        TEST(test_the_thread_keeps_later_what_the_store_cannot_take),
        TEST(test_the_thread_does_not_lease_in_a_circle),
        TEST(test_a_bare_550_is_final_only_the_third_time),
        TEST(test_a_letter_whose_turn_has_passed_is_not_sent),
        TEST(test_a_letter_expires_when_the_server_is_away_for_days),
        TEST(test_the_thread_sends_what_a_commit_puts),
        TEST(test_a_webhook_is_signed_and_says_what_happened),
        TEST(test_after_a_rotation_both_secrets_sign_for_a_day),
        TEST(test_a_failed_delivery_is_repeated_with_the_same_id_and_a_new_time),
        TEST(test_retry_after_is_honoured),
        TEST(test_410_switches_the_endpoint_off_and_tells_its_owner),
        TEST(test_five_days_of_failures_switch_the_endpoint_off),
        TEST(test_a_name_that_leads_inside_is_refused_and_switched_off),
        TEST(test_a_name_that_nobody_answers_for_is_given_up),
        TEST(test_a_huge_answer_is_cut_off),
        TEST(test_an_answer_that_does_not_end_is_told_so),
        TEST(test_each_endpoint_has_one_delivery_at_a_time),
        TEST(test_the_thread_sends_all_that_waits_for_an_endpoint),
        TEST(test_webhooks_do_not_wait_for_a_silent_mail_server),
        TEST(test_slack_body),
        TEST(test_discord_body),
        TEST(test_ntfy_body),
        TEST(test_matrix_body),
        TEST(test_chats_are_told_the_organiser_s_words),
        TEST(test_a_ping_says_that_it_is_a_test),
    };

    return cmocka_run_group_tests_name("notify/courier", tests, NULL, NULL);
}

/* store/test_outbox.c - intents, leases, webhooks, kept answers, the audit. */
#include "store/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "store/audit.h"
#include "store/idempotency.h"
#include "store/outbox.h"
#include "store/webhooks.h"

enum { LEASE = 600 };

static struct rig rig;
static struct err err;
static int64_t anna, hooks[2];

static struct store_conn *conn(void)
{
    return store_txn_conn(rig.txn);
}

static int up(void **state)
{
    (void)state;
    rig_open(&rig, NULL);
    rig_begin(&rig);
    anna = rig_user(&rig, "anna");
    for (int i = 0; i < 2; i++) {
        struct webhook_row hook = {.user_id = anna, .secret_len = 24, .created_at = T0};

        (void)snprintf(hook.url, sizeof hook.url, "https://example.org/%d", i);
        memset(hook.secret, i + 1, sizeof hook.secret);
        assert_ok(webhooks_create(rig.txn, &hook, &hooks[i], &err), err);
    }
    return 0;
}

static int down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* hook -1: mail */
static int64_t put(const char *key, int hook, utc_ms due_at)
{
    struct intent_row i = INTENT_ROW_INIT;
    int64_t id = -1;

    (void)str_copy(i.dedupe_key, sizeof i.dedupe_key, key);
    (void)str_copy(i.template_name, sizeof i.template_name, "turn");
    i.cls = NOTICE_TURN;
    i.channel = hook < 0 ? CHANNEL_MAIL : CHANNEL_WEBHOOK;
    i.user_id = anna;
    i.webhook_id = hook < 0 ? 0 : hooks[hook];
    i.params = (char[]){"{\"x\":1}"};
    i.due_at = due_at;
    i.created_at = T0;
    i.expires_at = T0 + MS_DAY;
    assert_ok(outbox_put(rig.txn, &i, &id, &err), err);
    return id;
}

static enum status claim(enum notice_channel channel, utc_ms now, struct intent_row *ret)
{
    return outbox_claim(rig.txn, channel, now, LEASE, ret, &err);
}

static void compose(const struct intent_row *i, bool has_token)
{
    struct outbox_letter letter = {.bytes = "the bytes",
                                   .len = 9,
                                   .content_type = "application/json",
                                   .envelope_from = "b@c.org",
                                   .envelope_to = "d@e.org",
                                   .message_id = "m1",
                                   .has_token = has_token};

    assert_ok(outbox_compose(rig.txn, i->id, i->attempts, &letter, &err), err);
}

/* ---------------------------------------------------------------- intents */

static void test_the_same_is_said_once(void **state)
{
    int64_t first = put("turn:1", -1, T0), second = put("turn:1", -1, T0);

    (void)state;
    assert_true(first > 0);
    assert_int_equal(second, 0);
    assert_true(put("turn:2", -1, T0) > 0);
}

static void test_an_intent_to_nobody_is_an_error(void **state)
{
    struct intent_row i = INTENT_ROW_INIT;
    int64_t id = -1;

    (void)state;
    (void)str_copy(i.dedupe_key, sizeof i.dedupe_key, "x");
    (void)str_copy(i.template_name, sizeof i.template_name, "x");
    i.user_id = 4711;
    assert_st(outbox_put(rig.txn, &i, &id, &err), ST_NOT_FOUND, err);
    assert_int_equal(id, -1);
}

static void test_an_intent_of_a_rolled_back_move_is_never_sent(void **state)
{
    struct intent_row i = INTENT_ROW_INIT;

    (void)state;
    assert_ok(store_part_begin(rig.txn, &err), err);
    (void)put("turn:1", -1, T0);
    assert_ok(store_part_undo(rig.txn, &err), err);
    assert_st(claim(CHANNEL_MAIL, T0, &i), ST_NOT_FOUND, err);
    assert_int_equal(i.id, 0); /* untouched on failure */
}

static void test_intents_are_claimed_when_due_earliest_first(void **state)
{
    struct intent_row i = INTENT_ROW_INIT;
    int64_t late = put("a", -1, T0 + 20), early = put("b", -1, T0 + 10);
    utc_ms next = 0;

    (void)state;
    assert_st(claim(CHANNEL_MAIL, T0 + 9, &i), ST_NOT_FOUND, err);
    assert_ok(outbox_next(conn(), CHANNEL_MAIL, &next, &err), err);
    assert_int_equal(next, T0 + 10);
    assert_ok(claim(CHANNEL_MAIL, T0 + 30, &i), err);
    assert_int_equal(i.id, early);
    assert_int_equal(i.attempts, 1);
    assert_int_equal(i.leased_until, T0 + 30 + LEASE);
    assert_string_equal(i.params, "{\"x\":1}");
    assert_null(i.bytes);
    intent_release(&i);
    assert_ok(claim(CHANNEL_MAIL, T0 + 30, &i), err);
    assert_int_equal(i.id, late);
    intent_release(&i);
    assert_st(claim(CHANNEL_MAIL, T0 + 30, &i), ST_NOT_FOUND, err);
    assert_ok(outbox_next(conn(), CHANNEL_MAIL, &next, &err), err);
    assert_int_equal(next, T0 + 30 + LEASE);
}

static void test_an_unsent_intent_comes_back_with_its_bytes_when_its_lease_ends(void **state)
{
    struct intent_row i = INTENT_ROW_INIT, again = INTENT_ROW_INIT;

    (void)state;
    (void)put("a", -1, T0);
    assert_ok(claim(CHANNEL_MAIL, T0, &i), err);
    compose(&i, true);
    assert_st(claim(CHANNEL_MAIL, T0 + LEASE - 1, &again), ST_NOT_FOUND, err);
    assert_ok(claim(CHANNEL_MAIL, T0 + LEASE, &again), err);
    assert_int_equal(again.id, i.id);
    assert_int_equal(again.attempts, 2);
    assert_int_equal(again.bytes_len, 9);
    assert_memory_equal(again.bytes, "the bytes", 9);
    assert_string_equal(again.message_id, "m1");
    assert_string_equal(again.envelope_to, "d@e.org");
    /* the first has lost it, whatever it says */
    assert_st(outbox_sent(rig.txn, i.id, 1, 250, "ok", 5, T0, &err), ST_CONFLICT, err);
    assert_ok(outbox_sent(rig.txn, i.id, 2, 250, "ok", 5, T0 + LEASE, &err), err);
    intent_release(&i);
    intent_release(&again);
}

static void test_bytes_are_erased_once_a_letter_is_settled(void **state)
{
    struct intent_row i = INTENT_ROW_INIT, got = INTENT_ROW_INIT;
    struct attempt_row attempts[4];
    size_t n = 0;

    (void)state;
    (void)put("a", -1, T0);
    assert_ok(claim(CHANNEL_MAIL, T0, &i), err);
    compose(&i, true);
    assert_ok(outbox_sent(rig.txn, i.id, 1, 250, "2.0.0 ok", 37, T0 + 1, &err), err);
    assert_ok(outbox_get(conn(), i.id, &got, &err), err);
    assert_null(got.bytes);
    assert_int_equal(got.state, OUTBOX_SENT);
    assert_int_equal(got.settled_at, T0 + 1);
    assert_int_equal(got.last_code, 250);
    assert_ok(attempts_of(conn(), i.id, attempts, 4, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(attempts[0].outcome, ATTEMPT_SENT);
    assert_int_equal(attempts[0].took_ms, 37);
    assert_string_equal(attempts[0].text, "2.0.0 ok");
    assert_st(claim(CHANNEL_MAIL, T0 + MS_HOUR, &got), ST_NOT_FOUND, err);
    intent_release(&i);
    intent_release(&got);
}

static void test_a_retry_waits_and_gives_up_when_it_is_of_no_use(void **state)
{
    struct intent_row i = INTENT_ROW_INIT;
    char text[2 * REPLY_TEXT_SIZE];
    bool expired = true;

    (void)state;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)put("a", -1, T0);
    assert_ok(claim(CHANNEL_MAIL, T0, &i), err);
    assert_ok(outbox_retry(rig.txn, i.id, 1, 451, text, 5, T0 + 60, T0, &expired, &err), err);
    assert_false(expired);
    intent_release(&i);
    assert_st(claim(CHANNEL_MAIL, T0 + 59, &i), ST_NOT_FOUND, err);
    assert_ok(claim(CHANNEL_MAIL, T0 + 60, &i), err);
    assert_int_equal(i.attempts, 2);
    assert_int_equal(i.last_code, 451);
    assert_int_equal(strlen(i.last_text), REPLY_TEXT_SIZE - 1);
    assert_ok(outbox_retry(rig.txn, i.id, 2, 451, "later", 5, T0 + MS_DAY, T0 + 61, &expired, &err),
              err);
    assert_true(expired);
    intent_release(&i);
    assert_ok(outbox_get(conn(), i.id, &i, &err), err);
    assert_int_equal(i.state, OUTBOX_EXPIRED);
    intent_release(&i);
}

static void test_an_expired_intent_is_passed_over(void **state)
{
    struct intent_row i = INTENT_ROW_INIT, got = INTENT_ROW_INIT;
    int64_t old = put("old", -1, T0), id;

    (void)state;
    for (int k = 0; k < 5; k++) { /* several in the way */
        char key[16];

        (void)snprintf(key, sizeof key, "old%d", k);
        (void)put(key, -1, T0);
    }
    rig_commit(&rig);
    rig_spoil(&rig, "UPDATE outbox SET expires_at = 1000000010");
    rig_begin(&rig);
    id = put("new", -1, T0 + 5);
    assert_ok(claim(CHANNEL_MAIL, T0 + 10, &i), err);
    assert_int_equal(i.id, id);
    assert_ok(outbox_get(conn(), old, &got, &err), err);
    assert_int_equal(got.state, OUTBOX_EXPIRED);
    intent_release(&i);
    intent_release(&got);
}

static void test_what_is_given_back_does_not_count_as_an_attempt(void **state)
{
    struct intent_row i = INTENT_ROW_INIT;

    (void)state;
    (void)put("a", -1, T0);
    assert_ok(claim(CHANNEL_MAIL, T0, &i), err);
    assert_ok(outbox_release(rig.txn, i.id, 1, T0 + 1, &err), err);
    intent_release(&i);
    assert_ok(claim(CHANNEL_MAIL, T0 + 1, &i), err);
    assert_int_equal(i.attempts, 1);
    assert_ok(outbox_supersede_one(rig.txn, i.id, 1, "the turn has passed on", T0 + 2, &err), err);
    intent_release(&i);
    assert_ok(outbox_get(conn(), i.id, &i, &err), err);
    assert_int_equal(i.state, OUTBOX_SUPERSEDED);
    assert_string_equal(i.last_text, "the turn has passed on");
    intent_release(&i);
}

static void test_older_notices_of_a_game_are_superseded_but_not_those_under_way(void **state)
{
    struct intent_row i = INTENT_ROW_INIT, got = INTENT_ROW_INIT;
    int64_t game = rig_game(&rig, "aaaaaaaa", anna), ids[4], n = 0;

    (void)state;
    for (int k = 0; k < 4; k++) {
        struct intent_row x = INTENT_ROW_INIT;

        (void)snprintf(x.dedupe_key, sizeof x.dedupe_key, "t%d", k);
        (void)str_copy(x.template_name, sizeof x.template_name, "turn");
        x.cls = k == 3 ? NOTICE_RESULT : NOTICE_WARNING;
        x.user_id = anna;
        x.game_id = game;
        x.state_no = k;
        x.due_at = T0 + k;
        x.expires_at = T0 + MS_DAY;
        assert_ok(outbox_put(rig.txn, &x, &ids[k], &err), err);
    }
    assert_ok(claim(CHANNEL_MAIL, T0, &i), err); /* t0 is being sent */
    assert_int_equal(i.id, ids[0]);
    intent_release(&i);
    assert_ok(outbox_supersede_warnings(rig.txn, game, 2, T0, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(outbox_get(conn(), ids[1], &got, &err), err);
    assert_int_equal(got.state, OUTBOX_SUPERSEDED);
    intent_release(&got);
    assert_ok(outbox_get(conn(), ids[2], &got, &err), err);
    assert_int_equal(got.state, OUTBOX_QUEUED);
    intent_release(&got);
    assert_ok(outbox_supersede_warnings(rig.txn, game, 99, T0, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(outbox_get(conn(), ids[3], &got, &err), err);
    assert_int_equal(got.state, OUTBOX_QUEUED); /* another class */
    intent_release(&got);
}

static void test_leases_of_a_dead_process_end_at_start(void **state)
{
    struct intent_row i = INTENT_ROW_INIT;
    int64_t n = 0;

    (void)state;
    for (int k = 0; k < 70; k++) {
        char key[16];

        (void)snprintf(key, sizeof key, "k%d", k);
        (void)put(key, k == 69 ? 0 : -1, T0);
    }
    for (int k = 0; k < 69; k++) {
        assert_ok(claim(CHANNEL_MAIL, T0, &i), err);
        intent_release(&i);
    }
    assert_ok(claim(CHANNEL_WEBHOOK, T0, &i), err);
    intent_release(&i);
    assert_st(claim(CHANNEL_MAIL, T0 + 1, &i), ST_NOT_FOUND, err);
    assert_ok(outbox_reclaim(rig.txn, T0 + 1, &n, &err), err);
    assert_int_equal(n, 70);
    assert_ok(claim(CHANNEL_MAIL, T0 + 1, &i), err);
    assert_int_equal(i.attempts, 2);
    intent_release(&i);
    assert_ok(claim(CHANNEL_WEBHOOK, T0 + 1, &i), err);
    intent_release(&i);
}

static void test_depth_counts_what_waits(void **state)
{
    struct intent_row i = INTENT_ROW_INIT;
    struct outbox_depth depth;

    (void)state;
    assert_ok(outbox_depth(conn(), CHANNEL_MAIL, &depth, &err), err);
    assert_int_equal(depth.waiting, 0);
    assert_int_equal(depth.oldest_due_at, UTC_NONE);
    (void)put("a", -1, T0 + 5);
    (void)put("b", -1, T0 + 3);
    (void)put("c", 0, T0 + 1);
    assert_ok(claim(CHANNEL_MAIL, T0 + 3, &i), err);
    intent_release(&i);
    assert_ok(outbox_depth(conn(), CHANNEL_MAIL, &depth, &err), err);
    assert_int_equal(depth.waiting, 2);
    assert_int_equal(depth.oldest_due_at, T0 + 3);
}

static void test_settled_rows_are_purged_with_their_attempts(void **state)
{
    struct intent_row i = INTENT_ROW_INIT;
    struct attempt_row attempts[2];
    int64_t n = 0;
    size_t k = 9;

    (void)state;
    (void)put("a", -1, T0);
    (void)put("b", -1, T0 + MS_HOUR);
    assert_ok(claim(CHANNEL_MAIL, T0, &i), err);
    assert_ok(outbox_failed(rig.txn, i.id, 1, 550, "5.1.1", 1, T0 + 1, &err), err);
    intent_release(&i);
    assert_ok(outbox_purge(rig.txn, T0 + 1, 10, &n, &err), err);
    assert_int_equal(n, 0);
    assert_ok(outbox_purge(rig.txn, T0 + 2, 10, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(attempts_of(conn(), i.id, attempts, 2, &k, &err), err);
    assert_int_equal(k, 0);
}

/* Put in what is the future now, or put off for longer than anything is; not the rest. */
static void test_what_a_clock_set_back_would_keep_waiting_is_due(void **state)
{
    struct intent_row got = INTENT_ROW_INIT;
    int64_t n = -1;

    (void)state;
    (void)put("usual", -1, T0 + MS_HOUR); /* put at T0, as all of them */
    (void)put("usual-hook", 0, T0 + MS_HOUR);
    assert_ok(outbox_set_back(rig.txn, T0, MS_HOUR, &n, &err), err);
    assert_int_equal(n, 0);
    assert_st(claim(CHANNEL_MAIL, T0, &got), ST_NOT_FOUND, err);
    (void)put("long", -1, T0 + MS_HOUR + 1);
    (void)put("long-hook", 1, T0 + MS_HOUR + 1);
    assert_ok(outbox_set_back(rig.txn, T0, MS_HOUR, &n, &err), err);
    assert_int_equal(n, 2);
    assert_ok(claim(CHANNEL_MAIL, T0, &got), err);
    assert_string_equal(got.dedupe_key, "long");
    intent_release(&got);
    assert_ok(claim(CHANNEL_WEBHOOK, T0, &got), err);
    assert_string_equal(got.dedupe_key, "long-hook");
    intent_release(&got);
    assert_st(claim(CHANNEL_MAIL, T0, &got), ST_NOT_FOUND, err);
    assert_st(claim(CHANNEL_WEBHOOK, T0, &got), ST_NOT_FOUND, err);
    assert_ok(outbox_set_back(rig.txn, T0 - 1, MS_DAY, &n, &err), err);
    assert_int_equal(n, 2);
    assert_ok(claim(CHANNEL_MAIL, T0 - 1, &got), err);
    assert_string_equal(got.dedupe_key, "usual");
    intent_release(&got);
    assert_ok(claim(CHANNEL_WEBHOOK, T0 - 1, &got), err);
    assert_string_equal(got.dedupe_key, "usual-hook");
    intent_release(&got);
}

/* ---------------------------------------------------------------- webhooks */

/* A5: whoever has endpoints that never answer keeps nobody else's waiting. */
static void test_endpoints_that_hang_leave_room_for_others(void **state)
{
    enum { USERS = 6, EACH = 3 };
    int64_t user[USERS], hook[USERS][EACH];
    int n = 0;

    (void)state;
    for (int u = 0; u < USERS; u++) {
        char handle[20];

        (void)snprintf(handle, sizeof handle, "user%d", u);
        user[u] = rig_user(&rig, handle);
        for (int k = 0; k < EACH; k++) {
            struct webhook_row row = {.user_id = user[u], .secret_len = 24, .created_at = T0};
            struct intent_row i = INTENT_ROW_INIT;

            (void)snprintf(row.url, sizeof row.url, "https://example.org/%d/%d", u, k);
            assert_ok(webhooks_create(rig.txn, &row, &hook[u][k], &err), err);
            if (u % 2 == 0) /* half of them have failed, the others are new */
                assert_ok(webhooks_failed(rig.txn, hook[u][k], T0, &err), err);
            if (u == USERS - 1) /* the last one's have answered */
                assert_ok(webhooks_succeeded(rig.txn, hook[u][k], T0, &err), err);
            (void)snprintf(i.dedupe_key, sizeof i.dedupe_key, "%d.%d", u, k);
            (void)str_copy(i.template_name, sizeof i.template_name, "turn");
            i.cls = NOTICE_TURN;
            i.channel = CHANNEL_WEBHOOK;
            i.user_id = user[u];
            i.webhook_id = hook[u][k];
            i.params = (char[]){"{}"};
            i.due_at = T0 + u; /* the last one's come last */
            i.created_at = T0;
            i.expires_at = T0 + MS_DAY;
            assert_ok(outbox_put(rig.txn, &i, NULL, &err), err);
        }
    }
    for (;;) {
        struct intent_row got = INTENT_ROW_INIT;
        utc_ms next = 0;
        enum status st = claim(CHANNEL_WEBHOOK, T0 + MS_MINUTE, &got);

        if (st == ST_NOT_FOUND) { /* and it says so, or the courier asks again and again */
            assert_ok(outbox_next(conn(), CHANNEL_WEBHOOK, &next, &err), err);
            assert_int_equal(next, T0 + MS_MINUTE + LEASE);
            break;
        }
        assert_ok(st, err);
        if (n < WEBHOOKS_UNPROVED) /* two of each account, in the order in which they are due */
            assert_int_equal(got.user_id, user[n / WEBHOOKS_OF_ONE]);
        else
            assert_int_equal(got.user_id, user[USERS - 1]);
        n++;
        intent_release(&got);
    }
    assert_int_equal(n, WEBHOOKS_UNPROVED + WEBHOOKS_OF_ONE);
}

static void test_one_delivery_at_a_time_for_each_endpoint(void **state)
{
    struct intent_row a = INTENT_ROW_INIT, b = INTENT_ROW_INIT, c = INTENT_ROW_INIT;
    int64_t a1 = put("a1", 0, T0), a2 = put("a2", 0, T0), b1 = put("b1", 1, T0 + 5);
    utc_ms next = 0;

    (void)state;
    assert_ok(claim(CHANNEL_WEBHOOK, T0 + 9, &a), err);
    assert_int_equal(a.id, a1);
    assert_ok(claim(CHANNEL_WEBHOOK, T0 + 9, &b), err);
    assert_int_equal(b.id, b1); /* the other endpoint; the first is busy */
    assert_st(claim(CHANNEL_WEBHOOK, T0 + 9, &c), ST_NOT_FOUND, err);
    assert_ok(outbox_next(conn(), CHANNEL_WEBHOOK, &next, &err), err);
    assert_int_equal(next, T0 + 9 + LEASE);
    assert_ok(outbox_sent(rig.txn, a.id, 1, 200, "", 1, T0 + 10, &err), err);
    assert_ok(outbox_next(conn(), CHANNEL_WEBHOOK, &next, &err), err);
    assert_int_equal(next, T0);
    assert_ok(claim(CHANNEL_WEBHOOK, T0 + 10, &c), err);
    assert_int_equal(c.id, a2);
    /* a lease that ends frees the endpoint too */
    intent_release(&c);
    assert_ok(claim(CHANNEL_WEBHOOK, T0 + 10 + LEASE, &c), err);
    assert_int_equal(c.attempts, 2);
    intent_release(&a);
    intent_release(&b);
    intent_release(&c);
}

static void test_a_delivery_is_kept_and_can_be_sent_again_with_the_same_id(void **state)
{
    struct intent_row i = INTENT_ROW_INIT, rows[4];
    int64_t first = put("a", 0, T0);
    size_t n = 0;

    (void)state;
    assert_st(outbox_again(rig.txn, first, T0, T0 + MS_DAY, &err), ST_CONFLICT, err);
    assert_st(outbox_again(rig.txn, 999, T0, T0 + MS_DAY, &err), ST_NOT_FOUND, err);
    assert_ok(claim(CHANNEL_WEBHOOK, T0, &i), err);
    compose(&i, false);
    assert_ok(outbox_failed(rig.txn, first, 1, 500, "no", 1, T0, &err), err);
    intent_release(&i);
    assert_ok(outbox_again(rig.txn, first, T0 + 9, T0 + MS_DAY, &err), err);
    assert_ok(claim(CHANNEL_WEBHOOK, T0 + 9, &i), err);
    assert_int_equal(i.id, first);
    assert_string_equal(i.message_id, "m1");
    assert_memory_equal(i.bytes, "the bytes", 9);
    assert_ok(outbox_sent(rig.txn, first, 2, 200, "", 1, T0 + 9, &err), err);
    intent_release(&i);
    assert_ok(outbox_of_webhook(conn(), hooks[0], 0, rows, 4, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].attempts, 2);
    assert_null(rows[0].bytes);

    (void)put("secret", 0, T0 + 10);
    assert_ok(claim(CHANNEL_WEBHOOK, T0 + 10, &i), err);
    compose(&i, true); /* one with a raw secret is not kept */
    assert_ok(outbox_sent(rig.txn, i.id, 1, 200, "", 1, T0 + 10, &err), err);
    assert_st(outbox_again(rig.txn, i.id, T0 + 11, T0 + MS_DAY, &err), ST_GONE, err);
    intent_release(&i);
}

static void test_a_webhook_is_changed_rotated_disabled_and_removed(void **state)
{
    struct webhook_row row, rows[4];
    struct intent_row i = INTENT_ROW_INIT;
    unsigned char secret[32];
    bool did = false;
    size_t n = 0;

    (void)state;
    memset(secret, 9, sizeof secret);
    assert_ok(webhooks_get(conn(), hooks[0], &row, &err), err);
    assert_int_equal(row.state, WEBHOOK_ON);
    assert_int_equal(row.old_secret_len, 0);
    (void)str_copy(row.events, sizeof row.events, "game.move game.finished");
    (void)str_copy(row.auth, sizeof row.auth, "token");
    row.kind = WEBHOOK_MATRIX;
    assert_ok(webhooks_update(rig.txn, &row, T0 + 1, &err), err);
    assert_ok(webhooks_rotate(rig.txn, row.id, secret, sizeof secret, T0 + MS_DAY, T0 + 2, &err),
              err);
    assert_ok(webhooks_get(conn(), hooks[0], &row, &err), err);
    assert_int_equal(row.kind, WEBHOOK_MATRIX);
    assert_string_equal(row.auth, "token");
    assert_int_equal(row.secret_len, 32);
    assert_int_equal(row.old_secret_len, 24);
    assert_int_equal(row.old_secret[0], 1);
    assert_int_equal(row.old_secret_until, T0 + MS_DAY);

    assert_ok(webhooks_failed(rig.txn, row.id, T0 + 3, &err), err);
    assert_ok(webhooks_failed(rig.txn, row.id, T0 + 4, &err), err);
    assert_ok(webhooks_get(conn(), row.id, &row, &err), err);
    assert_int_equal(row.failures, 2);
    assert_int_equal(row.failing_since_at, T0 + 3);
    assert_ok(webhooks_succeeded(rig.txn, row.id, T0 + 5, &err), err);
    assert_ok(webhooks_get(conn(), row.id, &row, &err), err);
    assert_int_equal(row.failures, 0);
    assert_int_equal(row.failing_since_at, UTC_NONE);
    assert_int_equal(row.succeeded_at, T0 + 5);

    (void)put("a", 0, T0);
    assert_ok(webhooks_disable(rig.txn, row.id, "failing", T0 + 6, &did, &err), err);
    assert_true(did);
    assert_ok(webhooks_disable(rig.txn, row.id, "gone", T0 + 7, &did, &err), err);
    assert_false(did); /* so that its owner is told once */
    assert_st(claim(CHANNEL_WEBHOOK, T0 + 8, &i), ST_NOT_FOUND, err);
    assert_ok(webhooks_get(conn(), row.id, &row, &err), err);
    assert_string_equal(row.disabled_cause, "failing");
    row.state = WEBHOOK_ON;
    assert_ok(webhooks_update(rig.txn, &row, T0 + 9, &err), err);
    assert_ok(webhooks_get(conn(), row.id, &row, &err), err);
    assert_string_equal(row.disabled_cause, "");
    assert_int_equal(row.disabled_at, UTC_NONE);

    assert_ok(webhooks_delete(rig.txn, row.id, T0 + 10, &err), err);
    assert_st(webhooks_get(conn(), row.id, &row, &err), ST_NOT_FOUND, err);
    assert_st(webhooks_delete(rig.txn, row.id, T0 + 11, &err), ST_NOT_FOUND, err);
    assert_ok(webhooks_of_user(conn(), anna, rows, 4, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].id, hooks[1]);
}

/* ---------------------------------------------------------------- kept answers, the audit */

static void test_an_answer_is_kept_under_its_key_until_purged(void **state)
{
    struct idempotency_row row = {.status = 201, .body = (char[]){"{\"ok\":1}"}, .body_len = 8,
                                  .created_at = T0},
                           got = {.status = 0};
    int64_t n = 0;

    (void)state;
    rig_hash(3, row.request_hash);
    (void)str_copy(row.headers, sizeof row.headers, "Location: /x\n");
    (void)str_copy(row.content_type, sizeof row.content_type, "application/json");
    assert_st(idempotency_get(conn(), anna, "key", &got, &err), ST_NOT_FOUND, err);
    assert_ok(idempotency_put(rig.txn, anna, "key", &row, &err), err);
    assert_st(idempotency_put(rig.txn, anna, "key", &row, &err), ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_KEY_REUSED);
    assert_ok(idempotency_get(conn(), anna, "key", &got, &err), err);
    assert_int_equal(got.status, 201);
    assert_string_equal(got.body, "{\"ok\":1}");
    assert_string_equal(got.headers, "Location: /x\n");
    assert_memory_equal(got.request_hash, row.request_hash, STORE_HASH_SIZE);
    idempotency_release(&got);
    idempotency_release(NULL);
    assert_st(idempotency_get(conn(), anna + 1, "key", &got, &err), ST_NOT_FOUND, err);
    assert_ok(idempotency_purge(rig.txn, T0, 9, &n, &err), err);
    assert_int_equal(n, 0);
    assert_ok(idempotency_purge(rig.txn, T0 + 1, 9, &n, &err), err);
    assert_int_equal(n, 1);
    row.body_len = 0; /* an empty answer (204) */
    row.body = NULL;
    assert_ok(idempotency_put(rig.txn, anna, "empty", &row, &err), err);
    assert_ok(idempotency_get(conn(), anna, "empty", &got, &err), err);
    assert_int_equal(got.body_len, 0);
    idempotency_release(&got);
}

static void test_the_audit_lists_newest_first(void **state)
{
    int64_t game = rig_game(&rig, "aaaaaaaa", anna);
    struct audit_row row = {.at = T0, .user_id = anna, .role = AUDIT_OPERATOR}, rows[4];
    size_t n = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        (void)snprintf(row.act, sizeof row.act, "act%d", i);
        row.game_id = i == 1 ? game : 0;
        row.user_id = i == 2 ? 0 : anna;
        assert_ok(audit_add(rig.txn, &row, &err), err);
    }
    assert_ok(audit_list(conn(), 0, 0, rows, 2, &n, &err), err);
    assert_int_equal(n, 2);
    assert_string_equal(rows[0].act, "act2");
    assert_int_equal(rows[0].user_id, 0);
    assert_ok(audit_list(conn(), 0, rows[1].id, rows, 2, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(audit_list(conn(), game, 0, rows, 4, &n, &err), err);
    assert_int_equal(n, 1);
    assert_string_equal(rows[0].act, "act1");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, up, down)
    const struct CMUnitTest tests[] = {
        TEST(test_the_same_is_said_once),
        TEST(test_an_intent_to_nobody_is_an_error),
        TEST(test_an_intent_of_a_rolled_back_move_is_never_sent),
        TEST(test_intents_are_claimed_when_due_earliest_first),
        TEST(test_what_a_clock_set_back_would_keep_waiting_is_due),
        TEST(test_an_unsent_intent_comes_back_with_its_bytes_when_its_lease_ends),
        TEST(test_bytes_are_erased_once_a_letter_is_settled),
        TEST(test_a_retry_waits_and_gives_up_when_it_is_of_no_use),
        TEST(test_an_expired_intent_is_passed_over),
        TEST(test_what_is_given_back_does_not_count_as_an_attempt),
        TEST(test_older_notices_of_a_game_are_superseded_but_not_those_under_way),
        TEST(test_leases_of_a_dead_process_end_at_start),
        TEST(test_depth_counts_what_waits),
        TEST(test_settled_rows_are_purged_with_their_attempts),
        TEST(test_endpoints_that_hang_leave_room_for_others),
        TEST(test_one_delivery_at_a_time_for_each_endpoint),
        TEST(test_a_delivery_is_kept_and_can_be_sent_again_with_the_same_id),
        TEST(test_a_webhook_is_changed_rotated_disabled_and_removed),
        TEST(test_an_answer_is_kept_under_its_key_until_purged),
        TEST(test_the_audit_lists_newest_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

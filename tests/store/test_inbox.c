/* store/test_inbox.c - letters accepted, tokens, held moves, notes, mailboxes, hand-overs. */
#include "store/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "store/held.h"
#include "store/imap_boxes.h"
#include "store/inbox.h"
#include "store/notes.h"
#include "store/outbox.h"
#include "store/prefs.h"
#include "store/tokens.h"

static struct rig rig;
static struct err err;
static int64_t users[SEAT_COUNT], game;

static struct store_conn *conn(void)
{
    return store_txn_conn(rig.txn);
}

static int up(void **state)
{
    (void)state;
    rig_open(&rig, NULL);
    rig_begin(&rig);
    for (int i = 0; i < SEAT_COUNT; i++) {
        char handle[16];

        (void)snprintf(handle, sizeof handle, "n%d", i);
        users[i] = rig_user(&rig, handle);
    }
    game = rig_running(&rig, "aaaaaaaa", users);
    return 0;
}

static int down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

/* ---------------------------------------------------------------- tokens */

static struct token_row token(int n)
{
    struct token_row t = TOKEN_ROW_INIT;

    rig_hash(n, t.hash);
    t.purpose = TOKEN_TURN;
    t.user_id = users[0];
    t.game_id = game;
    t.seat = 2;
    t.state_no = 6;
    t.created_at = T0;
    t.expires_at = T0 + 100;
    return t;
}

static void test_a_token_is_found_as_it_was_put(void **state)
{
    struct token_row t = token(1), got;
    unsigned char other[STORE_HASH_SIZE];
    int64_t id = 0, again = 0;

    (void)state;
    assert_ok(tokens_put(rig.txn, &t, &id, &err), err);
    assert_ok(tokens_find(conn(), t.hash, &got, &err), err);
    assert_int_equal(got.id, id);
    assert_memory_equal(got.hash, t.hash, STORE_HASH_SIZE);
    assert_int_equal(got.purpose, TOKEN_TURN);
    assert_int_equal(got.user_id, users[0]);
    assert_int_equal(got.game_id, game);
    assert_int_equal(got.seat, 2);
    assert_int_equal(got.state_no, 6);
    assert_int_equal(got.inbox_id, 0);
    assert_int_equal(got.created_at, T0);
    assert_int_equal(got.expires_at, T0 + 100);
    assert_int_equal(got.used_at, UTC_NONE);
    assert_int_equal(got.revoked_at, UTC_NONE);
    assert_st(tokens_put(rig.txn, &t, &again, &err), ST_CONFLICT, err);
    assert_int_equal(again, 0);
    rig_hash(2, other);
    assert_st(tokens_find(conn(), other, &got, &err), ST_NOT_FOUND, err);
    assert_int_equal(err.reason, REASON_NOT_FOUND);
    t = token(3); /* of nothing in particular */
    t.purpose = TOKEN_ACCOUNT;
    t.game_id = 0;
    t.seat = -1;
    assert_ok(tokens_put(rig.txn, &t, &id, &err), err);
    assert_ok(tokens_find(conn(), t.hash, &got, &err), err);
    assert_int_equal(got.game_id, 0);
    assert_int_equal(got.seat, -1);
    t = token(4); /* of nobody */
    t.user_id = 4711;
    assert_true(tokens_put(rig.txn, &t, &id, &err) != ST_OK);
}

static void test_a_token_keeps_its_first_use_and_may_be_revoked(void **state)
{
    struct token_row t = token(1), mine = token(2), his = token(3), got;
    int64_t id = 0, id2 = 0, id3 = 0;

    (void)state;
    his.user_id = users[1];
    assert_ok(tokens_put(rig.txn, &t, &id, &err), err);
    assert_ok(tokens_put(rig.txn, &mine, &id2, &err), err);
    assert_ok(tokens_put(rig.txn, &his, &id3, &err), err);
    assert_ok(tokens_use(rig.txn, id, T0 + 7, &err), err);
    assert_ok(tokens_use(rig.txn, id, T0 + 9, &err), err);
    assert_ok(tokens_find(conn(), t.hash, &got, &err), err);
    assert_int_equal(got.used_at, T0 + 7);
    assert_st(tokens_use(rig.txn, 4711, T0, &err), ST_NOT_FOUND, err);

    assert_ok(tokens_revoke_user(rig.txn, users[0], T0 + 11, &err), err);
    assert_ok(tokens_revoke_user(rig.txn, users[0], T0 + 12, &err), err);
    assert_ok(tokens_find(conn(), mine.hash, &got, &err), err);
    assert_int_equal(got.revoked_at, T0 + 11);
    assert_ok(tokens_find(conn(), his.hash, &got, &err), err);
    assert_int_equal(got.revoked_at, UTC_NONE);
    /* whoever is shut out cannot move by mail either */
    assert_ok(users_set_disabled(rig.txn, users[1], true, T0 + 13, &err), err);
    assert_ok(tokens_find(conn(), his.hash, &got, &err), err);
    assert_int_equal(got.revoked_at, T0 + 13);
}

static void test_tokens_that_expired_long_ago_are_removed(void **state)
{
    struct token_row t, got;
    int64_t id = 0, n = -1;

    (void)state;
    for (int i = 0; i < 5; i++) {
        t = token(i);
        t.expires_at = T0 + i;
        assert_ok(tokens_put(rig.txn, &t, &id, &err), err);
    }
    assert_ok(tokens_purge(rig.txn, T0 + 3, 2, &n, &err), err);
    assert_int_equal(n, 2);
    assert_ok(tokens_purge(rig.txn, T0 + 3, 2, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(tokens_purge(rig.txn, T0 + 3, 2, &n, &err), err);
    assert_int_equal(n, 0);
    t = token(2);
    assert_st(tokens_find(conn(), t.hash, &got, &err), ST_NOT_FOUND, err);
    t = token(3); /* at that instant, not before it */
    assert_ok(tokens_find(conn(), t.hash, &got, &err), err);
}

/* ---------------------------------------------------------------- the inbox */

/* The n-th letter, as a door hands it over. */
static struct inbox_row letter(int n)
{
    struct inbox_row r = INBOX_ROW_INIT;
    static unsigned char bytes[] = "From: n0@example.org\r\n\r\ne4\r\n";

    r.received_at = T0 + n;
    r.way = INBOX_BY_LMTP;
    r.has_token = true;
    rig_hash(100 + n, r.token_hash);
    rig_hash(200 + n, r.fingerprint);
    (void)str_copy(r.recipient, sizeof r.recipient, "play+…@example.org");
    (void)str_copy(r.sender, sizeof r.sender, "n0@example.org");
    (void)str_copy(r.message_id, sizeof r.message_id, "abc@example.org");
    r.raw = bytes;
    r.raw_len = sizeof bytes - 1;
    return r;
}

static int64_t put(int n)
{
    struct inbox_row r = letter(n);
    bool is_new = false;
    int64_t id = 0;

    assert_ok(inbox_put(rig.txn, &r, &id, &is_new, &err), err);
    assert_true(is_new);
    return id;
}

static struct inbox_row got(int64_t id)
{
    struct inbox_row r;

    assert_ok(inbox_get(conn(), id, false, &r, &err), err);
    assert_null(r.raw);
    return r;
}

static int64_t claim_one(void)
{
    struct inbox_row r;
    size_t n = 0;

    assert_ok(inbox_claim(rig.txn, T0 + 50, 1, &r, &n, &err), err);
    assert_int_equal(n, 1);
    return r.id;
}

static void settle(int64_t id, enum inbox_verdict verdict, utc_ms now)
{
    assert_ok(inbox_settle(rig.txn, id,
                           verdict == INBOX_VERDICT_QUARANTINED ? INBOX_QUARANTINED
                           : verdict == INBOX_VERDICT_HELD      ? INBOX_HELD
                                                                : INBOX_DONE,
                           verdict, "", users[0], game, 0, now, &err),
              err);
}

static void test_a_letter_comes_back_as_it_was_put(void **state)
{
    struct inbox_row r = letter(1), full;
    int64_t id = put(1);

    (void)state;
    assert_ok(inbox_get(conn(), id, true, &full, &err), err);
    assert_int_equal(full.received_at, T0 + 1);
    assert_int_equal(full.way, INBOX_BY_LMTP);
    assert_true(full.has_token);
    assert_memory_equal(full.token_hash, r.token_hash, STORE_HASH_SIZE);
    assert_memory_equal(full.fingerprint, r.fingerprint, STORE_HASH_SIZE);
    assert_string_equal(full.recipient, r.recipient);
    assert_string_equal(full.sender, r.sender);
    assert_string_equal(full.message_id, r.message_id);
    assert_int_equal(full.size, r.raw_len);
    assert_int_equal(full.raw_len, r.raw_len);
    assert_memory_equal(full.raw, r.raw, r.raw_len);
    assert_int_equal(full.state, INBOX_RECEIVED);
    assert_int_equal(full.verdict, INBOX_VERDICT_NONE);
    assert_int_equal(full.attempts, 0);
    assert_int_equal(full.claimed_at, UTC_NONE);
    assert_int_equal(full.settled_at, UTC_NONE);
    inbox_row_release(&full);
    assert_null(full.raw);
    inbox_row_release(NULL);
    assert_st(inbox_get(conn(), 4711, true, &full, &err), ST_NOT_FOUND, err);
}

/* P02, P03: doors deliver at least once. */
static void test_the_same_letter_again_is_no_new_one(void **state)
{
    struct inbox_row r = letter(1);
    int64_t id = put(1), again = 0;
    bool is_new = true;

    (void)state;
    r.way = INBOX_BY_IMAP;
    r.received_at = T0 + 99;
    assert_ok(inbox_put(rig.txn, &r, &again, &is_new, &err), err);
    assert_false(is_new);
    assert_int_equal(again, id);
    assert_ok(inbox_put(rig.txn, &r, &again, &is_new, &err), err);
    assert_int_equal(got(id).repeats, 2);
    assert_int_equal(got(id).received_at, T0 + 1);
    assert_int_equal(got(id).way, INBOX_BY_LMTP);
    /* also when the first has been read */
    assert_int_equal(claim_one(), id);
    settle(id, INBOX_VERDICT_ACTED, T0 + 60);
    assert_ok(inbox_put(rig.txn, &r, &again, &is_new, &err), err);
    assert_false(is_new);
    assert_int_equal(got(id).state, INBOX_DONE);
    assert_int_equal(got(id).repeats, 3);
}

static void test_odd_letters_are_kept_and_huge_ones_refused(void **state)
{
    struct inbox_row r = letter(1), full;
    int64_t id = 0;
    bool is_new = false;

    (void)state;
    r.has_token = false;
    r.sender[0] = r.message_id[0] = '\0';
    r.raw = NULL;
    r.raw_len = 0;
    assert_ok(inbox_put(rig.txn, &r, &id, &is_new, &err), err);
    assert_ok(inbox_get(conn(), id, true, &full, &err), err);
    assert_false(full.has_token);
    assert_string_equal(full.sender, "");
    assert_int_equal(full.size, 0);
    assert_non_null(full.raw); /* empty, not erased */
    inbox_row_release(&full);
    r = letter(2);
    r.raw = calloc(1, (size_t)INBOX_RAW_MAX + 1);
    assert_non_null(r.raw);
    r.raw_len = (size_t)INBOX_RAW_MAX + 1;
    assert_st(inbox_put(rig.txn, &r, &id, &is_new, &err), ST_TOO_LARGE, err);
    r.raw_len = INBOX_RAW_MAX;
    assert_ok(inbox_put(rig.txn, &r, &id, &is_new, &err), err);
    free(r.raw);
}

static void test_letters_are_claimed_in_the_order_in_which_they_came(void **state)
{
    int64_t first = put(5), second = put(3), third = put(4);
    struct inbox_row rows[INBOX_CLAIM_MAX];
    size_t n = 9;

    (void)state;
    assert_ok(inbox_claim(rig.txn, T0 + 50, 2, rows, &n, &err), err);
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].id, first);
    assert_int_equal(rows[1].id, second);
    assert_int_equal(rows[0].attempts, 1);
    assert_int_equal(rows[0].state, INBOX_CLAIMED);
    assert_int_equal(rows[0].claimed_at, T0 + 50);
    assert_null(rows[0].raw);
    assert_ok(inbox_claim(rig.txn, T0 + 51, 1000, rows, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].id, third);
    assert_ok(inbox_claim(rig.txn, T0 + 52, 1000, rows, &n, &err), err);
    assert_int_equal(n, 0);
    for (int i = 0; i < INBOX_CLAIM_MAX + 1; i++)
        (void)put(10 + i);
    assert_ok(inbox_claim(rig.txn, T0 + 53, 1000, rows, &n, &err), err);
    assert_int_equal(n, INBOX_CLAIM_MAX);
    for (size_t i = 1; i < n; i++)
        assert_true(rows[i - 1].id < rows[i].id);
}

/* P39: one that was claimed before is claimed alone, so that no neighbour is counted with it. */
static void test_a_letter_that_was_claimed_before_is_claimed_alone(void **state)
{
    int64_t first = put(1), second = put(2), third, n = -1;
    struct inbox_row rows[4];
    size_t got_n = 0;

    (void)state;
    assert_ok(inbox_claim(rig.txn, T0 + 50, 4, rows, &got_n, &err), err);
    assert_int_equal(got_n, 2);
    third = put(3);
    assert_ok(inbox_reclaim(rig.txn, T0 + 51, &n, &err), err);
    assert_int_equal(n, 2);
    assert_ok(inbox_claim(rig.txn, T0 + 52, 4, rows, &got_n, &err), err);
    assert_int_equal(got_n, 1);
    assert_int_equal(rows[0].id, first);
    settle(first, INBOX_VERDICT_ANSWERED, T0 + 53);
    assert_ok(inbox_claim(rig.txn, T0 + 54, 4, rows, &got_n, &err), err);
    assert_int_equal(got_n, 1);
    assert_int_equal(rows[0].id, second);
    assert_int_equal(rows[0].attempts, 2);
    /* it has not ended yet; the new one behind it is free */
    assert_ok(inbox_claim(rig.txn, T0 + 57, 4, rows, &got_n, &err), err);
    assert_int_equal(got_n, 1);
    assert_int_equal(rows[0].id, third);
    assert_int_equal(rows[0].attempts, 1);
}

/* P39: what brought its reader down is seen by its attempts. */
static void test_what_a_dead_process_had_claimed_is_read_again(void **state)
{
    int64_t id = put(1), done = put(2), n = -1;
    struct inbox_row row;
    size_t got_n = 0;

    (void)state;
    assert_int_equal(claim_one(), id);
    assert_int_equal(claim_one(), done);
    settle(done, INBOX_VERDICT_ANSWERED, T0 + 60);
    assert_ok(inbox_reclaim(rig.txn, T0 + 70, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(got(id).state, INBOX_RECEIVED);
    assert_int_equal(got(done).state, INBOX_DONE);
    assert_ok(inbox_claim(rig.txn, T0 + 71, 4, &row, &got_n, &err), err);
    assert_int_equal(got_n, 1);
    assert_int_equal(row.attempts, 2);
    assert_ok(inbox_unclaim(rig.txn, id, &err), err); /* given back: that one does not count */
    assert_int_equal(got(id).attempts, 1);
    assert_int_equal(got(id).state, INBOX_RECEIVED);
    assert_st(inbox_unclaim(rig.txn, id, &err), ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_ALREADY_DONE);
}

static void test_a_letter_is_settled_once(void **state)
{
    int64_t id = put(1);
    struct inbox_row r;

    (void)state;
    assert_st(inbox_settle(rig.txn, id, INBOX_DONE, INBOX_VERDICT_ACTED, "", users[0], game, 7,
                           T0 + 60, &err),
              ST_CONFLICT, err); /* nobody has claimed it */
    assert_int_equal(claim_one(), id);
    assert_ok(inbox_settle(rig.txn, id, INBOX_DONE, INBOX_VERDICT_REFUSED, "not_your_turn",
                           users[0], game, 7, T0 + 60, &err),
              err);
    r = got(id);
    assert_int_equal(r.state, INBOX_DONE);
    assert_int_equal(r.verdict, INBOX_VERDICT_REFUSED);
    assert_string_equal(r.reason, "not_your_turn");
    assert_int_equal(r.user_id, users[0]);
    assert_int_equal(r.game_id, game);
    assert_int_equal(r.answer_id, 7);
    assert_int_equal(r.settled_at, T0 + 60);
    assert_st(inbox_settle(rig.txn, id, INBOX_DONE, INBOX_VERDICT_ACTED, "", 0, 0, 0, T0 + 61,
                           &err),
              ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_ALREADY_DONE);
    assert_st(inbox_settle(rig.txn, id, INBOX_HELD, INBOX_VERDICT_HELD, "", 0, 0, 0, T0 + 61,
                           &err),
              ST_CONFLICT, err);
}

/* P18: a letter that seems not to be its owner's waits for his word. */
static void test_a_held_letter_becomes_done_by_its_owners_word(void **state)
{
    struct token_row t = token(9), found;
    int64_t id = put(1), token_id = 0;
    char reason[400];

    (void)state;
    assert_int_equal(claim_one(), id);
    memset(reason, 'x', sizeof reason);
    reason[sizeof reason - 1] = '\0';
    assert_ok(inbox_settle(rig.txn, id, INBOX_HELD, INBOX_VERDICT_HELD, reason, users[0], game, 8,
                           T0 + 60, &err),
              err);
    assert_int_equal(strlen(got(id).reason), INBOX_REASON_SIZE - 1); /* cut */
    t.purpose = TOKEN_CONFIRM;
    t.inbox_id = id;
    assert_ok(tokens_put(rig.txn, &t, &token_id, &err), err);
    assert_ok(tokens_find(conn(), t.hash, &found, &err), err);
    assert_int_equal(found.inbox_id, id);
    assert_st(inbox_settle(rig.txn, id, INBOX_QUARANTINED, INBOX_VERDICT_QUARANTINED, "", 0, 0, 0,
                           T0 + 61, &err),
              ST_CONFLICT, err);
    assert_ok(inbox_settle(rig.txn, id, INBOX_DONE, INBOX_VERDICT_ACTED, "", 0, 0, 0, T0 + 61,
                           &err),
              err);
    assert_int_equal(got(id).state, INBOX_DONE);
    assert_int_equal(got(id).user_id, users[0]); /* what is not said anew stays */
    assert_int_equal(got(id).answer_id, 8);
}

/* T4: nobody loses by an instant up to which letters are unread. */
static void test_letters_wait_from_their_acceptance_until_their_verdict(void **state)
{
    struct inbox_depth depth;
    int64_t id = put(10), n = -1;

    (void)state;
    assert_ok(inbox_waiting(conn(), T0 + 9, &n, &err), err);
    assert_int_equal(n, 0);
    assert_ok(inbox_waiting(conn(), T0 + 10, &n, &err), err);
    assert_int_equal(n, 1);
    (void)put(20);
    assert_ok(inbox_waiting(conn(), T0 + 19, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(inbox_waiting(conn(), T0 + 20, &n, &err), err);
    assert_int_equal(n, 2);
    assert_ok(inbox_depth(conn(), &depth, &err), err);
    assert_int_equal(depth.waiting, 2);
    assert_int_equal(depth.oldest_at, T0 + 10);
    assert_int_equal(depth.quarantined, 0);
    assert_int_equal(claim_one(), id); /* being read is not read */
    assert_ok(inbox_waiting(conn(), T0 + 10, &n, &err), err);
    assert_int_equal(n, 1);
    settle(id, INBOX_VERDICT_QUARANTINED, T0 + 60);
    assert_ok(inbox_waiting(conn(), T0 + 10, &n, &err), err);
    assert_int_equal(n, 0);
    assert_ok(inbox_depth(conn(), &depth, &err), err);
    assert_int_equal(depth.waiting, 1);
    assert_int_equal(depth.oldest_at, T0 + 20);
    assert_int_equal(depth.quarantined, 1);
    settle(claim_one(), INBOX_VERDICT_HELD, T0 + 60);
    assert_ok(inbox_depth(conn(), &depth, &err), err);
    assert_int_equal(depth.waiting, 0);
    assert_int_equal(depth.oldest_at, UTC_NONE);
}

static void test_what_was_set_aside_may_be_read_anew(void **state)
{
    int64_t id = put(1), erased = 0, removed = 0;

    (void)state;
    assert_st(inbox_retry(rig.txn, id, &err), ST_CONFLICT, err);
    assert_int_equal(claim_one(), id);
    assert_st(inbox_retry(rig.txn, id, &err), ST_CONFLICT, err);
    settle(id, INBOX_VERDICT_QUARANTINED, T0 + 60);
    assert_ok(inbox_retry(rig.txn, id, &err), err);
    assert_int_equal(got(id).state, INBOX_RECEIVED);
    assert_int_equal(got(id).attempts, 0);
    assert_int_equal(got(id).verdict, INBOX_VERDICT_NONE);
    assert_int_equal(got(id).settled_at, UTC_NONE);
    assert_int_equal(got(id).received_at, T0 + 1);
    assert_int_equal(claim_one(), id);
    settle(id, INBOX_VERDICT_QUARANTINED, T0 + 61);
    assert_ok(inbox_purge(rig.txn, T0 + 62 + INBOX_QUARANTINE_KEEP_MS, 10, &erased, &removed,
                          &err),
              err);
    assert_int_equal(erased, 1);
    assert_st(inbox_retry(rig.txn, id, &err), ST_CONFLICT, err); /* there is nothing to be read */
    assert_int_equal(err.reason, REASON_ALREADY_DONE);
}

static int64_t answered(int n, enum inbox_verdict verdict, const char *reason, int64_t game_id,
                        int64_t answer_id, utc_ms now)
{
    int64_t id = put(n);

    assert_int_equal(claim_one(), id);
    assert_ok(inbox_settle(rig.txn, id, INBOX_DONE, verdict, reason, users[0], game_id, answer_id,
                           now, &err),
              err);
    return id;
}

/* P01: at most so many answers an hour; each refusal one answer. */
static void test_answers_and_refusals_are_counted_by_user_and_time(void **state)
{
    int64_t n = -1;

    (void)state;
    (void)answered(1, INBOX_VERDICT_ACTED, "", game, 5, T0 + 100);
    (void)answered(2, INBOX_VERDICT_SILENT, "", game, 0, T0 + 110);
    (void)answered(3, INBOX_VERDICT_REFUSED, "illegal_move", game, 6, T0 + 120);
    (void)answered(4, INBOX_VERDICT_REFUSED, "illegal_move", 0, 7, T0 + 130);
    (void)answered(5, INBOX_VERDICT_REFUSED, "not_your_turn", game, 8, T0 + 140);
    (void)answered(6, INBOX_VERDICT_REFUSED, "illegal_move", game, 0, T0 + 150);
    assert_ok(inbox_answers_since(conn(), users[0], T0 + 100, &n, &err), err);
    assert_int_equal(n, 4);
    assert_ok(inbox_answers_since(conn(), users[0], T0 + 101, &n, &err), err);
    assert_int_equal(n, 3);
    assert_ok(inbox_answers_since(conn(), users[1], T0, &n, &err), err);
    assert_int_equal(n, 0);
    assert_ok(inbox_same_refusal(conn(), users[0], game, "illegal_move", T0 + 120, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(inbox_same_refusal(conn(), users[0], game, "illegal_move", T0 + 121, &n, &err), err);
    assert_int_equal(n, 0);
    assert_ok(inbox_same_refusal(conn(), users[0], 0, "illegal_move", T0, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(inbox_same_refusal(conn(), users[0], game, "", T0, &n, &err), err);
    assert_int_equal(n, 0);
}

static void test_the_list_goes_backwards_and_filters(void **state)
{
    struct inbox_row rows[8];
    int64_t first = answered(1, INBOX_VERDICT_ACTED, "", game, 0, T0 + 100), second = put(2);
    int64_t third = put(3);
    size_t n = 0;

    (void)state;
    assert_int_equal(claim_one(), second);
    settle(second, INBOX_VERDICT_QUARANTINED, T0 + 60);
    assert_ok(inbox_list(conn(), INBOX_ANY, 0, 0, rows, 8, &n, &err), err);
    assert_int_equal(n, 3);
    assert_int_equal(rows[0].id, third);
    assert_int_equal(rows[2].id, first);
    assert_ok(inbox_list(conn(), INBOX_ANY, 0, third, rows, 1, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].id, second);
    assert_ok(inbox_list(conn(), INBOX_QUARANTINED, 0, 0, rows, 8, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].id, second);
    assert_ok(inbox_list(conn(), INBOX_DONE, users[0], 0, rows, 8, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(inbox_list(conn(), INBOX_ANY, users[1], 0, rows, 8, &n, &err), err);
    assert_int_equal(n, 0);
}

static bool has_raw(int64_t id)
{
    struct inbox_row r;
    bool has;

    assert_ok(inbox_get(conn(), id, true, &r, &err), err);
    has = r.raw != NULL;
    inbox_row_release(&r);
    return has;
}

static void test_bytes_are_erased_and_old_rows_removed_each_at_its_time(void **state)
{
    int64_t done = put(1), aside = put(2), foreign = put(4), nobodys = put(5), waits = put(3);
    int64_t erased = -1, removed = -1;
    struct held_row held = {.game_id = game, .user_id = users[0], .inbox_id = done};
    struct token_row t = token(1), found;
    int64_t id = 0;
    struct inbox_row r;

    (void)state;
    assert_int_equal(claim_one(), done);
    assert_int_equal(claim_one(), aside);
    assert_int_equal(claim_one(), foreign);
    assert_int_equal(claim_one(), nobodys);
    assert_ok(inbox_settle(rig.txn, nobodys, INBOX_DONE, INBOX_VERDICT_UNREADABLE, "", 0, 0, 0, T0,
                           &err),
              err);
    settle(done, INBOX_VERDICT_ACTED, T0);
    settle(aside, INBOX_VERDICT_QUARANTINED, T0);
    settle(foreign, INBOX_VERDICT_STRANGER, T0);
    t.inbox_id = done;
    assert_ok(tokens_put(rig.txn, &t, &id, &err), err);
    (void)str_copy(held.move, sizeof held.move, "e2e3");
    assert_ok(held_put(rig.txn, &held, &err), err);

    assert_ok(inbox_purge(rig.txn, T0 + INBOX_FOREIGN_KEEP_MS, 10, &erased, &removed, &err), err);
    assert_int_equal(erased, 0);
    assert_ok(inbox_purge(rig.txn, T0 + INBOX_FOREIGN_KEEP_MS + 1, 10, &erased, &removed, &err),
              err);
    assert_int_equal(erased, 2);
    assert_false(has_raw(foreign));
    assert_false(has_raw(nobodys));
    assert_ok(inbox_purge(rig.txn, T0 + INBOX_RAW_KEEP_MS, 10, &erased, &removed, &err), err);
    assert_int_equal(erased, 0);
    assert_ok(inbox_purge(rig.txn, T0 + INBOX_RAW_KEEP_MS + 1, 10, &erased, &removed, &err), err);
    assert_int_equal(erased, 1);
    assert_int_equal(removed, 0);
    assert_false(has_raw(done));
    assert_true(has_raw(aside));
    assert_ok(inbox_purge(rig.txn, T0 + INBOX_QUARANTINE_KEEP_MS, 10, &erased, &removed, &err),
              err);
    assert_int_equal(erased, 0);
    assert_ok(inbox_purge(rig.txn, T0 + INBOX_QUARANTINE_KEEP_MS + 1, 10, &erased, &removed, &err),
              err);
    assert_int_equal(erased, 1);
    assert_false(has_raw(aside));
    assert_ok(inbox_purge(rig.txn, T0 + INBOX_KEEP_MS, 10, &erased, &removed, &err), err);
    assert_int_equal(removed, 0);
    assert_ok(inbox_purge(rig.txn, T0 + INBOX_KEEP_MS + 1, 1, &erased, &removed, &err), err);
    assert_int_equal(removed, 1); /* at most that many */
    assert_ok(inbox_purge(rig.txn, T0 + INBOX_KEEP_MS + 1, 10, &erased, &removed, &err), err);
    assert_int_equal(removed, 3);
    assert_st(inbox_get(conn(), done, false, &r, &err), ST_NOT_FOUND, err);
    assert_true(has_raw(waits)); /* however old */
    /* what came of it stays */
    assert_ok(tokens_find(conn(), t.hash, &found, &err), err);
    assert_int_equal(found.inbox_id, 0);
    assert_ok(held_get(conn(), game, &held, &err), err);
    assert_int_equal(held.inbox_id, 0);
}

/* ---------------------------------------------------------------- held moves */

static void test_one_move_is_held_in_a_game(void **state)
{
    struct held_row held = {.game_id = game,
                            .seat = 3,
                            .user_id = users[3],
                            .state_no = 41,
                            .with_draw = true,
                            .inbox_id = put(1),
                            .received_at = T0 + 1,
                            .release_at = T0 + 2,
                            .created_at = T0 + 3},
                    found;

    (void)state;
    (void)str_copy(held.move, sizeof held.move, "k13l14q");
    assert_st(held_get(conn(), game, &found, &err), ST_NOT_FOUND, err);
    assert_st(held_take(rig.txn, game, 3, &found, &err), ST_NOT_FOUND, err);
    assert_ok(held_put(rig.txn, &held, &err), err);
    assert_st(held_put(rig.txn, &held, &err), ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_MOVE_HELD);
    assert_ok(held_get(conn(), game, &found, &err), err);
    assert_int_equal(found.game_id, game);
    assert_int_equal(found.seat, 3);
    assert_int_equal(found.user_id, users[3]);
    assert_int_equal(found.state_no, 41);
    assert_string_equal(found.move, "k13l14q");
    assert_true(found.with_draw);
    assert_int_equal(found.inbox_id, held.inbox_id);
    assert_int_equal(found.received_at, T0 + 1);
    assert_int_equal(found.release_at, T0 + 2);
    assert_int_equal(found.created_at, T0 + 3);
    assert_ok(held_take(rig.txn, game, 3, &found, &err), err);
    assert_string_equal(found.move, "k13l14q");
    assert_st(held_take(rig.txn, game, 3, &found, &err), ST_NOT_FOUND, err);
}

static void test_each_seat_may_have_a_resignation_held_beside_the_one_move(void **state)
{
    struct held_row held = {.game_id = game,
                            .seat = 2,
                            .kind = HELD_MOVE,
                            .user_id = users[2],
                            .state_no = 41,
                            .received_at = T0 + 1,
                            .release_at = T0 + 2,
                            .created_at = T0 + 3},
                    found, rows[SEAT_COUNT];
    size_t n = 9;

    (void)state;
    assert_ok(held_of_game(conn(), game, rows, &n, &err), err);
    assert_int_equal(n, 0);
    (void)str_copy(held.move, sizeof held.move, "e13e12");
    assert_ok(held_put(rig.txn, &held, &err), err);
    held.seat = 0; /* it has one turn */
    held.user_id = users[0];
    assert_st(held_put(rig.txn, &held, &err), ST_CONFLICT, err);
    held.kind = HELD_RESIGN;
    held.move[0] = '\0';
    for (held.seat = 3; held.seat >= 0; held.seat--) {
        held.user_id = users[held.seat % 2];
        if (held.seat != 2)
            assert_ok(held_put(rig.txn, &held, &err), err);
        assert_st(held_put(rig.txn, &held, &err), ST_CONFLICT, err);
        assert_int_equal(err.reason, REASON_MOVE_HELD);
    }
    assert_ok(held_get(conn(), game, &found, &err), err);
    assert_int_equal(found.seat, 2);
    assert_ok(held_of_game(conn(), game, rows, &n, &err), err);
    assert_int_equal(n, 4);
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        assert_int_equal(rows[seat].seat, seat);
        assert_int_equal(rows[seat].kind, seat == 2 ? HELD_MOVE : HELD_RESIGN);
        assert_string_equal(rows[seat].move, seat == 2 ? "e13e12" : "");
    }
    assert_ok(held_take(rig.txn, game, 2, &found, &err), err);
    assert_st(held_get(conn(), game, &found, &err), ST_NOT_FOUND, err);
    assert_ok(held_take(rig.txn, game, 0, &found, &err), err);
    assert_int_equal(found.user_id, users[0]);
    assert_ok(held_of_game(conn(), game, rows, &n, &err), err);
    assert_int_equal(n, 2);
}

/* ---------------------------------------------------------------- notes, mailboxes, the rest */

static struct note_row note(const char *text)
{
    struct note_row n = {.game_id = game, .user_id = users[0], .ply = 3, .state_no = 9, .at = T0};

    (void)str_copy(n.text, sizeof n.text, text);
    return n;
}

static void test_notes_are_their_writers_alone(void **state)
{
    struct note_row n = note("West will castle"), rows[4];
    int64_t first = 0, id = 0;
    size_t got_n = 0;

    (void)state;
    assert_ok(notes_add(rig.txn, &n, &first, &err), err);
    n = note("ещё одно");
    assert_ok(notes_add(rig.txn, &n, &id, &err), err);
    n.user_id = users[1];
    assert_ok(notes_add(rig.txn, &n, &id, &err), err);
    assert_ok(notes_list(conn(), game, users[0], 0, rows, 4, &got_n, &err), err);
    assert_int_equal(got_n, 2);
    assert_string_equal(rows[0].text, "West will castle");
    assert_int_equal(rows[0].ply, 3);
    assert_int_equal(rows[0].state_no, 9);
    assert_int_equal(rows[0].at, T0);
    assert_ok(notes_list(conn(), game, users[0], first, rows, 4, &got_n, &err), err);
    assert_int_equal(got_n, 1);
    assert_string_equal(rows[0].text, "ещё одно");
    assert_ok(notes_list(conn(), game, users[2], 0, rows, 4, &got_n, &err), err);
    assert_int_equal(got_n, 0);
    n = note("");
    assert_st(notes_add(rig.txn, &n, &id, &err), ST_INVALID, err);
}

static void test_notes_have_a_longest_and_a_most(void **state)
{
    struct note_row n = note("");
    int64_t id = 0;

    (void)state;
    memset(n.text, 'x', NOTE_SIZE - 1); /* 2000 bytes: the struct holds no more */
    n.text[NOTE_SIZE - 1] = '\0';
    assert_ok(notes_add(rig.txn, &n, &id, &err), err);
    n = note("one more");
    for (int i = 1; i < NOTES_A_GAME; i++)
        assert_ok(notes_add(rig.txn, &n, &id, &err), err);
    assert_st(notes_add(rig.txn, &n, &id, &err), ST_ILLEGAL, err);
    assert_int_equal(err.reason, REASON_LIMIT);
    n.user_id = users[1];
    assert_ok(notes_add(rig.txn, &n, &id, &err), err);
}

static void test_a_mailbox_is_remembered_until_it_is_read_no_more(void **state)
{
    struct imap_box_row box = {.name = "club@imap.example/INBOX", .uidvalidity = 7,
                               .last_uid = 12, .updated_at = T0},
                        found;
    int64_t n = -1;

    (void)state;
    assert_st(imap_box_get(conn(), box.name, &found, &err), ST_NOT_FOUND, err);
    assert_ok(imap_box_set(rig.txn, &box, &err), err);
    box.last_uid = INT64_C(4294967295); /* the highest UID there is */
    box.updated_at = T0 + 5;
    assert_ok(imap_box_set(rig.txn, &box, &err), err);
    assert_ok(imap_box_get(conn(), box.name, &found, &err), err);
    assert_string_equal(found.name, box.name);
    assert_int_equal(found.uidvalidity, 7);
    assert_int_equal(found.last_uid, INT64_C(4294967295));
    assert_int_equal(found.updated_at, T0 + 5);
    assert_ok(imap_boxes_purge(rig.txn, T0 + 5, &n, &err), err);
    assert_int_equal(n, 0);
    assert_ok(imap_boxes_purge(rig.txn, T0 + 6, &n, &err), err);
    assert_int_equal(n, 1);
    assert_st(imap_box_get(conn(), box.name, &found, &err), ST_NOT_FOUND, err);
}

static void test_a_user_chooses_how_long_his_moves_are_held(void **state)
{
    struct user_row u;

    (void)state;
    assert_ok(users_get(conn(), users[0], &u, &err), err);
    assert_int_equal(u.hold_ms, -1); /* as the installation says */
    assert_ok(users_set_hold(rig.txn, users[0], 0, T0 + 5, &err), err);
    assert_ok(users_get(conn(), users[0], &u, &err), err);
    assert_int_equal(u.hold_ms, 0); /* not at all */
    assert_int_equal(u.updated_at, T0 + 5);
    assert_ok(users_set_hold(rig.txn, users[0], MS_HOUR, T0 + 6, &err), err);
    assert_ok(users_find_handle(conn(), "n0", &u, &err), err);
    assert_int_equal(u.hold_ms, MS_HOUR);
    assert_ok(users_set_hold(rig.txn, users[0], -1, T0 + 7, &err), err);
    assert_ok(users_get(conn(), users[0], &u, &err), err);
    assert_int_equal(u.hold_ms, -1);
    assert_st(users_set_hold(rig.txn, 4711, 0, T0, &err), ST_NOT_FOUND, err);
}

static void test_an_address_that_wants_no_invitations_is_remembered(void **state)
{
    const unsigned char one[ADDRESS_BLOCK_SIZE] = "abcde", other[ADDRESS_BLOCK_SIZE] = "abcdf";
    bool has = true;

    (void)state;
    assert_ok(address_blocks_has(conn(), one, &has, &err), err);
    assert_false(has);
    assert_ok(address_blocks_put(rig.txn, one, T0, &err), err);
    assert_ok(address_blocks_put(rig.txn, one, T0 + 1, &err), err);
    assert_ok(address_blocks_has(conn(), one, &has, &err), err);
    assert_true(has);
    assert_ok(address_blocks_has(conn(), other, &has, &err), err);
    assert_false(has);
}

/* ---------------------------------------------------------------- what was handed over */

struct said {
    enum notice_class cls;
    int64_t user_id, state_no;
    utc_ms due_at;
};

/* An event of the game. */
static int64_t happen(void)
{
    struct event_row event = EVENT_ROW_INIT;
    struct game_row row;

    assert_ok(games_get(conn(), game, &row, &err), err);
    event.kind = GAME_EVENT_TURN;
    event.seat = 0;
    event.at = T0;
    assert_ok(events_append(rig.txn, &row, &event, false, &err), err);
    assert_ok(games_save(rig.txn, &row, &err), err);
    return event.id;
}

/* A letter that the event has caused; 0: an event of its own. */
static int64_t say_of(int64_t event_id, struct said s)
{
    static int n;
    struct intent_row i = INTENT_ROW_INIT;
    int64_t id = 0;

    (void)snprintf(i.dedupe_key, sizeof i.dedupe_key, "say:%d", n++);
    (void)str_copy(i.template_name, sizeof i.template_name, "turn");
    i.cls = s.cls;
    i.channel = CHANNEL_MAIL;
    i.user_id = s.user_id;
    i.game_id = game;
    i.event_id = event_id != 0 ? event_id : happen();
    i.state_no = s.state_no;
    i.due_at = s.due_at;
    i.created_at = T0;
    i.expires_at = T0 + MS_DAY;
    assert_ok(outbox_put(rig.txn, &i, &id, &err), err);
    return id;
}

static int64_t say(struct said s)
{
    return say_of(0, s);
}

static struct intent_row lease(utc_ms now)
{
    struct intent_row i;

    assert_ok(outbox_claim(rig.txn, CHANNEL_MAIL, now, 600, &i, &err), err);
    return i;
}

static int64_t began; /* seq of the event before the turn's first */

static struct outbox_handover handover(int64_t state_no)
{
    struct outbox_handover h;

    assert_ok(outbox_handover(conn(), game, users[0], began, state_no, &h, &err), err);
    return h;
}

/* T17 */
static void test_whether_a_turns_letter_was_handed_over_is_known(void **state)
{
    struct intent_row i;
    struct game_row row;

    (void)state;
    assert_ok(games_get(conn(), game, &row, &err), err);
    began = row.last_seq + 1;
    assert_false(handover(5).is_wanted);
    assert_int_equal(handover(5).first_at, UTC_NONE);
    (void)say((struct said){NOTICE_TURN, users[0], 5, T0}); /* of what was before */
    assert_false(handover(5).is_wanted);
    (void)say((struct said){NOTICE_WARNING, users[0], 5, T0}); /* another class */
    (void)say((struct said){NOTICE_TURN, users[1], 5, T0});    /* somebody else's */
    (void)say((struct said){NOTICE_TURN, users[0], 4, T0});    /* an earlier turn's */
    assert_false(handover(5).is_wanted);
    (void)say((struct said){NOTICE_START, users[0], 5, T0 + 10});
    assert_true(handover(5).is_wanted);
    assert_true(handover(5).is_waiting);
    assert_int_equal(handover(5).first_at, UTC_NONE);
    for (int k = 0; k < 4; k++) { /* those before it */
        i = lease(T0);
        assert_ok(outbox_sent(rig.txn, i.id, i.attempts, 250, "", 1, T0 + 20 + k, &err), err);
        intent_release(&i);
    }
    i = lease(T0 + 30);
    assert_int_equal(i.state_no, 5);
    assert_true(handover(5).is_waiting); /* being sent is not sent */
    assert_ok(outbox_failed(rig.txn, i.id, i.attempts, 550, "no", 1, T0 + 40, &err), err);
    intent_release(&i);
    assert_true(handover(5).is_wanted);
    assert_false(handover(5).is_waiting);
    assert_int_equal(handover(5).first_at, UTC_NONE);
    /* a later state of the same turn: told twice; the first counts */
    for (int k = 0; k < 2; k++) {
        (void)say((struct said){NOTICE_TURN, users[0], 6 + k, T0 + 50});
        i = lease(T0 + 50 + k);
        assert_ok(outbox_sent(rig.txn, i.id, i.attempts, 250, "", 1, T0 + 60 + k, &err), err);
        intent_release(&i);
    }
    assert_int_equal(handover(5).first_at, T0 + 60);
    assert_int_equal(handover(7).first_at, T0 + 61);
    assert_false(handover(8).is_wanted);
    (void)say((struct said){NOTICE_TURN, users[0], 8, T0 + 70});
    i = lease(T0 + 70);
    assert_ok(outbox_supersede_one(rig.txn, i.id, i.attempts, "unwanted", T0 + 71, &err), err);
    intent_release(&i);
    assert_false(handover(8).is_wanted); /* nobody waits for it */
}

static void test_an_answer_goes_before_all_other_mail(void **state)
{
    struct intent_row i;

    (void)state;
    (void)say((struct said){NOTICE_TURN, users[0], 5, T0});
    (void)say((struct said){NOTICE_ANSWER, users[0], 5, T0 + 9});
    (void)say((struct said){NOTICE_ANSWER, users[0], 5, T0 + 8});
    i = lease(T0 + 8);
    assert_int_equal(i.cls, NOTICE_ANSWER);
    assert_int_equal(i.due_at, T0 + 8);
    intent_release(&i);
    i = lease(T0 + 8); /* the other is not due yet */
    assert_int_equal(i.cls, NOTICE_TURN);
    intent_release(&i);
    i = lease(T0 + 9);
    assert_int_equal(i.cls, NOTICE_ANSWER);
    intent_release(&i);
}

static void test_letters_that_wait_may_be_hurried(void **state)
{
    int64_t a = say((struct said){NOTICE_TURN, users[0], 5, T0 + 100}), n = -1;
    int64_t b = say((struct said){NOTICE_TURN, users[0], 6, T0 + 100});
    int64_t c = say((struct said){NOTICE_RESULT, users[1], 5, T0 + 100});
    int64_t d = say((struct said){NOTICE_TURN, users[0], 5, T0 + 1});
    struct intent_row i;

    (void)state;
    assert_ok(outbox_hurry_game(rig.txn, game, NOTICE_TURN, 6, T0 + 10, &n, &err), err);
    assert_int_equal(n, 1); /* d is due already */
    assert_ok(outbox_get(conn(), a, &i, &err), err);
    assert_int_equal(i.due_at, T0 + 10);
    intent_release(&i);
    assert_ok(outbox_get(conn(), d, &i, &err), err);
    assert_int_equal(i.due_at, T0 + 1);
    intent_release(&i);
    assert_ok(outbox_hurry_user(rig.txn, users[0], T0 + 5, &n, &err), err);
    assert_int_equal(n, 2); /* a and b; c is another's */
    assert_ok(outbox_get(conn(), b, &i, &err), err);
    assert_int_equal(i.due_at, T0 + 5);
    intent_release(&i);
    assert_ok(outbox_get(conn(), c, &i, &err), err);
    assert_int_equal(i.due_at, T0 + 100);
    intent_release(&i);
    assert_ok(outbox_hurry_user(rig.txn, users[0], T0 + 5, NULL, &err), err);
}

static void test_the_newest_letter_about_a_state_is_found(void **state)
{
    struct intent_row i;
    int64_t event = happen(), id;
    int64_t old = say_of(event, (struct said){NOTICE_TURN, users[0], 5, T0});

    (void)state;
    id = say_of(event, (struct said){NOTICE_TURN, users[0], 5, T0});
    assert_true(id > old);
    (void)say((struct said){NOTICE_TURN, users[0], 5, T0}); /* of another event */
    assert_ok(outbox_find_mail(conn(), event, users[0], NOTICE_TURN, 5, &i, &err), err);
    assert_int_equal(i.id, id);
    assert_null(i.params);
    assert_null(i.bytes);
    assert_st(outbox_find_mail(conn(), event, users[0], NOTICE_TURN, 6, &i, &err), ST_NOT_FOUND,
              err);
    assert_st(outbox_find_mail(conn(), event, users[1], NOTICE_TURN, 5, &i, &err), ST_NOT_FOUND,
              err);
    assert_st(outbox_find_mail(conn(), event, users[0], NOTICE_DRAW, 5, &i, &err), ST_NOT_FOUND,
              err);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, up, down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(test_a_token_is_found_as_it_was_put),
        EACH(test_a_token_keeps_its_first_use_and_may_be_revoked),
        EACH(test_tokens_that_expired_long_ago_are_removed),
        EACH(test_a_letter_comes_back_as_it_was_put),
        EACH(test_the_same_letter_again_is_no_new_one),
        EACH(test_odd_letters_are_kept_and_huge_ones_refused),
        EACH(test_letters_are_claimed_in_the_order_in_which_they_came),
        EACH(test_a_letter_that_was_claimed_before_is_claimed_alone),
        EACH(test_what_a_dead_process_had_claimed_is_read_again),
        EACH(test_a_letter_is_settled_once),
        EACH(test_a_held_letter_becomes_done_by_its_owners_word),
        EACH(test_letters_wait_from_their_acceptance_until_their_verdict),
        EACH(test_what_was_set_aside_may_be_read_anew),
        EACH(test_answers_and_refusals_are_counted_by_user_and_time),
        EACH(test_the_list_goes_backwards_and_filters),
        EACH(test_bytes_are_erased_and_old_rows_removed_each_at_its_time),
        EACH(test_one_move_is_held_in_a_game),
        EACH(test_each_seat_may_have_a_resignation_held_beside_the_one_move),
        EACH(test_notes_are_their_writers_alone),
        EACH(test_notes_have_a_longest_and_a_most),
        EACH(test_a_mailbox_is_remembered_until_it_is_read_no_more),
        EACH(test_a_user_chooses_how_long_his_moves_are_held),
        EACH(test_an_address_that_wants_no_invitations_is_remembered),
        EACH(test_whether_a_turns_letter_was_handed_over_is_known),
        EACH(test_an_answer_goes_before_all_other_mail),
        EACH(test_letters_that_wait_may_be_hurried),
        EACH(test_the_newest_letter_about_a_state_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

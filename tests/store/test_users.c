/* store/test_users.c - accounts, addresses, what lets people in, preferences, keys. */
#include "store/rig.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "store/keys.h"
#include "store/logins.h"
#include "store/outbox.h"
#include "store/prefs.h"
#include "store/webhooks.h"

static struct rig rig;
static struct err err;
static int64_t anna;

static int up(void **state)
{
    (void)state;
    rig_open(&rig, NULL);
    anna = rig_user(&rig, "anna");
    rig_begin(&rig);
    return 0;
}

static int down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static struct store_conn *conn(void)
{
    return store_txn_conn(rig.txn);
}

/* ---------------------------------------------------------------- accounts */

static void test_an_account_comes_back_as_it_was_made(void **state)
{
    struct user_row user = {.verified_at = T0 + 5, .is_operator = true}, got;
    int64_t id = 0;

    (void)state;
    (void)str_copy(user.handle, sizeof user.handle, "Boris");
    (void)str_copy(user.handle_key, sizeof user.handle_key, "boris");
    (void)str_copy(user.display_name, sizeof user.display_name, "Борис");
    (void)str_copy(user.zone, sizeof user.zone, "Asia/Kolkata");
    (void)str_copy(user.language, sizeof user.language, "ru");
    (void)str_copy(user.password_hash, sizeof user.password_hash, "$argon2id$x");
    (void)str_copy(user.address, sizeof user.address, "Boris@Example.org");
    (void)str_copy(user.address_key, sizeof user.address_key, "boris@example.org");
    assert_ok(users_create(rig.txn, &user, T0 + 7, &id, &err), err);
    assert_ok(users_find_handle(conn(), "boris", &got, &err), err);
    assert_int_equal(got.id, id);
    assert_string_equal(got.handle, "Boris");
    assert_string_equal(got.display_name, "Борис");
    assert_string_equal(got.zone, "Asia/Kolkata");
    assert_string_equal(got.language, "ru");
    assert_string_equal(got.password_hash, "$argon2id$x");
    assert_string_equal(got.address, "Boris@Example.org");
    assert_true(got.is_operator);
    assert_int_equal(got.verified_at, T0 + 5);
    assert_int_equal(got.created_at, T0 + 7);
    assert_int_equal(got.disabled_at, UTC_NONE);
    assert_int_equal(got.address_state, ADDRESS_OK);
    assert_ok(users_find_address(conn(), "boris@example.org", &got, &err), err);
    assert_int_equal(got.id, id);
}

static void test_handles_and_proved_addresses_are_unique(void **state)
{
    struct user_row user = {.verified_at = UTC_NONE}, got;
    int64_t id = -5, other = 0;

    (void)state;
    (void)str_copy(user.handle, sizeof user.handle, "Anna");
    (void)str_copy(user.handle_key, sizeof user.handle_key, "anna");
    assert_st(users_create(rig.txn, &user, T0, &id, &err), ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_HANDLE_TAKEN);
    assert_int_equal(id, -5); /* untouched */

    /* an address that is not proved yet may be claimed twice; proving it may not */
    (void)str_copy(user.handle_key, sizeof user.handle_key, "anna2");
    (void)str_copy(user.address, sizeof user.address, "anna@example.org");
    (void)str_copy(user.address_key, sizeof user.address_key, "anna@example.org");
    assert_ok(users_create(rig.txn, &user, T0, &other, &err), err);
    assert_st(users_set_verified(rig.txn, other, T0, &err), ST_CONFLICT, err);
    assert_int_equal(err.reason, REASON_ALREADY_DONE);
    assert_st(users_set_address(rig.txn, other, "anna@example.org", "anna@example.org", T0, T0,
                                &err),
              ST_CONFLICT, err);
    assert_ok(users_find_address(conn(), "anna@example.org", &got, &err), err);
    assert_int_equal(got.id, anna);
}

static void test_a_profile_changes_only_what_is_named(void **state)
{
    struct user_row got;

    (void)state;
    assert_ok(users_set_profile(rig.txn, anna, NULL, "UTC", NULL, T0 + 9, &err), err);
    assert_ok(users_get(conn(), anna, &got, &err), err);
    assert_string_equal(got.zone, "UTC");
    assert_string_equal(got.display_name, "anna");
    assert_int_equal(got.updated_at, T0 + 9);
    assert_st(users_set_profile(rig.txn, 999, "x", NULL, NULL, T0, &err), ST_NOT_FOUND, err);
    assert_int_equal(err.reason, REASON_NO_SUCH_USER);
    assert_ok(users_set_password(rig.txn, anna, "$h", T0, &err), err);
    assert_ok(users_set_operator(rig.txn, anna, true, T0, &err), err);
    assert_ok(users_get(conn(), anna, &got, &err), err);
    assert_string_equal(got.password_hash, "$h");
    assert_true(got.is_operator);
    assert_ok(users_set_password(rig.txn, anna, NULL, T0, &err), err);
    assert_ok(users_get(conn(), anna, &got, &err), err);
    assert_string_equal(got.password_hash, "");
}

static void test_a_text_that_is_too_long_is_refused_not_cut(void **state)
{
    char name[DISPLAY_NAME_SIZE + 1];
    struct user_row got;

    (void)state;
    memset(name, 'x', sizeof name);
    name[DISPLAY_NAME_SIZE] = '\0';
    assert_st(users_set_profile(rig.txn, anna, name, NULL, NULL, T0, &err), ST_TOO_LARGE, err);
    name[DISPLAY_NAME_SIZE - 1] = '\0';
    assert_ok(users_set_profile(rig.txn, anna, name, NULL, NULL, T0, &err), err);
    assert_ok(users_get(conn(), anna, &got, &err), err);
    assert_int_equal(strlen(got.display_name), DISPLAY_NAME_SIZE - 1);
}

static void test_users_are_listed_in_pages(void **state)
{
    struct user_row rows[2];
    size_t n = 0;

    (void)state;
    (void)rig_user(&rig, "zoe");
    (void)rig_user(&rig, "mila");
    assert_ok(users_list(conn(), "", rows, 2, &n, &err), err);
    assert_int_equal(n, 2);
    assert_string_equal(rows[0].handle, "anna");
    assert_string_equal(rows[1].handle, "mila");
    assert_ok(users_list(conn(), rows[1].handle_key, rows, 2, &n, &err), err);
    assert_int_equal(n, 1);
    assert_string_equal(rows[0].handle, "zoe");
}

static void test_disabling_shuts_every_door(void **state)
{
    unsigned char hash[STORE_HASH_SIZE];
    struct session_row session;
    struct api_token_row token;
    struct login_link_row link;
    struct webhook_row hook = {.user_id = anna, .secret_len = 24, .created_at = T0}, got;
    int64_t id = 0, hook_id = 0;

    (void)state;
    (void)str_copy(hook.url, sizeof hook.url, "https://example.org/h");
    rig_hash(1, hash);
    assert_ok(sessions_create(rig.txn, anna, LOGIN_BY_LINK, "x", hash, T0, T0 + MS_DAY, &id, &err),
              err);
    assert_ok(api_tokens_create(rig.txn, anna, "bot", SCOPE_READ, hash, T0, UTC_NONE, &id, &err),
              err);
    assert_ok(login_links_create(rig.txn, anna, hash, NULL, T0, T0 + MS_DAY, &id, &err), err);
    assert_ok(webhooks_create(rig.txn, &hook, &hook_id, &err), err);
    assert_ok(users_set_disabled(rig.txn, anna, true, T0 + 1, &err), err);
    assert_ok(sessions_find(conn(), hash, &session, &err), err);
    assert_int_equal(session.revoked_at, T0 + 1);
    assert_ok(api_tokens_find(conn(), hash, &token, &err), err);
    assert_int_equal(token.revoked_at, T0 + 1);
    assert_st(login_links_use(rig.txn, hash, T0 + 2, &link, &err), ST_GONE, err);
    assert_ok(webhooks_get(conn(), hook_id, &got, &err), err);
    assert_int_equal(got.state, WEBHOOK_OFF);
    assert_ok(users_set_disabled(rig.txn, anna, false, T0 + 3, &err), err);
    assert_ok(sessions_find(conn(), hash, &session, &err), err);
    assert_int_equal(session.revoked_at, T0 + 1); /* what was shut stays shut */
}

static void test_an_address_is_suspended_by_one_hard_or_three_soft_failures(void **state)
{
    struct user_row got;
    bool suspended = true;
    utc_ms day = T0;

    (void)state;
    for (int i = 0; i < 2; i++, day += MS_DAY) {
        assert_ok(users_bounce(rig.txn, anna, false, 3, "4.2.2 full", day, &suspended, &err), err);
        assert_false(suspended);
        /* once more on the same day does not count */
        assert_ok(users_bounce(rig.txn, anna, false, 3, "4.2.2", day + MS_HOUR, &suspended, &err),
                  err);
        assert_false(suspended);
    }
    assert_ok(users_bounce(rig.txn, anna, false, 3, "4.2.2", day, &suspended, &err), err);
    assert_true(suspended);
    assert_ok(users_get(conn(), anna, &got, &err), err);
    assert_int_equal(got.address_state, ADDRESS_SUSPENDED);
    assert_ok(users_bounce(rig.txn, anna, true, 3, "5.1.1", day, &suspended, &err), err);
    assert_false(suspended); /* it was already */
    assert_ok(users_reached(rig.txn, anna, day, &err), err);
    assert_ok(users_get(conn(), anna, &got, &err), err);
    assert_int_equal(got.address_state, ADDRESS_OK);
    assert_int_equal(got.bounces, 0);
    assert_ok(users_bounce(rig.txn, anna, true, 3, "5.1.1 unknown", day, &suspended, &err), err);
    assert_true(suspended);
}

/* Nothing tells that a letter arrived; that none has come back for long is the next best. */
static void test_soft_failures_are_forgotten_after_two_quiet_weeks(void **state)
{
    const int64_t gap[] = {USERS_BOUNCE_FORGOTTEN_MS, USERS_BOUNCE_FORGOTTEN_MS + 1};
    const int wanted[] = {3, 1};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(gap); i++) {
        utc_ms day = T0;
        struct user_row got;
        bool suspended = false;

        assert_ok(users_reached(rig.txn, anna, day, &err), err);
        for (int k = 0; k < 2; k++, day += MS_DAY)
            assert_ok(users_bounce(rig.txn, anna, false, 4, "4.2.2", day, &suspended, &err), err);
        day += gap[i] - MS_DAY;
        assert_ok(users_bounce(rig.txn, anna, false, 4, "4.2.2", day, &suspended, &err), err);
        assert_ok(users_get(conn(), anna, &got, &err), err);
        assert_int_equal(got.bounces, wanted[i]);
        assert_true(got.bounced_at == day);
    }
}

static void test_a_change_of_address_waits_for_both_sides(void **state)
{
    unsigned char old_hash[STORE_HASH_SIZE], new_hash[STORE_HASH_SIZE], more[STORE_HASH_SIZE];
    struct address_change_row row;
    int64_t first = 0, second = 0, n = 0;
    bool is_old = false;

    (void)state;
    rig_hash(1, old_hash);
    rig_hash(2, new_hash);
    rig_hash(3, more);
    assert_ok(address_changes_begin(rig.txn, anna, "a@b.org", "a@b.org", old_hash, new_hash, T0,
                                    T0 + MS_DAY, &first, &err),
              err);
    assert_ok(address_changes_find(conn(), old_hash, &row, &is_old, &err), err);
    assert_true(is_old && row.has_old);
    assert_ok(address_changes_confirm(rig.txn, first, true, T0 + 1, &err), err);
    assert_ok(address_changes_pending(conn(), anna, &row, &err), err);
    assert_int_equal(row.old_confirmed_at, T0 + 1);
    assert_int_equal(row.new_confirmed_at, UTC_NONE);
    assert_ok(address_changes_set_token(rig.txn, first, false, more, &err), err);
    assert_st(address_changes_find(conn(), new_hash, &row, &is_old, &err), ST_NOT_FOUND, err);
    assert_ok(address_changes_find(conn(), more, &row, &is_old, &err), err);
    assert_false(is_old);
    /* another one takes its place */
    rig_hash(4, old_hash);
    rig_hash(5, new_hash);
    assert_ok(address_changes_begin(rig.txn, anna, "c@d.org", "c@d.org", NULL, new_hash, T0 + 2,
                                    T0 + MS_DAY, &second, &err),
              err);
    assert_ok(address_changes_get(conn(), first, &row, &err), err);
    assert_int_equal(row.state, ADDRESS_CHANGE_CANCELLED);
    assert_st(address_changes_confirm(rig.txn, first, false, T0, &err), ST_CONFLICT, err);
    assert_ok(address_changes_settle(rig.txn, second, ADDRESS_CHANGE_DONE, &err), err);
    assert_st(address_changes_settle(rig.txn, second, ADDRESS_CHANGE_DONE, &err), ST_CONFLICT,
              err);
    assert_st(address_changes_pending(conn(), anna, &row, &err), ST_NOT_FOUND, err);
    assert_ok(address_changes_count(conn(), anna, T0 + 1, &n, &err), err);
    assert_int_equal(n, 1);
}

/* ---------------------------------------------------------------- logging in */

static void test_a_link_logs_in_once_and_before_its_time_is_over(void **state)
{
    struct intent_row mailed = INTENT_ROW_INIT;
    unsigned char hash[STORE_HASH_SIZE], later[STORE_HASH_SIZE], cookie[STORE_HASH_SIZE];
    struct login_link_row row;
    int64_t id = 0, n = 0;

    (void)state;
    rig_hash(1, hash);
    rig_hash(2, later);
    rig_hash(3, cookie);
    assert_ok(login_links_create(rig.txn, anna, hash, cookie, T0, T0 + 10, &id, &err), err);
    /* the real token comes when the letter is composed */
    assert_ok(login_links_set_token(rig.txn, id, later, T0 + 100, &err), err);
    assert_st(login_links_use(rig.txn, hash, T0 + 1, &row, &err), ST_GONE, err);
    assert_st(login_links_use(rig.txn, later, T0 + 100, &row, &err), ST_GONE, err);
    assert_int_equal(err.reason, REASON_LINK_EXPIRED);
    assert_ok(login_links_use(rig.txn, later, T0 + 99, &row, &err), err);
    assert_int_equal(row.user_id, anna);
    assert_true(row.has_prelogin);
    assert_memory_equal(row.prelogin_hash, cookie, STORE_HASH_SIZE);
    assert_st(login_links_use(rig.txn, later, T0 + 99, &row, &err), ST_GONE, err);
    assert_st(login_links_set_token(rig.txn, id, hash, T0 + 200, &err), ST_GONE, err);
    assert_ok(login_links_find(conn(), later, &row, &err), err);
    assert_int_equal(row.used_at, T0 + 99);
    assert_ok(login_links_count(conn(), anna, T0, &n, &err), err);
    assert_int_equal(n, 0); /* it was handed over by its maker, not mailed */
    (void)snprintf(mailed.dedupe_key, sizeof mailed.dedupe_key, "login:%lld:0", (long long)id);
    (void)str_copy(mailed.template_name, sizeof mailed.template_name, "login");
    mailed.user_id = anna;
    assert_ok(outbox_put(rig.txn, &mailed, NULL, &err), err);
    assert_ok(login_links_count(conn(), anna, T0, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(login_links_count(conn(), anna, T0 + 1, &n, &err), err);
    assert_int_equal(n, 0);
}

static void test_a_registration_becomes_an_account_once(void **state)
{
    unsigned char hash[STORE_HASH_SIZE];
    struct registration_row row = {.created_at = T0, .expires_at = T0 + 100}, got;
    int64_t id = 0, n = 0;

    (void)state;
    rig_hash(1, hash);
    (void)str_copy(row.handle, sizeof row.handle, "Rita");
    (void)str_copy(row.handle_key, sizeof row.handle_key, "rita");
    (void)str_copy(row.address, sizeof row.address, "rita@example.org");
    (void)str_copy(row.address_key, sizeof row.address_key, "rita@example.org");
    (void)str_copy(row.zone, sizeof row.zone, "UTC");
    (void)str_copy(row.language, sizeof row.language, "ro");
    assert_ok(registrations_create(rig.txn, &row, hash, &id, &err), err);
    assert_ok(registrations_get(conn(), id, &got, &err), err);
    assert_string_equal(got.language, "ro");
    assert_int_equal(got.used_at, UTC_NONE);
    assert_ok(registrations_use(rig.txn, hash, T0 + 99, &got, &err), err);
    assert_string_equal(got.handle, "Rita");
    assert_st(registrations_use(rig.txn, hash, T0 + 99, &got, &err), ST_GONE, err);
    assert_ok(registrations_count(conn(), "rita@example.org", T0, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(registrations_count(conn(), NULL, T0, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(registrations_count(conn(), NULL, T0 + 1, &n, &err), err);
    assert_int_equal(n, 0);
}

static void test_an_invite_is_good_until_used_or_expired(void **state)
{
    unsigned char hash[STORE_HASH_SIZE];
    struct invite_row row;
    int64_t ids[2] = {0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        rig_hash(i, hash);
        assert_ok(invites_create(rig.txn, anna, i ? NULL : "x@y.org", "for X", hash, T0, T0 + 100,
                                 &ids[i], &err),
                  err);
    }
    assert_ok(invites_use(rig.txn, ids[0], anna, T0 + 99, &err), err);
    assert_st(invites_use(rig.txn, ids[0], anna, T0 + 99, &err), ST_GONE, err);
    assert_st(invites_use(rig.txn, ids[1], anna, T0 + 100, &err), ST_GONE, err);
    rig_hash(0, hash);
    assert_ok(invites_find(conn(), hash, &row, &err), err);
    assert_string_equal(row.address, "x@y.org");
    assert_string_equal(row.note, "for X");
    assert_int_equal(row.used_by, anna);
}

static void test_an_invite_that_is_taken_back_is_good_no_more(void **state)
{
    unsigned char hash[STORE_HASH_SIZE];
    struct invite_row row, rows[3];
    int64_t ids[3] = {0};
    size_t n = 0;

    (void)state;
    for (int i = 0; i < 3; i++) {
        rig_hash(i, hash);
        assert_ok(invites_create(rig.txn, anna, NULL, NULL, hash, T0, T0 + 100, &ids[i], &err),
                  err);
    }
    assert_ok(invites_revoke(rig.txn, ids[0], T0 + 1, &err), err);
    assert_st(invites_revoke(rig.txn, ids[0], T0 + 2, &err), ST_GONE, err);
    assert_st(invites_use(rig.txn, ids[0], anna, T0 + 2, &err), ST_GONE, err);
    assert_ok(invites_use(rig.txn, ids[1], anna, T0 + 2, &err), err);
    assert_st(invites_revoke(rig.txn, ids[1], T0 + 3, &err), ST_GONE, err); /* it was used */
    assert_ok(invites_get(conn(), ids[0], &row, &err), err);
    assert_int_equal(row.revoked_at, T0 + 1);
    assert_int_equal(row.used_at, UTC_NONE);
    assert_st(invites_get(conn(), ids[2] + 1, &row, &err), ST_NOT_FOUND, err);
    /* Newest first, page by page. */
    assert_ok(invites_list(conn(), 0, rows, 2, &n, &err), err);
    assert_int_equal(n, 2);
    assert_int_equal(rows[0].id, ids[2]);
    assert_int_equal(rows[1].id, ids[1]);
    assert_ok(invites_list(conn(), rows[1].id, rows, 2, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].id, ids[0]);
}

static void test_sessions_are_listed_touched_and_revoked_by_their_owner_only(void **state)
{
    unsigned char hash[STORE_HASH_SIZE];
    char agent[400];
    struct session_row row, rows[4];
    int64_t ids[3] = {0}, bela = rig_user(&rig, "bela");
    size_t n = 0;

    (void)state;
    memset(agent, 'm', sizeof agent - 1);
    agent[sizeof agent - 1] = '\0';
    for (int i = 0; i < 3; i++) {
        rig_hash(i, hash);
        assert_ok(sessions_create(rig.txn, anna, LOGIN_BY_PASSWORD, agent, hash, T0,
                                  T0 + 100 * (i + 1), &ids[i], &err),
                  err);
    }
    assert_ok(sessions_find(conn(), hash, &row, &err), err);
    assert_int_equal(strlen(row.agent), AGENT_SIZE - 1); /* this one is cut */
    assert_int_equal(row.method, LOGIN_BY_PASSWORD);
    assert_ok(sessions_list(conn(), anna, T0 + 100, rows, 4, &n, &err), err);
    assert_int_equal(n, 2); /* the first has expired */
    assert_st(sessions_revoke(rig.txn, ids[2], bela, T0, &err), ST_NOT_FOUND, err);
    assert_ok(sessions_touch(rig.txn, ids[1], T0 + 50, T0 + 999, &err), err);
    assert_ok(sessions_revoke_all(rig.txn, anna, ids[1], T0 + 51, &err), err);
    assert_ok(sessions_list(conn(), anna, T0 + 60, rows, 4, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].id, ids[1]);
    assert_int_equal(rows[0].last_used_at, T0 + 50);
    assert_int_equal(rows[0].expires_at, T0 + 999);
    assert_ok(sessions_revoke(rig.txn, ids[1], anna, T0 + 70, &err), err);
    assert_st(sessions_touch(rig.txn, ids[1], T0 + 80, T0 + 1999, &err), ST_NOT_FOUND, err);
}

static void test_api_tokens_keep_their_scopes(void **state)
{
    unsigned char hash[STORE_HASH_SIZE];
    struct api_token_row row, rows[4];
    int64_t id = 0;
    size_t n = 0;

    (void)state;
    rig_hash(1, hash);
    assert_ok(api_tokens_create(rig.txn, anna, "bot", SCOPE_READ | SCOPE_PLAY, hash, T0, UTC_NONE,
                                &id, &err),
              err);
    assert_ok(api_tokens_find(conn(), hash, &row, &err), err);
    assert_int_equal(row.scopes, 3);
    assert_int_equal(row.last_used_at, UTC_NONE);
    assert_int_equal(row.expires_at, UTC_NONE);
    assert_ok(api_tokens_touch(rig.txn, id, T0 + 5, &err), err);
    assert_ok(api_tokens_list(conn(), anna, rows, 4, &n, &err), err);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].last_used_at, T0 + 5);
    assert_ok(api_tokens_revoke(rig.txn, id, anna, T0 + 6, &err), err);
    assert_ok(api_tokens_list(conn(), anna, rows, 4, &n, &err), err);
    assert_int_equal(n, 0);
    rig_hash(2, hash);
    assert_st(api_tokens_create(rig.txn, anna, "none", 0, hash, T0, UTC_NONE, &id, &err),
              ST_INTERNAL, err); /* the schema's CHECK */
}

static void test_what_has_expired_long_ago_is_purged(void **state)
{
    unsigned char hash[STORE_HASH_SIZE];
    struct login_link_row row;
    int64_t id = 0, n = 0;

    (void)state;
    for (int i = 0; i < 5; i++) {
        rig_hash(i, hash);
        assert_ok(login_links_create(rig.txn, anna, hash, NULL, T0, T0 + i, &id, &err), err);
        assert_ok(sessions_create(rig.txn, anna, LOGIN_BY_LINK, "", hash, T0, T0 + i, &id, &err),
                  err);
    }
    assert_ok(logins_purge(rig.txn, T0 + 3, 2, &n, &err), err);
    assert_int_equal(n, 4);
    assert_ok(logins_purge(rig.txn, T0 + 3, 2, &n, &err), err);
    assert_int_equal(n, 2);
    assert_ok(logins_purge(rig.txn, T0 + 3, 2, &n, &err), err);
    assert_int_equal(n, 0);
    rig_hash(3, hash);
    assert_ok(login_links_find(conn(), hash, &row, &err), err); /* expires at, not before, T0 + 3 */
}

/* ---------------------------------------------------------------- preferences and keys */

static void test_preferences_are_default_until_set(void **state)
{
    struct prefs prefs;

    (void)state;
    assert_ok(prefs_get(conn(), anna, &prefs, &err), err);
    assert_int_equal(prefs.at[NOTICE_TURN][CHANNEL_MAIL], PREF_DEFAULT);
    assert_ok(prefs_set(rig.txn, anna, NOTICE_TURN, CHANNEL_MAIL, PREF_OFF, PREF_VIA_UNSUBSCRIBE,
                        T0, &err),
              err);
    assert_ok(prefs_set(rig.txn, anna, NOTICE_TURN, CHANNEL_WEBHOOK, PREF_ON, PREF_VIA_SETTINGS,
                        T0, &err),
              err);
    assert_ok(prefs_get(conn(), anna, &prefs, &err), err);
    assert_int_equal(prefs.at[NOTICE_TURN][CHANNEL_MAIL], PREF_OFF);
    assert_int_equal(prefs.at[NOTICE_TURN][CHANNEL_WEBHOOK], PREF_ON);
    assert_int_equal(prefs.at[NOTICE_WARNING][CHANNEL_MAIL], PREF_DEFAULT);
    assert_ok(prefs_set(rig.txn, anna, NOTICE_TURN, CHANNEL_MAIL, PREF_DEFAULT, PREF_VIA_SETTINGS,
                        T0, &err),
              err);
    assert_ok(prefs_get(conn(), anna, &prefs, &err), err);
    assert_int_equal(prefs.at[NOTICE_TURN][CHANNEL_MAIL], PREF_DEFAULT);
}

static void fill(void *arg, void *bytes, size_t n)
{
    memset(bytes, ++*(unsigned char *)arg, n);
}

static void test_a_key_is_made_once_and_stays(void **state)
{
    unsigned char drawn = 0, key[KEY_SIZE], again[KEY_SIZE];
    struct entropy entropy = {.fill = fill, .arg = &drawn};

    (void)state;
    assert_st(keys_get(conn(), "unsubscribe", key, &err), ST_NOT_FOUND, err);
    assert_ok(keys_need(rig.txn, "unsubscribe", T0, &entropy, key, &err), err);
    assert_ok(keys_need(rig.txn, "unsubscribe", T0, &entropy, again, &err), err);
    assert_memory_equal(key, again, KEY_SIZE);
    assert_int_equal(drawn, 1);
    assert_ok(keys_need(rig.txn, "cursor", T0, &entropy, again, &err), err);
    assert_memory_not_equal(key, again, KEY_SIZE);
    assert_ok(keys_get(conn(), "unsubscribe", again, &err), err);
    assert_memory_equal(key, again, KEY_SIZE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, up, down)
    const struct CMUnitTest tests[] = {
        TEST(test_an_account_comes_back_as_it_was_made),
        TEST(test_handles_and_proved_addresses_are_unique),
        TEST(test_a_profile_changes_only_what_is_named),
        TEST(test_a_text_that_is_too_long_is_refused_not_cut),
        TEST(test_users_are_listed_in_pages),
        TEST(test_disabling_shuts_every_door),
        TEST(test_an_address_is_suspended_by_one_hard_or_three_soft_failures),
        TEST(test_soft_failures_are_forgotten_after_two_quiet_weeks),
        TEST(test_a_change_of_address_waits_for_both_sides),
        TEST(test_a_link_logs_in_once_and_before_its_time_is_over),
        TEST(test_a_registration_becomes_an_account_once),
        TEST(test_an_invite_is_good_until_used_or_expired),
        TEST(test_an_invite_that_is_taken_back_is_good_no_more),
        TEST(test_sessions_are_listed_touched_and_revoked_by_their_owner_only),
        TEST(test_api_tokens_keep_their_scopes),
        TEST(test_what_has_expired_long_ago_is_purged),
        TEST(test_preferences_are_default_until_set),
        TEST(test_a_key_is_made_once_and_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

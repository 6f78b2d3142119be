#include "support/harness.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "clock/zone.h"
#include "people/people.h"
#include "store/audit.h"
#include "store/games.h"
#include "store/outage.h"
#include "store/outbox.h"

#define T0 INT64_C(1800000000000)

/* A fresh file for each test, and the rules of its installation. */
struct fixture {
    char folder[32];
    struct store *store;
    struct store_reader *reader;
    struct store_conn *conn;
    struct people p;
    uint32_t seed;
};

static void fill(void *arg, void *bytes, size_t n)
{
    struct fixture *f = arg;

    for (size_t i = 0; i < n; i++) { /* foreseeable, and never twice the same */
        f->seed = f->seed * 1664525u + 1013904223u;
        ((unsigned char *)bytes)[i] = (unsigned char)(f->seed >> 24);
    }
}

static int fixture_make(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    char path[64];
    struct store_options options = {.path = path};
    struct err err = ERR_INIT;

    assert_non_null(f);
    strcpy(f->folder, "/tmp/fh-people-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(path, sizeof path, "%s/club.db", f->folder);
    assert_ok(store_open(&options, &f->store, &err), err);
    assert_ok(store_reader_open(f->store, &f->reader, &err), err);
    f->conn = store_reader_conn(f->reader);
    f->p = (struct people){.entropy = {.fill = fill, .arg = f},
                           .zones = zone_cache_new(NULL),
                           .door = DOOR_OPEN,
                           .default_zone = "UTC",
                           .default_language = "en",
                           .letters_an_hour = 3,
                           .accounts_an_hour = 50,
                           .tokens_max = 3};
    *state = f;
    return 0;
}

static int fixture_remove(void **state)
{
    static const char *const names[] = {"club.db", "club.db-wal", "club.db-shm", "club.db.lock"};
    struct fixture *f = *state;
    char path[64];

    store_reader_close(f->reader);
    store_close(f->store);
    zone_cache_free(f->p.zones);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(path, sizeof path, "%s/%s", f->folder, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(f->folder);
    free(f);
    return 0;
}

/* Begin and end one command's transaction, which is kept only when keep. */
static struct store_txn *command_begin(struct fixture *f)
{
    struct store_txn *txn = NULL;
    struct err err = ERR_INIT;

    assert_ok(store_begin(f->store, &txn, &err), err);
    return txn;
}

static void command_end(struct store_txn *txn, bool keep)
{
    struct err err = ERR_INIT;

    if (keep)
        assert_ok(store_commit(txn, &err), err);
    store_end(txn);
}

/* Run a call on txn, with e for its error, as a command of its own. */
#define COMMAND_OK(f, call)                                                                        \
    do {                                                                                           \
        struct store_txn *txn = command_begin(f);                                                  \
        struct err why = ERR_INIT, *e = &why;                                                      \
        enum status got = (call);                                                                  \
        if (got != ST_OK)                                                                          \
            fail_msg("%s: %s: %s", #call, status_str(got), why.text);                              \
        command_end(txn, true);                                                                    \
    } while (0)

#define COMMAND_FAILS(f, want, call)                                                               \
    do {                                                                                           \
        struct store_txn *txn = command_begin(f);                                                  \
        struct err why = ERR_INIT, *e = &why;                                                      \
        enum status got = (call);                                                                  \
        if (got == ST_OK || why.reason != REASON_##want)                                           \
            fail_msg("%s: %s: %s", #call, reason_slug(why.reason), why.text);                      \
        command_end(txn, false);                                                                   \
    } while (0)

/* The next letter that waits: its template and the number in its params; and it is gone. */
struct letter {
    char template_name[TEMPLATE_SIZE];
    char address[ADDRESS_SIZE];
    int64_t user_id, row_id;
    enum notice_class cls;
};

static bool letter_next(struct fixture *f, utc_ms now, struct letter *ret)
{
    struct intent_row intent = INTENT_ROW_INIT;
    struct store_txn *claiming = command_begin(f);
    const char *colon;
    enum status st = outbox_claim(claiming, CHANNEL_MAIL, now, MS_MINUTE, &intent, NULL);

    command_end(claiming, st == ST_OK);
    if (st == ST_NOT_FOUND)
        return false;
    assert_int_equal(st, ST_OK);
    memset(ret, 0, sizeof *ret);
    str_copy(ret->template_name, sizeof ret->template_name, intent.template_name);
    str_copy(ret->address, sizeof ret->address, intent.address);
    ret->user_id = intent.user_id;
    ret->cls = intent.cls;
    colon = intent.params ? strchr(intent.params, ':') : NULL;
    ret->row_id = colon ? strtoll(colon + 1, NULL, 10) : 0;
    COMMAND_OK(f, outbox_sent(txn, intent.id, intent.attempts, 250, "ok", 1, now, e));
    intent_release(&intent);
    return true;
}

static void assert_no_letter(struct fixture *f, utc_ms now)
{
    struct letter letter;

    if (letter_next(f, now, &letter))
        fail_msg("a letter: %s", letter.template_name);
}

/* The next letter is of this template; its link's secret, as the composer would mint it. */
static void letter_mint(struct fixture *f, const char *template_name, enum people_link kind,
                        utc_ms now, char ret_secret[SECRET_SIZE])
{
    struct letter letter;

    assert_true(letter_next(f, now, &letter));
    assert_string_equal(letter.template_name, template_name);
    COMMAND_OK(f, people_mint(&f->p, txn, kind, letter.row_id, now, ret_secret, e));
}

static int64_t add(struct fixture *f, const char *handle, const char *address)
{
    struct people_new user = {.handle = handle, .address = address, .is_verified = true};
    int64_t id = 0;

    COMMAND_OK(f, people_add(&f->p, txn, &user, T0, &id, e));
    return id;
}

static struct people_login log_in(struct fixture *f, const char *handle, utc_ms now)
{
    struct people_login login = {.user_id = 0};
    char secret[SECRET_SIZE];

    COMMAND_OK(f, people_ask_login(&f->p, txn, handle, now, e));
    letter_mint(f, "login", LINK_LOGIN, now, secret);
    COMMAND_OK(f, people_login_by_link(&f->p, txn, secret, "Browser/1", now, &login, e));
    return login;
}

static enum status who_is(struct fixture *f, const char *secret, utc_ms now,
                          struct people_who *ret)
{
    return people_by_session(f->conn, secret, now, ret, NULL);
}

/* ------------------------------------------------------------------------------- registering */

static const struct people_wish anna = {.handle = "Anna",
                                        .name = "Anna K.",
                                        .address = "Anna@Example.org",
                                        .zone = "Europe/Chisinau",
                                        .language = "ro"};

static void test_a_registration_becomes_an_account_when_its_link_is_used(void **state)
{
    struct fixture *f = *state;
    struct people_login login;
    struct user_row user;
    struct people_who who;
    struct err err = ERR_INIT;
    char secret[SECRET_SIZE];

    COMMAND_OK(f, people_register(&f->p, txn, &anna, T0, e));
    assert_st(users_find_handle(f->conn, "anna", &user, &err), ST_NOT_FOUND, err);
    letter_mint(f, "register", LINK_REGISTRATION, T0 + 1, secret);
    COMMAND_OK(f, people_login_by_link(&f->p, txn, secret, "B", T0 + 2, &login, e));
    assert_true(login.is_new);
    assert_ok(users_find_handle(f->conn, "anna", &user, &err), err);
    assert_string_equal(user.handle, "Anna");
    assert_string_equal(user.display_name, "Anna K.");
    assert_string_equal(user.zone, "Europe/Chisinau");
    assert_string_equal(user.language, "ro");
    assert_string_equal(user.address, "Anna@Example.org");
    assert_int_equal(user.verified_at, T0 + 2);
    assert_int_equal(who_is(f, login.secret, T0 + 3, &who), ST_OK);
    assert_int_equal(who.user_id, user.id);
    COMMAND_FAILS(f, LINK_EXPIRED,
                  people_login_by_link(&f->p, txn, secret, "B", T0 + 4, &login, e));
}

static void test_what_does_not_fit_is_refused_and_nothing_is_mailed(void **state)
{
    struct fixture *f = *state;
    struct people_wish wish = anna;

    wish.handle = "9";
    COMMAND_FAILS(f, BAD_FIELD, people_register(&f->p, txn, &wish, T0, e));
    wish = anna;
    wish.address = "nowhere";
    COMMAND_FAILS(f, BAD_FIELD, people_register(&f->p, txn, &wish, T0, e));
    wish = anna;
    wish.zone = "Europe/Atlantis";
    COMMAND_FAILS(f, UNKNOWN_ZONE, people_register(&f->p, txn, &wish, T0, e));
    wish = anna;
    wish.language = "english";
    COMMAND_FAILS(f, BAD_FIELD, people_register(&f->p, txn, &wish, T0, e));
    wish = anna;
    wish.address = NULL;
    COMMAND_FAILS(f, MISSING_FIELD, people_register(&f->p, txn, &wish, T0, e));
    assert_no_letter(f, T0);
}

static void test_a_handle_is_taken_in_any_case_of_letters(void **state)
{
    struct fixture *f = *state;

    add(f, "ANNA", NULL);
    COMMAND_FAILS(f, HANDLE_TAKEN, people_register(&f->p, txn, &anna, T0, e));
}

static void test_of_two_who_want_a_handle_the_first_to_confirm_has_it(void **state)
{
    struct fixture *f = *state;
    struct people_wish second = anna;
    struct people_login login;
    struct user_row user;
    struct err err = ERR_INIT;
    char one[SECRET_SIZE], two[SECRET_SIZE];

    second.address = "other@example.org";
    second.handle = "anna";
    COMMAND_OK(f, people_register(&f->p, txn, &anna, T0, e));
    COMMAND_OK(f, people_register(&f->p, txn, &second, T0 + 1, e));
    letter_mint(f, "register", LINK_REGISTRATION, T0 + 1, one);
    letter_mint(f, "register", LINK_REGISTRATION, T0 + 1, two);
    COMMAND_OK(f, people_login_by_link(&f->p, txn, two, "", T0 + 2, &login, e));
    COMMAND_FAILS(f, HANDLE_TAKEN,
                  people_login_by_link(&f->p, txn, one, "", T0 + 3, &login, e));
    assert_ok(users_find_handle(f->conn, "anna", &user, &err), err);
    assert_string_equal(user.address, "other@example.org");
}

static void test_registering_a_known_address_tells_its_owner_and_nobody_else(void **state)
{
    struct fixture *f = *state;
    struct people_wish wish = anna;
    struct people_login login;
    int64_t id = add(f, "first", "anna@example.org");
    char secret[SECRET_SIZE];

    COMMAND_OK(f, people_register(&f->p, txn, &wish, T0, e)); /* the same answer */
    letter_mint(f, "register_known", LINK_LOGIN, T0, secret);
    COMMAND_OK(f, people_login_by_link(&f->p, txn, secret, "", T0 + 1, &login, e));
    assert_int_equal(login.user_id, id);
    assert_false(login.is_new);
}

static enum status count_reached(struct store_txn *txn, int64_t user_id, utc_ms now, void *arg,
                                 struct err *err)
{
    (void)txn;
    (void)now;
    (void)err;
    *(int64_t *)arg = *(int64_t *)arg * 100 + user_id;
    return ST_OK;
}

/* N9: a link from a letter proves that the letter arrived; one that is not good proves nothing. */
static void test_a_login_link_that_is_used_tells_that_the_address_works(void **state)
{
    struct fixture *f = *state;
    struct people_login login;
    int64_t id = add(f, "first", "anna@example.org"), reached = 0;
    char secret[SECRET_SIZE];

    f->p.on_reached = count_reached;
    f->p.on_reached_arg = &reached;
    COMMAND_OK(f, people_ask_login(&f->p, txn, "first", T0, e));
    letter_mint(f, "login", LINK_LOGIN, T0, secret);
    assert_int_equal(reached, 0);
    COMMAND_OK(f, people_login_by_link(&f->p, txn, secret, "", T0 + 1, &login, e));
    assert_int_equal(reached, id);
    COMMAND_FAILS(f, LINK_EXPIRED,
                  people_login_by_link(&f->p, txn, secret, "", T0 + 2, &login, e));
    assert_int_equal(reached, id);
}

static void test_an_address_is_sent_three_registration_letters_an_hour(void **state)
{
    struct fixture *f = *state;
    struct letter letter;

    for (int i = 0; i < 4; i++)
        COMMAND_OK(f, people_register(&f->p, txn, &anna, T0 + i, e));
    for (int i = 0; i < 3; i++)
        assert_true(letter_next(f, T0 + 10, &letter));
    assert_no_letter(f, T0 + 10);
    COMMAND_OK(f, people_register(&f->p, txn, &anna, T0 + MS_HOUR + 1, e));
    assert_true(letter_next(f, T0 + MS_HOUR + 1, &letter));
}

static void test_accounts_are_made_only_so_many_an_hour(void **state)
{
    struct fixture *f = *state;
    struct people_wish wish = anna;

    f->p.accounts_an_hour = 1;
    COMMAND_OK(f, people_register(&f->p, txn, &anna, T0, e));
    wish.address = "b@example.org";
    wish.handle = "b";
    COMMAND_FAILS(f, RATE_LIMIT, people_register(&f->p, txn, &wish, T0 + MS_HOUR, e));
    COMMAND_OK(f, people_register(&f->p, txn, &wish, T0 + MS_HOUR + 1, e));
}

static void test_a_closed_door_lets_nobody_register(void **state)
{
    struct fixture *f = *state;

    f->p.door = DOOR_CLOSED;
    COMMAND_FAILS(f, REGISTRATION_CLOSED, people_register(&f->p, txn, &anna, T0, e));
}

static void test_an_invitation_makes_one_account(void **state)
{
    struct fixture *f = *state;
    struct people_wish wish = anna, second = anna;
    struct people_login login;
    int64_t by = add(f, "host", "host@example.org");
    char invitation[SECRET_SIZE], one[SECRET_SIZE], two[SECRET_SIZE];

    f->p.door = DOOR_INVITE;
    COMMAND_FAILS(f, INVITE_NEEDED, people_register(&f->p, txn, &wish, T0, e));
    wish.invitation = "abcdefghijklmnopqrstuvwxyz";
    COMMAND_FAILS(f, INVITE_NEEDED, people_register(&f->p, txn, &wish, T0, e));
    COMMAND_OK(f, people_invite(&f->p, txn, by, NULL, "a friend", T0, invitation, e));
    wish.invitation = second.invitation = invitation;
    second.handle = "second";
    second.address = "second@example.org";
    COMMAND_OK(f, people_register(&f->p, txn, &wish, T0, e));
    COMMAND_OK(f, people_register(&f->p, txn, &second, T0 + 1, e));
    letter_mint(f, "register", LINK_REGISTRATION, T0 + 1, one);
    letter_mint(f, "register", LINK_REGISTRATION, T0 + 1, two);
    COMMAND_OK(f, people_login_by_link(&f->p, txn, one, "", T0 + 2, &login, e));
    COMMAND_FAILS(f, INVITE_NEEDED,
                  people_login_by_link(&f->p, txn, two, "", T0 + 3, &login, e));
    second.handle = "third";
    COMMAND_FAILS(f, INVITE_NEEDED, people_register(&f->p, txn, &second, T0 + 4, e));
}

static void test_an_invitation_that_was_taken_back_makes_no_account(void **state)
{
    struct fixture *f = *state;
    struct people_wish wish = anna;
    struct people_login login;
    int64_t by = add(f, "host", "host@example.org");
    char invitation[SECRET_SIZE], begun[SECRET_SIZE];

    f->p.door = DOOR_INVITE;
    COMMAND_OK(f, people_invite(&f->p, txn, by, NULL, NULL, T0, invitation, e));
    wish.invitation = invitation;
    COMMAND_OK(f, people_register(&f->p, txn, &wish, T0, e));
    letter_mint(f, "register", LINK_REGISTRATION, T0, begun);
    COMMAND_OK(f, invites_revoke(txn, 1, T0 + 1, e));
    wish.handle = "second";
    COMMAND_FAILS(f, INVITE_NEEDED, people_register(&f->p, txn, &wish, T0 + 2, e));
    /* Nor by the letter that was on its way. */
    COMMAND_FAILS(f, INVITE_NEEDED,
                  people_login_by_link(&f->p, txn, begun, "", T0 + 2, &login, e));
}

static void test_an_invitation_for_an_address_is_good_for_that_one(void **state)
{
    struct fixture *f = *state;
    struct people_wish wish = anna;
    int64_t by = add(f, "host", "host@example.org");
    char invitation[SECRET_SIZE];

    f->p.door = DOOR_INVITE;
    COMMAND_OK(f, people_invite(&f->p, txn, by, "ANNA@example.org", "", T0, invitation, e));
    wish.invitation = invitation;
    wish.address = "else@example.org";
    COMMAND_FAILS(f, INVITE_NEEDED, people_register(&f->p, txn, &wish, T0, e));
    wish.address = anna.address;
    COMMAND_FAILS(f, INVITE_NEEDED,
                  people_register(&f->p, txn, &wish, T0 + INVITE_LIFE_MS, e));
    COMMAND_OK(f, people_register(&f->p, txn, &wish, T0 + INVITE_LIFE_MS - 1, e));
}

/* A game with its North seat kept for whoever gets the letter to anna. */
static int64_t game_with_mailed_invitation(struct fixture *f, int64_t organiser,
                                           unsigned char hash[DIGEST_SIZE])
{
    struct game_row *game = calloc(1, sizeof *game);
    struct invitation_row row = {.seat = 2, .invited_by = organiser, .created_at = T0,
                                 .expires_at = T0 + MS_DAY, .settled_at = UTC_NONE,
                                 .state = INVITATION_PENDING};
    int64_t game_id = 0, id = 0;

    assert_non_null(game);
    str_copy(game->public_id, sizeof game->public_id, "abcdefgh");
    str_copy(game->rules, sizeof game->rules, "verney");
    game->variant = GAME_VERNEY;
    game->per_move_ms = MS_DAY;
    game->organiser_id = organiser;
    game->state = GAME_OPEN;
    game->turn_seat = -1;
    str_copy(game->conditions, sizeof game->conditions, "aaaa");
    game->paused_at = game->turn_at = game->deadline_at = game->expires_at = UTC_NONE;
    game->started_at = game->moved_at = game->ended_at = UTC_NONE;
    game->created_at = game->updated_at = T0;
    COMMAND_OK(f, games_create(txn, game, &game_id, e));
    row.game_id = game_id;
    str_copy(row.address, sizeof row.address, "anna@example.org");
    str_copy(row.address_key, sizeof row.address_key, "anna@example.org");
    COMMAND_OK(f, invitations_create(txn, &row, hash, &id, e));
    free(game);
    return game_id;
}

static void test_a_mailed_invitation_to_a_game_opens_the_door_for_its_address(void **state)
{
    struct fixture *f = *state;
    struct people_wish wish = anna;
    struct people_login login;
    struct member_row member;
    unsigned char hash[DIGEST_SIZE];
    char invitation[SECRET_SIZE], secret[SECRET_SIZE];
    struct err err = ERR_INIT;
    int64_t by = add(f, "host", "host@example.org"), game;

    f->p.door = DOOR_INVITE;
    secret_make(&f->p, invitation);
    secret_hash(invitation, hash);
    game = game_with_mailed_invitation(f, by, hash);
    wish.invitation = invitation;
    wish.address = "else@example.org";
    COMMAND_FAILS(f, INVITE_NEEDED, people_register(&f->p, txn, &wish, T0, e));
    wish.address = anna.address;
    COMMAND_FAILS(f, INVITE_NEEDED, people_register(&f->p, txn, &wish, T0 + MS_DAY, e));
    COMMAND_OK(f, people_register(&f->p, txn, &wish, T0 + MS_DAY - 1, e));
    letter_mint(f, "register", LINK_REGISTRATION, T0 + MS_DAY - 1, secret);
    COMMAND_OK(f, people_login_by_link(&f->p, txn, secret, "", T0 + MS_DAY - 1, &login, e));
    /* and the invitation is his now */
    assert_ok(members_get(f->conn, game, login.user_id, &member, &err), err);
    assert_true(member.is_invited);
}

/* ------------------------------------------------------------------------------- logging in */

static void test_a_login_link_works_once_and_for_fifteen_minutes(void **state)
{
    struct fixture *f = *state;
    struct people_link_info info;
    struct people_login login;
    struct err err = ERR_INIT;
    char secret[SECRET_SIZE];

    assert_int_equal(LINK_LIFE_MS, 15 * 60 * 1000);
    add(f, "anna", "anna@example.org");
    COMMAND_OK(f, people_ask_login(&f->p, txn, "ANNA@example.ORG", T0, e));
    letter_mint(f, "login", LINK_LOGIN, T0 + 5, secret);
    /* looking at its page changes nothing, however often scanners do */
    for (int i = 0; i < 3; i++)
        assert_ok(people_link_peek(f->conn, secret, T0 + 6, &info, &err), err);
    assert_int_equal(info.kind, LINK_LOGIN);
    assert_string_equal(info.handle, "anna");
    assert_st(people_link_peek(f->conn, secret, T0 + 5 + LINK_LIFE_MS, &info, &err), ST_GONE, err);
    COMMAND_FAILS(f, LINK_EXPIRED,
                  people_login_by_link(&f->p, txn, secret, "", T0 + 5 + LINK_LIFE_MS, &login,
                                       e));
    COMMAND_OK(f, people_login_by_link(&f->p, txn, secret, "", T0 + 4 + LINK_LIFE_MS, &login,
                                       e));
    COMMAND_FAILS(f, LINK_EXPIRED,
                  people_login_by_link(&f->p, txn, secret, "", T0 + 7, &login, e));
    assert_st(people_link_peek(f->conn, secret, T0 + 7, &info, &err), ST_GONE, err);
}

static void test_asking_for_a_link_answers_alike_for_unknown_accounts(void **state)
{
    struct fixture *f = *state;

    COMMAND_OK(f, people_ask_login(&f->p, txn, "nobody", T0, e));
    COMMAND_OK(f, people_ask_login(&f->p, txn, "nobody@example.org", T0, e));
    COMMAND_OK(f, people_ask_login(&f->p, txn, "not an address @", T0, e));
    COMMAND_OK(f, people_ask_login(&f->p, txn, "", T0, e));
    assert_no_letter(f, T0);
}

/* Another number whenever something has been written. */
static int version(sqlite3 *db)
{
    sqlite3_stmt *stmt = NULL;
    int n;

    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA data_version", -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    n = sqlite3_column_int(stmt, 0);
    assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
    return n;
}

/* Nor may the time tell: whoever writes nothing answers without waiting for the disk. */
static void test_asking_for_a_link_writes_for_unknown_accounts_too(void **state)
{
    static const char *const nobody[] = {"nobody", "nobody@example.org", "not an address @", ""};
    struct fixture *f = *state;
    sqlite3 *db = NULL;
    char path[64];

    add(f, "anna", "anna@example.org");
    COMMAND_OK(f, heartbeat_set(txn, T0, true, e));
    snprintf(path, sizeof path, "%s/club.db", f->folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    for (size_t i = 0; i < COUNT_OF(nobody); i++) {
        int before = version(db);

        COMMAND_OK(f, people_ask_login(&f->p, txn, nobody[i], T0, e));
        assert_int_not_equal(version(db), before);
    }
    for (int i = 0; i < 2 * f->p.letters_an_hour; i++) { /* nor once he gets no more of them */
        int before = version(db);

        COMMAND_OK(f, people_ask_login(&f->p, txn, "anna", T0, e));
        assert_int_not_equal(version(db), before);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void test_an_account_is_sent_three_login_letters_an_hour(void **state)
{
    struct fixture *f = *state;
    struct letter letter;

    add(f, "anna", "anna@example.org");
    for (int i = 0; i < 5; i++)
        COMMAND_OK(f, people_ask_login(&f->p, txn, "anna", T0, e));
    for (int i = 0; i < 3; i++)
        assert_true(letter_next(f, T0, &letter));
    assert_no_letter(f, T0);
}

/* A link handed over by hand was no letter: it takes nobody's letters away. */
static void test_links_handed_over_do_not_count_as_letters(void **state)
{
    struct fixture *f = *state;
    struct letter letter;
    char secret[SECRET_SIZE];
    int64_t id = add(f, "anna", "anna@example.org");

    for (int i = 0; i < 10; i++)
        COMMAND_OK(f, people_link_make(&f->p, txn, id, T0, secret, e));
    for (int i = 0; i < 4; i++)
        COMMAND_OK(f, people_ask_login(&f->p, txn, "anna", T0, e));
    for (int i = 0; i < 3; i++)
        assert_true(letter_next(f, T0, &letter));
    assert_no_letter(f, T0);
}

static void test_minting_again_makes_the_earlier_secret_useless(void **state)
{
    struct fixture *f = *state;
    struct people_login login;
    struct letter letter;
    char one[SECRET_SIZE], two[SECRET_SIZE];

    add(f, "anna", "anna@example.org");
    COMMAND_OK(f, people_ask_login(&f->p, txn, "anna", T0, e));
    assert_true(letter_next(f, T0, &letter));
    COMMAND_OK(f, people_mint(&f->p, txn, LINK_LOGIN, letter.row_id, T0, one, e));
    COMMAND_OK(f, people_mint(&f->p, txn, LINK_LOGIN, letter.row_id, T0, two, e));
    assert_string_not_equal(one, two);
    COMMAND_FAILS(f, LINK_EXPIRED, people_login_by_link(&f->p, txn, one, "", T0, &login, e));
    COMMAND_OK(f, people_login_by_link(&f->p, txn, two, "", T0, &login, e));
    COMMAND_FAILS(f, LINK_EXPIRED,
                  people_mint(&f->p, txn, LINK_LOGIN, letter.row_id, T0, one, e));
}

static void test_a_letter_that_waited_too_long_is_not_minted(void **state)
{
    struct fixture *f = *state;
    struct letter letter;
    char secret[SECRET_SIZE];

    add(f, "anna", "anna@example.org");
    COMMAND_OK(f, people_ask_login(&f->p, txn, "anna", T0, e));
    assert_true(letter_next(f, T0, &letter));
    COMMAND_FAILS(f, LINK_EXPIRED,
                  people_mint(&f->p, txn, LINK_LOGIN, letter.row_id, T0 + LINK_LIFE_MS, secret,
                              e));
    COMMAND_OK(f, people_mint(&f->p, txn, LINK_LOGIN, letter.row_id, T0 + LINK_LIFE_MS - 1, secret,
                              e));
    COMMAND_FAILS(f, LINK_EXPIRED,
                  people_mint(&f->p, txn, LINK_LOGIN, letter.row_id + 100, T0, secret, e));
}

static void test_a_mailed_login_proves_the_address(void **state)
{
    struct fixture *f = *state;
    struct people_new user = {.handle = "anna", .address = "anna@example.org"};
    struct user_row row;
    struct err err = ERR_INIT;
    int64_t id;

    COMMAND_OK(f, people_add(&f->p, txn, &user, T0, &id, e));
    assert_ok(users_get(f->conn, id, &row, &err), err);
    assert_int_equal(row.verified_at, UTC_NONE);
    (void)log_in(f, "anna", T0 + 1);
    assert_ok(users_get(f->conn, id, &row, &err), err);
    assert_int_equal(row.verified_at, T0 + 1);
}

static void test_a_session_ends_when_it_is_idle_for_thirty_days(void **state)
{
    struct fixture *f = *state;
    struct people_login login;
    struct people_who who;

    add(f, "anna", "anna@example.org");
    login = log_in(f, "anna", T0);
    assert_int_equal(SESSION_IDLE_MS, 30 * MS_DAY);
    assert_int_equal(who_is(f, login.secret, T0 + SESSION_IDLE_MS - 1, &who), ST_OK);
    assert_true(who.needs_touch);
    assert_int_equal(who.scopes, SCOPES_ALL);
    assert_int_equal(who_is(f, login.secret, T0 + SESSION_IDLE_MS, &who), ST_UNAUTHENTICATED);
    COMMAND_OK(f, people_touch(txn, &who, T0 + SESSION_IDLE_MS - 1, e));
    assert_int_equal(who_is(f, login.secret, T0 + 2 * SESSION_IDLE_MS - 2, &who), ST_OK);
    assert_int_equal(who_is(f, login.secret, T0 + 2 * SESSION_IDLE_MS - 1, &who),
                     ST_UNAUTHENTICATED);
}

static void test_a_session_ends_after_half_a_year_however_often_it_is_used(void **state)
{
    struct fixture *f = *state;
    struct people_login login;
    struct people_who who;

    add(f, "anna", "anna@example.org");
    login = log_in(f, "anna", T0);
    assert_int_equal(SESSION_LIFE_MS, 180 * MS_DAY);
    assert_int_equal(login.expires_at, T0 + SESSION_LIFE_MS);
    for (utc_ms at = T0; at < T0 + SESSION_LIFE_MS; at += 10 * MS_DAY) {
        assert_int_equal(who_is(f, login.secret, at, &who), ST_OK);
        COMMAND_OK(f, people_touch(txn, &who, at, e));
    }
    assert_int_equal(who_is(f, login.secret, T0 + SESSION_LIFE_MS - 1, &who), ST_OK);
    assert_int_equal(who_is(f, login.secret, T0 + SESSION_LIFE_MS, &who), ST_UNAUTHENTICATED);
}

static void test_a_session_used_just_now_needs_no_touch(void **state)
{
    struct fixture *f = *state;
    struct people_login login;
    struct people_who who;

    add(f, "anna", "anna@example.org");
    login = log_in(f, "anna", T0);
    assert_int_equal(who_is(f, login.secret, T0 + TOUCH_MS - 1, &who), ST_OK);
    assert_false(who.needs_touch);
    assert_int_equal(who_is(f, login.secret, T0 + TOUCH_MS, &who), ST_OK);
    assert_true(who.needs_touch);
}

static void test_sessions_are_listed_and_ended_by_their_owner_alone(void **state)
{
    struct fixture *f = *state;
    struct people_login one, two, other;
    struct session_row rows[10];
    struct people_who who;
    struct err err = ERR_INIT;
    size_t n;
    int64_t id = add(f, "anna", "anna@example.org");

    add(f, "boris", "boris@example.org");
    one = log_in(f, "anna", T0);
    two = log_in(f, "anna", T0 + 1);
    other = log_in(f, "boris", T0 + 2);
    assert_ok(people_sessions(f->conn, id, T0 + 3, rows, 10, &n, &err), err);
    assert_int_equal(n, 2);
    assert_string_equal(rows[0].agent, "Browser/1");
    COMMAND_FAILS(f, NOT_FOUND, people_session_end(txn, id, other.session_id, T0 + 3, e));
    COMMAND_OK(f, people_session_end(txn, id, one.session_id, T0 + 3, e));
    assert_int_equal(who_is(f, one.secret, T0 + 4, &who), ST_UNAUTHENTICATED);
    assert_int_equal(who_is(f, two.secret, T0 + 4, &who), ST_OK);
    one = log_in(f, "anna", T0 + 5);
    COMMAND_OK(f, people_sessions_end(txn, id, one.session_id, T0 + 6, e));
    assert_int_equal(who_is(f, one.secret, T0 + 7, &who), ST_OK);
    assert_int_equal(who_is(f, two.secret, T0 + 7, &who), ST_UNAUTHENTICATED);
    assert_int_equal(who_is(f, other.secret, T0 + 7, &who), ST_OK);
}

static void test_the_session_unused_longest_makes_room_for_the_next(void **state)
{
    struct fixture *f = *state;
    struct people_login first, last;
    struct people_who who;
    char secret[SECRET_SIZE];
    int64_t id = add(f, "anna", "anna@example.org");

    first = log_in(f, "anna", T0);
    for (int i = 0; i < PEOPLE_SESSIONS_MAX; i++) {
        COMMAND_OK(f, people_link_make(&f->p, txn, id, T0 + 1 + i, secret, e));
        COMMAND_OK(f, people_login_by_link(&f->p, txn, secret, "", T0 + 1 + i, &last, e));
    }
    assert_int_equal(who_is(f, first.secret, T0 + 100, &who), ST_UNAUTHENTICATED);
    assert_int_equal(who_is(f, last.secret, T0 + 100, &who), ST_OK);
}

static void test_a_browsers_name_for_itself_is_kept_short_and_printable(void **state)
{
    struct fixture *f = *state;
    struct people_login login;
    struct session_row rows[2];
    struct err err = ERR_INIT;
    char agent[1000], secret[SECRET_SIZE];
    size_t n;
    int64_t id = add(f, "anna", "anna@example.org");

    memset(agent, 'x', sizeof agent);
    agent[0] = '\n';
    agent[sizeof agent - 1] = '\0';
    COMMAND_OK(f, people_link_make(&f->p, txn, id, T0, secret, e));
    COMMAND_OK(f, people_login_by_link(&f->p, txn, secret, agent, T0, &login, e));
    assert_ok(people_sessions(f->conn, id, T0, rows, 2, &n, &err), err);
    assert_int_equal(strlen(rows[0].agent), AGENT_SIZE - 1);
    assert_int_equal(rows[0].agent[0], '?');
}

static void test_things_that_are_no_secret_are_nobody(void **state)
{
    static const char *const odd[] = {"", "x", "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
                                      "abcdefghijklmnopqrstuvwxyz", "' or 1=1 --"};
    struct fixture *f = *state;
    struct people_who who;

    for (size_t i = 0; i < COUNT_OF(odd); i++) {
        assert_int_equal(who_is(f, odd[i], T0, &who), ST_UNAUTHENTICATED);
        assert_int_equal(people_by_token(f->conn, odd[i], T0, &who, NULL), ST_UNAUTHENTICATED);
    }
}

/* ------------------------------------------------------------------------------- passwords */

static void test_a_password_logs_in_against_the_hash_it_was_checked_with(void **state)
{
    struct fixture *f = *state;
    struct people_new user = {.handle = "anna", .address = "anna@example.org",
                              .is_verified = true, .password_hash = "$argon2id$one"};
    struct people_login login;
    struct err err = ERR_INIT;
    char hash[PASSWORD_HASH_SIZE];
    int64_t id, found;

    COMMAND_OK(f, people_add(&f->p, txn, &user, T0, &id, e));
    assert_ok(people_password_find(f->conn, "Anna", &found, hash, sizeof hash, &err), err);
    assert_int_equal(found, id);
    assert_string_equal(hash, "$argon2id$one");
    COMMAND_OK(f, people_login_by_password(&f->p, txn, id, hash, "$argon2id$two", "", T0, &login,
                                           e));
    /* the hash was made anew meanwhile */
    COMMAND_FAILS(f, BAD_CREDENTIALS,
                  people_login_by_password(&f->p, txn, id, hash, NULL, "", T0, &login, e));
    assert_ok(people_password_of(f->conn, id, hash, sizeof hash, &err), err);
    assert_string_equal(hash, "$argon2id$two");
}

static void test_no_account_and_no_password_look_alike(void **state)
{
    struct fixture *f = *state;
    struct people_login login;
    struct err err = ERR_INIT;
    char hash[PASSWORD_HASH_SIZE] = "x";
    int64_t found = 9, id = add(f, "anna", "anna@example.org");

    assert_ok(people_password_find(f->conn, "anna", &found, hash, sizeof hash, &err), err);
    assert_int_equal(found, 0);
    assert_string_equal(hash, "");
    found = 9;
    assert_ok(people_password_find(f->conn, "nobody", &found, hash, sizeof hash, &err), err);
    assert_int_equal(found, 0);
    COMMAND_FAILS(f, BAD_CREDENTIALS,
                  people_login_by_password(&f->p, txn, 0, "", NULL, "", T0, &login, e));
    COMMAND_FAILS(f, BAD_CREDENTIALS,
                  people_login_by_password(&f->p, txn, id, "", NULL, "", T0, &login, e));
}

static void test_a_new_password_ends_the_other_sessions_and_is_told(void **state)
{
    struct fixture *f = *state;
    struct people_login here, there;
    struct people_who who;
    struct letter letter;
    int64_t id = add(f, "anna", "anna@example.org");

    here = log_in(f, "anna", T0);
    there = log_in(f, "anna", T0);
    COMMAND_FAILS(f, BAD_CREDENTIALS,
                  people_password_set(&f->p, txn, id, "$argon2id$other", "$argon2id$new",
                                      here.session_id, T0, e));
    COMMAND_OK(f, people_password_set(&f->p, txn, id, "", "$argon2id$new", here.session_id, T0,
                                      e));
    assert_int_equal(who_is(f, here.secret, T0 + 1, &who), ST_OK);
    assert_int_equal(who_is(f, there.secret, T0 + 1, &who), ST_UNAUTHENTICATED);
    assert_true(letter_next(f, T0, &letter));
    assert_string_equal(letter.template_name, "password_changed");
    assert_int_equal(letter.cls, NOTICE_SECURITY);
    assert_int_equal(letter.user_id, id);
}

/* ------------------------------------------------------------------------------- tokens */

static void test_a_token_is_shown_once_and_works_within_its_scopes(void **state)
{
    struct fixture *f = *state;
    struct people_who who;
    struct api_token_row rows[5];
    struct err err = ERR_INIT;
    char token[API_TOKEN_SIZE];
    size_t n;
    int64_t id = add(f, "anna", "anna@example.org"), token_id;

    COMMAND_OK(f, people_token_make(&f->p, txn, id, SCOPES_ALL, "my bot", SCOPE_READ | SCOPE_PLAY,
                                    UTC_NONE, T0, token, &token_id, e));
    assert_int_equal(strlen(token), API_TOKEN_SIZE - 1);
    assert_true(str_starts(token, "fh_"));
    assert_ok(people_by_token(f->conn, token, T0 + 1, &who, &err), err);
    assert_int_equal(who.user_id, id);
    assert_int_equal(who.token_id, token_id);
    assert_int_equal(who.scopes, SCOPE_READ | SCOPE_PLAY);
    assert_true(who.needs_touch);
    COMMAND_OK(f, people_touch(txn, &who, T0 + 1, e));
    assert_ok(people_tokens(f->conn, id, T0 + 2, rows, 5, &n, &err), err);
    assert_int_equal(n, 1);
    assert_string_equal(rows[0].name, "my bot");
    assert_int_equal(rows[0].last_used_at, T0 + 1);
    COMMAND_OK(f, people_token_revoke(txn, id, token_id, T0 + 3, e));
    assert_st(people_by_token(f->conn, token, T0 + 4, &who, &err), ST_UNAUTHENTICATED, err);
}

static void test_a_token_expires_at_its_instant(void **state)
{
    struct fixture *f = *state;
    struct people_who who;
    struct api_token_row rows[5];
    struct err err = ERR_INIT;
    char token[API_TOKEN_SIZE];
    size_t n;
    int64_t id = add(f, "anna", "anna@example.org"), token_id;

    COMMAND_FAILS(f, BAD_FIELD,
                  people_token_make(&f->p, txn, id, SCOPES_ALL, "t", SCOPE_READ, T0, T0, token,
                                    &token_id, e));
    COMMAND_OK(f, people_token_make(&f->p, txn, id, SCOPES_ALL, "t", SCOPE_READ, T0 + 10, T0,
                                    token, &token_id, e));
    assert_ok(people_by_token(f->conn, token, T0 + 9, &who, &err), err);
    assert_st(people_by_token(f->conn, token, T0 + 10, &who, &err), ST_UNAUTHENTICATED, err);
    assert_ok(people_tokens(f->conn, id, T0 + 10, rows, 5, &n, &err), err);
    assert_int_equal(n, 0);
}

static void test_a_token_cannot_make_one_that_may_do_more(void **state)
{
    struct fixture *f = *state;
    char token[API_TOKEN_SIZE];
    int64_t id = add(f, "anna", "anna@example.org"), token_id;

    COMMAND_FAILS(f, SCOPE_NEEDED,
                  people_token_make(&f->p, txn, id, SCOPE_MANAGE, "t", SCOPE_PLAY, UTC_NONE, T0,
                                    token, &token_id, e));
    COMMAND_FAILS(f, BAD_FIELD,
                  people_token_make(&f->p, txn, id, SCOPES_ALL, "t", 0, UTC_NONE, T0, token,
                                    &token_id, e));
    COMMAND_FAILS(f, BAD_FIELD,
                  people_token_make(&f->p, txn, id, SCOPES_ALL, "", SCOPE_READ, UTC_NONE, T0,
                                    token, &token_id, e));
}

static void test_an_account_holds_so_many_tokens_and_expired_ones_do_not_count(void **state)
{
    struct fixture *f = *state;
    char token[API_TOKEN_SIZE];
    int64_t id = add(f, "anna", "anna@example.org"), token_id;

    for (int i = 0; i < 3; i++)
        COMMAND_OK(f, people_token_make(&f->p, txn, id, SCOPES_ALL, "t", SCOPE_READ, T0 + 10, T0,
                                        token, &token_id, e));
    COMMAND_FAILS(f, LIMIT,
                  people_token_make(&f->p, txn, id, SCOPES_ALL, "t", SCOPE_READ, UTC_NONE, T0 + 9,
                                    token, &token_id, e));
    COMMAND_OK(f, people_token_make(&f->p, txn, id, SCOPES_ALL, "t", SCOPE_READ, UTC_NONE, T0 + 10,
                                    token, &token_id, e));
}

static void test_only_a_token_that_may_manage_makes_an_operator(void **state)
{
    struct fixture *f = *state;
    struct people_new user = {.handle = "olga", .is_operator = true};
    struct people_who who;
    struct err err = ERR_INIT;
    char token[API_TOKEN_SIZE];
    int64_t id, token_id;

    COMMAND_OK(f, people_add(&f->p, txn, &user, T0, &id, e));
    COMMAND_OK(f, people_token_make(&f->p, txn, id, SCOPES_ALL, "t", SCOPE_PLAY, UTC_NONE, T0,
                                    token, &token_id, e));
    assert_ok(people_by_token(f->conn, token, T0, &who, &err), err);
    assert_false(who.is_operator);
    COMMAND_OK(f, people_token_make(&f->p, txn, id, SCOPES_ALL, "t", SCOPE_MANAGE, UTC_NONE, T0,
                                    token, &token_id, e));
    assert_ok(people_by_token(f->conn, token, T0, &who, &err), err);
    assert_true(who.is_operator);
}

/* ------------------------------------------------------------------------------- addresses */

static void test_a_change_of_address_wants_the_yes_of_both(void **state)
{
    struct fixture *f = *state;
    struct user_row user;
    struct letter letter;
    struct err err = ERR_INIT;
    char old_secret[SECRET_SIZE], new_secret[SECRET_SIZE], pending[ADDRESS_SIZE];
    bool is_complete = true;
    int64_t id = add(f, "anna", "anna@example.org");

    COMMAND_OK(f, people_address_change(&f->p, txn, id, "anna@example.net", T0, e));
    assert_ok(people_address_pending(f->conn, id, T0, pending, sizeof pending, &err), err);
    assert_string_equal(pending, "anna@example.net");
    letter_mint(f, "address_old", LINK_ADDRESS_OLD, T0, old_secret);
    letter_mint(f, "address_new", LINK_ADDRESS_NEW, T0, new_secret);
    COMMAND_OK(f, people_address_confirm(&f->p, txn, new_secret, T0 + 1, &is_complete, e));
    assert_false(is_complete);
    assert_ok(users_get(f->conn, id, &user, &err), err);
    assert_string_equal(user.address, "anna@example.org");
    COMMAND_FAILS(f, LINK_EXPIRED,
                  people_address_confirm(&f->p, txn, new_secret, T0 + 2, &is_complete, e));
    COMMAND_OK(f, people_address_confirm(&f->p, txn, old_secret, T0 + 3, &is_complete, e));
    assert_true(is_complete);
    assert_ok(users_get(f->conn, id, &user, &err), err);
    assert_string_equal(user.address, "anna@example.net");
    assert_int_equal(user.verified_at, T0 + 3);
    assert_true(letter_next(f, T0 + 3, &letter));
    assert_string_equal(letter.template_name, "address_changed");
    assert_string_equal(letter.address, "anna@example.org");
    assert_ok(people_address_pending(f->conn, id, T0 + 4, pending, sizeof pending, &err), err);
    assert_string_equal(pending, "");
}

static void test_a_change_of_address_expires(void **state)
{
    struct fixture *f = *state;
    char secret[SECRET_SIZE], pending[ADDRESS_SIZE];
    struct err err = ERR_INIT;
    bool is_complete;
    int64_t id = add(f, "anna", "anna@example.org");

    COMMAND_OK(f, people_address_change(&f->p, txn, id, "anna@example.net", T0, e));
    letter_mint(f, "address_old", LINK_ADDRESS_OLD, T0, secret);
    COMMAND_FAILS(f, LINK_EXPIRED,
                  people_address_confirm(&f->p, txn, secret, T0 + ADDRESS_CHANGE_LIFE_MS,
                                         &is_complete, e));
    assert_ok(people_address_pending(f->conn, id, T0 + ADDRESS_CHANGE_LIFE_MS, pending,
                                     sizeof pending, &err), err);
    assert_string_equal(pending, "");
}

static void test_a_second_change_cancels_the_first(void **state)
{
    struct fixture *f = *state;
    char one[SECRET_SIZE];
    bool is_complete;
    int64_t id = add(f, "anna", "anna@example.org");

    COMMAND_OK(f, people_address_change(&f->p, txn, id, "one@example.net", T0, e));
    letter_mint(f, "address_old", LINK_ADDRESS_OLD, T0, one);
    COMMAND_OK(f, people_address_change(&f->p, txn, id, "two@example.net", T0 + 1, e));
    COMMAND_FAILS(f, LINK_EXPIRED,
                  people_address_confirm(&f->p, txn, one, T0 + 2, &is_complete, e));
}

static void test_nobody_learns_that_an_address_belongs_to_another(void **state)
{
    struct fixture *f = *state;
    struct letter letter;
    int64_t id = add(f, "anna", "anna@example.org");

    add(f, "boris", "boris@example.org");
    COMMAND_OK(f, people_address_change(&f->p, txn, id, "Boris@example.org", T0, e));
    assert_true(letter_next(f, T0, &letter));
    assert_string_equal(letter.template_name, "address_old");
    assert_no_letter(f, T0);
}

static void test_an_address_is_changed_three_times_an_hour_at_most(void **state)
{
    struct fixture *f = *state;
    int64_t id = add(f, "anna", "anna@example.org");

    COMMAND_FAILS(f, ALREADY_DONE,
                  people_address_change(&f->p, txn, id, "ANNA@example.org", T0, e));
    for (int i = 0; i < 3; i++)
        COMMAND_OK(f, people_address_change(&f->p, txn, id, "a@example.net", T0 + i, e));
    COMMAND_FAILS(f, RATE_LIMIT,
                  people_address_change(&f->p, txn, id, "a@example.net", T0 + 4, e));
}

static void test_an_account_without_address_needs_the_new_ones_yes_alone(void **state)
{
    struct fixture *f = *state;
    struct user_row user;
    struct err err = ERR_INIT;
    char secret[SECRET_SIZE];
    bool is_complete = false;
    int64_t id = add(f, "bot", NULL);

    COMMAND_OK(f, people_address_change(&f->p, txn, id, "bot@example.net", T0, e));
    letter_mint(f, "address_new", LINK_ADDRESS_NEW, T0, secret);
    assert_no_letter(f, T0);
    COMMAND_OK(f, people_address_confirm(&f->p, txn, secret, T0 + 1, &is_complete, e));
    assert_true(is_complete);
    assert_ok(users_get(f->conn, id, &user, &err), err);
    assert_string_equal(user.address, "bot@example.net");
}

/* ------------------------------------------------------------------------------- the rest */

static void test_a_profile_is_changed_field_by_field(void **state)
{
    struct fixture *f = *state;
    struct people_profile profile = {.zone = "Europe/Chisinau"};
    struct user_row user;
    struct err err = ERR_INIT;
    int64_t id = add(f, "anna", "anna@example.org");

    COMMAND_OK(f, people_profile_set(&f->p, txn, id, &profile, T0, e));
    profile = (struct people_profile){.name = "Anna", .language = "ru"};
    COMMAND_OK(f, people_profile_set(&f->p, txn, id, &profile, T0, e));
    assert_ok(users_get(f->conn, id, &user, &err), err);
    assert_string_equal(user.zone, "Europe/Chisinau");
    assert_string_equal(user.display_name, "Anna");
    assert_string_equal(user.language, "ru");
    profile = (struct people_profile){.zone = "Mars/Base"};
    COMMAND_FAILS(f, UNKNOWN_ZONE, people_profile_set(&f->p, txn, id, &profile, T0, e));
    profile = (struct people_profile){.name = "\t"};
    COMMAND_FAILS(f, BAD_FIELD, people_profile_set(&f->p, txn, id, &profile, T0, e));
}

static void test_a_disabled_account_is_out_everywhere(void **state)
{
    struct fixture *f = *state;
    struct people_login login;
    struct people_who who;
    struct audit_row audit[4];
    struct err err = ERR_INIT;
    char token[API_TOKEN_SIZE], link[SECRET_SIZE];
    size_t n;
    int64_t id = add(f, "anna", "anna@example.org"), token_id;

    login = log_in(f, "anna", T0);
    COMMAND_OK(f, people_token_make(&f->p, txn, id, SCOPES_ALL, "t", SCOPE_READ, UTC_NONE, T0,
                                    token, &token_id, e));
    COMMAND_OK(f, people_link_make(&f->p, txn, id, T0, link, e));
    COMMAND_OK(f, people_disable(&f->p, txn, 0, id, true, T0 + 1, e));
    assert_int_equal(who_is(f, login.secret, T0 + 2, &who), ST_UNAUTHENTICATED);
    assert_st(people_by_token(f->conn, token, T0 + 2, &who, &err), ST_UNAUTHENTICATED, err);
    COMMAND_FAILS(f, LINK_EXPIRED,
                  people_login_by_link(&f->p, txn, link, "", T0 + 2, &login, e));
    COMMAND_OK(f, people_ask_login(&f->p, txn, "anna", T0 + 2, e));
    assert_no_letter(f, T0 + 2);
    COMMAND_FAILS(f, ALREADY_DONE, people_disable(&f->p, txn, 0, id, true, T0 + 3, e));
    COMMAND_OK(f, people_disable(&f->p, txn, 0, id, false, T0 + 4, e));
    (void)log_in(f, "anna", T0 + 5);
    assert_ok(audit_list(f->conn, 0, 0, audit, 4, &n, &err), err);
    assert_int_equal(n, 3); /* added, disabled, enabled */
    assert_string_equal(audit[0].act, "user_enable");
    assert_int_equal(audit[0].subject_id, id);
    assert_int_equal(audit[0].role, AUDIT_ADMINISTRATOR);
}

static void test_the_administrator_cannot_make_a_second_account_of_a_handle_or_address(void **state)
{
    struct fixture *f = *state;
    struct people_new user = {.handle = "ANNA"};
    int64_t id;

    add(f, "anna", "anna@example.org");
    COMMAND_FAILS(f, HANDLE_TAKEN, people_add(&f->p, txn, &user, T0, &id, e));
    user = (struct people_new){
        .handle = "other", .address = "Anna@Example.org", .is_verified = true};
    COMMAND_FAILS(f, ALREADY_DONE, people_add(&f->p, txn, &user, T0, &id, e));
}

static void test_no_raw_secret_is_in_the_file(void **state)
{
    struct fixture *f = *state;
    struct people_login login;
    char token[API_TOKEN_SIZE], invitation[SECRET_SIZE], path[64], *bytes;
    const char *secrets[3];
    int64_t id = add(f, "anna", "anna@example.org"), token_id;
    struct err err = ERR_INIT;
    size_t n;
    FILE *file;

    login = log_in(f, "anna", T0);
    COMMAND_OK(f, people_token_make(&f->p, txn, id, SCOPES_ALL, "t", SCOPE_READ, UTC_NONE, T0,
                                    token, &token_id, e));
    COMMAND_OK(f, people_invite(&f->p, txn, id, NULL, "", T0, invitation, e));
    secrets[0] = login.secret;
    secrets[1] = token + 3;
    secrets[2] = invitation;
    store_reader_close(f->reader);
    f->reader = NULL;
    assert_ok(store_checkpoint(f->store, NULL, &err), err);
    snprintf(path, sizeof path, "%s/club.db", f->folder);
    file = fopen(path, "r");
    assert_non_null(file);
    bytes = malloc(4 * 1024 * 1024);
    assert_non_null(bytes);
    n = fread(bytes, 1, 4 * 1024 * 1024, file);
    assert_true(n > 4096);
    fclose(file);
    for (size_t s = 0; s < COUNT_OF(secrets); s++)
        for (size_t i = 0; i + SECRET_SIZE - 1 <= n; i++)
            if (memcmp(bytes + i, secrets[s], SECRET_SIZE - 1) == 0)
                fail_msg("secret %zu stands in the file", s);
    free(bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_make, fixture_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_registration_becomes_an_account_when_its_link_is_used),
        TEST(test_what_does_not_fit_is_refused_and_nothing_is_mailed),
        TEST(test_a_handle_is_taken_in_any_case_of_letters),
        TEST(test_of_two_who_want_a_handle_the_first_to_confirm_has_it),
        TEST(test_registering_a_known_address_tells_its_owner_and_nobody_else),
        TEST(test_a_login_link_that_is_used_tells_that_the_address_works),
        TEST(test_an_address_is_sent_three_registration_letters_an_hour),
        TEST(test_accounts_are_made_only_so_many_an_hour),
        TEST(test_a_closed_door_lets_nobody_register),
        TEST(test_an_invitation_makes_one_account),
        TEST(test_an_invitation_that_was_taken_back_makes_no_account),
        TEST(test_an_invitation_for_an_address_is_good_for_that_one),
        TEST(test_a_mailed_invitation_to_a_game_opens_the_door_for_its_address),
        TEST(test_a_login_link_works_once_and_for_fifteen_minutes),
        TEST(test_asking_for_a_link_answers_alike_for_unknown_accounts),
        TEST(test_asking_for_a_link_writes_for_unknown_accounts_too),
        TEST(test_an_account_is_sent_three_login_letters_an_hour),
        TEST(test_links_handed_over_do_not_count_as_letters),
        TEST(test_minting_again_makes_the_earlier_secret_useless),
        TEST(test_a_letter_that_waited_too_long_is_not_minted),
        TEST(test_a_mailed_login_proves_the_address),
        TEST(test_a_session_ends_when_it_is_idle_for_thirty_days),
        TEST(test_a_session_ends_after_half_a_year_however_often_it_is_used),
        TEST(test_a_session_used_just_now_needs_no_touch),
        TEST(test_sessions_are_listed_and_ended_by_their_owner_alone),
        TEST(test_the_session_unused_longest_makes_room_for_the_next),
        TEST(test_a_browsers_name_for_itself_is_kept_short_and_printable),
        TEST(test_things_that_are_no_secret_are_nobody),
        TEST(test_a_password_logs_in_against_the_hash_it_was_checked_with),
        TEST(test_no_account_and_no_password_look_alike),
        TEST(test_a_new_password_ends_the_other_sessions_and_is_told),
        TEST(test_a_token_is_shown_once_and_works_within_its_scopes),
        TEST(test_a_token_expires_at_its_instant),
        TEST(test_a_token_cannot_make_one_that_may_do_more),
        TEST(test_an_account_holds_so_many_tokens_and_expired_ones_do_not_count),
        TEST(test_only_a_token_that_may_manage_makes_an_operator),
        TEST(test_a_change_of_address_wants_the_yes_of_both),
        TEST(test_a_change_of_address_expires),
        TEST(test_a_second_change_cancels_the_first),
        TEST(test_nobody_learns_that_an_address_belongs_to_another),
        TEST(test_an_address_is_changed_three_times_an_hour_at_most),
        TEST(test_an_account_without_address_needs_the_new_ones_yes_alone),
        TEST(test_a_profile_is_changed_field_by_field),
        TEST(test_a_disabled_account_is_out_everywhere),
        TEST(test_the_administrator_cannot_make_a_second_account_of_a_handle_or_address),
        TEST(test_no_raw_secret_is_in_the_file),
    };
    struct err err = ERR_INIT;

    if (people_init(&err) != ST_OK)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

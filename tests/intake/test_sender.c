/*
 * Whose letter it is, and what becomes of those that are nobody's: tokens, From, machines, limits,
 * bounces, repeats (M2 – M5, M10, N9, P01 – P04, P16 – P25, P37, P39).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/post.h"
#include "store/held.h"
#include "store/prefs.h"

static const struct post_result *r;

static struct user_row user_now(struct post *p, int user)
{
    struct user_row row;
    struct err err = ERR_INIT;

    assert_ok(users_get(store_reader_conn(p->t->reader), p->t->user[user], &row, &err), err);
    return row;
}

/* A letter with headers of the test's own; %s in them is the token. */
static const struct post_result *letter(struct post *p, const char *sender, const char *recipient,
                                        const char *headers, const char *text)
{
    char bytes[8192];
    int n = snprintf(bytes, sizeof bytes,
                     "%s\r\nMessage-ID: <x%" PRId64 "@example.org>\r\n\r\n%s\r\n", headers,
                     ++p->letters, text);

    return post_raw(p, sender, recipient, bytes, (size_t)n);
}

static const char *to_token(struct post *p)
{
    static char to[96];

    (void)snprintf(to, sizeof to, "play+%s@club.example", p->token);
    return to;
}

/* ---------------------------------------------------------------- addresses */

static void test_recipients_are_told_apart_by_shape(void **state)
{
    static const struct {
        const char *address;
        enum intake_recipient is;
    } rows[] = {
        {"play@club.example", INTAKE_PLAY},
        {"PLAY@CLUB.EXAMPLE", INTAKE_PLAY},
        {"play+" POST_TOKEN "@club.example", INTAKE_PLAY},
        {"PLAY+K3V7MQ2XZ5B4N6C7D2F3G4H5J6@club.example", INTAKE_PLAY}, /* P20 */
        {"play+k3v7mq2xz5b4n6c7d2f3g4h5j@club.example", INTAKE_FOREIGN}, /* one short */
        {"play+k3v7mq2xz5b4n6c7d2f3g4h5j6a@club.example", INTAKE_FOREIGN},
        {"play+k3v7mq2xz5b4n6c7d2f3g4h5j1@club.example", INTAKE_FOREIGN}, /* no 1 in base32 */
        {"play+@club.example", INTAKE_FOREIGN},
        {"player@club.example", INTAKE_FOREIGN},
        {"play@club.example.net", INTAKE_FOREIGN},
        {"play", INTAKE_FOREIGN},
        {"", INTAKE_FOREIGN},
        {"@club.example", INTAKE_FOREIGN},
        {"bounce+abc.defghijklm@club.example", INTAKE_BOUNCE},
        {"bounce@club.example", INTAKE_BOUNCE},
        {"unsubscribe+" POST_TOKEN "@club.example", INTAKE_UNSUBSCRIBE},
        {"unsubscribe@club.example", INTAKE_FOREIGN},
        /* P20: 65 octets */
        {"play+aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@club.example",
         INTAKE_FOREIGN},
    };
    struct post *p = *state;

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (intake_recipient_check(p->intake, rows[i].address) != rows[i].is)
            fail_msg("%s is %d", rows[i].address,
                     intake_recipient_check(p->intake, rows[i].address));
    assert_int_equal(intake_recipient_check(p->intake, NULL), INTAKE_FOREIGN);
    post_close(p);
    p->options.delimiter = "";
    post_open(p);
    assert_int_equal(intake_recipient_check(p->intake, POST_TOKEN "@club.example"), INTAKE_PLAY);
    assert_int_equal(intake_recipient_check(p->intake, "play@club.example"), INTAKE_PLAY);
    assert_int_equal(intake_recipient_check(p->intake, "hello@club.example"), INTAKE_FOREIGN);
    assert_int_equal(intake_recipient_check(p->intake, "bounce-a.b@club.example"), INTAKE_BOUNCE);
}

static void test_what_cannot_come_in_is_not_stored(void **state)
{
    struct post *p = *state;
    struct intake_arrival arrival = {.way = INBOX_BY_LMTP, .sender = "a@example.org",
                                     .recipient = "nobody@club.example", .bytes = "x", .n = 1,
                                     .received_at = UTC_NONE};
    struct err err = ERR_INIT;
    char *large = malloc(1024 * 1024 + 1);

    assert_st(intake_accept(p->intake, &arrival, NULL, &err), ST_INVALID, err);
    assert_non_null(large);
    memset(large, 'x', 1024 * 1024 + 1);
    arrival.recipient = "play@club.example";
    arrival.bytes = large;
    arrival.n = 1024 * 1024 + 1;
    assert_st(intake_accept(p->intake, &arrival, NULL, &err), ST_TOO_LARGE, err);
    arrival.n--;
    assert_ok(intake_accept(p->intake, &arrival, NULL, &err), err);
    free(large);
    assert_int_equal(post_count(p, "SELECT count(*) FROM inbox"), 1);
    assert_int_equal(post_count(p, "SELECT count(*) FROM inbox WHERE recipient LIKE '%+%'"), 0);
}

/* No raw token is kept where letters wait. */
static void test_the_inbox_keeps_no_token(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    r = post_play(p, SOUTH, game, "board");
    assert_string_equal(r->row.recipient, "play+…@club.example");
    assert_true(r->row.has_token);
    assert_string_equal(r->row.message_id, "1@example.org");
}

/* ---------------------------------------------------------------- without a token */

static void test_a_letter_without_its_token_does_nothing_and_tells_its_account(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    r = post_say(p, SOUTH, NULL, "e2-e4");
    expect(r, INBOX_VERDICT_REFUSED);
    assert_string_equal(r->row.reason, "no_token: e2-e4");
    assert_string_equal(r->template_name, "no_token");
    assert_non_null(strstr(r->params, "\"purpose\":\"account\""));
    assert_int_equal(r->to_user, p->t->user[SOUTH]);
    assert_false(is_held(p, game));
    /* once an hour, but another move that is not made is told */
    expect(post_say(p, SOUTH, NULL, "e2-e4"), INBOX_VERDICT_SILENT);
    expect(post_say(p, SOUTH, NULL, "Hello"), INBOX_VERDICT_REFUSED);
    expect(post_say(p, SOUTH, NULL, "Hello again"), INBOX_VERDICT_SILENT);
    expect(post_say(p, SOUTH, NULL, "d2-d4"), INBOX_VERDICT_REFUSED);
    pass(p->t, MS_HOUR + 1);
    assert_true(post_say(p, SOUTH, NULL, "e2-e4")->has_answer);
    /* P37, P19: a token nobody knows is none */
    r = post_say(p, WEST, POST_TOKEN, "e2-e4");
    expect(r, INBOX_VERDICT_REFUSED);
    assert_string_equal(r->row.reason, "no_token: e2-e4");
}

/* A letter to a token that never was; its row, or 0 when none was kept. */
static int64_t invented(struct post *p, int i)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
    char bytes[300], recipient[] = "play+aaaaaaaaaaaaaaaaaaaaaaaaaa@club.example";
    struct intake_arrival arrival = {.way = INBOX_BY_LMTP, .sender = "eve@example.net",
                                     .recipient = recipient, .bytes = bytes,
                                     .received_at = UTC_NONE};
    struct intake_accepted accepted;
    struct inbox_row row = INBOX_ROW_INIT;
    struct err err = ERR_INIT;

    recipient[5] = digits[i % 32];
    recipient[6] = digits[i / 32];
    arrival.n = (size_t)snprintf(bytes, sizeof bytes,
                                 "From: eve@example.net\r\nTo: %s\r\n"
                                 "Message-ID: <n%d@example.net>\r\n\r\ne2-e4\r\n",
                                 recipient, i);
    assert_ok(intake_accept(p->intake, &arrival, &accepted, &err), err);
    assert_ok(intake_step(p->intake, NULL, &err), err);
    enum status st = inbox_get(store_reader_conn(p->t->reader), accepted.id, false, &row, &err);
    assert_true(st == ST_OK || st == ST_NOT_FOUND);
    return st == ST_OK ? accepted.id : 0;
}

/* Whoever invents a hundred tokens fills no disk: so many of nobody's letters are kept an hour. */
static void test_of_letters_to_invented_tokens_few_are_kept(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    for (int i = 0; i < INBOX_NOBODYS_AN_HOUR; i++)
        assert_int_not_equal(invented(p, i), 0);
    for (int i = INBOX_NOBODYS_AN_HOUR; i < 100; i++)
        assert_int_equal(invented(p, i), 0);
    assert_int_equal(post_count(p, "SELECT count(*) FROM inbox"), INBOX_NOBODYS_AN_HOUR);
    assert_int_equal(post_count(p, "SELECT count(*) FROM outbox"), 0);
    assert_int_equal(intake_stats(p->intake).verdicts[INBOX_VERDICT_STRANGER], 100);
    /* players' letters are, also by a token that was mangled on the way */
    expect(post_play(p, SOUTH, game, "e2-e4"), INBOX_VERDICT_ACTED);
    r = post_say(p, SOUTH, "aaaaaaaaaaaaaaaaaaaaaaaaaa", "status");
    expect(r, INBOX_VERDICT_REFUSED);
    assert_true(r->has_answer);
    /* an hour later there is room again */
    pass(p->t, MS_HOUR - 1);
    assert_int_equal(invented(p, 200), 0);
    pass(p->t, 1);
    assert_int_not_equal(invented(p, 201), 0);
}

static void test_tokens_are_masked_wherever_they_stand(void **state)
{
    static const struct {
        const char *text, *masked;
    } rows[] = {
        {"To: play+abcdefghijklmnopqrstuv2345@club.example", "To: play+…@club.example"},
        {"To: PLAY+ABCDEFGHIJKLMNOPQRSTUV2345@club.example, x", "To: PLAY+…@club.example, x"},
        {"<abcdefghijklmnopqrstuv2345@club.example>", "<…@club.example>"},
        {"play-abcdefghijklmnopqrstuv2345@club.example", "play-…@club.example"},
        {"References: <reply.abcdefghijklmnopqrstuv2345@club.example> <a@b>",
         "References: <reply.…@club.example> <a@b>"},
        {"=?utf-8?q?play=2Babcdefghijklmnopqrstuv2345=40club.example?=",
         "=?utf-8?q?play=2B…=40club.example?="},
        {"mailto:unsubscribe%2babcdefghijklmnopqrstuv2345%40club.example",
         "mailto:unsubscribe%2b…%40club.example"},
        {"abcdefghijklmnopqrstuv2345", "abcdefghijklmnopqrstuv2345"},           /* no address */
        {"abcdefghijklmnopqrstuv234@x.example", "abcdefghijklmnopqrstuv234@x.example"},
        {"abcdefghijklmnopqrstuv23456@x.example", "abcdefghijklmnopqrstuv23456@x.example"},
        {"abcdefghijklmnopqrstuv2348@x.example", "abcdefghijklmnopqrstuv2348@x.example"},
        {"a@b.example", "a@b.example"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out = buf_make(1024);

        intake_mask_tokens(rows[i].text, strlen(rows[i].text), &out);
        assert_false(buf_failed(&out));
        assert_string_equal(out.data, rows[i].masked);
        buf_release(&out);
    }
}

static void test_strangers_hear_nothing(void **state)
{
    struct post *p = *state;

    r = letter(p, "eve@example.net", "play@club.example", "From: eve@example.net", "help");
    expect(r, INBOX_VERDICT_STRANGER);
    assert_false(r->has_answer);
    assert_int_equal(post_count(p, "SELECT count(*) FROM outbox"), 0);
}

/* P37: the tag was taken off; what References carry is enough, and must agree. */
static void test_the_token_in_references_is_the_last_resort(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    char headers[500];

    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    (void)snprintf(headers, sizeof headers,
                   "From: Anna <ANNA@Example.org>\r\nTo: play@club.example\r\n"
                   "References: <game.root@club.example> <reply.%s@club.example>\r\n"
                   " <m1@club.example>\r\n"
                   "In-Reply-To: <m1@club.example>",
                   p->token);
    r = letter(p, "anna@example.org", "play@club.example", headers, "e2-e4");
    expect(r, INBOX_VERDICT_ACTED);
    assert_true(is_held(p, game));
}

static void test_tokens_that_disagree_do_nothing(void **state)
{
    struct post *p = *state;
    int64_t one = game_start(p->t, "teams"), two = game_start(p->t, "teams");
    char headers[300], to[96];

    (void)post_token(p, SOUTH, TOKEN_TURN, one);
    (void)str_copy(to, sizeof to, to_token(p));
    (void)post_token(p, SOUTH, TOKEN_TURN, two);
    (void)snprintf(headers, sizeof headers, "From: anna@example.org\r\nTo: %s, %s", to,
                   to_token(p));
    r = letter(p, "anna@example.org", to, headers, "e2-e4");
    expect(r, INBOX_VERDICT_REFUSED);
    assert_string_equal(r->row.reason, "token_conflict: e2-e4");
    expect_says(r, "two of our addresses");
    assert_false(is_held(p, one));
    assert_false(is_held(p, two));
}

/* ---------------------------------------------------------------- somebody else (P18) */

static const struct post_result *foreign(struct post *p, int64_t game, const char *text)
{
    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    return letter(p, "bert@example.net", to_token(p), "From: Bert <bert.long@example.net>", text);
}

static void test_a_foreign_letter_waits_for_its_owners_word(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams"), held;

    r = foreign(p, game, "e2-e4\nnote from Bert");
    expect(r, INBOX_VERDICT_HELD);
    held = r->row.id;
    assert_int_equal(r->row.state, INBOX_HELD);
    assert_string_equal(r->template_name, "held_letter");
    assert_int_equal(r->to_user, p->t->user[SOUTH]);
    assert_non_null(strstr(r->params, "\"from\":\"b…@example.net\""));
    assert_null(strstr(r->params, "bert.long"));
    expect_says(r, "e2-e4\nnote from Bert");
    assert_false(is_held(p, game));

    post_token_put(p, POST_TOKEN, SOUTH, TOKEN_CONFIRM, game, game_get(p->t, game).state_no, held,
                   now_of(p->t) + MS_DAY);
    r = post_say(p, SOUTH, POST_TOKEN, "confirm");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "> e2-e4\nSuccess: e2e4 is taken and held");
    assert_true(is_held(p, game));
    assert_int_equal(post_row(p, held).state, INBOX_DONE);
    assert_int_equal(post_row(p, held).verdict, INBOX_VERDICT_ACTED);
    /* … and no second time */
    r = post_say(p, SOUTH, POST_TOKEN, "accept");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "No letter waits for your word any more.");
    assert_int_equal(post_count(p, "SELECT count(*) FROM notes"), 1);
}

static void test_a_foreign_letter_may_be_dropped(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams"), held;

    held = foreign(p, game, "resign")->row.id;
    post_token_put(p, POST_TOKEN, SOUTH, TOKEN_CONFIRM, game, game_get(p->t, game).state_no, held,
                   now_of(p->t) + MS_DAY);
    r = post_say(p, SOUTH, POST_TOKEN, "decline");
    expect(r, INBOX_VERDICT_ACTED);
    expect_says(r, "the letter is dropped");
    assert_int_equal(post_row(p, held).state, INBOX_DONE);
    assert_int_equal(count_events(p->t, game, GAME_EVENT_RESIGNED), 0);
}

static void test_a_confirmed_letter_is_judged_as_the_game_is_now(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams"), held;

    held = foreign(p, game, "e2-e4")->row.id;
    move_ok(p->t, game, "d2d4");
    post_token_put(p, POST_TOKEN, SOUTH, TOKEN_CONFIRM, game, game_get(p->t, game).state_no, held,
                   now_of(p->t) + MS_DAY);
    r = post_say(p, SOUTH, POST_TOKEN, "confirm");
    expect(r, INBOX_VERDICT_REFUSED);
    expect_says(r, "InvalidMoveNumber");
    assert_int_equal(post_row(p, held).verdict, INBOX_VERDICT_REFUSED);
}

static void test_a_foreign_question_or_old_token_is_not_worth_asking_about(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    expect(foreign(p, game, "board"), INBOX_VERDICT_STRANGER);
    expect(foreign(p, game, "Hi there"), INBOX_VERDICT_STRANGER);
    post_token_put(p, POST_TOKEN, SOUTH, TOKEN_TURN, game, game_get(p->t, game).state_no, 0,
                   now_of(p->t));
    r = letter(p, "bert@example.net", "play+" POST_TOKEN "@club.example",
               "From: bert@example.net", "e2-e4");
    expect(r, INBOX_VERDICT_STRANGER);
    assert_int_equal(post_count(p, "SELECT count(*) FROM outbox"), 0);
    /* the owner is asked ten times an hour: his own second address may come after a stranger */
    for (int i = 0; i < 10; i++)
        expect(foreign(p, game, i % 2 ? "d2-d4" : "e2-e4"), INBOX_VERDICT_HELD);
    /* … then told once that there are more, with nothing of what they say */
    r = foreign(p, game, "d2-d4");
    expect(r, INBOX_VERDICT_REFUSED);
    assert_string_equal(r->template_name, "held_more");
    assert_int_equal(r->to_user, p->t->user[SOUTH]);
    assert_string_equal(r->text, "");
    assert_null(strstr(r->params, "subject"));
    assert_null(strstr(r->params, "in_reply_to"));
    assert_null(strstr(r->params, "from"));
    assert_int_equal(r->row.state, INBOX_DONE);
    for (int i = 0; i < 3; i++) {
        r = foreign(p, game, "d2-d4");
        expect(r, INBOX_VERDICT_STRANGER); /* whose bytes are kept for a day */
        assert_int_equal(r->row.game_id, game);
        assert_false(r->has_answer);
    }
    assert_int_equal(post_count(p, "SELECT count(*) FROM outbox"), 11);
    /* another game is another matter */
    expect(foreign(p, game_start(p->t, "teams"), "d2-d4"), INBOX_VERDICT_HELD);
    pass(p->t, MS_HOUR + 1);
    expect(foreign(p, game, "d2-d4"), INBOX_VERDICT_HELD);
}

static void test_the_policy_on_dmarc(void **state)
{
    static const struct {
        enum intake_dmarc policy;
        const char *header;
        enum inbox_verdict verdict;
    } rows[] = {
        {INTAKE_DMARC_IGNORE, "mx.club.example; dmarc=fail header.from=example.org",
         INBOX_VERDICT_ACTED},
        {INTAKE_DMARC_PREFER, "mx.club.example; dmarc=fail header.from=example.org",
         INBOX_VERDICT_HELD},
        {INTAKE_DMARC_PREFER, "mx.evil.example; dmarc=fail header.from=example.org",
         INBOX_VERDICT_ACTED},
        {INTAKE_DMARC_REQUIRE, "mx.evil.example; dmarc=pass header.from=example.org",
         INBOX_VERDICT_HELD},
        {INTAKE_DMARC_REQUIRE, "mx.club.example; dmarc=pass header.from=example.org",
         INBOX_VERDICT_ACTED},
    };
    struct post *p = *state;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t game = game_start(p->t, "teams");
        char headers[300];

        post_close(p);
        p->options.dmarc = rows[i].policy;
        post_open(p);
        (void)post_token(p, SOUTH, TOKEN_TURN, game);
        (void)snprintf(headers, sizeof headers,
                       "From: anna@example.org\r\nAuthentication-Results: %s", rows[i].header);
        r = letter(p, "anna@example.org", to_token(p), headers, "e2-e4");
        expect(r, rows[i].verdict);
        assert_int_equal(is_held(p, game), rows[i].verdict == INBOX_VERDICT_ACTED);
    }
}

/* ---------------------------------------------------------------- machines and limits */

static void test_machines_are_neither_obeyed_nor_answered(void **state)
{
    static const struct {
        const char *sender, *headers, *text;
        enum inbox_verdict verdict;
    } rows[] = {
        {"anna@example.org", "Auto-Submitted: auto-replied", "e2-e4", INBOX_VERDICT_AUTOMATIC},
        {"anna@example.org", "Precedence: bulk", "e2-e4", INBOX_VERDICT_AUTOMATIC},
        {"", "X-Nothing: 1", "e2-e4", INBOX_VERDICT_AUTOMATIC},
        {"mailer-daemon@example.org", "X-Nothing: 1", "e2-e4", INBOX_VERDICT_AUTOMATIC},
        {"anna@example.org", "X-Loop-Id: club.example", "e2-e4", INBOX_VERDICT_LOOP},
        {"anna@example.org", "Subject: Out of office", "I am away.", INBOX_VERDICT_AUTOMATIC},
        {"anna@example.org", "Subject: Out of office", "e2-e4", INBOX_VERDICT_ACTED},
    };
    struct post *p = *state;
    char headers[200];

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t game = game_start(p->t, "teams");

        (void)post_token(p, SOUTH, TOKEN_TURN, game);
        (void)snprintf(headers, sizeof headers, "From: anna@example.org\r\n%s", rows[i].headers);
        r = letter(p, rows[i].sender, to_token(p), headers, rows[i].text);
        expect(r, rows[i].verdict);
        assert_int_equal(r->has_answer, rows[i].verdict == INBOX_VERDICT_ACTED);
        assert_int_equal(is_held(p, game), rows[i].verdict == INBOX_VERDICT_ACTED);
    }
    r = letter(p, "games@club.example", "play@club.example", "From: games@club.example", "help");
    expect(r, INBOX_VERDICT_LOOP);
    r = letter(p, "x@club.example", "play@club.example", "From: play@club.example", "help");
    expect(r, INBOX_VERDICT_LOOP);
}

/* M4: acts go on, answers end. */
static void test_answers_an_hour_are_limited_and_acts_are_not(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    post_close(p);
    p->options.answers_an_hour = 3;
    post_open(p);
    for (int i = 0; i < 3; i++)
        assert_true(post_play(p, SOUTH, game, "board")->has_answer);
    expect(post_play(p, SOUTH, game, "board"), INBOX_VERDICT_SILENT);
    r = post_play(p, SOUTH, game, "e2-e4");
    expect(r, INBOX_VERDICT_ACTED);
    assert_false(r->has_answer);
    assert_true(is_held(p, game));
    assert_true(post_play(p, WEST, game, "board")->has_answer); /* each has his own */
    pass(p->t, MS_HOUR + 1);
    assert_true(post_play(p, SOUTH, game, "board")->has_answer);
}

static void test_the_same_mistake_is_told_once_an_hour(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    assert_true(post_play(p, SOUTH, game, "e2-e9")->has_answer);
    expect(post_play(p, SOUTH, game, "e2-e9"), INBOX_VERDICT_SILENT);
    assert_true(post_play(p, SOUTH, game, "e2-e8")->has_answer); /* another one */
    pass(p->t, MS_HOUR + 1);
    assert_true(post_play(p, SOUTH, game, "e2-e9")->has_answer);
    /* Refused for the same line, but another letter: a move that is not made is told. */
    assert_true(post_play(p, SOUTH, game, "undo")->has_answer);
    assert_true(post_play(p, SOUTH, game, "undo\ne2-e4")->has_answer);
    assert_true(post_play(p, SOUTH, game, "undo\nd2-d4")->has_answer);
    expect(post_play(p, SOUTH, game, "undo\nd2-d4"), INBOX_VERDICT_SILENT);
    assert_true(post_play(p, SOUTH, game, "Hello\n\ne2-e4")->has_answer);
    assert_true(post_play(p, SOUTH, game, "Hello\n\nd2-d4")->has_answer);
    /* … and when the game has changed, so that the same may mean another thing. */
    pass(p->t, 1);
    move_ok(p->t, game, "e2e4");
    assert_true(post_play(p, SOUTH, game, "undo")->has_answer);
    expect(post_play(p, SOUTH, game, "undo"), INBOX_VERDICT_SILENT);
}

/* ---------------------------------------------------------------- once and only once (P21, P39) */

static enum status fail_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct intent_row intent = INTENT_ROW_INIT;
    enum status st = outbox_claim(txn, CHANNEL_MAIL, now, MS_MINUTE, &intent, err);

    (void)arg;
    if (st == ST_OK)
        st = outbox_failed(txn, intent.id, intent.attempts, 550, "no", 0, now, err);
    intent_release(&intent);
    return st;
}

static void answer_fails(struct post *p)
{
    struct writer_command command = {.name = "fail", .run = fail_run};
    struct err err = ERR_INIT;

    assert_ok(writer_run(p->t->writer, &command, &err), err);
}

/* An answer that is not true any more is not given, whatever became of it. */
static void test_a_repeat_is_told_nothing_that_is_past(void **state)
{
    static const char bytes[] = "From: anna@example.org\r\nMessage-ID: <held@example.org>\r\n\r\n"
                                "e2-e4\r\n";
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    r = post_raw(p, "anna@example.org", to_token(p), bytes, sizeof bytes - 1);
    expect(r, INBOX_VERDICT_ACTED);
    answer_fails(p);
    pass(p->t, 10 * MS_MINUTE);
    tick_all(p->t, false);
    assert_int_equal(game_get(p->t, game).ply, 1);
    (void)post_raw(p, "anna@example.org", to_token(p), bytes, sizeof bytes - 1);
    assert_int_equal(post_count(p, "SELECT count(*) FROM outbox WHERE dedupe_key LIKE 'answer:%'"),
                     1);
}

static void test_the_same_letter_again_has_no_second_effect(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams"), id;
    static const char headers[] = "From: anna@example.org";
    char bytes[300];
    int n;

    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    n = snprintf(bytes, sizeof bytes, "%s\r\nMessage-ID: <same@example.org>\r\n\r\nnote once\r\n",
                 headers);
    r = post_raw(p, "anna@example.org", to_token(p), bytes, (size_t)n);
    expect(r, INBOX_VERDICT_ACTED);
    id = r->row.id;
    /* by another way, with other transport lines */
    n = snprintf(bytes, sizeof bytes,
                 "Received: from elsewhere\r\n%s\r\nMessage-ID: <same@example.org>\r\n\r\n"
                 "note once\r\n", headers);
    r = post_raw(p, "anna@example.org", to_token(p), bytes, (size_t)n);
    assert_int_equal(r->row.id, id);
    assert_int_equal(r->row.repeats, 1);
    assert_int_equal(post_count(p, "SELECT count(*) FROM notes"), 1);
    /* the one answer waits to be sent; once it could not be, a repeat gets it anew, once */
    assert_int_equal(post_count(p, "SELECT count(*) FROM outbox"), 1);
    answer_fails(p);
    for (int i = 0; i < 2; i++) {
        (void)post_raw(p, "anna@example.org", to_token(p), bytes, (size_t)n);
        assert_int_equal(post_count(p, "SELECT count(*) FROM outbox"), 2);
        assert_int_equal(post_count(p, "SELECT count(DISTINCT params) FROM outbox"), 1);
    }
    assert_int_equal(intake_stats(p->intake).accepted, 1);
    assert_int_equal(intake_stats(p->intake).repeated, 3);
    assert_int_equal(intake_stats(p->intake).verdicts[INBOX_VERDICT_ACTED], 1);
    /* the same id with another text is another letter */
    n = snprintf(bytes, sizeof bytes, "%s\r\nMessage-ID: <same@example.org>\r\n\r\nnote two\r\n",
                 headers);
    r = post_raw(p, "anna@example.org", to_token(p), bytes, (size_t)n);
    expect(r, INBOX_VERDICT_ACTED);
    assert_int_equal(post_count(p, "SELECT count(*) FROM notes"), 2);
}

/* P29: whoever writes from the owner's address to his token is told; no other player is, nor a
 * machine. */
static void test_a_letter_that_cannot_be_read_is_put_aside_and_its_owner_told(void **state)
{
    static const char bytes[] = "From: anna@example.org\r\n\r\nnote a\0b\r\n";
    static const struct {
        const char *sender;
        bool is_told;
    } rows[] = {{"clara@example.org", false}, {"", false}, {"ANNA@example.org", true}};
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char other[sizeof bytes];

        memcpy(other, bytes, sizeof bytes);
        other[sizeof bytes - 4] = (char)('a' + i); /* each a letter of its own */
        r = post_raw(p, rows[i].sender, to_token(p), other, sizeof other - 1);
        expect(r, INBOX_VERDICT_UNREADABLE);
        assert_int_equal(r->row.state, INBOX_QUARANTINED);
        assert_int_equal(r->has_answer, rows[i].is_told);
    }
    assert_int_equal(post_count(p, "SELECT count(*) FROM outbox WHERE template = 'unreadable'"), 1);
    r = post_raw(p, "anna@example.org", "play+aaaaaaaaaaaaaaaaaaaaaaaaaa@club.example", bytes,
                 sizeof bytes - 1);
    assert_false(r->has_answer);
    assert_int_equal(r->row.state, INBOX_QUARANTINED);
}

/* … also when its address is used up or too old: as with any letter, he is told that (X1). */
static void test_an_old_address_is_told_of_also_for_what_cannot_be_read(void **state)
{
    static const char bytes[] = "From: anna@example.org\r\n\r\nnote a\0b\r\n";
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    char other[sizeof bytes];

    post_token_put(p, POST_TOKEN, SOUTH, TOKEN_TURN, game, game_get(p->t, game).state_no, 0,
                   now_of(p->t) + MS_DAY);
    r = post_raw(p, "anna@example.org", "play+" POST_TOKEN "@club.example", bytes,
                 sizeof bytes - 1);
    assert_string_equal(r->template_name, "unreadable");
    assert_string_equal(r->text, "");
    pass(p->t, MS_DAY);
    memcpy(other, bytes, sizeof bytes);
    other[sizeof bytes - 4] = 'x';
    r = post_raw(p, "anna@example.org", "play+" POST_TOKEN "@club.example", other,
                 sizeof other - 1);
    expect(r, INBOX_VERDICT_UNREADABLE);
    assert_string_equal(r->template_name, "unreadable");
    expect_says(r, "AuthenticationFailed: The address you wrote to has been used up or is too old");
    assert_int_equal(r->row.state, INBOX_QUARANTINED);
}

/* The operator is not called for what anybody can send. */
static void test_an_unreadable_letter_of_a_stranger_is_not_put_aside(void **state)
{
    static const char bytes[] = "From: eve@example.net\r\n\r\nnote a\0b\r\n";
    static const char *const recipients[] = {
        "play@club.example", "play+aaaaaaaaaaaaaaaaaaaaaaaaaa@club.example"};
    static const char *const senders[] = {"eve@example.net", "", "disabled@example.net"};
    struct post *p = *state;
    struct inbox_depth depth;
    struct err err = ERR_INIT;

    for (size_t i = 0; i < COUNT_OF(recipients); i++)
        for (size_t k = 0; k < COUNT_OF(senders); k++) {
            char other[sizeof bytes];

            memcpy(other, bytes, sizeof bytes);
            other[sizeof bytes - 4] = (char)('a' + k);
            r = post_raw(p, senders[k], recipients[i], other, sizeof other - 1);
            expect(r, INBOX_VERDICT_UNREADABLE);
            assert_int_equal(r->row.state, INBOX_DONE);
            assert_false(r->has_answer);
        }
    assert_ok(inbox_depth(store_reader_conn(p->t->reader), &depth, &err), err);
    assert_int_equal(depth.quarantined, 0);
}

static enum status claim_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct inbox_row row;
    size_t n = 0;

    (void)arg;
    return inbox_claim(txn, now, 1, &row, &n, err);
}

/* Somebody claims it and dies. */
static void claim_and_die(struct post *p)
{
    struct writer_command command = {.name = "claim", .run = claim_run};
    struct err err = ERR_INIT;

    assert_ok(writer_run(p->t->writer, &command, &err), err);
    assert_ok(intake_reclaim(p->intake, &err), err);
}

static void test_a_letter_that_kills_its_reader_is_put_aside(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    struct intake_arrival arrival = {.way = INBOX_BY_LMTP, .sender = "anna@example.org",
                                     .received_at = UTC_NONE};
    struct intake_accepted bad, good;
    struct err err = ERR_INIT;
    char text[200];

    for (int deaths = 1; deaths <= INTAKE_ATTEMPTS; deaths++) {
        (void)post_token(p, SOUTH, TOKEN_TURN, game);
        (void)snprintf(text, sizeof text, "From: anna@example.org\r\n\r\nnote %d\r\n", deaths);
        arrival.recipient = to_token(p);
        arrival.bytes = text;
        arrival.n = strlen(text);
        assert_ok(intake_accept(p->intake, &arrival, &bad, &err), err);
        for (int i = 0; i < deaths; i++)
            claim_and_die(p);
        (void)snprintf(text, sizeof text, "From: anna@example.org\r\n\r\nnote behind %d\r\n",
                       deaths);
        arrival.n = strlen(text);
        assert_ok(intake_accept(p->intake, &arrival, &good, &err), err);
        assert_ok(intake_step(p->intake, NULL, &err), err);
        assert_int_equal(post_row(p, bad.id).state,
                         deaths < INTAKE_ATTEMPTS ? INBOX_DONE : INBOX_QUARANTINED);
        assert_int_equal(post_row(p, good.id).verdict, INBOX_VERDICT_ACTED);
    }
}

/* P39: what fails inside us is tried twice and put aside, with the thread and without. */
static void test_a_letter_that_cannot_be_acted_upon_blocks_nothing(void **state)
{
    struct post *p = *state;
    struct intake_accepted bad, good;
    struct err err = ERR_INIT;

    for (int threads = 0; threads < 2; threads++) {
        int64_t game = game_start(p->t, "teams");
        struct intake_arrival arrival = {.way = INBOX_BY_LMTP, .sender = "anna@example.org",
                                         .received_at = UTC_NONE};
        static const char fails[] = "From: anna@example.org\r\n\r\ndraw\r\n",
                          works[] = "From: anna@example.org\r\n\r\nnote fine\r\n";

        (void)post_token(p, SOUTH, TOKEN_TURN, game);
        arrival.recipient = to_token(p);
        arrival.bytes = fails;
        arrival.n = sizeof fails - 1;
        assert_ok(intake_accept(p->intake, &arrival, &bad, &err), err);
        arrival.bytes = works;
        arrival.n = sizeof works - 1;
        assert_ok(intake_accept(p->intake, &arrival, &good, &err), err);
        p->t->fail_hook_after = 0; /* whoever writes the letters of a draw offer fails */
        if (threads) {
            table_start_thread(p->t);
            assert_ok(intake_start(p->intake, &err), err);
            intake_settle(p->intake);
            intake_stop(p->intake);
        } else {
            assert_ok(intake_step(p->intake, NULL, &err), err);
        }
        p->t->fail_hook_after = -1;
        assert_int_equal(post_row(p, bad.id).state, INBOX_QUARANTINED);
        assert_int_equal(post_row(p, bad.id).attempts, INTAKE_ATTEMPTS + 1);
        assert_int_equal(post_row(p, good.id).verdict, INBOX_VERDICT_ACTED);
        assert_int_equal(count_events(p->t, game, GAME_EVENT_DRAW_OFFERED), 0);
    }
}

/* M10, P29, P38: what cannot be read is put aside at once, and stops nothing. */
static void test_unreadable_bytes_are_put_aside(void **state)
{
    static const char nul[] = "From: anna@example.org\r\n\r\ne2-\0e4\r\n";
    struct post *p = *state;

    r = post_raw(p, "anna@example.org", "play@club.example", nul, sizeof nul - 1);
    expect(r, INBOX_VERDICT_UNREADABLE);
    assert_int_equal(r->row.state, INBOX_QUARANTINED);
    r = post_raw(p, "anna@example.org", "play@club.example", "", 0);
    expect(r, INBOX_VERDICT_UNREADABLE);
    expect(post_say(p, SOUTH, NULL, "help"), INBOX_VERDICT_REFUSED);
}

/* Whatever is lost between claim and commit, a letter has its effect once. */
static void test_exactly_one_effect_a_letter(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    char text[200];
    uint64_t seed = 20261129;
    struct err err = ERR_INIT;

    post_close(p);
    p->options.answers_an_hour = 100000;
    post_open(p);
    for (int i = 0; i < 200; i++) {
        struct intake_arrival arrival = {.way = INBOX_BY_LMTP, .sender = "anna@example.org",
                                         .received_at = UTC_NONE};
        struct intake_accepted accepted;

        (void)post_token(p, SOUTH, TOKEN_TURN, game);
        (void)snprintf(text, sizeof text, "From: anna@example.org\r\n\r\nnote %d\r\n", i);
        arrival.recipient = to_token(p);
        arrival.bytes = text;
        arrival.n = strlen(text);
        for (int times = 0; times < 3; times++) { /* the MTA never saw our 250 */
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            assert_ok(intake_accept(p->intake, &arrival, &accepted, &err), err);
            switch (seed >> 62) {
            case 0: /* killed before the claim: a new process */
                post_close(p);
                post_open(p);
                break;
            case 1: /* killed after it */
                if (times == 0)
                    claim_and_die(p);
                break;
            case 2: /* killed after the effect, before the door could say so */
                assert_ok(intake_step(p->intake, NULL, &err), err);
                break;
            default:
                break;
            }
        }
        assert_ok(intake_step(p->intake, NULL, &err), err);
    }
    assert_int_equal(post_count(p, "SELECT count(*) FROM notes"), 200);
    assert_int_equal(post_count(p, "SELECT count(DISTINCT text) FROM notes"), 200);
    assert_int_equal(post_count(p, "SELECT count(*) FROM inbox WHERE verdict <> 'acted'"), 0);
}

static void test_the_thread_works_letters_off(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    struct intake_arrival arrival = {.way = INBOX_BY_LMTP, .sender = "anna@example.org",
                                     .received_at = UTC_NONE};
    struct intake_accepted accepted;
    struct err err = ERR_INIT;
    const char *text = "From: anna@example.org\r\n\r\nnote threads\r\n";

    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    table_start_thread(p->t);
    assert_ok(intake_start(p->intake, &err), err);
    arrival.recipient = to_token(p);
    arrival.bytes = text;
    arrival.n = strlen(text);
    assert_ok(intake_accept(p->intake, &arrival, &accepted, &err), err);
    intake_settle(p->intake);
    assert_int_equal(post_row(p, accepted.id).verdict, INBOX_VERDICT_ACTED);
    intake_stop(p->intake);
    intake_stop(p->intake);
    assert_int_equal(intake_stats(p->intake).verdicts[INBOX_VERDICT_ACTED], 1);
    assert_int_equal(intake_stats(p->intake).answers, 1);
}

/* Many at once share commits, and are acted upon in the order in which they came. */
static void test_a_full_mailbox_is_worked_off_in_order(void **state)
{
    enum { LETTERS = 3 * INTAKE_CLAIM_MAX + 1 };
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    struct intake_arrival arrival = {.way = INBOX_BY_LMTP, .sender = "anna@example.org",
                                     .received_at = UTC_NONE};
    struct err err = ERR_INIT;
    char text[200];

    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    arrival.recipient = to_token(p);
    for (int i = 0; i < LETTERS; i++) {
        (void)snprintf(text, sizeof text, "From: anna@example.org\r\n\r\nnote %02d\r\n", i);
        arrival.bytes = text;
        arrival.n = strlen(text);
        assert_ok(intake_accept(p->intake, &arrival, NULL, &err), err);
    }
    table_start_thread(p->t);
    assert_ok(intake_start(p->intake, &err), err);
    intake_settle(p->intake);
    intake_stop(p->intake);
    assert_int_equal(intake_stats(p->intake).verdicts[INBOX_VERDICT_ACTED], LETTERS);
    assert_int_equal(
        post_count(p, "SELECT count(*) FROM notes WHERE CAST(text AS INTEGER) = id - 1"), LETTERS);
}

/* P38: of a letter with CR line ends Postfix makes one header line.  The token's owner is told,
 * whichever address his provider has put on the envelope; not so what comes from machines. */
static void test_a_letter_without_text_and_sender_is_answered_to_its_owner(void **state)
{
    static const char bytes[] = "From: anna@example.org To: x Subject: y  e2-e4\r\n";
    static const char again[] = "From: anna@example.org To: x Subject: z  e2-e4\r\n";
    static const char with_text[] = "From: anna@example.org To: x\r\n\r\ne2-e4\r\n";
    static const char *const machines[] = {"", "MAILER-DAEMON@mx.example.org"};
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");

    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    r = post_raw(p, "anna@example.org", to_token(p), bytes, sizeof bytes - 1);
    expect(r, INBOX_VERDICT_UNREADABLE);
    assert_string_equal(r->row.reason, "bad_from");
    assert_true(r->has_answer);
    assert_false(is_held(p, game));
    pass(p->t, 2 * MS_HOUR);
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        char other[sizeof again + 8];

        (void)snprintf(other, sizeof other, "%.*s%zu\r\n", (int)sizeof again - 3, again, i);
        r = post_raw(p, machines[i], to_token(p), other, strlen(other));
        assert_false(r->has_answer);
    }
    r = post_raw(p, "relay+anna=example.org@forward.example", to_token(p), again,
                 sizeof again - 1);
    expect(r, INBOX_VERDICT_UNREADABLE);
    assert_true(r->has_answer);
    assert_int_equal(r->row.user_id, p->t->user[SOUTH]);
    r = post_raw(p, "anna@example.org", to_token(p), with_text, sizeof with_text - 1);
    expect(r, INBOX_VERDICT_STRANGER);
    assert_false(r->has_answer);
    assert_false(is_held(p, game));
}

/* ---------------------------------------------------------------- bounces, recovery, leaving */

static enum status sent_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct post *p = arg;
    struct intent_row intent = INTENT_ROW_INIT, leased = INTENT_ROW_INIT;
    static int n;
    enum status st;

    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key, "test:%d", ++n);
    intent.cls = NOTICE_TURN;
    intent.channel = CHANNEL_MAIL;
    (void)str_copy(intent.template_name, sizeof intent.template_name, "turn");
    intent.user_id = p->t->user[SOUTH];
    intent.due_at = intent.created_at = now;
    intent.expires_at = now + MS_DAY;
    st = outbox_put(txn, &intent, &p->bounced_row, err);
    while (st == ST_OK && leased.id != p->bounced_row) { /* answers go first */
        intent_release(&leased);
        st = outbox_claim(txn, CHANNEL_MAIL, now, MS_HOUR, &leased, err);
    }
    if (st == ST_OK) {
        const struct outbox_letter bytes = {.bytes = "x", .len = 1, .content_type = "",
                                            .envelope_from = "bounce@club.example",
                                            .envelope_to = "anna@example.org",
                                            .message_id = "m@club.example"};

        st = outbox_compose(txn, leased.id, leased.attempts, &bytes, err);
    }
    if (st == ST_OK)
        st = outbox_sent(txn, leased.id, leased.attempts, 250, "ok", 1, now, err);
    intent_release(&leased);
    return st;
}

static void send_one(struct post *p)
{
    struct writer_command command = {.name = "sent", .run = sent_run, .arg = p};
    struct err err = ERR_INIT;

    assert_ok(writer_run(p->t->writer, &command, &err), err);
}

/* A report whose groups of fields are given. */
static const struct post_result *report_of(struct post *p, const char *mac, const char *groups)
{
    char to[96], bytes[2000];
    int n;

    (void)snprintf(to, sizeof to, "bounce+row.%s@club.example", mac);
    n = snprintf(bytes, sizeof bytes,
                 "From: MAILER-DAEMON@example.org\r\nMessage-ID: <b%" PRId64 "@example.org>\r\n"
                 "MIME-Version: 1.0\r\n"
                 "Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n"
                 "--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n"
                 "--b\r\nContent-Type: message/delivery-status\r\n\r\n"
                 "Reporting-MTA: dns; mx.example.org\r\n\r\n%s\r\n--b--\r\n",
                 ++p->letters, groups);
    assert_in_range(n, 1, sizeof bytes - 1);
    return post_raw(p, "", to, bytes, (size_t)n);
}

static const struct post_result *report(struct post *p, const char *mac, const char *action,
                                        const char *status)
{
    char group[200];

    (void)snprintf(group, sizeof group,
                   "Final-Recipient: rfc822; anna@example.org\r\nAction: %s\r\nStatus: %s\r\n",
                   action, status);
    return report_of(p, mac, group);
}

/* P24, P25, N9 */
static void test_bounces_suspend_by_blame_only(void **state)
{
    static const struct {
        const char *mac, *action, *status, *reason;
    } mild[] = {{"goodgood12", "delayed", "4.2.2", "no_failure"},
                {"goodgood12", "failed", "5.7.1", "policy"},
                {"goodgood12", "delivered", "2.0.0", "no_failure"},
                {"badbadbadb", "failed", "5.1.1", "bad_mac"},
                {"goodgood12", "failed", "5.2.2", "soft"}};
    struct post *p = *state;

    send_one(p);
    for (size_t i = 0; i < COUNT_OF(mild); i++) {
        r = report(p, mild[i].mac, mild[i].action, mild[i].status);
        expect(r, INBOX_VERDICT_BOUNCE);
        assert_string_equal(r->row.reason, mild[i].reason);
        assert_false(r->has_answer);
        assert_int_equal(user_now(p, SOUTH).address_state, ADDRESS_OK);
    }
    /* A letter speaks against its address once, whoever has seen its code. */
    r = report(p, "goodgood12", "failed", "5.1.1");
    assert_string_equal(r->row.reason, "counted_already");
    assert_int_equal(user_now(p, SOUTH).address_state, ADDRESS_OK);
    send_one(p);
    r = report(p, "goodgood12", "failed", "5.1.1");
    assert_string_equal(r->row.reason, "suspended");
    assert_int_equal(user_now(p, SOUTH).address_state, ADDRESS_SUSPENDED);
    assert_int_equal(p->suspended, 1);
    /* Any letter of his own heals it, even one without a token; a machine's does not. */
    (void)letter(p, "anna@example.org", "play@club.example",
                 "From: anna@example.org\r\nAuto-Submitted: auto-replied", "away");
    assert_int_equal(user_now(p, SOUTH).address_state, ADDRESS_SUSPENDED);
    (void)post_say(p, SOUTH, NULL, "I am here");
    assert_int_equal(user_now(p, SOUTH).address_state, ADDRESS_OK);
    assert_int_equal(p->reached, 1);
}

#define ORIGINAL(address) "Original-Recipient: rfc822;" address "\r\n"
#define FINAL(address) "Final-Recipient: rfc822; " address "\r\n"
#define FAILED "Action: failed\r\nStatus: 5.1.1\r\n\r\n"
#define DELIVERED "Action: relayed\r\nStatus: 2.0.0\r\n\r\n"

/* P24, P25: a right return path says which letter came back; the report must also speak of the
 * address it went to, or at least of no other.  Where he forwards his mail to is not his address:
 * that it does not exist is a failure as a full mailbox is. */
static void test_a_report_counts_for_the_address_that_the_letter_went_to(void **state)
{
    static const struct {
        const char *groups, *reason;
    } cases[] = {
        {FINAL("anna@example.org") FAILED, "suspended"},
        {ORIGINAL("anna@example.org") FINAL("anna@elsewhere.example") FAILED, "suspended"},
        {ORIGINAL("ANNA@Example.ORG") FINAL("x@elsewhere.example") FAILED, "suspended"},
        {ORIGINAL("anna+40example.org") FAILED, "suspended"}, /* xtext */
        {FINAL("anna") FAILED, "suspended"}, /* names no address */
        {FAILED, "suspended"},
        {FINAL("anna@elsewhere.example") FAILED, "soft"},
        {FINAL("anna@elsewhere.example") "Action: failed\r\nStatus: 5.7.1\r\n\r\n", "policy"},
        {ORIGINAL("mallory@example.net") FINAL("mallory@example.net") FAILED, "other_recipient"},
        {ORIGINAL("mallory@example.net") FINAL("anna@example.org") FAILED, "suspended"},
        {ORIGINAL("mallory@example.net") FAILED, "other_recipient"},
        /* What is said of him by name stands before the rest, in whatever order. */
        {FINAL("bo@example.net") FAILED FINAL("anna@example.org") DELIVERED, "no_failure"},
        {FINAL("anna@example.org") DELIVERED FINAL("bo@example.net") FAILED, "no_failure"},
        {ORIGINAL("bo@example.net") DELIVERED FINAL("anna@example.org") FAILED, "suspended"},
    };
    struct post *p = *state;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        bool suspends = str_eq(cases[i].reason, "suspended");

        send_one(p);
        r = report_of(p, "goodgood12", cases[i].groups);
        expect(r, INBOX_VERDICT_BOUNCE);
        if (!str_eq(r->row.reason, cases[i].reason))
            fail_msg("report %zu: %s, not %s", i, r->row.reason, cases[i].reason);
        assert_int_equal(user_now(p, SOUTH).address_state,
                         suspends ? ADDRESS_SUSPENDED : ADDRESS_OK);
        assert_int_equal(user_now(p, SOUTH).bounces,
                         suspends ? 3 : str_eq(cases[i].reason, "soft") ? 1 : 0);
        (void)post_say(p, SOUTH, NULL, "here");
        pass(p->t, MS_HOUR);
    }
}

static void test_soft_bounces_count_on_three_days_and_old_ones_not(void **state)
{
    struct post *p = *state;

    for (int day = 1; day <= 3; day++) {
        send_one(p);
        r = report(p, "goodgood12", "failed", "4.4.1");
        assert_string_equal(r->row.reason, day == 3 ? "suspended" : "soft");
        if (day == 1) { /* twice in a day counts once */
            send_one(p);
            assert_string_equal(report(p, "goodgood12", "failed", "4.4.2")->row.reason, "soft");
        }
        pass(p->t, MS_DAY);
    }
    assert_int_equal(user_now(p, SOUTH).address_state, ADDRESS_SUSPENDED);
    (void)post_say(p, SOUTH, NULL, "here");
    send_one(p);
    pass(p->t, 30 * MS_DAY + 1);
    r = report(p, "goodgood12", "failed", "5.1.1");
    assert_string_equal(r->row.reason, "too_old");
    assert_int_equal(user_now(p, SOUTH).address_state, ADDRESS_OK);
    send_one(p);
    pass(p->t, 30 * MS_DAY);
    assert_string_equal(report(p, "goodgood12", "failed", "5.1.1")->row.reason, "suspended");
}

static void test_what_is_no_report_bounces_nothing(void **state)
{
    struct post *p = *state;

    send_one(p);
    r = letter(p, "anna@example.org", "bounce+row.goodgood12@club.example",
               "From: anna@example.org\r\nSubject: Out of office", "away");
    expect(r, INBOX_VERDICT_BOUNCE);
    assert_string_equal(r->row.reason, "no_report");
    assert_int_equal(user_now(p, SOUTH).bounces, 0);
}

/* N9: a complaint to the return path of one of our letters suspends its address. */
static void test_a_complaint_suspends_the_address(void **state)
{
    static const struct {
        const char *mac, *type, *reason;
    } rows[] = {{"badbadbadb", "abuse", "bad_mac"},
                {"goodgood12", "not-spam", "no_report"},
                {"goodgood12", "abuse", "suspended"}};
    struct post *p = *state;

    send_one(p);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char to[96], bytes[1000];
        int n;

        (void)snprintf(to, sizeof to, "bounce+row.%s@club.example", rows[i].mac);
        n = snprintf(bytes, sizeof bytes,
                     "From: feedback@isp.example\r\nMessage-ID: <c%zu@isp.example>\r\n"
                     "MIME-Version: 1.0\r\n"
                     "Content-Type: multipart/report; report-type=feedback-report; boundary=b\r\n"
                     "\r\n--b\r\nContent-Type: text/plain\r\n\r\nThis is an abuse report.\r\n"
                     "--b\r\nContent-Type: message/feedback-report\r\n\r\n"
                     "Feedback-Type: %s\r\nUser-Agent: isp/1\r\nVersion: 1\r\n\r\n--b--\r\n",
                     i, rows[i].type);
        assert_in_range(n, 1, sizeof bytes - 1);
        r = post_raw(p, "", to, bytes, (size_t)n);
        expect(r, INBOX_VERDICT_BOUNCE);
        assert_string_equal(r->row.reason, rows[i].reason);
        assert_false(r->has_answer);
        assert_int_equal(user_now(p, SOUTH).address_state,
                         i + 1 < COUNT_OF(rows) ? ADDRESS_OK : ADDRESS_SUSPENDED);
    }
    assert_int_equal(p->suspended, 1);
    assert_string_equal(user_now(p, SOUTH).bounce_text, "complaint");
}

static void test_unsubscribing_by_mail(void **state)
{
    struct post *p = *state;
    struct prefs prefs;
    struct err err = ERR_INIT;

    /* neither by somebody else to whom it was forwarded, nor by his machine */
    r = letter(p, "anything@example.net", "unsubscribe+" POST_TOKEN "@club.example",
               "From: anything@example.net", "");
    expect(r, INBOX_VERDICT_STRANGER);
    r = letter(p, "anna@example.org", "unsubscribe+" POST_TOKEN "@club.example",
               "From: anna@example.org\r\nAuto-Submitted: auto-replied", "");
    expect(r, INBOX_VERDICT_AUTOMATIC);
    assert_ok(prefs_get(store_reader_conn(p->t->reader), p->t->user[SOUTH], &prefs, &err), err);
    assert_int_equal(prefs.at[NOTICE_MATE][CHANNEL_MAIL], PREF_DEFAULT);
    r = letter(p, "anna@example.org", "unsubscribe+" POST_TOKEN "@club.example",
               "From: Anna <Anna@Example.org>", "");
    expect(r, INBOX_VERDICT_UNSUBSCRIBED);
    assert_false(r->has_answer);
    assert_ok(prefs_get(store_reader_conn(p->t->reader), p->t->user[SOUTH], &prefs, &err), err);
    assert_int_equal(prefs.at[NOTICE_MATE][CHANNEL_MAIL], PREF_OFF);
    assert_int_equal(prefs.at[NOTICE_TURN][CHANNEL_MAIL], PREF_DEFAULT);
    r = letter(p, "anything@example.net", "unsubscribe+aaaaaaaaaaaaaaaaaaaaaaaaaa@club.example",
               "From: anything@example.net", "");
    expect(r, INBOX_VERDICT_STRANGER);
}

/* ---------------------------------------------------------------- the dry run */

static void test_a_dry_run_tells_all_and_does_nothing(void **state)
{
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    struct game_row before = game_get(p->t, game), after;
    struct intake_arrival arrival = {.way = INBOX_BY_COMMAND, .received_at = UTC_NONE};
    struct buf out = buf_make(256 * 1024);
    struct err err = ERR_INIT;
    char bytes[400];

    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    arrival.n = (size_t)snprintf(bytes, sizeof bytes,
                                 "Delivered-To: %s\r\nFrom: Anna <anna@example.org>\r\n"
                                 "Subject: Re: x\r\n\r\ne2-e4\r\nnote secret\r\n\r\nBye\r\n"
                                 "> b1-b3\r\n",
                                 to_token(p));
    arrival.bytes = bytes;
    assert_ok(intake_try(p->intake, &arrival, &out, &err), err);
    static const char *const lines[] = {
        "recipient: play+…@club.example\n", "token: turn, for anna, game ",
        "from: anna@example.org\n",         "authentication: none, believed\n",
        "sender: owner; the token is his",   "   1 command      e2-e4\n",
        "   2 command      note secret\n",  "   4 not read     Bye\n",
        "   5 quote        > b1-b3\n",      "  line 1: e2-e4 → Success\n",
        "verdict: acted\n",
        "answer to the account anna, by a letter that can be answered as receipt:\n",
        "Success: e2e4 is taken and held"};

    for (size_t i = 0; i < COUNT_OF(lines); i++)
        if (!strstr(out.data, lines[i]))
            fail_msg("lacks \"%s\":\n%s", lines[i], out.data);
    assert_null(strstr(out.data, p->token));
    buf_release(&out);
    after = game_get(p->t, game);
    assert_int_equal(after.last_seq, before.last_seq);
    assert_false(is_held(p, game));
    assert_int_equal(post_count(p, "SELECT count(*) FROM inbox"), 0);
    assert_int_equal(post_count(p, "SELECT count(*) FROM outbox"), 0);
    assert_int_equal(post_count(p, "SELECT count(*) FROM notes"), 0);
    assert_int_equal(post_count(p, "SELECT count(used_at) FROM turn_tokens"), 0);
    expect(post_say(p, SOUTH, p->token, "e2-e4"), INBOX_VERDICT_ACTED);
}

/* It takes what the doors take, and says as much as a request of the command line may carry. */
static void test_a_dry_run_takes_the_largest_letter(void **state)
{
    enum { SIZE = 1024 * 1024 };
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    struct intake_arrival arrival = {.way = INBOX_BY_COMMAND, .received_at = UTC_NONE, .n = SIZE};
    char *bytes = malloc(SIZE + 1);
    struct err err = ERR_INIT;

    assert_non_null(bytes);
    for (int is_html = 0; is_html < 2; is_html++) {
        struct buf out = buf_make(512u * 1024 - 100);
        size_t n;

        (void)post_token(p, SOUTH, TOKEN_TURN, game);
        n = (size_t)snprintf(bytes, SIZE, "Delivered-To: %s\nFrom: anna@example.org\n"
                             "Content-Type: text/%s\n\n%se2-e4\n\n",
                             to_token(p), is_html ? "html" : "plain", is_html ? "<pre>" : "");
        while (n < SIZE)
            n += (size_t)snprintf(bytes + n, SIZE + 1 - n, "%s", "a line\nx\n");
        arrival.bytes = bytes;
        assert_ok(intake_try(p->intake, &arrival, &out, &err), err);
        assert_non_null(strstr(out.data, "   1 command      e2-e4\n"));
        assert_non_null(strstr(out.data, " lines more\n"));
        assert_non_null(strstr(out.data, "verdict: acted\n"));
        assert_ok(buf_status(&out, "told", &err), err);
        buf_release(&out);
    }
    arrival.n = SIZE + 1;
    {
        struct buf out = buf_make(1000);

        assert_int_equal(intake_try(p->intake, &arrival, &out, &err), ST_TOO_LARGE);
        buf_release(&out);
    }
    free(bytes);
}

/* What a dry run says of a letter from an address to the token, in memory of its own. */
static const char *tried(struct post *p, const char *from, const char *text, size_t n)
{
    static char said[64 * 1024];
    struct intake_arrival arrival = {.way = INBOX_BY_COMMAND, .received_at = UTC_NONE};
    struct buf out = buf_make(256 * 1024);
    struct err err = ERR_INIT;
    char bytes[1000];
    int head = snprintf(bytes, sizeof bytes, "From: %s\r\nSubject: Re: x\r\n\r\n", from);

    assert_true((size_t)head + n < sizeof bytes);
    memcpy(bytes + head, text, n);
    arrival.sender = from;
    arrival.recipient = to_token(p);
    arrival.bytes = bytes;
    arrival.n = (size_t)head + n;
    assert_ok(intake_try(p->intake, &arrival, &out, &err), err);
    assert_true(str_copy(said, sizeof said, out.data));
    buf_release(&out);
    return said;
}

static void test_a_dry_run_shows_what_is_held_asked_or_refused(void **state)
{
    static const struct {
        enum token_purpose purpose;
        bool has_game;
        const char *from, *text;
        const char *lines[5];
    } rows[] = {
        {TOKEN_INFO, true, "anna@example.org", "resign",
         {"token: info, for anna, game ", "  line 1: resign → Success\n", "verdict: acted\n",
          "can be answered as receipt:\n---\n> resign\nSuccess: your resignation (Red) is taken "
          "and held"}},
        {TOKEN_ACCOUNT, false, "anna@example.org", "join zzzzzzzz",
         {"token: account, for anna\n", "  line 1: join zzzzzzzz → InvalidGameID\n",
          "verdict: refused, no_such_game: join zzzzzzzz\n", "can be answered as account:\n"}},
        {TOKEN_TURN, true, "eve@example.net", "e2-e4",
         {"sender: foreign; ", "verdict: held, foreign_sender; it is kept for its owner's word\n",
          "can be answered as confirm:\n---\nA letter from e…@example.net came", "\ne2-e4\n"}},
        {TOKEN_TURN, true, "anna@example.org", "undo",
         {"  line 1: undo → NothingToUndo\n", "Nothing of yours is held: what was"}},
    };
    struct post *p = *state;
    int64_t game = game_start(p->t, "teams");
    const char *said;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        (void)post_token(p, SOUTH, rows[i].purpose, rows[i].has_game ? game : 0);
        said = tried(p, rows[i].from, rows[i].text, strlen(rows[i].text));
        for (size_t k = 0; k < COUNT_OF(rows[i].lines) && rows[i].lines[k]; k++)
            if (!strstr(said, rows[i].lines[k]))
                fail_msg("%s lacks \"%s\":\n%s", rows[i].text, rows[i].lines[k], said);
    }
    /* An old letter, and one that cannot be read. */
    (void)post_token(p, SOUTH, TOKEN_TURN, game);
    move_ok(p->t, game, "e2e4");
    said = tried(p, "anna@example.org", "d2-d4", 5);
    if (!strstr(said, " (the game has moved on)\n") ||
        !strstr(said, "  line 1: d2-d4 → InvalidMoveNumber\n"))
        fail_msg("%s", said);
    said = tried(p, "anna@example.org", "d2\0d4", 5);
    if (!strstr(said, "the letter cannot be read: ") || !strstr(said, "token: turn, for anna") ||
        !strstr(said, "; it is put aside\n") || !strstr(said, "Please write it again"))
        fail_msg("%s", said);
    assert_int_equal(post_count(p, "SELECT count(*) FROM held_moves"), 0);
    assert_int_equal(post_count(p, "SELECT count(*) FROM outbox"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, post_setup, post_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_recipients_are_told_apart_by_shape),
        TEST(test_what_cannot_come_in_is_not_stored),
        TEST(test_the_inbox_keeps_no_token),
        TEST(test_a_letter_without_its_token_does_nothing_and_tells_its_account),
        TEST(test_strangers_hear_nothing),
        TEST(test_of_letters_to_invented_tokens_few_are_kept),
        TEST(test_tokens_are_masked_wherever_they_stand),
        TEST(test_the_token_in_references_is_the_last_resort),
        TEST(test_tokens_that_disagree_do_nothing),
        TEST(test_a_foreign_letter_waits_for_its_owners_word),
        TEST(test_a_foreign_letter_may_be_dropped),
        TEST(test_a_confirmed_letter_is_judged_as_the_game_is_now),
        TEST(test_a_foreign_question_or_old_token_is_not_worth_asking_about),
        TEST(test_the_policy_on_dmarc),
        TEST(test_machines_are_neither_obeyed_nor_answered),
        TEST(test_answers_an_hour_are_limited_and_acts_are_not),
        TEST(test_the_same_mistake_is_told_once_an_hour),
        TEST(test_a_repeat_is_told_nothing_that_is_past),
        TEST(test_the_same_letter_again_has_no_second_effect),
        TEST(test_a_letter_that_cannot_be_read_is_put_aside_and_its_owner_told),
        TEST(test_an_old_address_is_told_of_also_for_what_cannot_be_read),
        TEST(test_an_unreadable_letter_of_a_stranger_is_not_put_aside),
        TEST(test_a_letter_that_kills_its_reader_is_put_aside),
        TEST(test_a_letter_that_cannot_be_acted_upon_blocks_nothing),
        TEST(test_unreadable_bytes_are_put_aside),
        TEST(test_exactly_one_effect_a_letter),
        TEST(test_the_thread_works_letters_off),
        TEST(test_a_full_mailbox_is_worked_off_in_order),
        TEST(test_a_letter_without_text_and_sender_is_answered_to_its_owner),
        TEST(test_bounces_suspend_by_blame_only),
        TEST(test_a_report_counts_for_the_address_that_the_letter_went_to),
        TEST(test_soft_bounces_count_on_three_days_and_old_ones_not),
        TEST(test_what_is_no_report_bounces_nothing),
        TEST(test_a_complaint_suspends_the_address),
        TEST(test_unsubscribing_by_mail),
        TEST(test_a_dry_run_tells_all_and_does_nothing),
        TEST(test_a_dry_run_takes_the_largest_letter),
        TEST(test_a_dry_run_shows_what_is_held_asked_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

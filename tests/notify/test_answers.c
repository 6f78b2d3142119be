/* Letters that can be answered, answers to players' letters, bounce addresses, and addresses that
 * fail and come back. */
#include "notify/club.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "mail/golden.h"
#include "mail/message.h"
#include "mail/sink.h"
#include "notify/receiver.h"
#include "rules/rules.h"
#include "store/held.h"
#include "store/tokens.h"

static int set_up(void **state)
{
    struct club *c = club_open_by_mail("+");

    club_courier(c, 0, NULL);
    *state = c;
    return 0;
}

static int tear_down(void **state)
{
    club_close(*state);
    return 0;
}

/* The only letter to an address; the caller frees. */
static char *letter_to(struct club *c, const char *address)
{
    char line[200];
    char *found = NULL;

    (void)snprintf(line, sizeof line, "<%s>\r\nSubject: ", address);
    for (int i = 0; i < letters_count(c); i++) {
        char *letter = letter_nth(c, i);

        if (strstr(letter, line) != NULL) {
            assert_null(found);
            found = letter;
        } else {
            free(letter);
        }
    }
    if (found == NULL)
        fail_msg("no letter to %s", address);
    return found;
}

/* The 26 characters in play+TOKEN@club.example. */
static void token_of(const char *letter, char ret[SECRET_SIZE])
{
    char value[400];
    const char *at;

    (void)letter_header(letter, "Reply-To", value, sizeof value);
    at = strchr(value, '+');
    assert_non_null(at);
    (void)snprintf(ret, SECRET_SIZE, "%.26s", at + 1);
    assert_true(secret_is_shaped(ret));
    assert_string_equal(at + 1 + 26, "@club.example>");
}

static struct token_row token_row(struct club *c, const char *token)
{
    struct token_row row;
    unsigned char hash[DIGEST_SIZE];
    struct err err = ERR_INIT;

    secret_hash(token, hash);
    assert_ok(tokens_find(store_reader_conn(c->t->reader), hash, &row, &err), err);
    return row;
}

/* ---------------------------------------------------------------- tokens */

/* M2, P37: a token of its own in Reply-To and in References, kept as a hash with what it is for. */
static void test_a_turn_letter_carries_a_token_bound_to_what_it_shows(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    struct game_row g = game_get(c->t, game);
    char *letter, token[SECRET_SIZE], value[1000], want[400];
    struct token_row row;

    (void)club_send(c);
    letter = letter_to(c, "anna@example.org");
    token_of(letter, token);
    row = token_row(c, token);
    assert_int_equal(row.purpose, TOKEN_TURN);
    assert_int_equal(row.user_id, c->t->user[SOUTH]);
    assert_int_equal(row.game_id, game);
    assert_int_equal(row.seat, SOUTH);
    assert_int_equal(row.state_no, g.state_no);
    assert_int_equal(row.inbox_id, 0);
    assert_int_equal(row.created_at, now_of(c->t));
    assert_int_equal(row.expires_at, now_of(c->t) + 60 * MS_DAY); /* a fortnight's deadline */
    (void)snprintf(want, sizeof want, "<%s.root@club.example> <reply.%s@club.example>",
                   g.public_id, token);
    assert_string_equal(letter_header(letter, "References", value, sizeof value), want);
    (void)snprintf(want, sizeof want, "<%s.root@club.example>", g.public_id);
    assert_string_equal(letter_header(letter, "In-Reply-To", value, sizeof value), want);
    assert_int_equal(club_count(c, "SELECT count(*) FROM turn_tokens"), 4);
    /* no raw token is kept anywhere once the letter is out */
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox_bytes"), 0);
    free(letter);
}

/* Until 30 days after the deadline and its grace, at least 60 days. */
static void test_a_token_outlives_a_long_deadline(void **state)
{
    struct club *c = *state;
    int64_t game = game_start_days(c->t, "verney", 60);
    struct game_row g = game_get(c->t, game);
    char *letter, token[SECRET_SIZE];

    (void)club_send(c);
    letter = letter_to(c, "anna@example.org");
    token_of(letter, token);
    assert_int_equal(token_row(c, token).expires_at, g.deadline_at + g.grace_ms + 30 * MS_DAY);
    free(letter);
}

/* A repeat is the same letter with the same token. */
static void test_a_repeat_carries_the_same_token(void **state)
{
    static const struct sink_script full = {.rcpt = "452 4.3.1 full"};
    struct club *c = *state;
    struct sink *sink = sink_start(&full);
    char token[2][SECRET_SIZE];

    for (int user = WEST; user <= EAST; user++)
        club_pref(c, user, NOTICE_START, CHANNEL_MAIL, PREF_OFF);
    club_courier(c, sink_port(sink), NULL);
    (void)game_start(c->t, "verney");
    sink_set(sink, &(struct sink_script){.message = "451 4.3.0 not now"});
    (void)club_send(c);
    token_of(sink_message(sink), token[0]);
    pass(c->t, 2 * MS_MINUTE);
    sink_set(sink, &(struct sink_script){0});
    (void)club_send(c);
    sink_stop(sink);
    token_of(sink_message(sink), token[1]);
    assert_string_equal(token[0], token[1]);
    assert_int_equal(club_count(c, "SELECT count(*) FROM turn_tokens"), 1);
    sink_free(sink);
}

static void test_the_purpose_goes_by_what_the_letter_says(void **state)
{
    struct club *c = *state;
    int64_t game;
    struct call call;
    char *letter, token[SECRET_SIZE];
    struct arbiter_new_game wish = {.rules = "verney"};

    game = game_start(c->t, "fortress reserve=chosen");
    (void)club_send(c);
    letter = letter_to(c, "boris@example.org");
    token_of(letter, token);
    assert_int_equal(token_row(c, token).purpose, TOKEN_PLACING);
    assert_int_equal(token_row(c, token).seat, WEST);
    {
        char *text = letter_part(letter, strlen(letter), "plain");

        assert_has(text, "a1–d4"); /* his own fortress, and an example in it */
        assert_has(text, "place R d1 N");
        free(text);
    }
    free(letter);
    letters_clear(c);

    game = game_start(c->t, "verney");
    (void)club_send(c);
    letters_clear(c);
    call = acts(c->t, OP_OFFER, game, SOUTH);
    call_ok(&call);
    (void)club_send(c);
    letter = letter_to(c, "clara@example.org");
    token_of(letter, token);
    assert_int_equal(token_row(c, token).purpose, TOKEN_DRAW);
    free(letter);
    letters_clear(c);

    call = acts(c->t, OP_PAUSE, game, ORGANISER);
    call_ok(&call);
    (void)club_send(c);
    letter = letter_to(c, "david@example.org");
    token_of(letter, token);
    assert_int_equal(token_row(c, token).purpose, TOKEN_INFO);
    free(letter);
    letters_clear(c);

    wish.seats[0] = (struct arbiter_offer){.kind = OFFER_USER, .user_id = c->t->user[SOUTH]};
    wish.seats[1] = (struct arbiter_offer){.kind = OFFER_MAIL, .address = "new@example.net",
                                           .address_key = "new@example.net"};
    call = (struct call){.op = OP_CREATE, .t = c->t, .actor = player(c->t, ORGANISER),
                         .wish = &wish};
    call_ok(&call);
    (void)club_send(c);
    letter = letter_to(c, "anna@example.org");
    token_of(letter, token);
    assert_int_equal(token_row(c, token).purpose, TOKEN_INVITATION);
    free(letter);
    letter = letter_to(c, "new@example.net"); /* who has no account cannot answer by mail */
    assert_lacks(letter, "\nReply-To: ");
    free(letter);
}

/* Conventions 1.1: how to answer comes first, the board below. */
static void test_the_head_of_the_text_says_how_to_answer(void **state)
{
    static const char *const moves[] = {"e2e3", "b5c5"};
    static const struct {
        const char *address, *name, *first;
    } table[] = {{"anna@example.org", "reply-en", "Write your move on the first line"},
                 {"boris@example.org", "reply-ru", "Напишите свой ход в первой строке"},
                 {"clara@example.org", "reply-ro", "Scrieți mutarea pe primul rând"}};
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");

    for (size_t i = 0; i < COUNT_OF(table); i++) {
        char *letter, *text, *html, file[100];

        if (i > 0) {
            pass(c->t, 4 * MS_MINUTE);
            letters_clear(c);
            move_ok(c->t, game, moves[i - 1]);
        }
        (void)club_send(c);
        letter = letter_to(c, table[i].address);
        text = letter_part(letter, strlen(letter), "plain");
        html = letter_part(letter, strlen(letter), "html");
        if (!str_starts(text, table[i].first))
            fail_msg("does not begin with how to answer: %s", text);
        assert_has(html, table[i].first);
        (void)snprintf(file, sizeof file, "notify/golden/%s.txt", table[i].name);
        assert_golden(file, text, strlen(text));
        free(text);
        free(html);
        free(letter);
    }
}

/* N21: what stands there as an example is a move of the reader's own: it can be sent. */
static void test_the_example_is_a_move_that_the_reader_may_make(void **state)
{
    static const char *const rules[] = {"verney", "teams", "fortress reserve=usual"};
    static const char *const addresses[] = {"anna@example.org", "boris@example.org",
                                            "clara@example.org", "david@example.org"};
    struct club *c = *state;

    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        int64_t game = game_start(c->t, rules[i]);

        for (int ply = 0; ply < 2 * SEAT_COUNT; ply++) {
            char *letter, *text, *end, move[16];
            int from, to;
            size_t n;

            (void)club_send(c);
            letter = letter_to(c, addresses[ply % SEAT_COUNT]);
            text = letter_part(letter, strlen(letter), "plain");
            end = strstr(text, ".\n"); /* of the first sentence */
            assert_non_null(end);
            *end = '\0';
            assert_true(str_copy(move, sizeof move, strrchr(text, ' ') + 1));
            n = square_read(move, strlen(move), &from);
            assert_true(n > 0 && move[n] == '-');
            assert_int_equal(square_read(move + n + 1, strlen(move + n + 1), &to),
                             strlen(move + n + 1));
            pass(c->t, 4 * MS_MINUTE);
            letters_clear(c);
            move_ok(c->t, game, move);
            free(text);
            free(letter);
        }
        (void)club_send(c); /* of this game no more */
        letters_clear(c);
    }
}

/* P20: a tag never makes a local part of more than 64 octets; whoever configures one that would is
 * told at once. */
static void test_no_local_part_is_ever_longer_than_64_octets(void **state)
{
    struct club *c = *state;
    static const struct {
        const char *reply, *bounce, *unsubscribe, *delimiter;
        enum status st;
    } table[] = {
        {"play@club.example", "", "", "+", ST_OK},
        {"play@club.example", "", "", "", ST_OK},
        {"a23456789012345678901234567890123456x@club.example", "", "", "+", ST_OK}, /* 37 + 27 */
        {"a23456789012345678901234567890123456xy@club.example", "", "", "+", ST_INVALID},
        {"", "a2345678901234567890123456789012345678x@club.example", "", "+", ST_OK}, /* 39 */
        {"", "a2345678901234567890123456789012345678xy@club.example", "", "+", ST_INVALID},
        {"", "", "a23456789012345678901234567890123456xy@club.example", "+", ST_INVALID},
        {"play", "", "", "+", ST_INVALID},
        {"play@club.example", "", "", "++", ST_INVALID},
    };

    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct notify_options options = {.store = c->t->store, .writer = c->t->writer,
                                         .people = &c->people, .zones = c->zones,
                                         .entropy = c->t->arb.entropy, .site_name = "Chess Club",
                                         .public_url = "https://club.example",
                                         .mail_from = "games@club.example",
                                         .reply_address = table[i].reply,
                                         .bounce_address = table[i].bounce,
                                         .unsubscribe_address = table[i].unsubscribe,
                                         .reply_delimiter = table[i].delimiter};
        struct notify *n = NULL;
        struct err err = ERR_INIT;
        char address[ADDRESS_SIZE];

        if (notify_open(&options, &n, &err) != table[i].st)
            fail_msg("row %zu: %s", i, err.text);
        if (n != NULL) {
            verp_address(n, INT64_MAX, address);
            assert_true(strcspn(address, "@") <= NOTIFY_LOCAL_MAX);
            assert_true(address[0] == '\0' || mail_address_is_ok(address));
        }
        notify_close(n);
    }
}

/* Without a delimiter the token is the whole local part (a catch-all domain). */
static void test_other_delimiters(void **state)
{
    static const char *const delimiters[] = {"", "-"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(delimiters); i++) {
        struct club *c = club_open_by_mail(delimiters[i]);
        char *letter, value[400], bounce[ADDRESS_SIZE];
        int64_t id = 0;
        struct err err = ERR_INIT;

        club_courier(c, 0, NULL);
        (void)game_start(c->t, "verney");
        (void)club_send(c);
        letter = letter_to(c, "anna@example.org");
        (void)letter_header(letter, "Reply-To", value, sizeof value);
        assert_int_equal(strspn(value + (i == 0 ? 1 : 6), "abcdefghijklmnopqrstuvwxyz234567"), 26);
        assert_true(str_starts(value, i == 0 ? "<" : "<play-"));
        verp_address(c->notify, 77, bounce);
        assert_true(str_starts(bounce, "bounce-"));
        bounce[strcspn(bounce, "@")] = '\0';
        assert_ok(verp_read(c->notify, bounce, &id, &err), err);
        assert_int_equal(id, 77);
        free(letter);
        club_close(c);
    }
}

/* ---------------------------------------------------------------- bounces */

/* P25: an envelope sender that names its letter, and that nobody else can make. */
static void test_bounce_addresses_cannot_be_made(void **state)
{
    struct club *c = *state;
    static const int64_t ids[] = {1, 31, 32, 1023, 1024, 123456789, INT64_MAX};
    struct err err = ERR_INIT;
    int64_t got = -1;

    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        char address[ADDRESS_SIZE], local[100], other[100];

        verp_address(c->notify, ids[i], address);
        assert_true(mail_address_is_ok(address));
        (void)snprintf(local, sizeof local, "%.*s", (int)strcspn(address, "@"), address);
        assert_true(strlen(local) <= NOTIFY_LOCAL_MAX);
        assert_ok(verp_read(c->notify, local, &got, &err), err);
        assert_int_equal(got, ids[i]);
        for (char *p = local; *p != '\0'; p++) /* P20 */
            *p = *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p;
        assert_ok(verp_read(c->notify, local, &got, &err), err);
        got = -1;
        for (size_t k = 0; local[k] != '\0'; k++) { /* each character counts */
            memcpy(other, local, sizeof other);
            other[k] = other[k] == 'B' ? 'C' : 'B';
            assert_st(verp_read(c->notify, other, &got, &err), ST_GONE, err);
        }
        assert_int_equal(got, -1);
    }
    {
        static const char *const bad[] = {
            "", "bounce", "bounce+", "bounce+b", "bounce+b.", "bounce+.aaaaaaaaaa", "bounce+a.b",
            "bounce-b.aaaaaaaaaa", "bounce+bbbbbbbbbbbbbbbbbbbb.aaaaaaaaaa",
            "bounce+b.aaaaaaaaaaa", "games", "bounce+b.aaaaaaaaa\xc3",
            "bounce+bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"};

        for (size_t i = 0; i < COUNT_OF(bad); i++)
            assert_st(verp_read(c->notify, bad[i], &got, &err), ST_GONE, err);
    }
}

static void test_notices_go_out_under_their_bounce_address(void **state)
{
    struct club *c = *state;
    struct sink *sink = sink_start(NULL);
    const char *at;
    char local[100];
    struct err err = ERR_INIT;
    int64_t id = 0;

    for (int user = WEST; user <= EAST; user++)
        club_pref(c, user, NOTICE_START, CHANNEL_MAIL, PREF_OFF);
    club_courier(c, sink_port(sink), NULL);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    sink_stop(sink);
    at = strstr(sink_commands(sink), "MAIL FROM:<");
    assert_non_null(at);
    at += strlen("MAIL FROM:<");
    (void)snprintf(local, sizeof local, "%.*s", (int)strcspn(at, "@"), at);
    assert_ok(verp_read(c->notify, local, &id, &err), err);
    assert_int_equal(id, club_count(c, "SELECT id FROM outbox WHERE state = 'sent'"));
    sink_free(sink);
}

/* ---------------------------------------------------------------- answers */

struct asked {
    struct club *c;
    int user;
    int64_t game;
    const char *template_name, *params;
    int n;
};

static enum status answer_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct asked *a = arg;
    struct intent_row intent = INTENT_ROW_INIT;
    char params[2000];

    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key, "answer:%d", a->n++);
    (void)str_copy(params, sizeof params, a->params);
    intent.cls = NOTICE_ANSWER;
    intent.channel = CHANNEL_MAIL;
    (void)str_copy(intent.template_name, sizeof intent.template_name, a->template_name);
    intent.user_id = a->c->t->user[a->user];
    intent.game_id = a->game;
    intent.seat = a->game != 0 ? a->user : -1;
    intent.params = params;
    intent.due_at = intent.created_at = now;
    intent.expires_at = now + MS_DAY;
    return outbox_put(txn, &intent, NULL, err);
}

/* Put it, send it, and read it; the caller frees. */
static char *answered(struct asked *a, const char *address)
{
    letters_clear(a->c);
    club_run(a->c, answer_run, a);
    (void)club_send(a->c);
    return letter_to(a->c, address);
}

/* P01 – P04, M7: the receipt, with the board below; nothing that could begin a loop. */
static void test_an_answer_says_what_it_was_told_and_shows_the_board(void **state)
{
    struct club *c = *state;
    struct asked a = {.c = c, .user = SOUTH, .template_name = "answer",
                      .params = "{\"text\":\"Success: e2-e3\\n  and a second line\\n\","
                                "\"board\":true,\"move\":\"e2e3\",\"purpose\":\"receipt\","
                                "\"in_reply_to\":\"m2@mua.example\","
                                "\"references\":\"root@club.example "
                                "reply.aaaaaaaaaaaaaaaaaaaaaaaaaa@club.example m1@mua.example\","
                                "\"subject\":\"Re: RE: my move\"}"};
    char *letter, *text, token[SECRET_SIZE], value[1000], want[300];
    struct token_row row;

    a.game = game_start(c->t, "verney");
    (void)club_send(c);
    letter = answered(&a, "anna@example.org");
    assert_string_equal(letter_header(letter, "Auto-Submitted", value, sizeof value),
                        "auto-replied");
    assert_string_equal(letter_header(letter, "Subject", value, sizeof value), "Re: my move");
    assert_string_equal(letter_header(letter, "In-Reply-To", value, sizeof value),
                        "<m2@mua.example>");
    assert_string_equal(letter_header(letter, "X-Loop-Id", value, sizeof value), "club.example");
    assert_lacks(letter, "\r\nList-");
    token_of(letter, token);
    (void)snprintf(want, sizeof want, /* no other token of ours in it */
                   "<root@club.example> <m1@mua.example> <m2@mua.example> "
                   "<reply.%s@club.example>", token);
    assert_string_equal(letter_header(letter, "References", value, sizeof value), want);
    row = token_row(c, token);
    assert_int_equal(row.purpose, TOKEN_RECEIPT);
    assert_int_equal(row.game_id, a.game);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE class = 'answer' AND "
                                   "envelope_from = '' AND envelope_to = 'anna@example.org'"),
                     1);
    text = letter_part(letter, strlen(letter), "plain");
    assert_true(str_starts(text, "Success: e2-e3\n  and a second line\n"));
    assert_has(text, "The board, White at the bottom:");
    assert_has(text, "Last move: "); /* which nobody else sees yet: it is held */
    assert_has(letter, "Content-Type: image/png");
    free(text);
    free(letter);
    /* that showed it to nobody else */
    assert_int_equal(game_get(c->t, a.game).ply, 0);
}

/* What an answer offers makes sense in the game as it is: `undo` only where a move is held. */
static void test_an_answer_offers_what_the_game_allows(void **state)
{
    static const struct {
        const char *purpose, *has, *lacks;
        bool is_placing;
    } rows[] = {
        {"receipt", "of its own: undo, board", "resign", false},
        {"turn", "resign, board, moves", "undo", false},
        {"info", "board, moves, status", "undo", false},
        {"info", "place, status, why", "moves", true},
    };
    struct club *c = *state;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct asked a = {.c = c, .user = SOUTH, .template_name = "answer", .n = (int)i};
        char params[100], *letter, *text;

        a.game = game_start(c->t, rows[i].is_placing ? "fortress reserve=chosen" : "verney");
        (void)club_send(c);
        (void)snprintf(params, sizeof params, "{\"text\":\"x\",\"purpose\":\"%s\"}",
                       rows[i].purpose);
        a.params = params;
        letter = answered(&a, "anna@example.org");
        text = letter_part(letter, strlen(letter), "plain");
        assert_has(text, rows[i].has);
        assert_lacks(text, rows[i].lacks);
        free(text);
        free(letter);
    }
}

/* A letter of a turn says how to answer an offer of a draw that stands, but not one's own. */
static void test_a_turn_with_an_offer_says_how_to_answer_it(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    struct call call = acts(c->t, OP_OFFER, game, SOUTH);
    char *letter, *text;

    (void)club_send(c);
    call_ok(&call);
    (void)club_send(c);
    for (int user = SOUTH; user <= WEST; user++) {
        struct asked a = {.c = c, .user = user, .template_name = "answer", .game = game, .n = user,
                          .params = "{\"text\":\"x\",\"purpose\":\"turn\"}"};

        letter = answered(&a, user == SOUTH ? "anna@example.org" : "boris@example.org");
        text = letter_part(letter, strlen(letter), "plain");
        if (user == SOUTH)
            assert_lacks(text, "draw accept");
        else
            assert_has(text, "draw accept, draw decline");
        free(text);
        free(letter);
    }
}

static void test_an_answer_about_no_game_leads_to_the_account(void **state)
{
    struct club *c = *state;
    struct asked a = {.c = c, .user = WEST, .template_name = "answer",
                      .params = "{\"text\":\"x\",\"board\":true}"};
    char *letter, token[SECRET_SIZE], value[300];

    letter = answered(&a, "boris@example.org");
    token_of(letter, token);
    assert_int_equal(token_row(c, token).purpose, TOKEN_ACCOUNT);
    assert_int_equal(token_row(c, token).game_id, 0);
    assert_lacks(letter, "image/png");
    assert_lacks(letter, "In-Reply-To");
    (void)letter_header(letter, "Subject", value, sizeof value);
    assert_has(value, "=?UTF-8?");
    free(letter);
}

/* P18, P27, P37: each of the rest, in each language, with nothing left unfilled. */
static void test_the_other_answers_in_three_languages(void **state)
{
    static const struct {
        const char *template_name, *params, *in_english;
    } table[] = {
        {"held_letter", "{\"from\":\"friend@example.com\",\"text\":\"e2-e3\"}",
         "A letter from friend@example.com came to an address"},
        {"held_letter", "{\"text\":\"e2-e3\"}", "A letter from somebody else came"},
        {"confirm_letter", "{\"purpose\":\"confirm\",\"text\":\"resign\"}",
         "If you mean it, write confirm on the first line"},
        {"held_dropped", "{\"move\":\"e2e3\",\"board\":true,\"purpose\":\"turn\"}",
         "Your move e2e3, which was still held back, was not played"},
        {"held_dropped", "{\"move\":\"\",\"resign\":true,\"board\":true}",
         "Your resignation, which was still held back, did not take effect"},
        {"held_dropped", "{\"move\":\"e2e3\",\"replaced\":true,\"board\":true}",
         "Your move e2e3, which came by mail and was still held back, is taken back:"},
        {"held_dropped", "{\"move\":\"\",\"resign\":true,\"replaced\":true,\"board\":true}",
         "Your resignation, which came by mail and was still held back, is taken back:"},
        {"held_more", "{}", "more letters by others came to addresses of this game"},
        {"unreadable", "{}", "Please write it again"},
        {"no_token", "{\"in_reply_to\":\"not an id\",\"references\":\"<bad\"}",
         "does not say what it answers"},
    };
    static const char *const address[] = {"anna@example.org", "boris@example.org",
                                          "clara@example.org"};
    struct club *c = *state;
    struct asked a = {.c = c};
    int64_t game = game_start(c->t, "verney");

    (void)club_send(c);
    for (size_t i = 0; i < COUNT_OF(table); i++)
        for (int user = SOUTH; user <= NORTH; user++) {
            char *letter, *text, token[SECRET_SIZE];

            a.user = user;
            a.game = strchr(table[i].template_name, '_') && table[i].template_name[0] != 'n' ? game
                                                                                              : 0;
            a.template_name = table[i].template_name;
            a.params = table[i].params;
            letter = answered(&a, address[user]);
            text = letter_part(letter, strlen(letter), "plain");
            assert_lacks(text, "{");
            assert_lacks(letter, "not an id");
            if (user == SOUTH)
                assert_has(text, table[i].in_english);
            token_of(letter, token);
            if (strstr(a.template_name, "_letter")) {
                assert_has(text, str_eq(a.template_name, "held_letter") ? "e2-e3" : "resign");
                assert_has(text, "confirm"); /* the words of the grammar are in no language */
                assert_has(text, "decline");
                assert_int_equal(token_row(c, token).purpose, TOKEN_CONFIRM);
                assert_int_equal(token_row(c, token).expires_at, now_of(c->t) + 7 * MS_DAY);
            }
            free(text);
            free(letter);
        }
}

static void test_answers_cannot_be_switched_off_and_go_to_a_suspended_address(void **state)
{
    (void)state;
    assert_false(notice_is_switchable(NOTICE_ANSWER));
    assert_true(notice_default(NOTICE_ANSWER, CHANNEL_MAIL));
    assert_false(notice_default(NOTICE_ANSWER, CHANNEL_WEBHOOK));
}

/* Answers before all else that is due, even what was put earlier. */
static void test_answers_go_first(void **state)
{
    struct club *c = *state;
    struct sink *sink = sink_start(NULL);
    struct asked a = {.c = c, .user = EAST, .template_name = "answer",
                      .params = "{\"text\":\"x\"}"};
    const char *heads;

    club_courier(c, sink_port(sink), NULL);
    for (int i = 0; i < 8; i++)
        (void)game_start(c->t, "verney");
    pass(c->t, MS_SECOND);
    club_run(c, answer_run, &a);
    (void)club_send(c);
    sink_stop(sink);
    heads = sink_commands(sink);
    assert_int_equal(sink_messages(sink), 8 * 4 + 1);
    assert_non_null(strstr(heads, "MAIL FROM:<> "));
    {   /* among the first that were begun: as many as there are connections */
        int before = 0;

        for (const char *p = heads; (p = strstr(p, "MAIL FROM:")) != NULL; p++) {
            if (str_starts(p, "MAIL FROM:<> "))
                break;
            before++;
        }
        assert_true(before < COURIER_MAIL);
    }
    sink_free(sink);
}

/* ---------------------------------------------------------------- changes within a turn */

static void test_a_resignation_within_a_turn_makes_a_new_letter_with_a_new_token(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    struct call call = acts(c->t, OP_RESIGN, game, NORTH);
    char *letter, *text, token[2][SECRET_SIZE];

    (void)club_send(c);
    letter = letter_to(c, "anna@example.org");
    token_of(letter, token[0]);
    free(letter);
    letters_clear(c);
    call_ok(&call);
    (void)club_send(c);
    letter = letter_to(c, "anna@example.org");
    token_of(letter, token[1]);
    text = letter_part(letter, strlen(letter), "plain");
    assert_string_not_equal(token[0], token[1]);
    assert_int_equal(token_row(c, token[1]).state_no, game_get(c->t, game).state_no);
    assert_int_not_equal(token_row(c, token[0]).state_no, token_row(c, token[1]).state_no);
    assert_has(text, "The game has changed, and it is still your move as White");
    assert_has(text, "  Yellow: resigned");
    free(text);
    free(letter);
}

/* The old letter of the same turn is not sent any more when it still waits. */
static void test_the_letter_before_it_is_superseded(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    struct call call = acts(c->t, OP_RESIGN, game, NORTH);

    call_ok(&call);
    (void)club_send(c);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'turn' AND "
                                   "state = 'superseded'"),
                     1);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'turn' AND "
                                   "state = 'sent'"),
                     1);
}

/* The mover resigns, and the letter that should tell the next one of it comes too late. */
static void test_the_news_in_a_superseded_turn_letter_is_told_all_the_same(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    struct call call = acts(c->t, OP_RESIGN, game, SOUTH);
    char *letter, *text;

    (void)club_send(c);
    letters_clear(c);
    call_ok(&call);
    move_ok(c->t, game, "b5c5"); /* boris moves before his letter has gone */
    (void)club_send(c);
    letter = letter_to(c, "boris@example.org");
    text = letter_part(letter, strlen(letter), "plain");
    assert_has(letter, "X-Game: ");
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'resigned' AND "
                                   "state = 'sent' AND user_id = (SELECT id FROM users WHERE "
                                   "handle = 'boris')"),
                     1);
    free(text);
    free(letter);
    (void)club_send(c);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'queued'"), 0);
}

/* Two changes within a turn, and neither letter of it goes before the move: each is told, and the
 * last letter lists both, since it goes back to the move before the turn. */
static void test_all_that_superseded_letters_should_have_told_is_told(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    struct call call;
    char *text = NULL;

    (void)club_send(c);
    letters_clear(c);
    for (int user = WEST; user <= EAST; user++) {
        club_pref(c, user, NOTICE_LEAVING, CHANNEL_MAIL, PREF_OFF);
        club_pref(c, user, NOTICE_TURN, CHANNEL_MAIL, PREF_OFF);
    }
    call = acts(c->t, OP_RESIGN, game, WEST);
    call_ok(&call);
    call = acts(c->t, OP_RESIGN, game, NORTH);
    call_ok(&call);
    move_ok(c->t, game, "e2e3");
    (void)club_send(c);
    assert_int_equal(letters_count(c), 2);
    for (int i = 0; i < 2; i++) {
        char *letter = letter_nth(c, i), *one = letter_part(letter, strlen(letter), "plain");

        assert_has(letter, "<anna@example.org>");
        assert_has(one, "  Red: resigned");
        if (strstr(one, "Yellow: resigned") != NULL)
            text = one;
        else
            free(one);
        free(letter);
    }
    assert_non_null(text);
    free(text);
}

/* … but not twice: the new letter of the same turn tells it. */
static void test_the_news_is_not_told_twice(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    struct call call = acts(c->t, OP_RESIGN, game, SOUTH);

    (void)club_send(c);
    call_ok(&call);
    call = acts(c->t, OP_RESIGN, game, WEST); /* who was on turn: now clara is */
    call_ok(&call);
    (void)club_send(c);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'resigned' AND "
                                   "state = 'sent' AND user_id = (SELECT id FROM users WHERE "
                                   "handle = 'clara')"),
                     1); /* of the first one; of the second her turn letter tells */
}

static void test_a_class_that_is_switched_off_takes_its_waiting_letters_with_it(void **state)
{
    static const struct sink_script later = {.rcpt = "451 4.7.1 greylisted"};
    struct club *c = *state;
    struct sink *sink = sink_start(&later);

    club_courier(c, sink_port(sink), NULL);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    for (int user = SOUTH; user <= EAST; user++) {
        club_pref(c, user, NOTICE_TURN, CHANNEL_MAIL, PREF_OFF);
        club_pref(c, user, NOTICE_START, CHANNEL_MAIL, PREF_OFF);
    }
    pass(c->t, MS_HOUR);
    sink_set(sink, &(struct sink_script){0});
    (void)club_send(c);
    sink_stop(sink);
    assert_int_equal(sink_messages(sink), 0);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'superseded'"), 4);
    sink_free(sink);
}

/* ---------------------------------------------------------------- addresses that fail */

struct of_user {
    struct club *c;
    int user;
    int64_t game;
};

static enum status reached_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct of_user *u = arg;

    return notify_on_reached(txn, u->c->t->user[u->user], now, u->c->notify, err);
}

/* N9: the other channel is used, the organiser told once and neutrally, and what is still of use
 * comes when the address is back. */
static void test_a_suspended_address_is_told_of_and_made_up_for(void **state)
{
    static const struct sink_script nobody = {.rcpt = "550 5.1.1 no such user"};
    struct club *c = *state;
    struct sink *sink = sink_start(&nobody);
    struct receiver *receiver = receiver_start("HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n");
    struct of_user boris = {c, WEST, 0};
    char url[100];
    int64_t game;

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/hook", receiver_port(receiver));
    (void)club_webhook(c, WEST, url, WEBHOOK_STANDARD, "result");
    club_pref(c, WEST, NOTICE_TURN, CHANNEL_WEBHOOK, PREF_OFF);
    game = game_create_open(c->t, "verney", ORGANISER, false);
    for (int user = SOUTH; user <= EAST; user++)
        join(c->t, game, user, user);
    move_ok(c->t, game, "e2e3");
    for (int user = SOUTH; user <= EAST; user++)
        club_pref(c, user, NOTICE_START, CHANNEL_MAIL, PREF_OFF);
    club_pref(c, ORGANISER, NOTICE_INVITATION, CHANNEL_MAIL, PREF_OFF);
    assert_int_equal(receiver_count(receiver), 0);
    club_courier(c, sink_port(sink), NULL);
    {   /* boris's turn letter is refused; then letters to the others are taken */
        struct err err = ERR_INIT;

        while (club_count(c, "SELECT count(*) FROM users WHERE address_state = 'suspended'") == 0)
            assert_ok(courier_step(c->courier, false, NULL, &err), err);
        sink_set(sink, &(struct sink_script){0});
    }
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 1); /* by the other channel, though off there */
    {
        char *request = receiver_last(receiver);

        assert_has(request, "\"type\":\"game.turn\"");
        free(request);
    }
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'unreachable' AND "
                                   "user_id = (SELECT id FROM users WHERE handle = 'orga')"),
                     1);
    assert_has(sink_heads(sink), "To: Orga <orga@example.org>");
    assert_lacks(sink_message(sink), "boris@example.org");

    /* further ones go the same way, and are no letters */
    for (size_t i = 0; i < 4; i++)
        move_ok(c->t, game, ((const char *[]){"b5c5", "e13e12", "m5l5", "e1f3"})[i]);
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 2);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'unreachable'"),
                     1);

    club_run(c, reached_run, &boris);
    (void)club_send(c);
    sink_stop(sink);
    assert_has(sink_message(sink), "<boris@example.org>");
    assert_int_equal(club_count(c, "SELECT count(*) FROM users WHERE address_state <> 'ok'"), 0);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE channel = 'mail' AND "
                                   "template = 'turn' AND state = 'sent' AND user_id = "
                                   "(SELECT id FROM users WHERE handle = 'boris')"),
                     1); /* of the turn that is on, and of no other */
    sink_free(sink);
    receiver_stop(receiver);
}

static enum status soft_bounce_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct of_user *u = arg;
    bool is_suspended = true;
    enum status st = users_bounce(txn, u->c->t->user[u->user], /* is_hard= */ false, 3, "full",
                                  now, &is_suspended, err);

    assert_false(st == ST_OK && is_suspended);
    return st;
}

/* P24, N9: a relay takes every letter and reports later: that one was handed over, early or late,
 * makes no failure good, or three of them would never come together. */
static void test_a_letter_handed_over_does_not_make_a_failure_good(void **state)
{
    struct club *c = *state;
    struct of_user anna = {c, SOUTH, 0};
    int64_t game = game_start(c->t, "verney");
    struct call call = acts(c->t, OP_RESIGN, game, NORTH);

    pass(c->t, MS_SECOND);
    club_run(c, soft_bounce_run, &anna);
    (void)club_send(c); /* written before that */
    assert_int_equal(club_count(c, "SELECT bounces FROM users WHERE handle = 'anna'"), 1);
    pass(c->t, MS_SECOND);
    call_ok(&call); /* a new letter of her turn */
    assert_int_not_equal(club_send(c), 0);
    assert_int_equal(club_count(c, "SELECT bounces FROM users WHERE handle = 'anna'"), 1);
    club_run(c, reached_run, &anna);
    assert_int_equal(club_count(c, "SELECT bounces FROM users WHERE handle = 'anna'"), 0);
}

static enum status suspend_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct of_user *u = arg;
    bool is_suspended = false;
    enum status st = users_bounce(txn, u->c->t->user[u->user], /* is_hard= */ true, 3,
                                  "no such user", now, &is_suspended, err);

    assert_true(st != ST_OK || is_suspended);
    return st == ST_OK
               ? notify_on_suspended(txn, u->c->t->user[u->user], now, u->c->notify, err)
               : st;
}

/* N9: his partner is told too, whose side may lose by it; and nobody twice. */
static void test_a_suspended_address_is_told_of_to_the_partner(void **state)
{
    static const char what[] = "SELECT count(*) FROM outbox WHERE template LIKE 'unreachable%' AND "
                               "channel = 'mail' AND user_id = (SELECT id FROM users WHERE handle";
    struct club *c = *state;
    struct of_user boris = {c, WEST, 0};
    int64_t game, since;
    char *letter = NULL, *text, sql[300], subject[300];
    size_t n;

    club_courier(c, 0, NULL);
    game = game_start(c->t, "verney");
    (void)club_send(c);
    letters_clear(c);
    since = newest_intent(c);
    club_run(c, suspend_run, &boris);
    assert_int_equal(newest_intent(c), since + 2); /* not to the enemies */
    /* Before it is sent the game goes on: it is no letter about a turn. */
    move_ok(c->t, game, "e2e3");
    (void)club_send(c);
    for (int i = 0; i < letters_count(c); i++) {
        free(letter);
        letter = letter_nth(c, i);
        if (strstr(letter, "<david@example.org>"))
            break;
    }
    n = strlen(letter);
    assert_has(letter, "<david@example.org>");
    text = letter_part(letter, n, "plain");
    assert_has(text, "Letters to Red (");
    assert_has(text, "), your partner, do not");
    assert_lacks(text, "organiser");
    assert_lacks(letter, "boris@example.org");
    assert_has(letter_header(letter, "List-Id", subject, sizeof subject), "<leaving.");
    free(text);
    free(letter);
    /* The same again is nothing new; who organises as well is told as organiser alone. */
    club_run(c, reached_run, &boris);
    club_run(c, suspend_run, &boris);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(sql, sizeof sql, "%s = '%s')", what, i ? "orga" : "david");
        assert_int_equal(club_count(c, sql), 1);
    }
    game = game_create_open(c->t, "verney", EAST, false);
    for (int user = SOUTH; user <= EAST; user++)
        join(c->t, game, user, user);
    club_run(c, reached_run, &boris);
    club_run(c, suspend_run, &boris);
    (void)snprintf(sql, sizeof sql, "%s = 'david') AND template = 'unreachable'", what);
    assert_int_equal(club_count(c, sql), 1);
    (void)snprintf(sql, sizeof sql, "%s = 'david') AND template = 'unreachable_partner'", what);
    assert_int_equal(club_count(c, sql), 1); /* of the first game */
}

/* N9: he accepted on the page what he was invited to by a letter that came back. */
static void test_an_address_suspended_before_the_game_is_told_of_at_its_start(void **state)
{
    static const char told[] =
        "SELECT count(*) FROM outbox WHERE template = '%s' AND channel = 'mail' AND game_id = "
        "%" PRId64 " AND user_id = (SELECT id FROM users WHERE handle = '%s')";
    static const struct {
        const char *template_name, *handle;
        int count;
    } who[] = {{"unreachable", "orga", 1},        {"unreachable_partner", "david", 1},
               {"unreachable_partner", "anna", 0}, {"unreachable_partner", "clara", 0},
               {"unreachable", "david", 0},        {"unreachable_partner", "boris", 0}};
    /* the latter places first */
    static const char *const variants[] = {"verney", "fortress reserve=chosen"};
    struct club *c = *state;
    struct of_user boris = {c, WEST, 0};
    char sql[400];

    club_courier(c, 0, NULL);
    club_run(c, suspend_run, &boris);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox"), 0);
    for (size_t v = 0; v < COUNT_OF(variants); v++) {
        int64_t game = game_create_open(c->t, variants[v], ORGANISER, false);

        for (int user = SOUTH; user <= EAST; user++)
            join(c->t, game, user, user);
        for (size_t i = 0; i < COUNT_OF(who); i++) {
            (void)snprintf(sql, sizeof sql, told, who[i].template_name, game, who[i].handle);
            assert_int_equal(club_count(c, sql), who[i].count);
        }
    }
    assert_true(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'placing'") > 0);
}

/* N9: he is told by webhook as well, if one takes the class; once a game and player. */
static void test_a_suspended_address_is_told_of_by_the_organisers_webhook(void **state)
{
    struct club *c = *state;
    struct receiver *receiver = receiver_start("HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n");
    struct of_user boris = {c, WEST, 0}, clara = {c, NORTH, 0};
    char url[100], *request;
    int64_t game;

    (void)snprintf(url, sizeof url, "http://127.0.0.1:%d/hook", receiver_port(receiver));
    game = game_create_open(c->t, "verney", ORGANISER, false);
    for (int user = SOUTH; user <= EAST; user++)
        join(c->t, game, user, user);
    club_courier(c, 0, NULL);
    (void)club_send(c);
    (void)club_webhook(c, ORGANISER, url, WEBHOOK_STANDARD, "organiser");
    (void)club_webhook(c, NORTH, url, WEBHOOK_STANDARD, ""); /* an enemy's hears nothing */
    club_run(c, suspend_run, &boris);
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 1);
    request = receiver_last(receiver);
    assert_has(request, "\"type\":\"game.organiser\"");
    assert_has(request, "\"notice\":\"unreachable\"");
    assert_has(request, "\"event\":null");
    assert_has(request, "\"seat\":\"west\"");
    assert_has(request, "do not arrive at present");
    assert_has(request, "\"timestamp\":\"20");
    assert_lacks(request, "boris@example.org");
    free(request);
    /* the same again is nothing new; another player is */
    club_run(c, reached_run, &boris);
    club_run(c, suspend_run, &boris);
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 1);
    club_pref(c, ORGANISER, NOTICE_ORGANISER, CHANNEL_WEBHOOK, PREF_OFF);
    club_run(c, suspend_run, &clara);
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 1);
    club_pref(c, ORGANISER, NOTICE_ORGANISER, CHANNEL_WEBHOOK, PREF_ON);
    club_run(c, reached_run, &clara);
    club_run(c, suspend_run, &clara);
    (void)club_send(c);
    assert_int_equal(receiver_count(receiver), 2);
    request = receiver_last(receiver);
    assert_has(request, "\"seat\":\"north\"");
    free(request);
    receiver_stop(receiver);
}

static enum status new_address_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct of_user *u = arg;
    int64_t id = u->c->t->user[u->user];
    enum status st = users_set_address(txn, id, "anna@example.net", "anna@example.net", now, now,
                                       err);

    return st == ST_OK ? notify_on_new_address(txn, id, now, u->c->notify, err) : st;
}

static void test_a_new_address_gets_the_letters_of_turns_that_are_on(void **state)
{
    struct club *c = *state;
    struct of_user anna = {c, SOUTH, game_start(c->t, "verney")};
    char *letter;

    (void)game_start(c->t, "fortress reserve=chosen");
    (void)club_send(c);
    letters_clear(c);
    club_run(c, new_address_run, &anna);
    assert_int_equal(club_send(c), 2);
    letter = letter_nth(c, 0);
    assert_has(letter, "<anna@example.net>");
    free(letter);
    letter = letter_nth(c, 1);
    assert_has(letter, "<anna@example.net>");
    free(letter);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE template = 'placing' AND "
                                   "state = 'sent' AND envelope_to = 'anna@example.net'"),
                     1);
}

static enum status again_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct of_user *u = arg;
    struct game_row game;
    enum status st = games_get(store_txn_conn(txn), u->game, &game, err);

    return st == ST_OK ? notify_turn_again(txn, &game, u->c->t->user[u->user], now, u->c->notify,
                                           err)
                       : st;
}

/* N21 */
static void test_a_turn_letter_can_be_asked_for_again(void **state)
{
    struct club *c = *state;
    struct of_user anna = {c, SOUTH, 0}, boris = {c, WEST, 0};
    char *letter, token[2][SECRET_SIZE];
    struct err err = ERR_INIT;

    anna.game = boris.game = game_start(c->t, "verney");
    (void)club_send(c);
    letter = letter_to(c, "anna@example.org");
    token_of(letter, token[0]);
    free(letter);
    letters_clear(c);
    club_pref(c, SOUTH, NOTICE_TURN, CHANNEL_MAIL, PREF_OFF); /* he asks for it all the same */
    pass(c->t, MS_MINUTE);
    club_run(c, again_run, &anna);
    (void)club_send(c);
    letter = letter_to(c, "anna@example.org");
    token_of(letter, token[1]);
    assert_string_not_equal(token[0], token[1]);
    assert_has(letter, "X-Game: ");
    free(letter);
    assert_st(writer_run(c->t->writer,
                         &(struct writer_command){.name = "again", .run = again_run, .arg = &boris},
                         &err),
              ST_NOT_FOUND, err);
}

static enum status dropped_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct of_user *u = arg;
    struct game_row game;
    struct held_row held = {.seat = u->user, .user_id = u->c->t->user[u->user], .move = "e2e3",
                            .received_at = now, .release_at = now, .created_at = now};
    enum status st = games_get(store_txn_conn(txn), u->game, &game, err);

    held.game_id = u->game;
    held.state_no = game.state_no;
    return st == ST_OK ? notify_on_dropped(txn, &game, &held, false, now, u->c->notify, err) : st;
}

static void test_who_had_a_move_held_hears_that_it_was_dropped(void **state)
{
    struct club *c = *state;
    struct of_user anna = {c, SOUTH, game_start(c->t, "verney")};
    char *letter, *text, token[SECRET_SIZE];

    (void)club_send(c);
    letters_clear(c);
    club_run(c, dropped_run, &anna);
    (void)club_send(c);
    letter = letter_to(c, "anna@example.org");
    text = letter_part(letter, strlen(letter), "plain");
    assert_has(text, "Your move e2e3, which was still held back, was not played");
    assert_lacks(text, "Last move: ");
    token_of(letter, token);
    assert_int_equal(token_row(c, token).purpose, TOKEN_TURN); /* it is still his */
    free(text);
    free(letter);
}

/* ---------------------------------------------------------------- strangers */

struct blocking {
    struct club *c;
    char token[UNSUBSCRIBE_TOKEN_SIZE];
};

static enum status block_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct blocking *b = arg;

    return unsubscribe_address_block(b->c->notify, txn, b->token, now, err);
}

/* Who has no account can refuse further invitations to his address, and nothing of it is kept. */
static void test_a_stranger_can_refuse_further_invitations(void **state)
{
    struct club *c = *state;
    struct blocking b = {.c = c};
    struct arbiter_new_game wish = {.rules = "verney"};
    struct call call = {
        .op = OP_CREATE, .t = c->t, .actor = player(c->t, ORGANISER), .wish = &wish};
    char *letter, *text, value[400];
    const char *at;
    int64_t user = 7;
    enum notice_class cls = NOTICE_TEST;
    struct err err = ERR_INIT;

    wish.seats[1] = (struct arbiter_offer){.kind = OFFER_MAIL, .address = "New@example.net",
                                           .address_key = "new@example.net"};
    call_ok(&call);
    (void)club_send(c);
    letter = letter_to(c, "New@example.net");
    text = letter_part(letter, strlen(letter), "plain");
    (void)letter_header(letter, "List-Unsubscribe", value, sizeof value);
    at = strstr(value, "<https://club.example/u/");
    assert_non_null(at);
    (void)snprintf(b.token, sizeof b.token, "%.26s", at + strlen("<https://club.example/u/"));
    assert_has(value, "<mailto:unsubscribe+");
    assert_string_equal(letter_header(letter, "List-Unsubscribe-Post", value, sizeof value),
                        "List-Unsubscribe=One-Click");
    assert_has(text, b.token);
    free(text);
    free(letter);
    letters_clear(c);
    assert_ok(unsubscribe_read(c->notify, b.token, &user, &cls, &err), err);
    assert_int_equal(user, 0);
    assert_int_equal(cls, NOTICE_INVITATION);

    /* one waits while he says so, another comes later; neither is sent */
    call_ok(&call);
    club_run(c, block_run, &b);
    club_run(c, block_run, &b); /* again is no error */
    call_ok(&call);
    (void)club_send(c);
    assert_int_equal(letters_count(c), 0);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'superseded'"), 1);
    assert_int_equal(club_count(c, "SELECT count(*) FROM invitations WHERE state = 'pending'"), 3);
    assert_int_equal(club_count(c, "SELECT count(*) FROM address_blocks"), 1);

    wish.seats[1] = (struct arbiter_offer){.kind = OFFER_MAIL, .address = "other@example.net",
                                           .address_key = "other@example.net"};
    call_ok(&call);
    (void)club_send(c);
    assert_int_equal(letters_count(c), 1);
    b.token[0] = b.token[0] == 'a' ? 'b' : 'a';
    assert_st(writer_run(c->t->writer,
                         &(struct writer_command){.name = "block", .run = block_run, .arg = &b},
                         &err),
              ST_GONE, err);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_turn_letter_carries_a_token_bound_to_what_it_shows),
        TEST(test_a_token_outlives_a_long_deadline),
        TEST(test_a_repeat_carries_the_same_token),
        TEST(test_the_purpose_goes_by_what_the_letter_says),
        TEST(test_the_head_of_the_text_says_how_to_answer),
        TEST(test_the_example_is_a_move_that_the_reader_may_make),
        TEST(test_no_local_part_is_ever_longer_than_64_octets),
        cmocka_unit_test(test_other_delimiters),
        TEST(test_bounce_addresses_cannot_be_made),
        TEST(test_notices_go_out_under_their_bounce_address),
        TEST(test_an_answer_says_what_it_was_told_and_shows_the_board),
        TEST(test_an_answer_offers_what_the_game_allows),
        TEST(test_a_turn_with_an_offer_says_how_to_answer_it),
        TEST(test_an_answer_about_no_game_leads_to_the_account),
        TEST(test_the_other_answers_in_three_languages),
        TEST(test_answers_cannot_be_switched_off_and_go_to_a_suspended_address),
        TEST(test_answers_go_first),
        TEST(test_a_resignation_within_a_turn_makes_a_new_letter_with_a_new_token),
        TEST(test_the_letter_before_it_is_superseded),
        TEST(test_the_news_in_a_superseded_turn_letter_is_told_all_the_same),
        TEST(test_all_that_superseded_letters_should_have_told_is_told),
        TEST(test_the_news_is_not_told_twice),
        TEST(test_a_class_that_is_switched_off_takes_its_waiting_letters_with_it),
        TEST(test_a_letter_handed_over_does_not_make_a_failure_good),
        TEST(test_a_suspended_address_is_told_of_and_made_up_for),
        TEST(test_a_suspended_address_is_told_of_to_the_partner),
        TEST(test_an_address_suspended_before_the_game_is_told_of_at_its_start),
        TEST(test_a_suspended_address_is_told_of_by_the_organisers_webhook),
        TEST(test_a_new_address_gets_the_letters_of_turns_that_are_on),
        TEST(test_a_turn_letter_can_be_asked_for_again),
        TEST(test_who_had_a_move_held_hears_that_it_was_dropped),
        TEST(test_a_stranger_can_refuse_further_invitations),
    };

    return cmocka_run_group_tests_name("notify/answers", tests, NULL, NULL);
}

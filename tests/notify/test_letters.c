#include "notify/club.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "mail/golden.h"

static int set_up(void **state)
{
    struct club *c = club_open();

    club_courier(c, 0, NULL);
    *state = c;
    return 0;
}

static int tear_down(void **state)
{
    club_close(*state);
    return 0;
}

/* Play, sending after each move, until `user` is on turn again. */
static void play(struct club *c, int64_t game, const char *const *moves, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        (void)club_send(c);
        letters_clear(c);
        pass(c->t, 4 * MS_MINUTE);
        move_ok(c->t, game, moves[i]);
    }
    (void)club_send(c);
}

static const char *const opening[] = {"e2e3", "b5c5", "e13e12", "m5l5",
                                      "e1f3", "a5c6", "e14f12", "n5l6"};

/* The letter, decoded; the picture is only looked at from outside. */
static void golden_letter(struct club *c, const char *name)
{
    size_t n = 0;
    char *letter = letter_file(c, "", &n), *text = letter_part(letter, n, "plain"), file[100];

    assert_has(letter, "\r\nContent-Type: image/png; name=\"board.png\"\r\n");
    (void)snprintf(file, sizeof file, "notify/golden/%s.txt", name);
    assert_golden(file, text, strlen(text));
    free(text);
    free(letter);
}

/* N22, U6: in each player's language and zone, with all plies since his last move. */
static void test_turn_letters_in_three_languages(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");

    play(c, game, opening, 4);
    golden_letter(c, "turn-en"); /* anna, London */
    play(c, game, opening + 4, 1);
    golden_letter(c, "turn-ru"); /* boris, Chişinău */
    play(c, game, opening + 5, 1);
    golden_letter(c, "turn-ro"); /* clara, Bucharest */
}

/* N1: whoever reads the board as text is told what its walls and gates are; who sees the picture
 * need not be. */
static void test_a_board_with_walls_says_which_signs_they_are(void **state)
{
    static const char *const rules[] = {"fortress reserve=usual", "verney"};
    struct club *c = *state;

    for (size_t i = 0; i < COUNT_OF(rules); i++) {
        static const char *const move[] = {"h4h5", "h2h3"};
        int64_t game = game_start(c->t, rules[i]);
        char *letter, *text, *html;
        size_t n = 0;

        play(c, game, move + i, 1);
        letter = letter_file(c, "", &n); /* to boris, in Russian */
        text = letter_part(letter, n, "plain");
        html = letter_part(letter, n, "html");
        if (i == 0)
            assert_has(text, "\nНа доске: # и == – стены крепостей, : и .. – ворота в них.\n");
        else
            assert_lacks(text, "стены");
        assert_lacks(html, "стены");
        letters_clear(c);
        free(html);
        free(text);
        free(letter);
    }
}

/* How many of the letters say a thing. */
static int letters_with(struct club *c, const char *words)
{
    int found = 0;

    for (int i = 0; i < letters_count(c); i++) {
        char *letter = letter_nth(c, i), *text = letter_part(letter, strlen(letter), "plain");

        found += strstr(text, words) != NULL;
        free(text);
        free(letter);
    }
    return found;
}

/* T6: what stops the clocks stands in the invitations, and in the letters of the start. */
static void test_invitations_and_the_start_say_what_stops_the_clocks(void **state)
{
    static const char *const said[] = {"clocks stop only for a pause", "часы стоят только",
                                       "ceasurile stau numai"};
    struct club *c = *state;
    struct arbiter_new_game wish = {.rules = "verney"};
    struct call call = {
        .op = OP_CREATE, .t = c->t, .actor = player(c->t, ORGANISER), .wish = &wish};
    int found = 0;

    wish.seats[0] = (struct arbiter_offer){.kind = OFFER_USER, .user_id = c->t->user[SOUTH]};
    wish.seats[1] = (struct arbiter_offer){.kind = OFFER_MAIL, .address = "new@example.net",
                                           .address_key = "new@example.net"};
    call_ok(&call);
    (void)club_send(c);
    assert_int_equal(letters_count(c), 2);
    assert_int_equal(letters_with(c, said[0]), 2);
    letters_clear(c);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    assert_in_range(letters_count(c), 4, 8);
    for (size_t i = 0; i < COUNT_OF(said); i++)
        found += letters_with(c, said[i]);
    assert_int_equal(found, letters_count(c));
}

/* What holds while a game goes on is not said of one that is over. */
static void test_a_letter_about_the_end_says_nothing_of_clocks_and_silence(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    struct call end = acts(c->t, OP_ABORT, game, OPERATOR);

    (void)club_send(c);
    assert_true(letters_with(c, "Each turn has") > 0);
    assert_true(letters_with(c, "do not talk") > 0);
    letters_clear(c);
    call_ok(&end);
    (void)club_send(c);
    assert_true(letters_with(c, "Game and house rules") > 0);
    assert_int_equal(letters_with(c, "Each turn has"), 0);
    assert_int_equal(letters_with(c, "do not talk"), 0);
}

static enum status to_twin_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct club *c = arg;

    return users_set_profile(txn, c->t->user[WEST], "Anna", NULL, NULL, now, err);
}

/* Anybody may choose another's name; the handle tells who it is. */
static void test_the_list_of_players_tells_twins_apart(void **state)
{
    struct club *c = *state;

    club_run(c, to_twin_run, c);
    (void)game_start(c->t, "verney");
    (void)club_send(c);
    assert_true(letters_with(c, "White (South): Anna\n") > 0);
    assert_true(letters_with(c, "Red (West): Anna (boris)\n") > 0);
}

/* The end tells who had left before it, whatever it came by. */
static void test_a_letter_about_the_end_says_who_had_left(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    struct call leave = acts(c->t, OP_RESIGN, game, WEST);

    call_ok(&leave);
    (void)club_send(c);
    letters_clear(c);
    leave = acts(c->t, OP_RESIGN, game, EAST);
    call_ok(&leave);
    (void)club_send(c);
    assert_true(letters_with(c, "out of the game: Red (resigned), Black") > 0);
}

/* N12 and conventions: what stands in the head. */
static void test_headers_thread_by_game_and_say_what_the_letter_is(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    struct game_row row = game_get(c->t, game);
    char *letter, want[300], subject[2][300];

    for (int i = 0; i < 2; i++) {
        char *line;

        play(c, game, opening + 4 * i, 4);
        letter = letter_file(c, row.public_id, NULL);
        line = strstr(letter, "\r\nSubject: ");
        assert_non_null(line);
        (void)snprintf(subject[i], sizeof subject[i], "%.*s", (int)strcspn(line + 2, "\r"),
                       line + 2);
        (void)snprintf(want, sizeof want, "\r\nReferences: <%s.root@club.example>\r\n",
                       row.public_id);
        assert_has(letter, want);
        (void)snprintf(want, sizeof want, "\r\nIn-Reply-To: <%s.root@club.example>\r\n",
                       row.public_id);
        assert_has(letter, want);
        (void)snprintf(want, sizeof want, "\r\nMessage-ID: <%s.", row.public_id);
        assert_has(letter, want);
        assert_has(letter, "\r\nAuto-Submitted: auto-generated\r\n");
        assert_has(letter, "\r\nX-Auto-Response-Suppress: All\r\n");
        assert_has(letter, "\r\nList-Id: Chess Club <turn.club.example>\r\n");
        assert_has(letter, "\r\nList-Unsubscribe: <https://club.example/u/");
        assert_has(letter, "\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n");
        assert_has(letter, "\r\nTo: Anna <anna@example.org>\r\n");
        assert_has(letter, "<games@club.example>\r\nTo:");
        free(letter);
    }
    assert_string_equal(subject[0], subject[1]); /* one stem a game */
}

/* U4: no address but the reader's own and the club's. */
static void test_nobody_elses_address_is_in_a_letter(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    char *letter, *text, *html;
    size_t n = 0;

    play(c, game, opening, 4);
    letter = letter_file(c, "", &n);
    text = letter_part(letter, n, "plain");
    html = letter_part(letter, n, "html");
    for (const char *p = letter; (p = strstr(p, "@example.org")) != NULL; p++)
        assert_true(p - letter >= 4 && memcmp(p - 4, "anna", 4) == 0);
    assert_null(strstr(text, "@example.org"));
    assert_null(strstr(html, "@example.org"));
    /* names are escaped where they stand in HTML */
    assert_has(html, "David &lt;Dave&gt; &amp; Co");
    assert_has(text, "David <Dave> & Co");
    assert_null(strstr(html, "<Dave>"));
    assert_has(html, "<img src=\"cid:board.");
    assert_null(strstr(html, "src=\"http"));
    free(text);
    free(html);
    free(letter);
}

/* The text of the only letter there is of the event. */
static char *letter_of(struct club *c, int64_t game, int64_t seq)
{
    struct game_row row = game_get(c->t, game);
    char prefix[64], *letter, *text;
    size_t n = 0;

    (void)snprintf(prefix, sizeof prefix, "%s.%lld.", row.public_id, (long long)seq);
    letter = letter_file(c, prefix, &n);
    text = letter_part(letter, n, "plain");
    free(letter);
    return text;
}

static void only_anna_hears(struct club *c, enum notice_class cls)
{
    for (int user = WEST; user <= ORGANISER; user++)
        club_pref(c, user, cls, CHANNEL_MAIL, PREF_OFF);
}

static void test_a_settled_draw_is_told_by_its_end_and_nobody_is_to_move(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    struct call call;
    char *text;

    only_anna_hears(c, NOTICE_RESULT);
    (void)club_send(c);
    letters_clear(c);
    call = acts(c->t, OP_OFFER, game, SOUTH);
    call_ok(&call);
    for (int user = WEST; user <= EAST; user++) {
        call = acts(c->t, OP_ACCEPT_DRAW, game, user);
        call_ok(&call);
    }
    (void)club_send(c);
    assert_int_equal(letters_count(c), 1);
    text = letter_of(c, game, last_event(c->t, game, GAME_EVENT_FINISHED).seq);
    assert_has(text, "The position in words:\n\nThe game is over: ");
    assert_has(text, "Red: accepts the draw");
    assert_lacks(text, "still to answer");
    assert_lacks(text, "to move");
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state = 'superseded' AND "
                                   "template = 'draw_accepted'"),
                     3 + 3 + 2); /* the last one's: to two who want no results */
    free(text);
}

static void test_a_late_letter_tells_no_more_than_its_own_command(void **state)
{
    static const enum op ops[] = {OP_PAUSE, OP_RESUME, OP_CREDIT, OP_CREDIT};
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney"), seq[COUNT_OF(ops)];
    char *text;

    only_anna_hears(c, NOTICE_ORGANISER);
    (void)club_send(c);
    letters_clear(c);
    for (size_t i = 0; i < COUNT_OF(ops); i++) {
        struct call call = acts(c->t, ops[i], game, ORGANISER);

        call.text = "";
        call.amount_ms = MS_DAY;
        call.until = UTC_NONE;
        call_ok(&call);
        seq[i] = game_get(c->t, game).last_seq;
    }
    (void)club_send(c);
    assert_int_equal(letters_count(c), 4);

    text = letter_of(c, game, seq[0]);
    assert_has(text, "The clocks stand; there is no deadline now.");
    assert_has(text, "  The game is paused");
    assert_lacks(text, "  The game goes on");
    free(text);
    text = letter_of(c, game, seq[1]);
    assert_has(text, "  The game goes on");
    assert_lacks(text, "added to the time");
    assert_has(text, "Mon 14 December 2026, 00:00 UTC, in 14 d.");
    free(text);
    text = letter_of(c, game, seq[2]); /* each with the deadline that it made */
    assert_has(text, "Tue 15 December 2026, 00:00 UTC, in 15 d.");
    free(text);
    text = letter_of(c, game, seq[3]);
    assert_has(text, "Wed 16 December 2026, 00:00 UTC, in 16 d.");
    free(text);
}

/* N22: he sees the board as it is now, so he is told how it came to be. */
static void test_a_late_letter_of_the_start_lists_the_moves_made_since(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney");
    int begun = 0;

    move_ok(c->t, game, "e2e3");
    move_ok(c->t, game, "b5c5");
    (void)club_send(c);
    for (int i = 0; i < letters_count(c); i++) {
        char *letter = letter_nth(c, i), *text = letter_part(letter, strlen(letter), "plain");

        if (strstr(text, "The game has begun") != NULL) {
            begun++;
            assert_has(text, "  White: e3 (e2e3)\n");
            assert_has(text, "  Red: c5 (b5c5)\n");
        }
        free(text);
        free(letter);
    }
    assert_true(begun > 0);
}

static enum status to_utc_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct club *c = arg;

    return users_set_profile(txn, c->t->user[SOUTH], "Anna", "UTC", "en", now, err);
}

static void test_who_lives_by_utc_is_told_an_instant_once(void **state)
{
    struct club *c = *state;
    struct arbiter_new_game wish = {.rules = "verney"};
    struct call call = {
        .op = OP_CREATE, .t = c->t, .actor = player(c->t, ORGANISER), .wish = &wish};
    struct err err = ERR_INIT;
    int64_t game;
    char *text;

    assert_ok(writer_run(c->t->writer,
                         &(struct writer_command){.name = "zone", .run = to_utc_run, .arg = c},
                         &err),
              err);
    wish.seats[0] = (struct arbiter_offer){.kind = OFFER_USER, .user_id = c->t->user[SOUTH]};
    call_ok(&call);
    (void)club_send(c);
    text = letter_of(c, call.game.id, last_event(c->t, call.game.id, GAME_EVENT_INVITED).seq);
    assert_has(text, " UTC, in ");
    assert_lacks(text, "UTC)");
    free(text);
    game = game_start(c->t, "verney");
    (void)club_send(c);
    text = letter_of(c, game, last_event(c->t, game, GAME_EVENT_TURN).seq);
    assert_has(text, "Deadline: Mon 14 December 2026, 00:00 UTC, in 14 d.\n");
    assert_lacks(text, "that is");
    free(text);
}

static void test_every_kind_of_game_letter_can_be_written(void **state)
{
    struct club *c = *state;
    struct arbiter_new_game wish = {.rules = "fortress reserve=chosen"};
    struct call call = {
        .op = OP_CREATE, .t = c->t, .actor = player(c->t, ORGANISER), .wish = &wish};
    int64_t game;
    struct courier_stats stats;

    wish.seats[0] = (struct arbiter_offer){.kind = OFFER_USER, .user_id = c->t->user[SOUTH]};
    wish.seats[1] = (struct arbiter_offer){.kind = OFFER_MAIL, .address = "new@example.net",
                                           .address_key = "new@example.net"};
    call_ok(&call);
    (void)club_send(c);
    {
        struct call no = acts(c->t, OP_DECLINE, call.game.id, SOUTH);

        call_ok(&no);
        no = acts(c->t, OP_WITHDRAW, call.game.id, ORGANISER);
        no.seat = 1;
        call_ok(&no);
        no = acts(c->t, OP_ABORT, call.game.id, ORGANISER);
        no.text = "nobody came";
        call_ok(&no);
    }
    (void)game_start(c->t, "fortress reserve=chosen");
    (void)club_send(c);
    game = game_start(c->t, "verney inert=capturable");
    (void)club_send(c);
    {
        static const struct {
            enum op op;
            int user;
        } acted[] = {{OP_OFFER, SOUTH}, {OP_ACCEPT_DRAW, WEST}, {OP_DECLINE_DRAW, EAST},
                     {OP_PAUSE, ORGANISER}, {OP_RESUME, ORGANISER}, {OP_CREDIT, ORGANISER},
                     {OP_RESIGN, WEST}, {OP_RESIGN, EAST}};

        for (size_t i = 0; i < COUNT_OF(acted); i++) {
            struct call a = acts(c->t, acted[i].op, game, acted[i].user);

            a.text = "a note of the organiser";
            a.amount_ms = MS_DAY;
            a.until = UTC_NONE;
            call_ok(&a);
            (void)club_send(c);
        }
    }
    stats = courier_stats(c->courier);
    assert_int_equal(stats.mail_failed, 0);
    assert_int_equal(stats.mail_retried, 0);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox WHERE state NOT IN "
                                   "('sent', 'superseded')"),
                     0);
    assert_true(stats.mail_sent > 30);
}

/* The mailed invitation's link works once, and its secret is nowhere else. */
static void test_a_mailed_invitation_carries_its_secret_and_the_store_forgets_it(void **state)
{
    struct club *c = *state;
    struct arbiter_new_game wish = {.rules = "verney"};
    struct call call = {
        .op = OP_CREATE, .t = c->t, .actor = player(c->t, ORGANISER), .wish = &wish};
    char *letter, *text, *at, secret[SECRET_SIZE];
    unsigned char hash[DIGEST_SIZE];
    struct invitation_row row;
    struct err err = ERR_INIT;
    size_t n = 0;

    wish.seats[1] = (struct arbiter_offer){.kind = OFFER_MAIL, .address = "new@example.net",
                                           .address_key = "new@example.net"};
    call_ok(&call);
    (void)club_send(c);
    letter = letter_file(c, "", &n);
    assert_has(letter, "\r\nTo: <new@example.net>\r\n");
    assert_has(letter, "\r\nList-Unsubscribe: <https://club.example/u/"); /* him they go to */
    text = letter_part(letter, n, "plain");
    at = strstr(text, "#invitation=");
    assert_non_null(at);
    (void)snprintf(secret, sizeof secret, "%.26s", at + 12);
    assert_true(secret_is_shaped(secret));
    secret_hash(secret, hash);
    assert_ok(invitations_find(store_reader_conn(c->t->reader), hash, &row, &err), err);
    assert_int_equal(row.game_id, call.game.id);
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox_bytes"), 0);
    free(text);
    free(letter);
}

struct asking {
    struct club *c;
    const char *login;
};

static enum status ask_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct asking *a = arg;
    struct people_wish wish = {.handle = "newcomer", .address = "new@example.net",
                               .language = "ru"};

    if (a->login != NULL)
        return people_ask_login(&a->c->people, txn, a->login, now, err);
    return people_register(&a->c->people, txn, &wish, now, err);
}

static void ask(struct club *c, const char *login)
{
    struct asking a = {c, login};
    struct err err = ERR_INIT;

    assert_ok(writer_run(c->t->writer,
                         &(struct writer_command){.name = "ask", .run = ask_run, .arg = &a}, &err),
              err);
}

static void test_a_log_in_letter_has_a_link_that_works_and_no_list_headers(void **state)
{
    struct club *c = *state;
    char *letter, *text, *at, secret[SECRET_SIZE];
    struct people_link_info info;
    struct err err = ERR_INIT;
    size_t n = 0;

    ask(c, "boris");
    (void)club_send(c);
    letter = letter_file(c, "", &n);
    assert_null(strstr(letter, "List-"));
    text = letter_part(letter, n, "plain");
    at = strstr(text, "https://club.example/login/");
    assert_non_null(at);
    (void)snprintf(secret, sizeof secret, "%.26s", at + strlen("https://club.example/login/"));
    assert_ok(people_link_peek(store_reader_conn(c->t->reader), secret, now_of(c->t), &info, &err),
              err);
    assert_int_equal(info.kind, LINK_LOGIN);
    assert_string_equal(info.handle, "boris");
    assert_has(text, "15"); /* minutes, told in Russian */
    assert_has(text, "Здравствуйте, Борис!");
    assert_int_equal(club_count(c, "SELECT count(*) FROM outbox_bytes"), 0);
    free(text);
    free(letter);
}

static void test_a_registration_letter_is_in_the_language_that_was_asked_for(void **state)
{
    struct club *c = *state;
    char *letter, *text;
    size_t n = 0;

    ask(c, NULL);
    (void)club_send(c);
    letter = letter_file(c, "", &n);
    assert_has(letter, "\r\nTo: <new@example.net>\r\n");
    text = letter_part(letter, n, "plain");
    assert_has(text, "создать учётную запись newcomer");
    assert_has(text, "https://club.example/login/");
    free(text);
    free(letter);
}

/* ---------------------------------------------------------------- unsubscribing */

/* N13 */
static void test_unsubscribe_tokens_are_opaque_and_cannot_be_made(void **state)
{
    struct club *c = *state;
    char a[UNSUBSCRIBE_TOKEN_SIZE], b[UNSUBSCRIBE_TOKEN_SIZE];
    struct err err = ERR_INIT;
    int64_t user = 0;
    enum notice_class cls = NOTICE_LOGIN;
    int same = 0;

    unsubscribe_token(c->notify, 41, NOTICE_TURN, a);
    unsubscribe_token(c->notify, 41, NOTICE_TURN, b);
    assert_string_equal(a, b);
    assert_int_equal(strlen(a), 26);
    assert_int_equal(strspn(a, "abcdefghijklmnopqrstuvwxyz234567"), 26);
    assert_ok(unsubscribe_read(c->notify, a, &user, &cls, &err), err);
    assert_int_equal(user, 41);
    assert_int_equal(cls, NOTICE_TURN);

    unsubscribe_token(c->notify, 41, NOTICE_WARNING, b); /* shares nothing to be seen */
    for (int i = 0; i < 26; i++)
        same += a[i] == b[i];
    assert_true(same < 8);
    assert_ok(unsubscribe_read(c->notify, b, &user, &cls, &err), err);
    assert_int_equal(cls, NOTICE_WARNING);

    user = 7;
    for (int i = 0; i < 26; i++) { /* every change of one letter is seen */
        char forged[UNSUBSCRIBE_TOKEN_SIZE];

        (void)str_copy(forged, sizeof forged, a);
        forged[i] = forged[i] == 'a' ? 'b' : 'a';
        assert_st(unsubscribe_read(c->notify, forged, &user, &cls, &err), ST_GONE, err);
        assert_int_equal(err.reason, REASON_LINK_EXPIRED);
    }
    assert_st(unsubscribe_read(c->notify, "", &user, &cls, &err), ST_GONE, err);
    assert_st(unsubscribe_read(c->notify, "short", &user, &cls, &err), ST_GONE, err);
    assert_int_equal(user, 7);
    for (int i = 0; i < 26; i++) /* P20: a mail server on the way may like capitals */
        a[i] = a[i] >= 'a' ? (char)(a[i] - 'a' + 'A') : a[i];
    assert_ok(unsubscribe_read(c->notify, a, &user, &cls, &err), err);
    assert_int_equal(user, 41);
}

/* A letter's own link is for its class, and still works after a restart. */
static void test_the_link_in_a_letter_is_for_its_reader_and_class(void **state)
{
    struct club *c = *state;
    int64_t game = game_start(c->t, "verney"), user = 0;
    enum notice_class cls = NOTICE_LOGIN;
    char *letter, *at, token[UNSUBSCRIBE_TOKEN_SIZE];
    struct err err = ERR_INIT;
    struct notify *again = NULL;
    struct notify_options options = {.store = c->t->store, .writer = c->t->writer,
                                     .people = &c->people, .zones = c->zones,
                                     .entropy = c->t->arb.entropy, .site_name = "Chess Club",
                                     .public_url = "https://club.example",
                                     .mail_from = "games@club.example"};

    play(c, game, opening, 4);
    letter = letter_file(c, "", NULL);
    at = strstr(letter, "List-Unsubscribe: <https://club.example/u/");
    assert_non_null(at);
    (void)snprintf(token, sizeof token, "%.26s",
                   at + strlen("List-Unsubscribe: <https://club.example/u/"));
    assert_ok(notify_open(&options, &again, &err), err);
    assert_ok(unsubscribe_read(again, token, &user, &cls, &err), err);
    assert_int_equal(user, c->t->user[SOUTH]);
    assert_int_equal(cls, NOTICE_TURN);
    notify_close(again);
    free(letter);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_turn_letters_in_three_languages),
        TEST(test_a_board_with_walls_says_which_signs_they_are),
        TEST(test_invitations_and_the_start_say_what_stops_the_clocks),
        TEST(test_a_letter_about_the_end_says_nothing_of_clocks_and_silence),
        TEST(test_a_letter_about_the_end_says_who_had_left),
        TEST(test_the_list_of_players_tells_twins_apart),
        TEST(test_headers_thread_by_game_and_say_what_the_letter_is),
        TEST(test_nobody_elses_address_is_in_a_letter),
        TEST(test_a_settled_draw_is_told_by_its_end_and_nobody_is_to_move),
        TEST(test_a_late_letter_tells_no_more_than_its_own_command),
        TEST(test_a_late_letter_of_the_start_lists_the_moves_made_since),
        TEST(test_who_lives_by_utc_is_told_an_instant_once),
        TEST(test_every_kind_of_game_letter_can_be_written),
        TEST(test_a_mailed_invitation_carries_its_secret_and_the_store_forgets_it),
        TEST(test_a_log_in_letter_has_a_link_that_works_and_no_list_headers),
        TEST(test_a_registration_letter_is_in_the_language_that_was_asked_for),
        TEST(test_unsubscribe_tokens_are_opaque_and_cannot_be_made),
        TEST(test_the_link_in_a_letter_is_for_its_reader_and_class),
    };

    return cmocka_run_group_tests_name("notify/letters", tests, NULL, NULL);
}

/* Letters read: limits, headers, addresses, parts, marks of machines (M1, M3, M10). */
#include "mail/reading.h"

#include "base/str.h"
#include "mail/authres.h"
#include "mail/scan.h"

static struct letter *read_text(const char *text)
{
    struct letter *letter = NULL;
    struct err err = ERR_INIT;

    assert_ok(letter_read(text, strlen(text), NULL, &letter, &err), err);
    return letter;
}

static enum status status_of(const struct buf *b, const struct letter_limits *limits)
{
    struct letter *letter = NULL;
    enum status st = letter_read(b->data, b->len, limits, &letter, NULL);

    letter_free(letter);
    return st;
}

/* ---------------------------------------------------------------- limits, in pairs */

static struct buf letter_with(const char *headers, const char *piece, size_t times,
                              const char *end)
{
    struct buf b = buf_make(4u * 1024 * 1024);

    buf_puts(&b, headers);
    for (size_t i = 0; i < times; i++)
        buf_puts(&b, piece);
    buf_puts(&b, end);
    assert_false(buf_failed(&b));
    return b;
}

static void check_pair(const struct letter_limits *limits, const char *headers, const char *piece,
                       size_t times, const char *end)
{
    struct buf most = letter_with(headers, piece, times, end);
    struct buf over = letter_with(headers, piece, times + 1, end);

    assert_int_equal(status_of(&most, limits), ST_OK);
    assert_int_equal(status_of(&over, limits), ST_TOO_LARGE);
    buf_release(&most);
    buf_release(&over);
}

static void test_each_limit_holds_to_the_byte(void **state)
{
    const struct letter_limits message = {.message = 1000}, line = {.line = 500},
                               fields = {.header_fields = 20}, header = {.header = 200},
                               parts = {.parts = 5};

    (void)state;
    check_pair(&message, "From: a@b.example\n\n", "x", 1000 - 19, "");
    check_pair(&line, "From: a@b.example\n\n", "x", 500, "\n");
    check_pair(&fields, "From: a@b.example\n", "A: b\n", 19, "\nx\n");
    /* A folded field is one, however many lines it takes. */
    check_pair(&fields, "From: a@b.example\n", "A: b\n b\n b\n b\n b\n b\n b\n", 19, "\nx\n");
    check_pair(&header, "From: a@b.example\nA:\n", " b\n", (200 - 21) / 3, "\nx\n");
    check_pair(&fields, "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\n",
               "A: b\n b\n", 20, "\nx\n--b--\n");
    check_pair(&header, "From: a@b.example\nA: ", "b", 200 - 18 - 4, "\n\nx\n");
    check_pair(&parts, "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n",
               "--b\n\nx\n", 4, "--b--\n");
}

static void test_nesting_is_allowed_to_its_depth(void **state)
{
    (void)state;
    for (size_t depth = 16; depth <= 17; depth++) {
        struct buf b = buf_make(65536);

        buf_puts(&b, "From: a@b.example\nContent-Type: multipart/mixed; boundary=b1\n\n");
        for (size_t i = 1; i < depth; i++)
            buf_printf(&b, "--b%zu\nContent-Type: multipart/mixed; boundary=b%zu\n\n", i, i + 1);
        buf_printf(&b, "--b%zu\n\ne2-e4\n", depth);
        assert_int_equal(status_of(&b, NULL), depth == 16 ? ST_OK : ST_TOO_LARGE);
        buf_release(&b);
    }
}

static void test_a_long_text_is_cut_at_a_character(void **state)
{
    const struct letter_limits limits = {.text = 1001};
    struct buf b = letter_with("From: a@b.example\n\n", "\u00e4", 600, "\n");
    struct letter *letter = NULL;
    struct err err = ERR_INIT;

    (void)state;
    assert_ok(letter_read(b.data, b.len, &limits, &letter, &err), err);
    assert_true(letter->is_cut);
    assert_int_equal(strlen(letter->text), 1000);
    letter_free(letter);
    letter = NULL;
    assert_ok(letter_read(b.data, b.len, NULL, &letter, &err), err);
    assert_false(letter->is_cut);
    letter_free(letter);
    buf_release(&b);
}

/* Of a part, so many lines are read and no more; what is left out counts as cut (P29). */
static void test_a_part_of_very_many_lines_is_cut(void **state)
{
    static const char *const headers[] = {
        "From: a@b.example\n\n",
        "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n1\n--b\n\n"};
    const struct letter_limits limits = {.text = 512 * 1024};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(headers); i++) {
        for (size_t lines = PART_LINES_MAX; lines <= PART_LINES_MAX + 1; lines++) {
            struct buf b = letter_with(headers[i], "a\n", lines - 1, "z\n");
            struct letter *letter = NULL;
            struct err err = ERR_INIT;

            assert_ok(letter_read(b.data, b.len, &limits, &letter, &err), err);
            assert_int_equal(letter->is_cut, lines > PART_LINES_MAX);
            assert_int_equal(strchr(letter->text, 'z') != NULL, lines == PART_LINES_MAX);
            assert_int_equal(strlen(letter->text), 2 * PART_LINES_MAX + 3 * i);
            letter_free(letter);
            buf_release(&b);
        }
    }
}

/* P17: a result too long to be kept keeps its place, so that none below is taken for it. */
static void test_a_very_long_authentication_result_keeps_its_place(void **state)
{
    (void)state;
    for (size_t n = 8192; n <= 8193; n++) {
        static const char ours[] = "mx.club.example; dmarc=fail (";
        struct buf b = letter_with("From: a@b.example\nAuthentication-Results: ", ours, 1, "");
        struct letter *letter = NULL;
        struct err err = ERR_INIT;

        for (size_t i = strlen(ours) + 1; i < n; i++)
            buf_putc(&b, 'x');
        buf_puts(&b, ")\nAuthentication-Results: mx.club.example; dmarc=pass\n\nx\n");
        assert_ok(letter_read(b.data, b.len, NULL, &letter, &err), err);
        assert_int_equal(letter->authentication_result_count, 2);
        assert_int_equal(strlen(letter->authentication_results[0]), n == 8192 ? n : 0);
        assert_int_equal(authres_judge((const char *const *)letter->authentication_results, 2,
                                       "mx.club.example", "b.example"),
                         AUTH_FAIL);
        letter_free(letter);
        buf_release(&b);
    }
}

static void test_what_is_no_letter_is_refused(void **state)
{
    static const char *const texts[] = {"", "\n", "\n\n\ne2-e4\n", "e2-e4", " From: a@b.example\n",
                                        "From a@b.example Tue Feb  3 11:00:00 2026\n", ":\n\n"};
    struct letter *letter = NULL;
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_st(letter_read(texts[i], strlen(texts[i]), NULL, &letter, &err), ST_INVALID, err);
    assert_st(letter_read("From: a@b.example\n\0\nx", 21, NULL, &letter, &err), ST_INVALID, err);
    assert_null(letter);
    letter_free(NULL);
}

/* ---------------------------------------------------------------- headers */

static void check_from(const char *value, const char *address, const char *name)
{
    struct buf b = buf_make(4096);
    struct letter *letter;

    buf_printf(&b, "From: %s\n\nx\n", value);
    letter = read_text(b.data);
    if (strcmp(letter->has_from ? letter->from : letter_from_fault_str(letter->from_fault),
               address) != 0)
        fail_msg("%s: \"%s\" (%s)", value, letter->from,
                 letter_from_fault_str(letter->from_fault));
    assert_string_equal(letter->from_name, name);
    assert_string_equal(letter->from_domain,
                        letter->has_from ? strchr(letter->from, '@') + 1 : "");
    letter_free(letter);
    buf_release(&b);
}

/* P16 */
static void test_from_is_one_mailbox_or_none(void **state)
{
    (void)state;
    check_from("anna@example.org", "anna@example.org", "");
    check_from("<anna@example.org>", "anna@example.org", "");
    check_from("Anna <Anna@Example.ORG>", "Anna@example.org", "Anna");
    check_from("\"Example, Anna\" <anna@example.org>", "anna@example.org", "Example, Anna");
    check_from("=?utf-8?Q?Anna_=C8=9A?= <anna@example.org>", "anna@example.org", "Anna \u021a");
    check_from("=?iso-8859-1?Q?Wei=DF?= (home) <anna@example.org> (x)", "anna@example.org",
               "Wei\u00df");
    check_from("anna@example.org <anna@example.org>", "anna@example.org", "anna@example.org");
    check_from("A. B. Example <a.b@example.org>", "a.b@example.org", "A. B. Example");
    check_from("\"anna\" @ example.org", "anna@example.org", "");
    check_from("Anna\n <anna@example.org>", "anna@example.org", "Anna");
    check_from("", "missing", "");
    check_from("(only a comment)", "missing", "");
    check_from("anna@example.org,", "several", "");
    check_from("anna@example.org, bert@example.org", "several", "");
    check_from("Anna <anna@example.org>, <bert@example.org>", "several", "");
    check_from("Anna <anna@example.org>; x", "several", "");
    check_from("friends: anna@example.org;", "group", "");
    check_from("undisclosed:;", "group", "");
    check_from("Anna", "bad", "");
    check_from("Anna <>", "bad", "");
    check_from("Anna <anna>", "bad", "");
    check_from("Anna <anna@>", "bad", "");
    check_from("Anna <@example.org>", "bad", "");
    check_from("Anna <anna@example.org", "bad", "");
    check_from("Anna <anna@example.org> bert", "bad", "");
    check_from("<anna@example.org> <bert@example.org>", "bad", "");
    check_from("anna @example.org bert", "bad", "");
    check_from("<@relay.example:anna@example.org>", "bad", "");
    check_from("<anna@[192.0.2.1]>", "bad", "");
    check_from("\"a b\"@example.org", "bad", "");
    check_from("\"anna@evil.example\\\" <anna@example.org>", "bad", "");
    check_from("anna@example.org (never ends", "bad", "");
    check_from("\u00e4nna@example.org", "bad", "");
    check_from("=?utf-8?B?QW5uYQ0KQmNjOiB4?= <anna@example.org>", "bad", "");
}

static void test_headers_are_decoded_and_tamed(void **state)
{
    struct letter *letter = read_text("Subject: =?utf-8?Q?Re:_=C8=9Aug?=\n =?utf-8?B?DQo=?= \x07 "
                                      "x\n"
                                      "From: anna@example.org\n"
                                      "Message-ID: junk <a.b@c.example> <d@e.example>\n"
                                      "In-Reply-To: <f@g.example> (of Tuesday)\n"
                                      "References: <1@x.example><2@x.example>\n <bad id> "
                                      "<3@x.example\n"
                                      "X-Loop-Id:\n\nx\n");

    (void)state;
    assert_non_null(strstr(letter->subject, "Re: \u021aug"));
    for (const char *p = letter->subject; *p; p++)
        assert_true((unsigned char)*p >= 0x20);
    assert_string_equal(letter->message_id, "a.b@c.example");
    assert_string_equal(letter->in_reply_to, "f@g.example");
    assert_int_equal(letter->reference_count, 3);
    assert_string_equal(letter->references[0], "1@x.example");
    assert_string_equal(letter->references[1], "2@x.example");
    assert_string_equal(letter->references[2], "f@g.example");
    assert_string_equal(letter->loop_id, "");
    assert_false(letter->is_automatic);
    letter_free(letter);
}

static void test_a_thousand_references_and_recipients_are_bounded(void **state)
{
    struct buf b = buf_make(65536);
    struct letter *letter;

    (void)state;
    buf_puts(&b, "From: a@b.example\nTo: ");
    for (int i = 0; i < LETTER_RECIPIENTS_MAX + 1; i++)
        buf_printf(&b, "u%d@x.example,\n ", i);
    buf_puts(&b, "z@x.example\nReferences:");
    for (int i = 0; i < LETTER_REFERENCES_MAX + 1; i++)
        buf_printf(&b, " <r%d@x.example>", i);
    buf_puts(&b, "\n\nx\n");
    letter = read_text(b.data);
    assert_int_equal(letter->recipient_count, LETTER_RECIPIENTS_MAX);
    assert_string_equal(letter->recipients[0].address, "u0@x.example");
    assert_int_equal(letter->reference_count, LETTER_REFERENCES_MAX);
    assert_string_equal(letter->references[0], "r1@x.example"); /* the last ones are kept */
    letter_free(letter);
    buf_release(&b);
}

/* M3, P01–P04, P26 */
static void test_machines_are_known_by_their_headers(void **state)
{
    static const struct {
        const char *header;
        enum letter_mark mark;
    } rows[] = {
        {"Auto-Submitted: auto-generated (x)", LETTER_MARK_AUTO_SUBMITTED},
        {"auto-submitted: AUTO-REPLIED; owner-email=x", LETTER_MARK_AUTO_SUBMITTED},
        {"Auto-Submitted: No", LETTER_MARK_NONE},
        {"Auto-Submitted: no\nAuto-Submitted: auto-replied", LETTER_MARK_AUTO_SUBMITTED},
        {"Auto-Submitted: no (really)", LETTER_MARK_NONE},
        {"Precedence: bulk", LETTER_MARK_PRECEDENCE},
        {"Precedence: JUNK", LETTER_MARK_PRECEDENCE},
        {"Precedence: auto_reply", LETTER_MARK_PRECEDENCE},
        {"Precedence: first-class", LETTER_MARK_NONE},
        {"X-Autorespond: y", LETTER_MARK_AUTO_HEADER},
        {"X-Autoreply: no", LETTER_MARK_NONE},
        {"X-Auto-Response-Suppress: DR, OOF", LETTER_MARK_SUPPRESS},
        {"List-Id: <x.example>", LETTER_MARK_LIST},
        {"List-Unsubscribe: <mailto:x@x.example>", LETTER_MARK_LIST},
        {"Feedback-ID: 1:user:x", LETTER_MARK_NONE}, /* in what people write, by some providers */
        {"X-Auto-Response-Suppress: None", LETTER_MARK_NONE},
        {"Disposition-Notification-To: anna@example.org", LETTER_MARK_NONE},
        {"Subject: Anna reacted to your message", LETTER_MARK_REACTION},
        {"Subject: Re: Anna reacted to your message", LETTER_MARK_NONE},
        {"Return-Path: <>", LETTER_MARK_NULL_SENDER},
        {"Return-Path: <anna@example.org>", LETTER_MARK_NONE},
        {"X-Loop-Id: elsewhere.example", LETTER_MARK_LOOP},
        {"Content-Type: multipart/report; report-type=feedback-report; boundary=x",
         LETTER_MARK_REPORT},
        {"Content-Type: text/calendar; method=reply", LETTER_MARK_CALENDAR},
        {"Content-Type: text/calendar; method=REQUEST", LETTER_MARK_NONE},
        {"X-Mailer: mutt", LETTER_MARK_NONE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b = buf_make(4096);
        struct letter *letter;

        buf_printf(&b, "From: anna@example.org\n%s\n\ne2-e4\n", rows[i].header);
        letter = read_text(b.data);
        if (letter->mark != rows[i].mark)
            fail_msg("%s: %s", rows[i].header, letter_mark_str(letter->mark));
        assert_int_equal(letter->is_automatic, rows[i].mark != LETTER_MARK_NONE);
        letter_free(letter);
        buf_release(&b);
    }
}

/* P26: in any language, also where no part of a type of its own tells it. */
static void test_reactions_are_known_by_their_words(void **state)
{
    static const char *const reactions[] = {
        "\U0001f44d Anna Berg reacted to your message:",
        "\U0001f44d Anna Berg heeft op je bericht gereageerd:",
        "\u2764\ufe0f Anna Berg ha reagito al tuo messaggio:",
        "\U0001f44d Anna Berg reagerade p\u00e5 ditt meddelande",
        ("\U0001f389 Anna Berg \u043e\u0442\u0440\u0435\u0430\u0433\u0438\u0440\u043e\u0432\u0430"
         "\u043b(\u0430) \u0447\u0435\u0440\u0435\u0437 Gmail"),
        ("\U0001f44d Anna \u304c\u3042\u306a\u305f\u306e\u30e1\u30c3\u30bb\u30fc\u30b8\u306b\u30ea"
         "\u30a2\u30af\u30b7\u30e7\u30f3\u3057\u307e\u3057\u305f:"),
        "Anna Berg hat auf Ihre E-Mail reagiert:",
        "Anna Berg liked your message",
    };
    static const char *const others[] = {
        "\U0001f44d e2-e4",
        "e2-e4",
        "Boris reacted badly to my message, sorry",
        "\U0001f44d thanks for the message",
    };
    char text[600];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(reactions) + COUNT_OF(others); i++) {
        bool is_one = i < COUNT_OF(reactions);
        const char *line = is_one ? reactions[i] : others[i - COUNT_OF(reactions)];
        struct letter *letter;

        (void)snprintf(text, sizeof text, "From: anna@example.org\n\n%s\n\nFrom: Chess\n", line);
        letter = read_text(text);
        if (letter->mark != (is_one ? LETTER_MARK_REACTION : LETTER_MARK_NONE))
            fail_msg("%s: %s", line, letter_mark_str(letter->mark));
        letter_free(letter);
    }
}

/* P02: words alone never decide, but are told. */
static void test_words_of_absence_are_only_a_hint(void **state)
{
    static const struct {
        const char *subject, *text;
        bool is_hint;
    } rows[] = {
        {"Automatic reply: your move", "x", true},
        {"Re: AW: Abwesenheitsnotiz", "x", true},
        {"=?utf-8?Q?R=C3=A9ponse_automatique?= : x", "x", true},
        {"Re: your move", "I am out of the office until Monday.", true},
        {"Re: your move", "\u042f \u0432 \u043e\u0442\u043f\u0443\u0441\u043a\u0435.", true},
        {"Re: your move", "Guten Tag,\n\nich bin bis Montag nicht im B\u00fcro.", true},
        {"Re: your move", "Hello!\nI am on vacation.", true},
        {"Re: your move",
         "\u304a\u4e16\u8a71\u3067\u3059\u3002\n\u4f11\u6687\u4e2d\u3067\u3059\u3002", true},
        {"Re: your move", "e2-e4\nI am on vacation.", false},
        {"Re: your move", "Hello,\nhow are you?\nI am on vacation.", false},
        {"Re: your move", "e2-e4", false},
        {"Reading club", "Readers are welcome", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b = buf_make(4096);
        struct letter *letter;

        buf_printf(&b, "From: a@b.example\nSubject: %s\n\n%s\n", rows[i].subject, rows[i].text);
        letter = read_text(b.data);
        if (letter->is_perhaps_automatic != rows[i].is_hint)
            fail_msg("row %zu", i);
        assert_false(letter->is_automatic);
        letter_free(letter);
        buf_release(&b);
    }
}

static void test_addresses_of_machines_are_known(void **state)
{
    static const char *const machines[] = {"",
                                           "MAILER-DAEMON@x.example",
                                           "postmaster@x.example",
                                           "No-Reply@x.example",
                                           "noreply-games@x.example",
                                           "do_not_reply@x.example",
                                           "bounces+123@x.example",
                                           "bounce@x.example"};
    static const char *const people[] = {"anna@example.org", "bouncer@example.org",
                                         "norepl@example.org", "post@example.org",
                                         "daemonologist@example.org"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(machines); i++)
        assert_true(letter_address_is_machine(machines[i]));
    for (size_t i = 0; i < COUNT_OF(people); i++)
        assert_false(letter_address_is_machine(people[i]));
}

/* P26 */
static void test_a_calendars_answer_is_known_by_its_text_too(void **state)
{
    static const char *const types[] = {"text/calendar", "application/ics; name=invite.ics"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        char text[400];
        struct letter *letter;

        (void)snprintf(text, sizeof text,
                       "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n"
                       "accept\n--b\nContent-Type: %s\n\nBEGIN:VCALENDAR\nMETHOD:REPLY\n--b--\n",
                       types[i]);
        letter = read_text(text);
        assert_int_equal(letter->mark, LETTER_MARK_CALENDAR);
        letter_free(letter);
    }
}

/* ---------------------------------------------------------------- bodies */

/* The text but for a line end at its very end, which may belong to a boundary. */
static size_t length_without_end(const char *text)
{
    size_t n = strlen(text);

    return n > 0 && text[n - 1] == '\n' ? n - 1 : n;
}

static void check_text(const char *rest, const char *text)
{
    struct buf b = buf_make(65536);
    struct letter *letter;
    size_t n = length_without_end(text);

    buf_printf(&b, "From: a@b.example\n%s", rest);
    letter = read_text(b.data);
    if (length_without_end(letter->text) != n || memcmp(letter->text, text, n) != 0)
        fail_msg("%s\ngives \"%s\", not \"%s\"", rest, letter->text, text);
    letter_free(letter);
    buf_release(&b);
}

/* P15 */
static void test_types_that_are_none_are_text(void **state)
{
    (void)state;
    check_text("\ne2-e4\n", "e2-e4\n");
    check_text("Content-Type: text\n\ne2-e4\n", "e2-e4\n");
    check_text("Content-Type: text/plain; charset=\n\ne2-e4\n", "e2-e4\n");
    check_text("Content-Type: ;;;\n\ne2-e4\n", "e2-e4\n");
    check_text("Content-Type: text/html\nContent-Type: text/plain\n\n<p>e2-e4\n", "e2-e4\n");
    check_text("Content-Type: text/markdown\n\ne2-e4\n", "e2-e4\n");
    check_text("Content-Transfer-Encoding: x-unknown\n\ne2-e4\n", "e2-e4\n");
    check_text("Content-Type: image/png\n\ne2-e4\n", "");
    check_text("Content-Disposition: attachment\n\ne2-e4\n", "");
}

static void test_enclosed_letters_and_digests_are_not_read(void **state)
{
    (void)state;
    check_text("Content-Type: message/rfc822\n\nFrom: x@y.example\n\nresign\n", "");
    check_text("Content-Type: multipart/mixed; boundary=b\n\n--b\n\ne2-e4\n--b\nContent-Type: "
               "message/rfc822\n\nFrom: x@y.example\n\nresign\n--b--\n",
               "e2-e4");
    check_text("Content-Type: multipart/digest; boundary=b\n\n--b\n\nFrom: x@y.example\n\nresign\n"
               "--b--\n",
               "");
    check_text("Content-Type: multipart/mixed; boundary=b\n\nresign\n--b\n\ne2-e4\n--b--\nresign\n",
               "e2-e4");
}

static void test_parts_of_a_mixed_letter_are_put_together(void **state)
{
    (void)state;
    check_text("Content-Type: multipart/mixed; boundary=b\n\n--b\n\ne2-e4\n--b\nContent-Type: "
               "text/html\n\n<p>note x</p>\n--b--\n",
               "e2-e4\n\nnote x\n");
    check_text("Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: "
               "multipart/alternative; boundary=c\n\n--c\n\ne2-e4\n--c\nContent-Type: text/html\n\n"
               "<p>e2-e4\n--c--\n--b\nContent-Type: image/png\n\nx\n--b--\n",
               "e2-e4");
}

/* P13 */
static void test_quoted_printable_is_read_as_it_stands(void **state)
{
    static const char head[] = "Content-Transfer-Encoding: quoted-printable\n\n";
    static const char *const rows[][2] = {
        {"e2=2De4\n", "e2-e4\n"},   {"e2=2de4=\n\nx\n", "e2-e4\nx\n"},
        {"e2-=  \ne4\n", "e2-e4\n"}, {"e8=Q\n", "e8=Q\n"},
        {"e8=\n", "e8"},            {"e2-e4=", "e2-e4"},
        {"=\n=\n=\nx\n", "x\n"},    {"a==\n", "a="},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b = buf_make(4096);

        buf_printf(&b, "%s%s", head, rows[i][0]);
        check_text(b.data, rows[i][1]);
        buf_release(&b);
    }
}

/* P12 */
static void test_base64_ends_with_its_lines(void **state)
{
    static const char head[] = "Content-Transfer-Encoding: base64\n\n";
    static const char *const rows[][2] = {
        {"ZTItZTQK\n", "e2-e4\n"},
        {"  ZTItZTQK  \n\n\n", "e2-e4\n"},
        {"ZTItZTQ=\nresign\n", "e2-e4"},
        {"ZTItZTQKZTItZTQ=", "e2-e4\ne2-e4"}, /* 16 bytes, and nothing behind the last one */
        {"ZTItZTQK\n\nlist\n", "e2-e4\n"},
        {"ZTIt\nZTQK\n-- \nAnna\n", "e2-e4\n"},
        {"ZTIt\n\nZTQK\n", "e2-e4\n"}, /* doubled line ends */
        {"e2-e4\n", ""},
        {"ZTItZTQKZQ", "e2-e4\ne"}, /* cut off */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b = buf_make(4096);

        buf_printf(&b, "%s%s", head, rows[i][0]);
        check_text(b.data, rows[i][1]);
        buf_release(&b);
    }
}

/* P11 */
static void test_flowed_text_is_made_whole(void **state)
{
    static const char head[] = "Content-Type: text/plain; format=flowed\n\n";
    static const char *const rows[][2] = {
        {"a \nb\n", "a b\n"},          {"a  \nb\n", "a  b\n"},
        {"a \n", "a \n"},              {"a \n> b\n", "a \n> b\n"},
        {"> a \n> b\n", "> a b\n"},    {"> a \n>> b\n", "> a \n> > b\n"},
        {" >a\n", ">a\n"},             {"  a\n", " a\n"},
        {"a\n-- \nb\n", "a\n-- \nb\n"}, {"a \n-- \nb\n", "a \n-- \nb\n"},
        {">a \n> b\n", "> a b\n"},     {"a \n\nb\n", "a \n\nb\n"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b = buf_make(4096);

        buf_printf(&b, "%s%s", head, rows[i][0]);
        check_text(b.data, rows[i][1]);
        buf_release(&b);
    }
    check_text("Content-Type: text/plain; Format=\"Flowed\"; DelSp=Yes\n\nRd \n4- \nd8\n",
               "Rd4-d8\n");
}

/* P27 */
static void test_signed_text_is_read_and_sealed_text_told(void **state)
{
    struct letter *letter;

    (void)state;
    check_text("\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\ne2-e4\n- -- \nA\n"
               "-----BEGIN PGP SIGNATURE-----\nx\n-----END PGP SIGNATURE-----\nafter\n",
               "e2-e4\n-- \nA\nafter\n");
    check_text("Content-Type: multipart/signed; boundary=b\n\n--b\nContent-Type: multipart/mixed; "
               "boundary=c\n\n--c\n\ne2-e4\n--c--\n--b\nContent-Type: "
               "application/pgp-signature\n\nresign\n--b--\n",
               "e2-e4");
    letter = read_text("Content-Type: application/x-pkcs7-mime; smime-type=enveloped-data\n\nx\n");
    assert_int_equal(letter->problem, LETTER_ENCRYPTED);
    assert_string_equal(letter->text, "");
    letter_free(letter);
}

/* P14 */
static void test_charsets_of_every_kind_become_utf8(void **state)
{
    (void)state;
    check_text("Content-Type: text/plain; charset=windows-1251\n\n\xf5\xee\xe4\n",
               "\u0445\u043e\u0434\n");
    check_text("Content-Type: text/plain; charset=\"ISO-8859-2\"\n\n\xb1\n", "\u0105\n");
    check_text("Content-Type: text/plain; charset=iso-8859-1\n\n\x96\n", "\u2013\n");
    check_text("Content-Type: text/plain; charset=shift_jis\n\n\x8e\xe8\n", "\u624b\n");
    check_text("Content-Type: text/plain; charset=windows-31j\n\n\x87\x40\n", "\u2460\n");
    check_text("Content-Type: text/plain; charset=x-cp1251\n\n\xf5\xee\xe4\n",
               "\u0445\u043e\u0434\n");
    check_text("Content-Type: text/plain; charset=x-mac-cyrillic\n\n\xf5\n", "\u0445\n");
    /* bytes that are valid UTF-8 by chance: the label is believed where they fit it … */
    check_text("Content-Type: text/plain; charset=gb2312\n\n\xd0\xbb\xd0\xbb\n", "\u8c22\u8c22\n");
    check_text("Content-Type: text/plain; charset=GBK\n\ne2-e4 \xd0\xbb\n", "e2-e4 \u8c22\n");
    check_text("Content-Type: text/plain; charset=euc-kr\n\n\xc7\xb0\n", "\ud488\n");
    /* … and UTF-8 where they do not */
    check_text("Content-Type: text/plain; charset=gb2312\n\n\xe2\x80\x93 \xc2\xa0\n",
               "\u2013 \u00a0\n");
    check_text("Content-Type: text/plain; charset=big5\n\ne2-e4\n", "e2-e4\n");
    check_text("Content-Type: text/plain; charset=utf-7\n\n+AHI-esign\n", "+AHI-esign\n");
    check_text("Content-Type: text/plain; charset=x\n\n\xe2\x80\x93\n", "\u2013\n");
    check_text("Content-Type: text/plain; charset=euc-kr\n\n\xff\xff!\n", "\ufffd\ufffd!\n");
    check_text("\n\xef\xbb\xbf" "e2-e4\n", "e2-e4\n");
}

/* P38 */
static void test_headers_end_where_they_stop(void **state)
{
    (void)state;
    check_text("Subject: x\ne2-e4\n", "e2-e4\n");
    check_text("Subject: x\r\n\r\ne2-e4\r\n", "e2-e4\n");
    check_text("Subject: x\n \t\n\ne2-e4\n", "e2-e4\n");
    check_text("\na\rb\r\nc\n", "a\nb\nc\n");
    check_text("", "");
}

/* ---------------------------------------------------------------- memory */

static void test_a_fingerprint_needs_no_letter(void **state)
{
    unsigned char a[DIGEST_SIZE], b[DIGEST_SIZE];
    static const char *const pairs[][2] = {
        {"From: x\n\na\n", "Received: y\nFrom: x\r\n\r\na\r\n\r\n"},
        {"From: x\n\na\n", "From q\nFrom: x\nTo: z\n\na\n"},
        {"", "\n"},
        {"e2-e4", "e2-e4\n\n"},
    };
    static const char *const others[][2] = {
        {"From: x\n\na\n", "From: y\n\na\n"},
        {"From: x\n\na\n", "From: x\n\nb\n"},
        {"From: x\n\na\n\nb", "From: x\n\na\nb"},
        {"From: x\nMessage-ID: <1>\n\na\n", "From: x\nMessage-ID: <2>\n\na\n"},
        {"From: x\nMessage-ID: <1>\n\na\n", "From: x\nMessage-ID:\n <2>\n\na\n"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        mail_fingerprint(pairs[i][0], strlen(pairs[i][0]), &reading_digest, a);
        mail_fingerprint(pairs[i][1], strlen(pairs[i][1]), &reading_digest, b);
        if (memcmp(a, b, DIGEST_SIZE) != 0)
            fail_msg("pair %zu differs", i);
    }
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        mail_fingerprint(others[i][0], strlen(others[i][0]), &reading_digest, a);
        mail_fingerprint(others[i][1], strlen(others[i][1]), &reading_digest, b);
        if (memcmp(a, b, DIGEST_SIZE) == 0)
            fail_msg("pair %zu is the same", i);
    }
}

/* ---------------------------------------------------------------- what nobody sees in HTML */

/* P38: lines that CR alone ends, below those of mail servers or all of them. */
static void test_lines_may_end_by_cr_alone(void **state)
{
    static const struct {
        const char *bytes, *from, *subject, *top;
        size_t results; /* Authentication-Results that may be believed */
    } cases[] = {
        {"From: a@b.example\rSubject: x\r\re2-e4\r", "a@b.example", "x", "e2-e4", 0},
        {"From: a@b.example\rSubject: x\r\re2-e4\r\n", "a@b.example", "x", "e2-e4", 0},
        {"From: a@b.example\r\re2-e4\rresign\r\n", "a@b.example", "", "e2-e4|resign", 0},
        {"X-A: 1\r\nAuthentication-Results: mx; none\r\nFrom: a@b.example\rSubject: x\r\re2-e4\r\n",
         "a@b.example", "x", "e2-e4", 1},
        /* A forged result is believed no more than the rest of the line. */
        {"X-A: 1\r\nX-B: 1\rAuthentication-Results: mx; dmarc=pass\rFrom: a@b.example\r\re2-e4\r\n",
         "a@b.example", "", "e2-e4", 0},
        /* Nor is a second From; and one lone CR in a header parts nothing. */
        {"From: m@b.example\r\nX-A: 1\rX-B: 2\rFrom: a@b.example\r\n\r\ne2-e4\r\n", "", "",
         "e2-e4", 0},
        {"From: a@b.example\r\nSubject: x\rTo: y\r\n\r\ne2-e4\r\n", "a@b.example", "x To: y",
         "e2-e4", 0},
        {"From: a@b.example\r\r\nSubject: x\r\r\n\r\r\ne2-e4\r\r\n", "a@b.example", "x", "e2-e4",
         0},
        /* Below the header of LF lines any CR is as good as none. */
        {"From: a@b.example\n\ne2-e4\rX-A: 1\rX-B: 2\n", "a@b.example", "",
         "e2-e4|X-A: 1|X-B: 2", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct letter *letter = read_text(cases[i].bytes);
        char *top = top_of(letter->text);

        if (strcmp(letter->from, cases[i].from) != 0 ||
            strcmp(letter->subject, cases[i].subject) != 0 || strcmp(top, cases[i].top) != 0 ||
            letter->authentication_result_count != cases[i].results)
            fail_msg("letter %zu: From %s, subject %s, %s", i, letter->from, letter->subject, top);
        free(top);
        letter_free(letter);
    }
}

/* P38: what stands below an empty line is no longer the move's paragraph. */
static void test_empty_lines_by_cr_alone_are_kept(void **state)
{
    static const char *const letters[] = {
        "From: a@b.example\r\re2-e4\r\rBye\r",
        "From: a@b.example\r\n\r\ne2-e4\r\rBye\r",
        "From: a@b.example\n\ne2-e4\r\rBye\n",
        "From: a@b.example\r\r\n\r\r\ne2-e4\r\r\n\r\r\nBye\r\r\n",
        "From: a@b.example\r\n\r\ne2-e4\r\n\r\nBye\r\n",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(letters); i++) {
        struct letter *letter = read_text(letters[i]);

        assert_string_equal(letter->text, "e2-e4\n\nBye\n");
        letter_free(letter);
    }
}

/* P21: such letters are told apart, too. */
static void test_letters_with_cr_lines_have_fingerprints_of_their_own(void **state)
{
    static const char *const letters[] = {"X-A: 1\rFrom: a@b.example\r\re2-e4\r\n",
                                          "X-A: 1\rFrom: a@b.example\r\re2-e3\r\n",
                                          "X-A: 2\rFrom: a@b.example\r\re2-e4\r"};
    unsigned char sums[COUNT_OF(letters)][DIGEST_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(letters); i++)
        mail_fingerprint(letters[i], strlen(letters[i]), &reading_digest, sums[i]);
    assert_memory_not_equal(sums[0], sums[1], DIGEST_SIZE);
    assert_memory_equal(sums[0], sums[2], DIGEST_SIZE);
}

static void check_top(const char *rest, const char *wanted)
{
    struct buf b = buf_make(65536);
    struct letter *letter;
    char *top;

    buf_printf(&b, "From: a@b.example\n%s", rest);
    letter = read_text(b.data);
    top = top_of(letter->text);
    if (strcmp(top, wanted) != 0)
        fail_msg("%s\ngives \"%s\", not \"%s\"", rest, top, wanted);
    free(top);
    letter_free(letter);
    buf_release(&b);
}

/* P05: what is struck out or hidden is not written, by whichever of the usual means. */
static void test_struck_out_and_hidden_text_is_not_read(void **state)
{
    static const char *const gone[] = {
        "<s>resign</s>",
        "<strike>resign</strike>",
        "<DEL>resign</DEL>",
        "<span style=\"text-decoration:line-through\">resign</span>",
        "<span style='text-decoration: underline line-through red'>resign</span>",
        "<font style=\"text-decoration-line:line-through\">resign</font>",
        "<s>re<b>sig</b>n</s>",
        ("<s style=\"text-decoration:line-through\"><span "
         "style=\"text-decoration:none\">resign</span></s>"),
        "<b style=\"display:none\">resign</b>",
        "<b style=\"display: none !important;\">resign</b>",
        "<b style=\"display:none!important;display:block\">resign</b>",
        "<a hidden>resign</a>",
        "<a hidden style=\"color:red\">resign</a>",
        "<i style=\"visibility:hidden\">resign</i>",
        "<u style=\"visibility:collapse\">resign</u>",
        "<font style=\"font-size:0\">resign</font>",
        "<font style=\"font-size:0.0px\">resign</font>",
        "<font style=\"FONT-SIZE: 1PX\">resign</font>",
        "<font style=\"font: 0/0 a\">resign</font>",
        "<font style=\"font:normal 400 1px/1 Arial\">resign</font>",
        "<span style=\"mso-hide:all\">resign</span>",
        "<span style=\"opacity:0\">resign</span>",
        "<span style=\"opacity:0.0\">resign</span>",
        "<span style=\"height:0;overflow:hidden\">resign</span>",
        "<span style=\"max-height:0px\">resign</span>",
        "<span style=\"position:absolute;left:-9999px\">resign</span>",
        "<span style=\"font-family:&quot;Segoe UI&quot;;display:none\">resign</span>",
        "<span style=\"display/* */:/* x */none\">resign</span>",
        "<font color=white>resign</font>",
        "<font color=\"#FFFFFF\">resign</font>",
        "<span style=\"color:#fff\">resign</span>",
        "<span style=\"color:#fefefe\">resign</span>",
        "<span style=\"color: rgb(255, 255, 255)\">resign</span>",
        "<span style=\"color:rgba(0,0,0,0)\">resign</span>",
        "<span style=\"color:transparent\">resign</span>",
        "<span style=\"color:black;background:#000\">resign</span>",
        "<span style=\"background-color:navy\"><i style=\"color:#000080\">resign</i></span>",
        "<table bgcolor=\"#ff0000\"><tr><td><font color=red>resign</font></td></tr></table>",
        "<style>.x{display:none}</style><b class=x>resign</b>",
        "<style>p, b.x , i{color:red;DISPLAY:none}</style><b class=\"y x\">resign</b>",
        "<style><!-- /* */ #x { visibility : hidden } --></style><b id=x>resign</b>",
        ("<style>@import 'a.css';@media screen{.x{text-decoration:line-through}}</style><b "
         "class=x>resign</b>"),
        "<style>b{display:none}</style><b>resign</b>",
        "<b class=x>resign</b><style>.x{font-size:0}</style>",
        "<style>.x{color:white}</style><b class=x>resign</b>",
        "<p style=\"display:none\">resign<p>",
        "<template>resign</template>",
        "<i style=\"clip:rect(0 0 0 0)\">resign</i>",
        "<i style=\"clip: rect(1px, 1px, 1px, 1px);\">resign</i>",
        "<i style=\"clip-path:inset(50%)\">resign</i>",
        "<i style=\"clip-path:circle(0)\">resign</i>",
        "<i style=\"transform:rotate(3deg) scale(0)\">resign</i>",
        "<i style=\"filter:opacity(0)\">resign</i>",
        "<i style=\"color:hsl(0,0%,100%)\">resign</i>",
        "<i style=\"color:hsla(0, 0%, 0%, 0)\">resign</i>",
        "<style>b.x.y{display:none}</style><b class=\"y z x\">resign</b>",
        "<style>.a .x{display:none}</style><div class=a><i><b class=x>resign</b></i></div>",
        "<style>div > .x{display:none}</style><div><b class=x>resign</b></div>",
        "<style>div>p.x{display:none}</style><div><p class=x>resign</div>",
        ("<style>body #m table.t td{font-size:0}</style><body><div id=m><table class=t><tr><td>"
         "resign</td></tr></table></div></body>"),
        ("<style>.a .x{display:none}.x{display:inline}</style><div class=a><b class=x>resign</b>"
         "</div>"),
        "<style>#x{display:none}b.x.y{display:inline}</style><b id=x class=\"x y\">resign</b>",
        "<style>.a p{display:none}</style><div class=a><p>resign<p>resign</div>",
    };
    static const char *const seen[] = {
        "<ins>resign</ins>",
        "<span style=\"text-decoration:underline\">resign</span>",
        "<s style=\"text-decoration:none\">resign</s>",
        "<b style=\"display:none;display:inline\">resign</b>",
        "<b style=\"display:block\" hidden>resign</b>",
        "<i style=\"visibility:hidden\"><b style=\"visibility:visible\">resign</b></i>",
        "<div style=\"font-size:0\"><b style=\"font-size:13px\">resign</b></div>",
        "<span style=\"font-size:0.9em\">resign</span>",
        "<span style=\"font-size:11.0pt\">resign</span>",
        "<span style=\"font:400 12px/0 a\">resign</span>",
        "<span style=\"opacity:0.5\">resign</span>",
        "<span style=\"height:0\">resign</span>",
        "<span style=\"height:0;height:auto;overflow:hidden\">resign</span>",
        "<span style=\"mso-hide:none\">resign</span>",
        "<body bgcolor=black text=white><p>resign</p></body>",
        "<body style=\"background:#000;color:#fff\"><p>resign</p></body>",
        "<td style=\"background:#fff url(x.png)\"><font color=white>resign</font></td>",
        "<font color=\"#777777\">resign</font>",
        "<span style=\"color:bisque\">resign</span>",
        "<style>.x{display:none}</style><b class=xy>resign</b>",
        "<style>.x{display:none}</style><b class=x style=\"display:inline\">resign</b>",
        "<style>.x{display:none}.x{display:inline}</style><b class=x>resign</b>",
        "<style>@media print{.x{display:none}}</style><b class=x>resign</b>",
        "<style>@media (max-width:480px){.x{display:none}}</style><b class=x>resign</b>",
        "<style>table .x{display:none}</style><b class=x>resign</b>",
        ("<style>.a .x{display:none}</style><div class=a><b class=x>-</b></div>"
         "<b class=x>resign</b>"),
        "<style>.a.b{display:none}</style><b class=a>resign</b>",
        "<style>.x .x{display:none}</style><b class=x>resign</b>",
        "<style>.a + .x{display:none}</style><i class=a></i><b class=x>resign</b>",
        "<style>.a ~ .x, .a:hover .x{display:none}</style><i class=a><b class=x>resign</b></i>",
        "<style>.a .x{display:inline}.x{display:none}</style><i class=a><b class=x>resign</b></i>",
        "<style>p.a i{display:none}</style><p class=a><i>-</i><p><i>resign</i>",
        "<!--[if mso]><style>.x{display:none}</style><![endif]--><b class=x>resign</b>",
        "<img style=\"display:none\" src=x><b>resign</b>",
        "<s>old</s><b>resign</b>",
        "<i style=\"clip:rect(0,600px,200px,0)\">resign</i>",
        "<i style=\"clip-path:inset(5%)\">resign</i>",
        "<i style=\"transform:scale(0.9)\">resign</i>",
        "<i style=\"color:hsl(0,0%,50%)\">resign</i>",
        "<!--><i>resign</i>",
        "<b style=\"display:none\">x</b></b>resign",
    };
    char text[600];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(gone); i++) {
        (void)snprintf(text, sizeof text, "Content-Type: text/html\n\n%s<div>e2-e4</div>\n",
                       gone[i]);
        check_top(text, "e2-e4");
    }
    for (size_t i = 0; i < COUNT_OF(seen); i++) {
        (void)snprintf(text, sizeof text, "Content-Type: text/html\n\n%s<div>e2-e4</div>\n",
                       seen[i]);
        check_top(text, "resign|e2-e4");
    }
}

/* What a plain twin cannot show: then the HTML is what was written. */
static void test_a_plain_twin_of_struck_out_text_is_not_read(void **state)
{
    static const struct {
        const char *html, *top;
    } cases[] = {
        {"<div><s>resign</s></div><div>e2-e4</div>", "e2-e4"},
        {"<div><span style=\"display:none\">resign</span></div><div>e2-e4</div>", "e2-e4"},
        {"<div>resign</div><div>e2-e4</div>", "plain"},
        /* A program in the dark writes so; somebody else's words, and blanks, count nothing. */
        {"<div style=\"color:#fff\">resign</div><div>e2-e4</div>", "plain"},
        {"<div>e2-e4</div><blockquote><s>resign</s></blockquote>", "plain"},
        {"<div>e2-e4</div><s>&nbsp; </s>", "plain"},
    };
    struct letter *letter;
    char text[600];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        (void)snprintf(text, sizeof text,
                       "Content-Type: multipart/alternative; boundary=b\n\n"
                       "--b\nContent-Type: text/plain\n\nplain\n"
                       "--b\nContent-Type: text/html\n\n%s\n--b--\n",
                       cases[i].html);
        check_top(text, cases[i].top);
    }
    /* All is struck out: there is nothing to read, and that is what is said. */
    letter = read_text("From: a@b.example\nContent-Type: multipart/alternative; boundary=b\n\n"
                       "--b\nContent-Type: text/plain\n\nresign\n"
                       "--b\nContent-Type: text/html\n\n<s>resign</s>\n--b--\n");
    assert_int_equal(letter->problem, LETTER_NO_TEXT);
    letter_free(letter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_limit_holds_to_the_byte),
        cmocka_unit_test(test_nesting_is_allowed_to_its_depth),
        cmocka_unit_test(test_a_long_text_is_cut_at_a_character),
        cmocka_unit_test(test_a_part_of_very_many_lines_is_cut),
        cmocka_unit_test(test_a_very_long_authentication_result_keeps_its_place),
        cmocka_unit_test(test_what_is_no_letter_is_refused),
        cmocka_unit_test(test_from_is_one_mailbox_or_none),
        cmocka_unit_test(test_headers_are_decoded_and_tamed),
        cmocka_unit_test(test_a_thousand_references_and_recipients_are_bounded),
        cmocka_unit_test(test_machines_are_known_by_their_headers),
        cmocka_unit_test(test_reactions_are_known_by_their_words),
        cmocka_unit_test(test_words_of_absence_are_only_a_hint),
        cmocka_unit_test(test_addresses_of_machines_are_known),
        cmocka_unit_test(test_a_calendars_answer_is_known_by_its_text_too),
        cmocka_unit_test(test_types_that_are_none_are_text),
        cmocka_unit_test(test_enclosed_letters_and_digests_are_not_read),
        cmocka_unit_test(test_parts_of_a_mixed_letter_are_put_together),
        cmocka_unit_test(test_quoted_printable_is_read_as_it_stands),
        cmocka_unit_test(test_base64_ends_with_its_lines),
        cmocka_unit_test(test_flowed_text_is_made_whole),
        cmocka_unit_test(test_signed_text_is_read_and_sealed_text_told),
        cmocka_unit_test(test_charsets_of_every_kind_become_utf8),
        cmocka_unit_test(test_headers_end_where_they_stop),
        cmocka_unit_test(test_a_fingerprint_needs_no_letter),
        cmocka_unit_test(test_lines_may_end_by_cr_alone),
        cmocka_unit_test(test_empty_lines_by_cr_alone_are_kept),
        cmocka_unit_test(test_letters_with_cr_lines_have_fingerprints_of_their_own),
        cmocka_unit_test(test_struck_out_and_hidden_text_is_not_read),
        cmocka_unit_test(test_a_plain_twin_of_struck_out_text_is_not_read),
    };

    mail_library_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

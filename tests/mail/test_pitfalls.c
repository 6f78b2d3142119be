/*
 * The forty pitfalls of play by mail, as far as reading and writing letters decides them: each
 * fixture with what must come out.  Prints a line a pitfall.
 */
#include "mail/reading.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "mail/authres.h"
#include "mail/transport.h"

/* What is wanted of a fixture: status, mark, problem, From, reply area, text between quotes. */
struct wanted {
    const char *name; /* PNN-… */
    const char *status;
    const char *mark;
    const char *problem;
    const char *from; /* the address, or "!fault" */
    const char *top;
    const char *between;
};

#define ANNA "anna@example.org"
#define DAEMON "MAILER-DAEMON@mx.example.org"
#define NDR "Your message could not be delivered."
#define HUMAN "ok", "none", "fine", ANNA

static const struct wanted table[] = {
    {"P01-vacation-auto-submitted", "ok", "auto_submitted", "fine", ANNA,
     "I am out of the office until Monday.", ""},
    {"P02-precedence-bulk", "ok", "precedence", "fine", ANNA, "I am away.", ""},
    {"P02-x-autoreply", "ok", "auto_header", "fine", ANNA, "I am away.", ""},
    {"P02-message-class", "ok", "auto_header", "fine", ANNA, "I am away.", ""},
    {"P02-machine-generated", "ok", "auto_header", "fine", ANNA, "I am away.", ""},
    {"P02-null-sender", "ok", "null_sender", "fine", ANNA, "I am away.", ""},
    {"P02-subject-only", "ok", "perhaps", "fine", ANNA, "I am away until Monday.", ""},
    {"P02-absence-below-greeting", "ok", "perhaps", "fine", ANNA,
     "Guten Tag,|ich bin bis zum 12. Februar nicht im B\u00fcro.", ""},
    {"P02-subject-hebrew", "ok", "perhaps", "fine", ANNA,
     "\u05d0\u05e0\u05d9 \u05d1\u05d7\u05d5\u05e4\u05e9\u05d4 \u05e2\u05d3 12 "
     "\u05d1\u05d3\u05e6\u05de\u05d1\u05e8.",
     ""},
    {"P02-exchange-suppress", "ok", "suppress", "fine", ANNA, "Ich bin nicht im Haus.", ""},
    {"P02-no-reply-address", "ok", "daemon", "fine", "no-reply@example.org",
     "We will answer soon.", ""},
    {"P02-human-says-auto-submitted-no", HUMAN, "e2-e4", ""},
    {"P03-loop-header", "ok", "loop", "fine", ANNA, "The command \"I\" is not known.", ""},
    {"P03-other-autoresponder", "ok", "auto_submitted", "fine", ANNA,
     "Thank you for your letter.", ""},
    {"P04-own-letter", "ok", "loop", "fine", "games@club.example", "It is your move.", ""},
    {"P05-html-only", HUMAN, "e2-e4", ""},
    {"P05-html-preheader", HUMAN, "e2-e4", ""},
    {"P05-html-without-tags", HUMAN, "e2-e4|Good luck to all!", ""},
    {"P05-html-word-paragraphs", HUMAN, "e2-e4|no, d2-d4 is better", ""},
    {"P05-html-tight-paragraphs", HUMAN, "e2-e4|no, d2-d4 is better", ""},
    {"P05-html-paragraphs", HUMAN, "e2-e4|Good luck to all!", ""},
    {"P05-html-gmail", HUMAN, "e2-e4", ""},
    {"P05-html-outlook-web", HUMAN, "e2-e4", ""},
    {"P05-html-struck-out-gmail", HUMAN, "e2-e4", ""},
    {"P05-html-struck-out-outlook", HUMAN, "e2-e4", ""},
    {"P05-html-clipped-text", HUMAN, "e2-e4", ""},
    {"P05-html-hidden-text", HUMAN, "e2-e4", ""},
    {"P06-empty-text-full-html", HUMAN, "e2-e4", ""},
    {"P06-stub-text", HUMAN, "Your mail program cannot show HTML.", ""},
    {"P07-outlook-en", HUMAN, "e2-e4", ""},
    {"P07-outlook-de", HUMAN, "e2-e4", ""},
    {"P07-outlook-original-message", HUMAN, "e2-e4", ""},
    {"P07-outlook-ru", HUMAN, "e2-e4", ""},
    {"P07-outlook-fr-bold", HUMAN, "e2-e4", ""},
    {"P07-outlook-unknown-language", HUMAN, "e2-e4", ""},
    {"P08-apple-unprefixed-url", HUMAN, "e2-e4", ""},
    {"P08-below-unprefixed-url", HUMAN, "", ""},
    {"P09-polish-wrapped", HUMAN, "e2-e4", ""},
    {"P09-french-wrapped", HUMAN, "e2-e4", ""},
    {"P09-chinese-wrapped", HUMAN, "e2-e4", ""},
    {"P09-russian-no-verb", HUMAN, "e2-e4", ""},
    {"P10-bottom-posted", HUMAN, "", "e2-e4"},
    {"P10-inline", HUMAN, "", "e2-e4|I have to think about that."},
    {"P10-two-commands-between", HUMAN, "", "e2-e4|draw"},
    {"P11-flowed-delsp", HUMAN, "Rd4-d8", ""},
    {"P11-flowed", HUMAN, "place R p4 N n3 B o1", ""},
    {"P12-base64-list-footer", HUMAN, "e2-e4", ""},
    {"P12-base64-in-quotes", HUMAN, "e2-e4", ""},
    {"P12-base64-footer-no-padding", HUMAN, "e2-e4", ""},
    {"P12-base64-av-text", HUMAN, "e2-e4", ""},
    {"P13-quoted-printable-soft", HUMAN, "e2-e4", ""},
    {"P13-undeclared", HUMAN,
     "Rd4-d8|I hope that this is a good move, which I have thought about for a very long time",
     ""},
    {"P13-promotion-is-no-escape", HUMAN, "e10-e11=Q", ""},
    {"P14-utf8-apostrophe", HUMAN, "e2-e4|\u021aar\u0103", ""},
    {"P14-windows-31j", HUMAN, "e2-e4|1 \u3042", ""},
    {"P14-x-nope", HUMAN, "e2-e4", ""},
    {"P14-utf-7", HUMAN, "+AHIAZQBzAGkAZwBu-", ""},
    {"P14-html-meta-charset", HUMAN, "e2-e4", ""},
    {"P14-windows-1258", HUMAN, "e2-e4|Vi\u1ec7t", ""},
    {"P14-iso-2022-jp", HUMAN, "e2-e4", ""},
    {"P14-utf-16-bom", HUMAN, "e2-e4|resign", ""},
    {"P14-utf-16-without-bom", HUMAN, "e2-e4", ""},
    {"P14-8bit-no-charset", HUMAN, "e2-e4|Anna Wei\u00df", ""},
    {"P14-latin1-bytes-no-charset", HUMAN, "e2-e4", ""},
    {"P14-labelled-latin1-is-utf8", HUMAN, "e2-e4", ""},
    {"P14-invalid-utf8", HUMAN, "e2-e4|\u00ff\u00fe\u00c3( \u00ed \u20ac", ""},
    {"P15-bad-filename", HUMAN, "e2-e4", ""},
    {"P15-encoded-word-content-type", HUMAN, "e2-e4", ""},
    {"P15-empty-content-type", HUMAN, "e2-e4", ""},
    {"P15-attached-text-only-name", HUMAN, "e2-e4", ""},
    {"P16-empty-reply-to", HUMAN, "e2-e4", ""},
    {"P16-broken-from", "ok", "none", "fine", "!bad", "e2-e4", ""},
    {"P16-group", "ok", "none", "fine", "!group", "e2-e4", ""},
    {"P16-two-from", "ok", "none", "fine", "!several", "e2-e4", ""},
    {"P16-address-as-name", "ok", "none", "fine", "mallory@example.net", "e2-e4", ""},
    {"P16-two-mailboxes", "ok", "none", "fine", "!several", "e2-e4", ""},
    {"P16-two-brackets", "ok", "none", "fine", "!bad", "e2-e4", ""},
    {"P16-no-from", "ok", "none", "fine", "!missing", "e2-e4", ""},
    {"P16-name-with-crlf", "ok", "none", "fine", "!bad", "e2-e4", ""},
    {"P16-comment-and-quoted-local", HUMAN, "e2-e4", ""},
    {"P17-forged-below", HUMAN, "e2-e4", ""},
    {"P17-forged-above-other-id", HUMAN, "e2-e4", ""},
    {"P17-smuggled-in-quotes", HUMAN, "e2-e4", ""},
    {"P17-passed", HUMAN, "e2-e4", ""},
    {"P17-no-token", HUMAN, "e2-e4", ""},
    {"P18-forwarded-to-a-friend", "ok", "none", "fine", "bert@example.net", "e2-e4", ""},
    {"P19-message-id-guessed", HUMAN, "e2-e4", ""},
    {"P20-upper-case", HUMAN, "e2-e4", ""},
    {"P20-65-octets", HUMAN, "e2-e4", ""},
    {"P21-first", HUMAN, "e2-e4", ""},
    {"P21-again-by-another-way", HUMAN, "e2-e4", ""},
    {"P21-same-id-new-body", HUMAN, "e2-e3", ""},
    {"P21-no-id", HUMAN, "e2-e4", ""},
    {"P22-quoted-order-of-last-turn", HUMAN, "board", ""},
    {"P22-names-an-old-turn", HUMAN, "12. e2-e4", ""},
    {"P23-second-invalid", HUMAN, "e2-e4|xyzzy", ""},
    {"P24-delayed", "ok", "report", "fine", DAEMON, NDR, ""},
    {"P24-mailbox-full", "ok", "report", "fine", DAEMON, NDR, ""},
    {"P24-policy", "ok", "report", "fine", DAEMON, NDR, ""},
    {"P24-policy-labelled-as-address", "ok", "report", "fine", DAEMON, NDR, ""},
    {"P24-other-recipient", "ok", "report", "fine", DAEMON, NDR, ""},
    {"P24-forwarded", "ok", "report", "fine", DAEMON, NDR, ""},
    {"P25-forwarded-with-original", "ok", "report", "fine", DAEMON, NDR, ""},
    {"P24-srs", "ok", "report", "fine", DAEMON, NDR, ""},
    {"P24-not-a-report", "ok", "perhaps", "fine", ANNA,
     "I am away. The code 5.1.1 says nothing here.", ""},
    {"P24-report-without-groups", "ok", "report", "fine", DAEMON, "550 5.1.1 no such user", ""},
    {"P25-no-such-user", "ok", "report", "fine", DAEMON, NDR, ""},
    {"P25-bad-mac", "ok", "report", "fine", DAEMON, NDR, ""},
    {"P25-status-says-nothing", "ok", "report", "fine", DAEMON, NDR, ""},
    {"P26-read-receipt", "ok", "report", "fine", ANNA, "resign", ""},
    {"P26-calendar-reply", "ok", "calendar", "fine", ANNA, "accept", ""},
    {"P26-calendar-reply-in-a-file", "ok", "calendar", "fine", ANNA, "accept", ""},
    {"P26-reaction-to-this-message", "ok", "reaction", "fine", ANNA,
     "\u2764 Anna reacted to this message", ""},
    {"P26-gmail-reaction", "ok", "reaction", "fine", ANNA,
     "\U0001f44d Anna reacted via Gmail", ""},
    {"P26-outlook-reaction", "ok", "reaction", "fine", ANNA,
     "\U0001f44d Anna Example reacted to your message:", ""},
    {"P27-winmail-only", "ok", "none", "tnef", ANNA, "", ""},
    {"P27-winmail-is-all", "ok", "none", "tnef", ANNA, "", ""},
    {"P27-smime-signed", HUMAN, "e2-e4", ""},
    {"P27-smime-opaque", HUMAN, "e2-e4", ""},
    {"P27-smime-opaque-streamed", HUMAN, "e2-e4", ""},
    {"P27-pgp-inline-signed", HUMAN, "e2-e4", ""},
    {"P27-pgp-inline-encrypted", "ok", "none", "encrypted", ANNA, "", ""},
    {"P27-pgp-mime-encrypted", "ok", "none", "encrypted", ANNA, "", ""},
    {"P27-smime-encrypted", "ok", "none", "encrypted", ANNA, "", ""},
    {"P28-text-file-text", HUMAN, "e2-e4", ""},
    {"P28-text-below-text", HUMAN, "e2-e4|The list of our members has moved.", ""},
    {"P28-html-file-html", HUMAN, "e2-e4|resign", ""},
    {"P29-nul", "invalid", NULL, NULL, NULL, NULL, NULL},
    {"P29-nul-in-header", "invalid", NULL, NULL, NULL, NULL, NULL},
    {"P29-nested", "too_large", NULL, NULL, NULL, NULL, NULL},
    {"P29-many-parts", "too_large", NULL, NULL, NULL, NULL, NULL},
    {"P29-many-headers", "too_large", NULL, NULL, NULL, NULL, NULL},
    {"P29-headers-of-a-part", "too_large", NULL, NULL, NULL, NULL, NULL},
    {"P29-nested-messages", "too_large", NULL, NULL, NULL, NULL, NULL},
    {"P30-long-parameter-name", HUMAN, "e2-e4", ""},
    {"P31-subject-with-newline", HUMAN, "e2-e4", ""},
    {"P31-recipient-with-crlf", HUMAN, "", ""},
    {"P31-name-with-crlf", "ok", "none", "fine", "!group", "e2-e4", ""},
    {"P32-dots", HUMAN, "e2-e4|.|..resign", ""},
    {"P33-en-dash", HUMAN, "e2-e4", ""},
    {"P33-nbsp-zero-width", HUMAN, "place R p4 N n3 B o1", ""},
    {"P33-full-width", HUMAN, "e2-e4", ""},
    {"P33-two-dashes", HUMAN, "e2-e4", ""},
    {"P33-japanese-dash", HUMAN, "e2-e4", ""},
    {"P33-cyrillic-castling", HUMAN, "\u041e-\u041e", ""},
    {"P33-cyrillic-letters", HUMAN, "\u04352-\u04354|r\u0435sign|\u0445\u043e\u0434", ""},
    {"P33-smart-quotes", HUMAN, "note \"he can't\"", ""},
    {"P34-banner", HUMAN, "e2-e4", ""},
    {"P34-banner-tag-and-footer", HUMAN, "e2-e4", ""},
    {"P34-own-banner", HUMAN, "e2-e4", ""},
    {"P34-closing-with-a-name", HUMAN, "e2-e4", ""},
    {"P34-mobile-signature", HUMAN, "e2-e4", ""},
    {"P34-seat-is-no-signature", HUMAN,
     "create teams days=7|seat south me|seat west bo@gmail.com", ""},
    {"P34-outlook-for-android", HUMAN, "e2-e4", ""},
    {"P34-banner-html", HUMAN, "e2-e4", ""},
    {"P34-banner-wrapped", HUMAN, "e2-e4", ""},
    {"P34-banner-proofpoint", HUMAN, "e2-e4", ""},
    {"P34-banner-first-letter-ru", HUMAN, "e2-e4", ""},
    {"P37-tag-stripped", HUMAN, "e2-e4", ""},
    {"P37-two-of-ours", HUMAN, "e2-e4", ""},
    {"P37-no-delivered-to", HUMAN, "e2-e4", ""},
    {"P37-order", HUMAN, "e2-e4", ""},
    {"P38-mbox-line", HUMAN, "e2-e4", ""},
    {"P38-cr-only", HUMAN, "e2-e4", ""},
    {"P38-cr-only-below-crlf", HUMAN, "e2-e4", ""},
    {"P38-cr-only-crlf-at-end", HUMAN, "e2-e4", ""},
    {"P38-cr-only-made-one-line", "ok", "none", "no_text", "!bad", "", ""},
    {"P38-no-blank-line", HUMAN, "e2-e4", ""},
    {"P38-header-only", "ok", "none", "no_text", ANNA, "", ""},
    {"P38-nothing-but-text", "invalid", NULL, NULL, NULL, NULL, NULL},
    {"P38-crcrlf", HUMAN, "e2-e4", ""},
    {"P38-byte-order-mark", HUMAN, "e2-e4", ""},
    {"P38-mime-broken", HUMAN, "e2-e4", ""},
    {"P38-unending", HUMAN, "e2-e4", ""},
    {"P38-no-boundary", HUMAN, "e2-e4", ""},
    {"P39-unreadable", "invalid", NULL, NULL, NULL, NULL, NULL},
};

static struct letter *letter_of(const char *name)
{
    struct buf b = fixture(name);
    struct letter *letter = NULL;
    struct err err = ERR_INIT;

    assert_ok(letter_read(b.data, b.len, NULL, &letter, &err), err);
    buf_release(&b);
    return letter;
}

static void same(const char *name, const char *what, const char *got, const char *want)
{
    if (strcmp(got, want) != 0)
        fail_msg("%s: %s is \"%s\", not \"%s\"", name, what, got, want);
}

static void check_letter(const struct wanted *w, const struct letter *letter)
{
    const char *mark = letter->mark == LETTER_MARK_NONE && letter->is_perhaps_automatic
                           ? "perhaps"
                           : letter_mark_str(letter->mark);
    struct reply reply = REPLY_INIT;
    struct err err = ERR_INIT;
    char from[300], *top, *between;

    (void)snprintf(from, sizeof from, "%s%s", letter->has_from ? "" : "!",
                   letter->has_from ? letter->from : letter_from_fault_str(letter->from_fault));
    same(w->name, "mark", mark, w->mark);
    same(w->name, "problem", letter_problem_str(letter->problem), w->problem);
    same(w->name, "From", from, w->from);
    assert_true(utf8_is_valid(letter->text, strlen(letter->text)));
    assert_ok(reply_split(letter->text, &reading_options, &reply, &err), err);
    top = reply_lines(&reply, REPLY_TOP);
    between = reply_lines(&reply, REPLY_BETWEEN);
    same(w->name, "the reply area", top, w->top);
    same(w->name, "the text between quotes", between, w->between);
    free(top);
    free(between);
    reply_release(&reply);
}

static void test_every_fixture_reads_as_it_must(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        struct buf b = fixture(table[i].name);
        struct letter *letter = NULL;
        struct err err = ERR_INIT;
        enum status st = letter_read(b.data, b.len, NULL, &letter, &err);

        same(table[i].name, "status", status_str(st), table[i].status);
        if (st == ST_OK)
            check_letter(&table[i], letter);
        else
            assert_null(letter);
        letter_free(letter);
        buf_release(&b);
    }
}

/* P06: the HTML is there for whoever finds no command in the text. */
static void test_the_html_beside_a_stub_is_kept(void **state)
{
    struct letter *letter = letter_of("P06-stub-text");
    char *top = top_of(letter->html_text);

    (void)state;
    assert_string_equal(top, "e2-e4");
    free(top);
    letter_free(letter);
}

static enum auth_verdict verdict_of(const char *name)
{
    struct letter *letter = letter_of(name);
    enum auth_verdict verdict =
        authres_judge((const char *const *)letter->authentication_results,
                      letter->authentication_result_count, "mx.club.example", letter->from_domain);

    letter_free(letter);
    return verdict;
}

/* P17 */
static void test_only_our_own_servers_findings_count(void **state)
{
    (void)state;
    assert_int_equal(verdict_of("P17-forged-below"), AUTH_FAIL);
    assert_int_equal(verdict_of("P17-forged-above-other-id"), AUTH_FAIL);
    assert_int_equal(verdict_of("P17-smuggled-in-quotes"), AUTH_FAIL);
    assert_int_equal(verdict_of("P17-passed"), AUTH_PASS);
    assert_int_equal(verdict_of("P17-no-token"), AUTH_NONE);
}

static void fingerprint_of(const char *name, unsigned char ret[DIGEST_SIZE])
{
    struct buf b = fixture(name);

    mail_fingerprint(b.data, b.len, &reading_digest, ret);
    buf_release(&b);
}

/* P21 */
static void test_the_same_letter_by_two_ways_has_one_fingerprint(void **state)
{
    unsigned char first[DIGEST_SIZE], other[DIGEST_SIZE];

    (void)state;
    fingerprint_of("P21-first", first);
    fingerprint_of("P21-again-by-another-way", other);
    assert_memory_equal(first, other, DIGEST_SIZE);
    fingerprint_of("P21-same-id-new-body", other);
    assert_memory_not_equal(first, other, DIGEST_SIZE);
    fingerprint_of("P21-no-id", other);
    assert_memory_not_equal(first, other, DIGEST_SIZE);
}

static enum report_blame blame_of(const char *name)
{
    struct letter *letter = letter_of(name);
    enum report_blame blame = report_worst(&letter->report, NULL);

    if (letter->report.recipient_count > 0) {
        assert_string_equal(letter->report.recipients[0].final_recipient, "anna@example.org");
        assert_string_equal(letter->report.original_message_id, "7k2m.14.o9@club.example");
    }
    letter_free(letter);
    return blame;
}

/* P24, P25 */
static void test_only_a_failure_that_names_the_address_blames_it(void **state)
{
    (void)state;
    assert_int_equal(blame_of("P24-delayed"), REPORT_BLAME_NOTHING);
    assert_int_equal(blame_of("P24-mailbox-full"), REPORT_BLAME_SOFT);
    assert_int_equal(blame_of("P24-policy"), REPORT_BLAME_POLICY);
    assert_int_equal(blame_of("P24-policy-labelled-as-address"), REPORT_BLAME_POLICY);
    assert_int_equal(blame_of("P24-srs"), REPORT_BLAME_SOFT);
    assert_int_equal(blame_of("P24-not-a-report"), REPORT_BLAME_NOTHING);
    assert_int_equal(blame_of("P24-report-without-groups"), REPORT_BLAME_NOTHING);
    assert_int_equal(blame_of("P25-no-such-user"), REPORT_BLAME_ADDRESS);
    assert_int_equal(blame_of("P25-bad-mac"), REPORT_BLAME_ADDRESS);
    assert_int_equal(blame_of("P25-status-says-nothing"), REPORT_BLAME_ADDRESS);
}

/* P31: what is echoed into an answer can't add a header. */
static void test_a_subject_loses_its_line_ends(void **state)
{
    struct letter *letter = letter_of("P31-subject-with-newline");

    (void)state;
    assert_string_equal(letter->subject, "Your move Bcc: evil@example.net");
    letter_free(letter);
    letter = letter_of("P31-recipient-with-crlf");
    for (size_t i = 0; i < letter->recipient_count; i++)
        assert_null(strstr(letter->recipients[i].address, "evil"));
    letter_free(letter);
}

/* P33: the hint shows what the letters look like; nothing is guessed. */
static void test_look_alike_letters_are_told_and_kept(void **state)
{
    struct letter *letter = letter_of("P33-cyrillic-letters");
    struct reply reply = REPLY_INIT;
    struct err err = ERR_INIT;

    (void)state;
    assert_ok(reply_split(letter->text, NULL, &reply, &err), err);
    assert_string_equal(reply.lines[0].latin, "e2-e4");
    assert_string_equal(reply.lines[1].latin, "resign");
    assert_null(reply.lines[2].latin); /* a word of its own language */
    reply_release(&reply);
    letter_free(letter);
    letter = letter_of("P33-cyrillic-castling");
    assert_ok(reply_split(letter->text, NULL, &reply, &err), err);
    assert_string_equal(reply.lines[0].latin, "O-O");
    reply_release(&reply);
    letter_free(letter);
}

static char *recipients_of(const char *name)
{
    struct letter *letter = letter_of(name);
    struct buf out = buf_make(4096);

    for (size_t i = 0; i < letter->recipient_count; i++)
        buf_printf(&out, "%d:%.*s ", (int)letter->recipients[i].source,
                   (int)strcspn(letter->recipients[i].address, "@"),
                   letter->recipients[i].address);
    letter_free(letter);
    return buf_take(&out, NULL);
}

/* P20, P37: by belief, all of them, as they were written. */
static void test_recipients_stand_in_order_of_belief(void **state)
{
    static const char *const wanted[][2] = {
        {"P37-order", "0:play+k3v7mq2xz5b4n6c7d2f3g4h5j6 1:orig 2:env 2:xenv "
                      "3:play+k3v7mq2xz5b4n6c7d2f3g4h5j6 4:cc "},
        {"P37-two-of-ours", "3:play+k3v7mq2xz5b4n6c7d2f3g4h5j6 3:play+zzzzzzzzzzzzzzzzzzzzzzzzzz "
                            "4:bert 4:play+zzzzzzzzzzzzzzzzzzzzzzzzzz "},
        {"P37-no-delivered-to", "3:play+k3v7mq2xz5b4n6c7d2f3g4h5j6 "},
        {"P37-tag-stripped", "0:play 3:play "},
        {"P20-upper-case",
         "0:PLAY+K3V7MQ2XZ5B4N6C7D2F3G4H5J6 3:PLAY+K3V7MQ2XZ5B4N6C7D2F3G4H5J6 "},
        {"P20-65-octets", "3:play+aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "},
    };
    struct letter *letter;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        char *got = recipients_of(wanted[i][0]);

        same(wanted[i][0], "recipients", got, wanted[i][1]);
        free(got);
    }
    letter = letter_of("P37-tag-stripped");
    assert_int_equal(letter->reference_count, 4);
    assert_string_equal(letter->references[1], "reply.k3v7mq2xz5b4n6c7d2f3g4h5j6@club.example");
    letter_free(letter);
}

/* ---------------------------------------------------------------- P29 */

static const char head[] = "From: anna@example.org\nTo: play@club.example\n";

static struct buf hostile(int which)
{
    struct buf b = buf_make(60u * 1024 * 1024);

    buf_puts(&b, head);
    switch (which) {
    case 0: /* 5000 nested multiparts */
        buf_puts(&b, "Content-Type: multipart/mixed; boundary=b0\n\n");
        for (int i = 0; i < 5000; i++)
            buf_printf(&b, "--b%d\nContent-Type: multipart/mixed; boundary=b%d\n\n", i, i + 1);
        break;
    case 1: /* 10 000 parts */
        buf_puts(&b, "Content-Type: multipart/mixed; boundary=b\n\n");
        for (int i = 0; i < 10000; i++)
            buf_puts(&b, "--b\n\nresign\n");
        break;
    case 2: /* 200 000 headers */
        for (int i = 0; i < 200000; i++)
            buf_puts(&b, "A:b\n");
        buf_puts(&b, "\nresign\n");
        break;
    case 3: /* 50 MiB */
        buf_puts(&b, "\n");
        while (b.len < 50u * 1024 * 1024)
            buf_puts(&b, "resign resign resign resign resign resign resign resign resign\n");
        break;
    case 4: /* NUL bytes */
        buf_puts(&b, "\nresign");
        for (int i = 0; i < 100000; i++)
            buf_putc(&b, '\0');
        break;
    case 5: /* one line of a million bytes */
        buf_puts(&b, "\n");
        for (int i = 0; i < 100000; i++)
            buf_puts(&b, "resign    ");
        break;
    case 6: /* the same in a header */
        buf_puts(&b, "Subject: ");
        for (int i = 0; i < 100000; i++)
            buf_puts(&b, "resign    ");
        buf_puts(&b, "\n\nresign\n");
        break;
    default: /* a header that folds for ever */
        buf_puts(&b, "Subject: x\n");
        for (int i = 0; i < 100000; i++)
            buf_puts(&b, " folded\n");
        buf_puts(&b, "\nresign\n");
        break;
    }
    assert_false(buf_failed(&b));
    return b;
}

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

/* Address space this process has now. */
static size_t space_now(void)
{
    char text[64] = "";
    FILE *file = fopen("/proc/self/statm", "r");

    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    (void)fclose(file);
    return strtoul(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* In a child that may take 32 MiB more: reads it; 0 when it was refused, or read, as it should be.
 * What that costs is bounded in lines and allocations by intake/test_hostile.c, and measured by
 * bench/mail. */
static int read_confined(const struct buf *b, bool is_refused)
{
    struct letter *letter = NULL;
    struct reply reply = REPLY_INIT;
    struct rlimit limit;
    enum status st;

    if (!IS_SANITIZED) {
        limit.rlim_cur = limit.rlim_max = space_now() + 32u * 1024 * 1024;
        if (setrlimit(RLIMIT_AS, &limit) != 0)
            return 10;
    }
    st = letter_read(b->data, b->len, NULL, &letter, NULL);
    if (st == ST_OK && reply_split(letter->text, NULL, &reply, NULL) != ST_OK)
        return 14;
    reply_release(&reply);
    if (is_refused)
        return st == ST_TOO_LARGE || st == ST_INVALID ? 0 : 12;
    letter_free(letter);
    return st == ST_OK ? 0 : 13;
}

static void assert_confined(const struct buf *b, bool is_refused, int which)
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit(read_confined(b, is_refused));
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("hostile letter %d: wait status 0x%x", which, (unsigned)status);
}

static void test_hostile_letters_are_refused_at_once(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct buf b = hostile(i);

        assert_confined(&b, true, i);
        buf_release(&b);
    }
}

/* What the limits let through must not cost more either: headers, and a piece of body that is
 * repeated up to the limit of a letter. */
static const char *const dear[][2] = {
    {"Content-Type: text/html; charset=utf-8\n", "<div "
                                                 "class=x><p>&amp;<blockquote>a</blockquote>\n"},
    {"Content-Type: text/html\n", "<div a=\"b\" class=x a=\"b\" class=x a=\"b\" class=x>\n"},
    {"Content-Type: text/html\n", "<!-- <!-- <script></ <style>\n"},
    {"Content-Type: text/html\n", "<<<<<<<<<<&&&&&&&&&&&#x41;&nosuch;\n"},
    {"Content-Type: text/plain; charset=x-nope; format=flowed\n",
     "> =?utf-8?Q?x?= resign, wrote: 3.2.2026 12:00:\n"},
    {"Content-Type: text/plain; format=flowed\n", ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>> \n"},
    {"Content-Transfer-Encoding: base64\n",
     "cmVzaWduIHJlc2lnbiByZXNpZ24gcmVzaWduIHJlc2lnbiByZXNpZ24g\n"},
    {"Content-Transfer-Encoding: quoted-printable\n", "=41=\n"},
    {"Content-Type: multipart/mixed; boundary=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
     "--aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"},
    {"Content-Type: text/plain; charset=euc-kr\n", "\xff\xff\xff\xff\xff\xff\xff\xff\n"},
    {"Content-Type: text/plain; charset=iso-2022-jp\n", "\x1b$B\x1b(B\x1b$B\x1b(B\n"},
    {"Content-Type: text/plain; charset=utf-7\n", "+AGE-+AGE-+AGE-+AGE-\n"},
    {"X-A: b\n", "a\u0301\u0323\u0301\u0323\u0301\u0323\u0301\u0323"}, /* one line, until cut */
    {"X-A: b\n", "\ufdfa\ufdfa\ufdfa\ufdfa\ufdfa\n"},
    {"X-A: b\n", "from: x\n"},
    {"X-A: b\n", "on 3 feb 2026 11:00 anna\n"},
    {"X-A: b\n", "-----BEGIN PGP SIGNED MESSAGE-----\n"},
    {"X-A: b\n", "[external]\n"},
    {"X-A: b\n", "e2-e4\n\nsent from x\n"},
    {"X-A: b\n", "-----\n\n"},
    {"X-A: b\n", "\n"},
    {"Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n"
     "Content-Type: message/delivery-status\n", "Action: failed\n\n"},
};

static void test_the_largest_letters_let_in_cost_little(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(dear); i++) {
        bool is_one_line = strchr(dear[i][1], '\n') == NULL;
        struct buf b = buf_make(is_one_line ? 120u * 1024 : 1024u * 1024 - 64);

        buf_puts(&b, head);
        buf_printf(&b, "%s\n", dear[i][0]);
        while (!buf_failed(&b))
            buf_puts(&b, dear[i][1]);
        assert_confined(&b, false, 100 + (int)i);
        buf_release(&b);
    }
}

/* P30: parsed within a blink; an endless loop would end by the alarm. */
static void test_a_long_parameter_name_does_not_hang(void **state)
{
    struct letter *letter;

    (void)state;
    (void)alarm(20);
    letter = letter_of("P30-long-parameter-name");
    (void)alarm(0);
    letter_free(letter);
}

/* ---------------------------------------------------------------- outgoing */

static struct buf composed(const char *text, const char *unsubscribe)
{
    struct mail_message m = {.from = {"Chess Club", "games@club.example"},
                             .to = {NULL, "anna@example.org"},
                             .subject = "[7k2m] Your move",
                             .date = 1767225600000,
                             .message_id = "7k2m.14.o9@club.example",
                             .list_name = "game notices",
                             .list_id = "games.club.example",
                             .unsubscribe_url = unsubscribe,
                             .text = text};
    struct buf out = buf_make(MAIL_MESSAGE_MAX);
    struct err err = ERR_INIT;

    assert_ok(mail_compose(&m, &out, &err), err);
    return out;
}

/* P32: what we write and read again is what we wrote; on the wire CRLF only. */
static void test_lines_of_dots_go_through_unchanged(void **state)
{
    const char *text = ".\n..\n.resign\na\n.\nb\n";
    struct buf b = composed(text, "https://club.example/u/X");
    struct letter *letter = NULL;
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < b.len; i++)
        assert_true(b.data[i] != '\n' || (i > 0 && b.data[i - 1] == '\r'));
    assert_ok(letter_read(b.data, b.len, NULL, &letter, &err), err);
    assert_string_equal(letter->text, text);
    letter_free(letter);
    buf_release(&b);
}

/* P36: a silence or a temporary refusal is tried again; only 5yz ends it. */
static void test_a_server_that_stops_is_asked_again(void **state)
{
    static const struct {
        CURLcode result;
        long code;
        bool is_uploaded;
        const char *line;
    } cases[] = {{CURLE_SEND_ERROR, 421, false, "421 4.3.2 closing"},
                 {CURLE_OPERATION_TIMEDOUT, 354, true, ""},
                 {CURLE_SEND_ERROR, 452, false, "452 4.3.1 full"},
                 {CURLE_RECV_ERROR, 0, false, ""}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct mail_result r;

        mail_reply_judge(cases[i].result, cases[i].code, cases[i].is_uploaded, cases[i].line,
                         "it stopped", &r);
        assert_int_equal(r.outcome, MAIL_LATER);
        assert_int_not_equal(r.blame, MAIL_BLAME_ADDRESS);
    }
}

/* P40 */
static void test_a_long_unsubscribe_header_is_one_plain_line(void **state)
{
    char url[600] = "https://club.example/u/", wanted[700];
    struct buf b;

    (void)state;
    memset(url + strlen(url), 'x', 500);
    (void)snprintf(wanted, sizeof wanted, "\r\nList-Unsubscribe: <%s>\r\n", url);
    b = composed("x\n", url);
    assert_non_null(strstr(b.data, wanted));
    buf_release(&b);
}

/* ---------------------------------------------------------------- the list */

static int print_list(void **state)
{
    static const struct {
        int number;
        const char *what;
    } list[] = {
        {1, "an answer that says auto-replied is automatic"},
        {2, "so is one that says it by any other header, and perhaps by its subject"},
        {3, "a loop header is seen whatever the Message-ID (reading)"},
        {4, "our own letter is known by its loop header"},
        {5, "the move is read from HTML, the quote is not"},
        {6, "HTML is read when the text is empty, and kept beside a stub"},
        {7, "Outlook's blocks of header words end the answer in any language"},
        {8, "an unmarked line within Apple's quote is no answer"},
        {9, "attributions wrapped over lines are left out"},
        {10, "answers below and between quotes are told from those above"},
        {11, "format=flowed and delsp are joined"},
        {12, "base64 ends where it ends, whatever was put after it"},
        {13, "soft line breaks are undone, declared or not"},
        {14, "any charset gives valid UTF-8, and UTF-8 is tried first"},
        {15, "broken parameters and types do no harm; attachments are not read"},
        {16, "a From that is not one mailbox is no sender"},
        {17, "only our own server's results count, and not what is quoted in them (reading)"},
        {18, "the friend's address is what From says (reading)"},
        {20, "local parts keep their case and length for the token's reader (reading)"},
        {21, "a letter that comes twice has one fingerprint, a new body another (reading)"},
        {22, "a quoted order is not read (reading)"},
        {24, "delays, full mailboxes, policy and prose blame no address (reading)"},
        {25, "5.1.1 blames the address (reading)"},
        {26, "receipts, calendar answers and reactions are automatic"},
        {27, "signed text is read; encrypted letters and winmail.dat are told"},
        {28, "text after a file is read"},
        {29, "hostile letters are refused, and read, within 32 MiB"},
        {30, "a long parameter name does not hang the reader"},
        {31, "no line end gets out of a subject, a name or an address"},
        {32, "lines of dots come out unchanged, CRLF on the wire"},
        {33, "dashes and blanks are mended, look-alike letters told"},
        {34, "banners, footers and mobile signatures are no answer"},
        {36, "a server that stops is asked again (judging)"},
        {37, "every recipient is found, in the order of belief, and the reference (reading)"},
        {38, "mbox lines, CR ends and missing blank lines are mended"},
        {39, "what can't be parsed is refused, no crash (reading)"},
        {40, "a long List-Unsubscribe is one plain line"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(list); i++)
        printf("P%02d ok: %s\n", list[i].number, list[i].what);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_fixture_reads_as_it_must),
        cmocka_unit_test(test_the_html_beside_a_stub_is_kept),
        cmocka_unit_test(test_only_our_own_servers_findings_count),
        cmocka_unit_test(test_the_same_letter_by_two_ways_has_one_fingerprint),
        cmocka_unit_test(test_only_a_failure_that_names_the_address_blames_it),
        cmocka_unit_test(test_a_subject_loses_its_line_ends),
        cmocka_unit_test(test_look_alike_letters_are_told_and_kept),
        cmocka_unit_test(test_recipients_stand_in_order_of_belief),
        cmocka_unit_test(test_hostile_letters_are_refused_at_once),
        cmocka_unit_test(test_the_largest_letters_let_in_cost_little),
        cmocka_unit_test(test_a_long_parameter_name_does_not_hang),
        cmocka_unit_test(test_lines_of_dots_go_through_unchanged),
        cmocka_unit_test(test_a_server_that_stops_is_asked_again),
        cmocka_unit_test(test_a_long_unsubscribe_header_is_one_plain_line),
    };
    int failed;

    mail_library_init();
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed == 0)
        (void)print_list(NULL);
    return failed;
}

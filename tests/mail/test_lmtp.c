/* The LMTP dialogue (RFC 2033, RFC 5321) as bytes in and bytes out. */
#include "support/harness.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "mail/lmtp.h"

enum { SIZE_MAX_OF_TESTS = 1000 };

struct talk {
    struct lmtp *lmtp;
    struct buf out;
    size_t left;          /* bytes of the last input that were not read */
    enum lmtp_step step;  /* what lmtp_feed() said last */
    size_t piece;         /* feed so many bytes at once; 0: all */
};

/* "play+…@example.org", "play@example.org" and "big@…" are ours. */
static bool is_ours(void *arg, const char *address)
{
    (void)arg;
    return str_starts(address, "play") && strstr(address, "@example.org");
}

static int talk_begin(void **state)
{
    const struct lmtp_options options = {
        .name = "mx.example.org", .size_max = SIZE_MAX_OF_TESTS, .is_ours = is_ours};
    struct talk *t = calloc(1, sizeof *t);
    struct err err = ERR_INIT;

    assert_non_null(t);
    t->out = buf_make(100000);
    assert_ok(lmtp_new(&options, &t->out, &t->lmtp, &err), err);
    assert_string_equal(t->out.data, "220 mx.example.org LMTP Fourhanded\r\n");
    buf_clear(&t->out);
    *state = t;
    return 0;
}

static int talk_end(void **state)
{
    struct talk *t = *state;

    lmtp_free(t->lmtp);
    buf_release(&t->out);
    free(t);
    return 0;
}

static void say_bytes(struct talk *t, const char *bytes, size_t n)
{
    while (n > 0) {
        size_t piece = t->piece && t->piece < n ? t->piece : n, used = 0;
        t->step = lmtp_feed(t->lmtp, bytes, piece, &used, &t->out);
        assert_true(used <= piece);
        assert_true(used == piece || t->step != LMTP_MORE);
        bytes += used;
        n -= used;
        if (used < piece || t->step != LMTP_MORE)
            break;
    }
    t->left = n;
}

/* Say it; what is answered must be exactly this. */
static void say(struct talk *t, const char *text, const char *answer)
{
    buf_clear(&t->out);
    say_bytes(t, text, strlen(text));
    assert_string_equal(t->out.data, answer);
}

#define HELLO                                                                                      \
    "250-mx.example.org\r\n250-PIPELINING\r\n250-ENHANCEDSTATUSCODES\r\n250-8BITMIME\r\n"          \
    "250-SMTPUTF8\r\n250 SIZE 1000\r\n"
#define MAIL_OK "250 2.1.0 OK\r\n"
#define RCPT_OK "250 2.1.5 OK\r\n"
#define GO "354 The letter, then a line with a dot alone\r\n"

static void to_data(struct talk *t)
{
    say(t, "LHLO mta.example.org\r\n", HELLO);
    say(t, "MAIL FROM:<a@b.example>\r\n", MAIL_OK);
    say(t, "RCPT TO:<play+one@example.org>\r\n", RCPT_OK);
    say(t, "DATA\r\n", GO);
}

static void assert_letter(struct talk *t, const char *bytes)
{
    const struct lmtp_letter *letter = lmtp_letter(t->lmtp);

    assert_int_equal(t->step, LMTP_LETTER);
    assert_non_null(letter);
    assert_int_equal(letter->size, strlen(bytes));
    assert_memory_equal(letter->bytes, bytes, letter->size);
}

static void test_a_letter_is_answered_for_each_recipient_in_their_order(void **state)
{
    struct talk *t = *state;
    const struct lmtp_letter *letter;

    say(t, "lhlo mta\r\n", HELLO);
    say(t, "mail from:<a@b.example> size=20 body=8bitmime\r\n", MAIL_OK);
    say(t, "rcpt to:<play+one@example.org>\r\n", RCPT_OK);
    say(t, "RCPT TO: <stranger@example.org>\r\n", "550 5.1.1 Nobody of that address is here\r\n");
    say(t, "RCPT TO:<@relay.example,@b:play+two@example.org>\r\n", RCPT_OK);
    say(t, "RCPT TO:<play@example.org> \r\n", RCPT_OK);
    say(t, "DATA\r\n", GO);
    say(t, "Subject: x\r\n\r\ne4\r\n.\r\n", "");
    assert_letter(t, "Subject: x\r\n\r\ne4\r\n");
    letter = lmtp_letter(t->lmtp);
    assert_string_equal(letter->sender, "a@b.example");
    assert_int_equal(letter->n_recipients, 3);
    assert_string_equal(letter->recipients[0], "play+one@example.org");
    assert_string_equal(letter->recipients[1], "play+two@example.org"); /* the route is dropped */
    assert_string_equal(letter->recipients[2], "play@example.org");
    assert_false(lmtp_is_idle(t->lmtp));
    assert_false(lmtp_answer(t->lmtp, 2, LMTP_TAKEN, &t->out));
    assert_string_equal(t->out.data, ""); /* the third waits for the first two */
    assert_false(lmtp_answer(t->lmtp, 0, LMTP_LATER, &t->out));
    assert_string_equal(t->out.data, "451 4.3.0 It could not be kept, come again later\r\n");
    assert_true(lmtp_answer(t->lmtp, 1, LMTP_NOT_OURS, &t->out));
    assert_string_equal(t->out.data, "451 4.3.0 It could not be kept, come again later\r\n"
                                     "550 5.1.1 Nobody of that address is here\r\n"
                                     "250 2.0.0 Taken\r\n");
    assert_null(lmtp_letter(t->lmtp));
    assert_true(lmtp_is_idle(t->lmtp));
    say(t, "QUIT\r\n", "221 2.0.0 Good bye\r\n");
    assert_int_equal(t->step, LMTP_END);
}

static void test_commands_pipelined_after_a_letter_wait_for_its_answers(void **state)
{
    struct talk *t = *state;
    static const char rest[] = "MAIL FROM:<>\r\nRCPT TO:<play@example.org>\r\nDATA\r\nb\r\n.\r\n";
    char all[300];

    snprintf(all, sizeof all,
             "LHLO x\r\nMAIL FROM:<a@b.example>\r\nRCPT TO:<play@example.org>\r\nDATA\r\na\r\n.\r\n"
             "%s",
             rest);
    say(t, all, HELLO MAIL_OK RCPT_OK GO);
    assert_letter(t, "a\r\n");
    assert_int_equal(t->left, sizeof rest - 1);
    say(t, rest, ""); /* offered again too early: nothing is read */
    assert_int_equal(t->left, sizeof rest - 1);
    assert_true(lmtp_answer(t->lmtp, 0, LMTP_TAKEN, &t->out));
    assert_string_equal(t->out.data, "250 2.0.0 Taken\r\n");
    say(t, rest, MAIL_OK RCPT_OK GO);
    assert_letter(t, "b\r\n");
    assert_string_equal(lmtp_letter(t->lmtp)->sender, "");
}

static void test_only_a_dot_between_true_line_ends_ends_a_letter(void **state)
{
    static const struct {
        const char *sent, *kept;
    } letters[] = {
        {".\r\n", ""},
        {"\r\n.\r\n", "\r\n"},
        {"..\r\n.\r\n", ".\r\n"},
        {"...a\r\n.\r\n", "..a\r\n"},
        {"a\r\n..b\r\n.\r\n", "a\r\n.b\r\n"},
        {"a\n.\nMAIL FROM:<x@y>\r\n.\r\n", "a\n.\nMAIL FROM:<x@y>\r\n"},     /* smuggling, */
        {"a\n.\r\nMAIL FROM:<x@y>\r\n.\r\n", "a\n.\r\nMAIL FROM:<x@y>\r\n"}, /* each of its */
        {"a\r\n.\nb\r\n.\r\n", "a\r\n\nb\r\n"},                              /* four forms */
        {"a\r.\rb\r\n.\r\n", "a\r.\rb\r\n"},
        {"a\r\n.\rb\r\n.\r\n", "a\r\n\rb\r\n"},
        {"a\r\n.\r\r\n.\r\n", "a\r\n\r\r\n"},
        {"a\r\r\n.\r\n", "a\r\r\n"},
        {"a\n\n.b\n\r\n.\r\n", "a\n\n.b\n\r\n"},
    };
    struct talk *t = *state;

    for (size_t piece = 0; piece < 4; piece++) { /* whole, and cut everywhere */
        t->piece = piece;
        for (size_t i = 0; i < COUNT_OF(letters); i++) {
            to_data(t);
            say(t, letters[i].sent, "");
            assert_int_equal(t->left, 0);
            assert_letter(t, letters[i].kept);
            assert_true(lmtp_answer(t->lmtp, 0, LMTP_TAKEN, &t->out));
        }
    }
}

static void test_any_byte_may_stand_in_a_letter(void **state)
{
    struct talk *t = *state;
    char bytes[256 + 5];

    to_data(t);
    for (int i = 0; i < 256; i++)
        bytes[i] = (char)(i == '\r' ? 'r' : i);
    memcpy(bytes + 256, "\r\n.\r\n", 5);
    say_bytes(t, bytes, sizeof bytes);
    assert_int_equal(t->step, LMTP_LETTER);
    assert_int_equal(lmtp_letter(t->lmtp)->size, 258);
    assert_memory_equal(lmtp_letter(t->lmtp)->bytes, bytes, 258);
}

static void test_a_letter_of_exactly_the_limit_is_taken_and_one_more_byte_is_not(void **state)
{
    struct talk *t = *state;
    char text[SIZE_MAX_OF_TESTS + 10];

    memset(text, 'x', sizeof text);
    strcpy(text + SIZE_MAX_OF_TESTS - 2, "\r\n.\r\n");
    to_data(t);
    say(t, text, "");
    assert_int_equal(lmtp_letter(t->lmtp)->size, SIZE_MAX_OF_TESTS);
    assert_true(lmtp_answer(t->lmtp, 0, LMTP_TAKEN, &t->out));
    memset(text, 'x', sizeof text);
    strcpy(text + SIZE_MAX_OF_TESTS - 1, "\r\n.\r\n");
    to_data(t);
    say(t, "", "");
    /* A second recipient hears it too, and the dialogue goes on where it should. */
    buf_clear(&t->out);
    say_bytes(t, text, strlen(text));
    assert_string_equal(t->out.data, "552 5.3.4 The letter is larger than is read here\r\n");
    assert_int_equal(t->step, LMTP_MORE);
    say(t, "MAIL FROM:<a@b.example> SIZE=1000\r\n", MAIL_OK);
    say(t, "RSET\r\n", "250 2.0.0 OK\r\n");
    say(t, "MAIL FROM:<a@b.example> SIZE=1001\r\n",
        "552 5.3.4 The letter is larger than is read here\r\n");
    say(t, "MAIL FROM:<a@b.example> SIZE=99999999999999999999\r\n",
        "552 5.3.4 The letter is larger than is read here\r\n");
    say(t, "MAIL FROM:<a@b.example>\r\nRCPT TO:<play@example.org>\r\nRCPT TO:<play+b@example.org>"
           "\r\nDATA\r\n",
        MAIL_OK RCPT_OK RCPT_OK GO);
    buf_clear(&t->out);
    say_bytes(t, text, strlen(text));
    assert_string_equal(t->out.data, "552 5.3.4 The letter is larger than is read here\r\n"
                                     "552 5.3.4 The letter is larger than is read here\r\n");
}

static void test_the_hundredth_recipient_is_taken_and_the_next_comes_again(void **state)
{
    struct talk *t = *state;
    char line[100];

    say(t, "LHLO x\r\n", HELLO);
    say(t, "MAIL FROM:<a@b.example>\r\n", MAIL_OK);
    for (int i = 0; i < LMTP_RECIPIENTS_MAX; i++) {
        snprintf(line, sizeof line, "RCPT TO:<play+%d@example.org>\r\n", i);
        say(t, line, RCPT_OK);
    }
    say(t, "RCPT TO:<play+no@example.org>\r\n", "452 4.5.3 Too many recipients at once\r\n");
    say(t, "DATA\r\n", GO);
    say(t, "x\r\n.\r\n", "");
    assert_int_equal(lmtp_letter(t->lmtp)->n_recipients, LMTP_RECIPIENTS_MAX);
    for (size_t i = LMTP_RECIPIENTS_MAX; i-- > 1;)
        assert_false(lmtp_answer(t->lmtp, i, LMTP_TAKEN, &t->out));
    assert_true(lmtp_answer(t->lmtp, 0, LMTP_TAKEN, &t->out));
    assert_int_equal(t->out.len, LMTP_RECIPIENTS_MAX * strlen("250 2.0.0 Taken\r\n"));
}

static void test_what_comes_out_of_turn_is_refused_and_changes_nothing(void **state)
{
    struct talk *t = *state;

    say(t, "MAIL FROM:<a@b.example>\r\n", "503 5.5.1 Say LHLO first\r\n");
    say(t, "RCPT TO:<play@example.org>\r\n", "503 5.5.1 MAIL comes before RCPT\r\n");
    say(t, "DATA\r\n", "503 5.5.1 MAIL and RCPT come before DATA\r\n");
    say(t, "HELO x\r\n", "500 5.5.1 This is LMTP: say LHLO\r\n");
    say(t, "EHLO x\r\n", "500 5.5.1 This is LMTP: say LHLO\r\n");
    say(t, "LHLO\r\n", "501 5.5.4 LHLO wants a name\r\n");
    say(t, "RSET\r\n", "250 2.0.0 OK\r\n");
    say(t, "MAIL FROM:<a@b.example>\r\n", "503 5.5.1 Say LHLO first\r\n");
    say(t, "LHLO x\r\n", HELLO);
    say(t, "DATA\r\n", "503 5.5.1 MAIL and RCPT come before DATA\r\n");
    say(t, "MAIL FROM:<a@b.example>\r\n", MAIL_OK);
    say(t, "MAIL FROM:<c@d.example>\r\n", "503 5.5.1 There is a sender already\r\n");
    say(t, "DATA\r\n", "503 5.5.1 RCPT comes before DATA\r\n");
    say(t, "RCPT TO:<no@example.org>\r\n", "550 5.1.1 Nobody of that address is here\r\n");
    say(t, "DATA\r\n", "503 5.5.1 No recipient was taken\r\n"); /* RFC 2033, 4.2 */
    say(t, "RCPT TO:<play@example.org>\r\n", RCPT_OK);
    say(t, "DATA now\r\n", "501 5.5.4 DATA stands alone\r\n");
    say(t, "LHLO again\r\n", HELLO); /* resets */
    say(t, "DATA\r\n", "503 5.5.1 MAIL and RCPT come before DATA\r\n");
    say(t, "NOOP a b c\r\n", "250 2.0.0 OK\r\n");
    say(t, "VRFY play\r\n", "252 2.5.2 Try to deliver, then it will be known\r\n");
    say(t, "BDAT 3 LAST\r\n", "502 5.5.1 That command is not known here\r\n");
    say(t, "STARTTLS\r\n", "502 5.5.1 That command is not known here\r\n");
}

static void test_addresses_and_parameters_that_are_none_are_refused(void **state)
{
    static const struct {
        const char *said, *answer;
    } lines[] = {
        {"MAIL FROM:a@b.example\r\n", "501 5.1.7 That is no sender's address\r\n"},
        {"MAIL FROM:<a@b.example\r\n", "501 5.1.7 That is no sender's address\r\n"},
        {"MAIL FROM:<a@>\r\n", "501 5.1.7 That is no sender's address\r\n"},
        {"MAIL FROM:<@b>\r\n", "501 5.1.7 That is no sender's address\r\n"},
        {"MAIL FROM:<a>\r\n", "501 5.1.7 That is no sender's address\r\n"},
        {"MAIL FROM:<a b@c>\r\n", "501 5.1.7 That is no sender's address\r\n"},
        {"MAIL FROM:<a@b>x\r\n", "501 5.1.7 That is no sender's address\r\n"},
        {"MAIL TO:<a@b>\r\n", "501 5.5.4 MAIL FROM:<address>\r\n"},
        {"MAIL\r\n", "501 5.5.4 MAIL FROM:<address>\r\n"},
        {"MAIL FROM:<a@b> SIZE=\r\n", "501 5.5.4 SIZE= wants a number\r\n"},
        {"MAIL FROM:<a@b> SIZE=-1\r\n", "501 5.5.4 SIZE= wants a number\r\n"},
        {"MAIL FROM:<a@b> BODY=BINARYMIME\r\n", "501 5.5.4 BODY= is 7BIT or 8BITMIME\r\n"},
        {"MAIL FROM:<a@b> RET=HDRS\r\n", "555 5.5.4 A parameter is not known here\r\n"},
        {"MAIL FROM:<\xc3\xa4@b>\r\n", "553 5.6.7 The sender's address needs SMTPUTF8\r\n"},
        {"MAIL FROM:<\xff@b> SMTPUTF8\r\n", "553 5.6.7 The sender's address needs SMTPUTF8\r\n"},
        {"MAIL FROM:<a@b>\t\r\n", "500 5.5.2 A control character stands in the command\r\n"},
    };
    struct talk *t = *state;

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        say(t, "LHLO x\r\n", HELLO);
        say(t, lines[i].said, lines[i].answer);
        say(t, "RCPT TO:<play@example.org>\r\n", "503 5.5.1 MAIL comes before RCPT\r\n");
        (void)talk_end(state); /* or the errors would end it */
        (void)talk_begin(state);
        t = *state;
    }
    say(t, "LHLO x\r\nMAIL FROM:<\xc3\xa4@b> SMTPUTF8\r\n", HELLO MAIL_OK);
    say(t, "RCPT TO:<play+\xc3\xa4@example.org>\r\n", RCPT_OK);
    say(t, "RCPT TO:<play\xff@example.org>\r\n", "553 5.6.7 The address needs SMTPUTF8\r\n");
    say(t, "RCPT TO:<>\r\n", "501 5.1.3 That is no address\r\n");
    say(t, "RCPT TO:<play@example.org> NOTIFY=NEVER\r\n",
        "555 5.5.4 A parameter is not known here\r\n");
    say(t, "RCPT TO:<postmaster>\r\n", "550 5.1.1 Nobody of that address is here\r\n");
    say(t, "RCPT TO:<\"pl ay\\\"\"@example.org>\r\n",
        "550 5.1.1 Nobody of that address is here\r\n");
    say(t, "DATA\r\nx\r\n.\r\n", GO);
    assert_true(lmtp_letter(t->lmtp)->is_utf8);
}

static void test_an_address_of_the_longest_kind_is_taken_and_a_longer_one_is_not(void **state)
{
    struct talk *t = *state;
    char line[500];
    int room = LMTP_ADDRESS_MAX - (int)strlen("play+@example.org");

    say(t, "LHLO x\r\nMAIL FROM:<>\r\n", HELLO MAIL_OK);
    snprintf(line, sizeof line, "RCPT TO:<play+%0*d@example.org>\r\n", room, 0);
    say(t, line, RCPT_OK);
    snprintf(line, sizeof line, "RCPT TO:<play+%0*d@example.org>\r\n", room + 1, 0);
    say(t, line, "501 5.1.3 That is no address\r\n");
}

/* "NOOP nnn…" of n bytes with its line end, and more. */
static const char *long_line(size_t n, const char *more)
{
    static char line[3 * LMTP_LINE_MAX];

    memset(line, 'n', n);
    memcpy(line, "NOOP ", 5);
    snprintf(line + n - 2, sizeof line - n, "\r\n%s", more);
    return line;
}

static void test_a_line_that_is_too_long_is_swallowed_whole(void **state)
{
    struct talk *t = *state;

    say(t, "LHLO x\n", HELLO); /* LF alone will do for a command */
    for (t->piece = 0; t->piece < 2000; t->piece += 999) {
        say(t, long_line(LMTP_LINE_MAX, ""), "250 2.0.0 OK\r\n");
        say(t, long_line(LMTP_LINE_MAX + 1, ""), "500 5.5.2 The line is too long\r\n");
        say(t, long_line(2 * LMTP_LINE_MAX, "NOOP\r\n"),
            "500 5.5.2 The line is too long\r\n250 2.0.0 OK\r\n");
    }
}

static void test_nonsense_without_end_is_ended_and_a_letter_forgives(void **state)
{
    struct talk *t = *state;

    for (int i = 1; i < LMTP_ERRORS_MAX; i++)
        say(t, "what\r\n", "502 5.5.1 That command is not known here\r\n");
    to_data(t);
    say(t, "x\r\n.\r\n", "");
    assert_true(lmtp_answer(t->lmtp, 0, LMTP_TAKEN, &t->out));
    for (int i = 1; i < LMTP_ERRORS_MAX; i++)
        say(t, "what\r\n", "502 5.5.1 That command is not known here\r\n");
    say(t, "what\r\nNOOP\r\n", "421 4.7.0 Too many errors\r\n");
    assert_int_equal(t->step, LMTP_END);
    assert_int_equal(t->left, 6); /* the rest is for nobody */
}

static void test_this_side_can_end_it_in_the_middle_of_a_letter(void **state)
{
    struct talk *t = *state;

    to_data(t);
    say(t, "half a lett", "");
    assert_false(lmtp_is_idle(t->lmtp));
    lmtp_shut(t->lmtp, LMTP_SILENT, &t->out);
    assert_string_equal(t->out.data, "421 4.4.2 Nothing came for too long\r\n");
    lmtp_shut(t->lmtp, LMTP_STOPPING, &t->out); /* once is enough */
    assert_string_equal(t->out.data, "421 4.4.2 Nothing came for too long\r\n");
    say(t, "er\r\n.\r\n", "");
    assert_int_equal(t->step, LMTP_END);
    assert_null(lmtp_letter(t->lmtp));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, talk_begin, talk_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_letter_is_answered_for_each_recipient_in_their_order),
        TEST(test_commands_pipelined_after_a_letter_wait_for_its_answers),
        TEST(test_only_a_dot_between_true_line_ends_ends_a_letter),
        TEST(test_any_byte_may_stand_in_a_letter),
        TEST(test_a_letter_of_exactly_the_limit_is_taken_and_one_more_byte_is_not),
        TEST(test_the_hundredth_recipient_is_taken_and_the_next_comes_again),
        TEST(test_what_comes_out_of_turn_is_refused_and_changes_nothing),
        TEST(test_addresses_and_parameters_that_are_none_are_refused),
        TEST(test_an_address_of_the_longest_kind_is_taken_and_a_longer_one_is_not),
        TEST(test_a_line_that_is_too_long_is_swallowed_whole),
        TEST(test_nonsense_without_end_is_ended_and_a_letter_forgives),
        TEST(test_this_side_can_end_it_in_the_middle_of_a_letter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "support/harness.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mail/sink.h"
#include "mail/transport.h"

static const char letter[] = "Subject: x\r\n\r\nfirst\r\n.\r\n..two\r\n.three\r\nlast\r\n";

/* One letter to the sink; how it went. */
static struct mail_result send_one(const struct sink *sink, const struct mail_smtp *base,
                                   const char *bytes)
{
    struct mail_smtp smtp = *base;
    struct mail_envelope envelope = {"games@club.example", "anna@example.org"};
    struct mail_sending *sending = NULL;
    struct mail_result result;
    struct err err = ERR_INIT;

    smtp.host = "127.0.0.1";
    smtp.port = sink_port(sink);
    smtp.helo = "club.example";
    assert_ok(mail_sending_new(&smtp, &envelope, bytes, strlen(bytes), &sending, &err), err);
    mail_sending_judge(sending, curl_easy_perform(mail_sending_handle(sending)), &result);
    mail_sending_free(sending);
    return result;
}

static const struct mail_smtp plain = {.tls = MAIL_TLS_NONE};

static struct mail_result send_scripted(struct sink_script script)
{
    struct sink *sink = sink_start(&script);
    struct mail_result result = send_one(sink, &plain, letter);

    sink_stop(sink);
    sink_free(sink);
    return result;
}

/* P32 */
static void test_a_letter_arrives_unchanged_for_one_recipient(void **state)
{
    struct sink *sink = sink_start(NULL);
    struct mail_result r = send_one(sink, &plain, letter);

    (void)state;
    sink_stop(sink);
    assert_int_equal(r.outcome, MAIL_SENT);
    assert_int_equal(r.code, 250);
    assert_int_equal(sink_messages(sink), 1);
    assert_string_equal(sink_message(sink), letter);
    assert_string_equal(sink_raw(sink),
                        "Subject: x\r\n\r\nfirst\r\n..\r\n...two\r\n..three\r\nlast\r\n");
    assert_non_null(strstr(sink_commands(sink), "EHLO club.example\n"));
    assert_non_null(strstr(sink_commands(sink), "MAIL FROM:<games@club.example> SIZE="));
    assert_non_null(strstr(sink_commands(sink), "RCPT TO:<anna@example.org>\nDATA\n"));
    assert_null(strstr(strstr(sink_commands(sink), "RCPT") + 4, "RCPT"));
    sink_free(sink);
}

/* One handle and one connection for several letters; what one was told says nothing of the next. */
static void test_a_handle_takes_one_letter_after_another(void **state)
{
    struct sink *sink = sink_start(NULL);
    struct mail_smtp smtp = {.host = "127.0.0.1", .port = sink_port(sink),
                             .helo = "club.example", .tls = MAIL_TLS_NONE};
    struct mail_envelope first = {"games@club.example", "anna@example.org"},
                         second = {"", "boris@example.org"}, bad = {"", "boris"};
    struct mail_sending *sending = NULL;
    struct mail_result r;
    struct err err = ERR_INIT;
    static const char other[] = "Subject: y\r\n\r\nshorter\r\n";

    (void)state;
    assert_ok(mail_sending_new(&smtp, &first, letter, strlen(letter), &sending, &err), err);
    mail_sending_judge(sending, curl_easy_perform(mail_sending_handle(sending)), &r);
    assert_int_equal(r.outcome, MAIL_SENT);
    assert_st(mail_sending_next(sending, &bad, other, strlen(other), &err), ST_INVALID, err);
    assert_st(mail_sending_next(sending, &second, "x\n", 2, &err), ST_INVALID, err);
    sink_set(sink, &(struct sink_script){.rcpt = "550 5.1.1 no such user"});
    assert_ok(mail_sending_next(sending, &second, other, strlen(other), &err), err);
    mail_sending_judge(sending, curl_easy_perform(mail_sending_handle(sending)), &r);
    assert_int_equal(r.outcome, MAIL_REFUSED);
    sink_set(sink, &(struct sink_script){0});
    assert_ok(mail_sending_next(sending, &second, other, strlen(other), &err), err);
    mail_sending_judge(sending, curl_easy_perform(mail_sending_handle(sending)), &r);
    assert_int_equal(r.outcome, MAIL_SENT);
    assert_string_equal(r.enhanced, "");
    mail_sending_free(sending);
    sink_stop(sink);
    assert_string_equal(sink_message(sink), other);
    assert_int_equal(sink_messages(sink), 2);
    assert_non_null(strstr(sink_commands(sink),
                           "MAIL FROM:<> SIZE=23\nRCPT TO:<boris@example.org>"));
    assert_int_equal(sink_sessions(sink), 2); /* a new one only after the refusal */
    sink_free(sink);
}

/* P36 and 1.4: the code decides. */
static void test_replies_are_judged_by_their_code(void **state)
{
    static const struct {
        const char *name;
        struct sink_script script;
        enum mail_outcome outcome;
        enum mail_blame blame;
        int code;
        const char *enhanced;
    } table[] = {
        {"no such mailbox", {.rcpt = "550 5.1.1 no such user"},
         MAIL_REFUSED, MAIL_BLAME_ADDRESS, 550, "5.1.1"},
        {"greylisted", {.rcpt = "451 4.7.1 try later"}, MAIL_LATER, MAIL_BLAME_NONE, 451, "4.7.1"},
        {"mailbox full for now", {.rcpt = "452 4.2.2 over quota"},
         MAIL_LATER, MAIL_BLAME_NONE, 452, "4.2.2"},
        {"mailbox full", {.rcpt = "552 5.2.2 over quota"},
         MAIL_REFUSED, MAIL_BLAME_NONE, 552, "5.2.2"},
        {"policy", {.message = "550 5.7.1 spam"}, MAIL_REFUSED, MAIL_BLAME_POLICY, 550, "5.7.1"},
        {"bare 550", {.rcpt = "550 no"}, MAIL_REFUSED, MAIL_BLAME_MAYBE, 550, ""},
        {"too big after DATA", {.message = "552 5.3.4 too big"},
         MAIL_REFUSED, MAIL_BLAME_NONE, 552, "5.3.4"},
        {"421 at MAIL", {.mail = "421 4.3.2 shutting down"},
         MAIL_LATER, MAIL_BLAME_NONE, 421, "4.3.2"},
        {"421 after DATA", {.message = "421 4.3.2 shutting down"},
         MAIL_LATER, MAIL_BLAME_NONE, 421, "4.3.2"},
        {"busy greeting", {.greeting = "421 too many"}, MAIL_LATER, MAIL_BLAME_NONE, 421, ""},
        {"no service greeting", {.greeting = "554 go away"},
         MAIL_LATER, MAIL_BLAME_POLICY, 554, ""},
        {"several lines", {.rcpt = "550-5.1.2 bad\r\n550 5.1.2 domain"},
         MAIL_REFUSED, MAIL_BLAME_ADDRESS, 550, "5.1.2"},
        {"4yz in 5yz", {.rcpt = "550 4.2.1 strange"}, MAIL_LATER, MAIL_BLAME_NONE, 550, "4.2.1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct mail_result r = send_scripted(table[i].script);

        if (r.outcome != table[i].outcome || r.blame != table[i].blame || r.code != table[i].code ||
            strcmp(r.enhanced, table[i].enhanced) != 0)
            fail_msg("%s: %s blame %d code %d enhanced '%s' text '%s'", table[i].name,
                     mail_outcome_str(r.outcome), (int)r.blame, r.code, r.enhanced, r.text);
    }
}

/* P36: a line that goes dead is no refusal. */
static void test_a_dead_line_at_any_point_means_try_again(void **state)
{
    static const struct sink_script table[] = {
        {.greeting = ""}, {.ehlo = ""}, {.mail = ""}, {.rcpt = ""}, {.data = ""}, {.message = ""}};

    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct mail_result r = send_scripted(table[i]);

        if (r.outcome != MAIL_LATER || r.text[0] == '\0')
            fail_msg("row %zu: %s '%s'", i, mail_outcome_str(r.outcome), r.text);
    }
}

static void test_a_silence_after_data_means_try_again(void **state)
{
    struct mail_result r;

    (void)state;
    mail_reply_judge(CURLE_OPERATION_TIMEDOUT, 354, true, "", "timed out", &r);
    assert_int_equal(r.outcome, MAIL_LATER);
    assert_string_equal(r.text, "timed out");
    mail_reply_judge(CURLE_OPERATION_TIMEDOUT, 250, false, "", "timed out", &r);
    assert_int_equal(r.outcome, MAIL_LATER); /* 250 was RCPT's */
    mail_reply_judge(CURLE_LOGIN_DENIED, 535, false, "535 5.7.8 no\r\n", "denied", &r);
    assert_int_equal(r.outcome, MAIL_LATER); /* N10: our password, not the player's address */
    assert_int_equal(r.blame, MAIL_BLAME_POLICY);
    assert_string_equal(r.text, "535 5.7.8 no");
}

static void test_nobody_listening_means_try_again(void **state)
{
    struct sink *sink = sink_start(NULL);
    struct mail_result r;

    (void)state;
    sink_stop(sink);
    r = send_one(sink, &plain, letter);
    assert_int_equal(r.outcome, MAIL_LATER);
    assert_int_equal(r.code, 0);
    sink_free(sink);
}

static void test_nothing_is_sent_in_the_clear_when_starttls_is_asked_for(void **state)
{
    struct sink *sink = sink_start(NULL);
    const struct mail_smtp starttls = {
        .tls = MAIL_TLS_STARTTLS, .user = "club", .password = "hunter2"};
    struct mail_result r = send_one(sink, &starttls, letter);

    (void)state;
    sink_stop(sink);
    assert_int_equal(r.outcome, MAIL_LATER);
    assert_null(strstr(sink_commands(sink), "MAIL"));
    assert_null(strstr(sink_commands(sink), "AUTH"));
    sink_free(sink);
}

/* P31: addresses are looked at again right before curl, which would pass line breaks on. */
static void test_evil_envelopes_and_bare_line_ends_never_reach_curl(void **state)
{
    const struct mail_smtp smtp = {
        .host = "127.0.0.1", .port = 25, .helo = "club.example", .tls = MAIL_TLS_NONE};
    static const char *const evil[] = {"ok@x>\r\nRCPT TO:<evil@x", "ok@x\r\n", "<ok@x>", "a@b,c@d",
                                       "a@b NOTIFY=NEVER", ""};
    struct mail_sending *sending = NULL;
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof evil / sizeof evil[0]; i++) {
        struct mail_envelope to = {"games@club.example", evil[i]}, from = {evil[i], "a@b"};

        assert_st(mail_sending_new(&smtp, &to, letter, strlen(letter), &sending, &err),
                  ST_INVALID, err);
        if (evil[i][0] != '\0')
            assert_st(mail_sending_new(&smtp, &from, letter, strlen(letter), &sending, &err),
                      ST_INVALID, err);
    }
    {
        static const char *const bare[] = {"a\n.\nb\r\n", "a\rb\r\n",     "\na\r\n",
                                           "a\r\n\nb\r\n", "a\r\r\nb\r\n", "a\r\nb\r",
                                           "a\r\nb\n",     "\n",            "\r",
                                           ""};
        struct mail_envelope good = {"", "a@b"};

        for (size_t i = 0; i < sizeof bare / sizeof bare[0]; i++)
            assert_st(mail_sending_new(&smtp, &good, bare[i], strlen(bare[i]), &sending, &err),
                      ST_INVALID, err);
        assert_null(sending);
        assert_ok(mail_sending_new(&smtp, &good, "\r\na\r\n\r\nb", 9, &sending, &err), err);
        mail_sending_free(sending);
        assert_ok(mail_sending_new(&smtp, &good, letter, strlen(letter), &sending, &err), err);
        mail_sending_free(sending);
        mail_sending_free(NULL);
    }
}

/* ---------------------------------------------------------------- directory */

static char dir[] = "/tmp/fh-mail-XXXXXX";

static size_t files_in(const char *path)
{
    DIR *d = opendir(path);
    size_t n = 0;

    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

static void test_a_letter_dropped_twice_is_one_file(void **state)
{
    struct err err = ERR_INIT;
    char path[200], got[200] = "";
    struct stat st;
    FILE *f;

    (void)state;
    assert_ok(mail_directory_drop(dir, "7k2m.1", "old\r\n", 5, &err), err);
    assert_ok(mail_directory_drop(dir, "7k2m.1", letter, strlen(letter), &err), err);
    assert_int_equal(files_in(dir), 1);
    (void)snprintf(path, sizeof path, "%s/7k2m.1.eml", dir);
    f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(got, 1, sizeof got - 1, f), strlen(letter));
    fclose(f);
    assert_string_equal(got, letter);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 077, 0); /* it may hold a log-in link */
    unlink(path);
}

static void test_names_that_could_leave_the_directory_are_refused(void **state)
{
    static const char *const bad[] = {"", ".", "..", ".x", "a/b", "../x", "a\nb", "a b"};
    struct err err = ERR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_st(mail_directory_drop(dir, bad[i], "x", 1, &err), ST_INVALID, err);
    assert_st(mail_directory_drop("/nonexistent/x", "a", "x", 1, &err), ST_IO, err);
    assert_int_equal(files_in(dir), 0);
}

static int set_up(void **state)
{
    (void)state;
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && mkdtemp(dir) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    curl_global_cleanup();
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_letter_arrives_unchanged_for_one_recipient),
        cmocka_unit_test(test_a_handle_takes_one_letter_after_another),
        cmocka_unit_test(test_replies_are_judged_by_their_code),
        cmocka_unit_test(test_a_dead_line_at_any_point_means_try_again),
        cmocka_unit_test(test_a_silence_after_data_means_try_again),
        cmocka_unit_test(test_nobody_listening_means_try_again),
        cmocka_unit_test(test_nothing_is_sent_in_the_clear_when_starttls_is_asked_for),
        cmocka_unit_test(test_evil_envelopes_and_bare_line_ends_never_reach_curl),
        cmocka_unit_test(test_a_letter_dropped_twice_is_one_file),
        cmocka_unit_test(test_names_that_could_leave_the_directory_are_refused),
    };

    return cmocka_run_group_tests_name("mail/transport", tests, set_up, tear_down);
}

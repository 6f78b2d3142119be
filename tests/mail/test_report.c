/* Delivery reports (RFC 3464; P24, P25). */
#include "support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "mail/message.h"
#include "mail/report.h"

static struct report read_report(const char *text)
{
    struct report report = REPORT_INIT;
    struct err err = ERR_INIT;

    assert_ok(report_read(text, strlen(text), &report, &err), err);
    return report;
}

struct row {
    const char *action, *status, *diagnostic;
    enum report_blame blame;
    const char *believed;
};

static void test_the_blame_follows_action_status_and_diagnostic(void **state)
{
    static const struct row rows[] = {
        {"failed", "5.1.1", "smtp; 550 5.1.1 unknown", REPORT_BLAME_ADDRESS, "5.1.1"},
        {"FAILED", "5.1.2", "smtp; 550 no such domain", REPORT_BLAME_ADDRESS, "5.1.2"},
        {"failed (for ever)", "5.1.10 (null MX)", "", REPORT_BLAME_ADDRESS, "5.1.10"},
        {"failed", "5.2.1", "smtp; 550 5.2.1 disabled", REPORT_BLAME_ADDRESS, "5.2.1"},
        {"failed", "5.0.0", "smtp;550 5.1.1 unknown", REPORT_BLAME_ADDRESS, "5.1.1"},
        {"failed", "", "550-5.1.1 The account does not exist", REPORT_BLAME_ADDRESS, "5.1.1"},
        {"failed", "5.0.0", "smtp; 550 unknown user", REPORT_BLAME_SOFT, "5.0.0"},
        {"failed", "5.2.2", "smtp; 552 5.2.2 full", REPORT_BLAME_SOFT, "5.2.2"},
        {"failed", "4.2.2", "smtp; 452 4.2.2 full", REPORT_BLAME_SOFT, "4.2.2"},
        {"failed", "5.4.7", "smtp; 451 4.7.1 greylisted", REPORT_BLAME_SOFT, "5.4.7"},
        {"failed", "5.1.1", "smtp; 451 4.7.1 come back", REPORT_BLAME_SOFT, "5.1.1"},
        {"failed", "5.1.1", "smtp; 450 come back", REPORT_BLAME_SOFT, "5.1.1"},
        {"failed", "5.7.1", "smtp; 550 5.7.1 refused", REPORT_BLAME_POLICY, "5.7.1"},
        {"failed", "5.1.1", "smtp; 550 5.7.26 refused", REPORT_BLAME_POLICY, "5.1.1"},
        {"failed", "5.0.0", "smtp; 550 5.7.509 refused", REPORT_BLAME_POLICY, "5.7.509"},
        {"failed", "5.1.1", "smtp; 550 5.4.1 denied", REPORT_BLAME_SOFT, "5.1.1"},
        {"delayed", "4.4.1", "", REPORT_BLAME_NOTHING, "4.4.1"},
        {"delayed", "5.1.1", "smtp; 550 5.1.1 unknown", REPORT_BLAME_NOTHING, "5.1.1"},
        {"delivered", "2.1.5", "", REPORT_BLAME_NOTHING, "2.1.5"},
        {"relayed", "2.0.0", "", REPORT_BLAME_NOTHING, "2.0.0"},
        {"expanded", "2.0.0", "", REPORT_BLAME_NOTHING, "2.0.0"},
        {"exploded", "5.1.1", "", REPORT_BLAME_NOTHING, "5.1.1"},
        {"", "5.1.1", "", REPORT_BLAME_NOTHING, "5.1.1"},
        {"failed", "3.1.1", "", REPORT_BLAME_SOFT, ""},
        {"failed", "15.1.1", "smtp; 192.0.5.1.1 and 5.1.1.7", REPORT_BLAME_SOFT, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b = buf_make(4096);
        struct report report;

        buf_printf(&b, "Final-Recipient: rfc822; a@b.example\nAction: %s\nStatus: %s\n"
                       "Diagnostic-Code: %s\n", rows[i].action, rows[i].status, rows[i].diagnostic);
        report = read_report(b.data);
        assert_int_equal(report.recipient_count, 1);
        if (report_worst(&report, NULL) != rows[i].blame)
            fail_msg("row %zu: blame %d, not %d", i, (int)report_worst(&report, NULL),
                     (int)rows[i].blame);
        assert_string_equal(report.recipients[0].status, rows[i].believed);
        report_release(&report);
        buf_release(&b);
    }
}

static void test_groups_fields_and_folds_are_read_leniently(void **state)
{
    struct report report = read_report("Reporting-MTA: dns; mx.example.org\r\n"
                                       "\r\n"
                                       "action:Failed\r\n"
                                       "FINAL-RECIPIENT :  RFC822;<anna@example.org>\r\n"
                                       "Original-Recipient: rfc822;anna+x@example.org\r\n"
                                       "Status: 5.1.1\r\n"
                                       "Diagnostic-Code: smtp; 550 5.1.1\r\n"
                                       "\t no such user\x01 here\r\n"
                                       "junk without a colon\r\n"
                                       "\r\n"
                                       "X-Nothing: here\r\n"
                                       "\r\n"
                                       "Final-Recipient: rfc822; bert@example.org\r\n"
                                       "Action: delayed\r\n"
                                       "Status: 4.4.1");
    size_t which = 9;

    (void)state;
    assert_int_equal(report.recipient_count, 2);
    assert_string_equal(report.recipients[0].final_recipient, "anna@example.org");
    assert_string_equal(report.recipients[0].original_recipient, "anna+x@example.org");
    assert_non_null(strstr(report.recipients[0].diagnostic, "550 5.1.1"));
    assert_non_null(strstr(report.recipients[0].diagnostic, "no such user  here"));
    assert_int_equal(report.recipients[0].action, REPORT_FAILED);
    assert_string_equal(report.recipients[1].final_recipient, "bert@example.org");
    assert_int_equal(report.recipients[1].action, REPORT_DELAYED);
    assert_string_equal(report.recipients[1].diagnostic, "");
    assert_int_equal(report_worst(&report, &which), REPORT_BLAME_ADDRESS);
    assert_int_equal(which, 0);
    report_release(&report);
    report_release(&report);
    report_release(NULL);
}

static void test_what_is_no_report_blames_nobody(void **state)
{
    static const char *const texts[] = {"", "\n\n\n", "hello\n", "Action\n", ":\n",
                                        "Reporting-MTA: dns; x\n", "X: 550 5.1.1 unknown\n"};
    size_t which = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct report report = read_report(texts[i]);

        assert_int_equal(report.recipient_count, 0);
        assert_int_equal(report_worst(&report, &which), REPORT_BLAME_NOTHING);
        assert_true(which == SIZE_MAX);
        report_release(&report);
    }
}

/* N9 */
static void test_a_feedback_complains_unless_it_says_otherwise(void **state)
{
    static const char *const complaints[] = {
        "Feedback-Type: abuse\r\nUser-Agent: x/1\r\n", "User-Agent: x\nFEEDBACK-TYPE:\tfraud\n",
        "Feedback-Type: opt-out\n", "Feedback-Type: not\n", "", "Version: 1\n"};
    static const char *const others[] = {"Feedback-Type: not-spam\r\n",
                                         "Version: 1\nfeedback-type:Not-Spam"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(complaints); i++)
        assert_true(report_is_complaint(complaints[i], strlen(complaints[i])));
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_false(report_is_complaint(others[i], strlen(others[i])));
}

static void test_no_more_recipients_are_kept_than_said(void **state)
{
    struct buf b = buf_make(REPORT_BYTES_MAX);
    struct report report;

    (void)state;
    for (int i = 0; i < REPORT_RECIPIENTS_MAX + 1; i++)
        buf_printf(&b, "Final-Recipient: rfc822; a%d@b.example\nAction: failed\n\n", i);
    report = read_report(b.data);
    assert_int_equal(report.recipient_count, REPORT_RECIPIENTS_MAX);
    report_release(&report);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_blame_follows_action_status_and_diagnostic),
        cmocka_unit_test(test_groups_fields_and_folds_are_read_leniently),
        cmocka_unit_test(test_what_is_no_report_blames_nobody),
        cmocka_unit_test(test_a_feedback_complains_unless_it_says_otherwise),
        cmocka_unit_test(test_no_more_recipients_are_kept_than_said),
    };

    mail_library_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

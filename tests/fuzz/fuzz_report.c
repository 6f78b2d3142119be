/* Delivery reports and Authentication-Results: any bytes are read without harm. */
#include "fuzz.h"

#include "base/str.h"
#include "mail/authres.h"
#include "mail/message.h"
#include "mail/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct report report = REPORT_INIT;
    struct err err = ERR_INIT;
    char *text = str_ndup((const char *)data, size);
    const char *values[2] = {text, "mx.club.example; dmarc=pass"};
    const char *below[2] = {"mx.club.example; spf=none", text};
    size_t which = 0;

    must(text != NULL);
    for (char *p = text; *p; p++) /* names are compared in any case */
        *p = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
    mail_library_init();
    must(report_read(data, size, &report, &err) == ST_OK);
    must(report.recipient_count <= REPORT_RECIPIENTS_MAX);
    for (size_t i = 0; i < report.recipient_count; i++) {
        must(utf8_is_valid(report.recipients[i].diagnostic,
                           strlen(report.recipients[i].diagnostic)));
        must(report.recipients[i].blame != REPORT_BLAME_ADDRESS ||
             report.recipients[i].action == REPORT_FAILED);
    }
    (void)report_worst(&report, &which);
    report_release(&report);
    (void)authres_judge(values, 1, "mx.club.example", "example.org");
    /* One that is not ours changes nothing about the one below; one without words may be ours. */
    if (text[0] == '\0')
        must(authres_judge(values, 2, "mx.club.example", "example.org") == AUTH_FAIL);
    else if (strstr(text, "mx.club.example") == NULL && strchr(text, '\\') == NULL)
        must(authres_judge(values, 2, "mx.club.example", "example.org") == AUTH_PASS);
    /* What stands below ours never speaks for the sender. */
    must(authres_judge(below, 2, "mx.club.example", "example.org") != AUTH_PASS);
    free(text);
    return 0;
}

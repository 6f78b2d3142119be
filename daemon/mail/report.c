/* mail/report.c - see report.h. */
#include "mail/report.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "mail/decode.h"
#include "mail/scan.h"
#include "mail/transport.h"

enum { FIELD_MAX = 400 };

/* "none", "failed", … */
static const char *report_action_str(enum report_action action)
{
    static const char *const words[] = {"none",      "failed",  "delayed",
                                        "delivered", "relayed", "expanded"};

    return words[action];
}

void report_release(struct report *report)
{
    if (report == NULL)
        return;
    for (size_t i = 0; i < report->recipient_count; i++) {
        free(report->recipients[i].final_recipient);
        free(report->recipients[i].original_recipient);
        free(report->recipients[i].diagnostic);
    }
    free(report->recipients);
    free(report->original_message_id);
    *report = REPORT_INIT;
}

/* ---------------------------------------------------------------- codes */

/* The first enhanced code ("5.1.1", not part of a longer number) of text; "" when there is none. */
static void find_code(const char *text, char ret[12])
{
    ret[0] = '\0';
    for (const char *p = text; *p != '\0'; p++) {
        size_t n = 0, digits = 0;
        int dots = 0;
        bool is_begin = p == text || (strchr("0123456789.", p[-1]) == NULL &&
                                      !(p[-1] >= 'A' && p[-1] <= 'Z') &&
                                      !(p[-1] >= 'a' && p[-1] <= 'z'));

        if (!is_begin || (*p != '2' && *p != '4' && *p != '5') || p[1] != '.')
            continue;
        for (; (p[n] >= '0' && p[n] <= '9') || (p[n] == '.' && dots < 2); n++) {
            if (p[n] == '.' && digits == 0)
                break;
            dots += p[n] == '.';
            digits = p[n] == '.' ? 0 : digits + 1;
        }
        if (dots == 2 && digits > 0 && n < 12 && p[n] != '.') {
            memcpy(ret, p, n);
            ret[n] = '\0';
            return;
        }
    }
}

/* The SMTP reply code a diagnostic begins with, or 0. */
static int reply_code(const char *text)
{
    const char *p = text + strspn(text, " <>:'\"");

    for (int i = 0; i < 3; i++)
        if (p[i] < '0' || p[i] > '9')
            return 0;
    if (p[3] >= '0' && p[3] <= '9')
        return 0;
    return (p[0] - '0') * 100 + (p[1] - '0') * 10 + (p[2] - '0');
}

/* "5.0.0" and its like: failed, and that is all. */
static bool says_nothing(const char *status)
{
    return status[0] == '\0' || strcmp(status + 1, ".0.0") == 0;
}

static void judge(struct report_recipient *r)
{
    char code[12];
    int reply = reply_code(r->diagnostic);

    find_code(r->diagnostic, code);
    /* A diagnostic of the mail server beats a status that says nothing. */
    if (says_nothing(r->status) && code[0] != '\0')
        memcpy(r->status, code, sizeof code);
    r->blame = REPORT_BLAME_NOTHING;
    if (r->action != REPORT_FAILED)
        return;
    r->blame = REPORT_BLAME_SOFT;
    if (r->status[0] != '5' || code[0] == '4' || (reply >= 400 && reply < 500))
        return;
    /* Where the two contradict each other on what is wrong, policy is nobody's fault but ours. */
    if (mail_blame_of(r->status) == MAIL_BLAME_POLICY ||
        (code[0] != '\0' && mail_blame_of(code) == MAIL_BLAME_POLICY))
        r->blame = REPORT_BLAME_POLICY;
    else if (mail_blame_of(r->status) == MAIL_BLAME_ADDRESS &&
             (says_nothing(code) || mail_blame_of(code) == MAIL_BLAME_ADDRESS))
        r->blame = REPORT_BLAME_ADDRESS;
}

bool report_is_complaint(const void *bytes, size_t n)
{
    static const char field[] = "feedback-type:", none[] = "not-spam";
    const char *p = bytes;
    size_t next;

    n = n > REPORT_BYTES_MAX ? REPORT_BYTES_MAX : n;
    for (size_t at = 0; at < n; at += next) {
        size_t len = scan_line(p + at, n - at, false, &next), value = sizeof field - 1;

        if (len < value || strncasecmp(p + at, field, value) != 0)
            continue;
        while (value < len && (p[at + value] == ' ' || p[at + value] == '\t'))
            value++;
        return len - value < sizeof none - 1 ||
               strncasecmp(p + at + value, none, sizeof none - 1) != 0;
    }
    return true;
}

enum report_blame report_worst(const struct report *report, size_t *ret_which)
{
    enum report_blame worst = REPORT_BLAME_NOTHING;
    size_t which = SIZE_MAX;

    for (size_t i = 0; i < report->recipient_count; i++) {
        if (report->recipients[i].blame > worst) {
            worst = report->recipients[i].blame;
            which = i;
        }
    }
    if (ret_which)
        *ret_which = which;
    return worst;
}

/* ---------------------------------------------------------------- fields */

/* What the fields of one group say. */
struct group {
    struct report_recipient recipient;
    bool is_recipient;
};

static enum report_action action_of(const char *value)
{
    size_t n = strcspn(value, " \t(;");

    for (int i = REPORT_FAILED; i <= REPORT_EXPANDED; i++) {
        const char *word = report_action_str((enum report_action)i);

        if (strlen(word) == n && strncasecmp(value, word, n) == 0)
            return (enum report_action)i;
    }
    return REPORT_ACTION_NONE;
}

/* What stands after "rfc822;", without brackets. */
static char *after_type(const char *value)
{
    const char *semicolon = strchr(value, ';');
    char *text = decode_header(semicolon ? semicolon + 1 : value, FIELD_MAX, NULL);
    size_t n = text ? strlen(text) : 0;

    if (n >= 2 && text[0] == '<' && text[n - 1] == '>') {
        memmove(text, text + 1, n - 2);
        text[n - 2] = '\0';
    }
    return text;
}

/* Replaces *field; false when out of memory. */
static bool set_field(char **field, const char *value)
{
    char *text = after_type(value);

    if (text == NULL)
        return false;
    free(*field);
    *field = text;
    return true;
}

static bool take_field(struct group *g, const char *name, const char *value)
{
    struct report_recipient *r = &g->recipient;

    if (strcasecmp(name, "Action") == 0) {
        r->action = action_of(value);
    } else if (strcasecmp(name, "Status") == 0) {
        find_code(value, r->status);
    } else if (strcasecmp(name, "Diagnostic-Code") == 0) {
        return set_field(&r->diagnostic, value);
    } else if (strcasecmp(name, "Final-Recipient") == 0) {
        g->is_recipient = true;
        return set_field(&r->final_recipient, value);
    } else if (strcasecmp(name, "Original-Recipient") == 0) {
        g->is_recipient = true;
        return set_field(&r->original_recipient, value);
    } else {
        return true;
    }
    g->is_recipient = true;
    return true;
}

static void group_release(struct group *g)
{
    free(g->recipient.final_recipient);
    free(g->recipient.original_recipient);
    free(g->recipient.diagnostic);
    *g = (struct group){.is_recipient = false};
}

/* The group is over: keep it if it is about a recipient.  False: out of memory. */
static bool group_end(struct report *report, struct group *g)
{
    struct report_recipient *r = &g->recipient;
    bool is_ok = true;

    if (g->is_recipient && report->recipient_count < REPORT_RECIPIENTS_MAX) {
        r->final_recipient = r->final_recipient ? r->final_recipient : str_dup("");
        r->original_recipient = r->original_recipient ? r->original_recipient : str_dup("");
        r->diagnostic = r->diagnostic ? r->diagnostic : str_dup("");
        is_ok = r->final_recipient && r->original_recipient && r->diagnostic;
        if (is_ok) {
            judge(r);
            report->recipients[report->recipient_count++] = *r;
            *g = (struct group){.is_recipient = false};
        }
    }
    group_release(g);
    return is_ok;
}

/* One unfolded line "Name: value"; it is written into. */
static bool take_line(struct group *g, char *line)
{
    size_t name = 0;
    char *value;

    if (!scan_is_header(line, strlen(line), &name))
        return true;
    value = strchr(line, ':') + 1;
    line[name] = '\0';
    return take_field(g, line, value + strspn(value, " \t"));
}

enum status report_read(const void *bytes, size_t n, struct report *ret_report, struct err *err)
{
    const char *p = bytes;
    struct report report = {.kind = REPORT_DELIVERY};
    struct group group = {.is_recipient = false};
    struct buf line = buf_make(REPORT_BYTES_MAX + 1);
    size_t next;
    bool is_ok;
    enum status st = ST_OK;

    n = n > REPORT_BYTES_MAX ? REPORT_BYTES_MAX : n;
    report.recipients = calloc(REPORT_RECIPIENTS_MAX, sizeof *report.recipients);
    report.original_message_id = str_dup("");
    is_ok = report.recipients != NULL && report.original_message_id != NULL;
    for (size_t at = 0; at < n && is_ok; at += next) {
        size_t len = scan_line(p + at, n - at, false, &next);
        bool is_fold = len > 0 && (p[at] == ' ' || p[at] == '\t');

        if (!is_fold && line.len > 0) {
            is_ok = take_line(&group, line.data);
            buf_clear(&line);
        }
        if (len == 0)
            is_ok = is_ok && group_end(&report, &group);
        else
            buf_add(&line, p + at, len);
    }
    if (is_ok && line.len > 0)
        is_ok = take_line(&group, line.data);
    is_ok = is_ok && group_end(&report, &group);
    if (!is_ok || buf_failed(&line)) {
        st = err_set(err, ST_NOMEM, "no memory to read a delivery report");
        goto out;
    }
    *ret_report = report;
    report = REPORT_INIT;
out:
    group_release(&group);
    report_release(&report);
    buf_release(&line);
    return st;
}

/*
 * mail/report.h - reads delivery reports (RFC 3464), and knows complaints (RFC 5965).
 *
 * Purpose
 *   A letter that could not be delivered comes back as multipart/report.  This tells what the
 *   machine-readable part says of each recipient, and whether the address is to blame.  What the
 *   report is worth (does its VERP address carry our MAC, was the row sent lately) is the caller's
 *   to judge: anybody can write a report.
 *
 * Calling sequence
 *   letter_read() (mail/letter.h) does it for a whole letter; report_read() reads the bytes of a
 *   message/delivery-status part by itself.  report_release() ends either.
 *
 * What is read leniently
 *   Any case, folded lines, CRLF or LF, fields in any order, comments after a status, a missing
 *   first group.  Only groups with an Action, a Status or a recipient count as recipients.
 *
 * Blame
 *   Only action "failed" with a status of class 5 can blame.  A status that says nothing
 *   ("5.0.0", none) gives way to an enhanced code in the diagnostic; a diagnostic of class 4
 *   ("451 4.7.1 …") or a status of class 4 never blames, whatever the other says.
 *
 * Ownership: the struct is the caller's, its strings the struct's.  Errors: ST_NOMEM; anything
 * unreadable is a report without recipients.  Threads: any.
 */
#ifndef FH_MAIL_REPORT_H
#define FH_MAIL_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum {
    REPORT_RECIPIENTS_MAX = 32, /* later ones are not kept */
    REPORT_BYTES_MAX = 64 * 1024 /* what follows is not read */
};

enum report_kind {
    REPORT_DELIVERY,    /* report-type=delivery-status: a DSN */
    REPORT_DISPOSITION, /* disposition-notification: a read receipt */
    REPORT_FEEDBACK,    /* feedback-report: a complaint (ARF) */
    REPORT_OTHER        /* multipart/report of another or no type; praise */
};

enum report_action {
    REPORT_ACTION_NONE, /* missing or not known */
    REPORT_FAILED,
    REPORT_DELAYED,
    REPORT_DELIVERED,
    REPORT_RELAYED,
    REPORT_EXPANDED
};

enum report_blame {
    REPORT_BLAME_NOTHING, /* delayed, delivered, relayed, or nothing that can be understood */
    REPORT_BLAME_SOFT,    /* failed, but for now or for a reason that may pass: 4.x.x, 5.2.2 */
    REPORT_BLAME_POLICY,  /* failed by 5.7.x: about us, not about the address */
    REPORT_BLAME_ADDRESS  /* failed: no such mailbox or domain */
};

struct report_recipient {
    enum report_action action;
    enum report_blame blame;
    char status[12];        /* "5.1.1", the one that was believed; "" none */
    char *final_recipient;  /* without its type: "anna@example.org"; "" none */
    char *original_recipient;
    char *diagnostic;       /* without its type, unfolded, no controls; ≤ 400 bytes; "" none */
};

struct report {
    enum report_kind kind;
    struct report_recipient *recipients;
    size_t recipient_count;
    char *original_message_id; /* Message-ID of the letter sent back, no brackets; "" unknown */
};
#define REPORT_INIT ((struct report){.kind = REPORT_OTHER})

void report_release(struct report *report); /* NULL and released ones are allowed */

/* Read the n bytes of a message/delivery-status (or message/global-delivery-status) part. */
MUST_CHECK enum status report_read(const void *bytes, size_t n, struct report *ret_report,
                                   struct err *err);

/* Whether the n bytes of a message/feedback-report part (RFC 5965) complain of a letter: all do but
 * those that say that it was none to be complained of. */
bool report_is_complaint(const void *bytes, size_t n);

/* The heaviest blame of all recipients and, unless NULL, which one it is (SIZE_MAX: none). */
enum report_blame report_worst(const struct report *report, size_t *ret_which);

#endif

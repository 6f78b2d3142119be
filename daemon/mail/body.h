/*
 * mail/body.h - walks the parts of a letter and gathers what can be read.
 *
 * Purpose
 *   The choice of mail/letter.h ("Text"): plain before HTML, all inline texts of a mixed letter,
 *   the first child of a signed one, never attachments or enclosed letters; and what the parts tell
 *   of the letter as a whole: a report, a reaction, a calendar's reply, encryption, winmail.dat.
 *
 * Calling sequence: body_read() → use → body_release().
 * Ownership: the struct owns what it points to.  Private to mail/.  Threads: any, after
 * mail_library_init().  Errors: ST_TOO_LARGE over depth or parts, ST_NOMEM.
 */
#ifndef FH_MAIL_BODY_H
#define FH_MAIL_BODY_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/status.h"
#include "mail/letter.h"

struct body {
    struct buf plain; /* "" when nothing plain was there or it is blank */
    struct buf html;  /* the text of the HTML; "" when there was none */
    bool hides;       /* the HTML hides or strikes out what its plain twin shows as any text */
    bool is_cut;
    bool has_encrypted, has_tnef, has_reaction, has_calendar_reply;
    bool has_report;
    struct report report;
};

/* entity: Content-… fields, a blank line, the body; LF line ends. */
MUST_CHECK enum status body_read(const struct buf *entity, const struct letter_limits *limits,
                                 struct body *ret_body, struct err *err);
void body_release(struct body *body);

#endif

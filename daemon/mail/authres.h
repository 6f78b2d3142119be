/*
 * mail/authres.h - what our own mail server found out about a sender (RFC 8601).
 *
 * Purpose
 *   Authentication-Results headers are believed only when our own server wrote them: the topmost
 *   one whose authserv-id is the configured one.  Those of the same id right below it (a server may
 *   add a line for each method; a sender may have forged one) can only speak against the sender;
 *   whatever stands below another's line says nothing.  The value is read by a tokenizer that knows
 *   comments and quoted strings, so that "dmarc=pass" inside either says nothing.  So the filter
 *   that judges DMARC must be the last to write.
 *
 * Judgement, for the domain of the letter's From
 *   dmarc=fail, whatever stands behind it                      AUTH_FAIL
 *   our own line cannot be read, or may be one that is too long (its value is "")
 *                                                              AUTH_FAIL
 *   dmarc=pass, with header.from absent or that domain         AUTH_PASS
 *   no dmarc verdict, and aligned dkim=pass or spf=pass        AUTH_PASS
 *   no dmarc verdict, dkim or spf fail and neither passes      AUTH_FAIL
 *   anything else: none, errors, not aligned                   AUTH_NONE
 *   Aligned: header.d (or header.i's domain), smtp.mailfrom's domain, is the From domain or a
 *   parent of it with a dot inside.  ARC and others count only through the dmarc verdict.
 *
 * An empty authserv_id believes nobody: AUTH_NONE.
 *
 * Ownership: everything is borrowed for the call.  Threads: any.  Cannot fail; no allocation.
 */
#ifndef FH_MAIL_AUTHRES_H
#define FH_MAIL_AUTHRES_H

#include <stddef.h>

enum auth_verdict {
    AUTH_NONE,
    AUTH_PASS,
    AUTH_FAIL
};
const char *auth_verdict_str(enum auth_verdict verdict); /* "none", "pass", "fail" */

/* values: the count Authentication-Results values of a letter from the top down, unfolded or not
 * (struct letter's authentication_results). */
enum auth_verdict authres_judge(const char *const *values, size_t count, const char *authserv_id,
                                const char *from_domain);

#endif

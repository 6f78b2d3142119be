/*
 * mail/authres.h - what our own mail server found out about a sender (RFC 8601).
 *
 * Purpose
 *   Authentication-Results headers are believed only when our own server wrote them: the topmost
 *   one whose authserv-id is the configured one, and no other, whatever the rest say.  The value is
 *   read by a tokenizer that knows comments and quoted strings, so that "dmarc=pass" inside either
 *   says nothing.
 *
 * Judgement, for the domain of the letter's From
 *   dmarc=pass, with header.from absent or that domain         AUTH_PASS
 *   dmarc=fail (or two that contradict)                        AUTH_FAIL
 *   no dmarc verdict, and aligned dkim=pass or spf=pass        AUTH_PASS
 *   no dmarc verdict, dkim or spf fail and neither passes      AUTH_FAIL
 *   anything else: none, errors, not aligned, malformed        AUTH_NONE
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

/*
 * intake/sender.h - whose letter it is, and whether he may act by it.
 *
 * What counts, in this order
 *   1. The token.  It is looked for in the envelope's recipient, in Delivered-To, X-Original-To,
 *      Envelope-To, To and Cc, and where none of these has one (a relay took it off, P37) in
 *      <reply.TOKEN@…> among References and In-Reply-To.  If candidates disagree: SENDER_CONFLICT.
 *      A Message-ID says nothing else: guessing one moves nothing (P19).
 *   2. From: exactly one mailbox, and the verified address of the token's owner (P16 – P18).
 *   3. What our own mail server found out about From, by the policy of the installation:
 *      ignore it; prefer: what fails is not believed; require: only what passes is believed (P17).
 *
 *   token   From                          verdict
 *   good    its owner's, believed         SENDER_OWNER      act
 *   good    another's, or not believed    SENDER_FOREIGN    hold it, ask the owner (P18)
 *   good    no usable From                SENDER_NO_FROM    nothing is done or said (P16)
 *   none    of an account, believed       SENDER_NO_TOKEN   tell that account how to go on
 *   two     of an account, believed       SENDER_CONFLICT   tell it so
 *   none    anything else                 SENDER_STRANGER   nothing is done or said
 *   A token nobody knows is no token.  Whether a good one is used or too old is not asked here.
 *
 * Threads: any.  Errors: as store/store.h.
 */
#ifndef FH_INTAKE_SENDER_H
#define FH_INTAKE_SENDER_H

#include "intake/intake.h"
#include "mail/authres.h"
#include "mail/letter.h"
#include "store/tokens.h"

enum sender_verdict {
    SENDER_OWNER,
    SENDER_FOREIGN,
    SENDER_NO_FROM,
    SENDER_NO_TOKEN,
    SENDER_CONFLICT,
    SENDER_STRANGER
};
const char *sender_verdict_str(enum sender_verdict verdict); /* "owner", "foreign", … */

struct sender {
    enum sender_verdict verdict;
    bool has_token;         /* token is filled in */
    bool was_in_references; /* it was found there */
    struct token_row token;
    bool has_user;          /* user: the token's owner, or else whose address From is */
    struct user_row user;
    enum auth_verdict auth;
    bool is_believed;       /* the policy takes From for true */
};

MUST_CHECK enum status sender_find(const struct intake_options *options, struct store_conn *conn,
                                   const struct inbox_row *row, const struct letter *letter,
                                   struct sender *ret, struct err *err);

/* What a recipient's address is to us; the token (in lower case) if it has one, else "". */
enum intake_recipient recipient_read(const struct intake_options *options, const char *address,
                                     char ret_token[SECRET_SIZE]);

/* "anna.long@example.org" → "a…@example.org": for showing a stranger's address to somebody. */
void address_mask(const char *address, char *ret, size_t size);

#endif

/*
 * mail/address.h - the mailboxes of a header value (RFC 5322 3.4).
 *
 * Purpose
 *   Two readers of one syntax.  address_from() is strict, since somebody may be believed by it:
 *   one mailbox, nothing around it that another program could take for the address.
 *   address_each() is lenient, for lists of recipients where only our own are looked for.
 *
 * Ownership: results are the caller's, to be freed.  Private to mail/.  Threads: any.
 */
#ifndef FH_MAIL_ADDRESS_H
#define FH_MAIL_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "mail/letter.h"

/* The one mailbox of a From value: *ret_address as "local@domain" with the domain in lower case,
 * *ret_name decoded.  Another result than LETTER_FROM_OK leaves both untouched. */
MUST_CHECK enum status address_from(const char *value, enum letter_from_fault *ret_fault,
                                    char **ret_address, char **ret_name, struct err *err);

/* Calls each(arg, address, n) for whatever in the value looks like an address; stops when it
 * returns false. */
void address_each(const char *value, bool (*each)(void *arg, const char *address, size_t n),
                  void *arg);

#endif

/*
 * mail/machine.h - whether a machine wrote a letter.
 *
 * Purpose
 *   What reads letters must never answer one that nobody wrote (P01 – P04, P26), for the answer may
 *   be answered again.  Headers say it best; where they say nothing, the words of a subject or of a
 *   letter's first lines may, in many languages.  Wording alone is no proof: its finding counts
 *   only for a letter that has no command in it.
 *
 * Calling sequence: machine_header_mark(), then machine_read_wording() once there is a text.
 * letter_address_is_machine() is declared in mail/letter.h.
 *
 * Private to mail/.  Ownership: everything is borrowed.  Threads: any, after mail_library_init().
 * Errors: ST_NOMEM.
 */
#ifndef FH_MAIL_MACHINE_H
#define FH_MAIL_MACHINE_H

#include <stdbool.h>

#include "base/status.h"
#include "mail/letter.h"
#include "mail/scan.h"

/* By the headers and the sender's address (NULL: none could be read). */
enum letter_mark machine_header_mark(const char *from, const struct scan *scan);

/* By the words of the decoded subject and of the text's beginning.  Where *ret_mark is NONE and a
 * reaction is told of, it becomes that; *ret_is_perhaps says whether the rest sounds like a
 * machine. */
MUST_CHECK enum status machine_read_wording(const char *subject, const char *text,
                                            enum letter_mark *ret_mark, bool *ret_is_perhaps,
                                            struct err *err);

#endif

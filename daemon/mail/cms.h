/*
 * mail/cms.h - the text inside an opaque S/MIME signature (RFC 5652, RFC 8551 3.5.2).
 *
 * Purpose
 *   Some programs sign a letter so that its text stands inside the signature, as bytes that only
 *   need to be found.  The signature itself is not checked: a letter that says nothing more than
 *   an unsigned one is believed no more than one.
 *
 * Limits: BER of any lengths, nested up to 12 levels; what is not SignedData with content inside
 * is not found.  Ownership: appends to the caller's buffer.  Private to mail/.  Threads: any.
 */
#ifndef FH_MAIL_CMS_H
#define FH_MAIL_CMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Append the MIME entity that the n bytes of SignedData hold.  False: none, *out unchanged or
 * failed. */
bool cms_signed_content(const void *bytes, size_t n, struct buf *out);

#endif

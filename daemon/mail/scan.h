/*
 * mail/scan.h - looks over a raw letter before anything parses it.
 *
 * Purpose
 *   The limits of mail/letter.h, in one pass over the bytes; line ends made LF; the header lines
 *   taken apart; and an entity of Content-… fields and body, which is all that GMime gets to see.
 *
 * Calling sequence: scan_letter() → use → scan_release().
 * Ownership: the struct owns its strings.  Private to mail/.  Threads: any, after
 * mail_library_init().  Errors: ST_INVALID (NUL, no header), ST_TOO_LARGE, ST_NOMEM.
 */
#ifndef FH_MAIL_SCAN_H
#define FH_MAIL_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"
#include "mail/letter.h"

struct scan_header {
    const char *name;  /* as written; "" for Authentication-Results in lines that end by CR alone
                        * or by LF CR: a mail server that removes forged ones sees none there */
    const char *value; /* unfolded, blanks at the ends cut, controls turned to blanks; raw bytes */
};

struct scan {
    struct scan_header *headers; /* in order, from the top */
    size_t count;
    struct buf entity; /* Content-… fields, blank line, body; LF line ends */
    bool is_cut;       /* lines of a part were left out of it */
    char *memory;      /* what the headers point into */
};
#define SCAN_INIT ((struct scan){.count = 0})

/* The limits with the defaults filled in.  limits may be NULL. */
struct letter_limits scan_limits(const struct letter_limits *limits);

MUST_CHECK enum status scan_letter(const void *bytes, size_t n, const struct letter_limits *limits,
                                   struct scan *ret_scan, struct err *err);
void scan_release(struct scan *scan);

/* The value of the first header of that name (any case) at or after *index, which moves on past
 * it; NULL when there is none.  Start with index 0. */
const char *scan_next(const struct scan *scan, const char *name, size_t *index);
/* The first one's, or NULL. */
const char *scan_first(const struct scan *scan, const char *name);

/* Past blanks and comments in a header's value (RFC 5322, CFWS); false when a comment does not
 * end. */
bool scan_skip_cfws(const char **p);

/* Where a letter of n bytes begins to end its lines by CR alone, as old Macs did; n: nowhere.  That
 * is at its first byte if there is no LF, or at the first header line that holds several fields, or
 * one and an empty line, parted by CR: mail servers put their own lines, ended by CR LF, above.
 * Any other lone CR ends no line. */
size_t scan_cr_from(const char *bytes, size_t n);

/* One line of n bytes: its length without the line end; *ret_next is where the next begins.  A
 * line ends by LF, CR LF or the last byte; when is_cr, by CR alone too. */
size_t scan_line(const char *bytes, size_t n, bool is_cr, size_t *ret_next);

/* Whether the line begins like a header: printable ASCII without blanks, then a colon. */
bool scan_is_header(const char *line, size_t n, size_t *ret_name);

/* Whether the entity keeps within limits: its parts, and the headers of each.  Of a part's body the
 * lines after the first PART_LINES_MAX are taken out, and *ret_is_cut is set: 1 MiB of base64 has
 * fewer, and of text nobody reads as many. */
enum { PART_LINES_MAX = 16000 };
MUST_CHECK enum status scan_parts(struct buf *entity, const struct letter_limits *limits,
                                  bool *ret_is_cut, struct err *err);

/* Whether a Content-Type value begins with "type/subtype"; one that does not says nothing. */
bool scan_is_type(const char *value);

#endif

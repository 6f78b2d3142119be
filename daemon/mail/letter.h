/*
 * mail/letter.h - reads one letter that came in.
 *
 * Purpose
 *   From the raw bytes of a message (RFC 5322, MIME) to what a caller may act on: who it says it
 *   is from, which of our addresses it was sent to, whether a machine wrote it, and its text as
 *   UTF-8.  Nothing here believes the letter: From is what it says, and that an address is
 *   verified, a token right, a result of our own mail server, is judged elsewhere.
 *
 * Calling sequence
 *   mail_library_init() once; letter_read() → use → letter_free().  reply_split() (mail/reply.h)
 *   then finds the answer in the text.  A parsed letter is never written out again.
 *
 * Limits
 *   Checked before anything is parsed: size, header block, fields, nesting, parts; a letter over
 *   one costs next to nothing.  A text over limits.text is cut there and is_cut set: then only
 *   what stands above the quotes may be acted on.  So is a part of more than PART_LINES_MAX lines
 *   (mail/scan.h).
 *
 * What is mended and what is refused
 *   Mended: an mbox "From " line first, CR, LF CR or CRLF ends (the odd ones also where a mail
 *   server has put lines of its own above, scan_cr_from()), a missing blank line after the headers,
 *   text after the end of base64, wrong or unknown charsets (UTF-8 is tried first, windows-1252
 *   last), missing or unending boundaries, Content-Types that are none (read as text/plain).
 *   Refused with ST_INVALID: a NUL byte, no header at all.  ST_TOO_LARGE: over a limit.
 *   A From that isn't exactly one plain mailbox in exactly one header is no failure: has_from is
 *   false and from_fault says why.
 *
 * Text
 *   Plain text before HTML, unless the plain text is blank or the HTML hides or strikes out
 *   something of its own (the plain twin cannot show that); all inline text parts of a mixed
 *   letter one after the other, an empty line between; never attachments, enclosed letters or
 *   digests.  format=flowed is joined, HTML turned to lines with "> " before what it quotes, PGP
 *   armour of signed text taken off.  LF line ends, no NUL, valid UTF-8.  html_text is the HTML
 *   twin of a plain text (or NULL), for a caller who finds no command in text.
 *
 * Ownership: a letter owns all that it points to; bytes are read during the call only.
 * Threads: any, one letter a thread.
 * Errors: as above, and ST_NOMEM.  (GLib, under GMime, stops the process when memory runs out;
 * the limits keep a letter under 32 MiB.)
 */
#ifndef FH_MAIL_LETTER_H
#define FH_MAIL_LETTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/ports.h"
#include "base/status.h"
#include "mail/report.h"

struct letter_limits { /* 0: the default, given behind */
    size_t message;      /* bytes of the whole letter; 1 MiB */
    size_t header;       /* bytes of one header block, the letter's or a part's; 64 KiB */
    size_t header_fields; /* fields of one header block, folded lines not counted; 200 */
    size_t line;         /* bytes of one line; 128 KiB */
    size_t depth;        /* nesting of parts; 16 */
    size_t parts;        /* parts, enclosed letters included; 64 */
    size_t text;         /* bytes of the decoded text; 64 KiB */
};

/* Why a letter counts as written by a machine, strongest first. */
enum letter_mark {
    LETTER_MARK_NONE,
    LETTER_MARK_LOOP,           /* carries an X-Loop-Id; loop_id tells whose */
    LETTER_MARK_REPORT,         /* multipart/report: DSN, read receipt, complaint */
    LETTER_MARK_REACTION,       /* an emoji reaction of Gmail, Outlook… */
    LETTER_MARK_CALENDAR,       /* text/calendar; method=REPLY or COUNTER */
    LETTER_MARK_AUTO_SUBMITTED, /* Auto-Submitted: anything but no */
    LETTER_MARK_NULL_SENDER,    /* Return-Path: <> */
    LETTER_MARK_AUTO_HEADER,    /* X-Autoreply, X-Autorespond, X-Auto-Generated, … */
    LETTER_MARK_SUPPRESS,       /* X-Auto-Response-Suppress */
    LETTER_MARK_PRECEDENCE,     /* Precedence: bulk, junk, list, auto_reply */
    LETTER_MARK_LIST,           /* List-Id, List-Unsubscribe, … */
    LETTER_MARK_DAEMON,         /* From mailer-daemon, postmaster, no-reply, bounce…: see below */
    LETTER_MARKS
};
const char *letter_mark_str(enum letter_mark mark); /* "none", "loop", "auto_submitted", … */

/* Whether the local part of an address (an envelope sender too) is that of a machine. */
bool letter_address_is_machine(const char *address);

enum letter_from_fault {
    LETTER_FROM_OK,
    LETTER_FROM_MISSING,
    LETTER_FROM_SEVERAL, /* two From headers, or more than one mailbox in it */
    LETTER_FROM_GROUP,   /* "friends: …;" */
    LETTER_FROM_BAD,     /* not an address as mail_address_is_ok() takes, controls, junk around */
    LETTER_FROM_FAULTS
};
const char *letter_from_fault_str(enum letter_from_fault fault); /* "ok", "missing", … */

enum letter_problem {
    LETTER_FINE,
    LETTER_NO_TEXT,   /* no part that can be read as text, or it is blank */
    LETTER_ENCRYPTED, /* encrypted, or sealed so that the text can't be read without keys */
    LETTER_TNEF,      /* winmail.dat and nothing else */
    LETTER_PROBLEMS
};
const char *letter_problem_str(enum letter_problem problem); /* "fine", "no_text", … */

/* Where one of the letter's recipients was read, in the order of belief. */
enum letter_source {
    LETTER_DELIVERED_TO,
    LETTER_X_ORIGINAL_TO,
    LETTER_ENVELOPE_TO, /* Envelope-To, X-Envelope-To */
    LETTER_TO,
    LETTER_CC
};

struct letter_recipient {
    char *address;
    enum letter_source source;
};

enum {
    LETTER_RECIPIENTS_MAX = 100, /* later ones are not kept */
    LETTER_REFERENCES_MAX = 100, /* the last ones are kept */
    LETTER_AUTHRES_MAX = 20      /* the first ones are kept */
};

struct letter {
    bool has_from;
    enum letter_from_fault from_fault;
    char *from;        /* "anna@example.org", domain in lower case; "" unless has_from */
    char *from_domain; /* "example.org"; "" unless has_from */
    char *from_name;   /* decoded, controls gone; "" none */
    char *subject;     /* decoded, controls gone, at most 400 bytes; "" none */
    char *message_id;  /* without brackets; "" none or unreadable */
    char *in_reply_to; /* the first id, without brackets; "" none */
    char **references; /* References, then In-Reply-To; without brackets, in order */
    size_t reference_count;
    struct letter_recipient *recipients; /* by source, then as they stand */
    size_t recipient_count;

    bool is_automatic; /* mark is not NONE: take no action, give no answer */
    enum letter_mark mark;
    bool is_perhaps_automatic; /* only the subject or wording says so: believe it when there is
                                * no command in the letter */
    char *loop_id;             /* X-Loop-Id; "" none */

    char **authentication_results; /* values, unfolded, from the top down */
    size_t authentication_result_count;

    bool has_report;
    struct report report;

    enum letter_problem problem;
    char *text;      /* "" when there is none */
    char *html_text; /* NULL: none, or text is made of it already */
    bool is_cut;     /* text was longer than limits.text, or a part had too many lines */
};

/* limits may be NULL. */
MUST_CHECK enum status letter_read(const void *bytes, size_t n, const struct letter_limits *limits,
                                   struct letter **ret_letter, struct err *err);
void letter_free(struct letter *letter); /* NULL is allowed */

/*
 * What makes two deliveries the same letter: a digest of From, Message-ID and everything below the
 * headers, with line ends and trailing blank lines evened out.  Lines that transport adds
 * (Received, Delivered-To, …) and other headers don't count.  Works on any bytes, never fails,
 * needs no memory.
 */
void mail_fingerprint(const void *bytes, size_t n, const struct digest *digest,
                      unsigned char ret[DIGEST_SIZE]);

#endif

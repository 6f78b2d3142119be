/*
 * mail/message.h - builds one letter, ready for the wire.
 *
 * Purpose
 *   Turns typed fields into the bytes of an Internet message (RFC 5322, MIME): headers in a fixed
 *   order, text and HTML as quoted-printable UTF-8, an inline picture as base64, CRLF line ends
 *   only, no line over 998 bytes.  The same fields give the same bytes, always: what is composed
 *   once is stored, and every retry sends exactly that.
 *
 * Calling sequence
 *   mail_library_init() once, before any thread;  mail_compose() as often as needed.
 *
 * Shape
 *   text alone            text/plain
 *   text and html         multipart/alternative( text/plain, text/html )
 *   text, html, picture   multipart/alternative( text/plain, multipart/related( text/html,
 *                         image/png inline with a Content-ID ) )
 *
 * Safety
 *   Whatever goes into a header is refused, not mended, when it holds a byte below 0x20 or 0x7f
 *   or is not UTF-8; addresses and message ids have their own stricter forms.  So no field can
 *   add a header or a recipient.
 *
 * Errors
 *   ST_INVALID naming the field; ST_TOO_LARGE over MAIL_MESSAGE_MAX; ST_NOMEM.
 *
 * Ownership: the fields are read during the call only.  Threads: any, after the init.
 */
#ifndef FH_MAIL_MESSAGE_H
#define FH_MAIL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/utc.h"

enum {
    MAIL_MESSAGE_MAX = 2 * 1024 * 1024, /* bytes of a whole letter */
    MAIL_ADDRESS_MAX = 254,             /* characters of local part, "@" and domain */
    MAIL_LOCAL_MAX = 64,                /* characters before the "@" */
    MAIL_HEADER_TEXT_MAX = 400,         /* bytes of a subject or a display name */
    MAIL_REFERENCES_MAX = 11            /* the root and the last ten */
};

/* Starts GMime, whose encoder of header words is used.  Again and again does no harm. */
void mail_library_init(void);

/* Whether text is an address that may stand in a header and an envelope: an ASCII dot-atom local
 * part of at most 64 characters, "@", and a domain name.  No comments, quotes or brackets. */
bool mail_address_is_ok(const char *text);

/* Whether text may be a message id, without its angle brackets: dot-atom "@" dot-atom, at most
 * 200 characters. */
bool mail_id_is_ok(const char *text);

struct mail_address {
    const char *name;    /* display name in UTF-8, or NULL */
    const char *address; /* see mail_address_is_ok() */
};

enum mail_auto {
    MAIL_AUTO_GENERATED, /* Auto-Submitted: auto-generated - a notice */
    MAIL_AUTO_REPLIED    /* Auto-Submitted: auto-replied - the answer to a letter */
};

/* NULL or 0 means "not there", but for from, to, subject, date, message_id and text. */
struct mail_message {
    struct mail_address from;
    struct mail_address reply_to; /* address NULL: none */
    struct mail_address to;       /* exactly one recipient, by design */
    const char *subject;
    utc_ms date;
    const char *message_id;
    const char *in_reply_to;
    const char *references[MAIL_REFERENCES_MAX];
    size_t references_count;
    enum mail_auto auto_submitted;

    /* List-Id: "list_name" <list_id>; a letter that can't be switched off has none. */
    const char *list_name;
    const char *list_id;
    /* One-click unsubscribing (RFC 8058): an https URI, on one unencoded line whatever its
     * length.  http is allowed for a host of loopback only (quickstart).  The mailto address
     * gets "?subject=unsubscribe". */
    const char *unsubscribe_url;
    const char *unsubscribe_mailto;

    const char *feedback_id; /* Feedback-ID */
    const char *game;        /* X-Game: the game's public id */
    const char *loop_id;     /* X-Loop-Id: ours; a letter that comes in with it is ours */

    const char *text;     /* UTF-8, lines ended by "\n" (or CRLF); the whole message by itself */
    const char *html;     /* UTF-8 */
    const void *png;      /* shown by <img src="cid:png_cid"> in html */
    size_t png_size;
    const char *png_cid;  /* Content-ID without brackets, of the form of a message id */
};

/* Append the message to out. */
MUST_CHECK enum status mail_compose(const struct mail_message *message, struct buf *out,
                                    struct err *err);

#endif

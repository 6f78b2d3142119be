/*
 * mail/lmtp.h - the server's side of one LMTP dialogue (RFC 2033), without a socket.
 *
 * Purpose
 *   A mail server of the operator's hands letters over by LMTP; every recipient gets an answer of
 *   its own after the letter, so that the sender keeps and repeats exactly what was not taken.
 *   Bytes in, bytes out; whoever holds the socket reads, writes and counts the seconds.
 *
 * Calling sequence
 *   lmtp_new()       puts the greeting into *out
 *   lmtp_feed()      with what came in, as often as it returns LMTP_MORE with bytes left
 *     LMTP_MORE      everything was read; come again with more
 *     LMTP_LETTER    a letter is complete: lmtp_letter() is it.  Answer every recipient with
 *                    lmtp_answer(), in any order, now or later.  Until the last one is answered
 *                    lmtp_feed() reads nothing: commands pipelined after the letter wait, so that
 *                    replies keep their order.
 *     LMTP_END       the dialogue is over: send what is in *out, then close
 *   lmtp_shut()      end it from this side, with a 421 as its last line
 *   lmtp_free()      NULL is allowed
 *
 *      greeted ─LHLO─► ready ─MAIL─► sender ─RCPT─► recipients ─DATA─► letter ─.─► answering
 *                        ▲  ◄─RSET──────┴──────────────┘                               │
 *                        └──────────────────── every recipient answered ◄──────────────┘
 *
 * What it speaks
 *   LHLO, MAIL (SIZE=, BODY=7BIT|8BITMIME, SMTPUTF8), RCPT, DATA, RSET, NOOP, VRFY (always 252),
 *   QUIT; offers PIPELINING, ENHANCEDSTATUSCODES, SMTPUTF8, 8BITMIME and SIZE.  HELO and EHLO get
 *   500 as RFC 2033 wants it, everything else (BDAT, AUTH, EXPN, HELP, …) 502.
 *   Lines of commands may end in CR LF or in LF alone and be LMTP_LINE_MAX long; a longer one is
 *   swallowed and answered 500.  A letter ends with CR LF . CR LF and nothing else; a bare LF or
 *   CR in it is kept as it is and begins no line, so no letter can hide another one (smuggling).
 *   Dots are unstuffed.  The bytes are otherwise those that came, line ends too.
 *
 * Limits
 *   LMTP_RECIPIENTS_MAX recipients (452 4.5.3, the sender comes again with the rest); size_max
 *   bytes a letter (552 5.3.4 at MAIL when SIZE= says so, else for each recipient after the letter
 *   has been swallowed); LMTP_ERRORS_MAX commands that make no sense, without a letter in between,
 *   end the dialogue with a 421.
 *
 * Recipients are judged by a callback while the dialogue goes on: not ours is 550 5.1.1.  What is
 * ours but unwanted has to be taken (250) and filed: a refusal would make the mail server bounce
 * to a sender that may be forged.
 *
 * Ownership: options are copied but is_ours' arg; lmtp_letter() is borrowed until the last answer.
 * Time: none.  Threads: one at a time.  Errors: out of memory only; in the dialogue that is 452.
 */
#ifndef FH_MAIL_LMTP_H
#define FH_MAIL_LMTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"

enum {
    LMTP_LINE_MAX = 2048,      /* bytes of a command with its line end */
    LMTP_ADDRESS_MAX = 320,    /* bytes of an address: 64 @ 255 (RFC 5321, 4.5.3.1) */
    LMTP_RECIPIENTS_MAX = 100, /* a letter; what RFC 5321 wants to be possible */
    LMTP_ERRORS_MAX = 20,
};

struct lmtp;

struct lmtp_options {
    const char *name; /* what we call ourselves in the greeting: a host name */
    size_t size_max;  /* bytes of a letter */
    bool (*is_ours)(void *arg, const char *recipient);
    void *arg;
};

/* A letter that waits to be answered. */
struct lmtp_letter {
    const char *sender; /* "" for the null sender <> */
    const char *const *recipients; /* in the order they came; may repeat */
    size_t n_recipients;
    const char *bytes;
    size_t size;
    bool is_utf8; /* SMTPUTF8 was asked for: headers and addresses may hold UTF-8 */
};

enum lmtp_step { LMTP_MORE, LMTP_LETTER, LMTP_END };

/* What becomes of a letter for one recipient. */
enum lmtp_verdict {
    LMTP_TAKEN,     /* 250 2.0.0: durable */
    LMTP_LATER,     /* 451 4.3.0: nothing was kept, come again */
    LMTP_NOT_OURS,  /* 550 5.1.1 */
    LMTP_TOO_LARGE, /* 552 5.3.4 */
};

/* Why this side ends the dialogue. */
enum lmtp_why {
    LMTP_SILENT,   /* 421 4.4.2: nothing came for too long */
    LMTP_STOPPING, /* 421 4.3.2: the daemon stops */
    LMTP_FULL,     /* 421 4.3.2: too many connections; said instead of a greeting */
};

/* Begin a dialogue; the greeting goes to *out. */
MUST_CHECK enum status lmtp_new(const struct lmtp_options *options, struct buf *out,
                                struct lmtp **ret_lmtp, struct err *err);
void lmtp_free(struct lmtp *lmtp);

/* Read from the n bytes that came; replies are appended to *out.  *ret_used says how many were
 * read: fewer than n only with LMTP_LETTER (the rest has to be fed again after the answers) and
 * LMTP_END (the rest is for nobody). */
MUST_CHECK enum lmtp_step lmtp_feed(struct lmtp *lmtp, const void *bytes, size_t n,
                                    size_t *ret_used, struct buf *out);

/* The letter that waits, or NULL when none does. */
const struct lmtp_letter *lmtp_letter(const struct lmtp *lmtp);

/* Answer recipient i of it, once.  Replies go out in the order of recipients, so one may wait for
 * those before it.  True when it was the last: the letter is gone, feed on. */
bool lmtp_answer(struct lmtp *lmtp, size_t i, enum lmtp_verdict verdict, struct buf *out);

/* Whether nothing is half done: no letter is being sent or answered. */
bool lmtp_is_idle(const struct lmtp *lmtp);

/* The last line of this side; lmtp_feed() returns LMTP_END from now on.  Not while a letter
 * waits to be answered. */
void lmtp_shut(struct lmtp *lmtp, enum lmtp_why why, struct buf *out);

/* The line that a connection over the limit gets; no dialogue is needed for it. */
const char *lmtp_full_line(void);

#endif

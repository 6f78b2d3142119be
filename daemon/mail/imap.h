/*
 * mail/imap.h - one mailbox on somebody else's IMAP server: new letters, their bytes, their fate.
 *
 * Purpose
 *   What a club needs that rents its mailbox: connect, look what is new by UID, fetch without
 *   marking, mark or delete when the letter is safe here, wait for more by IDLE (RFC 2177).
 *   Knows nothing of what letters say and keeps no memory of what has been seen: the caller does.
 *
 * Calling sequence
 *   imap_open()      connects, logs in, selects the mailbox; imap_state() is what the server told
 *   imap_list()      UIDs after one, with sizes, in order, as many as fit
 *   imap_fetch()     the bytes of one (BODY.PEEK[]: it stays unread)
 *   imap_settle()    \Seen, or \Deleted and expunge
 *   imap_wait()      until something is new, or the time is over
 *   imap_close()     LOGOUT, if the server is quick; NULL is allowed
 *   After any failure but ST_NOT_FOUND and ST_TOO_LARGE only imap_close() may be called.
 *
 * How it is made
 *   libetpan speaks IMAP.  It does not verify certificates (its GnuTLS stream never asks for the
 *   peer's status), so it gets no TLS of its own: libcurl makes the connection (CONNECT_ONLY),
 *   verifies the chain against the system's authorities or ca_file and the name against host, does
 *   STARTTLS when that is asked for – refusing to go on without –, logs in with the best mechanism
 *   the server offers, and libetpan reads and writes through curl_easy_recv() and _send().
 *   curl_global_init() is main's.
 *
 * Time: nothing waits longer than IMAP_REPLY_MS for the server, save imap_wait(), which takes a
 *   length.  The machine's monotonic clock measures them, inside poll().
 * Stopping: as soon as the descriptor stop_fd is readable every call returns ST_BUSY, also those
 *   that wait.  It is only looked at, never read.
 * Threads: an imap belongs to one thread.  Errors: ST_UNAUTHENTICATED login refused; ST_FORBIDDEN
 *   the certificate or STARTTLS is not in order; ST_IO network; ST_INVALID the server speaks
 *   nonsense; ST_BUSY told to stop.  The password is in no text.
 */
#ifndef FH_MAIL_IMAP_H
#define FH_MAIL_IMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "mail/transport.h"

enum {
    IMAP_REPLY_MS = 60 * 1000,     /* the longest silence of a server that owes an answer */
    IMAP_CONNECT_MS = 30 * 1000,
    IMAP_IDLE_MS = 25 * 60 * 1000, /* an IDLE is issued anew before 29 minutes (RFC 2177) */
    IMAP_NOOP_MS = 60 * 1000,      /* how often a server without IDLE is asked */
};

struct imap_options {
    const char *host;
    int port;          /* 143, 993 … */
    enum mail_tls tls; /* MAIL_TLS_NONE for a server on this machine */
    const char *ca_file; /* NULL: the system's authorities */
    const char *user, *password;
    const char *mailbox;   /* "INBOX" */
    size_t letter_size;    /* imap_fetch() takes no larger letter */
    int stop_fd;           /* readable: stop; -1: none */
};

/* What SELECT told. */
struct imap_state {
    uint32_t uidvalidity;
    uint32_t uid_next; /* 0: it did not tell */
    bool has_idle;
};

struct imap_item {
    uint32_t uid;
    uint32_t size; /* as the server counts; 0: it did not tell */
};

struct imap;

MUST_CHECK enum status imap_open(const struct imap_options *options, struct imap **ret_imap,
                                 struct err *err);
void imap_close(struct imap *imap);
const struct imap_state *imap_state(const struct imap *imap);

/* The lowest at most max UIDs above after_uid, ascending. */
MUST_CHECK enum status imap_list(struct imap *imap, uint32_t after_uid, size_t max,
                                 struct imap_item *ret_items, size_t *ret_n, struct err *err);

/* Append the letter's bytes to *out.  ST_NOT_FOUND: it is gone; ST_TOO_LARGE: over letter_size. */
MUST_CHECK enum status imap_fetch(struct imap *imap, uint32_t uid, struct buf *out,
                                  struct err *err);

/* Mark it read; or, without is_kept, delete it for good (alone where the server has UIDPLUS).
 * One that is gone already is no error. */
MUST_CHECK enum status imap_settle(struct imap *imap, uint32_t uid, bool is_kept,
                                   struct err *err);

/* Wait until the server says that something changed, for at most wait_ms and at most IMAP_IDLE_MS
 * (then it has to be called again); *ret_is_news says whether it did.  Without IDLE: for at most
 * IMAP_NOOP_MS, and then there may be news. */
MUST_CHECK enum status imap_wait(struct imap *imap, int64_t wait_ms, bool *ret_is_news,
                                 struct err *err);

#endif

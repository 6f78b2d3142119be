/*
 * mail/transport.h - hands one finished letter to the next machine, or to a directory.
 *
 * Purpose
 *   SMTP by libcurl, one recipient a transaction, in a form that suits curl's multi interface:
 *   this room makes and judges the easy handle, the caller runs it.  And `directory`: one file a
 *   letter, for trying things out and for tests.
 *
 * Calling sequence (SMTP)
 *   mail_sending_new()     a configured handle for one letter
 *   mail_sending_handle()  → curl_multi_add_handle() … or curl_easy_perform()
 *   mail_sending_judge()   with curl's result: sent, later, refused
 *   mail_sending_next()    another letter to the same server by the same handle, … again
 *   mail_sending_free()    after the handle has been taken out of its multi
 *   A multi keeps the connection for the next letter by any of its handles.
 *   curl_global_init() is main's.
 *
 * Judgement
 *   The reply code decides, not curl's result alone (which is the same for 550 and 451).  A
 *   success needs curl's OK and a 2yz reply.  A silence after DATA is "later": it may have arrived,
 *   so the repeat carries the same bytes and the same Message-ID.
 *
 * Safety
 *   Both addresses are checked again just before they go to curl, which would pass line breaks on.
 *   The message's bytes must have CRLF line ends only, else ST_INVALID: curl stuffs dots only
 *   there.
 *
 * Ownership: everything given is copied but `bytes`, which must stay valid until the next letter
 *   or mail_sending_free(), and the strings of struct mail_smtp, until the latter.  Threads: a
 *   sending belongs to one thread.
 */
#ifndef FH_MAIL_TRANSPORT_H
#define FH_MAIL_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>

#include <curl/curl.h>

#include "base/status.h"

enum mail_tls {
    MAIL_TLS_STARTTLS, /* refuse to go on without it */
    MAIL_TLS_IMPLICIT, /* TLS from the first byte, port 465 */
    MAIL_TLS_NONE      /* plain text: for a server on this machine */
};

struct mail_smtp {
    const char *host;
    int port; /* 1…65535 */
    enum mail_tls tls;
    const char *helo;     /* our own domain name, said in EHLO */
    const char *user;     /* NULL: no authentication */
    const char *password; /* NULL: none */
    const char *ca_file;  /* PEM file of authorities instead of the system's; NULL: the system's */
    long connect_timeout_ms;  /* 0: 15 s */
    long response_timeout_ms; /* 0: 60 s, for each reply */
    long total_timeout_ms;    /* 0: 180 s */
};

struct mail_envelope {
    const char *from; /* "" for the null sender */
    const char *to;
};

struct mail_sending;

MUST_CHECK enum status mail_sending_new(const struct mail_smtp *smtp,
                                        const struct mail_envelope *envelope,
                                        const void *bytes, size_t size,
                                        struct mail_sending **ret_sending, struct err *err);
/* The handle, which is in no multi now, takes another letter.  ST_INVALID: it is as it was;
 * ST_NOMEM: it is good for mail_sending_free() only. */
MUST_CHECK enum status mail_sending_next(struct mail_sending *sending,
                                         const struct mail_envelope *envelope, const void *bytes,
                                         size_t size, struct err *err);
CURL *mail_sending_handle(struct mail_sending *sending); /* borrowed */
void mail_sending_free(struct mail_sending *sending);    /* NULL is allowed */

enum mail_outcome {
    MAIL_SENT,
    MAIL_LATER,   /* 4yz, no connection, a time-out, TLS or authentication failed: try again */
    MAIL_REFUSED, /* 5yz: final for this message */
    MAIL_OUTCOMES
};
const char *mail_outcome_str(enum mail_outcome outcome); /* "sent", "later", "refused" */

/* What a refusal says about the address, by enhanced code (RFC 3463). */
enum mail_blame {
    MAIL_BLAME_NONE,    /* not the address: sent, temporary, or about the message itself */
    MAIL_BLAME_ADDRESS, /* no such mailbox or domain: 5.1.1 5.1.2 5.1.3 5.1.6 5.1.10 5.2.1 */
    MAIL_BLAME_POLICY,  /* 5.7.x: our reputation or set-up; the operator should hear of it */
    MAIL_BLAME_MAYBE    /* 5yz without an enhanced code: soft until the third time */
};

/* The blame that an enhanced code ("5.1.1", or "" for none) of a refusal lays. */
enum mail_blame mail_blame_of(const char *enhanced);

struct mail_result {
    enum mail_outcome outcome;
    enum mail_blame blame;
    int code;          /* last SMTP reply code; 0: none was heard */
    char enhanced[12]; /* "5.1.1", or "" */
    char text[200];    /* the last reply line or curl's complaint, controls replaced by '?' */
};

void mail_sending_judge(const struct mail_sending *sending, CURLcode result,
                        struct mail_result *ret_result);

/* The judgement by itself: curl's result, the reply code that curl reports, whether the whole
 * message had been handed over by then, the server's last line that is no success ("" if none)
 * and curl's complaint in words. */
void mail_reply_judge(CURLcode result, long code, bool is_uploaded, const char *last_line,
                      const char *complaint, struct mail_result *ret_result);

/*
 * Write the letter as directory/name.eml: a file of another name first, fsync, rename, fsync of
 * the directory.  A file of that name is replaced: a repeat leaves one file.  name is 1…200 of
 * A-Z a-z 0-9 . _ - and does not begin with a dot.  The directory must be there.
 * ST_IO with the system's reason; ST_INVALID for a bad name.
 */
MUST_CHECK enum status mail_directory_drop(const char *directory, const char *name,
                                           const void *bytes, size_t size, struct err *err);

#endif

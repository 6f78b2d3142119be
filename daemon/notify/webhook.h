/*
 * notify/webhook.h - signatures, addresses and bodies of webhooks.
 *
 * Signatures
 *   Standard Webhooks 1.0.0: headers webhook-id (stable over retries), webhook-timestamp (seconds,
 *   of the attempt) and webhook-signature, "v1," + base64 of HMAC-SHA256 over
 *   "<id>.<timestamp>.<body>"; two of them, parted by a blank, while an old secret still signs.
 *
 * Where a webhook may go
 *   https, port 443 or 1024 and up, no user or password in the URL, no literal or resolved address
 *   of the deny table (private, loopback, link-local, multicast, documentation, … and what embeds
 *   such a v4 address).  The table is asked when a webhook is registered (for literal addresses)
 *   and again for each socket, when names have been resolved, so that a name that changes its
 *   mind is caught.  The operator's allow-list opens networks, also for http and any port.
 *
 * Threads: any.  Ownership: nothing is kept.
 */
#ifndef FH_NOTIFY_WEBHOOK_H
#define FH_NOTIFY_WEBHOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/utc.h"
#include "store/kinds.h"

struct sockaddr;

/* ---------------------------------------------------------------- signatures */

enum {
    WEBHOOK_SECRET_BYTES = 32,         /* of a new secret */
    WEBHOOK_SECRET_TEXT_SIZE = 96,     /* "whsec_" + base64 of at most 64 bytes, and a NUL */
    WEBHOOK_SIGNATURE_SIZE = 128       /* two signatures, a blank and a NUL */
};
#define WEBHOOK_OVERLAP_MS MS_DAY      /* how long an old secret still signs */

struct webhook_key {
    const unsigned char *bytes;
    size_t n; /* 0: none */
};

/* The value of webhook-signature, by key and (if it has bytes) by old. */
void webhook_sign(struct webhook_key key, struct webhook_key old, const char *id,
                  int64_t timestamp_s, const void *body, size_t n,
                  char ret[WEBHOOK_SIGNATURE_SIZE]);

/* "whsec_" and base64, as it is shown once to the owner.  `notify` is not looked at. */
void webhook_secret_print(void *notify, const unsigned char *secret, size_t n,
                          char ret[WEBHOOK_SECRET_TEXT_SIZE]);

/* ---------------------------------------------------------------- addresses */

/* Networks that are allowed although the deny table has them. */
struct net {
    unsigned char address[16]; /* v4 as ::ffff:a.b.c.d */
    int bits;                  /* of 128 */
};
enum { NETS_MAX = 64 };
struct net_list {
    struct net at[NETS_MAX];
    size_t count;
};
/* "10.1.2.0/24", "fd00::/8", or a lone address.  ST_INVALID, ST_TOO_LARGE. */
MUST_CHECK enum status net_list_add(struct net_list *list, const char *text, struct err *err);

/* Why an address may not be reached: a word of the deny table ("loopback", "private", …), or NULL
 * when it may.  Only AF_INET and AF_INET6 may. */
const char *address_denied(const struct net_list *allow, const struct sockaddr *address);

/* Read and normalise a URL.  ST_INVALID (REASON_BAD_FIELD) malformed, wrong scheme or port, or
 * with user or fragment; ST_ILLEGAL (REASON_BLOCKED_ADDRESS).  `ret` is appended to. */
MUST_CHECK enum status webhook_url_check(const struct net_list *allow, const char *url,
                                         struct buf *ret, struct err *err);
/* The same for http to be handed: `notify` is a struct notify, with its allow-list.  kind ntfy
 * wants a topic as the last part of the path. */
MUST_CHECK enum status webhook_check(void *notify, const char *url, enum webhook_kind kind,
                                     struct buf *ret, struct err *err);

/* ---------------------------------------------------------------- retries */

/* How long after attempt number `attempt` (1…) the next one comes, with `random` (any 32 bits)
 * spreading it by up to 20 % either way; -1 after the last. */
int64_t webhook_retry_ms(int attempt, uint32_t random);
int64_t mail_retry_ms(int attempt, uint32_t random);

/* A Retry-After value, seconds or an HTTP date; -1 when it is neither.  At most a day. */
int64_t retry_after_ms(const char *value, utc_ms now);

#endif

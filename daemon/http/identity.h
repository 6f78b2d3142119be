/*
 * http/identity.h - who asks, from where, how often, and whether he may.
 *
 * Calling sequence
 *   identity_client() when the head is there; when all of the request is: identity_find() →
 *   identity_check_rate(), also when nobody was found, so that guessing is counted →
 *   identity_check_access() → identity_check_origin().
 *
 * Threads: the pool's.
 */
#ifndef FH_HTTP_IDENTITY_H
#define FH_HTTP_IDENTITY_H

#include "base/status.h"
#include "http/address.h"

struct request;

/* The client's address: the peer's, or what our own proxies say it is. */
struct address identity_client(const struct request *r);

/* Fill in r->who by token or cookie.  No credentials, and a cookie that is over, are nobody;
 * REASON_BAD_CREDENTIALS for a token that does not hold. */
MUST_CHECK enum status identity_find(struct request *r, struct err *err);

/* REASON_RATE_LIMIT. */
MUST_CHECK enum status identity_check_rate(struct request *r, struct err *err);

/* Whether the route is for him: REASON_LOGIN_NEEDED, REASON_SCOPE_NEEDED. */
MUST_CHECK enum status identity_check_access(struct request *r, struct err *err);

/* That a token lacks a scope. */
MUST_CHECK enum status identity_refuse_scope(unsigned scope, struct err *err);

/* Changes that a browser sends from another site: REASON_CROSS_SITE. */
MUST_CHECK enum status identity_check_origin(struct request *r, struct err *err);

#endif

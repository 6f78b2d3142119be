/*
 * http/address.h - who is at the other end of a connection.
 *
 * Addresses are kept as 16 bytes, IPv4 in its IPv6-mapped form, so that one comparison serves both.
 * A peer on a Unix socket is a proxy of this machine and counts as trusted.
 *
 * Threads: any; no state.
 */
#ifndef FH_HTTP_ADDRESS_H
#define FH_HTTP_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/status.h"

struct address {
    unsigned char bytes[16];
    bool is_local; /* came over a Unix socket: bytes mean nothing */
};

struct network {
    unsigned char bytes[16];
    unsigned prefix; /* bits, 0…128 */
};

/* NULL or a family that is no Internet address: local. */
struct address address_of(const struct sockaddr *sa);

/* "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", with "[…]" and ":port" allowed around it.  False
 * for anything else. */
bool address_parse(const char *text, size_t len, struct address *ret);

/* "10.0.0.0/8", "::1", "unix".  ST_INVALID says what would be right. */
MUST_CHECK enum status network_parse(const char *text, struct network *ret, struct err *err);

bool network_has(const struct network *network, const struct address *address);
bool networks_have(const struct network *networks, size_t n, const struct address *address);

/*
 * The client's own address: the peer's, unless the peer is trusted; then the last address of
 * X-Forwarded-For that is not a trusted one.  What cannot be read ends the walk, so a forged list
 * gains nothing.  forwarded may be NULL.
 */
struct address address_of_client(const struct address *peer, const char *forwarded,
                                 const struct network *trusted, size_t n_trusted);

/* What one client can be told apart by: an IPv4 address, or the /64 of an IPv6 one. */
uint64_t address_hash(const struct address *address, uint64_t salt);

bool address_is_same(const struct address *a, const struct address *b);

#endif

/*
 * main/listen.h - the sockets that the daemon listens on: its own, or systemd's.
 *
 * Ownership: descriptors returned are the caller's.  Threads: the main thread, at start.
 */
#ifndef FH_MAIN_LISTEN_H
#define FH_MAIN_LISTEN_H

#include <stddef.h>

#include "base/status.h"

enum { LISTEN_MAX = 8, LISTEN_WHERE_SIZE = 160 };

/* Bind and listen at where ("127.0.0.1:0", "[::1]:80", "unix:/path", mode 0660).  A left-over
 * unix socket is replaced. */
MUST_CHECK enum status listen_open(const char *where, int *ret_fd, struct err *err);

/* The sockets that systemd hands over under name, at most max; *ret_n may be 0.  Call for every
 * name before anything else opens descriptors. */
MUST_CHECK enum status listen_inherit(const char *name, int *ret_fds, size_t max, size_t *ret_n,
                                      struct err *err);

/* Where a socket listens, as a URL's beginning: "http://127.0.0.1:4711", "unix:/path"; *ret_port
 * is -1 for a unix socket. */
void listen_describe(int fd, char ret_where[LISTEN_WHERE_SIZE], int *ret_port);

#endif

/*
 * main/doors.h - the doors that letters come in by, opened as the configuration says.
 *
 * The LMTP server, the Maildir watcher and the IMAP watcher (intake/) hand letters to the engine's
 * intake.  `fourhanded receive` comes in through control.sock (main/cmd_receive.h).
 *
 * Use: doors_open() when the writer runs; doors_stop() before intake and writer are stopped: an
 * LMTP connection that waits for the writer gets its answer.  An engine without intake, or without
 * any door configured, gives doors that do nothing.
 * Ownership: the sockets are the doors' from doors_open() on, whatever becomes of it; engine and
 * settings are lent until doors_stop().  Threads: the main thread; doors_print() any.
 */
#ifndef FH_MAIN_DOORS_H
#define FH_MAIN_DOORS_H

#include <stddef.h>

#include "base/buf.h"
#include "main/engine.h"

struct doors;

MUST_CHECK enum status doors_open(struct engine *engine, const struct settings *settings,
                                  const int *lmtp_fds, size_t n_lmtp, struct doors **ret,
                                  struct err *err);
/* drain_ms: how long an LMTP peer may take to read its last answers. */
void doors_stop(struct doors *doors, int64_t drain_ms); /* NULL is allowed */

/* Their figures for Prometheus. */
void doors_print(struct doors *doors, struct buf *out);

#endif

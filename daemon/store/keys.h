/*
 * store/keys.h - named random keys of this installation.
 *
 * A key (for signing unsubscribe links, page cursors…) is made on first need and stays with the
 * file, so that links in old letters keep working after a restart or a restore.
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_KEYS_H
#define FH_STORE_KEYS_H

#include "base/ports.h"
#include "store/store.h"

enum { KEY_NAME_SIZE = 32, KEY_SIZE = 32 };

/* ST_NOT_FOUND while it has not been made. */
MUST_CHECK enum status keys_get(struct store_conn *conn, const char *name,
                                unsigned char ret_key[KEY_SIZE], struct err *err);
/* The key of that name, made of entropy's bytes if there is none yet. */
MUST_CHECK enum status keys_need(struct store_txn *txn, const char *name, utc_ms now,
                                 const struct entropy *entropy, unsigned char ret_key[KEY_SIZE],
                                 struct err *err);

#endif

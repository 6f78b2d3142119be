/*
 * store/prefs.h - which notices a user wants, by which channel.
 *
 * No row means the class's default.
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_PREFS_H
#define FH_STORE_PREFS_H

#include "store/kinds.h"
#include "store/store.h"

enum pref { PREF_DEFAULT, PREF_ON, PREF_OFF };

struct prefs {
    enum pref at[NOTICE_CLASS_COUNT_][NOTICE_CHANNEL_COUNT_];
};

/* Whether a class can be switched off, and what holds while its user has said nothing. */
bool notice_is_switchable(enum notice_class cls);
bool notice_default(enum notice_class cls, enum notice_channel channel);

/* All of a user's; a user without rows has all PREF_DEFAULT. */
MUST_CHECK enum status prefs_get(struct store_conn *conn, int64_t user_id, struct prefs *ret_prefs,
                                 struct err *err);
/* One of them; PREF_DEFAULT removes the row. */
MUST_CHECK enum status prefs_set(struct store_txn *txn, int64_t user_id, enum notice_class cls,
                                 enum notice_channel channel, enum pref pref, enum pref_via via,
                                 utc_ms now, struct err *err);

/* ---------------------------------------------------------------- strangers */

/* People without an account who want no more invitations: a keyed hash of the address, never the
 * address.  Saying so again is no error. */
enum { ADDRESS_BLOCK_SIZE = 6 };
MUST_CHECK enum status address_blocks_put(struct store_txn *txn,
                                          const unsigned char hash[ADDRESS_BLOCK_SIZE],
                                          utc_ms now, struct err *err);
MUST_CHECK enum status address_blocks_has(struct store_conn *conn,
                                          const unsigned char hash[ADDRESS_BLOCK_SIZE],
                                          bool *ret_has, struct err *err);

#endif

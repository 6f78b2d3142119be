/*
 * store/imap_boxes.h - where reading of a rented mailbox stands.
 *
 * UIDs of a mailbox grow and mean the same letters for as long as its UIDVALIDITY is the same
 * (RFC 9051 2.3.1.1).  Note a UID in the command that puts its letter into the inbox.
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_IMAP_BOXES_H
#define FH_STORE_IMAP_BOXES_H

#include "store/store.h"

enum { IMAP_BOX_NAME_SIZE = 701 }; /* "user@host/mailbox" */

struct imap_box_row {
    char name[IMAP_BOX_NAME_SIZE];
    int64_t uidvalidity;
    int64_t last_uid; /* the highest that is in the inbox */
    utc_ms updated_at;
};

/* ST_NOT_FOUND (REASON_NOT_FOUND): never read yet. */
MUST_CHECK enum status imap_box_get(struct store_conn *conn, const char *name,
                                    struct imap_box_row *ret_row, struct err *err);
/* Makes the row or changes it. */
MUST_CHECK enum status imap_box_set(struct store_txn *txn, const struct imap_box_row *row,
                                    struct err *err);
/* Remove those not written since before `before`: mailboxes that are read no more. */
MUST_CHECK enum status imap_boxes_purge(struct store_txn *txn, utc_ms before, int64_t *ret_n,
                                        struct err *err);

#endif

/*
 * store/backup.h - a copy of the file that can be trusted, while the server runs.
 *
 * The copy is of one instant, taken over a connection of its own (it holds up nobody; the
 * write-ahead log grows by what is written meanwhile).  It is written beside the target under the
 * name TARGET.part, synced, opened again and verified (store/verify.h and the number of rows of
 * each table), and only then gets its name.  Restoring is: stop the daemon, put the copy in the
 * file's place (remove NAME-wal and NAME-shm), start.
 *
 * Threads: any, each with a store; not on the writer thread (it may take minutes).
 */
#ifndef FH_STORE_BACKUP_H
#define FH_STORE_BACKUP_H

#include "store/store.h"

struct backup_report {
    int64_t bytes;    /* of the copy */
    int64_t rows;     /* in all its tables */
    int64_t games;
    int64_t events;
};

/* ST_CONFLICT (REASON_ALREADY_DONE) when the target exists: no copy is overwritten.  A left-over
 * TARGET.part is. */
MUST_CHECK enum status backup_make(struct store *store, const char *target,
                                   struct backup_report *ret_report, struct err *err);

#endif

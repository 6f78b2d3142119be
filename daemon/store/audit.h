/*
 * store/audit.h - what organisers and operators did with their powers.
 *
 * Conventions, threads, errors: store/store.h.
 */
#ifndef FH_STORE_AUDIT_H
#define FH_STORE_AUDIT_H

#include "store/kinds.h"
#include "store/store.h"

enum { AUDIT_ACT_SIZE = 41, AUDIT_DETAIL_SIZE = 501, AUDIT_NOTE_SIZE = 501 };

struct audit_row {
    int64_t id;
    utc_ms at;
    int64_t user_id;   /* 0: the machine's administrator */
    enum audit_role role;
    char act[AUDIT_ACT_SIZE]; /* "game_credit", "user_disable" */
    int64_t game_id;    /* 0 */
    int64_t subject_id; /* the user it was done to; 0 */
    char detail[AUDIT_DETAIL_SIZE]; /* "amount=2d seat=1" */
    char note[AUDIT_NOTE_SIZE];
};

MUST_CHECK enum status audit_add(struct store_txn *txn, const struct audit_row *row,
                                 struct err *err);
/* Newest first, id < before (0: from the newest); game_id 0: of everything. */
MUST_CHECK enum status audit_list(struct store_conn *conn, int64_t game_id, int64_t before,
                                  struct audit_row *rows, size_t max, size_t *ret_n,
                                  struct err *err);

#endif

/*
 * store/rig.h - a store in a directory of its own, for the tests of this room and others.
 *
 * struct rig r; rig_open(&r, NULL); … rig_close(&r).  Failures end the test.
 */
#ifndef FH_TESTS_STORE_RIG_H
#define FH_TESTS_STORE_RIG_H

#include "support/harness.h"

#include "base/ports.h"
#include "store/events.h"
#include "store/games.h"
#include "store/moves.h"
#include "store/store.h"
#include "store/users.h"
#include "store/writer.h"

enum { T0 = 1000000000 }; /* where every test's clock starts */

struct rig {
    char dir[64];
    char path[128];
    const char *vfs;
    struct store *store;
    struct store_reader *reader;
    struct store_txn *txn; /* between rig_begin() and rig_commit() */
    utc_ms now;
};

void rig_open(struct rig *r, const char *vfs);
/* The same on a file that begins as these bytes (rig_save()); n 0: as none. */
void rig_open_from(struct rig *r, const char *vfs, const unsigned char *bytes, size_t n);
/* Close and hand out the file's bytes, which the caller frees; rig_close() must follow. */
unsigned char *rig_save(struct rig *r, size_t *ret_n);
void rig_reopen(struct rig *r);  /* close and open the same file */
void rig_shut(struct rig *r);    /* close, keep the file */
void rig_close(struct rig *r);   /* close and remove all */
struct store_conn *rig_conn(struct rig *r);

struct store_txn *rig_begin(struct rig *r);
void rig_commit(struct rig *r);
void rig_roll_back(struct rig *r);

/* The rig's clock as a time_source. */
struct time_source rig_time(struct rig *r);

/* A user of that handle with a verified address; in a transaction of its own unless one is open. */
int64_t rig_user(struct rig *r, const char *handle);
/* An open game of that public id by that user. */
int64_t rig_game(struct rig *r, const char *public_id, int64_t organiser);
/* … with its four seats taken by users and running, one event a step, South on turn. */
int64_t rig_running(struct rig *r, const char *public_id, const int64_t users[SEAT_COUNT]);
/* One more move of it, by whoever is on turn: event, move and game row, in the open transaction. */
enum status rig_move_in(struct store_txn *txn, int64_t game_id, utc_ms now, int64_t *ret_seq,
                        struct err *err);
void rig_move(struct rig *r, int64_t game_id);

/* A hash to be told apart from others by n. */
void rig_hash(int n, unsigned char ret[STORE_HASH_SIZE]);

/* Number that a statement gives, asked over a connection of its own. */
int64_t rig_sql(struct rig *r, const char *sql);
/* Change the file behind the store's back. */
void rig_spoil(struct rig *r, const char *sql);

#endif

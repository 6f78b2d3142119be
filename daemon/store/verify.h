/*
 * store/verify.h - does the file agree with itself?
 *
 * Checks what can be seen without knowing chess: SQLite's own integrity_check and
 * foreign_key_check, events numbered without a gap, moves without a gap and as many as the game
 * says, the game's last numbers, turns and seats, results and states, members, tally, votes,
 * webhooks' and outbox's book-keeping.  Replaying the games and the hash chain is the caller's,
 * who hands in a function for it: it gets each game in turn with a connection to read from.
 *
 * Every fault is reported by a call; the checks go on after one.  The whole file is read once in
 * pages of a bounded size; a snapshot is held for each game only, so a running server may go on.
 * Faults in what changes while it looks are avoided by reading each game in one snapshot.
 *
 * Threads: any; not the writer's.
 */
#ifndef FH_STORE_VERIFY_H
#define FH_STORE_VERIFY_H

#include "store/games.h"

struct verify;

struct verify_fault {
    int64_t game_id;        /* 0: not of one game */
    char public_id[GAME_PUBLIC_ID_SIZE]; /* "" */
    const char *what;       /* one English sentence without a final dot; borrowed */
};

struct verify_options {
    /* Told of each fault.  Must be given. */
    void (*fault)(void *arg, const struct verify_fault *fault);
    /* Called for each game, in order of id, after the store's own checks of it; adds faults by
     * calling verify_fault_add().  NULL: none. */
    enum status (*game)(void *arg, struct store_conn *conn, const struct game_row *game,
                        struct verify *verify, struct err *err);
    /* Told now and then how far it is (games looked at).  NULL: none. */
    void (*progress)(void *arg, int64_t games);
    void *arg;
    bool quick; /* SQLite's quick_check instead of integrity_check */
};

void verify_fault_add(struct verify *verify, int64_t game_id, const char *public_id,
                      const char *fmt, ...) PRINTF_LIKE(4, 5);

struct verify_report {
    int64_t games, events, moves; /* looked at */
    int64_t faults;
};

/* ST_OK also when there are faults: see the report.  Errors say that it could not look on, as
 * ST_CORRUPT in a file too broken to; the report then has what was found before. */
MUST_CHECK enum status verify_run(struct store *store, const struct verify_options *options,
                                  struct verify_report *ret_report, struct err *err);

#endif

/*
 * faults/vfs_powercut.h - a SQLite VFS in which the power can fail.
 *
 * It sits on the usual VFS.  What is written stays in memory until the file is synced; so when the
 * power goes – by powercut_now(), at a numbered operation, or because the process is killed – what
 * was not synced is lost, as on a real machine.  It can also count, fail or slow down operations.
 *
 * In one process (tests):
 *     powercut_install(&options)     registers it; pass POWERCUT_VFS to store_open()
 *     …                              work
 *     powercut_now(seed)             from here on every operation fails; seed 0: nothing that was
 *                                    not synced remains; else some of it does, whole or torn at
 *                                    512 bytes, in any order, as the seed says
 *     close all connections          they get I/O errors
 *     powercut_repair()              power is back; files are as the cut left them
 *     open again and look
 * In a program that is to be killed: link vfs_env.c, which installs it as the default VFS when the
 * environment asks for it (see there).  kill -9 is then the power cut.
 *
 * Limits: a whole file is held in memory while open; removing a file takes effect at once.
 * Threads: any; locked inside.  powercut_…() calls while connections work are allowed.
 */
#ifndef FH_TESTS_VFS_POWERCUT_H
#define FH_TESTS_VFS_POWERCUT_H

#include <stdbool.h>
#include <stdint.h>

#define POWERCUT_VFS "powercut"

struct powercut_options {
    bool passes_through; /* write at once: only counting, failing, slowing */
    bool is_default;     /* also for connections that name no VFS */
    int64_t sync_delay_us; /* each sync of a database or log takes at least that long */
};

void powercut_install(const struct powercut_options *options);

/* Operations on databases and logs since the last powercut_count_reset(). */
struct powercut_counts {
    int64_t writes, syncs, truncates;
};
struct powercut_counts powercut_counts(void);
void powercut_count_reset(void); /* also forgets what was to fail */

enum powercut_kind { POWERCUT_WRITE, POWERCUT_SYNC, POWERCUT_ANY };

/* The nth (1 = the next) operation of that kind fails with the SQLite code (SQLITE_FULL,
 * SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC); if it goes on, all later ones too.  n 0: none. */
void powercut_fail(enum powercut_kind kind, int64_t n, int code, bool goes_on);
bool powercut_has_failed(void); /* that has come to pass */

/* The power goes just before the nth operation of that kind. */
void powercut_at(enum powercut_kind kind, int64_t n, uint64_t seed);

void powercut_now(uint64_t seed);
bool powercut_is_off(void);
void powercut_repair(void);

/* While held, syncs wait (to let a commit stand still under a test's eyes). */
void powercut_hold_syncs(bool hold);
/* Waits until some sync does. */
void powercut_wait_held(void);

#endif

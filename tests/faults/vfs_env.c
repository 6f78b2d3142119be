/*
 * faults/vfs_env.c - puts the faulty VFS under a whole program.
 *
 * Linked into a test build of the daemon, it looks at the environment before main():
 *     FH_TEST_VFS=powercut       what is not synced is lost when the process is killed
 *     FH_TEST_VFS=slow           nothing is lost; only slowed
 *     FH_TEST_SYNC_US=1000       each sync takes at least that long
 * Without FH_TEST_VFS the program is as ever.
 */
#include <stdlib.h>
#include <string.h>

#include "faults/vfs_powercut.h"

__attribute__((constructor)) static void install(void)
{
    const char *vfs = getenv("FH_TEST_VFS"), *delay = getenv("FH_TEST_SYNC_US");
    struct powercut_options options = {.is_default = true};

    if (!vfs)
        return;
    options.passes_through = strcmp(vfs, "slow") == 0;
    options.sync_delay_us = delay ? strtol(delay, NULL, 10) : 0;
    powercut_install(&options);
}

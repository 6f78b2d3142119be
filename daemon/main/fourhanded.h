/*
 * main/fourhanded.h - the program as one function, and what a test may put in its place.
 *
 * The installed program calls fourhanded_main() with no seams.  fourhanded-test, which the
 * end-to-end tests run and nobody installs, hands in a clock that it can move, and on request a
 * jitter that is as short or as long as it may be.
 *
 * Threads: call once, from main().
 */
#ifndef FH_MAIN_FOURHANDED_H
#define FH_MAIN_FOURHANDED_H

#include "base/ports.h"
#include "clock/clock.h"

struct admin_verb;
struct cli_command;

struct main_seams {
    struct clock clock;                 /* .read NULL: the machine's own */
    struct entropy jitter;              /* of what is sent again; .fill NULL: the machine's own */
    const struct cli_command *commands; /* more rows for the command table; NULL: none */
    const struct admin_verb *verbs;     /* more that control.sock takes; NULL: none */
};

/* Run the command line; returns the exit status (main/cli.h).  seams may be NULL. */
int fourhanded_main(int argc, char **argv, const struct main_seams *seams);

#endif

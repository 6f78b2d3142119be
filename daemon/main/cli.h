/*
 * main/cli.h - the command line: tables of commands and options, --help, one-line errors.
 *
 * A command is a row: its words ("user add"), what follows them, one line of help, its options
 * and the function that runs it.  cli_run() finds the row, reads the options, checks the number
 * of operands and calls the function; --help of any command is printed from the same rows, so the
 * help cannot be out of date.
 *
 * Options may stand anywhere after the command's words; "--" ends them.  -c and --set are common
 * to every command that reads the configuration and may also stand before the words.
 *
 * Exit status: CLI_OK; CLI_FAILED, also where what was to be printed could not be, with one line on
 * standard error saying what went wrong; CLI_USAGE with one line saying what is wrong with the
 * command line.
 *
 * Ownership: strings in struct cli point into argv.  Threads: the main thread, before others start.
 */
#ifndef FH_MAIN_CLI_H
#define FH_MAIN_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/utc.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

enum { CLI_OPTIONS_MAX = 16, CLI_OPERANDS_MAX = 16, CLI_SETS_MAX = 32 };

struct cli_option {
    const char *name; /* "operator", without the dashes; NULL ends a table */
    char letter;      /* 'o', or 0 */
    const char *arg;  /* "DAYS" when a value follows, NULL for a flag */
    const char *doc;
};

struct main_seams;

struct cli {
    const struct cli_command *command;
    const struct main_seams *seams;
    const char *config_path;
    const char *sets[CLI_SETS_MAX]; /* "name=value", as given to --set */
    size_t set_count;
    const char *values[CLI_OPTIONS_MAX]; /* by index in command->options; "" for a flag given */
    const char *operands[CLI_OPERANDS_MAX];
    size_t operand_count;
};

struct cli_command {
    const char *words;    /* "user add"; NULL ends a table */
    const char *operands; /* "HANDLE ADDRESS", for help */
    const char *doc;      /* one line */
    const struct cli_option *options; /* NULL: none of its own */
    size_t operands_min, operands_max;
    bool is_configured; /* takes -c and --set */
    int usage_status;   /* the exit status of a wrong command line; 0: CLI_USAGE */
    int (*run)(struct cli *cli);
    int (*run_raw)(int argc, char **argv); /* reads its own arguments; argv[0] is the last word */
};

/* Run argv by the table; returns the exit status. */
int cli_run(const struct cli_command *table, const struct main_seams *seams, int argc, char **argv);

/* The value of the option name: NULL when not given, "" for a flag.  name must be in the
 * command's table. */
const char *cli_value(const struct cli *cli, const char *name);
bool cli_flag(const struct cli *cli, const char *name);

/* An instant as the subcommands print it; "-" for none. */
const char *cli_instant(utc_ms at, char ret[UTC_TEXT_SIZE]);

/* Lines on standard error, each an error also for systemd's journal. */
void cli_complain(const char *lines);
/* The same of one line, "fourhanded: …"; returns status for the exit. */
int cli_fail(int status, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif

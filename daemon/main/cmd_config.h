/*
 * main/cmd_config.h - reading the configuration for a subcommand, and `check-config`.
 *
 * Errors: every error of the configuration on a line of its own on standard error, then CLI_FAILED.
 * Ownership: as settings/settings.h.  Threads: the main thread, before others start.
 */
#ifndef FH_MAIN_CMD_CONFIG_H
#define FH_MAIN_CMD_CONFIG_H

#include "main/cli.h"
#include "settings/settings.h"

int cmd_check_config(struct cli *cli);

/* The settings that -c and --set name.  CLI_OK, or CLI_FAILED after every error was printed, one a
 * line.  The caller releases *ret. */
int config_load(struct cli *cli, struct settings *ret);
/* The same for `serve`: it is an error of http.connections if the process may not have as many file
 * descriptors as the configuration needs (RLIMIT_NOFILE, the hard limit). */
int config_load_to_serve(struct cli *cli, struct settings *ret);

/* How many file descriptors that is when all connections are taken: HTTP's and LMTP's, the threads'
 * and those of the database, the doors and what is under way. */
int64_t config_files(const struct settings *s);

extern const struct cli_option check_config_options[];

#endif

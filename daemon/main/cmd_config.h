/*
 * main/cmd_config.h - reading the configuration for a subcommand, and `check-config`.
 */
#ifndef FH_MAIN_CMD_CONFIG_H
#define FH_MAIN_CMD_CONFIG_H

#include "main/cli.h"
#include "settings/settings.h"

int cmd_check_config(struct cli *cli);

/* The settings that -c and --set name.  CLI_OK, or CLI_FAILED after every error was printed, one a
 * line.  The caller releases *ret. */
int config_load(struct cli *cli, struct settings *ret);

extern const struct cli_option check_config_options[];

#endif

/*
 * main/cmd_read.h - the subcommands that only look: user list, game list, game show, verify, backup.
 *
 * They open the database for reading, beside a running daemon or without one.
 */
#ifndef FH_MAIN_CMD_READ_H
#define FH_MAIN_CMD_READ_H

#include "main/cli.h"

extern const struct cli_option user_list_options[], game_list_options[], game_show_options[],
    verify_options_cli[];

int cmd_user_list(struct cli *cli);
int cmd_game_list(struct cli *cli);
int cmd_game_show(struct cli *cli);
int cmd_verify(struct cli *cli);
int cmd_backup(struct cli *cli);

#endif

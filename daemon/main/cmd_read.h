/*
 * main/cmd_read.h - the subcommands that only look.
 *
 * They open the database for reading, beside a running daemon or without one, and print to standard
 * output; instants are RFC 3339 in UTC.
 * Errors: one line on standard error and CLI_FAILED.  Ownership: nothing outlives a call.
 * Threads: the main thread.
 */
#ifndef FH_MAIN_CMD_READ_H
#define FH_MAIN_CMD_READ_H

#include "main/cli.h"
#include "settings/settings.h"
#include "store/store.h"
#include "store/users.h"

extern const struct cli_option user_list_options[], user_invites_options[], game_list_options[],
    game_show_options[], verify_options_cli[];

/* What a reading subcommand works with: the database, for reading. */
struct reading {
    struct settings settings;
    struct store *store;
    struct store_reader *reader;
    struct store_conn *conn;
};
/* CLI_OK, or CLI_FAILED after the error was printed; reading_end() in either case. */
int reading_begin(struct cli *cli, struct reading *r);
void reading_end(struct reading *r);
/* The handle of an account, or "-" for none. */
void reading_handle(struct store_conn *conn, int64_t user_id, char ret_handle[HANDLE_SIZE]);

int cmd_user_list(struct cli *cli);
int cmd_user_invites(struct cli *cli);
int cmd_game_list(struct cli *cli);
int cmd_game_show(struct cli *cli);
int cmd_verify(struct cli *cli);
int cmd_backup(struct cli *cli);

#endif

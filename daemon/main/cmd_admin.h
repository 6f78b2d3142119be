/*
 * main/cmd_admin.h - the subcommands that change something: user …, game ….
 *
 * Each makes a request (main/admin.h) of its options and operands and has it performed.
 * Errors: one line on standard error and CLI_FAILED or CLI_USAGE.  Ownership: nothing outlives a
 * call.  Threads: the main thread.
 */
#ifndef FH_MAIN_CMD_ADMIN_H
#define FH_MAIN_CMD_ADMIN_H

#include "main/admin.h"
#include "main/cli.h"

struct settings;

extern const struct cli_option user_add_options[], user_operator_options[],
    user_password_options[], user_token_options[], user_invite_options[], game_note_options[],
    game_pause_options[];

int cmd_user_add(struct cli *cli);
int cmd_user_disable(struct cli *cli);
int cmd_user_enable(struct cli *cli);
int cmd_user_operator(struct cli *cli);
int cmd_user_password(struct cli *cli);
int cmd_user_token(struct cli *cli);
int cmd_user_link(struct cli *cli);
int cmd_user_invite(struct cli *cli);
int cmd_user_uninvite(struct cli *cli);
int cmd_game_abort(struct cli *cli);
int cmd_game_pause(struct cli *cli);
int cmd_game_resume(struct cli *cli);
int cmd_game_credit(struct cli *cli);
int cmd_game_adjudicate(struct cli *cli);

/* Perform rq in this process, which takes the database's lock for the moment. */
MUST_CHECK enum status admin_perform_here(struct cli *cli, const struct settings *settings,
                                          const struct admin_request *rq, struct buf *out,
                                          struct err *err);

/* Have rq performed: by the daemon if one runs, else here; prints the answer.  Ends rq. */
int admin_submit(struct cli *cli, struct admin_request *rq);

#endif

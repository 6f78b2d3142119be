#include "main/fourhanded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "main/cli.h"
#include "main/cmd_config.h"
#include "main/cmd_rules.h"
#include "main/cmd_admin.h"
#include "main/cmd_receive.h"
#include "main/cmd_read.h"
#include "main/serve.h"
#include "people/people.h"

static int version_run(struct cli *cli)
{
    (void)cli;
    printf("fourhanded %s\n", FH_VERSION);
    return CLI_OK;
}

static const struct cli_command commands[] = {
    {.words = "serve", .operands = "", .doc = "Run the daemon", .is_configured = true,
     .run = cmd_serve},
    {.words = "check-config", .operands = "", .doc = "Read the configuration and tell every error",
     .options = check_config_options, .is_configured = true, .run = cmd_check_config},
    {.words = "user add", .operands = "HANDLE [ADDRESS]", .doc = "Make an account",
     .options = user_add_options, .operands_min = 1, .operands_max = 2, .is_configured = true,
     .run = cmd_user_add},
    {.words = "user list", .operands = "", .doc = "List the accounts",
     .options = user_list_options, .is_configured = true, .run = cmd_user_list},
    {.words = "user disable", .operands = "HANDLE",
     .doc = "Shut an account: its sessions end, its tokens are revoked", .operands_min = 1,
     .operands_max = 1, .is_configured = true, .run = cmd_user_disable},
    {.words = "user enable", .operands = "HANDLE", .doc = "Open an account again",
     .operands_min = 1, .operands_max = 1, .is_configured = true, .run = cmd_user_enable},
    {.words = "user operator", .operands = "HANDLE", .doc = "Give the operator's role",
     .options = user_operator_options, .operands_min = 1, .operands_max = 1,
     .is_configured = true, .run = cmd_user_operator},
    {.words = "user password", .operands = "HANDLE", .doc = "Set or remove a password",
     .options = user_password_options, .operands_min = 1, .operands_max = 1,
     .is_configured = true, .run = cmd_user_password},
    {.words = "user token", .operands = "HANDLE", .doc = "Make an API token and print it",
     .options = user_token_options, .operands_min = 1, .operands_max = 1, .is_configured = true,
     .run = cmd_user_token},
    {.words = "user link", .operands = "HANDLE", .doc = "Make a login link and print it",
     .operands_min = 1, .operands_max = 1, .is_configured = true, .run = cmd_user_link},
    {.words = "user invite", .operands = "HANDLE",
     .doc = "Make an invitation to register, in the name of HANDLE, and print its link",
     .options = user_invite_options, .operands_min = 1, .operands_max = 1, .is_configured = true,
     .run = cmd_user_invite},
    {.words = "user invites", .operands = "",
     .doc = "List the invitations to register that are good, newest first",
     .options = user_invites_options, .is_configured = true, .run = cmd_user_invites},
    {.words = "user uninvite", .operands = "NUMBER",
     .doc = "Take an invitation to register back", .operands_min = 1, .operands_max = 1,
     .is_configured = true, .run = cmd_user_uninvite},
    {.words = "game list", .operands = "", .doc = "List the games, newest first",
     .options = game_list_options, .is_configured = true, .run = cmd_game_list},
    {.words = "game show", .operands = "GAME", .doc = "Show a game and its board",
     .options = game_show_options, .operands_min = 1, .operands_max = 1, .is_configured = true,
     .run = cmd_game_show},
    {.words = "game credit", .operands = "GAME LENGTH",
     .doc = "Give the turn that is on more time, as 2d", .options = game_note_options,
     .operands_min = 2, .operands_max = 2, .is_configured = true, .run = cmd_game_credit},
    {.words = "game adjudicate", .operands = "GAME team0|team1|draw",
     .doc = "Decide a running game: team0 is South and North, team1 West and East",
     .options = game_note_options, .operands_min = 2, .operands_max = 2, .is_configured = true,
     .run = cmd_game_adjudicate},
    {.words = "game abort", .operands = "GAME", .doc = "End a game without a result",
     .options = game_note_options, .operands_min = 1, .operands_max = 1, .is_configured = true,
     .run = cmd_game_abort},
    {.words = "game pause", .operands = "GAME", .doc = "Stop a game's clock",
     .options = game_pause_options, .operands_min = 1, .operands_max = 1, .is_configured = true,
     .run = cmd_game_pause},
    {.words = "game resume", .operands = "GAME", .doc = "Let a game's clock run on",
     .options = game_note_options, .operands_min = 1, .operands_max = 1, .is_configured = true,
     .run = cmd_game_resume},
    {.words = "receive", .operands = "[FILE|-]",
     .doc = "Take in a letter, of standard input unless a file is named",
     .options = receive_options, .operands_max = 1, .is_configured = true,
     .usage_status = RECEIVE_USAGE, .run = cmd_receive},
    {.words = "inbox list", .operands = "", .doc = "List the letters that came, newest first",
     .options = inbox_list_options, .is_configured = true, .run = cmd_inbox_list},
    {.words = "inbox show", .operands = "LETTER",
     .doc = "Show what became of a letter, and its header", .options = inbox_show_options,
     .operands_min = 1, .operands_max = 1, .is_configured = true, .run = cmd_inbox_show},
    {.words = "inbox retry", .operands = "LETTER",
     .doc = "Have a letter read again that was put aside", .operands_min = 1, .operands_max = 1,
     .is_configured = true, .run = cmd_inbox_retry},
    {.words = "rules", .operands = "TOOL …", .doc = "Tools of the rules library, line by line",
     .run_raw = cmd_rules},
    {.words = "verify", .operands = "", .doc = "Replay every game and look for faults in the file",
     .options = verify_options_cli, .is_configured = true, .run = cmd_verify},
    {.words = "backup", .operands = "TARGET",
     .doc = "Copy the database, also while the daemon runs, and verify the copy",
     .operands_min = 1, .operands_max = 1, .is_configured = true, .run = cmd_backup},
    {.words = "version", .operands = "", .doc = "Print the version", .run = version_run},
    {.words = NULL},
};

static size_t table_count(const struct cli_command *table)
{
    size_t n = 0;

    while (table && table[n].words)
        n++;
    return n;
}

int fourhanded_main(int argc, char **argv, const struct main_seams *seams)
{
    size_t own = table_count(commands), more = seams ? table_count(seams->commands) : 0;
    struct cli_command *table = calloc(own + more + 1, sizeof *table);
    struct err err = ERR_INIT;
    int result;

    if (!table)
        return cli_fail(CLI_FAILED, "out of memory");
    memcpy(table, commands, own * sizeof *table);
    if (more)
        memcpy(table + own, seams->commands, more * sizeof *table);
    if (people_init(&err) != ST_OK)
        result = cli_fail(CLI_FAILED, "%s", err.text);
    else
        result = cli_run(table, seams, argc, argv);
    free(table);
    return result;
}

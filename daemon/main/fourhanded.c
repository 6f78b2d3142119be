#include "main/fourhanded.h"

#include <stdio.h>

#include "main/cli.h"
#include "main/cmd_config.h"
#ifdef FH_HAVE_CMD_RULES
#include "main/cmd_rules.h"
#endif
#include "people/people.h"

static int version_run(struct cli *cli)
{
    (void)cli;
    printf("fourhanded %s\n", FH_VERSION);
    return CLI_OK;
}

static const struct cli_command commands[] = {
    {.words = "check-config", .operands = "", .doc = "Read the configuration and tell every error",
     .options = check_config_options, .is_configured = true, .run = cmd_check_config},
#ifdef FH_HAVE_CMD_RULES
    {.words = "rules", .operands = "TOOL …", .doc = "Tools of the rules library, line by line",
     .run_raw = cmd_rules},
#endif
    {.words = "version", .operands = "", .doc = "Print the version", .run = version_run},
    {.words = NULL},
};

int fourhanded_main(int argc, char **argv, const struct main_seams *seams)
{
    struct err err = ERR_INIT;

    if (people_init(&err) != ST_OK)
        return cli_fail(CLI_FAILED, "%s", err.text);
    return cli_run(commands, seams, argc, argv);
}

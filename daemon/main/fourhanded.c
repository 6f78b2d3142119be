#include "main/fourhanded.h"

#include <stdio.h>

#include "main/cli.h"
#ifdef FH_HAVE_CMD_RULES
#include "main/cmd_rules.h"
#endif

static int version_run(struct cli *cli)
{
    (void)cli;
    printf("fourhanded %s\n", FH_VERSION);
    return CLI_OK;
}

static const struct cli_command commands[] = {
#ifdef FH_HAVE_CMD_RULES
    {.words = "rules", .operands = "TOOL …", .doc = "Tools of the rules library, line by line",
     .run_raw = cmd_rules},
#endif
    {.words = "version", .operands = "", .doc = "Print the version", .run = version_run},
    {.words = NULL},
};

int fourhanded_main(int argc, char **argv, const struct main_seams *seams)
{
    return cli_run(commands, seams, argc, argv);
}

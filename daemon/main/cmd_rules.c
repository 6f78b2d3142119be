/* main/cmd_rules.c - the table of the tools, and their command line. */
#include "main/cmd_rules.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "main/cli.h"
#include "main/tool.h"
#include "rules/rules.h"

static const struct {
    const char *name, *value, *help;
} options[OPTIONS] = {
    [OPT_VARIANT] = {"--variant", "TEXT",
                     "house rules of a game, as in \"verney inert=capturable\";\n"
                     "                    once for each game, the usual ones hold otherwise"},
    [OPT_DIVIDE] = {"--divide", NULL, "a line for each first move before the sum"},
    [OPT_EACH] = {"--each", NULL, "make and unmake the last move of every line too"},
    [OPT_SPOKEN] = {"--spoken", NULL, "sentences to be read aloud instead of a board"},
    [OPT_SIDE] = {"--side", "SEAT", "seen from south (the usual), west, north or east"},
    [OPT_NARROW] = {"--narrow", NULL, "at most 40 columns, for a Braille display"},
    [OPT_WIDTH] = {"--width", "N", "with --spoken: lines of at most N columns"},
    [OPT_NO_LEGEND] = {"--no-legend", NULL, "the board alone"},
    [OPT_FROM] = {"--from", "FORM", "what is read: native, fen4 or pgn4"},
    [OPT_TO] = {"--to", "FORM", "what is written: native, fen4 or pgn4"},
    [OPT_CORNERS] = {"--corners", "HOW", "FEN4's corners: x (the usual) or empties"},
    [OPT_FINAL] = {"--final", NULL, "with --to native: only the position a game has come to"},
};

#define BIT(option) (1u << (option))

static const struct tool tools[] = {
    {"legal", "", "the legal moves of positions",
     "A line is a position.  The answer is its legal moves, sorted by byte, parted by spaces;\n"
     "an empty line when there are none.  What stands behind a | is not read.\n",
     BIT(OPT_VARIANT), 0, 0, tool_legal},
    {"play", "", "plays moves",
     "A line is POSITION | MOVE or POSITION | resign COLOUR (or forfeit COLOUR).  The answer is\n"
     "the position after it, or team0, team1 or draw when that ends the game.  A move may be\n"
     "written in any way that means one legal move: e2e3, e2-e3, Nf3, exd4, O-O, k13l14=Q.\n",
     BIT(OPT_VARIANT), 0, 0, tool_play},
    {"notation", "", "reads and writes moves",
     "A line is POSITION | MOVE.  The answer is the move by its squares, in short algebraic and\n"
     "in words, parted by |.\n",
     BIT(OPT_VARIANT), 0, 0, tool_notation},
    {"validate", "", "could a game stand so?",
     "A line is a position.  The answer is ok and the position's hash, or what is wrong.\n",
     BIT(OPT_VARIANT), 0, 0, tool_validate},
    {"perft", "GAME DEPTH [POSITION]", "counts lines of legal moves",
     "Prints how many lines of DEPTH moves there are from the array, or from POSITION, and how\n"
     "fast they were counted.  GAME may have house rules: \"verney inert=capturable\".\n",
     BIT(OPT_DIVIDE) | BIT(OPT_EACH), 2, 10, tool_perft},
    {"show", "", "positions for eyes and ears",
     "A line is POSITION or POSITION | MOVE; the answer is the board (after the move, which is\n"
     "marked: from ( ) to [ ]), or sentences about it, and an empty line.\n",
     BIT(OPT_VARIANT) | BIT(OPT_SPOKEN) | BIT(OPT_SIDE) | BIT(OPT_NARROW) | BIT(OPT_WIDTH) |
         BIT(OPT_NO_LEGEND),
     0, 0, tool_show},
    {"check", "", "compares worked cases with the rules",
     "A line is POSITION | LEGAL MOVES | MOVE -> POSITION AFTER (or team0, team1, draw); empty\n"
     "lines and those that begin with # are left out.  Each disagreement is a line with its\n"
     "number; the last line counts.\n",
     BIT(OPT_VARIANT), 0, 0, tool_check},
    {"convert", "", "between our text, FEN4 and PGN4",
     "native is a line POSITION, or POSITION | MOVE MOVE … -> RESULT CAUSE for a game.  A FEN4\n"
     "is read as a position of teams, or of the one --variant that is given; it may run over\n"
     "several lines.  PGN4 says its game itself.\n",
     BIT(OPT_VARIANT) | BIT(OPT_FROM) | BIT(OPT_TO) | BIT(OPT_CORNERS) | BIT(OPT_FINAL), 0, 0,
     tool_convert},
};

static void help_all(void)
{
    puts("usage: fourhanded rules TOOL [option …] [operand …]\n\n"
         "The rules of the three games from the shell.  All tools but perft read standard input\n"
         "line by line and answer each line; \"! \" and a reason where there is no answer.\n");
    for (size_t i = 0; i < COUNT_OF(tools); i++)
        printf("  %-10s %s\n", tools[i].name, tools[i].summary);
    puts("\nfourhanded rules TOOL --help tells more of each.\n"
         "Exit status: 0; 1 when a line had no answer or a case disagreed; 2 for a wrong call.");
}

static void help_tool(const struct tool *tool)
{
    printf("usage: fourhanded rules %s [option …]%s%s\n\n%s", tool->name,
           tool->operands[0] != '\0' ? " " : "", tool->operands, tool->details);
    for (int i = 0; i < OPTIONS; i++) {
        char left[40];

        if ((tool->options & BIT(i)) == 0)
            continue;
        snprintf(left, sizeof left, "%s%s%s", options[i].name,
                 options[i].value != NULL ? " " : "",
                 options[i].value != NULL ? options[i].value : "");
        printf("  %-17s %s\n", left, options[i].help);
    }
}

/* The option that argv[*i] is, with its value; OPTIONS after a message. */
static enum tool_option read_option(const struct tool *tool, int argc, char **argv, int *i,
                               const char **ret_value)
{
    const char *text = argv[*i];

    for (int option = 0; option < OPTIONS; option++) {
        size_t n = strlen(options[option].name);

        if ((tool->options & BIT(option)) == 0 || strncmp(text, options[option].name, n) != 0 ||
            (text[n] != '\0' && text[n] != '='))
            continue;
        if (options[option].value == NULL) {
            if (text[n] == '=') {
                cli_fail(CLI_USAGE, "rules %s: %s takes no value", tool->name,
                         options[option].name);
                return OPTIONS;
            }
            *ret_value = "";
        } else if (text[n] == '=') {
            *ret_value = text + n + 1;
        } else if (*i + 1 < argc) {
            *ret_value = argv[++*i];
        } else {
            cli_fail(CLI_USAGE, "rules %s: %s needs a value: %s", tool->name,
                     options[option].name, options[option].value);
            return OPTIONS;
        }
        return (enum tool_option)option;
    }
    cli_fail(CLI_USAGE, "rules %s: there is no option \"%s\"; --help lists them", tool->name, text);
    return OPTIONS;
}

static int add_variant(struct tool_args *args, const char *text)
{
    struct variant variant;
    struct variant_error error;
    char sentence[SENTENCE_MAX];

    if (variant_parse(text, &variant, &error) != VARIANT_OK) {
        variant_error_sentence(&error, sentence, sizeof sentence);
        return cli_fail(CLI_USAGE, "rules %s: --variant \"%s\": %s", args->tool->name, text,
                        sentence);
    }
    for (int i = 0; i < args->variants; i++)
        if (args->variant[i].game == variant.game)
            return cli_fail(CLI_USAGE, "rules %s: --variant is given twice for %s",
                            args->tool->name, game_name(variant.game));
    args->variant[args->variants++] = variant;
    return CLI_OK;
}

int cmd_rules(int argc, char **argv)
{
    struct tool_args args = {.operands = 0};
    bool only_operands = false;

    if (argc < 2)
        return cli_fail(CLI_USAGE, "rules: a tool is missing; fourhanded rules --help lists them");
    if (str_eq(argv[1], "--help") || str_eq(argv[1], "-h")) {
        help_all();
        return tool_finish(&args, NULL);
    }
    for (size_t i = 0; i < COUNT_OF(tools); i++)
        if (str_eq(tools[i].name, argv[1]))
            args.tool = &tools[i];
    if (args.tool == NULL)
        return cli_fail(CLI_USAGE, "rules: there is no tool \"%s\"; fourhanded rules --help lists "
                                   "them", argv[1]);
    for (int i = 2; i < argc; i++) {
        const char *value = NULL;
        enum tool_option option;

        if (only_operands || argv[i][0] != '-' || argv[i][1] == '\0') {
            if (args.operands == (int)COUNT_OF(args.operand) ||
                args.operands == args.tool->most)
                return cli_fail(CLI_USAGE, "rules %s: \"%s\" is one operand too many",
                                args.tool->name, argv[i]);
            args.operand[args.operands++] = argv[i];
            continue;
        }
        if (str_eq(argv[i], "--")) {
            only_operands = true;
            continue;
        }
        if (str_eq(argv[i], "--help") || str_eq(argv[i], "-h")) {
            help_tool(args.tool);
            return tool_finish(&args, NULL);
        }
        option = read_option(args.tool, argc, argv, &i, &value);
        if (option == OPTIONS)
            return CLI_USAGE;
        if (option == OPT_VARIANT && add_variant(&args, value) != CLI_OK)
            return CLI_USAGE;
        if (option != OPT_VARIANT && args.value[option] != NULL)
            return cli_fail(CLI_USAGE, "rules %s: %s is given twice", args.tool->name,
                            options[option].name);
        args.value[option] = value;
    }
    if (args.operands < args.tool->least)
        return cli_fail(CLI_USAGE, "rules %s: it needs %s", args.tool->name, args.tool->operands);
    return args.tool->run(&args);
}

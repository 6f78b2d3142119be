#include "main/cli.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "settings/settings.h"

enum { COMPLAINT_MAX_BYTES = 4096 };

static const struct cli_option common_options[] = {
    {"config", 'c', "FILE", "the configuration (default " SETTINGS_DEFAULT_PATH ")"},
    {"set", 's', "KEY=VALUE", "use VALUE for KEY, whatever the configuration says; repeatable"},
    {NULL, 0, NULL, NULL},
};

const char *cli_instant(utc_ms at, char ret[UTC_TEXT_SIZE])
{
    if (at == UTC_NONE)
        return "-";
    utc_format(at, ret);
    return ret;
}

void cli_complain(const char *lines)
{
    const char *level = log_is_journal() ? "<3>" : "";

    while (*lines) {
        int n = (int)strcspn(lines, "\n");
        fprintf(stderr, "%s%.*s\n", level, n, lines);
        lines += n + (lines[n] == '\n');
    }
}

int cli_fail(int status, const char *fmt, ...)
{
    char line[COMPLAINT_MAX_BYTES];
    va_list args;
    int n = snprintf(line, sizeof line, "fourhanded: ");

    va_start(args, fmt);
    (void)vsnprintf(line + n, sizeof line - (size_t)n, fmt, args);
    va_end(args);
    cli_complain(line);
    return status;
}

const char *cli_value(const struct cli *cli, const char *name)
{
    const struct cli_option *o = cli->command->options;

    for (size_t i = 0; o && o[i].name; i++)
        if (str_eq(o[i].name, name))
            return cli->values[i];
    assert(false); /* an option that the command's table has */
    return NULL;
}

bool cli_flag(const struct cli *cli, const char *name)
{
    return cli_value(cli, name) != NULL;
}

static size_t words_count(const char *words)
{
    size_t n = 1;

    for (; *words; words++)
        n += *words == ' ';
    return n;
}

/* How many of argv's first words begin the command's: all of them when it is meant. */
static size_t words_shared(const char *words, int argc, char **argv)
{
    size_t n = 0;

    while (n < (size_t)argc) {
        size_t len = strcspn(words, " ");
        if (strlen(argv[n]) != len || strncmp(argv[n], words, len) != 0)
            break;
        n++;
        words += len;
        if (!*words)
            break;
        words++;
    }
    return n;
}

/* How many columns text takes; bytes that go on with a UTF-8 character take none. */
static int columns(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* text, and blanks up to width columns. */
static void put_padded(const char *text, int width)
{
    int rest = width - columns(text);

    printf("%s%*s", text, rest > 0 ? rest : 0, "");
}

static void option_help(const struct cli_option *o)
{
    char left[64];

    for (; o && o->name; o++) {
        char letter[8] = "    ";
        if (o->letter)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "  %s--%s%s%s", letter, o->name, o->arg ? " " : "",
                 o->arg ? o->arg : "");
        put_padded(left, 28);
        printf("%s%s\n", columns(left) > 27 ? "  " : "", o->doc);
    }
}

static void command_help(const struct cli_command *c)
{
    printf("usage: fourhanded %s%s%s%s\n\n%s.\n", c->words,
           c->options || c->is_configured ? " [option …]" : "", c->operands[0] ? " " : "",
           c->operands, c->doc);
    printf("\nOptions:\n");
    option_help(c->options);
    if (c->is_configured)
        option_help(common_options);
    printf("  -h, --help                print this\n");
}

/* Every command whose words begin with prefix (NULL: all). */
static void table_help(const struct cli_command *table, const char *prefix)
{
    printf("usage: fourhanded %s [option …] [operand …]\n\n", prefix ? prefix : "COMMAND");
    for (; table->words; table++) {
        char left[80];
        if (prefix && !(str_starts(table->words, prefix) &&
                        table->words[strlen(prefix)] == ' '))
            continue;
        snprintf(left, sizeof left, "  %s %s", table->words, table->operands);
        if (columns(left) > 36)
            printf("%s\n%-36s", left, "");
        else
            put_padded(left, 36);
        printf("  %s\n", table->doc);
    }
    printf("\nfourhanded COMMAND --help tells the options of one; fourhanded(1) tells all.\n");
}

/* A family ("user") named without its second word, or an unknown name. */
static int no_command(const struct cli_command *table, int argc, char **argv)
{
    bool is_family = false;

    if (argc == 0)
        return cli_fail(CLI_USAGE, "a command is missing; fourhanded --help lists them");
    for (const struct cli_command *c = table; c->words; c++)
        if (words_shared(c->words, argc, argv) > 0)
            is_family = true;
    if (!is_family)
        return cli_fail(CLI_USAGE, "\"%s\" is not a command; fourhanded --help lists them",
                        argv[0]);
    if (argc > 1 && (str_eq(argv[1], "--help") || str_eq(argv[1], "-h"))) {
        table_help(table, argv[0]);
        return CLI_OK;
    }
    if (argc > 1)
        return cli_fail(CLI_USAGE, "\"%s %s\" is not a command; fourhanded %s --help lists them",
                        argv[0], argv[1], argv[0]);
    return cli_fail(CLI_USAGE, "\"%s\" needs a second word; fourhanded %s --help lists them",
                    argv[0], argv[0]);
}

/* The option that text names ("--name", "--name=value", "-n"), or NULL. */
static const struct cli_option *option_find(const struct cli_option *o, const char *text,
                                            size_t *ret_index, const char **ret_joined)
{
    *ret_joined = NULL;
    for (size_t i = 0; o && o[i].name; i++) {
        size_t len = strlen(o[i].name);
        bool is_long = str_starts(text, "--") && strncmp(text + 2, o[i].name, len) == 0 &&
                       (text[2 + len] == '\0' || text[2 + len] == '=');
        bool is_short = o[i].letter && text[0] == '-' && text[1] == o[i].letter && !text[2];
        if (is_long || is_short) {
            if (is_long && text[2 + len] == '=')
                *ret_joined = text + 2 + len + 1;
            *ret_index = i;
            return &o[i];
        }
    }
    return NULL;
}

/* Take the option at argv[*i] and its value.  CLI_OK, or CLI_USAGE after saying why. */
static int option_take(struct cli *cli, int argc, char **argv, int *i)
{
    const struct cli_option *own = cli->command ? cli->command->options : NULL, *o;
    const char *text = argv[*i], *joined, *value = "";
    size_t index = 0;
    bool is_common = false;

    o = option_find(own, text, &index, &joined);
    if (!o && (!cli->command || cli->command->is_configured)) {
        o = option_find(common_options, text, &index, &joined);
        is_common = o != NULL;
    }
    if (!o)
        return cli_fail(CLI_USAGE, "%s is not an option here; --help lists them", text);
    if (o->arg) {
        if (joined)
            value = joined;
        else if (*i + 1 < argc)
            value = argv[++*i];
        else
            return cli_fail(CLI_USAGE, "--%s needs a value (%s)", o->name, o->arg);
    } else if (joined) {
        return cli_fail(CLI_USAGE, "--%s takes no value", o->name);
    }
    if (!is_common) {
        if (cli->values[index])
            return cli_fail(CLI_USAGE, "--%s is given twice", o->name);
        cli->values[index] = value;
    } else if (index == 0) {
        cli->config_path = value;
    } else {
        if (cli->set_count == CLI_SETS_MAX)
            return cli_fail(CLI_USAGE, "more than %d --set", CLI_SETS_MAX);
        cli->sets[cli->set_count++] = value;
    }
    return CLI_OK;
}

static int operands_check(const struct cli *cli)
{
    const struct cli_command *c = cli->command;

    if (cli->operand_count < c->operands_min)
        return cli_fail(CLI_USAGE, "%s needs %s", c->words, c->operands);
    if (cli->operand_count > c->operands_max)
        return cli_fail(CLI_USAGE, "\"%s\" is one operand too many for %s",
                        cli->operands[c->operands_max], c->words);
    return CLI_OK;
}

/* A letter means one thing with every command: none takes one of the common options' for itself. */
static void letters_check(const struct cli_command *table)
{
    for (; table->words; table++)
        for (const struct cli_option *o = table->options; o && o->name; o++)
            for (const struct cli_option *c = common_options; c->name; c++)
                assert(!o->letter || (o->letter != c->letter && o->letter != 'h'));
}

/* The command is found: its options and operands from argv[i] on, then run it. */
static int command_run(struct cli *cli, int argc, char **argv, int i)
{
    bool options_end = false;
    int st;

    for (; i < argc; i++) {
        if (!options_end && str_eq(argv[i], "--")) {
            options_end = true;
        } else if (!options_end && argv[i][0] == '-' && argv[i][1]) {
            if (str_eq(argv[i], "--help") || str_eq(argv[i], "-h")) {
                command_help(cli->command);
                return CLI_OK;
            }
            if ((st = option_take(cli, argc, argv, &i)) != CLI_OK)
                return st;
        } else if (cli->operand_count == CLI_OPERANDS_MAX) {
            return cli_fail(CLI_USAGE, "more than %d operands", CLI_OPERANDS_MAX);
        } else {
            cli->operands[cli->operand_count++] = argv[i];
        }
    }
    if ((st = operands_check(cli)) != CLI_OK)
        return st;
    return cli->command->run(cli);
}

/* What argv asks for; *ret_command is whose words it has, untouched when it has none's. */
static int words_run(const struct cli_command *table, const struct main_seams *seams, int argc,
                     char **argv, const struct cli_command **ret_command)
{
    struct cli cli = {.seams = seams, .config_path = SETTINGS_DEFAULT_PATH};
    int i = 1, st;

    for (; i < argc && argv[i][0] == '-'; i++) { /* before the words: -c and --set */
        if (str_eq(argv[i], "--help") || str_eq(argv[i], "-h")) {
            table_help(table, NULL);
            return CLI_OK;
        }
        if (str_eq(argv[i], "--version")) {
            printf("fourhanded %s\n", FH_VERSION);
            return CLI_OK;
        }
        if ((st = option_take(&cli, argc, argv, &i)) != CLI_OK)
            return st;
    }
    for (const struct cli_command *c = table; c->words && !cli.command; c++)
        if (words_shared(c->words, argc - i, argv + i) == words_count(c->words))
            cli.command = c;
    if (!cli.command)
        return no_command(table, argc - i, argv + i);
    *ret_command = cli.command;
    i += (int)words_count(cli.command->words);
    if (cli.command->run_raw)
        return cli.command->run_raw(argc - i + 1, argv + i - 1);
    return command_run(&cli, argc, argv, i);
}

int cli_run(const struct cli_command *table, const struct main_seams *seams, int argc, char **argv)
{
    const struct cli_command *command = NULL;
    int st;

    letters_check(table);
    st = words_run(table, seams, argc, argv, &command);
    if (command && command->usage_status) /* its status tells what became of the work alone */
        return st == CLI_USAGE ? command->usage_status : st;
    if (st == CLI_OK && (fflush(stdout) != 0 || ferror(stdout)))
        return cli_fail(CLI_FAILED, "standard output: %s", strerror(errno));
    return st;
}

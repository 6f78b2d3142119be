#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "main/cli.h"

/* What the command was called with. */
static struct cli seen;
static int raw_argc;
static const char *raw_last;

static int run_seen(struct cli *cli)
{
    seen = *cli;
    return 0;
}

static int run_raw(int argc, char **argv)
{
    raw_argc = argc;
    raw_last = argv[argc - 1];
    return 7;
}

static const struct cli_option options[] = {
    {"flag", 'f', NULL, "a flag"},
    {"value", 'v', "TEXT", "a value"},
    {"seats", 0, "SÜD=…", "who sits where"},
    {NULL, 0, NULL, NULL},
};

static const struct cli_command table[] = {
    {.words = "user add", .operands = "HANDLE", .doc = "Make one", .options = options,
     .operands_min = 1, .operands_max = 2, .is_configured = true, .run = run_seen},
    {.words = "user list", .operands = "", .doc = "List them", .run = run_seen},
    {.words = "set", .operands = "NAME=… …", .doc = "Set them", .run = run_seen},
    {.words = "rules", .operands = "TOOL", .doc = "Tools", .run_raw = run_raw},
    {.words = NULL},
};

/* Run with standard output and error kept in text; returns the exit status. */
static int run_with(char *text, size_t size, const char *const *words)
{
    char *argv[16] = {(char *)(uintptr_t) "fourhanded"};
    FILE *kept = tmpfile();
    int argc = 1, result, out, err;
    size_t n;

    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    assert_non_null(kept);
    fflush(stdout);
    fflush(stderr);
    out = dup(1);
    err = dup(2);
    dup2(fileno(kept), 1);
    dup2(fileno(kept), 2);
    result = cli_run(table, NULL, argc, argv);
    fflush(stdout);
    fflush(stderr);
    dup2(out, 1);
    dup2(err, 2);
    close(out);
    close(err);
    rewind(kept);
    n = fread(text, 1, size - 1, kept);
    text[n] = '\0';
    fclose(kept);
    return result;
}

#define RUN(text, ...) run_with(text, sizeof text, (const char *const[]){__VA_ARGS__, NULL})

static void test_options_and_operands_may_be_mixed(void **state)
{
    char text[2000];

    (void)state;
    assert_int_equal(RUN(text, "-c", "a.conf", "user", "add", "--value=x", "anna", "-f", "--set",
                         "a=b", "b@c"),
                     CLI_OK);
    assert_string_equal(seen.config_path, "a.conf");
    assert_string_equal(seen.operands[0], "anna");
    assert_string_equal(seen.operands[1], "b@c");
    assert_int_equal(seen.operand_count, 2);
    assert_true(cli_flag(&seen, "flag"));
    assert_string_equal(cli_value(&seen, "value"), "x");
    assert_int_equal(seen.set_count, 1);
    assert_string_equal(seen.sets[0], "a=b");
    assert_string_equal(text, "");
}

static void test_options_not_given_have_no_value(void **state)
{
    char text[2000];

    (void)state;
    assert_int_equal(RUN(text, "user", "add", "anna"), CLI_OK);
    assert_null(cli_value(&seen, "value"));
    assert_false(cli_flag(&seen, "flag"));
    assert_string_equal(seen.config_path, "/etc/fourhanded/fourhanded.conf");
}

static void test_two_dashes_end_the_options(void **state)
{
    char text[2000];

    (void)state;
    assert_int_equal(RUN(text, "user", "add", "--", "--flag"), CLI_OK);
    assert_string_equal(seen.operands[0], "--flag");
    assert_false(cli_flag(&seen, "flag"));
}

static void test_a_raw_command_gets_its_arguments_as_they_are(void **state)
{
    char text[2000];

    (void)state;
    assert_int_equal(RUN(text, "rules", "perft", "--help"), 7);
    assert_int_equal(raw_argc, 3);
    assert_string_equal(raw_last, "--help");
}

static void test_mistakes_are_told_in_one_line_with_status_2(void **state)
{
    static const struct {
        const char *words[6], *line;
    } cases[] = {
        {{NULL}, "fourhanded: a command is missing; fourhanded --help lists them\n"},
        {{"usr"}, "fourhanded: \"usr\" is not a command; fourhanded --help lists them\n"},
        {{"user"}, "fourhanded: \"user\" needs a second word; fourhanded user --help lists them\n"},
        {{"user", "ad"},
         "fourhanded: \"user ad\" is not a command; fourhanded user --help lists them\n"},
        {{"user", "add"}, "fourhanded: user add needs HANDLE\n"},
        {{"user", "add", "a", "b", "c"},
         "fourhanded: \"c\" is one operand too many for user add\n"},
        {{"user", "add", "a", "--what"},
         "fourhanded: --what is not an option here; --help lists them\n"},
        {{"user", "add", "a", "--value"}, "fourhanded: --value needs a value (TEXT)\n"},
        {{"user", "add", "a", "--flag=1"}, "fourhanded: --flag takes no value\n"},
        {{"user", "add", "a", "-f", "--flag"}, "fourhanded: --flag is given twice\n"},
        {{"user", "list", "-c", "x"},
         "fourhanded: -c is not an option here; --help lists them\n"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[2000];
        int result = run_with(text, sizeof text, cases[i].words);
        assert_string_equal(text, cases[i].line);
        assert_int_equal(result, CLI_USAGE);
    }
}

/* The column at which text stands in its line, a UTF-8 character counting once; -1: not there. */
static int column_of(const char *all, const char *text)
{
    const char *at = strstr(all, text);
    int n = 0;

    if (!at)
        return -1;
    while (at > all && at[-1] != '\n')
        n += ((unsigned char)*--at & 0xc0) != 0x80;
    return n;
}

static void test_help_stands_in_columns_whatever_the_letters(void **state)
{
    char text[4000];

    (void)state;
    assert_int_equal(RUN(text, "--help"), CLI_OK);
    assert_int_equal(column_of(text, "Set them"), 38);
    assert_int_equal(column_of(text, "Make one"), 38);
    assert_int_equal(column_of(text, "Tools"), 38);
    assert_int_equal(RUN(text, "user", "add", "-h"), CLI_OK);
    assert_int_equal(column_of(text, "who sits where"), 28);
    assert_int_equal(column_of(text, "a value"), 28);
    assert_int_equal(column_of(text, "use VALUE for KEY"), 28);
}

static void test_help_lists_what_the_tables_have(void **state)
{
    char text[4000];

    (void)state;
    assert_int_equal(RUN(text, "--help"), CLI_OK);
    assert_non_null(strstr(text, "user add HANDLE"));
    assert_non_null(strstr(text, "rules TOOL"));
    assert_int_equal(RUN(text, "user", "--help"), CLI_OK);
    assert_non_null(strstr(text, "user list"));
    assert_null(strstr(text, "rules TOOL"));
    assert_int_equal(RUN(text, "user", "add", "-h"), CLI_OK);
    assert_non_null(strstr(text, "-v, --value TEXT"));
    assert_non_null(strstr(text, "-c, --config FILE"));
    assert_int_equal(RUN(text, "--version"), CLI_OK);
    assert_string_equal(text, "fourhanded " FH_VERSION "\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_and_operands_may_be_mixed),
        cmocka_unit_test(test_options_not_given_have_no_value),
        cmocka_unit_test(test_two_dashes_end_the_options),
        cmocka_unit_test(test_a_raw_command_gets_its_arguments_as_they_are),
        cmocka_unit_test(test_mistakes_are_told_in_one_line_with_status_2),
        cmocka_unit_test(test_help_stands_in_columns_whatever_the_letters),
        cmocka_unit_test(test_help_lists_what_the_tables_have),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

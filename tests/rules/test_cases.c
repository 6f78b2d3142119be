/*
 * tests/rules/test_cases.c - the worked positions of tests/cases (R-T4): moves and results.
 *
 * Every line is `POSITION | all legal moves | MOVE -> POSITION after it, or team0, team1, draw`.
 * Each file is one test, run with every build of the engine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rows.h"
#include "rules/engine.h"
#include "support/rule.h"

/* Cuts the text before `mark` off and returns what follows it. */
static char *cut(char *text, const char *mark)
{
    char *at = strstr(text, mark);

    if (at == NULL)
        fail_msg("no '%s' in: %s", mark, text);
    *at = '\0';
    return at + strlen(mark);
}

static void check_line(char *line)
{
    char *moves = cut(line, " | "), *move = cut(moves, " | "), *after = cut(move, " -> ");
    char text[POSITION_TEXT_MAX];
    struct position pos;
    struct position_error error;
    struct variant variant = {0};

    assert_true(variant_of_text(line, &variant));
    if (position_parse(&variant, line, &pos, &error) != POSITION_OK) {
        position_error_sentence(variant.game, &error, text, sizeof text);
        fail_msg("%s\n%s", line, text);
    }
    position_print(&pos, text, sizeof text);
    assert_string_equal(text, line);
    assert_string_equal(row_moves(&pos), moves);
    if (strncmp(move, "resign ", 7) == 0) {
        enum seat seat = SEAT_SOUTH;

        assert_true(seat_of_letter(variant.game, move[7], &seat));
        assert_int_equal(position_leave(&pos, seat, LEAVE_RESIGN, NULL), LEAVE_OK);
    } else {
        assert_int_equal(position_play(&pos, row_move(move), NULL, NULL), MOVE_LEGAL);
    }
    assert_true(position_is_ok(&pos));
    if (position_is_over(&pos)) {
        assert_string_equal(result_str((enum result)pos.result), after);
        return;
    }
    position_print(&pos, text, sizeof text);
    assert_string_equal(text, after);
}

/* What gzip makes of a file, to be read; *ret_child must be waited for. */
static FILE *unpack(const char *path, pid_t *ret_child)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    *ret_child = fork();
    assert_true(*ret_child >= 0);
    if (*ret_child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp("gzip", "gzip", "-dc", path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

static void check_file(void **state)
{
    static char line[16384];
    char path[512];
    FILE *file;
    pid_t child;
    long lines = 0;
    int status;

    snprintf(path, sizeof path, "%s/tests/cases/%s.txt.gz", FH_SOURCE_DIR, (const char *)*state);
    file = unpack(path, &child);
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#')
            continue;
        check_line(line);
        lines++;
    }
    fclose(file);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(lines >= 100);
    print_message("%s: %ld lines agree\n", (const char *)*state, lines);
    RULE("R-T4");
    RULE("R-T1");
    RULE("R-V16");
    RULE("R-V17");
    RULE("R-F17");
}

int main(void)
{
    static const char *const files[] = {
        "fortress-leave", "fortress-sparse", "fortress-start", "fortress-thinned",
        "rare",           "teams-sparse",    "teams-start",    "teams-thinned",
        "verney-leave",   "verney-sparse",   "verney-start"};
    static const char *const engines[] = {"plain", "avx2", "avx512"};
    enum { FILES = sizeof files / sizeof files[0] };
    struct CMUnitTest tests[FILES];
    int failed = 0;

    for (int i = 0; i < FILES; i++)
        tests[i] = (struct CMUnitTest){.name = files[i],
                                       .test_func = check_file,
                                       .initial_state = (void *)(uintptr_t)files[i]};
    for (int i = 0; i < 3; i++)
        if (engine_choose(engines[i]))
            failed += _cmocka_run_group_tests(engines[i], tests, FILES, NULL, NULL);
    return failed;
}

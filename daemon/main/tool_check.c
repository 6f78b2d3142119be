/* main/tool_check.c - rules check. */
#include "main/tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "main/cli.h"
#include "rules/rules.h"

struct check {
    struct tool_args *args;
    struct tool_input *in;
    long cases, disagree;
};

static void disagree(struct check *check, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void disagree(struct check *check, const char *fmt, ...)
{
    va_list list;

    check->args->has_failed = true;
    printf("line %ld: ", check->in->number);
    va_start(list, fmt);
    vprintf(fmt, list);
    va_end(list);
    putchar('\n');
}

/* Words of `a` that are not in `b`, both sorted. */
static void missing_words(const char *a, const char *b, struct buf *out)
{
    while (*a != '\0') {
        size_t n = strcspn(a, " "), m = strcspn(b, " ");
        int order = *b == '\0' ? -1 : strncmp(a, b, n < m ? n : m);

        if (order == 0 && *b != '\0')
            order = n < m ? -1 : n > m;
        if (order < 0) {
            buf_putc(out, ' ');
            buf_add(out, a, n);
        }
        if (order <= 0)
            a += n + (a[n] == ' ');
        if (order >= 0)
            b += m + (b[m] == ' ');
    }
}

/* Returns whether the case agrees. */
static bool check_case(struct check *check, char *line)
{
    struct position pos;
    char sentence[SENTENCE_MAX], after[POSITION_TEXT_MAX + 1];
    char *moves = NULL, *play = NULL, *arrow = NULL, *position = line_cut(line, &moves);
    struct buf legal = buf_make(LINE_MAX_BYTES), lack = buf_make(LINE_MAX_BYTES),
               extra = buf_make(LINE_MAX_BYTES);
    bool agrees = false;

    if (moves != NULL)
        moves = line_cut(moves, &play);
    arrow = play != NULL ? strstr(play, "->") : NULL;
    if (moves == NULL || play == NULL || arrow == NULL) {
        disagree(check, "no case; it is POSITION | LEGAL MOVES | MOVE -> POSITION");
        goto out;
    }
    *arrow = '\0';
    play = line_trim(play);
    arrow = line_trim(arrow + 2);
    if (!tool_read_position(check->args, position, &pos, sentence)) {
        disagree(check, "position: %s", sentence);
        goto out;
    }
    agrees = true;
    tool_legal_moves(&pos, &legal);
    if (!str_eq(legal.data, moves)) {
        missing_words(moves, legal.data, &lack);
        missing_words(legal.data, moves, &extra);
        disagree(check, "moves:%s%s%s%s%s", lack.len > 0 ? " the case has also" : "", lack.data,
                 extra.len > 0 ? " the case lacks" : "", extra.data,
                 lack.len + extra.len == 0 ? " not in order" : "");
        agrees = false;
    }
    if (!tool_play_text(&pos, play, NULL, sentence)) {
        disagree(check, "%s: %s", play, sentence);
        agrees = false;
        goto out;
    }
    if (position_is_over(&pos))
        snprintf(after, sizeof after, "%s", result_str((enum result)pos.result));
    else
        position_print(&pos, after, sizeof after);
    if (!str_eq(after, arrow)) {
        disagree(check, "%s: gives %s, the case has %s", play, after, arrow);
        agrees = false;
    }
out:
    buf_release(&legal);
    buf_release(&lack);
    buf_release(&extra);
    return agrees;
}

int tool_check(struct tool_args *args)
{
    struct check check = {.args = args, .in = input_new()};
    char *line;
    bool too_long = false;
    int status;

    if (check.in == NULL)
        return cli_fail(CLI_FAILED, "out of memory");
    while ((line = input_line(check.in, &too_long)) != NULL) {
        bool agrees = false;

        if (too_long)
            disagree(&check, "longer than %d bytes", LINE_MAX_BYTES);
        else if (line[0] == '\0' || line[0] == '#')
            continue;
        else
            agrees = check_case(&check, line);
        check.cases++;
        check.disagree += !agrees;
    }
    printf("%ld cases, %ld agree, %ld disagree\n", check.cases, check.cases - check.disagree,
           check.disagree);
    status = tool_finish(args, check.in);
    input_free(check.in);
    return status;
}

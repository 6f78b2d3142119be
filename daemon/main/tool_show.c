/* main/tool_show.c - rules show. */
#include "main/tool.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "main/cli.h"
#include "rules/notation.h"
#include "rules/rules.h"
#include "rules/show.h"

static bool read_side(const char *text, enum seat *ret_side)
{
    for (int seat = 0; seat < SEATS; seat++) {
        if (str_case_eq(text, seat_name((enum seat)seat))) {
            *ret_side = (enum seat)seat;
            return true;
        }
    }
    return false;
}

static void answer_show(struct tool_args *args, char *line)
{
    static char text[SHOW_SPOKEN_MAX * 2]; /* the main thread alone runs this */
    struct show_options how = {.side = SEAT_SOUTH,
                               .is_narrow = args->value[OPT_NARROW] != NULL,
                               .has_legend = args->value[OPT_NO_LEGEND] == NULL};
    struct position pos;
    struct spoken spoken;
    char sentence[SENTENCE_MAX], *rest = NULL, *position = line_cut(line, &rest);
    bool has_move = false;
    int64_t width = how.is_narrow ? 40 : 0;

    if (args->value[OPT_SIDE] != NULL)
        (void)read_side(args->value[OPT_SIDE], &how.side);
    if (args->value[OPT_WIDTH] != NULL)
        (void)str_to_int64(args->value[OPT_WIDTH], 0, 1000, &width);
    rest = line_move(rest);
    memset(&spoken, 0, sizeof spoken);
    if (!tool_read_position(args, position, &pos, sentence) ||
        (rest != NULL && !tool_play_text(&pos, rest, &spoken, sentence))) {
        tool_refuse(args, "%s", sentence);
        return;
    }
    has_move = spoken.kind != KIND_NONE;
    if (has_move)
        how.last = &spoken.move;
    if (args->value[OPT_SPOKEN] != NULL)
        show_spoken(&pos, has_move ? &spoken : NULL, (int)width, text, sizeof text);
    else
        show_board(&pos, &how, text, sizeof text);
    fputs(text, stdout);
    putchar('\n');
}

int tool_show(struct tool_args *args)
{
    enum seat side;
    int64_t width;

    if (args->value[OPT_SIDE] != NULL && !read_side(args->value[OPT_SIDE], &side))
        return cli_fail(CLI_USAGE, "rules show: --side \"%s\" is none of south, west, north, east",
                        args->value[OPT_SIDE]);
    if (args->value[OPT_WIDTH] != NULL &&
        !str_to_int64(args->value[OPT_WIDTH], 0, 1000, &width))
        return cli_fail(CLI_USAGE, "rules show: --width \"%s\" is no number from 0 to 1000",
                        args->value[OPT_WIDTH]);
    return tool_each_line(args, answer_show);
}

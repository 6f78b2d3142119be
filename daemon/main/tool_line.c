/* main/tool_line.c - positions and moves in a line. */
#include "main/tool.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "rules/notation.h"
#include "rules/rules.h"

char *line_trim(char *text)
{
    char *end = text + strlen(text);

    while (*text == ' ' || *text == '\t')
        text++;
    while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    return text;
}

char *line_cut(char *text, char **ret_rest)
{
    char *bar = strchr(text, '|');

    *ret_rest = NULL;
    if (bar != NULL) {
        *bar = '\0';
        *ret_rest = line_trim(bar + 1);
    }
    return line_trim(text);
}

char *line_move(char *rest)
{
    char *last = rest, *arrow;

    if (rest == NULL)
        return NULL;
    if (strchr(rest, '|') != NULL)
        last = line_trim(strrchr(rest, '|') + 1);
    arrow = strstr(last, "->");
    if (arrow != NULL)
        *arrow = '\0';
    return line_trim(last);
}

void tool_choose_variant(const struct tool_args *args, struct variant *variant)
{
    for (int i = 0; i < args->variants; i++)
        if (args->variant[i].game == variant->game)
            *variant = args->variant[i];
}

bool tool_read_position(const struct tool_args *args, const char *text, struct position *ret,
                        char sentence[SENTENCE_MAX])
{
    struct variant variant;
    struct position_error error;

    if (text[0] == '\0') {
        snprintf(sentence, SENTENCE_MAX, "there is no position");
        return false;
    }
    if (!variant_of_text(text, &variant)) {
        snprintf(sentence, SENTENCE_MAX,
                 "field 1 (game): \"%.*s\" is none of verney, fortress and teams",
                 (int)(strcspn(text, " ") < 40 ? strcspn(text, " ") : 40), text);
        return false;
    }
    tool_choose_variant(args, &variant);
    if (position_parse(&variant, text, ret, &error) != POSITION_OK) {
        position_error_sentence(variant.game, &error, sentence, SENTENCE_MAX);
        return false;
    }
    return true;
}

bool tool_play_text(struct position *pos, const char *text, struct spoken *ret_spoken,
                    char sentence[SENTENCE_MAX])
{
    enum seat seat;
    enum leave_how how;
    struct move_reading reading;
    enum leave_verdict left;

    switch (leave_read(pos, text, strlen(text), /* seat_needed= */ true, &seat, &how)) {
    case LEAVE_READ_OK:
        left = position_leave(pos, seat, how, NULL);
        if (left != LEAVE_OK)
            snprintf(sentence, SENTENCE_MAX, "%s", leave_verdict_str(left));
        return left == LEAVE_OK;
    case LEAVE_READ_NO_SEAT:
    case LEAVE_READ_BAD_SEAT:
        snprintf(sentence, SENTENCE_MAX,
                 "who leaves? A colour is needed, as in \"resign %c\"",
                 seat_letter(pos->variant.game, (enum seat)pos->turn));
        return false;
    case LEAVE_READ_OTHER:
        break;
    }
    if (move_read(pos, text, strlen(text), &reading) != READ_MOVE) {
        move_reading_sentence(pos, &reading, sentence, SENTENCE_MAX);
        return false;
    }
    if (ret_spoken != NULL)
        (void)spoken_of_move(pos, reading.move, ret_spoken);
    (void)position_play(pos, reading.move, NULL, NULL);
    return true;
}

void tool_legal_moves(const struct position *pos, struct buf *out)
{
    static struct move_list list; /* the main thread alone runs this */

    position_legal_moves(pos, &list);
    moves_sort(&list);
    for (int i = 0; i < list.count; i++) {
        char text[MOVE_COORDINATE_MAX];

        move_print_coordinate(list.at[i], text, sizeof text);
        buf_printf(out, "%s%s", i > 0 ? " " : "", text);
    }
}

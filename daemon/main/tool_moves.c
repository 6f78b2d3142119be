/* main/tool_moves.c - rules legal, play, notation and validate. */
#include "main/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "rules/notation.h"
#include "rules/rules.h"

static void answer_legal(struct tool_args *args, char *line)
{
    struct position pos;
    char sentence[SENTENCE_MAX], *rest = NULL;
    struct buf out = buf_make(LINE_MAX_BYTES);

    if (!tool_read_position(args, line_cut(line, &rest), &pos, sentence)) {
        tool_refuse(args, "%s", sentence);
    } else {
        tool_legal_moves(&pos, &out);
        if (buf_failed(&out))
            tool_refuse(args, "out of memory");
        else
            puts(out.data);
    }
    buf_release(&out);
}

int tool_legal(struct tool_args *args)
{
    return tool_each_line(args, answer_legal);
}

/* The position, or the result when the game is over. */
static void print_after(const struct position *pos)
{
    char text[POSITION_TEXT_MAX + 1];

    if (position_is_over(pos)) {
        puts(result_str((enum result)pos->result));
        return;
    }
    position_print(pos, text, sizeof text);
    puts(text);
}

static void answer_play(struct tool_args *args, char *line)
{
    struct position pos;
    char sentence[SENTENCE_MAX], *rest = NULL, *position = line_cut(line, &rest);

    rest = line_move(rest);
    if (!tool_read_position(args, position, &pos, sentence))
        tool_refuse(args, "%s", sentence);
    else if (rest == NULL)
        tool_refuse(args, "there is no move; a line is POSITION | MOVE");
    else if (!tool_play_text(&pos, rest, NULL, sentence))
        tool_refuse(args, "%s", sentence);
    else
        print_after(&pos);
}

int tool_play(struct tool_args *args)
{
    return tool_each_line(args, answer_play);
}

static void answer_notation(struct tool_args *args, char *line)
{
    struct position pos;
    char sentence[SENTENCE_MAX], *rest = NULL, *position = line_cut(line, &rest);
    char coordinate[MOVE_COORDINATE_MAX], brief[MOVE_SHORT_MAX], said[SPOKEN_MAX];
    struct move_reading reading;
    struct spoken spoken;

    rest = line_move(rest);
    if (!tool_read_position(args, position, &pos, sentence)) {
        tool_refuse(args, "%s", sentence);
    } else if (rest == NULL) {
        tool_refuse(args, "there is no move; a line is POSITION | MOVE");
    } else if (move_read(&pos, rest, strlen(rest), &reading) != READ_MOVE) {
        move_reading_sentence(&pos, &reading, sentence, sizeof sentence);
        tool_refuse(args, "%s: %s", read_verdict_str(reading.code), sentence);
    } else {
        (void)spoken_of_move(&pos, reading.move, &spoken);
        move_print_coordinate(reading.move, coordinate, sizeof coordinate);
        move_print_short(&pos, reading.move, /* marks= */ true, brief, sizeof brief);
        spoken_print(pos.variant.game, &spoken, said, sizeof said);
        printf("%s | %s | %s\n", coordinate, brief, said);
    }
}

int tool_notation(struct tool_args *args)
{
    return tool_each_line(args, answer_notation);
}

static void answer_validate(struct tool_args *args, char *line)
{
    struct position pos;
    struct position_error error;
    char sentence[SENTENCE_MAX], *rest = NULL;

    if (!tool_read_position(args, line_cut(line, &rest), &pos, sentence)) {
        tool_refuse(args, "%s", sentence);
    } else if (position_validate(&pos, &error) != POSITION_OK) {
        position_error_sentence(pos.variant.game, &error, sentence, sizeof sentence);
        tool_refuse(args, "%s", sentence);
    } else {
        printf("ok %016" PRIx64 "\n", pos.hash);
    }
}

int tool_validate(struct tool_args *args)
{
    return tool_each_line(args, answer_validate);
}

/* main/tool_record.c - see tool_record.h. */
#include "main/tool_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "rules/fen4.h"
#include "rules/notation.h"
#include "rules/pgn4.h"
#include "rules/rules.h"

void record_clear(struct record *r)
{
    r->items = 0;
    buf_clear(&r->tags);
    buf_clear(&r->text);
    r->ending = (struct pgn4_ending){.result = RESULT_NONE};
    r->termination[0] = '\0';
    r->has_failed = false;
}

bool record_add(struct record *r, struct item item)
{
    if (r->items == r->room) {
        size_t room = r->room > 0 ? r->room * 2 : 256;
        struct item *more = r->items < GAME_ITEMS_MAX ? realloc(r->item, room * sizeof *more)
                                                      : NULL;

        if (more == NULL) {
            r->has_failed = true;
            return false;
        }
        r->item = more;
        r->room = room;
    }
    r->item[r->items++] = item;
    return true;
}

/* "team0 mate", "draw agreement", "none aborted": behind `->` in a game line. */
static bool read_ending(char *text, struct pgn4_ending *ret)
{
    char *cause = text + strcspn(text, " ");

    if (*cause != '\0')
        *cause++ = '\0';
    cause = line_trim(cause);
    for (int result = RESULT_NONE; result <= RESULT_DRAW; result++) {
        if (!str_eq(text, result_str((enum result)result)))
            continue;
        *ret = (struct pgn4_ending){.result = (enum result)result};
        if (*cause == '\0')
            return true;
        if (str_eq(cause, "aborted")) {
            ret->is_aborted = true;
            return result == RESULT_NONE;
        }
        for (int i = CAUSE_NONE; i <= CAUSE_AGREEMENT; i++) {
            if (str_eq(cause, cause_str((enum cause)i))) {
                ret->cause = (enum cause)i;
                return true;
            }
        }
    }
    return false;
}

/* Moves parted by blanks; "resign w" and "forfeit w" are two words. */
static bool record_moves(struct record *r, char *text, char sentence[SENTENCE_MAX])
{
    while (*(text = line_trim(text)) != '\0') {
        char *end = text + strcspn(text, " \t");
        struct item item = {.type = ITEM_MOVE};
        struct move_reading reading;
        enum leave_read_verdict leaves;
        char next;

        if (str_case_eq(text, "resign") || str_case_eq(text, "forfeit") ||
            str_starts(text, "resign ") || str_starts(text, "forfeit "))
            end += strspn(end, " \t"), end += strcspn(end, " \t");
        next = *end;
        *end = '\0';
        leaves = leave_read(&r->last, text, strlen(text), true, &item.seat, &item.how);
        if (leaves == LEAVE_READ_OK) {
            enum leave_verdict left = position_leave(&r->last, item.seat, item.how, NULL);

            item.type = ITEM_LEAVE;
            if (left != LEAVE_OK) {
                snprintf(sentence, SENTENCE_MAX, "%s: %s", text, leave_verdict_str(left));
                return false;
            }
        } else if (leaves != LEAVE_READ_OTHER) {
            snprintf(sentence, SENTENCE_MAX, "%s: who leaves?", text);
            return false;
        } else if (move_read(&r->last, text, strlen(text), &reading) != READ_MOVE) {
            char why[SENTENCE_MAX - 80];

            move_reading_sentence(&r->last, &reading, why, sizeof why);
            snprintf(sentence, SENTENCE_MAX, "move %zu, %.40s: %s", r->items + 1, text, why);
            return false;
        } else {
            item.move = reading.move;
            (void)position_play(&r->last, reading.move, NULL, NULL);
        }
        if (!record_add(r, item)) {
            snprintf(sentence, SENTENCE_MAX, "the game is too long");
            return false;
        }
        *end = next;
        text = end;
    }
    return true;
}

bool record_read_native(struct record *r, char *line, char sentence[SENTENCE_MAX])
{
    char *moves = NULL, *position = line_cut(line, &moves);
    char *arrow = moves != NULL ? strstr(moves, "->") : NULL;

    if (!tool_read_position(r->args, position, &r->start, sentence))
        return false;
    r->last = r->start;
    if (arrow != NULL) {
        *arrow = '\0';
        if (!read_ending(line_trim(arrow + 2), &r->ending)) {
            snprintf(sentence, SENTENCE_MAX,
                     "what stands behind -> is no result, as in \"draw agreement\"");
            return false;
        }
    }
    if (moves != NULL && !record_moves(r, moves, sentence))
        return false;
    if (position_is_over(&r->last)) {
        if (arrow != NULL && r->ending.result != (enum result)r->last.result) {
            snprintf(sentence, SENTENCE_MAX, "the moves end the game with %s",
                     result_str((enum result)r->last.result));
            return false;
        }
        r->ending.result = (enum result)r->last.result;
        r->ending.cause = (enum cause)r->last.cause;
    }
    return true;
}

static void write_native(struct record *r)
{
    char text[POSITION_TEXT_MAX + 1], move[MOVE_COORDINATE_MAX];
    bool is_final = r->args->value[OPT_FINAL] != NULL, first = true;

    position_print(is_final ? &r->last : &r->start, text, sizeof text);
    fputs(text, stdout);
    for (size_t i = 0; i < r->items && !is_final; i++) {
        const struct item *item = &r->item[i];

        if (item->type == ITEM_COMMENT)
            continue;
        fputs(first ? " | " : " ", stdout);
        first = false;
        if (item->type == ITEM_MOVE) {
            move_print_coordinate(item->move, move, sizeof move);
            fputs(move, stdout);
        } else {
            printf("%s %c", item->how == LEAVE_RESIGN ? "resign" : "forfeit",
                   seat_letter(r->start.variant.game, item->seat));
        }
    }
    if (!is_final && (r->ending.result != RESULT_NONE || r->ending.is_aborted))
        printf("%s -> %s %s", first ? " |" : "", result_str(r->ending.result),
               r->ending.is_aborted ? "aborted" : cause_str(r->ending.cause));
    putchar('\n');
}

static void write_fen4(struct record *r)
{
    char text[FEN4_TEXT_MAX + 1];

    if (!fen4_has_game(r->last.variant.game)) {
        tool_refuse(r->args, "FEN4 cannot say a position of %s", game_name(r->last.variant.game));
        return;
    }
    fen4_print(&r->last, r->corners, text, sizeof text);
    puts(text);
}

static bool to_stdout(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    return fwrite(bytes, 1, n, stdout) == n;
}

static void write_pgn4(struct record *r)
{
    struct pgn4_writer w;
    const char *own[] = {"Variant", "RuleVariants", "StartFen4", "Result", "Termination",
                         "FourhandedVariant", "FourhandedPosition", "FourhandedResult"};

    if (r->termination[0] != '\0')
        r->ending.termination = r->termination;
    pgn4_writer_start(&w, to_stdout, NULL, &r->ending);
    for (size_t i = 0; i < r->tags.len;) {
        const char *name = r->tags.data + i, *value = name + strlen(name) + 1;
        bool is_own = false;

        for (size_t k = 0; k < COUNT_OF(own); k++)
            is_own |= str_case_eq(own[k], name);
        if (!is_own)
            pgn4_write_tag(&w, name, value);
        i += strlen(name) + strlen(value) + 2;
    }
    pgn4_write_position(&w, &r->start);
    for (size_t i = 0; i < r->items; i++) {
        const struct item *item = &r->item[i];

        if (item->type == ITEM_MOVE)
            (void)pgn4_write_move(&w, item->move);
        else if (item->type == ITEM_LEAVE)
            (void)pgn4_write_leave(&w, item->seat, item->how);
        else
            pgn4_write_comment(&w, r->text.data + item->text);
    }
    (void)pgn4_write_end(&w);
}

void record_write(struct record *r)
{
    switch (r->to) {
    case FORM_NATIVE:
        write_native(r);
        break;
    case FORM_FEN4:
        write_fen4(r);
        break;
    default:
        write_pgn4(r);
        break;
    }
}

/* main/tool_convert.c - rules convert. */
#include "main/tool_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "main/cli.h"
#include "rules/fen4.h"
#include "rules/pgn4.h"
#include "rules/rules.h"

static const char *const form_names[FORMS] = {"native", "fen4", "pgn4"};

/* ---------------------------------------------------------------- from PGN4 */

static bool on_tag(void *arg, const char *name, const char *value)
{
    struct record *r = arg;

    buf_add(&r->tags, name, strlen(name) + 1);
    buf_add(&r->tags, value, strlen(value) + 1);
    r->has_failed |= buf_failed(&r->tags);
    return !r->has_failed;
}
static bool on_start(void *arg, const struct position *start)
{
    struct record *r = arg;

    r->start = r->last = *start;
    return true;
}
static bool on_move(void *arg, const struct position *before, struct move move,
                    const struct outcome *outcome, const struct position *after)
{
    (void)before;
    (void)outcome;
    (void)after;
    return record_add(arg, (struct item){.type = ITEM_MOVE, .move = move});
}
static bool on_leave(void *arg, enum seat seat, enum leave_how how,
                     const struct outcome *outcome, const struct position *after)
{
    (void)outcome;
    (void)after;
    return record_add(arg, (struct item){.type = ITEM_LEAVE, .seat = seat, .how = how});
}
static bool on_comment(void *arg, const char *text)
{
    struct record *r = arg;
    size_t at = r->text.len;

    buf_add(&r->text, text, strlen(text) + 1);
    r->has_failed |= buf_failed(&r->text);
    return !r->has_failed && record_add(r, (struct item){.type = ITEM_COMMENT, .text = at});
}
static bool on_end(void *arg, const struct pgn4_result *result, const struct position *last)
{
    struct record *r = arg;
    struct variant usual;

    r->last = *last;
    r->ending = (struct pgn4_ending){.result = result->result,
                                     .cause = result->cause,
                                     .is_aborted = result->is_aborted};
    (void)str_copy(r->termination, sizeof r->termination, result->termination);
    if (r->to == FORM_NATIVE && variant_find(game_name(last->variant.game), &usual) &&
        !variant_is_equal(&usual, &last->variant)) {
        char text[VARIANT_TEXT_MAX];

        variant_print(&last->variant, false, text, sizeof text);
        fprintf(stderr, "fourhanded: house rules: --variant \"%s\" is needed to read it back\n",
                text);
    }
    record_write(r);
    record_clear(r);
    return true;
}

static int convert_pgn4(struct record *r)
{
    struct pgn4_handler handler = {on_tag, on_start, on_move, on_leave, on_comment, on_end, r};
    static struct pgn4_reader reader; /* the main thread alone runs this */
    struct tool_input *in = input_new();
    enum pgn4_verdict verdict = PGN4_OK;
    int status;

    if (in == NULL)
        return cli_fail(CLI_FAILED, "out of memory");
    pgn4_reader_start(&reader, &handler);
    while (verdict == PGN4_OK && input_fill(in))
        verdict = pgn4_read(&reader, in->block, in->to);
    if (verdict == PGN4_OK && !in->has_failed)
        verdict = pgn4_read_end(&reader);
    if (verdict == PGN4_STOPPED) {
        cli_fail(CLI_FAILED, "standard input: a game has more than %d moves and comments",
                 GAME_ITEMS_MAX);
        r->args->has_failed = true;
    } else if (verdict != PGN4_OK) {
        char sentence[PGN4_SENTENCE_MAX];

        pgn4_error_sentence(&reader.error, sentence, sizeof sentence);
        cli_fail(CLI_FAILED, "standard input: %s", sentence);
        r->args->has_failed = true;
    }
    status = tool_finish(r->args, in);
    input_free(in);
    return status;
}

/* ---------------------------------------------------------------- from FEN4 */

static bool fen4_goes_on(const struct buf *text)
{
    size_t n = text->len;
    int ranks = 0;

    while (n > 0 && strchr(" \t\r\n", text->data[n - 1]) != NULL)
        n--;
    for (size_t i = 0; i < n; i++)
        ranks += text->data[i] == '/';
    return n > 0 && ranks < 14 && strchr("-/,", text->data[n - 1]) != NULL;
}

static int convert_fen4(struct record *r)
{
    struct tool_input *in = input_new();
    struct buf text = buf_make(LINE_MAX_BYTES);
    struct variant variant;
    struct fen4_error error;
    char sentence[FEN4_SENTENCE_MAX], *line;
    bool too_long = false;
    int status = CLI_FAILED;

    (void)variant_find("teams", &variant);
    if (r->args->variants > 0)
        variant = r->args->variant[0];
    if (in == NULL) {
        cli_fail(CLI_FAILED, "out of memory");
        goto out;
    }
    while ((line = input_line(in, &too_long)) != NULL) {
        if (line[0] == '\0' && text.len == 0 && !too_long) {
            tool_refuse(r->args, "there is no position");
            continue;
        }
        if (text.len > 0)
            buf_putc(&text, '\n');
        buf_puts(&text, line);
        if (fen4_goes_on(&text) && !too_long && !in->is_over && text.len < FEN4_TEXT_MAX)
            continue;
        record_clear(r);
        if (fen4_parse(&variant, text.data, text.len, &r->start, &error) != FEN4_OK) {
            fen4_error_sentence(&error, sentence, sizeof sentence);
            tool_refuse(r->args, "%s", sentence);
        } else {
            r->last = r->start;
            r->ending.result = (enum result)r->start.result;
            r->ending.cause = (enum cause)r->start.cause;
            record_write(r);
        }
        buf_clear(&text);
    }
    if (text.len > 0) {
        (void)fen4_parse(&variant, text.data, text.len, &r->start, &error);
        fen4_error_sentence(&error, sentence, sizeof sentence);
        tool_refuse(r->args, "%s", sentence);
    }
    status = tool_finish(r->args, in);
out:
    buf_release(&text);
    input_free(in);
    return status;
}

static int convert_native(struct record *r)
{
    struct tool_input *in = input_new();
    char sentence[SENTENCE_MAX], *line;
    bool too_long = false;
    int status;

    if (in == NULL)
        return cli_fail(CLI_FAILED, "out of memory");
    while ((line = input_line(in, &too_long)) != NULL) {
        record_clear(r);
        if (too_long)
            tool_refuse(r->args, "the line is longer than %d bytes", LINE_MAX_BYTES);
        else if (!record_read_native(r, line, sentence))
            tool_refuse(r->args, "%s", sentence);
        else
            record_write(r);
    }
    status = tool_finish(r->args, in);
    input_free(in);
    return status;
}

static bool read_form(const char *text, enum form *ret)
{
    for (int form = 0; text != NULL && form < FORMS; form++) {
        if (str_eq(text, form_names[form])) {
            *ret = (enum form)form;
            return true;
        }
    }
    return false;
}

int tool_convert(struct tool_args *args)
{
    struct record r = {.args = args, .corners = FEN4_CORNERS_X};
    enum form from = FORM_NATIVE;
    const char *corners = args->value[OPT_CORNERS];
    int status;

    if (!read_form(args->value[OPT_FROM], &from) || !read_form(args->value[OPT_TO], &r.to))
        return cli_fail(CLI_USAGE, "rules convert: --from and --to are each needed, with native, "
                                   "fen4 or pgn4");
    if (corners != NULL && !str_eq(corners, "x") && !str_eq(corners, "empties"))
        return cli_fail(CLI_USAGE, "rules convert: --corners \"%s\" is neither x nor empties",
                        corners);
    if (from == FORM_FEN4 && args->variants > 1)
        return cli_fail(CLI_USAGE, "rules convert: FEN4 does not say the game, so only one "
                                   "--variant can hold");
    if (corners != NULL && str_eq(corners, "empties"))
        r.corners = FEN4_CORNERS_EMPTIES;
    r.tags = buf_make(GAME_TEXT_MAX);
    r.text = buf_make(GAME_TEXT_MAX);
    status = from == FORM_PGN4   ? convert_pgn4(&r)
             : from == FORM_FEN4 ? convert_fen4(&r)
                                 : convert_native(&r);
    buf_release(&r.tags);
    buf_release(&r.text);
    free(r.item);
    return status;
}

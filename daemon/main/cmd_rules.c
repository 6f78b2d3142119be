#include "main/cmd_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "clock/clock.h"
#include "main/cli.h"
#include "rules/fen4.h"
#include "rules/notation.h"
#include "rules/perft.h"
#include "rules/pgn4.h"
#include "rules/rules.h"
#include "rules/show.h"

enum {
    LINE_MAX_BYTES = 1 << 20, /* of one line of input */
    GAME_ITEMS_MAX = 100000,  /* moves, leavings and comments of one game */
    GAME_TEXT_MAX = 8 << 20,  /* bytes of its tags and comments, or of a game line */
    SENTENCE_MAX = 512
};

/* ---------------------------------------------------------------- options */

enum option { OPT_VARIANT, OPT_DIVIDE, OPT_EACH, OPT_SPOKEN, OPT_SIDE, OPT_NARROW, OPT_WIDTH,
              OPT_NO_LEGEND, OPT_FROM, OPT_TO, OPT_CORNERS, OPT_FINAL, OPTIONS };

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

struct tool;

struct args {
    const struct tool *tool;
    const char *value[OPTIONS]; /* "" for one without a value that is given */
    struct variant variant[GAMES];
    int variants;
    const char *operand[16];
    int operands;
    bool has_failed; /* a line was refused or disagreed */
};

struct tool {
    const char *name, *operands, *summary, *details;
    unsigned options; /* bit: enum option */
    int least, most;  /* operands */
    int (*run)(struct args *args);
};

#define BIT(option) (1u << (option))

/* ---------------------------------------------------------------- lines of input */

struct input {
    char block[1 << 16];
    size_t from, to;
    struct buf line;
    long number;
    bool is_over, has_failed;
};

static struct input *input_new(void)
{
    struct input *in = malloc(sizeof *in);

    if (in == NULL)
        return NULL;
    in->from = in->to = 0;
    in->number = 0;
    in->is_over = in->has_failed = false;
    in->line = buf_make(LINE_MAX_BYTES);
    return in;
}
static void input_free(struct input *in)
{
    if (in == NULL)
        return;
    buf_release(&in->line);
    free(in);
}

/* More bytes; what was answered goes out first, so that a program that waits for it gets it. */
static bool input_fill(struct input *in)
{
    ssize_t n;

    if (in->is_over)
        return false;
    fflush(stdout);
    do
        n = read(STDIN_FILENO, in->block, sizeof in->block);
    while (n < 0 && errno == EINTR);
    if (n <= 0) {
        if (n < 0) {
            cli_fail(CLI_FAILED, "standard input: %s", strerror(errno));
            in->has_failed = true;
        }
        in->is_over = true;
        return false;
    }
    in->from = 0;
    in->to = (size_t)n;
    return true;
}

/* The next line without its end; NULL at the end of the input.  A line that is too long comes
 * back empty with *ret_too_long. */
static char *input_line(struct input *in, bool *ret_too_long)
{
    bool any = false;

    *ret_too_long = false;
    buf_clear(&in->line);
    for (;;) {
        const char *end;
        size_t n;

        if (in->from == in->to && !input_fill(in)) {
            if (!any)
                return NULL;
            break;
        }
        any = true;
        end = memchr(in->block + in->from, '\n', in->to - in->from);
        n = end != NULL ? (size_t)(end - in->block) - in->from : in->to - in->from;
        buf_add(&in->line, in->block + in->from, n);
        in->from += n + (end != NULL);
        if (end != NULL)
            break;
    }
    in->number++;
    if (buf_failed(&in->line)) {
        buf_clear(&in->line);
        *ret_too_long = true;
    }
    if (in->line.len > 0 && in->line.data[in->line.len - 1] == '\r')
        in->line.data[--in->line.len] = '\0';
    if (strlen(in->line.data) != in->line.len)
        in->line.data[0] = '\0'; /* a NUL among text: nothing that can be read */
    return in->line.data;
}

static void refuse(struct args *args, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void refuse(struct args *args, const char *fmt, ...)
{
    va_list list;

    args->has_failed = true;
    fputs("! ", stdout);
    va_start(list, fmt);
    vprintf(fmt, list);
    va_end(list);
    putchar('\n');
}

static int finish(const struct args *args, const struct input *in)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_fail(CLI_FAILED, "standard output: %s", strerror(errno));
    return args->has_failed || (in != NULL && in->has_failed) ? CLI_FAILED : CLI_OK;
}

/* Calls answer() for every line. */
static int each_line(struct args *args, void (*answer)(struct args *args, char *line))
{
    struct input *in = input_new();
    char *line;
    bool too_long = false;
    int status;

    if (in == NULL)
        return cli_fail(CLI_FAILED, "out of memory");
    while ((line = input_line(in, &too_long)) != NULL) {
        if (too_long)
            refuse(args, "the line is longer than %d bytes", LINE_MAX_BYTES);
        else
            answer(args, line);
    }
    status = finish(args, in);
    input_free(in);
    return status;
}

/* ---------------------------------------------------------------- positions and moves in lines */

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (*text == ' ' || *text == '\t')
        text++;
    while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
        *--end = '\0';
    return text;
}

/* Cuts text at the first '|': what is before it, trimmed; *ret_rest what is behind, or NULL. */
static char *cut_column(char *text, char **ret_rest)
{
    char *bar = strchr(text, '|');

    *ret_rest = NULL;
    if (bar != NULL) {
        *bar = '\0';
        *ret_rest = trim(bar + 1);
    }
    return trim(text);
}

/* The variant of a game: as --variant says, or with the usual house rules. */
static void choose_variant(const struct args *args, struct variant *variant)
{
    for (int i = 0; i < args->variants; i++)
        if (args->variant[i].game == variant->game)
            *variant = args->variant[i];
}

/* Reads a position of whichever game; otherwise sentence says why not. */
static bool read_position(const struct args *args, const char *text, struct position *ret,
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
    choose_variant(args, &variant);
    if (position_parse(&variant, text, ret, &error) != POSITION_OK) {
        position_error_sentence(variant.game, &error, sentence, SENTENCE_MAX);
        return false;
    }
    return true;
}

/* What stands where a move would: a move in any notation, or "resign w". */
static bool play_text(struct position *pos, const char *text, struct spoken *ret_spoken,
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

/* ---------------------------------------------------------------- legal */

struct sorted_moves {
    struct move_list list;
    char text[MOVES_MAX][MOVE_COORDINATE_MAX];
};

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The legal moves, sorted by byte, parted by spaces. */
static void legal_text(const struct position *pos, struct buf *out)
{
    static struct sorted_moves sorted; /* the main thread alone runs this */
    int n;

    position_legal_moves(pos, &sorted.list);
    n = sorted.list.count;
    for (int i = 0; i < n; i++)
        move_print_coordinate(sorted.list.at[i], sorted.text[i], sizeof sorted.text[i]);
    qsort(sorted.text, (size_t)n, sizeof sorted.text[0], by_text);
    for (int i = 0; i < n; i++) {
        if (i > 0)
            buf_putc(out, ' ');
        buf_puts(out, sorted.text[i]);
    }
}

static void answer_legal(struct args *args, char *line)
{
    struct position pos;
    char sentence[SENTENCE_MAX], *rest = NULL;
    struct buf out = buf_make(LINE_MAX_BYTES);

    if (!read_position(args, cut_column(line, &rest), &pos, sentence)) {
        refuse(args, "%s", sentence);
    } else {
        legal_text(&pos, &out);
        if (buf_failed(&out))
            refuse(args, "out of memory");
        else
            puts(out.data);
    }
    buf_release(&out);
}

static int run_legal(struct args *args)
{
    return each_line(args, answer_legal);
}

/* ---------------------------------------------------------------- play, notation, validate */

/* The move in "POSITION | MOVE" or in a case, "POSITION | LEGAL MOVES | MOVE -> …". */
static char *move_column(char *rest)
{
    char *last = rest, *arrow;

    if (rest == NULL)
        return NULL;
    if (strchr(rest, '|') != NULL)
        last = trim(strrchr(rest, '|') + 1);
    arrow = strstr(last, "->");
    if (arrow != NULL)
        *arrow = '\0';
    return trim(last);
}

static void answer_play(struct args *args, char *line)
{
    struct position pos;
    char sentence[SENTENCE_MAX], *rest = NULL, *position = cut_column(line, &rest);

    rest = move_column(rest);
    if (!read_position(args, position, &pos, sentence))
        refuse(args, "%s", sentence);
    else if (rest == NULL)
        refuse(args, "there is no move; a line is POSITION | MOVE");
    else if (!play_text(&pos, rest, NULL, sentence))
        refuse(args, "%s", sentence);
    else
        print_after(&pos);
}

static int run_play(struct args *args)
{
    return each_line(args, answer_play);
}

static void answer_notation(struct args *args, char *line)
{
    struct position pos;
    char sentence[SENTENCE_MAX], *rest = NULL, *position = cut_column(line, &rest);
    char coordinate[MOVE_COORDINATE_MAX], brief[MOVE_SHORT_MAX], said[SPOKEN_MAX];
    struct move_reading reading;
    struct spoken spoken;

    rest = move_column(rest);
    if (!read_position(args, position, &pos, sentence)) {
        refuse(args, "%s", sentence);
    } else if (rest == NULL) {
        refuse(args, "there is no move; a line is POSITION | MOVE");
    } else if (move_read(&pos, rest, strlen(rest), &reading) != READ_MOVE) {
        move_reading_sentence(&pos, &reading, sentence, sizeof sentence);
        refuse(args, "%s: %s", read_verdict_str(reading.code), sentence);
    } else {
        (void)spoken_of_move(&pos, reading.move, &spoken);
        move_print_coordinate(reading.move, coordinate, sizeof coordinate);
        move_print_short(&pos, reading.move, /* marks= */ true, brief, sizeof brief);
        spoken_print(pos.variant.game, &spoken, said, sizeof said);
        printf("%s | %s | %s\n", coordinate, brief, said);
    }
}

static int run_notation(struct args *args)
{
    return each_line(args, answer_notation);
}

static void answer_validate(struct args *args, char *line)
{
    struct position pos;
    struct position_error error;
    char sentence[SENTENCE_MAX], *rest = NULL;

    if (!read_position(args, cut_column(line, &rest), &pos, sentence)) {
        refuse(args, "%s", sentence);
    } else if (position_validate(&pos, &error) != POSITION_OK) {
        position_error_sentence(pos.variant.game, &error, sentence, sizeof sentence);
        refuse(args, "%s", sentence);
    } else {
        printf("ok %016" PRIx64 "\n", pos.hash);
    }
}

static int run_validate(struct args *args)
{
    return each_line(args, answer_validate);
}

/* ---------------------------------------------------------------- perft */

struct division {
    char text[MOVE_COORDINATE_MAX];
    uint64_t count;
};
static int by_move(const void *a, const void *b)
{
    return strcmp(((const struct division *)a)->text, ((const struct division *)b)->text);
}

static int64_t monotonic_ms(void)
{
    struct clock clock = clock_os();

    return clock.read(clock.arg).monotonic_ms;
}

static int divide(const struct position *pos, int depth, enum perft_mode mode, uint64_t *ret_sum)
{
    struct work {
        struct move_list moves;
        uint64_t counts[MOVES_MAX];
        struct division rows[MOVES_MAX];
    } *w = malloc(sizeof *w);

    if (w == NULL)
        return cli_fail(CLI_FAILED, "out of memory");
    *ret_sum = perft_divide(pos, depth, mode, &w->moves, w->counts);
    for (int i = 0; i < w->moves.count; i++) {
        move_print_coordinate(w->moves.at[i], w->rows[i].text, sizeof w->rows[i].text);
        w->rows[i].count = w->counts[i];
    }
    qsort(w->rows, (size_t)w->moves.count, sizeof w->rows[0], by_move);
    for (int i = 0; i < w->moves.count; i++)
        printf("%s %" PRIu64 "\n", w->rows[i].text, w->rows[i].count);
    free(w);
    return CLI_OK;
}

static int run_perft(struct args *args)
{
    struct variant variant;
    struct variant_error error;
    struct position pos;
    char sentence[SENTENCE_MAX];
    int64_t depth = 0, from = 0, ms = 0;
    uint64_t sum = 0;
    enum perft_mode mode = args->value[OPT_EACH] != NULL ? PERFT_EACH : PERFT_BULK;

    if (variant_parse(args->operand[0], &variant, &error) != VARIANT_OK) {
        variant_error_sentence(&error, sentence, sizeof sentence);
        return cli_fail(CLI_USAGE, "rules perft: %s", sentence);
    }
    choose_variant(args, &variant);
    if (!str_to_int64(args->operand[1], args->value[OPT_DIVIDE] != NULL ? 1 : 0, 30, &depth))
        return cli_fail(CLI_USAGE, "rules perft: \"%s\" is no depth from %d to 30",
                        args->operand[1], args->value[OPT_DIVIDE] != NULL ? 1 : 0);
    if (args->operands > 2) {
        /* Eight words, quoted together or not. */
        struct buf text = buf_make(POSITION_TEXT_MAX);
        struct position_error bad;
        bool is_ok;

        for (int i = 2; i < args->operands; i++)
            buf_printf(&text, "%s%s", i > 2 ? " " : "", args->operand[i]);
        is_ok = !buf_failed(&text) &&
                position_parse(&variant, text.data, &pos, &bad) == POSITION_OK;
        if (buf_failed(&text))
            snprintf(sentence, sizeof sentence, "the position is too long");
        else if (!is_ok)
            position_error_sentence(variant.game, &bad, sentence, sizeof sentence);
        buf_release(&text);
        if (!is_ok)
            return cli_fail(CLI_USAGE, "rules perft: %s", sentence);
    } else {
        (void)position_start(&variant, NULL, &pos);
    }
    from = monotonic_ms();
    if (args->value[OPT_DIVIDE] != NULL) {
        if (divide(&pos, (int)depth, mode, &sum) != CLI_OK)
            return CLI_FAILED;
    } else {
        sum = perft(&pos, (int)depth, mode);
    }
    ms = monotonic_ms() - from;
    printf("%" PRIu64 "\n", sum);
    if (ms > 0)
        printf("%" PRIu64 " nodes/s in %" PRId64 ".%03" PRId64 " s (%s, %s)\n",
               (uint64_t)((double)sum * 1000.0 / (double)ms), ms / 1000, ms % 1000,
               mode == PERFT_EACH ? "each leaf made" : "bulk", perft_engine());
    else
        printf("in less than 0.001 s (%s, %s)\n",
               mode == PERFT_EACH ? "each leaf made" : "bulk", perft_engine());
    return finish(args, NULL);
}

/* ---------------------------------------------------------------- show */

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

static void answer_show(struct args *args, char *line)
{
    static char text[SHOW_SPOKEN_MAX * 2]; /* the main thread alone runs this */
    struct show_options how = {.side = SEAT_SOUTH,
                               .is_narrow = args->value[OPT_NARROW] != NULL,
                               .has_legend = args->value[OPT_NO_LEGEND] == NULL};
    struct position pos;
    struct spoken spoken;
    char sentence[SENTENCE_MAX], *rest = NULL, *position = cut_column(line, &rest);
    bool has_move = false;
    int64_t width = how.is_narrow ? 40 : 0;

    if (args->value[OPT_SIDE] != NULL)
        (void)read_side(args->value[OPT_SIDE], &how.side);
    if (args->value[OPT_WIDTH] != NULL)
        (void)str_to_int64(args->value[OPT_WIDTH], 0, 1000, &width);
    rest = move_column(rest);
    memset(&spoken, 0, sizeof spoken);
    if (!read_position(args, position, &pos, sentence) ||
        (rest != NULL && !play_text(&pos, rest, &spoken, sentence))) {
        refuse(args, "%s", sentence);
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

static int run_show(struct args *args)
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
    return each_line(args, answer_show);
}

/* ---------------------------------------------------------------- check */

struct check {
    struct args *args;
    struct input *in;
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
    char *moves = NULL, *play = NULL, *arrow = NULL, *position = cut_column(line, &moves);
    struct buf legal = buf_make(LINE_MAX_BYTES), lack = buf_make(LINE_MAX_BYTES),
               extra = buf_make(LINE_MAX_BYTES);
    bool agrees = false;

    if (moves != NULL)
        moves = cut_column(moves, &play);
    arrow = play != NULL ? strstr(play, "->") : NULL;
    if (moves == NULL || play == NULL || arrow == NULL) {
        disagree(check, "no case; it is POSITION | LEGAL MOVES | MOVE -> POSITION");
        goto out;
    }
    *arrow = '\0';
    play = trim(play);
    arrow = trim(arrow + 2);
    if (!read_position(check->args, position, &pos, sentence)) {
        disagree(check, "position: %s", sentence);
        goto out;
    }
    agrees = true;
    legal_text(&pos, &legal);
    if (!str_eq(legal.data, moves)) {
        missing_words(moves, legal.data, &lack);
        missing_words(legal.data, moves, &extra);
        disagree(check, "moves:%s%s%s%s%s", lack.len > 0 ? " the case has also" : "", lack.data,
                 extra.len > 0 ? " the case lacks" : "", extra.data,
                 lack.len + extra.len == 0 ? " not in order" : "");
        agrees = false;
    }
    if (!play_text(&pos, play, NULL, sentence)) {
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

static int run_check(struct args *args)
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
    status = finish(args, check.in);
    input_free(check.in);
    return status;
}

/* ---------------------------------------------------------------- convert */

enum form { FORM_NATIVE, FORM_FEN4, FORM_PGN4, FORMS };
static const char *const form_names[FORMS] = {"native", "fen4", "pgn4"};

enum item_type { ITEM_MOVE, ITEM_LEAVE, ITEM_COMMENT };
struct item {
    enum item_type type;
    struct move move;
    enum seat seat;
    enum leave_how how;
    size_t text; /* ITEM_COMMENT: where in `text` */
};

/* One game, from whatever form, on its way to another. */
struct record {
    struct args *args;
    enum form to;
    enum fen4_corners corners;
    struct position start, last;
    struct item *item;
    size_t items, room;
    struct buf tags;  /* name NUL value NUL … */
    struct buf text;  /* comments, each ended by NUL */
    struct pgn4_ending ending;
    char termination[256];
    bool has_failed;  /* a limit or memory */
};

static void record_clear(struct record *r)
{
    r->items = 0;
    buf_clear(&r->tags);
    buf_clear(&r->text);
    r->ending = (struct pgn4_ending){.result = RESULT_NONE};
    r->termination[0] = '\0';
    r->has_failed = false;
}

static bool record_add(struct record *r, struct item item)
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
    cause = trim(cause);
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
    while (*(text = trim(text)) != '\0') {
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

/* "POSITION", or "POSITION | MOVE MOVE … -> RESULT CAUSE". */
static bool record_native(struct record *r, char *line, char sentence[SENTENCE_MAX])
{
    char *moves = NULL, *position = cut_column(line, &moves);
    char *arrow = moves != NULL ? strstr(moves, "->") : NULL;

    if (!read_position(r->args, position, &r->start, sentence))
        return false;
    r->last = r->start;
    if (arrow != NULL) {
        *arrow = '\0';
        if (!read_ending(trim(arrow + 2), &r->ending)) {
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
        refuse(r->args, "FEN4 cannot say a position of %s", game_name(r->last.variant.game));
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

static void write_record(struct record *r)
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

/* ---- from PGN4 */

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
    write_record(r);
    record_clear(r);
    return true;
}

static int convert_pgn4(struct record *r)
{
    struct pgn4_handler handler = {on_tag, on_start, on_move, on_leave, on_comment, on_end, r};
    static struct pgn4_reader reader; /* the main thread alone runs this */
    struct input *in = input_new();
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
    status = finish(r->args, in);
    input_free(in);
    return status;
}

/* ---- from FEN4: a position may run over several lines */

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
    struct input *in = input_new();
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
            refuse(r->args, "there is no position");
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
            refuse(r->args, "%s", sentence);
        } else {
            r->last = r->start;
            r->ending.result = (enum result)r->start.result;
            r->ending.cause = (enum cause)r->start.cause;
            write_record(r);
        }
        buf_clear(&text);
    }
    if (text.len > 0) {
        (void)fen4_parse(&variant, text.data, text.len, &r->start, &error);
        fen4_error_sentence(&error, sentence, sizeof sentence);
        refuse(r->args, "%s", sentence);
    }
    status = finish(r->args, in);
out:
    buf_release(&text);
    input_free(in);
    return status;
}

static int convert_native(struct record *r)
{
    struct input *in = input_new();
    char sentence[SENTENCE_MAX], *line;
    bool too_long = false;
    int status;

    if (in == NULL)
        return cli_fail(CLI_FAILED, "out of memory");
    while ((line = input_line(in, &too_long)) != NULL) {
        record_clear(r);
        if (too_long)
            refuse(r->args, "the line is longer than %d bytes", LINE_MAX_BYTES);
        else if (!record_native(r, line, sentence))
            refuse(r->args, "%s", sentence);
        else
            write_record(r);
    }
    status = finish(r->args, in);
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

static int run_convert(struct args *args)
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

/* ---------------------------------------------------------------- the table of tools */

static const struct tool tools[] = {
    {"legal", "", "the legal moves of positions",
     "A line is a position.  The answer is its legal moves, sorted by byte, parted by spaces;\n"
     "an empty line when there are none.  What stands behind a | is not read.\n",
     BIT(OPT_VARIANT), 0, 0, run_legal},
    {"play", "", "plays moves",
     "A line is POSITION | MOVE or POSITION | resign COLOUR (or forfeit COLOUR).  The answer is\n"
     "the position after it, or team0, team1 or draw when that ends the game.  A move may be\n"
     "written in any way that means one legal move: e2e3, e2-e3, Nf3, exd4, O-O, k13l14=Q.\n",
     BIT(OPT_VARIANT), 0, 0, run_play},
    {"notation", "", "reads and writes moves",
     "A line is POSITION | MOVE.  The answer is the move by its squares, in short algebraic and\n"
     "in words, parted by |.\n",
     BIT(OPT_VARIANT), 0, 0, run_notation},
    {"validate", "", "could a game stand so?",
     "A line is a position.  The answer is ok and the position's hash, or what is wrong.\n",
     BIT(OPT_VARIANT), 0, 0, run_validate},
    {"perft", "GAME DEPTH [POSITION]", "counts lines of legal moves",
     "Prints how many lines of DEPTH moves there are from the array, or from POSITION, and how\n"
     "fast they were counted.  GAME may have house rules: \"verney inert=capturable\".\n",
     BIT(OPT_DIVIDE) | BIT(OPT_EACH), 2, 10, run_perft},
    {"show", "", "positions for eyes and ears",
     "A line is POSITION or POSITION | MOVE; the answer is the board (after the move, which is\n"
     "marked: from ( ) to [ ]), or sentences about it, and an empty line.\n",
     BIT(OPT_VARIANT) | BIT(OPT_SPOKEN) | BIT(OPT_SIDE) | BIT(OPT_NARROW) | BIT(OPT_WIDTH) |
         BIT(OPT_NO_LEGEND),
     0, 0, run_show},
    {"check", "", "compares worked cases with the rules",
     "A line is POSITION | LEGAL MOVES | MOVE -> POSITION AFTER (or team0, team1, draw); empty\n"
     "lines and those that begin with # are left out.  Each disagreement is a line with its\n"
     "number; the last line counts.\n",
     BIT(OPT_VARIANT), 0, 0, run_check},
    {"convert", "", "between our text, FEN4 and PGN4",
     "native is a line POSITION, or POSITION | MOVE MOVE … -> RESULT CAUSE for a game.  A FEN4\n"
     "is read as a position of teams, or of the one --variant that is given; it may run over\n"
     "several lines.  PGN4 says its game itself.\n",
     BIT(OPT_VARIANT) | BIT(OPT_FROM) | BIT(OPT_TO) | BIT(OPT_CORNERS) | BIT(OPT_FINAL), 0, 0,
     run_convert},
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
static enum option read_option(const struct tool *tool, int argc, char **argv, int *i,
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
        return (enum option)option;
    }
    cli_fail(CLI_USAGE, "rules %s: there is no option \"%s\"; --help lists them", tool->name, text);
    return OPTIONS;
}

static int add_variant(struct args *args, const char *text)
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
    struct args args = {.operands = 0};
    bool only_operands = false;

    if (argc < 2)
        return cli_fail(CLI_USAGE, "rules: a tool is missing; fourhanded rules --help lists them");
    if (str_eq(argv[1], "--help") || str_eq(argv[1], "-h")) {
        help_all();
        return finish(&args, NULL);
    }
    for (size_t i = 0; i < COUNT_OF(tools); i++)
        if (str_eq(tools[i].name, argv[1]))
            args.tool = &tools[i];
    if (args.tool == NULL)
        return cli_fail(CLI_USAGE, "rules: there is no tool \"%s\"; fourhanded rules --help lists "
                                   "them", argv[1]);
    for (int i = 2; i < argc; i++) {
        const char *value = NULL;
        enum option option;

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
            return finish(&args, NULL);
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

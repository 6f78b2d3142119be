/* main/tool_perft.c - rules perft. */
#include "main/tool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "clock/clock.h"
#include "main/cli.h"
#include "rules/notation.h"
#include "rules/perft.h"
#include "rules/rules.h"

struct division {
    char text[MOVE_COORDINATE_MAX]; /* stands first: str_compare() sorts by it */
    uint64_t count;
};

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
    qsort(w->rows, (size_t)w->moves.count, sizeof w->rows[0], str_compare);
    for (int i = 0; i < w->moves.count; i++)
        printf("%s %" PRIu64 "\n", w->rows[i].text, w->rows[i].count);
    free(w);
    return CLI_OK;
}

int tool_perft(struct tool_args *args)
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
    tool_choose_variant(args, &variant);
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
    return tool_finish(args, NULL);
}

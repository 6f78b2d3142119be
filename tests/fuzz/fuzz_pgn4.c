/* A PGN4, in pieces; a game that is read is written and read again, and is the same. */
#include "fuzz.h"

enum { STEPS_MAX = 512, PAGE_MAX = 1 << 17 };

struct game {
    struct position start, last;
    struct {
        bool leaves;
        struct move move;
        enum seat seat;
        enum leave_how how;
    } step[STEPS_MAX];
    int steps;
    struct pgn4_ending ending;
    bool is_whole;
    int games;
};

static bool on_start(void *arg, const struct position *start)
{
    struct game *g = arg;

    g->start = *start;
    g->steps = 0;
    g->is_whole = true;
    must(position_is_ok(start));
    return true;
}
static bool on_move(void *arg, const struct position *before, struct move move,
                    const struct outcome *outcome, const struct position *after)
{
    struct game *g = arg;

    must(outcome->count > 0 && position_judge_move(before, move, NULL) == MOVE_LEGAL);
    must(position_is_ok(after));
    if (g->steps == STEPS_MAX) {
        g->is_whole = false;
        return true;
    }
    g->step[g->steps].leaves = false;
    g->step[g->steps++].move = move;
    return true;
}
static bool on_leave(void *arg, enum seat seat, enum leave_how how, const struct outcome *outcome,
                     const struct position *after)
{
    struct game *g = arg;

    must(outcome->count > 0 && position_is_ok(after));
    if (g->steps == STEPS_MAX) {
        g->is_whole = false;
        return true;
    }
    g->step[g->steps].leaves = true;
    g->step[g->steps].seat = seat;
    g->step[g->steps++].how = how;
    return true;
}
static bool on_end(void *arg, const struct pgn4_result *result, const struct position *last)
{
    struct game *g = arg;

    g->last = *last;
    g->ending = (struct pgn4_ending){.result = result->result, .cause = result->cause,
                                     .is_aborted = result->is_aborted};
    g->games++;
    return true;
}

static char page[PAGE_MAX];
static size_t page_length;

static bool to_page(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    if (n > sizeof page - page_length)
        return false;
    memcpy(page + page_length, bytes, n);
    page_length += n;
    return true;
}

static enum pgn4_verdict listen(const char *text, size_t n, size_t piece, struct game *game)
{
    static struct pgn4_reader reader;
    const struct pgn4_handler handler = {.start = on_start, .move = on_move, .leave = on_leave,
                                         .end = on_end, .arg = game};
    enum pgn4_verdict verdict = PGN4_OK;
    char sentence[PGN4_SENTENCE_MAX];

    game->games = 0;
    game->is_whole = false;
    pgn4_reader_start(&reader, &handler);
    for (size_t i = 0; i < n && verdict == PGN4_OK; i += piece)
        verdict = pgn4_read(&reader, text + i, n - i < piece ? n - i : piece);
    if (verdict == PGN4_OK)
        verdict = pgn4_read_end(&reader);
    must(verdict == reader.error.code);
    if (verdict != PGN4_OK)
        must(pgn4_error_sentence(&reader.error, sentence, sizeof sentence) < sizeof sentence);
    return verdict;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct game game, again;
    struct pgn4_writer w;

    if (listen((const char *)data, size, 1 + size % 61, &game) != PGN4_OK || !game.is_whole)
        return 0;
    page_length = 0;
    pgn4_writer_start(&w, to_page, NULL, &game.ending);
    pgn4_write_position(&w, &game.start);
    for (int i = 0; i < game.steps; i++) {
        if (game.step[i].leaves)
            must(pgn4_write_leave(&w, game.step[i].seat, game.step[i].how));
        else
            must(pgn4_write_move(&w, game.step[i].move));
    }
    must(pgn4_write_end(&w));
    must(listen(page, page_length, 1000, &again) == PGN4_OK);
    must(again.games == 1 && again.steps == game.steps);
    must(fuzz_position_same(&again.start, &game.start));
    must(fuzz_position_same(&again.last, &game.last));
    must(again.ending.result == game.ending.result && again.ending.cause == game.ending.cause);
    return 0;
}

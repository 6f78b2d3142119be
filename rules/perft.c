/*
 * rules/perft.c - counts lines; the work is the engine's.
 */
#include "rules/perft.h"

#include <assert.h>

#include "rules/engine.h"
#include "rules/state.h"

uint64_t perft(const struct position *pos, int depth, enum perft_mode mode)
{
    struct position work = *pos;

    assert(depth >= 0);
    if (depth == 0)
        return 1;
    if (position_is_over(pos))
        return 0;
    return engine()->perft(&work, depth, mode == PERFT_EACH);
}

uint64_t perft_divide(const struct position *pos, int depth, enum perft_mode mode,
                      struct move_list *ret_moves, uint64_t ret_counts[MOVES_MAX])
{
    uint64_t sum = 0;

    assert(depth >= 1);
    position_legal_moves(pos, ret_moves);
    for (int i = 0; i < ret_moves->count; i++) {
        struct position work = *pos;
        struct undo undo;

        engine()->make(&work, ret_moves->at[i], &undo);
        position_settle(&work, (enum seat)pos->turn);
        ret_counts[i] = perft(&work, depth - 1, mode);
        sum += ret_counts[i];
    }
    return sum;
}

const char *perft_engine(void)
{
    return engine()->name;
}

/*
 * rules/perft.h - counts lines of legal moves, to prove and to measure the rules.
 *
 * perft(pos, d) = how many lines of d legal moves start from the position; a line that ends the
 * game before d moves counts nothing.  Positions between the moves are settled as play settles
 * them; the last move of a line needs no settling.  PERFT_EACH makes and unmakes the last move of
 * every line; PERFT_BULK only counts it.
 *
 * Ownership: the position is the caller's and is not changed.  Threads: any.  Time: not read.
 */
#ifndef RULES_PERFT_H
#define RULES_PERFT_H

#include "rules/rules.h"

enum perft_mode { PERFT_BULK, PERFT_EACH };

/* depth >= 0; perft of depth 0 is 1. */
uint64_t perft(const struct position *pos, int depth, enum perft_mode mode);

/* The same by first move: *ret_moves are the legal moves, ret_counts[i] the lines that begin with
 * ret_moves->at[i]; returns their sum.  depth >= 1. */
uint64_t perft_divide(const struct position *pos, int depth, enum perft_mode mode,
                      struct move_list *ret_moves, uint64_t ret_counts[MOVES_MAX]);

/* Which build of the move generator this machine runs: "avx512", "avx2" or "plain". */
const char *perft_engine(void);

#endif

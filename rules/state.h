/*
 * rules/state.h - changes of a position's state that keep its hash true.
 *
 * Purpose: inside rules/.  Each function changes one thing and the hash with it; none looks for
 * consequences.  Threads: the position is the caller's.
 */
#ifndef RULES_STATE_H
#define RULES_STATE_H

#include "rules/rules.h"

static inline void board_toggle(struct board *board, int square)
{
    board->word[square >> 6] ^= UINT64_C(1) << (square & 63);
}

void position_condition(struct position *pos, enum seat seat, enum condition condition);
void position_end_rights(struct position *pos, enum seat seat); /* castling */
void position_end_passed(struct position *pos, enum seat seat); /* en passant */
void position_turn(struct position *pos, enum seat seat);

/*
 * After a move of `mover` has been made on the board: finds the new conditions, whose turn it is,
 * and whether the game is over (R-V16, R-V17, R-V20, R-F14 – R-F17, R-M3).
 */
void position_settle(struct position *pos, enum seat mover);

#endif

/*
 * rules/play.h - questions of the engine to the slow part of the rules.
 *
 * Purpose: inside rules/.  Threads: any.  Ownership: the caller's.
 */
#ifndef RULES_PLAY_H
#define RULES_PLAY_H

#include "rules/rules.h"

/* R-V14: would the seat that is mated now still be so after the move, when R-V16 (1) and (2) are
 * done?  `live` = the seats that count as live now.  It may ask the engine, which asks it again; at
 * each turn a man less stands on the board. */
bool play_mate_holds(const struct position *pos, struct move move, enum seat mated, unsigned live);

#endif

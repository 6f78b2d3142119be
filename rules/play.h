/*
 * rules/play.h - questions of the engine to the slow part of the rules.
 *
 * Purpose: inside rules/.  Threads: any.  Ownership: the caller's.
 */
#ifndef RULES_PLAY_H
#define RULES_PLAY_H

#include "rules/rules.h"

/* R-V14: after the move, would the mated seat still be mated, by the live seats of now? */
bool play_mate_holds(const struct position *pos, struct move move, enum seat mated, unsigned live);

#endif

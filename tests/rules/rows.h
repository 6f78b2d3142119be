/*
 * tests/rules/rows.h - tests of the rules of play, a row each.
 *
 * A row is a position made by hand, one move (or resignation) and what must come of it.  rows_run()
 * makes one cmocka test of every row, with the row's sentence for its name, and names the row's
 * rules (rule.h) when it has passed.  The same is tried with every build of the engine.
 *
 *   men    "wKh1 rKa8 …"   colour, letter, square
 *   state  "w aaaa"        turn and conditions; then, if need be, castling and en passant as R-T1
 *   move   "e2e3", "d10d11q" or "resign w"
 *   says   "legal", or the code word of move_verdict_str(), and then, if it matters, the square of
 *          the man (or the wall) that is to blame: "opens-check e2"
 *   after  men that must stand, "wVe14", and squares that must be empty, "-e13"; or NULL
 *   then   "r amaa": turn and conditions after, or "team0", "team1", "draw"; or NULL
 *   events words of event_type_str(), with ":r" for the colour of the seat: "mated:r turned"; every
 *          one must be among the events; "!mated" must not; or NULL
 */
#ifndef TESTS_RULES_ROWS_H
#define TESTS_RULES_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rules/rules.h"

struct row {
    const char *rules, *sentence, *variant, *men, *state, *move, *says, *after, *then, *events;
};

int rows_run(const char *group, const struct row *rows, size_t count);

/* A position of the variant with those men and that state; fails the test if it cannot be. */
struct position row_position(const char *variant, const char *men, const char *state);

/* Reads "e2e3" or "d10d11q". */
struct move row_move(const char *text);

/* All legal moves, sorted, parted by blanks.  The string lasts until the next call. */
const char *row_moves(const struct position *pos);

/* Names each of the rules "R-V1 R-V2". */
void row_rules(const char *rules);

#endif

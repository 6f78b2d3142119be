/*
 * plain/scatter.h - positions and moves by chance, chosen so that rare things happen.
 *
 * Purpose:   a game from the array seldom sees a mate, a leap or a passed-over seat within a few
 *            hundred plies.  Here armies are thinned or a few men strewn on the board, kings often
 *            at the edge, pawns where they soon meet, capture or turn.
 * Calling:   struct scatter s; scatter_seed(&s, 1); scatter_position(&s, game, house, &p);
 *            then scatter_move() picks among the legal moves, with a liking for the rare ones.
 * Chance:    comes from the seed alone (splitmix64); the same seed gives the same run everywhere.
 * Ownership: all structs are the caller's.  Threads: any.  Time: not read.
 */
#ifndef FH_TESTS_SCATTER_H
#define FH_TESTS_SCATTER_H

#include "plain/plain.h"

#include <stdint.h>

struct scatter {
    uint64_t state;
};

void scatter_seed(struct scatter *s, uint64_t seed);
uint32_t scatter_below(struct scatter *s, uint32_t n); /* 0 .. n-1, n > 0 */
bool scatter_chance(struct scatter *s, unsigned percent);

/* A position in which the seat on turn has a legal move and whoever is mated is said to be. */
void scatter_position(struct scatter *s, enum plain_game game, struct plain_house house,
                      struct plain_position *ret);

/* What a move does that is seen from the men alone. */
struct deed {
    bool capture, en_passant, leap, double_step, castling, promotion, turning;
    bool inert_capture; /* of a man of a mated army */
};
struct deed deed_of(const struct plain_position *before, const struct plain_move *m);

/* One of the n > 0 legal moves. */
size_t scatter_move(struct scatter *s, const struct plain_position *p,
                    const struct plain_move *moves, size_t n);

#endif

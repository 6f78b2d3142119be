/*
 * rules/engine.h - the part that is worth being fast: attacks, moves, make and unmake.
 *
 * Purpose: inside rules/.  One source, engine_impl.h, is compiled for plain machines, for AVX2 and
 * for AVX-512; engine() picks at run time.  All builds give the same answers in the same order.
 *
 * Seats and conditions are arguments here, not read from the position: so a seat can be judged
 * as if it were its turn (R-V12), by other conditions than the position's (R-V16).  `live` has
 * a bit for every live seat; the men of the others block and do nothing else.
 *
 * Threads: any; no state.  Ownership: the caller's.  No errors: callers pass sound positions.
 */
#ifndef RULES_ENGINE_H
#define RULES_ENGINE_H

#include "rules/rules.h"

/* The part of a position that is not men, as it was before a move, and what the move took. */
struct undo {
    uint64_t hash;
    uint8_t king[SEATS];
    uint8_t passed[SEATS];
    uint8_t has_king, passed_by, castling, turn;
    uint8_t condition[SEATS];
    uint8_t live, result, cause;
    uint16_t count;
    uint32_t ply;
    uint8_t man;      /* that moved, as it was */
    uint8_t captured; /* MAN_NONE, or what stood on captured_at */
    uint8_t captured_at;
};

struct engine {
    const char *name;
    /* Legal moves of a seat; generate() returns how many it wrote, at most MOVES_MAX. */
    int (*count)(const struct position *pos, enum seat seat, unsigned live);
    int (*generate)(const struct position *pos, enum seat seat, unsigned live,
                    struct move *ret_moves);
    /* Does a man of the live enemies of the seat attack the square? */
    bool (*attacked)(const struct position *pos, int square, enum seat seat, unsigned live);
    /* The men, castling rights, chance, COUNT and PLY after a legal move; turn and conditions
     * stay.  unmake() restores every bit. */
    void (*make)(struct position *pos, struct move move, struct undo *ret_undo);
    void (*unmake)(struct position *pos, struct move move, const struct undo *undo);
    uint64_t (*perft)(struct position *pos, int depth, bool each);
};

/* With RULES_PLAIN_ONLY (for tests of the rules alone) only the plain one is built. */
#if defined(__x86_64__) && !defined(RULES_PLAIN_ONLY)
#define RULES_X86_64 1
#endif

extern const struct engine engine_plain;
#if defined(RULES_X86_64)
extern const struct engine engine_avx2, engine_avx512;
#endif

/* The best one for this machine. */
const struct engine *engine(void);

/* Forces one of them (tests, benchmarks); false if this machine cannot run it.  Not for use
 * while another thread is inside the library. */
bool engine_choose(const char *name);

/* Is the seat mated by R-V12, if `live` holds (the seat itself counts as live)? */
static inline bool engine_mated(const struct position *pos, enum seat seat, unsigned live)
{
    const struct engine *e = engine();

    return (pos->has_king >> seat & 1u) != 0 && e->attacked(pos, pos->king[seat], seat, live) &&
           e->count(pos, seat, live | 1u << seat) == 0;
}

#endif

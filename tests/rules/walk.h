/*
 * tests/rules/walk.h - games played at random, the same in every run.
 *
 * walk_start() begins a game of the variant; walk_step() plays one legal move, or now and then has
 * a seat leave, and says what it did; false when the game is over.  Numbers come from splitmix64.
 */
#ifndef TESTS_RULES_WALK_H
#define TESTS_RULES_WALK_H

#include "rules/rules.h"

struct walk {
    uint64_t seed;
    struct position pos;
};

struct step {
    bool leaves;
    struct move move;
    enum seat seat;
    enum leave_how how;
};

/* Games with every house rule that changes play. */
static const char *const walk_variants[] = {"verney",
                                            "verney inert=capturable promotion=any",
                                            "verney queens=left",
                                            "fortress reserve=usual",
                                            "fortress",
                                            "teams"};
enum { WALK_VARIANTS = sizeof walk_variants / sizeof walk_variants[0] };

static inline uint32_t walk_number(struct walk *walk, uint32_t below)
{
    uint64_t z = (walk->seed += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) % below);
}

static inline bool walk_start(struct walk *walk, const char *variant_text, uint64_t seed)
{
    struct variant variant;
    struct reserve reserve[SEATS];

    walk->seed = seed;
    if (variant_parse(variant_text, &variant, NULL) != VARIANT_OK)
        return false;
    for (int seat = 0; seat < SEATS; seat++) {
        struct board squares;
        uint8_t bytes[RESERVE_RANDOM_BYTES];

        for (int i = 0; i < RESERVE_RANDOM_BYTES; i++)
            bytes[i] = (uint8_t)walk_number(walk, 256);
        if (game_reserve_squares(variant.game, (enum seat)seat, &squares))
            reserve_draw(variant.game, (enum seat)seat, bytes, &reserve[seat]);
    }
    return position_start(&variant, reserve, &walk->pos) == RESERVE_OK;
}

/* Captures are taken more often than chance would, so that games come to an end. */
static inline bool walk_step(struct walk *walk, struct step *ret_step)
{
    struct move_list moves;
    struct step step = {.leaves = false};

    if (position_is_over(&walk->pos))
        return false;
    if (walk_number(walk, 300) == 0) {
        step.leaves = true;
        step.seat = (enum seat)walk_number(walk, SEATS);
        step.how = step.seat == (enum seat)walk->pos.turn && walk_number(walk, 2) == 0
                       ? LEAVE_FORFEIT
                       : LEAVE_RESIGN;
        if (walk->pos.condition[step.seat] != CONDITION_ABSENT) {
            (void)position_leave(&walk->pos, step.seat, step.how, NULL);
            *ret_step = step;
            return true;
        }
        step.leaves = false;
    }
    position_legal_moves(&walk->pos, &moves);
    if (moves.count == 0)
        return false;
    for (int tries = 0; tries < 4; tries++) {
        step.move = moves.at[walk_number(walk, (uint32_t)moves.count)];
        if (walk->pos.men[step.move.to] != MAN_NONE)
            break;
    }
    (void)position_play(&walk->pos, step.move, NULL, NULL);
    *ret_step = step;
    return true;
}

#endif

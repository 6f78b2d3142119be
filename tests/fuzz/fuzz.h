/*
 * tests/fuzz/fuzz.h - what the fuzzers of the rules library share.
 *
 * must() is an assertion that holds whatever the build: a broken promise is a crash, and the
 * fuzzer keeps the input.  fuzz_position_use() calls everything that can be asked of a position.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/fen4.h"
#include "rules/notation.h"
#include "rules/pgn4.h"
#include "rules/rules.h"
#include "rules/show.h"

#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same in every field (not in the padding between them). */
static inline bool fuzz_position_same(const struct position *a, const struct position *b)
{
    static char text[2][POSITION_TEXT_MAX + 1];

    position_print(a, text[0], sizeof text[0]);
    position_print(b, text[1], sizeof text[1]);
    return strcmp(text[0], text[1]) == 0 && a->hash == b->hash && a->result == b->result &&
           a->cause == b->cause && variant_is_equal(&a->variant, &b->variant);
}

/* Everything that only looks, on whatever position there is. */
static inline void fuzz_position_use(const struct position *pos)
{
    static char text[SHOW_SPOKEN_MAX * 2];
    static struct move_list moves;
    struct position_error error;
    const struct show_options options = {.side = (enum seat)(pos->ply & 3u),
                                         .is_narrow = (pos->count & 1u) != 0,
                                         .has_legend = true};

    must(position_is_ok(pos));
    (void)position_validate(pos, &error);
    (void)position_error_sentence(pos->variant.game, &error, text, sizeof text);
    position_legal_moves(pos, &moves);
    must(moves.count == position_count_moves(pos));
    must(moves.count <= MOVES_MAX);
    must(show_board(pos, &options, text, sizeof text) < SHOW_BOARD_MAX);
    must(show_spoken(pos, NULL, 40, text, sizeof text) < SHOW_SPOKEN_MAX);
    if (fen4_has_game(pos->variant.game))
        must(fen4_print(pos, FEN4_CORNERS_X, text, sizeof text) <= FEN4_TEXT_MAX);
    for (int i = 0; i < moves.count; i += 1 + moves.count / 8) {
        struct position after = *pos;
        struct move_reading reading;
        struct spoken spoken;

        must(spoken_of_move(pos, moves.at[i], &spoken) == MOVE_LEGAL);
        must(spoken_print(pos->variant.game, &spoken, text, sizeof text) < SPOKEN_MAX);
        must(move_print_short(pos, moves.at[i], true, text, sizeof text) < MOVE_SHORT_MAX);
        must(move_read(pos, text, strlen(text), &reading) == READ_MOVE);
        must(move_is_same(reading.move, moves.at[i]));
        must(move_print_long(pos, moves.at[i], text, sizeof text) < MOVE_LONG_MAX);
        must(move_read(pos, text, strlen(text), &reading) == READ_MOVE);
        must(move_is_same(reading.move, moves.at[i]));
        must(position_play(&after, moves.at[i], NULL, NULL) == MOVE_LEGAL);
        must(position_is_ok(&after));
    }
}

#endif

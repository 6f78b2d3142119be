/*
 * tests/rules/test_verney.c - Verney's game, rule by rule.
 */
#include <string.h>

#include "rows.h"
#include "support/rule.h"

#define KINGS "wKh1 rKa8 yKg14 bKn7 "

static const struct row rows[] = {
    /* ---- moving */
    {"R-C1", "a rook goes along rank and file", "verney", KINGS "wRe5", "w aaaa", "e5e12", "legal",
     "wRe12 -e5", "r aaaa", "moved:w"},
    {"R-C1", "a rook does not go diagonally", "verney", KINGS "wRe5", "w aaaa", "e5f6",
     "not-its-way", NULL, NULL, NULL},
    {"R-C1", "a knight does not go straight", "verney", KINGS "wNe5", "w aaaa", "e5e7",
     "not-its-way", NULL, NULL, NULL},
    {"R-C1", "a king goes one square", "verney", KINGS, "w aaaa", "h1h3", "no-castling", NULL, NULL,
     NULL},
    {"R-C1", "a man in between stops a slider", "verney", KINGS "wRe5 wPe7", "w aaaa", "e5e9",
     "way-blocked e7", NULL, NULL, NULL},
    {"R-C1", "an enemy's man is captured by going to its square", "verney", KINGS "wRe5 rNe9",
     "w aaaa", "e5e9", "legal", "wRe9 -e5", "r aaaa", "captured:w"},
    {"R-C2", "a partner's man is not captured", "verney", KINGS "wRe5 yPe9", "w aaaa", "e5e9",
     "onto-partner", NULL, NULL, NULL},
    {"R-C2", "a partner's man blocks", "verney", KINGS "wRe5 yPe9", "w aaaa", "e5e10",
     "way-blocked e9", NULL, NULL, NULL},
    {"R-C2", "a king is not put in check by the partner's rook", "verney",
     "wKh1 rKa8 yKg14 bKn7 yRe2", "w aaaa", "h1h2", "legal", "wKh2", "r aaaa", "!check"},
    {"R-C2", "the partners' kings may stand side by side", "verney", "wKh1 rKa8 yKh3 bKn7",
     "w aaaa", "h1h2", "legal", "wKh2", NULL, NULL},
    {"R-C3", "an enemy's king is not captured", "verney", "wKh1 rKa8 yKg14 bKn7 wRa5", "w aaaa",
     "a5a8", "onto-king", NULL, NULL, NULL},
    {"R-C3", "a king does not step where a live enemy attacks", "verney", KINGS "rRd2", "w aaaa",
     "h1h2", "king-into-check d2", NULL, NULL, NULL},
    {"R-C3", "a man that shields its king does not step aside", "verney", KINGS "wNh5 rRh9",
     "w aaaa", "h5j6", "opens-check h9", NULL, NULL, NULL},
    {"R-C3", "a check must be met", "verney", KINGS "wNe5 rRh9", "w aaaa", "e5f7",
     "leaves-check h9", NULL, NULL, NULL},
    {"R-C3", "a check may be met by stepping between", "verney", KINGS "wNf5 rRh9", "w aaaa",
     "f5h4", "legal", "wNh4", NULL, NULL},
    {"R-C3", "a check may be met by capturing", "verney", KINGS "wNf8 rRh9", "w aaaa", "f8h9",
     "legal", "wNh9", NULL, NULL},
    {"R-C3", "of two checks no single capture is enough", "verney", KINGS "wNf8 rRh9 bBj3",
     "w aaaa", "f8h9", "leaves-check j3", NULL, NULL, NULL},
    {"R-C3", "nor of two knights' checks", "verney", KINGS "rNg3 bNi3 wRg8", "w aaaa", "g8g3",
     "leaves-check i3", NULL, NULL, NULL},
    {"R-C3", "a pinned man attacks all the same", "verney", "wKh1 rKd8 yKg14 bKn7 rRd2 wRd1",
     "w aaaa", "h1h2", "king-into-check d2", NULL, NULL, NULL},
    {"R-C3", "a king does not stay on the line by stepping back", "verney",
     "wKh2 rKa8 yKg14 bKn7 rRh9", "w aaaa", "h2h1", "king-into-check h9", NULL, NULL, NULL},
    {"R-C5", "nobody need help a partner in check", "verney", "wKh1 wPd2 rKa8 yKg14 bKn7 rRg9",
     "w aaaa", "d2d3", "legal", NULL, "r aaaa", NULL},
    {"R-C4 R-C6", "a stalemated army is live: it attacks", "verney", "wKh1 rKa8 rRd2 yKg14 bKn7",
     "w asaa", "h1h2", "king-into-check d2", NULL, NULL, NULL},
    {"R-C4 R-V13", "a mated army attacks nothing", "verney", "wKh1 rKa4 rRd2 wRk5 wRj4 yKg14 bKn8",
     "w amaa", "h1h2", "legal", "wKh2", NULL, NULL},

    /* ---- verney's men */
    {"R-V4", "a pawn makes no double step", "verney", KINGS "wPe2", "w aaaa", "e2e4",
     "pawn-no-double", NULL, NULL, NULL},
    {"R-V4", "there is no castling", "verney", KINGS "wRk1", "w aaaa", "h1j1", "no-castling", NULL,
     NULL, NULL},
    {"R-V5", "a man that shields the partner's king stays on the line", "verney", KINGS "wNg8 rRg3",
     "w aaaa", "g8e9", "opens-partner-check g3", NULL, NULL, NULL},
    {"R-V5", "it may go along the line", "verney", KINGS "wRg8 rRg3", "w aaaa", "g8g6", "legal",
     "wRg6", NULL, NULL},
    {"R-V5", "it may capture the man that would give check", "verney", KINGS "wRg8 rRg3", "w aaaa",
     "g8g3", "legal", "wRg3", NULL, NULL},
    {"R-V5", "an attack that is there already may stay", "verney", KINGS "wNe8 rRg3", "w aaaa",
     "e8d10", "legal", NULL, NULL, NULL},
    {"R-V5", "another attack may not come to one already there", "verney", KINGS "wNg8 rRg3 bBj11",
     "w aaaa", "g8e9", "opens-partner-check g3", NULL, NULL, NULL},
    {"R-V5", "a king that shields the partner may leave the line by no step", "verney",
     "wKg3 rKa8 yKg14 bKn7 rRg1", "w aaaa", "g3h3", "opens-partner-check g1", NULL, NULL, NULL},
    {"R-V5", "there is no such duty while the partner is mated", "verney",
     "wKj3 rKa8 yKd14 bKn7 wNd5 rRd1 rRk13 bRk14", "w aama", "d5e7", "legal", NULL, NULL, NULL},
    {"R-V5 R-C9", "there is no such duty while the partner is absent", "verney", KINGS "wNg8 rRg3",
     "w aaxa", "g8e9", "legal", NULL, NULL, NULL},
    {"R-V6", "a pawn that captures on an enemy's outermost line becomes a queen", "verney",
     KINGS "wPb9 rRa10", "w aaaa", "b9a10q", "legal", "wQa10 -b9", NULL, "promoted:w captured:w"},
    {"R-V6", "the letter need not be said", "verney", KINGS "wPb9 rRa10", "w aaaa", "b9a10",
     "legal", "wQa10", NULL, "promoted:w"},
    {"R-V6", "it becomes nothing else", "verney", KINGS "wPb9 rRa10", "w aaaa", "b9a10r",
     "promotion-bad", NULL, NULL, NULL},
    {"R-V6", "unless the house lets it choose", "verney promotion=any", KINGS "wPb9 rRa10",
     "w aaaa", "b9a10n", "legal", "wNa10", NULL, "promoted:w"},
    {"R-V6", "and then it must choose", "verney promotion=any", KINGS "wPb9 rRa10", "w aaaa",
     "b9a10", "promotion-missing", NULL, NULL, NULL},
    {"R-V6", "a pawn walking back queens too", "verney", KINGS "wVm9 bRn8", "w aaaa", "m9n8",
     "legal", "wQn8", NULL, "promoted:w"},
    {"R-V6", "a step onto such a square never queens", "verney", KINGS "rPd1", "r aaaa", "d1e1",
     "legal", "rPe1", NULL, "!promoted"},
    {"R-V6", "the long edge of an arm is not the line", "verney", KINGS "wPl10 bRm11", "w aaaa",
     "l10m11", "legal", "wPm11", NULL, "!promoted !turned"},
    {"R-V6", "a plain step says no piece", "verney", KINGS "wPe5", "w aaaa", "e5e6q",
     "promotion-none", NULL, NULL, NULL},
    {"R-V7", "a pawn that steps on the partner's outermost line walks back", "verney",
     KINGS "wPe13", "w aaaa", "e13e14", "legal", "wVe14 -e13", NULL, "turned:w !promoted"},
    {"R-V7", "a pawn that captures there walks back", "verney", KINGS "wPe13 rNd14", "w aaaa",
     "e13d14", "legal", "wVd14", NULL, "turned:w captured:w"},
    {"R-V7 R-V9", "a pawn that leaps there walks back", "verney", KINGS "wPe12 yPe13", "w aaaa",
     "e12e14", "legal", "wVe14 yPe13", NULL, "turned:w leapt:w"},
    {"R-V7", "East's partner is West", "verney", KINGS "bPb5", "b aaaa", "b5a5", "legal", "bVa5",
     NULL, "turned:b"},
    {"R-V8", "a pawn walking back turns on its pawn line", "verney", KINGS "wVe3", "w aaaa", "e3e2",
     "legal", "wPe2", NULL, "turned:w"},
    {"R-V8", "or beyond it on the outermost line", "verney", KINGS "wVe3 yVe2", "w aaaa", "e3e1",
     "legal", "wPe1", NULL, "turned:w leapt:w"},
    {"R-V8", "or by a capture", "verney", KINGS "wVe3 rNd2", "w aaaa", "e3d2", "legal", "wPd2",
     NULL, "turned:w"},
    {"R-V9", "a pawn leaps a partner's pawn in front", "verney", KINGS "wPe5 yPe6", "w aaaa",
     "e5e7", "legal", "wPe7 yPe6 -e5", NULL, "leapt:w !captured"},
    {"R-V9", "whichever way that pawn walks", "verney", KINGS "wPe5 yVe6", "w aaaa", "e5e7",
     "legal", "wPe7", NULL, "leapt:w"},
    {"R-V9", "a pawn that walks back leaps too", "verney", KINGS "wVe7 yPe6", "w aaaa", "e7e5",
     "legal", "wVe5", NULL, "leapt:w"},
    {"R-V9", "live or not", "verney", KINGS "wPe5 yPe6", "w aaxa", "e5e7", "legal", "wPe7", NULL,
     "leapt:w"},
    {"R-V9", "a pawn does not leap its own kind of another army", "verney", KINGS "wPe5 rPe6",
     "w aaaa", "e5e7", "pawn-no-leap e6", NULL, NULL, NULL},
    {"R-V9", "a pawn does not leap its own army's pawn", "verney", KINGS "wPe5 wPe6", "w aaaa",
     "e5e7", "pawn-no-leap e6", NULL, NULL, NULL},
    {"R-V9", "a pawn does not leap a partner's piece", "verney", KINGS "wPe5 yNe6", "w aaaa",
     "e5e7", "pawn-no-leap e6", NULL, NULL, NULL},
    {"R-V9", "a leap never captures", "verney", KINGS "wPe5 yPe6 rNe7", "w aaaa", "e5e7",
     "pawn-blocked e7", NULL, NULL, NULL},
    {"R-V9", "nor takes two pawns", "verney", KINGS "wPe5 yPe6 yPe7", "w aaaa", "e5e8",
     "not-its-way", NULL, NULL, NULL},
    {"R-V9", "nor ends off the board", "verney", KINGS "wPb10 yPb11", "w aaaa", "b10b12",
     "to-off-board", NULL, NULL, NULL},
    {"R-V9", "a leap never queens", "verney", KINGS "rPe1 bPf1", "r aaaa", "e1g1", "legal", "rPg1",
     NULL, "leapt:r !promoted"},
    {"R-V10", "a pawn captures ahead", "verney", KINGS "wPe5 rNf6", "w aaaa", "e5f6", "legal",
     "wPf6", NULL, NULL},
    {"R-V10", "not behind", "verney", KINGS "wPe5 rNf4", "w aaaa", "e5f4", "pawn-backward", NULL,
     NULL, NULL},
    {"R-V10", "not straight", "verney", KINGS "wPe5 rNe6", "w aaaa", "e5e6", "pawn-blocked e6",
     NULL, NULL, NULL},
    {"R-V10", "and goes diagonally only to capture", "verney", KINGS "wPe5", "w aaaa", "e5f6",
     "pawn-no-victim", NULL, NULL, NULL},
    {"R-V10", "a pawn walking back captures behind", "verney", KINGS "wVe5 rNf4", "w aaaa", "e5f4",
     "legal", "wVf4", NULL, NULL},
    {"R-V10", "and not ahead", "verney", KINGS "wVe5 rNf6", "w aaaa", "e5f6", "pawn-backward", NULL,
     NULL, NULL},
    {"R-V10", "it attacks a king only so", "verney", "wKh4 rKa8 rVg5 yKg14 bKn7", "w aaaa", "h4h5",
     "legal", NULL, NULL, NULL},
    {"R-V11", "a bishop passes the inner corner of the cross", "verney", KINGS "wBc4", "w aaaa",
     "c4d3", "legal", "wBd3", NULL, NULL},
    {"R-V11", "a knight leaps over squares off the board", "verney", KINGS "wNb4", "w aaaa", "b4d3",
     "legal", "wNd3", NULL, NULL},
    {"R-C1", "nothing goes along a way off the board", "verney", KINGS "wQa4 yPd1", "w aaaa",
     "a4d1", "way-off-board b3", NULL, NULL, NULL},

    /* ---- mated armies */
    {"R-V12 R-V16", "a mate counts at once and the victim's turn is skipped", "verney",
     "wKh1 wRk5 wRj12 rKa4 yKg14 bKn8", "w aaaa", "j12j4", "legal", NULL, "y amaa",
     "mated:r check:w turn:y"},
    {"R-V12", "whoever's turn is next", "verney", "wKh1 yKg14 yRk5 yRj12 rKa4 bKn8", "y aaaa",
     "j12j4", "legal", NULL, "b amaa", "mated:r"},
    {"R-V12", "a check with a way out is no mate", "verney", "wKh1 wRk6 wRj12 rKa4 yKg14 bKn8",
     "w aaaa", "j12j4", "legal", NULL, "r aaaa", "!mated check:w"},
    {"R-V12", "no way out without check is no mate", "verney",
     "wKh1 wRk5 wRb11 rKa4 yKg14 bKn8 rPh5 wNh6", "w aaaa", "h6j7", "legal", NULL, "r aaaa",
     "!mated"},
    {"R-V13", "a mated army's men do not move", "verney", "wKh1 wRk5 wRj4 rKa4 rRd13 yKg14 bKn8",
     "y amaa", "d13d12", "man-inert", NULL, NULL, NULL},
    {"R-V13", "they block", "verney", "wKh1 wRk5 wRj4 rKa4 rPe7 yKg14 yRe9 bKn8", "y amaa", "e9e5",
     "way-blocked e7", NULL, NULL, NULL},
    {"R-V13", "an enemy king may stand beside a mated one", "verney",
     "wKc6 wRk5 wRj4 rKa4 yKg14 bKn8", "w amaa", "c6b5", "legal", "wKb5", NULL, "!released"},
    {"R-V14", "a mated army's men are not captured", "verney",
     "wKh1 wRk5 wRj4 rKa4 rPe7 yKg14 yRe9 bKn8", "y amaa", "e9e7", "onto-mated", NULL, NULL, NULL},
    {"R-V14", "unless the house allows it and the mate holds", "verney inert=capturable",
     "wKh1 wRk5 wRj4 rKa4 rPe7 yKg14 yRe9 bKn8", "y amaa", "e9e7", "legal", "yRe7", "b amaa",
     "captured:y !released"},
    {"R-V14", "beside the king too", "verney inert=capturable",
     "wKh1 wRk5 wRj4 rKa4 rPb5 rPa5 yKg14 yRb9 bKn8", "y amaa", "b9b5", "legal", "yRb5", "b amaa",
     "captured:y !released"},
    {"R-V14", "not where the king could then escape", "verney inert=capturable",
     "wKh1 wRj4 rKa4 rPa5 rPb5 yKg14 yRa9 bKn8", "y amaa", "a9a5", "would-release", NULL, NULL,
     NULL},
    {"R-V14", "nor with the man that gives the mate", "verney inert=capturable",
     "wKh1 wRk5 wRj4 rKa4 rPj7 yKg14 bKn8", "w amaa", "j4j7", "would-release", NULL, NULL, NULL},
    {"R-V14", "its king is never captured", "verney inert=capturable",
     "wKh1 wRk5 wRj4 rKa4 yKg14 bKn8", "w amaa", "j4a4", "onto-king", NULL, NULL, NULL},
    {"R-C9", "an absent army's men are never captured, even so", "verney inert=capturable",
     "wKh1 rKa4 rPe7 yKg14 yRe9 bKn8", "y axaa", "e9e7", "onto-absent", NULL, NULL, NULL},
    {"R-V15 R-V16", "a mate ends when the mating man moves away", "verney",
     "wKh1 wRk5 wRj4 rKa4 yKg14 bKn8", "w amaa", "j4j12", "legal", NULL, "r aaaa", "released:r"},
    {"R-V15", "a partner may release by capturing", "verney", "wKh1 wRk5 wRj4 rKa4 yKg14 bKn8 bRk9",
     "b amaa", "k9k5", "legal", NULL, "w aaaa", "released:r"},
    {"R-V15", "or by stepping between", "verney", "wKh1 wRk5 wRj4 rKa4 yKg14 bKn8 bRf9", "b amaa",
     "f9f4", "legal", NULL, "w aaaa", "released:r"},
    {"R-V15 R-V16", "or when the mater becomes inert himself", "verney",
     "wKd14 wRk5 wRj4 rKa4 yKg2 bKn8 bRe3 bRf12", "b amaa", "f12d12", "legal", NULL, "r maaa",
     "mated:w released:r"},
    {"R-V18", "a releasing move is legal though the army it wakes gives check", "verney",
     "wKh1 wRk5 wRj4 rKa4 rRh9 yKg14 bKn8", "w amaa", "k5k12", "legal", NULL, "r aaaa",
     "released:r check:r"},
    {"R-V17", "the released move in their ordinary turn", "verney",
     "wKh1 wRk5 wRj4 rKa4 yKg14 bKn8", "w amaa", "k5k12", "legal", NULL, "r aaaa", "turn:r"},
    {"R-V19 R-V16", "one mate does not win", "verney", "wKh1 wRk5 wRj12 rKa4 yKg14 bKn8", "w aaaa",
     "j12j4", "legal", NULL, "y amaa", "!game-over"},
    {"R-V19 R-V16", "two at the same time do", "verney", "wKh1 wRk5 wRj12 rKa4 yKg14 bKn4",
     "w aaaa", "j12j4", "legal", NULL, "team0", "mated:r mated:b game-over"},
    {"R-V19", "or one after the other", "verney", "wKh1 wRk5 wRj4 wNi4 rKa4 yKg14 bKn4", "w aaam",
     "i4h6", "legal", NULL, "team0", "mated:r !mated:b"},

    /* ---- turns */
    {"R-C6 R-V17", "a player without a move who is not in check is passed over", "verney",
     "wKh1 wRk5 wRb11 rKa4 yKg14 bKn8 bPm8", "w aaaa", "h1h2", "legal", NULL, "y asaa",
     "passed:r turn:y !mated"},
    {"R-C6", "and is looked at afresh at the next turn", "verney",
     "wKh2 wRk5 wRb11 rKa4 yKg14 bKn8 bPm8", "y asaa", "g14h14", "legal", NULL, "b aaaa", NULL},
    {"R-V20", "it draws when the partner is absent", "verney", "wKh1 wRk5 wRb11 rKa4 yKg14 bKn8",
     "w aaax", "h1h2", "legal", NULL, "draw", "passed:r"},
    {"R-V20", "it draws when the partner cannot move either and is not in check", "verney",
     "wKh1 wRk5 wRb11 rKa4 yKg14 yRm6 yRd10 bKn11", "w aaaa", "h1h2", "legal", NULL, "draw",
     "passed:r"},
    {"R-V20", "it does not while the partner can move", "verney",
     "wKh1 wRk5 wRb11 rKa4 yKg14 yRm6 bKn11", "w aaaa", "h1h2", "legal", NULL, "y asaa",
     "!game-over"},

    /* ---- leaving */
    {"R-C9 R-C11", "a seat that resigns leaves its men standing", "verney",
     "wKh1 rKa8 rRe5 yKg14 bKn7", "r aaaa", "resign r", "ok", "rKa8 rRe5", "y axaa",
     "resigned:r turn:y"},
    {"R-C11", "a seat may resign when it is not on turn", "verney", KINGS, "w aaaa", "resign b",
     "ok", NULL, "w aaax", "resigned:b"},
    {"R-C9 R-C4", "the men of an absent army attack nothing", "verney", "wKh1 rKa8 rRd2 yKg14 bKn7",
     "w axaa", "h1h2", "legal", "wKh2", NULL, NULL},
    {"R-C9", "their king gives way to nobody but harms nobody", "verney", "wKb6 rKa8 yKg14 bKn7",
     "w axaa", "b6b7", "legal", "wKb7", NULL, NULL},
    {"R-C9", "a side whose seats are both mated or absent has lost", "verney",
     "wKh1 wRk5 wRj4 rKa4 yKg14 bKn8", "w amaa", "resign b", "ok", NULL, "team0", "game-over"},
    {"R-C11 R-V16", "leaving releases whom the leaver held in mate", "verney",
     "wKh1 wRk5 wRj4 rKa4 yKg14 bKn8", "w amaa", "resign w", "ok", NULL, "r xaaa",
     "released:r turn:r"},
    {"R-C11", "conditions s are cleared as after a move", "verney",
     "wKh2 wRk5 wRb11 rKa4 yKg14 bKn8 bPm8", "y asaa", "resign w", "ok", NULL, "y xaaa", NULL},
};

static struct variant verney(const char *text)
{
    struct variant variant = {0};

    assert_int_equal(variant_parse(text, &variant, NULL), VARIANT_OK);
    return variant;
}

static void test_board_has_160_squares(void **state)
{
    const struct game *game = verney("verney").game;
    int squares = 0, light = 0;

    (void)state;
    for (int square = 0; square < SQUARES; square++) {
        int file = square_file(square), rank = square_rank(square);
        bool want =
            file < 14 && rank < 14 && ((file >= 3 && file <= 10) || (rank >= 3 && rank <= 10));

        assert_int_equal(square_is_on_board(game, square), want);
        squares += want;
        light += want && square_is_light(game, square);
    }
    assert_int_equal(squares, 160);
    assert_int_equal(light, 80);
    assert_true(square_is_light(game, square_of(10, 0))); /* k1 */
    RULE("R-V1");
}

static void test_colours_are_white_red_yellow_black(void **state)
{
    const struct game *game = verney("verney").game;

    (void)state;
    assert_string_equal(seat_colour(game, SEAT_SOUTH), "White");
    assert_string_equal(seat_colour(game, SEAT_WEST), "Red");
    assert_string_equal(seat_colour(game, SEAT_NORTH), "Yellow");
    assert_string_equal(seat_colour(game, SEAT_EAST), "Black");
    assert_true(!seats_are_enemies(SEAT_SOUTH, SEAT_NORTH) &&
                seats_are_enemies(SEAT_SOUTH, SEAT_EAST));
    RULE("R-V2");
}

static void test_array_has_all_queens_on_light_squares(void **state)
{
    static const char want[] =
        "verney x,x,x,yR,yN,yB,yK,yQ,yB,yN,yR,x,x,x/x,x,x,yP,yP,yP,yP,yP,yP,yP,yP,x,x,x/"
        "x,x,x,8,x,x,x/rR,rP,10,bP,bR/rN,rP,10,bP,bN/rB,rP,10,bP,bB/rK,rP,10,bP,bQ/"
        "rQ,rP,10,bP,bK/rB,rP,10,bP,bB/rN,rP,10,bP,bN/rR,rP,10,bP,bR/x,x,x,8,x,x,x/"
        "x,x,x,wP,wP,wP,wP,wP,wP,wP,wP,x,x,x/x,x,x,wR,wN,wB,wQ,wK,wB,wN,wR,x,x,x w aaaa - - 0 0";
    struct variant variant = verney("verney");
    struct position pos;
    char text[POSITION_TEXT_MAX];

    (void)state;
    assert_int_equal(position_start(&variant, NULL, &pos), RESERVE_OK);
    position_print(&pos, text, sizeof text);
    assert_string_equal(text, want);
    for (int square = 0; square < SQUARES; square++)
        if (pos.men[square] != MAN_NONE && man_kind(pos.men[square]) == KIND_QUEEN)
            assert_true(square_is_light(variant.game, square));
    RULE("R-V3");
}

static void test_house_rule_puts_every_queen_left_of_its_king(void **state)
{
    struct variant variant = verney("verney queens=left");
    struct position pos;

    (void)state;
    assert_int_equal(position_start(&variant, NULL, &pos), RESERVE_OK);
    assert_int_equal(pos.men[square_of(0, 6)], man_of(SEAT_WEST, KIND_KING));   /* a7 */
    assert_int_equal(pos.men[square_of(0, 7)], man_of(SEAT_WEST, KIND_QUEEN));  /* a8 */
    assert_int_equal(pos.men[square_of(13, 7)], man_of(SEAT_EAST, KIND_KING));  /* n8 */
    assert_int_equal(pos.men[square_of(13, 6)], man_of(SEAT_EAST, KIND_QUEEN)); /* n7 */
    RULE("R-V3");
}

/* Black, mated by the queen on h6, could go to g3 but for his duty to Red's king on h1 (R-V5).  The
 * queen that takes on f1 mates Red; so step (2) of R-V16 would release Black, whose man it took. */
static void test_a_capture_whose_other_mate_releases_the_army_is_barred(void **state)
{
    static const char text[] =
        "verney x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x/14/14/14/3,wR,10/14/7,yQ,3,bB,2/"
        "3,yB,10/3,bB,yK,6,yR,2/x,x,x,8,x,x,x/x,x,x,4,bK,2,wK,x,x,x/x,x,x,1,wQ,bB,1,rK,1,yV,1,"
        "x,x,x w aaam - - 5 9";
    struct variant variant = verney("verney inert=capturable");
    struct position pos;
    struct move_judgement judgement;

    (void)state;
    assert_int_equal(position_parse(&variant, text, &pos, NULL), POSITION_OK);
    assert_int_equal(position_judge_move(&pos, row_move("e1f1"), &judgement), MOVE_WOULD_RELEASE);
    assert_int_equal(judgement.other, SEAT_EAST);
    assert_null(strstr(row_moves(&pos), "e1f1"));
    RULE("R-V14");
    RULE("R-V16");
}

/* Positions found by chance in which a part of R-V16 or R-V17 makes the difference. */
static void test_releases_go_on_until_none_is_left(void **state)
{
    struct chain {
        const char *before, *move, *after;
    };
    static const struct chain chains[] = {
        /* the move releases one army, and that army's waking the other */
        {"verney x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,7,yK,x,x,x/5,yR,6,bR,1/2,wB,3,wB,7/8,rK,5/14/6"
         ",rR,2,bR,4/14/5,yR,2,bP,2,wN,2/wB,13/x,x,x,6,bQ,1,x,x,x/x,x,x,2,yQ,2,bR,2,x,x,x/x,x,x,w"
         "R,bK,1,wK,2,rR,1,x,x,x r maaa - - 0 0",
         "g7g2",
         "verney x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,7,yK,x,x,x/5,yR,6,bR,1/2,wB,3,wB,7/8,rK,5/14/9"
         ",bR,4/14/5,yR,2,bP,2,wN,2/wB,13/x,x,x,6,bQ,1,x,x,x/x,x,x,2,yQ,rR,1,bR,2,x,x,x/x,x,x,wR,"
         "bK,1,wK,2,rR,1,x,x,x y aaaa - - 1 1"},
        /* a mate found on the turn releases whom the mated army held */
        {"verney x,x,x,wK,6,yR,x,x,x/x,x,x,8,x,x,x/x,x,x,rR,1,bR,5,x,x,x/9,rR,4/14/14/13,bR/14/8,"
         "bR,5/bK,10,wN,2/3,rR,2,bR,rP,1,rN,1,rK,yK,1/x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,rP,7,x,x,"
         "x b aama - - 0 0",
         "n8e8",
         "verney x,x,x,wK,6,yR,x,x,x/x,x,x,8,x,x,x/x,x,x,rR,1,bR,5,x,x,x/9,rR,4/14/14/4,bR,9/14/8"
         ",bR,5/bK,10,wN,2/3,rR,2,bR,rP,1,rN,1,rK,yK,1/x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,rP,7,x,x"
         ",x y amaa - - 1 1"},
    };
    struct variant variant = verney("verney");

    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; i++) {
        struct position pos;
        char text[POSITION_TEXT_MAX];

        assert_int_equal(position_parse(&variant, chains[i].before, &pos, NULL), POSITION_OK);
        assert_int_equal(position_play(&pos, row_move(chains[i].move), NULL, NULL), MOVE_LEGAL);
        position_print(&pos, text, sizeof text);
        assert_string_equal(text, chains[i].after);
    }
    RULE("R-V16");
    RULE("R-V17");
}

static void test_forfeit_comes_only_on_the_seats_turn(void **state)
{
    struct position pos = row_position("verney", KINGS, "w aaaa");
    struct outcome outcome;

    (void)state;
    assert_int_equal(position_leave(&pos, SEAT_EAST, LEAVE_FORFEIT, &outcome), LEAVE_NOT_ON_TURN);
    assert_int_equal(position_leave(&pos, SEAT_SOUTH, LEAVE_FORFEIT, &outcome), LEAVE_OK);
    assert_int_equal(outcome.at[0].type, EVENT_FORFEITED);
    assert_int_equal(pos.turn, SEAT_WEST);
    assert_int_equal(position_leave(&pos, SEAT_SOUTH, LEAVE_RESIGN, &outcome), LEAVE_ABSENT);
    assert_int_equal(position_leave(&pos, SEAT_NORTH, LEAVE_RESIGN, &outcome), LEAVE_OK);
    assert_int_equal(pos.result, RESULT_TEAM1);
    assert_int_equal(pos.cause, CAUSE_LEAVING);
    assert_int_equal(position_leave(&pos, SEAT_EAST, LEAVE_RESIGN, &outcome), LEAVE_GAME_OVER);
    RULE("R-C11");
}

static void test_position_keeps_count_and_ply_when_a_seat_leaves(void **state)
{
    struct position pos = row_position("verney", KINGS, "w aaaa");

    (void)state;
    assert_int_equal(position_play(&pos, row_move("h1h2"), NULL, NULL), MOVE_LEGAL);
    assert_int_equal(position_leave(&pos, SEAT_WEST, LEAVE_RESIGN, NULL), LEAVE_OK);
    assert_int_equal(pos.count, 1);
    assert_int_equal(pos.ply, 1);
    RULE("R-C11");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_board_has_160_squares),
        cmocka_unit_test(test_colours_are_white_red_yellow_black),
        cmocka_unit_test(test_array_has_all_queens_on_light_squares),
        cmocka_unit_test(test_house_rule_puts_every_queen_left_of_its_king),
        cmocka_unit_test(test_a_capture_whose_other_mate_releases_the_army_is_barred),
        cmocka_unit_test(test_releases_go_on_until_none_is_left),
        cmocka_unit_test(test_forfeit_comes_only_on_the_seats_turn),
        cmocka_unit_test(test_position_keeps_count_and_ply_when_a_seat_leaves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) +
           rows_run("verney", rows, sizeof rows / sizeof rows[0]);
}

/*
 * tests/rules/test_fortress.c - the game with fortresses, rule by rule.
 */
#include <string.h>

#include "rows.h"
#include "support/rule.h"

#define KINGS "wKi3 bKc8 rKh14 uKn9 "
#define ALL "w aaaa "

static const struct row rows[] = {
    /* ---- walls */
    {"R-F5", "no man crosses a wall straight", "fortress", KINGS "wRm7", ALL, "m7m3", "wall m4",
     NULL, NULL, NULL},
    {"R-F5", "a fortress is left by its gate", "fortress", KINGS "wRm3", ALL, "m3j3", "legal",
     "wRj3", NULL, NULL},
    {"R-F5 R-F8", "an enemy enters by the gate", "fortress", KINGS "bRe4", "b aaaa", "e4o4",
     "legal", "bRo4", NULL, NULL},
    {"R-F5", "a diagonal step past the end of a wall is barred", "fortress", KINGS "wBl4", ALL,
     "l4m5", "wall m5", NULL, NULL, NULL},
    {"R-F5", "at the outer end too", "fortress", KINGS "wBn5", ALL, "n5o4", "wall o4", NULL, NULL,
     NULL},
    {"R-F5", "at the gate's lower post too", "fortress", KINGS "wBl3", ALL, "l3m2", "wall m2", NULL,
     NULL, NULL},
    {"R-F5", "through the gate a bishop goes freely", "fortress", KINGS "wBl3", ALL, "l3n1",
     "wall m2", NULL, NULL, NULL},
    {"R-F5", "from gate square to gate square diagonally", "fortress", KINGS "wBk5", ALL, "k5m3",
     "legal", "wBm3", NULL, NULL},
    {"R-F5", "no check is given through a wall", "fortress", "wKi3 bKc8 rKh14 uKm5 wRm2", ALL,
     "m2m4", "legal", NULL, NULL, "!check"},
    {"R-F5", "no pawn captures through one", "fortress", KINGS "uPm5 wPl4", ALL, "l4m5", "wall m5",
     NULL, NULL, NULL},
    {"R-F5", "no king steps through one", "fortress", "wKm4 bKc8 rKh14 uKn9", ALL, "m4m5",
     "wall m5", NULL, NULL, NULL},
    {"R-F6", "a knight does not leap a wall", "fortress", KINGS "wNm4", ALL, "m4n6", "knight-wall",
     NULL, NULL, NULL},
    {"R-F6", "it leaps by the gate", "fortress", KINGS "wNm4", ALL, "m4k5", "legal", "wNk5", NULL,
     NULL},
    {"R-F6", "men in between do not matter to it", "fortress", KINGS "wNg6 wPg7 wPh7", ALL, "g6h8",
     "legal", "wNh8", NULL, NULL},
    {"R-F8", "reserve men are ordinary men", "fortress", KINGS "wNn3", ALL, "n3o1", "legal", "wNo1",
     NULL, NULL},

    /* ---- pawns */
    {"R-F9", "a pawn makes a double step from its pawn squares", "fortress", KINGS "wPe4", ALL,
     "e4e6", "legal", "wPe6", "b aaaa", "moved:w"},
    {"R-F9", "not from elsewhere", "fortress", KINGS "wPe5", ALL, "e5e7", "pawn-no-double", NULL,
     NULL, NULL},
    {"R-F9", "not over a man", "fortress", KINGS "wPe4 rNe5", ALL, "e4e6", "pawn-blocked e5", NULL,
     NULL, NULL},
    {"R-F9", "not onto a man", "fortress", KINGS "wPe4 rNe6", ALL, "e4e6", "pawn-blocked e6", NULL,
     NULL, NULL},
    {"R-F9", "either enemy may take it in passing", "fortress", KINGS "wPf6 bPe4 uPg4",
     "b aaaa - wf5", "e4f5", "legal", "bPf5 -f6 -e4 uPg4", NULL, "en-passant:b"},
    {"R-F9", "the first enemy takes in passing", "fortress", KINGS "wPf6 bPe6", "b aaaa - wf5",
     "e6f5", "legal", "bPf5 -f6 -e6", "r aaaa", "en-passant:b captured:b"},
    {"R-F9", "the second enemy keeps his chance", "fortress", KINGS "wPf6 uPg6", "u aaaa - wf5",
     "g6f5", "legal", "uPf5 -f6", "w aaaa", "en-passant:u"},
    {"R-F9", "the partner may not", "fortress", KINGS "wPf6 rPg6", "r aaaa - wf5", "g6f5",
     "pawn-no-victim", NULL, NULL, NULL},
    {"R-F9", "not when the square is no longer empty", "fortress", KINGS "wPf6 uPg6 bNf5",
     "u aaaa - wf5", "g6f5", "onto-partner", NULL, NULL, NULL},
    {"R-F9", "not when the pawn no longer stands beyond it", "fortress", KINGS "bRf6 uPg6",
     "u aaaa - wf5", "g6f5", "en-passant-gone", NULL, NULL, NULL},
    {"R-F9", "nor if taking it would open a check", "fortress",
     "wKi3 bKc8 rKh14 uKn6 wPf6 uPg6 wRe6", "u aaaa - wf5", "g6f5", "opens-check e6", NULL, NULL,
     NULL},
    {"R-F11", "a pawn becomes a piece on an enemy's piece line", "fortress", KINGS "wPd10 bNc11",
     ALL, "d10c11n", "legal", "wNc11", NULL, "promoted:w captured:w"},
    {"R-F11", "and on the partner's", "fortress", KINGS "wPe13", ALL, "e13e14r", "legal", "wRe14",
     NULL, "promoted:w"},
    {"R-F11", "and on the far edge of a far fortress", "fortress", KINGS "wPn15", ALL, "n15n16b",
     "legal", "wBn16", NULL, "promoted:w"},
    {"R-F11", "it must choose", "fortress", KINGS "wPe13", ALL, "e13e14", "promotion-missing", NULL,
     NULL, NULL},
    {"R-F11", "it does not become a king", "fortress", KINGS "wPe13", ALL, "e13e14k",
     "promotion-bad", NULL, NULL, NULL},
    {"R-F11", "elsewhere it stays a pawn", "fortress", KINGS "wPd13", ALL, "d13d14", "legal",
     "wPd14", NULL, "!promoted"},
    {"R-F12", "partners' pawns block each other", "fortress", KINGS "wPe7 rPe8", ALL, "e7e8",
     "pawn-blocked e8", NULL, NULL, NULL},
    {"R-F12", "and leap not", "fortress", KINGS "wPe7 rPe8", ALL, "e7e9", "pawn-no-double", NULL,
     NULL, NULL},
    {"R-F13", "a check on the partner's king may be opened", "fortress", KINGS "wNh9 bRh5", ALL,
     "h9f10", "legal", NULL, NULL, "check:b"},

    /* ---- castling */
    {"R-F10", "to the right", "fortress", KINGS "wRl3", "w aaaa wr", "i3k3", "legal",
     "wKk3 wRj3 -l3 -i3", NULL, "castled:w"},
    {"R-F10", "to the left", "fortress", KINGS "wRe3", "w aaaa wl", "i3g3", "legal",
     "wKg3 wRh3 -e3", NULL, "castled:w"},
    {"R-F10", "West's right is north", "fortress", KINGS "bRc5", "b aaaa br", "c8c6", "legal",
     "bKc6 bRc7 -c5", NULL, "castled:b"},
    {"R-F10", "not without the right", "fortress", KINGS "wRl3", "w aaaa wl", "i3k3",
     "castling-lost", NULL, NULL, NULL},
    {"R-F10", "not over a man", "fortress", KINGS "wRl3 rNk3", "w aaaa wr", "i3k3",
     "castling-blocked k3", NULL, NULL, NULL},
    {"R-F10", "not over a man beside the rook either", "fortress", KINGS "wRe3 wNf3", "w aaaa wl",
     "i3g3", "castling-blocked f3", NULL, NULL, NULL},
    {"R-F10", "not out of check", "fortress", KINGS "wRl3 bRi10", "w aaaa wr", "i3k3",
     "castling-in-check i10", NULL, NULL, NULL},
    {"R-F10", "not over an attacked square", "fortress", KINGS "wRl3 bRj10", "w aaaa wr", "i3k3",
     "castling-through-check j10", NULL, NULL, NULL},
    {"R-F10", "not onto one", "fortress", KINGS "wRl3 bRk10", "w aaaa wr", "i3k3",
     "castling-through-check k10", NULL, NULL, NULL},
    {"R-F10", "though the rook may pass one", "fortress", KINGS "wRe3 bRf10", "w aaaa wl", "i3g3",
     "legal", "wKg3", NULL, NULL},
    {"R-F10", "the partner's men attack nothing", "fortress", KINGS "wRl3 rRj10", "w aaaa wr",
     "i3k3", "legal", NULL, NULL, NULL},

    /* ---- mates and leaving */
    {"R-F14 R-F17", "a mate is found on the victim's turn and removes the army", "fortress",
     "wKi3 wRl9 wRk11 bKc10 rKh14 uKn5 bNe5 wRd5 wBg6", "w aaaa", "k11c11", "legal", NULL, NULL,
     NULL},
    {"R-F14", "the men leave the board at once", "fortress",
     "wKi3 bKa1 bNg8 rKh14 uKn9 wRb4 wRc3 wRd10", "w aaaa wr", "c3a3", "legal", "-a1 -g8", "r axaa",
     "mated:b removed:b turn:r"},
    {"R-F14", "the victim's partner may parry before", "fortress",
     "wKi3 bKa1 rKh14 uKn9 uRd8 rRb4 rRc2 rRd3", "r aaaa", "d3d1", "legal", NULL, "u aaaa",
     "check:r !mated !removed"},
    {"R-F15", "a side both of whose players are gone has lost", "fortress",
     "wKi3 bKa1 rKh14 wRb4 wRc3", "w aaax", "c3a3", "legal", "-a1", "team0", "removed:b game-over"},
    {"R-C4", "a removed army attacks nothing", "fortress", KINGS, "w aaax", "i3i4", "legal", NULL,
     NULL, NULL},
    {"R-C9 R-C11 R-F15", "a seat that resigns is removed", "fortress", KINGS "bRc5 bPe9",
     "w aaaa br be9", "resign b", "ok", "-c8 -c5 -e9", "w axaa", "resigned:b removed:b"},
    {"R-C11", "when both of a side have left it has lost", "fortress", "wKi3 bKc8 rKh14", "w aaax",
     "resign b", "ok", NULL, "team0", "game-over"},
    {"R-C6 R-F17", "a stalemated player is passed over and stays live", "fortress",
     "wKi3 bKa1 rKh14 uKn9 wRb4 wRd3", "w aaaa", "d3d2", "legal", NULL, "r asaa", "passed:b"},
    {"R-F16", "drawn when the partner is gone", "fortress", "wKi3 bKa1 rKh14 wRb4 wRd3", "w aaax",
     "d3d2", "legal", NULL, "draw", "passed:b"},
    {"R-F16", "not while the partner is in check, mated though he will be", "fortress",
     "wKi3 bKa1 rKh14 uKp16 wRb4 wRd3 rRo13 rRm15 rRm16", "w aaaa", "d3d2", "legal", NULL, "r asaa",
     "passed:b"},
    {"R-F16", "drawn when the partner cannot move either", "fortress",
     "wKi3 bKa1 rKh14 uKp16 wRb4 wRd3 rRo13 rRm15", "w aaaa", "d3d2", "legal", NULL, "draw",
     "passed:b"},
};

static struct variant fortress(const char *text)
{
    struct variant variant = {0};

    assert_int_equal(variant_parse(text, &variant, NULL), VARIANT_OK);
    return variant;
}

static void test_board_has_192_squares_of_two_colours(void **state)
{
    const struct game *game = fortress("fortress").game;
    int squares = 0, light = 0;

    (void)state;
    for (int square = 0; square < SQUARES; square++) {
        squares += square_is_on_board(game, square);
        light += square_is_on_board(game, square) && square_is_light(game, square);
    }
    assert_int_equal(squares, 192);
    assert_int_equal(light, 96);
    assert_true(square_is_light(game, square_of(1, 0))); /* b1: 2 + 1 is odd */
    assert_false(square_is_on_board(game, square_of(4, 1)));
    RULE("R-F1");
    RULE("R-F2");
    assert_string_equal(seat_colour(game, SEAT_SOUTH), "White");
    assert_string_equal(seat_colour(game, SEAT_WEST), "Black");
    assert_string_equal(seat_colour(game, SEAT_NORTH), "Red");
    assert_string_equal(seat_colour(game, SEAT_EAST), "Blue");
}

static int at(const char *text)
{
    int square = SQUARE_NONE;

    assert_int_equal(square_read(text, strlen(text), &square), strlen(text));
    return square;
}

static void test_fortresses_lie_at_their_owners_right(void **state)
{
    static const char *const corners[SEATS][2] = {
        {"m1", "p4"}, {"a1", "d4"}, {"a13", "d16"}, {"m13", "p16"}};
    const struct game *game = fortress("fortress").game;

    (void)state;
    for (int seat = 0; seat < SEATS; seat++) {
        struct board yard;

        assert_true(game_reserve_squares(game, (enum seat)seat, &yard));
        assert_int_equal(board_count(&yard), 16);
        assert_true(board_has(&yard, at(corners[seat][0])) &&
                    board_has(&yard, at(corners[seat][1])));
    }
    RULE("R-F3");
}

static void test_walls_leave_only_the_gates_open(void **state)
{
    static const char *const gates[] = {"l3m3",   "l4m4",   "c4c5",   "d4d5",
                                        "d13e13", "d14e14", "m12m13", "n12n13"};
    static const char *const shut[] = {"m4m5", "n4n5", "d12d13", "c12c13",
                                       "d4e4", "d3e3", "l13m13", "l14m14"};
    const struct game *game = fortress("fortress").game;

    (void)state;
    for (size_t i = 0; i < sizeof gates / sizeof gates[0]; i++) {
        struct move open = row_move(gates[i]), closed = row_move(shut[i]);

        assert_false(game_has_wall(game, open.from, open.to));
        assert_true(game_has_wall(game, closed.from, closed.to));
    }
    RULE("R-F4");
}

static void test_walls_bar_24_diagonal_and_8_straight_steps_and_56_leaps(void **state)
{
    static const char *const south[] = {"l4m5", "m4l5", "m4n5", "n4m5", "n5o4", "l3m2"};
    const struct game *game = fortress("fortress").game;
    int straight = 0, diagonal = 0, leaps = 0;

    (void)state;
    for (int a = 0; a < SQUARES; a++) {
        for (int b = a + 1; b < SQUARES; b++) {
            int files = square_file(b) - square_file(a), ranks = square_rank(b) - square_rank(a);

            if (!square_is_on_board(game, a) || !square_is_on_board(game, b))
                continue;
            if (game_has_wall(game, a, b)) {
                assert_true(game_has_wall(game, b, a));
                straight += files == 0 || ranks == 0;
                diagonal += files != 0 && ranks != 0;
            }
            if (files * files + ranks * ranks == 5) {
                struct position pos = row_position("fortress", "wKi3 bKc8 rKh14 uKn9", "w aaaa");
                struct move_judgement j;

                if (pos.men[a] != MAN_NONE || pos.men[b] != MAN_NONE)
                    continue;
                position_put(&pos, a, man_of(SEAT_SOUTH, KIND_KNIGHT));
                position_judge_move(&pos, (struct move){(uint8_t)a, (uint8_t)b, 0, 0}, &j);
                leaps += j.code == MOVE_KNIGHT_WALL;
            }
        }
    }
    assert_int_equal(straight, 8);
    assert_int_equal(diagonal, 24);
    assert_int_equal(leaps, 56);
    for (size_t i = 0; i < sizeof south / sizeof south[0]; i++)
        assert_true(game_has_wall(game, row_move(south[i]).from, row_move(south[i]).to));
    RULE("R-F5");
    RULE("R-F6");
}

static void test_usual_array(void **state)
{
    static const char want[] =
        "fortress 1,rB,2,x,x,x,x,x,x,x,x,uR,3/4,x,x,x,x,x,x,x,x,3,uB/"
        "2,rN,1,rR,rN,rB,rK,rQ,rB,rN,rR,1,uN,2/rR,3,rP,rP,rP,rP,rP,rP,rP,rP,4/"
        "x,x,bR,bP,8,uP,uR,x,x/x,x,bN,bP,8,uP,uN,x,x/x,x,bB,bP,8,uP,uB,x,x/"
        "x,x,bQ,bP,8,uP,uK,x,x/x,x,bK,bP,8,uP,uQ,x,x/x,x,bB,bP,8,uP,uB,x,x/"
        "x,x,bN,bP,8,uP,uN,x,x/x,x,bR,bP,8,uP,uR,x,x/4,wP,wP,wP,wP,wP,wP,wP,wP,3,wR/"
        "2,bN,1,wR,wN,wB,wQ,wK,wB,wN,wR,1,wN,2/bB,3,x,x,x,x,x,x,x,x,4/"
        "3,bR,x,x,x,x,x,x,x,x,2,wB,1 w aaaa wrwlbrblrrrlurul - 0 0";
    struct variant variant = fortress("fortress reserve=usual");
    struct position pos;
    char text[POSITION_TEXT_MAX];

    (void)state;
    assert_int_equal(position_start(&variant, NULL, &pos), RESERVE_OK);
    position_print(&pos, text, sizeof text);
    assert_string_equal(text, want);
    RULE("R-F7");
}

static void test_random_reserve_reaches_every_placement_evenly(void **state)
{
    struct variant variant = fortress("fortress");
    static int seen[16][16][16];
    struct board yard;
    int index[SQUARES] = {0}, square, n = 0, placements = 0, least = 1 << 30, most = 0;

    (void)state;
    assert_true(game_reserve_squares(variant.game, SEAT_SOUTH, &yard));
    while ((square = board_take(&yard)) != SQUARE_NONE)
        index[square] = n++;
    for (uint32_t i = 0; i < 336000; i++) { /* evenly spread values: 100 a placement */
        uint32_t value = (uint32_t)(((uint64_t)i << 32) / 336000 + 1);
        uint8_t random[RESERVE_RANDOM_BYTES] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16),
                                                (uint8_t)(value >> 8), (uint8_t)value};
        struct reserve reserve;

        reserve_draw(variant.game, SEAT_SOUTH, random, &reserve);
        if (i % 1000 == 0)
            assert_int_equal(reserve_validate(variant.game, SEAT_SOUTH, &reserve, NULL),
                             RESERVE_OK);
        seen[index[reserve.square[0]]][index[reserve.square[1]]][index[reserve.square[2]]]++;
    }
    for (int i = 0; i < 16 * 16 * 16; i++) {
        int count = seen[i / 256][i / 16 % 16][i % 16];

        placements += count > 0;
        if (count > 0) {
            least = count < least ? count : least;
            most = count > most ? count : most;
        }
    }
    assert_int_equal(placements, 16 * 15 * 14);
    assert_in_range(least, 99, 101);
    assert_in_range(most, 99, 101);
    RULE("R-F7");
}

static void test_chosen_reserve_is_checked(void **state)
{
    struct variant variant = fortress("fortress reserve=chosen");
    struct reserve reserves[SEATS];
    struct position pos;
    int square = SQUARE_NONE;

    (void)state;
    for (int seat = 0; seat < SEATS; seat++)
        reserve_usual(variant.game, (enum seat)seat, &reserves[seat]);
    reserves[0] = (struct reserve){{(uint8_t)at("m1"), (uint8_t)at("m2"), (uint8_t)at("m3")}};
    assert_int_equal(position_start(&variant, reserves, &pos), RESERVE_OK);
    assert_int_equal(pos.men[at("m1")], man_of(SEAT_SOUTH, KIND_ROOK));
    assert_int_equal(pos.men[at("m2")], man_of(SEAT_SOUTH, KIND_BISHOP));
    assert_int_equal(pos.men[at("m3")], man_of(SEAT_SOUTH, KIND_KNIGHT));
    reserves[0].square[1] = (uint8_t)at("m1");
    assert_int_equal(reserve_validate(variant.game, SEAT_SOUTH, &reserves[0], &square),
                     RESERVE_SQUARE_TWICE);
    assert_int_equal(square, at("m1"));
    assert_int_equal(position_start(&variant, reserves, &pos), RESERVE_SQUARE_TWICE);
    reserves[0].square[1] = (uint8_t)at("l3");
    assert_int_equal(reserve_validate(variant.game, SEAT_SOUTH, &reserves[0], &square),
                     RESERVE_NOT_IN_FORTRESS);
    assert_int_equal(square, at("l3"));
    RULE("R-F7");
}

static void test_a_passed_pawns_chance_ends_when_its_owner_is_next_to_move(void **state)
{
    struct position pos = row_position("fortress", KINGS "wPf4", "w aaaa");

    (void)state;
    assert_int_equal(position_play(&pos, row_move("f4f6"), NULL, NULL), MOVE_LEGAL);
    assert_int_equal(pos.passed_by, 1 << SEAT_SOUTH);
    assert_int_equal(pos.passed[SEAT_SOUTH], at("f5"));
    assert_int_equal(position_play(&pos, row_move("c8c7"), NULL, NULL), MOVE_LEGAL);
    assert_int_equal(position_play(&pos, row_move("h14h13"), NULL, NULL), MOVE_LEGAL);
    assert_int_equal(pos.passed_by, 1 << SEAT_SOUTH);
    assert_int_equal(position_play(&pos, row_move("n9n8"), NULL, NULL), MOVE_LEGAL);
    assert_int_equal(pos.passed_by, 0);
    RULE("R-F9");
}

static void test_rights_end_with_king_and_rook(void **state)
{
    struct position pos = row_position("fortress", KINGS "wRe3 wRl3 bRl10", "w aaaa wrwl"),
                    other = pos;

    (void)state;
    assert_int_equal(position_play(&pos, row_move("i3i4"), NULL, NULL), MOVE_LEGAL);
    assert_int_equal(pos.castling, 0);
    pos = other;
    assert_int_equal(position_play(&pos, row_move("e3e4"), NULL, NULL), MOVE_LEGAL);
    assert_int_equal(pos.castling, 1);
    assert_int_equal(position_play(&pos, row_move("l10l3"), NULL, NULL), MOVE_LEGAL);
    assert_int_equal(pos.castling, 0);
    RULE("R-F10");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_board_has_192_squares_of_two_colours),
        cmocka_unit_test(test_fortresses_lie_at_their_owners_right),
        cmocka_unit_test(test_walls_leave_only_the_gates_open),
        cmocka_unit_test(test_walls_bar_24_diagonal_and_8_straight_steps_and_56_leaps),
        cmocka_unit_test(test_usual_array),
        cmocka_unit_test(test_random_reserve_reaches_every_placement_evenly),
        cmocka_unit_test(test_chosen_reserve_is_checked),
        cmocka_unit_test(test_a_passed_pawns_chance_ends_when_its_owner_is_next_to_move),
        cmocka_unit_test(test_rights_end_with_king_and_rook),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) +
           rows_run("fortress", rows, sizeof rows / sizeof rows[0]);
}

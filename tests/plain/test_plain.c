/*
 * plain/test_plain.c - the referee's own examination.
 *
 * What can be counted or derived in another way is: the walls from the outlines of the fortresses
 * (plain.c has them as a list), the lines of play from the array, the house rules by hand.
 */
#include "plain/plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct plain_house usual = {false, false, false};

/* ---- geometry ------------------------------------------------------------------------------ */

static int squares_of(enum plain_game game)
{
    int f, r, n = 0;

    for (f = 1; f <= 16; f++)
        for (r = 1; r <= 16; r++)
            n += plain_on_board(game, (struct plain_square){f, r});
    return n;
}

static void test_boards_have_160_and_192_squares(void **state)
{
    (void)state;
    assert_int_equal(squares_of(PLAIN_VERNEY), 160);   /* R-V1 */
    assert_int_equal(squares_of(PLAIN_TEAMS), 160);    /* R-M1 */
    assert_int_equal(squares_of(PLAIN_FORTRESS), 192); /* R-F1 */
}

/* R-F3, R-F4 in corners of the squares: point (x, y) is the upper right corner of square (x, y);
 * a wall is an edge between two points.  South's fortress is m1-p4: its outline runs between the
 * points 12..16 by 0..4, and the gate is the two edges (12,2)-(12,3)-(12,4).  So the points that
 * a wall touches are all of the outline but (12,3). */
static bool point_has_wall(int x, int y)
{
    int seat;

    for (seat = 0; seat < 4; seat++) {
        bool outline = x >= 12 && x <= 16 && y >= 0 && y <= 4 &&
                       (x == 12 || x == 16 || y == 0 || y == 4);
        int turned = x;

        if (outline && !(x == 12 && y == 3))
            return true;
        /* the next seat's fortress, a quarter turn on: look from there */
        x = 16 - y;
        y = turned;
    }
    return false;
}

/* An edge between two points one apart is a wall if it lies on the outline of a fortress and is
 * not of its gate. */
static bool edge_is_wall(int x1, int y1, int x2, int y2)
{
    int seat;

    for (seat = 0; seat < 4; seat++) {
        bool side = (x1 == 12 && x2 == 12) || (x1 == 16 && x2 == 16);
        bool end = (y1 == 0 && y2 == 0) || (y1 == 4 && y2 == 4);
        bool near = x1 >= 12 && x2 >= 12 && y1 <= 4 && y2 <= 4;
        bool gate = x1 == 12 && x2 == 12 && y1 >= 2 && y2 >= 2;
        int a = x1, b = x2;

        if (near && (side || end) && !gate)
            return true;
        x1 = 16 - y1;
        y1 = a;
        x2 = 16 - y2;
        y2 = b;
    }
    return false;
}

static void test_walls_are_the_outlines_of_the_fortresses_but_for_the_gates(void **state)
{
    int f, r, straight = 0, diagonal = 0;

    (void)state;
    for (f = 1; f <= 16; f++)
        for (r = 1; r <= 16; r++) {
            struct plain_square a = {f, r}, east = {f + 1, r}, north = {f, r + 1};
            struct plain_square ne = {f + 1, r + 1}, nw = {f - 1, r + 1};

#define BOTH(b) (plain_on_board(PLAIN_FORTRESS, a) && plain_on_board(PLAIN_FORTRESS, b))
#define BARRED(b) plain_step_is_walled(PLAIN_FORTRESS, a, b)
            if (BOTH(east)) {
                assert_int_equal(BARRED(east), edge_is_wall(f, r - 1, f, r));
                straight += BARRED(east);
            }
            if (BOTH(north)) {
                assert_int_equal(BARRED(north), edge_is_wall(f - 1, r, f, r));
                straight += BARRED(north);
            }
            if (BOTH(ne)) {
                assert_int_equal(BARRED(ne), point_has_wall(f, r));
                diagonal += BARRED(ne);
            }
            if (BOTH(nw)) {
                assert_int_equal(BARRED(nw), point_has_wall(f - 1, r));
                diagonal += BARRED(nw);
            }
#undef BOTH
#undef BARRED
        }
    assert_int_equal(straight, 8); /* R-F5 */
    assert_int_equal(diagonal, 24);
}

/* R-F6 */
static void test_walls_bar_56_knights_leaps(void **state)
{
    int f, r, tf, tr, barred = 0;

    (void)state;
    for (f = 1; f <= 16; f++)
        for (r = 1; r <= 16; r++)
            for (tf = 1; tf <= 16; tf++)
                for (tr = 1; tr <= 16; tr++) {
                    struct plain_square a = {f, r}, b = {tf, tr};

                    if (abs((f - tf) * (r - tr)) == 2 && plain_on_board(PLAIN_FORTRESS, a) &&
                        plain_on_board(PLAIN_FORTRESS, b)) {
                        barred += plain_leap_is_walled(PLAIN_FORTRESS, a, b);
                        assert_int_equal(plain_leap_is_walled(PLAIN_FORTRESS, a, b),
                                         plain_leap_is_walled(PLAIN_FORTRESS, b, a));
                    }
                }
    assert_int_equal(barred / 2, 56); /* once for both directions */
}

/* ---- arrays -------------------------------------------------------------------------------- */

static void test_arrays_stand_as_they_are_drawn(void **state)
{
    struct plain_house left = {.queens_left = true};
    struct plain_position p;
    char text[PLAIN_TEXT];

    (void)state;
    plain_start(PLAIN_VERNEY, usual, &p); /* R-V3 */
    plain_print(&p, text);
    assert_string_equal(
        text, "verney x,x,x,yR,yN,yB,yK,yQ,yB,yN,yR,x,x,x/x,x,x,yP,yP,yP,yP,yP,yP,yP,yP,x,x,x/"
              "x,x,x,8,x,x,x/rR,rP,10,bP,bR/rN,rP,10,bP,bN/rB,rP,10,bP,bB/rK,rP,10,bP,bQ/"
              "rQ,rP,10,bP,bK/rB,rP,10,bP,bB/rN,rP,10,bP,bN/rR,rP,10,bP,bR/x,x,x,8,x,x,x/"
              "x,x,x,wP,wP,wP,wP,wP,wP,wP,wP,x,x,x/x,x,x,wR,wN,wB,wQ,wK,wB,wN,wR,x,x,x "
              "w aaaa - - 0 0");
    plain_start(PLAIN_VERNEY, left, &p); /* Q a8, K a7, Q n7, K n8 */
    assert_int_equal(p.at[1][8].kind, 'Q');
    assert_int_equal(p.at[1][7].kind, 'K');
    assert_int_equal(p.at[14][7].kind, 'Q');
    assert_int_equal(p.at[14][8].kind, 'K');
    plain_start(PLAIN_TEAMS, usual, &p); /* R-M1: queens g1 a8 h14 n7 */
    assert_int_equal(p.at[7][1].kind, 'Q');
    assert_int_equal(p.at[1][8].kind, 'Q');
    assert_int_equal(p.at[8][14].kind, 'Q');
    assert_int_equal(p.at[14][7].kind, 'Q');
    plain_start(PLAIN_FORTRESS, usual, &p); /* R-F7 */
    plain_print(&p, text);
    assert_string_equal(
        text, "fortress 1,rB,2,x,x,x,x,x,x,x,x,uR,3/4,x,x,x,x,x,x,x,x,3,uB/"
              "2,rN,1,rR,rN,rB,rK,rQ,rB,rN,rR,1,uN,2/rR,3,rP,rP,rP,rP,rP,rP,rP,rP,4/"
              "x,x,bR,bP,8,uP,uR,x,x/x,x,bN,bP,8,uP,uN,x,x/x,x,bB,bP,8,uP,uB,x,x/"
              "x,x,bQ,bP,8,uP,uK,x,x/x,x,bK,bP,8,uP,uQ,x,x/x,x,bB,bP,8,uP,uB,x,x/"
              "x,x,bN,bP,8,uP,uN,x,x/x,x,bR,bP,8,uP,uR,x,x/"
              "4,wP,wP,wP,wP,wP,wP,wP,wP,3,wR/2,bN,1,wR,wN,wB,wQ,wK,wB,wN,wR,1,wN,2/"
              "bB,3,x,x,x,x,x,x,x,x,4/3,bR,x,x,x,x,x,x,x,x,2,wB,1 "
              "w aaaa wrwlbrblrrrlurul - 0 0");
}

static unsigned long long perft(const struct plain_position *p, int depth)
{
    struct plain_move *moves = calloc(PLAIN_MOVES, sizeof *moves);
    unsigned long long total = 0;
    size_t i, n;

    assert_non_null(moves);
    n = p->result == PLAIN_GOING ? plain_legal_moves(p, p->turn, moves) : 0;
    for (i = 0; i < n && depth > 1; i++) {
        struct plain_position next = *p;

        plain_play(&next, &moves[i]);
        total += perft(&next, depth - 1);
    }
    free(moves);
    return depth > 1 ? total : n;
}

/* R-T3, as deep as patience allows. */
static void test_lines_of_play_from_the_array_are_as_many_as_is_known(void **state)
{
    static const unsigned long long known[3][4] = {
        {12, 144, 1728, 20736}, {33, 1082, 35475, 0}, {20, 395, 7800, 152050}};
    int game, depth;

    (void)state;
    for (game = 0; game < 3; game++)
        for (depth = 1; depth <= 4 && known[game][depth - 1] > 0; depth++) {
            struct plain_position p;

            plain_start((enum plain_game)game, usual, &p);
            assert_int_equal(perft(&p, depth), known[game][depth - 1]);
        }
}

/* ---- house rules --------------------------------------------------------------------------- */

static bool is_legal(const struct plain_position *p, const char *word)
{
    static struct plain_move moves[PLAIN_MOVES];
    size_t i, n = plain_legal_moves(p, p->turn, moves);

    for (i = 0; i < n; i++) {
        char text[PLAIN_MOVE_TEXT];

        plain_print_move(&moves[i], text);
        if (strcmp(text, word) == 0)
            return true;
    }
    return false;
}

static struct plain_position read(const char *text, struct plain_house house)
{
    struct plain_position p;
    char why[PLAIN_WHY] = "", again[PLAIN_TEXT];

    if (!plain_parse(text, house, &p, why))
        fail_msg("%s: %s", text, why);
    plain_print(&p, again);
    assert_string_equal(again, text);
    return p;
}

/* Red, in his corner a4 behind bishops a5 and b4, is mated by the bishop on d7. */
static const char mated_red[] =
    "verney x,x,x,7,yK,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x/14/14/12,bK,1/1,wR,rN,11/3,wB,10/14/"
    "rB,13/rK,rB,6,wR,5/x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,7,wK,x,x,x w amaa - - 0 0";

/* R-V14 */
static void test_men_of_a_mated_army_are_taken_only_where_the_house_says_so(void **state)
{
    struct plain_house capturable = {.inert_capturable = true};
    struct plain_position p = read(mated_red, usual);

    (void)state;
    assert_true(plain_in_check(&p, 1));
    assert_false(plain_has_legal_move(&p, 1));
    assert_false(is_legal(&p, "i4b4"));
    assert_false(is_legal(&p, "b8c8"));
    p.house = capturable;
    /* The rook on b4 would be guarded by the one on b8: the mate holds. */
    assert_true(is_legal(&p, "i4b4"));
    assert_true(is_legal(&p, "b8c8"));
    /* The bishop may leave, but not by taking a man of the army it releases. */
    assert_true(is_legal(&p, "d7e8"));
    assert_false(is_legal(&p, "d7c8"));
    /* Never the king. */
    assert_false(is_legal(&p, "d7a4"));
    /* Without its guard the rook on b4 would be taken: no mate. */
    p.at[2][8].kind = 0;
    assert_false(is_legal(&p, "i4b4"));
}

/* R-V14, R-V16: Black, mated by the queen on h6, could go to g3 but for his duty to Red on h1
 * (R-V5).  The queen that takes on f1 mates Red; so step 2 of R-V16 releases Black. */
static const char released_by_the_other_mate[] =
    "verney x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x/14/14/14/3,wR,10/14/7,yQ,3,bB,2/3,yB,10/"
    "3,bB,yK,6,yR,2/x,x,x,8,x,x,x/x,x,x,4,bK,2,wK,x,x,x/x,x,x,1,wQ,bB,1,rK,1,yV,1,x,x,x "
    "w aaam - - 5 9";

static void test_no_man_is_taken_by_a_move_whose_other_mate_releases_his_army(void **state)
{
    struct plain_house capturable = {.inert_capturable = true};
    struct plain_position p = read(released_by_the_other_mate, capturable);
    struct plain_move take = {{5, 1}, {6, 1}, 0};

    (void)state;
    assert_false(is_legal(&p, "e1f1"));
    /* Were the man Red's own, all the rest alike, the move would be legal and do just that. */
    p.at[6][1].seat = 1;
    assert_true(is_legal(&p, "e1f1"));
    plain_play(&p, &take);
    assert_memory_equal(p.condition, "amaa", 4);
}

/* R-V6 */
static void test_queening_may_become_promotion_of_choice(void **state)
{
    static const char text[] =
        "verney x,x,x,7,yK,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x/rK,13/14/rN,13/1,wP,11,bK/14/14/14/"
        "14/x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,7,wK,x,x,x w aaaa - - 0 0";
    struct plain_house any = {.promotion_any = true};
    struct plain_position p = read(text, usual);

    (void)state;
    assert_true(is_legal(&p, "b8a9q"));
    assert_false(is_legal(&p, "b8a9n"));
    assert_false(is_legal(&p, "b8a9"));
    p.house = any;
    assert_true(is_legal(&p, "b8a9q"));
    assert_true(is_legal(&p, "b8a9r"));
    assert_true(is_legal(&p, "b8a9b"));
    assert_true(is_legal(&p, "b8a9n"));
    assert_false(is_legal(&p, "b8a9"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boards_have_160_and_192_squares),
        cmocka_unit_test(test_walls_are_the_outlines_of_the_fortresses_but_for_the_gates),
        cmocka_unit_test(test_walls_bar_56_knights_leaps),
        cmocka_unit_test(test_arrays_stand_as_they_are_drawn),
        cmocka_unit_test(test_lines_of_play_from_the_array_are_as_many_as_is_known),
        cmocka_unit_test(test_men_of_a_mated_army_are_taken_only_where_the_house_says_so),
        cmocka_unit_test(test_no_man_is_taken_by_a_move_whose_other_mate_releases_his_army),
        cmocka_unit_test(test_queening_may_become_promotion_of_choice),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * tests/rules/test_show.c - boards for eyes, sentences for ears.
 */
#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "rules/show.h"
#include "walk.h"

static char text[SHOW_SPOKEN_MAX * 2];

static struct position array_of(const char *variant_text)
{
    struct variant variant;
    struct position pos;

    assert_int_equal(variant_parse(variant_text, &variant, NULL), VARIANT_OK);
    assert_int_equal(position_start(&variant, NULL, &pos), RESERVE_OK);
    return pos;
}

static void test_the_fortress_board_has_its_walls_and_gates(void **state)
{
    static const char want[] =
        "16  .  rB .  .                          uR .  .  .\n"
        "15  .  .  .  .                          .  .  .  uB\n"
        "14  .  .  rN . :rR rN rB rK rQ rB rN rR#.  uN .  .\n"
        "13  rR .  .  . :rP rP rP rP rP rP rP rP#.  .  .  .\n"
        "          == ==                         .. ..\n"
        "12        bR bP .  .  .  .  .  .  .  .  uP uR\n"
        "11        bN bP .  .  .  .  .  .  .  .  uP uN\n"
        "10        bB bP .  .  .  .  .  .  .  .  uP uB\n"
        " 9        bQ bP .  .  .  .  .  .  .  .  uP uK\n"
        " 8        bK bP .  .  .  .  .  .  .  .  uP uQ\n"
        " 7        bB bP .  .  .  .  .  .  .  .  uP uB\n"
        " 6        bN bP .  .  .  .  .  .  .  .  uP uN\n"
        " 5        bR bP .  .  .  .  .  .  .  .  uP uR\n"
        "          .. ..                         == ==\n"
        " 4  .  .  .  . #wP wP wP wP wP wP wP wP:.  .  .  wR\n"
        " 3  .  .  bN . #wR wN wB wQ wK wB wN wR:.  wN .  .\n"
        " 2  bB .  .  .                          .  .  .  .\n"
        " 1  .  .  .  bR                         .  .  wB .\n"
        "     a  b  c  d  e  f  g  h  i  j  k  l  m  n  o  p\n";
    const struct show_options options = {.side = SEAT_SOUTH};
    struct position pos = array_of("fortress reserve=usual");

    (void)state;
    show_board(&pos, &options, text, sizeof text);
    assert_string_equal(text, want);
}

static void test_verney_is_seen_from_the_side_that_is_asked_for(void **state)
{
    struct show_options options = {.side = SEAT_WEST};
    struct position pos = array_of("verney");

    (void)state;
    show_board(&pos, &options, text, sizeof text);
    assert_memory_equal(text, " n           bR bN bB bQ bK bB bN bR\n", 37);
    assert_non_null(strstr(text, " a           rR rN rB rK rQ rB rN rR\n"));
    assert_non_null(strstr(text, "\n    14 13 12 11 10  9  8  7  6  5  4  3  2  1\n"));
    options.side = SEAT_NORTH;
    show_board(&pos, &options, text, sizeof text);
    assert_memory_equal(text, " 1           wR wN wB wK wQ wB wN wR\n", 37);
    assert_non_null(strstr(text, "\n     n  m  l  k  j  i  h  g  f  e  d  c  b  a\n"));
    options.side = SEAT_EAST;
    show_board(&pos, &options, text, sizeof text);
    assert_memory_equal(text, " a           rR rN rB rQ rK rB rN rR\n", 37);
    assert_non_null(strstr(text, "\n     1  2  3  4  5  6  7  8  9 10 11 12 13 14\n"));
}

static void test_no_line_is_wider_than_a_braille_display(void **state)
{
    (void)state;
    for (int v = 0; v < WALK_VARIANTS; v++) {
        struct walk walk;
        struct step step;

        assert_true(walk_start(&walk, walk_variants[v], 9));
        for (int ply = 0; ply < 60 && walk_step(&walk, &step); ply++) {
            for (int side = 0; side < SEATS; side++) {
                const struct show_options options = {.side = (enum seat)side, .is_narrow = true,
                                                     .has_legend = true};

                show_board(&walk.pos, &options, text, sizeof text);
                for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
                    assert_true(strcspn(line, "\n") <= 40);
            }
            show_spoken(&walk.pos, NULL, 40, text, sizeof text);
            for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
                assert_true(strcspn(line, "\n") <= 40);
        }
    }
}

static void test_narrow_keeps_the_walls(void **state)
{
    const struct show_options options = {.side = SEAT_SOUTH, .is_narrow = true};
    struct position pos = array_of("fortress reserve=usual");

    (void)state;
    show_board(&pos, &options, text, sizeof text);
    assert_non_null(strstr(text, "\n 4  . . . .#wPwPwPwPwPwPwPwP: . . .wR\n"));
    assert_non_null(strstr(text, "\n       ....                  ====\n"));
    assert_non_null(strstr(text, "\n    a b c d  e f g h i j k l  m n o p\n"));
}

static void test_inert_armies_and_turned_pawns_look_different(void **state)
{
    const struct show_options options = {.side = SEAT_SOUTH, .has_legend = true};
    struct position pos = row_position("verney", "wKh1 wRk5 wRj4 rKa4 rPb9 yKg14 yVe3 bKn7",
                                       "w amaa");

    (void)state;
    show_board(&pos, &options, text, sizeof text);
    assert_non_null(strstr(text, "\n 4  rk"));
    assert_non_null(strstr(text, "\n 9  .  rp "));
    assert_non_null(strstr(text, "\n 3           .  yV "));
    assert_non_null(strstr(text, "\nr Red (West): mated, inert\n"));
    assert_non_null(strstr(text, "\nV is a pawn that walks back.\n"));
    assert_non_null(strstr(text, "\nMen with a small letter are inert.\n"));
    assert_non_null(strstr(text, "\nRed's king on a4 is mated by White's rook on j4.\n"));
    assert_non_null(strstr(text, "\nWhite (South) to move.\n"));
    assert_null(strstr(text, "a gate"));
}

static void test_the_last_move_is_marked(void **state)
{
    struct position pos = row_position("verney", "wKh1 rKa8 yKg14 bKn7 wNf3", "r aaaa");
    struct move move = row_move("e1f3");
    const struct show_options options = {.side = SEAT_SOUTH, .last = &move};

    (void)state;
    show_board(&pos, &options, text, sizeof text);
    assert_non_null(strstr(text, "\n 3           .  . [wN].  "));
    assert_non_null(strstr(text, "\n 1           . (. ).  .  wK "));
}

static void test_spoken_tells_changes_first_and_then_all(void **state)
{
    static const char want[] =
        "White: knight from g1 takes bishop f3, check to Red.\n"
        "Red (West) to move.\n"
        "Red's king on d4 is in check from White's knight on f3.\n"
        "Red (West); king d4.\n"
        "Yellow (North); king g14; pawns that walk back i3, e5.\n"
        "Black (East), has left, inert; king n7; rook n4.\n"
        "White (South); king h1; knight f3; pawns d2, e2.\n"
        "Game verney, ply 1, 0 turns without progress.\n";
    struct position pos = row_position(
        "verney", "wKh1 wNg1 wPd2 wPe2 rKd4 rBf3 yKg14 yVe5 yVi3 bKn7 bRn4", "w aaax");
    struct spoken spoken;

    (void)state;
    assert_int_equal(spoken_of_move(&pos, row_move("g1f3"), &spoken), MOVE_LEGAL);
    assert_int_equal(position_play(&pos, spoken.move, NULL, NULL), MOVE_LEGAL);
    show_spoken(&pos, &spoken, 0, text, sizeof text);
    assert_string_equal(text, want);
}

static void test_spoken_tells_rights_and_results(void **state)
{
    struct position pos = row_position("teams", "rKh1 rRk1 rRd1 bKa7 yKg14 gKn8 rPe4",
                                       "b aaaa rrrl re3");

    (void)state;
    show_spoken(&pos, NULL, 0, text, sizeof text);
    assert_non_null(strstr(text, "\nRed may still castle right and left.\n"));
    assert_non_null(strstr(text, "\nRed's pawn has just passed over e3: en passant.\n"));
    assert_int_equal(position_leave(&pos, SEAT_NORTH, LEAVE_RESIGN, NULL), LEAVE_OK);
    show_spoken(&pos, NULL, 0, text, sizeof text);
    assert_memory_equal(text, "Blue and Green have won.\n", 25);
}

static void test_whatever_is_shown_fits_the_buffers_that_are_promised(void **state)
{
    size_t longest = 0;

    (void)state;
    for (int v = 0; v < WALK_VARIANTS; v++) {
        struct walk walk;
        struct step step;

        assert_true(walk_start(&walk, walk_variants[v], 77));
        for (int ply = 0; ply < 200 && walk_step(&walk, &step); ply++) {
            const struct show_options options = {.side = SEAT_WEST, .has_legend = true,
                                                 .last = step.leaves ? NULL : &step.move};
            size_t n = show_spoken(&walk.pos, NULL, 40, text, sizeof text);

            assert_true(n < SHOW_SPOKEN_MAX);
            longest = n > longest ? n : longest;
            assert_true(show_board(&walk.pos, &options, text, sizeof text) < SHOW_BOARD_MAX);
        }
    }
    assert_true(longest > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_fortress_board_has_its_walls_and_gates),
        cmocka_unit_test(test_verney_is_seen_from_the_side_that_is_asked_for),
        cmocka_unit_test(test_no_line_is_wider_than_a_braille_display),
        cmocka_unit_test(test_narrow_keeps_the_walls),
        cmocka_unit_test(test_inert_armies_and_turned_pawns_look_different),
        cmocka_unit_test(test_the_last_move_is_marked),
        cmocka_unit_test(test_spoken_tells_changes_first_and_then_all),
        cmocka_unit_test(test_spoken_tells_rights_and_results),
        cmocka_unit_test(test_whatever_is_shown_fits_the_buffers_that_are_promised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

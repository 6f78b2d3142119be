/*
 * tests/rules/test_fen4.c - FEN4 out and in, and what is refused where.
 */
#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "rules/fen4.h"
#include "support/rule.h"
#include "walk.h"

#define MODERN_BOARD                                                                               \
    "x,x,x,yR,yN,yB,yK,yQ,yB,yN,yR,x,x,x/x,x,x,yP,yP,yP,yP,yP,yP,yP,yP,x,x,x/x,x,x,8,x,x,x/"       \
    "bR,bP,10,gP,gR/bN,bP,10,gP,gN/bB,bP,10,gP,gB/bQ,bP,10,gP,gK/bK,bP,10,gP,gQ/bB,bP,10,gP,gB/"   \
    "bN,bP,10,gP,gN/bR,bP,10,gP,gR/x,x,x,8,x,x,x/x,x,x,rP,rP,rP,rP,rP,rP,rP,rP,x,x,x/"             \
    "x,x,x,rR,rN,rB,rQ,rK,rB,rN,rR,x,x,x"
#define MODERN "R-0,0,0,0-1,1,1,1-1,1,1,1-0,0,0,0-0-" MODERN_BOARD

/* Four kings: North g14, West a7, East n8, South h1. */
#define KINGS_BOARD "3,3,yK,4,3/14/14/14/14/14/13,gK/bK,13/14/14/14/14/14/7,rK,6"
#define FLAGS "0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-"

static struct variant variant_of(const char *text)
{
    struct variant variant;

    assert_int_equal(variant_parse(text, &variant, NULL), VARIANT_OK);
    return variant;
}

static void test_the_modern_array_is_written_and_read(void **state)
{
    struct variant teams = variant_of("teams");
    struct position pos, back;
    char text[FEN4_TEXT_MAX + 1];

    (void)state;
    assert_int_equal(position_start(&teams, NULL, &pos), RESERVE_OK);
    assert_int_equal(fen4_print(&pos, FEN4_CORNERS_X, text, sizeof text), strlen(MODERN));
    assert_string_equal(text, MODERN);
    assert_int_equal(fen4_parse(&teams, text, strlen(text), &back, NULL), FEN4_OK);
    assert_true(pos.hash == back.hash);
    assert_int_equal(fen4_losses(&pos), 0);
}

static void test_corners_may_count_among_the_empties(void **state)
{
    struct variant teams = variant_of("teams");
    struct position pos, back;
    char text[FEN4_TEXT_MAX + 1];

    (void)state;
    assert_int_equal(position_start(&teams, NULL, &pos), RESERVE_OK);
    fen4_print(&pos, FEN4_CORNERS_EMPTIES, text, sizeof text);
    assert_non_null(strstr(text, "-3,yR,yN,yB,yK,yQ,yB,yN,yR,3/3,yP,"));
    assert_non_null(strstr(text, "/14/bR,bP,10,gP,gR/"));
    assert_null(strchr(text, 'x'));
    assert_int_equal(fen4_parse(&teams, text, strlen(text), &back, NULL), FEN4_OK);
    assert_true(pos.hash == back.hash);
}

static void test_verney_starts_from_the_classic_array_without_castling(void **state)
{
    struct variant verney = variant_of("verney");
    struct position pos;
    char text[FEN4_TEXT_MAX + 1];

    (void)state;
    assert_int_equal(position_start(&verney, NULL, &pos), RESERVE_OK);
    fen4_print(&pos, FEN4_CORNERS_X, text, sizeof text);
    assert_memory_equal(text, "R-0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-x,x,x,yR", 44);
    assert_non_null(strstr(text, "/bK,bP,10,gP,gQ/bQ,bP,10,gP,gK/")); /* West K a8, Q a7 */
}

static void test_en_passant_names_the_square_and_the_pawn(void **state)
{
    struct position pos = row_position("teams", "rKh1 bKa7 yKg14 gKn8 rPe4 bPd5",
                                       "y aaaa - re3,bc5"), back;
    char text[FEN4_TEXT_MAX + 1];

    (void)state;
    fen4_print(&pos, FEN4_CORNERS_X, text, sizeof text);
    assert_non_null(strstr(text, "-{'enPassant':('e3:e4','c5:d5','','')}-"));
    assert_int_equal(fen4_parse(&pos.variant, text, strlen(text), &back, NULL), FEN4_OK);
    assert_int_equal(back.passed_by, 3);
    assert_int_equal(back.passed[SEAT_WEST], square_of(2, 4));
}

static void test_dead_armies_are_written_dead_and_read_as_absent(void **state)
{
    struct position pos = row_position("verney", "wKh1 rKa8 rVc5 yKg14 bKn7", "w axaa"), back;
    char text[FEN4_TEXT_MAX + 1];

    (void)state;
    assert_int_equal(fen4_losses(&pos), FEN4_LOSES_TURNED);
    fen4_print(&pos, FEN4_CORNERS_EMPTIES, text, sizeof text);
    assert_memory_equal(text, "R-0,1,0,0-", 10);
    assert_non_null(strstr(text, "/dbK,13/"));
    assert_non_null(strstr(text, "/2,dbP,11/"));
    assert_int_equal(fen4_parse(&pos.variant, text, strlen(text), &back, NULL), FEN4_OK);
    assert_int_equal(back.condition[SEAT_WEST], CONDITION_ABSENT);
    assert_int_equal(man_kind(back.men[square_of(2, 4)]), KIND_PAWN);
}

static void test_a_dead_man_without_owner_is_the_dead_seats(void **state)
{
    static const char one[] = "R-0,1,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-"
                              "3,3,yK,4,3/14/14/14/14/14/13,gK/dK,13/1,dP,12/14/14/14/14/7,rK,6";
    struct variant verney = variant_of("verney");
    struct position pos;

    (void)state;
    assert_int_equal(fen4_parse(&verney, one, strlen(one), &pos, NULL), FEN4_OK);
    assert_int_equal(pos.men[square_of(1, 5)], man_of(SEAT_WEST, KIND_PAWN));
    assert_int_equal(pos.king[SEAT_WEST], square_of(0, 6));
}

static void test_real_exports_with_line_ends_and_extras_are_read(void **state)
{
    static const char text[] =
        "G-0,0,0,0-0,0,0,0-0,0,0,0-12,3,0,7-5-{'royal':('h1','a7','g14','n8'),'gameOver':'',"
        "'pawnBaseRank':2,'dim':'14x14','bank':('','','',''),'lives':(0,0,0,0),'std2pc':false,"
        "'promotedFrom':{},'uniquify':1}-\n"
        "3,3,yK,4,3/\r\n14/\n14/14/14/14/13,gK/bK,13/14/14/14/14/14/\n7,rK,6\n";
    struct variant teams = variant_of("teams");
    struct position pos;
    struct fen4_error error = {.code = FEN4_OK};

    (void)state;
    if (fen4_parse(&teams, text, strlen(text), &pos, &error) != FEN4_OK) {
        char sentence[FEN4_SENTENCE_MAX];
        fen4_error_sentence(&error, sentence, sizeof sentence);
        fail_msg("%s", sentence);
    }
    assert_int_equal(pos.turn, SEAT_EAST);
    assert_int_equal(pos.count, 5);
    assert_int_equal(pos.ply, 5); /* FEN4 does not say: the least it can be */
}

static void test_the_dialect_without_commas_is_read(void **state)
{
    static const char text[] = "R-" FLAGS "xxx3yK4xxx/xxx8xxx/xxx8xxx/14/14/14/13gK/bK13/14/14/"
                               "14/xxx8xxx/xxx8xxx/xxx4rK3xxx";
    struct variant teams = variant_of("teams");
    struct position pos;

    (void)state;
    assert_int_equal(fen4_parse(&teams, text, strlen(text), &pos, NULL), FEN4_OK);
    assert_int_equal(pos.king[SEAT_SOUTH], square_of(7, 0));
}

static void test_rights_whose_rook_is_gone_are_dropped(void **state)
{
    static const char text[] = "R-0,0,0,0-1,0,0,0-1,0,0,0-0,0,0,0-0-"
                               "3,3,yK,4,3/14/14/14/14/14/13,gK/bK,13/14/14/14/14/14/3,rR,3,rK,6";
    struct variant teams = variant_of("teams");
    struct position pos;

    (void)state;
    assert_int_equal(fen4_parse(&teams, text, strlen(text), &pos, NULL), FEN4_OK);
    assert_true(position_can_castle(&pos, SEAT_SOUTH, true));
    assert_false(position_can_castle(&pos, SEAT_SOUTH, false));
}

struct refusal {
    const char *sentence, *variant, *text;
    enum fen4_verdict code;
    int line, column, rank;
};

static const struct refusal refusals[] = {
    {"nothing", "teams", "", FEN4_ENDS_EARLY, 1, 1, 0},
    {"a small letter for the turn", "teams", "r-" FLAGS KINGS_BOARD, FEN4_BAD_TURN, 1, 1, 0},
    {"three flags", "teams", "R-0,0,0-", FEN4_BAD_FLAGS, 1, 8, 0},
    {"a flag of 2", "teams", "R-0,0,2,0-", FEN4_BAD_FLAGS, 1, 7, 0},
    {"no points", "teams", "R-0,0,0,0-0,0,0,0-0,0,0,0-x-", FEN4_BAD_POINTS, 1, 27, 0},
    {"a count that is too large", "teams", "R-0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-65536-14",
     FEN4_BAD_COUNT, 1, 35, 0},
    {"it stops", "teams", "R-0,0,0,0-0,0,0,0", FEN4_ENDS_EARLY, 1, 18, 0},
    {"no such colour", "teams", "R-" FLAGS "3,3,zK,4,3/14", FEN4_BAD_COLOUR, 1, 41, 14},
    {"no such man", "teams", "R-" FLAGS "3,3,yD,4,3/14", FEN4_BAD_KIND, 1, 41, 14},
    {"V is ours alone", "verney", "R-" FLAGS "3,3,yV,4,3/14", FEN4_BAD_KIND, 1, 41, 14},
    {"a rank too short", "teams", "R-" FLAGS "3,3,yK,4,3/13/14", FEN4_RANK_SHORT, 1, 50, 13},
    {"a rank too long", "teams", "R-" FLAGS "3,3,yK,4,3/14,1/14", FEN4_RANK_LONG, 1, 51, 13},
    {"a number too large", "teams", "R-" FLAGS "15/14", FEN4_BAD_TOKEN, 1, 37, 14},
    {"x where the board is", "teams", "R-" FLAGS "x,x,x,x,7,x,x,x/14", FEN4_X_ON_BOARD, 1, 43, 14},
    {"a wall", "teams", "R-" FLAGS "x,x,x,X,7,x,x,x/14", FEN4_WALL, 1, 43, 14},
    {"a man in the corner", "teams", "R-" FLAGS "yK,13/14", FEN4_MAN_OFF_BOARD, 1, 37, 14},
    {"too few ranks", "teams", "R-" FLAGS "3,3,yK,4,3/14/14", FEN4_TOO_FEW_RANKS, 1, 53, 12},
    {"too many ranks", "teams", "R-" FLAGS KINGS_BOARD "/14", FEN4_TOO_MANY_RANKS, 1, 96, 0},
    {"something behind it", "teams", "R-" FLAGS KINGS_BOARD " w", FEN4_TRAILING, 1, 97, 0},
    {"two kings", "teams", "R-" FLAGS "3,3,yK,yK,3,3/14", FEN4_TWO_KINGS, 1, 44, 14},
    {"on the second line", "teams", "R-" FLAGS "\n3,3,yK,q,3,3/14", FEN4_BAD_TOKEN, 2, 8, 14},
    {"no king", "teams", "R-" FLAGS "14/14/14/14/14/14/13,gK/bK,13/14/14/14/14/14/7,rK,6",
     FEN4_NO_KING, 1, 88, 0},
    {"a dead man of nobody", "verney",
     "R-" FLAGS "3,3,yK,4,3/14/14/14/14/14/13,gK/bK,13/dP,13/14/14/14/14/7,rK,6", FEN4_DEAD_OWNER,
     1, 75, 0},
    {"a dead man of a live seat", "verney", "R-" FLAGS "3,3,dyK,4,3/14", FEN4_DEAD_MAN_OF_LIVE, 1,
     41, 14},
    {"castling from elsewhere", "teams",
     "R-0,0,0,0-0,1,0,0-0,0,0,0-0,0,0,0-0-3,3,yK,4,3/14/14/14/14/14/bK,12,gK/14/14/14/14/14/14/"
     "7,rK,6",
     FEN4_CASTLING, 1, 13, 0},
    {"another board", "teams", "R-0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-{'dim':'8x8'}-" KINGS_BOARD,
     FEN4_OTHER_GAME, 1, 44, 0},
    {"men in hand", "teams", "R-0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-{'bank':('rQ','','','')}-",
     FEN4_OTHER_GAME, 1, 39, 0},
    {"a brace that is not closed", "teams", "R-0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-{'a':1",
     FEN4_ENDS_EARLY, 1, 43, 0},
    {"a key without a value", "teams", "R-0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-{'a'}-", FEN4_BAD_EXTRA,
     1, 41, 0},
    {"a pawn that has not passed", "teams",
     "R-0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-{'enPassant':('e3:e5','','','')}-" KINGS_BOARD,
     FEN4_BAD_KEY_VALUE, 1, 57, 0},
    {"a king that is not there", "teams",
     "R-0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-{'royal':('h2','','','')}-" KINGS_BOARD,
     FEN4_BAD_KEY_VALUE, 1, 50, 0},
    {"the fortress game", "fortress", MODERN, FEN4_NO_SUCH_GAME, 1, 1, 0},
};

static void test_what_is_wrong_is_named_by_line_and_column(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        struct variant variant = variant_of(r->variant);
        struct position pos = {.ply = 77};
        struct fen4_error error = {.code = FEN4_OK};
        char sentence[FEN4_SENTENCE_MAX];

        fen4_parse(&variant, r->text, strlen(r->text), &pos, &error);
        fen4_error_sentence(&error, sentence, sizeof sentence);
        if (error.code != r->code || error.line != r->line || error.column != r->column ||
            error.rank != r->rank) {
            print_error("%s: %s (%s), wanted %s at %d:%d rank %d\n", r->sentence, sentence,
                        fen4_verdict_str(error.code), fen4_verdict_str(r->code), r->line,
                        r->column, r->rank);
            wrong++;
        }
        assert_int_equal(pos.ply, 77); /* untouched */
    }
    assert_int_equal(wrong, 0);
}

static void test_the_sentence_says_place_word_and_what_is_wanted(void **state)
{
    static const char text[] = "R-" FLAGS "3,3,zK,4,3/14";
    struct variant teams = variant_of("teams");
    struct position pos;
    struct fen4_error error;
    char sentence[FEN4_SENTENCE_MAX];

    (void)state;
    assert_int_equal(fen4_parse(&teams, text, strlen(text), &pos, &error), FEN4_BAD_COLOUR);
    fen4_error_sentence(&error, sentence, sizeof sentence);
    assert_string_equal(sentence, "line 1, column 41, board, rank 14: \"zK\": this is no colour; "
                                  "wanted: r, b, y or g");
}

static void test_fortress_cannot_be_written(void **state)
{
    struct variant fortress = variant_of("fortress reserve=usual");
    struct position pos;
    char text[FEN4_TEXT_MAX + 1] = "?";

    (void)state;
    assert_int_equal(position_start(&fortress, NULL, &pos), RESERVE_OK);
    assert_int_equal(fen4_print(&pos, FEN4_CORNERS_X, text, sizeof text), 0);
    assert_string_equal(text, "");
}

/* Where fen4_losses() says 0, FEN4 is the identity; else all but the losses comes back. */
static void test_positions_come_back_but_for_what_is_told(void **state)
{
    static const int games[] = {0, 1, 2, 5}; /* of walk_variants: those on 160 squares */
    long same = 0;

    (void)state;
    for (size_t g = 0; g < sizeof games / sizeof games[0]; g++) {
        for (uint64_t seed = 0; seed < 10; seed++) {
            struct walk walk;
            struct step step;

            assert_true(walk_start(&walk, walk_variants[games[g]], seed));
            do {
                struct position back;
                char text[FEN4_TEXT_MAX + 1];
                unsigned lost = fen4_losses(&walk.pos);

                assert_in_range(fen4_print(&walk.pos,
                                           seed % 2 == 0 ? FEN4_CORNERS_X : FEN4_CORNERS_EMPTIES,
                                           text, sizeof text),
                                100, FEN4_TEXT_MAX);
                assert_int_equal(fen4_parse(&walk.pos.variant, text, strlen(text), &back, NULL),
                                 FEN4_OK);
                assert_int_equal(back.turn, walk.pos.turn);
                assert_int_equal(back.count, walk.pos.count);
                if ((lost & ~(unsigned)(FEN4_LOSES_PLY | FEN4_LOSES_HOUSE_RULES)) == 0) {
                    assert_true(back.hash == walk.pos.hash);
                    same++;
                }
            } while (walk.pos.ply < 300 && walk_step(&walk, &step));
        }
    }
    assert_true(same > 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_modern_array_is_written_and_read),
        cmocka_unit_test(test_corners_may_count_among_the_empties),
        cmocka_unit_test(test_verney_starts_from_the_classic_array_without_castling),
        cmocka_unit_test(test_en_passant_names_the_square_and_the_pawn),
        cmocka_unit_test(test_dead_armies_are_written_dead_and_read_as_absent),
        cmocka_unit_test(test_a_dead_man_without_owner_is_the_dead_seats),
        cmocka_unit_test(test_real_exports_with_line_ends_and_extras_are_read),
        cmocka_unit_test(test_the_dialect_without_commas_is_read),
        cmocka_unit_test(test_rights_whose_rook_is_gone_are_dropped),
        cmocka_unit_test(test_what_is_wrong_is_named_by_line_and_column),
        cmocka_unit_test(test_the_sentence_says_place_word_and_what_is_wanted),
        cmocka_unit_test(test_fortress_cannot_be_written),
        cmocka_unit_test(test_positions_come_back_but_for_what_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

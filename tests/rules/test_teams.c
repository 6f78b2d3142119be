/*
 * tests/rules/test_teams.c - the modern team game, rule by rule.
 */
#include "rows.h"
#include "support/rule.h"

#define KINGS "rKh1 bKa7 yKg14 gKn8 "

static const struct row rows[] = {
    {"R-M2", "a pawn makes a double step from its second rank", "teams", KINGS "rPe2", "r aaaa",
     "e2e4", "legal", "rPe4", NULL, NULL},
    {"R-M2", "West's from file b", "teams", KINGS "bPb5", "b aaaa", "b5d5", "legal", "bPd5", NULL,
     NULL},
    {"R-M2", "in passing", "teams", KINGS "rPe4 gPf4", "g aaaa - re3", "f4e3", "legal",
     "gPe3 -e4 -f4", NULL, "en-passant:g"},
    {"R-M2", "in passing with a promotion", "teams", KINGS "rPb10 bPd11", "r aaaa - bc11",
     "b10c11q", "legal", "rQc11 -d11 -b10", NULL, "en-passant:r promoted:r"},
    {"R-M2", "castling to the right", "teams", KINGS "rRk1", "r aaaa rr", "h1j1", "legal",
     "rKj1 rRi1 -k1", NULL, "castled:r"},
    {"R-M2", "castling to the left", "teams", KINGS "rRd1", "r aaaa rl", "h1f1", "legal",
     "rKf1 rRg1 -d1", NULL, "castled:r"},
    {"R-M2", "a pawn promotes on its eleventh rank", "teams", KINGS "rPe10", "r aaaa", "e10e11n",
     "legal", "rNe11", NULL, "promoted:r"},
    {"R-M2", "anywhere on it", "teams", KINGS "rPm10", "r aaaa", "m10m11q", "legal", "rQm11", NULL,
     NULL},
    {"R-M2", "West's on file k", "teams", KINGS "bPj5", "b aaaa", "j5k5q", "legal", "bQk5", NULL,
     NULL},
    {"R-M2", "and must choose", "teams", KINGS "rPe10", "r aaaa", "e10e11", "promotion-missing",
     NULL, NULL, NULL},
    {"R-M3", "a pawn does not leap", "teams", KINGS "rPe5 yPe6", "r aaaa", "e5e7", "pawn-no-double",
     NULL, NULL, NULL},
    {"R-M3", "a check on the partner's king may be opened", "teams", KINGS "rNg5 bRg3", "r aaaa",
     "g5e6", "legal", NULL, NULL, "check:b"},
    {"R-M3", "a mate on the victim's turn decides", "teams", "rKh1 rRk5 rRj12 bKa4 yKg14 gKn8",
     "r aaaa", "j12j4", "legal", NULL, "team0", "mated:b game-over"},
    {"R-M3", "not before", "teams", "rKh1 bKa4 yKg14 yRk5 yRj12 gKn8 gRf9", "y aaaa", "j12j4",
     "legal", NULL, "g aaaa", "check:y !mated"},
    {"R-M3", "a stalemated seat draws", "teams", "rKh1 rRk5 rRb11 bKa4 yKg14 gKn8 gPm8", "r aaaa",
     "h1h2", "legal", NULL, "draw", "passed:b"},
    {"R-M3 R-C9 R-C11", "an absent seat's side has lost", "teams", KINGS, "r aaaa", "resign g",
     "ok", NULL, "team0", "resigned:g game-over"},
    {"R-M3 R-C9", "whichever side", "teams", KINGS, "r aaaa", "resign y", "ok", NULL, "team1",
     "resigned:y"},
    {"R-C8", "the count starts anew at a pawn's move", "teams", KINGS "rPe2", "r aaaa", "e2e3",
     "legal", NULL, NULL, NULL},
};

static void test_array(void **state)
{
    static const char want[] =
        "teams x,x,x,yR,yN,yB,yK,yQ,yB,yN,yR,x,x,x/x,x,x,yP,yP,yP,yP,yP,yP,yP,yP,x,x,x/"
        "x,x,x,8,x,x,x/bR,bP,10,gP,gR/bN,bP,10,gP,gN/bB,bP,10,gP,gB/bQ,bP,10,gP,gK/"
        "bK,bP,10,gP,gQ/bB,bP,10,gP,gB/bN,bP,10,gP,gN/bR,bP,10,gP,gR/x,x,x,8,x,x,x/"
        "x,x,x,rP,rP,rP,rP,rP,rP,rP,rP,x,x,x/x,x,x,rR,rN,rB,rQ,rK,rB,rN,rR,x,x,x r aaaa "
        "rrrlbrblyrylgrgl - 0 0";
    struct variant variant = {0};
    struct position pos;
    char text[POSITION_TEXT_MAX];

    (void)state;
    assert_true(variant_find("teams", &variant));
    assert_int_equal(position_start(&variant, NULL, &pos), RESERVE_OK);
    position_print(&pos, text, sizeof text);
    assert_string_equal(text, want);
    assert_string_equal(seat_colour(variant.game, SEAT_EAST), "Green");
    RULE("R-M1");
}

static void test_rights_end_with_their_seats_leaving(void **state)
{
    struct position pos = row_position("teams", KINGS "rRk1 bRa4", "r aaaa rrbr");

    (void)state;
    assert_int_equal(position_leave(&pos, SEAT_SOUTH, LEAVE_RESIGN, NULL), LEAVE_OK);
    assert_false(position_can_castle(&pos, SEAT_SOUTH, false));
    assert_true(position_can_castle(&pos, SEAT_WEST, false));
    RULE("R-C11");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_array),
        cmocka_unit_test(test_rights_end_with_their_seats_leaving),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) +
           rows_run("teams", rows, sizeof rows / sizeof rows[0]);
}

/*
 * tests/rules/test_found.c - what fuzzers once found, an input each.
 */
#include "rows.h"

#include <string.h>

#include "rules/rules.h"

static struct position position_of(const char *text)
{
    struct variant variant;
    struct position pos;

    assert_true(variant_of_text(text, &variant));
    assert_int_equal(position_parse(&variant, text, &pos, NULL), POSITION_OK);
    return pos;
}

/* The text lists a chance of the seat on turn: no game comes to that, but it can be read. */
static void test_a_second_chance_of_one_seat_takes_the_first_out_of_the_hash(void **state)
{
    struct position pos = position_of(
        "teams x,x,x,yR,1,yB,yK,yQ,1,yN,yR,x,x,x/x,x,x,yP,yP,3,yP,yP,yP,x,x,x/x,x,x,8,x,x,x/"
        "bR,bP,12/1,bP,10,gR,1/1,bP,10,gP,1/1,bP,10,gP,gK/bK,bP,11,gQ/12,gP,1/1,bP,12/"
        "bR,3,bP,8,gR/x,x,x,rP,7,x,x,x/x,x,x,1,rN,4,rP,1,x,x,x/x,x,x,rN,3,rK,2,rP,x,x,x "
        "r aaaa rrrlbrblylgl rc4 0 21");

    (void)state;
    assert_int_equal(position_play(&pos, row_move("j2j4"), NULL, NULL), MOVE_LEGAL);
    assert_true(pos.hash == position_hash(&pos));
    assert_true(position_is_ok(&pos));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_second_chance_of_one_seat_takes_the_first_out_of_the_hash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

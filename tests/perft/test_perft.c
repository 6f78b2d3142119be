/*
 * tests/perft/test_perft.c - counts of legal lines (R-T3).
 *
 * With FH_PERFT_DEEP set, the long ones too: teams to depth 7, some minutes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "rules/engine.h"
#include "rules/perft.h"
#include "support/rule.h"

struct line_count {
    const char *variant;
    int each_depth; /* up to it the last moves are made, too */
    uint64_t counts[8];
};

static const struct line_count line_counts[] = {
    {"verney", 5, {12, 144, 1728, 20736, 333228, 5339329}},
    {"verney queens=left", 5, {12, 143, 1704, 20162, 315788, 4896201}},
    {"verney inert=capturable promotion=any", 5, {12, 144, 1728, 20736, 333228, 5339329}},
    {"fortress reserve=usual", 4, {33, 1082, 35475, 1155527}},
    {"teams", 5, {20, 395, 7800, 152050, 3452310, 77430383}},
};

static struct position start_of(const char *text)
{
    struct variant variant = {0};
    struct position pos;

    assert_int_equal(variant_parse(text, &variant, NULL), VARIANT_OK);
    assert_int_equal(position_start(&variant, NULL, &pos), RESERVE_OK);
    return pos;
}

static void check_counts(void **state)
{
    const struct line_count *want = *state;
    struct position pos = start_of(want->variant), before = pos;

    assert_true(perft(&pos, 0, PERFT_BULK) == 1);
    for (int depth = 1; want->counts[depth - 1] != 0; depth++) {
        uint64_t got = perft(&pos, depth, PERFT_BULK);

        if (got != want->counts[depth - 1])
            fail_msg("depth %d: %llu, not %llu", depth, (unsigned long long)got,
                     (unsigned long long)want->counts[depth - 1]);
        if (depth <= want->each_depth)
            assert_true(perft(&pos, depth, PERFT_EACH) == got);
        assert_memory_equal(&pos, &before, sizeof pos);
    }
    RULE("R-T3");
}

static void test_parts_by_first_move_add_up(void **state)
{
    static struct move_list moves;
    static uint64_t counts[MOVES_MAX];
    struct position pos = start_of("teams");
    uint64_t sum = 0;

    (void)state;
    assert_true(perft_divide(&pos, 4, PERFT_BULK, &moves, counts) == 152050);
    assert_int_equal(moves.count, 20);
    for (int i = 0; i < moves.count; i++)
        sum += counts[i];
    assert_true(sum == 152050);
}

static void test_teams_to_depth_seven(void **state)
{
    struct position pos = start_of("teams");

    (void)state;
    if (getenv("FH_PERFT_DEEP") == NULL)
        skip(); /* said in the output; run with FH_PERFT_DEEP=1 */
    assert_true(perft(&pos, 7, PERFT_BULK) == UINT64_C(1735784286));
}

int main(void)
{
    static const char *const engines[] = {"plain", "avx2", "avx512"};
    enum { COUNTS = sizeof line_counts / sizeof line_counts[0] };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_parts_by_first_move_add_up),
        cmocka_unit_test(test_teams_to_depth_seven),
    };
    struct CMUnitTest tests[COUNTS];
    int failed = 0;

    for (int i = 0; i < COUNTS; i++)
        tests[i] = (struct CMUnitTest){.name = line_counts[i].variant,
                                       .test_func = check_counts,
                                       .initial_state = (void *)(uintptr_t)&line_counts[i]};
    for (int i = 0; i < 3; i++)
        if (engine_choose(engines[i]))
            failed += _cmocka_run_group_tests(engines[i], tests, COUNTS, NULL, NULL);
    return failed + cmocka_run_group_tests(others, NULL, NULL);
}

/*
 * tests/rules/test_properties.c - what holds in every position, tried on random games.
 *
 * Random here is a counter through splitmix64, so each run plays the same games.  The number of
 * plies is FH_RULES_PLIES, a million altogether if it is not set.
 */
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "rules/engine.h"
#include "rules/game.h"
#include "support/rule.h"

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(((z ^ z >> 31) >> 32) * n >> 32);
}

/* A start, or half the time one with most men taken away, so that kings are soon in trouble. */
static struct position random_start(const struct variant *variant)
{
    struct reserve reserves[SEATS];
    struct position pos;
    struct position_state state = {.count = 0};

    if (game_at(1) == variant->game) {
        for (int seat = 0; seat < SEATS; seat++) {
            uint8_t bytes[RESERVE_RANDOM_BYTES];

            for (int i = 0; i < RESERVE_RANDOM_BYTES; i++)
                bytes[i] = (uint8_t)random_below(256);
            reserve_draw(variant->game, (enum seat)seat, bytes, &reserves[seat]);
        }
    }
    assert_int_equal(position_start(variant, reserves, &pos), RESERVE_OK);
    if (random_below(2) == 0)
        return pos;
    for (int square = 0; square < SQUARES; square++)
        if (pos.men[square] != MAN_NONE && man_kind(pos.men[square]) != KIND_KING &&
            random_below(8) < (kind_is_pawn(man_kind(pos.men[square])) ? 6 : 3))
            position_put(&pos, square, MAN_NONE);
    for (int seat = 0; seat < SEATS; seat++)
        state.passed[seat] = SQUARE_NONE;
    position_set_state(&pos, &state);
    return pos;
}

/* Mostly a capture or a check if there is one, so that games get somewhere. */
static struct move random_move(const struct position *pos, const struct move_list *moves)
{
    struct move move = moves->at[random_below((uint32_t)moves->count)];

    for (int i = 0; i < 3 && pos->men[move.to] == MAN_NONE; i++)
        move = moves->at[random_below((uint32_t)moves->count)];
    return move;
}

static bool attacks_are_of_enemies(const struct position *pos)
{
    for (unsigned seat = 0; seat < SEATS; seat++) {
        struct board men, own;
        int square;

        position_checkers(pos, (enum seat)seat, &men);
        position_attackers(pos, pos->king[seat], 15, &own);
        while ((square = board_take(&men)) != SQUARE_NONE)
            if (!seats_are_enemies(man_seat(pos->men[square]), (enum seat)seat) ||
                (pos->live >> man_seat(pos->men[square]) & 1u) == 0 || !board_has(&own, square))
                return false;
    }
    return true;
}

static void check_move(const struct position *pos, struct move move)
{
    struct position work = *pos;
    struct undo undo;
    uint8_t victim;

    engine()->make(&work, move, &undo);
    assert_true(position_is_ok(&work)); /* the hash kept up = the hash from scratch */
    victim = undo.captured;
    if (victim != MAN_NONE) {
        assert_int_not_equal(man_kind(victim), KIND_KING);
        assert_true(seats_are_enemies(man_seat(victim), (enum seat)pos->turn));
        RULE("R-C2");
        RULE("R-C3");
    }
    assert_int_equal(position_checkers(&work, (enum seat)pos->turn, NULL), 0);
    engine()->unmake(&work, move, &undo);
    assert_memory_equal(&work, pos, sizeof work);
}

static void play_random(const char *text, long plies)
{
    struct variant variant = {0};
    struct position pos;
    static struct move_list moves;
    long games = 0, results[4] = {0};

    assert_int_equal(variant_parse(text, &variant, NULL), VARIANT_OK);
    random_state = 1;
    pos = random_start(&variant);
    for (long ply = 0; ply < plies; ply++) {
        struct position before = pos;
        struct outcome outcome;
        struct move move;

        if (position_is_over(&pos) || pos.ply > 250) {
            results[pos.result]++;
            games++;
            pos = random_start(&variant);
            if (position_count_moves(&pos) == 0) {
                pos.result = RESULT_DRAW; /* not a position of a game: another one */
                continue;
            }
            before = pos;
        }
        if (random_below(400) == 0) {
            assert_int_equal(position_leave(&pos, (enum seat)random_below(4), LEAVE_RESIGN,
                                            &outcome) == LEAVE_GAME_OVER,
                             false);
            continue;
        }
        position_legal_moves(&pos, &moves);
        assert_true(moves.count > 0);
        assert_int_equal(position_count_moves(&pos), moves.count);
        move = random_move(&pos, &moves);
        check_move(&pos, moves.at[random_below((uint32_t)moves.count)]);
        check_move(&pos, move);
        assert_int_equal(position_play(&pos, move, &outcome, NULL), MOVE_LEGAL);
        assert_true(position_is_ok(&pos));
        assert_true(outcome.count > 1 && outcome.count < EVENTS_MAX);
        assert_int_equal(pos.ply, before.ply + 1);
        assert_true(attacks_are_of_enemies(&pos));
        for (unsigned seat = 0; seat < SEATS; seat++)
            assert_true(pos.condition[seat] == CONDITION_ABSENT ||
                        (pos.has_king >> seat & 1u) != 0);
    }
    print_message("%s: %ld plies, %ld games, %ld to team 0, %ld to team 1, %ld drawn\n", text,
                  plies, games, results[1], results[2], results[3]);
}

static long plies_each(void)
{
    const char *text = getenv("FH_RULES_PLIES");

    return (text != NULL ? strtol(text, NULL, 10) : 1000000) / 4;
}

static void test_random_games_of_verney(void **state)
{
    (void)state;
    play_random("verney", plies_each());
}

static void test_random_games_of_verney_by_every_house_rule(void **state)
{
    (void)state;
    play_random("verney inert=capturable promotion=any queens=left", plies_each());
}

static void test_random_games_of_fortress(void **state)
{
    (void)state;
    play_random("fortress", plies_each());
}

static void test_random_games_of_teams(void **state)
{
    (void)state;
    play_random("teams", plies_each());
}

/* ---------------------------------------------------------------- a quarter turn */

static int turned(const struct game *game, int square)
{
    return square_of(square_rank(square), game_files(game) - 1 - square_file(square));
}

static struct position turned_position(const struct position *pos)
{
    const struct game *game = pos->variant.game;
    struct position_state state = {
        .turn = seat_left((enum seat)pos->turn), .count = pos->count, .ply = pos->ply};
    struct position other;

    position_clear(&pos->variant, &other);
    for (int square = 0; square < SQUARES; square++) {
        uint8_t man = pos->men[square];

        if (man != MAN_NONE)
            position_put(&other, turned(game, square),
                         man_of(seat_left(man_seat(man)), man_kind(man)));
    }
    for (unsigned seat = 0; seat < SEATS; seat++) {
        enum seat next = seat_left((enum seat)seat);

        state.condition[next] = (enum condition)pos->condition[seat];
        state.passed[next] =
            (pos->passed_by >> seat & 1u) != 0 ? turned(game, pos->passed[seat]) : SQUARE_NONE;
        for (unsigned left = 0; left < 2; left++)
            if (position_can_castle(pos, (enum seat)seat, left != 0))
                state.castling |= (uint8_t)(1u << (next * 2u + left));
    }
    position_set_state(&other, &state);
    return other;
}

static int compare_moves(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct move));
}

static void check_quarter_turns(const char *text)
{
    struct variant variant = {0};
    struct position pos;
    static struct move_list moves, other_moves;

    assert_int_equal(variant_parse(text, &variant, NULL), VARIANT_OK);
    random_state = 2;
    pos = random_start(&variant);
    for (int i = 0; i < 20000; i++) {
        struct position other = turned_position(&pos);
        struct move move;

        position_legal_moves(&pos, &moves);
        if (position_is_over(&pos) || pos.ply > 200 || moves.count == 0) {
            pos = random_start(&variant);
            continue;
        }
        move = random_move(&pos, &moves);
        position_legal_moves(&other, &other_moves);
        for (int m = 0; m < moves.count; m++) {
            moves.at[m].from = (uint8_t)turned(variant.game, moves.at[m].from);
            moves.at[m].to = (uint8_t)turned(variant.game, moves.at[m].to);
        }
        assert_int_equal(moves.count, other_moves.count);
        qsort(moves.at, (size_t)moves.count, sizeof moves.at[0], compare_moves);
        qsort(other_moves.at, (size_t)moves.count, sizeof moves.at[0], compare_moves);
        assert_memory_equal(moves.at, other_moves.at, (size_t)moves.count * sizeof moves.at[0]);
        assert_int_equal(position_play(&pos, move, NULL, NULL), MOVE_LEGAL);
        move.from = (uint8_t)turned(variant.game, move.from);
        move.to = (uint8_t)turned(variant.game, move.to);
        assert_int_equal(position_play(&other, move, NULL, NULL), MOVE_LEGAL);
        if (position_is_over(&pos))
            assert_int_equal(pos.result == RESULT_DRAW, other.result == RESULT_DRAW);
        else
            assert_true(turned_position(&pos).hash == other.hash);
    }
}

static void test_a_quarter_turn_turns_fortress(void **state)
{
    (void)state;
    check_quarter_turns("fortress");
}

static void test_a_quarter_turn_turns_verney_with_queens_left(void **state)
{
    (void)state;
    check_quarter_turns("verney queens=left");
}

static void test_a_quarter_turn_turns_teams(void **state)
{
    (void)state;
    check_quarter_turns("teams");
}

/* ---------------------------------------------------------------- geometry is data */

static void test_a_wall_is_a_row_of_a_table(void **state)
{
    static struct game walled_game;
    struct game_table table = *game_at(0)->table;
    struct variant variant = {.game = &walled_game};
    struct position pos, plain = row_position("verney", "wKh1 rKa8 yKg14 bKn7 wRh5 wBg6", "w aaaa");
    struct move_judgement j;
    struct position_state start = {.passed = {SQUARE_NONE, SQUARE_NONE, SQUARE_NONE, SQUARE_NONE}};

    (void)state;
    table.name = "walled";
    table.number = 3;
    table.walls = "h7h8 i7i8";
    table.knight_needs_way = true;
    game_build(&table, &walled_game);
    position_clear(&variant, &pos);
    for (int square = 0; square < SQUARES; square++)
        if (plain.men[square] != MAN_NONE)
            position_put(&pos, square, plain.men[square]);
    position_set_state(&pos, &start);
    assert_int_equal(position_judge_move(&plain, row_move("h5h11"), NULL), MOVE_LEGAL);
    assert_int_equal(position_judge_move(&pos, row_move("h5h11"), &j), MOVE_WALL);
    assert_int_equal(j.square, square_of(7, 6));
    assert_int_equal(j.by_square, square_of(7, 7));
    assert_int_equal(position_judge_move(&pos, row_move("h5h7"), NULL), MOVE_LEGAL);
    assert_int_equal(position_judge_move(&plain, row_move("g6j9"), NULL), MOVE_LEGAL);
    assert_int_equal(position_judge_move(&pos, row_move("g6j9"), &j), MOVE_WALL);
    assert_true(game_has_wall(&walled_game, square_of(6, 6), square_of(7, 7))); /* its end, g7-h8 */
    RULE("R-F5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_wall_is_a_row_of_a_table),
        cmocka_unit_test(test_random_games_of_verney),
        cmocka_unit_test(test_random_games_of_verney_by_every_house_rule),
        cmocka_unit_test(test_random_games_of_fortress),
        cmocka_unit_test(test_random_games_of_teams),
        cmocka_unit_test(test_a_quarter_turn_turns_fortress),
        cmocka_unit_test(test_a_quarter_turn_turns_verney_with_queens_left),
        cmocka_unit_test(test_a_quarter_turn_turns_teams),
    };
    static const char *const engines[] = {"plain", "avx2"};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    /* The other builds play a tenth of it. */
    setenv("FH_RULES_PLIES", "100000", 1);
    for (int i = 0; i < 2; i++)
        if (engine_choose(engines[i]))
            failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}

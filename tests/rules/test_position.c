/*
 * tests/rules/test_position.c - positions as text, their errors, their sense; hashes; draws; names.
 */
#include <stdio.h>
#include <string.h>

#include "rows.h"
#include "rules/game.h"
#include "support/rule.h"

#define TOP "verney x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x/14/14/14/rK,12,bK/14/14/14/14/"
#define REST "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,3,wK,yK,3,x,x,x w aaaa - - 0 0"

struct bad {
    const char *sentence, *text;
    enum position_verdict verdict;
    enum position_field field;
    int rank, token;
    const char *word;
};

static const struct bad bad_texts[] = {
    {"a missing field is named",
     TOP "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,3,wK,yK,3,x,x,x w aaaa - - 0", POSITION_TOO_FEW_FIELDS,
     FIELD_PLY, 0, 0, ""},
    {"an empty text has no game", "", POSITION_TOO_FEW_FIELDS, FIELD_GAME, 0, 0, ""},
    {"a ninth field is too many", TOP REST " 1", POSITION_TOO_MANY_FIELDS, FIELD_NONE, 0, 0, " 1"},
    {"a blank at the end is too many", TOP REST " ", POSITION_EMPTY_FIELD, FIELD_NONE, 0, 0, " "},
    {"a blank at the start is too many", " " TOP REST, POSITION_EMPTY_FIELD, FIELD_GAME, 0, 0, ""},
    {"another game is refused", "teams 14 r aaaa - - 0 0", POSITION_BAD_GAME, FIELD_GAME, 0, 0,
     "teams"},
    {"ranks may not be missing", "verney x,x,x,8,x,x,x/x,x,x,8,x,x,x w aaaa - - 0 0",
     POSITION_TOO_FEW_RANKS, FIELD_BOARD, 12, 0, ""},
    {"nor too many", TOP "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x/1 w aaaa - - 0 0",
     POSITION_TOO_MANY_RANKS, FIELD_BOARD, 1, 0, "1"},
    {"a short rank is named", "verney x,x,x,8,x,x w aaaa - - 0 0", POSITION_RANK_SHORT, FIELD_BOARD,
     14, 0, "x,x,x,8,x,x"},
    {"a long rank is named", "verney x,x,x,8,x,x,x,x w aaaa - - 0 0", POSITION_RANK_LONG,
     FIELD_BOARD, 14, 8, "x"},
    {"a run longer than the rank", "verney x,x,x,8,x,x,x/x,x,x,12 w aaaa - - 0 0",
     POSITION_RANK_LONG, FIELD_BOARD, 13, 4, "12"},
    {"a token that is nothing", "verney x,x,x,hello,x,x,x w aaaa - - 0 0", POSITION_BAD_TOKEN,
     FIELD_BOARD, 14, 4, "hello"},
    {"an empty token", "verney x,,x w aaaa - - 0 0", POSITION_BAD_TOKEN, FIELD_BOARD, 14, 2, ""},
    {"a colour that is none", "verney x,x,x,zK,7,x,x,x w aaaa - - 0 0", POSITION_BAD_COLOUR,
     FIELD_BOARD, 14, 4, "zK"},
    {"a man that is none", "verney x,x,x,wX,7,x,x,x w aaaa - - 0 0", POSITION_BAD_KIND, FIELD_BOARD,
     14, 4, "wX"},
    {"a run of none", "verney x,x,x,0,wK,7,x,x,x w aaaa - - 0 0", POSITION_BAD_EMPTIES, FIELD_BOARD,
     14, 4, "0"},
    {"a leading zero", "verney x,x,x,08,x,x,x w aaaa - - 0 0", POSITION_BAD_EMPTIES, FIELD_BOARD,
     14, 4, "08"},
    {"a run over squares off the board", "verney 14 w aaaa - - 0 0", POSITION_EMPTIES_OFF_BOARD,
     FIELD_BOARD, 14, 1, "14"},
    {"a man off the board", "verney wR,x,x,8,x,x,x w aaaa - - 0 0", POSITION_MAN_OFF_BOARD,
     FIELD_BOARD, 14, 1, "wR"},
    {"an x on the board", "verney x,x,x,x,7,x,x,x w aaaa - - 0 0", POSITION_X_ON_BOARD, FIELD_BOARD,
     14, 4, "x"},
    {"two numbers side by side", "verney x,x,x,4,4,x,x,x w aaaa - - 0 0", POSITION_SPLIT_EMPTIES,
     FIELD_BOARD, 14, 5, "4"},
    {"two kings of a seat", "verney x,x,x,wK,wK,6,x,x,x w aaaa - - 0 0", POSITION_TWO_KINGS,
     FIELD_BOARD, 14, 5, "wK"},
    {"no king", TOP "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x w aaaa - - 0 0", POSITION_NO_KING,
     FIELD_CONDITIONS, 0, 0, "a"},
    {"nobody's turn", TOP "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,3,wK,yK,3,x,x,x z aaaa - - 0 0",
     POSITION_BAD_TURN, FIELD_TURN, 0, 0, "z"},
    {"a condition that is none",
     TOP "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,3,wK,yK,3,x,x,x w aaba - - 0 0",
     POSITION_BAD_CONDITIONS, FIELD_CONDITIONS, 0, 3, "b"},
    {"conditions of three seats",
     TOP "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,3,wK,yK,3,x,x,x w aaa - - 0 0", POSITION_BAD_CONDITIONS,
     FIELD_CONDITIONS, 0, 0, "aaa"},
    {"castling where there is none",
     TOP "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,3,wK,yK,3,x,x,x w aaaa wr - 0 0", POSITION_BAD_CASTLING,
     FIELD_CASTLING, 0, 0, "wr"},
    {"en passant where there is none",
     TOP "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,3,wK,yK,3,x,x,x w aaaa - we3 0 0",
     POSITION_BAD_EN_PASSANT, FIELD_EN_PASSANT, 0, 0, "we3"},
    {"a count that is no number",
     TOP "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,3,wK,yK,3,x,x,x w aaaa - - -1 0", POSITION_BAD_NUMBER,
     FIELD_COUNT, 0, 0, "-1"},
    {"a count with a leading zero",
     TOP "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,3,wK,yK,3,x,x,x w aaaa - - 00 0", POSITION_BAD_NUMBER,
     FIELD_COUNT, 0, 0, "00"},
    {"a ply too great",
     TOP "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,3,wK,yK,3,x,x,x w aaaa - - 0 4294967296",
     POSITION_BAD_NUMBER, FIELD_PLY, 0, 0, "4294967296"},
};

static void check_bad_text(void **state)
{
    const struct bad *bad = *state;
    struct variant variant = {0};
    struct position pos, before;
    struct position_error error;
    char sentence[300];

    assert_true(variant_find("verney", &variant));
    memset(&pos, 0x5a, sizeof pos);
    before = pos;
    assert_int_equal(position_parse(&variant, bad->text, &pos, &error), bad->verdict);
    assert_memory_equal(&pos, &before, sizeof pos); /* untouched */
    assert_int_equal(error.code, bad->verdict);
    assert_int_equal(error.field, bad->field);
    assert_int_equal(error.rank, bad->rank);
    assert_int_equal(error.token, bad->token);
    assert_string_equal(error.word, bad->word);
    if (bad->field != FIELD_BOARD)
        assert_int_equal(error.square, SQUARE_NONE);
    assert_true(strncmp(bad->text + error.offset, error.word, strlen(error.word)) == 0);
    assert_true(position_error_sentence(variant.game, &error, sentence, sizeof sentence) <
                sizeof sentence);
    assert_int_equal(position_parse(&variant, bad->text, &pos, NULL), bad->verdict);
    RULE("R-T1");
}

static void test_error_sentence_names_field_rank_and_token(void **state)
{
    struct variant variant = {0};
    struct position pos;
    struct position_error error;
    char text[200], small[12];

    (void)state;
    assert_true(variant_find("verney", &variant));
    position_parse(&variant, "verney x,x,x,zK,7,x,x,x w aaaa - - 0 0", &pos, &error);
    position_error_sentence(variant.game, &error, text, sizeof text);
    assert_string_equal(
        text, "field 2 (board), rank 14, token 4: 'zK': no such colour (d14); wanted: wryb");
    /* A small buffer is filled, ended, and told what it would have needed. */
    assert_int_equal(position_error_sentence(variant.game, &error, small, sizeof small),
                     strlen(text));
    assert_string_equal(small, "field 2 (bo");
}

struct good {
    const char *sentence, *variant, *men, *state;
    enum position_verdict verdict;
    const char *square; /* or NULL */
};

#define KINGS "wKh1 rKa8 yKg14 bKn7 "
#define FORTRESS_KINGS "wKi3 bKc8 rKh14 uKn9 "

static const struct good senses[] = {
    {"a plain position makes sense", "verney", KINGS, "w aaaa", POSITION_OK, NULL},
    {"nine pawns are too many", "verney", KINGS "wPd3 wPe3 wPf3 wPg3 wPh3 wPi3 wPj3 wPk3 wPd4",
     "w aaaa", POSITION_TOO_MANY_PAWNS, NULL},
    {"seventeen men are too many", "verney",
     KINGS "wQd3 wQe3 wQf3 wQg3 wQh3 wQi3 wQj3 wQk3 wQd4 wRe4 wRf4 wBg4 wBh4 wNi4 wNj4 wNk4",
     "w aaaa", POSITION_TOO_MANY_MEN, NULL},
    {"two queens and eight pawns are too many pieces", "verney",
     KINGS "wQd5 wQe5 wPd3 wPe3 wPf3 wPg3 wPh3 wPi3 wPj3 wPk3", "w aaaa",
     POSITION_TOO_MANY_OFFICERS, NULL},
    {"two queens and seven pawns are not", "verney",
     KINGS "wQd5 wQe5 wPd3 wPe3 wPf3 wPg3 wPh3 wPi3 wPj3", "w aaaa", POSITION_OK, NULL},
    {"a pawn never stands on an enemy's outermost line", "verney", KINGS "wPa9", "w aaaa",
     POSITION_PAWN_LINE, "a9"},
    {"an unturned pawn not on the partner's", "verney", KINGS "wPe14", "w aaaa", POSITION_PAWN_LINE,
     "e14"},
    {"a turned pawn does", "verney", KINGS "wVe14", "w aaaa", POSITION_OK, NULL},
    {"a turned pawn not on its own pawn line", "verney", KINGS "wVe2", "w aaaa", POSITION_PAWN_LINE,
     "e2"},
    {"a leapt pawn may stand on the outermost line", "verney", KINGS "wPe1", "w aaaa", POSITION_OK,
     NULL},
    {"in fortress no pawn stands behind its line", "fortress", FORTRESS_KINGS "wPe3", "w aaaa",
     POSITION_PAWN_LINE, "e3"},
    {"in teams none stands beyond the eleventh rank", "teams", "rKh1 bKa7 yKg14 gKn8 rPe12",
     "r aaaa", POSITION_PAWN_LINE, "e12"},
    {"a removed army has no men", "fortress", FORTRESS_KINGS "uPl8", "w aaax", POSITION_ABSENT_MEN,
     NULL},
    {"a side wholly out has lost", "verney", KINGS, "w axax", POSITION_IS_OVER, NULL},
    {"an absent seat is not on turn", "verney", KINGS, "w xaaa", POSITION_TURN_NOT_LIVE, NULL},
    {"who is on turn can move", "verney", "wKh1 wRk5 wRb11 rKa4 yKg14 bKn8", "r aaaa",
     POSITION_TURN_NO_MOVE, NULL},
    {"mated is said of the mated only", "verney", KINGS, "w amaa", POSITION_NOT_MATED, NULL},
    {"passed over is said of who cannot move", "fortress", FORTRESS_KINGS, "w asaa",
     POSITION_NOT_STALEMATED, NULL},
    {"a right needs its rook", "fortress", FORTRESS_KINGS, "w aaaa wr", POSITION_CASTLING_MEN,
     "l3"},
    {"a right needs its king at home", "fortress", "wKi4 bKc8 rKh14 uKn9 wRl3", "w aaaa wr",
     POSITION_CASTLING_MEN, "i3"},
    {"no pawn passes there", "fortress", FORTRESS_KINGS "wPe7", "b aaaa - we6",
     POSITION_EN_PASSANT_SQUARE, "e6"},
    {"a chance has lapsed when its owner is on turn", "fortress", FORTRESS_KINGS "wPe6",
     "w aaaa - we5", POSITION_EN_PASSANT_LATE, "e5"},
    {"a chance stays listed whatever has happened to the pawn", "fortress", FORTRESS_KINGS,
     "b aaaa - we5", POSITION_OK, NULL},
};

static void check_sense(void **state)
{
    const struct good *good = *state;
    struct position pos = row_position(good->variant, good->men, good->state);
    struct position_error error;
    char text[SQUARE_TEXT_MAX] = "", sentence[300];

    assert_int_equal(position_validate(&pos, &error), good->verdict);
    assert_int_equal(position_validate(&pos, NULL), good->verdict);
    if (good->square != NULL) {
        assert_int_not_equal(error.square, SQUARE_NONE);
        square_print(error.square, text);
        assert_string_equal(text, good->square);
    }
    position_error_sentence(pos.variant.game, &error, sentence, sizeof sentence);
    RULE("R-T1");
}

static void test_last_mover_in_check_makes_no_sense(void **state)
{
    struct position pos = row_position("teams", "rKh1 bKa7 yKg14 gKn8 yRh9 gRh8", "b aaaa");
    struct position_state s = {.turn = SEAT_WEST,
                               .passed = {SQUARE_NONE, SQUARE_NONE, SQUARE_NONE, SQUARE_NONE},
                               .ply = 5};
    struct position_error error;

    (void)state;
    assert_int_equal(position_validate(&pos, &error), POSITION_OK); /* ply 0: nobody has moved */
    position_set_state(&pos, &s);
    assert_int_equal(position_validate(&pos, &error), POSITION_KING_IN_CHECK);
    s.count = 6;
    position_put(&pos, square_of(7, 7), MAN_NONE);
    position_set_state(&pos, &s);
    assert_int_equal(position_validate(&pos, &error), POSITION_COUNT_PLY);
}

static void test_castling_and_chances_are_written_in_order(void **state)
{
    struct position pos = row_position("fortress", FORTRESS_KINGS "wRl3 uRn5 uRn12 wPe6 bPf9",
                                       "r aaaa wrurul we5,be9");
    char text[POSITION_TEXT_MAX];
    struct position again;
    struct position_error error;

    (void)state;
    position_print(&pos, text, sizeof text);
    assert_non_null(strstr(text, " r aaaa wrurul we5,be9 0 0"));
    memcpy(strstr(text, "wrurul"), "urwrul", 6);
    assert_int_equal(position_parse(&pos.variant, text, &again, &error), POSITION_BAD_CASTLING);
    assert_int_equal(error.token, 2);
    memcpy(strstr(text, "urwrul"), "wrurul", 6);
    memcpy(strstr(text, "we5,be9"), "be9,we5", 7);
    assert_int_equal(position_parse(&pos.variant, text, &again, &error), POSITION_BAD_EN_PASSANT);
    assert_int_equal(error.token, 2);
    memcpy(strstr(text, "be9,we5"), "we5,be5", 7); /* enemies' pawns may pass one square */
    assert_int_equal(position_parse(&pos.variant, text, &again, &error), POSITION_OK);
    memcpy(strstr(text, "we5,be5"), "we5,re5", 7); /* partners' never do */
    assert_int_equal(position_parse(&pos.variant, text, &again, &error), POSITION_BAD_EN_PASSANT);
    assert_int_equal(error.token, 2);
    RULE("R-T1");
}

static void test_finished_position_reads_back_with_its_result(void **state)
{
    struct position pos = row_position("verney", KINGS, "w axax");
    struct move_list *moves = test_malloc(sizeof *moves);

    (void)state;
    pos.result = RESULT_NONE;
    {
        char text[POSITION_TEXT_MAX];
        struct position again;

        position_print(&pos, text, sizeof text);
        assert_int_equal(position_parse(&pos.variant, text, &again, NULL), POSITION_OK);
        assert_int_equal(again.result, RESULT_TEAM0);
        position_legal_moves(&again, moves);
        assert_int_equal(moves->count, 0);
        assert_int_equal(position_play(&again, row_move("h1h2"), NULL, NULL), MOVE_GAME_OVER);
    }
    test_free(moves);
}

static void test_too_long_a_text_is_refused(void **state)
{
    struct variant variant = {0};
    struct position pos;
    char text[POSITION_TEXT_MAX + 2];

    (void)state;
    assert_true(variant_find("verney", &variant));
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(position_parse(&variant, text, &pos, NULL), POSITION_TOO_LONG);
    text[POSITION_TEXT_MAX] = '\0';
    assert_int_not_equal(position_parse(&variant, text, &pos, NULL), POSITION_TOO_LONG);
}

/* ---------------------------------------------------------------- hashes and draws */

static void test_hash_never_changes_between_versions(void **state)
{
    static const struct {
        const char *variant;
        uint64_t hash;
    } golden[] = {
        {"verney", UINT64_C(0xde0bd1ad0ff6ed4e)},
        {"fortress reserve=usual", UINT64_C(0x0d5fe488de1788be)},
        {"teams", UINT64_C(0x42b3ae546ea50d5d)},
    };

    (void)state;
    assert_true(hash_keys[0] == UINT64_C(0xdcd40e5643c30b1e));
    for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        struct variant variant = {0};
        struct position pos;

        assert_int_equal(variant_parse(golden[i].variant, &variant, NULL), VARIANT_OK);
        assert_int_equal(position_start(&variant, NULL, &pos), RESERVE_OK);
        if (pos.hash != golden[i].hash)
            fail_msg("%s: 0x%016llx", golden[i].variant, (unsigned long long)pos.hash);
    }
    RULE("R-C7");
}

static void test_hash_tells_what_a_position_is(void **state)
{
    struct position base = row_position("fortress", FORTRESS_KINGS "wRl3", "w aaaa wr we5");
    struct position same = base;
    const char *others[] = {"b aaaa wr we5", "w asaa wr we5", "w aaax wr we5",
                            "w aaaa - we5",  "w aaaa wr",     "w aaaa wr wf5"};
    uint64_t hashes[8] = {base.hash,
                          row_position("fortress", FORTRESS_KINGS "wQl3", "w aaaa wr we5").hash};

    (void)state;
    same.count = 77; /* COUNT and PLY are no part of it */
    same.ply = 99;
    assert_true(position_hash(&same) == base.hash);
    for (int i = 0; i < 6; i++)
        hashes[i + 2] = row_position("fortress", FORTRESS_KINGS "wRl3", others[i]).hash;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++)
            assert_true(hashes[i] != hashes[j]);
    assert_true(row_position("verney", KINGS "wPe5", "w aaaa").hash !=
                row_position("verney", KINGS "wVe5", "w aaaa").hash);
    RULE("R-C7");
}

static void test_third_and_fifth_repetition(void **state)
{
    uint64_t hashes[16] = {0};
    size_t n = 0;
    enum draw_verdict verdicts[5];

    (void)state;
    assert_int_equal(repetition_count(hashes, 0), 0);
    assert_int_equal(draw_by_history(hashes, 0, 0), DRAW_NONE);
    for (int i = 0; i < 5; i++) {
        hashes[n++] = 42;
        verdicts[i] = draw_by_history(hashes, n, 10);
        assert_int_equal(repetition_count(hashes, n), i + 1);
        hashes[n++] = 100 + (uint64_t)i;
        assert_int_equal(draw_by_history(hashes, n, 10), DRAW_NONE);
    }
    assert_int_equal(verdicts[1], DRAW_NONE);
    assert_int_equal(verdicts[2], DRAW_CLAIM_THREEFOLD);
    assert_int_equal(verdicts[3], DRAW_CLAIM_THREEFOLD);
    assert_int_equal(verdicts[4], DRAW_FIVEFOLD);
    RULE("R-C7");
}

static void test_repetition_on_the_board(void **state)
{
    static const char *const round[] = {"h1h2", "a8a9", "g14g13", "n7n8",
                                        "h2h1", "a9a8", "g13g14", "n8n7"};
    struct position pos = row_position("verney", KINGS, "w aaaa");
    uint64_t hashes[64];
    size_t n = 0;

    (void)state;
    hashes[n++] = pos.hash;
    for (int i = 0; i < 32; i++) {
        assert_int_equal(position_play(&pos, row_move(round[i % 8]), NULL, NULL), MOVE_LEGAL);
        hashes[n++] = pos.hash;
        if (i == 15)
            assert_int_equal(draw_by_history(hashes, n, pos.count), DRAW_CLAIM_THREEFOLD);
    }
    assert_int_equal(draw_by_history(hashes, n, pos.count), DRAW_FIVEFOLD);
    RULE("R-C7");
}

static void test_fifty_and_seventy_five_rounds(void **state)
{
    uint64_t hash = 1;

    (void)state;
    assert_int_equal(draw_by_history(&hash, 1, 199), DRAW_NONE);
    assert_int_equal(draw_by_history(&hash, 1, 200), DRAW_CLAIM_COUNT);
    assert_int_equal(draw_by_history(&hash, 1, 299), DRAW_CLAIM_COUNT);
    assert_int_equal(draw_by_history(&hash, 1, 300), DRAW_COUNT);
    RULE("R-C8");
}

static void test_what_starts_the_count_anew(void **state)
{
    static const struct {
        const char *variant, *men, *state, *move;
        int count;
    } rows[] = {
        {"verney", KINGS "wPe5", "w aaaa", "e5e6", 1},      /* a pawn's step does not */
        {"verney", KINGS "wPe13", "w aaaa", "e13e14", 1},   /* nor its turning */
        {"verney", KINGS "wPe5 rNf6", "w aaaa", "e5f6", 0}, /* a capture does */
        {"verney", KINGS "wPb9 rRa10", "w aaaa", "b9a10", 0},
        {"verney", KINGS, "w aaaa", "h1h2", 1},
        {"fortress", FORTRESS_KINGS "wPe5", "w aaaa", "e5e6",
         0}, /* in fortress a pawn's step does */
        {"fortress", FORTRESS_KINGS "wPf6 bPe6", "b aaaa - wf5", "e6f5", 0},
        {"fortress", FORTRESS_KINGS, "w aaaa", "i3i4", 1},
        {"teams", "rKh1 bKa7 yKg14 gKn8 rPe10", "r aaaa", "e10e11q", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct position pos = row_position(rows[i].variant, rows[i].men, rows[i].state);

        assert_int_equal(position_play(&pos, row_move(rows[i].move), NULL, NULL), MOVE_LEGAL);
        assert_int_equal(pos.count, rows[i].count);
        assert_int_equal(pos.ply, 1);
    }
    RULE("R-C8");
}

/* ---------------------------------------------------------------- variants and names */

static void test_variants_are_read_and_written(void **state)
{
    static const struct {
        const char *text;
        enum variant_verdict verdict;
        const char *printed; /* or the offending word */
    } rows[] = {
        {"verney", VARIANT_OK, "verney"},
        {" verney  queens=left\tinert=capturable ", VARIANT_OK,
         "verney inert=capturable queens=left"},
        {"verney promotion=queen", VARIANT_OK, "verney"},
        {"verney promotion=any", VARIANT_OK, "verney promotion=any"},
        {"fortress reserve=chosen", VARIANT_OK, "fortress reserve=chosen"},
        {"teams", VARIANT_OK, "teams"},
        {"", VARIANT_NO_NAME, ""},
        {"chess", VARIANT_UNKNOWN, "chess"},
        {"verne", VARIANT_UNKNOWN, "verne"},
        {"verney left", VARIANT_NO_VALUE, "left"},
        {"verney reserve=usual", VARIANT_NO_KEY, "reserve=usual"},
        {"teams queens=left", VARIANT_NO_KEY, "queens=left"},
        {"verney queens=right", VARIANT_BAD_VALUE, "queens=right"},
        {"verney queens=", VARIANT_BAD_VALUE, "queens="},
        {"verney queens=left queens=light", VARIANT_KEY_TWICE, "queens=light"},
    };
    char text[VARIANT_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct variant variant = {0}, again = {0};
        struct variant_error error;
        char sentence[200];

        assert_int_equal(variant_parse(rows[i].text, &variant, &error), rows[i].verdict);
        if (rows[i].verdict != VARIANT_OK) {
            assert_null(variant.game);
            assert_string_equal(error.word, rows[i].printed);
            assert_true(strncmp(rows[i].text + error.offset, error.word, strlen(error.word)) == 0);
            assert_true(variant_error_sentence(&error, sentence, sizeof sentence) <
                        sizeof sentence);
            continue;
        }
        variant_print(&variant, false, text, sizeof text);
        assert_string_equal(text, rows[i].printed);
        variant_print(&variant, true, text, sizeof text);
        assert_int_equal(variant_parse(text, &again, NULL), VARIANT_OK);
        assert_true(variant_is_equal(&variant, &again));
    }
    assert_string_equal(text, "teams");
}

static void test_squares_are_read_and_written(void **state)
{
    static const struct {
        const char *text;
        size_t length;
        int square;
    } rows[] = {{"a1", 2, 0},       {"p16", 3, 255}, {"a12", 3, 176}, {"e2e4", 2, 20},
                {"d10d11", 3, 147}, {"q1", 0, 0},    {"a0", 0, 0},    {"a17", 0, 0},
                {"a", 0, 0},        {"A1", 0, 0},    {"a123", 0, 0},  {"a20", 0, 0},
                {"", 0, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int square = -7;

        assert_int_equal(square_read(rows[i].text, strlen(rows[i].text), &square), rows[i].length);
        assert_int_equal(square, rows[i].length > 0 ? rows[i].square : -7);
    }
    for (int square = 0; square < SQUARES; square++) {
        char text[SQUARE_TEXT_MAX];
        int again = -1;
        size_t n = square_print(square, text);

        assert_int_equal(square_read(text, n, &again), n);
        assert_int_equal(again, square);
    }
}

static void test_attackers_are_told_whatever_stands_there(void **state)
{
    struct position pos =
        row_position("verney", "wKh4 rKa8 yKg14 bKn7 rRh9 rBe1 bNj5 wPi5 rPg5", "w aaaa");
    struct board men;

    (void)state;
    position_attackers(&pos, square_of(7, 3), 1u << SEAT_WEST | 1u << SEAT_EAST, &men);
    assert_int_equal(board_count(&men), 4); /* rook, bishop, knight, and the pawn that walks East */
    assert_int_equal(position_checkers(&pos, SEAT_SOUTH, NULL), 4);
    assert_int_equal(position_checked_seats(&pos), 1u << SEAT_SOUTH);
    position_attackers(&pos, square_of(7, 3), 1u << SEAT_NORTH, &men);
    assert_true(board_is_empty(&men));
}

int main(void)
{
    enum {
        BAD = sizeof bad_texts / sizeof bad_texts[0],
        SENSES = sizeof senses / sizeof senses[0]
    };
    const struct CMUnitTest others[] = {
        cmocka_unit_test(test_error_sentence_names_field_rank_and_token),
        cmocka_unit_test(test_last_mover_in_check_makes_no_sense),
        cmocka_unit_test(test_castling_and_chances_are_written_in_order),
        cmocka_unit_test(test_finished_position_reads_back_with_its_result),
        cmocka_unit_test(test_too_long_a_text_is_refused),
        cmocka_unit_test(test_hash_never_changes_between_versions),
        cmocka_unit_test(test_hash_tells_what_a_position_is),
        cmocka_unit_test(test_third_and_fifth_repetition),
        cmocka_unit_test(test_repetition_on_the_board),
        cmocka_unit_test(test_fifty_and_seventy_five_rounds),
        cmocka_unit_test(test_what_starts_the_count_anew),
        cmocka_unit_test(test_variants_are_read_and_written),
        cmocka_unit_test(test_squares_are_read_and_written),
        cmocka_unit_test(test_attackers_are_told_whatever_stands_there),
    };
    struct CMUnitTest tests[BAD + SENSES];

    for (int i = 0; i < BAD; i++)
        tests[i] = (struct CMUnitTest){.name = bad_texts[i].sentence,
                                       .test_func = check_bad_text,
                                       .initial_state = (void *)(uintptr_t)&bad_texts[i]};
    for (int i = 0; i < SENSES; i++)
        tests[BAD + i] = (struct CMUnitTest){.name = senses[i].sentence,
                                             .test_func = check_sense,
                                             .initial_state = (void *)(uintptr_t)&senses[i]};
    return cmocka_run_group_tests(tests, NULL, NULL) + cmocka_run_group_tests(others, NULL, NULL);
}

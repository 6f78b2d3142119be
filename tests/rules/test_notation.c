/*
 * tests/rules/test_notation.c - moves in writing, in words, and back.
 */
#include "rows.h"

#include <stdio.h>
#include <string.h>

#include "rules/notation.h"
#include "support/rule.h"
#include "walk.h"

#define VERNEY "wKh1 rKa8 yKg14 bKn7 "
#define TEAMS "rKh1 bKa7 yKg14 gKn8 "
#define FORTRESS "wKi3 bKc8 rKh14 uKn9 "

/* ---- reading */

struct reading {
    const char *sentence, *variant, *men, *state, *text, *want;
};

/* want: read_verdict_str(), then the move, the candidates, or the code of the judgement. */
static const struct reading readings[] = {
    {"two squares", "verney", VERNEY "wPe2", "w aaaa", "e2e3", "move e2e3"},
    {"with a dash", "verney", VERNEY "wPe2", "w aaaa", "e2-e3", "move e2e3"},
    {"with a blank", "verney", VERNEY "wPe2", "w aaaa", "  e2  e3 ", "move e2e3"},
    {"with an en dash", "verney", VERNEY "wPe2", "w aaaa", "e2\xe2\x80\x93"
                                                           "e3",
     "move e2e3"},
    {"with a minus sign", "verney", VERNEY "wPe2", "w aaaa", "e2\xe2\x88\x92"
                                                             "e3",
     "move e2e3"},
    {"with a cross", "verney", VERNEY "wPe2 rNd3", "w aaaa", "e2\xc3\x97"
                                                             "d3",
     "move e2d3"},
    {"ranks of two digits", "verney", VERNEY "wPd10", "w aaaa", "d10d11", "move d10d11"},
    {"squares in capitals", "verney", VERNEY "wPe2", "w aaaa", "E2-E3", "move e2e3"},
    {"a first letter that a telephone made large", "verney", VERNEY "wPe2", "w aaaa", "E2e3",
     "move e2e3"},
    {"even where it names a man", "verney", VERNEY "wPk2", "w aaaa", "K2k3", "move k2k3"},
    {"but not where that man fits", "teams", TEAMS "rBd5 rPb5 gNc6", "r aaaa", "B5c6", "move d5c6"},
    {"all in capitals", "verney", VERNEY "wNg1", "w aaaa", "NG1-F3", "move g1f3"},
    {"the man and both squares", "verney", VERNEY "wNg1", "w aaaa", "Ng1f3", "move g1f3"},
    {"the man, both squares, x and the victim", "verney", VERNEY "wQg2 bQg9", "w aaaa",
     "Qg2xQg9+", "move g2g9"},
    {"a wrong victim is not taken on trust", "verney", VERNEY "wQg2 bRg9", "w aaaa", "Qg2xQg9",
     "wrong-victim"},
    {"x where nothing is taken", "verney", VERNEY "wPe2", "w aaaa", "e2xe3", "no-capture"},
    {"a wrong man", "verney", VERNEY "wBg1", "w aaaa", "Ng1f3", "wrong-man"},
    {"short algebraic", "verney", VERNEY "wNg1", "w aaaa", "Nf3", "move g1f3"},
    {"with marks behind it", "verney", VERNEY "wNg1", "w aaaa", "Nf3+!?", "move g1f3"},
    {"a pawn's step", "verney", VERNEY "wPe2", "w aaaa", "e3", "move e2e3"},
    {"a pawn's capture", "verney", VERNEY "wPe2 rNd3", "w aaaa", "exd3", "move e2d3"},
    {"without x", "verney", VERNEY "wPe2 rNd3", "w aaaa", "ed3", "move e2d3"},
    {"a capture that names no file is not guessed", "verney", VERNEY "wPe2 rNd3", "w aaaa", "d3",
     "none"},
    {"it could be either", "verney", VERNEY "wNe1 wNg1", "w aaaa", "Nf3", "several e1f3 g1f3"},
    {"the file tells which", "verney", VERNEY "wNe1 wNg1", "w aaaa", "Nef3", "move e1f3"},
    {"the rank tells which", "verney", VERNEY "wRd4 wRd8", "w aaaa", "R8d6", "move d8d6"},
    {"a rank of two digits tells which", "verney", VERNEY "wRd4 wRd10", "w aaaa", "R10d6",
     "move d10d6"},
    {"a rook takes", "verney", VERNEY "wRa4 rPd4", "w aaaa", "Raxd4", "move a4d4"},
    {"a small letter for a rook", "verney", VERNEY "wRa4", "w aaaa", "rd4", "move a4d4"},
    {"a small n for a knight where no pawn could go", "verney", VERNEY "wNg1", "w aaaa", "nf3",
     "move g1f3"},
    {"a small b is a file where a pawn could", "verney", VERNEY "wBd2 wPb6 rNc7", "w aaaa", "bc7",
     "move b6c7"},
    {"and never a bishop then", "verney", VERNEY "wBd4", "w aaaa", "bc5", "none"},
    {"queening without a letter", "verney", VERNEY "wPm10 bNn11", "w aaaa", "m10n11",
     "move m10n11q"},
    {"queening with one", "verney", VERNEY "wPm10 bNn11", "w aaaa", "m10n11q", "move m10n11q"},
    {"queening with a sign", "verney", VERNEY "wPm10 bNn11", "w aaaa", "m10xn11=Q",
     "move m10n11q"},
    {"short queening", "verney", VERNEY "wPm10 bNn11", "w aaaa", "mxn11", "move m10n11q"},
    {"queening in brackets", "verney", VERNEY "wPm10 bNn11", "w aaaa", "mxn11(Q)",
     "move m10n11q"},
    {"verney's pawn becomes nothing else", "verney", VERNEY "wPm10 bNn11", "w aaaa", "m10n11r",
     "illegal promotion-bad"},
    {"where there is a choice it must be made", "teams", TEAMS "rPe10", "r aaaa", "e10e11",
     "illegal promotion-missing"},
    {"in short algebraic too", "teams", TEAMS "rPe10", "r aaaa", "e11",
     "illegal promotion-missing"},
    {"a choice", "teams", TEAMS "rPe10", "r aaaa", "e11=N", "move e10e11n"},
    {"a capital letter behind the square", "teams", TEAMS "rPe10", "r aaaa", "e10e11N",
     "move e10e11n"},
    {"castling right", "teams", TEAMS "rRk1", "r aaaa rr", "O-O", "move h1j1"},
    {"castling left with noughts", "teams", TEAMS "rRd1", "r aaaa rl", "0-0-0", "move h1f1"},
    {"castling in small letters", "teams", TEAMS "rRk1", "r aaaa rr", "o-o+", "move h1j1"},
    {"castling as the king's move", "teams", TEAMS "rRk1", "r aaaa rr", "Kj1", "move h1j1"},
    {"no castling", "verney", VERNEY "wRk1", "w aaaa", "O-O", "illegal no-castling"},
    {"castling lost", "teams", TEAMS "rRk1", "r aaaa", "O-O", "illegal castling-lost"},
    {"castling of the fortress", "fortress", FORTRESS "wRe3", "w aaaa wl", "O-O-O", "move i3g3"},
    {"en passant", "teams", TEAMS "rPe4 gPf4", "g aaaa - re3", "f4xe3 e.p.", "move f4e3"},
    {"a square of the fortress's file o is no castling", "fortress", FORTRESS "wNo1", "w aaaa",
     "o1n3", "move o1n3"},
    {"the clear squares give the reason", "verney", VERNEY "wPe2", "w aaaa", "e2e4",
     "illegal pawn-no-double"},
    {"one man is clear too", "verney", VERNEY "wNh2 rRh8", "w aaaa", "Nf3", "illegal opens-check"},
    {"and the one that could go there", "verney", VERNEY "wNh2 wNk10 rRh8", "w aaaa", "Nf3",
     "illegal opens-check"},
    {"nobody of that kind", "verney", VERNEY "wPe2", "w aaaa", "Qd5", "none"},
    {"not his turn", "verney", VERNEY "wPe2", "r aaaa", "e2e3", "illegal not-your-turn"},
    {"a square off the board", "verney", VERNEY "wNe1", "w aaaa", "Nc2", "illegal to-off-board"},
    {"a turned pawn by name", "verney", VERNEY "wVe5", "w aaaa", "Ve4", "move e5e4"},
    {"a turned pawn as a pawn", "verney", VERNEY "wVe5", "w aaaa", "e4", "move e5e4"},
    {"two pawns can come to one square", "verney", VERNEY "wVe5 wPe3", "w aaaa", "e4",
     "several e3e4 e5e4"},
    {"nothing", "verney", VERNEY, "w aaaa", "  ", "empty"},
    {"words", "verney", VERNEY, "w aaaa", "hello", "not-a-move 0"},
    {"where it stops to make sense", "verney", VERNEY "wPe2", "w aaaa", " e2e", "not-a-move 3"},
    {"too much", "verney", VERNEY "wPe2", "w aaaa", "e2e3 and then f2f3", "not-a-move 5"},
    {"a rank there is not", "verney", VERNEY, "w aaaa", "e2e17", "not-a-move 2"},
    {"a rank of three digits", "verney", VERNEY, "w aaaa", "e2e111", "not-a-move 2"},
    {"far too long", "verney", VERNEY, "w aaaa",
     "e2e3eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee",
     "too-long"},
};

static void describe(const struct move_reading *reading, char *text, size_t size)
{
    char move[MOVE_COORDINATE_MAX];
    int n = snprintf(text, size, "%s", read_verdict_str(reading->code));

    if (reading->code == READ_MOVE || reading->code == READ_SEVERAL) {
        for (int i = 0; i < reading->candidates; i++) {
            move_print_coordinate(reading->candidate[i], move, sizeof move);
            n += snprintf(text + n, size - (size_t)n, " %s", move);
        }
    } else if (reading->code == READ_ILLEGAL) {
        snprintf(text + n, size - (size_t)n, " %s", move_verdict_str(reading->judgement.code));
    } else if (reading->code == READ_NOT_A_MOVE) {
        snprintf(text + n, size - (size_t)n, " %zu", reading->offset);
    }
}

static void test_what_people_type_is_read_exactly(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        const struct reading *r = &readings[i];
        struct position pos = row_position(r->variant, r->men, r->state);
        struct move_reading reading;
        char got[200], sentence[MOVE_READING_SENTENCE_MAX];

        move_read(&pos, r->text, strlen(r->text), &reading);
        describe(&reading, got, sizeof got);
        if (strcmp(got, r->want) != 0) {
            print_error("%s: \"%s\": %s, wanted %s\n", r->sentence, r->text, got, r->want);
            wrong++;
        }
        assert_in_range(move_reading_sentence(&pos, &reading, sentence, sizeof sentence), 10,
                        sizeof sentence - 1);
    }
    assert_int_equal(wrong, 0);
    RULE("R-T2");
}

static void test_a_reading_says_in_english_what_it_could_mean(void **state)
{
    struct position pos = row_position("verney", VERNEY "wNe1 wNg1 wPe2", "w aaaa");
    struct move_reading reading;
    char text[MOVE_READING_SENTENCE_MAX];

    (void)state;
    move_read(&pos, "Nf3", 3, &reading);
    move_reading_sentence(&pos, &reading, text, sizeof text);
    assert_string_equal(text, "it could mean e1f3 or g1f3");
    move_read(&pos, "Qd5", 3, &reading);
    move_reading_sentence(&pos, &reading, text, sizeof text);
    assert_string_equal(text, "no queen of White can go to d5");
    move_read(&pos, "Be1f3", 5, &reading);
    move_reading_sentence(&pos, &reading, text, sizeof text);
    assert_string_equal(text, "a knight stands on e1, not a bishop");
    move_read(&pos, "e2xe3", 5, &reading);
    move_reading_sentence(&pos, &reading, text, sizeof text);
    assert_string_equal(text, "e2e3 takes nothing, though x is written");
}

static void test_a_text_is_read_only_as_far_as_its_size(void **state)
{
    struct position pos = row_position("verney", VERNEY "wPe2", "w aaaa");
    struct move_reading reading;

    (void)state;
    assert_int_equal(move_read(&pos, "e2e3e4", 4, &reading), READ_MOVE);
    assert_int_equal(move_read(&pos, "e2e3\0x", 6, &reading), READ_NOT_A_MOVE);
    assert_int_equal(move_read(&pos, "", 0, &reading), READ_EMPTY);
}

/* ---- writing */

struct writing {
    const char *variant, *men, *state, *move, *brief, *full, *spoken;
};

static const struct writing writings[] = {
    {"verney", VERNEY "wNg1 rBf3", "w aaaa", "g1f3", "Nxf3", "Ng1xBf3",
     "knight from g1 takes bishop f3"},
    {"verney", "wKh1 rKd4 yKg14 bKn7 wNg1 rBf3", "w aaaa", "g1f3", "Nxf3+", "Ng1xBf3+",
     "knight from g1 takes bishop f3, check to Red"},
    {"verney", VERNEY "wPe2", "w aaaa", "e2e3", "e3", "e2-e3", "pawn from e2 to e3"},
    {"verney", VERNEY "wPe2 rPd3", "w aaaa", "e2d3", "exd3", "e2xd3",
     "pawn from e2 takes pawn d3"},
    {"verney", VERNEY "wPe2 wVe4 rPd3", "w aaaa", "e2d3", "e2xd3", "e2xd3", NULL},
    {"verney", VERNEY "wVe5 wPe3", "w aaaa", "e3e4", "e3e4", "e3-e4", NULL},
    {"verney", VERNEY "wNe1 wNg1", "w aaaa", "g1f3", "Ngf3", "Ng1-f3", NULL},
    {"verney", VERNEY "wRd4 wRd10", "w aaaa", "d10d6", "R10d6", "Rd10-d6", NULL},
    {"verney", VERNEY "wRd4 wRd10 wRk6", "w aaaa", "k6d6", "Rkd6", "Rk6-d6", NULL},
    {"verney", "wKh1 rKa6 yKg14 bKn7 wQd4 wQd8 wQh8", "w aaaa", "d8h4", "Qd8h4", "Qd8-h4", NULL},
    {"verney", VERNEY "wPm10 bNn11", "w aaaa", "m10n11q", "mxn11=Q+", "m10xNn11=Q+",
     "pawn from m10 takes knight n11, becomes queen, check to Black"},
    {"verney", VERNEY "wPe5 yPe6", "w aaaa", "e5e7", "e7", "e5-e7",
     "pawn from e5 leaps over e6 to e7"},
    {"verney", VERNEY "wPe13", "w aaaa", "e13e14", "e14", "e13-e14",
     "pawn from e13 to e14, walks back from now on"},
    {"verney", VERNEY "wVe3", "w aaaa", "e3e2", "e2", "e3-e2",
     "pawn from e3 to e2, walks forward again"},
    {"teams", TEAMS "rRk1", "r aaaa rr", "h1j1", "O-O", "O-O",
     "castles right, king from h1 to j1, rook from k1 to i1"},
    {"teams", TEAMS "rRd1", "r aaaa rl", "h1f1", "O-O-O", "O-O-O",
     "castles left, king from h1 to f1, rook from d1 to g1"},
    {"teams", TEAMS "rPe4 gPf4", "g aaaa - re3", "f4e3", "fxe3", "f4xe3",
     "pawn from f4 takes pawn e4 en passant, to e3"},
    {"teams", TEAMS "rPe10", "r aaaa", "e10e11n", "e11=N", "e10-e11=N",
     "pawn from e10 to e11, becomes knight"},
    /* mate, which in teams is found as the turn comes to the victim */
    {"teams", "rKh1 rRk5 rRj12 bKa4 yKg14 gKn8", "r aaaa", "j12j4", "Rj4#", "Rj12-j4+#",
     "rook from j12 to j4, Blue is mated, Red and Yellow have won"},
    {"teams", "rKh1 rRk5 rRb11 bKa4 yKg14 gKn8 gPm8", "r aaaa", "h1h2", "Kh2", "Kh1-h2",
     "king from h1 to h2, Blue passes: stalemate, the game is drawn"},
    /* and in verney at once */
    {"verney", "wKh1 wRk5 wRj12 rKa4 yKg14 bKn7", "w aaaa", "j12j4", "Rj4#", "Rj12-j4+#",
     "rook from j12 to j4, Red is mated"},
    /* one rook checks both enemies: two marks */
    {"verney", "wKh1 wRe12 rKa5 yKg14 bKn5", "w aaaa", "e12e5", "Re5++", "Re12-e5++",
     "rook from e12 to e5, check to Red and Black"},
    /* a releasing move */
    {"verney", "wKh1 wRk5 wRj4 rKa4 yKg14 bKn7 bQj9", "b amaa", "j9j4", "Qxj4", "Qj9xRj4",
     "queen from j9 takes rook j4, Red is released"},
};

static void test_moves_are_written_as_they_are_read(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof writings / sizeof writings[0]; i++) {
        const struct writing *w = &writings[i];
        struct position pos = row_position(w->variant, w->men, w->state);
        struct move move = row_move(w->move);
        char brief[MOVE_SHORT_MAX], full[MOVE_LONG_MAX], said[SPOKEN_MAX];
        struct spoken spoken;

        if (spoken_of_move(&pos, move, &spoken) != MOVE_LEGAL) {
            print_error("%s is not legal\n", w->move);
            wrong++;
            continue;
        }
        move_print_short(&pos, move, true, brief, sizeof brief);
        move_print_long(&pos, move, full, sizeof full);
        spoken_print(pos.variant.game, &spoken, said, sizeof said);
        if (strcmp(brief, w->brief) != 0 || strcmp(full, w->full) != 0 ||
            (w->spoken != NULL && strcmp(said, w->spoken) != 0)) {
            print_error("%s: %s | %s | %s, wanted %s | %s | %s\n", w->move, brief, full, said,
                        w->brief, w->full, w->spoken != NULL ? w->spoken : said);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
    RULE("R-T2");
}

static void test_spoken_names_owner_and_square_of_the_victim(void **state)
{
    struct position pos = row_position("teams", TEAMS "rPe4 gPf4", "g aaaa - re3");
    struct spoken s;

    (void)state;
    assert_int_equal(spoken_of_move(&pos, row_move("f4e3"), &s), MOVE_LEGAL);
    assert_int_equal(s.victim, KIND_PAWN);
    assert_int_equal(s.victim_seat, SEAT_SOUTH);
    assert_int_equal(s.victim_square, square_of(4, 3));
    assert_int_equal(s.next, SEAT_SOUTH);
}

static void test_an_illegal_move_is_not_spoken(void **state)
{
    struct position pos = row_position("verney", VERNEY "wPe2", "w aaaa");
    struct spoken s = {.checks = 99};

    (void)state;
    assert_int_equal(spoken_of_move(&pos, row_move("e2e4"), &s), MOVE_PAWN_NO_DOUBLE);
    assert_int_equal(s.checks, 99);
}

static void test_an_old_check_has_no_mark(void **state)
{
    /* Red's king is in check from d8 already; the knight's move gives none of its own. */
    struct position pos = row_position("verney", VERNEY "wRd8 wNg1", "w aaaa");
    char text[MOVE_SHORT_MAX];

    (void)state;
    move_print_short(&pos, row_move("g1f3"), true, text, sizeof text);
    assert_string_equal(text, "Nf3");
    move_print_short(&pos, row_move("d8c8"), true, text, sizeof text);
    assert_string_equal(text, "Rc8+");
}

static void test_a_short_buffer_is_cut_and_the_length_told(void **state)
{
    struct position pos = row_position("verney", VERNEY "wNg1 rBf3", "w aaaa");
    char text[5];

    (void)state;
    assert_int_equal(move_print_long(&pos, row_move("g1f3"), text, sizeof text), 7);
    assert_string_equal(text, "Ng1x");
}

/* R-T2: whatever is written of a legal move is read as that move. */
static void test_every_written_move_is_read_back(void **state)
{
    long moves = 0;

    (void)state;
    for (int v = 0; v < WALK_VARIANTS; v++) {
        for (uint64_t game = 0; game < 6; game++) {
            struct walk walk;
            struct step step;
            int ply = 0;

            assert_true(walk_start(&walk, walk_variants[v], 100 + game));
            do {
                struct move_list list;

                if (ply++ % 7 != 0)
                    continue;
                position_legal_moves(&walk.pos, &list);
                for (int i = 0; i < list.count; i++) {
                    char text[3][MOVE_LONG_MAX];
                    struct move_reading reading;

                    move_print_coordinate(list.at[i], text[0], sizeof text[0]);
                    move_print_short(&walk.pos, list.at[i], i % 4 == 0, text[1], sizeof text[1]);
                    move_print_long(&walk.pos, list.at[i], text[2], sizeof text[2]);
                    for (int k = 0; k < 3; k++) {
                        if (move_read(&walk.pos, text[k], strlen(text[k]), &reading) != READ_MOVE ||
                            !move_is_same(reading.move, list.at[i])) {
                            char at[POSITION_TEXT_MAX];

                            position_print(&walk.pos, at, sizeof at);
                            fail_msg("%s | %s is read as %s, not %s", at, text[k],
                                     read_verdict_str(reading.code), text[0]);
                        }
                    }
                    moves++;
                }
            } while (ply < 400 && walk_step(&walk, &step));
        }
    }
    assert_true(moves > 20000);
    RULE("R-T2");
}

/* ---- leaving */

/* A move list as long as there is any, backwards and mixed: as strcmp() orders the texts. */
static void test_moves_are_sorted_as_their_texts_are(void **state)
{
    static struct move_list list;
    char last[MOVE_COORDINATE_MAX] = "", text[MOVE_COORDINATE_MAX];
    uint32_t random = 7, sum = 0;

    (void)state;
    for (list.count = 0; list.count < MOVES_MAX; list.count++) {
        static const enum kind kinds[] = {KIND_NONE, KIND_QUEEN, KIND_KNIGHT};
        uint32_t of = list.count < MOVES_MAX / 2 ? (uint32_t)(MOVES_MAX - list.count)
                                                 : (random = random * 1664525 + 1013904223) >> 8;

        list.at[list.count] = (struct move){.from = (uint8_t)(of * 31 % 256),
                                            .to = (uint8_t)(of * 7 % 256),
                                            .promotion = (uint8_t)kinds[of % 3]};
        sum += of * 31 % 256 * (of * 7 % 256);
    }
    moves_sort(&list);
    for (int i = 0; i < list.count; i++) {
        sum -= (uint32_t)list.at[i].from * list.at[i].to;
        move_print_coordinate(list.at[i], text, sizeof text);
        if (strcmp(last, text) > 0)
            fail_msg("%s stands before %s", last, text);
        strcpy(last, text);
    }
    assert_int_equal(sum, 0); /* the same moves */
    list.count = 0;
    moves_sort(&list);
    assert_int_equal(list.count, 0);
}

static void test_a_resignation_is_read_where_a_move_would_stand(void **state)
{
    static const struct {
        const char *text;
        bool seat_needed;
        enum leave_read_verdict want;
        enum seat seat;
        enum leave_how how;
    } rows[] = {
        {"resign w", true, LEAVE_READ_OK, SEAT_SOUTH, LEAVE_RESIGN},
        {" Resign  Red ", true, LEAVE_READ_OK, SEAT_WEST, LEAVE_RESIGN},
        {"forfeit north", true, LEAVE_READ_OK, SEAT_NORTH, LEAVE_FORFEIT},
        {"resign", true, LEAVE_READ_NO_SEAT, SEAT_SOUTH, LEAVE_RESIGN},
        {"resign", false, LEAVE_READ_OK, SEAT_NORTH, LEAVE_RESIGN},
        {"resign g", true, LEAVE_READ_BAD_SEAT, SEAT_SOUTH, LEAVE_RESIGN},
        {"resign w now", true, LEAVE_READ_BAD_SEAT, SEAT_SOUTH, LEAVE_RESIGN},
        {"resigning w", true, LEAVE_READ_OTHER, SEAT_SOUTH, LEAVE_RESIGN},
        {"e2e3", true, LEAVE_READ_OTHER, SEAT_SOUTH, LEAVE_RESIGN},
        {"", true, LEAVE_READ_OTHER, SEAT_SOUTH, LEAVE_RESIGN},
    };
    struct position pos = row_position("verney", VERNEY, "y aaaa");

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum seat seat = SEAT_EAST;
        enum leave_how how = LEAVE_RESIGN;

        assert_int_equal(leave_read(&pos, rows[i].text, strlen(rows[i].text), rows[i].seat_needed,
                                    &seat, &how),
                         rows[i].want);
        if (rows[i].want == LEAVE_READ_OK) {
            assert_int_equal(seat, rows[i].seat);
            assert_int_equal(how, rows[i].how);
        } else {
            assert_int_equal(seat, SEAT_EAST);
        }
    }
    RULE("R-C11");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_people_type_is_read_exactly),
        cmocka_unit_test(test_a_reading_says_in_english_what_it_could_mean),
        cmocka_unit_test(test_a_text_is_read_only_as_far_as_its_size),
        cmocka_unit_test(test_moves_are_written_as_they_are_read),
        cmocka_unit_test(test_spoken_names_owner_and_square_of_the_victim),
        cmocka_unit_test(test_an_illegal_move_is_not_spoken),
        cmocka_unit_test(test_an_old_check_has_no_mark),
        cmocka_unit_test(test_a_short_buffer_is_cut_and_the_length_told),
        cmocka_unit_test(test_every_written_move_is_read_back),
        cmocka_unit_test(test_moves_are_sorted_as_their_texts_are),
        cmocka_unit_test(test_a_resignation_is_read_where_a_move_would_stand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

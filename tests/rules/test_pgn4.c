/*
 * tests/rules/test_pgn4.c - whole games out and in, and foreign files read or refused.
 */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/pgn4.h"
#include "support/rule.h"
#include "walk.h"

enum { TEXT_MAX = 1 << 18, STEPS_MAX = 2000 };

/* ---- a sink and a handler that remember */

struct page {
    char text[TEXT_MAX];
    size_t n;
};

static bool to_page(void *arg, const char *bytes, size_t n)
{
    struct page *page = arg;

    assert_true(page->n + n < sizeof page->text);
    memcpy(page->text + page->n, bytes, n);
    page->n += n;
    page->text[page->n] = '\0';
    return true;
}

struct heard {
    struct step step[STEPS_MAX];
    int steps, games, starts;
    struct position start, last;
    struct pgn4_result result;
    char comments[4096], tags[4096];
};

static void append(char *text, size_t size, const char *more)
{
    size_t n = strlen(text);

    snprintf(text + n, size - n, "%s|", more);
}

static bool on_tag(void *arg, const char *name, const char *value)
{
    struct heard *h = arg;

    append(h->tags, sizeof h->tags, name);
    append(h->tags, sizeof h->tags, value);
    return true;
}
static bool on_start(void *arg, const struct position *start)
{
    struct heard *h = arg;

    h->start = *start;
    h->starts++;
    return true;
}
static bool on_move(void *arg, const struct position *before, struct move move,
                    const struct outcome *outcome, const struct position *after)
{
    struct heard *h = arg;

    assert_true(outcome->count > 0 && before->ply + 1 == after->ply);
    assert_true(h->steps < STEPS_MAX);
    h->step[h->steps++] = (struct step){.move = move};
    return true;
}
static bool on_leave(void *arg, enum seat seat, enum leave_how how, const struct outcome *outcome,
                     const struct position *after)
{
    struct heard *h = arg;

    assert_true(outcome->count > 0 && after->condition[seat] == CONDITION_ABSENT);
    assert_true(h->steps < STEPS_MAX);
    h->step[h->steps++] = (struct step){.leaves = true, .seat = seat, .how = how};
    return true;
}
static bool on_comment(void *arg, const char *text)
{
    struct heard *h = arg;

    append(h->comments, sizeof h->comments, text);
    return true;
}
static bool on_end(void *arg, const struct pgn4_result *result, const struct position *last)
{
    struct heard *h = arg;

    h->result = *result;
    h->result.termination = NULL; /* lives no longer than this call */
    append(h->tags, sizeof h->tags, result->termination);
    h->last = *last;
    h->games++;
    return true;
}

static struct heard heard;
static struct pgn4_reader reader;

/* Reads in pieces of `piece` bytes. */
static enum pgn4_verdict listen(const char *text, size_t n, size_t piece)
{
    const struct pgn4_handler handler = {on_tag,     on_start, on_move, on_leave,
                                         on_comment, on_end,   &heard};
    enum pgn4_verdict verdict = PGN4_OK;

    memset(&heard, 0, sizeof heard);
    pgn4_reader_start(&reader, &handler);
    for (size_t i = 0; i < n && verdict == PGN4_OK; i += piece)
        verdict = pgn4_read(&reader, text + i, n - i < piece ? n - i : piece);
    return verdict == PGN4_OK ? pgn4_read_end(&reader) : verdict;
}

static void must_listen(const char *text, size_t n, size_t piece)
{
    char sentence[PGN4_SENTENCE_MAX];

    if (listen(text, n, piece) == PGN4_OK)
        return;
    pgn4_error_sentence(&reader.error, sentence, sizeof sentence);
    fail_msg("%s\n%.3000s", sentence, text);
}

/* ---- writing */

static void test_a_game_is_written_a_round_a_line(void **state)
{
    static const char want[] =
        "[Red \"anna\"]\n[Blue \"b'c\"]\n[Variant \"Teams\"]\n[RuleVariants \"EnPassant\"]\n"
        "[StartFen4 \"4PC\"]\n[FourhandedVariant \"teams\"]\n[FourhandedPosition \"";
    static const char moves[] = "1. h2-h3 .. b5-c5 { date=2020-07-17 } .. g13-g12 .. m5-l5\n"
                                "2. Nj1-i3 .. R\n\n";
    static struct page page;
    struct walk walk;
    struct pgn4_writer w;
    const struct pgn4_ending ending = {.result = RESULT_TEAM0, .cause = CAUSE_LEAVING};

    (void)state;
    page.n = 0;
    assert_true(walk_start(&walk, "teams", 1));
    pgn4_writer_start(&w, to_page, &page, &ending);
    pgn4_write_tag(&w, "Red", "anna");
    pgn4_write_tag(&w, "Blue", "b\"c");
    pgn4_write_position(&w, &walk.pos);
    assert_true(pgn4_write_move(&w, row_move("h2h3")));
    assert_false(pgn4_write_move(&w, row_move("h2h3")));
    assert_true(pgn4_write_move(&w, row_move("b5c5")));
    pgn4_write_comment(&w, "date=2020-07-17");
    assert_true(pgn4_write_move(&w, row_move("g13g12")));
    assert_true(pgn4_write_move(&w, row_move("m5l5")));
    assert_true(pgn4_write_move(&w, row_move("j1i3")));
    assert_true(pgn4_write_leave(&w, SEAT_WEST, LEAVE_RESIGN));
    assert_false(pgn4_write_leave(&w, SEAT_WEST, LEAVE_RESIGN));
    assert_true(pgn4_write_end(&w));
    assert_memory_equal(page.text, want, sizeof want - 1);
    assert_non_null(strstr(page.text, "\"]\n[Result \"1-0\"]\n"
                                      "[Termination \"Resigned or forfeited. 1-0\"]\n"
                                      "[FourhandedResult \"team0 leaving\"]\n\n1. h2-h3"));
    assert_string_equal(page.text + page.n - (sizeof moves - 1), moves);

    must_listen(page.text, page.n, 1);
    assert_int_equal(heard.steps, 6);
    assert_int_equal(heard.result.result, RESULT_TEAM0);
    assert_int_equal(heard.result.cause, CAUSE_LEAVING);
    assert_true(heard.result.is_on_board);
    assert_string_equal(heard.comments, "date=2020-07-17|");
}

static void test_a_sink_that_fails_stops_the_writing(void **state)
{
    struct pgn4_writer w;
    const struct pgn4_ending ending = {.result = RESULT_NONE};
    static struct page page;

    (void)state;
    page.n = 0;
    pgn4_writer_start(&w, to_page, &page, &ending);
    w.is_ok = false; /* as after a sink that said no */
    pgn4_write_tag(&w, "Red", "anna");
    assert_int_equal(page.n, 0);
    assert_false(pgn4_write_end(&w));
}

static void test_comments_cannot_break_out(void **state)
{
    static struct page page;
    struct walk walk;
    struct pgn4_writer w;
    const struct pgn4_ending ending = {.result = RESULT_NONE};

    (void)state;
    page.n = 0;
    assert_true(walk_start(&walk, "verney", 1));
    pgn4_writer_start(&w, to_page, &page, &ending);
    pgn4_write_position(&w, &walk.pos);
    pgn4_write_comment(&w, "[%leave South resign] } e2e3");
    assert_true(pgn4_write_end(&w));
    must_listen(page.text, page.n, 7);
    assert_int_equal(heard.steps, 0);
    assert_string_equal(heard.comments, "(%leave South resign] ) e2e3|");
}

static void assert_same_position(const struct position *a, const struct position *b)
{
    char text[2][POSITION_TEXT_MAX + 1];

    position_print(a, text[0], sizeof text[0]);
    position_print(b, text[1], sizeof text[1]);
    assert_string_equal(text[0], text[1]);
    assert_true(a->hash == b->hash);
    assert_int_equal(a->result, b->result);
    assert_int_equal(a->cause, b->cause);
    assert_true(variant_is_equal(&a->variant, &b->variant));
}

/* Plays a random game, writes it and reads it: the same in every field. */
static void write_and_read(const char *variant, uint64_t seed, long counts[4])
{
    static struct page page;
    static struct step done[STEPS_MAX];
    struct walk walk;
    struct position start, last;
    struct pgn4_writer w;
    struct pgn4_ending ending = {.result = RESULT_NONE};
    int n = 0;

    assert_true(walk_start(&walk, variant, seed));
    for (uint32_t skip = walk_number(&walk, 8); skip > 0 && walk_step(&walk, &done[0]); skip--)
        ; /* begin anywhere in a round */
    start = walk.pos;
    while (n < 1200 && walk_step(&walk, &done[n]))
        n++;
    last = walk.pos;
    ending.result = (enum result)last.result;
    ending.cause = (enum cause)last.cause;
    if (ending.result == RESULT_NONE && seed % 3 == 0) {
        ending.result = RESULT_DRAW;
        ending.cause = CAUSE_AGREEMENT;
    } else if (ending.result == RESULT_NONE && seed % 3 == 1) {
        ending.is_aborted = true;
    }
    page.n = 0;
    pgn4_writer_start(&w, to_page, &page, &ending);
    pgn4_write_position(&w, &start);
    for (int i = 0; i < n; i++) {
        if (done[i].leaves)
            assert_true(pgn4_write_leave(&w, done[i].seat, done[i].how));
        else
            assert_true(pgn4_write_move(&w, done[i].move));
        counts[done[i].leaves ? 1 : 0]++;
    }
    assert_true(pgn4_write_end(&w));
    must_listen(page.text, page.n, 1 + seed % 100);
    assert_int_equal(heard.games, 1);
    assert_int_equal(heard.steps, n);
    for (int i = 0; i < n; i++) {
        assert_int_equal(heard.step[i].leaves, done[i].leaves);
        if (done[i].leaves) {
            assert_int_equal(heard.step[i].seat, done[i].seat);
            assert_int_equal(heard.step[i].how, done[i].how);
        } else {
            assert_true(move_is_same(heard.step[i].move, done[i].move));
        }
    }
    assert_same_position(&heard.start, &start);
    assert_same_position(&heard.last, &last);
    assert_int_equal(heard.result.result, ending.result);
    assert_int_equal(heard.result.cause, ending.cause);
    assert_int_equal(heard.result.is_aborted, ending.is_aborted);
    counts[2] += last.result != RESULT_NONE;
    counts[3] += strstr(page.text, " S") != NULL;
}

static void test_every_game_of_every_variant_comes_back_the_same(void **state)
{
    long counts[4] = {0}; /* moves, leavings, games ended on the board, games with a pass */

    (void)state;
    for (int v = 0; v < WALK_VARIANTS; v++)
        for (uint64_t seed = 0; seed < 40; seed++)
            write_and_read(walk_variants[v], 1000 + seed, counts);
    print_message("%ld moves, %ld leavings, %ld ended, %ld with a pass\n", counts[0], counts[1],
                  counts[2], counts[3]);
    assert_true(counts[0] > 20000 && counts[1] > 100 && counts[2] > 50 && counts[3] > 3);
}

static void test_several_games_stand_one_after_another(void **state)
{
    static struct page page;
    const struct pgn4_ending ending = {.result = RESULT_NONE};

    (void)state;
    page.n = 0;
    for (int game = 0; game < 3; game++) {
        struct walk walk;
        struct pgn4_writer w;

        assert_true(walk_start(&walk, game == 1 ? "fortress" : "verney", 5));
        pgn4_writer_start(&w, to_page, &page, &ending);
        pgn4_write_tag(&w, "Red", "anna");
        pgn4_write_position(&w, &walk.pos);
        if (game == 2)
            assert_true(pgn4_write_move(&w, row_move("e2e3")));
        assert_true(pgn4_write_end(&w));
    }
    must_listen(page.text, page.n, TEXT_MAX);
    assert_int_equal(heard.games, 3);
    assert_int_equal(heard.starts, 3);
    assert_int_equal(heard.steps, 1);
}

/* ---- foreign files */

static const char foreign[] =
    "\xef\xbb\xbf[GameNr \"26780486\"]\r\n[TimeControl \"3+0\"]\r\n[Variant \"Teams\"]\r\n"
    "[RuleVariants \"EnPassant\"]\r\n[Red \"some one\"]\r\n[Result \"0-1\"]\r\n"
    "[Termination \"Yellow resigned. 0-1\"]\r\n[Site \"www.chess.com/variants\"]\r\n"
    "[CurrentMove \"7\"]\r\n\r\n\r\n"
    "1. h2-h3 { date=2020-07-17T17:13:12.297Z clock=178312 } .. b7-c7 .. g13-g12 .. m8-l8\r\n"
    "2. Qg1-j4 ( .. g2-g4 .. Ba6-b7 { a ) in a comment } (2.. Ne1-f3)) .. Qa8-d5 .. R\r\n";

static void test_a_foreign_export_is_read_as_what_it_says(void **state)
{
    (void)state;
    must_listen(foreign, sizeof foreign - 1, 3);
    assert_int_equal(heard.steps, 7);
    assert_true(heard.step[6].leaves);
    assert_int_equal(heard.step[6].seat, SEAT_NORTH);
    assert_int_equal(heard.result.result, RESULT_TEAM1);
    assert_string_equal(game_name(heard.start.variant.game), "teams");
    assert_string_equal(heard.comments,
                        "date=2020-07-17T17:13:12.297Z clock=178312|");
    assert_non_null(strstr(heard.tags, "Red|some one|"));
    assert_non_null(strstr(heard.tags, "Yellow resigned. 0-1|"));
}

#define TEAMS "[Variant \"Teams\"]\n"
#define KINGS_FEN                                                                                  \
    "0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-3,3,yK,4,3/14/14/14/14/14/13,gK/bK,13/14/14/14/14/14/"      \
    "7,rK,6"

struct told {
    const char *sentence, *text;
    int steps;
    enum result result;
    enum cause cause;
};

/* Mate on j4; stalemate by b11-b... as in test_notation.c. */
#define MATE_FEN                                                                                   \
    "[StartFen4 \"R-0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-3,3,yK,4,3/14/9,rR,1,3/14/14/14/13,gK/14/"   \
    "14/10,rR,3/bK,13/14/14/7,rK,6\"]\n"

static const struct told accepted[] = {
    {"no moves", TEAMS "[Result \"*\"]\n", 0, RESULT_NONE, CAUSE_NONE},
    {"a start with another seat", TEAMS "[StartFen4 \"B-" KINGS_FEN "\"]\n\n"
                                        "1. Ka7-b7 .. Kg14-g13 .. Kn8-m8 .. Kh1-h2\n2. Kb7-c7",
     5, RESULT_NONE, CAUSE_NONE},
    {"rounds without blanks", TEAMS "\n1.h2-h3 b7-c7 2.g13-g12", 3, RESULT_NONE, CAUSE_NONE},
    {"a named array", TEAMS "[StartFen4 \"4PC\"]\n\n1. h2-h4", 1, RESULT_NONE, CAUSE_NONE},
    {"a start over several lines",
     TEAMS "[StartFen4 \"R-0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-\n3,3,yK,4,3/\n14/14/14/14/14/13,gK/"
           "bK,13/14/14/14/14/14/\n7,rK,6\"]\n\n1. Kh1-h2",
     1, RESULT_NONE, CAUSE_NONE},
    {"mate with its mark", TEAMS MATE_FEN "[Result \"1-0\"]\n\n1. Rj12-j4+#", 1, RESULT_TEAM0,
     CAUSE_MATE},
    {"mate with the mark on the victim's turn", TEAMS MATE_FEN "\n1. Rj12-j4 .. #\n", 1,
     RESULT_TEAM0, CAUSE_MATE},
    {"a result at the end of the moves", TEAMS "\n1. h2-h3 1/2-1/2", 1, RESULT_DRAW, CAUSE_NONE},
    {"an agreed draw's token", TEAMS "\n1. h2-h3 .. D", 1, RESULT_DRAW, CAUSE_NONE},
    {"time", TEAMS "[Result \"0-1\"]\n\n1. T", 1, RESULT_TEAM1, CAUSE_LEAVING},
    {"a result without its reason", TEAMS "[Result \"0-1\"]\n\n1. h2-h3", 1, RESULT_TEAM1,
     CAUSE_NONE},
    {"a comment to the end of the line", TEAMS "\n1. h2-h3 ; and ( so on\n .. b7-c7", 2,
     RESULT_NONE, CAUSE_NONE},
    {"someone who left off his turn",
     "[FourhandedVariant \"verney\"]\n\n1. h2-h3 {[%leave East resign]} .. b7-c7 .. g13-g12\n"
     "2. g2-g3",
     5, RESULT_NONE, CAUSE_NONE},
};

static void test_what_other_programs_write_is_understood(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++) {
        const struct told *t = &accepted[i];

        must_listen(t->text, strlen(t->text), 5);
        if (heard.steps != t->steps || heard.result.result != t->result ||
            heard.result.cause != t->cause)
            fail_msg("%s: %d steps, %s, %s", t->sentence, heard.steps,
                     result_str(heard.result.result), cause_str(heard.result.cause));
    }
}

struct refusal {
    const char *sentence, *text;
    enum pgn4_verdict code;
    int line, column;
};

static const struct refusal refusals[] = {
    {"nothing", " \n ", PGN4_EMPTY, 2, 2},
    {"no variant", "[Red \"a\"]\n\n1. h2-h3", PGN4_NO_VARIANT, 3, 1},
    {"free for all", "[Variant \"FFA\"]\n\n1. h2-h3", PGN4_OTHER_VARIANT, 1, 11},
    {"other rules", TEAMS "[RuleVariants \"EnPassant Prom=8\"]\n\n1. h2-h3", PGN4_OTHER_RULES, 2,
     26},
    {"an unknown array", TEAMS "[StartFen4 \"4PCo\"]\n\n1. h2-h3", PGN4_BAD_FEN4, 2, 13},
    {"a bad FEN4", TEAMS "[StartFen4 \"R-0,0,0,0-0,0,0,2-\"]\n\n1. h2-h3", PGN4_BAD_FEN4, 2, 29},
    {"a bad house rule", "[FourhandedVariant \"verney inert=no\"]\n\n1. h2-h3",
     PGN4_BAD_HOUSE_RULES, 1, 28},
    {"a bad position", "[FourhandedVariant \"verney\"]\n[FourhandedPosition \"verney x\"]\n1. a",
     PGN4_BAD_POSITION, 2, 29},
    {"fortress without its reserves", "[FourhandedVariant \"fortress\"]\n\n1. e4-e5",
     PGN4_NO_START, 3, 1},
    {"a move that is illegal", TEAMS "\n1. h2-h3 .. b7-c7\n .. g13-g10", PGN4_BAD_MOVE, 4, 5},
    {"another man", TEAMS "\n1. Bh2-h3", PGN4_BAD_MOVE, 3, 4},
    {"another victim", TEAMS "\n1. h2xQh3", PGN4_BAD_MOVE, 3, 4},
    {"no move at all", TEAMS "\n1. hello", PGN4_BAD_TOKEN, 3, 4},
    {"a number without a point", TEAMS "\n1 h2-h3", PGN4_BAD_ROUND, 3, 1},
    {"a mate that is none", TEAMS "\n1. h2-h3 .. #", PGN4_BAD_MARK, 3, 13},
    {"a pass that is none", TEAMS "\n1. h2-h3 .. S", PGN4_BAD_MARK, 3, 13},
    {"a move after the end", TEAMS "\n1. R .. b7-c7", PGN4_AFTER_END, 3, 9},
    {"a move after the result", TEAMS "\n1. h2-h3 1-0 b7-c7", PGN4_AFTER_END, 3, 14},
    {"a result that is none", TEAMS "[Result \"2-0\"]\n1. h2-h3", PGN4_BAD_RESULT, 2, 10},
    {"a result that differs", TEAMS "[Result \"1-0\"]\n\n1. R", PGN4_RESULT_DIFFERS, 2, 10},
    {"a cause that is none", TEAMS "[FourhandedResult \"draw fun\"]\n\n1. h2-h3", PGN4_BAD_RESULT,
     2, 20},
    {"a tag twice", TEAMS TEAMS, PGN4_TAG_TWICE, 2, 11},
    {"a tag without quotes", "[Variant Teams]", PGN4_BAD_TAG, 1, 10},
    {"a tag that is not closed", "[Variant \"Teams", PGN4_ENDS_EARLY, 1, 11},
    {"a comment that is not closed", TEAMS "\n1. h2-h3 { so", PGN4_ENDS_EARLY, 3, 10},
    {"a variation that is not closed", TEAMS "\n1. h2-h3 ( .. b7-c7", PGN4_ENDS_EARLY, 3, 10},
    {"a bracket too many", TEAMS "\n1. h2-h3 )", PGN4_UNMATCHED, 3, 10},
    {"a brace too many", TEAMS "\n1. h2-h3 }", PGN4_UNMATCHED, 3, 10},
    {"a control character", TEAMS "\n1. h2-h3\x01", PGN4_BAD_CHARACTER, 3, 9},
    {"a token without end", TEAMS "\n1. aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     PGN4_TOO_LONG, 3, 4},
    {"columns count characters, not bytes", TEAMS "\n1. h2-h3 {\xc3\xa9\xc3\xa9} x",
     PGN4_BAD_TOKEN, 3, 15},
    {"a remark that is none", TEAMS "\n1. h2-h3 {[%leave Blue resign]}", PGN4_BAD_LEAVE, 3, 10},
};

static void test_what_cannot_be_read_is_refused_with_line_and_column(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        char sentence[PGN4_SENTENCE_MAX];

        for (size_t piece = 1; piece < 3000; piece += 2990) {
            listen(r->text, strlen(r->text), piece);
            if (reader.error.code == r->code && reader.error.line == r->line &&
                reader.error.column == r->column)
                continue;
            pgn4_error_sentence(&reader.error, sentence, sizeof sentence);
            print_error("%s: %s (%s), wanted %s at %d:%d\n", r->sentence, sentence,
                        pgn4_verdict_str(reader.error.code), pgn4_verdict_str(r->code), r->line,
                        r->column);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void test_the_sentence_gives_the_reason_of_the_rules(void **state)
{
    static const char text[] = TEAMS "\n1. h2-h3 .. b7-c7\n .. g13-g10";
    char sentence[PGN4_SENTENCE_MAX];

    (void)state;
    listen(text, sizeof text - 1, 9);
    pgn4_error_sentence(&reader.error, sentence, sizeof sentence);
    assert_memory_equal(sentence, "line 4, column 5: \"g13-g10\": ", 29);
    assert_true(strlen(sentence) > 40);
}

static bool say_no(void *arg, const struct position *start)
{
    (void)arg;
    (void)start;
    return false;
}

static void test_a_handler_can_stop_the_reading(void **state)
{
    const struct pgn4_handler handler = {.start = say_no};

    (void)state;
    pgn4_reader_start(&reader, &handler);
    assert_int_equal(pgn4_read(&reader, foreign, sizeof foreign - 1), PGN4_STOPPED);
    assert_int_equal(pgn4_read(&reader, "x", 1), PGN4_STOPPED);
    assert_int_equal(pgn4_read_end(&reader), PGN4_STOPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_game_is_written_a_round_a_line),
        cmocka_unit_test(test_a_sink_that_fails_stops_the_writing),
        cmocka_unit_test(test_comments_cannot_break_out),
        cmocka_unit_test(test_every_game_of_every_variant_comes_back_the_same),
        cmocka_unit_test(test_several_games_stand_one_after_another),
        cmocka_unit_test(test_a_foreign_export_is_read_as_what_it_says),
        cmocka_unit_test(test_what_other_programs_write_is_understood),
        cmocka_unit_test(test_what_cannot_be_read_is_refused_with_line_and_column),
        cmocka_unit_test(test_the_sentence_gives_the_reason_of_the_rules),
        cmocka_unit_test(test_a_handler_can_stop_the_reading),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

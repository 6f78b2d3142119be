#include "support/harness.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "words/words.h"

static void assert_put(enum lang lang, const char *code, const struct words_arg *args, size_t n,
                       const char *want)
{
    struct buf b = buf_make(4096);

    words_put(&b, lang, code, args, n);
    assert_string_equal(b.data, want);
    buf_release(&b);
}

static void test_a_tag_finds_its_language_by_the_first_part(void **state)
{
    enum lang lang = LANG_EN;

    (void)state;
    assert_true(lang_find("ro-MD", &lang));
    assert_int_equal(lang, LANG_RO);
    assert_true(lang_find("RU", &lang));
    assert_int_equal(lang, LANG_RU);
    assert_false(lang_find("rus", &lang));
    assert_false(lang_find("r", &lang));
    assert_false(lang_find("", &lang));
    assert_false(lang_find(NULL, &lang));
    assert_false(lang_find("de", &lang));
    assert_int_equal(lang, LANG_RU); /* untouched */
    assert_int_equal(lang_of("de-AT"), LANG_EN);
}

/* The samples that CLDR gives for each category of whole numbers. */
static void test_plurals_follow_cldr(void **state)
{
    static const struct {
        enum lang lang;
        enum plural plural;
        int64_t n[12];
        size_t count;
    } table[] = {
        {LANG_EN, PLURAL_ONE, {1, -1}, 2},
        {LANG_EN, PLURAL_OTHER, {0, 2, 11, 21, 101, 1000000}, 6},
        {LANG_RU, PLURAL_ONE, {1, 21, 31, 101, 1001, 121}, 6},
        {LANG_RU, PLURAL_FEW, {2, 3, 4, 22, 24, 102, 1002}, 7},
        {LANG_RU, PLURAL_MANY, {0, 5, 11, 12, 14, 19, 20, 111, 112, 1000, 1000000}, 11},
        {LANG_RO, PLURAL_ONE, {1}, 1},
        {LANG_RO, PLURAL_FEW, {0, 2, 16, 19, 101, 102, 119, 1001}, 8},
        {LANG_RO, PLURAL_OTHER, {20, 35, 99, 100, 120, 1000, 1000000}, 7},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        assert_true(plural_is_used(table[i].lang, table[i].plural));
        for (size_t k = 0; k < table[i].count; k++)
            if (plural_of(table[i].lang, table[i].n[k]) != table[i].plural)
                fail_msg("%s %lld: %s", lang_tag(table[i].lang), (long long)table[i].n[k],
                         plural_str(plural_of(table[i].lang, table[i].n[k])));
    }
    assert_int_equal(plural_of(LANG_RU, INT64_MIN), PLURAL_MANY); /* …808 */
}

static void test_arguments_are_put_in_by_name(void **state)
{
    (void)state;
    assert_put(LANG_EN, "event.credited",
               (const struct words_arg[]){WORDS_TEXT("length", "1 d"), WORDS_TEXT("other", "x")},
               2, "1 d were added to the time");
    assert_put(LANG_RU, "length.d", (const struct words_arg[]){WORDS_NUMBER("n", -3)}, 1, "-3 д");
}

static void test_the_catalogue_is_sorted_and_has_every_text(void **state)
{
    (void)state;
    assert_true(words_count() > 100);
    for (size_t i = 0; i < words_count(); i++) {
        struct words_entry first = words_at(LANG_EN, i);

        if (i > 0)
            assert_true(strcmp(words_at(LANG_EN, i - 1).code, first.code) < 0);
        assert_true(words_has(first.code));
        for (int lang = 0; lang < LANGS; lang++) {
            struct words_entry entry = words_at((enum lang)lang, i);

            for (int p = 0; p < PLURALS; p++) {
                bool want = entry.is_plural ? plural_is_used((enum lang)lang, (enum plural)p)
                                            : p == PLURAL_OTHER;

                assert_int_equal(entry.form[p] != NULL, want);
                if (want)
                    assert_true(utf8_is_valid(entry.form[p], strlen(entry.form[p])));
            }
        }
    }
    assert_false(words_has("no.such.code"));
}

static void test_every_reason_has_a_title_in_every_language(void **state)
{
    (void)state;
    for (int r = 0; r < REASON_COUNT_; r++) {
        char code[80];

        (void)snprintf(code, sizeof code, "reason.%s", reason_slug((enum reason)r));
        if (!words_has(code))
            fail_msg("%s is not in the catalogue", code);
        assert_string_equal(words_reason(LANG_EN, (enum reason)r), reason_title((enum reason)r));
    }
}

static void test_every_man_of_every_game_has_a_name(void **state)
{
    (void)state;
    for (int lang = 0; lang < LANGS; lang++)
        for (int g = 0; g < GAMES; g++)
            for (int seat = 0; seat < SEATS; seat++)
                for (int kind = KIND_KING; kind < KINDS; kind++) {
                    uint8_t m = man_of((enum seat)seat, (enum kind)kind);

                    assert_true(words_man((enum lang)lang, game_at(g), m)[0] != '\0');
                    assert_true(words_kind((enum lang)lang, (enum kind)kind)[0] != '\0');
                    assert_true(
                        words_seat_colour((enum lang)lang, game_at(g), (enum seat)seat)[0] != '\0');
                    assert_true(words_seat_name((enum lang)lang, (enum seat)seat)[0] != '\0');
                }
    assert_string_equal(
        words_man(LANG_RU, game_at(0), man_of(SEAT_SOUTH, KIND_ROOK)), "белая ладья");
    assert_string_equal(
        words_man(LANG_RO, game_at(1), man_of(SEAT_EAST, KIND_QUEEN)), "damă albastră");
}

static void test_every_verdict_is_a_sentence_without_holes(void **state)
{
    struct variant variant;
    struct position pos;

    (void)state;
    assert_true(variant_find("verney", &variant));
    assert_int_equal(position_start(&variant, NULL, &pos), RESERVE_OK);
    for (int lang = 0; lang < LANGS; lang++)
        for (int v = MOVE_LEGAL; v <= MOVE_PROMOTION_BAD; v++) {
            struct move_judgement j = {.code = (enum move_verdict)v, .seat = SEAT_SOUTH,
                                       .other = SEAT_WEST, .kind = KIND_KNIGHT, .square = 0,
                                       .by_kind = KIND_ROOK, .by_square = 255};
            struct buf b = buf_make(4096);

            words_move_verdict(&b, (enum lang)lang, &pos, &j);
            assert_true(b.len > 5);
            assert_null(strchr(b.data, '{'));
            assert_null(strchr(b.data, '?'));
            buf_release(&b);
        }
}

static void assert_judged(const char *from_to, enum lang lang, const char *want)
{
    struct variant variant;
    struct position pos;
    struct move_judgement j;
    int from = 0, to = 0;
    size_t n;
    struct buf b = buf_make(4096);

    assert_true(variant_find("verney", &variant));
    assert_int_equal(position_start(&variant, NULL, &pos), RESERVE_OK);
    n = square_read(from_to, strlen(from_to), &from);
    assert_true(square_read(from_to + n, strlen(from_to) - n, &to) > 0);
    (void)position_judge_move(&pos, (struct move){.from = (uint8_t)from, .to = (uint8_t)to}, &j);
    words_move_verdict(&b, lang, &pos, &j);
    assert_string_equal(b.data, want);
    buf_release(&b);
}

static void test_refusals_name_men_and_squares(void **state)
{
    (void)state;
    assert_judged("d1d5", LANG_EN, "the way is blocked by the white pawn on d2");
    assert_judged("d1d5", LANG_RU, "путь преграждает белая пешка на d2");
    assert_judged("d1d5", LANG_RO, "drumul este închis de pion alb pe d2");
    assert_judged("a5b5", LANG_EN, "on a5 stands a man of Red, and White is to move");
    assert_judged("d1d2", LANG_RU, "на d2 стоит своя фигура: белая пешка");
}

static void test_results_name_the_winners_by_colour(void **state)
{
    struct buf b = buf_make(1000);

    (void)state;
    words_result(&b, LANG_EN, game_at(0), RESULT_TEAM1, CAUSE_MATE);
    assert_string_equal(b.data, "Red and Black have won: both enemies are mated or have left");
    buf_clear(&b);
    words_result(&b, LANG_RU, game_at(1), RESULT_DRAW, CAUSE_AGREEMENT);
    assert_string_equal(b.data, "ничья (по соглашению)");
    for (int cause = CAUSE_NONE; cause <= CAUSE_AGREEMENT; cause++)
        for (int lang = 0; lang < LANGS; lang++)
            words_result(&b, (enum lang)lang, game_at(0), RESULT_TEAM0, (enum cause)cause);
    buf_release(&b);
}

static void assert_length(enum lang lang, int64_t ms, const char *want)
{
    struct buf b = buf_make(200);

    words_length(&b, lang, ms);
    assert_string_equal(b.data, want);
    buf_release(&b);
}

static void test_lengths_are_told_in_their_two_largest_units(void **state)
{
    (void)state;
    assert_length(LANG_EN, 6 * MS_DAY + 4 * MS_HOUR + 59 * MS_MINUTE, "6 d\u00a04 h");
    assert_length(LANG_EN, 6 * MS_DAY + 59 * MS_MINUTE, "6 d");
    assert_length(LANG_RU, 5 * MS_HOUR + 3 * MS_MINUTE, "5 ч\u00a03 мин");
    assert_length(LANG_RO, MS_MINUTE, "1 min");
    assert_length(LANG_EN, MS_MINUTE - 1, "less than a minute");
    assert_length(LANG_EN, -2 * MS_DAY, "2 d");
    assert_length(LANG_EN, 0, "less than a minute");
}

static void test_dates_are_written_as_the_language_does(void **state)
{
    struct civil c = civil_from_ms(INT64_C(1796236200000)); /* 2026-12-02T18:30Z */
    struct buf b = buf_make(200);

    (void)state;
    words_civil(&b, LANG_EN, &c);
    assert_string_equal(b.data, "Wed 2 December 2026, 18:30");
    buf_clear(&b);
    words_civil(&b, LANG_RU, &c);
    assert_string_equal(b.data, "ср 2 декабря 2026 г., 18:30");
    buf_clear(&b);
    words_civil(&b, LANG_RO, &c);
    assert_string_equal(b.data, "mie. 2 decembrie 2026, 18:30");
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_tag_finds_its_language_by_the_first_part),
        cmocka_unit_test(test_plurals_follow_cldr),
        cmocka_unit_test(test_arguments_are_put_in_by_name),
        cmocka_unit_test(test_the_catalogue_is_sorted_and_has_every_text),
        cmocka_unit_test(test_every_reason_has_a_title_in_every_language),
        cmocka_unit_test(test_every_man_of_every_game_has_a_name),
        cmocka_unit_test(test_every_verdict_is_a_sentence_without_holes),
        cmocka_unit_test(test_refusals_name_men_and_squares),
        cmocka_unit_test(test_results_name_the_winners_by_colour),
        cmocka_unit_test(test_lengths_are_told_in_their_two_largest_units),
        cmocka_unit_test(test_dates_are_written_as_the_language_does),
    };

    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}

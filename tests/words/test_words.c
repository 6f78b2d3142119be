#include "support/harness.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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
               2, "Time added: 1 d");
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
    assert_judged("d1d5", LANG_RO, "drumul este închis: pion alb pe d2");
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
    /* whom the mate was not of */
    buf_clear(&b);
    words_ending(&b, LANG_EN, game_at(0), RESULT_TEAM1, CAUSE_MATE, NULL, 1u << SEAT_WEST,
                 1u << SEAT_NORTH);
    assert_string_equal(b.data, "Red and Black have won: both enemies are mated or have left; "
                                "out of the game: Red (resigned), Yellow (lost on time)");
    buf_clear(&b);
    words_ending(&b, LANG_RU, game_at(0), RESULT_DRAW, CAUSE_AGREEMENT, NULL, 0, 1u << SEAT_EAST);
    assert_string_equal(b.data, "ничья (по соглашению); выбыли: Чёрные (просрочка времени)");
    buf_clear(&b);
    words_ending(&b, LANG_RO, game_at(0), RESULT_DRAW, CAUSE_NONE, NULL, 1u << SEAT_SOUTH, 0);
    assert_non_null(strstr(b.data, "; au părăsit partida: Albul (cedare)"));
    buf_clear(&b);
    words_ending(&b, LANG_EN, game_at(0), RESULT_TEAM1, CAUSE_MATE, NULL, 0, 0);
    assert_string_equal(b.data, "Red and Black have won: both enemies are mated or have left");
    /* … and a cause that is none of the rules' */
    buf_clear(&b);
    words_ending(&b, LANG_EN, game_at(0), RESULT_TEAM1, CAUSE_NONE, "adjudication", 0,
                 1u << SEAT_NORTH);
    assert_string_equal(b.data, "Red and Black have won: by adjudication; "
                                "out of the game: Yellow (lost on time)");
    buf_release(&b);
}

/* R-F3, R-F7: both at the owner's right hand. */
static void test_each_seat_has_its_fortress_and_an_example_of_a_reserve(void **state)
{
    static const struct {
        const char *fortress, *placing;
    } seats[SEATS] = {{"m1–p4", "R p4 N n3 B o1"},
                      {"a1–d4", "R d1 N c3 B a2"},
                      {"a13–d16", "R a13 N c14 B b16"},
                      {"m13–p16", "R m16 N n14 B p15"}};
    char text[PLACING_TEXT_SIZE];

    (void)state;
    for (int seat = 0; seat < SEATS; seat++) {
        assert_string_equal(words_fortress((enum seat)seat, text), seats[seat].fortress);
        assert_string_equal(words_placing((enum seat)seat, text), seats[seat].placing);
    }
}

/* ------------------------------------------------------------------ what a refusal adds */

static void assert_refusal(enum lang lang, const struct err *err, const char *want)
{
    struct buf b = buf_make(1000);

    assert_true(words_refusal(&b, lang, err));
    assert_string_equal(b.data, want);
    buf_release(&b);
}

static void test_a_refusal_is_said_in_the_readers_language(void **state)
{
    struct err err = ERR_INIT;

    (void)state;
    (void)ERR_DETAIL(&err, REASON_GAME_FULL, "refusal.seat_not_free", "the seat {seat} is not free",
                     ERR_SEAT("seat", SEAT_WEST));
    assert_string_equal(err.text, "the seat West is not free");
    assert_refusal(LANG_EN, &err, "the seat West is not free");
    assert_refusal(LANG_RU, &err, "место не свободно: Запад");
    assert_refusal(LANG_RO, &err, "locul nu este liber: Vest");

    (void)ERR_DETAIL(&err, REASON_BAD_FIELD, "refusal.time_range",
                     "the time for a move is from {least} to {most}", ERR_LENGTH("least", MS_HOUR),
                     ERR_LENGTH("most", 60 * MS_DAY));
    assert_string_equal(err.text, "the time for a move is from 1h to 60d");
    assert_refusal(LANG_RU, &err, "время на ход: от 1 ч до 60 д");
    err_in_field(&err, "/time/per_move_ms");
    assert_refusal(LANG_RO, &err,
                   "/time/per_move_ms: timpul pentru o mutare: de la 1 h la 60 z");
    assert_string_equal(err.text,
                        "/time/per_move_ms: the time for a move is from 1h to 60d");

    (void)ERR_DETAIL(&err, REASON_LOST_ON_TIME, "refusal.turn_over_at",
                     "the time for this turn was over at {at}",
                     ERR_INSTANT("at", INT64_C(1796236200000)));
    assert_refusal(LANG_RU, &err, "время на этот ход истекло: ср 2 декабря 2026 г., 18:30 UTC");
    assert_string_equal(err.text, "the time for this turn was over at 2026-12-02T18:30:00.000Z");
    (void)ERR_DETAIL(&err, REASON_LIMIT, "refusal.games_most",
                     "{n} games are going on for you; there may be no more", ERR_NUMBER("n", 22));
    assert_refusal(LANG_RU, &err, "у вас идут 22 партии; больше нельзя");
    assert_refusal(LANG_RO, &err, "aveți deja 22 de partide în curs; mai multe nu se poate");
}

/* Its own words are English, whatever its reader's language: they are for the log. */
static void test_a_failure_without_a_code_is_told_in_general_in_every_language(void **state)
{
    static const struct {
        enum reason reason;
        const char *english, *in[LANGS];
    } rows[] = {
        {REASON_NOT_FOUND,
         "there is no such timer",
         {[LANG_EN] = "what this is about is not there, or not any more",
          [LANG_RU] = "того, о чём речь, нет или уже нет",
          [LANG_RO] = "lucrul despre care este vorba nu există sau nu mai există"}},
        {REASON_ALREADY_DONE,
         "this token is there already",
         {[LANG_EN] = "things have changed meanwhile; look at them again",
          [LANG_RU] = "тем временем всё изменилось; посмотрите ещё раз",
          [LANG_RO] = "între timp lucrurile s-au schimbat; uitați-vă din nou"}},
    };
    static const struct {
        enum reason reason;
        const char *english;
    } silent[] = {
        {REASON_NO_SUCH_GAME, "there is no such game"},        /* the title says it */
        {REASON_CORRUPT, "game x: its rules cannot be read"},  /* the operator's */
        {REASON_STORE_FAILED, "store: COMMIT: disk is full"},
        {REASON_BAD_FIELD, "nobody knows what is wrong"},
    };
    struct err err = ERR_INIT;
    struct buf b = buf_make(1000);

    (void)state;
    for (int lang = 0; lang < LANGS; lang++) {
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            (void)err_reason(&err, rows[i].reason, "%s", rows[i].english);
            assert_refusal((enum lang)lang, &err, rows[i].in[lang]);
        }
        for (size_t i = 0; i < COUNT_OF(silent); i++) {
            (void)err_reason(&err, silent[i].reason, "%s", silent[i].english);
            assert_false(words_refusal(&b, (enum lang)lang, &err));
        }
    }
    assert_int_equal(b.len, 0);
    buf_release(&b);
}

/* The values that a text wants, in the order of the English one. */
static size_t values_of(const char *text, char names[ERR_ARGS_MAX][32],
                        struct err_arg ret[ERR_ARGS_MAX])
{
    size_t n = 0;

    for (const char *p = strchr(text, '{'); p; p = strchr(p + 1, '{')) {
        assert_true(n < ERR_ARGS_MAX);
        (void)snprintf(names[n], sizeof names[n], "%.*s", (int)strcspn(p + 1, "}"), p + 1);
        ret[n] = str_eq(names[n], "seat") ? (struct err_arg)ERR_SEAT(names[n], SEAT_NORTH)
                 : str_eq(names[n], "n")  ? (struct err_arg)ERR_NUMBER(names[n], 5)
                                          : (struct err_arg)ERR_TEXT(names[n], "7");
        n++;
    }
    return n;
}

/* Whether a Russian sentence has an English word: four Latin letters side by side that stand
 * neither in backticks nor in one of the names that all languages share. */
static bool has_english_word(const char *text)
{
    static const char *const shared[] = {"name@example.org", "Europe/Berlin", "https", "cookie",
                                         "JSON", "CRLF", "ASCII", "HTTP", "PGN4", "ntfy",
                                         "inert=safe"};
    char copy[1024];
    size_t run = 0;
    bool is_code = false;

    (void)str_copy(copy, sizeof copy, text);
    for (size_t i = 0; i < COUNT_OF(shared); i++)
        for (char *at = strstr(copy, shared[i]); at; at = strstr(copy, shared[i]))
            memset(at, ' ', strlen(shared[i]));
    for (const char *p = copy; *p; p++) {
        char c = char_lower(*p);

        is_code = is_code != (c == '`');
        run = !is_code && c >= 'a' && c <= 'z' ? run + 1 : 0;
        if (run == 4)
            return true;
    }
    return false;
}

static void test_every_refusal_can_be_said_in_every_language(void **state)
{
    size_t n_refusals = 0;

    (void)state;
    assert_true(has_english_word("место South не свободно"));
    assert_false(has_english_word("`create` и name@example.org в Europe/Berlin"));
    for (size_t i = 0; i < words_count(); i++) {
        struct words_entry entry = words_at(LANG_EN, i);
        const char *english = entry.form[PLURAL_OTHER];
        char names[ERR_ARGS_MAX][32], first[1024] = "";
        struct err_arg args[ERR_ARGS_MAX];
        struct err err = ERR_INIT;
        size_t n;

        if (!str_starts(entry.code, "refusal."))
            continue;
        n_refusals++;
        n = values_of(english, names, args);
        (void)err_detail_with(&err, REASON_BAD_FIELD, entry.code, english, args, n);
        for (int lang = 0; lang < LANGS; lang++) {
            struct buf b = buf_make(2000);

            assert_true(words_refusal(&b, (enum lang)lang, &err));
            assert_null(strchr(b.data, '{'));
            assert_true(utf8_is_valid(b.data, b.len));
            if (lang == LANG_EN) {
                (void)str_copy(first, sizeof first, b.data);
                assert_string_equal(first, err.text);
            } else if (str_eq(b.data, first) || (lang == LANG_RU && has_english_word(b.data))) {
                fail_msg("%s (%s): %s", entry.code, lang_tag((enum lang)lang), b.data);
            }
            buf_release(&b);
        }
    }
    assert_true(n_refusals > 200);
}

/* The titles, and the sentences of moves. */
static void test_no_title_or_verdict_is_english_elsewhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < words_count(); i++) {
        struct words_entry entry = words_at(LANG_EN, i);

        if (!str_starts(entry.code, "reason.") && !str_starts(entry.code, "verdict.") &&
            !str_starts(entry.code, "mail.fault."))
            continue;
        for (int lang = LANG_EN + 1; lang < LANGS; lang++) {
            const char *text = words_at((enum lang)lang, i).form[PLURAL_OTHER];
            char plain[1024];
            size_t n = 0;
            bool is_value = false;

            for (; *text && n + 1 < sizeof plain; text++) { /* without {names} */
                is_value = *text == '{' || (is_value && text[-1] != '}');
                if (!is_value)
                    plain[n++] = *text;
            }
            plain[n] = '\0';
            if (str_eq(plain, entry.form[PLURAL_OTHER]))
                fail_msg("%s (%s) is English", entry.code, lang_tag((enum lang)lang));
            if (lang == LANG_RU && !str_eq(entry.code, "reason.idempotency_key_reused") &&
                has_english_word(plain))
                fail_msg("%s: %s", entry.code, plain);
        }
    }
}

static void assert_read(const char *text, enum lang lang, const char *want)
{
    struct variant variant;
    struct position pos;
    struct move_reading *reading = malloc(sizeof *reading);
    struct buf b = buf_make(4096);

    assert_non_null(reading);
    assert_true(variant_find("verney", &variant));
    assert_int_equal(position_start(&variant, NULL, &pos), RESERVE_OK);
    (void)move_read(&pos, text, strlen(text), reading);
    words_move_reading(&b, lang, &pos, reading);
    assert_string_equal(b.data, want);
    buf_release(&b);
    free(reading);
}

static void test_what_a_written_move_came_to_is_said_in_every_language(void **state)
{
    (void)state;
    assert_read("e2e3", LANG_EN, "the move is legal");
    assert_read("d1d5", LANG_RU, "путь преграждает белая пешка на d2");
    assert_read("hello", LANG_RO,
                "nu este scrisă ca o mutare; scrieți ambele câmpuri, de unde și unde merge piesa");
    assert_read("Re2-e3", LANG_RU, "там стоит не та фигура, что написана");
    assert_read("Nh9", LANG_RO,
                "nicio piesă a dumneavoastră de acest fel nu poate ajunge acolo");
    assert_read("e2xe3", LANG_RU, "этот ход ничего не берёт");
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
        cmocka_unit_test(test_each_seat_has_its_fortress_and_an_example_of_a_reserve),
        cmocka_unit_test(test_a_tag_finds_its_language_by_the_first_part),
        cmocka_unit_test(test_plurals_follow_cldr),
        cmocka_unit_test(test_arguments_are_put_in_by_name),
        cmocka_unit_test(test_the_catalogue_is_sorted_and_has_every_text),
        cmocka_unit_test(test_every_reason_has_a_title_in_every_language),
        cmocka_unit_test(test_every_man_of_every_game_has_a_name),
        cmocka_unit_test(test_every_verdict_is_a_sentence_without_holes),
        cmocka_unit_test(test_refusals_name_men_and_squares),
        cmocka_unit_test(test_results_name_the_winners_by_colour),
        cmocka_unit_test(test_a_refusal_is_said_in_the_readers_language),
        cmocka_unit_test(test_a_failure_without_a_code_is_told_in_general_in_every_language),
        cmocka_unit_test(test_every_refusal_can_be_said_in_every_language),
        cmocka_unit_test(test_no_title_or_verdict_is_english_elsewhere),
        cmocka_unit_test(test_what_a_written_move_came_to_is_said_in_every_language),
        cmocka_unit_test(test_lengths_are_told_in_their_two_largest_units),
        cmocka_unit_test(test_dates_are_written_as_the_language_does),
    };

    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}

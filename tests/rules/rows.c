/*
 * tests/rules/rows.c - see rows.h.
 */
#include "rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/engine.h"
#include "support/rule.h"

/* Copies the next word of *text; false at the end. */
static bool next_word(const char **text, char *word, size_t size)
{
    size_t n;

    if (*text == NULL)
        return false;
    *text += strspn(*text, " ");
    n = strcspn(*text, " ");
    if (n == 0)
        return false;
    assert_true(n < size);
    memcpy(word, *text, n);
    word[n] = '\0';
    *text += n;
    return true;
}

static int read_square(const char *text)
{
    int square = SQUARE_NONE;

    if (square_read(text, strlen(text), &square) != strlen(text))
        fail_msg("not a square: %s", text);
    return square;
}

struct move row_move(const char *text)
{
    int from, to;
    size_t n = square_read(text, strlen(text), &from),
           m = square_read(text + n, strlen(text + n), &to);
    char letter = text[n + m];

    if (n == 0 || m == 0)
        fail_msg("not a move: %s", text);
    return (struct move){
        .from = (uint8_t)from,
        .to = (uint8_t)to,
        .promotion =
            (uint8_t)(letter == '\0' ? KIND_NONE : kind_of_letter((char)(letter - 'a' + 'A')))};
}

static uint8_t read_man(const struct game *game, const char *word)
{
    enum seat seat = SEAT_SOUTH;

    assert_true(seat_of_letter(game, word[0], &seat));
    assert_int_not_equal(kind_of_letter(word[1]), KIND_NONE);
    return man_of(seat, kind_of_letter(word[1]));
}

struct position row_position(const char *variant_text, const char *men, const char *state_text)
{
    struct position pos, again;
    struct position_state state = {.count = 0};
    struct position_error error;
    struct variant variant;
    char word[32], text[POSITION_TEXT_MAX], printed[POSITION_TEXT_MAX];
    enum seat seat;

    assert_int_equal(variant_parse(variant_text, &variant, NULL), VARIANT_OK);
    position_clear(&variant, &pos);
    while (next_word(&men, word, sizeof word)) {
        if (!square_is_on_board(variant.game, read_square(word + 2)))
            fail_msg("off the board: %s", word);
        position_put(&pos, read_square(word + 2), read_man(variant.game, word));
    }
    for (int i = 0; i < SEATS; i++)
        state.passed[i] = SQUARE_NONE;
    assert_true(next_word(&state_text, word, sizeof word));
    assert_true(seat_of_letter(variant.game, word[0], &state.turn));
    assert_true(next_word(&state_text, word, sizeof word));
    for (int i = 0; i < SEATS; i++)
        state.condition[i] = (enum condition)(strchr("amsx", word[i]) - "amsx");
    if (next_word(&state_text, word, sizeof word) && word[0] != '-') {
        for (const char *at = word; *at != '\0'; at += 2) {
            assert_true(seat_of_letter(variant.game, at[0], &seat));
            state.castling |= (uint8_t)(1u << (seat * 2u + (at[1] == 'l')));
        }
    }
    if (next_word(&state_text, word, sizeof word)) {
        char *at = word;

        for (;;) {
            size_t n = strcspn(at, ",");
            bool last = at[n] == '\0';

            at[n] = '\0';
            assert_true(seat_of_letter(variant.game, at[0], &seat));
            state.passed[seat] = read_square(at + 1);
            if (last)
                break;
            at += n + 1;
        }
    }
    position_set_state(&pos, &state);
    assert_true(position_is_ok(&pos));
    /* Writing and reading it again changes nothing. */
    position_print(&pos, text, sizeof text);
    if (position_parse(&variant, text, &again, &error) != POSITION_OK) {
        position_error_sentence(variant.game, &error, printed, sizeof printed);
        fail_msg("%s\n%s", text, printed);
    }
    position_print(&again, printed, sizeof printed);
    assert_string_equal(text, printed);
    assert_true(again.hash == pos.hash);
    return pos;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(a, b);
}

const char *row_moves(const struct position *pos)
{
    static char text[MOVES_MAX * 8 + 2], names[MOVES_MAX][8];
    static struct move_list moves;
    char *at = text;

    position_legal_moves(pos, &moves);
    assert_int_equal(position_count_moves(pos), moves.count);
    for (int i = 0; i < moves.count; i++) {
        static const char letters[] = "??qrbn";
        struct move m = moves.at[i];
        size_t n = square_print(m.from, names[i]);

        n += square_print(m.to, names[i] + n);
        if (m.promotion != KIND_NONE) {
            names[i][n] = letters[m.promotion];
            names[i][n + 1] = '\0';
        }
    }
    qsort(names, (size_t)moves.count, sizeof names[0], compare_words);
    *at = '\0';
    for (int i = 0; i < moves.count; i++)
        at += snprintf(at, 10, "%s%s", i > 0 ? " " : "", names[i]);
    return text;
}

void row_rules(const char *rules)
{
    char rule[16];

    while (next_word(&rules, rule, sizeof rule))
        rule_named(rule);
}

static bool has_event(const struct position *pos, const struct outcome *outcome, const char *word)
{
    const char *colon = strchr(word, ':');
    size_t n = colon != NULL ? (size_t)(colon - word) : strlen(word);

    for (int i = 0; i < outcome->count; i++) {
        const struct event *event = &outcome->at[i];
        const char *name = event_type_str((enum event_type)event->type);

        if (strlen(name) == n && memcmp(name, word, n) == 0 &&
            (colon == NULL || seat_letter(pos->variant.game, (enum seat)event->seat) == colon[1]))
            return true;
    }
    return false;
}

static void check_outcome(const struct row *row, const struct position *pos,
                          const struct outcome *outcome)
{
    const char *after = row->after, *events = row->events;
    const struct event *last = &outcome->at[outcome->count - 1];
    char word[32], state[16];

    assert_true(position_is_ok(pos));
    while (next_word(&after, word, sizeof word)) {
        bool empty = word[0] == '-';
        uint8_t want = empty ? MAN_NONE : read_man(pos->variant.game, word);
        int square = read_square(word + (empty ? 1 : 2));

        if (pos->men[square] != want)
            fail_msg("not %s: %d stands there", word, pos->men[square]);
    }
    while (next_word(&events, word, sizeof word)) {
        bool wanted = word[0] != '!';

        if (has_event(pos, outcome, word + (wanted ? 0 : 1)) != wanted)
            fail_msg("event: %s", word);
    }
    assert_int_equal(last->type, position_is_over(pos) ? EVENT_GAME_OVER : EVENT_TURN);
    if (position_is_over(pos)) {
        assert_int_equal(last->result, pos->result);
        assert_int_equal(last->cause, pos->cause);
        snprintf(state, sizeof state, "%s", result_str((enum result)pos->result));
    } else {
        const uint8_t *c = pos->condition;

        assert_int_equal(last->seat, pos->turn);
        snprintf(state, sizeof state, "%c %c%c%c%c",
                 seat_letter(pos->variant.game, (enum seat)pos->turn), "amsx"[c[0]], "amsx"[c[1]],
                 "amsx"[c[2]], "amsx"[c[3]]);
    }
    if (row->then != NULL)
        assert_string_equal(state, row->then);
}

static void run_row(void **state)
{
    const struct row *row = *state;
    struct position pos = row_position(row->variant, row->men, row->state), before = pos;
    struct outcome outcome = {.count = 0};
    struct move_judgement judgement;
    const char *says = row->says;
    char word[32], sentence[200];

    if (strncmp(row->move, "resign ", 7) == 0) {
        enum seat seat = SEAT_SOUTH;

        assert_true(seat_of_letter(pos.variant.game, row->move[7], &seat));
        assert_string_equal(leave_verdict_str(position_leave(&pos, seat, LEAVE_RESIGN, &outcome)),
                            row->says);
        check_outcome(row, &pos, &outcome);
        row_rules(row->rules);
        return;
    }
    position_play(&pos, row_move(row->move), &outcome, &judgement);
    assert_true(next_word(&says, word, sizeof word));
    assert_string_equal(move_verdict_str(judgement.code), word);
    if (judgement.code == MOVE_LEGAL) {
        check_outcome(row, &pos, &outcome);
    } else {
        assert_memory_equal(&pos, &before, sizeof pos);
        assert_int_equal(outcome.count, 0);
        assert_true(move_judgement_sentence(&pos, &judgement, sentence, sizeof sentence) <
                    sizeof sentence);
        assert_null(strchr(sentence, '%'));
        if (next_word(&says, word, sizeof word))
            assert_int_equal(judgement.by_square, read_square(word));
    }
    row_rules(row->rules);
}

int rows_run(const char *group, const struct row *rows, size_t count)
{
    static const char *const engines[] = {"plain", "avx2", "avx512"};
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    int failed = 0;

    if (tests == NULL)
        return 1;
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){.name = rows[i].sentence,
                                       .test_func = run_row,
                                       .initial_state = (void *)(uintptr_t)&rows[i]};
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        if (!engine_choose(engines[i])) {
            print_message("[ engine %s: not on this machine ]\n", engines[i]);
            continue;
        }
        print_message("[ engine %s ]\n", engines[i]);
        failed += _cmocka_run_group_tests(group, tests, count, NULL, NULL);
    }
    free(tests);
    return failed;
}

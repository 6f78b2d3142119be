/* intake/grammar_guess.c - see grammar_line.h. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "intake/grammar_line.h"
#include "intake/guess.h"

enum grammar_hint grammar_hint_of(const char *text)
{
    enum { LONGEST = 20 }; /* longer ones are prose */
    const char *from;
    size_t n, squares = 0, first = 0, len;
    bool is_good, is_foreign;
    char last;

    grammar_trim(text, &from, &n);
    if (n == 0 || n > LONGEST)
        return HINT_NONE;
    last = from[n - 1];
    for (size_t i = 0; i < n; i += len ? len : 1) {
        len = grammar_square_shape(from + i, &is_good);
        if (len > 0 && !is_good)
            return HINT_SQUARE;
        squares += len > 0;
    }
    is_foreign = (unsigned char)from[0] >= 0x80 ||
                 (from[0] >= 'A' && from[0] <= 'Z' && !strchr("KQRBNOPV", from[0]));
    for (first = 1; first < n && (unsigned char)from[first] >= 0x80; first++)
        ;
    if (first < n && (from[first] == 'x' || from[first] == ':' || from[first] == '-'))
        first++;
    if (is_foreign && first < n && grammar_square_shape(from + first, &is_good) > 0)
        return HINT_LETTER;
    return squares == 1 && (last == '-' || last == 'x' || last == ':') ? HINT_HALF : HINT_NONE;
}

/* The one move with both its squares among a line's words, as in "Zug: m5-l5" or "e2-e4, draw". */
static void guess_move(const struct grammar_words *w, struct grammar *g)
{
    int found = 0;

    for (size_t i = 0; i < w->n; i++) {
        char word[GRAMMAR_MOVE_SIZE], latin[GRAMMAR_MOVE_SIZE];
        size_t n, squares = 0, len;
        bool is_good = false;

        if (!str_copy(word, sizeof word, w->at[i]))
            continue;
        if (guess_latin(word, latin, sizeof latin))
            (void)str_copy(word, sizeof word, latin);
        for (n = strlen(word); n > 0 && strchr(",;:.!?", word[n - 1]);)
            word[--n] = '\0';
        for (size_t at = 0; at < n; at += len ? len : 1) {
            len = grammar_square_shape(word + at, &is_good);
            squares += len > 0 && is_good;
        }
        if (squares == 2 && grammar_is_move(word) && ++found == 1)
            (void)str_copy(g->guess, sizeof g->guess, word);
    }
    if (found > 1)
        g->guess[0] = '\0';
}

/* Two squares and little else: "e2 to e4", "(e2-e4)", "e2->e4". */
static void guess_squares(const char *text, struct grammar *g)
{
    enum { OTHERS_MAX = 6 };
    char squares[2][SQUARE_TEXT_MAX], guess[2 * SQUARE_TEXT_MAX];
    size_t found = 0, others = 0, len;
    bool is_good = false;

    for (const char *t = text; *t; t += len ? len : 1) {
        len = grammar_square_shape(t, &is_good);
        if (len > 0 && (!is_good || found == 2 || len >= SQUARE_TEXT_MAX))
            return;
        if (len > 0) {
            memcpy(squares[found], t, len);
            squares[found++][len] = '\0';
        } else {
            others += !grammar_is_blank(*t);
        }
    }
    if (found < 2 || others > OTHERS_MAX)
        return;
    (void)snprintf(guess, sizeof guess, "%s-%s", squares[0], squares[1]);
    if (grammar_is_move(guess))
        (void)str_copy(g->guess, sizeof g->guess, guess);
}

/* The words from `from` to `end` in one line, the one at `swap` as `other` ("": without it; NULL:
 * as it is), if that is a command: into the guess.  If it is none, with all that can be translated
 * in the grammar's words. */
static bool guess_line(struct grammar *g, const struct grammar_words *w, size_t from, size_t end,
                       size_t swap, const char *other)
{
    for (int pass = 0; pass < 2; pass++) {
        char line[GRAMMAR_SHOWN_SIZE] = "";
        struct command command;
        const char *note;
        size_t note_n;
        bool fits = true;

        for (size_t i = from; i < end; i++) {
            const char *word = i == swap && other ? other : w->at[i];
            const char *ours = pass == 1 && word == w->at[i] ? guess_translation(word) : NULL;

            fits = fits && (!word[0] || grammar_append(line, sizeof line, ours ? ours : word));
        }
        if (!fits || grammar_take_line(line, false, &command, &note, &note_n) != TAKEN_COMMAND)
            continue;
        if (from == 0 || (command.kind != COMMAND_MOVE && command.kind != COMMAND_NOTE)) {
            grammar_show(line, g->guess);
            for (size_t n = strlen(g->guess); n > 1 && strchr(".?!", g->guess[n - 1]);)
                g->guess[--n] = '\0';
            return true;
        }
    }
    return false;
}

const char *command_near(const char *word)
{
    const char *best = guess_translation(word);
    char bare[GRAMMAR_SHOWN_SIZE];
    enum command_kind kind;
    size_t least = SIZE_MAX;

    if (best && command_find(best, &kind))
        return best;
    best = NULL;
    grammar_show(word, bare);
    for (size_t n = strlen(bare); n > 0 && strchr(".,;:!?", bare[n - 1]);)
        bare[--n] = '\0';
    for (size_t i = 0; grammar_first_word(i); i++) {
        size_t edits;

        if (guess_is_slip(bare, grammar_first_word(i), &edits) && edits < least) {
            best = grammar_first_word(i);
            least = edits;
        }
    }
    return best;
}

/* The command that begins at a word, in another language, or at the first as a slip. */
static bool guess_command(struct grammar *g, const struct grammar_words *w, size_t from)
{
    enum { SLIP_WORDS_MAX = 3 }; /* more is prose */
    const char *other = guess_translation(w->at[from]);
    enum command_kind kind;

    if (!other && from == 0 && w->n <= SLIP_WORDS_MAX)
        other = command_near(w->at[0]);
    if (!other) /* all that follows, or the word itself */
        return from > 0 && (guess_line(g, w, from, w->n, w->n, NULL) ||
                            guess_line(g, w, from, from + 1, w->n, NULL));
    if (guess_line(g, w, from, w->n, from, other))
        return true;
    if (guess_is_consent(w->at[from])) /* "no problem" */
        return false;
    return command_find(other, &kind) && str_copy(g->guess, sizeof g->guess, other);
}

/* The line is no command: what may have been meant? */
enum grammar_fault grammar_fault_unknown(struct grammar *g, const struct grammar_line *line)
{
    enum { GUESS_WORDS_MAX = 6, GUESS_MOVE_WORDS_MAX = 4 };
    char latin[GRAMMAR_WORD_SIZE];
    struct command command;
    struct grammar_words words = {.n = 0};
    const char *note;
    size_t note_n;

    if (guess_latin(line->text, latin, sizeof latin)) {
        enum grammar_taken taken = grammar_take_line(latin, true, &command, &note, &note_n);

        if (taken == TAKEN_COMMAND || taken == TAKEN_END) {
            grammar_show(latin, g->guess);
            return grammar_fault_at(g, GRAMMAR_LOOKALIKE, line);
        }
    }
    if (grammar_is_draw_sign(line->text))
        (void)str_copy(g->guess, sizeof g->guess, command_word(COMMAND_DRAW_OFFER));
    else if (grammar_split(line->text, strlen(line->text), &words) && words.n > 0 &&
             words.n <= GUESS_WORDS_MAX) {
        if (words.n <= GUESS_MOVE_WORDS_MAX)
            guess_move(&words, g);
        if (words.n <= GUESS_MOVE_WORDS_MAX && !g->guess[0])
            guess_squares(line->text, g);
        for (size_t from = 0; !g->guess[0] && from < words.n; from++)
            (void)guess_command(g, &words, from);
    }
    return grammar_fault_at(g, GRAMMAR_UNKNOWN, line);
}

/* `create` as it may be meant: "days = 7", "days 7", "7 days" and "inert:safe" written with "=",
 * and without words of courtesy. */
static bool guess_create(struct grammar *g, const struct grammar_words *w)
{
    static const char *const idle[] = {"a", "the", "new", "game", "please"};
    char line[GRAMMAR_SHOWN_SIZE] = "create";
    struct grammar_words words;
    size_t n = strlen(line);

    for (size_t i = 1; i < w->n; i++) {
        const char *word = w->at[i];
        bool is_idle = false, is_number = strspn(word, "0123456789") == strlen(word);

        for (size_t k = 0; k < COUNT_OF(idle); k++)
            is_idle = is_idle || str_case_eq(word, idle[k]);
        if (is_idle)
            continue;
        if (is_number && i + 1 < w->n && str_case_eq(w->at[i + 1], "days"))
            i++; /* "7 days" */
        else if (is_number)
            is_number = line[n - 1] == '='; /* "days = 7" */
        if (n + strlen(word) + sizeof " days==" > sizeof line)
            return false;
        if (line[n - 1] != '=' && word[0] != '=' && word[0] != ':')
            line[n++] = ' ';
        if (is_number && line[n - 1] != '=') {
            memcpy(line + n, "days=", 5);
            n += 5;
        }
        for (const char *t = word; *t; t++)
            line[n++] = *t == ':' ? '=' : *t;
        if (str_case_eq(word, "days") && i + 1 < w->n && char_is_digit(w->at[i + 1][0]))
            line[n++] = '=';
        line[n] = '\0';
    }
    return grammar_split(line, n, &words) && guess_line(g, &words, 0, words.n, words.n, NULL);
}

/* The words that may stand where a `want` is, as far as they can be listed. */
static size_t wanted_words(enum grammar_want want, const char *const **ret)
{
    static const char *const players[] = {"me", "open"};
    static const char *const options[] = {"private", "rated", "talk"};
    static const char *const acts[] = {"offer", "accept", "decline", "claim"};
    static const char *const draw[] = {"draw"};

    switch (want) {
    case WANT_SEAT:
    case WANT_GAME_OR_SEAT:
    case WANT_COLOUR:
        *ret = grammar_seat_names;
        return COUNT_OF(grammar_seat_names);
    case WANT_PLAYER:
        *ret = players;
        return COUNT_OF(players);
    case WANT_OPTION:
        *ret = options;
        return COUNT_OF(options);
    case WANT_VARIANT:
        *ret = grammar_variants;
        return COUNT_OF(grammar_variants);
    case WANT_DRAW_ACT:
        *ret = acts;
        return COUNT_OF(acts);
    case WANT_DRAW:
        *ret = draw;
        return COUNT_OF(draw);
    default:
        return 0;
    }
}

/* The line's first words are a command, but not all of them: which one is wrong, and what may have
 * been meant? */
enum grammar_fault grammar_fault_argument(struct grammar *g, const struct grammar_line *line,
                                          bool is_first)
{
    const char *const *list = NULL, *note, *other;
    struct command command;
    struct grammar_words words;
    size_t note_n, n;

    (void)grammar_take_words(line->text, is_first, &command, &note, &note_n, &words);
    g->fault_command = command.kind;
    g->fault_want = words.want;
    if (words.bad == words.n)
        return grammar_fault_at(g, GRAMMAR_ARGUMENT, line);
    grammar_show(words.at[words.bad], g->fault_word);
    other = guess_translation(words.at[words.bad]);
    if (other)
        (void)guess_line(g, &words, 0, words.n, words.bad, other);
    n = wanted_words(words.want, &list);
    for (size_t i = 0; !g->guess[0] && i < n; i++)
        if (guess_is_slip(words.at[words.bad], list[i], NULL))
            (void)guess_line(g, &words, 0, words.n, words.bad, list[i]);
    if (!g->guess[0] && command.kind == COMMAND_CREATE)
        (void)guess_create(g, &words);
    if (!g->guess[0] && command.kind != COMMAND_CREATE && /* there a word more is a wish more */
        !guess_line(g, &words, 0, words.n, words.bad, ""))
        (void)guess_line(g, &words, 0, words.bad, words.n, NULL);
    return grammar_fault_at(g, GRAMMAR_ARGUMENT, line);
}

#include "intake/grammar.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/guess.h"
#include "rules/rules.h"

enum { WORDS_MAX = 24, COMPACT_MAX = 64, DAYS_READ_MAX = 99999 };

static const struct {
    const char *word;
    bool acts;
} kinds[COMMAND_COUNT_] = {
#define X(name, word, acts) {word, acts},
    COMMAND_LIST(X)
#undef X
};

static const char *const faults[GRAMMAR_FAULT_COUNT_] = {
#define X(name, slug) slug,
    GRAMMAR_FAULT_LIST(X)
#undef X
};

static const char *const wants[WANT_COUNT_] = {
#define X(name, slug) slug,
    GRAMMAR_WANT_LIST(X)
#undef X
};

const char *command_word(enum command_kind kind)
{
    assert(kind < COMMAND_COUNT_);
    return kinds[kind].word;
}

bool command_acts(enum command_kind kind)
{
    assert(kind < COMMAND_COUNT_);
    return kinds[kind].acts;
}

const char *grammar_fault_slug(enum grammar_fault fault)
{
    assert(fault < GRAMMAR_FAULT_COUNT_);
    return faults[fault];
}

const char *grammar_want_slug(enum grammar_want want)
{
    assert(want < WANT_COUNT_);
    return wants[want];
}

/* What a first word may be. */
static const struct {
    const char *word;
    enum command_kind kind;
} first_words[] = {
    {"resign", COMMAND_RESIGN},       {"draw", COMMAND_DRAW_OFFER},
    {"offer", COMMAND_DRAW_OFFER},    {"claim", COMMAND_CLAIM_DRAW},
    {"undo", COMMAND_UNDO},           {"place", COMMAND_PLACE},
    {"accept", COMMAND_ACCEPT},       {"decline", COMMAND_DECLINE},
    {"confirm", COMMAND_CONFIRM},     {"create", COMMAND_CREATE},
    {"seat", COMMAND_SEAT},           {"note", COMMAND_NOTE},
    {"join", COMMAND_JOIN},           {"leave", COMMAND_LEAVE},
    {"board", COMMAND_BOARD},         {"moves", COMMAND_MOVES},
    {"status", COMMAND_STATUS},       {"games", COMMAND_GAMES},
    {"why", COMMAND_WHY},             {"spoken", COMMAND_SPOKEN},
    {"clocks", COMMAND_CLOCKS},       {"last", COMMAND_LAST},
    {"opponents", COMMAND_OPPONENTS}, {"pieces", COMMAND_PIECES},
    {"square", COMMAND_SQUARE},       {"resend", COMMAND_RESEND},
    {"help", COMMAND_HELP},
};
/* U2 */
static const struct {
    char letter;
    enum command_kind kind;
} letters[] = {
    {'c', COMMAND_CLOCKS}, {'l', COMMAND_LAST},   {'o', COMMAND_OPPONENTS},
    {'p', COMMAND_PIECES}, {'s', COMMAND_SQUARE}, {'m', COMMAND_MOVES},
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

bool command_find(const char *word, enum command_kind *ret_kind)
{
    for (size_t i = 0; i < COMMAND_COUNT_; i++)
        if (str_case_eq(word, kinds[i].word)) {
            *ret_kind = (enum command_kind)i;
            return true;
        }
    for (size_t i = 0; i < COUNT_OF(first_words); i++)
        if (str_case_eq(word, first_words[i].word)) {
            *ret_kind = first_words[i].kind;
            return true;
        }
    for (size_t i = 0; i < COUNT_OF(letters); i++)
        if (char_lower(word[0]) == letters[i].letter && !word[1]) {
            *ret_kind = letters[i].kind;
            return true;
        }
    return false;
}

/* ------------------------------------------------------------------------------ moves, by shape */

static bool is_man(char c)
{
    return c && strchr("kqrbnpv", char_lower(c)) != NULL;
}

static bool is_file(char c)
{
    return char_lower(c) >= 'a' && char_lower(c) <= 'p';
}

/* [=/] [(] Q [)] and nothing more; or nothing. */
static bool is_promotion(const char *t)
{
    bool has_bracket;

    if (!*t)
        return true;
    if (*t == '=' || *t == '/')
        t++;
    has_bracket = *t == '(';
    if (has_bracket)
        t++;
    if (!is_man(*t++))
        return false;
    return has_bracket ? t[0] == ')' && !t[1] : !*t;
}

static const char *past_digits(const char *t)
{
    int n = 0;

    while (char_is_digit(*t) && n < 3) {
        t++;
        n++;
    }
    return t;
}

/* [victim] file rank [promotion] */
static bool is_end(const char *t)
{
    const char *digits;

    if (is_man(t[0]) && is_file(t[1]) && char_is_digit(t[2]) && is_end(t + 1))
        return true;
    if (!is_file(t[0]) || !char_is_digit(t[1]))
        return false;
    digits = past_digits(t + 1);
    return is_promotion(digits);
}

/* [file] [rank] [separator] end */
static bool is_way(const char *t)
{
    if (is_end(t))
        return true;
    if (is_file(*t)) {
        const char *after = past_digits(t + 1);

        for (const char *at = after; at > t; at--) { /* with a rank, with less of one, without */
            const char *to = *at && strchr("-x:*X", *at) ? at + 1 : at;

            if (is_end(to))
                return true;
        }
    }
    if (char_is_digit(*t)) {
        const char *after = past_digits(t);

        return is_end(*after && strchr("-x:*X", *after) ? after + 1 : after);
    }
    return *t && strchr("-x:*X", *t) && is_end(t + 1);
}

/* Without blanks, with plain separators, and without marks at the end.  False when too long. */
static bool compact(const char *text, char ret[COMPACT_MAX])
{
    size_t n = 0;

    for (const unsigned char *t = (const unsigned char *)text; *t; t++) {
        char c = (char)*t;

        if (is_blank(c))
            continue;
        if (t[0] == 0xe2 && t[1] == 0x80 && t[2] >= 0x90 && t[2] <= 0x95) { /* U+2010 … U+2015 */
            c = '-';
            t += 2;
        } else if (t[0] == 0xe2 && t[1] == 0x88 && t[2] == 0x92) { /* U+2212 */
            c = '-';
            t += 2;
        } else if (t[0] == 0xc3 && t[1] == 0x97) { /* U+00D7 */
            c = 'x';
            t += 1;
        }
        if (n + 1 >= COMPACT_MAX)
            return false;
        ret[n++] = c;
    }
    ret[n] = '\0';
    while (n > 0 && strchr("+#!?.", ret[n - 1])) {
        if (n > 3 && strcmp(ret + n - 4, "e.p.") == 0) {
            ret[n -= 4] = '\0';
            continue;
        }
        ret[--n] = '\0';
    }
    return n > 1;
}

static bool is_castling(const char *t)
{
    size_t n = 0;
    bool has_dash = t[0] && t[1] == '-';

    for (; *t; t++) {
        if (!strchr("Oo0", *t))
            return false;
        n++;
        if (has_dash && t[1]) {
            if (t[1] != '-' || !t[2])
                return false;
            t++;
        }
    }
    return n == 2 || n == 3;
}

bool grammar_is_move(const char *text)
{
    char t[COMPACT_MAX];

    if (!compact(text, t))
        return false;
    return is_castling(t) || is_way(t) || (is_man(t[0]) && is_way(t + 1));
}

/* "12. Rd4", "12... Rd4": the number, and where the move begins; 0 when there is none. */
static const char *past_number(const char *text, int *ret_number)
{
    const char *t = text;
    int number = 0;

    while (char_is_digit(*t) && t - text < 5)
        number = number * 10 + (*t++ - '0');
    if (t == text || *t != '.' || number == 0) {
        *ret_number = 0;
        return text;
    }
    while (*t == '.')
        t++;
    while (is_blank(*t))
        t++;
    *ret_number = number;
    return t;
}

/* ------------------------------------------------------------------------------- one line */

struct words {
    size_t n;
    char text[GRAMMAR_WORD_SIZE + WORDS_MAX]; /* NUL-ended words */
    char *at[WORDS_MAX];
    /* with TAKEN_BAD: */
    size_t bad;             /* the word that cannot stand there; n: one is missing */
    enum grammar_want want; /* what could */
};

enum taken { TAKEN_NONE, TAKEN_COMMAND, TAKEN_END, TAKEN_BAD, TAKEN_TOO_LONG };

static enum taken bad(struct words *w, size_t at, enum grammar_want want)
{
    w->bad = at < w->n ? at : w->n;
    w->want = want;
    return TAKEN_BAD;
}

/* Nothing may stand behind the first `n` words. */
static enum taken no_more(struct words *w, size_t n)
{
    return w->n <= n ? TAKEN_COMMAND : bad(w, n, WANT_NOTHING);
}

/* Blanks and one pair of marks around the line go. */
static void trim(const char *text, const char **ret_from, size_t *ret_n)
{
    size_t n = strlen(text);

    for (int round = 0; round < 3; round++) {
        while (n > 0 && is_blank(text[0])) {
            text++;
            n--;
        }
        while (n > 0 && is_blank(text[n - 1]))
            n--;
        if (n < 3 || text[0] != text[n - 1] || !strchr("*_\"'`", text[0]))
            break;
        text++;
        n -= 2;
    }
    *ret_from = text;
    *ret_n = n;
}

/* False: more or longer than fits. */
static bool split(const char *from, size_t n, struct words *ret)
{
    size_t used = 0;

    ret->n = 0;
    for (size_t i = 0; i < n;) {
        size_t start = used;

        while (i < n && is_blank(from[i]))
            i++;
        if (i == n)
            break;
        if (ret->n == WORDS_MAX)
            return false;
        while (i < n && !is_blank(from[i])) {
            if (used + 2 > sizeof ret->text)
                return false;
            ret->text[used++] = from[i++];
        }
        ret->text[used++] = '\0';
        ret->at[ret->n++] = ret->text + start;
    }
    return true;
}

static bool append(char *text, size_t size, const char *more)
{
    size_t n = strlen(text), extra = strlen(more);

    if (n + (n > 0) + extra >= size)
        return false;
    if (n > 0)
        text[n++] = ' ';
    memcpy(text + n, more, extra + 1);
    return true;
}

static bool is_marks(const char *text);

static int square_of_word(const char *word)
{
    char small[SQUARE_TEXT_MAX];
    int square;
    size_t n = strlen(word);

    if (n == 0 || n >= sizeof small)
        return -1;
    for (size_t i = 0; i <= n; i++)
        small[i] = char_lower(word[i]);
    return square_read(small, n, &square) == n ? square : -1;
}

/* "R p4, N n3, B o1": commas part words too.  The words are our copies. */
static void drop_commas(struct words *w)
{
    for (size_t i = 1; i < w->n; i++) {
        size_t n = strlen(w->at[i]);

        if (n > 1 && w->at[i][n - 1] == ',')
            w->at[i][n - 1] = '\0';
    }
}

/* "Rp4,Nn3,Bo1", "R=p4": here these marks part words as blanks do.  False: too long. */
static bool part_at_marks(struct words *w)
{
    char line[GRAMMAR_WORD_SIZE] = "";

    for (size_t i = 0; i < w->n; i++)
        if (!append(line, sizeof line, w->at[i]))
            return false;
    for (char *t = line; *t; t++)
        if (strchr(",;:=", *t))
            *t = ' ';
    return split(line, strlen(line), w);
}

/* Which of the reserve's men a word begins with or is: 0 rook, 1 bishop, 2 knight; -1.
 * *ret_square: what stands behind it without a blank; "". */
static int man_of_word(const char *word, const char **ret_square)
{
    static const char *const names[] = {"rook", "bishop", "knight"};
    static const char men[] = "rbn";
    const char *man = strchr(men, char_lower(word[0]));

    for (int i = 0; i < (int)COUNT_OF(names); i++)
        if (str_case_eq(word, names[i])) {
            *ret_square = "";
            return i;
        }
    *ret_square = word + 1;
    return man && word[0] ? (int)(man - men) : -1;
}

static enum taken take_place(struct words *w, struct command *c)
{
    bool had[3] = {false, false, false};

    if (!part_at_marks(w))
        return TAKEN_TOO_LONG;
    for (size_t i = 1; i < w->n; i++) {
        const char *behind = "";
        int square, man = man_of_word(w->at[i], &behind);

        if (man < 0 || had[man])
            return bad(w, i, had[0] && had[1] && had[2] ? WANT_NOTHING : WANT_MAN);
        if (behind[0])
            square = square_of_word(behind);
        else
            square = ++i < w->n ? square_of_word(w->at[i]) : -1;
        if (square < 0)
            return bad(w, i, WANT_SQUARE);
        had[man] = true;
        c->squares[man] = square;
    }
    return had[0] && had[1] && had[2] ? TAKEN_COMMAND : bad(w, w->n, WANT_MAN);
}

static const char *const seat_names[] = {"south", "west", "north", "east"};

const char *command_seat(int seat)
{
    assert(seat >= 0 && seat < (int)COUNT_OF(seat_names));
    return seat_names[seat];
}

/* "south": 0 … "east": 3; -1 for anything else. */
static int seat_of_word(const char *word)
{
    for (int i = 0; i < (int)COUNT_OF(seat_names); i++)
        if (str_case_eq(word, seat_names[i]))
            return i;
    return -1;
}

static enum taken take_seat(struct words *w, struct command *c)
{
    const char *player;
    size_t n;

    c->seat = w->n > 1 ? seat_of_word(w->at[1]) : -1;
    if (c->seat < 0)
        return bad(w, 1, WANT_SEAT);
    if (w->n < 3)
        return bad(w, 2, WANT_PLAYER);
    if (str_eq(w->at[2], "=") || is_marks(w->at[2])) /* "seat south = me" */
        return bad(w, 2, WANT_PLAYER);
    if (w->n > 3)
        return bad(w, 3, WANT_NOTHING);
    trim(w->at[2], &player, &n); /* "anna" in quotation marks */
    memmove(w->at[2], player, n);
    w->at[2][n] = '\0';
    if (str_case_eq(w->at[2], "me"))
        c->offer = SEAT_OFFER_ME;
    else if (str_case_eq(w->at[2], "open"))
        c->offer = SEAT_OFFER_OPEN;
    else
        c->offer = strchr(w->at[2], '@') ? SEAT_OFFER_ADDRESS : SEAT_OFFER_HANDLE;
    return str_copy(c->text, sizeof c->text, w->at[2]) ? TAKEN_COMMAND : TAKEN_TOO_LONG;
}

/* A game's short id, as `games` shows it: eight of Crockford's digits; as subjects do: in brackets.
 * ret: in small letters; untouched where it is none. */
static bool game_of_word(const char *word, char ret[GRAMMAR_WORD_SIZE])
{
    enum { DIGITS = 8 };
    char id[DIGITS + 1];
    size_t n = strlen(word);
    bool has_brackets = n == DIGITS + 2 && word[0] == '[' && word[n - 1] == ']';

    if (n != DIGITS && !has_brackets)
        return false;
    for (size_t i = 0; i < DIGITS; i++) {
        id[i] = char_lower(word[i + has_brackets]);
        if ((!char_is_letter(id[i]) && !char_is_digit(id[i])) || strchr("ilou", id[i]))
            return false;
    }
    id[DIGITS] = '\0';
    return str_copy(ret, GRAMMAR_WORD_SIZE, id);
}

/* [game] [seat], the game at least where it is needed. */
static enum taken take_game(struct words *w, bool is_needed, struct command *c)
{
    size_t at = 1;

    if (at < w->n && game_of_word(w->at[at], c->text))
        at++;
    else
        c->text[0] = '\0';
    if (is_needed && !c->text[0])
        return bad(w, at, WANT_GAME);
    if (at < w->n) {
        c->seat = seat_of_word(w->at[at]);
        if (c->seat < 0)
            return bad(w, at, c->text[0] ? WANT_SEAT : WANT_GAME_OR_SEAT);
        at++;
    }
    return no_more(w, at);
}

static const char *const variants[] = {"verney", "fortress", "teams"};

static bool is_variant(const char *word)
{
    for (size_t i = 0; i < COUNT_OF(variants); i++)
        if (str_case_eq(word, variants[i]))
            return true;
    return false;
}

/* Is a word that stands where the game should none for sure: a slip of one, or one comes behind it?
 * Any other name is for rules/ to know. */
static bool is_no_variant(const struct words *w, size_t at)
{
    if (is_variant(w->at[at]))
        return false;
    for (size_t i = 0; i < COUNT_OF(variants); i++)
        if (guess_is_slip(w->at[at], variants[i], NULL))
            return true;
    for (size_t i = at + 1; i < w->n; i++)
        if (is_variant(w->at[i]))
            return true;
    return false;
}

static enum taken take_create(struct words *w, struct command *c)
{
    for (size_t i = 1; i < w->n; i++) {
        char word[64];
        size_t n = strlen(w->at[i]);
        int64_t days;

        if (n >= sizeof word)
            return bad(w, i, c->text[0] ? WANT_OPTION : WANT_VARIANT);
        for (size_t j = 0; j <= n; j++)
            word[j] = char_lower(w->at[i][j]);
        if (str_starts(word, "days=")) {
            if (c->create.days != 0 || !str_to_int64(word + 5, 0, DAYS_READ_MAX, &days))
                return bad(w, i, WANT_DAYS);
            c->create.days = days > 0 ? (int)days : -1;
        } else if (str_eq(word, "private")) {
            c->create.is_private = true;
        } else if (str_eq(word, "rated")) {
            c->create.is_rated = true;
        } else if (str_eq(word, "talk")) {
            c->create.table_talk = true;
        } else if (!c->text[0] != !strchr(word, '=')) { /* the game first, then house rules */
            return bad(w, i, c->text[0] ? WANT_OPTION : WANT_VARIANT);
        } else if (!c->text[0] && is_no_variant(w, i)) {
            return bad(w, i, WANT_VARIANT);
        } else if (!append(c->text, sizeof c->text, word)) {
            return TAKEN_TOO_LONG;
        }
    }
    return c->text[0] ? TAKEN_COMMAND : bad(w, w->n, WANT_VARIANT);
}

static enum taken take_draw(struct words *w, struct command *c)
{
    static const struct {
        const char *first, *second;
        enum command_kind kind;
    } forms[] = {
        {"draw", NULL, COMMAND_DRAW_OFFER},        {"draw", "offer", COMMAND_DRAW_OFFER},
        {"draw", "accept", COMMAND_DRAW_ACCEPT},   {"draw", "decline", COMMAND_DRAW_DECLINE},
        {"draw", "claim", COMMAND_CLAIM_DRAW},     {"claim", NULL, COMMAND_CLAIM_DRAW},
        {"claim", "draw", COMMAND_CLAIM_DRAW},     {"offer", "draw", COMMAND_DRAW_OFFER},
        {"accept", "draw", COMMAND_DRAW_ACCEPT},   {"decline", "draw", COMMAND_DRAW_DECLINE},
        {"accept", NULL, COMMAND_ACCEPT},          {"decline", NULL, COMMAND_DECLINE},
    };

    for (size_t i = 0; i < COUNT_OF(forms) && w->n <= 2; i++)
        if (str_case_eq(w->at[0], forms[i].first) &&
            (w->n == 1 ? !forms[i].second
                       : forms[i].second && str_case_eq(w->at[1], forms[i].second))) {
            c->kind = forms[i].kind;
            return TAKEN_COMMAND;
        }
    for (size_t i = 0; i < COUNT_OF(forms) && w->n > 2; i++)
        if (str_case_eq(w->at[0], forms[i].first) && forms[i].second &&
            str_case_eq(w->at[1], forms[i].second))
            return bad(w, 2, WANT_NOTHING);
    return bad(w, 1, str_case_eq(w->at[0], "draw") ? WANT_DRAW_ACT : WANT_DRAW);
}

static bool is_letters(const char *word, size_t max)
{
    size_t n = 0;

    for (; word[n]; n++)
        if (char_lower(word[n]) < 'a' || char_lower(word[n]) > 'z')
            return false;
    return n > 0 && n <= max;
}

/* A short word with letters beyond ASCII: a colour in Russian or Romanian, as it may be. */
static bool is_foreign(const char *word)
{
    enum { LONGEST = 24 };
    bool is_beyond = false;
    size_t n = 0;

    for (; (unsigned char)word[n] >= 0x80 || char_is_letter(word[n]); n++)
        is_beyond = is_beyond || (unsigned char)word[n] >= 0x80;
    return is_beyond && !word[n] && n <= LONGEST;
}

static enum taken take_square(struct words *w, struct command *c)
{
    const char *word = w->at[1];
    int64_t rank;

    if (w->n != 2)
        return bad(w, w->n < 2 ? 1 : 2, w->n < 2 ? WANT_LINE : WANT_NOTHING);
    c->square = square_of_word(word);
    if (c->square >= 0)
        return TAKEN_COMMAND;
    if (!(is_letters(word, 1) && is_file(word[0])) && !str_to_int64(word, 1, 16, &rank))
        return bad(w, 1, WANT_LINE);
    (void)str_copy(c->text, sizeof c->text, word);
    c->text[0] = char_lower(c->text[0]);
    return TAKEN_COMMAND;
}

/* Arguments of a command whose first word is known. */
static enum taken take_arguments(struct words *w, struct command *c)
{
    drop_commas(w);
    switch (c->kind) {
    case COMMAND_DRAW_OFFER:
    case COMMAND_CLAIM_DRAW:
    case COMMAND_ACCEPT:
    case COMMAND_DECLINE:
        return take_draw(w, c);
    case COMMAND_PLACE:
        return take_place(w, c);
    case COMMAND_SEAT:
        return take_seat(w, c);
    case COMMAND_CREATE:
        return take_create(w, c);
    case COMMAND_MOVES:
        if (w->n > 1 && (c->square = square_of_word(w->at[1])) < 0)
            return bad(w, 1, WANT_SQUARE);
        return no_more(w, 2);
    case COMMAND_SQUARE:
        return take_square(w, c);
    case COMMAND_PIECES:
        if (w->n > 1 && !is_letters(w->at[1], 8) && !is_foreign(w->at[1]))
            return bad(w, 1, WANT_COLOUR);
        if (w->n > 1)
            (void)str_copy(c->text, sizeof c->text, w->at[1]);
        return no_more(w, 2);
    case COMMAND_JOIN:
        return take_game(w, true, c);
    case COMMAND_LEAVE:
        return take_game(w, false, c);
    case COMMAND_BOARD:
    case COMMAND_STATUS:
        if (w->n > 1 && !game_of_word(w->at[1], c->text))
            return bad(w, 1, WANT_GAME);
        return no_more(w, 2);
    case COMMAND_RESIGN:
    case COMMAND_UNDO:
        if (w->n > 1 && (c->seat = seat_of_word(w->at[1])) < 0)
            return bad(w, 1, WANT_SEAT);
        return no_more(w, 2);
    case COMMAND_HELP:
        for (size_t i = 1; i < w->n; i++)
            if (!append(c->text, sizeof c->text, w->at[i]))
                return TAKEN_TOO_LONG;
        return no_more(w, 3);
    default:
        return no_more(w, 1);
    }
}

/* A letter alone, or before what it asks about, where that is no move. */
static bool take_letter(struct words *w, struct command *c, enum taken *ret)
{
    enum command_kind kind = COMMAND_COUNT_;
    int square;

    if (w->at[0][1] || w->n > 2)
        return false;
    for (size_t i = 0; i < COUNT_OF(letters); i++)
        if (char_lower(w->at[0][0]) == letters[i].letter)
            kind = letters[i].kind;
    if (kind == COMMAND_COUNT_)
        return false;
    if (w->n == 2) {
        square = square_of_word(w->at[1]);
        switch (kind) {
        case COMMAND_SQUARE:
            break;
        case COMMAND_MOVES: /* "m n4": rather a pawn's move from the file m */
            if (square < 0 || (square_file(square) >= 11 && square_file(square) <= 13))
                return false;
            break;
        case COMMAND_PIECES: /* "p e4": rather a pawn's move */
            if (square >= 0)
                return false;
            break;
        default:
            return false;
        }
    }
    c->kind = kind;
    *ret = take_arguments(w, c);
    return *ret == TAKEN_COMMAND;
}

/* "note" or "note:", and where its text begins; NULL when it is none. */
static const char *note_text(const char *from, size_t n, size_t *ret_n)
{
    size_t i;

    if (n < 4 || char_lower(from[0]) != 'n' || char_lower(from[1]) != 'o' ||
        char_lower(from[2]) != 't' || char_lower(from[3]) != 'e' ||
        (n > 4 && from[4] != ':' && !is_blank(from[4])))
        return NULL;
    for (i = 4; i < n && (from[i] == ':' || is_blank(from[i])); i++)
        ;
    *ret_n = n - i;
    return from + i;
}

/* "e2-e4." is the end of a sentence, "exd6 e.p." is not.  What else may follow a move, as "!" and
 * "+", rules/notation.h reads. */
static void drop_full_stop(char *move)
{
    size_t n = strlen(move);

    if (n < 2 || move[n - 1] != '.' || move[n - 2] == '.')
        return;
    move[n - 1] = '\0';
    if (!grammar_is_move(move))
        move[n - 1] = '.';
}

/* note, note_n: the text of a note, within the line.  words: what it was split into, and with
 * TAKEN_BAD what is wrong. */
static enum taken take_words(const char *text, bool is_first_paragraph, struct command *c,
                             const char **ret_note, size_t *ret_note_n, struct words *words)
{
    char line[GRAMMAR_WORD_SIZE];
    const char *from, *move;
    bool is_asked = false;
    size_t n;
    enum taken taken = TAKEN_NONE;

    words->n = 0;
    *c = (struct command){.square = -1, .squares = {-1, -1, -1}, .seat = -1};
    trim(text, &from, &n);
    if (n == 0)
        return TAKEN_NONE;
    *ret_note = note_text(from, n, ret_note_n);
    if (*ret_note) {
        c->kind = COMMAND_NOTE;
        return TAKEN_COMMAND;
    }
    if (n >= sizeof line)
        return TAKEN_NONE;
    memcpy(line, from, n);
    line[n] = '\0';
    if (str_eq(line, "?")) {
        c->kind = COMMAND_HELP;
        return TAKEN_COMMAND;
    }
    move = past_number(line, &c->number);
    if (c->number == 0) {
        if (n > 1 && (line[n - 1] == '.' || line[n - 1] == '!' || line[n - 1] == ';') &&
            line[n - 2] != '.')
            n--;
        is_asked = n > 1 && line[n - 1] == '?';
        n -= is_asked;
        if (!split(line, n, words) || words->n == 0)
            return TAKEN_NONE;
        if (str_case_eq(words->at[0], "end") && words->n == 1)
            return TAKEN_END;
        if (is_first_paragraph && take_letter(words, c, &taken))
            return taken;
        for (size_t i = 0; i < COUNT_OF(first_words); i++)
            if (str_case_eq(words->at[0], first_words[i].word)) {
                c->kind = first_words[i].kind;
                taken = take_arguments(words, c);
                /* "why?" asks; whether "resign?" does or acts is not guessed */
                return is_asked && command_acts(c->kind) ? TAKEN_NONE : taken;
            }
    }
    if (!grammar_is_move(move))
        return TAKEN_NONE;
    drop_full_stop(line + (move - line));
    c->kind = COMMAND_MOVE;
    return str_copy(c->text, GRAMMAR_MOVE_SIZE, move) ? TAKEN_COMMAND : TAKEN_TOO_LONG;
}

static enum taken take_line(const char *text, bool is_first_paragraph, struct command *c,
                            const char **ret_note, size_t *ret_note_n)
{
    struct words words;

    return take_words(text, is_first_paragraph, c, ret_note, ret_note_n, &words);
}

/* ------------------------------------------------------------------------------- hints */

/* The length of "e4" at text, also of "z9" and "q17"; 0: none is there. */
static size_t square_shape(const char *text, bool *ret_is_any_boards)
{
    size_t n = 1;
    int rank = 0;

    if (!char_is_letter(text[0]) || !char_is_digit(text[1]))
        return 0;
    for (; char_is_digit(text[n]); n++)
        rank = n > 3 ? rank : rank * 10 + (text[n] - '0');
    *ret_is_any_boards = is_file(char_lower(text[0])) && rank >= 1 && rank <= 16;
    return n;
}

enum grammar_hint grammar_hint_of(const char *text)
{
    enum { LONGEST = 20 }; /* longer ones are prose */
    const char *from;
    size_t n, squares = 0, first = 0, len;
    bool is_good, is_foreign;
    char last;

    trim(text, &from, &n);
    if (n == 0 || n > LONGEST)
        return HINT_NONE;
    last = from[n - 1];
    for (size_t i = 0; i < n; i += len ? len : 1) {
        len = square_shape(from + i, &is_good);
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
    if (is_foreign && first < n && square_shape(from + first, &is_good) > 0)
        return HINT_LETTER;
    return squares == 1 && (last == '-' || last == 'x' || last == ':') ? HINT_HALF : HINT_NONE;
}

/* ------------------------------------------------------------------------------- paragraphs */

static void show(const char *text, char ret[GRAMMAR_SHOWN_SIZE])
{
    const char *from;
    char *copy;
    size_t n;

    trim(text, &from, &n);
    ret[0] = '\0';
    if (n >= GRAMMAR_SHOWN_SIZE)
        n = GRAMMAR_SHOWN_SIZE - 1;
    copy = ret;
    memcpy(copy, from, n);
    copy[n] = '\0';
    while (n > 0 && !utf8_is_valid(copy, n))
        copy[--n] = '\0';
}

bool grammar_would_act(const char *text)
{
    struct command command;
    const char *note;
    size_t note_n;

    return take_line(text, false, &command, &note, &note_n) == TAKEN_COMMAND &&
           command_acts(command.kind);
}

static enum grammar_fault fault_at(struct grammar *g, enum grammar_fault fault,
                                   const struct grammar_line *line)
{
    g->fault = fault;
    g->n = 0;
    if (line) {
        g->fault_line = line->number;
        show(line->text, g->fault_shown);
    }
    return fault;
}

/* The character at text, which is UTF-8, and its length; a byte that is none is itself. */
static uint32_t code_point(const char *text, size_t *ret_len)
{
    const unsigned char *t = (const unsigned char *)text;
    size_t len = t[0] < 0xc0 ? 1 : t[0] < 0xe0 ? 2 : t[0] < 0xf0 ? 3 : 4;
    uint32_t c = t[0];

    if (len > 1)
        c &= 0xffu >> (len + 1);
    for (size_t i = 1; i < len; i++) {
        if ((t[i] & 0xc0) != 0x80) {
            *ret_len = 1;
            return t[0];
        }
        c = c << 6 | (t[i] & 0x3fu);
    }
    *ret_len = len;
    return c;
}

static bool is_empty(const char *text)
{
    const char *from;
    size_t n;

    trim(text, &from, &n);
    return n == 0;
}

/* "=", "(=)": a draw, in letters between correspondence players. */
static bool is_draw_sign(const char *text)
{
    const char *from;
    size_t n;

    trim(text, &from, &n);
    return (n == 1 && from[0] == '=') || (n == 3 && memcmp(from, "(=)", 3) == 0);
}

/* Marks, signs and pictures alone, no letter and no digit: ".", "--", a row of stars, a smile.
 * They say nothing, but "?", which asks for help, and the sign of a draw. */
static bool is_marks(const char *text)
{
    static const struct {
        uint32_t first, last;
    } marks[] = {
        {0x00a1, 0x00a9}, {0x00ab, 0x00b1}, {0x00b4, 0x00b4}, {0x00b6, 0x00b8},
        {0x00bb, 0x00bb}, {0x00bf, 0x00bf}, {0x00d7, 0x00d7}, {0x00f7, 0x00f7},
        {0x1427, 0x1427}, /* what a program that watches letters leaves in them */
        {0x2000, 0x206f}, {0x2190, 0x2bff}, {0x3000, 0x3003}, {0x3008, 0x3011},
        {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0x1f000, 0x1faff},
    };
    const char *from;
    size_t n, len;

    trim(text, &from, &n);
    if (n == 0 || (n == 1 && from[0] == '?') || is_draw_sign(text))
        return false;
    for (size_t i = 0; i < n; i += len) {
        uint32_t c = code_point(from + i, &len);
        bool is_mark = c < 0x80 && !char_is_letter((char)c) && !char_is_digit((char)c);

        for (size_t k = 0; !is_mark && k < COUNT_OF(marks); k++)
            is_mark = c >= marks[k].first && c <= marks[k].last;
        if (!is_mark)
            return false;
    }
    return true;
}

/* The one move with both its squares among a line's words, as in "Zug: m5-l5" or "e2-e4, draw". */
static void guess_move(const struct words *w, struct grammar *g)
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
            len = square_shape(word + at, &is_good);
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
        len = square_shape(t, &is_good);
        if (len > 0 && (!is_good || found == 2 || len >= SQUARE_TEXT_MAX))
            return;
        if (len > 0) {
            memcpy(squares[found], t, len);
            squares[found++][len] = '\0';
        } else {
            others += !is_blank(*t);
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
static bool guess_line(struct grammar *g, const struct words *w, size_t from, size_t end,
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

            fits = fits && (!word[0] || append(line, sizeof line, ours ? ours : word));
        }
        if (!fits || take_line(line, false, &command, &note, &note_n) != TAKEN_COMMAND)
            continue;
        if (from == 0 || (command.kind != COMMAND_MOVE && command.kind != COMMAND_NOTE)) {
            show(line, g->guess);
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
    show(word, bare);
    for (size_t n = strlen(bare); n > 0 && strchr(".,;:!?", bare[n - 1]);)
        bare[--n] = '\0';
    for (size_t i = 0; i < COUNT_OF(first_words); i++) {
        size_t edits;

        if (guess_is_slip(bare, first_words[i].word, &edits) && edits < least) {
            best = first_words[i].word;
            least = edits;
        }
    }
    return best;
}

/* The command that begins at a word, in another language, or at the first as a slip. */
static bool guess_command(struct grammar *g, const struct words *w, size_t from)
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
static enum grammar_fault fault_unknown(struct grammar *g, const struct grammar_line *line)
{
    enum { GUESS_WORDS_MAX = 6, GUESS_MOVE_WORDS_MAX = 4 };
    char latin[GRAMMAR_WORD_SIZE];
    struct command command;
    struct words words = {.n = 0};
    const char *note;
    size_t note_n;

    if (guess_latin(line->text, latin, sizeof latin)) {
        enum taken taken = take_line(latin, true, &command, &note, &note_n);

        if (taken == TAKEN_COMMAND || taken == TAKEN_END) {
            show(latin, g->guess);
            return fault_at(g, GRAMMAR_LOOKALIKE, line);
        }
    }
    if (is_draw_sign(line->text))
        (void)str_copy(g->guess, sizeof g->guess, command_word(COMMAND_DRAW_OFFER));
    else if (split(line->text, strlen(line->text), &words) && words.n > 0 &&
             words.n <= GUESS_WORDS_MAX) {
        if (words.n <= GUESS_MOVE_WORDS_MAX)
            guess_move(&words, g);
        if (words.n <= GUESS_MOVE_WORDS_MAX && !g->guess[0])
            guess_squares(line->text, g);
        for (size_t from = 0; !g->guess[0] && from < words.n; from++)
            (void)guess_command(g, &words, from);
    }
    return fault_at(g, GRAMMAR_UNKNOWN, line);
}

/* `create` as it may be meant: "days = 7", "days 7", "7 days" and "inert:safe" written with "=",
 * and without words of courtesy. */
static bool guess_create(struct grammar *g, const struct words *w)
{
    static const char *const idle[] = {"a", "the", "new", "game", "please"};
    char line[GRAMMAR_SHOWN_SIZE] = "create";
    struct words words;
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
    return split(line, n, &words) && guess_line(g, &words, 0, words.n, words.n, NULL);
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
        *ret = seat_names;
        return COUNT_OF(seat_names);
    case WANT_PLAYER:
        *ret = players;
        return COUNT_OF(players);
    case WANT_OPTION:
        *ret = options;
        return COUNT_OF(options);
    case WANT_VARIANT:
        *ret = variants;
        return COUNT_OF(variants);
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
static enum grammar_fault fault_argument(struct grammar *g, const struct grammar_line *line,
                                         bool is_first)
{
    const char *const *list = NULL, *note, *other;
    struct command command;
    struct words words;
    size_t note_n, n;

    (void)take_words(line->text, is_first, &command, &note, &note_n, &words);
    g->fault_command = command.kind;
    g->fault_want = words.want;
    if (words.bad == words.n)
        return fault_at(g, GRAMMAR_ARGUMENT, line);
    show(words.at[words.bad], g->fault_word);
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
    return fault_at(g, GRAMMAR_ARGUMENT, line);
}

/* A note's words as they were written, if the raw line shows where they begin. */
static void note_raw(const struct grammar_line *line, bool is_first, const char **text, size_t *n)
{
    const char *from, *words;
    size_t whole, some;

    if (!line->raw)
        return;
    trim(line->raw, &from, &whole);
    if (!is_first) {
        *text = from;
        *n = whole;
        return;
    }
    words = note_text(from, whole, &some);
    if (words && some > 0) {
        *text = words;
        *n = some;
    }
}

static bool note_add(struct grammar *g, const char *text, size_t n)
{
    size_t gap = g->note_len > 0;

    if (g->note_len + gap + n >= sizeof g->note)
        return false;
    if (gap)
        g->note[g->note_len++] = ' ';
    memcpy(g->note + g->note_len, text, n);
    g->note_len += n;
    g->note[g->note_len] = '\0';
    return true;
}

/* Rule 5: the lines below a long note.  *at is the note's line, and then the last one it took. */
static enum grammar_fault note_goes_on(struct grammar *g, const struct grammar_line *lines,
                                       size_t end, size_t *at)
{
    while (*at + 1 < end) {
        const struct grammar_line *line = &lines[*at + 1];
        struct command command;
        const char *note, *from;
        size_t note_n, n;

        if (take_line(line->text, false, &command, &note, &note_n) != TAKEN_NONE) {
            g->uses[*at + 1] = LINE_FAULT;
            return fault_at(g, GRAMMAR_NOTE_WRAPPED, line);
        }
        trim(line->text, &from, &n);
        note_raw(line, false, &from, &n);
        if (!note_add(g, from, n))
            return fault_at(g, GRAMMAR_TOO_LONG, line);
        g->uses[++*at] = LINE_NOTE_GOES_ON;
    }
    return GRAMMAR_NONE;
}

static enum grammar_fault keep(struct grammar *g, const struct command *command,
                               const struct grammar_line *line, const char *note, size_t note_n)
{
    struct command *c;

    if (g->n == GRAMMAR_COMMANDS_MAX)
        return fault_at(g, GRAMMAR_TOO_MANY, line);
    if (note && note_n > 0) {
        if (g->note_len > 0) /* one note a letter: a second could only be run together with it */
            return fault_at(g, GRAMMAR_TOO_MANY, line);
        note_raw(line, true, &note, &note_n);
        if (!note_add(g, note, note_n))
            return fault_at(g, GRAMMAR_TOO_LONG, line);
    }
    c = &g->commands[g->n++];
    *c = *command;
    c->line = line->number;
    show(line->text, c->shown);
    if (note && note_n > 0)
        (void)str_copy(c->text, sizeof c->text, "+"); /* has a text: in grammar.note */
    return GRAMMAR_NONE;
}

/* Lines from `at` to `end`, none of them empty.  *ret_end: `end` was read.  *ret_at: where what it
 * read ends; before `end` only at a line of marks. */
static enum grammar_fault read_paragraph(struct grammar *g, const struct grammar_line *lines,
                                         size_t at, size_t end, bool is_first, size_t *ret_at,
                                         bool *ret_end)
{
    for (*ret_at = end; at < end; at++) {
        struct command command;
        const char *note = NULL;
        size_t note_n = 0;
        enum grammar_fault fault = GRAMMAR_NONE;

        if (is_marks(lines[at].text)) {
            *ret_at = at;
            return GRAMMAR_NONE;
        }
        g->uses[at] = LINE_FAULT;
        switch (take_line(lines[at].text, is_first, &command, &note, &note_n)) {
        case TAKEN_NONE:
            return fault_unknown(g, &lines[at]);
        case TAKEN_BAD:
            return fault_argument(g, &lines[at], is_first);
        case TAKEN_TOO_LONG:
            g->fault_command = command.kind;
            return fault_at(g, GRAMMAR_TOO_LONG, &lines[at]);
        case TAKEN_END:
            g->uses[at] = LINE_END;
            *ret_end = true;
            for (at++; at < end; at++)
                g->uses[at] = LINE_PROSE;
            return GRAMMAR_NONE;
        case TAKEN_COMMAND:
            fault = keep(g, &command, &lines[at], note, note_n);
            if (fault != GRAMMAR_NONE)
                return fault;
            g->uses[at] = LINE_COMMAND;
            if (note && note_n >= NOTE_WRAP)
                fault = note_goes_on(g, lines, end, &at);
            if (fault != GRAMMAR_NONE)
                return fault;
            break;
        }
    }
    return GRAMMAR_NONE;
}

/* Rule 4.  True: it was prose, and reading ends here. */
static bool is_prose(struct grammar *g, const struct grammar_line *lines, size_t at, size_t end,
                     size_t *ret_at, bool *ret_end)
{
    struct command first;
    const char *note;
    size_t note_n, n = g->n, note_len = g->note_len;
    enum taken taken = take_line(lines[at].text, false, &first, &note, &note_n);

    if (taken == TAKEN_NONE || taken == TAKEN_BAD)
        return true;
    if (read_paragraph(g, lines, at, end, false, ret_at, ret_end) == GRAMMAR_NONE)
        return false;
    if (taken == TAKEN_COMMAND && !command_acts(first.kind) &&
        (g->fault == GRAMMAR_UNKNOWN || g->fault == GRAMMAR_ARGUMENT)) {
        g->fault = GRAMMAR_NONE; /* it asked nothing that matters: prose after all */
        g->fault_line = 0;
        g->fault_shown[0] = g->fault_word[0] = g->guess[0] = '\0';
        g->n = n;
        g->note_len = note_len;
        g->note[note_len] = '\0';
        return true;
    }
    if (g->fault == GRAMMAR_UNKNOWN || g->fault == GRAMMAR_ARGUMENT)
        g->fault = GRAMMAR_MIXED;
    return false;
}

static void begin(struct grammar *g, size_t n)
{
    memset(g, 0, sizeof *g);
    g->n_uses = n < GRAMMAR_LINES_MAX ? n : GRAMMAR_LINES_MAX;
}

enum grammar_fault grammar_read(const struct grammar_line *lines, size_t n, struct grammar *ret)
{
    struct grammar *g = ret;
    bool is_first = true, is_end = false;
    size_t at = 0, end, stop = 0;

    begin(g, n);
    if (n > GRAMMAR_LINES_MAX) {
        /* Far more than anybody writes: below a command that is prose, else it is a fault. */
        n = GRAMMAR_LINES_MAX;
    }
    while (at < n && !is_end) {
        if (is_empty(lines[at].text) || is_marks(lines[at].text)) {
            g->uses[at++] = LINE_EMPTY;
            continue;
        }
        for (end = at; end < n && !is_empty(lines[end].text); end++)
            ;
        if (!is_first && is_prose(g, lines, at, end, &stop, &is_end)) {
            g->unread_from = lines[at].number;
            break;
        }
        if (is_first)
            (void)read_paragraph(g, lines, at, end, true, &stop, &is_end);
        if (g->fault != GRAMMAR_NONE)
            return g->fault;
        is_first = false;
        at = stop;
    }
    for (; at < n; at++)
        g->uses[at] = is_empty(lines[at].text) ? LINE_EMPTY : LINE_PROSE;
    if (g->n == 0)
        return fault_at(g, GRAMMAR_EMPTY, NULL);
    return GRAMMAR_NONE;
}

enum grammar_fault grammar_read_between(const struct grammar_line *lines, size_t n,
                                        struct grammar *ret)
{
    struct grammar *g = ret;
    size_t found = 0;

    begin(g, n);
    for (size_t i = 0; i < g->n_uses; i++) {
        struct command command;
        const char *note;
        size_t note_n;

        g->uses[i] = is_empty(lines[i].text) ? LINE_EMPTY : LINE_PROSE;
        if (take_line(lines[i].text, false, &command, &note, &note_n) != TAKEN_COMMAND)
            continue;
        g->uses[i] = LINE_COMMAND;
        if (++found == 1 && keep(g, &command, &lines[i], note, note_n) != GRAMMAR_NONE)
            return g->fault;
    }
    if (found != 1)
        return fault_at(g, GRAMMAR_NOT_ONE, NULL);
    return GRAMMAR_NONE;
}

/* intake/grammar_line.c - see grammar_line.h. */
#include "intake/grammar_line.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/guess.h"
#include "rules/rules.h"

enum { DAYS_READ_MAX = 99999 };

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

bool command_find(const char *word, enum command_kind *ret_kind)
{
    for (size_t i = 0; i < COMMAND_COUNT_; i++)
        if (str_case_eq(word, command_word((enum command_kind)i))) {
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

static enum grammar_taken bad(struct grammar_words *w, size_t at, enum grammar_want want)
{
    w->bad = at < w->n ? at : w->n;
    w->want = want;
    return TAKEN_BAD;
}

/* Nothing may stand behind the first `n` words. */
static enum grammar_taken no_more(struct grammar_words *w, size_t n)
{
    return w->n <= n ? TAKEN_COMMAND : bad(w, n, WANT_NOTHING);
}

/* Blanks and one pair of marks around the line go. */
void grammar_trim(const char *text, const char **ret_from, size_t *ret_n)
{
    size_t n = strlen(text);

    for (int round = 0; round < 3; round++) {
        while (n > 0 && grammar_is_blank(text[0])) {
            text++;
            n--;
        }
        while (n > 0 && grammar_is_blank(text[n - 1]))
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
bool grammar_split(const char *from, size_t n, struct grammar_words *ret)
{
    size_t used = 0;

    ret->n = 0;
    for (size_t i = 0; i < n;) {
        size_t start = used;

        while (i < n && grammar_is_blank(from[i]))
            i++;
        if (i == n)
            break;
        if (ret->n == WORDS_MAX)
            return false;
        while (i < n && !grammar_is_blank(from[i])) {
            if (used + 2 > sizeof ret->text)
                return false;
            ret->text[used++] = from[i++];
        }
        ret->text[used++] = '\0';
        ret->at[ret->n++] = ret->text + start;
    }
    return true;
}

bool grammar_append(char *text, size_t size, const char *more)
{
    size_t n = strlen(text), extra = strlen(more);

    if (n + (n > 0) + extra >= size)
        return false;
    if (n > 0)
        text[n++] = ' ';
    memcpy(text + n, more, extra + 1);
    return true;
}

/* ------------------------------------------------------------------------------- paragraphs */

void grammar_show(const char *text, char ret[GRAMMAR_SHOWN_SIZE])
{
    const char *from;
    char *copy;
    size_t n;

    grammar_trim(text, &from, &n);
    ret[0] = '\0';
    if (n >= GRAMMAR_SHOWN_SIZE)
        n = GRAMMAR_SHOWN_SIZE - 1;
    copy = ret;
    memcpy(copy, from, n);
    copy[n] = '\0';
    while (n > 0 && !utf8_is_valid(copy, n))
        copy[--n] = '\0';
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

/* "=", "(=)": a draw, in letters between correspondence players. */
bool grammar_is_draw_sign(const char *text)
{
    const char *from;
    size_t n;

    grammar_trim(text, &from, &n);
    return (n == 1 && from[0] == '=') || (n == 3 && memcmp(from, "(=)", 3) == 0);
}

/* Marks, signs and pictures alone, no letter and no digit: ".", "--", a row of stars, a smile.
 * They say nothing, but "?", which asks for help, and the sign of a draw. */
bool grammar_is_marks(const char *text)
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

    grammar_trim(text, &from, &n);
    if (n == 0 || (n == 1 && from[0] == '?') || grammar_is_draw_sign(text))
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
static void drop_commas(struct grammar_words *w)
{
    for (size_t i = 1; i < w->n; i++) {
        size_t n = strlen(w->at[i]);

        if (n > 1 && w->at[i][n - 1] == ',')
            w->at[i][n - 1] = '\0';
    }
}

/* "Rp4,Nn3,Bo1", "R=p4": here these marks part words as blanks do.  False: too long. */
static bool part_at_marks(struct grammar_words *w)
{
    char line[GRAMMAR_WORD_SIZE] = "";

    for (size_t i = 0; i < w->n; i++)
        if (!grammar_append(line, sizeof line, w->at[i]))
            return false;
    for (char *t = line; *t; t++)
        if (strchr(",;:=", *t))
            *t = ' ';
    return grammar_split(line, strlen(line), w);
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

static enum grammar_taken take_place(struct grammar_words *w, struct command *c)
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

const char *const grammar_seat_names[SEATS] = {"south", "west", "north", "east"};

const char *command_seat(int seat)
{
    assert(seat >= 0 && seat < (int)COUNT_OF(grammar_seat_names));
    return grammar_seat_names[seat];
}

/* "south": 0 … "east": 3; -1 for anything else. */
static int seat_of_word(const char *word)
{
    for (int i = 0; i < (int)COUNT_OF(grammar_seat_names); i++)
        if (str_case_eq(word, grammar_seat_names[i]))
            return i;
    return -1;
}

static enum grammar_taken take_seat(struct grammar_words *w, struct command *c)
{
    const char *player;
    size_t n;

    c->seat = w->n > 1 ? seat_of_word(w->at[1]) : -1;
    if (c->seat < 0)
        return bad(w, 1, WANT_SEAT);
    if (w->n < 3)
        return bad(w, 2, WANT_PLAYER);
    if (str_eq(w->at[2], "=") || grammar_is_marks(w->at[2])) /* "seat south = me" */
        return bad(w, 2, WANT_PLAYER);
    if (w->n > 3)
        return bad(w, 3, WANT_NOTHING);
    grammar_trim(w->at[2], &player, &n); /* "anna" in quotation marks */
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
static enum grammar_taken take_game(struct grammar_words *w, bool is_needed, struct command *c)
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

const char *const grammar_variants[GRAMMAR_VARIANTS] = {"verney", "fortress", "teams"};

static bool is_variant(const char *word)
{
    for (size_t i = 0; i < COUNT_OF(grammar_variants); i++)
        if (str_case_eq(word, grammar_variants[i]))
            return true;
    return false;
}

/* Is a word that stands where the game should none for sure: a slip of one, or one comes behind it?
 * Any other name is for rules/ to know. */
static bool is_no_variant(const struct grammar_words *w, size_t at)
{
    if (is_variant(w->at[at]))
        return false;
    for (size_t i = 0; i < COUNT_OF(grammar_variants); i++)
        if (guess_is_slip(w->at[at], grammar_variants[i], NULL))
            return true;
    for (size_t i = at + 1; i < w->n; i++)
        if (is_variant(w->at[i]))
            return true;
    return false;
}

static enum grammar_taken take_create(struct grammar_words *w, struct command *c)
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
        } else if (!grammar_append(c->text, sizeof c->text, word)) {
            return TAKEN_TOO_LONG;
        }
    }
    return c->text[0] ? TAKEN_COMMAND : bad(w, w->n, WANT_VARIANT);
}

static enum grammar_taken take_draw(struct grammar_words *w, struct command *c)
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

static enum grammar_taken take_square(struct grammar_words *w, struct command *c)
{
    const char *word = w->at[1];
    int64_t rank;

    if (w->n != 2)
        return bad(w, w->n < 2 ? 1 : 2, w->n < 2 ? WANT_LINE : WANT_NOTHING);
    c->square = square_of_word(word);
    if (c->square >= 0)
        return TAKEN_COMMAND;
    if (!(is_letters(word, 1) && grammar_is_file(word[0])) && !str_to_int64(word, 1, 16, &rank))
        return bad(w, 1, WANT_LINE);
    (void)str_copy(c->text, sizeof c->text, word);
    c->text[0] = char_lower(c->text[0]);
    return TAKEN_COMMAND;
}

/* Arguments of a command whose first word is known. */
static enum grammar_taken take_arguments(struct grammar_words *w, struct command *c)
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
            if (!grammar_append(c->text, sizeof c->text, w->at[i]))
                return TAKEN_TOO_LONG;
        return no_more(w, 3);
    default:
        return no_more(w, 1);
    }
}

/* A letter alone, or before what it asks about, where that is no move. */
static bool take_letter(struct grammar_words *w, struct command *c, enum grammar_taken *ret)
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
const char *grammar_note_text(const char *from, size_t n, size_t *ret_n)
{
    size_t i;

    if (n < 4 || char_lower(from[0]) != 'n' || char_lower(from[1]) != 'o' ||
        char_lower(from[2]) != 't' || char_lower(from[3]) != 'e' ||
        (n > 4 && from[4] != ':' && !grammar_is_blank(from[4])))
        return NULL;
    for (i = 4; i < n && (from[i] == ':' || grammar_is_blank(from[i])); i++)
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
enum grammar_taken grammar_take_words(const char *text, bool is_first_paragraph, struct command *c,
                                      const char **ret_note, size_t *ret_note_n,
                                      struct grammar_words *words)
{
    char line[GRAMMAR_WORD_SIZE];
    const char *from, *move;
    bool is_asked = false;
    size_t n;
    enum grammar_taken taken = TAKEN_NONE;

    words->n = 0;
    *c = (struct command){.square = -1, .squares = {-1, -1, -1}, .seat = -1};
    grammar_trim(text, &from, &n);
    if (n == 0)
        return TAKEN_NONE;
    *ret_note = grammar_note_text(from, n, ret_note_n);
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
    move = grammar_past_number(line, &c->number);
    if (c->number == 0) {
        if (n > 1 && (line[n - 1] == '.' || line[n - 1] == '!' || line[n - 1] == ';') &&
            line[n - 2] != '.')
            n--;
        is_asked = n > 1 && line[n - 1] == '?';
        n -= is_asked;
        if (!grammar_split(line, n, words) || words->n == 0)
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

enum grammar_taken grammar_take_line(const char *text, bool is_first_paragraph, struct command *c,
                                     const char **ret_note, size_t *ret_note_n)
{
    struct grammar_words words;

    return grammar_take_words(text, is_first_paragraph, c, ret_note, ret_note_n, &words);
}

const char *grammar_first_word(size_t i)
{
    return i < COUNT_OF(first_words) ? first_words[i].word : NULL;
}

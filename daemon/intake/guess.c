#include "intake/guess.h"

#include <string.h>

#include "base/str.h"

enum { FOLD_SIZE = 64 };

/* ------------------------------------------------------------------------------- letters */

/* Letters of other scripts that look like Latin ones or digits. */
static const struct {
    const char *theirs;
    char ours;
} lookalikes[] = {
    {"а", 'a'}, {"в", 'b'}, {"е", 'e'}, {"ё", 'e'}, {"к", 'k'}, {"м", 'm'}, {"н", 'h'}, {"о", 'o'},
    {"р", 'p'}, {"с", 'c'}, {"т", 't'}, {"у", 'y'}, {"х", 'x'}, {"і", 'i'}, {"ј", 'j'}, {"ѕ", 's'},
    {"ԁ", 'd'}, {"һ", 'h'}, {"ӏ", 'l'}, {"ԛ", 'q'}, {"ԝ", 'w'}, {"А", 'A'}, {"В", 'B'}, {"Е", 'E'},
    {"Ё", 'E'}, {"К", 'K'}, {"М", 'M'}, {"Н", 'H'}, {"О", 'O'}, {"Р", 'P'}, {"С", 'C'}, {"Т", 'T'},
    {"У", 'Y'}, {"Х", 'X'}, {"І", 'I'}, {"Ј", 'J'}, {"Ѕ", 'S'}, {"Ԛ", 'Q'}, {"Ԝ", 'W'}, {"α", 'a'},
    {"ε", 'e'}, {"ο", 'o'}, {"ρ", 'p'}, {"χ", 'x'}, {"ν", 'v'}, {"Α", 'A'}, {"Β", 'B'}, {"Ε", 'E'},
    {"Η", 'H'}, {"Ι", 'I'}, {"Κ", 'K'}, {"Μ", 'M'}, {"Ν", 'N'}, {"Ο", 'O'}, {"Ρ", 'P'}, {"Τ", 'T'},
    {"Χ", 'X'}, {"З", '3'}, {"з", '3'}, {"б", '6'},
};

bool guess_latin(const char *text, char *ret, size_t size)
{
    bool is_changed = false;
    size_t n = 0;

    for (const char *t = text; *t;) {
        size_t step = 1;
        char c = *t;

        for (size_t i = 0; i < COUNT_OF(lookalikes); i++)
            if (str_starts(t, lookalikes[i].theirs)) {
                c = lookalikes[i].ours;
                step = strlen(lookalikes[i].theirs);
                is_changed = true;
            }
        if (n + 1 >= size)
            return false;
        ret[n++] = c;
        t += step;
    }
    ret[n] = '\0';
    return is_changed;
}

/* ------------------------------------------------------------------------------- slips */

bool guess_is_slip(const char *word, const char *other, size_t *ret_edits)
{
    enum { LONG = 6 };
    size_t edits = str_edits(word, other);

    if (edits > (strlen(other) >= LONG ? 2 : 1))
        return false;
    if (ret_edits)
        *ret_edits = edits;
    return true;
}

/* ------------------------------------------------------------------------------- languages */

/* In small letters, Romanian ones without their marks.  ours: of the grammar. */
static const struct {
    const char *theirs, *ours;
} translations[] = {
    {"сдаюсь", "resign"},      {"сдаться", "resign"},     {"сдаю", "resign"},
    {"ничья", "draw"},         {"ничью", "draw"},         {"отмена", "undo"},
    {"отменить", "undo"},      {"отменяю", "undo"},       {"назад", "undo"},
    {"помощь", "help"},        {"справка", "help"},       {"доска", "board"},
    {"доску", "board"},        {"ходы", "moves"},         {"статус", "status"},
    {"состояние", "status"},   {"партии", "games"},       {"игры", "games"},
    {"почему", "why"},         {"принимаю", "accept"},    {"принять", "accept"},
    {"согласен", "accept"},    {"согласна", "accept"},    {"отклоняю", "decline"},
    {"отклонить", "decline"},  {"отказ", "decline"},      {"отказываюсь", "decline"},
    {"подтверждаю", "confirm"}, {"подтвердить", "confirm"}, {"заметка", "note"},
    {"примечание", "note"},    {"часы", "clocks"},        {"соперники", "opponents"},
    {"фигуры", "pieces"},      {"вступить", "join"},      {"присоединиться", "join"},
    {"выйти", "leave"},        {"рокировка", "O-O"},      {"юг", "south"},
    {"запад", "west"},         {"север", "north"},        {"восток", "east"},
    {"abandonez", "resign"},   {"cedez", "resign"},       {"remiza", "draw"},
    {"anulez", "undo"},        {"anuleaza", "undo"},      {"inapoi", "undo"},
    {"ajutor", "help"},        {"tabla", "board"},        {"mutari", "moves"},
    {"stare", "status"},       {"starea", "status"},      {"partide", "games"},
    {"jocuri", "games"},       {"refuz", "decline"},      {"nota", "note"},
    {"ceasuri", "clocks"},     {"adversari", "opponents"}, {"piese", "pieces"},
    {"rocada", "O-O"},         {"sud", "south"},          {"vest", "west"},
    {"nord", "north"},         {"est", "east"},           {"ofer", "offer"},
    {"propun", "offer"},       {"предлагаю", "offer"},    {"время", "clocks"},
    {"срок", "clocks"},        {"timp", "clocks"},        {"termen", "clocks"},
    {"помогите", "help"},      {"клетка", "square"},      {"поле", "square"},
    /* other words of English */
    {"castle", "O-O"},         {"castling", "O-O"},       {"deadline", "clocks"},
    {"time", "clocks"},        {"players", "opponents"},  {"position", "board"},
    {"takeback", "undo"},      {"surrender", "resign"},
};
/* They answer something, if they stand alone. */
static const struct {
    const char *theirs, *ours;
} consents[] = {
    {"yes", "accept"},   {"agree", "accept"}, {"agreed", "accept"},  {"да", "accept"},
    {"da", "accept"},    {"no", "decline"},   {"refuse", "decline"}, {"reject", "decline"},
    {"нет", "decline"},  {"nu", "decline"},
};

/* What a letter of two bytes becomes. */
static const struct {
    const char *from, *to;
} small_letters[] = {
    {"Ё", "е"}, {"ё", "е"}, {"Ă", "a"}, {"ă", "a"}, {"Â", "a"}, {"â", "a"}, {"Î", "i"},
    {"î", "i"}, {"Ș", "s"}, {"ș", "s"}, {"Ş", "s"}, {"ş", "s"}, {"Ț", "t"}, {"ț", "t"},
    {"Ţ", "t"}, {"ţ", "t"},
};

/* One letter at t, made small, into ret; returns how many bytes it had. */
static size_t fold_letter(const unsigned char *t, char ret[3])
{
    memset(ret, 0, 3);
    if (t[0] < 0x80 || t[1] < 0x80) {
        ret[0] = char_lower((char)t[0]);
        return 1;
    }
    for (size_t i = 0; i < COUNT_OF(small_letters); i++)
        if (memcmp(t, small_letters[i].from, 2) == 0) {
            memcpy(ret, small_letters[i].to, strlen(small_letters[i].to));
            return 2;
        }
    memcpy(ret, t, 2);
    if (t[0] == 0xd0 && t[1] >= 0x90 && t[1] <= 0x9f) { /* А … П */
        ret[1] = (char)(t[1] + 0x20);
    } else if (t[0] == 0xd0 && t[1] >= 0xa0 && t[1] <= 0xaf) { /* Р … Я */
        ret[0] = (char)0xd1;
        ret[1] = (char)(t[1] - 0x20);
    }
    return 2;
}

/* A word made small, without punctuation behind it; false when it does not fit. */
static bool fold(const char *word, char ret[FOLD_SIZE])
{
    size_t n = 0;

    for (const unsigned char *t = (const unsigned char *)word; *t;) {
        char letter[3];
        size_t len;

        t += fold_letter(t, letter);
        len = strlen(letter);
        if (n + len >= FOLD_SIZE)
            return false;
        memcpy(ret + n, letter, len);
        n += len;
    }
    while (n > 0 && strchr(",.;:!?", ret[n - 1]))
        n--;
    ret[n] = '\0';
    return true;
}

bool guess_is_akin(const char *word, const char *other)
{
    enum { STEM = 3, ENDING = 2 };
    char a[FOLD_SIZE], b[FOLD_SIZE];
    size_t n = 0, letter = 1;

    if (!fold(word, a) || !fold(other, b))
        return false;
    while (a[n] && a[n] == b[n])
        n++;
    if (!a[n] && !b[n])
        return true;
    if ((unsigned char)a[0] >= 0x80)
        letter = 2; /* a Cyrillic one has two bytes */
    return n >= STEM * letter && strlen(a + n) <= ENDING * letter &&
           strlen(b + n) <= ENDING * letter;
}

const char *guess_translation(const char *word)
{
    char small[FOLD_SIZE];

    if (!fold(word, small))
        return NULL;
    for (size_t i = 0; i < COUNT_OF(translations); i++)
        if (str_eq(small, translations[i].theirs))
            return translations[i].ours;
    for (size_t i = 0; i < COUNT_OF(consents); i++)
        if (str_eq(small, consents[i].theirs))
            return consents[i].ours;
    return NULL;
}

bool guess_is_consent(const char *word)
{
    char small[FOLD_SIZE];

    if (!fold(word, small))
        return false;
    for (size_t i = 0; i < COUNT_OF(consents); i++)
        if (str_eq(small, consents[i].theirs))
            return true;
    return false;
}

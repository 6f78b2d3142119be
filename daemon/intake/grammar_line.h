/*
 * intake/grammar_line.h - what the files that read commands share; not for others.
 *
 * Purpose
 *   intake/grammar.h reads a letter's lines.  grammar.c knows of paragraphs, notes and prose,
 *   grammar_line.c of the words of one line, grammar_move.c of what is written like a move, and
 *   grammar_guess.c of what may have been meant by a line that is refused.
 *
 * Ownership: texts are borrowed.  Threads: any; nothing is kept.
 */
#ifndef FH_INTAKE_GRAMMAR_LINE_H
#define FH_INTAKE_GRAMMAR_LINE_H

#include "base/str.h"
#include "intake/grammar.h"
#include "rules/rules.h"

enum { WORDS_MAX = 24, GRAMMAR_VARIANTS = 3 };

/* A line taken apart. */
struct grammar_words {
    size_t n;
    char text[GRAMMAR_WORD_SIZE + WORDS_MAX]; /* NUL-ended words */
    char *at[WORDS_MAX];
    /* with TAKEN_BAD: */
    size_t bad;             /* the word that cannot stand there; n: one is missing */
    enum grammar_want want; /* what could */
};

enum grammar_taken { TAKEN_NONE, TAKEN_COMMAND, TAKEN_END, TAKEN_BAD, TAKEN_TOO_LONG };

static inline bool grammar_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline bool grammar_is_file(char c)
{
    return char_lower(c) >= 'a' && char_lower(c) <= 'p';
}

/* ------------------------------------------------------------------------------- grammar_line.c */

extern const char *const grammar_seat_names[SEATS];
extern const char *const grammar_variants[GRAMMAR_VARIANTS];
/* The first words of commands, one by one; NULL behind the last. */
const char *grammar_first_word(size_t i);

/* Blanks and one pair of marks around the text go. */
void grammar_trim(const char *text, const char **ret_from, size_t *ret_n);
/* Into words; false: there are too many, or one is too long. */
bool grammar_split(const char *from, size_t n, struct grammar_words *ret);
/* A word more at the end of a line of that size, behind a blank; false: it does not fit. */
bool grammar_append(char *text, size_t size, const char *more);
/* The line as it is shown to its writer. */
void grammar_show(const char *text, char ret[GRAMMAR_SHOWN_SIZE]);
/* "=", and marks, signs and pictures that say nothing. */
bool grammar_is_draw_sign(const char *text);
bool grammar_is_marks(const char *text);

/* One line as a command.  *ret_note: a note's text in it. */
enum grammar_taken grammar_take_line(const char *text, bool is_first_paragraph, struct command *c,
                                     const char **ret_note, size_t *ret_note_n);
/* … with the words it was made of, and which of them is wrong. */
enum grammar_taken grammar_take_words(const char *text, bool is_first_paragraph,
                                      struct command *c, const char **ret_note,
                                      size_t *ret_note_n, struct grammar_words *words);
/* "note" or "note:", and where its text begins; NULL when it is none. */
const char *grammar_note_text(const char *from, size_t n, size_t *ret_n);

/* ------------------------------------------------------------------------------- grammar_move.c */

/* "12. Rd4", "12... Rd4": the number, and where the move begins; 0 when there is none. */
const char *grammar_past_number(const char *text, int *ret_number);
/* The length of "e4" at text, also of "z9" and "q17"; 0: none is there. */
size_t grammar_square_shape(const char *text, bool *ret_is_any_boards);

/* ------------------------------------------------------------------------------- grammar.c */

/* Refuse the letter for a line (NULL: for all of it). */
enum grammar_fault grammar_fault_at(struct grammar *g, enum grammar_fault fault,
                                    const struct grammar_line *line);

/* --------------------------------------------------------------------------- grammar_guess.c */

/* Refuse it for a line that is no command, or for a word in one; with a guess, if there is one. */
enum grammar_fault grammar_fault_unknown(struct grammar *g, const struct grammar_line *line);
enum grammar_fault grammar_fault_argument(struct grammar *g, const struct grammar_line *line,
                                          bool is_first);

#endif

/*
 * words/words.h - everything that is said to a person, by code and language.
 *
 * Purpose
 *   One catalogue for letters, pages and refusals.  A code is a dotted lower-case word
 *   (letter.subject, say); each language has a text for each code.  The texts stand in
 *   words/en.txt, ru.txt and ro.txt, one a line, and are built into the program.
 *
 * Texts
 *   {name} is replaced by the argument of that name.  A text with plural forms has one line for
 *   each form of the language, chosen by the argument {n}: CLDR's rules for whole numbers
 *   (en, de…: one, other; ro: one, few, other; ru: one, few, many).  "{{" stands for "{".
 *
 * Calling sequence
 *   words_lang_of(tag) → words_put(&buf, lang, code, args, n).
 *   Programs that pass the catalogue on (the web pages) walk it with words_at().
 *
 * Errors
 *   An unknown code or a missing argument is our bug: debug builds assert, others put the code or
 *   "{name}" in its place, so that a letter still goes out.  A test goes through all of them.
 *
 * Ownership: texts are constants.  Threads: any.
 */
#ifndef FH_WORDS_WORDS_H
#define FH_WORDS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/utc.h"
#include "rules/notation.h"
#include "rules/rules.h"

enum lang { LANG_EN, LANG_RU, LANG_RO, LANGS };

const char *lang_tag(enum lang lang); /* "en" "ru" "ro": BCP 47 */
/* All of them, ended by NULL. */
const char *const *lang_tags(void);
/* The language of a tag, by its first subtag, in any case ("ro-MD" is Romanian).  False and
 * untouched when it is none of ours, NULL or empty. */
bool lang_find(const char *tag, enum lang *ret_lang);
/* The same, English when there is none. */
enum lang lang_of(const char *tag);

enum plural { PLURAL_ONE, PLURAL_FEW, PLURAL_MANY, PLURAL_OTHER, PLURALS };
const char *plural_str(enum plural plural); /* "one" "few" "many" "other": CLDR's words */
/* CLDR's category of a whole number; negative ones count as their absolute value. */
enum plural plural_of(enum lang lang, int64_t n);
/* Whether whole numbers of that language use the form at all. */
bool plural_is_used(enum lang lang, enum plural plural);

struct words_arg {
    const char *name;
    const char *text; /* NULL: use number */
    int64_t number;
};
#define WORDS_TEXT(key, value) ((struct words_arg){.name = (key), .text = (value)})
#define WORDS_NUMBER(key, value) ((struct words_arg){.name = (key), .number = (value)})

/* Append the text of a code.  args may be NULL when n = 0. */
void words_put(struct buf *out, enum lang lang, const char *code, const struct words_arg *args,
               size_t n);
/* The same into a fixed place, cut at a UTF-8 border and always NUL-ended; returns ret. */
const char *words_print(char *ret, size_t size, enum lang lang, const char *code,
                        const struct words_arg *args, size_t n);
/* The raw text of a code that has neither arguments nor plurals; "" with an assertion failure
 * for any other code. */
const char *words_plain(enum lang lang, const char *code);
bool words_has(const char *code);

/* The catalogue as a list, sorted by code in ASCII order. */
struct words_entry {
    const char *code;
    /* raw texts: form[PLURAL_OTHER] is the only one of a code without plurals; NULL = not used */
    const char *form[PLURALS];
    bool is_plural;
};
size_t words_count(void);
struct words_entry words_at(enum lang lang, size_t index);

/* ---------------------------------------------------------------- chess words */

/* Colours, seats and men; `game` tells which colours sit where.  All are constants. */
const char *words_seat_colour(enum lang lang, const struct game *game, enum seat seat); /* White */
const char *words_seat_name(enum lang lang, enum seat seat);                            /* South */
const char *words_kind(enum lang lang, enum kind kind);                                 /* bishop */
const char *words_kinds(enum lang lang, enum kind kind); /* several of them: bishops */
/* "white bishop", with the endings that the language wants. */
const char *words_man(enum lang lang, const struct game *game, uint8_t man);

/* R-F3: where a seat's fortress is, "m1–p4"; R-F7: its reserve in the usual places, as a letter or
 * a help says how to place one, "R p4 N n3 B o1".  The same in every language; return ret. */
enum { PLACING_TEXT_SIZE = 32 };
const char *words_fortress(enum seat seat, char ret[PLACING_TEXT_SIZE]);
const char *words_placing(enum seat seat, char ret[PLACING_TEXT_SIZE]);

/* Why a move is not legal, as one sentence without a full stop. */
void words_move_verdict(struct buf *out, enum lang lang, const struct position *pos,
                        const struct move_judgement *judgement);
/* What reading a move came to, as one such sentence: for READ_MOVE that it is legal. */
void words_move_reading(struct buf *out, enum lang lang, const struct position *pos,
                        const struct move_reading *reading);
/* The title of a reason ("It is not your turn"). */
const char *words_reason(enum lang lang, enum reason reason);
/* What a refusal says beyond its reason's title, as a sentence without a full stop, with its field
 * before it if it names one.  Of a failure without a code of the catalogue (a row that is not
 * there, or not as it was: the store's) a general sentence; its own is English, for the log.
 * False, and nothing is added, when there is no more to say. */
bool words_refusal(struct buf *out, enum lang lang, const struct err *err);
/* How a game ended: "White and Yellow won: both enemies are mated".  result must not be
 * RESULT_NONE. */
void words_result(struct buf *out, enum lang lang, const struct game *game, enum result result,
                  enum cause cause);
/* That sentence, and who had left the game before (bits 1 << seat): "…; out of the game: Red
 * (resigned)".  When nobody had, the sentence alone.  other: the cause by its name in the
 * catalogue, where it is none of the rules'; NULL. */
void words_ending(struct buf *out, enum lang lang, const struct game *game, enum result result,
                  enum cause cause, const char *other, unsigned resigned, unsigned forfeited);

/* ---------------------------------------------------------------- time */

/* A length in its two largest units, rounded down: "6 d 4 h", "45 min"; below a minute "less than
 * a minute".  Negative lengths count as their absolute value. */
void words_length(struct buf *out, enum lang lang, int64_t length_ms);
/* "Thu 3 Dec 2026, 18:30" from a civil time. */
void words_civil(struct buf *out, enum lang lang, const struct civil *civil);

#endif

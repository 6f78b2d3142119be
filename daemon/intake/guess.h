/*
 * intake/guess.h - what may have been meant by a word that the grammar does not know.
 *
 * Purpose
 *   Pure functions on words, for the hint under a refusal ("Did you mean …?").  No guess is ever
 *   obeyed: it is shown, and its reader writes it himself.
 *
 * Ownership: what is returned are constants, or stands where the caller said.  Threads: any.
 */
#ifndef FH_INTAKE_GUESS_H
#define FH_INTAKE_GUESS_H

#include <stdbool.h>
#include <stddef.h>

/* The text with letters of other scripts that look Latin made Latin; false when there are none, or
 * it does not fit. */
bool guess_latin(const char *text, char *ret, size_t size);

/* Is word a slip of other, one edit away (str_edits() of base/str.h), or two where other has six
 * letters or more?  How many they are into *ret_edits, which may be NULL. */
bool guess_is_slip(const char *word, const char *other, size_t *ret_edits);

/* Whether two words are the same but for case, diacritics and an ending of at most two letters:
 * "rosu" and "Roșul", "красный" and "Красные". */
bool guess_is_akin(const char *word, const char *other);

/* The word of the grammar that one in Russian, Romanian or other words of English stands for
 * ("сдаюсь": "resign", "nord": "north"), whatever its case and diacritics; NULL. */
const char *guess_translation(const char *word);
/* Is it a yes or a no, which mean nothing unless they stand alone? */
bool guess_is_consent(const char *word);

#endif

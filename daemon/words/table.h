/*
 * words/table.h - the table that embed.py makes; inside words/ only.
 *
 * Rows are sorted by code in ASCII order, so that a code is found by halving.
 *
 * Ownership: constants of the program.  Threads: any.  Errors: none, for embed.py has checked
 * the texts.
 */
#ifndef FH_WORDS_TABLE_H
#define FH_WORDS_TABLE_H

#include "words/words.h"

struct words_row {
    const char *code;
    bool is_plural;
    const char *form[LANGS][PLURALS]; /* without plurals: only [PLURAL_OTHER] */
};
extern const struct words_row words_table[];
extern const size_t words_table_count;

#endif

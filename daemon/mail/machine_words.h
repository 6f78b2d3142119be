/*
 * mail/machine_words.h - what machines write in letters, in many languages.
 *
 * Purpose: the lists that mail/machine.c falls back on where no header tells.  All entries are
 * normalised as reply_normalise() does and in lower case; lists end with NULL.
 *
 * Private to mail/.  Threads: any; constant.
 */
#ifndef FH_MAIL_MACHINE_WORDS_H
#define FH_MAIL_MACHINE_WORDS_H

extern const char *const machine_subjects[];  /* beginnings, after "Re:" and the like */
extern const char *const machine_reactions[]; /* somewhere in a first line: "reacted to your …" */
/* Somewhere in the first lines: absence, a machine that says it is one, an address that nobody
 * reads, a receipt, a report. */
extern const char *const machine_wordings[];

#endif

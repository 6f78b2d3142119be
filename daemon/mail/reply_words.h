/*
 * mail/reply_words.h - the words that mail programs put around an answer, in many languages.
 *
 * Purpose: the lists that mail/reply.c falls back on where structure is thin.  All entries are
 * normalised as reply_normalise() does and in lower case; lists end with NULL.
 *
 * Private to mail/.  Threads: any; constant.
 */
#ifndef FH_MAIL_REPLY_WORDS_H
#define FH_MAIL_REPLY_WORDS_H

#include <stdbool.h>

/* Roles of the labels in a block of From, Sent, To, Subject; bits. */
enum {
    ROLE_FROM = 1,
    ROLE_SENT = 2,
    ROLE_TO = 4,
    ROLE_CC = 8,
    ROLE_SUBJECT = 16,
    ROLE_OTHER = 32 /* Reply-To, Importance, attachments… */
};
/* The role of a label (without its colon), 0 when it is none. */
unsigned reply_words_role(const char *label);

extern const char *const reply_words_verbs[];     /* "wrote": somewhere in an attribution */
extern const char *const reply_words_openers[];   /* "on ": an attribution begins so */
extern const char *const reply_words_originals[]; /* "original message" */
extern const char *const reply_words_sent[];      /* "sent from ": a mobile signature begins so */
extern const char *const reply_words_sent_end[];  /* "から送信": … or ends so */
extern const char *const reply_words_devices[];   /* "iphone": words of mobile signatures */
extern const char *const reply_words_closings[];  /* "best regards": a line by itself */
extern const char *const reply_words_banners[];   /* warnings above the text begin so */
extern const char *const reply_words_outside[];   /* stems anywhere in such warnings: "external" */
extern const char *const reply_words_legal[];     /* stems of disclaimers: "confidential" */
extern const char *const reply_words_scanned[];   /* what virus scanners say below a text */
/* What line_is_notice() goes by: whole beginnings, names of scanners, and stems. */
extern const char *const reply_words_notices[];  /* "you don't often get": begins one */
/* How confidential a letter is, as programs mark it in a line by itself: "internal use only", and
 * what may stand before that and a colon: "classification". */
extern const char *const reply_words_labels[];
extern const char *const reply_words_label_heads[];
extern const char *const reply_words_scanners[]; /* "mailscanner" */
extern const char *const reply_words_viruses[];  /* "virus" */
extern const char *const reply_words_checked[];  /* "scanned" */
extern const char *const reply_words_mail[];     /* "message", "sender" */
extern const char *const reply_words_risks[];    /* "click", "attachment" */

#endif

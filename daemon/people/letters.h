/*
 * people/letters.h - what the files of people/ share: letters put into the outbox.
 *
 * Private to people/.  Ownership: strings are borrowed for the call.  Threads, time, errors: as
 * people/people.h.
 */
#ifndef FH_PEOPLE_LETTERS_H
#define FH_PEOPLE_LETTERS_H

#include "people/people.h"
#include "store/outbox.h"

struct letter_wish {
    enum notice_class cls;
    const char *template_name;
    int64_t user_id;     /* 0: to the address alone */
    const char *address; /* NULL: where the user's mail goes */
    const char *about;   /* the parameter that names the row: "link"; NULL: none */
    int64_t about_id;
    utc_ms expires_at;
};
MUST_CHECK enum status letter_put(struct store_txn *txn, const struct letter_wish *wish, utc_ms now,
                                  struct err *err);

/* The hash of a secret that nobody has: for a row whose letter is not composed yet. */
void secret_hash_of_none(const struct people *p, unsigned char ret[DIGEST_SIZE]);

/* A login link and its letter for user, unless he was sent too many. */
MUST_CHECK enum status login_letter_put(const struct people *p, struct store_txn *txn,
                                        const struct user_row *user, const char *template_name,
                                        utc_ms now, struct err *err);

#endif

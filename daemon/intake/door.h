/*
 * intake/door.h - what a door hands letters to: the intake itself, or a test's stand-in.
 *
 * The LMTP server, the Maildir watcher, the IMAP watcher and `fourhanded receive` differ in how a
 * letter comes and how its bringer is told; all hand it over here.  A letter is safe when done()
 * says ST_OK, and not before.
 *
 * Ownership: the struct is copied by doors; arg lives until the last door is closed.  A letter's
 *   strings and bytes are lent until done() is called, or take() has failed.
 * Threads: take() and judge() from any thread but the writer's; done() is called on the writer's.
 */
#ifndef FH_INTAKE_DOOR_H
#define FH_INTAKE_DOOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "mail/addressee.h"

struct door_letter {
    const char *sender; /* "" for the null sender, and where none is known */
    const char *recipient;
    const void *bytes;
    size_t size;
};

typedef void door_done_fn(void *arg, enum status st, const struct err *err);

struct door {
    /* Whether a recipient is ours, as addressee_judge_fn says.  Pure and quick. */
    addressee_judge_fn *judge;
    /* Store it.  When this fails done() is never called, else exactly once: ST_OK, it is durable
     * (or was already); ST_INVALID, the recipient is not ours; anything else, not now. */
    enum status (*take)(void *arg, const struct door_letter *letter, door_done_fn *done,
                        void *done_arg, struct err *err);
    void *arg;
};

/* Hand it over and wait for the answer. */
MUST_CHECK enum status door_take_wait(const struct door *door, const struct door_letter *letter,
                                      struct err *err);

#endif

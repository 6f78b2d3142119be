/*
 * intake/maildir.h - letters that a mail server or a script puts into a Maildir.
 *
 * Purpose
 *   Watches new/ of one Maildir (cr.yp.to/proto/maildir.html) and hands every file over.  When the
 *   letter is durable the file is renamed to cur/NAME:2,S: seen.  The recipient is read from the
 *   letter's own header lines (mail/addressee.h).
 *
 * Calling sequence
 *   maildir_open()     the folder with new/ and cur/ must be there
 *   maildir_scan()     one look through new/, in the calling thread; or
 *   maildir_start()    a thread: a look at once, by inotify at whatever comes (moved there,
 *                      linked there, or written there and closed), and at everything again every
 *                      MAILDIR_RESCAN_MS
 *   maildir_close()    ends the thread within a moment; NULL is allowed
 *
 * What cannot be read never blocks the rest
 *   A file over letter_size, an empty or unreadable one, one that is no regular file, or one that
 *   is for nobody here is moved to cur/NAME:2,F (flagged, unseen) with a warning in the log; where
 *   even that fails it is let be and remembered, and tried again once an hour.  A store that fails
 *   leaves the files where they are for the next look.
 *   A crash between commit and rename leaves the file in new/: it is handed over again, and the
 *   inbox knows it by its fingerprint.
 *
 * Order: by the time of the file (mtime), then by name.
 * Time: the clock given.  Threads: a maildir belongs to one thread, but _start and _close.
 */
#ifndef FH_INTAKE_MAILDIR_H
#define FH_INTAKE_MAILDIR_H

#include <stdint.h>

#include "base/status.h"
#include "clock/clock.h"
#include "intake/door.h"

#define MAILDIR_RESCAN_MS MS_MINUTE
#define MAILDIR_PAUSE_MS (5 * MS_SECOND) /* after the folder or the store has failed */
#define MAILDIR_AGAIN_MS MS_HOUR /* a file that could not even be moved aside */
enum { MAILDIR_SCAN_MAX = 1000 /* files a look takes in; the rest is for the next */ };

struct maildir;

struct maildir_options {
    struct door door;
    const char *path;
    size_t letter_size;
    struct clock clock;
};

/* What a look has done. */
struct maildir_scan {
    int taken, aside, left; /* left: still in new/, for the next look */
    bool is_more;           /* there were more than MAILDIR_SCAN_MAX */
    bool is_pause;          /* something failed: no news may shorten the wait */
    int64_t wait_ms;        /* until the next look, unless news come first */
};

MUST_CHECK enum status maildir_open(const struct maildir_options *options,
                                    struct maildir **ret_maildir, struct err *err);
/* One look.  *ret is filled in whatever comes of it.  ST_IO, ST_NOMEM: the folder could not be
 * read; the first such failure in a row is logged. */
MUST_CHECK enum status maildir_scan(struct maildir *maildir, struct maildir_scan *ret,
                                    struct err *err);
MUST_CHECK enum status maildir_start(struct maildir *maildir, struct err *err);
void maildir_close(struct maildir *maildir);

#endif

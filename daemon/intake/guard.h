/*
 * intake/guard.h - an end to the processor time that reading one letter may take.
 *
 * The limits of mail/letter.h keep a letter cheap; this is for the day they do not.  If the calling
 * thread burns more than the time between guard_begin() and guard_end(), the process says so on
 * standard error and exits with GUARD_EXIT.  Its supervisor starts it again, and a letter that was
 * claimed too often is put aside.
 *
 * Threads: one guard a process at a time; begin and end on the same thread.
 */
#ifndef FH_INTAKE_GUARD_H
#define FH_INTAKE_GUARD_H

#include <stdint.h>

enum { GUARD_EXIT = 70 }; /* EX_SOFTWARE */

void guard_begin(int64_t cpu_ms);
/* How much of it was used. */
int64_t guard_end(void);

#endif

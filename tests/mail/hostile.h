/*
 * mail/hostile.h - letters of 1 MiB made to cost as much as they can (P29).
 *
 * For the test that bounds their memory and work (tests/intake/test_hostile.c) and the benchmark
 * that measures their processor time (tests/bench/mail/hostile.c).  Each is anna's answer to her
 * turn's letter, by the token that is given, so that nothing is spared for want of a right.
 */
#ifndef FH_TESTS_MAIL_HOSTILE_H
#define FH_TESTS_MAIL_HOSTILE_H

#include <stddef.h>

#include "base/buf.h"

enum { HOSTILE_SIZE = 1024 * 1024 };

size_t hostile_count(void);
const char *hostile_name(size_t i);
/* The i-th, HOSTILE_SIZE bytes or a few less, to out (made by the caller, empty). */
void hostile_make(size_t i, const char *token, struct buf *out);

#endif

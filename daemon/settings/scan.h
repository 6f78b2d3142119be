/*
 * settings/scan.h - what stands in a configuration that libconfig does not tell.  Private to
 * settings/ and its test.
 *
 * libconfig cuts whole numbers to 32 bits, or to -1, without a word, and names no key in its
 * errors of syntax.  So the text is read a second time, by libconfig's own lexical rules (comments,
 * quotes, @include), and the caller's function is told of every setting in order.
 *
 * The text need not be well-formed: what cannot be followed ends the reading silently, for
 * libconfig has complained of it already.  Included files that cannot be read are passed over.
 *
 * Threads: any.  Ownership: the texts handed to the function are borrowed during the call.
 */
#ifndef FH_SETTINGS_SCAN_H
#define FH_SETTINGS_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum scan_what {
    SCAN_NAME,   /* a setting begins; text is NULL */
    SCAN_NUMBER, /* its value is one whole number; text is how it is written */
    SCAN_MIXED,  /* its value is an array of values of several types; text is NULL */
};

/* key: the whole name, "http.listen". */
typedef void scan_fn(void *arg, enum scan_what what, const char *key, const char *text);

/* Read text; @include is taken from folder, or as it is when it begins with a slash and there is no
 * such file in folder. */
void scan_settings(const char *text, const char *folder, scan_fn *fn, void *arg);

/* The value of a whole number as written: decimal with or without a sign, or hexadecimal after 0x;
 * L or LL may follow.  What 64 bits cannot hold becomes INT64_MAX or INT64_MIN. */
MUST_CHECK bool scan_number(const char *text, int64_t *ret);

#endif

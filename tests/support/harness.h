/*
 * support/harness.h - what every cmocka test includes first.
 *
 * cmocka wants these headers in this order; assert_ok() and assert_st() print the error's words
 * when they fail.
 */
#ifndef FH_TESTS_HARNESS_H
#define FH_TESTS_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"

/* The call succeeded; err is the struct err it was given. */
#define assert_ok(call, err)                                                                       \
    do {                                                                                           \
        enum status st_ = (call);                                                                  \
        if (st_ != ST_OK)                                                                          \
            fail_msg("%s: %s: %s", #call, status_str(st_), (err).text);                            \
    } while (0)

/* The call failed with exactly this status. */
#define assert_st(call, want, err)                                                                 \
    do {                                                                                           \
        enum status st_ = (call);                                                                  \
        if (st_ != (want))                                                                         \
            fail_msg("%s: %s, not %s: %s", #call, status_str(st_), status_str(want), (err).text);  \
    } while (0)

/* The text holds what; the text does not. */
#define assert_has(text, what)                                                                     \
    do {                                                                                           \
        const char *text_ = (text), *what_ = (what);                                               \
        if (!strstr(text_, what_))                                                                 \
            fail_msg("not there: %s\nin: %s", what_, text_);                                       \
    } while (0)
#define assert_lacks(text, what)                                                                   \
    do {                                                                                           \
        const char *text_ = (text), *what_ = (what);                                               \
        if (strstr(text_, what_))                                                                  \
            fail_msg("there: %s\nin: %s", what_, text_);                                           \
    } while (0)

#endif

/*
 * support/rule.h - a test says which rule of play it exercises.
 *
 *     RULE("R-V12");
 *
 * where the rule has just been exercised, not at the top of a file.  While the environment
 * variable FH_RULES_LOG names a file, the number is appended to it, a line each (once for each
 * place and run), so that tests/lint/check_rules_cited.py can list the rules of
 * docs/rules-of-play.md that no test has named.  Without it nothing happens.
 *
 * rule_named() is the same for a number in a variable, and writes every time.
 * Errors:  a log that cannot be written stops the test program: the list would be wrong.
 * Threads: call from one; processes may share a log (lines are appended whole).
 */
#ifndef FH_TESTS_RULE_H
#define FH_TESTS_RULE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void rule_named(const char *rule)
{
    const char *path = getenv("FH_RULES_LOG");
    FILE *log;

    if (!path || !*path)
        return;
    log = fopen(path, "a");
    if (!log || fprintf(log, "%s\n", rule) < 0 || fclose(log) != 0) {
        perror(path);
        abort();
    }
}

#define RULE(rule)                                                                                 \
    do {                                                                                           \
        static bool named_;                                                                        \
        if (!named_) {                                                                             \
            named_ = true;                                                                         \
            rule_named(rule);                                                                      \
        }                                                                                          \
    } while (0)

#endif

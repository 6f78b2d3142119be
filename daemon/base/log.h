/*
 * base/log.h - the daemon's diary, one line an event.
 *
 * log_event(LOG_LEVEL_INFO, "move game=%s ply=%d", …): the first word names the event, then fixed
 * keys.  Text from outside goes through log_quote().  Addresses, tokens and passwords are never
 * logged.  Only front rooms (main, http, intake, notify) log; the rest return errors.
 *
 * Lines go to standard error, with a "<N>" priority prefix when that is systemd's journal (so that
 * it keeps the level), else with an RFC 3339 time from the clock given to log_init().
 * errno is kept.  Threads: any; a line is written by one write(2).
 */
#ifndef FH_BASE_LOG_H
#define FH_BASE_LOG_H

#include <stdbool.h>

#include "base/status.h"
#include "base/utc.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Before any thread starts.  now reads the clock (main passes clock/'s); NULL leaves times out. */
void log_init(enum log_level most, utc_ms (*now)(void *), void *now_arg);

/* Is standard error systemd's journal?  (JOURNAL_STREAM names it, but is also there where standard
 * error has since been led elsewhere, as to a terminal.) */
bool log_is_journal(void);

void log_event(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* text in double quotes with controls, quotes, backslashes and non-ASCII bytes escaped, cut to
 * fit; returns ret. */
const char *log_quote(const char *text, char *ret, size_t size);

#endif

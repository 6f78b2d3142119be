#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048 };

static enum log_level log_most = LOG_LEVEL_INFO;
static utc_ms (*log_now)(void *);
static void *log_now_arg;
static bool log_to_journal;

void log_init(enum log_level most, utc_ms (*now)(void *), void *now_arg)
{
    log_most = most;
    log_now = now;
    log_now_arg = now_arg;
    log_to_journal = log_is_journal();
}

bool log_is_journal(void)
{
    const char *journal = getenv("JOURNAL_STREAM"); /* "device:inode" */
    char own[48];
    struct stat about;

    if (journal == NULL || fstat(STDERR_FILENO, &about) != 0)
        return false;
    snprintf(own, sizeof own, "%ju:%ju", (uintmax_t)about.st_dev, (uintmax_t)about.st_ino);
    return strcmp(own, journal) == 0;
}

void log_event(enum log_level level, const char *fmt, ...)
{
    static const char priority[] = {'3', '4', '6', '7'};
    static const char *const word[] = {"error", "warning", "info", "debug"};
    char line[LINE_MAX_BYTES];
    int saved = errno, n = 0, more;
    va_list args;

    if (level > log_most)
        return;
    if (log_to_journal) {
        n = snprintf(line, sizeof line, "<%c>", priority[level]);
    } else if (log_now) {
        char at[UTC_TEXT_SIZE];
        utc_format(log_now(log_now_arg), at);
        n = snprintf(line, sizeof line, "%s %s ", at, word[level]);
    } else {
        n = snprintf(line, sizeof line, "%s ", word[level]);
    }
    va_start(args, fmt);
    more = vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, args);
    va_end(args);
    if (more < 0)
        more = 0;
    n += more;
    if ((size_t)n > sizeof line - 2)
        n = (int)sizeof line - 2;
    for (int i = 0; i < n; i++)
        if (line[i] == '\n' || line[i] == '\r')
            line[i] = ' '; /* one line an event, whatever came in */
    line[n++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)n) < 0) {
        /* nowhere left to say it */
    }
    errno = saved;
}

const char *log_quote(const char *text, char *ret, size_t size)
{
    size_t n = 0;

    if (size < 3) {
        if (size)
            ret[0] = '\0';
        return ret;
    }
    ret[n++] = '"';
    for (const unsigned char *p = (const unsigned char *)(text ? text : ""); *p; p++) {
        char piece[5];
        int len = *p == '"' || *p == '\\' ? snprintf(piece, sizeof piece, "\\%c", *p)
                  : *p < 0x20 || *p >= 0x7f ? snprintf(piece, sizeof piece, "\\x%02x", *p)
                                            : snprintf(piece, sizeof piece, "%c", *p);
        if (n + (size_t)len + 2 > size)
            break;
        memcpy(ret + n, piece, (size_t)len);
        n += (size_t)len;
    }
    ret[n++] = '"';
    ret[n] = '\0';
    return ret;
}

/*
 * base/utc.h - instants and lengths of time as numbers.
 *
 * An instant is utc_ms: whole milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted,
 * in variables named …_at.  A length is int64_t milliseconds named …_ms.  Nothing here reads a
 * clock: clock/clock.h is the only place that does.
 *
 * Threads: any; no state.
 */
#ifndef FH_BASE_UTC_H
#define FH_BASE_UTC_H

#include <stdint.h>

#include "base/status.h"

typedef int64_t utc_ms; /* the one typedef of ours: it is a unit, not a struct */

#define MS_SECOND INT64_C(1000)
#define MS_MINUTE (60 * MS_SECOND)
#define MS_HOUR (60 * MS_MINUTE)
#define MS_DAY (24 * MS_HOUR)

/* No instant; every column and field that may lack one says so. */
#define UTC_NONE INT64_MIN

/* Bytes of "2026-11-29T19:28:13.000Z" with its NUL. */
#define UTC_TEXT_SIZE 25

/* A civil date and time, proleptic Gregorian, without a zone. */
struct civil {
    int year;    /* 0…9999 */
    int month;   /* 1…12 */
    int day;     /* 1…31 */
    int hour;    /* 0…23 */
    int minute;  /* 0…59 */
    int second;  /* 0…59 */
    int ms;      /* 0…999 */
    int weekday; /* 0 = Monday … 6 = Sunday; filled by civil_from_ms(), ignored by civil_to_ms() */
};

/* The civil time of local_ms, milliseconds since 1970 counted on any one wall clock.  Instants
 * before year 0 or after 9999 are clamped to those ends. */
struct civil civil_from_ms(int64_t local_ms);

/* The inverse.  Fields need not be in range: day 32 of January is 1 February. */
int64_t civil_to_ms(struct civil civil);

/* RFC 3339 in UTC with milliseconds, e.g. 2026-11-29T19:28:13.000Z. */
void utc_format(utc_ms at, char ret_text[UTC_TEXT_SIZE]);

/* Read RFC 3339 ("2026-11-29T19:28:13Z", fraction and ±hh:mm allowed).  ST_INVALID otherwise. */
MUST_CHECK enum status utc_parse(const char *text, utc_ms *ret_at, struct err *err);

/* A length as people write it: "14d", "12h", "36h", "90m", "30s", "500ms", or joined "1d 12h";
 * a bare number is refused, and so is what is longer than LENGTH_DAYS_MAX days.  ST_INVALID with
 * what was wrong; ret_ms is never negative. */
enum { LENGTH_DAYS_MAX = 100000 };
MUST_CHECK enum status length_parse(const char *text, int64_t *ret_ms, struct err *err);

/* The shortest such text of at most two units, rounded down: "6d 4h", "45m", "0s".  Negative
 * lengths get a leading "-".  Always NUL-ended; 48 bytes are always enough. */
void length_format(int64_t length_ms, char *ret_text, size_t size);

#endif

/*
 * clock/zone.h - IANA time zones, read from the system's TZif files (RFC 8536).
 *
 * Use: struct zone_cache *cache = zone_cache_new(NULL); zone_cache_get(cache, "Europe/Berlin",
 * &zone, &err); zone_moment(zone, at) says what the clocks on the wall there show.  After the last
 * transition that the file lists, its footer (a POSIX TZ rule) is followed, so the future is right.
 *
 * Only names of the database are taken: parts of letters, digits, '_', '+' and '-', parted by
 * '/', so no name leads out of the directory.  Files over ZONE_FILE_LIMIT, version 1 files, files
 * with leap seconds ("right/…") and malformed ones are refused with a reason.
 *
 * Ownership: a zone from zone_load() is the caller's, freed by zone_free(); one from a cache is
 *            borrowed until zone_cache_free() and never changes.
 * Errors:    REASON_UNKNOWN_ZONE (ST_INVALID) no such zone, or not a zone's name; ST_CORRUPT the
 *            file is not TZif; ST_IO, ST_NOMEM.
 * Threads:   a zone is constant: any thread.  A cache locks: any thread.
 */
#ifndef FH_CLOCK_ZONE_H
#define FH_CLOCK_ZONE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/utc.h"

#define ZONE_DIR "/usr/share/zoneinfo"

enum {
    ZONE_NAME_LIMIT = 64,            /* bytes of a name without its NUL */
    ZONE_FILE_LIMIT = 64 * 1024,     /* bytes of a TZif file */
    ZONE_TRANSITION_LIMIT = 4096,    /* transitions of a file */
    ZONE_ABBREVIATION_SIZE = 16,     /* bytes of an abbreviation with its NUL */
    ZONE_CACHE_LIMIT = 1024          /* zones a cache holds; the database has some 600 names */
};

struct zone;

/* Whether name is shaped like a zone's name.  It says nothing about there being such a zone. */
bool zone_name_is_valid(const char *name);

/* dir NULL means ZONE_DIR. */
MUST_CHECK enum status zone_load(const char *dir, const char *name, struct zone **ret_zone,
                                 struct err *err);
/* The same from n bytes of a TZif file, for tests and fuzzers. */
MUST_CHECK enum status zone_parse(const char *name, const void *bytes, size_t n,
                                  struct zone **ret_zone, struct err *err);
void zone_free(struct zone *zone);

const char *zone_name(const struct zone *zone); /* borrowed */

/* What the clocks show at an instant. */
struct zone_moment {
    struct civil local;                        /* date, time and weekday there */
    int32_t offset_s;                          /* seconds east of UTC */
    bool is_dst;                               /* the database calls it daylight saving time */
    char abbreviation[ZONE_ABBREVIATION_SIZE]; /* "CEST"; "+14" where there is none */
};
struct zone_moment zone_moment(const struct zone *zone, utc_ms at);

/* "+02:00", "-03:30", "+05:30:20" (old local mean times); ret holds ZONE_OFFSET_SIZE. */
enum { ZONE_OFFSET_SIZE = 16 };
void zone_offset_format(int32_t offset_s, char ret[ZONE_OFFSET_SIZE]);

/* The first instant after at when offset, abbreviation or daylight saving changes; false, with
 * *ret_at untouched, when none is known before the year 9999. */
bool zone_next_change(const struct zone *zone, utc_ms at, utc_ms *ret_at);

/* A date and time on the wall as instants.  Clocks that are put back show some times twice, clocks
 * that are put forward skip some. */
enum zone_fit {
    ZONE_ONCE,   /* earlier_at == later_at */
    ZONE_TWICE,  /* shown at both; the first is usually meant */
    ZONE_SKIPPED /* never shown: earlier_at is read by the offset after the gap (so it lies before
                    the change), later_at by the one before it (after the change, as much later as
                    the gap is long); later_at is usually meant */
};
struct zone_instants {
    enum zone_fit fit;
    utc_ms earlier_at;
    utc_ms later_at;
};
/* civil's weekday is ignored and fields out of range carry over (31 + 1 January = 1 February). */
struct zone_instants zone_to_utc(const struct zone *zone, struct civil civil);

/* Zones loaded once and kept.  dir as above. */
struct zone_cache;
struct zone_cache *zone_cache_new(const char *dir); /* NULL when out of memory */
void zone_cache_free(struct zone_cache *cache);     /* NULL is allowed */
MUST_CHECK enum status zone_cache_get(struct zone_cache *cache, const char *name,
                                      const struct zone **ret_zone, struct err *err);

#endif

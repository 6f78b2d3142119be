#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "clock/zone.h"

static utc_ms at(const char *text)
{
    struct err err = ERR_INIT;
    utc_ms ret = 0;

    assert_ok(utc_parse(text, &ret, &err), err);
    return ret;
}

static struct zone *load(const char *name)
{
    struct zone *zone = NULL;
    struct err err = ERR_INIT;

    assert_ok(zone_load(NULL, name, &zone, &err), err);
    assert_string_equal(zone_name(zone), name);
    return zone;
}

/* "2026-03-29 03:00:00 +02:00 CEST" */
static void assert_shows(const struct zone *zone, const char *utc, const char *want)
{
    struct zone_moment m = zone_moment(zone, at(utc));
    char offset[ZONE_OFFSET_SIZE], got[96];

    zone_offset_format(m.offset_s, offset);
    (void)snprintf(got, sizeof got, "%04d-%02d-%02d %02d:%02d:%02d %s %s", m.local.year,
                   m.local.month, m.local.day, m.local.hour, m.local.minute, m.local.second,
                   offset, m.abbreviation);
    assert_string_equal(got, want);
}

static struct civil civil(int y, int mo, int d, int h, int mi)
{
    return (struct civil){.year = y, .month = mo, .day = d, .hour = h, .minute = mi};
}

static void assert_instants(const struct zone *zone, struct civil local, enum zone_fit fit,
                            const char *earlier, const char *later)
{
    struct zone_instants got = zone_to_utc(zone, local);

    assert_int_equal(got.fit, fit);
    assert_int_equal(got.earlier_at, at(earlier));
    assert_int_equal(got.later_at, at(later));
}

/* T7 */
static void test_berlin_2026_03_29_skips_an_hour(void **state)
{
    struct zone *z = load("Europe/Berlin");

    (void)state;
    assert_shows(z, "2026-03-29T00:59:59Z", "2026-03-29 01:59:59 +01:00 CET");
    assert_shows(z, "2026-03-29T01:00:00Z", "2026-03-29 03:00:00 +02:00 CEST");
    assert_false(zone_moment(z, at("2026-03-29T00:59:59Z")).is_dst);
    assert_true(zone_moment(z, at("2026-03-29T01:00:00Z")).is_dst);
    assert_instants(z, civil(2026, 3, 29, 1, 59), ZONE_ONCE, "2026-03-29T00:59:00Z",
                    "2026-03-29T00:59:00Z");
    assert_instants(z, civil(2026, 3, 29, 2, 30), ZONE_SKIPPED, "2026-03-29T00:30:00Z",
                    "2026-03-29T01:30:00Z");
    assert_instants(z, civil(2026, 3, 29, 2, 0), ZONE_SKIPPED, "2026-03-29T00:00:00Z",
                    "2026-03-29T01:00:00Z");
    assert_instants(z, civil(2026, 3, 29, 3, 0), ZONE_ONCE, "2026-03-29T01:00:00Z",
                    "2026-03-29T01:00:00Z");
    zone_free(z);
}

static void test_berlin_2026_10_25_shows_an_hour_twice(void **state)
{
    struct zone *z = load("Europe/Berlin");
    utc_ms next = 0;

    (void)state;
    assert_shows(z, "2026-10-25T00:59:59Z", "2026-10-25 02:59:59 +02:00 CEST");
    assert_shows(z, "2026-10-25T01:00:00Z", "2026-10-25 02:00:00 +01:00 CET");
    assert_instants(z, civil(2026, 10, 25, 1, 59), ZONE_ONCE, "2026-10-24T23:59:00Z",
                    "2026-10-24T23:59:00Z");
    assert_instants(z, civil(2026, 10, 25, 2, 0), ZONE_TWICE, "2026-10-25T00:00:00Z",
                    "2026-10-25T01:00:00Z");
    assert_instants(z, civil(2026, 10, 25, 2, 59), ZONE_TWICE, "2026-10-25T00:59:00Z",
                    "2026-10-25T01:59:00Z");
    assert_instants(z, civil(2026, 10, 25, 3, 0), ZONE_ONCE, "2026-10-25T02:00:00Z",
                    "2026-10-25T02:00:00Z");
    assert_true(zone_next_change(z, at("2026-03-29T01:00:00Z"), &next));
    assert_int_equal(next, at("2026-10-25T01:00:00Z"));
    assert_true(zone_next_change(z, at("2026-03-29T00:59:59Z"), &next));
    assert_int_equal(next, at("2026-03-29T01:00:00Z"));
    zone_free(z);
}

static void test_new_york_changes_on_its_own_sundays(void **state)
{
    struct zone *z = load("America/New_York");

    (void)state;
    assert_shows(z, "2026-03-08T06:59:59Z", "2026-03-08 01:59:59 -05:00 EST");
    assert_shows(z, "2026-03-08T07:00:00Z", "2026-03-08 03:00:00 -04:00 EDT");
    assert_shows(z, "2026-11-01T05:59:59Z", "2026-11-01 01:59:59 -04:00 EDT");
    assert_shows(z, "2026-11-01T06:00:00Z", "2026-11-01 01:00:00 -05:00 EST");
    /* Between the two dates Berlin and New York are five hours apart, not six. */
    assert_instants(z, civil(2026, 3, 15, 12, 0), ZONE_ONCE, "2026-03-15T16:00:00Z",
                    "2026-03-15T16:00:00Z");
    zone_free(z);
}

static void test_kolkata_is_half_an_hour_off_and_never_changes(void **state)
{
    struct zone *z = load("Asia/Kolkata");
    utc_ms next = 1;

    (void)state;
    assert_shows(z, "2026-07-01T00:00:00Z", "2026-07-01 05:30:00 +05:30 IST");
    assert_shows(z, "2126-01-01T00:00:00Z", "2126-01-01 05:30:00 +05:30 IST");
    assert_instants(z, civil(2026, 1, 1, 0, 0), ZONE_ONCE, "2025-12-31T18:30:00Z",
                    "2025-12-31T18:30:00Z");
    assert_false(zone_next_change(z, at("2026-01-01T00:00:00Z"), &next));
    assert_int_equal(next, 1); /* untouched */
    zone_free(z);
}

static void test_apia_skipped_a_whole_day_in_2011(void **state)
{
    struct zone *z = load("Pacific/Apia");

    (void)state;
    assert_shows(z, "2011-12-30T09:59:59Z", "2011-12-29 23:59:59 -10:00 -10");
    assert_shows(z, "2011-12-30T10:00:00Z", "2011-12-31 00:00:00 +14:00 +14");
    assert_instants(z, civil(2011, 12, 30, 12, 0), ZONE_SKIPPED, "2011-12-29T22:00:00Z",
                    "2011-12-30T22:00:00Z");
    assert_instants(z, civil(2011, 12, 29, 23, 59), ZONE_ONCE, "2011-12-30T09:59:00Z",
                    "2011-12-30T09:59:00Z");
    assert_instants(z, civil(2011, 12, 31, 0, 0), ZONE_ONCE, "2011-12-30T10:00:00Z",
                    "2011-12-30T10:00:00Z");
    assert_shows(z, "2026-07-01T00:00:00Z", "2026-07-01 13:00:00 +13:00 +13");
    zone_free(z);
}

static void test_lord_howe_moves_by_half_an_hour(void **state)
{
    struct zone *z = load("Australia/Lord_Howe");

    (void)state;
    assert_shows(z, "2026-04-04T14:59:59Z", "2026-04-05 01:59:59 +11:00 +11");
    assert_shows(z, "2026-04-04T15:00:00Z", "2026-04-05 01:30:00 +10:30 +1030");
    assert_instants(z, civil(2026, 4, 5, 1, 45), ZONE_TWICE, "2026-04-04T14:45:00Z",
                    "2026-04-04T15:15:00Z");
    assert_shows(z, "2026-10-03T15:29:59Z", "2026-10-04 01:59:59 +10:30 +1030");
    assert_shows(z, "2026-10-03T15:30:00Z", "2026-10-04 02:30:00 +11:00 +11");
    assert_instants(z, civil(2026, 10, 4, 2, 15), ZONE_SKIPPED, "2026-10-03T15:15:00Z",
                    "2026-10-03T15:45:00Z");
    zone_free(z);
}

static void test_the_footer_rule_holds_after_the_last_listed_change(void **state)
{
    struct zone *z = load("Europe/Berlin");
    struct zone *syd = load("Australia/Sydney");
    utc_ms next = 0;

    (void)state;
    /* 2050: last Sunday of March is the 27th, of October the 30th. */
    assert_shows(z, "2050-03-27T00:59:59Z", "2050-03-27 01:59:59 +01:00 CET");
    assert_shows(z, "2050-03-27T01:00:00Z", "2050-03-27 03:00:00 +02:00 CEST");
    assert_shows(z, "2050-10-30T00:59:59Z", "2050-10-30 02:59:59 +02:00 CEST");
    assert_shows(z, "2050-10-30T01:00:00Z", "2050-10-30 02:00:00 +01:00 CET");
    assert_instants(z, civil(2050, 3, 27, 2, 30), ZONE_SKIPPED, "2050-03-27T00:30:00Z",
                    "2050-03-27T01:30:00Z");
    assert_instants(z, civil(2050, 10, 30, 2, 30), ZONE_TWICE, "2050-10-30T00:30:00Z",
                    "2050-10-30T01:30:00Z");
    assert_true(zone_next_change(z, at("2050-03-27T01:00:00Z"), &next));
    assert_int_equal(next, at("2050-10-30T01:00:00Z"));
    assert_true(zone_next_change(z, at("2050-12-31T23:59:59Z"), &next));
    assert_int_equal(next, at("2051-03-26T01:00:00Z"));
    /* The south: summer goes over the turn of the year. */
    assert_shows(syd, "2050-01-01T00:00:00Z", "2050-01-01 11:00:00 +11:00 AEDT");
    assert_shows(syd, "2050-07-01T00:00:00Z", "2050-07-01 10:00:00 +10:00 AEST");
    assert_shows(syd, "2050-12-31T23:00:00Z", "2051-01-01 10:00:00 +11:00 AEDT");
    zone_free(z);
    zone_free(syd);
}

static void test_dublin_has_negative_daylight_saving_and_the_right_hours(void **state)
{
    struct zone *z = load("Europe/Dublin");

    (void)state;
    assert_shows(z, "2045-01-15T12:00:00Z", "2045-01-15 12:00:00 +00:00 GMT");
    assert_shows(z, "2045-07-15T12:00:00Z", "2045-07-15 13:00:00 +01:00 IST");
    zone_free(z);
}

static void test_before_the_first_change_local_mean_time_holds(void **state)
{
    struct zone *z = load("Europe/Berlin");

    (void)state;
    assert_shows(z, "1850-01-01T00:00:00Z", "1850-01-01 00:53:28 +00:53:28 LMT");
    zone_free(z);
}

/* Every hour of two years over several zones: what the wall shows leads back to the instant. */
static void test_wall_and_instant_agree_both_ways(void **state)
{
    static const char *const names[] = {"Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia",
                                        "America/St_Johns", "Africa/Casablanca", "Asia/Gaza",
                                        "Antarctica/Troll", "UTC"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct zone *z = load(names[i]);
        utc_ms start = at(i % 2 ? "2011-06-01T00:00:00Z" : "2036-06-01T00:00:00Z");

        for (utc_ms t = start; t < start + 730 * MS_DAY; t += 30 * MS_MINUTE) {
            struct zone_instants got = zone_to_utc(z, zone_moment(z, t).local);
            assert_true(got.fit != ZONE_SKIPPED);
            if (got.earlier_at != t && got.later_at != t)
                fail_msg("%s: %lld comes back as %lld or %lld", names[i], (long long)t,
                         (long long)got.earlier_at, (long long)got.later_at);
        }
        zone_free(z);
    }
}

static void test_every_zone_of_the_database_can_be_read(void **state)
{
    FILE *f = fopen(ZONE_DIR "/tzdata.zi", "r");
    struct zone_cache *cache = zone_cache_new(NULL);
    char line[512];
    int n = 0;

    (void)state;
    assert_non_null(cache);
    assert_non_null(f); /* package tzdata */
    while (fgets(line, sizeof line, f)) {
        char name[200] = "";
        struct err err = ERR_INIT;
        const struct zone *z = NULL, *again = NULL;

        if (sscanf(line, "Z %199s", name) != 1 && sscanf(line, "L %*s %199s", name) != 1)
            continue;
        if (strcmp(name, "Factory") == 0)
            continue;
        assert_ok(zone_cache_get(cache, name, &z, &err), err);
        assert_ok(zone_cache_get(cache, name, &again, &err), err);
        assert_ptr_equal(z, again);
        n++;
    }
    assert_true(n > 400);
    (void)fclose(f);
    zone_cache_free(cache);
    zone_cache_free(NULL);
}

static void test_names_that_lead_elsewhere_are_refused(void **state)
{
    static const char *const bad[] = {
        "", "/", "/etc/passwd", "../etc/passwd", "Europe/../../etc/passwd", "Europe//Berlin",
        "Europe/", "/Europe/Berlin", "Europe/Berlin\n", "Europe/Ber lin", ".", "..", "tzdata.zi",
        "localtime", "posixrules", "right/Europe/Berlin", "posix/Europe/Berlin", "Factory",
        "Europe\\Berlin", "Eur\xc3\xb6pe/Berlin",
        "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg"};
    static const char *const good[] = {"UTC", "Etc/GMT+5", "America/Argentina/ComodRivadavia",
                                       "America/Port-au-Prince", "GMT-0", "localtimes"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct zone *zone = NULL;
        struct err err = ERR_INIT;

        assert_false(zone_name_is_valid(bad[i]));
        assert_st(zone_load(NULL, bad[i], &zone, &err), ST_INVALID, err);
        assert_int_equal(err.reason, REASON_UNKNOWN_ZONE);
        assert_null(zone);
    }
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_true(zone_name_is_valid(good[i]));
}

static void test_zones_that_are_not_there_are_named_in_the_error(void **state)
{
    static const char *const names[] = {"Europe/Atlantis", "Europe", "Europe/Berlin/Mitte"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct zone *zone = NULL;
        struct err err = ERR_INIT;

        assert_st(zone_load(NULL, names[i], &zone, &err), ST_INVALID, err);
        assert_int_equal(err.reason, REASON_UNKNOWN_ZONE);
        assert_non_null(strstr(err.text, names[i]));
    }
}

/* ------------------------------------------------------------------ files made by hand */

struct maker {
    unsigned char bytes[70000];
    size_t n;
};

static void put(struct maker *m, const void *bytes, size_t n)
{
    assert_true(m->n + n <= sizeof m->bytes);
    memcpy(m->bytes + m->n, bytes, n);
    m->n += n;
}

static void put32(struct maker *m, uint32_t v)
{
    unsigned char b[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16),
                          (unsigned char)(v >> 8), (unsigned char)v};
    put(m, b, 4);
}

static void put64(struct maker *m, int64_t v)
{
    put32(m, (uint32_t)((uint64_t)v >> 32));
    put32(m, (uint32_t)(uint64_t)v);
}

static void put_header(struct maker *m, char version, uint32_t leap, uint32_t time, uint32_t type,
                       uint32_t chars)
{
    char head[20] = "TZif";

    head[4] = version;
    put(m, head, 20);
    put32(m, 0);
    put32(m, 0);
    put32(m, leap);
    put32(m, time);
    put32(m, type);
    put32(m, chars);
}

static void put_type(struct maker *m, int32_t offset, unsigned char dst, unsigned char abbr)
{
    unsigned char b[2] = {dst, abbr};

    put32(m, (uint32_t)offset);
    put(m, b, 2);
}

/* A zone of two types, one change at 1000 s, and the footer given. */
static void make(struct maker *m, const char *footer)
{
    m->n = 0;
    put_header(m, '2', 0, 0, 1, 1); /* a short first block, as slim files have it */
    put_type(m, 0, 0, 0);
    put(m, "\0", 1);
    put_header(m, '2', 0, 1, 2, 8);
    put64(m, 1000);
    put(m, "\1", 1);
    put_type(m, 3600, 0, 0);
    put_type(m, 7200, 1, 4);
    put(m, "AAA\0BBB\0", 8);
    put(m, "\n", 1);
    put(m, footer, strlen(footer));
    put(m, "\n", 1);
}

static enum status parse(const struct maker *m, struct zone **ret, struct err *err)
{
    /* An exact copy, so that reading past the end is found. */
    unsigned char *copy = malloc(m->n ? m->n : 1);
    assert_non_null(copy);
    memcpy(copy, m->bytes, m->n);
    enum status st = zone_parse("Test/Zone", copy, m->n, ret, err);
    free(copy);
    return st;
}

static void test_a_small_file_is_read(void **state)
{
    static struct maker m;
    struct zone *z = NULL;
    struct err err = ERR_INIT;

    (void)state;
    make(&m, "");
    assert_ok(parse(&m, &z, &err), err);
    assert_shows(z, "1970-01-01T00:16:39Z", "1970-01-01 01:16:39 +01:00 AAA");
    assert_shows(z, "1970-01-01T00:16:40Z", "1970-01-01 02:16:40 +02:00 BBB");
    assert_shows(z, "2026-01-01T00:00:00Z", "2026-01-01 02:00:00 +02:00 BBB"); /* no rule: stays */
    zone_free(z);
}

static void test_posix_rules_of_every_form_are_followed(void **state)
{
    static const struct {
        const char *footer, *utc, *shows;
    } cases[] = {
        {"XXX0YYY,J60/0,J300/0", "2024-02-29T12:00:00Z", "2024-02-29 12:00:00 +00:00 XXX"},
        {"XXX0YYY,J60/0,J300/0", "2024-03-01T00:00:00Z", "2024-03-01 01:00:00 +01:00 YYY"},
        {"XXX0YYY,59/0,300/0", "2024-02-28T23:59:59Z", "2024-02-28 23:59:59 +00:00 XXX"},
        {"XXX0YYY,59/0,300/0", "2024-02-29T00:00:00Z", "2024-02-29 01:00:00 +01:00 YYY"},
        {"XXX0YYY,59/0,300/0", "2023-03-01T00:00:00Z", "2023-03-01 01:00:00 +01:00 YYY"},
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T00:59:59Z",
         "2026-03-28 22:59:59 -02:00 -02"},
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z",
         "2026-03-29 00:00:00 -01:00 -01"},
        {"XXX-5:45:30", "2026-01-01T00:00:00Z", "2026-01-01 05:45:30 +05:45:30 XXX"},
        /* daylight saving time all the year, as zic writes it */
        {"XXX3YYY2,0/0,J365/25", "2026-12-31T23:59:59Z", "2026-12-31 21:59:59 -02:00 YYY"},
        {"XXX3YYY2,0/0,J365/25", "2027-01-01T02:59:59Z", "2027-01-01 00:59:59 -02:00 YYY"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        static struct maker m;
        struct zone *z = NULL;
        struct err err = ERR_INIT;

        make(&m, cases[i].footer);
        assert_ok(parse(&m, &z, &err), err);
        assert_shows(z, cases[i].utc, cases[i].shows);
        zone_free(z);
    }
}

static void test_malformed_footers_are_refused(void **state)
{
    static const char *const bad[] = {
        "X", "XX0", "XXX", "XXX0YYY", "XXX0YYY,", "XXX0YYY,M3.5.0", "XXX0YYY,M3.5.0,",
        "XXX0YYY,M13.5.0,M10.5.0", "XXX0YYY,M3.6.0,M10.5.0", "XXX0YYY,M3.0.0,M10.5.0",
        "XXX0YYY,M3.5.7,M10.5.0", "XXX0YYY,J0,J300", "XXX0YYY,J366,J300", "XXX0YYY,366,300",
        "XXX0YYY,M3.5.0/168,M10.5.0", "XXX25", "XXX0:60", "<AB>0", "<ABC0", "XXX0 ",
        "XXX0YYY,M3.5.0,M10.5.0x", "TOOLONGANABBREVIATION0", "XXX99999999999"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        static struct maker m;
        struct zone *z = NULL;
        struct err err = ERR_INIT;

        make(&m, bad[i]);
        if (parse(&m, &z, &err) != ST_CORRUPT)
            fail_msg("footer %s was taken", bad[i]);
        assert_null(z);
    }
}

static void test_a_file_cut_anywhere_is_refused(void **state)
{
    static struct maker whole, cut;

    (void)state;
    make(&whole, "CET-1CEST,M3.5.0,M10.5.0/3");
    for (size_t n = 0; n < whole.n; n++) {
        struct zone *z = NULL;
        struct err err = ERR_INIT;

        memcpy(cut.bytes, whole.bytes, n);
        cut.n = n;
        assert_st(parse(&cut, &z, &err), ST_CORRUPT, err);
        assert_null(z);
    }
}

/* One byte changed at a time: whatever is still taken can be asked about without harm. */
static void test_a_file_with_any_byte_changed_does_no_harm(void **state)
{
    static struct maker whole, m;
    int taken = 0, refused = 0;

    (void)state;
    make(&whole, "CET-1CEST,M3.5.0,M10.5.0/3");
    for (size_t i = 0; i < whole.n; i++) {
        for (int b = 0; b < 256; b += 5) {
            struct zone *z = NULL;

            m = whole;
            m.bytes[i] = (unsigned char)b;
            if (parse(&m, &z, NULL) == ST_OK) {
                utc_ms next = 0;
                (void)zone_moment(z, INT64_MIN + 1);
                (void)zone_moment(z, INT64_MAX);
                (void)zone_next_change(z, INT64_MAX, &next);
                (void)zone_next_change(z, 0, &next);
                (void)zone_to_utc(z, civil(2026, 3, 29, 2, 30));
                taken++;
            } else {
                refused++;
            }
            zone_free(z);
        }
    }
    assert_true(taken > 100 && refused > 100);
}

static void test_other_faults_of_a_file_are_told(void **state)
{
    static struct maker m;
    struct err err = ERR_INIT;
    struct zone *z = NULL;

    (void)state;
    make(&m, "");
    m.bytes[4] = 0; /* version 1 */
    assert_st(parse(&m, &z, &err), ST_CORRUPT, err);
    assert_non_null(strstr(err.text, "version 1"));

    m.n = 0; /* leap seconds */
    put_header(&m, '2', 0, 0, 1, 1);
    put_type(&m, 0, 0, 0);
    put(&m, "\0", 1);
    put_header(&m, '2', 1, 0, 1, 4);
    put_type(&m, 0, 0, 0);
    put(&m, "UTC\0", 4);
    put64(&m, 78796800);
    put32(&m, 1);
    put(&m, "\nUTC0\n", 6);
    assert_st(parse(&m, &z, &err), ST_CORRUPT, err);
    assert_non_null(strstr(err.text, "leap"));

    make(&m, ""); /* too large */
    m.n = ZONE_FILE_LIMIT + 1;
    assert_st(parse(&m, &z, &err), ST_CORRUPT, err);
    assert_non_null(strstr(err.text, "large"));
    assert_null(z);
}

static void test_transitions_out_of_order_are_refused(void **state)
{
    static struct maker m;
    struct err err = ERR_INIT;
    struct zone *z = NULL;

    (void)state;
    m.n = 0;
    put_header(&m, '2', 0, 0, 1, 1);
    put_type(&m, 0, 0, 0);
    put(&m, "\0", 1);
    put_header(&m, '2', 0, 2, 1, 4);
    put64(&m, 1000);
    put64(&m, 1000);
    put(&m, "\0\0", 2);
    put_type(&m, 0, 0, 0);
    put(&m, "UTC\0", 4);
    put(&m, "\nUTC0\n", 6);
    assert_st(parse(&m, &z, &err), ST_CORRUPT, err);
    assert_non_null(strstr(err.text, "order"));
}

static void test_a_fifo_or_a_text_file_in_the_directory_is_no_zone(void **state)
{
    char dir[] = "/tmp/fh-zones-XXXXXX", path[128];
    struct err err = ERR_INIT;
    struct zone *z = NULL;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/Pipe", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_st(zone_load(dir, "Pipe", &z, &err), ST_INVALID, err); /* and does not hang */
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/Text", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs("not a zone\n", f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_st(zone_load(dir, "Text", &z, &err), ST_CORRUPT, err);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
    assert_null(z);
}

static void test_offsets_are_written_with_their_sign(void **state)
{
    char text[ZONE_OFFSET_SIZE];

    (void)state;
    zone_offset_format(0, text);
    assert_string_equal(text, "+00:00");
    zone_offset_format(-(3 * 3600 + 1800), text);
    assert_string_equal(text, "-03:30");
    zone_offset_format(5 * 3600 + 21 * 60 + 10, text);
    assert_string_equal(text, "+05:21:10");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_berlin_2026_03_29_skips_an_hour),
        cmocka_unit_test(test_berlin_2026_10_25_shows_an_hour_twice),
        cmocka_unit_test(test_new_york_changes_on_its_own_sundays),
        cmocka_unit_test(test_kolkata_is_half_an_hour_off_and_never_changes),
        cmocka_unit_test(test_apia_skipped_a_whole_day_in_2011),
        cmocka_unit_test(test_lord_howe_moves_by_half_an_hour),
        cmocka_unit_test(test_the_footer_rule_holds_after_the_last_listed_change),
        cmocka_unit_test(test_dublin_has_negative_daylight_saving_and_the_right_hours),
        cmocka_unit_test(test_before_the_first_change_local_mean_time_holds),
        cmocka_unit_test(test_wall_and_instant_agree_both_ways),
        cmocka_unit_test(test_every_zone_of_the_database_can_be_read),
        cmocka_unit_test(test_names_that_lead_elsewhere_are_refused),
        cmocka_unit_test(test_zones_that_are_not_there_are_named_in_the_error),
        cmocka_unit_test(test_a_small_file_is_read),
        cmocka_unit_test(test_posix_rules_of_every_form_are_followed),
        cmocka_unit_test(test_malformed_footers_are_refused),
        cmocka_unit_test(test_a_file_cut_anywhere_is_refused),
        cmocka_unit_test(test_a_file_with_any_byte_changed_does_no_harm),
        cmocka_unit_test(test_other_faults_of_a_file_are_told),
        cmocka_unit_test(test_transitions_out_of_order_are_refused),
        cmocka_unit_test(test_a_fifo_or_a_text_file_in_the_directory_is_no_zone),
        cmocka_unit_test(test_offsets_are_written_with_their_sign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

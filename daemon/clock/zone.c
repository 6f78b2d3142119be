#include "clock/zone.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

enum {
    TYPE_LIMIT = 256,
    ABBREVIATIONS_LIMIT = 512,
    FOOTER_LIMIT = 128,
    HEADER_SIZE = 44,
    OFFSET_LIMIT_S = 26 * 3600 /* RFC 8536 allows -25 h < offset < 26 h */
};

/* Seconds that the years 0…9999 span, with room for offsets: what civil_from_ms() can say. */
#define AT_MIN_S INT64_C(-62167219200)
#define AT_MAX_S INT64_C(253402300799)

struct local_type {
    int32_t offset_s;
    bool is_dst;
    char abbreviation[ZONE_ABBREVIATION_SIZE];
};

/* When, in a year, a POSIX rule changes to or from daylight saving time. */
enum day_kind { DAY_JULIAN, DAY_ZERO, DAY_MONTH };
struct day_rule {
    enum day_kind kind;
    int day;                    /* Jn 1…365, n 0…365, or weekday 0 = Sunday … 6 */
    int month, week;            /* of Mm.w.d */
    int32_t time_s;             /* on the wall before the change; may be negative */
};

struct posix_rule {
    bool is_there;
    bool has_dst;
    struct local_type std, dst;
    struct day_rule starts, ends; /* daylight saving time */
};

struct zone {
    char name[ZONE_NAME_LIMIT + 1];
    size_t n_transitions, n_types;
    int64_t *transition_s; /* ascending */
    uint8_t *transition_type;
    struct local_type types[TYPE_LIMIT];
    struct posix_rule rule;
};

/* ------------------------------------------------------------------ names */

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '+' || c == '-';
}

bool zone_name_is_valid(const char *name)
{
    static const char *const others[] = {"localtime", "posixrules", "Factory", "posix", "right"};
    size_t n = strlen(name);

    if (n == 0 || n > ZONE_NAME_LIMIT)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (name[i] == '/') {
            if (i == 0 || i + 1 == n || name[i + 1] == '/')
                return false;
        } else if (!is_name_char(name[i])) {
            return false;
        }
    }
    /* These lie in the directory and are not zones, or are zones counted otherwise. */
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        size_t len = strlen(others[i]);
        if (strncmp(name, others[i], len) == 0 && (name[len] == '\0' || name[len] == '/'))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------ the footer */

static bool rule_number(const char **p, int min, int max, int *ret)
{
    int value = 0, digits = 0;

    while (**p >= '0' && **p <= '9' && digits < 4) {
        value = value * 10 + (**p - '0');
        (*p)++;
        digits++;
    }
    if (digits == 0 || value < min || value > max)
        return false;
    *ret = value;
    return true;
}

/* [+-]hh[:mm[:ss]] */
static bool rule_time(const char **p, int hours_max, int32_t *ret_s)
{
    int sign = 1, h = 0, m = 0, s = 0;

    if (**p == '+' || **p == '-') {
        sign = **p == '-' ? -1 : 1;
        (*p)++;
    }
    if (!rule_number(p, 0, hours_max, &h))
        return false;
    if (**p == ':') {
        (*p)++;
        if (!rule_number(p, 0, 59, &m))
            return false;
        if (**p == ':') {
            (*p)++;
            if (!rule_number(p, 0, 59, &s))
                return false;
        }
    }
    *ret_s = sign * (h * 3600 + m * 60 + s);
    return true;
}

static bool rule_abbreviation(const char **p, char ret[ZONE_ABBREVIATION_SIZE])
{
    bool quoted = **p == '<';
    size_t n = 0;

    if (quoted)
        (*p)++;
    for (;; (*p)++) {
        char c = **p;
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool more = quoted && ((c >= '0' && c <= '9') || c == '+' || c == '-');
        if (!letter && !more)
            break;
        if (n + 1 >= ZONE_ABBREVIATION_SIZE)
            return false;
        ret[n++] = c;
    }
    ret[n] = '\0';
    if (quoted) {
        if (**p != '>')
            return false;
        (*p)++;
    }
    return n >= 3;
}

static bool rule_day(const char **p, struct day_rule *ret)
{
    struct day_rule d = {.kind = DAY_ZERO, .time_s = 2 * 3600};

    if (**p == 'M') {
        (*p)++;
        d.kind = DAY_MONTH;
        if (!rule_number(p, 1, 12, &d.month) || *(*p)++ != '.')
            return false;
        if (!rule_number(p, 1, 5, &d.week) || *(*p)++ != '.')
            return false;
        if (!rule_number(p, 0, 6, &d.day))
            return false;
    } else if (**p == 'J') {
        (*p)++;
        d.kind = DAY_JULIAN;
        if (!rule_number(p, 1, 365, &d.day))
            return false;
    } else if (!rule_number(p, 0, 365, &d.day)) {
        return false;
    }
    if (**p == '/') {
        (*p)++;
        if (!rule_time(p, 167, &d.time_s))
            return false;
    }
    *ret = d;
    return true;
}

/* Reads "CET-1CEST,M3.5.0,M10.5.0/3".  An empty text means that no rule is known. */
static bool rule_parse(const char *text, struct posix_rule *ret)
{
    struct posix_rule r = {.is_there = false};
    const char *p = text;
    int32_t west_s = 0;

    if (*p == '\0') {
        *ret = r;
        return true;
    }
    r.is_there = true;
    if (!rule_abbreviation(&p, r.std.abbreviation) || !rule_time(&p, 24, &west_s))
        return false;
    r.std.offset_s = -west_s;
    if (*p != '\0') {
        r.has_dst = true;
        r.dst.is_dst = true;
        if (!rule_abbreviation(&p, r.dst.abbreviation))
            return false;
        r.dst.offset_s = r.std.offset_s + 3600;
        if (*p != ',' && *p != '\0') {
            if (!rule_time(&p, 24, &west_s))
                return false;
            r.dst.offset_s = -west_s;
        }
        /* POSIX leaves the days open when they are missing; TZif footers always have them. */
        if (*p++ != ',' || !rule_day(&p, &r.starts) || *p++ != ',' || !rule_day(&p, &r.ends))
            return false;
        if (*p != '\0')
            return false;
    }
    *ret = r;
    return true;
}

static bool is_leap_year(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* The instant of a change in a year, given the offset on the wall before it. */
static int64_t change_at_s(const struct day_rule *d, int year, int32_t offset_before_s)
{
    struct civil c = {.year = year, .month = 1, .day = 1};

    if (d->kind == DAY_ZERO) {
        c.day = 1 + d->day;
    } else if (d->kind == DAY_JULIAN) { /* 29 February is never counted */
        c.day = d->day + (is_leap_year(year) && d->day >= 60 ? 1 : 0);
    } else {
        c.month = d->month;
        struct civil first = civil_from_ms(civil_to_ms(c));
        int sunday_based = (first.weekday + 1) % 7;
        c.day = 1 + (d->day - sunday_based + 7) % 7 + (d->week - 1) * 7;
        static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
        int last = days[d->month - 1] + (d->month == 2 && is_leap_year(year) ? 1 : 0);
        while (c.day > last) /* week 5 is the last one, be there five or four */
            c.day -= 7;
    }
    return civil_to_ms(c) / MS_SECOND + d->time_s - offset_before_s;
}

/* ------------------------------------------------------------------ TZif */

struct cursor {
    const unsigned char *p;
    size_t left;
};

static const unsigned char *take(struct cursor *c, size_t n)
{
    const unsigned char *p = c->p;

    if (n > c->left)
        return NULL;
    c->p += n;
    c->left -= n;
    return p;
}

static uint32_t be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t be64s(const unsigned char *p)
{
    uint64_t v = (uint64_t)be32(p) << 32 | be32(p + 4);
    int64_t ret;

    memcpy(&ret, &v, sizeof ret); /* two's complement, as the file has it */
    return ret;
}

static int32_t be32s(const unsigned char *p)
{
    uint32_t v = be32(p);
    int32_t ret;

    memcpy(&ret, &v, sizeof ret);
    return ret;
}

struct counts {
    uint32_t isut, isstd, leap, time, type, chars;
};

static bool take_header(struct cursor *c, unsigned char *ret_version, struct counts *ret)
{
    const unsigned char *h = take(c, HEADER_SIZE);

    if (!h || memcmp(h, "TZif", 4) != 0)
        return false;
    *ret_version = h[4];
    *ret = (struct counts){be32(h + 20), be32(h + 24), be32(h + 28),
                           be32(h + 32), be32(h + 36), be32(h + 40)};
    /* Everything that follows is smaller than the file, so sums below can't overflow. */
    return ret->isut <= TYPE_LIMIT && ret->isstd <= TYPE_LIMIT && ret->leap <= ZONE_FILE_LIMIT &&
           ret->time <= ZONE_TRANSITION_LIMIT && ret->type >= 1 && ret->type <= TYPE_LIMIT &&
           ret->chars >= 1 && ret->chars <= ABBREVIATIONS_LIMIT;
}

static enum status malformed(struct err *err, const char *name, const char *what)
{
    return err_set(err, ST_CORRUPT, "time zone file %s: %s", name, what);
}

static enum status parse_block(struct zone *z, struct cursor *c, const struct counts *n,
                               struct err *err)
{
    const unsigned char *times = take(c, (size_t)n->time * 8);
    const unsigned char *kinds = take(c, n->time);
    const unsigned char *types = take(c, (size_t)n->type * 6);
    const unsigned char *chars = take(c, n->chars);
    const unsigned char *rest = take(c, (size_t)n->isstd + n->isut);

    if (!times || !kinds || !types || !chars || !rest)
        return malformed(err, z->name, "it is cut short");
    z->n_types = n->type;
    for (size_t i = 0; i < n->type; i++) {
        const unsigned char *t = types + i * 6;
        struct local_type *lt = &z->types[i];
        size_t at = t[5];

        lt->offset_s = be32s(t);
        if (lt->offset_s <= -OFFSET_LIMIT_S || lt->offset_s >= OFFSET_LIMIT_S)
            return malformed(err, z->name, "an offset is more than a day");
        if (t[4] > 1)
            return malformed(err, z->name, "a daylight saving flag is neither 0 nor 1");
        lt->is_dst = t[4] == 1;
        if (at >= n->chars || !memchr(chars + at, 0, n->chars - at))
            return malformed(err, z->name, "an abbreviation does not end");
        for (size_t k = at, j = 0; chars[k]; k++, j++) {
            if (j + 1 >= ZONE_ABBREVIATION_SIZE || chars[k] < 0x20 || chars[k] > 0x7e)
                return malformed(err, z->name, "an abbreviation cannot be used");
            lt->abbreviation[j] = (char)chars[k];
        }
    }
    z->n_transitions = n->time;
    if (n->time) {
        z->transition_s = calloc(n->time, sizeof *z->transition_s);
        z->transition_type = calloc(n->time, sizeof *z->transition_type);
        if (!z->transition_s || !z->transition_type)
            return err_set(err, ST_NOMEM, "time zone %s", z->name);
    }
    for (size_t i = 0; i < n->time; i++) {
        z->transition_s[i] = be64s(times + i * 8);
        z->transition_type[i] = kinds[i];
        if (kinds[i] >= n->type)
            return malformed(err, z->name, "a transition names a type that is not there");
        if (i && z->transition_s[i] <= z->transition_s[i - 1])
            return malformed(err, z->name, "its transitions are not in order");
    }
    return ST_OK;
}

static enum status parse_footer(struct zone *z, struct cursor *c, struct err *err)
{
    const unsigned char *nl = take(c, 1);
    char text[FOOTER_LIMIT + 1];
    size_t n = 0;

    if (!nl || *nl != '\n')
        return malformed(err, z->name, "its footer is missing");
    for (;;) {
        const unsigned char *p = take(c, 1);
        if (!p)
            return malformed(err, z->name, "its footer does not end");
        if (*p == '\n')
            break;
        if (n == FOOTER_LIMIT || *p == 0)
            return malformed(err, z->name, "its footer cannot be used");
        text[n++] = (char)*p;
    }
    text[n] = '\0';
    if (!rule_parse(text, &z->rule))
        return malformed(err, z->name, "its footer is not a rule");
    return ST_OK;
}

enum status zone_parse(const char *name, const void *bytes, size_t n, struct zone **ret_zone,
                       struct err *err)
{
    struct cursor c = {.p = bytes, .left = n};
    struct counts counts;
    struct zone *z = NULL;
    unsigned char version = 0;
    enum status st = ST_OK;

    if (!zone_name_is_valid(name))
        return err_detail(err, REASON_UNKNOWN_ZONE, "refusal.zone_shape",
                          "a time zone is named like Europe/Berlin");
    z = calloc(1, sizeof *z);
    if (!z)
        return err_set(err, ST_NOMEM, "time zone %s", name);
    (void)str_copy(z->name, sizeof z->name, name);
    if (n > ZONE_FILE_LIMIT) {
        st = malformed(err, name, "it is too large");
        goto out;
    }
    if (!take_header(&c, &version, &counts)) {
        st = malformed(err, name, "it has no proper TZif header");
        goto out;
    }
    if (version < '2') {
        st = malformed(err, name, "it is of version 1, which ends in 2037");
        goto out;
    }
    /* The block of 4-byte times is for older readers. */
    if (!take(&c, (size_t)counts.time * 5 + (size_t)counts.type * 6 + counts.chars +
                      (size_t)counts.leap * 8 + counts.isstd + counts.isut)) {
        st = malformed(err, name, "it is cut short");
        goto out;
    }
    if (!take_header(&c, &version, &counts)) {
        st = malformed(err, name, "it has no proper second header");
        goto out;
    }
    if (counts.leap != 0) {
        st = malformed(err, name, "it counts leap seconds");
        goto out;
    }
    st = parse_block(z, &c, &counts, err);
    if (st != ST_OK)
        goto out;
    st = parse_footer(z, &c, err);
    if (st != ST_OK)
        goto out;
    *ret_zone = z;
    z = NULL;
out:
    zone_free(z);
    return st;
}

static enum status read_all(int fd, const char *name, unsigned char *buf, size_t size,
                            size_t *ret_n, struct err *err)
{
    size_t n = 0;

    while (n < size) {
        ssize_t got = read(fd, buf + n, size - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(err, ST_IO, "time zone file %s: %s", name, strerror(errno));
        if (got == 0)
            break;
        n += (size_t)got;
    }
    *ret_n = n;
    return ST_OK;
}

enum status zone_load(const char *dir, const char *name, struct zone **ret_zone, struct err *err)
{
    unsigned char *buf = NULL;
    char path[4096];
    struct stat info;
    enum status st = ST_OK;
    size_t n = 0;
    int fd = -1;

    if (!zone_name_is_valid(name))
        return err_detail(err, REASON_UNKNOWN_ZONE, "refusal.zone_shape",
                          "a time zone is named like Europe/Berlin");
    int len = snprintf(path, sizeof path, "%s/%s", dir ? dir : ZONE_DIR, name);
    if (len < 0 || (size_t)len >= sizeof path)
        return err_set(err, ST_INVALID, "the directory of time zones has too long a name");
    /* O_NONBLOCK: were it a FIFO, opening it would wait for ever. */
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return ERR_DETAIL(err, REASON_UNKNOWN_ZONE, "refusal.no_zone",
                              "there is no time zone {zone}", ERR_TEXT("zone", name));
        return err_set(err, ST_IO, "time zone file %s: %s", name, strerror(errno));
    }
    if (fstat(fd, &info) != 0) {
        st = err_set(err, ST_IO, "time zone file %s: %s", name, strerror(errno));
        goto out;
    }
    if (!S_ISREG(info.st_mode)) { /* "Europe" is a directory */
        st = ERR_DETAIL(err, REASON_UNKNOWN_ZONE, "refusal.no_zone", "there is no time zone {zone}",
                        ERR_TEXT("zone", name));
        goto out;
    }
    buf = malloc(ZONE_FILE_LIMIT + 1);
    if (!buf) {
        st = err_set(err, ST_NOMEM, "time zone %s", name);
        goto out;
    }
    st = read_all(fd, name, buf, ZONE_FILE_LIMIT + 1, &n, err);
    if (st == ST_OK)
        st = zone_parse(name, buf, n, ret_zone, err);
out:
    free(buf);
    (void)close(fd);
    return st;
}

void zone_free(struct zone *zone)
{
    if (!zone)
        return;
    free(zone->transition_s);
    free(zone->transition_type);
    free(zone);
}

const char *zone_name(const struct zone *zone)
{
    return zone->name;
}

/* ------------------------------------------------------------------ looking up */

static int64_t floor_s(int64_t ms)
{
    int64_t s = ms / MS_SECOND;

    return ms % MS_SECOND < 0 ? s - 1 : s;
}

static int64_t clamp_s(int64_t s)
{
    return s < AT_MIN_S ? AT_MIN_S : s > AT_MAX_S ? AT_MAX_S : s;
}

static const struct local_type *rule_type(const struct posix_rule *r, int64_t at_s)
{
    if (!r->has_dst)
        return &r->std;
    /* The year on the wall of standard time decides which year's changes are asked. */
    int year = civil_from_ms((at_s + r->std.offset_s) * MS_SECOND).year;
    int64_t starts = change_at_s(&r->starts, year, r->std.offset_s);
    int64_t ends = change_at_s(&r->ends, year, r->dst.offset_s);
    bool dst = starts < ends ? at_s >= starts && at_s < ends : !(at_s >= ends && at_s < starts);
    return dst ? &r->dst : &r->std;
}

/* How many transitions are at or before at_s. */
static size_t transitions_until(const struct zone *z, int64_t at_s)
{
    size_t lo = 0, hi = z->n_transitions;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (z->transition_s[mid] <= at_s)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static const struct local_type *type_at(const struct zone *z, int64_t at_s)
{
    size_t n = transitions_until(z, at_s);

    if (z->rule.is_there && n == z->n_transitions)
        return rule_type(&z->rule, at_s);
    return n ? &z->types[z->transition_type[n - 1]] : &z->types[0];
}

struct zone_moment zone_moment(const struct zone *zone, utc_ms at)
{
    const struct local_type *t = type_at(zone, clamp_s(floor_s(at)));
    struct zone_moment m = {.offset_s = t->offset_s, .is_dst = t->is_dst};

    /* Clamp first, so that the sum can't overflow. */
    utc_ms min = AT_MIN_S * MS_SECOND, max = AT_MAX_S * MS_SECOND + 999;
    m.local = civil_from_ms((at < min ? min : at > max ? max : at) + t->offset_s * MS_SECOND);
    (void)str_copy(m.abbreviation, sizeof m.abbreviation, t->abbreviation);
    return m;
}

void zone_offset_format(int32_t offset_s, char ret[ZONE_OFFSET_SIZE])
{
    unsigned s = (unsigned)(offset_s < 0 ? -offset_s : offset_s) % (100u * 3600u);
    char sign = offset_s < 0 ? '-' : '+';

    if (s % 60)
        (void)snprintf(ret, ZONE_OFFSET_SIZE, "%c%02u:%02u:%02u", sign, s / 3600, s / 60 % 60,
                       s % 60);
    else
        (void)snprintf(ret, ZONE_OFFSET_SIZE, "%c%02u:%02u", sign, s / 3600, s / 60 % 60);
}

static bool same_type(const struct local_type *a, const struct local_type *b)
{
    return a->offset_s == b->offset_s && a->is_dst == b->is_dst &&
           strcmp(a->abbreviation, b->abbreviation) == 0;
}

bool zone_next_change(const struct zone *zone, utc_ms at, utc_ms *ret_at)
{
    int64_t at_s = clamp_s(floor_s(at));
    const struct local_type *now = type_at(zone, at_s);

    for (size_t i = transitions_until(zone, at_s); i < zone->n_transitions; i++) {
        int64_t t = zone->transition_s[i];
        if (t > AT_MAX_S)
            return false;
        if (!same_type(now, type_at(zone, t))) {
            *ret_at = t * MS_SECOND;
            return true;
        }
    }
    const struct posix_rule *r = &zone->rule;
    if (!r->is_there || !r->has_dst)
        return false;
    int64_t from = at_s; /* the rule is not asked before the last listed transition */
    if (zone->n_transitions && zone->transition_s[zone->n_transitions - 1] > from)
        from = clamp_s(zone->transition_s[zone->n_transitions - 1]);
    int year = civil_from_ms(from * MS_SECOND).year;
    /* A rule changes twice a year, unless daylight saving time never ends; the years on both
     * sides are looked at because of the offset. */
    int64_t best = INT64_MAX;
    for (int y = year - 1; y <= year + 1; y++) {
        int64_t changes[2] = {change_at_s(&r->starts, y, r->std.offset_s),
                              change_at_s(&r->ends, y, r->dst.offset_s)};
        for (int k = 0; k < 2; k++) {
            if (changes[k] > at_s && changes[k] >= from && changes[k] < best &&
                !same_type(now, type_at(zone, changes[k])))
                best = changes[k];
        }
    }
    if (best > AT_MAX_S)
        return false;
    *ret_at = best * MS_SECOND;
    return true;
}

struct zone_instants zone_to_utc(const struct zone *zone, struct civil civil)
{
    int64_t local_ms = civil_to_ms(civil);
    utc_ms start = local_ms - 2 * MS_DAY, end = local_ms + 2 * MS_DAY, at = start;
    struct zone_instants ret = {.fit = ZONE_SKIPPED};
    int32_t offset_s = type_at(zone, clamp_s(floor_s(start)))->offset_s;
    bool found = false;

    /* Walk over the stretches of one offset that could show this time.  No offset is a day or
     * more away from UTC by much, so two days on either side hold them all. */
    for (;;) {
        utc_ms next = UTC_NONE;
        bool more = zone_next_change(zone, at, &next) && next <= end;
        utc_ms hit = local_ms - offset_s * MS_SECOND;

        if (hit >= at && (!more || hit < next)) {
            if (!found) {
                ret = (struct zone_instants){ZONE_ONCE, hit, hit};
                found = true;
            } else if (hit != ret.later_at) {
                ret.fit = ZONE_TWICE;
                ret.later_at = hit;
            }
        }
        if (!more)
            break;
        int32_t after_s = type_at(zone, floor_s(next))->offset_s;
        if (!found && next + offset_s * MS_SECOND <= local_ms &&
            local_ms < next + after_s * MS_SECOND) {
            ret.earlier_at = local_ms - after_s * MS_SECOND;
            ret.later_at = hit;
            break;
        }
        at = next;
        offset_s = after_s;
    }
    return ret;
}

/* ------------------------------------------------------------------ the cache */

struct zone_cache {
    pthread_mutex_t lock;
    char *dir; /* NULL: ZONE_DIR */
    size_t n;
    struct zone *zones[ZONE_CACHE_LIMIT]; /* sorted by name */
};

struct zone_cache *zone_cache_new(const char *dir)
{
    struct zone_cache *cache = calloc(1, sizeof *cache);

    if (!cache)
        return NULL;
    cache->dir = str_dup(dir);
    if ((dir && !cache->dir) || pthread_mutex_init(&cache->lock, NULL) != 0) {
        free(cache->dir);
        free(cache);
        return NULL;
    }
    return cache;
}

void zone_cache_free(struct zone_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->n; i++)
        zone_free(cache->zones[i]);
    (void)pthread_mutex_destroy(&cache->lock);
    free(cache->dir);
    free(cache);
}

enum status zone_cache_get(struct zone_cache *cache, const char *name,
                           const struct zone **ret_zone, struct err *err)
{
    struct zone *zone = NULL;
    enum status st = ST_OK;
    size_t lo = 0, hi;

    (void)pthread_mutex_lock(&cache->lock);
    for (hi = cache->n; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        if (strcmp(cache->zones[mid]->name, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < cache->n && strcmp(cache->zones[lo]->name, name) == 0) {
        *ret_zone = cache->zones[lo];
        goto out;
    }
    if (cache->n == ZONE_CACHE_LIMIT) {
        st = err_detail(err, REASON_BUSY, "refusal.zones_many", "too many time zones are in use");
        goto out;
    }
    st = zone_load(cache->dir, name, &zone, err);
    if (st != ST_OK)
        goto out;
    memmove(cache->zones + lo + 1, cache->zones + lo, (cache->n - lo) * sizeof cache->zones[0]);
    cache->zones[lo] = zone;
    cache->n++;
    *ret_zone = zone;
out:
    (void)pthread_mutex_unlock(&cache->lock);
    return st;
}

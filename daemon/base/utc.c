#include "base/utc.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Days from 1970-01-01 to the first day of the given month; months count on from March so that
 * the leap day ends a year. */
static int64_t days_from_civil(int64_t y, int64_t m, int64_t d)
{
    y += (m - 1 >= 0 ? (m - 1) / 12 : -((12 - m) / 12)); /* carry months out of 1…12 */
    m = ((m - 1) % 12 + 12) % 12 + 1;
    if (m <= 2)
        y--;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5;
    int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468 + d - 1;
}

#define CIVIL_MIN (INT64_C(-62167219200000)) /* 0000-01-01 */
#define CIVIL_MAX (INT64_C(253402300799999)) /* 9999-12-31T23:59:59.999 */

struct civil civil_from_ms(int64_t local_ms)
{
    struct civil c;

    if (local_ms < CIVIL_MIN)
        local_ms = CIVIL_MIN;
    if (local_ms > CIVIL_MAX)
        local_ms = CIVIL_MAX;
    int64_t days = local_ms / MS_DAY;
    int64_t rest = local_ms % MS_DAY;
    if (rest < 0) {
        rest += MS_DAY;
        days--;
    }
    int64_t z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;
    c.day = (int)(doy - (153 * mp + 2) / 5 + 1);
    c.month = (int)(mp < 10 ? mp + 3 : mp - 9);
    c.year = (int)(yoe + era * 400 + (c.month <= 2 ? 1 : 0));
    c.hour = (int)(rest / MS_HOUR);
    c.minute = (int)(rest / MS_MINUTE % 60);
    c.second = (int)(rest / MS_SECOND % 60);
    c.ms = (int)(rest % MS_SECOND);
    c.weekday = (int)(((days + 3) % 7 + 7) % 7); /* 1970-01-01 was a Thursday */
    return c;
}

int64_t civil_to_ms(struct civil c)
{
    return days_from_civil(c.year, c.month, 1) * MS_DAY + (int64_t)(c.day - 1) * MS_DAY +
           (int64_t)c.hour * MS_HOUR + (int64_t)c.minute * MS_MINUTE +
           (int64_t)c.second * MS_SECOND + c.ms;
}

void utc_format(utc_ms at, char ret_text[UTC_TEXT_SIZE])
{
    struct civil c = civil_from_ms(at);

    (void)snprintf(ret_text, UTC_TEXT_SIZE, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
                   (unsigned)c.year % 10000u, (unsigned)c.month % 100u, (unsigned)c.day % 100u,
                   (unsigned)c.hour % 100u, (unsigned)c.minute % 100u, (unsigned)c.second % 100u,
                   (unsigned)c.ms % 1000u);
}

static bool digits(const char **p, int n, int *ret)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        if ((*p)[i] < '0' || (*p)[i] > '9')
            return false;
        value = value * 10 + ((*p)[i] - '0');
    }
    *p += n;
    *ret = value;
    return true;
}

static bool literal(const char **p, char a, char b)
{
    if (**p != a && **p != b)
        return false;
    (*p)++;
    return true;
}

/* "2026-11-29T19:28:13" */
static bool read_seconds(const char **p, struct civil *c)
{
    return digits(p, 4, &c->year) && literal(p, '-', '-') && digits(p, 2, &c->month) &&
           literal(p, '-', '-') && digits(p, 2, &c->day) && literal(p, 'T', 't') &&
           digits(p, 2, &c->hour) && literal(p, ':', ':') && digits(p, 2, &c->minute) &&
           literal(p, ':', ':') && digits(p, 2, &c->second);
}

/* ".25", or nothing; what is finer than a millisecond is passed over. */
static bool read_fraction(const char **p, struct civil *c)
{
    if (!literal(p, '.', '.'))
        return true;
    if (**p < '0' || **p > '9')
        return false;
    for (int scale = 100; **p >= '0' && **p <= '9'; (*p)++, scale /= 10)
        c->ms += (**p - '0') * scale;
    return true;
}

/* "Z", "+02:00" */
static bool read_offset(const char **p, int64_t *ret_ms)
{
    int sign, hours, minutes;

    if (literal(p, 'Z', 'z')) {
        *ret_ms = 0;
        return true;
    }
    sign = **p == '-' ? -1 : 1;
    if (!literal(p, '+', '-') || !digits(p, 2, &hours) || !literal(p, ':', ':') ||
        !digits(p, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *ret_ms = sign * (hours * MS_HOUR + minutes * MS_MINUTE);
    return true;
}

/* Is there such a date, and such a time? */
static bool civil_is_real(struct civil c)
{
    struct civil back;

    if (c.month < 1 || c.month > 12 || c.day < 1 || c.hour > 23 || c.minute > 59 || c.second > 59)
        return false;
    back = civil_from_ms(civil_to_ms(c));
    return back.day == c.day && back.month == c.month; /* else 31 June */
}

enum status utc_parse(const char *text, utc_ms *ret_at, struct err *err)
{
    struct civil c = {0};
    const char *p = text;
    int64_t offset_ms;

    if (!read_seconds(&p, &c) || !read_fraction(&p, &c) || !read_offset(&p, &offset_ms) || *p ||
        !civil_is_real(c))
        return err_reason(err, REASON_BAD_FIELD,
                          "\"%.40s\" is not an instant such as 2026-11-29T19:28:13Z", text);
    *ret_at = civil_to_ms(c) - offset_ms;
    return ST_OK;
}

static const struct {
    const char *name;
    int64_t ms;
} UNITS[] = {{"ms", 1}, {"s", MS_SECOND}, {"m", MS_MINUTE}, {"h", MS_HOUR}, {"d", MS_DAY}};
enum { N_UNITS = sizeof UNITS / sizeof UNITS[0] };

enum status length_parse(const char *text, int64_t *ret_ms, struct err *err)
{
    const int64_t most = LENGTH_DAYS_MAX * MS_DAY;
    int64_t sum = 0;
    bool is_too_long = false;
    const char *p = text;

    while (*p == ' ')
        p++;
    if (!*p)
        goto bad;
    while (*p) {
        int64_t n = 0;
        size_t unit_len = 0, u;
        if (*p < '0' || *p > '9')
            goto bad;
        for (; *p >= '0' && *p <= '9'; p++) {
            n = n * 10 + (*p - '0');
            if (n > most)
                n = most + 1; /* too long, in whatever unit */
        }
        while (p[unit_len] >= 'a' && p[unit_len] <= 'z')
            unit_len++;
        for (u = 0; u < N_UNITS; u++)
            if (strlen(UNITS[u].name) == unit_len && !strncmp(UNITS[u].name, p, unit_len))
                break;
        if (u == N_UNITS)
            goto bad;
        if (n > (most - sum) / UNITS[u].ms)
            is_too_long = true;
        else
            sum += n * UNITS[u].ms;
        p += unit_len;
        while (*p == ' ')
            p++;
    }
    if (is_too_long)
        return err_reason(err, REASON_BAD_FIELD, "\"%.40s\" is longer than %dd", text,
                          LENGTH_DAYS_MAX);
    *ret_ms = sum;
    return ST_OK;
bad:
    return err_reason(err, REASON_BAD_FIELD,
                      "\"%.40s\" is not a length of time such as \"14d\", \"12h\" or \"90m\"",
                      text);
}

void length_format(int64_t length_ms, char *ret_text, size_t size)
{
    const char *sign = length_ms < 0 ? "-" : "";
    uint64_t left = length_ms < 0 ? (uint64_t)0 - (uint64_t)length_ms : (uint64_t)length_ms;

    for (size_t u = N_UNITS; u-- > 1;) {
        uint64_t unit = (uint64_t)UNITS[u].ms;
        if (left < unit)
            continue;
        uint64_t big = left / unit, small = left % unit / (uint64_t)UNITS[u - 1].ms;
        if (u > 1 && small)
            (void)snprintf(ret_text, size, "%s%" PRIu64 "%s %" PRIu64 "%s", sign, big,
                           UNITS[u].name, small, UNITS[u - 1].name);
        else
            (void)snprintf(ret_text, size, "%s%" PRIu64 "%s", sign, big, UNITS[u].name);
        return;
    }
    (void)snprintf(ret_text, size, "0s");
}

#include "clock/deadline.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGE_MAX INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */

const char *deadline_item_slug(enum deadline_item_kind kind)
{
    static const char *const slugs[] = {
#define X(name, slug) slug,
        DEADLINE_ITEM_LIST(X)
#undef X
    };
    return kind >= 0 && kind < DEADLINE_KIND_COUNT_ ? slugs[kind] : "?";
}

const char *deadline_alarm_slug(enum deadline_alarm alarm)
{
    static const char *const slugs[] = {
#define X(name, slug) slug,
        DEADLINE_ALARM_LIST(X)
#undef X
    };
    return alarm >= 0 && alarm < ALARM_COUNT_ ? slugs[alarm] : "?";
}

static bool in_range(int64_t ms)
{
    return ms >= -RANGE_MAX && ms <= RANGE_MAX;
}

/* An item of its own, or, when the list is full, added to the last one of its kind. */
static void add_item(struct deadline *d, enum deadline_item_kind kind, utc_ms at,
                     int64_t amount_ms, int64_t ref)
{
    if (d->n_items < DEADLINE_ITEM_LIMIT - DEADLINE_KIND_COUNT_) {
        d->items[d->n_items++] = (struct deadline_item){kind, at, amount_ms, ref};
        return;
    }
    for (size_t i = d->n_items; i-- > 0;) {
        if (d->items[i].kind == kind) {
            d->items[i].amount_ms += amount_ms;
            d->items[i].at = at;
            d->items[i].ref = ref;
            return;
        }
    }
    d->items[d->n_items++] = (struct deadline_item){kind, at, amount_ms, ref};
}

/* A fact that has been read is an item, or changes what the clock does.  *ret_add: by how much the
 * deadline moves. */
static enum status add_fact(struct deadline *d, const struct deadline_fact *f, size_t i,
                            utc_ms *paused_at, int64_t *ret_add, struct err *err)
{
    enum deadline_item_kind kind = DEADLINE_CREDIT;
    utc_ms at = f->at;
    int64_t add = f->amount_ms;

    *ret_add = 0;
    switch (f->kind) {
    case FACT_PAUSED:
        if (*paused_at != UTC_NONE)
            return err_set(err, ST_INVALID, "deadline: paused twice (fact %zu)", i);
        *paused_at = f->at;
        return ST_OK;
    case FACT_RESUMED:
        if (*paused_at == UTC_NONE)
            return err_set(err, ST_INVALID, "deadline: resumed without a pause (fact %zu)", i);
        kind = DEADLINE_PAUSE;
        at = *paused_at;
        add = f->at - *paused_at;
        *paused_at = UTC_NONE;
        break;
    case FACT_OUTAGE:
        if (*paused_at != UTC_NONE) /* the clock stood */
            return ST_OK;
        kind = DEADLINE_OUTAGE;
        break;
    case FACT_CREDIT:
        kind = DEADLINE_CREDIT;
        break;
    case FACT_DELIVERY:
        kind = DEADLINE_DELIVERY;
        break;
    case FACT_HELD:
        kind = DEADLINE_HELD;
        break;
    }
    add_item(d, kind, at, add, f->ref);
    *ret_add = add;
    return ST_OK;
}

enum status deadline_compute(const struct deadline_turn *turn, struct deadline *ret,
                             struct err *err)
{
    struct deadline d = {.is_paused = false};
    utc_ms paused_at = UTC_NONE, before = turn->start_at;
    int64_t end = 0;

    assert(turn->budget_ms > 0 && turn->grace_ms >= 0);
    if (turn->start_at < 0 || !in_range(turn->start_at) || !in_range(turn->budget_ms) ||
        !in_range(turn->grace_ms))
        return err_set(err, ST_INVALID, "deadline: the turn's start or length is out of range");
    add_item(&d, DEADLINE_START, turn->start_at, 0, 0);
    add_item(&d, DEADLINE_BUDGET, turn->start_at, turn->budget_ms, 0);
    end = turn->start_at + turn->budget_ms;
    for (size_t i = 0; i < turn->n_facts; i++) {
        const struct deadline_fact *f = &turn->facts[i];
        int64_t add;

        if (f->at < before || !in_range(f->at) || !in_range(f->amount_ms))
            return err_set(err, ST_INVALID, "deadline: fact %zu is out of order or range", i);
        before = f->at;
        TRY(add_fact(&d, f, i, &paused_at, &add, err));
        end += add;
        if (end < 0 || !in_range(end) || !in_range(end + turn->grace_ms))
            return err_set(err, ST_INVALID, "deadline: the sum is out of range");
    }
    if (end + turn->grace_ms > RANGE_MAX)
        return err_set(err, ST_INVALID, "deadline: the sum is out of range");
    d.is_paused = paused_at != UTC_NONE;
    d.deadline_at = d.is_paused ? UTC_NONE : end;
    d.grace_until = d.is_paused ? UTC_NONE : end + turn->grace_ms;
    d.left_ms = d.is_paused ? end - paused_at : 0;
    *ret = d;
    return ST_OK;
}

void deadline_format_items(const struct deadline *deadline, char ret_text[DEADLINE_TEXT_SIZE])
{
    size_t len = 0;

    ret_text[0] = '\0';
    for (size_t i = 0; i < deadline->n_items; i++) {
        const struct deadline_item *it = &deadline->items[i];
        int n = snprintf(ret_text + len, DEADLINE_TEXT_SIZE - len,
                         "%s%s %" PRId64 " %" PRId64 " %" PRId64, i ? ";" : "",
                         deadline_item_slug(it->kind), it->at, it->amount_ms, it->ref);
        assert(n > 0 && (size_t)n < DEADLINE_TEXT_SIZE - len); /* 80 bytes an item always suffice */
        len += (size_t)n;
    }
}

static bool take_number(const char **p, int64_t *ret)
{
    char *end = NULL;

    if (**p != ' ')
        return false;
    (*p)++;
    if (**p != '-' && (**p < '0' || **p > '9'))
        return false;
    errno = 0;
    long long value = strtoll(*p, &end, 10);
    if (errno != 0 || end == *p)
        return false;
    *p = end;
    *ret = value;
    return true;
}

enum status deadline_parse_items(const char *text, int64_t grace_ms, utc_ms paused_at,
                                 struct deadline *ret, struct err *err)
{
    struct deadline d = {.is_paused = paused_at != UTC_NONE};
    const char *p = text;
    int64_t end = 0;

    for (;;) {
        struct deadline_item it;
        size_t len = strcspn(p, " ;");
        int kind = 0;

        while (kind < DEADLINE_KIND_COUNT_ &&
               !(strlen(deadline_item_slug((enum deadline_item_kind)kind)) == len &&
                 strncmp(deadline_item_slug((enum deadline_item_kind)kind), p, len) == 0))
            kind++;
        p += len;
        if (kind == DEADLINE_KIND_COUNT_ || d.n_items == DEADLINE_ITEM_LIMIT ||
            (kind == DEADLINE_START) != (d.n_items == 0) || !take_number(&p, &it.at) ||
            !take_number(&p, &it.amount_ms) || !take_number(&p, &it.ref) ||
            !in_range(it.at) || !in_range(it.amount_ms))
            return err_set(err, ST_INVALID, "deadline: the explanation cannot be read");
        it.kind = (enum deadline_item_kind)kind;
        end += it.kind == DEADLINE_START ? it.at : it.amount_ms;
        if (!in_range(end))
            return err_set(err, ST_INVALID, "deadline: the explanation's sum is out of range");
        d.items[d.n_items++] = it;
        if (*p == '\0')
            break;
        if (*p++ != ';')
            return err_set(err, ST_INVALID, "deadline: the explanation cannot be read");
    }
    d.deadline_at = d.is_paused ? UTC_NONE : end;
    d.grace_until = d.is_paused ? UTC_NONE : end + grace_ms;
    d.left_ms = d.is_paused ? end - paused_at : 0;
    *ret = d;
    return ST_OK;
}

void deadline_alarms(const struct deadline *deadline, utc_ms ret_at[ALARM_COUNT_])
{
    assert(deadline->n_items > 0 && deadline->items[0].kind == DEADLINE_START);
    utc_ms start = deadline->items[0].at, end = deadline->deadline_at;

    for (int i = 0; i < ALARM_COUNT_; i++)
        ret_at[i] = UTC_NONE;
    if (deadline->is_paused)
        return;
    ret_at[ALARM_HALF] = start + (end - start) / 2;
    ret_at[ALARM_TWO_DAYS] = end - 48 * MS_HOUR;
    ret_at[ALARM_HALF_DAY] = end - 12 * MS_HOUR;
    utc_ms half = ret_at[ALARM_HALF];
    for (int i = ALARM_HALF; i <= ALARM_HALF_DAY; i++) {
        if (ret_at[i] <= start || ret_at[i] >= end)
            ret_at[i] = UTC_NONE;
        for (int k = ALARM_HALF; k < i; k++) {
            if (ret_at[k] == ret_at[i])
                ret_at[i] = UTC_NONE;
        }
    }
    ret_at[ALARM_ORGANISER] = deadline->grace_until - 24 * MS_HOUR;
    if (ret_at[ALARM_ORGANISER] <= start)
        ret_at[ALARM_ORGANISER] = half;
    ret_at[ALARM_END] = deadline->grace_until + 1;
}

/* notify/hold.c - see hold.h. */
#include "notify/hold.h"

#include <string.h>

#include "base/str.h"

/* How long a letter waits for the one that probes. */
#define PROBE_WAIT_MS MS_MINUTE

static void domain_of(const char *address, char ret[HOLD_DOMAIN_SIZE])
{
    const char *at = strrchr(address, '@');

    (void)str_copy(ret, HOLD_DOMAIN_SIZE, at != NULL ? at + 1 : address);
    for (char *p = ret; *p != '\0'; p++)
        *p = char_lower(*p);
}

static struct hold *find(struct holds *h, enum notice_class cls, const char *domain)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->at[i].cls == cls && str_eq(h->at[i].domain, domain))
            return &h->at[i];
    return NULL;
}

static void drop(struct holds *h, struct hold *hold)
{
    if (hold == NULL)
        return;
    *hold = h->at[--h->count];
    h->is_changed = true;
}

/* A new one; the one that ends first gives way when there are too many. */
static struct hold *add(struct holds *h, enum notice_class cls, const char *domain)
{
    struct hold *hold = &h->at[0];

    if (h->count < HOLDS_MAX)
        hold = &h->at[h->count++];
    else
        for (size_t i = 1; i < h->count; i++)
            if (h->at[i].until < hold->until)
                hold = &h->at[i];
    memset(hold, 0, sizeof *hold);
    hold->cls = cls;
    (void)str_copy(hold->domain, sizeof hold->domain, domain);
    return hold;
}

static utc_ms wait_for(const struct hold *hold, utc_ms now)
{
    if (hold == NULL)
        return UTC_NONE;
    if (now < hold->until)
        return hold->until;
    return hold->is_probing ? now + PROBE_WAIT_MS : UTC_NONE;
}

utc_ms holds_until(struct holds *h, enum notice_class cls, const char *address, utc_ms now)
{
    char domain[HOLD_DOMAIN_SIZE];
    struct hold *one, *whole;
    utc_ms a, b;

    domain_of(address, domain);
    one = find(h, cls, domain);
    whole = find(h, cls, "");
    a = wait_for(one, now);
    b = wait_for(whole, now);
    if (a != UTC_NONE || b != UTC_NONE)
        return b == UTC_NONE || (a != UTC_NONE && a > b) ? a : b;
    if (one != NULL)
        one->is_probing = true;
    if (whole != NULL)
        whole->is_probing = true;
    return UTC_NONE;
}

/* Make it, or make it longer; false: it began while the letter was under way. */
static bool extend(struct hold *hold, utc_ms now)
{
    if (hold->ms != 0 && now < hold->until)
        return false;
    hold->ms = hold->ms == 0 ? HOLD_FIRST_MS : 2 * hold->ms;
    if (hold->ms > HOLD_LONGEST_MS)
        hold->ms = HOLD_LONGEST_MS;
    hold->until = now + hold->ms;
    hold->is_probing = false;
    return true;
}

bool holds_refused(struct holds *h, enum notice_class cls, const char *address, utc_ms now,
                   struct hold *ret_hold)
{
    char domain[HOLD_DOMAIN_SIZE];
    struct hold *one, *whole;
    bool is_new, others = false;

    domain_of(address, domain);
    for (size_t i = 0; i < h->count; i++)
        others |= h->at[i].cls == cls && !str_eq(h->at[i].domain, domain) &&
                  now - h->at[i].until < HOLD_LONGEST_MS; /* not an old story */
    one = find(h, cls, domain);
    if (one == NULL)
        one = add(h, cls, domain);
    is_new = extend(one, now);
    h->is_changed |= is_new;
    *ret_hold = *one;
    if (!others)
        return is_new;
    whole = find(h, cls, "");
    if (whole == NULL)
        whole = add(h, cls, "");
    if (!extend(whole, now))
        return is_new;
    h->is_changed = true;
    *ret_hold = *whole;
    return true;
}

void holds_passed(struct holds *h, enum notice_class cls, const char *address)
{
    char domain[HOLD_DOMAIN_SIZE];

    domain_of(address, domain);
    drop(h, find(h, cls, domain));
    drop(h, find(h, cls, ""));
}

void holds_left(struct holds *h, enum notice_class cls, const char *address)
{
    char domain[HOLD_DOMAIN_SIZE];
    struct hold *one, *whole;

    domain_of(address, domain);
    one = find(h, cls, domain);
    whole = find(h, cls, "");
    if (one != NULL)
        one->is_probing = false;
    if (whole != NULL)
        whole->is_probing = false;
}

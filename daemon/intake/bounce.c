#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "intake/internal.h"

enum { SOFT_LIMIT = 3 }; /* days on which a soft failure must come to suspend an address */

/* ------------------------------------------------------------------- whose failure it is */

/* What a report's group says about the address that the letter went to. */
enum about {
    ABOUT_OTHERS,  /* Original-Recipient names another one */
    ABOUT_HIS_NEXT, /* only Final-Recipient does: he forwards his mail there */
    ABOUT_NOBODY,  /* no address is named: the return path tells whose letter it was */
    ABOUT_HIM
};

/* "%2B" of RFC 3461's xtext is "+2B"; whether addr, as it stands or so decoded, is key. */
static bool is_address(const char *addr, const char *key)
{
    char folded[ADDRESS_MAX + 1], plain[ADDRESS_MAX + 1];
    size_t n = 0;

    if (strlen(addr) > ADDRESS_MAX)
        return false;
    address_fold(addr, folded);
    if (str_eq(folded, key))
        return true;
    for (const char *p = addr; *p; p++) {
        int high = *p == '+' ? hex_value(p[1]) : -1, low = high >= 0 ? hex_value(p[2]) : -1;

        plain[n++] = low >= 0 ? (char)(high * 16 + low) : *p;
        p += low >= 0 ? 2 : 0;
    }
    plain[n] = '\0';
    if (strlen(plain) != n)
        return false;
    address_fold(plain, folded);
    return str_eq(folded, key);
}

static enum about about_whom(const struct report_recipient *r, const char *key)
{
    bool has_original = strchr(r->original_recipient, '@') != NULL;
    bool has_final = strchr(r->final_recipient, '@') != NULL;

    if (is_address(r->original_recipient, key) || is_address(r->final_recipient, key))
        return ABOUT_HIM;
    return has_original ? ABOUT_OTHERS : has_final ? ABOUT_HIS_NEXT : ABOUT_NOBODY;
}

/* The heaviest blame of what the report says about the letter's addressee, and where; *ret_about
 * is ABOUT_OTHERS when it says nothing about him.  What is said of him by name stands before what
 * may mean him.  The address behind a forwarding is not his, so that it does not exist is no word
 * against his: but letters get lost there, which counts as a failure that may pass. */
static enum report_blame blame_of(const struct report *report, const char *key, size_t *ret_which,
                                  enum about *ret_about)
{
    enum report_blame worst = REPORT_BLAME_NOTHING;
    enum about about = ABOUT_OTHERS;

    *ret_which = SIZE_MAX;
    for (size_t i = 0; i < report->recipient_count; i++) {
        const struct report_recipient *r = &report->recipients[i];
        enum about here = about_whom(r, key);
        enum report_blame blame = here == ABOUT_HIS_NEXT && r->blame == REPORT_BLAME_ADDRESS
                                      ? REPORT_BLAME_SOFT
                                      : r->blame;

        if (here == ABOUT_OTHERS || (about == ABOUT_HIM && here != ABOUT_HIM))
            continue;
        if ((here == ABOUT_HIM && about != ABOUT_HIM) || blame > worst) {
            worst = blame;
            *ret_which = blame > REPORT_BLAME_NOTHING ? i : SIZE_MAX;
        }
        about = here > about ? here : about;
    }
    *ret_about = about;
    return worst;
}

/* ------------------------------------------------------------------- what comes of it */

/* key: the address that the letter went to. */
static enum status blame(struct act *a, const struct intent_row *intent, const char *key,
                         const struct report_recipient *of, bool is_hard, const char **ret_reason,
                         struct err *err)
{
    const struct intake_hooks *hooks = &a->options->hooks;
    struct user_row *user = &a->sender.user;
    char text[BOUNCE_TEXT_SIZE];
    bool suspended = false;
    enum status counted;

    TRY(users_get(a->conn, intent->user_id, user, err));
    if (!str_eq(key, user->address_key)) { /* he has changed it since */
        *ret_reason = "other_address";
        return ST_OK;
    }
    /* Its code stands in the letter's Return-Path: who has seen it must not use it twice. */
    counted = outbox_bounced(a->txn, intent->id, a->now, err);
    if (counted == ST_CONFLICT) {
        *ret_reason = "counted_already";
        return ST_OK;
    }
    TRY(counted);
    (void)str_copy(text, sizeof text, of->diagnostic[0] ? of->diagnostic : of->status);
    TRY(users_bounce(a->txn, user->id, is_hard, SOFT_LIMIT, text, a->now, &suspended, err));
    *ret_reason = suspended ? "suspended" : is_hard ? "hard" : "soft";
    if (suspended && hooks->on_suspended)
        return hooks->on_suspended(a->txn, user->id, a->now, hooks->arg, err);
    return ST_OK;
}

enum status judge_bounce(struct act *a, const char **ret_reason, int64_t *ret_user_id,
                         struct err *err)
{
    const struct intake_hooks *hooks = &a->options->hooks;
    const struct reading *r = a->reading;
    struct intent_row intent = INTENT_ROW_INIT;
    char local[ADDRESS_SIZE], key[ADDRESS_MAX + 1] = "", *at;
    int64_t id = 0;
    struct report_recipient complaint = {.diagnostic = "complaint"};
    size_t which = SIZE_MAX;
    enum about about = ABOUT_OTHERS;
    enum report_blame worst;
    enum report_kind kind;
    enum status st;

    (void)str_copy(local, sizeof local, r->row.recipient);
    at = strrchr(local, '@');
    if (at)
        *at = '\0';
    st = hooks->bounce_read ? hooks->bounce_read(hooks->arg, local, &id, err) : ST_GONE;
    if (st == ST_GONE || st == ST_NOT_FOUND) { /* P25: anybody can write to a bounce address */
        *ret_reason = "bad_mac";
        return ST_OK;
    }
    if (st != ST_OK)
        return st;
    /* P24: a vacation reply, or anything else that is no report of ours, says nothing. */
    kind = r->has_letter && r->letter->has_report ? r->letter->report.kind : REPORT_OTHER;
    if (kind != REPORT_DELIVERY && kind != REPORT_FEEDBACK) {
        *ret_reason = "no_report";
        return ST_OK;
    }
    st = outbox_get(a->conn, id, &intent, err);
    if (st == ST_NOT_FOUND) {
        *ret_reason = "unknown_letter";
        return ST_OK;
    }
    if (st != ST_OK)
        return st;
    if (strlen(intent.envelope_to) <= ADDRESS_MAX)
        address_fold(intent.envelope_to, key);
    worst = blame_of(&r->letter->report, key, &which, &about);
    trace(a, "a delivery report about letter %lld: %s\n", (long long)id,
          about == ABOUT_OTHERS && report_worst(&r->letter->report, NULL) > REPORT_BLAME_NOTHING
              ? "it failed for others"
          : which == SIZE_MAX ? "nothing"
                              : r->letter->report.recipients[which].status);
    if (intent.channel != CHANNEL_MAIL || intent.state != OUTBOX_SENT || intent.user_id == 0) {
        *ret_reason = "not_sent";
    } else if (intent.settled_at == UTC_NONE || intent.settled_at < a->at - INTAKE_BOUNCE_MS) {
        *ret_reason = "too_old";
    } else if (kind == REPORT_FEEDBACK) { /* N9: who calls our letters spam gets no more of them */
        st = blame(a, &intent, key, &complaint, /* is_hard= */ true, ret_reason, err);
    } else if (about == ABOUT_OTHERS && r->letter->report.recipient_count > 0) {
        *ret_reason = "other_recipient";
    } else if (worst == REPORT_BLAME_NOTHING || which == SIZE_MAX) {
        *ret_reason = "no_failure";
    } else if (worst == REPORT_BLAME_POLICY) { /* about us, not about the address */
        *ret_reason = "policy";
    } else {
        st = blame(a, &intent, key, &r->letter->report.recipients[which],
                   worst == REPORT_BLAME_ADDRESS, ret_reason, err);
    }
    if (st == ST_OK)
        *ret_user_id = intent.user_id;
    intent_release(&intent);
    return st;
}

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "intake/internal.h"

enum { SOFT_LIMIT = 3 }; /* days on which a soft failure must come to suspend an address */

static enum status blame(struct act *a, const struct intent_row *intent,
                         const struct report_recipient *of, bool is_hard, const char **ret_reason,
                         struct err *err)
{
    const struct intake_hooks *hooks = &a->options->hooks;
    struct user_row *user = &a->sender.user;
    char text[BOUNCE_TEXT_SIZE], key[ADDRESS_MAX + 1];
    bool suspended = false;
    enum status counted;

    TRY(users_get(a->conn, intent->user_id, user, err));
    if (strlen(intent->envelope_to) > ADDRESS_MAX) {
        *ret_reason = "other_address";
        return ST_OK;
    }
    address_fold(intent->envelope_to, key);
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
    char local[ADDRESS_SIZE], *at;
    int64_t id = 0;
    size_t which = SIZE_MAX;
    enum report_blame worst;
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
    /* P24: a vacation reply, or anything else that is no delivery report, says nothing. */
    if (!r->has_letter || !r->letter->has_report || r->letter->report.kind != REPORT_DELIVERY) {
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
    worst = report_worst(&r->letter->report, &which);
    trace(a, "a delivery report about letter %lld: %s\n", (long long)id,
          which == SIZE_MAX ? "nothing" : r->letter->report.recipients[which].status);
    if (intent.channel != CHANNEL_MAIL || intent.state != OUTBOX_SENT || intent.user_id == 0) {
        *ret_reason = "not_sent";
    } else if (intent.settled_at == UTC_NONE || intent.settled_at < a->at - INTAKE_BOUNCE_MS) {
        *ret_reason = "too_old";
    } else if (worst == REPORT_BLAME_NOTHING || which == SIZE_MAX) {
        *ret_reason = "no_failure";
    } else if (worst == REPORT_BLAME_POLICY) { /* about us, not about the address */
        *ret_reason = "policy";
    } else {
        st = blame(a, &intent, &r->letter->report.recipients[which],
                   worst == REPORT_BLAME_ADDRESS, ret_reason, err);
    }
    if (st == ST_OK)
        *ret_user_id = intent.user_id;
    intent_release(&intent);
    return st;
}

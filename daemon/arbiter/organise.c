#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arbiter/desk.h"
#include "base/str.h"

static bool clock_is_on(const struct desk *d)
{
    return d->game.state == GAME_RUNNING || d->game.state == GAME_PLACING;
}

/* Whom the clock runs for: facts and events of a placing phase belong to no seat. */
static int clock_seat(const struct desk *d)
{
    return d->game.state == GAME_RUNNING ? d->game.turn_seat : -1;
}

/* The organiser's own seats, if it is by that power alone that he acts. */
static unsigned party_seats(const struct desk *d, enum audit_role role)
{
    return role == AUDIT_ORGANISER && !d->actor.is_operator ? desk_seats_of(d, d->actor.user_id)
                                                            : 0;
}

/* Opens the game for whoever may do such things. */
static enum status power_open(struct desk *d, const struct arbiter *arb, struct store_txn *txn,
                              utc_ms now, struct arbiter_actor actor, int64_t game_id,
                              const char **note, enum audit_role *ret_role, struct err *err)
{
    TRY(desk_open(d, arb, txn, now, actor, game_id, err));
    TRY(desk_may_organise(d, ret_role, err));
    return desk_note(*note, note, err);
}

enum status arbiter_abort(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                          struct arbiter_actor actor, int64_t game_id, const char *note,
                          struct game_row *ret_game, struct err *err)
{
    enum audit_role role;
    char detail[64];
    struct desk d;

    TRY(power_open(&d, arb, txn, now, actor, game_id, &note, &role, err));
    if (d.game.state == GAME_FINISHED || d.game.state == GAME_ABORTED)
        return desk_not_running(&d, err);
    (void)snprintf(detail, sizeof detail, "state=%s ply=%d", game_state_str(d.game.state),
                   d.game.ply);
    TRY(desk_audit(&d, role, "game_abort", detail, note, err));
    TRY(desk_abort(&d, role == AUDIT_ORGANISER ? GAME_CAUSE_ORGANISER : GAME_CAUSE_OPERATOR,
                   actor.user_id, note, err));
    return desk_close(&d, ret_game, err);
}

enum status arbiter_pause_end(struct store_conn *conn, int64_t game_id, utc_ms *ret_at,
                              struct err *err)
{
    struct timer_row rows[SEAT_COUNT * TIMER_KIND_COUNT_];
    size_t n = 0;

    TRY(timers_of_game(conn, game_id, rows, COUNT_OF(rows), &n, err));
    *ret_at = UTC_NONE;
    for (size_t i = 0; i < n; i++)
        if ((rows[i].kind == TIMER_DEADLINE || rows[i].kind == TIMER_PLACING) &&
            rows[i].detail == TIMER_DETAIL_RESUME)
            *ret_at = rows[i].due_at;
    return ST_OK;
}

/* The clock stops. */
static enum status pause_begin(struct desk *d, struct err *err)
{
    /* Past the deadline the clock can still be stopped, past the grace it is the tick's. */
    if (d->now > deadline_grace_end(d->game.deadline_at,
                                    d->game.state == GAME_RUNNING ? d->game.grace_ms : 0)) {
        TRY(turn_time_is_sure(d, err));
        return err_detail(err, REASON_LOST_ON_TIME, "refusal.turn_over",
                          "the time for this turn is over");
    }
    d->game.paused_at = d->now;
    TRY(timers_clear(d->txn, TIMER_DEADLINE, d->game.id, -1, err));
    TRY(timers_clear(d->txn, TIMER_PLACING, d->game.id, -1, err));
    return turn_update(d, err);
}

/* The clock will start by itself then. */
static enum status pause_end_set(struct desk *d, utc_ms until, struct err *err)
{
    const struct timer_row timer = {
        .kind = d->game.state == GAME_PLACING ? TIMER_PLACING : TIMER_DEADLINE,
        .game_id = d->game.id,
        .seat = -1,
        .state_no = d->game.state_no,
        .detail = TIMER_DETAIL_RESUME,
        .due_at = until,
    };

    return timers_set(d->txn, &timer, err);
}

enum status arbiter_pause(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                          struct arbiter_actor actor, int64_t game_id, utc_ms until,
                          const char *note, struct game_row *ret_game, struct err *err)
{
    struct event_row more = EVENT_ROW_INIT;
    char at[UTC_TEXT_SIZE], detail[64] = "";
    enum audit_role role;
    struct desk d;
    utc_ms end = UTC_NONE;

    TRY(power_open(&d, arb, txn, now, actor, game_id, &note, &role, err));
    if (!clock_is_on(&d))
        return desk_not_running(&d, err);
    TRY(arbiter_pause_end(d.conn, d.game.id, &end, err));
    if (d.game.paused_at != UTC_NONE && (until == UTC_NONE || until == end))
        return ERR_DETAIL(err, REASON_ALREADY_DONE, "refusal.paused_already",
                          "game {game} is paused already", ERR_TEXT("game", d.game.public_id));
    if (until != UTC_NONE && (until <= now || until > now + d.arb->limits.credit_max_ms)) {
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.pause_end",
                          "a pause ends after now ({now}), and by {most}",
                          ERR_INSTANT("now", now),
                          ERR_INSTANT("most", now + d.arb->limits.credit_max_ms));
    }
    if (d.game.paused_at == UTC_NONE)
        TRY(pause_begin(&d, err));
    if (until != UTC_NONE) {
        TRY(pause_end_set(&d, until, err));
        utc_format(until, at);
        (void)snprintf(detail, sizeof detail, "until=%s", at);
    }
    TRY(desk_audit(&d, role, "game_pause", detail, note, err));
    more.deadline_at = until;
    (void)str_copy(more.note, sizeof more.note, note);
    TRY(desk_event(&d, GAME_EVENT_PAUSED, -1, actor.user_id, &more, err));
    return desk_close(&d, ret_game, err);
}

enum status organise_resume(struct desk *d, int64_t by_user, const char *note, struct err *err)
{
    struct event_row more = EVENT_ROW_INIT;
    utc_ms since = d->game.paused_at > d->game.turn_at ? d->game.paused_at : d->game.turn_at;
    struct clock_fact_row fact = CLOCK_FACT_ROW_INIT;

    fact.game_id = d->game.id;
    fact.seat = clock_seat(d);
    fact.ply = d->game.ply;
    fact.kind = CLOCK_FACT_PAUSE;
    fact.amount_ms = d->now - since;
    fact.from_at = since;
    fact.to_at = d->now;
    fact.user_id = by_user;
    fact.seq = d->game.last_seq + 1; /* the event below */
    fact.at = d->now;
    TRY(clock_facts_add(d->txn, &fact, err));
    TRY(timers_clear(d->txn, TIMER_DEADLINE, d->game.id, -1, err));
    TRY(timers_clear(d->txn, TIMER_PLACING, d->game.id, -1, err));
    d->game.paused_at = UTC_NONE;
    TRY(turn_update(d, err));
    more.deadline_at = d->game.deadline_at;
    (void)str_copy(more.note, sizeof more.note, note);
    return desk_event(d, GAME_EVENT_RESUMED, -1, by_user, &more, err);
}

enum status arbiter_resume(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                           struct arbiter_actor actor, int64_t game_id, const char *note,
                           struct game_row *ret_game, struct err *err)
{
    enum audit_role role;
    struct desk d;

    TRY(power_open(&d, arb, txn, now, actor, game_id, &note, &role, err));
    if (!clock_is_on(&d))
        return desk_not_running(&d, err);
    if (d.game.paused_at == UTC_NONE)
        return ERR_DETAIL(err, REASON_ALREADY_DONE, "refusal.not_paused",
                          "game {game} is not paused", ERR_TEXT("game", d.game.public_id));
    TRY(desk_audit(&d, role, "game_resume", "", note, err));
    TRY(organise_resume(&d, actor.user_id, note, err));
    return desk_close(&d, ret_game, err);
}

enum status arbiter_credit(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                           struct arbiter_actor actor, int64_t game_id, int64_t amount_ms,
                           const char *note, struct game_row *ret_game, struct err *err)
{
    struct clock_fact_row fact = CLOCK_FACT_ROW_INIT;
    struct event_row more = EVENT_ROW_INIT;
    char detail[64];
    enum audit_role role;
    struct desk d;

    TRY(power_open(&d, arb, txn, now, actor, game_id, &note, &role, err));
    if (!clock_is_on(&d))
        return desk_not_running(&d, err);
    if (amount_ms < ARBITER_CREDIT_MIN_MS || amount_ms > arb->limits.credit_max_ms) {
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.credit_most",
                          "a credit is at least {least} and at most {most}",
                          ERR_LENGTH("least", ARBITER_CREDIT_MIN_MS),
                          ERR_LENGTH("most", arb->limits.credit_max_ms));
    }
    fact.game_id = d.game.id;
    fact.seat = clock_seat(&d);
    fact.ply = d.game.ply;
    fact.kind = CLOCK_FACT_CREDIT;
    fact.amount_ms = amount_ms;
    fact.user_id = actor.user_id;
    fact.seq = d.game.last_seq + 1; /* the event below */
    fact.at = now;
    TRY(clock_facts_add(txn, &fact, err));
    TRY(turn_update(&d, err));
    (void)snprintf(detail, sizeof detail, "amount_ms=%" PRId64 " seat=%d", amount_ms, fact.seat);
    TRY(desk_audit(&d, role, "game_credit", detail, note, err));
    more.amount_ms = amount_ms;
    more.deadline_at = d.game.deadline_at;
    (void)str_copy(more.note, sizeof more.note, note);
    TRY(desk_event(&d, GAME_EVENT_CREDITED, fact.seat, actor.user_id, &more, err));
    return desk_close(&d, ret_game, err);
}

enum status arbiter_adjudicate(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                               struct arbiter_actor actor, int64_t game_id,
                               enum game_result result, const char *note,
                               struct game_row *ret_game, struct err *err)
{
    struct event_row more = EVENT_ROW_INIT;
    enum audit_role role;
    char detail[64];
    struct desk d;
    unsigned party;

    TRY(power_open(&d, arb, txn, now, actor, game_id, &note, &role, err));
    if (d.game.state != GAME_RUNNING)
        return desk_not_running(&d, err);
    if (result != GAME_RESULT_TEAM0 && result != GAME_RESULT_TEAM1 && result != GAME_RESULT_DRAW)
        return err_detail(err, REASON_BAD_FIELD, "refusal.result_bad",
                          "the result is a win of either side or a draw");
    party = party_seats(&d, role);
    if (party != 0) {
        int side = (party & 5u) != 0 ? 0 : 1; /* seats 0 and 2 are team 0 */
        if (result != (side == 0 ? GAME_RESULT_TEAM1 : GAME_RESULT_TEAM0))
            return err_detail(err, REASON_FORBIDDEN, "refusal.judge_in_own",
                              "you play in this game yourself; you may decide it only against your "
                              "own side, anything else is the operator's");
    }
    (void)snprintf(detail, sizeof detail, "result=%s ply=%d", game_result_str(result),
                   d.game.ply);
    TRY(desk_audit(&d, role, "game_adjudicate", detail, note, err));
    more.result = result;
    (void)str_copy(more.note, sizeof more.note, note);
    TRY(desk_event(&d, GAME_EVENT_ADJUDICATED, -1, actor.user_id, &more, err));
    TRY(desk_finish(&d, result, GAME_CAUSE_ADJUDICATION, VOTE_LAPSED, err));
    return desk_close(&d, ret_game, err);
}

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arbiter/desk.h"
#include "base/str.h"
#include "store/audit.h"
#include "store/inbox.h"
#include "store/outage.h"

enum { GAMES_PAGE = 64, TIMERS_MAX = 256 };

static const struct arbiter_actor the_server = {.user_id = 0};

struct tick {
    const struct arbiter *arb;
    struct store_txn *txn;
    struct store_conn *conn;
    utc_ms now;
    int limit;
    struct arbiter_tick_report r;
};

/* A failure of the disk or of memory is not this game's fault: the whole tick ends then. */
static bool is_everyones(const struct tick *t, enum status st)
{
    return st == ST_IO || st == ST_NOMEM || st == ST_BUSY || !store_txn_is_open(t->txn);
}

/* ---------------------------------------------------------------- outages */

/* Does this game's clock run, and how much of the outage fell into its turn? */
static int64_t credit_due(const struct game_row *game, const struct outage_row *outage)
{
    if ((game->state != GAME_RUNNING && game->state != GAME_PLACING) ||
        game->paused_at != UTC_NONE || game->turn_at == UTC_NONE ||
        game->turn_at >= outage->to_at)
        return 0;
    utc_ms from = game->turn_at > outage->from_at ? game->turn_at : outage->from_at;
    int64_t ms = outage->to_at - from;
    return ms < outage->credited_ms ? ms : outage->credited_ms;
}

static enum status credit_game(struct tick *t, int64_t game_id, const struct outage_row *outage,
                               bool *ret_credited, struct err *err)
{
    struct clock_fact_row fact = CLOCK_FACT_ROW_INIT;
    struct event_row more = EVENT_ROW_INIT;
    struct desk d;

    TRY(desk_open(&d, t->arb, t->txn, t->now, the_server, game_id, err));
    int64_t amount_ms = credit_due(&d.game, outage);
    if (amount_ms <= 0)
        return ST_OK;
    fact.game_id = game_id;
    fact.seat = d.game.state == GAME_RUNNING ? d.game.turn_seat : -1;
    fact.ply = d.game.ply;
    fact.kind = CLOCK_FACT_OUTAGE;
    fact.amount_ms = amount_ms;
    fact.from_at = outage->from_at;
    fact.to_at = outage->to_at;
    fact.outage_id = outage->id;
    fact.seq = d.game.last_seq + 1; /* the event below */
    fact.at = t->now;
    enum status st = clock_facts_add(t->txn, &fact, err);
    if (st == ST_CONFLICT)
        return ST_OK; /* it has had this one */
    if (st != ST_OK)
        return st;
    TRY(turn_update(&d, err));
    more.amount_ms = amount_ms;
    more.deadline_at = d.game.deadline_at;
    TRY(desk_event(&d, GAME_EVENT_OUTAGE_CREDITED, fact.seat, 0, &more, err));
    TRY(desk_close(&d, NULL, err));
    *ret_credited = true;
    return ST_OK;
}

/* One game in a part of its own: a broken one is told of and passed over. */
static enum status credit_in_part(struct tick *t, int64_t game_id,
                                  const struct outage_row *outage, struct err *err)
{
    bool credited = false;

    TRY(store_part_begin(t->txn, err));
    enum status st = credit_game(t, game_id, outage, &credited, err);
    if (st == ST_OK) {
        TRY(store_part_keep(t->txn, err));
        t->r.credited += credited;
        return ST_OK;
    }
    if (is_everyones(t, st))
        return st;
    if (err)
        t->r.failure = *err;
    t->r.failed++;
    t->r.failed_game_id = game_id;
    return store_part_undo(t->txn, err);
}

/* Credits running games by rising id, going on where the last call stopped: the last one that has
 * a fact of this outage.  Placing games, of which there are few, come last and in one go, since
 * their ids lie between. */
static enum status credit_some(struct tick *t, const struct outage_row *outage, struct err *err)
{
    static const enum game_state states[] = {GAME_RUNNING, GAME_PLACING};
    int64_t ids[GAMES_PAGE], after = 0;
    bool is_done = true;
    size_t n = 0;

    TRY(outages_last_game(t->conn, outage->id, &after, err));
    for (size_t s = 0; s < COUNT_OF(states) && is_done; s++) {
        do {
            TRY(games_ids(t->conn, (int)states[s], after, ids, GAMES_PAGE, &n, err));
            for (size_t i = 0; i < n && is_done; i++) {
                TRY(credit_in_part(t, ids[i], outage, err));
                after = ids[i];
                if (states[s] == GAME_RUNNING && t->r.credited >= t->limit)
                    is_done = false;
            }
        } while (n == GAMES_PAGE && is_done);
        after = 0;
    }
    return outages_credited(t->txn, outage->id, t->r.credited, is_done, err);
}

static enum status note_set_back(struct tick *t, int64_t ms, struct err *err)
{
    struct audit_row row = {.at = t->now, .role = AUDIT_ADMINISTRATOR};

    t->r.set_back_ms = ms;
    (void)str_copy(row.act, sizeof row.act, "clock_set_back");
    (void)snprintf(row.detail, sizeof row.detail, "amount_ms=%" PRId64, ms);
    return audit_add(t->txn, &row, err);
}

static enum status enter_outage(struct tick *t, utc_ms from_at, bool is_start, struct err *err)
{
    int64_t id = 0;

    t->r.outage_ms = t->now - from_at;
    enum status st = outages_add(t->txn, from_at, t->now, t->r.outage_ms,
                                 is_start        ? "the server was not running"
                                 : t->r.has_jump ? "the wall clock was set ahead"
                                                 : "the server stood still",
                                 t->now, &id, err);
    if (st == ST_CONFLICT) { /* a run before this one entered it and had no time to credit it */
        t->r.outage_ms = 0;
        return ST_OK;
    }
    return st;
}

/* Looks at the last sign of life and gives the next one.  *ret_hold: there is an outage to credit
 * first, so no timer is looked at. */
static enum status live(struct tick *t, bool is_start, bool *ret_hold, struct err *err)
{
    struct outage_row outage;
    utc_ms alive_at = UTC_NONE, started_at = UTC_NONE;

    if (t->arb->guard && clock_guard_has_jumped(t->arb->guard, &t->r.jump))
        t->r.has_jump = true;
    TRY(heartbeat_get(t->conn, &alive_at, &started_at, err));
    if (alive_at != UTC_NONE && t->now - alive_at > ARBITER_OUTAGE_MS)
        TRY(enter_outage(t, alive_at, is_start, err));
    else if (alive_at != UTC_NONE && alive_at - t->now > ARBITER_OUTAGE_MS)
        TRY(note_set_back(t, alive_at - t->now, err));
    else if (t->r.has_jump && t->r.jump.amount_ms < 0)
        TRY(note_set_back(t, -t->r.jump.amount_ms, err));
    if (is_start || alive_at == UTC_NONE || t->now < alive_at ||
        t->now - alive_at >= ARBITER_HEARTBEAT_MS)
        TRY(heartbeat_set(t->txn, t->now, is_start, err));
    enum status st = outages_unfinished(t->conn, &outage, err);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st != ST_OK)
        return st;
    TRY(credit_some(t, &outage, err));
    *ret_hold = true;
    return ST_OK;
}

/* ---------------------------------------------------------------- timers */

/* The alarms of this turn that are due: the most urgent warning, if the deadline still lies ahead
 * (a letter about one that is over helps nobody), and the organiser's. */
static enum status announce(struct tick *t, struct desk *d, struct err *err)
{
    struct deadline deadline;
    utc_ms due[ALARM_COUNT_];
    unsigned done = 0;
    int warning = -1;

    TRY(turn_deadline(d->conn, &d->game, &deadline, err));
    TRY(turn_announced(d, &done, err));
    deadline_alarms(&deadline, due);
    for (int a = ALARM_HALF; a <= ALARM_HALF_DAY; a++) {
        if (due[a] != UTC_NONE && due[a] <= d->now && (done >> a & 1u) == 0 &&
            (warning < 0 || due[a] >= due[warning]))
            warning = a;
    }
    if (warning >= 0 && d->now < deadline.deadline_at) {
        struct event_row more = EVENT_ROW_INIT;
        more.amount_ms = deadline.deadline_at - d->now;
        more.deadline_at = deadline.deadline_at;
        (void)str_copy(more.note, sizeof more.note,
                       deadline_alarm_slug((enum deadline_alarm)warning));
        if (d->game.state == GAME_RUNNING) {
            TRY(desk_event(d, GAME_EVENT_WARNING, d->game.turn_seat, 0, &more, err));
        } else {
            for (int s = 0; s < SEATS; s++) {
                if (d->seats[s].placement[0] == '\0')
                    TRY(desk_event(d, GAME_EVENT_WARNING, s, 0, &more, err));
            }
        }
        done |= 1u << warning;
        t->r.warnings++;
    }
    if (d->game.state == GAME_RUNNING && due[ALARM_ORGANISER] != UTC_NONE &&
        due[ALARM_ORGANISER] <= d->now && (done >> ALARM_ORGANISER & 1u) == 0) {
        struct event_row more = EVENT_ROW_INIT;
        more.amount_ms = deadline.grace_until - d->now;
        more.deadline_at = deadline.deadline_at;
        (void)str_copy(more.note, sizeof more.note, deadline_alarm_slug(ALARM_ORGANISER));
        TRY(desk_event(d, GAME_EVENT_WARNING, d->game.turn_seat, 0, &more, err));
        done |= 1u << ALARM_ORGANISER;
        t->r.warnings++;
    }
    return turn_set_timer(d, &deadline, done, err);
}

/* Is there a letter, accepted at `upto` or before, that nobody has read?  Then the timer looks
 * again soon: what stands in it was said in time (T4). */
static enum status wait_for_letters(struct tick *t, const struct timer_row *timer, utc_ms upto,
                                    bool *ret_waits, struct err *err)
{
    struct timer_row later = *timer;
    int64_t n = 0;

    *ret_waits = false;
    if (t->now - upto > ARBITER_UNREAD_MAX_MS)
        return ST_OK;
    TRY(inbox_waiting(t->conn, upto, &n, err));
    if (n == 0)
        return ST_OK;
    *ret_waits = true;
    t->r.unread++;
    later.due_at = t->now + ARBITER_UNREAD_MS;
    return timers_set(t->txn, &later, err);
}

/* When the grace of the turn that is on is over. */
static utc_ms grace_end(const struct desk *d)
{
    return deadline_grace_end(d->game.deadline_at, d->game.grace_ms);
}

/* What the player on turn has in hand, said in time: it keeps his flag from falling.  NULL. */
static const struct held_row *held_in_time(const struct desk *d)
{
    const struct held_row *held = held_of_seat(d, d->game.turn_seat);

    return held && held->received_at <= grace_end(d) ? held : NULL;
}

/* The deadline's timer meanwhile: its player has done what it would remind him of. */
static enum status clock_of_held(struct tick *t, struct desk *d, const struct held_row *held,
                                 const struct timer_row *timer, struct err *err)
{
    utc_ms end_at = grace_end(d) + 1;
    struct timer_row later = *timer;
    bool waits = false;

    if (d->now >= end_at) {
        /* One of them may take it back. */
        TRY(wait_for_letters(t, timer, (held->release_at < end_at ? held->release_at : end_at) - 1,
                             &waits, err));
        if (waits)
            return ST_OK;
        t->r.released++;
        return held_release(d, held->seat, err);
    }
    later.due_at = held->release_at > d->now && held->release_at < end_at ? held->release_at
                                                                          : end_at;
    return timers_set(t->txn, &later, err);
}

/* A resignation is due.  If its player, who then has two seats, has a move in hand as well, that
 * goes first: his own leaving must not drop it. */
static enum status resign_due(struct tick *t, struct desk *d, int seat,
                              const struct timer_row *timer, struct err *err)
{
    const struct held_row *move = held_move(d);
    bool waits = false;

    if (move && move->user_id == d->held[seat].user_id) {
        if (move->release_at > d->now) {
            struct timer_row later = *timer;
            later.due_at = move->release_at;
            return timers_set(t->txn, &later, err);
        }
        TRY(wait_for_letters(t, timer, move->release_at - 1, &waits, err));
        if (waits)
            return ST_OK;
        TRY(held_release(d, move->seat, err));
        t->r.released++;
        TRY(held_settle(d, err)); /* that move may have ended the game, or had the seat removed */
        if (!held_of_seat(d, seat))
            return ST_OK;
    }
    t->r.released++;
    return held_release(d, seat, err);
}

/* What is held for a seat is due. */
static enum status held_timer(struct tick *t, struct desk *d, const struct timer_row *timer,
                              struct err *err)
{
    const struct held_row *held = held_of_seat(d, timer->seat);
    struct timer_row later = *timer;
    bool waits = false;

    if (!held) /* left over */
        return timers_clear(t->txn, TIMER_HELD, timer->game_id, timer->seat, err);
    if (d->now < held->release_at) {
        later.due_at = held->release_at;
        return timers_set(t->txn, &later, err);
    }
    /* One of them may take it back. */
    TRY(wait_for_letters(t, timer, held->release_at - 1, &waits, err));
    if (waits)
        return ST_OK;
    if (held->kind == HELD_RESIGN)
        return resign_due(t, d, timer->seat, timer, err);
    t->r.released++;
    return held_release(d, timer->seat, err);
}

static enum status invitation_timer(struct tick *t, struct desk *d, const struct timer_row *timer,
                                    struct err *err)
{
    struct invitation_row row;
    bool waits = false;
    enum status st = invitations_of_seat(d->conn, d->game.id, timer->seat, &row, err);

    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    if (st == ST_OK && row.expires_at <= t->now) {
        TRY(wait_for_letters(t, timer, row.expires_at - 1, &waits, err));
        if (waits)
            return ST_OK;
    }
    TRY(seating_expire_invitation(d, timer->seat, err));
    t->r.expired++;
    return ST_OK;
}

static enum status open_game_timer(struct tick *t, struct desk *d, const struct timer_row *timer,
                                   struct err *err)
{
    bool waits = false;

    TRY(wait_for_letters(t, timer, d->game.expires_at - 1, &waits, err));
    if (waits)
        return ST_OK;
    t->r.expired++;
    return desk_abort(d, GAME_CAUSE_EXPIRED, 0, "", err);
}

static enum status clock_timer(struct tick *t, struct desk *d, const struct timer_row *timer,
                               struct err *err)
{
    bool is_placing = d->game.state == GAME_PLACING, waits = false;
    const struct held_row *held;
    int64_t given_ms = 0;
    utc_ms end_at;

    if (d->game.paused_at != UTC_NONE) {
        if (timer->detail != TIMER_DETAIL_RESUME) /* left over */
            return timers_clear(t->txn, timer->kind, d->game.id, timer->seat, err);
        TRY(organise_resume(d, 0, "", err));
        t->r.resumed++;
        return ST_OK;
    }
    if (d->game.deadline_at == UTC_NONE)
        return err_reason(err, REASON_CORRUPT, "game %s: its clock runs without a deadline",
                          d->game.public_id);
    held = held_in_time(d);
    if (held)
        return clock_of_held(t, d, held, timer, err);
    if (!is_placing) {
        TRY(delivery_give_waiting(d, &given_ms, err));
        if (given_ms > 0) /* the timer has been set anew */
            return ST_OK;
    }
    end_at = is_placing ? d->game.deadline_at : grace_end(d);
    if (d->now <= end_at)
        return announce(t, d, err);
    TRY(wait_for_letters(t, timer, end_at, &waits, err));
    if (waits)
        return ST_OK;
    if (is_placing)
        return placing_end(d, &t->r.placed, err);
    TRY(play_forfeit(d, err));
    t->r.forfeits++;
    return ST_OK;
}

/* A timer says that there may be something to do; what, the game as it is now says. */
static enum status work(struct tick *t, const struct timer_row *timer, struct err *err)
{
    struct desk d;

    TRY(desk_open(&d, t->arb, t->txn, t->now, the_server, timer->game_id, err));
    switch (timer->kind) {
    case TIMER_DEADLINE:
    case TIMER_PLACING:
        if (d.game.state != (timer->kind == TIMER_PLACING ? GAME_PLACING : GAME_RUNNING))
            return timers_clear(t->txn, timer->kind, d.game.id, timer->seat, err);
        TRY(clock_timer(t, &d, timer, err));
        break;
    case TIMER_HELD:
        TRY(held_timer(t, &d, timer, err));
        break;
    case TIMER_INVITATION:
        if (d.game.state != GAME_OPEN)
            return timers_clear(t->txn, timer->kind, d.game.id, timer->seat, err);
        TRY(invitation_timer(t, &d, timer, err));
        break;
    case TIMER_OPEN_GAME:
        if (d.game.state != GAME_OPEN || d.game.expires_at == UTC_NONE)
            return timers_clear(t->txn, timer->kind, d.game.id, timer->seat, err);
        TRY(open_game_timer(t, &d, timer, err));
        break;
    default:
        return ST_OK;
    }
    return desk_close(&d, NULL, err);
}

static bool is_ours(enum timer_kind kind)
{
    return kind == TIMER_DEADLINE || kind == TIMER_PLACING || kind == TIMER_INVITATION ||
           kind == TIMER_OPEN_GAME || kind == TIMER_HELD;
}

static enum status run_timer(struct tick *t, const struct timer_row *timer, struct err *err)
{
    struct arbiter_tick_report before = t->r;

    TRY(store_part_begin(t->txn, err));
    enum status st = work(t, timer, err);
    if (st == ST_OK)
        return store_part_keep(t->txn, err);
    if (is_everyones(t, st))
        return st;
    t->r = before;
    if (err)
        t->r.failure = *err;
    t->r.failed++;
    t->r.failed_game_id = timer->game_id;
    TRY(store_part_undo(t->txn, err));
    /* Tried again later, so that it neither blocks the others nor is forgotten. */
    struct timer_row later = *timer;
    later.due_at = t->now + ARBITER_RETRY_MS;
    return timers_set(t->txn, &later, err);
}

enum status arbiter_tick(const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                         bool is_start, int limit, struct arbiter_tick_report *ret_report,
                         struct err *err)
{
    struct timer_row timers[TIMERS_MAX];
    struct tick t = {.arb = arb, .txn = txn, .conn = store_txn_conn(txn), .now = now,
                     .limit = limit < 1 ? 1 : limit > TIMERS_MAX ? TIMERS_MAX : limit};
    struct err local = ERR_INIT;
    size_t n = 0, ours = 0;
    bool hold = false;

    if (!err)
        err = &local;
    t.r.next_at = UTC_NONE;
    TRY(live(&t, is_start, &hold, err));
    if (hold) {
        t.r.more = true;
    } else {
        TRY(timers_due(t.conn, now, timers, (size_t)t.limit, &n, err));
        for (size_t i = 0; i < n; i++) {
            if (!is_ours(timers[i].kind)) /* somebody else's, who looks for it himself */
                continue;
            TRY(run_timer(&t, &timers[i], err));
            ours++;
        }
        TRY(timers_next(t.conn, &t.r.next_at, err));
        t.r.more = ours > 0 && t.r.next_at != UTC_NONE && t.r.next_at <= now;
    }
    *ret_report = t.r;
    return ST_OK;
}

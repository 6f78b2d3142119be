#include <stdlib.h>
#include <string.h>

#include "arbiter/desk.h"
#include "base/str.h"
#include "store/outage.h"

enum { EVENTS_PAGE = 32 };

/* Earlier first; those of one instant keep the order in which they were recorded. */
struct placed_fact {
    struct deadline_fact fact;
    size_t order;
};

static int by_instant(const void *a, const void *b)
{
    const struct placed_fact *x = a, *y = b;

    if (x->fact.at != y->fact.at)
        return x->fact.at < y->fact.at ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

enum status turn_facts(struct store_conn *conn, const struct game_row *game,
                       struct clock_fact_row rows[TURN_FACTS_MAX], size_t *ret_n, struct err *err)
{
    bool is_placing = game->state == GAME_PLACING;
    size_t n_rows = 0, n = 0;

    if (game->turn_at == UTC_NONE)
        return err_reason(err, REASON_CORRUPT, "game %s: no turn is on", game->public_id);
    TRY(clock_facts_list(conn, game->id, game->ply, rows, TURN_FACTS_MAX, &n_rows, err));
    if (n_rows == TURN_FACTS_MAX)
        return err_detail(err, REASON_LIMIT, "refusal.clock_changes",
                          "the clock of this turn has changed too often");
    for (size_t i = 0; i < n_rows; i++) {
        /* A turn that ended without a move leaves facts of the same ply, but of another seat. */
        if (rows[i].at >= game->turn_at && rows[i].seat == (is_placing ? -1 : game->turn_seat))
            rows[n++] = rows[i];
    }
    *ret_n = n;
    return ST_OK;
}

static enum deadline_fact_kind fact_kind(enum clock_fact_kind kind)
{
    switch (kind) {
    case CLOCK_FACT_OUTAGE:
        return FACT_OUTAGE;
    case CLOCK_FACT_DELIVERY:
        return FACT_DELIVERY;
    case CLOCK_FACT_HELD:
        return FACT_HELD;
    default:
        return FACT_CREDIT;
    }
}

enum status turn_deadline(struct store_conn *conn, const struct game_row *game,
                          struct deadline *ret, struct err *err)
{
    struct clock_fact_row rows[TURN_FACTS_MAX];
    struct placed_fact facts[2 * TURN_FACTS_MAX + 1];
    struct deadline_fact ordered[2 * TURN_FACTS_MAX + 1];
    size_t n_rows = 0, n = 0;
    bool is_placing = game->state == GAME_PLACING;

    TRY(turn_facts(conn, game, rows, &n_rows, err));
    for (size_t i = 0; i < n_rows; i++) {
        const struct clock_fact_row *f = &rows[i];

        if (f->kind == CLOCK_FACT_PAUSE) {
            facts[n] = (struct placed_fact){{FACT_PAUSED, f->from_at, 0, f->seq}, n};
            n++;
            facts[n] = (struct placed_fact){{FACT_RESUMED, f->to_at, 0, f->seq}, n};
            n++;
        } else {
            facts[n] = (struct placed_fact){{fact_kind(f->kind), f->at, f->amount_ms, f->seq}, n};
            n++;
        }
    }
    if (game->paused_at != UTC_NONE) {
        utc_ms since = game->paused_at > game->turn_at ? game->paused_at : game->turn_at;
        facts[n] = (struct placed_fact){{FACT_PAUSED, since, 0, 0}, n};
        n++;
    }
    qsort(facts, n, sizeof facts[0], by_instant);
    for (size_t i = 0; i < n; i++)
        ordered[i] = facts[i].fact;
    struct deadline_turn turn = {
        .start_at = game->turn_at,
        .budget_ms = is_placing ? game->placing_ms : game->per_move_ms,
        .grace_ms = is_placing ? 0 : game->grace_ms,
        .facts = ordered,
        .n_facts = n,
    };
    if (deadline_compute(&turn, ret, NULL) != ST_OK)
        return err_reason(err, REASON_CORRUPT, "game %s: the clock's facts do not fit together",
                          game->public_id);
    return ST_OK;
}

/* How long two spans have in common. */
static int64_t overlap(utc_ms from, utc_ms to, utc_ms other_from, utc_ms other_to)
{
    utc_ms begin = from > other_from ? from : other_from;
    utc_ms end = to < other_to ? to : other_to;

    return end > begin ? end - begin : 0;
}

enum status turn_ran(struct store_conn *conn, const struct game_row *game, utc_ms from, utc_ms to,
                     int64_t *ret_ms, struct err *err)
{
    struct clock_fact_row rows[TURN_FACTS_MAX];
    int64_t ms = to > from ? to - from : 0;
    size_t n = 0;

    TRY(turn_facts(conn, game, rows, &n, err));
    for (size_t i = 0; i < n; i++) {
        const struct clock_fact_row *f = &rows[i];

        if (f->kind != CLOCK_FACT_PAUSE && f->kind != CLOCK_FACT_OUTAGE)
            continue;
        int64_t stood = overlap(from, to, f->from_at, f->to_at);
        ms -= stood < f->amount_ms ? stood : f->amount_ms;
    }
    if (game->paused_at != UTC_NONE)
        ms -= overlap(from, to, game->paused_at, to);
    *ret_ms = ms > 0 ? ms : 0;
    return ST_OK;
}

enum status turn_give(struct desk *d, enum clock_fact_kind kind, int64_t amount_ms, utc_ms from,
                      struct err *err)
{
    struct clock_fact_row fact = CLOCK_FACT_ROW_INIT;
    struct event_row more = EVENT_ROW_INIT;

    fact.game_id = d->game.id;
    fact.seat = d->game.turn_seat;
    fact.ply = d->game.ply;
    fact.kind = kind;
    fact.amount_ms = amount_ms;
    fact.from_at = from;
    fact.to_at = d->now;
    fact.seq = d->game.last_seq + 1; /* the event below */
    fact.at = d->now;
    TRY(clock_facts_add(d->txn, &fact, err));
    TRY(turn_update(d, err));
    more.amount_ms = amount_ms;
    more.deadline_at = d->game.deadline_at;
    (void)str_copy(more.note, sizeof more.note, clock_fact_kind_str(kind));
    return desk_event(d, GAME_EVENT_DELIVERY_CREDITED, d->game.turn_seat, 0, &more, err);
}

enum status turn_set_timer(struct desk *d, const struct deadline *deadline, unsigned done,
                           struct err *err)
{
    utc_ms due[ALARM_COUNT_];
    struct timer_row timer = {
        .kind = d->game.state == GAME_PLACING ? TIMER_PLACING : TIMER_DEADLINE,
        .game_id = d->game.id,
        .seat = -1,
        .state_no = d->game.state_no,
        .detail = ALARM_END,
    };

    deadline_alarms(deadline, due);
    if (d->game.state == GAME_PLACING)
        due[ALARM_ORGANISER] = UTC_NONE;
    timer.due_at = due[ALARM_END];
    for (int i = 0; i < ALARM_END; i++) {
        if (due[i] != UTC_NONE && due[i] > d->now && due[i] < timer.due_at &&
            (done >> i & 1u) == 0) {
            timer.due_at = due[i];
            timer.detail = i;
        }
    }
    return timers_set(d->txn, &timer, err);
}

static enum status put(struct desk *d, const struct deadline *deadline, unsigned done,
                       struct err *err)
{
    char text[DEADLINE_TEXT_SIZE];

    deadline_format_items(deadline, text);
    if (!str_copy(d->game.explanation, sizeof d->game.explanation, text))
        return err_detail(err, REASON_LIMIT, "refusal.clock_changes",
                          "the clock of this turn has changed too often");
    d->game.deadline_at = deadline->deadline_at;
    if (deadline->is_paused)
        return ST_OK; /* a timer, if there is one, is that of the pause's end */
    return turn_set_timer(d, deadline, done, err);
}

enum status turn_begin(struct desk *d, struct err *err)
{
    struct deadline deadline;
    struct deadline_fact paused = {FACT_PAUSED, d->now, 0, 0};
    bool is_placing = d->game.state == GAME_PLACING;
    struct deadline_turn turn = {
        .start_at = d->now,
        .budget_ms = is_placing ? d->game.placing_ms : d->game.per_move_ms,
        .grace_ms = is_placing ? 0 : d->game.grace_ms,
        .facts = &paused,
        .n_facts = d->game.paused_at != UTC_NONE ? 1 : 0,
    };

    d->game.turn_at = d->now;
    TRY(deadline_compute(&turn, &deadline, err));
    return put(d, &deadline, 0, err);
}

/* Where the events of this ply begin. */
static enum status ply_begin(struct desk *d, int64_t *ret_since, struct err *err)
{
    struct move_row last;

    *ret_since = 0;
    if (d->game.ply > 0) {
        TRY(moves_get(d->conn, d->game.id, d->game.ply, &last, err));
        *ret_since = last.seq;
    }
    return ST_OK;
}

enum status turn_first_state(struct desk *d, int64_t *ret_since, int64_t *ret_state_no,
                             struct err *err)
{
    struct event_row rows[EVENTS_PAGE];
    int64_t begin = 0, since, first = 0;
    size_t n = 0;

    TRY(ply_begin(d, &begin, err));
    since = begin;
    do {
        TRY(events_of_game(d->conn, d->game.id, since, rows, EVENTS_PAGE, &n, err));
        for (size_t i = 0; i < n; i++) {
            since = rows[i].seq;
            if (rows[i].kind == GAME_EVENT_TURN)
                first = rows[i].state_no;
        }
    } while (n == EVENTS_PAGE);
    if (first == 0)
        return err_reason(err, REASON_CORRUPT, "game %s: nothing tells of its turn",
                          d->game.public_id);
    *ret_since = begin;
    *ret_state_no = first;
    return ST_OK;
}

enum status turn_announced(struct desk *d, unsigned *ret_done, struct err *err)
{
    struct event_row rows[EVENTS_PAGE];
    int64_t since = 0;
    unsigned done = 0;
    size_t n = 0;

    TRY(ply_begin(d, &since, err));
    do {
        TRY(events_of_game(d->conn, d->game.id, since, rows, EVENTS_PAGE, &n, err));
        for (size_t i = 0; i < n; i++) {
            since = rows[i].seq;
            if (rows[i].kind == GAME_EVENT_TURN || rows[i].kind == GAME_EVENT_PLACING)
                done = 0; /* a later turn within the same ply */
            if (rows[i].kind != GAME_EVENT_WARNING)
                continue;
            for (int a = 0; a < ALARM_END; a++) {
                if (strcmp(rows[i].note, deadline_alarm_slug((enum deadline_alarm)a)) == 0)
                    done |= 1u << a;
            }
        }
    } while (n == EVENTS_PAGE);
    *ret_done = done;
    return ST_OK;
}

enum status turn_update(struct desk *d, struct err *err)
{
    struct deadline deadline;
    unsigned done = 0;

    TRY(turn_deadline(d->conn, &d->game, &deadline, err));
    TRY(turn_announced(d, &done, err));
    return put(d, &deadline, done, err);
}

void turn_end(struct desk *d)
{
    d->game.turn_at = UTC_NONE;
    d->game.deadline_at = UTC_NONE;
    d->game.explanation[0] = '\0';
}

enum status turn_time_is_sure(struct desk *d, struct err *err)
{
    struct outage_row outage;
    utc_ms alive_at = UTC_NONE, started_at = UTC_NONE;
    bool is_sure = !d->arb->guard || !clock_guard_has_jumped(d->arb->guard, NULL);

    if (is_sure) {
        TRY(heartbeat_get(d->conn, &alive_at, &started_at, err));
        is_sure = alive_at == UTC_NONE || d->now - alive_at <= ARBITER_OUTAGE_MS;
    }
    if (is_sure) {
        enum status st = outages_unfinished(d->conn, &outage, err);

        if (st != ST_OK && st != ST_NOT_FOUND)
            return st;
        is_sure = st == ST_NOT_FOUND;
    }
    if (!is_sure)
        return err_detail(err, REASON_BUSY, "refusal.making_good",
                          "the server is making good for time it was away; try again in a minute");
    return ST_OK;
}

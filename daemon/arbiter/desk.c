#include "arbiter/desk.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "arbiter/access.h"
#include "base/str.h"
#include "store/audit.h"

struct arbiter_limits arbiter_limits_usual(void)
{
    return (struct arbiter_limits){
        .per_move_min_ms = MS_HOUR,
        .per_move_max_ms = 60 * MS_DAY,
        .per_move_ms = 14 * MS_DAY,
        .grace_ms = 12 * MS_HOUR,
        .placing_ms = 7 * MS_DAY,
        .invitation_ms = 14 * MS_DAY,
        .open_ms = 30 * MS_DAY,
        .credit_max_ms = 365 * MS_DAY,
        .open_games = 50,
    };
}

void desk_init(struct desk *d, const struct arbiter *arb, struct store_txn *txn, utc_ms now,
               struct arbiter_actor actor)
{
    d->arb = arb;
    d->txn = txn;
    d->conn = store_txn_conn(txn);
    d->now = now;
    d->acted_at = actor.received_at > 0 && actor.received_at < now ? actor.received_at : now;
    d->actor = actor;
    d->held_seats = 0;
    d->n_dropped = 0;
    d->finished = false;
    d->n_events = 0;
}

enum status desk_reload_seats(struct desk *d, struct err *err)
{
    int open = 0;

    TRY(seats_get(d->conn, d->game.id, d->seats, err));
    for (int s = 0; s < SEATS; s++)
        open += d->seats[s].state == SEAT_OPEN;
    d->game.open_seats = open;
    return ST_OK;
}

static enum status load_held(struct desk *d, struct err *err)
{
    struct held_row rows[SEATS];
    size_t n = 0;

    TRY(held_of_game(d->conn, d->game.id, rows, &n, err));
    for (size_t i = 0; i < n; i++) {
        d->held[rows[i].seat] = rows[i];
        d->held_seats |= 1u << rows[i].seat;
    }
    return ST_OK;
}

enum status desk_open(struct desk *d, const struct arbiter *arb, struct store_txn *txn, utc_ms now,
                      struct arbiter_actor actor, int64_t game_id, struct err *err)
{
    desk_init(d, arb, txn, now, actor);
    TRY(games_get(d->conn, game_id, &d->game, err));
    if (d->game.state == GAME_RUNNING)
        TRY(load_held(d, err));
    return desk_reload_seats(d, err);
}

enum status desk_close(struct desk *d, struct game_row *ret_game, struct err *err)
{
    TRY(held_settle(d, err));
    d->game.updated_at = d->now;
    TRY(games_save(d->txn, &d->game, err));
    for (size_t i = 0; d->arb->hooks.on_dropped && i < d->n_dropped; i++)
        TRY(d->arb->hooks.on_dropped(d->txn, &d->game, &d->dropped[i].row, d->dropped[i].why,
                                     d->now, d->arb->hooks.on_dropped_arg, err));
    if (d->arb->hooks.on_events && d->n_events)
        TRY(d->arb->hooks.on_events(d->txn, &d->game, d->seats, d->events, d->n_events,
                                    d->now, d->arb->hooks.on_events_arg, err));
    if (d->arb->hooks.finished && d->finished)
        TRY(d->arb->hooks.finished(d->txn, &d->game, d->now, d->arb->hooks.finished_arg, err));
    if (ret_game)
        *ret_game = d->game;
    return ST_OK;
}

enum game_event_kind event_kind(enum event_type type)
{
    switch (type) {
    case EVENT_MATED:
        return GAME_EVENT_MATED;
    case EVENT_RELEASED:
        return GAME_EVENT_RELEASED;
    case EVENT_REMOVED:
        return GAME_EVENT_REMOVED;
    case EVENT_PASSED:
        return GAME_EVENT_PASSED;
    default:
        return GAME_EVENT_COUNT_;
    }
}

static bool changes_state(enum game_event_kind kind)
{
    switch (kind) {
    case GAME_EVENT_STARTED:
    case GAME_EVENT_MOVE:
    case GAME_EVENT_MATED:
    case GAME_EVENT_RELEASED:
    case GAME_EVENT_REMOVED:
    case GAME_EVENT_PASSED:
    case GAME_EVENT_RESIGNED:
    case GAME_EVENT_FORFEITED:
    case GAME_EVENT_TURN:
        return true;
    default:
        return false;
    }
}

enum status desk_event(struct desk *d, enum game_event_kind kind, int seat, int64_t user_id,
                       const struct event_row *more, struct err *err)
{
    if (d->n_events == ARBITER_EVENTS_MAX)
        return err_set(err, ST_INTERNAL, "game %s: one command makes more than %d events",
                       d->game.public_id, ARBITER_EVENTS_MAX);
    struct event_row *e = &d->events[d->n_events];
    *e = more ? *more : EVENT_ROW_INIT;
    e->kind = kind;
    e->seat = seat;
    e->user_id = user_id;
    e->ply = d->game.ply;
    e->position_hash = d->game.position_hash;
    e->at = d->now;
    TRY(events_append(d->txn, &d->game, e, changes_state(kind), err));
    (void)str_copy(e->public_id, sizeof e->public_id, d->game.public_id);
    d->n_events++;
    return ST_OK;
}

/* By enum condition. */
static const struct {
    char letter;
    const char *word;
} conditions[] = {
    [CONDITION_LIVE] = {'a', "live"},
    [CONDITION_MATED] = {'m', "mated"},
    [CONDITION_STALEMATED] = {'s', "stalemated"},
    [CONDITION_ABSENT] = {'x', "absent"},
};

char arbiter_condition_letter(int condition)
{
    assert(condition >= 0 && (size_t)condition < COUNT_OF(conditions));
    return conditions[condition].letter;
}

const char *arbiter_condition_word(char letter)
{
    for (size_t i = 0; i < COUNT_OF(conditions); i++)
        if (conditions[i].letter == letter)
            return conditions[i].word;
    return conditions[CONDITION_ABSENT].word;
}

static bool is_over(const struct desk *d)
{
    return d->game.state == GAME_FINISHED || d->game.state == GAME_ABORTED;
}

static enum status refuse_over(const struct desk *d, struct err *err)
{
    return ERR_DETAIL(err, REASON_GAME_NOT_RUNNING, "refusal.game_over", "game {game} is over",
                      ERR_TEXT("game", d->game.public_id));
}

enum status desk_not_running(const struct desk *d, struct err *err)
{
    return is_over(d) ? refuse_over(d, err)
                      : ERR_DETAIL(err, REASON_GAME_NOT_RUNNING, "refusal.not_started",
                                   "game {game} has not started",
                                   ERR_TEXT("game", d->game.public_id));
}

enum status desk_not_open(const struct desk *d, struct err *err)
{
    return is_over(d) ? refuse_over(d, err)
                      : ERR_DETAIL(err, REASON_GAME_STARTED, "refusal.started_already",
                                   "game {game} has started already",
                                   ERR_TEXT("game", d->game.public_id));
}

enum status desk_check_seat(int seat, struct err *err)
{
    if (seat < 0 || seat >= SEATS)
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.no_seat", "there is no seat {number}",
                          ERR_NUMBER("number", seat));
    return ST_OK;
}

unsigned desk_seats_of(const struct desk *d, int64_t user_id)
{
    return seats_of_user(d->seats, user_id);
}

enum status desk_invitation(struct desk *d, int seat, bool *ret_is_there,
                            struct invitation_row *ret_row, struct err *err)
{
    enum status st = d->seats[seat].state == SEAT_INVITED
                         ? invitations_of_seat(d->conn, d->game.id, seat, ret_row, err)
                         : ST_NOT_FOUND;

    if (st != ST_OK && st != ST_NOT_FOUND)
        return st;
    *ret_is_there = st == ST_OK;
    return ST_OK;
}

enum status desk_may_see(struct desk *d, struct err *err)
{
    return arbiter_may_see(d->conn, &d->game, d->actor, err);
}

enum status desk_may_organise(struct desk *d, enum audit_role *ret_role, struct err *err)
{
    if (!arbiter_may_organise(d->game.organiser_id, d->actor)) {
        TRY(desk_may_see(d, err));
        return err_detail(err, REASON_FORBIDDEN, "refusal.organiser_only",
                          "only the game's organiser or an operator may do this");
    }
    *ret_role = d->actor.is_administrator                   ? AUDIT_ADMINISTRATOR
                : d->actor.user_id == d->game.organiser_id ? AUDIT_ORGANISER
                                                           : AUDIT_OPERATOR;
    return ST_OK;
}

enum status desk_audit(struct desk *d, enum audit_role role, const char *act, const char *detail,
                       const char *note, struct err *err)
{
    struct audit_row row = {.at = d->now,
                            .user_id = d->actor.user_id,
                            .role = role,
                            .game_id = d->game.id};

    (void)str_copy(row.act, sizeof row.act, act);
    (void)str_copy(row.detail, sizeof row.detail, detail);
    (void)str_copy(row.note, sizeof row.note, note);
    return audit_add(d->txn, &row, err);
}

enum status desk_note(const char *note, const char **ret_note, struct err *err)
{
    if (!note)
        note = "";
    if (strlen(note) > ARBITER_NOTE_MAX)
        return ERR_DETAIL(err, REASON_BAD_FIELD, "refusal.note_long",
                          "a note has at most {most} bytes", ERR_NUMBER("most", ARBITER_NOTE_MAX));
    if (!utf8_is_valid(note, strlen(note)))
        return err_detail(err, REASON_BAD_FIELD, "refusal.note_utf8", "a note must be valid UTF-8");
    for (const char *p = note; *p; p++) {
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return err_detail(err, REASON_BAD_FIELD, "refusal.note_line",
                              "a note is one line without control characters");
    }
    if (note[strspn(note, " ")] == '\0')
        note = ""; /* blanks alone say nothing */
    *ret_note = note;
    return ST_OK;
}

/* What both ends have in common: no turn, no clock, no timers, no open question. */
static enum status stop(struct desk *d, enum vote_state open_vote, struct err *err)
{
    struct vote_row vote;

    turn_end(d);
    d->game.turn_seat = -1;
    d->game.turn_user_id = 0;
    d->game.paused_at = UTC_NONE;
    d->game.expires_at = UTC_NONE;
    d->game.ended_at = d->now;
    TRY(timers_clear_game(d->txn, d->game.id, err));
    enum status st = votes_get_open(d->conn, d->game.id, VOTE_DRAW, &vote, err);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st != ST_OK)
        return st;
    return votes_settle(d->txn, vote.id, open_vote, d->now, err);
}

enum status desk_finish(struct desk *d, enum game_result result, enum game_cause cause,
                        enum vote_state open_vote, struct err *err)
{
    struct event_row more = EVENT_ROW_INIT;

    assert(d->game.state == GAME_RUNNING && result != GAME_RESULT_NONE);
    TRY(stop(d, open_vote, err));
    d->game.state = GAME_FINISHED;
    d->game.result = result;
    d->game.cause = cause;
    d->finished = true;
    more.result = result;
    more.cause = cause;
    return desk_event(d, GAME_EVENT_FINISHED, -1, 0, &more, err);
}

enum status desk_abort(struct desk *d, enum game_cause cause, int64_t by_user, const char *note,
                       struct err *err)
{
    struct event_row more = EVENT_ROW_INIT;
    struct invitation_row invitation;
    bool is_there = false;

    for (int s = 0; s < SEATS; s++) {
        TRY(desk_invitation(d, s, &is_there, &invitation, err));
        if (is_there)
            TRY(invitations_settle(d->txn, invitation.id, INVITATION_WITHDRAWN, d->now, err));
    }
    TRY(stop(d, VOTE_LAPSED, err));
    d->game.state = GAME_ABORTED;
    d->game.cause = cause;
    more.cause = cause;
    (void)str_copy(more.note, sizeof more.note, note);
    TRY(desk_event(d, GAME_EVENT_ABORTED, -1, by_user, &more, err));
    return desk_reload_seats(d, err);
}

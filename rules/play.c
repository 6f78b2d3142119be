/*
 * rules/play.c - what a move, or a seat's leaving, causes: conditions, turn, result.
 *
 *                    no move, in check: mated (fortress: removed)
 *   live (a, s) ───────────────────────────────────────────────────▶ mated (m)
 *      ▲   │ no move, not in check: s until the next move               │    │
 *      │   └─▶ stalemated (s) ── any move ──▶ live (a)                  │    │ leaves
 *      └──────────────── the mate no longer holds (verney) ─────────────┘    ▼
 *   live, mated ── resigns, forfeits ─────────────────────────────────▶ absent (x), for good
 */
#include "rules/play.h"

#include <string.h>

#include "rules/engine.h"
#include "rules/game.h"
#include "rules/state.h"

/* ---------------------------------------------------------------- words */

const char *result_str(enum result result)
{
    static const char *const strings[] = {"none", "team0", "team1", "draw"};

    return strings[result];
}

const char *cause_str(enum cause cause)
{
    static const char *const strings[] = {
        [CAUSE_NONE] = "none",
        [CAUSE_MATE] = "mate",
        [CAUSE_LEAVING] = "leaving",
        [CAUSE_STALEMATE] = "stalemate",
        [CAUSE_THREEFOLD] = "threefold repetition",
        [CAUSE_FIVEFOLD] = "fivefold repetition",
        [CAUSE_FIFTY_ROUNDS] = "fifty rounds",
        [CAUSE_SEVENTY_FIVE_ROUNDS] = "seventy-five rounds",
        [CAUSE_AGREEMENT] = "agreement",
    };

    return strings[cause];
}

const char *event_type_str(enum event_type type)
{
    static const char *const strings[] = {
        [EVENT_NONE] = "none",         [EVENT_MOVED] = "moved",
        [EVENT_CAPTURED] = "captured", [EVENT_EN_PASSANT] = "en-passant",
        [EVENT_LEAPT] = "leapt",       [EVENT_CASTLED] = "castled",
        [EVENT_PROMOTED] = "promoted", [EVENT_TURNED] = "turned",
        [EVENT_CHECK] = "check",       [EVENT_MATED] = "mated",
        [EVENT_RELEASED] = "released", [EVENT_PASSED] = "passed",
        [EVENT_REMOVED] = "removed",   [EVENT_RESIGNED] = "resigned",
        [EVENT_FORFEITED] = "forfeited", [EVENT_TURN] = "turn",
        [EVENT_GAME_OVER] = "game-over",
    };

    return strings[type];
}

const char *leave_verdict_str(enum leave_verdict verdict)
{
    static const char *const strings[] = {
        [LEAVE_OK] = "ok",
        [LEAVE_GAME_OVER] = "the game is over",
        [LEAVE_ABSENT] = "that seat is out of the game already",
        [LEAVE_NOT_ON_TURN] = "a forfeit comes on the seat's own turn",
    };

    return strings[verdict];
}

/* ---------------------------------------------------------------- events */

static void tell(struct outcome *outcome, struct event event)
{
    if (outcome == NULL)
        return;
    if (outcome->count < EVENTS_MAX)
        outcome->count++;
    outcome->at[outcome->count - 1] = event;
}

static void tell_seat(struct outcome *outcome, enum event_type type, enum seat seat)
{
    tell(outcome, (struct event){.type = (uint8_t)type, .seat = (uint8_t)seat});
}

/* The men that attack each king. */
struct checks {
    struct board men[SEATS];
};

static void find_checks(const struct position *pos, struct checks *ret_checks)
{
    for (unsigned seat = 0; seat < SEATS; seat++)
        position_checkers(pos, (enum seat)seat, &ret_checks->men[seat]);
}

/* Tells the checks that were not there before. */
static void tell_checks(const struct position *pos, const struct checks *before,
                        struct outcome *outcome)
{
    struct checks now;
    int square;

    if (outcome == NULL || before == NULL)
        return;
    find_checks(pos, &now);
    for (unsigned seat = 0; seat < SEATS; seat++) {
        while ((square = board_take(&now.men[seat])) != SQUARE_NONE) {
            uint8_t man = pos->men[square];

            if (board_has(&before->men[seat], square) &&
                !(outcome->at[0].type == EVENT_MOVED && outcome->at[0].to == square))
                continue;
            tell(outcome, (struct event){.type = EVENT_CHECK,
                                         .seat = (uint8_t)man_seat(man),
                                         .other = (uint8_t)seat,
                                         .kind = (uint8_t)man_kind(man),
                                         .from = (uint8_t)square,
                                         .to = pos->king[seat]});
        }
    }
}

/* ---------------------------------------------------------------- conditions */

static bool is_out(const struct position *pos, enum seat seat)
{
    return (pos->live >> seat & 1u) == 0;
}

static void end_game(struct position *pos, enum result result, enum cause cause,
                     struct outcome *outcome)
{
    pos->result = (uint8_t)result;
    pos->cause = (uint8_t)cause;
    tell(outcome, (struct event){
                      .type = EVENT_GAME_OVER, .result = pos->result, .cause = pos->cause});
}

/* R-V16 (3), R-V19, R-F15, R-C9. */
static bool look_for_win(struct position *pos, enum cause cause, struct outcome *outcome)
{
    for (unsigned seat = SEAT_SOUTH; seat <= SEAT_WEST; seat++) {
        if (!is_out(pos, (enum seat)seat) || !is_out(pos, seat_partner((enum seat)seat)))
            continue;
        end_game(pos, seat == SEAT_SOUTH ? RESULT_TEAM1 : RESULT_TEAM0, cause, outcome);
        return true;
    }
    return false;
}

static void decide_against(struct position *pos, enum seat seat, enum cause cause,
                           struct outcome *outcome)
{
    end_game(pos, seat_team(seat) == 0 ? RESULT_TEAM1 : RESULT_TEAM0, cause, outcome);
}

/* R-V16 (2). */
static void release(struct position *pos)
{
    unsigned released;

    do {
        unsigned live = pos->live;

        released = 0;
        for (unsigned i = 0; i < SEATS; i++)
            if (pos->condition[i] == CONDITION_MATED && !engine_mated(pos, (enum seat)i, live))
                released |= 1u << i;
        for (unsigned i = 0; i < SEATS; i++)
            if ((released >> i & 1u) != 0)
                position_condition(pos, (enum seat)i, CONDITION_LIVE);
    } while (released != 0);
}

/* R-V16 (1). */
static void judge(struct position *pos, enum seat mover)
{
    unsigned before = pos->live, mated = 0;

    for (unsigned i = 0; i < SEATS; i++)
        if (i != mover && pos->condition[i] != CONDITION_ABSENT &&
            engine_mated(pos, (enum seat)i, before))
            mated |= 1u << i;
    for (unsigned i = 0; i < SEATS; i++)
        if (i != mover && pos->condition[i] != CONDITION_ABSENT)
            position_condition(pos, (enum seat)i,
                               (mated >> i & 1u) != 0 ? CONDITION_MATED : CONDITION_LIVE);
}

/* Tells what has become of the mated since `before`. */
static void tell_conditions(const struct position *pos, const uint8_t before[SEATS],
                            struct outcome *outcome)
{
    for (unsigned i = 0; i < SEATS; i++)
        if (pos->condition[i] == CONDITION_MATED && before[i] != CONDITION_MATED)
            tell_seat(outcome, EVENT_MATED, (enum seat)i);
    for (unsigned i = 0; i < SEATS; i++)
        if (pos->condition[i] == CONDITION_LIVE && before[i] == CONDITION_MATED)
            tell_seat(outcome, EVENT_RELEASED, (enum seat)i);
}

/* R-F14, R-C9: a seat's men leave the board. */
static void remove_army(struct position *pos, enum seat seat, struct outcome *outcome)
{
    struct board men = pos->seats[seat];
    int square;

    while ((square = board_take(&men)) != SQUARE_NONE)
        position_put(pos, square, MAN_NONE);
    pos->king[seat] = 0;
    position_end_rights(pos, seat);
    position_end_passed(pos, seat);
    position_condition(pos, seat, CONDITION_ABSENT);
    tell_seat(outcome, EVENT_REMOVED, seat);
}

/* ---------------------------------------------------------------- whose turn */

/* A seat on its turn, in check, without a move.  True if that ends the game. */
static bool mate_on_turn(struct position *pos, enum seat seat, struct outcome *outcome)
{
    uint8_t before[SEATS];

    switch (pos->variant.game->table->mate) {
    case MATE_REMOVES:
        tell_seat(outcome, EVENT_MATED, seat);
        remove_army(pos, seat, outcome);
        return look_for_win(pos, CAUSE_MATE, outcome);
    case MATE_DECIDES:
        position_condition(pos, seat, CONDITION_MATED);
        tell_seat(outcome, EVENT_MATED, seat);
        decide_against(pos, seat, CAUSE_MATE, outcome);
        return true;
    case MATE_INERT:
        break;
    }
    memcpy(before, pos->condition, sizeof before);
    position_condition(pos, seat, CONDITION_MATED);
    release(pos);
    tell_conditions(pos, before, outcome);
    return look_for_win(pos, CAUSE_MATE, outcome);
}

/* R-V20, R-F16, R-M3: does the stalemate of the seat draw the game? */
static bool stalemate_draws(const struct position *pos, enum seat seat)
{
    enum seat partner = seat_partner(seat);

    return pos->variant.game->table->stalemate_draws || is_out(pos, partner) ||
           (engine()->count(pos, partner, pos->live) == 0 && !position_is_check(pos, partner));
}

/* R-V17, R-F17: looks at the seats in order from `first` until one can move. */
static void find_turn(struct position *pos, enum seat first, struct outcome *outcome)
{
    /* A round in which nobody can move changes a condition or draws.  Two armies that mate and
     * release each other by turns, while nobody else can move, might go round for ever: drawn. */
    for (int looked = 0; looked < 16 * SEATS; looked++) {
        enum seat seat = (enum seat)((first + (unsigned)looked) % SEATS);

        position_end_passed(pos, seat); /* on turn or passed over: R-T1 */
        if (is_out(pos, seat))
            continue;
        if (engine()->count(pos, seat, pos->live) != 0) {
            position_turn(pos, seat);
            tell_seat(outcome, EVENT_TURN, seat);
            return;
        }
        if (position_is_check(pos, seat)) {
            if (mate_on_turn(pos, seat, outcome))
                return;
        } else {
            position_condition(pos, seat, CONDITION_STALEMATED); /* R-C6 */
            tell_seat(outcome, EVENT_PASSED, seat);
            if (stalemate_draws(pos, seat)) {
                end_game(pos, RESULT_DRAW, CAUSE_STALEMATE, outcome);
                return;
            }
        }
    }
    end_game(pos, RESULT_DRAW, CAUSE_STALEMATE, outcome);
}

static void wake_stalemated(struct position *pos)
{
    for (unsigned i = 0; i < SEATS; i++)
        if (pos->condition[i] == CONDITION_STALEMATED)
            position_condition(pos, (enum seat)i, CONDITION_LIVE);
}

static void settle(struct position *pos, enum seat mover, const struct checks *checks_before,
                   struct outcome *outcome)
{
    uint8_t before[SEATS];

    wake_stalemated(pos);
    memcpy(before, pos->condition, sizeof before);
    if (pos->variant.game->table->mate == MATE_INERT) {
        judge(pos, mover);
        release(pos);
    }
    tell_checks(pos, checks_before, outcome);
    tell_conditions(pos, before, outcome);
    if (!look_for_win(pos, CAUSE_MATE, outcome))
        find_turn(pos, seat_left(mover), outcome);
}

void position_settle(struct position *pos, enum seat mover)
{
    settle(pos, mover, NULL, NULL);
}

/* The move is as hypothetical as `live` is: the position's conditions are first made to agree. */
bool play_mate_holds(const struct position *pos, struct move move, enum seat mated, unsigned live)
{
    struct position after = *pos;
    enum seat mover = man_seat(pos->men[move.from]);
    struct undo undo;

    for (unsigned i = 0; i < SEATS; i++)
        if ((live >> i & 1u) != 0 && is_out(&after, (enum seat)i))
            position_condition(&after, (enum seat)i, CONDITION_LIVE);
    engine()->make(&after, move, &undo);
    judge(&after, mover);
    release(&after);
    return after.condition[mated] == CONDITION_MATED;
}

/* ---------------------------------------------------------------- a move */

/* The events of the move itself, told after it has been made. */
static void tell_move(const struct position *pos, struct move move, const struct undo *undo,
                      struct outcome *outcome)
{
    enum seat seat = man_seat(undo->man);
    enum kind kind = man_kind(undo->man), now = man_kind(pos->men[move.to]);
    struct event event = {.seat = (uint8_t)seat,
                          .other = (uint8_t)seat_partner(seat),
                          .kind = (uint8_t)kind,
                          .from = move.from,
                          .to = move.to};

    event.type = EVENT_MOVED;
    tell(outcome, event);
    if (undo->captured != MAN_NONE) {
        event.type = EVENT_CAPTURED;
        event.other = (uint8_t)man_seat(undo->captured);
        event.by_kind = (uint8_t)man_kind(undo->captured);
        event.to = undo->captured_at;
        tell(outcome, event);
        event.to = move.to;
    }
    if (move.type == MOVE_EN_PASSANT) {
        event.type = EVENT_EN_PASSANT;
        tell(outcome, event);
    }
    if (move.type == MOVE_LEAP) {
        event.type = EVENT_LEAPT;
        event.to = (uint8_t)((move.from + move.to) / 2);
        event.by_kind = (uint8_t)man_kind(pos->men[event.to]);
        tell(outcome, event);
        event.to = move.to;
    }
    if (move.type == MOVE_CASTLE) {
        struct castling at;
        bool left;

        game_castling(pos->variant.game, seat, false, &at);
        left = at.king_to != move.to;
        game_castling(pos->variant.game, seat, left, &at);
        event.type = EVENT_CASTLED;
        event.kind = KIND_ROOK;
        event.by_kind = left ? KIND_QUEEN : KIND_KING;
        event.from = at.rook_from;
        event.to = at.rook_to;
        tell(outcome, event);
    } else if (now != kind) {
        event.type = kind_is_pawn(now) ? EVENT_TURNED : EVENT_PROMOTED;
        event.kind = (uint8_t)now;
        tell(outcome, event);
    }
}

enum move_verdict position_play(struct position *pos, struct move move,
                                struct outcome *ret_outcome,
                                struct move_judgement *ret_judgement)
{
    struct move_judgement judgement;
    enum seat mover = (enum seat)pos->turn;
    struct outcome outcome = {.count = 0};
    struct checks checks;
    struct undo undo;

    if (position_judge_move(pos, move, &judgement) != MOVE_LEGAL) {
        if (ret_judgement != NULL)
            *ret_judgement = judgement;
        return judgement.code;
    }
    if (ret_outcome != NULL)
        find_checks(pos, &checks);
    engine()->make(pos, judgement.move, &undo);
    tell_move(pos, judgement.move, &undo, &outcome);
    if (ret_outcome == NULL) {
        settle(pos, mover, NULL, NULL);
    } else {
        settle(pos, mover, &checks, &outcome);
        *ret_outcome = outcome;
    }
    if (ret_judgement != NULL)
        *ret_judgement = judgement;
    return MOVE_LEGAL;
}

/* ---------------------------------------------------------------- leaving */

enum leave_verdict position_leave(struct position *pos, enum seat seat, enum leave_how how,
                                  struct outcome *ret_outcome)
{
    bool on_turn = pos->turn == seat;
    struct outcome outcome = {.count = 0};
    struct checks checks;
    uint8_t before[SEATS];

    if (position_is_over(pos))
        return LEAVE_GAME_OVER;
    if (pos->condition[seat] == CONDITION_ABSENT)
        return LEAVE_ABSENT;
    if (how == LEAVE_FORFEIT && !on_turn)
        return LEAVE_NOT_ON_TURN;
    find_checks(pos, &checks);
    tell_seat(&outcome, how == LEAVE_FORFEIT ? EVENT_FORFEITED : EVENT_RESIGNED, seat);
    wake_stalemated(pos);
    position_end_rights(pos, seat);
    position_end_passed(pos, seat);
    memcpy(before, pos->condition, sizeof before);
    switch (pos->variant.game->table->mate) {
    case MATE_INERT:
        position_condition(pos, seat, CONDITION_ABSENT);
        release(pos);
        tell_checks(pos, &checks, &outcome);
        tell_conditions(pos, before, &outcome);
        look_for_win(pos, CAUSE_LEAVING, &outcome);
        break;
    case MATE_REMOVES:
        remove_army(pos, seat, &outcome);
        tell_checks(pos, &checks, &outcome);
        look_for_win(pos, CAUSE_LEAVING, &outcome);
        break;
    case MATE_DECIDES:
        position_condition(pos, seat, CONDITION_ABSENT);
        decide_against(pos, seat, CAUSE_LEAVING, &outcome);
        break;
    }
    if (!position_is_over(pos))
        find_turn(pos, on_turn ? seat_left(seat) : (enum seat)pos->turn, &outcome);
    if (ret_outcome != NULL)
        *ret_outcome = outcome;
    return LEAVE_OK;
}

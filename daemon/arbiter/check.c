#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/desk.h"
#include "base/str.h"
#include "rules/notation.h"

enum { PAGE = 64 };

/* One game's replay. */
struct replay {
    const struct arbiter *arb;
    struct store_conn *conn;
    const struct game_row *game;
    struct verify *verify;
    struct position pos;
    unsigned char chain[DIGEST_SIZE];
    int64_t state_no;
    /* what the rules say must be told next */
    struct outcome outcome;
    int next;
    /* a page of moves */
    struct move_row moves[PAGE];
    size_t n_moves, at_move;
    /* hashes of all positions, for the draws of R-C7 */
    uint64_t *hashes;
    size_t n_hashes, cap_hashes;
    bool started, broken; /* broken: what follows can't be compared */
};

#define FAULT(r, ...)                                                                              \
    verify_fault_add((r)->verify, (r)->game->id, (r)->game->public_id, __VA_ARGS__)

static enum status keep_hash(struct replay *r, uint64_t hash, struct err *err)
{
    if (r->n_hashes == r->cap_hashes) {
        size_t cap = r->cap_hashes ? 2 * r->cap_hashes : 256;
        uint64_t *grown = realloc(r->hashes, cap * sizeof *grown);
        if (!grown)
            return err_set(err, ST_NOMEM, "verify: the positions of game %s", r->game->public_id);
        r->hashes = grown;
        r->cap_hashes = cap;
    }
    r->hashes[r->n_hashes++] = hash;
    return ST_OK;
}

/* The next thing that must be told, or NULL. */
static const struct event *expected(struct replay *r)
{
    while (r->next < r->outcome.count &&
           event_kind((enum event_type)r->outcome.at[r->next].type) == GAME_EVENT_COUNT_)
        r->next++;
    return r->next < r->outcome.count ? &r->outcome.at[r->next] : NULL;
}

static void all_told(struct replay *r, int64_t seq)
{
    const struct event *e = expected(r);

    if (e) {
        FAULT(r, "before event %" PRId64 " it is not told that %s is %s", seq,
              seat_name((enum seat)e->seat),
              game_event_kind_str(event_kind((enum event_type)e->type)));
        r->next = r->outcome.count;
    }
}

static enum status next_move(struct replay *r, const struct move_row **ret, struct err *err)
{
    if (r->at_move == r->n_moves) {
        TRY(moves_list(r->conn, r->game->id, (int)r->pos.ply + 1, r->moves, PAGE, &r->n_moves,
                       err));
        r->at_move = 0;
    }
    *ret = r->at_move < r->n_moves ? &r->moves[r->at_move++] : NULL;
    return ST_OK;
}

static enum status check_move(struct replay *r, const struct event_row *e, struct err *err)
{
    const struct move_row *m = NULL;
    struct move_reading reading, san;
    char text[200];

    all_told(r, e->seq);
    TRY(next_move(r, &m, err));
    if (!m || m->seq != e->seq || strcmp(m->move, e->move) != 0 || m->seat != e->seat ||
        m->ply != e->ply) {
        FAULT(r, "event %" PRId64 " (ply %d) and the move of that ply differ", e->seq, e->ply);
        r->broken = true;
        return ST_OK;
    }
    if (m->ply != (int)r->pos.ply + 1 || m->seat != r->pos.turn) {
        FAULT(r, "ply %d: it is the turn of %s at ply %u", m->ply,
              seat_name((enum seat)r->pos.turn), (unsigned)r->pos.ply + 1);
        r->broken = true;
        return ST_OK;
    }
    if (move_read(&r->pos, m->move, strlen(m->move), &reading) != READ_MOVE) {
        (void)move_reading_sentence(&r->pos, &reading, text, sizeof text);
        FAULT(r, "ply %d: the move %s is not legal: %s", m->ply, m->move, text);
        r->broken = true;
        return ST_OK;
    }
    if (move_read(&r->pos, m->san, strlen(m->san), &san) != READ_MOVE ||
        !move_is_same(san.move, reading.move) || strcmp(m->san, e->san) != 0)
        FAULT(r, "ply %d: %s does not mean the move %s", m->ply, m->san, m->move);
    (void)position_play(&r->pos, reading.move, &r->outcome, NULL);
    r->next = 0;
    if (m->position_hash != r->pos.hash || e->position_hash != r->pos.hash)
        FAULT(r, "ply %d: the position's hash is %016" PRIx64 ", stored is %016" PRIx64, m->ply,
              r->pos.hash, m->position_hash);
    chain_next(&r->arb->digest, r->chain, m, r->chain);
    if (memcmp(r->chain, m->chain, DIGEST_SIZE) != 0) {
        FAULT(r, "ply %d: the hash chain is broken", m->ply);
        memcpy(r->chain, m->chain, DIGEST_SIZE); /* said once */
    }
    return keep_hash(r, r->pos.hash, err);
}

static enum status check_leaving(struct replay *r, const struct event_row *e, struct err *err)
{
    enum leave_how how = e->kind == GAME_EVENT_RESIGNED ? LEAVE_RESIGN : LEAVE_FORFEIT;

    all_told(r, e->seq);
    if (e->seat < 0 || position_leave(&r->pos, (enum seat)e->seat, how, &r->outcome) != LEAVE_OK) {
        FAULT(r, "event %" PRId64 ": that seat cannot be %s", e->seq, game_event_kind_str(e->kind));
        r->broken = true;
        return ST_OK;
    }
    r->next = 0;
    if (e->position_hash != r->pos.hash)
        FAULT(r, "event %" PRId64 ": the position's hash is %016" PRIx64 ", stored is %016" PRIx64,
              e->seq, r->pos.hash, e->position_hash);
    return keep_hash(r, r->pos.hash, err);
}

static enum status check_event(struct replay *r, const struct event_row *e, struct err *err)
{
    const struct event *want;

    switch (e->kind) {
    case GAME_EVENT_STARTED:
        r->started = true;
        r->state_no = e->seq;
        if (e->position_hash != r->pos.hash)
            FAULT(r, "the start position's hash is wrong");
        return ST_OK;
    case GAME_EVENT_MOVE:
        r->state_no = e->seq;
        return check_move(r, e, err);
    case GAME_EVENT_RESIGNED:
    case GAME_EVENT_FORFEITED:
        r->state_no = e->seq;
        return check_leaving(r, e, err);
    case GAME_EVENT_MATED:
    case GAME_EVENT_RELEASED:
    case GAME_EVENT_REMOVED:
    case GAME_EVENT_PASSED:
        r->state_no = e->seq;
        want = expected(r);
        if (!want || event_kind((enum event_type)want->type) != e->kind || want->seat != e->seat)
            FAULT(r, "event %" PRId64 ": by the rules that seat is not %s then", e->seq,
                  game_event_kind_str(e->kind));
        else
            r->next++;
        return ST_OK;
    case GAME_EVENT_TURN:
        r->state_no = e->seq;
        all_told(r, e->seq);
        if (e->seat != r->pos.turn)
            FAULT(r, "event %" PRId64 ": it is not the turn of that seat", e->seq);
        return ST_OK;
    case GAME_EVENT_FINISHED:
        all_told(r, e->seq);
        if (e->result != r->game->result || e->cause != r->game->cause)
            FAULT(r, "event %" PRId64 " and the game name different results", e->seq);
        return ST_OK;
    default:
        return ST_OK;
    }
}

/* Does the result follow from how the game stands? */
static void check_result(struct replay *r)
{
    const struct game_row *g = r->game;
    enum draw_verdict draw = draw_by_history(r->hashes, r->n_hashes, r->pos.count);
    bool fits = true;

    if (position_is_over(&r->pos)) {
        if (g->state != GAME_FINISHED || (int)g->result != r->pos.result ||
            (int)g->cause != r->pos.cause)
            FAULT(r, "by the rules it is over: %s by %s", result_str((enum result)r->pos.result),
                  cause_str((enum cause)r->pos.cause));
        return;
    }
    if (g->state == GAME_RUNNING && (draw == DRAW_FIVEFOLD || draw == DRAW_COUNT))
        FAULT(r, "by the rules it is drawn: %s", draw_verdict_str(draw));
    if (g->state != GAME_FINISHED)
        return;
    switch (g->cause) {
    case GAME_CAUSE_FIVEFOLD:
        fits = draw == DRAW_FIVEFOLD;
        break;
    case GAME_CAUSE_THREEFOLD:
        fits = repetition_count(r->hashes, r->n_hashes) >= REPEATS_CLAIM;
        break;
    case GAME_CAUSE_FIFTY_ROUNDS:
        fits = r->pos.count >= COUNT_CLAIM;
        break;
    case GAME_CAUSE_SEVENTY_FIVE_ROUNDS:
        fits = r->pos.count >= COUNT_DRAWN;
        break;
    case GAME_CAUSE_AGREEMENT:
        break;
    case GAME_CAUSE_ADJUDICATION:
        return; /* any result */
    default:
        fits = false;
        break;
    }
    if (!fits || g->result != GAME_RESULT_DRAW)
        FAULT(r, "its end (%s by %s) does not follow from its moves", game_result_str(g->result),
              game_cause_str(g->cause));
}

static enum status check_clock(struct replay *r, struct err *err)
{
    const struct game_row *g = r->game;
    struct deadline deadline, told;
    enum status st = turn_deadline(r->conn, g, &deadline, err);

    if (st == ST_INTERNAL || st == ST_CORRUPT || st == ST_ILLEGAL) {
        FAULT(r, "its clock cannot be reckoned");
        return ST_OK;
    }
    if (st != ST_OK)
        return st;
    if (deadline.deadline_at != g->deadline_at)
        FAULT(r, "the deadline does not follow from the clock's facts");
    if (deadline_parse_items(g->explanation, g->grace_ms, g->paused_at, &told, NULL) != ST_OK ||
        (g->paused_at == UTC_NONE && told.deadline_at != g->deadline_at))
        FAULT(r, "the explanation of the deadline does not add up to it");
    return ST_OK;
}

enum { TIMERS_MAX = 16 };

/* A held move answers the game as it stands and can be made. */
static void check_held_move(struct replay *r, const struct held_row *held)
{
    const struct game_row *g = r->game;
    struct move_reading reading;

    if (g->state != GAME_RUNNING || g->paused_at != UTC_NONE || held->state_no != g->state_no ||
        held->seat != g->turn_seat || held->user_id != g->turn_user_id)
        FAULT(r, "a move is held that does not answer the game as it stands");
    else if (move_read(&r->pos, held->move, strlen(held->move), &reading) != READ_MOVE)
        FAULT(r, "the move %s that is held is not legal", held->move);
}

/* What is held fits the game, and something will let it take effect. */
static enum status check_held(struct replay *r, struct err *err)
{
    const struct game_row *g = r->game;
    struct timer_row timers[TIMERS_MAX];
    struct held_row held[SEATS];
    struct seat_row seats[SEATS];
    size_t n = 0, n_timers = 0;

    TRY(held_of_game(r->conn, g->id, held, &n, err));
    if (n == 0)
        return ST_OK;
    TRY(seats_get(r->conn, g->id, seats, err));
    TRY(timers_of_game(r->conn, g->id, timers, TIMERS_MAX, &n_timers, err));
    for (size_t i = 0; i < n; i++) {
        const struct seat_row *seat = &seats[held[i].seat];
        bool has_timer = false;

        if (held[i].kind == HELD_MOVE)
            check_held_move(r, &held[i]);
        else if (g->state != GAME_RUNNING || held[i].state_no > g->state_no ||
                 seat->user_id != held[i].user_id || seat->left_how != SEAT_STAYED ||
                 seat_is_absent(g, held[i].seat))
            FAULT(r, "a resignation is held that cannot take effect");
        for (size_t j = 0; j < n_timers; j++)
            has_timer = has_timer ||
                        (timers[j].kind == TIMER_HELD && timers[j].seat == held[i].seat);
        if (!has_timer)
            FAULT(r, "a %s is held and no timer will let it take effect",
                  held[i].kind == HELD_MOVE ? "move" : "resignation");
    }
    return ST_OK;
}

static enum status check_end(struct replay *r, struct err *err)
{
    const struct game_row *g = r->game;
    char text[GAME_POSITION_SIZE];

    all_told(r, g->last_seq + 1);
    (void)position_print(&r->pos, text, sizeof text);
    if (strcmp(text, g->position) != 0)
        FAULT(r, "its moves lead to another position: %s", text);
    if (g->position_hash != r->pos.hash || g->ply != (int)r->pos.ply)
        FAULT(r, "hash or number of moves are not those of its position");
    for (int s = 0; s < SEATS; s++) {
        if (g->conditions[s] != arbiter_condition_letter(r->pos.condition[s]))
            FAULT(r, "the condition of %s is not %c", seat_name((enum seat)s), g->conditions[s]);
    }
    if (g->state == GAME_RUNNING && g->turn_seat != r->pos.turn)
        FAULT(r, "it is the turn of %s", seat_name((enum seat)r->pos.turn));
    if (g->state_no != r->state_no)
        FAULT(r, "its state number is %" PRId64 ", not %" PRId64, r->state_no, g->state_no);
    if (g->has_chain != (g->ply > 0) ||
        (g->has_chain && memcmp(g->chain, r->chain, DIGEST_SIZE) != 0))
        FAULT(r, "the end of its hash chain is not that of its last move");
    check_result(r);
    TRY(check_held(r, err));
    return g->state == GAME_RUNNING ? check_clock(r, err) : ST_OK;
}

static enum status replay_all(struct replay *r, struct err *err)
{
    struct event_row *rows = calloc(PAGE, sizeof *rows);
    enum status st = ST_OK;
    int64_t since = 0;
    size_t n = 0;

    if (!rows)
        return err_set(err, ST_NOMEM, "verify: the events of game %s", r->game->public_id);
    do {
        st = events_of_game(r->conn, r->game->id, since, rows, PAGE, &n, err);
        for (size_t i = 0; st == ST_OK && i < n && !r->broken; i++) {
            since = rows[i].seq;
            st = check_event(r, &rows[i], err);
        }
    } while (st == ST_OK && n == PAGE && !r->broken);
    free(rows);
    return st;
}

enum status arbiter_verify_game(void *arg, struct store_conn *conn, const struct game_row *game,
                                struct verify *verify, struct err *err)
{
    struct replay *r = NULL;
    struct variant variant;
    struct position_error bad;
    char text[200];
    enum status st = ST_OK;

    if (game->start_position[0] == '\0') { /* it never started */
        if (game->position[0] != '\0' || game->ply != 0)
            verify_fault_add(verify, game->id, game->public_id, "it has moves but no start");
        return ST_OK;
    }
    if (variant_parse(game->rules, &variant, NULL) != VARIANT_OK) {
        verify_fault_add(verify, game->id, game->public_id, "its rules cannot be read: %s",
                         game->rules);
        return ST_OK;
    }
    r = calloc(1, sizeof *r);
    if (!r)
        return err_set(err, ST_NOMEM, "verify: game %s", game->public_id);
    r->arb = arg;
    r->conn = conn;
    r->game = game;
    r->verify = verify;
    if (position_parse(&variant, game->start_position, &r->pos, &bad) != POSITION_OK) {
        (void)position_error_sentence(variant.game, &bad, text, sizeof text);
        FAULT(r, "its start position cannot be read: %s", text);
        goto out;
    }
    chain_start(&r->arb->digest, game, r->chain);
    st = keep_hash(r, r->pos.hash, err);
    if (st == ST_OK)
        st = replay_all(r, err);
    if (st == ST_OK && !r->broken)
        st = check_end(r, err);
out:
    free(r->hashes);
    free(r);
    return st;
}

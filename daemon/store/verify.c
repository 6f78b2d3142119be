/* store/verify.c - see verify.h. */
#include "store/verify.h"

#include <stdio.h>
#include <string.h>

#include "store/internal.h"

enum { PAGE = 256, PROGRESS = 1000, INTEGRITY_FAULTS = 100 };

struct verify {
    const struct verify_options *options;
    struct store_conn *conn;
    struct verify_report report;
};

void verify_fault_add(struct verify *verify, int64_t game_id, const char *public_id,
                      const char *fmt, ...)
{
    char text[512];
    struct verify_fault fault = {.game_id = game_id, .what = text};
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (public_id)
        (void)snprintf(fault.public_id, sizeof fault.public_id, "%s", public_id);
    verify->report.faults++;
    verify->options->fault(verify->options->arg, &fault);
}

#define GAME_FAULT(v, g, ...) verify_fault_add((v), (g)->id, (g)->public_id, __VA_ARGS__)

/* ---------------------------------------------------------------- the file as a whole */

static enum status check_pragma(struct verify *v, const char *sql, const char *fine, int columns,
                                struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    enum status st = ST_OK;
    int rc;

    if (sqlite3_prepare_v2(v->conn->db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return conn_fail(v->conn, err, sql);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *first = (const char *)sqlite3_column_text(stmt, 0);

        if (fine && first && strcmp(first, fine) == 0)
            continue;
        if (columns > 1)
            verify_fault_add(v, 0, NULL, "%s: row %lld of %s refers to one of %s that is not there",
                             sql, (long long)sqlite3_column_int64(stmt, 1), first ? first : "?",
                             (const char *)sqlite3_column_text(stmt, 2));
        else
            verify_fault_add(v, 0, NULL, "%s: %s", sql, first ? first : "?");
    }
    if (rc != SQLITE_DONE) {
        st = conn_fail(v->conn, err, sql);
        if (st == ST_CORRUPT) { /* that is a finding, not a failure to look */
            verify_fault_add(v, 0, NULL, "%s: %s", sql, sqlite3_errmsg(v->conn->db));
            st = ST_OK;
        }
    }
    (void)sqlite3_finalize(stmt);
    return st;
}

/* A statement that counts rows that should not be. */
static enum status check_none(struct verify *v, enum query_id id, const char *what,
                              struct err *err)
{
    struct query q = query_begin(v->conn, id);
    int64_t n = 0;
    enum status st = query_int(&q, &n, err);

    if (st == ST_OK && n > 0)
        verify_fault_add(v, 0, NULL, "%s (%lld)", what, (long long)n);
    return st;
}

/* ---------------------------------------------------------------- one game */

static enum status count_of(struct verify *v, enum query_id id, int64_t game_id, int64_t *ret,
                            struct err *err)
{
    struct query q = query_begin(v->conn, id);

    bind_int(&q, game_id);
    return query_int(&q, ret, err);
}

/* The same as check_none() for a game. */
static enum status game_none(struct verify *v, const struct game_row *g, enum query_id id,
                             const char *what, struct err *err)
{
    int64_t n = 0;
    enum status st = count_of(v, id, g->id, &n, err);

    if (st == ST_OK && n > 0)
        GAME_FAULT(v, g, "%s (%lld)", what, (long long)n);
    return st;
}

static enum status check_events(struct verify *v, const struct game_row *g, struct err *err)
{
    struct query q = query_begin(v->conn, Q_VERIFY_EVENTS);
    int64_t n = 0, min = 0, max = 0, last_id = 0, ply = 0, state_no = 0;
    bool has_row = false;
    enum status st;

    bind_int(&q, g->id);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && has_row) {
        n = column_int(&q);
        min = column_int(&q);
        max = column_int(&q);
        last_id = column_int(&q);
        ply = column_int(&q);
        state_no = column_int(&q);
    }
    st = query_end(&q, st, err);
    if (st != ST_OK)
        return st;
    v->report.events += n;
    if (n > 0 && (min != 1 || max != n))
        GAME_FAULT(v, g, "its %lld events are numbered %lld to %lld", (long long)n,
                   (long long)min, (long long)max);
    if (max != g->last_seq)
        GAME_FAULT(v, g, "its last event is %lld, the game says %lld", (long long)max,
                   (long long)g->last_seq);
    if (last_id != g->last_event_id)
        GAME_FAULT(v, g, "its last event has id %lld, the game says %lld", (long long)last_id,
                   (long long)g->last_event_id);
    if (state_no != g->state_no)
        GAME_FAULT(v, g, "its events lead to state %lld, the game says %lld",
                   (long long)state_no, (long long)g->state_no);
    if (ply != g->ply)
        GAME_FAULT(v, g, "its events lead to ply %lld, the game says %d", (long long)ply, g->ply);
    return game_none(v, g, Q_VERIFY_EVENTS_ORDER, "events are not in the order of their ids", err);
}

static enum status check_moves(struct verify *v, const struct game_row *g, struct err *err)
{
    struct query q = query_begin(v->conn, Q_VERIFY_MOVES);
    int64_t n = 0, min = 0, max = 0, told = 0;
    unsigned char chain[STORE_HASH_SIZE] = {0};
    bool has_row = false;
    enum status st;

    bind_int(&q, g->id);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && has_row) {
        n = column_int(&q);
        min = column_int(&q);
        max = column_int(&q);
    }
    st = query_end(&q, st, err);
    if (st != ST_OK)
        return st;
    v->report.moves += n;
    if (n > 0 && (min != 1 || max != n))
        GAME_FAULT(v, g, "its %lld moves are numbered %lld to %lld", (long long)n, (long long)min,
                   (long long)max);
    if (n != g->ply)
        GAME_FAULT(v, g, "%lld moves stand, the game says %d", (long long)n, g->ply);
    st = count_of(v, Q_VERIFY_EVENT_MOVES, g->id, &told, err);
    if (st == ST_OK && told < n)
        GAME_FAULT(v, g, "events tell of %lld moves, %lld stand", (long long)told, (long long)n);
    if (st == ST_OK)
        st = game_none(v, g, Q_VERIFY_MOVE_EVENTS, "moves that are not as their events tell", err);
    if (st != ST_OK)
        return st;
    q = query_begin(v->conn, Q_VERIFY_LAST_CHAIN);
    bind_int(&q, g->id);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && has_row)
        (void)column_bytes(&q, chain, sizeof chain);
    st = query_end(&q, st, err);
    if (st != ST_OK)
        return st;
    if (has_row != g->has_chain)
        GAME_FAULT(v, g, "it has %s and %s", has_row ? "moves" : "no moves",
                   g->has_chain ? "a chain hash" : "no chain hash");
    else if (has_row && memcmp(chain, g->chain, sizeof chain) != 0)
        GAME_FAULT(v, g, "its chain hash is not that of its last move");
    return ST_OK;
}

static void check_state(struct verify *v, const struct game_row *g,
                        const struct seat_row seats[SEAT_COUNT])
{
    bool is_over = g->state == GAME_FINISHED || g->state == GAME_ABORTED;

    if (is_over != (g->ended_at != UTC_NONE))
        GAME_FAULT(v, g, "it is %s and %s when it ended", game_state_str(g->state),
                   g->ended_at == UTC_NONE ? "does not say" : "says");
    if (is_over == (g->cause == GAME_CAUSE_NONE))
        GAME_FAULT(v, g, "it is %s with the cause %s", game_state_str(g->state),
                   game_cause_str(g->cause));
    if ((g->state == GAME_RUNNING || g->state == GAME_FINISHED) &&
        (g->position[0] == '\0' || g->start_position[0] == '\0' || g->started_at == UTC_NONE))
        GAME_FAULT(v, g, "it is %s and lacks a position or its start", game_state_str(g->state));
    if (is_over && g->paused_at != UTC_NONE)
        GAME_FAULT(v, g, "it is over and paused");
    if (g->paused_at != UTC_NONE && g->deadline_at != UTC_NONE)
        GAME_FAULT(v, g, "it is paused and has a deadline");
    if (g->state == GAME_RUNNING && g->paused_at == UTC_NONE && g->deadline_at == UTC_NONE)
        GAME_FAULT(v, g, "it is running without a deadline");
    if (g->turn_seat >= 0) {
        if (seats[g->turn_seat].user_id != g->turn_user_id)
            GAME_FAULT(v, g, "it waits for user %lld, seat %d is held by %lld",
                       (long long)g->turn_user_id, g->turn_seat,
                       (long long)seats[g->turn_seat].user_id);
        if (seats[g->turn_seat].left_how != SEAT_STAYED)
            GAME_FAULT(v, g, "it waits for seat %d, which has left", g->turn_seat);
    }
    for (int i = 0; i < SEAT_COUNT; i++)
        if (seats[i].left_how != SEAT_STAYED && g->conditions[i] != 'x')
            GAME_FAULT(v, g, "seat %d has left, its condition is %c", i, g->conditions[i]);
}

static enum status check_people(struct verify *v, const struct game_row *g, struct err *err)
{
    struct seat_row seats[SEAT_COUNT];
    bool is_over = g->state == GAME_FINISHED || g->state == GAME_ABORTED;
    int64_t n = 0;
    int open = 0;
    struct query q;
    enum status st = seats_get(v->conn, g->id, seats, err);

    if (st == ST_CORRUPT) {
        GAME_FAULT(v, g, "it does not have its four seats");
        return ST_OK;
    }
    if (st != ST_OK)
        return st;
    check_state(v, g, seats);
    for (int i = 0; i < SEAT_COUNT; i++) {
        open += seats[i].state == SEAT_OPEN;
        if (g->state != GAME_OPEN && g->state != GAME_ABORTED && seats[i].state != SEAT_TAKEN &&
            seats[i].state != SEAT_VACANT)
            GAME_FAULT(v, g, "it is %s and seat %d is %s", game_state_str(g->state), i,
                       seat_state_str(seats[i].state));
    }
    if (open != g->open_seats)
        GAME_FAULT(v, g, "%d seats are open, the game says %d", open, g->open_seats);
    st = game_none(v, g, Q_VERIFY_HOLDERS, "seats whose holder is another than the list says", err);
    if (st == ST_OK)
        st = game_none(v, g, Q_VERIFY_INVITED, "seats kept without an invitation, or invitations "
                                               "to seats not kept", err);
    if (st == ST_OK)
        st = game_none(v, g, Q_VERIFY_MEMBERS, "players who do not belong to it", err);
    if (st != ST_OK)
        return st;
    q = query_begin(v->conn, Q_VERIFY_MEMBERS_OVER);
    bind_int(&q, g->id);
    bind_int(&q, is_over);
    st = query_int(&q, &n, err);
    if (st == ST_OK && n > 0)
        GAME_FAULT(v, g, "%lld members do not know that it is %s", (long long)n,
                   is_over ? "over" : "going on");
    return st;
}

static enum status check_rest(struct verify *v, const struct game_row *g, struct err *err)
{
    bool is_over = g->state == GAME_FINISHED || g->state == GAME_ABORTED;
    int64_t votes = 0, timers = 0, ends = 0;
    enum status st = count_of(v, Q_VERIFY_VOTES, g->id, &votes, err);

    if (st == ST_OK)
        st = count_of(v, Q_VERIFY_TIMERS, g->id, &timers, err);
    if (st == ST_OK)
        st = count_of(v, Q_VERIFY_END_EVENT, g->id, &ends, err);
    if (st != ST_OK)
        return st;
    if (votes > 0 && g->state != GAME_RUNNING)
        GAME_FAULT(v, g, "it is %s and a vote is open", game_state_str(g->state));
    if (is_over && timers > 0)
        GAME_FAULT(v, g, "it is over and %lld timers are set", (long long)timers);
    if (g->state == GAME_RUNNING && g->paused_at == UTC_NONE && timers == 0)
        GAME_FAULT(v, g, "it is running and no timer is set");
    if (ends != (is_over ? 1 : 0))
        GAME_FAULT(v, g, "it is %s and %lld events say that it ended", game_state_str(g->state),
                   (long long)ends);
    return ST_OK;
}

static enum status check_game(struct verify *v, int64_t id, struct err *err)
{
    struct game_row g;
    enum status st = games_get(v->conn, id, &g, err);

    if (st == ST_CORRUPT) {
        verify_fault_add(v, id, NULL, "its row cannot be read: %s", err ? err->text : "");
        return ST_OK;
    }
    if (st == ST_OK)
        st = check_events(v, &g, err);
    if (st == ST_OK)
        st = check_moves(v, &g, err);
    if (st == ST_OK)
        st = check_people(v, &g, err);
    if (st == ST_OK)
        st = check_rest(v, &g, err);
    if (st == ST_OK && v->options->game)
        st = v->options->game(v->options->arg, v->conn, &g, v, err);
    v->report.games++;
    if (v->options->progress && v->report.games % PROGRESS == 0)
        v->options->progress(v->options->arg, v->report.games);
    return st;
}

static enum status check_games(struct verify *v, struct store_reader *reader, struct err *err)
{
    int64_t ids[PAGE], after = 0;
    size_t n = 0;
    enum status st;

    do {
        st = games_ids(v->conn, GAME_ANY, after, ids, PAGE, &n, err);
        for (size_t i = 0; st == ST_OK && i < n; i++) {
            st = store_read_begin(reader, err); /* this game in one snapshot */
            if (st == ST_OK)
                st = check_game(v, ids[i], err);
            store_read_end(reader);
            after = ids[i];
        }
    } while (st == ST_OK && n == PAGE);
    return st;
}

/* ---------------------------------------------------------------- all of it */

static enum status check_file(struct verify *v, struct store_reader *reader, struct err *err)
{
    enum status st = check_pragma(v, v->options->quick ? "PRAGMA quick_check"
                                                       : "PRAGMA integrity_check", "ok", 1, err);

    if (st == ST_OK)
        st = check_pragma(v, "PRAGMA foreign_key_check", NULL, 3, err);
    if (st == ST_OK)
        st = store_read_begin(reader, err);
    if (st == ST_OK)
        st = check_none(v, Q_VERIFY_TALLY, "states whose number of games is not as counted", err);
    if (st == ST_OK)
        st = check_none(v, Q_VERIFY_WEBHOOKS_BUSY, "webhooks busy with nothing", err);
    if (st == ST_OK)
        st = check_none(v, Q_VERIFY_WEBHOOKS_DUE, "webhooks that do not know what waits for them",
                        err);
    if (st == ST_OK)
        st = check_none(v, Q_VERIFY_TOKENS_KEPT, "letters kept that should have been erased", err);
    if (st == ST_OK)
        st = check_none(v, Q_VERIFY_ATTEMPTS, "notices with more attempts than they count", err);
    if (st == ST_OK)
        st = check_none(v, Q_VERIFY_INBOX_RAW, "letters whose bytes are not where they should be",
                        err);
    store_read_end(reader);
    return st;
}

enum status verify_run(struct store *store, const struct verify_options *options,
                       struct verify_report *ret_report, struct err *err)
{
    struct verify v = {.options = options};
    struct store_reader *reader = NULL;
    enum status st = store_reader_open(store, &reader, err);

    if (st != ST_OK)
        return st;
    v.conn = store_reader_conn(reader);
    st = check_file(&v, reader, err);
    if (st == ST_OK)
        st = check_games(&v, reader, err);
    store_reader_close(reader);
    *ret_report = v.report;
    return st;
}

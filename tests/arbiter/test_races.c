/* X2, X3: of things that race, exactly one wins.  Threads go through the real writer thread. */
#include "arbiter/table.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { THREADS = 100 };

struct runner {
    struct call call;
    enum status st;
    struct err err;
    pthread_barrier_t *barrier;
};

static void *run_one(void *arg)
{
    struct runner *r = arg;

    (void)pthread_barrier_wait(r->barrier);
    r->st = call_run(&r->call, &r->err);
    return NULL;
}

/* All at once; returns how many were taken. */
static int race(struct runner *runners, int n)
{
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    int taken = 0;

    assert_true(n <= THREADS);
    assert_int_equal(pthread_barrier_init(&barrier, NULL, (unsigned)n), 0);
    for (int i = 0; i < n; i++) {
        runners[i].barrier = &barrier;
        assert_int_equal(pthread_create(&threads[i], NULL, run_one, &runners[i]), 0);
    }
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(pthread_barrier_destroy(&barrier), 0);
    for (int i = 0; i < n; i++)
        taken += runners[i].st == ST_OK;
    return taken;
}

static struct runner *runners_new(int n)
{
    struct runner *r = calloc((size_t)n, sizeof *r);

    assert_non_null(r);
    return r;
}

static void test_X2_of_a_hundred_moves_one_is_made(void **state)
{
    static const char *const moves[] = {"e2e3", "Nf3", "d2d3", "k2k3", "Nd3"};
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct runner *r = runners_new(THREADS);

    for (int i = 0; i < THREADS; i++) {
        r[i].call = acts(t, OP_MOVE, game, SOUTH);
        r[i].call.text = moves[i % 5];
    }
    table_start_thread(t);
    assert_int_equal(race(r, THREADS), 1);
    for (int i = 0; i < THREADS; i++) {
        if (r[i].st != ST_OK)
            assert_int_equal(r[i].err.reason, REASON_STATE_MISMATCH);
    }
    assert_int_equal(game_get(t, game).ply, 1);
    assert_int_equal(count_events(t, game, GAME_EVENT_MOVE), 1);
    assert_sound(t, game);
    free(r);
}

static void test_X2_a_resignation_racing_a_move(void **state)
{
    enum { TABLES = 25 };
    struct table *t = *state;
    struct runner *r = runners_new(2 * TABLES);
    int64_t games[TABLES];

    for (int i = 0; i < TABLES; i++) {
        games[i] = game_start(t, "verney");
        r[2 * i].call = acts(t, OP_MOVE, games[i], SOUTH);
        r[2 * i].call.text = "e2e3";
        r[2 * i + 1].call = acts(t, OP_RESIGN, games[i], i % 2 ? SOUTH : EAST);
    }
    table_start_thread(t);
    assert_int_equal(race(r, 2 * TABLES), TABLES);
    for (int i = 0; i < TABLES; i++) {
        bool moved = r[2 * i].st == ST_OK, resigned = r[2 * i + 1].st == ST_OK;
        assert_true(moved != resigned);
        assert_int_equal(count_events(t, games[i], GAME_EVENT_MOVE), moved);
        assert_int_equal(count_events(t, games[i], GAME_EVENT_RESIGNED), resigned);
        assert_int_equal((moved ? r[2 * i + 1] : r[2 * i]).err.reason, REASON_STATE_MISMATCH);
        assert_sound(t, games[i]);
    }
    free(r);
}

/* X5: the move comes at the last instant, the tick a millisecond later; which is run first is
 * the queue's affair. */
static void test_X2_a_move_racing_the_flag(void **state)
{
    enum { TABLES = 40 };
    struct table *t = *state;
    struct runner *r = runners_new(TABLES + 10);
    int64_t games[TABLES];
    utc_ms end = T0 + 36 * MS_HOUR;

    for (int i = 0; i < TABLES; i++)
        games[i] = game_start_days(t, "verney", 1);
    while (now_of(t) < end) {
        pass(t, 4 * MS_MINUTE);
        tick_all(t, false);
    }
    for (int i = 0; i < TABLES; i++) {
        r[i].call = acts(t, OP_MOVE, games[i], SOUTH);
        r[i].call.text = "e2e3";
        r[i].call.at = end;
        r[i].call.has_at = true;
    }
    for (int i = TABLES; i < TABLES + 10; i++) {
        r[i].call = (struct call){.op = OP_TICK, .t = t, .limit = 5, .at = end + 1,
                                  .has_at = true};
    }
    table_start_thread(t);
    (void)race(r, TABLES + 10);
    int64_t forfeits = 0;
    for (int i = TABLES; i < TABLES + 10; i++) {
        assert_int_equal(r[i].st, ST_OK);
        assert_int_equal(r[i].call.report.failed, 0);
        forfeits += r[i].call.report.forfeits;
    }
    for (int i = 0; i < TABLES; i++) {
        bool moved = r[i].st == ST_OK;
        int flagged = count_events(t, games[i], GAME_EVENT_FORFEITED);
        assert_int_equal(count_events(t, games[i], GAME_EVENT_MOVE), moved);
        assert_true(!(moved && flagged));
        if (!moved) {
            assert_int_equal(r[i].err.reason, REASON_STATE_MISMATCH);
            assert_int_equal(flagged, 1);
        }
        forfeits -= flagged;
        assert_sound(t, games[i]);
    }
    assert_int_equal(forfeits, 0);
    free(r);
}

/* What is held at HELD_TABLES tables, and RIVALS_EACH who come at the instant of its release. */
enum { HELD_TABLES = 40, RIVALS_EACH = 2, RELEASE_TICKS = 8 };

/* South holds something (op) everywhere; then, all at once, the rivals of its last instant, in
 * varying pairs, and ticks of its release.  Whoever resigns among them is `resigner`.  The runners
 * of table i begin at i * RIVALS_EACH; the caller frees them. */
static struct runner *race_for_held(struct table *t, enum op op, const enum op *rivals,
                                    int n_rivals, int resigner, int64_t games[HELD_TABLES])
{
    struct runner *r = runners_new(HELD_TABLES * RIVALS_EACH + RELEASE_TICKS);
    utc_ms release_at = now_of(t) + MS_MINUTE;

    for (int i = 0; i < HELD_TABLES; i++) {
        games[i] = game_start(t, "verney");
        struct call c = acts(t, op, games[i], SOUTH);
        c.text = op == OP_HOLD ? "e3" : c.text;
        c.release_at = release_at;
        call_ok(&c);
    }
    for (int i = 0; i < HELD_TABLES; i++) {
        for (int k = 0; k < RIVALS_EACH; k++) {
            struct runner *x = &r[i * RIVALS_EACH + k];
            enum op rival = rivals[(i + k * (1 + i / n_rivals)) % n_rivals];
            x->call = acts(t, rival, games[i],
                           rival == OP_RESIGN                       ? resigner
                           : rival == OP_PAUSE || rival == OP_ABORT ? ORGANISER
                                                                    : SOUTH);
            x->call.text = rival == OP_MOVE ? "d3" : "";
            x->call.at = release_at - 1; /* those of the last instant, run by whichever order */
            x->call.has_at = true;
        }
    }
    for (int i = HELD_TABLES * RIVALS_EACH; i < HELD_TABLES * RIVALS_EACH + RELEASE_TICKS; i++)
        r[i].call = (struct call){.op = OP_TICK, .t = t, .limit = 9, .at = release_at,
                                  .has_at = true};
    table_start_thread(t);
    (void)race(r, HELD_TABLES * RIVALS_EACH + RELEASE_TICKS);
    tick_all(t, false);
    return r;
}

/* A held move is played, taken back, dropped or replaced, and only one of these, whoever comes at
 * the instant of its release. */
static void test_X2_what_becomes_of_a_held_move_is_one_thing(void **state)
{
    static const enum op rivals[] = {OP_UNDO, OP_MOVE, OP_RESIGN, OP_PAUSE, OP_ABORT};
    struct table *t = *state;
    int64_t games[HELD_TABLES];
    struct runner *r = race_for_held(t, OP_HOLD, rivals, (int)COUNT_OF(rivals), WEST, games);
    int dropped = 0;
    for (int i = 0; i < HELD_TABLES; i++) {
        struct runner *x = &r[i * RIVALS_EACH];
        int moves = count_events(t, games[i], GAME_EVENT_MOVE);
        bool is_undone = false;
        for (int k = 0; k < RIVALS_EACH; k++)
            is_undone = is_undone || (x[k].call.op == OP_UNDO && x[k].st == ST_OK);
        assert_true(moves <= 1);
        struct held_row held;
        bool is_held = held_get(store_reader_conn(t->reader), games[i], &held, NULL) == ST_OK;
        if (is_undone)
            assert_false(is_held);
        if (moves == 1 && is_undone) /* then it was another */
            assert_string_equal(last_event(t, games[i], GAME_EVENT_MOVE).san, "d3");
        dropped += !is_undone && moves == 0 && !is_held;
        assert_sound(t, games[i]);
    }
    assert_true(t->dropped_calls >= dropped);
    free(r);
}

/* So it is with a resignation: done, taken back, replaced by a move or by the word of another door,
 * or dropped. */
static void test_X2_what_becomes_of_a_held_resignation_is_one_thing(void **state)
{
    static const enum op rivals[] = {OP_UNDO, OP_MOVE, OP_RESIGN, OP_ABORT};
    struct table *t = *state;
    int64_t games[HELD_TABLES];
    struct runner *r =
        race_for_held(t, OP_HOLD_RESIGNATION, rivals, (int)COUNT_OF(rivals), SOUTH, games);

    for (int i = 0; i < HELD_TABLES; i++) {
        bool is_gone = false, by_hand = false;
        for (int k = 0; k < RIVALS_EACH; k++) {
            const struct runner *x = &r[i * RIVALS_EACH + k];
            is_gone = is_gone || (x->st == ST_OK && x->call.op != OP_ABORT);
            by_hand = by_hand || (x->st == ST_OK && x->call.op == OP_RESIGN);
        }
        int resigned = count_events(t, games[i], GAME_EVENT_RESIGNED);
        assert_true(resigned <= 1);
        if (by_hand)
            assert_int_equal(resigned, 1);
        else if (is_gone) /* taken back or replaced: it is not done as well */
            assert_int_equal(resigned, 0);
        assert_sound(t, games[i]);
    }
    free(r);
}

static void test_X3_a_game_is_finished_once(void **state)
{
    struct table *t = *state;
    int64_t game = game_start(t, "verney");
    struct call c = acts(t, OP_OFFER, game, SOUTH);
    struct runner *r = runners_new(8);

    call_ok(&c);
    for (int i = 0; i < 3; i++)
        r[i].call = acts(t, OP_ACCEPT_DRAW, game, WEST + i);
    r[3].call = acts(t, OP_RESIGN, game, SOUTH);
    r[4].call = acts(t, OP_RESIGN, game, NORTH);
    r[5].call = acts(t, OP_ADJUDICATE, game, OPERATOR);
    r[5].call.result = GAME_RESULT_TEAM0;
    r[6].call = acts(t, OP_ABORT, game, OPERATOR);
    r[7].call = acts(t, OP_ADJUDICATE, game, ORGANISER);
    r[7].call.result = GAME_RESULT_TEAM1;
    table_start_thread(t);
    (void)race(r, 8);
    int ends = count_events(t, game, GAME_EVENT_FINISHED) +
               count_events(t, game, GAME_EVENT_ABORTED);
    assert_int_equal(ends, 1);
    assert_int_equal(t->finished_calls, count_events(t, game, GAME_EVENT_FINISHED));
    assert_sound(t, game);
    free(r);
}

static void test_the_last_seat_is_taken_by_one(void **state)
{
    struct table *t = *state;
    int64_t game = game_create_open(t, "verney", SOUTH, false);
    struct runner *r = runners_new(6);
    int users[6] = {EAST, ORGANISER, OPERATOR, STRANGER, OTHER, EAST};

    for (int s = 0; s < 3; s++)
        join(t, game, s, s);
    for (int i = 0; i < 6; i++) {
        r[i].call = acts(t, OP_JOIN, game, users[i]);
        r[i].call.seats = 8;
    }
    table_start_thread(t);
    assert_int_equal(race(r, 6), 1);
    assert_int_equal(count_events(t, game, GAME_EVENT_STARTED), 1);
    assert_sound(t, game);
    free(r);
}

#define T(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_X2_of_a_hundred_moves_one_is_made),
        T(test_X2_a_resignation_racing_a_move),
        T(test_X2_a_move_racing_the_flag),
        T(test_X2_what_becomes_of_a_held_move_is_one_thing),
        T(test_X2_what_becomes_of_a_held_resignation_is_one_thing),
        T(test_X3_a_game_is_finished_once),
        T(test_the_last_seat_is_taken_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

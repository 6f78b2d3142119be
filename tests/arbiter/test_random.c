/*
 * Random games of each variant through the arbiter, with commands right and wrong at random times;
 * whatever happened, the replay finds each game sound, and nothing is recorded of what was refused.
 */
#include "arbiter/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/notation.h"

struct counts {
    int64_t taken, refused, moves, mated, released, removed, passed, resigned, forfeited, drawn,
        finished, late, paused, credited, outages, held, undone, dropped;
};

static unsigned draw(struct table *t, unsigned n)
{
    uint32_t v;

    t->arb.entropy.fill(t->arb.entropy.arg, &v, sizeof v);
    return v % n;
}

/* A legal move, captures and checks by preference, so that games come to an end. */
static void choose_move(struct table *t, const struct position *pos, char ret[MOVE_TEXT_SIZE])
{
    struct move_list *list = malloc(sizeof *list);
    struct move best;

    assert_non_null(list);
    position_legal_moves(pos, list);
    assert_true(list->count > 0);
    best = list->at[draw(t, (unsigned)list->count)];
    for (int i = 0; i < 12; i++) {
        struct move m = list->at[draw(t, (unsigned)list->count)];
        struct position after = *pos;
        struct outcome outcome;
        if (position_play(&after, m, &outcome, NULL) != MOVE_LEGAL)
            fail_msg("a listed move is not legal");
        for (int k = 0; k < outcome.count; k++) {
            if (outcome.at[k].type == EVENT_CAPTURED || outcome.at[k].type == EVENT_CHECK ||
                outcome.at[k].type == EVENT_MATED) {
                best = m;
                i = 12;
                break;
            }
        }
    }
    (void)move_print_coordinate(best, ret, MOVE_TEXT_SIZE);
    free(list);
}

/* A move that is held; then he takes it back, or somebody resigns, or time passes. */
static void by_mail(struct table *t, int64_t game, struct call *move, struct counts *n)
{
    struct game_row before = game_get(t, game);
    struct err err = ERR_INIT;
    struct call c;

    move->op = OP_HOLD;
    move->release_at = now_of(t) + 10 * MS_MINUTE;
    move->with_draw = draw(t, 8) == 0;
    enum status st = call_run(move, &err);
    assert_int_equal(game_get(t, game).last_seq, before.last_seq);
    if (st != ST_OK)
        return;
    n->held++;
    switch (draw(t, 8)) {
    case 0:
        c = acts(t, OP_UNDO, game, SOUTH);
        c.actor = move->actor;
        call_ok(&c);
        n->undone++;
        return;
    case 1:
        c = acts(t, draw(t, 12) ? OP_PAUSE : OP_RESIGN, game, ORGANISER);
        if (c.op == OP_RESIGN)
            c.actor = player(t, (int)draw(t, SEATS));
        n->dropped += call_run(&c, &err) == ST_OK;
        return;
    case 2:
        table_restart(t, (int64_t)draw(t, 20) * MS_MINUTE);
        tick_all(t, true);
        break;
    default:
        break;
    }
    live_until(t, now_of(t) + 10 * MS_MINUTE);
    tick_all(t, false);
    assert_int_equal(game_get(t, game).ply, before.ply + 1);
}

static void one_step(struct table *t, int64_t game, struct counts *n)
{
    static const char *const nonsense[] = {"e2e9", "a1a1", "Kx", "O-O", "zzz", "h7h8q"};
    static const enum op others[] = {OP_RESIGN, OP_OFFER, OP_ACCEPT_DRAW, OP_DECLINE_DRAW, OP_CLAIM,
                                     OP_PAUSE, OP_RESUME, OP_CREDIT, OP_JOIN, OP_LEAVE, OP_ACCEPT};
    struct game_row g = game_get(t, game);
    char text[MOVE_TEXT_SIZE] = "e2e3";
    struct position pos;
    struct err err = ERR_INIT;
    struct call c;
    unsigned what = draw(t, 100);

    if (g.state == GAME_RUNNING && what < 84) {
        c = acts(t, OP_MOVE, game, SOUTH);
        c.actor.user_id = g.turn_user_id;
        assert_ok(arbiter_position(&g, &pos, &err), err);
        choose_move(t, &pos, text);
        c.text = text;
        if (g.paused_at != UTC_NONE) {
            c = acts(t, OP_RESUME, game, ORGANISER);
        } else if (what < 20) { /* by mail: held, and taken back now and then */
            by_mail(t, game, &c, n);
            return;
        }
    } else if (what < 90) {
        c = acts(t, OP_MOVE, game, (int)draw(t, USERS));
        c.text = nonsense[draw(t, 6)];
        if (draw(t, 2))
            c.act.state_no -= draw(t, 3);
    } else if (what < 92) { /* time passes; sometimes the server is away for it */
        int64_t ms = (int64_t)draw(t, 130) * MS_MINUTE;
        if (draw(t, 3) == 0) {
            table_restart(t, ms);
            tick_all(t, true);
        } else {
            for (; ms > 0; ms -= 4 * MS_MINUTE) {
                pass(t, 4 * MS_MINUTE);
                tick_all(t, false);
            }
        }
        return;
    } else {
        enum op op = others[draw(t, sizeof others / sizeof others[0])];
        if (op == OP_RESIGN && draw(t, 4))
            op = OP_OFFER;
        c = acts(t, op, game, (int)draw(t, USERS));
        if (op == OP_ACCEPT_DRAW && draw(t, 3)) /* rarely all four */
            c.actor = player(t, SOUTH);
        c.text = "note";
        c.amount_ms = (int64_t)draw(t, 3) * MS_HOUR;
        c.seats = draw(t, 16);
    }
    int64_t last_seq = g.last_seq;
    if (call_run(&c, &err) == ST_OK) {
        assert_true(c.game.last_seq > last_seq);
        n->taken++;
    } else {
        assert_int_equal(game_get(t, game).last_seq, last_seq);
        n->refused++;
        if (status_is_fault(err.code) && err.code != ST_BUSY)
            fail_msg("op %d: %s", (int)c.op, err.text);
    }
}

static void count(struct table *t, int64_t game, struct counts *n)
{
    n->moves += count_events(t, game, GAME_EVENT_MOVE);
    n->mated += count_events(t, game, GAME_EVENT_MATED);
    n->released += count_events(t, game, GAME_EVENT_RELEASED);
    n->removed += count_events(t, game, GAME_EVENT_REMOVED);
    n->passed += count_events(t, game, GAME_EVENT_PASSED);
    n->resigned += count_events(t, game, GAME_EVENT_RESIGNED);
    n->forfeited += count_events(t, game, GAME_EVENT_FORFEITED);
    n->late += count_events(t, game, GAME_EVENT_LATE);
    n->paused += count_events(t, game, GAME_EVENT_PAUSED);
    n->credited += count_events(t, game, GAME_EVENT_CREDITED);
    n->outages += count_events(t, game, GAME_EVENT_OUTAGE_CREDITED);
    struct game_row g = game_get(t, game);
    n->finished += g.state == GAME_FINISHED;
    n->drawn += g.result == GAME_RESULT_DRAW;
}

static void play(struct table *t, const char *rules, int games, int steps, struct counts *n)
{
    t->arb.limits.grace_ms = 30 * MS_MINUTE;
    for (int i = 0; i < games; i++) {
        t->seed = UINT64_C(0x1000193) * (uint64_t)(i + 1) + 7;
        int64_t game = game_start_ms(t, rules, MS_HOUR);
        for (int s = 0; s < steps && game_get(t, game).state == GAME_RUNNING; s++)
            one_step(t, game, n);
        count(t, game, n);
        assert_sound(t, game);
    }
}

static void show(const char *rules, const struct counts *n)
{
    print_message("%s: taken %lld refused %lld | moves %lld mated %lld released %lld removed %lld "
                  "passed %lld resigned %lld forfeited %lld late %lld paused %lld credited %lld "
                  "outages %lld held %lld undone %lld dropped %lld | finished %lld drawn %lld\n",
                  rules, (long long)n->taken, (long long)n->refused, (long long)n->moves,
                  (long long)n->mated, (long long)n->released, (long long)n->removed,
                  (long long)n->passed, (long long)n->resigned, (long long)n->forfeited,
                  (long long)n->late, (long long)n->paused, (long long)n->credited,
                  (long long)n->outages, (long long)n->held, (long long)n->undone,
                  (long long)n->dropped, (long long)n->finished, (long long)n->drawn);
}

static void test_random_games_of_verney_are_sound(void **state)
{
    struct counts n = {0};

    play(*state, "verney inert=capturable promotion=any", 8, 500, &n);
    play(*state, "verney", 8, 500, &n);
    show("verney", &n);
    assert_true(n.taken > 1000 && n.refused > 100 && n.finished > 0 && n.mated > 0 &&
                n.released > 0 && n.forfeited > 0 && n.late > 0 && n.held > 100 &&
                n.undone > 10 && n.dropped > 10);
}

static void test_random_games_of_fortress_are_sound(void **state)
{
    struct counts n = {0};

    play(*state, "fortress", 12, 500, &n);
    show("fortress", &n);
    assert_true(n.taken > 1000 && n.refused > 100 && n.finished > 0 && n.removed > 0);
}

static void test_random_games_of_teams_are_sound(void **state)
{
    struct counts n = {0};

    play(*state, "teams", 12, 500, &n);
    show("teams", &n);
    assert_true(n.taken > 1000 && n.refused > 100 && n.finished > 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, table_setup, table_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_random_games_of_verney_are_sound),
        T(test_random_games_of_fortress_are_sound),
        T(test_random_games_of_teams_are_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

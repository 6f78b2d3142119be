/*
 * arbiter/table.h - a club with six players, a store of its own and a clock that tests turn.
 *
 * table_setup() and table_teardown() are cmocka's; *state is a struct table.  Commands go through a
 * real writer on a real file in a directory of their own; without table_start_thread() they run in
 * the calling thread.  Entropy is a fixed sequence.
 */
#ifndef FH_TESTS_ARBITER_TABLE_H
#define FH_TESTS_ARBITER_TABLE_H

#include "support/harness.h"
#include "support/rule.h"

#include "arbiter/arbiter.h"
#include "store/held.h"
#include "store/votes.h"
#include "store/writer.h"

#define T0 INT64_C(1795996800000) /* 2026-11-30T00:00:00Z */

enum { USERS = 8, EVENTS_KEPT = 4096 };
/* Indices of table->user: players by seat, an organiser who does not play, others. */
enum { SOUTH, WEST, NORTH, EAST, ORGANISER, OPERATOR, STRANGER, OTHER };

struct table {
    char dir[64], path[96];
    struct store *store;
    struct writer *writer;
    struct store_reader *reader;
    struct test_clock clock;
    struct clock_guard guard;
    struct arbiter arb;
    int64_t user[USERS];
    uint64_t seed;
    bool has_thread;
    int fail_hook_after; /* the hook fails when this many calls have been; -1: never */
    int hook_calls, finished_calls;
    int dropped_calls;
    struct held_row dropped; /* the last held move that was dropped, and why */
    enum arbiter_drop dropped_why;
    size_t n_events; /* told to the hook, all games */
    struct event_row *events;
    pthread_mutex_t lock;
};

int table_setup(void **state);
int table_teardown(void **state);
void table_start_thread(struct table *t);
/* For whoever edits the file in between. */
void table_close(struct table *t);
void table_open(struct table *t);
/* Close everything and open it again, as a restart does.  The clock goes on by away_ms. */
void table_restart(struct table *t, int64_t away_ms);

void pass(struct table *t, int64_t ms); /* time passes, and nobody ticks */
utc_ms now_of(const struct table *t);
/* The server lives and ticks every few minutes; the last time one millisecond before `until`,
 * where the clock then stands. */
void live_until(struct table *t, utc_ms until);

/* ---------------------------------------------------------------- commands */

enum op {
    OP_CREATE, OP_INVITE, OP_WITHDRAW, OP_JOIN, OP_LEAVE, OP_ACCEPT, OP_DECLINE, OP_PLACE, OP_MOVE,
    OP_RESIGN, OP_OFFER, OP_ACCEPT_DRAW, OP_DECLINE_DRAW, OP_CLAIM, OP_ABORT, OP_PAUSE, OP_RESUME,
    OP_CREDIT, OP_ADJUDICATE, OP_TICK, OP_HOLD, OP_HOLD_RESIGNATION, OP_UNDO, OP_HANDED_OVER
};

struct call {
    enum op op;
    struct table *t;
    struct arbiter_actor actor;
    const struct arbiter_new_game *wish;
    const struct arbiter_offer *offer;
    const struct arbiter_placement *placement;
    struct arbiter_act act;     /* act.game_id is the game of all ops */
    unsigned seats;
    int seat;
    const unsigned char *token_hash;
    const char *text;           /* move or note */
    bool with_draw;
    int64_t inbox_id;
    utc_ms release_at, sent_at;
    utc_ms until;
    int64_t amount_ms;
    enum game_result result;
    bool is_start;
    int limit;
    struct game_row game;       /* out */
    struct move_row move;       /* out */
    struct held_row held;       /* out */
    int64_t credited_ms;        /* out */
    struct arbiter_tick_report report; /* out */
    utc_ms at;                  /* out: the command's now */
    enum status st;             /* out, of calls_at_once() */
    bool has_at;                /* in: use `at` instead of the writer's clock */
};

struct arbiter_actor player(const struct table *t, int user);
/* Run it as one writer command. */
enum status call_run(struct call *c, struct err *err);

/* ---------------------------------------------------------------- short forms, asserting */

struct game_row game_get(struct table *t, int64_t id);
/* By `creator`; the four players sit South … East (by join). */
int64_t game_start(struct table *t, const char *rules);
int64_t game_start_days(struct table *t, const char *rules, int days);
int64_t game_start_ms(struct table *t, const char *rules, int64_t per_move_ms);
/* South's player has North's seat too (R-C13). */
int64_t game_start_two_seats(struct table *t, const char *rules);
/* Two players: South's has North's seat too, West's has East's. */
int64_t game_start_of_two(struct table *t, const char *rules);
int64_t game_create_open(struct table *t, const char *rules, int creator, bool is_private);
void join(struct table *t, int64_t game, int user, int seat);
void move_ok(struct table *t, int64_t game, const char *text); /* by whose turn it is */
struct arbiter_tick_report tick(struct table *t);              /* once, not at start */
void tick_all(struct table *t, bool is_start);                 /* until there is no more */
void set_position(struct table *t, int64_t game, const char *position); /* as if it began there */

/* … and expect this reason */
void move_refused(struct table *t, int64_t game, const char *text, enum reason reason);

/* An act on the game as it is now, by a user. */
struct call acts(struct table *t, enum op op, int64_t game, int user);
/* He places his reserve. */
struct call place_call(struct table *t, int64_t game, int user,
                       const struct arbiter_placement *p);
void call_ok(struct call *c);
/* All of them queued before the first is run, so that they are of one batch. */
void calls_at_once(struct call *calls, size_t n, enum status *ret);
void call_refused(struct call *c, enum reason reason);

/* ---------------------------------------------------------------- letters */

/* A letter was accepted then, and nobody has read it; its id.  Then somebody does. */
int64_t letter_accept(struct table *t, utc_ms received_at);
void letter_was_read(struct table *t, int64_t id);
/* A letter of a class is put for a user about the game's state; its id. */
int64_t told_put(struct table *t, int64_t game, int user, enum notice_class cls,
                 int64_t state_no);
enum fate { FATE_SENT, FATE_FAILED, FATE_SUPERSEDED };
void told_settle(struct table *t, int64_t id, enum fate fate);

/* How many events of the kind the game has; the last of them. */
int count_events(struct table *t, int64_t game, enum game_event_kind kind);
struct event_row last_event(struct table *t, int64_t game, enum game_event_kind kind);
/* Kinds of the events after seq, joined by blanks, with seats: "move:0 turn:1". */
const char *story(struct table *t, int64_t game, int64_t since, char *ret, size_t size);
/* Neither the store's checks nor the arbiter's replay find anything. */
void assert_sound(struct table *t, int64_t game);
/* All timers, earliest first. */
size_t timers_now(struct table *t, int64_t game, void *rows_of_timer_row, size_t max);

#endif

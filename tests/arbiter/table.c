#include "arbiter/table.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "store/inbox.h"
#include "store/outbox.h"
#include "store/timers.h"
#include "store/users.h"
#include "store/verify.h"

/* ---------------------------------------------------------------- ports */

static void fill(void *arg, void *bytes, size_t n)
{
    struct table *t = arg;
    unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++) { /* xorshift64* */
        t->seed ^= t->seed >> 12;
        t->seed ^= t->seed << 25;
        t->seed ^= t->seed >> 27;
        p[i] = (unsigned char)((t->seed * UINT64_C(0x2545f4914f6cdd1d)) >> 56);
    }
}

static void sha256(void *arg, const void *bytes, size_t n, unsigned char ret[DIGEST_SIZE])
{
    (void)arg;
    (void)crypto_hash_sha256(ret, bytes, n);
}

/* The seats that a hook is given are those that are stored. */
static void check_seats(struct store_txn *txn, const struct game_row *game,
                        const struct seat_row *seats)
{
    struct seat_row stored[SEAT_COUNT];
    struct err err = ERR_INIT;

    assert_int_equal(seats_get(store_txn_conn(txn), game->id, stored, &err), ST_OK);
    for (int s = 0; s < SEAT_COUNT; s++) {
        assert_int_equal(seats[s].user_id, stored[s].user_id);
        assert_int_equal(seats[s].state, stored[s].state);
        assert_string_equal(seats[s].handle, stored[s].handle);
        assert_string_equal(seats[s].placement, stored[s].placement);
        assert_int_equal(seats[s].left_how, stored[s].left_how);
        assert_int_equal(seats[s].late_moves, stored[s].late_moves);
    }
}

static enum status on_events(struct store_txn *txn, const struct game_row *game,
                             const struct seat_row *seats, const struct event_row *events,
                             size_t n, utc_ms now, void *arg, struct err *err)
{
    struct table *t = arg;

    (void)now;
    if (t->fail_hook_after >= 0 && t->hook_calls >= t->fail_hook_after)
        return err_set(err, ST_INTERNAL, "the letter writer fails, as asked");
    t->hook_calls++;
    check_seats(txn, game, seats);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(events[i].game_id, game->id);
        assert_string_equal(events[i].public_id, game->public_id);
        assert_true(events[i].seq <= game->last_seq);
        if (t->n_events < EVENTS_KEPT)
            t->events[t->n_events++] = events[i];
    }
    return ST_OK;
}

static enum status finished(struct store_txn *txn, const struct game_row *game, utc_ms now,
                            void *arg, struct err *err)
{
    struct table *t = arg;

    (void)txn;
    (void)now;
    (void)err;
    assert_int_equal(game->state, GAME_FINISHED);
    t->finished_calls++;
    return ST_OK;
}

static enum status dropped(struct store_txn *txn, const struct game_row *game,
                           const struct held_row *held, enum arbiter_drop why, utc_ms now,
                           void *arg, struct err *err)
{
    struct table *t = arg;
    struct game_row stored;

    (void)now;
    assert_int_equal(held->game_id, game->id);
    assert_ok(games_get(store_txn_conn(txn), game->id, &stored, err), *err);
    assert_int_equal(stored.state_no, game->state_no); /* it is saved */
    t->dropped_calls++;
    t->dropped = *held;
    t->dropped_why = why;
    return ST_OK;
}

/* ---------------------------------------------------------------- setting up */

void table_open(struct table *t)
{
    struct store_options options = {.path = t->path};
    struct err err = ERR_INIT;

    assert_ok(store_open(&options, &t->store, &err), err);
    struct writer_options w = {.store = t->store, .time = clock_guard_source(&t->guard)};
    assert_ok(writer_open(&w, &t->writer, &err), err);
    assert_ok(store_reader_open(t->store, &t->reader, &err), err);
}

void table_close(struct table *t)
{
    store_reader_close(t->reader);
    if (t->has_thread)
        writer_stop(t->writer);
    t->has_thread = false;
    writer_close(t->writer);
    store_close(t->store);
}

static enum status make_users(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    static const char *const handles[USERS] = {"anna",   "boris", "clara", "david",
                                               "orga",   "opal",  "stan",  "otto"};
    struct table *t = arg;

    for (int i = 0; i < USERS; i++) {
        struct user_row user = {.is_operator = i == OPERATOR,
                                .verified_at = now,
                                .bounced_at = UTC_NONE,
                                .disabled_at = UTC_NONE};
        (void)snprintf(user.handle, sizeof user.handle, "%s", handles[i]);
        (void)snprintf(user.handle_key, sizeof user.handle_key, "%s", handles[i]);
        (void)snprintf(user.display_name, sizeof user.display_name, "%s", handles[i]);
        (void)snprintf(user.zone, sizeof user.zone, "UTC");
        (void)snprintf(user.language, sizeof user.language, "en");
        (void)snprintf(user.address, sizeof user.address, "%s@example.org", handles[i]);
        (void)snprintf(user.address_key, sizeof user.address_key, "%s@example.org", handles[i]);
        enum status st = users_create(txn, &user, now, &t->user[i], err);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

int table_setup(void **state)
{
    struct table *t = calloc(1, sizeof *t);
    struct err err = ERR_INIT;

    assert_non_null(t);
    assert_true(sodium_init() >= 0);
    t->events = calloc(EVENTS_KEPT, sizeof *t->events);
    assert_non_null(t->events);
    /* Memory, if there is such a place: these tests commit tens of thousands of times, and what a
     * disk does to that is tests/faults' business. */
    (void)snprintf(t->dir, sizeof t->dir, "/dev/shm/fh-arbiter-XXXXXX");
    if (!mkdtemp(t->dir)) {
        (void)snprintf(t->dir, sizeof t->dir, "/tmp/fh-arbiter-XXXXXX");
        assert_non_null(mkdtemp(t->dir));
    }
    (void)snprintf(t->path, sizeof t->path, "%s/club.db", t->dir);
    t->seed = UINT64_C(0x9e3779b97f4a7c15);
    t->fail_hook_after = -1;
    t->clock.wall_at = T0;
    clock_guard_init(&t->guard, clock_test(&t->clock));
    t->arb.entropy = (struct entropy){fill, t};
    t->arb.digest = (struct digest){sha256, NULL};
    t->arb.guard = &t->guard;
    t->arb.limits = arbiter_limits_usual();
    t->arb.hooks = (struct arbiter_hooks){on_events, t, finished, t, dropped, t};
    table_open(t);
    struct writer_command command = {.name = "users", .run = make_users, .arg = t};
    assert_ok(writer_run(t->writer, &command, &err), err);
    tick_all(t, true);
    *state = t;
    return 0;
}

int table_teardown(void **state)
{
    struct table *t = *state;
    char path[400];

    table_close(t);
    clock_guard_release(&t->guard);
    DIR *dir = opendir(t->dir);
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", t->dir, e->d_name);
        (void)unlink(path);
    }
    (void)closedir(dir);
    (void)rmdir(t->dir);
    free(t->events);
    free(t);
    return 0;
}

void table_start_thread(struct table *t)
{
    struct err err = ERR_INIT;

    assert_ok(writer_start(t->writer, &err), err);
    t->has_thread = true;
}

void table_restart(struct table *t, int64_t away_ms)
{
    table_close(t);
    clock_guard_release(&t->guard);
    test_clock_advance(&t->clock, away_ms);
    clock_guard_init(&t->guard, clock_test(&t->clock)); /* a new process knows no jump */
    table_open(t);
}

void pass(struct table *t, int64_t ms)
{
    test_clock_advance(&t->clock, ms);
}

utc_ms now_of(const struct table *t)
{
    return t->clock.wall_at;
}

void live_until(struct table *t, utc_ms until)
{
    while (now_of(t) < until - 1) {
        int64_t left = until - 1 - now_of(t);
        pass(t, left < 4 * MS_MINUTE ? left : 4 * MS_MINUTE);
        tick_all(t, false);
    }
    pass(t, until - now_of(t));
}

/* ---------------------------------------------------------------- commands */

struct arbiter_actor player(const struct table *t, int user)
{
    return (struct arbiter_actor){.user_id = t->user[user], .is_operator = user == OPERATOR};
}

static enum status run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct call *c = arg;
    const struct arbiter *a = &c->t->arb;
    int64_t game = c->act.game_id;
    struct arbiter_moved moved;
    enum status st;

    if (c->has_at)
        now = c->at;
    c->at = now;
    switch (c->op) {
    case OP_CREATE:
        return arbiter_create(a, txn, now, c->actor, c->wish, &c->game, err);
    case OP_INVITE:
        return arbiter_invite(a, txn, now, c->actor, game, c->seat, c->offer, &c->game, err);
    case OP_WITHDRAW:
        return arbiter_withdraw(a, txn, now, c->actor, game, c->seat, &c->game, err);
    case OP_JOIN:
        return arbiter_join(a, txn, now, c->actor, game, c->seats, &c->game, err);
    case OP_LEAVE:
        return arbiter_leave(a, txn, now, c->actor, game, c->seats, &c->game, err);
    case OP_ACCEPT:
        return arbiter_accept(a, txn, now, c->actor, game, c->token_hash, &c->game, err);
    case OP_DECLINE:
        return arbiter_decline(a, txn, now, c->actor, game, c->token_hash, &c->game, err);
    case OP_PLACE:
        return arbiter_place(a, txn, now, c->actor, game, c->placement, &c->game, err);
    case OP_MOVE:
        st = arbiter_move(a, txn, now, c->actor, &c->act, c->text, &moved, err);
        if (st == ST_OK) {
            c->move = moved.move;
            c->game = moved.game;
        }
        return st;
    case OP_RESIGN:
        return arbiter_resign(a, txn, now, c->actor, &c->act, &c->game, err);
    case OP_OFFER:
        return arbiter_offer_draw(a, txn, now, c->actor, &c->act, &c->game, err);
    case OP_ACCEPT_DRAW:
        return arbiter_accept_draw(a, txn, now, c->actor, &c->act, &c->game, err);
    case OP_DECLINE_DRAW:
        return arbiter_decline_draw(a, txn, now, c->actor, &c->act, &c->game, err);
    case OP_CLAIM:
        return arbiter_claim_draw(a, txn, now, c->actor, &c->act, &c->game, err);
    case OP_ABORT:
        return arbiter_abort(a, txn, now, c->actor, game, c->text, &c->game, err);
    case OP_PAUSE:
        return arbiter_pause(a, txn, now, c->actor, game, c->until, c->text, &c->game, err);
    case OP_RESUME:
        return arbiter_resume(a, txn, now, c->actor, game, c->text, &c->game, err);
    case OP_CREDIT:
        return arbiter_credit(a, txn, now, c->actor, game, c->amount_ms, c->text, &c->game, err);
    case OP_ADJUDICATE:
        return arbiter_adjudicate(a, txn, now, c->actor, game, c->result, c->text, &c->game, err);
    case OP_TICK:
        return arbiter_tick(a, txn, now, c->is_start, c->limit, &c->report, err);
    case OP_HOLD:
        return arbiter_hold(a, txn, now, c->actor, &c->act, c->text, c->with_draw, c->inbox_id,
                            c->release_at, &c->held, &c->game, err);
    case OP_HOLD_RESIGNATION:
        return arbiter_hold_resignation(a, txn, now, c->actor, &c->act, c->inbox_id,
                                        c->release_at, &c->held, &c->game, err);
    case OP_UNDO:
        return arbiter_undo(a, txn, now, c->actor, &c->act, &c->held, &c->game, err);
    case OP_HANDED_OVER:
        return arbiter_handed_over(a, txn, now, game, c->actor.user_id, c->act.state_no,
                                   c->sent_at, &c->credited_ms, err);
    }
    return ST_INTERNAL;
}

enum status call_run(struct call *c, struct err *err)
{
    struct writer_command command = {.name = "test", .run = run, .arg = c};

    return writer_run(c->t->writer, &command, err);
}

static void call_done(void *arg, enum status st, const struct err *err)
{
    struct call *c = arg;

    (void)err;
    c->st = st;
}

void calls_at_once(struct call *calls, size_t n, enum status *ret)
{
    struct err err = ERR_INIT;

    for (size_t i = 0; i < n; i++) {
        struct writer_command command = {
            .name = "test", .run = run, .done = call_done, .arg = &calls[i]};
        assert_ok(writer_submit(calls[i].t->writer, &command, &err), err);
    }
    assert_int_equal(writer_drain(calls[0].t->writer), n);
    for (size_t i = 0; i < n; i++)
        ret[i] = calls[i].st;
}

void call_ok(struct call *c)
{
    struct err err = ERR_INIT;

    assert_ok(call_run(c, &err), err);
}

void call_refused(struct call *c, enum reason reason)
{
    struct err err = ERR_INIT;
    struct game_row before, after;
    bool has_game = c->act.game_id != 0 && c->op != OP_CREATE;

    if (has_game)
        before = game_get(c->t, c->act.game_id);
    enum status st = call_run(c, &err);
    if (st == ST_OK)
        fail_msg("op %d was taken; expected %s", (int)c->op, reason_slug(reason));
    if (err.reason != reason)
        fail_msg("op %d: %s (%s), expected %s", (int)c->op, reason_slug(err.reason), err.text,
                 reason_slug(reason));
    assert_int_equal(st, reason_status(reason));
    assert_true(err.text[0] != '\0');
    if (has_game) { /* nothing is stored */
        after = game_get(c->t, c->act.game_id);
        assert_int_equal(before.last_seq, after.last_seq);
        assert_int_equal(before.last_event_id, after.last_event_id);
        assert_int_equal(before.state_no, after.state_no);
        assert_int_equal(before.state, after.state);
        assert_int_equal(before.open_seats, after.open_seats);
        assert_int_equal(before.updated_at, after.updated_at);
        assert_int_equal(before.deadline_at, after.deadline_at);
        assert_int_equal(before.paused_at, after.paused_at);
        assert_string_equal(before.position, after.position);
        assert_string_equal(before.explanation, after.explanation);
    }
}

struct call acts(struct table *t, enum op op, int64_t game, int user)
{
    struct call c = {.op = op, .t = t, .actor = player(t, user), .until = UTC_NONE, .limit = 100};
    struct game_row g = game_get(t, game);

    c.act = (struct arbiter_act){.game_id = game, .seat = ARBITER_ANY_SEAT,
                                 .state_no = g.state_no, .ply = -1};
    return c;
}

struct call place_call(struct table *t, int64_t game, int user,
                              const struct arbiter_placement *p)
{
    struct call c = acts(t, OP_PLACE, game, user);

    c.placement = p;
    return c;
}

/* ---------------------------------------------------------------- short forms */

struct game_row game_get(struct table *t, int64_t id)
{
    struct game_row game;
    struct err err = ERR_INIT;

    assert_ok(games_get(store_reader_conn(t->reader), id, &game, &err), err);
    return game;
}

static int64_t create(struct table *t, const char *rules, int creator, bool is_private,
                      int64_t per_move_ms)
{
    struct arbiter_new_game wish = {.rules = rules, .per_move_ms = per_move_ms,
                                    .is_private = is_private};
    struct call c = {.op = OP_CREATE, .t = t, .actor = player(t, creator), .wish = &wish};

    call_ok(&c);
    return c.game.id;
}

int64_t game_create_open(struct table *t, const char *rules, int creator, bool is_private)
{
    return create(t, rules, creator, is_private, 0);
}

int64_t game_start_of_two(struct table *t, const char *rules)
{
    static const unsigned seats[] = {[SOUTH] = 1u << 0 | 1u << 2, [WEST] = 1u << 1 | 1u << 3};
    int64_t game = game_create_open(t, rules, SOUTH, false);

    for (int user = SOUTH; user <= WEST; user++) {
        struct call c = acts(t, OP_JOIN, game, user);

        c.seats = seats[user];
        call_ok(&c);
    }
    return game;
}

int64_t game_start_two_seats(struct table *t, const char *rules)
{
    int64_t game = game_create_open(t, rules, SOUTH, false);
    struct call c = acts(t, OP_JOIN, game, SOUTH);

    c.seats = 1u << 0 | 1u << 2;
    call_ok(&c);
    join(t, game, WEST, 1);
    join(t, game, EAST, 3);
    return game;
}

void join(struct table *t, int64_t game, int user, int seat)
{
    struct call c = acts(t, OP_JOIN, game, user);

    c.seats = 1u << seat;
    call_ok(&c);
}

int64_t game_start_ms(struct table *t, const char *rules, int64_t per_move_ms)
{
    int64_t game = create(t, rules, ORGANISER, false, per_move_ms);

    for (int s = 0; s < SEATS; s++)
        join(t, game, s, s);
    return game;
}

int64_t game_start_days(struct table *t, const char *rules, int days)
{
    return game_start_ms(t, rules, days * MS_DAY);
}

int64_t game_start(struct table *t, const char *rules)
{
    return game_start_days(t, rules, 14);
}

static struct call move_call(struct table *t, int64_t game, const char *text)
{
    struct game_row g = game_get(t, game);
    struct call c = {.op = OP_MOVE, .t = t, .text = text,
                     .actor = {.user_id = g.turn_user_id}};

    c.act = (struct arbiter_act){.game_id = game, .seat = ARBITER_ANY_SEAT,
                                 .state_no = g.state_no, .ply = -1};
    return c;
}

void move_ok(struct table *t, int64_t game, const char *text)
{
    struct call c = move_call(t, game, text);

    call_ok(&c);
}

void move_refused(struct table *t, int64_t game, const char *text, enum reason reason)
{
    struct call c = move_call(t, game, text);

    call_refused(&c, reason);
}

struct arbiter_tick_report tick(struct table *t)
{
    struct call c = {.op = OP_TICK, .t = t, .limit = 100};

    call_ok(&c);
    if (c.report.has_jump)
        clock_guard_handled(&t->guard, &c.report.jump);
    return c.report;
}

void tick_all(struct table *t, bool is_start)
{
    struct call c = {.op = OP_TICK, .t = t, .limit = 100, .is_start = is_start};

    do {
        call_ok(&c);
        if (c.report.failed)
            fail_msg("a tick failed: %s", c.report.failure.text);
        if (c.report.has_jump)
            clock_guard_handled(&t->guard, &c.report.jump);
        c.is_start = false;
    } while (c.report.more);
}

struct placer {
    int64_t game;
    const char *position;
};

static enum status put_position(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct placer *p = arg;
    struct game_row game;
    struct variant variant;
    struct position pos;
    struct seat_row seats[SEATS];
    enum status st = games_get(store_txn_conn(txn), p->game, &game, err);

    (void)now;
    if (st != ST_OK)
        return st;
    assert_int_equal(variant_parse(game.rules, &variant, NULL), VARIANT_OK);
    assert_int_equal(position_parse(&variant, p->position, &pos, NULL), POSITION_OK);
    st = seats_get(store_txn_conn(txn), p->game, seats, err);
    if (st != ST_OK)
        return st;
    (void)snprintf(game.start_position, sizeof game.start_position, "%s", p->position);
    (void)snprintf(game.position, sizeof game.position, "%s", p->position);
    game.position_hash = pos.hash;
    game.ply = (int)pos.ply;
    game.turn_seat = pos.turn;
    game.turn_user_id = seats[pos.turn].user_id;
    for (int s = 0; s < SEATS; s++)
        game.conditions[s] = "amsx"[pos.condition[s]];
    return games_save(txn, &game, err);
}

void set_position(struct table *t, int64_t game, const char *position)
{
    struct placer p = {game, position};
    struct writer_command command = {.name = "position", .run = put_position, .arg = &p};
    struct err err = ERR_INIT;

    assert_ok(writer_run(t->writer, &command, &err), err);
}

/* ---------------------------------------------------------------- letters */

struct letter {
    struct table *t;
    int64_t id, game, state_no;
    utc_ms received_at;
    int user;
    enum notice_class cls;
    enum fate fate;
};

static enum status run_accept(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    static int n;
    struct letter *l = arg;
    struct inbox_row row = INBOX_ROW_INIT;
    bool is_new = false;

    (void)now;
    row.received_at = l->received_at;
    n++;
    memcpy(row.fingerprint, &n, sizeof n);
    return inbox_put(txn, &row, &l->id, &is_new, err);
}

static enum status run_read(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct letter *l = arg;
    struct inbox_row rows[INBOX_CLAIM_MAX];
    size_t n = 0;
    enum status st = inbox_claim(txn, now, INBOX_CLAIM_MAX, rows, &n, err);

    if (st == ST_OK)
        st = inbox_settle(txn, l->id, INBOX_DONE, INBOX_VERDICT_ACTED, "", 0, 0, 0, now, err);
    return st;
}

static enum status run_put(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    static int n;
    struct letter *l = arg;
    struct intent_row row = INTENT_ROW_INIT;
    struct event_row event = EVENT_ROW_INIT;
    enum status st = events_get(store_txn_conn(txn), l->game, l->state_no, &event, err);

    if (st != ST_OK)
        return st;
    (void)snprintf(row.dedupe_key, sizeof row.dedupe_key, "letter:%d", n++);
    row.event_id = event.id; /* the one that made the state */
    (void)snprintf(row.template_name, sizeof row.template_name, "turn");
    row.cls = l->cls;
    row.channel = CHANNEL_MAIL;
    row.user_id = l->t->user[l->user];
    row.game_id = l->game;
    row.state_no = l->state_no;
    row.due_at = row.created_at = now;
    row.expires_at = now + 100 * MS_DAY;
    return outbox_put(txn, &row, &l->id, err);
}

static enum status run_settle(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct letter *l = arg;
    struct intent_row row;
    enum status st;

    do { /* whatever waits before it goes back */
        st = outbox_claim(txn, CHANNEL_MAIL, now, MS_HOUR, &row, err);
        if (st != ST_OK)
            return st;
        intent_release(&row);
        if (row.id != l->id)
            st = outbox_release(txn, row.id, row.attempts, now + MS_DAY, err);
    } while (st == ST_OK && row.id != l->id);
    if (st != ST_OK)
        return st;
    if (l->fate == FATE_SENT)
        return outbox_sent(txn, row.id, row.attempts, 250, "ok", 1, now, err);
    if (l->fate == FATE_FAILED)
        return outbox_failed(txn, row.id, row.attempts, 550, "no", 1, now, err);
    return outbox_supersede_one(txn, row.id, row.attempts, "unwanted", now, err);
}

static void run_letter(struct letter *l,
                       enum status (*run_it)(struct store_txn *, utc_ms, void *, struct err *))
{
    struct writer_command command = {.name = "letter", .run = run_it, .arg = l};
    struct err err = ERR_INIT;

    assert_ok(writer_run(l->t->writer, &command, &err), err);
}

int64_t letter_accept(struct table *t, utc_ms received_at)
{
    struct letter l = {.t = t, .received_at = received_at};

    run_letter(&l, run_accept);
    return l.id;
}

void letter_was_read(struct table *t, int64_t id)
{
    struct letter l = {.t = t, .id = id};

    run_letter(&l, run_read);
}

int64_t told_put(struct table *t, int64_t game, int user, enum notice_class cls,
                 int64_t state_no)
{
    struct letter l = {.t = t, .game = game, .user = user, .cls = cls, .state_no = state_no};

    run_letter(&l, run_put);
    return l.id;
}

void told_settle(struct table *t, int64_t id, enum fate fate)
{
    struct letter l = {.t = t, .id = id, .fate = fate};

    run_letter(&l, run_settle);
}

/* ---------------------------------------------------------------- looking */

static size_t all_events(struct table *t, int64_t game, int64_t since, struct event_row *rows,
                         size_t max)
{
    struct err err = ERR_INIT;
    size_t n = 0;

    assert_ok(events_of_game(store_reader_conn(t->reader), game, since, rows, max, &n, &err), err);
    return n;
}

int count_events(struct table *t, int64_t game, enum game_event_kind kind)
{
    struct event_row *rows = calloc(2048, sizeof *rows);
    int count = 0;

    assert_non_null(rows);
    size_t n = all_events(t, game, 0, rows, 2048);
    for (size_t i = 0; i < n; i++)
        count += rows[i].kind == kind;
    free(rows);
    return count;
}

struct event_row last_event(struct table *t, int64_t game, enum game_event_kind kind)
{
    struct event_row *rows = calloc(2048, sizeof *rows), ret = EVENT_ROW_INIT;
    bool found = false;

    assert_non_null(rows);
    size_t n = all_events(t, game, 0, rows, 2048);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].kind == kind) {
            ret = rows[i];
            found = true;
        }
    }
    free(rows);
    if (!found)
        fail_msg("there is no event %s", game_event_kind_str(kind));
    return ret;
}

const char *story(struct table *t, int64_t game, int64_t since, char *ret, size_t size)
{
    struct event_row *rows = calloc(256, sizeof *rows);
    size_t len = 0;

    assert_non_null(rows);
    size_t n = all_events(t, game, since, rows, 256);
    ret[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        int got;
        if (rows[i].seat >= 0)
            got = snprintf(ret + len, size - len, "%s%s:%d", i ? " " : "",
                           game_event_kind_str(rows[i].kind), rows[i].seat);
        else
            got = snprintf(ret + len, size - len, "%s%s", i ? " " : "",
                           game_event_kind_str(rows[i].kind));
        assert_true(got > 0 && (size_t)got < size - len);
        len += (size_t)got;
    }
    free(rows);
    return ret;
}

struct sound {
    struct table *t;
    int64_t game;
    int faults;
};

static void fault(void *arg, const struct verify_fault *f)
{
    struct sound *s = arg;

    if (s->game == 0 || f->game_id == s->game || f->game_id == 0) {
        print_error("fault in %s: %s\n", f->public_id, f->what);
        s->faults++;
    }
}

static enum status check_game(void *arg, struct store_conn *conn, const struct game_row *game,
                              struct verify *verify, struct err *err)
{
    struct sound *s = arg;

    return arbiter_verify_game(&s->t->arb, conn, game, verify, err);
}

void assert_sound(struct table *t, int64_t game)
{
    struct sound s = {t, game, 0};
    struct verify_options options = {.fault = fault, .game = check_game, .arg = &s,
                                     .quick = true};
    struct verify_report report;
    struct err err = ERR_INIT;

    assert_ok(verify_run(t->store, &options, &report, &err), err);
    assert_int_equal(s.faults, 0);
}

size_t timers_now(struct table *t, int64_t game, void *rows, size_t max)
{
    struct err err = ERR_INIT;
    size_t n = 0;

    assert_ok(timers_of_game(store_reader_conn(t->reader), game, rows, max, &n, &err), err);
    return n;
}

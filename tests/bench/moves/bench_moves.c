/*
 * bench/moves - what storing a move costs, beside a bare loop that changes the same rows.
 *
 *   bare   one connection, prepared statements, one transaction with one FULL commit a move
 *   one    daemon/store: one client that waits for each move before the next
 *   many   daemon/store: 64 clients (--clients) that each wait for theirs
 *
 * A move changes: games (position, turn, clock, numbers), game_events (move, turn), moves, timers
 * (the deadline), outbox (a letter to the next).  The bare loop writes just that; ours also reads
 * the game and its seats first and checks numbers, as it must.  All go to random games of --games
 * running ones in one file, in --rounds rounds one after another, and the medians are compared.
 * The disk is asked first what a sync costs; below 0.2 ms (or with --slow) all syncs of both sides
 * get 1 ms more through tests/faults' VFS, and the output says so.
 *
 * Times are of this machine at this hour; ratios are what counts.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "faults/vfs_powercut.h"
#include "store/events.h"
#include "store/moves.h"
#include "store/outbox.h"
#include "store/timers.h"
#include "store/users.h"
#include "store/writer.h"

enum { SLOW_US = 1000, CLIENTS_MAX = 1024, ROUNDS_MAX = 99 };

static struct {
    const char *dir;
    int64_t games;
    int moves, clients, rounds;
    bool slow;
} opt = {.dir = "/tmp", .games = 1000, .moves = 400, .clients = 64, .rounds = 3};

static char path[512];
static const char *vfs;
static int64_t users[SEAT_COUNT];
static char position[700]; /* as long as real ones */

static void die(const char *what, const struct err *err)
{
    (void)fprintf(stderr, "bench_moves: %s: %s\n", what, err ? err->text : "");
    exit(1);
}

#define MUST(call, err)                                                                            \
    do {                                                                                           \
        if ((call) != ST_OK)                                                                       \
            die(#call, (err));                                                                     \
    } while (0)

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static utc_ms now_ms(void *arg)
{
    struct timespec t;

    (void)arg;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (utc_ms)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static uint64_t draw(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int by_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_double);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Median seconds of a small write and its sync. */
static double sync_cost(void)
{
    char name[600], bytes[4096];
    double took[31];
    int fd;

    (void)snprintf(name, sizeof name, "%s/sync-%ld", opt.dir, (long)getpid());
    memset(bytes, 1, sizeof bytes);
    fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        die("cannot write to the directory", NULL);
    for (int i = 0; i < 31; i++) {
        double from = now_s();

        if (pwrite(fd, bytes, sizeof bytes, (off_t)i * 4096) < 0 || fdatasync(fd) != 0)
            die("cannot write to the directory", NULL);
        took[i] = now_s() - from;
    }
    (void)close(fd);
    (void)unlink(name);
    return median(took, 31);
}

/* ---------------------------------------------------------------- filling */

static struct store *open_store(void)
{
    struct store_options options = {.path = path, .vfs = vfs};
    struct store *store = NULL;
    struct err err = ERR_INIT;

    MUST(store_open(&options, &store, &err), &err);
    return store;
}

static void make_users(struct store_txn *txn)
{
    struct err err = ERR_INIT;

    for (int i = 0; i < SEAT_COUNT; i++) {
        struct user_row user = {.verified_at = UTC_NONE};

        (void)snprintf(user.handle, sizeof user.handle, "player%d", i);
        (void)snprintf(user.handle_key, sizeof user.handle_key, "player%d", i);
        (void)snprintf(user.display_name, sizeof user.display_name, "Player %d", i);
        (void)str_copy(user.zone, sizeof user.zone, "UTC");
        (void)str_copy(user.language, sizeof user.language, "en");
        MUST(users_create(txn, &user, 1, &users[i], &err), &err);
    }
}

static void make_game(struct store_txn *txn, int64_t n)
{
    struct game_row game = {.per_move_ms = 14 * MS_DAY,
                            .grace_ms = 12 * MS_HOUR,
                            .organiser_id = users[0],
                            .expires_at = UTC_NONE,
                            .created_at = 1,
                            .updated_at = 1};
    struct timer_row timer = {.kind = TIMER_DEADLINE, .seat = -1, .due_at = 14 * MS_DAY + n};
    struct event_row event = EVENT_ROW_INIT;
    struct err err = ERR_INIT;
    int64_t id = 0;

    (void)snprintf(game.public_id, sizeof game.public_id, "%08x", (unsigned)n);
    (void)str_copy(game.rules, sizeof game.rules, "verney");
    MUST(games_create(txn, &game, &id, &err), &err);
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        MUST(seats_take(txn, id, seat, users[seat], HOLDER_PLAYER, 1, &err), &err);
    MUST(games_get(store_txn_conn(txn), id, &game, &err), &err);
    event.kind = GAME_EVENT_STARTED;
    MUST(events_append(txn, &game, &event, true, &err), &err);
    game.state = GAME_RUNNING;
    game.turn_seat = 0;
    game.turn_user_id = users[0];
    game.turn_at = game.started_at = 1;
    game.deadline_at = timer.due_at;
    (void)str_copy(game.position, sizeof game.position, position);
    (void)str_copy(game.start_position, sizeof game.start_position, position);
    MUST(games_save(txn, &game, &err), &err);
    timer.game_id = id;
    MUST(timers_set(txn, &timer, &err), &err);
}

static void fill(void)
{
    struct store *store = open_store();
    struct store_txn *txn = NULL;
    struct err err = ERR_INIT;

    for (int64_t n = 0; n < opt.games; n++) {
        if (!txn) {
            MUST(store_begin(store, &txn, &err), &err);
            if (n == 0)
                make_users(txn);
        }
        make_game(txn, n);
        if (n % 1000 == 999 || n + 1 == opt.games) {
            MUST(store_commit(txn, &err), &err);
            store_end(txn);
            txn = NULL;
        }
    }
    store_close(store);
}

/* ---------------------------------------------------------------- ours */

static enum status move_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    int64_t id = *(const int64_t *)arg;
    struct game_row game;
    struct seat_row seats[SEAT_COUNT];
    struct event_row event = EVENT_ROW_INIT;
    struct move_row move = {.game_id = id, .at = now};
    struct timer_row timer = {.kind = TIMER_DEADLINE, .game_id = id, .seat = -1};
    struct intent_row intent = INTENT_ROW_INIT;
    enum status st = games_get(store_txn_conn(txn), id, &game, err);

    if (st == ST_OK)
        st = seats_get(store_txn_conn(txn), id, seats, err);
    if (st != ST_OK)
        return st;
    event.kind = GAME_EVENT_MOVE;
    event.seat = move.seat = game.turn_seat;
    event.user_id = move.user_id = game.turn_user_id;
    event.ply = move.ply = ++game.ply;
    event.at = now;
    (void)str_copy(event.move, sizeof event.move, "e2e3");
    (void)str_copy(event.san, sizeof event.san, "e3");
    st = events_append(txn, &game, &event, true, err);
    if (st != ST_OK)
        return st;
    move.seq = event.seq;
    (void)str_copy(move.move, sizeof move.move, event.move);
    (void)str_copy(move.san, sizeof move.san, event.san);
    memcpy(move.chain, &event.id, sizeof event.id);
    st = moves_append(txn, &move, err);
    if (st != ST_OK)
        return st;
    game.turn_seat = (game.turn_seat + 1) % SEAT_COUNT;
    game.turn_user_id = seats[game.turn_seat].user_id;
    game.turn_at = game.moved_at = game.updated_at = now;
    game.deadline_at = timer.due_at = now + game.per_move_ms;
    memcpy(game.chain, move.chain, sizeof game.chain);
    game.has_chain = true;
    event = EVENT_ROW_INIT;
    event.kind = GAME_EVENT_TURN;
    event.seat = game.turn_seat;
    event.ply = game.ply;
    event.deadline_at = game.deadline_at;
    event.at = now;
    st = events_append(txn, &game, &event, false, err);
    if (st == ST_OK)
        st = timers_set(txn, &timer, err);
    if (st != ST_OK)
        return st;
    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key, "turn:%s:%lld:mail",
                   game.public_id, (long long)game.state_no);
    (void)str_copy(intent.template_name, sizeof intent.template_name, "turn");
    intent.cls = NOTICE_TURN;
    intent.user_id = game.turn_user_id;
    intent.game_id = id;
    intent.seat = game.turn_seat;
    intent.event_id = event.id;
    intent.seq = event.seq;
    intent.state_no = game.state_no;
    intent.due_at = intent.created_at = now;
    intent.expires_at = now + 2 * MS_DAY;
    st = outbox_put(txn, &intent, NULL, err);
    return st == ST_OK ? games_save(txn, &game, err) : st;
}

struct client {
    struct writer *writer;
    uint64_t seed;
    int moves;
};

static void *client_main(void *arg)
{
    struct client *c = arg;

    for (int i = 0; i < c->moves; i++) {
        int64_t id = 1 + (int64_t)(draw(&c->seed) % (uint64_t)opt.games);
        struct writer_command command = {"move", move_run, NULL, &id};
        struct err err = ERR_INIT;

        MUST(writer_run(c->writer, &command, &err), &err);
    }
    return NULL;
}

/* Moves a second of n clients; *ret_batch: moves a commit, on average. */
static double run_ours(int clients, int moves, double *ret_batch)
{
    static struct client all[CLIENTS_MAX];
    static pthread_t threads[CLIENTS_MAX];
    struct store *store = open_store();
    struct writer_options options = {.store = store, .time = {.now = now_ms}};
    struct writer *writer = NULL;
    struct err err = ERR_INIT;
    double from, took;

    MUST(writer_open(&options, &writer, &err), &err);
    MUST(writer_start(writer, &err), &err);
    from = now_s();
    for (int i = 0; i < clients; i++) {
        all[i] = (struct client){writer, (uint64_t)i * 977 + (uint64_t)moves, moves / clients};
        if (pthread_create(&threads[i], NULL, client_main, &all[i]) != 0)
            die("cannot start a thread", NULL);
    }
    for (int i = 0; i < clients; i++)
        (void)pthread_join(threads[i], NULL);
    took = now_s() - from;
    writer_stop(writer);
    *ret_batch = (double)writer_stats(writer).commands / (double)writer_stats(writer).commits;
    writer_close(writer);
    store_close(store);
    return (double)(moves / clients * clients) / took;
}

/* ---------------------------------------------------------------- bare */

enum { B_BEGIN, B_GAME, B_EVENT, B_MOVE, B_TIMER, B_OUTBOX, B_COMMIT, B_COUNT };

static const char *const bare_sql[B_COUNT] = {
    "BEGIN IMMEDIATE",
    "UPDATE games SET state = 'running', paused_at = NULL, result = 'none', cause = 'none',"
    " start_position = ?2, position = ?2, compact = x'', position_hash = 0, ply = ?3,"
    " turn_seat = ?4, turn_user_id = ?5, conditions = 'aaaa', state_no = ?6, last_seq = ?7,"
    " last_event_id = ?8, turn_at = ?9, deadline_at = ?10, explanation = '', chain = ?11,"
    " expires_at = NULL, started_at = 1, moved_at = ?9, ended_at = NULL, updated_at = ?9,"
    " is_rated = 0 WHERE id = ?1",
    "INSERT INTO game_events (game_id, seq, kind, seat, user_id, ply, state_no, move, san, result,"
    " cause, amount_ms, deadline_at, position_hash, note, at)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'none', 'none', 0, ?10, 0, '', ?11)",
    "INSERT INTO moves (game_id, ply, seat, user_id, move, san, seq, position_hash, used_ms,"
    " is_late, chain, at) VALUES (?1, ?2, ?3, ?4, 'e2e3', 'e3', ?5, 0, 0, 0, ?6, ?7)",
    "UPDATE timers SET state_no = 0, detail = 0, due_at = ?2 WHERE game_id = ?1 AND"
    " kind = 'deadline' AND seat IS NULL",
    "INSERT INTO outbox (dedupe_key, class, channel, template, user_id, game_id, seat, event_id,"
    " seq, state_no, params, state, due_at, expires_at, created_at)"
    " VALUES (?1, 'turn', 'mail', 'turn', ?2, ?3, ?4, ?5, ?6, ?7, '{}', 'queued', ?8, ?9, ?8)",
    "COMMIT",
};

static sqlite3 *db;
static sqlite3_stmt *bare[B_COUNT];

static void bare_open(void)
{
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, vfs) != SQLITE_OK ||
        sqlite3_exec(db,
                     "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                     "PRAGMA foreign_keys = ON; PRAGMA cache_size = -8192;",
                     NULL, NULL, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db), NULL);
    for (int i = 0; i < B_COUNT; i++)
        if (sqlite3_prepare_v3(db, bare_sql[i], -1, SQLITE_PREPARE_PERSISTENT, &bare[i], NULL) !=
            SQLITE_OK)
            die(sqlite3_errmsg(db), NULL);
}

static void bare_close(void)
{
    for (int i = 0; i < B_COUNT; i++)
        (void)sqlite3_finalize(bare[i]);
    (void)sqlite3_close(db);
}

static void bare_step(int which)
{
    if (sqlite3_step(bare[which]) != SQLITE_DONE)
        die(sqlite3_errmsg(db), NULL);
    (void)sqlite3_reset(bare[which]);
}

static void bare_event(int64_t id, int64_t seq, const char *kind, int seat, int64_t user,
                       int64_t ply, int64_t state_no, const char *move, utc_ms deadline,
                       utc_ms now)
{
    sqlite3_stmt *s = bare[B_EVENT];

    (void)sqlite3_bind_int64(s, 1, id);
    (void)sqlite3_bind_int64(s, 2, seq);
    (void)sqlite3_bind_text(s, 3, kind, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int(s, 4, seat);
    (void)sqlite3_bind_int64(s, 5, user);
    (void)sqlite3_bind_int64(s, 6, ply);
    (void)sqlite3_bind_int64(s, 7, state_no);
    (void)sqlite3_bind_text(s, 8, move, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(s, 9, move, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 10, deadline);
    (void)sqlite3_bind_int64(s, 11, now);
    bare_step(B_EVENT);
}

/* ply[] and seq[] are what the loop knows of each game without asking. */
static void bare_move(int64_t id, int64_t *ply, int64_t *seq)
{
    unsigned char chain[32] = {0};
    char key[64];
    utc_ms now = now_ms(NULL);
    int seat = (int)(*ply % SEAT_COUNT), next = (seat + 1) % SEAT_COUNT;
    int64_t state_no, last_id;
    sqlite3_stmt *s;

    ++*ply;
    bare_step(B_BEGIN);
    state_no = ++*seq;
    bare_event(id, state_no, "move", seat, users[seat], *ply, state_no, "e2e3", 0, now);
    s = bare[B_MOVE];
    (void)sqlite3_bind_int64(s, 1, id);
    (void)sqlite3_bind_int64(s, 2, *ply);
    (void)sqlite3_bind_int(s, 3, seat);
    (void)sqlite3_bind_int64(s, 4, users[seat]);
    (void)sqlite3_bind_int64(s, 5, state_no);
    memcpy(chain, ply, sizeof *ply);
    (void)sqlite3_bind_blob(s, 6, chain, sizeof chain, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 7, now);
    bare_step(B_MOVE);
    bare_event(id, ++*seq, "turn", next, users[next], *ply, state_no, "", now + 14 * MS_DAY, now);
    last_id = sqlite3_last_insert_rowid(db);
    s = bare[B_TIMER];
    (void)sqlite3_bind_int64(s, 1, id);
    (void)sqlite3_bind_int64(s, 2, now + 14 * MS_DAY);
    bare_step(B_TIMER);
    s = bare[B_OUTBOX];
    (void)snprintf(key, sizeof key, "turn:%08x:%lld:mail", (unsigned)(id - 1),
                   (long long)state_no);
    (void)sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 2, users[next]);
    (void)sqlite3_bind_int64(s, 3, id);
    (void)sqlite3_bind_int(s, 4, next);
    (void)sqlite3_bind_int64(s, 5, last_id);
    (void)sqlite3_bind_int64(s, 6, *seq);
    (void)sqlite3_bind_int64(s, 7, state_no);
    (void)sqlite3_bind_int64(s, 8, now);
    (void)sqlite3_bind_int64(s, 9, now + 2 * MS_DAY);
    bare_step(B_OUTBOX);
    s = bare[B_GAME];
    (void)sqlite3_bind_int64(s, 1, id);
    (void)sqlite3_bind_text(s, 2, position, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(s, 3, *ply);
    (void)sqlite3_bind_int(s, 4, next);
    (void)sqlite3_bind_int64(s, 5, users[next]);
    (void)sqlite3_bind_int64(s, 6, state_no);
    (void)sqlite3_bind_int64(s, 7, *seq);
    (void)sqlite3_bind_int64(s, 8, last_id);
    (void)sqlite3_bind_int64(s, 9, now);
    (void)sqlite3_bind_int64(s, 10, now + 14 * MS_DAY);
    (void)sqlite3_bind_blob(s, 11, chain, sizeof chain, SQLITE_STATIC);
    bare_step(B_GAME);
    bare_step(B_COMMIT);
}

/* What each game stands at, read before the clock starts. */
static void bare_load(int64_t *ply, int64_t *seq)
{
    sqlite3_stmt *s = NULL;

    if (sqlite3_prepare_v2(db, "SELECT id, ply, last_seq FROM games", -1, &s, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db), NULL);
    while (sqlite3_step(s) == SQLITE_ROW) {
        int64_t id = sqlite3_column_int64(s, 0);

        ply[id] = sqlite3_column_int64(s, 1);
        seq[id] = sqlite3_column_int64(s, 2);
    }
    (void)sqlite3_finalize(s);
}

static double run_bare(int moves)
{
    int64_t *ply = calloc((size_t)opt.games + 1, sizeof *ply);
    int64_t *seq = calloc((size_t)opt.games + 1, sizeof *seq);
    uint64_t seed = (uint64_t)moves;
    double from, took;

    if (!ply || !seq)
        die("out of memory", NULL);
    bare_open();
    bare_load(ply, seq);
    from = now_s();
    for (int i = 0; i < moves; i++) {
        int64_t id = 1 + (int64_t)(draw(&seed) % (uint64_t)opt.games);

        bare_move(id, &ply[id], &seq[id]);
    }
    took = now_s() - from;
    bare_close();
    free(ply);
    free(seq);
    return moves / took;
}

/* ---------------------------------------------------------------- all of it */

static int number(const char *text, const char *what)
{
    int64_t n;

    if (!text || !str_to_int64(text, 1, 100000000, &n))
        die(what, NULL);
    return (int)n;
}

static void options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--slow") == 0)
            opt.slow = true;
        else if (strcmp(argv[i], "--dir") == 0 && i + 1 < argc)
            opt.dir = argv[++i];
        else if (strcmp(argv[i], "--games") == 0)
            opt.games = number(argv[++i], "--games takes a number");
        else if (strcmp(argv[i], "--moves") == 0)
            opt.moves = number(argv[++i], "--moves takes a number");
        else if (strcmp(argv[i], "--clients") == 0)
            opt.clients = number(argv[++i], "--clients takes a number");
        else if (strcmp(argv[i], "--rounds") == 0)
            opt.rounds = number(argv[++i], "--rounds takes a number");
        else
            die("usage: bench_moves [--slow] [--dir D] [--games N] [--moves N] [--clients N] "
                "[--rounds N]",
                NULL);
    }
    if (opt.clients > CLIENTS_MAX || opt.rounds > ROUNDS_MAX)
        die("too many clients or rounds", NULL);
}

int main(int argc, char **argv)
{
    double bare_rate[ROUNDS_MAX], one_rate[ROUNDS_MAX], many_rate[ROUNDS_MAX];
    double batch = 0, one_batch = 0, cost, b, o, m;
    char name[600];

    options(argc, argv);
    cost = sync_cost();
    if (cost < 0.0002)
        opt.slow = true;
    if (opt.slow) {
        const struct powercut_options slow = {.passes_through = true, .sync_delay_us = SLOW_US};

        powercut_install(&slow);
        vfs = POWERCUT_VFS;
    }
    memset(position, 'p', sizeof position - 1);
    (void)snprintf(path, sizeof path, "%s/bench-moves-%ld.db", opt.dir, (long)getpid());
    (void)printf("sync: %.3f ms%s; %lld games, %d moves a run, %d clients, %d rounds\n",
                 cost * 1000, opt.slow ? ", and 1 ms more by the slow VFS on every side" : "",
                 (long long)opt.games, opt.moves, opt.clients, opt.rounds);
    fill();
    for (int r = 0; r < opt.rounds; r++) {
        bare_rate[r] = run_bare(opt.moves);
        one_rate[r] = run_ours(1, opt.moves, &one_batch);
        many_rate[r] = run_ours(opt.clients, opt.moves * 4, &batch);
        (void)printf("round %d: bare %.0f, one client %.0f, %d clients %.0f moves/s"
                     " (%.1f moves a commit)\n",
                     r + 1, bare_rate[r], one_rate[r], opt.clients, many_rate[r], batch);
    }
    b = median(bare_rate, opt.rounds);
    o = median(one_rate, opt.rounds);
    m = median(many_rate, opt.rounds);
    (void)printf("\n| | moves/s | x bare | bar |\n| --- | --- | --- | --- |\n");
    (void)printf("| bare loop, a FULL commit a move | %.0f | 1 | |\n", b);
    (void)printf("| store, 1 client | %.0f | %.2f | 0.5 |\n", o, o / b);
    (void)printf("| store, %d clients | %.0f | %.2f | 2 |\n", opt.clients, m, m / b);
    for (int i = 0; i < 4; i++) {
        static const char *const ends[] = {"", "-wal", "-shm", ".lock"};

        (void)snprintf(name, sizeof name, "%s%s", path, ends[i]);
        (void)unlink(name);
    }
    return o / b >= 0.5 && m / b >= 2 ? 0 : 2;
}

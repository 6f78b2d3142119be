/*
 * bench/http/seed - many games like those of a database.
 *
 *   bench_seed DATABASE GAMES RUNNING IDS
 *
 * The running games of the file, the bases, were made and played through the API; the first of them
 * has had no move.  They are copied until there are GAMES, with their seats, holders, members,
 * events, moves and timers, under public ids of their own and with ids that grow as the daemon's
 * do.  RUNNING copies, spread evenly, run, belong to the same four players, and are of each base by
 * turns; the others are of the first base, finished (a draw without a move) and belong to 1 000
 * further accounts, also made here, four to a game.  The public ids of the running ones are written
 * to IDS, one a line, and of games of both kinds, 100 000 at most and evenly spread, to IDS.all.
 *
 * No daemon may have the file open.  For speed it is written without a journal; then it is WAL
 * again and the sign of life is set to now, so that the daemon sees no outage.
 *
 * PRAGMAs: journal_mode = OFF, synchronous = OFF, foreign_keys = OFF, ignore_check_constraints = ON
 * (looking costs more than the rows do), cache_size = 256 MiB while writing; ANALYZE is not run
 * (the daemon's own statements are written to need none); WAL after.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OTHERS = 1000, SQL_MAX = 8192 };

static sqlite3 *db;

static void die(const char *what)
{
    (void)fprintf(stderr, "bench_seed: %s: %s\n", what, db ? sqlite3_errmsg(db) : "");
    exit(1);
}

static void run(const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sql);
}

static int64_t ask(const char *sql)
{
    sqlite3_stmt *s = NULL;
    int64_t value;

    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK || sqlite3_step(s) != SQLITE_ROW)
        die(sql);
    value = sqlite3_column_int64(s, 0);
    (void)sqlite3_finalize(s);
    return value;
}

/* public_id(n): eight characters that differ for every n, in no order. */
static void public_id(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    /* An odd factor permutes the numbers below 2^40. */
    uint64_t n = (uint64_t)sqlite3_value_int64(argv[0]) * UINT64_C(0x9e3779b97f) & 0xffffffffff;
    char text[9];

    (void)argc;
    for (int i = 0; i < 8; i++)
        text[i] = digits[n >> 5 * i & 31];
    text[8] = '\0';
    sqlite3_result_text(ctx, text, -1, SQLITE_TRANSIENT);
}

/* A column that is not copied as it stands: what it becomes, of k.n (1 …), k.runs and the row t.
 * t.base says of which base a row is. */
struct change {
    const char *column, *becomes;
};

/*
 * INSERT INTO table SELECT … for n from 1 to `copies` and all rows of a base of `of`, a table of
 * the rows to copy.  Each `every`th copy runs; those are of one of `bases` by turns, the others of
 * base 0.  which: a condition on k, or "1".
 */
static void copy(const char *table, const char *of, int64_t copies, int64_t every, int64_t bases,
                 const char *which, const struct change *changes)
{
    char sql[SQL_MAX], columns[SQL_MAX / 4] = "", values[SQL_MAX / 2] = "", text[128];
    sqlite3_stmt *s = NULL;
    size_t c = 0, v = 0;

    (void)snprintf(text, sizeof text, "SELECT name FROM pragma_table_info('%s')", table);
    if (sqlite3_prepare_v2(db, text, -1, &s, NULL) != SQLITE_OK)
        die(text);
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s, 0), *becomes = NULL;

        for (const struct change *ch = changes; ch->column; ch++)
            if (strcmp(ch->column, name) == 0)
                becomes = ch->becomes;
        c += (size_t)snprintf(columns + c, sizeof columns - c, "%s%s", c ? ", " : "", name);
        v += becomes
                 ? (size_t)snprintf(values + v, sizeof values - v, "%s%s", v ? ", " : "", becomes)
                 : (size_t)snprintf(values + v, sizeof values - v, "%st.%s", v ? ", " : "", name);
        if (c >= sizeof columns || v >= sizeof values)
            die("a statement is too long");
    }
    (void)sqlite3_finalize(s);
    (void)snprintf(
        sql, sizeof sql,
        "WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < %" PRId64
        "), k (n, runs, base) AS (SELECT n, n %% %" PRId64 " = 0, iif(n %% %" PRId64
        " = 0, n / %" PRId64 " %% %" PRId64 ", 0) FROM i)"
        " INSERT INTO %s (%s) SELECT %s FROM k CROSS JOIN %s t WHERE t.base = k.base AND %s",
        copies, every, every, every, bases, table, columns, values, of, which);
    run(sql);
}

/* Text of a change; kept till the end. */
static const char *text_of(const char *format, int64_t a, int64_t b)
{
    return sqlite3_mprintf(format, a, b);
}

static void write_ids(const char *path, const char *condition)
{
    char text[256];
    sqlite3_stmt *s = NULL;
    FILE *out = fopen(path, "w");

    (void)snprintf(text, sizeof text, "SELECT public_id FROM games WHERE %s", condition);
    if (!out)
        perror(path);
    if (!out || sqlite3_prepare_v2(db, text, -1, &s, NULL) != SQLITE_OK)
        die(path);
    while (sqlite3_step(s) == SQLITE_ROW)
        (void)fprintf(out, "%s\n", (const char *)sqlite3_column_text(s, 0));
    (void)sqlite3_finalize(s);
    if (fclose(out) != 0)
        die(path);
}

int main(int argc, char **argv)
{
    int64_t games = argc == 5 ? strtoll(argv[2], NULL, 10) : 0;
    int64_t running = argc == 5 ? strtoll(argv[3], NULL, 10) : 0;
    int64_t game, users, events, newest, bases, copies, every, now;
    struct timespec clock;
    const char *game_id, *user_of, *finished = "NOT k.runs", *sql;
    static const char *const tables[] = {"games",   "seats",  "seat_holders", "members",
                                         "timers",  "moves",  "game_events"};

    (void)clock_gettime(CLOCK_REALTIME, &clock);
    now = (int64_t)clock.tv_sec * 1000;
    if (running < 1 || games < running || games % running != 0) {
        (void)fputs("usage: bench_seed DATABASE GAMES RUNNING IDS (GAMES a multiple of RUNNING)\n",
                    stderr);
        return 2;
    }
    if (sqlite3_open(argv[1], &db) != SQLITE_OK ||
        sqlite3_create_function(db, "public_id", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                public_id, NULL, NULL) != SQLITE_OK)
        die(argv[1]);
    run("PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF;"
        "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -262144;"
        "PRAGMA ignore_check_constraints = ON;"
        "PRAGMA temp_store = MEMORY");
    game = ask("SELECT max(id) FROM games");
    users = ask("SELECT max(id) FROM users");
    copies = games - ask("SELECT count(*) FROM games");
    every = games / running;
    bases = ask("SELECT count(*) FROM games WHERE state = 'running'");
    if (bases < 1 || ask("SELECT ply FROM games WHERE state = 'running' ORDER BY id LIMIT 1") != 0)
        die("the first running game is not one at its start");
    game_id = text_of("%lld + k.n", game, 0);
    /* Finished games go to four of the others, running ones stay with their own. */
    user_of =
        text_of("iif(k.runs, t.user_id, t.user_id + %lld + 4 * (k.n %% %lld))", users, OTHERS / 4);
    run("BEGIN");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        bool is_games = strcmp(tables[i], "games") == 0;
        char *make = sqlite3_mprintf(
            "CREATE TEMP TABLE t_%s AS SELECT t.*, (SELECT count(*) FROM games o WHERE o.state ="
            " 'running' AND o.id < g.id) AS base FROM main.%s t JOIN main.games g ON g.id = %s"
            " WHERE g.state = 'running';"
            "CREATE INDEX temp.i_%s ON t_%s (base)",
            tables[i], tables[i], is_games ? "t.id" : "t.game_id", tables[i], tables[i]);

        run(make);
        sqlite3_free(make);
    }
    run(text_of("CREATE TEMP TABLE t_users AS SELECT *, 0 AS base FROM users WHERE id = %lld",
                users, 0));
    /* Each copy has room for the events of the longest. */
    events = ask("SELECT max(last_seq) FROM games WHERE state = 'running'");
    newest = ask("SELECT max(id) FROM game_events");
    copy("users", "t_users", OTHERS, 1, 1, "1",
         (const struct change[]){{"id", text_of("%lld + k.n", users, 0)},
                                 {"handle", "'other' || k.n"},
                                 {"handle_key", "'other' || k.n"},
                                 {"address", "NULL"},
                                 {"address_key", "NULL"},
                                 {"verified_at", "NULL"},
                                 {NULL, NULL}});
    copy("games", "t_games", copies, every, bases, "1",
         (const struct change[]){
             {"id", game_id},
             {"public_id", "public_id(k.n)"},
             {"last_event_id", text_of("%lld + %lld * (k.n - 1) + t.last_seq", newest, events)},
             {"organiser_id",
              text_of("iif(k.runs, t.organiser_id, t.organiser_id + %lld + 4 * (k.n %% %lld))",
                      users, OTHERS / 4)},
             {"state", "iif(k.runs, t.state, 'finished')"},
             {"result", "iif(k.runs, t.result, 'draw')"},
             {"cause", "iif(k.runs, t.cause, 'agreement')"},
             {"turn_seat", "iif(k.runs, t.turn_seat, NULL)"},
             {"turn_user_id", "iif(k.runs, t.turn_user_id, NULL)"},
             {"turn_at", "iif(k.runs, t.turn_at, NULL)"},
             {"deadline_at", "iif(k.runs, t.deadline_at, NULL)"},
             {"ended_at", "iif(k.runs, NULL, t.updated_at)"},
             {NULL, NULL}});
    copy("seats", "t_seats", copies, every, bases, "1",
         (const struct change[]){{"game_id", game_id}, {"user_id", user_of}, {NULL, NULL}});
    copy("seat_holders", "t_seat_holders", copies, every, bases, "1",
         (const struct change[]){
             {"id", "NULL"}, {"game_id", game_id}, {"user_id", user_of}, {NULL, NULL}});
    copy("members", "t_members", copies, every, bases, "1",
         (const struct change[]){{"game_id", game_id},
                                 {"user_id", user_of},
                                 {"is_over", finished},
                                 {NULL, NULL}});
    copy("game_events", "t_game_events", copies, every, bases, "1",
         (const struct change[]){{"id", text_of("%lld + %lld * (k.n - 1) + t.seq", newest, events)},
                                 {"game_id", game_id},
                                 {"user_id", user_of},
                                 {NULL, NULL}});
    copy("moves", "t_moves", copies, every, bases, "1",
         (const struct change[]){
             {"id", "NULL"}, {"game_id", game_id}, {"user_id", user_of}, {NULL, NULL}});
    copy("timers", "t_timers", copies, every, bases, "k.runs",
         (const struct change[]){{"id", "NULL"}, {"game_id", game_id}, {NULL, NULL}});
    run("UPDATE game_tally SET n = (SELECT count(*) FROM games WHERE games.state = "
        "game_tally.state)");
    sql = text_of("UPDATE heartbeat SET at = %lld", now, 0);
    run(sql);
    run("COMMIT");
    write_ids(argv[4], "state = 'running'");
    write_ids(sqlite3_mprintf("%s.all", argv[4]),
              text_of("id %% %lld = 0", (games + 99999) / 100000, 0));
    run("PRAGMA journal_mode = WAL; PRAGMA locking_mode = NORMAL; PRAGMA user_version");
    (void)sqlite3_close(db);
    return 0;
}

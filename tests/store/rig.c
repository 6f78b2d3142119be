/* store/rig.c - see rig.h. */
#include "store/rig.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

static void rig_up(struct rig *r)
{
    struct store_options options = {.path = r->path, .vfs = r->vfs};
    struct err err = ERR_INIT;

    assert_ok(store_open(&options, &r->store, &err), err);
    assert_ok(store_reader_open(r->store, &r->reader, &err), err);
}

void rig_open(struct rig *r, const char *vfs)
{
    rig_open_from(r, vfs, NULL, 0);
}

unsigned char *rig_save(struct rig *r, size_t *ret_n)
{
    unsigned char *bytes;
    FILE *file;
    long n;

    rig_shut(r); /* the log is in the file now */
    file = fopen(r->path, "rb");
    assert_non_null(file);
    (void)fseek(file, 0, SEEK_END);
    n = ftell(file);
    (void)fseek(file, 0, SEEK_SET);
    bytes = malloc((size_t)n);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)n, file), n);
    (void)fclose(file);
    *ret_n = (size_t)n;
    return bytes;
}

void rig_open_from(struct rig *r, const char *vfs, const unsigned char *bytes, size_t n)
{
    const char *tmp = getenv("TMPDIR");

    /* Memory is enough: what is lost when is the faulty VFS's affair, not the disk's. */
    if (!tmp || strlen(tmp) > 40)
        tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    *r = (struct rig){.vfs = vfs, .now = T0};
    (void)snprintf(r->dir, sizeof r->dir, "%s/fh-store-XXXXXX", tmp);
    assert_non_null(mkdtemp(r->dir));
    (void)snprintf(r->path, sizeof r->path, "%s/club.db", r->dir);
    if (n > 0) {
        FILE *file = fopen(r->path, "wb");

        assert_non_null(file);
        assert_int_equal(fwrite(bytes, 1, n, file), n);
        (void)fclose(file);
    }
    rig_up(r);
}

void rig_shut(struct rig *r)
{
    store_end(r->txn);
    r->txn = NULL;
    store_reader_close(r->reader);
    r->reader = NULL;
    store_close(r->store);
    r->store = NULL;
}

void rig_reopen(struct rig *r)
{
    rig_shut(r);
    rig_up(r);
}

void rig_close(struct rig *r)
{
    DIR *dir;
    struct dirent *entry;
    char name[512];

    rig_shut(r);
    dir = opendir(r->dir);
    while (dir && (entry = readdir(dir)) != NULL) {
        (void)snprintf(name, sizeof name, "%s/%.255s", r->dir, entry->d_name);
        if (entry->d_name[0] != '.')
            (void)unlink(name);
    }
    if (dir)
        (void)closedir(dir);
    (void)rmdir(r->dir);
}

struct store_conn *rig_conn(struct rig *r)
{
    return store_reader_conn(r->reader);
}

struct store_txn *rig_begin(struct rig *r)
{
    struct err err = ERR_INIT;

    assert_ok(store_begin(r->store, &r->txn, &err), err);
    return r->txn;
}

void rig_commit(struct rig *r)
{
    struct err err = ERR_INIT;

    assert_ok(store_commit(r->txn, &err), err);
    store_end(r->txn);
    r->txn = NULL;
}

void rig_roll_back(struct rig *r)
{
    store_end(r->txn);
    r->txn = NULL;
}

static utc_ms rig_now(void *arg)
{
    return ((struct rig *)arg)->now;
}

struct time_source rig_time(struct rig *r)
{
    return (struct time_source){.now = rig_now, .arg = r};
}

void rig_hash(int n, unsigned char ret[STORE_HASH_SIZE])
{
    memset(ret, 0, STORE_HASH_SIZE);
    memcpy(ret, &n, sizeof n);
}

int64_t rig_user(struct rig *r, const char *handle)
{
    struct user_row user = {.verified_at = r->now};
    struct err err = ERR_INIT;
    bool own = !r->txn;
    int64_t id = 0;

    (void)str_copy(user.handle, sizeof user.handle, handle);
    (void)str_copy(user.handle_key, sizeof user.handle_key, handle);
    (void)str_copy(user.display_name, sizeof user.display_name, handle);
    (void)str_copy(user.zone, sizeof user.zone, "Europe/Chisinau");
    (void)str_copy(user.language, sizeof user.language, "en");
    (void)snprintf(user.address, sizeof user.address, "%s@example.org", handle);
    (void)str_copy(user.address_key, sizeof user.address_key, user.address);
    if (own)
        rig_begin(r);
    assert_ok(users_create(r->txn, &user, r->now, &id, &err), err);
    if (own)
        rig_commit(r);
    return id;
}

static void append(struct rig *r, struct game_row *game, enum game_event_kind kind, int seat,
                   int64_t user, bool changes_state)
{
    struct event_row event = EVENT_ROW_INIT;
    struct err err = ERR_INIT;

    event.kind = kind;
    event.seat = seat;
    event.user_id = user;
    event.at = r->now;
    assert_ok(events_append(r->txn, game, &event, changes_state, &err), err);
}

int64_t rig_game(struct rig *r, const char *public_id, int64_t organiser)
{
    struct game_row game = {.variant = GAME_VERNEY,
                            .per_move_ms = 14 * MS_DAY,
                            .grace_ms = 12 * MS_HOUR,
                            .organiser_id = organiser,
                            .expires_at = r->now + 30 * MS_DAY,
                            .created_at = r->now,
                            .updated_at = r->now};
    struct err err = ERR_INIT;
    bool own = !r->txn;
    int64_t id = 0;

    (void)str_copy(game.public_id, sizeof game.public_id, public_id);
    (void)str_copy(game.rules, sizeof game.rules, "verney");
    (void)str_copy(game.conditions, sizeof game.conditions, "aaaa");
    if (own)
        rig_begin(r);
    assert_ok(games_create(r->txn, &game, &id, &err), err);
    assert_ok(games_get(store_txn_conn(r->txn), id, &game, &err), err);
    append(r, &game, GAME_EVENT_CREATED, -1, organiser, false);
    assert_ok(games_save(r->txn, &game, &err), err);
    if (own)
        rig_commit(r);
    return id;
}

int64_t rig_running(struct rig *r, const char *public_id, const int64_t users[SEAT_COUNT])
{
    struct game_row game;
    struct err err = ERR_INIT;
    bool own = !r->txn;
    int64_t id;

    if (own)
        rig_begin(r);
    id = rig_game(r, public_id, users[0]);
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        assert_ok(seats_take(r->txn, id, seat, users[seat], HOLDER_PLAYER, r->now, &err), err);
    assert_ok(games_get(store_txn_conn(r->txn), id, &game, &err), err);
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        append(r, &game, GAME_EVENT_SEAT_TAKEN, seat, users[seat], false);
    append(r, &game, GAME_EVENT_STARTED, -1, 0, true);
    game.state = GAME_RUNNING;
    game.turn_seat = 0;
    game.turn_user_id = users[0];
    game.turn_at = game.started_at = r->now;
    game.deadline_at = r->now + game.per_move_ms;
    (void)str_copy(game.position, sizeof game.position, "verney start");
    (void)str_copy(game.start_position, sizeof game.start_position, "verney start");
    assert_ok(games_save(r->txn, &game, &err), err);
    if (own)
        rig_commit(r);
    return id;
}

enum status rig_move_in(struct store_txn *txn, int64_t game_id, utc_ms now, int64_t *ret_seq,
                        struct err *err)
{
    struct game_row game;
    struct event_row event = EVENT_ROW_INIT;
    struct move_row move = {.game_id = game_id, .at = now};
    struct seat_row seats[SEAT_COUNT];
    enum status st = games_get(store_txn_conn(txn), game_id, &game, err);

    if (st == ST_OK)
        st = seats_get(store_txn_conn(txn), game_id, seats, err);
    if (st != ST_OK)
        return st;
    game.ply++;
    event.kind = GAME_EVENT_MOVE;
    event.seat = game.turn_seat;
    event.user_id = game.turn_user_id;
    event.ply = game.ply;
    event.position_hash = (uint64_t)game.ply * UINT64_C(0x9e3779b97f4a7c15);
    event.at = now;
    (void)str_copy(event.move, sizeof event.move, "e2e3");
    (void)str_copy(event.san, sizeof event.san, "e3");
    st = events_append(txn, &game, &event, true, err);
    if (st != ST_OK)
        return st;
    move.ply = game.ply;
    move.seat = event.seat;
    move.user_id = event.user_id;
    move.seq = event.seq;
    move.position_hash = event.position_hash;
    rig_hash(game.ply, move.chain);
    (void)str_copy(move.move, sizeof move.move, event.move);
    (void)str_copy(move.san, sizeof move.san, event.san);
    st = moves_append(txn, &move, err);
    if (st != ST_OK)
        return st;
    game.turn_seat = (game.turn_seat + 1) % SEAT_COUNT;
    game.turn_user_id = seats[game.turn_seat].user_id;
    game.turn_at = game.moved_at = game.updated_at = now;
    game.deadline_at = now + game.per_move_ms;
    game.position_hash = event.position_hash;
    memcpy(game.chain, move.chain, sizeof game.chain);
    game.has_chain = true;
    st = games_save(txn, &game, err);
    if (st == ST_OK && ret_seq)
        *ret_seq = event.seq;
    return st;
}

void rig_move(struct rig *r, int64_t game_id)
{
    struct err err = ERR_INIT;
    bool own = !r->txn;

    if (own)
        rig_begin(r);
    assert_ok(rig_move_in(r->txn, game_id, r->now, NULL, &err), err);
    if (own)
        rig_commit(r);
}

int64_t rig_sql(struct rig *r, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    int64_t value;

    assert_int_equal(sqlite3_open_v2(r->path, &db, SQLITE_OPEN_READONLY, r->vfs), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    value = sqlite3_column_int64(stmt, 0);
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return value;
}

void rig_spoil(struct rig *r, const char *sql)
{
    sqlite3 *db = NULL;
    char *text = NULL;

    assert_int_equal(sqlite3_open_v2(r->path, &db, SQLITE_OPEN_READWRITE, r->vfs), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &text) != SQLITE_OK)
        fail_msg("%s: %s", sql, text);
    (void)sqlite3_close(db);
}

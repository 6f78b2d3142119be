/* store/games.c - game rows; see games.h. */
#include "store/games.h"

#include <assert.h>
#include <string.h>

#include "store/internal.h"

static void game_read(struct query *q, struct game_row *g)
{
    g->id = column_id(q);
    COLUMN_TEXT(q, g->public_id);
    COLUMN_ENUM(q, game_variant, g->variant);
    COLUMN_TEXT(q, g->rules);
    COLUMN_ENUM(q, game_reserve, g->reserve);
    g->is_rated = column_bool(q);
    COLUMN_ENUM(q, game_visibility, g->visibility);
    g->table_talk = column_bool(q);
    COLUMN_ENUM(q, game_clock, g->clock);
    g->per_move_ms = column_int(q);
    g->grace_ms = column_int(q);
    g->placing_ms = column_int(q);
    g->organiser_id = column_id(q);
    COLUMN_ENUM(q, game_state, g->state);
    g->open_seats = (int)column_int(q);
    g->paused_at = column_at(q);
    COLUMN_ENUM(q, game_result, g->result);
    COLUMN_ENUM(q, game_cause, g->cause);
    COLUMN_TEXT(q, g->start_position);
    COLUMN_TEXT(q, g->position);
    g->compact_len = column_bytes(q, g->compact, sizeof g->compact);
    g->position_hash = (uint64_t)column_int(q);
    g->ply = (int)column_int(q);
    g->turn_seat = column_seat(q);
    g->turn_user_id = column_id(q);
    COLUMN_TEXT(q, g->conditions);
    g->state_no = column_int(q);
    g->last_seq = column_int(q);
    g->last_event_id = column_int(q);
    g->turn_at = column_at(q);
    g->deadline_at = column_at(q);
    COLUMN_TEXT(q, g->explanation);
    g->has_chain = column_bytes(q, g->chain, sizeof g->chain) == STORE_HASH_SIZE;
    g->expires_at = column_at(q);
    g->created_at = column_int(q);
    g->started_at = column_at(q);
    g->moved_at = column_at(q);
    g->ended_at = column_at(q);
    g->updated_at = column_int(q);
}

/* Ends the query. */
static enum status game_one(struct query *q, struct game_row *ret_game, struct err *err)
{
    bool has_row = false;
    enum status st = query_row(q, &has_row, err);
    struct game_row game;

    if (st == ST_OK && !has_row)
        st = err_reason(err, REASON_NO_SUCH_GAME, "there is no such game");
    else if (st == ST_OK)
        game_read(q, &game);
    st = query_end(q, st, err);
    if (st == ST_OK)
        *ret_game = game;
    return st;
}

enum status games_get(struct store_conn *conn, int64_t id, struct game_row *ret_game,
                      struct err *err)
{
    struct query q = query_begin(conn, Q_GAME_GET);

    bind_int(&q, id);
    return game_one(&q, ret_game, err);
}

enum status games_find(struct store_conn *conn, const char *public_id, struct game_row *ret_game,
                       struct err *err)
{
    struct query q = query_begin(conn, Q_GAME_FIND);

    bind_text(&q, public_id, 4096); /* whatever was asked for; too long is not there */
    return game_one(&q, ret_game, err);
}

enum status games_find_id(struct store_conn *conn, const char *public_id, int64_t *ret_id,
                          struct err *err)
{
    struct query q = query_begin(conn, Q_GAME_ID);
    enum status st;

    bind_text(&q, public_id, 4096);
    st = query_int(&q, ret_id, err);
    return st == ST_NOT_FOUND ? err_reason(err, REASON_NO_SUCH_GAME, "there is no such game") : st;
}

static enum status tally(struct store_txn *txn, enum game_state state, int add, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_TALLY_ADD);

    BIND_WORD(&q, game_state_str(state));
    bind_int(&q, add);
    return query_run(&q, err);
}

enum status games_create(struct store_txn *txn, const struct game_row *game, int64_t *ret_id,
                         struct err *err)
{
    struct query q = query_begin(txn->conn, Q_GAME_PUT);
    int64_t id = 0;
    enum status st;

    BIND_TEXT(&q, game->public_id);
    BIND_WORD(&q, game_variant_str(game->variant));
    BIND_TEXT(&q, game->rules);
    BIND_WORD(&q, game_reserve_str(game->reserve));
    bind_int(&q, game->is_rated);
    BIND_WORD(&q, game_visibility_str(game->visibility));
    bind_int(&q, game->table_talk);
    BIND_WORD(&q, game_clock_str(game->clock));
    bind_int(&q, game->per_move_ms);
    bind_int(&q, game->grace_ms);
    bind_int(&q, game->placing_ms);
    bind_int(&q, game->organiser_id);
    bind_text(&q, game->conditions[0] ? game->conditions : "aaaa", sizeof game->conditions);
    bind_at(&q, game->expires_at);
    bind_int(&q, game->created_at);
    bind_int(&q, game->updated_at);
    st = query_touch(&q, &id, err);
    for (int seat = 0; st == ST_OK && seat < SEAT_COUNT; seat++) {
        q = query_begin(txn->conn, Q_SEAT_PUT);
        bind_int(&q, id);
        bind_int(&q, seat);
        st = query_run(&q, err);
    }
    if (st == ST_OK) {
        q = query_begin(txn->conn, Q_MEMBER_ORGANISER);
        bind_int(&q, game->organiser_id);
        bind_int(&q, id);
        st = query_run(&q, err);
    }
    if (st == ST_OK)
        st = tally(txn, GAME_OPEN, 1, err);
    if (st == ST_OK)
        *ret_id = id;
    return st;
}

static enum status moved_on(struct err *err)
{
    return err_reason(err, REASON_STATE_MISMATCH, "the game has changed since it was read");
}

/* What is stored, before games_save(). */
struct game_now {
    enum game_state state;
    enum game_result result;
    enum game_cause cause;
    int64_t last_seq;
};

static enum status game_now(struct store_txn *txn, int64_t id, struct game_now *ret,
                            struct err *err)
{
    struct query q = query_begin(txn->conn, Q_GAME_STATE);
    struct game_now now = {.state = GAME_OPEN};
    bool has_row = false;
    enum status st;

    bind_int(&q, id);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && !has_row) {
        st = err_reason(err, REASON_NO_SUCH_GAME, "there is no such game");
    } else if (st == ST_OK) {
        COLUMN_ENUM(&q, game_state, now.state);
        COLUMN_ENUM(&q, game_result, now.result);
        COLUMN_ENUM(&q, game_cause, now.cause);
        now.last_seq = column_int(&q);
    }
    st = query_end(&q, st, err);
    if (st == ST_OK)
        *ret = now;
    return st;
}

enum status games_save(struct store_txn *txn, const struct game_row *game, struct err *err)
{
    struct game_now now;
    struct query q;
    bool changes;
    enum status st = game_now(txn, game->id, &now, err);

    if (st != ST_OK)
        return st;
    /* Events up to game's last are its own: events_append() gives no number twice. */
    if (now.last_seq > game->last_seq)
        return moved_on(err);
    assert(game->compact_len <= GAME_COMPACT_MAX);
    changes = now.state != game->state || now.result != game->result || now.cause != game->cause;
    q = query_begin(txn->conn, changes ? Q_GAME_SAVE_STATE : Q_GAME_SAVE);
    bind_int(&q, game->id);
    bind_int(&q, game->last_seq);
    bind_int(&q, game->last_event_id);
    bind_at(&q, game->paused_at);
    BIND_TEXT(&q, game->start_position);
    BIND_TEXT(&q, game->position);
    bind_blob(&q, game->compact, game->compact_len);
    bind_int(&q, (int64_t)game->position_hash);
    bind_int(&q, game->ply);
    bind_seat(&q, game->turn_seat);
    bind_id(&q, game->turn_user_id);
    BIND_TEXT(&q, game->conditions);
    bind_int(&q, game->state_no);
    bind_at(&q, game->turn_at);
    bind_at(&q, game->deadline_at);
    BIND_TEXT(&q, game->explanation);
    bind_blob(&q, game->chain, game->has_chain ? STORE_HASH_SIZE : 0);
    bind_at(&q, game->expires_at);
    bind_at(&q, game->started_at);
    bind_at(&q, game->moved_at);
    bind_at(&q, game->ended_at);
    bind_int(&q, game->updated_at);
    bind_int(&q, game->is_rated);
    if (changes) {
        BIND_WORD(&q, game_state_str(game->state));
        BIND_WORD(&q, game_result_str(game->result));
        BIND_WORD(&q, game_cause_str(game->cause));
    }
    st = query_change(&q, err);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? moved_on(err) : st;
    if (now.state == game->state)
        return ST_OK;
    st = tally(txn, now.state, -1, err);
    if (st == ST_OK)
        st = tally(txn, game->state, 1, err);
    if (st == ST_OK && (game->state == GAME_FINISHED || game->state == GAME_ABORTED)) {
        q = query_begin(txn->conn, Q_MEMBERS_OVER);
        bind_int(&q, game->id);
        st = query_run(&q, err);
    }
    return st;
}

enum status games_tally(struct store_conn *conn, int64_t ret_n[GAME_STATE_COUNT_], struct err *err)
{
    struct query q = query_begin(conn, Q_GAME_TALLY);
    int64_t n[GAME_STATE_COUNT_] = {0};
    bool has_row = true;
    enum status st;

    while ((st = query_row(&q, &has_row, err)) == ST_OK && has_row) {
        enum game_state state = GAME_OPEN;

        COLUMN_ENUM(&q, game_state, state);
        n[state] = column_int(&q);
    }
    st = query_end(&q, st, err);
    if (st == ST_OK)
        memcpy(ret_n, n, sizeof n);
    return st;
}

static void id_read(struct query *q, int64_t *id)
{
    *id = column_id(q);
}

enum status games_ids(struct store_conn *conn, int state, int64_t after, int64_t *ret_ids,
                      size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, state == GAME_ANY ? Q_GAME_IDS : Q_GAME_IDS_STATE);

    if (state != GAME_ANY)
        BIND_WORD(&q, game_state_str((enum game_state)state));
    bind_int(&q, after);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, ret_ids, max, ret_n, id_read, err);
}

/* store/events.c - see events.h. */
#include "store/events.h"

#include <assert.h>

#include "store/internal.h"

enum status events_append(struct store_txn *txn, struct game_row *game, struct event_row *event,
                          bool changes_state, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_EVENT_PUT);
    int64_t seq = game->last_seq + 1, id = 0;
    int64_t state_no = changes_state ? seq : game->state_no;
    enum status st;

    bind_int(&q, game->id);
    bind_int(&q, seq);
    BIND_WORD(&q, game_event_kind_str(event->kind));
    bind_seat(&q, event->seat);
    bind_id(&q, event->user_id);
    bind_int(&q, event->ply);
    bind_int(&q, state_no);
    BIND_TEXT(&q, event->move);
    BIND_TEXT(&q, event->san);
    BIND_WORD(&q, game_result_str(event->result));
    BIND_WORD(&q, game_cause_str(event->cause));
    bind_int(&q, event->amount_ms);
    bind_at(&q, event->deadline_at);
    bind_int(&q, (int64_t)event->position_hash);
    BIND_TEXT(&q, event->note);
    bind_int(&q, event->at);
    st = query_insert(&q, &id, err);
    if (st == ST_CONFLICT) /* that number is taken */
        return err_reason(err, REASON_STATE_MISMATCH, "the game has changed since it was read");
    if (st != ST_OK)
        return st;
    event->id = id;
    event->game_id = game->id;
    event->seq = seq;
    event->state_no = state_no;
    game->last_seq = seq;
    game->last_event_id = id;
    game->state_no = state_no;
    txn_note_event(txn, game->id, id, seq);
    return ST_OK;
}

static void event_read(struct query *q, struct event_row *e)
{
    e->id = column_id(q);
    e->game_id = column_id(q);
    COLUMN_TEXT(q, e->public_id);
    e->seq = column_int(q);
    COLUMN_ENUM(q, game_event_kind, e->kind);
    e->seat = column_seat(q);
    e->user_id = column_id(q);
    COLUMN_TEXT(q, e->handle);
    e->ply = (int)column_int(q);
    e->state_no = column_int(q);
    COLUMN_TEXT(q, e->move);
    COLUMN_TEXT(q, e->san);
    COLUMN_ENUM(q, game_result, e->result);
    COLUMN_ENUM(q, game_cause, e->cause);
    e->amount_ms = column_int(q);
    e->deadline_at = column_at(q);
    e->position_hash = (uint64_t)column_int(q);
    COLUMN_TEXT(q, e->note);
    e->at = column_int(q);
}

enum status events_of_game(struct store_conn *conn, int64_t game_id, int64_t since,
                           struct event_row *rows, size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_EVENTS_OF_GAME);

    bind_int(&q, game_id);
    bind_int(&q, since);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, event_read, err);
}

enum status events_get(struct store_conn *conn, int64_t game_id, int64_t seq,
                       struct event_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_EVENT_GET);
    struct event_row row;
    enum status st;

    bind_int(&q, game_id);
    bind_int(&q, seq);
    QUERY_ONE(st, &q, row, event_read, ret_row, err, REASON_NOT_FOUND,
              "there is no event %lld in this game", (long long)seq);
    return st;
}

static void hash_read(struct query *q, uint64_t *hash)
{
    *hash = (uint64_t)column_int(q);
}

enum status events_hashes(struct store_conn *conn, int64_t game_id, int64_t since,
                          uint64_t *ret_hashes, size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_EVENTS_HASHES);

    bind_int(&q, game_id);
    bind_int(&q, since);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, ret_hashes, max, ret_n, hash_read, err);
}

enum status events_newest(struct store_conn *conn, int64_t *ret_id, struct err *err)
{
    struct query q = query_begin(conn, Q_EVENTS_NEWEST);

    return query_int(&q, ret_id, err);
}

/* One span of ids; the reader of QUERY_LIST wants a function of its own. */
static enum status events_between(struct store_conn *conn, int64_t user_id, int64_t since,
                                  int64_t through, struct event_row *rows, size_t max,
                                  size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_EVENTS_OF_USER);

    bind_int(&q, user_id);
    bind_int(&q, since);
    bind_int(&q, through);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, event_read, err);
}

/*
 * A user's games are many and the events of all games more.  Asking for his events after `since`
 * in order of id means merging his games; doing it over everything since then would read it all to
 * give one page.  So it goes span by span of ids, each twice as long as the one before: what is
 * near costs little, what is far few queries more.
 */
enum status events_of_user(struct store_conn *conn, int64_t user_id, int64_t since,
                           struct event_row *rows, size_t max, size_t *ret_n, int64_t *ret_through,
                           struct err *err)
{
    int64_t newest = 0, span = 4096;
    size_t n = 0;
    enum status st = events_newest(conn, &newest, err);

    if (since < 0)
        since = 0;
    while (st == ST_OK && n < max && since < newest) {
        int64_t through = newest - since > span ? since + span : newest;
        size_t some = 0;

        st = events_between(conn, user_id, since, through, rows + n, max - n, &some, err);
        n += some;
        since = through;
        if (span < INT64_MAX / 2)
            span *= 2;
    }
    if (st != ST_OK)
        return st;
    *ret_n = n;
    *ret_through = n > 0 && n == max ? rows[n - 1].id : since;
    return ST_OK;
}

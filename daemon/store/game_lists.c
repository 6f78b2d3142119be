/* store/game_lists.c - lists of games by filter, page by page; see games.h. */
#include "store/internal.h"

static void brief_read(struct query *q, struct game_brief *b)
{
    *b = (struct game_brief){.id = column_id(q)};
    COLUMN_TEXT(q, b->public_id);
    COLUMN_ENUM(q, game_variant, b->variant);
    COLUMN_TEXT(q, b->rules);
    COLUMN_ENUM(q, game_reserve, b->reserve);
    b->is_rated = column_bool(q);
    COLUMN_ENUM(q, game_visibility, b->visibility);
    b->table_talk = column_bool(q);
    COLUMN_ENUM(q, game_clock, b->clock);
    b->per_move_ms = column_int(q);
    b->grace_ms = column_int(q);
    b->organiser_id = column_id(q);
    COLUMN_TEXT(q, b->organiser);
    COLUMN_TEXT(q, b->organiser_name);
    COLUMN_ENUM(q, game_state, b->state);
    b->open_seats = (int)column_int(q);
    b->paused_at = column_at(q);
    COLUMN_ENUM(q, game_result, b->result);
    COLUMN_ENUM(q, game_cause, b->cause);
    b->ply = (int)column_int(q);
    b->turn_seat = column_seat(q);
    b->state_no = column_int(q);
    b->last_seq = column_int(q);
    b->turn_at = column_at(q);
    b->deadline_at = column_at(q);
    b->expires_at = column_at(q);
    b->created_at = column_int(q);
    b->started_at = column_at(q);
    b->moved_at = column_at(q);
    b->ended_at = column_at(q);
    b->updated_at = column_int(q);
}

static enum status brief_seats(struct store_conn *conn, struct game_brief *b, struct err *err)
{
    struct query q = query_begin(conn, Q_BRIEF_SEATS);
    bool has_row = true;
    enum status st;

    bind_int(&q, b->id);
    while ((st = query_row(&q, &has_row, err)) == ST_OK && has_row) {
        int seat = column_seat(&q);

        if (seat < 0 || seat >= SEAT_COUNT) {
            query_trouble(&q, ST_CORRUPT, "a seat out of range");
            break;
        }
        COLUMN_ENUM(&q, seat_state, b->seats[seat].state);
        b->seats[seat].user_id = column_id(&q);
        COLUMN_TEXT(&q, b->seats[seat].handle);
        COLUMN_TEXT(&q, b->seats[seat].display_name);
        b->seats[seat].left_how = SEAT_STAYED;
        {
            const char *how = column_peek(&q);

            if (how[0] && !seat_left_how_parse(how, &b->seats[seat].left_how))
                query_trouble(&q, ST_CORRUPT, "unknown word for left_how");
        }
    }
    return query_end(&q, st, err);
}

static void bind_variant(struct query *q, const struct game_filter *f)
{
    bind_text(q, f->variant == GAME_ANY ? NULL : game_variant_str((enum game_variant)f->variant),
              64);
}

static void bind_state(struct query *q, const struct game_filter *f)
{
    bind_text(q, f->state == GAME_ANY ? NULL : game_state_str((enum game_state)f->state), 64);
}

static void bind_tail(struct query *q, const struct game_filter *f, size_t max)
{
    bind_int(q, f->viewer_id);
    bind_int(q, f->sees_all);
    bind_int(q, (int64_t)max);
}

/* The statement for these filters with its parameters. */
static struct query list_query(struct store_conn *conn, const struct game_filter *f,
                               const struct game_cursor *from, size_t max)
{
    int64_t before = from->id ? from->id : INT64_MAX;
    struct query q;

    if (f->turn_user_id) {
        q = query_begin(conn, Q_GAMES_BY_TURN);
        bind_int(&q, f->turn_user_id);
        bind_int(&q, from->id == 0 ? INT64_MIN
                                   : (from->key_at == UTC_NONE ? INT64_MAX : from->key_at));
        bind_int(&q, from->id);
        bind_variant(&q, f);
        bind_state(&q, f);
        bind_tail(&q, f, max);
    } else if (f->invited_user_id) {
        q = query_begin(conn, Q_GAMES_INVITED);
        bind_int(&q, f->invited_user_id);
        bind_int(&q, before);
        bind_variant(&q, f);
        bind_state(&q, f);
        bind_int(&q, f->joinable);
        bind_int(&q, f->player_id);
        bind_int(&q, f->over);
        bind_int(&q, (int64_t)max);
    } else if (f->player_id) {
        q = query_begin(conn, f->over == GAME_ANY ? Q_GAMES_BY_PLAYER : Q_GAMES_BY_PLAYER_OVER);
        bind_int(&q, f->player_id);
        bind_int(&q, before);
        bind_variant(&q, f);
        bind_state(&q, f);
        bind_int(&q, f->joinable);
        bind_tail(&q, f, max);
        if (f->over != GAME_ANY)
            bind_int(&q, f->over);
    } else if (f->joinable) {
        q = query_begin(conn, Q_GAMES_JOINABLE);
        bind_int(&q, before);
        bind_variant(&q, f);
        bind_tail(&q, f, max);
        bind_state(&q, f);
    } else {
        bool by_variant = f->variant != GAME_ANY, by_state = f->state != GAME_ANY;

        q = query_begin(conn, by_variant && by_state ? Q_GAMES_BY_VARIANT_STATE
                              : by_variant           ? Q_GAMES_BY_VARIANT
                              : by_state             ? Q_GAMES_BY_STATE
                                                     : Q_GAMES_ALL);
        bind_int(&q, before);
        if (by_variant)
            bind_variant(&q, f);
        if (by_state)
            bind_state(&q, f);
        bind_tail(&q, f, max);
    }
    return q;
}

enum status games_list(struct store_conn *conn, const struct game_filter *filter,
                       const struct game_cursor *from, struct game_brief *rows, size_t max,
                       size_t *ret_n, struct game_cursor *ret_next, struct err *err)
{
    struct game_cursor next = {.id = 0, .key_at = UTC_NONE};
    bool has_row = true, is_more = false;
    size_t n = 0;
    struct query q;
    enum status st;

    if (filter->invited_user_id && filter->turn_user_id) {
        *ret_n = 0;
        *ret_next = next;
        return ST_OK;
    }
    q = list_query(conn, filter, from, max + 1);
    while ((st = query_row(&q, &has_row, err)) == ST_OK && has_row) {
        if (n == max) {
            is_more = true;
            break;
        }
        brief_read(&q, &rows[n++]);
    }
    st = query_end(&q, st, err);
    for (size_t i = 0; st == ST_OK && i < n; i++)
        st = brief_seats(conn, &rows[i], err);
    if (st != ST_OK)
        return st;
    if (is_more && n > 0)
        next = (struct game_cursor){.id = rows[n - 1].id, .key_at = rows[n - 1].deadline_at};
    *ret_n = n;
    *ret_next = next;
    return ST_OK;
}

enum status games_count_of_user(struct store_conn *conn, int64_t user_id, int64_t but_game_id,
                                int max, int *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_GAMES_OF_USER_COUNT);
    bool has_row = false;
    int n = 0;
    enum status st;

    bind_int(&q, user_id);
    bind_int(&q, but_game_id);
    bind_int(&q, max);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && has_row)
        n = (int)column_int(&q);
    st = query_end(&q, st, err);
    if (st == ST_OK)
        *ret_n = n;
    return st;
}

enum status games_brief(struct store_conn *conn, int64_t id, struct game_brief *ret_row,
                        struct err *err)
{
    struct query q = query_begin(conn, Q_GAME_BRIEF);
    struct game_brief row;
    bool has_row = false;
    enum status st;

    bind_int(&q, id);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && !has_row)
        st = err_reason(err, REASON_NO_SUCH_GAME, "there is no such game");
    else if (st == ST_OK)
        brief_read(&q, &row);
    st = query_end(&q, st, err);
    if (st == ST_OK)
        st = brief_seats(conn, &row, err);
    if (st == ST_OK)
        *ret_row = row;
    return st;
}

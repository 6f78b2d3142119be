/* store/seats.c - seats, holders, members, invitations; see games.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/internal.h"

/* ---------------------------------------------------------------- seats */

static void seat_read(struct query *q, struct seat_row *s)
{
    const char *how;

    s->game_id = column_id(q);
    s->seat = column_seat(q);
    COLUMN_ENUM(q, seat_state, s->state);
    s->user_id = column_id(q);
    COLUMN_TEXT(q, s->handle);
    COLUMN_TEXT(q, s->display_name);
    s->taken_at = column_at(q);
    COLUMN_TEXT(q, s->placement);
    s->placed_at = column_at(q);
    s->left_how = SEAT_STAYED;
    how = column_peek(q);
    if (how[0] && !seat_left_how_parse(how, &s->left_how))
        query_trouble(q, ST_CORRUPT, "unknown word for left_how");
    s->left_at = column_at(q);
    s->late_moves = (int)column_int(q);
}

enum status seats_get(struct store_conn *conn, int64_t game_id,
                      struct seat_row ret_seats[SEAT_COUNT], struct err *err)
{
    struct query q = query_begin(conn, Q_SEATS_GET);
    struct seat_row seats[SEAT_COUNT];
    bool has_row = true;
    int n = 0;
    enum status st;

    bind_int(&q, game_id);
    while ((st = query_row(&q, &has_row, err)) == ST_OK && has_row && n < SEAT_COUNT) {
        seat_read(&q, &seats[n]);
        if (seats[n].seat != n)
            query_trouble(&q, ST_CORRUPT, "a game without its four seats");
        n++;
    }
    if (st == ST_OK && n == 0)
        st = err_reason(err, REASON_NO_SUCH_GAME, "there is no such game");
    else if (st == ST_OK && n != SEAT_COUNT)
        query_trouble(&q, ST_CORRUPT, "a game without its four seats");
    st = query_end(&q, st, err);
    if (st == ST_OK)
        memcpy(ret_seats, seats, sizeof seats);
    return st;
}

static struct query for_seat(struct store_txn *txn, enum query_id id, int64_t game_id, int seat)
{
    struct query q = query_begin(txn->conn, id);

    bind_int(&q, game_id);
    bind_int(&q, seat);
    return q;
}

static struct query for_member(struct store_txn *txn, enum query_id id, int64_t user_id,
                               int64_t game_id)
{
    struct query q = query_begin(txn->conn, id);

    bind_int(&q, user_id);
    bind_int(&q, game_id);
    return q;
}

static enum status seats_recount(struct store_txn *txn, int64_t game_id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_GAME_COUNT_SEATS);

    bind_int(&q, game_id);
    return query_run(&q, err);
}

/* What a user still has to do with a game, after something of it ended. */
static enum status member_afresh(struct store_txn *txn, int64_t user_id, int64_t game_id,
                                 struct err *err)
{
    struct query q = for_member(txn, Q_MEMBER_AFRESH, user_id, game_id);
    enum status st = query_run(&q, err);

    if (st != ST_OK)
        return st;
    q = for_member(txn, Q_MEMBER_CLOSE, user_id, game_id);
    return query_run(&q, err);
}

unsigned seats_of_user(const struct seat_row seats[SEAT_COUNT], int64_t user_id)
{
    unsigned set = 0;

    for (int seat = 0; seat < SEAT_COUNT; seat++)
        if (user_id != 0 && seats[seat].user_id == user_id)
            set |= 1u << seat;
    return set;
}

unsigned seats_left_by(const struct seat_row seats[SEAT_COUNT], enum seat_left_how how)
{
    unsigned set = 0;

    for (int i = 0; i < SEAT_COUNT; i++)
        if (seats[i].left_how == how)
            set |= 1u << i;
    return set;
}

/* Seat kept (invited) or given free (open).  ST_CONFLICT when it is taken. */
static enum status seats_set_state(struct store_txn *txn, int64_t game_id, int seat,
                                   enum seat_state state, struct err *err)
{
    struct query q = for_seat(txn, Q_SEAT_STATE, game_id, seat);
    enum status st;

    BIND_WORD(&q, seat_state_str(state));
    st = query_touch_or(&q, REASON_GAME_FULL, "this seat is taken", err);
    return st == ST_OK ? seats_recount(txn, game_id, err) : st;
}

enum status seats_take(struct store_txn *txn, int64_t game_id, int seat, int64_t user_id,
                       enum holder_role role, utc_ms now, struct err *err)
{
    struct query q = for_seat(txn, Q_SEAT_TAKE, game_id, seat);
    enum status st;

    bind_int(&q, user_id);
    bind_int(&q, now);
    st = query_touch_or(&q, REASON_GAME_FULL, "this seat is taken", err);
    if (st != ST_OK)
        return st;
    q = for_seat(txn, Q_HOLDER_END, game_id, seat);
    bind_int(&q, now);
    st = query_run(&q, err);
    if (st != ST_OK)
        return st;
    q = for_seat(txn, Q_HOLDER_PUT, game_id, seat);
    bind_int(&q, user_id);
    BIND_WORD(&q, holder_role_str(role));
    bind_int(&q, now);
    st = query_run(&q, err);
    if (st != ST_OK)
        return st;
    q = for_member(txn, Q_MEMBER_PLAYER, user_id, game_id);
    st = query_run(&q, err);
    if (st != ST_OK)
        return st;
    q = for_seat(txn, Q_GAME_TURN_USER, game_id, seat);
    bind_int(&q, user_id);
    st = query_run(&q, err);
    return st == ST_OK ? seats_recount(txn, game_id, err) : st;
}

enum status seats_leave(struct store_txn *txn, int64_t game_id, int seat, int64_t user_id,
                        utc_ms now, struct err *err)
{
    struct query q = for_seat(txn, Q_SEAT_LEAVE, game_id, seat);
    enum status st;

    bind_int(&q, user_id);
    st = query_touch_or(&q, REASON_NOT_YOUR_GAME, "this seat is held by another", err);
    if (st == ST_FORBIDDEN)
        st = err_set(err, ST_CONFLICT, "this seat is not held by that user");
    if (st != ST_OK)
        return st;
    q = for_seat(txn, Q_HOLDER_END, game_id, seat);
    bind_int(&q, now);
    st = query_run(&q, err);
    if (st == ST_OK)
        st = member_afresh(txn, user_id, game_id, err);
    return st == ST_OK ? seats_recount(txn, game_id, err) : st;
}

enum status seats_place(struct store_txn *txn, int64_t game_id, int seat, const char *placement,
                        utc_ms now, struct err *err)
{
    struct query q = for_seat(txn, Q_SEAT_PLACE, game_id, seat);

    bind_text(&q, placement, SEAT_PLACEMENT_SIZE);
    bind_int(&q, now);
    return query_touch_or(&q, REASON_NO_SUCH_GAME, "there is no such seat", err);
}

enum status seats_left(struct store_txn *txn, int64_t game_id, int seat, enum seat_left_how how,
                       utc_ms now, struct err *err)
{
    struct query q = for_seat(txn, Q_SEAT_LEFT, game_id, seat);

    BIND_WORD(&q, seat_left_how_str(how));
    bind_int(&q, now);
    return query_touch_or(&q, REASON_ALREADY_DONE, "this seat has left the game already", err);
}

enum status seats_add_late(struct store_txn *txn, int64_t game_id, int seat, struct err *err)
{
    struct query q = for_seat(txn, Q_SEAT_LATE, game_id, seat);

    return query_touch_or(&q, REASON_NO_SUCH_GAME, "there is no such seat", err);
}

static void holder_read(struct query *q, struct holder_row *h)
{
    h->game_id = column_id(q);
    h->seat = column_seat(q);
    h->user_id = column_id(q);
    COLUMN_ENUM(q, holder_role, h->role);
    h->since_at = column_int(q);
    h->until_at = column_at(q);
}

enum status holders_list(struct store_conn *conn, int64_t game_id, struct holder_row *rows,
                         size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_HOLDERS);

    bind_int(&q, game_id);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, holder_read, err);
}

/* ---------------------------------------------------------------- members */

static void member_read(struct query *q, struct member_row *m)
{
    m->user_id = column_id(q);
    m->game_id = column_id(q);
    m->is_player = column_bool(q);
    m->is_organiser = column_bool(q);
    m->is_invited = column_bool(q);
    m->is_over = column_bool(q);
}

enum status members_get(struct store_conn *conn, int64_t game_id, int64_t user_id,
                        struct member_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_MEMBER_GET);
    struct member_row row;
    enum status st;

    bind_int(&q, game_id);
    bind_int(&q, user_id);
    QUERY_ONE(st, &q, row, member_read, ret_row, err, REASON_NOT_FOUND,
              "the user has nothing to do with this game");
    return st;
}

enum status members_list(struct store_conn *conn, int64_t game_id, struct member_row *rows,
                         size_t max, size_t *ret_n, struct err *err)
{
    struct query q = query_begin(conn, Q_MEMBERS);

    bind_int(&q, game_id);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, member_read, err);
}

/* ---------------------------------------------------------------- invitations */

static void invitation_read(struct query *q, struct invitation_row *row)
{
    row->id = column_id(q);
    row->game_id = column_id(q);
    row->seat = column_seat(q);
    row->user_id = column_id(q);
    COLUMN_TEXT(q, row->address);
    COLUMN_TEXT(q, row->address_key);
    row->invited_by = column_id(q);
    COLUMN_ENUM(q, invitation_state, row->state);
    row->created_at = column_int(q);
    row->expires_at = column_int(q);
    row->settled_at = column_at(q);
}

/* Ends the query. */
static enum status invitation_one(struct query *q, struct invitation_row *ret_row,
                                  struct err *err)
{
    struct invitation_row row;
    bool has_row = false;
    enum status st = query_row(q, &has_row, err);

    if (st == ST_OK && !has_row)
        st = err_detail(err, REASON_NOT_FOUND, "refusal.no_invitation",
                        "there is no such invitation");
    else if (st == ST_OK)
        invitation_read(q, &row);
    st = query_end(q, st, err);
    if (st == ST_OK)
        *ret_row = row;
    return st;
}

void invitations_key(int64_t user_id, char ret_key[INVITED_KEY_SIZE])
{
    (void)snprintf(ret_key, INVITED_KEY_SIZE, "@%" PRId64, user_id);
}

enum status invitations_create(struct store_txn *txn, const struct invitation_row *row,
                               const unsigned char *token_hash, int64_t *ret_id, struct err *err)
{
    char key[INVITED_KEY_SIZE];
    struct query q;
    int64_t id = 0;
    enum status st = seats_set_state(txn, row->game_id, row->seat, SEAT_INVITED, err);

    if (st != ST_OK)
        return st;
    q = query_begin(txn->conn, Q_INVITATION_PUT);
    bind_int(&q, row->game_id);
    bind_int(&q, row->seat);
    bind_id(&q, row->user_id);
    bind_text_or_null(&q, row->address, sizeof row->address);
    bind_text_or_null(&q, row->address_key, sizeof row->address_key);
    bind_hash(&q, token_hash);
    bind_int(&q, row->invited_by);
    bind_int(&q, row->created_at);
    bind_int(&q, row->expires_at);
    st = query_touch(&q, &id, err);
    if (st == ST_CONFLICT)
        return err_detail(err, REASON_GAME_FULL, "refusal.seat_kept",
                          "this seat is kept for another already");
    if (st == ST_OK && row->user_id) {
        q = for_member(txn, Q_MEMBER_INVITED, row->user_id, row->game_id);
        st = query_run(&q, err);
    }
    if (row->user_id)
        invitations_key(row->user_id, key);
    if (st == ST_OK && (row->user_id || row->address_key[0])) {
        q = query_begin(txn->conn, Q_INVITED_ADDRESS_PUT);
        bind_text(&q, row->user_id ? key : row->address_key, ADDRESS_SIZE);
        bind_int(&q, row->invited_by);
        bind_int(&q, row->created_at);
        st = query_run(&q, err);
    }
    if (st == ST_OK)
        *ret_id = id;
    return st;
}

enum status invitations_get(struct store_conn *conn, int64_t id, struct invitation_row *ret_row,
                            struct err *err)
{
    struct query q = query_begin(conn, Q_INVITATION_GET);

    bind_int(&q, id);
    return invitation_one(&q, ret_row, err);
}

enum status invitations_find(struct store_conn *conn,
                             const unsigned char token_hash[STORE_HASH_SIZE],
                             struct invitation_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_INVITATION_FIND);

    bind_hash(&q, token_hash);
    return invitation_one(&q, ret_row, err);
}

enum status invitations_of_seat(struct store_conn *conn, int64_t game_id, int seat,
                                struct invitation_row *ret_row, struct err *err)
{
    struct query q = query_begin(conn, Q_INVITATION_OF_SEAT);

    bind_int(&q, game_id);
    bind_int(&q, seat);
    return invitation_one(&q, ret_row, err);
}

enum status invitations_of_user(struct store_conn *conn, int64_t user_id,
                                struct invitation_row *rows, size_t max, size_t *ret_n,
                                struct err *err)
{
    struct query q = query_begin(conn, Q_INVITATIONS_OF_USER);

    bind_int(&q, user_id);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, invitation_read, err);
}

enum status invitations_of_address(struct store_conn *conn, const char *address_key,
                                   struct invitation_row *rows, size_t max, size_t *ret_n,
                                   struct err *err)
{
    struct query q = query_begin(conn, Q_INVITATIONS_OF_ADDRESS);

    bind_text(&q, address_key, ADDRESS_SIZE);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, invitation_read, err);
}

enum status invitations_to_address(struct store_conn *conn, const char *address_key, utc_ms since,
                                   int64_t by, int64_t *ret_n, int64_t *ret_n_by, struct err *err)
{
    struct query q = query_begin(conn, Q_INVITED_ADDRESS_COUNT);
    int64_t n = 0, n_by = 0;
    bool has_row = false;
    enum status st;

    bind_text(&q, address_key, ADDRESS_SIZE);
    bind_int(&q, since);
    bind_int(&q, by);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && has_row) {
        n = column_int(&q);
        n_by = column_int(&q);
    }
    st = query_end(&q, st, err);
    if (st == ST_OK) {
        *ret_n = n;
        *ret_n_by = n_by;
    }
    return st;
}

enum status invitations_purge(struct store_txn *txn, utc_ms before, int max, int64_t *ret_n,
                              struct err *err)
{
    return query_purge(txn->conn, Q_INVITED_ADDRESS_PURGE, before, max, ret_n, err);
}

enum status invitations_of_game(struct store_conn *conn, int64_t game_id,
                                struct invitation_row *rows, size_t max, size_t *ret_n,
                                struct err *err)
{
    struct query q = query_begin(conn, Q_INVITATIONS_OF_GAME);

    bind_int(&q, game_id);
    bind_int(&q, (int64_t)max);
    QUERY_LIST(&q, rows, max, ret_n, invitation_read, err);
}

static enum status not_pending(struct err *err)
{
    return err_detail(err, REASON_ALREADY_DONE, "refusal.invitation_not_pending",
                      "this invitation is not pending any more");
}

enum status invitations_claim(struct store_txn *txn, int64_t id, int64_t user_id, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_INVITATION_CLAIM);
    int64_t game_id = 0;
    enum status st;

    bind_int(&q, id);
    bind_int(&q, user_id);
    st = query_touch(&q, &game_id, err);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? not_pending(err) : st;
    q = for_member(txn, Q_MEMBER_INVITED, user_id, game_id);
    return query_run(&q, err);
}

enum status invitations_set_token(struct store_txn *txn, int64_t id,
                                  const unsigned char token_hash[STORE_HASH_SIZE],
                                  struct err *err)
{
    struct query q = query_begin(txn->conn, Q_INVITATION_TOKEN);
    enum status st;

    bind_int(&q, id);
    bind_hash(&q, token_hash);
    st = query_touch(&q, NULL, err);
    return st == ST_NOT_FOUND ? not_pending(err) : st;
}

enum status invitations_settle(struct store_txn *txn, int64_t id, enum invitation_state state,
                               utc_ms now, struct err *err)
{
    struct query q = query_begin(txn->conn, Q_INVITATION_SETTLE);
    int64_t game_id = 0, user_id = 0;
    int seat = -1;
    bool has_row = false;
    enum status st;

    bind_int(&q, id);
    BIND_WORD(&q, invitation_state_str(state));
    bind_int(&q, now);
    st = query_row(&q, &has_row, err);
    if (st == ST_OK && !has_row) {
        st = not_pending(err);
    } else if (st == ST_OK) {
        game_id = column_id(&q);
        seat = column_seat(&q);
        user_id = column_id(&q);
    }
    st = query_end(&q, st, err);
    if (st == ST_OK)
        st = seats_set_state(txn, game_id, seat, SEAT_OPEN, err);
    /* One who accepted takes the seat next: he stays a member all the while. */
    if (st == ST_OK && user_id && state != INVITATION_ACCEPTED)
        st = member_afresh(txn, user_id, game_id, err);
    else if (st == ST_OK && user_id) {
        q = for_member(txn, Q_MEMBER_AFRESH, user_id, game_id);
        st = query_run(&q, err);
    }
    return st;
}

/* arbiter/access.c - see access.h. */
#include "arbiter/access.h"

#include <stdlib.h>
#include <string.h>

#include "arbiter/desk.h"

bool invitation_is_for(const struct invitation_row *invitation, const struct user_row *user)
{
    if (user->id == 0)
        return false;
    if (invitation->user_id != 0)
        return invitation->user_id == user->id;
    return user->verified_at != UTC_NONE && invitation->address_key[0] != '\0' &&
           strcmp(invitation->address_key, user->address_key) == 0;
}

bool arbiter_may_organise(int64_t organiser_id, struct arbiter_actor who)
{
    return who.is_operator || who.is_administrator ||
           (who.user_id != 0 && who.user_id == organiser_id);
}

/* As arbiter_invited(), with rows on the heap: an address is long. */
static enum status invited(struct store_conn *conn, const struct game_row *game,
                           struct invitation_row *row, struct user_row *user, unsigned *ret_seats,
                           struct err *err)
{
    int64_t user_id = user->id;
    bool is_read = false;
    unsigned seats = 0;

    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        struct err missing = ERR_INIT;
        enum status st = invitations_of_seat(conn, game->id, seat, row, &missing);

        if (st == ST_NOT_FOUND)
            continue;
        if (st != ST_OK) {
            *err = missing;
            return st;
        }
        if (row->user_id == 0 && !is_read) { /* only these need his address */
            TRY(users_get(conn, user_id, user, err));
            is_read = true;
        }
        if (invitation_is_for(row, user))
            seats |= 1u << seat;
    }
    *ret_seats = seats;
    return ST_OK;
}

enum status arbiter_invited(struct store_conn *conn, const struct game_row *game, int64_t user_id,
                            unsigned *ret_seats, struct err *err)
{
    struct {
        struct invitation_row row;
        struct user_row user;
    } *room;
    enum status st;

    if (user_id == 0 || game->state != GAME_OPEN) {
        *ret_seats = 0;
        return ST_OK;
    }
    room = calloc(1, sizeof *room);
    if (!room)
        return err_reason(err, REASON_NO_MEMORY, "invitations");
    room->user.id = user_id;
    room->user.verified_at = UTC_NONE;
    st = invited(conn, game, &room->row, &room->user, ret_seats, err);
    free(room);
    return st;
}

bool arbiter_all_may_see(const struct game_row *game)
{
    return game->visibility == GAME_PUBLIC;
}

enum status arbiter_may_see(struct store_conn *conn, const struct game_row *game,
                            struct arbiter_actor who, struct err *err)
{
    if (arbiter_all_may_see(game) || who.is_operator || who.is_administrator)
        return ST_OK;
    if (who.user_id != 0) {
        struct err missing = ERR_INIT;
        struct member_row member;
        unsigned seats = 0;
        enum status st = members_get(conn, game->id, who.user_id, &member, &missing);

        if (st == ST_OK)
            return ST_OK;
        if (st != ST_NOT_FOUND) {
            *err = missing;
            return st;
        }
        TRY(arbiter_invited(conn, game, who.user_id, &seats, err));
        if (seats != 0)
            return ST_OK;
    }
    return err_reason(err, REASON_NO_SUCH_GAME, "there is no such game");
}

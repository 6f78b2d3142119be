/*
 * http/players.c - see players.h.
 */
#include "http/players.h"

#include <stdlib.h>
#include <string.h>

enum status player_find(struct store_conn *conn, const char *handle, struct user_row *ret,
                        struct err *err)
{
    char key[HANDLE_MAX + 1];

    if (strlen(handle) > HANDLE_MAX)
        return err_reason(err, REASON_NO_SUCH_USER, "there is no such player");
    handle_fold(handle, key);
    return users_find_handle(conn, key, ret, err);
}

enum status player_find_id(struct store_conn *conn, const char *handle, int64_t *ret_id,
                           struct err *err)
{
    struct user_row *user = calloc(1, sizeof *user);
    enum status st;

    if (!user)
        return err_reason(err, REASON_NO_MEMORY, "a player");
    st = player_find(conn, handle, user, err);
    if (st == ST_OK)
        *ret_id = user->id;
    free(user);
    return st;
}

bool seat_wish_check_address(struct request *r, const char *pointer, struct seat_wish *wish)
{
    struct err why = ERR_INIT;

    if (people_address_check(r->http->options.people, wish->text, &why) != ST_OK) {
        form_refuse(&r->form, pointer, &why);
        return false;
    }
    address_fold(wish->text, wish->key);
    return true;
}

enum status seat_wish_offer(struct request *r, struct store_conn *conn, const char *pointer,
                            const struct seat_wish *wish, struct arbiter_offer *ret,
                            struct err *err)
{
    struct err missing = ERR_INIT;
    enum status st;

    *ret = (struct arbiter_offer){.kind = OFFER_OPEN};
    switch (wish->kind) {
    case WISH_OPEN:
        return ST_OK;
    case WISH_ME:
        ret->kind = OFFER_USER;
        ret->user_id = r->who.user_id;
        return ST_OK;
    case WISH_HANDLE:
        ret->kind = OFFER_USER;
        st = player_find_id(conn, wish->text, &ret->user_id, &missing);
        if (st == ST_NOT_FOUND) {
            form_error(&r->form, REASON_NO_SUCH_USER, pointer, "refusal.no_player",
                       "there is no player of that name");
            return form_end(&r->form, err);
        }
        if (st != ST_OK)
            *err = missing;
        return st;
    case WISH_ADDRESS:
        ret->kind = OFFER_MAIL;
        ret->address = wish->text;
        ret->address_key = wish->key;
        return ST_OK;
    }
    return ST_OK;
}

/*
 * http/api_seats.c - who sits down at a table and who gets up: open seats and invitations.
 */
#include <stdlib.h>

#include "http/game_acts.h"
#include "http/handlers.h"
#include "http/players.h"
#include "http/render.h"

struct seats_data {
    unsigned seats;
    int seat;
    struct seat_wish wish;
    const char *token;
    unsigned char token_hash[DIGEST_SIZE];
};

static struct seats_data *seats_data_of(struct request *r, struct err *err)
{
    r->data = calloc(1, sizeof(struct seats_data));
    r->data_free = free;
    if (!r->data)
        (void)err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
    return r->data;
}

enum status join_game_prepare(struct request *r, struct err *err)
{
    struct seats_data *data = seats_data_of(r, err);
    json_t *seats, *word;
    size_t i;

    if (!data)
        return err->code;
    seats = form_any(&r->form, "seats", FIELD_NEEDED, JSON_ARRAY);
    json_array_foreach (seats, i, word) {
        char pointer[32];
        int seat;

        snprintf(pointer, sizeof pointer, "/seats/%zu", i);
        if (!json_is_string(word) || !parse_seat(json_string_value(word), &seat))
            FORM_ERROR(&r->form, REASON_BAD_FIELD, pointer, "refusal.must_be_one",
                       "must be one of `{list}`", ERR_TEXT("list", "south, west, north, east"));
        else if (data->seats & 1u << seat)
            form_error(&r->form, REASON_BAD_FIELD, pointer, "refusal.twice", "is there twice");
        else
            data->seats |= 1u << seat;
    }
    if (seats && (json_array_size(seats) == 0 || json_array_size(seats) > 2))
        form_error(&r->form, REASON_BAD_FIELD, "/seats", "refusal.seats_count",
                   "must have one or two seats");
    return form_end(&r->form, err);
}

enum status join_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct seats_data *data = r->data;

    ACT_ON_GAME(arbiter_join(arb, txn, now, request_actor(r), id, data->seats, game, err));
}

enum status leave_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    ACT_ON_GAME(arbiter_leave(arb, txn, now, request_actor(r), id, 0, game, err));
}

static enum status read_invitation(struct request *r, struct err *err)
{
    struct seats_data *data = seats_data_of(r, err);
    enum status st;

    if (!data)
        return err->code;
    form_str(&r->form, "token", 0, 1, 64, &data->token);
    st = form_end(&r->form, err);
    if (st == ST_OK && data->token) {
        if (!secret_is_shaped(data->token))
            return err_detail(err, REASON_LINK_EXPIRED, "refusal.invitation_foreign",
                              "this is no invitation of ours");
        secret_hash(data->token, data->token_hash);
    }
    return st;
}

enum status accept_invitation_prepare(struct request *r, struct err *err)
{
    return read_invitation(r, err);
}

enum status accept_invitation_act(struct request *r, struct store_txn *txn, utc_ms now,
                                  struct err *err)
{
    struct seats_data *data = r->data;

    ACT_ON_GAME(arbiter_accept(arb, txn, now, request_actor(r), id,
                               data->token ? data->token_hash : NULL, game, err));
}

enum status decline_invitation_prepare(struct request *r, struct err *err)
{
    enum status st = read_invitation(r, err);
    struct seats_data *data = r->data;

    if (st == ST_OK && !data->token && !request_is_logged_in(r))
        st = err_detail(err, REASON_LOGIN_NEEDED, "refusal.invitation_token",
                        "log in, or send the invitation's token");
    return st;
}

enum status decline_invitation_act(struct request *r, struct store_txn *txn, utc_ms now,
                                   struct err *err)
{
    struct seats_data *data = r->data;

    ACT_ON_GAME(arbiter_decline(arb, txn, now, request_actor(r), id,
                                data->token ? data->token_hash : NULL, game, err));
}

enum status invite_prepare(struct request *r, struct err *err)
{
    struct seats_data *data = seats_data_of(r, err);
    const char *handle = NULL, *address = NULL;

    if (!data)
        return err->code;
    data->seat = -1;
    form_word(&r->form, "seat", FIELD_NEEDED, seat_words, SEAT_COUNT, &data->seat);
    form_str(&r->form, "handle", 0, 1, HANDLE_MAX, &handle);
    form_str(&r->form, "address", 0, 3, ADDRESS_MAX, &address);
    if (form_has(&r->form, "handle") == form_has(&r->form, "address"))
        form_error(&r->form, REASON_MISSING_FIELD, "", "refusal.handle_or_address",
                   "one of `handle` and `address` is needed");
    data->wish.kind = handle ? WISH_HANDLE : WISH_ADDRESS;
    data->wish.text = handle ? handle : address;
    if (address)
        (void)seat_wish_check_address(r, "/address", &data->wish);
    return form_end(&r->form, err);
}

static enum status do_invite(struct request *r, const struct arbiter *arb, struct store_txn *txn,
                             utc_ms now, int64_t id, struct game_row *game, struct err *err)
{
    struct seats_data *data = r->data;
    struct arbiter_offer offer;
    enum status st = seat_wish_offer(r, store_txn_conn(txn), "/handle", &data->wish, &offer, err);

    if (st != ST_OK)
        return st;
    return arbiter_invite(arb, txn, now, request_actor(r), id, data->seat, &offer, game, err);
}

enum status invite_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    ACT_ON_GAME(do_invite(r, arb, txn, now, id, game, err));
}

static enum status do_withdraw(struct request *r, const struct arbiter *arb,
                               struct store_txn *txn, utc_ms now, int64_t id,
                               struct game_row *game, struct err *err)
{
    int seat;

    if (!parse_seat(r->params[1], &seat)) {
        FORM_ERROR(&r->form, REASON_BAD_FIELD, "seat", "refusal.must_be_one",
                   "must be one of `{list}`", ERR_TEXT("list", "south, west, north, east"));
        return form_end(&r->form, err);
    }
    return arbiter_withdraw(arb, txn, now, request_actor(r), id, seat, game, err);
}

enum status withdraw_invitation_act(struct request *r, struct store_txn *txn, utc_ms now,
                                    struct err *err)
{
    ACT_ON_GAME(do_withdraw(r, arb, txn, now, id, game, err));
}

/*
 * http/api_placing.c - the reserve of a fortress game that its players place themselves.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/game_acts.h"
#include "http/handlers.h"
#include "http/render.h"
#include "rules/rules.h"

enum status get_placement_read(struct request *r, struct err *err)
{
    struct game_view *view = malloc(sizeof *view);
    struct store_conn *conn = NULL;
    json_t *seats;
    struct variant variant;
    enum status st;

    if (!view)
        return err_reason(err, REASON_NO_MEMORY, "a game");
    st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = game_view_find(conn, r->params[0], request_viewer(r), view, err);
    if (st == ST_OK && view->game.reserve != GAME_RESERVE_CHOSEN)
        st = err_detail(err, REASON_GAME_NOT_RUNNING, "refusal.no_placing",
                        "in this game nobody places his reserve himself");
    if (st == ST_OK && variant_parse(view->game.rules, &variant, NULL) != VARIANT_OK)
        st = err_reason(err, REASON_CORRUPT, "the rules of game %s cannot be read",
                        view->game.public_id);
    if (st != ST_OK)
        goto out;
    seats = json_array();
    for (int i = 0; i < SEAT_COUNT; i++) {
        const struct seat_row *seat = &view->seats[i];
        bool is_shown = seat->placement[0] &&
                        (view->game.started_at != UTC_NONE || seat->user_id == r->who.user_id);
        char rook[8] = "", bishop[8] = "", knight[8] = "";
        struct board own;
        json_t *squares = json_array();

        if (is_shown && sscanf(seat->placement, "%7s %7s %7s", rook, bishop, knight) != 3)
            rook[0] = bishop[0] = knight[0] = '\0';
        if (game_reserve_squares(variant.game, (enum seat)i, &own))
            for (int square; (square = board_take(&own)) != SQUARE_NONE;) {
                char text[SQUARE_TEXT_MAX];

                square_print(square, text);
                json_array_append_new(squares, json_string(text));
            }
        json_array_append_new(
            seats, json_pack("{s:s, s:b, s:o, s:o, s:o, s:o}", "seat", render_seat(i), "placed",
                             seat->placed_at != UTC_NONE, "squares", squares, "rook",
                             render_text(rook), "bishop", render_text(bishop), "knight",
                             render_text(knight)));
    }
    st = answer_json(r, 200,
                     json_pack("{s:o, s:o}", "deadline",
                               render_instant(view->game.state == GAME_PLACING
                                                  ? view->game.deadline_at
                                                  : UTC_NONE),
                               "seats", seats),
                     err);
out:
    free(view);
    return st;
}

static void check_square(struct form *form, const char *pointer, const char *text)
{
    int square = SQUARE_NONE;

    if (text && square_read(text, strlen(text), &square) != strlen(text))
        form_error(form, REASON_BAD_FIELD, pointer, "refusal.must_square",
                   "must be a square such as e2");
}

enum status place_prepare(struct request *r, struct err *err)
{
    struct arbiter_placement *data = calloc(1, sizeof *data);

    r->data = data;
    r->data_free = free;
    if (!data)
        return err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
    data->seat = ARBITER_ANY_SEAT;
    form_word(&r->form, "seat", 0, seat_words, SEAT_COUNT, &data->seat);
    form_str(&r->form, "rook", FIELD_NEEDED, 2, 3, &data->rook);
    form_str(&r->form, "bishop", FIELD_NEEDED, 2, 3, &data->bishop);
    form_str(&r->form, "knight", FIELD_NEEDED, 2, 3, &data->knight);
    check_square(&r->form, "/rook", data->rook);
    check_square(&r->form, "/bishop", data->bishop);
    check_square(&r->form, "/knight", data->knight);
    return form_end(&r->form, err);
}

/* The arbiter names the square that the rules refuse; here it is every field that names it. */
static enum status do_place(struct request *r, const struct arbiter *arb, struct store_txn *txn,
                            utc_ms now, int64_t id, struct game_row *game, struct err *err)
{
    struct arbiter_placement *data = r->data;
    const char *const names[] = {data->rook, data->bishop,
                                 data->knight};
    static const char *const pointers[] = {"/rook", "/bishop", "/knight"};
    struct err why = ERR_INIT;
    enum status st =
        arbiter_place(arb, txn, now, request_actor(r), id, data, game, &why);

    if (st == ST_OK)
        return st;
    for (size_t i = 0; i < COUNT_OF(names) && why.reason == REASON_BAD_PLACEMENT; i++)
        if (why.n_args == 1 && str_case_eq(names[i], why.values + why.args[0].at))
            form_refuse(&r->form, pointers[i], &why);
    *err = why;
    return st;
}

enum status place_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    ACT_ON_GAME(do_place(r, arb, txn, now, id, game, err));
}

#include "http/render.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/arbiter.h"
#include "clock/deadline.h"
#include "rules/notation.h"
#include "store/users.h"
#include "store/votes.h"

static const char *const seat_words[SEAT_COUNT] = {"south", "west", "north", "east"};

struct viewer request_viewer(const struct request *r)
{
    return (struct viewer){.user_id = r->who.user_id, .is_operator = r->who.is_operator};
}

const char *render_seat(int seat)
{
    assert(seat >= 0 && seat < SEAT_COUNT);
    return seat_words[seat];
}

bool parse_seat(const char *word, int *ret)
{
    for (int i = 0; i < SEAT_COUNT; i++)
        if (strcmp(word, seat_words[i]) == 0) {
            *ret = i;
            return true;
        }
    return false;
}

const char *render_side(int team)
{
    return team == 0 ? "south-north" : "west-east";
}

json_t *render_instant(utc_ms at)
{
    char text[UTC_TEXT_SIZE];

    if (at == UTC_NONE)
        return json_null();
    utc_format(at, text);
    return json_string_nocheck(text);
}

json_t *render_text(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

static json_t *seat_or_null(int seat)
{
    return seat < 0 ? json_null() : json_string_nocheck(render_seat(seat));
}

static json_t *score_of(enum game_result result)
{
    switch (result) {
    case GAME_RESULT_TEAM0:
        return json_string("1-0");
    case GAME_RESULT_TEAM1:
        return json_string("0-1");
    case GAME_RESULT_DRAW:
        return json_string("1/2-1/2");
    default:
        return json_null();
    }
}

static json_t *player_of(const char *handle, const char *name)
{
    if (!handle[0])
        return json_null();
    if (!name)
        return json_pack("{s:s}", "handle", handle);
    return json_pack("{s:s, s:s}", "handle", handle, "name", name);
}

/* ------------------------------------------------------------------------------ who may see */

/* An invitation to his proved address is one to him. */
static enum status find_mailed(struct store_conn *conn, const struct invitation_row *rows,
                               size_t n, int64_t user_id, unsigned *ret_seats, struct err *err)
{
    bool has_mailed = false;
    struct user_row *user;
    unsigned seats = 0;
    enum status st;

    for (size_t i = 0; i < n; i++) {
        if (rows[i].state != INVITATION_PENDING)
            continue;
        if (rows[i].user_id == user_id)
            seats |= 1u << rows[i].seat;
        else if (rows[i].user_id == 0 && rows[i].address_key[0])
            has_mailed = true;
    }
    if (has_mailed) {
        user = calloc(1, sizeof *user);
        if (!user)
            return err_reason(err, REASON_NO_MEMORY, "invitations");
        st = users_get(conn, user_id, user, err);
        if (st == ST_OK && user->verified_at != UTC_NONE && user->address_key[0])
            for (size_t i = 0; i < n; i++)
                if (rows[i].state == INVITATION_PENDING && rows[i].user_id == 0 &&
                    strcmp(rows[i].address_key, user->address_key) == 0)
                    seats |= 1u << rows[i].seat;
        free(user);
        if (st != ST_OK)
            return st;
    }
    *ret_seats = seats;
    return ST_OK;
}

/* Seats of an open game that the user may accept. */
static enum status find_invited(struct store_conn *conn, const struct game_row *game,
                                int64_t user_id, unsigned *ret_seats, struct err *err)
{
    struct invitation_row *rows;
    size_t n = 0;
    enum status st;

    *ret_seats = 0;
    if (user_id == 0 || game->state != GAME_OPEN)
        return ST_OK;
    rows = calloc(SEAT_COUNT, sizeof *rows);
    if (!rows)
        return err_reason(err, REASON_NO_MEMORY, "invitations");
    st = ST_OK;
    for (int seat = 0; seat < SEAT_COUNT && st == ST_OK; seat++) {
        struct err missing = ERR_INIT;

        st = invitations_of_seat(conn, game->id, seat, &rows[n], &missing);
        if (st == ST_OK)
            n++;
        else if (st == ST_NOT_FOUND)
            st = ST_OK;
        else
            *err = missing;
    }
    if (st == ST_OK)
        st = find_mailed(conn, rows, n, user_id, ret_seats, err);
    free(rows);
    return st;
}

static enum status may_see(struct store_conn *conn, const struct game_row *game,
                           struct viewer viewer, struct err *err)
{
    struct member_row member;
    struct err missing = ERR_INIT;
    unsigned seats;
    enum status st;

    if (game->visibility == GAME_PUBLIC || viewer.is_operator)
        return ST_OK;
    if (viewer.user_id) {
        st = members_get(conn, game->id, viewer.user_id, &member, &missing);
        if (st == ST_OK)
            return ST_OK;
        if (st != ST_NOT_FOUND) {
            *err = missing;
            return st;
        }
        st = find_invited(conn, game, viewer.user_id, &seats, err);
        if (st != ST_OK || seats)
            return st;
    }
    return err_reason(err, REASON_NO_SUCH_GAME, "there is no game %s", game->public_id);
}

enum status game_view_of(struct store_conn *conn, const struct game_row *game,
                         struct game_view *ret, struct err *err)
{
    if (&ret->game != game)
        ret->game = *game;
    return seats_get(conn, game->id, ret->seats, err);
}

enum status game_view_find(struct store_conn *conn, const char *public_id, struct viewer viewer,
                           struct game_view *ret, struct err *err)
{
    enum status st;

    if (strlen(public_id) != GAME_PUBLIC_ID_SIZE - 1)
        return err_reason(err, REASON_NO_SUCH_GAME, "there is no such game");
    st = games_find(conn, public_id, &ret->game, err);
    if (st == ST_OK)
        st = may_see(conn, &ret->game, viewer, err);
    if (st == ST_OK)
        st = seats_get(conn, ret->game.id, ret->seats, err);
    return st;
}

/* ------------------------------------------------------------------------------ a game */

static const char *condition_word(char letter)
{
    switch (letter) {
    case 'a':
        return "live";
    case 'm':
        return "mated";
    case 's':
        return "stalemated";
    default:
        return "absent";
    }
}

static json_t *condition_of(const struct game_row *game, int seat)
{
    if (game->state == GAME_OPEN || game->state == GAME_PLACING || !game->position[0])
        return json_null();
    return json_string_nocheck(condition_word(game->conditions[seat]));
}

static json_t *left_of(enum seat_left_how how)
{
    return how == SEAT_STAYED ? json_null() : json_string_nocheck(seat_left_how_str(how));
}

static const struct game *game_of(enum game_variant variant)
{
    struct variant found;

    if (!variant_find(game_variant_str(variant), &found))
        return game_at(0);
    return found.game;
}

const char *render_colour(const struct game *game, int seat)
{
    /* The API speaks in small letters. */
    static const struct {
        const char *name, *small;
    } colours[] = {{"White", "white"}, {"Red", "red"},   {"Yellow", "yellow"},
                   {"Black", "black"}, {"Blue", "blue"}, {"Green", "green"}};
    const char *name = seat_colour(game, (enum seat)seat);

    for (size_t i = 0; i < COUNT_OF(colours); i++)
        if (strcmp(colours[i].name, name) == 0)
            return colours[i].small;
    return name;
}

static json_t *render_seats(const struct game_view *view)
{
    const struct game *game = game_of(view->game.variant);
    json_t *list = json_array();

    for (int i = 0; i < SEAT_COUNT; i++) {
        const struct seat_row *seat = &view->seats[i];
        json_t *item = json_pack(
            "{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "seat", render_seat(i), "side",
            render_side(i & 1), "colour", render_colour(game, i), "status",
            seat_state_str(seat->state), "player", player_of(seat->handle, seat->display_name),
            "condition", condition_of(&view->game, i), "left", left_of(seat->left_how), "placed",
            view->game.state == GAME_PLACING ? json_boolean(seat->placed_at != UTC_NONE)
                                             : json_null());

        json_array_append_new(list, item);
    }
    return list;
}

static json_t *render_explanation(const struct game_row *game)
{
    struct deadline *deadline = calloc(1, sizeof *deadline);
    struct err ignored = ERR_INIT;
    json_t *list = json_array();

    if (deadline && game->explanation[0] &&
        deadline_parse_items(game->explanation, game->grace_ms, game->paused_at, deadline,
                             &ignored) == ST_OK) {
        for (size_t i = 0; i < deadline->n_items; i++) {
            const struct deadline_item *item = &deadline->items[i];
            json_t *part = json_pack("{s:s, s:o, s:I}", "kind", deadline_item_slug(item->kind),
                                     "at", render_instant(item->at), "amount_ms",
                                     (json_int_t)item->amount_ms);

            if (item->ref > 0)
                json_object_set_new(part, "seq", json_integer(item->ref));
            json_array_append_new(list, part);
        }
    }
    free(deadline);
    return list;
}

static utc_ms grace_until(utc_ms deadline_at, int64_t grace_ms)
{
    return deadline_at == UTC_NONE ? UTC_NONE : deadline_at + grace_ms;
}

static json_t *render_turn(const struct game_view *view)
{
    const struct game_row *game = &view->game;
    const struct seat_row *seat;

    if (game->state != GAME_RUNNING || game->turn_seat < 0)
        return json_null();
    seat = &view->seats[game->turn_seat];
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "seat", render_seat(game->turn_seat),
                     "player", player_of(seat->handle, seat->display_name), "since",
                     render_instant(game->turn_at), "deadline", render_instant(game->deadline_at),
                     "grace_until", render_instant(grace_until(game->deadline_at, game->grace_ms)),
                     "explanation", render_explanation(game));
}

static json_t *render_rules(const char *rules)
{
    json_t *object = json_object();
    char text[GAME_RULES_SIZE], *save = text, *word;

    str_copy(text, sizeof text, rules);
    while ((word = save) != NULL && *word) {
        char *equal;

        save = strchr(word, ' ');
        if (save)
            *save++ = '\0';
        equal = strchr(word, '=');
        if (!equal)
            continue;
        *equal = '\0';
        if (strcmp(word, "reserve") != 0)
            json_object_set_new(object, word, json_string(equal + 1));
    }
    return object;
}

static json_t *render_reserve(enum game_reserve reserve)
{
    return reserve == GAME_RESERVE_NONE ? json_null()
                                        : json_string_nocheck(game_reserve_str(reserve));
}

static json_t *render_time(enum game_clock clock, int64_t per_move_ms, int64_t grace_ms)
{
    (void)clock; /* the only kind that is made so far */
    return json_pack("{s:s, s:I, s:I}", "mode", "per-move", "per_move_ms",
                     (json_int_t)per_move_ms, "grace_ms", (json_int_t)grace_ms);
}

static json_t *seat_set(unsigned seats)
{
    json_t *list = json_array();

    for (int i = 0; i < SEAT_COUNT; i++)
        if (seats & 1u << i)
            json_array_append_new(list, json_string_nocheck(render_seat(i)));
    return list;
}

static json_t *render_you(struct viewer viewer, unsigned seats, unsigned invited,
                          bool is_organiser)
{
    if (viewer.user_id == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:b}", "seats", seat_set(seats), "invited", seat_set(invited),
                     "organiser", is_organiser || viewer.is_operator);
}

static enum status render_draw_offer(struct store_conn *conn, const struct game_row *game,
                                     json_t **ret, struct err *err)
{
    struct vote_row vote;
    struct err missing = ERR_INIT;
    unsigned accepted = 0;
    enum status st;

    *ret = json_null();
    if (game->state != GAME_RUNNING)
        return ST_OK;
    st = votes_get_open(conn, game->id, VOTE_DRAW, &vote, &missing);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st != ST_OK) {
        *err = missing;
        return st;
    }
    for (int i = 0; i < SEAT_COUNT; i++)
        if (vote.answers[i] == 1)
            accepted |= 1u << i;
    *ret = json_pack("{s:s, s:o, s:o}", "seat", render_seat(vote.seat), "at",
                     render_instant(vote.created_at), "accepted", seat_set(accepted));
    return ST_OK;
}

static json_t *render_result(const struct game_row *game)
{
    if (game->state == GAME_FINISHED)
        return json_pack("{s:o, s:o, s:s}", "score", score_of(game->result), "winner",
                         game->result == GAME_RESULT_DRAW
                             ? json_null()
                             : json_string_nocheck(
                                   render_side(game->result == GAME_RESULT_TEAM0 ? 0 : 1)),
                         "cause", game_cause_str(game->cause));
    return json_null();
}

json_t *render_move(const struct move_row *move, const char *by)
{
    return json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:I, s:b, s:I}", "ply", move->ply, "seat",
                     render_seat(move->seat), "move", move->move, "notation", move->san, "by",
                     render_text(by), "at", render_instant(move->at), "spent_ms",
                     (json_int_t)move->used_ms, "late", move->is_late, "state_number",
                     (json_int_t)move->seq);
}

void render_mover(struct store_conn *conn, const struct game_view *view, int64_t user_id,
                  char ret[HANDLE_SIZE])
{
    struct user_row *user;
    struct err ignored = ERR_INIT;

    ret[0] = '\0';
    for (int i = 0; i < SEAT_COUNT; i++)
        if (view->seats[i].user_id == user_id) {
            str_copy(ret, HANDLE_SIZE, view->seats[i].handle);
            return;
        }
    user = calloc(1, sizeof *user);
    if (user && users_get(conn, user_id, user, &ignored) == ST_OK)
        str_copy(ret, HANDLE_SIZE, user->handle);
    free(user);
}

static enum status render_last_move(struct store_conn *conn, const struct game_view *view,
                                    json_t **ret, struct err *err)
{
    struct move_row move;
    char by[HANDLE_SIZE];
    enum status st;

    *ret = json_null();
    if (view->game.ply == 0)
        return ST_OK;
    st = moves_get(conn, view->game.id, view->game.ply, &move, err);
    if (st != ST_OK)
        return st;
    render_mover(conn, view, move.user_id, by);
    *ret = render_move(&move, by);
    return ST_OK;
}

static json_t *render_checks(const struct game_row *game)
{
    struct position *pos = position_alloc(sizeof *pos);
    struct err ignored = ERR_INIT;
    unsigned checked = 0;

    if (pos && game->position[0] && arbiter_position(game, pos, &ignored) == ST_OK)
        checked = position_checked_seats(pos);
    free(pos);
    return seat_set(checked);
}

static enum status organiser_of(struct store_conn *conn, const struct game_view *view,
                                json_t **ret, struct err *err)
{
    struct user_row *user;
    enum status st;

    for (int i = 0; i < SEAT_COUNT; i++)
        if (view->seats[i].user_id == view->game.organiser_id) {
            *ret = player_of(view->seats[i].handle, view->seats[i].display_name);
            return ST_OK;
        }
    user = calloc(1, sizeof *user);
    if (!user)
        return err_reason(err, REASON_NO_MEMORY, "organiser");
    st = users_get(conn, view->game.organiser_id, user, err);
    if (st == ST_OK)
        *ret = player_of(user->handle, user->display_name);
    free(user);
    return st;
}

enum status render_game(struct store_conn *conn, const struct game_view *view,
                        struct viewer viewer, json_t **ret, struct err *err)
{
    const struct game_row *game = &view->game;
    json_t *organiser = NULL, *last = NULL, *offer = NULL, *root = NULL;
    char hash[17] = "", self[64], path[96];
    unsigned own = 0, invited = 0;
    enum status st;

    for (int i = 0; i < SEAT_COUNT; i++)
        if (viewer.user_id && view->seats[i].user_id == viewer.user_id)
            own |= 1u << i;
    st = organiser_of(conn, view, &organiser, err);
    if (st == ST_OK)
        st = render_last_move(conn, view, &last, err);
    if (st == ST_OK)
        st = render_draw_offer(conn, game, &offer, err);
    if (st == ST_OK)
        st = find_invited(conn, game, viewer.user_id, &invited, err);
    if (st != ST_OK)
        goto out;
    if (game->position[0])
        snprintf(hash, sizeof hash, "%016" PRIx64, game->position_hash);
    snprintf(self, sizeof self, "/api/v1/games/%s", game->public_id);
    root = json_object();
    json_object_set_new(root, "id", json_string(game->public_id));
    json_object_set_new(root, "variant", json_string(game_variant_str(game->variant)));
    json_object_set_new(root, "house_rules", render_rules(game->rules));
    json_object_set_new(root, "reserve", render_reserve(game->reserve));
    json_object_set_new(root, "state", json_string(game_state_str(game->state)));
    json_object_set_new(root, "paused", json_boolean(game->paused_at != UTC_NONE));
    json_object_set_new(root, "rated", json_boolean(game->is_rated));
    json_object_set_new(root, "visibility", json_string(game_visibility_str(game->visibility)));
    json_object_set_new(root, "table_talk", json_boolean(game->table_talk));
    json_object_set_new(root, "time",
                        render_time(game->clock, game->per_move_ms, game->grace_ms));
    json_object_set(root, "organiser", organiser);
    json_object_set_new(root, "seats", render_seats(view));
    json_object_set_new(root, "turn", render_turn(view));
    json_object_set_new(root, "state_number", json_integer(game->state_no));
    json_object_set_new(root, "ply", json_integer(game->ply));
    json_object_set_new(root, "position", render_text(game->position));
    json_object_set_new(root, "position_hash", render_text(hash));
    json_object_set(root, "last_move", last);
    json_object_set_new(root, "checks", render_checks(game));
    json_object_set(root, "draw_offer", offer);
    json_object_set_new(root, "result", render_result(game));
    json_object_set_new(root, "cause",
                        game->cause == GAME_CAUSE_NONE
                            ? json_null()
                            : json_string(game_cause_str(game->cause)));
    json_object_set_new(root, "event_seq", json_integer(game->last_seq));
    json_object_set_new(root, "created_at", render_instant(game->created_at));
    json_object_set_new(root, "started_at", render_instant(game->started_at));
    json_object_set_new(root, "ended_at", render_instant(game->ended_at));
    json_object_set_new(root, "expires_at",
                        render_instant(game->state == GAME_OPEN ? game->expires_at : UTC_NONE));
    json_object_set_new(
        root, "placing_deadline",
        render_instant(game->state == GAME_PLACING ? game->deadline_at : UTC_NONE));
    json_object_set_new(root, "you",
                        render_you(viewer, own, invited, game->organiser_id == viewer.user_id));
    {
        static const char *const parts[] = {"moves",     "events",    "legal",     "position",
                                            "board.txt", "board.svg", "board.png", "game.pgn4",
                                            "game.txt"};
        json_t *links = json_pack("{s:s}", "self", self);

        for (size_t i = 0; i < COUNT_OF(parts); i++) {
            snprintf(path, sizeof path, "%s/%s", self, parts[i]);
            json_object_set_new(links, parts[i], json_string(path));
        }
        json_object_set_new(root, "links", links);
    }
    if (!root) {
        st = err_reason(err, REASON_NO_MEMORY, "a game");
        goto out;
    }
    *ret = root;
out:
    json_decref(organiser);
    json_decref(last);
    json_decref(offer);
    return st;
}

json_t *render_summary(const struct game_brief *brief, struct viewer viewer)
{
    const struct game *game = game_of(brief->variant);
    json_t *root = json_object(), *seats = json_array(), *turn = json_null();
    char href[64];
    unsigned own = 0;

    for (int i = 0; i < SEAT_COUNT; i++) {
        if (viewer.user_id && brief->seats[i].user_id == viewer.user_id)
            own |= 1u << i;
        json_array_append_new(
            seats,
            json_pack("{s:s, s:s, s:s, s:s, s:o, s:n, s:o}", "seat", render_seat(i), "side",
                      render_side(i & 1), "colour", render_colour(game, i), "status",
                      seat_state_str(brief->seats[i].state), "player",
                      player_of(brief->seats[i].handle, NULL), "condition", "left",
                      left_of(brief->seats[i].left_how)));
    }
    if (brief->state == GAME_RUNNING && brief->turn_seat >= 0)
        turn = json_pack("{s:s, s:o, s:o, s:o, s:o}", "seat", render_seat(brief->turn_seat),
                         "player", player_of(brief->seats[brief->turn_seat].handle, NULL),
                         "since", render_instant(brief->turn_at), "deadline",
                         render_instant(brief->deadline_at), "grace_until",
                         render_instant(grace_until(brief->deadline_at, brief->grace_ms)));
    snprintf(href, sizeof href, "/api/v1/games/%s", brief->public_id);
    json_object_set_new(root, "id", json_string(brief->public_id));
    json_object_set_new(root, "href", json_string(href));
    json_object_set_new(root, "variant", json_string(game_variant_str(brief->variant)));
    json_object_set_new(root, "house_rules", render_rules(brief->rules));
    json_object_set_new(root, "reserve", render_reserve(brief->reserve));
    json_object_set_new(root, "state", json_string(game_state_str(brief->state)));
    json_object_set_new(root, "paused", json_boolean(brief->paused_at != UTC_NONE));
    json_object_set_new(root, "rated", json_boolean(brief->is_rated));
    json_object_set_new(root, "visibility", json_string(game_visibility_str(brief->visibility)));
    json_object_set_new(root, "table_talk", json_boolean(brief->table_talk));
    json_object_set_new(root, "time",
                        render_time(brief->clock, brief->per_move_ms, brief->grace_ms));
    json_object_set_new(root, "organiser", player_of(brief->organiser, NULL));
    json_object_set_new(root, "seats", seats);
    json_object_set_new(root, "turn", turn);
    json_object_set_new(root, "ply", json_integer(brief->ply));
    json_object_set_new(root, "state_number", json_integer(brief->state_no));
    json_object_set_new(
        root, "placing_deadline",
        render_instant(brief->state == GAME_PLACING ? brief->deadline_at : UTC_NONE));
    json_object_set_new(root, "expires_at",
                        render_instant(brief->state == GAME_OPEN ? brief->expires_at : UTC_NONE));
    json_object_set_new(root, "result", score_of(brief->result));
    json_object_set_new(root, "created_at", render_instant(brief->created_at));
    json_object_set_new(root, "started_at", render_instant(brief->started_at));
    json_object_set_new(root, "ended_at", render_instant(brief->ended_at));
    json_object_set_new(
        root, "you",
        viewer.user_id == 0
            ? json_null()
            : json_pack("{s:o, s:b}", "seats", seat_set(own), "organiser",
                        brief->organiser_id == viewer.user_id || viewer.is_operator));
    return root;
}

json_t *render_event(const struct event_row *event)
{
    return json_pack(
        "{s:I, s:s, s:I, s:s, s:o, s:o, s:o, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
        (json_int_t)event->id, "game", event->public_id, "seq", (json_int_t)event->seq, "kind",
        game_event_kind_str(event->kind), "at", render_instant(event->at), "seat",
        seat_or_null(event->seat), "by", render_text(event->handle), "ply", event->ply,
        "state_number", (json_int_t)event->state_no, "move", render_text(event->move), "notation",
        render_text(event->san), "result", score_of(event->result), "cause",
        event->cause == GAME_CAUSE_NONE ? json_null()
                                        : json_string_nocheck(game_cause_str(event->cause)),
        "amount_ms", event->amount_ms ? json_integer(event->amount_ms) : json_null(), "deadline",
        render_instant(event->deadline_at), "note", render_text(event->note));
}

enum status answer_game(struct request *r, struct store_conn *conn, int status,
                        const struct game_row *game, struct err *err)
{
    struct game_view *view = malloc(sizeof *view);
    json_t *root = NULL;
    enum status st;

    if (!view)
        return err_reason(err, REASON_NO_MEMORY, "a game");
    st = game_view_of(conn, game, view, err);
    if (st == ST_OK)
        st = render_game(conn, view, request_viewer(r), &root, err);
    if (st == ST_OK)
        st = answer_json(r, status, root, err);
    if (st == ST_OK) {
        unsigned char hash[DIGEST_SIZE];
        char hex[25], etag[27];
        const struct digest *digest = &r->http->options.digest;

        digest->sha256(digest->arg, r->answer.body.data, r->answer.body.len, hash);
        hex_encode(hash, 12, hex);
        snprintf(etag, sizeof etag, "\"%s\"", hex);
        answer_header(r, "ETag", etag);
    }
    free(view);
    return st;
}

/* ------------------------------------------------------------------------------ replaying */

void *position_alloc(size_t size)
{
    enum { BORDER = 32 };
    size_t whole = (size + BORDER - 1) / BORDER * BORDER;
    void *memory = aligned_alloc(BORDER, whole);

    if (memory)
        memset(memory, 0, whole);
    return memory;
}

enum { REPLAY_EVENTS = 128 };

static enum status replay_event(const struct event_row *event, struct replay *replay,
                                struct replay_step *step, struct position *before,
                                struct outcome *outcome, struct err *err)
{
    struct move_reading *reading;
    enum read_verdict verdict;

    switch (event->kind) {
    case GAME_EVENT_MOVE:
        reading = malloc(sizeof *reading);
        if (!reading)
            return err_reason(err, REASON_NO_MEMORY, "replay");
        *before = replay->pos;
        verdict = move_read(&replay->pos, event->move, strlen(event->move), reading);
        step->move = reading->move;
        free(reading);
        if (verdict != READ_MOVE ||
            position_play(&replay->pos, step->move, outcome, NULL) != MOVE_LEGAL)
            return err_reason(err, REASON_CORRUPT, "game %s: move %d (%s) is not legal",
                              event->public_id, event->ply, event->move);
        replay->ply++;
        replay->last = step->move;
        replay->has_last = true;
        step->before = before;
        step->outcome = outcome;
        return ST_OK;
    case GAME_EVENT_RESIGNED:
    case GAME_EVENT_FORFEITED:
        *before = replay->pos;
        if (position_leave(&replay->pos, (enum seat)event->seat,
                           event->kind == GAME_EVENT_RESIGNED ? LEAVE_RESIGN : LEAVE_FORFEIT,
                           outcome) != LEAVE_OK)
            return err_reason(err, REASON_CORRUPT, "game %s: seat %d cannot leave at event %lld",
                              event->public_id, event->seat, (long long)event->seq);
        step->before = before;
        step->outcome = outcome;
        return ST_OK;
    default:
        return ST_OK;
    }
}

enum status game_replay(struct store_conn *conn, const struct game_row *game, int ply,
                        bool (*step)(void *arg, const struct replay_step *step), void *arg,
                        struct replay *ret, struct err *err)
{
    struct event_row *rows = calloc(REPLAY_EVENTS, sizeof *rows);
    struct replay *replay = position_alloc(sizeof *replay);
    struct position *before = position_alloc(sizeof *before);
    struct outcome *outcome = malloc(sizeof *outcome);
    struct variant variant;
    int64_t since = 0;
    size_t n = 0;
    bool is_over = false;
    enum status st = ST_OK;

    if (!rows || !replay || !before || !outcome) {
        st = err_reason(err, REASON_NO_MEMORY, "replay");
        goto out;
    }
    if (!game->start_position[0]) {
        st = err_reason(err, REASON_GAME_NOT_RUNNING, "the game has not begun");
        goto out;
    }
    if (ply > game->ply) {
        st = err_reason(err, REASON_NOT_FOUND, "only %d moves have been made", game->ply);
        goto out;
    }
    if (variant_parse(game->rules, &variant, NULL) != VARIANT_OK ||
        position_parse(&variant, game->start_position, &replay->pos, NULL) != POSITION_OK) {
        st = err_reason(err, REASON_CORRUPT, "game %s: its start cannot be read", game->public_id);
        goto out;
    }
    do {
        st = events_of_game(conn, game->id, since, rows, REPLAY_EVENTS, &n, err);
        for (size_t i = 0; i < n && st == ST_OK && !is_over; i++) {
            struct replay_step told = {.event = &rows[i]};

            if (ply >= 0 && rows[i].kind == GAME_EVENT_MOVE && replay->ply == ply) {
                is_over = true;
                break;
            }
            st = replay_event(&rows[i], replay, &told, before, outcome, err);
            if (st == ST_OK && step && !step(arg, &told))
                is_over = true;
            since = rows[i].seq;
        }
    } while (st == ST_OK && n == REPLAY_EVENTS && !is_over);
    if (st == ST_OK)
        *ret = *replay;
out:
    free(rows);
    free(replay);
    free(before);
    free(outcome);
    return st;
}

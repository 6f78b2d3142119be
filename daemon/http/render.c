#include "http/render.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/access.h"
#include "base/memory.h"
#include "clock/deadline.h"
#include "rules/notation.h"
#include "store/users.h"

const char *const seat_words[SEAT_COUNT] = {"south", "west", "north", "east"};

struct viewer request_viewer(const struct request *r)
{
    return (struct viewer){.user_id = r->who.user_id, .is_operator = r->who.is_operator};
}

struct arbiter_actor viewer_actor(struct viewer viewer)
{
    return (struct arbiter_actor){.user_id = viewer.user_id, .is_operator = viewer.is_operator};
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

enum status game_view_find(struct store_conn *conn, const char *public_id, struct viewer viewer,
                           struct game_view *ret, struct err *err)
{
    enum status st;

    if (strlen(public_id) != GAME_PUBLIC_ID_SIZE - 1)
        return err_reason(err, REASON_NO_SUCH_GAME, "there is no such game");
    st = games_find(conn, public_id, &ret->game, err);
    if (st == ST_OK)
        st = arbiter_may_see(conn, &ret->game, viewer_actor(viewer), err);
    if (st == ST_OK)
        st = seats_get(conn, ret->game.id, ret->seats, err);
    return st;
}

/* ------------------------------------------------------------------------------ a game */

static json_t *left_of(enum seat_left_how how)
{
    return how == SEAT_STAYED ? json_null() : json_string_nocheck(seat_left_how_str(how));
}

const struct game *render_game_of(enum game_variant variant)
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

const char *const render_stopped_by[RENDER_STOPS] = {"pause", "outage", "delivery"};

static json_t *render_time(enum game_clock clock, int64_t per_move_ms, int64_t grace_ms)
{
    json_t *stops = json_array();

    (void)clock; /* the only kind that is made so far */
    for (size_t i = 0; i < RENDER_STOPS; i++)
        json_array_append_new(stops, json_string_nocheck(render_stopped_by[i]));
    return json_pack("{s:s, s:I, s:I, s:o}", "mode", "per-move", "per_move_ms",
                     (json_int_t)per_move_ms, "grace_ms", (json_int_t)grace_ms, "stopped_by",
                     stops);
}

static json_t *seat_set(unsigned seats)
{
    json_t *list = json_array();

    for (int i = 0; i < SEAT_COUNT; i++)
        if (seats & 1u << i)
            json_array_append_new(list, json_string_nocheck(render_seat(i)));
    return list;
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

json_t *render_summary(const struct game_brief *brief, struct viewer viewer, unsigned invited)
{
    const struct game *game = render_game_of(brief->variant);
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
                         render_instant(deadline_grace_end(brief->deadline_at, brief->grace_ms)));
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
            : json_pack("{s:o, s:o, s:b}", "seats", seat_set(own), "invited", seat_set(invited),
                        "organiser",
                        arbiter_may_organise(brief->organiser_id, viewer_actor(viewer))));
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

/* ------------------------------------------------------------------------------ replaying */

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
    struct replay *replay = memory_aligned(sizeof *replay);
    struct position *before = memory_aligned(sizeof *before);
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
        st =
            err_detail(err, REASON_GAME_NOT_RUNNING, "refusal.not_begun", "the game has not begun");
        goto out;
    }
    if (ply > game->ply) {
        st = ERR_DETAIL(err, REASON_NOT_FOUND, "refusal.moves_made",
                        "only {n} moves have been made", ERR_NUMBER("n", game->ply));
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

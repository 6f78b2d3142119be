/*
 * http/render_game.c - a game in full; see render.h.
 *
 * It is the answer to every move, so it is not built as a tree first: the text goes straight into
 * the answer, compact, its keys in the order that they have here.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/access.h"
#include "base/memory.h"
#include "clock/deadline.h"
#include "http/render.h"
#include "rules/notation.h"
#include "store/users.h"
#include "store/votes.h"

/* ------------------------------------------------------------------------------ what it says */

static enum status find_organiser(struct store_conn *conn, struct game_facts *facts,
                                  struct err *err)
{
    int64_t id = facts->view.game.organiser_id;
    struct user_row *user;
    enum status st;

    for (int i = 0; i < SEAT_COUNT; i++)
        if (facts->view.seats[i].user_id == id) {
            str_copy(facts->organiser, sizeof facts->organiser, facts->view.seats[i].handle);
            str_copy(facts->organiser_name, sizeof facts->organiser_name,
                     facts->view.seats[i].display_name);
            return ST_OK;
        }
    user = calloc(1, sizeof *user);
    if (!user)
        return err_reason(err, REASON_NO_MEMORY, "organiser");
    st = users_get(conn, id, user, err);
    if (st == ST_OK) {
        str_copy(facts->organiser, sizeof facts->organiser, user->handle);
        str_copy(facts->organiser_name, sizeof facts->organiser_name, user->display_name);
    }
    free(user);
    return st;
}

static enum status find_offer(struct store_conn *conn, struct game_facts *facts, struct err *err)
{
    struct vote_row vote;
    struct err missing = ERR_INIT;
    enum status st;

    if (facts->view.game.state != GAME_RUNNING)
        return ST_OK;
    st = votes_get_open(conn, facts->view.game.id, VOTE_DRAW, &vote, &missing);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st != ST_OK) {
        *err = missing;
        return st;
    }
    facts->has_offer = true;
    facts->offer_seat = vote.seat;
    facts->offered_at = vote.created_at;
    for (int i = 0; i < SEAT_COUNT; i++)
        if (vote.answers[i] == 1)
            facts->accepted |= 1u << i;
    return ST_OK;
}

enum status game_facts_of(struct store_conn *conn, const struct game_row *game,
                          const struct seat_row *seats, const struct move_row *last,
                          struct viewer viewer, struct game_facts *ret, struct err *err)
{
    enum status st = ST_OK;

    ret->viewer = viewer;
    ret->organiser[0] = ret->organiser_name[0] = ret->last_by[0] = '\0';
    ret->has_last = ret->has_offer = false;
    ret->accepted = ret->invited = 0;
    ret->view.game = *game;
    if (seats)
        memcpy(ret->view.seats, seats, sizeof ret->view.seats);
    else
        st = seats_get(conn, game->id, ret->view.seats, err);
    if (st == ST_OK)
        st = find_organiser(conn, ret, err);
    if (st == ST_OK && game->ply > 0) {
        ret->has_last = true;
        if (last)
            ret->last = *last;
        else
            st = moves_get(conn, game->id, game->ply, &ret->last, err);
        if (st == ST_OK)
            render_mover(conn, &ret->view, ret->last.user_id, ret->last_by);
    }
    if (st == ST_OK)
        st = find_offer(conn, ret, err);
    if (st == ST_OK)
        st = arbiter_invited(conn, game, viewer.user_id, &ret->invited, err);
    return st;
}

/* ------------------------------------------------------------------------------ the text */

static void put_string(struct buf *out, const char *text)
{
    buf_putc(out, '"');
    while (*text) {
        size_t n = 0;

        while ((unsigned char)text[n] >= 0x20 && text[n] != '"' && text[n] != '\\')
            n++;
        buf_add(out, text, n);
        text += n;
        if (*text == '\0')
            break;
        if (*text == '"' || *text == '\\') {
            buf_putc(out, '\\');
            buf_putc(out, *text);
        } else {
            static const char letters[] = "btnfr"; /* 8 to 13, but for 11 */
            int c = (unsigned char)*text;

            if (c >= '\b' && c <= '\r' && c != '\v')
                buf_printf(out, "\\%c", letters[c < '\v' ? c - '\b' : c - '\b' - 1]);
            else
                buf_printf(out, "\\u%04X", (unsigned)c);
        }
        text++;
    }
    buf_putc(out, '"');
}

/* ,"key": - the keys are our own and need no escaping. */
static void put_key(struct buf *out, const char *key)
{
    buf_puts(out, ",\"");
    buf_puts(out, key);
    buf_puts(out, "\":");
}

static void put_text(struct buf *out, const char *key, const char *text)
{
    put_key(out, key);
    put_string(out, text);
}

/* null for "" */
static void put_text_or_null(struct buf *out, const char *key, const char *text)
{
    put_key(out, key);
    if (text[0])
        put_string(out, text);
    else
        buf_puts(out, "null");
}

static void put_int(struct buf *out, const char *key, int64_t value)
{
    char text[24];
    char *at = text + sizeof text;
    uint64_t n = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    put_key(out, key);
    do {
        *--at = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    if (value < 0)
        *--at = '-';
    buf_add(out, at, (size_t)(text + sizeof text - at));
}

static void put_bool(struct buf *out, const char *key, bool value)
{
    put_key(out, key);
    buf_puts(out, value ? "true" : "false");
}

static void put_instant(struct buf *out, const char *key, utc_ms at)
{
    char text[UTC_TEXT_SIZE];

    put_key(out, key);
    if (at == UTC_NONE) {
        buf_puts(out, "null");
        return;
    }
    utc_format(at, text);
    buf_putc(out, '"');
    buf_puts(out, text);
    buf_putc(out, '"');
}

static void put_seats(struct buf *out, const char *key, unsigned seats)
{
    bool is_first = true;

    put_key(out, key);
    buf_putc(out, '[');
    for (int i = 0; i < SEAT_COUNT; i++)
        if (seats & 1u << i) {
            if (!is_first)
                buf_putc(out, ',');
            put_string(out, render_seat(i));
            is_first = false;
        }
    buf_putc(out, ']');
}

static void put_player(struct buf *out, const char *key, const char *handle, const char *name)
{
    put_key(out, key);
    if (!handle[0]) {
        buf_puts(out, "null");
        return;
    }
    buf_puts(out, "{\"handle\":");
    put_string(out, handle);
    put_text(out, "name", name);
    buf_putc(out, '}');
}

static void put_rules(struct buf *out, const char *rules)
{
    char text[GAME_RULES_SIZE], *save = text, *word;
    bool is_first = true;

    put_key(out, "house_rules");
    buf_putc(out, '{');
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
        if (strcmp(word, "reserve") == 0)
            continue;
        if (!is_first)
            buf_putc(out, ',');
        put_string(out, word);
        buf_putc(out, ':');
        put_string(out, equal + 1);
        is_first = false;
    }
    buf_putc(out, '}');
}

static void put_seat(struct buf *out, const struct game_view *view, const struct game *game, int i)
{
    const struct seat_row *seat = &view->seats[i];
    const struct game_row *row = &view->game;

    buf_puts(out, "{\"seat\":");
    put_string(out, render_seat(i));
    put_text(out, "side", render_side(i & 1));
    put_text(out, "colour", render_colour(game, i));
    put_text(out, "status", seat_state_str(seat->state));
    put_player(out, "player", seat->handle, seat->display_name);
    if (row->state == GAME_OPEN || row->state == GAME_PLACING || !row->position[0])
        put_text_or_null(out, "condition", "");
    else
        put_text(out, "condition", arbiter_condition_word(row->conditions[i]));
    put_text_or_null(out, "left",
                     seat->left_how == SEAT_STAYED ? "" : seat_left_how_str(seat->left_how));
    if (row->state == GAME_PLACING)
        put_bool(out, "placed", seat->placed_at != UTC_NONE);
    else
        put_text_or_null(out, "placed", "");
    buf_putc(out, '}');
}

static void put_explanation(struct buf *out, const struct game_row *game)
{
    struct deadline *deadline = calloc(1, sizeof *deadline);
    struct err ignored = ERR_INIT;

    put_key(out, "explanation");
    buf_putc(out, '[');
    if (deadline && game->explanation[0] &&
        deadline_parse_items(game->explanation, game->grace_ms, game->paused_at, deadline,
                             &ignored) == ST_OK) {
        for (size_t i = 0; i < deadline->n_items; i++) {
            const struct deadline_item *item = &deadline->items[i];

            buf_puts(out, i > 0 ? ",{\"kind\":" : "{\"kind\":");
            put_string(out, deadline_item_slug(item->kind));
            put_instant(out, "at", item->at);
            put_int(out, "amount_ms", item->amount_ms);
            if (item->ref > 0)
                put_int(out, "seq", item->ref);
            buf_putc(out, '}');
        }
    }
    buf_putc(out, ']');
    free(deadline);
}

static void put_turn(struct buf *out, const struct game_view *view)
{
    const struct game_row *game = &view->game;
    const struct seat_row *seat;

    put_key(out, "turn");
    if (game->state != GAME_RUNNING || game->turn_seat < 0) {
        buf_puts(out, "null");
        return;
    }
    seat = &view->seats[game->turn_seat];
    buf_puts(out, "{\"seat\":");
    put_string(out, render_seat(game->turn_seat));
    put_player(out, "player", seat->handle, seat->display_name);
    put_instant(out, "since", game->turn_at);
    put_instant(out, "deadline", game->deadline_at);
    put_instant(out, "grace_until", deadline_grace_end(game->deadline_at, game->grace_ms));
    put_explanation(out, game);
    buf_putc(out, '}');
}

static void put_checks(struct buf *out, const struct game_row *game)
{
    struct position *pos = memory_aligned(sizeof *pos);
    struct err ignored = ERR_INIT;
    unsigned checked = 0;

    if (pos && game->position[0] && arbiter_position(game, pos, &ignored) == ST_OK)
        checked = position_checked_seats(pos);
    free(pos);
    put_seats(out, "checks", checked);
}

static const char *score_of(enum game_result result)
{
    return result == GAME_RESULT_TEAM0   ? "1-0"
           : result == GAME_RESULT_TEAM1 ? "0-1"
           : result == GAME_RESULT_DRAW  ? "1/2-1/2"
                                         : "";
}

static void put_result(struct buf *out, const struct game_view *view)
{
    const struct game_row *game = &view->game;
    bool is_first = true;

    put_key(out, "result");
    if (game->state != GAME_FINISHED) {
        buf_puts(out, "null");
        return;
    }
    buf_puts(out, "{\"score\":");
    put_string(out, score_of(game->result));
    put_text_or_null(out, "winner",
                     game->result == GAME_RESULT_DRAW
                         ? ""
                         : render_side(game->result == GAME_RESULT_TEAM0 ? 0 : 1));
    put_text(out, "cause", game_cause_str(game->cause));
    put_key(out, "left");
    buf_putc(out, '[');
    for (int i = 0; i < SEAT_COUNT; i++) {
        if (view->seats[i].left_how == SEAT_STAYED)
            continue;
        buf_puts(out, is_first ? "{\"seat\":" : ",{\"seat\":");
        put_string(out, render_seat(i));
        put_text(out, "how", seat_left_how_str(view->seats[i].left_how));
        buf_putc(out, '}');
        is_first = false;
    }
    buf_puts(out, "]}");
}

static void put_links(struct buf *out, const char *public_id)
{
    static const char *const parts[] = {"moves",     "events",    "legal",
                                        "position",  "board.txt", "board.svg",
                                        "board.png", "game.pgn4", "game.txt"};

    put_key(out, "links");
    buf_puts(out, "{\"self\":\"/api/v1/games/");
    buf_puts(out, public_id);
    buf_putc(out, '"');
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        put_key(out, parts[i]);
        buf_puts(out, "\"/api/v1/games/");
        buf_puts(out, public_id);
        buf_putc(out, '/');
        buf_puts(out, parts[i]);
        buf_putc(out, '"');
    }
    buf_putc(out, '}');
}

static void put_move(struct buf *out, const struct move_row *move, const char *by)
{
    size_t from = out->len;

    put_int(out, "ply", move->ply);
    if (!buf_failed(out))
        out->data[from] = '{'; /* for its comma */
    put_text(out, "seat", render_seat(move->seat));
    put_text(out, "move", move->move);
    put_text(out, "notation", move->san);
    put_text_or_null(out, "by", by);
    put_instant(out, "at", move->at);
    put_int(out, "spent_ms", move->used_ms);
    put_bool(out, "late", move->is_late);
    put_int(out, "state_number", move->seq);
    buf_putc(out, '}');
}

static void put_last_things(struct buf *out, const struct game_facts *facts)
{
    const struct game_row *game = &facts->view.game;

    put_key(out, "last_move");
    if (facts->has_last)
        put_move(out, &facts->last, facts->last_by);
    else
        buf_puts(out, "null");
    put_checks(out, game);
    put_key(out, "draw_offer");
    if (facts->has_offer) {
        buf_puts(out, "{\"seat\":");
        put_string(out, render_seat(facts->offer_seat));
        put_instant(out, "at", facts->offered_at);
        put_seats(out, "accepted", facts->accepted);
        buf_putc(out, '}');
    } else {
        buf_puts(out, "null");
    }
    put_result(out, &facts->view);
    put_text_or_null(out, "cause",
                     game->cause == GAME_CAUSE_NONE ? "" : game_cause_str(game->cause));
    put_int(out, "event_seq", game->last_seq);
    put_instant(out, "created_at", game->created_at);
    put_instant(out, "started_at", game->started_at);
    put_instant(out, "ended_at", game->ended_at);
    put_instant(out, "expires_at", game->state == GAME_OPEN ? game->expires_at : UTC_NONE);
    put_instant(out, "placing_deadline",
                game->state == GAME_PLACING ? game->deadline_at : UTC_NONE);
    put_key(out, "you");
    if (facts->viewer.user_id == 0) {
        buf_puts(out, "null");
    } else {
        size_t from = out->len;

        put_seats(out, "seats", seats_of_user(facts->view.seats, facts->viewer.user_id));
        if (!buf_failed(out))
            out->data[from] = '{';
        put_seats(out, "invited", facts->invited);
        put_bool(out, "organiser",
                 arbiter_may_organise(game->organiser_id, viewer_actor(facts->viewer)));
        buf_putc(out, '}');
    }
    put_links(out, game->public_id);
}

static void put_time(struct buf *out, const struct game_row *game)
{
    buf_puts(out, ",\"time\":{\"mode\":\"per-move\""); /* the only kind that is made so far */
    put_int(out, "per_move_ms", game->per_move_ms);
    put_int(out, "grace_ms", game->grace_ms);
    put_key(out, "stopped_by");
    for (size_t i = 0; i < RENDER_STOPS; i++) {
        buf_putc(out, i > 0 ? ',' : '[');
        put_string(out, render_stopped_by[i]);
    }
    buf_puts(out, "]}");
}

void render_facts(struct buf *out, const struct game_facts *facts)
{
    const struct game_view *view = &facts->view;
    const struct game_row *game = &view->game;
    const struct game *variant = render_game_of(game->variant);
    char hash[17] = "";

    buf_puts(out, "{\"id\":");
    put_string(out, game->public_id);
    put_text(out, "variant", game_variant_str(game->variant));
    put_rules(out, game->rules);
    put_text_or_null(out, "reserve",
                     game->reserve == GAME_RESERVE_NONE ? "" : game_reserve_str(game->reserve));
    put_text(out, "state", game_state_str(game->state));
    put_bool(out, "paused", game->paused_at != UTC_NONE);
    put_bool(out, "rated", game->is_rated);
    put_text(out, "visibility", game_visibility_str(game->visibility));
    put_bool(out, "table_talk", game->table_talk);
    put_time(out, game);
    put_player(out, "organiser", facts->organiser, facts->organiser_name);
    put_key(out, "seats");
    for (int i = 0; i < SEAT_COUNT; i++) {
        buf_putc(out, i > 0 ? ',' : '[');
        put_seat(out, view, variant, i);
    }
    buf_putc(out, ']');
    put_turn(out, view);
    put_int(out, "state_number", game->state_no);
    put_int(out, "ply", game->ply);
    put_text_or_null(out, "position", game->position);
    if (game->position[0])
        snprintf(hash, sizeof hash, "%016" PRIx64, game->position_hash);
    put_text_or_null(out, "position_hash", hash);
    put_last_things(out, facts);
    buf_putc(out, '}');
}

/* ------------------------------------------------------------------------------ answers */

enum status answer_facts(struct request *r, int status, const struct game_facts *facts,
                         const struct move_row *move, struct err *err)
{
    struct buf *out = &r->answer.body;
    enum status st;
    size_t from;

    out->limit = GAME_ANSWER_MAX;
    buf_clear(out);
    if (move) {
        buf_puts(out, "{\"move\":");
        put_move(out, move, facts->last_by);
        buf_puts(out, ",\"game\":");
    }
    from = out->len;
    render_facts(out, facts);
    st = buf_status(out, "the answer", err);
    if (st != ST_OK)
        return st;
    answer_tag(r, out->data + from, out->len - from);
    if (move)
        buf_putc(out, '}');
    r->answer.status = status;
    r->answer.type = "application/json";
    return buf_status(out, "the answer", err);
}

static enum status answer_row(struct request *r, struct store_conn *conn, int status,
                              const struct game_row *game, const struct seat_row *seats,
                              struct err *err)
{
    struct game_facts *facts = malloc(sizeof *facts);
    enum status st;

    if (!facts)
        return err_reason(err, REASON_NO_MEMORY, "a game");
    st = game_facts_of(conn, game, seats, NULL, request_viewer(r), facts, err);
    if (st == ST_OK)
        st = answer_facts(r, status, facts, NULL, err);
    free(facts);
    return st;
}

enum status answer_game(struct request *r, struct store_conn *conn, int status,
                        const struct game_row *game, struct err *err)
{
    return answer_row(r, conn, status, game, NULL, err);
}

enum status answer_view(struct request *r, struct store_conn *conn, int status,
                        const struct game_view *view, struct err *err)
{
    return answer_row(r, conn, status, &view->game, view->seats, err);
}

enum status render_game(struct store_conn *conn, const struct game_view *view,
                        struct viewer viewer, json_t **ret, struct err *err)
{
    struct game_facts *facts = malloc(sizeof *facts);
    struct buf text = buf_make(GAME_ANSWER_MAX);
    json_t *root = NULL;
    enum status st = ST_OK;

    if (!facts)
        st = err_reason(err, REASON_NO_MEMORY, "a game");
    if (st == ST_OK)
        st = game_facts_of(conn, &view->game, view->seats, NULL, viewer, facts, err);
    if (st == ST_OK) {
        render_facts(&text, facts);
        st = buf_status(&text, "a game", err);
    }
    if (st == ST_OK) {
        root = json_loadb(text.data, text.len, 0, NULL);
        if (!root)
            st = err_reason(err, REASON_NO_MEMORY, "a game");
    }
    buf_release(&text);
    free(facts);
    if (st == ST_OK)
        *ret = root;
    return st;
}

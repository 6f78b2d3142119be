/*
 * http/api_play.c - moves, resignation, draws; and what is legal.
 */
#include <stdlib.h>
#include <string.h>

#include "arbiter/arbiter.h"
#include "base/memory.h"
#include "base/str.h"
#include "http/game_acts.h"
#include "http/handlers.h"
#include "http/render.h"
#include "rules/notation.h"

enum {
    MOVES_A_TIME = 128,
    MOVES_PAGE_MAX = 1000,
    HASHES_MAX = 16384,
    MOVE_TEXT_MAX = 16 /* characters of a move as somebody writes it */
};

/* ------------------------------------------------------------------------------ the moves made */

enum status list_moves_read(struct request *r, struct err *err)
{
    static const char *const names[] = {"since", "limit", NULL};
    struct game_view *view = malloc(sizeof *view);
    struct move_row *rows = calloc(MOVES_A_TIME, sizeof *rows);
    struct store_conn *conn = NULL;
    json_t *items = json_array();
    int64_t since, limit, got = 0;
    size_t n = 0;
    enum status st;

    request_query_only(r, names);
    request_query_int(r, "since", 0, INT32_MAX - 1, 0, &since);
    request_query_int(r, "limit", 1, MOVES_PAGE_MAX, MOVES_PAGE_MAX, &limit);
    st = form_end(&r->form, err);
    if (st == ST_OK && (!view || !rows))
        st = err_reason(err, REASON_NO_MEMORY, "moves");
    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = game_view_find(conn, r->params[0], request_viewer(r), view, err);
    while (st == ST_OK && got < limit) {
        size_t want = limit - got < MOVES_A_TIME ? (size_t)(limit - got) : MOVES_A_TIME;

        st = moves_list(conn, view->game.id, (int)(since + got) + 1, rows, want, &n, err);
        for (size_t i = 0; i < n && st == ST_OK; i++) {
            char by[HANDLE_SIZE];

            render_mover(conn, view, rows[i].user_id, by);
            json_array_append_new(items, render_move(&rows[i], by));
        }
        got += (int64_t)n;
        if (n < want)
            break;
    }
    if (st == ST_OK)
        st = answer_json(r, 200,
                         json_pack("{s:O, s:o}", "items", items, "next",
                                   since + got < view->game.ply ? json_integer(since + got)
                                                                : json_null()),
                         err);
    json_decref(items);
    free(rows);
    free(view);
    return st;
}

/* ------------------------------------------------------------------------------ making one */

struct act_data {
    struct arbiter_act act;
    const char *move;
    struct game_facts *facts; /* of a move that was made */
};

static void act_data_free(void *arg)
{
    struct act_data *data = arg;

    if (data)
        free(data->facts);
    free(data);
}

static struct act_data *read_act(struct request *r, struct err *err)
{
    struct act_data *data = calloc(1, sizeof *data);

    r->data = data;
    r->data_free = act_data_free;
    if (!data) {
        (void)err_reason(err, REASON_NO_MEMORY, "the request did not fit into memory");
        return NULL;
    }
    data->act = (struct arbiter_act){.seat = ARBITER_ANY_SEAT, .ply = -1};
    form_int(&r->form, "state_number", FIELD_NEEDED, 0, INT64_MAX, &data->act.state_no);
    if (r->route->act != move_act)
        form_word(&r->form, "seat", 0, seat_words, SEAT_COUNT, &data->act.seat);
    return data;
}

enum status move_prepare(struct request *r, struct err *err)
{
    struct act_data *data = read_act(r, err);
    const char *hash = NULL;

    if (!data)
        return err->code;
    form_str(&r->form, "move", FIELD_NEEDED, 1, MOVE_TEXT_MAX, &data->move);
    form_int(&r->form, "ply", 0, 0, INT32_MAX, &data->act.ply);
    form_str(&r->form, "position_hash", 0, 1, 16, &hash);
    if (hash) {
        char *end;

        data->act.position_hash = strtoull(hash, &end, 16);
        data->act.has_hash = true;
        if (strlen(hash) != 16 || *end || strspn(hash, "0123456789abcdefABCDEF") != 16)
            form_error(&r->form, REASON_BAD_FIELD, "/position_hash", "refusal.hex_16",
                       "must be 16 hexadecimal digits");
    }
    return form_end(&r->form, err);
}

/* The rules' reason as a code, for programs, and as a sentence in the reader's language. */
static void find_verdict(struct request *r, struct store_conn *conn, int64_t game_id,
                         const char *text)
{
    struct game_row *game = malloc(sizeof *game);
    struct position *pos = memory_aligned(sizeof *pos);
    struct move_reading *reading = malloc(sizeof *reading);
    struct err ignored = ERR_INIT;

    if (game && pos && reading && games_get(conn, game_id, game, &ignored) == ST_OK &&
        arbiter_position(game, pos, &ignored) == ST_OK) {
        enum read_verdict verdict = move_read(pos, text, strlen(text), reading);

        struct buf words = buf_make(sizeof r->verdict_words);

        r->verdict = verdict == READ_ILLEGAL ? move_verdict_str(reading->judgement.code)
                                             : read_verdict_str(verdict);
        words_move_reading(&words, r->form.lang, pos, reading);
        (void)str_copy(r->verdict_words, sizeof r->verdict_words, words.data);
        buf_release(&words);
    }
    free(game);
    free(pos);
    free(reading);
}

/* Called once the move is committed, or before it is for an answer that is to be kept. */
static enum status tell_move(struct request *r, struct err *err)
{
    struct act_data *data = r->data;

    return answer_facts(r, 201, data->facts, &data->facts->last, err);
}

/* What the answer will say, as things stand in the transaction. */
static enum status note_move(struct request *r, struct store_conn *conn,
                             const struct arbiter_moved *moved, struct err *err)
{
    struct act_data *data = r->data;
    enum status st;

    data->facts = malloc(sizeof *data->facts);
    if (!data->facts)
        return err_reason(err, REASON_NO_MEMORY, "a move");
    st = game_facts_of(conn, &moved->game, moved->seats, &moved->move, request_viewer(r),
                       data->facts, err);
    if (st == ST_OK && r->key)
        return tell_move(r, err); /* it is kept in this transaction */
    r->resumed = tell_move;
    return st;
}

enum status move_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    struct act_data *data = r->data;
    struct arbiter_moved *moved = malloc(sizeof *moved);
    enum status st;

    if (!moved)
        return err_reason(err, REASON_NO_MEMORY, "a move");
    st = act_game(r, txn, &data->act.game_id, err);
    if (st != ST_OK)
        goto out;
    st = arbiter_move(r->http->options.arbiter, txn, now, request_actor(r), &data->act, data->move,
                      moved, err);
    if (st == ST_ILLEGAL)
        find_verdict(r, store_txn_conn(txn), data->act.game_id, data->move);
    if (st == ST_OK)
        st = note_move(r, store_txn_conn(txn), moved, err);
    else
        st = act_answer(r, txn, st, &moved->game, err);
out:
    free(moved);
    return st;
}

/* ------------------------------------------------------------------------------ the other acts */

/* Ask one of the arbiter's functions that take an act. */
static enum status act_with(struct request *r, struct store_txn *txn, utc_ms now,
                            enum status (*fn)(const struct arbiter *arb, struct store_txn *txn,
                                              utc_ms now, struct arbiter_actor actor,
                                              const struct arbiter_act *act,
                                              struct game_row *ret_game, struct err *err),
                            struct err *err)
{
    struct act_data *data = r->data;
    struct game_row *game = malloc(sizeof *game);
    enum status st;

    if (!game)
        return err_reason(err, REASON_NO_MEMORY, "a game");
    st = act_game(r, txn, &data->act.game_id, err);
    if (st == ST_OK)
        st = act_answer(r, txn,
                        fn(r->http->options.arbiter, txn, now, request_actor(r), &data->act, game,
                           err),
                        game, err);
    free(game);
    return st;
}

static enum status prepare_act(struct request *r, struct err *err)
{
    return read_act(r, err) ? form_end(&r->form, err) : err->code;
}

enum status resign_prepare(struct request *r, struct err *err)
{
    return prepare_act(r, err);
}

enum status resign_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    return act_with(r, txn, now, arbiter_resign, err);
}

enum status offer_draw_prepare(struct request *r, struct err *err)
{
    return prepare_act(r, err);
}

enum status offer_draw_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    return act_with(r, txn, now, arbiter_offer_draw, err);
}

enum status accept_draw_prepare(struct request *r, struct err *err)
{
    return prepare_act(r, err);
}

enum status accept_draw_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    return act_with(r, txn, now, arbiter_accept_draw, err);
}

enum status decline_draw_prepare(struct request *r, struct err *err)
{
    return prepare_act(r, err);
}

enum status decline_draw_act(struct request *r, struct store_txn *txn, utc_ms now,
                             struct err *err)
{
    return act_with(r, txn, now, arbiter_decline_draw, err);
}

enum status claim_draw_prepare(struct request *r, struct err *err)
{
    return prepare_act(r, err);
}

enum status claim_draw_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err)
{
    return act_with(r, txn, now, arbiter_claim_draw, err);
}

/* ------------------------------------------------------------------------------ what is legal */

static json_t *moves_of(const struct position *pos, int from)
{
    struct move_list *list = malloc(sizeof *list);
    json_t *root;

    if (!list)
        return NULL;
    position_legal_moves(pos, list);
    moves_sort(list);
    root = json_array();
    for (int i = 0; i < list->count; i++) {
        char text[MOVE_COORDINATE_MAX];

        if (from != SQUARE_NONE && list->at[i].from != from)
            continue;
        move_print_coordinate(list->at[i], text, sizeof text);
        json_array_append_new(root, json_string(text));
    }
    free(list);
    return root;
}

static json_t *asked_of(const struct position *pos, const char *text, enum lang lang)
{
    struct move_reading *reading = malloc(sizeof *reading);
    char coordinate[MOVE_COORDINATE_MAX] = "";
    struct buf sentence = buf_make(VERDICT_WORDS_SIZE);
    enum read_verdict verdict;
    json_t *root;

    if (!reading)
        return NULL;
    verdict = move_read(pos, text, strlen(text), reading);
    if (verdict == READ_MOVE)
        move_print_coordinate(reading->move, coordinate, sizeof coordinate);
    words_move_reading(&sentence, lang, pos, reading);
    root = json_pack("{s:s, s:b, s:o, s:s, s:s}", "text", text, "legal", verdict == READ_MOVE,
                     "move", render_text(coordinate), "verdict",
                     verdict == READ_MOVE      ? "ok"
                     : verdict == READ_ILLEGAL ? move_verdict_str(reading->judgement.code)
                                               : read_verdict_str(verdict),
                     "detail", sentence.data);
    buf_release(&sentence);
    free(reading);
    return root;
}

static enum status claims_of(struct store_conn *conn, const struct game_row *game,
                             const struct position *pos, json_t **ret, struct err *err)
{
    uint64_t *hashes = calloc(HASHES_MAX, sizeof *hashes);
    json_t *list = json_array();
    struct variant variant;
    struct position *start = memory_aligned(sizeof *start);
    size_t n = 0;
    enum status st;

    if (!hashes || !start) {
        st = err_reason(err, REASON_NO_MEMORY, "claims");
        goto out;
    }
    st = events_hashes(conn, game->id, 0, hashes + 1, HASHES_MAX - 1, &n, err);
    if (st != ST_OK)
        goto out;
    if (variant_parse(game->rules, &variant, NULL) == VARIANT_OK &&
        position_parse(&variant, game->start_position, start, NULL) == POSITION_OK) {
        hashes[0] = start->hash;
        n++;
    } else {
        memmove(hashes, hashes + 1, n * sizeof *hashes);
    }
    if (n > 0 && repetition_count(hashes, n) >= REPEATS_CLAIM)
        json_array_append_new(list, json_string("repetition"));
    if (pos->count >= COUNT_CLAIM)
        json_array_append_new(list, json_string("count"));
    *ret = list;
    list = NULL;
out:
    json_decref(list);
    free(hashes);
    free(start);
    return st;
}

enum status get_legal_read(struct request *r, struct err *err)
{
    static const char *const names[] = {"from", "move", NULL};
    const char *from_text = request_query(r, "from"), *move_text = request_query(r, "move");
    struct game_view *view = malloc(sizeof *view);
    struct position *pos = memory_aligned(sizeof *pos);
    struct store_conn *conn = NULL;
    json_t *claims = NULL;
    int from = SQUARE_NONE;
    enum status st;

    request_query_only(r, names);
    if (from_text &&
        (!*from_text || square_read(from_text, strlen(from_text), &from) != strlen(from_text)))
        form_error(&r->form, REASON_BAD_FIELD, "from", "refusal.must_square",
                   "must be a square such as e2");
    if (move_text)
        form_length(&r->form, "move", move_text, 1, MOVE_TEXT_MAX);
    st = form_end(&r->form, err);
    if (st == ST_OK && (!view || !pos))
        st = err_reason(err, REASON_NO_MEMORY, "moves");
    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = game_view_find(conn, r->params[0], request_viewer(r), view, err);
    if (st == ST_OK && view->game.state != GAME_RUNNING)
        st = ERR_DETAIL(err, REASON_GAME_NOT_RUNNING, "refusal.game_state",
                        "the game is not running; its state is `{state}`",
                        ERR_TEXT("state", game_state_str(view->game.state)));
    if (st == ST_OK)
        st = arbiter_position(&view->game, pos, err);
    if (st == ST_OK)
        st = claims_of(conn, &view->game, pos, &claims, err);
    if (st == ST_OK)
        st = answer_json(r, 200,
                         json_pack("{s:I, s:i, s:s, s:o, s:O, s:o}", "state_number",
                                   (json_int_t)view->game.state_no, "ply", view->game.ply, "seat",
                                   render_seat(pos->turn), "moves", moves_of(pos, from), "claims",
                                   claims, "asked",
                                   move_text ? asked_of(pos, move_text, r->form.lang)
                                             : json_null()),
                         err);
    json_decref(claims);
    free(view);
    free(pos);
    return st;
}

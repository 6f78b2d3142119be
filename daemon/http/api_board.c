/*
 * http/api_board.c - positions, pictures and texts of a game.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/arbiter.h"
#include "base/memory.h"
#include "board/board.h"
#include "http/handlers.h"
#include "http/pages.h"
#include "http/render.h"
#include "rules/notation.h"
#include "rules/pgn4.h"
#include "words/words.h"

enum {
    GAME_TEXT_MAX = 4 * 1024 * 1024,
    PNG_MAX = 4 * 1024 * 1024,
    WIDTH_MIN = 200,
    WIDTH_MAX = 2000
};

/* The position asked for, and its last move; with it the reading of the query ends. */
static enum status find_position(struct request *r, struct game_view *view, struct replay *replay,
                                 bool *ret_is_now, struct err *err)
{
    struct store_conn *conn = NULL;
    struct move_row move;
    int64_t ply;
    enum status st;

    request_query_int(r, "ply", 0, INT32_MAX, -1, &ply);
    st = form_end(&r->form, err);
    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = game_view_find(conn, r->params[0], request_viewer(r), view, err);
    if (st == ST_OK && !view->game.position[0])
        st =
            err_detail(err, REASON_GAME_NOT_RUNNING, "refusal.not_begun", "the game has not begun");
    if (st != ST_OK)
        return st;
    *ret_is_now = ply < 0 || ply == view->game.ply;
    if (!*ret_is_now)
        return game_replay(conn, &view->game, (int)ply, NULL, NULL, replay, err);
    /* What stands now is stored: nothing need be played again. */
    replay->ply = view->game.ply;
    replay->has_last = false;
    st = arbiter_position(&view->game, &replay->pos, err);
    if (st == ST_OK && view->game.ply > 0) {
        size_t n;
        int from, to;

        st = moves_get(conn, view->game.id, view->game.ply, &move, err);
        n = st == ST_OK ? square_read(move.move, strlen(move.move), &from) : 0;
        if (n > 0 && square_read(move.move + n, strlen(move.move + n), &to) > 0) {
            replay->last = (struct move){.from = (uint8_t)from, .to = (uint8_t)to};
            replay->has_last = true;
        }
    }
    return st;
}

enum status get_position_read(struct request *r, struct err *err)
{
    static const char *const names[] = {"ply", NULL};
    struct game_view *view = malloc(sizeof *view);
    struct replay *replay = memory_aligned(sizeof *replay);
    char *text = malloc(POSITION_TEXT_MAX + 1), hash[17];
    bool is_now = false;
    enum status st;

    request_query_only(r, names);
    if (!view || !replay || !text)
        st = err_reason(err, REASON_NO_MEMORY, "a position");
    else
        st = find_position(r, view, replay, &is_now, err);
    if (st == ST_OK) {
        position_print(&replay->pos, text, POSITION_TEXT_MAX + 1);
        snprintf(hash, sizeof hash, "%016" PRIx64, replay->pos.hash);
        st = answer_json(
            r, 200,
            json_pack("{s:i, s:s, s:s, s:o, s:o}", "ply", replay->ply, "position", text, "hash",
                      hash, "turn",
                      position_is_over(&replay->pos)
                          ? json_null()
                          : json_string(render_seat(replay->pos.turn)),
                      "state_number",
                      is_now ? json_integer(view->game.state_no) : json_null()),
            err);
    }
    free(view);
    free(replay);
    free(text);
    return st;
}

/* ------------------------------------------------------------------------------ how it ended */

static enum result result_of(enum game_result result)
{
    switch (result) {
    case GAME_RESULT_TEAM0:
        return RESULT_TEAM0;
    case GAME_RESULT_TEAM1:
        return RESULT_TEAM1;
    case GAME_RESULT_DRAW:
        return RESULT_DRAW;
    default:
        return RESULT_NONE;
    }
}

/* The first causes of the store are the rules' in their order. */
static enum cause cause_of(enum game_cause cause)
{
    return cause <= GAME_CAUSE_AGREEMENT ? (enum cause)cause : CAUSE_NONE;
}

/* Who won and why, and who had left; nothing when it goes on or was broken off. */
static void put_result(struct buf *out, enum lang lang, const struct game *game,
                       const struct game_view *view)
{
    const struct game_row *row = &view->game;

    if (row->state == GAME_FINISHED)
        words_ending(out, lang, game, result_of(row->result), cause_of(row->cause),
                     cause_of(row->cause) != CAUSE_NONE ? NULL : game_cause_str(row->cause),
                     seats_left_by(view->seats, SEAT_RESIGNED),
                     seats_left_by(view->seats, SEAT_FORFEITED));
}

/* The sentence that stands where else is said who is to move; nothing when the game goes on. */
static void put_ending(struct buf *out, enum lang lang, const struct game *game,
                       const struct game_view *view)
{
    const struct game_row *row = &view->game;
    struct buf result = buf_make(512);
    struct words_arg arg = WORDS_TEXT("result", NULL);
    char code[32];

    if (row->state == GAME_FINISHED) {
        put_result(&result, lang, game, view);
        arg.text = result.data;
        words_put(out, lang, "head.finished", &arg, 1);
    } else if (row->state == GAME_ABORTED) {
        snprintf(code, sizeof code, "cause.%s", game_cause_str(row->cause));
        arg = WORDS_TEXT("cause", words_plain(lang, code));
        words_put(out, lang, "head.aborted", &arg, 1);
    }
    buf_release(&result);
}

/* ------------------------------------------------------------------------------ the board */

enum board_form { BOARD_AS_TEXT, BOARD_AS_SVG, BOARD_AS_PNG };

/* A board to be drawn, and, when that takes the painter, what he needs for it. */
struct board_job {
    struct picture_job job; /* first: the painter has this */
    struct request *request;
    struct replay *replay;
    struct board_view board;
    struct buf ended;
    int width;
    unsigned char key[DIGEST_SIZE];
};

static void board_job_free(void *arg)
{
    struct board_job *job = arg;

    if (!job)
        return;
    free(job->replay);
    buf_release(&job->ended);
    free(job);
}

static void board_paint(struct picture_job *arg)
{
    struct board_job *job = (struct board_job *)arg;
    struct request *r = job->request;
    struct http *http = r->http;
    struct err err = ERR_INIT;
    enum status st = ST_OK;

    /* Whoever was before may have waited for the same one. */
    if (pictures_get(http->pictures, job->key, &r->answer.body)) {
        atomic_fetch_add(&http->metrics.pictures_kept, 1);
    } else {
        atomic_fetch_add(&http->metrics.pictures_drawn, 1);
        st = board_png(&job->board, job->width, &r->answer.body, &err);
        if (st == ST_OK)
            pictures_put(http->pictures, job->key, r->answer.body.data, r->answer.body.len);
    }
    if (st == ST_OK)
        st = buf_status(&r->answer.body, "the board", &err);
    request_done(r, st, &err);
}

/* The picture that is kept, or 304, or the painter's job.  What is on it names it, also to the
 * client: a picture that he has is not drawn to find that out. */
static enum status answer_png(struct request *r, struct board_job *job, struct err *err)
{
    const struct digest *digest = &r->http->options.digest;
    struct buf svg = buf_make(BOARD_SVG_MAX + 32);
    enum status st = board_svg(&job->board, &svg, err);

    buf_printf(&svg, "\n%d %d", job->width, BOARD_PNG_FORM);
    if (st == ST_OK)
        st = buf_status(&svg, "the board", err);
    if (st == ST_OK)
        digest->sha256(digest->arg, svg.data, svg.len, job->key);
    buf_release(&svg);
    if (st != ST_OK)
        return st;
    r->answer.type = "image/png";
    answer_tag_of(r, job->key);
    if (answer_etag(r) && request_has_etag(r, answer_etag(r)))
        return ST_OK;
    if (pictures_get(r->http->pictures, job->key, &r->answer.body)) {
        atomic_fetch_add(&r->http->metrics.pictures_kept, 1);
        return buf_status(&r->answer.body, "the board", err);
    }
    job->request = r;
    job->job.paint = board_paint;
    request_wait(r);
    st = pictures_submit(r->http->pictures, &job->job, err);
    if (st != ST_OK)
        request_done(r, st, err);
    return ST_OK;
}

static enum status answer_board(struct request *r, enum board_form form, struct err *err)
{
    static const char *const names[] = {"ply", "seat", NULL};
    static const char *const png_names[] = {"ply", "seat", "width", NULL};
    struct game_view *view = malloc(sizeof *view);
    struct board_job *job = calloc(1, sizeof *job);
    int64_t width = 0;
    int seat;
    bool is_now = false;
    enum status st;

    request_query_only(r, form == BOARD_AS_PNG ? png_names : names);
    request_query_word(r, "seat", seat_words, SEAT_COUNT, &seat);
    if (form == BOARD_AS_PNG)
        request_query_int(r, "width", WIDTH_MIN, WIDTH_MAX, BOARD_PNG_DEFAULT, &width);
    r->data = job;
    r->data_free = board_job_free;
    if (job) {
        job->ended = buf_make(512);
        job->replay = memory_aligned(sizeof *job->replay);
    }
    if (!view || !job || !job->replay)
        st = err_reason(err, REASON_NO_MEMORY, "a board");
    else
        st = find_position(r, view, job->replay, &is_now, err);
    if (st != ST_OK)
        goto out;
    for (int i = 0; i < SEAT_COUNT && seat < 0; i++)
        if (seats_of_user(view->seats, r->who.user_id) >> i & 1u)
            seat = i;
    job->width = (int)width;
    job->board = (struct board_view){.pos = &job->replay->pos,
                                     .bottom = seat < 0 ? SEAT_SOUTH : (enum seat)seat,
                                     .lang = page_language(r),
                                     .has_last = job->replay->has_last,
                                     .last = job->replay->last};
    /* By agreement, on time, by the organiser: the men alone do not show it. */
    if (is_now)
        put_ending(&job->ended, job->board.lang, job->replay->pos.variant.game, view);
    if (job->ended.len > 0)
        job->board.ended = job->ended.data;
    r->answer.body.limit = PNG_MAX;
    r->answer.status = 200;
    switch (form) {
    case BOARD_AS_TEXT:
        st = board_text(&job->board, &r->answer.body, err);
        r->answer.type = "text/plain; charset=utf-8";
        answer_header(r, "Content-Language", lang_tag(job->board.lang));
        break;
    case BOARD_AS_SVG:
        st = board_svg(&job->board, &r->answer.body, err);
        answer_header(r, "Content-Language", lang_tag(job->board.lang));
        r->answer.type = "image/svg+xml";
        r->answer.is_picture = true;
        break;
    case BOARD_AS_PNG:
        st = answer_png(r, job, err);
        break;
    }
    if (st == ST_OK && form != BOARD_AS_PNG)
        st = buf_status(&r->answer.body, "the board", err);
out:
    free(view);
    return st;
}

enum status get_board_text_read(struct request *r, struct err *err)
{
    return answer_board(r, BOARD_AS_TEXT, err);
}

enum status get_board_svg_read(struct request *r, struct err *err)
{
    return answer_board(r, BOARD_AS_SVG, err);
}

enum status get_board_png_read(struct request *r, struct err *err)
{
    return answer_board(r, BOARD_AS_PNG, err);
}

/* ------------------------------------------------------------------------------ PGN4 */

struct pgn4_run {
    struct pgn4_writer writer;
    bool is_ok;
};

static bool put_bytes(void *arg, const char *bytes, size_t n)
{
    buf_add(arg, bytes, n);
    return !buf_failed(arg);
}

static bool write_step(void *arg, const struct replay_step *step)
{
    struct pgn4_run *run = arg;

    switch (step->event->kind) {
    case GAME_EVENT_MOVE:
        run->is_ok = pgn4_write_move(&run->writer, step->move);
        break;
    case GAME_EVENT_RESIGNED:
    case GAME_EVENT_FORFEITED:
        run->is_ok = pgn4_write_leave(&run->writer, (enum seat)step->event->seat,
                                      step->event->kind == GAME_EVENT_RESIGNED ? LEAVE_RESIGN
                                                                               : LEAVE_FORFEIT);
        break;
    default:
        break;
    }
    return run->is_ok;
}

enum status get_pgn4_read(struct request *r, struct err *err)
{
    static const char *const names[] = {NULL};
    static const char *const tags[SEAT_COUNT] = {"Red", "Blue", "Yellow", "Green"};
    struct game_view *view = malloc(sizeof *view);
    struct replay *replay = memory_aligned(sizeof *replay);
    struct pgn4_run *run = memory_aligned(sizeof *run);
    struct position *start = memory_aligned(sizeof *start);
    struct store_conn *conn = NULL;
    struct pgn4_ending ending;
    struct variant variant;
    char text[160];
    enum status st;

    request_query_only(r, names);
    st = form_end(&r->form, err);
    if (st == ST_OK && (!view || !replay || !run || !start))
        st = err_reason(err, REASON_NO_MEMORY, "a game");
    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = game_view_find(conn, r->params[0], request_viewer(r), view, err);
    if (st == ST_OK && !view->game.start_position[0])
        st =
            err_detail(err, REASON_GAME_NOT_RUNNING, "refusal.not_begun", "the game has not begun");
    if (st != ST_OK)
        goto out;
    if (variant_parse(view->game.rules, &variant, NULL) != VARIANT_OK ||
        position_parse(&variant, view->game.start_position, start, NULL) != POSITION_OK) {
        st = err_reason(err, REASON_CORRUPT, "the start of game %s cannot be read",
                        view->game.public_id);
        goto out;
    }
    ending = (struct pgn4_ending){.result = result_of(view->game.result),
                                  .cause = cause_of(view->game.cause),
                                  .is_aborted = view->game.state == GAME_ABORTED};
    r->answer.body.limit = GAME_TEXT_MAX;
    pgn4_writer_start(&run->writer, put_bytes, &r->answer.body, &ending);
    run->is_ok = true;
    pgn4_write_tag(&run->writer, "GameNr", view->game.public_id);
    snprintf(text, sizeof text, "%" PRId64 "d", view->game.per_move_ms / MS_DAY);
    if (view->game.per_move_ms % MS_DAY != 0)
        snprintf(text, sizeof text, "%" PRId64 "s", view->game.per_move_ms / MS_SECOND);
    pgn4_write_tag(&run->writer, "TimeControl", text);
    for (int i = 0; i < SEAT_COUNT; i++)
        pgn4_write_tag(&run->writer, tags[i],
                       view->seats[i].handle[0] ? view->seats[i].handle : "?");
    snprintf(text, sizeof text, "%.100s/games/%s", r->http->options.public_url,
             view->game.public_id);
    pgn4_write_tag(&run->writer, "Site", text);
    utc_format(view->game.started_at, text);
    pgn4_write_tag(&run->writer, "Date", text);
    pgn4_write_position(&run->writer, start);
    st = game_replay(conn, &view->game, -1, write_step, run, replay, err);
    if (st == ST_OK && (!run->is_ok || !pgn4_write_end(&run->writer)))
        st = ERR_DETAIL(err, buf_failed(&r->answer.body) ? REASON_TOO_LARGE : REASON_CORRUPT,
                        "refusal.no_pgn4", "game {game} cannot be written as PGN4",
                        ERR_TEXT("game", view->game.public_id));
    if (st == ST_OK)
        st = buf_status(&r->answer.body, "the game", err);
    if (st == ST_OK) {
        snprintf(text, sizeof text, "inline; filename=\"%s.pgn4\"", view->game.public_id);
        answer_header(r, "Content-Disposition", text);
        r->answer.status = 200;
        r->answer.type = "application/vnd.fourhanded.pgn4";
    }
out:
    free(view);
    free(replay);
    free(run);
    free(start);
    return st;
}

/* ------------------------------------------------------------------------------ plain text */

struct text_run {
    struct buf *out;
    enum lang lang;
    const struct game *game;
    const struct game_view *view;
    int round;      /* of the last line that began one */
    int first_seat; /* with whom a round begins */
    int column;     /* of the line of moves; 0: at its start */
};

static void end_line(struct text_run *run)
{
    if (run->column > 0)
        buf_putc(run->out, '\n');
    run->column = 0;
}

/* What a reader of the score needs to know beside the moves; NULL: nothing. */
static const char *code_of(enum game_event_kind kind)
{
    switch (kind) {
    case GAME_EVENT_MATED:
        return "event.mated";
    case GAME_EVENT_RELEASED:
        return "event.released";
    case GAME_EVENT_REMOVED:
        return "event.removed";
    case GAME_EVENT_PASSED:
        return "event.passed";
    case GAME_EVENT_RESIGNED:
        return "event.resigned";
    case GAME_EVENT_FORFEITED:
        return "event.forfeited";
    case GAME_EVENT_DRAW_OFFERED:
        return "event.draw_offered";
    case GAME_EVENT_DRAW_ACCEPTED:
        return "event.draw_accepted";
    case GAME_EVENT_DRAW_DECLINED:
        return "event.draw_declined";
    case GAME_EVENT_DRAW_CLAIMED:
        return "event.draw_claimed";
    default:
        return NULL;
    }
}

static bool text_step(void *arg, const struct replay_step *step)
{
    struct text_run *run = arg;
    const struct event_row *event = step->event;
    const char *code = code_of(event->kind);

    if (event->kind == GAME_EVENT_MOVE) {
        char line[96];

        /* South opens a round; so does the first mover after it where South is out. */
        if (run->round == 0 || event->seat <= run->first_seat) {
            end_line(run);
            run->round++;
            buf_printf(run->out, "%3d.", run->round);
            run->column = 4;
        } else if (run->column == 0) {
            buf_puts(run->out, "    ");
            run->column = 4;
        }
        run->first_seat = event->seat;
        snprintf(line, sizeof line, "%s %s", words_seat_colour(run->lang, run->game,
                                                               (enum seat)event->seat),
                 event->san);
        buf_printf(run->out, "%s %s", run->column > 4 ? " .." : "", line);
        run->column += (int)strlen(line) + 3;
    } else if (code) {
        struct words_arg args[] = {WORDS_TEXT(
            "colour", event->seat >= 0
                          ? words_seat_colour(run->lang, run->game, (enum seat)event->seat)
                          : "")};

        end_line(run);
        buf_puts(run->out, "     -- ");
        words_put(run->out, run->lang, code, args, COUNT_OF(args));
        buf_putc(run->out, '\n');
    }
    return !buf_failed(run->out);
}

enum status get_game_text_read(struct request *r, struct err *err)
{
    static const char *const names[] = {NULL};
    struct game_view *view = malloc(sizeof *view);
    struct replay *replay = memory_aligned(sizeof *replay);
    struct text_run run = {.out = &r->answer.body, .lang = page_language(r)};
    struct store_conn *conn = NULL;
    struct variant variant;
    char code[32], at[UTC_TEXT_SIZE];
    enum status st;

    request_query_only(r, names);
    st = form_end(&r->form, err);
    if (st == ST_OK && (!view || !replay))
        st = err_reason(err, REASON_NO_MEMORY, "a game");
    if (st == ST_OK)
        st = request_conn(r, &conn, err);
    if (st == ST_OK)
        st = game_view_find(conn, r->params[0], request_viewer(r), view, err);
    if (st == ST_OK && !view->game.start_position[0])
        st =
            err_detail(err, REASON_GAME_NOT_RUNNING, "refusal.not_begun", "the game has not begun");
    if (st == ST_OK && variant_parse(view->game.rules, &variant, NULL) != VARIANT_OK)
        st = err_reason(err, REASON_CORRUPT, "the rules of game %s cannot be read",
                        view->game.public_id);
    if (st != ST_OK)
        goto out;
    r->answer.body.limit = GAME_TEXT_MAX;
    run.game = variant.game;
    run.view = view;
    snprintf(code, sizeof code, "game.%s", game_variant_str(view->game.variant));
    buf_printf(run.out, "%s  ", view->game.public_id);
    buf_puts(run.out, words_plain(run.lang, code));
    buf_printf(run.out, "\n%s\n", view->game.rules);
    utc_format(view->game.started_at, at);
    buf_printf(run.out, "%.10s", at);
    if (view->game.ended_at != UTC_NONE) {
        utc_format(view->game.ended_at, at);
        buf_printf(run.out, " - %.10s", at);
    }
    buf_puts(run.out, "\n\n");
    for (int i = 0; i < SEAT_COUNT; i++) {
        char player[DISPLAY_NAME_SIZE + HANDLE_SIZE + 4] = "-";

        if (view->seats[i].handle[0])
            snprintf(player, sizeof player, "%s (%s)", view->seats[i].display_name,
                     view->seats[i].handle);
        buf_printf(run.out, "%s %s: %s\n", words_seat_name(run.lang, (enum seat)i),
                   words_seat_colour(run.lang, run.game, (enum seat)i), player);
    }
    buf_putc(run.out, '\n');
    st = game_replay(conn, &view->game, -1, text_step, &run, replay, err);
    if (st != ST_OK)
        goto out;
    end_line(&run);
    if (view->game.state == GAME_FINISHED) {
        static const char *const scores[] = {[RESULT_TEAM0] = "1-0",
                                             [RESULT_TEAM1] = "0-1",
                                             [RESULT_DRAW] = "1/2-1/2"};

        buf_printf(run.out, "\n%s  ", scores[result_of(view->game.result)]);
        put_result(run.out, run.lang, run.game, view);
        buf_putc(run.out, '\n');
    } else if (view->game.state == GAME_ABORTED) {
        snprintf(code, sizeof code, "cause.%s", game_cause_str(view->game.cause));
        buf_printf(run.out, "\n*  %s\n", words_plain(run.lang, code));
    } else {
        buf_puts(run.out, "\n*\n");
    }
    st = buf_status(run.out, "the game", err);
    r->answer.status = 200;
    r->answer.type = "text/plain; charset=utf-8";
    answer_header(r, "Content-Language", lang_tag(run.lang));
out:
    free(view);
    free(replay);
    return st;
}

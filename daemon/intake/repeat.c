/* M5: who is not sure that his letter came writes it again. */
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "intake/internal.h"
#include "store/events.h"
#include "store/moves.h"

enum { LINE_ROOM = 4096 };

/* The one move of a letter that does nothing else, but for an offer of a draw with it. */
static const struct command *only_move(const struct grammar *g)
{
    const struct command *move = NULL;

    for (size_t i = 0; i < g->n; i++) {
        if (g->commands[i].kind == COMMAND_MOVE && !move)
            move = &g->commands[i];
        else if (g->commands[i].kind != COMMAND_DRAW_OFFER)
            return NULL;
    }
    return move;
}

/* Squares, pieces and castling signs alone: "k13-l14=Q" → "k13l14Q". */
static void strip(const char *text, char ret[GRAMMAR_WORD_SIZE])
{
    size_t n = 0;

    for (; *text && n + 1 < GRAMMAR_WORD_SIZE; text++)
        if (!strchr("-=:x+# ", *text))
            ret[n++] = *text;
    ret[n] = '\0';
}

/* Both were read in the same position, so that the same letters are the same move. */
static bool is_same(const char *said, const char *coordinates, const char *san)
{
    char a[GRAMMAR_WORD_SIZE], b[GRAMMAR_WORD_SIZE];

    strip(said, a);
    strip(coordinates, b);
    if (strcasecmp(a, b) == 0)
        return true;
    strip(san, b);
    return b[0] && strcmp(a, b) == 0;
}

static void say_head(struct act *a, const struct command *move)
{
    trace(a, "  line %d: %s → recorded already\n", move->line, move->shown);
    say_command(a, move);
    say_success(a);
}

static void say_still_held(struct act *a, const struct command *move)
{
    struct buf until = buf_make(LINE_ROOM);

    instant_put(&until, a, a->held.release_at);
    say_head(a, move);
    SAY(a, "mail.recorded_held", WORDS_TEXT("move", a->held.move), WORDS_TEXT("at", until.data));
    say_line(a);
    buf_release(&until);
}

enum status repeat_answer(struct act *a, const struct grammar *g, bool *ret_is, struct err *err)
{
    const struct command *move = only_move(g);
    struct event_row event = EVENT_ROW_INIT;
    struct move_row row;
    enum status st;

    *ret_is = false;
    if (!move || !a->has_game || a->token.game_id != a->game.id)
        return ST_OK;
    if (a->token.used_at != UTC_NONE && a->has_held && a->held.state_no == a->token.state_no &&
        is_same(move->text, a->held.move, "")) {
        say_still_held(a, move);
        *ret_is = true;
        return ST_OK;
    }
    if (a->token.state_no == a->game.state_no)
        return ST_OK;
    st = events_get(a->conn, a->game.id, a->token.state_no, &event, err);
    if (st == ST_OK)
        st = moves_get(a->conn, a->game.id, event.ply + 1, &row, err);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st != ST_OK)
        return st;
    if (row.user_id != a->sender.user.id || !is_same(move->text, row.move, row.san))
        return ST_OK;
    say_head(a, move);
    SAY(a, "mail.recorded", WORDS_TEXT("move", row.move), WORDS_NUMBER("number", row.ply));
    say_line(a);
    *ret_is = true;
    return ST_OK;
}

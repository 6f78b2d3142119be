#include <stdlib.h>

#include "base/str.h"
#include "intake/run.h"

bool run_has(const struct grammar *g, enum command_kind kind)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->commands[i].kind == kind)
            return true;
    return false;
}

struct arbiter_actor act_actor(const struct act *a)
{
    return (struct arbiter_actor){.user_id = a->sender.user.id,
                                  .is_operator = a->sender.user.is_operator,
                                  .received_at = a->at};
}

/* In what belief: the state number that the letter answered was shown. */
struct arbiter_act act_belief(const struct act *a)
{
    return (struct arbiter_act){.game_id = a->game.id,
                                .seat = ARBITER_ANY_SEAT,
                                .state_no = a->token.state_no,
                                .ply = -1,
                                .received_at = a->at};
}

int64_t act_hold_ms(const struct act *a)
{
    return a->sender.user.hold_ms >= 0 ? a->sender.user.hold_ms : a->options->hold_ms;
}

enum status run_refuse(struct run *r, struct err *err, enum reason reason, const char *code)
{
    (void)words_print(r->hint, sizeof r->hint, r->a->lang, code, NULL, 0);
    return err_reason(err, reason, "%s", reason_title(reason));
}

/* ------------------------------------------------------------------------------- one command */

static bool needs_game(enum command_kind kind)
{
    switch (kind) {
    case COMMAND_CREATE:
    case COMMAND_SEAT:
    case COMMAND_JOIN:
    case COMMAND_ACCEPT:
    case COMMAND_DECLINE:
    case COMMAND_CONFIRM:
        return false;
    default:
        return command_acts(kind) || tell_needs_game(kind);
    }
}

/* Does it name its game itself? */
static bool names_game(const struct command *c)
{
    switch (c->kind) {
    case COMMAND_JOIN:
    case COMMAND_LEAVE:
    case COMMAND_STATUS:
    case COMMAND_BOARD:
        return c->text[0] != '\0';
    default:
        return false;
    }
}

/* Does it mean the game that the letter is about? */
static bool is_about_token(const struct command *c)
{
    return (needs_game(c->kind) && !names_game(c)) || c->kind == COMMAND_ACCEPT ||
           c->kind == COMMAND_DECLINE;
}

/* What changes something that an old letter's reader cannot have had in mind. */
static bool needs_fresh_letter(const struct command *c)
{
    return c->kind == COMMAND_CREATE || c->kind == COMMAND_JOIN ||
           (c->kind == COMMAND_LEAVE && c->text[0]) || (c->kind == COMMAND_NOTE && c->text[0]);
}

/* After a move only what does not touch the game any more. */
static bool may_follow_move(enum command_kind kind)
{
    return !command_acts(kind) || kind == COMMAND_DRAW_OFFER || kind == COMMAND_MOVE;
}

/* After a resignation that is held only what does not touch the game; but who has two seats may
 * resign the other as well, or move with it. */
static bool may_follow_resign(const struct run *r, enum command_kind kind)
{
    return !command_acts(kind) || kind == COMMAND_RESIGN || kind == COMMAND_MOVE ||
           (kind == COMMAND_DRAW_OFFER && r->has_draw);
}

static enum status run_one(struct run *r, struct err *err)
{
    struct act *a = r->a;
    const struct command *c = r->at;

    if (a->is_hidden && !a->has_game && is_about_token(c))
        return run_refuse(r, err, REASON_NO_SUCH_GAME, "mail.join_none");
    if (!a->has_game && needs_game(c->kind) && !names_game(c))
        return run_refuse(r, err, REASON_MISSING_FIELD, "mail.no_game");
    if (r->is_stale && needs_fresh_letter(c))
        return err_reason(err, REASON_STATE_MISMATCH, "%s", reason_title(REASON_STATE_MISMATCH));
    if (r->has_moved && !may_follow_move(c->kind))
        return run_refuse(r, err, REASON_BAD_REQUEST, "mail.after_move");
    if (r->resigned && !may_follow_resign(r, c->kind))
        return run_refuse(r, err, REASON_BAD_REQUEST, "mail.after_resign");
    switch (c->kind) {
    case COMMAND_MOVE:
        return run_move(r, err);
    case COMMAND_RESIGN:
        return run_resign(r, err);
    case COMMAND_DRAW_OFFER:
        return run_draw_offer(r, err);
    case COMMAND_DRAW_ACCEPT:
        return run_act(r, arbiter_accept_draw, "mail.draw_accepted", err);
    case COMMAND_DRAW_DECLINE:
        return run_decline(r, err);
    case COMMAND_CLAIM_DRAW:
        return run_act(r, arbiter_claim_draw, "mail.draw_claimed", err);
    case COMMAND_UNDO:
        return run_undo(r, err);
    case COMMAND_PLACE:
        return run_place(r, err);
    case COMMAND_ACCEPT:
    case COMMAND_DECLINE:
        return run_answer(r, c->kind == COMMAND_ACCEPT, err);
    case COMMAND_CONFIRM: /* judge.c takes it where there is something to confirm */
        return run_refuse(r, err, REASON_NOT_FOUND, "mail.nothing_to_confirm");
    case COMMAND_CREATE:
        return run_create(r, err);
    case COMMAND_JOIN:
    case COMMAND_LEAVE:
        return run_open(r, err);
    case COMMAND_SEAT:
        return run_seat(r, err);
    default:
        if (names_game(c))
            TRY(run_look(r, err));
        return tell(a, r->g, c, err);
    }
}

/* ------------------------------------------------------------------------------- all of them */

/* Whether the particulars help where the title does not say it. */
static bool tells_more(enum reason reason)
{
    switch (reason) {
    case REASON_BAD_FIELD:
    case REASON_BAD_PLACEMENT:
    case REASON_LIMIT:
    case REASON_ALREADY_SEATED:
    case REASON_GAME_NOT_RUNNING:
    case REASON_GAME_FULL:
    case REASON_ALREADY_DONE:
    case REASON_NO_CLAIM:
    case REASON_SEAT_OUT:
    case REASON_MISSING_FIELD:
    case REASON_NOT_YOUR_TURN:
        return true;
    default:
        return false;
    }
}

/* Titles that are about requests and fields, or say less than anything behind them. */
static bool is_title_of_http(enum reason reason)
{
    switch (reason) {
    case REASON_BAD_REQUEST:
    case REASON_BAD_FIELD:
    case REASON_MISSING_FIELD:
    case REASON_LINK_EXPIRED:
    case REASON_NOT_FOUND:
        return true;
    default:
        return false;
    }
}

/* "InvalidMove: The move is not legal: the way is blocked by …." */
static void say_why(struct run *r, const struct err *err)
{
    struct act *a = r->a;
    struct buf more = buf_make(LINE_ROOM);
    bool has_more = r->why[0] != '\0', has_title = true;

    if (has_more)
        buf_puts(&more, r->why);
    else
        has_more = tells_more(err->reason) && words_refusal(&more, a->lang, err);
    if (is_title_of_http(err->reason) && (has_more || r->hint[0]))
        has_title = false;
    buf_printf(&a->text, "%s: ", reason_word(err->reason));
    if (has_title)
        buf_puts(&a->text, words_reason(a->lang, err->reason));
    if (has_more)
        buf_printf(&a->text, "%s%s", has_title ? ": " : "", more.data);
    if (has_title || has_more)
        buf_puts(&a->text, ".\n");
    buf_release(&more);
}

static void say_refusal(struct run *r, const struct err *err)
{
    struct act *a = r->a;

    buf_clear(&a->text);
    say_plain(a, "mail.nothing_changed");
    buf_puts(&a->text, "\n\n");
    SAY(a, "mail.fault_line", WORDS_NUMBER("line", r->at->line), WORDS_TEXT("text", r->at->shown));
    say_line(a);
    say_why(r, err);
    if (r->hint[0])
        buf_printf(&a->text, "%s\n", r->hint);
    if (err->reason == REASON_STATE_MISMATCH && !r->hint[0]) {
        say_plain(a, "mail.stale");
        say_line(a);
    }
    if (err->reason == REASON_BAD_PLACEMENT || err->reason == REASON_BAD_FIELD) {
        char usage[USAGE_SIZE];

        SAY(a, "mail.written_so", WORDS_TEXT("usage", command_usage(a, r->at->kind, usage)));
        say_line(a);
    }
}

/* Back to where the letter found the game. */
static enum status undo_all(struct act *a, const struct token_row *token, bool had_game,
                            int64_t game_id, struct err *err)
{
    TRY(store_part_undo(a->txn, err));
    a->token = *token;
    a->has_acted = false;
    a->has_game = had_game;
    a->game.id = game_id;
    return had_game ? act_reload(a, err) : ST_OK;
}

/* M8: all of it could be done; its player is asked whether he means it. */
static void ask_for_word(struct run *r)
{
    struct act *a = r->a;

    a->wants_word = true;
    buf_clear(&a->text);
    for (size_t i = 0; i < r->g->n; i++)
        buf_printf(&a->text, "%s\n", r->g->commands[i].shown);
    trace(a, "a resignation: it waits for its player's word\n");
}

enum status run_commands(struct act *a, const struct grammar *g, struct err *err)
{
    struct run *r = calloc(1, sizeof *r);
    struct token_row token = a->token;
    bool had_game = a->has_game;
    int64_t game_id = a->has_game ? a->game.id : 0;
    enum status st;

    if (!r)
        return err_reason(err, REASON_NO_MEMORY, "commands");
    r->a = a;
    r->g = g;
    r->is_stale = a->has_game && token.game_id == a->game.id && token.state_no != a->game.state_no;
    r->has_draw = run_has(g, COMMAND_DRAW_OFFER) && run_has(g, COMMAND_MOVE);
    st = store_part_begin(a->txn, err);
    if (st != ST_OK)
        goto out;
    for (size_t i = 0; st == ST_OK && i < g->n; i++) {
        r->at = &g->commands[i];
        r->hint[0] = r->why[0] = '\0';
        say_command(a, r->at);
        st = run_one(r, err);
        trace(a, "  line %d: %s → %s\n", r->at->line, r->at->shown,
              st == ST_OK ? "Success" : reason_word(err->reason));
    }
    if (st == ST_OK && r->has_resigned && a->options->confirms_resign && !a->is_confirmed) {
        st = undo_all(a, &token, had_game, game_id, err);
        ask_for_word(r);
        goto out;
    }
    if (st == ST_OK) {
        st = store_part_keep(a->txn, err);
        goto out;
    }
    if (status_is_fault(st) || st == ST_BUSY) { /* not the player's fault: try the letter again */
        struct err second = ERR_INIT;
        enum status undone = store_part_undo(a->txn, &second);

        if (undone != ST_OK) {
            *err = second;
            st = undone;
        }
        goto out;
    }
    {
        const struct err why = *err;

        st = undo_all(a, &token, had_game, game_id, err);
        a->has_failed = true;
        (void)str_copy(a->reason, sizeof a->reason, reason_slug(why.reason));
        (void)str_copy(a->failed_line, sizeof a->failed_line, r->at->shown);
        say_refusal(r, &why);
        a->wants_board = had_game;
    }
out:
    free(r);
    return st;
}

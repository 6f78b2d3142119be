/* notify/reply.c - how a letter can be answered; see internal.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "base/str.h"
#include "notify/internal.h"
#include "store/votes.h"

enum { LINE_MAX_OURS = 4000 };
#define REPLY_LIFE_MS (60 * MS_DAY)          /* at least, however soon the deadline is */
#define REPLY_AFTER_DEADLINE_MS (30 * MS_DAY)
#define REPLY_CONFIRM_LIFE_MS (7 * MS_DAY)   /* as long as a letter is held for its owner */

static utc_ms expiry(enum token_purpose purpose, const struct game_row *game, utc_ms now)
{
    utc_ms at = now + REPLY_LIFE_MS, late;

    if (purpose == TOKEN_CONFIRM)
        return now + REPLY_CONFIRM_LIFE_MS;
    if (game == NULL || game->deadline_at == UTC_NONE)
        return at;
    late = deadline_grace_end(game->deadline_at, game->grace_ms) + REPLY_AFTER_DEADLINE_MS;
    return late > at ? late : at;
}

void reply_way_open(const struct notify *n, const struct intent_row *intent,
                    enum token_purpose purpose, const struct game_row *game, int64_t inbox_id,
                    utc_ms now, struct notice *notice, struct reply_way *ret)
{
    struct token_row row = TOKEN_ROW_INIT;
    char secret[SECRET_SIZE];

    memset(ret, 0, sizeof *ret);
    if (!notify_takes_answers(n) || intent->user_id == 0)
        return;
    secret_make(n->options.people, secret);
    secret_hash(secret, row.hash);
    row.purpose = purpose;
    row.user_id = intent->user_id;
    if (game != NULL) {
        ret->has_game = true;
        ret->state = game->state;
        row.game_id = game->id;
        row.seat = intent->seat;
        row.state_no = game->state_no;
    }
    row.inbox_id = purpose == TOKEN_CONFIRM ? inbox_id : 0;
    row.created_at = now;
    row.expires_at = expiry(purpose, game, now);
    notice->has_token = notice->has_reply_token = true;
    notice->reply_token = row;

    ret->is_open = true;
    ret->purpose = purpose;
    ret->seat = intent->seat;
    reply_address(n, secret, ret->address);
    (void)snprintf(ret->id, sizeof ret->id, "reply.%s@%.200s", secret, n->domain);
    sodium_memzero(secret, sizeof secret);
}

/* A legal move as somebody may write it, "b5-c5": of a pawn that takes nothing and becomes nothing
 * where there is one, so that it says no more than how moves are written. */
static enum status example_put(const struct position *pos, char *ret, size_t size, struct err *err)
{
    struct move_list *moves = malloc(sizeof *moves);
    const struct move *chosen = NULL;
    char from[SQUARE_TEXT_MAX], to[SQUARE_TEXT_MAX];

    if (moves == NULL)
        return err_reason(err, REASON_NO_MEMORY, "moves");
    position_legal_moves(pos, moves);
    for (int i = 0; i < moves->count; i++) {
        const struct move *m = &moves->at[i];
        bool is_plain = board_has(&pos->kinds[KIND_PAWN], m->from) &&
                        position_man_at(pos, m->to) == MAN_NONE && m->type == MOVE_PLAIN &&
                        m->promotion == KIND_NONE;

        if (chosen == NULL || is_plain)
            chosen = m;
        if (is_plain)
            break;
    }
    if (chosen != NULL) {
        square_print(chosen->from, from);
        square_print(chosen->to, to);
        (void)snprintf(ret, size, "%s-%s%s", from, to,
                       chosen->promotion == KIND_NONE     ? ""
                       : chosen->promotion == KIND_KNIGHT ? "=N"
                       : chosen->promotion == KIND_BISHOP ? "=B"
                       : chosen->promotion == KIND_ROOK   ? "=R"
                                                          : "=Q");
    }
    free(moves);
    return ST_OK;
}

enum status reply_way_look(const struct subject *s, struct reply_way *way, struct err *err)
{
    struct vote_row vote;
    enum status st = votes_get_open(s->conn, s->game.id, VOTE_DRAW, &vote, err);

    way->is_offered = st == ST_OK && (s->own >> vote.seat & 1u) == 0;
    if (st == ST_NOT_FOUND)
        st = ST_OK;
    if (st == ST_OK && way->purpose == TOKEN_TURN && s->has_position &&
        s->game.state == GAME_RUNNING && (s->own >> s->pos.turn & 1u) != 0)
        st = example_put(&s->pos, way->example, sizeof way->example, err);
    return st;
}

enum token_purpose reply_purpose(const struct intent_row *intent)
{
    static const struct {
        const char *template_name;
        enum token_purpose purpose;
    } table[] = {
        {"turn", TOKEN_TURN},
        {"started", TOKEN_TURN},
        {"warning", TOKEN_TURN},
        {"placing", TOKEN_PLACING},
        {"warning_placing", TOKEN_PLACING},
        {"draw_offered", TOKEN_DRAW},
        {"draw_accepted", TOKEN_DRAW},
        {"invitation", TOKEN_INVITATION},
    };

    for (size_t i = 0; i < COUNT_OF(table); i++)
        if (str_eq(intent->template_name, table[i].template_name))
            return table[i].purpose;
    return TOKEN_INFO;
}

/* What an answer offers about a game that is not running; NULL: as ever. */
static const char *commands_at_rest(const struct reply_way *way)
{
    if (!way->is_answer || !way->has_game || way->purpose == TOKEN_CONFIRM)
        return NULL;
    switch (way->state) {
    case GAME_OPEN:
        return "status, opponents, leave, games, join, help";
    case GAME_PLACING:
        return "place, status, why, opponents, note, games, help";
    case GAME_FINISHED:
    case GAME_ABORTED:
        return "board, last, status, spoken, note, games, help";
    default:
        return NULL;
    }
}

/* Words of the grammar are the same in every language. */
static const char *commands_of(const struct reply_way *way)
{
    const char *at_rest = commands_at_rest(way);

    if (at_rest != NULL)
        return at_rest;
    switch (way->purpose) {
    case TOKEN_TURN:
        if (way->is_offered)
            return "draw accept, draw decline, claim draw, resign, board, moves, status, why, "
                   "spoken, note, help";
        if (way->is_answer) /* nothing is held */
            return "draw offer, claim draw, resign, board, moves, status, why, spoken, note, help";
        return "draw offer, claim draw, resign, undo, board, moves, status, why, spoken, note, "
               "help";
    case TOKEN_DRAW:
        return "board, moves, status, why, spoken, note, resend, help";
    case TOKEN_PLACING:
        return "board, status, why, note, help";
    case TOKEN_INVITATION:
        return "status, games, help";
    case TOKEN_RECEIPT:
        return "undo, board, moves, status, why, spoken, note, games, help";
    case TOKEN_CONFIRM:
        return "";
    case TOKEN_ACCOUNT:
        return "games, join, leave, create, seat, help";
    case TOKEN_INFO:
    case TOKEN_PURPOSE_COUNT_:
        break;
    }
    return "board, moves, status, why, spoken, note, resend, games, help";
}

/* Where the seat's fortress is, and one way to fill it. */
static void placing_put(struct buf *out, enum lang lang, const char *code, int seat)
{
    enum seat at = seat >= 0 && seat < SEAT_COUNT ? (enum seat)seat : SEAT_SOUTH;
    char fortress[PLACING_TEXT_SIZE], squares[PLACING_TEXT_SIZE], example[64];

    (void)snprintf(example, sizeof example, "place %s", words_placing(at, squares));
    words_put(out, lang, code,
              (const struct words_arg[]){WORDS_TEXT("fortress", words_fortress(at, fortress)),
                                         WORDS_TEXT("example", example)},
              2);
}

void reply_hint_put(struct page *page, enum lang lang, const struct reply_way *way)
{
    const char *commands = commands_of(way);
    struct buf text = buf_make(LINE_MAX_OURS);
    char code[64];

    if (!way->is_open)
        goto out;
    (void)snprintf(code, sizeof code, "letter.reply_%s", token_purpose_str(way->purpose));
    if (way->is_own)
        buf_puts(&text, words_plain(lang, "letter.reply_confirm_own"));
    else if (way->purpose == TOKEN_PLACING)
        placing_put(&text, lang, code, way->seat);
    else if (way->purpose == TOKEN_TURN && way->example[0] != '\0')
        words_put(&text, lang, "letter.reply_turn_as",
                  (const struct words_arg[]){WORDS_TEXT("example", way->example)}, 1);
    else
        buf_puts(&text, words_plain(lang, code));
    page_para(page, text.data);
    buf_clear(&text);
    if (commands[0] == '\0')
        goto out;
    words_put(&text, lang, "letter.commands",
              (const struct words_arg[]){WORDS_TEXT("commands", commands)}, 1);
    page_para(page, text.data);
out:
    buf_release(&text);
}

void reply_how_put(struct page *page, enum lang lang, const struct reply_way *way)
{
    if (!way->is_open)
        return;
    reply_hint_put(page, lang, way);
    page_para(page, words_plain(lang, "letter.reply_above"));
}

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/arbiter.h"
#include "arbiter/notes.h"
#include "base/str.h"
#include "board/board.h"
#include "clock/deadline.h"
#include "intake/guess.h"
#include "intake/internal.h"
#include "store/events.h"
#include "store/votes.h"

enum {
    MOVES_A_LINE = 10,
    GAMES_SHOWN = 50,
    OPEN_SHOWN = 20,
    LAST_SHOWN = 16,
    NOTES_SHOWN = 50,
    EVENTS_A_TIME = 64,
    LINE_ROOM = 4096
};

/* ------------------------------------------------------------------------------- moves */

int moves_put(struct buf *out, const struct position *pos, int from, enum kind kind)
{
    struct move_list *list = malloc(sizeof *list);
    int n = 0;

    if (!list)
        return 0;
    position_legal_moves(pos, list);
    moves_sort(list);
    for (int i = 0; i < list->count; i++) {
        enum kind its = man_kind(position_man_at(pos, list->at[i].from));
        char text[MOVE_COORDINATE_MAX];

        if ((from != SQUARE_NONE && list->at[i].from != from) ||
            (kind != KIND_NONE && its != kind && !(kind_is_pawn(its) && kind_is_pawn(kind))))
            continue;
        (void)move_print_coordinate(list->at[i], text, sizeof text);
        buf_printf(out, "%s%s", n == 0 ? "" : n % MOVES_A_LINE == 0 ? "\n" : " ", text);
        n++;
    }
    free(list);
    return n;
}

static enum status tell_moves(struct act *a, const struct command *c, const struct position *pos)
{
    struct buf list = buf_make(64 * 1024);
    char square[SQUARE_TEXT_MAX] = "";
    int from = c->square >= 0 ? c->square : SQUARE_NONE, n;

    if (a->game.state != GAME_RUNNING) {
        say_plain(a, "mail.not_running");
        say_line(a);
        goto out;
    }
    n = moves_put(&list, pos, from, KIND_NONE);
    if (from != SQUARE_NONE)
        (void)square_print(from, square);
    if (n == 0) {
        SAY(a, "mail.moves_none", WORDS_TEXT("square", square));
    } else if (from != SQUARE_NONE) {
        SAY(a, "mail.moves_of", WORDS_TEXT("square", square), WORDS_NUMBER("count", n));
    } else {
        SAY(a, "mail.moves", WORDS_TEXT("colour", colour_of(a, a->game.turn_seat)),
            WORDS_NUMBER("count", n));
    }
    buf_printf(&a->text, "\n%s%s", list.data, n > 0 ? "\n" : "");
out:
    buf_release(&list);
    return ST_OK;
}

/* ------------------------------------------------------------------------------- time */

static void say_instant(struct act *a, const char *code, utc_ms at)
{
    struct buf text = buf_make(LINE_ROOM);

    instant_put(&text, a, at);
    SAY(a, code, WORDS_TEXT("at", text.data));
    say_line(a);
    buf_release(&text);
}

static void say_length(struct act *a, const char *code, int64_t length_ms)
{
    struct buf text = buf_make(LINE_ROOM);

    words_length(&text, a->lang, length_ms);
    SAY(a, code, WORDS_TEXT("length", text.data));
    say_line(a);
    buf_release(&text);
}

static void say_deadline(struct act *a)
{
    if (a->game.state != GAME_RUNNING && a->game.state != GAME_PLACING)
        return;
    if (a->game.paused_at != UTC_NONE) {
        say_plain(a, "letter.deadline_paused");
        say_line(a);
    } else if (a->game.deadline_at != UTC_NONE) {
        say_instant(a, "mail.deadline", a->game.deadline_at);
    }
}

/* T6: what each turn has, and what stops the clocks. */
static void say_time_rules(struct act *a)
{
    if (a->game.state != GAME_OPEN && a->game.state != GAME_RUNNING)
        return; /* placing has a time of its own, and what is over has none */
    say_length(a, "letter.time_per_move", a->game.per_move_ms);
    if (a->game.grace_ms > 0)
        say_length(a, "letter.grace", a->game.grace_ms);
}

/* The stored explanation, item by item: what every door shows. */
static enum status tell_why(struct act *a, struct err *err)
{
    struct deadline *deadline = calloc(1, sizeof *deadline);
    enum status st = ST_OK;

    if (!deadline)
        return err_reason(err, REASON_NO_MEMORY, "a deadline");
    if (!a->game.explanation[0]) {
        say_plain(a, "mail.why_none");
        say_line(a);
        goto out;
    }
    st = deadline_parse_items(a->game.explanation, a->game.grace_ms, a->game.paused_at, deadline,
                              err);
    if (st != ST_OK)
        goto out;
    for (size_t i = 0; i < deadline->n_items; i++) {
        const struct deadline_item *item = &deadline->items[i];
        struct buf at = buf_make(LINE_ROOM), length = buf_make(LINE_ROOM);
        char code[64];

        (void)snprintf(code, sizeof code, "mail.why.%s", deadline_item_slug(item->kind));
        instant_put(&at, a, item->at);
        if (item->amount_ms < 0)
            buf_puts(&length, "-");
        words_length(&length, a->lang, item->amount_ms);
        buf_puts(&a->text, "  ");
        SAY(a, code, WORDS_TEXT("at", at.data), WORDS_TEXT("length", length.data));
        say_line(a);
        buf_release(&at);
        buf_release(&length);
    }
    say_deadline(a);
    say_time_rules(a);
out:
    free(deadline);
    return st;
}

void say_held(struct act *a)
{
    struct buf until = buf_make(LINE_ROOM);

    if (a->has_held) {
        instant_put(&until, a, a->held.release_at);
        SAY(a, "mail.on_hold", WORDS_TEXT("move", a->held.move), WORDS_TEXT("at", until.data));
        say_line(a);
    }
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        if ((a->resigning >> seat & 1u) == 0)
            continue;
        buf_clear(&until);
        instant_put(&until, a, a->resignations[seat].release_at);
        SAY(a, "mail.resign_on_hold", WORDS_TEXT("colour", colour_of(a, seat)),
            WORDS_TEXT("at", until.data));
        say_line(a);
    }
    buf_release(&until);
}

static void tell_clocks(struct act *a)
{
    if (a->game.state == GAME_RUNNING) {
        SAY(a, "letter.turn_of", WORDS_TEXT("colour", colour_of(a, a->game.turn_seat)),
            WORDS_TEXT("name", holder_of(a, a->game.turn_seat)));
        say_line(a);
        if (a->game.turn_at != UTC_NONE)
            say_instant(a, "mail.turn_began", a->game.turn_at);
    } else if (a->game.state != GAME_PLACING) {
        say_plain(a, "mail.not_running");
        say_line(a);
    }
    say_deadline(a);
    say_held(a);
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        if (a->seats[seat].late_moves > 0) {
            SAY(a, "mail.late_moves", WORDS_TEXT("colour", colour_of(a, seat)),
                WORDS_NUMBER("count", a->seats[seat].late_moves));
            say_line(a);
        }
    say_time_rules(a);
}

/* ------------------------------------------------------------------------------- the game */

static void say_condition(struct act *a, int seat)
{
    char code[32], letter = a->game.conditions[seat];

    if (a->game.state == GAME_PLACING && a->game.reserve == GAME_RESERVE_CHOSEN) {
        buf_puts(&a->text, ", ");
        say_plain(a, a->seats[seat].placed_at != UTC_NONE ? "mail.condition.placed"
                                                          : "mail.condition.unplaced");
        return;
    }
    if (letter == arbiter_condition_letter(CONDITION_LIVE))
        return;
    (void)snprintf(code, sizeof code, "mail.condition.%s", arbiter_condition_word(letter));
    buf_puts(&a->text, ", ");
    say_plain(a, code);
}

static void say_seat(struct act *a, int seat)
{
    buf_puts(&a->text, "  ");
    SAY(a, "letter.player_line", WORDS_TEXT("colour", colour_of(a, seat)),
        WORDS_TEXT("seat", words_seat_name(a->lang, (enum seat)seat)),
        WORDS_TEXT("name", holder_of(a, seat)));
    if (a->seats[seat].user_id != 0 && a->seats[seat].display_name[0] && a->seats[seat].handle[0])
        buf_printf(&a->text, " [%s]", a->seats[seat].handle); /* what `seat` takes */
    say_condition(a, seat);
    say_line(a);
}

void say_result(struct act *a)
{
    struct buf text = buf_make(LINE_ROOM);
    char code[64];
    static const char *const words[] = {"", "result.win", "result.win", "result.draw"};

    if (a->game.state == GAME_FINISHED) {
        int first = a->game.result == GAME_RESULT_TEAM1 ? 1 : 0;

        words_put(&text, a->lang, words[a->game.result],
                  (const struct words_arg[]){WORDS_TEXT("first", colour_of(a, first)),
                                             WORDS_TEXT("second", colour_of(a, first + 2))},
                  2);
        (void)snprintf(code, sizeof code, "cause.%s", game_cause_str(a->game.cause));
        SAY(a, "result.sentence", WORDS_TEXT("result", text.data),
            WORDS_TEXT("cause", words_plain(a->lang, code)));
        say_line(a);
    }
    buf_release(&text);
}

/* Have all his seats said yes? */
static bool has_agreed(const struct act *a, const struct vote_row *vote)
{
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        if ((a->own >> seat & 1u) != 0 && vote->answers[seat] != 1)
            return false;
    return a->own != 0;
}

static enum status tell_status(struct act *a, struct err *err)
{
    char code[64], state[64];
    struct vote_row vote;
    enum status st;

    (void)snprintf(code, sizeof code, "game.%s", game_variant_str(a->game.variant));
    (void)snprintf(state, sizeof state, "mail.state.%s", game_state_str(a->game.state));
    SAY(a, "mail.status", WORDS_TEXT("game", a->game.public_id),
        WORDS_TEXT("variant", words_plain(a->lang, code)),
        WORDS_TEXT("rules", a->game.rules), WORDS_TEXT("state", words_plain(a->lang, state)));
    say_line(a);
    if (a->game.state == GAME_RUNNING) {
        SAY(a, "letter.turn_of", WORDS_TEXT("colour", colour_of(a, a->game.turn_seat)),
            WORDS_TEXT("name", holder_of(a, a->game.turn_seat)));
        buf_putc(&a->text, ' ');
        SAY(a, "mail.move_number", WORDS_NUMBER("number", a->game.ply + 1));
        say_line(a);
    }
    say_result(a);
    say_deadline(a);
    say_held(a);
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        say_seat(a, seat);
    st = votes_get_open(a->conn, a->game.id, VOTE_DRAW, &vote, err);
    if (st == ST_OK) {
        SAY(a,
            a->own >> vote.seat & 1u ? "mail.vote_own"
            : has_agreed(a, &vote)   ? "mail.vote_agreed"
                                     : "mail.vote_open",
            WORDS_TEXT("colour", colour_of(a, vote.seat)));
        say_line(a);
    } else if (st != ST_NOT_FOUND) {
        return st;
    }
    say_time_rules(a);
    if (a->game.state != GAME_FINISHED && a->game.state != GAME_ABORTED) {
        say_plain(a, a->game.table_talk ? "letter.table_talk" : "letter.silence");
        say_line(a);
    }
    return ST_OK;
}

/* Whether a brief is of a game that he is invited to. */
static bool is_invited(const struct invitation_row *rows, size_t n, int64_t game_id)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].game_id == game_id)
            return true;
    return false;
}

/* Does the game wait for him: for his move, or for his reserve? */
static enum status waits_for_him(const struct act *a, const struct game_brief *brief,
                                 bool *ret_waits, struct err *err)
{
    struct seat_row seats[SEAT_COUNT];
    bool waits = brief->state == GAME_RUNNING && brief->turn_seat >= 0 &&
                 brief->seats[brief->turn_seat].user_id == a->sender.user.id;

    if (brief->state == GAME_PLACING && brief->reserve == GAME_RESERVE_CHOSEN) {
        TRY(seats_get(a->conn, brief->id, seats, err));
        for (int seat = 0; seat < SEAT_COUNT; seat++)
            waits = waits || (seats[seat].user_id == a->sender.user.id &&
                              seats[seat].placed_at == UTC_NONE);
    }
    *ret_waits = waits;
    return ST_OK;
}

/* waits: for him, to place his reserve or to move. */
static void say_brief(struct act *a, const struct game_brief *brief, bool is_for_me, bool waits)
{
    struct buf at = buf_make(LINE_ROOM);
    char code[64], state[64];
    struct variant variant;

    (void)snprintf(code, sizeof code, "game.%s", game_variant_str(brief->variant));
    (void)snprintf(state, sizeof state, "mail.state.%s", game_state_str(brief->state));
    SAY(a, "mail.game_line", WORDS_TEXT("game", brief->public_id),
        WORDS_TEXT("variant", words_plain(a->lang, code)),
        WORDS_TEXT("state", words_plain(a->lang, state)));
    if (brief->state == GAME_RUNNING && brief->turn_seat >= 0 &&
        variant_find(game_variant_str(brief->variant), &variant)) {
        buf_puts(&a->text, "\n      ");
        if (waits)
            say_plain(a, "mail.your_move");
        else
            SAY(a, "letter.turn_of",
                WORDS_TEXT("colour", words_seat_colour(a->lang, variant.game,
                                                       (enum seat)brief->turn_seat)),
                WORDS_TEXT("name", brief->seats[brief->turn_seat].display_name[0]
                                       ? brief->seats[brief->turn_seat].display_name
                                       : brief->seats[brief->turn_seat].handle));
    }
    if (waits && brief->state == GAME_PLACING) {
        buf_puts(&a->text, "\n      ");
        say_plain(a, "mail.your_placing");
    }
    if (is_for_me) {
        buf_puts(&a->text, "\n      ");
        say_plain(a, "mail.invited");
    }
    if (brief->paused_at != UTC_NONE) {
        buf_puts(&a->text, "\n      ");
        say_plain(a, "letter.deadline_paused");
    } else if (brief->deadline_at != UTC_NONE &&
               (brief->state == GAME_RUNNING || brief->state == GAME_PLACING)) {
        buf_puts(&a->text, "\n      ");
        instant_put(&at, a, brief->deadline_at);
        SAY(a, "mail.deadline", WORDS_TEXT("at", at.data));
    }
    say_line(a);
    buf_release(&at);
}

/* Games he is invited to by his address alone: he is none of their members yet. */
static enum status say_invited(struct act *a, const struct invitation_row *invited, size_t n,
                               const struct game_brief *told, size_t n_told, struct err *err)
{
    struct game_brief *brief = malloc(sizeof *brief);
    enum status st = brief ? ST_OK : err_reason(err, REASON_NO_MEMORY, "a game");

    for (size_t i = 0; st == ST_OK && i < n; i++) {
        bool was_told = is_invited(invited, i, invited[i].game_id);

        for (size_t j = 0; j < n_told; j++)
            was_told = was_told || told[j].id == invited[i].game_id;
        if (was_told)
            continue;
        st = games_brief(a->conn, invited[i].game_id, brief, err);
        if (st == ST_OK)
            say_brief(a, brief, true, false);
    }
    free(brief);
    return st;
}

/* What can be joined: the free seats of others' games. */
static void say_joinable(struct act *a, const struct game_brief *brief)
{
    struct buf seats = buf_make(LINE_ROOM);

    for (int seat = 0; seat < SEAT_COUNT; seat++)
        if (brief->seats[seat].state == SEAT_OPEN)
            buf_printf(&seats, "%s%s", seats.len > 0 ? ", " : "",
                       words_seat_name(a->lang, (enum seat)seat));
    say_brief(a, brief, false, false);
    buf_puts(&a->text, "      ");
    SAY(a, "mail.seats_free", WORDS_TEXT("seats", seats.data),
        WORDS_TEXT("game", brief->public_id));
    say_line(a);
    buf_release(&seats);
}

static bool sits_in(const struct game_brief *brief, int64_t user_id)
{
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        if (brief->seats[seat].user_id == user_id)
            return true;
    return brief->organiser_id == user_id;
}

/* Games that anybody may join, but for his own and those that he is invited to, which have been
 * told. */
static enum status say_open(struct act *a, const struct invitation_row *invited, size_t n_invited,
                            struct game_brief *rows, bool *ret_more, struct err *err)
{
    struct game_filter filter = GAME_FILTER_INIT;
    struct game_cursor next = {.id = 0};
    size_t n = 0, told = 0;

    filter.joinable = true;
    filter.viewer_id = a->sender.user.id;
    TRY(games_list(a->conn, &filter, &next, rows, OPEN_SHOWN, &n, &next, err));
    for (size_t i = 0; i < n; i++) {
        if (sits_in(&rows[i], a->sender.user.id) || is_invited(invited, n_invited, rows[i].id))
            continue;
        if (told++ == 0) {
            say_line(a);
            say_plain(a, "mail.games_open");
            say_line(a);
        }
        say_joinable(a, &rows[i]);
    }
    *ret_more = next.id != 0;
    return ST_OK;
}

static enum status tell_games(struct act *a, struct err *err)
{
    bool has_more = false;
    struct game_filter filter = GAME_FILTER_INIT;
    struct game_cursor next = {.id = 0};
    struct game_brief *rows = calloc(GAMES_SHOWN, sizeof *rows);
    struct invitation_row *invited = calloc(2 * (size_t)GAMES_SHOWN, sizeof *invited);
    size_t n = 0, n_invited = 0, by_mail = 0;
    enum status st;

    if (!rows || !invited) {
        st = err_reason(err, REASON_NO_MEMORY, "games");
        goto out;
    }
    st = invitations_of_user(a->conn, a->sender.user.id, invited, GAMES_SHOWN, &n_invited, err);
    if (st == ST_OK)
        st = invitations_of_address(a->conn, a->sender.user.address_key, invited + n_invited,
                                    GAMES_SHOWN, &by_mail, err);
    if (st != ST_OK)
        goto out;
    n_invited += by_mail;
    filter.player_id = filter.viewer_id = a->sender.user.id;
    filter.over = 0;
    st = games_list(a->conn, &filter, &next, rows, GAMES_SHOWN, &n, &next, err);
    if (st != ST_OK)
        goto out;
    if (n + n_invited == 0) {
        say_plain(a, "mail.games_none");
        say_line(a);
    }
    for (int mine = 1; mine >= 0; mine--) /* those that wait for him first */
        for (size_t i = 0; st == ST_OK && i < n; i++) {
            bool waits = false;

            st = waits_for_him(a, &rows[i], &waits, err);
            if (st == ST_OK && waits == (mine == 1))
                say_brief(a, &rows[i], is_invited(invited, n_invited, rows[i].id), waits);
        }
    if (st != ST_OK)
        goto out;
    st = say_invited(a, invited, n_invited, rows, n, err);
    if (st != ST_OK)
        goto out;
    st = say_open(a, invited, n_invited, rows, &has_more, err);
    if (st != ST_OK)
        goto out;
    if (next.id != 0 || has_more) {
        say_plain(a, "mail.games_more");
        say_line(a);
    }
out:
    free(invited);
    free(rows);
    return st;
}

/* N22: all plies since one's own last move. */
static enum status tell_last(struct act *a, struct err *err)
{
    struct move_row *rows = calloc(LAST_SHOWN, sizeof *rows);
    int from = a->game.ply > LAST_SHOWN ? a->game.ply - LAST_SHOWN + 1 : 1;
    size_t n = 0, first = 0;
    enum status st;

    if (!rows)
        return err_reason(err, REASON_NO_MEMORY, "moves");
    st = moves_list(a->conn, a->game.id, from, rows, LAST_SHOWN, &n, err);
    if (st != ST_OK)
        goto out;
    for (size_t i = 0; i < n; i++)
        if (a->own >> rows[i].seat & 1u)
            first = i;
    if (n == 0) {
        say_plain(a, "mail.last_none");
        say_line(a);
    }
    for (size_t i = first; i < n; i++) {
        struct buf text = buf_make(LINE_ROOM);

        buf_printf(&text, "%s (%s)", rows[i].san, rows[i].move);
        buf_printf(&a->text, "  %d. ", rows[i].ply);
        SAY(a, "event.move", WORDS_TEXT("colour", colour_of(a, rows[i].seat)),
            WORDS_TEXT("move", text.data));
        say_line(a);
        buf_release(&text);
    }
out:
    free(rows);
    return st;
}

static void tell_opponents(struct act *a)
{
    int own = -1;

    for (int seat = SEAT_COUNT - 1; seat >= 0; seat--)
        if (a->own >> seat & 1u)
            own = seat;
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        const char *code = own < 0                  ? NULL
                           : (a->own >> seat & 1u)  ? "mail.role_you"
                           : (seat ^ own) & 1       ? "mail.role_opponent"
                                                    : "mail.role_partner";

        if (code) {
            buf_puts(&a->text, "  ");
            say_plain(a, code);
            buf_puts(&a->text, ":");
        }
        say_seat(a, seat);
    }
}

/* ------------------------------------------------------------------------------- the board */

static void say_army(struct act *a, const struct position *pos, int seat)
{
    board_army_words(&a->text, a->lang, pos, (enum seat)seat);
    say_line(a);
}

/* A seat by its colour, its colour's letter or its name, in any of the languages. */
static int seat_of_word(const struct position *pos, const char *word)
{
    for (int seat = 0; seat < SEATS; seat++) {
        const struct game *game = pos->variant.game;
        char letter[2] = {seat_letter(game, (enum seat)seat), '\0'};

        if (str_case_eq(word, letter) || str_case_eq(word, seat_colour(game, (enum seat)seat)) ||
            str_case_eq(word, seat_name((enum seat)seat)))
            return seat;
        for (int lang = 0; lang < LANGS; lang++) /* English ones have no endings */
            if (lang != LANG_EN &&
                (guess_is_akin(word, words_seat_colour((enum lang)lang, game, (enum seat)seat)) ||
                 guess_is_akin(word, words_seat_name((enum lang)lang, (enum seat)seat))))
                return seat;
    }
    return -1;
}

static void tell_pieces(struct act *a, const struct command *c, const struct position *pos)
{
    int only = c->text[0] ? seat_of_word(pos, c->text) : -1;

    if (c->text[0] && only < 0) {
        struct buf list = buf_make(LINE_ROOM);

        for (int seat = 0; seat < SEATS; seat++)
            buf_printf(&list, "%s%s", seat > 0 ? ", " : "", colour_of(a, seat));
        SAY(a, "mail.no_colour", WORDS_TEXT("text", c->text), WORDS_TEXT("list", list.data));
        say_line(a);
        buf_release(&list);
        return;
    }
    for (int seat = 0; seat < SEATS; seat++)
        if (only < 0 || seat == only)
            say_army(a, pos, seat);
}

static void say_square(struct act *a, const struct position *pos, int square)
{
    uint8_t man = position_man_at(pos, square);
    char text[SQUARE_TEXT_MAX];

    (void)square_print(square, text);
    if (man == MAN_NONE)
        SAY(a, "mail.square_empty", WORDS_TEXT("square", text));
    else
        SAY(a, "mail.square_man", WORDS_TEXT("square", text),
            WORDS_TEXT("man", words_man(a->lang, pos->variant.game, man)));
    say_line(a);
}

/* Men on a line of the board, in order; where there is none it says so. */
static void say_row(struct act *a, const struct position *pos, bool is_rank, int index)
{
    struct buf men = buf_make(LINE_ROOM);
    char name[16];

    for (int i = 0; i < 16; i++) {
        int square = is_rank ? square_of(i, index) : square_of(index, i);
        char text[SQUARE_TEXT_MAX];

        if (!square_is_on_board(pos->variant.game, square) ||
            position_man_at(pos, square) == MAN_NONE)
            continue;
        (void)square_print(square, text);
        buf_printf(&men, "%s%s %s", men.len > 0 ? ", " : "",
                   words_man(a->lang, pos->variant.game, position_man_at(pos, square)), text);
    }
    if (is_rank)
        (void)snprintf(name, sizeof name, "%d", index + 1);
    else
        (void)snprintf(name, sizeof name, "%c", 'a' + index);
    SAY(a, is_rank ? "mail.rank" : "mail.file", WORDS_TEXT("name", name),
        WORDS_TEXT("men", men.len > 0 ? men.data : words_plain(a->lang, "words.no_men")));
    say_line(a);
    buf_release(&men);
}

static void tell_square(struct act *a, const struct command *c, const struct position *pos)
{
    char text[SQUARE_TEXT_MAX];
    int64_t rank;

    if (c->square >= 0 && !square_is_on_board(pos->variant.game, c->square)) {
        (void)square_print(c->square, text);
        SAY(a, "verdict.off_board", WORDS_TEXT("square", text));
        say_line(a);
    } else if (c->square >= 0) {
        say_square(a, pos, c->square);
    } else if (str_to_int64(c->text, 1, 16, &rank)) {
        say_row(a, pos, true, (int)rank - 1);
    } else {
        say_row(a, pos, false, c->text[0] - 'a');
    }
}

/* The board read out: armies, last move and checks as one would say them, then rank by rank. */
static enum status tell_spoken(struct act *a, const struct position *pos, struct err *err)
{
    struct board_view view = {.pos = pos, .lang = a->lang, .bottom = SEAT_SOUTH};
    struct buf words = buf_make(32 * 1024);
    enum status st;

    for (int seat = SEATS - 1; seat >= 0; seat--)
        if (a->own >> seat & 1u)
            view.bottom = (enum seat)seat;
    st = board_words(&view, &words, err);
    if (st != ST_OK)
        goto out;
    for (const char *at = words.data; *at;) { /* a sentence a line */
        const char *end = strstr(at, ". ");

        if (!end) {
            buf_printf(&a->text, "%s\n", at);
            break;
        }
        buf_add(&a->text, at, (size_t)(end - at) + 1);
        say_line(a);
        at = end + 2;
    }
    for (int rank = game_ranks(pos->variant.game) - 1; rank >= 0; rank--)
        say_row(a, pos, true, rank);
out:
    buf_release(&words);
    return st;
}

/* ------------------------------------------------------------------------------- notes */

static enum status tell_note_taken(struct act *a, const char *text, struct err *err)
{
    TRY(arbiter_note(a->txn, a->now, &a->game, a->seats, a->sender.user.id, text, NULL, err));
    a->has_acted = true;
    say_success(a);
    say_plain(a, "mail.noted");
    say_line(a);
    return ST_OK;
}

static void say_note(struct act *a, size_t number, const struct note_row *note)
{
    buf_printf(&a->text, "  %zu. %s", number, note->text);
    if (note->ply > 0) {
        buf_puts(&a->text, " (");
        SAY(a, "mail.note_after", WORDS_NUMBER("number", note->ply));
        buf_putc(&a->text, ')');
    }
    say_line(a);
}

static enum status tell_notes(struct act *a, struct err *err)
{
    struct note_row *notes = calloc(NOTES_SHOWN, sizeof *notes);
    int64_t last = 0;
    size_t n = 0, told = 0;
    enum status st = notes ? arbiter_may_note(a->seats, a->sender.user.id, err)
                           : err_reason(err, REASON_NO_MEMORY, "notes");

    if (st != ST_OK)
        goto out;
    do {
        st = notes_list(a->conn, a->game.id, a->sender.user.id, last, notes, NOTES_SHOWN, &n, err);
        for (size_t i = 0; st == ST_OK && i < n; i++) {
            if (told++ == 0) {
                SAY(a, "mail.notes_of", WORDS_TEXT("game", a->game.public_id));
                say_line(a);
            }
            say_note(a, told, &notes[i]);
            last = notes[i].id;
        }
    } while (st == ST_OK && n == NOTES_SHOWN && a->text.len < INTAKE_ANSWER_MAX);
    if (st == ST_OK && told == 0) {
        say_plain(a, "mail.notes_none");
        say_line(a);
    }
out:
    free(notes);
    return st;
}

/* ------------------------------------------------------------------------------- resend */

static enum status resend_all(struct act *a, int *ret_n, struct err *err)
{
    struct game_filter filter = GAME_FILTER_INIT;
    struct game_cursor next = {.id = 0};
    struct game_brief *rows = calloc(GAMES_SHOWN, sizeof *rows);
    struct game_row *game = malloc(sizeof *game);
    size_t n = 0;
    enum status st;

    if (!rows || !game) {
        st = err_reason(err, REASON_NO_MEMORY, "games");
        goto out;
    }
    filter.turn_user_id = filter.viewer_id = a->sender.user.id;
    filter.state = GAME_RUNNING;
    st = games_list(a->conn, &filter, &next, rows, GAMES_SHOWN, &n, &next, err);
    for (size_t i = 0; st == ST_OK && i < n; i++) {
        st = games_get(a->conn, rows[i].id, game, err);
        if (st == ST_OK)
            st = a->options->hooks.resend(a->txn, game, a->sender.user.id, a->now,
                                          a->options->hooks.arg, err);
        if (st == ST_OK)
            ++*ret_n;
        if (st == ST_NOT_FOUND)
            st = ST_OK;
    }
out:
    free(rows);
    free(game);
    return st;
}

/* N21 */
static enum status tell_resend(struct act *a, struct err *err)
{
    int n = 0;
    enum status st = ST_OK;

    if (a->options->hooks.resend) {
        if (a->has_game)
            st = a->options->hooks.resend(a->txn, &a->game, a->sender.user.id, a->now,
                                          a->options->hooks.arg, err);
        else
            st = resend_all(a, &n, err);
        if (a->has_game && st == ST_OK)
            n = 1;
        if (st != ST_OK && st != ST_NOT_FOUND)
            return st;
    }
    if (n > 0) {
        a->has_acted = true;
        say_success(a);
        SAY(a, "mail.resent", WORDS_NUMBER("n", n));
    } else {
        say_plain(a, "mail.resent_none");
    }
    say_line(a);
    return ST_OK;
}

/* ------------------------------------------------------------------------------- all */

bool tell_needs_game(enum command_kind kind)
{
    switch (kind) {
    case COMMAND_GAMES:
    case COMMAND_HELP:
    case COMMAND_RESEND:
        return false;
    default:
        return true;
    }
}

static bool needs_position(enum command_kind kind)
{
    switch (kind) {
    case COMMAND_MOVES:
    case COMMAND_SPOKEN:
    case COMMAND_PIECES:
    case COMMAND_SQUARE:
        return true;
    default:
        return false;
    }
}

static enum status tell_of_position(struct act *a, const struct command *c, struct err *err)
{
    struct position *pos = NULL;
    enum status st;

    if (!a->game.position[0]) {
        say_plain(a, "mail.not_started");
        say_line(a);
        return ST_OK;
    }
    st = act_position(a, &pos, err);
    if (st != ST_OK)
        return st;
    switch (c->kind) {
    case COMMAND_MOVES:
        st = tell_moves(a, c, pos);
        break;
    case COMMAND_SPOKEN:
        st = tell_spoken(a, pos, err);
        break;
    case COMMAND_PIECES:
        tell_pieces(a, c, pos);
        break;
    default:
        tell_square(a, c, pos);
        break;
    }
    free(pos);
    return st;
}

enum status tell(struct act *a, const struct grammar *g, const struct command *c, struct err *err)
{
    if (needs_position(c->kind))
        return tell_of_position(a, c, err);
    switch (c->kind) {
    case COMMAND_BOARD:
        say_plain(a, a->game.position[0] ? "mail.board_below" : "mail.not_started");
        say_line(a);
        say_held(a);
        a->wants_board = true;
        return ST_OK;
    case COMMAND_STATUS:
        return tell_status(a, err);
    case COMMAND_GAMES:
        return tell_games(a, err);
    case COMMAND_WHY:
        return tell_why(a, err);
    case COMMAND_CLOCKS:
        tell_clocks(a);
        return ST_OK;
    case COMMAND_LAST:
        return tell_last(a, err);
    case COMMAND_OPPONENTS:
        tell_opponents(a);
        return ST_OK;
    case COMMAND_NOTE:
        return c->text[0] ? tell_note_taken(a, g->note, err) : tell_notes(a, err);
    case COMMAND_RESEND:
        return tell_resend(a, err);
    case COMMAND_HELP:
        say_help(a, c->text);
        return ST_OK;
    default:
        return err_reason(err, REASON_INTERNAL, "%s is no question", command_word(c->kind));
    }
}

/* A round ends when the turn comes round to the first seat again. */
enum status round_of(struct act *a, int *ret_round, struct err *err)
{
    struct move_row *rows = calloc(EVENTS_A_TIME, sizeof *rows);
    int round = 0, last_seat = SEATS, from = 1;
    size_t n = 0;
    enum status st;

    if (!rows)
        return err_reason(err, REASON_NO_MEMORY, "moves");
    do {
        st = moves_list(a->conn, a->game.id, from, rows, EVENTS_A_TIME, &n, err);
        for (size_t i = 0; st == ST_OK && i < n; i++) {
            round += rows[i].seat <= last_seat;
            last_seat = rows[i].seat;
        }
        from += (int)n;
    } while (st == ST_OK && n == EVENTS_A_TIME);
    if (st == ST_OK)
        *ret_round = round + (a->game.turn_seat <= last_seat);
    free(rows);
    return st;
}

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arbiter/access.h"
#include "base/memory.h"
#include "base/str.h"
#include "board/board.h"
#include "intake/internal.h"
#include "store/prefs.h"

enum {
    TEXT_ROOM = 256 * 1024,
    ASKED_AN_HOUR = 10 /* letters by others held for their owner, a game */
};

/* How a letter's row is settled. */
struct settlement {
    enum inbox_state state;
    enum inbox_verdict verdict;
    char reason[INBOX_REASON_SIZE];
};

static enum status settle_as(struct settlement *s, enum inbox_verdict verdict, const char *reason)
{
    s->state = INBOX_DONE;
    s->verdict = verdict;
    (void)str_copy(s->reason, sizeof s->reason, reason);
    return ST_OK;
}

void trace(struct act *a, const char *fmt, ...)
{
    va_list args;

    if (!a->trace)
        return;
    va_start(args, fmt);
    buf_vprintf(a->trace, fmt, args);
    va_end(args);
}

/* ------------------------------------------------------------------------------- the game */

/* What of his is held in the game. */
static enum status load_held(struct act *a, struct err *err)
{
    struct held_row rows[SEAT_COUNT];
    size_t n = 0;

    TRY(held_of_game(a->conn, a->game.id, rows, &n, err));
    a->has_held = false;
    a->resigning = 0;
    for (size_t i = 0; i < n; i++) {
        if (rows[i].user_id != a->sender.user.id)
            continue;
        if (rows[i].kind == HELD_MOVE) {
            a->held = rows[i];
            a->has_held = true;
        } else {
            a->resignations[rows[i].seat] = rows[i];
            a->resigning |= 1u << rows[i].seat;
        }
    }
    return ST_OK;
}

enum status act_reload(struct act *a, struct err *err)
{
    TRY(games_get(a->conn, a->game.id, &a->game, err));
    TRY(seats_get(a->conn, a->game.id, a->seats, err));
    a->own = seats_of_user(a->seats, a->sender.user.id);
    return load_held(a, err);
}

enum status act_position(const struct act *a, struct position **ret, struct err *err)
{
    struct position *pos = memory_aligned(sizeof *pos);
    enum status st;

    if (!pos)
        return err_reason(err, REASON_NO_MEMORY, "a position");
    st = arbiter_position(&a->game, pos, err);
    if (st == ST_OK)
        *ret = pos;
    else
        free(pos);
    return st;
}

/* A token outlives what it was given for: who was invited to a private game and is not in it any
 * more is told nothing of it. */
static enum status act_hide(struct act *a, struct err *err)
{
    const struct arbiter_actor actor = {.user_id = a->sender.user.id,
                                        .is_operator = a->sender.user.is_operator};
    enum status st = arbiter_may_see(a->conn, &a->game, actor, err);

    if (st != ST_NOT_FOUND)
        return st;
    a->is_hidden = true;
    a->has_game = false;
    a->own = a->resigning = 0;
    a->has_held = false;
    return ST_OK;
}

/* Whose language and zone the answer has, and which game the token is about. */
static enum status act_begin(struct act *a, const struct token_row *token, struct err *err)
{
    struct err ignored = ERR_INIT;

    a->lang = lang_of(a->sender.user.language);
    a->zone = NULL;
    if (zone_cache_get(a->options->zones, a->sender.user.zone, &a->zone, &ignored) != ST_OK)
        a->zone = NULL;
    if (token)
        a->token = *token;
    a->has_game = token && token->game_id != 0;
    if (!a->has_game)
        return ST_OK;
    a->game.id = token->game_id;
    TRY(act_reload(a, err));
    return act_hide(a, err);
}

/* ------------------------------------------------------------------------------- answering */

/* Whether the account may get one more letter in this hour; a refusal is told once in it. */
static enum status may_answer(struct act *a, const struct settlement *s, bool *ret_may,
                              struct err *err)
{
    utc_ms since = a->now - MS_HOUR;
    int64_t n = 0;

    *ret_may = false;
    TRY(inbox_answers_since(a->conn, a->sender.user.id, since, &n, err));
    if (a->options->answers_an_hour > 0 && n >= a->options->answers_an_hour)
        return ST_OK;
    if (s->verdict == INBOX_VERDICT_REFUSED || s->verdict == INBOX_VERDICT_UNREADABLE) {
        if (a->has_game && a->game.updated_at > since) /* what was said of it then may be untrue */
            since = a->game.updated_at;
        TRY(inbox_same_refusal(a->conn, a->sender.user.id, a->has_game ? a->game.id : 0, s->reason,
                               since, &n, err));
        if (n > 0)
            return ST_OK;
    }
    *ret_may = true;
    return ST_OK;
}

/* Leave the answer, unless there have been too many; then what was done stays done. */
static enum status answer(struct act *a, struct settlement *s, const char *template_name,
                          enum token_purpose purpose, struct err *err)
{
    bool may = false;

    TRY(may_answer(a, s, &may, err));
    if (may)
        return answer_put(a, template_name, purpose, err);
    trace(a, "no answer: too many in this hour, or this one was given already\n");
    if (s->verdict != INBOX_VERDICT_ACTED)
        s->verdict = INBOX_VERDICT_SILENT;
    return ST_OK;
}

/* "illegal_move: e2-e9", and behind it all lines of the letter if it has more: the same refusal is
 * the same mistake in the same words of the same letter. */
static void reason_with(const struct act *a, struct settlement *s, const char *slug,
                        const char *text)
{
    const struct reply *reply = &a->reading->reply;
    enum reply_kind kind = a->reading->is_between ? REPLY_BETWEEN : REPLY_TOP;
    struct buf whole = buf_make(4 * INBOX_REASON_SIZE);
    int lines = 0;

    buf_printf(&whole, "%s%s%s", slug, *text ? ": " : "", text);
    for (size_t i = 0; i < reply->count; i++)
        lines += reply->lines[i].kind == kind && reply->lines[i].text[0] != '\0';
    for (size_t i = 0; i < reply->count && lines > 1 && whole.len < INBOX_REASON_SIZE; i++)
        if (reply->lines[i].kind == kind && reply->lines[i].text[0] != '\0')
            buf_printf(&whole, " / %.*s", INBOX_REASON_SIZE, reply->lines[i].text);
    (void)str_copy(s->reason, sizeof s->reason, buf_failed(&whole) ? slug : whole.data);
    buf_release(&whole);
}

static enum status reached(struct act *a, struct err *err)
{
    const struct user_row *user = &a->sender.user;

    if (user->address_state == ADDRESS_OK && user->bounces == 0)
        return ST_OK;
    trace(a, "the sender's address is healthy again\n");
    if (a->options->hooks.on_reached)
        return a->options->hooks.on_reached(a->txn, user->id, a->now, a->options->hooks.arg, err);
    return users_reached(a->txn, user->id, a->now, err);
}

static bool grammar_acts(const struct grammar *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (command_acts(g->commands[i].kind) ||
            (g->commands[i].kind == COMMAND_NOTE && g->commands[i].text[0]))
            return true;
    return false;
}

/* ------------------------------------------------------------------------------ without a token */

static enum status judge_no_token(struct act *a, struct settlement *s, struct err *err)
{
    bool is_conflict = a->sender.verdict == SENDER_CONFLICT;

    TRY(reached(a, err));
    TRY(act_begin(a, NULL, err));
    (void)settle_as(s, INBOX_VERDICT_REFUSED, is_conflict ? "token_conflict" : "no_token");
    if (grammar_acts(&a->reading->grammar)) /* another move that is not made is told anew */
        reason_with(a, s, is_conflict ? "token_conflict" : "no_token",
                    a->reading->grammar.commands[0].shown);
    say_plain(a, is_conflict ? "mail.token_conflict" : "mail.no_token");
    say_line(a);
    return answer(a, s, is_conflict ? "answer" : "no_token", TOKEN_ACCOUNT, err);
}

/* ------------------------------------------------------------------------------- a stranger's */

static bool token_is_good(const struct token_row *token, utc_ms at)
{
    if (token->revoked_at != UTC_NONE || token->expires_at <= at)
        return false;
    /* What is about a game is good for one state of it; what is not, for one letter. */
    return token->game_id != 0 || token->used_at == UTC_NONE;
}

/* Has the owner been asked about this game often enough within the hour?  Not at the first: his own
 * letter from another address must not be lost behind a stranger's. */
static enum status was_asked(struct act *a, bool *ret_was, struct err *err)
{
    int64_t asked = 0;
    enum status st = inbox_asked_since(a->conn, a->sender.user.id, a->sender.token.game_id,
                                       a->now - MS_HOUR, &asked, err);

    *ret_was = asked >= ASKED_AN_HOUR;
    return st;
}

/* More of them than he is asked about: they are kept and not shown, and he is told so once an hour
 * and game. */
static enum status tell_of_more(struct act *a, struct settlement *s, struct err *err)
{
    trace(a, "the owner has been asked %d times about this game in this hour\n", ASKED_AN_HOUR);
    (void)settle_as(s, INBOX_VERDICT_REFUSED, "more_foreign");
    TRY(answer(a, s, "held_more", answer_purpose(a), err));
    if (s->verdict == INBOX_VERDICT_SILENT) /* kept no longer than other strangers' letters */
        s->verdict = INBOX_VERDICT_STRANGER;
    return ST_OK;
}

/* P18: a good token in a letter from somebody else.  The owner is asked; the stranger hears
 * nothing. */
static enum status judge_foreign(struct act *a, struct settlement *s, struct err *err)
{
    const struct grammar *g = &a->reading->grammar;
    bool was = false, may = false;

    (void)settle_as(s, INBOX_VERDICT_STRANGER, "foreign_sender");
    if (!token_is_good(&a->sender.token, a->at) || g->fault != GRAMMAR_NONE || !grammar_acts(g))
        return ST_OK;
    TRY(act_begin(a, &a->sender.token, err));
    TRY(was_asked(a, &was, err));
    TRY(may_answer(a, s, &may, err));
    if (was)
        return tell_of_more(a, s, err);
    if (!may) {
        trace(a, "the owner is not asked: he has had as many answers as an hour may bring\n");
        return ST_OK;
    }
    for (size_t i = 0; i < g->n; i++)
        buf_printf(&a->text, "%s\n", g->commands[i].shown);
    s->state = INBOX_HELD;
    s->verdict = INBOX_VERDICT_HELD;
    return answer_put(a, "held_letter", TOKEN_CONFIRM, err);
}

/* ------------------------------------------------------------------------------- the owner's */

/* `confirm`, `accept` or `decline` to the question about a letter that is held; NULL: none. */
static const struct command *confirming(const struct grammar *g)
{
    for (size_t i = 0; i < g->n; i++)
        switch (g->commands[i].kind) {
        case COMMAND_CONFIRM:
        case COMMAND_ACCEPT:
        case COMMAND_DECLINE:
            return &g->commands[i];
        default:
            break;
        }
    return NULL;
}

static void refuse_whole(struct act *a, struct settlement *s, enum reason reason, const char *code)
{
    a->has_failed = true;
    (void)settle_as(s, INBOX_VERDICT_REFUSED, reason_slug(reason));
    say_plain(a, "mail.nothing_changed");
    buf_printf(&a->text, "\n\n%s: ", reason_word(reason));
    say_plain(a, code);
    say_line(a);
}

static bool only_resigns(const struct grammar *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (command_acts(g->commands[i].kind) && g->commands[i].kind != COMMAND_RESIGN)
            return false;
    return true;
}

/* Run the letter that was held, by its own token. */
static enum status run_held(struct act *a, struct settlement *s, struct err *err)
{
    const struct reading *held = a->reading->held;
    struct sender *of = calloc(1, sizeof *of);
    struct inbox_row row = INBOX_ROW_INIT;
    const struct token_row own = a->token;
    bool is_own = false;
    enum status st;

    if (!of)
        return err_reason(err, REASON_NO_MEMORY, "a letter");
    st = inbox_get(a->conn, held->row.id, false, &row, err);
    if (st != ST_OK)
        goto out;
    st = held->has_letter ? sender_find(a->options, a->conn, &held->row, held->letter, of, err)
                          : ST_OK;
    if (st != ST_OK)
        goto out;
    is_own = of->verdict == SENDER_OWNER; /* what he resigned by himself was right when it came */
    if (row.state != INBOX_HELD || !of->has_token || of->token.user_id != a->sender.user.id ||
        !(is_own || token_is_good(&of->token, a->at)) || row.received_at < a->at - INTAKE_HELD_MS ||
        held->grammar.fault != GRAMMAR_NONE) {
        refuse_whole(a, s, REASON_LINK_EXPIRED, "mail.nothing_to_confirm");
        goto out;
    }
    a->token = of->token;
    a->is_confirmed = true;
    if (is_own && only_resigns(&held->grammar) && a->has_game) /* that outlives what others do */
        a->token.state_no = a->game.state_no;
    st = run_commands(a, &held->grammar, err);
    if (st != ST_OK)
        goto out;
    st = inbox_settle(a->txn, held->row.id, INBOX_DONE,
                      a->has_failed ? INBOX_VERDICT_REFUSED : INBOX_VERDICT_ACTED,
                      a->has_failed ? "confirmed, and refused" : "confirmed", a->sender.user.id,
                      a->has_game ? a->game.id : 0, row.answer_id, a->now, err);
    if (st == ST_OK && !a->has_failed && of->token.used_at == UTC_NONE)
        st = tokens_use(a->txn, of->token.id, a->now, err);
    if (st == ST_OK && !a->has_failed)
        st = tokens_use(a->txn, own.id, a->now, err);
    if (st == ST_OK) {
        (void)settle_as(s, a->has_failed ? INBOX_VERDICT_REFUSED : INBOX_VERDICT_ACTED,
                        a->has_failed ? a->reason : "confirmed");
    }
out:
    inbox_row_release(&row);
    free(of);
    return st;
}

static enum status drop_held(struct act *a, const struct command *c, struct settlement *s,
                             struct err *err)
{
    struct inbox_row row = INBOX_ROW_INIT;
    enum status st = inbox_get(a->conn, a->reading->held->row.id, false, &row, err);

    if (st == ST_OK && row.state == INBOX_HELD) {
        st = inbox_settle(a->txn, row.id, INBOX_DONE, INBOX_VERDICT_STRANGER, "declined",
                          a->sender.user.id, row.game_id, row.answer_id, a->now, err);
        a->has_acted = true;
        say_command(a, c);
        say_success(a);
        say_plain(a, "mail.dropped");
        say_line(a);
        (void)settle_as(s, INBOX_VERDICT_ACTED, "declined");
    } else if (st == ST_OK) {
        refuse_whole(a, s, REASON_LINK_EXPIRED, "mail.nothing_to_confirm");
    }
    inbox_row_release(&row);
    return st;
}

static enum status run_letter(struct act *a, struct settlement *s, struct err *err)
{
    const struct grammar *g = &a->reading->grammar;
    const struct command *confirm = a->token.purpose == TOKEN_CONFIRM ? confirming(g) : NULL;
    bool is_repeat = false;

    if (g->fault != GRAMMAR_NONE) {
        say_grammar_fault(a, g);
        a->has_failed = true;
        (void)settle_as(s, INBOX_VERDICT_REFUSED, "");
        reason_with(a, s, a->reason, g->fault_shown);
        return ST_OK;
    }
    if (confirm && !a->reading->held) {
        refuse_whole(a, s, REASON_LINK_EXPIRED, "mail.nothing_to_confirm");
        return ST_OK;
    }
    if (confirm)
        return confirm->kind == COMMAND_DECLINE ? drop_held(a, confirm, s, err)
                                                : run_held(a, s, err);
    TRY(repeat_answer(a, g, &is_repeat, err));
    if (is_repeat) {
        a->wants_board = true;
        return settle_as(s, INBOX_VERDICT_ANSWERED, "");
    }
    if (grammar_acts(g) && !token_is_good(&a->token, a->at)) {
        refuse_whole(a, s, REASON_LINK_EXPIRED, "mail.token_old");
        return ST_OK;
    }
    TRY(run_commands(a, g, err));
    if (a->wants_word) {
        (void)settle_as(s, INBOX_VERDICT_HELD, "resign");
        return ST_OK;
    }
    if (a->has_failed) {
        (void)settle_as(s, INBOX_VERDICT_REFUSED, "");
        reason_with(a, s, a->reason, a->failed_line);
        return ST_OK;
    }
    (void)settle_as(s, a->has_acted ? INBOX_VERDICT_ACTED : INBOX_VERDICT_ANSWERED, "");
    if (a->has_acted && grammar_acts(g))
        TRY(tokens_use(a->txn, a->token.id, a->now, err));
    return ST_OK;
}

/* M8: a resignation is kept until its player says that he means it. */
static enum status ask_owner(struct act *a, struct settlement *s, struct err *err)
{
    bool may = false;

    TRY(may_answer(a, s, &may, err));
    if (!may)
        return settle_as(s, INBOX_VERDICT_SILENT, s->reason);
    s->state = INBOX_HELD;
    return answer_put(a, "confirm_letter", TOKEN_CONFIRM, err);
}

/* He was asked for a word and wrote another: the question stays, and the answer can be answered. */
static enum status ask_again(struct act *a, enum token_purpose *ret_purpose, struct err *err)
{
    const struct reading *held = a->reading->held;
    struct inbox_row row = INBOX_ROW_INIT;

    *ret_purpose = answer_purpose(a);
    if (!a->has_failed || a->token.purpose != TOKEN_CONFIRM || !held)
        return ST_OK;
    TRY(inbox_get(a->conn, held->row.id, false, &row, err));
    if (row.state == INBOX_HELD) {
        a->asks_about = held->row.id;
        *ret_purpose = TOKEN_CONFIRM;
    }
    inbox_row_release(&row);
    return ST_OK;
}

static enum status judge_owner(struct act *a, struct settlement *s, struct err *err)
{
    const struct grammar *g = &a->reading->grammar;
    enum token_purpose purpose;

    TRY(reached(a, err));
    TRY(act_begin(a, &a->sender.token, err));
    if (a->reading->letter->problem != LETTER_FINE) {
        (void)settle_as(s, INBOX_VERDICT_UNREADABLE,
                        letter_problem_str(a->reading->letter->problem));
        a->wants_board = a->has_game && a->game.position[0];
        return answer(a, s, "unreadable", answer_purpose(a), err);
    }
    TRY(run_letter(a, s, err));
    if (a->wants_word)
        return ask_owner(a, s, err);
    if (!a->has_failed && g->unread_from > 0) {
        say_line(a);
        SAY(a, "mail.unread", WORDS_NUMBER("line", g->unread_from));
        say_line(a);
    }
    if (a->has_acted || a->has_failed)
        a->wants_board = true;
    if (!a->has_game || !a->game.position[0])
        a->wants_board = false;
    TRY(ask_again(a, &purpose, err));
    return answer(a, s, "answer", purpose, err);
}

/* ------------------------------------------------------------------------------- to play */

static bool is_own_address(const struct act *a)
{
    const char *const own[] = {a->options->mail_from, a->options->address,
                               a->options->bounce_address, a->options->unsubscribe_address};
    char token[SECRET_SIZE];

    if (!a->reading->letter->has_from)
        return false;
    for (size_t i = 0; i < COUNT_OF(own); i++)
        if (own[i] && *own[i] && str_case_eq(own[i], a->reading->letter->from))
            return true;
    return recipient_read(a->options, a->reading->letter->from, token) != INTAKE_FOREIGN;
}

/* Also of a letter that is refused for what stands below: no machine begins with a command. */
static bool has_command(const struct grammar *g)
{
    for (size_t i = 0; i < g->n_uses; i++)
        if (g->uses[i] == LINE_COMMAND)
            return true;
    return false;
}

/* P01 – P04, P26: what a machine has written is neither obeyed nor answered. */
static bool is_machine(struct act *a, struct settlement *s)
{
    const struct reading *r = a->reading;

    if (r->letter->mark == LETTER_MARK_LOOP || is_own_address(a))
        (void)settle_as(s, INBOX_VERDICT_LOOP, "loop");
    else if (r->letter->is_automatic)
        (void)settle_as(s, INBOX_VERDICT_AUTOMATIC, letter_mark_str(r->letter->mark));
    else if (!r->row.sender[0] &&
             (r->row.way == INBOX_BY_LMTP || r->row.way == INBOX_BY_COMMAND))
        (void)settle_as(s, INBOX_VERDICT_AUTOMATIC, letter_mark_str(LETTER_MARK_NULL_SENDER));
    else if (r->row.sender[0] && letter_address_is_machine(r->row.sender))
        (void)settle_as(s, INBOX_VERDICT_AUTOMATIC, letter_mark_str(LETTER_MARK_DAEMON));
    else if (r->letter->is_perhaps_automatic && r->grammar.n == 0 &&
             !has_command(&r->grammar))
        (void)settle_as(s, INBOX_VERDICT_AUTOMATIC, "wording");
    else
        return false;
    return true;
}

/* Whose address the envelope names; user.id 0: nobody's. */
static enum status envelope_user(struct act *a, struct user_row *ret, struct err *err)
{
    const struct inbox_row *row = &a->reading->row;
    char key[ADDRESS_MAX + 1];
    enum status st = ST_NOT_FOUND;

    if (row->sender[0] && strlen(row->sender) <= ADDRESS_MAX) {
        address_fold(row->sender, key);
        st = users_find_address(a->conn, key, ret, err);
    }
    if (st == ST_NOT_FOUND ||
        (st == ST_OK && (ret->disabled_at != UTC_NONE || ret->verified_at == UTC_NONE))) {
        ret->id = 0;
        st = ST_OK;
    }
    return st;
}

/* Whose the token is, into ret, where the envelope names nobody that we know and no machine;
 * user.id 0: nobody is to be told. */
static enum status owner_of_token(struct act *a, const struct token_row *token,
                                  struct user_row *ret, struct err *err)
{
    const struct inbox_row *row = &a->reading->row;

    ret->id = 0;
    if (!row->sender[0] || letter_address_is_machine(row->sender) ||
        !token_is_good(token, a->at))
        return ST_OK;
    TRY(users_get(a->conn, token->user_id, ret, err));
    if (ret->disabled_at != UTC_NONE || ret->verified_at == UTC_NONE)
        ret->id = 0;
    return ST_OK;
}

/*
 * A letter that the limits keep from being read (P29, P38), or without both text and sender.  Who
 * wrote it can't be found out; but one that came to a token of ours, or from a player's address as
 * the envelope says, is put aside, for the operator to look at, and the token's owner is told, so
 * that he does not lose on time in silence: his provider may have put an address of its own on the
 * envelope.  All others are strangers': anybody can send those.
 */
static enum status judge_unread(struct act *a, struct settlement *s, struct err *err)
{
    const struct inbox_row *row = &a->reading->row;
    struct user_row *user = calloc(1, sizeof *user);
    struct token_row token;
    enum status st = ST_NOT_FOUND;

    if (!user)
        return err_reason(err, REASON_NO_MEMORY, "a letter");
    (void)settle_as(s, INBOX_VERDICT_UNREADABLE,
                    a->reading->has_letter ? "bad_from" : a->reading->fault.text);
    if (row->has_token)
        st = tokens_find(a->conn, row->token_hash, &token, err);
    if (st == ST_OK || st == ST_NOT_FOUND) {
        bool is_ours = st == ST_OK;

        st = envelope_user(a, user, err);
        if (is_ours || user->id != 0)
            s->state = INBOX_QUARANTINED;
        if (st == ST_OK && is_ours && user->id == 0)
            st = owner_of_token(a, &token, user, err);
        if (st == ST_OK && is_ours && user->id == token.user_id) {
            a->sender.user = *user;
            a->sender.has_user = true;
            a->sender.has_token = true;
            a->sender.token = token;
            if (a->trace)
                trace_token(a);
            st = act_begin(a, &token, err);
            a->wants_board = a->has_game && a->game.position[0];
            if (!token_is_good(&token, a->at)) { /* as for a letter that can be read */
                buf_printf(&a->text, "%s: ", reason_word(REASON_LINK_EXPIRED));
                say_plain(a, "mail.token_old");
                say_line(a);
            }
            if (st == ST_OK)
                st = answer(a, s, "unreadable", answer_purpose(a), err);
        }
    }
    free(user);
    return st;
}

static enum status judge_play(struct act *a, struct settlement *s, struct err *err)
{
    const struct reading *r = a->reading;

    if (!r->has_letter)
        return judge_unread(a, s, err);
    if (is_machine(a, s)) {
        trace(a, "recipient: %s\nfrom a machine (%s): neither obeyed nor answered\n",
              r->row.recipient, s->reason);
        return ST_OK;
    }
    TRY(sender_find(a->options, a->conn, &r->row, r->letter, &a->sender, err));
    if (a->trace)
        trace_reading(a);
    switch (a->sender.verdict) {
    case SENDER_OWNER:
        return judge_owner(a, s, err);
    case SENDER_FOREIGN:
        return judge_foreign(a, s, err);
    case SENDER_NO_TOKEN:
    case SENDER_CONFLICT:
        return judge_no_token(a, s, err);
    case SENDER_NO_FROM:
        /* A mail server has made one line of it all (P38): nothing is read, but that is told. */
        if (r->letter->problem == LETTER_NO_TEXT)
            return judge_unread(a, s, err);
        return settle_as(s, INBOX_VERDICT_STRANGER, "bad_from");
    case SENDER_STRANGER:
        break;
    }
    return settle_as(s, INBOX_VERDICT_STRANGER,
                     a->sender.has_user ? "account_disabled" : "unknown_sender");
}

/* ------------------------------------------------------------------------------ the other doors */

/* Whether the letter comes from the user whose letters it is about: the token alone stands in every
 * letter that he forwards. */
static enum status is_his_own(struct act *a, int64_t user_id, bool *ret_is, struct err *err)
{
    const struct reading *r = a->reading;
    struct sender *sender = calloc(1, sizeof *sender);
    struct user_row *user = calloc(1, sizeof *user);
    char key[ADDRESS_MAX + 1] = "";
    enum status st = sender && user ? ST_OK : err_reason(err, REASON_NO_MEMORY, "a letter");

    if (st == ST_OK)
        st = sender_find(a->options, a->conn, &r->row, r->letter, sender, err);
    if (st == ST_OK)
        st = users_get(a->conn, user_id, user, err);
    if (st == ST_OK && r->letter->has_from && strlen(r->letter->from) <= ADDRESS_MAX)
        address_fold(r->letter->from, key);
    *ret_is = st == ST_OK && sender->is_believed && key[0] && str_eq(key, user->address_key);
    free(sender);
    free(user);
    return st;
}

static enum status judge_unsubscribe(struct act *a, struct settlement *s, struct err *err)
{
    const struct intake_hooks *hooks = &a->options->hooks;
    enum notice_class cls = NOTICE_TURN;
    char token[SECRET_SIZE];
    int64_t user_id = 0;
    bool is_own = false;
    enum status st;

    if (!a->reading->has_letter)
        return settle_as(s, INBOX_VERDICT_STRANGER, "unreadable");
    if (a->reading->letter->is_automatic)
        return settle_as(s, INBOX_VERDICT_AUTOMATIC, letter_mark_str(a->reading->letter->mark));
    (void)recipient_read(a->options, a->reading->row.recipient, token);
    (void)settle_as(s, INBOX_VERDICT_UNSUBSCRIBED, "");
    st = hooks->unsubscribe_read
             ? hooks->unsubscribe_read(hooks->arg, token, &user_id, &cls, err)
             : ST_GONE;
    if (st == ST_GONE || st == ST_NOT_FOUND)
        return settle_as(s, INBOX_VERDICT_STRANGER, "unsubscribe_token");
    if (st != ST_OK)
        return st;
    if (user_id == 0)
        return hooks->address_block
                   ? hooks->address_block(hooks->arg, a->txn, token, a->now, err)
                   : ST_OK;
    TRY(is_his_own(a, user_id, &is_own, err));
    if (!is_own)
        return settle_as(s, INBOX_VERDICT_STRANGER, "foreign_sender");
    a->sender.user.id = user_id;
    trace(a, "letters of class %s are switched off\n", notice_class_str(cls));
    return prefs_set(a->txn, user_id, cls, CHANNEL_MAIL, PREF_OFF, PREF_VIA_UNSUBSCRIBE, a->now,
                     err);
}

static enum status judge_returned(struct act *a, struct settlement *s, struct err *err)
{
    const char *reason = "";
    int64_t user_id = 0;

    TRY(judge_bounce(a, &reason, &user_id, err));
    a->sender.user.id = user_id;
    return settle_as(s, INBOX_VERDICT_BOUNCE, reason);
}

/* ------------------------------------------------------------------------------- the whole */

/* What notify/ puts above the answer's text. */
static void trace_head(struct act *a)
{
    struct buf text = buf_make(TEXT_ROOM);
    char from[ADDRESS_SIZE] = "", code[TEMPLATE_SIZE + 16];

    if (str_eq(a->template_name, "answer"))
        return;
    if (a->reading->has_letter && a->reading->letter->has_from)
        address_mask(a->reading->letter->from, from, sizeof from);
    (void)snprintf(code, sizeof code, "head.%s%s", a->template_name,
                   str_eq(a->template_name, "held_letter") && !from[0] ? "_plain" : "");
    words_put(&text, a->lang, code, (const struct words_arg[]){WORDS_TEXT("from", from)}, 1);
    trace(a, "%s\n", text.data);
    buf_release(&text);
}

/* The dry run's last words. */
static void trace_answer(struct act *a, const struct settlement *s)
{
    struct buf board = buf_make(64 * 1024);
    struct position *pos = NULL;
    struct err ignored = ERR_INIT;

    trace(a, "verdict: %s%s%s%s\n", inbox_verdict_str(s->verdict), s->reason[0] ? ", " : "",
          s->reason,
          s->state == INBOX_HELD          ? "; it is kept for its owner's word"
          : s->state == INBOX_QUARANTINED ? "; it is put aside"
                                          : "");
    if (a->answer_id == 0) {
        trace(a, "answer: none\n");
    } else {
        trace(a, "answer to the account %s, by a letter that can be answered as %s:\n---\n",
              a->sender.user.handle, token_purpose_str(a->answer_purpose));
        trace_head(a);
        trace(a, "%s", a->text.data);
        if (a->wants_board && act_position(a, &pos, &ignored) == ST_OK) {
            struct board_view view = {.pos = pos, .lang = a->lang};
            struct move_reading *reading = malloc(sizeof *reading);

            if (a->has_held && reading &&
                move_read(pos, a->held.move, strlen(a->held.move), reading) == READ_MOVE)
                (void)position_play(pos, reading->move, NULL, NULL);
            free(reading);
            for (int seat = SEATS - 1; seat >= 0; seat--)
                if (a->own >> seat & 1u)
                    view.bottom = (enum seat)seat;
            if (board_text(&view, &board, &ignored) == ST_OK)
                trace(a, "\n%s", board.data);
        }
        trace(a, "---\n");
    }
    free(pos);
    buf_release(&board);
}

static enum status still_claimed(struct act *a, struct err *err)
{
    struct inbox_row row = INBOX_ROW_INIT;
    enum status st = inbox_get(a->conn, a->reading->row.id, false, &row, err);

    if (st == ST_OK && row.state != INBOX_CLAIMED)
        st = err_reason(err, REASON_ALREADY_DONE, "letter %" PRId64 " is %s",
                        a->reading->row.id, inbox_state_str(row.state));
    inbox_row_release(&row);
    return st;
}

enum status judge(const struct intake_options *options, struct store_txn *txn, utc_ms now,
                  const struct reading *reading, struct buf *out, struct judged *ret,
                  struct err *err)
{
    struct act *a = calloc(1, sizeof *a);
    struct settlement s = {.state = INBOX_DONE};
    bool is_gone = false;
    enum status st = ST_OK;

    if (!a)
        return err_reason(err, REASON_NO_MEMORY, "a letter");
    a->options = options;
    a->txn = txn;
    a->conn = store_txn_conn(txn);
    a->now = now;
    a->at = reading->row.received_at;
    a->reading = reading;
    a->text = buf_make(TEXT_ROOM);
    a->trace = out;
    if (!out)
        st = still_claimed(a, err);
    if (st != ST_OK)
        goto out;
    switch (reading->to) {
    case INTAKE_BOUNCE:
        st = judge_returned(a, &s, err);
        break;
    case INTAKE_UNSUBSCRIBE:
        st = judge_unsubscribe(a, &s, err);
        break;
    case INTAKE_PLAY:
        st = judge_play(a, &s, err);
        break;
    case INTAKE_FOREIGN: /* the settings have changed since */
        st = settle_as(&s, INBOX_VERDICT_STRANGER, "recipient");
        break;
    }
    if (st != ST_OK)
        goto out;
    if (!out && s.state == INBOX_DONE && a->sender.user.id == 0 && !a->has_game &&
        a->answer_id == 0)
        st = inbox_thin(txn, reading->row.id, now - MS_HOUR, INBOX_NOBODYS_AN_HOUR, &is_gone, err);
    if (st != ST_OK)
        goto out;
    if (out)
        trace_answer(a, &s);
    else if (!is_gone)
        st = inbox_settle(txn, reading->row.id, s.state, s.verdict, s.reason, a->sender.user.id,
                          a->has_game ? a->game.id : 0, a->answer_id, now, err);
    if (st == ST_OK && ret)
        *ret = (struct judged){.verdict = s.verdict,
                               .user_id = a->sender.user.id,
                               .has_answer = a->answer_id != 0};
out:
    buf_release(&a->text);
    free(a);
    return st;
}

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intake/internal.h"

enum {
    LINE_SHOWN = 72, /* bytes of a line */
    LINES_SHOWN = 1000
};

static const char *use_word(enum line_use use)
{
    static const char *const words[] = {"empty", "command", "note", "end", "not read", "refused"};

    return words[use];
}

/* What follows from whose letter it is. */
static const char *sender_why(enum sender_verdict verdict)
{
    switch (verdict) {
    case SENDER_OWNER:
        return "the token is his and the letter comes from his address: what it says is done";
    case SENDER_FOREIGN:
        return "the token is good, but the letter does not come from its owner, or is not believed "
               "to: he is asked";
    case SENDER_NO_FROM:
        return "From is not one plain address: nothing is done or said";
    case SENDER_NO_TOKEN:
        return "no token that is known, but From is an account's: it is told how to go on";
    case SENDER_CONFLICT:
        return "tokens that disagree: nothing is done, and the account is told so";
    case SENDER_STRANGER:
        break;
    }
    return "no token that is known, and From is nobody's verified address, or the account is shut: "
           "nothing is done or said";
}

/* Which game it is about, and whether that has moved on. */
static void trace_game(struct act *a, const struct token_row *t)
{
    struct game_row *game = calloc(1, sizeof *game);
    struct err ignored = ERR_INIT;

    if (game && t->game_id != 0 && games_get(a->conn, t->game_id, game, &ignored) == ST_OK)
        trace(a, ", game %s, state %lld%s", game->public_id, (long long)t->state_no,
              t->state_no != game->state_no ? " (the game has moved on)" : "");
    free(game);
}

void trace_token(struct act *a)
{
    const struct token_row *t = &a->sender.token;

    if (!a->sender.has_token) {
        trace(a, "token: none that is ours\n");
        return;
    }
    trace(a, "token: %s, for %s", token_purpose_str(t->purpose), a->sender.user.handle);
    trace_game(a, t);
    trace(a, "%s%s%s%s\n", a->sender.was_in_references ? ", found in References" : "",
          t->used_at != UTC_NONE ? ", used before" : "",
          t->revoked_at != UTC_NONE ? ", revoked" : "",
          t->expires_at <= a->at ? ", expired" : "");
}

/* The bytes of a line that are shown: whole characters. */
static size_t shown_of(const char *text)
{
    size_t n = 0;

    while (n < LINE_SHOWN && text[n])
        n++;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return n;
}

/* The lines of the text and how they were taken. */
static void trace_lines(struct act *a)
{
    const struct reading *r = a->reading;
    enum reply_kind kind = r->is_between ? REPLY_BETWEEN : REPLY_TOP;
    size_t used = 0, shown = 0;

    trace(a, "text: %zu lines%s%s\n", r->reply.count, r->is_html ? " of HTML" : "",
          r->is_between ? ", answered between quotes" : "");
    for (size_t i = 0; i < r->reply.count; i++) {
        const struct reply_line *line = &r->reply.lines[i];
        const char *word = reply_kind_str(line->kind);

        if (line->kind == kind && used < r->grammar.n_uses)
            word = use_word((enum line_use)r->grammar.uses[used++]);
        if (line->text[0] && ++shown <= LINES_SHOWN)
            trace(a, "  %4zu %-12s %.*s\n", i + 1, word, (int)shown_of(line->raw), line->raw);
    }
    if (shown > LINES_SHOWN)
        trace(a, "  and %zu lines more\n", shown - LINES_SHOWN);
    if (r->grammar.fault != GRAMMAR_NONE) {
        trace(a, "commands: none, %s", grammar_fault_slug(r->grammar.fault));
        if (r->grammar.fault_line > 0)
            trace(a, " in line %d: %s", r->grammar.fault_line, r->grammar.fault_shown);
        trace(a, "\n");
    } else {
        trace(a, "commands: %zu\n", r->grammar.n);
    }
}

void trace_reading(struct act *a)
{
    const struct reading *r = a->reading;
    const struct letter *letter = r->letter;

    trace(a, "recipient: %s\n", r->row.recipient);
    trace_token(a);
    if (letter->has_from)
        trace(a, "from: %s\n", letter->from);
    else
        trace(a, "from: not usable, %s\n", letter_from_fault_str(letter->from_fault));
    trace(a, "authentication: %s, %s\n", auth_verdict_str(a->sender.auth),
          a->sender.is_believed ? "believed" : "not believed");
    trace(a, "sender: %s; %s\n", sender_verdict_str(a->sender.verdict),
          sender_why(a->sender.verdict));
    if (letter->problem != LETTER_FINE)
        trace(a, "text: none, %s\n", letter_problem_str(letter->problem));
    else
        trace_lines(a);
}

/* notify/reply.c - how a letter can be answered; see internal.h. */
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/str.h"
#include "notify/internal.h"

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
    late = game->deadline_at + game->grace_ms + REPLY_AFTER_DEADLINE_MS;
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
    reply_address(n, secret, ret->address);
    (void)snprintf(ret->id, sizeof ret->id, "reply.%s@%.200s", secret, n->domain);
    sodium_memzero(secret, sizeof secret);
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

/* Words of the grammar are the same in every language. */
static const char *commands_of(enum token_purpose purpose)
{
    switch (purpose) {
    case TOKEN_TURN:
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
        return "games, create, seat, help";
    case TOKEN_INFO:
    case TOKEN_PURPOSE_COUNT_:
        break;
    }
    return "board, moves, status, why, spoken, note, resend, games, help";
}

void reply_hint_put(struct page *page, enum lang lang, const struct reply_way *way)
{
    const char *commands = commands_of(way->purpose);
    struct buf text = buf_make(LINE_MAX_OURS);
    char code[64];

    if (!way->is_open)
        goto out;
    (void)snprintf(code, sizeof code, "letter.reply_%s", token_purpose_str(way->purpose));
    page_para(page, words_plain(lang, code));
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

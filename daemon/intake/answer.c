#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "intake/internal.h"

enum { SENTENCE_MAX = 2048, REFERENCES_SHOWN = 10, ANSWER_PARAMS_ROOM = 4096 };
#define ANSWER_LIFE_MS (3 * MS_DAY)

/* ------------------------------------------------------------------------------- words */

void say(struct act *a, const char *code, const struct words_arg *args, size_t n)
{
    words_put(&a->text, a->lang, code, args, n);
}

void say_plain(struct act *a, const char *code)
{
    words_put(&a->text, a->lang, code, NULL, 0);
}

void say_line(struct act *a)
{
    buf_putc(&a->text, '\n');
}

void say_command(struct act *a, const struct command *command)
{
    if (a->text.len > 0)
        say_line(a);
    buf_printf(&a->text, "> %s\n", command->shown);
}

void say_success(struct act *a)
{
    buf_puts(&a->text, "Success: ");
}

const char *colour_of(const struct act *a, int seat)
{
    struct variant variant;

    if (seat < 0 || seat >= SEATS || !variant_find(game_variant_str(a->game.variant), &variant))
        return "?";
    return words_seat_colour(a->lang, variant.game, (enum seat)seat);
}

const char *holder_of(const struct act *a, int seat)
{
    const struct seat_row *row = &a->seats[seat];

    if (row->user_id == 0)
        return words_plain(a->lang, row->state == SEAT_INVITED ? "letter.seat_invited"
                                                               : "letter.seat_open");
    return row->display_name[0] ? row->display_name : row->handle;
}

void instant_put(struct buf *out, const struct act *a, utc_ms at)
{
    struct buf local = buf_make(SENTENCE_MAX), utc = buf_make(SENTENCE_MAX),
               left = buf_make(SENTENCE_MAX), when = buf_make(SENTENCE_MAX);
    struct civil civil = civil_from_ms(at);
    struct zone_moment moment = {.offset_s = 0};
    bool is_utc = true;

    words_civil(&utc, a->lang, &civil);
    words_length(&left, a->lang, at - a->now);
    words_put(&when, a->lang, at >= a->now ? "letter.deadline_in" : "letter.deadline_ago",
              (const struct words_arg[]){WORDS_TEXT("left", left.data)}, 1);
    if (a->zone) {
        moment = zone_moment(a->zone, at);
        is_utc = str_eq(moment.abbreviation, "UTC");
    }
    if (is_utc) {
        words_put(out, a->lang, "mail.at_utc",
                  (const struct words_arg[]){WORDS_TEXT("utc", utc.data),
                                             WORDS_TEXT("when", when.data)},
                  2);
    } else {
        words_civil(&local, a->lang, &moment.local);
        words_put(out, a->lang, "mail.at",
                  (const struct words_arg[]){WORDS_TEXT("local", local.data),
                                             WORDS_TEXT("abbreviation", moment.abbreviation),
                                             WORDS_TEXT("zone", zone_name(a->zone)),
                                             WORDS_TEXT("utc", utc.data),
                                             WORDS_TEXT("when", when.data)},
                  5);
    }
    buf_release(&local);
    buf_release(&utc);
    buf_release(&left);
    buf_release(&when);
}

/* ------------------------------------------------------------------------------- help */

static const struct {
    enum command_kind kind;
    const char *usage; /* as docs/mail.md writes it */
    const char *slug;  /* of its explanation */
} usages[] = {
    {COMMAND_MOVE, "e2-e4 · Nf3 · O-O · k13-l14=Q · 12. Rd4-d8", "move"},
    {COMMAND_UNDO, "undo", "undo"}, /* … with a seat of one's own */
    {COMMAND_RESIGN, "resign", "resign"},
    {COMMAND_DRAW_OFFER, "draw · draw accept · draw decline", "draw"},
    {COMMAND_CLAIM_DRAW, "claim draw", "claim"},
    {COMMAND_ACCEPT, "accept · decline", "accept"},
    {COMMAND_CONFIRM, "confirm · decline", "confirm"},
    {COMMAND_PLACE, "place", "place"}, /* with the squares of a fortress: see usage_put() */
    {COMMAND_CREATE, "create verney days=7 private rated", "create"},
    {COMMAND_SEAT, "seat west anna · seat south me · seat north open · seat east bo@example.org",
     "seat"},
    {COMMAND_JOIN, "join 7k2mq0xd · join 7k2mq0xd north", "join"},
    {COMMAND_LEAVE, "leave · leave 7k2mq0xd", "leave"},
    {COMMAND_BOARD, "board · board 7k2mq0xd", "board"},
    {COMMAND_MOVES, "moves · moves e2", "moves"},
    {COMMAND_STATUS, "status · status 7k2mq0xd", "status"},
    {COMMAND_GAMES, "games", "games"},
    {COMMAND_WHY, "why", "why"},
    {COMMAND_SPOKEN, "spoken", "spoken"},
    {COMMAND_CLOCKS, "clocks · c", "clocks"},
    {COMMAND_LAST, "last · l", "last"},
    {COMMAND_OPPONENTS, "opponents · o", "opponents"},
    {COMMAND_PIECES, "pieces · p · pieces red", "pieces"},
    {COMMAND_SQUARE, "square e4 · s e4 · s 4 · s e", "square"},
    {COMMAND_NOTE, "note …", "note"},
    {COMMAND_RESEND, "resend", "resend"},
    {COMMAND_HELP, "help · help draw", "help"},
};

static enum command_kind helped(enum command_kind kind)
{
    switch (kind) {
    case COMMAND_DRAW_ACCEPT:
    case COMMAND_DRAW_DECLINE:
        return COMMAND_DRAW_OFFER;
    case COMMAND_DECLINE:
        return COMMAND_ACCEPT;
    default:
        return kind;
    }
}

static size_t usage_of(enum command_kind kind)
{
    for (size_t i = 0; i < COUNT_OF(usages); i++)
        if (usages[i].kind == helped(kind))
            return i;
    return COUNT_OF(usages) - 1;
}

int own_seat(const struct act *a)
{
    for (int seat = 0; seat < SEAT_COUNT; seat++)
        if (a->has_game && (a->own >> seat & 1u))
            return seat;
    return SEAT_SOUTH;
}

int placing_seat(const struct act *a)
{
    return a->token.purpose == TOKEN_PLACING && a->token.seat >= 0 ? a->token.seat : own_seat(a);
}

static void usage_put(const struct act *a, size_t i, char ret[USAGE_SIZE])
{
    char placing[PLACING_TEXT_SIZE];

    switch (usages[i].kind) {
    case COMMAND_PLACE:
        (void)snprintf(ret, USAGE_SIZE, "%s %s", usages[i].usage,
                       words_placing((enum seat)placing_seat(a), placing));
        break;
    case COMMAND_UNDO:
    case COMMAND_RESIGN:
        (void)snprintf(ret, USAGE_SIZE, "%s · %s %s", usages[i].usage, usages[i].usage,
                       command_seat(own_seat(a)));
        break;
    default:
        (void)str_copy(ret, USAGE_SIZE, usages[i].usage);
        break;
    }
}

const char *command_usage(const struct act *a, enum command_kind kind, char ret[USAGE_SIZE])
{
    usage_put(a, usage_of(kind), ret);
    return ret;
}

static void say_usage(struct act *a, size_t i)
{
    char code[64], usage[USAGE_SIZE];

    (void)snprintf(code, sizeof code, "mail.help.%s", usages[i].slug);
    usage_put(a, i, usage);
    buf_printf(&a->text, "  %s\n      ", usage);
    say_plain(a, code);
    say_line(a);
}

static void say_guess(struct act *a, const char *guess)
{
    if (!guess[0])
        return;
    SAY(a, "mail.guess", WORDS_TEXT("guess", guess));
    say_line(a);
}

/* `help foo`: that there is none, and which one it may be. */
static void say_no_such_help(struct act *a, const char *about)
{
    const char *near = command_near(about);
    char guess[64] = "";

    SAY(a, "mail.help_none", WORDS_TEXT("text", about));
    say_line(a);
    if (near)
        (void)snprintf(guess, sizeof guess, "help %.50s", near);
    say_guess(a, guess);
    say_line(a);
}

void say_help(struct act *a, const char *about)
{
    char first[GRAMMAR_WORD_SIZE];
    enum command_kind kind;

    (void)str_copy(first, sizeof first, about);
    first[strcspn(first, " ")] = '\0';
    if (*about && (command_find(about, &kind) || command_find(first, &kind))) {
        say_usage(a, usage_of(kind));
        return;
    }
    if (*about && !str_eq(about, "?"))
        say_no_such_help(a, about);
    say_plain(a, "mail.help");
    say_line(a);
    for (size_t i = 0; i < COUNT_OF(usages); i++)
        say_usage(a, i);
    if (a->options->public_url && *a->options->public_url)
        buf_printf(&a->text, "\n%s\n", a->options->public_url);
}

/* ------------------------------------------------------------------------------- faults */

static const char *fault_word(enum grammar_fault fault)
{
    switch (fault) {
    case GRAMMAR_TOO_LONG:
        return reason_word(REASON_TOO_LARGE);
    case GRAMMAR_TOO_MANY:
        return reason_word(REASON_LIMIT);
    default:
        return reason_word(REASON_BAD_REQUEST);
    }
}

void say_shape_hint(struct act *a, struct buf *out, const char *line)
{
    struct variant variant;
    char file[2] = "p";
    int rank = 16;

    switch (grammar_hint_of(line)) {
    case HINT_NONE:
        return;
    case HINT_SQUARE:
        if (a->has_game && variant_find(game_variant_str(a->game.variant), &variant)) {
            file[0] = (char)('a' + game_files(variant.game) - 1);
            rank = game_ranks(variant.game);
        }
        words_put(out, a->lang, "mail.files_and_ranks",
                  (const struct words_arg[]){WORDS_TEXT("file", file), WORDS_NUMBER("rank", rank)},
                  2);
        break;
    case HINT_LETTER:
        words_put(out, a->lang, "mail.piece_letters", NULL, 0);
        break;
    case HINT_HALF:
        words_put(out, a->lang, "mail.cannot_read", NULL, 0);
        break;
    }
    buf_putc(out, '\n');
}

/* Which word of a command is wrong, and what could stand there. */
static void say_wrong_word(struct act *a, const struct grammar *g)
{
    char code[64];

    if (g->fault_want == WANT_NOTHING) {
        SAY(a, "mail.word_too_many", WORDS_TEXT("word", g->fault_word));
    } else {
        (void)snprintf(code, sizeof code, "mail.want.%s", grammar_want_slug(g->fault_want));
        SAY(a, g->fault_word[0] ? "mail.word_wrong" : "mail.word_missing",
            WORDS_TEXT("word", g->fault_word), WORDS_TEXT("want", words_plain(a->lang, code)));
    }
    say_line(a);
}

void say_grammar_fault(struct act *a, const struct grammar *g)
{
    char code[64], usage[USAGE_SIZE];

    (void)snprintf(code, sizeof code, "mail.fault.%s", grammar_fault_slug(g->fault));
    (void)str_copy(a->reason, sizeof a->reason, grammar_fault_slug(g->fault));
    say_plain(a, "mail.nothing_changed");
    buf_puts(&a->text, "\n\n");
    if (g->fault_line > 0) {
        SAY(a, "mail.fault_line", WORDS_NUMBER("line", g->fault_line),
            WORDS_TEXT("text", g->fault_shown));
        say_line(a);
    }
    buf_printf(&a->text, "%s: ", fault_word(g->fault));
    if (g->fault == GRAMMAR_ARGUMENT)
        say_wrong_word(a, g);
    SAY(a, code, WORDS_TEXT("guess", g->guess),
        WORDS_TEXT("command", command_word(g->fault_command)),
        WORDS_TEXT("usage", command_usage(a, g->fault_command, usage)),
        WORDS_NUMBER("most", GRAMMAR_COMMANDS_MAX));
    say_line(a);
    if (g->fault == GRAMMAR_UNKNOWN || g->fault == GRAMMAR_MIXED ||
        (g->fault == GRAMMAR_ARGUMENT &&
         (g->fault_want == WANT_SQUARE || g->fault_want == WANT_LINE)) ||
        g->fault == GRAMMAR_LOOKALIKE) /* a Russian К is a knight, and only looks like a king */
        say_shape_hint(a, &a->text, g->fault_shown);
    if (g->fault == GRAMMAR_UNKNOWN || g->fault == GRAMMAR_ARGUMENT)
        say_guess(a, g->guess);
    if (g->fault == GRAMMAR_UNKNOWN) {
        say_plain(a, "mail.first_line");
        say_line(a);
    }
}

/* ------------------------------------------------------------------------------- the intent */

/* text as a JSON string, quotes included. */
static void json_put(struct buf *out, const char *text)
{
    buf_putc(out, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_puts(out, "\\n");
        else if (c < 0x20 || c == 0x7f)
            buf_printf(out, "\\u%04x", c);
        else
            buf_putc(out, (char)c);
    }
    buf_putc(out, '"');
}

static void json_member(struct buf *out, const char *key, const char *text)
{
    if (!text || !*text)
        return;
    buf_printf(out, ",\"%s\":", key);
    json_put(out, text);
}

/* The last of the player's references, and his letter's id. */
static void references_put(struct buf *out, const struct letter *letter)
{
    struct buf ids = buf_make(2048);
    size_t from = letter->reference_count > REFERENCES_SHOWN
                      ? letter->reference_count - REFERENCES_SHOWN
                      : 0;

    for (size_t i = from; i < letter->reference_count; i++)
        if (strlen(letter->references[i]) < 200)
            buf_printf(&ids, "%s%s", ids.len > 0 ? " " : "", letter->references[i]);
    if (!buf_failed(&ids))
        json_member(out, "references", ids.data);
    buf_release(&ids);
}

enum token_purpose answer_purpose(const struct act *a)
{
    if (!a->has_game)
        return TOKEN_ACCOUNT;
    if (a->game.state == GAME_RUNNING && a->game.turn_user_id == a->sender.user.id &&
        !a->has_held && (a->resigning >> a->game.turn_seat & 1u) == 0)
        return TOKEN_TURN;
    return a->has_held || a->resigning ? TOKEN_RECEIPT : TOKEN_INFO;
}

/* The text, cut where it is too long, in a buffer of its own. */
static struct buf cut_text(struct act *a, size_t most)
{
    bool is_cut = buf_failed(&a->text) || a->text.len > most;
    struct buf text = buf_make(INTAKE_ANSWER_MAX + SENTENCE_MAX);
    size_t n = a->text.len;

    if (n > most) {
        n = most;
        while (n > 0 && a->text.data[n - 1] != '\n')
            n--;
        if (n == 0)
            n = most;
        while (n > 0 && !utf8_is_valid(a->text.data, n))
            n--;
    }
    buf_add(&text, a->text.data, n);
    if (is_cut) {
        buf_puts(&text, "\n");
        words_put(&text, a->lang, "mail.cut", NULL, 0);
        buf_puts(&text, "\n");
    }
    return text;
}

static void params_put(struct buf *out, struct act *a, const struct letter *letter,
                       enum token_purpose purpose, size_t most)
{
    struct buf text = cut_text(a, most);
    char from[ADDRESS_SIZE];

    buf_printf(out, "{\"inbox\":%" PRId64 ",\"purpose\":\"%s\",\"board\":%s",
               a->asks_about ? a->asks_about : a->reading->row.id,
               token_purpose_str(purpose), a->wants_board ? "true" : "false");
    json_member(out, "text", text.data);
    if (letter) {
        json_member(out, "in_reply_to", strlen(letter->message_id) < 250 ? letter->message_id : "");
        references_put(out, letter);
        json_member(out, "subject", letter->subject);
        if (purpose == TOKEN_CONFIRM) {
            address_mask(letter->from, from, sizeof from);
            json_member(out, "from", from);
        }
    }
    if (a->wants_board && a->has_held)
        json_member(out, "move", a->held.move);
    buf_putc(out, '}');
    buf_release(&text);
}

enum status answer_put(struct act *a, const char *template_name, enum token_purpose purpose,
                       struct err *err)
{
    struct intent_row intent = INTENT_ROW_INIT;
    struct buf params = buf_make(PARAMS_MAX);
    size_t most = INTAKE_ANSWER_MAX;
    bool is_shown = !str_eq(template_name, "held_more"); /* a stranger's, kept unseen */
    enum status st = ST_OK;

    /* What did not fit was not added; the letter's effects must not be lost for it. */
    if (buf_failed(&a->text) && a->text.st != ST_TOO_LARGE)
        return buf_status(&a->text, "an answer", err);
    do { /* what must be escaped may make it too long for the row */
        buf_clear(&params);
        params_put(&params, a, is_shown ? a->reading->letter : NULL, purpose, most);
        most /= 2;
    } while (buf_failed(&params) && params.st == ST_TOO_LARGE && most > 0);
    st = buf_status(&params, "an answer", err);
    if (st != ST_OK)
        goto out;
    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key, "answer:%" PRId64,
                   a->reading->row.id);
    intent.cls = NOTICE_ANSWER;
    intent.channel = CHANNEL_MAIL;
    (void)str_copy(intent.template_name, sizeof intent.template_name, template_name);
    intent.user_id = a->sender.user.id;
    if (a->has_game) {
        intent.game_id = a->game.id;
        intent.state_no = a->game.state_no;
        for (int seat = SEAT_COUNT - 1; seat >= 0; seat--)
            if (a->own >> seat & 1u)
                intent.seat = seat;
        if (a->game.turn_seat >= 0 && (a->own >> a->game.turn_seat & 1u))
            intent.seat = a->game.turn_seat;
    }
    intent.params = params.data;
    intent.due_at = a->now;
    intent.expires_at = a->now + ANSWER_LIFE_MS;
    intent.created_at = a->now;
    st = outbox_put(a->txn, &intent, &a->answer_id, err);
    (void)str_copy(a->template_name, sizeof a->template_name, template_name);
    a->answer_purpose = purpose;
out:
    buf_release(&params);
    return st;
}

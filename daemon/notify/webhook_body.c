/* notify/webhook_body.c - what endpoints are sent; see internal.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/str.h"
#include "notify/internal.h"
#include "rules/show.h"

enum {
    LINE_MAX_OURS = 4000,
    STANDARD_MAX = 20 * 1000, /* bytes, as Standard Webhooks advises */
    DISCORD_CONTENT = 2000,   /* characters */
    SLACK_TEXT = 3000,
    NTFY_MESSAGE = 4000       /* bytes */
};

/* A JSON string of text, cut to at most max bytes at a character's border. */
static json_t *cut(const char *text, size_t max)
{
    size_t n = strlen(text);

    if (n <= max)
        return json_string(text);
    n = max - 3;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    {
        char *copy = str_ndup(text, n);
        json_t *value = copy != NULL ? json_sprintf("%s…", copy) : NULL;

        free(copy);
        return value;
    }
}

static json_t *instant(utc_ms at)
{
    char text[UTC_TEXT_SIZE];

    if (at == UTC_NONE)
        return json_null();
    utc_format(at, text);
    return json_string(text);
}

static json_t *seat_word(int seat)
{
    static const char *const word[] = {"south", "west", "north", "east"};

    return seat >= 0 && seat < SEAT_COUNT ? json_string(word[seat]) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_string(text) : json_null();
}

/* ---------------------------------------------------------------- the standard body */

static json_t *game_json(const struct subject *s, const char *url)
{
    json_t *seats = json_array();

    for (int seat = 0; seat < SEAT_COUNT; seat++)
        json_array_append_new(
            seats, json_pack("{s:o, s:s, s:s, s:o}", "seat", seat_word(seat), "colour",
                             seat_colour(s->variant.game, (enum seat)seat), "state",
                             seat_state_str(s->seats[seat].state), "player",
                             text_or_null(s->seats[seat].handle)));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:o, s:o, s:o, s:s, s:s, s:o, s:o}", "id",
                     s->game.public_id, "href", url, "variant",
                     game_variant_str(s->game.variant), "rules", s->game.rules, "state",
                     game_state_str(s->game.state), "state_number",
                     (json_int_t)s->game.state_no, "ply", s->game.ply, "turn",
                     seat_word(s->game.turn_seat), "deadline_at", instant(s->game.deadline_at),
                     "paused_at", instant(s->game.paused_at), "result",
                     game_result_str(s->game.result), "cause", game_cause_str(s->game.cause),
                     "position", text_or_null(s->game.position), "seats", seats);
}

static json_t *event_json(const struct event_row *e)
{
    return json_pack("{s:I, s:s, s:o, s:o, s:i, s:o, s:o, s:I, s:o, s:o}", "seq",
                     (json_int_t)e->seq, "kind", game_event_kind_str(e->kind), "seat",
                     seat_word(e->seat), "player", text_or_null(e->handle), "ply", e->ply, "move",
                     text_or_null(e->move), "san", text_or_null(e->san), "amount_ms",
                     (json_int_t)e->amount_ms, "note", text_or_null(e->note), "at",
                     instant(e->at));
}

static json_t *standard_body(const struct subject *s, const char *url, const char *head)
{
    const bool has_event = s->event.id != 0; /* else: a seat's player is not reached */
    json_t *data = json_pack("{s:s, s:s, s:s, s:o, s:o, s:s}", "class",
                             notice_class_str(s->intent->cls), "notice",
                             s->intent->template_name, "user", s->user.handle, "event",
                             has_event ? event_json(&s->event) : json_null(), "game",
                             game_json(s, url), "text", head);

    if (!has_event && data != NULL)
        (void)json_object_set_new(data, "seat", seat_word(s->event.seat));
    return json_pack("{s:o, s:o, s:o}", "type",
                     json_sprintf("game.%s", notice_class_str(s->intent->cls)), "timestamp",
                     instant(has_event ? s->event.at : s->intent->created_at), "data", data);
}

/* ---------------------------------------------------------------- bodies for people */

/* & < > as Slack and HTML want them. */
static char *escaped(const char *text)
{
    struct buf b = buf_make(2 * LINE_MAX_OURS);

    buf_puts_markup(&b, text);
    return buf_take(&b, NULL);
}

static json_t *slack_body(const char *text, const char *url)
{
    char *safe = escaped(text);
    json_t *line = json_sprintf("%s\n<%s>", safe != NULL ? safe : "", url);
    json_t *shown = cut(json_string_value(line), SLACK_TEXT);
    json_t *body = json_pack("{s:O, s:[{s:s, s:{s:s, s:O}}]}", "text", shown, "blocks", "type",
                             "section", "text", "type", "mrkdwn", "text", shown);

    json_decref(line);
    json_decref(shown);
    free(safe);
    return body;
}

static json_t *discord_body(const struct notify *n, const char *title, const char *text,
                            const char *url)
{
    return json_pack("{s:o, s:s, s:{s:[]}, s:[{s:o, s:s, s:o}]}", "content",
                     cut(text, DISCORD_CONTENT), "username", n->options.site_name,
                     "allowed_mentions", "parse", "embeds", "title", cut(title, 256), "url", url,
                     "description", cut(text, 4000));
}

/* The topic is the last part of the endpoint's path; see webhook_check(). */
static json_t *ntfy_body(const struct webhook_row *webhook, const char *title, const char *text,
                         const char *url, bool is_urgent)
{
    const char *topic = strrchr(webhook->url, '/');

    return json_pack("{s:s, s:o, s:o, s:s, s:i, s:[s]}", "topic", topic != NULL ? topic + 1 : "",
                     "title", cut(title, 250), "message", cut(text, NTFY_MESSAGE), "click", url,
                     "priority", is_urgent ? 4 : 3, "tags", "chess_pawn");
}

static json_t *matrix_body(const struct notify *n, const char *text, const char *url)
{
    char *safe = escaped(text);
    struct buf html = buf_make(4 * LINE_MAX_OURS);
    json_t *body;

    for (const char *p = safe != NULL ? safe : ""; *p != '\0'; p++)
        if (*p == '\n')
            buf_puts(&html, "<br>");
        else
            buf_putc(&html, *p);
    body = json_pack("{s:o, s:o, s:s}", "text", json_sprintf("%s\n%s", text, url), "html",
                     json_sprintf("<p>%s</p><p><a href=\"%s\">%s</a></p>",
                                  html.data != NULL ? html.data : "", url, url),
                     "username", n->options.site_name);
    buf_release(&html);
    free(safe);
    return body;
}

static json_t *body_of(const struct notify *n, const struct webhook_row *webhook,
                       const char *title, const char *text, const char *url, bool is_urgent)
{
    switch (webhook->kind) {
    case WEBHOOK_SLACK:
        return slack_body(text, url);
    case WEBHOOK_DISCORD:
        return discord_body(n, title, text, url);
    case WEBHOOK_NTFY:
        return ntfy_body(webhook, title, text, url, is_urgent);
    case WEBHOOK_MATRIX:
        return matrix_body(n, text, url);
    case WEBHOOK_STANDARD:
    case WEBHOOK_KIND_COUNT_:
        break;
    }
    return NULL;
}

/* ---------------------------------------------------------------- composing */

/* A line more, if there is one. */
static void line_more(struct buf *text, const struct subject *s,
                      bool (*put)(struct buf *out, const struct subject *s))
{
    struct buf line = buf_make(LINE_MAX_OURS);

    if (put(&line, s))
        buf_printf(text, "\n%s", line.data);
    buf_release(&line);
}

static enum status compose_game(const struct notify *n, struct store_conn *conn,
                                const struct intent_row *intent, utc_ms now,
                                const struct webhook_row *webhook, json_t **ret, struct err *err)
{
    struct subject *s = NULL;
    struct buf head = buf_make(LINE_MAX_OURS), text = buf_make(LINE_MAX_OURS);
    char url[NOTIFY_URL_SIZE], title[300], code[64];
    enum status st;

    TRY_OUT(subject_load(n, conn, intent, now, false, &s, err));
    subject_url(s, url);
    subject_head(&head, s);
    if (webhook->kind == WEBHOOK_STANDARD) {
        *ret = standard_body(s, url, head.data);
        goto out;
    }
    (void)snprintf(code, sizeof code, "game.%s", game_name(s->variant.game));
    (void)words_print(title, sizeof title, s->lang, "letter.subject",
                      (const struct words_arg[]){
                          WORDS_TEXT("game", s->game.public_id),
                          WORDS_TEXT("variant", words_plain(s->lang, code))},
                      2);
    buf_printf(&text, "[%s] %s", s->game.public_id, head.data);
    if (s->has_last) { /* and the move that led here */
        struct event_row event = EVENT_ROW_INIT;
        struct move_row move;
        struct err ignored = ERR_INIT;

        if (moves_get(conn, s->game.id, s->game.ply, &move, &ignored) == ST_OK &&
            events_get(conn, s->game.id, move.seq, &event, &ignored) == ST_OK) {
            buf_puts(&text, "\n");
            (void)subject_event(&text, s, &event);
        }
    }
    line_more(&text, s, subject_note);
    if (intent->cls != NOTICE_RESULT)
        line_more(&text, s, subject_deadline);
    *ret = body_of(n, webhook, title, text.data, url, intent->cls == NOTICE_WARNING);
out:
    subject_release(s);
    buf_release(&head);
    buf_release(&text);
    return st;
}

static enum status compose_test(const struct notify *n, struct store_conn *conn,
                                const struct intent_row *intent, const struct webhook_row *webhook,
                                json_t **ret, struct err *err)
{
    struct user_row user;
    struct buf text = buf_make(LINE_MAX_OURS);
    enum status st;

    TRY_OUT(users_get(conn, webhook->user_id, &user, err));
    words_put(&text, lang_of(user.language), "webhook.test",
              (const struct words_arg[]){WORDS_TEXT("site", n->options.site_name)}, 1);
    if (webhook->kind == WEBHOOK_STANDARD)
        *ret = json_pack("{s:s, s:o, s:{s:s, s:s, s:s}}", "type", "webhook.test", "timestamp",
                         instant(intent->created_at), "data", "user", user.handle, "href",
                         n->options.public_url, "text", text.data);
    else
        *ret = body_of(n, webhook, n->options.site_name, text.data, n->options.public_url, false);
out:
    buf_release(&text);
    return st;
}

enum status webhook_compose(const struct notify *n, struct store_conn *conn,
                            const struct intent_row *intent, utc_ms now, struct notice *notice,
                            struct err *err)
{
    struct webhook_row *webhook = malloc(sizeof *webhook);
    json_t *body = NULL;
    char *text = NULL;
    enum status st;

    if (webhook == NULL)
        return err_set(err, ST_NOMEM, "a webhook's body");
    TRY_OUT(webhooks_get(conn, intent->webhook_id, webhook, err));
    if (intent->cls == NOTICE_TEST)
        TRY_OUT(compose_test(n, conn, intent, webhook, &body, err));
    else
        TRY_OUT(compose_game(n, conn, intent, now, webhook, &body, err));
    text = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    if (text == NULL || strlen(text) > STANDARD_MAX) {
        st = err_set(err, text != NULL ? ST_TOO_LARGE : ST_NOMEM, "a webhook's body");
        goto out;
    }
    buf_puts(&notice->bytes, text);
    notice->content_type = "application/json";
    /* no dot may stand in a webhook-id: it parts the fields that are signed */
    (void)snprintf(notice->message_id, sizeof notice->message_id, "msg_%" PRId64, intent->id);
    TRY_OUT(buf_status(&notice->bytes, "a webhook's body", err));
out:
    free(text);
    json_decref(body);
    free(webhook);
    return st;
}

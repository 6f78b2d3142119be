/* notify/answer.c - answers to players' letters; see notify.h ("Answers"). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/str.h"
#include "notify/internal.h"
#include "rules/notation.h"
#include "store/held.h"

enum {
    LINE_MAX_OURS = 4000,
    PICTURE_MAX = 1024 * 1024,
    REFERENCES_TEXT_MAX = 8192, /* of what is looked at */
    REFERENCES_KEPT = MAIL_REFERENCES_MAX - 2 /* besides the letter's own id and our token */
};
#define DROPPED_LIFE_MS (3 * MS_DAY)

/* The particulars that intake/ has put down. */
struct answer {
    json_t *params;
    const char *text, *in_reply_to, *references, *subject, *move, *from; /* "" : not there */
    bool wants_board;
    bool is_resignation, is_replaced; /* of held_dropped */
    enum token_purpose purpose;
    int64_t inbox_id;
    char ids[REFERENCES_TEXT_MAX]; /* cut up */
};

static const char *string_of(const json_t *params, const char *key)
{
    const char *text = json_string_value(json_object_get(params, key));

    return text != NULL ? text : "";
}

static void answer_read(const struct intent_row *intent, struct answer *ret)
{
    const char *purpose;

    memset(ret, 0, sizeof *ret);
    ret->params = intent->params != NULL ? json_loads(intent->params, 0, NULL) : NULL;
    ret->text = string_of(ret->params, "text");
    ret->in_reply_to = string_of(ret->params, "in_reply_to");
    ret->references = string_of(ret->params, "references");
    ret->subject = string_of(ret->params, "subject");
    ret->move = string_of(ret->params, "move");
    ret->from = string_of(ret->params, "from");
    ret->wants_board = json_is_true(json_object_get(ret->params, "board"));
    ret->is_resignation = json_is_true(json_object_get(ret->params, "resign"));
    ret->is_replaced = json_is_true(json_object_get(ret->params, "replaced"));
    ret->inbox_id = json_integer_value(json_object_get(ret->params, "inbox"));
    purpose = string_of(ret->params, "purpose");
    if (str_eq(intent->template_name, "held_letter"))
        ret->purpose = TOKEN_CONFIRM;
    else if (!token_purpose_parse(purpose, &ret->purpose))
        ret->purpose = intent->game_id != 0 ? TOKEN_RECEIPT : TOKEN_ACCOUNT;
}

/* ---------------------------------------------------------------- headers */

/* A reply token of an earlier letter: it must not be in the chain of one that has its own. */
static bool is_reply_id(const char *id)
{
    return str_starts(id, "reply.");
}

/* A letter that answers none hangs on the game's root, like the game's notices. */
static void references_root(const struct notify *n, const struct subject *s, char *ret, size_t size,
                            struct mail_message *m)
{
    if (m->references_count > 0 || s == NULL)
        return;
    (void)snprintf(ret, size, "%s.root@%s", s->game.public_id, n->domain);
    m->in_reply_to = ret;
    m->references[m->references_count++] = ret;
}

/* The chain of the letter that is answered: its first member and the last ones, then that letter
 * itself.  What is no message id, or one of our tokens, is left out. */
static void references_fill(struct answer *a, struct mail_message *m)
{
    const char *kept[REFERENCES_KEPT];
    size_t n = 0;

    (void)str_copy(a->ids, sizeof a->ids, a->references);
    for (char *p = a->ids; *p != '\0';) {
        char *id = p += strspn(p, " \t\r\n<>");

        p += strcspn(p, " \t\r\n<>");
        if (*p != '\0')
            *p++ = '\0';
        if (!mail_id_is_ok(id) || is_reply_id(id) || str_eq(id, a->in_reply_to))
            continue;
        if (n == REFERENCES_KEPT) {
            memmove(kept + 1, kept + 2, (n - 2) * sizeof kept[0]);
            n--;
        }
        kept[n++] = id;
    }
    for (size_t i = 0; i < n; i++)
        m->references[m->references_count++] = kept[i];
    if (mail_id_is_ok(a->in_reply_to)) {
        m->in_reply_to = a->in_reply_to;
        m->references[m->references_count++] = a->in_reply_to;
    }
}

/* "Re: " and what the player wrote there, or the stem of his game's letters. */
static void subject_line(const struct answer *a, const struct subject *s, enum lang lang,
                         const struct notify *n, char *ret, size_t size)
{
    char whole[1200] = "";
    const char *text = a->subject;

    while (strlen(text) >= 3 && (text[0] == 'R' || text[0] == 'r') &&
           (text[1] == 'E' || text[1] == 'e') && text[2] == ':')
        text += 3 + strspn(text + 3, " ");
    if (text[0] != '\0') {
        (void)snprintf(whole, sizeof whole, "Re: %.1000s", text);
    } else if (s != NULL) {
        char code[64], stem[400];

        (void)snprintf(code, sizeof code, "game.%s", game_name(s->variant.game));
        (void)words_print(stem, sizeof stem, lang, "letter.subject",
                          (const struct words_arg[]){
                              WORDS_TEXT("game", s->game.public_id),
                              WORDS_TEXT("variant", words_plain(lang, code))},
                          2);
        (void)snprintf(whole, sizeof whole, "Re: %s", stem);
    } else {
        (void)words_print(whole, sizeof whole, lang, "subject.answer",
                          (const struct words_arg[]){WORDS_TEXT("site", n->options.site_name)}, 1);
    }
    (void)str_copy(ret, size, whole); /* cut between characters */
    without_controls(ret);
}

/* ---------------------------------------------------------------- the text */

static void write_answer(struct page *page, const struct intent_row *intent,
                         const struct answer *a, enum lang lang)
{
    const char *template = intent->template_name;
    const struct words_arg args[] = {WORDS_TEXT("move", a->move), WORDS_TEXT("from", a->from)};
    struct buf text = buf_make(LINE_MAX_OURS);
    char code[64];

    if (!str_eq(template, "answer")) {
        (void)snprintf(code, sizeof code, "head.%s", template);
        if (str_eq(template, "held_letter") && a->from[0] == '\0')
            (void)str_copy(code, sizeof code, "head.held_letter_plain");
        else if (str_eq(template, "held_dropped") && a->is_replaced)
            (void)str_copy(code, sizeof code, a->is_resignation ? "head.held_replaced_resign"
                                                                : "head.held_replaced");
        else if (str_eq(template, "held_dropped") && a->is_resignation)
            (void)str_copy(code, sizeof code, "head.held_dropped_resign");
        else if (str_eq(template, "held_dropped") && a->move[0] == '\0')
            (void)str_copy(code, sizeof code, "head.held_dropped_plain");
        words_put(&text, lang, code, args, COUNT_OF(args));
        page_para(page, text.data);
    }
    if (a->text[0] != '\0')
        page_text(page, a->text);
    buf_release(&text);
}

/* A move that is held stands on nobody's board yet but in the answer to whoever made it. */
static void play_held(struct subject *s, const char *move)
{
    struct move_reading reading;

    if (move[0] == '\0' || !s->has_position ||
        move_read(&s->pos, move, strlen(move), &reading) != READ_MOVE ||
        position_play(&s->pos, reading.move, NULL, NULL) != MOVE_LEGAL)
        return; /* it has been played meanwhile */
    s->has_last = true;
    s->last = reading.move;
}

static bool is_known(const char *template_name)
{
    static const char *const known[] = {"answer", "held_letter", "confirm_letter", "held_more",
                                        "held_dropped", "unreadable", "no_token"};

    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (str_eq(template_name, known[i]))
            return true;
    return false;
}

/* The user and, for a letter about a game, all of it. */
static enum status load(const struct notify *n, struct store_conn *conn,
                        const struct intent_row *intent, utc_ms now, struct user_row *ret_user,
                        struct subject **ret_subject, struct err *err)
{
    enum status st = users_get(conn, intent->user_id, ret_user, err);

    if (st == ST_OK && intent->game_id != 0)
        st = subject_load(n, conn, intent, now, false, ret_subject, err);
    return st;
}

enum status notify_on_dropped(struct store_txn *txn, const struct game_row *game,
                              const struct held_row *held, bool is_replaced, utc_ms now,
                              void *arg, struct err *err)
{
    struct intent_row intent = INTENT_ROW_INIT;
    bool is_still_his = game->state == GAME_RUNNING && game->turn_user_id == held->user_id;
    char params[200];

    (void)arg;
    (void)snprintf(intent.dedupe_key, sizeof intent.dedupe_key,
                   "held_dropped:%s:%d:%" PRId64 ":%" PRId64, game->public_id, held->seat,
                   held->state_no, held->created_at);
    (void)snprintf(params, sizeof params,
                   "{\"move\":\"%s\",\"resign\":%s,\"replaced\":%s,\"board\":true,"
                   "\"purpose\":\"%s\",\"inbox\":%" PRId64 "}",
                   held->move, held->kind == HELD_RESIGN ? "true" : "false",
                   is_replaced ? "true" : "false",
                   token_purpose_str(is_still_his ? TOKEN_TURN : TOKEN_RECEIPT), held->inbox_id);
    intent.cls = NOTICE_ANSWER;
    intent.channel = CHANNEL_MAIL;
    (void)str_copy(intent.template_name, sizeof intent.template_name, "held_dropped");
    intent.user_id = held->user_id;
    intent.game_id = game->id;
    intent.seat = held->seat;
    intent.state_no = game->state_no;
    intent.params = params;
    intent.due_at = intent.created_at = now;
    intent.expires_at = now + DROPPED_LIFE_MS;
    return outbox_put(txn, &intent, NULL, err);
}

enum status answer_compose(const struct notify *n, struct store_conn *conn,
                           const struct intent_row *intent, utc_ms now, struct notice *notice,
                           struct err *err)
{
    struct answer *a = calloc(1, sizeof *a);
    struct subject *s = NULL;
    struct user_row user;
    struct reply_way way;
    struct page page = page_make();
    struct buf picture = buf_make(PICTURE_MAX), footer = buf_make(LINE_MAX_OURS);
    struct mail_message m = {0};
    char subject[MAIL_HEADER_TEXT_MAX], cid[300], root[300];
    enum lang lang;
    enum status st = ST_OK;

    if (a == NULL) {
        st = err_set(err, ST_NOMEM, "an answer");
        goto out;
    }
    if (!is_known(intent->template_name) || intent->user_id == 0) {
        st = err_set(err, ST_INTERNAL, "notice %lld: no such answer: %s", (long long)intent->id,
                     intent->template_name);
        goto out;
    }
    answer_read(intent, a);
    TRY_OUT(load(n, conn, intent, now, &user, &s, err));
    lang = lang_of(user.language);
    reply_way_open(n, intent, a->purpose, s != NULL ? &s->game : NULL, a->inbox_id, now, notice,
                   &way);
    way.is_answer = true;
    way.is_own = str_eq(intent->template_name, "confirm_letter");
    if (s != NULL)
        TRY_OUT(reply_way_look(s, &way, err));

    write_answer(&page, intent, a, lang);
    if (way.purpose == TOKEN_CONFIRM)
        reply_hint_put(&page, lang, &way);
    (void)snprintf(cid, sizeof cid, "board.%s.%" PRId64 "@%s",
                   s != NULL ? s->game.public_id : "none", intent->id, n->domain);
    if (s != NULL && str_eq(intent->template_name, "answer"))
        play_held(s, a->move);
    if (s != NULL && a->wants_board)
        TRY_OUT(letter_board(&page, s, cid, &picture, err));
    if (way.purpose != TOKEN_CONFIRM)
        reply_hint_put(&page, lang, &way);
    page_pre(&page, "-- ");
    words_put(&footer, lang, "letter.footer_plain",
              (const struct words_arg[]){WORDS_TEXT("site", n->options.site_name),
                                         WORDS_TEXT("url", n->options.public_url)},
              2);
    page_small(&page, footer.data);

    subject_line(a, s, lang, n, subject, sizeof subject);
    page_end(&page, lang_tag(lang), subject);
    TRY_OUT(buf_status(&page.text, "an answer", err));
    TRY_OUT(buf_status(&page.html, "an answer", err));
    message_id_of(n, intent, s != NULL ? s->game.public_id : "", notice->message_id);
    m.subject = subject;
    m.date = now;
    m.text = page.text.data;
    m.html = page.html.data;
    m.game = s != NULL ? s->game.public_id : NULL;
    m.reply_to.address = way.is_open ? way.address : NULL;
    references_fill(a, &m);
    references_root(n, s, root, sizeof root, &m);
    if (way.is_open)
        m.references[m.references_count++] = way.id;
    if (picture.len > 0) {
        m.png = picture.data;
        m.png_size = picture.len;
        m.png_cid = cid;
    }
    TRY_OUT(letter_finish(n, intent, &user, words_plain(lang, "news.answer"), &m, notice, err));
out:
    if (a != NULL)
        json_decref(a->params);
    free(a);
    subject_release(s);
    page_release(&page);
    buf_release(&picture);
    buf_release(&footer);
    return st;
}

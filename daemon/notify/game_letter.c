/* notify/game_letter.c - letters about games; see internal.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "notify/internal.h"

enum { LINE_MAX_OURS = 4000, TEXT_MAX = 128 * 1024, PICTURE_MAX = 1024 * 1024 };

/* Build a sentence in a scratch buffer and hand it on. */
#define SENTENCE(page_call, page, s, code, ...)                                                    \
    do {                                                                                           \
        const struct words_arg args_[] = {__VA_ARGS__};                                            \
        struct buf text_ = buf_make(LINE_MAX_OURS);                                                \
        words_put(&text_, (s)->lang, code, args_, COUNT_OF(args_));                                \
        page_call(page, text_.data);                                                               \
        buf_release(&text_);                                                                       \
    } while (0)

static bool is_template(const struct subject *s, const char *name)
{
    return str_eq(s->intent->template_name, name);
}

static bool is_invitation(const struct subject *s)
{
    return is_template(s, "invitation") || is_template(s, "invitation_address");
}

/* ---------------------------------------------------------------- parts */

static void how_to_answer(struct page *page, const struct subject *s, const char *invitation,
                          const struct reply_way *way)
{
    char url[NOTIFY_URL_SIZE], whole[NOTIFY_URL_SIZE + 80];
    const char *code = way->is_open && way->purpose != TOKEN_INFO     ? "letter.how_page"
                       : is_template(s, "turn") || is_template(s, "warning") ? "letter.how_turn"
                       : is_template(s, "draw_offered")                   ? "letter.how_draw"
                       : is_template(s, "placing") || is_template(s, "warning_placing")
                           ? "letter.how_place"
                       : is_invitation(s) ? "letter.how_invitation"
                                          : "letter.how_look";

    subject_url(s, url);
    (void)snprintf(whole, sizeof whole, "%s%s%s", url, invitation ? "#invitation=" : "",
                   invitation ? invitation : "");
    page_para(page, words_plain(s->lang, code));
    page_link(page, whole);
}

static void deadline(struct page *page, const struct subject *s)
{
    struct buf line = buf_make(LINE_MAX_OURS);

    if (subject_deadline(&line, s))
        page_para(page, line.data);
    buf_release(&line);
    if (s->game.state == GAME_RUNNING && s->game.paused_at == UTC_NONE &&
        s->game.deadline_at != UTC_NONE && s->game.grace_ms > 0 &&
        (is_template(s, "turn") || is_template(s, "warning") || is_template(s, "started"))) {
        struct buf grace = buf_make(200);

        words_length(&grace, s->lang, s->game.grace_ms);
        SENTENCE(page_para, page, s, "letter.grace", WORDS_TEXT("length", grace.data));
        buf_release(&grace);
    }
}

static enum status invitation_until(struct page *page, const struct subject *s, struct err *err)
{
    struct invitation_row row;
    struct buf local = buf_make(200), zone = buf_make(200), utc = buf_make(200),
               left = buf_make(200);
    enum status st;

    TRY_OUT(invitations_of_seat(s->conn, s->game.id, s->intent->seat, &row, err));
    local_time_put(&local, s->lang, s->zone, row.expires_at);
    zone_put(&zone, s->zone, row.expires_at);
    local_time_put(&utc, s->lang, NULL, row.expires_at);
    words_length(&left, s->lang, row.expires_at - s->now);
    SENTENCE(page_para, page, s,
             zone_is_utc(s->zone, row.expires_at) ? "letter.invitation_until_utc"
                                                  : "letter.invitation_until",
             WORDS_TEXT("local", local.data),
             WORDS_TEXT("zone", zone.data), WORDS_TEXT("utc", utc.data),
             WORDS_TEXT("left", left.data));
out:
    buf_release(&local);
    buf_release(&zone);
    buf_release(&utc);
    buf_release(&left);
    return st;
}

/* All that happened since the reader's own last move. */
static void happened(struct page *page, const struct subject *s)
{
    bool has_heading = false;

    for (size_t i = 0; i < s->n_events; i++) {
        struct buf line = buf_make(LINE_MAX_OURS);

        if (subject_event(&line, s, &s->events[i])) {
            if (!has_heading) {
                page_heading(page, words_plain(s->lang, s->is_since_own_move ? "letter.since"
                                                                             : "letter.so_far"));
                page_list_begin(page);
                has_heading = true;
            }
            page_item(page, line.data);
        }
        buf_release(&line);
    }
    if (has_heading)
        page_list_end(page);
}

enum status letter_board(struct page *page, const struct subject *s, const char *cid,
                         struct buf *picture, struct err *err)
{
    struct board_view view = {.pos = &s->pos, .bottom = s->side, .lang = s->lang,
                              .has_last = s->has_last, .last = s->last};
    struct buf text = buf_make(TEXT_MAX), words = buf_make(TEXT_MAX),
               ended = buf_make(LINE_MAX_OURS);
    enum status st = ST_OK;

    if (!s->has_position)
        goto out;
    if (subject_ended(&ended, s))
        view.ended = ended.data;
    TRY_OUT(board_text(&view, &text, err));
    TRY_OUT(board_words(&view, &words, err));
    TRY_OUT(board_png(&view, BOARD_PNG_DEFAULT, picture, err));
    SENTENCE(page_heading, page, s, "letter.board",
             WORDS_TEXT("colour", subject_colour(s, (int)s->side)));
    page_pre(page, text.data);
    if (game_reserve_squares(s->variant.game, SEAT_SOUTH, &(struct board){{0}}))
        page_aside(page, words_plain(s->lang, "letter.walls")); /* the picture shows them */
    if (s->has_last)
        page_aside(page, words_plain(s->lang, "letter.marks"));
    page_image(page, cid, words.data, BOARD_PNG_DEFAULT);
    page_heading(page, words_plain(s->lang, "letter.in_words"));
    page_para(page, words.data);
out:
    buf_release(&text);
    buf_release(&words);
    buf_release(&ended);
    return st;
}

/* " 1. e3 b5 …", a line a round: a round ends when the turn comes round to the first seat. */
static void all_moves(struct page *page, const struct subject *s)
{
    struct buf text = buf_make(TEXT_MAX);
    int round = 0, last_seat = SEATS;

    if (s->n_moves == 0)
        goto out;
    for (size_t i = 0; i < s->n_moves; i++) {
        if (s->moves[i].seat <= last_seat) {
            buf_printf(&text, "%s%3d.", round > 0 ? "\n" : "", round + 1);
            round++;
        }
        last_seat = s->moves[i].seat;
        buf_printf(&text, " %c:%s", seat_letter(s->variant.game, (enum seat)last_seat),
                   s->moves[i].san);
    }
    buf_putc(&text, '\n');
    if (buf_failed(&text)) /* too long for a letter: the page has them all */
        goto out;
    page_heading(page, words_plain(s->lang, "letter.moves"));
    page_pre(page, text.data);
    buf_puts(&page->html, "<pre>");
    buf_puts_markup(&page->html, text.data);
    buf_puts(&page->html, "</pre>\n");
out:
    buf_release(&text);
}

/* Who plays, with the handle where the name is another: names may be alike, handles are not. */
static void players(struct page *page, const struct subject *s)
{
    page_heading(page, words_plain(s->lang, "letter.players"));
    page_list_begin(page);
    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        const struct seat_row *row = &s->seats[seat];
        char name[DISPLAY_NAME_SIZE + HANDLE_SIZE + 4];

        (void)str_copy(name, sizeof name, subject_holder(s, seat));
        if (row->user_id != 0 && !str_case_eq(row->display_name, row->handle) &&
            row->display_name[0] != '\0')
            (void)snprintf(name, sizeof name, "%s (%s)", row->display_name, row->handle);
        SENTENCE(page_item, page, s, "letter.player_line",
                 WORDS_TEXT("colour", subject_colour(s, seat)),
                 WORDS_TEXT("seat", words_seat_name(s->lang, (enum seat)seat)),
                 WORDS_TEXT("name", name));
    }
    page_list_end(page);
}

/* The rules of the table, in words (T6: also what stops the clocks). */
static void rules(struct page *page, const struct subject *s)
{
    const struct variant *v = &s->variant;
    struct buf length = buf_make(200);
    char code[64];

    page_heading(page, words_plain(s->lang, "letter.rules"));
    page_list_begin(page);
    (void)snprintf(code, sizeof code, "game.%s", game_name(v->game));
    page_item(page, words_plain(s->lang, code));
    if (s->game.variant == GAME_VERNEY) {
        page_item(page, words_plain(s->lang, v->inert == INERT_SAFE ? "house.inert_safe"
                                                                    : "house.inert_capturable"));
        page_item(page, words_plain(s->lang, v->queens == QUEENS_LIGHT ? "house.queens_light"
                                                                       : "house.queens_left"));
        page_item(page, words_plain(s->lang, v->promotion == PROMOTION_QUEEN
                                                 ? "house.promotion_queen"
                                                 : "house.promotion_any"));
    } else if (s->game.variant == GAME_FORTRESS) {
        page_item(page, words_plain(s->lang, v->reserve == RESERVE_RANDOM ? "house.reserve_random"
                                             : v->reserve == RESERVE_CHOSEN
                                                 ? "house.reserve_chosen"
                                                 : "house.reserve_usual"));
    }
    if (s->game.state != GAME_FINISHED && s->game.state != GAME_ABORTED) {
        words_length(&length, s->lang, s->game.per_move_ms);
        SENTENCE(page_item, page, s, "letter.time_per_move", WORDS_TEXT("length", length.data));
        page_item(page, words_plain(s->lang, s->game.table_talk ? "letter.table_talk"
                                                                : "letter.silence"));
    }
    page_list_end(page);
    buf_release(&length);
}

static void colours_of_reader(struct page *page, const struct subject *s)
{
    char both[200] = "";

    for (int seat = 0; seat < SEAT_COUNT; seat++) {
        char before[200];

        if ((s->own >> seat & 1u) == 0)
            continue;
        (void)str_copy(before, sizeof before, both);
        if (before[0] == '\0')
            (void)str_copy(both, sizeof both, subject_colour(s, seat));
        else
            (void)words_print(both, sizeof both, s->lang, "letter.and",
                              (const struct words_arg[]){
                                  WORDS_TEXT("first", before),
                                  WORDS_TEXT("second", subject_colour(s, seat))},
                              2);
    }
    if (both[0] != '\0')
        SENTENCE(page_para, page, s, "letter.you_are", WORDS_TEXT("colours", both));
}

static void footer(struct page *page, const struct subject *s, const char *unsubscribe)
{
    char settings[NOTIFY_URL_SIZE];

    page_pre(page, "-- ");
    (void)snprintf(settings, sizeof settings, "%s/settings", s->notify->options.public_url);
    if (s->intent->user_id == 0) {
        SENTENCE(page_small, page, s, "letter.footer_plain",
                 WORDS_TEXT("site", s->notify->options.site_name),
                 WORDS_TEXT("url", s->notify->options.public_url));
        SENTENCE(page_small, page, s, "letter.footer_stop_address",
                 WORDS_TEXT("url", unsubscribe));
        return;
    }
    SENTENCE(page_small, page, s, "letter.footer",
             WORDS_TEXT("site", s->notify->options.site_name), WORDS_TEXT("url", settings));
    SENTENCE(page_small, page, s,
             s->intent->cls == NOTICE_TURN || s->intent->cls == NOTICE_WARNING
                 ? "letter.footer_stop_time"
                 : "letter.footer_stop",
             WORDS_TEXT("url", unsubscribe));
}

/* ---------------------------------------------------------------- the whole letter */

static enum status write_page(struct page *page, const struct subject *s, const char *invitation,
                              const struct reply_way *way, const char *unsubscribe,
                              const char *cid, struct buf *picture, struct err *err)
{
    struct buf head = buf_make(LINE_MAX_OURS), note = buf_make(LINE_MAX_OURS);

    reply_how_put(page, s->lang, way); /* first of all: what may be written above it */
    subject_head(&head, s);
    page_strong(page, head.data);
    buf_release(&head);
    if (subject_note(&note, s))
        page_para(page, note.data);
    buf_release(&note);
    how_to_answer(page, s, invitation, way);
    if (is_invitation(s))
        TRY(invitation_until(page, s, err));
    deadline(page, s);
    if (!is_template(s, "turn") && s->game.state == GAME_RUNNING) {
        SENTENCE(page_para, page, s, "letter.turn_of",
                 WORDS_TEXT("colour", subject_colour(s, s->game.turn_seat)),
                 WORDS_TEXT("name", subject_holder(s, s->game.turn_seat)));
        colours_of_reader(page, s);
    }
    happened(page, s);
    TRY(letter_board(page, s, cid, picture, err));
    all_moves(page, s);
    players(page, s);
    if (is_invitation(s) || s->n_moves == 0)
        rules(page, s);
    footer(page, s, unsubscribe);
    return ST_OK;
}

/* Whose link the letter carries: the user's for its class, or, where there is no account, the
 * address's for further invitations. */
static enum status stop_token(const struct notify *n, struct store_conn *conn,
                              const struct intent_row *intent, char ret[UNSUBSCRIBE_TOKEN_SIZE],
                              struct err *err)
{
    struct invitation_row row;
    enum status st = ST_OK;

    if (intent->user_id != 0) {
        unsubscribe_token(n, intent->user_id, intent->cls, ret);
        return ST_OK;
    }
    st = invitations_get(conn, intent_param(intent, "invitation"), &row, err);
    if (st == ST_OK)
        unsubscribe_address_token(n, row.address_key, ret);
    return st;
}

enum status game_letter_compose(const struct notify *n, struct store_conn *conn,
                                const struct intent_row *intent, utc_ms now,
                                const char *invitation, struct notice *notice, struct err *err)
{
    struct subject *s = NULL;
    struct page page = page_make();
    struct buf picture = buf_make(PICTURE_MAX), news = buf_make(LINE_MAX_OURS);
    struct mail_message m = {0};
    struct reply_way way = {0};
    char token[UNSUBSCRIBE_TOKEN_SIZE], unsubscribe[NOTIFY_URL_SIZE], mailto[ADDRESS_SIZE],
        subject[400], root[300], cid[300], list[300], code[64];
    enum status st;

    TRY_OUT(subject_load(n, conn, intent, now, true, &s, err));
    TRY_OUT(stop_token(n, conn, intent, token, err));
    (void)snprintf(unsubscribe, sizeof unsubscribe, "%s/u/%s", n->options.public_url, token);
    reply_way_open(n, intent, reply_purpose(intent), &s->game, 0, now, notice, &way);
    TRY_OUT(reply_way_look(s, &way, err));
    (void)snprintf(cid, sizeof cid, "board.%s.%" PRId64 "@%s", s->game.public_id, intent->id,
                   n->domain);
    TRY_OUT(write_page(&page, s, invitation, &way, unsubscribe, cid, &picture, err));

    (void)snprintf(code, sizeof code, "game.%s", game_name(s->variant.game));
    (void)words_print(subject, sizeof subject, s->lang, "letter.subject",
                      (const struct words_arg[]){
                          WORDS_TEXT("game", s->game.public_id),
                          WORDS_TEXT("variant", words_plain(s->lang, code))},
                      2);
    page_end(&page, lang_tag(s->lang), subject);
    TRY_OUT(buf_status(&page.text, "a letter", err));
    TRY_OUT(buf_status(&page.html, "a letter", err));
    subject_news(&news, s);

    (void)snprintf(root, sizeof root, "%s.root@%s", s->game.public_id, n->domain);
    (void)snprintf(list, sizeof list, "%s.%s", notice_class_str(intent->cls), n->domain);
    for (char *p = list; *p != '\0'; p++) /* a list id looks like a domain name */
        *p = *p == '_' ? '-' : *p;
    message_id_of(n, intent, s->game.public_id, notice->message_id);
    m.subject = subject;
    m.in_reply_to = root;
    m.references[0] = root;
    m.references_count = 1;
    if (way.is_open) { /* P37: for relays that strip the tag */
        m.references[m.references_count++] = way.id;
        m.reply_to.address = way.address;
    }
    m.text = page.text.data;
    m.html = page.html.data;
    m.game = s->game.public_id;
    if (picture.len > 0) {
        m.png = picture.data;
        m.png_size = picture.len;
        m.png_cid = cid;
    }
    m.list_name = n->options.site_name;
    m.list_id = list;
    m.unsubscribe_url = unsubscribe;
    m.unsubscribe_mailto = unsubscribe_mailto(n, token, mailto);
    m.date = now;
    TRY_OUT(letter_finish(n, intent, &s->user, news.data, &m, notice, err));
out:
    subject_release(s);
    page_release(&page);
    buf_release(&picture);
    buf_release(&news);
    return st;
}

/* notify/subject.c - what a game's notice speaks of; see internal.h. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/str.h"
#include "notify/internal.h"

enum {
    PAGE_ROWS = 64,
    MOVES_KEPT = 20000,  /* no game has more: its letter would not fit anyhow */
    EVENTS_KEPT = 2000   /* since one's own last move */
};

static enum status load_moves(struct subject *s, struct err *err)
{
    size_t room = 0;

    for (;;) {
        size_t n = 0;

        if (s->n_moves + PAGE_ROWS > room) {
            struct move_row *more = realloc(s->moves, (room + 4 * PAGE_ROWS) * sizeof *more);

            if (more == NULL)
                return err_set(err, ST_NOMEM, "a letter");
            s->moves = more;
            room += 4 * PAGE_ROWS;
        }
        TRY(moves_list(s->conn, s->game.id,
                       s->n_moves == 0 ? 1 : s->moves[s->n_moves - 1].ply + 1,
                       s->moves + s->n_moves, PAGE_ROWS, &n, err));
        s->n_moves += n;
        if (n < PAGE_ROWS || s->n_moves >= MOVES_KEPT)
            return ST_OK;
    }
}

/* Events since the user's last move before that one which the letter is about, or all; to the end
 * of the command that caused the intent, so that a letter sent later lists just the same.  That a
 * game has begun is told with all that has happened since, as its board shows it. */
static enum status load_events(struct subject *s, struct err *err)
{
    int64_t since = 0, through = intent_param(s->intent, "through");
    size_t room = 0;

    if (str_eq(s->intent->template_name, "started"))
        through = 0;
    for (size_t i = s->n_moves; i > 0 && since == 0; i--)
        if ((s->own >> s->moves[i - 1].seat & 1u) != 0 &&
            (s->event.id == 0 || s->moves[i - 1].seq < s->event.seq)) {
            since = s->moves[i - 1].seq;
            s->is_since_own_move = true;
        }
    while (s->n_events < EVENTS_KEPT) {
        size_t n = 0;

        if (s->n_events + PAGE_ROWS > room) {
            struct event_row *more = realloc(s->events, (room + PAGE_ROWS) * sizeof *more);

            if (more == NULL)
                return err_set(err, ST_NOMEM, "a letter");
            s->events = more;
            room += PAGE_ROWS;
        }
        TRY(events_of_game(s->conn, s->game.id,
                           s->n_events == 0 ? since : s->events[s->n_events - 1].seq,
                           s->events + s->n_events, PAGE_ROWS, &n, err));
        s->n_events += n;
        if (n < PAGE_ROWS)
            break;
    }
    while (through != 0 && s->n_events > 0 && s->events[s->n_events - 1].seq > through)
        s->n_events--;
    return ST_OK;
}

static void last_move_of(struct subject *s)
{
    struct move_row move;
    int from = 0, to = 0;
    size_t n;
    struct err ignored = ERR_INIT;

    if (s->game.ply == 0 ||
        moves_get(s->conn, s->game.id, s->game.ply, &move, &ignored) != ST_OK)
        return;
    n = square_read(move.move, strlen(move.move), &from);
    if (n == 0 || square_read(move.move + n, strlen(move.move) - n, &to) == 0)
        return;
    s->has_last = true;
    s->last = (struct move){.from = (uint8_t)from, .to = (uint8_t)to};
}

enum status subject_load(const struct notify *notify, struct store_conn *conn,
                         const struct intent_row *intent, utc_ms now, bool with_history,
                         struct subject **ret_subject, struct err *err)
{
    struct subject *s = memory_aligned(sizeof *s);
    struct err ignored = ERR_INIT;
    enum status st;

    if (s == NULL)
        return err_set(err, ST_NOMEM, "a letter");
    s->notify = notify;
    s->conn = conn;
    s->intent = intent;
    s->now = now;
    TRY_OUT(games_get(conn, intent->game_id, &s->game, err));
    TRY_OUT(seats_get(conn, intent->game_id, s->seats, err));
    if (intent->user_id != 0) {
        TRY_OUT(users_get(conn, intent->user_id, &s->user, err));
        s->lang = lang_of(s->user.language);
        /* a zone that has gone from the database: the letter goes out in UTC */
        if (zone_cache_get(notify->options.zones, s->user.zone, &s->zone, &ignored) != ST_OK)
            s->zone = NULL;
    }
    s->own = seats_of_user(s->seats, intent->user_id);
    s->side = intent->seat >= 0 ? (enum seat)intent->seat : SEAT_SOUTH;
    for (int seat = 0; intent->seat < 0 && s->own != 0 && seat < SEAT_COUNT; seat++)
        if (s->own >> seat & 1u) {
            s->side = (enum seat)seat;
            break;
        }
    s->event = EVENT_ROW_INIT;
    if (intent->event_id != 0)
        TRY_OUT(events_get(conn, intent->game_id, intent->seq, &s->event, err));
    else if (str_starts(intent->template_name, "unreachable"))
        s->event.seat = (int)intent_param(intent, "of");
    if (variant_parse(s->game.rules, &s->variant, NULL) != VARIANT_OK) {
        st = err_set(err, ST_CORRUPT, "game %s: its rules cannot be read", s->game.public_id);
        goto out;
    }
    if (s->game.position[0] != '\0') {
        if (position_parse(&s->variant, s->game.position, &s->pos, NULL) != POSITION_OK) {
            st = err_set(err, ST_CORRUPT, "game %s: its position cannot be read",
                         s->game.public_id);
            goto out;
        }
        s->has_position = true;
        last_move_of(s);
    }
    if (with_history) {
        TRY_OUT(load_moves(s, err));
        TRY_OUT(load_events(s, err));
    }
    *ret_subject = s;
    s = NULL;
out:
    subject_release(s);
    return st;
}

void subject_release(struct subject *s)
{
    if (s == NULL)
        return;
    free(s->moves);
    free(s->events);
    free(s);
}

/* ---------------------------------------------------------------- words about it */

const char *subject_colour(const struct subject *s, int seat)
{
    return seat >= 0 && seat < SEATS
               ? words_seat_colour(s->lang, s->variant.game, (enum seat)seat)
               : "";
}

const char *subject_holder(const struct subject *s, int seat)
{
    if (seat < 0 || seat >= SEATS)
        return "";
    if (s->seats[seat].user_id != 0)
        return s->seats[seat].display_name[0] != '\0' ? s->seats[seat].display_name
                                                      : s->seats[seat].handle;
    return words_plain(s->lang, s->seats[seat].state == SEAT_INVITED ? "letter.seat_invited"
                                                                     : "letter.seat_open");
}

void subject_url(const struct subject *s, char ret[NOTIFY_URL_SIZE])
{
    (void)snprintf(ret, NOTIFY_URL_SIZE, "%s/games/%s", s->notify->options.public_url,
                   s->game.public_id);
}

static const char *variant_name(const struct subject *s)
{
    char code[64];

    (void)snprintf(code, sizeof code, "game.%s", game_name(s->variant.game));
    return words_plain(s->lang, code);
}

/* store/'s results and causes have rules/'s order where they have rules/'s meaning. */
static void result_put(struct buf *out, const struct subject *s, enum game_result result,
                       enum game_cause cause)
{
    bool is_by_rules = cause <= GAME_CAUSE_AGREEMENT;

    if (result != GAME_RESULT_NONE)
        words_ending(out, s->lang, s->variant.game, (enum result)result,
                     is_by_rules ? (enum cause)cause : CAUSE_NONE,
                     is_by_rules ? NULL : game_cause_str(cause),
                     seats_left_by(s->seats, SEAT_RESIGNED),
                     seats_left_by(s->seats, SEAT_FORFEITED));
}

enum { SENTENCE_MAX = 2000 };

/* All arguments that heads, news and events may want. */
struct arguments {
    struct buf result, left, length, by;
    struct words_arg at[16];
    size_t n;
};

static struct arguments arguments_make(const struct subject *s, const struct event_row *event)
{
    struct arguments a = {.result = buf_make(SENTENCE_MAX), .left = buf_make(SENTENCE_MAX),
                          .length = buf_make(SENTENCE_MAX), .by = buf_make(SENTENCE_MAX)};
    enum lang lang = s->lang;
    int seat = event->seat;
    utc_ms until = s->game.deadline_at;
    char code[64];

    result_put(&a.result, s, event->result, event->cause);
    words_length(&a.length, lang, event->amount_ms);
    if (str_eq(s->intent->template_name, "warning_organiser") ||
        (until != UTC_NONE && s->now > until))
        until = deadline_grace_end(until, s->game.grace_ms);
    words_length(&a.left, lang, until != UTC_NONE ? until - s->now : event->amount_ms);
    if (event->user_id != 0) {
        struct user_row by;
        struct err ignored = ERR_INIT;

        if (users_get(s->conn, event->user_id, &by, &ignored) == ST_OK)
            buf_puts(&a.by, by.display_name[0] != '\0' ? by.display_name : by.handle);
    }
    (void)snprintf(code, sizeof code, "cause.%s", game_cause_str(event->cause));
    a.at[a.n++] = WORDS_TEXT("colour", subject_colour(s, seat));
    a.at[a.n++] = WORDS_TEXT("seat", seat >= 0 ? words_seat_name(lang, (enum seat)seat) : "");
    a.at[a.n++] = WORDS_TEXT("name", subject_holder(s, seat));
    a.at[a.n++] = WORDS_TEXT("by", a.by.data);
    a.at[a.n++] = WORDS_TEXT("variant", variant_name(s));
    a.at[a.n++] = WORDS_NUMBER("n", s->game.ply + 1);
    a.at[a.n++] = WORDS_TEXT("left", a.left.data);
    a.at[a.n++] = WORDS_TEXT("length", a.length.data);
    a.at[a.n++] = WORDS_TEXT("result", a.result.data);
    a.at[a.n++] =
        WORDS_TEXT("cause", event->cause != GAME_CAUSE_NONE ? words_plain(lang, code) : "");
    return a;
}

static void arguments_release(struct arguments *a)
{
    buf_release(&a->result);
    buf_release(&a->left);
    buf_release(&a->length);
    buf_release(&a->by);
}

/* The event that the first sentence is about: the reader's own turn, when another one's doing
 * has changed the game within it. */
static struct event_row head_event(const struct subject *s)
{
    struct event_row event = s->event;

    if (str_eq(s->intent->template_name, "turn"))
        event.seat = s->intent->seat;
    return event;
}

void subject_head(struct buf *out, const struct subject *s)
{
    const char *template = s->intent->template_name;
    struct event_row event = head_event(s);
    struct arguments a = arguments_make(s, &event);
    char code[64];

    if (str_eq(template, "turn") && s->event.kind != GAME_EVENT_TURN)
        template = "turn_changed";

    if (str_eq(template, "invitation_address"))
        template = "invitation";
    if (str_eq(template, "warning") && s->game.deadline_at != UTC_NONE &&
        s->now > s->game.deadline_at)
        template = "warning_over";
    (void)snprintf(code, sizeof code, "head.%s", template);
    words_put(out, s->lang, code, a.at, a.n);
    arguments_release(&a);
}

void subject_news(struct buf *out, const struct subject *s)
{
    const char *template = s->intent->template_name;
    struct event_row event = head_event(s);
    struct arguments a = arguments_make(s, &event);
    char code[64];

    if (str_eq(template, "invitation_address"))
        template = "invitation";
    else if (str_eq(template, "outage_credited"))
        template = "credited";
    (void)snprintf(code, sizeof code, "news.%s", template);
    words_put(out, s->lang, code, a.at, a.n);
    arguments_release(&a);
}

bool subject_ended(struct buf *out, const struct subject *s)
{
    struct event_row end = EVENT_ROW_INIT;
    struct arguments a;

    if (s->game.state != GAME_FINISHED && s->game.state != GAME_ABORTED)
        return false;
    end.result = s->game.result;
    end.cause = s->game.cause;
    a = arguments_make(s, &end);
    words_put(out, s->lang, s->game.state == GAME_FINISHED ? "head.finished" : "head.aborted", a.at,
              a.n);
    arguments_release(&a);
    return true;
}

bool subject_event(struct buf *out, const struct subject *s, const struct event_row *event)
{
    struct arguments a;
    char code[64], move[MOVE_SAN_SIZE + MOVE_TEXT_SIZE + 4] = "";

    switch (event->kind) {
    case GAME_EVENT_STARTED:
    case GAME_EVENT_MOVE:
    case GAME_EVENT_MATED:
    case GAME_EVENT_RELEASED:
    case GAME_EVENT_REMOVED:
    case GAME_EVENT_PASSED:
    case GAME_EVENT_RESIGNED:
    case GAME_EVENT_FORFEITED:
    case GAME_EVENT_LATE:
    case GAME_EVENT_DRAW_OFFERED:
    case GAME_EVENT_DRAW_ACCEPTED:
    case GAME_EVENT_DRAW_DECLINED:
    case GAME_EVENT_DRAW_LAPSED:
    case GAME_EVENT_DRAW_CLAIMED:
    case GAME_EVENT_PAUSED:
    case GAME_EVENT_RESUMED:
    case GAME_EVENT_CREDITED:
    case GAME_EVENT_OUTAGE_CREDITED:
    case GAME_EVENT_DELIVERY_CREDITED:
    case GAME_EVENT_ADJUDICATED:
    case GAME_EVENT_FINISHED:
    case GAME_EVENT_ABORTED:
        break;
    default:
        return false;
    }
    a = arguments_make(s, event);
    (void)snprintf(move, sizeof move, "%s (%s)", event->san, event->move);
    a.at[a.n++] = WORDS_TEXT("move", move);
    (void)snprintf(code, sizeof code, "event.%s", game_event_kind_str(event->kind));
    words_put(out, s->lang, code, a.at, a.n);
    arguments_release(&a);
    return true;
}

/* ---------------------------------------------------------------- until when, and why */

/* The deadline that the notice speaks of: what resumed the clocks or gave time tells its own, while
 * the same turn lasts. */
static utc_ms deadline_of(const struct subject *s)
{
    switch (s->event.kind) {
    case GAME_EVENT_RESUMED:
    case GAME_EVENT_CREDITED:
    case GAME_EVENT_OUTAGE_CREDITED:
        if (s->event.id != 0 && s->event.deadline_at != UTC_NONE &&
            s->game.turn_at <= s->event.at)
            return s->event.deadline_at;
        break;
    default:
        break;
    }
    return s->game.paused_at != UTC_NONE ? UTC_NONE : s->game.deadline_at;
}

bool subject_deadline(struct buf *out, const struct subject *s)
{
    struct buf local = buf_make(200), zone = buf_make(200), utc = buf_make(200),
               left = buf_make(200);
    utc_ms at = deadline_of(s);
    bool is_utc, has_one = false;

    if (s->game.state != GAME_RUNNING && s->game.state != GAME_PLACING)
        goto out;
    if (str_eq(s->intent->template_name, "paused") ||
        (at == UTC_NONE && s->game.paused_at != UTC_NONE)) {
        buf_puts(out, words_plain(s->lang, "letter.deadline_paused"));
        has_one = true;
        goto out;
    }
    if (at == UTC_NONE)
        goto out;
    is_utc = zone_is_utc(s->zone, at);
    local_time_put(&local, s->lang, s->zone, at);
    zone_put(&zone, s->zone, at);
    local_time_put(&utc, s->lang, NULL, at);
    words_length(&left, s->lang, at - s->now);
    words_put(out, s->lang, "letter.deadline",
              (const struct words_arg[]){WORDS_TEXT("local", local.data),
                                         WORDS_TEXT("zone", zone.data)},
              2);
    buf_puts(out, is_utc ? ", " : ",\n");
    words_put(out, s->lang,
              at >= s->now ? is_utc ? "letter.deadline_in" : "letter.deadline_utc"
              : is_utc     ? "letter.deadline_ago"
                           : "letter.deadline_over",
              (const struct words_arg[]){WORDS_TEXT("utc", utc.data),
                                         WORDS_TEXT("left", left.data)},
              2);
    buf_putc(out, '.');
    has_one = true;
out:
    buf_release(&local);
    buf_release(&zone);
    buf_release(&utc);
    buf_release(&left);
    return has_one;
}

bool subject_note(struct buf *out, const struct subject *s)
{
    if (s->event.note[0] == '\0' || s->intent->cls != NOTICE_ORGANISER)
        return false;
    words_put(out, s->lang, "letter.note",
              (const struct words_arg[]){WORDS_TEXT("note", s->event.note)}, 1);
    return true;
}

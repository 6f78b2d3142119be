/*
 * notify/internal.h - what the files of notify/ share; not for other rooms.
 *
 * A subject is what a game's notice speaks of, loaded once; a page is one letter written as text
 * and as HTML side by side.  Letters and bodies are made of the two.
 *
 * Ownership: as each function says; strings returned as const char * are constants or belong to the
 *            subject.
 * Units:     instants in utc_ms, lengths in ms.
 * Threads:   a subject, a page and a notice belong to one thread; struct notify is constant.
 * Errors:    as notify.h and store/store.h.
 */
#ifndef FH_NOTIFY_INTERNAL_H
#define FH_NOTIFY_INTERNAL_H

#include "board/board.h"
#include "mail/message.h"
#include "notify/notify.h"
#include "notify/webhook.h"
#include "store/prefs.h"
#include "store/webhooks.h"

enum { NOTIFY_KEY_SIZE = 32, NOTIFY_DOMAIN_SIZE = 254, NOTIFY_URL_SIZE = 1024 };

struct notify {
    struct notify_options options;
    char domain[NOTIFY_DOMAIN_SIZE]; /* of message ids and list ids */
    unsigned char key[NOTIFY_KEY_SIZE];
    struct net_list allow;
};

#define TRY(call)                                                                                  \
    do {                                                                                           \
        st = (call);                                                                               \
        if (st != ST_OK)                                                                           \
            goto out;                                                                              \
    } while (0)

/* Whether the player wants a class by a channel, by his preferences. */
bool notice_is_wanted(const struct prefs *prefs, enum notice_class cls,
                      enum notice_channel channel);
/* Whether an endpoint takes the class. */
bool webhook_takes(const struct webhook_row *webhook, enum notice_class cls);
/* Whether people read what comes there, so that one notice a command is enough. */
bool webhook_is_for_people(enum webhook_kind kind);
/* The number under a key of an intent's params; 0 when there is none. */
int64_t intent_param(const struct intent_row *intent, const char *key);

/* ---------------------------------------------------------------- what notices are made of */

/* What the letter or body of a game's notice needs; subject_release() when done.  Large: on the
 * heap. */
struct subject {
    const struct notify *notify;
    struct store_conn *conn;
    const struct intent_row *intent;
    utc_ms now;
    enum lang lang;
    struct user_row user;    /* id 0: to an address alone */
    const struct zone *zone;
    struct game_row game;
    struct seat_row seats[SEAT_COUNT];
    unsigned own;            /* bit seat: the user's */
    enum seat side;          /* at the bottom of the board */
    struct variant variant;
    bool has_position;
    struct position pos;
    bool has_last;
    struct move last;
    struct event_row event;  /* that caused it; id 0: none */
    struct move_row *moves;  /* all that stand */
    size_t n_moves;
    struct event_row *events; /* since the user's last move, or all, to the intent's command */
    size_t n_events;
    bool is_since_own_move;
};
MUST_CHECK enum status subject_load(const struct notify *notify, struct store_conn *conn,
                                    const struct intent_row *intent, utc_ms now, bool with_history,
                                    struct subject **ret_subject, struct err *err);
void subject_release(struct subject *subject); /* frees it; NULL is allowed */

/* "White", and the name of who plays it. */
const char *subject_colour(const struct subject *s, int seat);
const char *subject_holder(const struct subject *s, int seat);
/* The game's page. */
void subject_url(const struct subject *s, char ret[NOTIFY_URL_SIZE]);
/* The first sentence and the few words of news, by the intent's template. */
void subject_head(struct buf *out, const struct subject *s);
void subject_news(struct buf *out, const struct subject *s);
/* How the game ended, as a sentence; false (nothing put) while it has not. */
bool subject_ended(struct buf *out, const struct subject *s);
/* One line of what happened; false (nothing put) for events that need no line. */
bool subject_event(struct buf *out, const struct subject *s, const struct event_row *event);

/* webhook_body.c */
MUST_CHECK enum status webhook_compose(const struct notify *notify, struct store_conn *conn,
                                       const struct intent_row *intent, utc_ms now,
                                       struct notice *notice, struct err *err);
/* letters.c: letters about the account.  secret NULL: the letter has none.  language and handle are
 * of who has no account yet. */
MUST_CHECK enum status account_letter_compose(const struct notify *notify, struct store_conn *conn,
                                              const struct intent_row *intent, utc_ms now,
                                              const char *secret, const char *language,
                                              const char *handle, struct notice *notice,
                                              struct err *err);
/* game_letter.c; invitation is the raw secret of a mailed one, or NULL. */
MUST_CHECK enum status game_letter_compose(const struct notify *notify, struct store_conn *conn,
                                           const struct intent_row *intent, utc_ms now,
                                           const char *invitation, struct notice *notice,
                                           struct err *err);

/* Message ids. */
void message_id_of(const struct notify *notify, const struct intent_row *intent,
                   const char *game /* public id or "" */, char ret[MESSAGE_ID_SIZE]);
/* Fills what all letters share and composes into notice. */
MUST_CHECK enum status letter_finish(const struct notify *notify, const struct intent_row *intent,
                                     const struct user_row *user, const char *news,
                                     struct mail_message *message, struct notice *notice,
                                     struct err *err);

/* ---------------------------------------------------------------- a document in two forms */

/* Text and HTML of one letter, written side by side. */
struct page {
    struct buf text, html;
};
struct page page_make(void);
void page_release(struct page *page);
void page_para(struct page *page, const char *text);
void page_strong(struct page *page, const char *text);
void page_heading(struct page *page, const char *text);
void page_link(struct page *page, const char *url);
void page_item(struct page *page, const char *text);   /* between page_list_begin() and _end() */
void page_list_begin(struct page *page);
void page_list_end(struct page *page);
void page_pre(struct page *page, const char *text);    /* in the text part only */
void page_image(struct page *page, const char *cid, const char *alt, int width); /* in HTML only */
void page_small(struct page *page, const char *text);
void page_end(struct page *page, const char *lang, const char *title);

/* "2026-12-03T17:30:00.000Z" → "Thu 3 December 2026, 18:30" and "CET (Europe/Chisinau)". */
void local_time_put(struct buf *out, enum lang lang, const struct zone *zone, utc_ms at);
void zone_put(struct buf *out, const struct zone *zone, utc_ms at);
/* Whether the two are one: the instant need not be told in UTC besides. */
bool zone_is_utc(const struct zone *zone, utc_ms at);

#endif

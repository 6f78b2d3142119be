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
#include "clock/deadline.h"
#include "mail/message.h"
#include "notify/notify.h"
#include "notify/webhook.h"
#include "store/keys.h"
#include "store/prefs.h"
#include "store/webhooks.h"

enum { NOTIFY_KEY_SIZE = KEY_SIZE, NOTIFY_DOMAIN_SIZE = 254, NOTIFY_URL_SIZE = 1024 };

struct notify {
    struct notify_options options;
    char domain[NOTIFY_DOMAIN_SIZE]; /* of message ids and list ids */
    unsigned char key[NOTIFY_KEY_SIZE];      /* "unsubscribe" */
    unsigned char verp_key[NOTIFY_KEY_SIZE]; /* "verp" */
    struct net_list allow;
};

/* Whether the player wants a class by a channel, by his preferences. */
bool notice_is_wanted(const struct prefs *prefs, enum notice_class cls,
                      enum notice_channel channel);
/* Whether a notice goes to his webhooks although it is switched off there, because he wants it by
 * mail and his address is suspended (N9). */
bool notice_stands_in(const struct user_row *user, const struct prefs *prefs,
                      enum notice_class cls);
/* Whether people read what comes there, so that one notice a command is enough. */
bool webhook_is_for_people(enum webhook_kind kind);
/* One notice to one user outside the events of a command. */
struct notice_wish {
    int64_t user_id;
    int seat;
    enum notice_class cls;
    const char *template_name;
    const char *again;  /* "", or ":…", so that it is not taken for one that was put before */
    bool is_asked;      /* by him: whatever he has switched off */
    bool skips_mail, skips_hooks;
    char *params;       /* of the webhooks' intents; NULL: none */
};
MUST_CHECK enum status notice_put(const struct notify *notify, struct store_txn *txn,
                                  const struct game_row *game, const struct event_row *event,
                                  const struct notice_wish *wish, utc_ms now, struct err *err);
/* N9: a game begins, and letters to somebody in it have not arrived for a while: tells those who
 * would have been told had his address been suspended now. */
MUST_CHECK enum status notify_on_begun(const struct notify *notify, struct store_txn *txn,
                                       const struct game_row *game,
                                       const struct seat_row seats[SEAT_COUNT], utc_ms now,
                                       struct err *err);
/* A letter was superseded: put what it should have told besides, if nothing that came since tells
 * it. */
MUST_CHECK enum status notify_instead(struct store_txn *txn, const struct intent_row *late,
                                      utc_ms now, struct err *err);
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
/* "Deadline: …,\nthat is … UTC, in 6 d 4 h." (U6), or that the clocks stand; false: neither. */
bool subject_deadline(struct buf *out, const struct subject *s);
/* The organiser's words beside what he did ("Note: …"); false: there are none. */
bool subject_note(struct buf *out, const struct subject *s);

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

/* answer.c: answers to players' letters. */
MUST_CHECK enum status answer_compose(const struct notify *notify, struct store_conn *conn,
                                      const struct intent_row *intent, utc_ms now,
                                      struct notice *notice, struct err *err);

/* ---------------------------------------------------------------- tags in addresses (tags.c) */

/* The forms of the addresses that tags go into. */
MUST_CHECK enum status tags_check(const struct notify_options *options, struct err *err);
/* Whether play by mail is on. */
bool notify_takes_answers(const struct notify *notify);
void reply_address(const struct notify *notify, const char *token, char ret[ADDRESS_SIZE]);
/* ret, or NULL when unsubscribing goes by link only. */
const char *unsubscribe_mailto(const struct notify *notify, const char *token,
                               char ret[ADDRESS_SIZE]);
/* What address_blocks keeps of an address. */
void address_block_hash(const struct notify *notify, const char *address_key,
                        unsigned char ret[ADDRESS_BLOCK_SIZE]);

/* ---------------------------------------------------------------- answering (reply.c) */

/* How a letter can be answered.  Zeroed: it cannot. */
struct reply_way {
    bool is_open;
    enum token_purpose purpose;
    bool is_own;                /* what he is asked to confirm is his own letter */
    bool is_answer;             /* to a letter of his: what it offers fits the game as it is */
    bool has_game;
    enum game_state state;      /* of the game */
    bool is_offered;            /* a draw is, by somebody else */
    int seat;                   /* of the reader; -1: none in particular */
    char example[16];           /* a move that he may make; "": it is not his turn */
    char address[ADDRESS_SIZE]; /* Reply-To */
    char id[MESSAGE_ID_SIZE];   /* the same token as a message id, for References */
};
/* Draw a token for a letter to the user of the intent and leave its hash in the notice.  game NULL:
 * the letter is about none.  When play by mail is off, or nobody has an account there, the way is
 * not open. */
void reply_way_open(const struct notify *notify, const struct intent_row *intent,
                    enum token_purpose purpose, const struct game_row *game, int64_t inbox_id,
                    utc_ms now, struct notice *notice, struct reply_way *ret);
/* See whether a draw is offered in the game of the letter, so that it says how to answer that, and
 * how a move may be written. */
struct subject;
MUST_CHECK enum status reply_way_look(const struct subject *s, struct reply_way *way,
                                      struct err *err);
/* What an answer to a notice may be about, by its template. */
enum token_purpose reply_purpose(const struct intent_row *intent);
/* "Write your move on the first line …", other commands, and the line above which to write.  Puts
 * nothing when the way is not open. */
struct page;
void reply_how_put(struct page *page, enum lang lang, const struct reply_way *way);
/* The same for the end of a letter: without the line. */
void reply_hint_put(struct page *page, enum lang lang, const struct reply_way *way);

/* Message ids. */
void message_id_of(const struct notify *notify, const struct intent_row *intent,
                   const char *game /* public id or "" */, char ret[MESSAGE_ID_SIZE]);
/* Fills what all letters share and composes into notice. */
MUST_CHECK enum status letter_finish(const struct notify *notify, const struct intent_row *intent,
                                     const struct user_row *user, const char *news,
                                     struct mail_message *message, struct notice *notice,
                                     struct err *err);
/* Header fields take no controls: each becomes a blank. */
void without_controls(char *text);
/* The board as text, picture and words, the picture under cid. */
MUST_CHECK enum status letter_board(struct page *page, const struct subject *s, const char *cid,
                                    struct buf *picture, struct err *err);

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
void page_aside(struct page *page, const char *text);  /* a paragraph, in the text part only */
void page_text(struct page *page, const char *text);   /* lines as they are, in both */
void page_image(struct page *page, const char *cid, const char *alt, int width); /* in HTML only */
void page_small(struct page *page, const char *text);
void page_end(struct page *page, const char *lang, const char *title);

/* "2026-12-03T17:30:00.000Z" → "Thu 3 December 2026, 18:30" and "CET (Europe/Chisinau)". */
void local_time_put(struct buf *out, enum lang lang, const struct zone *zone, utc_ms at);
void zone_put(struct buf *out, const struct zone *zone, utc_ms at);
/* Whether the two are one: the instant need not be told in UTC besides. */
bool zone_is_utc(const struct zone *zone, utc_ms at);

#endif

/*
 * notify/notify.h - which notice an event causes, and what stands in it.
 *
 * Purpose
 *   Turns what happens in games into intents (rows of store/outbox.h, in the event's own
 *   transaction), and intents into bytes: letters in the reader's language, webhooks' bodies.
 *   Sending them is courier.h's; signing and URL rules of webhooks stand in webhook.h.
 *
 * Calling sequence
 *   notify_open()              after the store is open
 *   notify_on_events()         as the arbiter's on_events hook: writes intents
 *   courier_…()                (courier.h) hands intents to notify_compose() and sends the bytes
 *   notify_close()
 *
 * Which notices (defaults in brackets; a player switches each but the first two by channel)
 *   login, security            people/ puts these intents itself; cannot be switched off
 *   invitation     [on]        to who is invited; to the organiser, when one is declined or
 *                              expires, or a player leaves before the start
 *   placing        [on]        to each who has still to place his reserve
 *   start          [on]        to all, when a game begins
 *   turn           [on]        to the mover, once a turn, also when seats were passed over
 *   warning        [on]        to the mover at half time, 48 h and 12 h before the deadline; to the
 *                              organiser before the seat is lost
 *   draw           [on]        to the other seats: offered, accepted, declined, lapsed
 *   leaving        [on]        to the other players: a seat resigned or was forfeited; to the
 *                              partner of one whose address was suspended
 *   mate           [on]        to all: mated, released
 *   result         [on]        to all, with the reason
 *   organiser      [on]        to all four, and to the organiser unless he did it: aborted, paused,
 *                              resumed, credited; also time given for an absence of the server of
 *                              six hours or more
 *   webhook_disabled [on, mail only]  to its owner
 *   test                       a webhook's ping
 *   answer                     to a player's own letter, put by intake/ (see "Answers"); cannot be
 *                              switched off
 * One command of the arbiter causes at most one letter to a user: the one of the highest class he
 * wants (result, turn, start, placing, organiser, leaving, mate, draw, invitation, warning); it
 * tells all that happened.  Who plays two seats gets one letter.  Webhooks of kind `standard` get
 * each class; those that people read (slack, discord, ntfy, matrix) one notice, as by mail.  An
 * endpoint that several players of a game have registered gets each event once.
 *
 * Play by mail
 *   While options.reply_address is set, each letter about a game to an account can be answered:
 *   its Reply-To (and, for relays that strip tags, the last but one of its References) carries a
 *   token of 26 characters that is drawn when the letter is composed and stored as a hash in the
 *   command that stores the letter's bytes (struct notice, store/tokens.h).  What the token is for
 *   goes by the template: turn, start and warning → turn; draw → draw; placing → placing;
 *   invitation → invitation; the rest → info.  It is good until 30 days after the deadline and its
 *   grace, at least for 60 days.  Letters to an address without an account have none.
 *
 * Answers
 *   An intent of class answer has the templates
 *     answer        params.text as it is, and the board below it when params.board
 *     held_letter   a letter with a good token came from an address that is not the owner's: asks
 *                   him; its token's purpose is confirm, bound to the letter params.inbox
 *     confirm_letter he resigns, and is asked whether he means it; its token as held_letter's
 *     held_more     more such letters came in an hour than he is asked about
 *     held_dropped  a held move was not played, since the game changed; with "resign": true, a held
 *                   resignation did not take effect; with "replaced": true, its sender has made a
 *                   move by another door
 *     unreadable    "please send plain text"
 *     no_token      the letter came without its token
 *   params: {"text", "board", "in_reply_to", "references" (ids without brackets, parted by blanks),
 *   "purpose" (receipt, turn, account, confirm; of the token), "inbox" (id of the letter),
 *   "subject" (of the letter that is answered), "from" (held_letter: who wrote), "move" (in
 *   coordinates; of an answer: one that is held, and the board is shown after it)}, all optional.
 *   The envelope sender is null, the letter is Auto-Submitted: auto-replied and names no list.
 *
 * State changes within a turn (another seat resigns): the mover gets a new turn letter with a new
 * token; the one before is superseded wherever it still waits.  A turn letter that is superseded
 * after it should have told something else too (a resignation, a mate) is replaced by a letter that
 * tells this.
 *
 * A suspended address: notices that its owner wants by mail go to his webhooks, whatever is
 * switched there; the organiser and the partner of each of his running games are told once, by
 * letter and by webhook, without the address; those of a game that begins later when it begins.
 *
 * When it is too late for a notice
 *   Before each sending notify_compose() looks again: a turn or warning whose turn has passed on,
 *   an invitation or an offer that is settled (with what was accepted of it, where people read),
 *   a placing that is done, are superseded.  Any other letter lists what happened up to the end of
 *   the command that caused it, however late it is sent; its board and moves are those of now.
 *
 * Message ids
 *   <GAME.SEQ.ROW@DOMAIN>: a function of the outbox row, so a repeat carries the same one.  Each
 *   letter of a game names the game's root <GAME.root@DOMAIN>, which no letter has.
 *
 * Ownership: strings in the options are borrowed and must outlive the notify.
 * Threads:   notify_on_events(): the writer's.  notify_compose() and all else: any; a struct notify
 *            is constant after notify_open().
 * Errors:    as store/store.h; composing an intent whose user, game or template is not there any
 *            more is ST_GONE.
 */
#ifndef FH_NOTIFY_NOTIFY_H
#define FH_NOTIFY_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/ports.h"
#include "base/status.h"
#include "base/utc.h"
#include "clock/zone.h"
#include "people/people.h"
#include "store/events.h"
#include "store/games.h"
#include "store/outbox.h"
#include "store/tokens.h"
#include "store/writer.h"
#include "words/words.h"

struct notify;

struct notify_options {
    struct store *store;
    struct writer *writer;
    const struct people *people;  /* mints the secrets of log-in letters */
    struct zone_cache *zones;
    struct entropy entropy;

    const char *site_name;        /* "Chess Club": in From and footers */
    const char *public_url;       /* "https://chess.example.org", no slash at the end */
    const char *mail_from;        /* address of all letters */
    const char *mail_envelope_from; /* NULL: mail_from */
    const char *mail_domain;      /* right side of message ids and list ids; NULL: mail_from's */
    /* CIDR networks ("10.1.2.0/24", "fd00::/8") that webhooks may reach although they are not
     * public; ST_INVALID for others.  They may also be reached by plain http. */
    const char *const *webhook_allow;
    size_t webhook_allow_count;

    /* Play by mail.  NULL and "" are the same. */
    const char *reply_address;    /* "play@example.org"; "": letters cannot be answered */
    const char *reply_delimiter;  /* "+" or "-"; "": the token is the whole local part */
    const char *bounce_address;   /* "bounce@example.org"; "": no VERP */
    const char *unsubscribe_address; /* "unsubscribe@example.org"; "": by link only */
};

/* Reads or makes the installation's key (through the writer). */
MUST_CHECK enum status notify_open(const struct notify_options *options,
                                   struct notify **ret_notify, struct err *err);
void notify_close(struct notify *notify); /* NULL is allowed */

/* The arbiter's on_events hook; arg is the struct notify.  All events of one command on one game,
 * in order, and the game and its seats as they are after them. */
MUST_CHECK enum status notify_on_events(struct store_txn *txn, const struct game_row *game,
                                        const struct seat_row *seats,
                                        const struct event_row *events, size_t n, utc_ms now,
                                        void *arg, struct err *err);

/* Somebody's mail address was suspended in this transaction (users_bounce() said so): what waits
 * for it goes by his webhooks, and organisers and partners of his running games are told.  arg is
 * the struct notify. */
MUST_CHECK enum status notify_on_suspended(struct store_txn *txn, int64_t user_id, utc_ms now,
                                           void *arg, struct err *err);
/* He can be reached: a letter came from him, or he used a link that was sent to him.  (That a mail
 * server took a letter for him is no sign of it.)  Does users_reached(); if the address was
 * suspended, letters that waited for it and those of turns (and placings) that are still his are
 * sent now. */
MUST_CHECK enum status notify_on_reached(struct store_txn *txn, int64_t user_id, utc_ms now,
                                         void *arg, struct err *err);
/* He has proved a new address, and users_set_address() has been done: the same letters go there. */
MUST_CHECK enum status notify_on_new_address(struct store_txn *txn, int64_t user_id, utc_ms now,
                                             void *arg, struct err *err);
/* A held move of his is not going to be played, or a held resignation will not take effect (the
 * arbiter's on_dropped hook): he is told.  is_replaced: since he has moved by another door. */
struct held_row;
MUST_CHECK enum status notify_on_dropped(struct store_txn *txn, const struct game_row *game,
                                         const struct held_row *held, bool is_replaced, utc_ms now,
                                         void *arg, struct err *err);
/* Send the letter of the present turn or placing again, with a new token ("resend"), also to who
 * has switched such letters off.  ST_NOT_FOUND when the game does not wait for this user, or he has
 * no address that takes mail. */
MUST_CHECK enum status notify_turn_again(struct store_txn *txn, const struct game_row *game,
                                         int64_t user_id, utc_ms now, void *arg, struct err *err);

/* ---------------------------------------------------------------- composing */

enum notice_fate {
    NOTICE_SEND,       /* bytes are in the letter */
    NOTICE_SUPERSEDED, /* too late, or not wanted any more */
    NOTICE_UNDELIVERABLE /* there is no address, or it is suspended: waits for another */
};

/* A composed notice.  notice_release() when done. */
struct notice {
    struct buf bytes;
    const char *content_type;      /* webhook; "" for mail: a constant */
    char envelope_from[ADDRESS_SIZE];
    char envelope_to[ADDRESS_SIZE];
    char message_id[MESSAGE_ID_SIZE];
    bool has_token;
    bool has_reply_token;          /* mail: … and whoever keeps the bytes puts this too */
    struct token_row reply_token;
    const char *why;               /* SUPERSEDED, UNDELIVERABLE: a constant sentence */
};
void notice_release(struct notice *notice);

/* Whether the intent still makes sense now; NOTICE_SEND, or why not (*ret_why, a constant). */
MUST_CHECK enum status notify_check(const struct notify *notify, struct store_conn *conn,
                                    const struct intent_row *intent, utc_ms now,
                                    enum notice_fate *ret_fate, const char **ret_why,
                                    struct err *err);

/*
 * The bytes of an intent whose letter holds no secret.  Reads only; outside any transaction.
 * On ST_OK *ret_fate says what to do, and *ret_notice is filled for NOTICE_SEND.
 */
MUST_CHECK enum status notify_compose(const struct notify *notify, struct store_conn *conn,
                                      const struct intent_row *intent, utc_ms now,
                                      enum notice_fate *ret_fate, struct notice *ret_notice,
                                      struct err *err);

/* Whether an intent's letter holds a secret that must be minted: then it is composed inside the
 * transaction that stores its bytes, by the second function. */
bool notify_needs_secret(const struct intent_row *intent);
MUST_CHECK enum status notify_compose_secret(const struct notify *notify, struct store_txn *txn,
                                             const struct intent_row *intent, utc_ms now,
                                             enum notice_fate *ret_fate,
                                             struct notice *ret_notice, struct err *err);

/* ---------------------------------------------------------------- unsubscribing (RFC 8058) */

enum { UNSUBSCRIBE_TOKEN_SIZE = 27 }; /* 26 characters of a-z2-7 and a NUL */

/* The token of a user's letters of one class: the same for ever, and opaque. */
void unsubscribe_token(const struct notify *notify, int64_t user_id, enum notice_class cls,
                       char ret[UNSUBSCRIBE_TOKEN_SIZE]);
/* What a token is for.  ST_GONE (REASON_LINK_EXPIRED) when it is not ours.  Changes nothing: the
 * caller then sets the preference, on POST only.  `notify` is a struct notify; it is void so that
 * http can be handed the function. */
MUST_CHECK enum status unsubscribe_read(void *notify, const char *token, int64_t *ret_user_id,
                                        enum notice_class *ret_class, struct err *err);

/* The token in a letter that invites an address without an account.  unsubscribe_read() gives
 * user 0 and class invitation for it; the second function then blocks further ones to that
 * address, on POST only. */
void unsubscribe_address_token(const struct notify *notify, const char *address_key,
                               char ret[UNSUBSCRIBE_TOKEN_SIZE]);
MUST_CHECK enum status unsubscribe_address_block(void *notify, struct store_txn *txn,
                                                 const char *token, utc_ms now, struct err *err);

/* ---------------------------------------------------------------- VERP (bounces) */

enum {
    NOTIFY_LOCAL_MAX = 64, /* octets of a local part, whatever stands in it */
    VERP_MAC_CHARS = 10
};

/*
 * The envelope sender of a notice: bounce+ID.MAC@example.org with ID the outbox row in base32 and
 * MAC ten characters under the installation's key `verp`; with a delimiter of "" a hyphen stands
 * for it.  "" when there is no bounce address.
 */
void verp_address(const struct notify *notify, int64_t outbox_id, char ret[ADDRESS_SIZE]);
/* Which row a local part ("bounce+ID.MAC", in any case of letters) speaks of.  ST_GONE
 * (REASON_LINK_EXPIRED): it is none of ours, or its MAC is wrong.  Whether the row was sent lately
 * is the caller's to ask.  `notify` is a struct notify. */
MUST_CHECK enum status verp_read(void *notify, const char *local_part, int64_t *ret_outbox_id,
                                 struct err *err);

#endif

/*
 * notify/club.h - arbiter/table.h's club with its letters: notices are written by the arbiter's
 * hook and sent by a courier that steps when the test says so.
 *
 * anna plays South and reads English in London, boris West, Russian, Chişinău; clara North,
 * Romanian, Bucharest; david East, English, New York; orga organises.
 */
#ifndef FH_TESTS_NOTIFY_CLUB_H
#define FH_TESTS_NOTIFY_CLUB_H

#include "arbiter/table.h"
#include "notify/courier.h"
#include "notify/notify.h"
#include "notify/webhook.h"
#include "store/prefs.h"
#include "store/webhooks.h"

struct club {
    struct table *t;
    struct zone_cache *zones;
    struct people people;
    struct notify *notify;
    struct courier *courier;
    char mail[80]; /* directory of letters */
    const char *allow[1];
    struct courier_options hooks; /* on_handed_over, its arg and webhook_resolve_ms alone */
};

struct club *club_open(void);
/* The same, and its letters can be answered: play@, bounce@ and unsubscribe@club.example. */
struct club *club_open_by_mail(const char *delimiter);
void club_close(struct club *c);
/* A courier that drops letters into c->mail, or sends to a sink's port. */
void club_courier(struct club *c, int smtp_port, const char *webhook_resolve);
/* Whom the couriers to come tell that a turn's letter got through. */
void club_hook(struct club *c,
               enum status (*on_handed_over)(struct store_txn *txn,
                                             const struct intent_row *intent, utc_ms now, void *arg,
                                             struct err *err),
               void *arg);
/* Send all that is due now; returns how many were settled. */
int club_send(struct club *c);

/* Change something in a transaction. */
void club_pref(struct club *c, int user, enum notice_class cls, enum notice_channel channel,
               enum pref pref);
int64_t club_webhook(struct club *c, int user, const char *url, enum webhook_kind kind,
                     const char *events);
struct webhook_row webhook_now(struct club *c, int64_t id);

/* Run a command of the writer, which must succeed. */
void club_run(struct club *c,
              enum status (*fn)(struct store_txn *, utc_ms, void *, struct err *), void *arg);
/* Number that a statement gives, over a connection of its own. */
int64_t club_count(struct club *c, const char *sql);
/* "class:user:template …" of intents with id > since, in order; users by their index. */
const char *intents_since(struct club *c, int64_t since, const char *channel, char *ret,
                          size_t size);
int64_t newest_intent(struct club *c);

/* The only file in the letters' directory whose name begins so; its bytes.  The caller frees. */
char *letter_file(struct club *c, const char *prefix, size_t *ret_n);
int letters_count(struct club *c);
char *letter_nth(struct club *c, int n); /* 0…; in no order.  The caller frees. */
void letters_clear(struct club *c);
/* The value of a header line, unfolded; "" when it is not there. */
const char *letter_header(const char *letter, const char *name, char *ret, size_t size);
/* The decoded text (or HTML) part of a letter.  The caller frees. */
char *letter_part(const char *letter, size_t n, const char *subtype);

#endif

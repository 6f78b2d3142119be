/* notify/courier_mail.c - see courier_own.h. */
#include "notify/courier_own.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"

enum { MAYBE_TRIES = 3 }; /* a 5yz without an enhanced code is final the third time */

/* A refusal by policy: nobody's address is to blame, and the next letter would fare the same. */
static void refused_by_policy(struct courier *c, const struct intent_row *intent,
                              const struct mail_result *r, struct marking *m)
{
    utc_ms now = courier_now(c), until;
    struct hold hold;
    char quoted[300];

    m->mark = MARK_RETRY;
    if (holds_refused(&c->holds, intent->cls, intent->envelope_to, now, &hold))
        log_event(
            LOG_LEVEL_WARNING,
            "mail_class_held class=%s domain=%s minutes=%" PRId64 " code=%d enhanced=%s reply=%s",
            notice_class_str(intent->cls), hold.domain[0] != '\0' ? hold.domain : "all",
            hold.ms / MS_MINUTE, r->code, r->enhanced, log_quote(r->text, quoted, sizeof quoted));
    until = holds_until(&c->holds, intent->cls, intent->envelope_to, now);
    m->retry_ms = until != UTC_NONE && until > now ? until - now : HOLD_FIRST_MS;
}

void mail_finish(struct courier *c, struct slot *s, const struct mail_result *r)
{
    const struct intent_row *intent = &s->intent;
    struct marking m = {.code = r->code};

    (void)str_copy(m.text, sizeof m.text, r->text);
    if (r->blame == MAIL_BLAME_POLICY) {
        char quoted[300];

        courier_count(c, &c->stats.mail_policy);
        log_event(LOG_LEVEL_WARNING, "mail_refused_by_policy code=%d enhanced=%s reply=%s", r->code,
                  r->enhanced, log_quote(r->text, quoted, sizeof quoted));
    }
    if (r->outcome == MAIL_REFUSED && r->blame == MAIL_BLAME_POLICY) {
        refused_by_policy(c, intent, r, &m);
        mark_slot(c, s, &m);
        return;
    }
    if (r->outcome == MAIL_SENT)
        holds_passed(&c->holds, intent->cls, intent->envelope_to);
    else
        holds_left(&c->holds, intent->cls, intent->envelope_to);
    if (r->outcome == MAIL_SENT) {
        m.mark = MARK_SENT;
    } else if (r->outcome == MAIL_LATER ||
               (r->blame == MAIL_BLAME_MAYBE && intent->attempts < MAYBE_TRIES)) {
        m.mark = MARK_RETRY;
        m.retry_ms = mail_retry_ms(intent->attempts, courier_random(c));
    } else {
        m.mark = MARK_FAILED;
        m.is_hard = r->blame == MAIL_BLAME_ADDRESS;
        m.is_soft = r->blame == MAIL_BLAME_MAYBE || r->blame == MAIL_BLAME_NONE;
        c->is_keeping_due = true;
    }
    mark_slot(c, s, &m);
}

/* "7k2m4xqz.14.9@club.example" → the name of its file. */
static void mail_drop(struct courier *c, struct slot *s)
{
    struct mail_result r = {.outcome = MAIL_SENT};
    struct err err = ERR_INIT;
    char name[200];

    (void)str_copy(name, sizeof name, s->intent.message_id);
    name[strcspn(name, "@")] = '\0';
    if (mail_directory_drop(c->options.mail_directory, name, s->intent.bytes, s->intent.bytes_len,
                            &err) != ST_OK) {
        r.outcome = MAIL_LATER;
        (void)str_copy(r.text, sizeof r.text, err.text);
    }
    mail_finish(c, s, &r);
}

static enum status mail_send(struct courier *c, struct slot *s, struct err *err)
{
    struct mail_envelope envelope = {s->intent.envelope_from, s->intent.envelope_to};
    enum status st = s->sending != NULL ? mail_sending_next(s->sending, &envelope, s->intent.bytes,
                                                            s->intent.bytes_len, err)
                                        : mail_sending_new(&c->smtp, &envelope, s->intent.bytes,
                                                           s->intent.bytes_len, &s->sending, err);

    if (st == ST_OK &&
        (curl_easy_setopt(mail_sending_handle(s->sending), CURLOPT_PRIVATE, s) != CURLE_OK ||
         curl_multi_add_handle(c->multi, mail_sending_handle(s->sending)) != CURLM_OK))
        st = err_set(err, ST_NOMEM, "a letter");
    if (st == ST_NOMEM) {
        mail_sending_free(s->sending);
        s->sending = NULL;
    }
    return st;
}

/* Whether the letter is to go now; else it has been marked and taken. */
static bool mail_is_due(struct courier *c, struct letter *letter)
{
    struct intent_row *intent = &letter->intent;
    utc_ms now = courier_now(c), until;
    enum notice_fate fate = NOTICE_SEND;
    const char *why = "";
    struct err err = ERR_INIT;
    enum status st = ST_OK;

    if (!letter->is_checked || now - c->queued_at > MS_SECOND)
        st = notify_check(c->options.notify, store_reader_conn(c->reader), intent, now, &fate, &why,
                          &err);
    if (st != ST_OK) {
        compose_give_up(c, intent, st, &err);
        return false;
    }
    if (fate != NOTICE_SEND) {
        compose_fate(c, intent, fate, why);
        return false;
    }
    until = holds_until(&c->holds, intent->cls, intent->envelope_to, now);
    if (until != UTC_NONE) {
        struct marking m = {.mark = MARK_RELEASED, .retry_ms = until - now};

        (void)str_copy(m.text, sizeof m.text, "letters of this class are held back");
        courier_count(c, &c->stats.mail_held);
        mark_put(c, intent, &m);
        return false;
    }
    return true;
}

/* Begin what is first in the queue, in a free slot. */
static void mail_begin(struct courier *c, struct letter *take_letter)
{
    struct slot *s = slot_free(c->mail, COURIER_MAIL);
    struct err err = ERR_INIT;
    enum status st;

    if (!mail_is_due(c, take_letter))
        return;
    s->is_used = true;
    s->began_at = courier_now(c);
    s->intent = take_letter->intent;
    take_letter->intent = INTENT_ROW_INIT;
    if (c->options.mail_directory != NULL) {
        mail_drop(c, s);
        return;
    }
    st = mail_send(c, s, &err);
    if (st != ST_OK) {
        holds_left(&c->holds, s->intent.cls, s->intent.envelope_to);
        compose_give_up(c, &s->intent, st, &err);
        slot_release(s);
    }
}

/* Those of the queue that are taken leave it; the order stays. */
static void queue_close_up(struct courier *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_queue; i++)
        if (c->queue[i].intent.id != 0)
            c->queue[n++] = c->queue[i];
    c->n_queue = n;
}

void queue_give_back(struct courier *c)
{
    for (size_t i = 0; i < c->n_queue; i++) {
        struct marking m = {.mark = MARK_RELEASED};

        mark_put(c, &c->queue[i].intent, &m);
    }
    c->n_queue = 0;
}

/* Compose the next ones that have no bytes yet. */
static size_t mail_compose_next(struct courier *c)
{
    struct intent_row *fresh[COMPOSED_AT_ONCE];
    size_t n = 0;

    for (size_t i = 0; i < c->n_queue && n < COMPOSED_AT_ONCE; i++)
        if (c->queue[i].intent.bytes == NULL) {
            fresh[n++] = &c->queue[i].intent;
            c->queue[i].is_checked = true;
        }
    if (n == 0)
        return 0;
    compose(c, fresh, n);
    queue_close_up(c);
    return n;
}

/* Have the writer keep what is marked and lease what is due, once that is worth a commit. */
static size_t mail_keep(struct courier *c, bool takes_new)
{
    size_t room, wanted = 0, done = keep_end(c);

    if (c->is_keeping_due) /* the next letter may hang on it */
        done += keep_now(c);
    if (c->is_keeping || c->rests > 0)
        return done;
    room = QUEUE_MAX - c->n_queue;
    if (takes_new && room >= QUEUE_MAX / 2 && courier_is_due(c, CHANNEL_MAIL))
        wanted = room;
    if (wanted > 0 || c->n_queue == 0 || c->is_hook_marked || c->n_marks >= MARKS_WORTH)
        keep_begin(c, wanted);
    return done + keep_end(c);
}

int mail_step(struct courier *c, bool takes_new)
{
    size_t done;

    done = mail_keep(c, takes_new);
    if (!takes_new)
        queue_give_back(c);
    done += mail_compose_next(c);
    for (size_t i = 0; i < c->n_queue && slot_free(c->mail, COURIER_MAIL) != NULL; i++)
        if (c->queue[i].intent.bytes != NULL) {
            mail_begin(c, &c->queue[i]);
            done++;
        }
    queue_close_up(c);
    return (int)done;
}

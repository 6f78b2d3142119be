#include "main/doors.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "intake/imap_watch.h"
#include "intake/intake.h"
#include "intake/lmtp_server.h"
#include "intake/maildir.h"
#include "main/figures.h"

/* A door's letters to the intake, under the name of its way. */
struct way {
    struct intake *intake;
    const char *address; /* mail_in.address: ours, but without a token */
    enum inbox_way way;
};

struct doors {
    struct way lmtp_way, maildir_way, imap_way;
    struct lmtp_server *lmtp;
    struct maildir *maildir;
    struct imap_watch *imap;
};

static int way_judge(void *arg, const char *recipient)
{
    const struct way *w = arg;

    switch (intake_recipient_check(w->intake, recipient)) {
    case INTAKE_FOREIGN:
        return 0;
    case INTAKE_PLAY:
        return str_case_eq(recipient, w->address) ? 1 : 2;
    default:
        return 2;
    }
}

static enum status way_take(void *arg, const struct door_letter *letter, door_done_fn *done,
                            void *done_arg, struct err *err)
{
    const struct way *w = arg;
    const struct intake_arrival arrival = {.way = w->way,
                                           .sender = letter->sender,
                                           .recipient = letter->recipient,
                                           .bytes = letter->bytes,
                                           .n = letter->size,
                                           .received_at = UTC_NONE};

    return intake_submit(w->intake, &arrival, done, done_arg, err);
}

static struct door door_of(struct way *way, struct engine *engine, enum inbox_way name)
{
    *way = (struct way){.intake = engine->intake,
                        .address = engine->settings->mail_in.address,
                        .way = name};
    return (struct door){.judge = way_judge, .take = way_take, .arg = way};
}

static enum status lmtp_begin(struct doors *d, struct engine *engine, const struct settings *s,
                              const int *fds, size_t n, struct err *err)
{
    const struct lmtp_server_options options = {
        .door = door_of(&d->lmtp_way, engine, INBOX_BY_LMTP),
        .listen_fds = fds,
        .n_listen = n,
        .name = strrchr(s->mail_in.address, '@') + 1,
        .letter_size = (size_t)s->mail_in.letter_size,
        .connections = (int)s->mail_in.connections,
        .clock = clock_os(), /* a peer's silence is real, also where a test moves the engine's */
    };

    return lmtp_server_start(&options, &d->lmtp, err);
}

static enum status maildir_begin(struct doors *d, struct engine *engine, const struct settings *s,
                                 struct err *err)
{
    const struct maildir_options options = {
        .door = door_of(&d->maildir_way, engine, INBOX_BY_MAILDIR),
        .path = s->mail_in.maildir,
        .letter_size = (size_t)s->mail_in.letter_size,
        .clock = clock_os(),
    };
    enum status st = maildir_open(&options, &d->maildir, err);

    return st == ST_OK ? maildir_start(d->maildir, err) : st;
}

static enum status imap_begin(struct doors *d, struct engine *engine, const struct settings *s,
                              struct err *err)
{
    const struct imap_watch_options options = {
        .door = door_of(&d->imap_way, engine, INBOX_BY_IMAP),
        .store = engine->store,
        .writer = engine->writer,
        .imap = {.host = s->mail_in.imap.host,
                 .port = (int)s->mail_in.imap.port,
                 .tls = s->mail_in.imap.tls == SETTINGS_TLS_STARTTLS   ? MAIL_TLS_STARTTLS
                        : s->mail_in.imap.tls == SETTINGS_TLS_IMPLICIT ? MAIL_TLS_IMPLICIT
                                                                       : MAIL_TLS_NONE,
                 .ca_file = s->mail_in.imap.ca_file[0] ? s->mail_in.imap.ca_file : NULL,
                 .user = s->mail_in.imap.user,
                 .password = s->mail_in.imap.password.value,
                 .mailbox = s->mail_in.imap.mailbox,
                 .letter_size = (size_t)s->mail_in.letter_size},
        .is_kept = s->mail_in.imap.keep,
    };

    return imap_watch_start(&options, &d->imap, err);
}

enum status doors_open(struct engine *engine, const struct settings *s, const int *lmtp_fds,
                       size_t n_lmtp, struct doors **ret, struct err *err)
{
    struct doors *d = calloc(1, sizeof *d);
    enum status st = d ? ST_OK : err_reason(err, REASON_NO_MEMORY, "out of memory");

    if (st == ST_OK && n_lmtp > 0 && !engine->intake)
        st = err_set(err, ST_INVALID,
                     "a socket for LMTP is handed over, but mail_in.address is not set");
    if (st == ST_OK && n_lmtp > 0) {
        st = lmtp_begin(d, engine, s, lmtp_fds, n_lmtp, err);
        n_lmtp = 0; /* the server has closed them if it failed */
    }
    if (st == ST_OK && engine->intake && s->mail_in.maildir[0])
        st = maildir_begin(d, engine, s, err);
    if (st == ST_OK && engine->intake && s->mail_in.imap.host[0])
        st = imap_begin(d, engine, s, err);
    if (st == ST_OK) {
        *ret = d;
        return ST_OK;
    }
    for (size_t i = 0; i < n_lmtp; i++)
        close(lmtp_fds[i]);
    doors_stop(d, 0);
    return st;
}

void doors_stop(struct doors *d, int64_t drain_ms)
{
    if (!d)
        return;
    lmtp_server_stop(d->lmtp, drain_ms);
    maildir_close(d->maildir);
    imap_watch_stop(d->imap);
    free(d);
}

void doors_print(struct doors *d, struct buf *out)
{
    if (d && d->lmtp) {
        struct lmtp_server_stats l = lmtp_server_stats(d->lmtp);
        figure_print(out, "lmtp_connections_total", "counter", "LMTP connections accepted.",
                     (double)l.connections);
        figure_print(out, "lmtp_connections_refused_total", "counter",
                     "LMTP connections over the limit.", (double)l.refused_connections);
        figure_print(out, "lmtp_connections", "gauge", "LMTP connections open now.", l.open);
        figure_print(out, "lmtp_taken_total", "counter", "Recipients whose letter was taken.",
                     (double)l.taken);
        figure_print(out, "lmtp_later_total", "counter",
                     "Recipients whose letter could not be kept then.", (double)l.later);
    }
    if (d && d->imap) {
        struct imap_watch_stats i = imap_watch_stats(d->imap);
        figure_print(out, "imap_connected", "gauge", "Whether the mailbox is connected.",
                     i.is_connected);
        figure_print(out, "imap_taken_total", "counter", "Letters taken from the mailbox.",
                     (double)i.taken);
        figure_print(out, "imap_passed_total", "counter", "Letters in it that were passed over.",
                     (double)i.passed);
        figure_print(out, "imap_failures_total", "counter", "Connections to it that failed.",
                     (double)i.failures);
    }
}

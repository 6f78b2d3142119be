#include "main/figures.h"

#include <inttypes.h>

#include "intake/intake.h"
#include "main/engine.h"
#include "notify/courier.h"
#include "store/games.h"
#include "store/inbox.h"
#include "store/outbox.h"
#include "store/timers.h"

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP fourhanded_%s %s\n# TYPE fourhanded_%s %s\n", name, help, name, type);
}

static void one(struct buf *out, const char *name, const char *type, const char *help,
                double value)
{
    head(out, name, type, help);
    buf_printf(out, "fourhanded_%s %.15g\n", name, value);
}

void figure_print(struct buf *out, const char *name, const char *type, const char *help,
                  double value)
{
    one(out, name, type, help, value);
}

static void writer_print(const struct engine *e, struct buf *out)
{
    struct writer_stats w = writer_stats(e->writer);

    one(out, "commits_total", "counter", "Transactions committed.", (double)w.commits);
    one(out, "commits_failed_total", "counter", "Transactions that could not be committed.",
        (double)w.commits_failed);
    one(out, "commit_seconds_total", "counter", "Time spent in transactions.",
        (double)w.commit_sum_ms / 1000);
    one(out, "commit_seconds_max", "gauge", "The longest transaction since the start.",
        (double)w.commit_max_ms / 1000);
    one(out, "commands_total", "counter", "Changes asked for and done, whatever came of them.",
        (double)w.commands);
    one(out, "commands_failed_total", "counter", "Changes that were refused.",
        (double)w.commands_failed);
    one(out, "commands_turned_away_total", "counter", "Changes not taken since the queue was full.",
        (double)w.refused);
    one(out, "commands_waiting", "gauge", "Changes waiting for the writer.", (double)w.waiting);
    one(out, "wal_bytes", "gauge", "Size of the write-ahead log.",
        (double)store_wal_bytes(e->store));
}

static void courier_print(struct courier *courier, struct buf *out)
{
    struct courier_stats c = courier_stats(courier);

    head(out, "notices_total", "counter", "Letters and webhooks by what became of them.");
    buf_printf(out,
               "fourhanded_notices_total{channel=\"mail\",result=\"sent\"} %" PRIu64 "\n"
               "fourhanded_notices_total{channel=\"mail\",result=\"retried\"} %" PRIu64 "\n"
               "fourhanded_notices_total{channel=\"mail\",result=\"failed\"} %" PRIu64 "\n"
               "fourhanded_notices_total{channel=\"mail\",result=\"superseded\"} %" PRIu64 "\n"
               "fourhanded_notices_total{channel=\"webhook\",result=\"sent\"} %" PRIu64 "\n"
               "fourhanded_notices_total{channel=\"webhook\",result=\"retried\"} %" PRIu64 "\n"
               "fourhanded_notices_total{channel=\"webhook\",result=\"failed\"} %" PRIu64 "\n"
               "fourhanded_notices_total{channel=\"webhook\",result=\"superseded\"} %" PRIu64 "\n",
               c.mail_sent, c.mail_retried, c.mail_failed, c.mail_superseded, c.webhook_sent,
               c.webhook_retried, c.webhook_failed, c.webhook_superseded);
    one(out, "mail_policy_total", "counter",
        "Letters refused for policy (5.7.x): the set-up wants a look.", (double)c.mail_policy);
    one(out, "mail_held_total", "counter", "Letters put off because their class is held back.",
        (double)c.mail_held);
    one(out, "mail_holds", "gauge", "Classes of letters held back now, since they are refused.",
        c.holds);
    one(out, "notices_under_way", "gauge", "Letters and webhooks being sent now.", c.under_way);
}

static void intake_print(struct intake *intake, struct buf *out)
{
    struct intake_stats i = intake_stats(intake);

    one(out, "mail_accepted_total", "counter", "Letters taken in.", (double)i.accepted);
    head(out, "mail_in_total", "counter", "Letters taken in, by what became of them.");
    for (int v = INBOX_VERDICT_NONE + 1; v < INBOX_VERDICT_COUNT_; v++)
        buf_printf(out, "fourhanded_mail_in_total{verdict=\"%s\"} %" PRIu64 "\n",
                   inbox_verdict_str((enum inbox_verdict)v), i.verdicts[v]);
    one(out, "mail_answers_total", "counter", "Letters answered.", (double)i.answers);
    one(out, "mail_read_cpu_seconds_max", "gauge",
        "Most processor time that reading one letter took.", (double)i.read_cpu_max_ms / 1000);
}

static void inbox_print(struct store_conn *conn, utc_ms now, struct buf *out)
{
    struct inbox_depth depth;

    if (inbox_depth(conn, &depth, NULL) != ST_OK)
        return;
    one(out, "inbox_waiting", "gauge", "Letters not settled yet.", (double)depth.waiting);
    one(out, "inbox_lag_seconds", "gauge", "How long the oldest of them waits.",
        depth.oldest_at != UTC_NONE && depth.oldest_at < now
            ? (double)(now - depth.oldest_at) / 1000
            : 0);
    one(out, "inbox_quarantined", "gauge", "Letters put aside, for the operator to look at.",
        (double)depth.quarantined);
}

static void store_print(struct store_conn *conn, utc_ms now, struct buf *out)
{
    int64_t games[GAME_STATE_COUNT_];
    utc_ms next_at;

    if (games_tally(conn, games, NULL) == ST_OK) {
        head(out, "games", "gauge", "Games by state.");
        for (int i = 0; i < GAME_STATE_COUNT_; i++)
            buf_printf(out, "fourhanded_games{state=\"%s\"} %" PRId64 "\n",
                       game_state_str((enum game_state)i), games[i]);
    }
    head(out, "outbox_waiting", "gauge", "Letters and webhooks not settled yet.");
    for (int i = 0; i < NOTICE_CHANNEL_COUNT_; i++) {
        struct outbox_depth depth;
        if (outbox_depth(conn, (enum notice_channel)i, &depth, NULL) == ST_OK)
            buf_printf(out, "fourhanded_outbox_waiting{channel=\"%s\"} %" PRId64 "\n",
                       notice_channel_str((enum notice_channel)i), depth.waiting);
    }
    if (timers_next(conn, &next_at, NULL) == ST_OK)
        one(out, "deadline_lag_seconds", "gauge", "How long the earliest timer is overdue.",
            next_at != UTC_NONE && next_at < now ? (double)(now - next_at) / 1000 : 0);
}

void figures_print(struct engine *engine, struct courier *courier, struct buf *out)
{
    struct store_reader *reader = NULL;

    writer_print(engine, out);
    courier_print(courier, out);
    if (engine->intake)
        intake_print(engine->intake, out);
    if (store_reader_take(engine->store, &reader, NULL) == ST_OK) {
        store_print(store_reader_conn(reader), clock_guard_now(&engine->guard), out);
        if (engine->intake)
            inbox_print(store_reader_conn(reader), clock_guard_now(&engine->guard), out);
    }
    store_reader_give(reader);
}

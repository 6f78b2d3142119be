#include "main/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/str.h"
#include "http/http.h"
#include "intake/intake.h"
#include "main/cmd_config.h"
#include "main/control.h"
#include "main/doors.h"
#include "main/engine.h"
#include "main/figures.h"
#include "main/fourhanded.h"
#include "main/listen.h"
#include "main/ticker.h"
#include "mail/message.h"
#include "mail/transport.h"
#include "notify/courier.h"
#include "notify/webhook.h"
#include "people/passwords.h"

enum { EXIT_AT_ONCE = 1 };

/* ------------------------------------------------------------------------------- signals */

static volatile sig_atomic_t signal_count;
static int signal_pipe[2] = {-1, -1};

static void on_signal(int number)
{
    int saved = errno;

    (void)number;
    if (signal_count++ > 0)
        _exit(EXIT_AT_ONCE);
    (void)!write(signal_pipe[1], "", 1);
    errno = saved;
}

/* Signals reach the main thread alone: threads started while they are blocked keep them so. */
static void signals_block(sigset_t *ret_before)
{
    sigset_t all;

    sigemptyset(&all);
    sigaddset(&all, SIGTERM);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGHUP);
    (void)pthread_sigmask(SIG_BLOCK, &all, ret_before);
}

static enum status signals_set(struct err *err)
{
    struct sigaction stop = {.sa_handler = on_signal}, ignore = {.sa_handler = SIG_IGN};

    if (pipe(signal_pipe) != 0)
        return err_set(err, ST_IO, "no pipe for signals: %s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        (void)fcntl(signal_pipe[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(signal_pipe[i], F_SETFL, O_NONBLOCK);
    }
    sigemptyset(&stop.sa_mask);
    sigemptyset(&ignore.sa_mask);
    (void)sigaction(SIGTERM, &stop, NULL);
    (void)sigaction(SIGINT, &stop, NULL);
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGHUP, &ignore, NULL); /* the log goes to standard error: nothing to reopen */
    return ST_OK;
}

/* ------------------------------------------------------------------------------- the parts */

struct serving {
    struct engine engine;
    pthread_mutex_t hook_lock; /* over the next two, which the hook reads on the writer's thread */
    struct http *http;
    struct ticker *ticker;
    struct courier *courier;
    struct passwords *passwords;
    struct control *control;
    bool is_writing, is_sending; /* the writer's thread was started, the courier's */
    struct doors *doors;
    int http_fds[LISTEN_MAX], lmtp_fds[LISTEN_MAX];
    size_t http_count, lmtp_count;
    int metrics_fd;
    char where[LISTEN_WHERE_SIZE], metrics_where[LISTEN_WHERE_SIZE], lmtp_where[LISTEN_WHERE_SIZE];
    atomic_uint watchdog_asked, watchdog_answered;
};

static void on_commit(void *arg, const struct writer_commit *commit)
{
    struct serving *s = arg;

    courier_on_commit(s->courier, commit);
    pthread_mutex_lock(&s->hook_lock);
    http_on_commit(s->http, commit);
    if (commit->timer_at != UTC_NONE)
        ticker_wake(s->ticker, commit->timer_at);
    pthread_mutex_unlock(&s->hook_lock);
}

/* Let the hook see these from now on; NULL: no more. */
static void hook_set(struct serving *s, struct http *http, struct ticker *ticker)
{
    pthread_mutex_lock(&s->hook_lock);
    s->http = http;
    s->ticker = ticker;
    pthread_mutex_unlock(&s->hook_lock);
}

static utc_ms log_now(void *arg)
{
    return clock_guard_now(arg);
}

/* The soft limit up to what the configuration needs, which the hard one allows:
 * config_load_to_serve() has looked. */
static enum status files_raise(const struct settings *settings, struct err *err)
{
    const rlim_t needed = (rlim_t)config_files(settings);
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        if (limit.rlim_cur >= needed)
            return ST_OK;
        limit.rlim_cur = needed;
        if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
            return ST_OK;
    }
    return err_set(err, ST_IO, "the limit of file descriptors cannot be raised: %s",
                   strerror(errno));
}

/* systemd's sockets where it hands some over, else our own. */
static enum status sockets_open(struct serving *s, const struct settings *settings,
                                struct err *err)
{
    size_t n = 0;
    int port;
    enum status st;

    st = listen_inherit("http", s->http_fds, LISTEN_MAX, &s->http_count, err);
    if (st == ST_OK && s->http_count == 0) {
        st = listen_open(settings->http.listen, &s->http_fds[0], err);
        s->http_count = st == ST_OK;
    }
    if (st == ST_OK)
        st = listen_inherit("metrics", &s->metrics_fd, 1, &n, err);
    if (st == ST_OK && n == 0) {
        s->metrics_fd = -1;
        if (settings->http.metrics_listen[0])
            st = listen_open(settings->http.metrics_listen, &s->metrics_fd, err);
    }
    if (st == ST_OK)
        st = listen_inherit("lmtp", s->lmtp_fds, LISTEN_MAX, &s->lmtp_count, err);
    if (st == ST_OK && s->lmtp_count == 0 && settings->mail_in.lmtp_listen[0]) {
        st = listen_open(settings->mail_in.lmtp_listen, &s->lmtp_fds[0], err);
        s->lmtp_count = st == ST_OK;
    }
    if (st != ST_OK)
        return st;
    listen_describe(s->http_fds[0], s->where, &port);
    if (port > 0)
        engine_port_set(&s->engine, port);
    if (s->metrics_fd >= 0)
        listen_describe(s->metrics_fd, s->metrics_where, &port);
    if (s->lmtp_count > 0)
        listen_describe(s->lmtp_fds[0], s->lmtp_where, &port);
    return ST_OK;
}

static void metrics_more(void *arg, struct buf *out)
{
    struct serving *s = arg;

    figures_print(&s->engine, s->courier, out);
    doors_print(s->doors, out);
}

static enum status http_begin(struct serving *s, const struct settings *settings, struct err *err)
{
    struct http_options o = HTTP_OPTIONS_INIT;
    struct http *http = NULL;
    enum status st;

    o.listen_fds = s->http_fds;
    o.n_listen = s->http_count;
    o.metrics_fd = s->metrics_fd;
    o.store = s->engine.store;
    o.writer = s->engine.writer;
    o.arbiter = &s->engine.arbiter;
    o.people = &s->engine.people;
    o.passwords = s->passwords;
    o.notices = (struct http_notices){.arg = s->engine.notify,
                                      .unsubscribe_read = unsubscribe_read,
                                      .address_block = unsubscribe_address_block,
                                      .webhook_check = webhook_check,
                                      .webhook_secret_print = webhook_secret_print};
    o.clock = s->engine.clock;
    o.entropy = people_entropy();
    o.digest = people_digest();
    o.public_url = s->engine.public_url;
    o.site_name = settings->site_name;
    o.language = settings->language;
    o.web_directory = settings->web_directory;
    o.trusted_proxies = (const char *const *)settings->http.trusted_proxies.items;
    o.n_trusted_proxies = settings->http.trusted_proxies.count;
    o.threads = (int)settings->http.threads;
    o.connections = (int)settings->http.connections;
    o.connections_per_address = (int)settings->http.connections_per_address;
    o.body_size = (size_t)settings->http.body_size;
    o.request_ms = settings->http.request_ms;
    o.idle_ms = settings->http.idle_ms;
    o.streams_per_account = (int)settings->http.streams_per_account;
    o.rate_requests = settings->http.rate_requests;
    o.rate_logins = settings->http.rate_logins;
    o.webhooks_per_user = settings->webhooks.enabled ? (int)settings->limits.webhooks : 0;
    o.metrics = metrics_more;
    o.metrics_arg = s;
    s->http_count = 0; /* http has the sockets now, whatever becomes of it */
    s->metrics_fd = -1;
    st = http_start(&o, &http, err);
    if (st == ST_OK) {
        hook_set(s, http, s->ticker);
        http_look_again(http);
    }
    return st;
}

/* T17: whoever was told late of his turn gets the time. */
static enum status on_handed_over(struct store_txn *txn, const struct intent_row *intent,
                                  utc_ms now, void *arg, struct err *err)
{
    const struct engine *engine = arg;

    return arbiter_handed_over(&engine->arbiter, txn, now, intent->game_id, intent->user_id,
                               intent->state_no, now, NULL, err);
}

static enum status courier_begin(struct serving *s, const struct settings *settings,
                                 const struct main_seams *seams, struct err *err)
{
    const struct mail_smtp smtp = {
        .host = settings->mail.host,
        .port = (int)settings->mail.port,
        .tls = settings->mail.tls == SETTINGS_TLS_STARTTLS   ? MAIL_TLS_STARTTLS
               : settings->mail.tls == SETTINGS_TLS_IMPLICIT ? MAIL_TLS_IMPLICIT
                                                             : MAIL_TLS_NONE,
        .helo = settings->mail.hello[0] ? settings->mail.hello
                                        : strrchr(settings->mail.from_address, '@') + 1,
        .user = settings->mail.user[0] ? settings->mail.user : NULL,
        .password = settings->mail.password.value[0] ? settings->mail.password.value : NULL,
        .ca_file = settings->mail.ca_file[0] ? settings->mail.ca_file : NULL,
        .total_timeout_ms = (long)settings->mail.timeout_ms,
    };
    const bool is_smtp = settings->mail.transport == SETTINGS_TRANSPORT_SMTP;
    const struct courier_options options = {
        .notify = s->engine.notify,
        .store = s->engine.store,
        .writer = s->engine.writer,
        .time = clock_guard_source(&s->engine.guard),
        .entropy = seams && seams->jitter.fill ? seams->jitter : people_entropy(),
        .smtp = is_smtp ? &smtp : NULL,
        .mail_directory = is_smtp ? NULL : settings->mail.directory,
        .webhook_ca_file = settings->webhooks.ca_file[0] ? settings->webhooks.ca_file : NULL,
        .webhook_timeout_ms = settings->webhooks.timeout_ms,
        .on_handed_over = on_handed_over,
        .on_handed_over_arg = &s->engine,
    };

    if (!is_smtp && mkdir(settings->mail.directory, 0700) != 0 && errno != EEXIST)
        return err_set(err, ST_IO, "the folder for letters %s: %s", settings->mail.directory,
                       strerror(errno));
    return courier_new(&options, &s->courier, err);
}

static enum status doors_begin(struct serving *s, const struct settings *settings, struct err *err)
{
    size_t n = s->lmtp_count;

    s->lmtp_count = 0; /* the doors have the sockets now, whatever becomes of it */
    return doors_open(&s->engine, settings, s->lmtp_fds, n, &s->doors, err);
}

static enum status serving_begin(struct serving *s, struct cli *cli,
                                 const struct settings *settings, struct err *err)
{
    struct ticker *ticker = NULL;
    enum status st;
    int from;

    s->metrics_fd = -1;
    pthread_mutex_init(&s->hook_lock, NULL);
    st = control_claim(settings->control_socket, &s->control, err);
    if (st == ST_OK)
        st = engine_open(&s->engine, settings, cli->seams, err);
    if (st != ST_OK)
        return st;
    log_init((enum log_level)settings->log_level, log_now, &s->engine.guard);
    if ((from = store_migrated_from(s->engine.store)) > 0)
        log_event(LOG_LEVEL_INFO, "upgraded from=%d to=%d copy=\"%s.before-%04d\"", from,
                  store_schema_version(), settings->database, from + 1);
    st = sockets_open(s, settings, err);
    if (st == ST_OK && !(s->passwords = passwords_new(PASSWORDS_COST)))
        st = err_reason(err, REASON_NO_MEMORY, "no memory or thread to check passwords");
    if (st == ST_OK)
        st = courier_begin(s, settings, cli->seams, err);
    if (st == ST_OK)
        st = writer_hook(s->engine.writer, on_commit, s, err);
    if (st == ST_OK)
        st = ticker_first(&s->engine, err);
    if (st == ST_OK)
        st = writer_start(s->engine.writer, err);
    if (st != ST_OK)
        return st;
    s->is_writing = true;
    st = courier_start(s->courier, err);
    s->is_sending = st == ST_OK;
    if (st == ST_OK && s->engine.intake)
        st = intake_start(s->engine.intake, err);
    if (st == ST_OK) {
        s->engine.courier = s->courier;
        st = ticker_start(&s->engine, &ticker, err);
    }
    if (st != ST_OK)
        return st;
    hook_set(s, NULL, ticker);
    st = doors_begin(s, settings, err);
    if (st == ST_OK)
        st = http_begin(s, settings, err); /* last but one: it asks for the figures of all others */
    if (st == ST_OK)
        st = control_start(s->control, &s->engine, cli->seams ? cli->seams->verbs : NULL, err);
    return st;
}

/* In order, from whatever has begun. */
static void serving_end(struct serving *s, const struct settings *settings)
{
    struct ticker *ticker = s->ticker;
    struct http *http = s->http;

    if (http)
        http_set_ready(http, false);
    hook_set(s, NULL, NULL);
    control_stop(s->control);
    ticker_stop(ticker);
    http_stop(http, settings->http.shutdown_ms);
    doors_stop(s->doors, settings->http.shutdown_ms);
    passwords_free(s->passwords);
    intake_stop(s->engine.intake);
    if (s->is_sending)
        courier_stop(s->courier, settings->http.shutdown_ms);
    if (s->is_writing)
        writer_stop(s->engine.writer);
    for (size_t i = 0; i < s->http_count; i++)
        close(s->http_fds[i]);
    for (size_t i = 0; i < s->lmtp_count; i++)
        close(s->lmtp_fds[i]);
    if (s->metrics_fd >= 0)
        close(s->metrics_fd);
    courier_free(s->courier);
    if (s->is_writing)
        log_event(LOG_LEVEL_INFO, "stopped");
    log_init((enum log_level)settings->log_level, /* now= */ NULL, NULL); /* the guard ends here */
    engine_close(&s->engine);
    pthread_mutex_destroy(&s->hook_lock);
}

/* ------------------------------------------------------------------------------- running */

static enum status watchdog_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    (void)txn;
    (void)now;
    (void)arg;
    (void)err;
    return ST_OK;
}

static void watchdog_done(void *arg, enum status st, const struct err *err)
{
    struct serving *s = arg;

    (void)err;
    if (st == ST_OK)
        atomic_store(&s->watchdog_answered, atomic_load(&s->watchdog_asked));
}

/* Wait for the signal; pat systemd's watchdog only while the writer answers. */
static void serving_wait(struct serving *s)
{
    uint64_t usec = 0;
    bool is_watched = sd_watchdog_enabled(/* unset_environment= */ 0, &usec) > 0;
    int every_ms = is_watched ? (int)(usec / 1000 / 3) : -1;

    if (is_watched && every_ms < 100)
        every_ms = 100;
    for (;;) {
        struct pollfd wait = {.fd = signal_pipe[0], .events = POLLIN};
        int rc = poll(&wait, 1, every_ms);
        if (rc > 0 || signal_count)
            return;
        if (rc < 0 && errno != EINTR)
            return;
        if (!is_watched)
            continue;
        if (atomic_load(&s->watchdog_answered) == atomic_load(&s->watchdog_asked)) {
            struct writer_command ask = {
                .name = "watchdog", .run = watchdog_run, .done = watchdog_done, .arg = s};
            (void)sd_notify(0, "WATCHDOG=1");
            atomic_fetch_add(&s->watchdog_asked, 1);
            if (writer_submit(s->engine.writer, &ask, NULL) != ST_OK)
                atomic_fetch_sub(&s->watchdog_asked, 1); /* full, which is not stuck */
        }
    }
}

static void ready_tell(struct serving *s)
{
    const char *lmtp = str_starts(s->lmtp_where, "http://") ? s->lmtp_where + 7 : s->lmtp_where;

    printf("ready %s%s%s%s%s\n", s->where, s->metrics_where[0] ? " metrics " : "", s->metrics_where,
           *lmtp ? " lmtp " : "", lmtp);
    fflush(stdout);
    clearerr(stdout); /* it serves, whether anybody reads that or not */
    log_event(LOG_LEVEL_INFO, "ready version=%s where=%s url=%s", FH_VERSION, s->where,
              s->engine.public_url);
    (void)sd_notifyf(0, "READY=1\nSTATUS=serving %s", s->engine.public_url);
}

int cmd_serve(struct cli *cli)
{
    struct settings settings = SETTINGS_INIT;
    struct serving *s = calloc(1, sizeof *s);
    struct err err = ERR_INIT;
    sigset_t before;
    enum status st;
    int result = config_load_to_serve(cli, &settings);

    if (result == CLI_OK && !s)
        result = cli_fail(CLI_FAILED, "out of memory");
    if (result != CLI_OK)
        goto out;
    if (files_raise(&settings, &err) != ST_OK) {
        result = cli_fail(CLI_FAILED, "%s", err.text);
        goto out;
    }
    memory_tune();
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0) {
        result = cli_fail(CLI_FAILED, "libcurl does not start");
        goto out;
    }
    mail_library_init();
    st = signals_set(&err);
    signals_block(&before);
    if (st == ST_OK)
        st = serving_begin(s, cli, &settings, &err);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (st == ST_OK) {
        ready_tell(s);
        serving_wait(s);
        log_event(LOG_LEVEL_INFO, "stopping");
        (void)sd_notify(0, "STOPPING=1");
    } else {
        result = cli_fail(CLI_FAILED, "%s", err.text);
    }
    serving_end(s, &settings);
out:
    settings_release(&settings);
    free(s);
    return result;
}

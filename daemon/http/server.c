/*
 * http/server.c - the room's threads: start, stop, the ticker, and what a commit sets off.
 */
#include "http/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"
#include "http/flow.h"
#include "http/metrics_listener.h"
#include "http/stream.h"
#include "http/wire.h"
#include "store/store.h"

enum {
    MEMORY_PER_CONNECTION = 64 * 1024,
    DRAIN_LINKS_MS = 1000 /* for answers to be sent, at a stop */
};

static atomic_uint_fast64_t generations;

int64_t http_now_ms(const struct http *http)
{
    return http->options.clock.read(http->options.clock.arg).monotonic_ms;
}

utc_ms http_now(const struct http *http)
{
    return http->options.clock.read(http->options.clock.arg).wall_at;
}

/* ------------------------------------------------------------------------------ the ticker */

static void *ticker(void *arg)
{
    struct http *http = arg;
    int wait_ms = 0;

    thread_name("http-ticker");
    for (;;) {
        struct pollfd pfd = {.fd = http->wake_pipe[0], .events = POLLIN};
        char bytes[64];
        int64_t now_ms;
        int next;

        (void)poll(&pfd, 1, wait_ms);
        while (read(http->wake_pipe[0], bytes, sizeof bytes) > 0)
            ;
        if (atomic_load(&http->is_stopping) && !http->has_ticker)
            return NULL;
        now_ms = http_now_ms(http);
        wait_ms = hub_tick(http->hub, now_ms);
        next = links_cut_slow(http, now_ms);
        if (next < wait_ms)
            wait_ms = next;
        if (wait_ms < 5)
            wait_ms = 5;
    }
}

static void wake_ticker(struct http *http)
{
    ssize_t n = write(http->wake_pipe[1], "", 1);

    (void)n; /* a full pipe wakes it too */
}

void http_on_commit(void *arg, const struct writer_commit *commit)
{
    struct http *http = arg;

    if (!http)
        return;
    if (commit->credentials_changed)
        known_forget_all(http->known);
    if (commit->users_changed || commit->overflow)
        cache_all_changed(http->cache);
    if (commit->n == 0 && !commit->overflow)
        return;
    for (size_t i = 0; i < commit->n && !commit->overflow; i++)
        cache_game_changed(http->cache, commit->changes[i].game_id);
    hub_commit(http->hub, commit);
    wake_ticker(http);
}

void http_look_again(struct http *http)
{
    known_forget_all(http->known);
    cache_all_changed(http->cache);
}

/* ------------------------------------------------------------------------------ the library */

/* Leave the target as it was sent; request.c decodes it piece by piece. */
static size_t keep_escapes(void *arg, struct MHD_Connection *conn, char *text)
{
    (void)arg;
    (void)conn;
    return strlen(text);
}

static void on_mhd_log(void *arg, const char *fmt, va_list args) PRINTF_LIKE(2, 0);
static void on_mhd_log(void *arg, const char *fmt, va_list args)
{
    char text[256], quoted[600];
    va_list again;

    if (arg) {
        va_copy(again, args);
        wire_library_says(arg, fmt, again);
        va_end(again);
    }
    vsnprintf(text, sizeof text, fmt, args);
    log_event(LOG_LEVEL_DEBUG, "http_library text=%s", log_quote(text, quoted, sizeof quoted));
}

/* ------------------------------------------------------------------------------ start and stop */

static enum status check_options(const struct http_options *o, struct err *err)
{
    if (o->n_listen == 0 || o->n_listen > HTTP_LISTENERS_MAX)
        return err_set(err, ST_INVALID, "http: 1 to %d sockets to listen on", HTTP_LISTENERS_MAX);
    if (o->threads < 1 || o->threads > 64)
        return err_set(err, ST_INVALID, "http: threads must be from 1 to 64");
    if (o->connections < 1 || o->streams_per_account < 1 || o->body_size < 1024)
        return err_set(err, ST_INVALID, "http: connections, streams or body size too small");
    if (o->request_ms < 1 || o->idle_ms < 1 || o->heartbeat_ms < 1 || o->answer_ms < 1)
        return err_set(err, ST_INVALID, "http: a length of time is not positive");
    if (o->rate_requests < 1 || o->rate_logins < 1 || o->keys_a_day < 1)
        return err_set(err, ST_INVALID, "http: a rate is not positive");
    if (!o->public_url || (!str_starts(o->public_url, "http://") &&
                           !str_starts(o->public_url, "https://")))
        return err_set(err, ST_INVALID, "http: public_url must begin with http:// or https://");
    return ST_OK;
}

static enum status start_daemon(struct http *http, int fd, struct err *err)
{
    const struct http_options *o = &http->options;
    struct MHD_OptionItem threads[2] = {{MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}};
    struct MHD_Daemon *daemon;

    /* Not strict for clients: a missing Host or a blank in the target would get the library's own
     * answer, or none; here it gets one of ours. */
    if (o->threads > 1)
        threads[0] = (struct MHD_OptionItem){MHD_OPTION_THREAD_POOL_SIZE, o->threads, NULL};
    daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        flow_on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_mhd_log, http,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)(o->connections + HTTP_CONNECTIONS_OVER),
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(http->quiet_ms / 1000),
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_PER_CONNECTION,
        MHD_OPTION_NOTIFY_COMPLETED, flow_on_completed, http, MHD_OPTION_NOTIFY_CONNECTION,
        links_on_connection, http, MHD_OPTION_URI_LOG_CALLBACK, flow_on_target, http,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_STRICT_FOR_CLIENT, 0,
        MHD_OPTION_ARRAY, threads, MHD_OPTION_END);
    if (!daemon)
        return err_set(err, ST_IO, "http: the listener could not be started: %s",
                       strerror(errno));
    http->daemons[http->n_daemons++] = daemon;
    return ST_OK;
}

static enum status set_origin(struct http *http, struct err *err)
{
    const char *url = http->options.public_url;
    const char *host = strstr(url, "://") + 3;
    size_t n = (size_t)(host - url) + strcspn(host, "/");

    if (n >= sizeof http->origin)
        return err_set(err, ST_INVALID, "http: public_url is too long");
    memcpy(http->origin, url, n);
    http->origin[n] = '\0';
    http->is_https = str_starts(url, "https://");
    /* Browsers keep a __Host- cookie only with Secure, and Secure only over https. */
    http->cookie_name = http->is_https ? "__Host-fourhanded" : "fourhanded";
    return ST_OK;
}

enum status http_start(const struct http_options *options, struct http **ret, struct err *err)
{
    struct http *http = NULL;
    size_t taken = 0;
    enum status st = check_options(options, err);

    if (st != ST_OK)
        goto out;
    http = calloc(1, sizeof *http);
    if (!http) {
        st = err_reason(err, REASON_NO_MEMORY, "http: no memory");
        goto out;
    }
    http->wake_pipe[0] = http->wake_pipe[1] = -1;
    pthread_mutex_init(&http->lock, NULL);
    pthread_cond_init(&http->idle, NULL);
    http->options = *options;
    /* Not before a request that stopped half-way has been told that it was too slow. */
    http->quiet_ms = options->request_ms + CUT_LATE_MS;
    if (http->quiet_ms < options->idle_ms)
        http->quiet_ms = options->idle_ms;
    http->quiet_ms = (http->quiet_ms + 999) / 1000 * 1000;
    http->generation = atomic_fetch_add(&generations, 1) + 1;
    options->entropy.fill(options->entropy.arg, &http->salt, sizeof http->salt);
    options->entropy.fill(options->entropy.arg, http->tag_key, sizeof http->tag_key);
    st = set_origin(http, err);
    if (st != ST_OK)
        goto out;
    http->n_trusted = options->n_trusted_proxies;
    http->trusted = calloc(http->n_trusted + 1, sizeof *http->trusted);
    if (!http->trusted) {
        st = err_reason(err, REASON_NO_MEMORY, "http: no memory");
        goto out;
    }
    for (size_t i = 0; i < http->n_trusted; i++) {
        st = network_parse(options->trusted_proxies[i], &http->trusted[i], err);
        if (st != ST_OK) {
            err_prefix(err, "http: trusted_proxies");
            goto out;
        }
    }
    st = rate_new(
        (struct rate_policy[RATE_CLASSES]){
            [RATE_REQUESTS] = {"requests", options->rate_requests, MS_MINUTE},
            [RATE_LOGINS] = {"logins", options->rate_logins, MS_HOUR},
            [RATE_KEYS] = {"keys", options->keys_a_day, MS_DAY},
        },
        HTTP_BUCKETS, http->salt, &http->rate, err);
    if (st != ST_OK)
        goto out;
    st = files_load(options->web_directory, &options->digest, &http->files, err);
    if (st != ST_OK) {
        err_prefix(err, "http: web files");
        goto out;
    }
    st = cache_new(&http->cache, err);
    if (st == ST_OK)
        st = known_new(&options->entropy, &http->known, err);
    if (st == ST_OK)
        st = pictures_new(&http->pictures, err);
    if (st == ST_OK)
        st = hub_new(http, &http->hub, err);
    if (st != ST_OK)
        goto out;
    if (pipe(http->wake_pipe) != 0) {
        http->wake_pipe[0] = http->wake_pipe[1] = -1;
        st = err_set(err, ST_IO, "http: pipe: %s", strerror(errno));
        goto out;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(http->wake_pipe[i], F_SETFL, O_NONBLOCK);
        fcntl(http->wake_pipe[i], F_SETFD, FD_CLOEXEC);
    }
    atomic_store(&http->is_ready, true);
    http->has_ticker = true;
    if (pthread_create(&http->ticker, NULL, ticker, http) != 0) {
        http->has_ticker = false;
        st = err_set(err, ST_IO, "http: no thread to be had");
        goto out;
    }
    for (; taken < options->n_listen; taken++) {
        st = start_daemon(http, options->listen_fds[taken], err);
        if (st != ST_OK)
            goto out;
    }
    if (options->metrics_fd >= 0) {
        http->metrics_daemon = MHD_start_daemon(
            MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL, metrics_on_request,
            http, MHD_OPTION_EXTERNAL_LOGGER, on_mhd_log, NULL, MHD_OPTION_LISTEN_SOCKET,
            options->metrics_fd, MHD_OPTION_CONNECTION_LIMIT, 16u, MHD_OPTION_CONNECTION_TIMEOUT,
            10u, MHD_OPTION_END);
        if (!http->metrics_daemon) {
            st = err_set(err, ST_IO, "http: the metrics listener could not be started");
            goto out;
        }
    }
    *ret = http;
    http = NULL;
out:
    if (st != ST_OK) {
        for (size_t i = taken; i < options->n_listen; i++)
            close(options->listen_fds[i]);
        if (options->metrics_fd >= 0 && !(http && http->metrics_daemon))
            close(options->metrics_fd);
        http_stop(http, 0);
    }
    return st;
}

/* Poll for up to ms until nobody is being answered; exactness does not matter here. */
static void wait_for_requests(struct http *http, int64_t ms)
{
    for (int64_t waited = 0; waited < ms; waited += 20) {
        bool is_idle = true;

        pthread_mutex_lock(&http->lock);
        if (http->waiting > 0)
            is_idle = false;
        pthread_mutex_unlock(&http->lock);
        if (atomic_load(&http->metrics.streams) > 0)
            is_idle = false;
        if (is_idle)
            return;
        (void)poll(NULL, 0, 20);
    }
}

void http_stop(struct http *http, int64_t drain_ms)
{
    if (!http)
        return;
    atomic_store(&http->is_ready, false);
    atomic_store(&http->is_stopping, true);
    for (size_t i = 0; i < http->n_daemons; i++) {
        int fd = MHD_quiesce_daemon(http->daemons[i]);

        if (fd != MHD_INVALID_SOCKET)
            close(fd);
    }
    if (http->hub)
        hub_stop(http->hub);
    if (http->has_ticker)
        wake_ticker(http);
    wait_for_requests(http, drain_ms);
    /* What was handed to the writer comes back; MHD must still be there then. */
    pthread_mutex_lock(&http->lock);
    while (http->waiting > 0)
        pthread_cond_wait(&http->idle, &http->lock);
    pthread_mutex_unlock(&http->lock);
    /* libmicrohttpd 0.9.75 crashes when it has to refuse a request by itself while it is being
     * stopped: there must be none any more. */
    links_drain(http, DRAIN_LINKS_MS);
    for (size_t i = 0; i < http->n_daemons; i++)
        MHD_stop_daemon(http->daemons[i]);
    if (http->metrics_daemon)
        MHD_stop_daemon(http->metrics_daemon);
    if (http->has_ticker) {
        http->has_ticker = false;
        wake_ticker(http);
        pthread_join(http->ticker, NULL);
    }
    for (size_t i = 0; i < http->n_readers; i++)
        store_reader_close(http->readers[i]);
    hub_free(http->hub);
    cache_free(http->cache);
    known_free(http->known);
    pictures_free(http->pictures);
    for (int i = 0; i < 2; i++)
        if (http->wake_pipe[i] >= 0)
            close(http->wake_pipe[i]);
    files_free(http->files);
    rate_free(http->rate);
    free(http->trusted);
    free(http->service_json);
    pthread_cond_destroy(&http->idle);
    pthread_mutex_destroy(&http->lock);
    free(http);
}

void http_set_ready(struct http *http, bool is_ready)
{
    atomic_store(&http->is_ready, is_ready);
}

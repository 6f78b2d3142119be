/*
 * http/links.c - see links.h.
 */
#include "http/links.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "http/server.h"
#include "http/wire.h"

static int count_same_peers(const struct http *http, const struct address *peer)
{
    int n = 0;

    for (const struct link *l = http->links; l; l = l->next)
        n += address_is_same(&l->peer, peer);
    return n;
}

/* How long the next request line may take, from the end of the last request.  Longer than silence
 * lasts: who is cut off then has sent something. */
static int64_t patience_ms(const struct http *http)
{
    return http->quiet_ms + http->options.request_ms + CUT_LATE_MS;
}

void links_on_connection(void *arg, struct MHD_Connection *conn, void **context,
                         enum MHD_ConnectionNotificationCode code)
{
    struct http *http = arg;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *fd =
            MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
        const union MHD_ConnectionInfo *sa =
            MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
        struct link *link = calloc(1, sizeof *link);

        atomic_fetch_add(&http->metrics.connections_accepted, 1);
        if (!link)
            return; /* its requests get 503 */
        link->fd = fd ? fd->connect_fd : -1;
        link->peer = address_of(sa ? sa->client_addr : NULL);
        link->is_trusted = networks_have(http->trusted, http->n_trusted, &link->peer);
        link->cut_at_ms = http_now_ms(http) + patience_ms(http);
        link->is_awaited = true;
        link->thread = pthread_self();
        pthread_mutex_lock(&http->lock);
        link->is_over_limit =
            http->n_links >= http->options.connections ||
            (http->options.connections_per_address > 0 && !link->is_trusted &&
             count_same_peers(http, &link->peer) >= http->options.connections_per_address);
        link->next = http->links;
        if (link->next)
            link->next->prev = link;
        http->links = link;
        http->n_links++;
        pthread_mutex_unlock(&http->lock);
        atomic_fetch_add(&http->metrics.connections, 1);
        *context = link;
    } else {
        struct link *link = *context;

        if (!link)
            return;
        pthread_mutex_lock(&http->lock);
        if (link->prev)
            link->prev->next = link->next;
        else
            http->links = link->next;
        if (link->next)
            link->next->prev = link->prev;
        http->n_links--;
        pthread_mutex_unlock(&http->lock);
        atomic_fetch_sub(&http->metrics.connections, 1);
        free(link);
        *context = NULL;
    }
}

/* at_ms 0: never.  is_awaited: a request is, and may then be told that it was too slow; target is
 * its own as soon as there is one, and good until the next call. */
static void set_cut(struct http *http, struct link *link, int64_t at_ms, bool is_awaited,
                    const char *target)
{
    if (!link)
        return;
    pthread_mutex_lock(&http->lock);
    link->cut_at_ms = at_ms;
    link->is_awaited = is_awaited;
    link->target = target;
    pthread_mutex_unlock(&http->lock);
}

void link_await_rest(struct http *http, struct request *r)
{
    set_cut(http, r->link, r->began_ms + http->options.request_ms, true, problem_target(r));
    if (r->link)
        r->link->reading = r;
}

void link_await_handler(struct http *http, struct request *r)
{
    set_cut(http, r->link, 0, false, NULL);
    if (r->link)
        r->link->reading = NULL;
}

void link_await_reader(struct http *http, struct request *r, int64_t now_ms)
{
    if (r->link)
        r->link->reading = NULL;
    set_cut(http, r->link, r->is_stream ? 0 : now_ms + http->options.answer_ms, false, NULL);
}

void link_await_next(struct http *http, struct link *link)
{
    if (link)
        link->reading = NULL;
    set_cut(http, link, http_now_ms(http) + patience_ms(http), true, NULL);
}

/* With the lock held, so that no pool thread begins an answer meanwhile.  A connection without a
 * byte of a request does not come here: MHD ends those after idle_ms of silence. */
static void tell_too_slow(struct http *http, struct link *link)
{
    struct buf out = buf_make(4096);
    struct err why = ERR_INIT;

    (void)ERR_DETAIL(&why, REASON_TOO_SLOW, "refusal.too_slow",
                     "a request must come within {most} ms",
                     ERR_NUMBER("most", http->options.request_ms));
    wire_print_problem(&out, &why, 408, lang_of(http->options.language), link->target,
                       http_now(http));
    if (!buf_failed(&out)) {
        (void)send(link->fd, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        metrics_answer(&http->metrics, -1, 408, http->options.request_ms);
    }
    buf_release(&out);
}

/* Shut what is overdue; MHD then sees the end and cleans up.  Returns in how long to look again. */
int links_cut_slow(struct http *http, int64_t now_ms)
{
    int64_t next = 1000;

    pthread_mutex_lock(&http->lock);
    for (struct link *l = http->links; l; l = l->next) {
        if (l->cut_at_ms == 0)
            continue;
        if (l->cut_at_ms <= now_ms) {
            if (l->is_awaited)
                tell_too_slow(http, l);
            (void)shutdown(l->fd, SHUT_RDWR);
            l->cut_at_ms = 0;
            atomic_fetch_add(&http->metrics.connections_cut, 1);
        } else if (l->cut_at_ms - now_ms < next) {
            next = l->cut_at_ms - now_ms;
        }
    }
    pthread_mutex_unlock(&http->lock);
    return (int)next;
}

void links_drain(struct http *http, int64_t ms)
{
    bool is_left = true;

    pthread_mutex_lock(&http->lock);
    for (struct link *l = http->links; l; l = l->next)
        (void)shutdown(l->fd, SHUT_RD);
    pthread_mutex_unlock(&http->lock);
    for (int64_t waited = 0; is_left && waited < ms; waited += 5) {
        pthread_mutex_lock(&http->lock);
        is_left = http->n_links > 0;
        pthread_mutex_unlock(&http->lock);
        if (is_left)
            (void)poll(NULL, 0, 5);
    }
}

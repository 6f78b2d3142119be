#include "notify/receiver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_MAX = 256 * 1024 };

struct receiver {
    int listener, port, count;
    pthread_t thread;
    pthread_mutex_t lock;
    const char *answer;
    char *last;
    bool is_stopping;
};

static void serve_one(struct receiver *r, int fd)
{
    char *request = calloc(1, REQUEST_MAX);
    size_t n = 0, want = REQUEST_MAX;
    const char *answer;

    if (request == NULL)
        abort();
    while (n < want && n + 1 < REQUEST_MAX) {
        ssize_t got = read(fd, request + n, REQUEST_MAX - 1 - n);
        char *end, *length;

        if (got <= 0)
            break;
        n += (size_t)got;
        end = strstr(request, "\r\n\r\n");
        length = strstr(request, "Content-Length: ");
        if (end != NULL)
            want = (size_t)(end + 4 - request) + (length ? (size_t)atol(length + 16) : 0);
    }
    pthread_mutex_lock(&r->lock);
    if (n > 0) {
        free(r->last);
        r->last = request;
        r->count++;
    } else {
        free(request);
    }
    answer = r->answer;
    pthread_mutex_unlock(&r->lock);
    if (n > 0)
        (void)send(fd, answer, strlen(answer), MSG_NOSIGNAL);
    (void)shutdown(fd, SHUT_WR);
    close(fd);
}

static void *serve(void *arg)
{
    struct receiver *r = arg;

    for (;;) {
        int fd = accept(r->listener, NULL, NULL);
        bool stop;

        pthread_mutex_lock(&r->lock);
        stop = r->is_stopping;
        pthread_mutex_unlock(&r->lock);
        if (fd < 0 || stop) {
            if (fd >= 0)
                close(fd);
            return NULL;
        }
        serve_one(r, fd);
    }
}

struct receiver *receiver_start(const char *answer)
{
    struct receiver *r = calloc(1, sizeof *r);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;

    if (r == NULL)
        abort();
    r->answer = answer;
    r->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(r->listener, (struct sockaddr *)&at, size) != 0 || listen(r->listener, 64) != 0 ||
        getsockname(r->listener, (struct sockaddr *)&at, &size) != 0)
        abort();
    r->port = ntohs(at.sin_port);
    pthread_mutex_init(&r->lock, NULL);
    if (pthread_create(&r->thread, NULL, serve, r) != 0)
        abort();
    return r;
}

int receiver_port(const struct receiver *r)
{
    return r->port;
}

void receiver_set(struct receiver *r, const char *answer)
{
    pthread_mutex_lock(&r->lock);
    r->answer = answer;
    pthread_mutex_unlock(&r->lock);
}

int receiver_count(struct receiver *r)
{
    int n;

    pthread_mutex_lock(&r->lock);
    n = r->count;
    pthread_mutex_unlock(&r->lock);
    return n;
}

char *receiver_last(struct receiver *r)
{
    char *copy;

    pthread_mutex_lock(&r->lock);
    copy = r->last ? strdup(r->last) : NULL;
    pthread_mutex_unlock(&r->lock);
    return copy;
}

void receiver_stop(struct receiver *r)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((unsigned short)r->port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    pthread_mutex_lock(&r->lock);
    r->is_stopping = true;
    pthread_mutex_unlock(&r->lock);
    (void)connect(fd, (struct sockaddr *)&at, sizeof at);
    pthread_join(r->thread, NULL);
    close(fd);
    close(r->listener);
    pthread_mutex_destroy(&r->lock);
    free(r->last);
    free(r);
}

#include "mail/sink.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RECORD_MAX = 4 * 1024 * 1024 };

struct record {
    char *text;
    size_t n;
};

struct sink {
    int listener, port, current; /* current: socket of the session, -1 */
    pthread_t thread;
    pthread_mutex_t lock;
    struct sink_script script;
    struct record commands, message, raw;
    int messages;
    bool is_stopping;
};

static void record_add(struct record *r, const char *bytes, size_t n)
{
    if (r->text == NULL)
        r->text = calloc(1, RECORD_MAX);
    if (r->text == NULL || r->n + n + 1 > RECORD_MAX)
        abort();
    memcpy(r->text + r->n, bytes, n);
    r->n += n;
    r->text[r->n] = '\0';
}

/* False: the connection is to be closed. */
static bool answer(int fd, const char *line, const char *usual)
{
    const char *say = line ? line : usual;
    char text[1024];
    int n;

    if (say[0] == '\0')
        return false;
    n = snprintf(text, sizeof text, "%s\r\n", say);
    return send(fd, text, (size_t)n, MSG_NOSIGNAL) == n;
}

static bool line_read(FILE *in, char *ret, size_t size)
{
    return fgets(ret, (int)size, in) != NULL;
}

static bool message_read(struct sink *s, FILE *in)
{
    char line[8192];

    pthread_mutex_lock(&s->lock);
    s->message.n = s->raw.n = 0;
    pthread_mutex_unlock(&s->lock);
    while (line_read(in, line, sizeof line)) {
        if (strcmp(line, ".\r\n") == 0)
            return true;
        pthread_mutex_lock(&s->lock);
        record_add(&s->raw, line, strlen(line));
        record_add(&s->message, line + (line[0] == '.'), strlen(line) - (line[0] == '.'));
        pthread_mutex_unlock(&s->lock);
    }
    return false;
}

static void session(struct sink *s, int fd)
{
    FILE *in = fdopen(dup(fd), "r");
    struct sink_script script;
    char line[4096];
    bool go;

    pthread_mutex_lock(&s->lock);
    script = s->script;
    s->current = fd;
    pthread_mutex_unlock(&s->lock);
    go = in != NULL && answer(fd, script.greeting, "220 sink.test ESMTP");
    while (go && line_read(in, line, sizeof line)) {
        pthread_mutex_lock(&s->lock);
        record_add(&s->commands, line, strcspn(line, "\r\n"));
        record_add(&s->commands, "\n", 1);
        script = s->script; /* connections may be kept for the next letter */
        pthread_mutex_unlock(&s->lock);
        if (strncmp(line, "EHLO", 4) == 0) {
            go = answer(fd, script.ehlo, "250-sink.test\r\n250-SIZE 9000000\r\n250 8BITMIME");
        } else if (strncmp(line, "MAIL", 4) == 0) {
            go = answer(fd, script.mail, "250 2.1.0 fine");
        } else if (strncmp(line, "RCPT", 4) == 0) {
            go = answer(fd, script.rcpt, "250 2.1.5 fine");
        } else if (strncmp(line, "DATA", 4) == 0) {
            go = answer(fd, script.data, "354 go ahead");
            if (go && (script.data == NULL || script.data[0] == '3')) {
                go = message_read(s, in) && answer(fd, script.message, "250 2.0.0 taken");
                pthread_mutex_lock(&s->lock);
                s->messages += go && (script.message == NULL || script.message[0] == '2');
                pthread_mutex_unlock(&s->lock);
            }
        } else if (strncmp(line, "QUIT", 4) == 0) {
            (void)answer(fd, NULL, "221 bye");
            go = false;
        } else {
            go = answer(fd, NULL, "500 5.5.1 what?");
        }
    }
    if (in != NULL)
        fclose(in);
    pthread_mutex_lock(&s->lock);
    s->current = -1;
    close(fd);
    pthread_mutex_unlock(&s->lock);
}

static void *serve(void *arg)
{
    struct sink *s = arg;

    for (;;) {
        int fd = accept(s->listener, NULL, NULL);
        bool stop;

        pthread_mutex_lock(&s->lock);
        stop = s->is_stopping;
        pthread_mutex_unlock(&s->lock);
        if (fd >= 0 && !stop)
            session(s, fd);
        else if (fd >= 0)
            close(fd);
        pthread_mutex_lock(&s->lock);
        stop = s->is_stopping;
        pthread_mutex_unlock(&s->lock);
        if (stop || fd < 0)
            return NULL;
    }
}

struct sink *sink_start(const struct sink_script *script)
{
    struct sink *s = calloc(1, sizeof *s);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;

    if (s == NULL)
        abort();
    if (script != NULL)
        s->script = *script;
    s->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(s->listener, (struct sockaddr *)&at, size) != 0 || listen(s->listener, 16) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&at, &size) != 0)
        abort();
    s->port = ntohs(at.sin_port);
    s->current = -1;
    pthread_mutex_init(&s->lock, NULL);
    if (pthread_create(&s->thread, NULL, serve, s) != 0)
        abort();
    return s;
}

int sink_port(const struct sink *sink)
{
    return sink->port;
}

void sink_set(struct sink *sink, const struct sink_script *script)
{
    pthread_mutex_lock(&sink->lock);
    sink->script = *script;
    pthread_mutex_unlock(&sink->lock);
}

void sink_stop(struct sink *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((unsigned short)s->port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    pthread_mutex_lock(&s->lock);
    s->is_stopping = true;
    if (s->current >= 0)
        (void)shutdown(s->current, SHUT_RDWR);
    pthread_mutex_unlock(&s->lock);
    (void)connect(fd, (struct sockaddr *)&at, sizeof at); /* wake accept() */
    pthread_join(s->thread, NULL);
    close(fd);
    close(s->listener);
}

/* What has been written down by now; the lock orders it before our reading. */
static const char *record_text(const struct sink *sink, const struct record *record)
{
    struct sink *s = (struct sink *)(uintptr_t)sink;
    const char *text;

    pthread_mutex_lock(&s->lock);
    text = record->text ? record->text : "";
    pthread_mutex_unlock(&s->lock);
    return text;
}

const char *sink_commands(const struct sink *sink)
{
    return record_text(sink, &sink->commands);
}

const char *sink_message(const struct sink *sink)
{
    return record_text(sink, &sink->message);
}

const char *sink_raw(const struct sink *sink)
{
    return record_text(sink, &sink->raw);
}

int sink_messages(const struct sink *sink)
{
    return sink->messages;
}

void sink_free(struct sink *sink)
{
    if (sink == NULL)
        return;
    pthread_mutex_destroy(&sink->lock);
    free(sink->commands.text);
    free(sink->message.text);
    free(sink->raw.text);
    free(sink);
}

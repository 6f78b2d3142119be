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

enum { SESSIONS_MAX = 64 };

struct sink {
    int listener, port;
    pthread_t thread;
    pthread_mutex_t lock;
    struct sink_script script;
    struct record commands, message, raw, heads;
    int messages, sessions, at_once, at_once_max;
    struct {
        pthread_t thread;
        int fd; /* -1: it has ended */
    } session[SESSIONS_MAX];
    bool is_stopping;
};

struct served {
    struct sink *sink;
    int fd, index;
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

/* One message into records of its own: sessions may overlap. */
static bool message_read(FILE *in, struct record *message, struct record *raw)
{
    char line[8192];

    while (line_read(in, line, sizeof line)) {
        if (strcmp(line, ".\r\n") == 0)
            return true;
        record_add(raw, line, strlen(line));
        record_add(message, line + (line[0] == '.'), strlen(line) - (line[0] == '.'));
    }
    return false;
}

static void message_keep(struct sink *s, struct record *message, struct record *raw, bool taken)
{
    pthread_mutex_lock(&s->lock);
    if (taken) {
        const char *end = message->text ? strstr(message->text, "\r\n\r\n") : NULL;

        s->messages++;
        if (end != NULL)
            record_add(&s->heads, message->text, (size_t)(end - message->text) + 4);
    }
    s->message.n = s->raw.n = 0;
    if (message->text != NULL)
        record_add(&s->message, message->text, message->n);
    if (raw->text != NULL)
        record_add(&s->raw, raw->text, raw->n);
    pthread_mutex_unlock(&s->lock);
}

static bool message_take(struct sink *s, int fd, FILE *in, const struct sink_script *script)
{
    struct record message = {NULL, 0}, raw = {NULL, 0};
    bool go = message_read(in, &message, &raw);
    /* kept before it is answered: who hears the answer finds it */
    message_keep(s, &message, &raw, go && (script->message == NULL || script->message[0] == '2'));
    free(message.text);
    free(raw.text);
    return go && answer(fd, script->message, "250 2.0.0 taken");
}

static void session(struct sink *s, int fd)
{
    FILE *in = fdopen(dup(fd), "r");
    struct sink_script script;
    char line[4096];
    bool go;

    pthread_mutex_lock(&s->lock);
    script = s->script;
    s->sessions++;
    s->at_once++;
    s->at_once_max = s->at_once > s->at_once_max ? s->at_once : s->at_once_max;
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
            if (go && (script.data == NULL || script.data[0] == '3'))
                go = message_take(s, fd, in, &script);
        } else if (strncmp(line, "QUIT", 4) == 0) {
            (void)answer(fd, NULL, "221 bye");
            go = false;
        } else {
            go = answer(fd, NULL, "500 5.5.1 what?");
        }
    }
    if (in != NULL)
        fclose(in);
}

static void *session_run(void *arg)
{
    struct served served = *(struct served *)arg;
    struct sink *s = served.sink;

    free(arg);
    session(s, served.fd);
    pthread_mutex_lock(&s->lock);
    s->at_once--;
    s->session[served.index].fd = -1;
    close(served.fd);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* A thread of its own for each connection, joined when its place is needed or at the end. */
static void session_begin(struct sink *s, int fd, int *used)
{
    struct served *served = malloc(sizeof *served);
    int index = -1;

    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < *used && index < 0; i++)
        if (s->session[i].fd == -1)
            index = i;
    pthread_mutex_unlock(&s->lock);
    if (index >= 0)
        pthread_join(s->session[index].thread, NULL);
    else
        index = (*used)++;
    if (served == NULL || index >= SESSIONS_MAX)
        abort();
    *served = (struct served){s, fd, index};
    pthread_mutex_lock(&s->lock);
    s->session[index].fd = fd;
    pthread_mutex_unlock(&s->lock);
    if (pthread_create(&s->session[index].thread, NULL, session_run, served) != 0)
        abort();
}

static void *serve(void *arg)
{
    struct sink *s = arg;
    int used = 0;

    for (;;) {
        int fd = accept(s->listener, NULL, NULL);
        bool stop;

        pthread_mutex_lock(&s->lock);
        stop = s->is_stopping;
        pthread_mutex_unlock(&s->lock);
        if (fd >= 0 && !stop)
            session_begin(s, fd, &used);
        else if (fd >= 0)
            close(fd);
        if (stop || fd < 0)
            break;
    }
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < used; i++)
        if (s->session[i].fd >= 0)
            (void)shutdown(s->session[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&s->lock);
    for (int i = 0; i < used; i++)
        pthread_join(s->session[i].thread, NULL);
    return NULL;
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
    if (bind(s->listener, (struct sockaddr *)&at, size) != 0 || listen(s->listener, 64) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&at, &size) != 0)
        abort();
    s->port = ntohs(at.sin_port);
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

const char *sink_heads(const struct sink *sink)
{
    return record_text(sink, &sink->heads);
}

int sink_messages(const struct sink *sink)
{
    return sink->messages;
}

int sink_sessions(const struct sink *sink)
{
    return sink->sessions;
}

int sink_at_once(const struct sink *sink)
{
    return sink->at_once_max;
}

void sink_free(struct sink *sink)
{
    if (sink == NULL)
        return;
    pthread_mutex_destroy(&sink->lock);
    free(sink->commands.text);
    free(sink->message.text);
    free(sink->raw.text);
    free(sink->heads.text);
    free(sink);
}

#include "mail/imap_fake.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"

enum { LETTERS_MAX = 200, WORDS_MAX = 30 };

struct letter {
    char *bytes; /* NULL: gone */
    size_t n;
    bool is_seen, is_deleted;
    int fetched;
};

struct imap_fake {
    pthread_mutex_t mutex;
    pthread_cond_t answered;
    struct imap_fake_ways ways;
    uint32_t uidvalidity;
    struct letter letters[LETTERS_MAX]; /* by UID - 1 */
    uint32_t n;
    struct {
        char word[24];
        int n;
    } counts[WORDS_MAX];
    bool has_hung_up;
    uint32_t told; /* how many letters the connection knows of */
    int listen_fd, port, wake[2]; /* a byte: a letter came, 's': stop */
    bool is_stopping;
    pthread_t thread;
};

static void count(struct imap_fake *f, const char *word)
{
    size_t i = 0;

    pthread_mutex_lock(&f->mutex);
    while (i < WORDS_MAX - 1 && f->counts[i].word[0] && !str_eq(f->counts[i].word, word))
        i++;
    (void)str_copy(f->counts[i].word, sizeof f->counts[i].word, word);
    f->counts[i].n++;
    pthread_cond_broadcast(&f->answered);
    pthread_mutex_unlock(&f->mutex);
}

static int counted(struct imap_fake *f, const char *word)
{
    for (size_t i = 0; i < WORDS_MAX; i++)
        if (str_eq(f->counts[i].word, word))
            return f->counts[i].n;
    return 0;
}

static void put(int fd, const char *text)
{
    (void)send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void exists_tell(struct imap_fake *f, int fd)
{
    char text[40] = "";

    pthread_mutex_lock(&f->mutex);
    if (f->n != f->told)
        snprintf(text, sizeof text, "* %u EXISTS\r\n", f->n);
    f->told = f->n;
    pthread_mutex_unlock(&f->mutex);
    put(fd, text);
}

/* A line without its end; false at the end of the connection or of the fake. */
static bool line_read(struct imap_fake *f, int fd, char *line, size_t size, bool is_idle)
{
    size_t n = 0;

    for (;;) {
        struct pollfd waits[2] = {{.fd = fd, .events = POLLIN},
                                  {.fd = f->wake[0], .events = POLLIN}};
        char c;
        if (poll(waits, 2, -1) < 0)
            return false;
        if (waits[1].revents) {
            (void)!read(f->wake[0], &c, 1);
            if (c == 's')
                return false;
            if (is_idle)
                exists_tell(f, fd);
            continue;
        }
        if (recv(fd, &c, 1, 0) != 1)
            return false;
        if (c == '\n') {
            line[n > 0 && line[n - 1] == '\r' ? n - 1 : n] = '\0';
            return true;
        }
        if (n < size - 1)
            line[n++] = c;
    }
}

/* Whether uid is in a set such as "1,3:5,7:*"; "*" is the highest. */
static bool set_has(const char *set, uint32_t uid, uint32_t highest)
{
    while (*set && *set != ' ') {
        uint32_t from = *set == '*' ? highest : (uint32_t)strtoul(set, NULL, 10), to = from;
        set += strcspn(set, ":, ");
        if (*set == ':') {
            set++;
            to = *set == '*' ? highest : (uint32_t)strtoul(set, NULL, 10);
            set += strcspn(set, ", ");
        }
        if (to < from) {
            uint32_t swap = to;
            to = from;
            from = swap;
        }
        if (uid >= from && uid <= to)
            return true;
        set += *set == ',';
    }
    return false;
}

static uint32_t highest_uid(const struct imap_fake *f)
{
    uint32_t uid = f->n;

    while (uid > 0 && !f->letters[uid - 1].bytes)
        uid--;
    return uid;
}

static void search(struct imap_fake *f, int fd, const char *set)
{
    char text[16];

    put(fd, "* SEARCH");
    for (uint32_t uid = 1; uid <= f->n; uid++) {
        if (!f->letters[uid - 1].bytes || !set_has(set, uid, highest_uid(f)))
            continue;
        snprintf(text, sizeof text, " %u", uid);
        put(fd, text);
    }
    put(fd, "\r\n");
}

static void fetch(struct imap_fake *f, int fd, const char *set)
{
    const char *part = strstr(set, "BODY.PEEK[]<0.");
    char text[100];
    int number = 0;

    for (uint32_t uid = 1; uid <= f->n; uid++) {
        struct letter *l = &f->letters[uid - 1];
        size_t n;
        number += l->bytes != NULL;
        if (!l->bytes || !set_has(set, uid, highest_uid(f)))
            continue;
        if (!part) {
            snprintf(text, sizeof text, "* %d FETCH (UID %u RFC822.SIZE %zu)\r\n", number, uid,
                     l->n);
            put(fd, text);
            continue;
        }
        n = (size_t)strtoul(part + 14, NULL, 10);
        if (n > l->n)
            n = l->n;
        l->fetched++;
        snprintf(text, sizeof text, "* %d FETCH (UID %u BODY[]<0> {%zu}\r\n", number, uid, n);
        put(fd, text);
        (void)send(fd, l->bytes, n, MSG_NOSIGNAL);
        put(fd, ")\r\n");
    }
}

static void store(struct imap_fake *f, const char *set)
{
    for (uint32_t uid = 1; uid <= f->n; uid++) {
        struct letter *l = &f->letters[uid - 1];
        if (!l->bytes || !set_has(set, uid, highest_uid(f)))
            continue;
        l->is_seen |= strstr(set, "\\Seen") != NULL;
        l->is_deleted |= strstr(set, "\\Deleted") != NULL;
    }
}

static void expunge(struct imap_fake *f, const char *set)
{
    for (uint32_t uid = 1; uid <= f->n; uid++) {
        struct letter *l = &f->letters[uid - 1];
        if (!l->bytes || !l->is_deleted || (set && !set_has(set, uid, highest_uid(f))))
            continue;
        free(l->bytes);
        l->bytes = NULL;
    }
}

/* Do one command; false ends the connection. */
static bool command(struct imap_fake *f, int fd, const char *tag, const char *word,
                    const char *rest)
{
    struct imap_fake_ways ways;
    char text[300], line[100];
    bool is_fine = true;

    count(f, word);
    pthread_mutex_lock(&f->mutex);
    ways = f->ways;
    if (str_eq(word, ways.hangs_up_at) && !f->has_hung_up) {
        f->has_hung_up = true;
        pthread_mutex_unlock(&f->mutex);
        return false;
    }
    if (str_eq(word, "UID SEARCH"))
        search(f, fd, rest + strcspn(rest, "0123456789*"));
    else if (str_eq(word, "UID FETCH") && !str_eq(ways.silent_at, word))
        fetch(f, fd, rest);
    else if (str_eq(word, "UID STORE"))
        store(f, rest);
    else if (str_eq(word, "UID EXPUNGE"))
        expunge(f, rest);
    else if (str_eq(word, "EXPUNGE"))
        expunge(f, NULL);
    if (str_eq(word, "SELECT"))
        f->told = f->n;
    snprintf(text, sizeof text, "* %u EXISTS\r\n* OK [UIDVALIDITY %u] x\r\n* OK [UIDNEXT %u] x\r\n",
             f->n, f->uidvalidity, f->n + 1);
    pthread_mutex_unlock(&f->mutex);
    if (str_eq(word, ways.silent_at)) {
        while (line_read(f, fd, line, sizeof line, false))
            ;
        return false;
    }
    if (str_eq(word, ways.nonsense_at)) {
        put(fd, "* what {is this\r\n");
        for (int i = 0; ways.is_endless && i < 2000000; i++)
            if (send(fd, "* SEARCH 1 2 3 4 5 6 7 8 9 10 11 12 13 14\r\n", 43, MSG_NOSIGNAL) < 0)
                return false;
    }
    if (str_eq(word, "SELECT"))
        put(fd, text);
    if (str_eq(word, "CAPABILITY")) {
        snprintf(text, sizeof text, "* CAPABILITY IMAP4rev1%s%s\r\n",
                 ways.has_no_idle ? "" : " IDLE", ways.has_no_uidplus ? "" : " UIDPLUS");
        put(fd, text);
    }
    if (str_eq(word, "IDLE")) {
        put(fd, "+ idling\r\n");
        exists_tell(f, fd);
        if (!line_read(f, fd, line, sizeof line, true) || !str_eq(line, "DONE"))
            return false;
    }
    if (str_eq(word, "LOGIN"))
        is_fine = !ways.refuses_login && strstr(rest, "secret");
    snprintf(text, sizeof text, "%s %s done\r\n", tag, is_fine ? "OK" : "NO");
    put(fd, text);
    return !str_eq(word, "LOGOUT");
}

static void connection(struct imap_fake *f, int fd)
{
    char line[4000], tag[20], word[24];

    put(fd, "* OK ready\r\n");
    while (line_read(f, fd, line, sizeof line, false)) {
        char *at = line + strcspn(line, " ");
        size_t n;
        snprintf(tag, sizeof tag, "%.*s", (int)(at - line), line);
        at += *at == ' ';
        n = strcspn(at, " ");
        if (n == 3 && strncmp(at, "UID", 3) == 0)
            n = 4 + strcspn(at + 4, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, at);
        at += n + (at[n] == ' ');
        if (!command(f, fd, tag, word, at))
            break;
    }
}

static void *fake_main(void *arg)
{
    struct imap_fake *f = arg;

    for (;;) {
        struct pollfd waits[2] = {{.fd = f->listen_fd, .events = POLLIN},
                                  {.fd = f->wake[0], .events = POLLIN}};
        int fd;
        pthread_mutex_lock(&f->mutex);
        if (f->is_stopping) {
            pthread_mutex_unlock(&f->mutex);
            return NULL;
        }
        pthread_mutex_unlock(&f->mutex);
        if (poll(waits, 2, -1) < 0)
            continue;
        if (waits[1].revents) {
            char c;
            (void)!read(f->wake[0], &c, 1);
        }
        if (!waits[0].revents)
            continue;
        fd = accept(f->listen_fd, NULL, NULL);
        if (fd < 0)
            continue;
        connection(f, fd);
        close(fd);
    }
}

struct imap_fake *imap_fake_start(void)
{
    struct imap_fake *f = calloc(1, sizeof *f);
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!f || pipe(f->wake) != 0)
        abort();
    f->listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(f->listen_fd, (const struct sockaddr *)&at, sizeof at) != 0 ||
        listen(f->listen_fd, 10) != 0 ||
        getsockname(f->listen_fd, (struct sockaddr *)&at, &size) != 0)
        abort();
    f->port = ntohs(at.sin_port);
    f->uidvalidity = 7;
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->answered, NULL);
    if (pthread_create(&f->thread, NULL, fake_main, f) != 0)
        abort();
    return f;
}

int imap_fake_port(const struct imap_fake *f)
{
    return f->port;
}

void imap_fake_set(struct imap_fake *f, const struct imap_fake_ways *ways)
{
    pthread_mutex_lock(&f->mutex);
    f->ways = *ways;
    f->has_hung_up = false;
    pthread_mutex_unlock(&f->mutex);
}

void imap_fake_renumber(struct imap_fake *f, uint32_t uidvalidity)
{
    pthread_mutex_lock(&f->mutex);
    f->uidvalidity = uidvalidity;
    pthread_mutex_unlock(&f->mutex);
}

uint32_t imap_fake_put(struct imap_fake *f, const char *bytes, size_t n)
{
    uint32_t uid;

    pthread_mutex_lock(&f->mutex);
    if (f->n == LETTERS_MAX)
        abort();
    f->letters[f->n].bytes = str_ndup(bytes, n);
    f->letters[f->n].n = n;
    uid = ++f->n;
    pthread_mutex_unlock(&f->mutex);
    (void)!write(f->wake[1], "l", 1);
    return uid;
}

struct imap_fake_letter imap_fake_letter(struct imap_fake *f, uint32_t uid)
{
    struct imap_fake_letter ret;

    pthread_mutex_lock(&f->mutex);
    ret = (struct imap_fake_letter){.is_there = f->letters[uid - 1].bytes != NULL,
                                    .is_seen = f->letters[uid - 1].is_seen,
                                    .fetched = f->letters[uid - 1].fetched};
    pthread_mutex_unlock(&f->mutex);
    return ret;
}

void imap_fake_wait(struct imap_fake *f, const char *word, int n)
{
    pthread_mutex_lock(&f->mutex);
    while (counted(f, word) < n)
        pthread_cond_wait(&f->answered, &f->mutex);
    pthread_mutex_unlock(&f->mutex);
}

int imap_fake_count(struct imap_fake *f, const char *word)
{
    int n;

    pthread_mutex_lock(&f->mutex);
    n = counted(f, word);
    pthread_mutex_unlock(&f->mutex);
    return n;
}

void imap_fake_stop(struct imap_fake *f)
{
    pthread_mutex_lock(&f->mutex);
    f->is_stopping = true;
    pthread_mutex_unlock(&f->mutex);
    (void)!write(f->wake[1], "s", 1);
    pthread_join(f->thread, NULL);
    for (uint32_t i = 0; i < f->n; i++)
        free(f->letters[i].bytes);
    close(f->listen_fd);
    close(f->wake[0]);
    close(f->wake[1]);
    pthread_cond_destroy(&f->answered);
    pthread_mutex_destroy(&f->mutex);
    free(f);
}

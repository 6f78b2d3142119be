/*
 * bench/http/load - asks a server for games, or moves in them, as fast as it answers.
 *
 *   bench_load read|move|ws-read|ws-move --port P --ids FILE [--clients N] [--seconds S]
 *              [--tokens A,B,C,D] [--line FILE] [--seed N]
 *
 * Every client waits for the whole answer to one request before it makes the next; each request is
 * about a random game of FILE (one id a line).  One thread and epoll, so that the load takes as
 * little of the machine as it can and the same from every server.
 *
 *   read      GET /api/v1/games/ID; with --tokens by one of the four players, else by nobody known
 *   move      POST /api/v1/games/ID/moves: the next move of --line, by whose turn it is (--tokens
 *             in order of the seats), answering the state number of the answer before
 *   ws-read   socket.io over WebSocket: "sync" of a match of boardgame.io, the whole game
 *   ws-move   "update" with the next move of --line, SEAT:FROM:TO or SEAT:FROM:TO:MAN each, till
 *             the new state has come.  There is a socket for each game, for the server sends a
 *             state only to who has joined; --clients moves are under way
 *
 * No game has two moves under way.  An answer that is not the expected one is counted as an error
 * and its game is left alone from then on.  Prints one line of JSON:
 *   {"requests":N,"errors":N,"seconds":S,"rate":R,"median_us":U,"p99_us":U,"bytes":B}
 * bytes is the mean length of a body.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    GAMES_MAX = 1000000,
    LINE_MAX_PLIES = 1000,
    CLIENTS_MAX = 1024,
    SEATS = 4,
    BUFFER = 1 << 20,
    REQUEST_MAX = 2048,
    ID_SIZE = 24
};

struct game {
    char id[ID_SIZE];
    int64_t state_no; /* ours: state number; the peer's: _stateID */
    int ply;
    int seat;
    bool is_busy, is_out;
    struct conn *conn; /* ws-move: its socket */
};

struct conn {
    int fd;
    struct game *game; /* of the request under way; NULL: none */
    double began;
    char *buf;
    size_t len;
};

static struct {
    bool is_ws, is_move;
    int port, clients;
    double seconds;
    char tokens[SEATS][128];
    bool has_tokens;
    uint64_t seed;
} opt = {.clients = 64, .seconds = 5, .seed = 1};

static struct game *games;
static size_t n_games, n_line;
static char line[LINE_MAX_PLIES][16];
static int epoll_fd;

static float *took_us;
static size_t n_took, took_room;
static uint64_t n_errors, body_bytes;

static void die(const char *what)
{
    (void)fprintf(stderr, "bench_load: %s: %s\n", what, errno ? strerror(errno) : "");
    exit(1);
}

static double now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t draw(void)
{
    uint64_t z = (opt.seed += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* ---------------------------------------------------------------- bytes in and out */

static void send_all(struct conn *c, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = send(c->fd, bytes, n, MSG_NOSIGNAL);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            die("send"); /* requests are far smaller than a socket's buffer */
        bytes += done;
        n -= (size_t)done;
    }
}

/* False when nothing more is there now. */
static bool receive(struct conn *c)
{
    ssize_t n = recv(c->fd, c->buf + c->len, BUFFER - c->len - 1, 0);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        errno = n == 0 ? 0 : errno;
        die("the server closed a connection");
    }
    c->len += (size_t)n;
    c->buf[c->len] = '\0';
    return true;
}

static void drop(struct conn *c, size_t n)
{
    c->len -= n;
    memmove(c->buf, c->buf + n, c->len + 1);
}

static struct conn *conn_open(void)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons((uint16_t)opt.port)};
    struct conn *c = calloc(1, sizeof *c);
    int on = 1;

    if (!c || !(c->buf = malloc(BUFFER)))
        die("memory");
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&addr, sizeof addr) != 0)
        die("connect");
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return c;
}

static void conn_watch(struct conn *c)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};

    if (fcntl(c->fd, F_SETFL, O_NONBLOCK) != 0 ||
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &event) != 0)
        die("epoll");
}

/* The greatest number after a "key": in a text; -1 when there is none. */
static int64_t number_of(const char *text, const char *key)
{
    int64_t greatest = -1;

    for (const char *at = text; (at = strstr(at, key)) != NULL;) {
        int64_t n = strtoll(at += strlen(key), NULL, 10);

        if (n > greatest)
            greatest = n;
    }
    return greatest;
}

/* ---------------------------------------------------------------- HTTP */

static int seat_of(const char *body)
{
    static const char *const names[SEATS] = {"south", "west", "north", "east"};
    const char *turn = strstr(body, "\"turn\":{\"seat\":\"");

    for (int s = 0; turn && s < SEATS; s++)
        if (strncmp(turn + 16, names[s], strlen(names[s])) == 0)
            return s;
    return -1;
}

/* Is there a move of the line left, and whose is it?  (The peer's line says.) */
static bool ws_seat(struct game *g)
{
    if (g->state_no < 0 || g->ply < 0 || (size_t)g->ply >= n_line)
        return false;
    g->seat = line[g->ply][0] - '0';
    return g->seat >= 0 && g->seat < SEATS;
}

static void http_ask(struct conn *c, struct game *g, bool is_move)
{
    char text[REQUEST_MAX], body[128], auth[192] = "";
    int n, body_len = 0;

    if (opt.has_tokens)
        (void)snprintf(auth, sizeof auth, "Authorization: Bearer %s\r\n",
                       opt.tokens[is_move ? (size_t)g->seat : draw() % SEATS]);
    if (is_move) {
        body_len = snprintf(body, sizeof body, "{\"move\":\"%s\",\"state_number\":%lld}",
                            line[g->ply], (long long)g->state_no);
        n = snprintf(text, sizeof text,
                     "POST /api/v1/games/%s/moves HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s"
                     "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
                     g->id, opt.port, auth, body_len, body);
    } else {
        n = snprintf(text, sizeof text,
                     "GET /api/v1/games/%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n", g->id,
                     opt.port, auth);
    }
    send_all(c, text, (size_t)n);
}

/* Length of the answer at the buffer's start, 0 when it is not all there; its body and status. */
static size_t http_answer(const struct conn *c, char **ret_body, size_t *ret_len, int *ret_status)
{
    char *end = strstr(c->buf, "\r\n\r\n");
    size_t head, len = 0;

    if (!end || c->len < 12)
        return 0;
    head = (size_t)(end - c->buf) + 4;
    for (const char *at = c->buf; at < end; at = strstr(at, "\r\n") + 2)
        if (strncasecmp(at, "Content-Length:", 15) == 0)
            len = strtoul(at + 15, NULL, 10);
    if (c->len < head + len)
        return 0;
    *ret_body = c->buf + head;
    *ret_len = len;
    *ret_status = atoi(c->buf + 9);
    return head + len;
}

/* Takes from an answer what the next move needs. */
static bool http_note(struct game *g, char *body, size_t len)
{
    char after = body[len];
    const char *whole = body, *game;

    body[len] = '\0';
    game = strstr(body, "\"game\":{"); /* of the answer to a move */
    if (game)
        whole = game;
    g->state_no = number_of(whole, "\"state_number\":");
    g->ply = (int)number_of(whole, "\"ply\":");
    g->seat = seat_of(whole);
    body[len] = after;
    return g->state_no >= 0 && g->seat >= 0 && g->ply >= 0 && (size_t)g->ply < n_line;
}

static void http_setup(void)
{
    struct conn *c = conn_open();

    for (size_t i = 0; i < n_games; i++) {
        char *body;
        size_t len, all;
        int status;

        http_ask(c, &games[i], false);
        while ((all = http_answer(c, &body, &len, &status)) == 0)
            (void)receive(c);
        games[i].is_out = status != 200 || !http_note(&games[i], body, len);
        drop(c, all);
    }
    (void)close(c->fd);
    free(c->buf);
    free(c);
}

/* ---------------------------------------------------------------- socket.io */

static void ws_send(struct conn *c, const char *text)
{
    unsigned char frame[REQUEST_MAX + 16] = {0x81};
    size_t n = strlen(text), at = 2;

    if (n < 126) {
        frame[1] = (unsigned char)(0x80 | n);
    } else {
        frame[1] = 0x80 | 126;
        frame[2] = (unsigned char)(n >> 8);
        frame[3] = (unsigned char)n;
        at = 4;
    }
    at += 4; /* a mask of zeros changes nothing */
    memcpy(frame + at, text, n);
    send_all(c, (const char *)frame, at + n);
}

/* Length of the frame at the buffer's start, 0 when it is not all there; where its text is. */
static size_t ws_frame(const struct conn *c, char **ret_text, size_t *ret_len)
{
    const unsigned char *b = (const unsigned char *)c->buf;
    size_t head = 2, len;

    if (c->len < 2)
        return 0;
    len = b[1] & 127;
    if (len == 126) {
        head = 4;
        if (c->len < head)
            return 0;
        len = (size_t)b[2] << 8 | b[3];
    } else if (len == 127) {
        head = 10;
        if (c->len < head)
            return 0;
        len = 0;
        for (int i = 2; i < 10; i++)
            len = len << 8 | b[i];
    }
    if (head + len >= BUFFER)
        die("a frame is too long");
    if (c->len < head + len)
        return 0;
    *ret_text = c->buf + head;
    *ret_len = len;
    return head + len;
}

static bool starts(const char *text, size_t len, const char *with)
{
    return len >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* Answers a ping. */
static bool ws_is_ping(struct conn *c, const char *text, size_t len)
{
    if (len != 1 || text[0] != '2')
        return false;
    ws_send(c, "3");
    return true;
}

static void ws_await(struct conn *c, const char *beginning, struct game *g)
{
    for (;;) {
        char *text;
        size_t len, all = ws_frame(c, &text, &len);
        bool is_it;

        if (all == 0) {
            (void)receive(c);
            continue;
        }
        is_it = starts(text, len, beginning);
        if (!is_it)
            (void)ws_is_ping(c, text, len);
        if (is_it && g) {
            char after = text[len];

            text[len] = '\0';
            g->state_no = number_of(text, "\"_stateID\":");
            g->ply = (int)number_of(text, "\"turn\":") - 1; /* each turn is one move */
            text[len] = after;
        }
        drop(c, all);
        if (is_it)
            return;
    }
}

static void ws_ask(struct conn *c, struct game *g, bool is_move)
{
    char text[REQUEST_MAX];

    if (is_move) {
        int seat = 0, from = 0, to = 0;
        char man[2] = "", last[8] = "";

        if (sscanf(line[g->ply], "%d:%d:%d:%1s", &seat, &from, &to, man) < 3)
            die("a move of the line cannot be read");
        if (man[0])
            (void)snprintf(last, sizeof last, ",\"%s\"", man);
        (void)snprintf(text, sizeof text,
                       "42/four,[\"update\",{\"type\":\"MAKE_MOVE\",\"payload\":{\"type\":\"play\","
                       "\"args\":[%d,%d%s],\"playerID\":\"%d\"}},%lld,\"%s\",\"%d\"]",
                       from, to, last, seat, (long long)g->state_no, g->id, seat);
    } else {
        (void)snprintf(text, sizeof text, "42/four,[\"sync\",\"%s\",null,null,4]", g->id);
    }
    ws_send(c, text);
}

static struct conn *ws_open(void)
{
    struct conn *c = conn_open();
    char text[REQUEST_MAX], *end;

    (void)snprintf(text, sizeof text,
                   "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                   "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
                   opt.port);
    send_all(c, text, strlen(text));
    while (!(end = c->len ? strstr(c->buf, "\r\n\r\n") : NULL))
        (void)receive(c);
    if (!starts(c->buf, c->len, "HTTP/1.1 101"))
        die("no WebSocket");
    drop(c, (size_t)(end - c->buf) + 4);
    ws_await(c, "0{", NULL);
    ws_send(c, "40/four,");
    ws_await(c, "40/four,", NULL);
    return c;
}

/* ---------------------------------------------------------------- the run */

static struct game *pick(void)
{
    for (size_t tries = 0; tries < 64 * n_games; tries++) {
        struct game *g = &games[draw() % n_games];

        if (!opt.is_move)
            return g;
        if (!g->is_busy && !g->is_out)
            return g;
    }
    return NULL;
}

static void ask(struct conn *c)
{
    struct game *g = pick();

    if (!g)
        die("no game is left to move in");
    if (opt.is_ws && opt.is_move)
        c = g->conn;
    g->is_busy = true;
    c->game = g;
    c->began = now_s();
    if (opt.is_ws)
        ws_ask(c, g, opt.is_move);
    else
        http_ask(c, g, opt.is_move);
}

static void note(struct conn *c, size_t bytes, bool is_good)
{
    struct game *g = c->game;

    if (n_took == took_room) {
        took_room = took_room ? 2 * took_room : 1 << 16;
        took_us = realloc(took_us, took_room * sizeof *took_us);
        if (!took_us)
            die("memory");
    }
    took_us[n_took++] = (float)((now_s() - c->began) * 1e6);
    body_bytes += bytes;
    if (!is_good) {
        n_errors++;
        g->is_out = true;
    }
    g->is_busy = false;
    c->game = NULL;
}

/* True when the answer that was waited for has come whole. */
static bool take_http(struct conn *c)
{
    char *body;
    size_t len, all;
    int status;
    bool is_good;

    all = http_answer(c, &body, &len, &status);
    if (all == 0)
        return false;
    is_good = status == (opt.is_move ? 201 : 200);
    if (is_good && opt.is_move && !http_note(c->game, body, len))
        c->game->is_out = true; /* it has come to its end */
    note(c, len, is_good);
    drop(c, all);
    return true;
}

static bool take_ws(struct conn *c)
{
    for (;;) {
        char *text;
        size_t len, all = ws_frame(c, &text, &len);
        bool is_it;

        if (all == 0)
            return false;
        is_it =
            c->game && starts(text, len, opt.is_move ? "42/four,[\"update\"" : "42/four,[\"sync\"");
        if (is_it) {
            bool is_good = true;

            if (opt.is_move) {
                char after = text[len];

                text[len] = '\0';
                c->game->state_no = number_of(text, "\"_stateID\":");
                text[len] = after;
                c->game->ply++;
                is_good = c->game->state_no > 0;
                if (!ws_seat(c->game))
                    c->game->is_out = true; /* it has come to its end */
            }
            note(c, len, is_good);
        } else {
            (void)ws_is_ping(c, text, len);
        }
        drop(c, all);
        if (is_it)
            return true;
    }
}

static double run(void)
{
    static struct conn *conns[CLIENTS_MAX];
    double from, until;
    int under_way = 0;

    for (int i = 0; i < opt.clients; i++) {
        if (opt.is_ws && opt.is_move)
            continue;
        conns[i] = opt.is_ws ? ws_open() : conn_open();
        conn_watch(conns[i]);
    }
    from = now_s();
    until = from + opt.seconds;
    for (int i = 0; i < opt.clients; i++, under_way++)
        ask(conns[i]);
    while (under_way > 0) {
        struct epoll_event events[64];
        int n = epoll_wait(epoll_fd, events, 64, 10000);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 || now_s() > until + 10) { /* pings come all the same */
            errno = 0;
            die("no answer for ten seconds");
        }
        for (int i = 0; i < n; i++) {
            struct conn *c = events[i].data.ptr;

            if (!receive(c) || !(opt.is_ws ? take_ws(c) : take_http(c)))
                continue;
            if (now_s() < until)
                ask(c);
            else
                under_way--;
        }
    }
    return now_s() - from;
}

static int by_float(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;

    return x < y ? -1 : x > y;
}

static void load_ids(const char *path)
{
    FILE *in = fopen(path, "r");

    games = calloc(GAMES_MAX, sizeof *games);
    if (!in || !games)
        die(path);
    while (n_games < GAMES_MAX && fscanf(in, "%23s", games[n_games].id) == 1)
        n_games++;
    (void)fclose(in);
    if (n_games == 0)
        die("no games");
}

/* Moves parted by blanks; lines that begin with # are comments. */
static void load_line(const char *path)
{
    char row[4096];
    FILE *in = fopen(path, "r");

    if (!in)
        die(path);
    while (fgets(row, sizeof row, in)) {
        char *rest = NULL;

        for (char *m = row[0] == '#' ? NULL : strtok_r(row, " \n", &rest);
             m && n_line < LINE_MAX_PLIES; m = strtok_r(NULL, " \n", &rest))
            (void)snprintf(line[n_line++], sizeof line[0], "%.15s", m);
    }
    (void)fclose(in);
}

static void load_tokens(char *text)
{
    char *rest = NULL, *t = strtok_r(text, ",", &rest);

    for (int i = 0; i < SEATS && t; i++, t = strtok_r(NULL, ",", &rest))
        (void)snprintf(opt.tokens[i], sizeof opt.tokens[i], "%s", t);
    opt.has_tokens = opt.tokens[SEATS - 1][0] != '\0';
}

int main(int argc, char **argv)
{
    double seconds;

    if (argc < 2 || argc % 2 != 0) {
        (void)fputs("usage: bench_load read|move|ws-read|ws-move --port P --ids FILE …\n", stderr);
        return 2;
    }
    opt.is_ws = strncmp(argv[1], "ws-", 3) == 0;
    opt.is_move = strstr(argv[1], "move") != NULL;
    for (int i = 2; i + 1 < argc; i += 2) {
        char *value = argv[i + 1];

        if (strcmp(argv[i], "--port") == 0)
            opt.port = atoi(value);
        else if (strcmp(argv[i], "--ids") == 0)
            load_ids(value);
        else if (strcmp(argv[i], "--clients") == 0)
            opt.clients = atoi(value);
        else if (strcmp(argv[i], "--seconds") == 0)
            opt.seconds = strtod(value, NULL);
        else if (strcmp(argv[i], "--tokens") == 0)
            load_tokens(value);
        else if (strcmp(argv[i], "--line") == 0)
            load_line(value);
        else if (strcmp(argv[i], "--seed") == 0)
            opt.seed = strtoull(value, NULL, 10);
        else
            die("unknown option");
    }
    if (n_games == 0 || opt.clients < 1 || opt.clients > CLIENTS_MAX ||
        (opt.is_move && (size_t)opt.clients > n_games) ||
        (opt.is_move && n_line == 0) || (opt.is_move && !opt.is_ws && !opt.has_tokens))
        die("options do not fit");
    epoll_fd = epoll_create1(0);
    if (opt.is_move && !opt.is_ws)
        http_setup();
    for (size_t i = 0; opt.is_move && opt.is_ws && i < n_games; i++) {
        games[i].conn = ws_open();
        ws_ask(games[i].conn, &games[i], false);
        ws_await(games[i].conn, "42/four,[\"sync\"", &games[i]);
        games[i].is_out = !ws_seat(&games[i]);
        conn_watch(games[i].conn);
    }
    seconds = run();
    qsort(took_us, n_took, sizeof *took_us, by_float);
    (void)printf("{\"requests\":%zu,\"errors\":%llu,\"seconds\":%.3f,\"rate\":%.1f,"
                 "\"median_us\":%.1f,\"p99_us\":%.1f,\"bytes\":%.0f}\n",
                 n_took, (unsigned long long)n_errors, seconds, (double)n_took / seconds,
                 (double)took_us[n_took / 2], (double)took_us[n_took * 99 / 100],
                 (double)body_bytes / (double)n_took);
    return 0;
}

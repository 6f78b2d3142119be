/*
 * bench/http/bare - the least that a libmicrohttpd server can do: a constant body to every request.
 *
 *   bench_bare THREADS BYTES
 *
 * Listens on a free port of 127.0.0.1, prints "ready http://127.0.0.1:PORT" and answers until its
 * standard input ends.  Threads and polling are set as daemon/http/server.c sets them; there is
 * nothing else: no routes, no checks, no store, and the one body is made once.
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct MHD_Response *response;

static enum MHD_Result on_request(void *arg, struct MHD_Connection *conn, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *data_size, void **context)
{
    (void)arg;
    (void)url;
    (void)method;
    (void)version;
    (void)data;
    if (!*context) { /* headers only; answer at the second call, as the API asks */
        *context = response;
        return MHD_YES;
    }
    *data_size = 0;
    return MHD_queue_response(conn, MHD_HTTP_OK, response);
}

int main(int argc, char **argv)
{
    unsigned threads = argc == 3 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
    size_t bytes = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    struct sockaddr_in addr = {.sin_family = AF_INET};
    socklen_t addr_size = sizeof addr;
    struct MHD_Daemon *daemon;
    char *body, byte;
    int fd, on = 1;

    if (threads < 2 || bytes < 1) {
        (void)fputs("usage: bench_bare THREADS BYTES\n", stderr);
        return 2;
    }
    body = malloc(bytes);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!body || fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, (struct sockaddr *)&addr, sizeof addr) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&addr, &addr_size) != 0) {
        perror("bench_bare");
        return 1;
    }
    memset(body, 'x', bytes);
    response = MHD_create_response_from_buffer(bytes, body, MHD_RESPMEM_MUST_FREE);
    if (!response ||
        MHD_add_response_header(response, "Content-Type", "application/json") != MHD_YES)
        return 1;
    daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, on_request, NULL,
                              MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE, threads,
                              MHD_OPTION_CONNECTION_LIMIT, 1024u, MHD_OPTION_END);
    if (!daemon) {
        (void)fputs("bench_bare: the server could not be started\n", stderr);
        return 1;
    }
    (void)printf("ready http://127.0.0.1:%d\n", ntohs(addr.sin_port));
    (void)fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    MHD_stop_daemon(daemon);
    MHD_destroy_response(response);
    return 0;
}

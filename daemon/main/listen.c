#include "main/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "base/str.h"
#include "settings/settings.h"

enum { LISTEN_BACKLOG = 511 };

static enum status fd_finish(int fd, const char *where, struct err *err)
{
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    if (listen(fd, LISTEN_BACKLOG) != 0)
        return err_set(err, ST_IO, "cannot listen at %s: %s", where, strerror(errno));
    return ST_OK;
}

static enum status unix_open(const char *path, int *ret_fd, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat about;
    enum status st;
    int fd;

    if (!str_copy(address.sun_path, sizeof address.sun_path, path))
        return err_set(err, ST_INVALID, "the socket's path %s is too long", path);
    if (lstat(path, &about) == 0 && S_ISSOCK(about.st_mode))
        (void)unlink(path);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ||
        chmod(path, 0660) != 0)
        st = err_set(err, ST_IO, "cannot listen at unix:%s: %s", path, strerror(errno));
    else
        st = fd_finish(fd, path, err);
    if (st == ST_OK)
        *ret_fd = fd;
    else if (fd >= 0)
        close(fd);
    return st;
}

enum status listen_open(const char *where, int *ret_fd, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV},
                    *found = NULL;
    char host[256], service[16];
    int port, fd = -1, rc, one = 1;
    enum status st = listen_parse(where, host, sizeof host, &port, err);

    if (st != ST_OK)
        return st;
    if (port < 0)
        return unix_open(host, ret_fd, err);
    (void)snprintf(service, sizeof service, "%d", port);
    rc = getaddrinfo(host, service, &hints, &found);
    if (rc != 0)
        return err_set(err, ST_IO, "cannot listen at %s: %s", where, gai_strerror(rc));
    fd = socket(found->ai_family, found->ai_socktype, found->ai_protocol);
    if (fd >= 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) != 0)
        st = err_set(err, ST_IO, "cannot listen at %s: %s", where, strerror(errno));
    else
        st = fd_finish(fd, where, err);
    freeaddrinfo(found);
    if (st == ST_OK)
        *ret_fd = fd;
    else if (fd >= 0)
        close(fd);
    return st;
}

enum status listen_inherit(const char *name, int *ret_fds, size_t max, size_t *ret_n,
                           struct err *err)
{
    char **names = NULL;
    int n = sd_listen_fds_with_names(/* unset_environment= */ 0, &names);
    size_t found = 0;
    enum status st = ST_OK;

    if (n < 0)
        return err_set(err, ST_IO, "systemd's sockets: %s", strerror(-n));
    for (int i = 0; i < n; i++) {
        int fd = SD_LISTEN_FDS_START + i;
        if (!str_eq(names[i], name))
            continue;
        if (found == max)
            st = err_set(err, ST_INVALID, "systemd hands over more than %zu sockets named %s", max,
                         name);
        else if (sd_is_socket(fd, AF_UNSPEC, SOCK_STREAM, /* listening= */ 1) <= 0)
            st = err_set(err, ST_INVALID,
                         "the socket %s that systemd hands over is not a listening one", name);
        else
            ret_fds[found++] = fd;
    }
    for (int i = 0; i < n; i++) {
        if (st == ST_OK && str_eq(names[i], name)) {
            (void)fcntl(SD_LISTEN_FDS_START + i, F_SETFD, FD_CLOEXEC);
            (void)fcntl(SD_LISTEN_FDS_START + i, F_SETFL, O_NONBLOCK);
        }
        free(names[i]);
    }
    free(names);
    if (st == ST_OK)
        *ret_n = found;
    return st;
}

void listen_describe(int fd, char ret_where[LISTEN_WHERE_SIZE], int *ret_port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
        struct sockaddr_storage room;
    } a;
    socklen_t size = sizeof a;
    char host[INET6_ADDRSTRLEN];

    memset(&a, 0, sizeof a);
    *ret_port = -1;
    (void)str_copy(ret_where, LISTEN_WHERE_SIZE, "unknown");
    if (getsockname(fd, &a.any, &size) != 0)
        return;
    if (a.any.sa_family == AF_INET) {
        *ret_port = ntohs(a.v4.sin_port);
        if (inet_ntop(AF_INET, &a.v4.sin_addr, host, sizeof host))
            (void)snprintf(ret_where, LISTEN_WHERE_SIZE, "http://%s:%d", host, *ret_port);
    } else if (a.any.sa_family == AF_INET6) {
        *ret_port = ntohs(a.v6.sin6_port);
        if (inet_ntop(AF_INET6, &a.v6.sin6_addr, host, sizeof host))
            (void)snprintf(ret_where, LISTEN_WHERE_SIZE, "http://[%s]:%d", host, *ret_port);
    } else if (a.any.sa_family == AF_UNIX) {
        (void)snprintf(ret_where, LISTEN_WHERE_SIZE, "unix:%s", a.local.sun_path);
    }
}

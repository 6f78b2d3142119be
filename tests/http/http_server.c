/*
 * tests/http/http_server.c - the fixture as a program, for tests that are not written in C.
 *
 * usage: http_server            or http_server --routes, which prints the table of routes
 * Prints one line of JSON (url, metrics, password, users with handle and token), serves, and ends
 * when its standard input does.  A line "now MS" on it turns the wall clock; "link USER" prints the
 * secret of a login link; "restart" stops the server and serves again, and prints the line anew;
 * "games N" does the same with at most N games for each user.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "fixture.h"

static void announce(const struct fixture *f)
{
    printf("{\"url\":\"http://127.0.0.1:%d\",\"metrics\":\"http://127.0.0.1:%d/metrics\","
           "\"password\":\"%s\",\"users\":[",
           f->port, f->metrics_port, fixture_password);
    for (int i = 0; i < FIXTURE_USERS; i++)
        printf("%s{\"handle\":\"%s\",\"token\":\"%s\"}", i ? "," : "", fixture_handles[i],
               f->tokens[i]);
    printf("]}\n");
    fflush(stdout);
}

/* Stand-ins for notify's three functions: https only, one secret's spelling, no unsubscribing but
 * of one known token. */
static enum status webhook_check(void *arg, const char *url, enum webhook_kind kind,
                                 struct buf *ret_url, struct err *err)
{
    (void)arg;
    (void)kind;
    if (!str_starts(url, "https://"))
        return err_reason(err, REASON_BAD_FIELD, "must begin with https://");
    if (str_starts(url, "https://127."))
        return err_reason(err, REASON_BLOCKED_ADDRESS, "this address is not allowed");
    buf_puts(ret_url, url);
    return ST_OK;
}

static void secret_print(void *arg, const unsigned char *secret, size_t n, char ret[96])
{
    (void)arg;
    snprintf(ret, 96, "whsec_");
    for (size_t i = 0; i < n && i < 40; i++)
        snprintf(ret + 6 + 2 * i, 3, "%02x", secret[i]);
}

static struct fixture fixture;

static enum status unsubscribe_read(void *arg, const char *token, int64_t *ret_user_id,
                                    enum notice_class *ret_class, struct err *err)
{
    (void)arg;
    if (strcmp(token, "unsubscribeunsubscribeunsu") != 0)
        return err_reason(err, REASON_LINK_EXPIRED, "this is no link of ours");
    *ret_user_id = fixture.user_ids[0];
    *ret_class = NOTICE_TURN;
    return ST_OK;
}

int main(int argc, char **argv)
{
    char line[128];

    if (argc == 2 && strcmp(argv[1], "--routes") == 0) {
        struct buf out = buf_make(1024 * 1024);

        http_print_routes(&out);
        fputs(out.data, stdout);
        buf_release(&out);
        return 0;
    }
    fixture_setup(&fixture);
    fixture.options.web_directory = FH_SOURCE_DIR "/web";
    fixture.options.heartbeat_ms = 200;
    fixture.options.notices = (struct http_notices){.webhook_check = webhook_check,
                                                    .webhook_secret_print = secret_print,
                                                    .unsubscribe_read = unsubscribe_read};
    fixture_serve(&fixture);
    announce(&fixture);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "now ", 4) == 0) {
            atomic_store(&fixture.now, atoll(line + 4));
            printf("ok\n");
        } else if (strncmp(line, "link ", 5) == 0) {
            char secret[SECRET_SIZE];

            fixture_link(&fixture, atoi(line + 5), secret);
            printf("%s\n", secret);
        } else if (strcmp(line, "restart") == 0 || strncmp(line, "games ", 6) == 0) {
            if (line[0] == 'g')
                fixture.options.games_per_user = atoi(line + 6);
            fixture_unserve(&fixture);
            fixture.options.public_url = NULL;
            fixture_serve(&fixture);
            announce(&fixture);
        }
        fflush(stdout);
    }
    fixture_teardown(&fixture);
    return 0;
}

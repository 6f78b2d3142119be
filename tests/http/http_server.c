/*
 * tests/http/http_server.c - the fixture as a program, for tests that are not written in C.
 *
 * usage: http_server            or http_server --routes, which prints the table of routes
 * Prints one line of JSON (url, metrics, password, users with handle and token), serves, and ends
 * when its standard input does.  A line "now MS" on it turns the wall clock; "link USER" prints the
 * secret of a login link; "restart" stops the server and serves again, and prints the line anew;
 * "games N" does the same with at most N games for each user.  "hold GAME USER MOVE STATE" has a
 * move held for a minute, as one that came by mail; "tick" does what is due.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "fixture.h"
#include "store/prefs.h"

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

/* A move that came by mail. */
struct held_command {
    char game[16], move[16];
    int user;
    long long state_no;
};

static enum status hold_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct held_command *c = arg;
    struct game_row *game = malloc(sizeof *game);
    struct arbiter_act act = {.seat = ARBITER_ANY_SEAT, .ply = -1, .state_no = c->state_no};
    enum status st = game ? games_find(store_txn_conn(txn), c->game, game, err)
                          : err_reason(err, REASON_NO_MEMORY, "a game");

    if (st == ST_OK) {
        act.game_id = game->id;
        st = arbiter_hold(&fixture.arbiter, txn, now,
                          (struct arbiter_actor){.user_id = fixture.user_ids[c->user]}, &act,
                          c->move, false, 0, now + MS_MINUTE, NULL, NULL, err);
    }
    free(game);
    return st;
}

static enum status tick_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    return arbiter_tick(&fixture.arbiter, txn, now, /* is_start= */ false, 100, arg, err);
}

static void run(const char *name,
                enum status (*run_it)(struct store_txn *, utc_ms, void *, struct err *), void *arg)
{
    struct err err = ERR_INIT;
    struct writer_command command = {.name = name, .run = run_it, .arg = arg};

    printf("%s\n", writer_run(fixture.writer, &command, &err) == ST_OK ? "ok" : err.text);
}

/* Its token in a letter to an address without an account. */
static const char stranger[] = "strangerstrangerstrangerst";

static enum status address_block(void *arg, struct store_txn *txn, const char *token, utc_ms now,
                                 struct err *err)
{
    static const unsigned char hash[ADDRESS_BLOCK_SIZE] = {1};

    (void)arg;
    return strcmp(token, stranger) == 0 ? address_blocks_put(txn, hash, now, err)
                                        : err_reason(err, REASON_LINK_EXPIRED, "not ours");
}

static enum status unsubscribe_read(void *arg, const char *token, int64_t *ret_user_id,
                                    enum notice_class *ret_class, struct err *err)
{
    (void)arg;
    if (strcmp(token, stranger) == 0) {
        *ret_user_id = 0;
        *ret_class = NOTICE_INVITATION;
        return ST_OK;
    }
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
                                                    .unsubscribe_read = unsubscribe_read,
                                                    .address_block = address_block};
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
        } else if (strncmp(line, "hold ", 5) == 0) {
            struct held_command c = {.user = 0};

            if (sscanf(line, "hold %15s %d %15s %lld", c.game, &c.user, c.move, &c.state_no) == 4)
                run("hold", hold_run, &c);
        } else if (strcmp(line, "tick") == 0) {
            struct arbiter_tick_report report;

            run("tick", tick_run, &report);
        } else if (strcmp(line, "restart") == 0 || strncmp(line, "games ", 6) == 0) {
            if (line[0] == 'g')
                fixture.arbiter.limits.games = atoi(line + 6);
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

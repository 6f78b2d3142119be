#include "fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "words/words.h"

const char *const fixture_handles[FIXTURE_USERS] = {"anna", "boris", "clara", "dan", "olga"};
const char *const fixture_password = "knight-takes-bishop";

#define MUST(call)                                                                                 \
    do {                                                                                           \
        struct err must_err = ERR_INIT, *err = &must_err;                                          \
        if ((call) != ST_OK) {                                                                     \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, must_err.text);          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static utc_ms fixture_now(void *arg)
{
    return atomic_load(&((struct fixture *)arg)->now);
}

static struct clock_reading fixture_read(void *arg)
{
    struct fixture *f = arg;
    struct clock os = clock_os();
    struct clock_reading reading = os.read(os.arg);

    reading.wall_at = fixture_now(arg);
    if (atomic_load(&f->stands_ms) != 0)
        reading.monotonic_ms = atomic_load(&f->stands_ms);
    return reading;
}

static int listen_anywhere(int *ret_port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof in;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&in, sizeof in) != 0 || listen(fd, 128) != 0 ||
        getsockname(fd, (struct sockaddr *)&in, &len) != 0) {
        perror("listen");
        abort();
    }
    *ret_port = ntohs(in.sin_port);
    return fd;
}

struct user_command {
    struct fixture *f;
    int user;
    char hash[PASSWORD_HASH_SIZE];
    char secret[SECRET_SIZE];
};

static bool is_own_address(const char *address, void *arg)
{
    (void)arg;
    return strncmp(address, "play@", 5) == 0;
}

static enum status add_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct user_command *c = arg;
    struct fixture *f = c->f;
    char address[64], name[32];
    struct people_new user = {.handle = fixture_handles[c->user],
                              .name = name,
                              .address = address,
                              .is_verified = true,
                              .password_hash = c->hash,
                              .is_operator = c->user == FIXTURE_OPERATOR};
    int64_t token_id;
    enum status st;

    snprintf(address, sizeof address, "%s@example.org", user.handle);
    snprintf(name, sizeof name, "%c%s", user.handle[0] - 'a' + 'A', user.handle + 1);
    st = people_add(&f->people, txn, &user, now, &f->user_ids[c->user], err);
    if (st == ST_OK)
        st = people_token_make(&f->people, txn, f->user_ids[c->user], SCOPES_ALL, "fixture",
                               SCOPES_ALL, UTC_NONE, now, f->tokens[c->user], &token_id, err);
    return st;
}

static void on_commit(void *arg, const struct writer_commit *commit)
{
    struct fixture *f = arg;

    http_on_commit(atomic_load(&f->hooked), commit);
}

void fixture_setup(struct fixture *f)
{
    const char *tmp = getenv("TMPDIR");
    char path[320];

    memset(f, 0, sizeof *f);
    atomic_init(&f->now, FIXTURE_NOW);
    atomic_init(&f->stands_ms, 0);
    snprintf(f->dir, sizeof f->dir, "%s/fh-http-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(f->dir)) {
        perror(f->dir);
        abort();
    }
    snprintf(f->web, sizeof f->web, "%s/web", f->dir);
    if (mkdir(f->web, 0700) != 0)
        abort();
    MUST(people_init(err));
    snprintf(path, sizeof path, "%s/test.db", f->dir);
    MUST(store_open(&(struct store_options){.path = path}, &f->store, err));
    MUST(writer_open(&(struct writer_options){.store = f->store,
                                              .time = {.now = fixture_now, .arg = f}},
                     &f->writer, err));
    MUST(writer_hook(f->writer, on_commit, f, err));
    MUST(writer_start(f->writer, err));
    f->zones = zone_cache_new(NULL);
    f->people = (struct people){.entropy = people_entropy(),
                                .is_own_address = is_own_address,
                                .zones = f->zones,
                                .door = DOOR_OPEN,
                                .default_zone = "UTC",
                                .default_language = "en",
                                .languages = lang_tags(),
                                .letters_an_hour = 1000,
                                .accounts_an_hour = 1000,
                                .tokens_max = 20};
    f->passwords = passwords_new(PASSWORDS_COST_LEAST);
    if (!f->zones || !f->passwords)
        abort();
    f->arbiter = (struct arbiter){.entropy = people_entropy(),
                                  .digest = people_digest(),
                                  .limits = arbiter_limits_usual()};
    for (int i = 0; i < FIXTURE_USERS; i++) {
        struct user_command c = {.f = f, .user = i};

        MUST(passwords_hash_now(PASSWORDS_COST_LEAST, fixture_password, c.hash, err));
        MUST(writer_run(f->writer,
                        &(struct writer_command){.name = "add", .run = add_run, .arg = &c}, err));
    }
    f->options = HTTP_OPTIONS_INIT;
    f->options.store = f->store;
    f->options.writer = f->writer;
    f->options.arbiter = &f->arbiter;
    f->options.people = &f->people;
    f->options.passwords = f->passwords;
    f->options.clock = (struct clock){.read = fixture_read, .arg = f};
    f->options.entropy = people_entropy();
    f->options.digest = people_digest();
    f->options.web_directory = f->web;
    f->options.threads = 2;
    f->options.rate_requests = 1000000;
    f->options.rate_logins = 1000000;
}

void fixture_serve(struct fixture *f)
{
    int fd = listen_anywhere(&f->port);

    f->options.metrics_fd = listen_anywhere(&f->metrics_port);
    snprintf(f->public_url, sizeof f->public_url, "http://127.0.0.1:%d", f->port);
    if (!f->options.public_url)
        f->options.public_url = f->public_url;
    f->options.listen_fds = &fd;
    f->options.n_listen = 1;
    MUST(http_start(&f->options, &f->http, err));
    atomic_store(&f->hooked, f->http);
    http_look_again(f->http);
}

static enum status nothing_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    (void)txn;
    (void)now;
    (void)arg;
    (void)err;
    return ST_OK;
}

void fixture_unserve(struct fixture *f)
{
    struct http *http = f->http;

    /* The writer runs on: its hook must not come when the server is gone. */
    atomic_store(&f->hooked, NULL);
    MUST(writer_run(f->writer, &(struct writer_command){.name = "nothing", .run = nothing_run},
                    err));
    http_stop(http, 5000);
    f->http = NULL;
}

static void remove_tree(const char *dir)
{
    char command[400];

    /* Only ever a folder that mkdtemp() made. */
    snprintf(command, sizeof command, "rm -rf -- '%s'", dir);
    if (system(command) != 0)
        fprintf(stderr, "%s is left over\n", dir);
}

void fixture_teardown(struct fixture *f)
{
    fixture_unserve(f);
    writer_stop(f->writer);
    writer_close(f->writer);
    store_close(f->store);
    passwords_free(f->passwords);
    zone_cache_free(f->zones);
    remove_tree(f->dir);
}

void fixture_put_file(struct fixture *f, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", f->web, name);
    for (char *slash = path + strlen(f->web) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
}

static enum status link_run(struct store_txn *txn, utc_ms now, void *arg, struct err *err)
{
    struct user_command *c = arg;

    return people_link_make(&c->f->people, txn, c->f->user_ids[c->user], now, c->secret, err);
}

void fixture_link(struct fixture *f, int user, char ret_secret[SECRET_SIZE])
{
    struct user_command c = {.f = f, .user = user};

    MUST(writer_run(f->writer, &(struct writer_command){.name = "link", .run = link_run, .arg = &c},
                    err));
    memcpy(ret_secret, c.secret, SECRET_SIZE);
}

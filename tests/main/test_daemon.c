/* The real program, started and stopped: what only a process of its own can show. */
#include "support/harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"

static const char *program;

/* A folder with a configuration, and the daemon that runs on it. */
struct club {
    char folder[32];
    char config[64];
    pid_t pid;       /* 0: none runs */
    FILE *out;       /* its standard output */
    char ready[256]; /* its first line */
    int port;
};

/* What the child does before it becomes the program; NULL: nothing. */
typedef void before_exec(void *arg);

/* The last four paths stay valid. */
static const char *path_of(struct club *c, const char *name)
{
    static char paths[4][128];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", c->folder, name);
    return path;
}

static void config_write(struct club *c, const char *more)
{
    FILE *f = fopen(c->config, "w");

    assert_non_null(f);
    fprintf(f,
            "public_url = \"http://127.0.0.1:0\";\n"
            "database = \"club.db\";\ncontrol_socket = \"control.sock\";\n"
            "web_directory = \"%s/web\";\nregistration = \"open\";\n"
            "http: { listen = \"127.0.0.1:0\"; };\n"
            "mail: { directory = \"mail\"; from_address = \"club@example.org\"; };\n%s",
            FH_SOURCE_DIR, more);
    fclose(f);
}

static int club_make(void **state)
{
    struct club *c = calloc(1, sizeof *c);

    assert_non_null(c);
    strcpy(c->folder, "/tmp/fh-daemon-XXXXXX");
    assert_non_null(mkdtemp(c->folder));
    snprintf(c->config, sizeof c->config, "%s/f.conf", c->folder);
    config_write(c, "");
    *state = c;
    return 0;
}

/* Start the program with words, standard output to *ret_out and error to the file "log". */
static pid_t program_start(struct club *c, const char *const *words, before_exec *before,
                           void *arg, FILE **ret_out)
{
    int ends[2];
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char *argv[20] = {(char *)(uintptr_t) "fourhanded"};
        int n = 1, log = open(path_of(c, "log"), O_WRONLY | O_CREAT | O_APPEND, 0600);
        while (words[n - 1]) {
            argv[n] = (char *)(uintptr_t)words[n - 1];
            n++;
        }
        argv[n++] = (char *)(uintptr_t) "-c";
        argv[n++] = c->config;
        dup2(ends[1], 1);
        dup2(log, 2);
        close(ends[0]);
        close(ends[1]);
        close(log);
        if (before)
            before(arg);
        execv(program, argv);
        _exit(127);
    }
    close(ends[1]);
    *ret_out = fdopen(ends[0], "r");
    assert_non_null(*ret_out);
    return pid;
}

/* Wait for the process; its exit status, or 1000 + the signal that ended it. */
static int process_wait(pid_t pid)
{
    int status;

    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Run a subcommand to its end; text gets what it prints.  Returns the exit status. */
static int run_words(struct club *c, char *text, size_t size, const char *const *words)
{
    FILE *out;
    pid_t pid = program_start(c, words, NULL, NULL, &out);
    size_t n = fread(text, 1, size - 1, out);

    text[n] = '\0';
    while (fgetc(out) != EOF) /* it may say more, and should not end for having no reader */
        continue;
    fclose(out);
    return process_wait(pid);
}

#define RUN(c, text, ...) run_words(c, text, sizeof text, (const char *const[]){__VA_ARGS__, NULL})

static void daemon_start_with(struct club *c, before_exec *before, void *arg)
{
    c->pid = program_start(c, (const char *const[]){"serve", NULL}, before, arg, &c->out);
    if (!fgets(c->ready, sizeof c->ready, c->out))
        fail_msg("the daemon ended at its start; see %s", path_of(c, "log"));
    assert_true(str_starts(c->ready, "ready "));
    (void)sscanf(c->ready, "ready http://127.0.0.1:%d", &c->port);
}

static void daemon_start(struct club *c)
{
    daemon_start_with(c, NULL, NULL);
}

static int daemon_stop(struct club *c, int number)
{
    int result;

    assert_int_equal(kill(c->pid, number), 0);
    result = process_wait(c->pid);
    fclose(c->out);
    c->pid = 0;
    return result;
}

static int club_remove(void **state)
{
    struct club *c = *state;
    char command[128];

    if (c->pid)
        (void)daemon_stop(c, SIGKILL);
    snprintf(command, sizeof command, "rm -r %s", c->folder);
    if (system(command) != 0)
        return -1;
    free(c);
    return 0;
}

/* The whole of a small file. */
static void file_read(const char *path, char *text, size_t size)
{
    FILE *f = fopen(path, "r");
    size_t n;

    assert_non_null(f);
    n = fread(text, 1, size - 1, f);
    text[n] = '\0';
    fclose(f);
}

/* Stop it in good order, and read all that its log says. */
static void stop_and_read_log(struct club *c, char *ret, size_t size)
{
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
    file_read(path_of(c, "log"), ret, size);
}

/* One request over HTTP; text gets the answer. */
static void http_get(int port, const char *target, char *text, size_t size)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    char request[300];
    size_t n = 0;
    ssize_t got;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    snprintf(request, sizeof request,
             "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", target);
    assert_int_equal(write(fd, request, strlen(request)), (ssize_t)strlen(request));
    while (n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(fd);
}

static void test_the_daemon_says_where_it_serves_and_stops_in_order(void **state)
{
    struct club *c = *state;
    struct stat about;
    char text[4000];

    daemon_start(c);
    assert_true(c->port > 0);
    http_get(c->port, "/healthz", text, sizeof text);
    assert_true(str_starts(text, "HTTP/1.1 200"));
    http_get(c->port, "/readyz", text, sizeof text);
    assert_true(str_starts(text, "HTTP/1.1 200"));
    assert_int_equal(stat(path_of(c, "control.sock"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
    assert_int_equal(stat(path_of(c, "control.sock"), &about), -1);
    assert_int_equal(stat(path_of(c, "club.db-wal"), &about), -1); /* all is in the file */
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, " info stopped"));
}

/* The hard limit that a child gets; the soft one is lower still. */
static void files_limit(void *arg)
{
    const struct rlimit limit = {.rlim_cur = 40, .rlim_max = *(const rlim_t *)arg};

    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* A subcommand with so many descriptors at most; what it says goes to text. */
static int run_limited(struct club *c, const char *word, rlim_t files, char *text, size_t size)
{
    FILE *out;
    int result;
    pid_t pid;

    (void)unlink(path_of(c, "log"));
    pid = program_start(c, (const char *const[]){word, NULL}, files_limit, &files, &out);
    fclose(out);
    result = process_wait(pid);
    file_read(path_of(c, "log"), text, size);
    return result;
}

/* A configuration whose 4th line says http.connections. */
static void config_write_many(struct club *c, const char *time_zone)
{
    FILE *f = fopen(c->config, "w");

    assert_non_null(f);
    fprintf(f,
            "public_url = \"http://127.0.0.1:0\"; time_zone = \"%s\";\n"
            "database = \"club.db\"; control_socket = \"control.sock\";\n"
            "http: { listen = \"127.0.0.1:0\"; threads = 3;\n"
            "        connections = 500; };\n"
            "web_directory = \"%s/web\";\n"
            "mail: { directory = \"mail\"; };\nmail_in: { connections = 7; };\n",
            time_zone, FH_SOURCE_DIR);
    fclose(f);
}

static void test_a_need_of_more_descriptors_than_there_are_is_refused(void **state)
{
    enum { NEEDED = 500 + 7 + 4 * 3 + 128 };
    static const char *const words[] = {"serve", "check-config"};
    rlim_t files = NEEDED;
    struct club *c = *state;
    char text[4000], limits[128];
    FILE *f;
    unsigned long soft = 0;

    config_write_many(c, "UTC");
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(run_limited(c, words[i], NEEDED - 1, text, sizeof text), 1);
        assert_non_null(strstr(text, "/f.conf:4: http.connections: 647 file descriptors are "
                                     "needed with 500 connections here, 7 of "
                                     "mail_in.connections, 3 threads and 128 others, and "
                                     "the process may have 646 (ulimit -Hn, LimitNOFILE= of "
                                     "the unit)\n"));
    }
    /* it is told with all other errors */
    config_write_many(c, "Nowhere/Land");
    assert_int_equal(run_limited(c, "check-config", 100, text, sizeof text), 1);
    assert_non_null(strstr(text, "/f.conf:4: http.connections: "));
    assert_non_null(strstr(text, "/f.conf:1: time_zone: "));
    assert_non_null(strstr(text, " has 2 errors"));
    /* as many as are needed do, and are made use of; other subcommands do not ask */
    config_write_many(c, "UTC");
    daemon_start_with(c, files_limit, &files);
    snprintf(limits, sizeof limits, "/proc/%d/limits", (int)c->pid);
    assert_non_null(f = fopen(limits, "r"));
    while (fgets(text, sizeof text, f))
        (void)sscanf(text, "Max open files %lu", &soft);
    fclose(f);
    assert_int_equal(soft, NEEDED);
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
}

/* check-config with one value set; its exit status, and what it complains of in text. */
static int check_with(struct club *c, const char *set, char *text, size_t size)
{
    char out[400];
    int result;

    (void)unlink(path_of(c, "log"));
    result = RUN(c, out, "check-config", "--set", set);
    file_read(path_of(c, "log"), text, size);
    return result;
}

static void test_check_config_looks_at_the_places_that_serve_will_write_to(void **state)
{
    struct club *c = *state;
    char text[2000];

    assert_int_equal(check_with(c, "log_level=info", text, sizeof text), 0);
    assert_int_equal(check_with(c, "control_socket=/nowhere/at/all.sock", text, sizeof text), 1);
    assert_non_null(strstr(text, "--set: control_socket: the folder /nowhere/at cannot be used: "));
    assert_int_equal(check_with(c, "control_socket=/run/fh-no-such/c.sock", text, sizeof text), 0);
    assert_int_equal(check_with(c, "control_socket=/proc/c.sock", text, sizeof text), 1);
    assert_int_equal(check_with(c, "http.listen=unix:missing/h.sock", text, sizeof text), 1);
    assert_non_null(strstr(text, "/missing cannot be used: "));
    assert_int_equal(check_with(c, "mail.directory=mail", text, sizeof text), 0); /* made later */
    if (geteuid() == 0) { /* else /proc is another's, and cannot be judged */
        assert_int_equal(check_with(c, "mail.directory=/proc/foo", text, sizeof text), 1);
        assert_non_null(strstr(text, "mail.directory: the folder /proc cannot be written: "));
        assert_int_equal(check_with(c, "database=/proc/foo.db", text, sizeof text), 1);
    }
}

static void test_check_config_wants_a_maildir_to_be_one(void **state)
{
    struct club *c = *state;
    char text[4000];

    config_write(c, "mail_in: { address = \"play@example.org\"; };\n");
    assert_int_equal(mkdir(path_of(c, "box"), 0700), 0);
    assert_int_equal(check_with(c, "mail_in.maildir=box", text, sizeof text), 1);
    assert_non_null(strstr(text, "--set: mail_in.maildir: the folder "));
    assert_non_null(strstr(text, "/box/new cannot be used: No such file or directory\n"));
    assert_int_equal(mkdir(path_of(c, "box/new"), 0700), 0);
    assert_int_equal(check_with(c, "mail_in.maildir=box", text, sizeof text), 1);
    assert_non_null(strstr(text, "/box/cur cannot be used: "));
    assert_int_equal(mkdir(path_of(c, "box/cur"), 0700), 0);
    assert_int_equal(check_with(c, "mail_in.maildir=box", text, sizeof text), 0);
}

/* The server would write to itself, and nobody could read it. */
static void test_nobody_has_his_letters_at_an_address_of_the_servers(void **state)
{
    static const char *const own[] = {"play@example.org", "Bounce@example.org",
                                      "unsubscribe@example.org",
                                      "play+abcdefghijklmnopqrstuv2345@example.org"};
    struct club *c = *state;
    char text[2000];

    config_write(c, "mail_in: { address = \"play@example.org\"; bounce_address = "
                    "\"bounce@example.org\"; unsubscribe_address = \"unsubscribe@example.org\"; "
                    "};\n");
    for (size_t i = 0; i < COUNT_OF(own); i++) {
        assert_int_equal(RUN(c, text, "user", "add", "anna", own[i]), 1);
        file_read(path_of(c, "log"), text, sizeof text);
        assert_string_equal(text, "fourhanded: this is an address of the server's own\n");
        (void)unlink(path_of(c, "log"));
    }
    assert_int_equal(RUN(c, text, "user", "add", "anna", "player@example.org"), 0);
}

/* systemd gives the daemon its credentials, and a shell none. */
static void test_a_credential_is_needed_by_the_daemon_alone(void **state)
{
    struct club *c = *state;
    char text[2000];

    FILE *f = fopen(c->config, "a");
    assert_non_null(f);
    fputs("mail_in: { address = \"play@example.org\"; imap_host = \"imap.example.org\";\n"
          "  imap_user = \"play\"; imap_password = \"@credential:imap\"; };\n",
          f);
    fclose(f);
    assert_int_equal(RUN(c, text, "user", "add", "anna"), 0);
    assert_int_equal(RUN(c, text, "user", "list"), 0);
    assert_int_equal(RUN(c, text, "verify"), 0);
    assert_int_equal(RUN(c, text, "check-config"), 0);
    assert_string_equal(text, "mail_in.imap_password: @credential:imap is not looked at here: "
                              "systemd hands it to the daemon, by LoadCredential= of the unit\n"
                              "OK\n");
    assert_int_equal(RUN(c, text, "serve"), 1);
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, ": mail_in.imap_password: there are no credentials"));
}

static void test_an_interrupt_stops_it_too(void **state)
{
    struct club *c = *state;

    daemon_start(c);
    assert_int_equal(daemon_stop(c, SIGINT), 0);
}

static void test_a_second_daemon_on_one_file_is_refused(void **state)
{
    struct club *c = *state;
    char text[2000];

    daemon_start(c);
    assert_int_equal(RUN(c, text, "serve"), 1);
    assert_string_equal(text, "");
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, "/control.sock already\n"));
    assert_int_equal(RUN(c, text, "serve", "--set", "control_socket=other.sock"), 1);
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, "is in use by process"));
    http_get(c->port, "/healthz", text, sizeof text); /* and the first one did not mind */
    assert_true(str_starts(text, "HTTP/1.1 200"));
}

static void test_a_daemon_on_another_file_does_not_take_the_control_socket(void **state)
{
    struct club *c = *state;
    char text[2000];
    struct stat about;

    daemon_start(c);
    assert_int_equal(RUN(c, text, "serve", "--set", "database=other.db"), 1);
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, "/control.sock already\n"));
    assert_int_not_equal(stat(path_of(c, "other.db"), &about), 0); /* it was not touched */
    assert_int_not_equal(stat(path_of(c, "other.db.lock"), &about), 0);
    assert_int_equal(stat(path_of(c, "control.sock"), &about), 0);
    assert_int_equal(RUN(c, text, "user", "add", "anna"), 0); /* it goes to the first */
    assert_int_equal(RUN(c, text, "user", "list"), 0);
    assert_non_null(strstr(text, "anna"));
    assert_int_equal(RUN(c, text, "user", "add", "boris", "--set", "database=other.db"), 1);
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, "other.db; nothing was changed\n"));
    assert_int_equal(RUN(c, text, "user", "list"), 0);
    assert_null(strstr(text, "boris"));
}

static void test_a_file_that_is_broken_is_a_fault_that_is_counted(void **state)
{
    struct club *c = *state;
    char text[2000];
    struct stat about;

    daemon_start(c);
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
    assert_int_equal(RUN(c, text, "game", "list", "-n", "0"), 2);
    assert_int_equal(RUN(c, text, "inbox", "list", "-n", "0"), 2);
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, "-n (--limit) should be a number from 1 to 1000000\n"));
    assert_int_equal(stat(path_of(c, "club.db"), &about), 0);
    assert_int_equal(truncate(path_of(c, "club.db"), about.st_size / 2), 0);
    assert_int_equal(RUN(c, text, "verify"), 1);
    assert_non_null(strstr(text, "file: "));
    assert_non_null(strstr(text, path_of(c, "club.db")));
    assert_non_null(strstr(text, "\nFAULTY: 0 games, 0 moves, 0 events, "));
}

static void test_subcommands_change_the_same_things_with_and_without_a_daemon(void **state)
{
    struct club *c = *state;
    char text[2000];

    assert_int_equal(RUN(c, text, "user", "add", "anna", "anna@example.org", "--verified"), 0);
    assert_string_equal(text, "added anna\n");
    daemon_start(c);
    assert_int_equal(RUN(c, text, "user", "add", "boris"), 0);
    assert_string_equal(text, "added boris\n");
    assert_int_equal(RUN(c, text, "user", "add", "ANNA"), 1);
    assert_int_equal(RUN(c, text, "user", "token", "anna", "--scopes", "read"), 0);
    assert_int_equal(strlen(text), 30);
    assert_true(str_starts(text, "fh_"));
    assert_int_equal(RUN(c, text, "user", "link", "anna"), 0);
    assert_true(str_starts(text, "http://127.0.0.1:"));
    assert_null(strstr(text, ":0/")); /* the real port */
    assert_int_equal(RUN(c, text, "user", "list"), 0);
    assert_non_null(strstr(text, "anna"));
    assert_non_null(strstr(text, "boris"));
    assert_null(strstr(text, "example.org"));
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
    assert_int_equal(RUN(c, text, "user", "disable", "boris"), 0);
    assert_int_equal(RUN(c, text, "user", "disable", "boris"), 1);
    assert_int_equal(RUN(c, text, "user", "list"), 0);
    assert_non_null(strstr(text, "disabled"));
    assert_int_equal(RUN(c, text, "user", "disable", "nobody"), 1);
    /* His links would be anna's: her address is proved. */
    assert_int_equal(RUN(c, text, "user", "add", "clara", "Anna@example.org"), 1);
    assert_int_equal(RUN(c, text, "user", "add", "clara", "clara@example.org", "-n",
                         "Clara M\xc3\xbcller"),
                     0);
    assert_int_equal(RUN(c, text, "user", "list", "-a"), 0);
    assert_non_null(strstr(text, "unverified clara@example.org \"Clara M\xc3\xbcller\"\n"));
    assert_int_equal(RUN(c, text, "user", "password", "clara", "--remove"), 1);
    assert_int_equal(RUN(c, text, "game", "credit", "aaaaaaaa", "2d"), 1);
    assert_int_equal(RUN(c, text, "game", "show", "aaaaaaaa"), 1);
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, "fourhanded: there is no account \"nobody\"\n"));
    assert_non_null(strstr(text, "fourhanded: another account has this mail address\n"));
    assert_non_null(strstr(text, "fourhanded: clara has no password\n"));
    assert_non_null(strstr(text, "fourhanded: there is no game \"aaaaaaaa\"\n"));
}

static void test_an_invitation_to_register_is_listed_and_taken_back(void **state)
{
    struct club *c = *state;
    char text[2000];

    assert_int_equal(RUN(c, text, "user", "add", "anna"), 0);
    assert_int_equal(RUN(c, text, "user", "invites"), 0);
    assert_string_equal(text, "");
    assert_int_equal(RUN(c, text, "user", "invite", "anna", "-a", "boris@example.org", "--note",
                         "for \"Boris\"\nof the club"),
                     0);
    assert_int_equal(RUN(c, text, "user", "uninvite", "2"), 1); /* there is none yet */
    daemon_start(c);
    assert_int_equal(RUN(c, text, "user", "invite", "Anna"), 0);
    assert_int_equal(RUN(c, text, "user", "invites"), 0);
    assert_true(str_starts(text, "2 good      made=2"));
    assert_non_null(strstr(text, "\n1 good      made=2"));
    assert_non_null(strstr(text, " by=anna became=-  \"for \"Boris\"?of the club\"\n"));
    assert_null(strstr(text, "example.org"));
    assert_int_equal(RUN(c, text, "user", "uninvite", "1"), 0);
    assert_string_equal(text, "invitation 1 is taken back\n");
    assert_int_equal(RUN(c, text, "user", "uninvite", "1"), 1); /* it has been */
    assert_int_equal(RUN(c, text, "user", "uninvite", "anna"), 1);
    assert_int_equal(RUN(c, text, "user", "invites"), 0);
    assert_true(str_starts(text, "2 good "));
    assert_null(strstr(text, "\n1 "));
    assert_int_equal(RUN(c, text, "user", "invites", "--all", "-a"), 0);
    assert_non_null(strstr(text, " became=- for=-\n1 withdrawn made=2"));
    assert_non_null(strstr(text, " for=boris@example.org "));
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
    assert_int_equal(RUN(c, text, "user", "uninvite", "2"), 0);
    assert_int_equal(RUN(c, text, "user", "invites"), 0);
    assert_string_equal(text, "");
    /* Whoever is shut out lets nobody in. */
    assert_int_equal(RUN(c, text, "user", "invite", "anna"), 0);
    assert_int_equal(RUN(c, text, "user", "disable", "anna"), 0);
    assert_int_equal(RUN(c, text, "user", "invites"), 0);
    assert_string_equal(text, "");
    assert_int_equal(RUN(c, text, "user", "invite", "anna"), 1);
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, "fourhanded: there is no invitation 2\n"));
    assert_non_null(strstr(text, "fourhanded: the account anna is disabled\n"));
    assert_non_null(strstr(text, "fourhanded: invitation 1 has been taken back already\n"));
    assert_non_null(strstr(text, "fourhanded: an invitation is named by its number; user invites "
                                 "tells it\n"));
}

static void test_the_file_is_verified_and_copied_beside_a_running_daemon(void **state)
{
    struct club *c = *state;
    char text[2000];

    daemon_start(c);
    assert_int_equal(RUN(c, text, "user", "add", "anna"), 0);
    assert_int_equal(RUN(c, text, "verify"), 0);
    assert_true(str_starts(text, "OK: 0 games"));
    assert_int_equal(RUN(c, text, "backup", path_of(c, "copy.db")), 0);
    assert_int_equal(RUN(c, text, "backup", path_of(c, "copy.db")), 1); /* not overwritten */
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
    assert_int_equal(rename(path_of(c, "copy.db"), path_of(c, "club.db")), 0);
    assert_int_equal(RUN(c, text, "user", "list"), 0);
    assert_non_null(strstr(text, "anna"));
}

static void file_copy(const char *from, const char *to)
{
    char bytes[4096];
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    size_t n;

    assert_non_null(in);
    assert_non_null(out);
    while ((n = fread(bytes, 1, sizeof bytes, in)) > 0)
        assert_int_equal(fwrite(bytes, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static void test_a_file_of_an_older_version_is_upgraded_at_the_start_and_it_is_said(void **state)
{
    struct club *c = *state;
    struct stat about;
    char text[4000], line[200];

    file_copy(FH_SOURCE_DIR "/tests/data/db/v1.sqlite", path_of(c, "club.db"));
    assert_int_equal(RUN(c, text, "verify"), 1); /* what only looks changes nothing */
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, "club.db has schema 1, this program reads "));
    daemon_start(c);
    stop_and_read_log(c, text, sizeof text);
    snprintf(line, sizeof line, " copy=\"%s.before-0002\"\n",
             path_of(c, "club.db"));
    assert_non_null(strstr(text, " info upgraded from=1 to="));
    assert_non_null(strstr(text, line));
    assert_int_equal(stat(path_of(c, "club.db.before-0002"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_int_equal(RUN(c, text, "verify"), 0);
    (void)unlink(path_of(c, "log"));
    daemon_start(c);
    stop_and_read_log(c, text, sizeof text);
    assert_null(strstr(text, "upgraded"));
}

static void test_what_the_system_says_of_a_file_is_told(void **state)
{
    struct club *c = *state;
    char text[2000];

    assert_int_equal(mkdir(path_of(c, "folder"), 0700), 0);
    assert_int_equal(RUN(c, text, "serve", "--set", "database=folder"), 1);
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, ": Is a directory\n"));
}

static void test_a_killed_daemon_starts_again_over_what_it_left(void **state)
{
    struct club *c = *state;
    struct stat about;
    char text[2000];

    daemon_start(c);
    assert_int_equal(RUN(c, text, "user", "add", "anna"), 0);
    assert_int_equal(daemon_stop(c, SIGKILL), 1000 + SIGKILL);
    assert_int_equal(stat(path_of(c, "control.sock"), &about), 0); /* left over */
    assert_int_equal(RUN(c, text, "user", "list"), 0);
    assert_non_null(strstr(text, "anna"));
    assert_int_equal(RUN(c, text, "user", "add", "boris"), 0); /* nobody listens there */
    daemon_start(c);
    assert_int_equal(RUN(c, text, "user", "add", "clara"), 0);
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
}

static void clock_later(void *arg)
{
    (void)setenv("FOURHANDED_TEST_CLOCK", arg, 1);
}

static void test_time_away_is_an_outage_beyond_five_minutes_only(void **state)
{
    struct club *c = *state;
    char text[8000], later[] = "1h", soon[] = "1h 4m";

    daemon_start(c);
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
    daemon_start_with(c, clock_later, later);
    stop_and_read_log(c, text, sizeof text);
    assert_non_null(strstr(text, "warning outage ms="));
    assert_int_equal(unlink(path_of(c, "log")), 0);
    daemon_start_with(c, clock_later, soon);
    stop_and_read_log(c, text, sizeof text);
    assert_null(strstr(text, "outage"));
}

static void test_a_moved_clock_is_no_outage(void **state)
{
    struct club *c = *state;
    char text[8000];

    daemon_start(c);
    assert_int_equal(RUN(c, text, "clock", "advance", "7d"), 0);
    stop_and_read_log(c, text, sizeof text);
    assert_null(strstr(text, "outage"));
}

static void test_every_error_of_the_configuration_is_told_at_the_start(void **state)
{
    struct club *c = *state;
    char text[4000];
    FILE *f;

    config_write(c, "regstration = \"open\";\nclock: { grace = \"12\"; };\n");
    assert_int_equal(RUN(c, text, "serve"), 1);
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, "f.conf:8: regstration: is not a known key"));
    assert_non_null(strstr(text, "f.conf:9: clock.grace: "));
    assert_non_null(strstr(text, "has 2 errors\n"));
    assert_int_equal(RUN(c, text, "check-config"), 1);
    /* what other rooms and the machine know of is told with the rest, each by its line */
    config_write(c, "time_zone = \"Europe/Atlantis\";\nlanguage = \"de\";\n"
                    "clock: { grace = \"12\"; };\n"
                    "webhooks: { ca_file = \"no.pem\"; };\n"
                    "mail_in: { address = \"play@example.org\"; maildir = \"no/in\"; };\n");
    assert_int_equal(RUN(c, text, "check-config"), 1);
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, "f.conf:8: time_zone: "));
    assert_non_null(strstr(text, "f.conf:9: language: "));
    assert_non_null(strstr(text, "en, ru, ro"));
    assert_non_null(strstr(text, "f.conf:10: clock.grace: "));
    assert_non_null(strstr(text, "f.conf:11: webhooks.ca_file: the file "));
    assert_non_null(strstr(text, "f.conf:12: mail_in.maildir: the folder "));
    assert_non_null(strstr(text, "has 5 errors\n"));
    f = fopen(c->config, "w");
    assert_non_null(f);
    fprintf(f, "public_url = \"http://127.0.0.1:0/club\";\ndatabase = \"no/club.db\";\n"
               "web_directory = \"f.conf\";\nmail: { directory = \"none/mail\"; };\n");
    fclose(f);
    assert_int_equal(RUN(c, text, "check-config"), 1);
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, "f.conf:1: public_url: "));
    assert_non_null(strstr(text, "f.conf:2: database: the folder "));
    assert_non_null(strstr(text, "f.conf should be a folder"));
    assert_non_null(strstr(text, "f.conf:4: mail.directory: the folder "));
    assert_non_null(strstr(text, "has 4 errors\n"));
    config_write(c, "");
    assert_int_equal(RUN(c, text, "check-config"), 0);
    assert_string_equal(text, "OK\n");
    assert_int_equal(RUN(c, text, "serve", "now"), 2);
}

/* What each request begins with: the database that is meant, and a NUL.  Returns its length. */
static size_t database_name(struct club *c, char *ret, size_t size)
{
    struct stat about;

    assert_int_equal(stat(path_of(c, "club.db"), &about), 0);
    return (size_t)snprintf(ret, size, "database=%s\n%ju:%ju", path_of(c, "club.db"),
                            (uintmax_t)about.st_dev, (uintmax_t)about.st_ino) + 1;
}

static void test_nonsense_on_the_control_socket_harms_nobody(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
    } nonsense[] = {
        {"\xff\xff\xff\xff", 4},             /* a frame of 4 GiB */
        {"\0\0\0\0", 4},                     /* an empty one */
        {"\0\0\0\4abcd", 8},                 /* no NUL */
        {"\0\0\0\5what\0", 9},               /* no such verb */
        {"\0\0\0\013user-add\0a\0", 15},     /* a name without a value */
        {"\0\0\0\022user-add\0handle\0\xff\0", 22},
        {"\0\0\0\011database=", 13},        /* a name that does not end */
        {"\0\0", 2},                         /* and then nothing */
    };
    struct club *c = *state;
    char text[2000], named[400];

    daemon_start(c);
    for (size_t i = 0; i < 2 * COUNT_OF(nonsense); i++) {
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        const char *bytes = nonsense[i / 2].bytes;
        size_t len = nonsense[i / 2].n, name;
        ssize_t n = 0, got;

        if (i % 2 == 1 && len > 4) { /* the same after the right database */
            name = database_name(c, named + 4, sizeof named - 4);
            memcpy(named, bytes, 4);
            named[3] = (char)(name + (unsigned char)bytes[3]);
            memcpy(named + 4 + name, bytes + 4, len - 4);
            bytes = named;
            len += name;
        }

        str_copy(to.sun_path, sizeof to.sun_path, path_of(c, "control.sock"));
        assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
        assert_int_equal(write(fd, bytes, len), (ssize_t)len);
        shutdown(fd, SHUT_WR);
        while ((got = read(fd, text + n, sizeof text - 1 - (size_t)n)) > 0)
            n += got;
        assert_true(n >= 5);                    /* an answer, */
        assert_int_not_equal((int)text[4], 0);  /* which is no success */
        close(fd);
    }
    assert_int_equal(RUN(c, text, "user", "add", "anna"), 0);
}

/* A connection to control.sock. */
static int control_connect(struct club *c)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    str_copy(to.sun_path, sizeof to.sun_path, path_of(c, "control.sock"));
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

static void test_who_is_silent_on_the_control_socket_makes_nobody_wait(void **state)
{
    struct club *c = *state;
    int silent[20], slow;
    char text[2000], request[400];
    static const char what[] = "user-add\0handle\0clara";
    size_t size;

    daemon_start(c);
    size = database_name(c, request, sizeof request);
    memcpy(request + size, what, sizeof what);
    size += sizeof what;
    for (size_t i = 0; i < COUNT_OF(silent); i++) {
        silent[i] = control_connect(c);
        assert_int_equal(write(silent[i], "\0\0\0\11what", i % 9), (ssize_t)(i % 9));
    }
    assert_int_equal(RUN(c, text, "user", "add", "anna"), 0);
    /* A request that comes byte by byte is performed all the same. */
    slow = control_connect(c);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(write(slow, i < 3 ? "" : (const char[]){(char)size}, 1), 1);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(write(slow, request + i, 1), 1);
    assert_true(read(slow, text, sizeof text) > 5);
    assert_int_equal(text[4], 0);
    assert_memory_equal(text + 5, "added clara\n", 12);
    close(slow);
    for (size_t i = 0; i < COUNT_OF(silent); i++)
        close(silent[i]);
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
}

/* ------------------------------------------------------------------------------- letters */

#define MAIL_IN "mail_in: { address = \"play@example.org\"; %s };\n"

static const char letter[] = "From: joe@example.net\nTo: play@example.org\nSubject: hello\n"
                             "Message-ID: <1@example.net>\n\nhelp\n";

static void letter_write(struct club *c, const char *name, const char *text)
{
    FILE *f = fopen(path_of(c, name), "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
}

/* A mail server's pipe goes by the exit status (sysexits.h), with and without a daemon. */
static void test_receive_takes_a_letter_and_says_by_its_status_what_became_of_it(void **state)
{
    struct club *c = *state;
    char text[4000], more[300], big[17000];

    snprintf(more, sizeof more, MAIL_IN, "letter_size = \"16KiB\";");
    config_write(c, more);
    letter_write(c, "letter", letter);
    letter_write(c, "empty", "");
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    letter_write(c, "big", big);
    snprintf(big, sizeof big, "From joe@example.net Mon Jan  1 00:00:00 2026\n%s", letter);
    letter_write(c, "mbox", big);
    {   /* fewer bytes than letter_size, but very many lines */
        size_t n = (size_t)snprintf(big, sizeof big, "%s\n", letter);

        while (n < 16 * 1024 - 2)
            n += (size_t)snprintf(big + n, sizeof big - n, "x\n");
        letter_write(c, "lines", big);
    }
    for (int is_daemon = 0; is_daemon < 2; is_daemon++) {
        if (is_daemon)
            daemon_start(c);
        assert_int_equal(RUN(c, text, "receive", "--dry-run", path_of(c, "lines")), 0);
        assert_int_equal(RUN(c, text, "receive", "--dry-run", path_of(c, "letter")), 0);
        assert_non_null(strstr(text, "recipient: play@example.org"));
        assert_int_equal(RUN(c, text, "receive", path_of(c, "letter")), 0);
        assert_string_equal(text, is_daemon ? "known 1\n" : "taken 1\n");
        assert_int_equal(RUN(c, text, "receive", path_of(c, "mbox")), 0);
        assert_string_equal(text, "known 1\n"); /* an mbox' first line is no part of it */
        assert_int_equal(RUN(c, text, "receive", "-r", "joe@example.org", path_of(c, "letter")),
                         67);
        assert_int_equal(RUN(c, text, "receive", path_of(c, "empty")), 65);
        assert_int_equal(RUN(c, text, "receive", path_of(c, "big")), 65);
        assert_int_equal(RUN(c, text, "receive", path_of(c, "nowhere")), 65);
        assert_int_equal(RUN(c, text, "receive", "--no-such-option"), 64);
        assert_int_equal(RUN(c, text, "receive", "a", "b"), 64);
        assert_int_equal(RUN(c, text, "receive", "--wait", "soon", path_of(c, "letter")), 64);
    }
    assert_int_equal(unlink(path_of(c, "control.sock")), 0);
    assert_int_equal(RUN(c, text, "receive", path_of(c, "letter")), 75); /* it has the lock */
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
    config_write(c, "nonsense = 1;\n");
    assert_int_equal(RUN(c, text, "receive", path_of(c, "letter")), 75);
    config_write(c, "");
    assert_int_equal(RUN(c, text, "receive", path_of(c, "letter")), 75); /* mail_in is off */
}

static void test_receive_waits_no_longer_than_it_is_told_for_a_daemon_that_hangs(void **state)
{
    struct club *c = *state;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), waiting[3];
    char text[2000], more[100];

    snprintf(more, sizeof more, MAIL_IN, "");
    config_write(c, more);
    letter_write(c, "letter", letter);
    str_copy(at.sun_path, sizeof at.sun_path, path_of(c, "control.sock"));
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 1), 0); /* and accepts nobody */
    assert_int_equal(RUN(c, text, "receive", "--wait", "50ms", path_of(c, "letter")), 75);
    for (size_t i = 0; i < COUNT_OF(waiting); i++) { /* nor is there room to wait */
        waiting[i] = socket(AF_UNIX, SOCK_STREAM, 0);
        (void)fcntl(waiting[i], F_SETFL, O_NONBLOCK);
        (void)connect(waiting[i], (const struct sockaddr *)&at, sizeof at);
    }
    assert_int_equal(RUN(c, text, "receive", path_of(c, "letter")), 75);
    for (size_t i = 0; i < COUNT_OF(waiting); i++)
        close(waiting[i]);
    close(fd);
}

/* The next bytes of fd are these. */
static void assert_hears(int fd, const char *text)
{
    char heard[1000];
    size_t n = 0, want = strlen(text);

    while (n < want) {
        ssize_t got = read(fd, heard + n, want - n);
        assert_true(got > 0);
        n += (size_t)got;
    }
    assert_memory_equal(heard, text, want);
}

static void test_letters_come_in_by_lmtp_and_maildir_and_are_looked_at(void **state)
{
    static const char dialogue[] =
        "LHLO x\r\nMAIL FROM:<joe@example.net>\r\n"
        "RCPT TO:<play+abcdefghijklmnopqrstuv2345@example.org>\r\nDATA\r\n"
        "From: joe@example.net\r\nTo: play+Abcdefghijklmnopqrstuv2345@example.org\r\n"
        "Message-ID: <2@x>\r\n\r\nhelp\r\n.\r\n";
    struct club *c = *state;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct stat about;
    char text[4000], more[300];
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(more, sizeof more,
             "mail_in: { address = \"play@example.org\"; maildir = \"box\"; "
             "lmtp_listen = \"unix:%s\"; };\n",
             path_of(c, "lmtp.sock"));
    config_write(c, more);
    assert_int_equal(RUN(c, text, "serve"), 1); /* the folder is not there */
    assert_int_equal(mkdir(path_of(c, "box"), 0700), 0);
    assert_int_equal(mkdir(path_of(c, "box/new"), 0700), 0);
    assert_int_equal(mkdir(path_of(c, "box/cur"), 0700), 0);
    letter_write(c, "box/new/1", letter);
    daemon_start(c);
    snprintf(more, sizeof more, " lmtp unix:%s\n", path_of(c, "lmtp.sock"));
    assert_non_null(strstr(c->ready, more));
    do { /* the letter in the folder is the first, the one below the second */
        assert_int_equal(RUN(c, text, "inbox", "list"), 0);
    } while (!strstr(text, " maildir "));
    assert_int_equal(stat(path_of(c, "lmtp.sock"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0660);
    str_copy(to.sun_path, sizeof to.sun_path, path_of(c, "lmtp.sock"));
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(write(fd, dialogue, sizeof dialogue - 1), (ssize_t)sizeof dialogue - 1);
    assert_hears(fd, "220 example.org LMTP Fourhanded\r\n"
                     "250-example.org\r\n250-PIPELINING\r\n250-ENHANCEDSTATUSCODES\r\n"
                     "250-8BITMIME\r\n"
                     "250-SMTPUTF8\r\n250 SIZE 1048576\r\n250 2.1.0 OK\r\n250 2.1.5 OK\r\n"
                     "354 The letter, then a line with a dot alone\r\n250 2.0.0 Taken\r\n");
    assert_int_equal(RUN(c, text, "settle"), 0);
    assert_int_equal(RUN(c, text, "inbox", "list", "--state", "done"), 0);
    assert_non_null(strstr(text, " lmtp "));
    assert_int_equal(RUN(c, text, "inbox", "show", "2"), 0);
    assert_non_null(strstr(text, "From: joe@example.net\n"));
    assert_non_null(strstr(text, "recipient play+…@example.org\n"));
    assert_non_null(strstr(text, "To: play+…@example.org\n"));
    assert_null(strstr(text, "abcdefgh"));
    assert_null(strstr(text, "help"));
    assert_int_equal(RUN(c, text, "inbox", "show", "--raw", "2"), 0);
    assert_non_null(strstr(text, "\nhelp"));
    assert_int_equal(RUN(c, text, "inbox", "show", "99"), 1);
    assert_int_equal(RUN(c, text, "inbox", "retry", "2"), 1); /* it was not put aside */
    assert_int_equal(RUN(c, text, "inbox", "list", "--state", "lost"), 2);
    assert_int_equal(kill(c->pid, SIGTERM), 0);
    assert_hears(fd, "421 4.3.2 The server stops, come again later\r\n");
    close(fd);
    assert_int_equal(process_wait(c->pid), 0);
    fclose(c->out);
    c->pid = 0;
    assert_int_equal(RUN(c, text, "inbox", "list"), 0);
    assert_non_null(strstr(text, " maildir ")); /* taken before the daemon ended */
    assert_int_equal(stat(path_of(c, "box/cur/1:2,S"), &about), 0);
}

/* ------------------------------------------------------------------------------- output */

static void to_full_disk(void *arg)
{
    (void)arg;
    dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
}

static int run_to_full_disk(struct club *c, const char *const *words)
{
    FILE *out;
    pid_t pid = program_start(c, words, to_full_disk, NULL, &out);

    fclose(out);
    return process_wait(pid);
}

/* A token is shown once: who could not read it must hear so.  A letter that is stored is stored. */
static void test_what_cannot_be_printed_is_no_success(void **state)
{
    struct club *c = *state;
    char text[2000];

    config_write(c, "mail_in: { address = \"play@example.org\"; };\n");
    letter_write(c, "letter", letter);
    assert_int_equal(RUN(c, text, "user", "add", "anna"), 0);
    assert_int_equal(run_to_full_disk(c, (const char *const[]){"user", "token", "anna", NULL}), 1);
    file_read(path_of(c, "log"), text, sizeof text);
    assert_non_null(strstr(text, "fourhanded: standard output: No space left on device\n"));
    assert_int_equal(run_to_full_disk(c, (const char *const[]){"user", "list", NULL}), 1);
    assert_int_equal(run_to_full_disk(c, (const char *const[]){"verify", "--help", NULL}), 1);
    assert_int_equal(run_to_full_disk(c, (const char *const[]){"rules", "--help", NULL}), 1);
    assert_int_equal(
        run_to_full_disk(c, (const char *const[]){"receive", path_of(c, "letter"), NULL}), 0);
}

/* Standard error is the journal, or (arg not NULL) was so before it was led to a file. */
static void as_journal(void *arg)
{
    char name[48];
    struct stat about;

    if (arg || fstat(STDERR_FILENO, &about) != 0)
        (void)snprintf(name, sizeof name, "1:1");
    else
        (void)snprintf(name, sizeof name, "%ju:%ju", (uintmax_t)about.st_dev,
                       (uintmax_t)about.st_ino);
    (void)setenv("JOURNAL_STREAM", name, 1);
}

static void test_errors_have_their_level_in_the_journal_alone(void **state)
{
    struct club *c = *state;
    const char *const words[] = {"user", "list", "--set", "bogus=1", NULL};
    char text[2000];
    FILE *out;

    for (int is_elsewhere = 0; is_elsewhere < 2; is_elsewhere++) {
        pid_t pid = program_start(c, words, as_journal, is_elsewhere ? c : NULL, &out);
        fclose(out);
        assert_int_equal(process_wait(pid), 1);
        file_read(path_of(c, "log"), text, sizeof text);
        if (is_elsewhere) {
            assert_true(str_starts(text, "--set: bogus: "));
            assert_null(strstr(text, "<3>"));
        } else {
            assert_true(str_starts(text, "<3>--set: bogus: "));
            assert_non_null(strstr(text, "\n<3>fourhanded: "));
        }
        (void)unlink(path_of(c, "log"));
    }
}

/* ------------------------------------------------------------------------------- systemd */

struct systemd {
    char notify[128]; /* NOTIFY_SOCKET */
    int listen_fd;   /* handed over as descriptor 3; -1: none */
    const char *listen_name; /* NULL: "http" */
};

static void as_systemd(void *arg)
{
    const struct systemd *s = arg;
    char pid[24];

    (void)setenv("NOTIFY_SOCKET", s->notify, 1);
    (void)setenv("WATCHDOG_USEC", "600000", 1);
    (void)unsetenv("WATCHDOG_PID");
    if (s->listen_fd >= 0) {
        if (s->listen_fd != 3)
            dup2(s->listen_fd, 3);
        else
            (void)fcntl(3, F_SETFD, 0);
        snprintf(pid, sizeof pid, "%ld", (long)getpid());
        (void)setenv("LISTEN_PID", pid, 1);
        (void)setenv("LISTEN_FDS", "1", 1);
        (void)setenv("LISTEN_FDNAMES", s->listen_name ? s->listen_name : "http", 1);
    }
}

/* The next datagram holds word. */
static void assert_told(int fd, const char *word)
{
    char text[400];
    ssize_t n = recv(fd, text, sizeof text - 1, 0);

    assert_true(n > 0);
    text[n] = '\0';
    if (!strstr(text, word))
        fail_msg("told \"%s\", not %s", text, word);
}

static void test_systemd_is_told_when_it_is_ready_alive_and_stopping(void **state)
{
    struct club *c = *state;
    struct systemd s = {.listen_fd = -1};
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

    snprintf(s.notify, sizeof s.notify, "%s", path_of(c, "notify.sock"));
    str_copy(at.sun_path, sizeof at.sun_path, s.notify);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
    daemon_start_with(c, as_systemd, &s);
    assert_told(fd, "READY=1");
    assert_told(fd, "WATCHDOG=1");
    assert_told(fd, "WATCHDOG=1"); /* the writer answered in between */
    assert_int_equal(kill(c->pid, SIGTERM), 0);
    for (char text[400];;) {
        ssize_t n = recv(fd, text, sizeof text - 1, 0);
        assert_true(n > 0);
        text[n] = '\0';
        if (strstr(text, "STOPPING=1"))
            break;
        assert_non_null(strstr(text, "WATCHDOG=1"));
    }
    assert_int_equal(process_wait(c->pid), 0);
    fclose(c->out);
    c->pid = 0;
    close(fd);
}

/* A configuration whose mail server is at that port. */
static void config_write_smtp(struct club *c, int port)
{
    FILE *f = fopen(c->config, "w");

    assert_non_null(f);
    fprintf(f,
            "public_url = \"http://127.0.0.1:0\";\n"
            "database = \"club.db\"; control_socket = \"control.sock\";\n"
            "web_directory = \"%s/web\";\n"
            "http: { listen = \"127.0.0.1:0\"; shutdown_time = \"5m\"; };\n"
            "mail: { transport = \"smtp\"; host = \"127.0.0.1\"; port = %d; tls = \"none\";\n"
            "        from_address = \"club@example.org\"; };\n",
            FH_SOURCE_DIR, port);
    fclose(f);
}

static void test_a_second_signal_ends_it_at_once(void **state)
{
    static const char ask[] = "POST /api/v1/auth/link HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                              "Content-Type: application/json\r\nContent-Length: 16\r\n\r\n"
                              "{\"login\":\"anna\"}";
    struct club *c = *state;
    struct systemd s = {.listen_fd = -1};
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof to;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0), http = socket(AF_INET, SOCK_STREAM, 0);
    int server = socket(AF_INET, SOCK_STREAM, 0), silent;
    char text[400];

    snprintf(s.notify, sizeof s.notify, "%s", path_of(c, "notify.sock"));
    str_copy(at.sun_path, sizeof at.sun_path, s.notify);
    assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(bind(server, (const struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(listen(server, 1), 0);
    assert_int_equal(getsockname(server, (struct sockaddr *)&to, &size), 0);
    config_write_smtp(c, ntohs(to.sin_port));
    assert_int_equal(RUN(c, text, "user", "add", "anna", "anna@example.org", "--verified"), 0);
    daemon_start_with(c, as_systemd, &s);
    /* A letter to a mail server that is silent keeps the first stop waiting. */
    to.sin_port = htons((uint16_t)c->port);
    assert_int_equal(connect(http, (const struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(write(http, ask, sizeof ask - 1), (ssize_t)sizeof ask - 1);
    silent = accept(server, NULL, NULL);
    assert_true(silent >= 0);
    assert_int_equal(kill(c->pid, SIGTERM), 0);
    do {
        ssize_t n = recv(fd, text, sizeof text - 1, 0);
        assert_true(n > 0);
        text[n] = '\0';
    } while (!strstr(text, "STOPPING=1"));
    assert_int_equal(daemon_stop(c, SIGTERM), 1);
    close(http);
    close(silent);
    close(server);
    close(fd);
    config_write(c, "");
    daemon_start(c); /* and nothing is the worse for it */
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
}

static void test_a_socket_that_systemd_holds_is_served(void **state)
{
    struct club *c = *state;
    struct systemd s = {.listen_fd = -1};
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    char text[2000], expected[64];
    int port;

    s.listen_fd = socket(AF_INET, SOCK_STREAM, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(s.listen_fd, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(s.listen_fd, 16), 0);
    assert_int_equal(getsockname(s.listen_fd, (struct sockaddr *)&at, &size), 0);
    port = ntohs(at.sin_port);
    daemon_start_with(c, as_systemd, &s);
    snprintf(expected, sizeof expected, "ready http://127.0.0.1:%d\n", port);
    assert_string_equal(c->ready, expected);
    http_get(port, "/healthz", text, sizeof text);
    assert_true(str_starts(text, "HTTP/1.1 200"));
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
    close(s.listen_fd);
}

static void test_a_socket_for_letters_that_systemd_holds_is_served(void **state)
{
    struct club *c = *state;
    struct systemd s = {.listen_fd = -1, .listen_name = "lmtp"};
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    char more[200];

    snprintf(more, sizeof more, MAIL_IN, "");
    config_write(c, more);
    s.listen_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    str_copy(at.sun_path, sizeof at.sun_path, path_of(c, "held.sock"));
    assert_int_equal(bind(s.listen_fd, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(s.listen_fd, 16), 0);
    /* A letter's bringer that comes before the daemon is there waits. */
    assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof at), 0);
    daemon_start_with(c, as_systemd, &s);
    assert_non_null(strstr(c->ready, " lmtp unix:"));
    assert_hears(fd, "220 example.org LMTP Fourhanded\r\n");
    assert_int_equal(daemon_stop(c, SIGTERM), 0);
    close(fd);
    close(s.listen_fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, club_make, club_remove)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_daemon_says_where_it_serves_and_stops_in_order),
        TEST(test_a_need_of_more_descriptors_than_there_are_is_refused),
        TEST(test_check_config_looks_at_the_places_that_serve_will_write_to),
        TEST(test_check_config_wants_a_maildir_to_be_one),
        TEST(test_nobody_has_his_letters_at_an_address_of_the_servers),
        TEST(test_a_credential_is_needed_by_the_daemon_alone),
        TEST(test_an_interrupt_stops_it_too),
        TEST(test_a_second_daemon_on_one_file_is_refused),
        TEST(test_a_daemon_on_another_file_does_not_take_the_control_socket),
        TEST(test_a_file_that_is_broken_is_a_fault_that_is_counted),
        TEST(test_subcommands_change_the_same_things_with_and_without_a_daemon),
        TEST(test_an_invitation_to_register_is_listed_and_taken_back),
        TEST(test_what_cannot_be_printed_is_no_success),
        TEST(test_errors_have_their_level_in_the_journal_alone),
        TEST(test_the_file_is_verified_and_copied_beside_a_running_daemon),
        TEST(test_a_file_of_an_older_version_is_upgraded_at_the_start_and_it_is_said),
        TEST(test_what_the_system_says_of_a_file_is_told),
        TEST(test_a_killed_daemon_starts_again_over_what_it_left),
        TEST(test_time_away_is_an_outage_beyond_five_minutes_only),
        TEST(test_a_moved_clock_is_no_outage),
        TEST(test_every_error_of_the_configuration_is_told_at_the_start),
        TEST(test_nonsense_on_the_control_socket_harms_nobody),
        TEST(test_who_is_silent_on_the_control_socket_makes_nobody_wait),
        TEST(test_receive_takes_a_letter_and_says_by_its_status_what_became_of_it),
        TEST(test_receive_waits_no_longer_than_it_is_told_for_a_daemon_that_hangs),
        TEST(test_letters_come_in_by_lmtp_and_maildir_and_are_looked_at),
        TEST(test_systemd_is_told_when_it_is_ready_alive_and_stopping),
        TEST(test_a_second_signal_ends_it_at_once),
        TEST(test_a_socket_that_systemd_holds_is_served),
        TEST(test_a_socket_for_letters_that_systemd_holds_is_served),
    };

    if (argc != 2) {
        fprintf(stderr, "usage: test_daemon PROGRAM\n");
        return 2;
    }
    program = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A Maildir: what becomes of its files, and that the thread notices every way of coming. */
#include "support/harness.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "intake/fake_door.h"
#include "intake/maildir.h"

enum { LETTER_SIZE = 1000 };

struct rig {
    struct fake *fake;
    struct maildir *maildir;
    char path[64];
    struct test_clock time;
};

/* The last four stay valid. */
static const char *path_of(struct rig *r, const char *folder, const char *name)
{
    static char paths[4][400];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s/%s", r->path, folder, name);
    return path;
}

static int rig_make(void **state)
{
    struct rig *r = calloc(1, sizeof *r);
    struct maildir_options options = {.letter_size = LETTER_SIZE};
    struct err err = ERR_INIT;

    assert_non_null(r);
    r->fake = fake_new();
    strcpy(r->path, "/tmp/fh-maildir-XXXXXX");
    assert_non_null(mkdtemp(r->path));
    assert_int_equal(mkdir(path_of(r, "new", ""), 0700), 0);
    assert_int_equal(mkdir(path_of(r, "cur", ""), 0700), 0);
    assert_int_equal(mkdir(path_of(r, "tmp", ""), 0700), 0);
    options.door = fake_door(r->fake);
    options.path = r->path;
    options.clock = clock_test(&r->time);
    assert_ok(maildir_open(&options, &r->maildir, &err), err);
    *state = r;
    return 0;
}

static int rig_remove(void **state)
{
    struct rig *r = *state;
    char command[100];

    maildir_close(r->maildir);
    snprintf(command, sizeof command, "rm -r %s", r->path);
    if (system(command) != 0)
        return -1;
    fake_free(r->fake);
    free(r);
    return 0;
}

static void file_write(const char *path, const char *text, int64_t at_s)
{
    struct timespec times[2] = {{.tv_sec = at_s}, {.tv_sec = at_s}};
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
    if (at_s)
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

#define LETTER(n) "Return-Path: <a" n "@b.example>\nTo: play+" n "@example.org\n\ne4\n"

static void assert_there(struct rig *r, const char *folder, const char *name)
{
    if (access(path_of(r, folder, name), F_OK) != 0)
        fail_msg("%s/%s is not there", folder, name);
}

static int files_in(struct rig *r, const char *folder)
{
    DIR *dir = opendir(path_of(r, folder, ""));
    const struct dirent *entry;
    int n = 0;

    assert_non_null(dir);
    while ((entry = readdir(dir)))
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static struct maildir_scan scan(struct rig *r)
{
    struct maildir_scan done = {.taken = -1};
    struct err err = ERR_INIT;

    assert_ok(maildir_scan(r->maildir, &done, &err), err);
    return done;
}

static void test_files_are_taken_oldest_first_and_then_seen(void **state)
{
    struct rig *r = *state;
    struct maildir_scan done;

    file_write(path_of(r, "new", "z"), LETTER("one"), 1000);
    file_write(path_of(r, "new", "a"), LETTER("two"), 2000);
    file_write(path_of(r, "new", "b:2,"), LETTER("three"), 2000);
    file_write(path_of(r, "new", ".hidden"), LETTER("no"), 1);
    file_write(path_of(r, "tmp", "t"), LETTER("no"), 1);
    done = scan(r);
    assert_int_equal(done.taken, 3);
    assert_int_equal(done.aside, 0);
    assert_int_equal(done.left, 0);
    assert_false(done.is_more);
    assert_string_equal(r->fake->letters[0].recipient, "play+one@example.org");
    assert_string_equal(r->fake->letters[0].sender, "aone@b.example");
    assert_string_equal(r->fake->letters[0].bytes, LETTER("one"));
    assert_string_equal(r->fake->letters[1].recipient, "play+two@example.org");
    assert_string_equal(r->fake->letters[2].recipient, "play+three@example.org");
    assert_there(r, "cur", "z:2,S");
    assert_there(r, "cur", "a:2,S");
    assert_there(r, "cur", "b:2,S");
    assert_int_equal(files_in(r, "new"), 0);
    assert_there(r, "new", ".hidden");
    assert_int_equal(scan(r).taken, 0);
}

/* P39: what cannot be read never blocks what comes after it. */
static void test_files_that_will_never_do_are_moved_aside_and_block_nothing(void **state)
{
    struct rig *r = *state;
    struct maildir_scan done;
    char large[LETTER_SIZE + 2];

    memset(large, 'x', sizeof large);
    memcpy(large, "To: play@example.org\n\n", 22);
    large[LETTER_SIZE + 1] = '\0';
    file_write(path_of(r, "new", "large"), large, 1);
    large[LETTER_SIZE] = '\0';
    file_write(path_of(r, "new", "fits"), large, 2);
    file_write(path_of(r, "new", "empty"), "", 3);
    file_write(path_of(r, "new", "nobodys"), "To: joe@example.org\n\n", 4);
    assert_int_equal(mkdir(path_of(r, "new", "folder"), 0700), 0);
    assert_int_equal(mkfifo(path_of(r, "new", "fifo"), 0600), 0);
    assert_int_equal(symlink("/etc/passwd", path_of(r, "new", "link")), 0);
    file_write(path_of(r, "new", "good"), LETTER("good"), 5);
    done = scan(r);
    assert_int_equal(done.taken, 2);
    assert_int_equal(done.aside, 6);
    assert_int_equal(files_in(r, "new"), 0);
    assert_there(r, "cur", "large:2,F");
    assert_there(r, "cur", "empty:2,F");
    assert_there(r, "cur", "nobodys:2,F");
    assert_there(r, "cur", "folder:2,F");
    assert_there(r, "cur", "fits:2,S");
    assert_there(r, "cur", "good:2,S");
    fake_set(r->fake, false, ST_OK, ST_INVALID); /* the door itself says so */
    file_write(path_of(r, "new", "good"), LETTER("good"), 5);
    assert_int_equal(scan(r).aside, 1);
    assert_there(r, "cur", "good:2,F");
}

static void test_a_store_that_fails_leaves_files_where_they_are(void **state)
{
    struct rig *r = *state;
    struct maildir_scan done;

    file_write(path_of(r, "new", "a"), LETTER("a"), 1);
    file_write(path_of(r, "new", "b"), LETTER("b"), 2);
    fake_set(r->fake, false, ST_IO, ST_OK);
    done = scan(r);
    assert_int_equal(done.taken, 0);
    assert_int_equal(done.left, 2);
    assert_true(done.is_pause);
    assert_int_equal(done.wait_ms, MAILDIR_PAUSE_MS);
    fake_set(r->fake, false, ST_OK, ST_BUSY);
    assert_int_equal(scan(r).left, 2);
    assert_int_equal(files_in(r, "new"), 2);
    fake_set(r->fake, false, ST_OK, ST_OK);
    assert_int_equal(scan(r).taken, 2);
}

/* Scan while no descriptor is to be had; the log goes to a file, whose lines are counted. */
static int failures_logged(struct rig *r, int scans)
{
    char line[400], path[100];
    struct rlimit before, none;
    int err_fd = dup(STDERR_FILENO), fd, n = 0;
    FILE *f;

    snprintf(path, sizeof path, "%s/log", r->path);
    fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(err_fd >= 0 && fd >= 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    dup2(fd, STDERR_FILENO);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (int i = 0; i < scans; i++) {
        struct maildir_scan done = {.taken = -1};
        struct err err = ERR_INIT;
        enum status st = maildir_scan(r->maildir, &done, &err);
        n += st == ST_IO && done.taken == 0 && done.is_pause && done.wait_ms == MAILDIR_PAUSE_MS
                 ? 0
                 : 1000; /* asserted below, where it can be said */
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    dup2(err_fd, STDERR_FILENO);
    close(err_fd);
    close(fd);
    f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, "maildir_failed") != NULL;
    fclose(f);
    return n;
}

/* A folder that cannot be read is looked at again after a pause, and said once. */
static void test_a_look_that_fails_pauses_and_is_logged_once(void **state)
{
    struct rig *r = *state;
    struct maildir_scan done;

    file_write(path_of(r, "new", "a"), LETTER("a"), 1);
    done = scan(r);
    assert_false(done.is_pause);
    assert_int_equal(done.wait_ms, MAILDIR_RESCAN_MS);
    file_write(path_of(r, "new", "b"), LETTER("b"), 1);
    assert_int_equal(failures_logged(r, 3), 1);
    assert_int_equal(files_in(r, "new"), 1);
    assert_int_equal(scan(r).taken, 1);
    assert_int_equal(failures_logged(r, 2), 1); /* well in between: news */
}

static void test_a_name_that_is_taken_in_cur_is_not_replaced(void **state)
{
    struct rig *r = *state;

    for (int i = 0; i < 3; i++) {
        file_write(path_of(r, "new", "a"), LETTER("a"), 0);
        assert_int_equal(scan(r).taken, 1);
    }
    assert_there(r, "cur", "a:2,S");
    assert_there(r, "cur", "a_1:2,S");
    assert_there(r, "cur", "a_2:2,S");
}

static void test_a_file_that_cannot_be_moved_is_let_be_for_an_hour(void **state)
{
    struct rig *r = *state;

    if (geteuid() == 0) /* root may rename anywhere: take the folder's name away instead */
        assert_int_equal(rmdir(path_of(r, "cur", "")), 0);
    else
        assert_int_equal(chmod(path_of(r, "cur", ""), 0500), 0);
    file_write(path_of(r, "new", "a"), LETTER("a"), 0);
    assert_int_equal(scan(r).taken, 0);
    assert_int_equal(r->fake->n, 1); /* it is safe, though */
    r->time.monotonic_ms += MAILDIR_AGAIN_MS - 1;
    (void)scan(r);
    assert_int_equal(r->fake->n, 1);
    r->time.monotonic_ms += 1;
    (void)scan(r);
    assert_int_equal(r->fake->n, 2);
    assert_int_equal(chmod(path_of(r, "new", ""), 0700), 0);
}

static void test_a_look_takes_in_so_many_and_the_oldest_of_all(void **state)
{
    struct rig *r = *state;
    struct maildir_scan done;
    char name[20];

    for (int i = 0; i < MAILDIR_SCAN_MAX + 5; i++) {
        snprintf(name, sizeof name, "%05d", MAILDIR_SCAN_MAX + 5 - i);
        file_write(path_of(r, "new", name), LETTER("a"), 100 + i * 7919 % 1005);
    }
    done = scan(r);
    assert_int_equal(done.taken, MAILDIR_SCAN_MAX);
    assert_true(done.is_more);
    assert_int_equal(done.wait_ms, 0);
    assert_int_equal(files_in(r, "new"), 5);
    done = scan(r);
    assert_int_equal(done.taken, 5);
    assert_false(done.is_more);
}

static void test_the_thread_notices_whatever_way_a_file_comes(void **state)
{
    struct rig *r = *state;
    struct err err = ERR_INIT;
    FILE *slow;

    file_write(path_of(r, "new", "before"), LETTER("before"), 0);
    assert_ok(maildir_start(r->maildir, &err), err);
    fake_wait(r->fake, 1);
    file_write(path_of(r, "tmp", "moved"), LETTER("moved"), 0);
    assert_int_equal(rename(path_of(r, "tmp", "moved"), path_of(r, "new", "moved")), 0);
    fake_wait(r->fake, 2);
    file_write(path_of(r, "new", "written"), LETTER("written"), 0);
    fake_wait(r->fake, 3);
    /* A file that is being written is not taken before it is closed, though others are. */
    slow = fopen(path_of(r, "new", "slow"), "w");
    assert_non_null(slow);
    fputs("To: play+slow@example.org\n\n", slow);
    fflush(slow);
    file_write(path_of(r, "tmp", "next"), LETTER("next"), 0);
    assert_int_equal(rename(path_of(r, "tmp", "next"), path_of(r, "new", "next")), 0);
    fake_wait(r->fake, 4);
    fputs("the end\n", slow);
    fclose(slow);
    fake_wait(r->fake, 5);
    maildir_close(r->maildir);
    r->maildir = NULL;
    assert_string_equal(r->fake->letters[0].recipient, "play+before@example.org");
    assert_string_equal(r->fake->letters[1].recipient, "play+moved@example.org");
    assert_string_equal(r->fake->letters[2].recipient, "play+written@example.org");
    assert_string_equal(r->fake->letters[3].recipient, "play+next@example.org");
    assert_string_equal(r->fake->letters[4].bytes, "To: play+slow@example.org\n\nthe end\n");
    assert_int_equal(files_in(r, "new"), 0);
    assert_int_equal(files_in(r, "cur"), 5);
}

/* A clock on which half a second passes whenever it is looked at. */
static struct clock_reading hasty_read(void *arg)
{
    struct test_clock *t = arg;

    t->monotonic_ms += 500;
    return (struct clock_reading){.wall_at = 0, .monotonic_ms = t->monotonic_ms};
}

static void test_a_file_that_was_linked_is_taken_though_it_is_never_closed(void **state)
{
    struct rig *r = *state;
    struct maildir_options options = {.letter_size = LETTER_SIZE, .path = r->path};
    struct err err = ERR_INIT;

    maildir_close(r->maildir);
    options.door = fake_door(r->fake);
    options.clock = (struct clock){.read = hasty_read, .arg = &r->time};
    assert_ok(maildir_open(&options, &r->maildir, &err), err);
    file_write(path_of(r, "tmp", "linked"), LETTER("linked"), 0);
    assert_ok(maildir_start(r->maildir, &err), err);
    assert_int_equal(link(path_of(r, "tmp", "linked"), path_of(r, "new", "linked")), 0);
    fake_wait(r->fake, 1);
}

static void test_a_folder_that_is_no_maildir_is_refused(void **state)
{
    struct rig *r = *state;
    struct maildir_options options = {.letter_size = 1, .path = "/nowhere"};
    struct maildir *other = NULL;
    struct err err = ERR_INIT;

    options.door = fake_door(r->fake);
    assert_st(maildir_open(&options, &other, &err), ST_IO, err);
    assert_null(other);
    assert_non_null(strstr(err.text, "/nowhere/new"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_make, rig_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_files_are_taken_oldest_first_and_then_seen),
        TEST(test_files_that_will_never_do_are_moved_aside_and_block_nothing),
        TEST(test_a_store_that_fails_leaves_files_where_they_are),
        TEST(test_a_look_that_fails_pauses_and_is_logged_once),
        TEST(test_a_name_that_is_taken_in_cur_is_not_replaced),
        TEST(test_a_file_that_cannot_be_moved_is_let_be_for_an_hour),
        TEST(test_a_look_takes_in_so_many_and_the_oldest_of_all),
        TEST(test_the_thread_notices_whatever_way_a_file_comes),
        TEST(test_a_file_that_was_linked_is_taken_though_it_is_never_closed),
        TEST(test_a_folder_that_is_no_maildir_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

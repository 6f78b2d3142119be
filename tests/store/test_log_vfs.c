/*
 * store/test_log_vfs.c - the log is written in large pieces, and nobody can tell but by counting.
 */
#include "store/rig.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/log_vfs.h"

enum { HEADER = 24, PAGE = 4096, FRAME = HEADER + PAGE, LOG_HEADER = 32 };

static char folder[] = "/tmp/fourhanded-log-vfs-XXXXXX";
static char path[64], database[64]; /* the log, and whose it is */
static sqlite3_vfs *vfs;
static sqlite3_file *file;
static unsigned char image[64 * FRAME]; /* what the file must hold in the end */

static int up(void **state)
{
    const char *name = NULL;
    struct err err = ERR_INIT;
    int fd, flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL;

    (void)state;
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/db-wal", folder);
    (void)snprintf(database, sizeof database, "%s/db", folder);
    fd = open(database, O_RDWR | O_CREAT, 0600); /* SQLite looks at its mode */
    assert_true(fd >= 0);
    (void)close(fd);
    assert_ok(log_vfs_over(NULL, &name, &err), err);
    vfs = sqlite3_vfs_find(name);
    assert_non_null(vfs);
    file = calloc(1, (size_t)vfs->szOsFile);
    assert_non_null(file);
    assert_int_equal(vfs->xOpen(vfs, path, file, flags, &flags), SQLITE_OK);
    memset(image, 0, sizeof image);
    return 0;
}

static int down(void **state)
{
    (void)state;
    if (file && file->pMethods)
        assert_int_equal(file->pMethods->xClose(file), SQLITE_OK);
    free(file);
    file = NULL;
    (void)unlink(path);
    (void)unlink(database);
    assert_int_equal(rmdir(folder), 0);
    return 0;
}

/* How long the file is for anybody else. */
static long long length(void)
{
    struct stat info;

    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

static int put(const void *bytes, int n, long long at)
{
    memcpy(image + at, bytes, (size_t)n);
    return file->pMethods->xWrite(file, bytes, n, at);
}

/* One frame as SQLite writes it: its header, then its page.  The result of the second. */
static int put_frame(int i, bool ends_commit)
{
    unsigned char header[HEADER] = {0, 0, 0, 7, 0, 0, 0, ends_commit ? 9 : 0};
    unsigned char page[PAGE];
    long long at = (long long)i * FRAME;

    memset(header + 8, i + 1, HEADER - 8);
    memset(page, 'a' + i % 26, sizeof page);
    assert_int_equal(put(header, HEADER, at), SQLITE_OK);
    return put(page, PAGE, at + HEADER);
}

static void assert_file_is_image(long long n)
{
    unsigned char *seen = malloc((size_t)n);
    FILE *f = fopen(path, "rb");

    assert_non_null(seen);
    assert_non_null(f);
    assert_int_equal(length(), n);
    assert_int_equal(fread(seen, 1, (size_t)n, f), n);
    assert_memory_equal(seen, image, (size_t)n);
    (void)fclose(f);
    free(seen);
}

static void test_a_commit_is_there_when_its_last_write_returns(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(put_frame(i, false), SQLITE_OK);
        assert_int_equal(length(), 0); /* kept */
    }
    assert_int_equal(put_frame(5, true), SQLITE_OK);
    assert_file_is_image(6 * FRAME);                 /* without a sync */
    assert_int_equal(put_frame(6, true), SQLITE_OK); /* a commit of one page */
    assert_file_is_image(7 * FRAME);
}

static void test_more_than_fits_is_written_in_pieces(void **state)
{
    int fits = LOG_VFS_BYTES / FRAME;

    (void)state;
    assert_true(fits > 10 && fits < 60);
    for (int i = 0; i < fits; i++)
        assert_int_equal(put_frame(i, false), SQLITE_OK);
    assert_int_equal(length(), 0);
    assert_int_equal(put_frame(fits, false), SQLITE_OK);
    assert_true(length() >= (long long)fits * FRAME);
    assert_int_equal(put_frame(fits + 1, true), SQLITE_OK);
    assert_file_is_image((long long)(fits + 2) * FRAME);
}

static void test_any_other_use_of_the_log_writes_it_first(void **state)
{
    unsigned char seen[PAGE];
    sqlite3_int64 size = 0;

    (void)state;
    assert_int_equal(put_frame(0, false), SQLITE_OK);
    assert_int_equal(file->pMethods->xFileSize(file, &size), SQLITE_OK);
    assert_int_equal(size, FRAME);
    assert_int_equal(put_frame(1, false), SQLITE_OK);
    assert_int_equal(file->pMethods->xRead(file, seen, PAGE, FRAME + HEADER), SQLITE_OK);
    assert_memory_equal(seen, image + FRAME + HEADER, PAGE);
    assert_int_equal(put_frame(2, false), SQLITE_OK);
    assert_int_equal(length(), 2 * FRAME);
    assert_int_equal(file->pMethods->xSync(file, SQLITE_SYNC_NORMAL), SQLITE_OK);
    assert_file_is_image(3 * FRAME);
    assert_int_equal(put_frame(3, false), SQLITE_OK);
    assert_int_equal(file->pMethods->xTruncate(file, 4 * FRAME), SQLITE_OK);
    assert_file_is_image(4 * FRAME);
    assert_int_equal(put_frame(4, false), SQLITE_OK);
    assert_int_equal(file->pMethods->xClose(file), SQLITE_OK);
    file->pMethods = NULL;
    assert_file_is_image(5 * FRAME);
}

static void test_what_is_no_frame_is_written_as_it_comes(void **state)
{
    unsigned char header[LOG_HEADER] = {0x37, 0x7f, 6, 0x82};

    (void)state;
    assert_int_equal(put(header, LOG_HEADER, 0), SQLITE_OK);
    assert_file_is_image(LOG_HEADER);
}

static void test_a_write_elsewhere_does_not_overtake(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(put_frame(i, false), SQLITE_OK);
    /* As after a rollback: from the first frame on again. */
    assert_int_equal(put_frame(0, false), SQLITE_OK);
    assert_int_equal(length(), 3 * FRAME);
    assert_int_equal(put_frame(1, true), SQLITE_OK);
    assert_file_is_image(3 * FRAME);
}

static void test_a_failure_is_told_before_the_commit_is_done(void **state)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct rlimit before, low;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(sigaction(SIGXFSZ, &ignore, NULL), 0);
    low = before;
    low.rlim_cur = 2 * FRAME;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(put_frame(i, false), SQLITE_OK);
    assert_int_not_equal(put_frame(3, true), SQLITE_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    /* What could not be written is not tried again behind SQLite's back; it writes anew. */
    assert_int_equal(file->pMethods->xSync(file, SQLITE_SYNC_NORMAL), SQLITE_OK);
    assert_true(length() <= 2 * FRAME);
    for (int i = 0; i < 4; i++)
        assert_int_equal(put_frame(i, i == 3), SQLITE_OK);
    assert_file_is_image(4 * FRAME);
}

static void test_a_base_has_one_name_and_an_unknown_one_none(void **state)
{
    const char *first = NULL, *second = NULL, *none = NULL;
    struct err err = ERR_INIT;

    (void)state;
    assert_ok(log_vfs_over("", &first, &err), err);
    assert_ok(log_vfs_over(NULL, &second, &err), err);
    assert_ptr_equal(first, second);
    assert_int_equal(log_vfs_over("no-such-vfs", &none, &err), ST_NOT_FOUND);
    assert_null(none);
    assert_non_null(strstr(err.text, "no-such-vfs"));
}

/* SQLite itself over it: pages spilled in the midst of a transaction, rolled back and committed,
 * seen by another connection. */
static void test_sqlite_spills_rolls_back_and_commits(void **state)
{
    static const char fill[] =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) "
        "INSERT INTO t SELECT NULL, randomblob(900) FROM n";
    sqlite3 *a = NULL, *b = NULL;
    sqlite3_stmt *stmt = NULL;

    (void)state;
    assert_int_equal(file->pMethods->xClose(file), SQLITE_OK);
    file->pMethods = NULL;
    assert_int_equal(unlink(path), 0);
    assert_int_equal(
        sqlite3_open_v2(database, &a, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs->zName),
        SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(a,
                     "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                     "PRAGMA cache_size = 20; CREATE TABLE t (id INTEGER PRIMARY KEY, x)",
                     NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_open_v2(database, &b, SQLITE_OPEN_READWRITE, NULL),
                     SQLITE_OK); /* without it */
    for (int round = 0; round < 4; round++) {
        assert_int_equal(sqlite3_exec(a, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_exec(a, fill, NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_exec(a, round % 2 ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(b,
                                            "SELECT (SELECT count(*) FROM t), integrity_check "
                                            "FROM pragma_integrity_check",
                                            -1, &stmt, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
        assert_int_equal(sqlite3_column_int(stmt, 0), (round + 1) / 2 * 2000);
        assert_string_equal((const char *)sqlite3_column_text(stmt, 1), "ok");
        assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
    }
    assert_int_equal(sqlite3_close(b), SQLITE_OK);
    assert_int_equal(sqlite3_close(a), SQLITE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_commit_is_there_when_its_last_write_returns, up,
                                        down),
        cmocka_unit_test_setup_teardown(test_more_than_fits_is_written_in_pieces, up, down),
        cmocka_unit_test_setup_teardown(test_any_other_use_of_the_log_writes_it_first, up, down),
        cmocka_unit_test_setup_teardown(test_what_is_no_frame_is_written_as_it_comes, up, down),
        cmocka_unit_test_setup_teardown(test_a_write_elsewhere_does_not_overtake, up, down),
        cmocka_unit_test_setup_teardown(test_a_failure_is_told_before_the_commit_is_done, up, down),
        cmocka_unit_test_setup_teardown(test_a_base_has_one_name_and_an_unknown_one_none, up, down),
        cmocka_unit_test_setup_teardown(test_sqlite_spills_rolls_back_and_commits, up, down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

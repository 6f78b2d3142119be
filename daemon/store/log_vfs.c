/* store/log_vfs.c - see log_vfs.h. */
#include "store/log_vfs.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BASES_MAX = 4,
    NAME_SIZE = 80,
    FRAME_HEADER = 24,   /* page number, size of the database after a commit or 0, salts, sums */
    FRAME_SIZE_AT = 4,
    PAGE_MIN = 512,
};

struct over {
    sqlite3_vfs vfs; /* its pAppData is this struct */
    sqlite3_vfs *base;
    char name[NAME_SIZE];
};

struct log_file {
    sqlite3_file file; /* first: SQLite's view of it */
    sqlite3_file *base;
    unsigned char *kept; /* LOG_VFS_BYTES once something was written; NULL before */
    int n_kept;
    sqlite3_int64 kept_at; /* where in the file the first kept byte belongs */
    bool ends_commit;      /* the last frame's header says so */
};

static struct log_file *log_of(sqlite3_file *file)
{
    return (struct log_file *)(void *)file;
}

/* ---------------------------------------------------------------- what is kept */

static int let_go(struct log_file *f)
{
    int n = f->n_kept;

    f->n_kept = 0;
    return n == 0 ? SQLITE_OK : f->base->pMethods->xWrite(f->base, f->kept, n, f->kept_at);
}

/* A header, or a page of a frame that does not end a commit: more of it is to come. */
static bool is_to_be_kept(struct log_file *f, const unsigned char *bytes, int n)
{
    if (n == FRAME_HEADER) {
        f->ends_commit = (bytes[FRAME_SIZE_AT] | bytes[FRAME_SIZE_AT + 1] |
                          bytes[FRAME_SIZE_AT + 2] | bytes[FRAME_SIZE_AT + 3]) != 0;
        return true;
    }
    return n >= PAGE_MIN && !f->ends_commit;
}

static int log_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
    struct log_file *f = log_of(file);
    bool is_kept = is_to_be_kept(f, bytes, n);
    int rc;

    if (at != f->kept_at + f->n_kept || f->n_kept + n > LOG_VFS_BYTES) {
        rc = let_go(f);
        if (rc != SQLITE_OK)
            return rc;
    }
    if (!f->kept)
        f->kept = malloc(LOG_VFS_BYTES);
    if (!f->kept || n > LOG_VFS_BYTES) /* nothing is kept now */
        return f->base->pMethods->xWrite(f->base, bytes, n, at);
    if (f->n_kept == 0)
        f->kept_at = at;
    memcpy(f->kept + f->n_kept, bytes, (size_t)n);
    f->n_kept += n;
    return is_kept ? SQLITE_OK : let_go(f);
}

/* ---------------------------------------------------------------- all else, after that */

static int log_close(sqlite3_file *file)
{
    struct log_file *f = log_of(file);
    int kept = let_go(f), rc = f->base->pMethods->xClose(f->base);

    free(f->kept);
    f->kept = NULL;
    return rc == SQLITE_OK ? kept : rc;
}

static int log_read(sqlite3_file *file, void *bytes, int n, sqlite3_int64 at)
{
    struct log_file *f = log_of(file);
    int rc = let_go(f);

    return rc == SQLITE_OK ? f->base->pMethods->xRead(f->base, bytes, n, at) : rc;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct log_file *f = log_of(file);
    int rc = let_go(f);

    return rc == SQLITE_OK ? f->base->pMethods->xTruncate(f->base, size) : rc;
}

static int log_sync(sqlite3_file *file, int flags)
{
    struct log_file *f = log_of(file);
    int rc = let_go(f);

    return rc == SQLITE_OK ? f->base->pMethods->xSync(f->base, flags) : rc;
}

static int log_size(sqlite3_file *file, sqlite3_int64 *ret_size)
{
    struct log_file *f = log_of(file);
    int rc = let_go(f);

    return rc == SQLITE_OK ? f->base->pMethods->xFileSize(f->base, ret_size) : rc;
}

static int log_lock(sqlite3_file *file, int level)
{
    struct log_file *f = log_of(file);

    return f->base->pMethods->xLock(f->base, level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    struct log_file *f = log_of(file);

    return f->base->pMethods->xUnlock(f->base, level);
}

static int log_is_reserved(sqlite3_file *file, int *ret_is)
{
    struct log_file *f = log_of(file);

    return f->base->pMethods->xCheckReservedLock(f->base, ret_is);
}

static int log_control(sqlite3_file *file, int op, void *arg)
{
    struct log_file *f = log_of(file);
    int rc = let_go(f);

    return rc == SQLITE_OK ? f->base->pMethods->xFileControl(f->base, op, arg) : rc;
}

static int log_sector(sqlite3_file *file)
{
    struct log_file *f = log_of(file);

    return f->base->pMethods->xSectorSize(f->base);
}

static int log_traits(sqlite3_file *file)
{
    struct log_file *f = log_of(file);

    return f->base->pMethods->xDeviceCharacteristics(f->base);
}

static const sqlite3_io_methods log_methods = {
    .iVersion = 1, /* a log is never mapped and has no shared memory of its own */
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_is_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_traits,
};

/* ---------------------------------------------------------------- the VFS */

static sqlite3_vfs *base_of(sqlite3_vfs *vfs)
{
    return ((struct over *)vfs->pAppData)->base;
}

static int over_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *ret_flags)
{
    sqlite3_vfs *base = base_of(vfs);
    struct log_file *f = log_of(file);
    int rc;

    if ((flags & SQLITE_OPEN_WAL) == 0)
        return base->xOpen(base, name, file, flags, ret_flags);
    /* The base's file lies behind ours, in the room that szOsFile asked for. */
    *f = (struct log_file){.base = (sqlite3_file *)(void *)(f + 1)};
    f->base->pMethods = NULL;
    rc = base->xOpen(base, name, f->base, flags, ret_flags);
    if (rc == SQLITE_OK)
        f->file.pMethods = &log_methods;
    else if (f->base->pMethods)
        (void)f->base->pMethods->xClose(f->base);
    return rc;
}

static int over_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    return base_of(vfs)->xDelete(base_of(vfs), name, sync_folder);
}

static int over_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_is)
{
    return base_of(vfs)->xAccess(base_of(vfs), name, flags, ret_is);
}

static int over_full_path(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
    return base_of(vfs)->xFullPathname(base_of(vfs), name, size, ret);
}

static int over_randomness(sqlite3_vfs *vfs, int n, char *ret)
{
    return base_of(vfs)->xRandomness(base_of(vfs), n, ret);
}

static int over_sleep(sqlite3_vfs *vfs, int microseconds)
{
    return base_of(vfs)->xSleep(base_of(vfs), microseconds);
}

static int over_time(sqlite3_vfs *vfs, double *ret_day)
{
    return base_of(vfs)->xCurrentTime(base_of(vfs), ret_day);
}

static int over_last_error(sqlite3_vfs *vfs, int size, char *ret)
{
    return base_of(vfs)->xGetLastError ? base_of(vfs)->xGetLastError(base_of(vfs), size, ret) : 0;
}

static enum status over_make(struct over *o, sqlite3_vfs *base, struct err *err)
{
    o->base = base;
    (void)snprintf(o->name, sizeof o->name, "log-over-%.60s", base->zName);
    /* Version 1: no extension is loaded, no system call exchanged. */
    o->vfs = (sqlite3_vfs){.iVersion = 1,
                           .szOsFile = (int)sizeof(struct log_file) + base->szOsFile,
                           .mxPathname = base->mxPathname,
                           .zName = o->name,
                           .pAppData = o,
                           .xOpen = over_open,
                           .xDelete = over_delete,
                           .xAccess = over_access,
                           .xFullPathname = over_full_path,
                           .xRandomness = over_randomness,
                           .xSleep = over_sleep,
                           .xCurrentTime = over_time,
                           .xGetLastError = over_last_error};
    if (sqlite3_vfs_register(&o->vfs, /* makeDflt */ 0) != SQLITE_OK)
        return err_reason(err, REASON_NO_MEMORY, "store: out of memory");
    return ST_OK;
}

enum status log_vfs_over(const char *base_name, const char **ret_name, struct err *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct over overs[BASES_MAX];
    static size_t n_overs;
    bool is_named = base_name && base_name[0];
    sqlite3_vfs *base = sqlite3_vfs_find(is_named ? base_name : NULL);
    enum status st = ST_OK;
    size_t i;

    if (!base)
        return err_set(err, ST_NOT_FOUND, "store: there is no VFS named %s",
                       is_named ? base_name : "by default");
    pthread_mutex_lock(&lock);
    for (i = 0; i < n_overs && overs[i].base != base; i++)
        ;
    if (i == BASES_MAX)
        st = err_set(err, ST_TOO_LARGE, "store: more than %d kinds of VFS", BASES_MAX);
    else if (i == n_overs)
        st = over_make(&overs[i], base, err);
    if (st == ST_OK) {
        n_overs += i == n_overs;
        *ret_name = overs[i].name;
    }
    pthread_mutex_unlock(&lock);
    return st;
}

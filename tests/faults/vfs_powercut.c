/* faults/vfs_powercut.c - see vfs_powercut.h. */
#include "faults/vfs_powercut.h"

#include <assert.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECTOR = 512, PATH_SIZE = 4200 };

/* One change that has not been synced. */
struct op {
    struct op *next;
    int64_t at; /* offset; of a truncation the new size */
    int len;    /* -1: a truncation */
    unsigned char bytes[];
};

/* A file as the program sees it: what is on the disk, and on top of it the ops. */
struct image {
    struct image *next;
    char path[PATH_SIZE];
    int opened;
    bool is_loaded;
    unsigned char *bytes;
    int64_t size, room;
    struct op *first, **last;
};

struct file {
    sqlite3_file base; /* methods */
    struct image *image; /* NULL: not watched (temporary files) */
    sqlite3_file *real;  /* behind this struct */
};

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool is_installed;
    struct powercut_options options;
    sqlite3_vfs *real;
    sqlite3_vfs vfs;
    struct image *images;
    struct powercut_counts counts;
    int64_t any;
    struct {
        enum powercut_kind kind;
        int64_t n; /* operations still to go; 0: none */
        int code;
        bool goes_on, has_failed;
    } fail;
    struct {
        enum powercut_kind kind;
        int64_t n;
        uint64_t seed;
    } cut;
    bool is_off;
    bool holds;
    int held;
} pc = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

/* ---------------------------------------------------------------- images; the mutex is held */

static void image_drop_ops(struct image *im)
{
    while (im->first) {
        struct op *op = im->first;

        im->first = op->next;
        free(op);
    }
    im->last = &im->first;
}

static int image_room(struct image *im, int64_t size)
{
    if (size > im->room) {
        int64_t room = size + size / 2 + 65536;
        unsigned char *more = realloc(im->bytes, (size_t)room);

        if (!more)
            return SQLITE_IOERR_NOMEM;
        memset(more + im->room, 0, (size_t)(room - im->room));
        im->bytes = more;
        im->room = room;
    }
    return SQLITE_OK;
}

static int image_load(struct image *im, sqlite3_file *real)
{
    sqlite3_int64 size = 0;
    int rc = real->pMethods->xFileSize(real, &size);

    if (rc == SQLITE_OK)
        rc = image_room(im, size);
    for (int64_t at = 0; rc == SQLITE_OK && at < size; at += 1 << 20) {
        int64_t n = size - at < 1 << 20 ? size - at : 1 << 20;

        rc = real->pMethods->xRead(real, im->bytes + at, (int)n, at);
    }
    im->size = size;
    im->is_loaded = rc == SQLITE_OK;
    return rc;
}

static void image_apply(struct image *im, const struct op *op)
{
    if (op->len < 0) {
        if (op->at < im->size)
            memset(im->bytes + op->at, 0, (size_t)(im->size - op->at));
        im->size = op->at;
        return;
    }
    memcpy(im->bytes + op->at, op->bytes, (size_t)op->len);
    if (op->at + op->len > im->size)
        im->size = op->at + op->len;
}

static int image_add(struct image *im, int64_t at, const void *bytes, int len)
{
    struct op *op = malloc(sizeof *op + (size_t)(len > 0 ? len : 0));

    if (!op || image_room(im, len < 0 ? at : at + len) != SQLITE_OK) {
        free(op);
        return SQLITE_IOERR_NOMEM;
    }
    op->next = NULL;
    op->at = at;
    op->len = len;
    if (len > 0)
        memcpy(op->bytes, bytes, (size_t)len);
    *im->last = op;
    im->last = &op->next;
    image_apply(im, op);
    return SQLITE_OK;
}

static int op_write(sqlite3_file *real, const struct op *op)
{
    return op->len < 0 ? real->pMethods->xTruncate(real, op->at)
                       : real->pMethods->xWrite(real, op->bytes, op->len, op->at);
}

/* All that waits goes to the disk. */
static int image_flush(struct image *im, sqlite3_file *real)
{
    int rc = SQLITE_OK;

    while (rc == SQLITE_OK && im->first) {
        struct op *op = im->first;

        rc = op_write(real, op);
        im->first = op->next;
        if (!im->first)
            im->last = &im->first;
        free(op);
    }
    return rc;
}

static uint64_t draw(uint64_t *seed) /* splitmix64 */
{
    uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Some of what waits reaches the disk: each write not at all, whole, or some of its sectors. */
static void image_tear(struct image *im, uint64_t *seed)
{
    sqlite3_file *real = malloc((size_t)pc.real->szOsFile);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MAIN_DB;

    if (!im->first || !real ||
        pc.real->xOpen(pc.real, im->path, real, flags, &flags) != SQLITE_OK) {
        free(real);
        return;
    }
    for (const struct op *op = im->first; op; op = op->next) {
        uint64_t fate = draw(seed) % 3;

        if (fate == 1)
            (void)op_write(real, op);
        for (int from = 0; fate == 2 && from < op->len;) {
            int to = (int)((op->at + from) / SECTOR * SECTOR + SECTOR - op->at);

            if (to > op->len)
                to = op->len;
            if (draw(seed) % 2)
                (void)real->pMethods->xWrite(real, op->bytes + from, to - from, op->at + from);
            from = to;
        }
    }
    (void)real->pMethods->xClose(real);
    free(real);
}

static void go_off(uint64_t seed)
{
    if (pc.is_off)
        return;
    pc.is_off = true;
    for (struct image *im = pc.images; im; im = im->next) {
        if (seed)
            image_tear(im, &seed);
        image_drop_ops(im);
    }
    pc.holds = false;
    (void)pthread_cond_broadcast(&pc.cond);
}

static struct image *image_of(const char *path)
{
    struct image *im;

    for (im = pc.images; im; im = im->next)
        if (strcmp(im->path, path) == 0)
            break;
    if (!im) {
        im = calloc(1, sizeof *im);
        if (!im)
            return NULL;
        (void)snprintf(im->path, sizeof im->path, "%s", path);
        im->last = &im->first;
        im->next = pc.images;
        pc.images = im;
    }
    im->opened++;
    return im;
}

static void image_leave(struct image *im)
{
    if (--im->opened > 0)
        return;
    for (struct image **at = &pc.images; *at; at = &(*at)->next)
        if (*at == im) {
            *at = im->next;
            break;
        }
    image_drop_ops(im);
    free(im->bytes);
    free(im);
}

/* Count an operation; what comes of it: SQLITE_OK or the code to fail with. */
static int step(enum powercut_kind kind)
{
    if (pc.is_off)
        return SQLITE_IOERR;
    if (pc.cut.n > 0 && (pc.cut.kind == POWERCUT_ANY || pc.cut.kind == kind) && --pc.cut.n == 0) {
        go_off(pc.cut.seed);
        return SQLITE_IOERR;
    }
    if (pc.fail.has_failed && pc.fail.goes_on &&
        (pc.fail.kind == POWERCUT_ANY || pc.fail.kind == kind))
        return pc.fail.code;
    if (pc.fail.n > 0 && (pc.fail.kind == POWERCUT_ANY || pc.fail.kind == kind) &&
        --pc.fail.n == 0) {
        pc.fail.has_failed = true;
        return pc.fail.code;
    }
    return SQLITE_OK;
}

/* ---------------------------------------------------------------- files */

static int file_close(sqlite3_file *f)
{
    struct file *file = (struct file *)f;
    int rc;

    (void)pthread_mutex_lock(&pc.mutex);
    if (file->image && !pc.is_off)
        (void)image_flush(file->image, file->real);
    rc = file->real->pMethods->xClose(file->real);
    if (file->image)
        image_leave(file->image);
    (void)pthread_mutex_unlock(&pc.mutex);
    return rc;
}

static int file_read(sqlite3_file *f, void *ret, int n, sqlite3_int64 at)
{
    struct file *file = (struct file *)f;
    struct image *im = file->image;
    int rc = SQLITE_OK;

    if (!im || pc.options.passes_through) {
        (void)pthread_mutex_lock(&pc.mutex);
        rc = im && pc.is_off ? SQLITE_IOERR_READ : SQLITE_OK;
        (void)pthread_mutex_unlock(&pc.mutex);
        return rc ? rc : file->real->pMethods->xRead(file->real, ret, n, at);
    }
    (void)pthread_mutex_lock(&pc.mutex);
    if (pc.is_off) {
        rc = SQLITE_IOERR_READ;
    } else if (at + n <= im->size) {
        memcpy(ret, im->bytes + at, (size_t)n);
    } else {
        int64_t some = at < im->size ? im->size - at : 0;

        memset(ret, 0, (size_t)n);
        if (some > 0)
            memcpy(ret, im->bytes + at, (size_t)some);
        rc = SQLITE_IOERR_SHORT_READ;
    }
    (void)pthread_mutex_unlock(&pc.mutex);
    return rc;
}

static int file_change(struct file *file, int64_t at, const void *bytes, int n)
{
    struct image *im = file->image;
    int rc;

    if (!im)
        return n < 0 ? file->real->pMethods->xTruncate(file->real, at)
                     : file->real->pMethods->xWrite(file->real, bytes, n, at);
    (void)pthread_mutex_lock(&pc.mutex);
    if (n < 0)
        pc.counts.truncates++;
    else
        pc.counts.writes++;
    rc = step(POWERCUT_WRITE);
    if (rc == SQLITE_OK && pc.options.passes_through)
        rc = n < 0 ? file->real->pMethods->xTruncate(file->real, at)
                   : file->real->pMethods->xWrite(file->real, bytes, n, at);
    else if (rc == SQLITE_OK)
        rc = image_add(im, at, bytes, n);
    (void)pthread_mutex_unlock(&pc.mutex);
    return rc;
}

static int file_write(sqlite3_file *f, const void *bytes, int n, sqlite3_int64 at)
{
    return file_change((struct file *)f, at, bytes, n);
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    return file_change((struct file *)f, size, NULL, -1);
}

static void pause_us(int64_t us)
{
    struct timespec t = {.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};

    while (us > 0 && nanosleep(&t, &t) != 0)
        continue;
}

static int file_sync(sqlite3_file *f, int flags)
{
    struct file *file = (struct file *)f;
    int rc;

    if (!file->image)
        return file->real->pMethods->xSync(file->real, flags);
    pause_us(pc.options.sync_delay_us);
    (void)pthread_mutex_lock(&pc.mutex);
    pc.counts.syncs++;
    if (pc.holds) {
        pc.held++;
        (void)pthread_cond_broadcast(&pc.cond);
        while (pc.holds)
            (void)pthread_cond_wait(&pc.cond, &pc.mutex);
        pc.held--;
    }
    rc = step(POWERCUT_SYNC);
    if (rc == SQLITE_OK && !pc.options.passes_through)
        rc = image_flush(file->image, file->real);
    (void)pthread_mutex_unlock(&pc.mutex);
    /* Held in memory until here: the kernel keeps it from now on, whatever becomes of us. */
    if (rc == SQLITE_OK && pc.options.passes_through)
        rc = file->real->pMethods->xSync(file->real, flags);
    return rc;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *ret)
{
    struct file *file = (struct file *)f;

    if (!file->image || pc.options.passes_through)
        return file->real->pMethods->xFileSize(file->real, ret);
    (void)pthread_mutex_lock(&pc.mutex);
    *ret = file->image->size;
    (void)pthread_mutex_unlock(&pc.mutex);
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *f, int lock)
{
    struct file *file = (struct file *)f;

    return file->real->pMethods->xLock(file->real, lock);
}

static int file_unlock(sqlite3_file *f, int lock)
{
    struct file *file = (struct file *)f;

    return file->real->pMethods->xUnlock(file->real, lock);
}

static int file_check_lock(sqlite3_file *f, int *ret)
{
    struct file *file = (struct file *)f;

    return file->real->pMethods->xCheckReservedLock(file->real, ret);
}

static int file_control(sqlite3_file *f, int op, void *arg)
{
    struct file *file = (struct file *)f;

    if (op == SQLITE_FCNTL_SIZE_HINT || op == SQLITE_FCNTL_CHUNK_SIZE)
        return SQLITE_OK; /* would grow the real file behind the image */
    return file->real->pMethods->xFileControl(file->real, op, arg);
}

static int file_sector(sqlite3_file *f)
{
    (void)f;
    return SECTOR;
}

static int file_traits(sqlite3_file *f)
{
    (void)f;
    return 0; /* no promise at all: not even that a write leaves its neighbours alone */
}

static int file_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
    struct file *file = (struct file *)f;

    return file->real->pMethods->xShmMap(file->real, page, size, extend, ret);
}

static int file_shm_lock(sqlite3_file *f, int at, int n, int flags)
{
    struct file *file = (struct file *)f;

    return file->real->pMethods->xShmLock(file->real, at, n, flags);
}

static void file_shm_barrier(sqlite3_file *f)
{
    struct file *file = (struct file *)f;

    file->real->pMethods->xShmBarrier(file->real);
}

static int file_shm_unmap(sqlite3_file *f, int deletes)
{
    struct file *file = (struct file *)f;

    return file->real->pMethods->xShmUnmap(file->real, deletes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2, /* no mmap: it would see past the image */
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

/* ---------------------------------------------------------------- the VFS */

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *ret_flags)
{
    struct file *file = (struct file *)f;
    int watched = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL;
    int rc;

    (void)vfs;
    memset(file, 0, sizeof *file);
    file->real = (sqlite3_file *)(file + 1);
    (void)pthread_mutex_lock(&pc.mutex);
    rc = pc.is_off ? SQLITE_CANTOPEN
                   : pc.real->xOpen(pc.real, name, file->real, flags, ret_flags);
    if (rc == SQLITE_OK && name && (flags & watched) != 0) {
        file->image = image_of(name);
        if (!file->image)
            rc = SQLITE_NOMEM;
        else if (!file->image->is_loaded && !pc.options.passes_through)
            rc = image_load(file->image, file->real);
    }
    if (rc == SQLITE_OK)
        file->base.pMethods = &methods;
    else if (file->real->pMethods)
        (void)file->real->pMethods->xClose(file->real);
    (void)pthread_mutex_unlock(&pc.mutex);
    return rc;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_dir)
{
    int rc;

    (void)vfs;
    (void)pthread_mutex_lock(&pc.mutex);
    rc = pc.is_off ? SQLITE_IOERR_DELETE : pc.real->xDelete(pc.real, name, sync_dir);
    for (struct image *im = pc.images; rc == SQLITE_OK && im; im = im->next)
        if (strcmp(im->path, name) == 0)
            image_drop_ops(im); /* nothing of a removed file must come back */
    (void)pthread_mutex_unlock(&pc.mutex);
    return rc;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
    (void)vfs;
    return pc.real->xAccess(pc.real, name, flags, ret);
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int size, char *ret)
{
    (void)vfs;
    return pc.real->xFullPathname(pc.real, name, size, ret);
}

static int vfs_random(sqlite3_vfs *vfs, int n, char *ret)
{
    (void)vfs;
    return pc.real->xRandomness(pc.real, n, ret);
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    return pc.real->xSleep(pc.real, us);
}

static int vfs_time(sqlite3_vfs *vfs, double *ret)
{
    (void)vfs;
    return pc.real->xCurrentTime(pc.real, ret);
}

static int vfs_time64(sqlite3_vfs *vfs, sqlite3_int64 *ret)
{
    (void)vfs;
    return pc.real->xCurrentTimeInt64(pc.real, ret);
}

static int vfs_last_error(sqlite3_vfs *vfs, int n, char *ret)
{
    (void)vfs;
    return pc.real->xGetLastError(pc.real, n, ret);
}

/* ---------------------------------------------------------------- from outside */

void powercut_install(const struct powercut_options *options)
{
    (void)pthread_mutex_lock(&pc.mutex);
    pc.options = *options;
    if (!pc.is_installed) {
        pc.real = sqlite3_vfs_find(NULL);
        assert(pc.real && pc.real->iVersion >= 2);
        pc.vfs = (sqlite3_vfs){.iVersion = 2,
                               .szOsFile = (int)sizeof(struct file) + pc.real->szOsFile,
                               .mxPathname = pc.real->mxPathname,
                               .zName = POWERCUT_VFS,
                               .xOpen = vfs_open,
                               .xDelete = vfs_delete,
                               .xAccess = vfs_access,
                               .xFullPathname = vfs_full_path,
                               .xRandomness = vfs_random,
                               .xSleep = vfs_sleep,
                               .xCurrentTime = vfs_time,
                               .xCurrentTimeInt64 = vfs_time64,
                               .xGetLastError = vfs_last_error};
        pc.is_installed = true;
    }
    (void)pthread_mutex_unlock(&pc.mutex);
    if (sqlite3_vfs_register(&pc.vfs, options->is_default) != SQLITE_OK)
        abort();
}

struct powercut_counts powercut_counts(void)
{
    struct powercut_counts counts;

    (void)pthread_mutex_lock(&pc.mutex);
    counts = pc.counts;
    (void)pthread_mutex_unlock(&pc.mutex);
    return counts;
}

void powercut_count_reset(void)
{
    (void)pthread_mutex_lock(&pc.mutex);
    pc.counts = (struct powercut_counts){0};
    pc.fail.n = 0;
    pc.fail.has_failed = pc.fail.goes_on = false;
    pc.cut.n = 0;
    (void)pthread_mutex_unlock(&pc.mutex);
}

void powercut_fail(enum powercut_kind kind, int64_t n, int code, bool goes_on)
{
    (void)pthread_mutex_lock(&pc.mutex);
    pc.fail.kind = kind;
    pc.fail.n = n;
    pc.fail.code = code;
    pc.fail.goes_on = goes_on;
    pc.fail.has_failed = false;
    (void)pthread_mutex_unlock(&pc.mutex);
}

bool powercut_has_failed(void)
{
    bool failed;

    (void)pthread_mutex_lock(&pc.mutex);
    failed = pc.fail.has_failed;
    (void)pthread_mutex_unlock(&pc.mutex);
    return failed;
}

void powercut_at(enum powercut_kind kind, int64_t n, uint64_t seed)
{
    (void)pthread_mutex_lock(&pc.mutex);
    pc.cut.kind = kind;
    pc.cut.n = n;
    pc.cut.seed = seed;
    (void)pthread_mutex_unlock(&pc.mutex);
}

void powercut_now(uint64_t seed)
{
    (void)pthread_mutex_lock(&pc.mutex);
    go_off(seed);
    (void)pthread_mutex_unlock(&pc.mutex);
}

bool powercut_is_off(void)
{
    bool off;

    (void)pthread_mutex_lock(&pc.mutex);
    off = pc.is_off;
    (void)pthread_mutex_unlock(&pc.mutex);
    return off;
}

void powercut_repair(void)
{
    (void)pthread_mutex_lock(&pc.mutex);
    assert(!pc.images); /* all connections are closed */
    pc.is_off = false;
    pc.cut.n = 0;
    pc.fail.n = 0;
    pc.fail.has_failed = pc.fail.goes_on = false;
    (void)pthread_mutex_unlock(&pc.mutex);
}

void powercut_hold_syncs(bool hold)
{
    (void)pthread_mutex_lock(&pc.mutex);
    pc.holds = hold;
    (void)pthread_cond_broadcast(&pc.cond);
    (void)pthread_mutex_unlock(&pc.mutex);
}

void powercut_wait_held(void)
{
    (void)pthread_mutex_lock(&pc.mutex);
    while (pc.held == 0)
        (void)pthread_cond_wait(&pc.cond, &pc.mutex);
    (void)pthread_mutex_unlock(&pc.mutex);
}

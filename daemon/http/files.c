#include "http/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/str.h"
#include "http/http.h"

enum { DEPTH_MAX = 6 };

struct files {
    struct file *list; /* sorted by name */
    size_t n, room;
    size_t bytes;
    char version[FILES_VERSION_SIZE];
};

static const struct {
    const char *ending, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".webmanifest", "application/manifest+json"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".txt", "text/plain; charset=utf-8"},
    {".yaml", "application/yaml"},
    {".woff2", "font/woff2"},
};

/* NULL: not a kind of file that a browser asks for; it is not served. */
static const char *type_of(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < COUNT_OF(types); i++) {
        size_t n = strlen(types[i].ending);

        if (len > n && strcmp(name + len - n, types[i].ending) == 0)
            return types[i].type;
    }
    return NULL;
}

static enum status read_file(int dir, const char *entry, const char *name, const char *type,
                             struct files *files, struct err *err)
{
    int fd = openat(dir, entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct file file = {.type = type};
    struct stat info;
    enum status st = ST_OK;
    size_t have = 0;

    if (fd < 0 || fstat(fd, &info) != 0) {
        st = err_set(err, ST_IO, "%s: %s", name, strerror(errno));
        goto out;
    }
    if (files->n == HTTP_FILES_MAX || info.st_size < 0 ||
        (uint64_t)info.st_size > HTTP_FILES_BYTES - files->bytes) {
        st = err_set(err, ST_TOO_LARGE, "%s: more than %d files or %d bytes to serve", name,
                     HTTP_FILES_MAX, HTTP_FILES_BYTES);
        goto out;
    }
    file.len = (size_t)info.st_size;
    file.name = str_dup(name);
    file.bytes = malloc(file.len + 1);
    if (!file.name || !file.bytes) {
        st = err_reason(err, REASON_NO_MEMORY, "%s: %zu bytes", name, file.len);
        goto out;
    }
    while (have < file.len) {
        ssize_t got = read(fd, file.bytes + have, file.len - have);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            st = err_set(err, ST_IO, "%s: %s", name, got < 0 ? strerror(errno) : "it shrank");
            goto out;
        }
        have += (size_t)got;
    }
    file.bytes[file.len] = '\0';
    file.is_document = str_starts(type, "text/html");
    if (files->n == files->room) {
        size_t room = files->room ? files->room * 2 : 32;
        struct file *list = realloc(files->list, room * sizeof *list);

        if (!list) {
            st = err_reason(err, REASON_NO_MEMORY, "%zu files", room);
            goto out;
        }
        files->list = list;
        files->room = room;
    }
    files->bytes += file.len;
    files->list[files->n++] = file;
    file = (struct file){.name = NULL};
out:
    if (fd >= 0)
        close(fd);
    free(file.name);
    free(file.bytes);
    return st;
}

static enum status read_folder(int fd, const char *prefix, int depth, struct files *files,
                               struct err *err)
{
    DIR *dir = fdopendir(fd);
    struct dirent *entry;
    enum status st = ST_OK;

    if (!dir) {
        st = err_set(err, ST_IO, "%s/: %s", prefix, strerror(errno));
        close(fd);
        return st;
    }
    while (st == ST_OK && (entry = readdir(dir)) != NULL) {
        char name[512];
        struct stat info;

        if (entry->d_name[0] == '.' || strcmp(entry->d_name, "node_modules") == 0)
            continue;
        if (snprintf(name, sizeof name, "%s/%s", prefix, entry->d_name) >= (int)sizeof name) {
            st = err_set(err, ST_TOO_LARGE, "%s/%s: the name is too long", prefix, entry->d_name);
            break;
        }
        if (fstatat(dirfd(dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
            st = err_set(err, ST_IO, "%s: %s", name, strerror(errno));
            break;
        }
        if (S_ISREG(info.st_mode) && type_of(entry->d_name)) {
            st = read_file(dirfd(dir), entry->d_name, name, type_of(entry->d_name), files, err);
        } else if (S_ISDIR(info.st_mode) && depth < DEPTH_MAX) {
            int sub = openat(dirfd(dir), entry->d_name,
                             O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

            if (sub < 0)
                st = err_set(err, ST_IO, "%s: %s", name, strerror(errno));
            else
                st = read_folder(sub, name, depth + 1, files, err);
        }
    }
    closedir(dir);
    return st;
}

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

/* Put the version in the place of "/-/dev/", which is as long or shorter. */
static enum status set_version(struct file *file, const char *version, struct err *err)
{
    static const char mark[] = "/-/dev/";
    struct buf out = buf_make(2 * HTTP_FILES_BYTES);
    const char *at = file->bytes, *found;
    enum status st;

    while ((found = strstr(at, mark)) != NULL) {
        buf_add(&out, at, (size_t)(found - at));
        buf_printf(&out, "/-/%s/", version);
        at = found + sizeof mark - 1;
    }
    buf_add(&out, at, (size_t)(file->bytes + file->len - at));
    st = buf_status(&out, file->name, err);
    if (st == ST_OK) {
        free(file->bytes);
        file->bytes = buf_take(&out, &file->len);
        if (!file->bytes) {
            file->len = 0;
            st = err_reason(err, REASON_NO_MEMORY, "%s", file->name);
        }
    }
    buf_release(&out);
    return st;
}

static void make_etag(struct file *file, const struct digest *digest)
{
    unsigned char hash[DIGEST_SIZE];
    char hex[2 * 8 + 1];

    digest->sha256(digest->arg, file->bytes, file->len, hash);
    hex_encode(hash, 8, hex);
    snprintf(file->etag, sizeof file->etag, "\"%s\"", hex);
}

enum status files_load(const char *directory, const struct digest *digest, struct files **ret,
                       struct err *err)
{
    struct files *files = calloc(1, sizeof *files);
    struct buf all = buf_make(HTTP_FILES_MAX * 600);
    unsigned char hash[DIGEST_SIZE];
    enum status st = ST_OK;
    int fd;

    if (!files) {
        st = err_reason(err, REASON_NO_MEMORY, "static files");
        goto out;
    }
    fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        st = err_set(err, ST_IO, "%s: %s", directory, strerror(errno));
        goto out;
    }
    st = read_folder(fd, "", 0, files, err);
    if (st != ST_OK) {
        err_prefix(err, "%s", directory);
        goto out;
    }
    if (files->n > 0)
        qsort(files->list, files->n, sizeof files->list[0], compare);
    for (size_t i = 0; i < files->n; i++) {
        make_etag(&files->list[i], digest);
        buf_printf(&all, "%s %s\n", files->list[i].name, files->list[i].etag);
    }
    st = buf_status(&all, "static files", err);
    if (st != ST_OK)
        goto out;
    digest->sha256(digest->arg, all.data, all.len, hash);
    hex_encode(hash, 8, files->version);
    for (size_t i = 0; i < files->n && st == ST_OK; i++) {
        if (!files->list[i].is_document)
            continue;
        st = set_version(&files->list[i], files->version, err);
        make_etag(&files->list[i], digest);
    }
    if (st != ST_OK)
        goto out;
    *ret = files;
    files = NULL;
out:
    files_free(files);
    buf_release(&all);
    return st;
}

void files_free(struct files *files)
{
    if (!files)
        return;
    for (size_t i = 0; i < files->n; i++) {
        free(files->list[i].name);
        free(files->list[i].bytes);
    }
    free(files->list);
    free(files);
}

const struct file *files_find(const struct files *files, const char *path, bool *ret_is_versioned)
{
    size_t low = 0, high = files->n;

    *ret_is_versioned = false;
    if (str_starts(path, "/-/")) {
        const char *slash = strchr(path + 3, '/');

        if (!slash)
            return NULL;
        *ret_is_versioned = (size_t)(slash - path - 3) == strlen(files->version) &&
                            strncmp(path + 3, files->version, strlen(files->version)) == 0;
        path = slash;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(path, files->list[middle].name);

        if (order == 0)
            return &files->list[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const char *files_version(const struct files *files)
{
    return files->version;
}

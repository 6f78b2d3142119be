/*
 * http/files.h - the browser client's files, kept in memory.
 *
 * All files under a directory are read when the server starts; a request names one of them exactly
 * or gets none, so no path can lead elsewhere.  Names that begin with a dot, and symbolic links,
 * are left out.
 *
 * Every file has an ETag of its content.  Besides its own name it is found as /-/VERSION/NAME,
 * where VERSION is a digest over all of them: those may be cached for ever, and in HTML files
 * "/-/dev/" is replaced by "/-/VERSION/".
 *
 * Ownership: files_free() frees what files_find() lends.  Threads: read-only once loaded.
 */
#ifndef FH_HTTP_FILES_H
#define FH_HTTP_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/ports.h"
#include "base/status.h"

enum { FILE_ETAG_SIZE = 20, FILES_VERSION_SIZE = 17 };

struct file {
    char *name; /* "/views/game.js" */
    const char *type;
    char *bytes;
    size_t len;
    char etag[FILE_ETAG_SIZE]; /* with its quotes */
    bool is_document; /* HTML */
};

struct files;

/* ST_IO names what could not be read; ST_TOO_LARGE beyond HTTP_FILES_MAX and HTTP_FILES_BYTES. */
MUST_CHECK enum status files_load(const char *directory, const struct digest *digest,
                                  struct files **ret, struct err *err);
void files_free(struct files *files); /* NULL is allowed */

/* Borrowed; NULL when there is none.  *ret_is_versioned: asked for by the right version. */
const struct file *files_find(const struct files *files, const char *path, bool *ret_is_versioned);
const char *files_version(const struct files *files);

#endif

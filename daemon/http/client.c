/*
 * http/client.c - see client.h.
 */
#include "http/client.h"

#include <string.h>

#include "http/server.h"

/* The browser client is one page with addresses of its own. */
static bool is_client_path(const struct request *r)
{
    static const char *const single[] = {"", "open", "new", "settings", "sign-in", "games"};

    if (r->n_segments == 1)
        for (size_t i = 0; i < COUNT_OF(single); i++)
            if (strcmp(r->segments[0], single[i]) == 0)
                return true;
    return r->n_segments == 2 && r->segments[1][0] != '\0' &&
           (strcmp(r->segments[0], "games") == 0 || strcmp(r->segments[0], "users") == 0);
}

const struct file *client_find(const struct request *r, bool *ret_is_versioned)
{
    char path[HTTP_TARGET_MAX + 1];
    size_t used = 0;

    if (is_client_path(r))
        return files_find(r->http->files, "/index.html", ret_is_versioned);
    for (size_t i = 0; i < r->n_segments; i++) {
        if (used + strlen(r->segments[i]) + 2 > sizeof path)
            return NULL;
        used += (size_t)snprintf(path + used, sizeof path - used, "/%s", r->segments[i]);
    }
    return files_find(r->http->files, path, ret_is_versioned);
}

enum status client_answer(struct request *r, const struct file *file, bool is_versioned,
                          struct err *err)
{
    answer_header(r, "ETag", file->etag);
    r->answer.cache = is_versioned ? "public, max-age=31536000, immutable" : "no-cache";
    r->answer.is_document = file->is_document;
    if (request_has_etag(r, file->etag)) {
        answer_empty(r, 304);
        return ST_OK;
    }
    r->answer.made =
        MHD_create_response_from_buffer(file->len, file->bytes, MHD_RESPMEM_PERSISTENT);
    if (!r->answer.made)
        return err_reason(err, REASON_NO_MEMORY, "%s", file->name);
    r->answer.status = 200;
    r->answer.type = file->type;
    return ST_OK;
}

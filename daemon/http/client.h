/*
 * http/client.h - the browser client: which of its files a path names, and its answer.
 *
 * The client is one page with addresses of its own ("/games/7k2mq0xd"), which all are index.html.
 *
 * Threads: the pool's.
 */
#ifndef FH_HTTP_CLIENT_H
#define FH_HTTP_CLIENT_H

#include <stdbool.h>

#include "base/status.h"
#include "http/files.h"

struct request;

/* The file that the path of r names, borrowed; NULL: none. */
const struct file *client_find(const struct request *r, bool *ret_is_versioned);

/* Answer with it, or 304. */
MUST_CHECK enum status client_answer(struct request *r, const struct file *file, bool is_versioned,
                                     struct err *err);

#endif

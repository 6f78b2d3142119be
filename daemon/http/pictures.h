/*
 * http/pictures.h - boards as PNG: drawn by one thread of their own, and kept for who asks next.
 *
 * A picture takes some ten milliseconds of a processor, a hundred times what any other answer does.
 * Drawn on the pool's threads, a few readers of pictures would keep everybody else waiting.  So a
 * request for one is suspended, and the painter does one after another; those who wait for more
 * than PICTURES_QUEUE_MAX others are refused (REASON_BUSY).  Pictures are kept by what is on them
 * (the SHA-256 of the SVG they are made from, and the width), so that a position that many look at
 * is drawn once; the one unused longest makes room.
 *
 * Calling sequence
 *   pictures_new() → pictures_get(), else pictures_submit() → the job's paint() on the painter's
 *   thread, which may pictures_put() → pictures_free(), which waits until all jobs are done.
 *
 * Bounds: PICTURES_MAX pictures of PICTURES_BYTES together; PICTURES_QUEUE_MAX jobs.
 * Ownership: a job is its owner's, who keeps it until paint() is called with it, once.
 * Threads: any.
 */
#ifndef FH_HTTP_PICTURES_H
#define FH_HTTP_PICTURES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/ports.h"
#include "base/status.h"

enum {
    PICTURES_MAX = 256,
    PICTURES_BYTES = 8 * 1024 * 1024,
    PICTURES_QUEUE_MAX = 64
};

struct pictures;

struct picture_job {
    struct picture_job *next;
    void (*paint)(struct picture_job *job);
};

MUST_CHECK enum status pictures_new(struct pictures **ret, struct err *err);
void pictures_free(struct pictures *pictures); /* NULL is allowed */

/* Append the picture of that key; false, and out as it was, when it is not kept (any more). */
bool pictures_get(struct pictures *pictures, const unsigned char key[DIGEST_SIZE],
                  struct buf *out);
/* Keep a copy.  More than a quarter of PICTURES_BYTES, or what finds no memory, is not kept. */
void pictures_put(struct pictures *pictures, const unsigned char key[DIGEST_SIZE],
                  const char *bytes, size_t n);

/* Have job->paint(job) called by the painter.  REASON_BUSY when too many wait already. */
MUST_CHECK enum status pictures_submit(struct pictures *pictures, struct picture_job *job,
                                       struct err *err);

#endif

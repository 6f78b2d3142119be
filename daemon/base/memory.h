/*
 * base/memory.h - what malloc() is to be told, and memory for what it has no place for.
 *
 * A page that the kernel gives anew costs more than to fill it: letters of 1 MiB took four times
 * the processor time while the heaps gave such buffers back at once.  So they stay, up to a bound.
 *
 * A struct with vectors in it, such as the boards of a struct position, wants to begin at a wider
 * border than malloc() promises.  What holds one and lies on the heap comes from here.
 *
 * Ownership: the caller's, who gives it to free().  Threads: any; memory_tune() before the first.
 */
#ifndef FH_BASE_MEMORY_H
#define FH_BASE_MEMORY_H

#include <stddef.h>

enum { MEMORY_BORDER = 64 }; /* bytes; no vector type is wider */

enum {
    MEMORY_HEAPS = 4,          /* shared by all threads; glibc would make one for each */
    MEMORY_KEPT = 8 << 20,     /* bytes free at a heap's end; what is beyond goes back */
    MEMORY_FROM_HEAP = 4 << 20 /* bytes; a larger block goes back as soon as it is freed */
};

/* The process's heaps get these bounds.  For who runs for long; once. */
void memory_tune(void);

/* size bytes, all of them 0, from a border on; NULL when out of memory. */
void *memory_aligned(size_t size);

#endif

/*
 * base/memory.h - memory for what malloc() has no place for.
 *
 * A struct with vectors in it, such as the boards of a struct position, wants to begin at a wider
 * border than malloc() promises.  What holds one and lies on the heap comes from here.
 *
 * Ownership: the caller's, who gives it to free().  Threads: any; no state.
 */
#ifndef FH_BASE_MEMORY_H
#define FH_BASE_MEMORY_H

#include <stddef.h>

enum { MEMORY_BORDER = 64 }; /* bytes; no vector type is wider */

/* size bytes, all of them 0, from a border on; NULL when out of memory. */
void *memory_aligned(size_t size);

#endif

#include "base/memory.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void memory_tune(void)
{
    (void)mallopt(M_ARENA_MAX, MEMORY_HEAPS);
    (void)mallopt(M_MMAP_THRESHOLD, MEMORY_FROM_HEAP);
    (void)mallopt(M_TRIM_THRESHOLD, MEMORY_KEPT);
}

void *memory_aligned(size_t size)
{
    size_t whole = (size + MEMORY_BORDER - 1) / MEMORY_BORDER * MEMORY_BORDER;
    void *memory = whole >= size ? aligned_alloc(MEMORY_BORDER, whole) : NULL;

    if (memory)
        memset(memory, 0, whole);
    return memory;
}

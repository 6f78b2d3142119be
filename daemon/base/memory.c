#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void *memory_aligned(size_t size)
{
    size_t whole = (size + MEMORY_BORDER - 1) / MEMORY_BORDER * MEMORY_BORDER;
    void *memory = whole >= size ? aligned_alloc(MEMORY_BORDER, whole) : NULL;

    if (memory)
        memset(memory, 0, whole);
    return memory;
}

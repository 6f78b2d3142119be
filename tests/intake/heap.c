/* intake/heap.c - see heap.h. */
#define _GNU_SOURCE 1 /* malloc_usable_size(), whatever the flags say */
#include "intake/heap.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_HOOKS 1
#elif __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HAS_NOTHING 1
#endif
#endif

static bool is_on;
static size_t held, peak, times, sum; /* held may be below its beginning: it wraps, and back */

static void took(size_t n)
{
    if (!is_on)
        return;
    held += n;
    times++;
    sum += n;
    if ((long)held > (long)peak)
        peak = held;
}

static void gave(size_t n)
{
    if (is_on)
        held -= n;
}

#if defined(HAS_HOOKS)
size_t __sanitizer_get_allocated_size(const volatile void *p);
void __sanitizer_malloc_hook(const volatile void *p, size_t n);
void __sanitizer_free_hook(const volatile void *p);

void __sanitizer_malloc_hook(const volatile void *p, size_t n)
{
    (void)p;
    took(n);
}

void __sanitizer_free_hook(const volatile void *p)
{
    if (p)
        gave(__sanitizer_get_allocated_size(p));
}
#define IS_COUNTED true
#elif defined(__GLIBC__) && !defined(HAS_NOTHING) && !defined(__SANITIZE_THREAD__) &&             \
    !defined(__SANITIZE_ADDRESS__)
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t count, size_t n);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);
void __libc_free(void *p);

static void *counted(void *p)
{
    if (p)
        took(malloc_usable_size(p));
    return p;
}

void *malloc(size_t n)
{
    return counted(__libc_malloc(n));
}

void *calloc(size_t count, size_t n)
{
    return counted(__libc_calloc(count, n));
}

void *realloc(void *p, size_t n)
{
    size_t before = p ? malloc_usable_size(p) : 0;
    void *ret = __libc_realloc(p, n);

    if (ret || n == 0)
        gave(before);
    return counted(ret);
}

void *memalign(size_t alignment, size_t n)
{
    return counted(__libc_memalign(alignment, n));
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return memalign(alignment, n);
}

int posix_memalign(void **ret, size_t alignment, size_t n)
{
    void *p = memalign(alignment, n);

    if (p)
        *ret = p;
    return p ? 0 : ENOMEM;
}

void free(void *p)
{
    if (p)
        gave(malloc_usable_size(p));
    __libc_free(p);
}
#define IS_COUNTED true
#else
#define IS_COUNTED false
#endif

void heap_begin(void)
{
    held = peak = times = sum = 0;
    is_on = true;
}

struct heap_use heap_end(void)
{
    is_on = false;
    return (struct heap_use){.is_counted = IS_COUNTED, .peak = peak, .times = times, .sum = sum};
}

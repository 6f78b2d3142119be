/*
 * intake/heap.h - counts what a piece of a test takes from the heap.
 *
 * heap_begin() → the work, on this thread alone → heap_end().  Counts every allocation of the
 * process, those of libraries too: by malloc() and its kin being defined here (glibc), or by the
 * hooks of AddressSanitizer.  Elsewhere is_counted is false.
 */
#ifndef FH_TESTS_INTAKE_HEAP_H
#define FH_TESTS_INTAKE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

struct heap_use {
    bool is_counted;
    size_t peak;  /* bytes held at most, above what was held at heap_begin() */
    size_t times; /* allocations */
    size_t sum;   /* bytes of all of them */
};

void heap_begin(void);
struct heap_use heap_end(void);

#endif

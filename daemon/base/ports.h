/*
 * base/ports.h - what low rooms need from outside, handed in by main.
 *
 * Randomness and cryptographic digests come from a library that only some rooms may link, and
 * tests want both to be foreseeable.  So whoever needs them takes these structs as arguments.
 *
 * Ownership: the holder keeps fn and arg valid for as long as anyone holds the struct.
 * Threads: main's implementations may be called from any thread.
 */
#ifndef FH_BASE_PORTS_H
#define FH_BASE_PORTS_H

#include <stddef.h>

#include "base/utc.h"

/* Fill n bytes; cannot fail (main's stops the process when the system has no entropy). */
struct entropy {
    void (*fill)(void *arg, void *bytes, size_t n);
    void *arg;
};

enum { DIGEST_SIZE = 32 };

/* SHA-256 of n bytes. */
struct digest {
    void (*sha256)(void *arg, const void *bytes, size_t n, unsigned char ret[DIGEST_SIZE]);
    void *arg;
};

/* The time now; main's reads clock/, a test's is a variable.  */
struct time_source {
    utc_ms (*now)(void *arg);
    void *arg;
};

#endif

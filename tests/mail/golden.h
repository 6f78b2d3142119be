/*
 * Compare bytes with a file under tests/.  With GOLDEN_WRITE=1 in the environment the file is
 * written instead; read the difference before you commit it.
 */
#ifndef FH_TEST_GOLDEN_H
#define FH_TEST_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/harness.h"

static inline void assert_golden(const char *file, const char *bytes, size_t n)
{
    char path[512];
    const char *write = getenv("GOLDEN_WRITE");
    char *want = malloc(n + 2);
    size_t got = 0;
    FILE *f;

    (void)snprintf(path, sizeof path, "%s/tests/%s", FH_SOURCE_DIR, file);
    if (write != NULL && write[0] == '1') {
        f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(bytes, 1, n, f), n);
        assert_int_equal(fclose(f), 0);
        free(want);
        return;
    }
    f = fopen(path, "rb");
    if (f == NULL)
        fail_msg("%s is missing", path);
    assert_non_null(want);
    got = fread(want, 1, n + 1, f);
    (void)fclose(f);
    if (got != n || memcmp(want, bytes, n) != 0) {
        size_t i = 0, line = 1;

        while (i < n && i < got && want[i] == bytes[i])
            line += bytes[i++] == '\n';
        fail_msg("%s differs in line %zu, at: %.60s", path, line, i < n ? bytes + i : "(end)");
    }
    free(want);
}

#endif

/* P30, P39: a letter that spins takes its process down, and is put aside in the end. */
#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "intake/guard.h"

static volatile unsigned long spun;

static int exit_of(pid_t child)
{
    int status = 0;

    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_what_spins_is_ended(void **state)
{
    pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        (void)!freopen("/dev/null", "w", stderr);
        guard_begin(50);
        for (;;)
            spun++;
    }
    assert_int_equal(exit_of(child), GUARD_EXIT);
}

static void test_what_ends_in_time_is_left_alone(void **state)
{
    pid_t child = fork();

    (void)state;
    assert_true(child >= 0);
    if (child == 0) {
        for (int i = 0; i < 100; i++) { /* each letter has the whole time anew */
            guard_begin(60000);
            for (int n = 0; n < 100000; n++)
                spun++;
            if (guard_end() < 0)
                _exit(1);
        }
        _exit(0);
    }
    assert_int_equal(exit_of(child), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_spins_is_ended),
        cmocka_unit_test(test_what_ends_in_time_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* base/test_thread.c - what a thread says of itself is said of it alone. */
#include "support/harness.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "base/thread.h"

enum { LINUX_SCHED_IDLE = 5, NAME_SIZE = 16 };

struct seen {
    char name[NAME_SIZE];
    int policy;
};

static void *stand_back(void *arg)
{
    struct seen *seen = arg;

    thread_name("a name that is too long");
    thread_stand_back();
    (void)prctl(PR_GET_NAME, seen->name);
    seen->policy = sched_getscheduler(0);
    return NULL;
}

static void test_a_thread_has_a_name_and_stands_back_alone(void **state)
{
    struct seen seen = {.policy = -1};
    char name[NAME_SIZE] = "";
    pthread_t thread;

    (void)state;
    thread_name("front");
    assert_int_equal(pthread_create(&thread, NULL, stand_back, &seen), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(seen.name, "a name that is ");
    assert_int_equal(seen.policy, LINUX_SCHED_IDLE);
    (void)prctl(PR_GET_NAME, name);
    assert_string_equal(name, "front");
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

static void *go_first(void *arg)
{
    int *at = arg;

    thread_go_first();
    *at = getpriority(PRIO_PROCESS, 0);
    return NULL;
}

/* What the process may do, tried without the function. */
static void *try_it(void *arg)
{
    int *at = arg;

    (void)setpriority(PRIO_PROCESS, 0, -10);
    *at = getpriority(PRIO_PROCESS, 0);
    return NULL;
}

static void test_a_thread_goes_first_alone_where_it_may(void **state)
{
    const int before = getpriority(PRIO_PROCESS, 0);
    int allowed = 99, at = 99;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, try_it, &allowed), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, go_first, &at), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(at, allowed);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thread_goes_first_alone_where_it_may),
        cmocka_unit_test(test_a_thread_has_a_name_and_stands_back_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

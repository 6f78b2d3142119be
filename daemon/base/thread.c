/* base/thread.c - see thread.h. */
#include "base/thread.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* Linux's; <sched.h> shows it to GNU programs only. */
enum { LINUX_SCHED_IDLE = 5 };

void thread_name(const char *name)
{
    (void)prctl(PR_SET_NAME, name);
}

void thread_stand_back(void)
{
    const struct sched_param none = {.sched_priority = 0};

    /* Of this thread alone, both, as Linux has it. */
    if (sched_setscheduler(0, LINUX_SCHED_IDLE, &none) != 0)
        (void)setpriority(PRIO_PROCESS, 0, 10);
}

void thread_go_first(void)
{
    (void)setpriority(PRIO_PROCESS, 0, -10); /* of this thread alone, as Linux has it */
}

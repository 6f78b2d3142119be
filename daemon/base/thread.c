/* base/thread.c - see thread.h. */
#include "base/thread.h"

#include <sys/prctl.h>

void thread_name(const char *name)
{
    (void)prctl(PR_SET_NAME, name);
}

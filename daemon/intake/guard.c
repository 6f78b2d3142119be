#include "intake/guard.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/utc.h"

static timer_t timer;
static bool has_timer;
static int64_t limit_ms;

static void on_limit(int number)
{
    static const char words[] = "a letter took too long to be read: giving up\n";

    (void)number;
    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    _exit(GUARD_EXIT);
}

void guard_begin(int64_t cpu_ms)
{
    struct sigaction action = {.sa_handler = on_limit};
    struct sigevent event;
    struct itimerspec when;
    sigset_t only;

    memset(&event, 0, sizeof event);
    memset(&when, 0, sizeof when);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGXCPU;
    sigemptyset(&action.sa_mask);
    limit_ms = cpu_ms;
    /* Without a timer the letter is read all the same: the limits of its reader stand before. */
    has_timer = sigaction(SIGXCPU, &action, NULL) == 0 &&
                timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0;
    if (!has_timer)
        return;
    sigemptyset(&only);
    sigaddset(&only, SIGXCPU);
    (void)pthread_sigmask(SIG_UNBLOCK, &only, NULL);
    when.it_value.tv_sec = (time_t)(cpu_ms / MS_SECOND);
    when.it_value.tv_nsec = (long)(cpu_ms % MS_SECOND) * 1000000L;
    (void)timer_settime(timer, 0, &when, NULL);
}

int64_t guard_end(void)
{
    struct itimerspec left;
    int64_t left_ms = limit_ms;

    if (!has_timer)
        return 0;
    if (timer_gettime(timer, &left) == 0)
        left_ms = (int64_t)left.it_value.tv_sec * MS_SECOND + left.it_value.tv_nsec / 1000000L;
    (void)timer_delete(timer);
    has_timer = false;
    return limit_ms - left_ms;
}

/*
 * base/thread.h - what a thread says of itself: its name, and whether it or others go first.
 *
 * Each thread of ours says its name first thing, so that an operator's `top -H`, a debugger and a
 * profile tell the writer from the courier.
 */
#ifndef FH_BASE_THREAD_H
#define FH_BASE_THREAD_H

/* Name the calling thread; what goes beyond fifteen bytes is cut off. */
void thread_name(const char *name);

/* The calling thread runs from now on only while no other wants the processor (SCHED_IDLE; where
 * that is refused, at nice 10): for work that may take its time, next to threads that are waited
 * for.  Other services do not starve it where each has its own control group, as under systemd. */
void thread_stand_back(void);

/* The calling thread goes before the others of the process where both want the processor (nice
 * -10): for the one that all wait for.  Where the process may not (it is neither root's nor has a
 * RLIMIT_NICE for it: LimitNICE= of a unit) nothing changes. */
void thread_go_first(void);

#endif

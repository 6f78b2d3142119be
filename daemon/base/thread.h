/*
 * base/thread.h - what a thread says of itself: its name, and that others go first.
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

#endif

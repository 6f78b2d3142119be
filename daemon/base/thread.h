/*
 * base/thread.h - names for threads.
 *
 * Each thread of ours says its name first thing, so that an operator's `top -H`, a debugger and a
 * profile tell the writer from the courier.
 */
#ifndef FH_BASE_THREAD_H
#define FH_BASE_THREAD_H

/* Name the calling thread; what goes beyond fifteen bytes is cut off. */
void thread_name(const char *name);

#endif

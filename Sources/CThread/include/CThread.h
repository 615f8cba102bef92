/* The calling thread: its name, and how the kernel lets it run. */
#ifndef TRESTLE_CTHREAD_H
#define TRESTLE_CTHREAD_H

#include <stdint.h>

/* Names it: the first 15 bytes count. */
void cthread_set_name(const char *name);

/* Sets the policy SCHED_BATCH: the thread does not preempt others when it wakes. Sets its time slice (100 us to 100 ms,
   Linux 6.12 and later): threads with a shorter slice preempt it when they wake. Its share of a processor stays the
   same. Does nothing where the thread's policy is not SCHED_OTHER. */
void cthread_be_batch(uint64_t turn_ns);

#endif

/* Settings of the calling thread: its name, its scheduling, and the rights with which it uses files. */
#ifndef TRESTLE_CTHREAD_H
#define TRESTLE_CTHREAD_H

#include <stdint.h>
#include <sys/types.h>

/* Sets the name; only its first 15 bytes are used. */
void cthread_set_name(const char *name);

/* Sets the policy SCHED_BATCH: the thread does not preempt others when it wakes. Sets its time slice (100 us to 100 ms,
   Linux 6.12 and later): threads with a shorter slice preempt it when they wake. Sets its nice value to 5, unless it is
   higher: beside a thread of the usual priority it gets a quarter of the processor. Does nothing if the thread's policy
   is not SCHED_OTHER. */
void cthread_be_batch(uint64_t turn_ns);

/* Calls `body` while this thread, which runs as root, uses files with the rights of a user and one group. Other threads
   keep their rights. `access()` is not affected. Returns -1 without calling `body` if the kernel does not allow it. */
int cthread_use_files_as(uid_t user, gid_t group, void (*body)(void *argument), void *argument);

#endif

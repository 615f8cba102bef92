#define _GNU_SOURCE
#include "CThread.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's `struct sched_attr`, of which older systems have no header. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

void cthread_set_name(const char *name) {
    char start[16];
    strncpy(start, name, sizeof start - 1);
    start[sizeof start - 1] = 0;
    (void)pthread_setname_np(pthread_self(), start);
}

void cthread_be_batch(uint64_t turn_ns) {
    struct scheduling scheduling = {0};
    if (syscall(SYS_sched_getattr, 0, &scheduling, sizeof scheduling, 0) != 0) return;
    if (scheduling.policy != SCHED_OTHER) return;
    scheduling.policy = SCHED_BATCH;
    scheduling.runtime_ns = turn_ns;
    (void)syscall(SYS_sched_setattr, 0, &scheduling, 0);
}

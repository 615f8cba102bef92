#define _GNU_SOURCE
#include "CThread.h"

#include <pthread.h>
#include <grp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's `struct sched_attr`, which the headers of older systems lack. */
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

/* Gives the thread a third of the weight of a thread of the usual priority. With equal weight on a core that it shares
   with the loop, a busy thread makes the loop wait for up to 2 ms once the loop has used its half. */
static const int32_t batch_nice = 5;

void cthread_be_batch(uint64_t turn_ns) {
    struct scheduling scheduling = {0};
    if (syscall(SYS_sched_getattr, 0, &scheduling, sizeof scheduling, 0) != 0) return;
    if (scheduling.policy != SCHED_OTHER) return;
    scheduling.policy = SCHED_BATCH;
    if (scheduling.nice < batch_nice) scheduling.nice = batch_nice;
    scheduling.runtime_ns = turn_ns;
    (void)syscall(SYS_sched_setattr, 0, &scheduling, 0);
}

/* The system calls apply to one thread; the C library's setgroups() would apply to all. */
static int files_as(uid_t user, gid_t group, size_t count, const gid_t *groups) {
    if (syscall(SYS_setgroups, count, groups) != 0) return -1;
    (void)setfsgid(group);
    (void)setfsuid(user);
    /* An invalid id changes nothing and returns the current one. */
    return (uid_t)setfsuid(-1) == user && (gid_t)setfsgid(-1) == group ? 0 : -1;
}

int cthread_use_files_as(uid_t user, gid_t group, void (*body)(void *argument), void *argument) {
    int count = getgroups(0, NULL);
    if (count < 0) return -1;
    gid_t *groups = calloc((size_t)count + 1, sizeof *groups);
    if (groups == NULL) return -1;
    count = getgroups(count, groups);
    int status = count < 0 ? -1 : files_as(user, group, 1, &group);
    if (status == 0) body(argument);
    /* Otherwise the thread would continue with unexpected rights. */
    if (count >= 0 && files_as(geteuid(), getegid(), (size_t)count, groups) != 0) abort();
    free(groups);
    return status;
}

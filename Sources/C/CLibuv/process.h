/* This process as a whole, and what it starts: memory, limits, marks of descendants. */
#ifndef TRESTLE_CLIBUV_PROCESS_H
#define TRESTLE_CLIBUV_PROCESS_H

#include "shim.h"

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/xattr.h>

/* Has the C library keep up to that many freed bytes of each of its heaps, and take no smaller block from the kernel by
   itself. */
static inline void clibuv_keep_freed_memory(int bytes) {
    mallopt(M_TRIM_THRESHOLD, bytes);
    mallopt(M_MMAP_THRESHOLD, bytes);
}

/* Returns all that is kept so to the kernel. */
static inline void clibuv_return_freed_memory(void) { malloc_trim(0); }

/* Has every descriptor but the standard ones be closed in what this process starts. CLOSE_RANGE_CLOEXEC is 4; a kernel
   before 5.11 does not know it, and is asked one by one. */
static inline void clibuv_keep_descriptors(void) {
    if (syscall(SYS_close_range, 3u, ~0u, 4u) == 0) return;
    for (int fd = 3; fd < 1024; fd++) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Has the kernel kill this process when the thread that started it ends; 0: it has ended already, or cannot. */
static inline int clibuv_end_with(pid_t parent) {
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

/* What a process may use: 0 address space, 1 descriptors, 2 processes of its user, 3 size of a core file. */
static inline int clibuv_limit(pid_t pid, int resource, uint64_t value) {
    static const int known[] = {RLIMIT_AS, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_CORE};
    const uint64_t limits[2] = {value, value};
    return (int)syscall(SYS_prlimit64, pid, known[resource], limits, (void *)0);
}

/* The hard limit by which this process, or another one (`pid` not 0), is known; -1 where it cannot be read. Of the time
   that a process may have a real-time priority without a system call, which says nothing to others. */
static inline int clibuv_mark_of(pid_t pid, uint64_t *mark) {
    uint64_t limits[2] = {0, 0};
    if (syscall(SYS_prlimit64, pid, RLIMIT_RTTIME, (void *)0, limits) != 0) return -1;
    *mark = limits[1];
    return 0;
}

/* What the child gets that this thread starts next. */
struct clibuv_family {
    uint64_t mark; /* 0: none */
    int group; /* a descriptor of its control group's cgroup.procs; -1: it stays in this process's */
};

/* In a function, because Swift emits no variables of a header. */
static inline struct clibuv_family *clibuv_family_of_child(void) {
    static _Thread_local struct clibuv_family family = {0, -1};
    return &family;
}

/* Runs in the child of a fork, before it executes a program or starts others: system calls alone. A child that cannot
   enter the control group still has the mark. */
static inline void clibuv_enter_family(void) {
    const struct clibuv_family *family = clibuv_family_of_child();
    const uint64_t limits[2] = {family->mark, family->mark};
    if (family->mark == 0) return;
    (void)syscall(SYS_prlimit64, 0, RLIMIT_RTTIME, limits, (void *)0);
    if (family->group >= 0) (void)!write(family->group, "0", 1);
}

/* As uv_spawn, with a mark for the child and a control group. To be used in one source file alone, whose variables and
   functions those above are. */
static inline int clibuv_spawn(
    uv_loop_t *loop, uv_process_t *process, const uv_process_options_t *options, struct clibuv_family family) {
    static int is_registered = 0;
    if (family.mark != 0 && !is_registered) is_registered = pthread_atfork(NULL, NULL, clibuv_enter_family) == 0;
    *clibuv_family_of_child() = family;
    int status = uv_spawn(loop, process, options);
    *clibuv_family_of_child() = (struct clibuv_family){0, -1};
    return status;
}

/* Has this process become the parent of what its descendants leave behind; 0, or -1 with errno. */
static inline int clibuv_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

/* Whether the service manager has delegated the control group at that path to its unit: systemd sets trusted.delegate,
   and from 251 on user.delegate, which is the one that an unprivileged process can read. */
static inline int clibuv_is_delegated(const char *path) {
    char value = 0;
    return (getxattr(path, "user.delegate", &value, 1) == 1 && value == '1') ||
        (getxattr(path, "trusted.delegate", &value, 1) == 1 && value == '1');
}

/* Keeps what is in the process's memory from core files and from other processes of its user; 0, or -1 where one of the
   two ways to do so was closed. A file's size does not bound what a core pattern pipes elsewhere; that the process is
   not dumpable does not reach those that it starts. */
static inline int clibuv_keep_memory_private(void) {
    int unlimited = clibuv_limit(0, 3, 0);
    int dumpable = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return unlimited == 0 && dumpable == 0 ? 0 : -1;
}

#endif

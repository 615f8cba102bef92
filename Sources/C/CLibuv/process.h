/* This process as a whole, and the processes that it starts: memory, limits, marks of descendants. */
#ifndef TRESTLE_CLIBUV_PROCESS_H
#define TRESTLE_CLIBUV_PROCESS_H

#include "shim.h"

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/xattr.h>

/* Makes the C library keep up to this number of freed bytes in each of its heaps, and request no smaller block
   separately from the kernel. */
static inline void clibuv_keep_freed_memory(int bytes) {
    mallopt(M_TRIM_THRESHOLD, bytes);
    mallopt(M_MMAP_THRESHOLD, bytes);
}

/* Returns all freed memory to the kernel. */
static inline void clibuv_return_freed_memory(void) { malloc_trim(0); }

/* Marks every descriptor except the standard ones to be closed in programs that this process starts.
   CLOSE_RANGE_CLOEXEC is 4; a kernel before 5.11 does not support it, and the descriptors are marked one by one. */
static inline void clibuv_close_descriptors_on_exec(void) {
    if (syscall(SYS_close_range, 3u, ~0u, 4u) == 0) return;
    for (int fd = 3; fd < 1024; fd++) (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Makes the kernel kill this process when the thread that started it ends. Returns 0 if the parent has already ended,
   or on failure. */
static inline int clibuv_end_with(pid_t parent) {
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

/* Limits a resource of a process: 0 address space, 1 descriptors, 2 processes of its user, 3 size of a core file. */
static inline int clibuv_limit(pid_t pid, int resource, uint64_t value) {
    static const int known[] = {RLIMIT_AS, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_CORE};
    const uint64_t limits[2] = {value, value};
    return (int)syscall(SYS_prlimit64, pid, known[resource], limits, (void *)0);
}

/* Reads the mark of this process, or of another one (`pid` not 0). Returns -1 if it cannot be read. The mark is the
   hard limit of the time that a process may run at a real-time priority without a system call, which has no meaning to
   others. */
static inline int clibuv_mark_of(pid_t pid, uint64_t *mark) {
    uint64_t limits[2] = {0, 0};
    if (syscall(SYS_prlimit64, pid, RLIMIT_RTTIME, (void *)0, limits) != 0) return -1;
    *mark = limits[1];
    return 0;
}

/* The properties of the next child that this thread starts. */
struct clibuv_family {
    uint64_t mark; /* 0: none */
    int group; /* a descriptor of its control group's cgroup.procs; -1: it stays in this process's group */
};

/* A function, because Swift does not emit the variables of a header. */
static inline struct clibuv_family *clibuv_family_of_child(void) {
    static _Thread_local struct clibuv_family family = {0, -1};
    return &family;
}

/* Runs in the child of a fork, before it executes a program or starts other processes: only system calls are allowed. A
   child that cannot enter the control group still has the mark. */
static inline void clibuv_enter_family(void) {
    const struct clibuv_family *family = clibuv_family_of_child();
    const uint64_t limits[2] = {family->mark, family->mark};
    if (family->mark == 0) return;
    (void)syscall(SYS_prlimit64, 0, RLIMIT_RTTIME, limits, (void *)0);
    if (family->group >= 0) (void)!write(family->group, "0", 1);
}

/* Like uv_spawn, with a mark and a control group for the child. Use it in one source file only: each source file has
   its own copy of the variables and functions above. */
static inline int clibuv_spawn(
    uv_loop_t *loop, uv_process_t *process, const uv_process_options_t *options, struct clibuv_family family) {
    static int is_registered = 0;
    if (family.mark != 0 && !is_registered) is_registered = pthread_atfork(NULL, NULL, clibuv_enter_family) == 0;
    *clibuv_family_of_child() = family;
    int status = uv_spawn(loop, process, options);
    *clibuv_family_of_child() = (struct clibuv_family){0, -1};
    return status;
}

/* Makes this process the parent of its orphaned descendants. Returns 0, or -1 with errno. */
static inline int clibuv_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

/* Whether the service manager has delegated the control group at that path to its unit. systemd sets trusted.delegate,
   and since version 251 also user.delegate, which an unprivileged process can read. */
static inline int clibuv_is_delegated(const char *path) {
    char value = 0;
    return (getxattr(path, "user.delegate", &value, 1) == 1 && value == '1') ||
        (getxattr(path, "trusted.delegate", &value, 1) == 1 && value == '1');
}

/* Protects the process's memory from core files and from other processes of its user. Returns 0, or -1 if one of the
   two methods failed. Both are needed: the size limit does not apply to a core pattern that pipes the core to a
   program, and child processes do not inherit that the process is not dumpable. */
static inline int clibuv_keep_memory_private(void) {
    int unlimited = clibuv_limit(0, 3, 0);
    int dumpable = prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return unlimited == 0 && dumpable == 0 ? 0 : -1;
}

#endif

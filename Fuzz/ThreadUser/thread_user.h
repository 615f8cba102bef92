#ifndef CTHREADUSER_H
#define CTHREADUSER_H

#include <sys/syscall.h>
#include <sys/types.h>

extern long syscall(long number, ...);

/* Sets the effective user of the calling thread; 0, or -1 with errno. The C library's functions set the user of every
   thread of the process. */
static inline int cthread_set_effective_user(uid_t user) {
    return (int)syscall(SYS_setresuid, (uid_t)-1, user, (uid_t)-1);
}

#endif

#ifndef CPROCESS_H
#define CPROCESS_H

/* What Swift's module of the C library leaves out. */
#include <spawn.h>
#include <sys/pidfd.h>

int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);

#endif

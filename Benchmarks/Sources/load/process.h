// The kernel's data about the server's process.
#ifndef LOAD_PROCESS_H
#define LOAD_PROCESS_H

#include <stdint.h>

// Returns the CPU time that the process has used, user and system, over all its threads, in microseconds; 0 if there is
// no such process. From the process's CPU clock: /proc/PID/stat counts in ticks of 10 ms, too coarse for a short run.
uint64_t process_cpu_us(int pid);

// Returns a value of /proc/PID/status in KiB, such as "VmHWM:"; 0 if there is none.
uint64_t process_memory_kib(int pid, const char *name);

#endif

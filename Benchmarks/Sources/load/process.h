// What the kernel says of the server's process.
#ifndef LOAD_PROCESS_H
#define LOAD_PROCESS_H

#include <stdint.h>

// CPU time that the process has used, user and system, over all its threads, in microseconds; 0 where there is no such
// process. From the kernel's clock of the process: /proc/PID/stat counts in ticks of 10 ms, too coarse for a short run.
uint64_t process_cpu_us(int pid);

// A line of /proc/PID/status that counts KiB, such as "VmHWM:"; 0 where there is none.
uint64_t process_memory_kib(int pid, const char *name);

#endif

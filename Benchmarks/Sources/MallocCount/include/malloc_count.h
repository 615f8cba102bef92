// Counts allocations of the whole process: by C, C++, Swift or a library.
//
// Linked into a program, or preloaded as a library (LD_PRELOAD), this replaces the C library's allocation functions and
// passes every request on to them. If the environment variable MALLOC_COUNT_FILE names a file, the count is written
// there upon SIGUSR2 and at the end of the process, as decimal digits and a line feed.
#ifndef MALLOC_COUNT_H
#define MALLOC_COUNT_H

#include <stdint.h>

// The number of allocations and reallocations since the process began, over all threads.
uint64_t malloc_count(void);

#endif

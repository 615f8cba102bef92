// Counts allocations, wherever in the process they are made: by C, C++, Swift or a library.
//
// Linked into a program, or loaded before it as a library (LD_PRELOAD), this takes the place of the C library's
// allocation functions and hands every request on to them. Where the environment names a file in MALLOC_COUNT_FILE,
// the count is written there upon SIGUSR2 and at the end of the process, as decimal digits and a line feed.
#ifndef MALLOC_COUNT_H
#define MALLOC_COUNT_H

#include <stdint.h>

// Allocations and reallocations since the process began, over all threads.
uint64_t malloc_count(void);

#endif

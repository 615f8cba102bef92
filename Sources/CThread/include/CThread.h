/* The calling thread: its name, and how the kernel lets it run. */
#ifndef TRESTLE_CTHREAD_H
#define TRESTLE_CTHREAD_H

#include <stdint.h>

/* Names it: the first 15 bytes count. */
void cthread_set_name(const char *name);

/* The kernel takes it for one that computes: when it wakes it does not interrupt who runs, and it runs for so long at a time
   (100 us to 100 ms) that it gives way to every other thread that wakes; that from Linux 6.12 on. Its share is that of any
   other thread. Nothing changes where somebody has chosen another policy than the usual one. */
void cthread_be_batch(uint64_t turn_ns);

#endif

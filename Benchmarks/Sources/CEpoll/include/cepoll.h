// epoll, which is missing in Swift's module of the C library: waiting for many descriptors, edge-triggered.
#ifndef CEPOLL_H
#define CEPOLL_H

#include <errno.h>
#include <sys/epoll.h>

// Creates a set of descriptors to wait for; -1 with errno.
static inline int cepoll_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

// Adds a descriptor to wait for input and for room to write; 0, or -1 with errno. Closing the descriptor removes it.
static inline int cepoll_add(int set, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = descriptor};
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
}

// Waits up to that time for descriptors that have become ready since the last wait.
//
// Returns their number: the descriptors are in `found`, of at most 256 elements. 0 if a signal arrived.
static inline int cepoll_wait(int set, int *found, int count, int milliseconds) {
    struct epoll_event events[256];
    int ready = epoll_wait(set, events, count < 256 ? count : 256, milliseconds);
    for (int index = 0; index < ready; index++) found[index] = events[index].data.fd;
    return ready < 0 ? 0 : ready;
}

#endif

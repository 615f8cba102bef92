// epoll, which Swift's module of the C library leaves out: waiting for many descriptors, edge-triggered.
#ifndef CEPOLL_H
#define CEPOLL_H

#include <errno.h>
#include <sys/epoll.h>

// A set of descriptors to wait for; -1 with errno.
static inline int cepoll_make(void) { return epoll_create1(EPOLL_CLOEXEC); }

// Waits for input and for room to write of one more descriptor; 0, or -1 with errno. Closing the descriptor takes it out.
static inline int cepoll_add(int set, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = descriptor};
    return epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event);
}

// Waits up to that long for those that have become ready since they were found ready last.
//
// Returns how many there are: their descriptors stand in `found`, of at most 256 elements. 0 where a signal came.
static inline int cepoll_wait(int set, int *found, int count, int milliseconds) {
    struct epoll_event events[256];
    int ready = epoll_wait(set, events, count < 256 ? count : 256, milliseconds);
    for (int index = 0; index < ready; index++) found[index] = events[index].data.fd;
    return ready < 0 ? 0 : ready;
}

#endif

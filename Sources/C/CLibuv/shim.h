/* libuv, and the few other system calls that Swift cannot import (macros, GNU extensions). */
#ifndef TRESTLE_CLIBUV_SHIM_H
#define TRESTLE_CLIBUV_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

/* GNU extensions. Declared here because the importer's macros decide whether the system headers declare them. */
extern int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
extern long syscall(long number, ...);
extern int pipe2(int descriptors[2], int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);

/* The value of SO_PEERCRED: the kernel's `struct ucred`. */
struct clibuv_peer {
    int32_t pid;
    uint32_t uid;
    uint32_t gid;
};

/* Reads the peer's identity when it connected. Returns 0, or -1 with errno. */
static inline int clibuv_peer_credentials(int fd, struct clibuv_peer *peer) {
    socklen_t length = sizeof *peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &length);
}

/* Reads all groups of the peer when it connected. `*bytes` is the size of the buffer, then the size of the groups.
 * Returns 0, or -1 with errno: ERANGE if the buffer is too small. The option's number is here because older headers
 * lack it. */
static inline int clibuv_peer_groups(int fd, uint32_t *groups, uint32_t *bytes) {
    socklen_t length = *bytes;
    int result = getsockopt(fd, SOL_SOCKET, 59 /* SO_PEERGROUPS, Linux 4.13 */, groups, &length);
    *bytes = length;
    return result;
}

/* Returns a descriptor of the peer's process, or -1 with errno if the kernel has none. It refers to that process only,
 * even after another process has got its number. The caller closes it. */
static inline int clibuv_peer_process(int fd) {
    int process = -1;
    socklen_t length = sizeof process;
    return getsockopt(fd, SOL_SOCKET, 77 /* SO_PEERPIDFD, Linux 6.5 */, &process, &length) == 0 ? process : -1;
}

static inline int clibuv_socket(void) {
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

static inline int clibuv_socketpair(int descriptors[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, descriptors);
}

static inline int clibuv_pipe(int descriptors[2]) {
    return pipe2(descriptors, O_CLOEXEC);
}

static inline int clibuv_accept(int fd) {
    return accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/* The maximum length of a path that a Unix socket can be bound to, without its terminating zero. */
static const int clibuv_path_limit = (int)sizeof(((struct sockaddr_un *)0)->sun_path) - 1;

/* Fills in an address; the caller has checked that `length` is within the limit. */
static inline void clibuv_set_address(struct sockaddr_un *address, const char *path, size_t length) {
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    for (size_t i = 0; i < length; i++) address->sun_path[i] = path[i];
}

static inline int clibuv_bind(int fd, const struct sockaddr_un *address) {
    return bind(fd, (const struct sockaddr *)address, sizeof *address);
}

static inline int clibuv_connect(int fd, const struct sockaddr_un *address) {
    return connect(fd, (const struct sockaddr *)address, sizeof *address);
}

static inline int clibuv_local_address(int fd, struct sockaddr_un *address, socklen_t *length) {
    return getsockname(fd, (struct sockaddr *)address, length);
}

/* Like read, recv and send. The C library's functions are cancellation points, which takes time in a process with
   several threads; no thread is cancelled here. */
static inline ssize_t clibuv_read(int fd, void *bytes, size_t count) {
    return syscall(SYS_read, fd, bytes, count);
}

/* For a socket: the kernel takes a shorter path than for read, which saves 5% of a read and a write of 150 bytes.
   Descriptors that came with the bytes are lost, and the read stops after these bytes even if more are available. */
static inline ssize_t clibuv_receive(int fd, void *bytes, size_t count) {
    return syscall(SYS_recvfrom, fd, bytes, count, 0, NULL, NULL);
}

/* The same; sets `*is_cut` to whether descriptors came with the bytes. */
static inline ssize_t clibuv_receive_checked(int fd, void *bytes, size_t count, int *is_cut) {
    struct iovec vector = {.iov_base = bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    ssize_t received = syscall(SYS_recvmsg, fd, &message, 0);
    *is_cut = (message.msg_flags & MSG_CTRUNC) != 0;
    return received;
}

static inline ssize_t clibuv_send(int fd, const void *bytes, size_t count) {
    return syscall(SYS_sendto, fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
}

/* Each event is reported once, until the descriptor is watched again. `input_end` is reported together with input. */
static const uint32_t clibuv_epoll_once = EPOLLET;
static const uint32_t clibuv_epoll_readable = EPOLLIN;
static const uint32_t clibuv_epoll_input_end = EPOLLRDHUP;
static const uint32_t clibuv_epoll_writable = EPOLLOUT;
static const uint32_t clibuv_epoll_hang_up = EPOLLHUP;
static const uint32_t clibuv_epoll_failure = EPOLLERR;

/* Creates an empty epoll set, closed on exec. Returns the descriptor, or -1 with errno. */
static inline int clibuv_epoll_create(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

/* Applies EPOLL_CTL_ADD, EPOLL_CTL_MOD or EPOLL_CTL_DEL. Returns 0, or -1 with errno. Events of the descriptor carry
   `data`. */
static inline int clibuv_epoll_change(int set, int operation, int fd, uint32_t events, void *data) {
    struct epoll_event event = {.events = events, .data = {.ptr = data}};
    return epoll_ctl(set, operation, fd, &event);
}

/* Waits for events, up to the given number of milliseconds, or without a limit if that is negative. Returns the number
   of events, or -1 with errno. */
static inline int clibuv_epoll_wait(int set, struct epoll_event *events, int maximum, int milliseconds) {
    return (int)syscall(SYS_epoll_pwait, set, events, maximum, milliseconds, NULL, 0);
}

/* A wrapper because fcntl is variadic. */
static inline int clibuv_set_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static inline int clibuv_set_close_on_exec(int fd) {
    return fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Creates a file in memory, closed on exec. Returns the descriptor, or -1 with errno. */
static inline int clibuv_memory_file(const char *name) {
    int fd = (int)syscall(SYS_memfd_create, name, 1u /* MFD_CLOEXEC */);
    /* Created with every permission: any process that can reach it through /proc could write it. */
    if (fd >= 0) (void)fchmod(fd, 0600);
    return fd;
}

/* The maximum number of descriptors in one message: SCM_MAX_FD in the kernel. */
enum { clibuv_maximum_descriptors = 253 };

/* Sends bytes, and with the first of them copies of at most clibuv_maximum_descriptors descriptors. Returns the number
   of bytes that the socket accepted, or -1 with errno: then no descriptor was sent. */
static inline ssize_t clibuv_send_beside(
    int socket, const void *bytes, size_t byte_count, const int *descriptors, size_t count) {
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = byte_count};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int) * clibuv_maximum_descriptors)];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.space};
    message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * count);
    memcpy(CMSG_DATA(header), descriptors, sizeof(int) * count);
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Puts copies of descriptors into a socket's queue as one message. Returns 0, or -1 with errno. */
static inline int clibuv_send_descriptors(int socket, const int *descriptors, size_t count) {
    char byte = 0;
    return clibuv_send_beside(socket, &byte, 1, descriptors, count) < 0 ? -1 : 0;
}

/* Receives bytes and the descriptors sent with them, closed on exec. `descriptors` must have space for
   clibuv_maximum_descriptors. Returns the number of bytes, or -1 with errno. */
static inline ssize_t clibuv_receive_beside(
    int socket, void *bytes, size_t byte_count, int *descriptors, int *descriptor_count) {
    struct iovec vector = {.iov_base = bytes, .iov_len = byte_count};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int) * clibuv_maximum_descriptors)];
    } control;
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
    *descriptor_count = 0;
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t length = header->cmsg_len - CMSG_LEN(0);
        memcpy(descriptors + *descriptor_count, CMSG_DATA(header), length);
        *descriptor_count += (int)(length / sizeof(int));
    }
    return received;
}

/* Receives the descriptors of the next message of clibuv_send_descriptors. Returns their number, 0 if no message is
   left, or -1 with errno. */
static inline int clibuv_receive_descriptors(int socket, int *descriptors) {
    char byte;
    int count = 0;
    ssize_t received = clibuv_receive_beside(socket, &byte, 1, descriptors, &count);
    if (received < 0) return errno == EAGAIN ? 0 : -1;
    return count;
}

/* Returns the number of sent bytes that the peer has not received, as the kernel counts them, or -1 with errno. */
static inline int clibuv_unreceived(int socket) {
    int count = 0;
    return ioctl(socket, SIOCOUTQ, &count) == 0 ? count : -1;
}

/* Creates a descriptor that other threads make readable. Returns -1 with errno on failure. */
static inline int clibuv_make_bell(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/* Makes it readable. Any thread. Fails only if it is already readable. */
static inline void clibuv_ring_bell(int bell) {
    const uint64_t one = 1;
    (void)!write(bell, &one, sizeof one);
}

/* Makes it unreadable. */
static inline void clibuv_silence_bell(int bell) {
    uint64_t count;
    (void)!read(bell, &count, sizeof count);
}

/* A wrapper because open is variadic. */
static inline int clibuv_open(const char *path, int flags, mode_t mode) {
    return open(path, flags | O_CLOEXEC, mode);
}

/* Names the calling thread and gives it a signal mask of its own that blocks only SIGPIPE. A thread inherits the mask
   of its creator, which may be a libdispatch worker that blocks every signal. After the main thread has entered
   dispatchMain(), the loop thread may be the only one that receives signals. */
static inline void clibuv_prepare_thread(const char *name) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGPIPE);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    pthread_setname_np(pthread_self(), name);
}

/* CLOCK_MONOTONIC in nanoseconds. */
static inline uint64_t clibuv_monotonic_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* CPU time of the calling thread in nanoseconds. */
static inline uint64_t clibuv_thread_cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Exchanges two paths in one step, or renames the first one to the second, which must not exist. Returns 0, or -1 with
   errno. */
static inline int clibuv_rename(const char *from, const char *to, int exchanges) {
    /* RENAME_EXCHANGE, RENAME_NOREPLACE. */
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, exchanges ? 2u : 1u);
}

#endif

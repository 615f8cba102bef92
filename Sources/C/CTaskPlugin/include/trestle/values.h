/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle/values.h: the types that both tables of the plugin interface use: the version, bytes, callers, requests,
 * errors. Part of trestle_plugin.h, which contains the rules; include that file instead.
 */
#ifndef TRESTLE_VALUES_H
#define TRESTLE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. */
#define TRESTLE_ABI 2u

/* The number of readable bytes after the options, results and progress that the daemon passes to a plugin. */
#define TRESTLE_PADDING 64u

/* A call in flight. 0 is no call. Calls that the daemon makes and calls that the plugin makes with `call` are numbered
 * separately: `reply`, `fail` and `report_progress` take the former, `cancel` of the host takes the latter. */
typedef uint64_t trestle_call;

/* Borrowed bytes, not terminated. `data` may be NULL if `size` is 0; otherwise it points to `size` bytes. */
typedef struct trestle_bytes {
    const char *data;
    size_t size;
} trestle_bytes;

/* The caller of a task. The struct and its texts are valid until the function that received it returns. */
typedef struct trestle_caller {
    uint32_t size;        /* Size of this struct in bytes, as the daemon compiled it. */
    uint32_t abi;         /* TRESTLE_ABI of the daemon. */
    uint64_t session;     /* The session's number; 0 for the daemon itself. */
    uint32_t uid;         /* The peer's user id, as the kernel reports it. */
    uint32_t gid;         /* The peer's group id, as the kernel reports it. */
    int32_t pid;          /* The peer's process id when it connected; the process may have ended since. */
    uint32_t flags;       /* TRESTLE_CALLER_… */
    trestle_bytes origin; /* The origin that the session represents; "local" unless the session named another. */
    trestle_bytes user;   /* The logged-in user; empty if there is none. */
    trestle_bytes client; /* The name that the client gave itself; empty if there is none. */
    uint64_t revision;    /* Differs whenever a field above differs, within the process. Data that a plugin has derived
                             from a caller stays valid while the revision is the same. Never 0. */
} trestle_caller;

/* The caller is a local session of root or of the daemon's own user, or the daemon itself. */
#define TRESTLE_CALLER_TRUSTED 1u

/* One request of the daemon to the plugin: a call of a task, or one of the other functions that take a request.
 * Everything in it is borrowed until the function returns. To answer later, store `call` and copy any other data that
 * you need. */
typedef struct trestle_request {
    uint32_t size;         /* Size of this struct in bytes, as the daemon compiled it. */
    uint32_t abi;          /* TRESTLE_ABI of the daemon. */
    trestle_call call;     /* The handle for `reply` or `fail`: exactly one of them, exactly once. */
    uint32_t number;       /* In `call`: the index of the task in the manifest's `tasks`; in `launch`: in
                              `launchWorkers`; in `intercept`: in `interceptors`; in `reconfigure`:
                              TRESTLE_RECONFIGURE_…; otherwise 0. */
    uint32_t flags;        /* TRESTLE_REQUEST_… */
    int64_t time_remaining_ns; /* Nanoseconds left until the daemon ends the call; negative: no deadline. */
    trestle_bytes options; /* JSON: the call's options, byte for byte as the caller sent them, {} if it sent none. At
                              most as long as a message: 1 MiB, unless the daemon is configured otherwise. */
    const trestle_caller *caller; /* Never NULL. */
} trestle_request;

/* The caller has requested progress (in `intercept`: the caller of the intercepted call). Without this flag
   `report_progress` is accepted but sends nothing. */
#define TRESTLE_REQUEST_PROGRESS 1u
/* No caller waits for the answer. Still answer: the answer ends the call. Set only in the daemon's own process. */
#define TRESTLE_REQUEST_ONE_WAY 2u

/* An error, as the bridge protocol shows it to the caller. Borrowed, in either direction, until the function
   returns. */
typedef struct trestle_error {
    uint32_t size;          /* sizeof(trestle_error) */
    uint32_t abi;           /* TRESTLE_ABI */
    trestle_bytes code;     /* A stable code such as "record.not_found"; empty means "internal". A plugin's own codes
                               begin with its name. */
    trestle_bytes message;  /* One sentence for a person. */
    trestle_bytes data;     /* JSON, or empty. Invalid JSON is left out. */
    int64_t retry_after_ns; /* Nanoseconds after which a retry makes sense; negative if unspecified. */
    uint32_t flags;         /* TRESTLE_ERROR_… */
    uint32_t reserved;      /* 0 */
} trestle_error;

/* The same call may succeed later. */
#define TRESTLE_ERROR_TRANSIENT 1u
/* The message was not written for callers: it comes from a library or from the system and may name files. The daemon
   writes it to its log, and shows it only to trusted callers. Other callers get the code and an id, which the log line
   also contains. Only from the plugin to the daemon. */
#define TRESTLE_ERROR_UNFORESEEN 2u

/* Whether a table (`host`, `request` …) is long enough to contain a member that a newer version of this header added:
 *
 *     if (TRESTLE_HAS(host, unwatch)) ...
 */
#define TRESTLE_HAS(table, member) \
    ((table)->size >= (size_t)((const char *)(&(table)->member + 1) - (const char *)(table)))

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle/values.h: what both tables of the plugin interface use: the version, bytes, callers, requests, errors.
 * Part of trestle_plugin.h, which has the rules; include that one.
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

/* Readable bytes behind the options, results and progress that the daemon hands to a plugin. */
#define TRESTLE_PADDING 64u

/* A call in flight. 0 is no call. The numbers of the calls that the daemon makes and of those that the plugin makes
 * with `call` are apart: `reply`, `fail` and `report_progress` take the former, `cancel` of the host the latter. */
typedef uint64_t trestle_call;

/* Borrowed bytes, not terminated. `data` may be NULL where `size` is 0; where it is not, it points to `size` bytes. */
typedef struct trestle_bytes {
    const char *data;
    size_t size;
} trestle_bytes;

/* Who makes a call. Valid, with the texts in it, until the function that received it returns. */
typedef struct trestle_caller {
    uint32_t size;        /* Bytes of this struct, as the daemon compiled it. */
    uint32_t abi;         /* TRESTLE_ABI of the daemon. */
    uint64_t session;     /* The session's number; 0: the daemon itself. */
    uint32_t uid;         /* The peer's user id, as the kernel reports it. */
    uint32_t gid;         /* The peer's group id, as the kernel reports it. */
    int32_t pid;          /* The peer's process id when it connected; it may have ended since. */
    uint32_t flags;       /* TRESTLE_CALLER_… */
    trestle_bytes origin; /* What the session speaks for; "local" unless it named another. */
    trestle_bytes user;   /* The logged-in user; empty: none. */
    trestle_bytes client; /* The name that the client gave itself; empty: none. */
    uint64_t revision;    /* Another number whenever anything of the above is another, within the process: what a plugin
                             has made of a caller holds for as long as it sees the same one. Never 0. */
} trestle_caller;

/* The caller is a local session of root or of the daemon's own user, or the daemon itself. */
#define TRESTLE_CALLER_TRUSTED 1u

/* One request of the daemon to the plugin: a call of a task, or one of the functions from `configure` to `describe`.
 * Everything in it is borrowed until the function returns; who answers later keeps `call`, and copies what else is
 * needed. */
typedef struct trestle_request {
    uint32_t size;         /* Bytes of this struct, as the daemon compiled it. */
    uint32_t abi;          /* TRESTLE_ABI of the daemon. */
    trestle_call call;     /* What to hand to `reply` or `fail`: exactly one of them, exactly once. */
    uint32_t number;       /* In `call`: the task's place in the manifest's `tasks`; in `launch`: in `launchWorkers`; in
                              `reconfigure`: TRESTLE_RECONFIGURE_…; in `intercept`: in `interceptors`; else 0. */
    uint32_t flags;        /* TRESTLE_REQUEST_… */
    int64_t time_remaining_ns; /* Nanoseconds left until the daemon ends the call; negative: no deadline. */
    trestle_bytes options; /* JSON: the call's options, byte for byte as the caller sent them, {} where it sent none. At
                              most as long as a message may be: 1 MiB, unless the daemon is configured otherwise. */
    const trestle_caller *caller; /* Never NULL. */
} trestle_request;

/* The caller wants progress (in `intercept`: of the call that it is about); without it `report_progress` is accepted
   and goes nowhere. */
#define TRESTLE_REQUEST_PROGRESS 1u
/* No one waits for the answer. Answer all the same: it ends the call. Set in the daemon's own process only. */
#define TRESTLE_REQUEST_ONE_WAY 2u

/* An error, as the bridge protocol shows it to the caller. Borrowed, in either direction, until the function
   returns. */
typedef struct trestle_error {
    uint32_t size;          /* sizeof(trestle_error) */
    uint32_t abi;           /* TRESTLE_ABI */
    trestle_bytes code;     /* A stable code such as "record.not_found"; empty: "internal". A plugin's own begin with
                               its name. */
    trestle_bytes message;  /* One sentence for a person. */
    trestle_bytes data;     /* JSON, or empty. What is no JSON is left out. */
    int64_t retry_after_ns; /* Nanoseconds after which trying again makes sense; negative: not said. */
    uint32_t flags;         /* TRESTLE_ERROR_… */
    uint32_t reserved;      /* 0 */
} trestle_error;

/* The same call may succeed later. */
#define TRESTLE_ERROR_TRANSIENT 1u
/* The message was not written for callers: it comes from a library or from the system, and may name files. The daemon
   writes it to its log, and shows it to trusted callers alone. Others get the code, and an id that the line of the log
   has. From the plugin to the daemon. */
#define TRESTLE_ERROR_UNFORESEEN 2u

/* Whether a table (`host`, `request` …) is long enough to have a member, which a newer version of this header added:
 *
 *     if (TRESTLE_HAS(host, unwatch)) ...
 */
#define TRESTLE_HAS(table, member) \
    ((table)->size >= (size_t)((const char *)(&(table)->member + 1) - (const char *)(table)))

#ifdef __cplusplus
}
#endif

#endif

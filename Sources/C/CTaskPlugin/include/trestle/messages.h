/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle/messages.h: the calls, events, metrics and log lines that a plugin sends. Part of trestle_plugin.h, which
 * contains the rules; include that file instead.
 */
#ifndef TRESTLE_MESSAGES_H
#define TRESTLE_MESSAGES_H

#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A call that the plugin makes to a task of the bridge. The struct and its bytes are borrowed until `call` returns. */
typedef struct trestle_outgoing_call {
    uint32_t size;         /* sizeof(trestle_outgoing_call) */
    uint32_t abi;          /* TRESTLE_ABI */
    trestle_call parent;   /* The call on whose behalf this call is made. The task sees the caller of the parent. When
                              the parent ends, this call is cancelled. If the parent has already ended, the call is not
                              made, and `done` gets `call.cancelled`. 0: the plugin calls in its own name. */
    trestle_bytes task;    /* The task's name. */
    trestle_bytes options; /* JSON; empty means {}. */
    uint64_t session;      /* The session that must have registered the task; 0 for any. */
    int64_t timeout_ns;    /* Nanoseconds; 0: the task's own deadline; negative: none. */
    void *context;         /* Passed to the two functions below. The plugin keeps it valid until `done` has been
                              called. */
    /* LOOP THREAD. Receives each intermediate result (JSON), numbered from 0; some may be left out. Never called after
       `done`. NULL if no progress is requested. */
    void (*progress)(void *context, uint64_t sequence, trestle_bytes value);
    /* LOOP THREAD. Reports the end of the call, exactly once, possibly before `call` returns. If the call succeeded,
       `error` is NULL and `result` is JSON. NULL if the plugin does not need the result. */
    void (*done)(void *context, trestle_bytes result, const trestle_error *error);
} trestle_outgoing_call;

/* An event for the sessions that subscribed to its name. The struct and its bytes are borrowed until `publish`
   returns. */
typedef struct trestle_event {
    uint32_t size;            /* sizeof(trestle_event) */
    uint32_t abi;             /* TRESTLE_ABI */
    trestle_bytes name;       /* Such as "record.changed". */
    trestle_bytes data;       /* JSON; empty means null. */
    const uint64_t *sessions; /* The only sessions that receive the event; NULL for all. */
    size_t session_count;     /* The number of `sessions`; ignored if `sessions` is NULL. */
    uint32_t flags;           /* TRESTLE_EVENT_… */
    uint32_t reserved;        /* 0 */
} trestle_event;

/* The named sessions receive the event even if they have not subscribed. Only with `sessions`. */
#define TRESTLE_EVENT_DIRECT 1u
/* The event is kept for later subscribers and replaces the previous one of its name, until it is forgotten or the
   plugin is unloaded. A plugin has at most 256 such events and 1 MiB. Not with `sessions`. */
#define TRESTLE_EVENT_RETAIN 2u
/* Nothing is sent: the event that is kept under this name is removed. Not with `sessions`. */
#define TRESTLE_EVENT_FORGET 4u

/* A metric of the plugin that is shown to operators: in `bridge.status`, and in `bridge.metrics` as
   trestle_plugin_PLUGIN_NAME[_UNIT], with the suffix _total for a counter. */
typedef struct trestle_metric {
    uint32_t size;      /* sizeof(trestle_metric) */
    uint32_t abi;       /* TRESTLE_ABI */
    trestle_bytes name; /* Lowercase letters, digits and _, beginning with a letter, at most 64; without the unit. */
    trestle_bytes unit; /* A base unit, such as "bytes" or "seconds", written like a name; empty for a plain count. */
    trestle_bytes help; /* One sentence for a person. */
    uint32_t kind;      /* TRESTLE_METRIC_… */
    uint32_t reserved;  /* 0 */
} trestle_metric;

/* The kinds of metrics. */
enum {
    TRESTLE_METRIC_GAUGE = 0,   /* The value goes up and down. */
    TRESTLE_METRIC_COUNTER = 1, /* The value only grows, from 0 at the plugin's start. */
};

/* Levels of `log`, the most urgent first. */
enum {
    TRESTLE_LOG_ERROR = 0,   /* Something does not work, and a person must act. */
    TRESTLE_LOG_WARNING = 1, /* Something is wrong, but the work continued. */
    TRESTLE_LOG_NOTICE = 2,  /* Relevant to an operator: the least urgent level that is usually written. */
    TRESTLE_LOG_INFO = 3,    /* Normal activity. */
    TRESTLE_LOG_DEBUG = 4,   /* Details that help to find a fault; any higher number means the same. */
};

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle/messages.h: what a plugin sends by itself: calls, events, metrics and lines of the log. Part of
 * trestle_plugin.h, which has the rules; include that one.
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
    trestle_call parent;   /* The call on whose behalf this is made: the task sees that call's caller, and when
                              the parent ends, this call is cancelled. One that has ended already: the call is not
                              made, and `done` gets `call.cancelled`. 0: the plugin calls in its own name. */
    trestle_bytes task;    /* The task's name. */
    trestle_bytes options; /* JSON; empty: {}. */
    uint64_t session;      /* Only a task that this session registered; 0: any. */
    int64_t timeout_ns;    /* Nanoseconds; 0: the task's own deadline; negative: none. */
    void *context;         /* Handed to the two functions below; the plugin's, until `done` has been called. */
    /* LOOP THREAD. Gets each intermediate result (JSON), numbered from 0; some may be left out. NULL: none is
       wanted. Never after `done`. */
    void (*progress)(void *context, uint64_t sequence, trestle_bytes value);
    /* LOOP THREAD. The end of the call, exactly once, possibly before `call` returns. `error` is NULL where
       the call succeeded; `result` is JSON then. NULL: the plugin does not want to know. */
    void (*done)(void *context, trestle_bytes result, const trestle_error *error);
} trestle_outgoing_call;

/* An event for the sessions that subscribed to its name. The struct and its bytes are borrowed until `publish`
   returns. */
typedef struct trestle_event {
    uint32_t size;            /* sizeof(trestle_event) */
    uint32_t abi;             /* TRESTLE_ABI */
    trestle_bytes name;       /* Such as "record.changed". */
    trestle_bytes data;       /* JSON; empty: null. */
    const uint64_t *sessions; /* Only to these sessions; NULL: to all. */
    size_t session_count;     /* How many `sessions` points to; without it of no meaning. */
    uint32_t flags;           /* TRESTLE_EVENT_… */
    uint32_t reserved;        /* 0 */
} trestle_event;

/* To the named sessions whether they subscribed or not. Only with `sessions`. */
#define TRESTLE_EVENT_DIRECT 1u
/* Kept for later subscribers, in the place of the one before of its name, until it is forgotten or the plugin is
   unloaded; a plugin has 256 such events and 1 MiB at most. Not with `sessions`. */
#define TRESTLE_EVENT_RETAIN 2u
/* Nothing is sent: the event that is kept under this name is kept no longer. Not with `sessions`. */
#define TRESTLE_EVENT_FORGET 4u

/* A metric of the plugin's that operators see: in `bridge.status`, and in `bridge.metrics` as
   trestle_plugin_PLUGIN_NAME[_UNIT], of a counter with _total behind it. */
typedef struct trestle_metric {
    uint32_t size;      /* sizeof(trestle_metric) */
    uint32_t abi;       /* TRESTLE_ABI */
    trestle_bytes name; /* Small letters, digits and _, beginning with a letter, at most 64; without the unit. */
    trestle_bytes unit; /* A base unit, such as "bytes" or "seconds", written like a name; empty: it counts things. */
    trestle_bytes help; /* One sentence for a person. */
    uint32_t kind;      /* TRESTLE_METRIC_… */
    uint32_t reserved;  /* 0 */
} trestle_metric;

/* What a metric does. */
enum {
    TRESTLE_METRIC_GAUGE = 0,   /* It goes up and down. */
    TRESTLE_METRIC_COUNTER = 1, /* It only grows, from 0 at the plugin's start. */
};

/* Levels of `log`, in falling order of urgency. */
enum {
    TRESTLE_LOG_ERROR = 0,   /* Something does not work, and a person has to see to it. */
    TRESTLE_LOG_WARNING = 1, /* Something is not as it should be, and went on all the same. */
    TRESTLE_LOG_NOTICE = 2,  /* Something that an operator wants to know: the least urgent that is usually written. */
    TRESTLE_LOG_INFO = 3,    /* What goes on. */
    TRESTLE_LOG_DEBUG = 4,   /* What helps to find a fault; so is any higher number. */
};

#ifdef __cplusplus
}
#endif

#endif

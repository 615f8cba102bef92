/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle_plugin.h: the binary interface between the Trestle daemon and a task plugin.
 *
 * A plugin is a shared library that exports the function `trestle_plugin_entry`. The daemon calls it once,
 * reads the returned table, and from then on each side calls the other through the two tables below: the
 * plugin's (`trestle_plugin`) and the daemon's (`trestle_host`). Any language with a C calling convention
 * will do; in Swift, `TaskKit` fills these tables and there is no need to read on.
 *
 * Rules that hold everywhere in this file
 *
 *   Places     The process that loads the plugin is the daemon, or one of the plugin's own that the daemon starts
 *              (`trestle-plugin-host`). "The daemon" below is either; where it makes a difference, it is said.
 *   Versions   Every struct starts with `size` (bytes, as its writer compiled it) and `abi`. New fields are
 *              only ever added at the end; a reader looks at `size` before it reads a field that its own
 *              version added. A different `abi` is refused by the daemon with a sentence that names both.
 *   Threads    The daemon calls the plugin on one thread, the loop thread. Two of its calls are never at work at the
 *              same time, but one may come inside another: see Re-entry.
 *              Host functions marked ANY THREAD may be called from anywhere; those marked LOOP THREAD only
 *              from inside a call of the daemon into the plugin or from a function given to `post`.
 *   Re-entry   Inside any call from the daemon the plugin may call every host function. On the loop thread `reply`,
 *              `fail`, `call` and `cancel` may call this plugin again before they return (the next call that waits, a
 *              `cancel`, a `done`), and other plugins too: hold no lock across them, and have your own state in order
 *              before. `done` of a call about a stream never comes inside another call.
 *   Order      What the plugin sends (answers, progress, events, lines of the log) takes effect in the order in which
 *              it is sent, whatever the threads: nothing overtakes what its sender knows to have been sent. So progress
 *              that a thread has sent comes before the answer that the loop thread gives when the thread is done.
 *   Memory     Bytes that one side hands to the other are borrowed until the function returns; who wants
 *              to keep them copies them. A request's options, and the results and progress of the plugin's own
 *              calls, are readable (not meaningful) for TRESTLE_PADDING bytes past their end, so that vector
 *              code may read ahead. Strings are UTF-8 and not terminated.
 *   JSON       Wherever a field is said to be JSON, it is one complete value of RFC 8259. What comes from
 *              the daemon has been checked; what goes to it will be.
 *   Handles    A `trestle_call` is a number, never a pointer. One that has ended is recognised, so that a
 *              late or second reply is harmless: it is dropped, counted and logged.
 *   Errors     No function returns one. What the plugin gets wrong is reported where it can be: a result that is no
 *              JSON ends its call with `reply.invalid`; progress, an event or a metric that is invalid is left out,
 *              with a line in the log. A call that is never answered ends at its deadline, and its work counts as
 * running. A fault of the processor ends the process, and in the daemon's own the daemon.
 *   Output     Standard output and standard error are the daemon's; in a process of the plugin's own they go to the
 *              log, line by line. Better use `log`.
 *
 * `trestle plugin check` tries whether a library keeps to all this.
 */
#ifndef TRESTLE_PLUGIN_H
#define TRESTLE_PLUGIN_H

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

/* What a call about a stream gets. Borrowed, with all that it points to, until `done` of trestle_stream_use returns.
 * What the function that made the call does not name is empty or 0. */
typedef struct trestle_stream_answer {
    uint32_t size;              /* Bytes of this struct, as the daemon compiled it. */
    uint32_t abi;               /* TRESTLE_ABI of the daemon. */
    trestle_bytes name;         /* The stream's name, as it goes into options and results. */
    uint64_t room;              /* How many bytes may be written and not answered. */
    trestle_bytes bytes;        /* What was read. Not padded. */
    uint64_t count;             /* How many bytes the reader got of the whole stream. */
    trestle_bytes type;         /* With the first bytes: what the maker said of them; empty: nothing. */
    uint64_t total;             /* With the first bytes: as many as the maker said that there will be; else
                                   TRESTLE_STREAM_UNKNOWN. So are both of a reader's answer of `stream_attach`. */
    uint32_t flags;             /* TRESTLE_STREAM_END, TRESTLE_STREAM_COMPLETE */
    uint32_t ended_by;          /* Who ended a stream that is not complete: TRESTLE_STREAM_WRITER, _READER, _DAEMON. */
    const trestle_error *error; /* The error with which it was ended; NULL: none was given. */
    int32_t descriptor;         /* An end of a pipe, closed on exec, which the plugin has to close; -1: none. */
    uint32_t reserved;          /* 0 */
} trestle_stream_answer;

/* The stream that a function is about, and who gets the answer. */
typedef struct trestle_stream_use {
    uint32_t size;      /* sizeof(trestle_stream_use) */
    uint32_t abi;       /* TRESTLE_ABI */
    trestle_call call;  /* The call that the plugin works on: it makes the stream for that call, or takes the end of a
                           name that came with it. 0: in its own name; so it uses an end that it holds already, also
                           after that call has ended. One that has ended: `done` gets `call.cancelled`. */
    trestle_bytes name; /* The stream's name. One that there is not, and one of which the plugin, or the caller of
                           `call`, may not have the end: `stream.not_found`. */
    int64_t timeout_ns; /* Nanoseconds; 0 or negative: none. */
    void *context;      /* Handed to the function below; the plugin's, until `done` has been called. */
    /* LOOP THREAD. The end of the call, exactly once. One of `answer` and `error` is NULL. It may use the stream, and
       close it. NULL: the plugin does not want to know. */
    void (*done)(void *context, const trestle_stream_answer *answer, const trestle_error *error);
    uint32_t side;      /* Of `stream_attach` and `stream_close`: the end that is meant, TRESTLE_STREAM_WRITER or
                           TRESTLE_STREAM_READER. 0: the one that the plugin has, the writer's where it has both. */
    uint32_t flags;     /* Of `stream_new`: 0 or TRESTLE_STREAM_ATTACH. Else 0. */
} trestle_stream_use;

/* The sides of a stream, and who else may end one. */
enum {
    TRESTLE_STREAM_WRITER = 1,
    TRESTLE_STREAM_READER = 2,
    TRESTLE_STREAM_DAEMON = 3,
};

/* Of a write: these are the last bytes. Of an answer to a read: there are no more, and the stream is complete. */
#define TRESTLE_STREAM_END 1u
/* Of an answer to a side that closes: the reader has all bytes. */
#define TRESTLE_STREAM_COMPLETE 2u
/* Of a stream that is made: the plugin's end is to be a pipe, as if `stream_attach` were called behind `stream_new`. */
#define TRESTLE_STREAM_ATTACH 4u
/* A number of bytes that is not known. */
#define TRESTLE_STREAM_UNKNOWN UINT64_MAX

/* What the daemon offers to a plugin. Valid, with everything in it, until the process ends. */
typedef struct trestle_host {
    uint32_t size; /* Bytes of this table, as the daemon compiled it: look at it before you call what a newer version
                      added. */
    uint32_t abi;  /* TRESTLE_ABI of the daemon. */
    void *context; /* The daemon's; every function takes the table itself as its first argument. */

    /* ANY THREAD. Ends a call with a result (JSON), of which the daemon keeps no byte. On the loop thread of the
       daemon's own process it takes effect before it returns, unless something that another thread has sent still
       waits: then it comes behind that, soon. A call that has ended already, or is none: nothing, but for the count. */
    void (*reply)(const struct trestle_host *host, trestle_call call, trestle_bytes result);
    /* ANY THREAD. Ends a call with an error; otherwise as `reply`. */
    void (*fail)(const struct trestle_host *host, trestle_call call, const trestle_error *error);
    /* ANY THREAD. Sends an intermediate result (JSON). The daemon numbers them, keeps their order, and may leave out
       all but the newest for a reader that is slow: bytes that all have to arrive go as a stream, see `stream_new`.
       Where the caller wants none, or the call has ended, nothing is sent. */
    void (*report_progress)(const struct trestle_host *host, trestle_call call, trestle_bytes value);
    /* ANY THREAD. Writes a line (UTF-8) to the daemon's log under the plugin's name, and where `call` is not 0 under
       that of its task; `level` is TRESTLE_LOG_…. Of a process of the plugin's own 100 lines a second, the rest is
       counted. */
    void (*log)(const struct trestle_host *host, uint32_t level, trestle_bytes message, trestle_call call);
    /* ANY THREAD. Runs `run(argument)` once on the loop thread, soon, behind what this thread has sent and posted
       before; never inside this call. What `run` sends comes behind what waits by then, also behind what this thread
       sends after this call: what is to come in one order is sent by one thread. `argument` is the plugin's to keep
       valid until then. What is posted while the daemon ends may no longer run. */
    void (*post)(const struct trestle_host *host, void (*run)(void *argument), void *argument);
    /* ANY THREAD. Runs `work(argument)` on a thread where it may block, then `done(argument)` on the loop
       thread, behind what `work` has posted. The threads are few and shared: long waits belong on a thread of the
       plugin's own. Neither function may be NULL; `argument` is the plugin's to keep valid until `done`, which is where
       it is freed. */
    void (*blocking)(const struct trestle_host *host, void (*work)(void *argument), void (*done)(void *argument),
                     void *argument);
    /* ANY THREAD. Whether this thread is the loop thread. */
    bool (*is_loop_thread)(const struct trestle_host *host);

    /* LOOP THREAD. Calls a task of the bridge; returns its handle, good for `cancel`, which does nothing where it has
       ended already. `done` reports the end, also where the task does not exist, or the caller may not call it. */
    trestle_call (*call)(const struct trestle_host *host, const trestle_outgoing_call *call);
    /* LOOP THREAD. Ends a call that was made with `call`: its `done` gets `call.cancelled`, perhaps before this
       returns, unless it had ended already. */
    void (*cancel)(const struct trestle_host *host, trestle_call call);
    /* ANY THREAD. Sends an event, behind what this thread has sent before. Sessions that are gone are passed over. */
    void (*publish)(const struct trestle_host *host, const trestle_event *event);

    /* ANY THREAD. Declares a metric, at first 0; one of the same name, unit and kind is the same metric. Returns its
       number; 0: it was refused, and the log says why. A plugin has 64 at the most. */
    uint32_t (*metric)(const struct trestle_host *host, const trestle_metric *metric);
    /* ANY THREAD. Sets a metric: only a store into memory. The number 0 does nothing. */
    void (*metric_set)(const struct trestle_host *host, uint32_t metric, double value);
    /* ANY THREAD. Adds to a metric; threads may do so at once. */
    void (*metric_add)(const struct trestle_host *host, uint32_t metric, double amount);

    /* LOOP THREAD. Calls `ready(argument, events)` on the loop thread, once, as soon as the descriptor can do something
       of what `events` names (TRESTLE_WATCH_…), with what it can do then; where it is broken, or its other end is gone,
       that is all of `events`. Who wants to know more watches again, in `ready` too. Returns the watch's number; a
       negative number: it cannot be watched, for the reason of the errno -number: EPERM of a file or a folder, EBADF,
       EMFILE where the plugin has 1,024 watches and timers. The descriptor stays the plugin's, is made non-blocking, and
       may be closed at any time; a watch of one that is closed elsewhere, too, is to be ended. */
    int64_t (*watch)(const struct trestle_host *host, int32_t descriptor, uint32_t events,
                     void (*ready)(void *argument, uint32_t events), void *argument);
    /* LOOP THREAD. Calls `fire(argument)` on the loop thread, once, after so many nanoseconds: never early, at best to
       the millisecond. Returns the timer's number; negative: as of `watch`. */
    int64_t (*timer)(const struct trestle_host *host, int64_t delay_ns, void (*fire)(void *argument), void *argument);
    /* LOOP THREAD. Ends a watch or a timer, whose function is no longer called. One that is over: nothing. All that
       there are end with the plugin's `stop`. */
    void (*unwatch)(const struct trestle_host *host, int64_t watch);

    /* The next five do what the daemon's tasks bridge.stream.new, write, read, close and attach do, with bytes in place
       of base 64; docs/streams.md says what a stream is. Each makes a call, which ends with `done` of `use`, exactly
       once, never before the function returns. Calls that are still in flight when the plugin is to stop end with `call.cancelled`,
       before its `stop`. On another thread nothing is done, and `done` gets `stream.invalid`, on the loop thread. They
       return the call's handle, good for `cancel`, which does nothing where it has ended; a call that is cancelled, or
       whose time is over, has written all the same, and has read nothing. `use` and all that it points to are borrowed
       until the function returns.

       LOOP THREAD. Makes a stream and holds the end `side`, TRESTLE_STREAM_WRITER or TRESTLE_STREAM_READER. `type`
       (a media type of at most 256 bytes, or empty) and `total` (how many bytes there will be, or
       TRESTLE_STREAM_UNKNOWN) are for the reader. With `call` in `use` the stream is for that call, and ends where
       it fails. `name` of `use` has no meaning. The answer has `name` and `room`. With TRESTLE_STREAM_ATTACH in `flags`
       of `use` it has `descriptor`, too, as that of `stream_attach`; -1: there can be none at present, or the daemon is
       older than the flag, and the end is as without it. */
    trestle_call (*stream_new)(const struct trestle_host *host, const trestle_stream_use *use, uint32_t side,
                               trestle_bytes type, uint64_t total);
    /* LOOP THREAD. Writes bytes, which are taken before this returns; `flags` is 0 or TRESTLE_STREAM_END: these are the
       last ones. The answer comes when there is room for more, and has `room`: as many bytes may be unanswered. More
       than that break the stream, and so do more than 64 writes that are unanswered: `quota.exceeded`. With
       TRESTLE_STREAM_END the answer is that of `stream_close`. An error ends the stream. */
    trestle_call (*stream_write)(const struct trestle_host *host, const trestle_stream_use *use, trestle_bytes bytes,
                                 uint32_t flags);
    /* LOOP THREAD. Reads at most so many bytes; 0: as many as is usual, 64 KiB. The answer waits for the first byte, and
       has `bytes`, never none, perhaps fewer than there are; or at the end of a stream that is complete
       TRESTLE_STREAM_END in `flags`, and `count`. One read of a stream at a time may wait: `busy`. */
    trestle_call (*stream_read)(const struct trestle_host *host, const trestle_stream_use *use, size_t maximum);
    /* LOOP THREAD. Closes the plugin's end. The writer: these were all, where `error` is NULL; `bytes` is how many there
       were, or TRESTLE_STREAM_UNKNOWN; with `error` the stream fails. The reader: it has enough; `error` may say why.
       Of the error the other side gets code, message and data; one of more than 4 KiB is cut. The answer to a writer
       without an error comes when the reader has all or is gone; it has `count`, and either TRESTLE_STREAM_COMPLETE in
       `flags` or `ended_by` and perhaps `error`. */
    trestle_call (*stream_close)(const struct trestle_host *host, const trestle_stream_use *use, uint64_t bytes,
                                 const trestle_error *error);
    /* LOOP THREAD. Has the plugin's end be a pipe: the first thing that is done with that end, and before its bytes. The
       answer has `descriptor`, which blocks until the plugin has it not block: `watch` does. An error with
       `stream.invalid` or `busy` means that there is no pipe: the bytes go by `stream_read` and `stream_write`.
       The reader calls `stream_read` once beside reading the descriptor: it brings no bytes, but the end with `count`,
       or the error. The end of the pipe is not the end of the stream: that is where `count` bytes have been read, and
       the reader then calls `stream_close` with its own count. The writer calls `stream_write` once, of no bytes:
       the answer comes when the reader has left. It ends with `stream_close` and its count. docs/streams.md has the
       whole of it. */
    trestle_call (*stream_attach)(const struct trestle_host *host, const trestle_stream_use *use);

    /* ANY THREAD. What stands between a call and the plugin's task of this number: TRESTLE_TASK_…; 0: nothing. A plugin
       that would make a call of its own task, on behalf of a caller, may do the work at once where nothing does. Up to
       date for every call that the plugin has got. */
    uint32_t (*task_marks)(const struct trestle_host *host, uint32_t task);
} trestle_host;

/* Interceptors are asked about calls of the task. */
#define TRESTLE_TASK_INTERCEPTED 1u
/* The policy has rules about what an option of its "optionPermissions" names. Without rules, only callers with
   TRESTLE_CALLER_TRUSTED may name what is not their own. */
#define TRESTLE_TASK_RULED 2u

/* What a descriptor is watched for. */
#define TRESTLE_WATCH_READABLE 1u
#define TRESTLE_WATCH_WRITABLE 2u

/* Whether a table (`host`, `request` …) is long enough to have a member, which a newer version of this header added:
 *
 *     if (TRESTLE_HAS(host, unwatch)) ...
 */
#define TRESTLE_HAS(table, member) \
    ((table)->size >= (size_t)((const char *)(&(table)->member + 1) - (const char *)(table)))

/* Why the daemon asks a plugin to stop working on a call. The caller has had its answer by then. A plugin in a process
 * of its own gets CALLER, whatever the reason. */
enum {
    TRESTLE_CANCEL_CALLER = 0,   /* The caller said so, or an operator did. */
    TRESTLE_CANCEL_TIMEOUT = 1,  /* Its deadline passed. */
    TRESTLE_CANCEL_GONE = 2,     /* The caller is gone. */
    TRESTLE_CANCEL_SHUTDOWN = 3, /* The daemon is stopping. */
};

/* What happens to a session. */
enum {
    TRESTLE_SESSION_OPENED = 0,     /* It connected; calls may follow. */
    TRESTLE_SESSION_CLOSED = 1,     /* It is gone: no call of it follows, and what was kept for it can go. */
    TRESTLE_SESSION_BACKGROUND = 2, /* Its page or program is not visible to the user at present. */
    TRESTLE_SESSION_FOREGROUND = 3, /* It is seen again. */
};

/* What a plugin offers to the daemon. Valid until the process ends: a plugin's library is never unloaded.
 *
 * The order of calls: `attach` once; `configure`; `start`; each of the launch workers; then `call`, `intercept`,
 * `cancel` and `session` as they come, and `reconfigure` among them; `stop` at last. Between the launch workers and the
 * first call, and before `stop`, come `restore_sessions` and `save_sessions` where sessions go from one daemon to the
 * next. Every function but `manifest`, `attach` and `call` may be NULL.
 */
typedef struct trestle_plugin {
    uint32_t size; /* sizeof(trestle_plugin) */
    uint32_t abi;  /* TRESTLE_ABI */
    void *context; /* The plugin's; handed to each of its functions. May be NULL. */

    /* JSON, see docs/plugins.md:
       {"name", "version", "tasks": [{"name", "summary", "permission"?, "public"?, "optionPermissions"?: {OPTION: verb},
        "timeout"?: ms or null, "concurrency"?, "private"?, "optionBytes"?, "options"?: JSON Schema, "result"?: JSON
        Schema,
        "progress"?: JSON Schema}], "events"?: [{"name", "summary", "public"?}],
        "launchWorkers"?: [{"name", "phase", "after"?: [names], "required"?}],
        "interceptors"?: [{"name", "summary", "tasks": [patterns], "onFailure"?}], "configuration"?: JSON Schema,
        "reloadable"?, "error"?}
       "name" of a task: 1 to 128 of the characters A-Z, a-z, 0-9 and . _ / : -, which do not begin with "bridge.",
       "plugin." or "rpc.": those are the daemon's, and a plugin with such a task is refused. "name" of an event: the
       same characters.
       "public": true: members of the group "trestle" may call the task, or get the event, where no rule of docs/policy.md
       says anything. "optionPermissions": options that name what not every caller may name, each with the policy's verb that
       the daemon asks about the name before it calls `call`: "store", of a namespace, "UID:ORIGIN"; "reach", of an origin of
       the web, "https://api.example".
       "options": the daemon checks a call's options against it before it calls `call`; docs/protocol.md says what it
       checks. "timeout" absent: the daemon's own; null: none. "phase": "beforeListening" or "afterListening".
       "name" of the plugin: letters a-z and A-Z, digits, - and _, beginning with a letter, at most 64 bytes. Names of
       tasks, events, launch workers and interceptors: such words with dots between them, at most 128 bytes; none begins
       with "bridge." or "rpc.", which are the daemon's. No two of a kind are the same.
       "tasks" of an interceptor: names of tasks, or beginnings of names with a * behind them; see `intercept`.
       "onFailure": what becomes of a call when the interceptor fails: "refuse", it ends with that failure (so where it is
       not said), or "pass", it goes on without.
       "configuration": of an object; its properties' "description" and "default" are shown to operators.
       "reloadable": true: a new section holds at once, by way of `reconfigure`; else it takes a restart.
       "error": the plugin found itself unfit for use, and this is the sentence that says why. The daemon refuses it
       with that sentence and calls none of the functions below. */
    trestle_bytes manifest;

    /* The daemon's table, before anything else: only keep the pointer, which holds until the process ends. */
    void (*attach)(void *context, const trestle_host *host);
    /* `options` is the plugin's own section of the configuration; {} where there is none. Check it and keep it; touch
       nothing else: a mere check of the configuration calls this and goes no further. Answer with `reply` {} or with
       `fail`, code "configuration.invalid", data {"path", "expected"?, "got"?, "known"?: [keys]}. */
    void (*configure)(void *context, const trestle_request *request);
    /* Make ready. `options` is {"stateDirectory", "launch": {"arguments", "environment"?}}. The answer may come later,
       within 60 seconds, as that of `configure`: {}, or {"interceptors": {"NAME": [patterns]}} with the tasks that the
       interceptors named there are for, in place of those of the manifest. `fail`: the plugin is not used, and the log
       and bridge.plugins say why. */
    void (*start)(void *context, const trestle_request *request);
    /* Run the launch worker `number`; `options` as in `start`. The answer may come later, within 60 seconds.
       `fail`: the log says so; without a worker that is "required" the daemon does not start, or does not take the
       plugin that is loaded. */
    void (*launch)(void *context, const trestle_request *request);
    /* A call of the task `number`. Must not block: the loop thread serves all callers. Answer with `reply` or `fail`,
       now or later, once. Options have been checked where the manifest has a schema of them; where it has none, or
       `describe` returns it, check them here and fail with "options.invalid", data {"path", "expected", "got"}. */
    void (*call)(void *context, const trestle_request *request);
    /* Stop working on a call; `reason` is TRESTLE_CANCEL_…. Answer it all the same when the work is over: the answer is
       dropped, and until it comes the work counts as running. NULL: the plugin answers every call soon enough. */
    void (*cancel)(void *context, trestle_call call, uint32_t reason);
    /* Something happened to a session; `change` is TRESTLE_SESSION_…, and others may be added. There is nothing to
       answer. */
    void (*session)(void *context, uint32_t change, const trestle_caller *session);
    /* Finish: no call will follow. Answer with `reply` {} when done; past the deadline (the daemon's stop_timeout, 5
       seconds) it goes on without, and so it does after `fail`, which the log reports. What threads of the plugin's own
       still send goes nowhere. */
    void (*stop)(void *context, const trestle_request *request);

    /* Another daemon is about to take this one's place and to go on with its sessions; no call is in flight, and `stop`
       follows. `options` is {"sessions": [numbers]}. Answer {"states": {"NUMBER": any JSON}} with what you know of them
       and the plugin of the same name over there needs to know; sessions of which there is nothing to say are left out.
       `fail`: it comes again with fewer of the sessions, at last with single ones; one for which it fails does not go
       on, and is closed. Where it is this plugin alone that is reloaded, what it cannot say is lost. */
    void (*save_sessions)(void *context, const trestle_request *request);
    /* Sessions of the daemon before go on here, each reported as OPENED already; calls follow only once this is
       answered. `options` is what `save_sessions` was answered with, perhaps by another version of the plugin. It comes
       several times, each with a part of the sessions. Answer {"lost": [numbers]} with those sessions that cannot go on as they were: the daemon closes them and says why.
       `fail`: none of those sessions can go on; in a reload of the plugin alone, the one before goes on. */
    void (*restore_sessions)(void *context, const trestle_request *request);
    /* The daemon has read its configuration again, while the plugin is at work. `options` and the answer are those of
       `configure`, `number` is TRESTLE_RECONFIGURE_…; to TRESTLE_RECONFIGURE_TAKE the answer may also be that of
       `start`. Who refuses keeps what it had. NULL: the section is not looked at
       before the daemon starts again. */
    void (*reconfigure)(void *context, const trestle_request *request);
    /* What the manifest leaves out, asked for when it is first needed: at any time after `attach`, once. `options` is
       {}. Answer {"tasks"?: [{"options"?, "result"?, "progress"?}], "configuration"?, "errors"?: [sentences]}: JSON
       Schemas, one object for each task of the manifest, in its order; the sentences say which schemas there ought to
       be and are not, and why. NULL: the manifest says it all. */
    void (*describe)(void *context, const trestle_request *request);
    /* Decide about a call of a task, before that task gets it, for the interceptor `number`. `options` is
       {"interceptor": its name, "task": the task's name, "session"?: the session whose task is meant, "oneWay"?: true
       where no one waits for the answer, "options": those of the call, as they came and not checked yet}. `caller` is
       who makes the call, `time_remaining_ns` what is left of its time, `call` the handle of this question: what is
       called with it as `parent` is called on behalf of the caller, and is not shown to this interceptor. `cancel` says
       that the call has ended; `report_progress` reaches its caller. The answer may come later. It is one of
         {"pass": true}                   the call goes on as it is: to the next interceptor, or to the task;
         {"options": JSON}                so, with these options;
         {"task": name, "options"?: JSON} so, as a call of that task, which its caller must be allowed to call;
         {"result": JSON}                 the call ends with this result;
         {"error": {"code", "message", "data"?, "transient"?, "retryAfter"?: ms}}  it ends with this error.
       An error by way of `fail` is a refusal, too, but for "internal", "task.not_found" and those that begin with
       "plugin.": these, and any other answer, are a failure of the interceptor. NULL: the manifest names no
       interceptors. */
    void (*intercept)(void *context, const trestle_request *request);
} trestle_plugin;

/* What `reconfigure` is to do. */
enum {
    TRESTLE_RECONFIGURE_CHECK = 0, /* Check the section, and change nothing. */
    TRESTLE_RECONFIGURE_TAKE = 1,  /* Go by it from now on. Only where the manifest says "reloadable". */
};

/* The symbol that every plugin exports. Called once, on the loop thread. NULL: the plugin cannot be used. */
#define TRESTLE_PLUGIN_ENTRY "trestle_plugin_entry"
const trestle_plugin *trestle_plugin_entry(void);

/* A plugin that exports this one as well runs in a process of its own, unless its section in the daemon's configuration
   says otherwise: for code that reads what strangers send, or is linked with much. Never called; that it is there
   counts, and is known before the library is loaded. */
#define TRESTLE_PLUGIN_WANTS_PROCESS "trestle_plugin_wants_process"
void trestle_plugin_wants_process(void);

#ifdef __cplusplus
}
#endif

#endif

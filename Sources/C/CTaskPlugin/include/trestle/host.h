/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle/host.h: the daemon's table, the functions that a plugin may call. Part of trestle_plugin.h, which contains
 * the rules; include that file instead.
 */
#ifndef TRESTLE_HOST_H
#define TRESTLE_HOST_H

#include "messages.h"
#include "streams.h"
#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions that the daemon provides to a plugin. The table and everything in it are valid until the process
   ends. */
typedef struct trestle_host {
    uint32_t size; /* Size of this table in bytes, as the daemon compiled it. Check it before you call a function that a
                      newer version added. */
    uint32_t abi;  /* TRESTLE_ABI of the daemon. */
    void *context; /* The daemon's own pointer; every function takes the table itself as its first argument. */

    /* ANY THREAD. Ends a call with a result (JSON); the daemon does not keep the bytes. On the loop thread of the
       daemon's own process it takes effect before it returns, unless a message from another thread still waits: then it
       takes effect soon, after that message. For a call that has ended, or an unknown handle, it is only counted. */
    void (*reply)(const struct trestle_host *host, trestle_call call, trestle_bytes result);
    /* ANY THREAD. Ends a call with an error; otherwise like `reply`. */
    void (*fail)(const struct trestle_host *host, trestle_call call, const trestle_error *error);
    /* ANY THREAD. Sends an intermediate result (JSON). The daemon numbers these results and keeps their order. For a
       slow reader it may leave out all but the newest: send bytes that must all arrive as a stream, see `stream_new`.
       Nothing is sent if the caller has not requested progress or the call has ended. */
    void (*report_progress)(const struct trestle_host *host, trestle_call call, trestle_bytes value);
    /* ANY THREAD. Writes a line (UTF-8) to the daemon's log under the plugin's name and, if `call` is not 0, under the
       name of its task; `level` is TRESTLE_LOG_…. A process of the plugin's own may write 100 lines a second; further
       lines are only counted. */
    void (*log)(const struct trestle_host *host, uint32_t level, trestle_bytes message, trestle_call call);
    /* ANY THREAD. Runs `run(argument)` once on the loop thread, soon, after everything that this thread has sent and
       posted before; never inside this call. Messages that `run` sends take effect after the messages that wait at that
       time, including those that this thread sends after this call. To keep messages in one order, send them from one
       thread. The plugin keeps `argument` valid until `run` is called. A function that is posted while the daemon ends
       may not run. */
    void (*post)(const struct trestle_host *host, void (*run)(void *argument), void *argument);
    /* ANY THREAD. Runs `work(argument)` on a thread where it may block, then `done(argument)` on the loop thread, after
       everything that `work` has posted. These threads are few and shared: use a thread of the plugin's own for long
       waits. Neither function may be NULL. The plugin keeps `argument` valid until `done`, and frees it there. */
    void (*blocking)(const struct trestle_host *host, void (*work)(void *argument), void (*done)(void *argument),
                     void *argument);
    /* ANY THREAD. Whether the calling thread is the loop thread. */
    bool (*is_loop_thread)(const struct trestle_host *host);

    /* LOOP THREAD. Calls a task of the bridge. Returns the handle for `cancel`, which does nothing if the call has
       ended. `done` reports the end, also if the task does not exist or the caller may not call it. */
    trestle_call (*call)(const struct trestle_host *host, const trestle_outgoing_call *call);
    /* LOOP THREAD. Ends a call that was made with `call`, unless it has already ended. Its `done` gets
       `call.cancelled`, possibly before this returns. */
    void (*cancel)(const struct trestle_host *host, trestle_call call);
    /* ANY THREAD. Sends an event, after everything that this thread has sent before. Sessions that have ended are
       skipped. */
    void (*publish)(const struct trestle_host *host, const trestle_event *event);

    /* ANY THREAD. Declares a metric with the initial value 0. The same name, unit and kind always mean the same metric.
       Returns its number; 0 if it was refused, and the log states the reason. A plugin has at most 64 metrics. */
    uint32_t (*metric)(const struct trestle_host *host, const trestle_metric *metric);
    /* ANY THREAD. Sets a metric; the cost is one store into memory. The number 0 does nothing. */
    void (*metric_set)(const struct trestle_host *host, uint32_t metric, double value);
    /* ANY THREAD. Adds to a metric; several threads may do this in parallel. */
    void (*metric_add)(const struct trestle_host *host, uint32_t metric, double amount);

    /* LOOP THREAD. Calls `ready(argument, events)` once on the loop thread, as soon as the descriptor is ready for one
       of `events` (TRESTLE_WATCH_…). `ready` gets the events that are ready then: all of `events` if the descriptor is
       broken or its other end is closed. Watch again for further events, in `ready` too. Returns the number of the
       watch. A negative number means that the descriptor cannot be watched, and -number is the errno: EPERM for a file
       or a directory, EBADF, or EMFILE if the plugin has 1,024 watches and timers. The descriptor still belongs to the
       plugin, is made non-blocking, and may be closed at any time. If other code closes it, end the watch. */
    int64_t (*watch)(const struct trestle_host *host, int32_t descriptor, uint32_t events,
                     void (*ready)(void *argument, uint32_t events), void *argument);
    /* LOOP THREAD. Calls `fire(argument)` once on the loop thread, after the given nanoseconds, never early, with a
       resolution of a millisecond. Returns the number of the timer; a negative number is an error, as for `watch`. */
    int64_t (*timer)(const struct trestle_host *host, int64_t delay_ns, void (*fire)(void *argument), void *argument);
    /* LOOP THREAD. Ends a watch or a timer; its function is no longer called. Does nothing if it has ended. All watches
       and timers end with the plugin's `stop`. */
    void (*unwatch)(const struct trestle_host *host, int64_t watch);

    /* The next five functions do the same as the daemon's tasks bridge.stream.new, write, read, close and attach, with
       bytes instead of base 64; docs/streams.md explains streams. Each function makes a call, which ends with `done` of
       `use`, exactly once, never before the function returns. Calls in flight when the plugin stops end with
       `call.cancelled`, before its `stop`. On another thread nothing is done, and `done` gets `stream.invalid` on the
       loop thread. Each function returns the call's handle, valid for `cancel`, which does nothing after the end. A
       write takes effect even if its call is cancelled or exceeds its time limit; such a read has read nothing. `use`
       and everything that it points to are borrowed until the function returns.

       LOOP THREAD. Creates a stream and holds the end `side`, TRESTLE_STREAM_WRITER or TRESTLE_STREAM_READER. The
       reader receives `type` (a media type of at most 256 bytes, or empty) and `total` (the number of bytes, or
       TRESTLE_STREAM_UNKNOWN). With `call` in `use` the stream belongs to that call, and ends if the call fails. `name`
       of `use` is ignored. The answer has `name` and `room`. With TRESTLE_STREAM_ATTACH in `flags` of `use` it also has
       `descriptor`, as for `stream_attach`. A descriptor of -1 means that no pipe is available now, or that the daemon
       is older than the flag; the end then works as without the flag. */
    trestle_call (*stream_new)(const struct trestle_host *host, const trestle_stream_use *use, uint32_t side,
                               trestle_bytes type, uint64_t total);
    /* LOOP THREAD. Writes bytes, which are copied before this returns; `flags` is 0 or, for the last bytes,
       TRESTLE_STREAM_END. The answer comes when there is room for more. Its `room` is the number of bytes that may be
       unanswered. More unanswered bytes, or more than 64 unanswered writes, break the stream: `quota.exceeded`. With
       TRESTLE_STREAM_END the answer is that of `stream_close`. An error ends the stream. */
    trestle_call (*stream_write)(const struct trestle_host *host, const trestle_stream_use *use, trestle_bytes bytes,
                                 uint32_t flags);
    /* LOOP THREAD. Reads at most `maximum` bytes; 0 means the default, 64 KiB. The answer comes with the first byte. It
       has `bytes`, at least one, possibly fewer than are available. At the end of a complete stream it has
       TRESTLE_STREAM_END in `flags`, and `count`. Only one read of a stream may wait; another one gets `busy`. */
    trestle_call (*stream_read)(const struct trestle_host *host, const trestle_stream_use *use, size_t maximum);
    /* LOOP THREAD. Closes the plugin's end. For the writer: if `error` is NULL, the stream is complete, and `bytes` is
       its number of bytes or TRESTLE_STREAM_UNKNOWN; with `error` the stream fails. For the reader: it needs no more
       bytes, and `error` may give a reason. The other side gets code, message and data of the error; an error of more
       than 4 KiB is cut. The answer to a writer without an error comes when the reader has all bytes or has ended. It
       has `count`, and either TRESTLE_STREAM_COMPLETE in `flags`, or `ended_by` and possibly `error`. */
    trestle_call (*stream_close)(const struct trestle_host *host, const trestle_stream_use *use, uint64_t bytes,
                                 const trestle_error *error);
    /* LOOP THREAD. Makes the plugin's end a pipe. This must be the first use of that end, before any bytes. The answer
       has `descriptor`, which blocks until the plugin makes it non-blocking, as `watch` does. The errors
       `stream.invalid` and `busy` mean that there is no pipe: use `stream_read` and `stream_write` for the bytes.
       The reader calls `stream_read` once, beside reading the descriptor. This call returns no bytes, but the end with
       `count`, or the error. The end of the pipe is not the end of the stream: the stream ends after `count` bytes have
       been read, and the reader then calls `stream_close` with its own count. The writer calls `stream_write` once,
       with no bytes; the answer comes when the reader has ended. The writer ends with `stream_close` and its count.
       docs/streams.md has the details. */
    trestle_call (*stream_attach)(const struct trestle_host *host, const trestle_stream_use *use);

    /* ANY THREAD. Returns the checks before a call of the plugin's task with this number: TRESTLE_TASK_…; 0 for none.
       If it is 0, a plugin that would call its own task on behalf of a caller may do the work directly. The value is up
       to date for every call that the plugin has received. */
    uint32_t (*task_marks)(const struct trestle_host *host, uint32_t task);
} trestle_host;

/* Interceptors decide about calls of the task. */
#define TRESTLE_TASK_INTERCEPTED 1u
/* The policy has rules about the names in an option of its "optionPermissions". Without rules, only callers with
   TRESTLE_CALLER_TRUSTED may use names that are not their own. */
#define TRESTLE_TASK_RULED 2u

/* The events that a descriptor is watched for. */
#define TRESTLE_WATCH_READABLE 1u
#define TRESTLE_WATCH_WRITABLE 2u

#ifdef __cplusplus
}
#endif

#endif

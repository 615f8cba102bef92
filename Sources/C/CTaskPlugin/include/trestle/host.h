/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle/host.h: the daemon's table, the functions that a plugin may call. Part of trestle_plugin.h, which has the
 * rules; include that one.
 */
#ifndef TRESTLE_HOST_H
#define TRESTLE_HOST_H

#include "messages.h"
#include "streams.h"
#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    /* ANY THREAD. Adds to a metric; several threads may do so in parallel. */
    void (*metric_add)(const struct trestle_host *host, uint32_t metric, double amount);

    /* LOOP THREAD. Calls `ready(argument, events)` on the loop thread, once, as soon as the descriptor can do something
       that `events` names (TRESTLE_WATCH_…), with what it can do then: all of `events` where it is broken, or its other
       end is gone. Watch again for more, in `ready` too. Returns the watch's number; a negative number: it cannot be
       watched, and -number is the errno: EPERM of a file or a folder, EBADF, EMFILE where the plugin has 1,024 watches
       and timers. The descriptor stays the plugin's, is made non-blocking, and may be closed at any time; end the watch
       of a descriptor that other code closes. */
    int64_t (*watch)(const struct trestle_host *host, int32_t descriptor, uint32_t events,
                     void (*ready)(void *argument, uint32_t events), void *argument);
    /* LOOP THREAD. Calls `fire(argument)` on the loop thread, once, after the given nanoseconds, never early, with a
       resolution of a millisecond. Returns the timer's number; negative: as of `watch`. */
    int64_t (*timer)(const struct trestle_host *host, int64_t delay_ns, void (*fire)(void *argument), void *argument);
    /* LOOP THREAD. Ends a watch or a timer, whose function is no longer called. One that is over: nothing. All that
       there are end with the plugin's `stop`. */
    void (*unwatch)(const struct trestle_host *host, int64_t watch);

    /* The next five do what the daemon's tasks bridge.stream.new, write, read, close and attach do, with bytes in place
       of base 64; docs/streams.md says what a stream is. Each makes a call, which ends with `done` of `use`, exactly
       once, never before the function returns. Calls in flight when the plugin stops end with `call.cancelled`, before
       its `stop`. On another thread nothing is done, and `done` gets `stream.invalid`, on the loop thread. They return
       the call's handle, valid for `cancel`, which does nothing after the end; a call that is cancelled, or past its
       time limit, has written all the same, and has read nothing. `use` and all that it points to are borrowed until
       the function returns.

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
    /* LOOP THREAD. Reads at most `maximum` bytes; 0: the default, 64 KiB. The answer waits for the first byte, and has
       `bytes`, at least one, perhaps fewer than there are; or at the end of a stream that is complete
       TRESTLE_STREAM_END in `flags`, and `count`. One read of a stream at a time may wait: `busy`. */
    trestle_call (*stream_read)(const struct trestle_host *host, const trestle_stream_use *use, size_t maximum);
    /* LOOP THREAD. Closes the plugin's end. The writer: the stream is complete where `error` is NULL, and `bytes` is
       their number, or TRESTLE_STREAM_UNKNOWN; with `error` the stream fails. The reader: it has enough; `error` may
       give a reason. Of the error the other side gets code, message and data; one of more than 4 KiB is cut. The answer
       to a writer without an error comes when the reader has all or is gone; it has `count`, and either
       TRESTLE_STREAM_COMPLETE in `flags` or `ended_by` and perhaps `error`. */
    trestle_call (*stream_close)(const struct trestle_host *host, const trestle_stream_use *use, uint64_t bytes,
                                 const trestle_error *error);
    /* LOOP THREAD. Makes the plugin's end a pipe: the first use of that end, before its bytes. The answer has
       `descriptor`, which blocks until the plugin makes it non-blocking: `watch` does. An error with
       `stream.invalid` or `busy` means that there is no pipe: the bytes go by `stream_read` and `stream_write`.
       The reader calls `stream_read` once beside reading the descriptor: it brings no bytes, but the end with `count`,
       or the error. The end of the pipe is not the end of the stream: that is where `count` bytes have been read, and
       the reader then calls `stream_close` with its own count. The writer calls `stream_write` once, of no bytes:
       the answer comes when the reader has left. It ends with `stream_close` and its count. docs/streams.md has
       the details. */
    trestle_call (*stream_attach)(const struct trestle_host *host, const trestle_stream_use *use);

    /* ANY THREAD. What is asked before a call of the plugin's task of this number: TRESTLE_TASK_…; 0: nothing. Where it
       is 0, a plugin that would call its own task on behalf of a caller may do the work directly. Up to date for every
       call that the plugin has got. */
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

#ifdef __cplusplus
}
#endif

#endif

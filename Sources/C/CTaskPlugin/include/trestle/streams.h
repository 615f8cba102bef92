/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle/streams.h: the arguments and answers of the stream functions. Part of trestle_plugin.h, which contains the
 * rules; include that file instead.
 */
#ifndef TRESTLE_STREAMS_H
#define TRESTLE_STREAMS_H

#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The answer to a call of a stream function. Borrowed, with everything that it points to, until `done` of
 * trestle_stream_use returns. Fields that the function's description does not name are empty or 0. */
typedef struct trestle_stream_answer {
    uint32_t size;              /* Bytes of this struct, as the daemon compiled it. */
    uint32_t abi;               /* TRESTLE_ABI of the daemon. */
    trestle_bytes name;         /* The stream's name, as it is used in options and results. */
    uint64_t room;              /* The number of bytes that may be written and unanswered. */
    trestle_bytes bytes;        /* The bytes that were read. Not padded. */
    uint64_t count;             /* The number of bytes of the whole stream that the reader got. */
    trestle_bytes type;         /* With the first bytes: the type that the creator specified; empty if none. */
    uint64_t total;             /* With the first bytes: the number of bytes that the creator announced; otherwise
                                   TRESTLE_STREAM_UNKNOWN. A reader's answer to `stream_attach` also has `type` and
                                   `total`. */
    uint32_t flags;             /* TRESTLE_STREAM_END, TRESTLE_STREAM_COMPLETE */
    uint32_t ended_by;          /* The side that ended an incomplete stream: TRESTLE_STREAM_WRITER, _READER, _DAEMON. */
    const trestle_error *error; /* The error that ended it; NULL if none was given. */
    int32_t descriptor;         /* An end of a pipe, closed on exec, which the plugin must close; -1 if none. */
    uint32_t reserved;          /* 0 */
} trestle_stream_answer;

/* The stream that a function uses, and the function that receives the answer. */
typedef struct trestle_stream_use {
    uint32_t size;      /* sizeof(trestle_stream_use) */
    uint32_t abi;       /* TRESTLE_ABI */
    trestle_call call;  /* The call that the plugin works on: the stream is created for that call, or the plugin takes
                           the end of a name that came with it. If the call has ended, `done` gets `call.cancelled`. 0:
                           the plugin acts in its own name; this is how it uses an end that it already holds, also after
                           that call has ended. */
    trestle_bytes name; /* The stream's name. `done` gets `stream.not_found` if the name is unknown, or if the plugin,
                           or the caller of `call`, may not have the end. */
    int64_t timeout_ns; /* Nanoseconds; 0 or negative: none. */
    void *context;      /* Passed to the function below. The plugin keeps it valid until `done` has been called. */
    /* LOOP THREAD. Reports the end of the call, exactly once. One of `answer` and `error` is NULL. It may use the
       stream, and close it. NULL if the plugin does not need the answer. */
    void (*done)(void *context, const trestle_stream_answer *answer, const trestle_error *error);
    uint32_t side;      /* For `stream_attach` and `stream_close`: the end to use, TRESTLE_STREAM_WRITER or
                           TRESTLE_STREAM_READER. 0: the end that the plugin has, the writer's if it has both. */
    uint32_t flags;     /* For `stream_new`: 0 or TRESTLE_STREAM_ATTACH. Otherwise 0. */
} trestle_stream_use;

/* The sides of a stream, and the daemon, which may also end one. */
enum {
    TRESTLE_STREAM_WRITER = 1,
    TRESTLE_STREAM_READER = 2,
    TRESTLE_STREAM_DAEMON = 3,
};

/* In a write: these are the last bytes. In an answer to a read: there are no more, and the stream is complete. */
#define TRESTLE_STREAM_END 1u
/* In an answer to a side that closes: the reader has all bytes. */
#define TRESTLE_STREAM_COMPLETE 2u
/* In `stream_new`: the plugin's end becomes a pipe, as if `stream_attach` were called after `stream_new`. */
#define TRESTLE_STREAM_ATTACH 4u
/* An unknown number of bytes. */
#define TRESTLE_STREAM_UNKNOWN UINT64_MAX

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * trestle/streams.h: the arguments and answers of the functions about streams. Part of trestle_plugin.h, which has the
 * rules; include that one.
 */
#ifndef TRESTLE_STREAMS_H
#define TRESTLE_STREAMS_H

#include "values.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    trestle_bytes name; /* The stream's name. An unknown one, and one of which the plugin, or the caller of `call`,
                           may not have the end: `stream.not_found`. */
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

#ifdef __cplusplus
}
#endif

#endif

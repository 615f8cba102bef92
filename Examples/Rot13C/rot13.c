/* A task plugin in C that reads a stream and writes one: texts in ROT13, of any size. Each piece is read, converted and
 * written before the next one is read. So the plugin holds one piece for each call, and a slow reader stops its writer.
 * All of it runs on the loop thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trestle_json.h"
#include "trestle_plugin.h"

#define PIECE ((size_t)64 << 10)

static const trestle_host *host;

static trestle_bytes text(const char *string) {
    return (trestle_bytes){.data = string, .size = strlen(string)};
}

/* A text in transit, until both streams have ended. */
typedef struct work {
    trestle_call call; /* 0: it has been answered, and the plugin holds the ends. */
    char from[64];     /* The stream that is read. */
    char to[64];       /* The stream that is written; empty: none, the letters are counted. */
    uint64_t bytes, letters;
} work;

typedef void done_function(void *context, const trestle_stream_answer *answer, const trestle_error *error);

static trestle_stream_use use(work *work, const char *name, done_function *done) {
    return (trestle_stream_use){.size = sizeof(trestle_stream_use), .abi = TRESTLE_ABI, .call = work->call,
                                .name = text(name), .context = work, .done = done};
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char turned(char c) {
    const char first = c >= 'a' ? 'a' : 'A';
    return is_letter(c) ? (char)(first + (c - first + 13) % 26) : c;
}

static void forget(void *context, const trestle_stream_answer *answer, const trestle_error *error) {
    (void)answer, (void)error;
    free(context);
}

/* ---- rot13.count: the letters of a stream ---- */

static void counted(void *context, const trestle_stream_answer *answer, const trestle_error *error) {
    work *work = context;
    if (error != NULL) {
        host->fail(host, work->call, error);
        /* If the call was cancelled, the stream is still open: close it, or its writer waits. */
        work->call = 0;
        const trestle_stream_use from = use(work, work->from, forget);
        host->stream_close(host, &from, TRESTLE_STREAM_UNKNOWN, NULL);
        return;
    }
    if (answer->flags & TRESTLE_STREAM_END) {
        char result[80];
        snprintf(result, sizeof result, "{\"bytes\":%" PRIu64 ",\"letters\":%" PRIu64 "}", work->bytes, work->letters);
        host->reply(host, work->call, text(result));
        return free(work);
    }
    for (size_t i = 0; i < answer->bytes.size; i++) work->letters += is_letter(answer->bytes.data[i]);
    work->bytes += answer->bytes.size;
    const trestle_stream_use next = use(work, work->from, counted);
    host->stream_read(host, &next, PIECE);
}

/* ---- rot13.turn: a stream in its options, and one in its result ---- */

static void got(void *context, const trestle_stream_answer *answer, const trestle_error *error);

static void wrote(void *context, const trestle_stream_answer *answer, const trestle_error *error) {
    work *work = context;
    const trestle_stream_use from = use(work, work->from, error == NULL ? got : forget);
    if (error != NULL)
        host->stream_close(host, &from, TRESTLE_STREAM_UNKNOWN, error);
    else
        host->stream_read(host, &from, answer->room < PIECE ? (size_t)answer->room : PIECE);
}

static void got(void *context, const trestle_stream_answer *answer, const trestle_error *error) {
    static char piece[PIECE];
    work *work = context;
    if (error != NULL || answer->flags & TRESTLE_STREAM_END) {
        const trestle_stream_use to = use(work, work->to, forget);
        host->stream_close(host, &to, error != NULL ? TRESTLE_STREAM_UNKNOWN : work->bytes, error);
        return;
    }
    for (size_t i = 0; i < answer->bytes.size; i++) piece[i] = turned(answer->bytes.data[i]);
    work->bytes += answer->bytes.size;
    const trestle_stream_use to = use(work, work->to, wrote);
    host->stream_write(host, &to, (trestle_bytes){.data = piece, .size = answer->bytes.size}, 0);
}

static void made(void *context, const trestle_stream_answer *answer, const trestle_error *error) {
    work *work = context;
    if (error != NULL) {
        host->fail(host, work->call, error);
        return free(work);
    }
    snprintf(work->to, sizeof work->to, "%.*s", (int)answer->name.size, answer->name.data);
    /* The first use of the name takes the end. It must be a use for the call, because the answer ends the call. */
    const trestle_stream_use from = use(work, work->from, got);
    host->stream_read(host, &from, answer->room < PIECE ? (size_t)answer->room : PIECE);
    char result[128];
    snprintf(result, sizeof result, "{\"text\":\"%s\"}", work->to);
    host->reply(host, work->call, text(result));
    work->call = 0;
}

static void attach(void *context, const trestle_host *table) {
    (void)context;
    host = table;
}

static void fail(trestle_call call, const char *code, const char *message) {
    host->fail(host, call, &(trestle_error){.size = sizeof(trestle_error), .abi = TRESTLE_ABI, .code = text(code),
                                            .message = text(message), .retry_after_ns = -1});
}

static void call(void *context, const trestle_request *request) {
    (void)context;
    if (!TRESTLE_HAS(host, stream_close))
        return fail(request->call, "rot13.old_daemon", "this daemon is older than streams in C");
    work *work = calloc(1, sizeof *work);
    if (work == NULL) return fail(request->call, "rot13.memory", "there is no memory");
    work->call = request->call;
    /* A value that is not a string, or is too long, cannot be the name of a stream. */
    if (!trestle_json_string(request->options, "text", work->from, sizeof work->from, NULL)) work->from[0] = '\0';
    if (request->number == 0) {
        const trestle_stream_use new = use(work, "", made);
        host->stream_new(host, &new, TRESTLE_STREAM_WRITER, text("text/plain"), TRESTLE_STREAM_UNKNOWN);
    } else {
        const trestle_stream_use from = use(work, work->from, counted);
        host->stream_read(host, &from, PIECE);
    }
}

#define STREAM "{\"type\": \"string\", \"format\": \"trestle-stream\"}"
#define TEXT                                                                                        \
    "{\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"text\"], \"properties\": {" \
    "\"text\": " STREAM "}}"
#define INTEGER "{\"type\": \"integer\", \"minimum\": 0}"

static const char manifest[] =
    "{\"name\": \"rot13\", \"version\": \"1.0.0\", \"tasks\": ["
    "{\"name\": \"rot13.turn\", \"summary\": \"Returns a text in ROT13.\", \"timeout\": null,"
    " \"options\": " TEXT ", \"result\": " TEXT "},"
    "{\"name\": \"rot13.count\", \"summary\": \"Returns how many bytes and letters a text has.\", \"timeout\": null,"
    " \"options\": " TEXT ", \"result\": {\"type\": \"object\", \"required\": [\"bytes\", \"letters\"],"
    " \"properties\": {\"bytes\": " INTEGER ", \"letters\": " INTEGER "}}}]}";

const trestle_plugin *trestle_plugin_entry(void) {
    static const trestle_plugin plugin = {
        .size = sizeof plugin,
        .abi = TRESTLE_ABI,
        .manifest = {manifest, sizeof manifest - 1},
        .attach = attach,
        .call = call,
    };
    return &plugin;
}

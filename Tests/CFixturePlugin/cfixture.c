/* libCFixture.so: a plugin in C for tests of the functions about streams. The task cfixture.use uses one of them as its
 * options say, and answers with what `done` got. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trestle_json.h"
#include "trestle_plugin.h"

static const trestle_host *host;
/* Calls about streams that were made, and ends of them that were reported. */
static unsigned made, ended;
/* The end of a pipe that came last; -1: none. */
static int32_t pipe_end = -1;

static trestle_bytes text(const char *string) {
    return (trestle_bytes){.data = string, .size = strlen(string)};
}

/* One call of the task, until it is answered; what it began may last longer. */
typedef struct use {
    trestle_call call;      /* 0: it has been answered. */
    trestle_call parent;    /* On whose behalf the function is called. */
    char operation[16];     /* What is done. */
    char next[16];          /* What is done inside `done`; empty: nothing. */
    char name[64];          /* The stream. */
    char error[32];         /* The code with which it is closed; empty: none. */
    bool is_long;           /* The error has a long message. */
    int64_t count;          /* How many bytes are written, or read at most. */
    int64_t total;          /* How many bytes are said to be there; negative: not said. */
    int64_t timeout;        /* Milliseconds; 0: none. */
    int64_t side;           /* The end that is meant. */
    bool is_end, is_reader, is_nameless, is_typed, is_piped;
    unsigned ended;         /* How often `done` was called. */
    uint64_t read;          /* How many bytes were read. */
} use;

static void begin(use *use);

static void answer(use *use, const char *result) {
    if (use->call != 0) host->reply(host, use->call, text(result));
    use->call = 0;
}

/* Everything that `done` gets, as JSON. */
static void describe(use *use, const trestle_stream_answer *got, const trestle_error *error) {
    char line[1024];
    if (error != NULL) {
        snprintf(line, sizeof line, "{\"error\":\"%.*s\",\"data\":%.*s,\"ended\":%u,\"read\":%" PRIu64 "}",
                 (int)error->code.size, error->code.data, error->data.size ? (int)error->data.size : 4,
                 error->data.size ? error->data.data : "null", use->ended, use->read);
        return answer(use, line);
    }
    int64_t total = got->total == TRESTLE_STREAM_UNKNOWN ? -1 : (int64_t)got->total;
    snprintf(line, sizeof line,
             "{\"name\":\"%.*s\",\"room\":%" PRIu64 ",\"bytes\":%zu,\"text\":\"%.*s\",\"count\":%" PRIu64
             ",\"type\":\"%.*s\",\"total\":%" PRId64 ",\"flags\":%u,\"endedBy\":%u,\"given\":\"%.*s\",\"ended\":%u,"
             "\"read\":%" PRIu64 ",\"attached\":%s}",
             (int)got->name.size, got->name.data ? got->name.data : "", got->room, got->bytes.size,
             got->bytes.size < 16 ? (int)got->bytes.size : 0, got->bytes.data ? got->bytes.data : "", got->count,
             (int)got->type.size, got->type.data ? got->type.data : "", total, got->flags, got->ended_by,
             got->error ? (int)got->error->code.size : 0, got->error ? got->error->code.data : "", use->ended,
             use->read, got->descriptor >= 0 ? "true" : "false");
    answer(use, line);
}

static void done(void *context, const trestle_stream_answer *got, const trestle_error *error) {
    use *use = context;
    ended++;
    use->ended++;
    if (got != NULL) use->read += got->bytes.size;
    if (got != NULL && got->descriptor >= 0) pipe_end = got->descriptor;
    const bool is_over = error != NULL || (got->flags & TRESTLE_STREAM_END) != 0;
    if (strcmp(use->next, "again") == 0 && !is_over) return begin(use);
    if (use->next[0] != 0 && strcmp(use->next, "again") != 0 && error == NULL) {
        memcpy(use->operation, use->next, sizeof use->operation);
        use->next[0] = 0;
        return begin(use);
    }
    describe(use, got, error);
    free(use);
}

/* Calls the function that `use` names, here and now. */
static void begin(use *use) {
    static char bytes[1 << 21];
    memset(bytes, 'x', sizeof bytes);
    const trestle_stream_use stream = {
        .size = sizeof stream, .abi = TRESTLE_ABI, .call = use->parent,
        .name = use->is_nameless ? (trestle_bytes){0} : text(use->name),
        .timeout_ns = use->timeout * 1000000, .context = use, .done = done, .side = (uint32_t)use->side,
        .flags = use->is_piped ? TRESTLE_STREAM_ATTACH : 0};
    const trestle_bytes reason = {.data = bytes, .size = 60000};
    const trestle_error error = {.size = sizeof error, .abi = TRESTLE_ABI, .code = text(use->error),
                                 .message = use->is_long ? reason : text("the test says so"), .retry_after_ns = -1};
    made++;
    if (strcmp(use->operation, "new") == 0)
        host->stream_new(host, &stream, use->is_reader ? TRESTLE_STREAM_READER : TRESTLE_STREAM_WRITER,
                         text(use->is_typed ? "text/plain" : ""),
                         use->total < 0 ? TRESTLE_STREAM_UNKNOWN : (uint64_t)use->total);
    else if (strcmp(use->operation, "write") == 0)
        host->stream_write(host, &stream, (trestle_bytes){.data = bytes, .size = (size_t)use->count},
                           use->is_end ? TRESTLE_STREAM_END : 0);
    else if (strcmp(use->operation, "read") == 0)
        host->stream_read(host, &stream, (size_t)use->count);
    else if (strcmp(use->operation, "attach") == 0)
        host->stream_attach(host, &stream);
    else
        host->stream_close(host, &stream, use->total < 0 ? TRESTLE_STREAM_UNKNOWN : (uint64_t)use->total,
                           use->error[0] == 0 ? NULL : &error);
}

static void called(void *context, trestle_bytes result, const trestle_error *error) {
    use *use = context;
    char line[1024];
    if (error != NULL)
        snprintf(line, sizeof line, "{\"error\":\"%.*s\"}", (int)error->code.size, error->code.data);
    else
        snprintf(line, sizeof line, "%.*s", (int)result.size, result.data);
    answer(use, line);
    free(use);
}

/* Makes a stream as any task is called, with the wish for a pipe. */
static void call_task(use *use) {
    const trestle_outgoing_call outgoing = {
        .size = sizeof outgoing, .abi = TRESTLE_ABI, .task = text("bridge.stream.new"),
        .options = text("{\"attach\":true}"), .context = use, .done = called};
    host->call(host, &outgoing);
}

static void end_pipe(use *use) {
    close(pipe_end);
    pipe_end = -1;
    char line[64];
    snprintf(line, sizeof line, "{\"read\":%" PRIu64 "}", use->read);
    answer(use, line);
    free(use);
}

/* Reads the pipe to its end, and answers how many bytes came. `events` 0: it is to be waited for first. */
static void read_pipe(void *argument, uint32_t events) {
    static char bytes[64 << 10];
    use *use = argument;
    const ssize_t count = events == 0 ? -1 : read(pipe_end, bytes, sizeof bytes);
    if (count == 0) return end_pipe(use);
    if (count > 0) use->read += (uint64_t)count;
    host->watch(host, pipe_end, TRESTLE_WATCH_READABLE, read_pipe, use);
}

/* Writes as many bytes to the pipe as fit, and closes it. */
static void write_pipe(use *use) {
    static char bytes[64 << 10];
    memset(bytes, 'x', sizeof bytes);
    const ssize_t count = write(pipe_end, bytes, (size_t)use->count);
    use->read = count > 0 ? (uint64_t)count : 0;
    end_pipe(use);
}

/* Off the loop thread: `done` comes later, and may free `use` at once. */
static void begin_there(void *argument) {
    begin(argument);
}

static void nothing(void *argument) {
    (void)argument;
}

static void call(void *context, const trestle_request *request) {
    (void)context;
    const trestle_bytes options = request->options;
    if (request->number == 1) {
        char line[64];
        snprintf(line, sizeof line, "{\"made\":%u,\"ended\":%u}", made, ended);
        return host->reply(host, request->call, text(line));
    }
    use *use = calloc(1, sizeof *use);
    if (use == NULL) abort();
    bool is_own = false, is_thread = false, is_left = false;
    use->call = request->call;
    use->total = -1;
    trestle_json_string(options, "operation", use->operation, sizeof use->operation, NULL);
    if (!trestle_json_string(options, "next", use->next, sizeof use->next, NULL)) use->next[0] = 0;
    if (!trestle_json_string(options, "stream", use->name, sizeof use->name, NULL)) use->name[0] = 0;
    if (!trestle_json_string(options, "error", use->error, sizeof use->error, NULL)) use->error[0] = 0;
    trestle_json_int(options, "count", &use->count);
    trestle_json_int(options, "total", &use->total);
    trestle_json_int(options, "timeout", &use->timeout);
    trestle_json_int(options, "side", &use->side);
    trestle_json_bool(options, "end", &use->is_end);
    trestle_json_bool(options, "reader", &use->is_reader);
    trestle_json_bool(options, "nameless", &use->is_nameless);
    trestle_json_bool(options, "typed", &use->is_typed);
    trestle_json_bool(options, "piped", &use->is_piped);
    trestle_json_bool(options, "long", &use->is_long);
    trestle_json_bool(options, "own", &is_own);
    trestle_json_bool(options, "thread", &is_thread);
    trestle_json_bool(options, "left", &is_left);
    use->parent = is_own ? 0 : request->call;
    if (strcmp(use->operation, "readPipe") == 0) return read_pipe(use, 0);
    if (strcmp(use->operation, "writePipe") == 0) return write_pipe(use);
    if (strcmp(use->operation, "callNew") == 0) return call_task(use);
    if (is_thread) return host->blocking(host, begin_there, nothing, use);
    /* Answered after the function was called: it holds the end by then. */
    const trestle_call self = use->call;
    if (is_left) use->call = 0;
    begin(use);
    if (is_left) host->reply(host, self, text("\"left\""));
}

static void attach(void *context, const trestle_host *table) {
    (void)context;
    host = table;
}

static void stop(void *context, const trestle_request *request) {
    (void)context;
    char line[64];
    snprintf(line, sizeof line, "streams at the stop: made %u, ended %u", made, ended);
    host->log(host, TRESTLE_LOG_NOTICE, text(line), 0);
    host->reply(host, request->call, text("{}"));
}

static const char manifest[] =
    "{\"name\": \"cfixture\", \"version\": \"1.0.0\", \"tasks\": ["
    "{\"name\": \"cfixture.use\", \"summary\": \"Uses a stream.\", \"timeout\": null},"
    "{\"name\": \"cfixture.counts\", \"summary\": \"Returns how many uses were made, and have ended.\"}]}";

const trestle_plugin *trestle_plugin_entry(void) {
    static const trestle_plugin plugin = {
        .size = sizeof plugin,
        .abi = TRESTLE_ABI,
        .manifest = {manifest, sizeof manifest - 1},
        .attach = attach,
        .call = call,
        .stop = stop,
    };
    return &plugin;
}

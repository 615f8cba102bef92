/* A plugin with one kind of fault, which macros of the compiler select: -DBEHAVIOUR_CrashInCall -DNAME='"CrashInCall"'.
 * The task hostile.NAME has the fault, hostile.NAME.good answers with its options. ../README.md lists the faults. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "trestle_plugin.h"

#define TASK "hostile." NAME
#ifdef BEHAVIOUR_TakesEcho
#define FIRST_TASK "Echo"
#elif defined(BEHAVIOUR_ReservedName)
#define FIRST_TASK "plugin.start"
#else
#define FIRST_TASK TASK
#endif

static const trestle_host *host;

static trestle_bytes text(const char *string) {
    return (trestle_bytes){.data = string, .size = strlen(string)};
}

/* Ends the process with SIGSEGV, even if a handler is installed. */
__attribute__((unused)) static void crash(void) {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    abort();
}

#ifdef BEHAVIOUR_CrashInConstructor
__attribute__((constructor)) static void construct(void) {
    crash();
}
#endif

#define GIGABYTE ((size_t)1 << 30)

/* Replies with a result whose size nothing limits before it reaches the host. */
__attribute__((unused)) static void reply_a_gigabyte(trestle_call call) {
    char *line = malloc(GIGABYTE + 2);
    if (line == NULL) return;
    memset(line, 'x', GIGABYTE + 2);
    line[0] = line[GIGABYTE + 1] = '"';
    host->reply(host, call, (trestle_bytes){.data = line, .size = GIGABYTE + 2});
    free(line);
}

/* Writes to the host process's end of the daemon's socket, which is an ordinary descriptor. */
__attribute__((unused)) static void write_a_gigabyte(trestle_call call) {
    const char *number = getenv("TRESTLE_PLUGIN_FD");
    const int out = number == NULL ? -1 : atoi(number);
    static char piece[1 << 16];
    const int begun = snprintf(piece, sizeof piece, "{\"callbackId\":%llu,\"result\":\"", (unsigned long long)call);
    size_t left = (size_t)begun, written = 0;
    while (written < GIGABYTE) {
        const ssize_t count = write(out, piece, left < sizeof piece ? left : sizeof piece);
        if (count < 0) {
            struct pollfd room = {.fd = out, .events = POLLOUT};
            if (poll(&room, 1, -1) < 1 || room.revents & (POLLERR | POLLHUP | POLLNVAL)) return;
            continue;
        }
        written += (size_t)count;
        if (written < (size_t)begun) continue;
        memset(piece, 'x', sizeof piece);
        left = sizeof piece;
    }
}

/* Opens as many descriptors as possible. A second call closes them. */
__attribute__((unused)) static void leak_descriptors(trestle_call call) {
    static int leaked[1 << 16], opened = 0;
    if (opened > 0) {
        while (opened > 0) close(leaked[--opened]);
        host->reply(host, call, text("\"closed\""));
        return;
    }
    int number;
    while (opened < 1 << 16 && (number = open("/dev/null", O_RDONLY)) >= 0) leaked[opened++] = number;
    char line[32];
    snprintf(line, sizeof line, "{\"opened\":%d}", opened);
    host->reply(host, call, text(line));
}

static void misbehave(const trestle_request *request) {
    const trestle_call call = request->call;
    (void)call;
#if defined(BEHAVIOUR_CrashInCall)
    crash();
#elif defined(BEHAVIOUR_ExitInCall)
    _exit(3);
#elif defined(BEHAVIOUR_AnswersTwice)
    host->reply(host, call, text("\"first\""));
    host->reply(host, call, text("\"second\""));
    host->fail(host, call, &(trestle_error){.size = sizeof(trestle_error), .abi = TRESTLE_ABI, .code = text("third"),
                                            .message = text("The third answer."), .retry_after_ns = -1});
#elif defined(BEHAVIOUR_AnswersUnknown)
    const trestle_call unknown[] = {0, 1, call + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        host->report_progress(host, unknown[i], text("1"));
        host->reply(host, unknown[i], text("\"nobody asked\""));
    }
    host->reply(host, call, text("\"asked\""));
#elif defined(BEHAVIOUR_BadJSON)
    host->report_progress(host, call, text("{\"half\":"));
    host->reply(host, call, text("{\"half\":"));
#elif defined(BEHAVIOUR_ForksAndExits)
    int gone[2];
    if (pipe(gone) != 0) _exit(1);
    const pid_t child = fork();
    if (child == 0) {
        /* Leaves the process group if the options are "leave". */
        if (request->options.size == strlen("\"leave\"")) setsid();
        close(gone[1]);
        for (;;) pause();
    }
    /* An exit before the child has left the process group would end the child as well. */
    char nothing;
    close(gone[1]);
    while (read(gone[0], &nothing, 1) > 0) continue;
    char line[32];
    snprintf(line, sizeof line, "child %ld", (long)child);
    host->log(host, TRESTLE_LOG_NOTICE, text(line), 0);
    /* Replies as well, since the log line may not have been sent before the exit. */
    host->reply(host, call, text("\"forked\""));
    _exit(0);
#elif defined(BEHAVIOUR_WritesOutput)
    for (int i = 0; i < 100000; i++) printf("line %d of what nobody wants to read, and far too much of it\n", i);
    printf("half a line");
    fflush(stdout);
    host->reply(host, call, text("\"written\""));
#elif defined(BEHAVIOUR_LongLine)
    reply_a_gigabyte(call);
#elif defined(BEHAVIOUR_WritesSocket)
    write_a_gigabyte(call);
#elif defined(BEHAVIOUR_LeaksDescriptors)
    leak_descriptors(call);
#elif defined(BEHAVIOUR_BlocksLoop)
    for (;;) pause();
#elif defined(BEHAVIOUR_BusyLoop)
    for (volatile unsigned n = 0;; n++) continue;
#elif defined(BEHAVIOUR_NeverAnswers) || defined(BEHAVIOUR_IgnoresCancel)
    /* No answer. */
#else
    host->reply(host, call, request->options);
#endif
}

static void attach(void *context, const trestle_host *table) {
    (void)context;
    host = table;
}

static void start(void *context, const trestle_request *request) {
    (void)context;
#ifdef BEHAVIOUR_CrashAtStart
    crash();
#endif
    host->reply(host, request->call, text("{}"));
}

static void call(void *context, const trestle_request *request) {
    (void)context;
    if (request->number == 0)
        misbehave(request);
    else
        host->reply(host, request->call, request->options);
}

static void cancel(void *context, trestle_call call, uint32_t reason) {
    (void)context, (void)reason;
#ifdef BEHAVIOUR_IgnoresCancel
    (void)call;
#else
    host->fail(host, call, &(trestle_error){.size = sizeof(trestle_error), .abi = TRESTLE_ABI,
                                            .code = text("call.cancelled"), .message = text("It was cancelled."),
                                            .retry_after_ns = -1});
#endif
}

static void stop(void *context, const trestle_request *request) {
    (void)context;
#ifdef BEHAVIOUR_CrashAtStop
    crash();
#endif
#ifndef BEHAVIOUR_IgnoresCancel
    host->reply(host, request->call, text("{}"));
#else
    (void)request;
#endif
}

static const char manifest[] =
    "{\"name\": \"" NAME "\", \"version\": \"1.0.0\", \"tasks\": ["
    "{\"name\": \"" FIRST_TASK "\", \"summary\": \"Misbehaves.\"},"
    "{\"name\": \"" TASK ".good\", \"summary\": \"Answers with its options.\"}]}";

const trestle_plugin *trestle_plugin_entry(void) {
#ifdef BEHAVIOUR_CrashInEntry
    crash();
#endif
    static const trestle_plugin plugin = {
        .size = sizeof plugin,
#ifdef BEHAVIOUR_WrongABI
        .abi = TRESTLE_ABI + 1,
#else
        .abi = TRESTLE_ABI,
#endif
#ifdef BEHAVIOUR_BadManifest
        .manifest = {manifest, sizeof manifest - 3},
#else
        .manifest = {manifest, sizeof manifest - 1},
#endif
        .attach = attach,
        .start = start,
        .call = call,
        .cancel = cancel,
        .stop = stop,
    };
    return &plugin;
}

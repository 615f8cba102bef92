/* A plugin that misbehaves in one way, which the compiler is told: -DBEHAVIOUR_CrashInCall -DNAME='"CrashInCall"'. The task
 * hostile.NAME misbehaves, hostile.NAME.good answers with its options. ../README.md lists the ways. */
#define _POSIX_C_SOURCE 200809L
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
#else
#define FIRST_TASK TASK
#endif

static const trestle_host *host;

static trestle_bytes text(const char *string) {
    return (trestle_bytes){.data = string, .size = strlen(string)};
}

/* A fault as the processor makes it, also where something has set a handler for it. */
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
                                            .message = text("The third answer."), .retry_after_ms = -1});
#elif defined(BEHAVIOUR_AnswersUnknown)
    const trestle_call unknown[] = {0, 1, call + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        host->progress(host, unknown[i], text("1"));
        host->reply(host, unknown[i], text("\"nobody asked\""));
    }
    host->reply(host, call, text("\"asked\""));
#elif defined(BEHAVIOUR_BadJSON)
    host->progress(host, call, text("{\"half\":"));
    host->reply(host, call, text("{\"half\":"));
#elif defined(BEHAVIOUR_ForksAndExits)
    const pid_t child = fork();
    if (child == 0)
        for (;;) pause();
    char line[32];
    snprintf(line, sizeof line, "child %ld", (long)child);
    host->log(host, TRESTLE_LOG_NOTICE, text(line), 0);
    /* As an answer, since a line of the log may not have left by the time of the exit. */
    host->reply(host, call, text("\"forked\""));
    _exit(0);
#elif defined(BEHAVIOUR_WritesOutput)
    for (int i = 0; i < 100000; i++) printf("line %d of what nobody wants to read, and far too much of it\n", i);
    printf("half a line");
    fflush(stdout);
    host->reply(host, call, text("\"written\""));
#elif defined(BEHAVIOUR_BlocksLoop)
    for (;;) pause();
#elif defined(BEHAVIOUR_BusyLoop)
    for (volatile unsigned n = 0;; n++) continue;
#elif defined(BEHAVIOUR_NeverAnswers) || defined(BEHAVIOUR_IgnoresCancel)
    /* Nothing. */
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
    if (request->index == 0)
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
                                            .retry_after_ms = -1});
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

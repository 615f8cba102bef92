/* A task plugin in C: a counter. It shows everything that the interface requires: a manifest, the daemon's table, which
 * is stored, and one answer to every call. Everything here runs on the daemon's loop thread, so no lock is needed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trestle_plugin.h"

static const trestle_host *host;
static int64_t total;

static trestle_bytes text(const char *string) {
    return (trestle_bytes){.data = string, .size = strlen(string)};
}

static void reply_number(trestle_call call, int64_t number) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, number);
    host->reply(host, call, text(digits));
}

static void fail(trestle_call call, const char *code, const char *message) {
    host->fail(host, call, &(trestle_error){.size = sizeof(trestle_error), .abi = TRESTLE_ABI, .code = text(code),
                                            .message = text(message), .retry_after_ns = -1});
}

/* The options of both tasks are one integer. They are valid JSON already; this only checks that they are an integer. */
static bool read_integer(trestle_bytes options, int64_t *number) {
    char digits[24], *end = digits;
    if (options.size >= sizeof digits) return false;
    memcpy(digits, options.data, options.size);
    digits[options.size] = '\0';
    errno = 0;
    *number = strtoll(digits, &end, 10);
    return errno == 0 && end != digits && *end == '\0';
}

static void add(trestle_call call, int64_t by) {
    int64_t sum;
    if (__builtin_add_overflow(total, by, &sum))
        fail(call, "counter.full", "The counter cannot hold that much.");
    else
        reply_number(call, total = sum);
}

/* Reports every number up to the last as progress, and the last one as the result. */
static void count(trestle_call call, int64_t to) {
    char digits[24];
    for (int64_t number = 1; number < to; number++) {
        snprintf(digits, sizeof digits, "%" PRId64, number);
        host->report_progress(host, call, text(digits));
    }
    reply_number(call, to);
}

static void attach(void *context, const trestle_host *table) {
    (void)context;
    host = table;
}

static void call(void *context, const trestle_request *request) {
    int64_t number;
    (void)context;
    if (!read_integer(request->options, &number))
        fail(request->call, "options.invalid", "The options must be an integer.");
    else if (request->number == 0)
        add(request->call, number);
    else if (number >= 1 && number <= 1000)
        count(request->call, number);
    else
        fail(request->call, "options.invalid", "The options must be an integer from 1 to 1000.");
}

static const char manifest[] =
    "{\"name\": \"counter\", \"version\": \"1.0.0\", \"tasks\": ["
    "{\"name\": \"counter.add\", \"summary\": \"Adds to the counter and returns the total.\","
    " \"options\": {\"type\": \"integer\"}, \"result\": {\"type\": \"integer\"}},"
    "{\"name\": \"counter.count\", \"summary\": \"Counts up to a number, each step as progress.\","
    " \"options\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 1000}, \"result\": {\"type\": \"integer\"}}]}";

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

/* A task plugin in C that reports the state of the machine: memory, load, uptime, and the use of a disk.
 *
 * Values that the kernel has in memory are answered immediately, on the daemon's loop thread. A file system may be
 * slow, or on a server that does not respond, so sysinfo.disk runs on a thread of `blocking`. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "trestle_json.h"

/* The longest path that Linux accepts, with the terminating zero. */
enum { PATH_BYTES = 4096 };

static const trestle_host *host;

static trestle_bytes text(const char *string) {
    return (trestle_bytes){.data = string, .size = strlen(string)};
}

__attribute__((format(printf, 2, 3))) static void reply(trestle_call call, const char *format, ...) {
    char json[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(json, sizeof json, format, arguments);
    va_end(arguments);
    host->reply(host, call, text(json));
}

static void fail(trestle_call call, const char *code, const char *message) {
    host->fail(host, call, &(trestle_error){.size = sizeof(trestle_error), .abi = TRESTLE_ABI, .code = text(code),
                                            .message = text(message), .retry_after_ns = -1});
}

/* sysinfo.memory */

static void memory(trestle_call call) {
    static const char *const names[] = {"MemTotal:", "MemAvailable:", "SwapTotal:", "SwapFree:"};
    uint64_t bytes[4] = {0}, kilobytes;
    unsigned found = 0;
    char line[128], name[64];
    FILE *file = fopen("/proc/meminfo", "re");
    if (file == NULL) return fail(call, "sysinfo.unavailable", "/proc/meminfo cannot be read; is /proc mounted?");
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%63s %" SCNu64, name, &kilobytes) != 2) continue;
        for (unsigned i = 0; i < 4; i++)
            if (strcmp(name, names[i]) == 0) bytes[i] = kilobytes * 1024, found |= 1u << i;
    }
    fclose(file);
    if (found != 15) return fail(call, "sysinfo.unavailable", "/proc/meminfo lacks a line that every Linux since 3.14 has.");
    reply(call,
          "{\"totalBytes\":%" PRIu64 ",\"availableBytes\":%" PRIu64 ",\"swapTotalBytes\":%" PRIu64
          ",\"swapFreeBytes\":%" PRIu64 "}",
          bytes[0], bytes[1], bytes[2], bytes[3]);
}

/* sysinfo.load */

static void load(trestle_call call) {
    double loads[3];
    long hundredths[3];
    if (getloadavg(loads, 3) != 3) return fail(call, "sysinfo.unavailable", "the kernel reports no load");
    /* As integers, because some locales write a decimal comma, which is not valid JSON. */
    for (int i = 0; i < 3; i++) hundredths[i] = (long)(loads[i] * 100 + 0.5);
    reply(call, "{\"one\":%ld.%02ld,\"five\":%ld.%02ld,\"fifteen\":%ld.%02ld,\"processors\":%ld}", hundredths[0] / 100,
          hundredths[0] % 100, hundredths[1] / 100, hundredths[1] % 100, hundredths[2] / 100, hundredths[2] % 100,
          sysconf(_SC_NPROCESSORS_ONLN));
}

/* sysinfo.uptime */

static void uptime(trestle_call call) {
    struct timespec up, now;
    if (clock_gettime(CLOCK_BOOTTIME, &up) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return fail(call, "sysinfo.unavailable", "the kernel reports no time");
    reply(call, "{\"seconds\":%lld,\"bootedAt\":%lld}", (long long)up.tv_sec, (long long)(now.tv_sec - up.tv_sec));
}

/* sysinfo.disk: the data that goes to the other thread and back. Owned by the thread that currently holds it. */

typedef struct disk_work {
    trestle_call call;
    int error;
    struct statvfs found;
    char path[PATH_BYTES];
} disk_work;

static void ask_disk(void *argument) {
    disk_work *work = argument;
    work->error = statvfs(work->path, &work->found) == 0 ? 0 : errno;
}

static void answer_disk(void *argument) {
    disk_work *work = argument;
    const struct statvfs *found = &work->found;
    const uint64_t unit = found->f_frsize;
    if (work->error == ENOENT || work->error == ENOTDIR)
        fail(work->call, "sysinfo.not_found", "There is nothing at this path.");
    else if (work->error == EACCES)
        fail(work->call, "permission.denied", "The daemon's user may not look there.");
    else if (work->error != 0)
        /* On the loop thread, where no other code uses strerror's buffer at the same time. */
        fail(work->call, "sysinfo.unavailable", strerror(work->error));
    else
        reply(work->call,
              "{\"totalBytes\":%" PRIu64 ",\"freeBytes\":%" PRIu64 ",\"availableBytes\":%" PRIu64 ",\"readOnly\":%s}",
              found->f_blocks * unit, found->f_bfree * unit, found->f_bavail * unit,
              (found->f_flag & ST_RDONLY) != 0 ? "true" : "false");
    free(work);
}

/* Reads the path from the options; false if there is none, or it is too long. A path with a zero byte is refused: the
 * part after it would be ignored. */
static bool read_path(trestle_bytes options, char path[static PATH_BYTES]) {
    return trestle_json_string(options, "path", path, PATH_BYTES, NULL) && path[0] == '/';
}

static void disk(const trestle_request *request) {
    disk_work *work = calloc(1, sizeof *work);
    if (work == NULL) return fail(request->call, "busy", "There is no memory left.");
    work->call = request->call;
    if (!read_path(request->options, work->path)) {
        free(work);
        return fail(request->call, "options.invalid", "path must be a path from the root, of at most 4,095 bytes.");
    }
    host->blocking(host, ask_disk, answer_disk, work);
}

/* The plugin. A cancelled call needs no handling: each call is answered soon, and the daemon drops unwanted answers. */

static void attach(void *context, const trestle_host *table) {
    (void)context;
    host = table;
}

static void call(void *context, const trestle_request *request) {
    (void)context;
    switch (request->number) {
    case 0: return memory(request->call);
    case 1: return load(request->call);
    case 2: return uptime(request->call);
    default: return disk(request);
    }
}

#define NOTHING "{\"type\": \"object\", \"additionalProperties\": false}"
#define INTEGER "{\"type\": \"integer\", \"minimum\": 0}"
#define NUMBER "{\"type\": \"number\", \"minimum\": 0}"

static const char manifest[] =
    "{\"name\": \"sysinfo\", \"version\": \"1.0.0\", \"tasks\": ["
    "{\"name\": \"sysinfo.memory\", \"summary\": \"Returns the total and the available memory.\","
    " \"options\": " NOTHING ", \"result\": {\"type\": \"object\","
    " \"required\": [\"totalBytes\", \"availableBytes\", \"swapTotalBytes\", \"swapFreeBytes\"], \"properties\": {"
    "\"totalBytes\": " INTEGER ", \"availableBytes\": " INTEGER ", \"swapTotalBytes\": " INTEGER ","
    " \"swapFreeBytes\": " INTEGER "}}},"
    "{\"name\": \"sysinfo.load\", \"summary\": \"Returns the load averages of the machine.\","
    " \"options\": " NOTHING ", \"result\": {\"type\": \"object\","
    " \"required\": [\"one\", \"five\", \"fifteen\", \"processors\"], \"properties\": {"
    "\"one\": " NUMBER ", \"five\": " NUMBER ", \"fifteen\": " NUMBER ", \"processors\": " INTEGER "}}},"
    "{\"name\": \"sysinfo.uptime\", \"summary\": \"Returns the uptime and the boot time of the machine.\","
    " \"options\": " NOTHING ", \"result\": {\"type\": \"object\", \"required\": [\"seconds\", \"bootedAt\"],"
    " \"properties\": {\"seconds\": " INTEGER ", \"bootedAt\": {\"type\": \"integer\","
    " \"description\": \"seconds since 1970\"}}}},"
    "{\"name\": \"sysinfo.disk\", \"summary\": \"Returns the usage of the file system that contains a path.\","
    " \"options\": {\"type\": \"object\", \"additionalProperties\": false, \"required\": [\"path\"], \"properties\": {"
    "\"path\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 4090}}}, \"result\": {\"type\": \"object\","
    " \"required\": [\"totalBytes\", \"freeBytes\", \"availableBytes\", \"readOnly\"], \"properties\": {"
    "\"totalBytes\": " INTEGER ", \"freeBytes\": " INTEGER ", \"availableBytes\": " INTEGER ","
    " \"readOnly\": {\"type\": \"boolean\"}}}}]}";

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

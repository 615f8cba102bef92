// A client that provides a task and answers each call of it with the call's options: it measures forwarding. It does as
// little work as possible, so that the daemon is measured.
//
//     provider SOCKET TASK
//
// Prints "ready" once the daemon has accepted the task; ends with its connection.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { input_bytes = 256 * 1024 };

static char input[input_bytes], output[input_bytes];

static void fail(const char *what) {
    fprintf(stderr, "provider: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void write_all(int socket, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(socket, bytes, count);
        if (written < 0) fail("write");
        bytes += written;
        count -= (size_t)written;
    }
}

static const char *find(const char *from, const char *end, const char *text) {
    return memmem(from, (size_t)(end - from), text, strlen(text));
}

// Appends the callback for one line to the output. The daemon writes the options last. A line that is not a call is
// ignored.
static size_t answer(const char *line, const char *end, size_t used) {
    const char *id = find(line, end, "\"callbackId\":");
    const char *options = find(line, end, "\"options\":");
    if (id == NULL || options == NULL) return used;
    id += strlen("\"callbackId\":");
    options += strlen("\"options\":");
    // An answer is shorter than its call, so the output has room for the answers to a whole input.
    int length = snprintf(output + used, sizeof output - used, "{\"callbackId\":%.*s,\"result\":%.*s\n",
                          (int)strspn(id, "0123456789"), id, (int)(end - options), options);
    return used + (size_t)length;
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: provider SOCKET TASK\n");
        return 64;
    }
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", arguments[1]);
    int connection = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0) fail(arguments[1]);
    int length = snprintf(output, sizeof output,
                          "{\"task\":\"bridge.register\",\"options\":{\"tasks\":[\"%s\"]},\"callbackId\":\"r\"}\n",
                          arguments[2]);
    write_all(connection, output, (size_t)length);
    size_t held = 0;
    for (;;) {
        ssize_t received = read(connection, input + held, sizeof input - held);
        if (received < 0) fail("read");
        if (received == 0) return 0;
        const char *line = input, *end = input + held + received, *next;
        size_t used = 0;
        while ((next = memchr(line, '\n', (size_t)(end - line))) != NULL) {
            if (find(line, next, "\"r\",\"result\"") != NULL) {
                puts("ready");
                fflush(stdout);
            } else {
                used = answer(line, next, used);
            }
            line = next + 1;
        }
        write_all(connection, output, used);
        held = (size_t)(end - line);
        memmove(input, line, held);
    }
}

#include "stream_client.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SHORT_BYTES = 4096 }; /* A longer line contains bytes of the stream, and is not searched. */

void connect_to(client *client, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    client->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    client->passed = -1;
    if (connect(client->socket, (struct sockaddr *)&address, sizeof address) != 0) err(1, "%s", path);
}

void write_all(int descriptor, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        if (written < 0) err(1, "write");
        bytes += written;
        count -= (size_t)written;
    }
}

static void add_line(client *client, const char *line, int count) {
    if (client->unsent + (size_t)count > sizeof client->output) flush(client);
    memcpy(client->output + client->unsent, line, (size_t)count);
    client->unsent += (size_t)count;
}

void flush(client *client) {
    write_all(client->socket, client->output, client->unsent);
    client->unsent = 0;
}

void begin_task(client *client, const char *task, const char *options) {
    static char line[OUTPUT_BYTES];
    int count = snprintf(line, sizeof line, "{\"task\":\"%s\",\"options\":{%s},\"callbackId\":%d}\n", task, options,
        ++client->id);
    add_line(client, line, count);
}

void begin(client *client, const char *task, const char *stream, const char *more) {
    char name[64], options[256];
    snprintf(name, sizeof name, "bridge.stream.%s", task);
    snprintf(options, sizeof options, "\"stream\":\"%s\"%s", stream, more);
    begin_task(client, name, options);
}

void notify(client *client, const char *task, const char *stream, const char *more) {
    char line[512];
    int count = snprintf(line, sizeof line, "{\"task\":\"bridge.stream.%s\",\"options\":{\"stream\":\"%s\"%s}}\n", task,
        stream, more);
    add_line(client, line, count);
}

static void receive(client *client) {
    flush(client);

    struct iovec vector = {client->input + client->count, sizeof client->input - client->count - 1};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
    ssize_t count = recvmsg(client->socket, &message, MSG_CMSG_CLOEXEC);
    if (count <= 0) errx(1, "the daemon has closed the connection");
    client->count += (size_t)count;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header && header->cmsg_type == SCM_RIGHTS) memcpy(&client->passed, CMSG_DATA(header), sizeof(int));
}

/* Whether the last answer is short and contains this text. */
static bool contains(const client *client, const char *text) {
    return client->used < SHORT_BYTES && strstr(client->input, text);
}

const char *answer(client *client) {
    client->count -= client->used;
    memmove(client->input, client->input + client->used, client->count);
    size_t seen = 0;
    char *end;
    while (!(end = memchr(client->input + seen, '\n', client->count - seen))) {
        seen = client->count;
        receive(client);
    }
    *end = 0;
    client->used = (size_t)(end - client->input) + 1;
    if (contains(client, "\"error\":")) errx(1, "%s", client->input);
    return client->input;
}

static int passed(client *client) {
    answer(client);
    if (client->passed < 0) errx(1, "no descriptor came");
    return client->passed;
}

int attach(client *client, const char *stream, const char *side) {
    char more[32];
    snprintf(more, sizeof more, ",\"side\":\"%s\"", side);
    begin(client, "attach", stream, more);
    return passed(client);
}

void copy_name(const char *answer, char stream[static 40]) {
    const char *name = strstr(answer, "stream:");
    size_t length = name ? strcspn(name, "\"") : 0;
    snprintf(stream, 40, "%.*s", (int)length, name ? name : "");
}

void read_pipe(client *client, const char *stream) {
    static char bytes[COPY_BYTES];
    begin(client, "attach", stream, ",\"side\":\"read\"");
    begin(client, "read", stream, ""); /* Both in one write: the second is answered at the end. */
    int descriptor = passed(client);
    size_t total = 0;
    ssize_t count;
    while ((count = read(descriptor, bytes, sizeof bytes)) > 0) total += (size_t)count;
    close(descriptor);
    client->passed = -1;
    const char *end = strstr(answer(client), "\"bytes\":");
    if (!end || strtoull(end + 8, NULL, 10) != total) errx(1, "%zu bytes came", total);
    char more[48];
    snprintf(more, sizeof more, ",\"bytes\":%zu", total);
    notify(client, "close", stream, more);
    flush(client);
}

void read_messages(client *client, const char *stream) {
    do {
        begin(client, "read", stream, "");
        answer(client);
    } while (!contains(client, "\"end\":true"));
}

/* Sends the bytes of a file as a stream, from one process to another: each side by a descriptor, or by messages.
 *
 *     streamer SOCKET FILE pipe|messages pipe|messages
 *     streamer SOCKET FILE pipe|messages PROGRAM [ARGUMENT ...]
 *
 * The first word is the writer's, the second one the reader's. A program as the reader gets the socket and the stream's
 * name as its last arguments. Prints `seconds=S`: from before the stream is made until both sides know that it is
 * complete, with the start of the program. */
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    COPY_BYTES = 128 << 10, /* As cat does. */
    PIECE_BYTES = 24000,    /* Of a write, as the libraries do: its line is below 32 KiB. */
    MAXIMUM_UNANSWERED = 5, /* Half a window: so much a writer may always have unanswered. */
    LINE_BYTES = 1 << 20,
    SHORT_BYTES = 4096, /* Beyond this, a line has bytes of the stream, and is not searched. */
};

typedef struct {
    int socket;
    int id;
    int passed; /* The descriptor that came last; -1: none. */
    size_t count; /* Bytes of the input. */
    size_t used;  /* Of those, the answer that was looked at last. */
    char input[LINE_BYTES];
} client;

static void connect_to(client *client, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    client->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    client->passed = -1;
    if (connect(client->socket, (struct sockaddr *)&address, sizeof address) != 0) err(1, "%s", path);
}

static void write_all(int descriptor, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);
        if (written < 0) err(1, "write");
        bytes += written;
        count -= (size_t)written;
    }
}

/* Sends a call of a task about the stream; `more` are further options, each behind a comma. */
static void begin(client *client, const char *task, const char *stream, const char *more) {
    static char line[64 << 10];
    int count = snprintf(line, sizeof line,
        "{\"task\":\"bridge.stream.%s\",\"options\":{\"stream\":\"%s\"%s},\"callbackId\":%d}\n", task, stream, more,
        ++client->id);
    write_all(client->socket, line, (size_t)count);
}

static void receive(client *client) {
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

/* Whether the last answer is a short one with this text. */
static bool says(const client *client, const char *text) {
    return client->used < SHORT_BYTES && strstr(client->input, text);
}

/* The next answer, without its line end. Valid until the next one. */
static const char *answer(client *client) {
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
    if (says(client, "\"error\":")) errx(1, "%s", client->input);
    return client->input;
}

static int attach(client *client, const char *stream, const char *side) {
    char more[32];
    snprintf(more, sizeof more, ",\"side\":\"%s\"", side);
    begin(client, "attach", stream, more);
    answer(client);
    if (client->passed < 0) errx(1, "no descriptor came");
    return client->passed;
}

static size_t copy_to(int descriptor, int file) {
    static char bytes[COPY_BYTES];
    size_t total = 0;
    ssize_t count;
    while ((count = read(file, bytes, sizeof bytes)) > 0) {
        write_all(descriptor, bytes, (size_t)count);
        total += (size_t)count;
    }
    close(descriptor);
    return total;
}

/* The bytes are not the file's: what they are costs the daemon the same. Only the end of a line is made anew. */
static size_t write_messages(client *client, const char *stream, int file) {
    static char bytes[PIECE_BYTES], line[PIECE_BYTES / 3 * 4 + 256];
    const int start = snprintf(line, sizeof line,
        "{\"task\":\"bridge.stream.write\",\"options\":{\"stream\":\"%s\",\"base64\":\"", stream);
    memset(line + start, 'A', PIECE_BYTES / 3 * 4);
    size_t total = 0;
    int unanswered = 0;
    ssize_t count;
    while ((count = read(file, bytes, sizeof bytes)) > 0) {
        const size_t digits = ((size_t)count + 2) / 3 * 4, end = (size_t)start + digits;
        total += digits / 4 * 3;
        const int rest = snprintf(line + end, sizeof line - end, "\"},\"callbackId\":%d}\n", ++client->id);
        write_all(client->socket, line, end + (size_t)rest);
        if (++unanswered == MAXIMUM_UNANSWERED) {
            answer(client);
            unanswered--;
        }
    }
    while (unanswered-- > 0) answer(client);
    return total;
}

static void write_stream(client *client, const char *stream, const char *path, bool uses_pipe) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) err(1, "%s", path);
    size_t total = uses_pipe ? copy_to(attach(client, stream, "write"), file) : write_messages(client, stream, file);
    char more[48];
    snprintf(more, sizeof more, ",\"bytes\":%zu", total);
    begin(client, "close", stream, more);
    if (!strstr(answer(client), "\"complete\":true")) errx(1, "the stream is not complete");
}

static void read_pipe(client *client, const char *stream) {
    static char bytes[COPY_BYTES];
    int descriptor = attach(client, stream, "read");
    begin(client, "read", stream, "");
    size_t total = 0;
    ssize_t count;
    while ((count = read(descriptor, bytes, sizeof bytes)) > 0) total += (size_t)count;
    const char *end = strstr(answer(client), "\"bytes\":");
    if (!end || strtoull(end + 8, NULL, 10) != total) errx(1, "%zu bytes came", total);
    char more[48];
    snprintf(more, sizeof more, ",\"bytes\":%zu", total);
    begin(client, "close", stream, more);
    answer(client);
}

static void read_messages(client *client, const char *stream) {
    do {
        begin(client, "read", stream, "");
        answer(client);
    } while (!says(client, "\"end\":true"));
}

static void await_success(pid_t child, const char *who) {
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) errx(1, "the %s has failed", who);
}

/* The words are the program, its arguments, and room for two more behind. */
static void read_by_program(char **words, int count, char *socket, char *stream) {
    pid_t child = fork();
    if (child < 0) err(1, "fork");
    if (child == 0) {
        words[count] = socket;
        words[count + 1] = stream;
        words[count + 2] = NULL;
        execvp(words[0], words);
        err(1, "%s", words[0]);
    }
    await_success(child, "reader");
}

static void read_stream(const char *socket, const char *stream, bool uses_pipe) {
    static client reader;
    connect_to(&reader, socket);
    if (uses_pipe) read_pipe(&reader, stream);
    else read_messages(&reader, stream);
}

int main(int argc, char **argv) {
    static client writer;
    if (argc < 5) errx(64, "usage: streamer SOCKET FILE pipe|messages pipe|messages|PROGRAM...");
    bool writes_pipe = strcmp(argv[3], "pipe") == 0, reads_pipe = strcmp(argv[4], "pipe") == 0;
    connect_to(&writer, argv[1]);
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    const char *line = "{\"task\":\"bridge.stream.new\",\"callbackId\":0}\n";
    write_all(writer.socket, line, strlen(line));
    const char *name = strstr(answer(&writer), "stream:");
    char stream[40];
    snprintf(stream, sizeof stream, "%s", name ? name : "");
    pid_t child = fork();
    if (child < 0) err(1, "fork");
    if (child == 0) {
        write_stream(&writer, stream, argv[2], writes_pipe);
        return 0;
    }
    close(writer.socket);
    if (reads_pipe || strcmp(argv[4], "messages") == 0) {
        read_stream(argv[1], stream, reads_pipe);
    } else {
        char **words = calloc((size_t)argc, sizeof *words);
        if (!words) err(1, "calloc");
        memcpy(words, argv + 4, (size_t)(argc - 4) * sizeof *words);
        read_by_program(words, argc - 4, argv[1], stream);
    }
    await_success(child, "writer");
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("seconds=%.6f\n", (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9);
}

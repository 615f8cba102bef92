/* Sends the bytes of a file as a stream from one process to another: each side by a descriptor, or by messages.
 *
 *     streamer SOCKET FILE pipe|messages pipe|messages
 *     streamer SOCKET FILE pipe|messages PROGRAM [ARGUMENT ...]
 *
 * The first word is for the writer, the second one for the reader. A program as the reader gets the socket and the
 * stream's name as its last arguments. Prints `seconds=S`: from before the creation of the stream until both sides have
 * its end, with the start of the program. */
#include "stream_client.h"

#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE_BYTES = 24000,    /* Of a write, as in the libraries: its line is below 32 KiB. */
    MAXIMUM_UNANSWERED = 5, /* Half a window, which a writer may always have unanswered. */
};

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

/* The bytes are not those of the file: the daemon's cost is the same. Only the end of a line is written each time. */
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

static void await_success(pid_t child, const char *who) {
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) errx(1, "the %s has failed", who);
}

/* The words are the program, its arguments, and room for two more at the end. */
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
    begin_task(&writer, "bridge.stream.new", "");
    char stream[40];
    copy_name(answer(&writer), stream);
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

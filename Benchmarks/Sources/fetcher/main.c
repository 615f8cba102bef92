/* Reads the bodies of one URL as streams, one after the other, or holds many of them open.
 *
 *     fetcher SOCKET URL COUNT pipe|messages
 *     fetcher SOCKET URL COUNT hold
 *
 * The first form prints `seconds=S`. The second one sends COUNT requests to consecutive addresses, beginning with that
 * of URL, six to each. It prints `held` when their headers have arrived, and reads no more until it is ended. */
#include "stream_client.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS_OF_HOST = 6 };

static void begin_fetch(client *client, const char *url, const char *more) {
    char options[512];
    snprintf(options, sizeof options, "\"url\":\"%s\",\"as\":\"stream\",\"cache\":\"no-store\"%s", url, more);
    begin_task(client, "http.fetch", options);
}

static void read_bodies(client *client, const char *url, int count, bool uses_pipe) {
    char stream[40];
    for (int i = 0; i < count; i++) {
        begin_fetch(client, url, "");
        copy_name(answer(client), stream);
        if (uses_pipe) read_pipe(client, stream);
        else read_messages(client, stream);
    }
}

static void hold_bodies(client *client, const char *url, int count) {
    const char *rest = strchr(url + strlen("http://127.0.0.1"), ':');
    char next[256];
    for (int i = 0; i < count; i++) {
        snprintf(next, sizeof next, "http://127.0.0.%d%s", 1 + i / CONNECTIONS_OF_HOST, rest ? rest : "");
        begin_fetch(client, next, ",\"respond\":\"headers\"");
    }
    for (int i = 0; i < count; i++) answer(client);
    puts("held");
    fflush(stdout);
    pause();
}

int main(int argc, char **argv) {
    static client client;
    if (argc != 5) errx(64, "usage: fetcher SOCKET URL COUNT pipe|messages|hold");
    int count = atoi(argv[3]);
    connect_to(&client, argv[1]);
    if (strcmp(argv[4], "hold") == 0) hold_bodies(&client, argv[2], count);
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    read_bodies(&client, argv[2], count, strcmp(argv[4], "pipe") == 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("seconds=%.6f\n", (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9);
}

/* A client of the daemon that reads and writes streams, one call at a time. Every error ends the program. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum {
    COPY_BYTES = 128 << 10, /* The buffer size of cat. */
    LINE_BYTES = 1 << 20,
    OUTPUT_BYTES = 64 << 10,
};

typedef struct {
    int socket;
    int id;
    int passed; /* The last descriptor that was received; -1: none. */
    size_t count; /* Bytes of the input. */
    size_t used;  /* Of those, the size of the last answer. */
    char input[LINE_BYTES];
    size_t unsent; /* Bytes of the output. */
    char output[OUTPUT_BYTES];
} client;

void connect_to(client *client, const char *path);

void write_all(int descriptor, const char *bytes, size_t count);

/* Adds a call of a task. It is sent with the next wait for an answer, or by `flush`. */
void begin_task(client *client, const char *task, const char *options);

/* Adds a call of a task about a stream; `more` are further options, each after a comma. */
void begin(client *client, const char *task, const char *stream, const char *more);

/* Adds a call without an answer. */
void notify(client *client, const char *task, const char *stream, const char *more);

/* Sends the calls that were added. */
void flush(client *client);

/* Waits for the next answer; returns it without its line end. Valid until the next call. */
const char *answer(client *client);

/* Returns the descriptor of a side of a stream. */
int attach(client *client, const char *stream, const char *side);

/* Copies the stream name in an answer. */
void copy_name(const char *answer, char stream[static 40]);

/* Read a stream to its end. */
void read_pipe(client *client, const char *stream);
void read_messages(client *client, const char *stream);

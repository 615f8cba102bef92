/* A client of the daemon that reads and writes streams, one call at a time. Whatever goes wrong ends the program. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum {
    COPY_BYTES = 128 << 10, /* As cat does. */
    LINE_BYTES = 1 << 20,
    OUTPUT_BYTES = 64 << 10,
};

typedef struct {
    int socket;
    int id;
    int passed; /* The descriptor that came last; -1: none. */
    size_t count; /* Bytes of the input. */
    size_t used;  /* Of those, the answer that was looked at last. */
    char input[LINE_BYTES];
    size_t unsent; /* Bytes of the output. */
    char output[OUTPUT_BYTES];
} client;

void connect_to(client *client, const char *path);

void write_all(int descriptor, const char *bytes, size_t count);

/* Makes a call of a task. It is sent with the next answer that is waited for, or by `flush`. */
void begin_task(client *client, const char *task, const char *options);

/* Makes a call of a task about a stream; `more` are further options, each behind a comma. */
void begin(client *client, const char *task, const char *stream, const char *more);

/* The same without an answer. */
void notify(client *client, const char *task, const char *stream, const char *more);

/* Sends the calls that were made. */
void flush(client *client);

/* The next answer, without its line end. Valid until the next one. */
const char *answer(client *client);

/* The descriptor of a side of a stream. */
int attach(client *client, const char *stream, const char *side);

/* The stream that an answer names. */
void copy_name(const char *answer, char stream[static 40]);

/* These read a stream to its end. */
void read_pipe(client *client, const char *stream);
void read_messages(client *client, const char *stream);

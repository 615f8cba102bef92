#ifndef LOAD_OPTIONS_H
#define LOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
    const char *socket, *message, *reply;
    int connections, idle, in_flight, server_pid;
    // Who connects; -1: whoever runs this.
    int uid;
    double seconds, warm_up_seconds;
    // 0: as many as go into the time.
    uint64_t calls;
    size_t payload_bytes;
    // What %P stands for instead, from this file; NULL: letters.
    const char *payload_file;
    // Where %V counts from, where that is set; else from a place that differs from run to run.
    uint64_t first_value;
    bool first_is_set;
    // %V is a random number below this; 0: it counts up.
    uint64_t random_values;
    // Replies bear no number: they come in the order of the calls, each as long as its template makes it.
    bool in_order;
};

// Reads the command line; ends the program where it makes no sense.
struct options options_read(int count, char **arguments);

#endif

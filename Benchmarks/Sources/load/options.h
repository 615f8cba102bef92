#ifndef LOAD_OPTIONS_H
#define LOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
    const char *socket, *message, *reply;
    int connections, idle, in_flight, server_pid;
    // The user that connects; -1: the user that runs this program.
    int uid;
    double seconds, warm_up_seconds;
    // 0: as many as possible within the time.
    uint64_t calls;
    size_t payload_bytes;
    // The file with the text for %P; NULL: letters.
    const char *payload_file;
    // The first number of %V, if it is set; otherwise one that differs from run to run.
    uint64_t first_value;
    bool first_is_set;
    // %V is a random number below this; 0: it counts up.
    uint64_t random_values;
    // Replies have no number: they arrive in the order of the calls, with the length of their template.
    bool in_order;
};

// Parses the command line; ends the program if it is invalid.
struct options options_read(int count, char **arguments);

#endif

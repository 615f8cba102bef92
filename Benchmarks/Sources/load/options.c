#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "usage: load --socket PATH --message TEMPLATE --reply TEMPLATE [options]\n"
    "\n"
    "Sends calls over connections to a Unix socket, checks every reply to the last byte, and prints one line of\n"
    "figures: calls, calls_per_second, latencies in microseconds, CPU time of the server for each call.\n"
    "\n"
    "  --connections N   connections that call (1)\n"
    "  --in-flight N     calls in flight on each (1)\n"
    "  --idle N          connections that only exist (0)\n"
    "  --seconds S       how long to measure (3)\n"
    "  --warm-up S       how long to call before that (0.3)\n"
    "  --calls N         measure so many calls, however long they take\n"
    "  --payload BYTES   how much text %P stands for (0)\n"
    "  --payload-file F  %P stands for what this file holds\n"
    "  --first N         %V counts up from N\n"
    "  --random N        %V is a random number from 0 up to N, that not included\n"
    "  --in-order        replies bear no number and come in order\n"
    "  --uid N           connect as this user (for root)\n"
    "  --server-pid PID  whose CPU time and memory to report\n"
    "\n"
    "In templates: %I the call's number, %V a number that changes, %P the payload, %* (in a reply) any bytes.\n"
    "\n"
    "  load --socket /run/bridge.sock --connections 50 \\\n"
    "      --message '{\"task\":\"Echo\",\"options\":{\"a\":1},\"callbackId\":%I}\\n' \\\n"
    "      --reply '{\"callbackId\":%I,\"result\":{\"a\":1}}\\n'\n";

static double number(const char *text, const char *name) {
    char *end;
    double value = strtod(text, &end);
    if (end != text && *end == 0 && value >= 0) return value;
    fprintf(stderr, "load: --%s takes a number, not %s\n", name, text);
    exit(64);
}

struct options options_read(int count, char **arguments) {
    struct options options = {.connections = 1, .in_flight = 1, .seconds = 3, .warm_up_seconds = 0.3, .uid = -1};
    static const struct option names[] = {
        {"socket", 1, NULL, 's'},  {"message", 1, NULL, 'm'}, {"reply", 1, NULL, 'r'},   {"connections", 1, NULL, 'c'},
        {"idle", 1, NULL, 'i'},    {"in-flight", 1, NULL, 'f'}, {"seconds", 1, NULL, 't'}, {"warm-up", 1, NULL, 'w'},
        {"calls", 1, NULL, 'n'},   {"payload", 1, NULL, 'p'}, {"in-order", 0, NULL, 'o'}, {"server-pid", 1, NULL, 'P'},
        {"payload-file", 1, NULL, 'F'}, {"first", 1, NULL, 'v'}, {"random", 1, NULL, 'V'},
        {"uid", 1, NULL, 'u'},    {"help", 0, NULL, 'h'},    {NULL, 0, NULL, 0}};
    int option, index;
    while ((option = getopt_long(count, arguments, "", names, &index)) != -1) {
        switch (option) {
        case 's': options.socket = optarg; break;
        case 'm': options.message = optarg; break;
        case 'r': options.reply = optarg; break;
        case 'c': options.connections = (int)number(optarg, "connections"); break;
        case 'i': options.idle = (int)number(optarg, "idle"); break;
        case 'f': options.in_flight = (int)number(optarg, "in-flight"); break;
        case 't': options.seconds = number(optarg, "seconds"); break;
        case 'w': options.warm_up_seconds = number(optarg, "warm-up"); break;
        case 'n': options.calls = (uint64_t)number(optarg, "calls"); break;
        case 'p': options.payload_bytes = (size_t)number(optarg, "payload"); break;
        case 'F': options.payload_file = optarg; break;
        case 'v':
            options.first_value = (uint64_t)number(optarg, "first");
            options.first_is_set = true;
            break;
        case 'V': options.random_values = (uint64_t)number(optarg, "random"); break;
        case 'u': options.uid = (int)number(optarg, "uid"); break;
        case 'o': options.in_order = true; break;
        case 'P': options.server_pid = (int)number(optarg, "server-pid"); break;
        case 'h': fputs(help, stdout); exit(0);
        default: fputs(help, stderr); exit(64);
        }
    }
    if (options.socket == NULL || options.message == NULL || options.reply == NULL || options.connections < 1 ||
        options.in_flight < 1) {
        fputs(help, stderr);
        exit(64);
    }
    return options;
}

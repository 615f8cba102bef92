// The load generator: one thread, epoll, the requested number of connections and calls in flight. Every call has a
// number of its own, every reply is checked to the last byte, and a wrong one ends the run.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "histogram.h"
#include "options.h"
#include "process.h"
#include "template.h"

// One call in flight. Its number is `sequence * in_flight + slot`, so that a reply identifies its slot.
struct slot {
    uint64_t number, value, sent_ns;
    bool is_taken;
};

struct connection {
    int socket;
    char *input, *output;
    // The first `scanned` bytes of the input, which begins with an unfinished line, contain no end of a line.
    size_t input_room, input_count, scanned, output_room, output_start, output_end;
    struct slot *slots;
    // For replies in order: the slot of the next reply.
    int oldest;
    bool waits_to_write;
};

// Numbers have seven digits from the first call on, so that all messages of a run have one length.
static const uint64_t first_number = 1000000;

static struct options options;
static struct template message, reply;
static struct histogram histogram;
static int poller;
static uint64_t last_value, calls_sent, calls_answered, measured_calls;
static bool is_measuring, is_ending;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "load: %s: %s\n", what, why);
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void *checked(void *memory) {
    if (memory == NULL) fail("memory", "there is none left");
    return memory;
}

// MARK: Connections

static int open_socket(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", options.socket);
    int socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0) fail("socket", strerror(errno));
    if (connect(socket_, (struct sockaddr *)&address, sizeof address) != 0) fail(options.socket, strerror(errno));
    if (fcntl(socket_, F_SETFL, O_NONBLOCK) != 0) fail("fcntl", strerror(errno));
    return socket_;
}

static void watch(struct connection *connection, int operation) {
    struct epoll_event event = {.events = EPOLLIN | (connection->waits_to_write ? EPOLLOUT : 0),
                                .data.ptr = connection};
    if (epoll_ctl(poller, operation, connection->socket, &event) != 0) fail("epoll_ctl", strerror(errno));
}

static struct connection *connections_open(void) {
    struct connection *connections = checked(calloc((size_t)options.connections, sizeof *connections));
    for (int i = 0; i < options.connections; i++) {
        struct connection *connection = &connections[i];
        connection->socket = open_socket();
        connection->slots = checked(calloc((size_t)options.in_flight, sizeof *connection->slots));
        connection->output_room = message.longest * (size_t)options.in_flight;
        connection->output = checked(malloc(connection->output_room));
        connection->input_room = 16 * 1024;
        connection->input = checked(malloc(connection->input_room));
        watch(connection, EPOLL_CTL_ADD);
    }
    return connections;
}

// MARK: Sending

static void flush(struct connection *connection) {
    while (connection->output_start < connection->output_end) {
        ssize_t count = write(connection->socket, connection->output + connection->output_start,
                              connection->output_end - connection->output_start);
        if (count < 0 && errno == EAGAIN) break;
        if (count < 0) fail("write", strerror(errno));
        connection->output_start += (size_t)count;
    }
    bool waits = connection->output_start < connection->output_end;
    if (!waits) connection->output_start = connection->output_end = 0;
    if (waits == connection->waits_to_write) return;
    connection->waits_to_write = waits;
    watch(connection, EPOLL_CTL_MOD);
}

static uint64_t next_value(void) {
    if (options.random_values == 0) return ++last_value;
    static uint64_t state = 0x9E3779B97F4A7C15;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % options.random_values;
}

// Appends the next call of a slot to the output.
static void send_call(struct connection *connection, int index, uint64_t now) {
    if (is_ending) return;
    struct slot *slot = &connection->slots[index];
    slot->number += (uint64_t)options.in_flight;
    slot->value = next_value();
    slot->is_taken = true;
    slot->sent_ns = now;
    calls_sent++;
    // Written bytes may still precede unwritten ones in the buffer: it has room for all calls in flight.
    if (connection->output_room - connection->output_end < message.longest) {
        size_t left = connection->output_end - connection->output_start;
        memmove(connection->output, connection->output + connection->output_start, left);
        connection->output_start = 0;
        connection->output_end = left;
    }
    connection->output_end +=
        template_fill(&message, slot->number, slot->value, connection->output + connection->output_end);
}

// MARK: Receiving

static void wrong(const char *bytes, size_t length) {
    fprintf(stderr, "load: a wrong reply: %.*s\n", (int)(length < 400 ? length : 400), bytes);
    exit(2);
}

static void answered(struct connection *connection, int index, uint64_t now) {
    struct slot *slot = &connection->slots[index];
    slot->is_taken = false;
    calls_answered++;
    if (is_measuring) {
        histogram_record(&histogram, now - slot->sent_ns);
        if (++measured_calls == options.calls) is_ending = true;
    }
    send_call(connection, index, now);
}

// Handles a reply that contains a number, up to the end of its line.
static size_t take_line(struct connection *connection, const char *bytes, size_t count, uint64_t now) {
    const char *end = memchr(bytes + connection->scanned, '\n', count - connection->scanned);
    connection->scanned = end == NULL ? count : 0;
    if (end == NULL) return 0;
    size_t length = (size_t)(end - bytes) + 1;
    uint64_t number;
    if (!template_number(&reply, bytes, length, &number)) wrong(bytes, length);
    int index = (int)(number % (uint64_t)options.in_flight);
    struct slot *slot = &connection->slots[index];
    if (!slot->is_taken || slot->number != number || !template_match(&reply, number, slot->value, bytes, length))
        wrong(bytes, length);
    answered(connection, index, now);
    return length;
}

// Handles a reply that is identified by its position.
static size_t take_next(struct connection *connection, const char *bytes, size_t count, uint64_t now) {
    struct slot *slot = &connection->slots[connection->oldest];
    static char *expected;
    if (expected == NULL) expected = checked(malloc(reply.longest));
    size_t length = template_fill(&reply, slot->number, slot->value, expected);
    if (count < length) return 0;
    if (!slot->is_taken || memcmp(bytes, expected, length) != 0) wrong(bytes, length);
    int index = connection->oldest;
    connection->oldest = (index + 1) % options.in_flight;
    answered(connection, index, now);
    return length;
}

static void receive(struct connection *connection) {
    if (connection->input_count == connection->input_room) {
        connection->input_room *= 2;
        connection->input = checked(realloc(connection->input, connection->input_room));
    }
    ssize_t count = read(connection->socket, connection->input + connection->input_count,
                         connection->input_room - connection->input_count);
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) fail("read", strerror(errno));
    if (count == 0) fail("read", "the server closed a connection");
    connection->input_count += (size_t)count;
    uint64_t now = now_ns();
    size_t start = 0, taken;
    do {
        const char *bytes = connection->input + start;
        size_t left = connection->input_count - start;
        if (left == 0) break;
        taken = options.in_order ? take_next(connection, bytes, left, now) : take_line(connection, bytes, left, now);
        start += taken;
    } while (taken > 0);
    connection->input_count -= start;
    memmove(connection->input, connection->input + start, connection->input_count);
    flush(connection);
}

// MARK: The run

// Handles events until `deadline_ns`, or until the number of calls is reached.
static void run_until(uint64_t deadline_ns) {
    struct epoll_event events[256];
    while (!(is_ending && calls_answered == calls_sent)) {
        uint64_t now = now_ns();
        if (now >= deadline_ns) return;
        int count = epoll_wait(poller, events, 256, (int)((deadline_ns - now) / 1000000) + 1);
        if (count < 0 && errno != EINTR) fail("epoll_wait", strerror(errno));
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (events[i].events & EPOLLOUT) flush(connection);
            if (events[i].events & ~(uint32_t)EPOLLOUT) receive(connection);
        }
    }
}

static uint64_t own_cpu_us(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void measure(void) {
    uint64_t cpu = process_cpu_us(options.server_pid), own_cpu = own_cpu_us(), answered_before = calls_answered;
    uint64_t start = now_ns();
    is_measuring = true;
    run_until(options.calls > 0 ? UINT64_MAX : start + (uint64_t)(options.seconds * 1e9));
    is_measuring = false;
    uint64_t elapsed = now_ns() - start, calls = calls_answered - answered_before;
    cpu = process_cpu_us(options.server_pid) - cpu;
    own_cpu = own_cpu_us() - own_cpu;
    if (calls == 0) fail("the run", "not one call was answered");
    printf("calls=%lu seconds=%.3f calls_per_second=%.0f p50_us=%.2f p99_us=%.2f p999_us=%.2f", calls, (double)elapsed / 1e9,
           (double)calls * 1e9 / (double)elapsed, (double)histogram_quantile(&histogram, 0.5) / 1e3,
           (double)histogram_quantile(&histogram, 0.99) / 1e3, (double)histogram_quantile(&histogram, 0.999) / 1e3);
    printf(" server_cpu_us=%.4f load_cpu_us=%.4f server_peak_kib=%lu server_resident_kib=%lu server_anonymous_kib=%lu\n",
           (double)cpu / (double)calls, (double)own_cpu / (double)calls,
           process_memory_kib(options.server_pid, "VmHWM:"), process_memory_kib(options.server_pid, "VmRSS:"),
           process_memory_kib(options.server_pid, "RssAnon:"));
}

int main(int count, char **arguments) {
    options = options_read(count, arguments);
    struct payload payload = payload_read(options.payload_file, options.payload_bytes);
    message = template_read(options.message, payload);
    reply = template_read(options.reply, payload);
    // Values differ from run to run: a store that already contains a value has less to do.
    last_value = options.first_is_set ? options.first_value - 1 : (uint64_t)time(NULL) % 100000 * 1000000;
    // Sets the group, too, because the server sees both.
    if (options.uid >= 0 && (setgid((gid_t)options.uid) != 0 || setuid((uid_t)options.uid) != 0))
        fail("setuid", strerror(errno));
    poller = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < options.idle; i++) open_socket();
    struct connection *connections = connections_open();
    uint64_t now = now_ns();
    for (int i = 0; i < options.connections; i++) {
        for (int slot = 0; slot < options.in_flight; slot++) {
            connections[i].slots[slot].number = first_number - first_number % (uint64_t)options.in_flight + (uint64_t)slot;
            send_call(&connections[i], slot, now);
        }
        flush(&connections[i]);
    }
    run_until(now + (uint64_t)(options.warm_up_seconds * 1e9));
    measure();
    is_ending = true;
    run_until(now_ns() + 10000000000);
    if (calls_answered != calls_sent) fail("the end", "some calls were not answered within 10 s");
    return 0;
}

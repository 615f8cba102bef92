/* GETs of one URL by bare libcurl: its multi interface in one thread, which receives the bodies and drops them.
 *
 *     curl-direct URL IN-FLIGHT SECONDS [FIELD]
 *
 * FIELD is a further line of the request. Prints one line: calls, calls_per_second, megabytes_per_second, p50_us (from
 * the request to the end of the response), and cpu_us, the CPU time of this process for each call. */
#include <curl/curl.h>
#include <err.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    MAXIMUM_IN_FLIGHT = 256,
    MAXIMUM_TIMES = 1 << 22, /* The latency of later calls is not recorded. */
    WAIT_MILLISECONDS = 1000,
};

typedef struct {
    CURL *handle;
    double start;
} transfer;

static transfer transfers[MAXIMUM_IN_FLIGHT];
static float times[MAXIMUM_TIMES];
static uint64_t calls, bytes;

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t drop(char *data, size_t size, size_t count, void *context) {
    (void)data, (void)context;
    bytes += size * count;
    return size * count;
}

static void begin(CURLM *multi, transfer *transfer) {
    transfer->start = seconds_of(CLOCK_MONOTONIC);
    if (curl_multi_add_handle(multi, transfer->handle) != CURLM_OK) errx(1, "libcurl did not take the request");
}

static void set_up(transfer *transfer, const char *url, struct curl_slist *fields) {
    transfer->handle = curl_easy_init();
    if (!transfer->handle) errx(1, "no memory");
    curl_easy_setopt(transfer->handle, CURLOPT_URL, url);
    curl_easy_setopt(transfer->handle, CURLOPT_PROXY, "");
    curl_easy_setopt(transfer->handle, CURLOPT_HTTPHEADER, fields);
    curl_easy_setopt(transfer->handle, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(transfer->handle, CURLOPT_PRIVATE, transfer);
}

/* Records the finished transfers, and starts them again. */
static void turn(CURLM *multi, bool measures) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left))) {
        transfer *transfer = NULL;
        if (message->data.result != CURLE_OK) errx(1, "%s", curl_easy_strerror(message->data.result));
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        if (measures && calls < MAXIMUM_TIMES)
            times[calls] = (float)(seconds_of(CLOCK_MONOTONIC) - transfer->start);
        if (measures) calls++;
        curl_multi_remove_handle(multi, transfer->handle);
        begin(multi, transfer);
    }
}

static void run(CURLM *multi, double seconds, bool measures) {
    double end = seconds_of(CLOCK_MONOTONIC) + seconds;
    while (seconds_of(CLOCK_MONOTONIC) < end) {
        int running;
        curl_multi_perform(multi, &running);
        turn(multi, measures);
        curl_multi_poll(multi, NULL, 0, WAIT_MILLISECONDS, NULL);
    }
}

static int compare(const void *left, const void *right) {
    float difference = *(const float *)left - *(const float *)right;
    return (difference > 0) - (difference < 0);
}

int main(int argc, char **argv) {
    if (argc < 4) errx(64, "usage: curl-direct URL IN-FLIGHT SECONDS [FIELD]");
    int in_flight = atoi(argv[2]);
    if (in_flight < 1 || in_flight > MAXIMUM_IN_FLIGHT) errx(64, "1 to %d in flight", MAXIMUM_IN_FLIGHT);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    struct curl_slist *fields = argc > 4 ? curl_slist_append(NULL, argv[4]) : NULL;
    for (int i = 0; i < in_flight; i++) {
        set_up(&transfers[i], argv[1], fields);
        begin(multi, &transfers[i]);
    }
    run(multi, atof(argv[3]) / 10, false);
    bytes = 0;
    double start = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    run(multi, atof(argv[3]), true);
    double seconds = seconds_of(CLOCK_MONOTONIC) - start;
    cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    if (calls == 0) errx(1, "no response came");
    size_t kept = calls < MAXIMUM_TIMES ? calls : MAXIMUM_TIMES;
    qsort(times, kept, sizeof *times, compare);
    printf("calls=%llu calls_per_second=%.1f megabytes_per_second=%.1f p50_us=%.1f cpu_us=%.2f\n",
        (unsigned long long)calls, (double)calls / seconds, (double)bytes / 1e6 / seconds,
        (double)times[kept / 2] * 1e6, cpu * 1e6 / (double)calls);
}

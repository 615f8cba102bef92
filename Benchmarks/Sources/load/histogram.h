// Latencies in fixed memory: buckets of doubling width, each divided into 64, so that a quantile is at most 1.6 % too
// high.
#ifndef LOAD_HISTOGRAM_H
#define LOAD_HISTOGRAM_H

#include <stdint.h>

enum { histogram_cuts = 64, histogram_buckets = 64 * histogram_cuts };

struct histogram {
    uint64_t counts[histogram_buckets];
    uint64_t total;
};

void histogram_record(struct histogram *histogram, uint64_t nanoseconds);

// Returns the latency that this share of the calls did not exceed; 0 if there was no call.
uint64_t histogram_quantile(const struct histogram *histogram, double share);

#endif

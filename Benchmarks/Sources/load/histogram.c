#include "histogram.h"

enum { cut_bits = 6 };

static unsigned bucket_of(uint64_t nanoseconds) {
    if (nanoseconds < histogram_cuts) return (unsigned)nanoseconds;
    unsigned highest = 63 - (unsigned)__builtin_clzll(nanoseconds);
    unsigned cut = (unsigned)(nanoseconds >> (highest - cut_bits)) & (histogram_cuts - 1);
    return (highest - cut_bits + 1) << cut_bits | cut;
}

static uint64_t highest_in(unsigned bucket) {
    if (bucket < histogram_cuts) return bucket;
    unsigned shift = (bucket >> cut_bits) - 1;
    uint64_t cut = bucket & (histogram_cuts - 1);
    return ((histogram_cuts + cut + 1) << shift) - 1;
}

void histogram_record(struct histogram *histogram, uint64_t nanoseconds) {
    histogram->counts[bucket_of(nanoseconds)]++;
    histogram->total++;
}

uint64_t histogram_quantile(const struct histogram *histogram, double share) {
    uint64_t wanted = (uint64_t)((double)histogram->total * share + 0.5), seen = 0;
    if (wanted == 0) wanted = 1;
    for (unsigned bucket = 0; bucket < histogram_buckets; bucket++) {
        seen += histogram->counts[bucket];
        if (seen >= wanted) return highest_in(bucket);
    }
    return 0;
}

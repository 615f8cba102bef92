/// Durations of calls in fixed memory: buckets of doubling width, each divided into four, so that a quantile is at most
/// a quarter too high. Recording is a shift, a mask and an increment.
///
/// A reference to its own memory, which ``free()`` releases.
struct LatencyHistogram {
    /// Four divisions for each power of two of a 64-bit number of nanoseconds.
    private static let cutBits = 2
    private static let bucketCount = 64 << cutBits

    /// The counters have 64 bits: 32 bits would overflow after half a day of a busy daemon. The element after the last
    /// bucket is the sum of all durations.
    private let counts: UnsafeMutablePointer<UInt64>

    init() {
        counts = .allocate(capacity: Self.bucketCount + 1)
        counts.initialize(repeating: 0, count: Self.bucketCount + 1)
    }

    func free() { counts.deallocate() }

    /// Adds the counts of another histogram.
    func add(_ other: LatencyHistogram) {
        for index in 0...Self.bucketCount { counts[index] &+= other.counts[index] }
    }

    @inline(__always)
    func record(nanoseconds: UInt64) {
        // The index is below `bucketCount` for every 64-bit number.
        counts[Self.bucket(of: nanoseconds)] &+= 1
        counts[Self.bucketCount] &+= nanoseconds
    }

    /// The sum of all durations.
    var totalNanoseconds: UInt64 { counts[Self.bucketCount] }

    /// Returns how many durations are at most each of the bounds, and the number of all durations. The bounds ascend,
    /// and each is one less than a power of two.
    func cumulated(at bounds: [UInt64]) -> (counts: [UInt64], all: UInt64) {
        var seen: UInt64 = 0
        var bucket = 0
        let counted = bounds.map { bound in
            while bucket < Self.bucketCount, Self.upperBound(of: bucket) <= bound {
                seen += counts[bucket]
                bucket += 1
            }
            return seen
        }
        return (counted, UnsafeBufferPointer(start: counts + bucket, count: Self.bucketCount - bucket).reduce(seen, +))
    }

    /// Returns the duration that this share of the calls did not exceed; `nil` if there were no calls.
    func quantile(_ share: Double) -> Duration? {
        let counts = UnsafeBufferPointer(start: counts, count: Self.bucketCount)
        let recorded = counts.reduce(0, +)
        guard recorded > 0 else { return nil }
        let wanted = max(1, UInt64((Double(recorded) * share).rounded(.up)))
        var seen: UInt64 = 0
        for (bucket, count) in counts.enumerated() {
            seen += count
            if seen >= wanted { return .nanoseconds(Int64(clamping: Self.upperBound(of: bucket))) }
        }
        return nil
    }

    /// Returns the bucket of a duration: the position of the highest bit, and the two bits after it.
    @inline(__always)
    static func bucket(of nanoseconds: UInt64) -> Int {
        guard nanoseconds >= 1 << cutBits else { return Int(nanoseconds) }
        let highest = 63 - nanoseconds.leadingZeroBitCount
        let cut = Int(truncatingIfNeeded: nanoseconds &>> UInt64(highest - cutBits)) & ((1 << cutBits) - 1)
        return highest << cutBits | cut
    }

    /// Returns the largest duration in a bucket, in nanoseconds.
    static func upperBound(of bucket: Int) -> UInt64 {
        let highest = bucket >> cutBits
        guard highest >= cutBits else { return UInt64(bucket) }
        let cut = UInt64(bucket & ((1 << cutBits) - 1))
        let width = UInt64(1) << UInt64(highest - cutBits)
        return (UInt64(1) << UInt64(highest)) &+ (cut + 1) &* width &- 1
    }
}

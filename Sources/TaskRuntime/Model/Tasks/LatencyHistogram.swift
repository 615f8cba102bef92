/// How long calls took, in fixed memory: buckets of doubling width, each cut into four, so that a quantile is at most
/// a quarter too high. Recording is a shift, a mask and an increment.
///
/// A reference to memory of its own, which ``free()`` gives back.
struct LatencyHistogram {
    /// Four cuts for each power of two of a 64-bit number of nanoseconds.
    private static let cutBits = 2
    private static let bucketCount = 64 << cutBits

    /// Of 64 bits: in one of 32 a busy daemon's calls of half a day do not fit. Behind the last bucket stands the sum
    /// of all durations.
    private let counts: UnsafeMutablePointer<UInt64>

    init() {
        counts = .allocate(capacity: Self.bucketCount + 1)
        counts.initialize(repeating: 0, count: Self.bucketCount + 1)
    }

    func free() { counts.deallocate() }

    /// Counts what another one has counted.
    func add(_ other: LatencyHistogram) {
        for index in 0...Self.bucketCount { counts[index] &+= other.counts[index] }
    }

    @inline(__always)
    func record(nanoseconds: UInt64) {
        // Below `bucketCount` for every 64-bit number.
        counts[Self.bucket(of: nanoseconds)] &+= 1
        counts[Self.bucketCount] &+= nanoseconds
    }

    /// How long all of them took together.
    var totalNanoseconds: UInt64 { counts[Self.bucketCount] }

    /// How many took no longer than each of these bounds, which ascend and are the last moments of powers of two; and
    /// how many there are at all.
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

    /// The duration below which this share of the calls stayed; nil where there was none.
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

    /// The bucket: the position of the highest bit, and the two bits behind it.
    @inline(__always)
    static func bucket(of nanoseconds: UInt64) -> Int {
        guard nanoseconds >= 1 << cutBits else { return Int(nanoseconds) }
        let highest = 63 - nanoseconds.leadingZeroBitCount
        let cut = Int(truncatingIfNeeded: nanoseconds &>> UInt64(highest - cutBits)) & ((1 << cutBits) - 1)
        return highest << cutBits | cut
    }

    /// The largest duration that falls into a bucket, in nanoseconds.
    static func upperBound(of bucket: Int) -> UInt64 {
        let highest = bucket >> cutBits
        guard highest >= cutBits else { return UInt64(bucket) }
        let cut = UInt64(bucket & ((1 << cutBits) - 1))
        let width = UInt64(1) << UInt64(highest - cutBits)
        return (UInt64(1) << UInt64(highest)) &+ (cut + 1) &* width &- 1
    }
}

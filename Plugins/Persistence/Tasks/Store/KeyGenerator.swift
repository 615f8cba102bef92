import Glibc

/// Makes keys for records that come without one: UUIDs of version 7, so 48 bits of milliseconds, then 12 bits that
/// count within one millisecond, then 62 random bits. Keys of one generator sort in the order in which they were made.
///
/// Used by one thread at a time.
final class KeyGenerator {
    private var milliseconds: UInt64 = 0
    private var counter: UInt64 = 0
    private let now: @Sendable () -> UInt64
    /// Random numbers of the system that were not used yet: asking for each by itself is a system call each.
    private var random: [UInt64] = []
    private static let randomCount = 32

    /// - Parameter now: Milliseconds since 1970.
    init(now: @escaping @Sendable () -> UInt64 = KeyGenerator.wallClock) { self.now = now }

    func next() -> ExactText {
        let clock = now()
        if clock > milliseconds {
            milliseconds = clock
            // Room to count upwards in, and still hard to guess.
            counter = nextRandom() & 0x7FF
        } else {
            // The same millisecond, or a clock that was set back.
            counter += 1
            if counter > 0xFFF { (milliseconds, counter) = (milliseconds + 1, 0) }
        }
        let high = milliseconds << 16 | 0x7000 | counter
        let low = nextRandom() >> 2 | 1 << 63
        return Self.text(high, low)
    }

    private func nextRandom() -> UInt64 {
        if let number = random.popLast() { return number }
        var system = SystemRandomNumberGenerator()
        random = [UInt64](unsafeUninitializedCapacity: Self.randomCount) { numbers, count in
            // Fails for more than 256 bytes, or without any source of them; then the generator below says so.
            let isFilled = getentropy(numbers.baseAddress, Self.randomCount * MemoryLayout<UInt64>.size) == 0
            count = isFilled ? Self.randomCount : 0
        }
        return random.popLast() ?? system.next()
    }

    private static func text(_ high: UInt64, _ low: UInt64) -> ExactText {
        let utf8 = [UInt8](unsafeUninitializedCapacity: 36) { text, count in
            for word in [high, low] {
                for shift in stride(from: UInt64(60), through: 0, by: -4) {
                    if count == 8 || count == 13 || count == 18 || count == 23 {
                        text.initializeElement(at: count, to: UInt8(ascii: "-"))
                        count += 1
                    }
                    let digit = UInt8(truncatingIfNeeded: word >> shift & 0xF)
                    text.initializeElement(at: count, to: digit + (digit < 10 ? 0x30 : 0x57))
                    count += 1
                }
            }
        }
        return ExactText(utf8: utf8)
    }

    /// The wall clock, in milliseconds since 1970.
    static let wallClock: @Sendable () -> UInt64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec)) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }
}

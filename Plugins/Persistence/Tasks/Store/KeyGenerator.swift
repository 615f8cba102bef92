import Glibc
import TaskKit

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
        // Filled with what the text has between its digits.
        var utf8 = [UInt8](repeating: UInt8(ascii: "-"), count: 36)
        utf8.withUnsafeMutableBytes { text in
            let (second, third) = (hexadecimal(high), hexadecimal(low >> 32))
            text.storeBytes(of: hexadecimal(high >> 32), as: UInt64.self)
            text.storeBytes(of: UInt32(truncatingIfNeeded: second), toByteOffset: 9, as: UInt32.self)
            text.storeBytes(of: UInt32(truncatingIfNeeded: second >> 32), toByteOffset: 14, as: UInt32.self)
            text.storeBytes(of: UInt32(truncatingIfNeeded: third), toByteOffset: 19, as: UInt32.self)
            text.storeBytes(of: UInt32(truncatingIfNeeded: third >> 32), toByteOffset: 24, as: UInt32.self)
            text.storeBytes(of: hexadecimal(low), toByteOffset: 28, as: UInt64.self)
        }
        return ExactText(utf8: utf8)
    }

    /// The lower 32 bits as eight digits, the first of them in the lowest byte, which is where it stands in memory. All
    /// immediately: a shift and a comparison for each of 32 digits were most of what a key cost.
    private static func hexadecimal(_ word: UInt64) -> UInt64 {
        var digits = UInt64(UInt32(truncatingIfNeeded: word).byteSwapped)
        // Two bytes apart, then one, then a digit to each.
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits >> 4 & 0x000F_000F_000F_000F) | (digits << 8 & 0x0F00_0F00_0F00_0F00)
        // One in each byte that is above nine; the letters lie 39 behind where they would follow the nine.
        let letters = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return digits &+ 0x3030_3030_3030_3030 &+ letters &* 39
    }

    /// The wall clock, in milliseconds since 1970.
    static let wallClock: @Sendable () -> UInt64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec)) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }
}

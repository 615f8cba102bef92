import Glibc
import TaskKit

/// Creates keys for records without one: UUIDs of version 7, with 48 bits of milliseconds, 12 bits that count within
/// one millisecond, and 62 random bits. Keys of one generator sort in the order of their creation.
///
/// Used by one thread at a time.
final class KeyGenerator {
    private var milliseconds: UInt64 = 0
    private var counter: UInt64 = 0
    private let now: @Sendable () -> UInt64
    /// Unused random numbers of the system, fetched together, because each fetch is a system call.
    private var random: [UInt64] = []
    private static let randomCount = 32

    /// - Parameter now: Returns the milliseconds since 1970.
    init(now: @escaping @Sendable () -> UInt64 = KeyGenerator.wallClock) { self.now = now }

    func next() -> ExactText {
        let clock = now()
        if clock > milliseconds {
            milliseconds = clock
            // A random start that leaves room to count upwards and is still hard to guess.
            counter = nextRandom() & 0x7FF
        } else {
            // The same millisecond, or the clock was set back.
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
            // Fails for more than 256 bytes, or without a source of random bytes. Then the generator below is used.
            let isFilled = getentropy(numbers.baseAddress, Self.randomCount * MemoryLayout<UInt64>.size) == 0
            count = isFilled ? Self.randomCount : 0
        }
        return random.popLast() ?? system.next()
    }

    private static func text(_ high: UInt64, _ low: UInt64) -> ExactText {
        // Filled with the separator between the groups of digits.
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

    /// Returns the lower 32 bits as eight digits, the first one in the lowest byte, which is first in memory. All
    /// digits are converted together: a shift and a comparison for each of 32 digits was most of the cost of a key.
    private static func hexadecimal(_ word: UInt64) -> UInt64 {
        var digits = UInt64(UInt32(truncatingIfNeeded: word).byteSwapped)
        // Separates pairs of bytes, then bytes, then digits: one per byte.
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits >> 4 & 0x000F_000F_000F_000F) | (digits << 8 & 0x0F00_0F00_0F00_0F00)
        // 1 in each byte whose digit exceeds nine. The code of a letter is 39 more than if it followed `9`.
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

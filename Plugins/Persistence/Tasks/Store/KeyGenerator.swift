import Glibc

/// Makes keys for records that come without one: UUIDs of version 7, so 48 bits of milliseconds, then 12 bits that
/// count within one millisecond, then 62 random bits. Keys of one generator sort in the order in which they were made.
///
/// Used by one thread at a time.
final class KeyGenerator {
    private var milliseconds: UInt64 = 0
    private var counter: UInt64 = 0
    private let now: @Sendable () -> UInt64

    /// - Parameter now: Milliseconds since 1970.
    init(now: @escaping @Sendable () -> UInt64 = KeyGenerator.wallClock) { self.now = now }

    func next() -> String {
        let clock = now()
        if clock > milliseconds {
            milliseconds = clock
            // Room to count upwards in, and still hard to guess.
            counter = UInt64.random(in: 0..<0x800)
        } else {
            // The same millisecond, or a clock that was set back.
            counter += 1
            if counter > 0xFFF { (milliseconds, counter) = (milliseconds + 1, 0) }
        }
        let high = milliseconds << 16 | 0x7000 | counter
        let low = UInt64.random(in: 0...(.max >> 2)) | 1 << 63
        return Self.text(high, low)
    }

    private static func text(_ high: UInt64, _ low: UInt64) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for index in 0..<32 {
            if [8, 12, 16, 20].contains(index) { text.append(UInt8(ascii: "-")) }
            let word = index < 16 ? high : low
            text.append(digits[Int(word >> (60 - UInt64(index % 16) * 4) & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The wall clock, in milliseconds since 1970.
    static let wallClock: @Sendable () -> UInt64 = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(max(0, time.tv_sec)) * 1000 + UInt64(time.tv_nsec) / 1_000_000
    }
}

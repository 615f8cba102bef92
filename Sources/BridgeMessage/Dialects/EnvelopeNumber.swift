/// The numbers in envelopes.
enum EnvelopeNumber {
    /// A year: longer than any intended wait, and short enough for every clock.
    static let maximumTimeoutMilliseconds: UInt64 = 366 * 24 * 3600 * 1000

    /// Reads an integer of at least 0. A number that does not fit into 64 bits becomes the largest that does. Nil if it
    /// is not such an integer.
    static func natural(_ digits: UnsafeRawBufferPointer) -> UInt64? {
        var number: UInt64 = 0
        for byte in digits {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (scaled, overflow) = number.multipliedReportingOverflow(by: 10)
            number = overflow || scaled > .max - UInt64(digit) ? .max : scaled + UInt64(digit)
        }
        return number
    }
}

/// Arithmetic with moments and durations, without overflow.
enum TimeSpan {
    /// Returns the time from one moment to another; negative if the second is earlier.
    static func between(_ start: UnixTime, _ end: UnixTime) -> Duration {
        // Durations have 128 bits of attoseconds, more than the distance of any two moments.
        .seconds(end.seconds) - .seconds(start.seconds)
    }

    /// Returns the whole seconds of a duration, limited to the range from 0 to the largest number.
    static func wholeSeconds(_ duration: Duration) -> Int64 {
        duration < .seconds(Int64.max) ? max(.zero, duration).components.seconds : .max
    }

    /// Returns the moment after a duration, limited to the last moment; never earlier than `start`.
    static func moment(_ start: UnixTime, plus duration: Duration) -> UnixTime {
        let (seconds, overflows) = start.seconds.addingReportingOverflow(wholeSeconds(duration))
        return UnixTime(seconds: overflows ? .max : seconds)
    }
}

/// Numbers of seconds in fields: RFC 9111, section 1.2.2.
public enum DeltaSeconds {
    /// The maximum, 68 years, to which larger numbers are reduced.
    public static let maximum: Duration = .seconds(2_147_483_648)

    /// Parses a text of digits; `nil` if it contains anything else or is empty.
    ///
    /// - Parameter text: Only digits, of any number.
    public static func parse(_ text: some StringProtocol) -> Duration? {
        var number: Int64 = 0
        guard !text.isEmpty else { return nil }
        for byte in text.utf8 {
            guard FieldScanner.isDigit(byte) else { return nil }
            number = min(number * 10 + Int64(byte - 0x30), maximum.components.seconds)
        }
        return .seconds(number)
    }
}

/// Times between moments, and moments after times, without overflow.
enum TimeSpan {
    /// The time from one moment to another; negative where the other is earlier.
    static func between(_ start: UnixTime, _ end: UnixTime) -> Duration {
        // Durations have 128 bits of attoseconds: that is more than any two moments are apart.
        .seconds(end.seconds) - .seconds(start.seconds)
    }

    /// The whole seconds of a time that is not negative; of one that has more than there are numbers the largest.
    static func wholeSeconds(_ duration: Duration) -> Int64 {
        duration < .seconds(Int64.max) ? max(.zero, duration).components.seconds : .max
    }

    /// The moment so much later, or the last that there is; no moment is earlier.
    static func moment(_ start: UnixTime, plus duration: Duration) -> UnixTime {
        let (seconds, overflows) = start.seconds.addingReportingOverflow(wholeSeconds(duration))
        return UnixTime(seconds: overflows ? .max : seconds)
    }
}

/// Numbers of seconds in fields: RFC 9111, section 1.2.2.
public enum DeltaSeconds {
    /// What every larger number counts as, 68 years.
    public static let maximum: Duration = .seconds(2_147_483_648)

    /// The time that a text of digits names; nil where something else is in it.
    ///
    /// - Parameter text: Digits alone, as many as there may be.
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

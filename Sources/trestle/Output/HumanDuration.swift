/// Human-readable durations.
enum HumanDuration {
    /// Formats a duration with at most one decimal digit or two units: "850 µs", "12.3 ms", "4.5 s", "3 min 20 s", "2 h
    /// 5 min", "3 d 4 h".
    static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        guard duration > .zero else { return "0 s" }
        if seconds == 0 {
            let nanoseconds = attoseconds / 1_000_000_000
            if nanoseconds < 1_000 { return nanoseconds == 0 ? "0 s" : "\(nanoseconds) ns" }
            if nanoseconds < 1_000_000 { return "\(tenths(nanoseconds, 1_000)) µs" }
            return "\(tenths(nanoseconds, 1_000_000)) ms"
        }
        switch seconds {
        case ..<60: return "\(tenths(seconds * 10 + attoseconds / 100_000_000_000_000_000, 10)) s"
        case ..<3_600: return pair(seconds, 60, "min", 1, "s")
        case ..<86_400: return pair(seconds, 3_600, "h", 60, "min")
        default: return pair(seconds, 86_400, "d", 3_600, "h")
        }
    }

    private static func tenths(_ value: Int64, _ unit: Int64) -> String {
        let whole = value / unit
        let tenth = value % unit * 10 / unit
        return whole >= 100 || tenth == 0 ? "\(whole)" : "\(whole).\(tenth)"
    }

    private static func pair(_ value: Int64, _ large: Int64, _ name: String, _ small: Int64, _ rest: String) -> String {
        let part = value % large / small
        return part == 0 ? "\(value / large) \(name)" : "\(value / large) \(name) \(part) \(rest)"
    }
}

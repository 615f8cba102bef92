import EventLoop

/// When saves are over: an editor, and even more a tool that formats or a change of branches, writes many files at
/// once.
struct SaveDebounce {
    /// As long as nothing is saved for that is the end of it.
    static let quiet = Duration.milliseconds(150)
    /// Whatever goes on being saved, this long after the first save is the end of it.
    static let longest = Duration.seconds(2)

    private var first: MonotonicInstant?
    private var last: MonotonicInstant?

    /// The moment at which the saves so far are over; nil: there are none.
    var due: MonotonicInstant? {
        guard let first, let last else { return nil }
        return min(last + Self.quiet, first + Self.longest)
    }

    /// Something was saved.
    mutating func save(at now: MonotonicInstant) {
        first = first ?? now
        last = now
    }

    /// Whether there were saves that are over; they are reported once.
    mutating func take(at now: MonotonicInstant) -> Bool {
        guard let due, due <= now else { return false }
        self = SaveDebounce()
        return true
    }
}

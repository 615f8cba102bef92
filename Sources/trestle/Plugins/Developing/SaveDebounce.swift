import EventLoop

/// Detects the end of a series of saves: editors, and even more formatters and branch switches, write many files at
/// once.
struct SaveDebounce {
    /// A series ends after this time without a save.
    static let quiet = Duration.milliseconds(150)
    /// A series ends at the latest this long after its first save.
    static let longest = Duration.seconds(2)

    private var first: MonotonicInstant?
    private var last: MonotonicInstant?

    /// The time when the current series ends; `nil` if there were no saves.
    var due: MonotonicInstant? {
        guard let first, let last else { return nil }
        return min(last + Self.quiet, first + Self.longest)
    }

    /// Records a save.
    mutating func save(at now: MonotonicInstant) {
        first = first ?? now
        last = now
    }

    /// Returns whether a series of saves has ended; each is reported once.
    mutating func take(at now: MonotonicInstant) -> Bool {
        guard let due, due <= now else { return false }
        self = SaveDebounce()
        return true
    }
}

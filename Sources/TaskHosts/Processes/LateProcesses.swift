import EventLoop

/// The processes of a pool that still work although their calls have ended or no caller waits, and the times of their
/// replacement.
///
/// A process whose caller has disconnected has a limited time, which starts again with each byte that moves through one
/// of its streams. A process whose calls have ended and that holds ends of streams may continue without a limit. It is
/// replaced only if calls wait for a process and its streams have not moved for this time.
struct LateProcesses<Process: AnyObject> {
    private let timeout: Duration
    private let movedAt: (Process) -> MonotonicInstant?
    /// The processes whose callers have disconnected.
    private var overdue: [ObjectIdentifier: (process: Process, moment: MonotonicInstant)] = [:]
    /// The processes whose calls have ended and that hold ends of streams.
    private var kept: [ObjectIdentifier: Process] = [:]
    /// Whether calls wait and no further process may be started for them.
    private var isShort = false
    /// The next time to check the streams of ``kept``; `nil` if no process is needed.
    private var stalledAt: MonotonicInstant?

    init(timeout: Duration, movedAt: @escaping (Process) -> MonotonicInstant?) {
        self.timeout = timeout
        self.movedAt = movedAt
    }

    func holdsEnd(_ process: Process) -> Bool { movedAt(process) != nil }

    /// Notes that the calls of a process have ended.
    ///
    /// - Returns: Whether it holds an end of a stream, and continues to work.
    mutating func keep(_ process: Process) -> Bool {
        guard let moved = movedAt(process) else { return false }
        kept[ObjectIdentifier(process)] = process
        if isShort { stalledAt = min(stalledAt ?? moved + timeout, moved + timeout) }
        return true
    }

    /// Notes that no caller waits for the work of a process any more.
    mutating func callerLeft(_ process: Process, at now: MonotonicInstant) {
        let id = ObjectIdentifier(process)
        if overdue[id] == nil { overdue[id] = (process, now + timeout) }
    }

    /// Removes a process that has no work or has ended.
    mutating func forget(_ process: Process) {
        overdue[ObjectIdentifier(process)] = nil
        kept[ObjectIdentifier(process)] = nil
    }

    /// Notes that calls wait and the maximum number of processes exists.
    mutating func noteShortage() {
        isShort = true
        setStalledMoment()
    }

    private mutating func setStalledMoment() {
        stalledAt = isShort ? kept.values.compactMap(movedAt).min().map { $0 + timeout } : nil
    }

    /// The next time to check for processes whose time has passed; `nil` for never.
    var nextMoment: MonotonicInstant? {
        guard let first = overdue.values.map(\.moment).min() else { return stalledAt }
        return stalledAt.map { min(first, $0) } ?? first
    }

    /// Removes and returns the processes that still work too long after their callers have disconnected.
    mutating func takeOverdue(at now: MonotonicInstant) -> [Process] {
        var over: [Process] = []
        for (id, (process, moment)) in overdue where moment <= now {
            if let moved = movedAt(process), moved + timeout > now {
                overdue[id] = (process, moved + timeout)
            } else {
                forget(process)
                over.append(process)
            }
        }
        return over
    }

    /// Removes and returns processes whose streams have not moved for too long, the longest first, at most as many as
    /// calls wait.
    mutating func takeStalled(for waiting: Int, at now: MonotonicInstant) -> [Process] {
        guard isShort else { return [] }
        isShort = waiting > 0
        let stalled = kept.values.compactMap { process in movedAt(process).map { (process: process, moved: $0) } }
            .filter { $0.moved + timeout <= now }.sorted { $0.moved < $1.moved }
            .prefix(max(0, waiting)).map(\.process)
        for process in stalled { forget(process) }
        setStalledMoment()
        return stalled
    }

    /// Removes all processes; no work is left.
    mutating func close() { (overdue, kept, isShort, stalledAt) = ([:], [:], false, nil) }
}

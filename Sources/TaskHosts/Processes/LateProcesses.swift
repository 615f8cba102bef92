import EventLoop

/// The processes of a pool that work on though no call is left that they had, or nobody waits for it, and when others
/// take their places.
///
/// A process whose caller has gone has some time, which begins again with each byte that moves through a stream of its.
/// One whose calls are over and that holds ends of streams goes on as long as it likes, unless calls wait for a process
/// and its streams have stood still for that time.
struct LateProcesses<Process: AnyObject> {
    private let timeout: Duration
    private let movedAt: (Process) -> MonotonicInstant?
    /// Those whose callers have gone.
    private var overdue: [ObjectIdentifier: (process: Process, moment: MonotonicInstant)] = [:]
    /// Those whose calls are over, and that hold ends of streams.
    private var kept: [ObjectIdentifier: Process] = [:]
    /// Whether calls wait, and no process more may be started for them.
    private var isShort = false
    /// When one of the second kind may have stood still for too long; nil: none is needed.
    private var stalledAt: MonotonicInstant?

    init(timeout: Duration, movedAt: @escaping (Process) -> MonotonicInstant?) {
        self.timeout = timeout
        self.movedAt = movedAt
    }

    func holdsEnd(_ process: Process) -> Bool { movedAt(process) != nil }

    /// The calls of a process are over.
    ///
    /// - Returns: whether it holds an end of a stream, and works on.
    mutating func keep(_ process: Process) -> Bool {
        guard let moved = movedAt(process) else { return false }
        kept[ObjectIdentifier(process)] = process
        if isShort { stalledAt = min(stalledAt ?? moved + timeout, moved + timeout) }
        return true
    }

    /// No caller waits any longer for what the process works on.
    mutating func callerLeft(_ process: Process, at now: MonotonicInstant) {
        let id = ObjectIdentifier(process)
        if overdue[id] == nil { overdue[id] = (process, now + timeout) }
    }

    /// The process works on nothing, or is no longer there.
    mutating func forget(_ process: Process) {
        overdue[ObjectIdentifier(process)] = nil
        kept[ObjectIdentifier(process)] = nil
    }

    /// Calls wait, and there are as many processes as there may be.
    mutating func noteShortage() {
        isShort = true
        setStalledMoment()
    }

    private mutating func setStalledMoment() {
        stalledAt = isShort ? kept.values.compactMap(movedAt).min().map { $0 + timeout } : nil
    }

    /// When to look for processes whose time is over; nil: not at all.
    var nextMoment: MonotonicInstant? {
        guard let first = overdue.values.map(\.moment).min() else { return stalledAt }
        return stalledAt.map { min(first, $0) } ?? first
    }

    /// Those that work on too long after their callers have gone.
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

    /// Those whose streams have stood still for too long, the longest first, as many as calls need.
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

    /// Nothing is to be done any longer.
    mutating func close() { (overdue, kept, isShort, stalledAt) = ([:], [:], false, nil) }
}

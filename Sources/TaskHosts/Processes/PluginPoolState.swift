import EventLoop
import TaskRuntime

/// Which processes of a pool there are, who has them, and what is to be done so that there are enough of them.
///
/// It starts and ends no process, has no timer and reads no clock: events and moments are handed in, and what is to be
/// done comes back. ``PluginProcessPool`` does it. Loop thread only.
final class PluginPoolState<Process: AnyObject> {
    private enum Use {
        case free
        /// A call has it, or the session of this number, or no one any longer.
        case leased(session: UInt64?)
        case cleaning
    }

    private struct Entry {
        let process: Process
        var use = Use.free
        /// How often a call or a session had it.
        var uses = 0
        /// Whether it was started because a call waited that has not had it yet.
        var isCold: Bool
        /// It was started before this pool's configuration: it takes no further callers once it is free.
        var isStale = false
    }

    private let settings: PoolSettings
    private var entries: [ObjectIdentifier: Entry] = [:]
    /// Those that no one has. The one that was given back last is given away next: what it needs is in the caches, and
    /// the others may be ended.
    private var free: [Process] = []
    private var bySession: [UInt64: Process] = [:]
    /// Those that work on: few at any time.
    private var late: LateProcesses<Process>
    /// Those on their way.
    private var arrivals: PoolArrivals
    /// The fewest that were free at any time in this period: so many more than needed there were.
    private var minimumFree = 0
    /// When the period ends, while there are more processes than there are to be at any time.
    private var periodEnd: MonotonicInstant?
    private var inUse = 0, warmStarts = 0, coldStarts = 0, recycled = 0

    /// - Parameters:
    ///   - timeout: How long a process may work on after its caller has gone, and an end of a stream stand still.
    ///   - movedAt: When bytes last moved through an end of a stream that a process holds; nil: it holds none.
    init(_ settings: PoolSettings, timeout: Duration, movedAt: @escaping (Process) -> MonotonicInstant?) {
        self.settings = settings
        arrivals = PoolArrivals(settings)
        late = LateProcesses(timeout: timeout, movedAt: movedAt)
    }

    var status: PoolStatus {
        var status = PoolStatus(minimum: settings.minimum, maximum: settings.maximum, per: settings.per.rawValue)
        (status.reusable, status.inUse, status.starting) = (free.count, inUse, arrivals.starting)
        (status.warmStarts, status.coldStarts, status.recycled) = (warmStarts, coldStarts, recycled)
        return status
    }

    // MARK: Calls

    /// Whether there is a process for a call of this session; nil: the daemon's or a plugin's.
    func room(for session: UInt64?) -> Room {
        if let process = session.flatMap({ bySession[$0] }) { return .leased(process) }
        return free.isEmpty ? .none : .free
    }

    /// The process that works on a call, from now on its caller's.
    ///
    /// - Returns: nil where there is none; else also whether the session has it from now on.
    func take(for session: UInt64?) -> (process: Process, isNewOfSession: Bool)? {
        if let process = session.flatMap({ bySession[$0] }) { return (process, false) }
        guard let process = free.popLast() else { return nil }
        minimumFree = min(minimumFree, free.count)
        let keeper = settings.per == .session ? session : nil
        change(process) { entry in
            if entry.isCold { coldStarts += 1 } else { warmStarts += 1 }
            entry.isCold = false
            entry.uses += 1
            entry.use = .leased(session: keeper)
        }
        inUse += 1
        if let keeper { bySession[keeper] = process }
        return (process, keeper != nil)
    }

    // MARK: Processes come and go

    /// How many are to be started now, of those that are to be there at any time.
    ///
    /// - Parameter count: How many processes there are.
    func missing(of count: Int) -> Int {
        arrivals.begin(of: count)
    }

    /// How many are to be started now: for those who wait, and of those that are to be there at any time.
    ///
    /// - Parameters:
    ///   - waiting: How many calls or sessions wait for a process.
    ///   - count: How many processes there are.
    ///   - isNeeded: Calls wait without asking for a process: there is none at all, and one has to be there.
    func missing(for waiting: Int, of count: Int, isNeeded: Bool) -> Int {
        let (missing, isEnough) = arrivals.begin(for: waiting - free.count, of: count, isNeeded: isNeeded)
        if !isEnough { late.noteShortage() }
        return missing
    }

    /// One of them is a process from now on, or does not come.
    func began() { arrivals.began() }

    /// One of them is ready, or has failed.
    func ended() { arrivals.ended() }

    /// A process is ready: the next caller's.
    ///
    /// - Parameters:
    ///   - isCold: whether it was started because a call waited.
    ///   - count: How many processes there are.
    func add(_ process: Process, isCold: Bool, of count: Int, at now: MonotonicInstant) {
        let isStale = staleOnes.remove(ObjectIdentifier(process)) != nil
        entries[ObjectIdentifier(process)] = Entry(process: process, isCold: isCold, isStale: isStale)
        free.append(process)
        if count + arrivals.due > settings.minimum, periodEnd == nil { beginPeriod(at: now) }
        // It may have taken one while it started.
        if late.holdsEnd(process) { tookEnd(process) }
    }

    /// The process is no longer there.
    func remove(_ process: Process) {
        staleOnes.remove(ObjectIdentifier(process))
        late.forget(process)
        guard let entry = entries.removeValue(forKey: ObjectIdentifier(process)) else { return }
        switch entry.use {
        case .free: free.removeAll { $0 === process }
        case .leased(let session):
            inUse -= 1
            if let session { bySession[session] = nil }
        case .cleaning: break
        }
    }

    /// Whether the pool knows the process.
    func has(_ process: Process) -> Bool { entries[ObjectIdentifier(process)] != nil }

    // MARK: From one caller to the next

    /// A process works on nothing any longer.
    ///
    /// - Parameter grownBytes: How much more memory it takes than when it was ready.
    /// - Returns: nil where nothing is to be done: a session keeps it, or no one had it.
    func becameIdle(_ process: Process, grownBytes: @autoclosure () -> UInt64) -> Step? {
        guard case .leased(nil) = entries[ObjectIdentifier(process)]?.use else { return nil }
        if late.keep(process) { return .workOn }
        return recycle(process, grownBytes())
    }

    /// A process holds an end of a stream from now on. One that no one has has taken it in its own name, and works.
    func tookEnd(_ process: Process) {
        guard case .free = entries[ObjectIdentifier(process)]?.use else { return }
        free.removeAll { $0 === process }
        minimumFree = min(minimumFree, free.count)
        lease(process)
    }

    private func lease(_ process: Process) {
        change(process) { $0.use = .leased(session: nil) }
        inUse += 1
        _ = late.keep(process)
    }

    /// A session has gone: another one may have what it had.
    ///
    /// - Returns: the process that it had, which no one has now.
    func end(_ session: UInt64) -> Process? {
        guard let process = bySession.removeValue(forKey: session) else { return nil }
        change(process) { $0.use = .leased(session: nil) }
        return process
    }

    /// No caller waits any longer for what the process works on. It gets some time to come to an end with that.
    func callerLeft(_ process: Process, at now: MonotonicInstant) {
        guard case .leased(nil) = entries[ObjectIdentifier(process)]?.use else { return }
        late.callerLeft(process, at: now)
    }

    private func recycle(_ process: Process, _ grownBytes: UInt64) -> Step {
        guard let entry = entries[ObjectIdentifier(process)] else { return .replace }
        if entry.isStale || entry.uses >= settings.maximumUses || grownBytes > settings.growthBytes {
            return replace(process)
        }
        inUse -= 1
        change(process) { $0.use = .cleaning }
        late.forget(process)
        return .clean
    }

    private func replace(_ process: Process) -> Step {
        remove(process)
        recycled += 1
        return .replace
    }

    /// A process has forgotten its last caller: the next one may have it.
    ///
    /// - Returns: nil: it is free, or gone.
    func cleaned(_ process: Process) -> Step? {
        guard let entry = entries[ObjectIdentifier(process)], case .cleaning = entry.use else { return nil }
        if late.holdsEnd(process) {
            lease(process)
            return .workOn
        }
        if entry.isStale { return replace(process) }
        change(process) { $0.use = .free }
        free.append(process)
        return nil
    }

    /// The configuration is another: all processes are replaced once they are free.
    ///
    /// - Parameter all: All that there are, ready or not, but those that know the new one.
    /// - Returns: those that are replaced immediately. The pool has forgotten them.
    func makeStale(_ all: [Process]) -> [Process] {
        var replaced: [Process] = []
        for process in all {
            guard let entry = entries[ObjectIdentifier(process)] else {
                staleOnes.insert(ObjectIdentifier(process))
                continue
            }
            if case .free = entry.use {
                _ = replace(process)
                replaced.append(process)
            } else {
                change(process) { $0.isStale = true }
            }
        }
        return replaced
    }

    /// Processes that are not ready yet, and stale.
    private var staleOnes: Set<ObjectIdentifier> = []

    private func change(_ process: Process, _ body: (inout Entry) -> Void) {
        let id = ObjectIdentifier(process)
        guard var entry = entries[id] else { return }
        body(&entry)
        entries[id] = entry
    }

    // MARK: Time

    /// When ``expire(of:waiting:at:)`` is to be called; nil: not at all.
    var nextMoment: MonotonicInstant? { [late.nextMoment, periodEnd].compactMap(\.self).min() }

    /// What a moment brings. The pool has forgotten these processes.
    ///
    /// - Parameters:
    ///   - count: How many processes there are.
    ///   - waiting: How many calls or sessions wait for a process.
    func expire(of count: Int, waiting: Int, at now: MonotonicInstant) -> Expired {
        var expired = Expired()
        expired.overdue = late.takeOverdue(at: now)
        expired.stalled = late.takeStalled(for: waiting - arrivals.starting - free.count, at: now)
        for process in expired.overdue + expired.stalled { _ = replace(process) }
        if let periodEnd, periodEnd <= now {
            let left = count + arrivals.due - expired.overdue.count - expired.stalled.count
            let needless = max(0, min(minimumFree, left - settings.minimum))
            expired.needless = Array(free.prefix(needless))
            for process in expired.needless { remove(process) }
            self.periodEnd = nil
            if left - needless > settings.minimum { beginPeriod(at: now) }
        }
        return expired
    }

    /// From here on it is counted how many are not needed.
    private func beginPeriod(at now: MonotonicInstant) {
        minimumFree = free.count
        periodEnd = now + settings.idle
    }

    /// Nothing is to be done any longer.
    func close() {
        periodEnd = nil
        late.close()
    }
}

import EventLoop
import TaskRuntime

/// The processes of a pool, their current callers, and the decisions that keep enough processes.
///
/// It starts and ends no process, has no timer and reads no clock. It receives events and times and returns decisions,
/// which ``PluginProcessPool`` carries out. Loop thread only.
final class PluginPoolState<Process: AnyObject> {
    private enum Use {
        case free
        /// In use by the session with this number; `nil` for use by a call, or for late work without a caller.
        case leased(session: UInt64?)
        case cleaning
    }

    private struct Entry {
        let process: Process
        var use = Use.free
        /// The number of calls or sessions that used it.
        var uses = 0
        /// Whether it was started for a waiting call and has not been used yet.
        var isCold: Bool
        /// Whether it was started with an older configuration. Such a process is replaced once it is free.
        var isStale = false
    }

    private let settings: PoolSettings
    private var entries: [ObjectIdentifier: Entry] = [:]
    /// The processes without a caller. The one that was released last is used next: its memory is in the caches, and
    /// the others may be ended.
    private var free: [Process] = []
    private var bySession: [UInt64: Process] = [:]
    /// The processes with late work; few at any time.
    private var late: LateProcesses<Process>
    /// The processes that are being started.
    private var arrivals: PoolArrivals
    /// The minimum number of free processes in this period. These were not needed.
    private var minimumFree = 0
    /// The end of the period, while more processes than the minimum exist; `nil` otherwise.
    private var periodEnd: MonotonicInstant?
    private var inUse = 0, warmStarts = 0, coldStarts = 0, recycled = 0

    /// - Parameters:
    ///   - timeout: The time for which a process may still work after its caller has disconnected, and for which its
    ///     streams may not move.
    ///   - movedAt: Returns when bytes last moved through an end of a stream that a process holds; `nil` if it holds
    ///     none.
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

    /// Returns whether there is a process for a call of this session; the session is `nil` for calls of the daemon or a
    /// plugin.
    func room(for session: UInt64?) -> Room {
        if let process = session.flatMap({ bySession[$0] }) { return .leased(process) }
        return free.isEmpty ? .none : .free
    }

    /// Assigns a process to a call.
    ///
    /// - Returns: The process, and whether it is newly assigned to the session; `nil` if no process is available.
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

    // MARK: Arrival and removal of processes

    /// Returns how many processes must be started now to reach the minimum.
    ///
    /// - Parameter count: The number of existing processes.
    func missing(of count: Int) -> Int {
        arrivals.begin(of: count)
    }

    /// Returns how many processes must be started now for the waiting callers and to reach the minimum.
    ///
    /// - Parameters:
    ///   - waiting: The number of calls or sessions that wait for a process.
    ///   - count: The number of existing processes.
    ///   - isNeeded: Whether calls wait without having requested a process, because none exists. One is required.
    func missing(for waiting: Int, of count: Int, isNeeded: Bool) -> Int {
        let (missing, isEnough) = arrivals.begin(for: waiting - free.count, of: count, isNeeded: isNeeded)
        if !isEnough { late.noteShortage() }
        return missing
    }

    /// Notes that one of the requested processes now exists, or could not be created.
    func began() { arrivals.began() }

    /// Notes that one of the starting processes is ready or has failed.
    func ended() { arrivals.ended() }

    /// Adds a process that is ready for the next caller.
    ///
    /// - Parameters:
    ///   - isCold: Whether it was started because a call waited.
    ///   - count: The number of existing processes.
    func add(_ process: Process, isCold: Bool, of count: Int, at now: MonotonicInstant) {
        let isStale = staleOnes.remove(ObjectIdentifier(process)) != nil
        entries[ObjectIdentifier(process)] = Entry(process: process, isCold: isCold, isStale: isStale)
        free.append(process)
        if count + arrivals.due > settings.minimum, periodEnd == nil { beginPeriod(at: now) }
        // It may have taken an end of a stream while it started.
        if late.holdsEnd(process) { tookEnd(process) }
    }

    /// Removes a process that has ended.
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

    /// Returns whether the pool contains the process.
    func has(_ process: Process) -> Bool { entries[ObjectIdentifier(process)] != nil }

    // MARK: Change of callers

    /// Notes that a process has no work.
    ///
    /// - Parameter grownBytes: The growth of its memory since it was ready.
    /// - Returns: `nil` if nothing must be done: a session keeps it, or it had no caller.
    func becameIdle(_ process: Process, grownBytes: @autoclosure () -> UInt64) -> Step? {
        guard case .leased(nil) = entries[ObjectIdentifier(process)]?.use else { return nil }
        if late.keep(process) { return .workOn }
        return recycle(process, grownBytes())
    }

    /// Notes that a process holds an end of a stream. A process without a caller has taken it in its own name, and is
    /// in use now.
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

    /// Releases the process of a session that has ended.
    ///
    /// - Returns: The process, which has no caller now; `nil` if the session had none.
    func end(_ session: UInt64) -> Process? {
        guard let process = bySession.removeValue(forKey: session) else { return nil }
        change(process) { $0.use = .leased(session: nil) }
        return process
    }

    /// Notes that no caller waits for the work of a process any more. The process gets some time to finish it.
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

    /// Notes that a process has discarded the state of its last caller. The next caller may use it.
    ///
    /// - Returns: `nil` if it is free or has ended.
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

    /// Marks all processes for replacement after a change of the configuration. Each is replaced once it is free.
    ///
    /// - Parameter all: All processes, ready or not, except those that have the new configuration.
    /// - Returns: The processes that are replaced immediately. The pool has removed them.
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

    /// The stale processes that are not ready yet.
    private var staleOnes: Set<ObjectIdentifier> = []

    private func change(_ process: Process, _ body: (inout Entry) -> Void) {
        let id = ObjectIdentifier(process)
        guard var entry = entries[id] else { return }
        body(&entry)
        entries[id] = entry
    }

    // MARK: Time

    /// The time of the next call of ``expire(of:waiting:at:)``; `nil` for none.
    var nextMoment: MonotonicInstant? { [late.nextMoment, periodEnd].compactMap(\.self).min() }

    /// Returns the processes whose time has passed. The pool has removed them.
    ///
    /// - Parameters:
    ///   - count: The number of existing processes.
    ///   - waiting: The number of calls or sessions that wait for a process.
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

    /// Begins a period in which processes that are not needed are counted.
    private func beginPeriod(at now: MonotonicInstant) {
        minimumFree = free.count
        periodEnd = now + settings.idle
    }

    /// Clears the timers and the late work; the pool is closed.
    func close() {
        periodEnd = nil
        late.close()
    }
}

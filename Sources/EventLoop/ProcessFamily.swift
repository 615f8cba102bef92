import CLibuv
import Glibc

/// A process that this process has started, and its descendants. They end together.
///
/// A descendant can leave the process group and the session of the family, and loses its parent when that ends. Two
/// mechanisms still find it:
///
/// - a ``ControlGroup``, if one can be created: the kernel kills all members together;
/// - in every case, this process is the subreaper of its descendants, so that a descendant that has lost its parent
///   becomes a child of this process. It is recognised by a resource limit that serves as a mark: the hard limit of
///   `RLIMIT_RTTIME`, which is lower than this process's own and different for each family. Descendants inherit it, and
///   only root can raise it.
///
/// Children with this process's own limit belong to no family: other code in this process has started them. They are
/// not killed. If they have ended and that code does not reap them, they are reaped after ``claimTime``.
///
/// Loop thread.
@LoopActor
final class ProcessFamily {
    /// The resource limit that marks its members.
    private let mark: UInt64
    /// The group; `nil` if none could be created.
    private let group: ControlGroup?

    private init(mark: UInt64, group: ControlGroup?) {
        self.mark = mark
        self.group = group
    }

    private static var ownMark: UInt64 = 0
    /// The marks of the families whose first process has not ended.
    private static var living: Set<UInt64> = []
    /// The processes that this process has started through libuv, which reaps them.
    private static var started: Set<pid_t> = []
    /// Groups of families that are being ended, which may still have members.
    private static var dying: [ControlGroup] = []
    /// Callbacks to run when the families that are being ended have no descendants left.
    private static var waiting: [@LoopActor () -> Void] = []
    private static var watcher: SignalWatcher?
    private static var timer: LoopTimer?
    private static var isSweepDue = false
    private static var rounds = 0
    /// The child that was examined last; 0 if the next sweep begins with the first.
    private static var lastExamined: pid_t = 0
    /// Whether a child was killed or reaped since the first one was examined.
    private static var hasFound = false
    /// Ended children of no family, and the time at which their end was detected.
    private static var unclaimed: [pid_t: MonotonicInstant] = [:]
    private static var claimTimer: LoopTimer?

    /// The time between two sweeps: a killed process ends within this time, unless it waits for a disk.
    private static let interval = Duration.milliseconds(10)
    /// The number of sweeps over all children after which the callbacks run, even if a process does not end.
    private static let maximumRounds = 100
    /// The time within which code in this process must reap a process that it has started.
    private static let claimTime = Duration.seconds(10)
    /// The number of children that are examined in one turn of the loop. Plugins decide how many there are.
    private static let maximumAtOnce = 512

    /// See ``ChildProcess/adoptOrphans(controlGroups:)``.
    static func adoptOrphans(controlGroups prefix: String?) throws(SystemError) {
        guard watcher == nil else { return }
        guard clibuv_adopt_orphans() == 0 else {
            throw SystemError(code: errno, operation: "adopt", subject: "orphans")
        }
        ownMark = mark(of: 0) ?? 0
        timer = LoopTimer { sweep() }
        claimTimer = LoopTimer { sweep() }
        watcher = try SignalWatcher(SIGCHLD) { sweepSoon() }
        if let prefix { ControlGroup.enable(prefix: prefix) }
    }

    /// Returns the family of a process that is about to be started; `nil` if this process is not a subreaper.
    static func begin() -> ProcessFamily? {
        guard watcher != nil, ownMark > 0 else { return nil }
        // If this process has no limit, the marks are still too high to limit anything. They are random, so that no
        // process can guess another family's mark.
        let maximum = min(ownMark, 1 << 62)
        guard maximum > 1 else { return nil }
        for _ in 0..<16 {
            let mark = UInt64.random(in: maximum / 2..<maximum)
            if living.insert(mark).inserted { return ProcessFamily(mark: mark, group: .make()) }
        }
        return nil
    }

    /// Calls `body` with the data that `clibuv_spawn` needs to start the first process as a member. Valid during the
    /// call.
    func withMembership<R>(_ body: (clibuv_family) -> R) -> R {
        guard let group else { return body(clibuv_family(mark: mark, group: -1)) }
        return group.withEntry { body(clibuv_family(mark: mark, group: $0)) }
    }

    static func noteStart(of pid: pid_t) { started.insert(pid) }

    static func noteEnd(of pid: pid_t) { started.remove(pid) }

    /// Ends all descendants. Must be called once, when the first process has ended or was not started.
    ///
    /// - Parameter done: Runs when no descendant is left, or when that takes too long.
    func end(_ done: @escaping @LoopActor () -> Void) {
        Self.living.remove(mark)
        if let group { Self.dying.append(group) }
        Self.waiting.append(done)
        Self.rounds = 0
        Self.sweep()
    }

    /// Schedules a sweep. Does not postpone a scheduled one, because children may end continuously.
    private static func sweepSoon() {
        guard !isSweepDue else { return }
        isSweepDue = true
        timer?.schedule(after: interval)
    }

    /// Ends the remaining members of the families that are being ended. The children of a process that it kills become
    /// children of this process, and are found in a later round.
    private static func sweep() {
        isSweepDue = false
        // First: members that end here have become children of this process when those are examined.
        dying.removeAll { $0.end() }
        let isDone = !endSome() && dying.isEmpty
        guard isDone || rounds >= maximumRounds else {
            if lastExamined == 0 { rounds += 1 }
            return sweepSoon()
        }
        rounds = 0
        let callbacks = waiting
        waiting = []
        for done in callbacks { done() }
    }

    /// Examines some of the children.
    ///
    /// - Returns: Whether there may be more work.
    private static func endSome() -> Bool {
        let children = children()
        if lastExamined == 0, !unclaimed.isEmpty {
            let present = Set(children)
            unclaimed = unclaimed.filter { present.contains($0.key) }
        }
        let others = children.filter { $0 > lastExamined && !started.contains($0) }.sorted()
        for pid in others.prefix(maximumAtOnce) where end(pid) { hasFound = true }
        lastExamined = others.count > maximumAtOnce ? others[maximumAtOnce - 1] : 0
        guard lastExamined == 0 else { return true }
        defer { hasFound = false }
        return hasFound
    }

    /// Kills an adopted child whose family is being ended. Reaps an ended child of any family.
    ///
    /// - Returns: Whether it did either.
    private static func end(_ pid: pid_t) -> Bool {
        guard let mark = mark(of: pid) else { return false }
        guard mark != ownMark else {
            reapUnclaimed(pid)
            return false
        }
        if waitpid(pid, nil, WNOHANG) == pid { return true }
        // A process that has lowered its limit has a mark of no family, and is killed, too.
        guard !living.contains(mark) else { return false }
        // Until this process reaps it, no other process gets its id.
        _ = kill(pid, SIGKILL)
        return true
    }

    private static func mark(of pid: pid_t) -> UInt64? {
        var mark: UInt64 = 0
        return clibuv_mark_of(pid, &mark) == 0 ? mark : nil
    }

    private static func reapUnclaimed(_ pid: pid_t) {
        var state = siginfo_t()
        // With WNOWAIT the code that has started it can still reap it.
        guard waitid(P_PID, id_t(pid), &state, WEXITED | WNOHANG | WNOWAIT) == 0, state.si_signo == SIGCHLD else {
            return
        }
        guard let since = unclaimed[pid] else {
            unclaimed[pid] = EventLoop.now
            claimTimer?.schedule(after: claimTime)
            return
        }
        if EventLoop.now - since >= claimTime { waitpid(pid, nil, WNOHANG) }
    }

    /// Returns the children of the process's first thread, which include all adopted ones.
    private static func children() -> [pid_t] {
        let text = ProcFile.text("/proc/self/task/\(getpid())/children") ?? ""
        return text.split(separator: " ").compactMap { pid_t($0) }
    }
}

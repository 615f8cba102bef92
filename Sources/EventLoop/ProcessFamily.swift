import CLibuv
import Glibc

/// A process that this one has started, and its descendants. They end together.
///
/// A descendant can leave the process group and the session of the family, and loses its parent when that ends. Two
/// mechanisms find it all the same:
///
/// - a ``ControlGroup``, where one can be made: the kernel kills all members together;
/// - everywhere, this process is the subreaper of its descendants, so that one that has lost its parent becomes a child
///   of this process. It is recognised by a resource limit that serves as a marker: the hard limit of `RLIMIT_RTTIME`,
///   which is lower than this process's own and different for each family. Descendants inherit it, and only root can
///   raise it.
///
/// Children that bear this process's own limit belong to no family: code in this process has started them. They are not
/// killed. Those that it has left to this process and that no other code reaps are reaped after ``claimTime``.
///
/// On the loop thread.
@LoopActor
final class ProcessFamily {
    /// The resource limit that marks its members.
    private let mark: UInt64
    /// nil where none could be made.
    private let group: ControlGroup?

    private init(mark: UInt64, group: ControlGroup?) {
        self.mark = mark
        self.group = group
    }

    private static var ownMark: UInt64 = 0
    /// The marks of the families whose first process has not ended.
    private static var living: Set<UInt64> = []
    /// The processes that this one has started by way of libuv, which reaps them.
    private static var started: Set<pid_t> = []
    /// Groups of families that are being ended, which may still have members.
    private static var dying: [ControlGroup] = []
    /// Callbacks to run when no descendant is left of the families that are being ended.
    private static var waiting: [@LoopActor () -> Void] = []
    private static var watcher: SignalWatcher?
    private static var timer: LoopTimer?
    private static var isSweepDue = false
    private static var rounds = 0
    /// The child that was examined last; 0: the next sweep begins with the first.
    private static var lastExamined: pid_t = 0
    /// Whether a child was killed or reaped since the first one was examined.
    private static var hasFound = false
    /// Children of no family that have ended, and since when that is known.
    private static var unclaimed: [pid_t: MonotonicInstant] = [:]
    private static var claimTimer: LoopTimer?

    /// Between two sweeps: a process that is killed ends within this time, unless it waits for a disk.
    private static let interval = Duration.milliseconds(10)
    /// The callbacks run after so many sweeps over all children, even where a process does not end.
    private static let maximumRounds = 100
    /// How long code in this process may take to reap a process that it has started.
    private static let claimTime = Duration.seconds(10)
    /// The children examined in one turn of the loop. Plugins decide how many there are.
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

    /// The family of a process that is about to be started; nil where this process is no subreaper.
    static func begin() -> ProcessFamily? {
        guard watcher != nil, ownMark > 0 else { return nil }
        // Where this process has no limit, the marks are still far above what the limit would bound. They are random,
        // so that no process can guess another family's.
        let maximum = min(ownMark, 1 << 62)
        guard maximum > 1 else { return nil }
        for _ in 0..<16 {
            let mark = UInt64.random(in: maximum / 2..<maximum)
            if living.insert(mark).inserted { return ProcessFamily(mark: mark, group: .make()) }
        }
        return nil
    }

    /// Hands `body` what `clibuv_spawn` needs to start the first process as a member. Valid during the call.
    func withMembership<R>(_ body: (clibuv_family) -> R) -> R {
        guard let group else { return body(clibuv_family(mark: mark, group: -1)) }
        return group.withEntry { body(clibuv_family(mark: mark, group: $0)) }
    }

    static func noteStart(of pid: pid_t) { started.insert(pid) }

    static func noteEnd(of pid: pid_t) { started.remove(pid) }

    /// Ends all descendants. To be called once, when the first process has ended or was not started.
    ///
    /// - Parameter done: runs when no descendant is left, or when that takes too long.
    func end(_ done: @escaping @LoopActor () -> Void) {
        Self.living.remove(mark)
        if let group { Self.dying.append(group) }
        Self.waiting.append(done)
        Self.rounds = 0
        Self.sweep()
    }

    /// Does not postpone a sweep that is due: children may end continuously.
    private static func sweepSoon() {
        guard !isSweepDue else { return }
        isSweepDue = true
        timer?.schedule(after: interval)
    }

    /// Ends what is left of the families that are being ended. The children of a process that it kills become children
    /// of this process, and are found in a later round.
    private static func sweep() {
        isSweepDue = false
        // First: members that have ended are children of this process by the time that these are examined.
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
    /// - Returns: whether there may be more to do.
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

    /// Kills an adopted child whose family is being ended. Reaps one of any family that has ended.
    ///
    /// - Returns: whether it did either.
    private static func end(_ pid: pid_t) -> Bool {
        guard let mark = mark(of: pid) else { return false }
        guard mark != ownMark else {
            reapUnclaimed(pid)
            return false
        }
        if waitpid(pid, nil, WNOHANG) == pid { return true }
        // A process that has lowered its limit bears a mark of no family, and is killed too.
        guard !living.contains(mark) else { return false }
        // Until this process reaps it, its number is not given to another process.
        _ = kill(pid, SIGKILL)
        return true
    }

    private static func mark(of pid: pid_t) -> UInt64? {
        var mark: UInt64 = 0
        return clibuv_mark_of(pid, &mark) == 0 ? mark : nil
    }

    private static func reapUnclaimed(_ pid: pid_t) {
        var state = siginfo_t()
        // WNOWAIT leaves it to be reaped by the code that has started it.
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

    /// The children of the process's first thread, among which are all that it has adopted.
    private static func children() -> [pid_t] {
        let text = ProcFile.text("/proc/self/task/\(getpid())/children") ?? ""
        return text.split(separator: " ").compactMap { pid_t($0) }
    }
}

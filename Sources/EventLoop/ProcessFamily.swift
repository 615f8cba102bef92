import CLibuv
import Glibc

/// A process that this one has started, and all that it starts in its turn. They end together.
///
/// A process can leave its group, its session and, by way of one that ends, its parents. This process adopts what is
/// left without a parent, and knows it by a mark that everything inherits and nobody can take off: a hard resource
/// limit that is lower than this process's own, another one for each family. So it finds what a family has left behind,
/// and it finds nothing else: what code in this process starts by itself bears this process's own limit, and is left
/// alone. Only where that has left something behind itself, and nobody waits for it when it has ended, this process
/// does.
@LoopActor
final class ProcessFamily {
    /// The limit.
    let mark: UInt64

    private init(_ mark: UInt64) { self.mark = mark }

    private static var ownMark: UInt64 = 0
    /// The marks of those whose head has not ended.
    private static var living: Set<UInt64> = []
    /// The processes that this one has started by way of the loop, which waits for them.
    private static var started: Set<pid_t> = []
    /// Told when nothing is left of those that have ended.
    private static var waiting: [@LoopActor () -> Void] = []
    private static var watcher: SignalWatcher?
    private static var timer: LoopTimer?
    private static var isSweepDue = false
    private static var rounds = 0
    /// The child that was looked at last; 0: the next look begins with the first.
    private static var place: pid_t = 0
    /// Whether something was ended or waited for since the first child was looked at.
    private static var hasFound = false
    /// Children of no family that have ended, and since when that is known.
    private static var unclaimed: [pid_t: MonotonicInstant] = [:]
    private static var claimTimer: LoopTimer?

    /// Between one look at what is left and the next: a process that is killed ends within this time, unless the disk
    /// hangs.
    private static let interval = Duration.milliseconds(10)
    /// After so many looks nobody waits any more for what does not end.
    private static let mostRounds = 100
    /// As long may code in this process take to wait for what it has started.
    private static let claimTime = Duration.seconds(10)
    /// As many children are looked at in one turn of the loop: how many there are, plugins decide.
    private static let mostAtOnce = 512

    /// See ``ChildProcess/adoptOrphans()``.
    static func adoptOrphans() throws(SystemError) {
        guard watcher == nil else { return }
        guard clibuv_adopt_orphans() == 0 else {
            throw SystemError(code: errno, operation: "adopt", subject: "orphans")
        }
        ownMark = mark(of: 0) ?? 0
        timer = LoopTimer { sweep() }
        claimTimer = LoopTimer { sweep() }
        watcher = try SignalWatcher(SIGCHLD) { sweepSoon() }
    }

    /// The family of a process that is about to be started; nil where this one adopts nobody.
    static func begin() -> ProcessFamily? {
        guard watcher != nil, ownMark > 0 else { return nil }
        // Far above what the limit bounds, where this process has none. Drawn, so that no other family's is guessed.
        let most = min(ownMark, 1 << 62)
        guard most > 1 else { return nil }
        for _ in 0..<16 {
            let family = ProcessFamily(.random(in: most / 2..<most))
            if living.insert(family.mark).inserted { return family }
        }
        return nil
    }

    static func noteStart(of pid: pid_t) { started.insert(pid) }

    static func noteEnd(of pid: pid_t) { started.remove(pid) }

    /// Its head has ended: so does all that is left of it.
    ///
    /// - Parameter done: told when nothing is, or when that takes too long.
    func end(_ done: @escaping @LoopActor () -> Void) {
        Self.living.remove(mark)
        Self.waiting.append(done)
        Self.rounds = 0
        Self.sweep()
    }

    /// Children end at any rate, and put no look off that is due.
    private static func sweepSoon() {
        guard !isSweepDue else { return }
        isSweepDue = true
        timer?.schedule(after: interval)
    }

    /// Ends what families without a head have left here. What that has started comes here when it ends, and is found in
    /// a later round.
    private static func sweep() {
        isSweepDue = false
        guard endSome(), rounds < mostRounds else {
            rounds = 0
            let told = waiting
            waiting = []
            for done in told { done() }
            return
        }
        if place == 0 { rounds += 1 }
        sweepSoon()
    }

    /// Looks at some of the children.
    ///
    /// - Returns: whether there may be more to do.
    private static func endSome() -> Bool {
        let children = children()
        if place == 0, !unclaimed.isEmpty {
            let present = Set(children)
            unclaimed = unclaimed.filter { present.contains($0.key) }
        }
        let others = children.filter { $0 > place && !started.contains($0) }.sorted()
        for pid in others.prefix(mostAtOnce) where end(pid) { hasFound = true }
        place = others.count > mostAtOnce ? others[mostAtOnce - 1] : 0
        guard place == 0 else { return true }
        defer { hasFound = false }
        return hasFound
    }

    /// Ends an adopted child whose family has lost its head, or waits for one that has ended.
    ///
    /// - Returns: whether it was one of those.
    private static func end(_ pid: pid_t) -> Bool {
        guard let mark = mark(of: pid) else { return false }
        guard mark != ownMark else {
            reapUnclaimed(pid)
            return false
        }
        if waitpid(pid, nil, WNOHANG) == pid { return true }
        // A mark that no family has is one that was lowered, to hide.
        guard !living.contains(mark) else { return false }
        // A child of this process that it has not waited for: its number is nobody else's.
        _ = kill(pid, SIGKILL)
        return true
    }

    private static func mark(of pid: pid_t) -> UInt64? {
        var mark: UInt64 = 0
        return clibuv_mark_of(pid, &mark) == 0 ? mark : nil
    }

    private static func reapUnclaimed(_ pid: pid_t) {
        var state = siginfo_t()
        // It stays to be waited for, by whoever has started it.
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
        let file = open("/proc/self/task/\(getpid())/children", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var text: [UInt8] = []
        withUnsafeTemporaryAllocation(byteCount: 4 << 10, alignment: 1) { buffer in
            while case let count = read(file, buffer.baseAddress, buffer.count), count > 0 {
                text += buffer[..<count]
            }
        }
        return text.split(separator: UInt8(ascii: " ")).compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
    }
}

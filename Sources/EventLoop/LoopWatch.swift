import CLibuv
import Glibc
import Synchronization

/// Code that blocked the loop thread for a long time.
public struct LoopHold: Sendable {
    /// The holder that ran the code (``LoopHolder``).
    public var holder: UInt32
    /// The holder's name while the code ran.
    public var name: String
    /// The time so far, or the total time if it is over.
    public var duration: Duration
    /// Whether the thread is free again.
    public var isOver: Bool
}

/// Detects code that holds the loop thread for half a second or more, from a thread of its own.
///
/// While the loop waits for events this thread sleeps. A turn wakes it, and it then checks the loop every quarter of a
/// second until a check finds no turn. Time in which the kernel ran other threads does not count.
public final class LoopWatch: Sendable {
    /// A turn of this length is reported when it ends.
    static let limit = Duration.milliseconds(500)
    /// A turn of this length is reported while it continues, by the next check: within a second.
    static let timeout = Duration.milliseconds(750)
    static let interval = Duration.milliseconds(250)

    /// The results of the checks of one turn.
    private struct Looks {
        var turn: UInt64 = 0
        /// The number of checks that found the thread running or blocked.
        var count = 0
        var holder: UInt32 = 0
        var name: String?
    }

    /// The start of the turn, on the monotonic clock in nanoseconds; 0 if the loop waits for events.
    private let turn = Atomic<UInt64>(0)
    private let isAsleep = Atomic<Bool>(false)
    // Never freed: a watch exists as long as the process. The pointer itself does not change.
    private nonisolated(unsafe) let wake = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)  // any thread may post
    private let looks = Mutex(Looks())
    private let name: @Sendable (UInt32) -> String?
    private let report: @Sendable (LoopHold) -> Void
    private let clock: clockid_t
    private let statePath: String

    /// Watches the loop of this process from now on. Later calls do nothing.
    ///
    /// - Parameters:
    ///   - name: Returns the name of a holder (``LoopHolder``); `nil` if it is unknown and must not be reported. Called
    ///     on the watch's thread.
    ///   - report: Called with a long turn: once on the watch's thread while it lasts, and on the loop thread when it
    ///     is over.
    @LoopActor
    public static func start(
        naming name: @escaping @Sendable (UInt32) -> String?, report: @escaping @Sendable (LoopHold) -> Void
    ) {
        guard Loop.shared.watch == nil else { return }
        let watch = LoopWatch(name, report)
        // Never released.
        Loop.shared.watch = .passRetained(watch)
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, run, Unmanaged.passRetained(watch).toOpaque())
        precondition(
            status == 0, "The loop's watch cannot be started: \(SystemError(code: status, operation: "thread"))")
    }

    private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        clibuv_prepare_thread("loop-watch")
        // The argument passed above.
        if let argument { Unmanaged<LoopWatch>.fromOpaque(argument).takeUnretainedValue().run() }
        return nil
    }

    /// Creates the watch. Loop thread.
    private init(_ name: @escaping @Sendable (UInt32) -> String?, _ report: @escaping @Sendable (LoopHold) -> Void) {
        self.name = name
        self.report = report
        var clock = clockid_t()
        pthread_getcpuclockid(pthread_self(), &clock)
        self.clock = clock
        // The link's target is PID/task/TID.
        var link = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/thread-self", &link, link.count)
        let threadPath = String(decoding: link.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        statePath = "/proc/\(threadPath)/stat"
        sem_init(wake, 0, 0)
    }

    // MARK: Loop thread

    @inline(__always)
    func turnBegan(_ start: UInt64) {
        // Sequentially consistent with the stores and loads of the other thread before it sleeps: at least one of the
        // two detects the other.
        turn.store(start, ordering: .sequentiallyConsistent)
        guard isAsleep.load(ordering: .sequentiallyConsistent) else { return }
        isAsleep.store(false, ordering: .relaxed)
        sem_post(wake)
    }

    @inline(__always)
    func turnEnded(_ start: UInt64, _ end: UInt64) {
        turn.store(0, ordering: .releasing)
        let duration = Duration.nanoseconds(Int64(clamping: end &- start))
        if duration >= Self.limit { note(start, duration) }
    }

    private func note(_ start: UInt64, _ duration: Duration) {
        let looks = looks.withLock { $0 }
        guard looks.turn == start, Self.isHold(duration, looks.count), let name = looks.name else { return }
        // In its own turn, at whose end its output is written.
        let hold = LoopHold(holder: looks.holder, name: name, duration: duration, isOver: true)
        EventLoop.post { [report] in report(hold) }
    }

    /// Whether the thread was held for at least half of the time.
    private static func isHold(_ duration: Duration, _ looks: Int) -> Bool { interval * looks * 2 >= duration }

    // MARK: The watch's thread

    private func run() {
        var used = usedTime()
        var reported: UInt64 = 0
        while true {
            usleep(UInt32(Self.interval / .microseconds(1)))
            let start = turn.load(ordering: .acquiring)
            guard start != 0 else {
                sleep()
                used = usedTime()
                continue
            }
            let now = usedTime()
            let isStarved = now - used < Self.interval / 10 && waitsForProcessor
            used = now
            let duration = Duration.nanoseconds(Int64(clamping: clibuv_monotonic_ns() &- start))
            guard let hold = look(at: start, for: duration, isStarved), reported != start, duration >= Self.timeout
            else {
                continue
            }
            reported = start
            report(hold)
        }
    }

    /// Sleeps until a turn begins.
    private func sleep() {
        isAsleep.store(true, ordering: .sequentiallyConsistent)
        while turn.load(ordering: .sequentiallyConsistent) == 0, isAsleep.load(ordering: .relaxed) { sem_wait(wake) }
        isAsleep.store(false, ordering: .relaxed)
    }

    /// - Returns: The hold; `nil` if no holder is known, or if it has not held the loop for at least half of the turn.
    private func look(at start: UInt64, for duration: Duration, _ isStarved: Bool) -> LoopHold? {
        let holder = LoopHolder.cell.pointee.load(ordering: .acquiring)
        let name = name(holder)
        return looks.withLock { looks in
            if looks.turn != start { looks = Looks(turn: start) }
            if !isStarved { looks.count += 1 }
            (looks.holder, looks.name) = (holder, name)
            guard let name, Self.isHold(duration, looks.count) else { return nil }
            return LoopHold(holder: holder, name: name, duration: duration, isOver: false)
        }
    }

    /// Returns the processor time of the loop thread.
    private func usedTime() -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Whether the loop thread is runnable: its state, after its name in parentheses, is "R".
    private var waitsForProcessor: Bool {
        guard let text = ProcFile.text(statePath), let end = text.lastIndex(of: ")") else { return false }
        return text[end...].dropFirst(2).first == "R"
    }
}

/// The holder whose code runs on the loop thread, if it is set.
public enum LoopHolder {
    /// The number of the holder, whose meaning the writer defines; 0 for none. Written on the loop thread. Never freed.
    public nonisolated(unsafe) static let cell: UnsafeMutablePointer<Atomic<UInt32>> = {  // atomic, never freed
        let cell = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)
        cell.initialize(to: Atomic(0))
        return cell
    }()
}

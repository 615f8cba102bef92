import CLibuv
import Glibc

/// Whether a child process gets processor time. One look goes from a part of a wait to the next.
///
/// A kernel may keep a process that can run from running for seconds while others wake each other without end: Linux
/// 6.18 does so where two pairs of processes on two processors send each other messages as fast as they can.
struct ProcessorShare {
    /// A process that can run and gets less than this part of one processor is starved.
    private static let minimumShareDivisor = 100
    /// As many of its threads are looked at: what another process decides is bounded.
    private static let maximumThreads = 8

    private let pid: Int32
    /// What it had used at the last look; nil: it has ended.
    private var used: Duration?

    init(of pid: Int32) {
        self.pid = pid
        used = Self.used(by: pid)
    }

    /// Whether the process can run, and has hardly run since the last look.
    ///
    /// - Parameter time: how long ago that was.
    mutating func isStarved(over time: Duration) -> Bool {
        let now = Self.used(by: pid)
        defer { used = now }
        guard let now, let used, now - used < time / Self.minimumShareDivisor else { return false }
        return Self.canRun(pid)
    }

    /// The processor time of all threads of a process, from the kernel's clock of it.
    private static func used(by pid: Int32) -> Duration? {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Whether one of its first threads is in the state "R": it runs, or waits for a processor.
    private static func canRun(_ pid: Int32) -> Bool {
        var left = maximumThreads
        var canRun = false
        try? FolderContents.forEach(in: "/proc/\(pid)/task") { name in
            left -= 1
            canRun = state(ofThread: "/proc/\(pid)/task/\(name)/stat") == UInt8(ascii: "R")
            return !canRun && left > 0
        }
        return canRun
    }

    /// The third field of stat, behind the thread's name in parentheses, which may itself contain some.
    private static func state(ofThread path: String) -> UInt8? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            guard count > 0, let end = buffer[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count else {
                return nil
            }
            return buffer[end + 2]
        }
    }
}

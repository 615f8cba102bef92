import CLibuv
import Glibc

/// Measures whether a child process gets processor time, from one part of a wait to the next.
///
/// A kernel may not run a runnable process for seconds while others continuously wake each other. Linux 6.18 does this
/// if two pairs of processes on two processors exchange messages as fast as they can.
struct ProcessorShare {
    /// A runnable process is starved if it gets less than one part in this number of a processor.
    private static let minimumShareDivisor = 100
    /// The maximum number of its threads that are examined, because the other process decides how many there are.
    private static let maximumThreads = 8

    private let pid: Int32
    /// The processor time at the last measurement; `nil` if the process has ended.
    private var used: Duration?

    init(of pid: Int32) {
        self.pid = pid
        used = Self.used(by: pid)
    }

    /// Returns whether the process is runnable, and has hardly run since the last measurement.
    ///
    /// - Parameter time: The time since that measurement.
    mutating func isStarved(over time: Duration) -> Bool {
        let now = Self.used(by: pid)
        defer { used = now }
        guard let now, let used, now - used < time / Self.minimumShareDivisor else { return false }
        return Self.canRun(pid)
    }

    /// Returns the processor time of all threads of a process, from its kernel clock; `nil` if it has ended.
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

    /// Returns the third field of stat, after the thread's name in parentheses, which may itself contain parentheses.
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

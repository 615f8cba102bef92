import Glibc

/// The current speed of the machine. A virtual processor may run at half its speed, for example while another one runs
/// on the same core; CPU time does not show that. A fixed piece of work, similar to the daemon's, is measured for
/// comparison: names are created, hashed, added to a table and removed.
struct MachineSpeed: Sendable {
    /// The time of this work on the reference machine of the cost limits (AMD EPYC, 2 cores) at full speed, built like
    /// the target "cost": the minimum of some thousand samples.
    static let nominalNanoseconds: UInt64 = 156_000

    /// The time of the measurements themselves, in nanoseconds of the thread's CPU time.
    private(set) var spentNanoseconds: UInt64 = 0
    private var sum: UInt64 = 0
    private var count: UInt64 = 0

    /// Does the work on the calling thread three times; the fastest counts.
    mutating func measure() {
        let start = Self.threadNanoseconds
        sum += (0..<3).map { _ in Self.work() }.min() ?? 0
        count += 1
        spentNanoseconds += Self.threadNanoseconds - start
    }

    /// Converts a measured time to that of a machine at full speed. The result is never more than the measured time.
    func adjusted(_ nanoseconds: UInt64) -> UInt64 {
        guard sum > Self.nominalNanoseconds * count else { return nanoseconds }
        return UInt64(Double(nanoseconds) * Double(Self.nominalNanoseconds * count) / Double(sum))
    }

    private static func work() -> UInt64 {
        let start = threadNanoseconds
        var table: [String: [UInt8]] = [:]
        for number in 0..<256 { table["name.\(number).of.the.work"] = [UInt8(number)] }
        for number in 0..<256 { table["name.\(number).of.the.work"] = nil }
        precondition(table.isEmpty, "what was entered is taken out")
        return threadNanoseconds - start
    }

    private static var threadNanoseconds: UInt64 {
        var time = timespec()
        // Cannot fail: the clock exists, and the address is ours.
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

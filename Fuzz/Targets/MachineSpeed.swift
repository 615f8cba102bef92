import Glibc

/// How fast the machine is at the moment. A virtual processor may run at half its speed, for instance while another one
/// runs on the same core, which CPU time does not show. A fixed piece of work, of the kind that the daemon does, is
/// measured for comparison: names are made, hashed, entered in a table and taken out again.
struct MachineSpeed: Sendable {
    /// What the work takes on the machine for which the bounds of costs are given (AMD EPYC, 2 cores) at full speed,
    /// built as the target "cost" is: the minimum of some thousand samples.
    static let nominalNanoseconds: UInt64 = 156_000

    /// What the measurements themselves have taken, in nanoseconds of the thread's CPU time.
    private(set) var spentNanoseconds: UInt64 = 0
    private var sum: UInt64 = 0
    private var count: UInt64 = 0

    /// Does the work on the calling thread three times, of which the fastest counts.
    mutating func measure() {
        let start = Self.threadNanoseconds
        sum += (0..<3).map { _ in Self.work() }.min() ?? 0
        count += 1
        spentNanoseconds += Self.threadNanoseconds - start
    }

    /// What something that took so long meanwhile would take on a machine at full speed. Never more than it took.
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

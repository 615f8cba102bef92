import Glibc

/// The attacked user: a separate process that calls at fixed intervals, and reports how long it waited each time.
final class Victim {
    /// A call: the time at which it was sent and its duration, in nanoseconds of CLOCK_MONOTONIC.
    struct Sample {
        var sent: UInt64
        var wait: UInt64
        var end: UInt64 { sent + wait }
    }

    /// The call that it makes.
    struct Call: Sendable {
        var line: String
        var microseconds: Int
        /// The limit of its wait.
        var limitMilliseconds: Double

        static let echo = Call(
            line: #"{"task":"Echo","options":{"content":"Hello"},"callbackId":1}"#, microseconds: 2000,
            limitMilliseconds: 10)
        static let create = Call(
            line: #"{"task":"persistence.create","options":{"table":"v","record":{"a":1}},"callbackId":1}"#,
            microseconds: 10_000, limitMilliseconds: 250)
        static let query = Call(
            line: #"{"task":"persistence.query","options":{"table":"v","where":{"a":1}},"callbackId":1}"#,
            microseconds: 10_000, limitMilliseconds: 100)
    }

    private(set) var samples: [Sample] = []
    private let call: Call
    private let process: ChildProcess
    private var unread: [UInt8] = []

    /// - Parameter isRealTime: Whether it has priority over all other processes, so that it waits only for answers and
    ///   not for a processor. Root only.
    init(_ bench: Bench, _ call: Call, of server: Server, uid: UInt32, isRealTime: Bool = false) throws {
        self.call = call
        let command =
            (isRealTime ? Bench.realTime : bench.ahead(isLight: true))
            + [bench.place.program("victim"), server.socket, String(uid), String(call.microseconds), call.line]
        process = try ChildProcess(command, core: bench.cores.third ?? bench.cores.generator)
    }

    /// Reads the samples that the process has reported so far.
    func listen() {
        unread += process.readAvailable()
        let count = unread.count / 16
        unread.withUnsafeBytes { bytes in
            for index in 0..<count {
                samples.append(
                    Sample(
                        sent: bytes.loadUnaligned(fromByteOffset: index * 16, as: UInt64.self),
                        wait: bytes.loadUnaligned(fromByteOffset: index * 16 + 8, as: UInt64.self)))
            }
        }
        unread.removeFirst(count * 16)
    }

    /// Returns the longest wait for a call that was in flight between two moments, in milliseconds. A call without an
    /// answer counts as waiting until now.
    func longestWait(from start: UInt64, to end: UInt64) -> Double {
        let answered = samples.reversed().prefix { $0.end >= start }.filter { $0.sent <= end }.map(\.wait).max() ?? 0
        let lastEnd = samples.last?.end ?? start
        let open = lastEnd < end ? monotonicNanoseconds() - lastEnd : 0
        return Double(max(answered, open)) / 1e6
    }

    /// Returns the wait that this share of the calls does not exceed, in milliseconds.
    func quantile(_ share: Double, from start: UInt64, to end: UInt64) -> Double {
        let waits = waits(from: start, to: end)
        return waits.isEmpty ? longestWait(from: start, to: end) : Self.quantile(share, of: waits)
    }

    /// Returns the wait that this share of the waits does not exceed.
    static func quantile(_ share: Double, of waits: [Double]) -> Double {
        waits.sorted()[min(waits.count - 1, Int(Double(waits.count) * share))]
    }

    /// Returns the waits of calls that were in flight between two moments, in milliseconds. A waiting call delays later
    /// ones: these count as if they had been made at their scheduled time.
    func waits(from start: UInt64, to end: UInt64) -> [Double] {
        let interval = call.microseconds * 1000
        return samples.filter { $0.end >= start && $0.sent <= end }
            .flatMap { stride(from: $0.wait, to: 0, by: -interval).map { Double($0) / 1e6 } }
    }

    var hasEnded: Bool { process.hasEnded }

    func stop() { process.stop() }
}

func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

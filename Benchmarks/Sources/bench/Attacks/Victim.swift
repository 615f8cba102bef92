import Glibc

/// The user who is attacked: a process of its own that calls at fixed intervals, and says how long it waited each time.
final class Victim {
    /// A call: when it was sent and how long it took, in nanoseconds of CLOCK_MONOTONIC.
    struct Sample {
        var sent: UInt64
        var wait: UInt64
        var end: UInt64 { sent + wait }
    }

    /// What it calls.
    struct Call: Sendable {
        var line: String
        var microseconds: Int
        /// How long it may wait at the most.
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

    /// - Parameter isRealTime: whether it runs before everything else that wants a processor, so that it waits for
    ///   answers and not for its own turn. Root only.
    init(_ bench: Bench, _ call: Call, of server: Server, uid: UInt32, isRealTime: Bool = false) throws {
        self.call = call
        let command =
            (isRealTime ? Bench.realTime : bench.ahead(isLight: true))
            + [bench.place.program("victim"), server.socket, String(uid), String(call.microseconds), call.line]
        process = try ChildProcess(command, core: bench.cores.third ?? bench.cores.generator)
    }

    /// Takes what it has said so far.
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

    /// How long it waited at the most for a call that was in flight between two moments, in milliseconds. One that has
    /// not been answered has waited until now.
    func longestWait(from start: UInt64, to end: UInt64) -> Double {
        let answered = samples.reversed().prefix { $0.end >= start }.filter { $0.sent <= end }.map(\.wait).max() ?? 0
        let lastEnd = samples.last?.end ?? start
        let open = lastEnd < end ? monotonicNanoseconds() - lastEnd : 0
        return Double(max(answered, open)) / 1e6
    }

    /// The share of calls below which a wait lies, in milliseconds.
    func quantile(_ share: Double, from start: UInt64, to end: UInt64) -> Double {
        let waits = waits(from: start, to: end)
        return waits.isEmpty ? longestWait(from: start, to: end) : Self.quantile(share, of: waits)
    }

    /// The share of these waits below which one lies.
    static func quantile(_ share: Double, of waits: [Double]) -> Double {
        waits.sorted()[min(waits.count - 1, Int(Double(waits.count) * share))]
    }

    /// How long calls waited that were in flight between two moments, in milliseconds. A call that waits keeps later
    /// ones from being made: these count as if they had been made at their time.
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

import BridgeMessage
import Glibc

// The cost of messages. A populated daemon (CostDaemon.swift) receives a sequence of lines (CostSequence.swift) over
// real connections. The CPU time of its loop is measured from the first connection to the end of the last one.
//
// - A sequence costs at most 40 ns a received or sent byte, 50 µs a message, 1 µs for each delivery to a subscriber,
//   and 2 µs for each name that is subscribed to, or task that is registered, and removed again: quotas allow few of
//   both. Sent bytes count because a short message may be answered by a long page, or delivered to many subscribers.
//   Such a message uses its sender's share of the loop only.
// - No turn of the loop takes more than 10 ms.
//
// CPU time is adjusted to a machine at full speed (MachineSpeed.swift), and is the minimum of three replays, so that
// other load on the machine causes no findings. For short times, cold caches and changes of speed matter more: then it
// is the minimum of 120 replays in ten seconds. In a debug build, and so under `swift test`, sequences are played and
// not judged.
func fuzzCost(_ bytes: [UInt8]) throws(Violation) {
    let sequence = CostSequence(bytes)
    var minimum = Cost.none
    for replay in 1...120 {
        minimum = minimum.minimum(with: try CostDaemon.shared.play(sequence))
        if minimum.isWithin(sequence) { break }
        // A sequence that took a second is too slow.
        if minimum.nanoseconds > 1_000_000_000 || replay >= 3 && minimum.nanoseconds > 20_000_000 { break }
        if replay % 12 == 0 { sleep(1) }
    }
    #if !DEBUG
    try require(minimum.isWithin(sequence), minimum.text(sequence))
    #endif
}

/// The cost of a sequence.
struct Cost: Sendable {
    /// The CPU time of the loop thread, adjusted to a machine at full speed.
    var nanoseconds: UInt64
    /// The CPU time of its longest turn; 0 if none was slow.
    var longestTurn: UInt64
    /// The number of bytes that the daemon sent, to all clients.
    var sentBytes: Int
    /// The number of deliveries to subscribers.
    var deliveries: Int

    static let none = Cost(nanoseconds: .max, longestTurn: .max, sentBytes: 0, deliveries: 0)

    private static let nanosecondsOfByte: UInt64 = 40
    private static let nanosecondsOfMessage: UInt64 = 50_000
    /// The cost of a pattern or a task.
    private static let nanosecondsOfName: UInt64 = 2_000
    private static let nanosecondsOfDelivery: UInt64 = 1_000
    private static let turnNanoseconds: UInt64 = 10_000_000

    /// Returns the lower of each time.
    func minimum(with other: Cost) -> Cost {
        Cost(
            nanoseconds: min(nanoseconds, other.nanoseconds), longestTurn: min(longestTurn, other.longestTurn),
            sentBytes: max(sentBytes, other.sentBytes), deliveries: max(deliveries, other.deliveries))
    }

    private func limit(_ sequence: CostSequence) -> UInt64 {
        UInt64(sequence.byteCount + sentBytes) * Self.nanosecondsOfByte
            + UInt64(sequence.messageCount) * Self.nanosecondsOfMessage
            + UInt64(sequence.patternCount + sequence.taskCount) * Self.nanosecondsOfName
            + UInt64(deliveries) * Self.nanosecondsOfDelivery
    }

    func isWithin(_ sequence: CostSequence) -> Bool {
        nanoseconds <= limit(sequence) && longestTurn <= Self.turnNanoseconds
    }

    func text(_ sequence: CostSequence) -> String {
        """
        \(nanoseconds / 1000) µs of CPU for \(sequence.byteCount) bytes in \(sequence.messageCount) messages and \
        \(sentBytes) bytes that were sent, which may take \(limit(sequence) / 1000); the longest turn \
        \(longestTurn / 1000) µs, which may take \(Self.turnNanoseconds / 1000)
        """
    }
}

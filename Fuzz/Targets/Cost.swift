import BridgeMessage
import Glibc

// What messages cost: a daemon that has been populated (CostDaemon.swift) is sent a sequence of lines
// (CostSequence.swift) over real connections, and the CPU time of its loop is measured, from the first connection to
// the end of the last one.
//
// - A sequence costs at most 40 ns a byte, received or sent, 50 µs a message, 1 µs for each time that something is sent
//   to one of those who listen, and 2 µs for each name that is subscribed to, or task that is registered, and taken out
//   again: quotas allow few of both. What is sent counts because a short message may be answered by a long page, or go
//   to many who listen: that takes its sender's share of the loop, and no one else's.
// - No turn of the loop takes more than 10 ms.
//
// CPU time is adjusted to a machine at full speed (MachineSpeed.swift), and is the smallest of three replays, so that
// nothing else on the machine makes a finding. Where it is short, cold caches and changes of speed count for more: then
// it is the smallest of 120 in ten seconds. In a debug build, and so under `swift test`, sequences are played and not
// judged.
func fuzzCost(_ bytes: [UInt8]) throws(Violation) {
    let sequence = CostSequence(bytes)
    var minimum = Cost.none
    for replay in 1...120 {
        minimum = minimum.minimum(with: try CostDaemon.shared.play(sequence))
        if minimum.isWithin(sequence) { break }
        // What took a second takes too long.
        if minimum.nanoseconds > 1_000_000_000 || replay >= 3 && minimum.nanoseconds > 20_000_000 { break }
        if replay % 12 == 0 { sleep(1) }
    }
    #if !DEBUG
    try require(minimum.isWithin(sequence), minimum.text(sequence))
    #endif
}

/// What a sequence cost.
struct Cost: Sendable {
    /// CPU time of the loop's thread, adjusted to a machine at full speed.
    var nanoseconds: UInt64
    /// That of its longest turn; 0 where none was slow.
    var longestTurn: UInt64
    /// What the daemon sent, to whomever.
    var sentBytes: Int
    /// How often it sent something to one of those who listen.
    var deliveries: Int

    static let none = Cost(nanoseconds: .max, longestTurn: .max, sentBytes: 0, deliveries: 0)

    private static let nanosecondsOfByte: UInt64 = 40
    private static let nanosecondsOfMessage: UInt64 = 50_000
    /// Of a pattern or a task.
    private static let nanosecondsOfName: UInt64 = 2_000
    private static let nanosecondsOfDelivery: UInt64 = 1_000
    private static let turnNanoseconds: UInt64 = 10_000_000

    /// The lower of each.
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

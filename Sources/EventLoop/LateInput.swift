internal import DequeModule

/// Checks streams for input that a read has left in the socket and that no event will report.
///
/// A read of a socket stops after bytes that were sent with descriptors, and the loop's epoll set reports each event
/// once. `recvmsg` returns whether it stopped there, but takes 0.15 µs longer than `recvfrom` (Linux 6.18, 2026-11-29),
/// 4 % of the processor time of an Echo. Therefore a stream that does not accept descriptors is read by `recvfrom`, and
/// checked here once after each series of reads. Only a peer that sends unaccepted descriptors waits for this check.
@LoopActor
final class LateInput {
    static let shared = LateInput()

    /// The time from the end of one round of checks to the next. A stream is checked up to two rounds after a read.
    private static let delay = Duration.milliseconds(100)
    /// The number of open streams that are checked together; the others follow after ``nextDelay``.
    private static let streamsPerLook = 32
    private static let nextDelay = Duration.milliseconds(2)
    /// The number of closed streams that are removed together: more than can be closed between two checks.
    private static let closedPerLook = 8_192

    // `@exclusivity(unchecked)`: docs/architecture.md explains why.
    @exclusivity(unchecked) private var streams: Deque<UnixStream> = []
    /// The number of streams that are left to check in this round.
    @exclusivity(unchecked) private var roundCount = 0
    private lazy var timer = LoopTimer { [unowned self] in look() }

    private init() {}

    /// Schedules one check of the stream, in 100 to 200 ms or a little later.
    func lookLater(at stream: UnixStream) {
        streams.append(stream)
        if streams.count == 1 { timer.schedule(after: Self.delay) }
    }

    private func look() {
        if roundCount == 0 { roundCount = streams.count }
        var (openCount, closedCount) = (0, 0)
        while roundCount > 0, openCount < Self.streamsPerLook, closedCount < Self.closedPerLook,
            let stream = streams.popFirst()
        {
            roundCount -= 1
            if stream.isOpen { openCount += 1 } else { closedCount += 1 }
            stream.lookForInput()
        }
        // Streams that were read during the round wait for the next one.
        if !streams.isEmpty { timer.schedule(after: roundCount > 0 ? Self.nextDelay : Self.delay) }
    }
}

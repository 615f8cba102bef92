internal import DequeModule

/// Looks for input that a read has left in a socket and that no event will report.
///
/// A read of a socket stops behind bytes that descriptors came with, and the loop's epoll set reports each event once.
/// `recvmsg` returns whether it stopped there, but takes 0.15 µs longer than `recvfrom` (Linux 6.18, 2026-11-29), 4 %
/// of the processor time of an Echo. A stream that wants no descriptors is therefore read by `recvfrom`, and looked at
/// here once behind each series of reads. Only a peer that sends descriptors nobody wants waits for that.
@LoopActor
final class LateInput {
    static let shared = LateInput()

    /// How long after a read its stream is looked at.
    private static let delay = Duration.milliseconds(100)
    /// How many open streams are looked at together; the others follow after ``nextDelay``.
    private static let streamsPerLook = 256
    private static let nextDelay = Duration.milliseconds(10)
    /// How many closed streams are removed together: more than can be closed meanwhile.
    private static let closedPerLook = 8_192

    private var streams: Deque<UnixStream> = []
    private lazy var timer = LoopTimer { [unowned self] in look() }

    private init() {}

    /// The stream is looked at in 100 ms or a little later. To be called once for each look.
    func lookLater(at stream: UnixStream) {
        streams.append(stream)
        if streams.count == 1 { timer.schedule(after: Self.delay) }
    }

    private func look() {
        var (openCount, closedCount) = (0, 0)
        while openCount < Self.streamsPerLook, closedCount < Self.closedPerLook, let stream = streams.popFirst() {
            if stream.isOpen { openCount += 1 } else { closedCount += 1 }
            stream.lookForInput()
        }
        if !streams.isEmpty { timer.schedule(after: Self.nextDelay) }
    }
}

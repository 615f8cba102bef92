/// Waits for an answer of another process: fires once when this process has waited for that time.
///
/// A time in which the machine stood still, or this process did not run, does not count: the answer may have come in it and
/// wait to be read, or the other process may not have run either. Close it when the answer has come.
@LoopActor
public final class PatienceTimer {
    /// The time is waited for in so many parts. One that takes twice as long or more is waited for once more.
    private static let parts = 4

    private let part: Duration
    private var left = PatienceTimer.parts
    private var partEnd: MonotonicInstant
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - patience: how long is waited.
    ///   - fire: called once, behind ``close()``.
    public init(_ patience: Duration, _ fire: @escaping @LoopActor () -> Void) {
        part = patience / Self.parts
        partEnd = EventLoop.now
        timer = LoopTimer { [weak self] in self?.endPart(fire) }
        waitOn()
    }

    /// Does not fire any more.
    public func close() {
        timer?.close()
        timer = nil
    }

    private func waitOn() {
        partEnd = EventLoop.now + part
        timer?.schedule(at: partEnd)
    }

    private func endPart(_ fire: @LoopActor () -> Void) {
        if EventLoop.now < partEnd + part { left -= 1 }
        guard left <= 0 else { return waitOn() }
        close()
        fire()
    }
}

/// Waits for an answer of another process: fires once when this process has waited for that time.
///
/// A time in which the machine stood still, or this process did not run, does not count: the answer may have come in it
/// and wait to be read, or the other process may not have run either. Nor does a time in which the other process could
/// run and the kernel let others run. After ten times the timeout it is over in any case, unless a debugger holds the
/// other process: as long as it does, the wait goes on. Close it when the answer has come.
@LoopActor
public final class ProcessTimeout {
    private let length: Duration
    private let pid: Int32
    private var timeout: TimeoutParts
    private var share: ProcessorShare
    private var timer: LoopTimer?

    /// - Parameters:
    ///   - timeout: how long is waited.
    ///   - pid: the other process, which this one has not waited for.
    ///   - fire: called once, behind ``close()``.
    public init(_ timeout: Duration, for pid: Int32, _ fire: @escaping @LoopActor () -> Void) {
        length = timeout
        self.pid = pid
        self.timeout = TimeoutParts(timeout, from: EventLoop.now)
        share = ProcessorShare(of: pid)
        timer = LoopTimer { [weak self] in self?.endPart(fire) }
        timer?.schedule(at: self.timeout.next)
    }

    /// No longer fires.
    public func close() {
        timer?.close()
        timer = nil
    }

    private func endPart(_ fire: @LoopActor () -> Void) {
        let isHeldUp = share.isStarved(over: timeout.part)
        guard timeout.endPart(at: EventLoop.now, isHeldUp: isHeldUp) else {
            timer?.schedule(at: timeout.next)
            return
        }
        if ProcFile.isTraced(pid) {
            timeout = TimeoutParts(length, from: EventLoop.now)
            timer?.schedule(at: timeout.next)
            return
        }
        close()
        fire()
    }
}

/// A time that is waited for in parts, at most ten times. Waits once more for a part in which the other process was
/// held up, and for one that ends late by its length or more: more than a busy loop is late.
struct TimeoutParts {
    private static let parts = 4
    private static let usualLateness = Duration.milliseconds(250)
    /// All parts, also those that do not count: a process can see to it that others are preferred to it for ever.
    private static let maximum = 40

    let part: Duration
    private var left = TimeoutParts.parts
    private var ended = 0
    /// When the part at hand ends.
    private(set) var next: MonotonicInstant

    init(_ timeout: Duration, from start: MonotonicInstant) {
        part = timeout / Self.parts
        next = start + part
    }

    /// The part at hand has ended, or later than that; true: all of them have.
    mutating func endPart(at now: MonotonicInstant, isHeldUp: Bool = false) -> Bool {
        if !isHeldUp, now < next + max(part, Self.usualLateness) { left -= 1 }
        next = now + part
        ended += 1
        return left <= 0 || ended >= Self.maximum
    }
}
